"""A leg: one smooth stretch of a run by one integrator, with its dense output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

import casadi as ca
import numpy as np

from appell.motion.flow import Flow, Inputs

STALL, STALLS = 1e-14, 30  # a run has collapsed after so many steps in a row that hardly move time, relative to it,
CRAWL, CRAWLS = 1e-10, 1000  # or after so many that are no more than this share of the time and of what is left of it
SHARE = CRAWLS / STALLS  # how many steps of the second kind one of the first counts for


def moment(t: float, left: float) -> float:
    """A time that is as good as none, at time t with so much left: a share of it, of a second, or of a short run."""
    return STALL * max(abs(t), min(1.0, abs(t) + left))


Dense = Callable[[np.ndarray], np.ndarray]
"""x of shape (n, k) at k times."""


class End(Enum):
    """Why a leg ended."""

    REACHED = auto()
    GUARD = auto()
    CORNER = auto()
    REST = auto()
    WATCHER = auto()
    NOT_FINITE = auto()
    COLLAPSED = auto()
    STEP_LIMIT = auto()


BROKEN = frozenset({End.NOT_FINITE, End.COLLAPSED, End.STEP_LIMIT})
"""Ends of legs that should have gone on."""


@dataclass(frozen=True, eq=False)
class Leg:
    """Part of a trajectory.

    Attributes:
        times: Step boundaries, first to last.
        final: x at the end.
        dense: x within.
        end: Why it ended.
        guard: Which guard fired, if one did.
        steps: Accepted steps.
    """

    times: np.ndarray
    final: np.ndarray
    dense: Dense
    end: End
    guard: int = -1
    steps: int = 0

    def cut(self, t: float) -> Leg:
        """The leg up to a time within, where its watcher wants it to end."""
        times = np.append(self.times[self.times < t], t)
        return replace(self, times=times, final=self.dense(t)[:, 0], end=End.WATCHER)

    def without_last_step(self) -> Leg:
        """The leg up to its last but one step boundary, if it has so many."""
        return self if self.times.size < 3 else self.cut(self.times[-2])

    def without_gap(self) -> Leg:
        """The leg without its last step where that has no finite values within, as next to what is singular."""
        middle = np.array([self.times[-2:].mean()])
        if self.times.size < 3 or np.all(np.isfinite(self.dense(middle))):
            return self
        last = np.nextafter(self.times[-2], self.times[0])

        def dense(t: np.ndarray) -> np.ndarray:
            return self.dense(np.minimum(np.atleast_1d(t), last))

        return replace(self, times=self.times[:-1], final=dense(last)[:, 0], dense=dense, steps=self.steps - 1)


def pieced(starts: np.ndarray, pieces: Sequence[Dense], size: int, times: np.ndarray) -> np.ndarray:
    """x of so many entries at some times, where it is known piece by piece.

    Args:
        starts: Where the pieces begin.
        pieces: x within each.
        size: How many entries it has.
        times: The times; before the first piece and behind the last, these go on.
    """
    result = np.empty((size, times.size))
    which = np.clip(np.searchsorted(starts, times, side="right") - 1, 0, len(pieces) - 1)
    for k in np.unique(which):
        result[:, which == k] = pieces[k](times[which == k])
    return result


@dataclass(eq=False, kw_only=True)
class Task:
    """What an integrator is asked to do.

    Attributes:
        flow: Equations and guards.
        t0, x0: The start.
        t1: The end.
        w, p: Inputs, and parameters with modes.
        rtol, atol: Tolerances; None is the integrator's own default.
        watch: Called after every step with t and x; may change x in place (returning True), or ask for the end of the
            leg by raising `Enough`.
        gates: For each guard whether it is looked at as it is; not where it rests on zero, until it has moved.
        limits: For each guard the size up to which it counts as zero.
        max_steps: Limit.
        idle: Whether the watcher need not see every step: nothing to keep, only the keyboard to hear.
        drive: Inputs by a Python function of t and x, in place of w.
        grid: Times that will be asked for.
        alarm: What tells when the watcher has to look, (t, x, w, p) -> (growth, side), where that is all it looks at:
            if the growth is not below `calm`, or the side changes its sign. An integrator may leave it aside.
        calm: The growth up to which nothing has to be looked at, now.
        events: How many guards belong to events; those of kinks follow.
    """

    flow: Flow
    t0: float
    x0: np.ndarray
    t1: float
    w: np.ndarray
    p: np.ndarray
    rtol: float | None
    atol: float | None
    watch: Callable[[float, np.ndarray], bool]
    gates: np.ndarray
    limits: np.ndarray
    max_steps: int
    idle: bool
    drive: Inputs | None = None
    grid: np.ndarray = field(default_factory=lambda: np.zeros(0))
    alarm: ca.Function | None = None
    calm: Callable[[], float] = lambda: 0.0
    events: int = 0

    def inputs(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of the inputs."""
        return self.w if self.drive is None else self.drive(t, x)

    def f(self, t: float, x: np.ndarray) -> np.ndarray:
        """The right-hand side."""
        return self.flow.machine.flat(t, x, self.inputs(t, x), self.p)

    def guards(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of the guards."""
        return self.flow.guard_machine.flat(t, x, self.inputs(t, x), self.p)

    def guards_and_rates(self, t: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values of the guards, and their rates with the inputs held."""
        values, rates = self.flow.guard_machine(t, x, self.inputs(t, x), self.p)
        return values.ravel(), rates.ravel()

    @property
    def lifts(self) -> np.ndarray:
        """What is added to guards before their zeros are looked for: where they rest on zero.

        An event is not looked for until its guard has moved. A kink must not be left behind: until its guard has risen
        beyond its limit it is looked for where it falls as far below zero.
        """
        return np.where(self.gates, 0.0, np.where(np.arange(self.gates.size) < self.events, np.inf, self.limits))

    def set_gates(self, t: float, x: np.ndarray) -> bool:
        """Look again at guards that have moved away from zero, and so at kinks that were moved onto it.

        Returns:
            Whether any did.
        """
        if not self.gates.size or (self.events == self.gates.size and self.gates.all()):
            return False
        values, before = self.guards(t, x), self.gates.copy()
        self.gates |= np.abs(values) > self.limits
        self.gates[self.events :] &= (values > 0)[self.events :]
        return not np.array_equal(before, self.gates)


class Enough(Exception):
    """Raised by a watcher that wants the leg to end here."""
