"""What inputs reach at a root of a matrix, also where it is multiple."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from appell.analysis.balance import balanced

TINY = 1e-9  # of the norm, at which a singular value counts as zero
BLURRED = 1e-7  # likewise where it is compared with a root, of which few digits are known


def comparable(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A balanced pair of norms one, so that units do not decide; the scales of the states and the size of A.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
    """
    matrix, scale = balanced(A)
    size = float(np.linalg.norm(matrix)) or 1.0
    columns = B / scale[:, None]
    norms = np.linalg.norm(columns, axis=0)
    return matrix / size, columns / np.where(norms > 0, norms, 1.0), scale, size


def unreached(a: np.ndarray, b: np.ndarray, root: complex, count: int) -> tuple[np.ndarray, int]:
    """Combinations w of the states at a root that b does not reach, and how many of them are modes, w'a = root w'.

    The others only lead to these. All that belongs to a root of any multiplicity is an invariant space, found to all
    digits although the root is not; within it what b reaches grows from b by a, direction by direction.

    Args:
        a: Matrix of the states, of norm one.
        b: Matrix of the inputs, with columns of norm one.
        root: The root.
        count: How often it occurs.
    """
    W = _space(a, root, count)
    inner, pushed = W.conj().T @ a @ W, W.conj().T @ b
    reached = np.zeros((count, 0))
    while True:
        rest = pushed - reached @ (reached.conj().T @ pushed)
        u, values, _ = np.linalg.svd(rest, full_matrices=False)
        new = u[:, values > TINY]
        if not new.shape[1]:
            break
        reached, pushed = np.linalg.qr(np.hstack([reached, new]))[0], inner @ new
    if reached.shape[1] == count:
        return np.zeros((a.shape[0], 0)), 0
    missed = scipy.linalg.null_space(reached.conj().T) if reached.size else np.eye(count)
    stay = missed.conj().T @ inner @ missed - root * np.eye(missed.shape[1])
    u, values, _ = np.linalg.svd(stay)
    return W @ missed @ u[:, ::-1], max(1, int(np.sum(values <= BLURRED)))


def _space(a: np.ndarray, root: complex, count: int) -> np.ndarray:
    """An orthonormal basis W of what belongs to a root from the left: W'a = (W'aW) W'."""
    if count == a.shape[0]:
        return np.eye(count)
    far = np.sort(np.abs(np.diag(scipy.linalg.schur(a.T, output="complex")[0]) - root))
    border = (far[count - 1] + far[count]) / 2
    _, Z, _ = scipy.linalg.schur(a.T, output="complex", sort=lambda e: abs(e - root) <= border)
    return Z[:, :count].conj()
