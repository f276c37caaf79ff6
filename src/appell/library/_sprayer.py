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
from appell.model.mass_flow import Stream, drained
from appell.model.model import Model
from appell.model.symbols import coordinates, inputs, parameters, states

WHEELS = ("fr", "br", "fl", "bl")
STILL = 1e-9
"""Speed in m/s below which the quadratic drag is rounded off, so that it can be differentiated at rest."""

_PLACES = {"fr": (1, -1), "br": (-1, -1), "fl": (1, 1), "bl": (-1, 1)}


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
        for name in ("x", "y", "angle", "flow", "speed", "mass"):
            value = getattr(self, name)
            if value is None and name in ("flow", "speed"):
                continue
            value = sp.sympify(value)
            object.__setattr__(self, name, value)
            if value.is_number and not value.is_finite:
                raise ModelError(f"The {name} of a nozzle must be finite, got {value}.")
            if name in ("flow", "mass") and value.is_number and value < 0:
                raise ModelError(f"The {name} of a nozzle must not be negative, got {value}.")


def nozzles_of(given: int | Iterable[Nozzle | Sequence[Any]]) -> tuple[Nozzle, ...]:
    """Nozzles from a list of nozzles or tuples `(x, y, angle, ...)`, or an even number of them along both sides.

    A number n means n/2 on the right and n/2 on the left, from front (0.5 m) to back (-0.5 m) at 0.5 m from the middle,
    the jets turned from straight ahead by the parameter alpha to their own side; 4 are the four corners.
    """
    if isinstance(given, int):
        if given < 2 or given % 2:
            raise ModelError(
                f"Got {given} nozzles; give an even number, half of them for each side, or a list of Nozzle."
            )
        alpha, half = parameters("alpha", "rad", "angle of the jets"), given // 2
        places = [
            sp.Rational(1, 2) - (sp.Rational(i, half - 1) if half > 1 else sp.Rational(1, 2)) for i in range(half)
        ]
        return tuple(Nozzle(place, side * sp.Rational(1, 2), side * alpha) for side in (-1, 1) for place in places)
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
    sends the flow mu_k with the velocity `u0 (cos, sin)(angle_k)` relative to the chassis, until only m_empty is left:

        [m + sum m_k + 4 Iw/R^2,  -sum m_k y_k                                   ] [v'    ]   [ S omega^2 ]
        [-sum m_k y_k,             I + m d^2 + sum m_k (x_k^2 + y_k^2) + 4 a^2 Iw/R^2] [omega'] = [-S v omega] + Gamma

    with `S = m d + sum m_k x_k` and the wrench Gamma of the wheel torques and of
    `F_k = -mu_k u_k - k_d |v_k| v_k - k_f v_k`, `v_k = (v - y_k omega, x_k omega)` the velocity of the nozzle.

    `mode="paper"` is what the paper prints, for comparison, and not physics: (49) with the thrust (27) of the wrong
    sign
    made from the absolute velocity (37) of the jet, drag and friction (28), (29) on that velocity too, `4 R^2/a^2 Iw`
    and `m_r sum r_k^2` in the moment of inertia and no `m d^2` there, flow down to 50 kg. (49) prints `sum r^2` without
    a mass: m_r = 1 takes it literally, m_r = 0 leaves it out. It is built from the same rows with a moment of inertia
    of the chassis so chosen that (49) comes out; its reaction forces mean nothing.

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
    x, y = coordinates("x y", "m", "axle centre")
    theta = coordinates("theta", "rad", "heading")
    phi = dict(zip(WHEELS, coordinates("phi_fr phi_br phi_fl phi_bl", "rad", "wheel angle"), strict=True))
    R, a, d = parameters("R a d", "m")
    inertia, Iw = parameters("I Iw", "kg*m^2")
    mu, u0, k_d, k_f = parameters("mu u0 k_d k_f", "kg/s m/s kg/m kg/s")
    m_empty, m_r = parameters("m_empty m_r", "kg")
    m = states("m", "kg", "mass of chassis and liquid")

    ground = Frame("ground")
    body = ground.rotate("z", theta, "chassis")
    axle = ground.point(x, y)
    forward = x.rate * sp.cos(theta) + y.rate * sp.sin(theta)
    sideways = y.rate * sp.cos(theta) - x.rate * sp.sin(theta)

    lumps = sum((k.mass for k in listed), sp.Integer(0))
    if mode == "paper":
        # What (49) has, minus what the centre at d and the rolling wheels bring by themselves.
        radii = sum((k.x**2 + k.y**2 for k in listed), sp.Integer(0))
        moment = inertia + 4 * R**2 / a**2 * Iw + m_r * radii - m * d**2 - 4 * a**2 / R**2 * Iw
        chassis = RigidBody("chassis and liquid", m, axle + d * body.x, body, (0, 0, moment))
    elif separate_tank:
        chassis = RigidBody("chassis", m_empty, axle + d * body.x, body, (0, 0, inertia))
    else:
        chassis = RigidBody("chassis and liquid", m, axle + d * body.x, body, (0, 0, inertia))
    x_t, y_t, k_t = parameters("x_t y_t k_t", "m")
    tank = axle + body.vector(x_t, y_t)
    liquid = chassis
    bodies = [chassis]
    if separate_tank:
        liquid = RigidBody("liquid", m - m_empty, tank, body, (0, 0, (m - m_empty) * k_t**2))
        bodies.append(liquid)
    wheels = {
        name: RigidBody(
            f"wheel {name}",
            0,
            axle + body.vector(_PLACES[name][0] * a, _PLACES[name][1] * a),
            body.rotate("y", phi[name], f"wheel {name}"),
            (0, Iw, 0),
        )
        for name in WHEELS
    }
    bodies += wheels.values()
    if lumps != 0:
        bodies.append(_lumps(listed, lumps, axle, body, mode))

    open_ = drained(1, m, m_empty)
    forces: list[AbstractForce] = []
    rates: list[sp.Expr] = []
    jets: list[sp.Expr] = []
    for i, k in enumerate(listed, 1):
        flow = (mu if k.flow is None else k.flow) * open_
        speed = u0 if k.speed is None else k.speed
        place = axle + body.vector(k.x, k.y)
        jet = (speed * sp.cos(k.angle), speed * sp.sin(k.angle))
        own = (forward - k.y * theta.rate, sideways + k.x * theta.rate)
        rates.append(-flow)
        jets.extend(jet)
        if mode == "paper":
            u = (own[0] + jet[0], own[1] + jet[1])
            factor = flow - k_d * _length(*u) - k_f
            forces.append(Force(body.vector(factor * u[0], factor * u[1]), place, chassis, f"nozzle {i}"))
            continue
        source = tank if internal_flow else None
        forces.append(Stream(liquid, body.vector(*jet), -flow, place, source=source, name=f"jet {i}"))
        factor = -k_d * _length(*own) - k_f
        forces.append(Force(body.vector(factor * own[0], factor * own[1]), place, chassis, f"resistance {i}"))
    used = {R, a, d, inertia, Iw, m_empty, k_d, k_f}.union(*(e.free_symbols for e in (*rates, *jets)))
    used |= {m_r} if mode == "paper" else set()
    used |= {x_t, y_t} if internal_flow or separate_tank else set()
    used |= {k_t} if separate_tank else set()
    values: dict[Any, Any] = {
        R: 0.3, a: 0.5, d: 0.2, inertia: 10.0, Iw: 0.1, m_empty: 50.0 if mode == "paper" else 100.0,
        mu: 2.0 / len(listed), u0: 0.5, parameters("alpha", "rad"): 2 * sp.pi / 3, k_d: 0.1, k_f: 0.05,
        x_t: 0.2, y_t: 0.0, k_t: 0.2, m_r: 1.0,
    }  # fmt: skip
    if drive == "wheels":
        for name, suggested in zip(WHEELS, (0.9, 0.9, 0.7, 0.7), strict=True):
            tau = inputs(f"tau_{name}", "N*m", "motor torque")
            forces.append(Torque(tau * body.y, wheels[name], chassis, f"motor {name}"))
            values[tau] = suggested
            used.add(tau)
    else:
        force, moment = inputs("force moment", "N N*m", "drive")
        forces.append(Force(force * body.x, axle, chassis, "driving force"))
        forces.append(Torque(moment * body.z, chassis, name="driving moment"))
        values.update({force: 3.2 / 0.3, moment: 0.4 * 0.5 / 0.3})
        used |= {force, moment}
    rows = [Nonholonomic(sideways, "no side slip")]
    for name in WHEELS:
        side = _PLACES[name][1]
        rows.append(Nonholonomic(forward - side * a * theta.rate - R * phi[name].rate, f"rolling {name}"))
    return Model(
        ground, (x, y, theta, *phi.values()), bodies, forces, rows, {m: sp.Add(*rates)},
        name="sprayer",
        description="a spraying robot on four wheels whose tank runs empty"
        + (". The equations as the paper prints them, not physics." if mode == "paper" else ""),
        values={letter: value for letter, value in values.items() if letter in used},
        start={
            x: 0.0, y: 0.0, theta: 0.0, x.rate: 1.0, y.rate: 0.0, theta.rate: 0.0, m: 150.0,
            **{e: 0.0 for e in phi.values()}, **{e.rate: 1.0 / 0.3 for e in phi.values()},
        },
        until=20.0,
    )  # fmt: skip


def _length(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    return sp.sqrt(a**2 + b**2 + STILL**2)


def _lumps(listed: tuple[Nozzle, ...], total: sp.Expr, axle: Vector, body: Frame, mode: str) -> RigidBody:
    """All lumped masses as one body; (49) has only their sum."""
    if mode == "paper":
        return RigidBody("nozzles", total, axle, body)
    x, y = (sum((k.mass * e for k, e in zip(listed, places, strict=True)), sp.Integer(0)) / total
            for places in ([k.x for k in listed], [k.y for k in listed]))  # fmt: skip
    moment = sum((k.mass * ((k.x - x) ** 2 + (k.y - y) ** 2) for k in listed), sp.Integer(0))
    return RigidBody("nozzles", total, axle + body.vector(x, y), body, (0, 0, moment))
