"""A planar five-bar robot."""

from __future__ import annotations

from appell.library._rods import thin_rod
from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity, Torque
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def five_bar() -> Model:
    """A planar five-bar robot in a vertical plane: two driven cranks carry a tool by two couplers.

    Two degrees of freedom in four coordinates. Each coupler keeps the distance of an elbow and the tool:
    |(x, y) - E_i|^2 = b^2. The tool follows from the cranks and the cranks from the tool; both have singular
    poses, where the couplers, or a crank and its coupler, are in line. Above its motors the symmetric pose is unstable
    under constant torques.

    Parameters of the model: w, half the distance of the motors; a, b, lengths of crank and coupler; m_a, m_b, their
    masses (uniform and thin); m_t, mass of the tool; I_g, moment of inertia of rotor and gear; c_m, viscous friction of
    a motor; g, along -y.
    Inputs: tau1, tau2, torques on the cranks, counterclockwise; their values hold the tool at (0, 0.4).
    Coordinates: theta1 of the left and theta2 of the right crank from the x axis; x, y of the tool.

    Reference: Krasinskiy 2025 for the method; dimensions chosen here.
    """
    theta = coordinates("theta1 theta2", "rad", "angle of a crank")
    x, y = coordinates("x y", "m", "place of the tool")
    w, a, b = parameters("w a b", "m", "half the distance of the motors; length of a crank; length of a coupler")
    m_a, m_b, m_t = parameters("m_a m_b m_t", "kg", "mass of a crank; mass of a coupler; mass of the tool")
    I_g, c_m, g = parameters(
        "I_g c_m g",
        "kg*m^2 N*m*s m/s^2",
        "moment of inertia of rotor and gear; viscous friction of a motor; acceleration of gravity, along -y",
    )
    tau = inputs("tau1 tau2", "N*m", "torque on a crank")

    ground = Frame("ground")
    tool = ground.point(x, y)
    bodies, forces, rows = [], [], []
    for i, (angle, torque) in enumerate(zip(theta, tau, strict=True), 1):
        crank = ground.rotate("z", angle, f"crank {i}")
        axle = ground.point(-w if i == 1 else w, 0)
        elbow = axle + a * crank.x
        moment = m_a * a**2 / 12
        bodies += [
            RigidBody(f"crank {i}", m_a, axle + a / 2 * crank.x, crank, (0, moment, moment + I_g)),
            *thin_rod(f"coupler {i}", m_b, elbow, tool),
        ]
        forces += [
            Torque(torque * ground.z, crank, name=f"motor {i}"),
            Generalized({angle: -c_m * angle.rate}, f"friction {i}"),
        ]
        gap = tool - elbow
        rows.append(Holonomic(gap.dot(gap) - b**2, f"coupler {i}"))
    hold = -2.1530628415934525
    return Model(
        ground,
        (*theta, x, y),
        [*bodies, Particle("tool", m_t, tool)],
        [Gravity(-g * ground.y), *forces],
        rows,
        name="five-bar robot",
        description="two cranks and two couplers carry a tool in a vertical plane",
        values={
            w: 0.1, a: 0.25, b: 0.35, m_a: 0.4, m_b: 0.3, m_t: 0.5, I_g: 0.005, c_m: 0.05, g: 9.81,
            tau[0]: hold, tau[1]: -hold,
        },
        start={theta[0]: 2.2148720467432415, theta[1]: 0.6014708623399345, x: 0.05, y: 0.38},
        until=1.0,
    )  # fmt: skip
