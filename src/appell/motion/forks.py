r"""Forks: poses in which position rows depend on each other, so that a mechanism could go on in more ways than one.

How far rows are from that is the smallest singular value of J, with coordinates in their natural units and each row in
units of its largest size. Along a motion through a fork at $t^*$ it goes like $|t - t^*|$, however many loops lie in
line there. Which way the motion leaves is chosen by rounding, or by whatever an integrator makes of it, so a run ends.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.fitting import spare_sizes
from appell.equations import Equations
from appell.kinematics.consistency import row_units
from appell.model.model import Model
from appell.motion.gradients import squared_volume
from appell.motion.ledger import along
from appell.motion.leg import Leg
from appell.motion.outcome import Outcome

FORKED = 1e-6  # share of the largest distance at which rows are dependent
BEFORE = 1e-5  # the same up to which a leg is followed
STEEP = 2.0  # the distance may change so many times faster within a step than it does from step to step
LOOKS, ROUNDS = 16, 10  # parts of a step in which the smallest distance is looked for, again and again


def _kept(equations: Equations) -> list[int]:
    """Which of the position rows are in use."""
    return [k for k, row in enumerate(equations.mechanics.position_rows) if row in equations.split.rows]


def volume(equations: Equations) -> ca.Function | None:
    """(t, x, w, p) -> det J J' of the position rows, and its rate; None where there are none."""
    mechanics, rows = equations.mechanics, _kept(equations)
    if not rows:
        return None
    return squared_volume(equations, equations.in_state(ca.jacobian(mechanics.c, mechanics.variables.q)[rows, :]))


def forked(model: Model) -> str:
    """What it means that rows have become dependent."""
    edge = "the edge of what the programme can be followed to, or " if model.programmed else ""
    ways = "a pose from which the mechanism could go on in more ways than one"
    return f"{edge}{ways}; one more row can say which, such as that two cranks stay parallel"


class Forks:
    """Looks for forks along legs.

    Args:
        code: The equations as functions.
        p: Values of the parameters.
    """

    outcome = Outcome.ROWS_SINGULAR

    def __init__(self, code: Code, p: np.ndarray) -> None:
        mechanics = code.equations.mechanics
        self.words = forked(mechanics.model)
        self.p, self._n, self._function = p, len(mechanics.model.coordinates), mechanics.functions["position"]
        self._rows = _kept(code.equations)
        units = row_units(mechanics, p)[0] if self._rows else np.ones(self._n)
        self._units = np.where(np.isfinite(units), units, 1.0)
        self._sizes = np.zeros(len(self._rows))  # the largest of every row
        self._largest = 0.0  # distance

    @staticmethod
    def of(code: Code, p: np.ndarray) -> Forks | None:
        """What looks for forks of a set of equations; None where no rows can become dependent for good."""
        forks = Forks(code, p)
        return forks if forks._rows and spare_sizes(code) is None else None

    def take_over(self, other: Forks) -> None:
        """Go on with what was seen in another choice of speeds."""
        if other._rows == self._rows:
            self._sizes, self._largest = other._sizes, other._largest

    def follow(self, leg: Leg) -> tuple[Leg, bool]:
        """A leg up to its first fork, and whether there is one."""
        if leg.times.size < 2:
            return leg, False
        distances = self._distances(leg, leg.times)
        arrived = distances[1:] <= FORKED * self._largest
        for i in np.flatnonzero(arrived | _may_vanish(leg.times, distances)).tolist():
            t, smallest = self._smallest(leg, leg.times[i], leg.times[i + 1], distances[i] + distances[i + 1])
            if smallest > FORKED * self._largest:
                continue
            near = BEFORE * self._largest
            while i and distances[i] <= near:  # of many small steps towards it
                i -= 1
            t = min(t, leg.times[i + 1])
            last = t - (t - leg.times[i]) * min(0.5, near / max(distances[i], near))
            return leg.cut(last), True
        return leg, False

    def _smallest(self, leg: Leg, left: float, right: float, fall: float) -> tuple[float, float]:
        """When the distance is smallest within a step, and how small it is; roughly where it does not go to zero.

        Args:
            leg: The leg.
            left: Where the step begins.
            right: Where it ends.
            fall: By how much the distance would fall and rise again on its way to zero.
        """
        best = left, np.inf
        for _ in range(ROUNDS):
            places = np.linspace(left, right, LOOKS + 1)
            distances = self._distances(leg, places)
            k = int(np.argmin(distances))
            best = min(best, (float(places[k]), float(distances[k])), key=lambda e: e[1])
            if best[1] > fall * STEEP / LOOKS:
                break
            fall *= STEEP / LOOKS
            left, right = places[max(k - 1, 0)], places[min(k + 1, LOOKS)]
        return best

    def _distances(self, leg: Leg, times: np.ndarray) -> np.ndarray:
        """How far rows are from a fork at some times of a leg; infinite where it is no number."""
        slopes = along(self._function, times, leg.dense(times)[: self._n], self.p)[1]
        J = slopes.reshape(slopes.shape[0], times.size, self._n)[self._rows].transpose(1, 0, 2) * self._units
        norms = np.sqrt((J * J).sum(axis=2))
        self._sizes = np.fmax(self._sizes, np.where(np.isfinite(norms), norms, 0.0).max(axis=0))
        J = J / np.maximum(self._sizes, 1e-300)[:, None]
        found = np.full(times.size, np.inf)
        finite = np.isfinite(J).all(axis=(1, 2))
        found[finite] = np.linalg.svd(J[finite], compute_uv=False)[:, -1]
        self._largest = max(self._largest, float(found[finite].max(initial=0.0)))
        return found


def _may_vanish(times: np.ndarray, distances: np.ndarray) -> np.ndarray:
    """In which steps the distance may fall to zero and rise again, from how it changes there and beside them."""
    steps = np.diff(times)
    with np.errstate(invalid="ignore", divide="ignore"):
        slopes = np.abs(np.diff(distances)) / steps
    beside = np.concatenate([[np.inf], slopes, [np.inf]])  # of the first and the last step nothing is known
    steepest = np.max([beside[:-2], beside[1:-1], beside[2:]], axis=0)
    with np.errstate(invalid="ignore"):
        return ~(STEEP * steepest * steps < distances[:-1] + distances[1:])
