"""The generalised programmed motion equations, derived as Jarzebowska does: P_p, R_p, R*_p."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import casadi as ca

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import dependent_ones
from appell.formulation.programmed_motion import (
    AbstractProgrammedMotion,
    Options,
    assembled,
    displacements,
    projected_rates,
)
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.symbols import Coordinate
from appell.model.values import whole


class GPME(AbstractProgrammedMotion):
    r"""Generalised programmed motion equations, by the functions of order p.

    $$ \frac{\partial R_p^*}{\partial q_\mu^{(p)}} = 0, \qquad
       R_p = \frac1p\Bigl[T^{(p)} - (p+1)\sum_s\frac{\partial T}{\partial q_s}q_s^{(p)}\Bigr] - \sum_s Q_s q_s^{(p)} $$
    $R_p^*$ is $R_p$ with $q_\beta^{(p)} = g_\beta(\dots, q_\mu^{(p)})$ put in, and nothing else;
    $\partial T/\partial q$ and Q are held while it is differentiated. Together with the K rows: n equations
    for n accelerations.

    Accepts: every kind of constraint, material and programmed, of any order; servo constraints with the displacements
    that their drives leave free. For programmes of order p >= 3 the rates of the multipliers come from $N^T E = 0$,
    differentiated p - 2 times.

    Args:
        order: p; the highest order of a row (at least 1) if left out. Every p gives the same equations.
        dependent: Coordinates whose derivatives the rows give; chosen by conditioning, and changed during a run, if
            left out.
        stabilize: Baumgarte's (alpha, beta) in place of projection, for all rows or by name of a row.
        literal: Errors of the printed equations to reproduce: `"P1"` (dT/dq not held at p = 1), `"Q"` (nor Q),
            `"time"` (explicit time derivatives of the rows dropped; with `stabilize`).

    Reference: Jarzebowska 2008; Jarzebowska et al., eqs. (2.2)-(2.4), (4.9).
    """

    name = "GPME"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration", "servo"})
    reference = "Jarzebowska 2008"

    def __init__(
        self,
        order: int | None = None,
        dependent: Iterable[Coordinate | str] | None = None,
        stabilize: Mapping[str, tuple[float, float]] | tuple[float, float] | None = None,
        literal: Iterable[str] = (),
    ) -> None:
        self.order = None if order is None else whole("The order p of GPME", order)
        self.dependent = dependent_ones(dependent)
        self.options = Options.of(stabilize, literal, ("P1", "Q", "time"))
        if self.options.literal & {"P1", "Q"} and order not in (None, 1):
            raise FormulationError("literal='P1' and 'Q' are errors of p = 1 only; leave out order=, or give order=1.")

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """The gradient of R*_p, and the rows."""
        programme = mechanics.model.programme
        p = self.order or max([1, *(row.order for row in (*mechanics.model.rows, *programme))])
        if self.options.literal & {"P1", "Q"}:
            p = 1
        if _one_ideal_order(mechanics):
            free = sum((f.Q for f in mechanics.forces[: -len(programme)]), ca.SX.zeros(mechanics.a.numel()))
            E = gradient_of_P(mechanics, p) - free
            mechanics = projected_rates(mechanics, mechanics.variables.thaw(E))
        return assembled(self, mechanics, split, self._reduced(mechanics, split, p), self.options)

    def _reduced(self, mechanics: Mechanics, split: Split, p: int) -> ca.SX:
        """dR*_p/dq_mu^(p), in t, q, v, a."""
        N = displacements(mechanics, split)
        free, dependent = split.free(mechanics.a.numel()), list(split.dependent)
        jets = _jets(mechanics, p)
        top = jets[p]
        Q = mechanics.Q
        force = ca.SX.sym("Q", top.numel())
        dT = ca.SX.sym("dT", top.numel())
        R = _P(mechanics, p, jets, dT) - ca.dot(force, top)
        held_top = ca.SX.sym("held", len(free))
        inserted = ca.SX.sym("beta", len(dependent))
        if dependent:
            R = ca.substitute(R, top[dependent, 0], inserted + N[dependent, :] @ (top[free, 0] - held_top))
        gradient = ca.gradient(R, top[free, 0]) if free else ca.SX(0, 1)
        if dependent:
            back = ca.vertcat(held_top, inserted)
            gradient = ca.substitute(gradient, back, ca.vertcat(top[free, 0], top[dependent, 0]))
        gradient = ca.substitute(gradient, ca.vertcat(force, dT), ca.vertcat(Q, _slope(mechanics)))
        # What the paper's literal rule adds at p = 1: derivatives of dT/dq and of Q by the velocities.
        if "P1" in self.options.literal:
            gradient = gradient - 2 * N.T @ ca.jtimes(_slope(mechanics), jets[1], jets[1], True)
        if "Q" in self.options.literal:
            gradient = gradient - N.T @ ca.jtimes(Q, jets[1], jets[1], True)
        return gradient


def _one_ideal_order(mechanics: Mechanics) -> bool:
    rows = mechanics.model.programme
    plain = all(row.drive is None and not row.gauss for row in rows)
    servo = any(row.drive is not None for row in mechanics.model.rows)
    return bool(rows) and plain and not servo and len({row.order for row in rows}) == 1


def _jets(mechanics: Mechanics, p: int) -> list[ca.SX]:
    """q, q', q'', ..., q^(p+1) as letters."""
    x = mechanics.variables
    more = [ca.SX.sym(f"q{k}", x.q.numel()) for k in range(3, p + 2)]
    return [x.q, x.v, mechanics.a, *more]


def _slope(mechanics: Mechanics) -> ca.SX:
    return ca.gradient(mechanics.T, mechanics.variables.q)


def _P(mechanics: Mechanics, p: int, jets: list[ca.SX], dT: ca.SX) -> ca.SX:
    """P_p = (1/p) [T^(p) - (p+1) sum dT/dq_s q_s^(p)], with dT/dq as letters."""
    x, power = mechanics.variables, mechanics.T
    for _ in range(p):
        power = ca.jtimes(power, ca.vertcat(x.t, *jets[:-1]), ca.vertcat(1, *jets[1:]))
    return (power - (p + 1) * ca.dot(dT, jets[p])) / p


def gradient_of_P(mechanics: Mechanics, p: int) -> ca.SX:
    """dP_p/dq^(p) with dT/dq held: the Lagrange operator, by the identity of Mangeron and Deleanu."""
    jets, dT = _jets(mechanics, p), ca.SX.sym("dT", mechanics.a.numel())
    return ca.substitute(ca.gradient(_P(mechanics, p, jets, dT), jets[p]), dT, _slope(mechanics))
