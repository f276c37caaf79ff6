"""What closes a period: which entries of the state must come back, in which units, and whether time matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np
import scipy.linalg
from scipy.optimize import minimize_scalar

from appell.analysis.tangent import kept
from appell.code.state import State
from appell.code.system import System
from appell.equations import Equations
from appell.errors import ModelError
from appell.motion.events import Event
from appell.motion.motion import Motion
from appell.motion.variation import crossing, flow_of

UNSEEN = 1e-9  # share of the largest slope, in natural units, by which nothing depends on a coordinate
AGAIN = 1e-6  # share of the rates by which what drives a system may miss itself after a period
STILL = 1e-9  # share of its size below which what a kind of entries goes through is rounding
FAINT = 1e-4  # share of the largest amplitude of its kind below which one is rounding
LOOKS, PLACES = 33, 5  # moments at which amplitudes are looked at, and slopes
FINE = 1e-6  # share of a period to which the nearest one is searched for
REACH, TRIED = 0.25, 51  # share of a period by which a guess of it may be off, and at how many times it is tried


class Closure:
    """What is the same in all runs of a search.

    Args:
        guess: The first run.
        events: Its events.
        gains: What coordinates gain over a period, by name, of those for which that was said.
        held: Names of starting values that stay.
    """

    def __init__(self, guess: Motion, events: Sequence[Event], gains: Mapping[str, float], held: Sequence[str]) -> None:
        self.code, self.p = guess.stretches[0].code, guess.system.p
        self.equations = equations = self.code.equations
        if equations.formulation.completes or equations.model.programme:
            raise ModelError(
                f"Extra states of {equations.formulation.name} follow from the others at the start, with slopes that "
                "are not known; derive the equations by another principle, derive(model, GibbsAppell())."
            )
        self.system = System(self.code, guess.system.values)
        self.labels = [s.label for s in equations.states]
        self.gains = np.array([gains.get(name, 0.0) for name in self.labels])
        self.units = _amplitudes(equations, self._samples(guess, LOOKS)[1], float(np.ptp(guess.times)))
        self.let_go = [] if not equations.states else self._unseen(guess, events, gains)
        self.back = [i for i in range(len(self.labels)) if i not in self.let_go]
        self.formulas = guess.law is None
        self.free = not (guess.law is not None or _in_time(equations, events))
        if not (self.free or self._comes_again(guess)):
            raise ModelError(
                f"What drives {equations.model.name!r} in time does not come again after {np.ptp(guess.times):g} s; "
                "give its period, or a multiple of it, as period=."
            )
        letters = [s for s in (*equations.states, *(q.rate for q in equations.model.coordinates)) if s.label in held]
        self.held, self.period_held = bool(letters), "period" in held
        self._rows = ca.Function("rows", equations.arguments, [_slopes(kept(equations), equations)])
        stay = ca.vertcat(ca.SX(0, 1), *(equations.formula(s) for s in dict.fromkeys(letters)))
        self._stay = ca.Function("stay", equations.arguments, [_slopes(stay, equations)])

    def directions(self, t: float, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Displacements along the constraints: of x, of what comes back (orthonormal); those that keep what is held.

        Args:
            t: Time.
            x: A state.
            w: Inputs.
        """
        rows, stay = (np.array(f(t, x, w, self.p)) * self.units for f in (self._rows, self._stay))
        along = unseen_by(rows)
        left, sizes, right = np.linalg.svd(along[self.back], full_matrices=False)
        rank = int(np.sum(sizes > 1e-9))
        X = along @ (right[:rank].T / sizes[:rank])
        return self.units[:, None] * X, left[:, :rank], unseen_by(stay @ X)

    def missed(self, motion: Motion, t: float) -> np.ndarray:
        """By how much what comes back does not at some time, in natural units."""
        first, now = (self.system.to_x(motion.at(s)) for s in (float(motion.times[0]), t))
        return ((now - first - self.gains) / self.units)[self.back]

    def nearest(self, motion: Motion, period: float) -> float:
        """The period next to a guess at which a motion is nearest to its start.

        Args:
            motion: A motion that lasts longer than that.
            period: The guess.
        """
        begin, end = float(motion.times[0]), float(motion.times[-1])
        times = np.linspace(begin + period / (1 + REACH), end, TRIED)

        def off(t: float) -> float:
            return float(np.sum(self.missed(motion, float(t)) ** 2))

        tried = np.array([off(t) for t in times.tolist()])
        i = int(np.argmin(np.abs(times - begin - period)))
        while 0 < i < TRIED - 1 and min(tried[i - 1], tried[i + 1]) < tried[i]:
            i += 1 if tried[i + 1] < tried[i - 1] else -1
        h, between = FINE * period, (times[max(i - 1, 0)], times[min(i + 1, TRIED - 1)])
        found = float(minimize_scalar(off, bounds=between, method="bounded", options={"xatol": h}).x)
        earlier, here, later = (off(t) for t in (found - h, found, min(found + h, end)))
        bend = earlier - 2 * here + later  # of the parabola, which knows the least place better than values do
        vertex = h * (earlier - later) / (2 * bend) if bend > 0 else 0.0
        return min(begin + period, found, found + vertex if abs(vertex) < h else found, key=off) - begin

    def corrected(self, state: State, change: np.ndarray, held: Mapping[str, float]) -> State:
        """The state on the constraints next to another one.

        Args:
            state: The other one.
            change: By how much x is to change.
            held: What stays.
        """
        near = self.system.from_x(state.t, self.system.to_x(state) + change).to_dict()
        return self.system.consistent(held, {name: e for name, e in near.items() if name not in held}, state.t)

    @staticmethod
    def inputs(motion: Motion, t: float, place: float) -> np.ndarray:
        """Open inputs at a time, with the state at another time."""
        stretch = motion.located(np.array([place]))[0][0]
        return stretch.w if motion.law is None else np.array(motion.law(t, motion.at(place)))

    def _samples(self, motion: Motion, count: int) -> tuple[np.ndarray, np.ndarray]:
        times = np.linspace(motion.times[0], motion.times[-1], count)
        return times, np.array([self.system.to_x(motion.at(t)) for t in times.tolist()])

    def _unseen(self, motion: Motion, events: Sequence[Event], gains: Mapping[str, float]) -> list[int]:
        """Entries of x on which nothing else depends: neither the equations, nor the events, nor what switches."""
        equations = self.equations
        looked_at, switching = ca.vertcat(ca.SX(0, 1), *_read_by(equations, events)), self._switching(motion)
        slope = self._slope(motion) * self.units / self.units[:, None]
        found = [
            i
            for i, q in enumerate(equations.coordinates)
            if q.label not in gains and not ca.depends_on(looked_at, equations.x[i]) and not switching[i]
        ]
        while found:
            others = np.setdiff1d(np.arange(len(self.labels)), found)
            seen = np.max(slope[np.ix_(others, found)], axis=0, initial=0.0) > UNSEEN * np.max(slope)
            if not np.any(seen):
                break
            found = [i for i, is_seen in zip(found, seen, strict=True) if not is_seen]
        return found

    def _slope(self, motion: Motion) -> np.ndarray:
        """The greatest slopes of the equations by each entry of x, in all stretches: each may have modes of its own."""
        ends = np.array([motion.times[0], *(stretch.times[-1] for stretch in motion.stretches)])
        shares = np.linspace(0.0, 1.0, PLACES + 2)[1:-1]
        times = (ends[:-1, None] + np.diff(ends)[:, None] * shares).ravel().tolist()
        slopes = (
            self.code.jacobian(t, self.system.to_x(motion.at(t)), self.inputs(motion, t, t), self.p)[0] for t in times
        )
        return np.maximum.reduce([np.abs(e) for e in slopes])

    def _switching(self, motion: Motion) -> np.ndarray:
        """On which coordinates it depends when modes change, as a relay that looks at a position."""
        n, count = len(self.equations.coordinates), len(self.labels)
        seen, where = np.zeros(n, dtype=bool), tuple(("x", j) for j in range(count))
        for stretch in motion.stretches:
            if stretch.guard >= 0:
                t, numbers = float(stretch.times[-1]), np.append(stretch.p, np.ones(count))
                w = motion.open_inputs(stretch, np.array([t]))[0]
                found = crossing(flow_of(stretch), where)(t, stretch.final, w, numbers, np.eye(count))[2]
                sizes = np.abs(np.array(found)[stretch.guard]) * self.units
                seen |= sizes[:n] > UNSEEN * np.max(sizes)
        return seen

    def _comes_again(self, motion: Motion) -> bool:
        """Whether equations that depend on time come again after the motion."""
        times, x = self._samples(motion, PLACES)
        span, machine = float(motion.times[-1] - motion.times[0]), self.code.rhs
        for t, here in zip(times[1:-1].tolist(), x[1:-1], strict=True):
            now, then = (machine.flat(s, here, self.inputs(motion, s, t), self.p) for s in (t, t + span))
            if np.max(np.abs(now - then) / self.units, initial=0.0) > AGAIN * np.max(np.abs(now) / self.units):
                return False
        return True


