"""A model at a moment of its flow: tanks keep what they hold, and streams push as they do while they drain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Body, Particle, RigidBody
from appell.model.force import AbstractForce, Force
from appell.model.mass_flow import Stream
from appell.model.symbols import Coordinate, ExtraState, Rate, letters_in, t, time_derivative
from appell.model.values import chosen

if TYPE_CHECKING:
    from appell.model.model import Model


def frozen(model: Model, names: Iterable[Any]) -> Model:
    """The same model with some extra states held; a stream of a body that then keeps its mass is a force.

    Args:
        model: The model.
        names: The extra states.
    """
    held = chosen(names, [z.label for z in model.states], f"extra state of {model.name!r}")
    states = {z: sp.Integer(0) if z.label in held else rate for z, rate in model.states.items()}
    kept = {body for body in model.bodies if not _changes(body, states)}
    forces: list[AbstractForce] = []
    for force in model.forces:
        if not isinstance(force, Stream):
            forces.append(force)
        elif force.body in kept:
            forces += _pushes(force, model, states)
        elif any(z.label in held for z in letters_in(force.body.mass) if isinstance(z, ExtraState)):
            raise ModelError(
                f"The mass {force.body.mass} of {force.body.name!r} still changes while {', '.join(held)} "
                f"{'is' if len(held) == 1 else 'are'} held; hold every state that it depends on."
            )
        else:
            forces.append(force)
    return model.rebuilt(forces=forces, states=states)


def _changes(body: Body, states: dict[ExtraState, Any]) -> bool:
    """Whether a mass depends on anything that moves."""
    letters = letters_in(body.mass)
    return t in letters or any(isinstance(s, Coordinate | Rate) or (s in states and states[s] != 0) for s in letters)


def _pushes(stream: Stream, model: Model, states: dict[ExtraState, Any]) -> Iterator[Force]:
    """What a stream does to its body, as forces."""
    body, rate = stream.body, stream.rate
    if rate is None:
        others = (f for f in model.forces if isinstance(f, Stream) and f.body is body and f is not stream)
        rate = time_derivative(body.mass).xreplace({z.rate: sp.sympify(e) for z, e in model.states.items()})
        rate = rate - sum((f.rate for f in others), sp.Integer(0))
    at = stream.at
    here = body.center.dt(model.ground, frozen=True) if isinstance(body, Particle) else body.velocity_at(at)
    relative = stream.velocity - here if stream.absolute else stream.velocity
    carrier = body if isinstance(body, RigidBody) else None
    yield Force(rate * relative, at, carrier, stream.name)
    if stream.source is not None and isinstance(body, RigidBody):
        path = at - stream.source
        faster = time_derivative(rate).xreplace({z.rate: sp.sympify(e) for z, e in states.items()})
        push = 2 * rate * body.angular_velocity.cross(path) + faster * path
        yield Force(push, stream.source + path / 2, carrier, f"{stream.name} in its pipe")
