"""Distances told from numbers: the points of two things whose squared distance a formula is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from typing import Any

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


def normal_of(things: Sequence[Placed]) -> np.ndarray:
    """The normal of the plane along which all moves, as a column; no column where there is none, or only a line."""
    moved = [np.concatenate([e.points[:, :, None], e.arms], axis=2) for e in things]
    real = [e[np.isfinite(e).all(axis=(1, 2))] for e in moved]
    ways = np.concatenate([(e - e.mean(axis=0)).transpose(1, 0, 2).reshape(3, -1) for e in real if len(e)], axis=1)
    axes, sizes, _ = np.linalg.svd(ways, full_matrices=False)
    return axes[:, 2:] if sizes[2] <= 1e-9 * sizes[1] else axes[:, 3:]


def points_apart(f: np.ndarray, one: Placed, other: Placed, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Points a and b in the axes of two things with f = k |a - b|^2 + c everywhere; None if there are none or many.

    Where f is the product of two directions that turn about one point, a and b may be as far from it as one likes.

    Args:
        f: A formula at many positions.
        one: The first thing there.
        other: The second.
        normal: Of the plane along which all moves; where a and b are along this does not matter.
    """
    gap, arms = one.points - other.points, np.concatenate([one.arms, -other.arms], axis=2)
    real = np.isfinite(np.column_stack([f, gap, arms.reshape(len(f), -1)])).all(axis=1)
    if np.count_nonzero(real) < ENOUGH or np.ptp(f[real]) <= 1e-12 * np.abs(f[real]).max():
        return None
    f, gap, arms, P, R = (e[real] for e in (f, gap, arms, one.arms, other.arms))
    begin = _loosely(f, gap, P, R)
    if begin is None:
        return None
    size, rng = np.sqrt(np.ptp(f)), np.random.default_rng(23)
    begins = [begin, *(start * size * rng.uniform(-1, 1, begin.size) for start in STARTS)]
    found = next(filter(None, (_descent(f, gap, arms, x) for x in begins)), None)
    return _parted(found[0], size, P) if found is not None and _immaterial(found[1], P, R, normal) else None


def points_between(
    sides: np.ndarray, axes: Sequence[np.ndarray], one: Placed, other: Placed, normal: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Points a and b of two things whose difference has these components and no more; None if there are none or many.

    Args:
        sides: The components at many positions, in any order and with any signs.
        axes: Axes in which they may be taken there.
        one: The first thing there.
        other: The second.
        normal: Of the plane along which all moves; where a and b are along this does not matter.
    """
    gap, arms = one.points - other.points, np.concatenate([one.arms, -other.arms], axis=2)
    real = np.isfinite(np.column_stack([sides, gap, arms.reshape(len(gap), -1)])).all(axis=1)
    sides, gap, arms, P, R = (e[real] for e in (sides, gap, arms, one.arms, other.arms))
    if len(sides) < ENOUGH or sides.shape[1] > 3 or _loosely(np.sum(sides**2, axis=1), gap, P, R) is None:
        return None
    count = sides.shape[1]
    ways = list(product(permutations(range(3), count), product((1, -1), repeat=count)))
    turns = [turn[real][:, :, order] * signs for turn in axes for order, signs in ways]
    misses = np.stack([(np.einsum("tki,ti->tk", turn, sides) - gap).ravel() for turn in turns], axis=1)
    size, unknowns = np.abs(sides).max(), np.arange(arms.shape[2])
    own, its = unknowns[: P.shape[2]], unknowns[P.shape[2] :]
    for asked in (unknowns[:0], its, own, unknowns):  # rather between points that are known
        matrix = arms[:, :, asked].reshape(misses.shape[0], asked.size)
        places = np.linalg.pinv(matrix, rcond=1e-9) @ misses
        fits = places[:, np.abs(matrix @ places - misses).max(axis=0) <= EXACT * size]
        if fits.size or (fits.shape[1] and not asked.size):
            rows, rank = np.linalg.svd(matrix)[2], np.linalg.matrix_rank(matrix, rtol=1e-9)
            one_only = np.ptp(fits, axis=1).max(initial=0.0) <= EXACT * size
            x = np.zeros(unknowns.size)
            x[asked] = fits[:, 0]
            return _parted(x, size, P) if one_only and _immaterial(rows[rank:], P, R, normal, asked) else None
    return None


def _immaterial(moves: np.ndarray, P: np.ndarray, R: np.ndarray, normal: np.ndarray, asked: Any = ...) -> bool:
    """Whether moves of the two places, in rows, are only along the normal of the plane."""
    n = normal.shape[1]
    one, other = P[0].T @ normal, R[0].T @ normal
    free = np.block([[one, np.zeros((len(one), n))], [np.zeros((len(other), n)), other]])[asked]
    return bool(np.all(np.abs(moves - moves @ free @ np.linalg.pinv(free)) <= 1e-6))


def _parted(x: np.ndarray, size: float, P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The places in the axes of the one thing and of the other."""
    x = np.where(np.abs(x) > EXACT * size, x, 0.0)
    return x[: P.shape[2]], x[P.shape[2] :]


def _loosely(f: np.ndarray, gap: np.ndarray, P: np.ndarray, R: np.ndarray) -> np.ndarray | None:
    """The least places of a and b where their products are unknowns of their own, so that all is linear.

    |gap|^2 = f/k + c - 2 gap . P a + 2 gap . R b + 2 a . P^T R b; None if it cannot be.
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
    return found[1 : 1 + ways.shape[1]]


def _descent(f: np.ndarray, gap: np.ndarray, arms: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """The least places x with f = k |gap + arms x|^2 + c, and how they may move so that it stays so; None if none.

    By Levenberg's method with k and c eliminated.
    """

    def left_at(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is left of f, and the slope of that."""
        way = gap + np.einsum("tij,j->ti", arms, x)
        basis = np.linalg.qr(np.column_stack([np.ones(len(f)), np.sum(way**2, axis=1)]))
        slope = 2 * np.einsum("ti,tij->tj", way, arms)
        k = basis.Q[:, 1] @ f / basis.R[1, 1] if basis.R[1, 1] else 0.0
        left, across = (e - basis.Q @ (basis.Q.T @ e) for e in (f, slope))
        return left, k * across

    (left, J), damping = left_at(x), 1e-3
    for _ in range(TURNS):
        matrix = J.T @ J
        step = np.linalg.lstsq(matrix + damping * np.trace(matrix) * np.eye(x.size), J.T @ left, rcond=None)[0]
        tried = left_at(x + step)
        if tried[0] @ tried[0] < left @ left:
            x, (left, J), damping = x + step, tried, max(damping / 10, 1e-12)
        else:
            damping *= 10
        if np.abs(left).max() <= EXACT**1.5 * np.ptp(f) or damping > 1e6:
            break
    _, sizes, rows = np.linalg.svd(J, full_matrices=False)
    felt = sizes > 1e-6 * sizes.max(initial=0.0)
    x = rows[felt].T @ (rows[felt] @ x)
    return (x, rows[~felt]) if np.abs(left_at(x)[0]).max() <= EXACT * np.ptp(f) else None
