"""A scene at one moment without a browser: faces projected, shaded, drawn from back to front with Matplotlib."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.errors import AppellError
from appell.view.parts import surface

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from appell.view.scene import Scene

INK, WATER = "#2b333b", "#3fa3d9"
COLORS = {"force": "#1769aa", "reaction": "#c0392b", "weight": "#6c757d", "couple": "#7b3fa0"}
SHADES = ("", "#f4f1ea", INK)


class Camera:
    """A direction of view: what is right, up and near, and the rectangle that is seen."""

    def __init__(self, scene: Scene) -> None:
        up = scene.up
        first = np.eye(3)[0] if abs(up[0]) < 0.9 else np.eye(3)[1]
        x = first - (first @ up) * up
        x /= np.linalg.norm(x)
        y = np.cross(up, x)
        way = {"front": scene.normal, "top": up - 1e-3 * y, "floor": -y + 0.55 * x + 0.7 * up,
               "space": -y + 0.55 * x + 0.5 * up}[scene.view]  # fmt: skip
        self.near = way / np.linalg.norm(way)
        over = up - (up @ self.near) * self.near
        self.over = over / np.linalg.norm(over)
        self.right = np.cross(self.over, self.near)
        self.up = up
        light = 1.4 * up + 0.6 * self.right + 0.9 * self.near
        self.light = light / np.linalg.norm(light)

    def flat(self, points: np.ndarray) -> np.ndarray:
        """Where points are seen."""
        return np.stack([points @ self.right, points @ self.over], axis=-1)

    def depth(self, points: np.ndarray) -> np.ndarray:
        """How near they are."""
        return points @ self.near


def moment(scene: Scene, t: float | None) -> int:
    """The frame of a time; without one a quarter into the motion, or the end where a map grows."""
    times = scene.values.times
    if t is None:
        return times.size - 1 if scene.field is not None else times.size // 4
    if not times[0] - 1e-9 <= t <= times[-1] + 1e-9:
        raise AppellError(f"The scene covers t = {times[0]:g} .. {times[-1]:g} s; got t = {t:g}.")
    return int(np.argmin(np.abs(times - t)))


def figure(scene: Scene, t: float | None = None, size: tuple[float, float] = (8.0, 5.2)) -> Any:
    """A Matplotlib figure."""
    from matplotlib.figure import Figure

    made = Figure(figsize=size)
    axes = made.add_axes((0, 0, 1, 1))
    paint(axes, scene, moment(scene, t), Camera(scene))
    return made


def save(scene: Scene, path: Path, t: float | None) -> Path:
    """Write a still."""
    made = figure(scene, t)
    part = path.with_name(f"{path.stem}.part{path.suffix}")
    try:
        made.savefig(part, dpi=160)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def png(scene: Scene) -> bytes:
    """A small still."""
    out = io.BytesIO()
    figure(scene).savefig(out, dpi=90, format="png")
    return out.getvalue()


def paint(axes: Axes, scene: Scene, k: int, camera: Camera) -> None:
    """Draw one frame."""
    from matplotlib.collections import LineCollection, PolyCollection

    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="box")
    window = _window(scene, camera, k)
    faces, colors, edges, depths = _faces(scene, k, camera)
    if scene.floor is not None:
        _floor(axes, scene, camera, window)
        shadow = _shadows(scene, faces, camera)
        if shadow:
            axes.add_collection(PolyCollection(shadow, facecolors="#00000012", edgecolors="none", zorder=1.5))
    if scene.field is not None:
        _field(axes, scene, k, camera)
    for curve in scene.curves:
        style = (
            {"linewidth": 0.6, "alpha": 0.5} if curve.kind == "constraint" else {"linewidth": 1.4, "linestyle": "--"}
        )
        lines = [camera.flat(line) for line in curve.lines]
        axes.add_collection(LineCollection(lines, colors=curve.color, zorder=2, **style))
    for trace in scene.traces:
        places = camera.flat(scene.values.points[trace.point])
        axes.plot(*places.T, color=trace.color, linewidth=0.8, alpha=0.3, zorder=2.1)
        axes.plot(*places[: k + 1].T, color=trace.color, linewidth=1.8, alpha=0.9, zorder=2.2)
    order = np.argsort(depths, kind="stable")
    projected = [camera.flat(faces[i]) for i in order]
    axes.add_collection(
        PolyCollection(
            projected, facecolors=[colors[i] for i in order], edgecolors=[edges[i] for i in order], linewidths=0.3,
            zorder=3,
        )
    )  # fmt: skip
    _springs(axes, scene, k, camera)
    _drops(axes, scene, k, camera)
    _arrows(axes, scene, k, camera)
    axes.set_xlim(*window[0])
    axes.set_ylim(*window[1])
    axes.text(0.02, 0.965, scene.title, transform=axes.transAxes, fontsize=13, fontweight="bold", va="top", color=INK)
    if scene.moves:
        now = f"t = {scene.values.times[k]:.2f} s"
        axes.text(0.98, 0.965, now, transform=axes.transAxes, fontsize=11, ha="right", va="top", color="#667079")


def _window(scene: Scene, camera: Camera, k: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """What is seen: everything, or what is about the body that is followed."""
    if scene.follow >= 0:
        middle = scene.values.points[scene.solids[scene.follow].point][k]
        half = 0.9 * scene.size
        seen = camera.flat(middle[None])
        low, high = seen[0] - half, seen[0] + half
    else:
        ends = np.stack(scene.box)
        corners = np.array([[ends[i, 0], ends[j, 1], ends[n, 2]] for i in (0, 1) for j in (0, 1) for n in (0, 1)])
        seen = camera.flat(corners)
        low, high = seen.min(axis=0) - scene.unit, seen.max(axis=0) + scene.unit
    if scene.field is not None and scene.follow < 0:
        corners = np.array([[x, y, scene.floor or 0.0] for x in scene.field.x[[0, -1]] for y in scene.field.y[[0, -1]]])
        flat = camera.flat(corners)
        low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
    middle, half = (low + high) / 2, 0.54 * np.maximum(high - low, 1e-9)
    half = np.maximum(half, [half[1] * 8 / 5.2, half[0] * 5.2 / 8])
    return (middle[0] - half[0], middle[0] + half[0]), (middle[1] - half[1], middle[1] + half[1])


def _faces(
    scene: Scene, k: int, camera: Camera
) -> tuple[list[np.ndarray], list[tuple[float, ...]], list[tuple[float, ...]], list[float]]:
    from matplotlib.colors import to_rgb

    faces: list[np.ndarray] = []
    colors: list[tuple[float, ...]] = []
    edges: list[tuple[float, ...]] = []
    depths: list[float] = []

    def add(places: np.ndarray, listed: list[list[int]], shades: list[int], color: str, fine: bool) -> None:
        for face, shade in zip(listed, shades, strict=True):
            corners = places[face]
            normal = np.cross(corners[1] - corners[0], corners[2] - corners[1])
            length = np.linalg.norm(normal)
            if length == 0 or normal @ camera.near <= 0:
                continue
            bright = 0.62 + 0.38 * max(0.0, float(normal @ camera.light) / length)
            base = np.array(to_rgb(SHADES[shade] or color))
            faces.append(corners)
            colors.append(tuple(np.clip(base * bright, 0, 1)))
            edges.append(tuple(np.clip(base * bright * (1.0 if fine else 0.75), 0, 1)))
            depths.append(float(camera.depth(corners).mean()))

    values = scene.values
    for solid in scene.solids:
        at, turn = values.points[solid.point][k], values.turns[solid.turn][k]
        for shape in solid.parts:
            shell = surface(shape)
            fine = shape.kind in ("sphere", "ball", "capsule", "cylinder", "wheel") or len(shell.faces) > 60
            add(shell.vertices @ turn.T + at, shell.faces, shell.shades, shape.color or solid.color, fine)
    from appell.view.parts import along, part

    pins = [(t, 0.75 * scene.unit) for t in scene.anchors] + [(t, 0.55 * scene.unit) for t in scene.joints]
    for track, radius in pins:
        shell = surface(part("sphere", radius))
        add(shell.vertices + values.points[track][k], shell.faces, shell.shades, INK, True)
    for bar in scene.bars:
        if bar.kind == "spring":
            continue
        a, b = values.points[bar.a][k], values.points[bar.b][k]
        length = float(np.linalg.norm(b - a))
        if length > 1e-12:
            shell = surface(part("cylinder", bar.radius, length))
            places = shell.vertices @ along(b - a).T + (a + b) / 2
            add(places, shell.faces, shell.shades, bar.color, True)
    return faces, colors, edges, depths


def _shadows(scene: Scene, faces: list[np.ndarray], camera: Camera) -> list[np.ndarray]:
    """Faces laid on the floor, straight down; only in oblique views."""
    if scene.view not in ("floor", "space") or len(faces) > 1500:
        return []
    floor = scene.floor or 0.0
    return [camera.flat(f - np.outer(f @ camera.up - floor, camera.up)) for f in faces]


def _floor(axes: Axes, scene: Scene, camera: Camera, window: Any) -> None:
    """A grid of round steps."""
    from matplotlib.collections import LineCollection

    (left, right), (low, high) = window
    span = 1.6 * max(right - left, high - low)
    step = 10 ** np.round(np.log10(span / 16))
    while span / step > 60:
        step *= 2
    x = camera.right - (camera.right @ camera.up) * camera.up
    x /= np.linalg.norm(x)
    first = np.eye(3)[0] if abs(camera.up[0]) < 0.9 else np.eye(3)[1]
    a = first - (first @ camera.up) * camera.up
    a /= np.linalg.norm(a)
    b = np.cross(camera.up, a)
    seen = np.array([(left + right) / 2, (low + high) / 2])
    base = camera.right * seen[0] + camera.over * seen[1]
    lean = camera.near @ camera.up
    if lean < 1e-3:
        return
    base = base - camera.near * ((base @ camera.up - (scene.floor or 0.0)) / lean)
    i0, j0 = np.round(base @ a / step), np.round(base @ b / step)
    count = int(span / step)
    origin = (scene.floor or 0.0) * camera.up
    lines = []
    for n in range(-count, count + 1):
        for u, v, i, j in ((a, b, i0, j0), (b, a, j0, i0)):
            ends = [origin + u * (i + n) * step + v * (j + s * count) * step for s in (-1, 1)]
            lines.append(camera.flat(np.array(ends)))
    axes.add_collection(LineCollection(lines, colors="#dfe3e7", linewidths=0.6, zorder=1))


def _field(axes: Axes, scene: Scene, k: int, camera: Camera) -> None:
    from matplotlib.colors import LinearSegmentedColormap

    field = scene.field
    assert field is not None
    times = field.times
    which = int(np.searchsorted(times, scene.values.times[k], side="right")) - 1 if times.size > 1 else 0
    shown = np.ma.masked_less(field.values[max(which, 0)], 0.01 * field.values.max())
    height = scene.floor or 0.0
    dx, dy = (float(e[1] - e[0]) for e in (field.x, field.y))
    x, y = (np.append(e - d / 2, e[-1] + d / 2) for e, d in ((field.x, dx), (field.y, dy)))
    X, Y = np.meshgrid(x, y)
    flat = camera.flat(np.stack([X, Y, np.full_like(X, height)], axis=-1))
    blues = LinearSegmentedColormap.from_list("water", ["#e8f4fa", "#9ed0e6", "#489ec9", "#1d68a3", "#0d376e"])
    axes.pcolormesh(
        flat[..., 0], flat[..., 1], shown, cmap=blues, vmin=0, vmax=field.values.max(), zorder=1.2, rasterized=True
    )


def _springs(axes: Axes, scene: Scene, k: int, camera: Camera) -> None:
    s = np.linspace(0, 1, 160)
    inner = np.clip((s - 0.08) / 0.84, 0, 1)
    swell = np.minimum(1, 12 * np.minimum(inner, 1 - inner))
    for bar in scene.bars:
        if bar.kind != "spring":
            continue
        a, b = scene.values.points[bar.a][k], scene.values.points[bar.b][k]
        across = np.cross(camera.near, b - a)
        if np.linalg.norm(across) < 1e-12:
            continue
        across /= np.linalg.norm(across)
        wave = bar.radius * swell * np.sin(18 * np.pi * inner)
        places = camera.flat(a + np.outer(s, b - a) + np.outer(wave, across))
        axes.plot(*places.T, color="#6b7480", linewidth=1.3, zorder=3.1)


def _drops(axes: Axes, scene: Scene, k: int, camera: Camera) -> None:
    values, rng = scene.values, np.random.default_rng(5)
    for jet in scene.jets:
        if not abs(values.scalars[jet.rate][k]) > 1e-12:
            continue
        age = np.linspace(0, 1, 90)
        velocity = values.vectors[jet.velocity][k]
        spread = rng.uniform(-1, 1, (age.size, 3)) * jet.spread * np.linalg.norm(velocity)
        places = values.points[jet.at][k] + (velocity + spread) * (age * jet.life)[:, None]
        if scene.floor is not None:
            height = places @ scene.up - scene.floor
            places = places - np.outer(height * age**2, scene.up)
        axes.scatter(*camera.flat(places).T, s=3, color=WATER, alpha=0.45, linewidths=0, zorder=3.2)


def _arrows(axes: Axes, scene: Scene, k: int, camera: Camera) -> None:
    shown = [a for a in scene.arrows if a.kind in ("force", "reaction")]
    top = max((a.largest for a in shown), default=1.0)
    for arrow in shown:
        at = scene.values.points[arrow.at][k]
        to = at + scene.values.vectors[arrow.vector][k] * (0.55 * scene.size / top)
        a, b = camera.flat(np.array([at, to]))
        if np.linalg.norm(b - a) > 0.5 * scene.unit:
            style = {"arrowstyle": "-|>", "color": COLORS[arrow.kind], "linewidth": 1.4, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", b, a, arrowprops=style, zorder=4)
