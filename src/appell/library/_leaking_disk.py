"""A rolling disk that loses water from its rim."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.mass_flow import drained
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, states


def leaking_disk() -> Model:
    r"""A thin disk with a tube of water round its rim, rolling without slipping, while the water seeps out.

    What seeps out all round leaves with the velocity of the rim and pushes nothing, so there is no stream; only mass
    and inertia change. Straight upright rolling at the speed v is stable for
    $$ v^2 > \frac{A M g r^3}{C(C + M r^2)}, \qquad M = m + w, \quad A = (m/4 + w/2)\,r^2, \quad C = 2A : $$
    gr/4 for a hoop, gr/3 for a disk. At the suggested speed the full disk rolls stably; as the water goes it becomes
    a bare disk, which at this speed falls over, although nothing has pushed it.

    Parameters of the model: m, mass of the disk (thin, uniform); r, radius; mu, water lost per second while there is
    some; g.
    Coordinates: yaw, heading; lean, zero when upright; spin, rotation about the axle; x, y of the contact.
    Extra state: water in the tube.

    Reference: Appell 1900 and Neimark and Fufaev 1972, chapter II, for the disk of constant mass.
    """
    yaw, lean, spin = coordinates("yaw lean spin", "rad", "heading; lean, zero when upright; rotation about the axle")
    x, y = coordinates("x y", "m", "contact")
    m, r, mu, g = parameters(
        "m r mu g",
        "kg m kg/s m/s^2",
        "mass of the disk; radius; water lost per second; acceleration of gravity",
    )
    water = states("water", "kg", "water in the tube")

    ground = Frame("ground")
    plane = ground.rotate("z", yaw, "heading").rotate("x", lean, "plane")
    wheel = plane.rotate("y", spin, "wheel")
    contact = ground.point(x, y)
    across = (m / 4 + water / 2) * r**2
    disk = RigidBody("disk", m + water, contact + r * plane.z, wheel, (across, 2 * across, across))
    speed, radius = 0.88, 0.26
    return Model(
        ground,
        (yaw, lean, spin, x, y),
        [disk],
        [Gravity(-g * ground.z)],
        [Rolling(disk, contact)],
        {water: -drained(mu, water)},
        name="leaking disk",
        description="a rolling disk that loses the water in its rim and with it its stability",
        values={m: 1.0, r: radius, mu: 0.6, g: 9.81},
        start={
            yaw: 0.0, lean: 0.0, spin: 0.0, x: 0.0, y: 0.0, water: 3.0,
            yaw.rate: 0.0, lean.rate: 1e-3, spin.rate: speed / radius, x.rate: speed, y.rate: 0.0,
        },
        until=8.0,
    )  # fmt: skip
