"""A report as one page that needs nothing else."""

from __future__ import annotations

import html
from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING

from appell.reporting.content import NUMBER, Block, Code, Formulas, Shown, Table, Text
from appell.reporting.inline import Formula
from appell.view.page import asset, data_block, document, font, poster, scene_data
from appell.view.plot import Plot

if TYPE_CHECKING:
    from appell.reporting.content import Report


def page(report: Report) -> str:
    """The whole page."""
    counter = count(1)
    parts, entries = [], []
    for number, section in enumerate(report.sections, 1):
        entries.append(f'<li><a href="#s{number}">{html.escape(section.title)}</a></li>')
        body = "".join(_block(block, counter) for block in section.blocks)
        parts.append(f'<section id="s{number}"><h2>{html.escape(section.title)}</h2>{body}</section>')
    head = f"<header><h1>{html.escape(report.title)}</h1><p>{html.escape(report.subtitle)}</p></header>"
    content = f'{head}<nav aria-label="contents"><ol>{"".join(entries)}</ol></nav><main>{"".join(parts)}</main>'
    shown = [b.thing for s in report.sections for b in s.blocks if isinstance(b, Shown)]
    scripts = [asset("plotly.js")] if any(isinstance(e, Plot) for e in shown) else []
    scripts.append(asset("report.js"))
    if any(not isinstance(e, Plot) for e in shown):
        scripts.append(asset("viewer.js"))
    return document(report.title, content + font(), scripts, [asset("report.css"), asset("viewer.css")])


def _block(block: Block, counter: Iterator[int]) -> str:
    if isinstance(block, Text):
        kind = "verdict good" if block.good else "verdict bad" if block.good is False else "verdict"
        words = html.escape(block.words).replace("\n", "<br>")
        return f'<p class="{kind}">{words}</p>' if block.strong else f"<p>{words}</p>"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Formulas):
        return _formulas(block)
    if isinstance(block, Code):
        return f'<pre class="{html.escape(block.language)}"><code>{html.escape(block.text)}</code></pre>'
    return _shown(block, next(counter))


def _cell(text: str) -> str:
    if isinstance(text, Formula):
        tex = text[1:-1]
        large = r"\displaystyle " if r"\frac" in tex else ""
        return f'<span data-tex="inline">{large}{html.escape(tex)}</span>'
    return f'<span class="number">{html.escape(text)}</span>' if NUMBER.fullmatch(text) else html.escape(text)


def _table(table: Table) -> str:
    head = "".join(f"<th>{html.escape(e)}</th>" for e in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{_cell(e)}</td>" for e in row) + "</tr>" for row in table.rows)
    caption = f"<caption>{html.escape(table.caption)}</caption>" if table.caption else ""
    return f'<div class="wide"><table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'


def _formulas(block: Formulas) -> str:
    rows = []
    for left, right in block.lines:
        tex = rf"{left} = {right}" if left else right
        rows.append(f'<div class="formula" data-tex="block">{html.escape(tex)}</div>')
    heading = f"<h3>{html.escape(block.heading)}</h3>" if block.heading else ""
    return f'{heading}<div class="formulas">{"".join(rows)}</div>'


def _shown(block: Shown, number: int) -> str:
    caption = f"<figcaption>{html.escape(block.caption)}</figcaption>" if block.caption else ""
    if isinstance(block.thing, Plot):
        spec = block.thing.spec()
        name, height = f"plot{number}", spec["layout"]["height"]
        inner = f'<div data-plot="{name}" style="height:{height}px"></div>{data_block(name, spec)}'
    else:
        name, scene = f"scene{number}", block.thing
        play = "" if scene.moves else ' data-play="no"'
        inner = f'<div class="scene" data-scene="{name}" data-lazy="yes"{play}></div>'
        inner += data_block(name, scene_data(scene)) + poster(name, scene)
    return f"<figure>{inner}{caption}</figure>"
