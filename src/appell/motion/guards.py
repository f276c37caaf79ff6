"""The guards of a run: up to which size they count as zero, which of them are looked at, and which fall."""

from __future__ import annotations

import numpy as np

from appell.motion.choice import Choice
from appell.motion.flow import falls, resting, rests
from appell.motion.leg import Task


class Guards:
    """Guards of events, then of kinks, as `Modes` lists them; those of events are the same in every choice of speeds.

    Their limits depend on how large they have been in the whole run.
    """

    def __init__(self) -> None:
        self._seen = self._haste = np.zeros(())  # the largest size of the guard of every event, and of its rate

    def gates(self, choice: Choice, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Guards that rest on zero are not looked at until they have moved; and up to which size they rest."""
        if not choice.modes.flow().count:
            return np.ones(0, dtype=bool), np.zeros(0)
        values, rates, limits, haste = self._here(choice, t, x)
        events = len(choice.modes.event_guards)
        gates = ~rests(values, rates, limits, haste)
        limits[events:] = np.fmax(limits, -2 * values)[events:]  # a kink in the right mode is on zero if not above it
        gates[events:] = (values > limits)[events:]
        return gates, limits

    def falling(self, choice: Choice, t: float, x: np.ndarray) -> np.ndarray:
        """Which guards are on zero and fall, here and now."""
        return falls(*self._here(choice, t, x))

    def fallen(self, choice: Choice, task: Task, t: float, x: np.ndarray, guard: int) -> tuple[np.ndarray, np.ndarray]:
        """Which guards fall where one of them ended a leg, and which of the others are on zero and could.

        Args:
            choice: The choice of speeds.
            task: What was asked for.
            t: Where the leg ended.
            x: The state there.
            guard: The one that ended it.
        """
        here = self._here(choice, t, x, t - task.t0)
        down = falls(*here)
        falling = task.gates & down
        falling[guard] = True
        return falling, falling | (rests(*here) & ~down)

    def _here(
        self, choice: Choice, t: float, x: np.ndarray, span: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values, rates, up to which size they count as zero, and what the rates are made of.

        Args:
            choice: The choice of speeds.
            t: Time.
            x: The state.
            span: How long the leg was that ends here.
        """
        modes, w = choice.modes, choice.inputs(t, x)
        flow, p = modes.flow(), modes.parameters(choice.p)
        values, rates = (e.ravel() for e in flow.guard_machine(t, x, w, p))
        size, haste = (e.ravel() for e in flow.size_machine(t, x, w, p))
        events, limits = len(modes.event_guards), np.empty(values.size)
        with np.errstate(invalid="ignore"):  # where a run breaks off rates may be infinite
            self._seen = np.fmax(self._seen, np.fmax(np.abs(values), np.abs(rates) * span)[:events])
            limits[:events] = resting(self._seen, size[:events], haste[:events], t, modes.length)
            limits[events:] = modes.limits(values[events:], rates[events:], span, size[events:], haste[events:], t)
        haste[:events] = self._haste = np.fmax(self._haste, haste[:events])
        return values, rates, limits, haste


def arrived(task: Task, t: float, x: np.ndarray) -> int | None:
    """The kink on which a leg broke off that cannot go through it: a tank that a root of its contents empties."""
    if not task.flow.count or not task.t0 < t:
        return None
    values = np.abs(task.guards(t, x))
    near = (values < task.limits) & (task.guards(task.t0, task.x0) > task.limits)
    near[: task.events] = False
    return int(np.flatnonzero(near)[values[near].argmin()]) if near.any() else None
