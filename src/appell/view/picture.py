"""What is seen of a scene at one moment: faces projected and shaded, lines, dots and arrows, from back to front."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from appell.errors import AppellError
from appell.model.values import number
from appell.view.faces import Shaded
from appell.view.outline import arrow_scale, outline, shown_arrows

if TYPE_CHECKING:
    from appell.view.scene import Scene

WATER, SHADOW = "#3fa3d9", "#e4e8eb"
COLORS = {"force": "#1769aa", "reaction": "#c0392b", "weight": "#6c757d", "couple": "#7b3fa0"}
BLUES = ("#e8f4fa", "#9ed0e6", "#489ec9", "#1d68a3", "#0d376e")
EXACT = 5000  # a circle differs from what is drawn by no more than the width of the window over this
ABOUT = 1.3  # how much is seen about a body that is followed
CELLS = 14  # of the grid, about so many across the window
CLOCKS = (
    ("years", 31557600.0), ("days", 86400.0), ("h", 3600.0), ("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)
)  # fmt: skip
WIDE, HIGH = 8.0, 5.2  # a still, in inches


@dataclass(frozen=True, eq=False)
class Faces:
    """Polygons with a colour each, and a colour for the edges of each; no edges if there is none."""

    places: list[np.ndarray]
    fills: list[str]
    edges: list[str]
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class Lines:
    """Lines of one kind; widths are in points."""

    places: list[np.ndarray]
    color: str
    width: float
    opacity: float = 1.0
    dashed: bool = False


@dataclass(frozen=True, eq=False)
class Dots:
    """Drops."""

    places: np.ndarray
    color: str
    opacity: float


@dataclass(frozen=True, eq=False)
class Pointer:
    """An arrow."""

    a: np.ndarray
    b: np.ndarray
    color: str


@dataclass(frozen=True, eq=False)
class Cells:
    """A map: corners of the cells over (row, column, axis), what is shown, and the greatest that is."""

    corners: np.ndarray
    shown: np.ma.MaskedArray
    top: float


Mark = Faces | Lines | Dots | Pointer | Cells


@dataclass(frozen=True, eq=False)
class Picture:
    """Marks from back to front, and the window through which they are seen: left and right, low and high."""

    marks: list[Mark]
    window: tuple[tuple[float, float], tuple[float, float]]
    title: str
    clock: str


class Camera:
    """A direction of view: what is right, up and near."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        up = scene.up
        x, y = _across(up)
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

    @cached_property
    def outermost(self) -> np.ndarray:
        """What reaches farthest right, up, left and down at any moment, as it is seen."""
        axes = np.stack([self.right, self.over])
        return self.flat(outline(self.scene, np.concatenate([axes, -axes])))


def moment(scene: Scene, t: float | None) -> int:
    """The frame of a time; without one a quarter into the motion, or the end where a map grows."""
    times = scene.values.times
    if t is None:
        return times.size - 1 if scene.field is not None else times.size // 4
    t = number("t", t)
    if not times[0] - 1e-9 <= t <= times[-1] + 1e-9:
        raise AppellError(f"The scene covers t = {times[0]:g} .. {times[-1]:g} s; got t = {t:g}.")
    return int(np.argmin(np.abs(times - t)))


def picture(scene: Scene, k: int, camera: Camera) -> Picture:
    """One frame."""
    window = _window(scene, camera, k)
    shaded = Shaded(scene, k, camera, (window[0][1] - window[0][0]) / EXACT)
    marks: list[Mark] = []
    if scene.floor is not None:
        if scene.view in ("floor", "space"):
            shadows = shaded.shadows()
            marks.append(Faces(shadows, [SHADOW] * len(shadows), []))
        marks += _floor(scene, camera, window)
    if scene.field is not None:
        marks.append(_field(scene, k, camera))
    for curve in scene.curves:
        lines = [camera.flat(line) for line in curve.lines]
        still = curve.kind == "constraint"
        marks.append(Lines(lines, curve.color, 0.6 if still else 1.4, 0.35 if still else 1.0, not still))
    for trace in scene.traces:
        places = camera.flat(scene.values.points[trace.point])
        marks.append(Lines([places], trace.color, 0.8, 0.3))
        marks.append(Lines([places[: k + 1]], trace.color, 1.8, 0.9))
    marks.append(Faces(*shaded.sorted()))
    coils = _springs(scene, k, camera)
    if coils:
        marks.append(Lines(coils, "#6b7480", 1.3))
    marks += _drops(scene, k, camera)
    marks += _arrows(scene, k, camera)
    times = scene.values.times
    clock = f"t = {_time(times[k], times[-1] - times[0])}" if scene.moves else ""
    return Picture(marks, window, scene.title, clock)


