"""Solids: boxes, cylinders and their like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy import pi

from appell.errors import ModelError
from appell.model.shapes.abstract import AbstractPrimitive, check_hollow


@dataclass(frozen=True, eq=False)
class Box(AbstractPrimitive):
    """A box with its edges along the axes, its middle at the origin.

    Args:
        width: Length along x.
        depth: Length along y.
        height: Length along z.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    width: Any
    depth: Any
    height: Any
    kind: ClassVar[str] = "box"
    extent: ClassVar[int] = 3

    @property
    def measure(self) -> sp.Expr:
        """Volume, a b c."""
        return self.width * self.depth * self.height

    @property
    def spread(self) -> tuple[Any, ...]:
        """a^2/12, b^2/12, c^2/12."""
        return (self.width**2 / 12, self.depth**2 / 12, self.height**2 / 12)


@dataclass(frozen=True, eq=False)
class Ellipsoid(AbstractPrimitive):
    """An ellipsoid with its half axes along the axes, about the origin.

    Args:
        a: Half axis along x.
        b: Half axis along y.
        c: Half axis along z.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    a: Any
    b: Any
    c: Any
    kind: ClassVar[str] = "ellipsoid"
    extent: ClassVar[int] = 3

    @property
    def measure(self) -> sp.Expr:
        """Volume, 4 pi a b c/3."""
        return 4 * pi * self.a * self.b * self.c / 3

    @property
    def spread(self) -> tuple[Any, ...]:
        """a^2/5, b^2/5, c^2/5."""
        return (self.a**2 / 5, self.b**2 / 5, self.c**2 / 5)


@dataclass(frozen=True, eq=False)
class Cylinder(AbstractPrimitive):
    """A cylinder along z, its middle at the origin.

    Args:
        radius: Radius.
        height: Height.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    height: Any
    kind: ClassVar[str] = "cylinder"
    extent: ClassVar[int] = 3

    @property
    def measure(self) -> sp.Expr:
        """Volume, pi r^2 h."""
        return pi * self.radius**2 * self.height

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/4, r^2/4, h^2/12."""
        return (self.radius**2 / 4, self.radius**2 / 4, self.height**2 / 12)


@dataclass(frozen=True, eq=False)
class Tube(AbstractPrimitive):
    """A cylinder along z with a round bore, its middle at the origin.

    Args:
        outer_radius: Outer radius.
        inner_radius: Radius of the bore.
        height: Height.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    outer_radius: Any
    inner_radius: Any
    height: Any
    kind: ClassVar[str] = "tube"
    extent: ClassVar[int] = 3

    def _check(self) -> None:
        check_hollow(self.kind, self.outer_radius, self.inner_radius)

    @property
    def measure(self) -> sp.Expr:
        """Volume, pi (Ro^2 - Ri^2) h."""
        return pi * (self.outer_radius**2 - self.inner_radius**2) * self.height

    @property
    def spread(self) -> tuple[Any, ...]:
        """(Ro^2 + Ri^2)/4 twice, h^2/12."""
        S = (self.outer_radius**2 + self.inner_radius**2) / 4
        return (S, S, self.height**2 / 12)


@dataclass(frozen=True, eq=False)
class Torus(AbstractPrimitive):
    """A ring of round section about z, its middle at the origin.

    Args:
        radius: Radius R of the circle through the middles of the sections.
        tube_radius: Radius r of the section.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    tube_radius: Any
    kind: ClassVar[str] = "torus"
    extent: ClassVar[int] = 3

    def _check(self) -> None:
        gap = self.radius - self.tube_radius
        if gap.is_number and gap < 0:
            raise ModelError(
                f"The radius of a torus must not be below that of its section, got {self.radius}, {self.tube_radius}."
            )

    @property
    def measure(self) -> sp.Expr:
        """Volume, 2 pi^2 R r^2."""
        return 2 * pi**2 * self.radius * self.tube_radius**2

    @property
    def spread(self) -> tuple[Any, ...]:
        """R^2/2 + 3r^2/8 twice, r^2/4."""
        S = self.radius**2 / 2 + 3 * self.tube_radius**2 / 8
        return (S, S, self.tube_radius**2 / 4)
