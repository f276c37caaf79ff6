"""A four-wheeled robot that sprays: a draining tank, any number of jets, two degrees of freedom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.body import RigidBody
from appell.model.constraint import Nonholonomic
from appell.model.force import AbstractForce, Force, Torque
from appell.model.frame import Frame, Vector
from appell.model.look import Look, Solid
from appell.model.mass_flow import Stream, drained
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, letters_in, parameters, states

x, y = coordinates("x y", "m", "axle centre")
theta = coordinates("theta", "rad", "heading")
m = states("m", "kg", "mass of chassis and liquid")
R, a, d = parameters("R a d", "m", "radius of the wheels; half the track; mass centre ahead of the axle")
I, Iw = parameters("I Iw", "kg*m^2", "moment of inertia of the chassis; moment of inertia of a wheel about its axle")
mu, u0, alpha = parameters("mu u0 alpha", "kg/s m/s rad", "flow of a nozzle; speed of the jets; angle of the jets")
k_d, k_f, m_empty, m_r = parameters(
    "k_d k_f m_empty m_r",
    "kg/m kg/s kg kg",
    "drag of a nozzle; friction of a nozzle; mass without liquid; mass at each nozzle in the printed equations",
)
x_t, y_t, k_t = parameters(
    "x_t y_t k_t",
    "m",
    "tank ahead of the axle; tank to the left; radius of gyration of the tank",
)
force, moment = inputs("force moment", "N N*m", "driving force; driving moment")

WHEELS = {"fr": (1, -1), "br": (-1, -1), "fl": (1, 1), "bl": (-1, 1)}
"""Name, and on which side it is: forward or back, left or right."""

PHI = dict(zip(WHEELS, coordinates("phi_fr phi_br phi_fl phi_bl", "rad", "wheel angle"), strict=True))
TAU = dict(zip(WHEELS, inputs("tau_fr tau_br tau_fl tau_bl", "N*m", "motor torque"), strict=True))

FORWARD = x.rate * sp.cos(theta) + y.rate * sp.sin(theta)
SIDEWAYS = y.rate * sp.cos(theta) - x.rate * sp.sin(theta)
OPEN = drained(1, m, m_empty)
"""1 while there is liquid, then 0."""

STILL = 1e-9
"""Speed in m/s below which the quadratic drag is rounded off, so that it can be differentiated at rest."""


@dataclass(frozen=True)
class Nozzle:
    """A nozzle fixed to the chassis.

    Args:
        x: Place ahead of the axle centre.
        y: Place to the left of it.
        angle: Direction of the jet, anticlockwise from straight ahead, in radians.
        flow: Mass per second, a number or a formula; the parameter mu of the model if left out.
        speed: Speed of the jet relative to the chassis; the parameter u0 if left out.
        mass: Mass of the nozzle and its share of the boom, in addition to chassis and liquid.
    """

    x: Any
    y: Any
    angle: Any
    flow: Any = None
    speed: Any = None
    mass: Any = 0

    def __post_init__(self) -> None:
        defaults = {"flow": mu, "speed": u0}
        for name in ("x", "y", "angle", "flow", "speed", "mass"):
            given = getattr(self, name)
            value = sp.sympify(defaults[name] if given is None and name in defaults else given)
            object.__setattr__(self, name, value)
            if value.is_number and not value.is_finite:
                raise ModelError(f"The {name} of a nozzle must be finite, got {value}.")
            if name in ("flow", "mass") and value.is_number and value < 0:
                raise ModelError(f"The {name} of a nozzle must not be negative, got {value}.")

    @property
    def open_flow(self) -> sp.Expr:
        """Its flow while there is liquid, then nothing."""
        return self.flow * OPEN

    @property
    def jet(self) -> tuple[sp.Expr, sp.Expr]:
        """Velocity of its jet relative to the chassis, forward and to the left."""
        return self.speed * sp.cos(self.angle), self.speed * sp.sin(self.angle)

    def resistance(self, forward: sp.Expr, left: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
        """Drag and friction -(k_d |u| + k_f) u against a velocity u."""
        factor = -k_d * sp.sqrt(forward**2 + left**2 + STILL**2) - k_f
        return factor * forward, factor * left


def nozzles_of(given: int | Iterable[Nozzle | Sequence[Any]]) -> tuple[Nozzle, ...]:
    """Nozzles from a list of nozzles or tuples `(x, y, angle, ...)`, or an even number of them along both sides.

    A number n means n/2 on the right and n/2 on the left, from front (0.5 m) to back (-0.5 m) at 0.5 m from the middle,
    the jets turned from straight ahead by the parameter alpha to their own side; 4 are the four corners.
    """
    if isinstance(given, int):
        if given < 2 or given % 2:
            raise ModelError(f"Got {given} nozzles; give an even number, half for each side, or a list of Nozzle.")
        half, middle = given // 2, sp.Rational(1, 2)
        places = [middle - sp.Rational(i, half - 1) for i in range(half)] if half > 1 else [sp.Integer(0)]
        return tuple(Nozzle(place, side * middle, side * alpha) for side in (-1, 1) for place in places)
    words = "give an even number of nozzles, or a list of Nozzle or tuples (x, y, angle, flow, speed, mass)"
    if isinstance(given, str | Nozzle) or not isinstance(given, Iterable):
        raise ModelError(f"The nozzles of a sprayer: {words}; got {given!r}.")
    given = tuple(given)
    for item in given:
        if not isinstance(item, Nozzle) and not (isinstance(item, Sequence) and 3 <= len(item) <= 6):
            raise ModelError(f"A nozzle needs at least x, y and angle: {words}; got {item!r}.")
    listed = tuple(item if isinstance(item, Nozzle) else Nozzle(*item) for item in given)
    if not listed:
        raise ModelError("A sprayer needs at least one nozzle; give nozzles=4 or a list of (x, y, angle).")
    return listed


def sprayer(
    nozzles: int | Iterable[Nozzle | Sequence[Any]] = 4,
    mode: str = "consistent",
    internal_flow: bool = False,
    drive: str = "wheels",
    separate_tank: bool = False,
) -> Model:
    """A spraying robot on four wheels whose tank runs empty: 7 coordinates, 5 velocity rows, 2 degrees of freedom.

    The axle centre O does not slip sideways and each wheel rolls, `R phi' = v + a omega` on the right and
    `v - a omega` on the left; that a robot with two axles must scrub when it turns is left out. Nozzle k at (x_k, y_k)
    sends the flow mu_k with the velocity `u_k = u0 (cos, sin)(angle_k)` relative to the chassis, until only m_empty is
    left. In the quasi-velocities v and omega, with `S = m d + sum m_k x_k`,

        (m + sum m_k + 4 Iw/R^2) v' - sum m_k y_k omega'                                    =  S omega^2 + Gamma_v
        -sum m_k y_k v' + (I + m d^2 + sum m_k (x_k^2 + y_k^2) + 4 a^2 Iw/R^2) omega' = -S v omega + Gamma_omega

    where Gamma is the wrench of the wheel torques and of `F_k = -mu_k u_k - k_d |v_k| v_k - k_f v_k` at the nozzles,
    which move with `v_k = (v - y_k omega, x_k omega)`.

    `mode="paper"` is what the paper prints, for comparison, and not physics: (49) with the thrust (27) of the wrong
    sign made from the absolute velocity (37) of the jet, drag and friction (28), (29) on that velocity too,
    `4 R^2/a^2 Iw` and `m_r sum r_k^2` in the moment of inertia and no `m d^2` there, flow down to 50 kg. (49) prints
    `sum r^2` without a mass: m_r = 1 takes it literally, m_r = 0 leaves it out. It is built from the same rows with a
    moment of inertia of the chassis so chosen that (49) comes out; its reaction forces mean nothing.

    Args:
        nozzles: An even number (4: one at each corner; jets at the angle alpha to their side), or a list of `Nozzle` or
            tuples (x, y, angle, flow, speed, mass).
        mode: `"consistent"` or `"paper"`.
        internal_flow: Whether the liquid on its way from the tank (x_t, y_t) to the nozzles is felt: Coriolis force and
            jet damping.
        drive: `"wheels"` for a torque on each wheel (tau_fr, ...), `"body"` for a driving force and a yaw moment.
        separate_tank: Whether the liquid is a body of its own at (x_t, y_t) with radius of gyration k_t, so that the
            centre of mass moves as it drains; else chassis and liquid together stay at d with the constant I.

    Parameters of the model: R, wheel radius; a, half the track; d, centre of mass ahead of O; I, central moment of
    inertia of chassis (and liquid); Iw, of each wheel about its axle; m_empty, mass without liquid; mu, flow of each
    nozzle; u0, speed of the jets; alpha, their angle; k_d, k_f, drag and friction of each nozzle; x_t, y_t, k_t, tank;
    m_r, see above.
    Inputs: tau_fr, tau_br, tau_fl, tau_bl; or force, moment.
    Extra state: m, mass of chassis and liquid.
    Coordinates: x, y of O; theta, heading; phi_fr, phi_br, phi_fl, phi_bl, wheel angles, positive forwards.

    Reference: Dehkordi 2025, eqs. (27)-(49), Table 1, corrected.
    """
    if mode not in ("consistent", "paper"):
        raise ModelError(f"Got mode={mode!r}; use 'consistent' or 'paper'.")
    if drive not in ("wheels", "body"):
        raise ModelError(f"Got drive={drive!r}; use 'wheels' (four torques) or 'body' (force and moment).")
    if mode == "paper" and (internal_flow or separate_tank):
        raise ModelError("The paper has neither internal flow nor a tank of its own; use mode='consistent' for these.")
    listed = nozzles_of(nozzles)
    ground = Frame("ground")
    axle, body = ground.point(x, y), ground.rotate("z", theta, "chassis")
    chassis, liquid, lumps = _masses(listed, axle, body, mode, separate_tank)
    wheels = {name: _wheel(name, axle, body) for name in WHEELS}
    if mode == "paper":
        forces = _printed_forces(listed, axle, body, chassis)
    else:
        forces = _forces(listed, axle, body, chassis, liquid, internal_flow)
    if drive == "wheels":
        forces += [Torque(TAU[name] * body.y, wheels[name], chassis, f"motor {name}") for name in WHEELS]
    else:
        forces += [
            Force(force * body.x, axle, chassis, "driving force"),
            Torque(moment * body.z, chassis, name="driving moment"),
        ]
    rows = [Nonholonomic(SIDEWAYS, "no side slip")]
    for name, (_, side) in WHEELS.items():
        rows.append(Nonholonomic(FORWARD - side * a * theta.rate - R * PHI[name].rate, f"rolling {name}"))
    flow = sp.Add(*(k.open_flow for k in listed))
    return Model(
        ground,
        (x, y, theta, *PHI.values()),
        [*dict.fromkeys((chassis, liquid)), *wheels.values(), *lumps],
        forces,
        rows,
        {m: -flow},
        name="sprayer",
        description="a spraying robot on four wheels whose tank runs empty"
        + (". The equations as the paper prints them, not physics." if mode == "paper" else ""),
        values=_values(listed, mode, internal_flow, drive, separate_tank),
        start={
            x: 0.0, y: 0.0, theta: 0.0, x.rate: 1.0, y.rate: 0.0, theta.rate: 0.0, m: 150.0,
            **dict.fromkeys(PHI.values(), 0.0), **{phi.rate: 1.0 / 0.3 for phi in PHI.values()},
        },
        until=20.0,
        look=_look(listed, dict.fromkeys(e.name for e in (chassis, liquid, *lumps))),
    )  # fmt: skip


def _look(listed: tuple[Nozzle, ...], names: dict[str, None]) -> Look:
    """A tank on a frame, nozzles at its rim; places are from the centre of mass, d ahead of the axle."""
    frame = Solid("box", (2.1 * a, 1.5 * a, 0.2 * R), (-d, 0, 0.1 * R), color="#5f6b76")
    tank = Solid("cylinder", (0.55 * a, 1.1 * a), (-d, 0, 0.75 * R), "x", "#e9b44c")
    cap = Solid("cylinder", (0.12 * a, 0.3 * a), (-d, 0, 0.75 * R + 0.55 * a), "z", "#5f6b76")
    head = Solid("box", (0.3 * a, 0.9 * a, 0.8 * R), (0.85 * a - d, 0, 0.5 * R), color="#3f7cac")
    mouths = [Solid("sphere", 0.07 * a, (k.x - d, k.y, 0), color="#2b333b") for k in listed]
    booms = [
        Solid("box", (0.06 * a, 2 * sp.Abs(k.y), 0.06 * a), (k.x - d, 0, 0), color="#2b333b")
        for k in listed
        if k.y != 0
    ]
    first, *others = names
    shapes: dict[str, list[Solid]] = {first: [frame, tank, cap, head, *mouths, *booms], **{n: [] for n in others}}
    colors = {f"wheel {name}": "#8d99a6" for name in WHEELS}
    return Look(shapes=shapes, hide=others, traces=[first], colors=colors)


def _masses(
    listed: tuple[Nozzle, ...], axle: Vector, body: Frame, mode: str, separate_tank: bool
) -> tuple[RigidBody, RigidBody, list[RigidBody]]:
    """The chassis, what the liquid belongs to, and all lumped masses as one body."""
    center, total = axle + d * body.x, sp.Add(*(k.mass for k in listed))
    lumps = []
    if mode == "paper":
        # What (49) has, minus what the centre at d and the rolling wheels bring by themselves.
        radii = sp.Add(*(k.x**2 + k.y**2 for k in listed))
        printed = I + 4 * R**2 / a**2 * Iw + m_r * radii - m * d**2 - 4 * a**2 / R**2 * Iw
        chassis = liquid = RigidBody("chassis and liquid", m, center, body, (0, 0, printed))
        if total != 0:  # (49) has only their sum
            lumps.append(RigidBody("nozzles", total, axle, body))
        return chassis, liquid, lumps
    if separate_tank:
        chassis = RigidBody("chassis", m_empty, center, body, (0, 0, I))
        filling = m - m_empty
        liquid = RigidBody("liquid", filling, axle + body.vector(x_t, y_t), body, (0, 0, filling * k_t**2))
    else:
        chassis = liquid = RigidBody("chassis and liquid", m, center, body, (0, 0, I))
    if total != 0:
        at = [sp.Add(*(k.mass * place for k, place in zip(listed, places, strict=True))) / total
              for places in ([k.x for k in listed], [k.y for k in listed])]  # fmt: skip
        spread = sp.Add(*(k.mass * ((k.x - at[0]) ** 2 + (k.y - at[1]) ** 2) for k in listed))
        lumps.append(RigidBody("nozzles", total, axle + body.vector(*at), body, (0, 0, spread)))
    return chassis, liquid, lumps


def _wheel(name: str, axle: Vector, body: Frame) -> RigidBody:
    """A wheel of which only the spin counts; its mass is in that of the chassis."""
    ahead, side = WHEELS[name]
    hub = axle + body.vector(ahead * a, side * a)
    return RigidBody(f"wheel {name}", 0, hub, body.rotate("y", PHI[name], f"wheel {name}"), (0, Iw, 0))


def _forces(
    listed: tuple[Nozzle, ...], axle: Vector, body: Frame, chassis: RigidBody, liquid: RigidBody, internal_flow: bool
) -> list[AbstractForce]:
    """Thrust by Meshchersky's law, drag and friction on the velocity of the nozzle."""
    source = axle + body.vector(x_t, y_t) if internal_flow else None
    forces: list[AbstractForce] = []
    for i, k in enumerate(listed, 1):
        place = axle + body.vector(k.x, k.y)
        own = k.resistance(FORWARD - k.y * theta.rate, SIDEWAYS + k.x * theta.rate)
        forces.append(Stream(liquid, body.vector(*k.jet), -k.open_flow, place, source=source, name=f"jet {i}"))
        forces.append(Force(body.vector(*own), place, chassis, f"resistance {i}"))
    return forces


