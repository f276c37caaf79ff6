"""Chaplygin's sleigh."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def chaplygin_sleigh() -> Model:
    r"""A rigid body on a horizontal plane, carried by a knife edge and two smooth points.

    With u the speed along the blade and omega the turning rate,
    $$ \dot u = a\omega^2, \qquad (I + ma^2)\,\dot\omega = -m a u\omega. $$
    Energy is conserved, and yet the motion has an attractor: whatever the start, the sleigh ends on a straight line
    with the mass centre in front of the blade, $u \to \sqrt{2E/m}$ and $\omega \to 0$. Phase volume is not
    preserved, which no Hamiltonian system can do. Running backwards is the unstable mirror image.

    Parameters of the model: m, mass; I, moment of inertia about the mass centre; a, distance of the mass centre in
    front of the contact.
    Coordinates: x, y of the contact (not of the mass centre), theta the heading.

    Reference: Chaplygin 1911; Neimark and Fufaev 1972, chapter II; Bloch 2015, section 1.7.
    """
    x, y = coordinates("x y", "m", "contact of the knife edge")
    theta = coordinates("theta", "rad", "heading")
    m, inertia, a = parameters(
        "m I a",
        "kg kg*m^2 m",
        "mass; moment of inertia about the mass centre; mass centre in front of the contact",
    )

    ground = Frame("ground")
    blade = ground.rotate("z", theta, "sleigh")
    contact = ground.point(x, y)
    sleigh = RigidBody("sleigh", m, contact + a * blade.x, blade, (0, 0, inertia))
    return Model(
        ground,
        (x, y, theta),
        [sleigh],
        constraints=[Rolling(sleigh, contact, along=[blade.y], name="edge")],
        name="Chaplygin sleigh",
        description="a body on a knife edge with its mass centre ahead of the contact",
        values={m: 1.0, inertia: 0.1, a: 0.1},
        start={x: 0.0, y: 0.0, theta: 0.0, x.rate: 1.0, y.rate: 0.0, theta.rate: 1.0},
        until=10.0,
    )
