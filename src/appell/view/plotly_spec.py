"""A plot as the plain data that Plotly draws."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from appell.view.plot import Band, Cloud, Line, Map, Panel, Plot

HEIGHT, LEAST, GAP, ABOVE, BELOW = 200, 300, 26, 46, 52  # pixels: of a panel, of all, between two, above, below
DIGITS = 9
FINE, COARSE = 4000, 250  # a line is drawn to 1 / FINE of its extent, and told at COARSE places at least


def spec(plot: Plot) -> dict[str, Any]:
    """Data and layout; panels stand one below the other, the first on top."""
    from appell.view.plot import Line

    count = len(plot.panels)
    inner = max(HEIGHT * count + GAP * (count - 1), LEAST)
    gap = GAP / inner
    high = (1 - gap * (count - 1)) / count
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "title": {"text": _text(plot.title), "x": 0.01, "font": {"size": 15}},
        "height": inner + ABOVE + BELOW,
        "margin": {"l": 76, "r": 20, "t": ABOVE, "b": BELOW},
        "hovermode": "closest",
        "shapes": [],
        "annotations": [],
        "template": "none",
        "separators": ".",  # and none between thousands
    }
    for i, panel in enumerate(plot.panels):
        named = bool(plot.legend(i))
        end = "" if i == 0 else str(i + 1)
        top = 1 - i * (high + gap)
        x_axis, y_axis = _axes(plot, i, end, [max(0.0, top - high), top])
        layout[f"xaxis{end}"], layout[f"yaxis{end}"] = x_axis, y_axis
        layout["shapes"] += _marks(panel, end)
        axes = {"xaxis": f"x{end}", "yaxis": f"y{end}"}
        for item, color in panel.colored:
            if isinstance(item, Line):
                data.append(_line(item, color, axes, f"legend{end}", named))
            else:
                data += _filled(item, axes, y_axis["domain"], f"legend{end}", named)
        if panel.words:
            layout["annotations"].append(
                {"text": _text(panel.words), "xref": f"x{end} domain", "yref": f"y{end} domain", "x": 0.5, "y": 0.5,
                 "showarrow": False}
            )  # fmt: skip
            x_axis["showticklabels"] = y_axis["showticklabels"] = False
        if named:  # beside its panel
            layout[f"legend{end}"] = {"x": 1.01, "y": top, "xanchor": "left", "yanchor": "top", "tracegroupgap": 0}
    layout["showlegend"] = any(d.get("showlegend") for d in data)
    return {"data": data, "layout": layout}


def _axes(plot: Plot, i: int, end: str, domain: list[float]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both axes of a panel, whose names end with its number."""
    panel, last = plot.panels[i], i == len(plot.panels) - 1
    look = {"automargin": True, "showline": True, "ticks": "outside", "exponentformat": "power"}
    x_axis: dict[str, Any] = {"anchor": f"y{end}", **look}
    y_axis: dict[str, Any] = {"anchor": f"x{end}", "domain": domain, "title": {"text": _text(panel.y)}, **look}
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
    if panel.step:
        y_axis["dtick"] = panel.step
    if panel.equal:
        y_axis.update(scaleanchor=f"x{end}", scaleratio=1)
    return x_axis, y_axis


def _text(words: str) -> str:
    """Plotly reads some markup in texts: names must show as they are typed."""
    return html.escape(words, quote=False)


def _numbers(values: Any) -> list[float | None]:
    """Plain numbers of so many digits as can be seen; None for those that are not finite."""
    return [float(f"{e:.{DIGITS}g}") if np.isfinite(e) else None for e in np.asarray(values, dtype=float).ravel()]


