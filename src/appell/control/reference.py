"""What is to be tracked: q, q' and q'' as functions of time, from a motion, formulas or a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.graph.lower import Lowering
from appell.graph.numeric import Numeric
from appell.higher_order.trajectory import Trajectory
from appell.model.symbols import Coordinate, Letter, key, letters_in, listed, t
from appell.model.values import check_kind, floats, formula_of, unknown
from appell.motion.motion import Motion
from appell.motion.table import moments

Point = tuple[np.ndarray, np.ndarray, np.ndarray]
SLACK = 1e-9  # seconds past the end that are rounding


class Reference:
    """A motion to follow, in the order of given coordinates.

    `reference(t)` gives q, q', q''. After its end it stands still where it ended.

    Args:
        look: From times to q, q', q'', one row for each time.
        start: Where it begins.
        end: Where it ends.
    """

    def __init__(self, look: Callable[[np.ndarray], Point], start: float = -np.inf, end: float = np.inf) -> None:
        self._look, self.start, self.end = look, start, end

    def __repr__(self) -> str:
        return f"Reference, t = {self.start:g} .. {self.end:g} s" if np.isfinite(self.end) else "Reference at all times"

    @classmethod
    def of(cls, what: Any, coordinates: Sequence[Coordinate]) -> Reference:
        """A reference from a motion (or what has one), from formulas in time, or from a function of time.

        Args:
            what: A Motion, something with a `motion`, a Trajectory, `{coordinate: formula in appell.t}`, or a
                function of t that gives q, q', q''.
            coordinates: Their order.
        """
        if isinstance(what, Reference):
            return what
        coordinates = listed(coordinates)
        for q in coordinates:
            check_kind(q, Coordinate, "coordinates in the order of the reference, as model.coordinates")
        what = getattr(what, "motion", what)
        if isinstance(what, Motion):
            return cls._of_motion(what, coordinates)
        if isinstance(what, Mapping):
            return cls._of_formulas(what, coordinates)
        if isinstance(what, Trajectory):
            return cls._of_trajectory(what, coordinates)
        if callable(what):
            return cls(lambda times: _asked(what, times, len(coordinates)))
        raise ModelError(
            f"Got {type(what).__name__} as a reference; give a Motion, a Trajectory, {{coordinate: formula in t}}, "
            "or a function of t that gives q, q', q''."
        )

    @classmethod
    def _of_motion(cls, motion: Motion, coordinates: Sequence[Coordinate]) -> Reference:
        known = [q.label for q in motion.system.model.coordinates]
        missing = [q.label for q in coordinates if q.label not in known]
        if missing:
            raise ModelError(
                f"The reference has no {', '.join(missing)}: it is a motion of {motion.system.model.name!r} with "
                f"{', '.join(known)}."
            )
        order = [known.index(q.label) for q in coordinates]
        n = len(known)

        def sample(times: np.ndarray) -> np.ndarray:
            states = motion.states(times)
            a = np.empty((times.size, n))
            for stretch, here in motion.located(times):
                x, w = motion.sample(stretch, times[here]), motion.open_inputs(stretch, times[here])
                a[here] = stretch.accelerations(times[here], x.T, w)
            return np.hstack([states[:, order], states[:, [n + i for i in order]], a[:, order]])

        edges = np.unique(np.concatenate([s.times for s in motion.stretches]))
        long = motion.info["method"] == "taylor"  # its steps are long and of high order, those of others of order 7
        edges = np.union1d(edges, (edges[1:] + edges[:-1]) / 2) if long else edges
        edges = edges[np.append(True, np.diff(edges) > 1e-12 * max(1.0, abs(edges[-1])))]
        look = _panels(sample, edges, 14 if long else 8)
        return cls(look, float(edges[0]), float(edges[-1]))

    @classmethod
    def _of_formulas(cls, formulas: Mapping[Any, Any], coordinates: Sequence[Coordinate]) -> Reference:
        labels = [q.label for q in coordinates]
        for name in formulas:
            if not isinstance(name, str | Letter):
                raise ModelError(f"The reference gives {name}; give a formula for each of {', '.join(labels)} instead.")
            if key(name) not in labels:
                raise ModelError(unknown(key(name), labels, "coordinate that the law knows"))
        given = {key(name): course(formula, name) for name, formula in formulas.items()}
        time = ca.SX.sym("t")
        lower, curves = Lowering({t: time}), []
        for q in coordinates:
            if q.label not in given:
                raise ModelError(f"The reference says nothing about {q}; give a formula in appell.t for it.")
            strange = letters_in(given[q.label]) - {t}
            if strange:
                raise ModelError(
                    f"The reference of {q} contains {', '.join(sorted(map(str, strange)))}; only appell.t may be in it."
                )
            curves.append(lower(given[q.label]))
        levels = [ca.vertcat(*curves)]
        for _ in range(2):  # on the graph, where a corner has the slopes of its two sides and no impulse
            levels.append(ca.jtimes(levels[-1], time, 1))
        function = ca.Function("reference", [time], [ca.densify(e) for e in levels], {"cse": True})
        single = Numeric(function)

        def look(times: np.ndarray) -> Point:
            if times.size == 1:
                return tuple(e.T for e in single(times[0]))
            return tuple(np.array(e).T for e in function(ca.DM(times[None, :])))

        return cls(look)

    @classmethod
    def _of_trajectory(cls, trajectory: Trajectory, coordinates: Sequence[Coordinate]) -> Reference:
        if trajectory.n != len(coordinates):
            raise ModelError(
                f"The trajectory has {trajectory.n} joints, the mechanism {len(coordinates)} coordinates: "
                f"{', '.join(q.label for q in coordinates)}."
            )

        def look(times: np.ndarray) -> Point:
            q, v, a = np.moveaxis(trajectory(times), -1, 0)
            return q, v, a

        return cls(look, trajectory.start, trajectory.end)

    def __call__(self, time: float) -> Point:
        """q, q', q'' at a time."""
        time = float(floats(time, "The time of a reference"))
        q, v, a = self._look(np.array([min(max(time, self.start), self.end)]))
        still = time > self.end + SLACK
        return q[0], 0 * v[0] if still else v[0], 0 * a[0] if still else a[0]

    def at(self, times: np.ndarray) -> Point:
        """q, q', q'' at many times, one row each."""
        times = moments(times)
        q, v, a = self._look(np.clip(times, self.start, self.end))
        moving = (times <= self.end + SLACK)[:, None]
        return q, v * moving, a * moving


