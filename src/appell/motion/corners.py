"""Corners that a power series does not see: a square root whose argument touches zero.

The length sqrt(r.r) of a vector that passes through zero (a spring through its anchor, the velocity of what is thrown
straight up) is |s| along a straight line, and its series goes on as s. A leg is cut a hair before such a place and goes
over it in a straight line; the next one starts on the other side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from appell.motion.arrival import Approach
from appell.motion.flow import WIDE, Flow
from appell.motion.leg import BROKEN, End, Leg, Task
from appell.motion.stretch import Stretch

LOOKS = 16  # parts of a step in which a lowest value is looked for
LOW = 0.02  # a lowest value there, as a share of those at the ends of the step, below which it may be zero
TOUCH = 1e-12  # the same where it is: a series that sees a near miss takes shorter steps
ARRIVED, LOST = 1e-24, 1e-8  # the same over a whole leg that ended there, and over a run
HAIR = 1e-10  # the way over a corner, as a share of the time it took to come near
SMOOTH = 1e-6  # how much more than straight ahead the state may change on that way
CLOSER = 40  # steps of the false position at most
ASIDE = 1e-6  # where slopes are taken, as a share of a step
BEND = 1e-3  # the same, as a share of the way over a corner
FAR, NEAR = np.linspace(1, 0.1, 10), np.geomspace(1e-2, 1e-8, 4)  # shares of a stretch before its end, to look at rates
BOUNDED = 10.0  # how much rates may grow till a run ends


@dataclass(frozen=True, eq=False)
class Corner:
    """A place where the argument of a root comes to zero.

    Attributes:
        t, x: When, and the state there.
        since: From when on it goes straight there.
        half: How long the way over it is behind.
        rate: x' on the way there.
        rests: Whether the motion rests there.
    """

    t: float
    x: np.ndarray
    since: float
    half: float
    rate: np.ndarray
    rests: bool


def first_corner(task: Task, leg: Leg, exact: bool) -> Corner | None:
    """The first corner of a leg, if it has one; arguments as for `over_the_first_corner`."""
    arrival, touched = _arrival(task, leg), _touched(task, leg) if exact else None
    return arrival if touched is None or (arrival is not None and arrival.t < touched.since) else touched


def over_the_first_corner(task: Task, leg: Leg, exact: bool) -> Leg:
    """The leg up to its first corner and over it, or the leg itself if it has none.

    What is driven back from behind the corner as well rests there: what friction stops in a plane.

    Args:
        task: What was asked for.
        leg: The leg.
        exact: Whether it goes on to a corner as if there were none, or else goes over it or breaks off next to it.
    """
    corner = first_corner(task, leg, exact)
    if corner is None or corner.since <= leg.times[0]:
        return leg
    behind = corner.t + corner.half
    if behind >= task.t1:
        return leg
    x = leg.dense(np.array([corner.since]))[:, 0]
    turned = task.f(behind, corner.x + corner.half * corner.rate)
    if not np.all(np.isfinite(turned)):  # the root has no value beyond: what flows by it has come to its end
        return _straight_on(leg, corner.since, corner.t, corner.x, End.NOT_FINITE)
    change = corner.half * np.max(np.abs(turned - corner.rate))
    if not (corner.rests or change < SMOOTH * max(1.0, float(np.max(np.abs(x))))):
        return leg  # no corner: what is singular there is not bounded
    cut = _straight_on(leg, corner.since, behind, corner.x + corner.half * turned, End.CORNER)
    if task.flow.count:
        now = task.guards(behind, cut.final)
        falls = (task.guards(corner.since, x) + task.lifts > 0) & (now + task.lifts <= 0) & (not corner.rests)
        # A kink that the root only touches has been reached as well: a tank that empties by Torricelli's law.
        falls[task.events :] |= ((now <= task.limits) & (task.guards(task.t0, task.x0) > task.limits))[task.events :]
        if falls.any():
            return replace(cut, end=End.GUARD, guard=int(np.argmax(falls)))
    return _straight_on(leg, corner.since, corner.t, corner.x, End.REST) if corner.rests else cut


def _arrival(task: Task, leg: Leg) -> Corner | None:
    """Where a leg rests, or where a root comes to zero beside which it breaks off."""
    found = Approach(task).arrival(leg.times, leg.dense, broken=leg.end in BROKEN)
    if found is None:
        return None
    beside, arrival = found
    if not (arrival.rests[0] or (arrival.comes[0] and leg.end in BROKEN)):
        return None
    (*x, t), way = arrival.there[:, 0], (arrival.behind - arrival.there)[:, 0]
    if not way[-1] > 0:  # too short a time to be told
        return None
    since = min(beside, float(arrival.near[0]))
    return Corner(float(t), np.array(x), since, float(way[-1]), way[:-1] / way[-1], bool(arrival.rests[0]))


def _straight_over(task: Task, leg: Leg, root: int, t: float, since: float) -> Corner:
    """The corner at a time at which an exact leg touches zero or ends on it, and whether it would fall back from it."""
    half = max(HAIR * (t - since), 64 * float(np.spacing(abs(t))))
    x = leg.dense(np.array([t - half]))[:, 0]
    rate = task.f(t - half, x)
    with np.errstate(invalid="ignore"):  # where the root is nothing but rounding it goes on as something singular
        bend = (task.f(t - half + BEND * half, x + BEND * half * rate) - rate) / (BEND * half)
    there, approach = x + half * rate + half**2 / 2 * bend, Approach(task)
    look = approach.look(np.arange(approach.count) == root, task.inputs(t, there))
    past = np.append(there + half * rate, t + half)[:, None]
    return Corner(t, there, t - half, half, rate, bool(look(past, np.zeros(1, dtype=int))[2][0] > 0))


def _straight_on(leg: Leg, before: float, until: float, final: np.ndarray, end: End) -> Leg:
    """The leg up to a time, and from there straight to another state."""
    x = leg.dense(np.array([before]))[:, 0]

    def dense(t: np.ndarray) -> np.ndarray:
        t = np.clip(np.atleast_1d(t), leg.times[0], until)
        share = (t - before) / (until - before)
        return np.where(t < before, leg.dense(np.minimum(t, before)), x[:, None] + share * (final - x)[:, None])

    times = np.array([*leg.times[leg.times < before], before, until])
    return replace(leg, times=times, final=final, dense=dense, end=end, guard=-1, steps=times.size - 1)


def _touched(task: Task, leg: Leg) -> Corner | None:
    """Where the argument of a root first touches zero, or comes to it at the end of a leg."""
    times = leg.times
    if task.flow.roots is None or times.size < 2:
        return None
    a, steps = _arguments(task, leg, times), np.diff(times)
    # Within the steps: between two of them a state may have been moved back onto its constraints.
    shares = np.array([ASIDE, 2 * ASIDE, 1 - 2 * ASIDE, 1 - ASIDE])
    first, second, third, last = np.moveaxis(_arguments(task, leg, times[:-1, None] + np.outer(steps, shares)), 2, 0)
    which, step = np.nonzero((last > third) & ~(second > first))
    if which.size:
        inner = times[step][:, None] + steps[step][:, None] * np.arange(1, LOOKS) / LOOKS
        high = np.maximum(a[which, step], a[which, step + 1])
        low = _own(_arguments(task, leg, inner), which).min(axis=1) < LOW * high
        which, step, high = which[low], step[low], high[low]
    if which.size:
        lowest = _lowest(task, leg, which, times[step], steps[step])
        touching = _own(_arguments(task, leg, lowest), which) <= TOUCH * high
        if touching.any():
            k = int(np.argmin(np.where(touching, lowest, np.inf)))
            t = float(lowest[k])
            return _straight_over(task, leg, int(which[k]), t, t - float(steps[step[k]]))
    top = a.max(axis=1)
    if leg.end is not End.REACHED and (here := a[:, -1] <= ARRIVED * top).any():
        i = int(np.argmax(here))
        return _straight_over(task, leg, i, float(times[-1]), float(times[a[i] > LOW * top[i]][-1]))
    return None


def _lowest(task: Task, leg: Leg, which: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """When arguments are lowest within a step each: zeros of their slopes by the false position (Illinois)."""
    aside = ASIDE * length

    def slope(t: np.ndarray) -> np.ndarray:
        both = _own(_arguments(task, leg, np.column_stack([t - aside, t + aside])), which)
        return both[:, 1] - both[:, 0]

    left, right = start + aside, start + length - 2 * aside  # within the step, also for slopes
    falls, rises = slope(left), slope(right)
    middle = left
    for _ in range(CLOSER):
        middle = np.where(falls < rises, left - falls * (right - left) / np.maximum(rises - falls, 1e-300), left)
        now = slope(middle)
        if np.all(np.minimum(middle - left, right - middle) < 1e-12 * length):
            break
        falls, rises = np.where(now < 0, now, falls / 2), np.where(now < 0, rises / 2, now)
        left, right = np.where(now < 0, middle, left), np.where(now < 0, right, middle)
    return middle


def _own(values: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Of all arguments at the times of each, its own."""
    return values[which, np.arange(which.size)]


