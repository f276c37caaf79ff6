"""From a model or a motion to a scene."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from appell.code.state import names_of
from appell.errors import AppellError, MissingValueError, ModelError
from appell.kinematics.consistency import project_positions
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.newton import FAR
from appell.model.body import Body, Particle, RigidBody
from appell.model.force import Damper, Gravity
from appell.model.frame import Vector
from appell.model.look import Look
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.rules import numbers_of
from appell.model.symbols import letters_in
from appell.model.values import numbers, unknown
from appell.view import arrows
from appell.view.anatomy import anatomy, key, rod_groups, still
from appell.view.curves import constraint_curves, path_curves
from appell.view.figure import Figure
from appell.view.hollows import cleared
from appell.view.measure import Measure, plane_of
from appell.view.parts import through
from appell.view.plot import unit_words
from appell.view.rods import rods
from appell.view.scene import PALETTE, Bar, Drawn, Field, Jet, Scene, Trace
from appell.view.standing import ground_normal, stand_on_edges
from appell.view.strings import strings
from appell.view.surroundings import Surroundings
from appell.view.tracks import Course, Tracks, Values
from appell.view.unshaped import ROD

GREY = "#9aa3ad"

Spring = tuple[str, str, int, int, tuple[Vector, Vector]]
"""Or a damper: name, kind, tracks of the ends, and the ends."""


def scene_of_model(
    model: Model, values: Mapping[Any, float] | None, start: Mapping[Any, float] | None, look: Look | None
) -> Scene:
    """A model at one state."""
    bound = {**model.values, **numbers_of(model, values)}
    missing = [s.label for s in model.parameters if s.label not in bound]
    if missing:
        raise MissingValueError(
            f"A drawing of {model.name!r} needs numbers for {', '.join(missing)}; write "
            f"model.draw(values={{{', '.join(f'{name!r}: ...' for name in missing)}}})."
        )
    p = np.array([bound[s.label] for s in model.parameters])
    state = {label: 0.0 for label in names_of(model)}
    given = numbers(start)
    for label, value in {**model.start, **given}.items():
        if label in state:
            state[label] = value
        elif label in given:
            raise ModelError(unknown(label, list(state), f"state of {model.name!r}"))
    for quaternion in {e for b in model.bodies if isinstance(b, RigidBody) for e in b.frame.unit_quaternions}:
        if all(getattr(s, "label", None) in state and state[s.label] == 0 for s in quaternion):
            state[quaternion[0].label] = 1.0
    q, v = (np.array([[state[s.label] for s in letters]]) for letters in
            (model.coordinates, [q.rate for q in model.coordinates]))  # fmt: skip
    q = _assembled(model, q, p)
    z = np.array([[state[s.label] for s in model.states]]).reshape(1, -1)
    w = np.array([[bound.get(s.label, 0.0) for s in model.inputs]]).reshape(1, -1)
    course = Course(np.zeros(1), q, v, z, w, p)
    return _Stage(model, course, look).scene()


def _assembled(model: Model, q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The nearest configuration on the position constraints; what was given if there is none."""
    found, left = project_positions(Mechanics(model), 0.0, q, p, reach=FAR)
    return found if left < 1e-6 else q


