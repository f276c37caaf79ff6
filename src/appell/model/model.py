"""The model: everything the user says about a mechanical system, checked when it is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Body, Particle, RigidBody
from appell.model.constraint import AbstractConstraint, Holonomic, Rolling, Row, vanishing
from appell.model.force import AbstractForce
from appell.model.frame import Frame, Vector
from appell.model.look import Look
from appell.model.programme import programme_states
from appell.model.rules import check_contacts, check_flows, check_kinds, check_rows, declared_letters
from appell.model.symbols import Coordinate, ExtraState, Input, Letter, Parameter, as_declared, listed, quoted
from appell.model.values import by_name, check_kind, formula_of, number, numbers, unknown


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Model:
    """A mechanical system.

    Args:
        ground: The inertial frame.
        coordinates: The coordinates q, in the order of the state. Inputs that drive them (`Generalized`) come in the
            same order, before other inputs; these and the parameters are sorted by name.
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
    spare_values: Mapping[str, float]
    """Suggested numbers of letters that the model does not contain yet: those of a chain's tool."""

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
        if look is not None:
            check_kind(look, Look, "look= an appell.view.Look(...)")
        if not number("until", until) > 0:
            raise ModelError(f"A model suggests a length of run above zero, until=10.0; got {until!r}.")
        letters = tuple(coordinates) if isinstance(coordinates, Iterable) else (coordinates,)
        bodies, forces = _listed(bodies, "bodies"), _named(_listed(forces, "forces"))
        given = [c for c in _listed(constraints, "constraints") if not isinstance(c, QuaternionNorm)]
        constraints = _named((*given, *_quaternion_norms(_frames(bodies, forces, given))))
        own = _rates(states)
        theirs = programme_states((r for c in constraints for r in getattr(c, "rows", ()) if r.order > 2), letters)
        if taken := [z for z in theirs if z in own]:
            raise ModelError(
                f"The state {taken[0]} has the name of a multiplier ({taken[0].description}); give the state or the "
                "programme another name."
            )
        vars(self).update(
            ground=ground,
            coordinates=letters,
            bodies=bodies,
            forces=forces,
            constraints=constraints,
            states={**own, **theirs},
            name=name,
            description=description,
            until=number("until", until),
            look=look,
            spare_values={},
        )
        check_kinds(self)
        if any(isinstance(c, Rolling) for c in constraints):
            from appell.model.redundancy import in_regular_axes

            vars(self).update(constraints=in_regular_axes(constraints))
        check_rows(self)
        suggested = by_name(values, "Values", "{name: 1.0}")
        found = _told(declared_letters(self), (s for s in suggested if isinstance(s, Letter)))
        check_flows(self)
        check_contacts(self)
        vars(self).update(
            parameters=tuple(s for s in found if isinstance(s, Parameter)),
            inputs=tuple(s for s in found if isinstance(s, Input)),
            values=numbers(suggested),
            start=numbers(start),
        )
        known = sorted(s.label for s in (*self.parameters, *self.inputs))
        for label in self.values:
            if label not in known:
                raise ModelError(
                    unknown(label, known, "parameter or input of this model")
                    + " Parameters that occur only in events and laws are added by model.with_parameters(...)."
                )

    def __repr__(self) -> str:
        return f"Model {self.name!r}: {counted(self.coordinates, 'coordinate')}, {self.content}"

    @property
    def content(self) -> str:
        """What it has besides coordinates, in words."""
        words = [
            counted(self.bodies, "body", "bodies"),
            counted(self.forces, "force"),
            counted(self.rows, "constraint row"),
        ]
        if self.states:
            words.append(counted(tuple(self.states), "extra state"))
        if self.inputs:
            words.append("inputs " + " ".join(w.name for w in self.inputs))
        words.append("parameters " + " ".join(p.name for p in self.parameters) if self.parameters else "no parameters")
        return ", ".join(words)

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
    def driven(self) -> bool:
        """Whether constraints make it move; it may then have no freedom left."""
        return any(row.drives for constraint in self.constraints for row in constraint.rows)

    @property
    def degrees_of_freedom(self) -> int:
        """Coordinates minus independent constraint rows; those that follow from others are found from numbers."""
        if not self.rows:
            return len(self.coordinates) - len(self.programme)
        from appell.kinematics.mechanics import Mechanics
        from appell.kinematics.typical import sample_split

        return len(self.coordinates) - len(sample_split(Mechanics(self)).rows) - len(self.programme)

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
        for part in parts:
            kinds = (Particle, RigidBody, AbstractConstraint, AbstractForce)
            check_kind(part, kinds, "constraints, forces and bodies one by one, model.add(gravity, spring)")
        bodies = tuple(p for p in parts if isinstance(p, Particle | RigidBody))
        constraints = tuple(p for p in parts if isinstance(p, AbstractConstraint))
        forces = tuple(p for p in parts if isinstance(p, AbstractForce))
        more = _rates(states)
        self.check_new(more)
        return self.rebuilt(
            coordinates=(*self.coordinates, *listed(coordinates)),
            bodies=(*self.bodies, *bodies),
            forces=(*self.forces, *forces),
            constraints=(*self.constraints, *constraints),
            states={**self.states, **more},
        )

    def frozen(self, *states: Any) -> Model:
        """The model at a moment of its flow: extra states such as the contents of tanks keep the values they have.

        Streams go on pushing as they do at that moment. Where a tank drains slowly, this is what can be held in
        equilibrium and linearised on the way; `control.schedule` joins what was found for several contents.

        Args:
            states: The extra states, by letter or name.
        """
        from appell.model.frozen import frozen

        return frozen(self, states)

    def rebuilt(
        self,
        *,
        coordinates: Iterable[Coordinate] | None = None,
        bodies: Iterable[Body] | None = None,
        forces: Iterable[AbstractForce] | None = None,
        constraints: Iterable[AbstractConstraint] | None = None,
        states: Mapping[ExtraState, Any] | None = None,
        values: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
    ) -> Model:
        """The same model with some parts exchanged; what models add by themselves is added anew.

        Args:
            coordinates: The coordinates.
            bodies: The bodies.
            forces: The forces.
            constraints: The constraints.
            states: The extra states and their rates.
            values: Suggested numbers; those of letters that no longer occur are left out.
            start: The suggested start.
        """
        theirs = programme_states(self.programme, self.coordinates)
        rates = self.states if states is None else states
        twin = Model(
            self.ground,
            self.coordinates if coordinates is None else coordinates,
            self.bodies if bodies is None else bodies,
            self.forces if forces is None else forces,
            self.constraints if constraints is None else constraints,
            {z: rate for z, rate in rates.items() if z not in theirs},
            name=self.name,
            description=self.description,
            start=self.start if start is None else start,
            until=self.until,
            look=self.look,
        )
        told = (*self.parameters, *self.inputs)
        vars(twin).update(parameters=_told(twin.parameters, told), inputs=_told(twin.inputs, told))
        written, there = declared_letters(self), {s.name for s in twin.parameters}
        drawn = frozenset() if self.look is None else self.look.letters
        elsewhere = [s for s in self.parameters if (s not in written or s in drawn) and s.name not in there]
        twin = twin.with_parameters(*elsewhere)  # of laws, and of the drawing
        suggested = numbers({**self.spare_values, **(self.values if values is None else values)})
        known = {s.label for s in (*twin.parameters, *twin.inputs)}
        vars(twin).update(values={name: value for name, value in suggested.items() if name in known})
        return twin

    def check_new(self, states: Mapping[ExtraState, Any]) -> None:
        """Raise if an extra state to be added is there already, with another rate.

        Args:
            states: Extra states and their rates.
        """
        for z, rate in states.items():
            if z in self.states and sp.sympify(self.states[z]) != sp.sympify(rate):
                raise ModelError(
                    f"{z} is an extra state of {self.name!r} already, with the rate {quoted(self.states[z])}; "
                    "rename one of them."
                )

    def with_parameters(self, *letters: Parameter) -> Model:
        """The same model with further parameters, for laws of inputs that contain them: gains, amplitudes.

        Args:
            letters: Parameters that no formula of the model contains; those that it has already stay as they are. A
                chain has numbers for those of its tool.
        """
        taken = {s.name: s for s in (*self.coordinates, *self.states, *self.parameters, *self.inputs)}
        for letter in letters:
            if isinstance(letter, Mapping):
                raise ModelError(
                    "with_parameters takes letters, not values: model.with_parameters(H), and the number as usual by "
                    "system.bind({H: 1.0})."
                )
            if not isinstance(letter, Parameter):
                raise ModelError(f"{letter!r} is not a parameter; make it by appell.parameters({str(letter)!r}).")
            if taken.setdefault(letter.name, letter) != letter:
                raise ModelError(f"The name {letter.name!r} is used for two different things; rename one of them.")
        twin, spare = copy(self), self.spare_values
        told = {s.label: spare[s.label] for s in letters if s.label in spare}
        parameters = tuple(dict.fromkeys((*self.parameters, *letters)))
        vars(twin).update(parameters=parameters, values={**self.values, **told})
        return twin

    def draw(
        self,
        path: Any = None,
        *,
        values: Mapping[Any, float] | None = None,
        start: Mapping[Any, float] | None = None,
        look: Look | None = None,
    ) -> Any:
        """A drawing of the model as it stands at its start: a scene, with `save` and `show`.

        Args:
            path: A file to write: .html, .png, .svg, .pdf.
            values: Numbers of parameters; the model's suggestions where left out.
            start: Where it stands, by names of coordinates; the model's suggestion, else zero, where left out.
            look: Hints for drawing, an `appell.view.Look`; those of the model if left out.

        Example:
            >>> import appell as ap
            >>> ap.library.rolling_disk().draw()
            Scene of 'rolling disk': 1 body, at rest; scene.save('scene.html'), scene.show()
        """
        from appell.view.stage import scene_of_model

        scene = scene_of_model(self, values, start, look)
        if path is not None:
            scene.save(path)
        return scene

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import model_html

        return model_html(self)


