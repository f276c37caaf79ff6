"""The Puma 560."""

from __future__ import annotations

from sympy import pi

from appell.model.chain import Chain
from appell.model.joint import Joint
from appell.model.symbols import coordinates, parameters

ROWS = (
    (0, 0, 0, 0),
    (0, 0.2435, 0, -pi / 2),
    (0, -0.0934, 0.4318, 0),
    (0, 0.4331, -0.0203, pi / 2),
    (0, 0, 0, -pi / 2),
    (0, 0, 0, pi / 2),
)
"""theta, d, a, alpha in the modified convention."""
MASSES = (0, 17.4, 4.8, 0.82, 0.34, 0.09)
CENTERS = ((0, 0, 0), (0.068, 0.006, -0.016), (0, -0.070, 0.014), (0, 0, -0.019), (0, 0, 0), (0, 0, 0.032))
MOMENTS = (
    (0, 0, 0.35),
    (0.130, 0.524, 0.539),
    (0.066, 0.0125, 0.066),
    (1.8e-3, 1.8e-3, 1.3e-3),
    (0.3e-3, 0.3e-3, 0.4e-3),
    (0.15e-3, 0.15e-3, 0.04e-3),
)


def six_axis_arm() -> Chain:
    """The Puma 560: six hinges, a spherical wrist, measured masses and moments.

    Lengths, masses, centres and moments are those of Armstrong, Khatib and Burdick, who took an arm apart and weighed
    and swung its links, in their modified Denavit-Hartenberg frames. Of the first link only the moment about the
    vertical is known, and only that matters. The inertia of the motors, which the gears multiply, is not in the
    links and is left out here.

    Parameters of the model: g, along -z. All else are numbers.
    Coordinates: q1 ... q6, angles of the hinges; at zero the upper arm is level and the forearm upright.

    Reference: Armstrong, Khatib and Burdick 1986, tables I to VI.
    """
    q = coordinates("q1:7")
    g = parameters("g", "m/s^2", "acceleration of gravity, along -z")
    names = ("trunk", "upper arm", "forearm", "wrist roll", "wrist pitch", "flange")
    joints = [
        Joint(mass=m, center=c, inertia=i, link=name)
        for m, c, i, name in zip(MASSES, CENTERS, MOMENTS, names, strict=True)
    ]
    return Chain.from_dh(
        ROWS,
        joints,
        "modified",
        gravity=(0, 0, -g),
        name="six-axis arm",
        description="the Puma 560 with the measured data of Armstrong, Khatib and Burdick",
        values={g: 9.81},
        start=dict(zip(q, (0.3, -0.8, 0.5, 0.4, 0.6, 0.0), strict=True)),
        until=1.0,
    )
