"""The first guard that falls through zero within a step, found on its dense output.

Guards are looked at between eight parts of the step. A guard may have a time scale of its own, shorter than the step
(the ticks of an encoder): then a cubic through values and rates of two looks misses the look between them, and that
part of the step is halved and looked at again. So it is where the cubic itself turns twice between two looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any

import casadi as ca
import numpy as np

from appell.motion.leg import Task

LOOKS = 8  # parts of a step between which the guards are looked at first, an even number
AGREE = 0.05  # by how much a cubic through two looks may miss a guard between them, as a share of its size there
MOST = 512  # parts at most
SHARES = np.union1d(np.geomspace(1e-4, 1, 12), np.linspace(0.1, 1, 10))  # of a step, where resting guards are looked at
FINE, TRIES = 1e-15, 120  # how well zeros are found, as a share of their time, and by how many looks at most
SOON = np.geomspace(1e-4, 1e-1, 4)  # shares of the first part, where guards that rested on zero are looked at

_Look = tuple[float, np.ndarray, np.ndarray]  # when, guards, rates


def zero(f: Callable[[float], float], a: float, b: float) -> float:
    """When f vanishes between two times at which its signs differ, or differ but for rounding.

    Chandrupatla's method (1997), as `appell.ensemble.crossings.zeros` does it for many: the same looks, the same zero.
    """
    fa, fb = f(a), f(b)
    if (fa > 0) == (fb > 0):
        return a if abs(fa) <= abs(fb) else b
    fine, share = FINE * max(abs(a), abs(b)), 0.5
    for _ in range(TRIES):
        x = a + share * (b - a)
        fx = f(x)
        c, fc = a, fa
        if (fx > 0) != (fa > 0):
            c, fc, b, fb = b, fb, a, fa
        a, fa = x, fx
        width = abs(b - a)
        if width <= fine or fa == 0 or fb == 0:
            break
        share = 0.5
        if c != b and fc != fb:
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            if phi * phi < xi and (1 - phi) * (1 - phi) < 1 - xi:
                guess = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
                share = guess if isfinite(guess) else 0.5
        limit = min(0.5, 0.5 * fine / width)
        share = min(max(share, limit), 1 - limit)
    return a if abs(fa) < abs(fb) else b


def behind(f: Callable[[float], float], root: float, end: float, limit: float) -> float:
    """The zero of a guard; where it jumps instead, as under a control that does, a place behind the jump.

    Args:
        f: The guard, which is not positive at the end.
        root: What was found.
        end: Where the search ended.
        limit: Up to which size a guard counts as zero.
    """
    near = 1e-15 * max(abs(root), abs(end))
    while root < end and f(root) > limit:
        root, near = min(root + near, end), 2 * near
    return root


def fallen(value: Callable[[float], float], start: float, end: float, limit: float) -> float | None:
    """Where a guard that rested on zero at the start and rose beyond a limit falls through zero again, if it did."""
    times = start + (end - start) * SHARES
    values = np.array([value(t) for t in times])
    up = np.flatnonzero(values > limit)
    down = np.flatnonzero(values[up[0] :] <= 0) + up[0] if up.size else up
    return zero(value, times[down[0] - 1], times[down[0]]) if down.size else None


def misses(values: Any, rates: Any, apart: Any) -> tuple[Any, Any]:
    """By how much cubics through every other look miss those between them: values, and rates times `apart`.

    Args:
        values: Guards, one row each, at an odd number of looks; numbers or graphs.
        rates: Their rates there.
        apart: The time between two looks.
    """
    outer, moves = values[:, ::2], apart * rates[:, ::2]
    a, b, left, right = outer[:, :-1], outer[:, 1:], moves[:, :-1], moves[:, 1:]
    value = values[:, 1::2] - (a + b) / 2 - (left - right) / 4
    return value, apart * rates[:, 1::2] - 0.75 * (b - a) + (left + right) / 4


def swings(values: Any, rates: Any, apart: Any) -> Any:
    """By how much cubics through two looks each turn back between them and forth again, where that may be through zero.

    Rates at the looks do not tell, nor need the cubics be wrong. Arguments as for `misses`.
    """
    g, later, left, right = values[:, :-1], values[:, 1:], apart * rates[:, :-1], apart * rates[:, 1:]
    begin, bend = 6 * (later - g) - 4 * left - 2 * right, 3 * (left + right) - 6 * (later - g)
    across = begin * begin - 4 * bend * left  # of the slope, left + begin s + bend s²: whether it has two zeros,
    two = (left * right > 0) * (across > 0) * (begin * left < 0) * ((begin + 2 * bend) * left > 0)  # within 0..1
    across = across * (across > 0)
    size = bend * bend + across + 1e-300
    reach = left * left + right * right + across * across / (8 * size)
    near = (g * g <= reach) + (later * later <= reach) > 0
    return two * near * across**1.5 / (3 * size)


def excess(values: np.ndarray, rates: np.ndarray, apart: Any) -> np.ndarray:
    """By how much more than allowed cubics miss the looks between theirs, or swing; arguments as for `misses`."""
    with np.errstate(invalid="ignore", over="ignore"):  # what begins infinitely steep, as a root does
        (value, rate), sizes = misses(values, rates, apart), np.abs(values)
        outer, swing = sizes[:, ::2], swings(values, rates, apart)
        size = np.maximum(np.maximum(outer[:, :-1], outer[:, 1:]), sizes[:, 1::2])
        missed = np.maximum(np.abs(value), np.abs(rate)) - AGREE * size
        return np.maximum(missed, np.maximum(swing[:, ::2], swing[:, 1::2]))


def excess_graph(values: ca.SX, rates: ca.SX, apart: ca.SX) -> ca.SX:
    """The same of graphs, the largest of each guard."""
    (value, rate), sizes = misses(values, rates, apart), ca.fabs(values)
    outer, swing = sizes[:, ::2], swings(values, rates, apart)
    size = ca.fmax(ca.fmax(outer[:, :-1], outer[:, 1:]), sizes[:, 1::2])
    missed = ca.fmax(ca.fabs(value), ca.fabs(rate)) - AGREE * size
    more, *others = ca.horzsplit(ca.fmax(missed, ca.fmax(swing[:, ::2], swing[:, 1::2])))
    for other in others:
        more = ca.fmax(more, other)
    return more


def moving(values: np.ndarray, moves: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """Which guards do not rest on zero all along a step.

    Args:
        values: Guards at some times of it.
        moves: Their rates there times its length, since all looks may fall on zeros.
        limits: Up to which sizes they count as zero.
    """
    return (np.maximum(np.abs(values), np.abs(moves))[:, 1:] > limits[:, None]).any(axis=1)


@dataclass(frozen=True)
class Looked:
    """Guards along a step.

    Attributes:
        values, rates: Guards and rates, one row each, at `LOOKS` + 1 times.
        doubts: For each guard by how much more than allowed cubics miss it; infinite if it falls through zero or turns.
    """

    values: np.ndarray
    rates: np.ndarray
    doubts: np.ndarray


def looked_graph(values: ca.SX, rates: ca.SX, apart: ca.SX) -> list[ca.SX]:
    """Values, rates and doubts of guards along a step."""
    falls = ca.logic_and(values[:, :-1] > 0, values[:, 1:] <= 0)
    moves = ca.sum2(ca.logic_or(falls, rates[:, :-1] * rates[:, 1:] < 0))
    return [values, rates, ca.if_else(moves > 0, ca.inf, excess_graph(values, rates, apart))]


@dataclass(frozen=True)
class _Looks:
    """Guards at any times of a step.

    Attributes:
        times: When they were looked at.
        values, rates: Guards, lifted as `Task.lifts` says, and rates, one row each.
        asleep: Whether the guard of an event that began on zero, and is not looked at there, has not moved yet.
    """

    times: np.ndarray
    values: np.ndarray
    rates: np.ndarray
    asleep: np.ndarray

    @classmethod
    def of(cls, task: Task, times: np.ndarray, values: np.ndarray, rates: np.ndarray) -> _Looks:
        """Looks from the start of a step on."""
        on_zero = np.abs(values) <= task.limits[:, None]
        asleep = np.isinf(task.lifts)[:, None] & np.logical_and.accumulate(on_zero, axis=1)
        return cls(times, values, rates, asleep)

    @classmethod
    def one_by_one(cls, task: Task, seen: list[_Look]) -> _Looks:
        """The same from a list."""
        times, values, rates = zip(*seen, strict=True)
        return cls.of(task, np.array(times), np.array(values).T, np.array(rates).T)

    @property
    def falls(self) -> np.ndarray:
        """Between which two looks guards fall through zero."""
        return (self.values[:, :-1] > 0) & (self.values[:, 1:] <= 0) & ~self.asleep[:, :-1]

    @property
    def turns(self) -> np.ndarray:
        """Between which two looks guards turn."""
        return (self.rates[:, :-1] * self.rates[:, 1:] < 0) & ~self.asleep[:, 1:]


def first_crossing(
    task: Task, x_at: Callable[[float], np.ndarray], t0: float, t1: float, looked: Looked | None = None
) -> tuple[float, int] | None:
    """The first time in (t0, t1] at which a guard falls through zero, and which.

    The guard of an event that is not looked at because it rests on zero counts from where it has moved, and its gate
    is opened if that is before what is found. That of a kink that rests is lifted; moved below by what happened between
    two steps, it falls at t0.

    Args:
        task: Whose guards.
        x_at: x within the step.
        t0: Where the step begins.
        t1: Where it ends.
        looked: The guards along it, if that is known.
    """
    events = task.events
    if looked is not None and task.gates[events:].all() and not (looked.doubts > task.limits).any():
        return None
    lifts = _finite(task.lifts)
    times = np.linspace(t0, t1, LOOKS + 1)
    values, rates = _looked(task, x_at, times) if looked is None else (looked.values, looked.rates)
    values = values + lifts[:, None]
    below = np.flatnonzero((lifts > 0) & (values[:, 0] <= 0))
    if below.size:
        return t0, int(below[0])
    watched = np.isfinite(task.lifts) | moving(values, (t1 - t0) * rates, task.limits)
    if (excess(values, rates, times[1] - times[0]) > task.limits[:, None])[watched].any():
        seen = _closer(task, x_at, list(zip(times.tolist(), values.T, rates.T, strict=True)), watched)
    else:
        seen = _Looks.of(task, times, values, rates)
    if (watched & seen.asleep[:, 0]).any():
        seen = _from_rest(task, x_at, seen)
    found = None
    for k in np.flatnonzero(watched & (seen.falls | seen.turns).any(axis=1)):

        def guard(t: float, k: int = int(k)) -> float:
            return float(task.guards(t, x_at(t))[k])

        def value(t: float, guard: Callable[[float], float] = guard, lift: float = lifts[k]) -> float:
            return guard(t) + lift

        def rate(t: float, k: int = int(k)) -> float:
            return float(task.guards_and_rates(t, x_at(t))[1][k])

        bracket = _first_bracket(seen, int(k), value, rate, float(task.limits[k]))
        if bracket is not None:
            root = behind(value, zero(value, *bracket), bracket[1], float(task.limits[k]))
            if lifts[k] and (through := fallen(guard, t0, root, task.limits[k])) is not None:
                root = through
            if found is None or root < found[0]:
                found = (root, int(k))
    if found is not None:  # others that have moved may fall with it
        task.gates[:events] |= ((seen.times < found[0]) @ ~seen.asleep.T)[:events]
    return found


def _finite(lifts: np.ndarray) -> np.ndarray:
    """The lifts of kinks; events that are not looked at are not lifted."""
    return np.where(np.isinf(lifts), 0.0, lifts)


def _look(task: Task, x_at: Callable[[float], np.ndarray], t: float) -> _Look:
    """Guards, lifted, and rates at a time."""
    g, rate = task.guards_and_rates(t, x_at(t))
    return t, g + _finite(task.lifts), rate


def _looked(task: Task, x_at: Callable[[float], np.ndarray], times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Guards and rates at some times, one row each."""
    seen = [task.guards_and_rates(t, x_at(t)) for t in times]
    return np.array([g for g, _ in seen]).T, np.array([r for _, r in seen]).T


