"""Surfaces: thin plates and shells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy import pi

from appell.model.shapes.abstract import AbstractPrimitive, check_hollow


@dataclass(frozen=True, eq=False)
class Plate(AbstractPrimitive):
    """A thin rectangle in the x-y plane, its middle at the origin.

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

    @property
    def measure(self) -> sp.Expr:
        """Area, a b."""
        return self.width * self.depth

    @property
    def spread(self) -> tuple[Any, ...]:
        """a^2/12, b^2/12, 0."""
        return (self.width**2 / 12, self.depth**2 / 12, 0)


@dataclass(frozen=True, eq=False)
class Disc(AbstractPrimitive):
    """A thin disc in the x-y plane about the origin.

    Args:
        radius: Radius.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "disc"
    extent: ClassVar[int] = 2

    @property
    def measure(self) -> sp.Expr:
        """Area, pi r^2."""
        return pi * self.radius**2

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/4, r^2/4, 0."""
        return (self.radius**2 / 4, self.radius**2 / 4, 0)


@dataclass(frozen=True, eq=False)
class Annulus(AbstractPrimitive):
    """A thin disc with a round hole in the x-y plane about the origin.

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

    @property
    def measure(self) -> sp.Expr:
        """Area, pi (Ro^2 - Ri^2)."""
        return pi * (self.outer_radius**2 - self.inner_radius**2)

    @property
    def spread(self) -> tuple[Any, ...]:
        """(Ro^2 + Ri^2)/4 twice, 0."""
        S = (self.outer_radius**2 + self.inner_radius**2) / 4
        return (S, S, 0)


@dataclass(frozen=True, eq=False)
class HalfDisc(AbstractPrimitive):
    """The half y > 0 of a thin disc in the x-y plane about the origin.

    Args:
        radius: Radius.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "half disc"
    extent: ClassVar[int] = 2

    @property
    def measure(self) -> sp.Expr:
        """Area, pi r^2/2."""
        return pi * self.radius**2 / 2

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 4r/(3 pi), 0)."""
        return (0, 4 * self.radius / (3 * pi), 0)

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/4, r^2 (1/4 - 16/(9 pi^2)), 0."""
        return (self.radius**2 / 4, self.radius**2 * (sp.Rational(1, 4) - 16 / (9 * pi**2)), 0)


@dataclass(frozen=True, eq=False)
class CylinderShell(AbstractPrimitive):
    """A thin cylinder along z without lids, its middle at the origin.

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

    @property
    def measure(self) -> sp.Expr:
        """Area, 2 pi r h."""
        return 2 * pi * self.radius * self.height

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/2, r^2/2, h^2/12."""
        return (self.radius**2 / 2, self.radius**2 / 2, self.height**2 / 12)


@dataclass(frozen=True, eq=False)
class SphereShell(AbstractPrimitive):
    """A thin sphere about the origin.

    Args:
        radius: Radius.
        density: Mass per area.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "sphere shell"
    extent: ClassVar[int] = 2

    @property
    def measure(self) -> sp.Expr:
        """Area, 4 pi r^2."""
        return 4 * pi * self.radius**2

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/3 three times."""
        return (self.radius**2 / 3, self.radius**2 / 3, self.radius**2 / 3)


@dataclass(frozen=True, eq=False)
class ConeShell(AbstractPrimitive):
    """A thin cone without a lid, its base in the x-y plane about the origin, its tip at z = height.

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

    @property
    def measure(self) -> sp.Expr:
        """Area, pi r sqrt(r^2 + h^2)."""
        return pi * self.radius * sp.sqrt(self.radius**2 + self.height**2)

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 0, h/3)."""
        return (0, 0, self.height / 3)

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/4, r^2/4, h^2/18."""
        return (self.radius**2 / 4, self.radius**2 / 4, self.height**2 / 18)