def thinned(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points of a line are needed for it to look as it is (Douglas and Peucker 1973).

    Args:
        x: Values along the first axis.
        y: Values along the second axis.
    """
    if x.size <= COARSE or not (np.all(np.isfinite(x)) and np.all(np.isfinite(y))):
        return np.ones(x.size, dtype=bool)
    kept = np.zeros(x.size, dtype=bool)
    kept[:: x.size // COARSE] = kept[-1] = True
    u, v = ((e - e.min()) / (np.ptp(e) or 1.0) for e in (x, y))
    ends = np.flatnonzero(kept)
    open_ = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
    while open_:
        a, b = open_.pop()
        if b - a < 2:
            continue
        du, dv = u[b] - u[a], v[b] - v[a]
        away = np.abs(du * (v[a + 1 : b] - v[a]) - dv * (u[a + 1 : b] - u[a]))
        length = float(np.hypot(du, dv))
        if length == 0:  # a loop between two looks
            away, length = np.hypot(u[a + 1 : b] - u[a], v[a + 1 : b] - v[a]), 1.0
        k = int(np.argmax(away))
        if away[k] > length / FINE:
            kept[a + 1 + k] = True
            open_ += [(a, a + 1 + k), (a + 1 + k, b)]
    return kept


def _line(item: Line, color: str, axes: dict[str, str], legend: str, listed: bool) -> dict[str, Any]:
    from appell.view.plot import MANY

    x, y = (np.asarray(e, dtype=float).ravel() for e in (item.x, item.y))
    if not (item.points or item.notes):
        kept = thinned(x, y)
        x, y = x[kept], y[kept]
    made: dict[str, Any] = {
        "type": "scatter", "name": _text(item.name), "x": _numbers(x), "y": _numbers(y), **axes,
        "mode": "markers" if item.points else "lines", "showlegend": bool(item.name) and listed, "legend": legend,
    }  # fmt: skip
    if item.points:
        made["marker"] = {"color": color, "symbol": item.symbol, "size": 9 if x.size <= MANY else 4}
    else:
        width = 0.7 if item.thin else 1.8
        made["line"] = {"color": color, "width": width, "dash": "dash" if item.dashed else "solid", "simplify": False}
    if item.notes:
        made["text"] = [_text(e) for e in item.notes]
        made["hovertemplate"] = "%{text}<extra></extra>"
    return made


def _filled(
    item: Band | Cloud | Map, axes: dict[str, str], domain: list[float], legend: str, listed: bool
) -> list[dict[str, Any]]:
    from appell.view.plot import Band, Cloud

    if isinstance(item, Band):
        edge = {"type": "scatter", "mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", **axes}
        fill = {"fill": "tonexty", "fillcolor": _clear(item.color, item.opacity), "name": _text(item.name)}
        low = {**edge, "x": _numbers(item.x), "y": _numbers(item.low), "showlegend": False}
        return [low, {**edge, "x": low["x"], "y": _numbers(item.high), **fill, "showlegend": listed, "legend": legend}]
    if isinstance(item, Cloud):
        marker = {
            "color": _numbers(item.values), "colorscale": "Viridis", "size": 6, "colorbar": _bar(item.name, domain)
        }  # fmt: skip
        return [{"type": "scatter", "mode": "markers", "name": _text(item.name), "x": _numbers(item.x),
                 "y": _numbers(item.y), "marker": marker, "showlegend": False, **axes}]  # fmt: skip
    return _map(item, axes, domain)


def _clear(color: str, opacity: float) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def _bar(name: str, domain: list[float]) -> dict[str, Any]:
    return {"title": {"text": _text(name), "side": "right"}, "len": domain[1] - domain[0], "y": sum(domain) / 2}


def _map(item: Map, axes: dict[str, str], domain: list[float]) -> list[dict[str, Any]]:
    z = [_numbers(row) for row in item.z]
    common = {"x": _numbers(item.x), "y": _numbers(item.y), "z": z, **axes}
    made: dict[str, Any] = {"type": "heatmap", "name": _text(item.name), "colorbar": _bar(item.name, domain), **common}
    if not item.zero:
        return [{**made, "colorscale": "Viridis"}]
    finite = np.abs(np.asarray(item.z, dtype=float))
    reach = float(np.nanpercentile(finite[np.isfinite(finite)], 98)) if np.isfinite(finite).any() else 1.0
    made.update(zmid=0, zmin=-reach, zmax=reach)
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
