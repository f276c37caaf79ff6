"""From a model or a motion to a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from appell.code.state import names_of
from appell.errors import AppellError, MissingValueError, ModelError
from appell.kinematics.mechanics import Mechanics
from appell.model.body import Body, Particle, RigidBody
from appell.model.force import Damper, Gravity
from appell.model.frame import Vector
from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.model.symbols import key as name_of
from appell.model.symbols import letters_in
from appell.model.values import number, unknown
from appell.view import arrows
from appell.view.anatomy import anatomy, rod_groups, still
from appell.view.curves import constraint_curves, path_curves
from appell.view.hollows import hollowed
from appell.view.measure import Measure, plane_of
from appell.view.parts import Part, along, arms, of_inertia, part, through
from appell.view.plot import unit_words
from appell.view.scene import PALETTE, Bar, Drawn, Field, Jet, Scene, Trace
from appell.view.shape_parts import ellipsoid, primitive_part
from appell.view.standing import ground_normal, stand_on_edges
from appell.view.tracks import Course, Tracks, Values

ROD, GREY = "#8a94a0", "#9aa3ad"


def scene_of_model(
    model: Model, values: Mapping[Any, float] | None, start: Mapping[Any, float] | None, look: Look | None
) -> Scene:
    """A model at one state."""
    if not isinstance(model, Model):
        raise ModelError(f"draw takes a Model, got {type(model).__name__}; for a Motion use animate.")
    known = {s.label for s in (*model.parameters, *model.inputs)}
    numbers = dict(model.values)
    for name, value in (values or {}).items():
        label = name_of(name)
        if label not in known:
            raise ModelError(unknown(label, sorted(known), f"parameter or input of {model.name!r}"))
        numbers[label] = number(label, value)
    missing = [s.label for s in model.parameters if s.label not in numbers]
    if missing:
        raise MissingValueError(
            f"A drawing of {model.name!r} needs numbers for {', '.join(missing)}; write "
            f"draw(model, values={{{', '.join(f'{name!r}: ...' for name in missing)}}})."
        )
    p = np.array([numbers[s.label] for s in model.parameters])
    state = {label: 0.0 for label in names_of(model)}
    for name, value in {**model.start, **(start or {})}.items():
        label = name_of(name)
        if label in state:
            state[label] = float(value)
        elif start and name in start:
            raise ModelError(unknown(label, list(state), f"state of {model.name!r}"))
    for quaternion in {e for b in model.bodies if isinstance(b, RigidBody) for e in b.frame.unit_quaternions}:
        if all(getattr(s, "label", None) in state and state[s.label] == 0 for s in quaternion):
            state[quaternion[0].label] = 1.0
    q, v = (np.array([[state[s.label] for s in letters]]) for letters in
            (model.coordinates, [q.rate for q in model.coordinates]))  # fmt: skip
    q = _assembled(model, q, p)
    z = np.array([[state[s.label] for s in model.states]]).reshape(1, -1)
    w = np.array([[numbers.get(s.label, 0.0) for s in model.inputs]]).reshape(1, -1)
    course = Course(np.zeros(1), q, v, z, w, p)
    return _Stage(model, course, look).scene()


def _assembled(model: Model, q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The nearest configuration on the position constraints; what was given if there is none."""
    mechanics = Mechanics(model)
    if not mechanics.position_rows:
        return q
    found = q[0].copy()
    for _ in range(30):
        c, jacobian = (np.array(e) for e in mechanics.functions["position"](0.0, found, p))
        if not np.all(np.isfinite(c)) or np.max(np.abs(c)) < 1e-12:
            break
        found = found - np.linalg.pinv(jacobian, rcond=1e-9) @ c[:, 0]
    c = np.array(mechanics.functions["position"](0.0, found, p)[0])
    return found[None, :] if np.all(np.isfinite(c)) and np.max(np.abs(c)) < 1e-6 else q


