"""The best use of what a programme leaves free: direct collocation, solved by IPOPT through CasADi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import Chebyshev

from appell.code.state import number, unknown
from appell.code.system import System, compile
from appell.errors import AppellError, ModelError
from appell.formulation.abstract import derive
from appell.formulation.gpme import GPME
from appell.kinematics.chart import Split
from appell.kinematics.consistency import jacobian_at
from appell.model.frame import Vector
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.symbols import key, t
from appell.planning.feasibility import Limits
from appell.planning.planner import Plan, plan
from appell.planning.projection import projected

GOALS = ("effort", "jerk")


@dataclass(frozen=True)
class Obstacle:
    """A round obstacle that a point keeps away from.

    Attributes:
        point: A point of a body.
        centre: Centre of the obstacle; its components may contain `appell.t`.
        radius: The distance to keep.
    """

    point: Vector
    centre: Vector
    radius: float


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best motion found.

    Attributes:
        plan: Its plan, simulated with the free coordinates following what was found.
        cost: The integral of the goal along that motion.
        free: The coordinates that were free, with the formulas of their accelerations.
        iterations: Of the solver.
    """

    plan: Plan
    cost: float
    free: Mapping[str, sp.Expr]
    iterations: int

    def __repr__(self) -> str:
        names = ", ".join(self.free)
        return f"cost {self.cost:.6g} by the accelerations of {names}, {self.iterations} iterations\n{self.plan!r}"


def optimise(
    model: Model,
    goal: str = "effort",
    end: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    limits: Limits | None = None,
    obstacles: Sequence[Obstacle] = (),
    values: Mapping[Any, float] | None = None,
    degree: int = 8,
    nodes: int = 41,
) -> Optimum:
    r"""The motion within a programme with the least effort $\int |\tau|^2 dt$ or jerk $\int |q^{(3)}|^2 dt$.

    All coordinates are taken to be driven, $\tau = M\ddot q - F$. The accelerations of n - K free coordinates are
    Chebyshev polynomials in time; the others follow from the rows at every node. The motion found is then simulated
    with these polynomials as programmes of order two, so that what is returned is exact.

    Args:
        model: A model with programmed rows of order 2 or less.
        goal: `"effort"` or `"jerk"`.
        end: Values of free coordinates and rates at the end, by name.
        start: Where to begin, moved onto the programme.
        until: Duration.
        limits: Limits of positions, speeds and torques that the motion keeps at the nodes.
        obstacles: What points keep away from.
        values: Numbers of parameters and inputs.
        degree: Degree of the polynomials.
        nodes: How many nodes.

    Returns:
        The optimum with its plan.
    """
    if goal not in GOALS:
        raise ModelError(f"goal= is 'effort' or 'jerk', got {goal!r}.")
    if not model.programmed or model.programme:
        raise ModelError(f"optimise needs programmed rows of order 2 or less; {model.name!r} has not.")
    system = compile(derive(model, GPME())).bind(values)
    state = projected(system, start)
    duration = number("until", model.until if until is None else until)
    free = _free(system, state)
    if not free:
        raise ModelError(f"The rows of {model.name!r} leave nothing free; use plan.")
    problem = _Problem(system, state, duration, free, degree, nodes)
    problem.keep(limits or Limits(), obstacles)
    problem.end(end or {})
    found, iterations = problem.solve(goal)
    rows, formulas = [], {}
    for k, i in enumerate(free):
        q, poly = model.coordinates[i], found[k].convert(domain=[0, duration], kind=Polynomial, window=[0, 1])
        formula = sum((sp.Float(c) * (t / duration) ** j for j, c in enumerate(poly.coef)), sp.Integer(0))
        formulas[q.label] = formula
        rows.append(Programmed(q.rate.rate - formula, f"optimal {q.name}"))
    start_values = dict(zip(state.names, state.array.tolist(), strict=True))
    made = plan(model.add(*rows), values, start_values, duration, limits)
    return Optimum(made, _cost(made, goal), formulas, iterations)


def _free(system: System, state: Any) -> list[int]:
    mechanics = system.equations.mechanics
    J = jacobian_at(mechanics, state.t, state.q, state.v, state.z, system.p)
    taken = Split.at(J).dependent
    return [i for i in range(J.shape[1]) if i not in taken]


def _cost(made: Plan, goal: str) -> float:
    times = made.times
    if goal == "effort":
        return float(np.trapezoid(np.sum(made.torques["torque"].values ** 2, axis=1), times))
    system = made.motion.system
    a = np.array([system.accelerations(made.motion.at(float(s))) for s in times])
    return float(np.trapezoid(np.sum(np.gradient(a, times, axis=0, edge_order=2) ** 2, axis=1), times))


