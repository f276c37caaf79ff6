"""How the runs of a sweep go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.errors import IntegrationError, ModelError
from appell.model.model import Model
from appell.model.symbols import key
from appell.model.values import formula_of
from appell.motion.clock import check_rate
from appell.motion.events import Event, check_events
from appell.motion.method import check_method, check_tolerances
from appell.motion.table import end_time, table_times


@dataclass(frozen=True, eq=False, kw_only=True)
class Settings:
    """How every run of a sweep goes.

    Attributes:
        grid: The times of the table.
        t0: When the runs begin.
        until: When they end.
        method: `"auto"`, `"dop853"`, or another method of `simulate`.
        rtol, atol: Tolerances.
        events: What to look for.
        outputs: Further quantities: name -> formula.
        start: Where runs begin, apart from what is varied; a tuple if that is chosen run by run.
        max_steps: Largest number of steps of a run.
        columns: Names of what is kept beside outputs; None for all.
        rate: Samples per second of Python functions that give inputs; None if these act continuously.
        too_stiff: Decay rate times length above which a run is made alone; every run is tested unless it is None.
        mostly_stiff: Whether that is most of them.
        corners: Whether corners of the equations are located or crossed.
        compiled: Whether lanes may be machine code.
        few: Whether there are so few runs that lanes do not pay.
    """

    grid: np.ndarray
    t0: float
    until: float
    method: str
    rtol: float
    atol: float
    events: tuple[Event, ...]
    outputs: Mapping[str, Any]
    start: Any
    max_steps: int
    columns: tuple[str, ...] | None = None
    rate: float | None = None
    too_stiff: float | None = None
    mostly_stiff: bool = False
    corners: str = "locate"
    compiled: bool = True
    few: bool = False

    @classmethod
    def of(
        cls,
        model: Model,
        start: Any,
        until: float | None,
        *,
        method: str,
        rtol: float,
        atol: float | None,
        points: int,
        at: Any,
        events: Sequence[Event],
        outputs: Mapping[str, Any] | None,
        max_steps: int,
        corners: str,
        columns: Sequence[Any] | None = None,
        rate: float | None = None,
    ) -> Settings:
        """Check what the user wants; arguments as for `sweep`, `start` as above."""
        check_tolerances(rtol, atol)
        check_method(method)
        if corners not in ("locate", "cross"):
            raise IntegrationError(f"corners must be 'locate' or 'cross', got {corners!r}.")
        check_events(events)
        if rate is not None:
            check_rate(rate)
        names = [event.name for event in events]
        if len(set(names)) < len(names):
            raise ModelError(f"Two events have the same name: {', '.join(names)}; give each its own.")
        begins = start if isinstance(start, tuple) else (start,)
        t0 = float(getattr(begins[0], "t", 0.0))
        if any(float(getattr(begin, "t", 0.0)) != t0 for begin in begins):
            raise ModelError("The runs of a sweep begin at the same time; the starts given here do not.")
        end = end_time(t0, until, model.until)
        grid = table_times(t0, end, points, at)
        formulas = {key(name): formula_of(e, f"The output {key(name)!r}") for name, e in (outputs or {}).items()}
        atol = rtol if atol is None else atol
        return cls(
            grid=grid,
            t0=t0,
            until=end,
            method=method,
            rtol=rtol,
            atol=atol,
            events=tuple(events),
            outputs=formulas,
            start=start,
            max_steps=max_steps,
            corners=corners,
            columns=None if columns is None else tuple(map(key, columns)),
            rate=rate,
        )
