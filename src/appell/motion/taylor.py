"""Taylor's method by heyoka: machine precision, exact events, dense output for free."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from appell.code import heyoka_code
from appell.motion.flow import Flow
from appell.motion.leg import End, Enough, Leg, Task

TINY = 45  # below so many operations straight-line code compiles fast and runs faster than compact code

_integrators: weakref.WeakKeyDictionary[Flow, dict[float, Any]] = weakref.WeakKeyDictionary()


def _integrator(flow: Flow, tolerance: float) -> Any:
    made = _integrators.setdefault(flow, {})
    if tolerance in made:
        return made[tolerance]
    hy = heyoka_code._module()
    sizes = [flow.rhs.nnz_in(i) for i in range(4)]
    x = heyoka_code.variables(sizes[1])
    w, p = heyoka_code.parameters(sizes[2]), heyoka_code.parameters(sizes[3], sizes[2])
    gates = heyoka_code.parameters(flow.count, sizes[2] + sizes[3])
    arguments = [[hy.time], x, w, p]
    rates = heyoka_code.expressions(flow.rhs, arguments)[0]
    guards = heyoka_code.expressions(flow.guards, arguments)[0] if flow.count else []
    # A guard that is switched off is the constant 1.
    watched = [gate * guard + (1.0 - gate) for gate, guard in zip(gates, guards, strict=True)]
    made[tolerance] = hy.taylor_adaptive(
        list(zip(x, rates, strict=True)),
        [0.0] * sizes[1],
        pars=[0.0] * (sizes[2] + sizes[3] + flow.count),
        tol=tolerance,
        compact_mode=flow.rhs.n_instructions() > TINY,
        t_events=[hy.t_event(guard, direction=hy.event_direction.negative) for guard in watched],
    )
    return made[tolerance]


def integrate(task: Task) -> Leg:
    """One leg."""
    hy = heyoka_code._module()
    tolerance = task.rtol if task.rtol is not None else np.finfo(float).eps
    integrator = _integrator(task.flow, tolerance)
    base = task.w.size + task.p.size
    integrator.time = task.t0
    integrator.state[:] = task.x0
    integrator.pars[:base] = np.concatenate([task.w, task.p])
    integrator.pars[base:] = task.gates
    if task.flow.count:
        integrator.reset_cooldowns()
    last = [task.t0, np.array(task.x0, dtype=float)]
    stalled = [0]
    asked = [End.REACHED]

    def after_step(ta: Any) -> bool:
        t, x = float(ta.time), np.array(ta.state)
        if not np.all(np.isfinite(x)):
            return True  # heyoka itself ends the run
        stalled[0] = stalled[0] + 1 if t - last[0] <= 1e-14 * max(1.0, abs(t)) else 0
        if stalled[0] > 30:
            asked[0] = End.COLLAPSED
            return False
        try:
            if task.watch(t, x):
                ta.state[:] = x
        except Enough:
            asked[0] = End.WATCHER
            return False
        finally:
            last[0], last[1] = t, x
        if task.open_gates(t, x):
            ta.pars[base:] = task.gates
        return True

    outcome, _, _, steps, output, _ = integrator.propagate_until(
        task.t1, callback=after_step, c_output=True, max_steps=task.max_steps
    )
    end, guard = asked[0], -1
    if outcome == hy.taylor_outcome.err_nf_state:
        end = End.NOT_FINITE
    elif outcome == hy.taylor_outcome.step_limit:
        end = End.STEP_LIMIT
    elif int(outcome) > -(2**32) and int(outcome) < 0:
        end, guard = End.GUARD, -int(outcome) - 1
    finite = end is not End.NOT_FINITE
    t_end = float(integrator.time) if finite else last[0]
    final = np.array(integrator.state) if finite else last[1]
    times = np.array(output.times) if output is not None else np.array([task.t0, t_end])
    times = times[times <= t_end] if finite else times[: max(1, np.searchsorted(times, t_end, side="right"))]

    def dense(t: np.ndarray) -> np.ndarray:
        if output is None:
            return np.repeat(np.asarray(final)[:, None], t.size, axis=1)
        return np.array(output(np.clip(t, times[0], times[-1]))).T

    return Leg(times, final, dense, end, guard, int(steps))
