"""Ball and beam with its lever."""

from __future__ import annotations

from math import acos, atan2, cos, hypot, sin

import sympy as sp

from appell.library._rods import thin_rod
from appell.model.body import RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity, Torque
from appell.model.frame import Frame
from appell.model.look import Look, Solid
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def ball_and_beam(tilt: float = 0.0) -> Model:
    """The ball-and-beam rig with the exact constraint of its lever, on a base that may be tilted.

    A ball rolls on a beam that turns about its end O. A lever AB joins the beam's other end A to a point B of the
    motor's wheel. The distance AB is constant, (L (cos alpha - 1) + d (1 - cos theta))^2 + (L sin alpha + l -
    d sin theta)^2 = l^2; usually that is replaced by alpha = d/L theta. Two degrees of freedom in three coordinates.
    With theta dependent the velocities have no solution where the crank is at a dead centre, theta = 1.3115 and
    theta = -2.1244; with alpha dependent they have one all around.

    Parameters of the model: L, length of the beam; l, of the lever; d, arm of B on the wheel; M_b, J_b, mass of the
    beam and its moment of inertia about O; m, R, J_s, mass, rolling radius and central moment of inertia of the ball;
    h, height of its centre above the line OA; m_l, mass of the lever (uniform and thin); J_w, moment of inertia of the
    wheel with the rotor; b_theta, b_xi, b_alpha, viscous friction; g; beta, tilt of the base, positive with A lifted.
    Input: tau, torque of the motor on the wheel; its value holds the ball at xi = 0.2 on a level base.
    Coordinates: theta of the wheel, xi of the ball along the beam from O, alpha of the beam; angles counterclockwise.

    Args:
        tilt: Suggested value of beta in radians.

    Reference: Krasinskiy 2025, eq. (6); rod, ball and motor as in common teaching rigs, the rest assumed.
    """
    theta, xi, alpha = coordinates(
        "theta xi alpha",
        "rad m rad",
        "angle of the wheel; place of the ball on the beam; angle of the beam",
    )
    L, l, d, h, R = parameters(
        "L l d h R",
        "m",
        "length of the beam; length of the lever; arm of the lever on the wheel; height of the ball above the line of"
        " the beam; rolling radius of the ball",
    )
    M_b, m, m_l = parameters("M_b m m_l", "kg", "mass of the beam; mass of the ball; mass of the lever")
    J_b, J_s, J_w = parameters(
        "J_b J_s J_w",
        "kg*m^2",
        "moment of inertia of the beam about its hinge; moment of inertia of the ball; moment of inertia of wheel and"
        " rotor",
    )
    b_theta, b_xi, b_alpha = parameters(
        "b_theta b_xi b_alpha",
        "N*m*s N*s/m N*m*s",
        "viscous friction of the wheel; viscous friction of the ball; viscous friction of the beam",
    )
    g, beta = parameters("g beta", "m/s^2 rad", "acceleration of gravity; tilt of the base")
    tau = inputs("tau", "N*m", "torque of the motor on the wheel")

    ground = Frame("ground")
    along, turned = ground.rotate("z", alpha, "beam"), ground.rotate("z", theta, "wheel")
    axle = ground.point(L - d, -l)
    A, B = L * along.x, axle + d * turned.x
    rolling = along.rotate("z", -xi / R, "ball")
    beam = RigidBody("beam", M_b, L / 2 * along.x, along, (0, 0, J_b - M_b * L**2 / 4))
    ball = RigidBody("ball", m, xi * along.x + h * along.y, rolling, (J_s, J_s, J_s))
    wheel = RigidBody("wheel", 0, axle, turned, (0, 0, J_w))
    gap = A - B
    numbers = {L: 0.4, l: 0.11, d: 0.04, h: 0.0095, R: 0.0095}
    return Model(
        ground,
        (theta, xi, alpha),
        [beam, ball, wheel, *thin_rod("lever", m_l, A, B)],
        [
            Gravity(-g * (sp.sin(beta) * ground.x + sp.cos(beta) * ground.y)),
            Torque(tau * ground.z, wheel, name="motor"),
            Generalized({theta: -b_theta * theta.rate}, "friction of the wheel"),
            Generalized({xi: -b_xi * xi.rate}, "friction of the ball"),
            Generalized({alpha: -b_alpha * alpha.rate}, "friction of the beam"),
        ],
        [Holonomic(gap.dot(gap) - l**2, "lever")],
        name="ball and beam",
        description="a ball on a beam that a lever lifts, with the exact constraint of the lever",
        values={
            **numbers, M_b: 0.334, m: 0.0282, m_l: 0.02, J_b: 0.017813, J_s: 1.0469e-6, J_w: 2e-4, b_theta: 2e-3,
            b_xi: 0.01, b_alpha: 1e-3, g: 9.81, beta: tilt, tau: 0.07891164,
        },
        start={theta: 0.1, xi: 0.22, alpha: _beam_angle(0.1, *(numbers[s] for s in (L, l, d)))},
        until=0.8,
        look=Look(
            shapes={
                "beam": Solid("box", (L, 2 * (h - R) + 0.02 * L, 0.06 * L), (0, h - R - 0.01 * L, 0)),
                "wheel": [
                    Solid("cylinder", (1.25 * d, 0.03 * L), (0, 0, -0.04 * L), color="#7b8794"),
                    Solid("cylinder", (0.12 * d, 0.07 * L), (d, 0, 0), color="#2b333b"),
                ],
            },
            traces=["ball"],
        ),
    )  # fmt: skip


def _beam_angle(theta: float, L: float, l: float, d: float) -> float:
    """alpha of the upper assembly: A on a circle about O and on one about B."""
    x, y = L - d + d * cos(theta), d * sin(theta) - l
    return atan2(y, x) + acos((L**2 + x**2 + y**2 - l**2) / (2 * L * hypot(x, y)))
