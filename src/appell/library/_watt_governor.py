"""Watt's governor."""

from __future__ import annotations

from math import cos, sin, sqrt

from appell.model.body import Particle, RigidBody
from appell.model.constraint import Holonomic
from appell.model.force import Generalized, Gravity, Potential, Torque
from appell.model.frame import Frame
from appell.model.look import Look
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters


def watt_governor() -> Model:
    """Watt's governor: two balls on hinged arms fly out with the speed of the spindle and lift a sleeve by links.

    Two degrees of freedom in three coordinates, one row: each link keeps the distance of a point of its arm and the
    sleeve, (a sin alpha)^2 + (s - a cos alpha)^2 = b^2. The azimuth psi is cyclic: with tau = 0 there is a steady
    motion for every speed above the lowest, psi'^2 = (dV/d alpha) / (2 m L^2 sin alpha cos alpha). With
    an engine, tau = k (s - s0), whose valve the sleeve moves, the governor is stable only with enough friction at the
    sleeve (Maxwell 1868, Vyshnegradsky 1876).

    Parameters of the model: L, length of an arm; a, place of the link on it; b, length of a link; m, mass of a ball; M,
    of the sleeve; J, moment of inertia of the spindle with the flywheel; k, s_0, stiffness of a spring at the sleeve
    and the s at which it is slack; c, friction of the sleeve; g.
    Input: tau, torque on the spindle.
    Coordinates: psi of the spindle, alpha of the arms from the vertical, s, depth of the sleeve below the arms' hinges.

    Reference: Maxwell 1868; Vyshnegradsky 1876; Pontryagin 1962, chapter 5.
    """
    psi, alpha, s = coordinates(
        "psi alpha s",
        "rad rad m",
        "angle of the spindle; angle of the arms from the vertical; depth of the sleeve",
    )
    L, a, b, s_0 = parameters(
        "L a b s_0",
        "m",
        "length of an arm; place of the link on the arm; length of a link; depth where the spring is slack",
    )
    m, M, J = parameters(
        "m M J",
        "kg kg kg*m^2",
        "mass of a ball; mass of the sleeve; moment of inertia of spindle and flywheel",
    )
    k, c, g = parameters(
        "k c g",
        "N/m N*s/m m/s^2",
        "stiffness of the spring; friction of the sleeve; acceleration of gravity",
    )
    tau = inputs("tau", "N*m", "torque on the spindle")

    ground = Frame("ground")
    spindle = ground.rotate("z", psi, "spindle")
    bodies: list[Particle | RigidBody] = [RigidBody("spindle", 0, ground.point(0, 0), spindle, (0, 0, J))]
    sleeve = Particle("sleeve", M, -s * ground.z)
    links = []
    for name, axis in (("first", "-y"), ("second", "y")):
        arm = spindle.rotate(axis, alpha, f"{name} arm")
        bodies.append(Particle(f"{name} ball", m, -L * arm.z))
        links.append((-a * arm.z, sleeve.center))
    plane = spindle.rotate("-y", alpha, "link")
    gap = -a * plane.z - sleeve.center
    numbers = {L: 0.3, a: 0.15, b: 0.15, m: 0.5, M: 1.0, J: 0.05, k: 0.0, s_0: 0.0, c: 2.0, g: 9.81}
    begin = _disturbed(**{e.name: numbers[e] for e in (L, a, b, s_0, m, M, k, g)})
    return Model(
        ground,
        (psi, alpha, s),
        [*bodies, sleeve],
        [
            Gravity(-g * ground.z),
            Potential(k * (s - s_0) ** 2 / 2, "spring"),
            Generalized({s: -c * s.rate}, "friction of the sleeve"),
            Torque(tau * ground.z, spindle, name="engine"),
        ],
        [Holonomic(gap.dot(gap) - b**2, "link")],
        name="Watt governor",
        description="two balls that fly out with the speed of a spindle and lift a sleeve",
        values={**numbers, tau: 0.0},
        start=dict(zip((psi, alpha, s, psi.rate, alpha.rate, s.rate), begin, strict=True)),
        until=5.0,
        look=Look(rods=links),
    )


def _disturbed(
    *, L: float, a: float, b: float, s_0: float, m: float, M: float, k: float, g: float
) -> tuple[float, ...]:
    """psi, alpha, s and their rates: the steady motion at alpha = 0.6, with the arms pushed outwards."""
    alpha, push = 0.6, 0.5
    foot = sqrt(b**2 - (a * sin(alpha)) ** 2)
    s = a * cos(alpha) + foot
    slope = -a * sin(alpha) - a**2 * sin(alpha) * cos(alpha) / foot
    moment = 2 * m * g * L * sin(alpha) + (k * (s - s_0) - M * g) * slope
    return 0.0, alpha, s, sqrt(moment / (2 * m * L**2 * sin(alpha) * cos(alpha))), push, slope * push
