"""Dormand and Prince's method of order 8(5,3), a whole step as one function.

The twelve stages, the new state, the error norm and the choice of the next step are one graph, so an attempted step is
one call; the extra stages of the dense output are a second one, called when somebody asks for a value in between, and
guards along a step a third. Of large equations only attempts are one graph: kinks give them new ones again and again.
Coefficients: Hairer, Norsett and Wanner 1993, as kept by SciPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property, reduce
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np

from appell.code.iteration import TURNS, Iteration
from appell.code.machine import Machine
from appell.graph.quick import Quick, larger, root
from appell.graph.sparse import densified
from appell.motion.attempt import BEHIND, GROW, SETTINGS, Attempt, Status
from appell.motion.crossing import LOOKS, Looked, looked_graph
from appell.motion.flow import Flow
from appell.motion.leg import End, Enough, Leg, Task
from appell.motion.stepping import march
from appell.once import once


def _table() -> SimpleNamespace:
    """SciPy's file of coefficients alone: the package around it takes half a second to import."""
    package = find_spec("scipy")
    assert package is not None
    folder = Path(next(iter(package.submodule_search_locations or ())))
    return SimpleNamespace(**run_path(str(folder / "integrate" / "_ivp" / "dop853_coefficients.py")))


table = _table()
STAGES = table.N_STAGES
LONG = 50_000  # steps in which CasADi's machine takes about as long as compiling them to machine code would
LARGE = 1000  # instructions of a right-hand side of which stages are calls, not parts of one graph, between steps
THIRD = table.E3[:STAGES] - table.B
REGISTER = 8  # a multiple of the lanes of a SIMD register
FAULTS = {Status.NOT_FINITE: End.NOT_FINITE, Status.COLLAPSED: End.COLLAPSED}

# CasADi's operators try all kinds of arguments first; named with their kind they are many times quicker.
_binary = ca.SX.binary


def _stages(f: Callable[[Any, Any], Any], t: Any, x: Any, h: Any) -> list[Any]:
    """The slopes of the twelve stages, of graphs or of columns of numbers."""
    slopes: list[Any] = []
    for i in range(STAGES):
        slopes.append(f(_later(t, h, table.C[i]), _moved(x, h, table.A[i][:i], slopes) if i else x))
    return slopes


def _columns(f: Callable[[Any, Any], Any], t: Any, x: Any, h: Any, slopes: list[Any]) -> list[Any]:
    """The polynomial of degree seven within a step, by three more stages."""
    new = _moved(x, h, table.B, slopes)
    slopes = [*slopes, f(t + h, new)]
    for i in range(STAGES + 1, table.N_STAGES_EXTENDED):
        slopes.append(f(_later(t, h, table.C[i]), _moved(x, h, table.A[i][:i], slopes)))
    difference = new - x
    first = [difference, h * slopes[0] - difference, 2 * difference - h * (slopes[STAGES] + slopes[0])]
    return first + [h * _weighted(row, slopes) for row in table.D]


def _weighted(weights: np.ndarray, slopes: list[Any]) -> Any:
    """The sum of b_i k_i."""
    pairs = [(float(b), k) for b, k in zip(weights, slopes, strict=False) if b != 0]
    if not isinstance(slopes[0], ca.SX):
        return sum(b * k for b, k in pairs)
    terms = [_binary(ca.OP_MUL, _constant(b), k) for b, k in pairs]
    return reduce(lambda a, b: _binary(ca.OP_ADD, a, b), terms)


@cache
def _constant(coefficient: float) -> ca.SX:
    """A coefficient of the method on the graph."""
    return ca.SX(coefficient)


def _moved(x: Any, h: Any, weights: np.ndarray, slopes: list[Any]) -> Any:
    """x + h times the sum of b_i k_i."""
    slope = _weighted(weights, slopes)
    return _binary(ca.OP_ADD, x, _binary(ca.OP_MUL, h, slope)) if isinstance(slope, ca.SX) else x + h * slope


def _later(t: Any, h: Any, share: float) -> Any:
    """The time at a share of the step."""
    if isinstance(t, ca.SX):
        return _binary(ca.OP_ADD, t, _binary(ca.OP_MUL, _constant(float(share)), h))
    return t + float(share) * h


def step_functions(rhs: ca.Function) -> tuple[ca.Function, ca.Function]:
    """The step (t, x, w, P) -> (x1, error) and the dense output (t, x, w, P) -> F, with P = (p, h, rtol, atol)."""
    return step_function(rhs), dense_function(rhs)


