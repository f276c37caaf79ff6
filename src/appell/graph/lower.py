"""SymPy enters: from a formula to the CasADi graph on which everything is derived.

An explicit stack and a memo keyed on the SymPy node: shared subtrees are lowered once, deep trees do not recurse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import casadi as ca
import sympy as sp
from sympy.functions.elementary.trigonometric import sinc

from appell.errors import CompileError
from appell.graph.removable import is_root, regular, sinc_graph
from appell.graph.sparse import stacked

# CasADi's operators try all kinds of arguments first; named with their kind they are many times quicker.
_binary, _unary = ca.SX.binary, ca.SX.unary


def _fold(operation: int) -> Callable[..., ca.SX]:
    def folded(*args: ca.SX) -> ca.SX:
        result = args[0]
        for arg in args[1:]:
            result = _binary(operation, result, arg)
        return result

    return folded


def _plain(operation: int) -> Callable[[ca.SX], ca.SX]:
    return lambda x: _unary(operation, x)


def _inverse(x: ca.SX) -> ca.SX:
    return _binary(ca.OP_DIV, ca.SX(1), x)


def _integer_power(base: ca.SX, exponent: int) -> ca.SX:
    if exponent < 0:
        return _inverse(_integer_power(base, -exponent))
    result, square = None, base
    while exponent:
        if exponent & 1:
            result = square if result is None else _binary(ca.OP_MUL, result, square)
        exponent >>= 1
        if exponent:
            square = _binary(ca.OP_MUL, square, square)
    return ca.SX(1) if result is None else result


def _heaviside(x: ca.SX, at_zero: ca.SX) -> ca.SX:
    return ca.if_else(x > 0, 1, ca.if_else(x < 0, 0, at_zero))


def _piecewise(*branches: ca.SX) -> ca.SX:
    """Value, condition, value, condition, ...; no branch is NaN."""
    result = ca.SX(float("nan"))
    pairs = list(zip(branches[::2], branches[1::2], strict=True))
    if pairs and pairs[-1][1].is_one():
        result = pairs.pop()[0]
    for value, condition in reversed(pairs):
        result = ca.if_else(condition, value, result)
    return result


_TABLE: dict[type, Callable[..., ca.SX]] = {
    sp.Add: _fold(ca.OP_ADD),
    sp.Mul: _fold(ca.OP_MUL),
    sp.sin: _plain(ca.OP_SIN),
    sp.cos: _plain(ca.OP_COS),
    sp.tan: _plain(ca.OP_TAN),
    sp.sec: lambda x: _inverse(ca.cos(x)),
    sp.csc: lambda x: _inverse(ca.sin(x)),
    sp.cot: lambda x: _inverse(ca.tan(x)),
    sp.asin: _plain(ca.OP_ASIN),
    sp.acos: _plain(ca.OP_ACOS),
    sp.atan: _plain(ca.OP_ATAN),
    sp.atan2: ca.atan2,
    sp.sinh: _plain(ca.OP_SINH),
    sp.cosh: _plain(ca.OP_COSH),
    sp.tanh: _plain(ca.OP_TANH),
    sp.asinh: _plain(ca.OP_ASINH),
    sp.acosh: _plain(ca.OP_ACOSH),
    sp.atanh: _plain(ca.OP_ATANH),
    sp.exp: _plain(ca.OP_EXP),
    sp.log: _plain(ca.OP_LOG),
    sp.erf: _plain(ca.OP_ERF),
    sp.Abs: _plain(ca.OP_FABS),
    sp.sign: _plain(ca.OP_SIGN),
    sp.floor: _plain(ca.OP_FLOOR),
    sp.ceiling: _plain(ca.OP_CEIL),
    sp.Mod: lambda a, b: a - b * ca.floor(a / b),
    sp.Min: _fold(ca.OP_FMIN),
    sp.Max: _fold(ca.OP_FMAX),
    sp.Heaviside: _heaviside,
    sinc: sinc_graph,
    sp.StrictLessThan: lambda a, b: a < b,
    sp.LessThan: lambda a, b: a <= b,
    sp.StrictGreaterThan: lambda a, b: b < a,
    sp.GreaterThan: lambda a, b: b <= a,
    sp.Equality: lambda a, b: a == b,
    sp.Unequality: lambda a, b: a != b,
    sp.And: _fold(ca.OP_AND),
    sp.Or: _fold(ca.OP_OR),
    sp.Not: ca.logic_not,
    sp.Piecewise: _piecewise,
}


_ROOTS = (sp.Rational(1, 2), sp.Rational(-1, 2))


def _children(node: sp.Basic) -> tuple[sp.Basic, ...]:
    if isinstance(node, sinc):
        u = node.args[0]
        return (u**2,) if is_root(u) else (u**2, u)
    if isinstance(node, sp.Pow) and (node.exp.is_Integer or node.exp in _ROOTS):
        return (node.base,)
    if isinstance(node, sp.Piecewise):
        return tuple(part for branch in node.args for part in (branch.args[0], branch.args[1]))
    return node.args


class Lowering:
    """A memo of lowered nodes over an environment of leaves.

    Args:
        leaves: What each symbol is on the graph.
    """

    def __init__(self, leaves: Mapping[sp.Basic, ca.SX]) -> None:
        self.memo: dict[sp.Basic, ca.SX] = dict(leaves)

    def __call__(self, formula: Any) -> ca.SX:
        """The graph of one formula."""
        formula, memo = sp.sympify(formula), self.memo
        stack: list[sp.Basic] = [formula]
        while stack:
            node = stack[-1]
            if node in memo:
                stack.pop()
                continue
            whole = regular(node) if isinstance(node, sp.Mul) else node
            children = _children(node) if whole is node else (whole,)
            missing = [child for child in children if child not in memo]
            if missing:
                stack.extend(missing)
                continue
            memo[node] = self._node(node, [memo[child] for child in children]) if whole is node else memo[whole]
            stack.pop()
        return memo[formula]

    def column(self, formulas: Any) -> ca.SX:
        """A column of formulas."""
        return stacked(self(e) for e in formulas)

    def _node(self, node: sp.Basic, args: list[ca.SX]) -> ca.SX:
        if not args:
            if isinstance(node, sp.Number | sp.NumberSymbol):
                return ca.SX(float(node))
            if node in (sp.true, sp.false):
                return ca.SX(1.0 if node == sp.true else 0.0)
        if isinstance(node, sp.Pow):
            if len(args) == 1 and node.exp.is_Integer:
                return _integer_power(args[0], int(node.exp))
            if len(args) == 1:
                root = _unary(ca.OP_SQRT, args[0])
                return root if node.exp > 0 else _inverse(root)
            return ca.exp(args[1]) if node.base == sp.E else args[0] ** args[1]
        rule = _TABLE.get(type(node))
        if rule is None:
            what = f"the symbol {node}" if isinstance(node, sp.Symbol) else f"{type(node).__name__} in {node}"
            raise CompileError(
                f"Cannot translate {what}: it is neither declared nor an elementary function. "
                f"Known functions: {', '.join(sorted(k.__name__ for k in _TABLE))}."
            )
        return rule(*args)
