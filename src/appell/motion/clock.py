"""Sampled control: a law that is asked at regular times, its answer held in between."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real

import numpy as np

from appell.code.state import State
from appell.errors import ModelError


def check_rate(rate: float) -> None:
    """Raise if so many samples per second cannot be."""
    if not (isinstance(rate, Real) and np.isfinite(rate) and rate > 0):
        raise ModelError(f"The rate of a sampled control must be a positive number of samples a second, got {rate!r}.")


class Clock:
    """When a control law is asked next, and what it said last.

    Args:
        state: The start.
        end: Where the run ends.
        law: From time and state to the open inputs; called once for each sample, in order.
        rate: Samples per second.

    Attributes:
        law: The law.
        held: The inputs until the next sample.
        next: When that is, or the end.
    """

    def __init__(self, state: State, end: float, law: Callable[[float, State], np.ndarray], rate: float) -> None:
        check_rate(rate)
        self.law, self._start, self._end, self._rate, self._count = law, state.t, end, rate, 0
        self.tick(state)

    def tick(self, state: State) -> None:
        """Ask the law."""
        self.held = self.law(state.t, state)
        self._count += 1
        due = self._start + self._count / self._rate
        self.next = due if due < self._end - 1e-9 / self._rate else self._end
