r"""The power balance: every force, drive, reaction and change of mass by itself.

From the equations at frozen mass, multiplied by q', and with the momentum along time, p_t = 2 T - q'.dT/dq', which is
zero where positions do not depend on time:

    T' = sum_k P_k + lambda . (J q') + (dp_t/dt - dT/dt|explicit - sum_k F_k . dr_k/dt|explicit) + dT/dm m'

P_k = F_k . v_k is the power of a force, also on what moves by itself in time; what makes that move does the work in
brackets. The reactions do work only where a constraint depends on time or is not linear and homogeneous in the
velocities.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.graph.numeric import SideBySide
from appell.graph.sparse import stacked
from appell.graph.terms import term_sizes
from appell.kinematics.mechanics import Mechanics
from appell.motion.reactions import multipliers_at


class Ledger:
    """Energy and powers of a model as functions of the state.

    Args:
        mechanics: The model on the graph.
        rows: The independent constraint rows.
    """

    def __init__(self, mechanics: Mechanics, rows: tuple[int, ...]) -> None:
        self.mechanics, self.rows = mechanics, list(rows)
        x = mechanics.variables
        T, (powers, carried) = mechanics.T, mechanics.powers
        named: list[tuple[str, ca.SX]] = [(f.name, powers[k]) for k, f in enumerate(mechanics.forces)]
        self.drive: int | None = None
        if not (ca.substitute(T, x.v, ca.SX.zeros(x.v.numel())).is_zero() and carried.is_zero()):
            along_time = 2 * T - ca.dot(x.v, ca.gradient(T, x.v))
            self.drive = len(named)
            named.append(("prescribed motion", mechanics.frozen_derivative(along_time) - ca.gradient(T, x.t)))
        if x.frozen.numel():
            named.append(("change of mass", ca.dot(ca.gradient(T, x.frozen), mechanics.derivative(x.thawed))))
        if x.z.numel() and ca.depends_on(T, x.z):
            named.append(("change of shape", ca.jtimes(T, x.z, x.zdot)))
        names = [name for name, _ in named]
        still = x.thaw(ca.substitute(mechanics.e[self.rows], x.v, ca.SX.zeros(x.v.numel()))) if self.rows else ca.SX(0)
        servo = any(row.drive is not None for row in mechanics.model.rows)
        self.working = bool(self.rows) and (servo or not mechanics.linear or not ca.sparsify(still).is_zero())
        self.names = _told_apart([*names, "reactions"] if self.working else names)
        column = stacked(power for _, power in named)
        everything = [x.t, x.q, x.v, mechanics.a, x.z, x.w, x.p]
        self._column = ca.Function("powers", everything, [ca.densify(x.thaw(column))], {"cse": True})
        self._function = Machine(
            ca.Function(
                "ledger",
                everything,
                [x.thaw(T), ca.densify(x.thaw(column)), ca.densify(x.thaw(carried))],
                {"cse": True},
            ),
            simd=False,
        )

    @cached_property
    def _sizes(self) -> ca.Function:
        """Sizes of the terms of the powers, reactions left aside."""
        return term_sizes(self._column)

    @cached_property
    def _multiplier(self) -> Machine:
        return Machine(self.mechanics.functions["multiplier"], simd=False)

    def along(
        self,
        t: np.ndarray,
        q: np.ndarray,
        v: np.ndarray,
        a: np.ndarray,
        z: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        forces: np.ndarray | None = None,
        pushes: np.ndarray | None = None,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """T, the powers in the order of `names`, and the terms of all powers added up, one column for each moment.

        `forces` are the powers of the forces and what of them is carried, `pushes` the forces along the coordinates, if
        they are not those of their formulas.
        """
        T, powers, carried = along(self._function.function, t, q, v, a, z, w, p)
        terms = np.nan_to_num(along(self._sizes, t, q, v, a, z, w, p)[0], posinf=0.0).sum(axis=0)
        if forces is not None:
            powers[: len(forces) - 1], carried = forces[:-1], forces[-1:]
        if self.drive is not None:
            powers[self.drive] -= carried[0]
        if self.working:
            rows, alike = np.empty((1, t.size)), self.mechanics.variables.quaternions
            for i in range(t.size):
                F, state = None if pushes is None else pushes[i], (t[i], *(e[:, i] for e in (q, v, z, w)), p)
                values, J = multipliers_at(self._multiplier, *state, alike=alike, pushes=F)
                rows[0, i] = values @ (J @ v[:, i])
            powers = np.concatenate([powers, rows])
        return T[0], powers, terms


def _told_apart(names: list[str]) -> list[str]:
    """Names, the second of two that are the same with a number: a force and a programme may be called alike."""
    return [f"{name} ({k})" if (k := names[: i + 1].count(name)) > 1 else name for i, name in enumerate(names)]


def along(function: ca.Function, t: np.ndarray, *columns: np.ndarray) -> list[np.ndarray]:
    """A function of time and other arguments at many moments: its outputs, one column for each moment.

    Args:
        function: Of t and further columns, with columns as outputs.
        t: Moments.
        columns: Further arguments, one column for each moment or one for all.
    """
    found = SideBySide(function)(t.size, t[:, None], *(c.T for c in columns))
    return [out.swapaxes(0, 1).reshape(out.shape[1], out.shape[0] * out.shape[2]) for out in found]
