"""Solids: boxes, cylinders and their like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import pi

from appell.errors import ModelError
from appell.model.shapes.abstract import AbstractPrimitive, Moments, check_hollow


@dataclass(frozen=True, eq=False)
class Box(AbstractPrimitive):
    """A box with its edges along the axes, its middle at the origin.

    Volume a b c, S = (a^2/12, b^2/12, c^2/12).

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

    def _moments(self) -> Moments:
        a, b, c = self.width, self.depth, self.height
        return Moments(a * b * c, (a**2 / 12, b**2 / 12, c**2 / 12))


@dataclass(frozen=True, eq=False)
class Ellipsoid(AbstractPrimitive):
    """An ellipsoid with its half axes along the axes, about the origin.

    Volume 4 pi a b c/3, S = (a^2/5, b^2/5, c^2/5).

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

    def _moments(self) -> Moments:
        a, b, c = self.a, self.b, self.c
        return Moments(4 * pi * a * b * c / 3, (a**2 / 5, b**2 / 5, c**2 / 5))


@dataclass(frozen=True, eq=False)
class Cylinder(AbstractPrimitive):
    """A cylinder along z, its middle at the origin.

    Volume pi r^2 h, S = (r^2/4, r^2/4, h^2/12).

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

    def _moments(self) -> Moments:
        r, h = self.radius, self.height
        return Moments(pi * r**2 * h, (r**2 / 4, r**2 / 4, h**2 / 12))


@dataclass(frozen=True, eq=False)
class Tube(AbstractPrimitive):
    """A cylinder along z with a round bore, its middle at the origin.

    Volume pi (Ro^2 - Ri^2) h, S = ((Ro^2 + Ri^2)/4, the same, h^2/12).

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

    def _moments(self) -> Moments:
        Ro, Ri, h = self.outer_radius, self.inner_radius, self.height
        S = (Ro**2 + Ri**2) / 4
        return Moments(pi * (Ro**2 - Ri**2) * h, (S, S, h**2 / 12))


@dataclass(frozen=True, eq=False)
class Torus(AbstractPrimitive):
    """A ring of round section about z, its middle at the origin.

    Volume 2 pi^2 R r^2, S = (R^2/2 + 3r^2/8, the same, r^2/4).

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

    def _moments(self) -> Moments:
        R, r = self.radius, self.tube_radius
        S = R**2 / 2 + 3 * r**2 / 8
        return Moments(2 * pi**2 * R * r**2, (S, S, r**2 / 4))
