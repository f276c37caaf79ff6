"""The slider-crank with spring and damper."""

from __future__ import annotations

from math import asin, cos, sin, sqrt

from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity, Potential, Torque
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def slider_crank() -> Model:
    """An offset slider-crank: crank, connecting rod, and a slider held by a spring and a damper.

    One degree of freedom in three coordinates with two closure rows,
    a cos(theta) + l cos(phi) = x_s and a sin(theta) - l sin(phi) = e. As l > a + e the crank turns full circles and
    phi, x_s always follow from theta. With tau = 0 there are four equilibria, two of them stable; leaving the curvature
    of the constraint (the multipliers) out of the linearisation there gives wrong frequencies.

    Parameters of the model: a, crank length; l, rod length; e, offset of the slide above the crank's axis; m_c, m_r,
    m_s, masses of crank, rod (uniform and thin) and slider; k, s_0, stiffness of the spring and the x_s at which
    it is slack; c, damping of the slider; g, along -y.
    Input: tau, torque on the crank.
    Coordinates: theta of the crank, phi of the rod (clockwise from the x axis), x_s of the slider.

    Reference: Krasinskiy 2025 for the method (Shulgin's equations); numbers computed by multipliers to 25 digits.
    """
    theta, phi = coordinates("theta phi", "rad", "angle of the crank; angle of the rod, clockwise")
    x_s = coordinates("x_s", "m", "place of the slider")
    a, l, e = parameters("a l e", "m", "length of the crank; length of the rod; offset of the slide")
    m_c, m_r, m_s = parameters("m_c m_r m_s", "kg", "mass of the crank; mass of the rod; mass of the slider")
    k, s_0, c, g = parameters(
        "k s_0 c g",
        "N/m m N*s/m m/s^2",
        "stiffness of the spring; place of the slider where the spring is slack; damping of the slider; acceleration "
        "of gravity, along -y",
    )
    tau = inputs("tau", "N*m", "torque on the crank")

    ground = Frame("ground")
    arm, bar = ground.rotate("z", theta, "crank"), ground.rotate("z", -phi, "rod")
    crank = RigidBody("crank", m_c, a / 2 * arm.x, arm, (0, m_c * a**2 / 12, m_c * a**2 / 12))
    rod = RigidBody("rod", m_r, a * arm.x + l / 2 * bar.x, bar, (0, m_r * l**2 / 12, m_r * l**2 / 12))
    slider = Particle("slider", m_s, ground.point(x_s, e))
    angle = asin((0.1 * sin(1) - 0.02) / 0.3)
    rate = 0.1 * cos(1) * 5 / (0.3 * cos(angle))
    return Model(
        ground,
        (theta, phi, x_s),
        [crank, rod, slider],
        [
            Gravity(-g * ground.y),
            Potential(k * (x_s - s_0) ** 2 / 2, "spring"),
            Generalized({x_s: -c * x_s.rate}, "damper"),
            Torque(tau * ground.z, crank, name="motor"),
        ],
        [Holonomic(a * arm.x + l * bar.x - slider.center, "closure")],
        name="slider-crank",
        description="an offset slider-crank with a spring and a damper at the slider",
        values={a: 0.1, l: 0.3, e: 0.02, m_c: 0.5, m_r: 0.8, m_s: 1.2, k: 200.0, s_0: 0.3, c: 1.5, g: 9.81, tau: 0.2},
        start={
            theta: 1.0, phi: angle, x_s: 0.1 * cos(1) + sqrt(0.09 - (0.1 * sin(1) - 0.02) ** 2),
            theta.rate: 5.0, phi.rate: rate, x_s.rate: -0.5 * sin(1) - 0.3 * sin(angle) * rate,
        },
        until=2.0,
    )  # fmt: skip
