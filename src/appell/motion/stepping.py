"""The loop shared by all integrators that make one step at a time: guards located on the dense output of the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from appell.motion.arrival import LOOK, Approach
from appell.motion.crossing import Looked, first_crossing
from appell.motion.leg import CRAWL, CRAWLS, SHARE, End, Enough, Leg, Task, moment


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

    def looks(self) -> Looked | None:
        """Guards along the last step, if that is known at once."""
        ...

    def dense(self, cut: float) -> Callable[[np.ndarray], np.ndarray]:
        """x within all steps made."""
        ...


def _stalled(count: float, t: float, h: float, left: float) -> float:
    """The count of steps in a row that lead nowhere, with the one from t to t + h."""
    if h <= moment(t, left):
        return count + SHARE
    return count + 1 if h <= CRAWL * min(abs(t), left) else 0.0


def march(stepper: AnyStepper, task: Task) -> Leg:
    """Step until the end, a guard, or a fault."""
    times = [task.t0]
    end, guard, steps, stalled, seen, approach = End.REACHED, -1, 0, 0.0, 0, Approach(task)
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
        if task.flow.count:
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
        if approach.count and steps == max(LOOK, 2 * seen):
            if approach.rests(np.array(times), stepper.dense(stepper.t), seen):
                end = End.REST
                break
            seen = steps
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
