"""A SCARA robot."""

from __future__ import annotations

from appell.model import shapes
from appell.model.chain import Chain
from appell.model.joint import Joint
from appell.model.symbols import coordinates, parameters


def scara() -> Chain:
    """A SCARA: two upright hinges, a slide and a turn about the vertical, with the lengths of the Adept Cobra 600.

    The maker's data sheet gives lengths and travel. Masses are not published: the links here are uniform shapes of
    plausible size, aluminium arms with a steel quill, and their inertias follow from the shapes.

    Parameters of the model: g, along -z. All else are numbers.
    Coordinates: q1, q2, angles of the arms; q3, depth of the quill, downwards; q4, its turn.

    Reference: data sheet of the Adept Cobra 600 as given in Corke's Robotics Toolbox (lengths 0.387, 0.325, 0.275 m).
    """
    q1, q2, q3, q4 = coordinates("q1 q2 q3 q4")
    g = parameters("g", "m/s^2", "acceleration of gravity, along -z")
    outer = shapes.Box(0.325, 0.12, 0.10, density=2700).at(0.1625, 0, 0) - shapes.Box(0.26, 0.09, 0.07).at(0.1625, 0, 0)
    inner = shapes.Box(0.275, 0.10, 0.12, density=2700).at(0.1375, 0, 0) - shapes.Box(0.22, 0.07, 0.09).at(0.1375, 0, 0)
    quill = shapes.Tube(0.012, 0.008, 0.30, density=7800).at(0, 0, -0.05)
    flange = shapes.Cylinder(0.025, 0.02, density=7800).at(0, 0, 0.01)
    return Chain(
        [
            Joint("z", at=(0, 0, 0.387), shape=outer, limits=(-1.833, 1.833), link="first arm"),
            Joint("z", at=(0.325, 0, 0.387), shape=inner, limits=(-2.443, 2.443), link="second arm"),
            Joint(
                "-z",
                at=(0.6, 0, 0.387),
                kind="prismatic",
                frame=[[1, 0, 0, 0.6], [0, -1, 0, 0], [0, 0, -1, 0.387], [0, 0, 0, 1]],
                shape=quill,
                limits=(0.0, 0.210),
                link="quill",
            ),
            Joint(
                "-z",
                at=(0.6, 0, 0.287),
                frame=[[1, 0, 0, 0.6], [0, -1, 0, 0], [0, 0, -1, 0.287], [0, 0, 0, 1]],
                shape=flange,
                link="flange",
            ),
        ],
        gravity=(0, 0, -g),
        tool=(0, 0, 0.02),
        name="SCARA",
        description="two upright hinges, a slide and a turn: lengths of the Adept Cobra 600, inertias from shapes",
        values={g: 9.81},
        start={q1: 0.3, q2: 0.6, q3: 0.05, q4: 0.0, q1.rate: 1.0, q2.rate: -2.0, q4.rate: 3.0},
        until=0.15,
    )
