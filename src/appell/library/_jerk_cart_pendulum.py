"""A cart with a pendulum, driven by a programmed jerk."""

from __future__ import annotations

from sympy import cos

from appell.model.body import Particle
from appell.model.force import Generalized, Gravity
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, t
from appell.model.task import profile


def jerk_cart_pendulum() -> Model:
    r"""A pendulum on a cart whose jerk is programmed: $\dddot x = j\cos 2t$.

    A programme of order three. The cart needs its position, its velocity and one number more, its acceleration (in
    place of which the start may have the multiplier, the force on the cart); then
    $x = x_0 + \dot x_0 t + \ddot x_0 t^2/2 + j(t/4 - \sin 2t/8)$ whatever the pendulum does, and the multiplier is the
    force that the drive of the cart needs for it.

    Parameters of the model: M, mass of the cart; m, l of the pendulum; g; c, damping of its joint; j, jerk.
    Coordinates: x of the cart, theta from the downward vertical.

    Reference: Jarzebowska et al., section 2 (jerk programmes, p = 3).
    """
    x = coordinates("x", "m", "cart")
    theta = coordinates("theta", "rad", "pendulum, from the downward vertical")
    M, m, l, g, c, j = parameters(
        "M m l g c j",
        "kg kg m m/s^2 N*m*s/rad m/s^3",
        "mass of the cart; mass of the pendulum; length of the pendulum; acceleration of gravity; damping of its "
        "joint; jerk of the cart",
    )

    ground = Frame("ground")
    cart = Particle("cart", M, ground.point(x, 0))
    bob = Particle("bob", m, cart.center + ground.rotate("z", theta, "rod").vector(0, -l))
    return Model(
        ground,
        (x, theta),
        [cart, bob],
        [Gravity(-g * ground.y), Generalized({theta: -c * theta.rate}, "joint")],
        [profile(x, 3, j * cos(2 * t), "jerk")],
        name="jerk cart pendulum",
        description="a pendulum on a cart whose jerk is programmed",
        values={M: 3.0, m: 1.0, l: 0.5, g: 9.81, c: 0.05, j: 6.0},
        start={x: 0.0, theta: 0.4, x.rate: 0.2, theta.rate: -0.3, x.rate.rate: 0.5},
        until=3.0,
    )
