"""How the runs of a sweep go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.motion.events import Event


@dataclass(frozen=True, eq=False)
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
        test_each: Whether every run is tested for stiffness.
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
    test_each: bool = False
    corners: str = "locate"
    compiled: bool = True
    few: bool = False
