"""The best use of what a programme leaves free: least effort, least jerk, within limits and past obstacles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.code.state import State
from appell.code.system import System, compile
from appell.errors import AppellError, ModelError
from appell.formulation.abstract import derive
from appell.formulation.gpme import GPME
from appell.kinematics.chart import Split, unit_rows
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.values import number
from appell.motion.motion import Motion
from appell.planning.collocation import Collocation, Obstacle
from appell.planning.feasibility import PARTITIONS, Limits
from appell.planning.nodes import Nodes
from appell.planning.planner import Plan, plan
from appell.planning.projection import projected

GOALS = ("effort", "jerk")
FINE = 129  # points of the integral that is the cost
TRIES = 4  # solutions, each with the limits a little tighter where the one before overstepped them in between
CHOICES = 3  # of coordinates that lead the motion, one after the other
CLOSE = 1e-9  # share of a radius by which obstacles may be passed closer
LED = 0.01  # distance from the solution beyond which the simulated motion is another one


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
    free: Mapping[str, Any]
    iterations: int

    @property
    def motion(self) -> Motion:
        """The motion of the plan."""
        return self.plan.motion

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

    Without a programme: the motion from the start to the end. All coordinates are taken to be driven,
    $\tau = M\ddot q - F$. The accelerations of n - K free coordinates are
    Chebyshev polynomials in time; the others follow from the rows at Chebyshev's points. The motion found is then
    simulated with these polynomials as programmes of order two, so that what is returned is exact.

    Args:
        model: A model; its programmed rows, if any, of order 2 or less.
        goal: `"effort"` or `"jerk"`.
        end: Values of coordinates and rates at the end, by name, as far as the programme leaves them open.
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
    if model.programme:
        got = ", ".join(f"{row.name!r} of order {row.order}" for row in model.programme)
        raise ModelError(f"optimize takes programmed rows of order 2 or less; {model.name!r} has {got}.")
    system = compile(derive(model, GPME())).bind(values)
    state = projected(system, start)
    duration = number("until", model.until if until is None else until)
    free, problem = _leading([_rows(system, state)]), None
    if not free:
        raise ModelError(f"The rows of {model.name!r} leave nothing free; use plan.")
    for _ in range(CHOICES):
        problem = Collocation(
            system=system, state=state, duration=duration, free=free, degree=degree, nodes=nodes, end=end or {},
            earlier=problem,
        )  # fmt: skip
        problem.keep(limits or Limits(), obstacles)
        problem.minimize(goal)
        made, iterations = _solved(problem, obstacles, limits, values)
        if _led(made, problem):
            return Optimum(made, _cost(made, goal), problem.formulas, iterations)
        free = _leading([_rows(system, at) for at in problem.states])
    names = ", ".join(problem.formulas) if problem else ""
    raise AppellError(
        f"The best motion found of {model.name!r} goes where {names} does not lead the other coordinates. Keep it away "
        "from there by limits, or give an end or less time."
    )


def _solved(
    problem: Collocation,
    obstacles: Sequence[Obstacle],
    limits: Limits | None,
    values: Mapping[Any, float] | None,
) -> tuple[Plan, int]:
    """The plan of the solution, and how many iterations it took."""
    model, state = problem.system.model, problem.state
    q = {e.label: e for e in model.coordinates}
    start = dict(zip(state.names, state.array.tolist(), strict=True))
    for _ in range(TRIES):
        iterations = problem.solve()
        rows = [Programmed(q[name].rate.rate - e, f"optimal {q[name].name}") for name, e in problem.formulas.items()]
        made = plan(model.add(*rows), values, start, problem.duration, limits)
        overstepped = _overstepped(made, problem, obstacles) if _led(made, problem) else {}
        for name, excess in overstepped.items():
            problem.tighten(name, excess)
        if not overstepped:
            break
    return made, iterations


def _led(made: Plan, problem: Collocation) -> bool:
    """Whether the free coordinates lead the simulated motion along the solution."""
    if not made.motion.outcome.ok:
        return False
    n = len(made.motion.system.model.coordinates)
    simulated = made.motion.states(problem.nodes.times)[:, :n]
    return bool(np.max(np.abs(simulated - [state.q for state in problem.states])) < LED)


def _overstepped(made: Plan, problem: Collocation, obstacles: Sequence[Obstacle]) -> dict[Any, float]:
    """Limits and obstacles that the motion does not keep, and by how much; nothing helps where it begins."""
    found: dict[Any, float] = {}
    for f in made.findings:
        if f.first is not None and f.at > 0:
            found[f.kind, f.name] = max(f.worst - f.bounds[1], f.bounds[0] - f.worst)
    positions = made.motion.states(made.times)[:, : len(made.motion.system.model.coordinates)]
    for obstacle in obstacles:
        gap = np.sqrt(np.array(problem.gap(obstacle).map(made.times.size)(made.times[None, :], positions.T))).ravel()
        k = int(np.argmin(gap))
        if k and gap[k] < obstacle.radius * (1 - CLOSE):
            found[obstacle] = obstacle.radius - float(gap[k])
    return found


def _rows(system: System, state: State) -> np.ndarray:
    """The coefficients of the accelerations in the independent rows."""
    if not system.model.rows:
        return np.zeros((0, state.q.size))
    w = [system.values.get(s.label, 0.0) for s in system.model.inputs]
    C = system.equations.mechanics.functions["multiplier"](state.t, state.q, state.v, state.z, w, system.p)[-1]
    return unit_rows(np.array(C)[list(system.equations.split.rows)])


def _leading(rows: Sequence[np.ndarray]) -> list[int]:
    """The coordinates that lead the others best all along."""
    K, n = rows[0].shape
    if math.comb(n, K) > PARTITIONS:
        dependent: Sequence[int] = Split.at(rows[0]).dependent
    else:
        ways = [list(e) for e in itertools.combinations(range(n), K)]
        dependent = max(ways, key=lambda e: min(_smallest(J[:, e]) for J in rows))
    return [i for i in range(n) if i not in dependent]


def _smallest(J: np.ndarray) -> float:
    return float(np.linalg.svd(J, compute_uv=False)[-1]) if J.size else 1.0


def _cost(made: Plan, goal: str) -> float:
    nodes = Nodes(made.times[0], made.times[-1], FINE)
    if goal == "effort":
        values = made.effort.along(made.motion, nodes.times)[0]
    else:
        system = made.motion.system
        values = nodes.derivative @ [system.accelerations(made.motion.at(float(s))) for s in nodes.times]
    return float(nodes.weights @ np.sum(values**2, axis=1))
