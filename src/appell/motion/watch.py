"""Watching a leg: what is done after every step, how far the leg means something, and what follows from that."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appell.kinematics.split import Split
from appell.motion.choice import Choice, Follower
from appell.motion.leg import End, Enough, Leg
from appell.motion.masses import used_up
from appell.motion.outcome import Ending, Outcome


class Watch:
    """Looks after one leg of a run.

    Args:
        choice: The choice of speeds.
        first_masses: The masses that change, at the start of the run.
        pause: Called with the time after every step; whether the run shall end there.

    Attributes:
        wish: Why the leg had to end, if the watch ended it: for another choice of speeds, or with the run.
    """

    def __init__(self, choice: Choice, first_masses: np.ndarray, pause: Callable[[float], bool]) -> None:
        self.choice, self.first_masses, self.pause = choice, first_masses, pause
        self.wish: Split | Outcome | None = None
        self._used_up = ""
        self._broken: Follower | None = None  # whose wish it is

    def __call__(self, t: float, x: np.ndarray) -> bool:
        """Keep the constraints, look at everything else; returns whether x was changed, raises `Enough` at the end."""
        projection = self.choice.projection
        changed = projection(t, x) if projection.active else False
        self.wish = self._ask(t, x)
        if self.wish is not None:
            raise Enough
        return changed

    def _ask(self, t: float, x: np.ndarray) -> Split | Outcome | None:
        choice, masses = self.choice, self.choice.masses
        if self.pause(t):
            return Outcome.INTERRUPTED
        if masses.names:
            w = choice.inputs(t, x) if masses.driven else choice.any_inputs()
            if masses.negative(t, x, w, choice.p, self.first_masses) is not None:
                return Outcome.MASS_USED_UP
        for follower in (choice.branch, choice.gradients):
            if follower is not None and follower.lost(t, x):
                self._broken = follower
                return follower.outcome
        return choice.speeds.ask(t, x)

    def cut(self, leg: Leg, w: np.ndarray) -> Leg:
        """The leg as far as it means something; the wish becomes that of what cut it."""
        choice = self.choice
        if leg.end is not End.WATCHER:
            self.wish = None  # of steps that were taken back
        if leg.end in (End.NOT_FINITE, End.COLLAPSED):
            leg = leg.without_gap()
        if self.wish is Outcome.MASS_USED_UP:
            leg, self._used_up = choice.masses.cut(leg, w, choice.p, self.first_masses)
        if self.wish is Outcome.SPEEDS_SINGULAR:
            leg = leg.without_last_step()  # it went through where nothing is known
        for follower in choice.followers:
            leg, cut = follower.follow(leg)
            if cut:
                self.wish, self._broken = follower.outcome, follower
        return leg

    def ending(self, outcome: Outcome, t: float, x: np.ndarray) -> Ending:
        """How the run ends that was not to go on from here."""
        return Ending(outcome, f"t = {t:.9g}" + self._words(outcome, t, x))

    def _words(self, outcome: Outcome, t: float, x: np.ndarray) -> str:
        choice = self.choice
        if outcome is Outcome.MASS_USED_UP:
            return f": {used_up(self._used_up)}"
        if self._broken is not None and outcome is self._broken.outcome:
            state = f", {choice.system.from_x(t, x)!r}; likely cause" if outcome is Outcome.ROWS_SINGULAR else ""
            return f"{state}: {self._broken.words}"
        if outcome is Outcome.SPEEDS_SINGULAR:
            chosen = ", ".join(map(str, choice.code.equations.driven))
            return f": {chosen} are dependent here; leave the choice to appell (no speeds=, no dependent=)"
        return ""
