"""Udwadia and Kalaba's equation: the acceleration of the free system, corrected by a generalized inverse."""

from __future__ import annotations

import casadi as ca

from appell.equations import Equations
from appell.formulation.abstract import AbstractFormulation
from appell.graph.solve import solve, solve_spd
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split


class UdwadiaKalaba(AbstractFormulation):
    r"""The explicit equation of Udwadia and Kalaba.

    $$ \ddot q = a + M^{-1/2}(JM^{-1/2})^+(\gamma - Ja), \qquad a = M^{-1}F $$
    with M and F from Newton-Euler accelerations (not from the kinetic energy), and the generalized inverse of the
    independent rows as $C^T(CC^T)^{-1}$.

    Accepts: every kind of constraint; the mass matrix of the free system must be positive definite.

    Reference: Udwadia and Kalaba 1992.
    """

    name = "Udwadia-Kalaba"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    inertial = True
    reference = "Udwadia and Kalaba 1992"

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """M q'' = F + force of constraint."""
        x, rows = mechanics.variables, list(split.rows)
        M, minus_F = ca.linear_coeff(ca.gradient(mechanics.S, mechanics.a), mechanics.a, True)
        F = mechanics.Q - minus_F
        if mechanics.accelerating:
            D, F = ca.linear_coeff(F, mechanics.a, True)
            M = M - D
        M, F = x.thaw(M), x.thaw(F)
        solved = solve if mechanics.accelerating else solve_spd
        if rows:
            J, gamma = mechanics.J[rows, :], mechanics.gamma[rows]
            free = solved(M, ca.horzcat(ca.densify(J.T), F))
            gains, a = free[:, : len(rows)], free[:, len(rows)]
            F = F + J.T @ solved(J @ gains, gamma - J @ a)
        return Equations(self, Chart.in_rates(mechanics, Split(split.rows)), M, F, definite=not mechanics.accelerating)
