"""The nonholonomic rocket car of Ge and Cheng."""

from __future__ import annotations

from appell.model.body import Particle, RigidBody
from appell.model.constraint import Rolling
from appell.model.force import Torque
from appell.model.frame import Frame
from appell.model.mass_flow import Stream, drained
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters, states


def rocket_car() -> Model:
    r"""A racing car on four wheels, steered by its front axle as a whole and driven by a rocket at its rear axle.

    From the source: eight coordinates; the front axle with its wheels, turning about a vertical pin in the middle of
    the axle, and the body with the rear wheels, each a gyrostat; the rocket, a particle of variable mass in the
    middle of the rear axle, that ejects along the body's axis; rolling of all four wheels, six independent rows;
    steer rate and speed of the front axle as quasi-velocities; no other forces. The source gives symbols, no numbers.
    Added here: the rate of mass and the exhaust speed are constant until the propellant is gone; a torque of the body
    on the front axle; the numbers. Nothing of the source is left out: in plane motion only the moments of inertia
    about the vertical and of the wheels about their axles count. On a straight course
    $$ v = v_0 + c\ln\frac{M + m_0}{M + m}, \qquad M = M_1 + M_2 + m_e + 2J_1/r_1^2 + 2J_2/r_2^2, $$
    with m the propellant: the wheels' inertia counts as mass that never leaves.

    Parameters of the model: L, wheelbase; l, mass centre of the body in front of the rear axle; a, b, half the track
    of front and rear axle; r_1, r_2, radii of front and rear wheels; M_1, M_2, masses of front axle and body, wheels
    included; I_1, I_2, their moments of inertia about the vertical through the middle of the front axle and the mass
    centre; J_1, J_2, moments of inertia of one front and one rear wheel about its axle; m_e, mass of the empty
    rocket; mu, propellant per second; c, exhaust speed relative to the car.
    Input: tau, torque of the body on the front axle.
    Coordinates: x, y of the middle of the front axle; heading of the body; steer of the front axle against it; wheel
    angles, positive forwards, front and rear, left and right. Extra state: fuel, the propellant.

    Reference: Ge and Cheng 1982, J. Appl. Mech. 49, 429, as worked out in PyDy's example "rocket car".
    """
    x, y = coordinates("x y", "m", "middle of the front axle")
    heading, steer = coordinates("heading steer", "rad", "heading of the body; angle of the front axle")
    front_l, front_r, rear_l, rear_r = coordinates(
        "front_l front_r rear_l rear_r",
        "rad",
        "angle of the front left wheel; angle of the front right wheel; angle of the rear left wheel; angle of the "
        "rear right wheel",
    )
    L, l, a, b, r_1, r_2 = parameters(
        "L l a b r_1 r_2",
        "m",
        "wheelbase; mass centre of the body in front of the rear axle; half the track of the front axle; half the "
        "track of the rear axle; radius of the front wheels; radius of the rear wheels",
    )
    M_1, M_2, m_e = parameters(
        "M_1 M_2 m_e",
        "kg",
        "mass of the front axle with its wheels; mass of the body with its wheels; mass of the empty rocket",
    )
    I_1, I_2, J_1, J_2 = parameters(
        "I_1 I_2 J_1 J_2",
        "kg*m^2",
        "moment of inertia of the front axle; moment of inertia of the body; moment of inertia of a front wheel; "
        "moment of inertia of a rear wheel",
    )
    mu, c = parameters("mu c", "kg/s m/s", "propellant burnt per second; exhaust speed")
    tau = inputs("tau", "N*m", "steering torque")
    fuel = states("fuel", "kg", "propellant")

    ground = Frame("ground")
    body = ground.rotate("z", heading, "body")
    axle = body.rotate("z", steer, "front axle")
    pin = ground.point(x, y)
    tail = pin - L * body.x
    front = RigidBody("front axle", M_1, pin, axle, (0, 0, I_1))
    car = RigidBody("body", M_2, tail + l * body.x, body, (0, 0, I_2))
    rocket = Particle("rocket", m_e + fuel, tail)

    def wheel(name: str, carrier: Frame, center, angle, J) -> RigidBody:
        return RigidBody(name, 0, center, carrier.rotate("y", angle, name), (0, J, 0))

    wheels = [
        wheel("front left wheel", axle, pin + a * axle.y, front_l, J_1),
        wheel("front right wheel", axle, pin - a * axle.y, front_r, J_1),
        wheel("rear left wheel", body, tail + b * body.y, rear_l, J_2),
        wheel("rear right wheel", body, tail - b * body.y, rear_r, J_2),
    ]
    rows = []
    for one, carrier, radius, sideways in zip(
        wheels, (axle, axle, body, body), (r_1, r_1, r_2, r_2), (True, False, True, False), strict=True
    ):
        along = [carrier.x, carrier.y] if sideways else [carrier.x]
        rows.append(Rolling(one, one.center - radius * carrier.z, along=along, name=one.name))
    burnt = drained(mu, fuel)
    speed = 5.0
    return Model(
        ground,
        (x, y, heading, steer, front_l, front_r, rear_l, rear_r),
        [front, car, rocket, *wheels],
        [
            Stream(rocket, -c * body.x, rate=-burnt, name="rocket"),
            Torque(tau * ground.z, front, car, "steering"),
        ],
        rows,
        {fuel: -burnt},
        name="rocket car",
        description="a car steered by its front axle and driven by a rocket: Ge and Cheng 1982",
        values={
            L: 2.5, l: 1.0, a: 0.7, b: 0.75, r_1: 0.3, r_2: 0.4, M_1: 80.0, M_2: 500.0, m_e: 30.0,
            I_1: 15.0, I_2: 600.0, J_1: 0.8, J_2: 1.5, mu: 8.0, c: 900.0, tau: 0.0,
        },
        start={
            x: 0.0, y: 0.0, heading: 0.0, steer: 0.0, steer.rate: 0.02, x.rate: speed, y.rate: 0.0, heading.rate: 0.0,
            front_l.rate: (speed - 0.7 * 0.02) / 0.3, front_r.rate: (speed + 0.7 * 0.02) / 0.3,
            rear_l.rate: speed / 0.4, rear_r.rate: speed / 0.4, fuel: 40.0,
        },
        until=8.0,
    )  # fmt: skip
