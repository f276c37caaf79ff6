"""A function of the graph at numbers: one call through fixed buffers, without conversion of arguments."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

BLOCK = 1024  # places in one call, few enough for the cache of the processor


class Numeric(threading.local):
    """Evaluates a CasADi function on arrays, some twenty times quicker than a call of the function itself.

    Every thread has buffers of its own: CasADi lets others run meanwhile.

    Args:
        function: A CasADi function with dense inputs and outputs.
        held: Numbers of inputs that stay as they are, by position.

    Attributes:
        buffers: Arrays of the inputs, what evaluates the function from them, arrays of the results.
        kept: An array that is in the buffers already, if its owner says so.
    """

    def __init__(self, function: ca.Function, held: Mapping[int, np.ndarray] | None = None) -> None:
        self._buffer, run = function.buffer()
        inputs = [np.zeros(function.nnz_in(i)) for i in range(function.n_in())]
        results = [np.zeros(function.nnz_out(i)) for i in range(function.n_out())]
        for i, array in enumerate(inputs):
            self._buffer.set_arg(i, memoryview(array))
        for i, array in enumerate(results):
            self._buffer.set_res(i, memoryview(array))
        for i, values in (held or {}).items():
            inputs[i][:] = values
        self.buffers = inputs, run, results
        self.shapes = [function.size_out(i) for i in range(function.n_out())]
        self.kept: np.ndarray | None = None

    def __call__(self, *arguments: Any) -> list[np.ndarray]:
        """All outputs as new arrays, each in its own shape."""
        inputs, run, results = self.buffers
        for buffer, value in zip(inputs, arguments, strict=True):
            buffer[:] = value
        run()
        return [out.reshape(shape, order="F").copy() for out, shape in zip(results, self.shapes, strict=True)]


class SideBySide:
    """Evaluates a CasADi function at many places at once, at each of them with the same bits as at it alone.

    Args:
        function: A CasADi function with dense inputs and outputs.
    """

    def __init__(self, function: ca.Function) -> None:
        self.function = function
        self.shapes = [function.size_out(i) for i in range(function.n_out())]
        self._numeric: tuple[int, Numeric] | None = None  # for the last places, or up to twice as many

    def __call__(self, count: int, *arguments: Any) -> list[np.ndarray]:
        """All outputs as new arrays, their first axis over the places.

        Args:
            count: How many places.
            arguments: Each a row for every place, or one for all.
        """
        if count <= BLOCK:
            return self._block(count, arguments) if count else [np.empty((0, *shape)) for shape in self.shapes]
        results = [np.empty((count, *shape)) for shape in self.shapes]
        for start in range(0, count, BLOCK):
            here = slice(start, min(start + BLOCK, count))
            own = [a[here] if np.ndim(a) == 2 and len(a) == count else a for a in arguments]
            for result, part in zip(results, self._block(here.stop - here.start, own), strict=True):
                result[here] = part
        return results

    def _block(self, count: int, arguments: Sequence[Any]) -> list[np.ndarray]:
        if self._numeric is None or not count <= self._numeric[0] <= 2 * count:
            self._numeric = count, Numeric(self.function.map(count))
        made, numeric = self._numeric  # for some more places, perhaps, where something stands from before
        inputs, run, results = numeric.buffers
        for buffer, value in zip(inputs, arguments, strict=True):
            buffer.reshape(made, -1)[:count] = value
        run()
        return [
            np.array(out.reshape(made, columns, rows)[:count].swapaxes(1, 2), order="C")
            for out, (rows, columns) in zip(results, self.shapes, strict=True)
        ]