def step_function(rhs: ca.Function) -> ca.Function:
    """The step (t, x, w, P) -> (x1, error), with P = (p, h, rtol, atol)."""
    t, x, w, p = rhs.sx_in()
    P = ca.vertcat(p, *(ca.SX.sym(name) for name in ("h", "rtol", "atol")))
    return ca.Function("step", [t, x, w, P], list(step_graph(rhs, t, x, w, P)))


def step_graph(rhs: ca.Function, t: ca.SX, x: ca.SX, w: ca.SX, P: ca.SX) -> tuple[ca.SX, ca.SX]:
    """The new state and the error of a step, with P = (p, h, rtol, atol)."""
    p, (h, rtol, atol) = P[:-3], ca.vertsplit(P[-3:])
    slopes = _stages(lambda time, state: rhs(time, state, w, p), t, x, h)
    slope = _weighted(table.B, slopes)
    new = _binary(ca.OP_ADD, x, _binary(ca.OP_MUL, h, slope))
    size = 1.0 / (Quick(atol) + Quick(rtol) * larger(abs(Quick(x)), abs(Quick(new))))
    # The formula of order three differs from that of order eight in three stages only.
    apart = _weighted(table.E5[:STAGES], slopes), _binary(ca.OP_ADD, slope, _weighted(THIRD, slopes))
    fifth, third = (Quick(ca.sumsqr((Quick(e) * size).graph)) for e in apart)
    error = Quick(h) * fifth / root(larger((fifth + 0.01 * third) * x.numel(), 1e-300))
    return densified(new), error.graph


def dense_function(rhs: ca.Function) -> ca.Function:
    """The dense output (t, x, w, P) -> F of a step, with P as for the step."""
    t, x, w, p = rhs.sx_in()
    h, tolerances = ca.SX.sym("h"), ca.SX.sym("tolerances", 2)

    def f(time: ca.SX, state: ca.SX) -> ca.SX:
        return rhs(time, state, w, p)

    columns = ca.vertcat(*_columns(f, t, x, h, _stages(f, t, x, h)))
    return ca.Function("dense", [t, x, w, ca.vertcat(p, h, tolerances)], [ca.densify(columns)])


def attempt_function(
    rhs: ca.Function, growth: ca.Function | None = None, alarm: ca.Function | None = None
) -> ca.Function:
    """An attempt (V, P) -> (V', status), V = (x, t, h, room, stalled, steps), P = (w, p, *SETTINGS).

    Args:
        rhs: The right-hand side.
        growth: A function (t, x, w, p) that no step may raise by much, if velocities are dependent.
        alarm: A function (t, x, w, p) -> (growth, side) that asks for a look at the speeds where the growth is not
            below `calm` or the side changes its sign.
    """
    t, x, w, p = rhs.sx_in()
    h, room, stalled, steps = (ca.SX.sym(name) for name in BEHIND[1:])
    rtol, atol, end, most, calm = (ca.SX.sym(name) for name in SETTINGS)

    def step(*arguments: ca.SX) -> tuple[ca.SX, ca.SX]:
        return step_graph(rhs, *arguments)

    attempt = Attempt.of(step, (x, t, h, room), (w, p), (rtol, atol), end, growth)
    wishes = []
    if alarm is not None:
        (_, before), (growth, after) = alarm(t, x, w, p), alarm(attempt.later, attempt.new, w, p)
        wishes = [((~(Quick(growth) < calm) | (Quick(before) * after < 0)).graph, Status.RESTLESS)]
    V, P = ca.vertcat(x, t, h, room, stalled, steps), ca.vertcat(w, p, rtol, atol, end, most, calm)
    return ca.Function("attempt", [V, P], [densified(attempt.outcome(attempt.new, stalled, steps, most, wishes))])


class _Machines:
    """What steps of one flow are made by."""

    def __init__(self, rhs: ca.Function, growth: ca.Function | None) -> None:
        self._rhs, self._growth = rhs, growth
        self._looks: Machine | None = None
        self._attempts: dict[ca.Function | None, Iteration] = {}

    def attempts(self, alarm: ca.Function | None) -> Iteration:
        """Attempted steps, one after the other, up to an alarm if there is one."""
        if alarm not in self._attempts:
            self._attempts[alarm] = Iteration(attempt_function(self._rhs, self._growth, alarm))
        return self._attempts[alarm]

    @cached_property
    def dense(self) -> Machine:
        """Coefficients of the dense output of a step."""
        return Machine(dense_function(self._rhs), simd=False)

    def looks(self, guards: ca.Function) -> Machine:
        """Guards along a step, by a function (t, x, w, p) -> (g, g')."""
        if self._looks is None:
            self._looks = Machine(look_function(self._rhs, guards), simd=False)
        return self._looks


@once
def _machines(flow: Flow) -> _Machines:
    return _Machines(flow.rhs, flow.growth)


