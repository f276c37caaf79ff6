"""What a model must satisfy: kinds, names, declared letters, numbers, streams that carry what a mass changes by."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from appell.errors import FrameError, ModelError, UndeclaredError
from appell.model.body import Content, Particle, RigidBody
from appell.model.constraint import AbstractConstraint, Rolling, sampled
from appell.model.force import AbstractForce, in_order
from appell.model.frame import Frame, Vector
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
    letters_in,
    nodes,
    quoted,
    time_derivative,
)
from appell.model.values import numbers, unknown

if TYPE_CHECKING:
    from appell.model.model import Model

SIZES = (1.0, 1.0, 1.0, 10.0, 1e2, 1e3, 1e4)  # of letters, at which formulas are compared
JUMPING = (sp.Piecewise, sp.Heaviside, sp.sign)  # a stream may carry what a mass loses at once
ENDLESS = frozenset({sp.nan, sp.oo, -sp.oo, sp.zoo})
UNKNOWN = (sp.Derivative, sp.core.function.AppliedUndef)
UNDONE = (sp.Integral, sp.Sum, sp.Product, sp.Limit, sp.Subs)
LETTERS = (Parameter, Input)  # what the model takes from its formulas


def check_kinds(model: Model) -> None:
    """Everything is of its kind and has a name of its own."""
    if not isinstance(model.ground, Frame) or model.ground.rotation is not None:
        raise ModelError(f"A model begins with its inertial frame, appell.Frame('ground'); got {model.ground!r}.")
    if not model.coordinates:
        raise ModelError('A model needs at least one coordinate: coordinates=appell.coordinates("x y").')
    for q in model.coordinates:
        if not isinstance(q, Coordinate):
            name = str(q.func if isinstance(q, sp.core.function.AppliedUndef) else q)  # SymPy's own x(t) is called x
            raise ModelError(f"{q!r} is not a coordinate; make it by appell.coordinates({name!r}).")
    for things, kinds, word, example in (
        (model.bodies, (Particle, RigidBody), "body", "appell.Particle(name, mass, center) or appell.RigidBody(...)"),
        (model.forces, (AbstractForce,), "force", "appell.Force(vector, at), appell.Torque(vector, on) or another one"),
        (model.constraints, (AbstractConstraint,), "constraint", "appell.Holonomic(formula) or another one"),
    ):
        for thing in things:
            if not isinstance(thing, kinds):
                raise ModelError(f"{thing!r} is not a {word} but a {type(thing).__name__}; write {example}.")
            if not isinstance(thing.name, str):
                raise ModelError(f"The name of a {word} is a text, got {quoted(thing.name)} in {quoted(thing)}.")
    for z in model.states:
        if not isinstance(z, ExtraState):
            raise ModelError(f"{z!r} is not an extra state; make it by appell.states({str(z)!r}).")
    rows = (row for constraint in model.constraints for row in constraint.rows)
    for things, words in (
        ((*model.coordinates, *model.states), "The name {!r} occurs twice among coordinates and extra states."),
        (model.bodies, "Two bodies are called {!r}; give each its own name."),
        (rows, "Two constraint rows are called {!r}; give one of their constraints another name."),
    ):
        _check_names(things, words)
    if not model.bodies:
        raise ModelError("A model needs at least one body; add an appell.Particle or appell.RigidBody.")
    for row in model.programmed:
        if row.drive is not None and row.drive not in model.coordinates:
            raise ModelError(f"The drive {row.drive} of the programme {row.name!r} is not a coordinate of the model.")


def _check_names(things: Iterable[Any], words: str) -> None:
    """Refuse two things of one name."""
    for name, count in Counter(thing.name for thing in things).items():
        if count > 1:
            raise ModelError(words.format(name))


def check_rows(model: Model) -> None:
    """Something must be left to move; with constraints on positions that shows on the constraints only."""
    rows, n = (*model.rows, *model.programme), len(model.coordinates) + model.driven
    if len(rows) < n or any(row.order == 0 for row in rows):
        return
    from appell.model.redundancy import ranks

    plain = [row.expression for row in rows if row.order == 1 and not row.programmed]
    independent = len(rows) - len(plain) + ranks(plain)[0] if plain else len(rows)
    if independent >= n:
        raise ModelError(
            f"{len(rows)} velocity constraints on {len(model.coordinates)} coordinates leave nothing that can move: "
            + ", ".join(row.name for row in rows)
        )


def check_ground(model: Model, part: Content, place: str) -> None:
    """All frames must hang from the ground of the model."""
    frames = part.parts if isinstance(part, Vector) else [part] if isinstance(part, Frame) else []
    for frame in frames:
        if frame.path[0] is not model.ground:
            raise FrameError(
                f"In {place}: {frame!r} and the model hang from two different grounds ({frame.path[0]!r}, "
                f"{model.ground!r}); make all frames from one appell.Frame()."
            )


def declared_letters(model: Model) -> list[Letter]:
    """Every letter must be declared; returns parameters and inputs in their order."""
    declared: set[Any] = {*model.coordinates, *model.states}
    found: dict[tuple[str, str], Letter] = {}
    within, elsewhere = set(), set()  # rates of second order are allowed in constraints only
    for place, formula in formulas(model):
        for part in nodes(formula, within if place.startswith("the constraint") else elsewhere):
            if isinstance(part, sp.Symbol):
                check_letter(model, part, place, declared)
                if isinstance(part, Rate):
                    check_rate(model, part, place)
                elif isinstance(part, LETTERS):
                    found.setdefault((part.name, part.kind), part)
            elif isinstance(part, UNKNOWN):
                raise UndeclaredError(
                    f"In {place}: SymPy knows {quoted(part)} by its name only. Make coordinates by "
                    "appell.coordinates('q'), write q.rate for velocities, and give functions as formulas."
                )
            elif isinstance(part, UNDONE):
                raise ModelError(
                    f"In {place}: SymPy has not worked out {quoted(part)}; write .doit(), which must leave a formula."
                )
            elif part in ENDLESS:
                raise ModelError(f"In {place}: the formula {quoted(formula)} is not finite.")
    letters = in_order(found.values(), model.coordinates, model.forces)
    every = (*model.coordinates, *model.states, *letters)
    _check_names(every, "The name {!r} is used for two different things; rename one of them.")
    return letters


def check_rate(model: Model, rate: Rate, place: str) -> None:
    """Accelerations stand only in constraints; rates of extra states are written out."""
    if rate.base in model.states:
        raise ModelError(
            f"In {place}: {rate} is the rate of an extra state; write {model.states[rate.base]} instead of it."
        )
    if rate.order > 1 and not place.startswith("the constraint"):
        raise ModelError(
            f"In {place}: {rate} is an acceleration; it may stand in a Nonholonomic constraint only. A force "
            "proportional to an acceleration is inertia: add it to a body, or let an extra state follow the "
            "acceleration."
        )


def check_flows(model: Model) -> None:
    """The streams of a body must carry what its mass changes by."""
    for body in model.bodies:
        streams = [f for f in model.forces if isinstance(f, Stream) and f.body is body]
        rest = [s for s in streams if s.rate is None]
        if len(rest) > 1:
            raise ModelError(
                f"Two streams of {body.name!r} have no rate ({', '.join(repr(s.name) for s in rest)}); "
                "at most one may carry what the others leave."
            )
        if not streams:
            continue
        change = time_derivative(body.mass).subs({z.rate: rate for z, rate in model.states.items()})
        carried = sum((s.rate for s in streams if s.rate is not None), sp.Integer(0))
        if rest and sp.expand(change - carried) == 0 and not body.mass.has(*JUMPING):
            raise ModelError(
                f"The stream {rest[0].name!r} of {body.name!r} has no rate and nothing is left for it to carry: the "
                f"mass {quoted(body.mass)} changes by {quoted(change)}. Give it a rate=, or a mass that changes."
            )
        if not rest and not _equal(change, carried):
            raise ModelError(
                f"The streams of {body.name!r} carry {quoted(carried)}, but its mass {quoted(body.mass)} changes by "
                f"{quoted(change)}. "
                "Make them equal, or leave out the rate of one stream, which then carries the rest."
            )
    for stream in model.forces:
        if isinstance(stream, Stream) and stream.body not in model.bodies:
            raise ModelError(
                f"The stream {stream.name!r} belongs to {stream.body.name!r}, which is not among the bodies."
            )


def _equal(a: sp.Expr, b: sp.Expr) -> bool:
    """Whether two formulas are the same, also where a tank holds much: a condition may hide them from small letters."""
    values = sampled([a, b], SIZES)
    known = values[np.all(np.isfinite(values), axis=1)]
    return bool(np.all(np.abs(known[:, 0] - known[:, 1]) <= 1e-12 + 1e-9 * np.abs(known).max(axis=1, initial=0.0)))


def check_contacts(model: Model) -> None:
    """Extra states in the centre of a body are its shape; those of a body without mass here would move it."""
    for rolling in (c for c in model.constraints if isinstance(c, Rolling)):
        for body in (rolling.body, rolling.on):
            if body is None or body in model.bodies:
                continue
            moving = {s for part in body.center.parts.values() for e in part for s in letters_in(e)}
            for z in sorted((s for s in moving if isinstance(s, ExtraState)), key=lambda s: s.name):
                raise ModelError(
                    f"In the constraint {rolling.name!r}: the place of {body.name!r}, which is not among the "
                    f"bodies, depends on the extra state {z}. If {z} moves it, make {z} a coordinate with a "
                    "Prescribed motion; if it only shifts its mass centre, add it to the bodies."
                )


def check_letter(model: Model, symbol: Any, place: str, declared: set[Any] | None = None) -> None:
    """Raise if a symbol has no meaning in this model."""
    declared = {*model.coordinates, *model.states} if declared is None else declared
    if isinstance(symbol, (*LETTERS, Time)) or symbol in declared:
        return
    if isinstance(symbol, Rate) and symbol.base in declared:
        return
    name = getattr(symbol, "name", str(symbol))
    names = [q.name for q in (*model.coordinates, *model.states)]
    if isinstance(symbol, Speed) or (isinstance(symbol, Rate) and isinstance(symbol.base, Speed)):
        hint = "Speeds are defined in the formulation and cannot stand in a model; write coordinates and their rates."
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


def numbers_of(model: Model, values: Mapping[Any, Any] | None) -> dict[str, float]:
    """Numbers of parameters and inputs by their labels; refused for a name that is neither."""
    known, given = {s.label for s in (*model.parameters, *model.inputs)}, numbers(values)
    for label in given:
        if label not in known:
            raise ModelError(unknown(label, sorted(known), f"parameter or input of {model.name!r}"))
    return given


def formulas(model: Model) -> Iterator[tuple[str, sp.Expr]]:
    """Every formula of the model, with words that say where it stands."""
    seen: set[Frame] = set()
    for things, what in ((model.bodies, "the body"), (model.forces, "the force")):
        for thing in things:
            for part in thing.content():
                check_ground(model, part, f"{what} {thing.name!r}")
                yield from _formulas(f"{what} {thing.name!r}", part, seen)
    for row in (*model.rows, *model.programme):
        yield f"the constraint {row.name!r}", row.expression
        yield from ((f"near= of the constraint {row.name!r}", formula) for formula in row.near.values())
    own = programme_states(model.programme, model.coordinates)
    for z, rate in model.states.items():
        if z not in own:
            yield f"the rate of {z.name!r}", rate


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
