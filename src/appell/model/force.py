"""What drives: forces, torques, springs, dampers, potentials, generalized forces.

Each of them is data. How a force becomes a generalized one is told in `appell.kinematics.forces`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Body, Particle, RigidBody
from appell.model.frame import Frame, Vector
from appell.model.symbols import Coordinate


def _vector(value: Any, what: str) -> Vector:
    if not isinstance(value, Vector):
        raise ModelError(f"{what} must be a vector such as 3*ground.x, got {value!r}.")
    return value


@dataclass(frozen=True, eq=False)
class Gravity:
    """Weight of every body: `Gravity(-g * ground.z)`.

    Args:
        acceleration: The acceleration of free fall, a vector.
        name: Its name in the power balance.
    """

    acceleration: Vector
    name: str = "gravity"

    def __post_init__(self) -> None:
        _vector(self.acceleration, "The acceleration of Gravity")


@dataclass(frozen=True, eq=False)
class Force:
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
        _vector(self.vector, "A Force")
        if not isinstance(self.at, Vector | Particle | RigidBody):
            raise ModelError(f"A Force acts at a point or on a body, got at={self.at!r}.")


@dataclass(frozen=True, eq=False)
class Torque:
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
        _vector(self.vector, "A Torque")
        for end in (self.on, self.reaction):
            if end is not None and not isinstance(end, RigidBody | Frame):
                raise ModelError(f"A Torque acts on a rigid body or a frame, got {end!r}.")


@dataclass(frozen=True, eq=False, init=False)
class Potential:
    """A potential energy V(q, t); its force is -dV/dq."""

    energy: sp.Expr
    name: str = "potential"

    def __init__(self, energy: Any, name: str = "potential") -> None:
        object.__setattr__(self, "energy", sp.sympify(energy))
        object.__setattr__(self, "name", name)


@dataclass(frozen=True, eq=False, init=False)
class Generalized:
    """Generalized forces given directly: `Generalized({theta: tau})`.

    Args:
        forces: For each coordinate the force along it.
        name: Its name in the power balance.
    """

    forces: Mapping[Coordinate, sp.Expr]
    name: str = "generalized"

    def __init__(self, forces: Mapping[Coordinate, Any], name: str = "generalized") -> None:
        for coordinate in forces:
            if not isinstance(coordinate, Coordinate):
                raise ModelError(f"Generalized forces belong to coordinates, got {coordinate!r} as a key.")
        object.__setattr__(self, "forces", {q: sp.sympify(e) for q, e in forces.items()})
        object.__setattr__(self, "name", name)


def Spring(a: Vector, b: Vector, stiffness: Any, length: Any = 0, name: str = "spring") -> Potential:
    """A straight spring between two points: V = k (|b - a| - l)^2 / 2.

    Args:
        a: One end, a point.
        b: The other end.
        stiffness: k.
        length: Its length without tension.
        name: Its name in the power balance.
    """
    gap = _vector(b, "The end of a Spring") - _vector(a, "The end of a Spring")
    square = gap.dot(gap)
    k, rest = sp.sympify(stiffness), sp.sympify(length)
    return Potential(k * square / 2 if rest == 0 else k * (sp.sqrt(square) - rest) ** 2 / 2, name)


@dataclass(frozen=True, eq=False)
class Damper:
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
        _vector(self.a, "The end of a Damper")
        _vector(self.b, "The end of a Damper")


AnyForce = Gravity | Force | Torque | Potential | Generalized | Damper
