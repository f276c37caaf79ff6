"""Points, attitudes and arrows of a drawing along a motion: collected as vectors, evaluated in one sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.graph.sparse import stacked
from appell.kinematics.variables import Variables
from appell.model.frame import Frame, Vector
from appell.model.model import Model


@dataclass(frozen=True, eq=False)
class Course:
    """States at the moments of a drawing.

    Attributes:
        times: Moments.
        q: Coordinates, one row for each moment.
        v: Rates.
        z: Extra states.
        w: Inputs.
        p: Parameters.
    """

    times: np.ndarray
    q: np.ndarray
    v: np.ndarray
    z: np.ndarray
    w: np.ndarray
    p: np.ndarray


class Tracks:
    """What moves in a drawing; `point`, `turn`, `vector` and `scalar` ask for a track and give its number.

    Args:
        model: The model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.variables = Variables.of(model)
        self.lower = self.variables.lower
        self._turns: dict[Frame, ca.SX] = {}
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._columns: dict[str, list[ca.SX]] = {"point": [], "turn": [], "vector": [], "scalar": []}

    def point(self, position: Vector) -> int:
        """Track of a point."""
        return self._number("point", _key(position), lambda: self.resolved(position))

    def vector(self, vector: Vector) -> int:
        """Track of a force, a velocity or a direction, in ground axes."""
        return self._number("vector", _key(vector), lambda: self.resolved(vector))

    def turn(self, frame: Frame) -> int:
        """Track of a frame's attitude."""
        return self._number("turn", (frame.axes,), lambda: ca.vec(self._turn(frame.axes)))

    def scalar(self, formula: Any) -> int:
        """Track of a number."""
        formula = sp.sympify(formula)
        return self._number("scalar", (formula,), lambda: ca.SX(self.lower(formula)))

    def _number(self, kind: str, name: tuple[Any, ...], make: Any) -> int:
        number = self._numbers.get((kind, *name))
        if number is None:
            number = self._numbers[(kind, *name)] = len(self._columns[kind])
            self._columns[kind].append(ca.densify(make()))
        return number

    def resolved(self, vector: Vector) -> ca.SX:
        """A vector in ground axes, on the graph."""
        total = ca.SX.zeros(3)
        for frame, part in vector.parts.items():
            total = total + self._turn(frame.axes) @ ca.vertcat(*[self.lower(e) for e in part])
        return total

    def _turn(self, frame: Frame) -> ca.SX:
        if frame not in self._turns:
            if frame.parent is None or frame.rotation is None:
                self._turns[frame] = ca.SX.eye(3)
            else:
                own = frame.rotation.matrix
                rows = [ca.horzcat(*[self.lower(own[i, j]) for j in range(3)]) for i in range(3)]
                self._turns[frame] = self._turn(frame.parent) @ ca.vertcat(*rows)
        return self._turns[frame]

    def along(self, course: Course) -> Values:
        """All tracks along a course."""
        x = self.variables
        columns = [stacked(listed) for listed in self._columns.values()]
        function = ca.Function("tracks", x.arguments, columns, {"cse": True})
        count = course.times.size
        found = function.map(count)(
            course.times[None, :], course.q.T, course.v.T, course.z.T, course.w.T,
            np.repeat(course.p[:, None], count, axis=1),
        )  # fmt: skip
        points, turns, vectors, scalars = (np.array(e, dtype=float) for e in found)
        return Values(
            course.times,
            points.reshape(-1, 3, count).transpose(0, 2, 1),
            turns.reshape(-1, 3, 3, count).transpose(0, 3, 2, 1),
            vectors.reshape(-1, 3, count).transpose(0, 2, 1),
            scalars.reshape(-1, count),
        )


@dataclass(frozen=True, eq=False)
class Values:
    """Tracks as numbers: points and vectors over (track, moment, axis), turns as matrices to ground axes."""

    times: np.ndarray
    points: np.ndarray
    turns: np.ndarray
    vectors: np.ndarray
    scalars: np.ndarray


def _key(vector: Vector) -> tuple[Any, ...]:
    return tuple((frame.axes, part) for frame, part in vector.parts.items())


def quaternions(turns: np.ndarray) -> np.ndarray:
    """Unit quaternions (x, y, z, w) of rotation matrices over (track, moment), continuous along the moments."""
    if turns.shape[0] == 0:
        return np.zeros((0, turns.shape[1], 4))
    found = _quaternion(turns)
    flips = np.sign(np.sum(found[:, 1:] * found[:, :-1], axis=-1))
    flips[flips == 0] = 1
    found[:, 1:] *= np.cumprod(flips, axis=1)[..., None]
    return found


def _quaternion(R: np.ndarray) -> np.ndarray:
    """From the largest of the four squares 4x^2, 4y^2, 4z^2, 4w^2 and its products with the others (Shepperd 1978)."""
    trace = np.trace(R, axis1=-2, axis2=-1)
    squares = np.stack([1 + 2 * R[..., i, i] - trace for i in range(3)] + [1 + trace], axis=-1)
    rows = np.empty((*squares.shape, 4))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        rows[..., i, j] = rows[..., j, i] = R[..., i, j] + R[..., j, i]
        rows[..., i, 3] = rows[..., 3, i] = R[..., k, j] - R[..., j, k]
    for i in range(4):
        rows[..., i, i] = squares[..., i]
    largest = np.argmax(squares, axis=-1)[..., None, None]
    found = np.take_along_axis(rows, largest, axis=-2)[..., 0, :]
    return found / np.linalg.norm(found, axis=-1, keepdims=True)
