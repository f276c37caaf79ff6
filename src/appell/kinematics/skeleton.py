"""Joint frames of a tree: the third axis of each on its joint's axis, so that a joint turns two components only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Joint:
    """A joint, its axis along z of its own frame, and the body it carries.

    Attributes:
        name: Its name.
        parent: Position of the joint before it, -1 for the base.
        turns: 1 if it turns by its variable, else 0.
        advance: Displacement along the axis per unit of the variable: 1 prismatic, the pitch if helical, else 0.
        E: Rotation from this frame, at home, to the frame of the parent.
        r: Origin of this frame, at home, in the frame of the parent.
        shift: Angle of the joint at home.
        mass: Mass of the body.
        h: Mass times the centre, in this frame.
        planar: I_p, planar-centrifugal tensor about this origin, the integral of r r' dm, 3 by 3.
    """

    name: str
    parent: int
    turns: int
    advance: Any
    E: Rows
    r: Sequence[Any]
    mass: Any
    h: Sequence[Any]
    planar: Rows
    shift: float = 0.0

    @property
    def slides(self) -> bool:
        """Whether its variable moves it along the axis."""
        return not is_nothing(self.advance)

    def angle(self, variable: list[Any]) -> list[Any]:
        """The series of its angle, from that of its variable."""
        return [variable[0] + self.shift, *variable[1:]] if self.shift else variable

    @property
    def pseudo(self) -> list[list[Any]]:
        """The 4 by 4 pseudo-inertia about the origin of the joint frame."""
        return [*([*row, h] for row, h in zip(self.planar, self.h, strict=True)), [*self.h, self.mass]]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """A tree of joints, parents before children.

    Attributes:
        joints: The joints.
        gravity: Acceleration of gravity in the axes of the base, pointing down.
        tool: Joint that carries the tool point, its rotation and its place in that joint's frame.
    """

    joints: tuple[Joint, ...]
    gravity: Sequence[Any]
    tool: tuple[int, Rows, Sequence[Any]]


def cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    """The vector product of components."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def times(matrix: Rows, vector: Sequence[Any]) -> list[Any]:
    """Matrix times column, leaving out entries that are exactly zero."""
    return [_sum(m * v for m, v in zip(row, vector, strict=True) if not is_nothing(m)) for row in matrix]


def transposed_times(matrix: Rows, vector: Sequence[Any]) -> list[Any]:
    """Transposed matrix times column."""
    return times(list(zip(*matrix, strict=True)), vector)


def _sum(terms: Any) -> Any:
    total: Any = 0
    for term in terms:
        total = term if isinstance(total, int) and total == 0 else total + term
    return total


def is_nothing(x: Any) -> bool:
    """Whether it is the number zero, so that a product with it can be left out."""
    return isinstance(x, int | float) and x == 0
