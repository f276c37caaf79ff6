r"""Rows that are left out along a motion because others already fix the velocities that they bind.

Where rows move by themselves in time, that does not mean that they agree: if x = X(t) and y = Y(t) are prescribed, the
edge of a skate leaves no velocity free, y' cos - x' sin = 0, and demands a heading instead. A start may have it; the
equations do not keep it. A run ends where a row that was left out is broken.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.equations import Equations
from appell.motion.ledger import along
from appell.motion.leg import Leg
from appell.motion.outcome import Outcome
from appell.once import once

BROKEN = 1e-6  # share of its terms by which a row may be off
HALVINGS = 60


def may_contradict(equations: Equations) -> bool:
    """Whether rows are left out that need not follow from the others.

    Rows that are linear and homogeneous in the velocities follow where their gradients do.
    """
    if not equations.redundant_rows:
        return False
    mechanics, x = equations.mechanics, equations.mechanics.variables
    at_rest = x.thaw(ca.substitute(mechanics.e, x.v, ca.SX.zeros(x.v.numel())))
    return not (mechanics.linear and ca.sparsify(at_rest).is_zero())


@once
def _residuals(code: Code) -> ca.Function:
    """(t, x, w, p) -> the rows left out, as shares of their terms."""
    equations = code.equations
    mechanics, x = equations.mechanics, equations.mechanics.variables
    spare = [i for i in range(len(mechanics.row_names)) if i not in equations.split.rows]
    arguments = (x.t, x.q, x.v, x.z, x.p)
    rows, terms = mechanics.functions["velocity"](*arguments)[0], mechanics.row_terms["velocity"](*arguments)
    share = (ca.fabs(rows) / ca.fmax(1e-300, terms))[spare]
    return ca.Function("left_out", equations.arguments, [ca.densify(equations.in_state(share))], {"cse": True})


class LeftOut:
    """Looks along legs whether rows that were left out are kept.

    Args:
        code: The equations as functions.
        p: Values of the parameters.
        rtol: The relative tolerance of the run, if one was given.
    """

    outcome = Outcome.ROWS_CONTRADICT

    def __init__(self, code: Code, p: np.ndarray, rtol: float | None) -> None:
        equations = code.equations
        self.p, self.low, self._function = p, max(BROKEN, 10 * (rtol or 0.0)), _residuals(code)
        self._names, self._w = equations.redundant_rows, np.zeros(len(equations.inputs))  # rows contain no inputs
        self._corners = equations.mechanics.striking
        self._broken: tuple[str, ...] = ()

    @staticmethod
    def of(code: Code, p: np.ndarray, rtol: float | None) -> LeftOut | None:
        """What looks after the rows left out; None where they follow from the others."""
        return LeftOut(code, p, rtol) if may_contradict(code.equations) else None

    def follow(self, leg: Leg) -> tuple[Leg, bool]:
        """A leg as far as the rows are kept, and whether it had to be cut short."""
        ends = leg.times[1:]
        times = (ends + leg.times[:-1]) / 2 if self._corners else ends  # at a corner itself rows are on neither side
        broken = np.flatnonzero(np.any(self._shares(leg, times) > self.low, axis=0))
        if not broken.size:
            return leg, False
        left, right = leg.times[broken[0]], times[broken[0]]
        for _ in range(HALVINGS):
            middle = (left + right) / 2
            kept = np.all(self._shares(leg, np.array([middle])) <= self.low)
            left, right = (middle, right) if kept else (left, middle)
        off = self._shares(leg, np.array([right]))[:, 0] > self.low
        self._broken = tuple(name for name, e in zip(self._names, off, strict=True) if e)
        return leg.cut(right), True

    def _shares(self, leg: Leg, times: np.ndarray) -> np.ndarray:
        """How far each row is off, one column for each time; nothing where it is no number, which others look at."""
        found = along(self._function, times, leg.dense(times), self._w, self.p)[0]
        return np.where(np.isfinite(found), found, 0.0)

    @property
    def words(self) -> str:
        """Which row was broken, and what to do about it."""
        one, rows = len(self._broken) == 1, ", ".join(map(repr, self._broken))
        return (
            f"the other rows leave no velocity to keep {rows} by, so {'it demands' if one else 'they demand'} "
            "positions, which nothing keeps; write what they must be as rows of their own (Holonomic, Programmed), or "
            "prescribe less"
        )
