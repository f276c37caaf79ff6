"""What a camera must take in: the outermost points of everything that is drawn, at all moments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from appell.view.surface import surface

if TYPE_CHECKING:
    from appell.view.scene import Arrow, Field, Scene

LOOKS, LEAST = 200, 40  # moments at which bodies that turn are looked at, fewer in a crowd
CROWD = 10  # bodies
FEW = 4  # reactions that are shown without being asked for
REACH = 0.55  # length of the longest arrow, in sizes of what moves
SHARED = ("force", "reaction")  # kinds of arrows that have one scale
ALONE = 0.4  # what is smaller, in sizes of what moves, is a point by itself; so much room is left about it
HIGH = 3  # sizes above the floor from which what a camera goes along with casts no shadow that must be seen
FOOT = 1.15  # how far an anchor goes, in units


def largest(arrows: Iterable[Arrow]) -> dict[str, float]:
    """The greatest length of each kind of arrow."""
    found: dict[str, float] = {}
    for arrow in arrows:
        found[arrow.kind] = max(arrow.largest, found.get(arrow.kind, 0.0))
    return found


def shown_arrows(scene: Scene) -> list[Arrow]:
    """Forces, and reactions if they are few."""
    few = sum(a.kind == "reaction" for a in scene.arrows) <= FEW
    return [a for a in scene.arrows if a.kind == "force" or (few and a.kind == "reaction")]


def arrow_scale(scene: Scene) -> float:
    """Metres for a newton: forces and reactions have one scale."""
    top = max((a.largest for a in scene.arrows if a.kind in SHARED), default=1.0)
    return REACH * scene.size / top


def outline(scene: Scene, directions: np.ndarray) -> np.ndarray:
    """The outermost point in each direction; of a scene that follows a body, as seen from that body.

    Args:
        scene: The scene.
        directions: One row each.
    """
    values = scene.values
    moments = values.times.size
    base = values.points[scene.solids[scene.follow].point] if scene.follow >= 0 else np.zeros((moments, 3))
    far = np.full(len(directions), -np.inf)
    found = np.zeros((len(directions), 3))

    def reach(places: np.ndarray, thick: float = 0.0) -> None:
        """Take points into account, and what is about them."""
        if not len(places):
            return
        heights = places @ directions.T
        best = np.argmax(heights, axis=0)
        top = heights[best, np.arange(len(directions))] + thick
        more = top > far
        far[more] = top[more]
        found[more] = places[best[more]] + thick * directions[more]

    enough = max(LEAST, LOOKS * CROWD // max(CROWD, len(scene.solids)))
    looks = np.unique(np.linspace(0, moments - 1, enough).astype(int))
    for solid in scene.solids:
        shell = np.concatenate([surface(shape, 12).vertices for shape in solid.parts])
        shell = shell[np.unique(np.argmax(shell @ sphere(90).T, axis=0))]
        turned = np.einsum("tij,vj->tvi", values.turns[solid.turn][looks], shell)
        places = (turned + values.points[solid.point][looks, None]).reshape(-1, 3)
        away = np.repeat(base[looks], len(shell), axis=0)
        reach(places - away)
        if scene.floor is not None and scene.view in ("floor", "space"):
            heights = scene.above(places)
            cast = heights < (HIGH * scene.size if scene.follow >= 0 else np.inf)  # shadows
            reach((places - np.outer(heights, scene.up) - away)[cast])
    for bar in scene.bars:
        for end in (bar.a, bar.b):
            reach(values.points[end] - base, bar.radius)
    for track in (*scene.anchors, *scene.joints):
        reach(values.points[track] - base, scene.unit * (FOOT if track in scene.anchors else 0.5))
    for arrow in shown_arrows(scene):
        reach(values.points[arrow.at] - base + values.vectors[arrow.vector] * arrow_scale(scene), 0.3 * scene.unit)
    if scene.follow < 0:
        for trace in scene.traces:
            reach(values.points[trace.point])
        for curve in scene.curves:
            if curve.kind != "constraint":
                reach(np.concatenate(curve.lines))
    if scene.field is not None and scene.follow < 0:
        reach(_covered(scene.field, scene.floor or 0.0))
    seen = found[np.isfinite(far)]
    if len(seen) and np.ptp(seen, axis=0).max() < ALONE * scene.size:  # room about a point that is all there is
        reach(seen.mean(axis=0)[None], ALONE * scene.size)
    return found[np.isfinite(far)]


def _covered(field: Field, height: float) -> np.ndarray:
    """Corners of the part of a map in which there is something at last."""
    some = field.values.max(axis=0) > 0.01 * field.values.max()
    if not some.any():
        some[:] = True
    x, y = field.x[some.any(axis=0)][[0, -1]], field.y[some.any(axis=1)][[0, -1]]
    return np.array([[a, b, height] for a in x for b in y])


def sphere(count: int) -> np.ndarray:
    """Directions spread evenly, along a spiral of golden turns."""
    k = np.arange(count) + 0.5
    z, angle = 1 - 2 * k / count, np.pi * (1 + np.sqrt(5)) * k
    return np.column_stack([np.sqrt(1 - z * z) * np.cos(angle), np.sqrt(1 - z * z) * np.sin(angle), z])
