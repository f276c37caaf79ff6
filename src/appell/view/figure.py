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
from appell.view.parts import Part, aligned, along, arms, of_inertia, part, through
from appell.view.shape_parts import ellipsoid, primitive_part
from appell.view.tracks import Tracks, Values

ROD, STRIPE = "#8a94a0", "#2b333b"


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
            stripes = [mark for e in whole if e.opacity == 1 and _spins(e, self.rotor) for mark in _stripes(e)]
            reach = [] if self.detailed else arms(solid, self._places(values), 0.35 * unit, ROD)
            return whole + stripes + reach
        if self.bare:
            return []
        mass = float(scalars[self.mass][0])
        if isinstance(self.body, Particle):
            return [part("sphere", unit * float(np.clip((abs(mass) / heaviest) ** (1 / 3), 0.35, 1.0)))]
        if self.wheel is not None:
            return [_wheel(self.wheel, float(scalars[self.radius][0]))]
        return self._told_by_inertia(mass, values, unit)

    def _told_by_inertia(self, mass: float, values: Values, unit: float) -> list[Part]:
        """What joins the points fixed in it, or a homogeneous body of its mass and inertia."""
        points = self._places(values)
        inertia = self._tensor(values)
        spin = self._spin(points)
        whole = [shape for e in of_inertia(mass, inertia, unit, spin) for shape in _marked(e, spin)]
        if len(points) == 1 and self.carried and self.rotor is not None and [e.kind for e in whole] == ["box"]:
            whole = _pulley(mass, inertia, self.rotor) or whole
        if self.edges:
            return whole + arms(whole, points, 0.35 * unit, ROD)
        if len(points) == 2 and mass > 0:
            arm = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
            largest = float(np.linalg.eigvalsh(inertia)[2])
            if 0 < largest <= (1 + 1e-9) * float(arm @ inertia @ arm):  # a disk or a ball on a rod that weighs nothing
                return whole + arms(whole, points, 0.35 * unit, ROD)
            if whole[0].kind == "cylinder" and whole[0].size[0] > 0.42 * unit:
                return whole + arms(whole, points, 0.35 * unit, ROD)
            length = np.sqrt(12 * largest / mass)  # a rod of the same inertia about the centre
            points = np.vstack([points, *(points[0] + s * length / 2 * arm for s in (-1, 1))])
        shapes = through(points, unit) if len(points) > 1 else []
        if mass <= 0 and not shapes:
            return [] if self.rotor is None else [part("wheel", 1.2 * unit, 0.8 * unit, axis=self.rotor)]
        return shapes or whole

    def _spin(self, points: np.ndarray) -> np.ndarray | None:
        """The axis about which it spins: of what is held at a point and turns in any way, that through its centre."""
        return points[1] - points[0] if len(points) == 2 and self.loose else self.rotor

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


def _pulley(mass: float, inertia: np.ndarray, axis: np.ndarray) -> list[Part]:
    """The disk of a moment about an axis, if it is the only one; that is how pulleys and gears are given in a plane."""
    moment = float(axis @ inertia @ axis)
    if moment <= 0 or abs(np.trace(inertia) - moment) > 1e-12 * moment:
        return []
    radius = np.sqrt(2 * moment / mass)
    return [part("wheel", radius, 0.12 * radius, axis=axis)]


def _marked(shape: Part, rotor: np.ndarray | None) -> list[Part]:
    """What turns about its own axis has marks, without which nothing would be seen of it: spokes or a stripe."""
    if not _spins(shape, rotor):
        return [shape]
    radius, height = shape.size
    return [replace(shape, kind="wheel")] if height <= radius / 2 else [shape, *_stripes(shape)]


def _spins(shape: Part, rotor: np.ndarray | None) -> bool:
    """Whether it is a cylinder that turns about its own axis."""
    return rotor is not None and shape.kind == "cylinder" and aligned(rotor, shape.turn[:, 2])


def _stripes(drum: Part) -> list[Part]:
    """Marks on a cylinder that was given: from the axis outwards on both ends, and along its side."""
    radius, height = drum.size
    wide, thick = 0.08 * radius, 0.02 * radius
    marks = [((radius, wide, thick), (radius / 2, 0, end * height / 2)) for end in (-1, 1)]
    marks.append(((thick, wide, height), (radius, 0, 0)))
    return [Part("box", size, drum.at + drum.turn @ np.array(at), drum.turn, color=STRIPE) for size, at in marks]


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
