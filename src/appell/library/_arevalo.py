"""Arevalo's particle on a circle."""

from __future__ import annotations

from appell.model.body import Particle
from appell.model.constraint import Holonomic
from appell.model.force import Force
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def arevalo() -> Model:
    r"""A particle on a circle, driven along it by a force of constant size: an index-3 test with a known solution.

    From rest at (0, r), with m = r = 1 and f = 2,
    $$ x = \sin t^2, \quad y = \cos t^2, \quad \lambda = -4t^2, $$
    with the constraint written as (x^2 + y^2 - r^2)/2. The particle goes round faster and faster, so an error of
    the integrator shows as a growing lag, and the dependent coordinate changes four times a turn.
    The force f (y, -x) is circulatory: it has no potential, and energy grows steadily.

    Parameters of the model: m, mass; r, radius; f, size of the force per metre.

    Reference: Arevalo, as used in the benchmark set of solve_dae.
    """
    x, y = coordinates("x y", "m", "position")
    m, r, f = parameters("m r f", "kg m N/m", "mass; radius; size of the force per metre")

    ground = Frame("ground")
    particle = Particle("particle", m, ground.point(x, y))
    return Model(
        ground,
        (x, y),
        [particle],
        [Force(f * (y * ground.x - x * ground.y), particle, name="drive")],
        [Holonomic((x**2 + y**2 - r**2) / 2, "circle")],
        name="Arevalo's particle",
        description="a particle on a circle under a force along it",
        values={m: 1.0, r: 1.0, f: 2.0},
        start={x: 0.0, y: 1.0, x.rate: 0.0, y.rate: 0.0},
        until=5.0,
    )
