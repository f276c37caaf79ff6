"""Long formulas that are short: products of letters, sines, cosines and divisors, found from numbers.

The logarithm of c a^k b^l is linear in those of a and b. So whether an entry of a graph is such a product, and which,
is found from its values at more points than there are factors; two more sets of points never agree by accident.
Letters take both signs and angles go round, so that a root of a square is not taken for its base.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations

import casadi as ca
import numpy as np

from appell.graph.kinks import has_kinks
from appell.graph.numeric import SideBySide
from appell.graph.replay import SAME, rewritten
from appell.graph.sparse import DEEP, Scalar, add, densified, mul, power_product, to_sx

MOST = 40  # factors that are looked for
LARGEST = 2000  # nodes of a graph that is looked at
PAIRED = 3  # angles up to which their sums and differences are looked at
SPARE = 8  # points beyond the factors
DENOMINATOR = 100  # of numbers that are taken for fractions
AGREEMENT = 1e-12
ROUNDING = 1e-14

Points = Callable[[int], list[np.ndarray]]


def in_products(column: ca.SX, u: ca.SX, letters: Sequence[ca.SX], points: Points) -> ca.SX:
    """A column linear in u, those of its entries whose coefficients are all products written as such.

    Args:
        column: Entries A u + b.
        u: The letters they are linear in.
        letters: All others, as columns.
        points: Values of these at so many places, an array of a row for each.

    Returns:
        The column itself if that is not longer.
    """
    n, m = column.numel(), u.numel()
    if ca.n_nodes(column) > LARGEST:
        return column
    slopes = ca.horzcat(ca.jacobian(column, u), ca.substitute(column, u, ca.SX.zeros(m)))
    found = _products(densified(ca.vec(ca.densify(slopes))), letters, points)
    rows = []
    for i in range(n):
        terms = [mul(e, by) for e, by in zip(found[i::n], [*u.nonzeros(), 1.0], strict=True) if e is not None]
        rows.append(to_sx(reduce(add, terms)) if len(terms) > m else column[i])
    short = ca.vertcat(*rows)
    return short if ca.n_nodes(ca.cse(short)) < ca.n_nodes(ca.cse(column)) else column


def _products(entries: ca.SX, letters: Sequence[ca.SX], points: Points) -> list[Scalar | None]:
    """For each entry the product that it is; None where it is none."""
    nothing: list[Scalar | None] = [None] * entries.numel()
    function = ca.Function("entries", list(letters), [entries])
    if has_kinks(function):  # what is so at some points need not be so at others
        return nothing
    used = {e.element_hash() for e in ca.symvar(entries)}
    factors = [e for block in letters for e in block.nonzeros() if e.element_hash() in used]
    angles, divisors = _inside(function)
    waves = [wave(angle) for angle in angles for wave in (ca.sin, ca.cos)]
    if 1 < len(angles) <= PAIRED:
        sums = [e for a, b in combinations(angles, 2) for e in (a + b, a - b)]
        divisors += [wave(angle) for angle in sums for wave in (ca.sin, ca.cos)]
    factors = [*factors, *waves, *divisors][:MOST]
    both = SideBySide(ca.Function("both", list(letters), [entries, ca.densify(ca.vertcat(ca.SX(0, 1), *factors))]))
    count = 3 * (len(factors) + SPARE)
    values, bases = (e[:, :, 0] for e in both(count, *points(count)))
    kept = _independent(bases)
    factors, bases = [factors[k] for k in kept], bases[:, kept]
    return [_product(values[:, i], factors, bases) for i in range(entries.numel())]


def _independent(bases: np.ndarray) -> list[int]:
    """Which of the factors are no products of numbers and those before them."""
    real = np.isfinite(bases).all(axis=1) & (bases != 0).all(axis=1)
    rest = np.column_stack([np.ones(np.count_nonzero(real)), np.log(np.abs(bases[real]))])
    kept = []
    for k in range(rest.shape[1]):
        size = np.linalg.norm(rest[:, k])
        if size > 1e-6 * len(rest):
            kept.append(k - 1)
            direction = rest[:, k] / size
            rest[:, k + 1 :] -= np.outer(direction, direction @ rest[:, k + 1 :])
    return kept[1:]


def _product(values: np.ndarray, factors: list[ca.SX], bases: np.ndarray) -> Scalar | None:
    """The product of factors that has these values at all points where it has any."""
    real = np.isfinite(values)
    values, bases = values[real], bases[real]
    if len(values) < len(factors) + SPARE:
        return None
    if np.max(np.abs(values)) < AGREEMENT:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithms = np.column_stack([np.ones(len(values)), np.log(np.abs(bases))])
        target = np.log(np.abs(values))
    if not (np.all(np.isfinite(target)) and np.all(np.isfinite(logarithms))):
        return None
    fitted = np.linalg.lstsq(logarithms, target, rcond=None)[0]
    exponents = np.round(fitted[1:])
    if np.max(np.abs(fitted[1:] - exponents), initial=0.0) > 1e-6:
        return None
    ratio = values / np.prod(bases**exponents, axis=1)
    number = float(np.median(ratio))
    if not np.all(np.abs(ratio - number) <= AGREEMENT * abs(number)):
        return None
    plain = float(Fraction(number).limit_denominator(DENOMINATOR))
    number = plain if abs(number - plain) <= ROUNDING * abs(number) else number
    return power_product(number, zip(factors, exponents.astype(int).tolist(), strict=True))


def _inside(function: ca.Function) -> tuple[list[ca.SX], list[ca.SX]]:
    """What sines and cosines are taken of, and the sums that are divided by, in the letters of a function."""
    angles: dict[int, ca.SX] = {}
    divisors: dict[int, ca.SX] = {}

    def wave(operation: int) -> Callable[[ca.SX], ca.SX]:
        def made(angle: ca.SX) -> ca.SX:
            angles.setdefault(angle.element_hash(), angle)
            return ca.SX.unary(operation, angle)

        return made

    def divided(above: ca.SX, below: ca.SX) -> ca.SX:
        if not below.is_constant():
            divisors.setdefault(below.element_hash(), below)
        return ca.SX.binary(ca.OP_DIV, above, below)

    rewritten(function, {**SAME, "sin": wave(ca.OP_SIN), "cos": wave(ca.OP_COS), "div": divided})
    distinct: list[ca.SX] = []
    for angle in angles.values():
        if not any(ca.is_equal(angle, sign * other, DEEP) for other in distinct for sign in (1, -1)):
            distinct.append(angle)
    return distinct, sorted(divisors.values(), key=ca.n_nodes)
