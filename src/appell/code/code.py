"""The code of a set of equations: functions made when first asked for, shared by all bindings of numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca

from appell.code.machine import Machine
from appell.equations import Equations
from appell.graph.solve import determinant, solve, solve_spd
from appell.graph.sparse import densified
from appell.kinematics.split import Split
from appell.once import once

HUGE = 1e300  # what is not below is no number, or as good as infinite


class Code:
    """Functions of t, x, w, p for one choice of speeds, and the same for other choices on demand.

    Args:
        equations: The equations.
        simd: Whether batches may use heyoka.
        build: What makes the functions of single calls, such as `appell.code.native.native`; CasADi's own if left out.
        steps: Whether the steps of single runs become machine code as well.
    """

    def __init__(
        self,
        equations: Equations,
        simd: bool = True,
        build: Callable[[ca.Function], ca.Function] | None = None,
        steps: bool = False,
    ) -> None:
        self.equations = equations
        self.simd, self.build, self.steps = simd, build, steps
        self._siblings: dict[Split, Code] = {equations.split: self}
        self.shape = (equations.x.numel(),)

    def __reduce__(self) -> tuple[Any, ...]:
        return Code, (self.equations, self.simd, self.build, self.steps)

    def __getattr__(self, name: str) -> Machine:
        if name.startswith("_") or name not in _RECIPES:
            raise AttributeError(name)
        machine = Machine(function_of(self.equations, name), self.simd, self.build)
        setattr(self, name, machine)  # found without this detour from now on
        return machine

    @property
    def machine(self) -> str:
        """What was asked for to evaluate them, as `compile` takes it."""
        return "heyoka" if self.steps else "casadi" if not self.simd else "auto" if self.build is None else "c"

    @property
    def single(self) -> Machine:
        """The right-hand side for single calls: as it was derived, unless somebody needed the one with shared parts.

        They save a tenth of its operations, and looking for them takes as long as thousands of calls.
        """
        looked = "rhs" in vars(self) or self.equations.plain or self.build is not None
        return self.rhs if looked else self._unshared

    @cached_property
    def _unshared(self) -> Machine:
        equations = self.equations
        return Machine(ca.Function("rhs", equations.arguments, [equations.unshared]), simd=False)

    @cached_property
    def speeds(self) -> Machine:
        """u from t, q, v, z, p."""
        x = self.equations.mechanics.variables
        formulas = densified(self.equations.chart.formulas)
        return Machine(ca.Function("speeds", [x.t, x.q, x.v, x.z, x.p], [formulas]), simd=False)

    @cached_property
    def direct(self) -> bool:
        """Whether the speeds are the rates themselves."""
        chart = self.equations.chart
        return bool(chart.K.numel() == chart.u.numel() and ca.is_equal(ca.densify(chart.K), chart.u))

    @cached_property
    def alarm(self) -> ca.Function | None:
        """(t, x, w, p) -> growth, and a side that changes its sign where given speeds are dependent.

        None where that takes the determinant of a large matrix.
        """
        equations, side = self.equations, ca.SX(1)
        if equations.formulation.fixed and not equations.chart.redundant:
            side = determinant(_stacked(equations)[0])
        return None if side is None else ca.Function("alarm", equations.arguments, [*_growth(equations), side])

    @cached_property
    def alarms(self) -> Machine | None:
        """The same at numbers."""
        return None if self.alarm is None else Machine(self.alarm, simd=False)

    @cached_property
    def second(self) -> Machine:
        """q'' from t, x, w, p and x'."""
        t, x, w, p = self.equations.arguments
        rate = ca.SX.sym("rate", x.numel())
        a = ca.jtimes(self.equations.with_laws(self.equations.chart.K), ca.vertcat(x, t), ca.vertcat(rate, 1))
        return Machine(ca.Function("second", [t, x, w, p, rate], [ca.densify(a)], {"cse": True}), simd=False)

    def with_equations(self, equations: Equations) -> Code:
        """The code of other equations, for the same machines."""
        return Code(equations, self.simd, self.build, self.steps)

    def with_split(self, split: Split) -> Code:
        """The code for other dependent velocities: derived once, then remembered."""
        if split not in self._siblings:
            old = self.equations
            new = old.formulation.derive(old.mechanics, split)
            sibling = self.with_equations(new.close(old.closed) if old.closed else new)
            sibling._siblings = self._siblings
            self._siblings[split] = sibling
        return self._siblings[split]


def _jacobian(equations: Equations) -> list[ca.SX]:
    return [ca.densify(ca.jacobian(equations.xdot, equations.x))]


