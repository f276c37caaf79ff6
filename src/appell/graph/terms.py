"""How large the terms of a formula are before they cancel: what its rounding is measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

import casadi as ca
import numpy as np

from appell.graph.replay import NAMES, Algebra, replay

ROUNDING = 1e-10  # part of the terms of a formula that is none of it


class _Term(NamedTuple):
    """A value, and the sum of the sizes of what was added up to it; on the graph, or as numbers."""

    value: Any
    size: Any


def term_sizes(function: ca.Function) -> ca.Function:
    """The sizes of the terms of a function's first output: |a| + |b| for a - b, |a b| for a b."""
    letters = function.sx_in()
    return ca.Function("terms", letters, [ca.vertcat(*_sizes(function, [ca.vertsplit(e) for e in letters], _Graph))])


def term_sizes_at(function: ca.Function, *arguments: Any) -> np.ndarray:
    """The same at numbers, of which there may be several columns; for a long function that is asked for few of them."""
    blocks = [np.array(ca.DM(e)) for e in arguments]
    columns = max(block.shape[1] for block in blocks)  # constants are the same for all of them
    with np.errstate(all="ignore"):
        sizes = [np.broadcast_to(size, columns) for size in _sizes(function, blocks, _Row)]
    return np.array(sizes).reshape(-1, columns)


def cleared(function: ca.Function, *arguments: Any) -> np.ndarray:
    """A function's only output at numbers, with zero where nothing but rounding is left of its terms."""
    value = np.array(function(*arguments))
    terms = term_sizes_at(ca.Function("column", function.sx_in(), [ca.vec(function(*function.sx_in()))]), *arguments)
    return np.where(np.abs(value) > ROUNDING * terms.reshape(value.shape, order="F"), value, 0.0)


class _Row:
    """Numbers of several columns at once: NumPy's operations are many times quicker than CasADi's on so few of them."""

    QUICK: ClassVar[dict[int, Callable[..., np.ndarray]]] = {
        ca.OP_ADD: np.add, ca.OP_SUB: np.subtract, ca.OP_MUL: np.multiply, ca.OP_DIV: np.divide,
        ca.OP_NEG: np.negative, ca.OP_SQ: np.square, ca.OP_SQRT: np.sqrt, ca.OP_FABS: np.abs,
        ca.OP_SIN: np.sin, ca.OP_COS: np.cos, ca.OP_ASSIGN: np.positive,
    }  # fmt: skip

    @staticmethod
    def number(value: float) -> np.ndarray:
        return np.array([value])

    @classmethod
    def apply(cls, operation: int, *values: np.ndarray) -> np.ndarray:
        quick = cls.QUICK.get(operation)
        if quick is not None:
            return quick(*values)
        rows = [ca.DM(row).T for row in np.broadcast_arrays(*values)]
        return np.array((ca.DM.unary if len(rows) == 1 else ca.DM.binary)(operation, *rows)).ravel()


class _Graph:
    """Formulas in place of numbers."""

    @staticmethod
    def number(value: float) -> ca.SX:
        return ca.SX(value)

    @staticmethod
    def apply(operation: int, *values: ca.SX) -> ca.SX:
        return (ca.SX.unary if len(values) == 1 else ca.SX.binary)(operation, *values)


def _sizes(function: ca.Function, blocks: Sequence[Any], kind: type[_Row] | type[_Graph]) -> list[Any]:
    def term(value: Any) -> _Term:
        return _Term(value, kind.apply(ca.OP_FABS, value))

    arguments = [[term(e) for e in block] for block in blocks]
    found = replay(function, arguments, _algebra(kind), lambda value: term(kind.number(value)))[0]
    return [e.size for e in found]


@cache
def _algebra(kind: Any) -> Algebra:
    return {name: _rule(operation, name, kind) for operation, name in NAMES.items()}


def _rule(operation: int, name: str, kind: Any) -> Callable[..., _Term]:
    sizes: dict[str, Callable[..., Any]] = {
        "assign": lambda a: a.size,
        "neg": lambda a: a.size,
        "add": lambda a, b: a.size + b.size,
        "sub": lambda a, b: a.size + b.size,
        "twice": lambda a: 2 * a.size,
        "mul": lambda a, b: a.size * b.size,
        "sq": lambda a: a.size * a.size,
        "div": lambda a, b: a.size / kind.apply(ca.OP_FABS, b.value),
        "sqrt": lambda a: kind.apply(ca.OP_SQRT, a.size),
    }
    size = sizes.get(name)

    def rule(*terms: _Term) -> _Term:
        value = kind.apply(operation, *[term.value for term in terms])
        return _Term(value, kind.apply(ca.OP_FABS, value) if size is None else size(*terms))

    return rule