def unseen_by(rows: np.ndarray) -> np.ndarray:
    """Directions that some rows do not see."""
    sizes = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = (rows / np.maximum(sizes, 1e-300))[sizes[:, 0] > 0]
    return scipy.linalg.null_space(rows, rcond=1e-9) if rows.size else np.eye(rows.shape[1])


def _slopes(expressions: ca.SX, equations: Equations) -> ca.SX:
    return ca.densify(ca.jacobian(expressions, equations.x)) if expressions.numel() else ca.SX(0, equations.x.numel())


def _amplitudes(equations: Equations, states: np.ndarray, period: float) -> np.ndarray:
    """Half of what each entry of x goes through; its size, or that of its kind, where it hardly moves.

    Args:
        equations: The equations.
        states: States along a period.
        period: How long it is: speeds are measured by what the coordinates are in this time, where all is at rest.
    """
    half, largest = np.ptp(states, axis=0) / 2, np.max(np.abs(states), axis=0)
    n, m = len(equations.coordinates), len(equations.speeds)
    kinds = [slice(0, n), slice(n, n + m), *(slice(i, i + 1) for i in range(n + m, half.size))]
    result, place = np.ones_like(half), 0.0
    for kind in kinds:
        size = max(np.max(largest[kind], initial=0.0), place / period if kind.start == n < kind.stop else 0.0)
        moved = np.max(half[kind], initial=0.0)
        typical = (moved if moved > STILL * size else size) or 1.0
        place = typical if kind.start == 0 else place
        result[kind] = np.maximum(half[kind], FAINT * typical)
    return result


def _read_by(equations: Equations, events: Sequence[Event]) -> list[ca.SX]:
    """What events look at."""
    return [
        graph
        for event in events
        for graph in (event.formula(equations), *(equations.formula(e) for e in event.reset.values()))
    ]


def _in_time(equations: Equations, events: Sequence[Event]) -> bool:
    """Whether equations or events depend on time."""
    return ca.depends_on(ca.vertcat(equations.xdot, *_read_by(equations, events)), equations.mechanics.variables.t)
