"""A run, leg by leg: integrate, keep the constraints, follow events, modes and changes of speeds, until the end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from appell.code.state import State
from appell.code.system import System
from appell.errors import StickingError
from appell.kinematics.split import Split
from appell.motion.diagnosis import AT_REST, REGULARIZE, Stop, diagnose, runaway, smallest_inertia
from appell.motion.drive import Drive, Law
from appell.motion.events import Event, Occurrence, piled, piling_up
from appell.motion.front import Front
from appell.motion.guards import Guards, arrived
from appell.motion.keyboard import hand_on, interrupts
from appell.motion.leg import End, Leg, Task
from appell.motion.method import Method, choose
from appell.motion.motion import Motion
from appell.motion.outcome import Ending, Outcome
from appell.motion.progress import Progress
from appell.motion.stretch import Stretch
from appell.motion.table import table_times
from appell.motion.watch import Watch

RACE, FASTER = 1000, 10  # steps between samples of a control that make it suspect, if so many times those at first
CHAIN = 1000  # events at one instant that follow from each other's resets and do not come to an end
FAULTS = {
    End.NOT_FINITE: Outcome.NOT_FINITE,
    End.COLLAPSED: Outcome.STEP_COLLAPSED,
    End.STEP_LIMIT: Outcome.STEP_LIMIT,
}
DONE = Ending(Outcome.DONE)


class Run:
    """One call of simulate: legs, events, switches, until the end. Arguments as there, checked and complete."""

    def __init__(
        self,
        *,
        system: System,
        state: State,
        end: float,
        method: str,
        rtol: float | None,
        atol: float | None,
        events: Sequence[Event],
        law: Law | None,
        progress: bool | None,
        max_steps: int,
        rate: float | None,
    ) -> None:
        self.system, self.start, self.end, self.events = system, state, end, events
        self.rtol, self.atol, self.max_steps, self.steps = rtol, atol, max_steps, 0
        self.drive = Drive.of(law, rate, state, end)
        self.progress = Progress(state.t, end, progress)
        self.stretches: list[Stretch] = []
        self.occurrences: list[Occurrence] = []
        self.interrupted = False
        self.began = time.perf_counter()
        self.guards = Guards()
        self._stops: dict[bool, list[float]] = {
            True: [],
            False: [],
        }  # when guards ended legs, and whether that changed them
        self._paces: list[int] = []  # steps from one sample of a control to the next
        self._sampled, self._race = 0, RACE  # steps up to the last sample, and how many behind it are a race
        self._reach = np.inf  # how far a leg goes at most; behind a corner no further than the next may be
        self.front = Front(system, state, events, self.drive, end - state.t, rtol)
        here, choice = self.front, self.front.choice
        self.first_masses = choice.masses.start(here.t, here.x, here.w, choice.p)
        changing = bool(choice.masses.names)
        self.inertia = smallest_inertia(choice.code, here.t, here.x, here.w, choice.p) if changing else 0.0
        self.method: Method = choose(
            wanted=method,
            flow=choice.modes.flow(),
            t0=here.t,
            x0=here.x,
            t1=end,
            w=here.w,
            p=here.p,
            simd=system.code.simd,
            by_python=self.drive.law is not None,
            held=self.drive.clock is not None,
            tumbling=choice.speeds.tumbling,
        )

    def motion(self, points: int, at: Any, outputs: Mapping[str, Any] | None) -> Motion:
        """Run, and tabulate."""
        grid = table_times(self.start.t, self.end, points, at)
        with self.progress, interrupts(self._interrupt):
            while (ending := self._go(grid)) is None:
                pass
        if self.interrupted and ending.outcome is not Outcome.INTERRUPTED:
            hand_on()
        return Motion.of_run(
            system=self.system,
            stretches=self.stretches,
            outcome=ending.outcome,
            detail=ending.detail,
            method=self.method.name,
            reason=self.method.reason,
            occurrences=self.occurrences,
            switches=self.front.switches,
            seconds=time.perf_counter() - self.began,
            grid=grid,
            outputs=dict(outputs or {}),
            drive=self.drive,
        )

    def _interrupt(self) -> None:
        self.interrupted = True

    def _pause(self, t: float) -> bool:
        """Show the progress, hear the keyboard."""
        self.progress(t)
        return self.interrupted

    # Legs.

    def _go(self, grid: np.ndarray) -> Ending | None:
        """One leg and what follows from its end; how the run ends, if it does."""
        here = self.front
        due = self.end if self.drive.clock is None else self.drive.clock.next
        watch = Watch(here.choice, self.first_masses, self._pause)
        task = self._task(watch, min(due, here.t + self._reach), grid)
        leg = watch.cut(self.method.integrate(task), task.w)
        self._take(leg, task)
        try:
            return self._follow(leg, task, watch, due)
        except StickingError as error:
            return Ending(Outcome.UNDECIDED, f"t = {here.t:.9g}: {error}")

    def _follow(self, leg: Leg, task: Task, watch: Watch, due: float) -> Ending | None:
        """What follows from the end of a leg."""
        here = self.front
        if leg.end is End.REACHED:
            return self._reached(due)
        if leg.end is End.CORNER:
            self._reach = 2.5 * float(leg.times[-1] - leg.times[0])
            here.project()
            return self._rests()
        if leg.end is End.REST:
            return Ending(Outcome.ACCUMULATION, f"t = {here.t:.9g}: {AT_REST}")
        if leg.end is End.GUARD:
            return self._guard(leg.guard, task)
        if leg.end is End.WATCHER:
            return self._heed(watch)
        if leg.end is End.STEP_LIMIT and self.max_steps > 0:
            return self._runs_away()
        if leg.end is not End.STEP_LIMIT and (guard := arrived(task, here.t, here.x)) is not None:
            return self._guard(guard, task)
        return self._broken(FAULTS[leg.end])

    def _task(self, watch: Watch, end: float, grid: np.ndarray) -> Task:
        """The next leg, as an integrator is asked for it."""
        here, choice = self.front, self.front.choice
        alarm = choice.alarm
        if alarm is not None:
            choice.speeds.begin(here.t, here.x)
        gates, limits = self.guards.gates(choice, here.t, here.x)
        return Task(
            flow=choice.modes.flow(),
            t0=here.t,
            x0=here.x,
            t1=end,
            w=here.w,
            p=here.p,
            rtol=self.rtol,
            atol=self.atol,
            watch=watch,
            gates=gates,
            limits=limits,
            max_steps=int(min(self.max_steps, self._fair - self._pace)),
            idle=choice.idle,
            drive=choice.inputs if self.drive.law else None,
            grid=grid[(grid > here.t) & (grid <= end)],
            alarm=alarm,
            calm=lambda: choice.speeds.calm,
            events=len(choice.modes.event_guards),
        )

    def _take(self, leg: Leg, task: Task) -> None:
        """Go to the end of a leg, and keep it."""
        here, choice = self.front, self.front.choice
        self.max_steps -= leg.steps
        self.steps += leg.steps
        here.t, here.x = float(leg.times[-1]), np.array(leg.final)
        self.stretches.append(
            Stretch(
                code=choice.code,
                w=task.w,
                p=task.p,
                times=leg.times,
                dense=leg.dense,
                final=np.array(leg.final),
                flow=task.flow,
                powers=choice.modes.powers(),
                family=choice.modes.family,
            )
        )

    # What follows from the end of a leg.

    @property
    def _over(self) -> Ending | None:
        return None if self.front.t < self.end else DONE

    def _reached(self, due: float) -> Ending | None:
        """The end of the run, the next sample of a control, or a leg that was kept short."""
        if self.front.t < due:
            self._reach *= 2
            return None
        if self.drive.clock is None or self._over:
            return DONE
        self.front.tick()
        self._paces.append(self._pace)
        self._sampled = self.steps
        return None

    @property
    def _pace(self) -> int:
        """Steps since a control was sampled."""
        return self.steps - self._sampled

    @property
    def _fair(self) -> float:
        """How many steps from one sample to the next are not suspect, as those of a control that drives ever faster."""
        if not self._paces:
            return np.inf
        return max(self._race, FASTER * max(self._paces[: -(-len(self._paces) // 4)]))

    def _runs_away(self) -> Ending | None:
        """The end where a control drives the motion ever faster, so that each sample takes longer than the last."""
        self._race = 2 * self._pace
        return runaway(self._stop(), self.stretches)

    def _rests(self) -> Ending | None:
        """The end where a length passes through zero ever again: what friction brought to rest in a plane."""
        limit = self._accumulating(changed=True)
        if limit is None:
            return None
        words = f"a length or speed under a square root passes through zero again and again at t = {limit:.9g}"
        return Ending(Outcome.ACCUMULATION, f"{words}; {REGULARIZE}")

    def _accumulating(self, changed: bool) -> float | None:
        """The time at which ends of legs pile up: of those that change the motion, or of those that do not.

        What is only looked at and what changes the motion have nothing to do with each other, and together they come by
        chance ever faster.
        """
        self._stops[changed].append(self.front.t)
        return piling_up(self._stops[changed], self.start.t)

    def _heed(self, watch: Watch) -> Ending | None:
        """Do what the watch wishes that ended a leg."""
        here, wish = self.front, watch.wish
        if isinstance(wish, Split):
            here.switch(wish)
            return self._over
        assert wish is not None
        if wish is Outcome.ROWS_SINGULAR and self._over:
            return DONE  # nothing has to go on from there
        return watch.ending(wish, here.t, here.x)

    def _broken(self, fault: Outcome) -> Ending:
        """How a run ends that could not go on."""
        return diagnose(fault, self._stop(), self.front.choice, self.stretches)

    def _stop(self) -> Stop:
        """Where the run is, for who asks why it ends there."""
        here, choice = self.front, self.front.choice
        return Stop(
            system=choice.system,
            t=here.t,
            x=here.x,
            w=here.w,
            start=self.start,
            span=(here.t - self.start.t) or (self.end - here.t),
            masses=choice.masses,
            first_masses=self.first_masses,
            inertia=self.inertia,
            jacobian=choice.speeds.jacobian,
        )

    def _guard(self, guard: int, task: Task) -> Ending | None:
        """What the guards that fall through zero here ask for; there may be several at once."""
        here, modes, jump = self.front, self.front.choice.modes, ""
        falling, above = self.guards.fallen(here.choice, task, here.t, here.x, guard)
        owners = [modes.owner(int(k)) for k in np.flatnonzero(falling)]
        kinks = [(which, side) for kind, which, side in owners if kind == "kink"]
        here.project()
        if kinks:
            switched, jump = here.flip(kinks)
            self.occurrences += [Occurrence(modes.name(which), here.t) for which in switched]
        events = self._happen(falling, above)
        resets = tuple(event for event in events if event.reset)
        self.stretches[-1] = replace(self.stretches[-1], guard=guard, resets=resets)
        stops = [event.name for event in events if event.stop]
        if stops:
            return Ending(Outcome.EVENT, f"{stops[0]!r} at t = {here.t:.12g}")
        if jump and not self._over:
            words = "give continuous functions and forces, or make two runs, one up to there and one from there on"
            return Ending(Outcome.JUMP, f"t = {here.t:.9g}: {jump}; {words}")
        changed = bool(kinks) or any(event.reset for event in events)
        limit = here.t if len(events) >= CHAIN else self._accumulating(changed)
        if limit is not None:
            name = events[-1].name if events else modes.name(kinks[-1][0])
            return Ending(Outcome.ACCUMULATION, piled(name, limit))
        return self._over

    def _happen(self, falling: np.ndarray, above: np.ndarray) -> list[Event]:
        """The events of guards that fall here, and of those on zero that resets of these send through it.

        Args:
            falling: Which guards fall.
            above: Which guards rest on zero or came down to it, and so can fall.
        """
        here = self.front
        owner = np.array([which for which, _ in here.choice.modes.event_guards], dtype=int)
        above, happened = above[: owner.size].copy(), []
        waiting, since = np.flatnonzero(falling[: owner.size]).tolist(), []
        while waiting and len(happened) < CHAIN:
            guard = waiting.pop(0)
            event = self.events[owner[guard]]
            above[(owner == owner[guard]) & (np.arange(owner.size) != guard)] = False  # it looked both ways
            happened.append(event)
            self.occurrences.append(Occurrence(event.name, here.t))
            since.append(guard)
            if not event.reset:
                continue
            here.reset(event)
            if np.count_nonzero(above) > above[guard]:  # others may follow
                down = self.guards.falling(here.choice, here.t, here.x)[: owner.size]
                above[since] &= ~down[since]  # what still falls has gone through
                since = []
                waiting += [k for k in np.flatnonzero(above & down).tolist() if k not in waiting]
        return happened
