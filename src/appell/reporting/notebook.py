"""What notebooks show of models, motions, proofs, plans, studies and their like: short tables, without script."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from typing import Any

import numpy as np

from appell.files import png
from appell.reporting.content import NUMBER, Block, Code, Table, Text
from appell.reporting.inline import Formula
from appell.view.plot import unit_words

ROWS = 24
DRAWN = 3_000_000  # numbers of one quantity from which on a study is not drawn unasked


def blocks_html(title: str, blocks: Iterable[Block]) -> str:
    """Texts, tables and listings as HTML without script; nothing of drawings and typeset formulas."""
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
    return text.inline() if isinstance(text, Formula) else html.escape(text).replace("$", "&#36;")


def _data(text: str) -> str:
    whole = ";white-space:nowrap" if NUMBER.fullmatch(text) else ""  # 1.3e-15 is not broken at its sign
    return f"<td style='text-align:left{whole}'>{_cell(text)}</td>"


def _table(table: Table) -> str:
    head = "".join(f"<th style='text-align:left'>{html.escape(e)}</th>" for e in table.head)
    rows = "".join("<tr>" + "".join(map(_data, row)) + "</tr>" for row in table.rows[:ROWS])
    more = f"<p>and {len(table.rows) - ROWS} more</p>" if len(table.rows) > ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{more}"


def model_html(model: Any) -> str:
    """A model: what it is, its bodies, symbols and constraints."""
    from appell.reporting.sections import description_blocks

    return blocks_html(model.name, description_blocks(model, {**model.values, **model.start}))


def motion_html(motion: Any) -> str:
    """A motion: how it went, and a table of what moved."""
    from appell.reporting.sections import values_table

    return blocks_html(motion.info["model"], [Text(motion.summary()), values_table(motion)])


def section_html(thing: Any) -> str:
    """A certificate, a verification, a plan or a tracked motion: its section of a report without the drawings."""
    from appell.reporting.further import section

    made = section(thing)
    return blocks_html(made.title, made.blocks)


def equilibrium_html(rest: Any) -> str:
    """An equilibrium: every position, rate, state, input and multiplier."""
    units = {s.label: s.unit for s in (*rest.model.coordinates, *rest.model.states, *rest.model.inputs)}
    kinds = (("position", rest.positions), ("rate", rest.rates), ("state", rest.states), ("input", rest.inputs),
             ("multiplier", rest.multipliers))  # fmt: skip
    rows = [
        (name, kind, f"{value:.9g}", unit_words(units.get(name, ""))) for kind, e in kinds for name, value in e.items()
    ]
    blocks = [Table(("symbol", "kind", "value", "unit"), tuple(rows)), *map(Text, rest.remarks)]
    return blocks_html(repr(rest).splitlines()[0], blocks)


def linearization_html(lin: Any) -> str:
    """A first approximation: roots, and the rates of the states by states and inputs."""
    rows = [(f"{s}'", *map(_entry, (*a, *b))) for s, a, b in zip(lin.states, lin.A, lin.B, strict=True)]
    title, *words = repr(lin).splitlines()
    return blocks_html(title.partition(":")[0], [
        *(Text(line.strip()) for line in words), Table(("rate", *lin.states, *lin.inputs), tuple(rows)),
    ])  # fmt: skip


def feedback_html(feedback: Any) -> str:
    """A feedback: holding values, gains, limits, roots of the closed loop."""
    lin = feedback.lin
    limits = {w: "{:g} to {:g}".format(*limit) for w, limit in feedback.limits.items()}
    rows = [
        (w, _entry(lin.at.inputs[w]), *map(_entry, -row), *([limits.get(w, "none")] if limits else []))
        for w, row in zip(lin.inputs, feedback.K, strict=True)
    ]
    head = ("input", "holding", *(f"by {s}" for s in lin.states), *(["limits"] if limits else []))
    roots = repr(feedback).splitlines()[-1].strip()
    return blocks_html(f"feedback for {lin.model.name}", [Table(head, tuple(rows)), Text(roots)])


def _entry(value: float) -> str:
    return f"{value:.6g}" if value else "0"


def check_html(check: Any) -> str:
    """The proof of a motion: a verdict, residuals, balance, agreement, work."""
    from appell.reporting.sections import proof_blocks

    return blocks_html("Proof", proof_blocks(check))


def study_html(study: Any) -> str:
    """A study of many runs: what was swept, how the runs ended, what they gave at the end, and bands over time.

    Args:
        study: The study.
    """
    first, *more = study.summary().splitlines()
    failures = study.failures
    blocks: list[Block] = [Text(first, True), Text("\n".join(more[: len(more) - len(failures[:4])]))]
    rows = []
    for name in study.info["varied"].values():
        values = study.dataset[name].values
        ends = (f"{values.min():.6g}", f"{values.max():.6g}") if values.dtype.kind in "fiu" else ("", "")
        rows.append((name, f"{np.unique(values).size}", *ends))
    if rows:
        blocks.append(Table(("varied", "different values", "least", "greatest"), tuple(rows)))
    columns = [n for n in study.info["columns"] if not n.endswith(".rate")] or list(study.info["columns"])
    good = study.ok
    if good.any():
        if not good.all():
            blocks.append(Text(f"of {study.counted}, which ended as wished:"))
        blocks.append(Table(("at the end", "unit", "mean", "deviation", "least", "greatest"),
                            tuple(_last(study, name, good) for name in columns)))  # fmt: skip
    if len(failures):
        failed = tuple((str(f.run), f.outcome, f"{f.t:.6g}", f.reason) for f in failures.itertuples())
        blocks.append(Table(("run", "outcome", "t [s]", "reason"), failed))
    small = len(study) * study.info["points"] <= DRAWN
    return blocks_html("Study", blocks) + (_picture(study.plot(*columns[:3]).figure()) if good.any() and small else "")


def _last(study: Any, name: str, good: np.ndarray) -> tuple[str, ...]:
    array = study[f"{name}.end"]
    values = array.values[good]
    deviation = values.std(ddof=1) if values.size > 1 else 0.0
    numbers = values.mean(), deviation, values.min(), values.max()
    return name, unit_words(array.attrs.get("units", "")), *(f"{e:.6g}" for e in numbers)


def _picture(figure: Any) -> str:
    data = base64.b64encode(png(figure, 90)).decode()
    return f'<img alt="bands over time" style="max-width:100%;background:#fff" src="data:image/png;base64,{data}">'
