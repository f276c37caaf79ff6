"""Round obstacles, which may move, and how far a point is from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import casadi as ca

from appell.code.system import System
from appell.errors import ModelError
from appell.model.frame import Vector
from appell.model.values import number


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A round obstacle that a point keeps away from.

    Attributes:
        point: A point of a body.
        center: Centre of the obstacle; its components may contain `appell.t`.
        radius: The distance to keep.
        name: What it is called in messages.
    """

    point: Vector
    center: Vector
    radius: float
    name: str = "obstacle"

    def __post_init__(self) -> None:
        for what in ("point", "center"):
            if not isinstance(getattr(self, what), Vector):
                raise ModelError(
                    f"The {what} of {self.name!r} is a vector such as ground.point(1, 0), got {getattr(self, what)!r}."
                )
        if not number(f"radius of {self.name!r}", self.radius) > 0:
            raise ModelError(f"The radius of {self.name!r} must be positive, got {self.radius!r}.")

    def gap(self, system: System) -> ca.Function:
        """In t, q, z: the square of the distance of the point from the centre, and how far each coordinate moves it."""
        x = system.equations.mechanics.variables
        formulas = system.model.ground.components(self.point - self.center)
        for e in formulas:
            x.positions_only(e, f"the distance from {self.name!r}", shape=True)
        gap = x.lower.column(list(formulas))
        reach = ca.sqrt(ca.sum1(ca.jacobian(gap, x.q) ** 2)).T
        found = ca.substitute([ca.sumsqr(gap), ca.densify(reach)], [x.p], [ca.SX(ca.DM(system.p))])
        return ca.Function("gap", [x.t, x.q, x.z], found)


def told_apart(obstacles: Obstacle | Sequence[Obstacle]) -> dict[str, Obstacle]:
    """Obstacles by name, numbered if two have the same."""
    listed = list(obstacles) if isinstance(obstacles, Iterable) else [obstacles]
    for obstacle in listed:
        if not isinstance(obstacle, Obstacle):
            raise ModelError(f"obstacles= takes planning.Obstacle(point, center, radius), got {obstacle!r}.")
    names = [obstacle.name for obstacle in listed]
    if len(set(names)) < len(names):
        names = [f"{name} {k}" for k, name in enumerate(names, 1)]
    return dict(zip(names, listed, strict=True))
