"""Corners that a power series does not see: a square root whose argument touches zero.

The length sqrt(r.r) of a vector that passes through zero (a spring through its anchor, the velocity of what is thrown
straight up) is |s| along a straight line, and its series goes on as s. A leg is cut a hair before such a place and goes
over it in a straight line; the next one starts on the other side.

Where every way out leads back, as for what friction stops in a plane, there is no other side: steps tumble to and fro
beside zero, and would up to any limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from appell.motion.flow import WIDE, Flow
from appell.motion.leg import BROKEN, End, Leg, Task
from appell.motion.stretch import Stretch

LOOKS = 16  # parts of a step in which a lowest value is looked for
LOW = 0.02  # a lowest value there, as a share of those at the ends of the step, below which it may be zero
TOUCH = 1e-12  # the same where it is: a series that sees a near miss takes shorter steps
ARRIVED, LOST = 1e-24, 1e-8  # the same over a whole leg that ended there, and over one that broke off
FAR_OFF, CLOSE_BY = 0.1, 1e-5  # shares of its largest value between which a root is seen to come down to zero
STEADY = 0.5  # share of its pace that it keeps from step to step as long as it comes down
ASTRAY = 1e-3  # share of that way by which its end may be missed
HAIR = 1e-10  # the way over a corner, as a share of the time it took to come near
SMOOTH = 1e-6  # how much more than straight ahead the state may change on that way
CLOSER = 40  # steps of the false position at most
ASIDE = 1e-6  # where slopes are taken, as a share of a step
LOOK = 512  # steps of a leg after which it may tumble; then after twice as many, and so on
TUMBLES = 256  # steps in a row that do,
BESIDE = 0.03  # all of them beside zero, at most this share of its largest value,
MOSTLY = 0.9  # by the equations falling at so many of them,
UNFADED = 3.0  # on average so many times quicker than what had come down to there by fading would,
OFTEN = 4.0  # so long that it would have come to zero so many times
FAR, NEAR = np.linspace(1, 0.1, 10), np.geomspace(1e-2, 1e-8, 4)  # shares of a stretch before its end, to look at rates
BOUNDED = 10.0  # how much rates may grow till a run ends


@dataclass(frozen=True)
class _Corner:
    """A place where the argument of a root comes to zero.

    Attributes:
        root: Which one.
        t: When.
        half: How long the way over it is, on either side.
        since: From when on it goes straight there.
    """

    root: int
    t: float
    half: float
    since: float


def over_the_first_corner(task: Task, leg: Leg, exact: bool) -> Leg:
    """The leg up to its first corner and over it, or the leg itself if it has none.

    What tumbles, or is driven back from behind the corner as well, rests there: what friction stops in a plane.

    Args:
        task: What was asked for.
        leg: The leg.
        exact: Whether it goes on to a corner as if there were none, or else breaks off next to one.
    """
    tumbling = leg.end is End.REST
    corner = _first_corner(task, leg) if exact else None
    if corner is None and (leg.end in BROKEN or tumbling):
        corner = _arrival(task, leg)
    if corner is None:
        return leg
    before, behind = corner.since, corner.t + corner.half
    if before <= leg.times[0] or behind >= task.t1:
        return leg
    x = leg.dense(np.array([before]))[:, 0]
    left, rate = corner.t - before, task.f(before, x)
    bend = (task.f(before + ASTRAY * left, x + ASTRAY * left * rate) - rate) / (ASTRAY * left)
    there = x + left * rate + left**2 / 2 * bend
    if tumbling:
        return _straight_on(leg, before, corner.t, there, End.REST)
    past = there + corner.half * rate
    turned = task.f(behind, past)
    if not np.all(np.isfinite(turned)):  # the root has no value beyond: what flows by it has come to its end
        return _straight_on(leg, before, corner.t, there, End.NOT_FINITE)
    if not corner.half * np.max(np.abs(turned - rate)) < SMOOTH * max(1.0, float(np.max(np.abs(x)))):
        return leg  # no corner: what is singular there is not bounded
    cut = _straight_on(leg, before, behind, there + corner.half * turned, End.CORNER)
    if task.flow.count:
        now = task.guards(behind, cut.final)
        falls = (task.guards(before, x) + task.lifts > 0) & (now + task.lifts <= 0)
        # A kink that the root only touches has been reached as well: a tank that empties by Torricelli's law.
        falls[task.events :] |= ((now <= task.limits) & (task.guards(task.t0, task.x0) > task.limits))[task.events :]
        if falls.any():
            return replace(cut, end=End.GUARD, guard=int(np.argmax(falls)))
    soon = ASTRAY * corner.half
    times, states = np.array([corner.t, behind, behind + soon]), np.column_stack([there, past, past + soon * turned])
    at_it, beyond, later = arguments(task.flow, task.w, task.p, lambda _: states, times)[corner.root]
    return _straight_on(leg, before, corner.t, there, End.REST) if at_it < beyond > later else cut


def tumbles(task: Task, times: np.ndarray, dense: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Whether the last steps of a leg tumble beside a place where a root vanishes.

    The equations let the root fall at all of them, at a pace that does not fade beside zero, for so long that it would
    have come there many times over; but it stays where it is. What comes to rest smoothly slows down with what is left,
    and what swings or circles beside zero rises as often as it falls.

    Args:
        task: What was asked for.
        times: Step boundaries, first to last.
        dense: x at any of them.
    """
    if task.flow.roots is None or times.size <= TUMBLES:
        return False
    lengths = np.sqrt(np.maximum(arguments(task.flow, task.w, task.p, dense, times), 0.0))
    for i, r in enumerate(lengths):
        last, top = r[-TUMBLES:], float(r.max())
        if not 0 < last.max() <= BESIDE * top:
            continue
        far = int(np.flatnonzero(r > FAR_OFF * top)[-1])
        near = far + int(np.argmax(r[far:] <= BESIDE * top))
        span = times[near] - times[far]
        falls = -_rates(task, i, times[-TUMBLES:], dense(times[-TUMBLES:]), last, (r[far] - r[near]) / span)
        fading = (
            np.mean(last) * np.log(r[far] / max(r[near], LOST * top)) / span
        )  # of what slows down with what is left
        way = np.mean(falls) * (times[-1] - times[-TUMBLES])
        if np.mean(falls > 0) >= MOSTLY and np.mean(falls) >= UNFADED * fading and way >= OFTEN * last.max():
            return True
    return False


