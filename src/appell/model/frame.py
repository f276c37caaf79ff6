"""Frames and vectors: a tree of rotations, and vectors that remember in which frame they were written.

A frame is its parent turned by one rotation, with an origin. A vector is a sum of parts, one triple of components
for each frame it was written in; nothing is resolved into other axes before somebody asks for components.
A point is its position vector from the origin of the ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.components import common_frame, resolved, shared_depth, unordered
from appell.model.rotation import ZERO, Rotation, Triple, added, exact_zero, inner, minus, times, triple, unit_axis
from appell.model.symbols import Letter, quoted, time_derivative, written
from appell.model.values import formula_of

DEGREES = ("deg", "degree", "degrees", "°")


class Frame:
    """Axes x, y, z and an origin.

    `Frame("ground")` is the inertial one; every other frame comes from it by `rotate`, `at` and the joints.

    Args:
        name: Its name in messages.

    Example:
        >>> from appell.model.symbols import coordinates
        >>> yaw, lean = coordinates("yaw lean")
        >>> ground = Frame("ground")
        >>> plane = ground.rotate("z", yaw).rotate("x", lean)
        >>> ground.components(plane.y)
        (-sin(yaw)*cos(lean), cos(lean)*cos(yaw), sin(lean))
    """

    def __init__(self, name: str = "ground") -> None:
        self.name = name
        self.axes: Frame = self  # the frame whose directions these are: another one if only the origin differs
        self.rotation: Rotation | None = None
        self.path: tuple[Frame, ...] = (self,)
        self.origin: Vector = Vector({})
        self.unit_quaternions: tuple[tuple[sp.Expr, ...], ...] = ()

    def __repr__(self) -> str:
        turned = f", turned {self.rotation}" if self.rotation is not None and self.name.endswith("'") else ""
        return f"Frame({self.name!r}{turned})"

    def _child(self, rotation: Rotation, name: str | None) -> Frame:
        child = Frame(name or f"{self.name}'")
        child.rotation = rotation
        child.path = (*self.path, child)
        child.origin = self.origin
        child.unit_quaternions = self.unit_quaternions
        return child

    def rotate(self, axis: Any, angle: Any, name: str | None = None) -> Frame:
        """This frame turned about an axis of its own.

        Args:
            axis: `"x"`, `"y"`, `"z"`, a minus sign before them, or three components (made a unit vector).
            angle: Any formula, in radians.
            name: A name for reports.
        """
        return self._child(Rotation(unit_axis(axis), _radians(angle)), name)

    def rotate_body(self, sequence: str, *angles: Any) -> Frame:
        """This frame turned about axes of its own, one after the other: `rotate_body("zxy", yaw, lean, spin)`.

        Args:
            sequence: The axes, each turned with the frame by the turns before it.
            angles: One angle for each, in radians.
        """
        if not isinstance(sequence, str):
            raise ModelError(f"A sequence of axes is a text such as 'zxy', got {quoted(sequence)}.")
        if len(sequence) != len(angles):
            raise ModelError(
                f"The sequence {sequence!r} has {len(sequence)} turns but {len(angles)} angles were given."
            )
        if any(one == other for one, other in pairwise(sequence)):
            raise ModelError(f"The sequence {sequence!r} turns twice in a row about one axis; that is one turn only.")
        frame = self
        for axis, angle in zip(sequence, angles, strict=True):
            frame = frame.rotate(axis, angle)
        return frame

    def rotate_quaternion(self, w: Any, x: Any, y: Any, z: Any, name: str | None = None) -> Frame:
        """This frame turned by the unit quaternion w + xi + yj + zk.

        Its norm is kept by a constraint that the model adds by itself.

        Args:
            w: Scalar part.
            x: First component of the vector part.
            y: Second component.
            z: Third component.
            name: A name for reports.
        """
        quaternion = tuple(formula_of(e, "A component of a quaternion") for e in (w, x, y, z))
        child = self._child(Rotation(quaternion=quaternion), name)
        child.unit_quaternions = (*self.unit_quaternions, quaternion)
        return child

    def at(self, origin: Place, name: str | None = None) -> Frame:
        """The same axes with another origin: a point, or three components in these axes."""
        twin = Frame(name or self.name)
        twin.axes, twin.rotation, twin.path = self.axes, self.rotation, self.path
        twin.origin = self._place(origin)
        twin.unit_quaternions = self.unit_quaternions
        return twin

    def _place(self, at: Place) -> Vector:
        """A point, or the point with these components from the origin of this frame."""
        return at if isinstance(at, Vector) else self.point(*triple(at, "A place"))

    @property
    def parent(self) -> Frame | None:
        """The frame this one was turned from."""
        return self.path[-2] if len(self.path) > 1 else None

    def vector(self, x: Any, y: Any, z: Any = 0) -> Vector:
        """The vector with these components in this frame."""
        return Vector({self.axes: triple((x, y, z), "A vector")})

    def point(self, x: Any, y: Any = 0, z: Any = 0) -> Vector:
        """The point with these components from the origin of this frame."""
        return self.origin + self.vector(x, y, z)

    @property
    def x(self) -> Vector:
        """First axis."""
        return self.vector(1, 0, 0)

    @property
    def y(self) -> Vector:
        """Second axis."""
        return self.vector(0, 1, 0)

    @property
    def z(self) -> Vector:
        """Third axis."""
        return self.vector(0, 0, 1)

    def components(self, vector: Vector) -> Triple:
        """The components of any vector in this frame."""
        return resolved(_parts(vector), self)

    @property
    def angular_velocity(self) -> Vector:
        """Angular velocity against the ground."""
        return angular_velocity(self, self.path[0])

    # Joints: the child frame that a joint leaves free to move.

    def pin(self, angle: Any, axis: Any = "z", at: Place = (0, 0, 0), name: str | None = None) -> Frame:
        """A hinge: the child turns by `angle`.

        Args:
            angle: Any formula, in radians.
            axis: The axis of the hinge, as for `rotate`.
            at: Its place in this frame; the child's origin is there.
            name: A name for reports.
        """
        child = self.rotate(axis, angle, name)
        child.origin = self._place(at)
        return child

    def slide(self, distance: Any, axis: Any = "x", at: Place = (0, 0, 0), name: str | None = None) -> Frame:
        """A prismatic joint: the child moves and does not turn.

        Args:
            distance: How far it has moved.
            axis: The direction, as for `rotate`.
            at: Where it is at distance zero.
            name: A name for reports.
        """
        steps = (formula_of(distance, "The distance of a slide") * k for k in unit_axis(axis))
        return self.at(self._place(at) + self.vector(*steps), name)

    def universal(self, first: Any, second: Any, axes: str = "xy", at: Place = (0, 0, 0)) -> Frame:
        """A Cardan joint: two turns about crossing axes.

        Args:
            first: Angle about the first axis, which is fixed in this frame.
            second: Angle about the second axis, which is fixed in the child.
            axes: The two axes, which differ.
            at: Its place in this frame.
        """
        child = self.rotate_body(axes, first, second)
        child.origin = self._place(at)
        return child

    def spherical(self, *attitude: Any, at: Place = (0, 0, 0), sequence: str = "zxy") -> Frame:
        """A ball joint.

        Args:
            attitude: Three angles, or four components of a unit quaternion, the scalar part first.
            at: Its place in this frame.
            sequence: For angles: the axes, as for `rotate_body`.
        """
        if len(attitude) == 4:
            child = self.rotate_quaternion(*attitude)
        elif len(attitude) == 3:
            child = self.rotate_body(sequence, *attitude)
        else:
            raise ModelError(f"A spherical joint takes 3 angles or 4 quaternion components, got {len(attitude)}.")
        child.origin = self._place(at)
        return child

    def planar(self, x: Any, y: Any, angle: Any, at: Place = (0, 0, 0), name: str | None = None) -> Frame:
        """Motion in the x-y plane of this frame.

        Args:
            x: First coordinate of the child's origin.
            y: Second coordinate.
            angle: Turn about z.
            at: Where x = y = 0 is.
            name: A name for reports.
        """
        return self.pin(angle, "z", self._place(at) + self.vector(x, y), name)

    def free(self, x: Any, y: Any, z: Any, *attitude: Any, sequence: str = "zxy") -> Frame:
        """Six degrees of freedom.

        Args:
            x: First coordinate of the child's origin.
            y: Second coordinate.
            z: Third coordinate.
            attitude: Three angles or four quaternion components, as for `spherical`.
            sequence: For angles: the axes, as for `rotate_body`.
        """
        return self.spherical(*attitude, at=(x, y, z), sequence=sequence)

    def weld(self, at: Place = (0, 0, 0), axis: Any = "z", angle: Any = 0, name: str | None = None) -> Frame:
        """No freedom at all: a frame fixed in this one.

        Args:
            at: Where its origin is.
            axis: The axis about which it is turned.
            angle: By how much.
            name: A name for reports.
        """
        return self.pin(angle, axis, at, name)


@dataclass(frozen=True, eq=False)
class Vector:
    """A sum of parts, each with its components in its own frame."""

    parts: Mapping[Frame, Triple] = field(default_factory=dict)

    def __add__(self, other: Any) -> Vector:
        if isinstance(other, int) and other == 0:
            return self
        if not isinstance(other, Vector):
            raise ModelError(f"A vector can be added only to a vector, got {other!r}; did you forget `* frame.x`?")
        parts = dict(self.parts)
        for frame, values in other.parts.items():
            parts[frame] = added(parts[frame], values) if frame in parts else values
        return Vector({f: c for f, c in parts.items() if any(e is not ZERO and e != 0 for e in c)})

    __radd__ = __add__

    def __neg__(self) -> Vector:
        return self * -1

    def __sub__(self, other: Any) -> Vector:
        if isinstance(other, Vector):
            return self + -other if other.parts else self
        return self + other

    def __mul__(self, factor: Any) -> Vector:
        if isinstance(factor, Vector):
            raise ModelError("Two vectors cannot be multiplied by *; use a.dot(b) or a.cross(b).")
        factor = exact_zero(formula_of(factor, "The factor of a vector"))
        if factor is ZERO:
            return Vector({})
        return Vector(
            {f: (times(factor, a), times(factor, b), times(factor, c)) for f, (a, b, c) in self.parts.items()}
        )

    __rmul__ = __mul__
    # SymPy scalars on the left must leave the product to us.
    _op_priority = 1000.0

    def __truediv__(self, factor: Any) -> Vector:
        if isinstance(factor, Vector):
            raise ModelError("A vector cannot be divided by a vector; use a.dot(b), a.norm.")
        return self * (1 / formula_of(factor, "The divisor of a vector"))

    def __repr__(self) -> str:
        words = ""
        for axis, c in ((f"{f.name}.{a}", c) for f, cs in self.parts.items() for a, c in zip("xyz", cs, strict=True)):
            negative = c.could_extract_minus_sign() and not c.is_Add
            size = -c if negative else c
            text = written(size)
            factor = "" if size == 1 else f"({text})*" if size.is_Add else f"{text}*"
            words += f" {'-' if negative else '+'} {factor}{axis}" if c != 0 else ""
        return words.removeprefix(" + ").replace(" - ", "-", 1 if words.startswith(" - ") else 0) or "0"

    @property
    def frame(self) -> Frame | None:
        """The deepest frame it is written in, where it is cheapest to resolve."""
        return max(self.parts, key=lambda f: len(f.path), default=None)

    def dot(self, other: Vector) -> sp.Expr:
        """Scalar product."""
        frame = common_frame(self.parts, _parts(other))
        if frame is not None:
            return unordered(frame.path[0]).inner(frame.components(self), frame.components(other))
        total = sp.Integer(0)
        for frame, part in self.parts.items():
            total += inner(part, frame.components(other))
        return total

    def cross(self, other: Vector) -> Vector:
        """Vector product."""
        common, total = common_frame(self.parts, _parts(other)), Vector({})
        parts = self.parts if common is None else {common: common.components(self)}
        for frame, (a, b, c) in parts.items():
            x, y, z = frame.components(other)
            total = total + frame.vector(
                minus(times(b, z), times(c, y)), minus(times(c, x), times(a, z)), minus(times(a, y), times(b, x))
            )
        return total

    @property
    def norm(self) -> sp.Expr:
        """Length: of a sum of squares, in which nothing cancels where it is short."""
        if not self.parts or common_frame(self.parts, self.parts) is not None:
            return sp.sqrt(self.dot(self))
        components = min(self.parts, key=lambda f: len(f.path)).components(self)
        return sp.sqrt(inner(components, components))

    def dt(self, frame: Frame, *, frozen: bool = False) -> Vector:
        """Time derivative as seen from `frame`; from the ground it is the true one.

        Each part is differentiated in its own axes, and the turning of those axes against `frame` is added.

        Args:
            frame: Where one looks from.
            frozen: Whether extra states in the components are held.
        """
        if not isinstance(frame, Frame):
            raise ModelError(f"A time derivative is seen from a frame, v.dt(ground); got {frame!r}.")
        total = Vector({})
        for own, part in self.parts.items():
            rate = own.vector(*(time_derivative(c, frozen) for c in part))
            total = total + rate - Vector({own: part}).cross(angular_velocity(own, frame))
        return total


def _radians(given: Any) -> sp.Expr:
    """An angle; refuses a letter that says of itself that it is in degrees."""
    angle = formula_of(given, "An angle")
    if isinstance(angle, Letter) and angle.unit in DEGREES:
        raise ModelError(
            f"Angles are in radians, and {angle} has the unit {angle.unit!r}: give it the unit 'rad', or turn by "
            f"{angle} * sympy.pi / 180."
        )
    return angle


def check_point(given: Any, what: str) -> None:
    """Refuse what is no point.

    Args:
        given: What was given.
        what: What it is, the beginning of a message.
    """
    if not isinstance(given, Vector):
        raise ModelError(f"{what} must be a point such as ground.point(x, y), got {quoted(given)}.")


def _parts(vector: Vector) -> Mapping[Frame, Triple]:
    if not isinstance(vector, Vector):
        raise ModelError(f"A vector such as 3*ground.x is needed here, got {quoted(vector)}.")
    return vector.parts


Place = Vector | Iterable[Any]
"""A point, or its components in a frame, counted from the frame's origin."""


def angular_velocity(a: Frame, b: Frame) -> Vector:
    """Angular velocity of frame `a` against frame `b`; common ancestors do not appear in it."""
    depth = shared_depth(a, b)
    total = Vector({})
    for frame in a.path[depth:]:
        assert frame.rotation is not None
        total = total + frame.vector(*frame.rotation.angular_velocity)
    for frame in b.path[depth:]:
        assert frame.rotation is not None
        total = total - frame.vector(*frame.rotation.angular_velocity)
    return total
