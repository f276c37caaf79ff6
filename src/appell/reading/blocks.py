"""Which equations a page has, on the graph: kinematics, dynamics, accelerations, extra states, constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from appell.model.symbols import Letter

if TYPE_CHECKING:
    from appell.equations import Equations


@dataclass(frozen=True)
class Block:
    """Rows `matrix @ unknowns = right`; without unknowns the rows are residuals, `0 = right`.

    Attributes:
        heading: Stands above them.
        unknowns: Letters on the left.
        matrix: Their coefficients, on the graph.
        right: The right-hand side, on the graph.
        scaled: Whether a row may be multiplied by a factor that does not vanish.
    """

    heading: str
    unknowns: tuple[Letter, ...]
    matrix: ca.SX
    right: ca.SX
    scaled: bool

    @property
    def size(self) -> int:
        """How many rows."""
        return self.right.numel()

    def row(self, i: int) -> ca.SX:
        """The coefficients of one row, and its right-hand side, as a column."""
        return ca.vertcat(self.matrix[i, :].T, self.right[i])


def blocks(equations: Equations) -> list[Block]:
    """What is to be written."""
    chart, model = equations.chart, equations.model
    rates = tuple(q.rate for q in model.coordinates)
    listed = [
        _explicit("kinematics", rates, equations.in_state(chart.K)),
        Block("dynamics", equations.unknowns, equations.in_state(equations.A), equations.in_state(equations.b), True),
        *_dependent(equations),
        _explicit("extra states", tuple(z.rate for z in model.states), equations.in_state(chart.zdot)),
        _residuals(equations),
    ]
    return [block for block in listed if block.size]


def _explicit(heading: str, letters: tuple[Letter, ...], right: ca.SX) -> Block:
    return Block(heading, letters, ca.SX.eye(len(letters)), right, False)


def _dependent(equations: Equations) -> list[Block]:
    """Accelerations that are no unknowns: by the constraint rows, or in terms of the quasi-accelerations."""
    chart, mechanics, y = equations.chart, equations.mechanics, equations.y
    accelerations = tuple(s.rate for s in equations.speeds)
    if set(accelerations) <= set(equations.unknowns):
        return []
    heading = "dependent accelerations"
    if set(equations.unknowns) <= set(accelerations):
        rows = list(chart.split.rows)
        J, gamma = mechanics.J[rows, :], mechanics.gamma[rows]
        return [Block(heading, accelerations, equations.in_state(J), equations.in_state(gamma), True)]
    return [_explicit(heading, accelerations, equations.in_state(equations.udot))] if y.numel() else []


def _residuals(equations: Equations) -> Block:
    """Constraints that the state must obey by itself: positions always, velocities where all rates are kept."""
    mechanics, rows = equations.mechanics, equations.model.rows
    kept = [mechanics.c]
    if equations.chart.redundant:
        kept.append(mechanics.e[[i for i, row in enumerate(rows) if row.order == 1]])
    right = equations.in_state(ca.vertcat(*[e for e in kept if e.numel()] or [ca.SX(0, 1)]))
    return Block("constraints", (), ca.SX(right.numel(), 0), right, False)