def _arguments(task: Task, leg: Leg, times: np.ndarray) -> np.ndarray:
    """The arguments of the roots at any times of a leg, the arguments first."""
    return arguments(task.flow, task.w, task.p, leg.dense, times)


def arguments(
    flow: Flow, w: np.ndarray, p: np.ndarray, dense: Callable[[np.ndarray], np.ndarray], times: np.ndarray
) -> np.ndarray:
    """The arguments of the roots of a flow at any times of its dense output, the arguments first."""
    t = times.ravel()
    x, parts = dense(t), []
    assert flow.roots is not None
    w, p = np.tile(w, WIDE), np.tile(p, WIDE)
    for start in range(0, t.size, WIDE):
        here = np.minimum(np.arange(start, start + WIDE), t.size - 1)
        parts += flow.roots(t[here], x[:, here].ravel("F"), w, p)
    return np.concatenate(parts, axis=1)[:, : t.size].reshape(-1, *times.shape)


def undirected(stretch: Stretch) -> bool:
    """Whether a motion ends where a length or a speed vanishes and leaves what is divided by it without a direction.

    Rates do not grow there, as they do next to a centre that attracts.
    """
    flow, t0, t1 = stretch.flow, stretch.times[0], stretch.times[-1]
    if flow is None or flow.roots is None or not t0 < t1:
        return False
    times = t1 - (t1 - t0) * np.append(FAR, NEAR)
    a = arguments(flow, stretch.w, stretch.p, stretch.dense, np.append(times, t1))
    states = zip(times, stretch.dense(times).T, strict=True)
    sizes = np.array([np.abs(flow.machine.flat(t, x, stretch.w, stretch.p)).max() for t, x in states])
    bounded = sizes[FAR.size :].max() < BOUNDED * sizes[: FAR.size].max()
    return bool(bounded and np.any(a[:, -1] <= LOST * a.max(axis=1)))
