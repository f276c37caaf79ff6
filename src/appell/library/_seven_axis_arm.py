"""The Franka Emika Panda."""

from __future__ import annotations

import sympy as sp
from sympy import pi

from appell.model.chain import Chain
from appell.model.joint import Joint
from appell.model.symbols import coordinates, parameters

ROWS = (
    (0, 0.333, 0, 0),
    (0, 0, 0, -pi / 2),
    (0, 0.316, 0, pi / 2),
    (0, 0, 0.0825, pi / 2),
    (0, 0.384, -0.0825, -pi / 2),
    (0, 0, 0, pi / 2),
    (0, 0, 0.088, pi / 2),
)
"""theta, d, a, alpha in the modified convention."""
LINKS = (
    (4.970684, (3.875e-3, 2.081e-3, -0.1750), (0.70337, 0.70661, 9.1170e-3, -1.3900e-4, 1.9169e-2, 6.7720e-3)),
    (0.646926, (-3.141e-3, -2.872e-2, 3.495e-3), (7.9620e-3, 2.8110e-2, 2.5995e-2, -3.925e-3, 7.04e-4, 1.0254e-2)),
    (3.228604, (2.7518e-2, 3.9252e-2, -6.6502e-2), (3.7242e-2, 3.6155e-2, 1.083e-2, -4.761e-3, -1.2805e-2, -1.1396e-2)),
    (3.587895, (-5.317e-2, 0.104419, 2.7454e-2), (2.5853e-2, 1.9552e-2, 2.8323e-2, 7.796e-3, 8.641e-3, -1.332e-3)),
    (1.225946, (-1.1953e-2, 4.1065e-2, -3.8437e-2), (3.5549e-2, 2.9474e-2, 8.627e-3, -2.117e-3, 2.29e-4, -4.037e-3)),
    (1.666555, (6.0149e-2, -1.4117e-2, -1.0517e-2), (1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, 3.41e-4, -1.158e-3)),
    (0.735522, (1.0517e-2, -4.252e-3, 6.1597e-2), (1.2516e-2, 1.0027e-2, 4.815e-3, -4.28e-4, -7.41e-4, -1.196e-3)),
)
"""Of each link: mass, centre, and Ixx, Iyy, Izz, Ixy, Iyz, Izx about the centre."""
LIMITS = (
    (-2.8973, 2.8973),
    (-1.7628, 1.7628),
    (-2.8973, 2.8973),
    (-3.0718, -0.0698),
    (-2.8973, 2.8973),
    (-0.0175, 3.7525),
    (-2.8973, 2.8973),
)
EFFORTS = (87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0)


def seven_axis_arm() -> Chain:
    """The Franka Emika Panda: seven hinges, identified masses and inertias.

    The maker does not publish inertias. These were identified from measured torques under the condition that bodies
    with such inertias can exist; they reproduce the torques well, but a single number need not be that of the true
    link. Drives and gears are not in them.

    Parameters of the model: g, along -z. All else are numbers.
    Coordinates: q1 ... q7, angles of the hinges; at zero the arm stands upright.

    Reference: Gaz et al. 2019; limits of the maker's data sheet.
    """
    q = coordinates("q1:8")
    g = parameters("g", "m/s^2", "acceleration of gravity, along -z")
    joints = [
        Joint(mass=m, center=c, inertia=i, limits=limits, effort=effort)
        for (m, c, i), limits, effort in zip(LINKS, LIMITS, EFFORTS, strict=True)
    ]
    tool = sp.eye(4)
    tool[2, 3] = sp.Float(0.107)
    return Chain.from_dh(
        ROWS,
        joints,
        "modified",
        gravity=(0, 0, -g),
        tool=tool,
        name="seven-axis arm",
        description="the Franka Emika Panda with identified inertias",
        values={g: 9.81},
        start=dict(zip(q, (0.0, -0.4, 0.2, -2.0, 0.1, 1.8, 0.5), strict=True)),
        until=1.0,
    )
