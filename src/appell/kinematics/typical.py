"""Typical states, random ones on the constraints near the suggested start, and the split that is good at them all."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from appell.graph.numeric import Numeric, SideBySide
from appell.kinematics.consistency import (
    jacobian_at,
    project_positions,
    project_velocities,
    sizes,
    suggested,
    suggested_start,
)
from appell.kinematics.groups import in_small_groups
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split, growths, independent_rows, smallest, unit_rows

EXHAUSTIVE = 120  # so many splits are compared one by one
REACHES = (0.0, 0.3, 0.3, 1.5, 1.5, 1.5, 1.5)  # how far from the start typical states are looked for
NEAR = 0.02  # how far from the start the same way of assembly is looked for
SEED = 7
ROUGH, FOUND = 1e-11, 1e-9  # residuals that sampled states need not fall below, and may have at most

State = tuple[np.ndarray, np.ndarray, np.ndarray]  # q, v, z


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
) -> State | None:
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
    model, (q0, v0) = mechanics.model, suggested_start(mechanics.model)
    z0 = suggested(model, model.states, rng.uniform(0.5, 1.5, len(model.states)))
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
) -> list[State] | None:
    """What `sample_state` gives roughly for some reaches, all at once; None if one of them takes longer.

    Arguments as for it.
    """
    model = mechanics.model
    if not mechanics.linear:
        return None
    q0, v0 = suggested_start(model)
    own, q, v, z = np.ones(q0.size) if units is None else units, [], [], []
    for reach in reaches:
        z.append(suggested(model, model.states, rng.uniform(0.5, 1.5, len(model.states))))
        q.append(q0 + rng.uniform(-reach, reach, q0.size) * own)
        v.append(v0 + rng.uniform(-1, 1, v0.size) * own)
    places, left = project_positions(
        mechanics, 0.0, np.array(q), p, steps=20, tolerance=ROUGH, function=positions, units=units
    )
    return None if np.any(left > FOUND) else list(zip(places, v, z, strict=True))


def sample_split(mechanics: Mechanics, function: str = "jacobian") -> Split:
    """A split that is good at all of several typical states, and short; rows dependent at each of them are left out.

    A single sample could be a singular configuration; only what fails at all of them is permanent.

    Args:
        mechanics: The model on the graph.
        function: Which of its functions gives the rows by the velocities to choose from.
    """
    if not mechanics.row_names:
        return Split()
    jacobians, independent = _regular(mechanics, function)
    return in_small_groups(_best_split(jacobians, _best_rows(jacobians, independent)), np.stack(jacobians))


def _regular(mechanics: Mechanics, function: str) -> tuple[list[np.ndarray], list[tuple[int, ...]]]:
    """Those Jacobians of the rows at typical states that have the largest rank, and their independent rows."""
    model, rng, again = mechanics.model, np.random.default_rng(SEED), np.random.default_rng(SEED)
    p = mechanics.sample_values(rng)
    mechanics.sample_values(again)
    positions = SideBySide(mechanics.functions["position"]) if mechanics.position_rows else None
    jacobian = Numeric(mechanics.functions[function])

    def sampled(reach: float) -> State | None:
        return sample_state(mechanics, rng, p, reach, tries=4, roughly=True, positions=positions)

    together = sample_states(mechanics, again, p, REACHES, positions=positions)
    jacobians = _finite(jacobian, together or map(sampled, REACHES), p)
    if not jacobians:
        n = len(model.coordinates)
        q, v, z = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(0.5, 1.5, len(model.states))
        jacobians = [jacobian(0.0, q, v, z, p)[0]]
    independent = _independent(np.stack(jacobians))
    rank = max(map(len, independent))
    if len(independent[0]) < rank:
        # Fewer rows are independent at the start: it is a singular place, or the mechanism is put together in a way
        # in which it moves, and not in the others that were found. Next to a singular place more rows are independent.
        near = _finite(jacobian, (sampled(NEAR) for _ in REACHES), p)
        beside = [independent_rows(unit_rows(j)) for j in near]
        if beside and max(map(len, beside)) == len(independent[0]):
            jacobians, independent = [jacobians[0], *near], [independent[0], *beside]
            rank = len(independent[0])
    most = [k for k, rows in enumerate(independent) if len(rows) == rank]
    return [jacobians[k] for k in most], [independent[k] for k in most]


def _finite(jacobian: Numeric, states: Iterable[State | None], p: np.ndarray) -> list[np.ndarray]:
    """The Jacobians of the rows at those states that were found, where they have a value."""
    found = [jacobian(0.0, *state, p)[0] for state in states if state is not None]
    return [j for j in found if np.isfinite(j).all()]


def _best_rows(jacobians: list[np.ndarray], independent: list[tuple[int, ...]]) -> tuple[int, ...]:
    """Of the sets of rows that are independent somewhere, or of all if they are few, the one farthest from dependent.

    Args:
        jacobians: At several states.
        independent: Independent rows of each.
    """
    choices, (count, rank) = list(dict.fromkeys(independent)), (len(jacobians[0]), len(independent[0]))
    if math.comb(count, rank) <= EXHAUSTIVE:
        choices = list(itertools.combinations(range(count), rank))
    if len(choices) == 1:
        return choices[0]
    scaled = [unit_rows(j) for j in jacobians]
    return max(choices, key=lambda kept: min(smallest(j[list(kept)]) for j in scaled))


def _best_split(jacobians: list[np.ndarray], rows: tuple[int, ...]) -> Split:
    """The dependent coordinates whose rates grow least beyond the others' at the worst of several states.

    Args:
        jacobians: At these states.
        rows: The rows that are used.
    """
    stack, rank = np.stack(jacobians), len(rows)
    _, count, n = stack.shape
    columns = list(itertools.combinations(range(n), rank)) if math.comb(n, rank) <= EXHAUSTIVE else []
    worst = growths(rows, columns, stack).max(axis=0) if columns else np.zeros(0)
    if rank == count and np.count_nonzero(worst == worst.min(initial=np.inf)) == 1:
        return Split(rows, columns[int(worst.argmin())])
    # Among equals those come first that pivoting gives, which are all there are if there are many.
    known = dict(zip((Split(rows, c) for c in columns), worst.tolist(), strict=True))
    candidates: dict[Split, None] = {}
    for j in jacobians:
        split = Split.at(j, rows=rows)
        candidates[split] = None
        if split not in known:
            known[split] = float(growths(split.rows, [split.dependent], stack).max())
        if rank == count and known[split] == worst.min(initial=np.inf):
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
    found = _finite(jacobian, states, p)
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
