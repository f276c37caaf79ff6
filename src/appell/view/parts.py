"""Shapes of bodies: given ones, those told by the points fixed in a body, those told by its mass and inertia."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FLAT = 1e-6  # a direction in which points spread by less than this share of their extent does not count


@dataclass(frozen=True, eq=False)
class Part:
    """One shape in the axes of its body, from the point that carries it.

    Attributes:
        kind: box, cylinder, wheel, capsule, cone, sphere, ball, plate, mesh.
        size: Its dimensions: lengths of a box; radius and length; radius; thickness of a plate.
        at: Its middle.
        turn: Rotation matrix to body axes; the axis of a cylinder and the normal of a plate are its third column.
        points: Corners of a plate (two columns), vertices of a mesh.
        faces: Triangles of a mesh.
        color: Its colour; empty for that of the body.
        opacity: 1 for what cannot be seen through.
    """

    kind: str
    size: tuple[float, ...]
    at: np.ndarray
    turn: np.ndarray
    points: np.ndarray | None = None
    faces: np.ndarray | None = None
    color: str = ""
    opacity: float = 1.0

    def away(self, point: np.ndarray) -> float:
        """How far a point is from the box about it."""
        if self.points is not None:
            corners = np.pad(self.points, ((0, 0), (0, 3 - self.points.shape[1])))
            low, high = corners.min(axis=0), corners.max(axis=0)
        elif self.kind == "box":
            low, high = -np.array(self.size) / 2, np.array(self.size) / 2
        else:
            radius, half = self.size[0], self.size[-1] / (2 if len(self.size) > 1 else 1)
            high = np.array([radius, radius, half + radius if self.kind == "capsule" else half])
            low = -high
        inside = self.turn.T @ (point - self.at)
        return float(np.linalg.norm(inside - np.clip(inside, low, high)))

    def holds(self, points: np.ndarray) -> bool:
        """Whether points are all inside it; never inside of plates, meshes and what is slender."""
        inside = (points - self.at) @ self.turn
        if self.kind in ("sphere", "ball"):
            return bool(np.all(np.linalg.norm(inside, axis=1) < self.size[0]))
        if self.kind == "box":
            return bool(np.all(np.abs(inside) < np.array(self.size) / 2))
        if self.kind in ("cylinder", "wheel"):
            across = np.linalg.norm(inside[:, :2], axis=1)
            return bool(np.all(across < self.size[0]) and np.all(np.abs(inside[:, 2]) < self.size[1] / 2))
        return False


def along(axis: np.ndarray) -> np.ndarray:
    """A rotation matrix whose third column is a given direction."""
    k = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    other = np.eye(3)[int(np.argmin(np.abs(k)))]
    x = np.cross(other, k)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(k, x), k], axis=1)


def aligned(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two directions are the same or opposite ones."""
    return abs(float(one @ other)) > (1 - 1e-9) * float(np.linalg.norm(one) * np.linalg.norm(other))


def part(
    kind: str, *size: float, at: np.ndarray | None = None, axis: np.ndarray | None = None, color: str = ""
) -> Part:
    """A shape of given dimensions."""
    turn = np.eye(3) if axis is None else along(axis)
    return Part(kind, tuple(float(e) for e in size), np.zeros(3) if at is None else np.asarray(at, float), turn,
                color=color)  # fmt: skip


def through(points: np.ndarray, unit: float) -> list[Part]:
    """What joins points fixed in a body: a bar, a plate, or their hull; nothing if they are one point.

    Args:
        points: One row each, in body axes from the centre.
        unit: A length that is small but visible.
    """
    middle = points.mean(axis=0)
    spread, axes = np.linalg.svd(points - middle, full_matrices=True)[1:]
    spread = np.append(spread, np.zeros(3 - spread.size))
    extent = float(np.max(np.linalg.norm(points - middle, axis=1)))
    if extent < FLAT * unit or spread[0] < FLAT * unit:
        return []
    if spread[1] < 1e-3 * spread[0]:
        s = (points - middle) @ axes[0]
        ends = middle + np.outer((s.min(), s.max()), axes[0])
        return [part("capsule", 0.42 * unit, float(s.max() - s.min()), at=ends.mean(axis=0), axis=axes[0])]
    if spread[2] < 1e-3 * spread[0]:
        turn = np.stack([axes[0], axes[1], np.cross(axes[0], axes[1])], axis=1)
        flat = (points - middle) @ turn[:, :2]
        return [Part("plate", (0.7 * unit,), middle, turn, hull(flat))]
    from scipy.spatial import ConvexHull

    found = ConvexHull(points)
    faces = found.simplices.copy()
    for face, equation in zip(faces, found.equations, strict=True):
        a, b, c = points[face]
        if np.dot(np.cross(b - a, c - a), equation[:3]) < 0:
            face[[1, 2]] = face[[2, 1]]
    return [Part("mesh", (), np.zeros(3), np.eye(3), points.copy(), faces)]


