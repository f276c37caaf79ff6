"""How large the terms of a formula are before they cancel: what its rounding is measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from appell.graph.replay import NAMES, replay

ROUNDING = 1e-10  # part of the terms of a formula that is none of it


class _Term(NamedTuple):
    """A value, and the sum of the sizes of what was added up to it; on the graph, or as numbers."""

    value: Any
    size: Any


def term_sizes(function: ca.Function) -> ca.Function:
    """The sizes of the terms of a function's first output: |a| + |b| for a - b, |a b| for a b."""
    letters = function.sx_in()
    return ca.Function("terms", letters, [ca.vertcat(*_sizes(function, letters, ca.SX))])


def term_sizes_at(function: ca.Function, *arguments: Any) -> np.ndarray:
    """The same at numbers, of which there may be several columns; for a long function that is asked for few of them."""
    blocks = [ca.DM(e) for e in arguments]
    nothing = ca.DM.zeros(1, max(block.shape[1] for block in blocks))  # constants are the same for all columns
    return np.array(ca.vertcat(*[size + nothing for size in _sizes(function, blocks, ca.DM)]))


def cleared(function: ca.Function, *arguments: Any) -> np.ndarray:
    """A function's only output at numbers, with zero where nothing but rounding is left of its terms."""
    value = np.array(function(*arguments))
    terms = term_sizes_at(ca.Function("column", function.sx_in(), [ca.vec(function(*function.sx_in()))]), *arguments)
    return np.where(np.abs(value) > ROUNDING * terms.reshape(value.shape, order="F"), value, 0.0)


def _sizes(function: ca.Function, blocks: Sequence[Any], kind: Any) -> list[Any]:
    arguments = [[_Term(e, ca.fabs(e)) for e in ca.vertsplit(block)] for block in blocks]
    algebra = {name: _rule(operation, name, kind) for operation, name in NAMES.items()}
    found = replay(function, arguments, algebra, lambda value: _Term(kind(value), kind(abs(value))))[0]
    return [term.size for term in found]


def _rule(operation: int, name: str, kind: Any) -> Callable[..., _Term]:
    sizes: dict[str, Callable[..., Any]] = {
        "assign": lambda a: a.size,
        "neg": lambda a: a.size,
        "add": lambda a, b: a.size + b.size,
        "sub": lambda a, b: a.size + b.size,
        "twice": lambda a: 2 * a.size,
        "mul": lambda a, b: a.size * b.size,
        "sq": lambda a: a.size * a.size,
        "div": lambda a, b: a.size / ca.fabs(b.value),
        "sqrt": lambda a: ca.sqrt(a.size),
    }
    size = sizes.get(name)

    def rule(*terms: _Term) -> _Term:
        values = [term.value for term in terms]
        value = (kind.unary if len(values) == 1 else kind.binary)(operation, *values)
        return _Term(value, ca.fabs(value) if size is None else size(*terms))

    return rule
