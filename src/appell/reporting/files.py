"""A report on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from appell.errors import AppellError
from appell.files import check_place, path_of, write_text
from appell.reporting.content import Shown

if TYPE_CHECKING:
    from appell.reporting.content import Report


def save(report: Report, path: str | Path) -> Path:
    """Write a report; pictures of .tex and .md stand beside it and bear its name."""
    path = path_of(path)
    check_place(path)
    ending = path.suffix.lower()
    if ending in (".html", ".htm"):
        return write_text(path, report.html())
    if ending not in (".tex", ".md"):
        raise AppellError(f"Cannot write a report to {path.name!r}: use .html, .tex or .md.")
    kind = ".pdf" if ending == ".tex" else ".png"
    for number, block in enumerate(pictures(report), 1):
        block.thing.save(path.with_name(f"{path.stem}-{number}{kind}"))
    return write_text(path, report.tex(path.stem) if ending == ".tex" else report.markdown(path.stem))


def pictures(report: Report) -> list[Shown]:
    """Scenes and plots in their order."""
    return [block for section in report.sections for block in section.blocks if isinstance(block, Shown)]
