"""SymPy leaves: from the graph that runs back to formulas that one can read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import sympy as sp

from appell.graph.replay import ARITHMETIC, Algebra, replay

_ALGEBRA: Algebra = {
    **ARITHMETIC,
    "exp": sp.exp,
    "log": sp.log,
    "sqrt": sp.sqrt,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "asin": sp.asin,
    "acos": sp.acos,
    "atan": sp.atan,
    "atan2": sp.atan2,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "asinh": sp.asinh,
    "acosh": sp.acosh,
    "atanh": sp.atanh,
    "erf": sp.erf,
    "fabs": sp.Abs,
    "sign": sp.sign,
    "floor": sp.floor,
    "ceil": sp.ceiling,
    "fmin": sp.Min,
    "fmax": sp.Max,
    "lt": lambda a, b: sp.Piecewise((1, a < b), (0, True)),
    "le": lambda a, b: sp.Piecewise((1, a <= b), (0, True)),
    "eq": lambda a, b: sp.Piecewise((1, sp.Eq(a, b)), (0, True)),
    "ne": lambda a, b: sp.Piecewise((1, sp.Ne(a, b)), (0, True)),
    "not": lambda a: 1 - a,
    "and": lambda a, b: a * b,
    "or": sp.Max,
    "if_else_zero": lambda c, a: c * a,
    "hypot": lambda a, b: sp.sqrt(a**2 + b**2),
    "copysign": lambda a, b: -a,  # the form that one reads: sin(u)/u, see `appell.graph.removable`
}

ROUNDED = 5e-16  # share by which a product of numbers, such as 3 times 1/5 or 4/3 pi, may be off


def _number(value: float) -> sp.Expr:
    """Short fractions and multiples of pi as a person would write them, everything else as it is."""
    exact, textbook = (sp.Rational(value).limit_denominator(d) for d in (10_000, 9))
    if float(exact) == value:
        return exact
    share = sp.Rational(value / float(sp.pi)).limit_denominator(360)
    near = (e for e in (textbook, share * sp.pi) if abs(float(e) - value) <= ROUNDED * abs(value))
    return next(near, sp.Float(value))


def raised(expression: ca.SX, leaves: Sequence[ca.SX], letters: Sequence[Sequence[Any]]) -> sp.Matrix:
    """The formulas of a graph.

    Args:
        expression: A matrix on the graph.
        leaves: The graph's symbols, as columns.
        letters: The SymPy letters that stand for them.
    """
    dense = ca.densify(expression)
    function = ca.Function("raised", list(leaves), [dense])
    entries = replay(function, letters, _ALGEBRA, _number)[0]
    rows, columns = dense.shape
    return sp.Matrix(rows, columns, lambda i, j: sp.sympify(entries[i + j * rows]))
