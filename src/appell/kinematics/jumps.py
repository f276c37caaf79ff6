"""What may jump along a motion and must not: no finite rate follows it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import casadi as ca

from appell.graph.kinks import has_jumps
from appell.graph.sparse import dense
from appell.kinematics.programme import continued
from appell.model.body import RigidBody
from appell.model.force import Damper
from appell.model.mass_flow import Stream

if TYPE_CHECKING:
    from appell.kinematics.mechanics import Mechanics


def may_jump(expression: ca.SX) -> bool:
    """Whether a formula has jumps somewhere."""
    return has_jumps(ca.Function("place", [], [expression], {"allow_free": True}))


def must_not_jump(mechanics: Mechanics) -> Iterator[tuple[str, ca.SX]]:
    """Position rows, what programmes demand only in derivatives, bodies, lengths of dampers, masses in streams."""
    rows = mechanics.model.rows
    for k, i in enumerate(mechanics.position_rows):
        yield f"the constraint {rows[i].name!r}", mechanics.c[k]
    yield from _undemanded(mechanics)
    if mechanics.model.programme:
        yield from continued(mechanics)
    if may_jump(mechanics.geometry.formulas):
        yield from _places(mechanics)
    yield from _forces(mechanics)


def _undemanded(mechanics: Mechanics) -> Iterator[tuple[str, ca.SX]]:
    """Formulas that raised rows demand only in their derivatives, up to q'."""
    for row in mechanics.model.programmed:
        levels = range(min(row.raised, 2 - row.own_order))
        f = mechanics.variables.lower(row.expression) if levels else ca.SX(0)
        for k in levels:
            f = mechanics.derivative(f) if k else f
            yield f"the {k * 'rate of the '}programme {row.name!r}", f


def _places(mechanics: Mechanics) -> Iterator[tuple[str, ca.SX]]:
    """Where bodies are."""
    geometry, ground = mechanics.geometry, mechanics.model.ground
    for body in mechanics.model.bodies:
        yield f"the center of {body.name!r}", dense(geometry.resolve(body.center, ground))
        if isinstance(body, RigidBody):
            turn = geometry.turn(ground, body.frame.axes)
            yield f"the frame of {body.name!r}", ca.vertcat(*[dense(row) for row in turn.values()])


def _forces(mechanics: Mechanics) -> Iterator[tuple[str, ca.SX]]:
    """What forces take the rate of."""
    geometry = mechanics.geometry
    for force in mechanics.model.forces:
        if isinstance(force, Damper):
            gap = force.b - force.a
            yield f"the length of {force.name!r}", dense(geometry.resolve(gap, geometry.home(gap)))
        if isinstance(force, Stream) and force.rate is None and (force.absolute or force.velocity.parts):
            name = f"the mass of {force.body.name!r}, which {force.name!r} carries at a velocity of its own,"
            yield name, mechanics.variables.lower(force.body.mass)
