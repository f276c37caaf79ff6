"""A scene at one moment without a browser, by Matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from appell import files
from appell.view.faces import INK
from appell.view.picture import BLUES, HIGH, WIDE, Camera, Cells, Dots, Faces, Lines, moment, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from appell.view.picture import Mark
    from appell.view.scene import Scene


def figure(scene: Scene, t: float | None = None) -> Any:
    """A Matplotlib figure."""
    from matplotlib.figure import Figure

    made = Figure(figsize=(WIDE, HIGH))
    axes = made.add_axes((0, 0, 1, 1))
    paint(axes, scene, moment(scene, t), Camera(scene))
    return made


def save(scene: Scene, path: Path, t: float | None) -> Path:
    """Write a still."""
    return files.write_figure(figure(scene, t), path, 160)


def png(scene: Scene) -> bytes:
    """A small still."""
    return files.png(figure(scene), 90)


def paint(axes: Axes, scene: Scene, k: int, camera: Camera) -> None:
    """Draw one frame."""
    from matplotlib.patheffects import withStroke

    seen = picture(scene, k, camera)
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="box")
    for order, mark in enumerate(seen.marks):
        _mark(axes, mark, 1 + order)
    axes.set_xlim(*seen.window[0])
    axes.set_ylim(*seen.window[1])
    words: dict[str, Any] = {
        "transform": axes.transAxes, "va": "top", "zorder": len(seen.marks) + 2, "parse_math": False,
        "path_effects": [withStroke(linewidth=6, foreground="white")],
    }  # fmt: skip
    axes.text(0.02, 0.965, seen.title, fontsize=13, fontweight="bold", color=INK, **words)
    axes.text(0.98, 0.965, seen.clock, fontsize=11, ha="right", color="#667079", **words)


def _mark(axes: Axes, mark: Mark, order: int) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    if isinstance(mark, Faces):
        edges, alpha = mark.edges or "none", mark.opacity if mark.opacity < 1 else None  # a number hides that of fills
        axes.add_collection(
            PolyCollection(
                mark.places, facecolors=mark.fills, edgecolors=edges, linewidths=0.3, alpha=alpha, zorder=order
            )
        )
    elif isinstance(mark, Lines):
        style = {"linestyle": "--"} if mark.dashed else {}
        axes.add_collection(
            LineCollection(
                mark.places, colors=mark.color, linewidths=mark.width, alpha=mark.opacity, zorder=order, **style
            )
        )
    elif isinstance(mark, Dots):
        axes.scatter(*mark.places.T, s=3, color=mark.color, alpha=mark.opacity, linewidths=0, zorder=order)
    elif isinstance(mark, Cells):
        from matplotlib.colors import LinearSegmentedColormap

        blues = LinearSegmentedColormap.from_list("water", list(BLUES))
        axes.pcolormesh(mark.corners[..., 0], mark.corners[..., 1], mark.shown, cmap=blues, vmin=0, vmax=mark.top,
                        zorder=order, rasterized=True)  # fmt: skip
    else:
        style = {"arrowstyle": "-|>", "color": mark.color, "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", mark.b, mark.a, arrowprops=style, zorder=order)
