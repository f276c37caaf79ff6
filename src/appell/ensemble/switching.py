"""When lanes change their dependent velocities: the rule of single runs, for many lanes at once."""

from __future__ import annotations

import numpy as np

from appell.ensemble.kernel import Kernel
from appell.kinematics.split import Split, growths


def jacobians(kernel: Kernel, t: np.ndarray, x: np.ndarray, P: np.ndarray) -> np.ndarray:
    """The constraint rows by velocities, of shape (lanes, rows, coordinates)."""
    found = kernel.machines["jacobian"].some(np.concatenate([x, t[None, :]]), P)
    return found.reshape(kernel.graphs.sizes["coordinates"], -1, t.size).transpose(2, 1, 0)


def best_growths(split: Split, jacobian: np.ndarray) -> np.ndarray:
    """The growth of the best split of every lane with all its rows, as `Split.at` finds it by pivoting.

    NaN where rows may be dependent: a matter for `Split.at` itself.
    """
    count, rows, width = jacobian.shape
    found = np.full(count, np.nan)
    if split.rows != tuple(range(rows)) or not count:
        return found
    norms = np.linalg.norm(jacobian, axis=2, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rest, lanes = jacobian / norms, np.arange(count)
    sure = np.isfinite(rest).all(axis=(1, 2)) & (norms > 1e-8 * norms.max(axis=1, keepdims=True)).all(axis=(1, 2))
    rest[~sure] = 0.0
    chosen, sizes = np.empty((rows, count), dtype=int), np.empty((rows, count))
    taken = np.zeros((count, width), dtype=bool)
    for k in range(rows):
        lengths = np.where(taken, -1.0, np.linalg.norm(rest, axis=1))
        best = chosen[k] = np.argmax(lengths, axis=1)
        sizes[k], taken[lanes, best] = lengths[lanes, best], True
        direction = rest[lanes, :, best] / np.where(sizes[k] > 0, sizes[k], 1.0)[:, None]
        for _ in range(2):  # once more, for what rounding left
            rest = rest - direction[:, :, None] * np.einsum("lr,lrc->lc", direction, rest)[:, None, :]
    sure &= sizes[-1] > 1e-6 * sizes[0]
    chosen = np.sort(chosen, axis=0)
    for columns in {tuple(c) for c in chosen[:, sure].T.tolist()}:
        here = sure & (chosen == np.array(columns)[:, None]).all(axis=0)
        found[here] = growths(split.rows, [columns], jacobian[here])[:, 0]
    return found
