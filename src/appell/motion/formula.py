"""Formulas along a motion, whose choice of speeds may change."""

from __future__ import annotations

import casadi as ca
import sympy as sp

from appell.code.code import Code
from appell.equations import Equations
from appell.errors import ModelError
from appell.kinematics.acceleration_energies import acceleration_energy
from appell.model.symbols import Coordinate, Rate, letters_in
from appell.motion.flow import Flow


def formula_function(equations: Equations, formula: sp.Expr) -> ca.Function:
    """A formula as a function of t, x, w, p in the present choice of speeds, and of q'', q''', ... if it has them."""
    order = order_of(formula)
    rates = rates_of_rates(equations, order)
    graph = equations.formula(formula, rates)
    needed = rates if order > 2 or ca.depends_on(graph, rates[0]) else []
    return ca.Function("formula", [*equations.arguments, *needed], [ca.densify(graph)])


def energy_function(equations: Equations, p: int) -> ca.Function:
    """E_A^(p) as a function of t, x, w, p, q'', ..., q^(p+1)."""
    rates = rates_of_rates(equations, p + 1)
    energy = acceleration_energy(equations.mechanics, [equations.mechanics.variables.q, equations.chart.K, *rates])
    return ca.Function("energy", [*equations.arguments, *rates], [ca.densify(equations.in_state(energy))])


def rates_of_rates(equations: Equations, order: int) -> list[ca.SX]:
    """Letters for q'', ..., q^(order)."""
    a = equations.mechanics.a
    return [a, *(ca.SX.sym(f"jet{k}", a.numel()) for k in range(3, order + 1))][: max(0, order - 1)]


def with_rates(function: ca.Function, code: Code, flow: Flow | None) -> ca.Function:
    """A function of t, x, w, p, q'', q''', ... as one of t, x, w, (p, s), with those of a flow in its modes s."""
    t, x, w, p = arguments = code.equations.arguments
    xdot, a = code.equations.xdot, code.equations.qddot
    if flow is not None:  # what sticks stays at rest, so that kinks are not to be differentiated as they are written
        arguments = [t, x, w, ca.SX.sym("numbers", flow.rhs.nnz_in(3))]
        p = arguments[3][: p.numel()]
        xdot = flow.rhs(*arguments)
        a = code.second.function(t, x, w, p, xdot)
    rates = [a]
    while len(rates) < function.n_in() - len(arguments):
        rates.append(ca.jtimes(rates[-1], ca.vertcat(t, x), ca.vertcat(ca.SX(1), xdot)))
    return ca.Function("along", arguments, [ca.densify(function(t, x, w, p, *rates))], {"cse": True})


def order_of(formula: sp.Expr) -> int:
    """The highest order of a derivative of a coordinate in a formula, at least that of accelerations."""
    rates = (s for s in letters_in(formula) if isinstance(s, Rate) and isinstance(s.base, Coordinate))
    return max((2, *(rate.order for rate in rates)))


def check_formula(equations: Equations, formula: sp.Expr, by_python: bool) -> None:
    """Raise if a formula has no value along a motion; `by_python` says whether inputs come from Python functions."""
    order = order_of(formula)
    equations.formula(formula, rates_of_rates(equations, order))
    if by_python:
        refuse_unknown_rates(equations, order)


def refuse_unknown_rates(equations: Equations, order: int) -> None:
    """Raise if derivatives of this order contain rates of inputs, which a Python function does not tell."""
    w = equations.arguments[2]
    acting = [s.label for i, s in enumerate(equations.inputs) if order > 2 and ca.depends_on(equations.qddot, w[i])]
    if acting:
        raise ModelError(
            f"Derivatives of order {order} contain the rates of the inputs {', '.join(acting)}, which a Python "
            "function does not tell. Give the inputs as formulas in time and state, or hold them between samples by "
            "rate=..."
        )
