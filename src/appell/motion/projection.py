"""Keeping a motion on its constraints: after every step one or two Newton steps, where they are needed at all.

They are one function of the state. Where it does not arrive (rows that have become dependent), the least squares of the
position rows, then of the velocity rows, do the same more slowly and for every rank.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import casadi as ca
import numpy as np

from appell.code.code import Code, function_of
from appell.code.machine import Machine
from appell.equations import Equations
from appell.kinematics.mechanics import Mechanics
from appell.once import once

GOOD = 2e-14  # residuals up to this times the size of what they are made of are rounding
LEAST = 1e-300  # what nothing is divided by

NOTHING = np.zeros(0)
Rows = Callable[[float, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def keeps(equations: Equations) -> bool:
    """Whether runs are kept on the constraints by projection."""
    formulation, mechanics = equations.formulation, equations.mechanics
    positions = bool(mechanics.position_rows) and bool(formulation.movable(mechanics, equations.split))
    return formulation.projects and (positions or (equations.chart.redundant and bool(mechanics.row_names)))


def _settled(equations: Equations) -> tuple[ca.SX, ca.SX, ca.SX]:
    """x after two Newton steps, and its largest residual before and after them in units of rounding."""
    mechanics = equations.mechanics
    t, x, w, p = equations.arguments
    n, m = len(equations.coordinates), len(equations.speeds)

    def worst(x: ca.SX) -> ca.SX:
        q, u, z = ca.vertsplit(x, [0, n, n + m, x.numel()])
        wanted: dict[str, tuple[ca.SX, ...]] = {}
        if mechanics.position_rows and equations.formulation.movable(mechanics, equations.split):
            wanted["position"] = (t, q, p)
        if equations.chart.redundant and mechanics.row_names:
            wanted["velocity"] = (t, q, u, z, p)
        shares = [
            ca.fabs(mechanics.functions[name](*e)[0]) / ca.fmax(LEAST, mechanics.row_terms[name](*e))
            for name, e in wanted.items()
        ]
        return ca.mmax(ca.vertcat(*shares)) / GOOD

    moved = function_of(equations, "projected")(t, x, w, p)
    return moved, worst(x), worst(moved)


@once
def _settling(code: Code) -> Machine:
    """(t, x, -, p) -> x after two Newton steps, and its largest residual before and after them."""
    t, x, _, p = code.equations.arguments
    moved, *left = _settled(code.equations)
    results = [ca.densify(e) for e in (moved, ca.vertcat(*left))]
    return Machine(ca.Function("settle", [t, x, ca.SX(0, 1), p], results, {"cse": True}), simd=False)


def kept(equations: Equations) -> ca.Function:
    """(t, x, w, p) -> x, moved onto the constraints where a run would be: the rule of `Projection` as a graph."""
    _, x, _, _ = equations.arguments
    result = x
    if keeps(equations):
        moved, before, _ = _settled(equations)
        result = ca.if_else(before <= 1, x, moved)
    return ca.Function("kept", equations.arguments, [ca.densify(result)], {"cse": True})


@once
def _machine(mechanics: Mechanics, name: str) -> Machine:
    """A named function of a mechanism at numbers."""
    return Machine(mechanics.functions[name], simd=False)


class Projection:
    """Moves x = (q, u, z) back onto the position rows, and onto the velocity rows where the speeds are redundant.

    The correction is the smallest one; where a formulation moves only some coordinates, only of those.

    Args:
        code: The equations as functions.
        p: Values of the parameters.
        rows: (t, x, p) -> velocity rows and their slopes, where kinks enter them: in the modes of the run.

    Attributes:
        active: Whether there is anything to keep.
    """

    def __init__(self, code: Code, p: np.ndarray, rows: Rows | None = None) -> None:
        equations = code.equations
        mechanics = equations.mechanics
        self.n = len(mechanics.model.coordinates)
        self.speeds = len(code.equations.speeds)
        self.p = p
        self.columns = np.array(equations.formulation.movable(mechanics, equations.split), dtype=int)
        self.holonomic = bool(mechanics.position_rows) and self.columns.size > 0
        self.redundant = code.equations.chart.redundant
        self.active = keeps(equations)
        self._position = _machine(mechanics, "position") if self.holonomic else None
        self._velocity = _machine(mechanics, "velocity") if mechanics.row_names else None
        self._jacobian = _machine(mechanics, equations.formulation.rows_by) if mechanics.row_names else None
        plain = rows is None and not mechanics.acceleration_rows
        self.settle = _settling(code) if self.active and plain else None
        self._rows, self._mechanics = rows, mechanics

    def __call__(self, t: float, x: np.ndarray) -> bool:
        """Correct x in place; returns whether it was changed."""
        changed = False
        if not self.active:
            return changed
        if self.settle is not None:
            moved = self.settle.flat(t, x, NOTHING, self.p)
            before, left = self.settle.results[1]
            if before <= 1:
                return False
            if left <= 1 and isfinite(moved.dot(moved)):  # the largest of several numbers does not show what is none
                x[:] = moved
                return True
        if self._position is not None:
            changed = self._positions(t, x)
        if self.redundant and self._velocity is not None:
            changed = self._velocities(t, x) or changed
        return changed

    def _positions(self, t: float, x: np.ndarray) -> bool:
        assert self._position is not None
        q, changed = x[: self.n], False
        for _ in range(4):
            residual, jacobian = self._position(t, q, self.p)
            if np.all(np.abs(residual) <= GOOD * np.array(self._mechanics.row_terms["position"](t, q, self.p))):
                break
            q[self.columns] -= np.linalg.lstsq(jacobian[:, self.columns], residual[:, 0], rcond=1e-9)[0]
            changed = True
        return changed

    def _velocities(self, t: float, x: np.ndarray) -> bool:
        assert self._velocity is not None
        q, v, z = x[: self.n], x[self.n : 2 * self.n], x[2 * self.n :]
        changed = False
        for _ in range(4):
            found = self._velocity(t, q, v, z, self.p) if self._rows is None else self._rows(t, x, self.p)
            residual, jacobian = found
            if np.all(np.abs(residual) <= GOOD * np.array(self._mechanics.row_terms["velocity"](t, q, v, z, self.p))):
                break
            if not np.all(np.isfinite(jacobian)):  # a root of velocities that vanish has no slope
                break
            v -= np.linalg.lstsq(jacobian, residual[:, 0], rcond=1e-9)[0]
            changed = True
        return changed

    def jacobian(self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray) -> np.ndarray:
        """The rows that virtual displacements obey, at a state."""
        assert self._jacobian is not None
        return self._jacobian(t, q, v, z, self.p)[0]


def project(code: Code, t: float | np.ndarray, x: np.ndarray, p: np.ndarray) -> None:
    """Correct many x in place, a row each, as `Projection` does one.

    Args:
        code: The equations as functions.
        t: Time, one for all or one for each.
        x: The states.
        p: Values of the parameters, one row for all or one for each.
    """
    if not len(x):
        return
    t, p = np.broadcast_to(t, len(x)), np.broadcast_to(p, (len(x), p.shape[-1]))
    projection = Projection(code, p[0])
    todo = np.full(len(x), projection.active)
    if projection.settle is not None:
        found, worst = projection.settle.side_by_side(len(x), t[:, None], x, NOTHING, p)
        moved, (before, left) = found[:, :, 0], worst[:, :, 0].T
        arrived = (before > 1) & (left <= 1) & np.isfinite(moved).all(axis=1)
        x[arrived] = moved[arrived]
        todo &= ~(arrived | (before <= 1))
    for i in np.flatnonzero(todo):
        projection.p = p[i]
        projection(t[i], x[i])
