"""Operations of a rolling disk in several choices of speeds, by each formulation."""

from __future__ import annotations

import numpy as np
import sympy as sp
import sympy.physics.mechanics as me

import appell as ap
from benchmarks.models import counted, same
from benchmarks.table import Counts

NONE = "no such choice"
STATE = (0.3, 0.4, 0.5, -0.2, 3.0, 0.7)  # yaw, lean, spin; angular velocity in plane axes


def kane() -> tuple[int, np.ndarray]:
    """SymPy's rolling disk, speeds in plane axes: operations, and u' at a state.

    As in SymPy's documentation: the contact's path is left out.
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
    rates = sp.Matrix([method.kindiffdict()[q.diff()] for q in (q1, q2, q3)])
    f = sp.lambdify([q1, q2, q3, u1, u2, u3, m, r, g], [M, F], cse=True)
    model = ap.library.rolling_disk()
    values = [model.values[name] for name in ("m", "r", "g")]
    A, b = f(*STATE, *values)
    return counted(M, F, rates), np.linalg.solve(A, b[:, 0])


def run(quick: bool) -> Counts:
    """Plane axes, body axes, ground axes, rates; every choice must give the same accelerations."""
    model = ap.library.rolling_disk()
    disk = model.bodies[0]
    wheel = disk.frame
    x, y = (q for q in model.coordinates if q.name in "xy")
    w = ap.speeds("w1 w2 w3")
    axes = {"plane": wheel.parent, "body": wheel, "ground": model.ground}
    omega = {name: dict(zip(w, frame.components(disk.angular_velocity), strict=True)) for name, frame in axes.items()}
    all_rates = (ap.Multipliers(), ap.UdwadiaKalaba())
    choices = {
        "angular velocity in plane axes": (ap.GibbsAppell(omega["plane"]), None, None, None),
        "angular velocity in body axes": (ap.GibbsAppell(omega["body"]), None, None, None),
        "angular velocity in ground axes": (ap.GibbsAppell(omega["ground"]), None, None, None),
        "rates of yaw, lean, spin": (ap.GibbsAppell(dependent=[x, y]), ap.Voronets(dependent=[x, y]), None, None),
        "automatic": (ap.GibbsAppell(), ap.Voronets(), *all_rates),
    }
    known: np.ndarray | None = None
    rows = []
    for words, formulations in choices.items():
        cells: list[str | int] = [words]
        for formulation in formulations:
            if formulation is None:
                cells.append(NONE)
                continue
            equations = ap.derive(model, formulation)
            system = ap.compile(equations).bind()
            state = system.consistent(
                {"yaw": 0.3, "lean": 0.4, "spin": 0.5, "yaw.rate": 0.7, "lean.rate": -0.2, "spin.rate": 3.0}
            )
            accelerations = system.accelerations(state)
            known = accelerations if known is None else known
            same(f"{formulation.name}, {words}", known, accelerations)
            cells.append(equations.operations)
        rows.append(cells)
    plane = ap.compile(ap.derive(model, choices["angular velocity in plane axes"][0])).bind()
    operations, turning = kane()
    same("SymPy", _turning(plane), turning)
    rows.append(["SymPy KanesMethod, plane axes, path left out", operations, *[NONE] * 3])
    columns = ["speeds", "Gibbs-Appell", *(f.name for f in (ap.Voronets, *all_rates))]
    return Counts(
        "6. Rolling disk: operations of one right-hand side (5 coordinates, 3 speeds)",
        columns,
        rows,
        ["SymPy's row counts its matrices after cse and the same solve; its state has no contact point, ours has."],
    )


def _turning(system: ap.System) -> np.ndarray:
    """u' at the same state by appell."""
    positions = {"yaw": STATE[0], "lean": STATE[1], "spin": STATE[2]}
    x = np.array([*(positions.get(q.name, 0.0) for q in system.model.coordinates), *STATE[3:]])
    return system.rhs(0.0, x)[-3:]
