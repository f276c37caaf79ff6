"""A scene: everything that is drawn, with its course in time; and the ways to look at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from appell.errors import AppellError
from appell.files import check_place, opened, path_of, write_text
from appell.view.parts import Part
from appell.view.tracks import Values

PALETTE = ("#2f78ad", "#d9713a", "#2b9d80", "#c87fa9", "#e6ad45", "#7dbde8", "#7a63c4", "#8a5a3c", "#7b8794")


@dataclass(frozen=True, eq=False)
class Drawn:
    """A body: shapes carried by a point and a frame."""

    name: str
    point: int
    turn: int
    parts: tuple[Part, ...]
    color: str


@dataclass(frozen=True, eq=False)
class Bar:
    """A rod, spring, damper or rail between two points."""

    name: str
    kind: str
    a: int
    b: int
    radius: float
    color: str


@dataclass(frozen=True, eq=False)
class Arrow:
    """A force, a reaction, a weight or a couple; `largest` is its greatest length, once that is known."""

    name: str
    kind: str
    at: int
    vector: int
    largest: float = 0.0


@dataclass(frozen=True, eq=False)
class Jet:
    """A stream of mass: its mouth, velocity against the ground and rate, how far it is drawn, whether it comes in."""

    name: str
    at: int
    velocity: int
    rate: int
    life: float
    spread: float
    inward: bool


@dataclass(frozen=True, eq=False)
class Trace:
    """The path of a point."""

    name: str
    point: int
    color: str


@dataclass(frozen=True, eq=False)
class Curve:
    """Lines that do not move: a constraint, a programmed path. Each is an array of points."""

    name: str
    lines: tuple[np.ndarray, ...]
    color: str
    kind: str = "path"


@dataclass(frozen=True, eq=False)
class Field:
    """A map on the floor that grows in time, such as what was sprayed.

    Attributes:
        x: Centres of the cells.
        y: Centres of the cells.
        times: Moments of the maps.
        values: Maps over moment, y and x.
        label: What is shown.
        unit: Its unit.
    """

    x: np.ndarray
    y: np.ndarray
    times: np.ndarray
    values: np.ndarray
    label: str
    unit: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Scene:
    """A drawing or an animation.

    `scene.save("disk.html")` writes one file that needs nothing else; .png, .svg and .pdf are stills, .gif and .mp4
    moving pictures. In a notebook a scene shows itself; elsewhere `scene.show()` opens it in the browser.

    Attributes:
        title: Name of the model.
        subtitle: What it is.
        values: Points, attitudes, arrows along time.
        solids: Bodies with their shapes.
        bars: Rods, springs, dampers.
        arrows: Forces, reactions, weights, couples.
        jets: Streams of mass.
        traces: Paths of points.
        curves: Lines at rest.
        anchors: Points fixed in the ground at which something hangs.
        joints: Points at which pieces meet.
        up: The direction shown upwards.
        view: How the camera stands: "front" of a plane, "top", "floor" or "space".
        normal: The normal of the plane of a planar model.
        floor: Height of the floor along `ground`; None if there is none.
        ground: The normal of the floor: `up`, or that of the slope that things stand on.
        size: How large what moves is.
        unit: A length that is small but visible.
        box: Two corners of all that is visited.
        events: Moments and names.
        readout: Names, units and tracks of numbers shown beside the picture.
        field: A map on the floor.
        follow: Number of the body the camera goes with at first; -1 for none.
    """

    title: str
    subtitle: str
    values: Values
    solids: tuple[Drawn, ...]
    bars: tuple[Bar, ...]
    arrows: tuple[Arrow, ...]
    jets: tuple[Jet, ...]
    traces: tuple[Trace, ...]
    curves: tuple[Curve, ...]
    anchors: tuple[int, ...]
    joints: tuple[int, ...]
    up: np.ndarray
    view: str
    normal: np.ndarray
    floor: float | None
    ground: np.ndarray
    size: float
    unit: float
    box: tuple[np.ndarray, np.ndarray]
    events: tuple[tuple[float, str], ...] = ()
    readout: tuple[tuple[str, str, int], ...] = ()
    field: Field | None = None
    follow: int = -1

    def __repr__(self) -> str:
        t = self.values.times
        moving = f"t = {t[0]:g} .. {t[-1]:g} s, {t.size} moments" if t.size > 1 else "at rest"
        bodies = f"{len(self.solids)} {'body' if len(self.solids) == 1 else 'bodies'}"
        return f"Scene of {self.title!r}: {bodies}, {moving}; scene.save('scene.html'), scene.show()"

    @property
    def moves(self) -> bool:
        """Whether there is more than one moment."""
        return self.values.times.size > 1

    def above(self, places: np.ndarray) -> np.ndarray:
        """How high points are straight above the floor.

        Args:
            places: Points, one in a row.
        """
        return (places @ self.ground - (self.floor or 0.0)) / (self.ground @ self.up)

    def html(self) -> str:
        """One page that needs nothing else: no network, no server."""
        return self._page

    @cached_property
    def _page(self) -> str:
        from appell.view.page import animation_page

        return animation_page(self)

    def save(self, path: str | Path, t: float | None = None, seconds: float | None = None) -> Path:
        """Write the scene in the format that the name says.

        Args:
            path: .html (self-contained), .png .svg .pdf (a still), .gif, .mp4 (needs ffmpeg).
            t: For a still: the moment; a telling one if left out.
            seconds: For a moving picture: how long it shall last; as long as the motion, at least 2 s and at most 20 s,
                if left out.
        """
        path = path_of(path)
        check_place(path)
        ending = path.suffix.lower()
        if ending in (".html", ".htm"):
            return write_text(path, self.html())
        from appell.view import film, still

        if ending in (".png", ".svg", ".pdf"):
            return still.save(self, path, t)
        if ending in (".gif", ".mp4"):
            return film.save(self, path, seconds)
        raise AppellError(f"Cannot draw to {path.name!r}: use .html, .png, .svg, .pdf, .gif or .mp4.")

    def figure(self, t: float | None = None) -> Any:
        """The scene at one moment as a Matplotlib figure."""
        from appell.view.still import figure

        return figure(self, t)

    def show(self) -> Path:
        """Open the scene in the browser, from a file in the folder for temporary ones."""
        return opened(self, "scene")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """The moving picture, and a still where pages with script are not shown."""
        from appell.view.page import bundle
        from appell.view.still import png

        return bundle(self, 560, png(self))
