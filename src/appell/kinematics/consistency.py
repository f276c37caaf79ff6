"""States on the constraints: Newton's method on positions and velocities, and what the rows mean at numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from appell.graph.numeric import Numeric, SideBySide
from appell.graph.sparse import densified
from appell.graph.terms import cleared, terms_at
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.newton import newton
from appell.kinematics.split import Split, growths, independent_rows, smallest, unit_rows
from appell.once import lately

EXHAUSTIVE = 120  # so many splits are compared one by one
REACHES = (0.0, 0.3, 0.3, 1.5, 1.5, 1.5, 1.5)  # how far from the start typical states are looked for
NEAR = 0.02  # how far from the start the same way of assembly is looked for
SEED = 7
KNOWN, NOISE = 1e-9, 1e-10
ROUGH, FOUND = 1e-11, 1e-9  # residuals that sampled states need not fall below, and may have at most


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
    model, x = mechanics.model, mechanics.variables
    q = np.array([model.start.get(s.label, 0.0) for s in model.coordinates])
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


def sample_state(
    mechanics: Mechanics,
    rng: np.random.Generator,
    p: np.ndarray,
    spread: float = 1.0,
    *,
    t: float = 0.0,
    tries: int = 30,
    roughly: bool = False,
    positions: SideBySide | None = None,
    units: np.ndarray | None = None,
    rates: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """A random state (q, v, z) on the constraints, near the suggested start; None if none is found.

    Args:
        mechanics: The model on the graph.
        rng: Random numbers.
        p: Parameters.
        spread: How far from the start.
        t: The time.
        tries: How many times at most, the second half of them twice as far.
        roughly: Whether it need only be good enough to look at the Jacobian of the rows: velocities, on which that of
            linear rows does not depend, need not be possible.
        positions: The function of the position rows, for who asks for several.
        units: What coordinates are measured in, as for `project_positions`.
        rates: What rates are measured in, of q, q' at the start and z; units in a second if left out.
    """
    model = mechanics.model
    q0 = np.array([model.start.get(s.label, 0.0) for s in model.coordinates])
    v0 = np.array([model.start.get(s.rate.label, 0.0) for s in model.coordinates])
    z0 = np.array([model.start.get(s.label, rng.uniform(0.5, 1.5)) for s in model.states])
    own = np.ones(q0.size) if units is None else units
    for attempt in range(tries):
        # Widen the search only if the neighbourhood of the start has nothing.
        reach = spread * (1.0 if attempt < tries // 2 else 2.0)
        near = q0 + rng.uniform(-reach, reach, q0.size) * own
        tolerance = ROUGH if roughly else 1e-13
        q, left = project_positions(mechanics, t, near, p, tolerance=tolerance, function=positions, units=units)
        if left > FOUND:
            continue
        v = v0 + rng.uniform(-1, 1, v0.size) * (own if rates is None else rates(q, v0, z0))
        if roughly and mechanics.linear:
            return q, v, z0
        near, (v, _) = v, project_velocities(mechanics, t, q, v, z0, p)
        residual, slopes = Numeric(mechanics.functions["velocity"])(t, q, v, z0, p)
        terms = sizes(slopes, np.maximum(np.abs(v), np.abs(near)))
        if np.isfinite(v).all() and (np.abs(residual[:, 0]) <= 1e-9 * terms).all():
            return q, v, z0
    return None


def sample_states(
    mechanics: Mechanics,
    rng: np.random.Generator,
    p: np.ndarray,
    reaches: Sequence[float],
    *,
    positions: SideBySide | None = None,
    units: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]] | None:
    """What `sample_state` gives roughly for some reaches, all at once; None if one of them takes longer.

    Arguments as for it.
    """
    model = mechanics.model
    if not mechanics.linear:
        return None
    q0 = np.array([model.start.get(s.label, 0.0) for s in model.coordinates])
    v0 = np.array([model.start.get(s.rate.label, 0.0) for s in model.coordinates])
    own, q, v, z = np.ones(q0.size) if units is None else units, [], [], []
    for reach in reaches:
        z.append(np.array([model.start.get(s.label, rng.uniform(0.5, 1.5)) for s in model.states]))
        q.append(q0 + rng.uniform(-reach, reach, q0.size) * own)
        v.append(v0 + rng.uniform(-1, 1, v0.size) * own)
    places, left = project_positions(
        mechanics, 0.0, np.array(q), p, steps=20, tolerance=ROUGH, function=positions, units=units
    )
    return None if np.any(left > FOUND) else list(zip(places, v, z, strict=True))


def sample_split(mechanics: Mechanics, function: str = "jacobian") -> Split:
    """A split that is good at all of several typical states; rows that are dependent at each of them are left out.

    A single sample could be a singular configuration; only what fails at all of them is permanent.

    Args:
        mechanics: The model on the graph.
        function: Which of its functions gives the rows by the velocities to choose from.
    """
    if not mechanics.row_names:
        return Split()
    rng = np.random.default_rng(SEED)
    p = mechanics.sample_values(rng)
    n = len(mechanics.model.coordinates)
    functions = mechanics.functions
    positions = SideBySide(functions["position"]) if mechanics.position_rows else None
    jacobian = Numeric(functions[function])

    def sampled(reach: float) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        return sample_state(mechanics, rng, p, reach, tries=4, roughly=True, positions=positions)

    again = np.random.default_rng(SEED)
    mechanics.sample_values(again)
    states = sample_states(mechanics, again, p, REACHES, positions=positions)
    if states is None:
        found = [sampled(reach) for reach in REACHES]
        states = [state for state in found if state is not None]
    jacobians = [j for j in (jacobian(0.0, *state, p)[0] for state in states) if np.isfinite(j).all()]
    if not jacobians:
        q, v, z = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(0.5, 1.5, len(mechanics.model.states))
        jacobians = [jacobian(0.0, q, v, z, p)[0]]
    independent = _independent(np.stack(jacobians))
    rank = max(map(len, independent))
    if len(independent[0]) < rank:
        # Fewer rows are independent at the start: it is a singular place, or the mechanism is put together in a way
        # in which it moves, and not in the others that were found. Next to a singular place more rows are independent.
        found = [sampled(NEAR) for _ in REACHES]
        near = [j for j in (jacobian(0.0, *state, p)[0] for state in found if state) if np.isfinite(j).all()]
        beside = [independent_rows(unit_rows(j)) for j in near]
        if beside and max(map(len, beside)) == len(independent[0]):
            jacobians, independent = [jacobians[0], *near], [independent[0], *beside]
            rank = len(independent[0])
    regular = [j for j, rows in zip(jacobians, independent, strict=True) if len(rows) == rank]
    choices = list(dict.fromkeys(rows for rows in independent if len(rows) == rank))
    if math.comb(len(mechanics.row_names), rank) <= EXHAUSTIVE:
        choices = list(itertools.combinations(range(len(mechanics.row_names)), rank))
    rows = choices[0]
    if len(choices) > 1:
        scaled = [unit_rows(j) for j in regular]
        rows = max(choices, key=lambda kept: min(smallest(j[list(kept)]) for j in scaled))
    stack = np.stack(regular)
    columns = list(itertools.combinations(range(n), rank)) if math.comb(n, rank) <= EXHAUSTIVE else []
    worst = growths(rows, columns, stack).max(axis=0) if columns else np.zeros(0)
    if rank == len(mechanics.row_names) and np.count_nonzero(worst == worst.min(initial=np.inf)) == 1:
        return Split(rows, columns[int(worst.argmin())])
    # Among equals those come first that pivoting gives, which are all there are if there are many.
    known = dict(zip((Split(rows, c) for c in columns), worst.tolist(), strict=True))
    candidates: dict[Split, None] = {}
    for j in regular:
        split = Split.at(j, rows=rows)
        candidates[split] = None
        if split not in known:
            known[split] = float(growths(split.rows, [split.dependent], stack).max())
        if rank == len(mechanics.row_names) and known[split] == worst.min(initial=np.inf):
            return split
    return min((*candidates, *known), key=known.__getitem__)


def spare_only_here(
    mechanics: Mechanics, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, p: np.ndarray, kept: tuple[int, ...]
) -> tuple[str, ...]:
    """Rows that follow from others at a state but not beside it, where they still forbid something: a singular place.

    Args:
        mechanics: The model on the graph.
        t: Time.
        q: Positions on the rows.
        v: Velocities on the rows.
        z: Extra states.
        p: Parameters.
        kept: The rows that are independent at the state.
    """
    rng = np.random.default_rng(SEED)
    for _ in REACHES:
        near, left = project_positions(mechanics, t, q + rng.uniform(-NEAR, NEAR, q.size), p, tolerance=ROUGH)
        rates = v + rng.uniform(-NEAR, NEAR, v.size)
        if not mechanics.linear:
            rates, _ = project_velocities(mechanics, t, near, rates, z, p)
        jacobian = jacobian_at(mechanics, t, near, rates, z, p)
        if left > FOUND or not np.isfinite(jacobian).all():
            continue
        rows = independent_rows(unit_rows(jacobian))
        if len(rows) > len(kept):
            return tuple(mechanics.row_names[i] for i in rows if i not in kept)
    return ()


def row_sizes(mechanics: Mechanics) -> tuple[np.ndarray, bool]:
    """How long the rows of de/dv are at typical states, and whether always the same ones follow from the others.

    They do where as many rows are independent at one state as are in constant combinations, that is at all states.
    """
    rng, jacobian = np.random.default_rng(SEED), Numeric(mechanics.functions["jacobian"])
    p = mechanics.sample_values(rng)
    states = [sample_state(mechanics, rng, p, reach, tries=4, roughly=True) for reach in REACHES]
    found = [jacobian(0.0, *state, p)[0] for state in states if state is not None]
    found = [j for j in found if np.isfinite(j).all()]
    if not found:
        return np.ones(len(mechanics.row_names)), False
    sizes = np.sqrt((np.stack(found) ** 2).sum(axis=2)).max(axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    together = np.linalg.matrix_rank(np.concatenate(found, axis=1) / sizes[:, None], tol=1e-9)
    return sizes, bool(together == max(map(len, _independent(np.stack(found)))))


def _independent(jacobians: np.ndarray) -> list[tuple[int, ...]]:
    """The independent rows of each of several Jacobians; where all are, singular values say so at once."""
    rows, columns = jacobians.shape[1:]
    norms = np.sqrt((jacobians * jacobians).sum(axis=2, keepdims=True))
    if rows <= columns and norms.min() > 1e-9 * norms.max():
        values = np.linalg.svd(jacobians / norms, compute_uv=False)
        if (values[:, -1] > 1e-6 * values[:, 0]).all():
            return [tuple(range(rows))] * len(jacobians)
    return [independent_rows(unit_rows(j)) for j in jacobians]


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
