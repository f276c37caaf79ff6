"""An inverted pendulum on a cart that a crank moves by a lever."""

from __future__ import annotations

from math import cos, sin, sqrt

from appell.library._rods import thin_rod
from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity, Torque
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def cart_lever_pendulum() -> Model:
    """An inverted pendulum on a cart that the crank of a motor moves by a lever.

    Two degrees of freedom in three coordinates, one row: the lever keeps the distance of the crank's pin and the
    cart, (x - a cos theta)^2 + (a sin theta)^2 = l^2. The upright pendulum is unstable and the motor can hold it where
    the crank moves the cart; at the dead centres, theta = 0 and theta = pi, the cart stands still whatever the crank
    does, to first order, and the pendulum cannot be held. There also theta does not follow from x.

    Parameters of the model: a, l, lengths of crank and lever; m_a, m_l, their masses (uniform and thin); m_c, mass of
    the cart; m_p, l_p, mass and length of the pendulum (uniform and thin); J, moment of inertia of the rotor; b_m, b_c,
    b_p, viscous friction of motor, cart and hinge; g, along -y.
    Input: tau, torque on the crank, counterclockwise; its value holds theta = pi/2 with the pendulum upright.
    Coordinates: theta of the crank from the x axis, phi of the pendulum from the vertical, counterclockwise; x of the
    cart on the line through the crank's axle.

    Reference: Krasinskiy 2025 for the method; dimensions chosen here.
    """
    theta, phi, x = coordinates(
        "theta phi x",
        "rad rad m",
        "angle of the crank; angle of the pendulum from the vertical; place of the cart",
    )
    a, l, l_p = parameters("a l l_p", "m", "length of the crank; length of the lever; length of the pendulum")
    m_a, m_l, m_c, m_p = parameters(
        "m_a m_l m_c m_p",
        "kg",
        "mass of the crank; mass of the lever; mass of the cart; mass of the pendulum",
    )
    J, b_m, b_c, b_p, g = parameters(
        "J b_m b_c b_p g",
        "kg*m^2 N*m*s N*s/m N*m*s m/s^2",
        "moment of inertia of the rotor; viscous friction of the motor; viscous friction of the cart; viscous "
        "friction of the hinge; acceleration of gravity, along -y",
    )
    tau = inputs("tau", "N*m", "torque on the crank")

    ground = Frame("ground")
    arm, rod = ground.rotate("z", theta, "crank"), ground.rotate("z", phi, "pendulum")
    pin, hinge = a * arm.x, ground.point(x, 0)
    gap = hinge - pin
    crank = RigidBody("crank", m_a, a / 2 * arm.x, arm, (0, m_a * a**2 / 12, m_a * a**2 / 12 + J))
    pendulum = RigidBody("pendulum", m_p, hinge + l_p / 2 * rod.y, rod, (m_p * l_p**2 / 12, 0, m_p * l_p**2 / 12))
    return Model(
        ground,
        (theta, phi, x),
        [crank, *thin_rod("lever", m_l, pin, hinge), Particle("cart", m_c, hinge), pendulum],
        [
            Gravity(-g * ground.y),
            Torque(tau * ground.z, crank, name="motor"),
            Generalized({theta: -b_m * theta.rate}, "friction of the motor"),
            Generalized({x: -b_c * x.rate}, "friction of the cart"),
            Generalized({phi: -b_p * phi.rate}, "friction of the hinge"),
        ],
        [Holonomic(gap.dot(gap) - l**2, "lever")],
        name="cart, lever and pendulum",
        description="an inverted pendulum on a cart that a crank moves by a lever",
        values={
            a: 0.15, l: 0.4, m_a: 0.3, m_l: 0.2, m_c: 0.5, m_p: 0.2, l_p: 0.6, J: 0.002, b_m: 0.02, b_c: 0.5,
            b_p: 0.001, g: 9.81, tau: 0.0,
        },
        start={theta: 1.4, phi: 0.05, x: 0.15 * cos(1.4) + sqrt(0.16 - (0.15 * sin(1.4)) ** 2)},
        until=1.0,
    )  # fmt: skip
