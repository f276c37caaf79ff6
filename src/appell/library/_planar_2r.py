"""The planar arm with two hinges."""

from __future__ import annotations

from appell.model.chain import Chain
from appell.model.joint import Joint
from appell.model.symbols import coordinates, parameters


def planar_2r() -> Chain:
    """A planar arm of two links with parallel hinges, in a vertical plane.

    The smallest robot with every effect: M depends on the second angle, and there are Coriolis and centrifugal forces
    and gravity. The links are thin along x: their moments about y and z are equal, about x they have none.

    Parameters of the model: m1, m2, masses; l1, l2, lengths; c1, c2, distances of the mass centres from the hinges;
    I1, I2, central moments of inertia about the hinge axes; g, along -y.
    Coordinates: q1, q2, angles of the hinges about z, both zero when the arm is stretched along x.

    Reference: Negrean et al. 2025; numbers of the reference set of the higher-order pages.
    """
    q1, q2 = coordinates("q1 q2", "rad")
    m1, m2, l1, l2, c1, c2 = parameters(
        "m1 m2 l1 l2 c1 c2",
        "kg kg m m m m",
        "mass of the upper arm; mass of the forearm; length of the upper arm; length of the forearm; mass centre of "
        "the upper arm from its hinge; mass centre of the forearm from its hinge",
    )
    I1, I2, g = parameters(
        "I1 I2 g",
        "kg*m^2 kg*m^2 m/s^2",
        "moment of inertia of the upper arm; moment of inertia of the forearm; acceleration of gravity, along -y",
    )
    return Chain(
        [
            Joint("z", at=(0, 0, 0), mass=m1, center=(c1, 0, 0), inertia=(0, I1, I1), link="upper arm"),
            Joint("z", at=(l1, 0, 0), mass=m2, center=(c2, 0, 0), inertia=(0, I2, I2), link="forearm"),
        ],
        gravity=(0, -g, 0),
        tool=(l2, 0, 0),
        name="planar 2R",
        description="a planar arm with two parallel hinges in a vertical plane",
        values={m1: 3.0, m2: 2.0, l1: 0.5, l2: 0.4, c1: 0.25, c2: 0.2, I1: 0.063, I2: 0.028, g: 9.81},
        start={q1: 0.3, q2: -0.8, q1.rate: 0.7, q2.rate: 1.2},
        until=5.0,
    )
