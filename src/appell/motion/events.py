"""Events: what is looked for during a run, and what then happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.symbols import key


@dataclass(frozen=True, eq=False)
class Event:
    """A zero of a formula along the motion, located to machine precision.

    Args:
        expression: The formula in coordinates, rates, speeds, extra states, parameters, inputs and time.
        direction: -1 for falling through zero, +1 for rising, 0 for both.
        stop: Whether the run ends there.
        reset: New values right after it, `{v.rate: -e * v.rate}`: formulas in the values right before it.
        name: A name for the list of events.

    Example:
        >>> from appell.model.symbols import coordinates
        >>> height = coordinates("height")
        >>> Event(height, direction=-1, reset={height.rate: -0.8 * height.rate}, name="bounce").name
        'bounce'
    """

    expression: Any
    direction: int = 0
    stop: bool = False
    reset: Mapping[Any, Any] = field(default_factory=dict)
    name: str = "event"

    def __post_init__(self) -> None:
        if self.direction not in (-1, 0, 1):
            raise ModelError(f"The direction of an event is -1, 0 or +1, got {self.direction!r}.")
        if isinstance(self.expression, str) or not isinstance(sp.sympify(self.expression), sp.Expr):
            raise ModelError(
                f"An event needs a formula in the model's symbols whose zero is looked for, got {self.expression!r}."
            )
        object.__setattr__(self, "expression", sp.sympify(self.expression))
        object.__setattr__(self, "reset", {key(n): sp.sympify(e) for n, e in self.reset.items()})


@dataclass(frozen=True)
class Occurrence:
    """An event that happened."""

    name: str
    t: float
