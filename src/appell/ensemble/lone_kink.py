"""One kink that switches in many lanes, none of whose other kinks is near zero: settled for all of them at once.

The rule is that of `appell.motion.settling`, whose answer is at hand there: the mode whose flow leaves on its own side,
else sliding. Lanes of which it says more than that are left to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from appell.ensemble.lane_machine import LaneMachine
from appell.errors import StickingError
from appell.motion.flow import RESTING, resting
from appell.motion.modes import ONTO, Modes
from appell.motion.settling import NOWHERE


@dataclass(frozen=True, eq=False)
class Settled:
    """What became of lanes.

    Attributes:
        done: Which of them are settled; the others are as they were.
        x: Their states.
        mode: The mode of the kink.
    """

    done: np.ndarray
    x: np.ndarray
    mode: np.ndarray


@dataclass(eq=False)
class LoneKink:
    """A kink whose switching function does not depend on modes.

    Attributes:
        modes: All kinks.
        kink: Which one.
    """

    modes: Modes
    kink: int

    @classmethod
    def of(cls, modes: Modes, kink: int) -> LoneKink | None:
        """None where switching functions depend on modes."""
        modal = modes.modal
        return None if modal is None or ca.depends_on(modal.g, modal.s) else cls(modes, kink)

    def _machine(self, name: str, result: ca.SX) -> LaneMachine:
        m = self.modes.modal
        assert m is not None
        arguments = [ca.vertcat(m.x, m.t), ca.vertcat(m.w, m.p, m.s)]
        return LaneMachine(ca.Function(name, arguments, [ca.densify(result)], {"cse": True}), simd=False)

    @cached_property
    def _looks(self) -> LaneMachine:
        """All switching functions with `sizes`; the rates of this one in modes +1 and -1 and what they are made of."""
        m, i, switches = self.modes.modal, self.kink, self.modes.kept.switches(()).function
        assert m is not None
        own, all_of_them = [], []
        for mode in (1, -1):
            s = ca.SX(m.s)
            s[i] = mode
            g, rates, _, *made = switches(m.t, m.x, m.w, ca.vertcat(m.p, s))
            own.append(ca.vertcat(rates[i], made[1][i]))
            all_of_them = [g, *made]
        return self._machine("looks", ca.vertcat(*all_of_them, *own))

    @cached_property
    def _between(self) -> LaneMachine | None:
        """The mode while it slides; None if it cannot."""
        m = self.modes.modal
        assert m is not None
        try:
            switches = self.modes.kept.switches((self.kink,)).function
        except StickingError:
            return None
        return self._machine("between", switches(m.t, m.x, m.w, ca.vertcat(m.p, m.s))[2][self.kink])

    @cached_property
    def _onto(self) -> LaneMachine:
        """x moved onto the kink by one Newton step."""
        m = self.modes.modal
        assert m is not None
        g, slope = self.modes.kept.slope(self.kink).function(m.t, m.x, m.w, ca.vertcat(m.p, m.s))
        length = ca.dot(slope, slope)
        return self._machine("onto", m.x - ca.if_else(length > 0, g / length, 0) * slope)

    def settle(
        self, t: np.ndarray, x: np.ndarray, wp: np.ndarray, before: np.ndarray, mode: np.ndarray, seen: np.ndarray
    ) -> Settled:
        """States and modes with which lanes go on.

        Args:
            t: Times.
            x: States; a column for each lane, as of all that follow.
            wp: Inputs and parameters.
            before: Modes, none of which slides but perhaps that of this kink.
            mode: On which side of the kink each is now.
            seen: The largest size that every switching function had.
        """
        i, others = self.kink, np.arange(before.shape[0]) != self.kink
        P = np.concatenate([wp, before])
        slid = before[i] == 0
        moved = np.where(slid, self._onto.some(np.concatenate([x, t[None, :]]), P), x)
        V = np.concatenate([moved, t[None, :]])
        looks = self._looks.some(V, P)
        (up, of_up, down, of_down), (g, *made) = looks[-4:], np.split(looks[:-4], 3)
        limits = resting(seen, *made, t, self.modes.length)
        done = np.minimum(np.abs(up), np.abs(down)) > NOWHERE * np.maximum(of_up, of_down)
        done &= slid | (np.abs(g[i]) <= ONTO * limits[i])  # else an input jumped
        done &= (g[others] * before[others] > limits[others]).all(axis=0)
        sticks = (up < 0) & (down > 0)
        done &= sticks | (np.where(mode > 0, up, -down) > 0)
        if (done & sticks).any():
            P[P.shape[0] - before.shape[0] + i] = 0.0
            between = np.full(t.size, np.nan) if self._between is None else self._between.some(V, P)[0]
            done &= ~sticks | (np.abs(between) <= 1 + RESTING)
            near = sticks & (np.abs(g[i]) <= 2 * limits[i])
            moved = np.where(near, self._onto.some(V, P), moved)
        return Settled(done, moved, np.where(sticks, 0, mode))
