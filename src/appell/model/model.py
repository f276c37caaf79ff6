"""The model: everything the user says about a mechanical system, checked when it is built."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from appell.errors import FrameError, ModelError, UndeclaredError
from appell.model.body import Body, Content, Particle, RigidBody
from appell.model.constraint import AbstractConstraint, Holonomic, Rolling, Row, vanishing
from appell.model.force import AbstractForce, Generalized, Potential, in_order
from appell.model.frame import Frame, Vector
from appell.model.look import Look
from appell.model.mass_flow import Stream
from appell.model.programme import programme_states
from appell.model.symbols import (
    Coordinate,
    Evolving,
    ExtraState,
    Input,
    Letter,
    Parameter,
    Rate,
    Speed,
    Time,
    key,
    letters_in,
    nodes,
    time_derivative,
)

ENDLESS = frozenset({sp.nan, sp.oo, -sp.oo, sp.zoo})


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Model:
    """A mechanical system.

    Args:
        ground: The inertial frame.
        coordinates: The coordinates q, in the order in which they shall stand in the state. Inputs that drive them
            (`Generalized`) stand in the same order, before other inputs; these and parameters by their names.
        bodies: Particles and rigid bodies.
        forces: Gravity, forces, torques, springs, dampers, potentials, generalized forces.
        constraints: Holonomic and nonholonomic constraints, rolling, prescribed motions.
        states: Extra states and their differential equations, `{tank: -flow}`.
        name: A name for reports.
        description: What it is and where it comes from.
        values: Suggested numbers of parameters and inputs, used where a caller gives none.
        start: A suggested starting state.
        until: A suggested length of a run.
        look: Hints for drawing.

    Example:
        >>> import sympy as sp, appell as ap
        >>> angle = ap.coordinates("angle")
        >>> m, l, g = ap.parameters("m l g")
        >>> ground = ap.Frame("ground")
        >>> bob = ap.Particle("bob", m, ground.rotate("z", angle).point(0, -l))
        >>> Model(ground, (angle,), [bob], [ap.Gravity(-g * ground.y)])
        Model 'model': 1 coordinate, 1 body, 1 force, 0 constraint rows, parameters g l m
    """

    ground: Frame
    coordinates: tuple[Coordinate, ...]
    bodies: tuple[Body, ...]
    forces: tuple[AbstractForce, ...]
    constraints: tuple[AbstractConstraint, ...]
    states: Mapping[ExtraState, sp.Expr]
    name: str
    description: str
    values: Mapping[str, float]
    start: Mapping[str, float]
    until: float
    look: Look | None
    parameters: tuple[Parameter, ...]
    inputs: tuple[Input, ...]

    def __init__(
        self,
        ground: Frame,
        coordinates: Iterable[Coordinate] | Coordinate,
        bodies: Iterable[Body],
        forces: Iterable[AbstractForce] = (),
        constraints: Iterable[AbstractConstraint] = (),
        states: Mapping[ExtraState, Any] | None = None,
        name: str = "model",
        description: str = "",
        values: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
        until: float = 10.0,
        look: Look | None = None,
    ) -> None:
        listed = (coordinates,) if isinstance(coordinates, Letter) else tuple(coordinates)
        bodies, forces = tuple(bodies), _named(tuple(forces))
        constraints = _named((*constraints, *_quaternion_norms(bodies)))
        fields: dict[str, Any] = {
            "ground": ground,
            "coordinates": listed,
            "bodies": bodies,
            "forces": forces,
            "constraints": constraints,
            "states": {
                **{z: sp.sympify(e) for z, e in (states or {}).items()},
                **programme_states((r for c in constraints for r in getattr(c, "rows", ()) if r.order > 2), listed),
            },
            "name": name,
            "description": description,
            "until": float(until),
            "look": look,
        }
        for attribute, value in fields.items():
            object.__setattr__(self, attribute, value)
        self._check_kinds()
        if any(isinstance(c, Rolling) for c in constraints):
            from appell.model.redundancy import in_regular_axes

            object.__setattr__(self, "constraints", in_regular_axes(constraints))
        self._check_rows()
        letters = self._check_letters()
        self._check_flows()
        self._check_contacts()
        object.__setattr__(self, "parameters", tuple(s for s in letters if isinstance(s, Parameter)))
        object.__setattr__(self, "inputs", tuple(s for s in letters if isinstance(s, Input)))
        known = {s.label for s in (*self.parameters, *self.inputs)}
        object.__setattr__(self, "values", _numbers(values, known, "parameter or input"))
        object.__setattr__(self, "start", _numbers(start, None, "state"))

    def __repr__(self) -> str:
        def count(items: Sequence[Any], one: str, many: str) -> str:
            return f"{len(items)} {one if len(items) == 1 else many}"

        words = [
            count(self.coordinates, "coordinate", "coordinates"),
            count(self.bodies, "body", "bodies"),
            count(self.forces, "force", "forces"),
            count(self.rows, "constraint row", "constraint rows"),
        ]
        if self.states:
            words.append(count(tuple(self.states), "extra state", "extra states"))
        if self.inputs:
            words.append("inputs " + " ".join(w.name for w in self.inputs))
        words.append("parameters " + " ".join(p.name for p in self.parameters) if self.parameters else "no parameters")
        return f"Model {self.name!r}: " + ", ".join(words)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The scalar rows of all constraints on positions, velocities and accelerations."""
        return tuple(row for constraint in self.constraints for row in constraint.rows if row.order <= 2)

    @property
    def programme(self) -> tuple[Row, ...]:
        """The rows of order 3 and more: programmes whose multipliers are states."""
        return tuple(row for constraint in self.constraints for row in constraint.rows if row.order > 2)

    @property
    def programmed(self) -> tuple[Row, ...]:
        """All rows that drives enforce, of any order."""
        return tuple(row for constraint in self.constraints for row in constraint.rows if row.programmed)

    @property
    def degrees_of_freedom(self) -> int:
        """Coordinates minus constraint rows, if the rows are independent."""
        return len(self.coordinates) - len(self.rows) - len(self.programme)

    def add(
        self,
        *parts: AbstractConstraint | AbstractForce | Body,
        coordinates: Iterable[Coordinate] = (),
        states: Mapping[ExtraState, Any] | None = None,
    ) -> Model:
        """The same model with more in it.

        Args:
            parts: Constraints, forces and bodies.
            coordinates: More coordinates, behind those there are.
            states: More extra states and their rates.
        """
        bodies = tuple(p for p in parts if isinstance(p, Particle | RigidBody))
        constraints = tuple(p for p in parts if isinstance(p, AbstractConstraint))
        forces = tuple(p for p in parts if not isinstance(p, Particle | RigidBody | AbstractConstraint))
        mine = tuple(c for c in self.constraints if not isinstance(c, QuaternionNorm))
        mine_too = programme_states(self.programme, self.coordinates)
        return Model(
            self.ground,
            (*self.coordinates, *coordinates),
            (*self.bodies, *bodies),
            (*self.forces, *forces),
            (*mine, *constraints),
            {**{z: e for z, e in self.states.items() if z not in mine_too}, **(states or {})},
            self.name,
            self.description,
            self.values,
            self.start,
            self.until,
            self.look,
        )

    def with_parameters(self, *letters: Parameter) -> Model:
        """The same model with further parameters, for laws of inputs that contain them: gains, amplitudes.

        Args:
            letters: Parameters that no formula of the model contains.
        """
        taken = {s.name for s in (*self.coordinates, *self.states, *self.parameters, *self.inputs)}
        for letter in letters:
            if not isinstance(letter, Parameter):
                raise ModelError(f"{letter!r} is not a parameter; make it by appell.parameters({str(letter)!r}).")
            if letter.name in taken:
                raise ModelError(f"The name {letter.name!r} is used for two different things; rename one of them.")
        twin = copy(self)
        object.__setattr__(twin, "parameters", (*self.parameters, *letters))
        return twin

    def draw(
        self,
        path: Any = None,
        *,
        values: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
        look: Look | None = None,
    ) -> Any:
        """The model as it stands at its start. Arguments as for `draw`."""
        from appell.view.scene import draw

        return draw(self, path, values=values, start=start, look=look)

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import model_html

        return model_html(self)

    def _check_kinds(self) -> None:
        if not isinstance(self.ground, Frame) or self.ground.rotation is not None:
            raise ModelError(f"A model begins with its inertial frame, appell.Frame('ground'); got {self.ground!r}.")
        if not self.coordinates:
            raise ModelError('A model needs at least one coordinate: coordinates=appell.coordinates("x y").')
        for q in self.coordinates:
            if not isinstance(q, Coordinate):
                raise ModelError(f"{q!r} is not a coordinate; make it by appell.coordinates({str(q)!r}).")
        for things, kinds, word in (
            (self.bodies, (Particle, RigidBody), "body"),
            (self.forces, (AbstractForce,), "force"),
            (self.constraints, (AbstractConstraint,), "constraint"),
        ):
            for thing in things:
                if not isinstance(thing, kinds):
                    raise ModelError(f"{thing!r} is not a {word}; it is a {type(thing).__name__}.")
        for z in self.states:
            if not isinstance(z, ExtraState):
                raise ModelError(f"{z!r} is not an extra state; make it by appell.states({str(z)!r}).")
        names = [q.name for q in (*self.coordinates, *self.states)]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"The name {name!r} stands twice among coordinates and extra states.")
        bodies = [b.name for b in self.bodies]
        for name in bodies:
            if bodies.count(name) > 1:
                raise ModelError(f"Two bodies are called {name!r}; give each its own name.")
        if not self.bodies:
            raise ModelError("A model needs at least one body; add an appell.Particle or appell.RigidBody.")
        for row in self.programmed:
            if row.drive is not None and row.drive not in self.coordinates:
                raise ModelError(f"The drive {row.drive} of the programme {row.name!r} is no coordinate of the model.")

    def _check_rows(self) -> None:
        """Something must be left to move; with constraints on positions that shows on the constraints only."""
        rows, n = (*self.rows, *self.programme), len(self.coordinates) + bool(self.programmed)
        if len(rows) < n or any(row.order == 0 for row in rows):
            return
        from appell.model.redundancy import ranks

        plain = [row.expression for row in rows if row.order == 1 and not row.programmed]
        independent = len(rows) - len(plain) + ranks(plain)[0] if plain else len(rows)
        if independent >= n:
            raise ModelError(
                f"{len(rows)} velocity constraints on {len(self.coordinates)} coordinates leave nothing that can move: "
                + ", ".join(row.name for row in rows)
            )

    def formulas(self) -> Iterator[tuple[str, sp.Expr]]:
        """Every formula of the model, with words that say where it stands."""
        seen: set[Frame] = set()
        for things, what in ((self.bodies, "the body"), (self.forces, "the force")):
            for thing in things:
                for part in thing.content():
                    self._check_ground(part, f"{what} {thing.name!r}")
                    yield from _formulas(f"{what} {thing.name!r}", part, seen)
        for row in (*self.rows, *self.programme):
            yield f"the constraint {row.name!r}", row.expression
            yield from ((f"near= of the constraint {row.name!r}", formula) for formula in row.near.values())
        own = programme_states(self.programme, self.coordinates)
        for z, rate in self.states.items():
            if z not in own:
                yield f"the rate of {z.name!r}", rate

    def _check_ground(self, part: Content, place: str) -> None:
        """All frames must hang from the ground of the model."""
        frames = part.parts if isinstance(part, Vector) else [part] if isinstance(part, Frame) else []
        for frame in frames:
            if frame.path[0] is not self.ground:
                raise FrameError(
                    f"In {place}: {frame!r} and the model hang from two different grounds ({frame.path[0]!r}, "
                    f"{self.ground!r}); make all frames from one appell.Frame()."
                )

    def _check_letters(self) -> list[Letter]:
        """Every letter must be declared; returns parameters and inputs in their order."""
        declared: set[Any] = {*self.coordinates, *self.states}
        found: dict[tuple[str, str], Letter] = {}
        within, elsewhere = set(), set()  # rates of second order are allowed in constraints only
        for place, formula in self.formulas():
            parts = list(nodes(formula, within if place.startswith("the constraint") else elsewhere))
            for symbol in (e for e in parts if isinstance(e, sp.Symbol)):
                self.check_letter(symbol, place, declared)
                if isinstance(symbol, Rate):
                    self._check_rate(symbol, place)
                if isinstance(symbol, Parameter | Input):
                    found.setdefault((symbol.name, symbol.kind), symbol)
            if any(isinstance(e, sp.Derivative | sp.core.function.AppliedUndef) for e in parts):
                raise UndeclaredError(
                    f"In {place}: {formula} contains a function or derivative that SymPy does not know in closed form; "
                    "write q.rate for velocities and give functions explicitly."
                )
            if not ENDLESS.isdisjoint(parts):
                raise ModelError(f"In {place}: the formula {formula} is not finite.")
        letters = in_order(found.values(), self.coordinates, self.forces)
        names = [s.name for s in (*self.coordinates, *self.states, *letters)]
        for name in names:
            if names.count(name) > 1:
                raise ModelError(f"The name {name!r} is used for two different things; rename one of them.")
        return letters

    def _check_rate(self, rate: Rate, place: str) -> None:
        """Accelerations stand only in constraints; rates of extra states are written out."""
        if rate.base in self.states:
            raise ModelError(
                f"In {place}: {rate} is the rate of an extra state; write {self.states[rate.base]} instead of it."
            )
        if rate.order > 1 and not place.startswith("the constraint"):
            raise ModelError(
                f"In {place}: {rate} is an acceleration; it may stand in a Nonholonomic constraint only. A force in "
                "proportion to an acceleration is mass: add it to a body, or measure it by an extra state."
            )

    def _check_flows(self) -> None:
        """The streams of a body must carry what its mass changes by."""
        for body in self.bodies:
            streams = [f for f in self.forces if isinstance(f, Stream) and f.body is body]
            rest = [s for s in streams if s.rate is None]
            if len(rest) > 1:
                raise ModelError(
                    f"Two streams of {body.name!r} have no rate ({', '.join(repr(s.name) for s in rest)}); "
                    "at most one may carry what the others leave."
                )
            if not streams or rest:
                continue
            change = time_derivative(body.mass).subs({z.rate: rate for z, rate in self.states.items()})
            carried = sum((s.rate for s in streams if s.rate is not None), sp.Integer(0))
            if not vanishing([change - carried])[0]:
                raise ModelError(
                    f"The streams of {body.name!r} carry {carried}, but its mass {body.mass} changes by {change}. "
                    "Make them equal, or leave out the rate of one stream, which then carries the rest."
                )
        for stream in self.forces:
            if isinstance(stream, Stream) and stream.body not in self.bodies:
                raise ModelError(
                    f"The stream {stream.name!r} belongs to {stream.body.name!r}, which is not among the bodies."
                )

    def _check_contacts(self) -> None:
        """Extra states in the centre of a body are its shape; those of a body without mass here would move it."""
        for rolling in (c for c in self.constraints if isinstance(c, Rolling)):
            for body in (rolling.body, rolling.on):
                if body is None or body in self.bodies:
                    continue
                moving = {s for part in body.center.parts.values() for e in part for s in letters_in(e)}
                for z in sorted((s for s in moving if isinstance(s, ExtraState)), key=lambda s: s.name):
                    raise ModelError(
                        f"In the constraint {rolling.name!r}: the place of {body.name!r}, which is not among the "
                        f"bodies, depends on the extra state {z}. If {z} moves it, make {z} a coordinate with a "
                        "Prescribed motion; if it only shifts its mass centre, add it to the bodies."
                    )

    def check_letter(self, symbol: Any, place: str, declared: set[Any] | None = None) -> None:
        """Raise if a symbol has no meaning in this model."""
        declared = {*self.coordinates, *self.states} if declared is None else declared
        if isinstance(symbol, Parameter | Input | Time) or symbol in declared:
            return
        if isinstance(symbol, Rate) and symbol.base in declared:
            return
        name = getattr(symbol, "name", str(symbol))
        names = [q.name for q in (*self.coordinates, *self.states)]
        if isinstance(symbol, Speed) or (isinstance(symbol, Rate) and isinstance(symbol.base, Speed)):
            hint = (
                "Speeds are defined in the formulation and cannot stand in a model; write coordinates and their rates."
            )
        elif isinstance(symbol, Evolving):
            hint = f"Add it to the {'states' if isinstance(symbol, ExtraState) else 'coordinates'} of the model."
        elif name == "t":
            hint = "Time is appell.t, not a symbol made by SymPy."
        elif name in names:
            hint = "A coordinate or state of that name was declared through appell; use that symbol."
        else:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            hint += f"Symbols are made by appell, for example {name} = appell.parameters({name!r})."
        raise UndeclaredError(f"In {place}: {name!r} is not declared. {hint}")


