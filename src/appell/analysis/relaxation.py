"""The search for equilibria where smaller residuals lead nowhere: friction lets the system come to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from appell.analysis.equilibrium_search import Problem

FIRST, LONGEST = 0.1, 1e12  # steps in time, in natural units
GROWTH = 1.5  # of steps while forces stay as they are, beside what they shrink by
STEPS = 100
AWAY = 3.0  # times as large residuals as before, from which on a step was too long
SETTLED = 1e-9


def relaxed(problem: Problem, y: np.ndarray) -> np.ndarray:
    r"""Where everything comes to rest that moves in the direction of its force, $y_i' = F_i(y)$, on the constraints.

    Steps in time are implicit, and the longer the smaller the forces are (pseudo-transient continuation), until they
    are Newton's. From far away they fall towards a stable equilibrium, where sums of squares have valleys of their own.

    Args:
        problem: The equilibria that are looked for.
        y: Where to begin.

    Reference: Kelley and Keyes 1998.
    """
    y, duration, moved = y.copy(), FIRST, _moved(problem)
    value, slope = problem.evaluate(y)
    for _ in range(STEPS):
        if not (np.all(np.isfinite(value)) and np.all(np.isfinite(slope))):
            break
        step = np.linalg.lstsq(slope - moved / duration, -value, rcond=1e-12)[0]
        trial = y.copy()
        trial[problem.unknown] += step
        new_value, new_slope = problem.evaluate(trial)
        size, new_size = np.linalg.norm(value), np.linalg.norm(new_value)
        if not new_size <= AWAY * size:
            duration /= 4
            continue
        y, value, slope = trial, new_value, new_slope
        if np.max(np.abs(step), initial=0.0) < SETTLED:
            break
        duration = min(duration * min(max(GROWTH * size / new_size, 0.5), 10.0), LONGEST)
    return y


def _moved(problem: Problem) -> np.ndarray:
    """One where the equation of a coordinate or of an extra state stands in its own column."""
    n, _, k, _, _ = problem.sizes
    own = np.full(len(problem.steady.names), -1)
    own[:n], own[own.size - k :] = np.arange(n), 2 * n + np.arange(k)
    return (own[problem.rows][:, None] == problem.unknown[None, :]).astype(float)
