"""Ways to write the sines and cosines of a sum: squares one way or the other, sums of angles, multiples, tangents."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import sympy as sp
from sympy.polys.domains import QQ
from sympy.simplify.fu import TR10i

from appell.graph.sums import ONE, Monomial, Sum, times
from appell.model.symbols import nodes
from appell.reading.laurent import Laurent
from appell.reading.letters import weight

Angle = tuple[tuple[int, int], ...]  # (sine of a base angle, how many of it)
GATHERED = 300  # longer formulas are left as they are
MULTIPLES = 8  # products of more sines and cosines are not turned into multiples of angles


def gathered(formula: sp.Expr) -> sp.Expr:
    """A formula with cos(a - b) for cos(a) cos(b) + sin(a) sin(b) and the like, where that is shorter."""
    if weight(formula) > GATHERED or not any(_has_pair(e) for e in nodes(formula) if isinstance(e, sp.Add)):
        return formula
    joined = TR10i(formula)
    return joined if weight(joined) < weight(formula) else formula


def _has_pair(terms: sp.Add) -> bool:
    """Whether two terms of a sum are alike but for the sines and cosines of the same two angles."""
    seen = set()
    for term in terms.args:
        factors = [e for e in sp.Mul.make_args(term) if not e.is_Number]
        waves = [e for e in factors if isinstance(e, sp.sin | sp.cos)]
        for one, other in combinations(waves, 2):
            rest = frozenset(e for e in factors if e not in (one, other))
            alike = (frozenset((one.args[0], other.args[0])), rest)
            if alike in seen:
                return True
            seen.add(alike)
    return False


class Trigonometry:
    """Other forms of a sum in normal form; what they return is for the eye and must not be multiplied again.

    Args:
        algebra: The generators of the sums.
    """

    def __init__(self, algebra: Laurent) -> None:
        self.algebra = algebra
        self._waves: dict[int, tuple[bool, Angle]] = {}
        self._base_angles = 0

    def forms(self, a: Sum) -> Iterator[Sum]:
        """The candidates, the plainest first."""
        plain = self.best_squares(a)
        yield self._tangents(plain)
        if paired := self._paired(a):
            yield self._tangents(paired)
        if plain != a and (paired := self._paired(plain)):
            yield self._tangents(paired)
        yield from self.multiples(a)

    def multiples(self, a: Sum) -> Iterator[Sum]:
        """Only the forms with multiples of angles and products of their sums: a chain's long sums are short in them."""
        if (multiples := self._multiples(a)) is not None:
            yield self._tangents(multiples)
            if (products := self._products(multiples)) is not None:
                yield self._tangents(products)

    def best_squares(self, a: Sum) -> Sum:
        """The same with c^2 = 1 - s^2 in place of s^2 = 1 - c^2 for angles where that gives fewer terms."""
        cosines = sorted({g for m in a for g, e in m if g in self.algebra.cosines and (e >= 2 or e < 0)})
        for cosine in cosines:
            other = self.algebra.flipped(a, cosine)
            if len(other) < len(a):
                a = other
        return a

    def _waves_known(self) -> dict[int, tuple[bool, Angle]]:
        """For each sine and cosine: whether it is a sine, and its angle."""
        if self._base_angles < len(self.algebra.sines):
            self._base_angles = len(self.algebra.sines)
            for sine, cosine in self.algebra.sines.items():
                self._waves[sine] = (True, ((sine, 1),))
                self._waves[cosine] = (False, ((sine, 1),))
        return self._waves

    def _wave(self, is_sine: bool, angle: Angle) -> tuple[Monomial, int]:
        """The generator of a sine or cosine as a monomial, and its sign."""
        sign = 1
        if not angle:
            return ONE, 0 if is_sine else 1
        if min((str(self.algebra.angles[g]), n) for g, n in angle)[1] < 0:  # sin(p0 - p1), whichever was met first
            angle = tuple((g, -n) for g, n in angle)
            sign = -1 if is_sine else 1
        formula = sp.Add(*(n * self.algebra.angles[g] for g, n in angle))
        number = self.algebra.generator((sp.sin if is_sine else sp.cos)(formula, evaluate=False))
        self._waves_known().setdefault(number, (is_sine, angle))
        return ((number, 1),), sign

    def _paired(self, a: Sum) -> Sum | None:
        """Join pairs of terms by the addition theorem as long as there are any; None if there are none."""
        terms, joined = dict(a), False
        while (pair := self._pair(terms)) is not None:
            first, second, rest, wave, c = pair
            del terms[first], terms[second]
            merged = times(rest, wave)
            total = terms.get(merged, 0) + c
            terms.pop(merged, None)
            if total:
                terms[merged] = total
            joined = True
        return terms if joined else None

    def _pair(self, terms: Sum) -> tuple[Monomial, Monomial, Monomial, Monomial, object] | None:
        waves = self._waves_known()
        for monomial in sorted(terms):
            found = [g for g, e in monomial if e > 0 and g in waves]
            self.algebra.spend(1 + len(found) ** 2)
            for i, one in enumerate(found):
                for two in found[i + 1 :]:
                    if waves[one][1] == waves[two][1]:
                        continue
                    joined = self._join(terms, monomial, one, two)
                    if joined is not None:
                        return joined
        return None

    def _join(
        self, terms: Sum, monomial: Monomial, one: int, two: int
    ) -> tuple[Monomial, Monomial, Monomial, Monomial, object] | None:
        waves = self._waves_known()
        (one_sine, a), (two_sine, b) = waves[one], waves[two]
        rest = times(monomial, ((one, -1),))
        rest = times(rest, ((two, -1),))
        swapped_one, sign_one = self._wave(not one_sine, a)
        swapped_two, sign_two = self._wave(not two_sine, b)
        partner = times(rest, times(swapped_one, swapped_two))
        if partner not in terms or sign_one * sign_two != 1:
            return None
        c, d = terms[monomial], terms[partner]
        if c != d and c != -d:
            return None
        # cc - ss = cos(a + b), cc + ss = cos(a - b), sc + cs = sin(a + b), sc - cs = sin(a - b)
        is_sine = one_sine != two_sine
        together = (c == d) == is_sine
        angle = _combined(a, b, 1 if together else -1)
        wave, sign = self._wave(is_sine, angle)
        leading = c if not (one_sine and two_sine) else d
        if is_sine and not one_sine:
            leading = d
        return monomial, partner, rest, wave, leading * sign

    def _multiples(self, a: Sum) -> Sum | None:
        """Products turned into sines and cosines of sums and multiples of angles; None if that is hopeless."""
        waves = self._waves_known()
        total: Sum = {}
        touched = False
        for monomial, c in sorted(a.items()):
            rest = tuple((g, e) for g, e in monomial if not (g in waves and e > 0))
            factors = [waves[g] for g, e in monomial if g in waves and e > 0 for _ in range(e)]
            if len(factors) > MULTIPLES:
                return None
            touched |= len(factors) > 1
            for is_sine, angle, share in _product(factors):
                self.algebra.spend(1)
                wave, sign = self._wave(is_sine, angle)
                key = times(rest, wave)
                total[key] = total.get(key, 0) + c * share * sign
        return {m: c for m, c in total.items() if c} if touched else None

    def _products(self, a: Sum) -> Sum | None:
        """Pairs turned into products, sin a - sin b = 2 cos (a + b)/2 sin (a - b)/2 and the like; None if none are."""
        waves = self._waves_known()
        total, joined = dict(a), False
        alone: dict[tuple[Monomial, bool, object], list[tuple[Monomial, Angle]]] = {}
        for monomial, c in sorted(a.items()):
            found = [g for g, e in monomial if g in waves and e > 0]
            if len(found) != 1 or (found[0], 1) not in monomial:
                continue
            is_sine, angle = waves[found[0]]
            rest = tuple(pair for pair in monomial if pair[0] != found[0])
            others = alone.setdefault((rest, is_sine, abs(c)), [])
            for other, its_angle in others:
                half = [tuple((g, n // 2) for g, n in _combined(its_angle, angle, s) if n % 2 == 0) for s in (1, -1)]
                if [len(h) for h in half] != [len(_combined(its_angle, angle, s)) for s in (1, -1)]:
                    continue
                first, second = total.pop(other), total.pop(monomial)
                # sa + sb = 2 sc, sa - sb = 2 cs, ca + cb = 2 cc, ca - cb = -2 ss of half of a + b and half of a - b
                kinds = (first == second, first != second) if is_sine else (first != second, first != second)
                (one, sign_one), (two, sign_two) = (self._wave(k, h) for k, h in zip(kinds, half, strict=True))
                key = times(rest, times(one, two))
                sign = sign_one * sign_two * (-1 if not is_sine and first != second else 1)
                total[key] = total.get(key, 0) + 2 * first * sign
                others.remove((other, its_angle))
                joined = True
                break
            else:
                others.append((monomial, angle))
        return {m: c for m, c in total.items() if c} if joined else None

    def _tangents(self, a: Sum) -> Sum:
        """s/c as tan, c/s as cot."""
        total: Sum = {}
        for monomial, c in a.items():
            exponents = dict(monomial)
            for sine, cosine in self.algebra.sines.items():
                up, down = exponents.get(sine, 0), exponents.get(cosine, 0)
                if up * down >= 0:
                    continue
                count = min(abs(up), abs(down))
                kind = sp.tan if up > 0 else sp.cot
                number = self.algebra.generator(kind(self.algebra.angles[sine]))
                step = count if up > 0 else -count
                exponents[sine], exponents[cosine] = up - step, down + step
                exponents[number] = count
            key = tuple(sorted((g, e) for g, e in exponents.items() if e))
            total[key] = total.get(key, 0) + c
        return {m: c for m, c in total.items() if c}


def _combined(a: Angle, b: Angle, sign: int) -> Angle:
    counts = dict(a)
    for g, n in b:
        counts[g] = counts.get(g, 0) + sign * n
    return tuple(sorted((g, n) for g, n in counts.items() if n))


def _product(factors: list[tuple[bool, Angle]]) -> list[tuple[bool, Angle, object]]:
    """A product of sines and cosines as a sum of them."""
    total: list[tuple[bool, Angle, object]] = [(False, (), QQ(1))]
    for second_sine, b in factors:
        half = QQ(1, 2)
        step = []
        for first_sine, a, c in total:
            plus, minus = _combined(a, b, 1), _combined(a, b, -1)
            if first_sine and second_sine:
                step += [(False, minus, c * half), (False, plus, -c * half)]
            elif not first_sine and not second_sine:
                step += [(False, minus, c * half), (False, plus, c * half)]
            elif first_sine:
                step += [(True, plus, c * half), (True, minus, c * half)]
            else:
                step += [(True, plus, c * half), (True, minus, -c * half)]
        total = step
    return total
