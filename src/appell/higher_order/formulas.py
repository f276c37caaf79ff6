"""Acceleration energies of small arms as formulas."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from appell.errors import ModelError
from appell.graph.series import from_derivatives
from appell.higher_order.expansion import expansion, term_names
from appell.kinematics.joint_frames import skeleton_of
from appell.kinematics.skeleton_energies import energy_series
from appell.model.chain import Chain
from appell.model.values import whole


def formula(chain: Chain, p: int, term: str | None = None) -> sp.Expr:
    """E_A^(p) of a chain, or one term of its expansion, in its coordinates, their rates and its parameters.

    The formula is a sum in normal form: sines occur at most once in a product, numbers are exact. For one to three
    joints that is a matter of seconds; for numbers use `Dynamics`, which has no such bound.

    Args:
        chain: The robot.
        p: The order; 0 is kinetic energy.
        term: Name of one term, such as `"2|11"`; all together if left out.

    Example:
        >>> import appell as ap
        >>> arm = ap.Chain([ap.Joint("z", mass=2, center=(0.5, 0, 0), inertia=(0, 0, 0.5))])
        >>> formula(arm, 1)
        q1'**4/2 + q1''**2/2
    """
    if not isinstance(chain, Chain):
        raise ModelError(
            f"Formulas of acceleration energies are for an appell.Chain, got {type(chain).__name__}; of other models "
            "motion.acceleration_energy(p) has the numbers along a motion."
        )
    p = whole("The order p", p, 0)
    if term is not None and term not in term_names(p):
        raise ModelError(f"E_A^({p}) has no term {term!r}; it has: {', '.join(term_names(p))}.")
    skeleton = skeleton_of(chain.symbolic, [link.joint for link in chain.links])
    rows = [[_exact(e) for e in row] for row in chain.series(p + 1).tolist()]
    if term is None:
        found = energy_series(skeleton, [from_derivatives(row) for row in rows], p)[0]
    else:
        found = expansion(skeleton, rows, p, only=term)[term]
    return _normal(sp.expand(found), [row[0] for row in rows])


def _exact(variable: sp.Expr) -> sp.Expr:
    """The variable of a joint with fractions in place of floats."""
    return sp.nsimplify(variable, rational=True) if variable.has(sp.Float) else variable


def _normal(expression: sp.Expr, variables: Sequence[sp.Expr]) -> sp.Expr:
    """The expanded formula with sin^2 = 1 - cos^2 used up."""
    for q in dict.fromkeys(variables):
        s, c = sp.sin(q), sp.cos(q)
        if expression.has(s):
            expression = sp.rem(sp.Poly(expression, s), sp.Poly(s**2 + c**2 - 1, s)).as_expr().expand()
    return expression
