"""States on the constraints: Newton's method on positions and velocities, and what the rows mean at numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np

from appell.graph.numeric import Numeric
from appell.kinematics.chart import Split, growths, independent_rows, smallest, unit_rows
from appell.kinematics.mechanics import Mechanics

EXHAUSTIVE = 120  # so many splits are compared one by one


def project_positions(
    mechanics: Mechanics,
    t: float,
    q: np.ndarray,
    p: np.ndarray,
    free: np.ndarray | None = None,
    steps: int = 60,
    tolerance: float = 1e-13,
    levels: bool = False,
    function: Numeric | None = None,
    roughly: bool = False,
) -> tuple[np.ndarray, float]:
    """The nearest q with c(q, t) = 0, and the largest residual left; only `free` coordinates are moved.

    With `levels` also the formulas of programmes that are demanded only in their derivatives. `function` is the one of
    these rows, where the caller has it. With `roughly` any q on the rows will do, and is found more quickly.
    """
    q = np.array(q, dtype=float)
    if not mechanics.position_rows and not (levels and mechanics.level_names[0]):
        return q, 0.0
    columns = np.arange(q.size) if free is None else free
    if function is None:
        function = Numeric((mechanics.levels if levels else mechanics.functions)["position"])
    best, left = q, np.inf
    for _ in range(steps):
        residual, jacobian = function(t, q, p)
        worst = float(np.abs(residual).max())
        if worst < left:
            best, left = q.copy(), worst
        if not worst < np.inf or worst <= tolerance * max(1.0, float(np.abs(q).max())) or columns.size == 0:
            break
        step = _smallest_step(jacobian[:, columns], -residual[:, 0], roughly)
        size = np.abs(step).max()
        q[columns] += step if size < 1.0 else step / size
    return best, left


def _smallest_step(jacobian: np.ndarray, wanted: np.ndarray, roughly: bool) -> np.ndarray:
    """The shortest step with J step = wanted, or of least squares; roughly by J J', which is quicker, if that works."""
    if roughly and jacobian.shape[0] <= jacobian.shape[1]:
        try:
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T, wanted)
        except np.linalg.LinAlgError:
            step = np.full(jacobian.shape[1], np.nan)
        if np.abs(jacobian @ step - wanted).max() <= 1e-9 * np.abs(wanted).max():
            return step
    return np.linalg.lstsq(jacobian, wanted, rcond=1e-10)[0]


def project_velocities(
    mechanics: Mechanics,
    t: float,
    q: np.ndarray,
    v: np.ndarray,
    z: np.ndarray,
    p: np.ndarray,
    free: np.ndarray | None = None,
    metric: np.ndarray | None = None,
    steps: int = 60,
    levels: bool = False,
) -> tuple[np.ndarray, float]:
    """The nearest v with e(q, v, t) = 0 in a diagonal metric, and the largest residual left; `levels` as before."""
    v = np.array(v, dtype=float)
    if not mechanics.row_names and not (levels and mechanics.level_names[1]):
        return v, 0.0
    columns = np.arange(v.size) if free is None else free
    weight = np.ones(v.size) if metric is None else 1 / np.sqrt(metric)
    function = Numeric((mechanics.levels if levels else mechanics.functions)["velocity"])
    best, left = v, np.inf
    for _ in range(steps):
        residual, jacobian = function(t, q, v, z, p)
        worst = float(np.abs(residual).max())
        if worst < left:
            best, left = v.copy(), worst
        if not worst < np.inf or worst <= 1e-14 * max(1.0, float(np.abs(v).max())) or columns.size == 0:
            break
        scaled = jacobian[:, columns] * weight[columns]
        v[columns] += weight[columns] * np.linalg.lstsq(scaled, -residual[:, 0], rcond=1e-10)[0]
    return best, left


def jacobian_at(
    mechanics: Mechanics, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """de/dv at a state."""
    return Numeric(mechanics.functions["jacobian"])(t, q, v, z, p)[0]


def sample_state(
    mechanics: Mechanics,
    rng: np.random.Generator,
    p: np.ndarray,
    spread: float = 1.0,
    tries: int = 30,
    roughly: bool = False,
    positions: Numeric | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """A random state (q, v, z) on the constraints, near the suggested start; None if none is found.

    With `roughly` it is good enough to look at the Jacobian of the rows: velocities, on which that of linear rows does
    not depend, need not be possible. `positions` is the function of the position rows, for who asks for several.
    """
    model = mechanics.model
    q0 = np.array([model.start.get(s.label, 0.0) for s in model.coordinates])
    v0 = np.array([model.start.get(s.rate.label, 0.0) for s in model.coordinates])
    z0 = np.array([model.start.get(s.label, rng.uniform(0.5, 1.5)) for s in model.states])
    for attempt in range(tries):
        # Widen the search only if the neighbourhood of the start has nothing.
        reach = spread * (1.0 if attempt < tries // 2 else 2.0)
        near = q0 + rng.uniform(-reach, reach, q0.size)
        q, left = project_positions(
            mechanics, 0.0, near, p, tolerance=1e-11 if roughly else 1e-13, function=positions, roughly=roughly
        )
        if left > 1e-9:
            continue
        v = v0 + rng.uniform(-1, 1, v0.size)
        if roughly and mechanics.linear:
            return q, v, z0
        v, left = project_velocities(mechanics, 0.0, q, v, z0, p)
        if left < 1e-9 and np.all(np.isfinite(v)):
            return q, v, z0
    return None


def sample_split(mechanics: Mechanics) -> Split:
    """A split that is good at all of several typical states; rows that are dependent at each of them are left out.

    A single sample could be a singular configuration; only what fails at all of them is permanent.
    """
    if not mechanics.row_names:
        return Split()
    rng = np.random.default_rng(7)
    p = mechanics.sample_values(rng)
    n = len(mechanics.model.coordinates)
    functions = mechanics.functions
    positions = Numeric(functions["position"]) if mechanics.position_rows else None
    jacobian = Numeric(functions["jacobian"])
    jacobians = []
    for reach in (0.0, 0.3, 0.3, 1.5, 1.5, 1.5, 1.5):
        state = sample_state(mechanics, rng, p, reach, 4, True, positions)
        if state is None:
            continue
        found = jacobian(0.0, *state, p)[0]
        if np.isfinite(found).all():
            jacobians.append(found)
    if not jacobians:
        q, v, z = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(0.5, 1.5, len(mechanics.model.states))
        jacobians = [jacobian(0.0, q, v, z, p)[0]]
    independent = [independent_rows(unit_rows(j)) for j in jacobians]
    rank = max(map(len, independent))
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
    candidates = dict.fromkeys(Split.at(j, rows=rows) for j in regular)
    known = dict(zip((Split(rows, c) for c in columns), worst.tolist(), strict=True))
    for split in candidates:
        if split not in known:
            known[split] = float(growths(split.rows, [split.dependent], stack).max())
    return min((*candidates, *known), key=known.__getitem__)
