"""A vehicle whose path is a clothoid."""

from __future__ import annotations

from sympy import cos, sin

from appell.model.body import RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Force
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.programme import Programmed
from appell.model.symbols import coordinates, parameters


def clothoid_vehicle() -> Model:
    r"""A vehicle on a knife edge (its rear axle) steered so that the curvature grows with the distance travelled.

    $$ \frac{d\kappa}{ds} = c \quad\Leftrightarrow\quad v\ddot\theta - \dot\theta\dot v - c v^3 = 0, $$
    a programme of order two: transition curves of roads and railways. Its path is the Euler spiral at any speed,
    $\theta = \theta_0 + cs^2/2$ from a straight start; the speed follows from thrust and resistance.

    Parameters of the model: m, mass; J, moment of inertia about the mass centre; a, mass centre ahead of the axle;
    F, thrust; b, resistance; c, growth of the curvature with the distance.

    Reference: Jarzebowska et al., section 2; Levien 2008, The Euler spiral.
    """
    x, y = coordinates("x y", "m", "middle of the rear axle")
    theta = coordinates("theta", "rad", "heading")
    m, inertia, a, F, b, c = parameters(
        "m J a F b c",
        "kg kg*m^2 m N N*s/m 1/m^2",
        "mass; moment of inertia about the mass centre; mass centre ahead of the axle; thrust; resistance; growth of "
        "the curvature with the distance",
    )

    ground = Frame("ground")
    body = ground.rotate("z", theta, "vehicle")
    axle = ground.point(x, y)
    vehicle = RigidBody("vehicle", m, axle + a * body.x, body, (0, 0, inertia))
    v = x.rate * cos(theta) + y.rate * sin(theta)
    v_rate = x.rate.rate * cos(theta) + y.rate.rate * sin(theta)
    v_rate += theta.rate * (y.rate * cos(theta) - x.rate * sin(theta))
    return Model(
        ground,
        (x, y, theta),
        [vehicle],
        [Force((F - b * v) * body.x, axle, vehicle)],
        [
            Rolling(vehicle, axle, along=[body.y], name="axle"),
            Programmed(v * theta.rate.rate - theta.rate * v_rate - c * v**3, "clothoid"),
        ],
        name="clothoid vehicle",
        description="a vehicle steered along a clothoid",
        values={m: 1200.0, inertia: 1800.0, a: 1.2, F: 900.0, b: 60.0, c: 0.002},
        start={x: 0.0, y: 0.0, theta: 0.0, x.rate: 8.0, y.rate: 0.0, theta.rate: 0.0},
        until=8.0,
    )
