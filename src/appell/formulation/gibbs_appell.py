"""The Gibbs-Appell equations: the acceleration energy, differentiated by the quasi-accelerations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca
import sympy as sp

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation, dependent_ones, speed_formulas
from appell.formulation.projected import has_short_ways, is_long, projected
from appell.graph.replay import operations
from appell.graph.sparse import total
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.kinematics.turning import AXES
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import Coordinate, Speed, quoted
from appell.model.symbols import t as time
from appell.reading.short import short_formulas

READABLE = 900  # operations up to which a function is written down


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
        dependent: Instead of speeds: the coordinates whose rates the constraints give.
        angular: Instead of both: angular velocities take the place of the rates of quaternions, along the axes that
            these turn (`"own"`) or along those that carry them (`"carrier"`); the other speeds are chosen, and changed
            during a run, as if nothing was given.

    Reference: Gibbs 1879; Appell 1900; Qiao 1990, eqs. (3.13), (4.14).
    """

    name = "Gibbs-Appell"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration"})
    reference = "Gibbs 1879; Appell 1900; Qiao 1990"

    def __init__(
        self,
        speeds: Mapping[Speed, Any] | None = None,
        dependent: Iterable[Coordinate | str] | None = None,
        angular: str | None = None,
    ) -> None:
        self.speeds = speed_formulas(speeds)
        self.dependent = dependent_ones(dependent)
        self.angular = _axes(angular, self.fixed)

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """dR/dy = A y - b, directly or by the chain rule over all velocities."""
        chart = self._chart(mechanics, split)
        if self.speeds or not is_long(chart, self.angular):
            return self._direct(chart)
        short, A, b = projected(chart, self.angular)
        found = Equations(self, short, short.thaw(A), short.thaw(b), definite=True)
        if not has_short_ways(mechanics):
            return found
        return min(found, self._direct(chart), key=lambda way: way.operations)

    def _direct(self, chart: Chart) -> Equations:
        """S and U in the speeds, differentiated."""
        return differentiated(self, chart, chart.acceleration_energy, chart.mechanics.Q)

    def function(self, model: Model) -> sp.Expr:
        r"""The function of Gibbs and Appell, $R = S - U$, as a formula in q, u, u' and t.

        $$ \frac{\partial R}{\partial\dot u_j} = \Phi^*_j $$
        are the equations of motion, with the thrust $\Phi^*$ of streams, which is zero without any; masses and forces
        are held while R is differentiated. What contains no acceleration is left out.

        Args:
            model: A small model; of others `equations.show()` has the equations, with names for what is long.

        Example:
            >>> import appell as ap
            >>> x, y = ap.coordinates("x y")
            >>> ground = ap.Frame("ground")
            >>> ball = ap.Particle("ball", 2, ground.point(x, y))
            >>> ap.GibbsAppell().function(ap.Model(ground, (x, y), [ball], [ap.Gravity(-10 * ground.y)]))
            x''**2 + y''**2 + 20*y''

        Reference: Qiao 1990, eqs. (3.9) and (4.11).
        """
        mechanics = Mechanics(model)
        self.check(mechanics)
        chart = self._chart(mechanics, self.choose(mechanics))
        return written(chart, chart.acceleration_energy)

    def _chart(self, mechanics: Mechanics, split: Split) -> Chart:
        """The speeds, and the motion in terms of them."""
        speeds = self.speeds if self.angular is None else mechanics.turning(self.angular).free(split)
        return Chart.of(mechanics, split, speeds)


def _axes(angular: str | None, fixed: bool) -> str | None:
    """Along which axes angular velocities are wanted, if they are."""
    if angular is None or (angular in AXES and not fixed):
        return angular
    if angular in AXES:
        raise FormulationError("Give speeds=, dependent= or angular=, only one of them.")
    raise FormulationError(f"angular= is one of {', '.join(map(repr, AXES))}, got {quoted(angular)}.")


def differentiated(formulation: AbstractFormulation, chart: Chart, S: ca.SX, Q: ca.SX) -> Equations:
    """dR/dy = 0 with R = S - U.

    Forces are frozen in dU/dy, also a thrust that contains accelerations through dm/dt (Qiao 1990, eq. (3.10)).

    Args:
        formulation: Whose equations they are.
        chart: The model in its speeds.
        S: The acceleration energy in them, masses as frozen letters.
        Q: The forces along the coordinates.
    """
    mechanics, held = chart.mechanics, ca.SX.sym("held", Q.numel())
    frozen = ca.substitute(Q, mechanics.a, held) if mechanics.accelerating else Q
    residual = ca.gradient(S - ca.dot(chart.in_speeds(frozen), chart.a), chart.y)
    if mechanics.accelerating:
        residual = ca.substitute(residual, held, chart.a)
    return Equations.of_residual(formulation, chart, residual)


def written(chart: Chart, S: ca.SX) -> sp.Expr:
    """R = S - U as a formula, U of all forces but streams, without what contains no acceleration.

    Args:
        chart: The model in its speeds.
        S: The acceleration energy in them, masses as frozen letters.
    """
    mechanics, y = chart.mechanics, chart.unknowns
    model, x, n = mechanics.model, mechanics.variables, len(y)
    streams = {i for i, force in enumerate(model.forces) if isinstance(force, Stream)}
    acting = (force.Q for i, force in enumerate(mechanics.forces) if i not in streams)
    U = ca.dot(chart.in_speeds(total(acting, ca.SX.zeros(mechanics.a.numel()))), chart.a)
    slope = ca.gradient(S - U, chart.y)
    A, rest = ca.jacobian(slope, chart.y), ca.substitute(slope, chart.y, ca.SX.zeros(*chart.y.shape))
    entries = chart.thaw(ca.densify(ca.vertcat(ca.vec(A), rest)))
    leaves = [x.t, x.q, chart.u, x.z, x.w, x.p]
    letters = [(time,), model.coordinates, chart.letters, tuple(model.states), model.inputs, model.parameters]
    size = operations(ca.Function("R", leaves, [entries]))
    found = short_formulas(entries, leaves, letters) if size <= READABLE else sp.zeros(0, 1)
    if size > READABLE or sum(sp.count_ops(e) for e in found) > READABLE:
        raise FormulationError(
            f"The function R of {model.name!r} is too long to be read as one formula; equations.show() writes its "
            "equations with names for what is long."
        )
    squares = [found[i + n * i] * y[i] ** 2 / 2 for i in range(n)]
    products = [found[i + n * j] * y[i] * y[j] for i in range(n) for j in range(i)]
    return sp.Add(*squares, *products, *(found[n * n + i] * y[i] for i in range(n)))
