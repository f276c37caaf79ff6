"""Equations: the one currency between the principles of mechanics and everything that runs.

State x = (q, u, z); q' = K(q, u, t), the unknown accelerations y from A y = b, u' and z' from them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import sympy as sp

from appell.errors import ModelError
from appell.graph.lower import Lowering
from appell.graph.replay import operations
from appell.graph.solve import solve, solve_spd
from appell.graph.sparse import stacked
from appell.kinematics.chart import Chart
from appell.kinematics.differentiated import Differentiated
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.programme import Along, refuse_changing
from appell.kinematics.split import Split
from appell.model.model import Model
from appell.model.rules import check_letter
from appell.model.symbols import Evolving, Input, Letter, Parameter, Rate, Speed, key, letters_in, quoted, t
from appell.model.values import formula_of

if TYPE_CHECKING:
    from appell.formulation.abstract import AbstractFormulation


@dataclass(frozen=True, eq=False)
class Implicit:
    """Equations A u' = b with u' = psi(y), not linear in the unknowns y.

    Attributes:
        rates: u' as letters.
        A: Matrix of u', on the graph.
        b: Right-hand side.
        psi: u' in terms of y.
    """

    rates: tuple[Letter, ...]
    A: ca.SX
    b: ca.SX
    psi: ca.SX


@dataclass(frozen=True, eq=False)
class Equations:
    """Equations of motion in the form A y = b.

    Attributes:
        formulation: The principle they come from.
        chart: The model on the graph, its speeds, and the unknowns y.
        matrix: A, on the graph; left open by a formulation that solves for the unknowns by itself.
        right: b.
        definite: Whether A is symmetric and positive definite.
        closed: Inputs replaced by formulas.
        solution: The unknowns themselves, where the formulation solves for them.
        matrices: What makes A and b in that case, if somebody asks.
        implicit: Equations not linear in the unknowns, for who reads them; A y = b is then their tangent at the
            solution.
    """

    formulation: AbstractFormulation
    chart: Chart
    matrix: ca.SX | None
    right: ca.SX | None
    definite: bool
    closed: Mapping[Input, sp.Expr] = field(default_factory=dict)
    solution: ca.SX | None = None
    matrices: Callable[[], tuple[ca.SX, ca.SX]] | None = None
    implicit: Implicit | None = None

    @classmethod
    def of_residual(cls, formulation: AbstractFormulation, chart: Chart, residual: ca.SX) -> Equations:
        """From formulas A y - b that vanish, linear in the unknowns.

        Args:
            formulation: The principle they come from.
            chart: The model on the graph, its speeds, and the unknowns y.
            residual: One formula for each unknown, masses as frozen letters.
        """
        accelerating = chart.mechanics.accelerating  # all but forces is linear for sure
        A, minus_b = ca.linear_coeff(residual, chart.y, accelerating)
        return cls(formulation, chart, chart.thaw(A), chart.thaw(-minus_b), definite=not accelerating)

    def __reduce__(self) -> tuple[Any, ...]:
        """A file or another process gets the words and derives again: graphs do not travel."""
        derived = self.mechanics
        model = derived.base.model if isinstance(derived, Differentiated) else derived.model
        return _again, (self.formulation, model, self.split, dict(self.closed))

    @cached_property
    def _linear(self) -> tuple[ca.SX, ca.SX]:
        if self.matrix is not None and self.right is not None:
            return self.matrix, self.right
        assert self.matrices is not None
        return self.matrices()

    @property
    def A(self) -> ca.SX:
        """Matrix of the unknowns, on the graph."""
        return self._linear[0]

    @property
    def b(self) -> ca.SX:
        """Right-hand side of A y = b."""
        return self._linear[1]

    @property
    def mechanics(self) -> Mechanics:
        """The model on the graph."""
        return self.chart.mechanics

    @property
    def iterated(self) -> bool:
        """Whether Newton's method is part of the graph: its steps correct what they round."""
        return self.implicit is not None or self.mechanics.curved

    @property
    def unknowns(self) -> tuple[Letter, ...]:
        """The unknowns as letters."""
        return self.chart.unknowns

    @property
    def y(self) -> ca.SX:
        """The unknowns on the graph."""
        return self.chart.y

    @property
    def udot(self) -> ca.SX:
        """Rates of the speeds in terms of y."""
        return self.chart.udot

    @property
    def model(self) -> Model:
        """The model they describe."""
        return self.mechanics.model

    @property
    def coordinates(self) -> tuple[Letter, ...]:
        """q."""
        return self.model.coordinates

    @property
    def speeds(self) -> tuple[Evolving, ...]:
        """u: quasi-velocities, or rates of the independent coordinates."""
        return self.chart.letters

    @cached_property
    def quasi_velocities(self) -> dict[Speed, ca.SX]:
        """Speeds of the user's, and angular velocities in place of rates, in q, v, p and t.

        They are states, or, if nonlinear in the rates or dependent in the present choice of speeds, formulas in them.
        """
        lower, axes, chosen = self.mechanics.variables.lower, self.formulation.angular, self.formulation.speeds or {}
        turning = [] if axes is None else self.mechanics.turning(axes).formulas
        return {u: lower(sp.sympify(e)) for u, e in (*chosen.items(), *turning) if isinstance(u, Speed)}

    @property
    def driven(self) -> tuple[Evolving, ...]:
        """The speeds whose rates are the first unknowns; where all rates are kept, those that the rows leave free."""
        if self.formulation.speeds:
            return tuple(self.formulation.speeds)
        if not self.chart.redundant:
            return self.speeds
        return tuple(s.base.derivative(s.order - 1) for s in self.unknowns if isinstance(s, Rate))

    @property
    def states(self) -> tuple[Letter, ...]:
        """x = (q, u, z) as letters."""
        return (*self.coordinates, *self.speeds, *self.model.states)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """Inputs that are still open."""
        return tuple(w for w in self.model.inputs if w not in self.closed)

    @property
    def split(self) -> Split:
        """Independent constraint rows and dependent coordinates."""
        return self.chart.split

    @property
    def dependent(self) -> tuple[Letter, ...]:
        """Coordinates whose rates the constraints give, and angular velocities that they give."""
        axes = self.formulation.angular
        if axes is not None:
            return self.mechanics.turning(axes).dependent(self.split)
        return tuple(self.coordinates[i] for i in self.split.dependent)

    @property
    def coordinate_split(self) -> Split:
        """The split of the coordinates; the rows alone where angular velocities take the place of rates."""
        return Split(self.split.rows) if self.formulation.angular else self.split

    @property
    def redundant_rows(self) -> tuple[str, ...]:
        """Constraint rows that follow from the others and are not used."""
        return tuple(name for i, name in enumerate(self.mechanics.row_names) if i not in self.split.rows)

    @cached_property
    def x(self) -> ca.SX:
        """The state on the graph."""
        return ca.vertcat(self.mechanics.variables.q, self.chart.u, self.mechanics.variables.z)

    @cached_property
    def w(self) -> ca.SX:
        """Open inputs on the graph."""
        return stacked(self.mechanics.variables.lower.memo[s] for s in self.inputs)

    @cached_property
    def arguments(self) -> list[ca.SX]:
        """t, x, w, p."""
        return [self.mechanics.variables.t, self.x, self.w, self.mechanics.variables.p]

    def in_state(self, expression: ca.SX) -> ca.SX:
        """An expression in q, v, z, w, p, t written in the state: speeds for rates, closed inputs by their formulas."""
        return self.with_laws(self.chart.in_speeds(expression))

    def with_laws(self, expression: ca.SX) -> ca.SX:
        """An expression with the closed inputs replaced by their formulas."""
        return ca.substitute(expression, *self.laws) if self.closed else expression

    @cached_property
    def laws(self) -> tuple[ca.SX, ca.SX]:
        """The closed inputs as letters, and their formulas."""
        memo, lower = self.mechanics.variables.lower.memo, Lowering(self.leaves())
        return ca.vertcat(*[memo[s] for s in self.closed]), ca.vertcat(*[lower(e) for e in self.closed.values()])

    def leaves(self) -> dict[sp.Basic, ca.SX]:
        """What each letter is on the graph: rates and quasi-velocities in terms of the state."""
        leaves: dict[sp.Basic, ca.SX] = {
            s: g for s, g in self.mechanics.variables.lower.memo.items() if isinstance(s, Letter)
        }
        leaves.update({q.rate: self.chart.K[i] for i, q in enumerate(self.model.coordinates)})
        others = {u: graph for u, graph in self.quasi_velocities.items() if u not in self.speeds}
        leaves.update({u: self.chart.in_speeds(graph) for u, graph in others.items()})
        leaves.update({s: self.chart.u[i] for i, s in enumerate(self.speeds)})
        return leaves

    def formula(self, expression: Any, rates: Sequence[ca.SX] = ()) -> ca.SX:
        """Any formula in coordinates, speeds, extra states, their rates, inputs, parameters and time, on the graph.

        Args:
            expression: The formula.
            rates: Accelerations, jerks, ... on the graph, as far as the formula may contain them; with accelerations it
                may contain rates of the speeds as well.
        """
        expression = formula_of(expression, "What is asked for")
        leaves = self.leaves()
        letters = letters_in(expression)
        if any(z.rate in letters for z in self.model.states):
            leaves.update({z.rate: self.zdot[i] for i, z in enumerate(self.model.states)})
        if self.model.programme and any(isinstance(s, Rate) and s.order > 2 for s in letters):
            leaves.update(self._jets)
        for order, column in enumerate(rates, 2):
            leaves.update({q.derivative(order): column[i] for i, q in enumerate(self.model.coordinates)})
        for u, graph in self.quasi_velocities.items() if rates else ():
            if u.rate in letters:
                udot = ca.substitute(self.mechanics.derivative(graph), self.mechanics.a, rates[0])
                leaves[u.rate] = self.chart.in_speeds(udot)
        for symbol in letters:
            if symbol not in leaves:
                check_letter(self.model, symbol, f"the formula {quoted(expression)}")
                lacking = f"{symbol} does not occur in the model, so the formula {quoted(expression)} has no value here"
                added = f"; add it by model.with_parameters({symbol})" if isinstance(symbol, Parameter) else ""
                raise ModelError(f"{lacking}{added}.")
        return self.with_laws(Lowering(leaves)(expression))

    @cached_property
    def _jets(self) -> dict[sp.Basic, ca.SX]:
        """The derivatives of order 3 and more that a programme demands, along the motion."""
        model, along = self.model, Along(self.mechanics)
        orders = range(3, max(row.order for row in model.programme) + 1)
        columns = {k: self.chart.in_speeds(along.jet(k)) for k in orders}
        return {q.derivative(k): columns[k][i] for k in orders for i, q in enumerate(model.coordinates)}

    @cached_property
    def acceleration(self) -> ca.SX:
        """y as a straight-line graph, nothing inverted."""
        if self.solution is not None:
            return self.with_laws(self.solution)
        A, b = self.with_laws(self.A), self.with_laws(self.b)
        return solve_spd(A, b) if self.definite else solve(A, b)

    @cached_property
    def xdot(self) -> ca.SX:
        """The right-hand side: x' in t, x, w, p."""
        return self.unshared if self.plain else ca.cse(self.unshared)

    @property
    def plain(self) -> bool:
        """Whether so little stands twice in x' that looking for it would cost more."""
        return self.chart.u is self.mechanics.variables.v and not self.closed

    @cached_property
    def unshared(self) -> ca.SX:
        """The same as it was derived, what stands twice in it computed twice."""
        udot = self.with_laws(self.udot)
        known = self.acceleration
        if not (udot.shape == self.y.shape and ca.is_equal(udot, self.y, 0)):
            known = ca.substitute(udot, self.y, known)
        return ca.densify(ca.vertcat(self.chart.K, known, self.zdot))

    @cached_property
    def zdot(self) -> ca.SX:
        """The rates of the extra states in t, x, w, p."""
        zdot = self.with_laws(self.chart.zdot)
        if self.y.numel() and ca.depends_on(zdot, self.y):  # equations of higher order: accelerations are states
            zdot = ca.substitute(zdot, self.y, self.acceleration)
        return zdot

    @cached_property
    def qddot(self) -> ca.SX:
        """q'' in t, x, w, p; what all formulations must agree on."""
        a = self.with_laws(self.chart.a)
        return ca.substitute(a, self.y, self.acceleration) if self.y.numel() else a

    @cached_property
    def rhs(self) -> ca.Function:
        """x' = f(t, x, w, p) as a CasADi function."""
        return ca.Function("rhs", self.arguments, [self.xdot], ["t", "x", "w", "p"], ["xdot"])

    @cached_property
    def operations(self) -> int:
        """How many arithmetic operations one right-hand side takes."""
        return operations(self.rhs)

    def close(self, laws: Mapping[Input | str, Any]) -> Equations:
        """The same equations with inputs given by formulas in the state: a feedback compiled into the graph.

        Args:
            laws: For each input, or its name, a formula in coordinates, rates, speeds, extra states, parameters, other
                open inputs and time.
        """
        if not isinstance(laws, Mapping):
            raise ModelError(f"Laws are given by input, equations.close({{tau: -k * x}}); got {quoted(laws)}.")
        closed, chosen = dict(self.closed), self.formulation.speeds or {}
        named = {w.label: w for w in self.inputs}
        for name in laws:
            if key(name) not in named:
                raise ModelError(f"{name} is not an open input of this model; open are: {', '.join(named) or 'none'}.")
        laws = {named[key(name)]: law for name, law in laws.items()}
        for w, law in laws.items():
            law = formula_of(law, f"The law of {w}").xreplace({z.rate: rate for z, rate in self.model.states.items()})
            law = law.xreplace({u: sp.sympify(chosen[u]) for u in chosen if u not in self.speeds})
            if letters_in(law) & set(laws):
                raise ModelError(f"The law of {w} contains a closed input: {quoted(law)}.")
            self.formula(law)
            closed[w] = law
        changing = [w.label for w, law in closed.items() if not all(isinstance(s, Parameter) for s in letters_in(law))]
        refuse_changing(self.mechanics, changing)
        return replace(self, closed=closed)

    def summary(self) -> str:
        """One paragraph: states, equations, speeds, operations, rows left out."""
        lines = [
            f"{self.model.name} by {self.formulation.name}: {len(self.states)} states, "
            f"{len(self.unknowns)} equation{'s' * (len(self.unknowns) != 1)}, "
            f"{'multipliers among the unknowns' if self.formulation.multipliers else 'no multipliers'}, "
            f"{self.operations} operation{'s' * (self.operations != 1)}",
            "speeds: " + (", ".join(map(str, self.speeds)) or "none"),
        ]
        if self.dependent:
            lines.append("dependent: " + ", ".join(map(str, self.dependent)))
        if self.redundant_rows:
            lines.append("redundant rows left out: " + ", ".join(self.redundant_rows))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.summary()

    def to_sympy(self) -> tuple[sp.Matrix, sp.Matrix]:
        """A and b of A y = b as SymPy matrices in the letters of the model, for formulas of your own.

        They are what the graph has, not simplified, and long for big models: SymPy writes out what a graph shares.

        Example:
            >>> import appell as ap
            >>> equations = ap.derive(ap.library.knife_edge())
            >>> A, b = equations.to_sympy()
            >>> sp.simplify(A.LUsolve(b)), equations.unknowns
            (Matrix([
            [g*sin(alpha)*cos(phi)**2 - phi'*x'*tan(phi)],
            [                                          0]]), (x'', phi''))
        """
        from appell.graph.raising import raised

        letters = ((t,), self.states, self.inputs, self.model.parameters)
        A, b = (raised(self.with_laws(e), self.arguments, letters) for e in (self.A, self.b))
        return A, b

    def latex(self, simplify: bool | None = None) -> str:
        """The equations in LaTeX, raised from the graph that runs.

        Args:
            simplify: Simplify (True), name intermediate quantities (False), or decide by size (None).
        """
        from appell.reading import latex

        return latex(self, simplify)

    def text(self, simplify: bool | None = None) -> str:
        """The equations as plain text; argument as for `latex`."""
        from appell.reading import text

        return text(self, simplify)

    def show(self) -> None:
        """Print the equations: typeset in a notebook, as text elsewhere."""
        from appell.reading import show

        show(self)

    def _repr_latex_(self) -> str | None:
        """For notebooks; long equations show their summary there, and all of them when asked for by `show`."""
        from appell.reading import TYPESET

        return "$$" + self.latex() + "$$" if self.operations <= TYPESET else None


def _again(formulation: AbstractFormulation, model: Model, split: Split, closed: Mapping[Input, sp.Expr]) -> Equations:
    """The same equations from their words."""
    equations = formulation.derive(Mechanics(model), split)
    return equations.close(closed) if closed else equations
