"""Attitudes that move nothing else: speeds in which they do not show.

The attitude of a homogeneous ball may be ignored, although neither angles nor components of a quaternion are cyclic by
themselves: rates of them mean something else in every attitude. In components of the angular velocity (Euler,
Poincare) the attitude is left in its own kinematic equations alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.system import compile
from appell.formulation.gibbs_appell import GibbsAppell
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split, pivots
from appell.kinematics.turning import angular_speeds, component_speeds
from appell.model.body import RigidBody
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import Coordinate, Rate, Speed, letters_in

if TYPE_CHECKING:
    from appell.analysis.equilibrium import Equilibrium

DEPENDENT = 1e-6  # share of a speed that others leave, below which it is one too many


def attitudes(model: Model) -> list[tuple[str, ...]]:
    """Coordinates that are the whole attitude of a frame: a quaternion, or angles of turns about crossing axes."""
    found: dict[tuple[str, ...], None] = {}
    for body in model.bodies:
        angles: list[Frame] = []
        for frame in body.frame.path if isinstance(body, RigidBody) else ():
            if frame.rotation is not None and frame.rotation.quaternion is not None:
                found[_letters(frame)] = None
            angles = [*angles, frame] if len(_letters(frame)) == 1 else []
            axes = sp.Matrix([frame.rotation.axis for frame in angles[-3:] if frame.rotation is not None])
            if len(angles) > 2 and axes.rank() > 1:
                found[tuple(name for frame in angles[-3:] for name in _letters(frame))] = None
    return list(found)


def in_angular_velocities(at: Equilibrium, split: Split, attitude: set[str]) -> Iterator[Equilibrium]:
    """The same point of the same system, with angular velocities for the rates of an attitude.

    First with components along the axes that the attitude is against (those of the plate, for a ball that rolls on
    it), then along the axes that turn (those of a satellite).

    Args:
        at: The point.
        split: Independent rows.
        attitude: Names of coordinates.
    """
    model, own = at.model, at.system.equations
    chains = _chains(model, attitude)
    turning = {name for base, frame in chains for f in frame.path[len(base.path) :] for name in _letters(f)} & attitude
    rates: dict[Speed | Rate, sp.Expr] = {q.rate: q.rate for q in model.coordinates if q.label not in turning}
    for fixed in (True, False) if chains else ():
        turns: dict[Speed | Rate, sp.Expr] = {}
        for (base, frame), name in chains.items():
            turns |= angular_speeds(model, name, frame, base, base if fixed else frame, turns)
        speeds = _independent(own.mechanics, at, split, [rates, turns])
        if speeds is None:
            return
        yield _in_speeds(at, split, speeds)


def in_velocities_of_a_body(at: Equilibrium, split: Split, aside: set[str]) -> Iterator[Equilibrium]:
    """The same point of the same system, with the velocity of a body along its own axes: a car's speed ahead.

    Args:
        at: The point.
        split: Independent rows.
        aside: Names of coordinates, such as the place and the heading of the car.
    """
    model = at.model
    rates = [{q.rate: q.rate for q in model.coordinates if (q.label in aside) is gone} for gone in (False, True)]
    for body in model.bodies:
        if not isinstance(body, RigidBody):
            continue
        velocity = body.velocity_at(body.center)
        ahead = component_speeds(model, f"v_{body.name}", velocity, body.frame, ("m/s", "velocity"))
        speeds = _independent(at.system.equations.mechanics, at, split, [ahead, *rates])
        if speeds is not None and not speeds.keys().isdisjoint(ahead):
            yield _in_speeds(at, split, speeds)


def _in_speeds(at: Equilibrium, split: Split, speeds: Mapping[Speed | Rate, sp.Expr]) -> Equilibrium:
    own = at.system.equations
    equations = GibbsAppell(speeds=speeds).derive(own.mechanics, split)
    system = compile(equations.close(own.closed) if own.closed else equations).bind(at.system.values)
    return replace(at, system=system)


def _letters(frame: Frame) -> tuple[str, ...]:
    """Names of the coordinates in the turn of a frame against its parent."""
    turn = frame.rotation
    formulas = () if turn is None else turn.quaternion if turn.quaternion is not None else (turn.angle,)
    found = [
        s.label for e in map(sp.sympify, formulas) for s in sorted(letters_in(e), key=str) if isinstance(s, Coordinate)
    ]
    return tuple(dict.fromkeys(found))


def _chains(model: Model, attitude: set[str]) -> dict[tuple[Frame, Frame], str]:
    """Frames whose turn against a frame before them is given by an attitude, with the name of a body there."""
    found: dict[tuple[Frame, Frame], str] = {}
    for body in model.bodies:
        path = body.frame.path if isinstance(body, RigidBody) else ()
        hits = [k for k, frame in enumerate(path) if attitude.intersection(_letters(frame))]
        if hits:
            found.setdefault((path[hits[0] - 1], path[hits[-1]]), body.name)
    return found


def _independent(
    mechanics: Mechanics, at: Equilibrium, split: Split, tiers: list[dict[Speed | Rate, sp.Expr]]
) -> dict[Speed | Rate, sp.Expr] | None:
    """As many speeds as degrees of freedom, of the first tier as many as possible; None if they are not enough."""
    x = mechanics.variables
    formulas = [ca.vertcat(*[x.lower(e) for e in tier.values()]) for tier in tiers]
    parts = [mechanics.J[list(split.rows), :], *(ca.jacobian(e, x.v) for e in formulas)]
    function = ca.Function("tiers", [x.t, x.q, x.v, x.z, x.p], [ca.densify(e) for e in parts])
    rows, *slopes = (np.array(e) for e in function(0.0, at.state.q, at.state.v, at.state.z, at.system.p))
    basis = np.linalg.svd(rows)[2][: rows.shape[0]] if rows.shape[0] else rows
    chosen: dict[Speed | Rate, sp.Expr] = {}
    for tier, slope in zip(tiers, slopes, strict=True):
        unit = slope / np.maximum(np.linalg.norm(slope, axis=1, keepdims=True), 1e-300)
        order, sizes = pivots((unit - unit @ basis.T @ basis).T)
        kept = sorted(k for k, size in zip(order, sizes, strict=True) if size > DEPENDENT)
        letters = list(tier)
        chosen.update({letters[k]: tier[letters[k]] for k in kept})
        basis = np.linalg.qr(np.vstack([basis, unit[kept]]).T)[0].T
    return chosen if basis.shape[0] == x.q.numel() else None