def _printed_forces(listed: tuple[Nozzle, ...], axle: Vector, body: Frame, chassis: RigidBody) -> list[AbstractForce]:
    """(27)-(29) with (37): (mu - k_d |u| - k_f) u, u the absolute velocity of the jet."""
    forces: list[AbstractForce] = []
    for i, k in enumerate(listed, 1):
        u = (FORWARD - k.y * theta.rate + k.jet[0], SIDEWAYS + k.x * theta.rate + k.jet[1])
        push = [k.open_flow * e + drag for e, drag in zip(u, k.resistance(*u), strict=True)]
        forces.append(Force(body.vector(*push), axle + body.vector(k.x, k.y), chassis, f"nozzle {i}"))
    return forces


def _values(
    listed: tuple[Nozzle, ...], mode: str, internal_flow: bool, drive: str, separate_tank: bool
) -> dict[Any, Any]:
    """Table 1 and what it leaves open, for the letters this model has."""
    values: dict[Any, Any] = {R: 0.3, a: 0.5, d: 0.2, I: 10.0, Iw: 0.1, k_d: 0.1, k_f: 0.05}
    if separate_tank or any(k.flow != 0 for k in listed):
        values[m_empty] = 50.0 if mode == "paper" else 100.0
    if drive == "wheels":
        values.update(zip(TAU.values(), (0.9, 0.9, 0.7, 0.7), strict=True))
    else:
        values.update({force: 3.2 / 0.3, moment: 0.4 * 0.5 / 0.3})
    if mode == "paper":
        values[m_r] = 1.0
    if internal_flow or separate_tank:
        values.update({x_t: 0.2, y_t: 0.0})
    if separate_tank:
        values[k_t] = 0.2
    used = set().union(*(letters_in(e) for k in listed for e in (k.x, k.y, k.angle, k.flow, k.speed, k.mass)))
    nozzle = {mu: 2.0 / len(listed), u0: 0.5, alpha: 2 * sp.pi / 3}
    return values | {letter: value for letter, value in nozzle.items() if letter in used}
