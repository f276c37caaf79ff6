"""Velocities that jump: a prescribed motion turns a corner, and what hangs on it is struck.

By d'Alembert's principle for impulses those of the constraints do no work on what is free to move, N' (p+ - p-) = 0
with the momenta p = dT/dq' before and behind the corner; N spans what the rows behind it allow. Rows on velocities are
kept as they were, e+ = e-. A mass that jumps is lost or taken up at the velocity of its body, and strikes nothing.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.equations import Equations
from appell.graph.kinks import Modal
from appell.kinematics.saddle import accelerations_and_multipliers, own_units

JOLT = 1e-9  # share of the velocities, in own units of their inertia, by which they must jump to count
CLOSE = 1e-14  # the same at which they are found
LOOKS = 50  # Newton steps at most; rows linear in the velocities take one


def breakable(equations: Equations) -> list[ca.SX]:
    """What a corner may break, in the state: momenta by masses, those masses, and rows that the speeds still obey."""
    mechanics = equations.mechanics
    if not mechanics.striking:
        return []
    momenta, masses = mechanics.momenta
    rows = mechanics.e if equations.chart.redundant else ca.SX(0, 1)
    return [ca.densify(equations.in_state(e)) for e in (ca.vec(momenta), masses, rows)]


class Impulses:
    """What the corners of a set of equations do to the speeds.

    Args:
        equations: The equations.
        modal: Their right-hand side with the kinks taken out; its last three extras are what corners may break.
    """

    def __init__(self, equations: Equations, modal: Modal) -> None:
        n, m = len(equations.coordinates), len(equations.speeds)
        self.speeds, self.redundant = slice(n, n + m), equations.chart.redundant
        self.alike = equations.mechanics.variables.quaternions if self.redundant else []
        self.drives = [
            (i, equations.coordinates.index(row.drive))
            for i, row in enumerate(equations.model.rows)
            if row.drive is not None
        ]
        momenta, masses, rows = modal.extras[-3:]
        momenta, u = ca.reshape(momenta, n, -1), modal.x[n : n + m]
        results = [momenta, masses, rows, *(ca.jacobian(e, u) for e in (modal.xdot[:n], momenta @ masses, rows))]
        arguments = [modal.t, modal.x, modal.w, ca.vertcat(modal.p, modal.s)]
        self._machine = Machine(
            ca.Function("impulses", arguments, [ca.densify(e) for e in results], {"cse": True}), simd=False
        )

    def behind(self, t: float, x: np.ndarray, w: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
        """x = (q, u, z) behind a corner.

        Args:
            t: Time.
            x: The state before.
            w: Inputs.
            before: Parameters and modes before.
            after: Parameters and modes behind.
        """
        was, _, kept, *_ = (e.copy() for e in self._machine(t, x, w, before))
        now = np.array(x)
        u, struck = now[self.speeds], False
        for _ in range(LOOKS):
            momenta, masses, rows, N, slope, C = self._machine(t, now, w, after)
            p, parts = (momenta - was) @ masses[:, 0], (np.abs(momenta) + np.abs(was)) @ np.abs(masses[:, 0])
            if self.redundant and C.shape[0]:
                step = -accelerations_and_multipliers(slope, self._along(C), C, p, (rows - kept)[:, 0], self.alike)[0]
            else:
                slope, parts = N.T @ slope, np.abs(N.T) @ parts
                step = -np.linalg.solve(slope, N.T @ p)
            unit = own_units(slope, self.alike)
            size = max(float(np.max(np.abs(u) / unit, initial=0.0)), float(np.max(parts * unit, initial=0.0)))
            largest = float(np.max(np.abs(step) / unit, initial=0.0))
            if not struck and not largest > JOLT * size:
                return x
            u += step
            struck = True
            if largest <= CLOSE * size:
                break
        return now

    def rows(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows that the speeds obey, and their slopes, with parameters and modes p."""
        found = self._machine(t, x, w, p)
        return found[2], found[5]

    def _along(self, C: np.ndarray) -> np.ndarray:
        """The rows along whose gradients impulses act: those of C, but the unit row of its drive for a servo row."""
        J = C.copy()
        for i, column in self.drives:
            J[i] = 0.0
            J[i, column] = 1.0
        return J
