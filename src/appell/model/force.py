"""What drives: forces, torques, springs, dampers, potentials, generalized forces.

Each of them is data. How a force becomes a generalized one is told in `appell.kinematics.forces`.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Body, Content, Particle, RigidBody
from appell.model.frame import Frame, Vector
from appell.model.symbols import Coordinate, Input, Letter, letters_in
from appell.model.values import by_name, formula_of

FORCES = {"rad": "N*m", "m": "N"}  # units of forces along coordinates of these units


def _vector(value: Any, what: str, place: bool = False) -> Vector:
    if not isinstance(value, Vector):
        hint = "a vector such as 3*ground.x"
        if place:
            hint = f"a point such as {value.name}.center" if isinstance(value, Body) else "a point such as body.center"
        got = f"the body {value.name!r}" if isinstance(value, Body) else repr(value)
        raise ModelError(f"{what} must be {hint}, got {got}.")
    return value


class AbstractForce(ABC):
    """Something that drives, with a name and the formulas it is made of."""

    name: str

    @abstractmethod
    def content(self) -> Iterator[Content]:
        """The formulas, vectors and frames it is made of."""


@dataclass(frozen=True, eq=False)
class Gravity(AbstractForce):
    """Weight of every body: `Gravity(-g * ground.z)`.

    Args:
        acceleration: The acceleration of free fall, a vector.
        name: Its name in the power balance.
    """

    acceleration: Vector
    name: str = "gravity"

    def __post_init__(self) -> None:
        _vector(self.acceleration, "The acceleration of Gravity")

    def content(self) -> Iterator[Content]:
        """Its vector."""
        yield self.acceleration


@dataclass(frozen=True, eq=False)
class Force(AbstractForce):
    """A force at a point.

    Args:
        vector: The force.
        at: Where it acts: a body (its centre) or a point.
        body: With a point: the body whose material is there. Without it the force moves with the point itself.
        name: Its name in the power balance.
    """

    vector: Vector
    at: Vector | Body
    body: RigidBody | None = None
    name: str = "force"

    def __post_init__(self) -> None:
        _vector(self.vector, "The first argument of a Force")
        if not isinstance(self.at, Vector | Particle | RigidBody):
            raise ModelError(f"A Force acts at a point or on a body, got at={self.at!r}.")
        if isinstance(self.body, Particle):
            raise ModelError(
                f"body= of a Force is a rigid body; on the particle {self.body.name!r} it acts where that is: write "
                "Force(vector, particle)."
            )
        if self.body is not None and not isinstance(self.body, RigidBody):
            raise ModelError(f"body= of a Force is a rigid body, got {self.body!r}; a name is given by name=.")

    @property
    def point(self) -> Vector:
        """Where it acts."""
        return self.at if isinstance(self.at, Vector) else self.at.center

    def content(self) -> Iterator[Content]:
        """Its vector and its point."""
        yield from (self.vector, self.point)


@dataclass(frozen=True, eq=False)
class Torque(AbstractForce):
    """A couple on a body or frame, and its opposite on another one.

    Args:
        vector: The couple.
        on: The body or frame that feels it.
        reaction: The body or frame that feels the opposite; the ground if left out.
        name: Its name in the power balance.
    """

    vector: Vector
    on: RigidBody | Frame
    reaction: RigidBody | Frame | None = None
    name: str = "torque"

    def __post_init__(self) -> None:
        _vector(self.vector, "The first argument of a Torque")
        for end in (self.on, self.reaction):
            if end is not None and not isinstance(end, RigidBody | Frame):
                raise ModelError(f"A Torque acts on a rigid body or a frame, got {end!r}.")

    def content(self) -> Iterator[Content]:
        """Its vector and its frames."""
        yield self.vector
        yield from (end if isinstance(end, Frame) else end.frame for end in (self.on, self.reaction) if end is not None)


@dataclass(frozen=True, eq=False, init=False)
class Potential(AbstractForce):
    """A potential energy V(q, t); its force is -dV/dq.

    Args:
        energy: A formula in coordinates, parameters and time.
        name: Its name in the power balance.
        ends: The two points a spring joins, for drawing; None if it is no spring.
    """

    energy: sp.Expr
    name: str
    ends: tuple[Vector, Vector] | None

    def __init__(self, energy: Any, name: str = "potential", ends: tuple[Vector, Vector] | None = None) -> None:
        vars(self).update(energy=formula_of(energy, f"The energy of {name!r}"), name=name, ends=ends)

    def content(self) -> Iterator[Content]:
        """Its formula."""
        yield self.energy


@dataclass(frozen=True, eq=False, init=False)
class Generalized(AbstractForce):
    """Generalized forces given directly: `Generalized({theta: tau})`.

    Args:
        forces: For each coordinate the force along it.
        name: Its name in the power balance.
    """

    forces: Mapping[Coordinate, sp.Expr]
    name: str = "generalized"

    def __init__(self, forces: Mapping[Coordinate, Any], name: str = "generalized") -> None:
        forces = by_name(forces, "Generalized forces", "{theta: -k * theta}")
        for coordinate in forces:
            if not isinstance(coordinate, Coordinate):
                raise ModelError(f"Generalized forces belong to coordinates, got {coordinate!r} as a key.")
        formulas = {q: formula_of(e, f"The force along {q}") for q, e in forces.items()}
        vars(self).update(forces=formulas, name=name)

    def content(self) -> Iterator[Content]:
        """Its coordinates and formulas."""
        yield from (*self.forces, *self.forces.values())


def in_order(
    letters: Iterable[Letter], coordinates: Sequence[Coordinate], forces: Iterable[AbstractForce]
) -> list[Letter]:
    """Letters as they stand in arrays: drives as the coordinates they drive, then the others by name, 9 before 10.

    Args:
        letters: Parameters and inputs.
        coordinates: The coordinates in their order.
        forces: Where drives are looked for: what stands in generalized forces.
    """
    places = {q: i for i, q in enumerate(coordinates)}
    first: dict[Any, int] = {}
    for force in forces:
        for q, e in force.forces.items() if isinstance(force, Generalized) else ():
            for s in letters_in(e):
                if isinstance(s, Input):
                    first[s] = min(first.get(s, len(places)), places.get(q, len(places)))

    def rank(s: Letter) -> tuple[Any, ...]:
        words = re.findall(r"\d+|\D+", s.name)
        return first.get(s, len(places)), [(int(w), "") if w.isdecimal() else (math.inf, w) for w in words], s.kind

    return sorted(letters, key=rank)


def Spring(a: Vector, b: Vector, stiffness: Any, length: Any = 0, name: str = "spring") -> Potential:
    """A straight spring between two points: V = k (|b - a| - l)^2 / 2.

    Args:
        a: One end, a point.
        b: The other end.
        stiffness: k.
        length: Its length without tension.
        name: Its name in the power balance.
    """
    gap = _vector(b, "The end of a Spring", place=True) - _vector(a, "The end of a Spring", place=True)
    k, rest = (formula_of(e, f"The {what} of {name!r}") for e, what in ((stiffness, "stiffness"), (length, "length")))
    return Potential(k * gap.dot(gap) / 2 if rest == 0 else k * (gap.norm - rest) ** 2 / 2, name, (a, b))


@dataclass(frozen=True, eq=False)
class Damper(AbstractForce):
    """A straight viscous damper between two points: force c times the rate of |b - a|.

    Args:
        a: One end, a point.
        b: The other end.
        coefficient: c.
        name: Its name in the power balance.
    """

    a: Vector
    b: Vector
    coefficient: Any
    name: str = "damper"

    def __post_init__(self) -> None:
        _vector(self.a, "The end of a Damper", place=True)
        _vector(self.b, "The end of a Damper", place=True)
        formula_of(self.coefficient, f"The coefficient of {self.name!r}")

    def content(self) -> Iterator[Content]:
        """Its ends and its coefficient."""
        yield from (self.a, self.b, sp.sympify(self.coefficient))
