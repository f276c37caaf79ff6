"""A mobile robot with two driven wheels."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Torque
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def differential_drive() -> Model:
    """A platform on two wheels with a common axle, each driven by its own motor; the castor is left out.

    Equal torques drive straight on, unequal ones turn. Both wheels together give three independent rows: each rolls
    forward without slip, and the axle does not slide sideways, which needs to be said once only. The difference of the
    wheel angles is tied to the heading (that part is holonomic and could be integrated); the rest is not.
    With bearing friction constant torques lead to a circle run through at constant speed.

    Parameters of the model: M, J, mass and moment of inertia of the platform; m_w, mass of a wheel (a thin uniform
    disk); r, radius; b, half the distance between the wheels; d, mass centre of the platform ahead of the axle; c,
    bearing friction.
    Inputs: tau_left, tau_right, torques of the platform on the wheels.
    Coordinates: x, y of the middle of the axle; heading; left, right: angles of the wheels, positive forwards.

    Reference: Campion, Bastin and d'Andrea-Novel 1996, IEEE Trans. Robotics and Automation 12, 47 (type (2,0)).
    """
    x, y = coordinates("x y", "m", "middle of the axle")
    heading, left, right = coordinates(
        "heading left right",
        "rad",
        "heading; angle of the left wheel; angle of the right wheel",
    )
    M, J, m_w, r, b, d, c = parameters(
        "M J m_w r b d c",
        "kg kg*m^2 kg m m m N*m*s",
        "mass of the platform; moment of inertia of the platform; mass of a wheel; radius of the wheels; half the "
        "distance between the wheels; mass centre of the platform ahead of the axle; bearing friction",
    )
    tau_left, tau_right = inputs("tau_left tau_right", "N*m", "torque on the left wheel; torque on the right wheel")

    ground = Frame("ground")
    body = ground.rotate("z", heading, "platform")
    axle = ground.point(x, y, r)
    disk = (m_w * r**2 / 4, m_w * r**2 / 2, m_w * r**2 / 4)
    platform = RigidBody("platform", M, axle + d * body.x, body, (0, 0, J))
    wheel_l = RigidBody("left wheel", m_w, axle + b * body.y, body.rotate("y", left, "left wheel"), disk)
    wheel_r = RigidBody("right wheel", m_w, axle - b * body.y, body.rotate("y", right, "right wheel"), disk)
    return Model(
        ground,
        (x, y, heading, left, right),
        [platform, wheel_l, wheel_r],
        [
            Torque(tau_left * body.y, wheel_l, platform, "left motor"),
            Torque(tau_right * body.y, wheel_r, platform, "right motor"),
            Torque(-c * left.rate * body.y, wheel_l, platform, "left bearing"),
            Torque(-c * right.rate * body.y, wheel_r, platform, "right bearing"),
        ],
        [
            Rolling(wheel_l, wheel_l.center - r * body.z, along=[body.x], name="left wheel"),
            Rolling(wheel_r, wheel_r.center - r * body.z, along=[body.x, body.y], name="right wheel"),
        ],
        name="differential drive",
        description="a platform on two driven wheels",
        values={M: 8.0, J: 0.2, m_w: 0.5, r: 0.08, b: 0.18, d: 0.05, c: 0.01, tau_left: 0.05, tau_right: 0.07},
        start=dict.fromkeys((x, y, heading, left, right), 0.0),
        until=20.0,
    )
