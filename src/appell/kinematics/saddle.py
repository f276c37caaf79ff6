"""M a - J' lambda = f, C a = g: accelerations and multipliers at a state, in whatever units the coordinates are.

An angle that carries a satellite round the earth has 10^14 times the inertia of a tether's length in metres. What
counts as zero beside what must not depend on that, so every coordinate is measured by its own inertia and every row by
its gradient. The components of a quaternion of unit norm are measured alike, by the inertia of all four: along the
quaternion there is none, so that one component may have nearly none of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from appell.graph.solve import solve

REGULAR = 1e12  # condition number up to which a matrix of inertia is regular; beyond it counts as singular
NO_INERTIA = 1e-28  # an inertia below this part of the largest is none: sin(pi)**2 is 1.5e-32


Alike = Sequence[Sequence[int]]
"""The places of coordinates that are measured alike: of the components of each quaternion."""


def own_units(M: np.ndarray, alike: Alike = ()) -> np.ndarray:
    """For each coordinate the unit in which its own inertia is one; for those without inertia the largest of these."""
    inertia = np.array(np.diag(M))
    for places in alike:
        inertia[list(places)] = inertia[list(places)].sum()
    real = inertia > NO_INERTIA * np.max(inertia, initial=0.0)
    if not real.any():
        return np.ones(inertia.size)
    return 1 / np.sqrt(np.where(real, inertia, inertia[real].min()))


def condition(M: np.ndarray) -> float:
    """The condition number of a mass matrix in the own units of its coordinates."""
    d = own_units(M)
    return float(np.linalg.cond(M * d * d[:, None]))


def without_inertia(matrix: np.ndarray, names: Sequence[Any]) -> str:
    """Along which of the first unknowns of a singular matrix nothing holds them, in words.

    Args:
        matrix: The matrix of the accelerations, perhaps bordered by rows.
        names: What the first unknowns are called.
    """
    idle = np.abs(np.linalg.svd(matrix)[2][-1][: len(names)]) if np.all(np.isfinite(matrix)) else np.zeros(len(names))
    found = [str(name) for name, share in zip(names, idle, strict=True) if share > 1e-6]
    return ", ".join(found) or "a coordinate"


def accelerations_and_multipliers(
    M: np.ndarray, J: np.ndarray, C: np.ndarray, f: np.ndarray, g: np.ndarray, alike: Alike = ()
) -> tuple[np.ndarray, np.ndarray]:
    """a and lambda of M a - J' lambda = f, C a = g; if rows are redundant, the smallest lambda.

    Args:
        M: Mass matrix.
        J: Rows along which the constraints push.
        C: Rows on the accelerations.
        f: Forces.
        g: What the rows ask for.
        alike: Coordinates that are measured alike.
    """
    n, rows = M.shape[0], J.shape[0]
    system, d, pushes, asks = measured(M, J, C, alike)
    y, _, rank, _ = np.linalg.lstsq(system, np.concatenate([f * d, g / asks]), rcond=1e-13)
    values = y[n:] / pushes
    if rank < n + rows:
        idle = np.linalg.svd(system)[2][rank:, n:].T / pushes[:, None]
        values = values - idle @ np.linalg.lstsq(idle, values, rcond=None)[0]
    return y[:n] * d, values


def measured(
    M: np.ndarray, J: np.ndarray, C: np.ndarray, alike: Alike = ()
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The matrix of the system in own units; units of the accelerations, lengths of the rows J and C in these."""
    rows, d = J.shape[0], own_units(M, alike)
    J, C = J * d, C * d
    pushes, asks = _lengths(J), _lengths(C)
    system = np.block([[M * d * d[:, None], -(J / pushes[:, None]).T], [C / asks[:, None], np.zeros((rows, rows))]])
    return system, d, pushes, asks


def saddle(M: ca.SX, J: ca.SX, C: ca.SX, f: ca.SX, g: ca.SX, alike: Alike = ()) -> ca.SX:
    """The same on the graph, a and below it lambda; rows must be independent."""
    return solve_in_own_units(bordered(M, J, C), ca.vertcat(f, g), M, alike)


def bordered(M: ca.SX, J: ca.SX, C: ca.SX) -> ca.SX:
    """The matrix of a and lambda on the graph: the mass matrix, bordered by rows."""
    rows = J.shape[0]
    return ca.vertcat(ca.horzcat(M, -J.T), ca.horzcat(C, ca.SX(rows, rows)))


def solve_in_own_units(matrix: ca.SX, right: ca.SX, M: ca.SX, alike: Alike = ()) -> ca.SX:
    """y with A y = b on the graph, every equation measured by its size in own units.

    Orthogonalisation takes columns of any size, but forces on masses of 1e-18 kg are lost beside rows on lengths.

    Args:
        matrix: A. Its first columns are those of the accelerations; if there are others, of multipliers, its first rows
            are those of the coordinates.
        right: b.
        M: Mass matrix. What has no inertia is measured by that of all together.
        alike: Coordinates that are measured alike.
    """
    n, own = M.shape[0], ca.vertsplit(ca.diag(M))
    for places in alike:
        whole = sum((own[i] for i in places), ca.SX(0))
        own = [whole if i in places else e for i, e in enumerate(own)]
    total = sum((e for e in own if not e.is_zero()), ca.SX(0))
    if total.is_zero():
        return solve(matrix, right)
    # Not the absolute value, which has a kink.
    inertia = ca.vertcat(*[total if e.is_zero() else ca.sqrt(e**2 + (NO_INERTIA * total) ** 2) for e in own])
    squares = matrix**2
    pushes = [ca.dot(squares[:n, i], 1 / inertia) for i in range(n, matrix.shape[1])]
    return solve(matrix, right, ca.sqrt(squares @ (1 / ca.vertcat(inertia, *pushes))))


def _lengths(rows: np.ndarray) -> np.ndarray:
    lengths = np.sqrt((rows * rows).sum(axis=1))
    return np.where(lengths > 0, lengths, 1.0)
