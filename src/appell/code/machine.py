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

    @property
    def compiled(self) -> bool:
        """Whether a batch has been run as machine code, which is then the quicker way for long functions too."""
        return self._batch is not None and self.function.n_instructions() > LONG

    def __reduce__(self) -> tuple[Any, ...]:
        return Machine, (self.function, self.simd, self.build)

    def flat(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The first output as a new flat array."""
        numeric = self._numeric
        a, run, results = numeric.buffers
        a[0][0] = t
        a[1][:] = x
        if w.size:
            a[2][:] = w
        if p is not numeric.kept:
            a[3][:] = p
            numeric.kept = None if p.flags.writeable else p
        run()
        return results[0].copy()

    @property
    def results(self) -> list[np.ndarray]:
        """All outputs of this thread's last call, until its next one."""
        return self._numeric.buffers[2]

    def bound(self, w: np.ndarray, p: np.ndarray, otherwise: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        """(t, x) -> the first output as a new flat array, with w and p held: the shortest way in from Python.

        Args:
            w: Inputs.
            p: Parameters.
            otherwise: Called with (t, x, w) where x is not one state in an array, or other inputs are given.
        """
        if self.build is native and (way_in := entry(self.function)) is not None:
            return way_in(w, p, otherwise)
        numeric, shape, array = Numeric(self._code, {2: w, 3: p}), (self.function.nnz_in(1),), np.ndarray

        def call(t: float, x: Any, w: Any = None) -> np.ndarray:
            if w is None and type(x) is array and x.shape == shape:
                inputs, run, results = numeric.buffers
                inputs[0][0] = t
                inputs[1][...] = x
                run()
                return results[0].copy()
            return otherwise(t, x, w)

        return call

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """All outputs, each in its own shape."""
        self._numeric.kept = None
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
