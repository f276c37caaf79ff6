"""The search for equilibria: damped Newton steps from many places, and why there is none where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from appell.analysis.steady import Steady
from appell.code.machine import Machine
from appell.kinematics.consistency import jacobian_at, project_positions

ENOUGH = 1e-10  # residual against the size of the terms at which an equation is met


@dataclass(frozen=True)
class Wishes:
    """What is wanted of an equilibrium.

    Attributes:
        fixed: Values that are wanted, by name.
        free: Inputs and rates that may be adjusted.
        begin: Where to begin.
        values: Values of inputs that are bound.
    """

    fixed: Mapping[str, float]
    free: tuple[str, ...]
    begin: Mapping[str, float]
    values: Mapping[str, float]

    @property
    def opened(self) -> tuple[str, ...]:
        """Inputs that get a value here."""
        return (*self.values, *(n for n in (*self.free, *self.fixed) if n not in self.values))


@dataclass(frozen=True)
class Root:
    """Where a search ended: y = (q, v, z, w, lambda), what is left, equation by equation and at most."""

    y: np.ndarray
    misses: np.ndarray
    left: float
    freedom: int

    @property
    def ok(self) -> bool:
        """Whether everything vanishes."""
        return self.left <= ENOUGH


class Problem:
    """Find y = (q, v, z, w, lambda) with some entries given.

    Args:
        steady: The equations.
        p: Values of the parameters.
        wishes: What is given.
        dropped: Equations that need not be met.
    """

    def __init__(self, steady: Steady, p: np.ndarray, wishes: Wishes, dropped: tuple[int, ...] = ()) -> None:
        self.steady, self.p, self.wishes = steady, p, wishes
        self.machine = Machine(steady.residual, simd=False)
        model = steady.mechanics.model
        self.labels = (
            *(s.label for s in model.coordinates),
            *(s.rate.label for s in model.coordinates),
            *(s.label for s in model.states),
            *(s.label for s in model.inputs),
            *(f"multiplier of {name}" for name in steady.mechanics.row_names),
        )
        n, k = len(model.coordinates), len(model.states)
        self.sizes = (n, n, k, len(model.inputs), len(steady.mechanics.row_names))
        cyclic = steady.cyclic(p)
        idle = {model.coordinates[i].label for i in cyclic} - set(wishes.fixed)  # may be anything: kept as guessed
        self.unknown = np.array(
            [
                i
                for i, name in enumerate(self.labels)
                if name not in wishes.fixed
                and (name in wishes.free or not (n <= i < 2 * n or name in (*wishes.values, *idle)))
                and not (2 * n + k <= i < 2 * n + k + self.sizes[3] and name not in wishes.free)
            ],
            dtype=int,
        )
        self.rows = np.array([i for i in range(len(steady.names)) if i not in dropped], dtype=int)
        self.angles = steady.periodic(p)
        self.begin = np.array(
            [wishes.fixed.get(s, wishes.values.get(s, wishes.begin.get(s, 0.0))) for s in self.labels]
        )
        self.begin[n : 2 * n] = [wishes.fixed.get(s, 0.0) for s in self.labels[n : 2 * n]]
        for i in range(n, 2 * n):
            if self.labels[i] in wishes.free:
                self.begin[i] = wishes.begin.get(self.labels[i], 1.0)

    def parts(self, y: np.ndarray) -> list[np.ndarray]:
        """q, v, z, w, lambda of y."""
        return np.split(y, np.cumsum(self.sizes)[:-1])

    def jacobian(self, y: np.ndarray) -> np.ndarray:
        """The rows of the constraints at y."""
        q, v, z, _, _ = self.parts(y)
        return jacobian_at(self.steady.mechanics, 0.0, q, v, z, self.p)

    def evaluate(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is left, and its derivative by the unknowns."""
        value, slope = self.machine(y, self.p)
        return value[self.rows, 0], slope[np.ix_(self.rows, self.unknown)]

    def place(self, rng: np.random.Generator | None) -> np.ndarray:
        """A place to begin at: the guess, or a random one, assembled as far as the wishes allow."""
        y, n = self.begin.copy(), self.sizes[0]
        free = self.unknown[self.unknown < n]
        if rng is not None:
            reach = np.maximum(np.abs(self.begin[:n]), 0.5 * np.max(np.abs(self.begin[:n]), initial=0.6))
            drawn = np.where(self.angles, rng.uniform(-np.pi, np.pi, n), self.begin[:n] + reach * rng.normal(size=n))
            y[free] = drawn[free]
            rates = self.unknown[(self.unknown >= n) & (self.unknown < 2 * n)]
            y[rates] *= rng.choice([-1.0, 1.0]) * np.exp(rng.normal(0, 1.5, rates.size))
        if free.size:
            y[:n] = project_positions(self.steady.mechanics, 0.0, y[:n], self.p, free, steps=30)[0]
        # Inputs and multipliers enter linearly as a rule: begin with those that fit best.
        rest = self.unknown >= n
        if rest.any():
            value, slope = self.evaluate(y)
            if np.all(np.isfinite(value)) and np.all(np.isfinite(slope)):
                y[self.unknown[rest]] += np.linalg.lstsq(slope[:, rest], -value, rcond=1e-10)[0]
        return y

    def solve(self, y: np.ndarray, steps: int = 80) -> Root:
        """Levenberg and Marquardt's steps in scaled unknowns, then Newton's."""
        y, damping = y.copy(), 1e-3
        value, slope = self.evaluate(y)
        if not (np.all(np.isfinite(value)) and np.all(np.isfinite(slope))):
            return Root(y, np.full(value.size, np.inf), np.inf, 0)
        weights = 1 / np.maximum(np.linalg.norm(slope, axis=1), 1e-12 + 1e-9 * np.max(np.abs(slope), initial=0.0))
        scale = self._scale(slope)
        if self.unknown.size == 0:
            return self._root(y, value, slope)
        costs: list[float] = []
        for _ in range(steps):
            costs.append(float(np.sum((weights * value) ** 2)))
            if len(costs) > 15 and costs[-1] > 0.9 * costs[-15]:
                break  # no root on this way
            left, matrix = weights * value, weights[:, None] * slope * scale
            padded = np.vstack([matrix, np.sqrt(damping) * np.eye(scale.size)])
            step = scale * np.linalg.lstsq(padded, np.concatenate([-left, np.zeros(scale.size)]), rcond=None)[0]
            trial = y.copy()
            trial[self.unknown] += step
            new_value, new_slope = self.evaluate(trial)
            finite = np.all(np.isfinite(new_value)) and np.all(np.isfinite(new_slope))
            if finite and np.sum((weights * new_value) ** 2) <= np.sum(left**2):
                y, value, slope, damping = trial, new_value, new_slope, max(damping / 8, 1e-16)
                if np.max(np.abs(step) / (1 + np.abs(y[self.unknown])), initial=0.0) < 1e-10:
                    break
            else:
                damping *= 6
                if damping > 1e8:
                    break
        for _ in range(3):  # the last digits
            step = scale * np.linalg.lstsq(slope * scale, -value, rcond=1e-11)[0]
            trial = y.copy()
            trial[self.unknown] += step
            new_value, new_slope = self.evaluate(trial)
            if not np.all(np.isfinite(new_value)) or np.max(np.abs(new_value)) > np.max(np.abs(value)):
                break
            y, value, slope = trial, new_value, new_slope
        return self._root(y, value, slope)

    def _scale(self, slope: np.ndarray) -> np.ndarray:
        """Sizes of the unknowns: one for positions, for the others what gives forces of the same size."""
        scale = np.ones(self.unknown.size)
        norms = np.linalg.norm(slope, axis=0)
        places = self.unknown < self.sizes[0]
        typical = np.median(norms[places][norms[places] > 0]) if np.any(norms[places] > 0) else 1.0
        return np.where(places | (norms == 0), scale, np.maximum(typical, 1e-3) / np.where(norms == 0, 1.0, norms))

    def _root(self, y: np.ndarray, value: np.ndarray, slope: np.ndarray) -> Root:
        whole = self.machine(y, self.p)[1][self.rows]
        size = np.linalg.norm(whole * np.maximum(np.abs(y), 0.1), axis=1)
        misses = np.zeros(len(self.steady.names))
        misses[self.rows] = np.abs(value) / np.maximum(size, 1e-12)
        left = float(np.max(misses, initial=0.0)) if np.all(np.isfinite(value)) else np.inf
        hidden = slope[:, self.unknown < sum(self.sizes[:4])]  # multipliers of redundant rows are no freedom
        multipliers = slope[:, self.unknown >= sum(self.sizes[:4])]
        rank = _rank(slope) - _rank(multipliers)
        y = y.copy()
        n = self.sizes[0]
        turns = self.angles & np.isin(np.arange(n), self.unknown)
        y[:n][turns] -= 2 * np.pi * np.round((y[:n] - np.clip(self.begin[:n], -np.pi, np.pi)) / (2 * np.pi))[turns]
        return Root(y, misses, left, hidden.shape[1] - rank)

    def apart(self, root: Root) -> bool:
        """Whether the position rows are not met."""
        n = self.sizes[0]
        return float(np.max(root.misses[n : n + len(self.steady.mechanics.position_rows)], initial=0.0)) > 1e-6

    def distance(self, root: Root) -> float:
        """How far a root is from where the search began."""
        gap = root.y[: self.sizes[0]] - self.begin[: self.sizes[0]]
        return float(np.linalg.norm(np.where(self.angles, np.abs((gap + np.pi) % (2 * np.pi) - np.pi), gap)))

    def same(self, one: Root, other: Root, rtol: float) -> bool:
        """Whether two roots are one."""
        n = self.sizes[0]
        gap = one.y - other.y
        gap[:n] = np.where(self.angles, (gap[:n] + np.pi) % (2 * np.pi) - np.pi, gap[:n])
        head = sum(self.sizes[:4])
        near = bool(np.all(np.abs(gap[:head]) <= rtol * (1 + np.abs(one.y[:head]))))
        return near or (one.freedom > 0 and other.freedom > 0 and self._connected(one, other))

    def _connected(self, one: Root, other: Root) -> bool:
        """Members of a family count once."""
        return True


