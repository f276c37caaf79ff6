"""Distances told from numbers: the points of two things whose squared distance a formula is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

EXACT = 1e-8  # what is left of a formula that is a distance, as a share of how much it varies
ENOUGH = 20  # positions at which all is real, more than there are unknowns
TURNS = 100  # of a fit
STARTS = (0.0, 0.3, 1.0, 3.0)  # where fits begin: places as far out as this, in lengths that the formula varies by


@dataclass(frozen=True, eq=False)
class Placed:
    """A thing at many positions: where its point is and, for places in its axes, the matrix to those of the ground."""

    points: np.ndarray
    arms: np.ndarray


def points_apart(f: np.ndarray, one: Placed, other: Placed) -> tuple[np.ndarray, np.ndarray] | None:
    """Points a and b in the axes of two things with f = k |a - b|^2 + c everywhere; None if there are none.

    Where f is the product of two directions that turn about one point, a and b may be as far from it as one likes;
    that is no distance, and fits that begin elsewhere find another k.

    Args:
        f: A formula at many positions.
        one: The first thing there.
        other: The second.
    """
    gap, arms = one.points - other.points, np.concatenate([one.arms, -other.arms], axis=2)
    real = np.isfinite(np.column_stack([f, gap, arms.reshape(len(f), -1)])).all(axis=1)
    if np.count_nonzero(real) < ENOUGH or np.ptp(f[real]) <= 1e-12 * np.abs(f[real]).max():
        return None
    f, gap, arms, P, R = (e[real] for e in (f, gap, arms, one.arms, other.arms))
    near = _loosely(f, gap, P, R)
    if near is None:
        return None
    begin, told = near
    size, rng = np.sqrt(np.ptp(f)), np.random.default_rng(23)
    begins = [begin, *(start * size * rng.uniform(-1, 1, begin.size) for start in STARTS)]
    fits = list(islice(filter(None, (_descent(f, gap, arms, x) for x in begins)), 1 if told else 2))
    if len(fits) < (1 if told else 2) or not np.isclose(fits[0][0], fits[-1][0], rtol=1e-6, atol=0):
        return None
    x = np.where(np.abs(fits[0][1]) > EXACT * size, fits[0][1], 0.0)
    return x[: one.arms.shape[2]], x[one.arms.shape[2] :]


def _loosely(f: np.ndarray, gap: np.ndarray, P: np.ndarray, R: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """The least places of a and b where their products are unknowns of their own, so that all is linear.

    |gap|^2 = f/k + c - 2 gap . P a + 2 gap . R b + 2 a . P^T R b; and whether that tells k. None if it cannot be.
    """
    ways = np.concatenate([-2 * np.einsum("tk,tki->ti", gap, P), 2 * np.einsum("tk,tki->ti", gap, R)], axis=1)
    products = 2 * np.einsum("tki,tkj->tij", P, R).reshape(len(f), -1)
    basis, square = np.column_stack([f, ways, products, np.ones_like(f)]), np.sum(gap**2, axis=1)
    sizes = np.linalg.norm(basis, axis=0)
    basis = basis / np.where(sizes > 0, sizes, 1.0)
    U, spread, rows = np.linalg.svd(basis, full_matrices=False)
    felt = spread > 1e-10 * spread[0]
    left = square - U[:, felt] @ (U[:, felt].T @ square)
    if np.abs(left).max() > EXACT * max(square.max(), np.ptp(f)):
        return None
    found = rows[felt].T @ (U[:, felt].T @ square / spread[felt]) / np.where(sizes > 0, sizes, 1.0)
    told = bool(np.abs(np.linalg.norm(rows[felt][:, 0]) - 1) < 1e-6)
    return found[1 : 1 + ways.shape[1]], told


def _descent(f: np.ndarray, gap: np.ndarray, arms: np.ndarray, x: np.ndarray) -> tuple[float, np.ndarray] | None:
    """k and the places x with f = k |gap + arms x|^2 + c, by Levenberg's method with k and c eliminated; None if none.

    Of places that f does not depend on, as those along the common normal of what moves in a plane, the least are taken.
    """

    def left_at(x: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """k, what it leaves of f, and the slope of that."""
        way = gap + np.einsum("tij,j->ti", arms, x)
        basis = np.linalg.qr(np.column_stack([np.ones(len(f)), np.sum(way**2, axis=1)]))
        slope = 2 * np.einsum("ti,tij->tj", way, arms)
        k = basis.Q[:, 1] @ f / basis.R[1, 1] if basis.R[1, 1] else 0.0
        left, across = (e - basis.Q @ (basis.Q.T @ e) for e in (f, slope))
        return k, left, k * across

    (k, left, J), damping = left_at(x), 1e-3
    for _ in range(TURNS):
        matrix = J.T @ J
        step = np.linalg.lstsq(matrix + damping * np.trace(matrix) * np.eye(x.size), J.T @ left, rcond=None)[0]
        tried = left_at(x + step)
        if tried[1] @ tried[1] < left @ left:
            x, (k, left, J), damping = x + step, tried, max(damping / 10, 1e-12)
        else:
            damping *= 10
        if np.abs(left).max() <= EXACT**1.5 * np.ptp(f) or damping > 1e6:
            break
    _, sizes, rows = np.linalg.svd(J, full_matrices=False)
    felt = rows[sizes > 1e-6 * sizes.max(initial=0.0)]
    x = felt.T @ (felt @ x)
    k, left, _ = left_at(x)
    return (k, x) if np.abs(left).max() <= EXACT * np.ptp(f) else None
