"""The times at which runs are tabulated."""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.errors import IntegrationError


def table_times(start: float, end: float, points: int, at: Any) -> np.ndarray:
    """The times that are asked for.

    Args:
        start: Where runs begin.
        end: Where they end.
        points: How many times, evenly spread.
        at: Instead: the times themselves.
    """
    if at is None:
        if not isinstance(points, int | np.integer) or points < 2:
            raise IntegrationError(f"A table needs a whole number of at least two points, got points={points!r}.")
        return np.linspace(start, end, int(points))
    try:
        times = np.asarray(at, dtype=float).ravel()
    except (TypeError, ValueError):
        raise IntegrationError(f"The times at=... must be numbers, got {at!r}.") from None
    if times.size == 0 or not np.all(np.isfinite(times)) or np.any(np.diff(times) <= 0):
        raise IntegrationError("The times at=... must be finite and increasing.")
    if times[0] < start or times[-1] > end:
        raise IntegrationError(
            f"The times at=... must lie within [{start:g}, {end:g}]; got {times[0]:g} .. {times[-1]:g}."
        )
    return times
