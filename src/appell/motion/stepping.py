"""The loop shared by all integrators that make one step at a time: guards located on the dense output of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from appell.motion.leg import CRAWL, CRAWLS, SHARE, STALL, End, Enough, Leg, Task

LOOKS = 8  # places within a step at which the guards are looked at
SHARES = np.union1d(np.geomspace(1e-4, 1, 12), np.linspace(0.1, 1, 10))  # of a step, where resting guards are looked at


class AnyStepper(Protocol):
    """What makes one step at a time."""

    t: float
    x: np.ndarray

    def step(self, limit: float) -> End | None:
        """One accepted step, or why there is none."""
        ...

    def interpolant(self) -> Callable[[float], np.ndarray]:
        """x within the last step."""
        ...

    def looks(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Guards and their rates at `LOOKS` + 1 places of the last step, one row each, if that is known at once."""
        ...

    def dense(self, cut: float) -> Callable[[np.ndarray], np.ndarray]:
        """x within all steps made."""
        ...


def zero(f: Callable[[float], float], a: float, b: float, near: float = 1e-12) -> float:
    """Where f vanishes between two places at which its signs differ, or differ but for rounding."""
    at_a, at_b = f(a), f(b)
    if (at_a > 0) == (at_b > 0):
        return a if abs(at_a) <= abs(at_b) else b
    from scipy.optimize import brentq  # slow to import, and most runs look for no zero

    return float(brentq(f, a, b, xtol=near, rtol=1e-15, maxiter=200))


def fallen(value: Callable[[float], float], start: float, end: float, limit: float) -> float | None:
    """Where a guard that rested on zero at the start and rose beyond a limit falls through zero again, if it did."""
    times = start + (end - start) * SHARES
    values = np.array([value(t) for t in times])
    up = np.flatnonzero(values > limit)
    down = np.flatnonzero(values[up[0] :] <= 0) + up[0] if up.size else up
    return zero(value, times[down[0] - 1], times[down[0]], 1e-15 * max(1.0, abs(end))) if down.size else None


def first_crossing(
    task: Task,
    x_at: Callable[[float], np.ndarray],
    t0: float,
    t1: float,
    looks: tuple[np.ndarray, np.ndarray] | None = None,
) -> tuple[float, int] | None:
    """The first time in (t0, t1] at which an open guard falls through zero, and which."""
    if looks is None:
        seen = [task.guards_and_rates(t, x_at(t)) for t in np.linspace(t0, t1, LOOKS + 1)]
        values, rates = np.array([g for g, _ in seen]), np.array([r for _, r in seen])
    else:
        values, rates = looks
    lifts = task.lifts
    values = values + lifts
    below = np.flatnonzero((lifts > 0) & (values[0] <= 0))  # a kink that was moved there between two steps
    if below.size:
        return t0, int(below[0])
    positive = values > 0
    falls, turns = positive[:-1] & (values[1:] <= 0), rates[:-1] * rates[1:] < 0
    worth_a_look = np.isfinite(lifts) & (falls | turns).any(axis=0)
    if not worth_a_look.any():
        return None
    times, found = np.linspace(t0, t1, LOOKS + 1), None
    for k in np.flatnonzero(worth_a_look):

        def guard(t: float, k: int = int(k)) -> float:
            return float(task.guards(t, x_at(t))[k])

        def value(t: float, guard: Callable[[float], float] = guard, lift: float = lifts[k]) -> float:
            return guard(t) + lift

        def rate(t: float, k: int = int(k)) -> float:
            return float(task.guards_and_rates(t, x_at(t))[1][k])

        bracket = _first_bracket(times, values[:, k], rates[:, k], value, rate)
        if bracket is not None:
            root = zero(value, *bracket, 1e-15 * max(1.0, abs(t1)))
            if lifts[k] and (through := fallen(guard, t0, root, task.limits[k])) is not None:
                root = through
            if found is None or root < found[0]:
                found = (root, int(k))
    return found


def _first_bracket(
    times: np.ndarray,
    values: np.ndarray,
    rates: np.ndarray,
    value: Callable[[float], float],
    rate: Callable[[float], float],
) -> tuple[float, float] | None:
    """Two times at the first of which a guard is positive, and at the second no longer.

    Between two looks a guard may have dipped below zero and come back, or risen above it and fallen again: that shows
    where it turns.
    """
    for i in range(times.size - 1):
        before, after, g, later = times[i], times[i + 1], values[i], values[i + 1]
        if (g > 0) == (later > 0) and rates[i] * rates[i + 1] < 0:
            turn = zero(rate, before, after)
            if g > 0:
                after, later = turn, value(turn)
            else:
                before, g = turn, value(turn)
        if g > 0 >= later:
            return before, after
    return None


def _stalled(count: float, t: float, h: float, left: float) -> float:
    """The count of steps in a row that lead nowhere, with the one from t to t + h."""
    if h <= STALL * max(1.0, abs(t)):
        return count + SHARE
    return count + 1 if h <= CRAWL * min(abs(t), left) else 0.0


def march(stepper: AnyStepper, task: Task) -> Leg:
    """Step until the end, a guard, or a fault."""
    times = [task.t0]
    end, guard, steps, stalled = End.REACHED, -1, 0, 0.0
    while stepper.t != task.t1:
        if steps >= task.max_steps:
            end = End.STEP_LIMIT
            break
        before = stepper.t
        fault = stepper.step(task.t1)
        if fault is not None:
            end = fault
            break
        steps += 1
        stalled = _stalled(stalled, before, stepper.t - before, task.t1 - before)
        if stalled > CRAWLS:
            end = End.COLLAPSED
            break
        if task.flow.count and (task.gates.any() or task.gates.size > task.events):
            x_at = stepper.interpolant()
            crossing = first_crossing(task, x_at, before, stepper.t, stepper.looks())
            if crossing is not None:
                root, guard = crossing
                stepper.x, stepper.t = np.array(x_at(root)), root
                times.append(root)
                end = End.GUARD
                break
        times.append(stepper.t)
        try:
            task.watch(stepper.t, stepper.x)
        except Enough:
            end = End.WATCHER
            break
        task.set_gates(stepper.t, stepper.x)
    final = np.array(stepper.x)
    inner = stepper.dense(stepper.t) if steps else None

    def dense(t: np.ndarray) -> np.ndarray:
        t = np.atleast_1d(np.asarray(t, dtype=float))
        if inner is None:
            return np.repeat(final[:, None], t.size, axis=1)
        result = np.array(inner(t))
        result[:, t == times[-1]] = final[:, None]
        return result

    return Leg(np.array(times), final, dense, end, guard, steps)
