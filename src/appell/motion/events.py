"""Events: what is looked for during a run, and what then happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from appell.equations import Equations
from appell.errors import IntegrationError, ModelError
from appell.model.symbols import Coordinate, Rate, Speed, key, letters_in, quoted
from appell.model.values import formula_of

ZENO = 1e-5  # share of the time that went by, before the limit of ever faster events, at which a run ends
ENOUGH = 7  # events in a row that show it
KEPT = 9  # the same where two kinds of events take turns
TURNS = 10  # times as early where two kinds of events take turns, long and short: rounding ends these sooner
STEADY, ROUGH = 1e-3, 0.95  # spread of the ratios of gaps, and the ratio up to which tolerances may make it larger


@dataclass(frozen=True, eq=False)
class Event:
    """A zero of a formula along the motion, located to machine precision.

    Args:
        expression: The formula in coordinates, rates, accelerations (`x.rate.rate`), speeds, extra states, parameters,
            inputs and time.
        direction: -1 for falling through zero, +1 for rising, 0 for both.
        stop: Whether the run ends there.
        reset: New values right after it, `{v.rate: -e * v.rate}`: formulas in the values right before it. Others follow
            by the constraints.
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
        direction = self.direction
        if isinstance(direction, bool) or not isinstance(direction, Real) or direction not in (-1, 0, 1):
            raise ModelError(f"The direction of an event is -1, 0 or +1, got {direction!r}; to stop, stop=True.")
        expression = formula_of(self.expression, "The expression of an event")
        if not isinstance(self.reset, Mapping):
            raise ModelError(f"A reset gives new values by name, {{v.rate: -0.8 * v.rate}}; got {quoted(self.reset)}.")
        reset = {key(n): formula_of(e, f"The new value of {key(n)!r} at an event") for n, e in self.reset.items()}
        vars(self).update(expression=expression, reset=reset)

    def formula(self, equations: Equations) -> ca.SX:
        """What is looked at, on the graph of some equations, with their accelerations."""
        return equations.formula(self.expression, [equations.qddot] if self.accelerated else [])

    @property
    def signs(self) -> tuple[int, ...]:
        """Those of its guards: a guard falls through zero, and an event that looks both ways has two."""
        return (1, -1) if self.direction == 0 else (-self.direction,)

    @property
    def accelerated(self) -> bool:
        """Whether it looks at accelerations."""
        rates = (s for s in letters_in(self.expression) if isinstance(s, Rate))
        return any(s.order == 2 if isinstance(s.base, Coordinate) else isinstance(s.base, Speed) for s in rates)


@dataclass(frozen=True)
class Occurrence:
    """An event that happened."""

    name: str
    t: float


def check_events(events: Sequence[Event]) -> None:
    """Refuse what is no list of events."""
    if not isinstance(events, Sequence) or not all(isinstance(event, Event) for event in events):
        raise IntegrationError(f"The events must be a list of appell.Event(...), got {events!r}.")


def piling_up(times: Sequence[float], start: float) -> float | None:
    """The time at which events pile up, if the last ones follow each other ever faster and it is almost there.

    Args:
        times: When they happened; the last few are looked at.
        start: When the run began.
    """
    last = np.asarray(times[-KEPT:])
    if last.size < ENOUGH:
        return None
    gaps = np.diff(last)
    turns = last.size == KEPT and np.all((gaps[1:-1] - gaps[:-2]) * (gaps[2:] - gaps[1:-1]) < 0)
    return _limit(last[::2], start, TURNS * ZENO) if turns else _limit(last[-ENOUGH:], start, ZENO)


def _limit(times: np.ndarray, start: float, share: float) -> float | None:
    gaps, now = np.diff(times), float(times[-1])
    if gaps.sum() <= ZENO * 1e-3 * min(1.0, now - start):
        return now
    ratios = gaps[1:] / np.maximum(gaps[:-1], 1e-300)
    steady = np.ptp(ratios) <= STEADY
    ratio = float(ratios[-1] if steady else (gaps[-1] / max(gaps[0], 1e-300)) ** (1 / ratios.size))
    if np.any(ratios >= 0.999) or not (steady or ratio < ROUGH):
        return None
    left = float(gaps[-1]) * ratio / (1 - ratio)
    return now + left if left < share * (now - start) else None


def piled(name: str, limit: float) -> str:
    """In words, where an event piles up."""
    return f"{name!r} piles up at t = {limit:.9g}; model the contact at rest as a constraint to go on"
