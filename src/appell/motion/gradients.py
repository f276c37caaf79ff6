"""Rows nonlinear in the velocities may lose their direction: velocities at which the motion has no one way to go on.

The gradients de/dv of such rows change with the velocities. Where one vanishes (x'^2 + y'^2 = c^2 z'^2 at rest), two
become parallel, or one has no limit (a root of velocities that vanish), constraint and reaction are not defined, and
whatever an integrator makes of it depends on its steps. A run ends there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import reduce
from math import inf, isfinite
from operator import mul

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.equations import Equations
from appell.graph.solve import determinant
from appell.motion.flow import Inputs
from appell.motion.leg import Leg
from appell.motion.outcome import Outcome
from appell.once import once

LOW = 1e-6  # share of their largest size at which gradients have vanished, if they are about to
SOON = 1e-4  # share of the run within which they would
SHARP = 1e9  # radians for the length of a run, the speed at which gradients without a limit turn
OFTEN, WHILE = 10, 1e-6  # so many such turns within this share of the run: no corner that is passed once
LOOKS = 16  # parts of a step in which gradients that may vanish are looked at
CLOSER = 60  # steps towards the smallest


def _turning(equations: Equations) -> bool:
    """Whether the gradients of the rows depend on the velocities; of rows on accelerations `Branch` knows more."""
    mechanics = equations.mechanics
    if mechanics.linear or mechanics.curved:
        return False
    return bool(ca.depends_on(ca.vec(mechanics.J), mechanics.variables.v))


def _gradients(equations: Equations) -> ca.SX:
    return equations.in_state(equations.mechanics.J[list(equations.split.rows), :])


@once
def _machine(code: Code) -> Machine:
    """(t, x, w, p) -> the gradients and their rates."""
    equations = code.equations
    t, x, *_ = equations.arguments
    J = _gradients(equations)
    rate = ca.jtimes(ca.vec(J), ca.vertcat(x, t), ca.vertcat(equations.xdot, 1))
    results = [ca.densify(J), ca.densify(ca.reshape(rate, *J.shape))]
    return Machine(ca.Function("gradients", equations.arguments, results, {"cse": True}), simd=False)


def volume(equations: Equations) -> ca.Function | None:
    """(t, x, w, p) -> det J J' of the gradients, and its rate; None where they do not depend on the velocities."""
    return squared_volume(equations, _gradients(equations)) if _turning(equations) else None


def squared_volume(equations: Equations, J: ca.SX) -> ca.Function:
    """(t, x, w, p) -> det J J' of the slopes of rows, and its rate along a motion."""
    t, x, *_ = equations.arguments
    size = determinant(J @ J.T)
    if size is None:
        size = reduce(mul, ca.vertsplit(ca.ldl(J @ J.T)[0]))
    rate = ca.jtimes(size, ca.vertcat(x, t), ca.vertcat(equations.xdot, 1))
    return ca.Function("volume", equations.arguments, [ca.densify(size), ca.densify(rate)], {"cse": True})


def may_vanish(before: Sequence[ca.SX], after: Sequence[ca.SX], length: ca.SX, span: ca.SX) -> ca.SX:
    """Whether gradients, or slopes, may vanish within a step, or are about to.

    Args:
        before: Their `squared_volume` and its rate where the step begins.
        after: The same where it ends.
        length: Of the step.
        span: Of the run.
    """
    (size, rate), (later, rising) = before, after
    within = ca.logic_and(2 * size + rate * length <= 0, 2 * later - rising * length <= 0)
    return ca.logic_or(within, 2 * later <= SOON * span * ca.fabs(rising))


