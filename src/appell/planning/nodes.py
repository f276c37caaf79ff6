"""Nodes in time at which smooth functions are known by their values: integrals, derivatives, values in between."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev


class Nodes:
    """Chebyshev's points of the second kind over an interval, both ends among them.

    What is a polynomial of a degree below their number is integrated, differentiated and looked up exactly.

    Args:
        start: Where the interval begins.
        end: Where it ends.
        count: How many there are.
    """

    def __init__(self, start: float, end: float, count: int) -> None:
        self.start, self.half, self.count = start, (end - start) / 2, count
        self.points = -np.cos(np.pi * np.arange(count) / (count - 1))
        self.times = start + self.half * (1 + self.points)
        self._inverse = np.linalg.inv(chebyshev.chebvander(self.points, count - 1))

    @cached_property
    def derivative(self) -> np.ndarray:
        """D with f'(nodes) = D f(nodes)."""
        slopes = chebyshev.chebder(np.eye(self.count))
        return chebyshev.chebval(self.points, slopes).T @ self._inverse / self.half

    @cached_property
    def integral(self) -> np.ndarray:
        """W with the integral of f from the start to each node = W f(nodes)."""
        areas = chebyshev.chebint(np.eye(self.count), lbnd=-1)
        return chebyshev.chebval(self.points, areas).T @ self._inverse * self.half

    @property
    def weights(self) -> np.ndarray:
        """w with the integral of f over all of the interval = w . f(nodes) (Clenshaw and Curtis)."""
        return self.integral[-1]

    def between(self, times: np.ndarray) -> np.ndarray:
        """P with f(times) = P f(nodes)."""
        return chebyshev.chebvander((times - self.start) / self.half - 1, self.count - 1) @ self._inverse
