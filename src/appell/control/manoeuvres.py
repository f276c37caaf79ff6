r"""What a first approximation does not show: places that rolling lets be reached by manoeuvres.

Rows on velocities leave the directions $q' = D(q)u$. A wheel cannot be pushed sideways, but turning, rolling, turning
back and rolling back shift it there: along the bracket $[D_i, D_j] = (\partial_q D_j)D_i - (\partial_q D_i)D_j$.
"""

from __future__ import annotations

import casadi as ca
import numpy as np
import scipy.linalg

from appell.analysis.linearize import Linearization
from appell.control.modes import TINY

MANY = 300  # brackets, after which no more are looked for


def by_manoeuvres(lin: Linearization) -> str:
    """What there is to say of places that the inputs miss although they reach every speed; nothing if that is not so.

    Args:
        lin: The linearisation, of which not all is reached.

    Reference: Chow 1939; Brockett 1983.
    """
    places = {q.label for q in lin.model.coordinates}
    moving = [i for i, s in enumerate(lin.states) if s not in places]
    sizes = [np.linalg.norm(M) or 1.0 for M in (lin.A, lin.B)]
    missed = scipy.linalg.null_space(np.hstack([lin.A / sizes[0], lin.B / sizes[1]]).T, rcond=TINY)
    count = sum(s in places for s in lin.states) - len(lin.tangent.equations.speeds)
    rolling = lin.tangent.steady.velocity_rows and not np.any(lin.at.state.v)
    if not rolling or missed.shape[1] != count or np.any(np.abs(missed[moving]) > TINY):
        return ""
    if not _spanned(lin, missed.T @ lin.tangent.selection(lin.states)[:, : len(places)]):
        return ""
    return (
        f"Rolling lets {'it' if count == 1 else 'them'} be reached by manoeuvres all the same, which no first "
        "approximation shows; no smooth feedback holds such a place (Brockett)."
    )


def _spanned(lin: Linearization, missed: np.ndarray) -> bool:
    """Whether brackets of the directions that the rows leave have a part along every combination that is missed."""
    eqs, n = lin.tangent.equations, len(lin.model.coordinates)
    q, u = eqs.x[:n], eqs.x[n : n + len(eqs.speeds)]
    D = ca.jacobian(eqs.xdot[:n], u)
    first = [D[:, i] for i in range(D.shape[1])]
    layer, found = first, np.zeros((n, 0))
    while 0 < len(first) * len(layer) + found.shape[1] <= MANY:
        layer = [ca.cse(ca.jacobian(b, q) @ a - ca.jacobian(a, q) @ b) for a in first for b in layer]
        values = lin.tangent.here(ca.horzcat(*layer))[0]
        found = np.hstack([found, values / np.maximum(np.linalg.norm(values, axis=0), 1e-300)])
        if np.linalg.matrix_rank(missed @ found, tol=1e-6) == len(missed):
            return True
    return False
