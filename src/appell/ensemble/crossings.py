"""Events of many lanes: the first guard of each that falls through zero within its step, found for all at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from appell.motion.dop853 import interpolate
from appell.motion.stepping import LOOKS, SHARES

Guards = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def roots(f: Callable[[np.ndarray], np.ndarray], a: np.ndarray, b: np.ndarray, tolerance: np.ndarray) -> np.ndarray:
    """Zeros of functions side by side, each between its a and b: Chandrupatla's method (1997).

    A zero that is found stays as it is while others are looked for.
    """
    a, b = a.copy(), b.copy()
    fa, fb = f(a), f(b)
    c, fc, share = a.copy(), fa.copy(), np.full(a.shape, 0.5)
    best, found = np.where(np.abs(fa) < np.abs(fb), a, b), np.zeros(a.shape, dtype=bool)
    for _ in range(120):
        x = a + share * (b - a)
        fx = f(x)
        same = np.sign(fx) == np.sign(fa)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        best = np.where(found, best, np.where(np.abs(fa) < np.abs(fb), a, b))
        width = np.abs(b - a)
        found |= (width <= tolerance) | (fa == 0) | (fb == 0)
        if found.all():
            break
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.minimum(0.5, 0.5 * tolerance / np.maximum(width, 1e-300))
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            quick = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
            guess = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        share = np.where(quick & np.isfinite(guess), guess, 0.5)
        share = np.clip(share, limit, 1 - limit)
    return best


class Steps:
    """The dense output of one step of each of some lanes, and guards along it.

    Args:
        t, h, x: Where each step begins, how long it is, and the states there.
        columns: The seven columns of its dense output, of shape (7, n, lanes).
        guards: g and g' of (times, states, lanes).
    """

    def __init__(self, t: np.ndarray, h: np.ndarray, x: np.ndarray, columns: np.ndarray, guards: Guards) -> None:
        self.t, self.h, self.x, self.columns, self._guards = t, h, x, columns, guards

    def states(self, times: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """x at one time of each of some lanes."""
        share = (times - self.t[lanes]) / self.h[lanes]
        return interpolate(self.columns[:, :, lanes], self.x[:, lanes], share)

    def guards(self, times: np.ndarray, lanes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """g and g' at one time of each of some lanes."""
        return self._guards(times, self.states(times, lanes), lanes)

    def first_crossings(self, ends: np.ndarray, lifts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each lane the first time up to its end at which a guard falls through zero, and which; inf if none.

        Args:
            ends: Where each step ends.
            lifts: What is added to the guards, as `appell.motion.leg.Task.lifts`, of shape (guards, lanes).
        """
        lanes = np.arange(self.t.size)
        looks = np.linspace(self.t, ends, LOOKS + 1)
        values, rates = self.guards(looks.ravel(), np.tile(lanes, LOOKS + 1))
        values, rates = (e.reshape(-1, LOOKS + 1, lanes.size) for e in (values, rates))
        values = values + lifts[:, None, :]
        g, later = values[:, :-1], values[:, 1:]
        found, which = np.full(lanes.size, np.inf), np.full(lanes.size, -1)
        falls = (g > 0) & (later <= 0)
        turns = ((g > 0) == (later > 0)) & (rates[:, :-1] * rates[:, 1:] < 0)
        guard, lane = np.argwhere((lifts > 0) & (values[:, 0] <= 0)).T  # kinks that were moved there between two steps
        found[lane], which[lane] = self.t[lane], guard
        suspect = np.argwhere((falls | turns) & np.isfinite(lifts)[:, None, :] & np.isinf(found))
        if not suspect.size:
            return found, which
        guard, look, lane = suspect.T
        a, b = looks[look, lane], looks[look + 1, lane]
        fine = 1e-15 * np.maximum(1.0, np.abs(ends[lane]))
        turning = turns[guard, look, lane]
        if turning.any():  # between two looks a guard may dip below zero and come back, or rise above it and fall
            k = np.flatnonzero(turning)
            turn = roots(lambda s: self.guards(s, lane[k])[1][guard[k], np.arange(k.size)], a[k], b[k], fine[k])
            at_turn = self.guards(turn, lane[k])[0][guard[k], np.arange(k.size)] + lifts[guard[k], lane[k]]
            above = g[guard[k], look[k], lane[k]] > 0
            a[k], b[k] = np.where(above, a[k], turn), np.where(above, turn, b[k])
            real = np.ones(look.size, dtype=bool)
            real[k] = np.where(above, at_turn <= 0, at_turn > 0)
            guard, look, lane, a, b, fine = (e[real] for e in (guard, look, lane, a, b, fine))
        if not lane.size:
            return found, which
        root = self._zeros(guard, lane, a, b, fine, lifts[guard, lane])
        lifted = np.flatnonzero(lifts[guard, lane])
        if lifted.size:
            root[lifted] = self._fallen(guard[lifted], lane[lifted], root[lifted], lifts[guard, lane][lifted])
        order = np.lexsort((guard, root, lane))
        leading = order[np.unique(lane[order], return_index=True)[1]]
        found[lane[leading]], which[lane[leading]] = root[leading], guard[leading]
        return found, which

    def _zeros(
        self, guard: np.ndarray, lane: np.ndarray, a: np.ndarray, b: np.ndarray, fine: np.ndarray, lift: Any = 0.0
    ) -> np.ndarray:
        """Where a guard each, lifted by so much, vanishes between a and b."""
        return roots(lambda s: self.guards(s, lane)[0][guard, np.arange(lane.size)] + lift, a, b, fine)

    def _fallen(self, guard: np.ndarray, lane: np.ndarray, ends: np.ndarray, limits: np.ndarray) -> np.ndarray:
        """Where guards that rested on zero fall through it, else the ends: `appell.motion.stepping.fallen` of many."""
        times = self.t[lane] + np.outer(SHARES, ends - self.t[lane])
        count = SHARES.size
        values = self.guards(times.ravel(), np.tile(lane, count))[0]
        values = values[np.tile(guard, count), np.arange(times.size)].reshape(times.shape)
        up = np.argmax(values > limits, axis=0)
        falls = (values <= 0) & (np.arange(count)[:, None] > up) & (values > limits).any(axis=0)
        k, down, found = np.flatnonzero(falls.any(axis=0)), np.argmax(falls, axis=0), ends.copy()
        if k.size:
            a, b = times[down[k] - 1, k], times[down[k], k]
            found[k] = self._zeros(guard[k], lane[k], a, b, 1e-15 * np.maximum(1.0, np.abs(ends[k])))
        return found
