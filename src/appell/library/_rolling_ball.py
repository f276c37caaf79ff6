"""A ball on a turntable."""

from __future__ import annotations

from appell.model.body import RigidBody
from appell.model.constraint import Nonholonomic
from appell.model.frame import Frame
from appell.model.model import Model
from appell.model.symbols import coordinates, parameters


def rolling_ball() -> Model:
    r"""A homogeneous ball rolling without slipping on a horizontal table that turns at the rate Omega.

    The ball is not thrown outwards. Its centre runs on a circle, wherever and however it was put down,
    $$ \dot v = \tfrac27\,\Omega\,\hat z\times v, $$
    as a charge does in a magnetic field: the angular rate is 2/7 of the table's whatever the speed, and the centre
    of the circle depends on the start only (a ball at rest in the laboratory stays at rest). For other mass
    distributions 2/7 is I/(I + m r^2). The spin about the vertical is constant. The kinetic energy is not conserved
    on a turning table: the table does work.

    Parameters of the model: m, mass; r, radius; Omega, rate of the table about z.
    Coordinates: x, y of the centre; e0, e1, e2, e3, the unit quaternion of the attitude, e0 the scalar part. Its norm
    is a constraint that the model adds by itself, and without it the mass matrix is singular: a change of
    length of the quaternion moves nothing.

    Reference: Earnshaw 1844; Routh 1905, Advanced Rigid Dynamics; Weltner 1979, Am. J. Phys. 47, 984;
        Neimark and Fufaev 1972.
    """
    x, y = coordinates("x y", "m", "centre of the ball")
    attitude = coordinates("e0 e1 e2 e3", "1", "quaternion of the attitude")
    m, r, Omega = parameters("m r Omega", "kg m rad/s", "mass; radius; rate of the table")

    ground = Frame("ground")
    sphere = ground.rotate_quaternion(*attitude, name="ball")
    ball = RigidBody("ball", m, ground.point(x, y, r), sphere, [2 * m * r**2 / 5] * 3)
    contact = ground.point(x, y)
    slip = ball.velocity_at(contact) - (Omega * ground.z).cross(contact)
    return Model(
        ground,
        (x, y, *attitude),
        [ball],
        constraints=[Nonholonomic([slip.dot(ground.x), slip.dot(ground.y)], "rolling")],
        name="rolling ball",
        description="a homogeneous ball rolling on a turning table; its centre runs on a circle",
        values={m: 0.2, r: 0.1, Omega: 3.5},
        # Thrown at 0.3 m/s across the radius; it rolls about x at (Omega x - y')/r = 14.5 rad/s.
        start={
            x: 0.5, y: 0.0, "e0": 1.0, "e1": 0.0, "e2": 0.0, "e3": 0.0,
            x.rate: 0.0, y.rate: 0.3, "e0.rate": 0.0, "e1.rate": 7.25, "e2.rate": 0.0, "e3.rate": 0.0,
        },
        until=12.0,
    )  # fmt: skip
