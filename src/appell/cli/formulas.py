"""Formulas as they are typed: numbers such as pi/2, laws of inputs such as -4*theta - theta.rate."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

import sympy as sp

_FUNCTIONS = {
    name: getattr(sp, name)
    for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "sqrt")
} | {"abs": sp.Abs, "sign": sp.sign, "min": sp.Min, "max": sp.Max}
_OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def formula(text: str, letters: Mapping[str, sp.Expr]) -> sp.Expr:
    """A formula in Python's notation, `1 if t < 2 else 0` included; a prime is a rate, a minus may be a printed one.

    Nothing is executed.

    Args:
        text: What was typed.
        letters: What names stand for, besides pi.

    Raises:
        ValueError: The text is no formula in these letters.
    """
    try:
        plain = text.strip().replace("'", ".rate").replace("\u2212", "-")
        found = _read(ast.parse(plain, mode="eval").body, {"pi": sp.pi, **letters})
    except (SyntaxError, TypeError, RecursionError):
        raise ValueError(f"{text!r} cannot be read") from None
    if not isinstance(found, sp.Expr):
        raise ValueError(f"{text!r} cannot be read")
    return found


def _read(node: ast.AST, letters: Mapping[str, sp.Expr]) -> Any:
    match node:
        case ast.Constant(value=int() | float()):
            return sp.sympify(node.value)
        case ast.Name() | ast.Attribute() if ast.unparse(node) in letters:
            return letters[ast.unparse(node)]
        case ast.UnaryOp(op=op, operand=one) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_read(one, letters))
        case ast.BinOp(left=one, op=op, right=other) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_read(one, letters), _read(other, letters))
        case ast.Compare(left=one, ops=[op], comparators=[other]) if type(op) in _OPERATIONS:
            return _OPERATIONS[type(op)](_read(one, letters), _read(other, letters))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_read(e, letters) for e in arguments))
        case ast.IfExp(test=ast.Compare() as test, body=one, orelse=other):
            return sp.Piecewise((_read(one, letters), _read(test, letters)), (_read(other, letters), True))
        case ast.BinOp(op=ast.BitXor()):
            raise ValueError(f"{ast.unparse(node)!r} cannot be read: a power is written x**2")
    raise ValueError(f"{ast.unparse(node)!r} cannot be read")
