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
from appell.model.values import number, unknown
from appell.motion.run import simulate
from appell.planning.feasibility import Finding, Limits
from appell.planning.nodes import Nodes
from appell.planning.planner import Plan, plan
from appell.planning.projection import projected

GOALS = ("effort", "jerk")
FINE = 129  # times at which limits and obstacles are kept, and at which the cost is taken
TRIES = 4  # solutions, each with the limits a little tighter where the one before overstepped them in between


@dataclass(frozen=True)
class Obstacle:
    """A round obstacle that a point keeps away from.

    Attributes:
        point: A point of a body.
        center: Centre of the obstacle; its components may contain `appell.t`.
        radius: The distance to keep.
    """

    point: Vector
    center: Vector
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


def optimize(
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
    Chebyshev polynomials in time; the others follow from the rows at Chebyshev's points. The motion found is then
    simulated with these polynomials as programmes of order two, so that what is returned is exact.

    Args:
        model: A model with programmed rows of order 2 or less.
        goal: `"effort"` or `"jerk"`.
        end: Values of free coordinates and rates at the end, by name.
        start: Where to begin, moved onto the programme.
        until: Duration.
        limits: Limits of positions, speeds and torques that the motion keeps.
        obstacles: What points keep away from.
        values: Numbers of parameters and inputs.
        degree: Degree of the polynomials.
        nodes: How many points.

    Returns:
        The optimum with its plan.
    """
    if goal not in GOALS:
        raise ModelError(f"goal= is 'effort' or 'jerk', got {goal!r}.")
    if not model.programmed or model.programme:
        got = ", ".join(f"{row.name!r} of order {row.order}" for row in model.programme) or "none"
        raise ModelError(f"optimize needs programmed rows of order 2 or less; {model.name!r} has {got}.")
    system = compile(derive(model, GPME())).bind(values)
    state = projected(system, start)
    duration = number("until", model.until if until is None else until)
    free = _free(system, state)
    if not free:
        raise ModelError(f"The rows of {model.name!r} leave nothing free; use plan.")
    problem = _Problem(system, state, duration, free, degree, nodes)
    problem.keep(limits or Limits(), obstacles)
    problem.end(end or {})
    start_values = dict(zip(state.names, state.array.tolist(), strict=True))
    for _ in range(TRIES):
        found, iterations = problem.solve(goal)
        formulas = {model.coordinates[i]: _formula(found[k], duration) for k, i in enumerate(free)}
        rows = [Programmed(q.rate.rate - formula, f"optimal {q.name}") for q, formula in formulas.items()]
        made = plan(model.add(*rows), values, start_values, duration, limits)
        if not problem.tighten(made.findings):
            break
    return Optimum(made, _cost(made, goal), {q.label: e for q, e in formulas.items()}, iterations)


def _formula(found: Chebyshev, duration: float) -> sp.Expr:
    poly = found.convert(domain=[0, duration], kind=Polynomial, window=[0, 1])
    return sum((sp.Float(c) * (t / duration) ** j for j, c in enumerate(poly.coef)), sp.Integer(0))


def _free(system: System, state: Any) -> list[int]:
    mechanics = system.equations.mechanics
    J = jacobian_at(mechanics, state.t, state.q, state.v, state.z, system.p)
    taken = Split.at(J).dependent
    return [i for i in range(J.shape[1]) if i not in taken]


def _cost(made: Plan, goal: str) -> float:
    nodes = Nodes(made.times[0], made.times[-1], FINE)
    if goal == "effort":
        values = made.effort.along(made.motion, nodes.times)[0]
    else:
        system = made.motion.system
        values = nodes.derivative @ [system.accelerations(made.motion.at(float(s))) for s in nodes.times]
    return float(nodes.weights @ np.sum(values**2, axis=1))


class _Problem:
    """The nonlinear programme: coefficients of the free accelerations, states at the nodes."""

    def __init__(self, system: System, state: Any, duration: float, free: list[int], degree: int, nodes: int) -> None:
        self.system, self.state, self.free, self.duration = system, state, free, duration
        mechanics, n = system.equations.mechanics, state.q.size
        self.nodes = Nodes(0.0, duration, nodes)
        self.times = self.nodes.times
        self.between = self.nodes.between(np.linspace(0.0, duration, FINE)[1:-1]).T
        opti = self.opti = ca.Opti()
        self.c = opti.variable(len(free), degree + 1)
        self.q, self.v, self.a = (opti.variable(n, nodes) for _ in range(3))
        self.tau: list[ca.MX] = []
        self.margins: dict[tuple[str, str], ca.MX] = {}
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
        for k, moment in enumerate(self.times):
            q, v, a = self.q[:, k], self.v[:, k], self.a[:, k]
            M, F, _, gamma, C = mechanics.functions["multiplier"](moment, q, v, state.z, w, system.p)
            self.tau.append(M @ a - F)
            opti.subject_to(C[rows, :] @ a == gamma[rows])
            if geometric:
                opti.subject_to(mechanics.functions["position"](moment, q, system.p)[0][rows] == 0)
                opti.subject_to(mechanics.functions["velocity"](moment, q, v, state.z, system.p)[0][rows] == 0)
        if not geometric:
            one, W = np.ones((1, nodes)), self.nodes.integral.T
            opti.subject_to(self.v[dependent, :] == state.v[dependent][:, None] @ one + self.a[dependent, :] @ W)
            opti.subject_to(self.q[dependent, :] == state.q[dependent][:, None] @ one + self.v[dependent, :] @ W)
        guess = _guess(system, state, self.times)
        for variable, values in zip((self.q, self.v, self.a), guess, strict=True):
            opti.set_initial(variable, values.T)

    def keep(self, limits: Limits, obstacles: Sequence[Obstacle]) -> None:
        """Limits and obstacles, at many times."""
        opti = self.opti
        for kind, i, (low, high) in limits.pairs(self.system.model):
            if kind == "torque_rate":
                raise ModelError("optimize keeps limits of positions, speeds and torques, not of torque rates.")
            if kind == "torque":
                column = ca.horzcat(*self.tau)[i, :]
            else:
                column = (self.q if kind == "position" else self.v)[i, :]
            margin = opti.parameter()
            opti.set_value(margin, 0.0)
            opti.subject_to(opti.bounded(low + margin, column @ self.between, high - margin))
            self.margins[kind, self.system.model.coordinates[i].label] = margin
        x = self.system.equations.mechanics.variables
        for obstacle in obstacles:
            gap = self.system.model.ground.components(obstacle.point - obstacle.center)
            f = ca.Function("gap", [x.t, x.q, x.p], [x.lower(sum((e**2 for e in gap), sp.Integer(0)))])
            times, q = np.linspace(0.0, self.duration, FINE)[1:-1], self.q @ self.between
            for k, moment in enumerate(times):
                opti.subject_to(f(moment, q[:, k], self.system.p) >= obstacle.radius**2)

    def tighten(self, findings: Sequence[Finding]) -> bool:
        """Ask for more of the limits that were overstepped; whether there were any."""
        over = [f for f in findings if f.first is not None and f.at > 0]  # nothing helps where it begins
        for finding in over:
            margin, (low, high) = self.margins[finding.kind, finding.name], finding.bounds
            excess = max(finding.worst - high, low - finding.worst)
            self.opti.set_value(margin, self.opti.value(margin) + 1.5 * excess)
        return bool(over)

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
        w = self.nodes.weights
        if goal == "effort":
            cost = sum((weight * ca.sumsqr(tau) for weight, tau in zip(w, self.tau, strict=True)), ca.MX(0))
        else:
            cost = ca.sum1((self.a @ self.nodes.derivative.T) ** 2) @ w
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
    motion = simulate(system, state, float(times[-1]))
    inside = np.minimum(times, motion.times[-1])
    rows, n = motion.states(inside), state.q.size
    a = np.array([system.accelerations(motion.at(float(s))) for s in inside])
    return rows[:, :n], rows[:, n : 2 * n], a
