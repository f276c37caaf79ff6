r"""Where what is under a square root comes to zero, and whether a motion rests there.

Beside zero a length $r = \sqrt a$ that falls has no direction that a tolerance could tell, and steps of any method
tumble. The way there is smooth all the same in a time that is stretched so that r falls by e in each of its units,

$$ d(x, t)/ds = T (f, 1), \qquad T = -r/r'. $$

It is followed from the last step before a motion comes beside zero, by its tolerance. Where r comes down at a pace that
fades with it, as by viscous friction, zero is never reached. Where the way behind zero leads back as well, the motion
rests: what dry friction stops in a plane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import casadi as ca
import numpy as np

from appell.graph.kinks import roots
from appell.graph.numeric import Numeric
from appell.motion.dormand_prince import stages, stepped
from appell.motion.flow import WIDE, Flow
from appell.motion.leg import Task
from appell.once import once

LOOK = 64  # steps of a leg after which it may tumble; then after twice as many, and so on
WITHIN = 100.0  # times what the tolerance lets a root be off by: steps tumble at a few times that
TOLERANCE = 1e-10  # if none is given; no finer one is needed here
OVER = 0.1  # share of itself that is left of a root in a step that may go over zero
DEPTH = 1e-3  # share of that up to which r is followed
FADES = 0.5  # r' = -r^n comes to zero in time for n < 1, and does not for 1 and above: friction has 0 or 1
TRUE = 1e-3  # share by which the logarithm of r may miss what it falls by in a step
SHORTEST, LONGEST = 1e-3, 0.5  # steps in stretched time: what falls with r² is followed to 1e-5
GROW, SHRINK = 1.3, 0.5  # times a step behind one that was good, or not

Dense = Callable[[np.ndarray], np.ndarray]
Look = Callable[[np.ndarray, np.ndarray], Sequence[np.ndarray]]
"""Of columns (x, t) of some runs: d(x, t)/ds, r, -r', and the size of r by the tolerance."""


def sizes(a: ca.SX, x: ca.SX, rtol: ca.SX, atol: ca.SX) -> ca.SX:
    """How large roots are by the tolerance: up to 1 they are beside zero."""
    off = ca.fabs(ca.jacobian(a, x)) @ (atol + rtol * ca.fabs(x))
    return 2 * a / (WITHIN * off)


def entering(before: Any, after: Any, first: Any) -> Any:
    """Which roots come beside zero in a step, or go over it there; graphs or numbers.

    Args:
        before: Their sizes where it begins.
        after: Those where it ends.
        first: Whether it is the first one, so that nobody saw how they came there.
    """
    return (after <= 1) * ((before > 1) + first > 0) + (after < OVER * before) > 0


def approach_function(rhs: ca.Function) -> ca.Function | None:
    """(t, x, w, (p, rtol, atol, chosen)) -> d(x, t)/ds, (r, -r', share) of the chosen roots, shares of all of them.

    Several are taken together, r² being the sum of what is under them. None if no root depends on the state.
    """
    a = roots(rhs)
    if not a.numel():
        return None
    t, x, w, p = rhs.sx_in()
    rtol, atol, chosen = ca.SX.sym("rtol"), ca.SX.sym("atol"), ca.SX.sym("chosen", a.numel())
    f = rhs(t, x, w, p)
    squared = ca.dot(chosen, a)
    rate = ca.jtimes(squared, ca.vertcat(x, t), ca.vertcat(f, 1))
    r, shares = ca.sqrt(squared), sizes(a, x, rtol, atol)
    stretched = -2 * squared / rate * ca.vertcat(f, 1)
    seen = ca.vertcat(r, -rate / (2 * r), ca.mmax(ca.if_else(chosen, shares, 0)))
    arguments = [t, x, w, ca.vertcat(p, rtol, atol, chosen)]
    return ca.Function("approach", arguments, [ca.densify(e) for e in (stretched, seen, shares)], {"cse": True})