class Gradients:
    """The gradients de/dv of the rows of a motion, where they depend on the velocities.

    Args:
        code: The equations as functions.
        inputs: The open inputs at a time and state.
        p: Values of the parameters.
        began: When the run began.
        rtol: The relative tolerance of the run, if one was given.
    """

    outcome = Outcome.ROWS_SINGULAR

    def __init__(self, code: Code, inputs: Inputs, p: np.ndarray, began: float, rtol: float | None) -> None:
        equations = code.equations
        self.inputs, self.p, self.began = inputs, p, began
        self.low = max(LOW, 10 * (rtol or 0.0))
        self.rows = [equations.mechanics.row_names[i] for i in equations.split.rows]
        self._machine = _machine(code)
        self._sizes = np.zeros(len(self.rows))  # the largest of every row
        self._largest = 0.0  # of what `_smallest` gives
        self._last: tuple[float, np.ndarray] | None = None  # the gradients of length one, and when
        self._seen: dict[float, tuple[float, float]] = {}  # of what `_smallest` gave since the leg began
        self._turns: deque[float] = deque(maxlen=OFTEN)  # when they turned so

    @staticmethod
    def of(code: Code, inputs: Inputs, p: np.ndarray, began: float, rtol: float | None) -> Gradients | None:
        """The gradients of a set of equations; None where they do not depend on the velocities."""
        return Gradients(code, inputs, p, began, rtol) if _turning(code.equations) else None

    def take_over(self, other: Gradients) -> None:
        """Go on with what was seen in another choice of speeds."""
        if other.rows == self.rows:
            self._sizes, self._largest = np.maximum(self._sizes, other._sizes), max(self._largest, other._largest)

    def lost(self, t: float, x: np.ndarray) -> bool:
        """Whether the gradients are as good as lost at a state of the motion, the next one after the last asked for."""
        J, rate = self._machine(t, x, self.inputs(t, x), self.p)
        size, slope = self._seen[t] = self._smallest(J, rate)
        elapsed = t - self.began
        if size <= self.low * self._largest and size <= SOON * elapsed * abs(slope):
            return True
        before, self._last = self._last, (t, J / np.sqrt((J * J).sum(axis=1, keepdims=True) + 1e-300))
        if before is not None:
            turn = float(np.abs(self._last[1] - before[1]).max())
            if turn * elapsed > SHARP * (t - before[0]):
                self._turns.append(t)
        return len(self._turns) == OFTEN and t - self._turns[0] <= WHILE * elapsed

    def follow(self, leg: Leg) -> tuple[Leg, bool]:
        """A leg as far as its gradients keep their direction, and whether it had to be cut short."""
        seen, self._seen = self._seen, {}
        sizes, slopes = np.array([seen.get(t) or self._at(leg, t) for t in leg.times.tolist()]).T
        steps = np.diff(leg.times)
        doubtful = (sizes[:-1] + slopes[:-1] * steps <= 0) & (sizes[1:] - slopes[1:] * steps <= 0)
        for i in np.flatnonzero(doubtful):
            t, smallest = self._lowest(leg, leg.times[i], leg.times[i + 1])
            if smallest <= self.low * self._largest and leg.times[0] < t:
                return leg.cut(t), True
        return leg, False

    @property
    def words(self) -> str:
        """What was lost."""
        rows = ", ".join(map(repr, self.rows))
        return (
            f"a pose or velocities at which {rows} {'loses its' if len(self.rows) == 1 else 'lose their'} direction: "
            "derivatives by the velocities vanish, depend on each other or have no limit, and the motion could go on "
            "in more ways than one"
        )

    def _lowest(self, leg: Leg, left: float, right: float) -> tuple[float, float]:
        """When the gradients are smallest within a step, and how small."""
        places = np.linspace(left, right, LOOKS + 1)
        sizes = [self._at(leg, t)[0] for t in places]
        k = int(np.argmin(sizes))
        left, right = places[max(k - 1, 0)], places[min(k + 1, LOOKS)]
        for _ in range(CLOSER):
            near, far = left + 0.382 * (right - left), left + 0.618 * (right - left)
            if self._at(leg, near)[0] <= self._at(leg, far)[0]:
                right = far
            else:
                left = near
        middle = (left + right) / 2
        return float(middle), min(self._at(leg, middle)[0], sizes[k])

    def _at(self, leg: Leg, t: float) -> tuple[float, float]:
        x = leg.dense(np.array([t]))[:, 0]
        return self._smallest(*self._machine(t, x, self.inputs(t, x), self.p))

    def _smallest(self, J: np.ndarray, rate: np.ndarray) -> tuple[float, float]:
        """The smallest singular value of the gradients, each in units of its largest size so far, and its rate.

        Infinite where there are none; the run ends there by itself.
        """
        sizes = np.sqrt((J * J).sum(axis=1))
        if not isfinite(sizes.sum() + np.abs(rate).sum()):
            return inf, 0.0
        self._sizes = np.maximum(self._sizes, sizes)
        scale = np.maximum(self._sizes, 1e-300)
        if sizes.size == 1:
            size = float(sizes[0])
            slope = float(J[0] @ rate[0]) / (size or 1.0) / float(scale[0])
            size /= float(scale[0])
        else:
            left, values, right = np.linalg.svd(J / scale[:, None], full_matrices=False)
            size, slope = float(values[-1]), float(left[:, -1] @ (rate / scale[:, None]) @ right[-1])
        self._largest = max(self._largest, size)
        return size, slope
