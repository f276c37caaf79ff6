"""A raindrop that grows while it falls."""

from __future__ import annotations

import sympy as sp

from appell.errors import ModelError
from appell.model.body import Particle
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, t


def raindrop(law: str = "steady") -> Model:
    r"""A drop that falls through a cloud and takes up droplets that are at rest; without air resistance.

    What is taken up comes with the velocity -v relative to the drop, so that here (m v)' = m g holds.
    A drop that grows by a constant rate mu, m = m_0 + mu t, tends to the acceleration g/2,
    $$ v = \frac{m_0 v_0 + g(m_0 t + \mu t^2/2)}{m} . $$
    A sphere that sweeps up the cloud in its way has the radius r = r_0 + cloud s/(4 water) after falling by s, a mass
    that depends on the position, and
    $$ v^2 = \frac{8g}{7}\,\frac{\mathrm{water}}{\mathrm{cloud}}\;r + \frac{C}{r^6} : $$
    whatever the start it tends to the acceleration g/7. Of the work of the weight 4/7 then stays as kinetic energy, the
    rest is lost in bringing the droplets up to speed.

    Parameters of the model: g; m_0, mu for the steady law; r_0, radius at s = 0, and water, cloud, mass per volume of
    water and of droplets in the cloud, for the swept law.
    Coordinates: s, how far it has fallen.

    Args:
        law: `"steady"`, m = m_0 + mu t; or `"swept"`, a sphere that takes up what is in its way.

    Reference: a problem of the textbooks since the nineteenth century; Krane 1981, Am. J. Phys. 49, 113, for g/7.
    """
    s = coordinates("s", "m", "distance fallen")
    g = parameters("g", "m/s^2", "acceleration of gravity")
    if law == "steady":
        m_0, mu = parameters("m_0 mu", "kg kg/s", "mass at the start; mass gathered per second")
        mass, values = m_0 + mu * t, {m_0: 1.0, mu: 0.4}
        start, until = {s: 0.0, s.rate: 2.0}, 10.0
    elif law == "swept":
        r_0, water, cloud = parameters(
            "r_0 water cloud",
            "m kg/m^3 kg/m^3",
            "radius at the start; density of water; mass of droplets per volume of cloud",
        )
        mass = sp.Rational(4, 3) * sp.pi * water * (r_0 + cloud * s / (4 * water)) ** 3
        values = {r_0: 1e-5, water: 1000.0, cloud: 0.001}
        start, until = {s: 0.0, s.rate: 1.0}, 60.0
    else:
        raise ModelError(f"Got law={law!r}; use 'steady' or 'swept'.")

    ground = Frame("ground")
    drop = Particle("drop", mass, ground.point(0, 0, -s))
    return Model(
        ground,
        s,
        [drop],
        [Gravity(-g * ground.z), Stream(drop, 0 * ground.z, absolute=True, name="droplets")],
        name="raindrop",
        description="a drop that falls and takes up droplets at rest",
        values={g: 9.81, **values},
        start=start,
        until=until,
    )
