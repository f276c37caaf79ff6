"""The shortest of several ways to write a sum: common factors, groups by velocities, by angles, by parameters."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.polys.domains import QQ

from appell.graph.sums import ONE, Monomial, Rational, Sum, common, inverse, plus, shifted, sign, times
from appell.model.symbols import letters_in
from appell.reading.laurent import Laurent, TooLong
from appell.reading.letters import BRACKETS, weight
from appell.reading.trigonometry import Trigonometry
from appell.reading.written import Written, measured, powers, product, rational, term_weight, total

LONGEST = 80  # sums of more terms are nothing to read
PROMISING = 4  # so many forms, the shortest as they stand, are arranged
SQUARED = 6  # terms of a part of a sum whose squares of sines and cosines are looked at once more
NESTED = 3  # groups within groups
EFFORT = 1000  # terms of sums that were grouped, from which on there are no groups within groups
ROUNDING = 1e-13  # of decimal numbers that are added
SLACK = 4  # how much longer than the shortest known one a way may become before it is given up
KINDS = ("velocity", "angle", "parameter")  # what terms are grouped by


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
        self._effort = 0
        self._constant: dict[int, bool] = {}
        self._kinds: dict[int, tuple[bool, bool, bool]] = {}
        self._splits: dict[tuple[int, Monomial], tuple[Monomial, Monomial]] = {}
        self._sizes: dict[Monomial, tuple[int, int, bool]] = {}
        self._written: dict[tuple[Any, ...], Written] = {}

    def shortest(self, a: Sum) -> sp.Expr:
        """A sum in normal form, written as shortly as is found."""
        whole = self.algebra.whole(a)
        candidates = self._forms(a) + (self._forms(whole) if whole != a else [])
        if not candidates:
            raise TooLong
        promising = sorted(candidates, key=lambda form: self._plain(form).weight)[:PROMISING]
        return min((self._arranged(form) for form in candidates if form in promising), key=_length).formula

    def _forms(self, a: Sum) -> list[Sum]:
        forms = self.trigonometry.forms(a) if len(a) <= LONGEST else self.trigonometry.multiples(a)
        return [self._decimals_joined(form) for form in forms if len(form) <= LONGEST]

    def _decimals_joined(self, a: Sum) -> Sum:
        """One number for terms that differ in their decimal numbers only, whole or none where it is up to rounding."""
        formulas = self.algebra.formulas
        if not any(isinstance(formulas[g], sp.Float) for m in a for g, _ in m):
            return a
        numbers: dict[Monomial, list[tuple[Monomial, Rational]]] = {}
        for monomial, c in a.items():
            decimal = tuple(pair for pair in monomial if isinstance(formulas[pair[0]], sp.Float))
            rest = tuple(pair for pair in monomial if pair not in decimal)
            numbers.setdefault(rest, []).append((decimal, c))
        joined: Sum = {}
        for rest, listed in numbers.items():
            if not any(decimal for decimal, _ in listed):
                joined[rest] = listed[0][1]
                continue
            values = [float(c) * float(self.algebra.product(decimal)) for decimal, c in listed]
            value, size = sum(values), sum(map(abs, values))
            if abs(value - round(value)) > ROUNDING * size:
                joined[times(rest, ((self.algebra.generator(sp.Float(value)), 1),))] = QQ(1)
            elif round(value):
                joined[rest] = QQ(round(value))
        return joined

    def _arranged(self, a: Sum, depth: int = 0) -> Written:
        key = (depth > 0, *sorted(a.items()))
        if key not in self._written:
            if 1 < len(a) <= SQUARED and depth:  # what was taken apart may have squares that the whole had not
                a = min((a, self.trigonometry.best_squares(self.algebra.reduced(a))), key=len)
            outside = dict.fromkeys(common([a], clear=clear) for clear in (False, True))
            ways = [self._taken_out(a, shared, depth) for shared in outside] if a else [self._term(ONE, QQ(0))]
            self._written[key] = min(ways, key=_length)
        return self._written[key]

    def _taken_out(self, a: Sum, shared: Monomial, depth: int) -> Written:
        """Common factors before, the rest in its best grouping."""
        share = self.algebra.plain_content([a]) or QQ(1)
        if shared or share != 1 or len(a) == 1:
            share *= sign(a)
        rest = shifted(a, inverse(shared), 1 / share)
        if len(rest) == 1:
            return self._term(shared, share * next(iter(rest.values())))
        options = [product(self._term(shared, share), e) for e in self._rests(rest, depth)]
        if depth == 0 and share not in (1, -1):
            before = self._term(shared, QQ(1))
            options += [product(before, e) for e in self._rests(shifted(rest, ONE, share), depth)]
        return min(options, key=_length)

    def _term(self, monomial: Monomial, c: Rational) -> Written:
        """A number times a monomial."""
        if len(monomial) == 1 and isinstance(self.algebra.product(monomial), sp.Add):
            return measured(rational(c) * self.algebra.product(monomial), merges=False)
        count, body, decimal = self._monomial(monomial)
        return Written(lambda: rational(c) * self.algebra.product(monomial), c, count, body, decimal=decimal)

    def _plain(self, a: Sum) -> Written:
        """A sum as it stands."""
        if len(a) == 1:
            ((monomial, c),) = a.items()
            return self._term(monomial, c)
        terms = self._opened(a)
        if len(terms) < 2:
            return measured(self.algebra.formula(a))
        weight = len(terms) - 1 + sum(term_weight(c, *self._monomial(m)) for m, c in terms.items())
        return Written(lambda: self.algebra.formula(a), 1, 1, weight + BRACKETS, weight)

    def _opened(self, a: Sum) -> Sum:
        """What is left where a term is a sum that stands in a denominator elsewhere."""
        for monomial in a:
            if len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0] in self.algebra.denominators:
                rest = {m: c for m, c in a.items() if m != monomial}
                return self._opened(plus(rest, self.algebra.denominators[monomial[0][0]], a[monomial]))
        return a

    def _monomial(self, monomial: Monomial) -> tuple[int, int, bool]:
        """How many factors a monomial has, how much there is to read in them, and whether one is a decimal number."""
        if monomial not in self._sizes:
            listed = [self.algebra.formulas[g] ** e for g, e in monomial]
            factors = [e for e in listed if not isinstance(e, sp.Float)]
            body = sum(weight(e) + BRACKETS * isinstance(e, sp.Add) for e in factors)
            self._sizes[monomial] = len(factors), body, len(factors) < len(listed)
        return self._sizes[monomial]

    def _rests(self, a: Sum, depth: int) -> list[Written]:
        """Ways to write a sum without a common factor."""
        options = [self._plain(a)]
        factors = self.algebra.factors(a)
        if sum(e for _, e in factors) > 1:
            options.append(powers([(self._arranged(f, depth), e) for f, e in factors]))
        if depth < (NESTED if self._effort < EFFORT else 1):
            self._effort += len(a)
            for kind in range(len(KINDS)):
                for inside in (True, False):
                    longest = min(e.weight for e in options) + SLACK
                    grouped = self._grouped(a, kind, inside, depth, longest)
                    if grouped is not None:
                        options.append(grouped)
        return options

    def _grouped(self, a: Sum, kind: int, inside: bool, depth: int, longest: int) -> Written | None:
        """Terms that share a part are joined, then parts whose coefficients are proportional; None if it gets long."""
        groups: dict[Monomial, Sum] = {}
        for monomial, c in sorted(a.items()):
            part, rest = self._split(monomial, kind)
            if not inside:
                part, rest = rest, part
            groups.setdefault(part, {})[rest] = c
        joined: dict[tuple[tuple[Monomial, object], ...], Sum] = {}
        for part, coefficient in groups.items():
            lead = coefficient[min(coefficient)]
            normed = tuple(sorted((m, c / lead) for m, c in coefficient.items()))
            joined.setdefault(normed, {})[part] = lead
        if len(joined) == len(a) or (len(joined) == 1 and len(groups) == len(a)):
            return None
        terms: list[Written] = []
        length = len(joined) - 1
        for normed, parts in joined.items():
            first = next(iter(parts.values())) if len(normed) > 1 else QQ(sign(parts))
            share = (self.algebra.plain_content([parts]) or first) * sign(dict(normed))
            inner = {m: c * share for m, c in normed}
            outer = {m: c / share for m, c in parts.items()}
            terms.append(product(self._arranged(outer, depth + 1), self._arranged(inner, depth + 1)))
            length += terms[-1].weight
            if length > longest:
                return None
        return total(terms)

    def _split(self, monomial: Monomial, kind: int) -> tuple[Monomial, Monomial]:
        """The factors of a kind, and the others."""
        key = kind, monomial
        if key not in self._splits:
            has = self._has
            self._splits[key] = (
                tuple(pair for pair in monomial if has(pair[0])[kind]),
                tuple(pair for pair in monomial if not has(pair[0])[kind]),
            )
        return self._splits[key]

    def _has(self, generator: int) -> tuple[bool, bool, bool]:
        """Whether a generator is a velocity, an angle's function, a parameter."""
        if generator not in self._kinds:
            formula = self.algebra.formulas[generator]
            angle = isinstance(formula, sp.sin | sp.cos | sp.tan | sp.cot)
            self._kinds[generator] = formula in self.velocities, angle, self.is_parameter(generator)
        return self._kinds[generator]

    def is_parameter(self, generator: int) -> bool:
        """Whether a generator contains nothing that varies."""
        if generator not in self._constant:
            letters = letters_in(self.algebra.formulas[generator])
            self._constant[generator] = not any(s.varies for s in letters)
        return self._constant[generator]


def _length(written: Written) -> int:
    return written.weight
