"""Operations of a rolling disk in several choices of speeds, by each formulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp
import sympy.physics.mechanics as me

import appell as ap
from benchmarks.models import counted, same
from benchmarks.table import Counts

STATE = (0.3, 0.4, 0.5, -0.2, 3.0, 0.7)  # yaw, lean, spin; angular velocity in plane axes
RATES = {"yaw": 0.3, "lean": 0.4, "spin": 0.5, "yaw.rate": 0.7, "lean.rate": -0.2, "spin.rate": 3.0}


def kane_functions() -> tuple[Any, sp.Matrix, sp.Matrix, sp.Matrix]:
    """SymPy's rolling disk in plane axes, as in its documentation: a function that gives M, F, q'; and these.

    The path of the contact, r spin' along the heading, is added by hand: Kane's method leaves it out.
    """
    (q1, q2, q3), (u1, u2, u3) = me.dynamicsymbols("q1:4"), me.dynamicsymbols("u1:4")
    m, r, g = sp.symbols("m r g")
    ground = me.ReferenceFrame("N")
    heading = ground.orientnew("Y", "Axis", (q1, ground.z))
    plane = heading.orientnew("L", "Axis", (q2, heading.x))
    wheel = plane.orientnew("R", "Axis", (q3, plane.y))
    turning = wheel.ang_vel_in(ground)
    wheel.set_ang_vel(ground, u1 * plane.x + u2 * plane.y + u3 * plane.z)
    contact = me.Point("C")
    contact.set_vel(ground, 0)
    center = contact.locatenew("D", r * plane.z)
    center.v2pt_theory(contact, ground, wheel)
    inertia = me.inertia(plane, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    disk = me.RigidBody("disk", center, wheel, m, (inertia, center))
    kinematics = [me.dot(turning - wheel.ang_vel_in(ground), axis) for axis in plane]
    method = me.KanesMethod(ground, q_ind=[q1, q2, q3], u_ind=[u1, u2, u3], kd_eqs=kinematics)
    method.kanes_equations([disk], [(center, -m * g * heading.z)])
    M, F = method.mass_matrix, method.forcing
    yaw_rate, lean_rate, spin_rate = (method.kindiffdict()[q.diff()] for q in (q1, q2, q3))
    path = (r * spin_rate * sp.cos(q1), r * spin_rate * sp.sin(q1))
    rates = sp.Matrix([yaw_rate, lean_rate, spin_rate, *path])
    f = sp.lambdify([q1, q2, q3, u1, u2, u3, m, r, g], [M, F, rates], cse=True)
    return f, M, F, rates


def kane() -> tuple[int, np.ndarray]:
    """Operations, and x' at a state."""
    f, M, F, rates = kane_functions()
    values = ap.library.rolling_disk().values
    A, b, K = f(*STATE, *(values[name] for name in "mrg"))
    return counted(M, F, rates), np.concatenate([K[:, 0], np.linalg.solve(A, b[:, 0])])


def run(quick: bool) -> Counts:
    """Plane axes, body axes, ground axes, rates; every choice must give the same accelerations."""
    model = ap.library.rolling_disk()
    disk = model.bodies[0]
    wheel = disk.frame
    x, y = (q for q in model.coordinates if q.name in "xy")
    letters = ap.speeds("w1 w2 w3")

    def turning(frame: ap.Frame) -> ap.GibbsAppell:
        return ap.GibbsAppell(dict(zip(letters, frame.components(disk.angular_velocity), strict=True)))

    in_plane = turning(wheel.parent)
    choices = {
        "angular velocity in plane axes": (in_plane, None, None, None),
        "angular velocity in body axes": (turning(wheel), None, None, None),
        "angular velocity in ground axes": (turning(model.ground), None, None, None),
        "rates of yaw, lean, spin": (ap.GibbsAppell(dependent=[x, y]), ap.Voronets(dependent=[x, y]), None, None),
        "automatic": (ap.GibbsAppell(), ap.Voronets(), ap.Multipliers(), ap.UdwadiaKalaba()),
    }
    kane_operations, kane_rates = kane()
    same("SymPy", _rates(ap.compile(ap.derive(model, in_plane)).bind()), kane_rates)
    known: np.ndarray | None = None
    rows = []
    for words, formulations in choices.items():
        cells: list[str | int | None] = [words]
        for formulation in formulations:
            if formulation is None:
                cells.append(None)
                continue
            equations = ap.derive(model, formulation)
            system = ap.compile(equations).bind()
            accelerations = system.accelerations(system.consistent(RATES))
            known = accelerations if known is None else known
            same(f"{formulation.name}, {words}", known, accelerations)
            cells.append(equations.operations)
        rows.append([*cells, kane_operations if formulations[0] is in_plane else None])
    columns = ["speeds", *(f.name for f in choices["automatic"]), "SymPy Kane"]
    return Counts(
        "6. Rolling disk: operations of one right-hand side (5 coordinates, 3 speeds)",
        columns,
        rows,
        [
            "A dash: the formulation does not offer that choice, or the peer was not built so.",
            "SymPy's matrices are counted after cse, with the solve that appell uses.",
        ],
    )


def _rates(system: ap.System) -> np.ndarray:
    """x' at the same state by appell, coordinates in the order yaw, lean, spin, x, y."""
    names = [q.name for q in system.model.coordinates]
    order = [names.index(name) for name in ("yaw", "lean", "spin", "x", "y")]
    x = np.zeros(8)
    x[order[:3]], x[5:] = STATE[:3], STATE[3:]
    rates = system.rhs(0.0, x)
    return np.concatenate([rates[order], rates[5:]])
