"""The best use of what a programme leaves free: least effort, least jerk, within limits and past obstacles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from appell.code.state import State
from appell.code.system import System
from appell.errors import AppellError, ModelError
from appell.kinematics.split import Split, smallest, unit_rows
from appell.model.model import Model
from appell.model.values import chosen, number, numbers
from appell.motion.motion import Motion
from appell.planning.collocation import Collocation, parted
from appell.planning.feasibility import PARTITIONS, Limits
from appell.planning.nodes import Nodes
from appell.planning.obstacle import Obstacle, told_apart
from appell.planning.planner import Plan, plan, reference
from appell.planning.projection import projected

GOALS = ("effort", "jerk")
FINE = 129  # points of the integral that is the cost
TRIES = 4  # solutions, each with the limits a little tighter where the one before overstepped them in between
CHOICES = 3  # of coordinates that lead the motion, one after the other
LED = 0.01  # distance from the solution beyond which the simulated motion is another one


@dataclass(frozen=True, eq=False)
class Optimum:
    """The best motion found.

    Attributes:
        plan: Its plan, simulated with the free coordinates following what was found.
        cost: The integral of the goal along that motion.
        free: The coordinates that were free, with the formulas of their accelerations.
        joints: The coordinates that are driven.
        iterations: Of the solver.
    """

    plan: Plan
    cost: float
    free: Mapping[str, Any]
    joints: tuple[str, ...]
    iterations: int

    @property
    def motion(self) -> Motion:
        """The motion of the plan."""
        return self.plan.motion

    def __repr__(self) -> str:
        driven, names = ", ".join(self.joints), ", ".join(self.free)
        steps = f"{self.iterations} iteration{'s' * (self.iterations != 1)}"
        text = f"cost {self.cost:.6g} by drives along {driven} and the accelerations of {names}, {steps}\n{self.plan!r}"
        if self.plan.violations:
            text += (
                "\nWhat is not kept was kept at the nodes; more nodes=, or a higher degree=, leave less between them."
            )
        return text


def optimize(
    model: Model,
    goal: str = "effort",
    *,
    end: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    limits: Limits | None = None,
    obstacles: Obstacle | Sequence[Obstacle] = (),
    joints: Iterable[Any] | None = None,
    values: Mapping[Any, float] | None = None,
    degree: int = 8,
    nodes: int = 41,
) -> Optimum:
    r"""The motion within a programme with the least effort $\int |\tau|^2 dt$ or jerk $\int |q^{(3)}|^2 dt$.

    Without a programme: the motion from the start to the end. Drives enforce the programme and move the coordinates
    that it leaves free, $\tau = M\ddot q - F$ without the reactions of material rows; inputs keep their values. With
    `joints=` only these are driven, and $\tau = 0$ along the others: a pole is swung up by its cart alone. The
    accelerations of n - K free coordinates are Chebyshev polynomials in time; the others follow from the rows at
    Chebyshev's points, and so do extra states that depend on the motion; those that do not are known beforehand. The
    motion found is then simulated with these polynomials as programmes of order two, so that what is returned is exact.
    What it still oversteps between the points is said in `found.plan.violations`.

    Args:
        model: A model; its programmed rows, if any, of order 2 or less.
        goal: `"effort"` or `"jerk"`.
        end: Values of coordinates and rates at the end, by name, as far as the programme leaves them open.
        start: Where to begin, moved onto the programme.
        until: Duration.
        limits: Limits of positions, speeds and torques that the motion keeps.
        obstacles: What points keep away from.
        joints: The coordinates that are driven, of a model without a programme. Left out: all, or under constraints
            those that determine the others best; the result says which, and other drives may take less effort.
        values: Numbers of parameters and inputs.
        degree: Degree of the polynomials.
        nodes: How many points.

    Returns:
        The optimum with its plan.
    """
    if not isinstance(model, Model):
        raise ModelError(f"A model is needed to optimize its motion, got {model!r}.")
    if goal not in GOALS:
        raise ModelError(f"goal= is 'effort' or 'jerk', got {goal!r}.")
    if model.programme:
        got = ", ".join(f"{row.name!r} of order {row.order}" for row in model.programme)
        raise ModelError(f"optimize takes programmed rows of order 2 or less; {model.name!r} has {got}.")
    system = reference(model, values, None)
    state = projected(system, start)
    duration = number("until", model.until if until is None else until)
    limits, obstacles = Limits.checked(limits), list(told_apart(obstacles).values())
    if not (isinstance(degree, Integral) and isinstance(nodes, Integral) and duration > 0 and 1 <= degree < nodes):
        raise ModelError(
            f"optimize needs until > 0 and 1 <= degree < nodes, got until={duration:g}, degree={degree!r}, "
            f"nodes={nodes!r}."
        )
    passive = _passive(model, joints, len(system.equations.split.rows))
    free, problem = _leading(_rows(system, state, passive)), None
    if not free:
        raise ModelError(f"The rows of {model.name!r} leave nothing free; use plan.")
    for _ in range(CHOICES):
        problem = Collocation(
            system=system, state=state, duration=duration, free=free, degree=int(degree), nodes=int(nodes),
            end=numbers(end), passive=passive, earlier=problem,
        )  # fmt: skip
        problem.keep(limits, obstacles)
        problem.minimize(goal)
        made, iterations = _solved(problem, obstacles, limits, values)
        if _led(made, problem):
            return Optimum(made, _cost(made, goal), problem.formulas, problem.driven, iterations)
        free = _leading([J for at in problem.states for J in _rows(system, at, passive)])
    names = ", ".join(problem.formulas) if problem else ""
    raise AppellError(
        f"The best motion found of {model.name!r} goes where {names} does not determine the other coordinates. Keep it "
        "away from there by limits, or give an end or less time."
    )


def _solved(
    problem: Collocation,
    obstacles: Sequence[Obstacle],
    limits: Limits,
    values: Mapping[Any, float] | None,
) -> tuple[Plan, int]:
    """The plan of the solution, and how many iterations it took."""
    state = problem.state
    start = dict(zip(state.names, state.array.tolist(), strict=True))

    def planned() -> Plan:
        model = problem.led(list(problem.formulas.values()), "optimal")
        return plan(model, values=values, start=start, until=problem.duration, limits=limits, obstacles=obstacles)

    iterations, made = problem.solve(), planned()
    for _ in range(TRIES - 1):
        overstepped = [f for f in made.violations if f.at > 0] if _led(made, problem) else []  # no help at the start
        if not overstepped:
            break
        for finding in overstepped:
            problem.tighten(finding)
        try:
            iterations, made = problem.solve(), planned()
        except AppellError:  # too much is asked for now; the plan before says what it oversteps
            break
    return made, iterations


def _led(made: Plan, problem: Collocation) -> bool:
    """Whether the free coordinates lead the simulated motion along the solution."""
    if not made.motion.outcome.ok:
        return False
    n = len(made.motion.system.model.coordinates)
    simulated = made.motion.states(problem.nodes.times)[:, :n]
    return bool(np.max(np.abs(simulated - [state.q for state in problem.states])) < LED)


def _passive(model: Model, joints: Iterable[Any] | None, rows: int) -> tuple[int, ...]:
    """Numbers of the coordinates that nothing drives."""
    labels = [q.label for q in model.coordinates]
    driven = labels if joints is None else chosen(joints, labels, f"coordinate of {model.name!r}")
    passive = tuple(i for i, label in enumerate(labels) if label not in driven)
    if passive and model.programmed:
        raise ModelError(
            f"{model.name!r} has a programme, whose drives are named in it, Programmed(..., realization=[...]); "
            "joints= is for motions without a programme, from a start to an end."
        )
    if passive and not 0 < len(driven) <= len(labels) - rows:
        raise ModelError(
            f"joints= of optimize names {len(driven)} driven coordinates; for {model.name!r} name 1 to "
            f"{len(labels) - rows}, at most its degrees of freedom, or leave joints= out for drives along all."
        )
    return passive


def _rows(system: System, state: State, passive: Sequence[int]) -> list[np.ndarray]:
    """The coefficients of the accelerations in the independent rows, and the directions of their forces."""
    w = [system.values[s.label] for s in system.model.inputs]
    found = system.equations.mechanics.functions["multiplier"](state.t, state.q, state.v, state.z, w, system.p)
    M, *_, C = (np.array(e) for e in found)
    C, J = (e[list(system.equations.split.rows)] for e in (C, np.array(found[2])))
    if not passive:
        return [unit_rows(C), unit_rows(J)]
    kept, held = parted(J, passive)
    idle = M[kept] - J[:, kept].T @ np.linalg.solve(J[:, held].T, M[held])  # without reactions
    return [unit_rows(np.vstack([e, idle])) for e in (C, J)]


def _leading(rows: Sequence[np.ndarray]) -> list[int]:
    """The coordinates that lead the others best all along."""
    K, n = rows[0].shape
    if math.comb(n, K) > PARTITIONS:
        dependent: Sequence[int] = Split.at(rows[0]).dependent
    else:
        ways = [list(e) for e in itertools.combinations(range(n), K)]
        dependent = max(ways, key=lambda e: min(smallest(J[:, e]) for J in rows))
    return [i for i in range(n) if i not in dependent]


def _cost(made: Plan, goal: str) -> float:
    nodes = Nodes(made.times[0], made.times[-1], FINE)
    if goal == "effort":
        values = made.effort.along(made.motion, nodes.times)[0]
    else:
        system = made.motion.system
        values = nodes.derivative @ [system.accelerations(made.motion.at(float(s))) for s in nodes.times]
    return float(nodes.weights @ np.sum(values**2, axis=1))
