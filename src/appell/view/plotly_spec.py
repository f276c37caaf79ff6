"""A plot as the plain data that Plotly draws."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from appell.view.plot import Line, Map, Panel, Plot

GAP, HEIGHT = 0.06, 230


def spec(plot: Plot) -> dict[str, Any]:
    """Data and layout; panels stand one below the other, the first on top."""
    from appell.view.plot import COLORS, Map

    count = len(plot.panels)
    high = (1 - GAP * (count - 1)) / count
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "title": {"text": _text(plot.title), "x": 0.01, "font": {"size": 15}},
        "height": max(330, HEIGHT * count + 90),
        "margin": {"l": 76, "r": 20, "t": 46, "b": 52},
        "hovermode": "closest",
        "legend": {"groupclick": "toggleitem", "tracegroupgap": 12},
        "shapes": [],
        "template": "none",
    }
    used = 0
    for i, panel in enumerate(plot.panels):
        end = "" if i == 0 else str(i + 1)
        top = 1 - i * (high + GAP)
        last = i == count - 1
        x_axis: dict[str, Any] = {
            "anchor": f"y{end}",
            "automargin": True,
            "showline": True,
            "ticks": "outside",
            "exponentformat": "power",
        }
        y_axis: dict[str, Any] = {
            "anchor": f"x{end}", "domain": [max(0.0, top - high), top], "automargin": True, "showline": True,
            "ticks": "outside", "title": {"text": _text(panel.y)}, "exponentformat": "power",
        }  # fmt: skip
        if last or not plot.shared:
            x_axis["title"] = {"text": _text(panel.x)}
        if plot.shared and i > 0:
            x_axis["matches"] = "x"
        if plot.shared and not last:
            x_axis["showticklabels"] = False
        if "x" in panel.log:
            x_axis["type"] = "log"
        if "y" in panel.log:
            y_axis["type"] = "log"
        if panel.equal:
            y_axis.update(scaleanchor=f"x{end}", scaleratio=1)
        layout[f"xaxis{end}"], layout[f"yaxis{end}"] = x_axis, y_axis
        layout["shapes"] += _marks(panel, end)
        for item in panel.items:
            axes = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
            if isinstance(item, Map):
                data += _map(item, axes, y_axis["domain"])
                continue
            color = item.color or COLORS[used % len(COLORS)]
            used += not item.color
            data.append(_line(item, color, axes, i))
    layout["showlegend"] = any(d.get("showlegend") for d in data)
    return {"data": data, "layout": layout}


def _text(words: str) -> str:
    """Plotly reads some markup in texts: names must show as they are typed."""
    return html.escape(words, quote=False)


def _numbers(values: Any) -> list[float | None]:
    return [float(e) if np.isfinite(e) else None for e in np.asarray(values, dtype=float).ravel()]


def _line(item: Line, color: str, axes: dict[str, str], group: int) -> dict[str, Any]:
    made: dict[str, Any] = {
        "type": "scatter", "name": _text(item.name), "x": _numbers(item.x), "y": _numbers(item.y), **axes,
        "mode": "markers" if item.points else "lines", "showlegend": bool(item.name),
        "legendgroup": f"panel {group}",
    }  # fmt: skip
    if item.points:
        made["marker"] = {"color": color, "symbol": item.symbol, "size": 9}
    else:
        made["line"] = {"color": color, "width": 1.8, "dash": "dash" if item.dashed else "solid"}
    if item.notes:
        made["text"] = [_text(e) for e in item.notes]
        made["hovertemplate"] = "%{text}<extra></extra>"
    return made


def _map(item: Map, axes: dict[str, str], domain: list[float]) -> list[dict[str, Any]]:
    z = [_numbers(row) for row in item.z]
    common = {"x": _numbers(item.x), "y": _numbers(item.y), "z": z, **axes}
    bar = {"title": {"text": _text(item.name)}, "len": domain[1] - domain[0], "y": sum(domain) / 2}
    made: dict[str, Any] = {"type": "heatmap", "name": _text(item.name), "colorbar": bar, **common}
    if not item.zero:
        return [{**made, "colorscale": "Viridis"}]
    finite = np.abs(np.asarray(item.z, dtype=float))
    reach = float(np.nanpercentile(finite[np.isfinite(finite)], 98)) if np.isfinite(finite).any() else 1.0
    made.update(colorscale="RdBu", reversescale=False, zmid=0, zmin=-reach, zmax=reach)
    made["colorscale"] = [[0, "#1f6fb2"], [0.5, "#f4f4f2"], [1, "#c0392b"]]
    border = {
        "type": "contour", "showscale": False, "hoverinfo": "skip", "name": "border", **common,
        "contours": {"start": 0, "end": 0, "size": 1, "coloring": "lines"}, "line": {"color": "#22282e", "width": 2},
        "colorscale": [[0, "#22282e"], [1, "#22282e"]],
    }  # fmt: skip
    return [made, border]


def _marks(panel: Panel, end: str) -> list[dict[str, Any]]:
    listed = [
        {"type": "line", "xref": f"x{end}", "yref": f"y{end} domain", "x0": x, "x1": x, "y0": 0, "y1": 1,
         "line": {"color": "#9aa3ad", "width": 1, "dash": "dot"}}
        for x, _ in panel.marks[:60]
    ]  # fmt: skip
    if panel.zero:
        listed.append({"type": "line", "xref": f"x{end}", "yref": f"y{end} domain", "x0": 0, "x1": 0, "y0": 0, "y1": 1,
                       "line": {"color": "#6b7480", "width": 1.4}})  # fmt: skip
    return listed
