"""Taylor's method by heyoka: machine precision, exact events, dense output for free."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import isfinite
from typing import Any

import numpy as np

from appell.code import heyoka_code
from appell.motion.arrival import LOOK
from appell.motion.corners import first_corner
from appell.motion.crossing import fallen, first_crossing
from appell.motion.flow import Flow
from appell.motion.leg import STALLS, Dense, End, Enough, Leg, Task, moment, pieced
from appell.once import once

GLANCES = 40  # steps between two looks at the keyboard where nothing else is to be watched
TINY = 24  # up to so many instructions straight-line code compiles as fast as compact code; it runs twice as fast
SMALL = 350  # the same where machine code is asked for: up to five seconds of compilation, once
NUDGE = 1e-100  # keeps a guard off exact zero: from there heyoka's root finder sees no later zero in the same step


@once
def _idle(flow: Flow, tolerance: float) -> list[Any]:
    """Integrators that are at no work: each holds a state, so that every leg at a time has one of its own."""
    return []


@contextmanager
def _borrowed(task: Task) -> Iterator[Any]:
    """An integrator, as long as a leg takes."""
    tolerance = task.rtol if task.rtol is not None else np.finfo(float).eps
    idle = _idle(task.flow, tolerance)
    try:
        integrator = idle.pop()
    except IndexError:
        integrator = _integrator(task.flow, tolerance)
    yield integrator
    idle.append(integrator)


def _integrator(flow: Flow, tolerance: float) -> Any:
    hy = heyoka_code.module()
    sizes = [flow.rhs.nnz_in(i) for i in range(4)]
    x = heyoka_code.variables(sizes[1])
    w, p = heyoka_code.parameters(sizes[2]), heyoka_code.parameters(sizes[3], sizes[2])
    blinds = heyoka_code.parameters(flow.count, sizes[2] + sizes[3])
    arguments = [[hy.time], x, w, p]
    rates = heyoka_code.expressions(flow.rhs, arguments)[0]
    guards = heyoka_code.expressions(flow.guards, arguments)[0] if flow.count else []
    # A guard that is switched off is the constant 1, and one that is lifted by a little has its zero below.
    watched = [(1.0 - blind) * guard + blind for blind, guard in zip(blinds, guards, strict=True)]
    level = 3 if flow.compiled else 1  # the same numbers as fast, compiled in two thirds of the time
    return hy.taylor_adaptive(
        list(zip(x, rates, strict=True)),
        [0.0] * sizes[1],
        tol=tolerance,
        compact_mode=flow.rhs.n_instructions() > (SMALL if flow.compiled else TINY),
        opt_level=level,
        t_events=[hy.t_event(guard, direction=hy.event_direction.negative) for guard in watched],
    )


def integrate(task: Task) -> Leg:
    """One leg."""
    with _borrowed(task) as integrator:
        return _leg(task, integrator)


def _leg(task: Task, integrator: Any) -> Leg:
    hy = heyoka_code.module()
    _place(integrator, task)
    watcher = _Watcher(task)
    outcome, first = _first_step(integrator, task)
    outputs, steps = [first] if outcome != hy.taylor_outcome.err_nf_state else [], 1
    onward = outcome in (hy.taylor_outcome.success, hy.taylor_outcome.time_limit) and watcher.after_step(integrator)
    if onward and float(integrator.time) < task.t1:
        outcome, more = _propagate(integrator, task, watcher, outputs, steps)
        steps += more
    end, guard = _ending(outcome, watcher.end)
    if end is End.GUARD:
        watcher.at_guard(integrator, guard)
    if watcher.missed is not None:
        end, (t_end, guard) = End.GUARD, watcher.missed
        final = np.array(integrator.update_d_output(t_end))
    elif end is not End.NOT_FINITE:
        t_end, final = float(integrator.time), np.array(integrator.state)
    else:  # back to the last step that was looked at
        t_end, final = watcher.t, watcher.x
        if watcher.idle and outputs:
            final = np.array(outputs[-1](t_end))
    times = _times(task, outputs, t_end)
    return Leg(times, final, _dense(outputs, times, final), end, guard, steps)


def _propagate(integrator: Any, task: Task, watcher: _Watcher, outputs: list[Any], steps: int) -> tuple[Any, int]:
    """Further steps up to the end of a leg, with a look now and then at whether they lead anywhere; how many.

    Args:
        integrator: Where the leg is.
        task: What was asked for.
        watcher: Asked after every step.
        outputs: Gets the series of the steps.
        steps: How many were made before.
    """
    limit = heyoka_code.module().taylor_outcome.step_limit
    outcome, made, look = limit, steps, task.max_steps if task.flow.roots is None else LOOK
    while outcome == limit and made < task.max_steps:
        outcome, _, _, more, output, _ = integrator.propagate_until(
            task.t1,
            callback=watcher.glance if watcher.idle else watcher.after_step,
            c_output=True,
            max_steps=min(look, task.max_steps) - made,
        )
        made, look = made + int(more), 2 * look
        outputs += [output] if output is not None else []
        if outcome == limit:
            t, x = float(integrator.time), np.array(integrator.state)
            times = _times(task, outputs, t)
            if first_corner(task, Leg(times, x, _dense(outputs, times, x), End.REACHED), exact=True) is not None:
                watcher.end = End.CORNER
                return heyoka_code.module().taylor_outcome.cb_stop, made - steps
    return outcome, made - steps


def _times(task: Task, outputs: list[Any], end: float) -> np.ndarray:
    """Step boundaries of a leg up to its end."""
    times = np.unique(np.concatenate([np.array([task.t0, end]), *(np.array(output.times) for output in outputs)]))
    return times[times <= end]


def _ending(outcome: Any, asked: End) -> tuple[End, int]:
    """Why a leg ended and which guard fired, from what heyoka says and what the watcher asked for."""
    hy = heyoka_code.module()
    if outcome == hy.taylor_outcome.err_nf_state:
        return End.NOT_FINITE, -1
    if outcome == hy.taylor_outcome.step_limit:
        return End.STEP_LIMIT, -1
    if -(2**32) < int(outcome) < 0:  # minus one and the number of a terminal event
        return End.GUARD, -int(outcome) - 1
    return asked, -1


def _dense(outputs: list[Any], times: np.ndarray, final: np.ndarray) -> Dense:
    """x at any times of a leg, from the series of its first step and of all others."""
    starts = np.array([output.times[0] for output in outputs])
    pieces = [lambda t, output=output: np.array(output(t)).T for output in outputs]

    def dense(t: np.ndarray) -> np.ndarray:
        t = np.clip(np.atleast_1d(t), times[0], times[-1])
        return pieced(starts, pieces, final.size, t) if pieces else np.repeat(final[:, None], t.size, axis=1)

    return dense


class _Watcher:
    """What is looked at after the steps of a leg.

    Args:
        task: The leg.

    Attributes:
        t, x: The last step that was looked at.
        end: Why the leg shall end.
        missed: Time and number of a guard whose zero heyoka did not find.
        idle: Whether steps need no attention.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.t, self.x = task.t0, np.array(task.x0, dtype=float)
        self.end = End.REACHED
        self.missed: tuple[float, int] | None = None
        self.idle = task.idle and not task.flow.count
        self._stalled = self._count = 0
        self._guards = task.guards_and_rates(self.t, self.x) if task.flow.count else None

    def after_step(self, ta: Any) -> bool:
        """Look at a step; returns whether to go on."""
        task, t, x = self.task, float(ta.time), np.array(ta.state)
        if not isfinite(x.dot(x)) and not np.all(np.isfinite(x)):
            return True  # heyoka itself ends the run
        self._count_stalls(t)
        if self._stalled > STALLS:
            self.end = End.COLLAPSED
            return False
        before = self._guards
        if self._overlooked(ta, t, x):
            return False
        try:
            if task.watch(t, x):
                ta.state[:] = x
        except Enough:
            self.end = End.WATCHER
            self.missed = self._landed(t, before)
            return False
        finally:
            self.t, self.x = t, x
        if task.set_gates(t, x):
            _set_parameters(ta, task)
        return True

    def glance(self, ta: Any) -> bool:
        """After a step that needs no attention: a look at the clock, and now and then at the keyboard."""
        t = ta.time
        self._count_stalls(t)
        self._count += 1
        if self._stalled > STALLS or self._count % GLANCES == 0:
            return self.after_step(ta)
        self.t = t
        return True

    def _count_stalls(self, t: float) -> None:
        """How many steps in a row hardly moved time."""
        self._stalled = self._stalled + 1 if t - self.t <= moment(t, self.task.t1 - t) else 0

    def at_guard(self, ta: Any, guard: int) -> None:
        """Look at a step that ended where a guard fell: that need not be the first, nor the only one there.

        And it may have been lifted.
        """
        task, t = self.task, float(ta.time)
        if self.t >= t or self._overlooked(ta, t, np.array(ta.state), moment(t, task.t1 - t)):
            return

        def value(time: float) -> float:
            return float(task.guards(time, np.array(ta.update_d_output(time)))[guard])

        if not task.gates[guard] and (when := fallen(value, self.t, t, task.limits[guard])) is not None:
            self.missed = when, guard
        within = self.t + 0.3819660113 * (t - self.t)  # where nothing of a period that fits the step is zero
        moved = np.abs(task.guards(within, np.array(ta.update_d_output(within)))) > task.limits
        task.gates[: task.events] |= moved[: task.events]

    def _landed(self, t: float, before: tuple[np.ndarray, np.ndarray] | None) -> tuple[float, int] | None:
        """The guard whose zero ended the step: it comes first, of whatever else the leg had to end."""
        if before is None or self._guards is None:
            return None
        limits, (was, _), (now, falling) = self.task.limits, before, self._guards
        fell = self.task.gates & (was > limits) & (np.abs(now) <= limits) & (falling < 0)
        return (t, int(np.flatnonzero(fell)[0])) if fell.any() else None

    def _overlooked(self, ta: Any, t: float, x: np.ndarray, margin: float = 0.0) -> bool:
        """Whether a guard fell through zero in the step that ends here, before a last margin: where, and which.

        heyoka's root finder may give up on a zero, and does not look at guards that rest on zero; its step still knows
        where they were.
        """
        if self._guards is None:
            return False
        task, (before, rising), (now, falling) = self.task, self._guards, self.task.guards_and_rates(t, x)
        self._guards = now, falling
        below = now < (-task.limits if margin else 0.0)  # where a guard ended the step, that one is on zero
        on_zero = np.abs(before) < task.limits
        moved = ~task.gates & (np.maximum(np.abs(now), np.abs(falling) * (t - self.t)) > task.limits)
        passed = task.gates & below & ((before > 0) | ((on_zero | (rising > 0)) & (falling < 0)))
        moved[task.events :] = False
        passed[task.events :] = (below & (now + task.lifts <= 0))[task.events :]  # wherever it was before
        if not (moved.any() or passed.any()):
            return False
        found = first_crossing(task, lambda time: np.array(ta.update_d_output(time)), self.t, t)
        self.missed = found if found is not None and found[0] <= t - margin else None
        return self.missed is not None


