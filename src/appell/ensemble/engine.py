"""Many runs through a few thousand lanes: a lane that has finished takes the next run.

What a run gives does not depend on its neighbours, on how many lanes there are, or on when it gets one: every number of
a lane is computed by elementwise operations from that lane alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

import numpy as np

from appell.ensemble.crossings import Parts, Steps
from appell.ensemble.jobs import Jobs, Results
from appell.ensemble.kernel import Kernel
from appell.ensemble.lane_machine import cores_in_use, padded
from appell.ensemble.lane_rules import LaneRules
from appell.ensemble.rest import resting_lanes
from appell.motion.attempt import GROW, Status
from appell.motion.diagnosis import AT_REST
from appell.motion.events import KEPT, piled, piling_up
from appell.motion.flow import RESTING, falls, resting, rests

LANES = 4000  # for each core; no power of two, with which all rows of V would fall on the same places of the cache
BLIND = 8  # steps of machine code between two looks at which lanes have ended
SHORT = 4  # the same where events are looked for
SPARE = 32  # a share of the lanes may stand idle before they take new runs


Watch = Callable[[float], bool]
"""Told now and then how many runs are done, of those that go on a share; answers whether to give up."""


def unwatched(done: float) -> bool:
    """Nobody watches."""
    return False


class Interrupted(Exception):
    """The sweep is to end."""


class Lanes:
    """The loop.

    Args:
        kernel: The functions.
        grid: The times of the table.
        rules: What is looked for, and what follows.
        results: Where to write.
        watch: Asked after every step.
        lanes: How many lanes at most; enough for the cores if left out.
    """

    def __init__(
        self,
        kernel: Kernel,
        grid: np.ndarray,
        rules: LaneRules,
        results: Results,
        watch: Watch,
        lanes: int | None = None,
    ) -> None:
        self.k, self.grid, self.rules, self.results, self.watch = kernel, grid, rules, results, watch
        self.most = padded(LANES * cores_in_use() if lanes is None else lanes)
        self._next = np.append(grid, np.inf)
        self._piling = any(event.reset for event in rules.events) or bool(kernel.graphs.sizes["modes"])
        if len(results.seen) != len(rules.guards):
            results.seen, results.haste = np.zeros((2, len(rules.guards), results.status.size))

    def run(self, jobs: Jobs) -> dict[Kernel, list[Jobs]]:
        """Run all; returns those that another kernel must go on with."""
        k, count = self.k, min(padded(jobs.run.size), self.most)
        self.queue, self.head = jobs, 0
        self.handed: dict[Kernel, list[Jobs]] = {}
        self.V, self.W = np.zeros((k.status + 1, count)), np.zeros((k.status + 1, count))
        self.P, self.owner = np.ones((k.numbers, count)), np.full(count, -1)
        self.taken, self.due = np.zeros(count, dtype=np.int64), np.full(count, np.inf)
        self.begun = np.zeros(count)  # when each lane began its leg
        self._take(np.arange(count))
        blind = 1 if not k.step.simd else SHORT if k.guarded else BLIND
        while True:
            done = self._done()
            for _ in range(blind):
                if self.watch(done):
                    raise Interrupted
                k.step(self.V, self.P, self.W)
                passed = np.flatnonzero(self.W[k.t] >= self.due)
                if passed.size:
                    self._sample(passed, self.V[:, passed], self.W[:, passed], self.P[:, passed])
                self.V, self.W = self.W, self.V  # the old rows are overwritten by the next step
            ended = np.flatnonzero(self.V[k.status] > 0.0)
            waits = self.head < self.queue.run.size
            if ended.size > (self.owner.size // SPARE if waits or k.guarded else 0):
                self._end(ended)
            if not waits:
                alive = np.flatnonzero(self.owner >= 0)
                if not alive.size:
                    return self.handed
                if 8 * padded(alive.size) <= 7 * self.owner.size:
                    self._shrink(alive)

    def _done(self) -> float:
        """How many runs are done, of those in lanes the share of their time that has passed."""
        k = self.k
        left = (self.P[k.setting["end"]] - self.V[k.t]) / self.rules.length
        return np.count_nonzero(self.results.status >= 0) + float(np.sum(1 - left, where=self.owner >= 0))

    def _shrink(self, alive: np.ndarray) -> None:
        """Fewer lanes when no run is waiting."""
        pick = alive[np.minimum(np.arange(padded(alive.size)), alive.size - 1)]
        spare = np.arange(pick.size) >= alive.size
        self.V, self.P = np.ascontiguousarray(self.V[:, pick]), np.ascontiguousarray(self.P[:, pick])
        self.W = np.zeros((self.k.status + 1, pick.size))
        self.taken, self.begun = self.taken[pick], self.begun[pick]
        self.owner, self.due = np.where(spare, -1, self.owner[pick]), np.where(spare, np.inf, self.due[pick])
        self.V[self.k.status, spare] = Status.IDLE

    def _take(self, lanes: np.ndarray) -> None:
        """Give lanes their next runs; those for which there is none rest."""
        k = self.k
        free = lanes[: max(0, self.queue.run.size - self.head)]
        jobs = self.queue.part(slice(self.head, self.head + free.size))
        self.head += free.size
        rest = lanes[free.size :]
        self.owner[rest], self.due[rest], self.V[k.status, rest] = -1, np.inf, Status.IDLE
        if not free.size:
            return
        self.P[:, free], self.owner[free], self.taken[free] = jobs.P, jobs.run, jobs.taken
        self.V[: k.n, free], self.V[k.t, free] = jobs.x, jobs.t
        self.V[k.steps, free], self.V[k.status, free] = jobs.steps, Status.GOING
        V = self.V[:, free]
        self._begin(free, V)
        self.V[:, free] = V
        begun = free[self._next[jobs.taken] <= jobs.t]
        if begun.size:
            values = k.table(self.V[: k.n + 1, begun], self.P[:, begun])
            self.results.table[:, self.owner[begun], self.taken[begun]] = values
            self.taken[begun] += 1
        self._due(free)

    def _due(self, lanes: np.ndarray) -> None:
        """When lanes pass their next point of the table; the state at the very end is written when they end."""
        when = self._next[self.taken[lanes]]
        self.due[lanes] = np.where(when < self.P[self.k.setting["end"], lanes], when, np.inf)

    def _begin(self, lanes: np.ndarray, V: np.ndarray) -> None:
        """A new leg of some lanes, whose columns are V: a first step size, gates."""
        k, P = self.k, self.P[:, lanes]
        h = k.machines["first"].some(V[: k.n + 1], P)[0]
        V[k.h] = np.where(h > 0, h, 1e-6)
        V[k.room], V[k.stalled] = GROW, 0.0
        if k.guarded:
            g, rate, limits, haste = self._guards(lanes, V, P)
            gates, user = ~rests(g, rate, limits, haste), len(self.rules.guards)
            limits[user:] = np.fmax(limits, -2 * g)[user:]  # a kink in the right mode is on zero if not above it
            self.P[k.gates, lanes] = np.concatenate([gates[:user], np.where(g > limits, 1.0, -limits)[user:]])
            self.begun[lanes] = V[k.t]

    def _guards(
        self, lanes: np.ndarray, V: np.ndarray, P: np.ndarray, spans: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Guards of some lanes, their rates, up to which size they count as zero, and what the rates are made of.

        Args:
            lanes: The lanes.
            V: Their columns.
            P: Their numbers.
            spans: How long the legs were that end here.
        """
        k, r, user, runs = self.k, self.results, len(self.rules.guards), self.owner[lanes]
        g, rate = np.split(k.machines["guards"].some(V[: k.n + 1], P), 2)
        size, haste = np.split(k.machines["sizes"].some(V[: k.n + 1], P), 2)
        now, time = np.fmax(np.abs(g), np.abs(rate) * spans), (V[k.t], self.rules.length)
        limits = np.full(g.shape, RESTING)
        if user:
            seen = r.seen[:, runs] = np.fmax(r.seen[:, runs], now[:user])
            limits[:user] = resting(seen, size[:user], haste[:user], *time)
            haste[:user] = r.haste[:, runs] = np.fmax(r.haste[:, runs], haste[:user])
        if self._sides.size:
            own = np.flatnonzero(k.side == 0)
            kinks, of_own = k.kinks[own, None], user + own
            slides = P[k.modes][k.kinks[own]] == 0
            largest = np.fmax(self._sides[kinks, runs], np.where(slides, 0.0, now[of_own]))
            seen = self._sides[kinks, runs] = largest
            limits[of_own] = np.where(slides, RESTING, resting(seen, size[of_own], haste[of_own], *time))
        return g, rate, limits, haste

    @property
    def _sides(self) -> np.ndarray:
        """For each run the largest size of every switching function."""
        k, r = self.k, self.results
        return r.sides.setdefault(k.graphs.split, np.zeros((k.graphs.sizes["modes"], r.status.size)))

    def _lifts(self, gates: np.ndarray) -> np.ndarray:
        """What is added to guards before their zeros are looked for: the rule of single runs.

        Gates of kinks that are not open are minus their limits.
        """
        kinks = np.arange(gates.shape[0])[:, None] >= len(self.rules.guards)
        return np.where(gates > 0, 0.0, np.where(kinks, -gates, np.inf))

    # Within steps: V are the columns of some lanes before a step, W behind it.

    def _steps(self, V: np.ndarray, P: np.ndarray) -> Steps:
        """Steps with their dense output."""
        k = self.k
        V = V[: k.n + 2].copy()
        V[k.h] = np.minimum(V[k.h], P[k.setting["end"]] - V[k.t])
        parts = Parts.of(V[k.t], V[k.h], V[: k.n], lambda V, which: k.machines["dense"].some(V, P[:, which]))

        def guards(times: np.ndarray, states: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            g, rate = np.split(k.machines["guards"].some(np.concatenate([states, times[None, :]]), P[:, which]), 2)
            return g, rate

        return Steps(V[k.t], V[k.h], parts, guards)

    def _sample(
        self, passed: np.ndarray, V: np.ndarray, W: np.ndarray, P: np.ndarray, since: np.ndarray | float = np.inf
    ) -> None:
        """Tabulate the grid points that lanes have passed, with the numbers they had; some go straight at their end."""
        k, reached = self.k, W[self.k.t]
        count = np.searchsorted(self.grid, reached, side="right") - self.taken[passed]
        at = np.repeat(np.arange(passed.size), count)
        lanes = passed[at]
        first = np.repeat(np.cumsum(count) - count, count)
        index = self.taken[lanes] + np.arange(at.size) - first
        times = self.grid[index]
        inside = times != reached[at]
        x = W[: k.n, at]
        if inside.any():
            used = np.unique(at[inside])
            steps, own = self._steps(V[:, used], P[:, used]), at[inside]
            begin = np.minimum(times, np.broadcast_to(since, passed.size)[at])[inside]
            begun = steps.states(begin, np.searchsorted(used, own))
            x[:, inside] = begun + (times[inside] - begin) / (reached[own] - begin) * (x[:, inside] - begun)
        values = k.table(np.concatenate([x, times[None, :]]), P[:, at])
        self.results.table[:, self.owner[lanes], index] = values
        self.taken[passed] += count
        self._due(passed)

    def _events(self, lanes: np.ndarray) -> None:
        """Make the steps that may contain events, up to the first guard that falls through zero."""
        k, P = self.k, self.P[:, lanes]
        V = self.V[:, lanes]
        V[k.status] = Status.GOING
        W = k.machines["unwatched"].some(V, P)
        gates, lifts, going = P[k.gates] > 0, self._lifts(P[k.gates]), np.ones(lanes.size, dtype=bool)
        steps = self._steps(V, P)
        when, which, unclear = steps.first_crossings(W[k.t], gates, lifts, self._guards(lanes, V, P)[2])
        hit = np.flatnonzero(np.isfinite(when))
        if hit.size:
            W[: k.n, hit], W[k.t, hit] = steps.states(when[hit], hit), when[hit]
            W[:, hit] = self._cut(lanes[hit], W[:, hit], gates[:, hit], which[hit])
            going[hit] = False  # their gates are those of a new leg
        since = np.full(lanes.size, np.inf)
        if going.any():
            left = np.flatnonzero(going)
            moved = W[:, left]
            since[left] = self._rest(lanes[left], V[:, left], moved, P[:, left])
            W[:, left] = moved
        W[k.status, unclear] = Status.ALONE
        if going.any():
            (g, _, limits, _), user = self._guards(lanes[going], W[:, going], P[:, going]), len(self.rules.guards)
            limits[user:] = np.fmax(limits, -P[k.gates, going])[user:]
            moved = gates[:, going] | (np.abs(g) > limits)
            self.P[k.gates, lanes[going]] = np.concatenate(
                [moved[:user], np.where(moved & (g > 0), 1.0, -limits)[user:]]
            )
        passed = np.flatnonzero(W[k.t] >= self.due[lanes])
        if passed.size:
            self._sample(lanes[passed], V[:, passed], W[:, passed], P[:, passed], since[passed])
        self.V[:, lanes] = W

    def _cut(self, lanes: np.ndarray, W: np.ndarray, gates: np.ndarray, fell: np.ndarray) -> np.ndarray:
        """The columns W of lanes that stand at events, begun again or ended, these with the state before a reset.

        Args:
            lanes: The lanes.
            W: Their columns.
            gates: Which guards of each were looked at.
            fell: The guard of each that fell.
        """
        k, r, times = self.k, self.results, W[self.k.t]
        here = self._guards(lanes, W, self.P[:, lanes], times - self.begun[lanes])
        down = falls(*here)
        falling = gates & down
        falling[fell, np.arange(lanes.size)] = True
        above = falling | (rests(*here) & ~down)  # what rests on zero or came down to it
        W[: k.n] = k.machines["settle"].some(W[: k.n + 1], self.P[:, lanes])
        runs, before = self.owner[lanes], W[: k.n].copy()
        W[k.status] = np.where(times >= self.P[k.setting["end"], lanes], Status.REACHED, Status.GOING)
        user = len(self.rules.guards)
        if k.graphs.sizes["modes"]:
            self._switch(lanes, W, np.flatnonzero(falling[user:].any(axis=0)), falling)
        for which in np.flatnonzero(falling[:user].any(axis=1)):
            number, here = self.rules.guards[which], np.flatnonzero(falling[which])
            event = self.rules.events[number]
            if event.reset:
                W[: k.n, here] = self.rules.behind(k, number, times[here], W[: k.n, here], self.P[:, lanes[here]])
                W[k.status, here[np.isnan(W[: k.n, here]).any(axis=0)]] = Status.ALONE
                if k.graphs.sizes["modes"]:
                    self._switch(lanes, W, here, None)
                self._follow(lanes, W, here, which, falling, above)
            r.happened += [(int(runs[j]), number, float(times[j])) for j in here]
            if event.stop:
                first = here[r.event[runs[here]] < 0]
                r.event[runs[first]] = number
                W[k.status, first[W[k.status, first] != Status.ALONE]] = Status.REACHED
        if self._piling:
            self._pile(W, runs, falling)
        goes = (W[k.status] == Status.GOING) | (W[k.status] == Status.MOVED)
        W[: k.n, ~goes] = before[:, ~goes]
        again = np.flatnonzero(W[k.status] == Status.GOING)
        if again.size:
            begun = W[:, again]
            self._begin(lanes[again], begun)
            W[:, again] = begun
        return W

    def _follow(
        self, lanes: np.ndarray, W: np.ndarray, here: np.ndarray, which: int, falling: np.ndarray, above: np.ndarray
    ) -> None:
        """Lanes in which the reset of an event sends a further guard on zero through it are left to single runs."""
        k, guards = self.k, np.arange(len(falling))
        here = here[above[:, here].sum(axis=0) > above[which, here]]
        if not here.size:
            return
        V = W[: k.n + 1, here]
        down = falls(*self._guards(lanes[here], V, self.P[:, lanes[here]]))
        both = np.isin(guards, np.flatnonzero(np.array(self.rules.guards) == self.rules.guards[which]))
        above[np.ix_(both & (guards != which), here)] = False
        above[which, here] &= ~down[which]
        waiting = falling[:, here] & (guards > which)[:, None]
        further = (down & above[:, here] & ~waiting)[: len(self.rules.guards)].any(axis=0)
        W[k.status, here[further]] = Status.ALONE

    def _switch(self, lanes: np.ndarray, W: np.ndarray, here: np.ndarray, falling: np.ndarray | None) -> None:
        """New modes of some lanes; those in which other kinks slide go on elsewhere."""
        k = self.k
        here = here[(W[k.status, here] == Status.GOING) | (W[k.status, here] == Status.MOVED)]
        if not here.size:
            return
        fired = None if falling is None else falling[:, here]
        seen = self._sides[:, self.owner[lanes[here]]]
        x, modes = self.rules.switch(k, W[k.t, here], W[: k.n, here], self.P[:, lanes[here]], fired, seen)
        W[: k.n, here], self.P[k.modes, lanes[here]] = x, modes
        W[k.status, here] = Status.MOVED
        W[k.status, here[self.rules.families(k, modes).get(k.graphs.family, [])]] = Status.GOING

    def _pile(self, W: np.ndarray, runs: np.ndarray, falling: np.ndarray) -> None:
        """End the runs whose events follow each other ever faster."""
        k, user = self.k, len(self.rules.guards)
        changes = np.ones(len(falling), dtype=bool)
        changes[:user] = [bool(self.rules.events[i].reset) for i in self.rules.guards]
        changed = np.any(falling[changes], axis=0)
        for j in np.flatnonzero((W[k.status] == Status.GOING) | (W[k.status] == Status.MOVED)):
            run = int(runs[j])
            stops = self.results.recent.setdefault((run, bool(changed[j])), deque(maxlen=KEPT))
            stops.append(float(W[k.t, j]))
            limit = piling_up(tuple(stops), self.rules.settings.t0)
            if limit is not None:
                fell = np.flatnonzero(falling[:, j])
                mine = fell[fell < user]
                name = self.rules.events[self.rules.guards[mine[-1]]].name if mine.size else ""
                name = name or self.rules.name(k, int(fell[-1]))
                W[k.status, j], self.results.details[run] = Status.PILED_UP, piled(name, limit)

    def _hand(self, lanes: np.ndarray) -> None:
        """Give lanes in which other kinks slide to the kernels of these."""
        k = self.k
        for family, members in self.rules.families(k, self.P[k.modes, lanes]).items():
            which, other = lanes[members], self.rules.sliding(k, family)
            if other is None:
                self.results.status[self.owner[which]] = Status.ALONE
                continue
            P = other.taken_over(self.P[:, which], self.P[k.modes, which])
            V = self.V[:, which]
            job = Jobs(self.owner[which], V[: k.n], V[k.t], P, self.taken[which], V[k.steps])
            self.handed.setdefault(other, []).append(job)

    def _end(self, lanes: np.ndarray) -> None:
        """Write down what has ended, look at events and at restless lanes, and take new runs."""
        k, r = self.k, self.results
        suspect = self.V[k.status, lanes] == Status.SUSPECT
        if suspect.any():
            self._events(lanes[suspect])
        arriving = self.V[k.status, lanes] == Status.ARRIVING
        if arriving.any():
            self._arrive(lanes[arriving])
        broken = np.isin(self.V[k.status, lanes], (Status.NOT_FINITE, Status.COLLAPSED))
        if broken.any() and k.graphs.sizes["modes"]:
            self._break_off(lanes[broken])
        lanes = lanes[self.V[k.status, lanes] > 0.0]
        status = self.V[k.status, lanes].astype(int)
        restless = status == Status.RESTLESS
        if restless.any():
            going = self._look(lanes[restless])
            left = np.ones(lanes.size, dtype=bool)
            left[restless] = ~going
            lanes, status, restless = lanes[left], status[left], restless[left]
        moved = status == Status.MOVED
        if moved.any():
            self._hand(lanes[moved])
        gone = restless | moved
        over, status = lanes[~gone], status[~gone]
        if over.size:
            runs, t = self.owner[over], self.V[k.t, over]
            last = k.table(self.V[: k.n + 1, over], self.P[:, over])
            r.status[runs], r.end[runs], r.last[:, runs] = status, t, last
            r.steps[runs], r.x[:, runs] = self.V[k.steps, over].astype(np.int64), self.V[: k.n, over]
            exact = self._next[self.taken[over]] == t
            r.table[:, runs[exact], self.taken[over[exact]]] = last[:, exact]
        self._take(lanes)

    def _arrive(self, lanes: np.ndarray) -> None:
        """Make the steps in which a root may come to zero, or end where the motion rests."""
        k, P, V = self.k, self.P[:, lanes], self.V[:, lanes]
        V[k.status] = Status.GOING
        W = k.machines["unwatched"].some(V, P)
        since = self._rest(lanes, V, W, P)
        passed = np.flatnonzero(W[k.t] >= self.due[lanes])
        if passed.size:
            self._sample(lanes[passed], V[:, passed], W[:, passed], P[:, passed], since[passed])
        self.V[:, lanes] = W

    def _break_off(self, lanes: np.ndarray) -> None:
        """Lanes that broke off on a kink they cannot go through go on from it: `appell.motion.guards.arrived`."""
        k, P, V = self.k, self.P[:, lanes], self.V[:, lanes]
        g, _, limits, _ = self._guards(lanes, V, P)
        gates = P[k.gates] > 0
        near = gates & (np.abs(g) < limits) & (V[k.t] > self.begun[lanes])
        near[: len(self.rules.guards)] = False
        here = np.flatnonzero(near.any(axis=0))
        if here.size:
            fell = np.where(near, np.abs(g), np.inf).argmin(axis=0)
            self.V[:, lanes[here]] = self._cut(lanes[here], V[:, here], gates[:, here], fell[here])

    def _rest(self, lanes: np.ndarray, V: np.ndarray, W: np.ndarray, P: np.ndarray) -> np.ndarray:
        """Let lanes end where they come to rest in a step from V to W; from when on they go straight there."""
        k, since = self.k, np.full(lanes.size, np.inf)
        which, there, near = resting_lanes(k, V, W, P)
        since[which] = np.minimum(W[k.t, which], near)
        W[: k.n + 1, which], W[k.status, which] = there, Status.RESTS
        W[k.steps, which] += 1
        for run, t in zip(self.owner[lanes[which]].tolist(), there[-1], strict=True):
            self.results.details[run] = f"t = {t:.9g}: {AT_REST}"
        return since

    def _look(self, lanes: np.ndarray) -> np.ndarray:
        """Which restless lanes go on as they are; the others are handed to another kernel."""
        k = self.k
        calm = self.P[k.setting["calm"]]
        found = self.rules.look(k, self.V[k.t, lanes], self.V[: k.n, lanes], self.P[:, lanes], calm[lanes])
        going = np.ones(lanes.size, dtype=bool)
        for other, (members, x, modes) in found.moves.items():
            going[members] = False
            moved = lanes[members]
            P = other.taken_over(self.P[:, moved], modes)
            P[k.setting["calm"]] = 0.0
            job = Jobs(self.owner[moved], x, self.V[k.t, moved], P, self.taken[moved], self.V[k.steps, moved])
            self.handed.setdefault(other, []).append(job)
        stay = lanes[going]
        calm[stay], self.V[k.status, stay] = found.calm[going], Status.GOING
        return going


def run_all(
    jobs: Mapping[Kernel, Jobs],
    grid: np.ndarray,
    rules: LaneRules,
    results: Results,
    watch: Watch,
    lanes: int | None = None,
) -> None:
    """Run jobs kernel by kernel until none is left; runs may go from one to another."""
    waiting: dict[Kernel, list[Jobs]] = {k: [j] for k, j in jobs.items() if j.run.size}
    while waiting:
        kernel, listed = next(iter(waiting.items()))
        del waiting[kernel]
        handed = Lanes(kernel, grid, rules, results, watch, lanes).run(Jobs.together(listed))
        for other, more in handed.items():
            waiting.setdefault(other, []).extend(more)
