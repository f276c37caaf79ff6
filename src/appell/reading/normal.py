"""From formulas to sums in normal form."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import sympy as sp
from sympy.polys.domains import QQ

from appell.graph.sums import ONE, Monomial, Rational, Sum, generators, plus, shifted
from appell.model.symbols import letters_in
from appell.reading.laurent import Laurent
from appell.reading.letters import Shown

MULTIPLE = 2  # of an angle, up to which sines and cosines are taken apart


class Normal:
    """Reads formulas into an algebra of sums.

    Args:
        algebra: Where the sums live.
        settle: What is done with a quotient of sums as soon as it is met.

    Attributes:
        known: The sums of symbols that stand for longer formulas.
    """

    def __init__(self, algebra: Laurent, settle: Callable[[Sum], Sum] = lambda a: a) -> None:
        self.algebra = algebra
        self._settle = settle
        self.known: dict[sp.Symbol, Sum] = {}
        self._bases: dict[Monomial, Rational] = {}

    def __call__(self, formula: sp.Expr) -> Sum:
        """The normal form of a formula."""
        algebra = self.algebra
        if isinstance(formula, sp.Symbol):
            return self.known[formula] if formula in self.known else algebra.atom(formula)
        if isinstance(formula, sp.Rational):
            return {ONE: QQ(int(formula.p), int(formula.q))} if formula != 0 else {}
        if isinstance(formula, sp.Add):
            return reduce(plus, (self(e) for e in formula.args))
        if isinstance(formula, sp.Mul):
            return self._product([self(e) for e in formula.args])
        if isinstance(formula, sp.Pow) and formula.exp.is_Integer:
            return algebra.power(self(formula.base), int(formula.exp))
        if isinstance(formula, sp.Pow) and (2 * formula.exp).is_Integer:
            return algebra.power(algebra.root(self(formula.base)), int(2 * formula.exp))
        if isinstance(formula, sp.sin | sp.cos | sp.tan):
            sine, cosine = self._turn(self(formula.args[0]))
            if isinstance(formula, sp.tan):
                return algebra.multiply(sine, algebra.reciprocal(cosine))
            return sine if isinstance(formula, sp.sin) else cosine
        inside = {s: algebra.formula(self.known[s]) for s in letters_in(formula) if s in self.known}
        return algebra.atom(formula.xreplace(inside))

    def _product(self, sums: list[Sum]) -> Sum:
        """Single terms first, so that a sum meets its denominator before it is multiplied by other sums."""
        total: Sum = {ONE: QQ(1)}
        for a in sorted(sums, key=len):
            quotient = any(g in self.algebra.denominators for g in generators(total))
            total = self.algebra.multiply(total, a)
            if quotient and len(a) > 1:
                total = self._settle(total)
        return total

    def _turn(self, angle: Sum) -> tuple[Sum, Sum]:
        """Sine and cosine of a sum of angles, by the addition theorem; a sum with a constant is not taken apart."""
        multiply = self.algebra.multiply
        fixed = any(not any(isinstance(self.algebra.formulas[g], Shown) for g, _ in m) for m in angle)
        parts = [(angle, 1)] if fixed else [self._part(m, c) for m, c in sorted(angle.items())]
        sine: Sum = {}
        cosine: Sum = {ONE: QQ(1)}
        for base, count in parts:
            s, c = self._base(base)
            if count < 0:
                s = shifted(s, ONE, QQ(-1))
            for _ in range(abs(count)):
                sine, cosine = (
                    plus(multiply(sine, c), multiply(cosine, s)),
                    plus(multiply(cosine, c), multiply(sine, s), -1),
                )
        return sine, cosine

    def _part(self, monomial: Monomial, c: Rational) -> tuple[Sum, int]:
        """An angle as once or twice a base angle, which the first one met decides: sin(7 t/10) is no polynomial."""
        few = abs(c.numerator) <= MULTIPLE
        base = self._bases.setdefault(monomial, QQ(1, int(c.denominator)) if few else abs(c))
        count = c / base
        if count.denominator != 1 or abs(count) > MULTIPLE:
            return {monomial: c}, 1
        return {monomial: base}, int(count)

    def _base(self, angle: Sum) -> tuple[Sum, Sum]:
        algebra = self.algebra
        formula = algebra.formula(angle)
        s, c = sp.sin(formula), sp.cos(formula)
        if not (isinstance(s, sp.sin) and isinstance(c, sp.cos) and s.args[0] == c.args[0] == formula):
            return algebra.atom(s), algebra.atom(c)
        sine, cosine = algebra.generator(s), algebra.generator(c)
        algebra.sines[sine], algebra.cosines[cosine], algebra.angles[sine] = cosine, sine, formula
        return {((sine, 1),): QQ(1)}, {((cosine, 1),): QQ(1)}
