"""Graphs with operators that name their kind: CasADi's own try all kinds of arguments first and take ten times as long.

For functions that are built while somebody waits; the graphs are those that CasADi's operators give.
"""

from __future__ import annotations

import casadi as ca

_binary, _unary = ca.SX.binary, ca.SX.unary


def _graph(value: Quick | ca.SX | float) -> ca.SX:
    if isinstance(value, Quick):
        return value.graph
    return value if isinstance(value, ca.SX) else ca.SX(value)


class Quick:
    """A graph, its numbers combined one by one with those of another one of the same shape or with a scalar.

    Args:
        graph: The graph.
    """

    __slots__ = ("graph",)

    def __init__(self, graph: ca.SX) -> None:
        self.graph = graph

    def _with(self, operation: int, other: Quick | ca.SX | float) -> Quick:
        return Quick(_binary(operation, self.graph, _graph(other)))

    def _after(self, operation: int, other: Quick | ca.SX | float) -> Quick:
        return Quick(_binary(operation, _graph(other), self.graph))

    def __add__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_ADD, other)

    def __sub__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_SUB, other)

    def __rsub__(self, other: Quick | ca.SX | float) -> Quick:
        return self._after(ca.OP_SUB, other)

    def __mul__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_MUL, other)

    def __rmul__(self, other: Quick | ca.SX | float) -> Quick:
        return self._after(ca.OP_MUL, other)

    def __truediv__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_DIV, other)

    def __rtruediv__(self, other: Quick | ca.SX | float) -> Quick:
        return self._after(ca.OP_DIV, other)

    def __lt__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_LT, other)

    def __le__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_LE, other)

    def __gt__(self, other: Quick | ca.SX | float) -> Quick:
        return self._after(ca.OP_LT, other)

    def __ge__(self, other: Quick | ca.SX | float) -> Quick:
        return self._after(ca.OP_LE, other)

    def __and__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_AND, other)

    def __or__(self, other: Quick | ca.SX | float) -> Quick:
        return self._with(ca.OP_OR, other)

    def __invert__(self) -> Quick:
        return Quick(_unary(ca.OP_NOT, self.graph))

    def __abs__(self) -> Quick:
        return Quick(_unary(ca.OP_FABS, self.graph))


def root(value: Quick) -> Quick:
    """The square root."""
    return Quick(_unary(ca.OP_SQRT, value.graph))


def smaller(a: Quick | float, b: Quick) -> Quick:
    """The smaller one of two."""
    return Quick(_binary(ca.OP_FMIN, _graph(a), b.graph))


def larger(a: Quick | float, b: Quick | float) -> Quick:
    """The larger one of two."""
    return Quick(_binary(ca.OP_FMAX, _graph(a), _graph(b)))


def choose(condition: Quick, yes: Quick | ca.SX | float, no: Quick | ca.SX | float) -> Quick:
    """One graph where a condition holds, another one where it does not."""
    held = _binary(ca.OP_IF_ELSE_ZERO, condition.graph, _graph(yes))
    left = _binary(ca.OP_IF_ELSE_ZERO, _unary(ca.OP_NOT, condition.graph), _graph(no))
    return Quick(_binary(ca.OP_ADD, held, left))
