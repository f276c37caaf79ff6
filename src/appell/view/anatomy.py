"""What a model is made of, for the eye: points fixed in frames, rods between them, wheels, anchors.

A point is a sum of parts, one for each frame from the ground outwards. Each part with constant components is a piece
of something rigid, from where the sum stood before it to where it stands after it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from appell.model.body import Body, Particle, RigidBody
from appell.model.constraint import Holonomic, Rolling
from appell.model.force import Damper, Force, Potential
from appell.model.frame import Frame, Vector
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import Coordinate, Evolving, Rate, letters_in, t
from appell.view.rods import Rod


@dataclass(frozen=True, eq=False)
class Wheel:
    """Something that rolls: which body, how large, about which of its axes (None: a ball), where it touches."""

    body: RigidBody
    radius: sp.Expr
    axis: tuple[Any, Any, Any] | None
    contact: Vector | None


@dataclass(eq=False)
class Anatomy:
    """The pieces of a model.

    Attributes:
        fixed: For each rigid body the points fixed in it, its centre first.
        rods: Pairs of points joined by something that has no body.
        ropes: Pairs of points between which a rope is taut that goes on from there.
        lengths: Names of the rows that such rods stand for, but for those that leave a particle a circle.
        plates: Corners of what is carried along without turning.
        anchors: Points fixed in the ground at which something hangs.
        joints: Other points at which pieces meet.
        eyes: Points fixed in the ground at which ropes end or run on.
        wheels: What rolls.
        rolled: Radii on which bodies would roll as rows of positions say.
        edges: Bodies that touch at a point: the body, the point, the direction in which a knife edge cannot move.
        touching: Points at which something rolls or glides on the ground, and not on another body.
    """

    fixed: dict[Body, list[Vector]] = field(default_factory=dict)
    rods: list[tuple[Vector, Vector]] = field(default_factory=list)
    ropes: list[tuple[Vector, Vector]] = field(default_factory=list)
    lengths: set[str] = field(default_factory=set)
    plates: list[list[Vector]] = field(default_factory=list)
    anchors: dict[Any, Vector] = field(default_factory=dict)
    joints: dict[Any, Vector] = field(default_factory=dict)
    eyes: dict[Any, Vector] = field(default_factory=dict)
    wheels: dict[Body, Wheel] = field(default_factory=dict)
    rolled: dict[Body, sp.Expr] = field(default_factory=dict)
    edges: list[tuple[RigidBody, Vector, Vector | None]] = field(default_factory=list)
    touching: list[Vector] = field(default_factory=list)


def anatomy(model: Model, rods: Sequence[Rod] = ()) -> Anatomy:
    """Take a model apart.

    Args:
        model: The model.
        rods: What its rows keep apart.
    """
    found = Anatomy()
    for constraint in model.constraints:
        if isinstance(constraint, Rolling):
            _rolling(found, constraint)
    for body in model.bodies:
        if isinstance(body, RigidBody) and body not in found.wheels:
            wheel = _spinner(model, body)
            if wheel is not None:
                found.wheels[body] = wheel
                found.touching += [] if wheel.contact is None else [wheel.contact]
            elif (radius := _rolled(model, body)) is not None:
                found.rolled[body] = radius
    homes = {b.frame.axes: b for b in reversed(model.bodies) if isinstance(b, RigidBody) and b not in found.wheels}
    centers = {key(b.center) for b in model.bodies}
    for body in model.bodies:
        if isinstance(body, RigidBody) and body not in found.wheels:
            found.fixed[body] = [body.center]
    touched = {key(point) for point in found.touching}
    segments: dict[Any, tuple[Frame, Vector, Vector]] = {}
    carried: dict[Any, list[tuple[Vector, Vector]]] = {}
    for vector in (*_points(model), *(end for rod in rods for end in rod.ends)):
        for frame, start, end in pieces(vector):
            segments.setdefault((key(start), key(end)), (frame, start, end))
    for frame, start, end in segments.values():
        home = homes.get(frame)
        if home is not None:
            for place in (start, end):
                if key(place) not in {key(e) for e in found.fixed[home]} and _rigid(place - home.center, home.frame):
                    found.fixed[home].append(place)
            _meet(found, start)
        elif still(end):
            _add(found.anchors, end)
        elif upright(frame) and key(start) in centers:
            carried.setdefault(key(start), []).append((start, end))
        elif key(start) in centers or key(start) not in touched:
            found.rods.append((start, end))
            _meet(found, start)
            _add(found.joints, end)
    for group in carried.values():
        if len(group) > 2:
            found.plates.append([end for _, end in group])
        else:
            found.rods += group
    for constraint in model.constraints:
        if isinstance(constraint, Holonomic):
            for vector in constraint.closures:
                _hung(found, model, vector)
    _particle_rods(found, model)
    _kept_apart(found, model, rods)
    return found


def _hung(found: Anatomy, model: Model, closure: Vector) -> None:
    """A loop that closes at the ground has an anchor there."""
    ground = Vector({f: part for f, part in closure.parts.items() if upright(f)})
    if still(ground) and len(ground.parts) < len(closure.parts) and found.anchors:
        _add(found.anchors, -ground)
    for center in _free(model).values():
        way = _direction(closure, center)
        rest = ground - way * center
        if way and still(rest) and len(ground.parts) < len(closure.parts):
            _add(found.anchors, -way * rest)


def key(vector: Vector) -> frozenset[Any]:
    """The same for vectors that are written the same."""
    return frozenset((f.axes, part) for f, part in vector.parts.items())


def pieces(vector: Vector) -> list[tuple[Frame, Vector, Vector]]:
    """The rigid pieces a point's position is a sum of: frame, where a piece begins, where it ends."""
    listed, total = [], Vector({})
    for frame, part in sorted(vector.parts.items(), key=lambda item: len(item[0].path)):
        before, total = total, Vector({**total.parts, frame: part})
        if frame.parent is not None and not _moving(part):
            listed.append((frame.axes, before, total))
    return listed