class QuaternionNorm(Holonomic):
    """The unit norm of a quaternion, added by the model itself."""


def _quaternion_norms(bodies: Iterable[Body]) -> list[QuaternionNorm]:
    found: dict[tuple[sp.Expr, ...], None] = {}
    for body in bodies:
        if isinstance(body, RigidBody):
            found.update(dict.fromkeys(body.frame.unit_quaternions))
    return [
        QuaternionNorm(sum(e**2 for e in quaternion) - 1, "norm of (" + ", ".join(map(str, quaternion)) + ")")
        for quaternion in found
    ]


def _named(things: tuple[Any, ...]) -> tuple[Any, ...]:
    """Things whose names are all different: a number is added to those that share one."""
    names = [getattr(thing, "name", None) for thing in things]
    counts: dict[Any, int] = {}
    result = []
    for thing, name in zip(things, names, strict=True):
        if name is None or names.count(name) == 1:
            result.append(thing)
            continue
        counts[name] = counts.get(name, 0) + 1
        result.append(_rename(thing, f"{name} {counts[name]}"))
    return tuple(result)


def _rename(thing: Any, name: str) -> Any:
    if isinstance(thing, AbstractConstraint):
        twin = object.__new__(type(thing))
        vars(twin).update(vars(thing))
        twin.name = name
        twin.rows = tuple(replace(row, name=name + row.name.removeprefix(thing.name)) for row in thing.rows)
        return twin
    if isinstance(thing, Potential | Generalized | Stream):
        twin = object.__new__(type(thing))
        for attribute, value in {**vars(thing), "name": name}.items():
            object.__setattr__(twin, attribute, value)
        return twin
    return replace(thing, name=name)


