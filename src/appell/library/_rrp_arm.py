"""The spatial arm with two hinges and a slide."""

from __future__ import annotations

from appell.model.chain import Chain
from appell.model.joint import Joint
from appell.model.symbols import coordinates, parameters


def rrp_arm() -> Chain:
    """A spatial arm: a hinge about the vertical, a hinge about y, and a slide along x, all with full inertia tensors.

    Small enough for formulas, general enough to show every error in them: mass centres off the axes, products of
    inertia, joints of both kinds. It is the arm of the tables of reference numbers of the higher-order pages.

    Parameters of the model: g, along -z. Masses, centres and inertia are numbers.
    Coordinates: q1 about z through the origin; q2 about y through (0.1, 0, 0.4); q3 along x.

    Reference: Negrean et al. 2025; numbers of the reference set of the higher-order pages.
    """
    q1, q2, q3 = coordinates("q1 q2 q3")
    g = parameters("g", "m/s^2", "acceleration of gravity, along -z")
    return Chain(
        [
            Joint(
                "z",
                at=(0, 0, 0),
                mass=5,
                center=(0.02, -0.01, 0.2),
                inertia=(0.06, 0.07, 0.03, 0.001, 0.003, -0.002),
                link="column",
            ),
            Joint(
                "y",
                at=(0.1, 0, 0.4),
                mass=3,
                center=(0.1, 0.02, 0.03),
                inertia=(0.02, 0.035, 0.04, -0.0015, 0.0005, 0.001),
                link="boom",
            ),
            Joint(
                "x",
                at=(0.1, 0.05, 0.4),
                kind="prismatic",
                mass=1.5,
                center=(0.15, 0, 0.01),
                inertia=(0.002, 0.011, 0.012, 0.0002, 0.0001, -0.0003),
                link="slide",
            ),
        ],
        gravity=(0, 0, -g),
        tool=(0.25, 0, -0.05),
        name="RRP arm",
        description="a spatial arm with two hinges and a slide",
        values={g: 9.81},
        start={q1: 0.4, q2: -0.6, q3: 0.35, q1.rate: -0.9, q2.rate: 0.8, q3.rate: 0.5},
        until=2.0,
    )
