r"""Programmes of order 3 and more on the graph: their multipliers as states, and the rates of these.

A row f(t, q, ..., q^(p)) = 0 with B = df/dq^(p) is enforced by the force B' lambda (or along its drive). At a state
(q, v, lambda, ..., lambda^(p-3)) the accelerations follow from M a = F + B' lambda and the rows of order 2 or less;
q^(3), ..., q^(p) from them by differentiation along the motion. The last contains lambda^(p-2), and the row gives it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca

from appell.errors import FormulationError
from appell.graph.kinks import has_kinks
from appell.graph.lower import Lowering
from appell.graph.solve import solve, solve_spd
from appell.kinematics.forces import GeneralizedForce
from appell.kinematics.saddle import saddle
from appell.kinematics.variables import Variables
from appell.model.constraint import Row
from appell.model.programme import chains
from appell.model.symbols import Letter

if TYPE_CHECKING:
    from appell.kinematics.mechanics import Mechanics

WORDS = {2: "acceleration", 3: "jerk"}


def gradient_row(mechanics: Mechanics, row: Row) -> ca.SX:
    """B = df/dq^(p) of a row of any order, in t, q, v, a; differentiating a row does not change it."""
    x, coordinates, order = mechanics.variables, mechanics.model.coordinates, row.own_order
    memo = dict(x.lower.memo)
    jets = [x.q, x.v, mechanics.a]
    while len(jets) <= order:
        jets.append(ca.SX.sym(f"jet{len(jets)}", x.q.numel()))
    for k in range(2, order + 1):
        memo.update({q.derivative(k): jets[k][i] for i, q in enumerate(coordinates)})
    B = ca.jacobian(Lowering(memo)(row.expression), jets[order])
    for k in range(3, order + 1):
        if ca.depends_on(B, jets[k]):
            raise FormulationError(
                f"The coefficients of the highest derivative in the programme {row.name!r} contain derivatives of "
                f"order {k}; its equations would not be regular. Write it linear in derivatives of order 3 and more."
            )
    return ca.densify(B)


def direction(mechanics: Mechanics, row: Row) -> ca.SX:
    """The direction of a programme's force as a column: along its gradient, or along its drive."""
    if row.drive is not None:
        unit = ca.SX.zeros(mechanics.variables.q.numel())
        unit[mechanics.model.coordinates.index(row.drive)] = 1
        return unit
    return gradient_row(mechanics, row).T


def drive_forces(mechanics: Mechanics) -> tuple[GeneralizedForce, ...]:
    """The forces of all programmes of order 3 and more, their multipliers being states."""
    memo, coordinates = mechanics.variables.lower.memo, mechanics.model.coordinates
    found = []
    for row in mechanics.model.programme:
        starts = [memo[chain[0]] for chain in chains(row, coordinates)]
        force = ca.vertcat(*starts) if row.gauss else direction(mechanics, row) * starts[0]
        found.append(GeneralizedForce(row.name, force))
    return tuple(found)


def accelerations(mechanics: Mechanics) -> ca.SX:
    """q'' as a graph in t, q, v, z, w, p: free forces, programmes' forces, rows of order 2 or less."""
    from appell.kinematics.typical import sample_split  # which looks at a mechanics at numbers

    M, F = mechanics.lagrange
    rows = list(sample_split(mechanics).rows)
    if not rows:
        return solve(M, F) if mechanics.accelerating else solve_spd(M, F)
    J, C, gamma = mechanics.J[rows, :], mechanics.C[rows, :], mechanics.gamma[rows, :]
    return saddle(M, J, C, F, gamma, mechanics.variables.quaternions)[: M.shape[0]]


class Along:
    """Total time derivatives along the motion, as graphs of the state alone, or of letters for higher derivatives.

    Args:
        mechanics: The model on the graph.
        higher: q'' in t, q, v, z, w, p, found if left out; or letters for it and for q''', ..., as many as are needed.
        zdot: Rates of the extra states; those of the model if left out.
    """

    def __init__(self, mechanics: Mechanics, *higher: ca.SX, zdot: ca.SX | None = None) -> None:
        self.mechanics, x = mechanics, mechanics.variables
        self.jets = [x.q, x.v, *(higher or (accelerations(mechanics),))]
        rates = ca.vertcat(1, *self.jets[1:], x.zdot if zdot is None else zdot)
        self._moving = ca.vertcat(x.t, *self.jets[:-1], x.z), rates

    def derivative(self, expression: ca.SX, times: int = 1) -> ca.SX:
        """d/dt along the motion, so many times; inputs are held."""
        for _ in range(times):
            expression = ca.jtimes(expression, *self._moving)
        return expression

    def jet(self, order: int) -> ca.SX:
        """q^(order)."""
        while len(self.jets) <= order:
            self.jets.append(self.derivative(self.jets[-1]))
        return self.jets[order]

    def residual(self, row: Row, times: int | None = None) -> ca.SX:
        """A row differentiated some times (as often as it is raised if left out), along the motion."""
        memo = {s: graph for s, graph in self.mechanics.variables.lower.memo.items() if isinstance(s, Letter)}
        for k in range(2, row.own_order + 1):
            memo.update({q.derivative(k): self.jet(k)[i] for i, q in enumerate(self.mechanics.model.coordinates)})
        return self.derivative(Lowering(memo)(row.expression), row.raised if times is None else times)


