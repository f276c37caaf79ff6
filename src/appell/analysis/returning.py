"""One period from a start: what a motion misses of its beginning, and how that changes with start and period."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from appell.analysis.closure import Closure, unseen_by
from appell.code.state import State
from appell.motion.motion import Motion
from appell.motion.sensitivities import transition
from appell.motion.stretch import Stretch
from appell.motion.variation import flow_of

FAINT = 1e-9  # share of its amplitude up to which an entry has come back
FLAT = 1e-10  # share of the largest singular value of a direction that changes nothing


class Return:
    """One run over a period.

    Args:
        closure: What is the same in all runs.
        motion: The run.
    """

    def __init__(self, closure: Closure, motion: Motion) -> None:
        self.closure, self.motion = closure, motion
        self.t, self.end = float(motion.times[0]), float(motion.times[-1])
        self.x, self.final = (closure.system.to_x(motion.at(t)) for t in (self.t, self.end))
        self.gained, self.missed = self.final - self.x, closure.missed(motion, self.end)

    @property
    def state(self) -> State:
        """The state it began with."""
        return self.motion.at(self.t)

    @property
    def period(self) -> float:
        """How long it took."""
        return self.end - self.t

    @cached_property
    def size(self) -> float:
        """What it misses, as one number."""
        size = float(np.linalg.norm(self.missed))
        return size if np.isfinite(size) else np.inf

    def gone(self, i: int) -> bool:
        """Whether an entry of x has gone on by more than what others miss.

        Args:
            i: Its place.
        """
        return abs(self.gained[i]) > FAINT * self.closure.units[i]

    def unmoved(self, i: int, gain: float) -> bool:
        """Whether nothing changes with a gain of an entry of x, as of an angle by a turn.

        Args:
            i: Its place.
            gain: By how much it goes on.
        """
        x, stretch = self.x.copy(), self.motion.stretches[0]
        x[i] += gain
        here, there = (self._rate(self.t, e, stretch) for e in (self.x, x))
        return bool(np.max(np.abs(there - here)) <= FAINT * np.max(np.abs(here)))

    @cached_property
    def directions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `Closure.directions`."""
        return self.closure.directions(self.t, self.x, self.motion.stretches[0].w)

    @cached_property
    def slopes(self) -> np.ndarray:
        """What the period makes of the directions, in natural units."""
        return (transition(self.motion, self.directions[0]) / self.closure.units[:, None])[self.closure.back]

    @cached_property
    def rate(self) -> np.ndarray:
        """How what comes back changes with time at the end, in natural units."""
        stretches = self.motion.stretches
        return self._rate(self.end, self.final, stretches[-1 if stretches[-1].code is stretches[0].code else 0])

    def _rate(self, t: float, x: np.ndarray, stretch: Stretch) -> np.ndarray:
        rates = flow_of(stretch).machine.flat(t, x, self.closure.inputs(self.motion, t, t), stretch.p)
        return (rates / self.closure.units)[self.closure.back]

    @property
    def map(self) -> np.ndarray:
        """M, what a period makes of displacements of what comes back."""
        return self.directions[1].T @ self.slopes

    @property
    def along(self) -> np.ndarray | None:
        """The displacement by a shift in time; None if time matters."""
        return self.directions[1].T @ self.rate if self.closure.free else None

    def step(self, damping: float, timed: bool) -> tuple[np.ndarray, float]:
        """A step of Levenberg and Marquardt: by how much x and the period change.

        Where nothing is held, the start does not move along the motion.

        Args:
            damping: In the square of what is missed.
            timed: Whether the period may change.
        """
        X, back, allowed = self.directions
        if timed and not self.closure.held:
            allowed = unseen_by((self._rate(self.t, self.x, self.motion.stretches[0]) @ back)[None, :])
        J = (self.slopes - back) @ allowed
        if timed:
            J = np.column_stack([J, self.rate * self.period])
        left, s, right = np.linalg.svd(J, full_matrices=False)
        damped = s**2 + damping * float(self.missed @ self.missed)
        y = -right.T @ (np.where(s > FLAT * np.max(s, initial=0.0), s / damped, 0.0) * (left.T @ self.missed))
        change = allowed @ (y[:-1] if timed else y)
        return X @ change, float(y[-1]) * self.period if timed else 0.0
