"""The runs of a chunk: starting states, lanes where they serve, one by one where they do not."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from appell.code import heyoka_code
from appell.code.code import Code
from appell.code.fitting import spare_sizes
from appell.code.state import State
from appell.code.system import System
from appell.ensemble.engine import Interrupted, run_all
from appell.ensemble.jobs import Jobs, Results
from appell.ensemble.kernel import Kernel, Looked, Watch
from appell.ensemble.kinks import Kinks
from appell.ensemble.lanes import Graphs, lane_graphs
from appell.ensemble.outcomes import Collected, Outcomes
from appell.ensemble.settings import Settings
from appell.ensemble.starts import Batch, Starts
from appell.ensemble.switching import best_growths, growths, jacobians
from appell.errors import AppellError, CompileError
from appell.graph.kinks import has_jumps, has_kinks
from appell.kinematics.chart import Split
from appell.model.symbols import Input, Letter
from appell.motion.attempt import Status
from appell.motion.diagnosis import Stop, cause_of, smallest_inertia
from appell.motion.masses import Masses
from appell.motion.method import SCIPY, STIFF, stiffness
from appell.motion.outcome import Outcome
from appell.motion.projection import Projection
from appell.motion.reset import Reset
from appell.motion.run import simulate
from appell.motion.speeds import SpeedWatch, beyond, calmer, next_calm

TOO_STIFF = 3e5  # decay rate times length above which one stiff run takes less time than the steps of a lane
# What a single run has the words for.
AGAIN = {Status.MASS_GONE: "a mass was used up", Status.ALONE: "what happens next only a single run can say"}
# A second sweep of the same system finds its machine code as the first one left it.
_KERNELS: weakref.WeakKeyDictionary[Code, dict[Any, dict[bool, Kernel]]] = weakref.WeakKeyDictionary()


class Elsewhere(Protocol):
    """What makes single runs elsewhere."""

    def spend(self, seconds: float) -> bool:
        """Whether further runs are better made elsewhere, after one that took so long here."""
        ...

    def run(self, columns: Mapping[str, np.ndarray]) -> Outcomes | None:
        """Make runs one by one; None if that cannot be done."""
        ...


class Runner:
    """Makes runs of one system.

    Args:
        system: The system, with numbers for all that is not varied.
        settings: How every run goes.
        varied: Names of what is varied.
        shown: Inputs that are tabulated.
        law: A Python function that gives inputs.
        graphs: The functions of its lanes, if they came from elsewhere.
    """

    def __init__(
        self,
        system: System,
        settings: Settings,
        varied: Sequence[str],
        shown: Sequence[Input] = (),
        law: Callable[..., Any] | None = None,
        graphs: Graphs | None = None,
    ) -> None:
        self.system, self.settings, self.varied, self.law, self.shown = system, settings, varied, law, shown
        self.starts = Starts(system, settings.start, settings.t0, varied, law is not None)
        self.lock = threading.Lock()  # the functions of single states have one set of buffers
        self.letters = _table_letters(system, shown)
        self.names = [*(s.label for s in self.letters), *settings.outputs]
        self.units = {s.label: s.unit for s in self.letters}
        self.masses = Masses(system.code)
        self._given = graphs
        rhs = system.code.rhs.function
        located = has_kinks(rhs) and (settings.corners == "locate" or has_jumps(rhs))
        self.kinks = Kinks(settings.events, located)
        self._resets: dict[tuple[Code, int], Reset] = {}
        self.why_single = self._why_single()

    def _why_single(self) -> str:
        """Why no run of this system can go in a lane; empty if they can."""
        s, equations = self.settings, self.system.equations
        if self.law is not None:
            return "an input is given by a Python function"
        if s.method in SCIPY or s.method in ("cvodes", "taylor"):
            return f"method {s.method!r} was asked for"
        if equations.mechanics.unbroken or equations.mechanics.striking:
            return "positions or velocities may jump at kinks"
        if spare_sizes(self.system.code) is not None:
            return "which constraint rows can be left out changes along a motion"
        if self.masses.driven:
            return "a mass depends on an input"
        if equations.mechanics.curved:
            return "rows that are not linear in the accelerations have branches"
        if equations.split.dependent and self.system.code.alarm is None:
            return "the speeds chosen by the user are watched"
        return "they are few" if s.few else ""

    @property
    def simd(self) -> bool:
        """Whether lanes are machine code."""
        return self.system.code.simd and self.settings.compiled and heyoka_code.available()

    def with_settings(self, **changes: Any) -> Runner:
        """The same with some settings changed, none of which move the start."""
        other = Runner(
            self.system, replace(self.settings, **changes), self.varied, self.shown, self.law, graphs=self._given
        )
        other.starts = self.starts
        return other

    # Lanes.

    def steps(self, columns: Mapping[str, np.ndarray], most: int) -> float:
        """Steps of some runs, on average, counted up to `most` in lanes without machine code.

        Args:
            columns: Their varied numbers, by name.
            most: How far to count.
        """
        s = self.settings
        trial = self.with_settings(compiled=False, max_steps=min(most, s.max_steps), grid=s.grid[[0, -1]])
        batch = trial.starts.batch(columns)
        results = Results.empty(len(trial.names), batch.x.shape[1], 2, trial.system.equations.x.numel())
        jobs = trial._jobs(batch, {})
        run_all(jobs, trial.settings.grid, trial.watch, results, lambda: False)
        return float(results.steps[batch.good].mean()) if len(batch.good) else 0.0

    def graphs(self, code: Code | None = None, slide: tuple[int, ...] = ()) -> Graphs:
        """The functions of lanes in one choice of speeds, while some kinks slide."""
        code = self.system.code if code is None else code
        bodies = [b for b in self.system.model.bodies if b.name in self.masses.names]
        columns = [*self.letters, *self.settings.outputs.values()]
        resets = {i: self._reset(code, i) for i, event in enumerate(self.settings.events) if event.reset}
        plain = {i: reset.function for i, reset in resets.items() if reset.plain}
        flow = self.kinks.flow(code, slide)
        return lane_graphs(code, flow, slide, self.system.equations, columns, [b.mass for b in bodies], plain)

    def kernel(self, code: Code | None = None, slide: tuple[int, ...] = ()) -> Kernel:
        """The compiled functions of one choice of speeds, while some kinks slide; made once."""
        code = self.system.code if code is None else code
        s = self.settings
        looked_for = tuple((event.expression, event.direction, tuple(event.reset.items())) for event in s.events)
        key = (
            self.system.equations.split, looked_for, tuple(s.outputs.values()), tuple(self.shown), self.kinks.located,
            slide,
        )  # fmt: skip
        known = _KERNELS.setdefault(code, {}).setdefault(key, {})
        if s.compiled not in known:
            given = self._given
            if given is not None and (given.split, given.slide) != (code.equations.split, slide):
                given = None
            graphs = next((kernel.graphs for kernel in known.values()), given)
            known[s.compiled] = Kernel(graphs or self.graphs(code, slide), self.simd)
        return known[s.compiled]

    def prepare(self) -> None:
        """Make the machine code that takes longest, which uses several cores, before the first run."""
        if self.simd and not self.why_single:
            self.kernel().step.compile()

    @property
    def watch(self) -> Watch:
        """What is looked for along the runs."""
        events = self.settings.events
        guards = tuple(i for i, event in enumerate(events) for _ in event.signs)
        length = self.settings.until - self.settings.t0
        return Watch(events, guards, length, self._look, self._behind, self._switched, self._sliding, self._named)

    def _code(self, kernel: Kernel) -> Code:
        """The equations of a kernel."""
        return self.system.code.with_split(kernel.graphs.split)

    def _switched(
        self, kernel: Kernel, t: np.ndarray, x: np.ndarray, P: np.ndarray, fired: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """States and modes of lanes whose guards fell, or whose state was reset."""
        where = self._code(kernel), t, x, P[kernel.w], P[kernel.p]
        with self.lock:
            modes = self.kinks.start(*where) if fired is None else self.kinks.switch(*where, P[kernel.modes], fired)
        return x, modes

    def _sliding(self, kernel: Kernel, slide: tuple[int, ...]) -> Kernel | None:
        """The kernel in which other kinks slide; None where that cannot be resolved."""
        with self.lock, suppress(AppellError):
            return self.kernel(self._code(kernel), slide)
        return None

    def _named(self, kernel: Kernel, guard: int) -> str:
        """The name of a kink."""
        with self.lock:
            return self.kinks.name(self._code(kernel), kernel.graphs.slide, guard)

    def _reset(self, code: Code, event: int) -> Reset:
        """What an event does, in one choice of speeds; made once."""
        key = code, event
        if key not in self._resets:
            self._resets[key] = Reset(code, self.settings.events[event])
        return self._resets[key]

    def _behind(self, kernel: Kernel, event: int, t: np.ndarray, x: np.ndarray, P: np.ndarray) -> np.ndarray:
        """The states of some lanes right behind an event: the rule of single runs."""
        machine = kernel.machines.get(f"reset{event}")
        if machine is not None:
            return machine.some(np.concatenate([x, t[None, :]]), P)
        found = np.full(x.shape, np.nan)
        with self.lock:
            code = self._code(kernel)
            reset = self._reset(code, event)
            for i in range(t.size):
                numbers = P[kernel.p, i]
                with suppress(AppellError):
                    found[:, i] = reset(float(t[i]), x[:, i], P[kernel.w, i], numbers)
                    Projection(code, numbers)(float(t[i]), found[:, i])
        return found

    def _look(self, kernel: Kernel, t: np.ndarray, x: np.ndarray, P: np.ndarray, calm: np.ndarray) -> Looked:
        """Whether other dependent velocities are better at the states of some lanes: the rule of single runs."""
        split, patience = kernel.graphs.split, self.system.equations.formulation.patience
        moves: dict[Kernel, tuple[list[int], list[np.ndarray], list[np.ndarray]]] = {}
        with self.lock:
            jacobian = jacobians(kernel, t, x, P)
            growth, best = growths(split, jacobian), np.full(t.size, np.nan)
            searched = beyond(growth, calm)
            for i in np.flatnonzero(searched):
                choice = calmer(split, jacobian[i], growth[i])
                if choice is None:
                    continue
                other, moved, sides = self._moved(kernel, choice, float(t[i]), x[:, i], P[:, i])
                members, states, modes = moves.setdefault(other, ([], [], []))
                members.append(i)
                states.append(moved)
                modes.append(sides)
            first = np.flatnonzero(~searched & (calm == 0.0))
            best[first] = best_growths(split, jacobian[first])
            for i in first[np.isnan(best[first])]:
                best[i] = Split.at(jacobian[i], rows=split.rows).growth(jacobian[i])
        new = next_calm(growth, best, patience, calm)
        return Looked(new, {other: (np.array(i), np.array(s).T, np.array(m).T) for other, (i, s, m) in moves.items()})

    def _moved(
        self, kernel: Kernel, split: Split, t: float, x: np.ndarray, P: np.ndarray
    ) -> tuple[Kernel, np.ndarray, np.ndarray]:
        """The kernel of another choice of speeds, and a state with its modes in it."""
        values = dict(zip([s.label for s in self.system.model.parameters], P[kernel.p], strict=True))
        state = System(self._code(kernel), values).from_x(t, x)
        other = self.system.code.with_split(split)
        moved = System(other, values).to_x(state)[:, None]
        modes = self.kinks.start(other, np.array([t]), moved, P[kernel.w, None], P[kernel.p, None])
        return self.kernel(other, _slide(modes[:, 0])), moved[:, 0], modes[:, 0]

    def run(
        self,
        columns: Mapping[str, np.ndarray],
        stop: Callable[[], bool] = lambda: False,
        lanes: int | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> Outcomes:
        """Make the runs of some rows of the design.

        Args:
            columns: The varied numbers, by name.
            stop: Asked now and then whether to give up.
            lanes: How many lanes at most; enough for the cores if left out.
            elsewhere: What may take over the runs that are made one by one.
        """
        count = next(iter(columns.values())).size
        s = self.settings
        results = Results.empty(len(self.names), count, s.grid.size, self.system.equations.x.numel())
        found = Collected(self.system.model, self.names, self.settings, count)
        single = dict.fromkeys(range(count), self.why_single) if self.why_single else {}
        if not self.why_single:
            with self.lock:
                batch = self.starts.batch(columns)
                for run, words in batch.errors.items():
                    found.fail(run, Outcome.NOT_STARTED, s.t0, words)
                jobs = self._jobs(batch, single)
            run_all(jobs, s.grid, self.watch, results, stop, lanes)
            for status, words in AGAIN.items():
                single.update(dict.fromkeys(np.flatnonzero(results.status == status).tolist(), words))
            with self.lock:
                found.take(results, single, partial(self._why, batch))
        for reason in single.values():
            found.reasons[reason] = found.reasons.get(reason, 0) + 1
        self._one_by_one(list(single), columns, found, stop, elsewhere)
        return found.outcomes()

    def _jobs(self, batch: Batch, single: dict[int, str]) -> dict[Kernel, Jobs]:
        """The runs of a chunk that begin in a lane, by the choice of speeds they begin with."""
        s, jobs = self.settings, {}
        if s.test_each:
            for i in batch.good:
                rate = stiffness(self.system.code, s.t0, batch.x[:, i], batch.w[:, i], batch.p[:, i])
                if rate * (s.until - s.t0) > TOO_STIFF:
                    single[int(i)] = "stiff"
        for code, started in batch.codes.items():
            members = np.setdiff1d(np.asarray(started, dtype=int), list(single))
            x, w, p = batch.x[:, members], batch.w[:, members], batch.p[:, members]
            t = np.full(members.size, s.t0)
            modes = self.kinks.start(code, t, x, w, p)
            slides: dict[tuple[int, ...], list[int]] = {} if modes.size else {(): list(range(members.size))}
            for i, column in enumerate(modes.T if modes.size else ()):
                slides.setdefault(_slide(column), []).append(i)
            for slide, i in slides.items():
                try:
                    kernel = self.kernel(code, slide)
                except CompileError:  # what sticks cannot be resolved
                    single.update(dict.fromkeys(members[i].tolist(), AGAIN[Status.ALONE]))
                    continue
                numbers = w[:, i], p[:, i], modes[:, i]
                jobs[kernel] = self._job(kernel, members[i], x[:, i], t[i], *numbers, single)
        return jobs

    def _job(
        self,
        kernel: Kernel,
        members: np.ndarray,
        x: np.ndarray,
        t: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        modes: np.ndarray,
        single: dict[int, str],
    ) -> Jobs:
        """Runs that begin in the lanes of one kernel."""
        s, P = self.settings, np.zeros((kernel.numbers, members.size))
        P[kernel.w], P[kernel.p], P[kernel.modes] = w, p, modes
        for name, value in (("rtol", s.rtol), ("atol", s.atol), ("end", s.until), ("most", s.max_steps)):
            P[kernel.setting[name]] = value
        if "masses" in kernel.machines and members.size:
            m0 = kernel.machines["masses"].some(np.concatenate([x, t[None, :]]), P)
            P[kernel.masses] = m0
            single.update(dict.fromkeys(members[(m0 <= 0).any(axis=0)].tolist(), "a mass is not positive"))
            keep = (m0 > 0).all(axis=0)
            members, x, t, P = members[keep], x[:, keep], t[keep], P[:, keep]
        return Jobs(members, x, t, P, np.zeros(members.size, dtype=np.int64), np.zeros(members.size))

    # One by one.

    def alone(self, columns: Mapping[str, np.ndarray]) -> Outcomes:
        """Make runs one by one, whatever they are."""
        count = next(iter(columns.values())).size
        found = Collected(self.system.model, self.names, self.settings, count)
        self._one_by_one(list(range(count)), columns, found, lambda: False, None)
        return found.outcomes()

    def _one_by_one(
        self,
        runs: list[int],
        columns: Mapping[str, np.ndarray],
        found: Collected,
        stop: Callable[[], bool],
        elsewhere: Elsewhere | None,
    ) -> None:
        """Some runs by `simulate`: here, and where these take long elsewhere."""
        for k, run in enumerate(runs):
            if stop():
                raise Interrupted
            with self.lock:
                began = time.perf_counter()
                self._single(run, {name: float(column[run]) for name, column in columns.items()}, found)
                took = time.perf_counter() - began
            rest = runs[k + 1 :]
            if elsewhere is not None and elsewhere.spend(took) and rest:
                theirs = elsewhere.run({name: column[rest] for name, column in columns.items()})
                if theirs is not None:
                    found.put(rest, theirs)
                    return

    def _single(self, run: int, values: Mapping[str, float], found: Collected) -> None:
        """One run by `simulate`; whatever goes wrong is its own affair."""
        s = self.settings
        try:
            system, state = self.starts.single(values)
            motion = simulate(
                system, state, s.until, method=self._method(system, state), rtol=s.rtol, atol=s.atol,
                at=np.union1d(s.grid, s.until), events=s.events, outputs=s.outputs, control=self.law, progress=False,
                max_steps=s.max_steps,
            )  # fmt: skip
        except AppellError as error:
            found.fail(run, Outcome.NOT_STARTED, s.t0, str(error))
            return
        except Exception as error:  # of a user's own function
            found.fail(run, Outcome.RAISED, s.t0, f"{Outcome.RAISED.value} {type(error).__name__}: {error}")
            return
        found.motion(run, motion)

    def _method(self, system: System, state: State) -> str:
        """The method of a single run: that of the lanes where it could have gone in one, unless it is stiff."""
        s = self.settings
        if s.method != "auto" or not s.few:
            return s.method
        rate = stiffness(system.code, s.t0, system.to_x(state), system.w, system.p)
        return "auto" if rate * (s.until - s.t0) > STIFF else "dop853"

    def _why(self, batch: Batch, run: int, state: State, outcome: Outcome) -> tuple[Outcome, str]:
        """The likely cause of a lane's end, as a single run tells it."""
        code, s, w, p = self.system.code, self.settings, batch.w[:, run], batch.p[:, run]
        system = System(code, dict(zip([letter.label for letter in self.system.model.parameters], p, strict=True)))
        began = next(c for c, members in batch.codes.items() if run in members)
        start = System(began, system.values).from_x(s.t0, batch.x[:, run])
        first, inertia = np.zeros(0), 0.0
        if self.masses.names:
            x0 = system.to_x(start)
            first, inertia = self.masses(s.t0, x0, w, p), smallest_inertia(code, s.t0, x0, w, p)
        jacobian = SpeedWatch(code, Projection(code, p), lambda: w, p, None).jacobian
        span = (state.t - s.t0) or (s.until - state.t)
        stop = Stop(system, state.t, system.to_x(state), w, start, span, self.masses, first, inertia, jacobian)
        outcome, cause = cause_of(outcome, stop)
        return outcome, f"; likely cause: {cause}"


def _slide(modes: np.ndarray) -> tuple[int, ...]:
    """Which kinks slide."""
    return tuple(np.flatnonzero(modes == 0).tolist())


def _table_letters(system: System, shown: Sequence[Input]) -> list[Letter]:
    """What is tabulated: coordinates, rates, extra states, speeds that are none of these, inputs that move."""
    model, equations = system.model, system.equations
    letters: list[Letter] = [*model.coordinates, *(q.rate for q in model.coordinates), *model.states]
    known = {s.label for s in letters}
    letters += [s for s in equations.speeds if s.label not in known]
    return [*letters, *shown]
