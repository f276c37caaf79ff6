"""A spraying rover that keeps a programmed rate of curvature while its tank drains."""

from __future__ import annotations

from math import cos as cosine
from math import sin as sine

from sympy import cos, sin

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Force
from appell.model.frame import Frame
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.symbols import coordinates, parameters, states, t


def draining_rover() -> Model:
    r"""A rover on a knife edge (its axle) sprays to the side and keeps $\frac{d^2}{dt^2}(\omega/v) = \ddot\kappa$.

    A programme of order three on a system of variable mass: the liquid leaves with a velocity of its own, the mass
    centre moves with what is left of it, and the multiplier of the programme, the steering force, is a state beside the
    liquid. The path is that of the programme however fast the tank drains; the speed along it is not.

    Parameters of the model: m, mass without liquid; J, moment of inertia without liquid; h, place of the nozzle behind
    the axle; r, radius of gyration of the liquid; mu, flow; u, speed of the jet, to the left; F, thrust; b, resistance;
    k0, k1 of the curvature k0 + k1 sin t.
    Coordinates: x, y of the axle, theta the heading; extra state: liquid.

    Reference: Jarzebowska et al., section 2; Dehkordi 2025 for the spraying robot.
    """
    x, y = coordinates("x y", "m", "middle of the axle")
    theta = coordinates("theta", "rad", "heading")
    liquid = states("liquid", "kg", "mass of the liquid")
    m, inertia, h, r = parameters(
        "m J h r",
        "kg kg*m^2 m m",
        "mass without liquid; moment of inertia without liquid; place of the nozzle behind the axle; radius of "
        "gyration of the liquid",
    )
    mu, u, F, b = parameters(
        "mu u F b",
        "kg/s m/s N N*s/m",
        "liquid lost per second; speed of the jet, to the left; thrust; resistance",
    )
    k0, k1 = parameters("k0 k1", "1/m 1/m", "mean curvature of the path; amplitude of the curvature")

    ground = Frame("ground")
    body = ground.rotate("z", theta, "rover")
    axle = ground.point(x, y)
    rover = RigidBody("rover", m + liquid, axle, body, (0, 0, inertia + liquid * r**2))
    v = x.rate * cos(theta) + y.rate * sin(theta)
    return Model(
        ground,
        (x, y, theta),
        [rover],
        [Stream(rover, u * body.y, -mu, axle - h * body.x), Force((F - b * v) * body.x, axle, rover)],
        [
            Rolling(rover, axle, along=[body.y], name="axle"),
            Programmed(theta.rate / v - k0 - k1 * sin(t), "curvature", differentiate=2),
        ],
        {liquid: -mu},
        name="draining rover",
        description="a spraying rover that keeps a programmed rate of curvature while its tank drains",
        values={m: 60.0, inertia: 8.0, h: 0.4, r: 0.3, mu: 2.0, u: 8.0, F: 30.0, b: 20.0, k0: 0.5, k1: 0.3},
        start={
            x: 0.0, y: 0.0, theta: 0.1, liquid: 40.0,
            x.rate: 1.2 * cosine(0.1), y.rate: 1.2 * sine(0.1), theta.rate: 0.6,
        },
        until=6.0,
    )  # fmt: skip