def look_function(rhs: ca.Function, guards: ca.Function) -> ca.Function:
    """(t, x, w, P) -> guards, their rates and doubts at `LOOKS` + 1 places of the step from t to t + h, P as for it."""
    t, x, w, p = rhs.sx_in()
    h, tolerances = ca.SX.sym("h"), ca.SX.sym("tolerances", 2)

    def f(time: ca.SX, state: ca.SX) -> ca.SX:
        return rhs(time, state, w, p)

    columns = _columns(f, t, x, h, _stages(f, t, x, h))
    places = [k / LOOKS for k in range(LOOKS + 1)]
    seen = [guards(t + s * h, interpolate(columns, x, s) if s else x, w, p) for s in places]
    values, rates = (ca.densify(ca.horzcat(*e)) for e in zip(*seen, strict=True))
    results = [ca.densify(e) for e in looked_graph(values, rates, h / LOOKS)]
    return ca.Function("looks", [t, x, w, ca.vertcat(p, h, tolerances)], results)


def interpolate(coefficients: Any, start: Any, share: Any) -> Any:
    """x at a share (0..1) of a step, from the seven columns of its dense output."""
    value = 0.0
    for i, column in enumerate(reversed(coefficients)):
        value = (value + column) * (share if i % 2 == 0 else 1 - share)
    return value + start


