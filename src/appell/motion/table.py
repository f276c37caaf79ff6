"""Tables of motions: the times at which runs are tabulated, and what is between their rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from appell.errors import IntegrationError, ModelError
from appell.model.values import floats, number


def moments(given: Any) -> np.ndarray:
    """Times at which a motion is asked for, one or several, in a row.

    Args:
        given: What was given.
    """
    times = np.atleast_1d(floats(given, "The times at which a motion is asked for"))
    if times.ndim != 1:
        raise ModelError(f"A motion is asked for at one time or a list of them, got an array of shape {times.shape}.")
    return times


def end_time(start: float, until: Any, suggested: float) -> float:
    """Where runs end.

    Args:
        start: Where they begin.
        until: As a user says it, or None.
        suggested: How long the model suggests that a run lasts.
    """
    end = suggested + start if until is None else number("until", until)
    if not end > start:
        raise IntegrationError(f"The run must end after its start at t = {start:g}; got until = {end:g}.")
    return end


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


def between(
    rows: np.ndarray,
    columns: Mapping[str, np.ndarray],
    names: Sequence[str],
    events: Sequence[float],
    times: np.ndarray,
) -> np.ndarray:
    """Entries of the state between the rows of a table, one row for each time.

    Cubics through positions and rates, and their slopes; straight lines through extra states, and from one row to the
    next where something happened in between that may have made rates jump.

    Args:
        rows: The times of the table.
        columns: Its columns.
        names: The entries of the state: coordinates, their rates, extra states.
        events: When something happened.
        times: The times that are asked for, within those of the table.
    """
    lines = np.array([np.interp(times, rows, columns[name]) for name in names]).T
    last = np.clip(np.searchsorted(rows, times, side="right") - 1, 0, max(0, rows.size - 2))
    smooth = np.isin(last, np.searchsorted(rows, events, side="left") - 1, invert=True)
    if rows.size < 2 or not smooth.any():
        return lines
    from scipy.interpolate import CubicHermiteSpline  # slow to import

    for i, name in enumerate(names):
        if (rate := f"{name}.rate") in names:
            cubic = CubicHermiteSpline(rows, columns[name], columns[rate])
            lines[smooth, i], lines[smooth, names.index(rate)] = cubic(times[smooth]), cubic(times[smooth], 1)
    return lines
