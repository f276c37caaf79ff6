"""Where the runs of a sweep begin: numbers, states, equations in a good choice of speeds, for many runs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.code.code import Code
from appell.code.state import State, names_of, unknown
from appell.code.system import System
from appell.errors import AppellError, ModelError
from appell.model.body import RigidBody
from appell.motion.driver import best_code
from appell.motion.projection import Projection
from appell.motion.run import starting_state


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
        start: What the user gave as a start: a state, values by name, or None for the model's suggestion.
        t0: When runs begin.
        varied: Names of what is varied.
        driven: Whether a Python function gives the open inputs.
    """

    def __init__(self, system: System, start: Any, t0: float, varied: Sequence[str], driven: bool) -> None:
        self.system, self.start, self.t0 = system, start, t0
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
            raise ModelError(f"No value for {', '.join(absent)}; bind numbers to the system, or vary them.")
        plain = set(self.states) <= set(names_of(model)) and not (set(self._base()) - set(names_of(model)))
        self.simple = not model.rows and plain

    def _base(self) -> Mapping[str, float]:
        """Values of the start by name."""
        if self.start is None:
            return self.system.model.start
        return self.start.to_dict() if isinstance(self.start, State) else self.start

    def bound(self, values: Mapping[str, float]) -> System:
        """The system of one run."""
        return System(self.system.code, {**self.system.values, **{name: values[name] for name in self.numbers}})

    def state(self, system: System, values: Mapping[str, float]) -> State:
        """The starting state of one run."""
        if not self.states:
            if self.start is None or isinstance(self.start, State):
                return starting_state(system, self.start)
            return starting_state(system, system.state(self.start, self.t0))
        varied = {name: values[name] for name in self.states}
        names, base = names_of(self.system.model), dict(self._base())
        if set(varied) - set(names):  # quasi-velocities: rates of the suggestion would contradict them
            base = {name: value for name, value in base.items() if not name.endswith(".rate")}
        if not system.model.rows:
            return system.state({**base, **varied}, self.t0)
        given = self.start if isinstance(self.start, Mapping) else {}
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
        else:
            for i in range(count):
                if i not in batch.errors:
                    self._one(batch, i, {name: float(column[i]) for name, column in columns.items()})
        return batch

    def _simple(self, batch: Batch, columns: Mapping[str, np.ndarray]) -> None:
        """No constraints, rates as numbers: all at once."""
        names, base, count = names_of(self.system.model), self._base(), batch.p.shape[1]
        values = np.array([columns[n] if n in self.states else np.full(count, base.get(n, 0.0)) for n in names])
        n = len(self.system.model.coordinates)
        times = np.full((1, count), self.t0)
        u = np.array(self.system.code.speeds.function(times, values[:n], values[n : 2 * n], values[2 * n :], batch.p))
        batch.x = np.concatenate([values[:n], u.reshape(-1, count), values[2 * n :]])
        finite = np.isfinite(batch.x).all(axis=0)
        for i in np.flatnonzero(~finite):
            batch.errors.setdefault(int(i), "The speeds have no finite value at the start.")
        batch.codes[self.system.code] = [i for i in range(count) if i not in batch.errors]

    def _one(self, batch: Batch, i: int, values: Mapping[str, float]) -> None:
        """One run by the rules of single runs."""
        system = self.bound(values)
        try:
            state = self.state(system, values)
            code = best_code(system.code, state, batch.p[:, i])
            x = System(code, system.values).to_x(state)
            Projection(code, batch.p[:, i])(self.t0, x)
            if not np.all(np.isfinite(x)):
                raise ModelError("The speeds are dependent at the start.")
        except AppellError as error:
            batch.errors[i] = str(error)
            return
        batch.x[:, i] = x
        batch.codes.setdefault(code, []).append(i)

    def _check_masses(self, batch: Batch) -> None:
        """Constant masses and moments must be positive, as `System.bind` wants."""
        model, p = self.system.model, self.system.equations.mechanics.variables.p
        constant = set(model.parameters)
        for body in model.bodies:
            moments = list(body.inertia.diagonal()) if isinstance(body, RigidBody) else []
            for what, formula in (("mass", body.mass), *(("moment of inertia", e) for e in moments)):
                formula = sp.sympify(formula)
                if not formula.free_symbols or not formula.free_symbols <= constant:
                    continue
                f = ca.Function("mass", [p], [ca.densify(self.system.equations.formula(formula))])
                values = np.array(f(batch.p)).ravel()
                bad = values < 0 if what != "mass" or moments else values <= 0
                for i in np.flatnonzero(bad):
                    words = f"The {what} of {body.name!r} is {formula} = {values[i]:g} with these values; "
                    batch.errors.setdefault(int(i), words + "it must be positive.")