def _set_parameters(integrator: Any, task: Task) -> None:
    """Inputs, parameters and gates; heyoka knows only as many as the equations contain."""
    values = np.concatenate([task.w, task.p, np.clip(task.lifts, NUDGE, 1.0)])
    integrator.pars[:] = values[: integrator.pars.size]


def _place(integrator: Any, task: Task) -> None:
    integrator.time = task.t0
    integrator.state[:] = task.x0
    _set_parameters(integrator, task)
    if task.flow.count:
        integrator.reset_cooldowns()


def _first_step(integrator: Any, task: Task) -> tuple[Any, _Series]:
    """A step of a length from all orders of the series: how it went, and the series.

    heyoka takes its steps from the last two orders. At a symmetric start (a pendulum released at rest in the
    horizontal) both may vanish by themselves, and the step would be far too long; after one step the gaps are filled.
    """
    integrator.step(max_delta_t=1e-200, write_tc=True)
    series = np.array(integrator.tc)
    _place(integrator, task)
    order = series.shape[1] - 1
    sizes = np.max(np.abs(series), axis=0)
    length = np.inf
    if np.all(np.isfinite(sizes)):
        scale = max(1.0, sizes[0])
        with np.errstate(over="ignore"):
            radii = [(scale / sizes[k]) ** (1 / k) for k in range(max(2, order // 3), order + 1) if sizes[k] > 0]
        length = min(radii, default=np.inf) * np.exp(-2.0 - 0.7 / max(1, order - 1))
    outcome, _ = integrator.step(max_delta_t=min(length, task.t1 - task.t0))
    return outcome, _Series(series, np.array([task.t0, float(integrator.time)]))


class _Series:
    """The first step, as heyoka's continuous output gives the others.

    Args:
        coefficients: Of the powers of t - t0, one row for each entry of x.
        times: Its beginning and its end.
    """

    def __init__(self, coefficients: np.ndarray, times: np.ndarray) -> None:
        self._coefficients, self.times = coefficients, times

    def __call__(self, t: Any) -> np.ndarray:
        share = np.asarray(t, dtype=float)[..., None] - self.times[0]
        value = np.zeros(share.shape)
        for column in self._coefficients.T[::-1]:
            value = value * share + column
        return value
