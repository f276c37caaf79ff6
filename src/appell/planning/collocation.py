"""Direct collocation: free accelerations as polynomials, all else at nodes; solved by IPOPT through CasADi."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
from numpy.polynomial.chebyshev import Chebyshev, cheb2poly, chebfit

from appell.code.state import State
from appell.code.system import System, compile
from appell.errors import AppellError, ModelError
from appell.formulation.derive import derive
from appell.graph.solve import solve
from appell.kinematics.consistency import jacobian_at
from appell.kinematics.split import Split
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.symbols import t
from appell.model.values import unknown
from appell.motion.keyboard import uninterrupted
from appell.motion.motion import Motion
from appell.motion.run import simulate
from appell.planning.feasibility import Finding, Limits
from appell.planning.nodes import Nodes
from appell.planning.obstacle import Obstacle, told_apart
from appell.planning.tanks import blunted

Guess = Mapping[ca.MX, np.ndarray]
ITERATIONS = 300
DEAR = 100  # times the cost of the best guess above which another one is not tried
NOTHING = 1e-9  # share of the dearest guess below which one costs nothing, and no other can be compared with it
ROUNDING = 1e-9  # by which a start may be beyond a limit


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
        passive: Numbers of the coordinates along which nothing drives.
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
        end: Mapping[str, float],
        passive: Sequence[int] = (),
        earlier: Collocation | None = None,
    ) -> None:
        self.system, self.state, self.free, self.duration = system, state, free, duration
        self.passive = passive
        self.nodes = Nodes(0.0, duration, nodes)
        self.margins: dict[tuple[str, str], ca.MX] = {}
        opti, n = ca.Opti(), state.q.size
        self.opti = opti
        self.c = opti.variable(len(free), degree + 1)
        self.drift = uninterrupted(simulate(system, state, duration)) if earlier is None else earlier.drift
        ok = self.drift.outcome.ok
        self.moved = _moved(system) if ok else list(range(state.z.size))
        sizes = (n, n, n, n, len(self.moved), len(self.moved))
        self.q, self.v, self.a, self.tau, zdot, moved = self._local = tuple(
            opti.variable(size, nodes) if size else ca.MX(0, nodes) for size in sizes
        )
        self.timed = self.drift.states(self.nodes.times)[:, 2 * n :].T if ok else np.zeros((state.z.size, nodes))
        dependent = [i for i in range(n) if i not in free]
        idle, held = parted(_material(system, state), passive) if passive else ([], dependent)
        self.residual, self.amounts = _residual(system, state, held, self.moved)
        unending, self.z = ca.MX(ca.DM(self.timed)), ca.MX(ca.DM(self.timed))
        if self.moved:
            unending[self.moved, :], self.z[self.moved, :] = moved, self.amounts.map(nodes)(moved)
        basis = [Chebyshev.basis(j, domain=[0, duration]) for j in range(degree + 1)]
        second, first, zeroth = (np.array([b.integ(k, lbnd=0)(self.nodes.times) for b in basis]) for k in range(3))
        one, W = np.ones((1, nodes)), self.nodes.integral.T
        for k, i in enumerate(free):
            opti.subject_to(self.a[i, :] == self.c[k, :] @ second)
            opti.subject_to(self.v[i, :] == state.v[i] + self.c[k, :] @ first)
            opti.subject_to(self.q[i, :] == state.q[i] + state.v[i] * self.nodes.times[None, :] + self.c[k, :] @ zeroth)
        at = self.nodes.times[None, :], self.q, self.v, unending
        opti.subject_to(self.residual.map(nodes)(*at, self.a, self.tau, zdot) == 0)
        if idle:
            opti.subject_to(self.tau[idle, :] == 0)
        if dependent:  # integrated, not solved for at each node, where they might jump from one branch to another
            opti.subject_to(self.v[dependent, :] == state.v[dependent][:, None] @ one + self.a[dependent, :] @ W)
            opti.subject_to(self.q[dependent, :] == state.q[dependent][:, None] @ one + self.v[dependent, :] @ W)
        if self.moved:
            opti.subject_to(moved == state.z[self.moved][:, None] @ one + zdot @ W)
        last = self._end(end)
        straight = np.zeros(self.c.shape)
        for k, i in enumerate(free):
            a, b = _line(state.q[i], state.v[i], last[0].get(i), last[1].get(i), duration)
            straight[k, :2] = a + b * duration / 2, b * duration / 2
        self.straight = self._straight(last) if earlier is None else []
        if earlier is None:
            known = [self._driven(straight), self._drifting(), *(self.straight if passive else ())]
        else:
            known = [self._as_in(earlier)]
        self.guesses = [guess for guess in known if guess is not None]

    def _end(self, end: Mapping[str, float]) -> tuple[dict[int, float], dict[int, float]]:
        """Ask for values at the end; positions and rates by the number of the coordinate."""
        coordinates = self.system.model.coordinates
        names = {q.label: (0, i) for i, q in enumerate(coordinates)}
        names |= {q.rate.label: (1, i) for i, q in enumerate(coordinates)}
        found: tuple[dict[int, float], dict[int, float]] = ({}, {})
        for name, value in end.items():
            if name not in names:
                raise ModelError(unknown(name, list(names), "coordinate or rate that could be given an end"))
            order, i = names[name]
            found[order][i] = value
            self.opti.subject_to((self.q, self.v)[order][i, -1] == found[order][i])
        return found

    def _driven(self, c: np.ndarray) -> Guess | None:
        """A motion whose free coordinates have given accelerations."""
        state, model = self.state, self.led([self._formula(row) for row in c], "guess")
        system = compile(derive(model, self.system.equations.formulation), "casadi").bind(self.system.values)
        start = dict(zip(state.names, state.array.tolist(), strict=True))
        return self._guess(uninterrupted(simulate(system, start, self.duration, method="dop853")), c)

    @property
    def driven(self) -> tuple[str, ...]:
        """The coordinates along which drives push; under rows of matter alone those that lead the others."""
        model = self.system.model
        idle = self.passive
        if model.rows and not (idle or model.programmed):
            idle = [i for i in range(len(model.coordinates)) if i not in self.free]
        return tuple(q.label for i, q in enumerate(model.coordinates) if i not in idle)

    def led(self, formulas: Sequence[sp.Expr], name: str) -> Model:
        """The model with accelerations of the free coordinates as programmes.

        Args:
            formulas: One for each of them.
            name: What the programmes are called, before the name of the coordinate.
        """
        model, rows = self.system.model, []
        drives = [[q] for i, q in enumerate(model.coordinates) if i not in self.passive]
        for k, (i, formula) in enumerate(zip(self.free, formulas, strict=True)):
            q, who = model.coordinates[i], drives[k] if self.passive else "ideal"
            rows.append(Programmed(q.rate.rate - formula, f"{name} {q.name}", realization=who))
        return model.add(*rows)

    def _straight(self, last: tuple[dict[int, float], dict[int, float]]) -> list[Guess]:
        """Straight to the end, also of what follows the free coordinates: no motion, but it shows the way."""
        if not any(i not in self.free for i in last[0]):
            return []
        times = self.nodes.times
        guess = {e: np.zeros(e.shape) for e in (self.c, *self._local) if e.numel()}
        for i in range(self.state.q.size):
            a, b = _line(self.state.q[i], self.state.v[i], last[0].get(i), last[1].get(i), self.duration)
            guess[self.q][i] = self.state.q[i] + self.state.v[i] * times + a * times**2 / 2 + b * times**3 / 6
            guess[self.v][i] = self.state.v[i] + a * times + b * times**2 / 2
            guess[self.a][i] = a + b * times
            if i in self.free:
                guess[self.c][list(self.free).index(i), :2] = a + b * self.duration / 2, b * self.duration / 2
        if self.moved:
            guess[self._local[-1]] += self.state.z[self.moved][:, None]
        return [guess]

    def _formula(self, c: np.ndarray) -> sp.Expr:
        """A polynomial in time; in s = -1 .. 1 its powers cancel far less than in t = 0 .. 1."""
        s = sp.Float(2 / self.duration) * t - 1
        return sum((sp.Float(e) * s**j for j, e in enumerate(cheb2poly(c))), sp.Integer(0))

    def _drifting(self) -> Guess | None:
        """The motion without drives of the free coordinates."""
        return self._guess(self.drift, np.zeros(self.c.shape))

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
        q, v, z = table[:, :n].T, table[:, n : 2 * n].T, table[:, 2 * n :].T
        nothing = np.zeros(q.shape), np.zeros((len(self.moved), self.nodes.count))
        forces = zdot = np.zeros(0)
        for _ in range(2):  # again with the amounts that there would be without an end
            left = self.residual.map(self.nodes.count)(self.nodes.times[None, :], q, v, z, a.T, *nothing)
            forces, zdot, _ = np.split(-np.array(left), [n, n + len(self.moved)])
            z[self.moved] = self.state.z[self.moved][:, None] + zdot @ self.nodes.integral.T
        return dict(zip((self.c, *self._local), (c, q, v, a.T, forces, zdot, z[self.moved]), strict=True))

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
        for name, obstacle in told_apart(obstacles).items():
            gap = obstacle.gap(self.system)
            near = float(np.sqrt(float(gap(state.t, state.q, state.z)[0])))
            if near < obstacle.radius - ROUNDING:
                raise ModelError(
                    f"A point that keeps {obstacle.radius:g} away from {name!r} is only {near:.6g} away where the "
                    "motion begins; give another start."
                )
            at = self.nodes.times[None, 1:], self.q[:, 1:], self.z[:, 1:]
            margin = self._margin(("distance", name))
            opti.subject_to(gap.map(self.nodes.count - 1)(*at)[0] >= (obstacle.radius + margin) ** 2)
            self.guesses += self._detours(obstacle, gap)

    def _detours(self, obstacle: Obstacle, gap: ca.Function) -> list[Guess]:
        """Ways past an obstacle that the first guess runs into, by each free coordinate to either side.

        From its middle no direction leads out sooner than another, and the solver stays there.
        """
        if not self.guesses:
            return []
        squares, reach = gap.map(self.nodes.count)(self.nodes.times[None, :], self.guesses[0][self.q], self.timed)
        k = int(np.argmin(np.array(squares)))
        if float(squares[k]) >= obstacle.radius**2:
            return []
        s, found = Chebyshev([0, 1], domain=[0, self.duration]), []  # -1 .. 1
        aside = (1 - s**2) ** 3  # and back
        shapes = [e(self.nodes.times) for e in (aside, aside.deriv(), aside.deriv(2))]
        c = chebfit(self.nodes.points, shapes[2], self.c.shape[1] - 1)
        for row, i in enumerate(self.free):
            for side in (1, -1) if reach[i, k] > ROUNDING else ():
                guess = {variable: values.copy() for variable, values in self.guesses[0].items()}
                size = side * 1.5 * obstacle.radius / float(reach[i, k])
                guess[self.c][row] += size * c
                for variable, shape in zip((self.q, self.v, self.a), shapes, strict=True):
                    guess[variable][i] += size * shape
                found.append(guess)
        return found

    def _swerves(self) -> list[Guess]:
        """The straight guess with every free coordinate swung out and back, one early and late, the next in between."""
        s, found = Chebyshev([0, 1], domain=[0, self.duration]), []  # -1 .. 1
        for side in (1, -1) if self.straight else ():
            guess = {variable: values.copy() for variable, values in self.straight[0].items()}
            for row, i in enumerate(self.free):
                aside = side**row * (1 - s**2) ** 3 * s ** (row % 2)
                shapes = [e(self.nodes.times) for e in (aside, aside.deriv(), aside.deriv(2))]
                guess[self.c][row] += chebfit(self.nodes.points, shapes[2], self.c.shape[1] - 1)
                for variable, shape in zip((self.q, self.v, self.a), shapes, strict=True):
                    guess[variable][i] += shape
            found.append(guess)
        return found

    def _margin(self, name: tuple[str, str]) -> ca.MX:
        margin = self.margins[name] = self.opti.parameter()
        self.opti.set_value(margin, 0.0)
        return margin

    def tighten(self, found: Finding) -> None:
        """Ask for more of a limit or an obstacle that was overstepped."""
        margin = self.margins[found.kind, found.name]
        self.opti.set_value(margin, self.opti.value(margin) + 1.5 * found.excess)

    def minimize(self, goal: str) -> None:
        """What is wanted, said once and last: it makes the solver."""
        values = self.tau if goal == "effort" else self.a @ self.nodes.derivative.T
        self.opti.minimize(ca.sum1(values**2) @ self.nodes.weights)
        words = {"print_level": 0, "sb": "yes", "max_iter": ITERATIONS}
        self.opti.solver("ipopt", {"print_time": False, "expand": True}, words)

    def solve(self) -> int:
        """The best from all guesses; how many iterations it took."""
        solutions = [found for guess in self._promising() if (found := self._solution(guess)) is not None]
        if not solutions:  # as where wheels shall get aside
            further = (self._solution(guess) for guess in (*self.straight, *self._swerves()))
            solutions = list(itertools.islice((found for found in further if found is not None), 1))
        if not solutions:
            raise AppellError(
                f"No motion of {self.system.model.name!r} was found that keeps programme, limits, obstacles and end "
                f"({self.opti.return_status()}); relax them, give more time, or a higher degree."
            )
        best = min(solutions, key=lambda found: found.value(self.opti.f))
        listed = (self.c, *self._local)
        self.guesses = [{e: np.reshape(best.value(e) if e.numel() else [], e.shape) for e in listed}]
        return int(best.stats()["iter_count"])

    @property
    def formulas(self) -> dict[str, sp.Expr]:
        """The accelerations of the free coordinates of the solution."""
        labels = [self.system.model.coordinates[i].label for i in self.free]
        return {label: self._formula(row) for label, row in zip(labels, self.guesses[0][self.c], strict=True)}

    @property
    def states(self) -> list[State]:
        """The solution at the nodes."""
        q, v, _, _, _, moved = (self.guesses[0][e] for e in self._local)
        z = self.timed.copy()
        if self.moved:
            z[self.moved] = np.array(self.amounts.map(self.nodes.count)(moved))
        rows = np.vstack([q, v, z]).T
        return [State(self.system.model, row, moment) for moment, row in zip(self.nodes.times, rows, strict=True)]

    def _promising(self) -> list[Guess]:
        """The guesses without those that cost many times more than the best: they lead nowhere, slowly."""
        costs = []
        for guess in self.guesses:
            self._begin(guess)
            costs.append(float(self.opti.debug.value(self.opti.f, self.opti.initial())))
        if not costs:
            return [{}]
        least = min(cost for cost in costs if cost >= NOTHING * max(costs))
        return [guess for guess, cost in zip(self.guesses, costs, strict=True) if cost <= DEAR * least]

    def _begin(self, guess: Guess) -> None:
        for variable, values in guess.items():
            if values.size:
                self.opti.set_initial(variable, values)

    def _solution(self, guess: Guess) -> Any:
        self._begin(guess)
        try:
            return self.opti.solve()
        except RuntimeError:
            return None


def parted(J: np.ndarray, passive: Sequence[int]) -> tuple[list[int], list[int]]:
    """Passive coordinates whose equations are left, and those by whose equations the reactions of rows are found."""
    held = [passive[i] for i in Split.at(J[:, list(passive)]).dependent] if len(J) else []
    return [i for i in passive if i not in held], held


def _material(system: System, state: State) -> np.ndarray:
    """The independent rows on velocities at a state."""
    J = jacobian_at(system.equations.mechanics, state.t, state.q, state.v, state.z, system.p)
    return J[list(system.equations.split.rows)]


def _moved(system: System) -> list[int]:
    """The extra states that depend on the motion; the others, such as a tank that drains by itself, only on time."""
    x, found = system.equations.mechanics.variables, []
    causes = ca.vertcat(x.q, x.v)
    while len(more := [i for i in range(x.z.numel()) if ca.depends_on(x.zdot[i], causes)]) > len(found):
        found, causes = more, ca.vertcat(causes, x.z[more])
    return found


def _residual(system: System, state: State, dependent: list[int], moved: list[int]) -> tuple[ca.Function, ca.Function]:
    """What vanishes at a node: tau and the rates of what moves without their formulas, and the rows on a.

    Extra states that move have no end in it; the other function gives them where theirs is.
    """
    mechanics, model = system.equations.mechanics, system.model
    x, a, used = mechanics.variables, mechanics.a, list(system.equations.split.rows)
    tau, zdot = ca.SX.sym("tau", a.numel()), ca.SX.sym("zdot", len(moved))
    M, F = mechanics.lagrange
    pushed = M @ a - F
    material = [k for k, i in enumerate(used) if not model.rows[i].programmed]
    if material:  # nothing drives the dependent coordinates but the rows, which says how much of it is a reaction
        J = mechanics.J[used, :]
        pushed = pushed - J[material, :].T @ solve(J[:, dependent].T, pushed[dependent, 0])[material, 0]
    rows = mechanics.C @ a - mechanics.gamma
    rows[list(mechanics.acceleration_rows)] = mechanics.f
    w = [system.values[s.label] for s in model.inputs]
    numbers = [ca.SX(ca.DM(e)) for e in (w, system.p)]
    rates, *others = ca.substitute([x.zdot[moved, 0], pushed, rows[used, 0]], [x.w, x.p], numbers)
    timed = [i for i in range(state.z.size) if i not in moved]
    letters = ca.vertcat(x.t, x.q, x.v, x.z[timed, 0], a)
    amounts, rates, (pushed, rows) = blunted(rates, others, letters, x.z[moved, 0], state.z[moved])
    left = ca.vertcat(tau - pushed, zdot - rates, rows)
    return ca.Function("local", [x.t, x.q, x.v, x.z, a, tau, zdot], [left], {"cse": True}), amounts


def _line(q: float, v: float, end: float | None, rate: float | None, duration: float) -> tuple[float, float]:
    """a, b of an acceleration a + b t that leads to the end, at rest unless a rate is asked for."""
    rate = 0.0 if rate is None else rate
    if end is None:
        return (rate - v) / duration, 0.0
    mean = (end - q) / duration
    return (6 * mean - 4 * v - 2 * rate) / duration, 6 * (v + rate - 2 * mean) / duration**2
