"""All cores of this machine.

Machine code spreads its lanes over the cores by itself, so one thread is enough to call it. Runs that go in no lane
have a thread for each core, and are made by processes once they take long.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from math import inf
from pathlib import Path

from appell.ensemble.engine import Interrupted
from appell.ensemble.lane_machine import on_cores
from appell.ensemble.outcomes import Outcomes
from appell.ensemble.plan import Plan
from appell.ensemble.processes import Processes
from appell.ensemble.store import Sink
from appell.motion.progress import Progress

SHARE = Path("/sys/fs/cgroup/cpu.max")  # of a container: microseconds of processor time in a period, and the period
LIMIT, USED = Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")  # of a container: bytes
FREE = Path("/proc/meminfo")


def cores() -> int:
    """Cores that this process may use, in a container no more than its share of processor time is worth."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        count = os.cpu_count() or 1
    try:
        time, period = map(int, SHARE.read_text().split())
    except (OSError, ValueError):  # no container, or one without a limit
        return count
    return max(1, min(count, round(time / period)))


def room() -> float:
    """Bytes of memory that are free, in a container no more than it may have; infinite where nobody says."""
    free = inf
    with suppress(OSError, ValueError, StopIteration):
        lines = FREE.read_text().splitlines()
        free = 1024.0 * next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    with suppress(OSError, ValueError):  # no container, or one without a limit
        free = min(free, float(LIMIT.read_text()) - float(USED.read_text()))
    return free


def run_here(plan: Plan, sink: Sink, count: int, progress: bool | None) -> str:
    """Make all chunks that are not done yet, on so many cores; returns words about where."""
    layout, threads = sink.layout, 1 if plan.together else count
    todo = [i for i in range(layout.chunks) if i not in sink.done]
    halt = threading.Event()
    bar = Progress(0, plan.runs, progress, "sweeping")
    far = made = plan.runs - sum(layout.bounds(i)[1] - layout.bounds(i)[0] for i in todo)

    processes = Processes(plan, count)

    within: dict[int, float] = {}  # how many runs are done of chunks that are being made

    def chunk(index: int) -> Outcomes:
        def watch(done: float) -> bool:
            within[index] = done
            return halt.is_set()

        return plan.make(*layout.bounds(index), watch, processes.of)

    pool = ThreadPoolExecutor(min(threads, max(1, len(todo))), "sweep")
    waiting: dict[Future[Outcomes], int] = {}
    left = iter(todo)
    try:
        with bar, on_cores(count):
            while True:
                while len(waiting) < threads + 1 and (index := next(left, None)) is not None:
                    waiting[pool.submit(chunk, index)] = index
                if not waiting:
                    break
                done, _ = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    index = waiting.pop(future)
                    sink.write(index, future.result())
                    first, last = layout.bounds(index)
                    made += last - first
                    within.pop(index, None)
                far = max(far, made + sum(list(within.values())))  # lanes that wait for other kernels do not count
                bar(far)
    except KeyboardInterrupt:
        halt.set()
        processes.close()
        for future, index in waiting.items():
            future.cancel()
            try:
                if not future.cancelled():
                    sink.write(index, future.result())
            except Interrupted:
                continue
    finally:
        halt.set()
        processes.close()
        pool.shutdown(wait=True, cancel_futures=True)
    used = min(count, cores())
    return f"{used} {'core' if used == 1 else 'cores'}"