@dataclass(frozen=True)
class _Part:
    """Part of a step.

    Attributes:
        a, m, b: Looks at its beginning, in its middle and at its end.
        level: How often the first parts were halved to get it.
        unclear: Whether the guards are not seen well enough.
        falls: Whether a guard may fall through zero.
    """

    a: _Look
    m: _Look
    b: _Look
    level: int
    unclear: bool
    falls: bool


def _closer(task: Task, x_at: Callable[[float], np.ndarray], first: list[_Look], watched: np.ndarray) -> _Looks:
    """Looks as close to each other as the guards need, up to the first ones behind a fall through zero.

    Two neighbours differ by one halving at most: what looks clear between unclear ones does so by chance.
    """

    def part(a: _Look, m: _Look, b: _Look, level: int) -> _Part:
        g, rate = (np.array([a[i], m[i], b[i]]).T[watched] for i in (1, 2))
        unclear = (excess(g, rate, m[0] - a[0])[:, 0] > task.limits[watched]).any()
        return _Part(a, m, b, level, bool(unclear), bool(((g[:, :-1] > 0) & (g[:, 1:] <= 0)).any()))

    parts = [part(*first[i : i + 3], 0) for i in range(0, LOOKS, 2)]
    k, count = 0, LOOKS
    while k < len(parts):
        here = parts[k]
        beside = max(other.level for other in parts[max(k - 1, 0) : k + 2])
        if count < MOST and (here.unclear or beside > here.level + 1):
            a, m, b, level = here.a, here.m, here.b, here.level + 1
            earlier, later = (_look(task, x_at, (c[0] + m[0]) / 2) for c in (a, b))
            parts[k : k + 1] = [part(a, earlier, m, level), part(m, later, b, level)]
            k, count = max(k - 1, 0), count + 2
            continue
        if k and parts[k - 1].falls:
            seen = _together(task, parts[:k])
            if seen.falls[watched].any():
                return seen
        k += 1
    return _together(task, parts)


