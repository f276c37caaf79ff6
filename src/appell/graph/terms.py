"""How large the terms of a formula are before they cancel: what its rounding is measured by."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import casadi as ca

from appell.graph.replay import NAMES, replay


class _Term(NamedTuple):
    """A value, and the sum of the sizes of what was added up to it."""

    value: ca.SX
    size: ca.SX


def term_sizes(function: ca.Function) -> ca.Function:
    """The sizes of the terms of a function's first output: |a| + |b| for a - b, |a b| for a b."""
    letters = function.sx_in()
    arguments = [[_Term(e, ca.fabs(e)) for e in ca.vertsplit(block)] for block in letters]
    algebra = {name: _rule(operation, name) for operation, name in NAMES.items()}
    found = replay(function, arguments, algebra, lambda value: _Term(ca.SX(value), ca.SX(abs(value))))[0]
    return ca.Function("terms", letters, [ca.vertcat(*[term.size for term in found])])


def _rule(operation: int, name: str) -> Callable[..., _Term]:
    sizes: dict[str, Callable[..., ca.SX]] = {
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
        value = (ca.SX.unary if len(values) == 1 else ca.SX.binary)(operation, *values)
        return _Term(value, ca.fabs(value) if size is None else size(*terms))

    return rule