def _time(t: float, span: float) -> str:
    """A moment of a run of some length, as the animation writes it."""
    unit, size = next((clock for clock in CLOCKS if span >= (3 if clock[1] > 1 else 0.3) * clock[1]), CLOCKS[-1])
    digits = 3 if span < 3 * size else 2 if span < 300 * size else 1 if span < 3000 * size else 0
    return f"{t / size:.{digits}f} {unit}"


def _window(scene: Scene, camera: Camera, k: int) -> tuple[tuple[float, float], tuple[float, float]]:
    """What is seen: everything, or what is about the body that is followed."""
    seen = camera.outermost
    if scene.follow >= 0:  # with some of its way
        seen = ABOUT * seen + camera.flat(scene.values.points[scene.solids[scene.follow].point][k])
    low, high = seen.min(axis=0), seen.max(axis=0)
    high = high + 0.09 * (high - low) * np.array([0, 1])  # the title is above
    middle, half = (low + high) / 2, 0.54 * np.maximum(high - low, 1e-9 * scene.size)
    half = np.maximum(half, [half[1] * WIDE / HIGH, half[0] * HIGH / WIDE])
    return (middle[0] - half[0], middle[0] + half[0]), (middle[1] - half[1], middle[1] + half[1])


def _across(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two directions at right angles to a normal and to each other, the first near the x axis if it can be."""
    near = np.eye(3)[0] if abs(normal[0]) < 0.9 else np.eye(3)[1]
    first = near - (near @ normal) * normal
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


def round_step(wanted: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below a number."""
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next(k * power for k in (1, 2, 5, 10) if k * power >= wanted * (1 - 1e-9)))


def _floor(scene: Scene, camera: Camera, window: tuple[tuple[float, float], tuple[float, float]]) -> list[Mark]:
    """A grid of round steps."""
    (left, right), (low, high) = window
    span = 1.6 * max(right - left, high - low)
    step = round_step((right - left) / CELLS)
    ground, (a, b) = scene.ground, _across(scene.ground)
    seen = np.array([(left + right) / 2, (low + high) / 2])
    base = camera.right * seen[0] + camera.over * seen[1]
    lean = camera.near @ ground
    if lean < 1e-3:
        return []
    base = base - camera.near * ((base @ ground - (scene.floor or 0.0)) / lean)
    i0, j0 = np.round(base @ a / step), np.round(base @ b / step)
    count = int(span / step)
    origin = (scene.floor or 0.0) * ground
    lines = []
    for n in range(-count, count + 1):
        for u, v, i, j in ((a, b, i0, j0), (b, a, j0, i0)):
            ends = [origin + u * (i + n) * step + v * (j + s * count) * step for s in (-1, 1)]
            lines.append(camera.flat(np.array(ends)))
    return [Lines(lines, "#dfe3e7", 0.6)]


def _field(scene: Scene, k: int, camera: Camera) -> Cells:
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
    return Cells(flat, shown, float(field.values.max()))


def _springs(scene: Scene, k: int, camera: Camera) -> list[np.ndarray]:
    coils = []
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
        coils.append(camera.flat(a + np.outer(s, b - a) + np.outer(wave, across)))
    return coils


def _drops(scene: Scene, k: int, camera: Camera) -> list[Mark]:
    marks: list[Mark] = []
    values, rng = scene.values, np.random.default_rng(5)
    for jet in scene.jets:
        if not abs(values.scalars[jet.rate][k]) > 1e-12:
            continue
        age = np.linspace(0, 1, 90)
        velocity = values.vectors[jet.velocity][k]
        spread = rng.uniform(-1, 1, (age.size, 3)) * jet.spread * np.linalg.norm(velocity)
        flown = age * (-jet.life if jet.inward else jet.life)  # what comes in is on its way to the mouth
        places = values.points[jet.at][k] + (velocity + spread) * flown[:, None]
        if scene.floor is not None and not jet.inward:
            places = places - np.outer(scene.above(places) * age**2, scene.up)
        marks.append(Dots(camera.flat(places), WATER, 0.45))
    return marks


def _arrows(scene: Scene, k: int, camera: Camera) -> list[Mark]:
    marks: list[Mark] = []
    for arrow in shown_arrows(scene):
        at = scene.values.points[arrow.at][k]
        to = at + scene.values.vectors[arrow.vector][k] * arrow_scale(scene)
        a, b = camera.flat(np.array([at, to]))
        if np.linalg.norm(b - a) > 0.5 * scene.unit:
            marks.append(Pointer(a, b, COLORS[arrow.kind]))
    return marks