def _together(task: Task, parts: list[_Part]) -> _Looks:
    """The looks of parts of a step."""
    return _Looks.one_by_one(task, [parts[0].a, *(look for part in parts for look in (part.m, part.b))])


def _from_rest(task: Task, x_at: Callable[[float], np.ndarray], seen: _Looks) -> _Looks:
    """Further looks soon after the first: what rises from rest has no rate there that says so."""
    start, second = seen.times[:2]
    early = [_look(task, x_at, t) for t in (start + (second - start) * SOON).tolist()]
    known: list[_Look] = list(zip(seen.times.tolist(), seen.values.T, seen.rates.T, strict=True))
    return _Looks.one_by_one(task, [known[0], *early, *known[1:]])


def _first_bracket(
    seen: _Looks,
    k: int,
    value: Callable[[float], float],
    rate: Callable[[float], float],
    limit: float,
) -> tuple[float, float] | None:
    """Two times at the first of which a guard is positive, and at the second no longer.

    Between two looks a guard may have dipped below zero and come back, or risen above it and fallen again: that shows
    where it turns. What rises first falls behind its turn: a leg may begin on a zero, but for rounding.
    """
    times, values, rates, asleep, turns = seen.times, seen.values[k], seen.rates[k], seen.asleep[k], seen.turns[k]
    for i in range(times.size - 1):
        before, after, g, later = times[i], times[i + 1], values[i], values[i + 1]
        if asleep[i]:
            g = min(g, 0.0)
        if turns[i] and rates[i] < 0 and g > 0 and later > 0:
            after = zero(rate, before, after)
            later = value(after)
        elif turns[i] and rates[i] > 0 and later <= 0:
            turn = zero(rate, before, after)
            there = value(turn) - limit * asleep[i]
            if there > 0:
                before, g = turn, there
        if g > 0 >= later:
            return before, after
    return None
