"""Lyapunov's elimination of the multipliers: solve for them, put them back."""

from __future__ import annotations

import casadi as ca

from appell.equations import Equations
from appell.formulation.abstract import AbstractFormulation
from appell.graph.solve import solve, solve_spd
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split


class LyapunovElimination(AbstractFormulation):
    r"""Lagrange's equations with the multipliers solved for and put back, as Lyapunov did.

    $$ a\ddot q = f + J^T\lambda, \qquad (J a^{-1}J^T)\,\lambda = \gamma - J a^{-1} f $$
    with a and f from the kinetic energy. Steps 1 to 5 of the source: accelerations from the equations with multipliers,
    constraints differentiated twice, the one put into the other, $\lambda(q, \dot q)$, and that put back.

    Accepts: every kind of constraint (the source has geometric ones); a, the mass matrix of the free system, must
    be positive definite. Unknowns: one per coordinate.

    Reference: Lyapunov, Lectures on theoretical mechanics; Krasinskiy 2025, section 4.
    """

    name = "Lyapunov elimination"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    inertial = True
    reference = "Lyapunov; Krasinskiy 2025, section 4"

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """a q'' = f + J' lambda(q, q')."""
        rows = list(split.rows)
        a, f = mechanics.lagrange
        regular = solve if mechanics.accelerating else solve_spd
        if rows:
            J, gamma = mechanics.J[rows, :], mechanics.gamma[rows]
            free = regular(a, ca.horzcat(ca.densify(J.T), f))
            gains, drop = J @ free[:, : len(rows)], J @ free[:, len(rows)]
            f = f + J.T @ regular(gains, gamma - drop)
        return Equations(self, Chart.in_rates(mechanics, Split(split.rows)), a, f, definite=not mechanics.accelerating)
