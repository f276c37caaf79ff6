"""What drives a run: open inputs as numbers, by a law that is always asked, or by one whose answers are held."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.code.state import State
from appell.code.system import System
from appell.errors import ModelError
from appell.model.symbols import key
from appell.model.values import unknown
from appell.motion.clock import Clock

TWICE = (
    "The control gives {!r}, which is given or varied by itself; leave it to one of them. A control that gives some of "
    "the inputs returns them by name."
)


@dataclass(frozen=True, eq=False)
class Law:
    """Time and state to the open inputs, in order, by Python functions; the others as they are bound.

    Attributes:
        system: The system.
        functions: Functions of t, by input.
        control: A function of t and the state, or None.
        elsewhere: Inputs that are given, so that a control must not give them once more.
    """

    system: System
    functions: Mapping[str, Callable[[float], float]]
    control: Any
    elsewhere: frozenset[str]

    def __call__(self, t: float, state: State) -> np.ndarray:
        """Values of the open inputs."""
        equations = self.system.equations
        order, closed = [w.label for w in equations.inputs], [w.label for w in equations.closed]
        values = {label: self.system.values.get(label, np.nan) for label in order}
        values.update({label: function(t) for label, function in self.functions.items()})
        given = self.control(t, state) if self.control is not None else {}
        if given is None:
            raise ModelError(f"The control returned nothing; end it with `return` and a value for {', '.join(order)}.")
        if not isinstance(given, Mapping):
            column = np.atleast_1d(given).ravel()
            if column.size != len(order):
                wanted = f"for {len(order)} inputs ({', '.join(order)})" if order else "where no input is left to it"
                raise ModelError(
                    f"The control gave {column.size} value{'s' * (column.size != 1)} {wanted}"
                    + (f"; formulas give {', '.join(closed)}." if closed else ".")
                )
            given = dict(zip(order, column, strict=True))
        for name, value in given.items():
            if key(name) not in (*order, *closed):
                raise ModelError(unknown(key(name), order, "open input that the control could give"))
            if key(name) in closed or key(name) in self.elsewhere:
                raise ModelError(TWICE.format(key(name)))
            values[key(name)] = value
        try:
            return np.array([float(values[label]) for label in order])
        except (TypeError, ValueError):
            raise ModelError(f"The inputs must be numbers, got {values!r} at t = {t:g}.") from None


@dataclass(frozen=True, eq=False)
class Drive:
    """Where the values of the open inputs come from; those of the system if there is neither law nor clock.

    Attributes:
        law: From time and state to the open inputs, asked wherever they are needed.
        clock: A law that is asked at regular times, with what it said last.
    """

    law: Law | None = None
    clock: Clock | None = None

    @classmethod
    def of(cls, law: Law | None, rate: float | None, start: State, end: float) -> Drive:
        """A law, sampled if it has a rate."""
        if law is None or rate is None:
            return cls(law)
        return cls(clock=Clock(start, end, law, rate))

    @property
    def asks(self) -> str:
        """What Python functions make inputs of: "time", "state", or nothing if there are none."""
        law = self.law if self.clock is None else self.clock.law
        return "" if law is None else "time" if law.control is None else "state"

    def inputs(self, system: System, t: float, x: np.ndarray) -> np.ndarray:
        """Values of the open inputs."""
        return self.any(system) if self.law is None else self.law(t, system.from_x(t, x))

    def any(self, system: System) -> np.ndarray:
        """Some values of the open inputs, for what does not depend on them: no law is asked."""
        if self.clock is not None:
            return self.clock.held
        return system.w if self.law is None else np.zeros(len(system.equations.inputs))
