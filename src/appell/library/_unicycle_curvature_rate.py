"""A unicycle with a programmed curvature, in three orders."""

from __future__ import annotations

from math import cos as cosine
from math import sin as sine

from sympy import cos, sin

from appell.errors import ModelError
from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.symbols import coordinates, parameters, t


def unicycle_curvature_rate(order: int = 3) -> Model:
    r"""A body on a knife edge whose path has the curvature $\kappa = k_0 + k_1\sin t$, steered by an ideal force.

    One task in three orders: 1, $\omega = \kappa v$; 2, $\frac{d}{dt}(\omega/v) = \dot\kappa$; 3,
    $\frac{d^2}{dt^2}(\omega/v) = \ddot\kappa$. From one start all three give the same motion, with
    $v = v_0\sqrt{(m + Jk_0^2)/(m + J\kappa^2)}$. Written with the Cartesian curvature of the contact the programme
    coincides with the knife edge, and is refused.

    Options: order.

    Parameters of the model: m, mass; J, moment of inertia; k0, k1 of the curvature.

    Reference: Jarzebowska et al., section 2.
    """
    if order not in (1, 2, 3):
        raise ModelError(f"The programme of the unicycle has order 1, 2 or 3, got {order!r}.")
    x, y = coordinates("x y", "m", "contact")
    theta = coordinates("theta", "rad", "heading")
    m, inertia, k0, k1 = parameters(
        "m J k0 k1",
        "kg kg*m^2 1/m 1/m",
        "mass; moment of inertia; mean curvature of the path; amplitude of the curvature",
    )

    ground = Frame("ground")
    blade = ground.rotate("z", theta, "blade")
    body = RigidBody("body", m, ground.point(x, y), blade, (0, 0, inertia))
    speed = x.rate * cos(theta) + y.rate * sin(theta)
    kappa = k0 + k1 * sin(t)
    task = theta.rate - kappa * speed if order == 1 else theta.rate / speed - kappa
    return Model(
        ground,
        (x, y, theta),
        [body],
        constraints=[
            Rolling(body, body.center, along=[blade.y], name="edge"),
            Programmed(task, "curvature", differentiate=order - 1),
        ],
        name="unicycle with curvature rate",
        description="a body on a knife edge with a programmed rate of curvature",
        values={m: 10.0, inertia: 0.8, k0: 0.5, k1: 0.3},
        start={
            x: 0.0,
            y: 0.0,
            theta: 0.1,
            x.rate: 1.2 * cosine(0.1),
            y.rate: 1.2 * sine(0.1),
            theta.rate: 0.6,
        },
        until=4.0,
    )
