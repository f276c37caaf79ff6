"""Matrices in states of comparable size, free of traces of rounding."""

from __future__ import annotations

import numpy as np
import scipy.linalg

ROUNDING = 100 * np.finfo(float).eps  # of the largest entry, in balanced states, below which an entry is no number
PASSES = 10  # of balancing at most; each may show that an entry is larger, or smaller, than it seemed


def balanced(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A in states of comparable size, and their scales; traces of rounding must not decide about these.

    Args:
        A: A square matrix.
    """
    matrix, scale = A, np.ones(A.shape[0])
    for _ in range(PASSES):
        matrix = A / scale[:, None] * scale
        clean = np.where(np.abs(matrix) > ROUNDING * np.max(np.abs(matrix), initial=0.0), matrix, 0.0)
        matrix, (more, _) = scipy.linalg.matrix_balance(clean, permute=False, separate=True)
        scale = scale * more
        if np.all(more == 1):
            break
    return matrix, scale
