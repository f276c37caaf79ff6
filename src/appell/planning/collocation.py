"""Direct collocation: free accelerations as polynomials, all else at nodes; solved by IPOPT through CasADi."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
from numpy.polynomial import Polynomial
from numpy.polynomial.chebyshev import Chebyshev, chebfit

from appell.code.state import State
from appell.code.system import System, compile
from appell.errors import AppellError, ModelError
from appell.formulation.abstract import derive
from appell.model.frame import Vector
from appell.model.programme import Programmed
from appell.model.symbols import key, t
from appell.model.values import number, unknown
from appell.motion.motion import Motion
from appell.motion.run import simulate
from appell.planning.feasibility import Limits
from appell.planning.nodes import Nodes

Guess = Mapping[ca.MX, np.ndarray]
ITERATIONS = 300
DEAR = 100  # times the cost of the best guess above which another one is not tried
ROUNDING = 1e-9  # by which a start may be beyond a limit


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


class Collocation:
    """The nonlinear programme: coefficients of the free accelerations, states and forces at the nodes.

    Everything but the polynomials is local to a node, so that its matrices stay sparse. Between the nodes nothing is
    asked for; what a motion oversteps there is put right by `tighten`.

    Args:
        system: The reference dynamics.
        state: Where to begin.
        duration: How long.
        free: Numbers of the coordinates that the rows leave free.
        degree: Degree of the polynomials.
        nodes: How many nodes.
        end: Values at the end by name.
        earlier: A solution of the same with other free coordinates, to begin with.
    """

    def __init__(
        self,
        system: System,
        state: State,
        duration: float,
        free: Sequence[int],
        degree: int,
        nodes: int,
        end: Mapping[Any, float],
        earlier: Collocation | None = None,
    ) -> None:
        self.system, self.state, self.free, self.duration = system, state, free, duration
        self.nodes = Nodes(0.0, duration, nodes)
        self.margins: dict[Any, ca.MX] = {}
        opti, n = ca.Opti(), state.q.size
        self.opti = opti
        self.c = opti.variable(len(free), degree + 1)
        self.q, self.v, self.a, self.tau = self._local = tuple(opti.variable(n, nodes) for _ in range(4))
        basis = [Chebyshev.basis(j, domain=[0, duration]) for j in range(degree + 1)]
        second, first, zeroth = (np.array([b.integ(k, lbnd=0)(self.nodes.times) for b in basis]) for k in range(3))
        one, W = np.ones((1, nodes)), self.nodes.integral.T
        for k, i in enumerate(free):
            opti.subject_to(self.a[i, :] == self.c[k, :] @ second)
            opti.subject_to(self.v[i, :] == state.v[i] + self.c[k, :] @ first)
            opti.subject_to(self.q[i, :] == state.q[i] + state.v[i] * self.nodes.times[None, :] + self.c[k, :] @ zeroth)
        self.residual = _residual(system, state)
        opti.subject_to(self.residual.map(nodes)(self.nodes.times[None, :], self.q, self.v, self.a, self.tau) == 0)
        dependent = [i for i in range(n) if i not in free]
        if dependent:  # integrated, not solved for at each node, where they might jump from one branch to another
            opti.subject_to(self.v[dependent, :] == state.v[dependent][:, None] @ one + self.a[dependent, :] @ W)
            opti.subject_to(self.q[dependent, :] == state.q[dependent][:, None] @ one + self.v[dependent, :] @ W)
        last = self._end(end)
        lines = [_line(state.q[i], state.v[i], last[0].get(i), last[1].get(i), duration) for i in free]
        known = [self._driven(state, lines), self._left_alone(state)] if earlier is None else [self._as_in(earlier)]
        self.guesses = [guess for guess in known if guess is not None]

    def _end(self, end: Mapping[Any, float]) -> tuple[dict[int, float], dict[int, float]]:
        """Ask for values at the end; positions and rates by the number of the coordinate."""
        coordinates = self.system.model.coordinates
        names = {q.label: (0, i) for i, q in enumerate(coordinates)}
        names |= {q.rate.label: (1, i) for i, q in enumerate(coordinates)}
        found: tuple[dict[int, float], dict[int, float]] = ({}, {})
        for name, value in end.items():
            if key(name) not in names:
                raise ModelError(unknown(key(name), list(names), "coordinate or rate that could be given an end"))
            order, i = names[key(name)]
            found[order][i] = number(key(name), value)
            self.opti.subject_to((self.q, self.v)[order][i, -1] == found[order][i])
        return found

    def _driven(self, state: State, lines: Sequence[tuple[float, float]]) -> Guess | None:
        """A motion whose free coordinates have the accelerations a + b t."""
        model = self.system.model
        rows = [
            Programmed(model.coordinates[i].rate.rate - a - b * t, f"guess {i}")
            for i, (a, b) in zip(self.free, lines, strict=True)
        ]
        system = compile(derive(model.add(*rows), self.system.equations.formulation), "casadi").bind(self.system.values)
        start = dict(zip(state.names, state.array.tolist(), strict=True))
        c = np.zeros(self.c.shape)
        c[:, :2] = [(a + b * self.duration / 2, b * self.duration / 2) for a, b in lines]
        return self._guess(simulate(system, start, self.duration, method="dop853"), c)

    def _left_alone(self, state: State) -> Guess | None:
        """The motion without drives of the free coordinates."""
        return self._guess(simulate(self.system, state, self.duration), np.zeros(self.c.shape))

    def _as_in(self, earlier: Collocation) -> Guess:
        """A solution that other coordinates lead."""
        at = {mine: earlier.guesses[0][theirs] for mine, theirs in zip(self._local, earlier._local, strict=True)}
        a = at[self.a][list(self.free)].T
        return {self.c: chebfit(self.nodes.points, a, self.c.shape[1] - 1).T, **at}

    def _guess(self, motion: Motion, c: np.ndarray) -> Guess | None:
        if not motion.outcome.ok:
            return None
        table, n = motion.states(self.nodes.times), len(self.system.model.coordinates)
        a = np.array([motion.system.accelerations(motion.at(float(s))) for s in self.nodes.times])
        q, v, forces = table[:, :n].T, table[:, n : 2 * n].T, np.zeros(a.T.shape)
        forces = -np.array(self.residual.map(self.nodes.count)(self.nodes.times[None, :], q, v, a.T, forces))[:n]
        return {self.c: c, self.q: q, self.v: v, self.a: a.T, self.tau: forces}

    def keep(self, limits: Limits, obstacles: Sequence[Obstacle]) -> None:
        """Limits and obstacles, at the nodes; refuses a start that is beyond them."""
        opti, model, state = self.opti, self.system.model, self.state
        columns = {"position": (self.q, state.q), "speed": (self.v, state.v), "torque": (self.tau, None)}
        for kind, i, (low, high) in limits.pairs(model):
            label = model.coordinates[i].label
            if kind not in columns:
                raise ModelError("optimize keeps limits of positions, speeds and torques, not of torque rates.")
            column, first = columns[kind]
            if first is not None and not low - ROUNDING <= first[i] <= high + ROUNDING:
                raise ModelError(
                    f"The {kind} of {label} is {first[i]:.6g} where the motion begins, its limits {low:g} .. {high:g}; "
                    "give a start within them."
                )
            margin = self._margin((kind, label))
            opti.subject_to(opti.bounded(low + margin, column[i, first is not None :], high - margin))
        for obstacle in obstacles:
            square = self.gap(obstacle)
            near = float(np.sqrt(float(square(state.t, state.q))))
            if near < obstacle.radius - ROUNDING:
                raise ModelError(
                    f"A point that keeps {obstacle.radius:g} away from an obstacle is only {near:.6g} away where the "
                    "motion begins; give another start."
                )
            squares = square.map(self.nodes.count - 1)(self.nodes.times[None, 1:], self.q[:, 1:])
            opti.subject_to(squares >= (obstacle.radius + self._margin(obstacle)) ** 2)

    def _margin(self, name: Any) -> ca.MX:
        margin = self.margins[name] = self.opti.parameter()
        self.opti.set_value(margin, 0.0)
        return margin

    def gap(self, obstacle: Obstacle) -> ca.Function:
        """The square of the distance from the centre of an obstacle, in t and q."""
        x = self.system.equations.mechanics.variables
        gap = self.system.model.ground.components(obstacle.point - obstacle.center)
        square = x.lower(sum((e**2 for e in gap), sp.Integer(0)))
        (square,) = ca.substitute([square], [x.p], [ca.SX(ca.DM(self.system.p))])
        return ca.Function("gap", [x.t, x.q], [square])

    def tighten(self, name: Any, excess: float) -> None:
        """Ask for more of a limit or an obstacle that was overstepped by so much."""
        margin = self.margins[name]
        self.opti.set_value(margin, self.opti.value(margin) + 1.5 * excess)

    def minimize(self, goal: str) -> None:
        """What is wanted, said once and last: it makes the solver."""
        values = self.tau if goal == "effort" else self.a @ self.nodes.derivative.T
        self.opti.minimize(ca.sum1(values**2) @ self.nodes.weights)
        words = {"print_level": 0, "sb": "yes", "max_iter": ITERATIONS}
        self.opti.solver("ipopt", {"print_time": False, "expand": True}, words)

    def solve(self) -> int:
        """The best from all guesses; how many iterations it took."""
        solutions = [found for guess in self._promising() if (found := self._solution(guess)) is not None]
        if not solutions:
            raise AppellError(
                f"No motion of {self.system.model.name!r} was found that keeps programme, limits, obstacles and end "
                f"({self.opti.return_status()}); relax them, give more time, or a higher degree."
            )
        best = min(solutions, key=lambda found: found.value(self.opti.f))
        self.guesses = [{e: np.reshape(best.value(e), e.shape) for e in (self.c, *self._local)}]
        return int(best.stats()["iter_count"])

    @property
    def formulas(self) -> dict[str, sp.Expr]:
        """The accelerations of the free coordinates of the solution."""
        found = {}
        for i, row in zip(self.free, self.guesses[0][self.c], strict=True):
            poly = Chebyshev(row, domain=[0, self.duration]).convert(
                domain=[0, self.duration], kind=Polynomial, window=[0, 1]
            )
            terms = (sp.Float(e) * (t / self.duration) ** j for j, e in enumerate(poly.coef))
            found[self.system.model.coordinates[i].label] = sum(terms, sp.Integer(0))
        return found

    @property
    def states(self) -> list[State]:
        """The solution at the nodes."""
        q, v = (self.guesses[0][e].T for e in (self.q, self.v))
        rows = zip(self.nodes.times.tolist(), q, v, strict=True)
        return [State(self.system.model, np.concatenate([*row, self.state.z]), moment) for moment, *row in rows]

    def _promising(self) -> list[Guess]:
        """The guesses without those that cost many times more than the best: they lead nowhere, slowly."""
        costs = []
        for guess in self.guesses:
            self._begin(guess)
            costs.append(float(self.opti.debug.value(self.opti.f, self.opti.initial())))
        return [guess for guess, cost in zip(self.guesses, costs, strict=True) if cost <= DEAR * min(costs)] or [{}]

    def _begin(self, guess: Guess) -> None:
        for variable, values in guess.items():
            self.opti.set_initial(variable, values)

    def _solution(self, guess: Guess) -> Any:
        self._begin(guess)
        try:
            return self.opti.solve()
        except RuntimeError:
            return None


def _residual(system: System, state: State) -> ca.Function:
    """What vanishes at a node: tau - (M a - F), and the rows on accelerations."""
    mechanics, model = system.equations.mechanics, system.model
    n = len(model.coordinates)
    moment, q, v, a, tau = (ca.SX.sym(name, size) for name, size in (("t", 1), *((e, n) for e in ("q", "v", "a", "f"))))
    w = [system.values.get(s.label, 0.0) for s in model.inputs]
    M, F, _, gamma, C = mechanics.functions["multiplier"](moment, q, v, state.z, w, system.p)
    left = [tau - (M @ a - F)]
    if model.rows:
        left.append((C @ a - gamma)[list(system.equations.split.rows)])
    return ca.Function("local", [moment, q, v, a, tau], [ca.vertcat(*left)], {"cse": True})


def _line(q: float, v: float, end: float | None, rate: float | None, duration: float) -> tuple[float, float]:
    """a, b of an acceleration a + b t that leads to the end, at rest unless a rate is asked for."""
    rate = 0.0 if rate is None else rate
    if end is None:
        return (rate - v) / duration, 0.0
    mean = (end - q) / duration
    return (6 * mean - 4 * v - 2 * rate) / duration, 6 * (v + rate - 2 * mean) / duration**2