@dataclass(frozen=True, eq=False)
class Arrival:
    """Where motions come to zero: a column (x, t) for each of several runs.

    Attributes:
        comes: Which of them do.
        near: When they come beside it.
        there: Where it is.
        behind: As far behind it as they were followed before.
        rests: Which of them are led back from there as well.
    """

    comes: np.ndarray
    near: np.ndarray
    there: np.ndarray
    behind: np.ndarray
    rests: np.ndarray

    @classmethod
    def of(cls, look: Look, here: np.ndarray, through: bool = False) -> Arrival:
        """Of motions that are at columns (x, t) on their way to zero.

        Args:
            look: What is seen of them.
            here: The columns.
            through: Whether it matters also where they only pass: else they are not followed there.
        """
        with np.errstate(all="ignore"):
            now, every = here.copy(), np.arange(here.shape[1])
            slope, r, pace, share = (np.array(e) for e in look(now, every))
            near, above, faster = now[-1].copy(), r.copy(), pace.copy()
            back = through or look(now + 2 * slope, every)[2] > 0
            length = np.where((pace > 0) & back, LONGEST, 0.0)

            def go(which: np.ndarray, new: np.ndarray, by: Any, pacing: bool) -> np.ndarray:
                """Go on where r fell by what it should; returns where."""
                seen = look(new, which)
                good = np.abs(np.log(seen[1] / r[which]) + by) <= TRUE * by
                good &= (np.abs(np.log(seen[2] / pace[which])) <= TRUE * by) | (not pacing)
                gone = which[good]
                outside = share[gone] > 1
                now[:, gone], slope[:, gone] = new[:, good], seen[0][:, good]
                r[gone], pace[gone], share[gone] = (e[good] for e in seen[1:])
                first = gone[outside]
                near[first], above[first], faster[first] = now[-1, first], r[first], pace[first]
                return good

            while (going := np.flatnonzero((share > DEPTH) & (length > SHORTEST))).size:
                beside = going[share[going] <= 1]
                if beside.size:  # straight on, if it goes on as it does
                    go(beside, now[:, beside] + (1 - DEPTH) * slope[:, beside], -np.log(DEPTH), True)
                    going = going[share[going] > DEPTH]
                if not going.size:
                    break
                Y, h = now[:, going], length[going]
                new = stepped(Y, h, stages(lambda _, Y, which=going: look(Y, which)[0], 0.0, Y, h))
                good = go(going, new, h, False)
                length[going] = np.where(good, np.minimum(GROW * h, LONGEST), SHRINK * h)
            there = now + slope
            behind = 2 * there - now
            comes = (share <= DEPTH) & (pace > faster * (r / above) ** FADES)
            return cls(comes, near, there, behind, comes & (look(behind, every)[2] > 0))

    @classmethod
    def in_step(cls, look: Look, before: np.ndarray, after: np.ndarray, through: bool = False) -> Arrival:
        """Of motions in a step: from where it begins, or from where it ends if they do not come to zero from there."""
        found = cls.of(look, before, through)
        left = np.flatnonzero(~found.comes)
        if left.size:
            other = cls.of(lambda Y, which: look(Y, left[which]), after[:, left], through)
            for f in fields(cls):
                getattr(found, f.name)[..., left] = getattr(other, f.name)
        return found


class Approach:
    """How single runs come to zero.

    Args:
        task: A leg of one.
    """

    def __init__(self, task: Task) -> None:
        rtol = max(task.rtol or TOLERANCE, TOLERANCE)
        self._task, self._functions = task, _functions(task.flow)
        self._numbers = np.concatenate([task.p, [rtol, max(task.atol or rtol, TOLERANCE)]])

    @property
    def count(self) -> int:
        """How many roots depend on the state."""
        return 0 if self._functions is None else self._functions[0].shapes[2][0]

    def arrival(
        self, times: np.ndarray, dense: Dense, seen: int = 0, broken: bool = False
    ) -> tuple[float, Arrival] | None:
        """Where a leg that is beside zero at its end first rests, else where it last came to zero, and since when.

        Args:
            times: Step boundaries, first to last.
            dense: x at any of them.
            seen: Steps that were looked at before.
            broken: Whether it breaks off at its end, which may be on its way to zero.
        """
        if not self.count or times.size < 2 or not (broken or (self._shares(times[-1:], dense) <= 1).any()):
            return None
        shares = self._shares(times[seen:], dense)
        entered, found = entering(shares[:, :-1], shares[:, 1:], np.arange(seen, times.size - 1) == 0), None
        if broken and np.isfinite(shares[:, -1]).any():
            entered[np.nanargmin(shares[:, -1]), -1] = True
        for step in np.flatnonzero(entered.any(axis=0)):
            t = times[seen + step : seen + step + 2]
            states = dense(t)
            look = self.look(entered[:, step], self._task.inputs(t[1], states[:, 1]))
            ends = (np.append(states[:, i], t[i])[:, None] for i in (0, 1))
            found = float(t[1]), Arrival.in_step(look, *ends, broken)
            if found[1].rests[0]:
                break
        return found

    def rests(self, times: np.ndarray, dense: Dense, seen: int) -> bool:
        """Whether a leg has come to rest, so that further steps would tumble; arguments as for `arrival`."""
        found = self.arrival(times, dense, seen)
        return found is not None and bool(found[1].rests[0])

    def _shares(self, times: np.ndarray, dense: Dense) -> np.ndarray:
        """Sizes of the roots at some times, a row each."""
        assert self._functions is not None
        numeric, states = self._functions[1], dense(times)
        w = np.tile(self._task.inputs(float(times[-1]), states[:, -1]), WIDE)
        P = np.tile(np.append(self._numbers, np.zeros(self.count)), WIDE)
        found = []
        for start in range(0, times.size, WIDE):
            here = np.minimum(np.arange(start, start + WIDE), times.size - 1)
            found.append(numeric(times[here], states[:, here].ravel("F"), w, P)[2])
        return np.concatenate(found, axis=1)[:, : times.size]

    def look(self, chosen: np.ndarray, w: np.ndarray) -> Look:
        """What is seen of the chosen roots."""
        assert self._functions is not None
        numeric, P = self._functions[0], np.concatenate([self._numbers, chosen])

        def look(Y: np.ndarray, which: np.ndarray) -> Sequence[np.ndarray]:
            slope, seen, _ = numeric(Y[-1, 0], Y[:-1, 0], w, P)
            return slope, *seen

        return look


@once
def _functions(flow: Flow) -> tuple[Numeric, Numeric] | None:
    """The approach to zero at one moment and at many; None if there is no root."""
    function = approach_function(flow.rhs)
    return None if function is None else (Numeric(function), Numeric(function.map(WIDE)))
