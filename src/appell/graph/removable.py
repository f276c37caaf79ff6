"""Quotients that are defined by their limits where both parts vanish: sin(u)/u and what is made of it.

sin(u)/u loses all its digits next to u = 0 as soon as it is differentiated, and is no number at it. There its power
series in u² takes its place, which is as good a function; the change of form is none of the function, so that it is no
kink: `copysign` on the graph says which form is computed.
"""

from __future__ import annotations

from math import factorial

import casadi as ca
import sympy as sp
from sympy.functions.elementary.trigonometric import sinc

ORDER = 14  # terms of the series, as good as sin(u)/u up to |u| = 4, where a step that began at |u| < 1 may end


def sinc_graph(square: ca.SX, u: ca.SX | None = None) -> ca.SX:
    """sin(u)/u with all its derivatives everywhere.

    Args:
        square: u².
        u: u itself; left out if it is a root, which has no rate at zero.
    """
    near = (1 + ca.SX.binary(ca.OP_COPYSIGN, ca.SX(1), 1 - square)) / 2
    far, inside = 1 - near, near * square  # far away the series would be larger than any number
    series = ca.SX(0)
    for k in range(ORDER, -1, -1):
        series = series * inside + (-1) ** k / factorial(2 * k + 1)
    away = ca.sqrt(near + far * square) if u is None else near + far * u
    return near * series + far * (ca.sin(away) / away)


def is_root(u: sp.Expr) -> bool:
    """Whether a formula contains a root or an absolute value, so that its square may have rates where it has none."""
    return u.has(sp.Abs) or any(power.exp.is_integer is not True for power in u.atoms(sp.Pow))


def regular(product: sp.Mul) -> sp.Expr:
    """The same product by sin(u)/u where that cancels what it is divided by, or itself if nothing cancels.

    Example:
        >>> x = sp.Symbol("x")
        >>> regular(sp.sin(2 * x) / x), regular((1 - sp.cos(x)) / x**2), regular(x * sp.sin(x))
        (2*sinc(2*x), sinc(x/2)**2/2, x*sin(x))
    """
    if not any(isinstance(e, sp.Pow) and e.exp.could_extract_minus_sign() for e in product.args):
        return product
    powers = product.as_powers_dict()
    below = {base: exponent.could_extract_minus_sign() for base, exponent in powers.items() if base.free_symbols}
    for factor, side in below.items():
        u, whole = _vanishing(factor)
        if u is not None and any(below.get(base, side) != side for base in u.as_powers_dict()):
            return sp.Mul(*((whole if base is factor else base) ** exponent for base, exponent in powers.items()))
    return product


def _vanishing(factor: sp.Expr) -> tuple[sp.Expr | None, sp.Expr]:
    """What makes a factor vanish, and the factor by sin(u)/u: sin(u), tan(u), c (1 - cos u)."""
    if isinstance(factor, sp.sin):
        u = factor.args[0]
        return u, u * sinc(u)
    if isinstance(factor, sp.tan):
        u = factor.args[0]
        return u, u * sinc(u) / sp.cos(u)
    if isinstance(factor, sp.Add) and len(factor.args) == 2:
        for one, other in (factor.args, factor.args[::-1]):
            cosine = -other / one
            if isinstance(cosine, sp.cos):
                u = cosine.args[0]
                return u, one * u**2 * sinc(u / 2) ** 2 / 2
    return None, factor
