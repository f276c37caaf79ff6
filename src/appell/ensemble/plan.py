"""The plan of a sweep: which runs, how each goes, and checksums of all that decides their numbers."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
import sympy as sp

from appell.code import heyoka_code
from appell.code.state import State
from appell.ensemble.cases import START, Case
from appell.ensemble.design import Design
from appell.ensemble.engine import Watch, unwatched
from appell.ensemble.fingerprint import fingerprint
from appell.ensemble.outcomes import Outcomes
from appell.ensemble.runner import Elsewhere, Runner
from appell.ensemble.settings import Settings
from appell.ensemble.store import MACHINE, RESERVED, Layout
from appell.errors import ModelError
from appell.motion.formula import check_formula
from appell.motion.method import STIFF, stiffness
from appell.motion.motion import Motion
from appell.motion.run import check_event
from appell.motion.versions import versions

WORTH = 100_000  # steps of all lanes together in which CasADi's machine takes about as long as making machine code
FEW = 8  # runs of a case up to which one by one they take no longer than side by side
TOO_STIFF = 3e5  # decay rate times length above which one stiff run takes less time than the steps of a lane
SEVERAL = 16  # runs of a case up to which any stiff run does
TRIED = 4  # runs whose steps are counted before the sweep
LOOKED = 32  # runs whose equations are tested for stiffness before the sweep
HEAVY = 2**22  # numbers of one chunk at most
SHARED = 5000  # runs of one chunk at most, for each core, where they share lanes
FEWEST = 64  # and at least
ROUNDS = 16  # chunks of single runs for each worker, or more where these would be too large


@dataclass(frozen=True, eq=False)
class Plan:
    """Everything about a sweep but where it runs and where its results go.

    Attributes:
        design: The runs.
        which: The case of each run.
        runners: What makes the runs of each case.
    """

    design: Design
    which: np.ndarray
    runners: tuple[Runner, ...]

    @classmethod
    def of(cls, table: Design, cases: list[Case], which: np.ndarray, settings: Settings) -> Plan:
        """Check everything that can be checked before the first run.

        Args:
            table: The runs.
            cases: The systems.
            which: The case of each run.
            settings: How every run goes.
        """
        varied = [name for name in table.columns if name not in table.choices]
        driven = {w for case in cases for w in case.system.equations.closed}
        by_python = any(case.law is not None for case in cases)
        if settings.rate is not None and not by_python:
            raise ModelError("rate= is for a control or inputs given by Python functions; there is none here.")
        shown = tuple(w for w in cases[0].system.model.inputs if by_python or w in driven)
        runners: list[Runner] = []
        lock = threading.Lock()
        for case in cases:
            for event in settings.events:
                check_event(case.system, event)
            runners.append(Runner(case.system, settings, varied, shown, case.law, lock=lock))
            for name, formula in settings.outputs.items():
                if name in [s.label for s in runners[-1].letters]:
                    raise ModelError(f"The output {name!r} has the name of a quantity of the motion; give it another.")
                unheld = case.law is not None and settings.rate is None
                check_formula(case.system.equations, sp.sympify(formula), by_python=unheld)
        plan = cls(table, which, tuple(runners))
        plan._check_names()
        plan._ask_laws()
        plan = plan._with_few()
        plan = plan._with_stiffness() if settings.method == "auto" else plan
        return plan._with_machine_code()

    def _check_names(self) -> None:
        """Raise if two things in the study would have the same name."""
        names, outputs = self.runners[0].names, self.runners[0].settings.outputs
        varied = [self.coordinate(name) for name in self.design.columns]
        taken = {*RESERVED, *(f"{name}.end" for name in names)}
        for name in (*names, *varied):
            if name in taken or (name in names and name in varied):
                raise ModelError(
                    f"The {'output' if name in outputs else 'quantity'} {name!r} has a name that a study needs for "
                    f"other values; give it another. Taken are {', '.join((*RESERVED, *varied))}, and the name of "
                    "every quantity with .end behind it."
                )

    def _ask_laws(self) -> None:
        """Raise if the Python functions of a case give its inputs wrongly: else every run would say so."""
        for i, runner in enumerate(self.runners):
            first = np.flatnonzero(self.which == i)[:1]
            if first.size:
                runner.ask(self.values(int(first[0])))

    def _with_few(self) -> Plan:
        """Few runs go one by one: told by the whole study, whatever its chunks."""
        runners = list(self.runners)
        for i, runner in enumerate(runners):
            asked = runner.system.code.steps or runner.settings.corners == "cross"  # for lanes
            if not (runner.why_single or asked) and np.count_nonzero(self.which == i) <= FEW:
                runners[i] = runner.with_settings(few=True)
        return replace(self, runners=tuple(runners))

    def _with_stiffness(self) -> Plan:
        """Look at some runs; if one is stiff, every run is tested before it begins."""
        runners = list(self.runners)
        for i, runner in enumerate(runners):
            members = np.flatnonzero(self.which == i)
            if runner.why_single or not members.size:
                continue
            picked = members[np.unique(np.linspace(0, members.size - 1, LOOKED).astype(int))]
            batch = runner.starts.batch(self.columns(picked))
            s, code = runner.settings, runner.system.code
            limit = STIFF if members.size <= SEVERAL else TOO_STIFF
            stiff = sum(
                stiffness(code, s.t0, batch.x[:, k], batch.w[:, k], batch.p[:, k]) * (s.until - s.t0) > limit
                for k in batch.good
            )
            if stiff:
                runners[i] = runner.with_settings(too_stiff=limit, mostly_stiff=2 * stiff > len(batch.good))
        return replace(self, runners=tuple(runners))

    def _with_machine_code(self) -> Plan:
        """Machine code for lanes that will make enough steps to pay for it: told by a few runs, never by a clock."""
        runners = list(self.runners)
        for i, runner in enumerate(runners):
            members, code = np.flatnonzero(self.which == i), runner.system.code
            if runner.why_single or not members.size or not code.simd or code.steps or not heyoka_code.available():
                continue
            enough = WORTH / members.size
            picked = members[np.unique(np.linspace(0, members.size - 1, TRIED).astype(int))]
            if enough > 1 and runner.steps(self.columns(picked), ceil(enough)) < enough:
                runners[i] = runner.with_settings(compiled=False)
        return replace(self, runners=tuple(runners))

    @property
    def varied(self) -> list[str]:
        """Names of the numbers that are varied."""
        return [name for name in self.design.columns if name not in self.design.choices]

    def columns(self, picked: Any) -> dict[str, np.ndarray]:
        """The varied numbers of some runs, which start each has; positions alone if nothing of that is varied."""
        chosen = [START] if START in self.design.choices else []
        found = {name: self.design.columns[name][picked] for name in (*self.varied, *chosen)}
        return found or {"": np.arange(self.design.runs)[picked]}

    def motion(self, run: int) -> Motion:
        """One run as a motion of its own."""
        return self.runners[int(self.which[run])].motion(self.values(run))

    def values(self, run: int) -> dict[str, float]:
        """The varied numbers of one run."""
        return {name: float(column[0]) for name, column in self.columns([run]).items()}

    @property
    def runs(self) -> int:
        """How many runs."""
        return self.design.runs

    @property
    def together(self) -> bool:
        """Whether runs go in lanes, which machine code spreads over the cores by itself."""
        return not any(runner.one_by_one for runner in self.runners)

    def layout(self, chunk: int | None, workers: int, cores: int = 1) -> Layout:
        """What is kept of every run; chunks of equal size, as many as the workers can share evenly.

        Args:
            chunk: Runs of one chunk; chosen by size if None.
            workers: How many make chunks at the same time.
            cores: How many cores each of them has.
        """
        first = self.runners[0]
        s = first.settings
        if chunk is None:
            heavy = max(4, HEAVY // (len(first.names) * s.grid.size))
            most, least = (32, 1) if first.one_by_one else (min(SHARED * cores, heavy), FEWEST)
            # Single runs may take minutes each: whoever interrupts them shall keep what was made.
            rounds = -(-self.runs // (workers * most)) if not first.one_by_one else ROUNDS
            chunk = min(most, max(least, -(-self.runs // (workers * rounds))))
        columns = {self.coordinate(name): values for name, values in self.design.columns.items()}
        names = [event.name for event in s.events]
        return Layout(self.runs, int(chunk), s.grid, first.kept, first.units, names, columns)

    def coordinate(self, name: str) -> str:
        """The name of a varied quantity in the dataset: a starting value is not the quantity itself."""
        if name in self.design.choices:
            return f"{name}.choice"
        return f"{name}.start" if name in [s.label for s in self.runners[0].letters] else name

    def about(self) -> dict[str, Any]:
        """What the study is, as plain data."""
        s, system = self.runners[0].settings, self.runners[0].system
        return {
            "model": system.model.name,
            "description": system.model.description,
            "formulation": system.equations.formulation.name,
            "words": self.design.words,
            "varied": {name: self.coordinate(name) for name in self.design.columns},
            "labels": {self.coordinate(name): list(things) for name, things in self.design.choices.items()},
            "shape": list(self.design.shape),
            "axes": list(self.design.axes),
            "columns": self.runners[0].kept,
            "events": [event.name for event in s.events],
            "t0": s.t0,
            "until": s.until,
            "points": int(s.grid.size),
            "method": s.method,
            "rtol": s.rtol,
            "atol": s.atol,
            "values": dict(system.values),
            "where": "",
            "reasons": {},
            "versions": versions(),
        }

    @cached_property
    def graphs(self) -> list[dict[str, Any] | None]:
        """The functions of the lanes of every case as text; None where there are no lanes."""
        return [None if runner.why_single else runner.rules.graphs().to_data() for runner in self.runners]

    def parts(self) -> dict[str, str]:
        """Checksums of what decides the results, and the machine by its name."""
        s = self.runners[0].settings
        equations = [r.system.code.rhs.function.serialize() for r in self.runners]
        fixed = [{n: v for n, v in r.system.values.items() if n not in self.varied} for r in self.runners]
        begins = s.start if isinstance(s.start, tuple) else (s.start,)
        starts = [begin.to_dict() if isinstance(begin, State) else begin for begin in begins]
        try:
            laws, control = [fingerprint(r.law) for r in self.runners if r.law is not None], "the control"
        except ModelError as error:  # such a study cannot be continued
            laws, control = [os.urandom(16).hex()], f"the control, of which no checksum can be made ({error})"
        code = self.runners[0].system.code
        return {
            MACHINE: code.machine + (" without heyoka" if code.simd and not heyoka_code.available() else ""),
            "the equations": _digest(*equations),
            "the values of parameters": _digest(json.dumps(fixed, sort_keys=True)),
            "the starts": _digest(json.dumps(starts, sort_keys=True), repr(s.t0)),
            "the runs": _digest(*self.design.columns.items(), self.which),
            "the times of the table": _digest(s.grid, repr(s.until)),
            "method and tolerances": _digest(repr((s.method, s.rtol, s.atol, s.max_steps, s.corners))),
            "the events": _digest(
                repr([(e.name, str(e.expression), e.direction, e.stop, str(e.reset)) for e in s.events])
            ),
            "the outputs": _digest(
                repr({name: str(formula) for name, formula in s.outputs.items()}),
                *(() if s.columns is None else self.runners[0].kept),
            ),
            control: _digest(*laws, *(() if s.rate is None else (repr(s.rate),))),
        }

    def make(
        self,
        first: int,
        last: int,
        watch: Watch = unwatched,
        elsewhere: Callable[[int], Elsewhere] | None = None,
    ) -> Outcomes:
        """The runs from `first` up to `last`.

        Args:
            first: The first run.
            last: The first behind them.
            watch: Told how far they are, and asked whether to give up.
            elsewhere: What may take over single runs of a case.
        """
        return made(self.runners, self.columns(slice(first, last)), self.which[first:last], watch, elsewhere)


def made(
    runners: Sequence[Runner],
    columns: Mapping[str, np.ndarray],
    which: np.ndarray,
    watch: Watch,
    elsewhere: Callable[[int], Elsewhere] | None = None,
) -> Outcomes:
    """Some runs, each by the runner of its case."""

    def run(case: int, mine: Mapping[str, np.ndarray], before: int = 0) -> Outcomes:
        other = None if elsewhere is None else elsewhere(case)
        return runners[case].run(mine, lambda done: watch(before + done), elsewhere=other)

    present = np.unique(which)
    if present.size == 1:
        return run(int(present[0]), columns)
    whole: Outcomes | None = None
    before = 0
    for case in present:
        members = np.flatnonzero(which == case)
        part = run(int(case), {name: values[members] for name, values in columns.items()}, before)
        before += members.size
        if whole is None:
            whole = Outcomes({n: np.empty((which.size, *a.shape[1:]), a.dtype) for n, a in part.arrays.items()})
        for name, values in part.arrays.items():
            whole.arrays[name][members] = values
        for reason, count in part.reasons.items():
            whole.reasons[reason] = whole.reasons.get(reason, 0) + count
    assert whole is not None
    return whole


def _digest(*parts: Any) -> str:
    digest = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            digest.update(piece)
        digest.update(b"\0")
    return digest.hexdigest()


def _pieces(part: Any) -> Iterator[bytes]:
    """What is written of a text, an array, or a name with an array; of long ones piece by piece."""
    if isinstance(part, tuple):
        name, values = part
        yield f"{name}:".encode()
        yield from (values[i : i + HEAVY].tobytes().hex().encode() for i in range(0, values.size, HEAVY))
    else:
        yield part.tobytes() if isinstance(part, np.ndarray) else str(part).encode()
