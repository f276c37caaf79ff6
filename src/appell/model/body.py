"""What has mass: particles and rigid bodies. Mass and inertia may be any formula in q, q', t and extra states."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.frame import Frame, Vector, check_point
from appell.model.inertia import warn_if_impossible
from appell.model.rotation import Triple, exact_zero
from appell.model.shapes.abstract import AbstractShape
from appell.model.symbols import Evolving, ExtraState, letters_in, quoted
from appell.model.values import formula_of

Content = sp.Expr | Vector | Frame
"""What formulas stand in: formulas themselves, vectors, frames."""


def mass_formula(name: str, mass: Any) -> sp.Expr:
    """A mass as a formula; a number must be finite and not negative.

    Args:
        name: Name of the body, for messages.
        mass: What was given.
    """
    mass = exact_zero(formula_of(mass, f"The mass of {name!r}"))
    if isinstance(mass, sp.Symbol):
        return mass
    if mass.has(sp.nan, sp.oo, -sp.oo, sp.zoo) or (mass.is_number and mass.is_real is False):
        raise ModelError(f"The mass of {name!r} must be a finite real number, got {quoted(mass)}.")
    if mass.is_number and mass < 0:
        raise ModelError(f"The mass of {name!r} must not be negative, got {quoted(mass)}.")
    return mass


@dataclass(frozen=True, eq=False, init=False)
class Particle:
    """A point with mass.

    Args:
        name: Its name in reports.
        mass: A number or a formula.
        center: Its position, a point.
    """

    name: str
    mass: sp.Expr
    center: Vector

    def __init__(self, name: str, mass: Any, center: Vector) -> None:
        mass = mass_formula(name, mass)
        if mass == 0:
            raise ModelError(f"The mass of the particle {name!r} is zero; give it a mass or leave the particle out.")
        check_point(center, f"The center of {name!r}")
        vars(self).update(name=name, mass=mass, center=center)

    def content(self) -> Iterator[Content]:
        """The formulas, vectors and frames it is made of."""
        yield from (self.mass, self.center)


@dataclass(frozen=True, eq=False, init=False)
class RigidBody:
    """A rigid body.

    Args:
        name: Its name in reports.
        mass: A number or a formula; zero for a body of which only the rotation counts.
        center: Its mass centre, a point.
        frame: A frame fixed in the body.
        inertia: Central moments of inertia along the axes of `frame`: `(Ixx, Iyy, Izz)`, or six numbers
            `(Ixx, Iyy, Izz, Ixy, Iyz, Izx)` with products of inertia as entries of the tensor (not negated),
            or a 3 by 3 symmetric matrix.
        shape: A shape of `appell.shapes` in the axes and from the origin of `frame`, in place of center and inertia,
            and of the mass unless the shape has none. With a center it is only what is drawn.

    Numbers that no distribution of mass can give (I1 + I2 < I3) raise an `ImpossibleBodyWarning`.

    Example:
        >>> import appell as ap
        >>> arm = ap.Frame("ground").rotate("z", ap.coordinates("angle"))
        >>> rod = ap.RigidBody("rod", frame=arm, shape=ap.shapes.Rod(2, mass=3).at(1, 0))
        >>> rod.center, rod.inertia[2, 2]
        (ground'.x, 1)
    """

    name: str
    mass: sp.Expr
    center: Vector
    frame: Frame
    inertia: sp.Matrix
    shape: AbstractShape | None

    def __init__(
        self,
        name: str,
        mass: Any = None,
        center: Vector | None = None,
        frame: Frame | None = None,
        inertia: Any = None,
        shape: AbstractShape | None = None,
    ) -> None:
        if not isinstance(frame, Frame):
            hint = "; what does not turn is an appell.Particle(name, mass, center)" if frame is None else ""
            raise ModelError(f"The frame of {name!r} must be an appell.Frame, got {frame!r}{hint}.")
        if shape is not None:
            _check_shape(name, shape)
        if shape is not None and center is None:
            if inertia is not None:
                raise ModelError(
                    f"The body {name!r} has its inertia from its shape; leave out inertia, or give center."
                )
            mass, place, inertia = shape_moments(name, mass, shape)
            center = frame.point(*place)
        check_point(center, f"The center of {name!r}")
        if mass is None and shape is not None:
            raise ModelError(
                f"The body {name!r} has no mass: beside center= its shape is only drawn. Give mass= and inertia=, or "
                "leave out center=; the shape then lies in its frame, which joints place, such as ground.slide(x)."
            )
        if mass is None:
            raise ModelError(f"The body {name!r} has no mass; give mass=, or a shape= with density or mass.")
        tensor = inertia_tensor(name, (0, 0, 0) if inertia is None else inertia)
        mass = mass_formula(name, mass)
        if mass == 0 and tensor.is_zero_matrix:
            raise ModelError(f"The body {name!r} has neither mass nor inertia; give it one or leave it out.")
        warn_if_impossible(name, mass, tensor)
        vars(self).update(name=name, mass=mass, center=center, frame=frame, inertia=tensor, shape=shape)

    def content(self) -> Iterator[Content]:
        """The formulas, vectors and frames it is made of."""
        yield from (self.mass, self.center, self.frame, *self.inertia.flat())

    @property
    def angular_velocity(self) -> Vector:
        """Angular velocity against the ground."""
        return self.frame.angular_velocity

    def velocity_at(self, point: Vector) -> Vector:
        """Velocity of the body's material that is now at `point`.

        Extra states are held: where the mass centre depends on them, it wanders through the material.
        Where the arm from the centre has constant components in its own frame: the point's own velocity minus its
        velocity as seen from the body, in which terms common to both never appear. Else v + omega x arm.
        """
        check_point(point, f"A place on {self.name!r}")
        ground, arm = self.frame.path[0], point - self.center
        letters = {s for part in arm.parts.values() for e in part for s in letters_in(e)}
        if any(isinstance(s, Evolving) and not isinstance(s, ExtraState) for s in letters):
            return self.center.dt(ground, frozen=True) - arm.cross(self.angular_velocity)
        return point.dt(ground, frozen=True) - arm.dt(self.frame, frozen=True)

    @cached_property
    def inertia_frame(self) -> Frame:
        """The outermost frame in which the inertia tensor has the same components.

        A wheel that turns about its axis of symmetry has them in the frame that does not turn: its spin angle
        then never enters the equations.
        """
        frame = self.frame.axes
        xx, xy, zx, _, yy, yz, _, _, zz = self.inertia.flat()
        if any(e != 0 for e in (xy, yz, zx)):
            return frame
        moments = (xx, yy, zz)
        while frame.parent is not None and frame.rotation is not None and frame.rotation.axis is not None:
            axis = frame.rotation.axis
            along = [k for k in range(3) if axis[k] != 0]
            if len(along) != 1 or axis[along[0]] not in (1, -1):
                break
            a, b = moments[along[0] - 2], moments[along[0] - 1]
            if not _equal(a, b):
                break
            frame = frame.parent
        return frame

    @cached_property
    def isotropic(self) -> bool:
        """Whether the inertia tensor has the same components in all axes, as that of a ball."""
        xx, xy, zx, _, yy, yz, _, _, zz = self.inertia.flat()
        return not any(e != 0 for e in (xy, yz, zx)) and _equal(xx, yy) and _equal(yy, zz)


def _equal(a: sp.Expr, b: sp.Expr) -> bool:
    """Whether two formulas are the same, brackets multiplied out where there are any."""
    if a == b:
        return True
    difference = a - b
    brackets = any(term.has(sp.Add) for term in sp.Add.make_args(difference))
    return sp.expand(difference) == 0 if brackets else difference == 0


def shape_moments(name: str, mass: Any, shape: AbstractShape) -> tuple[Any, Triple, sp.Matrix]:
    """Mass, centre and central inertia tensor from a shape; a mass fills in for a shape that has none.

    Args:
        name: Name of the body, for messages.
        mass: Mass, or None.
        shape: The shape.
    """
    _check_shape(name, shape)
    bare = any(part.mass is None for _, part in shape.parts)
    if mass is not None and not bare:
        raise ModelError(f"The shape of {name!r} has a mass already; leave out mass=, or give the shape no density.")
    if mass is None and bare:
        raise ModelError(f"The shape of {name!r} has neither density nor mass; give the shape a density, or mass=.")
    moments = (shape.with_mass(mass) if bare else shape).distribution
    return moments.mass, moments.center, moments.central_inertia


def _check_shape(name: str, shape: Any) -> None:
    if not isinstance(shape, AbstractShape):
        raise ModelError(f"The shape of {name!r} must be one of appell.shapes, got {shape!r}.")


def inertia_tensor(name: str, inertia: Any) -> sp.Matrix:
    """A symmetric 3 by 3 matrix from three moments, six entries or a matrix.

    Args:
        name: Name of the body, for messages.
        inertia: What was given.
    """
    if isinstance(inertia, np.ndarray | list | tuple) and len(inertia) == 3 and isinstance(inertia[0], _ROWS):
        inertia = sp.Matrix([list(row) for row in inertia])
    if isinstance(inertia, sp.MatrixBase):
        if inertia.shape != (3, 3) or not _symmetric(inertia):
            raise ModelError(f"The inertia of {name!r} must be a symmetric 3 by 3 matrix, got {quoted(inertia)}.")
        _check_moments(name, inertia.diagonal(), (inertia[0, 1], inertia[1, 2], inertia[2, 0]))
        return sp.Matrix(3, 3, lambda i, j: inertia[min(i, j), max(i, j)])
    entries = list(inertia) if isinstance(inertia, Iterable) else [inertia]
    if len(entries) not in (3, 6):
        raise ModelError(
            f"The inertia of {name!r} needs 3 moments (Ixx, Iyy, Izz), 6 entries or a 3 by 3 matrix; got "
            f"{quoted(inertia)}."
        )
    values = [formula_of(e, f"The inertia of {name!r}") for e in entries]
    values += [sp.Integer(0)] * (6 - len(values))
    _check_moments(name, values[:3], values[3:])
    xx, yy, zz, xy, yz, zx = values
    return sp.Matrix(3, 3, [xx, xy, zx, xy, yy, yz, zx, yz, zz])


_ROWS = (np.ndarray, list, tuple)


def _symmetric(matrix: sp.MatrixBase) -> bool:
    """Whether it is, but for the rounding of numbers, which may stand before letters."""
    apart = [e for e in matrix - matrix.T if not e.is_zero]
    if not apart:
        return True
    from appell.model.constraint import sampled  # which knows of bodies

    values = np.abs(sampled([*apart, *matrix], (1.0, 1.0, 1.0)))
    return bool(np.all(values[:, : len(apart)] <= 1e-12 * values[:, len(apart) :].max(axis=1, keepdims=True)))


def _check_moments(name: str, moments: Iterable[sp.Expr], products: Iterable[sp.Expr]) -> None:
    for moment in moments:
        if moment.is_number and (not moment.is_finite or moment < 0):
            raise ModelError(
                f"The moments of inertia of {name!r} must be finite and not negative, got {quoted(moment)}."
            )
    for product in products:
        if product.is_number and not product.is_finite:
            raise ModelError(f"The products of inertia of {name!r} must be finite, got {quoted(product)}.")


Body = Particle | RigidBody


def frames_of(body: Body) -> tuple[Frame, ...]:
    """The frames that place a body: its own, if it has one, and those its centre is written in.

    Args:
        body: The body.
    """
    own = (body.frame,) if isinstance(body, RigidBody) else ()
    return (*own, *body.center.parts)