def _formulas(place: str, part: Content, seen: set[Frame]) -> Iterator[tuple[str, sp.Expr]]:
    """Formulas of a formula, a vector or a frame; each frame is visited once."""
    if isinstance(part, Vector):
        for frame, components in part.parts.items():
            yield from ((place, e) for e in components)
            yield from _formulas(place, frame, seen)
    elif isinstance(part, Frame):
        for turned in part.path[1:]:
            rotation = turned.rotation
            if turned in seen or rotation is None:
                continue
            seen.add(turned)
            for e in (*(rotation.axis or ()), rotation.angle, *(rotation.quaternion or ())):
                if e is not None:
                    yield f"the rotation of {turned.name!r}", e
    else:
        yield place, part


def _numbers(given: Mapping[Any, float] | None, known: set[str] | None, what: str) -> dict[str, float]:
    result: dict[str, float] = {}
    for name, value in (given or {}).items():
        label = key(name)
        if known is not None and label not in known:
            near = difflib.get_close_matches(label, sorted(known), 1)
            raise ModelError(
                f"{label!r} is no {what} of this model."
                + (f" Did you mean {near[0]!r}?" if near else f" It has: {', '.join(sorted(known)) or 'none'}.")
            )
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ModelError(f"The value of {label!r} must be a finite number, got {value!r}.")
        result[label] = number
    return result
