"""How large the terms of a formula are before they cancel: what its rounding is measured by."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np

from appell.graph.replay import NAMES, SAME, Algebra, replay

ROUNDING = 1e-10  # part of the terms of a formula that is none of it


class _Term(NamedTuple):
    """A value, and the sum of the sizes of what was added up to it; on the graph, or as numbers."""

    value: Any
    size: Any


def term_sizes(function: ca.Function) -> ca.Function:
    """The sizes of the terms of a function's first output: |a| + |b| for a - b, |a b| for a b.

    Rounding is a share of them. A product of sums has that of the worse of its factors and not of both, or the sizes of
    what is solved for would grow beyond all numbers with every elimination.
    """
    letters = function.sx_in()
    found = _terms(function, [ca.vertsplit(e) for e in letters], _Graph)
    return ca.Function("terms", letters, [ca.vertcat(*[e.size for e in found])])


def term_sizes_at(function: ca.Function, *arguments: Any) -> np.ndarray:
    """The same at numbers, of which there may be several columns; for a long function that is asked for few of them."""
    blocks = [np.array(ca.DM(e)) for e in arguments]
    columns = max(block.shape[1] for block in blocks)  # constants are the same for all of them
    with np.errstate(all="ignore"):
        found = _terms(function, blocks, _Numbers)
    return np.array([np.broadcast_to(e.size, columns) for e in found]).reshape(-1, columns)


def terms_at(function: ca.Function, *arguments: Any) -> tuple[np.ndarray, np.ndarray]:
    """A function's first output, which is dense, and the sizes of its terms, both at numbers."""
    with np.errstate(all="ignore"):
        found = _terms(function, [np.array(ca.DM(e))[:, 0] for e in arguments], _Numbers)
    values, sizes = np.array(found).reshape(-1, 2).T
    shape = function.size_out(0)
    return values.reshape(shape, order="F"), sizes.reshape(shape, order="F")


def cleared(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Values, with zero where nothing but rounding is left of terms of these sizes."""
    return np.where(np.abs(values) > ROUNDING * sizes, values, 0.0)


class _Numbers:
    """Numbers, one or a row of them: Python's operators are many times quicker than CasADi's on so few of them."""

    QUICK: ClassVar[dict[int, Callable[..., Any]]] = {
        ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub, ca.OP_MUL: operator.mul, ca.OP_DIV: operator.truediv,
        ca.OP_NEG: operator.neg, ca.OP_SQ: lambda a: a * a, ca.OP_TWICE: lambda a: a + a, ca.OP_INV: lambda a: 1 / a,
        ca.OP_SQRT: np.sqrt, ca.OP_FABS: abs, ca.OP_FMAX: np.fmax,
        ca.OP_SIN: np.sin, ca.OP_COS: np.cos, ca.OP_ASSIGN: operator.pos,
    }  # fmt: skip

    @staticmethod
    def number(value: float) -> np.float64:
        return np.float64(value)

    @classmethod
    def rule(cls, operation: int) -> Callable[..., Any]:
        return cls.QUICK.get(operation) or partial(cls._applied, operation)

    @staticmethod
    def _applied(operation: int, *values: Any) -> Any:
        rows = np.broadcast_arrays(*values)
        flat = [ca.DM(row.ravel()).T for row in rows]
        found = np.array((ca.DM.unary if len(flat) == 1 else ca.DM.binary)(operation, *flat))
        return found.reshape(rows[0].shape)[()]


class _Graph:
    """Formulas in place of numbers."""

    @staticmethod
    def number(value: float) -> ca.SX:
        return ca.SX(value)

    @staticmethod
    def rule(operation: int) -> Callable[..., ca.SX]:
        return SAME[NAMES[operation]]


def _terms(function: ca.Function, blocks: Sequence[Any], kind: type[_Numbers] | type[_Graph]) -> list[_Term]:
    """The first output with the sizes of its terms."""
    size = kind.rule(ca.OP_FABS)

    def term(value: Any) -> _Term:
        return _Term(value, size(value))

    arguments = [[term(e) for e in block] for block in blocks]
    return replay(function, arguments, _algebra(kind), lambda value: term(kind.number(value)))[0]


@cache
def _algebra(kind: type[_Numbers] | type[_Graph]) -> Algebra:
    absolute, root, larger = (kind.rule(operation) for operation in (ca.OP_FABS, ca.OP_SQRT, ca.OP_FMAX))
    # Not the operators themselves, which look at shapes first: on the graph that takes longer than all else.
    add, times, over = (kind.rule(operation) for operation in (ca.OP_ADD, ca.OP_MUL, ca.OP_DIV))

    def product(a: _Term, b: _Term) -> Any:
        return larger(times(a.size, absolute(b.value)), times(absolute(a.value), b.size))

    def quotient(a: _Term, b: _Term) -> Any:
        below = absolute(b.value)
        return over(larger(a.size, times(absolute(a.value), over(b.size, below))), below)

    sizes: dict[str, Callable[..., Any]] = {
        "assign": lambda a: a.size,
        "neg": lambda a: a.size,
        "add": lambda a, b: add(a.size, b.size),
        "sub": lambda a, b: add(a.size, b.size),
        "twice": lambda a: add(a.size, a.size),
        "mul": product,
        "sq": lambda a: times(a.size, absolute(a.value)),
        "div": quotient,
        "sqrt": lambda a: root(a.size),
    }

    def rule(operation: int, name: str) -> Callable[..., _Term]:
        apply, size = kind.rule(operation), sizes.get(name)

        def plain(*terms: _Term) -> _Term:
            value = apply(*[term.value for term in terms])
            return _Term(value, absolute(value))

        def summed(*terms: _Term) -> _Term:
            return _Term(apply(*[term.value for term in terms]), size(*terms))  # type: ignore[misc]

        return plain if size is None else summed

    return {name: rule(operation, name) for operation, name in NAMES.items()}