def scene_of_motion(motion: Any, look: Look | None, forces: bool, field: Any, frames: int | None) -> Scene:
    """A motion."""
    from appell.motion.motion import Motion

    if not isinstance(motion, Motion):
        raise AppellError(f"animate takes a Motion, got {type(motion).__name__}; for a Model use draw.")
    system = motion.system
    model = system.model
    first, last = float(motion.times[0]), float(motion.times[-1])
    if frames is not None and not (isinstance(frames, int | np.integer) and frames >= 2):
        raise AppellError(f"An animation needs a whole number of frames, at least 2; got {frames!r}.")
    count = frames or _frames(motion, last - first)
    times = np.linspace(first, last, count) if last > first else np.array([first, first + 1e-9])
    inner = np.clip(times, first, last)
    states = motion.states(inner)
    n = len(model.coordinates)
    try:
        w = motion.inputs_at(inner) if model.inputs else np.zeros((times.size, 0))
    except AppellError:  # loaded from a file: the law is not there
        w, forces = np.zeros((times.size, len(model.inputs))), False
    course = Course(times, states[:, :n], states[:, n : 2 * n], states[:, 2 * n :], w, system.p)
    stage = _Stage(model, course, look, forces)
    if forces and motion.stretches and model.rows:
        stage.reactions = arrows.reactions(motion, stage.tracks)
    shown = [s.label for s in (*model.coordinates, *model.states)][:14]
    units = {s.label: s.unit for s in (*model.coordinates, *model.states)}
    stage.readout = [(label, unit_words(units[label]), stage.tracks.scalar(s))
                     for label, s in zip(shown, (*model.coordinates, *model.states), strict=False)]  # fmt: skip
    stage.events = tuple((float(o.t), o.name) for o in motion.occurrences[:200])
    stage.field = _field(field)
    return stage.scene()


