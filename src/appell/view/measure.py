"""How large a scene is, and whether it stays in a plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.view.surface import surface

if TYPE_CHECKING:
    from collections.abc import Iterable

    from appell.view.figure import Figure
    from appell.view.scene import Bar, Drawn
    from appell.view.tracks import Values

CROWD = 8  # bodies
LONG = 6  # sizes from which a way is too long to be seen at once
SEEN = 0.011  # least size of small things against the way


class Measure:
    """Scales of a scene: `size` of what moves, `extent` of all that it visits, `unit` of small things."""

    def __init__(self, values: Values, figures: list[Figure]) -> None:
        sizes = [size for figure in figures for size in figure.sizes(values)]
        bare = not sizes and not any(figure.plain for figure in figures)  # nothing but points
        points = values.points if values.points.size else np.zeros((1, 1, 3))
        apart = np.linalg.norm(points - points.mean(axis=0, keepdims=True), axis=2).max(axis=0)
        spread = apart.max()
        if apart[0] > 1e-3 * spread:  # what flies off later must not make everything else large
            spread = min(spread, 2 * apart[0])
        self.low, self.high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
        visited = float(np.linalg.norm(self.high - self.low))
        self.size = max(2 * float(spread), *sizes, 0.0) if sizes else 2 * float(spread)
        if self.size <= 1e-9 * max(visited, 1e-300):
            self.size = 0.12 * visited or float(np.linalg.norm(points[0, 0])) or 1.0
        self.size = max(self.size, 0.03 * visited) if bare else self.size
        self.unit, self.visited, self.solid = 0.035 * self.size, visited, False
        centers = points[[figure.point for figure in figures], 0]
        gaps = np.linalg.norm(centers[:, None] - centers[None], axis=2)
        gaps[gaps < 1e-9 * self.size] = np.inf
        if len(figures) > CROWD:  # small things must leave room between neighbours
            near = float(np.median(gaps.min(axis=1)))
            self.unit = float(np.clip(0.4 * near, 0.008 * self.size, self.unit))
        elif bare:  # and points must be seen on a long way
            self.unit = max(self.unit, min(SEEN * visited, 0.2 * float(gaps.min(initial=np.inf))))
        self.floor = self.size if bare and 2 * float(spread) < self.size else 0.0

    @property
    def extent(self) -> float:
        """Of all that is visited, and at least of what moves."""
        return max(self.visited, self.size)

    def add(self, solids: list[Drawn], values: Values, still: list[Drawn]) -> None:
        """Take the shapes into account, those that stand still only for what is to be seen."""
        looks = np.unique(np.linspace(0, values.times.size - 1, 40).astype(int))
        boxes = [(values.points[:, :1].reshape(-1, 3).min(axis=0), values.points[:, :1].reshape(-1, 3).max(axis=0))]
        for solid in (*solids, *still):
            shell, moves = np.concatenate([surface(p).vertices for p in solid.parts]), solid not in still
            self.solid = self.solid or (moves and any(p.kind != "sphere" for p in solid.parts))
            for k in looks:
                places = shell @ values.turns[solid.turn][k].T + values.points[solid.point][k]
                low, high = places.min(axis=0), places.max(axis=0)
                self.low, self.high = np.minimum(self.low, low), np.maximum(self.high, high)
                if k == 0 and moves:
                    boxes.append((low, high))
        lows, highs = (np.array(e) for e in zip(*boxes, strict=True))
        self.size = max(self.floor, float(np.linalg.norm(highs.max(axis=0) - lows.min(axis=0))))

    def lowest(self, up: np.ndarray) -> float:
        """The least height."""
        return float(np.minimum(self.low * up, self.high * up).sum())

    def follow(self, solids: list[Drawn], bars: Iterable[Bar], values: Values) -> int:
        """The first body that goes a way long against the size, if all that is drawn stays with it; -1 for none."""
        tracks = [*(solid.point for solid in solids), *(end for bar in bars for end in (bar.a, bar.b))]
        if not (self.solid and self.visited > LONG * self.size):
            return -1
        for i, solid in enumerate(solids):
            way = np.ptp(values.points[solid.point], axis=0).max()
            apart = np.abs(values.points[tracks] - values.points[solid.point]).max()
            if way > self.size and apart < self.visited / LONG:
                return i
        return -1


def plane_of(points: np.ndarray, size: float) -> tuple[np.ndarray, bool]:
    """The plane of the ground's axes in which all points stay."""
    for axis in (2, 1, 0):
        if np.ptp(points[..., axis]) < 1e-9 * max(size, 1e-300):
            return np.eye(3)[axis], True
    return np.array([0.0, 0.0, 1.0]), False
