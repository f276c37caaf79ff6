"""The rows and speeds in use, watched along a run: whether others describe the motion better from here on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.kinematics.split import Split
from appell.motion.outcome import Outcome
from appell.motion.projection import Projection

SPEEDS_SINGULAR = 1e9  # growth of given speeds into rates at which they count as dependent
CALM, WILD = 4.0, 1e3  # growth below which nobody looks for others, and beyond which everybody does


def beyond(growth: Any, calm: Any) -> np.ndarray:
    """Whether other dependent velocities are looked for; elementwise.

    Args:
        growth: How strongly speeds grow into rates.
        calm: The growth up to which they are left as they are; 0 before the first look.
    """
    return np.asarray(growth) > np.where(np.equal(calm, 0.0), WILD, calm)


def calmer(split: Split, jacobian: np.ndarray, growth: float) -> Split | None:
    """The best choice at a state, if it has as many rows and less than half the growth of the present one."""
    best = Split.at(jacobian, rows=split.rows)
    return best if len(best.rows) == len(split.rows) and best.growth(jacobian) < growth / 2 else None


def next_calm(growth: Any, best: Any, patience: float, calm: Any) -> np.ndarray:
    """The growth up to which dependent velocities are left as they are, behind a look that kept them; elementwise.

    The first look compares them with the best there are. Where none are calmer they must grow twice as much until the
    next search, but beyond `WILD` there is one at every step.

    Args:
        growth: How strongly speeds grow into rates.
        best: The same of the best choice; it counts at the first look.
        patience: Growth against the best choice at which the choice is changed.
        calm: What was found before; 0 before the first look.
    """
    searched = beyond(growth, calm)
    wish = np.where(searched, np.multiply(2.0, growth), np.maximum(CALM, np.multiply(patience, best)))
    found = np.where(np.isfinite(wish), np.minimum(wish, WILD), 0.0)  # behind a singular one all begins anew
    return np.where(searched | np.equal(calm, 0.0), found, calm)


class SpeedWatch:
    """Looks after one choice of rows and dependent velocities.

    Args:
        code: The equations in that choice.
        projection: Their rows.
        inputs: Some values of the open inputs, which rates do not contain.
        p: Values of the parameters.
        sizes: How long the rows are at ordinary states, where those left out may have to be others elsewhere.
    """

    def __init__(
        self,
        code: Code,
        projection: Projection,
        inputs: Callable[[], np.ndarray],
        p: np.ndarray,
        sizes: np.ndarray | None,
    ) -> None:
        self.code, self.projection, self.inputs, self.p, self.sizes = code, projection, inputs, p, sizes
        self._calm, self._side = 0.0, 0.0

    @property
    def calm(self) -> float:
        """The growth of the speeds into rates below which no look at them is needed."""
        return SPEEDS_SINGULAR if self.code.equations.formulation.fixed else self._calm

    @property
    def tumbling(self) -> bool:
        """Whether a quaternion will make the speeds change again and again."""
        equations = self.code.equations
        norms = set(equations.mechanics.norm_rows) & set(equations.split.rows)
        formulation = equations.formulation
        return bool(equations.split.dependent and norms) and not (formulation.fixed or formulation.angular)

    def begin(self, t: float, x: np.ndarray) -> None:
        """Look at the side on which a leg begins."""
        if not self._side:
            self._side = self._growth_and_side(t, x)[1]

    def dependent(self, t: float, x: np.ndarray) -> bool:
        """Whether given speeds are dependent at a state that has all rates, as with rows nonlinear in them."""
        equations = self.code.equations
        if not (equations.formulation.fixed and equations.chart.redundant) or equations.mechanics.curved:
            return False
        chart, y = equations.chart, equations.y
        virtual = equations.in_state(chart.by_units(ca.jacobian(chart.a, y)))
        curved = ca.depends_on(ca.vec(virtual), y)  # by quasi-accelerations: looked at where they are, if found
        virtual = ca.substitute(virtual, y, equations.acceleration) if curved else virtual
        function = ca.Function("virtual", equations.arguments, [ca.densify(virtual)])
        growth = np.abs(np.array(function(t, x, self.inputs(), self.p))).max(initial=0.0)
        return not growth < SPEEDS_SINGULAR and not (curved and np.isnan(growth))

    def ask(self, t: float, x: np.ndarray) -> Split | Outcome | None:
        """The choice to go on with, or why the run must end; None while the present one is good."""
        wish = None if self.sizes is None else self._other_rows(t, x, self.sizes)
        return self._other_speeds(t, x) if wish is None and self.code.equations.split.dependent else wish

    def jacobian(self, t: float, x: np.ndarray) -> np.ndarray:
        """de/dv at a state of the equations in use."""
        n, m = self.projection.n, self.projection.speeds
        redundant = self.code.equations.chart.redundant
        v = x[n : 2 * n] if redundant else self.code.rates.flat(t, x, self.inputs(), self.p)
        return self.projection.jacobian(t, x[:n], v, x[n + m :])

    def _other_rows(self, t: float, x: np.ndarray, sizes: np.ndarray) -> Split | None:
        """Where rows say one thing twice: others, before those in use do."""
        split = self.code.equations.split
        best = Split.at(self.jacobian(t, x), rows=split.rows, sizes=sizes)
        if best.rows == split.rows or len(best.rows) != len(split.rows):
            return None
        kept = self.code.equations.formulation.fixed or not split.dependent
        return Split(best.rows, split.dependent) if kept else best

    def _other_speeds(self, t: float, x: np.ndarray) -> Split | Outcome | None:
        """Other dependent velocities, well before the present ones become singular."""
        equations = self.code.equations
        growth, side = self._growth_and_side(t, x)
        if equations.formulation.fixed:
            crossed = self._side * side < 0
            self._side = side
            return Outcome.SPEEDS_SINGULAR if crossed or not growth < SPEEDS_SINGULAR else None
        if growth <= self._calm:
            return None
        split, jacobian = equations.split, self.jacobian(t, x)
        growth = split.growth(jacobian)
        if beyond(growth, self._calm) and (other := calmer(split, jacobian, growth)) is not None:
            return other
        best = np.nan if self._calm else Split.at(jacobian, rows=split.rows).growth(jacobian)
        self._calm = float(next_calm(growth, best, equations.formulation.patience, self._calm))
        return None

    def _growth_and_side(self, t: float, x: np.ndarray) -> tuple[float, float]:
        """How strongly speeds grow into rates, and the sign of det d(speeds, rows)/dv, 0 if there is none.

        It changes where given speeds are dependent.
        """
        code, equations, w = self.code, self.code.equations, self.inputs()
        if code.alarms is not None:
            growth, side = (float(e[0, 0]) for e in code.alarms(t, x, w, self.p))
            return growth, float(np.sign(side)) if np.isfinite(side) else 0.0
        growth = float(code.growth.flat(t, x, w, self.p)[0])
        if equations.chart.redundant or not equations.formulation.fixed:
            return growth, 0.0
        stacked = code.stacked(t, x, w, self.p)[0]
        return growth, float(np.sign(np.linalg.det(stacked))) if np.isfinite(stacked).all() else 0.0
