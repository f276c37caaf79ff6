"""Galerkin in time: the integral principle in velocity space as a solver.

On each time element q, u and z are polynomials; what the equations leave is orthogonal to the rates of the test
functions. Nothing is solved for the accelerations: the residual A u' - b itself is weighted. Elements are as long as
their last coefficients stay small.
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial import legendre
from scipy.integrate import RK45, OdeSolution

from appell.analysis.residual import residual_along, rows_along
from appell.code.code import Code
from appell.code.fitting import fitting_code
from appell.code.starting import starting_state
from appell.code.state import State
from appell.code.system import System
from appell.equations import Equations
from appell.errors import FormulationError, IntegrationError
from appell.graph.kinks import has_kinks
from appell.model.values import whole
from appell.motion.drive import Drive
from appell.motion.leg import pieced
from appell.motion.method import check_tolerances
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.projection import Projection
from appell.motion.stretch import Stretch
from appell.motion.table import end_time

NEWTON = 25  # steps at most
CRUDE = 1000  # steps of a first guess
MOST = 10_000  # elements of a motion whose tolerance is given


def galerkin(
    system: System,
    start: State | Mapping[Any, float] | None = None,
    until: float | None = None,
    degree: int = 9,
    elements: int | None = None,
    tests: str = "free",
    *,
    rtol: float = 1e-10,
    atol: float | None = None,
    points: int = 501,
) -> Motion:
    r"""Solve the equations of a system by the integral principle: polynomials in time, weighted residuals.

    On an element $[t_0, t_1]$ every entry of x = (q, u, z) is a polynomial of the given degree N with its first value
    given, so N coefficients are unknown. With test functions $w_i$ whose rates are Legendre's polynomials $P_i$,
    $$ \int_{t_0}^{t_1}(A\dot u - b)\,\dot w_i\,dt = 0, \qquad \int_{t_0}^{t_1}(\dot q - K)\,\dot w_i\,dt = 0,
       \qquad \int_{t_0}^{t_1}(\dot z - Z)\,\dot w_i\,dt = 0, \qquad i = 0 \dots N-1, $$
    the first of which is eq. (7.6) with $\delta\Pi = w_i$. The tests $i \ge 1$ vanish at both ends, $w_0$ is free at
    $t_1$; without it, eq. (7.7), one equation per speed is missing. Integrals are by Gauss quadrature with 2N + 6
    nodes, Newton's method uses exact Jacobians. For smooth motions the error falls exponentially with N, and at the
    ends of the elements with the power 2N of their length. Elements are as long as the last two Legendre coefficients
    of every entry stay below atol + rtol |x|, which is more than the error. Where rows are not linear in the rates all
    of them are kept, and the rows, differentiated up to the accelerations, are weighted like the equations. Kinks of
    the forces are not located: begin and end there.

    Args:
        system: A system with all its numbers bound, without multipliers.
        start: A state, values for `system.state`, or nothing for the model's suggested start.
        until: The time at which to stop; the model's suggestion if left out.
        degree: N.
        elements: How many elements of equal length, one after the other, whatever their last coefficients; as many as
            the tolerance asks for if left out.
        tests: `"free"`; `"fixed"` is refused, with the count of what is missing.
        rtol: Relative tolerance of the last coefficients.
        atol: Absolute tolerance; as rtol if left out.
        points: How many times, evenly spread, the motion is tabulated at.

    Returns:
        A motion; `motion.info["reason"]` says how small the last Legendre coefficients are beside the largest value of
        their entry, or beside atol / rtol where that is more.

    Example:
        >>> import appell as ap
        >>> system = ap.compile(ap.derive(ap.library.spherical_pendulum())).bind()
        >>> motion = galerkin(system, until=1.0)
        >>> bool(np.max(np.abs(motion.at(1.0).array - ap.simulate(system, until=1.0).at(1.0).array)) < 1e-9)
        True

    Reference: Qiao 1990, eqs. (7.6), (7.7).
    """
    began = clock.perf_counter()
    if not isinstance(system, System):
        raise IntegrationError(
            f"Only a System can be solved, got {type(system).__name__}; write compile(derive(model))."
        )
    _check(system.equations, degree, elements, points, tests)
    check_tolerances(rtol, atol)
    state = starting_state(system, start)
    end = end_time(state.t, until, system.model.until)
    march = _March(system, state, _Basis(degree), rtol, rtol if atol is None else atol)
    if elements is None:
        march.fitted(end)
    else:
        march.equal(end, elements)
    return Motion.of_run(
        system=system,
        stretches=march.stretches(),
        outcome=Outcome.DONE,
        detail="",
        method="galerkin",
        reason=march.reason,
        occurrences=[],
        switches=march.switches,
        seconds=clock.perf_counter() - began,
        grid=np.linspace(state.t, end, points),
        outputs={},
        drive=Drive(),
    )


def _check(equations: Equations, degree: int, elements: int | None, points: int, tests: str) -> None:
    for name, count, least in (("degree", degree, 1), ("elements", elements, 1), ("points", points, 2)):
        if count is not None or name != "elements":
            whole(name, count, least)
    if tests == "fixed":
        raise FormulationError(
            f"Tests that vanish at both ends of an element give {degree - 1} equations for the {degree} unknown "
            f"coefficients of each speed ({', '.join(map(str, equations.speeds))}): by eq. (7.7) the residual "
            "of the equations is constant in time, not zero. One test with a free end is missing; use tests='free'."
        )
    if tests != "free":
        raise FormulationError(f"Got tests={tests!r}; use 'free'.")


class _Basis:
    """Polynomials that vanish at s = -1, P_k(s) - P_k(-1) for k = 1 .. N, and weights P_i, i = 0 .. N-1, on [-1, 1].

    Args:
        degree: N.
    """

    def __init__(self, degree: int) -> None:
        self.degree = degree
        self.nodes, weights = legendre.leggauss(2 * degree + 6)
        self.values = self.at(self.nodes)
        slopes = [legendre.legval(self.nodes, legendre.legder(np.eye(degree + 1)[k])) for k in range(1, degree + 1)]
        self.slopes = np.array(slopes).T
        self.tests = weights * legendre.legvander(self.nodes, degree - 1).T

    def at(self, s: np.ndarray) -> np.ndarray:
        """Values, one row per place."""
        return legendre.legvander(s, self.degree)[:, 1:] - (-1.0) ** np.arange(1, self.degree + 1)


@dataclass(frozen=True, eq=False)
class _Element:
    """A solved element: x = x0 + sum of coefficients times basis."""

    code: Code
    basis: _Basis
    t0: float
    t1: float
    x0: np.ndarray
    coefficients: np.ndarray

    def __call__(self, times: np.ndarray) -> np.ndarray:
        s = 2 * (np.asarray(times) - self.t0) / (self.t1 - self.t0) - 1
        return self.x0[:, None] + (self.basis.at(s) @ self.coefficients).T

    def tail(self, least: float) -> float:
        """The last two coefficients of each entry beside its largest value, or a least one; the worst entry.

        Args:
            least: What values are small beside.
        """
        largest = np.max(np.abs(self.x0 + self.basis.values @ self.coefficients), axis=0)
        return float(np.max(np.max(np.abs(self.coefficients[-2:]), axis=0) / np.maximum(least, largest)))


class _March:
    """One element after the other.

    Args:
        system: The system.
        state: Where it starts.
        basis: Polynomials and weights.
        rtol, atol: Tolerances of the last coefficients.
    """

    def __init__(self, system: System, state: State, basis: _Basis, rtol: float, atol: float) -> None:
        self.system, self.basis, self.rtol, self.least = system, basis, rtol, atol / rtol
        self.code, self.state = system.code, state
        self.elements: list[_Element] = []
        self.switches: list[str] = []
        self.kinked = has_kinks(system.equations.rhs)
        self._functions: dict[Code, ca.Function] = {}

    @property
    def reason(self) -> str:
        """How well the elements did."""
        worst = max(element.tail(self.least) for element in self.elements)
        kinks = ", kinks not located" if self.kinked else ""
        return f"degree {self.basis.degree}, last Legendre coefficients {worst:.1e} of the largest{kinks}"

    def equal(self, end: float, count: int) -> None:
        """Go on to the end by elements of equal length."""
        for t1 in np.linspace(self.state.t, end, count + 1)[1:]:
            element = self._next(float(t1))
            if element is None:
                raise self._refusal(f"on the element t = {self.state.t:.6g} .. {t1:.6g}", "take more elements")
            self._take(element)

    def fitted(self, end: float) -> None:
        """Go on to the end by elements as long as their last coefficients are within the tolerance."""
        length = end - self.state.t
        shortest = 1e-12 * max(length, abs(end))
        while (t0 := self.state.t) < end:
            t1 = end if end - t0 < 1.1 * length else t0 + length
            if t1 - t0 < shortest or len(self.elements) == MOST:
                where = f"that keep to rtol = {self.rtol:g} beyond t = {t0:.6g}"
                raise self._refusal(where, "take a higher degree, a larger rtol")
            element = self._next(t1)
            share = np.inf if element is None else element.tail(self.least) / self.rtol
            if element is not None and share <= 1:
                self._take(element)
            # The last coefficients fall with the power N of the length.
            length = (t1 - t0) * float(np.clip(0.9 * max(share, 1e-300) ** (-1 / self.basis.degree), 0.25, 4.0))

    def _refusal(self, where: str, remedy: str) -> IntegrationError:
        remedy = "kinks are not located here: begin and end at them" if self.kinked else remedy
        return IntegrationError(
            f"Newton's method finds no polynomials of degree {self.basis.degree} {where}; {remedy}, or end before the "
            "motion becomes singular."
        )

    def _next(self, t1: float) -> _Element | None:
        """The element from here to t1; None if no polynomials are found."""
        state, p = self.state, self.system.p
        code = fitting_code(self.code, state, p)
        if code is not self.code and self.elements:
            old, new = (", ".join(map(str, c.equations.dependent)) for c in (self.code, code))
            self.switches.append(f"t = {state.t:.6g}: dependent velocities {old} -> {new}")
        self.code = code
        x0 = System(code, self.system.values).to_x(state)
        Projection(code, p)(state.t, x0)
        coefficients = self._newton(state.t, t1, x0)
        return None if coefficients is None else _Element(code, self.basis, state.t, t1, x0, coefficients)

    def _take(self, element: _Element) -> None:
        """Go on to the end of an element."""
        self.elements.append(element)
        final = element(np.array([element.t1]))[:, 0]
        Projection(self.code, self.system.p)(element.t1, final)
        self.state = System(self.code, self.system.values).from_x(element.t1, final)

    def _guess(self, t0: float, t1: float, x0: np.ndarray) -> np.ndarray:
        """Coefficients of a crude solution; of no motion at all where there is none."""
        times = (t0 + t1) / 2 + (t1 - t0) / 2 * self.basis.nodes
        f, w, p = self.code.rhs, self.system.w, self.system.p
        with np.errstate(all="ignore"):
            crude, edges, pieces = RK45(lambda t, x: f.flat(t, x, w, p), t0, x0, t1, rtol=1e-4, atol=1e-6), [t0], []
            while crude.status == "running" and len(pieces) < CRUDE:
                crude.step()
                edges.append(crude.t)
                pieces.append(crude.dense_output())
        values = OdeSolution(edges, pieces)(times).T if crude.status == "finished" else np.full((1, x0.size), np.nan)
        if not np.all(np.isfinite(values)):
            return np.zeros((self.basis.degree, x0.size))
        return np.linalg.lstsq(self.basis.values, values - x0, rcond=None)[0]

    def _newton(self, t0: float, t1: float, x0: np.ndarray) -> np.ndarray | None:
        """Coefficients for which all weighted residuals vanish; None if none are found."""
        basis, half = self.basis, (t1 - t0) / 2
        times = ((t0 + t1) / 2 + half * basis.nodes)[None, :]
        count, size = basis.nodes.size, x0.size
        function = self._function(self.code)
        constants = [np.repeat(e[:, None], count, axis=1) for e in (self.system.w, self.system.p)]
        coefficients, last = self._guess(t0, t1, x0), np.inf
        slopes = basis.slopes / half
        for _ in range(NEWTON):
            x, rates = x0[:, None] + (basis.values @ coefficients).T, (slopes @ coefficients).T
            F, by_x, by_rates = (np.array(e) for e in function(times, x, rates, *constants))
            residual = basis.tests @ F.T
            by_x, by_rates = (e.reshape(size, count, size).transpose(1, 0, 2) for e in (by_x, by_rates))
            matrix = _weighted(basis.tests, by_x, basis.values) + _weighted(basis.tests, by_rates, slopes)
            if not (np.all(np.isfinite(residual)) and np.all(np.isfinite(matrix))):
                break
            try:
                step = np.linalg.solve(matrix, -residual.ravel()).reshape(coefficients.shape)
            except np.linalg.LinAlgError:
                break
            coefficients = coefficients + step
            moved = float(np.max(np.abs(step)) / max(1.0, np.max(np.abs(x))))
            if moved < 1e-12 or (moved < 1e-9 and moved > last / 2):
                return coefficients
            last = moved
        return None

    def _function(self, code: Code) -> ca.Function:
        """(t, x, x', w, p) -> what all equations leave, and its derivatives by x and x', for all nodes at once."""
        if code not in self._functions:
            equations = code.equations
            time, x, w, p = equations.arguments
            n, m = len(equations.coordinates), len(equations.speeds)
            rates = ca.SX.sym("rates", x.numel())
            residual, _, _, zdot = residual_along(equations)(time, x, rates, w, p)
            rows = rows_along(equations, rates[n : n + m]) if residual.numel() < m else ca.SX(0, 1)
            F = ca.vertcat(rates[:n] - equations.chart.K, residual, rows, rates[n + m :] - zdot)
            outputs = [ca.densify(e) for e in (F, ca.jacobian(F, x), ca.jacobian(F, rates))]
            function = ca.Function("element", [time, x, rates, w, p], outputs, {"cse": True})
            self._functions[code] = function.map(self.basis.nodes.size)
        return self._functions[code]

    def stretches(self) -> list[Stretch]:
        """The elements as dense output, one stretch per choice of speeds."""
        made = []
        for code, group in groupby(self.elements, key=lambda element: element.code):
            elements = list(group)
            times = np.array([elements[0].t0, *(element.t1 for element in elements)])
            final = elements[-1](times[-1:])[:, 0]
            dense = partial(pieced, times[:-1], elements, final.size)
            made.append(Stretch(code=code, w=self.system.w, p=self.system.p, times=times, dense=dense, final=final))
        return made


def _weighted(tests: np.ndarray, slope: np.ndarray, basis: np.ndarray) -> np.ndarray:
    """The matrix of sum_n tests[i, n] slope[n, c, d] basis[n, k] for rows (i, c) and columns (k, d)."""
    blocks = np.einsum("in,ncd,nk->ickd", tests, slope, basis, optimize=True)
    return blocks.reshape(blocks.shape[0] * blocks.shape[1], -1)
