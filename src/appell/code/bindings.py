"""Systems side by side: the same functions, each time bound to other numbers; and states of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from appell.code.code import Code
from appell.equations import Equations
from appell.errors import AppellError

if TYPE_CHECKING:
    from appell.code.system import System

SIDE_BY_SIDE = 2048  # systems at once: as many as keep the caches of a processor busy

Values = Mapping[str, float] | Mapping[str, float | np.ndarray]
"""Numbers by name, each one for all systems or one for every system."""


@dataclass(frozen=True, eq=False)
class Bindings:
    """Systems side by side.

    Attributes:
        code: Their functions.
        values: Numbers of parameters and inputs.
        p: Those of the parameters, a row for each system.
    """

    code: Code
    values: Values
    p: np.ndarray

    @classmethod
    def alone(cls, system: System) -> Bindings:
        """One system."""
        return cls(system.code, system.values, system.p[None, :])

    def __len__(self) -> int:
        return len(self.p)

    @property
    def equations(self) -> Equations:
        """The equations behind them."""
        return self.code.equations

    @property
    def kept_on_rows(self) -> bool:
        """Whether their runs keep positions on the constraints, so that starts must lie there."""
        equations = self.equations
        return equations.formulation.projects and bool(
            equations.formulation.movable(equations.mechanics, equations.split)
        )

    def part(self, which: np.ndarray) -> Bindings:
        """Some of them."""
        return Bindings(self.code, part(self.values, which), self.p[which])

    def rows(self, names: Sequence[str], *given: Values) -> np.ndarray:
        """The numbers of some names, a row for each system: the first that is given, else zero."""
        found = np.zeros((len(self), len(names)))
        for k, name in enumerate(names):
            for values in given:
                if name in values:
                    found[:, k] = values[name]
                    break
        return found


def part(values: Values, which: np.ndarray) -> dict[str, float | np.ndarray]:
    """The numbers of some systems."""
    return {name: value[which] if isinstance(value, np.ndarray) else value for name, value in values.items()}


def one(values: Values, i: int) -> dict[str, float]:
    """The numbers of one system."""
    return {name: float(value[i] if isinstance(value, np.ndarray) else value) for name, value in values.items()}


def side_by_side(numbers: np.ndarray) -> list[np.ndarray]:
    """The numbers of some systems, in parts of which each is best taken at once."""
    return np.split(numbers, range(SIDE_BY_SIDE, numbers.size, SIDE_BY_SIDE))


@dataclass(eq=False)
class Found:
    """States of systems side by side.

    Attributes:
        array: q, q', z, a row each; no numbers where there is no such state.
        errors: Why there is none, by the number of the system.
        guesses: What rows of the array were guessed to be, as far as anybody did.
    """

    array: np.ndarray
    errors: dict[int, AppellError] = field(default_factory=dict)
    guesses: np.ndarray | None = None

    @property
    def good(self) -> np.ndarray:
        """Which there are."""
        return np.setdiff1d(np.arange(len(self.array)), list(self.errors))

    def lost(self, kind: type[AppellError]) -> np.ndarray:
        """Those that there are not for a reason of some kind."""
        return np.array([i for i, error in self.errors.items() if isinstance(error, kind)], dtype=int)

    def refuse(self, errors: Mapping[int, AppellError]) -> None:
        """Take some away."""
        self.errors.update(errors)
        self.array[list(errors)] = np.nan

    def put(self, which: np.ndarray, other: Found) -> None:
        """Other states in the place of some."""
        self.array[which] = other.array
        for i in which.tolist():
            self.errors.pop(i, None)
        self.errors.update({int(which[i]): error for i, error in other.errors.items()})
