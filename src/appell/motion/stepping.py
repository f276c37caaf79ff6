"""The loop shared by all integrators that make one step at a time: guards located on the dense output of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from appell.motion.leg import End, Enough, Leg, Task

LOOKS = 8  # places within a step at which the guards are looked at


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

    def dense(self, cut: float) -> Callable[[np.ndarray], np.ndarray]:
        """x within all steps made."""
        ...


def first_crossing(task: Task, x_at: Callable[[float], np.ndarray], t0: float, t1: float) -> tuple[float, int] | None:
    """The first time in (t0, t1] at which an open guard falls through zero, and which.

    Where a guard is positive at two looks but falls at the first and rises at the second, its lowest point in between is
    looked at too: it may have dipped below zero and come back.
    """
    times = np.linspace(t0, t1, LOOKS + 1)
    states = [x_at(t) for t in times]
    values = np.array([task.guards(t, x) for t, x in zip(times, states, strict=True)])
    rates = np.array([task.guard_rates(t, x) for t, x in zip(times, states, strict=True)])
    found: tuple[float, int] | None = None
    for k in np.flatnonzero(task.gates):

        def value(t: float, k: int = int(k)) -> float:
            return float(task.guards(t, x_at(t))[k])

        def rate(t: float, k: int = int(k)) -> float:
            return float(task.guard_rates(t, x_at(t))[k])

        for i in np.flatnonzero(values[:-1, k] > 0):
            before, after, left = times[i], times[i + 1], values[i + 1, k]
            if left > 0 and rates[i, k] < 0 < rates[i + 1, k]:
                after = brentq(rate, before, after)
                left = value(after)
            if left <= 0:
                root = float(brentq(value, before, after, xtol=1e-15 * max(1.0, abs(t1)), rtol=1e-15, maxiter=200))
                if found is None or abs(root - t0) < abs(found[0] - t0):
                    found = (root, int(k))
                break
    return found


def march(stepper: AnyStepper, task: Task) -> Leg:
    """Step until the end, a guard, or a fault."""
    times = [task.t0]
    end, guard, steps = End.REACHED, -1, 0
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
        if task.flow.count and task.gates.any():
            x_at = stepper.interpolant()
            crossing = first_crossing(task, x_at, before, stepper.t)
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
        task.open_gates(stepper.t, stepper.x)
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
