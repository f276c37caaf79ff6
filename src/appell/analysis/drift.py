r"""Rigid displacements: what they are, the momenta along them, and drifts that never end.

A rigid displacement is a direction k of the coordinates along which the equations do not change, $f(x + k\varepsilon) =
f(x)$ at every state: a cyclic coordinate, or all masses of a free chain moved alike. Where some state has $f(x) = ck$,
the motion $x + ckt$ goes on for ever.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
import scipy.linalg

from appell.analysis.continuation import leads_on
from appell.analysis.linearize import Linearization

ROUNDING = 1e-9  # of the norm, at which a singular value counts as zero
MANY = 8  # names in a sum, beyond which some stand for all


def rigid(lin: Linearization) -> np.ndarray:
    """The rigid displacements, as simple as can be, a row for each.

    Cyclic coordinates that are left out are among them, for the sake of their momenta.

    Args:
        lin: The linearisation.
    """
    tangent = lin.tangent
    labels = [q.label for q in lin.model.coordinates]
    n, awake = len(labels), tangent.awake
    places = [i for i in awake if i < n]
    rows = [M[np.ix_(part, places)] for slope, J in tangent.seen for M, part in ((slope, awake), (J, range(len(J))))]
    felt = np.vstack(rows) / max(max(np.max(np.abs(slope), initial=0.0) for slope, _ in tangent.seen), 1e-300)
    directions = [np.eye(n)[i] for i in tangent.steady.cyclic(lin.at.system.p) if labels[i] in lin.dropped]
    if np.all(np.isfinite(felt)) and places:
        for k in scipy.linalg.null_space(felt, rcond=ROUNDING).T:
            directions.append(np.zeros(n))
            directions[-1][places] = k * tangent.units[places]
    return simplest(np.array(directions).reshape(-1, n), tangent.units[:n])


def simplest(directions: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Rows that span the same, with a one and else zeros in one column each.

    Args:
        directions: Independent rows.
        units: What the columns are measured in.
    """
    rows, pivots = directions / units, list[int]()
    for k in range(len(rows)):
        left = np.max(np.abs(rows[k:]), axis=0)
        pivot = int(np.argmax(left > 0.1 * np.max(left)))  # the first that is large enough
        best = k + int(np.argmax(np.abs(rows[k:, pivot])))
        rows[[k, best]] = rows[[best, k]]
        rows[k] /= rows[k, pivot]
        others = np.arange(len(rows)) != k
        rows[others] -= np.outer(rows[others, pivot], rows[k])
        pivots.append(pivot)
    rows = np.where(np.abs(rows) > ROUNDING, rows, 0.0)[np.argsort(pivots)] * units
    return rows / np.array([row[pivot] for row, pivot in zip(rows, sorted(pivots), strict=True)]).reshape(-1, 1)


