"""The spherical pendulum in Cartesian coordinates."""

from __future__ import annotations

from appell.model.body import Particle
from appell.model.constraint import Holonomic
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def spherical_pendulum() -> Model:
    """A particle on a sphere, written in the redundant coordinates x, y, z with x^2 + y^2 + z^2 = l^2.

    Two degrees of freedom without the singular poles of spherical angles. Which coordinate is the dependent one must
    change on the way: the rate of z follows from those of x and y only away from the equator. Energy and the
    angular momentum about the vertical are constant; the track is a rosette whose apsides advance, for small
    semi-axes a, b at 3ab/(8 l^2) times the frequency of the swing (Airy's precession, which spoils badly started
    Foucault pendulums). With y = 0 it is the plane pendulum in Cartesian coordinates.

    Parameters of the model: m, mass; l, length; g. The z axis points up.
    The multiplier of the row `length` times 2 l is the force in the rod, negative in tension.

    Reference: Lagrange 1788; Krasinskiy 2025 uses the plane pendulum as the smallest case of Shulgin's equations.
    """
    x, y, z = coordinates("x y z", "m", "position of the bob")
    m, l, g = parameters("m l g", "kg m m/s^2", "mass; length; acceleration of gravity, along -z")

    ground = Frame("ground")
    place = ground.point(x, y, z)
    return Model(
        ground,
        (x, y, z),
        [Particle("bob", m, place)],
        [Gravity(-g * ground.z)],
        [Holonomic(place.dot(place) - l**2, "length")],
        name="spherical pendulum",
        description="a particle on a sphere in redundant Cartesian coordinates",
        values={m: 0.3, l: 0.5, g: 9.81},
        start={x: 0.3, y: 0.0, z: -0.4, x.rate: 0.0, y.rate: 0.8, z.rate: 0.0},
        until=10.0,
    )
