"""What the equations of a system leave along a course that need not be a motion: the residual A u' - b and its parts.

Nothing is solved for the accelerations: the rates are those of the course.
"""

from __future__ import annotations

import casadi as ca

from appell.equations import Equations
from appell.errors import FormulationError
from appell.graph.solve import solve_spd
from appell.kinematics.differentiated import Differentiated
from appell.model.mass_flow import Stream


def residual_along(equations: Equations) -> ca.Function:
    """What the equations leave for a given x': (t, x, x', w, p) -> A y - b, its size, the thrust, z'."""
    if equations.formulation.multipliers:
        raise FormulationError(
            f"{equations.formulation.name} has multipliers among its unknowns, and a motion does not show them; "
            "derive the system by GibbsAppell()."
        )
    if isinstance(equations.mechanics, Differentiated):
        raise FormulationError(
            f"{equations.formulation.name} has accelerations among its states, and the principle is about equations of "
            "motion that are not differentiated; derive the system by GibbsAppell()."
        )
    time, x, w, p = equations.arguments
    n, m = len(equations.coordinates), len(equations.speeds)
    rates = ca.SX.sym("rates", x.numel())
    y = _unknowns(equations, rates[n : n + m])
    A, b = equations.with_laws(equations.A), equations.with_laws(equations.b)
    size = ca.fabs(A) @ ca.fabs(y) + ca.fabs(b)
    thrust = ca.substitute(equations.with_laws(thrust_along(equations)), equations.y, y)
    outputs = [A @ y - b, size, thrust, equations.with_laws(equations.chart.zdot)]
    return ca.Function("along", [time, x, rates, w, p], [ca.densify(e) for e in outputs], {"cse": True})


def thrust_along(equations: Equations) -> ca.SX:
    """Phi*: the generalized force of all streams along the unknowns, in the state and y."""
    mechanics, chart = equations.mechanics, equations.chart
    pairs = zip(mechanics.forces, mechanics.model.forces, strict=False)  # forces of programmes stand behind
    Q = sum((f.Q for f, force in pairs if isinstance(force, Stream)), ca.SX.zeros(len(equations.coordinates)))
    Q = chart.in_speeds(ca.substitute(mechanics.variables.thaw(Q), mechanics.a, chart.a))
    return ca.jacobian(chart.a, chart.y).T @ Q


def rows_along(equations: Equations, vdot: ca.SX) -> ca.SX:
    """What the constraint rows, differentiated up to the accelerations, leave where all rates are kept."""
    mechanics, chosen = equations.mechanics, list(equations.split.rows)
    return mechanics.C[chosen, :] @ vdot - mechanics.gamma[chosen, :]


def _unknowns(equations: Equations, udot: ca.SX) -> ca.SX:
    """y for given rates of the speeds; where the speeds are redundant the y that comes nearest."""
    y, formula = equations.y, equations.with_laws(equations.udot)
    if formula.shape == y.shape and ca.is_equal(formula, y, 0):
        return udot
    slope = ca.jacobian(formula, y)
    if ca.depends_on(ca.vec(slope), y):
        raise FormulationError(
            f"The unknowns of {equations.formulation.name} are not linear in the rates of the speeds; derive the "
            "system by GibbsAppell() with the same speeds."
        )
    rest = ca.substitute(formula, y, ca.SX.zeros(y.numel()))
    return solve_spd(slope.T @ slope, slope.T @ (udot - rest))
