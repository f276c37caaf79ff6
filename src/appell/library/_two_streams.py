"""A boat with a water jet: one stream in, one stream out."""

from __future__ import annotations

from appell.model.body import Particle
from appell.model.force import Force
from appell.model.frame import Frame
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def two_streams() -> Model:
    r"""A boat that takes in water at rest and pumps it out astern: constant mass, and yet a thrust.

    Two streams at equal and opposite rates add up to dm/dt = 0, but not their thrusts: one comes in with the relative
    velocity -v, the other leaves with -c,
    $$ m\dot v = \mu(c - v) - kv, \qquad v = v_e\bigl(1 - e^{-(\mu+k)t/m}\bigr), \quad v_e = \frac{\mu c}{\mu + k}, $$
    so that without resistance the boat tends to the speed of its own jet. A rule that takes the thrust as dm/dt times
    one relative velocity has none here. The same holds for a jet engine, apart from its fuel.

    Parameters of the model: m, mass; mu, water pumped per second; c, speed of the jet relative to the boat; k,
    resistance.
    Coordinates: x, place of the boat.

    Reference: Meshchersky 1904, for mass that joins and leaves at once.
    """
    x = coordinates("x", "m", "place of the boat")
    m, mu, c, k = parameters(
        "m mu c k",
        "kg kg/s m/s kg/s",
        "mass of the boat; water pumped per second; speed of the jet; resistance",
    )

    ground = Frame("ground")
    boat = Particle("boat", m, ground.point(x, 0))
    return Model(
        ground,
        x,
        [boat],
        [
            Stream(boat, 0 * ground.x, rate=mu, absolute=True, name="intake"),
            Stream(boat, -c * ground.x, rate=-mu, name="jet"),
            Force(-k * x.rate * ground.x, boat, name="resistance"),
        ],
        name="two streams",
        description="a boat driven by a water jet: its mass is constant, its thrust is not zero",
        values={m: 500.0, mu: 40.0, c: 12.0, k: 10.0},
        start={x: 0.0, x.rate: 0.0},
        until=30.0,
    )
