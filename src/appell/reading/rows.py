"""One row of a page: simplified, freed of common factors, and compared with the graph at random points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp
from sympy.polys.domains import QQ

from appell.errors import CompileError
from appell.graph.lower import Lowering
from appell.graph.sums import ONE, Rational, Sum, common, content, generators, inverse, shifted, sign
from appell.model.symbols import letters_in
from appell.reading.laurent import Laurent, TooLong
from appell.reading.letters import Shown, weight
from appell.reading.normal import Normal
from appell.reading.sharing import BEHIND, Names
from appell.reading.shorten import Shortener
from appell.reading.written import rational

POINTS = 12
SIZES = (1.0, 4.0, 0.25)  # of parameters beside all else: below the speed of light, within the reach of an arm
ENOUGH = 3  # so many of them must be states at which the graph has a value
AGREEMENT = 1e-9
STATE, PARAMETERS = 1, -2  # their places among the arguments


@dataclass(frozen=True)
class Row:
    """One equation: the sum of coefficients times letters is the right-hand side.

    Attributes:
        left: Pairs of coefficient and letter; none for a residual.
        right: The right-hand side, or the residual itself.
        factor: What the row of the graph was multiplied by.
    """

    left: tuple[tuple[sp.Expr, Shown], ...]
    right: sp.Expr
    factor: sp.Expr = sp.S.One

    @classmethod
    def of(cls, unknowns: Sequence[Shown], entries: Sequence[sp.Expr], factor: sp.Expr = sp.S.One) -> Row:
        """From coefficients followed by the right-hand side."""
        left = tuple((c, s) for c, s in zip(entries, unknowns, strict=False) if c != 0)
        return cls(left, entries[-1], factor)

    @property
    def length(self) -> int:
        """How much there is to read."""
        return weight(self.right) + sum(weight(c) + 2 for c, _ in self.left)

    @property
    def formulas(self) -> list[sp.Expr]:
        """Coefficients, right-hand side, factor."""
        return [*(c for c, _ in self.left), self.right, self.factor]

    def rewritten(self, formulas: Sequence[sp.Expr]) -> Row:
        """The same row with other formulas, in the order of `formulas`."""
        *left, right, factor = formulas
        return Row(tuple((c, s) for c, (_, s) in zip(left, self.left, strict=True) if c != 0), right, factor)

    @property
    def trivial(self) -> bool:
        """Whether it says x' = x'."""
        return len(self.left) == 1 and self.left[0] == (1, self.right)


class Simplifier:
    """Brings rows into a short form.

    Args:
        pieces: Named pieces of the formulas, each after those it uses itself.
        velocities: The letters that are velocities.
        budget: How much work it may take.
        norms: Letters whose squares add up to one, group by group.
        naming: Whether sums in denominators and under roots, and quotients by such sums that occur more than once, get
            names instead of being multiplied out.

    Attributes:
        names: What was named, in the order in which it can be evaluated.
    """

    def __init__(
        self,
        pieces: Mapping[Shown, sp.Expr],
        velocities: set[Shown],
        budget: int,
        norms: Iterable[Sequence[Shown]] = (),
        naming: bool = False,
    ) -> None:
        self.names: Names = {}
        self.algebra = Laurent(budget, self._name if naming else None)
        for first, *others in norms:
            self.algebra.normed(first, others)
        self.shortener = Shortener(self.algebra, velocities)
        self._normal = Normal(self.algebra, self._quotient) if naming else Normal(self.algebra)
        self._given: dict[tuple[Any, ...], Shown] = {}
        self._pieces = pieces
        for symbol, piece in pieces.items():
            if not self._unknown(piece):
                try:
                    a = self._normal(piece)
                    self._normal.known[symbol] = self._quotient(a) if naming else a
                except TooLong:
                    continue

    @property
    def plain(self) -> bool:
        """Whether no sum stands in a denominator or under a root, so that naming them is of no use."""
        return not self.algebra.denominators and not self.algebra.squares

    def _unknown(self, formula: sp.Expr) -> bool:
        return any(s in self._pieces and s not in self._normal.known for s in letters_in(formula))

    def _name(self, a: Sum, root: bool) -> Shown:
        key = (root, *sorted(a.items()))
        if key not in self._given:
            formula = self.shortener.shortest(a)
            number = len(self.names) + 1
            self._given[key] = Shown(BEHIND + number, f"name{number}", "")
            self.names[self._given[key]] = sp.sqrt(formula) if root else formula
        return self._given[key]

    def _quotient(self, a: Sum) -> Sum:
        """A sum over a sum under a name, what it has in common taken out."""
        a = self.algebra.whole(a)
        below = {g for g in generators(a) if g in self.algebra.denominators}
        if not below:
            return a
        shared = tuple(pair for pair in common([a], clear=True) if pair[0] not in below)
        share = content(a.values()) * sign(a)
        rest = shifted(a, inverse(shared), 1 / share)
        return a if len(rest) == 1 else shifted(self.algebra.atom(self._name(rest, False)), shared, share)

    def row(self, unknowns: Sequence[Shown], entries: Sequence[sp.Expr], scaled: bool, lead: int) -> Row | None:
        """The shortest form found of a row; None if it takes too much work.

        Args:
            unknowns: The letters on the left.
            entries: Their coefficients, then the right-hand side.
            scaled: Whether the row may be multiplied by a factor.
            lead: Which coefficient shall be positive.
        """
        if any(self._unknown(e) for e in entries):
            return None
        try:
            sums = [self._normal(e) for e in entries]
            if not scaled:
                return Row.of(unknowns, [self.shortener.shortest(a) for a in sums])
            variants = [self._scaled(unknowns, *variant, lead) for variant in self._variants(sums)]
        except TooLong:
            return None
        return min(variants, key=lambda row: row.length)

    def _variants(self, sums: list[Sum]) -> list[tuple[list[Sum], sp.Expr]]:
        """The row as it is, freed of sums in denominators, and of all denominators that vary."""
        algebra = self.algebra
        variants = [(sums, sp.Integer(1))]
        whole, powers = algebra.cleared([algebra.whole(a) for a in sums])
        factor = algebra.product(powers)
        if whole != sums:
            variants.append((whole, factor))
        varying = {g for a in whole for g in generators(a) if not self.shortener.is_parameter(g)}
        below = tuple((g, e) for g, e in common(whole, among=varying, clear=True) if e < 0)
        if below:
            upper = inverse(below)
            variants.append(([algebra.reduced(shifted(a, upper)) for a in whole], factor * algebra.product(upper)))
        return variants

    def _scaled(self, unknowns: Sequence[Shown], sums: list[Sum], factor: sp.Expr, lead: int) -> Row:
        """Divide by what all terms have in common.

        A factor common to a whole row cannot vanish at a state where the equations determine the accelerations.
        """
        parameters = {g for a in sums for g in generators(a) if self.shortener.is_parameter(g)}
        for among, clear in ((parameters, True), (None, False)):
            shared = common(sums, among, clear)
            sums = [shifted(a, inverse(shared)) for a in sums]
            factor /= self.algebra.product(shared)
        sums, sines = self._without_sines(sums)
        factor /= sines
        sums, divisor = self._divided(sums)
        share = self.algebra.plain_content(sums) or QQ(1)
        written = self._written(sums, share)
        leading = (
            written[lead] if lead < len(unknowns) and written[lead] != 0 else next((e for e in written if e != 0), 1)
        )
        if _negative(leading):
            share = -share
            written = self._written(sums, share)
        return Row.of(unknowns, written, rational(1 / share) * factor / divisor)

    def _without_sines(self, sums: list[Sum]) -> tuple[list[Sum], sp.Expr]:
        """The sums without common sines, which hide where 1 - c^2 stands for s^2, and the product of these."""
        algebra, taken = self.algebra, sp.Integer(1)
        for cosine in sorted({g for a in sums for m in a for g, e in m if g in algebra.cosines and e >= 2}):
            others = [algebra.flipped(a, cosine) if a else a for a in sums]
            shared = common(others, [algebra.cosines[cosine]])
            if shared:
                sums = [algebra.reduced(shifted(a, inverse(shared))) for a in others]
                taken *= algebra.product(shared)
        return sums, taken

    def _divided(self, sums: list[Sum]) -> tuple[list[Sum], sp.Expr]:
        """The sums without their common factors of several terms, and the product of these."""
        divisor = sp.Integer(1)
        shortest = min((a for a in sums if a), key=len, default={})
        for factor, exponent in self.algebra.factors(shortest):
            for _ in range(exponent if len(factor) > 1 else 0):
                quotients = [self.algebra.quotient(a, factor) for a in sums]
                if any(q is None for q in quotients):
                    break
                sums = [q for q in quotients if q is not None]
                divisor *= self.algebra.formula(factor)
        return sums, divisor

    def _written(self, sums: list[Sum], share: Rational) -> list[sp.Expr]:
        *left, right = [self.shortener.shortest(shifted(a, ONE, 1 / share)) for a in sums]
        return [*left, _opened(right)]


def _opened(right: sp.Expr) -> sp.Expr:
    """A right-hand side without brackets about the whole of it."""
    if isinstance(right, sp.Mul) and len(right.args) == 2:
        number, terms = right.args
        if isinstance(number, sp.Number) and isinstance(terms, sp.Add):
            return sp.Add(*(number * term for term in terms.args))
    return right


def _negative(formula: sp.Expr) -> bool:
    """Whether a formula would be printed with more minus signs than plus signs."""
    terms = sp.Add.make_args(formula)
    return 2 * sum(bool(term.as_coeff_Mul()[0] < 0) for term in terms) > len(terms)


def agrees(
    row: Row,
    names: Names,
    graph: ca.SX,
    unknowns: Sequence[Shown],
    arguments: Sequence[ca.SX],
    leaves: Mapping[sp.Basic, ca.SX],
    quaternions: Sequence[list[int]] = (),
) -> bool:
    """Whether a row is the graph's times its factor, at random points.

    Args:
        row: What is to be printed.
        names: The names in it.
        graph: Coefficients and right-hand side on the graph, a column.
        unknowns: The letters of the coefficients.
        arguments: All symbols of the graph, as columns; the parameters are the last but one.
        leaves: What each letter is on the graph.
        quaternions: Places in the second argument, the state, where vectors of length one stand.
    """
    coefficients = {s: c for c, s in row.left}
    lower = Lowering(leaves)
    try:
        for name, formula in names.items():
            lower.memo[name] = lower(formula)
        written = ca.vertcat(*[lower(coefficients.get(s, 0)) for s in unknowns], lower(row.right))
        factor = lower(row.factor)
    except CompileError:
        return False
    function = ca.Function("row", list(arguments), [ca.densify(written), ca.densify(graph * factor)])
    rng = np.random.default_rng(11)
    compared = 0
    for k in range(POINTS):
        point = [rng.uniform(0.3, 1.5, a.numel()) * rng.choice((-1.0, 1.0), a.numel()) for a in arguments]
        point[PARAMETERS] = np.abs(point[PARAMETERS]) * SIZES[k % len(SIZES)]
        for own in quaternions:
            point[STATE][own] /= np.linalg.norm(point[STATE][own])
        one, other = (np.array(e) for e in function(*point))
        if np.all(np.isfinite(other)):
            compared += 1
            if not np.all(np.abs(one - other) <= AGREEMENT * np.maximum(1.0, np.abs(other))):
                return False
    return compared >= ENOUGH
