"""Kinks of many lanes: in which mode each of them is at a state, and which flow belongs to that.

The rules are those of single runs, `appell.motion.modes.Modes`; a lane is asked alone wherever a switching function is
on zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.ensemble.lane_machine import LaneMachine
from appell.ensemble.lone_kink import LoneKink
from appell.errors import StickingError
from appell.motion.events import Event
from appell.motion.flow import Flow, resting, sizes
from appell.motion.modes import Modes, guarded


@dataclass(eq=False)
class Kinks:
    """The kinks along the runs of a sweep, for every choice of speeds.

    Attributes:
        events: What the user looks for.
        located: Whether runs stop at kinks; else they step over them.
        length: Of the runs.
    """

    events: Sequence[Event]
    located: bool
    length: float
    _modes: dict[Code, Modes] = field(default_factory=dict)
    _sides: dict[Code, LaneMachine] = field(default_factory=dict)
    _lone: dict[tuple[Code, int], LoneKink | None] = field(default_factory=dict)

    def _of(self, code: Code) -> Modes:
        if code not in self._modes:
            self._modes[code] = Modes(code, self.events, self.length)
        return self._modes[code]

    def families(self, code: Code, modes: np.ndarray) -> dict[tuple[int, ...], np.ndarray]:
        """Lanes by the kinks that may slide in the flow that serves their modes, one column each."""
        if not modes.shape[0]:
            return {(): np.arange(modes.shape[1])}
        slides, place = np.unique(modes == 0, axis=1, return_inverse=True)
        found: dict[tuple[int, ...], list[int]] = {}
        for i, column in enumerate(slides.T):
            found.setdefault(self._of(code).family_of(~column), []).append(i)
        return {family: np.flatnonzero(np.isin(place.ravel(), i)) for family, i in found.items()}

    def flow(self, code: Code, family: tuple[int, ...]) -> Flow:
        """Smooth equations with guards where some kinks may slide."""
        modes = self._of(code)
        return modes.flow_of(family) if self.located else modes.crossing

    def name(self, code: Code, kink: int) -> str:
        """What happens at a kink, in words."""
        return self._of(code).name(kink)

    def start(self, code: Code, t: np.ndarray, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The modes of some lanes, one column each; a state that rests on a kink may be moved by rounding."""
        modal = self._of(code).modal
        if modal is None or not self.located:
            return np.zeros((0, t.size))
        if code not in self._sides:
            arguments = [ca.vertcat(modal.x, modal.t), ca.vertcat(modal.w, modal.p, modal.s)]
            looked_at = ca.vertcat(modal.g, *sizes(modal.g, modal.t, modal.x, modal.xdot, code.equations.iterated))
            self._sides[code] = LaneMachine(ca.Function("sides", arguments, [looked_at]), simd=False)
        found = np.ones((modal.s.numel(), t.size))
        g, *made = np.split(self._sides[code].some(np.concatenate([x, t[None, :]]), np.concatenate([w, p, found])), 3)
        found[g < 0] = -1
        off = np.abs(g) > resting(np.abs(g), *made, t, self.length)
        unclear = ~off.all(axis=0) | ca.depends_on(modal.g, modal.s)
        modes = self._of(code)
        for i in np.flatnonzero(unclear):
            with suppress(StickingError):  # the kernel of what cannot slide says so
                modes.start(float(t[i]), x[:, i], lambda *_, i=i: w[:, i], p[:, i])
            found[:, i] = modes.modes
        return found

    def switch(
        self,
        code: Code,
        t: np.ndarray,
        x: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        before: np.ndarray,
        fired: np.ndarray,
        seen: np.ndarray,
    ) -> np.ndarray:
        """The modes of some lanes whose guards fell through zero; a state may be moved by rounding.

        Args:
            code: The equations.
            t: Times.
            x: States.
            w: Inputs.
            p: Parameters.
            before: Their modes so far.
            fired: Which guards fell, those of events first; one column for each lane.
            seen: The largest size that every switching function had.
        """
        found, modes, slides = before.copy(), self._of(code), before == 0
        owner, side = guarded(before.shape[0], modes.family_of(before[:, 0]))
        kinks, alone = fired[fired.shape[0] - owner.size :], np.ones(t.size, dtype=bool)
        for guard in np.flatnonzero(kinks.any(axis=1)):
            kink = int(owner[guard])
            lone, others = self._lone_kink(code, kink), np.delete(slides, kink, axis=0).any(axis=0)
            here = np.flatnonzero(kinks[guard] & (kinks.sum(axis=0) == 1) & ~others)
            if lone is None or not here.size:
                continue
            mode = np.where(slides[kink, here], 1 - 2 * side[guard], -before[kink, here])
            wp = np.concatenate([w[:, here], p[:, here]])
            settled = lone.settle(t[here], x[:, here], wp, before=before[:, here], mode=mode, seen=seen[:, here])
            done = here[settled.done]
            x[:, done], found[kink, done] = settled.x[:, settled.done], settled.mode[settled.done]
            alone[done] = False
        for i in np.flatnonzero(alone):
            modes.modes[:], modes.seen[:] = before[:, i], seen[:, i]
            owners = [modes.owner(int(k)) for k in np.flatnonzero(fired[:, i])]
            switched = [(which, side) for kind, which, side in owners if kind == "kink"]
            with suppress(StickingError):
                modes.switch(switched, float(t[i]), x[:, i], lambda *_, i=i: w[:, i], p[:, i])
            found[:, i] = modes.modes
        return found

    def _lone_kink(self, code: Code, kink: int) -> LoneKink | None:
        """A kink by itself, made once; None where it cannot be settled for many lanes at once."""
        if (code, kink) not in self._lone:
            self._lone[code, kink] = LoneKink.of(self._of(code), kink)
        return self._lone[code, kink]
