"""SUNDIALS' CVODES through CasADi: stiff equations, exact Jacobians, thousands of implicit steps in milliseconds.

It runs over a grid of its own; between grid points the motion is interpolated by cubic Hermite polynomials. Events are
not its strength: runs with guards go to SciPy's Radau.
"""

from __future__ import annotations

import contextlib
import io
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator

import casadi as ca
import numpy as np
from scipy.interpolate import CubicHermiteSpline

from appell.motion.arrival import Approach
from appell.motion.leg import End, Enough, Leg, Task

POINTS = 2000
CHUNKS, PARTS = 40, 5
LENGTH = 1e4  # of a leg in its own units of time: CasADi leaves out what is shorter than 3e-8, whatever the unit
MANY, FEW = 200_000, 5_000  # steps of SUNDIALS up to the next point
FINE = 1e-7  # how closely, relative to it, the time is found at which the equations end


_TERMINAL = threading.Lock()  # all threads have the same


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep SUNDIALS' own messages from the terminal: the outcome of the run says the same in words."""
    with _TERMINAL, contextlib.redirect_stderr(io.StringIO()), contextlib.ExitStack() as back:
        with contextlib.suppress(OSError):  # of a program without a terminal
            saved = os.dup(2)
            back.callback(os.close, saved)
            null = os.open(os.devnull, os.O_WRONLY)
            back.callback(os.close, null)
            os.dup2(null, 2)
            back.callback(os.dup2, saved, 2)
        yield


def _known(times: list[np.ndarray], states: list[np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    """x at points of the grid."""
    all_times, all_states = np.concatenate(times), np.concatenate(states, axis=1)
    return lambda s: all_states[:, np.searchsorted(all_times, s)]


def integrate(task: Task) -> Leg:
    """One leg, in chunks so that constraints are kept and the keyboard is heard."""
    t, x, w, p = task.flow.rhs.sx_in()
    unit = (task.t1 - task.t0) / LENGTH
    ode = unit * task.flow.rhs(task.t0 + unit * t, x, w, p)
    problem = {"x": x, "t": t, "p": ca.vertcat(w, p), "ode": ode}
    rtol = task.rtol or 1e-10
    approach = Approach(task)
    options = {"reltol": rtol, "abstol": task.atol or rtol, "show_eval_warnings": False}
    options["max_num_steps"] = FEW if approach.count else MANY  # where friction holds a motion there would be no end
    values = np.concatenate([task.w, task.p])
    layer = task.t0 + (task.t1 - task.t0) * np.geomspace(1e-10, 1e-2, POINTS // 4)  # fast transients at the start
    grid = np.unique(np.concatenate([np.linspace(task.t0, task.t1, POINTS + 1), layer, task.grid]))
    times, states = [grid[:1]], [np.array(task.x0, dtype=float)[:, None]]
    end, now = End.REACHED, np.array(task.x0, dtype=float)
    pieces = deque(np.array_split(grid[1:], min(CHUNKS, grid.size - 1)))
    while pieces:
        piece = pieces.popleft()
        start = float(times[-1][-1])
        begin, ends = (start - task.t0) / unit, ((piece - task.t0) / unit).tolist()
        solver = ca.integrator("stiff", "cvodes", problem, begin, ends, options)
        try:
            with _quiet():
                found = np.array(solver(x0=now, p=values)["xf"])
        except RuntimeError:
            found = np.full((now.size, piece.size), np.nan)
        if not np.all(np.isfinite(found)):
            options["max_num_steps"] = FEW  # where it is hard, short pieces fail soon and are halved
            if piece.size > 1:  # once more, in shorter pieces, to keep what can be had
                pieces.extendleft(np.array_split(piece, min(PARTS, piece.size))[::-1])
            elif piece[0] - start > FINE * max(1.0, abs(start)):
                pieces.extendleft([piece, (piece + start) / 2])
            else:
                end = End.COLLAPSED if np.all(np.isfinite(task.f(start, now))) else End.NOT_FINITE
                break
            continue
        now = found[:, -1].copy()
        stop = False
        try:
            task.watch(float(piece[-1]), now)
        except Enough:
            stop, end = True, End.WATCHER
        found[:, -1] = now
        times.append(piece)
        states.append(found)
        if stop:
            break
        seen = sum(e.size for e in times[:-1]) - 1
        if approach.count and approach.rests(np.concatenate(times), _known(times, states), seen):
            end = End.REST
            break
    all_times, all_states = np.concatenate(times), np.concatenate(states, axis=1)
    slopes = np.array([task.f(float(s), y) for s, y in zip(all_times, all_states.T, strict=True)])
    if all_times.size < 2:
        return Leg(all_times, now, lambda s: np.repeat(now[:, None], np.size(s), axis=1), end)
    spline = CubicHermiteSpline(all_times, all_states.T, slopes)
    return Leg(all_times, now, lambda s: spline(np.atleast_1d(s)).T, end, -1, all_times.size - 1)
