"""A way to write a sum: how much there is to read in it, known without making the formula, and the formula itself.

Many ways are compared and one is kept, so that formulas are made of the winner only. Lengths are those that
`letters.weight` gives for the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy as sp

from appell.reading.letters import BRACKETS, weight


class Written:
    """A product: a number, and factors of which one may be a sum in brackets.

    Args:
        make: Makes the formula.
        number: The rational number in front.
        count: How many other factors there are.
        body: How much there is to read in these, brackets included, signs between them not.
        alone: How much there is to read in the sum, if that is all there is.
        decimal: Whether a decimal number is among the factors: it and the number in front are worked out as one.
        merges: Whether there is something in it that may be cancelled by what it meets.
    """

    __slots__ = ("_formula", "_make", "body", "count", "decimal", "merges", "number", "weight")

    def __init__(
        self,
        make: Callable[[], sp.Expr],
        number: Any,
        count: int,
        body: int,
        alone: int | None = None,
        decimal: bool = False,
        merges: bool = False,
    ) -> None:
        self._make, self._formula, self.decimal, self.merges = make, None, decimal, merges
        self.number, self.count, self.body = number, count, body
        self.weight = alone if alone is not None else term_weight(number, count, body, decimal)

    @property
    def formula(self) -> sp.Expr:
        """What is written."""
        if self._formula is None:
            self._formula = self._make()
        return self._formula


def term_weight(number: Any, count: int, body: int, decimal: bool = False) -> int:
    """How much there is to read in a product, as `Written` has it."""
    if decimal:
        return body + count + 1
    if number.denominator != 1:
        return body + count + 2
    return max(1, body + count - 1) if number.numerator in (1, -1) else body + count + 1


def measured(formula: sp.Expr, merges: bool = True) -> Written:
    """A formula that is already made. Arguments as for `Written`."""
    if isinstance(formula, sp.Add):
        length = weight(formula)
        return Written(lambda: formula, 1, 1, length + BRACKETS, length, merges=merges)
    factors = [e for e in sp.Mul.make_args(formula) if e not in (1, -1)]
    body = sum(weight(e) + BRACKETS * isinstance(e, sp.Add) for e in factors)
    return Written(lambda: formula, 1, len(factors), body, weight(formula), merges=merges)


def rational(c: Any) -> sp.Rational:
    """A number of SymPy's rational domain as a formula."""
    return sp.Rational(int(c.numerator), int(c.denominator))


def total(terms: Sequence[Written]) -> Written:
    """A sum."""
    if len(terms) == 1:
        return terms[0]
    if any(e.merges for e in terms):
        return measured(sp.Add(*(e.formula for e in terms)))
    length = sum(e.weight for e in terms) + len(terms) - 1
    return Written(lambda: sp.Add(*(e.formula for e in terms)), 1, 1, length + BRACKETS, length)


def product(a: Written, b: Written) -> Written:
    """A product in which a number is not multiplied into a sum."""
    if a.merges or b.merges:
        return measured(_times(a.formula, b.formula))
    if not a.count and a.number == 1 and not a.decimal:
        return b
    if not b.count and b.number == 1 and not b.decimal:
        return a
    number, count, body = a.number * b.number, a.count + b.count, a.body + b.body
    return Written(lambda: _times(a.formula, b.formula), number, count, body, decimal=a.decimal or b.decimal)


def powers(factors: Sequence[tuple[Written, int]]) -> Written:
    """A product of powers."""
    if any(e.merges or not e.count for e, _ in factors):
        return measured(sp.Mul(*(e.formula**exponent for e, exponent in factors)))
    number, count, body = 1, 0, 0
    for e, exponent in factors:
        number, count = number * e.number**exponent, count + e.count
        body += e.body + (e.count if exponent > 1 else 0)
    decimal = any(e.decimal for e, _ in factors)
    return Written(
        lambda: sp.Mul(*(e.formula**exponent for e, exponent in factors)), number, count, body, decimal=decimal
    )


def _times(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    if a == 1:
        return b
    if b == 1:
        return a
    if isinstance(a, sp.Add) and isinstance(b, sp.Number):
        a, b = b, a
    if isinstance(a, sp.Number) and isinstance(b, sp.Add):
        return sp.Mul(a, b, evaluate=False)
    return a * b
