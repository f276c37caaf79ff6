"""Where the runs of a sweep begin: numbers, states, equations in a good choice of speeds, for many runs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code.bindings import Bindings, Found, Values, part, side_by_side
from appell.code.code import Code
from appell.code.constants import Constant, constants
from appell.code.fitting import fitting_code
from appell.code.starting import consistent_states, given_states, suggested_states, unfit
from appell.code.state import State, check_state, names_of
from appell.code.system import System
from appell.ensemble.switching import best_growths
from appell.errors import AppellError, InconsistentStartError, MissingValueError, ModelError
from appell.graph.numeric import SideBySide
from appell.kinematics.split import growths
from appell.model.symbols import letters_in
from appell.model.values import unknown
from appell.motion.projection import project


@dataclass(eq=False)
class Batch:
    """The starts of some runs.

    Attributes:
        x, w, p: One column for each run.
        codes: The equations they begin with, and which runs these are.
        errors: Runs that cannot begin, with the reason.
        alone: Runs that cannot begin in a lane, with the reason.
    """

    x: np.ndarray
    w: np.ndarray
    p: np.ndarray
    codes: dict[Code, list[int]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)
    alone: dict[int, str] = field(default_factory=dict)

    @property
    def good(self) -> list[int]:
        """Runs that can begin."""
        return [i for members in self.codes.values() for i in members]

    @cached_property
    def began(self) -> dict[int, Code]:
        """The equations that each of these begins with."""
        return {i: code for code, members in self.codes.items() for i in members}


@dataclass(frozen=True, eq=False)
class _Kind:
    """Starts that are given in the same way.

    Attributes:
        of: None for the model's suggestion, `State`, or `dict` for values by name.
        which: Which of the starts these are.
        base: Their values by name, one for each of them.
    """

    of: type | None
    which: np.ndarray
    base: Mapping[str, np.ndarray]


class Starts:
    """Makes starts.

    Args:
        system: The system, with numbers for all that is not varied.
        start: What the user gave as a start: a state, values by name, or None for the model's suggestion; a tuple of
            these if the column "start" says which.
        t0: When runs begin.
        varied: Names of what is varied.
        driven: Whether a Python function gives the open inputs.
    """

    def __init__(self, system: System, start: Any, t0: float, varied: Sequence[str], driven: bool) -> None:
        self.system, self.t0 = system, t0
        self.given: tuple[Any, ...] = start if isinstance(start, tuple) else (start,)
        model, equations = system.model, system.equations
        numbers = [s.label for s in (*model.parameters, *equations.inputs)]
        closed = [w.label for w in equations.closed]
        speeds = [s.label for s in equations.speeds]
        states = tuple(dict.fromkeys((*names_of(model), *speeds)))
        for name in varied:
            if name in closed:
                raise ModelError(f"{name!r} is given by a formula and cannot be varied as well; vary a letter in it.")
            if name not in numbers and name not in states:
                known = sorted({*numbers, *states})
                raise ModelError(unknown(name, known, f"parameter, input or state of {model.name!r}"))
        self.numbers = [name for name in varied if name in numbers]
        self.states = [name for name in varied if name not in numbers]
        given = [w.label for w in equations.inputs] if driven else []
        absent = [name for name in system.missing if name not in (*self.numbers, *given)]
        if absent:
            error = MissingValueError(
                f"No value for {', '.join(absent)}; write "
                f"system.bind({{{', '.join(f'{name}: ...' for name in absent)}}}), or vary what has none."
            )
            error.names = tuple(absent)
            raise error
        self.kinds = self._kinds()

    def _base(self, start: Any) -> Mapping[str, float]:
        """Values of a start by name."""
        if start is None:
            return self.system.model.start
        return start.to_dict() if isinstance(start, State) else start

    def _kinds(self) -> list[_Kind]:
        """The starts by the way in which they are given, so that those of one kind can be completed together."""
        alike: dict[tuple[Any, ...], list[int]] = {}
        for k, start in enumerate(self.given):
            if isinstance(start, State):
                check_state(start, self.system.model)
            of = None if start is None else State if isinstance(start, State) else dict
            alike.setdefault((of, *sorted(self._base(start))), []).append(k)
        kinds = []
        for (of, *names), which in alike.items():
            bases = [self._base(self.given[k]) for k in which]
            base = {name: np.array([values[name] for values in bases]) for name in names}
            kinds.append(_Kind(of, np.array(which), base))
        return kinds

    def _bound(self, columns: Mapping[str, np.ndarray], p: np.ndarray) -> Bindings:
        """The systems of some runs."""
        varied = {name: columns[name] for name in self.numbers}
        return Bindings(self.system.code, {**self.system.values, **varied}, p)

    def completed(self, these: Bindings, columns: Mapping[str, np.ndarray]) -> Found:
        """The starting states of some runs.

        Args:
            these: Their systems.
            columns: Their varied numbers, by name.
        """
        which, names = self._which(columns, len(these)), names_of(self.system.model)
        found = Found(np.full((len(these), len(names)), np.nan))
        for kind in self.kinds:
            members = np.flatnonzero(np.isin(which, kind.which))
            if members.size:
                base = part(kind.base, np.searchsorted(kind.which, which[members]))
                varied = {name: columns[name][members] for name in self.states}
                try:
                    found.put(members, self._from(these.part(members), kind.of, base, varied))
                except AppellError as error:
                    found.refuse(dict.fromkeys(members.tolist(), error))
        return found

    def _from(self, these: Bindings, of: type | None, base: Values, varied: Mapping[str, np.ndarray]) -> Found:
        """The states that follow from starts of one kind, and from starting values that are varied."""
        model, t0 = self.system.model, self.t0
        given = base if of is dict else {}
        if varied:
            if set(varied) - set(names_of(model)):  # quasi-velocities: rates of the suggestion would contradict them
                base = {name: value for name, value in base.items() if not name.endswith(".rate")}
            if not model.rows:
                return given_states(these, {**base, **varied}, t0)
            near = {name: value for name, value in base.items() if name not in varied}
            return consistent_states(these, {**given, **varied}, near, t0)
        if of is None:
            return suggested_states(these)
        found = Found(these.rows(names_of(model), base)) if of is State else given_states(these, base, t0)
        here = found.good
        found.refuse({int(here[i]): error for i, error in unfit(these.part(here), t0, found.array[here]).items()})
        lost = found.lost(InconsistentStartError)
        if self.numbers and lost.size:  # on the constraints with other numbers, perhaps, but not with those of this run
            near = base if of is State else {}
            found.put(lost, consistent_states(these.part(lost), part(given, lost), part(near, lost), t0))
        return found

    def single(self, values: Mapping[str, float]) -> tuple[System, State]:
        """System and start of one run."""
        system = self.system.bind({name: values[name] for name in self.numbers})
        columns = {name: np.array([value]) for name, value in values.items()}
        found = self.completed(Bindings.alone(system), columns)
        if found.errors:
            raise found.errors[0]
        return system, State(system.model, found.array[0], self.t0)

    def batch(self, columns: Mapping[str, np.ndarray]) -> Batch:
        """The starts of many runs."""
        count = next(iter(columns.values())).size
        model, equations = self.system.model, self.system.equations

        def rows(letters: Sequence[Any]) -> np.ndarray:
            found = np.empty((len(letters), count))
            for i, s in enumerate(letters):
                found[i] = columns[s.label] if s.label in self.numbers else self.system.values[s.label]
            return found

        batch = Batch(np.zeros((equations.x.numel(), count)), rows(equations.inputs), rows(model.parameters))
        self._check_masses(batch)
        these, left = self._bound(columns, batch.p.T), np.setdiff1d(np.arange(count), [*batch.errors])
        for runs in side_by_side(left):
            found = self.completed(these.part(runs), {name: column[runs] for name, column in columns.items()})
            batch.errors.update({int(runs[i]): str(error) for i, error in found.errors.items()})
            self._begin(batch, runs[found.good], found.array[found.good])
        return batch

    def _which(self, columns: Mapping[str, np.ndarray], count: int) -> np.ndarray:
        """Which of the given starts each run has."""
        return columns["start"].astype(int) if len(self.given) > 1 else np.zeros(count, dtype=int)

    def _begin(self, batch: Batch, runs: np.ndarray, states: np.ndarray) -> None:
        """Write some runs in the speeds that fit their starting states (q, q', z), a row each."""
        n, p = len(self.system.model.coordinates), batch.p.T[runs]
        for code, members in self._fitting(batch, runs, states).items():
            if code.equations.x.numel() != len(batch.x):
                batch.alone.update(
                    dict.fromkeys(runs[members].tolist(), "a constraint row says nothing at their start")
                )
                continue
            own, numbers = states[members], p[members]
            q, v, z = own[:, :n], own[:, n : 2 * n], own[:, 2 * n :]
            u = SideBySide(code.speeds.function)(len(own), self.t0, q, v, z, numbers)[0][:, :, 0]
            x = np.concatenate([q, u, z], axis=1)
            project(code, self.t0, x, numbers)
            finite = np.isfinite(x).all(axis=1)
            batch.x[:, runs[members]] = x.T
            batch.codes.setdefault(code, []).extend(runs[members[finite]].tolist())
            batch.errors.update(
                dict.fromkeys(runs[members[~finite]].tolist(), "The speeds are dependent at the start.")
            )

    def _fitting(self, batch: Batch, runs: np.ndarray, states: np.ndarray) -> dict[Code, np.ndarray]:
        """The equations that fit starting states, and which of the states each does; as `fitting_code` says."""
        code, n, p = self.system.code, len(self.system.model.coordinates), batch.p.T[runs]
        equations, functions, split = code.equations, code.equations.mechanics.functions, code.equations.split
        if equations.formulation.fixed or not equations.mechanics.row_names:
            return {code: np.arange(runs.size)}
        q, v, z = states[:, :n], states[:, n : 2 * n], states[:, 2 * n :]
        J = SideBySide(functions[equations.formulation.rows_by])(runs.size, self.t0, q, v, z, p)[0]
        growth = growths(split.rows, [split.dependent], J)[:, 0] if split.dependent else np.zeros(runs.size)
        good = growth <= equations.formulation.patience * best_growths(split, J)  # never where the best is NaN
        found: dict[Code, list[int]] = {code: np.flatnonzero(good).tolist()}
        for i in np.flatnonzero(~good).tolist():
            try:
                other = fitting_code(code, State(equations.model, states[i], self.t0), p[i])
                found.setdefault(other, []).append(i)
            except AppellError as error:
                batch.errors[int(runs[i])] = str(error)
        return {code: np.array(members) for code, members in found.items() if members}

    def _check_masses(self, batch: Batch) -> None:
        """Constant masses and moments must be positive, as `System.bind` wants."""
        listed, function = self._constants
        if not listed:
            return
        varied = any(s.label in self.numbers for constant in listed for s in letters_in(constant.formula))
        values = np.array(function(batch.p if varied else batch.p[:, :1]))
        for constant, row in zip(listed, np.broadcast_to(values, (len(listed), batch.p.shape[1])), strict=True):
            for i in np.flatnonzero(constant.bad(row)):
                batch.errors.setdefault(int(i), constant.refusal(row[i]))

    @cached_property
    def _constants(self) -> tuple[list[Constant], ca.Function]:
        return constants(self.system.equations.mechanics)
