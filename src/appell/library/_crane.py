"""An overhead crane whose load follows a programmed path."""

from __future__ import annotations

from sympy import Integer, cos, pi, sin

from appell.model.body import Particle
from appell.model.force import Generalized, Gravity
from appell.model.frame import Frame
from appell.model.look import Look
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, states, t
from appell.model.task import follow


def crane(servo: bool = False) -> Model:
    r"""A trolley, a rope of changing length and a load that is guided along a programmed path.

    The load shall move from (0, -4) by `reach` sideways and `rise` upwards in the time T, as (1 - cos(pi t/T))/2, while
    the trolley is drawn after it by a drive, k (x_load - x) - c x'. Guide ropes on the load keep it on the path (an
    ideal programme); the trolley is the one degree of freedom left. With servo=True the path is enforced by the winch
    and by a swing drive on the trolley instead, whose reactions the trolley feels. The drives of trolley and winch
    alone, realization=(x, l), cannot enforce it at once, since the load feels only the rope: that is refused.

    Options: servo, whether winch and swing drive enforce the path.

    Parameters of the model: M, mass of the trolley; m, of the load; g; k and c, stiffness and damping of the
    trolley's drive; T, duration; reach and rise.
    Coordinates: x of the trolley, l of the rope, theta of the rope from the vertical.

    Reference: Blajer and Kolodziejczyk 2007, Control of underactuated mechanical systems with servo-constraints;
        Jarzebowska et al., section 2.
    """
    return _crane(leaking=False, servo=servo)


def leaking_crane(servo: bool = False) -> Model:
    r"""The crane with a bucket of water for a load, which leaks on the way: $\dot m_w = -m_w/\tau$.

    The water falls out without velocity relative to the bucket: it takes its momentum along and gives no thrust.
    A programme on a system of variable mass: the path is kept, the forces that keep it fall with the mass.

    Options: servo, as for `crane`; the trolley then feels the load, and moves otherwise than with a load that is tight.

    Parameters of the model: M, mass of the trolley; m, of the empty bucket; g; k and c, stiffness and damping
    of the trolley's drive; T, duration; reach and rise; tau, time constant of the leak.
    Coordinates as for `crane`; extra state: water, the mass of the contents.

    Reference: Jarzebowska et al., section 2; Meshchersky 1897.
    """
    return _crane(leaking=True, servo=servo)


def _crane(leaking: bool, servo: bool) -> Model:
    x, l = coordinates("x l", "m", "place of the trolley; length of the rope")
    theta = coordinates("theta", "rad", "angle of the rope from the vertical")
    M, m, g, k, c, T = parameters(
        "M m g k c T",
        "kg kg m/s^2 N/m N*s/m s",
        "mass of the trolley; mass of the load, or of the empty bucket; acceleration of gravity; stiffness of the "
        "trolley's drive; damping of the trolley's drive; duration of the programme",
    )
    reach, rise = parameters("reach rise", "m m", "way of the load sideways; way of the load upwards")
    water = states("water", "kg", "water in the bucket")
    tau = parameters("tau", "s", "time constant of the leak")

    ground = Frame("ground")
    trolley = Particle("trolley", M, ground.point(x, 0))
    mass = m + water if leaking else m
    load = Particle("load", mass, trolley.center + ground.rotate("z", theta, "rope").vector(0, -l))
    way = (1 - cos(pi * t / T)) / 2
    values = {M: 80.0, m: 50.0, g: 9.81, k: 400.0, c: 250.0, T: 4.0, reach: 3.0, rise: 1.0}
    start = {x: 0.0, l: 4.0, theta: 0.0, x.rate: 0.0, l.rate: 0.0, theta.rate: 0.0}
    return Model(
        ground,
        (x, l, theta),
        [trolley, load],
        [
            Gravity(-g * ground.y),
            Generalized({x: k * l * sin(theta) - c * x.rate}, "trolley drive"),
        ],
        [
            follow(
                load.center,
                ground.point(reach * way, -Integer(4) + rise * way),
                "xy",
                "path",
                realization=(l, theta) if servo else "ideal",
            )
        ],
        {water: -water / tau} if leaking else None,
        name="leaking crane" if leaking else "crane",
        description="a crane whose load follows a programmed path" + (" while it leaks" if leaking else ""),
        values={**values, tau: 3.0} if leaking else values,
        start={**start, water: 60.0} if leaking else start,
        until=4.0,
        look=Look(rods=[(trolley.center, load.center)]),
    )
