"""Floquet's multipliers: the eigenvalues of what a period makes of small displacements.

Some are one for a reason: because the motion may be shifted in time, because something is conserved, because the motion
is one of a family. Where energy is conserved there are two of them with one eigenvector, which rounding moves apart by
the root of its size; their mean it moves no farther than any other.
"""

from __future__ import annotations

import numpy as np

from appell.analysis.balance import balanced
from appell.analysis.roots import EPS

APART = 10  # times the root of the noise, up to which multipliers that are one may be from it
MEAN = 1000  # times the noise, up to which their mean may be
CIRCLE = 1e-6  # distance from the unit circle at which nothing is decided


def multipliers(M: np.ndarray, along: np.ndarray | None = None, noise: float = 10 * EPS) -> tuple[np.ndarray, int]:
    """The eigenvalues that are not one for a reason, the largest first, and how many are.

    Args:
        M: What a period makes of displacements, in natural units.
        along: The displacement by a shift in time, of equations that do not depend on time: M leaves it as it is, and
            what it misses of that is noise.
        noise: Up to which share of its size M is known at best.

    Example:
        >>> multipliers(np.array([[1.0, 5.0, 0.0], [1e-14, 1.0, 0.0], [0.0, 0.0, 0.5]]))
        (array([0.5+0.j]), 2)
    """
    if not M.size:
        return np.zeros(0, complex), 0
    even, units = balanced(M)
    found = np.linalg.eigvals(even).astype(complex)
    found = found[np.argsort(np.abs(found - 1), kind="stable")]
    size = float(np.linalg.norm(even))
    if along is not None:
        along = along / units
        noise = max(noise, float(np.linalg.norm(even @ along - along) / (np.linalg.norm(along) * size)))
    near = int(np.sum(np.abs(found - 1) <= APART * np.sqrt(noise * size)))
    means = np.abs(np.cumsum(found - 1)[:near]) / np.arange(1, near + 1)
    fitting = np.flatnonzero(means <= MEAN * noise * size) + 1
    ones = max(fitting.tolist(), default=0 if along is None else 1)
    others = found[ones:]
    return others[np.lexsort((-others.imag, -np.abs(others).round(12)))], ones


def verdict(others: np.ndarray, reasons: int) -> bool | None:
    """Whether near motions come back to a periodic one: yes, no, or not decided to first order.

    Args:
        others: The multipliers that are not one for a reason.
        reasons: How many are, besides that of the shift in time.
    """
    largest = float(np.max(np.abs(others), initial=0.0))
    if largest > 1 + CIRCLE:
        return False
    return True if largest < 1 - CIRCLE and not reasons else None
