"""What a report consists of, before it is a page, LaTeX or Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from appell.errors import AppellError
from appell.files import check_place, opened, path_of, write_text
from appell.view.plot import Plot
from appell.view.scene import Scene

NUMBER = re.compile(r"-?\d[\d.e+-]*")
"""A cell that stays on one line."""


@dataclass(frozen=True)
class Text:
    """A paragraph; `strong` marks a verdict, `good` whether it is a good one."""

    words: str
    strong: bool = False
    good: bool | None = None


@dataclass(frozen=True)
class Table:
    """A table; a cell may be a `Formula`."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""


@dataclass(frozen=True)
class Formulas:
    """Equations under a heading, each line in LaTeX as left and right side; long right sides in several pieces."""

    heading: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Code:
    """A listing."""

    language: str
    text: str


@dataclass(frozen=True, eq=False)
class Shown:
    """A scene or a plot."""

    thing: Scene | Plot
    caption: str = ""


Block = Text | Table | Formulas | Code | Shown


@dataclass(frozen=True, eq=False)
class Section:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, eq=False)
class Report:
    """A report: `save("disk.html")`, `.tex` or `.md`; in a notebook it shows itself.

    Attributes:
        title: Its title.
        subtitle: One line below it.
        sections: From top to bottom.
    """

    title: str
    subtitle: str
    sections: tuple[Section, ...]

    def __repr__(self) -> str:
        names = ", ".join(s.title for s in self.sections)
        return f"Report on {self.title!r}: {names}; report.save('report.html')"

    def html(self) -> str:
        """One page that needs nothing else."""
        from appell.reporting.page import page

        return page(self)

    def tex(self, pictures: str = "") -> str:
        """A LaTeX document.

        Args:
            pictures: What the names of picture files begin with; no pictures if empty.
        """
        from appell.reporting.latex import document

        return document(self, pictures)

    def markdown(self, pictures: str = "") -> str:
        """Markdown, formulas between dollar signs. Argument as for `tex`."""
        from appell.reporting.markdown import document

        return document(self, pictures)

    def save(self, path: str | Path) -> Path:
        """Write the report in the format that the name says.

        Args:
            path: .html (self-contained), .tex or .md; for these two the pictures stand beside it, as .pdf or .png.
        """
        path = path_of(path)
        check_place(path)
        ending = path.suffix.lower()
        if ending in (".html", ".htm"):
            return write_text(path, self.html())
        if ending not in (".tex", ".md"):
            raise AppellError(f"Cannot write a report to {path.name!r}: use .html, .tex or .md.")
        kind = ".pdf" if ending == ".tex" else ".png"
        shown = [block for section in self.sections for block in section.blocks if isinstance(block, Shown)]
        for number, block in enumerate(shown, 1):
            block.thing.save(path.with_name(f"{path.stem}-{number}{kind}"))
        return write_text(path, self.tex(path.stem) if ending == ".tex" else self.markdown(path.stem))

    def show(self) -> Path:
        """Open the report in the browser, from a file in the folder for temporary ones."""
        return opened(self, "report")

    def _repr_html_(self) -> str:
        from appell.view.page import framed

        return framed(self.html(), 800, repr(self))
