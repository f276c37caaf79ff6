"""What a tank holds: the liquid in an upright vessel, as a shape that changes with what is left."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy import pi

from appell.errors import ModelError
from appell.model.rotation import exact_zero
from appell.model.shapes.abstract import AbstractPrimitive
from appell.model.shapes.lines import Point
from appell.model.shapes.round_solids import Cap, Cone, Frustum, Sphere
from appell.model.shapes.solids import Box, Cylinder
from appell.model.values import formula_of

Vessel = Box | Cylinder | Frustum | Cone | Sphere
ROUNDING = 1e-14  # share of a tank by which it may seem to hold more than it does, or less than nothing


def filled(vessel: AbstractPrimitive, density: Any, mass: Any = None, level: Any = None) -> AbstractPrimitive:
    """The liquid at the bottom of an upright vessel, by its mass or by its level.

    Mass, centre and inertia follow from what is left, so that they always fit each other; with the mass an extra
    state z and `states={z: -drained(rate, z)}` the tank runs dry as an event. The liquid lies still in the vessel and
    its surface stays across the vessel's z axis: it does not slosh.

    Args:
        vessel: Inside of the tank, standing along its own z axis: a box, cylinder, frustum (bottom at z = 0), cone (on
            its base) or sphere, with its place.
        density: Mass per volume of the liquid.
        mass: Mass of the liquid: a number or a formula, an extra state for example.
        level: Depth of the liquid, in place of its mass.

    Returns:
        A shape with mass, at its place.

    Example:
        >>> import appell as ap
        >>> fuel = ap.states("fuel")
        >>> liquid = filled(ap.shapes.Box(1, 1, 2), 800, mass=fuel)
        >>> liquid.center
        (0, 0, fuel/1600 - 1)
    """
    if (mass is None) == (level is None):
        raise ModelError("The filling of a tank is told by mass= or by level=; give one of them.")
    if not isinstance(vessel, Vessel):
        kind = getattr(vessel, "kind", vessel)
        raise ModelError(f"A tank is a box, cylinder, frustum, cone or sphere, got a {kind!r}.")
    rho = formula_of(density, "The density of the filling")
    if rho.is_number and not (rho.is_finite and rho > 0):
        raise ModelError(f"The density of the filling must be positive and finite, got {density}.")
    what, amount = ("mass", mass) if level is None else ("level", level)
    given = exact_zero(formula_of(amount, f"The {what} of the filling"))
    depth = 2 * vessel.radius if isinstance(vessel, Sphere) else vessel.height
    size = depth if mass is None else vessel.measure * rho
    share = given / size
    if share.is_number:
        share = sp.N(share)
        if not -ROUNDING <= share <= 1 + ROUNDING:
            raise ModelError(f"The tank holds a {what} from 0 to {size}, got {given}.")
        if share <= ROUNDING:
            return Point(mass=0, pose=vessel.pose)
        if share >= 1 - ROUNDING:
            return vessel.with_density(rho)
    return _lying(vessel, given if mass is None else _level(vessel, given / rho), rho, None if mass is None else given)


def _level(vessel: Vessel, volume: sp.Expr) -> sp.Expr:
    """Depth of a volume of liquid."""
    share = volume / vessel.measure
    # A tank that is as full or as empty as rounding allows has a level, and this has rates.
    margin = 0 if share.is_number else ROUNDING
    match vessel:
        case Box():
            return volume / (vessel.width * vessel.depth)
        case Cylinder():
            return volume / (pi * vessel.radius**2)
        case Frustum() if vessel.bottom_radius == vessel.top_radius:
            return volume / (pi * vessel.bottom_radius**2)
        case Frustum():
            R1, R2, h = vessel.bottom_radius, vessel.top_radius, vessel.height
            surface = sp.cbrt(R1**3 + 3 * volume * (R2 - R1) / (pi * h))
            return (surface - R1) * h / (R2 - R1)
        case Cone():
            return vessel.height * (1 - sp.cbrt(1 - share + margin))
        case Sphere():
            # x = 1 - h/r solves x^3 - 3x + 2 = 4f with f the part that is filled; x = 2 cos(angle).
            angle = 2 * (pi - sp.atan(sp.sqrt((1 - share + margin) / (share + margin)))) / 3
            return vessel.radius * (1 - 2 * sp.cos(angle))


def _form(vessel: Vessel, level: sp.Expr) -> AbstractPrimitive:
    """The form of the liquid, in its own axes."""
    match vessel:
        case Box():
            return Box(vessel.width, vessel.depth, level)
        case Cylinder():
            return Cylinder(vessel.radius, level)
        case Frustum():
            slope = (vessel.top_radius - vessel.bottom_radius) / vessel.height
            return Frustum(vessel.bottom_radius, vessel.bottom_radius + slope * level, level)
        case Cone():
            return Frustum(vessel.radius, vessel.radius * (1 - level / vessel.height), level)
        case Sphere():
            return Cap(vessel.radius, level)


def _lying(vessel: Vessel, level: sp.Expr, rho: sp.Expr, mass: sp.Expr | None) -> AbstractPrimitive:
    """The shape of the liquid, in the vessel's place."""
    form = _form(vessel, level)
    shape = form.with_density(rho) if mass is None else form.with_mass(mass)
    lift = sp.expand((level - vessel.height) / 2) if isinstance(vessel, Box | Cylinder) else 0
    return shape.at(0, 0, lift).placed(vessel.pose)