class Stepper:
    """Steps of adaptive size.

    Args:
        task: What to integrate.
    """

    def __init__(self, task: Task) -> None:
        self.task, flow = task, task.flow
        self.rtol = task.rtol if task.rtol is not None else 1e-12
        self.atol = task.atol if task.atol is not None else self.rtol
        self._machines = _machines(flow)
        self.t, self.x = task.t0, np.array(task.x0, dtype=float)
        self._n = self.x.size
        self._V = np.concatenate([self.x, [self.t, self._first_step(), GROW, 0.0, 0.0]])
        self._P = self._settings()
        self._done: list[np.ndarray] = []  # x, t, h at the start of accepted steps

    def _settings(self) -> np.ndarray:
        """The numbers that stay the same from step to step."""
        task = self.task
        return np.concatenate([task.w, task.p, [self.rtol, self.atol, task.t1, task.max_steps, task.calm()]])

    @cached_property
    def _attempts(self) -> Iteration:
        """Attempts that stop by themselves where somebody has to look, if that is all they have to be watched for."""
        return self._machines.attempts(self.task.alarm if self.leaps else None)

    @property
    def leaps(self) -> bool:
        """Whether no step needs attention, or those that do say so."""
        return (self.task.idle or self.task.alarm is not None) and not self.task.flow.count

    def _first_step(self) -> float:
        """Hairer's estimate of a first step."""
        f0 = self.task.f(self.t, self.x)
        scale = self.atol + self.rtol * np.abs(self.x)
        with np.errstate(over="ignore"):
            d0, d1 = np.linalg.norm(self.x / scale), np.linalg.norm(f0 / scale)
        h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 or not np.isfinite(d1) else 0.01 * d0 / d1
        return float(min(h, abs(self.task.t1 - self.t)) or 1e-6)

    @property
    def _compiled(self) -> bool:
        """Whether the next step is machine code: as asked for, or worth it by the number of steps, never by a clock."""
        flow, attempts = self.task.flow, self._attempts
        return flow.compiled or (flow.simd and attempts.whole and bool(self._V[-1] >= LONG))

    def attempt(self, turns: int) -> Status:
        """So many attempts at once, or up to where something is to be said."""
        attempts, n = self._attempts, self._n
        self._V[:n] = self.x
        rows = attempts(self._V, self._P, min(turns, attempts.turns), self._compiled)
        self._done.append(rows[:-1, : n + 2][rows[1:, n + 2] > 1])
        self._V[:] = rows[-1, :-1]
        self.t, self.x = float(self._V[n]), self._V[:n].copy()
        return Status(int(rows[-1, -1]))

    def step(self, limit: float) -> End | None:
        """One accepted step; an end if there is none."""
        attempts, compiled, V, n = self._attempts, self._compiled, self._V, self._n
        V[:n] = self.x
        while True:
            before, after = attempts(V, self._P, 1, compiled)
            V[:] = after[:-1]
            if after[-1] in FAULTS:
                return FAULTS[Status(int(after[-1]))]
            if after[n + 2] > 1:
                self._done.append(before[None, : n + 2].copy())
                self.t, self.x = float(V[n]), V[:n].copy()
                return None

    def leap(self) -> Leg:
        """The whole leg, where no step needs attention but those that ask for it."""
        task, end = self.task, End.REACHED
        status = Status.GOING if self.t != task.t1 else Status.REACHED
        if task.max_steps < 1:
            status = Status.STEP_LIMIT
        while status in (Status.GOING, Status.RESTLESS):
            status = self.attempt(TURNS)
            try:
                task.watch(self.t, self.x)
            except Enough:
                end = End.WATCHER
                break
            if status is Status.RESTLESS:
                self._P = self._settings()  # what counts as calm may have changed
        end = {**FAULTS, Status.STEP_LIMIT: End.STEP_LIMIT}.get(status, end)
        return Leg(np.append(self._starts()[:, self._n], self.t), self.x, self.dense(self.t), end, -1, int(self._V[-1]))

    def _starts(self) -> np.ndarray:
        """x, t, h at the start of all accepted steps; a step that was cut short by the end has the h it made."""
        done = np.concatenate([np.empty((0, self._n + 2)), *self._done])
        done[:, -1] = np.minimum(done[:, -1], self.task.t1 - done[:, -2])
        self._done = [done]
        return done

    def interpolant(self) -> Callable[[float], np.ndarray]:
        """x within the last step."""
        x, t, h = self._last()
        columns: list[np.ndarray] = []

        def at(time: float) -> np.ndarray:
            if not columns:
                columns.append(self._coefficients(t, h, x))
            return interpolate(columns[0], x, (time - t) / h)

        return at

    def looks(self) -> Looked | None:
        """Guards along the last step, in one call; not of large equations."""
        if self._large:
            return None
        x, t, h = self._last()
        machine = self._machines.looks(self.task.flow.guard_machine.function)
        values, rates, doubts = machine(t, x, self.task.w, self._extended(h))
        return Looked(values, rates, doubts[:, 0])

    def _last(self) -> tuple[np.ndarray, float, float]:
        """x, t and h of the last step."""
        row = self._done[-1][-1]
        t = float(row[-2])
        return row[:-2], t, min(float(row[-1]), self.task.t1 - t)

    def _extended(self, h: float) -> np.ndarray:
        """p with what a step needs behind it."""
        return np.concatenate([self.task.p, [h, self.rtol, self.atol]])

    @property
    def _large(self) -> bool:
        return self.task.flow.rhs.n_instructions() > LARGE

    def _coefficients(self, t: float, h: float, x: np.ndarray) -> np.ndarray:
        if self._large:
            f = self.task.f
            return np.stack(_columns(f, t, x, h, _stages(f, t, x, h)))
        return self._machines.dense.flat(t, x, self.task.w, self._extended(h)).reshape(7, -1)

    def _many_coefficients(self, t: np.ndarray, h: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Those of many steps, of shape (7, n, steps): one by one, or side by side where steps are machine code."""
        task = self.task
        if not task.flow.compiled:
            return np.stack([self._coefficients(*step) for step in zip(t, h, x.T, strict=True)], axis=-1)
        # Whole registers, so that a step has the same coefficients whatever is asked for beside it.
        t, h, x = (np.pad(e, [*((0, 0),) * (e.ndim - 1), (0, -t.size % REGISTER)], mode="edge") for e in (t, h, x))

        def f(time: np.ndarray, state: np.ndarray) -> np.ndarray:
            return task.flow.machine.batch(time, state, task.w, task.p)

        return np.stack(_columns(f, t, x, h, _stages(f, t, x, h)))

    def dense(self, cut: float) -> Callable[[np.ndarray], np.ndarray]:
        """x at any times of the leg; coefficients are made for the steps that are asked for."""
        done, final, memo = self._starts(), self.x, {}
        x, starts, h = done[:, : self._n].T, done[:, -2], done[:, -1]

        def at(times: np.ndarray) -> np.ndarray:
            times = np.atleast_1d(np.asarray(times, dtype=float))
            if not starts.size:
                return np.repeat(final[:, None], times.size, axis=1)
            which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, None)
            result = np.array(x[:, which])
            result[:, times == cut] = final[:, None]
            inside = np.flatnonzero((times != starts[which]) & (times != cut))
            if inside.size:
                used, place = np.unique(which[inside], return_inverse=True)
                fresh = [k for k in used if k not in memo]
                if fresh:
                    found = self._many_coefficients(starts[fresh], h[fresh], x[:, fresh])
                    memo.update({k: found[..., i] for i, k in enumerate(fresh)})
                columns = np.stack([memo[k] for k in used], axis=-1)[:, :, place]
                here = which[inside]
                result[:, inside] = interpolate(columns, x[:, here], (times[inside] - starts[here]) / h[here])
            return result

        return at


def integrate(task: Task) -> Leg:
    """One leg."""
    stepper = Stepper(task)
    return stepper.leap() if stepper.leaps else march(stepper, task)
