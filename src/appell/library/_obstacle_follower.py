"""A vehicle that keeps its distance from a moving obstacle."""

from __future__ import annotations

from math import cos as cosine
from math import sin as sine

from sympy import cos, sin

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Generalized
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, t
from appell.model.task import distance


def obstacle_follower() -> Model:
    r"""A body on a knife edge; a point ahead of it keeps a programmed distance from an obstacle that moves.

    The look-ahead point is P = (x, y) + l (cos theta, sin theta), the obstacle moves along c = (1 + 0.3 t, 0.5 sin t),
    and |P - c| = d + 0.1 sin 2t. One degree of freedom is left: how fast the vehicle goes round the obstacle.

    Parameters of the model: m, mass; J, moment of inertia about the mass centre; a, mass centre ahead of the edge;
    l, look-ahead; F, thrust along the heading; c, resistance of the translation; k, of the rotation; d, distance.

    Reference: Jarzebowska et al., section 1.3 (obstacles, fixed or moving, as constraints).
    """
    x, y = coordinates("x y", "m", "contact of the edge")
    theta = coordinates("theta", "rad", "heading")
    m, inertia, a, l = parameters(
        "m J a l",
        "kg kg*m^2 m m",
        "mass; moment of inertia about the mass centre; mass centre ahead of the edge; look-ahead",
    )
    F, c, k, d = parameters(
        "F c k d",
        "N N*s/m N*m*s/rad m",
        "thrust; resistance of the translation; resistance of the rotation; distance from the obstacle",
    )

    ground = Frame("ground")
    blade = ground.rotate("z", theta, "blade")
    edge = ground.point(x, y)
    body = RigidBody("body", m, edge + a * blade.x, blade, (0, 0, inertia))
    obstacle = ground.point(1 + 0.3 * t, 0.5 * sin(t))
    forces = {x: F * cos(theta) - c * x.rate, y: F * sin(theta) - c * y.rate, theta: -k * theta.rate}
    values = {m: 10.0, inertia: 0.8, a: 0.15, l: 0.4, F: 2.0, c: 1.0, k: 0.2, d: 1.0}
    angle, heading, speed = -2.0, 0.2, 0.6
    px, py = 1 + cosine(angle), sine(angle)
    # Of the turning rate: (P' - c').n = d' with n from the obstacle to P, d' = 0.2 at t = 0.
    n = cosine(angle), sine(angle)
    along = speed * (cosine(heading) * n[0] + sine(heading) * n[1]) - (0.3 * n[0] + 0.5 * n[1]) - 0.2
    turning = along / (values[l] * (sine(heading) * n[0] - cosine(heading) * n[1]))
    return Model(
        ground,
        (x, y, theta),
        [body],
        [Generalized(forces, "drive and resistance")],
        [
            Rolling(body, edge, along=[blade.y], name="edge"),
            distance(edge + l * blade.x, obstacle, d + 0.1 * sin(2 * t)),
        ],
        name="obstacle follower",
        description="a vehicle that keeps its distance from a moving obstacle",
        values=values,
        start={
            x: px - values[l] * cosine(heading),
            y: py - values[l] * sine(heading),
            theta: heading,
            x.rate: speed * cosine(heading),
            y.rate: speed * sine(heading),
            theta.rate: turning,
        },
        until=3.0,
    )
