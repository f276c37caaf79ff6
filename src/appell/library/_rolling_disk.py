"""A thin disk that rolls on a horizontal plane."""

from __future__ import annotations

from math import cos, sin, tan

import sympy as sp

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def rolling_disk() -> Model:
    r"""A thin uniform disk (a coin, a hoop with spokes) rolling without slipping on a horizontal plane.

    Five coordinates, two rolling rows, three degrees of freedom. Straight upright rolling is stable for
    $v^2 > gr/3$; slower than that the disk falls into a circle. Energy is conserved and two more integrals exist in
    hypergeometric functions of the lean (Appell, Korteweg 1900), so the motion is integrable.
    The best quasi-velocities are the components of the angular velocity in `plane`, the frame that leans and yaws
    with the disk but does not spin: the spin angle then never enters the equations.

    Parameters of the model: m, mass; r, radius; g.
    Coordinates: yaw, heading; lean, zero when upright; spin, rotation about the axle; x, y of the contact.
    Frames: ground, turned by yaw about z and lean about x (the plane of the disk), then by spin about y.

    Reference: Appell 1900; Korteweg 1900; Neimark and Fufaev 1972, chapter II. The suggested numbers are those of
        SymPy's test of Kane's method, `test_kane5.py`.
    """
    yaw, lean, spin = coordinates("yaw lean spin", "rad", "heading; lean, zero when upright; rotation about the axle")
    x, y = coordinates("x y", "m", "contact")
    m, r, g = parameters("m r g", "kg m m/s^2", "mass; radius; acceleration of gravity")

    ground = Frame("ground")
    plane = ground.rotate("z", yaw, "heading").rotate("x", lean, "plane")
    wheel = plane.rotate("y", spin, "wheel")
    contact = ground.point(x, y)
    across, axial = (sp.Mul(sp.Rational(1, k), m, r**2) for k in (4, 2))
    disk = RigidBody("disk", m, contact + r * plane.z, wheel, (across, axial, across))
    yaw_rate, spin_rate = 0.15 / cos(0.1), 10.0 - 0.15 * tan(0.1)  # angular velocity (-0.2, 10, 0.15) in disk axes
    return Model(
        ground,
        (yaw, lean, spin, x, y),
        [disk],
        [Gravity(-g * ground.z)],
        [Rolling(disk, contact)],
        name="rolling disk",
        description="a thin uniform disk rolling without slipping on a horizontal plane",
        values={m: 3.43, r: 0.26, g: 9.81},
        start={
            yaw: 0.3, lean: 0.1, spin: 0.0, x: 0.0, y: 0.0,
            yaw.rate: yaw_rate, lean.rate: -0.2, spin.rate: spin_rate,
            x.rate: 0.26 * spin_rate * cos(0.3), y.rate: 0.26 * spin_rate * sin(0.3),
        },
        until=10.0,
    )  # fmt: skip
