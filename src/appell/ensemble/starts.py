"""Where the runs of a sweep begin: numbers, states, equations in a good choice of speeds, for many runs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.constants import Constant, constants
from appell.code.fitting import fitting_code
from appell.code.state import State, names_of
from appell.code.system import System
from appell.ensemble.switching import best_growths, growths
from appell.errors import AppellError, InconsistentStartError, MissingValueError, ModelError
from appell.kinematics.consistency import tolerances
from appell.model.symbols import letters_in
from appell.model.values import unknown
from appell.motion.projection import GOOD, Projection
from appell.motion.run import starting_state

MENDED = 10.0  # times what a start may leave of rows is mended by the projection; of more, single runs say if it is


@dataclass(eq=False)
class Batch:
    """The starts of some runs.

    Attributes:
        x, w, p: One column for each run.
        codes: The equations they begin with, and which runs these are.
        errors: Runs that cannot begin, with the reason.
    """

    x: np.ndarray
    w: np.ndarray
    p: np.ndarray
    codes: dict[Code, list[int]] = field(default_factory=dict)
    errors: dict[int, str] = field(default_factory=dict)

    @property
    def good(self) -> list[int]:
        """Runs that can begin."""
        return [i for members in self.codes.values() for i in members]


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
        self.projections: dict[Code, Projection] = {}
        model, equations = system.model, system.equations
        numbers = [s.label for s in (*model.parameters, *equations.inputs)]
        closed = [w.label for w in equations.closed]
        speeds = [s.label for s in equations.speeds]
        states = tuple(dict.fromkeys((*names_of(model), *speeds)))
        for name in varied:
            if name in closed:
                raise ModelError(
                    f"{name!r} is given by a formula and cannot be varied as well; vary what stands in it."
                )
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
        ours = names_of(model)
        whole = [isinstance(start, State) and (start.model is model or start.names == ours) for start in self.given]
        known = all(here or set(self._base(start)) <= set(ours) for here, start in zip(whole, self.given, strict=True))
        self.simple = not model.rows and known and set(self.states) <= set(ours)
        self.stated = not self.states and all(whole)

    def _base(self, start: Any) -> Mapping[str, float]:
        """Values of a start by name."""
        if start is None:
            return self.system.model.start
        return start.to_dict() if isinstance(start, State) else start

    def bound(self, values: Mapping[str, float]) -> System:
        """The system of one run."""
        return System(self.system.code, {**self.system.values, **{name: values[name] for name in self.numbers}})

    def state(self, system: System, values: Mapping[str, float]) -> State:
        """The starting state of one run."""
        start = self.given[int(values.get("start", 0))]
        if not self.states:
            try:
                given = start if start is None or isinstance(start, State) else system.state(start, self.t0)
                return starting_state(system, given)
            except InconsistentStartError:
                if start is None or not self.numbers:
                    raise
            # On the constraints with other numbers, perhaps, but not with those of this run.
            if isinstance(start, State):
                return system.consistent(near=start.to_dict(), t=self.t0)
            return system.consistent(start, t=self.t0)
        varied = {name: values[name] for name in self.states}
        names, base = names_of(self.system.model), dict(self._base(start))
        if set(varied) - set(names):  # quasi-velocities: rates of the suggestion would contradict them
            base = {name: value for name, value in base.items() if not name.endswith(".rate")}
        if not system.model.rows:
            return system.state({**base, **varied}, self.t0)
        given = start if isinstance(start, Mapping) else {}
        return system.consistent({**given, **varied}, {n: v for n, v in base.items() if n not in varied}, self.t0)

    def single(self, values: Mapping[str, float]) -> tuple[System, State]:
        """System and start of one run."""
        system = self.system.bind({name: values[name] for name in self.numbers})
        return system, self.state(system, values)

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
        if self.simple:
            self._simple(batch, columns)
            return batch
        rows_of = [{name: float(column[i]) for name, column in columns.items()} for i in range(count)]
        done = self._together(batch, self._states(batch, columns, rows_of))
        for i in np.flatnonzero(~done).tolist():
            if i not in batch.errors:
                self._one(batch, i, rows_of[i])
        return batch

    def _states(
        self, batch: Batch, columns: Mapping[str, np.ndarray], rows: Sequence[Mapping[str, float]]
    ) -> np.ndarray:
        """The starting states (q, q', z), one column for each run; not finite where there is none."""
        if self.stated:
            return np.array([start.array for start in self.given]).T[:, self._which(columns, len(rows))]
        found = np.full((len(names_of(self.system.model)), len(rows)), np.nan)
        for i, values in enumerate(rows):
            if i not in batch.errors:
                try:
                    found[:, i] = self.state(self.bound(values), values).array
                except AppellError as error:
                    batch.errors[i] = str(error)
        return found

    def _simple(self, batch: Batch, columns: Mapping[str, np.ndarray]) -> None:
        """No constraints, rates as numbers: all at once."""
        names, count = names_of(self.system.model), batch.p.shape[1]
        base = [
            start.array if isinstance(start, State) else [self._base(start).get(n, 0.0) for n in names]
            for start in self.given
        ]
        values = np.array(base, dtype=float).T.reshape(len(names), -1)[:, self._which(columns, count)]
        for n in self.states:
            values[names.index(n)] = columns[n]
        n = len(self.system.model.coordinates)
        times = np.full((1, count), self.t0)
        u = np.array(self.system.code.speeds.function(times, values[:n], values[n : 2 * n], values[2 * n :], batch.p))
        batch.x = np.concatenate([values[:n], u.reshape(-1, count), values[2 * n :]])
        finite = np.isfinite(batch.x).all(axis=0)
        for i in np.flatnonzero(~finite):
            batch.errors.setdefault(int(i), "The speeds have no finite value at the start.")
        batch.codes[self.system.code] = [i for i in range(count) if i not in batch.errors]

    def _which(self, columns: Mapping[str, np.ndarray], count: int) -> np.ndarray:
        """Which of the given starts each run has."""
        return columns["start"].astype(int) if len(self.given) > 1 else np.zeros(count, dtype=int)

    def _together(self, batch: Batch, array: np.ndarray) -> np.ndarray:
        """All at once the states that lie on the constraints and begin with the speeds as they are; which these are."""
        code, count = self.system.code, batch.p.shape[1]
        equations, mechanics = code.equations, code.equations.mechanics
        n, t, p = len(equations.coordinates), np.full((1, count), self.t0), batch.p
        q, v, z = array[:n], array[n : 2 * n], array[2 * n :]
        good = np.isfinite(array).all(axis=0)
        good[list(batch.errors)] = False
        exact = np.ones(count, dtype=bool)
        if mechanics.position_rows:
            c, slopes = (np.array(e) for e in mechanics.functions["position"](t, q, p))
            good &= _mended(c, slopes, q)
            exact &= (np.abs(c) <= GOOD * np.array(mechanics.row_terms["position"](t, q, p))).all(axis=0)
        if mechanics.row_names:
            e, slopes = (np.array(e) for e in mechanics.functions["velocity"](t, q, v, z, p))
            rows = [i for i in range(len(e)) if i not in mechanics.acceleration_rows]
            good &= _mended(e[rows], slopes[rows], v)
            if equations.chart.redundant:
                exact &= (np.abs(e) <= GOOD * np.array(mechanics.row_terms["velocity"](t, q, v, z, p))).all(axis=0)
            if not equations.formulation.fixed:
                J = np.array(mechanics.functions["jacobian"](t, q, v, z, p))
                J = J.reshape(J.shape[0], count, n).transpose(1, 0, 2)
                best, split = best_growths(equations.split, J), equations.split
                growth = growths(split, J) if split.dependent else np.zeros(count)
                good &= growth <= equations.formulation.patience * best  # never where best is NaN
        batch.x[:] = np.concatenate([q, np.array(code.speeds.function(t, q, v, z, p)).reshape(-1, count), z])
        good &= np.isfinite(batch.x).all(axis=0)
        for i in np.flatnonzero(good & ~exact):
            x = batch.x[:, i].copy()
            self._projection(code, p[:, i])(self.t0, x)
            batch.x[:, i] = x
        batch.codes[code] = np.flatnonzero(good).tolist()
        return good

    def _projection(self, code: Code, p: np.ndarray) -> Projection:
        """The projection of a code, with these parameters."""
        if code not in self.projections:
            self.projections[code] = Projection(code, p)
        self.projections[code].p = p
        return self.projections[code]

    def _one(self, batch: Batch, i: int, values: Mapping[str, float]) -> None:
        """One run by the rules of single runs."""
        system = self.bound(values)
        try:
            state = self.state(system, values)
            code = fitting_code(system.code, state, batch.p[:, i])
            x = System(code, system.values).to_x(state)
            self._projection(code, batch.p[:, i])(self.t0, x)
            if not np.all(np.isfinite(x)):
                raise ModelError("The speeds are dependent at the start.")
        except AppellError as error:
            batch.errors[i] = str(error)
            return
        batch.x[:, i] = x
        batch.codes.setdefault(code, []).append(i)

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


def _mended(residual: np.ndarray, slopes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which of many states are on their rows; their slopes stand side by side."""
    rows, (size, count) = residual.shape[0], values.shape
    wide = slopes.reshape(rows, count, size)
    units = tolerances(wide, np.einsum("rcs,sc->rc", np.abs(wide), np.abs(values)))
    return (np.abs(residual) <= MENDED * units).all(axis=0)