def _frames(motion: Any, span: float) -> int:
    """How many moments: fifty a second, and as many as quick motion takes steps, as far as a page can hold them."""
    bodies, steps = max(1, len(motion.system.model.bodies)), int(motion.info["steps"])
    most = max(200, min(1500, 150_000 // bodies))
    if span > 30:
        most = max(most, min(20_000 // bodies, 2 * steps))
    return int(np.clip(max(50 * span, 2 * steps, _quickest(motion) * span), 150, most))


def _quickest(motion: Any) -> float:
    """Radians in a second of the fastest turn: between two moments attitudes are told by less than half a turn."""
    found = 0.0
    for body in motion.system.model.bodies:
        for frame in body.frame.path if isinstance(body, RigidBody) else ():
            angle, quaternion = getattr(frame.rotation, "angle", None), getattr(frame.rotation, "quaternion", None)
            for formula, factor in ((angle, 1.0), *((e, 2.0) for e in quaternion or ())):
                for letter in letters_in(formula) if isinstance(formula, sp.Basic) else ():
                    rate = motion.columns.get(f"{getattr(letter, 'label', '')}.rate")
                    found = max(found, factor * float(np.abs(rate).max())) if rate is not None else found
    return found


def _field(given: Any) -> Field | None:
    if given is None or isinstance(given, Field):
        return given
    if not all(hasattr(given, name) for name in ("x", "y", "dose")):
        raise AppellError(f"field= takes a Coverage or a Field, got {type(given).__name__}.")
    if given.history is None:
        return Field(given.x, given.y, np.zeros(1), given.dose[None], "sprayed", "l/m²")
    return Field(given.x, given.y, given.moments, given.history, "sprayed", "l/m²")


class _Stage:
    """Collects what is to be drawn."""

    def __init__(self, model: Model, course: Course, look: Look | None, forces: bool = True) -> None:
        self.model, self.course, self.forces = model, course, forces
        self.look = look or getattr(model, "look", None) or Look()
        self.check_look()
        self.tracks, self.anatomy = Tracks(model), anatomy(model)
        self.hidden = set(self.look.hide)
        self.inside = {b for group in rod_groups(model) for b in group}
        self.reactions: list[arrows.Measured] = []
        self.readout: list[tuple[str, str, int]] = []
        self.events: tuple[tuple[float, str], ...] = ()
        self.field: Field | None = None
        self.span = 1.0

    def check_look(self) -> None:
        if not isinstance(self.look, Look):
            raise ModelError(f"look= takes an appell.view.Look(...), got {type(self.look).__name__}.")
        names = [b.name for b in self.model.bodies]
        for given in (self.look.shapes, self.look.colors):
            for name in given:
                if name not in names:
                    raise ModelError(unknown(name, names, f"body of {self.model.name!r}"))

    def scene(self) -> Scene:
        tracks, model, found = self.tracks, self.model, self.anatomy
        bodies = [b for b in model.bodies if b.name not in self.hidden]
        tracks.turn(model.ground)  # for what is carried along without turning
        asked = self._ask(bodies)
        pairs = [(tracks.point(a), tracks.point(b)) for a, b in (*found.rods, *self.look.rods)]
        plates = [[tracks.point(e) for e in group] for group in found.plates]
        feet = [tracks.point(e) for e in found.anchors.values()]
        joints = tuple(tracks.point(e) for e in found.joints.values())
        springs = self._springs()
        anchors = tuple(dict.fromkeys((*feet, *(tracks.point(e) for *_, ends in springs for e in ends if still(e)))))
        gravity = sum((f.acceleration for f in model.forces if isinstance(f, Gravity)), Vector({}))
        down = tracks.vector(gravity)
        upward = tracks.vector(self.look.up) if self.look.up is not None else None
        pushes = arrows.forces(model, tracks, self.hidden) if self.forces else []
        streams = [] if not self.forces else arrows.streams(model, tracks, self.hidden)
        traced = self._traced(bodies)
        programmed = {name: tracks.point(v) for name, v in self.look.curves.items()}
        contacts = [tracks.point(w.contact) for w in found.wheels.values() if w.contact is not None]
        edges = [tracks.point(e) for _, e, _ in found.edges]
        spins = [(tracks.point(w.body.center), tracks.scalar(w.radius), tracks.turn(w.body.frame), w.axis)
                 for w in found.wheels.values() if w.contact is None and w.axis is not None]  # fmt: skip
        values = tracks.along(self.course)
        if not all(np.all(np.isfinite(e)) for e in (values.points, values.turns)):
            raise AppellError(f"A point of {model.name!r} has no finite position; look at the values and the start.")
        g = values.vectors[down][0]
        measure = Measure(values, asked, self._sizes(asked, values))
        self.span = measure.size
        near = self._jiggled()
        places = np.concatenate([values.points, near.points], axis=1)
        normal, planar = plane_of(places, measure.size)
        up, view = self._stand(values, g, upward, normal, planar, bool(found.wheels or found.edges))
        ground = ground_normal(places[contacts + edges].reshape(-1, 3), up)
        solids = self._solids(asked, values, near, measure.unit, ground)
        measure.add(solids, values)
        floor = self._floor(values, ground, view, contacts + edges, spins, measure, planar)
        bars = [Bar("rod", "rod", a, b, 0.35 * measure.unit, ROD) for a, b in _different(pairs, values, measure.size)]
        coils = {(a, b) for _, kind, a, b, _ in springs if kind == "spring"}
        for name, kind, a, b, _ in springs:
            longest = float(np.linalg.norm(values.points[a] - values.points[b], axis=1).max())
            thick = min(_thickness(kind, (a, b) in coils) * measure.unit, 0.14 * longest)
            bars.append(Bar(name, kind, a, b, thick, GREY))
        solids += self._plates(plates, values, measure.unit)
        if not planar and len(feet) > 2 and any(row.order == 0 for row in model.rows):
            solids += self._plates([feet], values, measure.unit, "base", "#7b8794")
        values, more = arrows.joined(values, self.reactions)
        drawn = arrows.drawn(pushes + more, values)
        jets = self._jets(streams, values, measure)
        followed = -1 if self.field is not None else measure.follow(solids)
        lines = path_curves(programmed, values)
        lines += constraint_curves(model, tracks.variables, self.course, found.lengths)
        return Scene(
            title=model.name,
            subtitle=model.description,
            values=values,
            solids=tuple(solids),
            bars=tuple(bars),
            arrows=tuple(drawn),
            jets=tuple(jets),
            traces=tuple(traced),
            curves=tuple(lines),
            anchors=anchors,
            joints=joints,
            up=up,
            view=view,
            normal=normal,
            floor=floor,
            ground=ground,
            size=measure.size,
            unit=measure.unit,
            gravity=g,
            box=(measure.low, measure.high),
            events=self.events,
            readout=tuple(self.readout),
            field=self.field,
            follow=followed,
        )

    def _jiggled(self) -> Values:
        """Tracks at states near the first one, to see in which directions the model can move at all."""
        c, rng, n = self.course, np.random.default_rng(7), 4
        first = [np.repeat(e[:1], n, axis=0) for e in (c.q, c.v, c.z, c.w)]
        first[0] = first[0] + rng.uniform(-0.3, 0.3, first[0].shape)
        return self.tracks.along(Course(np.repeat(c.times[:1], n), *first, c.p))

    def _ask(self, bodies: list[Body]) -> list[dict[str, Any]]:
        """Tracks of every body: centre, attitude, mass, inertia, points fixed in it, dimensions."""
        tracks, listed = self.tracks, []
        for i, body in enumerate(bodies):
            frame = body.frame if isinstance(body, RigidBody) else self.model.ground
            wheel = self.anatomy.wheels.get(body)
            entry: dict[str, Any] = {
                "body": body, "point": tracks.point(body.center), "turn": tracks.turn(frame), "wheel": wheel,
                "color": self.look.colors.get(body.name, PALETTE[i % len(PALETTE)]),
                "mass": tracks.scalar(body.mass), "given": self.look.solids(body.name),
                "fixed": [tracks.point(e) for e in self.anatomy.fixed.get(body, ())],
                "edges": [(tracks.point(at), tracks.vector(across)) for b, at, across in self.anatomy.edges
                          if b is body and across is not None],
            }  # fmt: skip
            entry["shape"] = [] if entry["given"] else self._ask_shape(body)
            if entry["shape"]:
                entry["point"] = tracks.point(body.frame.origin)
            if isinstance(body, RigidBody):
                entry["inertia"] = [tracks.scalar(body.inertia[r, c]) for r in range(3) for c in range(3)]
            if wheel is not None:
                entry["radius"] = tracks.scalar(wheel.radius)
            entry["plain"] = isinstance(body, RigidBody) and not (entry["given"] or entry["shape"] or wheel)
            entry["sizes"] = [[tracks.scalar(e) for e in (*s.size, *s.at, *s.axis)] for s in entry["given"]]
            listed.append(entry)
        return listed

    def _ask_shape(self, body: Body) -> list[tuple[Any, dict[str, int], list[int], int]]:
        """Primitives of a body's shape with tracks of their dimensions and poses; cavities have a negative sign."""
        shape, listed = getattr(body, "shape", None), []
        for sign, piece in shape.parts if shape is not None else ():
            dimensions = {n: self.tracks.scalar(e) for n, e in _lengths(piece).items()}
            pose = [self.tracks.scalar(e) for e in piece.pose.matrix[:3, :]]
            listed.append((piece, dimensions, pose, sign))
        return listed

    def _sizes(self, asked: list[dict[str, Any]], values: Values) -> list[float]:
        """How large bodies are by what is known of them before a scale is chosen."""
        found = []
        for entry in asked:
            for _, dimensions, _, _ in entry["shape"]:
                found += [abs(float(values.scalars[k][0])) for k in dimensions.values()]
            if "radius" in entry:
                found.append(2 * float(values.scalars[entry["radius"]][0]))
            for sizes, solid in zip(entry["sizes"], entry["given"], strict=True):
                found.append(max(abs(float(values.scalars[k][0])) for k in sizes[: len(solid.size)]))
        return found

    def _solids(
        self, asked: list[dict[str, Any]], values: Values, near: Values, unit: float, ground: np.ndarray
    ) -> list[Drawn]:
        heaviest = max((float(values.scalars[e["mass"]][0]) for e in asked), default=1.0) or 1.0
        shapes = [self._shapes(entry, values, unit, heaviest) for entry in asked]
        stand_on_edges(asked, shapes, values, near, ground, self.span)
        return [
            Drawn(entry["body"].name, entry["point"], entry["turn"], tuple(parts), entry["color"])
            for entry, parts in zip(asked, shapes, strict=True)
            if parts
        ]

    def _shapes(self, entry: dict[str, Any], values: Values, unit: float, heaviest: float) -> list[Part]:
        body, scalar = entry["body"], values.scalars
        if entry["given"]:
            return [_given(s, [float(scalar[k][0]) for k in sizes])
                    for s, sizes in zip(entry["given"], entry["sizes"], strict=True)]  # fmt: skip
        if entry["shape"]:
            drawn = [(sign, self._piece(*e, scalar, unit)) for *e, sign in entry["shape"]]
            solid = [p for sign, p in drawn if p is not None and sign > 0]
            whole = hollowed(solid, [p for sign, p in drawn if p is not None and sign < 0])
            return whole + arms(solid, self._fixed(entry, values), 0.35 * unit, ROD)
        mass = float(scalar[entry["mass"]][0])
        if body in self.inside:
            return []
        if isinstance(body, Particle):
            radius = unit * float(np.clip((abs(mass) / heaviest) ** (1 / 3), 0.35, 1.0))
            return [part("sphere", radius)]
        if entry["wheel"] is not None:
            radius, axis = float(scalar[entry["radius"]][0]), entry["wheel"].axis
            if axis is None:
                return [part("ball", radius)]
            slim = 0.14 if entry["wheel"].contact is not None else 0.4
            return [part("wheel", radius, slim * radius, axis=np.array([float(e) for e in axis]))]
        points = self._fixed(entry, values)
        inertia = np.array([float(scalar[k][0]) for k in entry["inertia"]]).reshape(3, 3)
        if entry["edges"]:
            return of_inertia(mass, inertia, unit)
        if len(points) == 2 and mass > 0:  # a rod of the same inertia about the centre
            arm = points[1] - points[0]
            length = np.sqrt(12 * np.linalg.eigvalsh(inertia)[2] / mass)
            points = np.vstack([points, *(points[0] + s * length / 2 * arm / np.linalg.norm(arm) for s in (-1, 1))])
        shapes = through(points, unit) if len(points) > 1 else []
        if mass <= 0 and not shapes:
            return self._rotor(body, unit)
        return shapes or of_inertia(mass, inertia, unit)

    @staticmethod
    def _fixed(entry: dict[str, Any], values: Values) -> np.ndarray:
        """Points fixed in a body, in its axes from the point that carries it."""
        turn, carrier = values.turns[entry["turn"]][0], values.points[entry["point"]][0]
        return np.array([(values.points[k][0] - carrier) @ turn for k in entry["fixed"]]).reshape(-1, 3)

    def _piece(
        self, piece: Any, dimensions: dict[str, int], pose: list[int], scalar: np.ndarray, unit: float
    ) -> Part | None:
        matrix = np.vstack([np.array([float(scalar[k][0]) for k in pose]).reshape(3, 4), [0, 0, 0, 1]])
        sizes = {n: float(scalar[k][0]) for n, k in dimensions.items()}
        return primitive_part(piece.kind, sizes, piece, matrix, unit)

    def _rotor(self, body: RigidBody, unit: float) -> list[Part]:
        """A body of which only the rotation counts, about an axis of its own."""
        rotation = body.frame.axes.rotation
        coordinates = set(self.model.coordinates)
        if (
            rotation is None
            or rotation.axis is None
            or rotation.angle not in {*coordinates, *(-q for q in coordinates)}
        ):
            return []
        return [part("wheel", 1.2 * unit, 0.8 * unit, axis=np.array([float(e) for e in rotation.axis]))]

    def _plates(
        self, plates: list[list[int]], values: Values, unit: float, name: str = "platform", color: str = PALETTE[1]
    ) -> list[Drawn]:
        """Corners that are carried along without turning, as plates."""
        ground, listed = self.tracks.turn(self.model.ground), []
        for corners in plates:
            places = np.array([values.points[k][0] for k in corners])
            shapes = through(places - places[0], unit)
            if shapes:
                listed.append(Drawn(name, corners[0], ground, tuple(shapes), color))
        return listed

    def _springs(self) -> list[tuple[str, str, int, int, tuple[Vector, Vector]]]:
        """Springs and dampers: name, kind, tracks of the ends, and the ends."""
        listed = []
        for force in self.model.forces:
            ends = (force.a, force.b) if isinstance(force, Damper) else getattr(force, "ends", None)
            if ends is not None and force.name not in self.hidden:
                kind = "damper" if isinstance(force, Damper) else "spring"
                listed.append((force.name, kind, *map(self.tracks.point, ends), ends))
        return listed

    def _traced(self, bodies: list[Body]) -> list[Trace]:
        given, tracks = self.look.traces, self.tracks
        if isinstance(given, Mapping):
            return [
                Trace(name, tracks.point(e), PALETTE[i % len(PALETTE)]) for i, (name, e) in enumerate(given.items())
            ]
        colors = {b.name: self.look.colors.get(b.name, PALETTE[i % len(PALETTE)]) for i, b in enumerate(bodies)}
        if given is not None:
            named = {b.name: b for b in bodies}
            for name in given:
                if name not in named:
                    raise ModelError(unknown(name, list(named), f"body of {self.model.name!r}"))
            return [Trace(name, tracks.point(named[name].center), colors[name]) for name in given]
        wheels = self.anatomy.wheels
        free = [b for b in bodies if b not in wheels and b not in self.inside]
        chosen = free if len(free) <= 2 else free[-1:]
        listed = [Trace(b.name, tracks.point(b.center), colors[b.name]) for b in chosen]
        if len(wheels) <= 2:
            listed += [Trace(f"contact of {b.name}", tracks.point(w.contact), colors[b.name])
                       for b, w in wheels.items() if w.contact is not None and b in bodies]  # fmt: skip
        return listed

    def _stand(
        self, values: Values, g: np.ndarray, upward: int | None, normal: np.ndarray, planar: bool, rolls: bool
    ) -> tuple[np.ndarray, str]:
        """What is up, and from where one looks."""
        fall = float(np.linalg.norm(g))
        if upward is not None:
            up = values.vectors[upward][0]
            up = up / np.linalg.norm(up)
        else:
            up = -g / fall if fall > 0 else normal if planar else np.array([0.0, 0.0, 1.0])
        if planar and abs(float(up @ normal)) < 1e-6:
            return up, "front"
        if planar and not rolls and fall == 0 and self.field is None:
            return up, "top"
        return up, "floor" if planar or rolls else "space"

    def _floor(
        self, values: Values, ground: np.ndarray, view: str, touching: list[int],
        spins: list[tuple[int, int, int, Any]], measure: Measure, planar: bool,
    ) -> float | None:  # fmt: skip
        heights = [float((values.points[k] @ ground).min()) for k in touching]
        for center, radius, turn, axis in spins:
            across = values.turns[turn][0] @ np.array([float(e) for e in axis])
            if abs(float(across @ ground)) < 0.5:
                heights.append(float((values.points[center] @ ground).min()) - float(values.scalars[radius][0]))
        if heights:
            return min(heights)
        if view == "front":
            return None
        lowest = measure.lowest(ground)
        return lowest - (0.0 if planar else 0.06 * measure.extent)

    def _jets(self, streams: list[tuple[str, int, int, int, int]], values: Values, measure: Measure) -> list[Jet]:
        jets = []
        for name, at, velocity, relative, rate in streams:
            speed = float(np.linalg.norm(values.vectors[relative], axis=1).max())
            if speed > 0 and float(np.abs(values.scalars[rate]).max()) > 0:
                reach = 1.0 if self.field is not None else 0.9 * measure.size
                jets.append(Jet(name, at, velocity, rate, reach / speed, 0.16))
        return jets


def _lengths(piece: Any) -> dict[str, Any]:
    """The dimensions of a primitive that are numbers or formulas, not arrays of corners."""
    return {n: e for n, e in piece.dimensions.items() if isinstance(e, int | float | sp.Expr)}


def _different(pairs: list[tuple[int, int]], values: Values, size: float) -> list[tuple[int, int]]:
    """Rods without those that lie where others do: of the model, and of its look."""
    places = {frozenset(map(tuple, np.round(values.points[[a, b], 0] / size, 9) + 0.0)): (a, b) for a, b in pairs}
    return list(places.values())


def _thickness(kind: str, coiled: bool) -> float:
    """Of a spring, or of a damper, which is thin where it stands inside a spring."""
    return 1.1 if kind == "spring" else 0.4 if coiled else 0.6


def _given(solid: Solid, numbers: list[float]) -> Part:
    n = len(solid.size)
    size, at, axis = numbers[:n], np.array(numbers[n : n + 3]), np.array(numbers[n + 3 :])
    if solid.kind == "ellipsoid":
        return replace(ellipsoid(*size), at=at, color=solid.color)
    turn = np.eye(3) if solid.kind in ("box", "sphere", "ball") else along(axis)
    return Part(solid.kind, tuple(size), at, turn, color=solid.color)
