"""Formulas as Python code."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from appell.model.symbols import READABLE, Rate, Time, inside_out, length

STEP = 60  # nodes of one step of a long formula
TAKEN = set("ap sp ground model bodies forces constraints system start motion equations print".split())


def word(name: str) -> str:
    """A letter's name as a name in Python; names that the code needs for itself get a _, and those with it another."""
    bare = name.rstrip("_")
    own = bare in TAKEN or keyword.iskeyword(bare) or re.fullmatch(r"(frame_|body_|Z)\d+", bare)
    return f"{name}_" if own else name


class _Python(StrPrinter):
    """Formulas as one types them, nothing turned into floats."""

    printmethod = "_appell_source"  # letters have a way of their own to be printed, which is not code

    def __init__(self, names: Mapping[sp.Basic, str] | None = None) -> None:
        super().__init__()
        self.names = names or {}

    def _print(self, expr: Any, **options: Any) -> str:
        return self.names[expr] if expr in self.names else super()._print(expr, **options)

    def _print_Rate(self, expr: Rate) -> str:
        return f"{self._print(expr.base)}" + ".rate" * expr.order

    def _print_Symbol(self, expr: sp.Symbol) -> str:
        if isinstance(expr, Rate):
            return self._print_Rate(expr)
        return "ap.t" if isinstance(expr, Time) else word(expr.name)

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"sp.Rational({expr.p}, {expr.q})" if expr.q != 1 else str(expr.p)

    def _print_Half(self, expr: Any) -> str:
        return "sp.Rational(1, 2)"

    def _print_Pi(self, expr: Any) -> str:
        return "sp.pi"

    def _print_Float(self, expr: sp.Float) -> str:
        return repr(float(expr))

    def _print_Function(self, expr: Any) -> str:
        return f"sp.{expr.func.__name__}({self.stringify(expr.args, ', ')})"

    _print_Max = _print_Min = _print_Function

    def _print_Piecewise(self, expr: Any) -> str:
        pieces = ", ".join(f"({self._print(e)}, {self._print(c)})" for e, c in expr.args)
        return f"sp.Piecewise({pieces})"

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        if expr.exp == sp.Rational(1, 2):
            return f"sp.sqrt({self._print(expr.base)})"
        if expr.exp == -sp.Rational(1, 2):
            return f"1/sp.sqrt({self._print(expr.base)})"
        if expr.exp.is_Rational and expr.exp.q != 1:
            return f"({self._print(expr.base)})**{self._print(expr.exp)}"
        return super()._print_Pow(expr, rational)


def formula(expression: Any) -> str:
    """A formula in Python."""
    return _written(sp.sympify(expression))


@lru_cache(maxsize=2_000)  # a model is written beside that of the library it may be
def _written(expression: sp.Basic) -> str:
    return _Python().doprint(expression)


def in_steps(expression: sp.Expr, lines: list[str], names: dict[sp.Basic, str]) -> str:
    """A formula in Python; one that would fill pages in steps, lines Z1 = ..., Z2 = ... that go before it."""
    if length(expression) <= READABLE:
        return formula(expression)
    sizes: dict[sp.Basic, int] = {}
    for node in inside_out(expression):
        sizes[node] = 1 if node in names else 1 + sum(sizes[e] for e in node.args)
        if sizes[node] > STEP:
            lines.append(f"Z{len(names) + 1} = {_Python(names).doprint(node)}")
            names[node] = f"Z{len(names) + 1}"
            sizes[node] = 1
    return _Python(names).doprint(expression)
