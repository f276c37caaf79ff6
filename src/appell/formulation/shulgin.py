"""Shulgin's equations: redundant coordinates, dependent velocities eliminated by the geometric constraints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import isfinite
from numbers import Real

import casadi as ca

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation, dependent_ones
from appell.graph.solve import solve
from appell.graph.sparse import fresh
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.symbols import Coordinate

PATIENCE = 30.0  # growth of the dependent velocities, against the best choice, at which a wanted choice is given up
PROJECTION = "projection"


class Shulgin(AbstractFormulation):
    r"""Shulgin's equations: state (r, r', s), 2n + m equations of first order, no multipliers.

    $$ \frac{d}{dt}\frac{\partial T^*}{\partial\dot r} - \frac{\partial T^*}{\partial r}
       - B^T\frac{\partial T^*}{\partial s} = Q_r^* + B^T Q_s^*, \qquad \dot s = B(q)\dot r, \qquad B = -F_s^{-1}F_r $$
    for q = (r, s) under F(q) = 0, where * means $\dot s = B\dot r$ put in. Derived in the explicit form (15),
    $$ a^*_{lk}\ddot r_k + (D_j a^*_{lk})\dot r_k\dot r_j - \tfrac12 (D_l a^*_{kj})\dot r_k\dot r_j
       + (D_k a^*_l - D_l a^*_k)\dot r_k - D_l T_0 = Q^*_l + B_{\mu l}Q^*_\mu, \qquad
       D_l = \partial_{r_l} + B_{\mu l}\partial_{s_\mu}, $$
    by the chain rule with $D_l B = -F_s^{-1}(D_l F_q) N$, $N = (1, B)^T$: no inverse is ever differentiated.
    Constraints that depend on time have $\dot s = B\dot r + b$, $b = -F_s^{-1}F_t$; the equation stays the same.

    The F are first integrals of these equations, whatever value they have. A run keeps F = 0 by moving s alone.

    Accepts: holonomic constraints, also depending on time; masses that change, at frozen mass.
    Unknowns: one per degree of freedom; A symmetric and positive definite. T itself need not be: only N'aN counts.

    Args:
        dependent: The coordinates s, one for each independent constraint row; chosen by pivoting if left out. A run
            changes the choice where it becomes singular, a given one as late as possible.
        drift: What removes the drift of F: `"projection"`, Newton's method on s after every step (r and r' are not
            touched); a number k > 0, the term in s' = B r' - k F_s^-1 F, so that F' = -k F; or 0, nothing: a run may
            then begin off the constraints, on F = c, and stays there.
        explicit: Whether (15) is derived, or (14) by differentiating T* itself; the result is the same.

    Example:
        >>> import appell as ap
        >>> model = ap.library.ball_and_beam()
        >>> theta, xi, alpha = model.coordinates
        >>> print(ap.derive(model, Shulgin(dependent=[alpha])).summary().splitlines()[0][:44])
        ball and beam by Shulgin: 5 states, 2 equati

    Reference: Shulgin 1958; Krasinskiy 2025, eqs. (14), (15), corrected.
    """

    name = "Shulgin"
    accepts = frozenset({"holonomic"})
    reference = "Shulgin 1958; Krasinskiy 2025"

    def __init__(
        self,
        dependent: Iterable[Coordinate | str] | None = None,
        drift: str | float = PROJECTION,
        explicit: bool = True,
    ) -> None:
        self.dependent = dependent_ones(dependent)
        if isinstance(drift, str):
            known = drift == PROJECTION
        else:
            known = isinstance(drift, Real) and not isinstance(drift, bool) and isfinite(drift) and drift >= 0
        if not known:
            raise FormulationError(
                f"Got drift={drift!r}; give 'projection', a rate k > 0 in 1/s for the term -k F, or 0 for neither."
            )
        self.drift, self.explicit = drift, explicit

    @property
    def fixed(self) -> bool:
        """A wanted choice may be changed, too."""
        return False

    @property
    def patience(self) -> float:
        """A wanted choice is kept longer than an automatic one, but not until it is singular."""
        return super().patience if self.dependent is None else PATIENCE

    def movable(self, mechanics: Mechanics, split: Split) -> tuple[int, ...]:
        """s, or nothing."""
        return split.dependent if self.drift == PROJECTION else ()

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """A = N'aN and the rest of (15) or (14)."""
        chart = _chart(mechanics, split)
        left = _explicit(chart) if self.explicit else _implicit(chart)
        right = chart.displacements.T @ ca.substitute(chart.in_speeds(mechanics.Q), mechanics.a, chart.a)
        equations = Equations.of_residual(self, chart, left - right)
        if split.rows and not isinstance(self.drift, str) and self.drift > 0:
            return replace(equations, chart=_drawn(chart, self.drift))
        return equations