def _linear_system(equations: Equations) -> list[ca.SX]:
    return [ca.densify(equations.with_laws(equations.A)), ca.densify(equations.with_laws(equations.b))]


def _branch(equations: Equations) -> list[ca.SX]:
    """How far the accelerations are off the rows on accelerations, as a share of their size."""
    mechanics = equations.mechanics
    a = equations.qddot
    f, slope = (
        ca.substitute(equations.in_state(e), mechanics.a, a)
        for e in (mechanics.f, ca.jacobian(mechanics.f, mechanics.a))
    )
    sizes = ca.vertcat(*[ca.norm_2(slope[i, :].T) for i in range(f.numel())])
    return [ca.densify(f / (sizes * (1 + ca.norm_2(a))))]


def _stacked(equations: Equations) -> list[ca.SX]:
    """The rates of speeds and rows by velocities: regular where the speeds describe the motion."""
    chart, v = equations.chart, equations.mechanics.variables.v
    rows = equations.mechanics.J[list(chart.split.rows), :]
    return [ca.densify(equations.in_state(ca.vertcat(ca.jacobian(chart.formulas, v), rows)))]


def _projected(equations: Equations) -> list[ca.SX]:
    """x after two Newton steps onto the position rows, and onto the velocity rows where the speeds are redundant."""
    t, x, _, p = equations.arguments
    mechanics, rows = equations.mechanics, equations.split.rows
    n, m = len(equations.coordinates), len(equations.speeds)
    q, u, z = ca.vertsplit(x, [0, n, n + m, x.numel()])
    positions = [k for k, row in enumerate(mechanics.position_rows) if row in rows]
    columns = list(equations.formulation.movable(mechanics, equations.split))
    if positions and columns:
        for _ in range(2):
            c, J = mechanics.functions["position"](t, q, p)
            step = ca.SX.zeros(n)
            step[columns] = _smallest_step(J[positions, columns], c[positions])
            q = q - step
    velocities = [row for row in rows if row not in mechanics.acceleration_rows]
    if equations.chart.redundant and velocities:
        for _ in range(2):
            e, J = mechanics.functions["velocity"](t, q, u, z, p)
            u = u - _smallest_step(J[velocities, :], e[velocities])
    return [ca.densify(ca.vertcat(q, u, z))]


def _smallest_step(J: ca.SX, residual: ca.SX) -> ca.SX:
    """The shortest d with J d = residual."""
    J = ca.sparsify(J)
    return J.T @ solve_spd(J @ J.T, residual)


@once
def _growth(equations: Equations) -> list[ca.SX]:
    """How strongly the speeds are amplified into rates, as `Split.growth` says, whatever their units; at least 1."""
    split = equations.split
    if equations.formulation.fixed:
        chart = equations.chart
        N = chart.displacements
        entries = equations.with_laws(N if chart.redundant else chart.by_units(N))
    else:
        J = equations.mechanics.rows_by(equations.formulation.angular)[list(split.rows), :]
        others = split.free(J.shape[1])
        entries = equations.in_state(solve(J[:, list(split.dependent)], J[:, others]))
    if not entries.numel():
        return [ca.SX(1)]
    sizes = ca.fabs(ca.vec(ca.densify(entries)))
    # The largest of several numbers does not show what is none; their sum does.
    return [ca.if_else(ca.sum1(sizes) < HUGE, ca.fmax(1.0, ca.mmax(sizes)), HUGE)]


_RECIPES = {
    "projected": _projected,
    "growth": _growth,
    "stacked": _stacked,
    "branch": _branch,
    "rhs": lambda eqs: [eqs.xdot],
    "jacobian": _jacobian,
    "linear_system": _linear_system,
    "spread": lambda eqs: [ca.densify(eqs.with_laws(eqs.chart.displacements))],
    "rates": lambda eqs: [ca.densify(eqs.with_laws(eqs.chart.K))],
    "laws": lambda eqs: [ca.densify(eqs.laws[1])],
    "accelerations": lambda eqs: [ca.densify(eqs.qddot)],
}


def force_powers(equations: Equations) -> ca.SX:
    """The power of every force of the model, and the part of all by what moves by itself in time, in the state."""
    mechanics = equations.mechanics
    powers, carried = mechanics.powers
    column = mechanics.variables.thaw(ca.vertcat(powers, carried))
    if mechanics.accelerating:
        column = ca.substitute(column, mechanics.a, equations.qddot)
    return ca.densify(equations.in_state(column))


def function_of(equations: Equations, name: str) -> ca.Function:
    """A named function of t, x, w, p."""
    return ca.Function(name, equations.arguments, _RECIPES[name](equations), {"cse": name != "rhs"})
