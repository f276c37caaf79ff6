"""Rows that are not linear in the accelerations have branches: a motion stays on its own, or the run ends."""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.agreement import MISSED
from appell.code.code import Code
from appell.code.machine import Machine
from appell.motion.flow import Inputs
from appell.motion.leg import Leg
from appell.motion.outcome import Outcome

APART = 1e-6  # share of the accelerations by which two branches differ at least
FINE = 1e-9  # a jump within so small a part of a step is one
NEWTON = 12


class Branch:
    """The branch of the accelerations that a motion is on.

    Args:
        code: The equations as functions.
        inputs: The open inputs at a time and state.
        p: Values of the parameters.

    Attributes:
        rows: Names of the rows on accelerations.
    """

    outcome = Outcome.BRANCH_LOST

    def __init__(self, code: Code, inputs: Inputs, p: np.ndarray) -> None:
        equations = code.equations
        mechanics = equations.mechanics
        self.code, self.inputs, self.p = code, inputs, p
        self.rows = [mechanics.row_names[i] for i in mechanics.acceleration_rows]
        self.n = mechanics.a.numel()
        multiplier, *pair = mechanics.newton
        arguments = [*equations.arguments, mechanics.a, multiplier]
        results = [ca.densify(equations.in_state(e)) for e in pair]
        self._newton = Machine(ca.Function("newton", arguments, results, {"cse": True}), simd=False)

    def missed(self, t: float, x: np.ndarray) -> str | None:
        """The first row that the accelerations do not satisfy."""
        good = np.abs(self.code.branch.flat(t, x, self.inputs(t, x), self.p)) < MISSED
        return None if good.all() else self.rows[int(np.argmin(good))]

    def lost(self, t: float, x: np.ndarray) -> bool:
        """Whether the accelerations are on no branch any more."""
        return self.missed(t, x) is not None

    @property
    def words(self) -> str:
        """What was lost."""
        return f"{', '.join(map(repr, self.rows))}; two branches meet or part there; say by near= which one is meant"

    def follow(self, leg: Leg) -> tuple[Leg, bool]:
        """A leg as far as its accelerations are continuous, and whether it had to be cut short."""
        for before, after in zip(leg.times[:-1], leg.times[1:], strict=True):
            end = self._jump(leg, before, after, FINE * (after - before))
            if end is not None:
                return leg.cut(end), True
        return leg, False

    def _jump(self, leg: Leg, before: float, after: float, fine: float) -> float | None:
        """When the accelerations jump between two times, if they do: what Newton's steps do not cross is halved."""
        if self._continues(leg, before, after):
            return None
        middle = (before + after) / 2
        if after - before <= fine or not before < middle < after:
            return before
        found = self._jump(leg, before, middle, fine)
        return found if found is not None else self._jump(leg, middle, after, fine)

    def _continues(self, leg: Leg, before: float, after: float) -> bool:
        """Whether Newton's steps from the accelerations at one time arrive at those of a later one."""
        x, then = leg.dense(after)[:, 0], leg.dense(before)[:, 0]
        w = self.inputs(after, x)
        now, wanted = self._accelerations(before, then), self._accelerations(after, x)
        if not (np.all(np.isfinite(wanted)) and np.all(np.isfinite(now))):
            return False
        # The multipliers that go with the accelerations: one step from them, curvature left out.
        pull = np.zeros(len(self.rows))
        for k in range(NEWTON):
            matrix, right = self._newton(after, x, w, self.p, now, pull)
            try:
                solution = np.linalg.solve(matrix, right[:, 0])
            except np.linalg.LinAlgError:
                return False
            now, pull = (solution[: self.n] if k else now), solution[solution.size - pull.size :]
        return bool(np.linalg.norm(now - wanted) <= APART * (1 + np.linalg.norm(wanted)))

    def _accelerations(self, t: float, x: np.ndarray) -> np.ndarray:
        return self.code.accelerations.flat(t, x, self.inputs(t, x), self.p)
