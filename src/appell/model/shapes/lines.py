"""Points and lines: all mass on a point, a rod, a ring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy import pi

from appell.model.shapes.abstract import AbstractPrimitive, Moments


@dataclass(frozen=True, eq=False)
class Point(AbstractPrimitive):
    """A point mass at its origin: give it a mass.

    Args:
        mass: Mass.
        pose: Where it is.
    """

    kind: ClassVar[str] = "point"
    extent: ClassVar[int] = 0

    def _moments(self) -> Moments:
        return Moments(sp.Integer(1), (0, 0, 0))


@dataclass(frozen=True, eq=False)
class Rod(AbstractPrimitive):
    """A thin rod along x, its middle at the origin.

    Length L, S = (L^2/12, 0, 0).

    Args:
        length: Length.
        density: Mass per length.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    length: Any
    kind: ClassVar[str] = "rod"
    extent: ClassVar[int] = 1

    def _moments(self) -> Moments:
        L = self.length
        return Moments(L, (L**2 / 12, 0, 0))


@dataclass(frozen=True, eq=False)
class Ring(AbstractPrimitive):
    """A thin ring in the x-y plane about the origin.

    Length 2 pi r, S = (r^2/2, r^2/2, 0).

    Args:
        radius: Radius.
        density: Mass per length.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "ring"
    extent: ClassVar[int] = 1

    def _moments(self) -> Moments:
        r = self.radius
        return Moments(2 * pi * r, (r**2 / 2, r**2 / 2, 0))


@dataclass(frozen=True, eq=False)
class HalfRing(AbstractPrimitive):
    """The half y > 0 of a thin ring in the x-y plane about the origin.

    Length pi r, centroid (0, 2r/pi, 0), S = (r^2/2, r^2 (1/2 - 4/pi^2), 0).

    Args:
        radius: Radius.
        density: Mass per length.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "half ring"
    extent: ClassVar[int] = 1

    def _moments(self) -> Moments:
        r = self.radius
        return Moments(pi * r, (r**2 / 2, r**2 * (sp.Rational(1, 2) - 4 / pi**2), 0), (0, 2 * r / pi, 0))
