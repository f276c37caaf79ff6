"""The Gibbs-Appell equations: the acceleration energy, differentiated by the quasi-accelerations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation, chosen_split, listed, speed_formulas
from appell.graph.numeric import Numeric
from appell.graph.sparse import densified, total
from appell.kinematics.chart import Chart, Split
from appell.kinematics.mechanics import Mechanics
from appell.model.symbols import Coordinate, Speed


class GibbsAppell(AbstractFormulation):
    r"""Gibbs-Appell equations in any quasi-velocities, without multipliers.

    $$ \frac{\partial S}{\partial \dot u_i} = Q_i^*, \qquad
       S = \tfrac12\sum m\,a^2 + \tfrac12\,\alpha\cdot I\alpha + \alpha\cdot(\omega\times I\omega) $$
    written as $\partial R/\partial\dot u = 0$ with $R = S - U$, $U = Q\cdot\ddot q$, and $\ddot q(q, u, \dot u, t)$
    from $\dot q = K(q, u, t)$.

    Accepts: holonomic and nonholonomic constraints, linear or nonlinear in the velocities (Chetaev's rule), and
    constraints on accelerations (Gauss's rule).
    Unknowns: one per degree of freedom; A symmetric and positive definite.

    Args:
        speeds: Quasi-velocities as formulas in coordinates, their rates and time, `{w1: lean.rate, ...}`; they may be
            nonlinear, and a rate may stand for itself, `{x.rate: x.rate, ...}`. Left out, rates of independent
            coordinates are taken and changed during a run where needed.
        dependent: Instead of speeds: the coordinates whose rates the constraints shall give.

    Reference: Appell 1900; Qiao 1990, eqs. (3.13), (4.14).
    """

    name = "Gibbs-Appell"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    reference = "Appell 1900; Qiao 1990"

    def __init__(
        self, speeds: Mapping[Speed, Any] | None = None, dependent: Iterable[Coordinate | str] | None = None
    ) -> None:
        self.speeds = speed_formulas(speeds)
        self.dependent = listed(dependent)

    @property
    def fixed(self) -> bool:
        """Whether the user chose."""
        return self.speeds is not None or self.dependent is not None

    def choose(self, mechanics: Mechanics) -> Split:
        """The user's choice, or the best at a typical state."""
        return chosen_split(mechanics, self.dependent)

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """dR/dy = A y - b."""
        chart = Chart.of(mechanics, split, self.speeds)
        x = mechanics.variables
        if self.speeds is not None:
            check_speeds(mechanics, split, self.speeds)
        if chart.geometry is mechanics.geometry:
            S = mechanics.S
        elif x.z.numel() and ca.depends_on(chart.K, x.z):  # extra states run in K, and are held in the shape of a body
            S = chart.in_speeds(ca.substitute(mechanics.S, mechanics.a, chart.a))
        else:
            S = total(chart.geometry.acceleration_energy(body) for body in mechanics.model.bodies)
        # Forces are frozen in dU/dy, also a thrust that contains accelerations through dm/dt (Qiao 1990, eq. (3.10)).
        held = ca.SX.sym("held", mechanics.a.numel())
        Q = ca.substitute(mechanics.Q, mechanics.a, held) if mechanics.accelerating else mechanics.Q
        U = ca.dot(chart.in_speeds(Q), chart.a)
        residual = ca.gradient(S - U, chart.y)
        if mechanics.accelerating:
            residual = ca.substitute(residual, held, chart.a)
            # S is quadratic in y, forces may not be.
            A, minus_b = ca.linear_coeff(residual, chart.y, True)
        else:
            A, minus_b = ca.jacobian(residual, chart.y), ca.substitute(residual, chart.y, ca.SX.zeros(*chart.y.shape))
        return Equations(self, chart, chart.thaw(A), chart.thaw(-minus_b), definite=not mechanics.accelerating)


def check_speeds(mechanics: Mechanics, split: Split, speeds: Mapping[Speed, Any]) -> None:
    """Refuse quasi-velocities that are dependent at every one of several typical states."""
    x = mechanics.variables
    formulas = ca.vertcat(*[x.lower(formula) for formula in speeds.values()])
    stacked = ca.vertcat(ca.jacobian(formulas, x.v), mechanics.J[list(split.rows), :])
    function = Numeric(ca.Function("stacked", [x.t, x.q, x.v, x.z, x.p], [densified(stacked)]))
    rng = np.random.default_rng(11)
    p, n = mechanics.sample_values(rng), x.q.numel()
    for t in (0.0, 0.3, 0.7, 1.1):
        q, v, z = rng.uniform(0.3, 1.2, n), rng.uniform(0.3, 1.2, n), rng.uniform(0.3, 1.2, x.z.numel())
        matrix = function(t, q, v, z, p)[0]
        if not np.all(np.isfinite(matrix)) or np.linalg.matrix_rank(matrix) == n:
            return
    raise FormulationError(
        f"The speeds {', '.join(str(s) for s in speeds)} are dependent on each other or on the constraints: together "
        f"they do not give all rates of {', '.join(str(q) for q in mechanics.model.coordinates)}. Choose others."
    )
