"""A report as Markdown."""

from __future__ import annotations

import html
import re
from itertools import count
from typing import TYPE_CHECKING

from appell.reporting.content import Block, Code, Formulas, Shown, Table, Text
from appell.reporting.inline import Formula

if TYPE_CHECKING:
    from appell.reporting.content import Report


def escape(words: str) -> str:
    """Plain text for Markdown: neither markup nor HTML."""
    return re.sub(r"([\\`*_\[\]|#$])", r"\\\1", html.escape(words, quote=False))


def document(report: Report, pictures: str) -> str:
    """The whole text."""
    numbers = count(1)
    lines = [f"# {escape(report.title)}", "", escape(report.subtitle)]
    for section in report.sections:
        lines += ["", f"## {escape(section.title)}"]
        for block in section.blocks:
            number = next(numbers) if isinstance(block, Shown) else 0
            lines += ["", _block(block, pictures, number)]
    return "\n".join([*lines, ""])


def _block(block: Block, pictures: str, number: int) -> str:
    if isinstance(block, Text):
        words = escape(block.words).replace("\n", "  \n")
        return f"**{words}**" if block.strong else words
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Formulas):
        rows = [f"$$ {left} = {right} $$" if left else f"$$ {right} $$" for left, right in block.lines]
        heading = [f"### {escape(block.heading)}", ""] if block.heading else []
        return "\n".join([*heading, *("\n" + row for row in rows)]).replace("\n\n\n", "\n\n")
    if isinstance(block, Code):
        fence = "`" * (3 + max((len(e) for e in re.findall(r"`+", block.text)), default=0))
        return f"{fence}{block.language}\n{block.text.rstrip()}\n{fence}"
    return f"![{escape(block.caption)}]({pictures}-{number}.png)" if pictures else f"*{escape(block.caption)}*"


def _table(table: Table) -> str:
    def cell(text: str) -> str:
        return (text if isinstance(text, Formula) else escape(text)).replace("\n", " ")

    rows = [" | ".join(cell(e) for e in row) for row in table.rows]
    caption = [escape(table.caption), ""] if table.caption else []
    lines = [" | ".join(map(escape, table.head)), " | ".join("---" for _ in table.head), *rows]
    return "\n".join([*caption, *(f"| {line} |" for line in lines)])