def course(formula: Any, name: Any) -> sp.Expr:
    """What a quantity does over time, a formula in appell.t.

    Args:
        formula: The formula, also as text in t.
        name: Whose it is, for messages.
    """
    read = formula
    if isinstance(formula, str):
        try:
            read = sp.sympify(formula, {"t": t})
        except (sp.SympifyError, SyntaxError, TypeError, AttributeError, ValueError):
            raise ModelError(f"The reference of {name} is no formula in t: {formula!r}.") from None
    return formula_of(read, f"The reference of {name}")


def _asked(what: Callable[[float], Any], times: np.ndarray, n: int) -> Point:
    """q, q', q'' from a function of time, one row for each time."""
    listed = []
    for time in times:
        given = what(time)
        try:
            point = np.array([np.atleast_1d(e) for e in given], dtype=float)
        except (TypeError, ValueError):
            point = np.zeros(0)
        if point.shape != (3, n):
            raise ModelError(
                f"The reference must give q, q', q'', each with {n} number{'s' * (n > 1)}; at t = {time:g} it gave "
                f"{given!r}."
            )
        listed.append(point)
    q, v, a = np.array(listed).transpose(1, 0, 2)
    return q, v, a


def _panels(sample: Callable[[np.ndarray], np.ndarray], edges: np.ndarray, count: int) -> Callable[[np.ndarray], Point]:
    """Chebyshev series on panels between edges: a motion is looked up often, and its dense output is dear."""
    nodes = np.cos((np.arange(count) + 0.5) * np.pi / count)
    fit = np.linalg.inv(np.polynomial.chebyshev.chebvander(nodes, count - 1))
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    times = (middle[:, None] + half[:, None] * nodes).ravel()
    forward = np.argsort(times)
    values = sample(times[forward])
    values = values[np.argsort(forward)].reshape(half.size, count, -1)
    series = np.einsum("ij,pjc->pic", fit, values)

    orders = np.arange(count)
    n = series.shape[2] // 3

    def look(at: np.ndarray) -> Point:
        k = np.minimum(np.searchsorted(edges[1:-1], at, side="right"), half.size - 1)
        powers = np.cos(np.arccos(np.clip((at - middle[k]) / half[k], -1, 1))[:, None] * orders)
        found = np.matmul(powers[:, None, :], series[k])[:, 0, :]
        return found[:, :n], found[:, n : 2 * n], found[:, 2 * n :]

    return look
