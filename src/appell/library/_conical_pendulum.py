"""The conical pendulum."""

from __future__ import annotations

from math import sqrt

from appell.model.body import Particle
from appell.model.constraint import Holonomic
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.look import Look
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def conical_pendulum() -> Model:
    """A bob that circles at constant height: azimuth, and radius and height under rho^2 + z^2 = l^2.

    The smallest system with a steady motion in redundant coordinates: psi is cyclic, p = m rho^2 psi' constant, and at
    psi'^2 = -g/z the bob circles. That motion is stable; disturbed, radius and height swing with the square of
    the frequency psi'^2 (1 + 3 z^2/l^2).

    Parameters of the model: m, mass; l, length; g. The z axis points up.
    Coordinates: psi, azimuth; rho, distance from the axis; z, height above the pivot, negative.

    Reference: Huygens 1673; Routh 1877 for steady motions with cyclic coordinates.
    """
    psi, rho, z = coordinates(
        "psi rho z",
        "rad m m",
        "azimuth of the bob; distance of the bob from the axis; height of the bob above the pivot",
    )
    m, l, g = parameters("m l g", "kg m m/s^2", "mass; length; acceleration of gravity, along -z")

    ground = Frame("ground")
    turning = ground.rotate("z", psi, "plane of the pendulum")
    bob = Particle("bob", m, rho * turning.x + z * ground.z)
    return Model(
        ground,
        (psi, rho, z),
        [bob],
        [Gravity(-g * ground.z)],
        [Holonomic(rho**2 + z**2 - l**2, "length")],
        name="conical pendulum",
        description="a bob that circles at constant height, in azimuth, radius and height",
        values={m: 0.3, l: 0.5, g: 9.81},
        start={psi: 0.0, rho: 0.3, z: -0.4, psi.rate: sqrt(9.81 / 0.4), rho.rate: 0.05, z.rate: 0.05 * 0.3 / 0.4},
        until=5.0,
        look=Look(rods=[(ground.point(0, 0), bob.center)]),
    )