class _Problem:
    """The nonlinear programme: coefficients of the free accelerations, states at the nodes."""

    def __init__(self, system: System, state: Any, duration: float, free: list[int], degree: int, nodes: int) -> None:
        self.system, self.state, self.free, self.duration = system, state, free, duration
        mechanics, n = system.equations.mechanics, state.q.size
        self.times = np.linspace(0.0, duration, nodes)
        opti = self.opti = ca.Opti()
        self.c = opti.variable(len(free), degree + 1)
        self.q, self.v, self.a = (opti.variable(n, nodes) for _ in range(3))
        self.tau: list[ca.MX] = []
        basis = [Chebyshev.basis(j, domain=[0, duration]) for j in range(degree + 1)]
        second = np.array([b(self.times) for b in basis])
        first = np.array([b.integ(1, lbnd=0)(self.times) for b in basis])
        zeroth = np.array([b.integ(2, lbnd=0)(self.times) for b in basis])
        for k, i in enumerate(free):
            opti.subject_to(self.a[i, :] == self.c[k, :] @ second)
            opti.subject_to(self.v[i, :] == state.v[i] + self.c[k, :] @ first)
            opti.subject_to(self.q[i, :] == state.q[i] + state.v[i] * self.times[None, :] + self.c[k, :] @ zeroth)
        dependent = [i for i in range(n) if i not in free]
        geometric = all(row.order == 0 for row in system.model.rows)
        rows = list(Split.at(jacobian_at(mechanics, 0.0, state.q, state.v, state.z, system.p)).rows)
        w = [system.values.get(s.label, 0.0) for s in system.model.inputs]
        h = np.diff(self.times)
        for k, moment in enumerate(self.times):
            q, v, a = self.q[:, k], self.v[:, k], self.a[:, k]
            M, F, _, gamma, C = mechanics.functions["multiplier"](moment, q, v, state.z, w, system.p)
            self.tau.append(M @ a - F)
            opti.subject_to(C[rows, :] @ a == gamma[rows])
            if geometric:
                opti.subject_to(mechanics.functions["position"](moment, q, system.p)[0][rows] == 0)
                opti.subject_to(mechanics.functions["velocity"](moment, q, v, state.z, system.p)[0][rows] == 0)
            elif k == 0:
                opti.subject_to(q[dependent] == state.q[dependent])
                opti.subject_to(v[dependent] == state.v[dependent])
            else:
                before, step = k - 1, h[k - 1]
                q0, v0, a0 = self.q[dependent, before], self.v[dependent, before], self.a[dependent, before]
                opti.subject_to(v[dependent] == v0 + step * (a0 + a[dependent]) / 2)
                opti.subject_to(q[dependent] == q0 + step * v0 + step**2 * (2 * a0 + a[dependent]) / 6)
        guess = _guess(system, state, self.times)
        for variable, values in zip((self.q, self.v, self.a), guess, strict=True):
            opti.set_initial(variable, values.T)

    def keep(self, limits: Limits, obstacles: Sequence[Obstacle]) -> None:
        """Limits and obstacles, at the nodes."""
        opti = self.opti
        for kind, i, (low, high) in limits.pairs(self.system.model):
            if kind == "torque_rate":
                raise ModelError("optimise keeps limits of positions, speeds and torques, not of torque rates.")
            if kind == "torque":
                column = ca.horzcat(*self.tau)[i, :]
            else:
                column = (self.q if kind == "position" else self.v)[i, :]
            opti.subject_to(opti.bounded(low, column, high))
        x = self.system.equations.mechanics.variables
        for obstacle in obstacles:
            gap = self.system.model.ground.components(obstacle.point - obstacle.centre)
            f = ca.Function("gap", [x.t, x.q, x.p], [x.lower(sum((e**2 for e in gap), sp.Integer(0)))])
            for k, moment in enumerate(self.times):
                opti.subject_to(f(moment, self.q[:, k], self.system.p) >= obstacle.radius**2)

    def end(self, end: Mapping[Any, float]) -> None:
        """Values at the end."""
        names = {self.system.model.coordinates[i].label: (self.q, i) for i in self.free}
        names |= {self.system.model.coordinates[i].rate.label: (self.v, i) for i in self.free}
        for name, value in end.items():
            if key(name) not in names:
                raise ModelError(unknown(key(name), list(names), "free coordinate or rate that could be given an end"))
            column, i = names[key(name)]
            self.opti.subject_to(column[i, -1] == number(key(name), value))

    def solve(self, goal: str) -> tuple[list[Chebyshev], int]:
        """The polynomials of the free accelerations."""
        weights = np.gradient(self.times)
        weights[[0, -1]] /= 2 if weights[0] == weights[1] else 1
        if goal == "effort":
            cost = sum((w * ca.sumsqr(tau) for w, tau in zip(weights, self.tau, strict=True)), ca.MX(0))
        else:
            step = np.diff(self.times)
            jerk = (self.a[:, 1:] - self.a[:, :-1]) / ca.repmat(ca.DM(step).T, self.a.shape[0], 1)
            cost = ca.sum2(ca.sum1(jerk**2) * ca.DM(step).T)
        self.opti.minimize(cost)
        self.opti.solver("ipopt", {"print_time": False}, {"print_level": 0, "sb": "yes", "max_iter": 500})
        try:
            solution = self.opti.solve()
        except RuntimeError:
            reason = self.opti.return_status()
            raise AppellError(
                f"No motion of {self.system.model.name!r} was found that keeps programme, limits, obstacles and end "
                f"({reason}); relax them, give more time, or a higher degree."
            ) from None
        c = np.atleast_2d(solution.value(self.c))
        made = [Chebyshev(row, domain=[0, self.duration]) for row in c.reshape(len(self.free), -1)]
        return made, int(solution.stats()["iter_count"])


def _guess(system: System, state: Any, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The motion without any drive of the free coordinates, as far as it goes."""
    from appell.motion.run import simulate

    motion = simulate(system, state, float(times[-1]))
    inside = np.minimum(times, motion.times[-1])
    rows, n = motion.states(inside), state.q.size
    a = np.array([system.accelerations(motion.at(float(s))) for s in inside])
    return rows[:, :n], rows[:, n : 2 * n], a
