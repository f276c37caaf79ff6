"""Voronets' equations: the kinetic energy with the dependent velocities eliminated."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from appell.equations import Equations
from appell.formulation.abstract import AbstractFormulation, dependent_ones
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.symbols import Coordinate


class Voronets(AbstractFormulation):
    r"""Voronets' equations: independent velocities, no multipliers.

    $$ \frac{d}{dt}\frac{\partial T^*}{\partial \dot r_i} - \delta_i T^*
       - \sum_\nu \theta_\nu\bigl(\dot B_{\nu i} - \delta_i \dot s_\nu\bigr) = Q_i + B_{\nu i} Q_\nu $$
    with $\dot s = B\dot r + b$, $\theta_\nu = \partial T/\partial\dot s_\nu$ and
    $\delta_i = \partial_{r_i} + B_{\nu i}\,\partial_{s_\nu}$, at frozen mass.

    Accepts: holonomic constraints and nonholonomic ones linear in the velocities, also depending on time.
    Unknowns: one per degree of freedom; A symmetric and positive definite.

    Args:
        dependent: The coordinates s whose velocities the constraints give; chosen automatically if left out.

    Reference: Voronets 1901; Neimark and Fufaev 1972, chapter III.
    """

    name = "Voronets"
    accepts = frozenset({"holonomic", "linear"})
    reference = "Voronets 1901; Neimark and Fufaev 1972"

    def __init__(self, dependent: Iterable[Coordinate | str] | None = None) -> None:
        self.dependent = dependent_ones(dependent)

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """Collect the accelerations of Voronets' equations."""
        x = mechanics.variables
        chart = Chart.of(mechanics, split)
        r, s = split.free(x.q.numel()), list(split.dependent)
        # What flows inside a body is not carried by it: extra states are held in T (its shape), and run in K.
        shape = ca.SX.sym("shape", x.z.numel())
        T = ca.substitute(mechanics.T, x.z, shape)
        T_star = chart.in_speeds(T)
        momentum = ca.gradient(T_star, chart.u)
        N, s_rate = chart.displacements, chart.K[s]
        B = N[s, :]
        theta = chart.in_speeds(ca.gradient(T, x.v)[s])

        def delta(f: ca.SX) -> ca.SX:
            """delta_i f for all i, as a row for each component of f."""
            slopes = ca.jacobian(f, x.q)
            return slopes[:, r] + slopes[:, s] @ B

        left = chart.derivative(momentum) - delta(T_star).T
        if s:
            B_rate = ca.reshape(chart.derivative(ca.vec(B)), B.shape)
            left = left - (B_rate - delta(s_rate)).T @ theta
        right = N.T @ ca.substitute(chart.in_speeds(mechanics.Q), mechanics.a, chart.a)
        return Equations.of_residual(self, chart, ca.substitute(left, shape, x.z) - right)