def still(vector: Vector) -> bool:
    """Whether a point rests in the ground."""
    return all(upright(frame) and not _moving(part) for frame, part in vector.parts.items())


def upright(frame: Frame) -> bool:
    """Whether a frame never turns."""
    turns = [f.rotation for f in frame.path if f.rotation is not None]
    return all(r.angle is not None and not _moving((r.angle,)) for r in turns)


def _moving(part: Iterable[sp.Expr]) -> bool:
    return any(isinstance(s, Evolving) or s == t for e in part for s in letters_in(e))


def floating(start: Vector) -> bool:
    """Whether a point is carried by coordinates of its own in the ground."""
    return not still(start) and all(upright(frame) for frame in start.parts)


def _rigid(vector: Vector, frame: Frame) -> bool:
    return not _moving(frame.components(vector))


def _add(listed: dict[Any, Vector], point: Vector) -> None:
    listed.setdefault(key(point), point)


def _meet(found: Anatomy, start: Vector) -> None:
    if still(start):
        _add(found.anchors, start)
    elif not floating(start):
        _add(found.joints, start)


def _points(model: Model) -> list[Vector]:
    """Every point that the model speaks of."""
    inner = {b for group in rod_groups(model) for b in group[1:-1]}
    listed = [body.center for body in model.bodies if body not in inner]
    for force in model.forces:
        if isinstance(force, Force):
            listed.append(force.point)
        elif isinstance(force, Damper):
            listed += [force.a, force.b]
        elif isinstance(force, Potential) and force.ends is not None:
            listed += force.ends
        elif isinstance(force, Stream):
            listed.append(force.at)
    for constraint in model.constraints:
        for vector in getattr(constraint, "closures", ()) if isinstance(constraint, Holonomic) else ():
            listed += [point for point, _ in _sides(model, vector, listed)]
    return listed


def _sides(model: Model, closure: Vector, known: list[Vector]) -> list[tuple[Vector, int]]:
    """The points that a closed loop brings together, and whether it goes to them, 1, or comes from there, -1."""
    free = _free(model)
    turned = [f for f in closure.parts if f.parent is not None]
    leaves = [f for f in turned if not any(f is not g and f in g.path for g in turned)]
    sides = []
    for leaf in leaves:
        chain = [f for f in turned if f in leaf.path]
        branch, base, sign = Vector({f: closure.parts[f] for f in chain}), Vector({}), 1
        center = free.get(leaf.axes)
        if center is not None and (side := _direction(closure, center)):
            sides.append((center + side * branch, side))
            continue
        for vector in known:
            shared = next((f for f in vector.parts if f in chain), None)
            if shared is None:
                continue
            base = next((start for frame, start, _ in pieces(vector) if frame is shared.axes), base)
            mine, theirs = closure.parts[shared], vector.parts[shared]
            sign = -1 if _opposed(mine, theirs) else 1
            break
        else:
            if len(leaves) > 1:
                continue
        sides.append((base + sign * branch, sign))
    return sides


