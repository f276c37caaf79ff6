"""An attempted step and what follows from it as one graph: accepted or not, the next step size, the reasons to stop.

A trajectory is a column V = (x, t, h, rejected, stalled, steps); a step is a function of V that gives the next V with a
status behind it. So a run calls one function again and again and has nothing else to do, and many runs side by side
are the same function over many columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import casadi as ca

from appell.motion.leg import STALL, STALLS

SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
NEAR = 3.0  # a step that might be so many times longer has nearly the right size
EPS = 2.0**-52
HUGE = 1e300


class Status(IntEnum):
    """What becomes of a trajectory after a step."""

    IDLE = -1  # there is none: a lane without a run
    GOING = 0
    REACHED = 1
    NOT_FINITE = 2
    COLLAPSED = 3
    STEP_LIMIT = 4
    RESTLESS = 5  # other dependent velocities may be better
    MASS_GONE = 6
    SINGULAR = 7
    SUSPECT = 8  # an event may be within the step, which was not made


BEHIND = ("t", "h", "rejected", "stalled", "steps")
"""Rows of V behind x."""


@dataclass(frozen=True, eq=False)
class Attempt:
    """A step of size min(h, end - t), and what its error says.

    Attributes:
        x, t: The state it begins with, and its time.
        new, later: The state it leads to, and its time.
        accepted, finite, reached: Whether the error is small enough, is a number, and the end is reached.
        h_next: The size to try next.
    """

    x: ca.SX
    t: ca.SX
    new: ca.SX
    later: ca.SX
    accepted: ca.SX
    finite: ca.SX
    reached: ca.SX
    h_next: ca.SX

    @classmethod
    def of(
        cls,
        step: ca.Function,
        V: tuple[ca.SX, ca.SX, ca.SX, ca.SX],
        numbers: tuple[ca.SX, ca.SX],
        tolerances: tuple[ca.SX, ca.SX],
        end: ca.SX,
    ) -> Attempt:
        """The attempt by a step (t, x, w, P) -> (x1, error).

        Args:
            step: The step.
            V: x, t, h, and whether the last attempt was rejected.
            numbers: w and p.
            tolerances: Relative and absolute.
            end: Where to stop.
        """
        (x, t, h, rejected), (w, p) = V, numbers
        trial = ca.fmin(h, end - t)
        new, error = step(t, x, w, ca.vertcat(p, trial, *tolerances))
        error = ca.fabs(error)
        size = ca.sum1(ca.fabs(new))
        finite = ca.logic_and(error < HUGE, size < HUGE)
        accepted = ca.logic_and(error < 1, size < HUGE)
        # error^(-1/8) without a logarithm.
        wish = SAFETY / ca.sqrt(ca.sqrt(ca.sqrt(ca.fmax(error, 1e-200))))
        # A size that is nearly right is changed by half of the wish, on a logarithmic scale: far fewer steps are
        # rejected then, and errors are smaller for less work.
        factor = ca.fmin(GROW, ca.fmax(SHRINK, ca.if_else(wish > NEAR, wish, ca.sqrt(SAFETY * wish))))
        reached = ca.logic_and(accepted, trial >= end - t)
        free = trial >= h  # the step was not cut short by the end
        grown = ca.if_else(free, h * ca.if_else(rejected > 0, ca.fmin(1.0, factor), factor), ca.fmax(h, trial * factor))
        shrunk = trial * ca.if_else(finite, ca.fmax(SHRINK, ca.fmin(1.0, wish)), 0.1)
        later = ca.if_else(reached, end, t + trial)
        h_next = ca.if_else(accepted, grown, shrunk)
        return cls(x, t, new, later, accepted, finite, reached, h_next)

    def outcome(
        self,
        moved: ca.SX,
        stalled: ca.SX,
        steps: ca.SX,
        most: ca.SX,
        wishes: Sequence[tuple[ca.SX, Status]] = (),
        ends: Sequence[tuple[ca.SX, Status]] = (),
    ) -> ca.SX:
        """The next V with its status.

        Args:
            moved: `new`, moved onto the constraints.
            stalled: Steps in a row that hardly moved time.
            steps: Accepted steps so far.
            most: How many there may be.
            wishes: Conditions on an accepted step that has not reached the end, with the status they give.
            ends: Conditions that count at the end as well.
        """
        accepted, t = self.accepted, self.t
        hardly = self.later - t <= STALL * ca.fmax(1.0, ca.fabs(t))
        count = ca.if_else(accepted, ca.if_else(hardly, stalled + 1, 0), stalled)
        made = steps + accepted
        status = ca.SX(int(Status.GOING))
        usual = (made >= most, Status.STEP_LIMIT), (self.reached, Status.REACHED)
        for condition, then in (*wishes, *usual, *ends):
            status = ca.if_else(ca.logic_and(accepted, condition), int(then), status)
        status = ca.if_else(count > STALLS, int(Status.COLLAPSED), status)
        smallest = 4 * EPS * ca.fabs(t)
        lost = ca.if_else(self.finite, int(Status.COLLAPSED), int(Status.NOT_FINITE))
        floor = ca.if_else(self.finite, smallest, 1e3 * smallest)
        fails = ca.logic_and(ca.logic_not(accepted), ca.logic_or(self.h_next < floor, self.h_next < 1e-290))
        status = ca.if_else(fails, lost, status)
        after, later = ca.if_else(accepted, moved, self.x), ca.if_else(accepted, self.later, t)
        return ca.vertcat(after, later, self.h_next, 1 - accepted, count, made, status)
