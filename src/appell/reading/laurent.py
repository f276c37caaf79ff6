"""Sums of products with integer exponents of any sign: the algebra in which equations are brought to a normal form.

Generators are letters, sines and cosines, roots, denominators and any other function of these. Products are reduced
by s^2 = 1 - c^2 and r^2 = radicand, so that equal quantities get equal sums. Work is counted in products of terms,
not in seconds: the same equations come out the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import gcd, lcm

import sympy as sp
from sympy.polys.domains import QQ
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing

from appell.reading.letters import Shown

Monomial = tuple[tuple[int, int], ...]
Sum = dict[Monomial, object]  # coefficients are rationals of SymPy's domain QQ

ONE: Monomial = ()
FACTORED = 24  # sums of more terms are not factored
ARGUMENT = 8  # a radicand of more terms is not put in place of a squared root


class TooLong(Exception):
    """The normal form takes more work than it is worth."""


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


def plus(a: Sum, b: Sum, factor: object = 1) -> Sum:
    """a + factor b."""
    total = dict(a)
    for monomial, c in b.items():
        value = total.get(monomial, 0) + factor * c
        if value:
            total[monomial] = value
        else:
            total.pop(monomial, None)
    return total


def shifted(a: Sum, by: Monomial, factor: object = 1) -> Sum:
    """A sum times one monomial, not reduced."""
    return {times(m, by): c * factor for m, c in a.items()} if by or factor != 1 else a


def content(coefficients: Iterable[object]) -> object:
    """The largest rational that leaves integers without a common factor."""
    listed = list(coefficients)
    above = reduce(gcd, (abs(int(c.numerator)) for c in listed), 0)
    below = reduce(lcm, (int(c.denominator) for c in listed), 1)
    return QQ(above or 1, below)


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


class Laurent:
    """The generators, their relations, and a budget of work.

    Args:
        budget: How many products of two terms may be made.
    """

    def __init__(self, budget: int) -> None:
        self.left = budget
        self.formulas: list[sp.Expr] = []
        self.numbers: dict[sp.Expr, int] = {}
        self.sines: dict[int, int] = {}  # sine -> cosine of the same angle
        self.cosines: dict[int, int] = {}
        self.angles: dict[int, sp.Expr] = {}  # of a sine
        self.squares: dict[int, Sum] = {}  # of a root
        self.denominators: dict[int, Sum] = {}
        self._units: dict[Monomial, int] = {}

    def generator(self, formula: sp.Expr) -> int:
        """The number of a generator."""
        if formula not in self.numbers:
            self.numbers[formula] = len(self.formulas)
            self.formulas.append(formula)
        return self.numbers[formula]

    def atom(self, formula: sp.Expr) -> Sum:
        """A generator as a sum."""
        return {((self.generator(formula), 1),): QQ(1)}

    def spend(self, work: int) -> None:
        """Take work from the budget."""
        self.left -= work
        if self.left < 0:
            raise TooLong

    def multiply(self, a: Sum, b: Sum) -> Sum:
        """The product in normal form."""
        self.spend(len(a) * len(b))
        total: Sum = {}
        for m, c in a.items():
            for n, d in b.items():
                product = times(m, n)
                total[product] = total.get(product, 0) + c * d
        return self._reduced(total)

    def times_monomial(self, a: Sum, by: Monomial) -> Sum:
        """A sum times a monomial, in normal form."""
        return self._reduced(shifted(a, by))

    def _reduced(self, terms: Sum) -> Sum:
        total: Sum = {}
        waiting = [(m, c) for m, c in terms.items() if c]
        while waiting:
            monomial, c = waiting.pop()
            rule = self._rule(monomial)
            if rule is None:
                total[monomial] = total.get(monomial, 0) + c
                continue
            self.spend(1)
            square, replacement = rule
            rest = times(monomial, ((square, -2),))
            waiting.extend((times(rest, m), c * d) for m, d in replacement.items())
        return {m: c for m, c in total.items() if c}

    def _rule(self, monomial: Monomial) -> tuple[int, Sum] | None:
        for generator, exponent in monomial:
            if exponent >= 2 and generator in self.sines:
                return generator, self._pythagoras(self.sines[generator])
            if exponent >= 2 and generator in self.squares:
                return generator, self.squares[generator]
            if exponent >= 2 and generator in self.cosines and dict(monomial).get(self.cosines[generator], 0) < 0:
                return generator, self._pythagoras(self.cosines[generator])
        return None

    @staticmethod
    def _pythagoras(other: int) -> Sum:
        return {ONE: QQ(1), ((other, 2),): QQ(-1)}

    def flipped(self, a: Sum, cosine: int) -> Sum:
        """The same sum with c^2 = 1 - s^2 in place of s^2 = 1 - c^2; not in normal form."""
        sine = self.cosines[cosine]
        lowest = min(min((dict(m).get(cosine, 0) for m in a), default=0), 0)
        shift = ((cosine, -lowest),) if lowest else ONE
        total: Sum = {}
        waiting = list(shifted(a, shift).items())
        while waiting:
            self.spend(1)
            monomial, c = waiting.pop()
            exponent = dict(monomial).get(cosine, 0)
            if exponent < 2:
                total[monomial] = total.get(monomial, 0) + c
                continue
            rest = times(monomial, ((cosine, -2),))
            waiting.extend(((rest, c), (times(rest, ((sine, 2),)), -c)))
        return shifted({m: c for m, c in total.items() if c}, inverse(shift))

    def power(self, a: Sum, exponent: int) -> Sum:
        """An integer power."""
        if exponent < 0:
            return self.power(self.reciprocal(a), -exponent)
        result: Sum = {ONE: QQ(1)}
        for _ in range(exponent):
            result = self.multiply(result, a)
        return result

    def reciprocal(self, a: Sum) -> Sum:
        """One over a sum: of one term by its exponents, of several by a generator for each irreducible factor."""
        if not a:
            raise TooLong
        a = min((a, *(self.flipped(a, c) for c in self._cosines_in(a))), key=len)
        shared, share = common([a], clear=True), content(a.values())
        rest = shifted(a, inverse(shared), 1 / share)
        result: Sum = {ONE: 1 / share}
        for generator, exponent in shared:
            if generator in self.squares and exponent > 0:
                root: Sum = {((generator, exponent),): QQ(1)}
                over = self.power(self.reciprocal(self.squares[generator]), exponent)
                result = self.multiply(result, self.multiply(root, over))
            else:
                result = self.multiply(result, {((generator, -exponent),): QQ(1)})
        if len(rest) == 1:
            (c,) = rest.values()
            return shifted(result, ONE, 1 / c)
        for factor, exponent in self.factors(self._reduced(rest)):
            result = self.multiply(result, self._over(factor, exponent))
        return result

    def _over(self, factor: Sum, exponent: int) -> Sum:
        if len(factor) == 1:
            ((m, c),) = factor.items()
            return self.power({inverse(m): 1 / c}, exponent)
        number = self.generator(self.formula(factor))
        self.denominators[number] = factor
        return {((number, -exponent),): QQ(1)}

    def _cosines_in(self, a: Sum) -> list[int]:
        return sorted({g for m in a for g, e in m if e >= 2 and g in self.cosines})

    def to_ring(self, sums: Iterable[Sum]) -> tuple[PolyRing, list[int], list[object]]:
        """Sums without negative exponents as polynomials of SymPy."""
        sums = list(sums)
        used = sorted({g for a in sums for m in a for g, _ in m})
        place = {g: i for i, g in enumerate(used)}
        ring = PolyRing([f"x{i}" for i in range(max(len(used), 1))], QQ, lex)

        def dense(monomial: Monomial) -> tuple[int, ...]:
            exponents = [0] * ring.ngens
            for g, e in monomial:
                exponents[place[g]] = e
            return tuple(exponents)

        return ring, used, [ring.from_dict({dense(m): c for m, c in a.items()}) for a in sums]

    @staticmethod
    def _from_ring(polynomial: object, used: list[int]) -> Sum:
        return {
            tuple((used[i], e) for i, e in enumerate(exponents) if e): c
            for exponents, c in sorted(dict(polynomial).items())
        }

    def factors(self, a: Sum) -> list[tuple[Sum, int]]:
        """Irreducible factors of a sum without negative exponents; their product is the sum."""
        if len(a) > FACTORED or any(e < 0 for m in a for _, e in m):
            return [(a, 1)]
        _, used, (polynomial,) = self.to_ring([a])
        unit, listed = polynomial.factor_list()
        found = [(self._from_ring(f, used), int(e)) for f, e in listed]
        found.sort(key=lambda pair: sorted((m, c) for m, c in pair[0].items()))
        if unit != 1:
            found.insert(0, ({ONE: QQ(unit)}, 1))
        return found

    def quotient(self, a: Sum, b: Sum) -> Sum | None:
        """a / b if nothing is left over, for sums without negative exponents."""
        self.spend(len(a) * len(b))
        _, used, (above, below) = self.to_ring([a, b])
        whole, remainder = divmod(above, below)
        return None if remainder else self._from_ring(whole, used)

    def cleared(self, sums: Sequence[Sum]) -> tuple[list[Sum], Monomial]:
        """The sums times the powers of their denominators that make them free of these, and those powers."""
        lowest: dict[int, int] = {}
        for g, e in (pair for a in sums for m in a for pair in m):
            if g in self.denominators:
                lowest[g] = min(lowest.get(g, 0), e)
        for g, least in sorted(lowest.items()):
            sums = [self._times_power(a, g, -least) for a in sums]
        return list(sums), tuple((g, -e) for g, e in sorted(lowest.items()))

    def _times_power(self, a: Sum, denominator: int, exponent: int) -> Sum:
        total: Sum = {}
        for m, c in a.items():
            here = dict(m).get(denominator, 0)
            rest = times(m, ((denominator, -here),)) if here else m
            total = plus(total, self.multiply({rest: c}, self.power(self.denominators[denominator], exponent + here)))
        return total

    def whole(self, a: Sum) -> Sum:
        """The same over one common denominator, cancelled; the sum itself if it has no sum in a denominator."""
        (above,), powers = self.cleared([a])
        if not powers:
            return a
        below: Monomial = ONE
        for g, exponent in powers:
            shift = common([above], clear=True)
            above = shifted(above, inverse(shift))
            while exponent and (shorter := self.quotient(above, self.denominators[g])) is not None:
                above, exponent = shorter, exponent - 1
            above = shifted(above, shift)
            below = times(below, ((g, -exponent),) if exponent else ONE)
        return shifted(above, below)

    def formula(self, a: Sum) -> sp.Expr:
        """A sum as it stands."""
        return sp.Add(
            *(sp.Rational(int(c.numerator), int(c.denominator)) * self.product(m) for m, c in sorted(a.items()))
        )

    def product(self, monomial: Monomial) -> sp.Expr:
        """A monomial as a formula."""
        return sp.Mul(*(self.formulas[g] ** e for g, e in monomial))

    def sum_of(self, formula: sp.Expr, known: Mapping[sp.Symbol, Sum]) -> Sum:
        """The normal form of a formula; `known` gives the sums of symbols that stand for longer ones."""
        if isinstance(formula, sp.Symbol):
            return known[formula] if formula in known else self.atom(formula)
        if isinstance(formula, sp.Rational):
            return {ONE: QQ(int(formula.p), int(formula.q))} if formula != 0 else {}
        if isinstance(formula, sp.Add):
            return reduce(plus, (self.sum_of(e, known) for e in formula.args))
        if isinstance(formula, sp.Mul):
            return reduce(self.multiply, (self.sum_of(e, known) for e in formula.args))
        if isinstance(formula, sp.Pow) and formula.exp.is_Integer:
            return self.power(self.sum_of(formula.base, known), int(formula.exp))
        if isinstance(formula, sp.Pow) and (2 * formula.exp).is_Integer:
            return self.power(self._root(self.sum_of(formula.base, known)), int(2 * formula.exp))
        if isinstance(formula, sp.sin | sp.cos | sp.tan):
            sine, cosine = self._turn(self.sum_of(formula.args[0], known))
            if isinstance(formula, sp.tan):
                return self.multiply(sine, self.reciprocal(cosine))
            return sine if isinstance(formula, sp.sin) else cosine
        inside = {s: self.formula(known[s]) for s in formula.free_symbols if s in known}
        return self.atom(formula.xreplace(inside))

    def _root(self, radicand: Sum) -> Sum:
        root = sp.sqrt(self.formula(radicand))
        if not (isinstance(root, sp.Pow) and root.exp == sp.Rational(1, 2)):
            return self.atom(root) if not isinstance(root, sp.Symbol | sp.Number) else self.sum_of(root, {})
        number = self.generator(root)
        if len(radicand) <= ARGUMENT:
            self.squares[number] = radicand
        return {((number, 1),): QQ(1)}

    def _turn(self, angle: Sum) -> tuple[Sum, Sum]:
        """Sine and cosine of a sum of angles, by the addition theorem."""
        sine: Sum = {}
        cosine: Sum = {ONE: QQ(1)}
        fixed = [m for m in angle if not any(isinstance(self.formulas[g], Shown) for g, _ in m)]
        parts = [(angle, 1)] if fixed else [self._part(m, c) for m, c in sorted(angle.items())]
        for base, count in parts:
            s, c = self._base(base)
            for _ in range(abs(count)):
                up = s if count > 0 else shifted(s, ONE, QQ(-1))
                sine, cosine = (
                    plus(self.multiply(sine, c), self.multiply(cosine, up)),
                    plus(self.multiply(cosine, c), self.multiply(sine, up), -1),
                )
        return sine, cosine

    def _part(self, monomial: Monomial, c: object) -> tuple[Sum, int]:
        """An angle as a whole number of base angles; the first fraction met decides the base."""
        unit = self._units.setdefault(monomial, int(c.denominator))
        if unit % int(c.denominator):
            return {monomial: c}, 1
        return {monomial: QQ(1, unit)}, int(c * unit)

    def _base(self, angle: Sum) -> tuple[Sum, Sum]:
        formula = self.formula(angle)
        s, c = sp.sin(formula), sp.cos(formula)
        if not (isinstance(s, sp.sin) and isinstance(c, sp.cos) and s.args[0] == c.args[0] == formula):
            return self.atom(s), self.atom(c)
        sine, cosine = self.generator(s), self.generator(c)
        self.sines[sine], self.cosines[cosine], self.angles[sine] = cosine, sine, formula
        return {((sine, 1),): QQ(1)}, {((cosine, 1),): QQ(1)}
