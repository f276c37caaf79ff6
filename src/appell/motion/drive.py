"""What drives a run: open inputs as numbers, by a law that is always asked, or by one whose answers are held."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from appell.code.state import State
from appell.code.system import System
from appell.motion.clock import Clock

Law = Callable[[float, State], np.ndarray]


@dataclass(frozen=True, eq=False)
class Drive:
    """Where the values of the open inputs come from; those of the system if there is neither law nor clock.

    Attributes:
        law: From time and state to the open inputs, asked wherever they are needed.
        clock: A law that is asked at regular times, with what it said last.
    """

    law: Law | None = None
    clock: Clock | None = None

    @classmethod
    def of(cls, law: Law | None, rate: float | None, start: State, end: float) -> Drive:
        """A law, sampled if it has a rate."""
        if law is None or rate is None:
            return cls(law)
        return cls(clock=Clock(start, end, law, rate))

    def inputs(self, system: System, t: float, x: np.ndarray) -> np.ndarray:
        """Values of the open inputs."""
        return self.any(system) if self.law is None else self.law(t, system.from_x(t, x))

    def any(self, system: System) -> np.ndarray:
        """Some values of the open inputs, for what does not depend on them: no law is asked."""
        if self.clock is not None:
            return self.clock.held
        return system.w if self.law is None else np.zeros(len(system.equations.inputs))
