"""The shortest of several ways to write a sum: common factors, groups by velocities, by angles, by parameters."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from appell.reading.laurent import FACTORED, Laurent, Monomial, Sum, TooLong, common, content, inverse, shifted
from appell.reading.letters import weight
from appell.reading.trigonometry import Trigonometry

LONGEST = 160  # sums of more terms are nothing to read
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
        self._written: dict[tuple[tuple[Monomial, object], ...], sp.Expr] = {}

    def shortest(self, a: Sum) -> sp.Expr:
        """A sum in normal form, written as shortly as is found."""
        if len(a) > LONGEST:
            raise TooLong
        candidates = [self._arranged(form) for form in self.trigonometry.forms(a)]
        whole = self.algebra.whole(a)
        if whole != a:
            candidates += [self._arranged(form) for form in self.trigonometry.forms(whole)]
        return min(candidates, key=weight)

    def _arranged(self, a: Sum, depth: int = 0) -> sp.Expr:
        if not a:
            return sp.Integer(0)
        key = tuple(sorted(a.items()))
        if key not in self._written:
            options = [self._taken_out(a, clear, depth) for clear in (False, True)]
            self._written[key] = min(options, key=weight)
        return self._written[key]

    def _taken_out(self, a: Sum, clear: bool, depth: int) -> sp.Expr:
        """Common factors before, the rest in its best grouping."""
        shared, share = common([a], clear=clear), content(a.values())
        if all(c < 0 for c in a.values()) and (shared or share != 1 or len(a) == 1):
            share = -share
        rest = shifted(a, inverse(shared), 1 / share)
        outside = sp.Rational(int(share.numerator), int(share.denominator)) * self.algebra.product(shared)
        if len(rest) == 1:
            return outside * self._rational(*rest.values())
        plain = self.algebra.formula(rest)
        options = [_times(outside, plain)]
        if len(rest) <= FACTORED:
            factors = self.algebra.factors(rest)
            if len(factors) > 1 or factors[0][1] > 1:
                parts = [self._arranged(f, depth) ** e for f, e in factors]
                options.append(_times(outside, sp.Mul(*parts)))
        if depth < NESTED:
            options += [_times(outside, grouped) for grouped in self._groups(rest, depth)]
        return min(options, key=weight)

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
            share = content(parts.values())
            if all(c < 0 for c in parts.values()):
                share = -share
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
        formula = self.algebra.formulas[generator]
        return all(not s.varies for s in formula.free_symbols)

    @staticmethod
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
