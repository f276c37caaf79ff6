"""Runs that wait for a lane, and what becomes of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from appell.kinematics.split import Split


@dataclass(frozen=True, eq=False)
class Jobs:
    """Runs that wait for a lane: V of the start (x and t), P, and where they stand.

    Attributes:
        run: Which run each is.
        x, t: Where it begins.
        P: Its numbers.
        taken: How many grid points it has passed.
        steps: Steps it made already.
    """

    run: np.ndarray
    x: np.ndarray
    t: np.ndarray
    P: np.ndarray
    taken: np.ndarray
    steps: np.ndarray

    def part(self, which: Any) -> Jobs:
        """Some of them."""
        return Jobs(
            self.run[which], self.x[:, which], self.t[which], self.P[:, which], self.taken[which], self.steps[which]
        )

    @staticmethod
    def together(jobs: list[Jobs]) -> Jobs:
        """All of several."""
        return Jobs(
            *(np.concatenate([getattr(j, f) for j in jobs], axis=-1) for f in ("run", "x", "t", "P", "taken", "steps"))
        )


@dataclass(eq=False, kw_only=True)
class Results:
    """What becomes of the runs of a chunk.

    Attributes:
        table: Values of shape (columns, runs, times); NaN where a run did not come.
        status: How each ended.
        event: Which event stopped it, else -1.
        end: The time at which it ended.
        last: The columns there.
        steps: Accepted steps.
        happened: (run, event, time) of every event.
        recent: When the last events of a run happened, where they may pile up: of those that change the motion or not.
        details: Further words about the end of a run.
        seen: For each run the largest size of the guard of every event, one row each.
        haste: The same of what its rate is made of.
        sides: The same of every switching function, by the choice of speeds.
    """

    table: np.ndarray
    status: np.ndarray
    event: np.ndarray
    end: np.ndarray
    last: np.ndarray
    steps: np.ndarray
    x: np.ndarray
    happened: list[tuple[int, int, float]] = field(default_factory=list)
    recent: dict[tuple[int, bool], deque[float]] = field(default_factory=dict)
    details: dict[int, str] = field(default_factory=dict)
    seen: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    haste: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    sides: dict[Split, np.ndarray] = field(default_factory=dict)

    @classmethod
    def empty(cls, columns: int, runs: int, times: int, states: int) -> Results:
        """Nothing yet."""
        nan = np.nan
        return cls(
            table=np.full((columns, runs, times), nan),
            status=np.full(runs, -1),
            event=np.full(runs, -1),
            end=np.full(runs, nan),
            last=np.full((columns, runs), nan),
            steps=np.zeros(runs, dtype=np.int64),
            x=np.full((states, runs), nan),
        )