def _rank(matrix: np.ndarray) -> int:
    if not matrix.size:
        return 0
    norms = np.linalg.norm(matrix, axis=0)
    values = np.linalg.svd(matrix / np.where(norms > 0, norms, 1.0), compute_uv=False)
    return int(np.sum(values > 1e-9 * max(values[0], 1e-300)))


def explain(problem: Problem, nearest: list[Root], rng: np.random.Generator) -> str:
    """Why a wish cannot be met: which equation stands against it, and what could be had instead."""
    steady, wishes = problem.steady, problem.wishes
    model = steady.mechanics.model
    best = min(nearest, key=lambda root: root.left)
    said = [f"{name} = {value:g}" for name, value in wishes.fixed.items()]
    where = f"with {', '.join(said)}" if said else "with these inputs"
    places = [s.label for s in model.coordinates]
    n = len(places)
    held = np.flatnonzero([s in wishes.fixed for s in places])
    free = np.flatnonzero([s not in wishes.fixed for s in places])
    rows = steady.mechanics.position_rows
    lines: list[str] = []
    if rows and held.size:
        q, left = min(
            (
                project_positions(steady.mechanics, 0.0, problem.place(None if k == 0 else rng)[:n], problem.p, free)
                for k in range(20)
            ),
            key=lambda found: found[1],
        )
        if left > 1e-9:
            residual = np.array(steady.mechanics.functions["position"](0.0, q, problem.p)[0]).ravel()
            worst = steady.mechanics.row_names[rows[int(np.argmax(np.abs(residual)))]]
            lines.append(
                f"The wanted pose of {model.name!r} cannot be reached: {where} the constraint {worst!r} cannot be met "
                f"(nearest miss {left:.3g})."
            )
    if not lines:
        guilty = [i for i in range(len(steady.names)) if _solvable(problem, wishes, rng, (i,)) is not None]
        names = [steady.names[i] for i in guilty]
        if not names:
            names = [steady.names[int(np.argmax(best.misses))]]
        if len(names) <= 2:
            said = f"{' and '.join(names)} cannot be met{' both at once' * (len(names) > 1)}"
        else:
            count = int(np.sum(problem.unknown < sum(problem.sizes[:4]))) + steady.independent
            said = f"{len(steady.names)} equations ({', '.join(names)}) stand against {count} unknowns"
        lines.append(f"{model.name!r} has no equilibrium {where}: {said}.")
        if not wishes.free:
            lines.append("No input may be adjusted; give inputs=[...].")
    for label in wishes.fixed:
        fewer = {name: value for name, value in wishes.fixed.items() if name != label}
        freed = wishes.free
        if label in (s.rate.label for s in model.coordinates) or label in (s.label for s in model.inputs):
            freed = (*wishes.free, label)
        begin = {**wishes.begin, **wishes.fixed}
        found = _solvable(problem, replace(wishes, fixed=fewer, begin=begin, free=freed), rng)
        if found is not None:
            value = found.y[problem.labels.index(label)]
            lines.append(f"With {label} left free there is one, at {label} = {value:.9g}.")
    return " ".join(lines)


def _solvable(problem: Problem, wishes: Wishes, rng: np.random.Generator, dropped: tuple[int, ...] = ()) -> Root | None:
    """A solution of the problem with fewer wishes or fewer equations, the nearest of a few."""
    other = Problem(problem.steady, problem.p, wishes, dropped)
    roots = [other.solve(other.place(None if k == 0 else rng)) for k in range(8)]
    good = [root for root in roots if root.ok]
    return min(good, key=other.distance) if good else None
