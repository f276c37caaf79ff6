"""Arrows: forces that act, weights, couples, reactions of constraints; and streams of mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic, Rolling
from appell.model.force import Force, Gravity, Torque
from appell.model.frame import Frame, Vector
from appell.model.mass_flow import Stream
from appell.model.model import Model, QuaternionNorm
from appell.model.symbols import Coordinate, letters_in
from appell.view.anatomy import closing_points
from appell.view.outline import largest
from appell.view.rods import Rod
from appell.view.scene import Arrow
from appell.view.tracks import Tracks, Values

LOOKS = 200  # moments at which reactions are computed; between them they are interpolated


@dataclass(frozen=True, eq=False)
class Measured:
    """An arrow whose numbers come from elsewhere than a formula."""

    name: str
    at: int
    times: np.ndarray
    vectors: np.ndarray


def forces(model: Model, tracks: Tracks, hidden: set[str]) -> list[Arrow]:
    """Forces and couples of the model, thrusts and weights."""
    listed: list[Arrow] = []
    for force in model.forces:
        if force.name in hidden:
            continue
        if isinstance(force, Force):
            listed.append(Arrow(force.name, "force", tracks.point(force.point), tracks.vector(force.vector)))
        elif isinstance(force, Torque):
            at = _middle(model, force)
            listed.append(Arrow(force.name, "couple", tracks.point(at), tracks.vector(force.vector)))
        elif isinstance(force, Stream) and force.rate is not None and not force.absolute:
            thrust = force.velocity * force.rate
            listed.append(Arrow(f"thrust of {force.name}", "force", tracks.point(force.at), tracks.vector(thrust)))
        elif isinstance(force, Gravity):
            for body in model.bodies:
                if body.mass != 0 and body.name not in hidden:
                    weight = force.acceleration * body.mass
                    listed.append(
                        Arrow(f"weight of {body.name}", "weight", tracks.point(body.center), tracks.vector(weight))
                    )
    return listed


def _middle(model: Model, torque: Torque) -> Vector:
    """Where a couple is drawn: at the centre of the body it acts on."""
    if isinstance(torque.on, RigidBody):
        return torque.on.center
    frame: Frame = torque.on
    for body in model.bodies:
        if isinstance(body, RigidBody) and body.frame.axes is frame.axes:
            return body.center
    return frame.origin


def streams(model: Model, tracks: Tracks, hidden: set[str]) -> list[tuple[str, int, int, int, int]]:
    """Streams that leave: name, tracks of mouth, velocity against the ground, relative velocity, rate."""
    listed = []
    for force in model.forces:
        if not isinstance(force, Stream) or force.name in hidden or force.rate is None:
            continue
        body = force.body
        if isinstance(body, RigidBody):
            carried = body.velocity_at(force.at)
        else:
            carried = body.center.dt(model.ground, frozen=True)
        total = force.velocity if force.absolute else carried + force.velocity
        relative = force.velocity - carried if force.absolute else force.velocity
        listed.append(
            (force.name, tracks.point(force.at), tracks.vector(total), tracks.vector(relative),
             tracks.scalar(force.rate))
        )  # fmt: skip
    return listed


def reactions(motion: Any, tracks: Tracks, rods: Sequence[Rod]) -> list[Measured]:
    """Forces of the constraints on what they hold, where they have a place and a direction."""
    from appell.motion.reactions import multipliers

    system = motion.system
    model: Model = system.model
    first, last = motion.times[0], motion.times[-1]
    times = np.linspace(first, last, min(LOOKS, max(2, motion.times.size)))
    values, gradients = multipliers(motion, times)
    if not np.all(np.isfinite(values)):
        return []
    listed: list[Measured] = []
    start, pieces = 0, {row: [rod for rod in rods if rod.row is row] for row in model.rows}
    for constraint in model.constraints:
        rows = list(range(start, start + sum(row.order <= 2 for row in constraint.rows)))
        start += len(rows)
        if isinstance(constraint, QuaternionNorm) or not rows:
            continue
        if all(pieces[row] for row in constraint.rows):
            for k, row in zip(rows, constraint.rows, strict=True):
                pulls = _pulls(pieces[row], values[:, k, None] * gradients[:, k], tracks, motion, times)
                listed += [Measured(row.name, tracks.point(rod.ends[0]), times, pull)
                           for rod, pull in zip(pieces[row], pulls, strict=True)]  # fmt: skip
            continue
        made = _held(constraint, rows, values, model, motion, times)
        if made is None:
            generalized = np.einsum("tr,trc->tc", values[:, rows], gradients[:, rows])
            made = _at_center(generalized, model, motion, times) or _pushed(generalized, model)
        if made is not None:
            listed.append(Measured(constraint.name, tracks.point(made[0]), times, made[1]))
    return listed


def _pulls(rods: Sequence[Rod], generalized: np.ndarray, tracks: Tracks, motion: Any, times: np.ndarray) -> np.ndarray:
    """The forces of a rod, or of the n strands of each piece of a rope, on the first ends a, along a - b.

    Q = R d(sum n |a - b|)/dq with one R for all, in whatever way the row is written.
    """
    x, n = tracks.variables, generalized.shape[1]
    gaps = [tracks.resolved(a) - tracks.resolved(b) for a, b in (rod.ends for rod in rods)]
    shares = np.array([rod.share for rod in rods])
    length = sum(share * ca.norm_2(gap) for share, gap in zip(shares, gaps, strict=True))
    ways = ca.horzcat(*[gap / ca.norm_2(gap) for gap in gaps])
    function = ca.Function("rope", [x.t, x.q, x.p], [ca.vec(ways), ca.jacobian(length, x.q)])
    p, q = np.repeat(motion.system.p[:, None], times.size, axis=1), motion.states(times)[:, :n]
    found, slopes = (np.array(e) for e in function.map(times.size)(times[None, :], q.T, p))
    Q, slope = (_of_unit_quaternions(e, q, x.quaternions) for e in (generalized, slopes.reshape(-1, n)))
    pull = np.sum(Q * slope, axis=1) / np.sum(slope**2, axis=1)
    return found.T.reshape(-1, len(rods), 3).transpose(1, 0, 2) * (shares[:, None] * pull)[:, :, None]


def _of_unit_quaternions(slopes: np.ndarray, q: np.ndarray, quaternions: list[list[int]]) -> np.ndarray:
    """Slopes without those across the unit norm of quaternions, which are as a formula happens to be written."""
    slopes = slopes.copy()
    for own in quaternions:
        slopes[:, own] -= np.sum(slopes[:, own] * q[:, own], axis=1, keepdims=True) * q[:, own]
    return slopes


def _held(
    constraint: Any, rows: list[int], values: np.ndarray, model: Model, motion: Any, times: np.ndarray
) -> tuple[Vector, np.ndarray] | None:
    """Rolling contacts and closed loops: multipliers along known directions at a known point."""
    axes, sign = model.ground, 1
    if isinstance(constraint, Rolling):
        place, along, axes = constraint.contact, constraint.along, constraint.axes
    elif isinstance(constraint, Holonomic) and len(constraint.closures) == 1:
        sides = closing_points(model, constraint)
        if not sides:
            return None
        (place, sign), along = sides[0], None  # on the body whose point it is
    else:
        return None
    total = np.zeros((times.size, 3))
    for i, (k, row) in enumerate(zip(rows, constraint.rows, strict=True)):
        axis = row.name.rpartition(".")[2]
        if along is not None:
            direction = along[i]
        elif axis in ("x", "y", "z"):
            direction = getattr(axes, axis)
        else:
            return None
        ground = model.ground.components(direction)
        vector = np.stack([motion.evaluate(e, times) for e in ground], axis=1)
        total += values[:, k][:, None] * vector
    return place, sign * total


def _at_center(
    generalized: np.ndarray, model: Model, motion: Any, times: np.ndarray
) -> tuple[Vector, np.ndarray] | None:
    """The force R at the centre r of one body that is all a row does, Q = (dr/dq)^T R, in whatever coordinates."""
    acted = {q for q, column in zip(model.coordinates, generalized.T, strict=True) if np.any(column)}
    for body in model.bodies:
        if not any(isinstance(e, Coordinate) for part in body.center.parts.values() for e in part):
            continue  # placed by angles alone: what turns a joint would look like a force on what it carries
        place = model.ground.components(body.center)
        if not acted <= set().union(*map(letters_in, place)):
            continue
        slopes = [[motion.evaluate(sp.diff(e, q), times) for e in place] for q in model.coordinates]
        J = np.moveaxis(np.array(slopes), -1, 0)
        force = np.einsum("txq,tq->tx", np.linalg.pinv(J), generalized)
        left = np.einsum("tqx,tx->tq", J, force) - generalized
        if np.abs(left).max() <= 1e-9 * np.abs(generalized).max():
            return body.center, force
    return None


def _pushed(generalized: np.ndarray, model: Model) -> tuple[Vector, np.ndarray] | None:
    """Any other row: its generalized force along coordinates that are places of a body in the ground."""
    index = {q: i for i, q in enumerate(model.coordinates)}
    for body in model.bodies:
        part = body.center.parts.get(model.ground)
        if part is None or not any(isinstance(e, Coordinate) for e in part):
            continue
        force = np.zeros((generalized.shape[0], 3))
        for axis, e in enumerate(part):
            if isinstance(e, Coordinate):
                force[:, axis] = generalized[:, index[e]]
        if np.abs(force).max() > 0:
            own = body.center if isinstance(body, Particle) else Vector({model.ground: part})
            return own, force
    return None


def joined(values: Values, measured: list[Measured]) -> tuple[Values, list[Arrow]]:
    """Values with the measured arrows behind the others."""
    if not measured:
        return values, []
    rows, asked = [values.vectors], []
    for i, e in enumerate(measured):
        moved = np.stack([np.interp(values.times, e.times, e.vectors[:, k]) for k in range(3)], axis=1)
        rows.append(moved[None])
        asked.append(Arrow(f"reaction of {e.name}", "reaction", e.at, values.vectors.shape[0] + i))
    vectors = np.concatenate(rows)
    return Values(values.times, values.points, values.turns, vectors, values.scalars), asked


def drawn(asked: list[Arrow], values: Values) -> list[Arrow]:
    """Arrows with their lengths, without those that are zero throughout."""
    listed = []
    for arrow in asked:
        length = float(np.max(np.linalg.norm(values.vectors[arrow.vector], axis=1), initial=0.0))
        if np.isfinite(length) and length > 0:
            listed.append(replace(arrow, largest=length))
    top = largest(listed)
    return [a for a in listed if a.largest > 1e-9 * top[a.kind]]
