"""Which equations a page has, on the graph: kinematics, dynamics, accelerations, extra states, constraints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import casadi as ca

from appell.graph.solve import solve
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
        *_dynamics(equations),
        *_dependent(equations),
        _explicit("extra states", tuple(z.rate for z in model.states), equations.in_state(chart.zdot)),
        _residuals(equations),
    ]
    return [block for block in listed if block.size]


def accelerations_kept(equations: Equations) -> bool:
    """Whether all accelerations stand in the rows, one of which is not linear in them."""
    projected = equations.y.numel() < equations.mechanics.a.numel()
    return equations.mechanics.curved and projected and equations.formulation.speeds is None


def _curved(equations: Equations) -> list[Block]:
    """N' M a = N' F and f(a) = 0, the displacements N those that the rows leave at these accelerations."""
    mechanics, split = equations.mechanics, equations.split
    a, letters = mechanics.a, tuple(q.rate.rate for q in equations.model.coordinates)
    slopes = ca.SX(mechanics.slopes)
    slopes[list(mechanics.acceleration_rows), :] = ca.jacobian(mechanics.f, a)
    C, free = slopes[list(split.rows), :], split.free(a.numel())
    N = ca.SX.zeros(a.numel(), len(free))
    N[free, :] = ca.SX.eye(len(free))
    N[list(split.dependent), :] = -solve(C[:, list(split.dependent)], C[:, free])
    M, F = mechanics.lagrange
    rest = ca.substitute(mechanics.derivative(mechanics.e), a, ca.SX.zeros(a.numel()))
    others = [i for i in split.rows if i not in mechanics.acceleration_rows]
    linear = Block("dependent accelerations", letters, slopes[others, :], -rest[others], True)
    f = ca.vertcat(*[mechanics.f[mechanics.acceleration_rows.index(i)] for i in split.rows if i not in others])
    curved = Block("constraints on accelerations", (), ca.SX(f.numel(), 0), f, False)
    blocks = [Block("dynamics", letters, N.T @ M, N.T @ F, True), linear, curved]
    return [replace(e, matrix=equations.in_state(e.matrix), right=equations.in_state(e.right)) for e in blocks]


def _dynamics(equations: Equations) -> list[Block]:
    """A y = b; where that is but a tangent, the equations it belongs to."""
    if accelerations_kept(equations):
        return _curved(equations)
    unknowns, A, b, said = equations.unknowns, equations.A, equations.b, equations.implicit
    if said is not None:
        unknowns, A, b = said.rates, said.A, said.b
    block = Block("dynamics", unknowns, equations.in_state(A), equations.in_state(b), True)
    if said is None:
        return [block]
    return [block, _explicit("quasi-accelerations", unknowns, equations.in_state(said.psi))]


def _explicit(heading: str, letters: tuple[Letter, ...], right: ca.SX) -> Block:
    return Block(heading, letters, ca.SX.eye(len(letters)), right, False)


def _dependent(equations: Equations) -> list[Block]:
    """Accelerations that are no unknowns: by the constraint rows, or in terms of the quasi-accelerations."""
    chart, mechanics, y = equations.chart, equations.mechanics, equations.y
    accelerations = tuple(s.rate for s in equations.speeds)
    said = equations.implicit.rates if equations.implicit else equations.unknowns
    if accelerations_kept(equations) or set(accelerations) <= set(said):
        return []
    heading = "dependent accelerations"
    if set(equations.unknowns) <= set(accelerations):
        rows = list(chart.split.rows)
        J, gamma = mechanics.J[rows, :], mechanics.gamma[rows, :]
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
