"""Sums of products with integer exponents of any sign, as dictionaries: monomial -> coefficient."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import gcd, lcm
from typing import Any

from sympy.polys.domains import QQ

Monomial = tuple[tuple[int, int], ...]  # (number of a generator, exponent), in the order of the numbers
Rational = Any  # an element of SymPy's domain QQ, or a float
Sum = dict[Monomial, Rational]

ONE: Monomial = ()


def times(a: Monomial, b: Monomial) -> Monomial:
    """The product of two monomials."""
    if not a:
        return b
    if not b:
        return a
    exponents = dict(a)
    for generator, exponent in b:
        exponents[generator] = exponents.get(generator, 0) + exponent
    return tuple(sorted((g, e) for g, e in exponents.items() if e))


def inverse(a: Monomial) -> Monomial:
    """One over a monomial."""
    return tuple((g, -e) for g, e in a)


def plus(a: Sum, b: Sum, factor: Rational = 1) -> Sum:
    """a + factor b."""
    total = dict(a)
    for monomial, c in b.items():
        value = total.get(monomial, 0) + factor * c
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def shifted(a: Sum, by: Monomial, factor: Rational = 1) -> Sum:
    """A sum times one monomial, not reduced."""
    return {times(m, by): c * factor for m, c in a.items()} if by or factor != 1 else a


def content(coefficients: Iterable[Rational]) -> Rational:
    """The largest rational that leaves integers without a common factor."""
    listed = list(coefficients)
    above = reduce(gcd, (abs(int(c.numerator)) for c in listed), 0)
    below = reduce(lcm, (int(c.denominator) for c in listed), 1)
    return QQ(above or 1, below)


def sign(a: Sum) -> int:
    """-1 if more terms are negative than positive."""
    return -1 if 2 * sum(c < 0 for c in a.values()) > len(a) else 1


def common(sums: Iterable[Sum], among: Iterable[int] | None = None, clear: bool = False) -> Monomial:
    """The monomial that all terms share; with `clear`, one that also takes out every denominator."""
    exponents: dict[int, list[int]] = {}
    terms = 0
    for monomial in (m for a in sums for m in a):
        terms += 1
        for generator, exponent in monomial:
            exponents.setdefault(generator, []).append(exponent)
    shared = []
    for generator in sorted(exponents if among is None else exponents.keys() & set(among)):
        listed = exponents[generator]
        least, most = min(listed), max(listed)
        if len(listed) < terms:
            least, most = min(least, 0), max(most, 0)
        shared.append((generator, least if clear or least > 0 else min(most, 0)))
    return tuple(pair for pair in shared if pair[1])


def generators(a: Sum) -> list[int]:
    """The generators of a sum, in order."""
    return sorted({g for m in a for g, _ in m})
