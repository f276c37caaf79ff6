"""Triangles and tetrahedra by their vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp

from appell.errors import ModelError
from appell.model.shapes.abstract import AbstractPrimitive, Moments, points


@dataclass(frozen=True, eq=False)
class Triangle(AbstractPrimitive):
    """A thin triangle.

    Area |(b - a) x (c - a)|/2, centroid the mean of the vertices, S = sum v v'/12 of these from there.

    Args:
        vertices: Three points.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    vertices: Any
    kind: ClassVar[str] = "triangle"
    extent: ClassVar[int] = 2

    def _length(self, name: str, value: Any) -> Any:
        return points(value, self.kind, 3)

    def _check(self) -> None:
        _flat(self)

    def _moments(self) -> Moments:
        a, b, c = (sp.Matrix(v) for v in self.vertices)
        n = (b - a).cross(c - a)
        return Moments(sp.sqrt(n.dot(n)) / 2, _second(self.vertices) / 12, _mean(self.vertices))


@dataclass(frozen=True, eq=False)
class Tetrahedron(AbstractPrimitive):
    """A solid tetrahedron; the order of its vertices does not matter.

    Volume |(b - a) . (c - a) x (d - a)|/6, centroid the mean of the vertices, S = sum v v'/20 of these from there.

    Args:
        vertices: Four points.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    vertices: Any
    kind: ClassVar[str] = "tetrahedron"
    extent: ClassVar[int] = 3

    def _length(self, name: str, value: Any) -> Any:
        return points(value, self.kind, 4)

    def _check(self) -> None:
        _flat(self)

    def _moments(self) -> Moments:
        a, b, c, d = (sp.Matrix(v) for v in self.vertices)
        volume = sp.Abs((b - a).dot((c - a).cross(d - a))) / 6
        return Moments(volume, _second(self.vertices) / 20, _mean(self.vertices))


def _mean(vertices: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    n = len(vertices)
    x, y, z = (sum(v[i] for v in vertices) / n for i in range(3))
    return x, y, z


def _second(vertices: tuple[Any, ...]) -> sp.Matrix:
    # With s = sum v = 0 the rows int r r' dm = m (sum v v' + s s')/12 and /20 lose their second term.
    c = sp.Matrix(_mean(vertices))
    total = sp.zeros(3, 3)
    for v in vertices:
        d = sp.Matrix(v) - c
        total += d * d.T
    return total


def _flat(shape: Triangle | Tetrahedron) -> None:
    size = shape.measure
    if size.is_number and not size > 0:
        raise ModelError(
            f"The vertices of a {shape.kind} must not lie in one {'line' if shape.extent == 2 else 'plane'}."
        )
