"""Which points are inside of a solid, and points that fill a box evenly."""

from __future__ import annotations

import numpy as np

from appell.model.shapes.abstract import AbstractPrimitive
from appell.model.shapes.mesh import Mesh
from appell.model.shapes.polyhedra import Tetrahedron
from appell.model.shapes.round_solids import Cap, Cone, Frustum, Hemisphere, HollowSphere, Sphere
from appell.model.shapes.solids import Box, Cylinder, Ellipsoid, Torus, Tube


def evenly(count: int) -> np.ndarray:
    """Points that fill the unit cube evenly, of shape (count, 3): multiples of 1/g, 1/g², 1/g³ with g⁴ = g + 1.

    Args:
        count: How many.
    """
    g = 1.2207440846057596
    return (0.5 + np.arange(1, count + 1)[:, None] / g ** np.arange(1, 4)) % 1.0


def inside(shape: AbstractPrimitive, points: np.ndarray) -> np.ndarray:
    """Whether points are inside of a solid; letters among its dimensions are a TypeError.

    Args:
        shape: The solid.
        points: In its own axes, of shape (N, 3).
    """
    x, y, z = points.T
    across, far = np.hypot(x, y), np.linalg.norm(points, axis=1)
    size = {name: float(e) for name, e in shape.dimensions.items() if not isinstance(shape, Mesh | Tetrahedron)}
    match shape, list(size.values()):
        case Box(), sides:
            return (2 * np.abs(points) < sides).all(axis=1)
        case Ellipsoid(), axes:
            return np.linalg.norm(points / axes, axis=1) < 1
        case Cylinder(), [r, h]:
            return (across < r) & (2 * np.abs(z) < h)
        case Tube(), [r, hollow, h]:
            return (hollow < across) & (across < r) & (2 * np.abs(z) < h)
        case Torus(), [r, b]:
            return np.hypot(across - r, z) < b
        case Sphere(), [r]:
            return far < r
        case HollowSphere(), [r, hollow]:
            return (hollow < far) & (far < r)
        case Hemisphere(), [r]:
            return (far < r) & (z > 0)
        case Cap(), [r, h]:
            return (far < r) & (z < h - r)
        case Cone(), [r, h]:
            return (z > 0) & (across * h < r * (h - z))
        case Frustum(), [r, top, h]:
            return (z > 0) & (z < h) & (across * h < r * (h - z) + top * z)
    if isinstance(shape, Tetrahedron):
        first, *others = np.array(shape.vertices, dtype=float)
        share = np.linalg.solve((np.array(others) - first).T, (points - first).T)
        return (share > 0).all(axis=0) & (share.sum(axis=0) < 1)
    if isinstance(shape, Mesh):
        return np.abs(_turns(points, shape.vertices[shape.faces])) > 0.5
    raise TypeError(shape)


def _turns(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """How many times a closed surface goes round points: the sum of its solid angles (Van Oosterom 1983) by 4 pi."""
    found = np.empty(len(points))
    for i, point in enumerate(points):
        a, b, c = np.moveaxis(triangles - point, 1, 0)
        la, lb, lc = (np.linalg.norm(e, axis=1) for e in (a, b, c))
        ab, bc, ca = (np.einsum("ij,ij->i", *pair) for pair in ((a, b), (b, c), (c, a)))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        found[i] = np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb).sum() / (2 * np.pi)
    return found