def _chart(mechanics: Mechanics, split: Split) -> Chart:
    """q' = N u + b and q'' = N y + (0, F_s^-1 gamma), by solving with F_s."""
    if not split.rows:
        return Chart.of(mechanics, split)
    x, rows, s = mechanics.variables, list(split.rows), list(split.dependent)
    r = split.free(x.q.numel())
    letters = tuple(mechanics.model.coordinates[i].rate for i in r)
    u, y = fresh(letters), fresh(e.rate for e in letters)
    J, F_t = mechanics.J[rows, :], ca.substitute(mechanics.e[rows, :], x.v, ca.SX.zeros(x.q.numel()))
    found = solve(J[:, s], ca.horzcat(-J[:, r], -F_t))
    B, b = found[:, : len(r)], found[:, len(r)]
    K = _placed(r, s, u, B @ u + b)
    gamma = ca.substitute(mechanics.gamma[rows, :], x.v, K)
    a = _placed(r, s, y, B @ y + solve(J[:, s], gamma))
    return Chart(
        mechanics=mechanics,
        split=split,
        letters=letters,
        u=u,
        K=K,
        y=y,
        unknowns=tuple(e.rate for e in letters),
        udot=y,
        a=a,
        formulas=x.v[r, 0],
        redundant=False,
    )


def _placed(r: list[int], s: list[int], independent: ca.SX, dependent: ca.SX) -> ca.SX:
    """Rows for r and rows for s in the order of the coordinates."""
    column = ca.SX(len(r) + len(s), independent.shape[1])
    column[r, :], column[s, :] = independent, dependent
    return column


def _explicit(chart: Chart) -> ca.SX:
    """The left-hand side of (15), contracted with the velocities: derivatives of a, a_1, T_0 and F_q only."""
    mechanics, split = chart.mechanics, chart.split
    x, rows, s = mechanics.variables, list(split.rows), list(split.dependent)
    N = chart.displacements
    momentum = ca.gradient(mechanics.T, x.v)
    a = ca.jacobian(momentum, x.v)
    carried = ca.jtimes(momentum, ca.vertcat(x.q, x.t), ca.vertcat(x.v, 1))
    slope = ca.gradient(mechanics.T, x.q)
    momentum, a, carried, slope = (chart.in_speeds(e) for e in (momentum, a, carried, slope))
    left = N.T @ (a @ chart.a + carried - slope)
    if not rows:
        return left
    J = mechanics.J[rows, :]
    J_rate = ca.reshape(ca.jtimes(ca.vec(J), ca.vertcat(x.q, x.t), ca.vertcat(x.v, 1)), J.shape)
    along = ca.jacobian(mechanics.e[rows, :], x.q)
    J_rate, along = (chart.in_speeds(e) for e in (J_rate, along))
    # B' from the rate of F_q, D_l s' from its slope along the leaf: equal, because the constraints are integrable.
    turned = solve(J[:, s], ca.horzcat(-J_rate @ N, -along @ N))
    B_rate, leaf = turned[:, : N.shape[1]], turned[:, N.shape[1] :]
    return left + (B_rate - leaf).T @ momentum[s]


def _implicit(chart: Chart) -> ca.SX:
    """The left-hand side of (14): T* differentiated as it stands."""
    x, s = chart.mechanics.variables, list(chart.split.dependent)
    r = chart.split.free(x.q.numel())
    T_star = chart.in_speeds(chart.mechanics.T)
    slopes = ca.gradient(T_star, x.q)
    left = chart.frozen_derivative(ca.gradient(T_star, chart.u)) - slopes[r]
    return left - chart.displacements[s, :].T @ slopes[s] if s else left


def _drawn(chart: Chart, rate: float) -> Chart:
    """The same with s' = B r' + b - k F_s^-1 F."""
    mechanics, s = chart.mechanics, list(chart.split.dependent)
    x, rows = mechanics.variables, list(chart.split.rows)
    F = mechanics.c[[mechanics.position_rows.index(i) for i in rows]]
    K = ca.SX(chart.K)
    K[s] -= rate * solve(mechanics.J[rows, s], F)
    a = ca.jtimes(K, ca.vertcat(x.q, chart.u, x.t), ca.vertcat(K, chart.y, 1))
    return replace(chart, K=K, a=a)
