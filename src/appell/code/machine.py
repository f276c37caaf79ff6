"""Machines: what evaluates a function f(t, x, w, p) at numbers, one state or many."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code
from appell.code.native import entry, native
from appell.graph.numeric import Numeric, SideBySide

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
        self.function, self.simd, self.build = function, simd, build
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

    @cached_property
    def side_by_side(self) -> SideBySide:
        """The same at many places at once, a row each, by the code of single calls."""
        return SideBySide(self._code)

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
                try:
                    inputs[0][0] = t
                except (TypeError, ValueError):  # what is no number, which the other way refuses in words
                    return otherwise(t, x, w)
                inputs[1][...] = x
                run()
                return results[0].copy()
            return otherwise(t, x, w)

        call.__qualname__ = "rhs"  # under which it is called, and errors name it
        return call

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """All outputs, each in its own shape."""
        self._numeric.kept = None
        return self._numeric(*arguments)

    def batch(self, t: Any, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The first output for many states: x of shape (n, B); t, w, p one for all or one per column."""
        count, function = x.shape[1], self.function
        sizes = (1, function.nnz_in(2), function.nnz_in(3))
        t, w, p = (np.reshape(e, (k, -1 if k else count)) for e, k in zip((t, w, p), sizes, strict=True))
        if not (self.simd and heyoka_code.available()):
            found = self.side_by_side(count, t.T, x.T, w.T, p.T)[0]
            return found.swapaxes(1, 2).reshape(count, -1).T
        if self._batch is None:
            self._batch = heyoka_code.machine_code(function, 1, whole=heyoka_code.COMPACT)
        out = np.empty((function.nnz_out(0), count))
        pars = np.vstack([np.broadcast_to(e, (len(e), count)) for e in (t, w, p) if len(e)])
        used = self._batch.nparams  # those behind the last one that occurs are not asked for
        x = np.ascontiguousarray(x, dtype=float)
        self._batch(x, outputs=out, **({"pars": np.ascontiguousarray(pars[:used])} if used else {}))
        return out
