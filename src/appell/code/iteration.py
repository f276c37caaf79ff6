"""A function applied again and again, V -> V' -> V'' ..., with hardly anything of Python in between."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.graph.replay import shared

TURNS = 256  # applications between two looks of the caller, at most
WORK = 4_000_000  # instructions between two looks


class Iteration:
    """Applies f(V, P), which gives the next V and a status behind it, until the status is not zero.

    Every V that comes up is kept in one array; f reads its argument there and writes its result behind it.

    Args:
        function: A CasADi function of a column V and a column P with the next V and a status as its one dense output.
    """

    def __init__(self, function: ca.Function) -> None:
        self.function = function
        self.size, self._numbers = function.nnz_in(0), function.nnz_in(1)
        instructions = function.n_instructions()
        self.turns = max(8, min(TURNS, WORK // max(1, instructions)))
        self.whole = instructions <= heyoka_code.WHOLE  # small enough for machine code as one piece
        self._kept: list[np.ndarray | None] = [None, None]  # the P that each machine has already

    def __call__(self, V: np.ndarray, P: np.ndarray, turns: int, compiled: bool) -> np.ndarray:
        """V and what follows from it, one row each with its status behind, until a status is not zero.

        The array is written anew by the next call.

        Args:
            V: Where to begin.
            P: The numbers that stay; an array that is given again must not have been changed.
            turns: How often at most; not more than `self.turns`.
            compiled: Whether by machine code; the results of CasADi's own machine differ by rounding.
        """
        return self._by_machine_code(V, P, turns) if compiled else self._by_casadi(V, P, turns)

    @cached_property
    def _casadi(self) -> tuple[Any, ...]:
        buffer, run = self.function.buffer()
        history = np.zeros((self.turns + 1, self.size + 1))
        held = np.zeros(self.size), np.zeros(self._numbers), np.zeros(self.size + 1)
        for i, array in enumerate(held[:2]):
            buffer.set_arg(i, memoryview(array))
        buffer.set_res(0, memoryview(held[2]))
        return buffer, run, history, *held

    def _by_casadi(self, V: np.ndarray, P: np.ndarray, turns: int) -> np.ndarray:
        _, run, history, argument, numbers, result = self._casadi
        following = result[:-1]
        if P is not self._kept[0]:
            numbers[:], self._kept[0] = P, P
        history[0, :-1], argument[:] = V, V
        for k in range(1, turns + 1):
            run()
            history[k] = result
            if result[-1]:
                return history[: k + 1]
            argument[:] = following
        return history[: turns + 1]

    @cached_property
    def _machine_code(self) -> tuple[Any, ...]:
        call = heyoka_code.machine_code(shared(self.function))
        # One column. Sines are called: run through once a call, the longer code that spells them out, which is quicker
        # over many lanes, would take twice the time.
        history = np.zeros((self.turns + 1, self.size + 1, 1))
        held = np.zeros((self._numbers, 1))
        options = {"pars": held[: call.nparams]} if call.nparams else {}
        arguments, results = [row[:-1] for row in history[:-1]], list(history[1:])
        return call, history, held, options, arguments, results, memoryview(history[:, -1, 0])

    def _by_machine_code(self, V: np.ndarray, P: np.ndarray, turns: int) -> np.ndarray:
        call, history, held, options, arguments, results, status = self._machine_code
        if P is not self._kept[1]:
            held.T[:], self._kept[1] = P, P
        history[0, :-1].T[:] = V
        for k in range(turns):
            call(arguments[k], outputs=results[k], **options)
            if status[k + 1]:
                return history[: k + 2, :, 0]
        return history[: turns + 1, :, 0]
