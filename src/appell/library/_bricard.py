"""Bricard's mechanism."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def bricard() -> Model:
    """Bricard's 6R loop: six hinges, five moving rods along edges of a cube, threefold symmetric.

    Counting freedoms (Gruebler) gives none: five angles, and the sixth hinge closes the loop by five rows, three for
    its place and two for the direction of its axis. Yet the loop moves with one degree of freedom, because for this
    geometry (equal lengths, neighbouring axes at right angles) one of the five rows follows from the others at
    every configuration. Which one is seen from numbers, not from the formulas: only the first row of the axis can be
    left out everywhere, each of the others is needed somewhere. Single reactions in such a loop are indeterminate.
    The configurations form one smooth closed curve with q1 = q3 = q5 and q2 = q4 (Arponen et al. 2007). The rows also
    hold with the axis of the last hinge reversed: those are other assemblies, which the motion never reaches.

    Parameters of the model: m, mass of a rod; l, its length; w, side of its square cross section; g, along -y.
    Coordinates: q1 ... q5, angles of the hinges about y, z, x, y, z; all zero when the rods lie along the cube.

    Reference: Bricard 1897; problem A04 of the IFToMM library of multibody benchmarks (Gonzalez et al. 2006).
    """
    q = coordinates("q1 q2 q3 q4 q5", "rad", "angle of a hinge")
    m, l, w, g = parameters(
        "m l w g",
        "kg m m m/s^2",
        "mass of a rod; length of a rod; side of its square cross section; acceleration of gravity, along -y",
    )

    ground = Frame("ground")
    along, across = m * w**2 / 6, m * (l**2 + w**2) / 12
    frame, end, rods = ground, ground.point(0, 0, 0), []
    for i, (angle, axis, direction) in enumerate(zip(q, "yzxyz", ("x", "-y", "z", "-x", "y"), strict=True), 1):
        frame = frame.rotate(axis, angle, f"rod {i}")
        step = getattr(frame, direction[-1]) * (-1 if direction.startswith("-") else 1)
        inertia = [along if letter == direction[-1] else across for letter in "xyz"]
        rods.append(RigidBody(f"rod {i}", m, end + l / 2 * step, frame, inertia))
        end = end + l * step
    return Model(
        ground,
        q,
        rods,
        [Gravity(-g * ground.y)],
        [
            Holonomic(end - ground.point(0, 0, l), "place of hinge 6"),
            Holonomic([frame.x.dot(ground.y), frame.x.dot(ground.z)], "axis of hinge 6"),
        ],
        name="Bricard mechanism",
        description="a closed loop of six hinges that moves although its freedoms count to none",
        values={m: 1.0, l: 1.0, w: 0.1, g: 9.81},
        start=dict.fromkeys(q, 0.0),
        until=10.0,
    )
