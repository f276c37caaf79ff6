"""A body as it is drawn: what is asked of the tracks about it, and the shapes that follow from the answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from appell.model.body import Body, Particle, RigidBody
from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.model.shapes.abstract import AbstractShape
from appell.model.symbols import letters_in
from appell.view.anatomy import Anatomy, Wheel, floating
from appell.view.hollows import hollowed
from appell.view.parts import Part, along, arms, part
from appell.view.shape_parts import ellipsoid, primitive_part
from appell.view.tracks import Tracks, Values
from appell.view.unshaped import ROD, Unshaped, spins, stripes


@dataclass(frozen=True, eq=False)
class Piece:
    """A primitive of a body's shape, with the tracks of its dimensions and of its pose; a cavity has sign -1."""

    primitive: Any
    dimensions: dict[str, int]
    pose: tuple[int, ...]
    sign: int

    def part(self, scalars: np.ndarray, unit: float) -> Part | None:
        """As it is drawn; None for what has no extent that could be seen."""
        rows = np.array([float(scalars[k][0]) for k in self.pose]).reshape(3, 4)
        sizes = {name: float(scalars[k][0]) for name, k in self.dimensions.items()}
        return primitive_part(self.primitive.kind, sizes, self.primitive, np.vstack([rows, [0, 0, 0, 1]]), unit)


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """Numbers of the tracks of one body.

    Attributes:
        body: The body.
        color: Its colour.
        point, turn: What carries its shapes, and its attitude.
        mass, inertia: Its mass, and the nine entries of its inertia; none for a particle.
        fixed: Points fixed in it.
        edges: Knife edges: where, and across which it cannot move.
        wheel, radius: If it rolls.
        rolled: The radius on which it would roll as a row of positions says.
        given: Shapes that the look gives it, with the tracks of sizes, place and axis.
        shape: Primitives of its own shape.
        bare: Whether it is drawn as the rods that it is made of, and has no shape itself.
        rotor: The axis about which it turns by a coordinate of its own; None if there is none.
        loose: Whether three angles of its own, or a quaternion, turn it in any way.
        carried: Whether its centre is at rest or carried by others, and moved by no coordinates of its own.
    """

    body: Body
    color: str
    point: int
    turn: int
    mass: int
    inertia: tuple[int, ...]
    fixed: tuple[int, ...]
    edges: tuple[tuple[int, int], ...]
    wheel: Wheel | None
    radius: int | None
    rolled: int | None
    given: tuple[tuple[Solid, tuple[int, ...]], ...]
    shape: tuple[Piece, ...]
    bare: bool
    rotor: np.ndarray | None
    loose: bool
    carried: bool

    @classmethod
    def of(cls, body: Body, color: str, model: Model, look: Look, found: Anatomy, tracks: Tracks, bare: bool) -> Figure:
        """Ask for the tracks of a body.

        Args:
            body: The body.
            color: Its colour.
            model: The model.
            look: Hints.
            found: What the model is made of.
            tracks: Where to ask.
            bare: Whether it is drawn as rods.
        """
        rigid = isinstance(body, RigidBody)
        wheel = found.wheels.get(body)
        solids = look.solids(body.name)
        shape, center = None if solids else getattr(body, "shape", None), tracks.point(body.center)
        pieces = () if shape is None else pieces_of(shape, tracks)
        return cls(
            body=body,
            color=color,
            point=tracks.point(body.frame.origin) if pieces else center,
            turn=tracks.turn(body.frame if rigid else model.ground),
            mass=tracks.scalar(body.mass),
            inertia=tuple(tracks.scalar(body.inertia[r, c]) for r in range(3) for c in range(3)) if rigid else (),
            fixed=tuple(tracks.point(e) for e in found.fixed.get(body, ())),
            edges=tuple(
                (tracks.point(at), tracks.vector(across))
                for b, at, across in found.edges
                if b is body and across is not None
            ),
            wheel=wheel,
            radius=None if wheel is None else tracks.scalar(wheel.radius),
            rolled=None if body not in found.rolled else tracks.scalar(found.rolled[body]),
            given=tuple((s, tracks_of(s, tracks)) for s in solids),
            shape=pieces,
            bare=bare,
            rotor=_rotor(body, model) if rigid else None,
            loose=rigid and _loose(body, model),
            carried=not floating(body.center),
        )

    @property
    def plain(self) -> bool:
        """Whether only mass and inertia tell what it looks like."""
        return isinstance(self.body, RigidBody) and not (self.given or self.shape or self.wheel)

    @property
    def detailed(self) -> bool:
        """Whether a mesh tells all about it, also what holds it."""
        return any(piece.primitive.kind == "mesh" for piece in self.shape)

    def sizes(self, values: Values) -> list[float]:
        """How large it is by what is known before a scale is chosen."""
        scalars = values.scalars
        found = [abs(float(scalars[k][0])) for piece in self.shape for k in piece.dimensions.values()]
        if self.radius is not None:
            found.append(2 * float(scalars[self.radius][0]))
        found += [max(abs(float(scalars[k][0])) for k in numbers[: len(solid.size)]) for solid, numbers in self.given]
        mass = float(scalars[self.mass][0])
        if self.plain and not self.bare and not self._places(values).any() and mass > 0:
            found.append(np.sqrt(12 * max(np.linalg.eigvalsh(self._tensor(values))[2], 0.0) / mass))
        return found

    def parts(self, values: Values, unit: float, heaviest: float) -> list[Part]:
        """Its shapes, in its axes from the point that carries it.

        Args:
            values: The tracks.
            unit: A length that is small but visible.
            heaviest: The largest mass, against which particles are measured.
        """
        scalars = values.scalars
        if self.given:
            return [given_part(solid, numbers, scalars) for solid, numbers in self.given]
        if self.shape:
            solid, whole = cut_out(self.shape, scalars, unit)
            marks = [mark for e in whole if e.opacity == 1 and spins(e, self.rotor) for mark in stripes(e)]
            reach = [] if self.detailed else arms(solid, self._places(values), 0.35 * unit, ROD)
            return whole + marks + reach
        if self.bare:
            return []
        mass = float(scalars[self.mass][0])
        if isinstance(self.body, Particle):
            return [part("sphere", unit * float(np.clip((abs(mass) / heaviest) ** (1 / 3), 0.5, 1.0)))]
        if self.wheel is not None:
            return [_wheel(self.wheel, float(scalars[self.radius][0]))]
        unshaped = Unshaped(
            mass=mass,
            inertia=self._tensor(values),
            points=self._places(values),
            rotor=self.rotor,
            loose=self.loose,
            carried=self.carried,
            rolled=None if self.rolled is None else float(scalars[self.rolled][0]),
            edged=bool(self.edges),
        )
        return unshaped.parts(unit)

    def _tensor(self, values: Values) -> np.ndarray:
        """Its inertia."""
        return np.array([float(values.scalars[k][0]) for k in self.inertia]).reshape(3, 3)

    def _places(self, values: Values) -> np.ndarray:
        """Points fixed in it, in its axes from the point that carries it."""
        turn, carrier = values.turns[self.turn][0], values.points[self.point][0]
        return np.array([(values.points[k][0] - carrier) @ turn for k in self.fixed]).reshape(-1, 3)