def closing_points(model: Model, constraint: Holonomic) -> list[tuple[Vector, int]]:
    """The points that closed loops bring together, and whether each goes to them, 1, or comes from there, -1."""
    known = [body.center for body in model.bodies]
    return [side for vector in constraint.closures for side in _sides(model, vector, known)]


def _free(model: Model) -> dict[Frame, Vector]:
    """The centres of bodies with coordinates of their own in the ground, by their frames."""
    return {b.frame.axes: b.center for b in model.bodies if isinstance(b, RigidBody) and floating(b.center)}


def _direction(closure: Vector, center: Vector) -> int:
    """Whether a closed loop goes to a centre with coordinates of its own, 1, or comes from there, -1; 0 if neither."""
    for frame, part in center.parts.items():
        for mine, theirs in zip(part, closure.parts.get(frame, ()), strict=False):
            for letter in letters_in(mine):
                slope = sp.diff(theirs, letter) / sp.diff(mine, letter)
                if slope in (1, -1):
                    return int(slope)
    return 0


def _opposed(mine: tuple[sp.Expr, ...], theirs: tuple[sp.Expr, ...]) -> bool:
    product = sum(a * b for a, b in zip(mine, theirs, strict=True))
    numbers = {s: sp.Rational(7 + i, 5) for i, s in enumerate(sorted(letters_in(product), key=str))}
    value = product.subs(numbers)
    return bool(value.is_number and value < 0)


def _rolling(found: Anatomy, constraint: Rolling) -> None:
    body, contact = constraint.body, constraint.contact
    found.touching += [contact] if constraint.on is None else []
    arm = contact - body.center
    if not arm.parts or _rigid(arm, body.frame):
        found.edges.append((body, contact, constraint.along[0] if constraint.along else None))
        return
    moments = body.inertia.diagonal()
    products = (body.inertia[0, 1], body.inertia[1, 2], body.inertia[0, 2])
    ball = all(sp.expand(e - moments[0]) == 0 for e in moments) and not any(products)
    axis = _across(body, arm)
    radius = arm.norm
    (lengths,) = _somewhere([radius], body.frame)
    if not np.ptp(lengths) <= 1e-9 * lengths[0]:
        found.edges.append((body, contact, None))
        return
    if not ball and axis is None:
        return
    found.wheels.setdefault(body, Wheel(body, radius, None if ball else axis, contact))


def _across(body: RigidBody, arm: Vector) -> tuple[Any, Any, Any] | None:
    """The axis about which a body last turned; of one with a quaternion that on which the contact never lies."""
    rotation = body.frame.axes.rotation
    if rotation is None or rotation.quaternion is None:
        return None if rotation is None else rotation.axis
    parts = _somewhere(body.frame.components(arm), body.frame)
    idle = np.flatnonzero((parts <= 1e-9 * parts.max()).all(axis=1))
    return tuple(map(int, np.arange(3) == idle[0])) if idle.size == 1 else None


def _somewhere(formulas: Sequence[sp.Expr], frame: Frame) -> np.ndarray:
    """Sizes of formulas at three random places, a row for each formula: numbers tell what formulas may not show."""
    letters, rng = sorted({s for e in formulas for s in letters_in(e)}, key=str), np.random.default_rng(5)
    found, numbers = [], {s: rng.uniform(0.5, 1.5) for s in letters}
    for _ in range(3):
        numbers |= {s: rng.uniform(0.1, 0.6) for s in letters if isinstance(s, Evolving) or s == t}
        for own in ([s for s in e if s in numbers] for e in frame.unit_quaternions):
            size = np.sqrt(sum(numbers[s] ** 2 for s in own))
            numbers |= {s: numbers[s] / size for s in own}
        found.append([abs(complex(e.subs(numbers))) for e in formulas])
    return np.transpose(found)


def _spinner(model: Model, body: RigidBody) -> Wheel | None:
    """A body that turns by a coordinate of its own, whose rate a row of constraint ties to a velocity: r phi' = v."""
    rotation = body.frame.axes.rotation
    if rotation is None:
        return None
    if rotation.quaternion is not None:
        return _rolling_ball(model, body, rotation.quaternion)
    assert rotation.angle is not None
    letters = [s for s in letters_in(rotation.angle) if isinstance(s, Coordinate)]
    if len(letters) != 1:
        return None
    phi = letters[0]
    if not _by_itself(model, body, phi):
        return None
    for row in model.rows:
        if row.order != 1 or phi.rate not in letters_in(row.expression):
            continue
        arm = sp.diff(row.expression, phi.rate)
        lever = [sp.diff(row.expression, q.rate) for q in model.coordinates if q.unit in ("m", "") and q is not phi]
        size = sp.sqrt(sum(e**2 for e in lever)) if any(lever) else sp.Integer(1)
        if not any(isinstance(s, Rate) for s in letters_in(arm)):
            return Wheel(body, sp.Abs(arm) / size, rotation.axis, None)
    return None


