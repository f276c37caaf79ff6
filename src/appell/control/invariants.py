"""The smallest number of controls: invariant polynomials, exactly or by numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.normalforms import invariant_factors

from appell.analysis.balance import balanced
from appell.analysis.linearize import Linearization
from appell.analysis.roots import clusters, in_words
from appell.errors import ControlError


@dataclass(frozen=True, eq=False)
class MinimumControls:
    """How many inputs a system needs at least, wherever they act.

    Attributes:
        number: The number.
        root: The root that asks for so many.
        multiplicities: Geometric multiplicity of every distinct root.
        polynomials: Invariant polynomials other than 1, if they were computed exactly.
    """

    number: int
    root: complex
    multiplicities: Mapping[complex, int]
    polynomials: tuple[sp.Poly, ...] = ()

    def __repr__(self) -> str:
        text = f"at least {self.number} control{'s' * (self.number != 1)}"
        if self.number > 1 and not self.polynomials:
            text += f", because the root {in_words(np.array([self.root]))} has {self.number} independent modes"
        if self.polynomials:
            text += "; invariant polynomials " + ", ".join(str(p.as_expr()) for p in self.polynomials)
        return text


def minimum_controls(system: Linearization | Any) -> MinimumControls:
    r"""The number of invariant polynomials of $\lambda I - A$ other than 1, $\max_\lambda\dim\ker(A - \lambda I)$.

    With fewer inputs no choice of B makes the pair controllable; with so many almost every choice does, also if the
    inputs are forces. A linearisation or an array of floats is treated by numbers (roots clustered, kernels by
    singular values), a SymPy matrix or a list of integers and fractions exactly.

    Args:
        system: A linearisation or a square matrix.

    Returns:
        The number, with what asks for it.

    Example:
        >>> import sympy as sp
        >>> k = sp.Rational(1962, 100)
        >>> minimum_controls(sp.Matrix([[0, 0, 1, 0], [0, 0, 0, 1], [-k, 0, 0, 0], [0, -k, 0, 0]]))
        at least 2 controls; invariant polynomials lambda**2 + 981/50, lambda**2 + 981/50

    Reference: Krasinskiy 2025, section 7; Gantmacher 1959, ch. 6.
    """
    if isinstance(system, Linearization):
        return _by_numbers(system.A)
    if isinstance(system, np.ndarray) and system.dtype.kind == "f":
        return _by_numbers(system)
    matrix = _exact(system)
    if any(e.has(sp.Float) for e in matrix):
        return _by_numbers(np.array(matrix.tolist(), dtype=float))
    polynomials = invariant_polynomials(matrix)
    return MinimumControls(len(polynomials), complex("nan"), {}, polynomials)


def _by_numbers(A: np.ndarray) -> MinimumControls:
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ControlError(f"A square matrix is needed, got one of shape {A.shape}.")
    matrix = balanced(A)[0]
    size = float(np.linalg.norm(matrix, 2)) or 1.0
    found: dict[complex, int] = {}
    for root, count in clusters(A):
        values = np.linalg.svd(matrix - root * np.eye(len(A)), compute_uv=False)
        limit = 1e-9 if count == 1 else 1e-7
        found[root] = max(1, int(np.sum(values <= limit * size)))
    worst = max(found, key=lambda root: (found[root], root.imag), default=complex("nan"))
    return MinimumControls(found.get(worst, 0), worst, found)


def invariant_polynomials(matrix: Any) -> tuple[sp.Poly, ...]:
    """Invariant polynomials other than 1 of a matrix of exact numbers, each a divisor of the next.

    Args:
        matrix: A square matrix of integers, fractions or exact SymPy numbers without letters.

    Returns:
        Monic polynomials in lambda, the diagonal of Smith's normal form of lambda I - A.
    """
    matrix = _exact(matrix)
    if matrix.rows != matrix.cols or matrix.free_symbols or any(e.has(sp.Float) for e in matrix):
        raise ControlError("Invariant polynomials need a square matrix of exact numbers: integers or sympy.Rational.")
    lam = sp.Symbol("lambda")
    field = sp.QQ if all(e.is_Rational for e in matrix) else sp.EX
    ring = field[lam]
    rows = [[ring.from_sympy(e) for e in row] for row in (lam * sp.eye(matrix.rows) - matrix).tolist()]
    factors = invariant_factors(DomainMatrix(rows, matrix.shape, ring))
    found = (sp.Poly(ring.to_sympy(e), lam, domain=field).monic() for e in factors)
    return tuple(p for p in found if p.degree() > 0)


def _exact(given: Any) -> sp.Matrix:
    """A matrix of SymPy's numbers."""
    try:
        found = sp.Matrix(given)
    except (TypeError, ValueError, NotImplementedError):
        found = sp.zeros(0, 0)
    if not found or not all(isinstance(e, sp.Expr) for e in found):
        raise ControlError(
            f"Got {type(given).__name__}; give a linearisation, or a square matrix of integers or sympy.Rational."
        )
    return found
