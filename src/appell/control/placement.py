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
NEW = 1e-9  # what a vector must add to others to be independent of them, against its length
HARDLY = "These roots cannot be placed within rounding, the inputs hardly reach some modes; spread the roots."
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
    often = max(int(np.sum(np.abs(roots - root) <= near)) for root in roots)
    ways = (_insensitive, _by_chains) if often <= np.linalg.matrix_rank(b) else (_by_chains,)
    wish = np.poly(roots).real
    for way in ways:
        try:
            k = way(a, b, roots)
            missed_by = np.max(np.abs(np.poly(a - b @ k) - wish) / np.max(np.abs(wish)))
        except np.linalg.LinAlgError:  # eigenvectors that are not independent
            continue
        if missed_by <= EXACT:
            return k
    raise ControlError(HARDLY)


def _insensitive(a: np.ndarray, b: np.ndarray, roots: np.ndarray) -> np.ndarray:
    """k with eigenvectors as far from each other as they can be; wrong where roots that are equal cannot have any."""
    from scipy.signal import place_poles

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the roots could be less sensitive still
        found = place_poles(a, b, roots, maxiter=100)
    if 1 < np.linalg.matrix_rank(b) < len(a):
        return _to_all_digits(a, b, found.X, found.requested_poles)
    return np.asarray(found.gain_matrix)


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


def _by_chains(a: np.ndarray, b: np.ndarray, roots: np.ndarray) -> np.ndarray:
    r"""k by which each input moves a chain of its own, $y, \dot y, \dots$, that has some of the roots.

    With $y_i = l_i\eta$, which the inputs move by its derivative of order $k_i$ only, $l_ia^{k_i-1}b\,u =
    -l_i\prod_r(a - r)\eta$; of a single input this is Ackermann's formula.
    """
    powers = _chains(a, b)
    inverse = np.linalg.inv(np.hstack(list(powers.values())))
    ends = np.cumsum([e.shape[1] for e in powers.values()]) - 1
    moved, wanted = [], []
    for end, own in zip(ends, _shared_out(roots, [e.shape[1] for e in powers.values()]), strict=True):
        row = before = inverse[end].astype(complex)
        for root in own:
            row = row @ a - root * row
        for _ in own[1:]:
            before = before @ a
        moved.append(before.real @ b[:, list(powers)])
        wanted.append(row.real)
    k = np.zeros((b.shape[1], a.shape[0]))
    k[list(powers)] = np.linalg.solve(np.array(moved), np.array(wanted))
    return k


def _chains(a: np.ndarray, b: np.ndarray) -> dict[int, np.ndarray]:
    """For each input that is needed b, ab, a²b, ..., as long as they say something new, the inputs taking turns."""
    strengths = np.linalg.norm(b, axis=0)
    found = {int(i): b[:, [i]] for i in np.argsort(-strengths) if strengths[i] > 0}
    open_, known, chains = list(found), np.zeros((len(a), 0)), dict.fromkeys(found, np.zeros((len(a), 0)))
    while open_:
        for i in tuple(open_):
            rest = found[i] - known @ (known.T @ found[i])
            rest = rest - known @ (known.T @ rest)  # once more, for what rounding left
            if np.linalg.norm(rest) <= NEW * np.linalg.norm(found[i]):
                open_.remove(i)
                continue
            chains[i], known = np.hstack([chains[i], found[i]]), np.hstack([known, rest / np.linalg.norm(rest)])
            found[i] = a @ found[i]
    if known.shape[1] < len(a):
        raise ControlError(HARDLY)
    return {i: chain for i, chain in chains.items() if chain.size}


def _shared_out(roots: np.ndarray, lengths: list[int]) -> list[list[complex]]:
    """As many of the roots for each chain as it is long, complex ones in pairs."""
    tiny = 1e-12 * np.max(np.abs(roots), initial=0.0)
    single = [complex(e.real) for e in roots if abs(e.imag) <= tiny]
    pairs = [[complex(e), complex(e.conjugate())] for e in roots if e.imag > tiny]
    odd = sum(length % 2 for length in lengths)
    if odd > len(single):
        raise ControlError(
            f"Roots repeated so often are divided among chains of {', '.join(map(str, lengths))} states, one for each "
            f"input; {odd} of these need a real root, got {len(single)}. Give more real roots, or roots that differ."
        )
    own: list[list[complex]] = [[single.pop()] if length % 2 else [] for length in lengths]
    pairs += [[one, other] for one, other in zip(single[::2], single[1::2], strict=True)]
    for mine, length in zip(own, lengths, strict=True):
        while len(mine) < length:
            mine += pairs.pop()
    return own
