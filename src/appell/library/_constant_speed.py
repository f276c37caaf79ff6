"""A particle of constant speed under gravity."""

from __future__ import annotations

from math import cos, sin

from appell.model.body import Particle
from appell.model.constraint import Nonholonomic
from appell.model.force import Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def constant_speed() -> Model:
    r"""A particle in a vertical plane under gravity whose speed is kept constant, x'^2 + y'^2 = v^2.

    A nonlinear constraint on the velocity with a closed solution: for the direction theta of the velocity
    $v\dot\theta = -g\cos\theta$, hence
    $$ \sin\theta = -\tanh\bigl(gt/v - \operatorname{artanh}\sin\theta_0\bigr),\quad
       x = \tfrac{v^2}{g}(\theta_0-\theta),\quad y = \tfrac{v^2}{g}\ln\frac{\cos\theta}{\cos\theta_0}. $$
    The track turns downwards into a vertical asymptote at the distance $(v^2/g)(\theta_0 + \pi/2)$. The force of the
    constraint acts along the velocity and does work: it takes exactly the power of the weight.

    Parameters of the model: m, mass (it cancels); v, speed; g, along -y.

    Reference: Chetaev 1932 for the rule; a standard example of nonlinear nonholonomic (servo) constraints.
    """
    x, y = coordinates("x y", "m", "position")
    m, v, g = parameters("m v g", "kg m/s m/s^2", "mass, which cancels; speed; acceleration of gravity, along -y")

    ground = Frame("ground")
    return Model(
        ground,
        (x, y),
        [Particle("particle", m, ground.point(x, y))],
        [Gravity(-g * ground.y)],
        [Nonholonomic(x.rate**2 + y.rate**2 - v**2, "speed")],
        name="constant speed",
        description="a particle under gravity whose speed is kept constant",
        values={m: 1.0, v: 2.0, g: 9.81},
        start={x: 0.0, y: 0.0, x.rate: 2 * cos(1), y.rate: 2 * sin(1)},
        until=1.0,
    )
