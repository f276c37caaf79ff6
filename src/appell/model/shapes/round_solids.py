"""Round solids: spheres and their parts, cones and frusta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sympy import pi

from appell.errors import ModelError
from appell.model.shapes.abstract import AbstractPrimitive, Moments, check_hollow


@dataclass(frozen=True, eq=False)
class Sphere(AbstractPrimitive):
    """A ball about the origin.

    Volume 4 pi r^3/3, S = (r^2/5, r^2/5, r^2/5).

    Args:
        radius: Radius.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "sphere"
    extent: ClassVar[int] = 3

    def _moments(self) -> Moments:
        r = self.radius
        return Moments(4 * pi * r**3 / 3, (r**2 / 5, r**2 / 5, r**2 / 5))


@dataclass(frozen=True, eq=False)
class HollowSphere(AbstractPrimitive):
    """A ball about the origin with a round hollow at its middle.

    Volume 4 pi (Ro^3 - Ri^3)/3, S = (Ro^5 - Ri^5)/(5 (Ro^3 - Ri^3)) along all axes.

    Args:
        outer_radius: Outer radius.
        inner_radius: Radius of the hollow.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    outer_radius: Any
    inner_radius: Any
    kind: ClassVar[str] = "hollow sphere"
    extent: ClassVar[int] = 3

    def _check(self) -> None:
        check_hollow(self.kind, self.outer_radius, self.inner_radius)

    def _moments(self) -> Moments:
        Ro, Ri = self.outer_radius, self.inner_radius
        S = (Ro**5 - Ri**5) / (5 * (Ro**3 - Ri**3))
        return Moments(4 * pi * (Ro**3 - Ri**3) / 3, (S, S, S))


@dataclass(frozen=True, eq=False)
class Hemisphere(AbstractPrimitive):
    """Half a ball, its flat face in the x-y plane about the origin, the rest at z > 0.

    Volume 2 pi r^3/3, centroid (0, 0, 3r/8), S = (r^2/5, r^2/5, 19 r^2/320).

    Args:
        radius: Radius.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "hemisphere"
    extent: ClassVar[int] = 3

    def _moments(self) -> Moments:
        r = self.radius
        return Moments(2 * pi * r**3 / 3, (r**2 / 5, r**2 / 5, 19 * r**2 / 320), (0, 0, 3 * r / 8))


@dataclass(frozen=True, eq=False)
class Cap(AbstractPrimitive):
    """A part of a ball below a plane: what lies at -radius < z < height - radius of a ball about the origin.

    Volume pi h^2 (3r - h)/3, centroid (0, 0, -3 (2r - h)^2/(4 (3r - h))), S by slices.

    Args:
        radius: Radius r of the ball.
        height: Height h of the cap, at most 2 r.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    height: Any
    kind: ClassVar[str] = "cap"
    extent: ClassVar[int] = 3

    def _check(self) -> None:
        rest = 2 * self.radius - self.height
        if rest.is_number and rest < 0:
            raise ModelError(f"The height of a cap must not exceed twice its radius, got {self.height}, {self.radius}.")

    def _moments(self) -> Moments:
        r, h = self.radius, self.height
        # Integrals over the cap divided by pi h^2, with z measured from the lowest point.
        volume = r - h / 3
        first = 2 * r * h / 3 - h**2 / 4
        second = r * h**2 / 2 - h**3 / 5
        across = (4 * r**2 * h / 3 - r * h**2 + h**3 / 5) / 4
        S = (across / volume, across / volume, second / volume - (first / volume) ** 2)
        return Moments(pi * h**2 * (3 * r - h) / 3, S, (0, 0, -3 * (2 * r - h) ** 2 / (4 * (3 * r - h))))


@dataclass(frozen=True, eq=False)
class Cone(AbstractPrimitive):
    """A cone, its base in the x-y plane about the origin, its tip at z = height.

    Volume pi r^2 h/3, centroid (0, 0, h/4), S = (3r^2/20, 3r^2/20, 3h^2/80).

    Args:
        radius: Radius of the base.
        height: Height.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    height: Any
    kind: ClassVar[str] = "cone"
    extent: ClassVar[int] = 3

    def _moments(self) -> Moments:
        r, h = self.radius, self.height
        return Moments(pi * r**2 * h / 3, (3 * r**2 / 20, 3 * r**2 / 20, 3 * h**2 / 80), (0, 0, h / 4))


@dataclass(frozen=True, eq=False)
class Frustum(AbstractPrimitive):
    """A cone without its tip: radius R1 at z = 0, R2 at z = height; equal radii are a cylinder on z = 0.

    Volume pi h s2/3 with s2 = R1^2 + R1 R2 + R2^2, centroid (0, 0, z) with z = h (R1^2 + 2 R1 R2 + 3 R2^2)/(4 s2),
    S = 3 (R1^4 + R1^3 R2 + R1^2 R2^2 + R1 R2^3 + R2^4)/(20 s2) along x and y, and along z
    h^2 (R1^2 + 3 R1 R2 + 6 R2^2)/(10 s2) - z^2.

    Args:
        bottom_radius: R1.
        top_radius: R2.
        height: Height.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    bottom_radius: Any
    top_radius: Any
    height: Any
    kind: ClassVar[str] = "frustum"
    extent: ClassVar[int] = 3

    def _moments(self) -> Moments:
        R1, R2, h = self.bottom_radius, self.top_radius, self.height
        s2 = R1**2 + R1 * R2 + R2**2
        z = h * (R1**2 + 2 * R1 * R2 + 3 * R2**2) / (4 * s2)
        S = 3 * (R1**4 + R1**3 * R2 + R1**2 * R2**2 + R1 * R2**3 + R2**4) / (20 * s2)
        along = h**2 * (R1**2 + 3 * R1 * R2 + 6 * R2**2) / (10 * s2) - z**2
        return Moments(pi * h * s2 / 3, (S, S, along), (0, 0, z))
