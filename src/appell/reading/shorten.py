"""The shortest of several ways to write a sum: common factors, groups by velocities, by angles, by parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from appell.reading.laurent import Laurent, TooLong
from appell.reading.letters import weight
from appell.reading.sums import ONE, Monomial, Sum, common, content, inverse, shifted, sign
from appell.reading.trigonometry import Trigonometry

LONGEST = 80  # sums of more terms are nothing to read
NESTED = 3  # groups within groups


class Shortener:
    """Writes sums.

    Args:
        algebra: The generators of the sums.
        velocities: The letters that are velocities.
    """

    def __init__(self, algebra: Laurent, velocities: set[sp.Symbol]) -> None:
        self.algebra = algebra
        self.trigonometry = Trigonometry(algebra)
        self.velocities = velocities
        self._constant: dict[int, bool] = {}
        self._written: dict[tuple[Any, ...], sp.Expr] = {}

    def shortest(self, a: Sum) -> sp.Expr:
        """A sum in normal form, written as shortly as is found."""
        whole = self.algebra.whole(a)
        candidates = self._forms(a) + (self._forms(whole) if whole != a else [])
        if not candidates:
            raise TooLong
        return min((self._arranged(form) for form in candidates), key=weight)

    def _forms(self, a: Sum) -> list[Sum]:
        forms = self.trigonometry.forms(a) if len(a) <= LONGEST else self.trigonometry.multiples(a)
        return [form for form in forms if len(form) <= LONGEST]

    def _arranged(self, a: Sum, depth: int = 0) -> sp.Expr:
        if not a:
            return sp.Integer(0)
        key = (depth > 0, *sorted(a.items()))
        if key not in self._written:
            outside = dict.fromkeys(common([a], clear=clear) for clear in (False, True))
            self._written[key] = min((self._taken_out(a, shared, depth) for shared in outside), key=weight)
        return self._written[key]

    def _taken_out(self, a: Sum, shared: Monomial, depth: int) -> sp.Expr:
        """Common factors before, the rest in its best grouping."""
        share = content(a.values())
        if shared or share != 1 or len(a) == 1:
            share *= sign(a)
        before = self.algebra.product(shared)
        rest = shifted(a, inverse(shared), 1 / share)
        number = _rational(share)
        if len(rest) == 1:
            return number * before * _rational(*rest.values())
        options = [_times(number * before, e) for e in self._rests(rest, depth)]
        if depth == 0 and number not in (1, -1):
            options += [_times(before, e) for e in self._rests(shifted(rest, ONE, share), depth)]
        return min(options, key=weight)

    def _rests(self, a: Sum, depth: int) -> list[sp.Expr]:
        """Ways to write a sum without a common factor."""
        options = [self.algebra.formula(a)]
        factors = self.algebra.factors(a)
        if sum(e for _, e in factors) > 1:
            options.append(sp.Mul(*(self._arranged(f, depth) ** e for f, e in factors)))
        if depth < NESTED:
            options += self._groups(a, depth)
        return options

    def _groups(self, a: Sum, depth: int) -> list[sp.Expr]:
        kinds: list[Callable[[int], bool]] = [self._is_velocity, self._is_angle, self.is_parameter]
        written = []
        for kind in kinds:
            for inside in (True, False):
                grouped = self._grouped(a, kind, inside, depth)
                if grouped is not None:
                    written.append(grouped)
        return written

    def _grouped(self, a: Sum, kind: Callable[[int], bool], inside: bool, depth: int) -> sp.Expr | None:
        """Terms that share a part are joined, then parts whose coefficients are proportional."""
        groups: dict[Monomial, Sum] = {}
        for monomial, c in sorted(a.items()):
            part = tuple(pair for pair in monomial if kind(pair[0]) == inside)
            rest = tuple(pair for pair in monomial if kind(pair[0]) != inside)
            groups.setdefault(part, {})[rest] = c
        joined: dict[tuple[tuple[Monomial, object], ...], Sum] = {}
        for part, coefficient in groups.items():
            lead = coefficient[min(coefficient)]
            normed = tuple(sorted((m, c / lead) for m, c in coefficient.items()))
            joined.setdefault(normed, {})[part] = lead
        if len(joined) == len(a) or (len(joined) == 1 and len(groups) == len(a)):
            return None
        terms = []
        for normed, parts in joined.items():
            share = content(parts.values()) * sign(dict(normed))
            inner = {m: c * share for m, c in normed}
            outer = {m: c / share for m, c in parts.items()}
            terms.append(_times(self._arranged(outer, depth + 1), self._arranged(inner, depth + 1)))
        return sp.Add(*terms)

    def _is_velocity(self, generator: int) -> bool:
        return self.algebra.formulas[generator] in self.velocities

    def _is_angle(self, generator: int) -> bool:
        return isinstance(self.algebra.formulas[generator], sp.sin | sp.cos | sp.tan | sp.cot)

    def is_parameter(self, generator: int) -> bool:
        """Whether a generator contains nothing that varies."""
        if generator not in self._constant:
            letters = self.algebra.formulas[generator].free_symbols
            self._constant[generator] = not any(s.varies for s in letters)
        return self._constant[generator]


def _rational(c: object) -> sp.Rational:
    return sp.Rational(int(c.numerator), int(c.denominator))


def _times(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    """A product in which a number is not multiplied into a sum."""
    if a == 1:
        return b
    if b == 1:
        return a
    if isinstance(a, sp.Add) and isinstance(b, sp.Number):
        a, b = b, a
    if isinstance(a, sp.Number) and isinstance(b, sp.Add):
        return sp.Mul(a, b, evaluate=False)
    return a * b
