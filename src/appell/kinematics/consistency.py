"""States on the constraints: Newton's method on positions and velocities, and what the rows mean at numbers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import casadi as ca
import numpy as np

from appell.graph.numeric import Numeric, SideBySide
from appell.graph.sparse import densified
from appell.graph.terms import cleared, terms_at
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.newton import newton
from appell.model.model import Model
from appell.model.symbols import Letter
from appell.once import lately

KNOWN, NOISE = 1e-9, 1e-10


def suggested_start(model: Model, otherwise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The suggested coordinates and their rates; `otherwise` where none is suggested."""
    rates = [s.rate for s in model.coordinates]
    return suggested(model, model.coordinates, otherwise), suggested(model, rates, otherwise)


def suggested(model: Model, letters: Collection[Letter], otherwise: float | np.ndarray = 0.0) -> np.ndarray:
    """The suggested starting values of some letters; `otherwise`, one or one for each, where none is suggested."""
    others = np.broadcast_to(otherwise, len(letters))
    return np.array([model.start.get(s.label, e) for s, e in zip(letters, others, strict=True)], dtype=float)


def project_positions(
    mechanics: Mechanics,
    t: float,
    q: np.ndarray,
    p: np.ndarray,
    free: np.ndarray | None = None,
    *,
    steps: int = 60,
    tolerance: float = 1e-13,
    levels: np.ndarray | None = None,
    function: SideBySide | None = None,
    reach: float | np.ndarray = 1.0,
    units: np.ndarray | None = None,
) -> tuple[np.ndarray, Any]:
    """The nearest q with c(q, t) = 0, and the largest residual left; with units, as a share of the row's terms.

    Args:
        mechanics: The model on the graph.
        t: Time.
        q: Where to begin; a row each to begin at many places.
        p: Parameters, those of all places or a row for each.
        free: Coordinates that may be moved; all if left out.
        steps: How many steps of Newton's method at most.
        tolerance: Residuals up to this are zero, as a share of q.
        levels: Extra states, if formulas of programmes count that are demanded only in their derivatives.
        function: The function of these rows, where the caller has it.
        reach: How far one step goes at most.
        units: What coordinates and their distances are measured in, see `row_units`; one if left out.
    """
    q = np.array(q, dtype=float)
    if not mechanics.position_rows and (levels is None or not mechanics.level_names[0]):
        return q, np.zeros(q.shape[:-1])[()]
    call = function or SideBySide((mechanics.functions if levels is None else mechanics.levels)["position"])
    more = () if levels is None else (levels,)

    def rows(which: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, slopes = call(which.size, t, q, *(_of(e, which) for e in (p, *more)))
        if units is not None:
            terms = sizes(slopes, np.maximum(np.abs(q), units))
            residual, slopes = (e / np.where(terms > 0, terms, 1.0)[:, :, None] for e in (residual, slopes))
        return residual[:, :, 0], slopes

    def enough(q: np.ndarray, residual: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        span = 1.0 if units is not None else np.maximum(1.0, np.abs(q).max(axis=1))
        return np.abs(residual).max(axis=1) <= tolerance * span

    columns = np.arange(q.shape[-1]) if free is None else free
    found, left = newton(rows, np.atleast_2d(q), columns, enough, steps=steps, reach=reach, units=units)
    return found.reshape(q.shape), left.reshape(q.shape[:-1])[()]


def _of(numbers: np.ndarray, which: np.ndarray) -> np.ndarray:
    """Those of some places, of numbers for all places or with a row for each."""
    return numbers[which] if np.ndim(numbers) == 2 else numbers


def row_units(mechanics: Mechanics, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Units in which position rows are of size one at the suggested start: of the coordinates, and of the rows.

    A row's unit is how large its terms are, a coordinate's the change that upsets a row by as much: about one for
    angles, the size of the mechanism for places, be it micrometres or kilometres. Coordinates that occur in no row
    have none, nan.

    Args:
        mechanics: The model on the graph.
        p: Values of the parameters.
    """
    if not mechanics.position_rows:
        return np.full(len(mechanics.model.coordinates), np.nan), np.ones(0)
    places, rows = _row_units(mechanics, tuple(p.tolist()))
    return places.copy(), rows.copy()


@lately(64)
def _row_units(mechanics: Mechanics, p: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    x, (q, _) = mechanics.variables, suggested_start(mechanics.model)
    units, terms = changes(mechanics.c, x.q, [x.t, x.p], [q, 0.0, p])
    return units, np.where(np.isfinite(terms) & (terms > 0), terms, 1.0)


def changes(
    formulas: ca.SX, q: ca.SX, letters: Sequence[ca.SX], values: Sequence[Any], sizes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """For each coordinate the smallest change that upsets one of some formulas by its size, nan if none; the sizes.

    First derivatives say so, and second ones where the first vanish: upright, or at a dead centre.

    Args:
        formulas: The formulas.
        q: The coordinates.
        letters: The other letters in the formulas.
        values: Of the coordinates and of the other letters.
        sizes: Of the formulas; how large their terms are if not given.
    """
    n, rows, slopes = q.numel(), formulas.numel(), densified(ca.jacobian(formulas, q))
    bends = ca.jacobian(ca.vec(slopes), q)
    columns = ca.horzcat(formulas, slopes, *[bends[rows * j : rows * (j + 1), j] for j in range(n)])
    found, terms = terms_at(ca.Function("changes", [q, *letters], [densified(columns)]), *values)
    size = terms[:, 0] if sizes is None else sizes
    with np.errstate(divide="ignore", invalid="ignore"):
        change = size[:, None] / np.abs(cleared(found, terms)[:, 1:])
    change[:, n:] **= 0.5
    change = np.where(np.isfinite(change) & (change > 0), change, np.inf).min(axis=0, initial=np.inf)
    least = np.minimum(*np.split(change, 2))
    return np.where(np.isfinite(least), least, np.nan), size


def sizes(slopes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """How large the terms of rows are: |slopes| |values|. Rounding leaves some 1e-16 of it."""
    return (np.abs(slopes) @ np.abs(values)[..., None])[..., 0]


def tolerances(slopes: np.ndarray, terms: np.ndarray, noise: float = NOISE) -> np.ndarray:
    """What a start may leave of rows: who gives it knows its numbers to 1e-9 of themselves, and none below a noise.

    Args:
        slopes: Of the rows, by coordinates or rates.
        terms: How large the terms of the rows are.
        noise: In coordinates or rates.
    """
    return KNOWN * terms + noise * np.abs(slopes).sum(axis=-1)


def project_velocities(
    mechanics: Mechanics,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    z: np.ndarray,
    p: np.ndarray,
    free: np.ndarray | None = None,
    *,
    levels: bool = False,
) -> tuple[np.ndarray, Any]:
    """The nearest v with e(q, v, t) = 0, and the largest residual left; arguments as for `project_positions`."""
    v = np.array(v, dtype=float)
    if not mechanics.row_names and not (levels and mechanics.level_names[1]):
        return v, np.zeros(v.shape[:-1])[()]
    call = SideBySide((mechanics.levels if levels else mechanics.functions)["velocity"])

    def rows(which: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        residual, slopes = call(which.size, t, _of(q, which), v, _of(z, which), _of(p, which))
        return residual[:, :, 0], slopes

    def enough(v: np.ndarray, residual: np.ndarray, slopes: np.ndarray) -> np.ndarray:
        return (np.abs(residual) <= 1e-14 * sizes(slopes, v)).all(axis=1)

    columns = np.arange(v.shape[-1]) if free is None else free
    found, left = newton(rows, np.atleast_2d(v), columns, enough)
    return found.reshape(v.shape), left.reshape(v.shape[:-1])[()]


def jacobian_at(
    mechanics: Mechanics,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    z: np.ndarray,
    p: np.ndarray,
    function: str = "jacobian",
) -> np.ndarray:
    """J at a state: de/dv, but unit rows of drives for servo constraints; or by other velocities."""
    return Numeric(mechanics.functions[function])(t, q, v, z, p)[0]


def contradicting(residual: np.ndarray, J: np.ndarray, names: Sequence[str]) -> list[str]:
    """Names of rows that contradict each other: dependent rows whose residuals no step along their slopes removes.

    Args:
        residual: What is left of the rows.
        J: Their slopes.
        names: Their names.
    """
    norms = np.linalg.norm(J, axis=1)
    if not J.size or np.any(norms <= 1e-9 * np.max(norms)):
        return []  # a row without a slope contradicts nothing yet
    u, sizes, _ = np.linalg.svd(J / norms[:, None])
    rest = u[:, int(np.count_nonzero(sizes > 1e-9 * sizes[0])) :]
    against, left = np.abs(rest @ (rest.T @ (residual / norms))), np.max(np.abs(residual / norms))
    return [name for name, e in zip(names, against, strict=True) if e > 1e-6 * left]
