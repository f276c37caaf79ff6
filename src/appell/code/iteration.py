"""A function applied again and again, V -> V' -> V'' ..., with hardly anything of Python in between."""

from __future__ import annotations

import threading
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.graph.numeric import Numeric
from appell.graph.replay import shared

TURNS = 256  # applications between two looks of the caller, at most
WORK = 4_000_000  # instructions between two looks


class Iteration:
    """Applies f(V, P), which gives the next V and a status behind it, until the status is not zero.

    Every V that comes up is kept in one array, of which every thread has its own.

    Args:
        function: A CasADi function of a column V and a column P with the next V and a status as its one dense output.
    """

    def __init__(self, function: ca.Function) -> None:
        self.function = function
        instructions = function.n_instructions()
        self.turns = max(8, min(TURNS, WORK // max(1, instructions)))
        self.whole = instructions <= heyoka_code.WHOLE  # small enough for machine code as one piece

    def __call__(self, V: np.ndarray, P: np.ndarray, turns: int, compiled: bool) -> np.ndarray:
        """V and what follows from it, one row each with its status behind, until a status is not zero.

        The array is written anew by the next call.

        Args:
            V: Where to begin.
            P: The numbers that stay; an array that is given again must not have been changed.
            turns: How often at most; not more than `self.turns`.
            compiled: Whether by machine code; the results of CasADi's own machine differ by rounding.
        """
        return (self._machine_code if compiled else self._casadi)(V, P, turns)

    @cached_property
    def _casadi(self) -> _Casadi:
        return _Casadi(self.function, self.turns)

    @cached_property
    def _machine_code(self) -> _MachineCode:
        return _MachineCode(heyoka_code.machine_code(shared(self.function)), self.function, self.turns)


class _Casadi(threading.local):
    """Applies f by CasADi's own machine."""

    def __init__(self, function: ca.Function, turns: int) -> None:
        numeric = Numeric(function)
        (self._argument, self._numbers), self._run, (self._result,) = numeric.buffers
        self._alive = numeric  # the code holds bare addresses
        self._history = np.zeros((turns + 1, function.nnz_out(0)))
        self._kept: np.ndarray | None = None  # the P that is there already

    def __call__(self, V: np.ndarray, P: np.ndarray, turns: int) -> np.ndarray:
        run, history, argument, result = self._run, self._history, self._argument, self._result
        following = result[:-1]
        if P is not self._kept:
            self._numbers[:], self._kept = P, P
        history[0, :-1], argument[:] = V, V
        for k in range(1, turns + 1):
            run()
            history[k] = result
            if result[-1]:
                return history[: k + 1]
            argument[:] = following
        return history[: turns + 1]


class _MachineCode(threading.local):
    """Applies f by machine code, which reads its argument in the array of all V and writes its result behind it."""

    def __init__(self, call: Any, function: ca.Function, turns: int) -> None:
        # One column. Sines are called: run through once a call, the longer code that spells them out, which is quicker
        # over many lanes, would take twice the time.
        history = np.zeros((turns + 1, function.nnz_out(0), 1))
        self._numbers = np.zeros((function.nnz_in(1), 1))
        self._call, self._history = call, history
        self._options = {"pars": self._numbers[: call.nparams]} if call.nparams else {}
        self._arguments, self._results = [row[:-1] for row in history[:-1]], list(history[1:])
        self._status = memoryview(history[:, -1, 0])
        self._kept: np.ndarray | None = None  # the P that is there already

    def __call__(self, V: np.ndarray, P: np.ndarray, turns: int) -> np.ndarray:
        call, history, options, status = self._call, self._history, self._options, self._status
        arguments, results = self._arguments, self._results
        if P is not self._kept:
            self._numbers.T[:], self._kept = P, P
        history[0, :-1].T[:] = V
        for k in range(turns):
            call(arguments[k], outputs=results[k], **options)
            if status[k + 1]:
                return history[: k + 2, :, 0]
        return history[: turns + 1, :, 0]