def continued(mechanics: Mechanics) -> Iterator[tuple[str, ca.SX]]:
    """What programmes of order 3 and more demand to go on as it is, from q'' on: their formulas, or B q^(k).

    Multipliers that are states do not follow a force that jumps, so that these would jump with it.
    """
    x, rows = mechanics.variables, mechanics.model.programme
    higher = [ca.SX.sym(f"jet{k}", x.q.numel()) for k in range(3, max(row.own_order for row in rows) + 1)]
    letters = Along(mechanics, mechanics.a, *higher)
    what = ca.vertcat(mechanics.lagrange[1], x.zdot, *[letters.residual(row, 0) for row in rows])
    if not has_kinks(ca.Function("what", [], [what], {"allow_free": True})):
        return
    along = Along(mechanics)
    for row in rows:
        for k in range(max(0, 2 - row.own_order), row.raised):
            yield f"the {k * 'rate of the '}programme {row.name!r}", along.residual(row, k)
        B = ca.substitute(gradient_row(mechanics, row), mechanics.a, along.jet(2))
        for k in range(2, row.own_order):
            yield f"the {WORDS.get(k, f'derivative of order {k}')} along the programme {row.name!r}", B @ along.jet(k)


def held_inputs(mechanics: Mechanics) -> tuple[str, ...]:
    """The inputs whose rates programmes of order 3 and more would have to know; they are taken as constant."""
    if not mechanics.model.programme:
        return ()
    a, x = accelerations(mechanics), mechanics.variables
    return tuple(s.label for i, s in enumerate(mechanics.model.inputs) if ca.depends_on(a, x.w[i]))


def refuse_changing(mechanics: Mechanics, names: Iterable[str]) -> None:
    """Raise if some of these inputs, which change during a run, are among those that must not."""
    acting = [name for name in names if name in mechanics.held]
    if acting:
        rows = ", ".join(repr(row.name) for row in mechanics.model.programme)
        raise FormulationError(
            f"The programme {rows} of order 3 or more needs the rates of the inputs {', '.join(acting)}, which are "
            "unknown. Give them as numbers, or put a formula in time, or an extra state that follows a command, into "
            "the force of the model."
        )


def closed(mechanics: Mechanics) -> Variables:
    """The variables of a model with the open rates of its programmes' multipliers found, lowest order first."""
    x, coordinates = mechanics.variables, mechanics.model.coordinates
    a = accelerations(mechanics)
    zdot = x.zdot
    for order in sorted({row.order for row in mechanics.model.programme}):
        rows = [row for row in mechanics.model.programme if row.order == order]
        along = Along(mechanics, a, zdot=zdot)
        f = ca.vertcat(*[along.residual(row) for row in rows])
        tops = {row: [x.lower.memo[chain[-1].rate] for chain in chains(row, coordinates)] for row in rows}
        held = [top for row in rows for top in tops[row]]
        forced = [_top_forces(mechanics, a, row) for row in rows]  # (n or 1) x 1 in the row's own new multiplier
        unknown = ca.SX.sym("mu", len(rows))
        values = ca.vertcat(*[forced[k] * unknown[k] for k in range(len(rows))])
        G, g = ca.linear_coeff(ca.substitute(f, ca.vertcat(*held), values), unknown, True)
        if ca.sprank(ca.sparsify(G)) < len(rows):
            names = ", ".join(repr(row.name) for row in rows)
            raise FormulationError(
                f"No force of the programme {names} of {mechanics.model.name!r} reaches the derivatives of order "
                f"{order} that it demands: other rows demand them already, at a lower order, or its drives do not move "
                "them. Write the task in the variables that the other rows leave free, or drive other coordinates."
            )
        found = solve(G, -g)
        zdot = ca.substitute(zdot, ca.vertcat(*held), ca.substitute(values, unknown, found))
    return replace(x, zdot=ca.cse(zdot))


def _top_forces(mechanics: Mechanics, a: ca.SX, row: Row) -> ca.SX:
    """How the last rates of a row's states follow from one number: 1, or B' under Gauss's principle."""
    if not row.gauss:
        return ca.SX(1)
    return ca.substitute(direction(mechanics, row), mechanics.a, a)
