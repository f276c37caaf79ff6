"""Steps of Dormand and Prince's method, of adaptive size, each of them one function.

The twelve stages, the new state, the error norm and the choice of the next step are one graph, so an attempted step is
one call; the extra stages of the dense output are a second one, called when somebody asks for a value in between, and
guards along a step a third. Of large equations only attempts are one graph.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.code.iteration import TURNS, Iteration
from appell.code.machine import Machine
from appell.graph.quick import Quick
from appell.graph.sparse import densified
from appell.motion.arrival import LOOK, Approach
from appell.motion.attempt import BEHIND, GROW, SETTINGS, Attempt, Status
from appell.motion.crossing import Looked
from appell.motion.dormand_prince import (
    Parts,
    columns_of,
    dense_function,
    interpolate,
    look_function,
    pace_of,
    parts_of,
    stages,
    step_graph,
)
from appell.motion.flow import Flow
from appell.motion.leg import End, Enough, Leg, Task
from appell.motion.stepping import march
from appell.once import once

LONG = 50_000  # steps in which CasADi's machine takes about as long as compiling them to machine code would
LARGE = 3000  # instructions of a right-hand side of which stages are calls, not parts of one graph, between steps
REGISTER = 8  # a multiple of the lanes of a SIMD register
FAULTS = {Status.NOT_FINITE: End.NOT_FINITE, Status.COLLAPSED: End.COLLAPSED}


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
        (_, before), (grown, after) = alarm(t, x, w, p), alarm(attempt.later, attempt.new, w, p)
        wishes = [((~(Quick(grown) < calm) | (Quick(before) * after < 0)).graph, Status.RESTLESS)]
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
        scale = self.atol + self.rtol * np.abs(self.x)
        with np.errstate(over="ignore"):  # added up one by one, as on the graph of lanes, so that no digit differs
            d0, d1 = (float(np.sqrt(np.cumsum((e / scale) ** 2)[-1])) for e in (self.x, self.task.f(self.t, self.x)))
        h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 or not np.isfinite(d1) else 0.01 * d0 / d1
        return float(min(h, abs(self.task.t1 - self.t)) or 1e-6)

    @property
    def _compiled(self) -> bool:
        """Whether the next step is machine code: as asked for, or worth it by the number of steps, never by a clock."""
        flow, attempts = self.task.flow, self._attempts
        worth_it = flow.simd and attempts.whole and bool(self._V[-1] >= LONG)
        return flow.compiled or (worth_it and heyoka_code.available())

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
        look, seen, approach = LOOK, 0, Approach(task)
        while status in (Status.GOING, Status.RESTLESS):
            status = self.attempt(TURNS)
            try:
                task.watch(self.t, self.x)
            except Enough:
                end = End.WATCHER
                break
            if status is Status.RESTLESS:
                self._P = self._settings()  # what counts as calm may have changed
            if self._V[-1] >= look:
                if approach.count and approach.rests(self._times(), self.dense(self.t), seen):
                    end = End.REST
                    break
                seen = int(self._V[-1])
                look = 2 * seen
        end = end if end is End.REST else {**FAULTS, Status.STEP_LIMIT: End.STEP_LIMIT}.get(status, end)
        return Leg(self._times(), self.x, self.dense(self.t), end, -1, int(self._V[-1]))

    def _times(self) -> np.ndarray:
        """Step boundaries, first to last."""
        return np.append(self._starts()[:, self._n], self.t)

    def _starts(self) -> np.ndarray:
        """x, t, h at the start of all accepted steps; a step that was cut short by the end has the h it made."""
        done = np.concatenate([np.empty((0, self._n + 2)), *self._done])
        done[:, -1] = np.minimum(done[:, -1], self.task.t1 - done[:, -2])
        self._done = [done]
        return done

    def interpolant(self) -> Callable[[float], np.ndarray]:
        """x within the last step."""
        x, t, h = self._last()
        found: list[Parts] = []

        def at(time: float) -> np.ndarray:
            if not found:
                found.append(self._parts(t, h, x, *self._coefficients(t, h, x)))
            return found[0]((time - t) / h)

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

    def _coefficients(self, t: float, h: float, x: np.ndarray) -> tuple[np.ndarray, float]:
        """The dense output of a step, and its pace."""
        if self._large:
            f = self.task.f
            slopes = stages(f, t, x, h)
            columns = columns_of(f, t, x, h, slopes)
            return np.stack(columns), float(pace_of(x, h, slopes, columns, self.atol + self.rtol * np.abs(x)))
        machine = self._machines.dense
        return machine.flat(t, x, self.task.w, self._extended(h)).reshape(7, -1), float(machine.results[1][0])

    def _parts(self, t: float, h: float, x: np.ndarray, columns: np.ndarray, pace: float) -> Parts:
        """A step as it is, or in so many shorter ones that its dense output is as good as its end."""
        count = int(parts_of(pace))
        if count == 1:
            return Parts([x], [columns], 0.0)
        states, found = [x], []
        for k in range(count):
            found.append(self._coefficients(t + k * h / count, h / count, states[-1])[0])
            states.append(states[-1] + found[-1][0])
        return Parts(states[:-1], found, x + columns[0] - states[-1])

    def _many_parts(self, t: np.ndarray, h: np.ndarray, x: np.ndarray) -> list[Parts]:
        """Those of many steps, side by side."""
        columns, paces = self._many_coefficients(t, h, x)
        steps = zip(t, h, x.T, strict=True)
        return [self._parts(*step, columns[..., i], float(paces[i])) for i, step in enumerate(steps)]

    def _many_coefficients(self, t: np.ndarray, h: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The dense output of many steps, and their paces, the last axis over the steps."""
        task, machine = self.task, self.task.flow.machine
        if not (task.flow.compiled or self._large):
            P = np.repeat(self._extended(0.0)[None, :], t.size, axis=0)
            P[:, task.p.size] = h
            found, paces = self._machines.dense.side_by_side(t.size, t[:, None], x.T, task.w, P)
            return found.reshape(t.size, 7, -1).transpose(1, 2, 0), paces.ravel()
        if task.flow.compiled:
            # Whole registers, so that a step has the same coefficients whatever is asked for beside it.
            t, h, x = (np.pad(e, [*((0, 0),) * (e.ndim - 1), (0, -t.size % REGISTER)], mode="edge") for e in (t, h, x))

        def f(time: np.ndarray, state: np.ndarray) -> np.ndarray:
            if task.flow.compiled:
                return machine.batch(time, state, task.w, task.p)
            return machine.side_by_side(time.size, time[:, None], state.T, task.w, task.p)[0][:, :, 0].T

        slopes = stages(f, t, x, h)
        columns = columns_of(f, t, x, h, slopes)
        return np.stack(columns), pace_of(x, h, slopes, columns, self.atol + self.rtol * np.abs(x))

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
                    memo.update(zip(fresh, self._many_parts(starts[fresh], h[fresh], x[:, fresh]), strict=True))
                here = which[inside]
                share = (times[inside] - starts[here]) / h[here]
                columns = np.stack([memo[k].columns[0] for k in used], axis=-1)[:, :, place]
                result[:, inside] = interpolate(columns, x[:, here], share)
                for i, k in enumerate(used):
                    if len(memo[k].states) > 1:
                        of_it = np.flatnonzero(place == i)
                        result[:, inside[of_it]] = np.array([memo[k](s) for s in share[of_it]]).T
            return result

        return at


def integrate(task: Task) -> Leg:
    """One leg."""
    stepper = Stepper(task)
    return stepper.leap() if stepper.leaps else march(stepper, task)
