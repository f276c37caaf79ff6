"""A plot: panels of curves, points and maps, drawn by Plotly for the screen and by Matplotlib for paper."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import AppellError
from appell.files import check_place, opened, path_of, png, whole, write_text
from appell.model.model import counted

# Told apart by colour-blind eyes too: the first six are those of Okabe and Ito 2008.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7b3fd6", "#7a3b1c", "#5f6b76")
RED, GREY = "#c0392b", "#7b8794"  # alarms; what stands back
SYMBOLS = {
    "circle": "o", "x": "x", "square": "s", "diamond": "D", "triangle-up": "^",
    "circle-open": "o", "square-open": "s", "diamond-open": "D", "triangle-up-open": "^",
}  # fmt: skip
MANY = 60  # so many points are drawn large, more of them small

RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def unit_words(unit: str) -> str:
    """A unit as it is printed: `kg*m^2/s` as kg·m²/s, and `1` not at all.

    Args:
        unit: The unit as it is typed.
    """
    if unit == "1":
        return ""
    raised = re.sub(r"(?:\^|\*\*)\(?(-?\d+)\)?", lambda found: found.group(1).translate(RAISED), unit)
    return re.sub(r"\s*\*\s*", "·", raised)


def labelled(name: str, unit: str) -> str:
    """A name with its unit, as it stands beside an axis.

    Args:
        name: The name.
        unit: The unit as it is typed; empty for none.
    """
    words = unit_words(unit)
    return f"{name} [{words}]" if words else name


def shown(label: str) -> str:
    """A label as it is read: the rate of x as x', phi_1 as φ_1, a formula with raised powers.

    Args:
        label: The label.
    """
    words = re.sub(r"(?<![A-Za-z0-9_])[A-Za-z]+(?=\d|_\w|\b)", lambda e: _letter(e.group()), label)
    return unit_words(words.replace(".rate", "'"))


def _letter(word: str) -> str:
    """The Greek letter of its name, as it is written of one; other words as they are."""
    try:
        small = unicodedata.lookup(f"GREEK SMALL LETTER {'LAMDA' if word.lower() == 'lambda' else word}")
    except KeyError:
        return word
    return small if word.islower() else small.upper() if word == word.capitalize() else word


@dataclass(frozen=True, eq=False)
class Line:
    """A curve, or points.

    Attributes:
        name: Its name in the legend; none if empty.
        x: Values along the first axis.
        y: Values along the second axis.
        points: Whether to draw points instead of a line.
        symbol: Of points: x, circle, square, diamond, triangle-up; -open behind it for a hollow one.
        color: Its colour; the next of the palette if empty.
        dashed: Whether the line is dashed.
        thin: Whether the line is a thin one of many, behind the others.
        notes: A text for each point, shown beside the pointer.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    points: bool = False
    symbol: str = "circle"
    color: str = ""
    dashed: bool = False
    thin: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Band:
    """What lies between two curves, filled.

    Attributes:
        name: Its name in the legend.
        x: Values along the first axis.
        low: The lower curve.
        high: The upper curve.
        color: Its colour.
        opacity: From 0 to 1.
    """

    name: str
    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    color: str = COLORS[0]
    opacity: float = 0.2


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points coloured by a value.

    Attributes:
        name: What the colour shows.
        x: Values along the first axis.
        y: Values along the second axis.
        values: What decides the colours.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Map:
    """Values over a plane, with the contour where they vanish if asked for.

    Attributes:
        name: What is shown.
        x: Values along the first axis.
        y: Values along the second axis.
        z: Values over y and x.
        zero: Whether to draw the contour z = 0 and a scale symmetric about it.
    """

    name: str
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray
    zero: bool = False


