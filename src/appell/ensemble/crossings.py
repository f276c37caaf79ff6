"""Events of many lanes: the first guard of each that falls through zero within its step, found for all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.motion.crossing import FINE, LOOKS, MOST, SHARES, SOON, TRIES, excess, moving
from appell.motion.dormand_prince import interpolate, parts_of

FINER = 4  # times as many looks where those so far are too few

Guards = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def zeros(f: Callable[[np.ndarray], np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Zeros of functions side by side, each between its a and b, at which its signs differ or differ but for rounding.

    What `appell.motion.crossing.zero` does, number by number. A zero that is found stays as it is while others are
    looked for.
    """
    a, b = a.copy(), b.copy()
    fa, fb = f(a), f(b)
    fine, share = FINE * np.maximum(np.abs(a), np.abs(b)), np.full(a.shape, 0.5)
    best, found = np.where(np.abs(fa) <= np.abs(fb), a, b), (fa > 0) == (fb > 0)
    for _ in range(TRIES):
        if found.all():
            break
        x = a + share * (b - a)
        fx = f(x)
        same = (fx > 0) == (fa > 0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(found, best, np.where(np.abs(fa) < np.abs(fb), a, b))
        width = np.abs(b - a)
        found |= (width <= fine) | (fa == 0) | (fb == 0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            limit = np.minimum(0.5, 0.5 * fine / width)
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            quick = (phi * phi < xi) & ((1 - phi) * (1 - phi) < 1 - xi)
            guess = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            share = np.where(quick & np.isfinite(guess), guess, 0.5)
        share = np.minimum(np.maximum(share, limit), 1 - limit)
    return best


@dataclass(frozen=True, eq=False)
class Parts:
    """The dense output of one step of each of some lanes, as `appell.motion.dormand_prince.Parts`.

    Attributes:
        count: In how many equal parts it is made.
        place: Which of all parts of all lanes is the first of each, the second, and so on.
        states: Where these parts begin, one column each.
        columns: Their coefficients, of shape (7, n, parts).
        gap: What the parts of a lane miss the end of its step by.
    """

    count: np.ndarray
    place: np.ndarray
    states: np.ndarray
    columns: np.ndarray
    gap: np.ndarray

    @classmethod
    def of(
        cls, t: np.ndarray, h: np.ndarray, x: np.ndarray, dense: Callable[[np.ndarray, np.ndarray], np.ndarray]
    ) -> Parts:
        """Those of steps, by their dense output (x, t, h) -> (columns, pace) in some lanes."""

        def columns_of(begin: np.ndarray, time: np.ndarray, length: np.ndarray, lanes: np.ndarray) -> Any:
            found = dense(np.concatenate([begin, time[None, :], length[None, :]]), lanes)
            return found[:-1].reshape(7, -1, lanes.size), found[-1]

        columns, pace = columns_of(x, t, h, np.arange(t.size))
        count, gap = parts_of(pace).astype(int), np.zeros(x.shape)
        place = np.tile(np.arange(t.size), (count.max(initial=1), 1))
        states, found, made = [x], [columns], t.size
        wild, here = np.flatnonzero(count > 1), x.copy()
        for k in range(place.shape[0] if wild.size else 0):
            lanes = wild[count[wild] > k]
            place[k, lanes] = made + np.arange(lanes.size)
            made += lanes.size
            length = h[lanes] / count[lanes]
            states.append(here[:, lanes])
            found.append(columns_of(states[-1], t[lanes] + k * length, length, lanes)[0])
            here[:, lanes] = states[-1] + found[-1][0]
        gap[:, wild] = (x + columns[0] - here)[:, wild]
        return cls(count, place, np.concatenate(states, axis=1), np.concatenate(found, axis=2), gap)

    def __call__(self, share: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """x at a share (0..1) of the step of each of some lanes."""
        count = self.count[lanes]
        k = np.clip((share * count).astype(int), 0, count - 1)
        part = self.place[k, lanes]
        value = interpolate(self.columns[:, :, part], self.states[:, part], share * count - k)
        return value + self.gap[:, lanes] * share


class Steps:
    """The dense output of one step of each of some lanes, and guards along it.

    Args:
        t, h: Where each step begins, and how long it is.
        parts: Its dense output.
        guards: g and g' of (times, states, lanes).
    """

    def __init__(self, t: np.ndarray, h: np.ndarray, parts: Parts, guards: Guards) -> None:
        self.t, self.h, self._parts, self._guards = t, h, parts, guards

    def states(self, times: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """x at one time of each of some lanes."""
        return self._parts((times - self.t[lanes]) / self.h[lanes], lanes)

    def guards(self, times: np.ndarray, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """g and g' at one time of each of some lanes."""
        return self._guards(times, self.states(times, lanes), lanes)

    def first_crossings(
        self, ends: np.ndarray, gates: np.ndarray, lifts: np.ndarray, limits: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each lane the first time up to its end at which a guard falls through zero, and which; inf if none.

        The rule of `appell.motion.crossing`, all parts of a step halved at once. The third result says which lanes have
        guards that are not seen well enough by so many looks.

        Args:
            ends: Where each step ends.
            gates: Which guards are looked at as they are, of shape (guards, lanes); those of events that have moved
                before what was found are added here.
            lifts: What is added to the guards, as `appell.motion.leg.Task.lifts`; where that is infinite they count
                from where they have moved.
            limits: Up to which sizes they count as zero.
        """
        count = self.t.size
        found, which, unclear = np.full(count, np.inf), np.full(count, -1), np.ones(count, dtype=bool)
        asleep, lifts = np.isinf(lifts), np.where(np.isinf(lifts), 0.0, lifts)
        if lifts.any():
            below = (lifts > 0) & (self.guards(self.t, np.arange(count))[0] + lifts <= 0)
            guard, lane = np.argwhere(below).T  # kinks that were moved there between two steps
            found[lane], which[lane], unclear[lane] = self.t[lane], guard, False
        rested = asleep.any(axis=0)
        for group in (unclear & ~rested, unclear & rested):  # where a lane is looked at is its own affair
            lanes, parts = np.flatnonzero(group), LOOKS
            while lanes.size and parts <= MOST:
                of_these = (e[:, lanes] for e in (asleep, lifts, limits))
                seen = _Looks.at(self, lanes, ends[lanes], parts, *of_these)
                clear = np.flatnonzero(seen.clear)
                when, guard = self._earliest(seen, clear)
                found[lanes[clear]], which[lanes[clear]] = when, guard
                earlier = (seen.times[:, clear] < when) & ~seen.asleep[:, :, clear]
                gates[:, lanes[clear]] |= asleep[:, lanes[clear]] & earlier.any(axis=1) & np.isfinite(when)
                unclear[lanes[clear]] = False
                lanes, parts = lanes[~seen.clear], FINER * parts
        return found, which, unclear

    def _earliest(self, seen: _Looks, clear: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first fall of some of the lanes that were looked at, and of which guard."""
        found, which = np.full(clear.size, np.inf), np.full(clear.size, -1)
        suspect = np.argwhere((seen.falls | seen.turns)[:, :, clear])
        if not suspect.size:
            return found, which
        guard, look, place = suspect.T
        here = clear[place]  # among the lanes that were looked at
        lane, lift = seen.lanes[here], seen.lifts[guard, here]
        a, b = seen.times[look, here], seen.times[look + 1, here]
        real, turning = seen.falls[guard, look, here], seen.turns[guard, look, here]
        if turning.any():
            k = np.flatnonzero(turning)
            turn = zeros(lambda s: self.guards(s, lane[k])[1][guard[k], np.arange(k.size)], a[k], b[k])
            at_turn = self.guards(turn, lane[k])[0][guard[k], np.arange(k.size)] + lift[k]
            at_turn = at_turn - seen.asleep[guard[k], look[k], here[k]] * seen.limits[guard[k], here[k]]
            rises = seen.rises[guard[k], look[k], here[k]]
            a[k] = np.where(rises & (at_turn > 0), turn, a[k])
            b[k] = np.where(rises, b[k], turn)
            real[k] |= (at_turn > 0) == rises
            guard, place, lane, lift, a, b = (e[real] for e in (guard, place, lane, lift, a, b))
        if not lane.size:
            return found, which
        root = self._zeros(guard, lane, a, b, lift)
        lifted = np.flatnonzero(lift)
        if lifted.size:
            root[lifted] = self._fallen(guard[lifted], lane[lifted], root[lifted], lift[lifted])
        order = np.lexsort((guard, root, place))
        leading = order[np.unique(place[order], return_index=True)[1]]
        found[place[leading]], which[place[leading]] = root[leading], guard[leading]
        return found, which

    def _zeros(self, guard: np.ndarray, lane: np.ndarray, a: np.ndarray, b: np.ndarray, lift: Any = 0.0) -> np.ndarray:
        """Where a guard each, lifted by so much, vanishes between a and b."""
        return zeros(lambda s: self.guards(s, lane)[0][guard, np.arange(lane.size)] + lift, a, b)

    def _fallen(self, guard: np.ndarray, lane: np.ndarray, ends: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Where guards that rested on zero fall through it, else the ends: `appell.motion.crossing.fallen` of many."""
        times = self.t[lane] + np.outer(SHARES, ends - self.t[lane])
        count = SHARES.size
        values = self.guards(times.ravel(), np.tile(lane, count))[0]
        values = values[np.tile(guard, count), np.arange(times.size)].reshape(times.shape)
        up = np.argmax(values > limits, axis=0)
        falls = (values <= 0) & (np.arange(count)[:, None] > up) & (values > limits).any(axis=0)
        k, down, found = np.flatnonzero(falls.any(axis=0)), np.argmax(falls, axis=0), ends.copy()
        if k.size:
            a, b = times[down[k] - 1, k], times[down[k], k]
            found[k] = self._zeros(guard[k], lane[k], a, b)
        return found


@dataclass(frozen=True, eq=False)
class _Looks:
    """Guards along the steps of some lanes: the arrays have a row for each guard, then for each time, then lanes.

    Attributes:
        lanes: Which lanes.
        times: When they were looked at.
        lifts: What is added to the guards.
        limits: Up to which sizes they count as zero.
        asleep: Whether a guard that began on zero, and is not looked at there, has not moved yet.
        falls: Between which looks they fall through zero.
        turns: Between which they turn and may fall unseen: they dip below zero and come back, or rise first.
        rises: Where they rise.
        clear: In which lanes they are seen well enough.
    """

    lanes: np.ndarray
    times: np.ndarray
    lifts: np.ndarray
    limits: np.ndarray
    asleep: np.ndarray
    falls: np.ndarray
    turns: np.ndarray
    rises: np.ndarray
    clear: np.ndarray

    @classmethod
    def at(
        cls,
        steps: Steps,
        lanes: np.ndarray,
        ends: np.ndarray,
        parts: int,
        rested: np.ndarray,
        lifts: np.ndarray,
        limits: np.ndarray,
    ) -> _Looks:
        """Looks between so many parts of each step."""
        shares = np.arange(parts + 1) / parts
        if rested.any():  # what rises from rest has no rate there that says so
            shares = np.concatenate([[0.0], SOON / parts, shares[1:]])
        start = steps.t[lanes]
        times = start + np.multiply.outer(shares, ends - start)
        times[-1] = ends
        found = steps.guards(times.ravel(), np.tile(lanes, shares.size))
        values, rates = (e.reshape(-1, shares.size, lanes.size) for e in found)
        values = values + lifts[:, None]
        even = np.r_[0, shares.size - parts : shares.size]
        watched = (~rested | moving(values, (ends - start) * rates, limits))[:, None]
        missed = excess(values[:, even], rates[:, even], (ends - start) / parts) > limits[:, None]
        on_zero = np.logical_and.accumulate(np.abs(values) <= limits[:, None], axis=1)
        asleep = on_zero & rested[:, None]
        above, rises = np.where(asleep, False, values > 0), rates > 0
        falls = above[:, :-1] & (values[:, 1:] <= 0) & watched
        dips = above[:, :-1] & (values[:, 1:] > 0) & ~rises[:, :-1]
        humps = rises[:, :-1] & (values[:, 1:] <= 0)
        turns = (dips | humps) & (rates[:, :-1] * rates[:, 1:] < 0) & watched & ~asleep[:, 1:]
        return cls(
            lanes=lanes,
            times=times,
            lifts=lifts,
            limits=limits,
            asleep=asleep,
            falls=falls,
            turns=turns,
            rises=rises,
            clear=~(missed & watched).any(axis=(0, 1)),
        )
