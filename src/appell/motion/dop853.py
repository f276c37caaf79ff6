"""Dormand and Prince's method of order 8(5,3), a whole step as one function.

The twelve stages, the new state and the error norm are one graph, so a step is one call; the extra stages of the dense
output are a second one, called for all steps at once when somebody asks for a value in between.
Coefficients: Hairer, Norsett and Wanner 1993, as kept by SciPy.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

import casadi as ca
import numpy as np
from scipy.integrate._ivp import dop853_coefficients as table

from appell.code import heyoka_code
from appell.code.heyoka_code import SingleStep
from appell.code.machine import Machine
from appell.motion.flow import Flow
from appell.motion.leg import End, Leg, Task
from appell.motion.stepping import march

STAGES = table.N_STAGES
SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0

_machines: weakref.WeakKeyDictionary[Flow, tuple[Machine | SingleStep, Machine]] = weakref.WeakKeyDictionary()


def _stages(f: Callable[[ca.SX, ca.SX], ca.SX], t: ca.SX, x: ca.SX, h: ca.SX, count: int) -> list[ca.SX]:
    slopes: list[ca.SX] = []
    for i in range(count):
        shift = sum((float(a) * k for a, k in zip(table.A[i][:i], slopes, strict=False) if a != 0), ca.SX(0))
        slopes.append(f(t + float(table.C[i]) * h, x + h * shift if i else x))
    return slopes


def _weighted(weights: np.ndarray, slopes: list[ca.SX]) -> ca.SX:
    return sum((float(b) * k for b, k in zip(weights, slopes, strict=False) if b != 0), ca.SX(0))


def step_functions(rhs: ca.Function) -> tuple[ca.Function, ca.Function]:
    """The step (t, x, w, P) -> (x1, error) and the dense output (t, x, w, P) -> F, with P = (p, h, rtol, atol)."""
    t, x, w, p = rhs.sx_in()
    h, rtol, atol = ca.SX.sym("h"), ca.SX.sym("rtol"), ca.SX.sym("atol")

    def f(time: ca.SX, state: ca.SX) -> ca.SX:
        return rhs(time, state, w, p)

    slopes = _stages(f, t, x, h, STAGES)
    new = x + h * _weighted(table.B, slopes)
    scale = atol + rtol * ca.fmax(ca.fabs(x), ca.fabs(new))
    fifth = ca.sumsqr(_weighted(table.E5[:STAGES], slopes) / scale)
    third = ca.sumsqr(_weighted(table.E3[:STAGES], slopes) / scale)
    error = h * fifth / ca.sqrt(ca.fmax((fifth + 0.01 * third) * x.numel(), 1e-300))
    arguments = [t, x, w, ca.vertcat(p, h, rtol, atol)]
    step = ca.Function("step", arguments, [ca.densify(new), error])
    # Three more stages and the polynomial of degree seven.
    slopes.append(f(t + h, new))
    for i in range(STAGES + 1, table.N_STAGES_EXTENDED):
        shift = _weighted(table.A[i][:i], slopes)
        slopes.append(f(t + float(table.C[i]) * h, x + h * shift))
    difference = new - x
    columns = [difference, h * slopes[0] - difference, 2 * difference - h * (slopes[STAGES] + slopes[0])]
    columns += [h * _weighted(row, slopes) for row in table.D]
    dense = ca.Function("dense", arguments, [ca.densify(ca.vertcat(*columns))])
    return step, dense


def _machines_of(flow: Flow) -> tuple[Machine | SingleStep, Machine]:
    if flow not in _machines:
        step, dense = step_functions(flow.rhs)
        made = SingleStep(step) if flow.compiled and heyoka_code.available() else Machine(step)
        _machines[flow] = made, Machine(dense, simd=False)
    return _machines[flow]


def interpolate(coefficients: np.ndarray, start: np.ndarray, share: np.ndarray) -> np.ndarray:
    """x at a share (0..1) of a step, from the seven columns of its dense output."""
    value = np.zeros_like(start)
    for i, column in enumerate(reversed(coefficients)):
        value = (value + column) * (share if i % 2 == 0 else 1 - share)
    return value + start


class Stepper:
    """Steps of adaptive size.

    Args:
        task: What to integrate.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.rtol = task.rtol if task.rtol is not None else 1e-12
        self.atol = task.atol if task.atol is not None else self.rtol
        self.step_machine, self.dense_machine = _machines_of(task.flow)
        self.t, self.x = task.t0, np.array(task.x0, dtype=float)
        self.records: list[tuple[float, float, np.ndarray]] = []
        self._sign = 1.0 if task.t1 >= task.t0 else -1.0
        self.h = self._first_step()
        self._extended = np.concatenate([task.p, [0.0, self.rtol, self.atol]])

    def _first_step(self) -> float:
        """Hairer's estimate of a first step."""
        f0 = self.task.f(self.t, self.x)
        scale = self.atol + self.rtol * np.abs(self.x)
        d0, d1 = np.linalg.norm(self.x / scale), np.linalg.norm(f0 / scale)
        h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 or not np.isfinite(d1) else 0.01 * d0 / d1
        return float(min(h, abs(self.task.t1 - self.t)) or 1e-6)

    def step(self, limit: float) -> End | None:
        """One accepted step, not beyond `limit`; an end if there is none."""
        rejected = False
        while True:
            smallest = 4 * abs(np.nextafter(self.t, np.inf) - self.t)
            if self.h < smallest and not abs(limit - self.t) <= smallest:
                return End.COLLAPSED
            h = min(self.h, abs(limit - self.t))
            self._extended[-3] = h * self._sign
            machine = self.step_machine
            new = machine.flat(self.t, self.x, self.task.w, self._extended)
            error = abs(float(machine.results[1][0]))
            if not np.isfinite(error) or not np.all(np.isfinite(new)):
                self.h = h * 0.1
                rejected = True
                if self.h < 1e3 * smallest:
                    return End.NOT_FINITE
                continue
            factor = GROW if error == 0 else min(GROW, max(SHRINK, SAFETY * error**-0.125))
            if error < 1:
                self.records.append((self.t, h * self._sign, self.x))
                reached = h >= abs(limit - self.t)
                self.t = limit if reached else self.t + h * self._sign
                self.x = new
                self.h = (
                    max(self.h, h) * (min(1.0, factor) if rejected else factor)
                    if h == self.h
                    else max(self.h, h * factor)
                )
                return None
            self.h = h * max(SHRINK, SAFETY * error**-0.125)
            rejected = True

    def interpolant(self) -> Callable[[float], np.ndarray]:
        """x within the last step."""
        t, h, x = self.records[-1]
        columns = self._coefficients(t, h, x)
        return lambda time: interpolate(columns, x, np.asarray((time - t) / h))

    def _coefficients(self, t: float, h: float, x: np.ndarray) -> np.ndarray:
        extended = self._extended.copy()
        extended[-3] = h
        return self.dense_machine.flat(t, x, self.task.w, extended).reshape(7, -1)

    def dense(self, cut: float) -> Callable[[np.ndarray], np.ndarray]:
        """x at any times of the leg; coefficients are made for the steps that are asked for."""
        records, memo = self.records, {}
        starts = np.array([record[0] for record in records]) * self._sign

        def at(times: np.ndarray) -> np.ndarray:
            times = np.atleast_1d(np.asarray(times, dtype=float))
            result = np.empty((self.x.size, times.size))
            which = np.clip(np.searchsorted(starts, times * self._sign, side="right") - 1, 0, len(records) - 1)
            for k in np.unique(which):
                t, h, x = records[k]
                if k not in memo:
                    memo[k] = self._coefficients(t, h, x)
                here = which == k
                share = (times[here] - t) / h
                result[:, here] = interpolate(memo[k][:, :, None], x[:, None], share[None, :])
            return result

        return at


def integrate(task: Task) -> Leg:
    """One leg."""
    return march(Stepper(task), task)
