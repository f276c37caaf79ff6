"""What came out of the runs of a chunk, gathered from lanes and from single runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from appell.code.state import State, names_of
from appell.ensemble.jobs import Results
from appell.ensemble.settings import Settings
from appell.model.model import Model
from appell.motion.attempt import Status
from appell.motion.diagnosis import MORE_STEPS
from appell.motion.outcome import Outcome

OUTCOMES = tuple(Outcome)
WORDS = np.dtypes.StringDType()
ENDS = {
    Status.REACHED: Outcome.DONE,
    Status.NOT_FINITE: Outcome.NOT_FINITE,
    Status.COLLAPSED: Outcome.STEP_COLLAPSED,
    Status.STEP_LIMIT: Outcome.STEP_LIMIT,
    Status.SINGULAR: Outcome.SPEEDS_SINGULAR,
    Status.PILED_UP: Outcome.ACCUMULATION,
    Status.RESTS: Outcome.ACCUMULATION,
}


Why = Callable[[int, State, Outcome], tuple[Outcome, str]]
"""Of a run, its last state and how it ended: how to call that, and the likely cause in words."""


@dataclass(eq=False)
class Outcomes:
    """What came out of the runs of a chunk.

    Attributes:
        arrays: By name, the first axis over the runs.
        reasons: Why runs were made one by one: words -> how many.
    """

    arrays: dict[str, np.ndarray]
    reasons: dict[str, int] = field(default_factory=dict)


class Collected:
    """Gathers the results of a chunk, from lanes and from single runs.

    Args:
        model: Whose runs they are.
        names: What is tabulated.
        kept: What is kept of that.
        settings: How the runs go.
        count: How many there are.
    """

    def __init__(self, model: Model, names: Sequence[str], kept: Sequence[str], settings: Settings, count: int) -> None:
        self.model, self.names, self.kept, self.settings = model, names, kept, settings
        self.reasons: dict[str, int] = {}
        s = settings
        self.table = np.full((len(names), count, s.grid.size), np.nan)
        self.last = np.full((len(names), count), np.nan)
        self.outcome = np.full(count, OUTCOMES.index(Outcome.NOT_STARTED), dtype=np.int8)
        self.end = np.full(count, s.t0)
        self.steps = np.zeros(count, dtype=np.int64)
        self.route = np.zeros(count, dtype=np.int8)
        self.reason = np.full(count, "", dtype=WORDS)
        self.times = np.full((count, len(s.events)), np.nan)
        self.counts = np.zeros((count, len(s.events)), dtype=np.int32)

    def fail(self, run: int, outcome: Outcome, t: float, words: str) -> None:
        """Write down a failure."""
        self.outcome[run], self.end[run], self.reason[run] = OUTCOMES.index(outcome), t, words

    def take(self, r: Results, single: Mapping[int, str], why: Why) -> None:
        """The results of lanes, apart from runs that are made again one by one; `why` finds causes of early ends."""
        came = r.status >= 0
        came[list(single)] = False
        lanes = np.flatnonzero(came)
        if came.all():
            self.table, self.last = r.table, r.last
        else:
            self.table[:, lanes], self.last[:, lanes] = r.table[:, lanes], r.last[:, lanes]
        self.end[lanes], self.steps[lanes], self.route[lanes] = r.end[lanes], r.steps[lanes], 1
        for run, event, t in r.happened:
            if run not in single:
                self._event(run, event, t)
        for status in np.unique(r.status[lanes]):
            outcome, here = ENDS[Status(int(status))], lanes[r.status[lanes] == status]
            self.outcome[here] = OUTCOMES.index(outcome)
            if not outcome.ok:
                for i in here[r.event[here] < 0]:
                    if int(i) in r.details:
                        self.fail(int(i), outcome, float(r.end[i]), f"{outcome.value} {r.details[int(i)]}")
                    else:
                        self._failed(int(i), outcome, float(r.end[i]), why)
        self.outcome[lanes[r.event[lanes] >= 0]] = OUTCOMES.index(Outcome.EVENT)

    def _failed(self, run: int, outcome: Outcome, t: float, why: Why) -> None:
        """A run that ended too early in its lane: where, and the likely cause."""
        model = self.model
        values = dict(zip(self.names, self.last[:, run], strict=True))
        state = State(model, np.array([values[name] for name in names_of(model)]), t)
        cause = ""
        if outcome in (Outcome.NOT_FINITE, Outcome.STEP_COLLAPSED):
            outcome, cause = why(run, state, outcome)
        elif outcome is Outcome.STEP_LIMIT:
            cause = f"; {MORE_STEPS}"
        self.fail(run, outcome, t, f"{outcome.value} t = {t:.9g}, {state!r}{cause}")

    def _event(self, run: int, event: int, t: float) -> None:
        self.counts[run, event] += 1
        if not self.times[run, event] <= t:
            self.times[run, event] = t

    def motion(self, run: int, motion: Any) -> None:
        """The result of a single run."""
        s = self.settings
        passed = np.isin(s.grid, motion.times).nonzero()[0]
        at = np.searchsorted(motion.times, s.grid[passed])
        for i, name in enumerate(self.names):
            column = motion.columns.get(name)
            if column is None:  # an input that is a number in this case
                column = np.full(motion.times.size, motion.system.values[name])
            self.table[i, run, passed], self.last[i, run] = column[at], column[-1]
        self.outcome[run] = OUTCOMES.index(motion.outcome)
        self.end[run], self.steps[run] = motion.times[-1], motion.info["steps"]
        names = [event.name for event in s.events]
        for occurrence in motion.occurrences:
            if occurrence.name in names:
                self._event(run, names.index(occurrence.name), occurrence.t)
        if not motion.outcome.ok:
            self.fail(run, motion.outcome, float(motion.times[-1]), f"{motion.outcome.value} {motion.detail}")

    def put(self, runs: list[int], theirs: Outcomes) -> None:
        """The results of single runs that were made elsewhere."""
        mine = self.outcomes().arrays
        for name, values in theirs.arrays.items():
            mine[name][runs] = values

    def outcomes(self) -> Outcomes:
        """Arrays with the runs along their first axis."""
        arrays: dict[str, np.ndarray] = {}
        for name in self.kept:
            i = self.names.index(name)
            arrays[name], arrays[f"{name}.end"] = self.table[i], self.last[i]
        arrays.update(outcome=self.outcome, end=self.end, steps=self.steps, lane=self.route, reason=self.reason)
        if self.settings.events:
            arrays.update({"event_time": self.times, "event_count": self.counts})
        return Outcomes(arrays, self.reasons)
