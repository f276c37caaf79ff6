"""Pages as plain text and as LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from appell.model.symbols import Letter, letters_in
from appell.reading.letters import Shown, in_print
from appell.reading.pages import Page
from appell.reading.rows import Row
from appell.reading.widths import seen, spaced

WIDTH = 110  # of a line of text
TERM_WIDTH = 90  # of a term of it that is written in one piece
FORMULA_WIDTH = 76  # of a line of LaTeX, in letters as they are seen
BESIDE = 8  # of what stands beside a coefficient: its sign before it, the unknown behind it
ALIGNED_WIDTH = 26  # of a left side that is aligned with others in LaTeX
LEFT_WIDTH = 40  # longer left sides are not aligned with others
DIGITS = 8  # of numbers that are no fractions
TEXTBOOK = 12  # the largest denominator of fractions that stay what they are
LONG = 2 * DIGITS  # letters of a fraction that is rounded


Sides = tuple[list[str], list[str]]  # terms of the left and of the right side


def _positive_first(terms: list[sp.Expr]) -> list[sp.Expr]:
    """`a - b`, not `-b + a`."""
    return sorted(terms, key=lambda term: term.could_extract_minus_sign())


def _decimals(expr: Any) -> Any:
    """Fractions that are shorter as decimals are measured numbers: 0.4318, not 2159/5000; but 7/10, 1/12, 3/80.

    Those too long to be read are rounded.
    """
    if not isinstance(expr, sp.Basic):
        return expr
    found = {}
    for e in expr.atoms(sp.Rational):
        text = f"{float(e):.{DIGITS}g}"
        shorter = e.q > TEXTBOOK and len(text) < len(str(e))
        if shorter and (len(str(e)) > LONG or ("e" not in text and sp.Rational(text) == e)):
            found[e] = sp.Float(text)
    return expr.xreplace(found) if found else expr


class _Text(StrPrinter):
    sign, opening, closing, width = "*", "(", ")", TERM_WIDTH

    @staticmethod
    def size(text: str) -> int:
        return len(text)

    def doprint(self, expr: Any) -> str:
        return super().doprint(_decimals(expr))

    def _print_Shown(self, expr: Shown) -> str:
        return expr.text

    def _as_ordered_terms(self, expr: sp.Expr, order: Any = None) -> list[sp.Expr]:
        return _positive_first(super()._as_ordered_terms(expr, order=order))

    def _print_Float(self, expr: sp.Float) -> str:
        return f"{float(expr):.{DIGITS}g}"

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        if expr.exp.is_Rational and expr.exp.is_negative:  # 1/a**3, not a**(-3)
            return f"1/{self.parenthesize(sp.Pow(expr.base, -expr.exp), PRECEDENCE['Mul'])}"
        return super()._print_Pow(expr, rational=rational)

    def in_brackets(self, text: str) -> str:
        return f"({text})"


class _Latex(LatexPrinter):
    sign, opening, closing, width = " ", r"\bigl(", r"\bigr)", FORMULA_WIDTH

    @staticmethod
    def size(text: str) -> int:
        return seen(text)

    def doprint(self, expr: Any) -> str:
        return spaced(super().doprint(_decimals(expr)))

    def _print_Shown(self, expr: Shown) -> str:
        return expr.tex

    def _as_ordered_terms(self, expr: sp.Expr, order: Any = None) -> list[sp.Expr]:
        return _positive_first(super()._as_ordered_terms(expr, order=order))

    def _print_Float(self, expr: sp.Float) -> str:
        number, exponent, power = f"{float(expr):.{DIGITS}g}".partition("e")
        return rf"{number} \cdot 10^{{{int(power)}}}" if exponent else number

    def _print_ExpBase(self, expr: sp.Expr, exp: Any = None) -> str:
        """Upright, or it would be the power of a letter e."""
        return self._do_exponent(rf"\mathrm{{e}}^{{{self._print(expr.args[0])}}}", exp)

    def in_brackets(self, text: str) -> str:
        return rf"\left({text}\right)"


def formula_latex(expression: Any, among: Iterable[Letter] = ()) -> str:
    """A formula in the letters of a model as LaTeX, its letters set as on a page.

    Args:
        expression: The formula.
        among: Letters that stand beside it and must not look like those in it.
    """
    given = sp.sympify(expression)
    letters = {*among, *(s for s in letters_in(given) if isinstance(s, Letter))}
    return _Latex().doprint(given.xreplace(in_print(sorted(letters, key=lambda s: (s.name, s.kind)))))


def as_text(page: Page) -> str:
    """Sections with aligned equations, the names, and the count of operations."""
    printer = _Text()
    lines = [page.title]
    for section in page.sections:
        lines += ["", section.heading, *_aligned([_sides(row, printer) for row in section.rows])]
    if page.names:
        names = [([name.text], _terms(formula, printer)) for name, formula in page.names.items()]
        lines += ["", "where", *_aligned(names)]
    return "\n".join([*lines, "", _count(page)])


def as_latex(page: Page) -> str:
    """One aligned environment, for a document: without the count of operations."""
    printer = _Latex()
    lines: list[str] = []
    for section in page.sections:
        lines += [rf"&\text{{{section.heading}}}", *_latex_lines([_sides(row, printer) for row in section.rows])]
    if page.names:
        names = [([name.tex], _terms(formula, printer)) for name, formula in page.names.items()]
        lines += [r"&\text{where}", *_latex_lines(names)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def latex_rows(page: Page) -> list[tuple[str, list[tuple[str, str]]]]:
    """Headings, and under each its equations as LaTeX, left and right sides; long ones in several lines."""
    printer = _Latex()
    groups = [(section.heading, [_sides(row, printer) for row in section.rows]) for section in page.sections]
    if page.names:
        groups.append(("where", [([name.tex], _terms(formula, printer)) for name, formula in page.names.items()]))

    def equation(left: list[str], right: list[str]) -> tuple[str, str]:
        head, *tail = _folded(left, FORMULA_WIDTH, seen)
        room = FORMULA_WIDTH - seen(head) if not tail and seen(head) <= ALIGNED_WIDTH else 0
        first, *others = _folded(right, room or FORMULA_WIDTH, seen)
        if room or (not tail and not others and seen(head) + seen(first) < FORMULA_WIDTH):
            return head, _stacked([first, *(rf"\quad {e}" for e in others)]) if others else first
        return "", _stacked([head, *(rf"\quad {e}" for e in tail), f"= {first}", *(rf"\quad {e}" for e in others)])

    return [(heading, [equation(left, right) for left, right in rows]) for heading, rows in groups]


def _stacked(lines: list[str]) -> str:
    return r"\begin{aligned}" + r" \\ ".join(f"& {line}" for line in lines) + r"\end{aligned}"


def _count(page: Page) -> str:
    return f"{page.operations} operation{'' if page.operations == 1 else 's'} for one right-hand side"


def _sides(row: Row, printer: _Text | _Latex) -> tuple[list[str], list[str]]:
    """Terms of the left side, coefficients before unknowns in the order of these, and terms of the right side."""
    if not row.left:
        return _terms(row.right, printer), ["0"]
    words = []
    for coefficient, unknown in row.left:
        letter = printer.doprint(unknown)
        if coefficient in (1, -1):
            words.append(letter if coefficient == 1 else f"-{letter}")
        else:
            *others, last = _bracketed(coefficient, printer) or _pieces(coefficient, printer)
            words += [*others, last + printer.sign + letter]
    if isinstance(printer, _Latex):
        words = [spaced(word) for word in words]
    return words, _terms(row.right, printer)


def _terms(formula: sp.Expr, printer: _Text | _Latex) -> list[str]:
    """The terms of a sum in the order in which they are printed, long ones in pieces."""
    terms = printer._as_ordered_terms(formula) if isinstance(formula, sp.Add) else [formula]
    return [piece for term in terms for piece in _pieces(term, printer)]


def _pieces(term: sp.Expr, printer: _Text | _Latex) -> list[str]:
    """A term as it is printed; where it is too long for a line, the terms of a sum in it one by one."""
    whole = printer.doprint(term)
    if printer.size(whole) <= printer.width or not isinstance(term, sp.Mul):
        return [whole]
    sums = [e for e in term.args if isinstance(e, sp.Add)]
    longest = max(sums, key=lambda e: printer.size(printer.doprint(e)), default=None)
    if longest is None or 3 * printer.size(printer.doprint(longest)) < printer.width:
        return [whole]
    others = [e for e in term.args if e is not longest]
    kept = len(others) < 2 or not any(isinstance(e, sp.Add) for e in others)
    before = printer.doprint(sp.Mul(*others, evaluate=kept))
    if len(others) == 1 and isinstance(others[0], sp.Add):
        before = printer.in_brackets(before)
    sign = "" if before == "1" else "-" if before == "-1" else before + printer.sign
    first, *middle, last = _terms(longest, printer)
    return [sign + printer.opening + first, *middle, last + printer.closing]


def _bracketed(total: sp.Expr, printer: _Text | _Latex) -> list[str]:
    """A sum in brackets; where it is too long for a line its terms one by one. Nothing for what is no sum."""
    if not isinstance(total, sp.Add):
        return []
    whole = printer.in_brackets(printer.doprint(total))
    if printer.size(whole) + BESIDE <= printer.width:
        return [whole]
    first, *middle, last = _terms(total, printer)
    return [printer.opening + first, *middle, last + printer.closing]


def _joined(words: list[str]) -> str:
    text = words[0]
    for word in words[1:]:
        text += f" - {word[1:].lstrip()}" if word.startswith("-") else f" + {word}"
    return text


def _folded(words: list[str], width: int, size: Callable[[str], int] = len) -> list[str]:
    """Terms on as few lines as hold them; a line that goes on begins with a sign."""
    lines = [words[0]]
    for word in words[1:]:
        if size(lines[-1]) + size(word) + 3 <= width:
            lines[-1] = _joined([lines[-1], word])
        else:
            lines.append(f"- {word[1:].lstrip()}" if word.startswith("-") else f"+ {word}")
    return lines


def _aligned(equations: list[Sides]) -> list[str]:
    lefts = [_joined(left) for left, _ in equations]
    width = max((len(left) for left in lefts if len(left) <= LEFT_WIDTH), default=8)
    lines = []
    for left, (words, right) in zip(lefts, equations, strict=True):
        first, *others = _folded(right, WIDTH - width - 5)
        if len(left) <= LEFT_WIDTH:
            lines.append(f"  {left:<{width}} = {first}")
        elif len(left) + len(first) + 5 <= WIDTH and not others:
            lines.append(f"  {left} = {first}")
        else:
            head, *tail = _folded(words, WIDTH - 4)
            lines += [f"  {head}", *(f"    {line}" for line in tail), f"  {'':<{width}} = {first}"]
        lines += [f"  {'':<{width}}   {line}" for line in others]
    return lines


def _latex_lines(equations: list[Sides]) -> list[str]:
    lines = []
    for left, right in equations:
        head, *tail = _folded(left, FORMULA_WIDTH, seen)
        first, *others = _folded(right, FORMULA_WIDTH, seen)
        if tail or seen(head) > ALIGNED_WIDTH:
            lines += [f"&{head}", *(rf"&\quad {line}" for line in tail), rf"&\quad = {first}"]
        else:
            lines.append(f"{head} &= {first}")
        lines += [rf"&\quad {line}" for line in others]
    return lines
