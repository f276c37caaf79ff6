"""A run, leg by leg: integrate, keep the constraints, follow events, modes and changes of speeds, until the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.fitting import fitting_code, spare_sizes
from appell.code.state import State
from appell.code.system import System
from appell.errors import InconsistentStartError, IntegrationError, ModelError
from appell.kinematics.chart import Split
from appell.motion.branch import Branch
from appell.motion.clock import Clock
from appell.motion.diagnosis import diagnose, forked, smallest_inertia
from appell.motion.events import Event, Occurrence, piled, piling_up
from appell.motion.flow import RESTING, falls, resting, rests
from appell.motion.forks import Forks
from appell.motion.gradients import Gradients
from appell.motion.keyboard import interrupts
from appell.motion.leg import End, Enough, Leg, Task
from appell.motion.masses import Masses
from appell.motion.method import Method, choose
from appell.motion.modes import Modes
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.progress import Progress
from appell.motion.projection import Projection
from appell.motion.reset import Reset
from appell.motion.speeds import SpeedWatch
from appell.motion.stretch import Stretch
from appell.motion.table import table_times

CHAIN = 1000  # events at one instant that follow from each other's resets and do not come to an end
FAULTS = {
    End.NOT_FINITE: Outcome.NOT_FINITE,
    End.COLLAPSED: Outcome.STEP_COLLAPSED,
    End.STEP_LIMIT: Outcome.STEP_LIMIT,
}


class Run:
    """One call of simulate: legs, events, switches, until the end."""

    def __init__(
        self,
        system: System,
        state: State,
        end: float,
        method: str,
        rtol: float | None,
        atol: float | None,
        events: tuple[Event, ...],
        law: Callable[[float, State], np.ndarray] | None,
        progress: bool | None,
        max_steps: int,
        rate: float | None = None,
    ) -> None:
        self.system, self.end, self.events = system, end, events
        self.clock = Clock(state, end, law, rate) if law is not None and rate is not None else None
        self.law = law if self.clock is None else None
        self.rtol, self.atol, self.max_steps = rtol, atol, max_steps
        self.p = system.p
        self.progress = Progress(state.t, end, progress)
        self.stretches: list[Stretch] = []
        self.occurrences: list[Occurrence] = []
        self._stops: list[float] = []  # when guards ended legs
        self._seen = np.zeros(())  # the largest size of the guard of every event
        self.switches: list[str] = []
        self.outcome, self.detail = Outcome.DONE, ""
        self.interrupted = False
        self._modes: dict[Code, Modes] = {}
        self._projections: dict[Code, Projection] = {}
        self._masses: dict[Code, Masses] = {}
        self._gradients: dict[Code, Gradients | None] = {}
        self.gradients: Gradients | None = None
        self._forks: dict[Code, Forks | None] = {}
        self.forks: Forks | None = None
        self._forked = False
        self._resets: dict[tuple[Code, Event], Reset] = {}
        self._wish: Split | Outcome | None = None
        self._reach = np.inf  # how far a leg goes at most; behind a corner no further than the next may be
        self.began = time.perf_counter()
        self.state = state
        self.t = state.t
        self._sizes = spare_sizes(system.code)
        self.use(fitting_code(system.code, state, self.p))
        self.x = self.bound.to_x(state)
        self._start()
        self.first_masses = self.masses.start(self.t, self.x, self.w, self.p)
        self.inertia = smallest_inertia(self.code, self.t, self.x, self.w, self.p) if self.masses.names else 0.0
        self.method: Method = choose(
            wanted=method,
            flow=self.modes.flow(),
            t0=self.t,
            x0=self.x,
            t1=end,
            w=self.w,
            p=self.modes.parameters(self.p),
            simd=system.code.simd,
            by_python=self.law is not None,
            held=self.clock is not None,
            tumbling=self.speeds.tumbling,
        )

    def _start(self) -> None:
        """Find the modes of the start and put it on the constraints; raise where it has no motion."""
        if not np.all(np.isfinite(self.w)):
            raise ModelError(f"No finite value for the inputs at the start, t = {self.t:g}: got {self.w}.")
        finite = np.all(np.isfinite([*self.x, *self.bound.from_x(self.t, self.x)]))
        if not finite or self.speeds.dependent(self.t, self.x):
            chosen = ", ".join(self.speeds.chosen)
            raise IntegrationError(
                f"The speeds {chosen} are dependent at the start; choose others, or leave the choice to appell."
            )
        self.modes.start(self.t, self.x, self.inputs, self.p)
        if self.projection(self.t, self.x):
            self.modes.start(self.t, self.x, self.inputs, self.p)
        if self.branch is not None and (row := self.branch.missed(self.t, self.x)) is not None:
            raise InconsistentStartError(
                f"At the start the constraint {row!r} has no real solution for the accelerations, or none is found "
                "next to those without it; say where they are by near=, or start elsewhere."
            )

    # The present choice of speeds.

    def use(self, code: Code) -> None:
        """Take the equations of one choice of speeds."""
        self.code = code
        self.bound = System(code, self.system.values)
        if code not in self._projections:
            self._modes[code] = Modes(code, self.events, self.law is not None)
            self._projections[code] = Projection(code, self.p, self._modes[code].rows)
            self._masses[code] = Masses(code)
        self.projection, self.modes, self.masses = self._projections[code], self._modes[code], self._masses[code]
        self.branch = Branch(code, self.inputs, self.p) if code.equations.mechanics.curved else None
        if code not in self._gradients:
            self._gradients[code] = Gradients.of(code, self.inputs, self.p, self.state.t, self.rtol)
        self.gradients, before = self._gradients[code], self.gradients
        if self.gradients is not None and before is not None:
            self.gradients.take_over(before)
        if code not in self._forks:
            self._forks[code] = Forks.of(code, self.p)
        self.forks, past = self._forks[code], self.forks
        if self.forks is not None and past is not None:
            self.forks.take_over(past)
        self.speeds = SpeedWatch(code, self.projection, self._some_inputs, self.p, self._sizes)

    def inputs(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of the open inputs."""
        if self.clock is not None:
            return self.clock.held
        if self.law is None:
            return self.bound.w
        n, m = self.projection.n, self.projection.speeds
        v = self.code.rates.flat(t, x, self._some_inputs(), self.p)
        return self.law(t, State(self.system.model, np.concatenate([x[:n], v, x[n + m :]]), t))

    @property
    def w(self) -> np.ndarray:
        """Values of the open inputs here and now."""
        return self.inputs(self.t, self.x)

    @property
    def _idle(self) -> bool:
        """Whether no step needs attention."""
        watched = self.projection.active or self.code.equations.split.dependent or self.masses.names or self.branch
        return not (watched or self.gradients) and self._sizes is None

    @property
    def _alarm(self) -> ca.Function | None:
        """What tells when the speeds have to be looked at, where nothing else is to be looked at after every step."""
        others = self.projection.active or self.masses.names or self.branch or self.gradients
        return None if others or self._sizes is not None or not self.code.equations.split.dependent else self.code.alarm

    # After every step.

    def watch(self, t: float, x: np.ndarray) -> bool:
        """Keep the constraints, look at the speeds, hear the keyboard, show the progress."""
        changed = self.projection(t, x) if self.projection.active else False
        self.progress(t)
        if self.interrupted:
            self._wish = Outcome.INTERRUPTED
            raise Enough
        if (
            self.masses.names
            and self.masses.negative(t, x, self._mass_inputs(t, x), self.p, self.first_masses) is not None
        ):
            self._wish = Outcome.MASS_USED_UP
            raise Enough
        if self.branch is not None and self.branch.missed(t, x) is not None:
            self._wish = Outcome.BRANCH_LOST
            raise Enough
        if self.gradients is not None and self.gradients.lost(t, x):
            self._wish = Outcome.ROWS_SINGULAR
            raise Enough
        self._wish = self.speeds.ask(t, x)
        if self._wish is not None:
            raise Enough
        return changed

    def _interrupt(self) -> None:
        self.interrupted = True

    def _mass_inputs(self, t: float, x: np.ndarray) -> np.ndarray:
        return self.inputs(t, x) if self.masses.driven else self._some_inputs()

    def _some_inputs(self) -> np.ndarray:
        if self.clock is not None:
            return self.clock.held
        return np.zeros(len(self.code.equations.inputs)) if self.law is not None else self.bound.w

    # The run.

    def motion(self, points: int, at: Any, outputs: Mapping[str, Any] | None) -> Motion:
        """Run, and tabulate."""
        grid = table_times(self.t, self.end, points, at)
        with self.progress, interrupts(self._interrupt):
            while self._leg(grid):
                pass
        return Motion.of_run(
            system=self.system,
            stretches=self.stretches,
            outcome=self.outcome,
            detail=self.detail,
            method=self.method.name,
            reason=self.method.reason,
            occurrences=self.occurrences,
            switches=self.switches,
            seconds=time.perf_counter() - self.began,
            grid=grid,
            outputs=dict(outputs or {}),
            law=self.law,
        )

    def _leg(self, grid: np.ndarray) -> bool:
        """One leg and what follows from its end; returns whether the run goes on."""
        flow, p, w = self.modes.flow(), self.modes.parameters(self.p), self.w
        due = self.end if self.clock is None else self.clock.next
        end = min(due, self.t + self._reach)
        alarm = self._alarm
        if alarm is not None:
            self.speeds.begin(self.t, self.x)
        gates, limits = self._gates(flow.count, p)
        task = Task(
            flow=flow,
            t0=self.t,
            x0=self.x,
            t1=end,
            w=w,
            p=p,
            rtol=self.rtol,
            atol=self.atol,
            watch=self.watch,
            gates=gates,
            limits=limits,
            max_steps=self.max_steps,
            idle=self._idle,
            drive=self.inputs if self.law else None,
            grid=grid[(grid > self.t) & (grid <= end)],
            alarm=alarm,
            calm=lambda: self.speeds.calm,
            events=len(self.modes.event_guards),
        )
        self._wish = None
        leg = self._cut(self.method.integrate(task), w)
        self.max_steps -= leg.steps
        self.t, self.x = float(leg.times[-1]), np.array(leg.final)
        powers, sliding = self.modes.powers(), self.modes.sliding
        self.stretches.append(
            Stretch(
                code=self.code,
                w=w,
                p=p,
                times=leg.times,
                dense=leg.dense,
                final=np.array(leg.final),
                flow=flow,
                powers=powers,
                sliding=sliding,
            )
        )
        if leg.end is End.REACHED:
            return self._reached(due)
        if leg.end is End.CORNER:
            self._reach = 2.5 * float(leg.times[-1] - leg.times[0])
            self.projection(self.t, self.x)
            return not self._rests()
        if leg.end is End.GUARD:
            return self._guard(leg.guard, task)
        if leg.end is End.WATCHER:
            return self._watcher()
        if leg.end is not End.STEP_LIMIT and (guard := self._arrived(task)) is not None:
            return self._guard(guard, task)
        self.outcome = FAULTS[leg.end]
        self.outcome, self.detail = diagnose(self)
        return False

    def _cut(self, leg: Leg, w: np.ndarray) -> Leg:
        """A leg as far as it means something."""
        if leg.end is not End.WATCHER:
            self._wish = None  # of steps that were taken back
        if leg.end in (End.NOT_FINITE, End.COLLAPSED):
            leg = leg.without_gap()
        if self._wish is Outcome.MASS_USED_UP:
            leg, self._used_up = self.masses.cut(leg, w, self.p, self.first_masses)
        if self._wish is Outcome.SPEEDS_SINGULAR:
            leg = leg.without_last_step()  # it went through where nothing is known
        if self.branch is not None:
            leg, left = self.branch.follow(leg)
            self._wish = Outcome.BRANCH_LOST if left else self._wish
        if self.gradients is not None:
            leg, left = self.gradients.follow(leg)
            self._wish = Outcome.ROWS_SINGULAR if left else self._wish
        if self.forks is not None:
            leg, self._forked = self.forks.follow(leg)
            self._wish = Outcome.ROWS_SINGULAR if self._forked else self._wish
        return leg

    def _reached(self, due: float) -> bool:
        """At the end of a leg: the end of the run, the next sample of a control, or a leg that was kept short."""
        if self.t < due:
            self._reach *= 2
            return True
        if self.clock is None or self.t >= self.end:
            return False
        was = self.modes.sides(self.t, self.x, self.inputs, self.p)
        self.clock.tick(self.bound.from_x(self.t, self.x))
        self.modes.switch((), self.t, self.x, self.inputs, self.p, was)  # what stuck may be pushed off
        return True

    def _gates(self, count: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Guards that rest on zero are not looked at until they have moved; and up to which size they rest."""
        if not count:
            return np.ones(0, dtype=bool), np.zeros(0)
        values, rates = (e.ravel() for e in self.modes.flow().guard_machine(self.t, self.x, self.w, p))
        events, limits = len(self.modes.event_guards), self._limits(values, rates, 0.0)
        gates = ~rests(values, rates, limits)
        limits[events:] = np.fmax(limits, -2 * values)[events:]  # a kink in the right mode is on zero if not above it
        gates[events:] = (values > limits)[events:]
        return gates, limits

    def _limits(self, values: np.ndarray, rates: np.ndarray, span: float) -> np.ndarray:
        """Up to which size guards count as zero, at the end of a leg of length `span` or at the start of one."""
        events, limits = len(self.modes.event_guards), np.full(values.size, RESTING)
        with np.errstate(invalid="ignore"):  # where a run breaks off rates may be infinite
            self._seen = np.fmax(self._seen, np.fmax(np.abs(values), np.abs(rates) * span)[:events])
        limits[:events] = resting(self._seen, self.t, self.x)
        limits[events:] = self.modes.limits(values[events:], rates[events:], span, self.t, self.x)
        return limits

    def _arrived(self, task: Task) -> int | None:
        """The kink on which a leg broke off that cannot go through it: a tank that a root of its contents empties."""
        values = np.abs(task.guards(self.t, self.x)) if task.flow.count and task.t0 < self.t else np.zeros(0)
        near = values < task.limits[: values.size]
        if values.size:
            near &= task.guards(task.t0, task.x0) > task.limits
        near[: len(self.modes.event_guards)] = False
        return int(np.flatnonzero(near)[values[near].argmin()]) if near.any() else None

    def _guard(self, guard: int, task: Task) -> bool:
        """What the guards that fall through zero here ask for; there may be several at once."""
        values, rates = task.guards_and_rates(self.t, self.x)
        limits = self._limits(values, rates, self.t - task.t0)
        falling = task.gates & falls(values, rates, limits)
        falling[guard] = True
        owners = [self.modes.owner(int(k)) for k in np.flatnonzero(falling)]
        self.projection(self.t, self.x)
        kinks = [(which, side) for kind, which, side in owners if kind == "kink"]
        jump = ""
        if kinks:
            before = self.modes.modes.copy()
            self.modes.switch(kinks, self.t, self.x, self.inputs, self.p)
            self._strike(before)
            switched = [which for which, _ in kinks if self.modes.modes[which] != before[which]]
            self.occurrences += [Occurrence(self.modes.name(which), self.t) for which in switched]
            jump = self.modes.jump(before, self.t, self.x, self.inputs, self.p)
        events = self._happen(falling, falling | (rests(values, rates, limits) & ~falls(values, rates, limits)))
        stops = [event.name for event in events if event.stop]
        if stops:
            self.outcome, self.detail = Outcome.EVENT, f"{stops[0]!r} at t = {self.t:.12g}"
            return False
        if jump and self.t < self.end:
            self.outcome = Outcome.JUMP
            self.detail = (
                f"t = {self.t:.9g}: {jump}; give continuous functions and forces, or make two runs, one up to there "
                "and one from there on"
            )
            return False
        limit = self.t if len(events) >= CHAIN else self._accumulating()
        if limit is not None:
            name = events[-1].name if events else self.modes.name(kinks[-1][0])
            self.outcome = Outcome.ACCUMULATION
            self.detail = piled(name, limit)
            return False
        return self.t < self.end

    def _strike(self, before: np.ndarray) -> None:
        """Velocities behind a change of modes; where they jump, what stuck may be torn off."""
        x = self.modes.struck(before, self.t, self.x, self.inputs, self.p)
        if x is not self.x:
            was, self.x = self.modes.sides(self.t, self.x, self.inputs, self.p), x
            self.modes.switch((), self.t, self.x, self.inputs, self.p, was)

    def _happen(self, falling: np.ndarray, above: np.ndarray) -> list[Event]:
        """The events of guards that fall here, and of those on zero that resets of these send through it.

        Args:
            falling: Which guards fall.
            above: Which guards rest on zero or came down to it, and so can fall.
        """
        owner = np.array([which for which, _ in self.modes.event_guards], dtype=int)
        above, happened = above[: owner.size].copy(), []
        waiting, since = np.flatnonzero(falling[: owner.size]).tolist(), []
        while waiting and len(happened) < CHAIN:
            guard = waiting.pop(0)
            event = self.events[owner[guard]]
            above[(owner == owner[guard]) & (np.arange(owner.size) != guard)] = False  # it looked both ways
            happened.append(event)
            self.occurrences.append(Occurrence(event.name, self.t))
            since.append(guard)
            if not event.reset:
                continue
            self._reset(event)
            if np.count_nonzero(above) > above[guard]:  # others may follow
                down = self._falling()[: owner.size]
                above[since] &= ~down[since]  # what still falls has gone through
                since = []
                waiting += [k for k in np.flatnonzero(above & down).tolist() if k not in waiting]
        return happened

    def _falling(self) -> np.ndarray:
        """Which guards are on zero and fall, here and now."""
        p = self.modes.parameters(self.p)
        values, rates = (e.ravel() for e in self.modes.flow().guard_machine(self.t, self.x, self.w, p))
        return falls(values, rates, self._limits(values, rates, 0.0))

    def _rests(self) -> bool:
        """Whether a length passes through zero ever again: what friction brought to rest in a plane."""
        limit = self._accumulating()
        if limit is None:
            return False
        self.outcome = Outcome.ACCUMULATION
        self.detail = (
            f"a length or speed under a square root passes through zero again and again at t = {limit:.9g}; if "
            "friction holds it there, write v/sqrt(v² + ε²) with a small ε instead of v/|v| to go on"
        )
        return True

    def _accumulating(self) -> float | None:
        """The time at which ends of legs pile up."""
        self._stops.append(self.t)
        return piling_up(self._stops, self.end - self.state.t)

    def _reset(self, event: Event) -> None:
        key = self.code, event
        if key not in self._resets:
            self._resets[key] = Reset(self.code, event)
        self.x = self._resets[key](self.t, self.x, self.w, self.p)
        self.projection(self.t, self.x)
        self.modes.start(self.t, self.x, self.inputs, self.p)
        if self.gradients is not None and isinstance(wish := self.speeds.ask(self.t, self.x), Split):
            self._switch(wish)  # other velocities, other gradients

    def _switch(self, split: Split) -> None:
        """Go on with other dependent velocities, or with other rows left out."""
        state = self.bound.from_x(self.t, self.x)
        before = self.code.equations
        self.use(self.code.with_split(split))
        after = self.code.equations
        if before.split.dependent != after.split.dependent:
            old, new = (", ".join(map(str, e.dependent)) for e in (before, after))
            self.switches.append(f"t = {self.t:.6g}: dependent velocities {old} -> {new}")
        if before.split.rows != after.split.rows:
            old, new = (", ".join(e.redundant_rows) for e in (before, after))
            self.switches.append(f"t = {self.t:.6g}: rows left out {old} -> {new}")
        self.x = self.bound.to_x(state)
        self.modes.start(self.t, self.x, self.inputs, self.p)

    def _watcher(self) -> bool:
        if isinstance(self._wish, Split):
            self._switch(self._wish)
            return self.t < self.end
        assert isinstance(self._wish, Outcome)
        if self._wish is Outcome.ROWS_SINGULAR and self.t >= self.end:
            return False  # nothing has to go on from there
        self.outcome = self._wish
        self.detail = f"t = {self.t:.9g}"
        if self.outcome is Outcome.MASS_USED_UP:
            self.detail += f": the mass of {self._used_up!r}; end its flow in time, for example by appell.drained"
        if self.outcome is Outcome.BRANCH_LOST:
            rows = ", ".join(map(repr, self.branch.rows)) if self.branch else ""
            self.detail += f": {rows}; two branches meet or part there; say by near= which one is meant"
        if self.outcome is Outcome.ROWS_SINGULAR:
            cause = forked(self.system.model) if self._forked or self.gradients is None else self.gradients.words
            self.detail += f", {self.bound.from_x(self.t, self.x)!r}; likely cause: {cause}"
        if self.outcome is Outcome.SPEEDS_SINGULAR:
            chosen = ", ".join(map(str, self.code.equations.speeds))
            self.detail += f": {chosen} are dependent here; leave the choice to appell (no speeds=, no dependent=)"
        return False
