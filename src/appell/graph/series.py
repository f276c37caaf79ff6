"""Taylor series over any algebra: a series is the list c_0 ... c_K of its coefficients c_k = x^(k)/k!.

Coefficients may be anything that adds and multiplies: letters of a graph, floats or arrays of floats, SymPy formulas,
exact fractions, dual numbers. What a series costs is a Cauchy sum per product, O(K^2), and the derivative is a shift.
The rules of one coefficient (`product_at`, `sin_cos_at`, ...) let an algorithm grow all its series order by order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

Series = list[Any]


def from_derivatives(derivatives: Sequence[Any]) -> Series:
    """c_k = x^(k)/k! from x, x', x'', ..."""
    return [divided(x, math.factorial(k)) for k, x in enumerate(derivatives)]


def to_derivatives(series: Series) -> list[Any]:
    """x^(k) = k! c_k."""
    return [math.factorial(k) * c for k, c in enumerate(series)]


def derivative(series: Series) -> Series:
    """The series of x': (k+1) c_(k+1), one coefficient shorter."""
    return [(k + 1) * c for k, c in enumerate(series[1:])]


def divided(x: Any, number: int) -> Any:
    """x/number, exact where x is."""
    if number == 1:
        return x
    if isinstance(x, int) and not isinstance(x, bool):
        return x // number if x % number == 0 else Fraction(x, number)  # 0 goes with letters of the graph
    return x / number


def product_at(a: Series, b: Series, k: int) -> Any:
    """(a b)_k = sum_i a_i b_(k-i)."""
    return sum((a[i] * b[k - i] for i in range(k + 1)), 0)


def product(a: Series, b: Series) -> Series:
    """The Cauchy product, as long as the shorter of the two."""
    return [product_at(a, b, k) for k in range(min(len(a), len(b)))]


def function(name: str, x: Any) -> Any:
    """sin, cos, tanh, sqrt or sign of a number, a letter of the graph, a formula, or an array of them."""
    if hasattr(x, name) and not isinstance(x, ca.SX | np.ndarray | np.generic):
        return getattr(x, name)()
    if isinstance(x, ca.SX):
        return getattr(ca, name)(x)
    if isinstance(x, sp.Basic):
        return getattr(sp, name)(x)
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.vectorize(lambda e: function(name, e), otypes=[object])(x)
    return getattr(np, name)(x)


def sin_cos_at(x: Series, s: Series, c: Series, k: int) -> tuple[Any, Any]:
    """s_k = (1/k) sum_i i x_i c_(k-i) and c_k = -(1/k) sum_i i x_i s_(k-i); at k = 0 the functions themselves."""
    if k == 0:
        return function("sin", x[0]), function("cos", x[0])
    rise = sum((i * x[i] * c[k - i] for i in range(1, k + 1)), 0)
    fall = sum((i * x[i] * s[k - i] for i in range(1, k + 1)), 0)
    return divided(rise, k), -divided(fall, k)


def sin_cos(x: Series) -> tuple[Series, Series]:
    """Sine and cosine of a series.

    Example:
        >>> [round(float(c), 6) for c in sin_cos([0.5, 1.0, 0.0])[0]]
        [0.479426, 0.877583, -0.239713]
    """
    s: Series = []
    c: Series = []
    for k in range(len(x)):
        sine, cosine = sin_cos_at(x, s, c, k)
        s.append(sine)
        c.append(cosine)
    return s, c


def tanh(x: Series) -> Series:
    """u = tanh x from u' = (1 - u^2) x'."""
    u: Series = [function("tanh", x[0])]
    for k in range(1, len(x)):
        slope = [(1 if i == 0 else 0) - product_at(u, u, i) for i in range(k)]
        u.append(divided(sum((i * x[i] * slope[k - i] for i in range(1, k + 1)), 0), k))
    return u


def sqrt(x: Series) -> Series:
    """r = sqrt x from r r = x: r_k = (x_k - sum_(0<i<k) r_i r_(k-i)) / (2 r_0)."""
    r: Series = [function("sqrt", x[0])]
    for k in range(1, len(x)):
        rest = x[k] - sum((r[i] * r[k - i] for i in range(1, k)), 0)
        r.append(rest / (2 * r[0]))
    return r


def apply(rule: Callable[[Series], Series], derivatives: Sequence[Any]) -> list[Any]:
    """Derivatives of f(x(t)) from the derivatives of x: the rule of f between the two scalings.

    Args:
        rule: A rule on series, such as `tanh`.
        derivatives: x, x', x'', ...

    Example:
        >>> [float(x) for x in apply(sqrt, [4.0, 1.0, 0.0])]
        [2.0, 0.25, -0.03125]
    """
    return to_derivatives(rule(from_derivatives(derivatives)))