def scene_of_motion(motion: Any, look: Look | None, forces: bool, field: Any, frames: int | None) -> Scene:
    """A motion."""
    from appell.motion.motion import Motion

    if not isinstance(motion, Motion):
        raise AppellError(f"An animation is of a Motion, got {type(motion).__name__}; for a Model use model.draw().")
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
        w = motion.inputs_at(inner)
    except AppellError:  # loaded from a file: the law is not there
        w, forces = np.zeros((times.size, len(model.inputs))), False
    course = Course(times, states[:, :n], states[:, n : 2 * n], states[:, 2 * n :], w, system.p)
    stage = _Stage(model, course, look, forces)
    if forces and motion.stretches and model.rows:
        stage.reactions = arrows.reactions(motion, stage.tracks, stage.rods)
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
        self.look = look if look is not None else model.look or Look()
        self.check_look()
        self.rods = rods(model, course)
        self.tracks, self.anatomy = Tracks(model), anatomy(model, self.rods)
        self.hidden = set(self.look.hide)
        self.inside = {b for group in rod_groups(model) for b in group}
        self.reactions: list[arrows.Measured] = []
        self.readout: list[tuple[str, str, int]] = []
        self.events: tuple[tuple[float, str], ...] = ()
        self.field: Field | None = None

    def check_look(self) -> None:
        if not isinstance(self.look, Look):
            raise ModelError(f"look= takes an appell.view.Look(...), got {type(self.look).__name__}.")
        names = [b.name for b in self.model.bodies]
        for name in (*self.look.shapes, *self.look.colors):
            if name not in names:
                raise ModelError(unknown(name, names, f"body of {self.model.name!r}"))
        known = [*names, *(force.name for force in self.model.forces)]
        for name in self.look.hide:
            if name not in known:
                raise ModelError(unknown(name, known, f"body or force of {self.model.name!r}"))

    def scene(self) -> Scene:
        tracks, model, found = self.tracks, self.model, self.anatomy
        bodies = [b for b in model.bodies if b.name not in self.hidden]
        tracks.turn(model.ground)  # for what is carried along without turning
        colors = {b: self.look.colors.get(b.name, PALETTE[i % len(PALETTE)]) for i, b in enumerate(bodies)}
        figures = [Figure.of(b, colors[b], model, self.look, found, tracks, b in self.inside) for b in bodies]
        pairs = [(tracks.point(a), tracks.point(b)) for a, b in (*found.rods, *self.look.rods)]
        hanging = strings(model)
        ropes = [(tracks.point(a), tracks.point(b)) for a, b in (*found.ropes, *hanging)]
        plates = [[tracks.point(e) for e in group] for group in found.plates]
        hung = [end for ends in self.look.rods for end in ends if still(end)]
        feet = [tracks.point(e) for e in (*found.anchors.values(), *hung)]
        told = {place for e in figures if e.detailed for place in map(key, found.fixed.get(e.body, ()))}
        beads = {e.point for e in figures if isinstance(e.body, Particle) and not e.bare}
        joints = [
            k for k in (tracks.point(e) for place, e in found.joints.items() if place not in told) if k not in beads
        ]
        eyes = [tracks.point(e) for e in (*found.eyes.values(), *(a for a, _ in hanging if still(a)))]
        given = [tracks.point(e) for ends in self.look.rods for e in ends]
        springs, surroundings = self._springs(), Surroundings.of(self.look, model, tracks)
        anchors = tuple(dict.fromkeys((*feet, *(tracks.point(e) for *_, ends in springs for e in ends if still(e)))))
        gravity = sum((f.acceleration for f in model.forces if isinstance(f, Gravity)), Vector({}))
        down = tracks.vector(gravity)
        upward = tracks.vector(self.look.up) if self.look.up is not None else None
        pushes = arrows.forces(model, tracks, self.hidden) if self.forces else []
        streams = [] if not self.forces else arrows.streams(model, tracks, self.hidden)
        traced = self._traced(colors)
        programmed = {name: tracks.point(v) for name, v in self.look.curves.items()}
        touching = [tracks.point(e) for e in found.touching]
        spins = [(tracks.point(w.body.center), tracks.scalar(w.radius), tracks.turn(w.body.frame), w.axis)
                 for w in found.wheels.values() if w.contact is None and w.axis is not None]  # fmt: skip
        values = tracks.along(self.course)
        if not all(np.all(np.isfinite(e)) for e in (values.points, values.turns)):
            raise AppellError(f"A point of {model.name!r} has no finite position; look at the values and the start.")
        g = values.vectors[down][0]
        measure, near = Measure(values, figures), self._jiggled()
        places = np.concatenate([values.points, near.points], axis=1)
        normal, planar = plane_of(places, measure.size)
        upright = normal @ np.concatenate([values.turns, near.turns], axis=1)  # in the axes of all that turns
        level = float(np.ptp(upright, axis=1).max(initial=0.0)) < 1e-9
        up, view = self._stand(values, g, upward, normal, planar, level, bool(touching or spins))
        ground = ground_normal(places[touching].reshape(-1, 3), up)
        solids = self._solids(figures, values, near, measure, ground)
        place = None if surroundings is None else surroundings.drawn(values, measure.unit)
        around = [] if place is None else [place]
        measure.add(solids, values, around)
        floor = self._floor(values, ground, view, touching, spins, measure, planar, stands=bool(around))
        solids += self._plates(plates, values, measure.unit)
        if not planar and len(feet) > 2 and any(row.order == 0 for row in model.rows):
            solids += self._plates([feet], values, measure.unit, "base", "#7b8794")
        values, more = arrows.joined(values, self.reactions)
        drawn = arrows.drawn(pushes + more, values)
        jets = self._jets(streams, values, measure)
        joints += [k for k in eyes if k not in joints and not _at_rim(k, solids, values, measure.unit)]
        bars = _bars(pairs, ropes, springs, values, measure)
        followed = -1 if self.field is not None else measure.follow(solids, bars, values)
        lines = path_curves(programmed, values)
        lines += constraint_curves(model, tracks.variables, self.course, found.lengths)
        return Scene(
            title=model.name,
            subtitle=model.description,
            values=values,
            solids=(*solids, *around),
            bars=bars,
            arrows=tuple(drawn),
            jets=tuple(jets),
            traces=tuple(traced),
            curves=tuple(lines),
            anchors=anchors,
            joints=tuple(k for k in joints if not any(np.allclose(values.points[k], values.points[e]) for e in given)),
            up=up,
            view=view,
            normal=normal,
            floor=floor,
            ground=ground,
            size=measure.size,
            unit=measure.unit,
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

    def _solids(
        self, figures: list[Figure], values: Values, near: Values, measure: Measure, ground: np.ndarray
    ) -> list[Drawn]:
        heaviest = max((float(values.scalars[e.mass][0]) for e in figures), default=1.0) or 1.0
        shapes = [figure.parts(values, measure.unit, heaviest) for figure in figures]
        stand_on_edges(figures, shapes, values, near, ground, measure.size)
        return [
            Drawn(figure.body.name, figure.point, figure.turn, tuple(parts), figure.color)
            for figure, parts in zip(figures, cleared(figures, shapes, values), strict=True)
            if parts
        ]

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

    def _springs(self) -> list[Spring]:
        """Springs and dampers."""
        listed = []
        for force in self.model.forces:
            ends = (force.a, force.b) if isinstance(force, Damper) else getattr(force, "ends", None)
            if ends is not None and force.name not in self.hidden:
                kind = "damper" if isinstance(force, Damper) else "spring"
                listed.append((force.name, kind, *map(self.tracks.point, ends), ends))
        return listed

    def _traced(self, colors: Mapping[Body, str]) -> list[Trace]:
        given, tracks = self.look.traces, self.tracks
        if given is None:  # of tasks the path of the point that they are about
            tasks = (c for c in self.model.constraints if isinstance(c, Programmed) and c.point is not None)
            given = {c.name: c.point for c in {key(c.point): c for c in tasks}.values()} or None
        if isinstance(given, Mapping):
            return [
                Trace(name, tracks.point(e), PALETTE[i % len(PALETTE)]) for i, (name, e) in enumerate(given.items())
            ]
        if given is not None:
            named = {b.name: b for b in colors}
            for name in given:
                if name not in named:
                    raise ModelError(unknown(name, list(named), f"body of {self.model.name!r}"))
            return [Trace(name, tracks.point(named[name].center), colors[named[name]]) for name in given]
        wheels = self.anatomy.wheels
        free = [b for b in colors if b not in wheels and b not in self.inside]
        chosen = free if len(free) <= 2 else free[-1:]
        listed = [Trace(b.name, tracks.point(b.center), colors[b]) for b in chosen]
        if len(wheels) <= 2:
            listed += [Trace(f"contact of {b.name}", tracks.point(w.contact), colors[b])
                       for b, w in wheels.items() if w.contact is not None and b in colors]  # fmt: skip
        return listed

    def _stand(
        self, values: Values, g: np.ndarray, upward: int | None, normal: np.ndarray, planar: bool, level: bool,
        rolls: bool,
    ) -> tuple[np.ndarray, str]:  # fmt: skip
        """What is up, and from where one looks: on what moves and turns in a plane from the front or from above."""
        fall = float(np.linalg.norm(g))
        if upward is not None:
            up = values.vectors[upward][0]
            up = up / np.linalg.norm(up)
        else:
            up = -g / fall if fall > 0 else normal if planar else np.array([0.0, 0.0, 1.0])
        if planar and abs(float(up @ normal)) < 1e-6:
            return up, "front"
        if planar and level and not rolls and fall == 0 and self.field is None:
            return up, "top"
        return up, "floor" if planar or rolls else "space"

    def _floor(
        self, values: Values, ground: np.ndarray, view: str, touching: list[int],
        spins: list[tuple[int, int, int, Any]], measure: Measure, planar: bool, stands: bool,
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
        return lowest - (0.0 if planar or stands else 0.06 * measure.extent)

    def _jets(self, streams: list[tuple[str, int, int, int, int]], values: Values, measure: Measure) -> list[Jet]:
        jets = []
        for name, at, velocity, relative, rate in streams:
            speed = float(np.linalg.norm(values.vectors[relative], axis=1).max())
            flow = values.scalars[rate]
            if speed > 0 and float(np.abs(flow).max()) > 0:
                reach = 1.0 if self.field is not None else 0.9 * measure.size
                jets.append(Jet(name, at, velocity, rate, reach / speed, 0.16, bool(flow.max() > -flow.min())))
        return jets


def _at_rim(point: int, solids: list[Drawn], values: Values, near: float) -> bool:
    """Whether a point is at a body at first, as where a rope leaves a pulley."""
    places = [(values.points[point][0] - values.points[e.point][0]) @ values.turns[e.turn][0] for e in solids]
    return any(part.away(place) < near for e, place in zip(solids, places, strict=True) for part in e.parts)


def _bars(
    rods: list[tuple[int, int]], ropes: list[tuple[int, int]], springs: list[Spring], values: Values, measure: Measure
) -> tuple[Bar, ...]:
    """Rods and ropes without those that lie where others do, of the model and of its look; springs and dampers."""
    ends = np.round(values.points[:, 0] / measure.size, 9) + 0.0
    lines = [*(("rope", a, b, 0.15) for a, b in ropes), *(("rod", a, b, 0.35) for a, b in rods)]
    apart = {frozenset((tuple(ends[a]), tuple(ends[b]))): (name, a, b, wide) for name, a, b, wide in lines}
    bars = [Bar(name, "rod", a, b, wide * measure.unit, ROD) for name, a, b, wide in apart.values()]
    coils = {(a, b) for _, kind, a, b, _ in springs if kind == "spring"}
    for name, kind, a, b, _ in springs:
        longest = float(np.linalg.norm(values.points[a] - values.points[b], axis=1).max())
        wide = 1.1 if kind == "spring" else 0.4 if (a, b) in coils else 0.6  # a damper may stand inside a spring
        bars.append(Bar(name, kind, a, b, min(wide * measure.unit, 0.14 * longest), GREY))
    return tuple(bars)
