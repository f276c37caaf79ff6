"""Formulas as plain HTML: what a cell of a notebook's table shows in every program, with or without a typesetter."""

from __future__ import annotations

import html
import re
from typing import Any

import sympy as sp
from sympy.printing.pretty.pretty_symbology import pretty_symbol

from appell.model.symbols import Letter

SUM, PRODUCT, POWER, ATOM = range(4)  # how strongly a formula holds together
THIN = "&#8201;"
MINUS = "&minus;"


class Formula(str):
    """A formula between dollar signs that remembers what it says.

    Args:
        tex: The text with its dollar signs.
        expression: The formula itself.
        behind: What is said of it, such as `= 0`.
    """

    expression: Any
    behind: str

    def __new__(cls, tex: str, expression: Any, behind: str = "") -> Formula:
        """Make the text."""
        made = super().__new__(cls, tex)
        made.expression, made.behind = expression, behind
        return made

    def inline(self) -> str:
        """As HTML without script or style."""
        return written(self.expression) + html.escape(self.behind)


def written(formula: Any) -> str:
    """A formula as HTML: slanted letters, raised exponents, a stroke for quotients.

    Args:
        formula: Anything that SymPy understands.
    """
    return _written(sp.sympify(formula))[0]


def _written(e: Any) -> tuple[str, int]:
    if isinstance(e, sp.Tuple):
        return f"({', '.join(written(c) for c in e)})", ATOM
    if isinstance(e, sp.MatrixBase):
        rows = ("[" + ", ".join(written(e[i, j]) for j in range(e.cols)) + "]" for i in range(e.rows))
        return f"[{', '.join(rows)}]", ATOM
    if isinstance(e, sp.Symbol):
        return _letter(e), ATOM
    if isinstance(e, sp.Float):
        return f"{float(e):.8g}".replace("-", MINUS), ATOM if e >= 0 else SUM
    if isinstance(e, sp.Add):
        return _sum(e), SUM
    if isinstance(e, sp.Mul) or (isinstance(e, sp.Rational) and e.q != 1):
        return _product(e)
    if isinstance(e, sp.Integer):
        return str(e).replace("-", MINUS), ATOM if e >= 0 else SUM
    if isinstance(e, sp.Pow):
        if e.exp == sp.S.Half:
            return f"&radic;({written(e.base)})", ATOM
        if e.exp.could_extract_minus_sign():
            return _product(e)
        return f"{_held(e.base, POWER + 1)}<sup>{written(e.exp)}</sup>", POWER
    if isinstance(e, sp.Function) and not isinstance(e, sp.Piecewise):
        return f"{html.escape(e.func.__name__)}({', '.join(written(c) for c in e.args)})", ATOM
    return html.escape(str(e)), ATOM


def _held(e: Any, strength: int) -> str:
    text, own = _written(e)
    return text if own >= strength else f"({text})"


def _letter(symbol: sp.Symbol) -> str:
    base, primes = symbol, ""
    while (inner := getattr(base, "base", None)) is not None and isinstance(inner, Letter):
        base, primes = inner, primes + "&prime;"
    parts = re.fullmatch(r"([A-Za-z]+?)(?:_?(\d+)|_(\w+))?", base.name)
    if parts is None:
        return html.escape(base.name) + primes
    name = str(pretty_symbol(parts.group(1)))
    below = html.escape(parts.group(2) or parts.group(3) or "")
    return (f"<i>{name}</i>" if len(name) == 1 else name) + (f"<sub>{below}</sub>" if below else "") + primes


def _sum(e: sp.Add) -> str:
    terms = sorted(e.as_ordered_terms(), key=lambda term: bool(term.could_extract_minus_sign()))
    text = written(terms[0])
    for term in terms[1:]:
        if term.could_extract_minus_sign():
            text += f" {MINUS} {_held(-term, PRODUCT)}"
        else:
            text += f" + {written(term)}"
    return text


def _product(e: sp.Expr) -> tuple[str, int]:
    if e.could_extract_minus_sign():
        return MINUS + _held(-e, PRODUCT), SUM
    above, below = sp.fraction(e)
    text = _factors(above)
    if below != 1:
        bottom = _factors(below)
        text += f"/{bottom}" if len(sp.Mul.make_args(below)) == 1 else f"/({bottom})"
    return text, PRODUCT


def _factors(e: sp.Expr) -> str:
    listed = e.as_ordered_factors() if isinstance(e, sp.Mul) else [e]
    return THIN.join(_held(f, POWER if len(listed) > 1 or not isinstance(f, sp.Add) else ATOM) for f in listed)
