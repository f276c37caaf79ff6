"""Round solids: spheres and their parts, cones and frusta."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import sympy as sp
from sympy import pi

from appell.errors import ModelError
from appell.model.shapes.abstract import AbstractPrimitive, check_hollow


@dataclass(frozen=True, eq=False)
class Sphere(AbstractPrimitive):
    """A ball about the origin.

    Args:
        radius: Radius.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "sphere"
    extent: ClassVar[int] = 3

    @property
    def measure(self) -> sp.Expr:
        """Volume, 4 pi r^3/3."""
        return 4 * pi * self.radius**3 / 3

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/5 three times."""
        return (self.radius**2 / 5, self.radius**2 / 5, self.radius**2 / 5)


@dataclass(frozen=True, eq=False)
class HollowSphere(AbstractPrimitive):
    """A ball about the origin with a round hollow at its middle.

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

    @property
    def measure(self) -> sp.Expr:
        """Volume, 4 pi (Ro^3 - Ri^3)/3."""
        return 4 * pi * (self.outer_radius**3 - self.inner_radius**3) / 3

    @property
    def spread(self) -> tuple[Any, ...]:
        """(Ro^5 - Ri^5)/(5 (Ro^3 - Ri^3)) three times."""
        Ro, Ri = self.outer_radius, self.inner_radius
        S = (Ro**5 - Ri**5) / (5 * (Ro**3 - Ri**3))
        return (S, S, S)


@dataclass(frozen=True, eq=False)
class Hemisphere(AbstractPrimitive):
    """Half a ball, its flat face in the x-y plane about the origin, the rest at z > 0.

    Args:
        radius: Radius.
        density: Mass per volume.
        mass: Mass, in place of the density.
        pose: Where it is.
    """

    radius: Any
    kind: ClassVar[str] = "hemisphere"
    extent: ClassVar[int] = 3

    @property
    def measure(self) -> sp.Expr:
        """Volume, 2 pi r^3/3."""
        return 2 * pi * self.radius**3 / 3

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 0, 3r/8)."""
        return (0, 0, 3 * self.radius / 8)

    @property
    def spread(self) -> tuple[Any, ...]:
        """r^2/5, r^2/5, 19 r^2/320."""
        return (self.radius**2 / 5, self.radius**2 / 5, 19 * self.radius**2 / 320)


@dataclass(frozen=True, eq=False)
class Cap(AbstractPrimitive):
    """A part of a ball below a plane: what lies at -radius < z < height - radius of a ball about the origin.

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

    @property
    def measure(self) -> sp.Expr:
        """Volume, pi h^2 (3r - h)/3."""
        return pi * self.height**2 * (3 * self.radius - self.height) / 3

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 0, -3 (2r - h)^2/(4 (3r - h)))."""
        return (0, 0, -3 * (2 * self.radius - self.height) ** 2 / (4 * (3 * self.radius - self.height)))

    @property
    def spread(self) -> tuple[Any, ...]:
        """Integrals of z^2 and of (r^2 - z^2)/4 over slices, per volume."""
        r, h = self.radius, self.height
        # Integrals over the cap divided by pi h^2, with z measured from the lowest point.
        volume = r - h / 3
        first = 2 * r * h / 3 - h**2 / 4
        second = r * h**2 / 2 - h**3 / 5
        across = (4 * r**2 * h / 3 - r * h**2 + h**3 / 5) / 4
        return (across / volume, across / volume, second / volume - (first / volume) ** 2)


@dataclass(frozen=True, eq=False)
class Cone(AbstractPrimitive):
    """A cone, its base in the x-y plane about the origin, its tip at z = height.

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

    @property
    def measure(self) -> sp.Expr:
        """Volume, pi r^2 h/3."""
        return pi * self.radius**2 * self.height / 3

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 0, h/4)."""
        return (0, 0, self.height / 4)

    @property
    def spread(self) -> tuple[Any, ...]:
        """3r^2/20, 3r^2/20, 3h^2/80."""
        return (3 * self.radius**2 / 20, 3 * self.radius**2 / 20, 3 * self.height**2 / 80)


@dataclass(frozen=True, eq=False)
class Frustum(AbstractPrimitive):
    """A cone without its tip: radius R1 at z = 0, R2 at z = height; equal radii are a cylinder on z = 0.

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

    @property
    def _s2(self) -> sp.Expr:
        R1, R2 = self.bottom_radius, self.top_radius
        return R1**2 + R1 * R2 + R2**2

    @property
    def measure(self) -> sp.Expr:
        """Volume, pi h s2/3 with s2 = R1^2 + R1 R2 + R2^2."""
        return pi * self.height * self._s2 / 3

    @property
    def centroid(self) -> tuple[Any, Any, Any]:
        """(0, 0, h (R1^2 + 2 R1 R2 + 3 R2^2)/(4 s2))."""
        R1, R2, h = self.bottom_radius, self.top_radius, self.height
        return (0, 0, h * (R1**2 + 2 * R1 * R2 + 3 * R2**2) / (4 * self._s2))

    @property
    def spread(self) -> tuple[Any, ...]:
        """3 (R1^4 + R1^3 R2 + R1^2 R2^2 + R1 R2^3 + R2^4)/(20 s2) twice; h^2 (R1^2 + 3 R1 R2 + 6 R2^2)/(10 s2) - z²."""
        R1, R2, h, s2 = self.bottom_radius, self.top_radius, self.height, self._s2
        S = 3 * (R1**4 + R1**3 * R2 + R1**2 * R2**2 + R1 * R2**3 + R2**4) / (20 * s2)
        z = self.centroid[2]
        return (S, S, h**2 * (R1**2 + 3 * R1 * R2 + 6 * R2**2) / (10 * s2) - z**2)
