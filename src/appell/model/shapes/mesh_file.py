"""Meshes that stay in their files until they are drawn or weighed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

from appell.errors import ModelError, warn
from appell.model.inertia import MassDistribution
from appell.model.placement import Placement
from appell.model.shapes.abstract import AbstractPrimitive, AbstractShape
from appell.model.shapes.mesh import Mesh


@dataclass(frozen=True, eq=False)
class MeshFile(AbstractShape):
    """A mesh that a link of a robot is drawn with; it may be open unless its mass is asked for.

    Attributes:
        path: The file.
        scale: Factors along its axes.
        pose: Where it is in the frame of the link; `pose.matrix` is 4 by 4.
        mass: Its mass, if it has one.
    """

    path: str
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    pose: Placement = field(default_factory=Placement)
    mass: Any = None

    @cached_property
    def mesh(self) -> Mesh:
        """What is in the file."""
        return Mesh.load(self.path, self.scale, mass=self.mass, pose=self.pose)

    @property
    def distribution(self) -> MassDistribution:
        """Mass, centre and second moments of what is within."""
        return self.mesh.distribution

    @property
    def parts(self) -> tuple[tuple[int, AbstractPrimitive], ...]:
        """The mesh; nothing, with a warning, where the file cannot be read."""
        try:
            return self.mesh.parts
        except ModelError as error:
            warn(f"A mesh is not drawn. {error}")
            return ()

    @property
    def formulas(self) -> tuple[Any, ...]:
        """Its pose."""
        return tuple(self.pose.matrix)

    def placed(self, place: Any) -> Self:
        """The same mesh moved by a rigid transform. Arguments as for `AbstractShape.placed`."""
        return replace(self, pose=Placement.of(place, "A placement").after(self.pose))

    def with_mass(self, mass: Any) -> Self:
        """The same mesh with this mass."""
        return replace(self, mass=mass)
