"""Natural units of a system at rest: what its equilibria are looked for in, be it micrometres or kilometres large."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from appell.analysis.steady import Steady
from appell.graph.terms import cleared, terms_at
from appell.kinematics.consistency import changes, row_units, suggested_start

LIKE = 0.01  # coordinates that are not smaller than this against the largest are measured in the same unit


@dataclass(frozen=True, eq=False)
class Units:
    """What everything is measured in.

    Attributes:
        unknowns: Units of q, v, z, w and the multipliers.
        equations: Units of the equations of rest.
        time: Unit of time.
    """

    unknowns: np.ndarray
    equations: np.ndarray
    time: float

    @classmethod
    def of(cls, steady: Steady, p: np.ndarray, begin: np.ndarray) -> Units:
        r"""Units of places, of energy E and of time, and what follows from them.

        The unit $\ell_j$ of a coordinate is one for angles, else what its rows say, else its suggested start, else the
        change that upsets a force there by its size. Forces have the unit $E/\ell_j$, multipliers E over that of their
        row, and inputs and extra states what gives such forces.

        Args:
            steady: The equations.
            p: Values of the parameters.
            begin: Where a search begins: (q, v, z, w, multipliers).
        """
        mechanics, x = steady.mechanics, steady.mechanics.variables
        n, m, k = x.q.numel(), len(mechanics.row_names), x.z.numel()
        here, _, z, w, _ = np.split(begin, np.cumsum([n, n, k, x.w.numel()]))
        (q, _), (places, rows) = suggested_start(mechanics.model), row_units(mechanics, p)
        places = np.where(steady.periodic(p), 1.0, places)
        still = [x.v], [ca.SX.zeros(n)]
        pulls, flows = (ca.cse(e) for e in ca.substitute([steady.force, steady.zdot], *still))
        outer, inner = (ca.densify(ca.jacobian(e, ca.vertcat(x.q, x.z, x.w))) for e in (pulls, flows))
        letters, values = [x.t, x.z, x.w, x.p], [0.0, z, w, p]
        parts = (pulls, outer, inner, *ca.substitute([ca.densify(ca.diag(mechanics.lagrange[0]))], *still))
        found = (cleared(*terms_at(ca.Function("part", [x.q, *letters], [ca.cse(e)]), q, *values)) for e in parts)
        force, slope, rates, masses = (np.where(np.isfinite(e), np.abs(e), 0.0) for e in found)
        loose = np.flatnonzero(~np.isfinite(places))
        if loose.size:
            own = np.abs(q[loose])
            if not own.all():
                felt = changes(pulls, x.q, letters, [q, *values], force[:, 0])[0][loose]
                felt[np.isin(loose, steady.cyclic(p))] = np.nan
                own = np.where(own > 0, own, np.nan_to_num(felt))
            largest = float(np.max(own)) or 1.0
            own = np.where((own > LIKE * largest) | (own == 0), largest, own)
            places[loose] = np.maximum(own, np.abs(here[loose]))
        pull = np.maximum(force[:, 0], (slope[:, :n] * places).max(axis=1, initial=0.0))
        energy = float(np.max(pull * places, initial=0.0)) or 1.0
        time = float(np.sqrt(np.max(masses[:, 0] * places**2, initial=0.0) / energy)) or 1.0
        forces = energy / places
        extra = _given(slope[:, n:] / forces[:, None], begin[2 * n : begin.size - m])
        held, pushed = np.split(extra, [k])
        if k:
            idle = ~(slope[:, n + k :] > 0).any(axis=0)  # inputs that act on extra states alone
            through = _given(rates[:, n + k :] / (held / time)[:, None], begin[2 * n + k : begin.size - m])
            pushed = np.where(idle, through, pushed)
        J = np.abs(np.array(mechanics.functions["jacobian"](0.0, q, places / time, z, p)).reshape(m, n))
        lengths = np.where((J @ places) > 0, J @ places, 1.0)
        lengths[list(mechanics.position_rows)] = rows
        own = [lengths[i] / time for i in steady.velocity_rows]
        own += [lengths[i] / time**2 for i in mechanics.acceleration_rows]
        return cls(
            np.concatenate([places, places / time, held, pushed, energy / lengths]),
            np.concatenate([forces, rows, own, held / time]),
            time,
        )


def _given(slopes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Units of what has such slopes of equations of size one; its own values, or one, where it has none."""
    steepest = slopes.max(axis=0, initial=0.0)
    own = np.where(values != 0, np.abs(values), 1.0)
    return np.where(steepest > 0, 1 / np.where(steepest > 0, steepest, 1.0), own)
