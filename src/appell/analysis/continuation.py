"""Whether a direction leads on: to other steady motions on both sides of one."""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.analysis.tangent import Tangent

REACH = 1e-2  # how far a direction is followed, in natural units
STEPS = 12  # of Newton's method


def leads_on(
    tangent: Tangent,
    states: tuple[str, ...],
    direction: np.ndarray,
    xdot: ca.SX | None,
    along: np.ndarray | None = None,
) -> bool:
    """Whether a direction leads to other steady motions, on both sides.

    Args:
        tangent: The equations about the point.
        states: Names of the reduced states.
        direction: A vector of the kernel of the reduced matrix A, or with `along` one that A takes there.
        xdot: The equations, if they are not those of the system but with a feedback.
        along: A direction of the coordinates along which a steady motion may go.
    """
    eqs, kept, c = tangent.equations, tangent.awake, tangent.equations.mechanics.c
    units, natural = tangent.units, tangent.at.units
    column = ca.densify(ca.vertcat((eqs.xdot if xdot is None else xdot)[kept], c))
    function = ca.Function("family", eqs.arguments, [column, ca.densify(ca.jacobian(column, eqs.x))])
    sizes = np.concatenate([units[kept] / natural.time, natural.equations[len(tangent.at.state.q) :][: c.numel()]])
    going = np.zeros((sizes.size, 1))  # how fast it goes is one more unknown
    if along is not None:
        whole = np.concatenate([along, np.zeros(units.size - along.size)])
        going[: len(kept), 0] = whole[kept] / sizes[: len(kept)]
    order = [states.index(s) for s in tangent.states]
    start = np.append(tangent.basis @ direction[order] / units, 0.0 if along is None else 1.0)
    start = start / np.linalg.norm(start[:-1])
    t, x, w, p = tangent.numbers
    here = np.array(function(t, x, w, p)[1]) * units / sizes[:, None]
    size = 1e-10 * (1 + np.max(np.abs(here)))
    for side in (REACH, -REACH):
        y, value = side * start, np.zeros(1)
        for _ in range(STEPS):
            value, slope = (np.array(e) / sizes[:, None] for e in function(t, x + units * y[:-1], w, p))
            value = value[:, 0] - y[-1] * going[:, 0]
            y = y - np.linalg.lstsq(np.hstack([slope * units, -going]), value, rcond=1e-9)[0]
        moved = float(y[:-1] @ start[:-1]) / side
        if not np.max(np.abs(value)) < size or not 0.5 < moved < 2:
            return False
    return True
