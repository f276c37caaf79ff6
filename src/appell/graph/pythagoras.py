"""sin² + cos² = 1 on the graph: what is constant in a determinant of turned axes becomes so, and its rate vanishes."""

from __future__ import annotations

from functools import reduce

import casadi as ca

from appell.graph.sparse import Scalar, add, mul, power_product, to_sx
from appell.graph.sums import ONE, Monomial, Sum, common, inverse, plus, shifted, times

LARGEST = 80  # matrices of more nodes are left as they are
LONGEST = 20  # and sums of more products


def reduced(matrix: ca.SX) -> ca.SX:
    """A matrix whose entries are multiplied out where sin² + cos² = 1 makes them shorter; the same one if none are.

    Args:
        matrix: Sums and products of anything.
    """
    if ca.n_nodes(matrix) > LARGEST:
        return matrix
    algebra, shared = _Algebra(), ca.cse(matrix)
    shorter = [algebra.shorter(entry) for entry in shared.nonzeros()]
    if not any(entry is not None for entry in shorter):
        return matrix
    entries = [old if new is None else new for new, old in zip(shorter, shared.nonzeros(), strict=True)]
    result = ca.cse(ca.SX(shared.sparsity(), ca.vertcat(*entries)))
    return result if ca.n_nodes(result) < ca.n_nodes(shared) else matrix


class _TooLong(Exception):
    """More products than are worth it."""


class _Algebra:
    """Sums of products; what is neither of both is a factor.

    Attributes:
        factors: The factors on the graph.
        cosines: For the sine of an angle the cosine of the same one, where both occur.
    """

    def __init__(self) -> None:
        self.factors: list[ca.SX] = []
        self.cosines: dict[int, int] = {}
        self._numbers: dict[int, int] = {}
        self._angles: dict[int, dict[int, int]] = {}
        self._sums: dict[int, Sum] = {}

    def shorter(self, entry: ca.SX) -> ca.SX | None:
        """The same from fewer nodes; None if it takes as many."""
        try:
            terms = self._joined(self._sum(entry))
        except _TooLong:
            return None
        nodes = ca.n_nodes(entry)
        if sum(map(len, terms)) - len(terms) * len(common([terms])) >= nodes:
            return None
        short = self._graph(terms)
        return short if ca.n_nodes(short) < nodes else None

    def _sum(self, node: ca.SX) -> Sum:
        key = node.element_hash()
        if key not in self._sums:
            self._sums[key] = self._expanded(node)
            if len(self._sums[key]) > LONGEST:
                raise _TooLong
        return self._sums[key]

    def _expanded(self, node: ca.SX) -> Sum:
        if node.is_constant():
            return {(): float(node)} if float(node) else {}
        operation = -1 if node.is_symbolic() else node.op()
        if operation in (ca.OP_ADD, ca.OP_SUB):
            return plus(self._sum(node.dep(0)), self._sum(node.dep(1)), 1.0 if operation == ca.OP_ADD else -1.0)
        if operation == ca.OP_NEG:
            return shifted(self._sum(node.dep(0)), ONE, -1.0)
        if operation == ca.OP_TWICE:
            return shifted(self._sum(node.dep(0)), ONE, 2.0)
        if operation in (ca.OP_MUL, ca.OP_SQ):
            return _multiplied(self._sum(node.dep(0)), self._sum(node.dep(node.n_dep() - 1)))
        if operation == ca.OP_DIV and len(below := self._sum(node.dep(1))) == 1:
            ((product, c),) = below.items()
            return shifted(self._sum(node.dep(0)), inverse(product), 1 / c)
        return {((self._factor(node, operation), 1),): 1.0}

    def _factor(self, node: ca.SX, operation: int) -> int:
        number = self._numbers.setdefault(node.element_hash(), len(self.factors))
        if number == len(self.factors):
            self.factors.append(node)
        if operation in (ca.OP_SIN, ca.OP_COS):
            pair = self._angles.setdefault(node.dep(0).element_hash(), {})
            pair[operation] = number
            if len(pair) == 2:
                self.cosines[pair[ca.OP_SIN]] = pair[ca.OP_COS]
        return number

    def _joined(self, terms: Sum) -> Sum:
        """m sin² + m cos² = m, as long as there is one."""
        for product, c in terms.items():
            for factor, exponent in product:
                if exponent >= 2 and factor in self.cosines:
                    rest = times(product, ((factor, -2),))
                    other = times(rest, ((self.cosines[factor], 2),))
                    if terms.get(other) == c:
                        left = {m: d for m, d in terms.items() if m not in (product, other)}
                        return self._joined(plus(left, {rest: c}))
        return terms

    def _graph(self, terms: Sum) -> ca.SX:
        """What all terms share before the bracket."""
        if not terms:
            return ca.SX(0)
        outside = common([terms])
        size = abs(next(iter(terms.values())))
        size = size if all(abs(c) == size for c in terms.values()) else 1.0
        inside = [self._term(m, c) for m, c in shifted(terms, inverse(outside), 1 / size).items()]
        return to_sx(mul(self._term(outside, size), reduce(add, inside)))

    def _term(self, product: Monomial, c: float) -> Scalar:
        return power_product(c, ((self.factors[f], e) for f, e in product))


def _multiplied(a: Sum, b: Sum) -> Sum:
    if len(a) * len(b) > LONGEST:
        raise _TooLong
    return reduce(plus, (shifted(a, product, c) for product, c in b.items()), {})
