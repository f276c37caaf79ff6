"""A four-bar linkage under gravity."""

from __future__ import annotations

from math import radians

from appell.model.body import Particle
from appell.model.constraint import Holonomic
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def four_bar() -> Model:
    """A four-bar linkage of massless bars with point masses at its two moving joints, swinging under gravity.

    Three relative angles, one closed loop (two rows), one degree of freedom. Equations that only differentiate the
    loop lose it slowly: the drift of the loop over 30 s is the usual test for stabilisation. The last
    bar carries no mass, so the mass matrix without the loop is singular; on the constraints it is regular.
    For one q1 there are two assemblies; the start decides which.

    Parameters of the model: la, lb, lc, lengths of the moving bars; ln, distance of the fixed joints; m, mass at P2
    and at P3; g. Gravity along -y.
    Coordinates: q1 of the first bar from the x axis, q2 and q3 each from the bar before.

    Reference: Moore, Learn Multibody Dynamics, chapter Equations of Motion with Holonomic Constraints.
    """
    q1, q2, q3 = coordinates("q1 q2 q3", "rad", "angle of a bar from the one before")
    la, lb, lc, ln = parameters(
        "la lb lc ln",
        "m",
        "length of the first bar; length of the second bar; length of the third bar; distance of the fixed joints",
    )
    m, g = parameters("m g", "kg m/s^2", "mass at each moving joint; acceleration of gravity, along -y")

    ground = Frame("ground")
    A = ground.rotate("z", q1, "first bar")
    B = A.rotate("z", q2, "coupler")
    C = B.rotate("z", q3, "last bar")
    P2 = la * A.x
    P3 = P2 + lb * B.x
    P4 = P3 + lc * C.x
    return Model(
        ground,
        (q1, q2, q3),
        [Particle("P2", m, P2), Particle("P3", m, P3)],
        [Gravity(-g * ground.y)],
        [Holonomic(P4 - ground.point(ln, 0), "loop")],
        name="four-bar linkage",
        description="a closed chain of three moving bars with point masses at the joints",
        values={la: 0.8, lb: 2.0, lc: 1.0, ln: 2.0, m: 1.0, g: 9.81},
        start={q1: radians(10), q2: 0.11476003679030358, q3: -2.6421428398768207},
        until=10.0,
    )
