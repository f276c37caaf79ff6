"""Newton's method by shortest steps: from one place or from many at once, each of which goes its own way."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

RANK = 1e-10  # share of the largest singular value up to which others count as zero
ROUNDING = 4e-16  # steps of this share of a place lead nowhere
FAR = 1e300  # no step goes farther
SLACK = 1e-13  # of a quick step, as a share of what it shall bring

Rows = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Of some of the places, by number, and where they are now: what is left of the rows there, and their slopes."""
Enough = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""Of where places are now, what is left there and the slopes: which of them have arrived."""


def newton(
    rows: Rows,
    places: np.ndarray,
    free: np.ndarray,
    enough: Enough,
    *,
    steps: int = 60,
    reach: float | np.ndarray = FAR,
    units: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Where rows vanish next to some places, and the largest residual left at each.

    Args:
        rows: What shall vanish.
        places: Where to begin, a row each.
        free: Columns that may be moved.
        enough: When a place has arrived.
        steps: How many steps at most.
        reach: How far one step goes at most, for all places or for each.
        units: What columns are measured in; one if left out.
    """
    unit = np.ones(places.shape[1]) if units is None else units
    best, left = places.copy(), np.full(len(places), np.inf)
    x, going, reach = places.copy(), np.arange(len(places)), np.broadcast_to(reach, len(places))
    for _ in range(steps):
        residual, slopes = rows(going, x)
        worst = np.abs(residual).max(axis=1, initial=0.0)
        better = worst < left[going]
        best[going[better]], left[going[better]] = x[better], worst[better]
        on = (worst < np.inf) & ~enough(x, residual, slopes)
        if not (free.size and on.any()):
            break
        step = shortest_steps(slopes[on][:, :, free] * unit[free], -residual[on])
        size = np.abs(step).max(axis=1)
        sure = size < np.inf
        on[on] = sure
        x, going, step, size = x[on], going[on], step[sure], size[sure]
        most = reach[going]
        x[:, free] += unit[free] * step * (most / np.maximum(size, most))[:, None]
        on = ~(size <= ROUNDING * np.abs(x / unit).max(axis=1))
        if not on.any():
            break
        x, going = x[on], going[on]
    return best, left


def shortest_steps(slopes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The shortest steps d with J d = wanted, or of least squares, one for each J; no numbers where J has none.

    By J'(J J')^-1 where that is exact enough, which is quicker, else by singular values.

    Args:
        slopes: The matrices J.
        wanted: What their steps shall bring.
    """
    turned, todo = slopes.swapaxes(1, 2), np.isfinite(slopes).all(axis=(1, 2))  # else nobody knows the direction
    found = np.full((slopes.shape[0], slopes.shape[2]), np.nan)
    if slopes.shape[1] <= slopes.shape[2]:
        with np.errstate(invalid="ignore", over="ignore"):
            quick = turned @ _solved(slopes @ turned, wanted[:, :, None])
            off = np.abs((slopes @ quick)[:, :, 0] - wanted).max(axis=1)
            good = todo & (off <= SLACK * np.abs(wanted).max(axis=1))
        found[good], todo = quick[good, :, 0], todo & ~good
    if todo.any():
        u, sizes, v = np.linalg.svd(slopes[todo], full_matrices=False)
        real = sizes > RANK * sizes[:, :1]
        with np.errstate(invalid="ignore", over="ignore"):  # of a step beyond all numbers
            shares = np.divide((wanted[todo][:, None, :] @ u)[:, 0], sizes, out=np.zeros_like(sizes), where=real)
            found[todo] = (shares[:, None, :] @ v)[:, 0]
    return found


def _solved(matrices: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The solutions of linear equations; no numbers where a matrix is singular, whatever the others are."""
    try:
        return np.linalg.solve(matrices, wanted)
    except np.linalg.LinAlgError:
        regular = np.linalg.slogdet(matrices)[0] != 0
        found = np.full_like(wanted, np.nan)
        found[regular] = np.linalg.solve(matrices[regular], wanted[regular])
        return found
