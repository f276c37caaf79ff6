"""Pages as plain text and as LaTeX."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from appell.model.symbols import Letter
from appell.reading.letters import Shown
from appell.reading.pages import Page
from appell.reading.rows import Row

WIDTH = 110  # of a line of text
LATEX_WIDTH = 220  # of a line of LaTeX source
PAGE_WIDTH = 150  # the same on a page of a report
LEFT_WIDTH = 40  # longer left sides are not aligned with others
DIGITS = 8  # of numbers that are no fractions


Sides = tuple[list[str], list[str]]  # terms of the left and of the right side


def _positive_first(terms: list[sp.Expr]) -> list[sp.Expr]:
    """`a - b`, not `-b + a`."""
    return sorted(terms, key=lambda term: term.could_extract_minus_sign())


class _Text(StrPrinter):
    sign = "*"

    def _print_Shown(self, expr: Shown) -> str:
        return expr.text

    def _as_ordered_terms(self, expr: sp.Expr, order: Any = None) -> list[sp.Expr]:
        return _positive_first(super()._as_ordered_terms(expr, order=order))

    def _print_Float(self, expr: sp.Float) -> str:
        return f"{float(expr):.{DIGITS}g}"

    def in_brackets(self, text: str) -> str:
        return f"({text})"


class _Latex(LatexPrinter):
    sign = " "

    def _print_Shown(self, expr: Shown) -> str:
        return expr.tex

    def _as_ordered_terms(self, expr: sp.Expr, order: Any = None) -> list[sp.Expr]:
        return _positive_first(super()._as_ordered_terms(expr, order=order))

    def _print_Float(self, expr: sp.Float) -> str:
        number, exponent, power = f"{float(expr):.{DIGITS}g}".partition("e")
        return rf"{number} \cdot 10^{{{int(power)}}}" if exponent else number

    def in_brackets(self, text: str) -> str:
        return rf"\left({text}\right)"


def formula_latex(expression: Any) -> str:
    """A formula in the letters of a model as LaTeX, its letters set as on a page."""
    given = sp.sympify(expression)
    letters = sorted((s for s in given.free_symbols if isinstance(s, Letter)), key=lambda s: s.name)
    return _Latex().doprint(given.xreplace({s: Shown.of(i, s) for i, s in enumerate(letters)}))


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
    """One aligned environment."""
    printer = _Latex()
    lines: list[str] = []
    for section in page.sections:
        lines += [rf"&\text{{{section.heading}}}", *_latex_lines([_sides(row, printer) for row in section.rows])]
    if page.names:
        names = [([name.tex], _terms(formula, printer)) for name, formula in page.names.items()]
        lines += [r"&\text{where}", *_latex_lines(names)]
    lines.append(rf"&\text{{{_count(page)}}}")
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def latex_rows(page: Page) -> list[tuple[str, list[tuple[str, str]]]]:
    """Headings, and under each its equations as LaTeX, left and right sides; long ones in several lines."""
    printer = _Latex()
    groups = [(section.heading, [_sides(row, printer) for row in section.rows]) for section in page.sections]
    if page.names:
        groups.append(("where", [([name.tex], _terms(formula, printer)) for name, formula in page.names.items()]))

    def equation(left: list[str], right: list[str]) -> tuple[str, str]:
        head, *tail = _folded(left, PAGE_WIDTH)
        first, *others = _folded(right, PAGE_WIDTH)
        if tail or len(head) + len(first) > 1.6 * PAGE_WIDTH:
            lines = [head, *(rf"\quad {e}" for e in tail), f"= {first}", *(rf"\quad {e}" for e in others)]
            return "", _stacked(lines)
        return head, _stacked([first, *(rf"\quad {e}" for e in others)]) if others else first

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
        elif isinstance(coefficient, sp.Add):
            words.append(printer.in_brackets(printer.doprint(coefficient)) + printer.sign + letter)
        else:
            words.append(printer.doprint(coefficient) + printer.sign + letter)
    return words, _terms(row.right, printer)


def _terms(formula: sp.Expr, printer: _Text | _Latex) -> list[str]:
    """The terms of a sum in the order in which they are printed."""
    terms = printer._as_ordered_terms(formula) if isinstance(formula, sp.Add) else [formula]
    return [printer.doprint(term) for term in terms]


def _joined(words: list[str]) -> str:
    text = words[0]
    for word in words[1:]:
        text += f" - {word[1:].lstrip()}" if word.startswith("-") else f" + {word}"
    return text


def _folded(words: list[str], width: int) -> list[str]:
    """Terms on as few lines as hold them; a line that goes on begins with a sign."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) + 3 <= width:
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
        head, *tail = _folded(left, LATEX_WIDTH)
        first, *others = _folded(right, LATEX_WIDTH)
        lines += [head, *(rf"\quad {line}" for line in tail)]
        lines[-1] += f" &= {first}"
        lines += [rf"&\quad {line}" for line in others]
    return lines
