"""Functions of many lanes at once: SIMD machine code by heyoka, or CasADi's own machine over all columns."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from appell.code import heyoka_code


@cache
def width() -> int:
    """Lanes of one SIMD register: batches are whole numbers of it, so that every lane takes the same path."""
    if not heyoka_code.available():
        return 4
    return max(4, heyoka_code.module().recommended_simd_size(float))


def cores_in_use() -> int:
    """How many cores machine code spreads the columns over."""
    if not heyoka_code.available():
        return 1
    return heyoka_code.module().get_nthreads()


_CORES = threading.Lock()
_ASKED: dict[object, int] = {}  # for how many cores, by whoever asks at the moment; first what it was before


@contextmanager
def on_cores(count: int) -> Iterator[None]:
    """Let machine code use so many cores; of several who ask at the same time the last one has its way."""
    if not heyoka_code.available():
        yield
        return
    heyoka, mine = heyoka_code.module(), object()
    with _CORES:
        if not _ASKED:
            _ASKED[None] = heyoka.get_nthreads()
        heyoka.set_nthreads(count)
        _ASKED[mine] = count
    try:
        yield
    finally:
        with _CORES:
            del _ASKED[mine]
            heyoka.set_nthreads([*_ASKED.values()][-1])
            if len(_ASKED) == 1:
                _ASKED.clear()


def padded(count: int) -> int:
    """The next multiple of the SIMD width."""
    return -(-count // width()) * width()


class LaneMachine:
    """f(V, P) for the columns of V and P.

    Args:
        function: A CasADi function of a column V and a column P with one dense output.
        simd: Whether heyoka may be used.
    """

    def __init__(self, function: ca.Function, simd: bool) -> None:
        self.function, self.rows = function, function.nnz_in(0)
        self.results = function.nnz_out(0)
        self.simd = simd and heyoka_code.available()
        self._compiled: Any = None
        self._maps: dict[int, ca.Function] = {}
        self._lock = threading.Lock()

    def compile(self) -> Any:
        """Make the machine code; only the first of several threads does."""
        with self._lock:
            if self._compiled is not None:
                return self._compiled
            made = heyoka_code.machine_code(self.function, inlined=True)
            self._used = made.nparams
            self._compiled = made
            return made

    def __call__(self, V: np.ndarray, P: np.ndarray, out: np.ndarray) -> np.ndarray:
        """Evaluate whole columns, as many as a multiple of the SIMD width; V may have further rows."""
        if self.simd:
            compiled = self._compiled or self.compile()
            numbers = {"pars": P[: self._used]} if self._used else {}
            compiled(V[: self.rows], outputs=out[: self.results], **numbers)
            return out
        count = V.shape[1]
        mapped = self._maps.get(count)
        if mapped is None:
            mapped = self._maps[count] = self.function.map(count)
        out[: self.results] = np.array(mapped(V[: self.rows], P))
        return out

    def some(self, V: np.ndarray, P: np.ndarray) -> np.ndarray:
        """Evaluate any number of columns, filled up to the SIMD width by repeating the last."""
        count = V.shape[1]
        if not count:
            return np.empty((self.results, 0))
        whole = padded(count) if self.simd else 1 << (max(padded(count), 4) - 1).bit_length()
        if whole != count:
            pick = np.minimum(np.arange(whole), count - 1)
            V, P = V[:, pick], P[:, pick]
        V, P = np.ascontiguousarray(V[: self.rows]), np.ascontiguousarray(P)
        return self(V, P, np.empty((self.results, whole)))[:, :count]
