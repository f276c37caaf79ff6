"""The integral principle in velocity space: any motion against the equations of a system, in the weak form.

The motion gives q, q' and z; speeds and their rates are taken from it by spectral differentiation on panels between its
steps, never from the right-hand side. So it may come from anywhere: from another model, another program, a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.analysis.course import Course
from appell.analysis.weak_form import Walk, share
from appell.code.system import System
from appell.errors import ModelError
from appell.model.symbols import letters_in, listed, quoted, t
from appell.model.values import check_kind, formula_of, number
from appell.motion.motion import Motion

SINES = 6  # tests with fixed ends, where none are given


@dataclass(frozen=True, eq=False, kw_only=True)
class IntegralPrinciple:
    r"""What the principle says about a motion.

    Attributes:
        model: Name of the model whose equations were used.
        ends: `"free"` for eq. (7.6), `"fixed"` for eq. (7.7).
        span: First and last time.
        tests: The test functions w(t); s runs from 0 to 1 over the motion.
        speeds: The speeds $\Pi_j$; several names where the choice of speeds changes along the motion.
        value: The integral for each test (row) and speed (column); zero for a true motion.
        scale: The same integral with all terms positive.
        kinematics: Largest share by which dq/dt misses q', and dz/dt the equations of the extra states, against the
            same tests.
        constraints: Largest residual of each constraint row along the motion, position rows and their rates; as a share
            of its terms where they are above 1.
        left_out: What the principle does not speak of: jumps of the rates at events, stretches on a kink.
        blind: Whether a residual that is constant in time passes unseen: no test has different values at its ends.
        rtol: Share of the scale below which a value counts as zero.
        resolution: By what share of the scale the values of a table change if every second row is left out.
    """

    model: str
    ends: str
    span: tuple[float, float]
    tests: tuple[str, ...]
    speeds: tuple[str, ...]
    value: np.ndarray
    scale: np.ndarray
    kinematics: float
    constraints: Mapping[str, float]
    left_out: tuple[str, ...]
    blind: bool
    rtol: float
    resolution: float = 0.0

    @cached_property
    def share(self) -> np.ndarray:
        """|value| / scale."""
        return share(self.value, self.scale)

    @property
    def worst(self) -> float:
        """The largest share of the scale that any integral has."""
        return float(np.max(self.share, initial=0.0))

    @property
    def violation(self) -> float:
        """The largest residual of a constraint row."""
        return max(self.constraints.values(), default=0.0)

    @property
    def ok(self) -> bool:
        """Whether the motion passes: all integrals zero, q' the rate of q, constraints kept.

        Where `blind`, a residual that is constant in time was not looked for.
        """
        return self.worst <= self.rtol and self.kinematics <= self.rtol and self.violation <= self.rtol

    def __repr__(self) -> str:
        number = "(7.6)" if self.ends == "free" else "(7.7)"
        when = f"t = {self.span[0]:g} .. {self.span[1]:g}"
        lines = [f"{self.model}, {when}: integral principle with {self.ends} ends, eq. {number}"]
        for i, test in enumerate(self.tests):
            found = ", ".join(
                f"{speed}: {self.value[i, j]:.3g} of {self.scale[i, j]:.3g}" for j, speed in enumerate(self.speeds)
            )
            lines.append(f"  w = {test}: {found}")
        lines.append(f"  rates of coordinates and extra states: missed by {self.kinematics:.1e}")
        if self.constraints:
            row = max(self.constraints, key=lambda name: self.constraints[name])
            lines.append(f"  constraints: kept to {self.violation:.1e} ({row})")
        if self.left_out:
            lines.append(f"  left out: {', '.join(self.left_out)}")
        if not self.ok:
            worst = max(self.worst, self.kinematics, self.violation)
            lines.append(f"  DOES NOT HOLD: worst {worst:.1e}")
            if worst < self.resolution:
                lines.append(
                    f"  the table is too coarse to tell: half of its rows give values {self.resolution:.1e} off"
                )
        elif self.blind:
            lines.append("  holds, but a residual that is constant in time is not seen: a test with a free end sees it")
        else:
            lines.append(f"  holds: worst {self.worst:.1e}")
        return "\n".join(lines)


def integral_principle(
    system: System,
    motion: Motion | Mapping[str, Any],
    tests: Any = None,
    ends: str = "free",
    *,
    rtol: float | None = None,
) -> IntegralPrinciple:
    r"""Check a motion against a system's equations by Qiao's integral principle in velocity space.

    With $\rho_j = \partial R/\partial\dot\Pi_j - \Phi^*_j$, what the equations (7.1) leave along the motion, and
    $\delta\Pi_j = w(t)$ for one speed at a time,
    $$ I_j = -\int_{t_0}^{t_1}\rho_j\,\dot w\,dt \quad (7.6), \qquad
       I_j = -\int_{t_0}^{t_1}\Bigl(\frac{\partial R}{\partial\dot\Pi_j}\dot w + \dot\Phi^*_j w\Bigr)dt \quad (7.7) $$
    The second one needs $w(t_0) = w(t_1) = 0$ and sees only how $\rho$ changes in time (du Bois-Reymond): a motion with
    constant $\rho$ passes it. The first one needs nothing of w; with one test for which $w(t_0) \ne w(t_1)$ it is
    equivalent to the equations.

    Jumps of the rates at events are left out, and so are stretches on which the motion sticks to a kink (dry friction):
    there the equations hold with a force in between. A table that crosses a kink or an event is not smooth and fails.

    Args:
        system: The system with its numbers; any formulation without multipliers.
        motion: A motion with the same coordinates, of this system or of another one, or a table: name -> values, with
            the times under `"t"`. Rates that a table lacks are found from the coordinates. Inputs that a motion was
            driven with by a formula or a function are taken from it.
        tests: Formulas in `appell.t`, one, several, or name -> formula. Left out: a family of sines that vanish at both
            ends, and with free ends also the straight line from 0 to 1.
        ends: `"free"` for (7.6), `"fixed"` for (7.7).
        rtol: What counts as zero, as a share of the integral with all terms positive; by the method of the motion if
            left out: 1e-8, or 1e-6 for tables and methods of low order.

    Returns:
        Values per test and speed; `result.ok`.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.spherical_pendulum())).bind()
        >>> integral_principle(system, ap.simulate(system, until=1.0)).ok
        True

    Reference: Qiao 1990, eqs. (7.6), (7.7), corrected: (7.7) holds the rate of the thrust, and is weaker than (7.1).
    """
    if ends not in ("free", "fixed"):
        raise ModelError(f"Got ends={ends!r}; use 'free' for eq. (7.6) or 'fixed' for eq. (7.7).")
    check_kind(system, System, "a System, compile(derive(model)), and its motion")
    course = Course.of(system, motion)
    names, formulas = _tests(tests, ends, course.start, course.end)
    w = [_function(formula, course) for formula in formulas]
    slopes = [_function(sp.diff(formula, t), course) for formula in formulas]
    blind = _blind(names, w, course, ends)
    walk = Walk(system, course)
    value, scale = walk.free(slopes) if ends == "free" else walk.fixed(w, slopes)
    resolution = 0.0
    if course.half is not None:
        coarse = Walk(system, course.half)
        rough, _ = coarse.free(slopes) if ends == "free" else coarse.fixed(w, slopes)
        resolution = float(np.max(share(rough - value, scale), initial=0.0))
    return IntegralPrinciple(
        model=system.model.name,
        ends=ends,
        span=(course.start, course.end),
        tests=names,
        speeds=walk.speeds,
        value=value,
        scale=scale,
        kinematics=walk.kinematics(slopes),
        constraints=walk.constraints(),
        left_out=course.left_out(),
        blind=blind,
        rtol=course.rtol if rtol is None else number("rtol", rtol),
        resolution=resolution,
    )


# Tests.


def _tests(tests: Any, ends: str, start: float, end: float) -> tuple[tuple[str, ...], list[sp.Expr]]:
    """Names and formulas."""
    if tests is None:
        s = (t - start) / (end - start)
        tests = {} if ends == "fixed" else {"s": s}
        tests |= {f"sin({f'{k}*' if k > 1 else ''}pi*s)": sp.sin(k * sp.pi * s) for k in range(1, SINES + 1)}
    several = listed(tests) if isinstance(tests, Iterable) else [tests]
    given = tests if isinstance(tests, Mapping) else {str(formula): formula for formula in several}
    named = {str(name): formula_of(formula, f"The test {name}") for name, formula in given.items()}
    if not named:
        raise ModelError("No test functions were given; leave tests out for a family of them.")
    for name, formula in named.items():
        strange = sorted(map(str, letters_in(formula) - {t}))
        if strange:
            raise ModelError(f"The test {name} contains {', '.join(strange)}; a test is a formula in appell.t alone.")
        if t not in letters_in(formula):
            raise ModelError(f"The test {name} is constant; only the rate of a test enters, so it would test nothing.")
    return tuple(named), list(named.values())


def _function(formula: sp.Expr, course: Course) -> Callable[[np.ndarray], np.ndarray]:
    compiled = sp.lambdify(t, formula, "numpy")

    def function(times: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(compiled(times), dtype=float), times.shape)
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{quoted(formula)} is not finite between t = {course.start:g} and {course.end:g}.")
        return values

    return function


def _blind(names: tuple[str, ...], w: list[Any], course: Course, ends: str) -> bool:
    """Whether no test sees a constant residual; refuses, with fixed ends, tests that do not vanish at both."""
    blind = True
    for name, function in zip(names, w, strict=True):
        values = function(np.linspace(course.start, course.end, 33))
        tiny = 1e-10 * np.max(np.abs(values))
        blind = blind and bool(abs(values[-1] - values[0]) <= tiny)
        if ends == "fixed" and max(abs(values[0]), abs(values[-1])) > tiny:
            raise ModelError(
                f"The test {name} does not vanish at both ends: it is {values[0]:.3g} at t = {course.start:g} and "
                f"{values[-1]:.3g} at t = {course.end:g}. Eq. (7.7) was integrated by parts and needs that; use "
                "ends='free'."
            )
    return blind
