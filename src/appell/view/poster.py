"""A scene at one moment as a small SVG picture: what a page shows where there is no WebGL. Needs no other program."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from appell.view.faces import INK
from appell.view.picture import (
    BLUES,
    HIGH,
    WIDE,
    Camera,
    Cells,
    Dots,
    Faces,
    Lines,
    Mark,
    Pointer,
    moment,
    picture,
)

if TYPE_CHECKING:
    from appell.view.scene import Scene

Flat = Callable[[np.ndarray], list[list[float]]]
WIDTH = 720  # pixels; a point of a line's width is one of these
MOST = 400  # points of one line


def svg(scene: Scene) -> str:
    """A still at a telling moment."""
    seen = picture(scene, moment(scene, None), Camera(scene))
    (left, right), (_, top) = seen.window
    scale, height = WIDTH / (right - left), round(WIDTH * HIGH / WIDE)

    def flat(places: np.ndarray) -> list[list[float]]:
        return np.round((places - [left, top]) * [scale, -scale], 1).tolist()

    words = f'font-family="sans-serif" fill="{INK}" stroke="#ffffff" stroke-width="7" paint-order="stroke"'
    parts = [f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>']
    parts += [_mark(mark, flat) for mark in seen.marks]
    parts.append(f'<text x="14" y="30" {words} font-size="19" font-weight="bold">{html.escape(seen.title)}</text>')
    if seen.clock:
        parts.append(f'<text x="{WIDTH - 14}" y="28" {words} font-size="15" text-anchor="end">{seen.clock}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
        f"{''.join(parts)}</svg>"
    )


def _points(places: list[list[float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in places)


def _mark(mark: Mark, flat: Flat) -> str:
    if isinstance(mark, Faces):
        return _faces(mark, flat)
    if isinstance(mark, Lines):
        dash = ' stroke-dasharray="6 4"' if mark.dashed else ""
        shown = [line[:: max(1, len(line) // MOST)] for line in mark.places]
        lines = "".join(f'<polyline points="{_points(flat(line))}"/>' for line in shown if len(line) > 1)
        return (
            f'<g fill="none" stroke="{mark.color}" stroke-width="{mark.width:g}" opacity="{mark.opacity:g}"{dash}>'
            f"{lines}</g>"
        )
    if isinstance(mark, Dots):
        dots = "".join(f'<circle cx="{x:g}" cy="{y:g}" r="1.2"/>' for x, y in flat(mark.places))
        return f'<g fill="{mark.color}" opacity="{mark.opacity:g}">{dots}</g>'
    if isinstance(mark, Cells):
        return _cells(mark, flat)
    assert isinstance(mark, Pointer)
    a, b = np.array(flat(np.array([mark.a, mark.b])))
    way = (b - a) / max(float(np.linalg.norm(b - a)), 1e-9)
    side, neck = np.array([-way[1], way[0]]), b - 9 * way
    head = _points(np.round([b, neck + 3.5 * side, neck - 3.5 * side], 1).tolist())
    ends = _points(np.round([a, neck], 1).tolist())
    return f'<path d="M{ends}" stroke="{mark.color}" stroke-width="1.6"/><path d="M{head}z" fill="{mark.color}"/>'


def _faces(mark: Faces, flat: Flat) -> str:
    if not mark.places:
        return ""
    corners = iter(flat(np.concatenate(mark.places)))
    edges = mark.edges or [""] * len(mark.places)
    paths = []
    for face, fill, edge in zip(mark.places, mark.fills, edges, strict=True):
        stroke = f' stroke="{edge}"' if edge else ""
        paths.append(f'<path d="M{_points([next(corners) for _ in face])}z" fill="{fill}"{stroke}/>')
    return f'<g stroke-width="0.3" opacity="{mark.opacity:g}">{"".join(paths)}</g>'


def _cells(mark: Cells, flat: Flat) -> str:
    """Cells of a map, those of one shade together."""
    values, corners = mark.shown.filled(0.0), mark.corners
    step = max(1, round(max(values.shape) / 90))
    shades: dict[str, list[str]] = {}
    for i in range(0, values.shape[0] - step + 1, step):
        for j in range(0, values.shape[1] - step + 1, step):
            value = float(values[i : i + step, j : j + step].mean())
            if value <= 0.01 * mark.top:
                continue
            shade = BLUES[min(len(BLUES) - 1, int(len(BLUES) * value / mark.top))]
            quad = corners[[i, i, i + step, i + step], [j, j + step, j + step, j]]
            shades.setdefault(shade, []).append(f"M{_points(flat(quad))}z")
    return "".join(f'<path d="{"".join(listed)}" fill="{shade}"/>' for shade, listed in sorted(shades.items()))
