"""Roots: which are one, and how they are told."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from appell.analysis.balance import balanced

EPS = float(np.finfo(float).eps)
SPREAD = 1e-4  # of the norm, the farthest that rounding is thought to move a root
ROUNDING = 100 * EPS  # of the largest root, below which a part of a root is shown as zero


def in_words(roots: np.ndarray) -> str:
    """Roots separated by commas, without traces of rounding.

    Args:
        roots: Complex numbers.

    Example:
        >>> in_words(np.array([-2, 1e-16 + 1j, 1e-16 - 1j, 1e-22 - 1e-15j]))
        '-2, 0+1i, 0-1i, 0'
    """
    return ", ".join(f"{real:.6g}{imag:+.6g}i" if imag else f"{real:.6g}" for real, imag in parts(roots))


def parts(roots: np.ndarray) -> list[tuple[float, float]]:
    """Real and imaginary parts without traces of rounding, and zeros without a sign.

    Args:
        roots: Complex numbers.

    Example:
        >>> parts(np.array([complex(-0.0, 2.0), 1e-17 - 2j]))
        [(0.0, 2.0), (0.0, -2.0)]
    """
    least = ROUNDING * float(np.max(np.abs(roots), initial=0.0))
    pairs = ((root.real, root.imag) for root in np.asarray(roots, complex))
    return [(0.0 if abs(a) <= least else float(a), 0.0 if abs(b) <= least else float(b)) for a, b in pairs]


def blurred(A: np.ndarray, farthest: float) -> tuple[np.ndarray, np.ndarray, float]:
    """The roots of A, how far rounding may have moved each, and the norm of A, balanced.

    Rounding moves a root by eps |A| times its condition number.

    Args:
        A: A square matrix, not empty.
        farthest: Part of the norm, the farthest that it is thought to move one.
    """
    matrix = balanced(A)[0]
    norm = float(np.linalg.norm(matrix))
    roots, left, right = scipy.linalg.eig(matrix, left=True, right=True)
    overlap = np.abs(np.sum(left.conj() * right, axis=0))
    return roots, np.minimum(100 * EPS * norm / np.maximum(overlap, 1e-300), farthest * norm), norm


def connected(near: np.ndarray) -> np.ndarray:
    """Groups of what is near to each other, directly or by others in between, each as a row of truth values.

    Args:
        near: Whether two are, a symmetric matrix; each is near to itself.

    Example:
        >>> connected(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]], dtype=bool)).astype(int)
        array([[0, 0, 1],
               [1, 1, 0]])
    """
    farther = near @ near
    while not np.array_equal(near, farther):
        near, farther = farther, farther @ farther
    return np.unique(near, axis=0)


def clusters(A: np.ndarray) -> list[tuple[complex, int]]:
    """Distinct roots with their multiplicities, free of traces of rounding.

    Rounding splits a k-fold root by the k-th root of its size. Those that are no farther apart than rounding may have
    moved them are one: the mean, which is known to all digits.

    Args:
        A: A square matrix.
    """
    if not A.size:
        return []
    roots, moved, norm = blurred(A, SPREAD)
    size = max(float(np.max(np.abs(roots), initial=0.0)), 1e-300)
    near = 1e-6 * np.maximum(np.abs(roots), 1e-3 * size)
    reach = np.maximum(moved, near)
    groups = connected(np.abs(roots[:, None] - roots) <= reach[:, None] + reach)
    found = [(complex(np.mean(roots[group])), int(np.sum(group))) for group in groups]
    clean = [(complex(*(e if abs(e) > 1e-12 * norm else 0.0 for e in (r.real, r.imag))), n) for r, n in found]
    return sorted(clean, key=lambda pair: (pair[0].real, pair[0].imag))