@dataclass(frozen=True, eq=False)
class Panel:
    """One pair of axes.

    Attributes:
        items: Lines, bands, clouds and maps.
        x: Label of the first axis.
        y: Label of the second axis.
        log: Which axes are logarithmic: "", "x", "y" or "xy".
        equal: Whether both axes have the same scale.
        marks: Places along the first axis with a thin line, and their names.
        zero: Whether the line x = 0 is drawn strongly, as the border of stability.
        words: What stands in the middle of a panel that has nothing to show.
        step: Distance of the numbers along the second axis; chosen by the program that draws if zero.
    """

    items: tuple[Line | Band | Cloud | Map, ...]
    x: str
    y: str
    log: str = ""
    equal: bool = False
    marks: tuple[tuple[float, str], ...] = ()
    zero: bool = False
    words: str = ""
    step: float = 0.0

    @property
    def colored(self) -> Iterator[tuple[Line | Band | Cloud | Map, str]]:
        """What is drawn, lines with their own colour or the next one of the palette."""
        palette = cycle(COLORS)
        for item in self.items:
            yield item, item.color or next(palette) if isinstance(item, Line) else ""

    @property
    def named(self) -> tuple[str, ...]:
        """Names for a legend: none where the axis says the only one."""
        names = tuple(e.name for e in self.items if isinstance(e, Line | Band) and e.name)
        return () if len(names) == 1 and self.y.partition(" [")[0] == names[0] else names


@dataclass(frozen=True, eq=False)
class Plot:
    """A plot.

    `plot.save("run.html")` is interactive and self-contained; .svg, .pdf and .png are for papers. In a notebook a plot
    shows itself. `plot.plotly()` and `plot.figure()` give Plotly's and Matplotlib's figures, to be changed at will.

    Attributes:
        title: Its title.
        panels: Pairs of axes, one below the other.
        shared: Whether the panels share their first axis.
    """

    title: str
    panels: tuple[Panel, ...]
    shared: bool = True

    def __repr__(self) -> str:
        curves = counted([item for panel in self.panels for item in panel.items], "curve")
        where = f"in {counted(self.panels, 'panel')}" if len(self.panels) > 1 else ""
        return f"Plot {self.title!r}: {curves}{where and ' ' + where}; plot.save('plot.html'), plot.figure()"

    def legend(self, i: int) -> tuple[str, ...]:
        """Names for the legend of a panel: none where they are those of the panel above.

        Args:
            i: Number of the panel.
        """
        named = self.panels[i].named
        return () if i and named == self.panels[i - 1].named else named

    def spec(self) -> dict[str, Any]:
        """The figure as Plotly's plain data."""
        from appell.view.plotly_spec import spec

        return spec(self)

    def plotly(self) -> Any:
        """A Plotly figure; needs the package plotly."""
        try:
            import plotly.graph_objects as go
        except ImportError:
            raise AppellError(
                "Plotly is not installed; `pip install \"appell[plots]\"`. plot.save('plot.html') needs no package."
            ) from None
        return go.Figure(self.spec())

    def figure(self) -> Any:
        """A Matplotlib figure."""
        from appell.view.paper import figure

        return figure(self)

    def html(self) -> str:
        """One page that needs nothing else."""
        return self._page

    @cached_property
    def _page(self) -> str:
        from appell.view.page import asset, data_block, document

        spec = self.spec()
        body = f'<div data-plot="plot" style="height:{spec["layout"]["height"]}px"></div>' + data_block("plot", spec)
        style = "body{margin:8px;background:#fff}@media(prefers-color-scheme:dark){body{background:#15191e}}"
        return document(self.title, body, [asset("plotly.js"), asset("report.js")], [style])

    def save(self, path: str | Path) -> Path:
        """Write the plot in the format that the name says.

        Args:
            path: .html (interactive, self-contained), .svg, .pdf or .png.
        """
        path = path_of(path)
        check_place(path)
        ending = path.suffix.lower()
        if ending in (".html", ".htm"):
            return write_text(path, self.html())
        if ending not in (".svg", ".pdf", ".png"):
            raise AppellError(f"Cannot plot to {path.name!r}: use .html, .svg, .pdf or .png.")
        with whole(path) as part:
            self.figure().savefig(part, dpi=200, bbox_inches="tight")
        return path

    def written(self, path: str | Path | None) -> Plot:
        """The plot itself, saved first if there is a path.

        Args:
            path: As for `save`, or None.
        """
        if path is not None:
            self.save(path)
        return self

    def show(self) -> Path:
        """Open the plot in the browser, from a file in the folder for temporary ones."""
        return opened(self, "plot")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Interactive: by Plotly's own display where it is there, else a page in a frame; a still where neither is."""
        import importlib.util

        from appell.view.page import bundle

        made = bundle(self, self.spec()["layout"]["height"] + 30, png(self.figure(), 110, tight=True))
        if importlib.util.find_spec("plotly") is not None:  # JupyterLab knows its own form only by an extension
            made |= self.plotly()._repr_mimebundle_()
        return made
