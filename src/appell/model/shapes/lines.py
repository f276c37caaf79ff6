"""Points and lines: all mass on a point, a rod, a ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy import pi

from appell.model.shapes.abstract import AbstractPrimitive


@dataclass(frozen=True, eq=False)
class Point(AbstractPrimitive):
    """A point mass at its origin: give it a mass.

    Args:
        mass: Mass.
        pose: Where it is.
    """

    kind: ClassVar[str] = "point"
    extent: ClassVar[int] = 0

    @property
    def measure(self) -> sp.Expr:
        """One."""
        return sp.Integer(1)

    @property
    def spread(self) -> tuple[Any, ...]:
        """None."""
        return (0, 0, 0)


@dataclass(frozen=True, eq=False)
class Rod(AbstractPrimitive):
    """A thin rod along x, its middle at the origin.

    Args:
        length: Length.
        density: Mass per length.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    length: Any
    kind: ClassVar[str] = "rod"
    extent: ClassVar[int] = 1

    @property
    def measure(self) -> sp.Expr:
        """L."""
        return self.length

    @property
    def spread(self) -> tuple[Any, ...]:
        """L^2/12, 0, 0."""
        return (self.length**2 / 12, 0, 0)


@dataclass(frozen=True, eq=False)
class Ring(AbstractPrimitive):
    """A thin ring in the x-y plane about the origin.

    Args:
        radius: Radius.
        density: Mass per length.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "ring"
    extent: ClassVar[int] = 1

    @property
    def measure(self) -> sp.Expr:
        """2 pi r."""
        return 2 * pi * self.radius

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/2, r^2/2, 0."""
        return (self.radius**2 / 2, self.radius**2 / 2, 0)


@dataclass(frozen=True, eq=False)
class HalfRing(AbstractPrimitive):
    """The half y > 0 of a thin ring in the x-y plane about the origin.

    Args:
        radius: Radius.
        density: Mass per length.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "half ring"
    extent: ClassVar[int] = 1

    @property
    def measure(self) -> sp.Expr:
        """Pi r."""
        return pi * self.radius

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 2r/pi, 0)."""
        return (0, 2 * self.radius / pi, 0)

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/2, r^2 (1/2 - 4/pi^2), 0."""
        return (self.radius**2 / 2, self.radius**2 * (sp.Rational(1, 2) - 4 / pi**2), 0)