def _rolled(model: Model, body: RigidBody) -> sp.Expr | None:
    """The radius r of r phi = x, a row of positions that ties the turn of a body to the way of its centre across."""
    rotation = body.frame.axes.rotation
    if rotation is None or rotation.axis is None:
        return None
    turned, axis = next((q for q in model.coordinates if rotation.angle in (q, -q)), None), rotation.axis
    for row in model.rows:
        letters = {s for s in letters_in(row.expression) if isinstance(s, Evolving) or s == t}
        if row.order or turned not in letters or len(letters) != 2:
            continue
        (x,) = letters - {turned}
        way = Vector({f: tuple(sp.diff(e, x) for e in part) for f, part in body.center.parts.items()})
        speed, along = way.norm, way.dot(body.frame.vector(*axis))
        arm, lever = (sp.diff(row.expression, s) for s in (turned, x))
        if speed != 0 and not _moving((arm, lever, speed)) and not _somewhere([along], body.frame).any():
            return sp.Abs(arm / lever) * speed
    return None


def _by_itself(model: Model, body: RigidBody, phi: Coordinate) -> bool:
    """Whether an angle turns one body and nothing else: it moves no point and stands in no row."""
    if any(phi in letters_in(row.expression) for row in model.rows):
        return False
    for other in model.bodies:
        frames = [*other.center.parts, *([other.frame.axes] if isinstance(other, RigidBody) else [])]
        if any(phi in letters_in(e) for part in other.center.parts.values() for e in part):
            return False
        for frame in (f for deep in frames for f in deep.path):
            angle = frame.rotation.angle if frame.rotation is not None else None
            if frame is not body.frame.axes and angle is not None and phi in letters_in(angle):
                return other.frame.axes is frame if isinstance(other, RigidBody) and other.mass == 0 else False
        if other is not body and body.frame.axes in frames:
            return False
    return True


def _rolling_ball(model: Model, body: RigidBody, attitude: tuple[sp.Expr, ...]) -> Wheel | None:
    """A ball whose attitude is tied to its velocity; it rests on the plane below its centre."""
    moments = body.inertia.diagonal()
    if any(sp.expand(e - moments[0]) != 0 for e in moments) or moments[0] == 0:
        return None
    rates = {s.rate for e in attitude for s in letters_in(e) if isinstance(s, Coordinate)}
    rows = [r for r in model.rows if r.order == 1 and rates & letters_in(r.expression)]
    height = body.center.dot(model.ground.z)
    if not rows or height == 0 or any(isinstance(s, Evolving) for s in letters_in(height)):
        return None
    return Wheel(body, height, None, body.center - height * model.ground.z)


def rod_groups(model: Model) -> list[list[Particle]]:
    """Particles whose names agree up to a comma are one thing: a rod through them."""
    groups: dict[str, list[Particle]] = {}
    for body in model.bodies:
        if isinstance(body, Particle) and ", " in body.name:
            groups.setdefault(body.name.rpartition(", ")[0], []).append(body)
    return [group for group in groups.values() if len(group) > 1]


def _particle_rods(found: Anatomy, model: Model) -> None:
    for group in rod_groups(model):
        ends = group[0].center, group[-1].center
        found.rods.append(ends)
        for end in ends:
            if still(end):
                _add(found.anchors, end)


def _kept_apart(found: Anatomy, model: Model, rods: Sequence[Rod]) -> None:
    """Rods that rows stand for; the circle that one leaves a particle is drawn, too."""
    drawn = {frozenset((key(a), key(b))) for a, b in found.rods}
    inside = {b for group in rod_groups(model) for b in group}
    seen = {key(b.center) for b in model.bodies if b not in inside}
    for rod in rods:
        near, far = rod.ends
        place = {e for part in near.parts.values() for e in part if isinstance(e, Coordinate)}
        others = (other for other in model.rows if other is not rod.row)
        if not still(far) or len(place) != 2 or any(place & letters_in(other.expression) for other in others):
            found.lengths.add(rod.row.name)
        if frozenset(map(key, rod.ends)) not in drawn:
            (found.ropes if rod.rope else found.rods).append(rod.ends)
        for end in rod.ends:
            if still(end):
                _add(found.eyes if rod.rope else found.anchors, end)
            elif key(end) not in seen:
                _add(found.joints, end)
