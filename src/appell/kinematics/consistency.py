"""States on the constraints: Newton's method on positions and velocities, and what the rows mean at numbers."""

from __future__ import annotations

import itertools
import math

import numpy as np

from appell.graph.numeric import Numeric
from appell.kinematics.chart import Split, growths, smallest, unit_rows
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
) -> tuple[np.ndarray, float]:
    """The nearest q with c(q, t) = 0, and the largest residual left; only `free` coordinates are moved.

    With `levels` also the formulas of programmes that are demanded only in their derivatives.
    """
    q = np.array(q, dtype=float)
    if not mechanics.position_rows and not (levels and mechanics.level_names[0]):
        return q, 0.0
    columns = np.arange(q.size) if free is None else free
    function = Numeric((mechanics.levels if levels else mechanics.functions)["position"])
    best, left = q, np.inf
    for _ in range(steps):
        residual, jacobian = function(t, q, p)
        worst = float(np.abs(residual).max())
        if worst < left:
            best, left = q.copy(), worst
        if not worst < np.inf or worst <= tolerance * max(1.0, float(np.abs(q).max())) or columns.size == 0:
            break
        step = np.linalg.lstsq(jacobian[:, columns], -residual[:, 0], rcond=1e-10)[0]
        size = np.abs(step).max()
        q[columns] += step if size < 1.0 else step / size
    return best, left


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
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """A random state (q, v, z) on the constraints, near the suggested start; None if none is found.

    With `roughly` it is good enough to look at the Jacobian of the rows: velocities, on which that of linear rows does
    not depend, need not be possible.
    """
    model = mechanics.model
    q0 = np.array([model.start.get(s.label, 0.0) for s in model.coordinates])
    v0 = np.array([model.start.get(s.rate.label, 0.0) for s in model.coordinates])
    z0 = np.array([model.start.get(s.label, rng.uniform(0.5, 1.5)) for s in model.states])
    for attempt in range(tries):
        # Widen the search only if the neighbourhood of the start has nothing.
        reach = spread * (1.0 if attempt < tries // 2 else 2.0)
        near = q0 + rng.uniform(-reach, reach, q0.size)
        q, left = project_positions(mechanics, 0.0, near, p, tolerance=1e-11 if roughly else 1e-13)
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
    jacobians = []
    for reach in (0.0, 0.3, 0.3, 1.5, 1.5, 1.5, 1.5):
        state = sample_state(mechanics, rng, p, reach, tries=4, roughly=True)
        if state is None:
            continue
        jacobian = jacobian_at(mechanics, 0.0, *state, p)
        if np.all(np.isfinite(jacobian)):
            jacobians.append(jacobian)
    if not jacobians:
        q, v, z = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(0.5, 1.5, len(mechanics.model.states))
        jacobians = [jacobian_at(mechanics, 0.0, q, v, z, p)]
    splits = [Split.at(jacobian) for jacobian in jacobians]
    rank = max(len(split.rows) for split in splits)
    regular = [(j, split) for j, split in zip(jacobians, splits, strict=True) if len(split.rows) == rank]
    choices = list(dict.fromkeys(split.rows for _, split in regular))
    if math.comb(len(mechanics.row_names), rank) <= EXHAUSTIVE:
        choices = list(itertools.combinations(range(len(mechanics.row_names)), rank))
    rows = choices[0]
    if len(choices) > 1:
        scaled = [unit_rows(j) for j, _ in regular]
        rows = max(choices, key=lambda kept: min(smallest(j[list(kept)]) for j in scaled))
    candidates = [split if split.rows == rows else Split.at(j, rows=rows) for j, split in regular]
    if math.comb(n, rank) <= EXHAUSTIVE:
        candidates += [Split(rows, columns) for columns in itertools.combinations(range(n), rank)]
    candidates = list(dict.fromkeys(candidates))
    worst = np.max([growths(candidates, j) for j, _ in regular], axis=0)
    return candidates[int(np.argmin(worst))]
