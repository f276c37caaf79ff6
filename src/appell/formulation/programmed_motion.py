"""What the two routes to the programmed motion equations share: rows, projection, Baumgarte, printed errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from appell.equations import Equations
from appell.errors import FormulationError
from appell.formulation.abstract import AbstractFormulation
from appell.graph.solve import solve
from appell.graph.sparse import stacked
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.programme import Along, gradient_row
from appell.kinematics.saddle import solve_in_own_units
from appell.kinematics.split import Split
from appell.kinematics.typical import sample_split
from appell.model.programme import chains
from appell.model.symbols import listed


@dataclass(frozen=True)
class Options:
    """Choices of a programmed motion formulation, checked.

    Attributes:
        stabilize: Baumgarte's alpha and beta, by the name of a row or for all rows; None for projection.
        literal: Wrong terms of the printed equations to reproduce.
    """

    stabilize: Mapping[str, tuple[float, float]] | tuple[float, float] | None
    literal: frozenset[str]

    @classmethod
    def of(cls, stabilize: Any, literal: Iterable[str], allowed: tuple[str, ...]) -> Options:
        """Check what the user gave."""
        chosen = frozenset(listed(literal))
        wrong = sorted(chosen - set(allowed), key=str)
        if wrong:
            raise FormulationError(f"literal={wrong[0]!r} is unknown here; there are {', '.join(map(repr, allowed))}.")
        if stabilize is not None:
            pairs = list(stabilize.values()) if isinstance(stabilize, Mapping) else [stabilize]
            for pair in pairs:
                try:
                    alpha, beta = (float(e) for e in pair)
                except (TypeError, ValueError):
                    alpha = beta = -1.0
                if not (alpha > 0 and beta > 0):
                    raise FormulationError(
                        f"stabilize= takes two positive numbers (alpha, beta), or row -> (alpha, beta); got {pair!r}."
                    )
        if "time" in chosen and stabilize is None:
            raise FormulationError(
                "literal='time' drops the explicit time derivatives of the rows, which projection would put right "
                "again; give stabilize=(alpha, beta) with it."
            )
        return cls(stabilize, chosen)

    def check(self, mechanics: Mechanics) -> None:
        """Refuse gains for rows that a model does not have."""
        if isinstance(self.stabilize, Mapping):
            known = mechanics.row_names
            if strange := [name for name in self.stabilize if name not in known]:
                raise FormulationError(
                    f"stabilize= names {strange[0]!r}, which is not a row of {mechanics.model.name!r} of order 2 or "
                    f"less; there are {', '.join(map(repr, known)) or 'none'}."
                )

    def gains(self, name: str) -> tuple[float, float]:
        """alpha and beta of a row; zero where it is not stabilised."""
        if self.stabilize is None:
            return 0.0, 0.0
        if isinstance(self.stabilize, Mapping):
            return self.stabilize.get(name, (0.0, 0.0))
        return self.stabilize


class AbstractProgrammedMotion(AbstractFormulation):
    """A route to the programmed motion equations: its partition of the coordinates and how it stays on the rows."""

    options: Options

    @property
    def stabilize(self) -> Mapping[str, tuple[float, float]] | tuple[float, float] | None:
        """Baumgarte's alpha and beta, as they were given."""
        return self.options.stabilize

    @property
    def literal(self) -> tuple[str, ...]:
        """The printed errors that are reproduced."""
        return tuple(sorted(self.options.literal))

    @property
    def projects(self) -> bool:
        """Whether runs are projected onto the constraints."""
        return self.options.stabilize is None


def displacements(mechanics: Mechanics, split: Split) -> ca.SX:
    """N, whose rows are those of the unit matrix and, for the dependent ones, W = -K_dc^-1 K_ic (eq. (4.5))."""
    J, n = mechanics.J[list(split.rows), :], mechanics.a.numel()
    dependent, free = list(split.dependent), split.free(n)
    N = ca.SX(n, len(free))
    N[free, :] = ca.SX.eye(len(free))
    if dependent:
        N[dependent, :] = -solve(J[:, dependent], J[:, free])
    return N


def rows_with_gains(mechanics: Mechanics, split: Split, options: Options) -> ca.SX:
    """The right-hand side of C a = gamma with Baumgarte's terms, and without explicit time if that is asked for.

    A row on positions follows Phi'' + 2 alpha Phi' + beta^2 Phi = 0, one on velocities phi' + alpha phi = 0.
    """
    x, rows = mechanics.variables, list(split.rows)
    options.check(mechanics)
    e, gamma = mechanics.e, mechanics.gamma
    if "time" in options.literal:
        held = [i for i in range(len(mechanics.row_names)) if i not in mechanics.acceleration_rows]
        e, gamma = ca.SX(e), ca.SX(gamma)
        for i in held:
            if i in mechanics.position_rows:
                c = mechanics.c[mechanics.position_rows.index(i)]
                e[i] = ca.jtimes(c, x.q, x.v)
            gamma[i] = -ca.jtimes(e[i], x.q, x.v)
    if options.stabilize is None:
        return gamma[rows, :]
    right = []
    for i in rows:
        alpha, beta = options.gains(mechanics.row_names[i])
        value = gamma[i]
        if i in mechanics.position_rows:
            value = value - 2 * alpha * e[i] - beta**2 * mechanics.c[mechanics.position_rows.index(i)]
        elif i not in mechanics.acceleration_rows:
            value = value - alpha * e[i]
        right.append(value)
    return stacked(right)


