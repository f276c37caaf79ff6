"""Periodic motions: a start and a period after which a system is back where it was.

    x(T; x0) - x0 - g = 0

is solved for x0 on the constraints and for T by Newton's method, damped after Levenberg and Marquardt, with the slopes
of the motion through all its events. Where a family of motions solves it, the steps lead to a near one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from appell.analysis.closure import REACH, Closure
from appell.analysis.equilibrium import as_system
from appell.analysis.floquet import multipliers
from appell.analysis.periodic_motion import PeriodicMotion
from appell.analysis.returning import Return
from appell.code.starting import starting_state
from appell.code.state import AtState, State
from appell.code.system import System
from appell.errors import AppellError, ModelError, PeriodicError
from appell.model.model import Model, QuaternionNorm
from appell.model.symbols import key, listed
from appell.model.values import number, numbers, unknown
from appell.motion.events import Event
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.run import simulate

STEPS = 60  # of Newton's method at most
TURN = 2 * np.pi
CLOSED = 1e-9  # what a motion may miss of its start, in natural units, and count as periodic
SMOOTH, BY_FUNCTIONS = 1e-12, 1e-10  # to which share slopes are integrated, and motions under Python functions
JAGGED = 1e-6  # what a motion may miss under Python functions, which may jump
WIDER = 10  # times the relative tolerance, what a motion may miss
DONE = 1e-13  # below which no step is worth the while
WORTH = 0.5  # share of what was missed that has to go for another step near the end
STIFF = 1e9  # damping at which no step helps
NEAR = 1e-3  # what is missed, from which on the period is chosen anew after every step
FARTHEST = 0.3  # of an amplitude and of the period, the most that a step changes
SHORTEST = 0.05  # share of the guess that a period must keep
RESTING = 1e-4  # share of its amplitudes that a motion has left when it has died away


def periodic(
    subject: System | Model,
    start: State | AtState | Mapping[Any, float] | None = None,
    period: float | None = None,
    *,
    advance: Mapping[Any, float] | None = None,
    hold: Any = (),
    events: Sequence[Event] = (),
    inputs: Mapping[Any, Any] | None = None,
    method: str = "auto",
    rtol: float | None = None,
    points: int = 501,
) -> PeriodicMotion:
    """The periodic motion next to a guess, with the multipliers that say whether it is stable.

    Coordinates on which nothing depends, such as the place of a wheel, need not come back; how far they have gone is
    told. Where equations or events depend on time, the period is kept as given.

    Args:
        subject: A system with all its numbers bound, or a model.
        start: A guess of the start, as for `simulate`; what was found before will do.
        period: A guess of the period, in s.
        advance: By how much coordinates have gone on after a period: {angle: 2 * pi} for a turn, 0 for one that has to
            come back although nothing depends on it.
        hold: Names of starting values that stay as they are, such as an amplitude; "period" for the period.
        events: Events, with what happens then.
        inputs: Inputs as numbers, formulas in the state and time, or Python functions of t.
        method: As for `simulate`.
        rtol: Relative tolerance.
        points: How many times the motion is tabulated at.

    Returns:
        The motion, its period, its multipliers and a verdict.

    Example:
        >>> import appell as ap
        >>> x = ap.coordinates("x")
        >>> ground = ap.Frame("ground")
        >>> pull = ap.Generalized({x: (1 - x**2) * x.rate - x})
        >>> model = ap.Model(ground, x, [ap.Particle("p", 1.0, ground.point(x))], [pull], name="van der Pol")
        >>> found = ap.periodic(ap.compile(ap.derive(model)), {x: 2.0}, 6.0)
        >>> round(found.period, 9), found.multipliers.round(9).real, found.stable
        (6.663286859, array([0.00085969]), True)

    Reference: Floquet 1883; Marquardt 1963; the slopes behind events are those of `motion.sensitivities`.
    """
    if period is None or not number("period", period) > 0:
        raise ModelError(
            f"A guess of the period is needed, got {period!r}: simulate(...).plot() shows after which time a motion "
            "nearly comes again."
        )
    system = as_system(subject)

    def run(state: State, period: float, points: int = 2) -> Motion:
        motion = simulate(
            system,
            state,
            state.t + period,
            method=method,
            rtol=rtol,
            points=points,
            events=events,
            inputs=inputs,
            progress=False,
        )
        if motion.outcome is not Outcome.DONE:
            words = f"A motion does not last for {period:g} s: {motion.outcome.value} {motion.detail}"
            raise PeriodicError(words.strip())
        return motion

    state, period = starting_state(system, start), float(period)
    names = [q.label for q in system.model.coordinates]
    for name in (gains := numbers(advance, "What coordinates gain")):
        if name not in names:
            raise ModelError(unknown(name, names, f"coordinate of {system.model.name!r}"))
    states = [s.label for s in system.equations.states]
    values = {**dict(zip(states, system.to_x(state).tolist(), strict=True)), **state.to_dict()}
    for name in (held := [key(name) for name in listed(hold)]):
        if name not in values and name != "period":
            raise ModelError(unknown(name, [*values, "period"], f"starting value of {system.model.name!r}"))
    closure = Closure(run(state, period), events, gains, held)
    finest = (SMOOTH if closure.formulas else BY_FUNCTIONS) if rtol is None else rtol
    kept = {name: values[name] for name in held if name != "period"}
    closed = max(CLOSED if closure.formulas else JAGGED, WIDER * finest)
    found, steps = _Search(run, closure, kept, closed).found(state, period)
    others, ones = multipliers(found.map, found.along, max(found.size, finest))
    norms = [rows for rows in system.model.constraints if isinstance(rows, QuaternionNorm)]
    turned = {key(e) for rows in norms for e in rows.quaternion}  # attitudes go on as a whole
    gone = {closure.labels[i]: float(found.gained[i]) for i in closure.let_go if found.gone(i)}
    return PeriodicMotion(
        motion=found.motion if points == 2 else run(found.state, found.period, points),
        period=found.period,
        missed=found.size,
        steps=steps,
        multipliers=others,
        ones=ones,
        free=closure.free,
        back=tuple(q.label for q in closure.equations.coordinates if q.label not in gone),
        advance={name: gain for name, gain in gone.items() if name not in turned},
    )


class _Search:
    """The search for a period that closes.

    Args:
        run: From a start and a period to a motion.
        closure: What is the same in all runs.
        held: Starting values that stay.
        closed: What a motion may miss of its start.
    """

    def __init__(
        self, run: Callable[[State, float], Motion], closure: Closure, held: Mapping[str, float], closed: float
    ) -> None:
        self.run, self.closure, self.held, self.closed = run, closure, held, closed
        self.timed = closure.free and not closure.period_held
        self.loose = not closure.held

    def found(self, start: State, period: float) -> tuple[Return, int]:
        """The return that closes next to a first one, and in how many steps it was found."""
        first = now = self._tried(start, period, far=True)
        damping, steps = 1.0, 0
        while now.size > DONE and steps < STEPS and damping < STIFF:
            steps += 1
            before, then = now.size, self._stepped(now, damping)
            if self.loose and before > NEAR and (then is None or then.size > WORTH * before):
                then = min((e for e in (then, self._later(now)) if e is not None), key=lambda e: e.size, default=None)
            if then is not None and then.size < before and then.period > SHORTEST * first.period:
                now, damping = then, damping / 10
            else:
                damping *= 10
            if before < self.closed and now.size > WORTH * before:
                break
        if now.size > self.closed:
            raise PeriodicError(
                f"No periodic motion was found next to the guess. The nearest one misses its start by {now.size:.2g} "
                f"of its amplitudes after {now.period:.6g} s: {_worst(now)}. {_advice(first)}"
            )
        if self.closure.free and np.linalg.norm(now.rate) * now.period < RESTING:
            raise PeriodicError(
                "The search ended at rest or at a steady motion, where any time is a period. Give a guess of larger "
                "amplitude, or hold one of its starting values, hold=[...]."
            )
        return now, steps

    def _stepped(self, now: Return, damping: float) -> Return | None:
        """The return after a step of Newton's method; None if its motion breaks off."""
        change, longer = now.step(damping, self.timed)
        most = max(FARTHEST, np.max(np.abs(change) / self.closure.units, initial=0.0), abs(longer) / now.period)
        share = FARTHEST / most
        try:
            state = self.closure.corrected(now.state, share * change, self.held)
            return self._tried(state, now.period + share * longer, now.size > NEAR)
        except AppellError:
            return None

    def _later(self, now: Return) -> Return | None:
        """The return from where a return ended: what tends to a periodic motion comes nearer by itself."""
        change = np.zeros_like(now.x)
        back = self.closure.back
        change[back] = now.missed * self.closure.units[back]
        try:
            return self._tried(self.closure.corrected(now.state, change, {}), now.period, far=True)
        except AppellError:
            return None

    def _tried(self, state: State, period: float, far: bool) -> Return:
        """A run over a period; of those next to it the one that comes nearest, far away."""
        if far and self.timed:
            try:
                period = self.closure.nearest(self.run(state, period / (1 - REACH)), period)
            except PeriodicError:  # it does not last any longer
                pass
        return Return(self.closure, self.run(state, period))


def _worst(now: Return) -> str:
    """What comes back least, in words."""
    i = now.closure.back[int(np.argmax(np.abs(now.missed)))]
    name, gain = now.closure.labels[i], now.closure.gains[i]
    return f"{name} goes from {now.x[i]:.6g} to {now.final[i]:.6g}" + (f", with {gain:.6g} gained" if gain else "")


def _advice(first: Return) -> str:
    """What to give instead, as the first run shows it."""
    closure = first.closure
    for i in closure.back[: len(closure.equations.coordinates)]:
        turns = round(first.gained[i] / TURN)
        if turns and not closure.gains[i] and first.unmoved(i, turns * TURN):
            name = closure.labels[i]
            return (
                f"In {first.period:.3g} s {name} first went on by {first.gained[i]:.3g}: if it is to turn, say how "
                f"far, advance={{{name!r}: {turns * TURN:.9g}}}; otherwise give a nearer guess of start and period."
            )
    return "Give a nearer guess of start and period."
