"""The reduced Appell-Hamel problem."""

from __future__ import annotations

from appell.model.body import Particle
from appell.model.constraint import Nonholonomic
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def appell_hamel() -> Model:
    r"""A particle under gravity with the nonlinear constraint x'^2 + y'^2 = c^2 z'^2 on its velocity.

    The first example of a constraint nonlinear in the velocities. Under Chetaev's rule (virtual displacements
    orthogonal to the gradient by velocities) the track is a straight line of slope 1/c and
    $$ \ddot z = -\frac{g}{1 + c^2}, $$
    as on a rough ramp without friction. At z' = 0 the constraint is singular: all of its gradient vanishes and the
    motion has no unique continuation. A run ends there and says so; the suggested one ends before the top. Appell
    obtained the constraint as the limit of a wheel with a weight on a thread; that limit is disputed (Hamel 1949;
    Neimark and Fufaev 1972, chapter IV), the equations for the constraint as given are not.

    Parameters of the model: m, mass (it cancels); c, ratio of horizontal to vertical speed; g, along -z.

    Reference: Appell 1911; Hamel 1949; Neimark and Fufaev 1972.
    """
    x, y, z = coordinates("x y z", "m", "place; place; height")
    m, c, g = parameters(
        "m c g",
        "kg 1 m/s^2",
        "mass, which cancels; ratio of horizontal to vertical speed; acceleration of gravity, along -z",
    )

    ground = Frame("ground")
    return Model(
        ground,
        (x, y, z),
        [Particle("particle", m, ground.point(x, y, z))],
        [Gravity(-g * ground.z)],
        [Nonholonomic(x.rate**2 + y.rate**2 - c**2 * z.rate**2, "slope")],
        name="Appell-Hamel particle",
        description="a particle whose horizontal speed is c times its vertical one",
        values={m: 1.0, c: 1.5, g: 9.81},
        start={x: 0.0, y: 0.0, z: 0.0, x.rate: 4.5, y.rate: 0.0, z.rate: 3.0},
        until=0.8,
    )
