"""What notebooks show of models, motions and certificates: short tables, formulas for the notebook's own typesetter."""

from __future__ import annotations

import html
from typing import Any

from appell.reporting.content import Block, Code, Table, Text

ROWS = 24


def blocks_html(title: str, blocks: list[Block]) -> str:
    """Texts and tables as HTML without script; formulas stay between dollar signs."""
    parts = [f"<h4 style='margin:.3em 0'>{html.escape(title)}</h4>"]
    for block in blocks:
        if isinstance(block, Text):
            words = html.escape(block.words).replace("\n", "<br>")
            parts.append(f"<p style='margin:.3em 0'>{f'<b>{words}</b>' if block.strong else words}</p>")
        elif isinstance(block, Table):
            parts.append(_table(block))
        elif isinstance(block, Code):
            parts.append(f"<pre>{html.escape(block.text)}</pre>")
    return "".join(parts)


def _cell(text: str) -> str:
    formula = len(text) > 2 and text.startswith("$") and text.endswith("$")
    return html.escape(text) if formula else html.escape(text).replace("$", "&#36;")


def _table(table: Table) -> str:
    head = "".join(f"<th style='text-align:left'>{html.escape(e)}</th>" for e in table.head)
    rows = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{_cell(e)}</td>" for e in row) + "</tr>"
        for row in table.rows[:ROWS]
    )
    more = f"<p>and {len(table.rows) - ROWS} more</p>" if len(table.rows) > ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def model_html(model: Any) -> str:
    """A model: what it is, its bodies, symbols and constraints."""
    from appell.reporting.content import Shown
    from appell.reporting.sections import description_blocks

    blocks = [b for b in description_blocks(model, {**model.values, **model.start}) if not isinstance(b, Shown)]
    return blocks_html(model.name, blocks)


def motion_html(motion: Any) -> str:
    """A motion: how it went, and a table of what moved."""
    from appell.reporting.sections import values_table

    return blocks_html(motion.info["model"], [Text(motion.summary()), values_table(motion)])


def certificate_html(certificate: Any) -> str:
    """A certificate of stability: the verdict and what was checked."""
    from appell.reporting.content import Shown
    from appell.reporting.further import section

    made = section(certificate)
    return blocks_html(made.title, [b for b in made.blocks if not isinstance(b, Shown)])
