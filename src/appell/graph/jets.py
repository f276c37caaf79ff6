"""Taylor series as arrays: a jet has its coefficients c_0 ... c_K = x^(k)/k! on the leading axis.

Sums are sums of arrays; products are Cauchy sums; a derivative is a shift. Everything works for numbers and, with
arrays of objects, for SymPy formulas or exact fractions.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np
import sympy as sp

Jet = np.ndarray


def from_derivatives(derivatives: Any) -> Jet:
    """c_k = x^(k)/k! from the derivatives x, x', x'', ... on the leading axis."""
    return _scaled(np.asarray(derivatives), lambda k, x: x / factorial(k))


def to_derivatives(jet: Jet) -> np.ndarray:
    """The derivatives x^(k) = k! c_k on the leading axis."""
    return _scaled(jet, lambda k, x: x * factorial(k))


def _scaled(values: np.ndarray, scale: Any) -> np.ndarray:
    if values.dtype == object:
        values = np.vectorize(sp.sympify, otypes=[object])(values) if values.size else values
    return np.stack([scale(k, values[k]) for k in range(len(values))])


def product(a: Jet, b: Jet) -> Jet:
    """(a b)_k = sum_i a_i b_(k-i) of two jets of matrices (or of a jet of matrices and one of columns)."""
    return np.stack([sum(a[i] @ b[k - i] for i in range(k + 1)) for k in range(len(a))])


def sin_cos(x: Jet) -> tuple[Jet, Jet]:
    """Sine and cosine: s_k = (1/k) sum_i i x_i c_(k-i), c_k = -(1/k) sum_i i x_i s_(k-i)."""
    exact = x.dtype == object
    sine = np.vectorize(sp.sin, otypes=[object]) if exact else np.sin
    cosine = np.vectorize(sp.cos, otypes=[object]) if exact else np.cos
    s, c = [sine(x[0])], [cosine(x[0])]
    for k in range(1, len(x)):
        s.append(sum(i * x[i] * c[k - i] for i in range(1, k + 1)) / k)
        c.append(-sum(i * x[i] * s[k - i] for i in range(1, k + 1)) / k)
    return np.stack(s), np.stack(c)
