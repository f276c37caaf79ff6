"""Shapes of a mass distribution as they are drawn: primitives with their numbers, each at its place."""

from __future__ import annotations

from typing import Any

import numpy as np

from appell.view.parts import Part, part

AROUND = 40
FACES = 500  # of a mesh, about


def primitive_part(kind: str, size: dict[str, float], given: Any, pose: np.ndarray, unit: float) -> Part | None:
    """A primitive at its pose; None for what has no extent that could be seen.

    Args:
        kind: The primitive's `kind`.
        size: Its dimensions by name.
        given: The primitive itself, for the vertices of meshes.
        pose: 4 by 4 matrix from its axes to those of the body.
        unit: A length that is small but visible, for what is thin.
    """
    made = _made(kind, size, given, 0.4 * unit)
    if made is None:
        return None
    turn, shift = pose[:3, :3], pose[:3, 3]
    return Part(made.kind, made.size, turn @ made.at + shift, turn @ made.turn, made.points, made.faces)


def _made(kind: str, s: dict[str, float], given: Any, thin: float) -> Part | None:
    """In its own axes."""
    if kind == "box":
        return part("box", s["width"], s["depth"], s["height"])
    if kind == "plate":
        return part("box", s["width"], s["depth"], thin)
    if kind == "rod":
        return part("capsule", thin, s["length"], axis=np.array([1.0, 0, 0]))
    if kind == "point":
        return part("sphere", 2 * thin)
    if kind in ("sphere", "sphere shell"):
        return part("ball", s["radius"])
    if kind in ("cylinder", "cylinder shell"):
        return part("cylinder", s["radius"], s["height"])
    if kind == "ellipsoid":
        return ellipsoid(s["a"], s["b"], s["c"])
    if kind in ("mesh", "triangle", "tetrahedron"):
        return _polyhedron(kind, given)
    profile = _profile(kind, s, thin)
    return None if profile is None else _mesh(*revolved(profile, np.pi if kind.startswith("half ") else 2 * np.pi))


def ellipsoid(a: float, b: float, c: float) -> Part:
    """A ball of other half axes."""
    vertices, faces = revolved(_arc(1.0, -np.pi / 2, np.pi / 2))
    return _mesh(vertices * np.array([a, b, c]), faces)


def _profile(kind: str, s: dict[str, float], thin: float) -> np.ndarray | None:
    """Radius and height along the outline of a body of revolution, from below to above on its outside."""
    if kind == "tube":
        return _ring(s["inner_radius"], s["outer_radius"], s["height"])
    if kind == "annulus":
        return _ring(s["inner_radius"], s["outer_radius"], thin)
    if kind in ("disc", "half disc"):
        return _ring(0.0, s["radius"], thin)
    if kind == "torus":
        return _circle(s["radius"], s["tube_radius"])
    if kind in ("ring", "half ring"):
        return _circle(s["radius"], thin)
    if kind == "hollow sphere":
        return _arc(s["outer_radius"], -np.pi / 2, np.pi / 2)
    if kind == "hemisphere":
        return np.vstack([[0, 0], _arc(s["radius"], 0, np.pi / 2)])
    if kind == "cap":
        top = s["height"] - s["radius"]
        return np.vstack([_arc(s["radius"], -np.pi / 2, np.arcsin(np.clip(top / s["radius"], -1, 1))), [0, top]])
    if kind in ("cone", "cone shell"):
        return np.array([[0, 0], [s["radius"], 0], [0, s["height"]]])
    if kind == "frustum":
        return np.array([[0, 0], [s["bottom_radius"], 0], [s["top_radius"], s["height"]], [0, s["height"]]])
    return None


def _ring(inner: float, outer: float, height: float) -> np.ndarray:
    h = height / 2
    return np.array([[inner, -h], [outer, -h], [outer, h], [inner, h], [inner, -h]])


def _arc(radius: float, low: float, high: float) -> np.ndarray:
    angle = np.linspace(low, high, 17)
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _circle(radius: float, tube: float) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 17)
    return np.stack([radius + tube * np.cos(angle), tube * np.sin(angle)], axis=1)


def revolved(profile: np.ndarray, sweep: float = 2 * np.pi) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of an outline turned about z."""
    angle = np.linspace(0, sweep, AROUND + 1)
    r, z = np.maximum(profile[:, 0], 0.0), profile[:, 1]
    vertices = np.stack(
        [np.outer(np.cos(angle), r), np.outer(np.sin(angle), r), np.repeat(z[None], angle.size, axis=0)], axis=-1
    )
    n, faces = len(profile), []
    for i in range(AROUND):
        for j in range(n - 1):
            a, b, c, d = i * n + j, (i + 1) * n + j, (i + 1) * n + j + 1, i * n + j + 1
            if r[j] > 0:
                faces.append([a, b, c] if r[j + 1] > 0 else [a, b, d])
            if r[j + 1] > 0:
                faces.append([a, c, d])
    return vertices.reshape(-1, 3), np.array(faces)


def _mesh(vertices: np.ndarray, faces: np.ndarray) -> Part:
    return Part("mesh", (), np.zeros(3), np.eye(3), vertices, faces)


def _polyhedron(kind: str, given: Any) -> Part | None:
    try:
        vertices = np.array(given.vertices, dtype=float).reshape(-1, 3)
    except (TypeError, ValueError):  # corners that are formulas
        return None
    if kind == "mesh":
        vertices, faces = coarse(vertices, np.array(given.faces))
    elif kind == "triangle":
        faces = np.array([[0, 1, 2], [0, 2, 1]])
    else:
        faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
        if np.linalg.det(vertices[1:] - vertices[0]) < 0:
            faces = faces[:, ::-1]
    return _mesh(vertices, faces)


def coarse(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A mesh of few faces that looks much the same: vertices of one cell of a grid become one, in their middle.

    Args:
        vertices: Points of the mesh.
        faces: Its triangles.
    """
    if len(faces) <= FACES:
        return vertices, faces
    low, extent = vertices.min(axis=0), float(np.ptp(vertices, axis=0).max())
    for cells in (40, 32, 25, 20, 16, 13, 10, 8, 6, 5):
        places = ((vertices - low) * (cells / extent)).astype(np.int64) @ (1, 100, 10_000)
        _, home, count = np.unique(places, return_inverse=True, return_counts=True)
        corners = home[faces]
        corners = corners[(corners != corners[:, [1, 2, 0]]).all(axis=1)]
        turns = (np.argmin(corners, axis=1)[:, None] + np.arange(3)) % 3  # a face may begin at any of its corners
        corners = np.take_along_axis(corners, turns, axis=1)
        _, first = np.unique(corners @ (1, count.size, count.size**2), return_index=True)
        if len(first) <= FACES:
            break
    middles = np.stack([np.bincount(home, column) / count for column in vertices.T], axis=1)
    used, kept = np.unique(corners[first], return_inverse=True)
    return middles[used], kept.reshape(-1, 3)
