"""The integral principle in velocity space: any motion against the equations of a system, in the weak form.

The motion gives q, q' and z; speeds and their rates are taken from it by spectral differentiation on panels between its
steps, never from the right-hand side. So it may come from anywhere: from another model, another program, a table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
from scipy.interpolate import make_interp_spline

from appell.analysis.galerkin import fitting, residual_along
from appell.code.code import Code
from appell.code.state import names_of, unknown
from appell.code.system import System
from appell.errors import FormulationError, ModelError
from appell.model.symbols import Rate, t
from appell.motion.motion import Motion, Stretch

NODES = 16  # Chebyshev nodes of a panel
FEWEST, MOST = 16, 1000  # panels
SINES = 6  # tests with fixed ends, where none are given
FLOOR = 1e-4  # scales smaller than this share of the largest are taken for it: what is left there is rounding
LOOSE = frozenset("cvodes Radau BDF LSODA RK45 RK23".split())


@dataclass(frozen=True, eq=False)
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
        return _share(self.value, self.scale)

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
    course = Course.of(system, motion)
    names, formulas = _tests(tests, ends, course.start, course.end)
    w = [_function(formula, course) for formula in formulas]
    slopes = [_function(sp.diff(formula, t), course) for formula in formulas]
    blind = _blind(names, w, course, ends)
    walk = _Walk(system, course)
    value, scale = walk.free(slopes) if ends == "free" else walk.fixed(w, slopes)
    resolution = 0.0
    if course.half is not None:
        coarse = _Walk(system, course.half)
        rough, _ = coarse.free(slopes) if ends == "free" else coarse.fixed(w, slopes)
        resolution = float(np.max(_share(rough - value, scale), initial=0.0))
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
        rtol=course.rtol if rtol is None else float(rtol),
        resolution=resolution,
    )


# Tests.


def _tests(tests: Any, ends: str, start: float, end: float) -> tuple[tuple[str, ...], list[sp.Expr]]:
    """Names and formulas."""
    if tests is None:
        s = (t - start) / (end - start)
        tests = {} if ends == "fixed" else {"s": s}
        tests |= {f"sin({k if k > 1 else ''}πs)": sp.sin(k * sp.pi * s) for k in range(1, SINES + 1)}
    if isinstance(tests, Mapping):
        named = {str(name): sp.sympify(formula) for name, formula in tests.items()}
    else:
        listed = list(tests) if isinstance(tests, Iterable) and not isinstance(tests, sp.Basic) else [tests]
        named = {str(sp.sympify(formula)): sp.sympify(formula) for formula in listed}
    if not named:
        raise ModelError("No test functions were given; leave tests out for a family of them.")
    for name, formula in named.items():
        strange = sorted(map(str, formula.free_symbols - {t}))
        if strange:
            raise ModelError(f"The test {name} contains {', '.join(strange)}; a test is a formula in appell.t alone.")
        if t not in formula.free_symbols:
            raise ModelError(f"The test {name} is constant; only the rate of a test enters, so it would test nothing.")
    return tuple(named), list(named.values())


def _function(formula: sp.Expr, course: Course) -> Callable[[np.ndarray], np.ndarray]:
    compiled = sp.lambdify(t, formula, "numpy")

    def function(times: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(compiled(times), dtype=float), times.shape)
        if not np.all(np.isfinite(values)):
            raise ModelError(f"{formula} is not finite between t = {course.start:g} and {course.end:g}.")
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


# The motion.


@dataclass(frozen=True, eq=False)
class Course:
    """A motion as a function of time, whatever it came from.

    Attributes:
        pieces: Edges of the panels of each smooth piece.
        look: q, q', z (as many rows as times) and inputs that the motion was driven with.
        stuck: First and last times of stretches that slide along a kink.
        rtol: What its accuracy lets one expect.
        half: The course of every second row of a table, where there are enough.
    """

    system: System
    pieces: list[np.ndarray]
    look: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    rtol: float
    stuck: tuple[tuple[float, float], ...] = ()
    half: Course | None = None

    @classmethod
    def of(cls, system: System, motion: Motion | Mapping[str, Any]) -> Course:
        """The course of a motion or a table, in the order of the system's letters."""
        if isinstance(motion, Motion) and motion.stretches:
            slides = [s.times.size > 1 and _slides(s, motion) for s in motion.stretches]
            pairs = list(zip(motion.stretches, slides, strict=True))
            edges = [stretch.times for stretch, slide in pairs if stretch.times.size > 1 and not slide]
            if not edges:
                raise ModelError("Nothing of the motion can be checked: it has no duration, or sticks all the time.")
            stuck = tuple((float(stretch.times[0]), float(stretch.times[-1])) for stretch, slide in pairs if slide)
            rtol = 1e-6 if motion.info.get("method") in LOOSE else 1e-8
            return cls(system, _panels(edges), _dense(system, motion), rtol, stuck)
        if isinstance(motion, Motion):
            return cls.of_table(system, motion.times, motion.columns)
        if not hasattr(motion, "keys") or "t" not in motion:
            raise ModelError(
                f"Got {type(motion).__name__} as a motion; give a Motion, or name -> values with times 't'."
            )
        return cls.of_table(system, motion["t"], {str(name): motion[name] for name in motion})

    @classmethod
    def of_table(cls, system: System, times: Any, columns: Mapping[str, Any], thin: bool = True) -> Course:
        """The course of a table, and of every second row of it."""
        times = np.asarray(times, dtype=float)
        if times.ndim != 1 or times.size < 8 or not np.all(np.diff(times) > 0):
            raise ModelError(
                f"A table must have at least eight increasing times to be differentiated, got {times.size}."
            )
        half = None
        if thin and times.size >= 16:
            rows = np.unique(np.append(np.arange(0, times.size, 2), times.size - 1))
            fewer = {
                name: values[rows] for name, e in columns.items() if (values := np.asarray(e)).shape == times.shape
            }
            half = cls.of_table(system, times[rows], fewer, thin=False)
        return cls(system, _panels([times]), _table(system, times, columns), 1e-6, (), half)

    @property
    def start(self) -> float:
        """First time."""
        return float(self.pieces[0][0])

    @property
    def end(self) -> float:
        """Last time."""
        return float(self.pieces[-1][-1])

    def parts(self, row: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Columns q, v, z of what `look` gives."""
        n = len(self.system.model.coordinates)
        return row[..., :n], row[..., n : 2 * n], row[..., 2 * n :]

    def left_out(self) -> tuple[str, ...]:
        """Where the rates jump between two pieces, and where the motion sticks."""
        found = []
        for before, after in pairwise(self.pieces):
            h = 1e-9 * min(before[-1] - before[-2], after[1] - after[0])
            _, v, _ = self.parts(self.look(np.array([before[-1] - h, after[0] + h]))[0])
            if after[0] == before[-1] and np.max(np.abs(v[1] - v[0])) > 1e-6 * max(1.0, float(np.max(np.abs(v)))):
                found.append(f"rates jump at t = {after[0]:.6g}")
        return (*found, *(f"sticks from t = {a:.6g} to {b:.6g}" for a, b in self.stuck))


def _slides(stretch: Stretch, motion: Motion) -> bool:
    """Whether a kink rests on zero along a stretch: modes stand behind the parameters, 0 is the one in between."""
    return bool(np.any(stretch.p[len(motion.system.model.parameters) :] == 0))


def _panels(pieces: list[np.ndarray]) -> list[np.ndarray]:
    """Edges of panels: the motion's own steps, halved where they are long, joined where they are many."""
    longest = (pieces[-1][-1] - pieces[0][0]) / FEWEST
    share = max(1, int(np.ceil(sum(edges.size - 1 for edges in pieces) / MOST)))
    result = []
    for edges in pieces:
        kept = np.append(edges[:-1:share], edges[-1])
        counts = np.maximum(1, np.ceil(np.diff(kept) / longest - 1e-9).astype(int))
        fine = [np.linspace(a, b, k + 1)[:-1] for a, b, k in zip(kept, kept[1:], counts, strict=False)]
        result.append(np.append(np.concatenate(fine), kept[-1]))
    return result


def _dense(system: System, motion: Motion) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """The dense output of a motion, ordered by the names of the system."""
    known = motion.info["state"]
    for name in names_of(system.model):
        if name not in known:
            raise ModelError(unknown(name, known, f"quantity of the motion, but {system.model.name!r} needs it"))
    order = [known.index(name) for name in names_of(system.model)]
    letters = [s.label for s in system.equations.inputs]
    driven = [label for label in letters if label in motion.columns]
    every = [s.label for s in motion.system.model.inputs]
    values = {**motion.system.values, **system.values}
    if missing := [s for s in system.equations.inputs if s.label not in driven and s.label not in values]:
        system._numbers(missing)  # says which

    def look(times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        w = np.array([[values.get(label, 0.0) for label in letters]] * times.size).reshape(times.size, len(letters))
        if driven:
            along = motion.inputs_at(times)
            for label in driven:
                w[:, letters.index(label)] = along[:, every.index(label)]
        return motion.states(times)[:, order], w

    return look


def _table(
    system: System, times: np.ndarray, columns: Mapping[str, Any]
) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Splines of degree seven through a table."""

    def spline(name: str) -> Any:
        values = np.asarray(columns[name], dtype=float)
        if values.shape != times.shape or not np.all(np.isfinite(values)):
            raise ModelError(f"The column {name!r} needs one finite number for each of the {times.size} times.")
        return make_interp_spline(times, values, k=7)

    curves: list[Any] = []
    for letter in (*system.model.coordinates, *(q.rate for q in system.model.coordinates), *system.model.states):
        if letter.label in columns:
            curves.append(spline(letter.label))
        elif isinstance(letter, Rate) and letter.base.label in columns:
            curves.append(spline(letter.base.label).derivative())
        else:
            raise ModelError(unknown(letter.label, list(columns), "column of the table"))
    letters = system.equations.inputs
    drives = [spline(s.label) if s.label in columns else None for s in letters]
    constants = system._numbers([s for s, drive in zip(letters, drives, strict=True) if drive is None])

    def look(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rest = iter(constants)
        w = [drive(at) if drive is not None else np.full(at.size, next(rest)) for drive in drives]
        return np.array([curve(at) for curve in curves]).T, np.array(w).reshape(len(letters), at.size).T

    return look


# The equations along it.


def _chebyshev(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of the first kind on (-1, 1), Fejer's weights, matrices of the derivative and of the values at -1 and 1."""
    angles = (np.arange(count)[::-1] + 0.5) * np.pi / count
    nodes = np.cos(angles)
    even = np.arange(1, count // 2 + 1)
    weights = 2 / count * (1 - 2 * np.sum(np.cos(2 * np.outer(angles, even)) / (4 * even**2 - 1), axis=1))
    signs = (-1.0) ** np.arange(count) * np.sin(angles)
    gaps = nodes[:, None] - nodes[None, :] + np.eye(count)
    derivative = signs[None, :] / signs[:, None] / gaps
    derivative -= np.diag(np.sum(derivative, axis=1))
    edge = signs[None, :] / (np.array([[-1.0], [1.0]]) - nodes[None, :])
    return nodes, weights, derivative, edge / np.sum(edge, axis=1, keepdims=True)


class _Walk:
    """The equations evaluated along a course: residuals at the nodes of every panel.

    Args:
        system: The system.
        course: The motion.
    """

    def __init__(self, system: System, course: Course) -> None:
        self.system, self.course = system, course
        nodes, weights, self.derivative, self.edge = _chebyshev(NODES)
        starts = np.concatenate([edges[:-1] for edges in course.pieces])
        ends = np.concatenate([edges[1:] for edges in course.pieces])
        self.edges = np.stack([starts, ends], axis=1)
        self.half = (ends - starts) / 2
        self.times = (starts + ends)[:, None] / 2 + self.half[:, None] * nodes
        self.weights = self.half[:, None] * weights
        table, inputs = course.look(self.times.ravel())
        self.q, self.v, self.z = (e.reshape(*self.times.shape, -1) for e in course.parts(table))
        self.w = inputs.reshape(*self.times.shape, -1)
        self._evaluate(self._codes())

    def rate(self, values: np.ndarray) -> np.ndarray:
        """Time derivative of values at the nodes, panel by panel."""
        return np.einsum("ij,kjc->kic", self.derivative, values) / self.half[:, None, None]

    def _codes(self) -> list[Code]:
        """For each panel the code whose speeds fit there."""
        code, found = self.system.code, []
        for k in range(self.half.size):
            code = fitting(code, self.times[k, 0], self.q[k, 0], self.v[k, 0], self.z[k, 0], self.system.p)
            found.append(code)
        return found

    def _evaluate(self, codes: list[Code]) -> None:
        self.q_rate, self.z_rate = self.rate(self.q), self.rate(self.z)
        used = list(dict.fromkeys(codes))
        outputs: list[np.ndarray] = []
        for code in used:
            here = np.array([k for k, c in enumerate(codes) if c is code])
            time, p = self.times[here].reshape(1, -1), np.repeat(self.system.p[:, None], here.size * NODES, axis=1)
            q, v, z, w = (_flat(e[here]) for e in (self.q, self.v, self.z, self.w))
            u = np.array(code.speeds.map(time.size)(time, q, v, z, p)).reshape(-1, here.size, NODES)
            u_rate = np.einsum("ij,ckj->cki", self.derivative, u) / self.half[here][None, :, None]
            x = np.vstack([q, u.reshape(-1, time.size), z])
            rates = np.vstack([_flat(self.q_rate[here]), u_rate.reshape(-1, time.size), _flat(self.z_rate[here])])
            found = residual_along(code.equations).map(time.size)(time, x, rates, w, p)
            if not outputs:
                outputs = [np.zeros((*self.times.shape, out.shape[0])) for out in found]
            for out, value in zip(outputs, found, strict=True):
                out[here] = np.array(value).reshape(-1, here.size, NODES).transpose(1, 2, 0)
        self.residual, self.size, self.thrust, self.zdot = outputs
        letters = [[_speed_name(s) for s in code.equations.unknowns] for code in used]
        self.speeds = tuple(" or ".join(dict.fromkeys(column)) for column in zip(*letters, strict=True))
        bad = ~np.all(np.isfinite(self.residual), axis=2)
        if np.any(bad):
            raise FormulationError(
                f"The equations of {self.system.model.name!r} are not finite at t = {self.times[bad][0]:.6g}: the "
                f"speeds {', '.join(self.speeds)} are dependent there, or a force is singular."
            )

    def _integral(self, values: np.ndarray, factor: np.ndarray) -> np.ndarray:
        return np.einsum("ki,ki,kic->c", self.weights, factor, values)

    def free(self, slopes: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """-int rho w' dt, and the same with all terms positive."""
        primes = [slope(self.times) for slope in slopes]
        value = [-self._integral(self.residual, prime) for prime in primes]
        return np.array(value), np.array([self._integral(self.size, np.abs(prime)) for prime in primes])

    def fixed(self, w: list[Any], slopes: list[Any]) -> tuple[np.ndarray, np.ndarray]:
        """-int (R_Pid w' + Phi*' w) dt and its scale; where Phi* jumps (a stream ends) the jump is part of its rate."""
        R, rate = self.residual + self.thrust, self.rate(self.thrust)
        ends = np.einsum("ej,kjc->kec", self.edge, self.thrust) * np.array([1.0, -1.0])[:, None]
        value, scale = [], []
        for function, slope in zip(w, slopes, strict=True):
            at, prime = function(self.times), slope(self.times)
            jumps = np.einsum("ke,kec->c", function(self.edges), ends)
            value.append(-self._integral(R, prime) - self._integral(rate, at) - jumps)
            scale.append(self._integral(self.size, np.abs(prime)) + self._integral(np.abs(rate), np.abs(at)))
        return np.array(value), np.array(scale)

    def kinematics(self, slopes: list[Any]) -> float:
        """By what share dq/dt misses q' and dz/dt its formula, against the tests."""
        values = np.concatenate([self.q, self.z], axis=2)
        missed = np.concatenate([self.q_rate - self.v, self.z_rate - self.zdot], axis=2)
        span = np.sum(2 * self.half)
        size = np.concatenate([np.abs(self.v), np.abs(self.zdot)], axis=2) + np.abs(values) / span
        primes = [slope(self.times) for slope in slopes]
        value = np.array([self._integral(missed, prime) for prime in primes])
        scale = np.array([self._integral(size, np.abs(prime)) for prime in primes])
        return float(np.max(_share(value, scale), initial=0.0))

    def constraints(self) -> dict[str, float]:
        """The largest residual of each row along the motion."""
        mechanics, p = self.system.equations.mechanics, self.system.p
        if not mechanics.row_names:
            return {}
        x = mechanics.variables
        e, J = ca.SX(mechanics.e), mechanics.J
        for i in mechanics.acceleration_rows:
            e[i] = J[i, :] @ mechanics.a - mechanics.gamma[i]
        slope = ca.jacobian(mechanics.c, x.q)
        c = mechanics.c / ca.fmax(1, ca.fabs(slope) @ ca.fabs(x.q))
        sizes = [
            ca.fabs(J[i, :]) @ ca.fabs(mechanics.a if i in mechanics.acceleration_rows else x.v)
            for i in range(e.numel())
        ]
        e = e / ca.fmax(1, ca.vertcat(*sizes))
        rows = ca.Function("rows", [x.t, x.q, x.v, x.z, mechanics.a, x.p], [ca.densify(c), ca.densify(e)])
        flat = [_flat(e) for e in (self.q, self.v, self.z, self.rate(self.v))]
        count = self.times.size
        found = rows.map(count)(self.times.reshape(1, -1), *flat, np.repeat(p[:, None], count, axis=1))
        c, e = (np.abs(np.array(out)).reshape(-1, count) for out in found)
        found = {mechanics.row_names[i]: float(np.max(c[k])) for k, i in enumerate(mechanics.position_rows)}
        for i, name in enumerate(mechanics.row_names):
            found[name + ".rate" if i in mechanics.position_rows else name] = float(np.max(e[i]))
        return found


def _share(value: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """|value| / scale, row by row."""
    least = np.maximum(FLOOR * np.max(scale, axis=1, keepdims=True, initial=0.0), 1e-300)
    return np.abs(value) / np.maximum(scale, least)


def _flat(values: np.ndarray) -> np.ndarray:
    """(panels, nodes, entries) as (entries, panels * nodes)."""
    return values.reshape(values.shape[0] * values.shape[1], values.shape[2]).T


def _speed_name(unknown: Any) -> str:
    """The speed whose rate an unknown is; quasi-accelerations keep their own name."""
    if not isinstance(unknown, Rate):
        return str(unknown)
    return str(unknown.base if unknown.order == 1 else unknown.base.derivative(unknown.order - 1))
