"""The search for equilibria: damped Newton steps from many places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from appell.analysis.steady import Steady
from appell.analysis.units import Units
from appell.code.machine import Machine
from appell.kinematics.consistency import jacobian_at, project_positions

ENOUGH = 1e-10  # residual against the size of the terms at which an equation is met
NOTHING = 1e-15  # unknowns below this are zero but for rounding
NEARER = 0.5  # share of a step that may be left to go behind it, by the same slopes, if residuals grow
FAINT = 1e-6  # terms smaller than this part of their usual size have all but vanished, as at the bottom of x^4
DESCENT, POLISH = 80, 100  # steps of a search, at most: damped ones, then Newton's
CORRECTIONS = 12  # steps from a place right beside a root


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


@dataclass(frozen=True, eq=False)
class Root:
    """Where a search ended: y = (q, v, z, w, lambda) in natural units, what is left, each equation and at most.

    `flat` counts the directions in which nothing changes to first order, `freedom` those that lead along a family.
    """

    y: np.ndarray
    misses: np.ndarray
    left: float
    flat: int = 0
    freedom: int = 0

    @property
    def ok(self) -> bool:
        """Whether everything vanishes."""
        return self.left <= ENOUGH


class Problem:
    """Find y = (q, v, z, w, lambda) with some entries given; unknowns and equations are in their natural units.

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
        self.idle = sum(
            1
            for q in model.coordinates
            if q.label in idle and q.rate.label not in wishes.free and not wishes.fixed.get(q.rate.label)
        )
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
        self.units = Units.of(steady, p, self.begin)
        self.given, self.begin = self.begin, self.begin / self.units.unknowns
        for i in range(n, 2 * n):
            if self.labels[i] in wishes.free:
                self.given[i] = wishes.begin.get(self.labels[i], self.units.unknowns[i])
                self.begin[i] = self.given[i] / self.units.unknowns[i]

    def parts(self, y: np.ndarray) -> list[np.ndarray]:
        """q, v, z, w, lambda of y in the units of the model, what was given to the last digit."""
        values = np.where(y == self.begin, self.given, y * self.units.unknowns)
        return np.split(values, np.cumsum(self.sizes)[:-1])

    def jacobian(self, y: np.ndarray) -> np.ndarray:
        """The rows of the constraints at y."""
        q, v, z, _, _ = self.parts(y)
        return jacobian_at(self.steady.mechanics, 0.0, q, v, z, self.p)

    def whole(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is left of all equations, and its derivative by everything."""
        value, slope = self.machine(y * self.units.unknowns, self.p)
        equations = self.units.equations[:, None]
        return value / equations, slope * self.units.unknowns / equations

    def evaluate(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is left, and its derivative by the unknowns."""
        value, slope = self.whole(y)
        return value[self.rows, 0], slope[np.ix_(self.rows, self.unknown)]

    def place(self, rng: np.random.Generator | None) -> np.ndarray:
        """A place to begin at: the guess, or a random one, assembled as far as the wishes allow."""
        y, n = self.begin.copy(), self.sizes[0]
        free = self.unknown[self.unknown < n]
        if rng is not None:
            reach = np.maximum(np.abs(self.begin[:n]), 0.5 * np.max(np.abs(self.begin[:n]), initial=0.6))
            wide = rng.random() < 0.5  # every other time far from the guess and on any side of zero
            centre = self.begin[:n] * (rng.choice([-1.0, 1.0], n) if wide else 1.0)
            lengths = centre + (3.0 if wide else 1.0) * reach * rng.normal(size=n)
            drawn = np.where(self.angles, rng.uniform(-np.pi, np.pi, n), lengths)
            y[free] = drawn[free]
            rates = self.unknown[(self.unknown >= n) & (self.unknown < 2 * n)]
            y[rates] *= rng.choice([-1.0, 1.0]) * np.exp(rng.normal(0, 1.5, rates.size))
            others = self.unknown[(self.unknown >= 2 * n) & (self.unknown < sum(self.sizes[:4]))]
            y[others] += rng.normal(size=others.size)  # what enters by its square cannot be told at zero
        if free.size:
            y[:n] = self.assembled(y, free, steps=30)[0]
        # Inputs and multipliers enter linearly as a rule: begin with those that fit best.
        rest = self.unknown >= n
        if rest.any():
            value, slope = self.evaluate(y)
            if np.all(np.isfinite(value)) and np.all(np.isfinite(slope)):
                y[self.unknown[rest]] += np.linalg.lstsq(slope[:, rest], -value, rcond=1e-10)[0]
        return y

    def assembled(self, y: np.ndarray, free: np.ndarray, steps: int = 60) -> tuple[np.ndarray, float]:
        """The positions nearest to those of y that are on the rows, and the share of a row that is left."""
        units = self.units.unknowns[: self.sizes[0]]
        q, left = project_positions(
            self.steady.mechanics, 0.0, self.parts(y)[0], self.p, free, steps=steps, units=units
        )
        return q / units, left

    def solve(self, y: np.ndarray) -> Root:
        """Levenberg and Marquardt's steps in scaled unknowns, then Newton's."""
        y = y.copy()
        value, slope = self.evaluate(y)
        if not (np.all(np.isfinite(value)) and np.all(np.isfinite(slope))):
            return Root(y, np.full(len(self.steady.names), np.inf), np.inf)
        if self.unknown.size == 0 or self.rows.size == 0:
            return self._root(y)
        return self._polished(*self._descended(y, value, slope))

    def _descended(
        self, y: np.ndarray, value: np.ndarray, slope: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Levenberg and Marquardt's steps: where they end, with what is left, its derivative, sizes of the unknowns."""
        damping = 1e-3
        weights = 1 / np.maximum(np.linalg.norm(slope, axis=1), 1e-12 + 1e-9 * np.max(np.abs(slope), initial=0.0))
        scale = self._scale(slope)
        costs: list[float] = []
        for _ in range(DESCENT):
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
                if self._small(step, y):
                    break
            else:
                damping *= 6
                if damping > 1e8:
                    break
        return y, value, slope, scale

    def _polished(self, y: np.ndarray, value: np.ndarray, slope: np.ndarray, scale: np.ndarray) -> Root:
        """Newton's steps for the last digits: three, and where a root is multiple as many as it takes."""
        settled, before, places = False, np.inf, self.unknown < self.sizes[0]
        for k in range(POLISH):
            step = scale * np.linalg.lstsq(slope * scale, -value, rcond=1e-11)[0]
            length = float(np.linalg.norm(step / scale))
            if np.any(np.abs(step[places]) > 1 + np.abs(y[self.unknown[places]])) or (
                k >= 3 and length > 0.95 * before
            ):
                break  # not near a root
            trial = y.copy()
            trial[self.unknown] += step
            new_value, new_slope = self.evaluate(trial)
            if not np.all(np.isfinite(new_value)):
                break
            if np.max(np.abs(new_value)) > np.max(np.abs(value)):
                # What an input makes up for at the next step is no reason to stop, as beside a multiple root.
                further = np.linalg.lstsq(slope * scale, -new_value, rcond=1e-11)[0]
                if not (np.all(np.isfinite(new_slope)) and np.linalg.norm(further) < NEARER * length):
                    break
            y, value, slope, before = trial, new_value, new_slope, length
            settled = self._small(step, y)
            if k >= 2 and settled:
                break
        return self._root(y, settled)

    def _small(self, step: np.ndarray, y: np.ndarray) -> bool:
        return bool(np.max(np.abs(step) / (1 + np.abs(y[self.unknown])), initial=0.0) < 1e-10)

    def corrected(self, y: np.ndarray) -> Root:
        """The root near y by the smallest of Newton's steps, so that a member of a family stays where it is."""
        for _ in range(CORRECTIONS):
            value, slope, sizes = self._looked(y, FAINT)
            matrix = slope * self.scale / sizes[:, None]
            if not (np.all(np.isfinite(value)) and np.all(np.isfinite(matrix))):
                return Root(y, np.full(len(self.steady.names), np.inf), np.inf)
            step = np.linalg.lstsq(matrix, -value / sizes, rcond=1e-11)[0]
            y = y.copy()
            y[self.unknown] += self.scale * step
            if np.max(np.abs(step), initial=0.0) < 1e-8:
                break
        return self._root(y)

    def scaled(self, y: np.ndarray) -> np.ndarray:
        """The derivative of the equations by the unknowns, both against their usual sizes."""
        _, slope, sizes = self._looked(y, 1.0)
        return slope * self.scale / sizes[:, None]

    @cached_property
    def _usual(self) -> tuple[np.ndarray, np.ndarray]:
        """Sizes of the equations and of the unknowns, the middle ones of a few places."""
        rng, rows, scales = np.random.default_rng(1), [], []
        for k in range(5):
            y = self.place(None if k == 0 else rng)
            whole = self.whole(y)[1]
            if np.all(np.isfinite(whole)):
                rows.append(self._terms(whole, y))
                scales.append(self._scale(whole[np.ix_(self.rows, self.unknown)]))
        if not rows:
            return np.zeros(self.rows.size), np.ones(self.unknown.size)
        return np.median(rows, axis=0), np.median(scales, axis=0)

    @property
    def scale(self) -> np.ndarray:
        """Sizes of the unknowns."""
        return self._usual[1]

    def _terms(self, whole: np.ndarray, y: np.ndarray) -> np.ndarray:
        """How large the terms of the equations are at y, from their derivative by everything."""
        return np.linalg.norm(whole[self.rows] * np.maximum(np.abs(y), 0.1), axis=1)

    def _looked(self, y: np.ndarray, part: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is left, its derivative by the unknowns, and sizes of the equations, at least a part of the usual."""
        value, whole = self.whole(y)
        usual = self._usual[0]
        least = 1e-12 * min(1.0, float(np.max(usual, initial=0.0)) or 1.0)
        sizes = np.maximum(np.maximum(self._terms(whole, y), part * usual), least)
        return value[self.rows, 0], whole[np.ix_(self.rows, self.unknown)], sizes

    def _scale(self, slope: np.ndarray) -> np.ndarray:
        """Sizes of the unknowns: one for positions, for the others what gives forces of the same size."""
        scale = np.ones(self.unknown.size)
        norms = np.linalg.norm(slope, axis=0)
        places = self.unknown < self.sizes[0]
        typical = np.median(norms[places][norms[places] > 0]) if np.any(norms[places] > 0) else 1.0
        return np.where(places | (norms == 0), scale, np.maximum(typical, 1e-3) / np.where(norms == 0, 1.0, norms))

    def _root(self, y: np.ndarray, settled: bool = False) -> Root:
        """Where a search ended; where its steps have come to rest, vanishing terms are no reason to go on."""
        y, n = y.copy(), self.sizes[0]
        y[self.unknown] = np.where(np.abs(y[self.unknown]) > NOTHING, y[self.unknown], 0.0)
        turns = self.angles & np.isin(np.arange(n), self.unknown)
        y[:n][turns] -= 2 * np.pi * np.round((y[:n] - np.clip(self.begin[:n], -np.pi, np.pi)) / (2 * np.pi))[turns]
        misses = np.zeros(len(self.steady.names))
        value, _, sizes = self._looked(y, 0.0)
        misses[self.rows] = np.abs(value) / sizes
        if settled and np.max(misses, initial=0.0) > ENOUGH:
            misses[self.rows] = np.abs(value) / np.maximum(sizes, FAINT * self._usual[0])
        left = float(np.max(misses, initial=0.0)) if np.all(np.isfinite(value)) else np.inf
        return Root(y, misses, left)

    def apart(self, root: Root) -> bool:
        """Whether the position rows are not met."""
        n = self.sizes[0]
        return float(np.max(root.misses[n : n + len(self.steady.mechanics.position_rows)], initial=0.0)) > 1e-6

    def distance(self, root: Root) -> tuple[float, float, float]:
        """How far a root is from where the search began, in positions; then, of equally near ones, in extra states.

        Of two that are as near, such as currents of either sign in a magnet, the one with more of them comes first.
        """
        n, k = self.sizes[0], self.sizes[2]
        gap = root.y[:n] - self.begin[:n]
        places = np.where(self.angles, np.abs((gap + np.pi) % (2 * np.pi) - np.pi), gap)
        states, first = root.y[2 * n : 2 * n + k], self.begin[2 * n : 2 * n + k]
        return _rounded(np.linalg.norm(places)), _rounded(np.linalg.norm(states - first)), -float(np.sum(states))


def _rounded(distance: np.floating) -> float:
    """A distance without what rounding adds to it."""
    return round(float(distance), 9)