def pieces_of(shape: AbstractShape, tracks: Tracks) -> tuple[Piece, ...]:
    """Primitives of a shape.

    Args:
        shape: The shape.
        tracks: Where to ask for its dimensions and poses.
    """
    listed = []
    for sign, piece in shape.parts:
        dimensions = {n: tracks.scalar(e) for n, e in piece.lengths.items()}
        listed.append(Piece(piece, dimensions, tuple(tracks.scalar(e) for e in piece.pose.matrix[:3, :]), sign))
    return tuple(listed)


def cut_out(pieces: Iterable[Piece], scalars: np.ndarray, unit: float) -> tuple[list[Part], list[Part]]:
    """The material of a shape, and what is left of it by its cavities.

    Args:
        pieces: The shape.
        scalars: The tracks of numbers.
        unit: A length that is small but visible.
    """
    drawn = [(piece.sign, piece.part(scalars, unit)) for piece in pieces]
    solid = [p for sign, p in drawn if p is not None and sign > 0]
    return solid, hollowed(solid, [p for sign, p in drawn if p is not None and sign < 0])


def _wheel(wheel: Wheel, radius: float) -> Part:
    if wheel.axis is None:
        return part("ball", radius)
    slim = 0.14 if wheel.contact is not None else 0.4
    return part("wheel", radius, slim * radius, axis=np.array([float(e) for e in wheel.axis]))


def _rotor(body: RigidBody, model: Model) -> np.ndarray | None:
    """The axis about which a body turns by a coordinate of its own."""
    rotation, coordinates = body.frame.axes.rotation, set(model.coordinates)
    if rotation is None or rotation.axis is None:
        return None
    own = rotation.angle in {*coordinates, *(-q for q in coordinates)}
    return np.array([float(e) for e in rotation.axis]) if own else None


def _loose(body: RigidBody, model: Model) -> bool:
    """Whether a body turns in any way against the ground or the body that carries it."""
    others = {e.frame.axes for e in model.bodies if isinstance(e, RigidBody) and e is not body}
    turns = [frame.rotation for frame in body.frame.path if frame.axes not in others and frame.rotation is not None]
    free = [letters_in(e) & {*model.coordinates} for turn in turns for e in (turn.quaternion or (turn.angle,))]
    return len({letter for letters in free for letter in letters}) >= 3


def tracks_of(solid: Solid, tracks: Tracks) -> tuple[int, ...]:
    """The tracks of size, place and axis of a solid of a look.

    Args:
        solid: The solid.
        tracks: Where to ask.
    """
    return tuple(tracks.scalar(e) for e in (*solid.size, *solid.at, *solid.axis))


def given_part(solid: Solid, numbers: Sequence[int], scalars: np.ndarray) -> Part:
    """A solid of a look as it is drawn.

    Args:
        solid: The solid.
        numbers: Its tracks.
        scalars: The tracks of numbers.
    """
    values, n = [float(scalars[k][0]) for k in numbers], len(solid.size)
    size, at, axis = values[:n], np.array(values[n : n + 3]), np.array(values[n + 3 :])
    if solid.kind == "ellipsoid":
        return replace(ellipsoid(*size), at=at, color=solid.color)
    turn = np.eye(3) if solid.kind in ("box", "sphere", "ball") else along(axis)
    return Part(solid.kind, tuple(size), at, turn, color=solid.color)
