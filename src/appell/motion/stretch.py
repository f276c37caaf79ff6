"""A stretch: part of a run in one choice of speeds and modes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.motion.events import Event
from appell.motion.flow import Flow


@dataclass(frozen=True, eq=False, kw_only=True)
class Stretch:
    """Part of a run in one choice of speeds and modes: x at any time between its first and last step.

    Attributes:
        code: The equations as functions.
        w: Inputs.
        p: Parameters, with the modes of kinks behind.
        times: Step boundaries.
        dense: x at some times.
        final: x at the end.
        flow: The smooth equations it was integrated by; None if they are those of `code`.
        powers: The power of each force in these modes; None if there are no kinks.
        family: Kinks that may stick in its flow; none if none does.
        guard: The guard of its flow that ended it; -1 if none did.
        resets: The events behind it that reset the state, in order.
    """

    code: Code
    w: np.ndarray
    p: np.ndarray
    times: np.ndarray
    dense: Callable[[np.ndarray], np.ndarray]
    final: np.ndarray
    flow: Flow | None = None
    powers: Machine | None = None
    family: tuple[int, ...] = ()
    guard: int = -1
    resets: tuple[Event, ...] = ()

    def accelerations(self, times: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        """q'' at states of this stretch, in its modes, a row each."""
        n, count, t = self.code.equations.mechanics.variables.p.numel(), times.size, times[:, None]
        if self.flow is None:
            return self.code.accelerations.side_by_side(count, t, x, w, self.p[:n])[0][:, :, 0]
        rate = self.flow.machine.side_by_side(count, t, x, w, self.p)[0][:, :, 0]
        return self.code.second.side_by_side(count, t, x, w, self.p[:n], rate)[0][:, :, 0]
