"""Rods and ropes that rows stand for: the points of two things that a row keeps apart, whatever it is written in.

Numbers tell: at random positions a row is compared with distances of points fixed in two bodies, frames or the ground.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
import sympy as sp

from appell.model.body import Body, RigidBody
from appell.model.constraint import Holonomic, Row
from appell.model.frame import Frame, Vector
from appell.model.model import Model
from appell.model.symbols import Coordinate, letters_in, t
from appell.view.distances import EXACT, Placed, normal_of, points_apart, points_between
from appell.view.lengths import Length, lengths_in
from appell.view.tracks import Course, Tracks

PLACES = 60  # random positions, several for each unknown


@dataclass(frozen=True, eq=False)
class Rod:
    """Two points that a row of constraint keeps apart, one that rests in the ground last; or one piece of a rope.

    Attributes:
        row: The row.
        ends: The points.
        share: How often the length between them stands in the row; 1 for a rod.
        rope: Whether something else in the row pays out what this length gains.
    """

    row: Row
    ends: tuple[Vector, Vector]
    share: float = 1.0
    rope: bool = False


@dataclass(frozen=True, eq=False)
class Thing:
    """What a rod may end at: a point, the axes that turn with it, of a particle none, and what moves them."""

    point: Vector
    axes: Frame | None
    letters: frozenset[sp.Symbol]


def rods(model: Model, course: Course) -> list[Rod]:
    """The rods among the position rows of a model, and the straight pieces of its ropes.

    Args:
        model: The model.
        course: Its numbers, and states about which positions are tried.
    """
    rows = list(_lone_rows(model))
    if not rows:
        return []
    things, tracks = _things(model), Tracks(model)
    moving = frozenset[sp.Symbol]().union(*(e.letters for e in things))
    lengths = [length for row in rows for length in lengths_in(row, moving - {t})]
    numbers = [(tracks.point(e.point), None if e.axes is None else tracks.turn(e.axes)) for e in things]
    asked = [[tracks.scalar(e) for e in (length.share, length.square, *length.sides)] for length in lengths]
    values = tracks.along(_anywhere(tracks, course, moving))
    none = np.zeros((PLACES, 3, 0))
    placed = [Placed(values.points[i], none if j is None else values.turns[j]) for i, j in numbers]
    axes, normal = list(values.turns), normal_of(placed)
    found: list[Rod] = []
    for length, (share, square, *sides) in zip(lengths, asked, strict=True):
        pairs = list(_pairs(things, moving & letters_in(length.square)))
        parts = values.scalars[sides].T
        fits = ((i, j, points_between(parts, axes, placed[i], placed[j], normal)) for i, j in pairs if sides)
        if length.alone:
            f = values.scalars[square]
            fits = chain(fits, ((i, j, points_apart(f, placed[i], placed[j], normal)) for i, j in pairs))
        i, j, places = next((fit for fit in fits if fit[2] is not None), (0, 0, None))
        if places is not None:
            a, b = (_end(things, placed, m, place) for m, place in zip((i, j), places, strict=True))
            found.append(Rod(length.row, (a, b), float(values.scalars[share][0]), not length.alone))
    return _taut(found, lengths)


def _taut(found: list[Rod], lengths: list[Length]) -> list[Rod]:
    """Without pieces of ropes of which not all pieces are found, or some grow where others do: these are no ropes."""
    asked, shares = Counter(length.row for length in lengths), dict[Row, list[float]]()
    for rod in found:
        shares.setdefault(rod.row, []).append(np.sign(rod.share))
    return [rod for rod in found if abs(sum(shares[rod.row])) == asked[rod.row]]


def _lone_rows(model: Model) -> Iterator[Row]:
    """The rows on positions that are no components of closed loops."""
    for constraint in model.constraints:
        loops = isinstance(constraint, Holonomic) and constraint.closures
        for row in constraint.rows:
            if row.order == 0 and not (loops and row.name.rpartition(".")[2] in ("x", "y", "z")):
                yield row


def _things(model: Model) -> list[Thing]:
    """Bodies, the frames that carry them where these are moved by other letters, and the ground last."""
    bodies = [_thing(b.center, b.frame.axes if isinstance(b, RigidBody) else None) for b in model.bodies]
    known = {(e.axes, e.letters) for e in bodies}
    frames = dict.fromkeys(frame for b in model.bodies for deep in _frames(b) for frame in deep.path)
    carriers = [e for e in (_thing(f.origin, f) for f in frames) if (e.axes, e.letters) not in known]
    return [*(e for e in (*bodies, *carriers) if e.letters), Thing(Vector({}), model.ground, frozenset())]


def _frames(body: Body) -> list[Frame]:
    return [*body.center.parts, *([body.frame.axes] if isinstance(body, RigidBody) else [])]


def _thing(point: Vector, axes: Frame | None) -> Thing:
    formulas = [e for part in point.parts.values() for e in part]
    for frame in (f for deep in (*point.parts, *([axes] if axes else [])) for f in deep.path):
        if frame.rotation is not None:
            formulas += frame.rotation.quaternion or (frame.rotation.angle,)
    letters = {s for e in formulas for s in letters_in(e)}
    return Thing(point, axes, frozenset(s for s in letters if isinstance(s, Coordinate) or s == t))


def _anywhere(tracks: Tracks, course: Course, moving: frozenset[sp.Symbol]) -> Course:
    """Random positions about the first state: of all coordinates that move things, quaternions of unit norm."""
    rng, q = np.random.default_rng(17), course.q[:1]
    free = np.array([s in moving for s in tracks.model.coordinates])
    places = q + free * rng.uniform(-1, 1, (PLACES, q.size))
    for own in tracks.variables.quaternions:
        places[:, own] /= np.linalg.norm(places[:, own], axis=1, keepdims=True)
    v, z, w = (np.repeat(e[:1], PLACES, axis=0) for e in (course.v, course.z, course.w))
    return Course(course.times[0] + rng.uniform(0, 1, PLACES), places, v, z, w, course.p)


def _pairs(things: Sequence[Thing], letters: frozenset[sp.Symbol]) -> Iterator[tuple[int, int]]:
    """Pairs of things that all letters of a row move; first those moved against each other by the fewest others."""

    def against(pair: tuple[int, int]) -> tuple[int, int]:
        one, other = (things[i].letters for i in pair)
        return len((one ^ other) - letters), len(one) + len(other)

    numbers = combinations(range(len(things)), 2)
    yield from sorted(((i, j) for i, j in numbers if letters <= things[i].letters | things[j].letters), key=against)


def _end(things: Sequence[Thing], placed: Sequence[Placed], i: int, place: np.ndarray) -> Vector:
    """The point at a place in the axes of a thing: that of another thing, if it is always there."""
    way = placed[i].points + placed[i].arms @ place
    real = np.isfinite(way).all(axis=1)
    for thing, other in zip(things[:-1], placed, strict=False):
        if np.all(np.abs(other.points - way)[real] <= EXACT * np.abs(way[real]).max()):
            return thing.point
    axes = things[i].axes
    return things[i].point if axes is None else things[i].point + axes.vector(*map(float, place))
