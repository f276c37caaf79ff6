"""Lagrange's equations with multipliers, solved at index 1: the oracle that the others are checked against."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from appell.equations import Equations
from appell.formulation.abstract import AbstractFormulation
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.saddle import bordered, solve_in_own_units
from appell.kinematics.split import Split
from appell.model.symbols import Letter


class Multipliers(AbstractFormulation):
    r"""Lagrange's equations of the first kind.

    $$ \begin{bmatrix} M & -J^T \\ J & 0 \end{bmatrix}\begin{bmatrix}\ddot q\\ \lambda\end{bmatrix} =
       \begin{bmatrix} F \\ \gamma \end{bmatrix}, \qquad
       M\ddot q - F = \frac{d}{dt}\frac{\partial T}{\partial\dot q} - \frac{\partial T}{\partial q} - Q $$
    Accepts: every kind of constraint; for servo constraints $J^T$ has the columns of the drives.
    Unknowns: accelerations and multipliers. Works also where M alone is singular.

    Reference: Lagrange 1788; for constraints nonlinear in velocities Chetaev 1932.
    """

    name = "Lagrange multipliers"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration", "servo"})
    multipliers = True
    reference = "Lagrange 1788; Chetaev 1932"

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """The KKT system."""
        rows = list(split.rows)
        M, F = mechanics.lagrange
        J, C, gamma = mechanics.J[rows, :], mechanics.C[rows, :], mechanics.gamma[rows, :]
        multipliers = ca.SX.sym("lambda", len(rows))
        A, b = bordered(M, J, C), ca.vertcat(F, gamma)
        names = tuple(Letter(f"lambda_{mechanics.row_names[i]}") for i in rows)
        chart = Chart.in_rates(mechanics, Split(split.rows))
        chart = replace(chart, y=ca.vertcat(chart.y, multipliers), unknowns=(*chart.unknowns, *names))
        definite = not rows and not mechanics.accelerating
        solution = None if definite else solve_in_own_units(A, b, M, mechanics.variables.quaternions)
        return Equations(self, chart, A, b, definite=definite, solution=solution)
