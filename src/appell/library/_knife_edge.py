"""A skate on an inclined plane."""

from __future__ import annotations

from math import pi

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def knife_edge() -> Model:
    r"""A skate (knife edge) on an inclined plane: it glides along its blade and cannot slip sideways.

    Spinning freely at a constant rate Omega it does not slide down: started at rest at the origin with phi = 0,
    $$ x = \frac{g\sin\alpha}{2\Omega^2}\sin^2\Omega t,\quad
       y = \frac{g\sin\alpha}{2\Omega^2}\bigl(\Omega t - \tfrac12\sin 2\Omega t\bigr),\quad
       \lambda = -2mg\sin\alpha\,\sin\Omega t, $$
    a cycloid across the slope: on the average it moves sideways, never down. The first surprise of nonholonomic
    mechanics, and a good one to show: the constraint does no work, yet the weight does not win.

    Parameters of the model: m, mass; J, moment of inertia about the normal of the plane; alpha, slope; g.
    Coordinates: x down the slope, y across it, phi the heading of the blade from the x axis.
    The row `edge` is x' sin(phi) - y' cos(phi), so that its multiplier has the sign of the source.

    Reference: Bloch 2015, Nonholonomic Mechanics and Control, section 1.6; Neimark and Fufaev 1972.
    """
    x, y = coordinates("x y", "m", "contact, down the slope; contact, across the slope")
    phi = coordinates("phi", "rad", "heading of the blade")
    m, J, alpha, g = parameters(
        "m J alpha g",
        "kg kg*m^2 rad m/s^2",
        "mass; moment of inertia about the normal of the plane; slope of the plane; acceleration of gravity",
    )

    ground = Frame("ground")
    slope = ground.rotate("y", alpha, "slope")
    blade = slope.rotate("z", phi, "blade")
    skate = RigidBody("skate", m, slope.point(x, y), blade, (0, 0, J))
    return Model(
        ground,
        (x, y, phi),
        [skate],
        [Gravity(-g * ground.z)],
        [Rolling(skate, skate.center, along=[-blade.y], name="edge")],
        name="knife edge",
        description="a skate on an inclined plane that cannot slip sideways",
        values={m: 1.25, J: 0.13, alpha: pi / 4, g: 9.81},
        start={x: 0.0, y: 0.0, phi: 0.0, x.rate: 0.0, y.rate: 0.0, phi.rate: pi / 3},
        until=6.0,
    )
