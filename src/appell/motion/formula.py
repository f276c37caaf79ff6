"""Formulas along a motion, whose choice of speeds may change."""

from __future__ import annotations

import casadi as ca
import sympy as sp

from appell.equations import Equations
from appell.graph.lower import Lowering
from appell.model.symbols import Letter, Rate, letters_in


def formula_function(equations: Equations, original: Equations, formula: sp.Expr) -> ca.Function:
    """A formula as a function of the state in the present choice of speeds."""
    leaves = {s: original.chart.formulas[i] for i, s in enumerate(original.speeds)}
    missing = {s for s in letters_in(formula) if s in leaves and s not in equations.speeds and not isinstance(s, Rate)}
    a = equations.mechanics.a
    graph = equations.formula(formula, a) if not missing else equations.in_state(_in_rates(original, formula))
    arguments = [*equations.arguments, a] if ca.depends_on(graph, a) else equations.arguments
    return ca.Function("formula", arguments, [ca.densify(graph)])


def _in_rates(original: Equations, formula: sp.Expr) -> ca.SX:
    """A formula with quasi-velocities written in q and q'."""
    memo = {s: g for s, g in original.mechanics.variables.lower.memo.items() if isinstance(s, Letter)}
    memo.update({s: original.chart.formulas[i] for i, s in enumerate(original.speeds)})
    memo.update({q.rate.rate: original.mechanics.a[i] for i, q in enumerate(original.model.coordinates)})
    memo.update({z.rate: original.mechanics.variables.zdot[i] for i, z in enumerate(original.model.states)})
    return Lowering(memo)(formula)
