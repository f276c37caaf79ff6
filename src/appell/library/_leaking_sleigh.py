"""Chaplygin's sleigh with a leaking tank."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.frame import Frame
from appell.model.mass_flow import Stream, drained
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, states


def leaking_sleigh() -> Model:
    r"""Chaplygin's sleigh with a tank of water that runs out through a nozzle at its back.

    With u the speed along the blade, omega the turning rate and w the water in the tank,
    $$ (m + w)\dot u = (ma + wb)\,\omega^2 + \mu c, \qquad
       (I + ma^2 + wb^2)\,\dot\omega = -(ma + wb)\,u\omega - \mu(e^2 - b^2)\,\omega . $$
    The mass centre moves as the tank empties; there are no terms with the velocity of that shift, because what is
    solid does not move with it. The last term comes from the Coriolis force of the water in the pipe from tank to
    nozzle, jet damping, and would drive the turning if the nozzle were nearer to the contact than the tank. When the
    tank is dry this is Chaplygin's sleigh.

    Parameters of the model: m, I, mass and central moment of inertia of the sleigh without water; a, its mass centre
    in front of the contact; b, the tank in front of the contact; e, the nozzle behind the contact; mu, water lost per
    second while there is some; c, its speed relative to the sleigh, straight back.
    Coordinates: x, y of the contact, theta the heading. Extra state: water in the tank.

    Reference: Chaplygin 1911 for the sleigh; the flow inside as a control volume, for example Eke and Mao 2002.
    """
    x, y = coordinates("x y", "m", "contact of the knife edge")
    theta = coordinates("theta", "rad", "heading")
    m, inertia = parameters("m I", "kg kg*m^2", "mass without water; moment of inertia without water")
    a, b, e = parameters(
        "a b e",
        "m",
        "mass centre in front of the contact; tank in front of the contact; nozzle behind the contact",
    )
    mu, c = parameters("mu c", "kg/s m/s", "water lost per second; speed of the jet, straight back")
    water = states("water", "kg", "water in the tank")

    ground = Frame("ground")
    blade = ground.rotate("z", theta, "sleigh")
    contact = ground.point(x, y)
    sleigh = RigidBody("sleigh", m, contact + a * blade.x, blade, (0, 0, inertia))
    tank = RigidBody("tank", water, contact + b * blade.x, blade)
    lost = drained(mu, water)
    return Model(
        ground,
        (x, y, theta),
        [sleigh, tank],
        [Stream(tank, -c * blade.x, rate=-lost, at=contact - e * blade.x, source=tank.center, name="jet")],
        [Rolling(sleigh, contact, along=[blade.y], name="edge")],
        {water: -lost},
        name="leaking sleigh",
        description="Chaplygin's sleigh with a tank that runs out through a nozzle",
        values={m: 1.0, inertia: 0.1, a: 0.1, b: 0.25, e: 0.4, mu: 0.1, c: 0.8},
        start={x: 0.0, y: 0.0, theta: 0.0, x.rate: 1.0, y.rate: 0.0, theta.rate: 1.0, water: 0.5},
        until=10.0,
    )