def counted(things: Sequence[Any], one: str, many: str = "") -> str:
    """How many things there are, in words; several are called `many`, or get an s."""
    return f"{len(things)} {one if len(things) == 1 else many or one + 's'}"


class QuaternionNorm(Holonomic):
    """The unit norm of a quaternion, added by the model itself.

    Args:
        quaternion: Its components.
    """

    def __init__(self, quaternion: Sequence[sp.Expr]) -> None:
        self.quaternion = tuple(quaternion)
        norm = sum((e**2 for e in quaternion), sp.Integer(-1))
        super().__init__(norm, "norm of (" + ", ".join(map(str, quaternion)) + ")")


def _frames(bodies: Iterable[Any], forces: Iterable[Any], constraints: Iterable[Any]) -> Iterator[Frame]:
    """The frames that what makes a model is written in; what does not belong there is refused later."""
    made = (thing for thing in (*bodies, *forces) if isinstance(thing, Body | AbstractForce))
    parts = [part for thing in made for part in thing.content()]
    for constraint in constraints:
        if isinstance(constraint, Holonomic):
            parts += constraint.closures
        elif isinstance(constraint, Rolling):
            bodies = (constraint.body, constraint.on)
            parts += (constraint.contact, *(constraint.along or ()), *(b.frame for b in bodies if b is not None))
    for part in parts:
        yield from part.parts if isinstance(part, Vector) else (part,) if isinstance(part, Frame) else ()


