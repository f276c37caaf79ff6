"""The algebra in which equations are brought to a normal form: sums reduced by s^2 = 1 - c^2 and r^2 = radicand.

Generators are letters, sines and cosines, roots, denominators, and any other function of these. Equal quantities get
equal sums. Work is counted in products of terms, not in seconds: the same equations come out the same on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import sympy as sp
from sympy.polys.domains import QQ
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyRing

from appell.graph.sums import ONE, Monomial, Rational, Sum, common, content, generators, inverse, plus, shifted, times
from appell.reading.written import rational

FACTORED = 10  # sums of more terms or generators are not factored
PLAIN = 9999  # the largest integer that decimals are turned into
PRIME = 2_147_483_647
PUT = 8  # a radicand of more terms is not put in place of a squared root


class TooLong(Exception):
    """The normal form takes more work than it is worth."""


class Laurent:
    """The generators, their relations, and a budget of work.

    Args:
        budget: How many products of two terms may be made.
        name: Gives a name to a sum that stands in a denominator or under a root; without it they are written out.
    """

    def __init__(self, budget: int, name: Callable[[Sum, bool], sp.Symbol] | None = None) -> None:
        self.left = budget
        self.formulas: list[sp.Expr] = []
        self.numbers: dict[sp.Expr, int] = {}
        self.sines: dict[int, int] = {}  # sine -> cosine of the same angle
        self.cosines: dict[int, int] = {}
        self.angles: dict[int, sp.Expr] = {}  # of a sine
        self.squares: dict[int, Sum] = {}  # of a root
        self.norms: dict[int, Sum] = {}  # squares that are one less others: of a component of a quaternion
        self.denominators: dict[int, Sum] = {}
        self._name = name
        self._factors: dict[tuple[tuple[Monomial, object], ...], list[tuple[Sum, int]]] = {}
        self._named_roots: dict[tuple[tuple[Monomial, object], ...], int] = {}

    def generator(self, formula: sp.Expr) -> int:
        """The number of a generator."""
        if formula not in self.numbers:
            self.numbers[formula] = len(self.formulas)
            self.formulas.append(formula)
        return self.numbers[formula]

    def atom(self, formula: sp.Expr) -> Sum:
        """A generator as a sum."""
        return {((self.generator(formula), 1),): QQ(1)}

    def normed(self, first: sp.Symbol, others: Sequence[sp.Symbol]) -> None:
        """Let the squares of some letters add up to one: that of the first is never seen again."""
        self.norms[self.generator(first)] = {ONE: QQ(1), **{((self.generator(e), 2),): QQ(-1) for e in others}}

    def formula(self, a: Sum) -> sp.Expr:
        """A sum as it stands."""
        return sp.Add(*(rational(c) * self.product(m) for m, c in sorted(a.items())))

    def product(self, monomial: Monomial) -> sp.Expr:
        """A monomial as a formula."""
        return sp.Mul(*(self.formulas[g] ** e for g, e in monomial))

    def plain_content(self, sums: Iterable[Sum]) -> Rational | None:
        """The number to take out of sums; None where that makes long integers of measured numbers, or has decimals."""
        listed = [(m, c) for a in sums for m, c in a.items()]
        share = content(c for _, c in listed)
        measured = any(abs(c) > PLAIN * share for _, c in listed) or any(
            isinstance(self.formulas[g], sp.Float) for m, _ in listed for g, _ in m
        )
        return None if measured else share

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
        return self.reduced(total)

    def reduced(self, terms: Sum) -> Sum:
        """The normal form of a sum."""
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
        """What square in a monomial is to be replaced by what."""
        for generator, exponent in monomial:
            if exponent < 2:
                continue
            if generator in self.sines:
                return generator, _pythagoras(self.sines[generator])
            if generator in self.squares:
                return generator, self.squares[generator]
            if generator in self.norms:
                return generator, self.norms[generator]
            if generator in self.cosines and dict(monomial).get(self.cosines[generator], 0) < 0:
                return generator, _pythagoras(self.cosines[generator])
        return None

    def flipped(self, a: Sum, cosine: int) -> Sum:
        """The same sum with c^2 = 1 - s^2 in place of s^2 = 1 - c^2; not in normal form."""
        sine = self.cosines[cosine]
        lowest = min(0, *(dict(m).get(cosine, 0) for m in a))
        shift = ((cosine, -lowest),) if lowest else ONE
        total: Sum = {}
        waiting = list(shifted(a, shift).items())
        while waiting:
            self.spend(1)
            monomial, c = waiting.pop()
            if dict(monomial).get(cosine, 0) < 2:
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
        cosines = sorted({g for m in a for g, e in m if e >= 2 and g in self.cosines})
        a = min((a, *(self.flipped(a, c) for c in cosines)), key=len)
        shared, share = common([a], clear=True), content(a.values())
        rest = shifted(a, inverse(shared), 1 / share)
        result: Sum = {ONE: 1 / share}
        for generator, exponent in shared:
            one: Sum = {((generator, -exponent),): QQ(1)}
            if generator in self.squares and exponent > 0:
                over = self.power(self.reciprocal(self.squares[generator]), exponent)
                one = self.multiply({((generator, exponent),): QQ(1)}, over)
            result = self.multiply(result, one)
        if len(rest) == 1:
            return shifted(result, ONE, 1 / next(iter(rest.values())))
        for factor, exponent in self.factors(self.reduced(rest)):
            result = self.multiply(result, self.power(self._over(factor), exponent))
        return result

    def _over(self, factor: Sum) -> Sum:
        if len(factor) == 1:
            ((m, c),) = factor.items()
            return {inverse(m): 1 / c}
        root = self._named_roots.get(tuple(sorted(factor.items())))
        if root is not None:
            return {((root, -2),): QQ(1)}
        number = self.generator(self._name(factor, False) if self._name else self.formula(factor))
        self.denominators[number] = factor
        return {((number, -1),): QQ(1)}

    def root(self, radicand: Sum) -> Sum:
        """The square root; its square is put in again unless it has a name."""
        root = sp.sqrt(self.formula(radicand))
        if not (isinstance(root, sp.Pow) and root.exp == sp.Rational(1, 2)):
            return self.atom(root)
        if self._name and len(radicand) > 1:
            number = self.generator(self._name(radicand, True))
            self._named_roots[tuple(sorted(radicand.items()))] = number
        else:
            number = self.generator(root)
            if len(radicand) <= PUT:
                self.squares[number] = radicand
        return {((number, 1),): QQ(1)}

    def _in_ring(self, sums: Sequence[Sum]) -> tuple[list[int], list[object]]:
        """Sums without negative exponents as polynomials of SymPy, and the generators of these."""
        used = sorted({g for a in sums for g in generators(a)})
        place = {g: i for i, g in enumerate(used)}
        ring = PolyRing([f"x{i}" for i in range(max(len(used), 1))], QQ, lex)

        def dense(monomial: Monomial) -> tuple[int, ...]:
            exponents = [0] * ring.ngens
            for g, e in monomial:
                exponents[place[g]] = e
            return tuple(exponents)

        return used, [ring.from_dict({dense(m): c for m, c in a.items()}) for a in sums]

    def factors(self, a: Sum) -> list[tuple[Sum, int]]:
        """Irreducible factors of a sum; the sum itself if it is long or has negative exponents."""
        key = tuple(sorted(a.items()))
        if key not in self._factors:
            negative = any(e < 0 for m in a for _, e in m)
            long = max(len(a), len(generators(a))) > FACTORED
            self._factors[key] = [(a, 1)] if negative or long or _irreducible(a) else self._factored(a)
        return self._factors[key]

    def _factored(self, a: Sum) -> list[tuple[Sum, int]]:
        used, (polynomial,) = self._in_ring([a])
        unit, listed = polynomial.factor_list()
        found = [(_from_ring(f, used), int(e)) for f, e in listed]
        found.sort(key=lambda pair: sorted(pair[0].items()))
        return found if unit == 1 else [({ONE: QQ(unit)}, 1), *found]

    def quotient(self, a: Sum, b: Sum) -> Sum | None:
        """a / b if nothing is left over; None if there is, or if a has negative exponents."""
        self.spend(len(a) * len(b))
        if any(e < 0 for m in a for _, e in m):
            return None
        used, (above, below) = self._in_ring([a, b])
        whole, remainder = divmod(above, below)
        return None if remainder else _from_ring(whole, used)

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
        below: Monomial = ONE
        for g, exponent in powers:
            shift = common([above], clear=True)
            above = shifted(above, inverse(shift))
            while exponent and (shorter := self.quotient(above, self.denominators[g])) is not None:
                above, exponent = shorter, exponent - 1
            above = shifted(above, shift)
            below = times(below, ((g, -exponent),) if exponent else ONE)
        return shifted(above, below)


def _pythagoras(other: int) -> Sum:
    return {ONE: QQ(1), ((other, 2),): QQ(-1)}


def _irreducible(a: Sum) -> bool:
    """Whether a sum obviously has no factors: it is g m + rest, with nothing common to m and the rest.

    Nothing is common if that is so for the values that m and the rest take where all letters but one are numbers.
    """
    for g in generators(a):
        powers = {e for m in a for h, e in m if h == g}
        if powers == {1}:
            having: Sum = {tuple(pair for pair in m if pair[0] != g): c for m, c in a.items() if (g, 1) in m}
            rest = {m: c for m, c in a.items() if (g, 1) not in m}
            shared = set(generators(having)) & set(generators(rest))
            return bool(rest) and not any(_in_common(having, rest, h) for h in sorted(shared))
    return False


def _in_common(a: Sum, b: Sum, g: int) -> bool:
    """Whether two sums have a common factor that contains a letter, judged where the other letters are numbers."""
    one, two = (_along(e, g) for e in (a, b))
    while two:
        while len(one) >= len(two):
            share = one[-1] * pow(two[-1], -1, PRIME) % PRIME
            shift = len(one) - len(two)
            one = _stripped([(c - share * two[k - shift]) % PRIME if k >= shift else c for k, c in enumerate(one)])
        one, two = two, one
    return len(one) > 1


def _along(a: Sum, g: int) -> list[int]:
    """Coefficients of the powers of one letter, the others at numbers of their own, all in the field of a prime."""
    found: dict[int, int] = {}
    for monomial, c in a.items():
        value = int(c.numerator) * pow(int(c.denominator), -1, PRIME)
        exponent = 0
        for h, e in monomial:
            if h == g:
                exponent = e
            else:
                value = value * pow(7919 * h + 104_729, e, PRIME) % PRIME
        found[exponent] = (found.get(exponent, 0) + value) % PRIME
    return _stripped([found.get(k, 0) for k in range(max(found) + 1)])


def _stripped(coefficients: list[int]) -> list[int]:
    while coefficients and not coefficients[-1]:
        coefficients.pop()
    return coefficients


def _from_ring(polynomial: Iterable, used: list[int]) -> Sum:
    listed = sorted(dict(polynomial).items())
    return {tuple((used[i], e) for i, e in enumerate(exponents) if e): c for exponents, c in listed}