def assembled(
    formulation: AbstractFormulation,
    mechanics: Mechanics,
    split: Split,
    left: ca.SX,
    options: Options,
) -> Equations:
    """The projected equations `left` = 0 and the rows below them, solved for all accelerations.

    Args:
        formulation: Whose equations they are.
        mechanics: The model on the graph.
        split: Rows and partition.
        left: n - K formulas that vanish, linear in the accelerations.
        options: Stabilisation and printed errors.
    """
    x, rows = mechanics.variables, list(split.rows)
    A, minus_b = ca.linear_coeff(left, mechanics.a, True)
    A, b = x.thaw(A), x.thaw(-minus_b)
    if rows:
        A = ca.vertcat(A, mechanics.C[rows, :])
        b = ca.vertcat(b, rows_with_gains(mechanics, split, options))
    definite = not rows and not mechanics.accelerating and not options.literal
    solution = None if definite else solve_in_own_units(A, b, mechanics.lagrange[0], x.quaternions)
    return Equations(formulation, Chart.in_rates(mechanics, split), A, b, definite=definite, solution=solution)


def _orthogonal(columns: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Q, R, D of columns = Q R by Gram and Schmidt: orthogonal columns with squares D, and a unit upper triangle.

    The normal equations with the Gram matrix Q'Q would square what is lost next to a singular configuration.
    """
    count = columns.shape[1]
    Q, R, D = [], ca.SX.eye(count), []
    for k in range(count):
        rest = columns[:, k]
        for j in range(k):
            R[j, k] = ca.dot(Q[j], rest) / D[j]
            rest = rest - R[j, k] * Q[j]
        Q.append(rest)
        D.append(ca.dot(rest, rest))
    return ca.horzcat(*Q), R, ca.vertcat(*D)


def projected_rates(mechanics: Mechanics, E: ca.SX) -> Mechanics:
    r"""The rates of the programmes' multipliers from $N^T E = 0$ differentiated p - 2 times, without multipliers.

    With all rows of order p stacked, $B q^{(p)} + s = 0$, and $P = 1 - B^T(BB^T)^{-1}B$ in the place of $N N^T$ (no
    partition that could become singular):
    $$ \frac{d^{p-2}}{dt^{p-2}}(P E) + B^T(BB^T)^{-1}(B q^{(p)} + s) = 0 $$
    gives all $q^{(p)}$; then $\lambda = (BB^T)^{-1}B E$ is differentiated as often. Both by $B^T = QR$, Q orthogonal.

    Args:
        mechanics: A model with programmes of one order p >= 3, ideal.
        E: The Lagrange operator minus the forces without those of these programmes, in t, q, v, a, z, p.
    """
    model, x = mechanics.model, mechanics.variables
    p = model.programme[0].order
    letters = Along(mechanics, mechanics.a, *[ca.SX.sym(f"q{k}", x.q.numel()) for k in range(3, p + 1)])
    low = list(sample_split(mechanics).rows)
    B = ca.vertcat(mechanics.C[low, :], *[gradient_row(mechanics, row) for row in model.programme])
    Q, R, squares = _orthogonal(B.T)
    shares = (Q.T @ E) / squares
    lam, shadow = solve(R, shares), E - Q @ shares
    rows = [letters.derivative(mechanics.C[low, :] @ mechanics.a - mechanics.gamma[low], p - 2)] if low else []
    rows += [letters.residual(row) for row in model.programme]
    top, shadows = letters.jets[p], letters.derivative(shadow, p - 2)
    G, g = ca.linear_coeff(shadows + Q @ (solve(R.T, ca.vertcat(*rows)) / squares), top, True)
    tops = ca.substitute(letters.derivative(lam, p - 2)[len(low) :], top, solve(G, -g))
    along = Along(mechanics)
    for k in reversed(range(2, p)):
        tops = ca.substitute(tops, letters.jets[k], along.jet(k))
    zdot, position = ca.SX(x.zdot), {s: i for i, s in enumerate(model.states)}
    for k, row in enumerate(model.programme):
        zdot[position[chains(row, model.coordinates)[0][-1]]] = tops[k]
    return mechanics.with_state_rates(ca.cse(x.thaw(zdot)))
