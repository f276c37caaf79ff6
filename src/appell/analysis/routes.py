"""Two routes to one matrix: the blocks of a first approximation against the compiled equations."""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.analysis.linearize import Linearization


def disagreement(lin: Linearization) -> float:
    """How far the blocks are from the compiled equations: by their matrices, about steady motions by coefficients.

    Args:
        lin: The linearisation, which has blocks.
    """
    if not lin.dropped:
        gap = np.max(np.abs(lin.A - lin.tangent.reduced_as(lin.states)), initial=0.0)
        return float(gap / max(np.max(np.abs(lin.A), initial=0.0), 1e-300))
    blocks = lin.blocks  # momenta held: in the coordinates (r, r', p) the compiled matrix must contain that of Routh
    n, k = len(blocks.independent), len(lin.model.states)
    if k or set(blocks.momenta) != set(lin.dropped):
        return 0.0
    routh = np.block([[np.zeros((n, n)), np.eye(n)], [blocks.a + blocks.h @ blocks.B0, blocks.b]])
    names = [*blocks.independent, *(f"{s}.rate" for s in blocks.independent)]
    rows = [lin.states.index(s) for s in names]
    mine = (lin.tangent.reduced_as(lin.states) @ _at_constant_momenta(lin, rows))[rows]
    return float(np.max(np.abs(mine - routh)) / max(np.max(np.abs(routh)), 1e-300))


def _at_constant_momenta(lin: Linearization, moved: list[int]) -> np.ndarray:
    """How the states change with some of them while the momenta of the coordinates that are left out are held."""
    tangent, states = lin.tangent, lin.states
    m, eqs, x = tangent.steady.mechanics, tangent.equations, tangent.steady.mechanics.variables
    momentum = eqs.chart.in_speeds(x.thaw(ca.gradient(m.T, x.v)))
    labels = [s.label for s in m.model.coordinates]
    column = ca.vertcat(*[momentum[labels.index(s)] for s in lin.dropped])
    slope = tangent.here(ca.jacobian(column, eqs.x))[0] @ tangent.basis
    P = slope[:, [tangent.states.index(s) for s in states]]
    held = [states.index(f"{s}.rate") for s in lin.dropped]
    result = np.zeros((len(states), len(moved)))
    result[moved] = np.eye(len(moved))
    result[held] = -np.linalg.solve(P[:, held], P[:, moved])
    return result
