"""An attempted step and what follows from it as one graph: accepted or not, the next step size, the reasons to stop.

A trajectory is a column V = (x, t, h, room, stalled, steps); a step is a function of V that gives the next V with a
status behind it. So a run calls one function again and again and has nothing else to do, and many runs side by side
are the same function over many columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

import casadi as ca

from appell.code.code import HUGE
from appell.graph.quick import Quick, choose, larger, root, smaller
from appell.motion.leg import CRAWL, CRAWLS, SHARE, STALL

SAFETY, SHRINK, GROW = 0.85, 0.2, 8.0
FASTER = 2.0  # a step grows at most so many times as much as the one before it did
HALF_WAY = 0.5  # how much of the way to where the speeds are dependent a step may go
NEAR = 3.0  # a step that might be so many times longer has nearly the right size
EPS = 2.0**-52


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
    PILED_UP = 9  # events follow each other ever faster
    MOVED = 10  # other kinks slide from here on
    ALONE = 11  # what happens next only a single run can say
    ARRIVING = 12  # a root may come to zero in the step, which was not made
    RESTS = 13  # it did, and every way from there leads back


BEHIND = ("t", "h", "room", "stalled", "steps")
"""Rows of V behind x; `room` is by how much h may grow: `GROW` at first, 1 only right after a rejected step."""
SETTINGS = ("rtol", "atol", "end", "most", "calm")
"""Numbers of a run behind w and p: tolerances, where to stop, steps at most, growth below which speeds are calm."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Attempt:
    """A step of size min(h, end - t), and what its error says.

    Attributes:
        x, t, left: The state it begins with, its time, and the time left.
        new, later: The state it leads to, and its time.
        accepted, finite, reached: Whether the error is small enough, is a number, and the end is reached.
        h_next, room: The size to try next, and by how much it may grow then.
    """

    x: ca.SX
    t: ca.SX
    left: ca.SX
    new: ca.SX
    later: ca.SX
    accepted: ca.SX
    finite: ca.SX
    reached: ca.SX
    h_next: ca.SX
    room: ca.SX

    @classmethod
    def of(
        cls,
        step: ca.Function,
        V: tuple[ca.SX, ca.SX, ca.SX, ca.SX],
        numbers: tuple[ca.SX, ca.SX],
        tolerances: tuple[ca.SX, ca.SX],
        end: ca.SX,
        growth: ca.Function | None,
    ) -> Attempt:
        """The attempt by a step (t, x, w, P) -> (x1, error).

        Where the speeds become dependent the equations have a pole. A step that goes most of the way to it may be wrong
        by far more than its error says, so none goes further than half way.

        The estimate of the error passes through zero here and there, along the motion and as a function of h. Where it
        nearly vanishes for a step of size h, it vanishes again for one of about 4 h right behind it, which may be wrong
        by orders. So a lucky step is not taken at its word: h grows at most `FASTER` times as much as it did before.

        Args:
            step: The step.
            V: x, t, h, and by how much h may grow.
            numbers: w and p.
            tolerances: Relative and absolute.
            end: Where to stop.
            growth: How strongly the speeds grow into rates, if velocities are dependent.
        """
        (x, *others), (w, p) = V, numbers
        t, h, room, until = (Quick(e) for e in (*others, end))
        left = until - t
        trial = smaller(h, left)
        new, error = step(t.graph, x, w, ca.vertcat(p, trial.graph, *tolerances))
        error = abs(Quick(error))
        if growth is not None:
            way = 1.0 - Quick(growth(t.graph, x, w, p)) / growth((t + trial).graph, new, w, p)
            excess = larger(0.0, way) / HALF_WAY
            for _ in range(3):  # its eighth power, of which the step size takes the root
                excess = excess * excess
            error = larger(error, excess)
        size = Quick(ca.sum1(abs(Quick(new)).graph))
        finite = (error < HUGE) & (size < HUGE)
        accepted = (error < 1) & (size < HUGE)
        # error^(-1/8) without a logarithm.
        wish = SAFETY / root(root(root(larger(error, 1e-200))))
        # A size that is nearly right is changed by half of the wish, on a logarithmic scale: far fewer steps are
        # rejected then, and errors are smaller for less work.
        factor = smaller(room, larger(SHRINK, choose(wish > NEAR, wish, root(SAFETY * wish))))
        reached = accepted & (trial >= left)
        shrunk = trial * choose(finite, larger(SHRINK, smaller(1.0, wish)), 0.1)
        later = choose(reached, until, t + trial)
        h_next = choose(accepted, h * factor, shrunk)
        more = choose(accepted, smaller(GROW, FASTER * larger(1.0, factor)), 1.0)
        return cls(
            x=x,
            t=t.graph,
            left=left.graph,
            new=new,
            later=later.graph,
            accepted=accepted.graph,
            finite=finite.graph,
            reached=reached.graph,
            h_next=h_next.graph,
            room=more.graph,
        )

    def outcome(
        self,
        moved: ca.SX,
        stalled: ca.SX,
        steps: ca.SX,
        most: ca.SX,
        wishes: Sequence[tuple[ca.SX, Status]],
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
        accepted, finite, t, later, h = (
            Quick(e) for e in (self.accepted, self.finite, self.t, self.later, self.h_next)
        )
        made_good, left = later - t, Quick(self.left)
        moment = STALL * larger(abs(t), smaller(1.0, abs(t) + left))
        hardly, crawling = made_good <= moment, made_good <= CRAWL * smaller(abs(t), left)
        more = choose(hardly, Quick(stalled) + SHARE, choose(crawling, Quick(stalled) + 1, 0))
        count = choose(accepted, more, stalled)
        made = Quick(steps) + accepted
        status = Quick(ca.SX(int(Status.GOING)))
        limit, reached = ((made >= most).graph, Status.STEP_LIMIT), (self.reached, Status.REACHED)
        for condition, then in (limit, *wishes, reached, *ends):  # the last that holds counts
            status = choose(accepted & condition, int(then), status)
        status = choose(count > CRAWLS, int(Status.COLLAPSED), status)
        smallest = 4 * EPS * abs(t)
        lost = choose(finite, int(Status.COLLAPSED), int(Status.NOT_FINITE))
        floor = choose(finite, smallest, 1e3 * smallest)
        fails = ~accepted & ((h < floor) | (h < 1e-290))
        status = choose(fails, lost, status)
        after, place = choose(accepted, moved, self.x), choose(accepted, later, t)
        return ca.vertcat(*(e.graph for e in (after, place, h, Quick(self.room), count, made, status)))
