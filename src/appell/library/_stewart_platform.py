"""The Stewart platform."""

from __future__ import annotations

from math import cos, hypot, pi, sin

import sympy as sp

from appell.library._rods import thin_rod
from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def stewart_platform() -> Model:
    """A Stewart platform: six legs of variable length carry a plate that moves in all six degrees of freedom.

    Six degrees of freedom in twelve coordinates, the pose of the plate and the lengths of the legs, with six rows
    |b_i - a_i|^2 = l_i^2. With the lengths dependent each row has its own, and nothing ever becomes singular; with the
    pose dependent the equations are those of the actuators, and the choice fails in singular poses of the platform.
    A leg is a cylinder at the base and a piston at the plate, both thin and uniform; they turn with the line
    of the leg, so that the legs have inertia across without any angle of their own.

    Parameters of the model: R_b, R_p, radii of the joints' circles on base and plate; gap, half the angle between two
    neighbouring joints of a pair; m_p, I_x, I_z, mass and moments of inertia of the plate; m_c, L_c, m_r, L_r, masses
    and lengths of cylinder and piston; c, viscous friction of a leg; g, along -z.
    Inputs: f1 ... f6, forces that lengthen the legs; their values hold the plate level at z = 0.9.
    Coordinates: x, y, z of the plate; yaw, pitch, roll about z, y, x; l1 ... l6.

    Reference: Stewart 1965; Krasinskiy 2025 for the method; dimensions chosen here.
    """
    x, y, z = coordinates("x y z", "m", "place of the plate")
    yaw, pitch, roll = coordinates(
        "yaw pitch roll",
        "rad",
        "turn of the plate about z; turn of the plate about y; turn of the plate about x",
    )
    lengths = coordinates("l1 l2 l3 l4 l5 l6", "m", "length of a leg")
    R_b, R_p, gap, L_c, L_r = parameters(
        "R_b R_p gap L_c L_r",
        "m m rad m m",
        "radius of the joints' circle on the base; radius of the joints' circle on the plate; half the angle between "
        "the joints of a pair; length of a cylinder; length of a piston",
    )
    m_p, m_c, m_r = parameters("m_p m_c m_r", "kg", "mass of the plate; mass of a cylinder; mass of a piston")
    I_x, I_z, c, g = parameters(
        "I_x I_z c g",
        "kg*m^2 kg*m^2 N*s/m m/s^2",
        "moment of inertia of the plate about a diameter; moment of inertia of the plate about its normal; viscous "
        "friction of a leg; acceleration of gravity, along -z",
    )
    push = inputs("f1 f2 f3 f4 f5 f6", "N", "force that lengthens a leg")

    ground = Frame("ground")
    place = ground.point(x, y, z)
    plate = ground.rotate_body("zyx", yaw, pitch, roll)
    bodies: list[Particle | RigidBody] = [RigidBody("plate", m_p, place, plate, (I_x, I_x, I_z))]
    forces, rows = [], []
    for i, (length, force) in enumerate(zip(lengths, push, strict=True)):
        # Pairs of joints at 0, 120, 240 degrees on the base, halfway between on the plate; a leg joins neighbours.
        third, side = sp.Rational(2, 3) * sp.pi * (i // 2), 1 if i % 2 else -1
        low, high = third + side * gap, third + side * (sp.pi / 3 - gap)
        a = ground.point(R_b * sp.cos(low), R_b * sp.sin(low))
        b = place + R_p * sp.cos(high) * plate.x + R_p * sp.sin(high) * plate.y
        line = (b - a) / length
        bodies += thin_rod(f"cylinder {i + 1}", m_c, a, a + L_c * line)
        bodies += thin_rod(f"piston {i + 1}", m_r, b - L_r * line, b)
        forces += [
            Generalized({length: force}, f"actuator {i + 1}"),
            Generalized({length: -c * length.rate}, f"friction {i + 1}"),
        ]
        reach = ground.components(b - a)
        rows.append(Holonomic(sum(e**2 for e in reach) - length**2, f"leg {i + 1}"))
    return Model(
        ground,
        (x, y, z, yaw, pitch, roll, *lengths),
        bodies,
        [Gravity(-g * ground.z), *forces],
        rows,
        name="Stewart platform",
        description="six legs of variable length carry a plate in all six degrees of freedom",
        values={
            R_b: 0.6, R_p: 0.4, gap: pi / 12, L_c: 0.5, L_r: 0.5, m_p: 20.0, I_x: 0.9, I_z: 1.7, m_c: 3.0, m_r: 1.5,
            c: 100.0, g: 9.81, **dict.fromkeys(push, 50.84182835653068),
        },
        start={
            x: 0.05, y: 0.0, z: 0.9, yaw: 0.1, pitch: 0.0, roll: 0.0,
            **{length: _length(0.05, 0.9, 0.1, i) for i, length in enumerate(lengths)},
        },
        until=1.0,
    )  # fmt: skip


def _length(x: float, z: float, yaw: float, leg: int) -> float:
    """Length of a leg in a level pose, with the suggested dimensions."""
    third, side = 2 * pi / 3 * (leg // 2), 1 if leg % 2 else -1
    low, high = third + side * pi / 12, third + side * pi / 4 + yaw
    return hypot(x + 0.4 * cos(high) - 0.6 * cos(low), 0.4 * sin(high) - 0.6 * sin(low), z)