def _rates(task: Task, i: int, t: np.ndarray, x: np.ndarray, r: np.ndarray, pace: float) -> np.ndarray:
    """The rate of a root at some states, by the equations."""
    h = ASIDE * np.maximum(r, r.max() * ASIDE) / pace
    f = np.array([task.f(*state) for state in zip(t, x.T, strict=True)]).T
    moved = arguments(task.flow, task.w, task.p, lambda _: x + h * f, t + h)[i]
    return (np.sqrt(np.maximum(moved, 0.0)) - r) / h


def _straight_on(leg: Leg, before: float, until: float, final: np.ndarray, end: End) -> Leg:
    """The leg up to a time, and from there straight to another state."""
    x = leg.dense(np.array([before]))[:, 0]

    def dense(t: np.ndarray) -> np.ndarray:
        t = np.clip(np.atleast_1d(t), leg.times[0], until)
        share = (t - before) / (until - before)
        return np.where(t < before, leg.dense(np.minimum(t, before)), x[:, None] + share * (final - x)[:, None])

    times = np.array([*leg.times[leg.times < before], before, until])
    return replace(leg, times=times, final=final, dense=dense, end=end, guard=-1, steps=times.size - 1)


def _first_corner(task: Task, leg: Leg) -> _Corner | None:
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
            half = max(HAIR * float(steps[step[k]]), 64 * float(np.spacing(abs(lowest[k]))))
            return _Corner(int(which[k]), float(lowest[k]), half, float(lowest[k]) - half)
    top = a.max(axis=1)
    if leg.end is not End.REACHED and (here := a[:, -1] <= ARRIVED * top).any():
        i = int(np.argmax(here))
        far = times[a[i] > LOW * top[i]][-1]
        half = max(HAIR * float(times[-1] - far), 64 * float(np.spacing(abs(times[-1]))))
        return _Corner(i, float(times[-1]), half, float(times[-1]) - half)
    return None


def _arrival(task: Task, leg: Leg) -> _Corner | None:
    """Where a root comes to zero at which a leg breaks off, from when it came down: next to zero it tumbles.

    Time as a polynomial of the root, at zero (Neville).
    """
    times = leg.times
    if task.flow.roots is None or times.size < 2:
        return None
    a = _arguments(task, leg, times)
    here = a[:, -1] <= LOST * a.max(axis=1)
    if not here.any():
        return None
    root = int(np.argmax(here))
    r = np.sqrt(np.maximum(a[root], 0.0))
    far = int(np.flatnonzero(r > FAR_OFF * r.max())[-1])
    falls, k, pace = -np.diff(r) / np.diff(times), far, 0.0
    while k + 1 < r.size and (k < far + 2 or r[k] > CLOSE_BY * r.max()) and falls[k] > STEADY * pace:
        k, pace = k + 1, falls[k]
    if k == far:
        return None
    r, seen, when = r[max(far, k - 5) : k + 1], times[k], times[max(far, k - 5) : k + 1].copy()
    for n in range(1, r.size):
        when = (r[:-n] * when[1:] - r[n:] * when[:-1]) / (r[:-n] - r[n:])
    t = float(when[0])
    half = max(HAIR * (t - times[far]), ASTRAY * (t - seen), 64 * float(np.spacing(abs(t))))
    return _Corner(root, t, half, min(seen, t - half))


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
