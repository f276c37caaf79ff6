"""Settling: the modes with which a motion goes on from a state where kinks switch.

A mode is right beside the others if its switching function is on its side, or is zero and moves to that side in the
flow of all of them; what slides is right while its mode in between is between -1 and 1. Modes are changed one at a
time, the first that is wrong, until all are right: for dry friction Murty's rule for complementarity problems (1974).
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from appell.errors import StickingError
from appell.motion.flow import RESTING, Inputs

if TYPE_CHECKING:
    from appell.motion.modes import Modes

MANY = 7  # kinks on zero at once of which all modes are tried
NOWHERE = 1e-12  # a rate of a switching function, as a share of what it is made of, that counts as zero
AHEAD = 1e-5  # share of a run to look ahead where a switching function and its rate are both zero,
SOON = 1e-3  # and at most this share of the time in which the flow may change it
NOWHERE_AHEAD = 1e-10  # a rate over that while that counts as zero


def slide_of(modes: np.ndarray) -> tuple[int, ...]:
    """Which kinks slide."""
    return tuple([i for i, mode in enumerate(modes.tolist()) if mode == 0])


class Place:
    """A state at which modes are looked for.

    Args:
        owner: The kinks; their modes are changed.
        t: Time.
        x: The state; it may be moved by rounding.
        inputs: Values of the inputs.
        p: Parameters.
    """

    def __init__(self, owner: Modes, t: float, x: np.ndarray, inputs: Inputs, p: np.ndarray) -> None:
        self.owner, self.t, self.x, self.inputs, self.p = owner, t, x, inputs, p
        self._rests: set[int] = set()  # kinks on which the motion stays in the mode found for them
        self._known: dict[bytes, list[np.ndarray]] = {}  # what was seen here, by modes

    def settle(self, limits: np.ndarray, was: np.ndarray | float = 0.0, jumped: np.ndarray | None = None) -> np.ndarray:
        """Change the modes until every one of them is right; returns on which kinks the motion stays.

        Args:
            limits: How far from zero a switching function is that counts as zero.
            was: Where that zero is: what was on a kink is off it only if it has jumped since.
            jumped: Kinks at which an input jumped: they stay as they are.
        """
        modes, before, met = self.owner.modes, self.owner.modes.copy(), set()
        jumped = np.zeros(modes.size, dtype=bool) if jumped is None else jumped
        while (wrong := self._first_wrong(modes, limits, was, jumped)) is not None:
            met.add(tuple(modes.tolist()))
            modes[wrong[0]] = wrong[1]
            if tuple(modes.tolist()) in met:  # in a circle
                self._search(limits, was, jumped)
                break
        for i in slide_of(modes):
            self.owner.refuse_to_stick(i)
        self._lay(modes, before, limits)
        return (modes == 0) | np.isin(np.arange(modes.size), list(self._rests))

    def _search(self, limits: np.ndarray, was: np.ndarray | float, jumped: np.ndarray) -> None:
        """Try all modes of the kinks on zero, those with the fewest changes first; as they are if none is right."""
        modes = self.owner.modes.copy()
        free = np.flatnonzero((np.abs(self.look(modes)[0] - was) <= limits) & ~jumped)[:MANY]
        trials = np.tile(modes, (3**free.size, 1))
        trials[:, free] = np.array(list(product((0, 1, -1), repeat=free.size)))
        for trial in trials[np.argsort((trials != modes).sum(axis=1), kind="stable")]:
            with suppress(StickingError):  # these cannot slide together
                if self._first_wrong(trial, limits, was, jumped) is None:
                    modes[:] = trial
                    break
        self.owner.modes[:] = modes

    def rest_below(self, limits: np.ndarray) -> None:
        """Put kinks on zero into mode -1 where the motion rests on them in both."""
        modes = self.owner.modes
        for i in np.flatnonzero(np.abs(self.look(modes)[0]) <= limits):
            if not any(self._directions(int(i), modes)):
                modes[i] = -1

    def look(self, modes: np.ndarray) -> list[np.ndarray]:
        """The switching functions, their rates, the modes, in between for those that slide, and `flow.sizes`."""
        key = modes.tobytes()
        if key not in self._known:
            self._known[key] = self._look(modes, self.t, self.x)
        return self._known[key]

    def _look(self, modes: np.ndarray, t: float, x: np.ndarray) -> list[np.ndarray]:
        try:
            machine = self.owner.kept.switches(self.owner.family_of(modes))
        except StickingError:
            self.owner.modes[:] = modes  # the kinks that cannot slide together
            raise
        return [e[:, 0].copy() for e in machine(t, x, self.inputs(t, x), np.concatenate([self.p, modes]))]

    def _first_wrong(
        self, modes: np.ndarray, limits: np.ndarray, was: np.ndarray | float, jumped: np.ndarray
    ) -> tuple[int, int] | None:
        """The first kink whose mode is wrong beside the others, and its right one."""
        g, _, between, *_ = self.look(modes)
        off, order = np.abs(g - was) > limits, list(range(modes.size))
        order.sort(key=lambda i: modes[i] != 0 or bool(np.isfinite(between[i])))  # else nothing is known of the others
        for i in order:
            if off[i]:
                right = 1 if g[i] > 0 else -1
            elif jumped[i] or (modes[i] == 0 and abs(between[i]) <= 1 + RESTING):
                continue
            else:
                right = self._right(i, modes)
            if right != modes[i]:
                return i, right
        return None

    def _right(self, i: int, modes: np.ndarray) -> int:
        """The mode of a kink at g = 0: the one whose flow leaves on its own side, else sliding."""
        up, down = self._directions(i, modes)
        self._rests.discard(i)
        if up < 0 < down:
            return 0
        if up > 0 > down:  # both leave: stay with the mode it has
            return int(modes[i]) or 1
        right = 1 if up > 0 or (up == 0 and down > 0) else -1
        if up == down == 0:
            right = int(modes[i]) or -1
        if not (up, down)[right < 0]:
            self._rests.add(i)
        return right

    def _directions(self, i: int, modes: np.ndarray) -> list[int]:
        """Where g_i moves from zero in the modes +1 and -1: up, down, or nowhere."""
        trials = [modes.copy(), modes.copy()]
        for mode, trial in zip((1, -1), trials, strict=True):
            trial[i] = mode
        rates = [float(self.look(trial)[1][i]) for trial in trials]
        haste = max(float(self.look(trial)[4][i]) for trial in trials)
        found = []
        for rate, trial in zip(rates, trials, strict=True):
            small = NOWHERE * haste
            if abs(rate) <= small:
                rate, small = self._ahead(i, trial), NOWHERE_AHEAD * haste
            found.append(0 if not abs(rate) > small else 1 if rate > 0 else -1)
        return found

    def _ahead(self, i: int, modes: np.ndarray) -> float:
        """How fast g_i moves over a short while, by one step of the midpoint rule."""
        t, x, w, values = self.t, self.x, self.inputs(self.t, self.x), np.concatenate([self.p, modes])
        flow, h = self.owner.flow_of(self.owner.family_of(modes)), AHEAD * self.owner.length
        J = flow.jacobian_machine(t, x, w, values)[0]
        pace = float(np.abs(np.linalg.eigvals(J)).max()) if np.isfinite(J).all() else 0.0
        h = min(h, SOON / pace) if pace > 0 else h
        half = x + h / 2 * flow.machine.flat(t, x, w, values)
        end = x + h * flow.machine.flat(t + h / 2, half, self.inputs(t + h / 2, half), values)
        return float(self._look(modes, t + h, end)[0][i] - self.look(modes)[0][i]) / h

    def keep(self) -> None:
        """Move x, by what errors of integration have left, onto the kinks along which it slides."""
        for i in slide_of(self.owner.modes):
            self._move(i, self.owner.modes, (1.0,))

    def _lay(self, modes: np.ndarray, before: np.ndarray, limits: np.ndarray) -> None:
        """Move x, by rounding only, onto the kinks it will slide along, and to the side of those it rests on.

        The condition itself says the same then as its mode.
        """
        slides = [i for i in slide_of(modes) if before[i] != 0]
        for i in (*slides, *sorted(i for i in self._rests if modes[i] != 0)):
            if abs(self.look(modes)[0][i]) <= 2 * limits[i]:
                self._move(i, modes, (1.0,) if i in slides else (1.0, 2.0, 4.0))

    def _move(self, i: int, modes: np.ndarray, reaches: tuple[float, ...]) -> None:
        """Newton steps of x, straight to g_i = 0 or so many times as far, until it is not on the wrong side."""
        for reach in reaches:
            values = np.concatenate([self.p, self.look(modes)[2]])
            g, gradient = self.owner.kept.slope(i)(self.t, self.x, self.inputs(self.t, self.x), values)
            if not abs(g[0, 0]) > 0 or g[0, 0] * modes[i] > 0 or not gradient.any():
                break
            self.x -= reach * g[0, 0] / float(gradient[:, 0] @ gradient[:, 0]) * gradient[:, 0]
            self._known.clear()
