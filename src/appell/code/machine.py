"""Machines: what evaluates a function f(t, x, w, p) at numbers, one state or many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.code.native import entry, native
from appell.graph.numeric import Numeric

LONG = 2000  # instructions from which a call of machine code pays for one state


class Machine:
    """Evaluates f(t, x, w, p).

    One state runs on CasADi's virtual machine through fixed buffers (no call overhead, nothing to compile); many states
    run as SIMD machine code where heyoka is installed, else over CasADi's mapped function.

    Args:
        function: A CasADi function of t, x, w, p with dense outputs.
        simd: Whether batches may use heyoka.
        build: What makes the function that single calls run, such as `appell.code.native.native`.
    """

    def __init__(
        self,
        function: ca.Function,
        simd: bool = True,
        build: Callable[[ca.Function], ca.Function] | None = None,
    ) -> None:
        self.function, self.build = function, build
        self.simd = simd and heyoka_code.available()
        self._batch: Any = None
        self._code = function if build is None else build(function)
        self._numeric = Numeric(self._code)
        self._run, self._inputs, self.results = self._numeric.run, self._numeric.inputs, self._numeric.results
        self._kept: np.ndarray | None = None  # read-only parameters that are in the buffer already

    @property
    def compiled(self) -> bool:
        """Whether a batch has been run as machine code, which is then the quicker way for long functions too."""
        return self._batch is not None and self.function.n_instructions() > LONG

    def __reduce__(self) -> tuple[Any, ...]:
        return Machine, (self.function, self.simd, self.build)

    def flat(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The first output as a new flat array."""
        a = self._inputs
        a[0][0] = t
        a[1][:] = x
        if w.size:
            a[2][:] = w
        if p is not self._kept:
            a[3][:] = p
            self._kept = None if p.flags.writeable else p
        self._run()
        return self.results[0].copy()

    def bound(self, w: np.ndarray, p: np.ndarray, otherwise: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        """(t, x) -> the first output as a new flat array, with w and p held: the shortest way in from Python.

        Args:
            w: Inputs.
            p: Parameters.
            otherwise: Called with (t, x, w) where x is not one state in an array, or other inputs are given.
        """
        if self.build is native and (way_in := entry(self.function)) is not None:
            return way_in(w, p, otherwise)
        buffer, run = self._code.buffer()
        time, state, result = np.zeros(1), np.zeros(self.function.nnz_in(1)), np.zeros(self.function.nnz_out(0))
        held = [time, state, np.array(w, dtype=float), np.array(p, dtype=float)]
        for i, array in enumerate(held):
            buffer.set_arg(i, memoryview(array))
        buffer.set_res(0, memoryview(result))
        alive = buffer, held  # the code holds bare addresses
        shape, new, array = state.shape, result.copy, np.ndarray

        def call(t: float, x: Any, w: Any = None, alive: Any = alive) -> np.ndarray:
            if w is None and type(x) is array and x.shape == shape:
                time[0] = t
                state[...] = x
                run()
                return new()
            return otherwise(t, x, w)

        return call

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """All outputs, each in its own shape."""
        self._kept = None
        return self._numeric(*arguments)

    def batch(self, t: Any, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The first output for many states: x of shape (n, B); t, w, p one for all or one per column."""
        count = x.shape[1]
        x = np.ascontiguousarray(x, dtype=float)
        pars = np.vstack([np.broadcast_to(np.reshape(e, (k, -1)), (k, count)) for e, k in self._run_time(t, w, p)])
        if self.simd:
            if self._batch is None:
                self._batch = heyoka_code.machine_code(self.function, 1, whole=heyoka_code.COMPACT)
            out = np.empty((self.function.nnz_out(0), count))
            used = self._batch.nparams  # those behind the last one that occurs are not asked for
            self._batch(x, outputs=out, **({"pars": np.ascontiguousarray(pars[:used])} if used else {}))
            return out
        n = len(w)
        mapped = self.function.map(count)
        result = mapped(pars[:1], x, pars[1 : 1 + n], pars[1 + n :])
        first = result[0] if isinstance(result, tuple | list) else result
        return np.array(first).reshape(count, -1).T if self.function.size_out(0)[1] != 1 else np.array(first)

    def _run_time(self, t: Any, w: Any, p: Any) -> list[tuple[Any, int]]:
        sizes = (1, self.function.nnz_in(2), self.function.nnz_in(3))
        return [(np.asarray(e, dtype=float), k) for e, k in zip((t, w, p), sizes, strict=True) if k]
