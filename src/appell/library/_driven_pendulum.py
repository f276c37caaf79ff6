"""A spring pendulum whose pivot is shaken."""

from __future__ import annotations

from math import sqrt

from sympy import sin

from appell.model.body import Particle
from appell.model.constraint import Prescribed
from appell.model.force import Damper, Gravity, Spring
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, t


def driven_pendulum() -> Model:
    r"""A bob on a spring and a damper, hung from a pivot that is moved up and down as A sin(w t).

    The pivot is a coordinate with a prescribed motion, so the force that the drive must exert is the reaction of the
    row `drive`. The suggested stiffness makes the bounce exactly twice as fast as the swing ($k l = 3mg$), the
    resonance of Vitt and Gorelik: driven at the frequency of the bounce, which alone would only go up and down,
    the pendulum begins to swing from the smallest sideways push, and the motion passes to and fro between
    bouncing and swinging. Energy is not conserved: the drive works, the damper takes.

    Parameters of the model: m, mass of the bob; M, mass of the pivot (it matters for the reaction only); k, l,
    stiffness and natural length of the spring; c, damping; A, w, amplitude and angular frequency of the drive; g.
    Coordinates: h, height of the pivot; x, y of the bob.

    Reference: Vitt and Gorelik 1933; Stephenson 1908 for pendulums with a shaken pivot.
    """
    h = coordinates("h", "m", "height of the pivot")
    x, y = coordinates("x y", "m", "bob")
    m, M, k, l, c, A, w, g = parameters(
        "m M k l c A w g",
        "kg kg N/m m N*s/m m rad/s m/s^2",
        "mass of the bob; mass of the pivot; stiffness of the spring; natural length of the spring; damping of the "
        "spring; amplitude of the drive; angular frequency of the drive; acceleration of gravity",
    )

    ground = Frame("ground")
    pivot, bob = ground.point(0, h), ground.point(x, y)
    return Model(
        ground,
        (h, x, y),
        [Particle("pivot", M, pivot), Particle("bob", m, bob)],
        [Gravity(-g * ground.y), Spring(pivot, bob, k, l), Damper(pivot, bob, c)],
        [Prescribed(h, A * sin(w * t), "drive")],
        name="driven pendulum",
        description="a bob on a spring whose pivot is moved up and down",
        values={m: 1.0, M: 0.5, k: 4 * 9.81, l: 0.75, c: 0.1, A: 0.02, w: sqrt(4 * 9.81), g: 9.81},
        start={h: 0.0, x: 0.02, y: -1.0, h.rate: 0.02 * sqrt(4 * 9.81), x.rate: 0.0, y.rate: 0.0},
        until=40.0,
    )
