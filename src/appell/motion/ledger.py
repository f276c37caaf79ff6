r"""The power balance: every force, drive, reaction and change of mass by itself.

From the equations at frozen mass, multiplied by q', with h = q'.dT/dq' - T (which is T where positions do not depend on
time) and the multipliers of the constraints:

    h' = sum_k Q_k . q' + lambda . (J q') - dT/dt|explicit + dh/dm m'

The reactions do work only where a constraint depends on time or is not linear and homogeneous in the velocities.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.kinematics.mechanics import Mechanics

CHUNK = 4000  # moments at which a function is evaluated in one call


class Ledger:
    """Energy and powers of a model as functions of the state.

    Args:
        mechanics: The model on the graph.
        rows: The independent constraint rows.
    """

    def __init__(self, mechanics: Mechanics, rows: tuple[int, ...]) -> None:
        self.mechanics, self.rows = mechanics, list(rows)
        x = mechanics.variables
        T = mechanics.T
        h = ca.dot(x.v, ca.gradient(T, x.v)) - T
        named: list[tuple[str, ca.SX]] = [(f.name, ca.dot(f.Q, x.v)) for f in mechanics.forces]
        drive = -ca.gradient(T, x.t)
        if not drive.is_zero():
            named.append(("prescribed motion", drive))
        if x.frozen.numel():
            named.append(("change of mass", ca.dot(ca.gradient(h, x.frozen), mechanics.derivative(x.thawed))))
        if x.z.numel() and ca.depends_on(h, x.z):
            named.append(("change of shape", ca.jtimes(h, x.z, x.zdot)))
        self.names = [name for name, _ in named]
        still = x.thaw(ca.substitute(mechanics.e[self.rows], x.v, ca.SX.zeros(x.v.numel()))) if self.rows else ca.SX(0)
        servo = any(row.drive is not None for row in mechanics.model.rows)
        self.working = bool(self.rows) and (servo or not mechanics.linear or not ca.sparsify(still).is_zero())
        if self.working:
            self.names.append("reactions")
        powers = ca.vertcat(*[power for _, power in named]) if named else ca.SX(0, 1)
        everything = [x.t, x.q, x.v, mechanics.a, x.z, x.w, x.p]
        self._function = Machine(
            ca.Function(
                "ledger", everything, [x.thaw(h), ca.densify(x.thaw(powers)), x.thaw(mechanics.V)], {"cse": True}
            ),
            simd=False,
        )

    @cached_property
    def _multiplier(self) -> Machine:
        return Machine(self.mechanics.functions["multiplier"], simd=False)

    def multipliers(
        self, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, w: np.ndarray, p: np.ndarray
    ) -> np.ndarray:
        """The multipliers of all rows, from M a - J' lambda = F and C a = gamma; the smallest if rows are redundant."""
        M, F, J, gamma, C = self._multiplier(t, q, v, z, w, p)
        n, rows = M.shape[0], J.shape[0]
        system = np.block([[M, -J.T], [C, np.zeros((rows, rows))]])
        return np.linalg.lstsq(system, np.concatenate([F[:, 0], gamma[:, 0]]), rcond=1e-13)[0][n:]

    def along(
        self, t: np.ndarray, q: np.ndarray, v: np.ndarray, a: np.ndarray, z: np.ndarray, w: np.ndarray, p: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """h and the powers in the order of `names`, one column for each moment."""
        h, powers, _ = along(self._function.function, t, q, v, a, z, w, p)
        if self.working:
            rows = np.empty((1, t.size))
            for i in range(t.size):
                J = self._multiplier(t[i], q[:, i], v[:, i], z[:, i], w[:, i], p)[2]
                rows[0, i] = self.multipliers(t[i], q[:, i], v[:, i], z[:, i], w[:, i], p) @ (J @ v[:, i])
            powers = np.concatenate([powers, rows])
        return h[0], powers


def along(function: ca.Function, t: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    """A function of time and other arguments at many moments: its outputs, one column for each moment.

    Args:
        function: Of t and further columns, with columns as outputs.
        t: Moments.
        columns: Further arguments, one column for each moment or one for all.
    """
    wide = [np.broadcast_to(c if c.ndim == 2 else c[:, None], (c.shape[0], t.size)) for c in columns]
    found, mapped, mapped_for = [], function, 0
    for start in range(0, t.size, CHUNK):
        part = slice(start, start + CHUNK)
        if t[part].size != mapped_for:
            mapped_for = t[part].size
            mapped = function.map(mapped_for)
        listed = mapped.call([ca.DM(t[None, part]), *(ca.DM(e[:, part]) for e in wide)])
        found.append([np.array(e) for e in listed])
    return [np.concatenate(parts, axis=1) for parts in zip(*found, strict=True)]
