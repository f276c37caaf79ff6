"""Shapes as flat faces, for drawing without a browser; round things have as many as the eye needs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from appell.view.parts import Part

SECTORS = 6  # of a wheel's sides, in two colours by turns


@dataclass(frozen=True, eq=False)
class Surface:
    """A shape as flat faces.

    Attributes:
        vertices: One row each, in body axes.
        faces: Lists of numbers of vertices, anticlockwise from outside.
        shades: For each face 0 (the colour itself), 1 (a contrasting colour) or 2 (dark).
    """

    vertices: np.ndarray
    faces: list[list[int]]
    shades: list[int]


def around(radius: float, error: float) -> int:
    """How many sides a circle needs to be told from its polygon by no more than an error; a multiple of twelve.

    The error of a polygon of n sides is r (1 - cos(pi/n)).

    Args:
        radius: Of the circle.
        error: The greatest distance between circle and polygon.
    """
    needed = np.pi * np.sqrt(radius / (2 * error)) if radius > 0 else 0.0
    return 12 * int(np.clip(np.ceil(needed / 12), 1, 10))


def surface(shape: Part, sides: int = 24) -> Surface:
    """The faces of a shape.

    Args:
        shape: The shape.
        sides: Of round things, a multiple of twelve.
    """
    vertices, faces, shades = _faces(shape, sides)
    return Surface(vertices @ shape.turn.T + shape.at, faces, shades or [0] * len(faces))


def _faces(shape: Part, n: int) -> tuple[np.ndarray, list[list[int]], list[int]]:
    """Vertices about the middle, faces, and shades where there are several."""
    if shape.kind == "mesh":
        assert shape.points is not None
        assert shape.faces is not None
        return shape.points, [list(map(int, f)) for f in shape.faces], []
    if shape.kind == "box":
        x, y, z = (e / 2 for e in shape.size)
        vertices = np.array([[i * x, j * y, k * z] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        return vertices, [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]], []
    if shape.kind == "plate":
        assert shape.points is not None
        count, half = len(shape.points), shape.size[0] / 2
        vertices = np.concatenate([np.column_stack([shape.points, np.full(count, h)]) for h in (-half, half)])
        faces = [list(range(count))[::-1], list(range(count, 2 * count))]
        return vertices, faces + [[i, (i + 1) % count, count + (i + 1) % count, count + i] for i in range(count)], []
    pole = np.pi / 2
    if shape.kind in ("sphere", "ball"):
        vertices, faces = _turned(_arc(shape.size[0], -pole, pole, n // 2), n)
        octants = [int(np.prod(vertices[face].mean(axis=0)) < 0) for face in faces]
        return vertices, faces, octants if shape.kind == "ball" else []
    radius, half = shape.size[0], shape.size[1] / 2
    if shape.kind == "capsule":
        lower, upper = _arc(radius, -pole, 0, n // 4), _arc(radius, 0, pole, n // 4)
        end = np.array([0, half])
        return *_turned(np.vstack([lower - end, upper + end]), n), []
    if shape.kind == "cone":
        return *_turned(np.array([[radius, -half], [0, half]]), n), []
    if shape.kind == "foot":  # of an anchor: the pin is at its narrow top
        return *_turned(np.array([[radius, -1.67 * half], [0.47 * radius, 0.33 * half]]), n), []
    vertices, faces = _turned(np.array([[radius, -half], [radius, half]]), n)
    return _wheel(vertices, faces, n) if shape.kind == "wheel" else (vertices, faces, [])


def _arc(radius: float, low: float, high: float, steps: int) -> np.ndarray:
    """Radius and height along a circle between two latitudes."""
    angle = np.linspace(low, high, steps + 1)
    return radius * np.column_stack([np.maximum(np.cos(angle), 0) * (np.abs(angle) < np.pi / 2), np.sin(angle)])


def _turned(profile: np.ndarray, n: int) -> tuple[np.ndarray, list[list[int]]]:
    """A profile of radii and heights, from below, turned about the axis; open ends are closed."""
    angle = np.arange(n) * 2 * np.pi / n
    rings: list[list[int]] = []
    vertices: list[np.ndarray] = []
    for radius, height in profile:
        count = n if radius > 0 else 1
        rings.append(list(range(len(vertices), len(vertices) + count)))
        vertices += [np.array([radius * np.cos(a), radius * np.sin(a), height]) for a in angle[:count]]
    faces = []
    for low, high in pairwise(rings):
        for i in range(n):
            j = (i + 1) % n
            if len(low) == 1:
                faces.append([low[0], high[j], high[i]])
            elif len(high) == 1:
                faces.append([low[i], low[j], high[0]])
            else:
                faces.append([low[i], low[j], high[j], high[i]])
    faces += [ring for ring in (rings[0][::-1], rings[-1]) if len(ring) > 1]
    return np.array(vertices), faces


def _wheel(vertices: np.ndarray, faces: list[list[int]], n: int) -> tuple[np.ndarray, list[list[int]], list[int]]:
    """A drum with a dark tread and sides in sectors, so that its turning is seen."""
    half = float(vertices[-1, 2])
    tread, sectors = faces[:-2], []
    for ring, middle in ((list(range(n))[::-1], 2 * n), (list(range(n, 2 * n)), 2 * n + 1)):
        step = n // SECTORS
        sectors += [[middle, *(ring[(k * step + i) % n] for i in range(step + 1))] for k in range(SECTORS)]
    shades = [2] * len(tread) + [k % 2 for _ in range(2) for k in range(SECTORS)]
    return np.vstack([vertices, [[0, 0, -half], [0, 0, half]]]), tread + sectors, shades
