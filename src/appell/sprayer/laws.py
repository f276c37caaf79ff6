"""Feedback laws of the robot: inner loops that hold the speeds, outer loops that hold the path.

All laws are formulas; `drive` makes a controlled system of a robot, a path and a law.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

from appell.code.state import State
from appell.code.system import System, compile
from appell.control.pid import PID
from appell.errors import ModelError
from appell.formulation.derive import derive
from appell.library._sprayer import FORWARD, PHI, R, theta, x, y
from appell.model.body import RigidBody
from appell.model.frame import Frame
from appell.model.symbols import ExtraState, Rate, letters_in, t, time_derivative
from appell.sprayer.paths import Path
from appell.sprayer.robot import Sprayer, omega, v


@dataclass(frozen=True, eq=False)
class Law:
    """What a controller commands: a driving force and a yaw moment, with what it remembers.

    Attributes:
        name: Its name in reports.
        drive: Driving force.
        turn: Yaw moment.
        states: Extra states with their rates; they begin at zero.
        bodies: Virtual flywheels of derivative action.
    """

    name: str
    drive: sp.Expr
    turn: sp.Expr
    states: Mapping[ExtraState, sp.Expr] = field(default_factory=dict)
    bodies: tuple[RigidBody, ...] = ()


def hold_speeds(robot: Sprayer, path: Path, along: PID, about: PID) -> Law:
    """PID on the two quasi-velocities, eq. (50) read as force and moment: e = (v_ref - v, omega_ref - omega).

    The rates of these errors contain the accelerations, which the force itself makes. Without a filter (`lag` of the
    PID) the derivative gain is therefore added to the inertia, `(M + K_d) u' = ... + K_d u_ref'`, by two virtual
    flywheels that turn with v and with omega. This is exact; but the output then has no limit that could be kept.

    Args:
        robot: The robot.
        path: The reference.
        along: PID of the driving force.
        about: PID of the yaw moment.
    """
    return _hold(
        robot=robot,
        path=path,
        name="speeds held",
        speed=path.speed,
        rate=path.turn,
        remembered={},
        along=along,
        about=about,
    )


def follow_by_pid(robot: Sprayer, path: Path, ahead: PID, across: PID, along: PID, about: PID) -> Law:
    """PID on the distances to the reference, in the axes of the robot, over PID on the quasi-velocities.

    `v_set = v_ref cos(e_theta) + PID(e_along)`, `omega_set = omega_ref + PID(e_across)`. The distance across obeys
    `e_across' = v_ref sin(e_theta) - omega e_along`: it answers to omega twice integrated, so `across` needs a
    derivative gain.

    Args:
        robot: The robot.
        path: The reference.
        ahead: PID of the speed, on the distance along the robot's axis.
        across: PID of the yaw rate, on the distance to its left.
        along: PID of the driving force, on the speed.
        about: PID of the yaw moment, on the yaw rate.
    """
    gap_x, gap_y = path.position[0] - x, path.position[1] - y
    e_along = gap_x * sp.cos(theta) + gap_y * sp.sin(theta)
    e_across = gap_y * sp.cos(theta) - gap_x * sp.sin(theta)
    first = ahead.loop("ahead", e_along, path.states, path.speed * sp.cos(path.heading - theta))
    second = across.loop("across", e_across, path.states, path.turn)
    return _hold(
        robot=robot,
        path=path,
        name="path by PID",
        speed=first.output,
        rate=second.output,
        remembered={**first.states, **second.states},
        along=along,
        about=about,
    )


def follow_by_linearization(robot: Sprayer, path: Path, lookahead: float, stiffness: float, damping: float) -> Law:
    r"""Feedback linearization of a point P ahead of the axle: its distance to the reference decays linearly.

    $P = (x, y) + L(\cos\theta, \sin\theta)$ moves by $\dot P = B(\theta)(v, \omega)$ with $\det B = L$, so that
    $(\dot v, \dot\omega) = B^{-1}(\ddot P_{ref} + K_d(\dot P_{ref} - \dot P) + K_p(P_{ref} - P) - \dot B (v, \omega))$
    and, with eq. (49) for the mass that is left, force and moment $A(m)(\dot v, \dot\omega) - b$ give
    $\ddot e + K_d\dot e + K_p e = 0$ exactly. The heading is what remains; it follows while the path runs forward.

    Args:
        robot: The robot.
        path: The reference.
        lookahead: L.
        stiffness: K_p in 1/s^2.
        damping: K_d in 1/s.
    """
    if not lookahead > 0:
        raise ModelError(f"The point to be led must be ahead of the axle, got lookahead={lookahead}.")
    L, c, s = sp.sympify(lookahead), sp.cos(theta), sp.sin(theta)
    target = [path.position[0] + L * sp.cos(path.heading), path.position[1] + L * sp.sin(path.heading)]
    rates = [path.rate(e) for e in target]
    wanted = [path.rate(e) for e in rates]
    place = [x + L * c, y + L * s]
    moving = [v * c - L * omega * s, v * s + L * omega * c]
    pull = [wanted[i] + damping * (rates[i] - moving[i]) + stiffness * (target[i] - place[i]) for i in range(2)]
    v_dot = c * pull[0] + s * pull[1] + L * omega**2
    omega_dot = (c * pull[1] - s * pull[0] - v * omega) / L
    A, b = robot.inertia, robot.load
    drive = A[0, 0] * v_dot + A[0, 1] * omega_dot - b[0]
    turn = A[1, 0] * v_dot + A[1, 1] * omega_dot - b[1]
    return Law("path by linearization", drive, turn)


def _hold(
    robot: Sprayer,
    path: Path,
    name: str,
    speed: sp.Expr,
    rate: sp.Expr,
    remembered: Mapping[ExtraState, sp.Expr],
    along: PID,
    about: PID,
) -> Law:
    known = {**robot.model.states, **path.states, **remembered}
    memory, outputs, bodies = dict(remembered), [], []
    for label, pid, error in (("v", along, speed - FORWARD), ("omega", about, rate - theta.rate)):
        feedforward = sp.Integer(0)
        if pid.kd != 0 and pid.lag is None:
            feedforward = pid.kd * _set_point_rate(label, speed if label == "v" else rate, known)
            if pid.limit is not None:
                raise ModelError(
                    f"The PID of {label} has a derivative gain that acts as added inertia, and a limit, which that "
                    "cannot keep; give it a lag=, or leave out limit= or kd=."
                )
            bodies.append(_flywheel(robot, label, pid.kd))
            pid = PID(pid.kp, pid.ki, 0, pid.clamp)
        loop = pid.loop(label, error, known, feedforward)
        outputs.append(loop.output)
        memory.update(loop.states)
    return Law(name, outputs[0], outputs[1], memory, tuple(bodies))


def _set_point_rate(label: str, set_point: sp.Expr, known: Mapping[ExtraState, sp.Expr]) -> sp.Expr:
    rate = time_derivative(set_point).xreplace({z.rate: e for z, e in known.items()})
    if any(isinstance(s, Rate) for s in letters_in(rate)) or any(s in (x, y, theta) for s in letters_in(set_point)):
        raise ModelError(
            f"The set point of {label} comes from an outer loop, so its rate contains what the robot does; give the "
            "inner PID a lag= for its derivative, or no kd."
        )
    return rate


def _flywheel(robot: Sprayer, label: str, gain: sp.Expr) -> RigidBody:
    """A body without mass that adds `gain` to one diagonal entry of the inertia and nothing else."""
    chassis: Frame = robot.model.bodies[0].frame
    center = robot.model.bodies[0].center
    if label == "omega":
        return RigidBody("virtual flywheel of omega", 0, center, chassis, (0, 0, gain))
    spinning = chassis.rotate("y", (PHI["fr"] + PHI["fl"]) / 2, "virtual flywheel of v")  # turns at v/R
    return RigidBody("virtual flywheel of v", 0, center, spinning, (0, gain * R**2, 0))


def drive(robot: Sprayer, path: Path, law: Law) -> System:
    """The controlled robot, with the reference as part of its state.

    Args:
        robot: The robot.
        path: The reference.
        law: What controls it.
    """
    model = robot.model.add(*law.bodies, states={**path.states, **law.states})
    equations = derive(model, robot.formulation).close(robot.inputs_for(law.drive, law.turn))
    return compile(equations).bind(robot.values)


def start(
    system: System,
    path: Path,
    mass: float = 150.0,
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0),
    speed: float | None = None,
    turn: float = 0.0,
) -> State:
    """A start on the path or beside it.

    Args:
        system: The controlled robot.
        path: The reference.
        mass: Chassis and liquid.
        offset: How far x, y and heading are from those of the reference.
        speed: Forward speed; that of the reference if left out.
        turn: Yaw rate.
    """
    begin = {z.label: value for z, value in path.begin.items()}
    pose = [float(sp.sympify(e).subs({t: 0, **path.begin})) for e in (*path.position, path.heading)]
    forward = float(path.speed.subs(t, 0)) if speed is None else speed
    place = {s.label: p + shift for s, p, shift in zip((x, y, theta), pose, offset, strict=True)}
    return system.state({**place, **begin, "m": mass, "v": forward, "omega": turn})
