"""A report as LaTeX."""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING

from appell.reporting.content import Block, Code, Formulas, Shown, Table, Text
from appell.reporting.inline import Formula

if TYPE_CHECKING:
    from appell.reporting.content import Report

HEAD = r"""\documentclass[a4paper,11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{textcomp}
\usepackage{amsmath,amssymb,array,booktabs,longtable,graphicx,listings,geometry,hyperref}
\geometry{margin=25mm}
\allowdisplaybreaks
\newsavebox{\formula}
\newcommand{\fitted}[1]{\sbox{\formula}{$\displaystyle #1$}%
  \ifdim\wd\formula>\linewidth\resizebox{\linewidth}{!}{\usebox{\formula}}\else\usebox{\formula}\fi}
\lstset{basicstyle=\ttfamily\footnotesize,breaklines=true,columns=fullflexible,keepspaces=true}
"""
SHORT = 160  # characters of LaTeX that surely fit on a line
PAGE, LETTER, GAP = 455, 5.6, 12  # points: width of the page, of a letter, between columns
NARROW = 16  # letters of the longest cell of a column that is not broken into lines
GREEK = (
    "αalpha βbeta γgamma δdelta εvarepsilon ζzeta ηeta θtheta ιiota κkappa λlambda μmu νnu ξxi πpi ρrho σsigma τtau "
    "υupsilon φvarphi χchi ψpsi ωomega ΓGamma ΔDelta ΘTheta ΛLambda ΞXi ΠPi ΣSigma ΥUpsilon ΦPhi ΨPsi ΩOmega"
).split()
SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    **{e[0]: rf"$\{e[1:]}$" for e in GREEK}, "→": r"$\to$", "−": r"$-$",
    **{c: f"$^{{{k}}}$" for k, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}, "⁻": "$^-$",
    **{c: f"$_{{{k}}}$" for k, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    "·": r"$\cdot$", "×": r"$\times$", "≤": r"$\le$", "≥": r"$\ge$", "°": r"$^\circ$",
    "–": "--", "—": "---", "…": r"\dots{}", "″": "''", "∂": r"$\partial$",
}  # fmt: skip


def escape(words: str) -> str:
    """Plain text for LaTeX; letters it cannot set become question marks."""
    listed = [SPECIAL.get(c, c) for c in words]
    return "".join(c if len(c) > 1 or ord(c) < 0x250 else "?" for c in listed)


def document(report: Report, pictures: str) -> str:
    """The whole document."""
    numbers = count(1)
    lines = [HEAD, rf"\title{{{escape(report.title)}}}", rf"\author{{{escape(report.subtitle)}}}", r"\date{}",
             r"\begin{document}", r"\maketitle"]  # fmt: skip
    for section in report.sections:
        lines += ["", rf"\section{{{escape(section.title)}}}"]
        for block in section.blocks:
            number = next(numbers) if isinstance(block, Shown) else 0
            lines += ["", _block(block, pictures, number)]
    return "\n".join([*lines, "", r"\end{document}", ""])


def _block(block: Block, pictures: str, number: int) -> str:
    if isinstance(block, Text):
        words = escape(block.words).replace("\n", "\\\\\n")
        return rf"\textbf{{{words}}}" if block.strong else words
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Formulas):
        return _formulas(block)
    if isinstance(block, Code):
        text = re.sub(r"[^\x00-\x7f]", "?", block.text).replace(r"\end{lstlisting}", "")
        return "\\begin{lstlisting}\n" + text.rstrip() + "\n\\end{lstlisting}"
    if not pictures:
        return "% " + " ".join(escape(block.caption).split())
    picture = rf"\includegraphics[width=0.85\textwidth]{{{pictures}-{number}.pdf}}"
    return f"\\begin{{figure}}[!htb]\n\\centering\n{picture}\n\\caption{{{escape(block.caption)}}}\n\\end{{figure}}"


def _formulas(block: Formulas) -> str:
    """Aligned at their signs of equality; where one is long each by itself, not wider than the page."""
    heading = rf"\paragraph{{{escape(block.heading)}}}" + "\n" if block.heading else ""
    if all(left and len(left) + len(right) <= SHORT for left, right in block.lines):
        kind, rows = "align*", [f"  {left} &= {right}" for left, right in block.lines]
    else:
        whole = [f"{left} = {right}" if left else right for left, right in block.lines]
        kind, rows = "gather*", [rf"  \fitted{{{e}}}" for e in whole]
    return f"{heading}\\begin{{{kind}}}\n" + " \\\\\n".join(rows) + f"\n\\end{{{kind}}}"


def _table(table: Table) -> str:
    columns = _columns(table)
    head = " & ".join(rf"\textbf{{{escape(e)}}}" for e in table.head)
    rows = [" & ".join(e if isinstance(e, Formula) else escape(e) for e in row) + r" \\" for row in table.rows]
    first = [rf"\multicolumn{{{len(table.head)}}}{{l}}{{\emph{{{escape(table.caption)}}}}} \\"] if table.caption else []
    top = [r"\toprule", head + r" \\", r"\midrule"]
    return "\n".join(
        [rf"\begin{{longtable}}{{{columns}}}", *first, *top, r"\endfirsthead", *top, r"\endhead", *rows,
         r"\bottomrule", r"\end{longtable}"]
    )  # fmt: skip


def _columns(table: Table) -> str:
    """Short columns as wide as they are; the others share what is left of the page."""
    longest = [
        max(len(e) / (2 if isinstance(e, Formula) else 1) for e in column)
        for column in zip(table.head, *table.rows, strict=True)
    ]
    short = [e <= NARROW for e in longest]
    taken = sum(LETTER * e + GAP for e, plain in zip(longest, short, strict=True) if plain)
    wide = sum(min(e, 60) for e, plain in zip(longest, short, strict=True) if not plain)
    words = []
    for e, plain in zip(longest, short, strict=True):
        room = max((PAGE - taken) * min(e, 60) / wide - GAP, 60) if not plain else 0
        words.append("l" if plain else rf">{{\raggedright\arraybackslash}}p{{{room:.0f}pt}}")
    return "".join(words)
