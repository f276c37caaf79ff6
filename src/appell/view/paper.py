"""A plot on paper: Matplotlib with thin lines, small type and the colours of the screen."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from appell.view.plot import Band, Cloud, Line, Map, Panel, Plot

STYLE = {
    "font.size": 9.0, "axes.labelsize": 9.0, "legend.fontsize": 8.5, "axes.linewidth": 0.7, "lines.linewidth": 1.3,
    "svg.fonttype": "none", "pdf.fonttype": 42, "svg.hashsalt": "appell", "axes.formatter.limits": (-4, 5),
    "axes.formatter.use_mathtext": True,
}  # fmt: skip

NAMES, BROAD = 10, 28  # in a legend of one panel: how many, and letters in a line


def figure(plot: Plot) -> Any:
    """A figure of one column's width and a half."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        count = len(plot.panels)
        wide = 7.0 if not any(p.equal for p in plot.panels) else 6.0
        made = Figure(figsize=(wide, 1.0 + 1.75 * count if count > 1 else 3.8), layout="constrained")
        axes = made.subplots(count, 1, sharex=plot.shared and count > 1, squeeze=False)[:, 0]
        for i, (axis, panel) in enumerate(zip(axes, plot.panels, strict=True)):
            _panel(axis, panel, bool(plot.legend(i)))
            if axis is axes[-1] or not plot.shared:
                axis.set_xlabel(_plain(panel.x))
        made.align_ylabels()
        made.suptitle(_plain(plot.title), fontsize=10.5)
    return made


def _plain(words: str) -> str:
    """Dollar signs would begin a formula."""
    return words.replace("$", r"\$")


def _panel(axis: Axes, panel: Panel, named: bool) -> None:
    from matplotlib.ticker import MultipleLocator

    from appell.view.plot import Line

    for letter in panel.log:
        axis.set(**{f"{letter}scale": "log"})
    for item, color in panel.colored:
        if isinstance(item, Line):
            _line(axis, item, color)
        else:
            _filled(axis, item)
    if panel.words:
        axis.text(0.5, 0.5, _plain(panel.words), ha="center", va="center", color="0.4", transform=axis.transAxes)
        axis.set(xticks=[], yticks=[])
    axis.set_ylabel(_plain(panel.y))
    for letter in panel.log:
        _decades(getattr(axis, f"{letter}axis"))
    if panel.step:
        axis.yaxis.set_major_locator(MultipleLocator(panel.step))
    if panel.equal:
        axis.set_aspect("equal", adjustable="datalim")
    for x, _ in panel.marks[:60]:
        axis.axvline(x, color="0.5", linewidth=0.9, linestyle=":", zorder=0)
    if panel.zero:
        axis.axvline(0, color="0.4", linewidth=0.9, zorder=0)
    axis.set_axisbelow(True)
    axis.grid(alpha=0.25, linewidth=0.5)
    axis.spines[["top", "right"]].set_visible(False)
    handles, labels = axis.get_legend_handles_labels() if named else ([], [])
    if len(labels) > NAMES:  # more would run into those of other panels; the last may be of another kind, a reference
        first = NAMES - 2
        labels = [*labels[:first], f"and {len(labels) - first - 1} more", labels[-1]]
        handles = [*handles[:first], axis.plot([], [], " ")[0], handles[-1]]
    if labels:
        axis.legend(handles, labels, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def _decades(scale: Any) -> None:
    """Plain numbers on a logarithmic axis of so few decades that powers of ten alone would say too little."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = scale.get_view_interval()
    if high < 100 * low:
        scale.set_major_locator(LogLocator(subs=(1, 2, 5)))
        scale.set_major_formatter("{x:g}")
        scale.set_minor_formatter(NullFormatter())


def _line(axis: Axes, item: Line, color: str) -> None:
    from appell.view.plot import MANY, SYMBOLS

    label = fill(_plain(item.name), BROAD) if item.name else None
    if item.points:
        hollow = item.symbol.endswith("open")
        few = np.size(item.x) <= MANY
        axis.plot(item.x, item.y, SYMBOLS[item.symbol], color=color, label=label, markersize=5 if few else 2.5,
                  markeredgewidth=1.0 if few else 0.5, markerfacecolor="none" if hollow else color)  # fmt: skip
    else:
        thin = {"linewidth": 0.5, "alpha": 0.6} if item.thin else {}
        axis.plot(item.x, item.y, color=color, label=label, linestyle="--" if item.dashed else "-", **thin)


def _filled(axis: Axes, item: Band | Cloud | Map) -> None:
    from appell.view.plot import Band, Cloud

    if isinstance(item, Band):
        axis.fill_between(item.x, item.low, item.high, color=item.color, alpha=item.opacity, linewidth=0,
                          label=_plain(item.name))  # fmt: skip
    elif isinstance(item, Cloud):
        shown = axis.scatter(item.x, item.y, c=item.values, s=14, cmap="viridis", linewidths=0)
        axis.figure.colorbar(shown, ax=axis, label=_plain(item.name))
    else:
        _map(axis, item)


def _edges(middles: np.ndarray, scale: str) -> np.ndarray:
    """The borders of cells about their middles, half-way as the axis shows it."""
    at = np.log(middles) if scale == "log" else np.asarray(middles, dtype=float)
    half = np.diff(at) / 2 if at.size > 1 else np.array([0.5])
    edges = np.concatenate([[at[0] - half[0]], at[:-1] + half, [at[-1] + half[-1]]])
    return np.exp(edges) if scale == "log" else edges


def _map(axis: Axes, item: Map) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    z = np.ma.masked_invalid(np.asarray(item.z, dtype=float))
    options: dict[str, Any] = {"cmap": "viridis"}
    if item.zero:
        reach = float(np.percentile(np.abs(z.compressed()), 98)) if z.count() else 1.0
        blue_red = LinearSegmentedColormap.from_list("border", ["#1f6fb2", "#f4f4f2", "#c0392b"])
        options = {"cmap": blue_red, "vmin": -reach, "vmax": reach}
    edges = (_edges(item.x, axis.get_xscale()), _edges(item.y, axis.get_yscale()))
    shown = axis.pcolormesh(*edges, z, rasterized=True, **options)
    axis.figure.colorbar(shown, ax=axis, label=_plain(item.name))
    if item.zero and z.count() and z.min() < 0 < z.max():
        axis.contour(item.x, item.y, z, levels=[0], colors="#22282e", linewidths=1.4)
