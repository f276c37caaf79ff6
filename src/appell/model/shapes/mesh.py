"""Closed triangle meshes: a signed sum of tetrahedra."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.files import path_of
from appell.model.shapes.abstract import AbstractPrimitive, Moments
from appell.model.symbols import quoted


@dataclass(frozen=True, eq=False)
class Mesh(AbstractPrimitive):
    r"""A solid within a closed triangle mesh: the signed sum of the tetrahedra (0, v1, v2, v3).

    Without mass and density it is only drawn, and need not be closed.

    Args:
        vertices: Points, of shape (V, 3).
        faces: Triples of numbers of vertices, of shape (F, 3), all seen turning the same way from outside.
        source: Where it comes from, for messages.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    vertices: Any
    faces: Any
    source: str = "the mesh"
    kind: ClassVar[str] = "mesh"
    extent: ClassVar[int] = 3

    @classmethod
    def load(cls, path: str | Path, scale: Any = 1.0, density: Any = None, mass: Any = None, pose: Any = None) -> Mesh:
        """A mesh from an STL or OBJ file, or any other that trimesh reads.

        Args:
            path: The file.
            scale: Factor from the units of the file to metres: a number, or three for the axes.
            density: Mass per volume.
            mass: Mass, in place of the density.
            pose: Where it is.
        """
        try:
            factors = np.broadcast_to(np.asarray(scale, dtype=float), 3)
            if not factors.all():
                raise ValueError
        except (TypeError, ValueError):
            raise ModelError(
                f"The scale of a mesh is a number, or three for the axes, none of them 0; got {quoted(scale)}."
            ) from None
        vertices, faces = read_mesh(path)
        outwards = faces if factors.prod() > 0 else faces[:, ::-1]  # a mirror turns a surface inside out
        return cls(vertices * factors, outwards, str(path), density=density, mass=mass, pose=pose)

    def _length(self, name: str, value: Any) -> Any:
        if name == "source":
            return str(value)
        try:
            array = np.array(value, dtype=float if name == "vertices" else np.int64)
        except (TypeError, ValueError):
            raise ModelError(f"The {name} of a mesh are numbers of shape (N, 3), got {quoted(value)}.") from None
        if array.ndim != 2 or array.shape[1] != 3 or not len(array) or not np.isfinite(array).all():
            raise ModelError(f"The {name} of a mesh are finite numbers of shape (N, 3), got shape {array.shape}.")
        return array

    def _check(self) -> None:
        if self.faces.min() < 0 or self.faces.max() >= len(self.vertices):
            raise ModelError(f"A face of {self.source} names a vertex that is not there.")

    def _check_closed(self) -> None:
        edges = np.concatenate([self.faces[:, [0, 1]], self.faces[:, [1, 2]], self.faces[:, [2, 0]]])
        keys = edges[:, 0] * len(self.vertices) + edges[:, 1]
        opposite = edges[:, 1] * len(self.vertices) + edges[:, 0]
        _, counts = np.unique(keys, return_counts=True)
        if (counts > 1).any() and set(keys) != set(opposite):
            raise ModelError(f"The faces of {self.source} do not all turn the same way; mend the mesh.")
        missing = len(np.setdiff1d(opposite, keys))
        if missing:
            raise ModelError(
                f"The surface of {self.source} is not closed: {missing} edges have a face on one side only."
            )

    def _moments(self) -> Moments:
        """Summed up about the mean vertex, which keeps digits; the volume whichever way the faces turn."""
        self._check_closed()
        middle = self.vertices.mean(axis=0)
        a, b, c = (self.vertices[self.faces[:, i]] - middle for i in range(3))
        volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6
        s = a + b + c
        volume = volumes.sum()
        if not abs(volume) > 0:
            raise ModelError(f"The surface of {self.source} encloses no volume.")
        center = (volumes @ s) / 4 / volume
        second = sum(np.einsum("i,ij,ik->jk", volumes, v, v) for v in (a, b, c, s)) / 20 / volume
        x, y, z = (sp.Float(float(e)) for e in center + middle)
        spread = sp.Matrix((second - np.outer(center, center)).tolist())
        return Moments(sp.Float(abs(float(volume))), spread, (x, y, z))


def read_mesh(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of a mesh file, equal vertices merged.

    Args:
        path: The file.
    """
    if not path_of(path).is_file():
        raise ModelError(f"There is no mesh file {str(path)!r}.")
    try:
        import trimesh
    except ImportError as error:
        raise ModelError('Reading a mesh needs trimesh: `pip install "appell[mesh]"`.') from error
    if path_of(path).suffix.lower() == ".dae" and find_spec("collada") is None:
        raise ModelError('Reading a .dae mesh needs pycollada: `pip install "appell[mesh]"`.')
    try:
        mesh = trimesh.load_mesh(str(path))
    except Exception as error:
        raise ModelError(f"{str(path)!r} cannot be read as a mesh: {error}") from error
    if not hasattr(mesh, "faces") or not len(mesh.faces):
        raise ModelError(f"{str(path)!r} has no triangles.")
    mesh.merge_vertices()
    return np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces, dtype=np.int64)
