"""A chain that is hauled up from a heap."""

from __future__ import annotations

import sympy as sp

from appell.model.body import Particle
from appell.model.force import Force, Gravity
from appell.model.frame import Frame
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def hauled_chain() -> Model:
    r"""A chain whose upper end is hauled up from a heap on the floor by a constant force.

    The hanging part has the mass rho x and one velocity. On the way up links join it from rest, by impacts; on the
    way down links are laid on the heap with the velocity of the chain and pull nothing:
    $$ \rho x\ddot x = F - \rho g x - \rho\dot x\,\max(\dot x, 0). $$
    On the way up $(x\dot x)^2 = F x^2/\rho - \tfrac23 g x^3 + C$: lifted from the floor (C = 0) the end starts at the
    speed $\sqrt{F/\rho}$ and rises to 3/2 of the height F/(rho g) at which it could rest. Both ways
    $\tfrac12\rho|\dot x|^3$ is lost per second, to the impacts of links that join or to links that hit the floor, so
    the swings die down without any friction. At x = 0 nothing is left to move, and the equation is singular.

    Parameters of the model: rho, mass per length; F, force on the upper end; g.
    Coordinates: x, height of the upper end, and the length that hangs.

    Reference: Cayley 1857, Proc. R. Soc. 8, 506, for continual impacts of chains; Meshchersky 1897.
    """
    x = coordinates("x", "m", "height of the upper end")
    rho, F, g = parameters(
        "rho F g",
        "kg/m N m/s^2",
        "mass per length; force on the upper end; acceleration of gravity",
    )

    ground = Frame("ground")
    hanging = Particle("hanging part", rho * x, ground.point(0, 0, x))
    joining = sp.Piecewise((-x.rate, x.rate > 0), (0, True))
    return Model(
        ground,
        x,
        [hanging],
        [
            Gravity(-g * ground.z),
            Force(F * ground.z, hanging, name="haul"),
            Stream(hanging, joining * ground.z, rate=rho * x.rate, name="links"),
        ],
        name="hauled chain",
        description="a chain hauled up from a heap by a constant force",
        values={rho: 2.0, F: 40.0, g: 9.81},
        start={x: 1.5, x.rate: 2.0},
        until=10.0,
    )
