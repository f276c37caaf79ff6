"""The balance of linear momentum, with what the jets carry away.

    P(t) - P(0) + carried(t) = impulse of the ground and of the resistances

P is the momentum of everything solid and of the liquid; with internal flow also that of the liquid on its way,
`sum mu_k (r_k - r_t)`. Without internal flow the model takes the liquid out at the centre of mass of its body, and a
jet carries away `mu_k` times that velocity plus its own; with it, times the velocity of the nozzle plus its own.
The forces of the ground are the reactions of the constraint rows, which the equations of motion never contained.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.library._sprayer import WHEELS, d, m, theta, x_t, y_t
from appell.motion.motion import Motion
from appell.motion.reactions import multipliers
from appell.sprayer.robot import Sprayer, omega, v

Pair = tuple[sp.Expr, sp.Expr]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
PANELS = 256  # of a stretch at most: reactions are asked for moment by moment
HAIR = 1e-12


@dataclass(frozen=True)
class Momentum:
    """The balance over a motion, in N s along x and y of the ground.

    Attributes:
        gained: What robot and liquid gained.
        carried: What the jets carried away.
        impulse: What ground and resistances gave.
        error: Largest difference, relative to the largest of these.
    """

    gained: np.ndarray
    carried: np.ndarray
    impulse: np.ndarray
    error: float


def momentum(robot: Sprayer, motion: Motion) -> Momentum:
    """The balance along a motion, by Gauss quadrature over the steps of the integrator.

    Where a flow ends at once the momentum of what is on its way is gone; between such moments the balance is closed.

    Args:
        robot: The robot, driven by its wheels, in consistent mode.
        motion: Its motion.
    """
    if robot.mode != "consistent" or robot.drive != "wheels":
        raise ModelError(
            "Momentum is balanced for a robot in consistent mode that is driven by its wheels; "
            f"got Sprayer(mode={robot.mode!r}, drive={robot.drive!r})."
        )
    held, gained = _held(robot), np.zeros(2)
    times, weights = [], []
    for stretch in motion.stretches:
        edges = stretch.times[np.unique(np.linspace(0, stretch.times.size - 1, PANELS).astype(int))]
        hair = HAIR * (edges[-1] - edges[0])  # inside, where conditions on time and mass say what they say all along
        edges = np.clip(edges, edges[0] + hair, edges[-1] - hair)
        gained += np.diff(_in_ground(motion, held, edges[[0, -1]]), axis=1)[:, 0]
        half = np.diff(edges)[:, None] / 2
        times.append((edges[:-1, None] + half * (1 + NODES)).ravel())
        weights.append((half * WEIGHTS).ravel())
    nodes, weight = np.concatenate(times), np.concatenate(weights)
    carried = _in_ground(motion, _carried(robot), nodes) @ weight
    rows, (pushes, _) = motion.system.equations.mechanics.row_names, multipliers(motion, nodes)
    traction = sum(pushes[:, rows.index(f"rolling {name}")] for name in WHEELS)
    pushed = _turned(motion, np.array([traction, pushes[:, rows.index("no side slip")]]), nodes)
    impulse = (pushed + _in_ground(motion, _resistance(robot), nodes)) @ weight
    scale = max(float(np.max(np.abs(e))) for e in (gained, carried, impulse))
    return Momentum(gained, carried, impulse, float(np.max(np.abs(gained + carried - impulse))) / (scale or 1.0))


def _held(robot: Sprayer) -> Pair:
    """What robot and liquid have, with internal flow also the liquid on its way."""
    total = m + sp.Add(*(k.mass for k in robot.nozzles))
    held: Pair = (total * v - robot.side_moment * omega, robot.first_moment * omega)
    if not robot.internal_flow:
        return held
    return (
        held[0] + sp.Add(*(k.open_flow * (k.x - x_t) for k in robot.nozzles)),
        held[1] + sp.Add(*(k.open_flow * (k.y - y_t) for k in robot.nozzles)),
    )


def _carried(robot: Sprayer) -> Pair:
    along, across = [], []
    leaving = (x_t, y_t) if robot.separate_tank else (d, sp.Integer(0))
    for k in robot.nozzles:
        place = (k.x, k.y) if robot.internal_flow else leaving
        jet, flow = k.jet, k.open_flow
        along.append(flow * (v - place[1] * omega + jet[0]))
        across.append(flow * (place[0] * omega + jet[1]))
    return sp.Add(*along), sp.Add(*across)


def _resistance(robot: Sprayer) -> Pair:
    pushes = [k.resistance(v - k.y * omega, k.x * omega) for k in robot.nozzles]
    return sp.Add(*(e[0] for e in pushes)), sp.Add(*(e[1] for e in pushes))


def _in_ground(motion: Motion, pair: Pair, times: np.ndarray) -> np.ndarray:
    return _turned(motion, np.array([motion.evaluate(e, times) for e in pair]), times)


def _turned(motion: Motion, pair: Any, times: np.ndarray) -> np.ndarray:
    """From the axes of the robot to those of the ground."""
    angle = motion.evaluate(theta, times)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * pair[0] - s * pair[1], s * pair[0] + c * pair[1]])
