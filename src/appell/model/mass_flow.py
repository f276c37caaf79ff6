"""Mass that comes and goes: streams in and out of bodies, by Meshchersky's law.

A body of mass m(q, q', t, z) obeys m a = F + sum_k mu_k u_k, where mu_k is the rate at which stream k brings mass in
(negative: carries it away) and u_k the velocity of what comes or goes relative to the body where it does so.
The rates add up to dm/dt. A change of mass without any stream leaves with no velocity relative to the body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Body, Content, Particle, RigidBody
from appell.model.force import AbstractForce
from appell.model.frame import Vector
from appell.model.symbols import quoted
from appell.model.values import formula_of


@dataclass(frozen=True, eq=False, init=False)
class Stream(AbstractForce):
    """A stream of mass into or out of a body, and its thrust.

    Args:
        body: The body that gains or loses mass.
        velocity: Velocity of what comes or goes, relative to the body there.
        rate: Mass per second into the body; negative for what is ejected. Left out, the stream carries all of the
            body's dm/dt that other streams do not, also where the mass depends on velocities, so that its rate
            contains accelerations.
        at: The point of the body where it happens; the centre if left out.
        absolute: Whether `velocity` is the velocity against the ground instead.
        source: For flow inside a rigid body: the point it comes from (the tank). The moving liquid's Coriolis force,
            and with it jet damping, is then added, 2 rate omega x (at - source), acting half-way; and what it takes to
            make it faster, rate' (at - source), where the rate is given and changes smoothly. Inputs in the rate count
            as constant.
        name: Its name in the power balance.
    """

    body: Body
    velocity: Vector
    rate: sp.Expr | None
    at: Vector
    absolute: bool
    source: Vector | None
    name: str = "stream"

    def __init__(
        self,
        body: Body,
        velocity: Vector,
        rate: Any = None,
        at: Vector | None = None,
        absolute: bool = False,
        source: Vector | None = None,
        name: str = "stream",
    ) -> None:
        if not isinstance(body, Particle | RigidBody):
            raise ModelError(f"The stream {name!r} needs a Particle or RigidBody to flow from, got {body!r}.")
        if not isinstance(velocity, Vector):
            raise ModelError(
                f"The velocity of the stream {name!r} must be a vector such as -c*frame.x, got {quoted(velocity)}."
            )
        if isinstance(body, Particle) and (at is not None or source is not None):
            raise ModelError(f"The stream {name!r} leaves a particle; at= and source= are for rigid bodies.")
        for what, point in (("at", at), ("source", source)):
            if point is not None and not isinstance(point, Vector):
                raise ModelError(f"{what}= of the stream {name!r} is a point such as frame.point(a, b), got {point!r}.")
        vars(self).update(
            body=body,
            velocity=velocity,
            rate=None if rate is None else formula_of(rate, f"The rate of the stream {name!r}"),
            at=body.center if at is None else at,
            absolute=absolute,
            source=source,
            name=name,
        )

    def content(self) -> Iterator[Content]:
        """Its velocity, rate and points."""
        yield from (self.velocity, self.at)
        if self.rate is not None:
            yield self.rate
        if self.source is not None:
            yield self.source


def drained(rate: Any, amount: Any, empty: Any = 0) -> sp.Expr:
    """A rate that ends when the amount has run down: `rate` while amount > empty, then nothing.

    The end is located as an event during a run.

    Args:
        rate: What flows while there is something.
        amount: What is left.
        empty: The amount at which it ends.
    """
    given = {"rate": rate, "amount": amount, "empty amount": empty}
    flow, left, least = (formula_of(value, f"The {what} of what drains") for what, value in given.items())
    return sp.Piecewise((flow, sp.StrictGreaterThan(left, least)), (sp.Integer(0), True))
