"""A cart on a spring under a hopper."""

from __future__ import annotations

from appell.model.body import Particle
from appell.model.force import Gravity, Potential
from appell.model.frame import Frame
from appell.model.mass_flow import Stream
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters, states


def hopper_cart() -> Model:
    r"""A cart on rails, held by a spring, into which sand falls from a hopper and out of which it runs through a hole.

    Sand from the hopper has no velocity along the rails and must be brought to that of the cart; what runs out of the
    hole has it already:
    $$ (m + s)\ddot x = -kx - \mu\dot x, \qquad \dot s = \mu - s/T . $$
    Loading therefore damps like a viscous damper of coefficient mu, although nothing rubs, while unloading does not
    push; the content tends to mu T, and the oscillation becomes slower on the way.

    Parameters of the model: m, mass of the empty cart; k, stiffness; mu, sand that falls in per second; T, time in
    which a full cart without supply would empty to 1/e; g, along -z, at right angles to the rails.
    Coordinates: x, place of the cart. Extra state: sand in it.

    Reference: a standard example of two streams, in textbooks after Meshchersky 1904 (loading of a moving carrier).
    """
    x = coordinates("x", "m", "place of the cart")
    m, k, mu, T, g = parameters(
        "m k mu T g",
        "kg N/m kg/s s m/s^2",
        "mass of the empty cart; stiffness of the spring; sand that falls in per second; time constant of the "
        "outflow; acceleration of gravity, across the rails",
    )
    sand = states("sand", "kg", "sand in the cart")

    ground = Frame("ground")
    cart = Particle("cart", m + sand, ground.point(x, 0))
    return Model(
        ground,
        x,
        [cart],
        [
            Gravity(-g * ground.z),
            Potential(k * x**2 / 2, "spring"),
            Stream(cart, 0 * ground.x, rate=mu, absolute=True, name="hopper"),
            Stream(cart, 0 * ground.x, rate=-sand / T, name="hole"),
        ],
        states={sand: mu - sand / T},
        name="hopper cart",
        description="a cart on a spring, loaded from a hopper and emptied through a hole",
        values={m: 10.0, k: 200.0, mu: 2.0, T: 5.0, g: 9.81},
        start={x: 0.5, x.rate: 0.0, sand: 0.0},
        until=20.0,
    )
