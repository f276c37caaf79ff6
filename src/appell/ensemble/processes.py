"""Runs that are made one by one, on all cores: processes of their own, which get the model as data.

Such runs are steered by Python, one step or one kink after the other, and threads would wait for each other. Starting a
process and deriving a model there takes seconds, so the first runs of a sweep are made here.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import IO, Any

import numpy as np

from appell.ensemble.blueprint import read, written
from appell.ensemble.outcomes import Outcomes
from appell.ensemble.plan import Plan
from appell.errors import AppellError, ModelError

HERE = 2.0  # seconds of runs that are made one by one before there are processes for them
TRIES = 3  # processes that may die, for each that is wanted
COMMAND = "from appell.ensemble.processes import serve; serve()"


class Case:
    """One case of a plan, made by processes.

    Args:
        processes: The processes.
        case: Which case.
    """

    def __init__(self, processes: Processes, case: int) -> None:
        self.processes, self.case = processes, case

    def spend(self, seconds: float) -> bool:
        """Whether further runs are better made elsewhere, after one that took so long here."""
        return self.processes.spend(seconds)

    def run(self, columns: Mapping[str, np.ndarray]) -> Outcomes | None:
        """Make runs one by one; None if that cannot be done."""
        return self.processes.run(self.case, columns)


class Processes:
    """Makes runs of a plan elsewhere on this machine.

    Args:
        plan: The plan.
        count: How many processes at most.
    """

    def __init__(self, plan: Plan, count: int) -> None:
        self.plan, self.count = plan, count
        self._spent, self._lock = 0.0, threading.Lock()
        self._free: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._started: list[subprocess.Popen[bytes]] = []
        self._blueprint: bytes | None = None
        self._possible = count > 1 and all(runner.law is None for runner in plan.runners)

    def of(self, case: int) -> Case:
        """What makes the runs of one case."""
        return Case(self, case)

    def spend(self, seconds: float) -> bool:
        """Count the time of a run that was made here; returns whether the next ones are better made elsewhere."""
        with self._lock:
            self._spent += seconds
            return self._possible and self._spent > HERE

    def run(self, case: int, columns: Mapping[str, np.ndarray]) -> Outcomes | None:
        """Make runs of a case one by one; None if that cannot be done elsewhere."""
        process = self._take()
        if process is None:
            return None
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            _send(process.stdin, (case, dict(columns)))
            found = _receive(process.stdout)
        except (OSError, EOFError):  # it died, or was ended
            process.kill()
            return None
        self._free.put(process)
        return found

    def _take(self) -> subprocess.Popen[bytes] | None:
        """A process that has nothing to do, a new one while there may be more."""
        while True:
            with self._lock:
                if not self._possible:
                    return None
                alive = sum(process.poll() is None for process in self._started)
                if alive < self.count and self._free.empty():
                    return self._new()
            try:
                return self._free.get(timeout=0.2)
            except queue.Empty:  # perhaps one has died
                continue

    def _new(self) -> subprocess.Popen[bytes] | None:
        """One more process, unless the model cannot travel or processes die again and again."""
        try:
            if len(self._started) >= TRIES * self.count:
                raise OSError
            self._blueprint = self._blueprint or written(self.plan, lanes=False)
            process = _start()
            self._started.append(process)
            _send(process.stdin, self._blueprint)
        except (ModelError, OSError):
            self._possible = False
            return None
        return process

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._possible = False
            for process in self._started:
                process.kill()
            for process in self._started:
                process.wait()
                for pipe in (process.stdin, process.stdout):
                    try:
                        if pipe is not None:
                            pipe.close()
                    except OSError:
                        continue


def _start() -> subprocess.Popen[bytes]:
    """A process that serves, with the packages of this one."""
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", COMMAND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": paths},
    )


def serve() -> None:
    """Make the runs that are asked for until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that asks
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what somebody prints must not get between the results
    try:
        runners = read(_receive(source))
        while True:
            case, columns = _receive(source)
            _send(sink, runners[case].alone(columns))
    except (EOFError, BrokenPipeError, AppellError):  # of a model that cannot be read here, as after an edit of appell
        return


def _send(pipe: IO[bytes] | None, thing: Any) -> None:
    assert pipe is not None
    data = pickle.dumps(thing)
    pipe.write(struct.pack("<Q", len(data)) + data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> Any:
    head = pipe.read(8)
    if len(head) < 8:
        raise EOFError
    (size,) = struct.unpack("<Q", head)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)
