"""Clocks for a machine that others use as well: the best of several runs, both sides by turns.

What runs on one core is timed by the processor's time (`CPU`), which others lengthen least: with a clock on the wall
the side that takes seconds would suffer more from them than the side that takes milliseconds.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sympy.core.cache import clear_cache

ROOT = Path(__file__).resolve().parents[1]
Action = Callable[[], Any]
Clock = Callable[[], float]
CPU, WALL = time.process_time, time.perf_counter


def CHILDREN() -> float:
    """Processor time of this process and of those it has started and seen end, such as compilers."""
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def forget() -> None:
    """Leave nothing of earlier runs behind: SymPy's cache, and what others would search for garbage in their time."""
    clear_cache()
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def once(action: Action, clock: Clock = CPU) -> float:
    """Seconds one run takes."""
    began = clock()
    action()
    return clock() - began


def by_turns(
    actions: Mapping[str, Action], repeats: int = 5, before: Action | None = None, clock: Clock = CPU
) -> dict[str, float]:
    """The best time of each action; all are run once before the clock starts, then by turns.

    Args:
        actions: What to time.
        repeats: How many rounds.
        before: Called before every run, outside the clock.
        clock: `CPU`, or `WALL` where several cores are at work.
    """
    best = dict.fromkeys(actions, float("inf"))
    for round_ in range(repeats + 1):
        for name, action in actions.items():
            if before is not None:
                before()
            seconds = once(action, clock)
            if round_:
                best[name] = min(best[name], seconds)
    return best


def per_call(actions: Mapping[str, Action], rounds: int = 80, slice_: float = 0.004) -> dict[str, float]:
    """The best time of one call of each quick action, in loops of about `slice_` seconds."""
    loops = {}
    for name, action in actions.items():
        action()  # the first call may have something to build
        count = 1
        while (seconds := once(lambda: [action() for _ in range(count)])) < slice_ / 4:  # noqa: B023
            count *= 4
        loops[name] = max(1, round(count * slice_ / seconds))

    def loop(action: Action, count: int) -> Action:
        def run() -> None:
            for _ in range(count):
                action()

        return run

    best = by_turns({name: loop(action, loops[name]) for name, action in actions.items()}, rounds)
    return {name: seconds / loops[name] for name, seconds in best.items()}


def in_new_process(module: str, function: str, arguments: list[Any], cache: str) -> Any:
    """What a function returns in a process of its own, with machine code kept in the folder `cache`."""
    program = f"import json, sys; from {module} import {function} as f; print(json.dumps(f(*json.loads(sys.argv[1]))))"
    done = subprocess.run(
        [sys.executable, "-c", program, json.dumps(arguments)],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": cache, "HEYOKA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module}.{function}{tuple(arguments)} failed in a process of its own:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
