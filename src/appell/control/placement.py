"""Gains with given roots of the closed loop, in states and inputs of comparable size."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import scipy.linalg

from appell.control.controllability import Reach
from appell.control.modes import comparable
from appell.errors import ControlError

EQUAL = 1e-9  # roots nearer than this, against the largest, are one
EXACT = 1e-6  # by how much the characteristic polynomial may miss the wanted one, in every coefficient


def placed_gain(
    A: np.ndarray, B: np.ndarray, roots: Iterable[complex], names: tuple[str, ...], reach: Reach, rate: float | None
) -> np.ndarray:
    """K with the given roots of A - B K.

    Args:
        A: Matrix of the states; with a rate that of differences.
        B: Matrix of the inputs, likewise.
        roots: The wanted roots; with a rate those from sample to sample.
        names: Names of the states.
        reach: Which modes are reached.
        rate: Samples per second; None for continuous time.
    """
    try:
        wanted = np.array(list(roots), dtype=complex)
    except (TypeError, ValueError):
        raise ControlError(f"Roots must be numbers such as -2 or -1+2j, got {roots!r}.") from None
    if not np.all(np.isfinite(wanted)):
        raise ControlError(f"Roots must be finite numbers, got {roots!r}.")
    if wanted.size != A.shape[0]:
        raise ControlError(f"{A.shape[0]} roots are needed for the states {', '.join(names)}; got {wanted.size}.")
    largest = float(np.max(np.abs(wanted), initial=0.0))
    paired = np.sort_complex(wanted) - np.sort_complex(wanted.conj())
    if np.max(np.abs(paired), initial=0.0) > 1e-12 * largest:
        raise ControlError("Complex roots must come in conjugate pairs.")
    if rate is not None:
        if largest >= 1:
            raise ControlError(
                f"With rate= roots are those from sample to sample, inside the unit circle; got {largest:g}. What "
                f"decays like exp(-3 t) has the root exp(-3/{rate:g}) = {np.exp(-3 / rate):.6g}."
            )
        wanted, largest = rate * (wanted - 1), rate * max(largest, 1.0)
    if not reach.complete:
        remark = f" {reach.remark}" if reach.remark else ""
        raise ControlError(f"The roots cannot be placed, the pair is not {reach.word}: {missed(reach)}.{remark}")
    a, b, scale, size = comparable(A, B)
    wide = np.linalg.norm(B / scale[:, None], axis=0)
    k = _gain(a, b, np.sort_complex(wanted) / size, EQUAL * largest / size)
    return size * k / np.where(wide > 0, wide, 1.0)[:, None] / scale


def missed(reach: Reach) -> str:
    """Modes that are not reached, in words."""
    return "; ".join(f"{mode} ({mode.combination})" for mode in reach.missed)


def _gain(a: np.ndarray, b: np.ndarray, roots: np.ndarray, near: float) -> np.ndarray:
    """k with the given roots of a - b k, for a pair of norm one."""
    rank = int(np.linalg.matrix_rank(b))
    often = max(int(np.sum(np.abs(roots - root) <= near)) for root in roots)
    if often > rank > 1:
        raise ControlError(
            f"A root stands {often} times, but with {rank} independent inputs it may stand {rank} times at most; "
            "spread the roots, or place them by one input, inputs=[...]."
        )
    if often <= rank:
        from scipy.signal import place_poles

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the roots could be less sensitive still
            found = place_poles(a, b, roots, maxiter=100)
        if 1 < rank < len(a):
            return _to_all_digits(a, b, found.X, found.requested_poles)
        return np.asarray(found.gain_matrix)
    column = int(np.argmax(np.linalg.norm(b, axis=0)))
    k = np.zeros((b.shape[1], a.shape[0]))
    k[column] = _ackermann(a, b[:, column], roots)
    wish = np.poly(roots).real
    if np.max(np.abs(np.poly(a - b @ k) - wish) / np.max(np.abs(wish))) > EXACT:
        raise ControlError(
            "Equal roots cannot be placed within rounding, the input hardly reaches some modes; spread the roots."
        )
    return k


def _to_all_digits(a: np.ndarray, b: np.ndarray, vectors: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """k whose eigenvectors are the nearest to given ones that inputs can make: half of their digits are wrong."""
    q, rank = scipy.linalg.qr(b, pivoting=True)[0], int(np.linalg.matrix_rank(b))
    columns = []
    for vector, root in zip(vectors.T, roots, strict=True):
        possible = scipy.linalg.null_space(q[:, rank:].T @ (a - root * np.eye(len(a))))
        columns.append(possible @ (possible.conj().T @ vector))
    X = np.array(columns).T
    wanted = np.linalg.solve(X.T, (X * roots).T).T.real  # a - b k = X diag(roots) X^-1
    return np.linalg.lstsq(b, a - wanted, rcond=None)[0]


def _ackermann(a: np.ndarray, b: np.ndarray, roots: np.ndarray) -> np.ndarray:
    r"""The row $e_n'[b, ab, \dots]^{-1}\prod_i(a - r_i)$ of a single input."""
    n = a.shape[0]
    krylov = np.empty((n, n))
    krylov[:, 0] = b
    for j in range(1, n):
        krylov[:, j] = a @ krylov[:, j - 1]
    row = np.linalg.solve(krylov.T, np.eye(n)[-1]).astype(complex)
    for root in roots:
        row = row @ a - root * row
    return row.real
