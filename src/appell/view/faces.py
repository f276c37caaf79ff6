"""Bodies, bars and pins of a scene at one moment as shaded faces, and their shadows on the floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.view.parts import Part, along, hull, part
from appell.view.surface import around, surface

if TYPE_CHECKING:
    from appell.view.picture import Camera
    from appell.view.scene import Scene

INK = "#2b333b"
FOOT = "#4a545e"
SHADES = ("", "#f4f1ea", INK)
DIM, LIT = 0.62, 0.38  # brightness away from the light, and what the light adds
FLAT = ("box", "plate", "mesh")
LARGE = 0.01  # of the square of the whole: faces of such an area part the others by their planes
PLANES = 30  # so many of them at most
CAP = 8  # a face of more corners is the flat end of something round


class Shaded:
    """Faces that look towards a camera.

    Args:
        scene: The scene.
        k: The moment.
        camera: From where it is seen.
        error: By how much a circle may differ from what is drawn.
    """

    def __init__(self, scene: Scene, k: int, camera: Camera, error: float) -> None:
        self.scene, self.k, self.camera, self.error = scene, k, camera, error
        self.faces: list[np.ndarray] = []
        self.fills: list[str] = []
        self.edges: list[str] = []
        self.depths: list[float] = []
        self.bodies: list[np.ndarray] = []  # vertices, for shadows
        values = scene.values
        for solid in scene.solids:
            at, turn = values.points[solid.point][k], values.turns[solid.turn][k]
            for shape in solid.parts:
                self._part(shape, at, turn, solid.color)
        for track in scene.anchors:
            foot = part("foot", 0.85 * scene.unit, 0.9 * scene.unit)
            self._part(foot, values.points[track][k], along(scene.up), FOOT)
        pins = [(t, 0.55 * scene.unit) for t in scene.anchors] + [(t, 0.48 * scene.unit) for t in scene.joints]
        for track, radius in pins:
            self._globe(values.points[track][k], radius, INK)
        self._bars()

    def sorted(self) -> tuple[list[np.ndarray], list[str], list[str]]:
        """Faces from back to front as they are seen, their fills and their edges."""
        order = self._order()
        flat = _flat([self.faces[i] for i in order], self.camera)
        return flat, [self.fills[i] for i in order], [self.edges[i] for i in order]

    def _order(self) -> list[int]:
        """By the depth of their middles, which says little of a long board: planes of large faces part the others.

        What is behind the plane of a face that is seen never hides what is in front of it. Faces that the plane cuts go
        to the side on which their middle is.
        """
        if not self.faces:
            return []
        starts = np.cumsum([0, *(len(face) for face in self.faces[:-1])])
        places, depths = np.concatenate(self.faces), np.array(self.depths)
        counts = np.diff([*starts, len(places)])
        middles = np.add.reduceat(places, starts) / counts[:, None]
        arms, following = places - np.repeat(middles, counts, axis=0), np.arange(1, len(places) + 1)
        following[starts + counts - 1] = starts
        normals = 0.5 * np.add.reduceat(np.cross(arms, arms[following]), starts)  # as long as the areas
        areas = np.linalg.norm(normals, axis=1)
        large = np.flatnonzero(areas > LARGE * np.sum(np.ptp(places, axis=0) ** 2))
        slack = 1e-6 * self.scene.size

        def parted(some: np.ndarray, planes: list[int]) -> list[int]:
            planes = [i for i in planes if i in some]
            if not planes:
                return some.tolist()
            above = (middles[some] - middles[planes[0]]) @ normals[planes[0]] / areas[planes[0]]
            behind, before = above < -slack, above > slack
            return [
                *parted(some[behind], planes[1:]),
                *some[~behind & ~before].tolist(),
                *parted(some[before], planes[1:]),
            ]

        return parted(np.argsort(depths, kind="stable"), large[np.argsort(-areas[large])][:PLANES].tolist())

    def shadows(self) -> list[np.ndarray]:
        """What the bodies cover of the floor under a light straight above."""
        dropped = [v - np.outer(self.scene.above(v), self.scene.up) for v in self.bodies]
        return [hull(flat) for flat in _flat(dropped, self.camera)]

    def _bars(self) -> None:
        values, k = self.scene.values, self.k
        for bar in self.scene.bars:
            if bar.kind == "spring":
                continue
            a, b = values.points[bar.a][k], values.points[bar.b][k]
            length = float(np.linalg.norm(b - a))
            if length > 1e-9 * self.scene.size:
                pieces = [(bar.radius, 0.0, 1.0)]
                if bar.kind == "damper":  # a cylinder and its piston's rod
                    pieces = [(bar.radius, 0.0, 0.5), (0.4 * bar.radius, 0.5, 1.0)]
                for radius, first, last in pieces:
                    rod = part("cylinder", radius, (last - first) * length)
                    self._part(rod, a + (first + last) / 2 * (b - a), along(b - a), bar.color)

    def _part(self, shape: Part, at: np.ndarray, turn: np.ndarray, color: str) -> None:
        """One shape, carried by a point and a frame."""
        color = shape.color or color
        if shape.kind == "sphere" and shape.opacity == 1:
            self._globe(turn @ shape.at + at, shape.size[0], color)
            return
        shell = surface(shape, around(shape.size[0], self.error) if shape.kind not in FLAT else 24)
        places = shell.vertices @ turn.T + at
        self.bodies.append(places)
        clear = "" if shape.opacity == 1 else f"{round(255 * shape.opacity):02x}"
        base = [_rgb(shade or color) for shade in SHADES]
        angular = shape.kind in FLAT and len(shell.faces) <= 60
        for size in sorted({len(face) for face in shell.faces}):
            which = [i for i, face in enumerate(shell.faces) if len(face) == size]
            corners = places[np.array([shell.faces[i] for i in which])]
            normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1])
            lengths = np.linalg.norm(normals, axis=1)
            lengths[lengths == 0] = 1.0
            bright = DIM + LIT * np.maximum(0.0, normals @ self.camera.light / lengths)
            deep = corners.mean(axis=1) @ self.camera.near
            for k in np.flatnonzero(normals @ self.camera.near > 0).tolist():
                shade = base[shell.shades[which[k]]]
                fill = _hex(shade, bright[k]) + clear
                outlined = angular or (size > CAP and shape.kind != "wheel")
                seam = "none" if clear else fill  # between faces of one colour, of which glass would show twice as much
                self._add(corners[k], fill, _hex(shade, 0.75 * bright[k]) + clear if outlined else seam, deep[k])

    def _globe(self, middle: np.ndarray, radius: float, color: str) -> None:
        """A plain sphere: its disc, and on it the parts that are turned more and more to the light."""
        camera, shade, n = self.camera, _rgb(color), around(radius, self.error)
        angle = np.arange(n) * 2 * np.pi / n
        circle = np.column_stack([np.cos(angle), np.sin(angle)])
        steps = max(3, n // 6)
        across = along(camera.light)[:, :2]
        rims = [circle @ np.stack([camera.right, camera.over])]
        for c in np.arange(steps) / steps:
            rim = c * camera.light + np.sqrt(1 - c * c) * circle @ across.T
            hidden = rim @ camera.near < 0
            seen = rim - np.outer(rim @ camera.near, camera.near)
            rim[hidden] = seen[hidden] / np.linalg.norm(seen[hidden], axis=1, keepdims=True)
            rims.append(rim)
        level = circle @ np.stack([camera.right, np.cross(camera.up, camera.right)])
        self.bodies.append(middle + radius * level)
        deep = float(middle @ camera.near) + radius
        for i, rim in enumerate(rims):
            fill = _hex(shade, DIM + LIT * max(0.0, i - 0.5) / steps)
            self._add(middle + radius * rim, fill, fill, deep)

    def _add(self, corners: np.ndarray, fill: str, edge: str, depth: float) -> None:
        self.faces.append(corners)
        self.fills.append(fill)
        self.edges.append(edge)
        self.depths.append(float(depth))


def _flat(faces: list[np.ndarray], camera: Camera) -> list[np.ndarray]:
    """All faces projected at once."""
    if not faces:
        return []
    return np.split(camera.flat(np.concatenate(faces)), np.cumsum([len(f) for f in faces])[:-1])


def _rgb(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def _hex(color: tuple[int, int, int], bright: float) -> str:
    r, g, b = (min(255, round(c * bright)) for c in color)
    return f"#{r:02x}{g:02x}{b:02x}"