def _quaternion_norms(frames: Iterable[Frame]) -> list[QuaternionNorm]:
    """The norms of all quaternions but those that have length one by themselves, as (cos a, sin a, 0, 0)."""
    found = dict.fromkeys(quaternion for frame in frames for quaternion in frame.unit_quaternions)
    return [
        QuaternionNorm(quaternion)
        for quaternion in found
        if all(isinstance(e, Coordinate) for e in quaternion)
        or not vanishing([sum((e**2 for e in quaternion), sp.Integer(-1))])[0]
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
    twin = copy(thing)
    vars(twin).update(name=name)
    if isinstance(twin, AbstractConstraint):
        twin.rows = tuple(replace(row, name=name + row.name.removeprefix(thing.name)) for row in thing.rows)
    return twin


def _told(found: Iterable[Any], by: Iterable[Letter]) -> tuple[Any, ...]:
    """Letters with the unit and the words that others give them, or those last declared.

    A formula may have them from another model: SymPy remembers formulas, and two letters of a kind and name are equal.
    """
    words = {s: s for s in by}
    return tuple(words[s] if s in words else as_declared(s) for s in found)


def _rates(states: Mapping[ExtraState, Any] | None) -> dict[ExtraState, sp.Expr]:
    """Extra states and their rates."""
    if states is not None and not isinstance(states, Mapping):
        raise ModelError(f"Extra states are given with their rates, states={{tank: -flow}}; got {quoted(states)}.")
    return {z: formula_of(e, f"The rate of {z}") for z, e in (states or {}).items()}


def _listed(given: Any, what: str) -> tuple[Any, ...]:
    if isinstance(given, Iterable):
        return tuple(given)
    raise ModelError(f"The {what} of a model are a list; write {what}=[...] around the {type(given).__name__}.")