def joined(some: np.ndarray, others: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The simplest rows that span what rows and others do.

    Args:
        some: Rows.
        others: More rows.
        units: What the columns are measured in.
    """
    rows = np.vstack([some, others])
    if not len(rows):
        return rows
    _, values, vh = np.linalg.svd(rows / np.linalg.norm(rows / units, axis=1, keepdims=True) / units)
    return simplest(vh[: values.size][values > ROUNDING] * units, units)


def direction_in_words(direction: np.ndarray, names: Sequence[str]) -> str:
    """A direction as a sum of names.

    Args:
        direction: Its components.
        names: Names of the components.

    Example:
        >>> direction_in_words(np.array([1.0, 0.0, 1.0, -0.5]), ["x1", "y1", "x2", "turn"])
        'x1 + x2 - 0.5 turn'
    """
    parts = [
        f"{'-' if e < 0 else '+'} {name if abs(abs(e) - 1) < ROUNDING else f'{abs(e):.6g} {name}'}"
        for e, name in zip(direction, names, strict=True)
        if e
    ]
    return " ".join(parts if len(parts) <= MANY else [*parts[:3], "+ ...", parts[-1]]).removeprefix("+ ")


def conserved(lin: Linearization, directions: np.ndarray, full: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rigid displacements along which nothing changes the momentum, and the gradients of these momenta by (q, u, z).

    Args:
        lin: The linearisation.
        directions: The rigid displacements.
        full: The Jacobian of the full equations, with a feedback if there is one.
    """
    tangent, eqs = lin.tangent, lin.tangent.equations
    steady, m, x = tangent.steady, tangent.steady.mechanics, tangent.steady.mechanics.variables
    if not len(directions) or steady.velocity_rows or m.acceleration_rows or m.accelerating:
        return directions[:0], np.zeros((0, full.shape[0]))
    momenta = eqs.chart.in_speeds(x.thaw(ca.gradient(m.T, x.v)))
    slopes = tangent.here(ca.jacobian(momenta, eqs.x))[0]
    forces, rounding = steady.applied_slopes(lin.at)
    felt = np.hstack([*forces, slopes @ full])
    sizes = np.hstack([*(rounding / ROUNDING for _ in forces), np.abs(slopes) @ np.abs(full)])
    kept = _unchanged(directions, felt, sizes, tangent.units[: directions.shape[1]])
    return kept, kept @ slopes


def unfelt(lin: Linearization, directions: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Those rigid displacements that are no part of what is left out and that a feedback does not feel either.

    Args:
        lin: The linearisation.
        directions: The rigid displacements.
        A: The reduced matrix, with a feedback if there is one.
    """
    labels = [q.label for q in lin.model.coordinates]
    inside = directions[[not any(row[labels.index(s)] for s in lin.dropped) for row in directions]]
    picked = _picked(lin)
    return _unchanged(inside, picked @ A.T, np.abs(picked) @ np.abs(A.T), lin.tangent.units[: len(labels)])


def _picked(lin: Linearization) -> np.ndarray:
    """The coordinates among the reduced states: a row for each, with one where it is, zero if it is left out."""
    return np.array([[float(s == q.label) for s in lin.states] for q in lin.model.coordinates])


def _unchanged(directions: np.ndarray, felt: np.ndarray, sizes: np.ndarray, units: np.ndarray) -> np.ndarray:
    """The simplest directions among those spanned that change nothing.

    Args:
        directions: A row for each.
        felt: How a displacement of each coordinate changes what must not change.
        sizes: How large the terms of these changes are.
        units: What the coordinates are measured in.
    """
    if not len(directions):
        return directions
    rows = directions / np.linalg.norm(directions / units, axis=1, keepdims=True)
    terms = np.max(np.abs(rows) @ sizes, axis=0)
    u, values, _ = np.linalg.svd(rows @ felt / np.where(terms > 0, terms, 1.0))
    values = np.append(values, np.zeros(len(rows) - values.size))
    return simplest(u[:, values <= ROUNDING].T @ rows, units)


def drifts(lin: Linearization, directions: np.ndarray, A: np.ndarray, xdot: ca.SX | None) -> np.ndarray:
    """Directions of motions that begin as near as one likes and go away for ever.

    Args:
        lin: The linearisation.
        directions: Rigid displacements that nothing feels.
        A: The reduced matrix, with a feedback if there is one.
        xdot: The equations with the feedback; None without.
    """
    if not len(directions):
        return directions
    labels, tangent = [q.label for q in lin.model.coordinates], lin.tangent
    picked = _picked(lin)
    units = lin.units
    rows = directions / np.linalg.norm(directions / tangent.units[: len(labels)], axis=1, keepdims=True)
    matrix, ends = A / units[:, None] * units, (rows @ picked / units).T / tangent.at.units.time
    size = float(np.linalg.norm(matrix)) or 1.0
    matrix, ends = matrix / size, ends / size
    left = scipy.linalg.null_space(matrix.T, rcond=ROUNDING) if np.any(matrix) else np.eye(len(matrix))
    _, values, vh = np.linalg.svd(left.T @ ends)  # A w = k c asks that c is at right angles to all integrals
    values = np.append(values, np.zeros(len(rows) - values.size))
    found = simplest(vh[values <= ROUNDING * np.max(np.abs(ends))] @ rows, tangent.units[: len(labels)])
    going = []
    for k in found:
        w = units * np.linalg.lstsq(matrix, (k @ picked) / units / size, rcond=ROUNDING)[0]
        going.append(leads_on(tangent, lin.states, w, xdot, along=k))
    return found[going]


def beside(lin: Linearization, A: np.ndarray, known: np.ndarray, xdot: ca.SX | None) -> str:
    """Directions to other steady motions beside rigid displacements, in words: turns of a chain of points, of a body.

    Args:
        lin: The linearisation.
        A: The reduced matrix, with a feedback if there is one.
        known: Rigid displacements that nothing feels.
        xdot: The equations with the feedback; None without.
    """
    tangent = lin.tangent
    labels, units = [q.label for q in lin.model.coordinates], lin.units
    picked = _picked(lin)
    matrix = A / units[:, None] * units
    kernel = scipy.linalg.null_space(matrix, rcond=ROUNDING) if np.any(matrix) else np.eye(len(matrix))
    told = scipy.linalg.orth((known @ picked / units).T) if len(known) else np.zeros((len(units), 0))
    free = kernel @ scipy.linalg.null_space(told.T @ kernel) if told.size else kernel
    ways = simplest(free.T * units, units)
    ways = [k for k in ways if leads_on(tangent, lin.states, k, xdot)]
    if not ways:
        return ""
    touched = {s for k in ways for s, e in zip(lin.states, k, strict=True) if e}
    rest = touched <= set(labels) and not np.any(lin.at.state.v)
    others = "equilibria" if rest else "steady motions"
    along = ", ".join(direction_in_words(k, lin.states) for k in ways)
    return f"; zero roots are of motions along {along}, to other {others}"
