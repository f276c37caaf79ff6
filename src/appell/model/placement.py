"""Where a frame sits in another one: a shift, then turns about axes of the turned frame."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.frame import Frame
from appell.model.rotation import NOTHING, Rotation, Triple, exact_quarters, triple, unit_axis
from appell.model.symbols import quoted
from appell.model.values import formula_of


@dataclass(frozen=True, eq=False)
class Placement:
    """A rigid transform with numbers or formulas: shifted by `shift`, then turned by each of `turns` in its own axes.

    Attributes:
        shift: Three components in the axes of the outer frame.
        turns: Pairs of unit axis and angle.
    """

    shift: Triple = NOTHING
    turns: tuple[tuple[Triple, sp.Expr], ...] = ()

    @classmethod
    def of(cls, place: Any, what: str) -> Placement:
        """From None, three components of a shift, a 4 by 4 matrix, or a `Placement`.

        Args:
            place: What was given.
            what: What it is, for messages.
        """
        if isinstance(place, Placement):
            return place
        if place is None:
            return cls()
        if isinstance(place, np.ndarray | sp.MatrixBase) or (
            isinstance(place, list | tuple) and len(place) == 4 and all(isinstance(row, list | tuple) for row in place)
        ):
            matrix = sp.Matrix(place.tolist() if isinstance(place, np.ndarray) else place)
            if matrix.shape == (4, 4):
                return cls._from_matrix(matrix, what)
            if 3 not in matrix.shape or 1 not in matrix.shape:
                raise ModelError(f"{what} must be three components or a 4 by 4 matrix, got {matrix.shape}.")
            place = list(matrix)
        return cls(finite_triple(place, what))

    @classmethod
    def turned(cls, shift: Iterable[Any], *turns: tuple[Any, Any]) -> Placement:
        """Shifted and then turned by pairs (axis, angle); turns by nothing are left out.

        Args:
            shift: Three components.
            turns: Pairs of an axis, as for `Frame.rotate`, and an angle.
        """
        listed = tuple((unit_axis(axis), formula_of(angle, "The angle of a turn")) for axis, angle in turns)
        return cls(triple(shift, "A shift"), tuple((k, a) for k, a in listed if a != 0))

    @classmethod
    def _from_matrix(cls, matrix: sp.Matrix, what: str) -> Placement:
        shift = finite_triple(matrix[:3, 3], what)
        if not all((e - f).is_zero for e, f in zip(matrix[3, :], (0, 0, 0, 1), strict=True)):
            raise ModelError(f"{what} must have 0 0 0 1 as its last row, got {list(matrix[3, :])}.")
        try:
            R = np.array(matrix[:3, :3].tolist(), dtype=float)
        except TypeError:
            return cls(shift, _symbolic_turn(matrix[:3, :3], what))
        if not np.isfinite(R).all() or np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0:
            raise ModelError(
                f"{what} must have a right-handed rotation as its upper left 3 by 3 part, got {quoted(R.tolist())}."
            )
        axis, angle = axis_angle(R)
        return cls(shift, ((triple(axis, what), angle),) if angle != 0 else ())

    @property
    def trivial(self) -> bool:
        """Whether nothing is moved."""
        return not self.turns and all(e == 0 for e in self.shift)

    @cached_property
    def rotation(self) -> sp.Matrix:
        """R with v_outer = R v_inner."""
        result = sp.eye(3)
        for axis, angle in self.turns:
            result = result * Rotation(axis, angle).matrix
        return result

    @cached_property
    def matrix(self) -> sp.Matrix:
        """The 4 by 4 matrix."""
        m = sp.eye(4)
        m[:3, :3], m[:3, 3] = self.rotation, sp.Matrix(self.shift)
        return m

    def after(self, first: Placement) -> Placement:
        """This transform applied after another one: T_self T_first."""
        shift = sp.Matrix(self.shift) + self.rotation * sp.Matrix(first.shift)
        return Placement(triple(shift, "A shift"), (*self.turns, *first.turns))

    def simplified(self) -> Placement:
        """The same transform by a single turn, where all turns are numbers."""
        if len(self.turns) < 2 or not all(e.is_number for k, angle in self.turns for e in (*k, angle)):
            return self
        axis, angle = axis_angle(np.array(self.rotation.tolist(), dtype=float))
        return Placement(self.shift, ((triple(axis, "An axis"), angle),) if angle != 0 else ())

    def frame(self, outer: Frame, name: str) -> Frame:
        """The frame that sits so in an outer one."""
        if self.trivial:
            return outer
        inner = outer
        for axis, angle in self.turns:
            inner = inner.rotate(axis, angle, name)
        return inner.at(outer.point(*self.shift), name)


def finite_triple(values: Iterable[Any], what: str) -> Triple:
    """Three numbers or formulas, as `triple` takes them; refused if one is not finite."""
    found = triple(values, what)
    check_finite(found, what)
    return found


def check_finite(values: Sequence[sp.Expr], what: str) -> None:
    """Refuse numbers and formulas of which one is not finite."""
    if any(e.has(sp.nan, sp.oo, -sp.oo, sp.zoo) for e in values):
        raise ModelError(f"{what} must be finite, got {quoted(values if len(values) > 1 else values[0])}.")


def axis_angle(R: np.ndarray) -> tuple[tuple[float, ...], sp.Expr]:
    """Unit axis and angle of a rotation matrix; a quarter of a turn about a coordinate axis is exact."""
    # The column of largest norm of R R' + ... is the quaternion, whatever the angle (Shepperd 1978).
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [R[0, 2] - R[2, 0], R[0, 1] + R[1, 0], R[1, 1] - R[0, 0] - R[2, 2], R[1, 2] + R[2, 1]],
            [R[1, 0] - R[0, 1], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], R[2, 2] - R[0, 0] - R[1, 1]],
        ]
    ) + np.eye(4)
    column = K[:, int(np.argmax(np.diag(K)))]
    w, v = column[0], column[1:]
    size = float(np.linalg.norm(v))
    if size < 1e-15 * np.linalg.norm(column):
        return (0.0, 0.0, 1.0), sp.Integer(0)
    if w < 0 or (w == 0 and v[np.flatnonzero(v)[0]] < 0):
        w, v = -w, -v
    axis = v / size
    axis[np.abs(axis) < 1e-15] = 0
    angle = exact_quarters(sp.Float(2 * math.atan2(size, w)))
    if np.count_nonzero(axis) == 1:
        axis = np.sign(axis)
    return tuple(int(e) if e in (-1, 0, 1) else float(e) for e in axis), angle


def _symbolic_turn(R: sp.Matrix, what: str) -> tuple[tuple[Triple, sp.Expr], ...]:
    for k, letter in enumerate("xyz"):
        i, j = (k + 1) % 3, (k + 2) % 3
        if R[k, k] == 1 and R[i, i] == R[j, j] and R[i, j] == -R[j, i]:
            if any(sp.simplify(e) != 0 for e in R * R.T - sp.eye(3)):
                raise ModelError(
                    f"{what} must have a rotation as its upper left 3 by 3 part, got {quoted(R.tolist())}."
                )
            return ((unit_axis(letter), sp.atan2(R[j, i], R[i, i])),)
    raise ModelError(
        f"{what} has a rotation with formulas in it that is not about x, y or z; give an "
        "appell.model.placement.Placement.turned(shift, (axis, angle), ...) instead of a matrix."
    )