def arms(solids: list[Part], points: np.ndarray, radius: float, color: str) -> list[Part]:
    """Thin rods from points fixed in a body that lie outside of its shape to the nearest part of it."""
    listed = []
    for point in points if solids else ():
        nearest = min(solids, key=lambda solid: solid.away(point))
        arm = nearest.at - point
        if nearest.away(point) > radius:
            length = float(np.linalg.norm(arm))
            listed.append(part("capsule", radius, length, at=point + arm / 2, axis=arm, color=color))
    return listed


def hull(flat: np.ndarray) -> np.ndarray:
    """The convex polygon about points of a plane, anticlockwise."""
    points = np.unique(flat, axis=0)  # from left to right
    small = 1e-9 * float(np.ptp(points, axis=0).max()) ** 2

    def below(listed: np.ndarray) -> list[np.ndarray]:
        """The chain with all points on its left."""
        chain: list[np.ndarray] = []
        for point in listed:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-1] - chain[-2], point - chain[-2]
                if ax * by - ay * bx > small:
                    break
                chain.pop()
            chain.append(point)
        return chain[:-1]

    return np.array([*below(points), *below(points[::-1])])


def of_inertia(mass: float, inertia: np.ndarray, unit: float, axis: np.ndarray | None = None) -> list[Part]:
    """A homogeneous body of this mass and inertia: ball, rod, disk, cylinder, plate or box along the principal axes.

    Args:
        mass: Its mass.
        inertia: Its inertia about the centre.
        unit: A length that is small but visible.
        axis: That about which it spins; it is round about it if its inertia is. A box with a square end would do, too.
    """
    if not mass > 0:
        return []
    moments, axes = np.linalg.eigh(inertia)
    if np.linalg.det(axes) < 0:
        axes[:, 2] *= -1
    moments = np.maximum(moments, 0.0) / mass
    largest = moments[2]
    if largest <= 0:
        return [part("sphere", unit)]

    def equal(i: int, j: int) -> bool:
        return bool(abs(moments[i] - moments[j]) < 1e-6 * largest)

    if equal(0, 2):
        return [part("ball", np.sqrt(2.5 * largest))]
    given = np.diag(inertia) > 1e-12 * mass * largest
    if given.sum() == 1:  # only the turn in a plane counts: a square plate lying in it
        side = np.sqrt(6 * largest)
        normal = int(np.flatnonzero(given)[0])
        sizes = [side] * 3
        sizes[normal] = 0.12 * side
        return [part("box", *sizes)]
    if equal(1, 2) and (moments[0] < 0.2 * largest or (axis is not None and aligned(axis, axes[:, 0]))):
        radius = max(np.sqrt(2 * moments[0]), 0.3 * unit)
        length = np.sqrt(max(12 * largest - 3 * radius**2, radius**2))
        return [part("cylinder", radius, length, axis=axes[:, 0])]
    if equal(0, 1):
        radius = np.sqrt(2 * largest)
        length = np.sqrt(max(12 * moments[0] - 3 * radius**2, (0.08 * radius) ** 2))
        return [part("cylinder", radius, length, axis=axes[:, 2])]
    squares = [6 * (moments.sum() - 2 * e) for e in moments]
    sizes = [np.sqrt(max(e, (0.05**2) * largest)) for e in squares]
    return [Part("box", tuple(map(float, sizes)), np.zeros(3), axes)]
