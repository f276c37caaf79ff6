"""Surfaces: thin plates and shells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy import pi

from appell.model.shapes.abstract import AbstractPrimitive, Moments, check_hollow


@dataclass(frozen=True, eq=False)
class Plate(AbstractPrimitive):
    """A thin rectangle in the x-y plane, its middle at the origin.

    Area a b, S = (a^2/12, b^2/12, 0).

    Args:
        width: Length along x.
        depth: Length along y.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    width: Any
    depth: Any
    kind: ClassVar[str] = "plate"
    extent: ClassVar[int] = 2

    def _moments(self) -> Moments:
        a, b = self.width, self.depth
        return Moments(a * b, (a**2 / 12, b**2 / 12, 0))


@dataclass(frozen=True, eq=False)
class Disc(AbstractPrimitive):
    """A thin disc in the x-y plane about the origin.

    Area pi r^2, S = (r^2/4, r^2/4, 0).

    Args:
        radius: Radius.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "disc"
    extent: ClassVar[int] = 2

    def _moments(self) -> Moments:
        r = self.radius
        return Moments(pi * r**2, (r**2 / 4, r**2 / 4, 0))


@dataclass(frozen=True, eq=False)
class Annulus(AbstractPrimitive):
    """A thin disc with a round hole in the x-y plane about the origin.

    Area pi (Ro^2 - Ri^2), S = ((Ro^2 + Ri^2)/4, the same, 0).

    Args:
        outer_radius: Outer radius.
        inner_radius: Radius of the hole.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    outer_radius: Any
    inner_radius: Any
    kind: ClassVar[str] = "annulus"
    extent: ClassVar[int] = 2

    def _check(self) -> None:
        check_hollow(self.kind, self.outer_radius, self.inner_radius)

    def _moments(self) -> Moments:
        Ro, Ri = self.outer_radius, self.inner_radius
        S = (Ro**2 + Ri**2) / 4
        return Moments(pi * (Ro**2 - Ri**2), (S, S, 0))


@dataclass(frozen=True, eq=False)
class HalfDisc(AbstractPrimitive):
    """The half y > 0 of a thin disc in the x-y plane about the origin.

    Area pi r^2/2, centroid (0, 4r/(3 pi), 0), S = (r^2/4, r^2 (1/4 - 16/(9 pi^2)), 0).

    Args:
        radius: Radius.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "half disc"
    extent: ClassVar[int] = 2

    def _moments(self) -> Moments:
        r = self.radius
        S = (r**2 / 4, r**2 * (sp.Rational(1, 4) - 16 / (9 * pi**2)), 0)
        return Moments(pi * r**2 / 2, S, (0, 4 * r / (3 * pi), 0))


@dataclass(frozen=True, eq=False)
class CylinderShell(AbstractPrimitive):
    """A thin cylinder along z without lids, its middle at the origin.

    Area 2 pi r h, S = (r^2/2, r^2/2, h^2/12).

    Args:
        radius: Radius.
        height: Height.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    height: Any
    kind: ClassVar[str] = "cylinder shell"
    extent: ClassVar[int] = 2

    def _moments(self) -> Moments:
        r, h = self.radius, self.height
        return Moments(2 * pi * r * h, (r**2 / 2, r**2 / 2, h**2 / 12))


@dataclass(frozen=True, eq=False)
class SphereShell(AbstractPrimitive):
    """A thin sphere about the origin.

    Area 4 pi r^2, S = (r^2/3, r^2/3, r^2/3).

    Args:
        radius: Radius.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "sphere shell"
    extent: ClassVar[int] = 2

    def _moments(self) -> Moments:
        r = self.radius
        return Moments(4 * pi * r**2, (r**2 / 3, r**2 / 3, r**2 / 3))


@dataclass(frozen=True, eq=False)
class ConeShell(AbstractPrimitive):
    """A thin cone without a lid, its base in the x-y plane about the origin, its tip at z = height.

    Area pi r sqrt(r^2 + h^2), centroid (0, 0, h/3), S = (r^2/4, r^2/4, h^2/18).

    Args:
        radius: Radius of the base.
        height: Height.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    height: Any
    kind: ClassVar[str] = "cone shell"
    extent: ClassVar[int] = 2

    def _moments(self) -> Moments:
        r, h = self.radius, self.height
        return Moments(pi * r * sp.sqrt(r**2 + h**2), (r**2 / 4, r**2 / 4, h**2 / 18), (0, 0, h / 3))
