"""Why a run could not go on, seen from where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.state import State
from appell.code.system import System
from appell.kinematics.rank import TopRows
from appell.kinematics.saddle import REGULAR, without_inertia
from appell.kinematics.split import smallest
from appell.motion.choice import Choice
from appell.motion.corners import undirected
from appell.motion.forks import forked
from appell.motion.masses import GONE, Masses, used_up
from appell.motion.outcome import Ending, Outcome
from appell.motion.stretch import Stretch

GROWS = 2.0  # how many times as fast as in the quarter before a motion is that grows without bound
ROWS = 1e-5  # smallest singular value of rows of length one at which they count as dependent
REACHED = 1e-6  # reach below which the drives of servo constraints count as powerless
BEYOND = np.geomspace(1e-14, 1e-4, 11)  # shares of a run, by which to look for the cause of its end

MORE_STEPS = "give a larger max_steps"
GROWING = "the accelerations grow without bound; is a force singular there, or does the motion escape to infinity?"
UNDEFINED = "a division by zero, a root of a negative number; a length that comes to zero is written r.norm"
REGULARIZE = (
    "if friction holds it there, write v/sqrt(v**2 + e**2) with a small e instead of v/|v| to go on, and "
    "sqrt(Max(z, 0)) for a level z that runs dry"
)
UNDIRECTED = (
    "what is under a square root comes to zero there and does not say how to go on; a length that passes "
    f"through zero is written r.norm, a root of squares; {REGULARIZE}"
)
AT_REST = f"a length or speed under a square root comes to zero there and stays; {REGULARIZE}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Stop:
    """Where a run stopped, and what of its beginning tells why.

    Attributes:
        system: With its numbers, in the choice of speeds in use.
        t, x, w: Where it stopped.
        start: Where it began.
        span: How long it went on, or should have.
        masses: Those that change.
        first_masses: What they were at the start.
        inertia: The smallest inertia at the start.
        jacobian: de/dv at a state.
    """

    system: System
    t: float
    x: np.ndarray
    w: np.ndarray
    start: State
    span: float
    masses: Masses
    first_masses: np.ndarray
    inertia: float
    jacobian: Callable[[float, np.ndarray], np.ndarray]


def diagnose(outcome: Outcome, stop: Stop, choice: Choice, stretches: Sequence[Stretch]) -> Ending:
    """How a run ended that could not go on; where, and the likely cause.

    Args:
        outcome: As the integrator sees it.
        stop: Where the run stopped.
        choice: The choice of speeds in use.
        stretches: The motion up to there.
    """
    t, x = stop.t, stop.x
    if not all(np.isfinite(choice.inputs(t + step, x)).all() for step in (0.0, *(stop.span * BEYOND))):
        outcome, cause = Outcome.NOT_FINITE, "the control gives no finite value for the inputs there"
    elif choice.gradients is not None and choice.gradients.lost(t, x):
        outcome, cause = Outcome.ROWS_SINGULAR, choice.gradients.words
    else:
        outcome, cause = cause_of(outcome, stop)
        last = next((s for s in reversed(stretches) if s.times[0] < s.times[-1]), None)
        if cause == GROWING and last is not None and undirected(last):
            cause = UNDIRECTED
    if outcome is Outcome.STEP_LIMIT and cause != UNDIRECTED:
        growth = grown(stretches, stop)
        if not growth:
            return Ending(outcome, f"t = {t:.9g}, {choice.system.from_x(t, x)!r}; {MORE_STEPS}")
        cause = f"{growth}; if a control makes it unstable, more steps will not end it"
    return Ending(outcome, f"t = {t:.9g}, {choice.system.from_x(t, x)!r}; likely cause: {cause}")


def runaway(stop: Stop, stretches: Sequence[Stretch]) -> Ending | None:
    """How a run under a sampled control ends, if its motion grows without bound."""
    growth = grown(stretches, stop)
    if not growth:
        return None
    place = f"t = {stop.t:.9g}, {stop.system.from_x(stop.t, stop.x)!r}"
    return Ending(Outcome.UNBOUNDED, f"{place}; {growth}; sample the control more often, or lower its gains")


def grown(stretches: Sequence[Stretch], stop: Stop) -> str:
    """Which rate has grown most, in words, if the largest of them grew from each quarter of a run to the next."""
    t0, t1 = stop.start.t, stop.t
    rates: list[list[np.ndarray]] = [[] for _ in range(4)]
    for stretch in stretches:
        span = stretch.times[-1] - stretch.times[0]
        for t in stretch.times[0] + span * np.linspace(0, 1, 17):
            x = stretch.dense(np.array([t]))[:, 0]
            v = stretch.code.rates.flat(t, x, stretch.w, stretch.p[: stop.system.p.size])
            rates[min(3, int(4 * (t - t0) / max(t1 - t0, 1e-300)))].append(np.abs(v))
    if not all(rates):
        return ""
    largest = [np.max(e, axis=0) for e in rates]
    sizes = [float(np.max(e, initial=0.0)) for e in largest]
    if not all(late > GROWS * early for early, late in pairwise(sizes)):
        return ""
    k = int(np.argmax(largest[3]))
    name = stop.system.model.coordinates[k].rate.label
    return (
        f"the motion grows without bound, {name} was {largest[0][k]:.3g} at most in the first quarter of the run and "
        f"{largest[3][k]:.3g} in the last"
    )


def cause_of(outcome: Outcome, stop: Stop) -> tuple[Outcome, str]:
    """How to call the end of a run that could not go on, and the likely cause."""
    system, code, (t, x, w, p) = stop.system, stop.system.code, (stop.t, stop.x, stop.w, stop.system.p)
    shrunk = bool(stop.masses.names) and not smallest_inertia(code, t, x, w, p) > GONE * stop.inertia
    gone = stop.masses.gone(t, x, w, p, stop.first_masses) if shrunk else None
    if gone is not None:
        return Outcome.MASS_USED_UP, used_up(gone)
    if shrunk and code.equations.mechanics.accelerating:
        cause = "at these velocities the thrust of mass that depends on velocities cancels the inertia (M - D)"
        return Outcome.SINGULAR, cause
    if _dependent_rows(stop):
        return Outcome.ROWS_SINGULAR, forked(system.model)
    if powerless := _out_of_reach(stop):
        return outcome, powerless
    further = beyond(system, t, x, w, stop.span)
    better, cause = likely_cause(*code.linear_system(t, x, w, p), code.equations.driven, further)
    named = _not_finite(stop) if better is None and cause != GROWING else []
    return better or outcome, f"{cause}; look at {', '.join(map(repr, named))}" if named else cause


def smallest_inertia(code: Code, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> float:
    """The smallest singular value of the matrix of the accelerations."""
    matrix, _ = code.linear_system(t, x, w, p)
    if not matrix.size:  # a programme that leaves nothing free
        return 1.0
    return float(np.linalg.svd(matrix, compute_uv=False)[-1]) if np.all(np.isfinite(matrix)) else 0.0


def _dependent_rows(stop: Stop) -> bool:
    """Whether the rows in use, and those of programmes of any order, are almost dependent here, or one vanishes."""
    system, code = stop.system, stop.system.code
    rows, model = list(code.equations.split.rows), system.model
    if model.programme:
        top = TopRows.of(code.equations.mechanics)
        rows += range(len(model.rows), len(top.rows))

        def matrix(t: float, x: np.ndarray) -> np.ndarray:
            state, a = system.from_x(t, x), code.accelerations.flat(t, x, stop.w, system.p)
            return top.raw(t, state.q, state.v, a, state.z, system.p)[rows]

    elif rows:

        def matrix(t: float, x: np.ndarray) -> np.ndarray:
            return stop.jacobian(t, x)[rows]

    else:
        return False
    here, first = matrix(stop.t, stop.x), matrix(stop.start.t, system.to_x(stop.start))
    if not np.all(np.isfinite(here)):
        return False
    size = np.linalg.norm(first, axis=1) if np.all(np.isfinite(first)) else np.zeros(len(rows))
    size = np.maximum(size, np.linalg.norm(here, axis=1))
    return smallest(here / np.where(size > 0, size, 1.0)[:, None]) < ROWS


def _out_of_reach(stop: Stop) -> str:
    """That the drives of servo constraints have become powerless, in words; nothing if they have not."""
    system = stop.system
    servo = [row for row in (*system.model.rows, *system.model.programme) if row.drive is not None]
    if not servo:
        return ""
    top, state = TopRows.of(system.code.equations.mechanics), system.from_x(stop.t, stop.x)
    a = system.code.accelerations.flat(stop.t, stop.x, stop.w, system.p)
    if top.reach(stop.t, state.q, state.v, a, state.z, system.p) > REACHED:
        return ""
    names, drives = ", ".join(repr(row.name) for row in servo), ", ".join(str(row.drive) for row in servo)
    return f"there the drives along {drives} do not reach the accelerations that {names} demands"


def _not_finite(stop: Stop) -> list[str]:
    """The forces that are not finite where a run stopped or, if all are, just beyond."""
    system, equations = stop.system, stop.system.code.equations
    mechanics = equations.mechanics
    forces = [force for force in mechanics.forces if not ca.depends_on(force.Q, mechanics.a)]
    columns = [equations.in_state(mechanics.variables.thaw(force.Q)) for force in forces]
    pushes = ca.Function("pushes", equations.arguments, [ca.horzcat(*columns)])
    rate = np.nan_to_num(system.code.single.flat(stop.t, stop.x, stop.w, system.p), posinf=0.0, neginf=0.0)
    for step in (0.0, *(stop.span * BEYOND)):
        found = np.array(pushes(stop.t + step, stop.x + step * rate, stop.w, system.p))
        if lost := [f.name for f, push in zip(forces, found.T, strict=True) if not np.isfinite(push).all()]:
            return lost
    return []


def beyond(system: System, t: float, x: np.ndarray, w: np.ndarray, span: float) -> Iterator[np.ndarray]:
    """x' at states to which a motion would go on from its end, by steps from tiny to small."""
    f, p = system.code.single.flat, system.p
    rate = f(t, x, w, p)
    for step in span * BEYOND:
        yield f(t + step, x + step * rate, w, p)


def likely_cause(
    matrix: np.ndarray, forcing: np.ndarray, speeds: Sequence[Any], beyond: Iterable[np.ndarray]
) -> tuple[Outcome | None, str]:
    """Why a motion cannot be continued, seen from A y = b at its end, and the outcome if that says more.

    Args:
        matrix: A.
        forcing: b.
        speeds: The speeds, whose derivatives are the first of y.
        beyond: What x' would be a little further on.
    """
    if not np.all(np.isfinite(matrix)):
        return None, f"a length, an angle or a mass is not finite there ({UNDEFINED})"
    condition = np.linalg.cond(matrix) if matrix.size else 1.0
    if not (condition < REGULAR):
        words = f"its condition number is {condition:.2g}; {without_inertia(matrix, speeds)} has no inertia there"
        return Outcome.SINGULAR, words
    if not np.all(np.isfinite(forcing)):
        return None, f"a force or a constraint is not finite there ({UNDEFINED})"
    if any(np.any(np.isnan(rate)) for rate in beyond):
        return None, "a force or a constraint has no value just beyond (a root or a logarithm of a negative number)"
    return None, GROWING
