"""The Delta robot."""

from __future__ import annotations

import sympy as sp

from appell.library._rods import squared_length, thin_rod
from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity, Torque
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def delta_robot() -> Model:
    """A Delta robot: three driven arms carry a platform by three pairs of parallel rods; the platform never turns.

    Three degrees of freedom in six coordinates. Each pair of rods keeps the distance of an elbow and a point of
    the platform: |(x, y, z) - E_i|^2 = L2^2 with E_i = (R_b - R_p + L1 cos phi_i) e_i - L1 sin phi_i k. The platform
    follows from the arms (three spheres) as well as the arms from the platform, so that both choices of
    independent coordinates are in use. With the torques that hold the platform in the middle the pose is unstable,
    which a first approximation that leaves out the curvature of the constraints does not show.

    Parameters of the model: R_b, R_p, radii of base and platform; L1, L2, lengths of arm and rods; m_a, mass of an arm;
    r_a, place of its centre; I_a, its moment of inertia about the shaft; I_g, of rotor and gear there; m_f, mass of a
    pair of rods (uniform and thin); m_p, of the platform; b_a, b_p, viscous friction of shaft and platform; g.
    Inputs: tau1, tau2, tau3, torques on the arms, downwards; their values hold the platform at (0, 0, -0.9).
    Coordinates: phi1, phi2, phi3 of the arms below the horizontal, at 0, 120 and 240 degrees; x, y, z of the
    platform, z upwards.

    Reference: Krasinskiy 2025, section 7, for the method; dimensions as published with an industrial robot of this kind
    (6 kg load), inertia of the arms and friction assumed.
    """
    phi = coordinates("phi1 phi2 phi3", "rad", "angle of an arm")
    x, y, z = coordinates("x y z", "m", "place of the platform")
    R_b, R_p, L1, L2, r_a = parameters(
        "R_b R_p L1 L2 r_a",
        "m",
        "radius of the base; radius of the platform; length of an arm; length of the rods; place of an arm's mass "
        "centre",
    )
    m_a, m_f, m_p = parameters("m_a m_f m_p", "kg", "mass of an arm; mass of a pair of rods; mass of the platform")
    I_a, I_g = parameters(
        "I_a I_g",
        "kg*m^2",
        "moment of inertia of an arm about its shaft; moment of inertia of rotor and gear",
    )
    b_a, b_p, g = parameters(
        "b_a b_p g",
        "N*m*s N*s/m m/s^2",
        "viscous friction of a shaft; viscous friction of the platform; acceleration of gravity",
    )
    tau = inputs("tau1 tau2 tau3", "N*m", "torque on an arm")

    ground = Frame("ground")
    place = ground.point(x, y, z)
    across = I_a - m_a * r_a**2
    bodies, motors, rows = [], [], []
    for i, (angle, torque) in enumerate(zip(phi, tau, strict=True)):
        side = ground.rotate("z", sp.Rational(2 * i, 3) * sp.pi, f"side {i + 1}")
        arm = side.rotate("y", angle, f"arm {i + 1}")
        shaft, wrist = R_b * side.x, place + R_p * side.x
        elbow = shaft + L1 * arm.x
        bodies += [
            RigidBody(f"arm {i + 1}", m_a, shaft + r_a * arm.x, arm, (0, across, across)),
            RigidBody(f"rotor {i + 1}", 0, shaft, arm, (0, I_g, 0)),
            *thin_rod(f"rods {i + 1}", m_f, elbow, wrist),
        ]
        motors += [
            Torque(torque * side.y, arm, name=f"motor {i + 1}"),
            Generalized({angle: -b_a * angle.rate}, f"friction of shaft {i + 1}"),
        ]
        gap = ground.components(wrist - elbow)
        rows.append(Holonomic(squared_length(gap) - L2**2, f"rods {i + 1}"))
    return Model(
        ground,
        (*phi, x, y, z),
        [*bodies, Particle("platform", m_p, place)],
        [
            Gravity(-g * ground.z),
            *motors,
            Generalized({e: -b_p * e.rate for e in (x, y, z)}, "friction of the platform"),
        ],
        rows,
        name="Delta robot",
        description="three arms carry a platform that never turns, by three pairs of rods",
        values={
            R_b: 0.33, R_p: 0.125, L1: 0.42, L2: 1.055, m_a: 3.696, r_a: 0.2463, I_a: 0.29, I_g: 0.626175, m_f: 1.05,
            m_p: 2.916, b_a: 0.5, b_p: 1.0, g: 9.81, **dict.fromkeys(tau, -17.6633064869428808),
        },
        start={
            phi[0]: 0.0314302150491147, phi[1]: 0.493308660644727, phi[2]: 0.244613523705774,
            x: 0.15, y: -0.1, z: -0.95,
        },
        until=1.0,
    )  # fmt: skip
