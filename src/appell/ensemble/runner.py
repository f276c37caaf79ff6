"""The runs of a chunk: starting states, lanes where they serve, one by one where they do not."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from appell.code.fitting import spare_sizes
from appell.code.state import State
from appell.code.system import System
from appell.ensemble.engine import Interrupted, Watch, run_all, unwatched
from appell.ensemble.fingerprint import own_line
from appell.ensemble.jobs import Jobs, Results
from appell.ensemble.kernel import Kernel
from appell.ensemble.lane_rules import LaneRules
from appell.ensemble.lanes import Graphs
from appell.ensemble.law import Law
from appell.ensemble.outcomes import Collected, Outcomes
from appell.ensemble.settings import Settings
from appell.ensemble.starts import Batch, Starts
from appell.errors import AppellError, ModelError, StickingError
from appell.model.symbols import Input, Letter, unit_of
from appell.model.values import unknown
from appell.motion.attempt import Status
from appell.motion.diagnosis import Stop, cause_of, smallest_inertia
from appell.motion.left_out import may_contradict
from appell.motion.masses import Masses
from appell.motion.method import SCIPY, STIFF, stiffness
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.projection import Projection
from appell.motion.run import simulate
from appell.motion.speeds import SpeedWatch

# What a single run has the words for.
AGAIN = {Status.MASS_GONE: "a mass was used up", Status.ALONE: "what happens next only a single run can say"}


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
        law: Python functions that give inputs.
        graphs: The functions of its lanes, if they came from elsewhere.
        lock: Of all runners of one model, for what is made once and for laws that share things.
    """

    def __init__(
        self,
        system: System,
        settings: Settings,
        varied: Sequence[str],
        shown: Sequence[Input] = (),
        law: Law | None = None,
        graphs: Graphs | None = None,
        lock: threading.Lock | None = None,
    ) -> None:
        self.system, self.settings, self.varied, self.law, self.shown = system, settings, varied, law, shown
        self.starts = Starts(system, settings.start, settings.t0, varied, law is not None)
        self.lock = lock or threading.Lock()
        self.letters = _table_letters(system, shown)
        self.names = [*(s.label for s in self.letters), *settings.outputs]
        self.kept = self._kept()
        self.units = {s.label: s.unit for s in (*system.model.parameters, *system.model.inputs, *self.letters)}
        self.units |= {name: unit_of(formula) for name, formula in settings.outputs.items()}
        self.masses = Masses(system.code)
        columns, formulas = (*self.letters, *settings.outputs.values()), tuple(self.masses.formulas)
        self.rules = LaneRules(system, settings, columns, formulas, self.lock, graphs)
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
        if may_contradict(equations):
            return "constraint rows that are left out are watched"
        if self.masses.driven:
            return "a mass depends on an input"
        if equations.mechanics.curved:
            return "rows that are not linear in the accelerations have branches"
        if equations.split.dependent and self.system.code.alarm is None:
            return "the speeds chosen by the user are watched"
        return "they are few" if s.few else ""

    @property
    def one_by_one(self) -> bool:
        """Whether most runs are made one by one."""
        return bool(self.why_single) or self.settings.mostly_stiff

    def _kept(self) -> list[str]:
        """What is kept of that."""
        wanted = self.settings.columns
        if wanted is None:
            return self.names
        for name in wanted:
            if name not in self.names:
                raise ModelError(unknown(name, self.names, "quantity that a sweep could keep"))
        return [name for name in self.names if name in wanted or name in self.settings.outputs]

    def with_settings(self, **changes: Any) -> Runner:
        """The same with some settings changed, none of which move the start."""
        settings, given = replace(self.settings, **changes), self.rules.given
        other = Runner(self.system, settings, self.varied, self.shown, self.law, given, self.lock)
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
        run_all(jobs, trial.settings.grid, trial.rules, results, unwatched)
        return float(results.steps[batch.good].mean()) if len(batch.good) else 0.0

    def prepare(self) -> None:
        """Make the machine code that takes longest, which uses several cores, before the first run."""
        if self.rules.simd and not self.why_single:
            self.rules.kernel().step.compile()

    def run(
        self,
        columns: Mapping[str, np.ndarray],
        watch: Watch = unwatched,
        lanes: int | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> Outcomes:
        """Make the runs of some rows of the design.

        Args:
            columns: The varied numbers, by name.
            watch: Told how far it is, and asked whether to give up.
            lanes: How many lanes at most; enough for the cores if left out.
            elsewhere: What may take over the runs that are made one by one.
        """
        s, count = self.settings, next(iter(columns.values())).size
        results = Results.empty(len(self.names), count, s.grid.size, self.system.equations.x.numel())
        found = Collected(self.system.model, self.names, self.kept, s, count)
        single = dict.fromkeys(range(count), self.why_single) if self.why_single else {}
        if not self.why_single:
            with self.lock:
                batch = self.starts.batch(columns)
                for run, words in batch.errors.items():
                    found.fail(run, Outcome.NOT_STARTED, s.t0, words)
                single.update(batch.alone)
                jobs = self._jobs(batch, single)
            run_all(jobs, s.grid, self.rules, results, watch, lanes)
            for status, words in AGAIN.items():
                single.update(dict.fromkeys(np.flatnonzero(results.status == status).tolist(), words))
            with self.lock:
                found.take(results, single, partial(self._why, batch))
        for reason in single.values():
            found.reasons[reason] = found.reasons.get(reason, 0) + 1
        self._one_by_one(list(single), columns, found, watch, elsewhere)
        return found.outcomes()

    def _jobs(self, batch: Batch, single: dict[int, str]) -> dict[Kernel, Jobs]:
        """The runs of a chunk that begin in a lane, by the choice of speeds they begin with."""
        s, jobs = self.settings, {}
        if s.too_stiff is not None:
            for i in batch.good:
                rate = stiffness(self.system.code, s.t0, batch.x[:, i], batch.w[:, i], batch.p[:, i])
                if rate * (s.until - s.t0) > s.too_stiff:
                    single[int(i)] = "they are stiff"
        for code, started in batch.codes.items():
            members = np.setdiff1d(np.asarray(started, dtype=int), list(single))
            x, w, p = batch.x[:, members], batch.w[:, members], batch.p[:, members]
            t = np.full(members.size, s.t0)
            modes = self.rules.kinks.start(code, t, x, w, p)
            for family, i in self.rules.kinks.families(code, modes).items():
                try:
                    kernel = self.rules.kernel(code, family)
                except StickingError:  # what sticks cannot be resolved
                    single.update(dict.fromkeys(members[i].tolist(), AGAIN[Status.ALONE]))
                    continue
                jobs[kernel] = self._job(
                    kernel,
                    members[i],
                    x=x[:, i],
                    t=t[i],
                    w=w[:, i],
                    p=p[:, i],
                    modes=modes[:, i],
                    single=single,
                )
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

    def ask(self, values: Mapping[str, float]) -> None:
        """Raise if what Python functions say at the start of a run is nothing that the inputs could take.

        Args:
            values: Its varied numbers.
        """
        if self.law is None:
            return
        try:
            system, state = self.starts.single(values)
        except AppellError:  # of this run alone
            return
        law = self.law.anew(system)
        try:
            law(state.t, state)
        except ModelError:
            raise
        except Exception:  # of the user's own function: every run tells its own
            return

    def alone(self, columns: Mapping[str, np.ndarray]) -> Outcomes:
        """Make runs one by one, whatever they are."""
        count = next(iter(columns.values())).size
        found = Collected(self.system.model, self.names, self.kept, self.settings, count)
        self._one_by_one(list(range(count)), columns, found, unwatched, None)
        return found.outcomes()

    def _one_by_one(
        self,
        runs: list[int],
        columns: Mapping[str, np.ndarray],
        found: Collected,
        watch: Watch,
        elsewhere: Elsewhere | None,
    ) -> None:
        """Some runs by `simulate`, the others being done: here, and where these take long elsewhere."""
        before = next(iter(columns.values())).size - len(runs)
        for k, run in enumerate(runs):
            if watch(before + k):
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
        try:
            found.motion(run, self.motion(values))
        except AppellError as error:
            found.fail(run, Outcome.NOT_STARTED, self.settings.t0, str(error))
        except Exception as error:  # of a user's own function
            words = f"{Outcome.RAISED.value} {type(error).__name__}: {error}{own_line(error)}"
            found.fail(run, Outcome.RAISED, self.settings.t0, words)

    def motion(self, values: Mapping[str, float]) -> Motion:
        """One run by `simulate`.

        Args:
            values: Its varied numbers.
        """
        s = self.settings
        system, state = self.starts.single(values)
        law, rate = (None, None) if self.law is None else (self.law.anew(system), s.rate)
        return simulate(
            system, state, s.until, method=self._method(system, state), rtol=s.rtol, atol=s.atol,
            at=np.union1d(s.grid, s.until), events=s.events, outputs=s.outputs, control=law, rate=rate,
            progress=False, max_steps=s.max_steps,
        )  # fmt: skip

    def _method(self, system: System, state: State) -> str:
        """The method of a single run: that of the lanes where runs of this system go in them, unless it is stiff."""
        s = self.settings
        if s.method != "auto" or (self.why_single and not s.few):
            return s.method
        rate = stiffness(system.code, s.t0, system.to_x(state), system.w, system.p)
        return "auto" if rate * (s.until - s.t0) > STIFF else "dop853"

    def _why(self, batch: Batch, run: int, state: State, outcome: Outcome) -> tuple[Outcome, str]:
        """The likely cause of a lane's end, as a single run tells it."""
        code, s, w, p = self.system.code, self.settings, batch.w[:, run], batch.p[:, run]
        system = System(code, dict(zip([letter.label for letter in self.system.model.parameters], p, strict=True)))
        start = System(batch.began[run], system.values).from_x(s.t0, batch.x[:, run])
        first, inertia = np.zeros(0), 0.0
        if self.masses.names:
            x0 = system.to_x(start)
            first, inertia = self.masses(s.t0, x0, w, p), smallest_inertia(code, s.t0, x0, w, p)
        jacobian = SpeedWatch(code, Projection(code, p), lambda: w, p, None).jacobian
        span = (state.t - s.t0) or (s.until - state.t)
        stop = Stop(
            system=system,
            t=state.t,
            x=system.to_x(state),
            w=w,
            start=start,
            span=span,
            masses=self.masses,
            first_masses=first,
            inertia=inertia,
            jacobian=jacobian,
        )
        outcome, cause = cause_of(outcome, stop)
        return outcome, f"; likely cause: {cause}"


def _table_letters(system: System, shown: Sequence[Input]) -> list[Letter]:
    """What is tabulated: coordinates, rates, extra states, speeds that are none of these, inputs that move."""
    model, equations = system.model, system.equations
    letters: list[Letter] = [*model.coordinates, *(q.rate for q in model.coordinates), *model.states]
    known = {s.label for s in letters}
    return [*letters, *(s for s in equations.speeds if s.label not in known), *shown]
