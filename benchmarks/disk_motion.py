"""A rolling disk from the model to ten seconds of motion, nothing prepared."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from shutil import which
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
import sympy.physics.mechanics as me
from scipy.integrate import solve_ivp

import appell as ap
from benchmarks.rolling_disk import kane_functions
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import CHILDREN, forget, once

TARGET, TOLERANCE = 50.0, 1e-9
START = {"yaw": 0.0, "lean": 0.3, "spin": 0.0}
TURNING = (0.0, 6.0, 0.4)  # angular velocity in the axes of the plane
VALUES = {name: ap.library.rolling_disk().values[name] for name in "mrg"}


def ours(until: float) -> np.ndarray:
    """Model, equations in the axes of the plane, motion."""
    model = ap.library.rolling_disk()
    disk = model.bodies[0]
    letters = ap.speeds("w1 w2 w3")
    speeds = dict(zip(letters, disk.frame.parent.components(disk.angular_velocity), strict=True))
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds))).bind()
    start = system.state({**START, **dict(zip(letters, TURNING, strict=True))})
    options = {"method": "dop853", "rtol": TOLERANCE, "atol": TOLERANCE, "points": 2, "progress": False}
    motion = ap.simulate(system, start, until, **options)
    return np.array([motion.columns[name][-1] for name in ("yaw", "lean", "spin")])


class Description(NamedTuple):
    """The disk for SymPy: the method with its equations, states, parameters, and the dependent speeds of a start."""

    method: me.KanesMethod
    states: list[sp.Expr]
    parameters: tuple[sp.Symbol, ...]
    start: np.ndarray
    constants: list[float]


def described() -> Description:
    """The same description by SymPy: five coordinates, five speeds, two of them dependent by velocity constraints.

    As in SymPy's own test of a rolling disk (test_kane5.py), with the angular velocity in the axes of the plane, which
    gives it the smallest expressions, and its quicker choice of kinematics.
    """
    t = me.dynamicsymbols._t
    q, u = me.dynamicsymbols("q1:6"), me.dynamicsymbols("u1:6")
    m, r, g = sp.symbols("m r g")
    ground, plane, wheel = (me.ReferenceFrame(name) for name in "NPW")
    plane.orient_body_fixed(ground, (q[0], q[1], 0), "zxy")
    wheel.orient_axis(plane, plane.y, q[2])
    turning = wheel.ang_vel_in(ground)
    wheel.set_ang_vel(ground, u[0] * plane.x + u[1] * plane.y + u[2] * plane.z)
    origin, center = me.Point("O"), me.Point("G")
    contact = origin.locatenew("C", q[3] * ground.x + q[4] * ground.y)
    contact.set_vel(ground, u[3] * ground.x + u[4] * ground.y)
    center.set_pos(contact, r * plane.z)
    center.set_vel(ground, wheel.ang_vel_in(ground).cross(center.pos_from(contact)))
    inertia = me.inertia(plane, m * r**2 / 4, m * r**2 / 2, m * r**2 / 4)
    disk = me.RigidBody("disk", center, wheel, m, (inertia, center))
    kinematics = [(turning - wheel.ang_vel_in(ground)).dot(axis) for axis in plane]
    slip = contact.vel(ground) + wheel.ang_vel_in(plane).cross(contact.pos_from(center))
    rows = [slip.dot(ground.x), slip.dot(ground.y)]
    method = me.KanesMethod(
        ground, q, u[:3], [*kinematics, q[3].diff(t) - u[3], q[4].diff(t) - u[4]], u_dependent=u[3:],
        velocity_constraints=rows,
    )  # fmt: skip
    method.kanes_equations([disk], [(center, -m * g * ground.z)])
    spin = method.kindiffdict()[q[2].diff(t)]
    path = (r * spin * sp.cos(q[0]), r * spin * sp.sin(q[0]))  # rolling: the dependent speeds of the start
    dependent = sp.lambdify([*q[:3], *u[:3], r], path)(*START.values(), *TURNING, VALUES["r"])
    start = np.array([*START.values(), 0.0, 0.0, *TURNING, *dependent])
    return Description(method, [*q, *u], (m, r, g), start, list(VALUES.values()))


def integrated(rhs: Callable[[float, np.ndarray], np.ndarray], start: np.ndarray, until: float) -> np.ndarray:
    """Yaw, lean and spin at the end, by SciPy's DOP853."""
    return solve_ivp(rhs, (0, until), start, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:3, -1]


def sympys(until: float) -> np.ndarray:
    """SymPy alone: a Python function of the matrices, NumPy's solver."""
    d = described()
    matrices = [d.method.mass_matrix_full, d.method.forcing_full]
    f, constants = sp.lambdify([*d.states, *d.parameters], matrices, cse=True), d.constants

    def rhs(_: float, x: np.ndarray) -> np.ndarray:
        A, b = f(*x.tolist(), *constants)
        return np.linalg.solve(A, b[:, 0])

    return integrated(rhs, d.start, until)


def pydys(until: float, generator: str) -> np.ndarray:
    """PyDy's `System` of SymPy's equations; Cython's module is built in a temporary folder, which PyDy removes."""
    from pydy.system import System

    d = described()
    values = dict(zip(d.parameters, d.constants, strict=True))
    system = System(d.method, constants=values)
    f: Any = system.generate_ode_function(generator=generator, constants_arg_type="array", time_first=True)
    order = [d.states.index(s) for s in system.states]
    constants = np.array([values[s] for s in system.constants_symbols])
    # It writes its result into one and the same array, which SciPy keeps: without the copies steps are many and wrong.
    return integrated(lambda t, x: f(t, x, constants).copy(), d.start[order], until)


def by_cython(until: float) -> np.ndarray:
    """PyDy's quick functions, C code built anew."""
    return pydys(until, "cython")


def by_lambdify(until: float) -> np.ndarray:
    """PyDy's functions without a compiler."""
    return pydys(until, "lambdify")


def by_hand(until: float) -> np.ndarray:
    """SymPy's Kane with three coordinates: the contact taken to be at rest, its path added by hand."""
    f, constants = kane_functions()[0], list(VALUES.values())

    def rhs(_: float, x: np.ndarray) -> np.ndarray:
        A, b, K = f(*x[:6].tolist(), *constants)
        return np.concatenate([K[:3, 0], np.linalg.solve(A, b[:, 0]), K[3:, 0]])

    return integrated(rhs, np.array([*START.values(), *TURNING, 0.0, 0.0]), until)


PEERS = {
    sympys: ("SymPy Kane, lambdify(cse), solve_ivp DOP853", "same five coordinates, speeds in plane axes, two rows"),
    by_lambdify: ("PyDy System of it, generator lambdify, solve_ivp DOP853", "the same equations"),
    by_cython: ("PyDy System of it, generator Cython, built anew, solve_ivp DOP853", "the same equations as C code"),
    by_hand: (
        "SymPy Kane, three coordinates by hand, lambdify(cse), solve_ivp DOP853",
        "contact set to rest, path added",
    ),
}
NEEDED = {by_lambdify: ("pydy",), by_cython: ("pydy", "Cython")}
AIMED = (sympys, by_cython)


def run(quick: bool) -> Comparisons:
    """All sides with SymPy's cache empty, by turns; what a compiler builds for seconds only once."""
    until, rounds = (1.0, 1) if quick else (10.0, 5)
    expected, agreement, missing = ours(until), {}, {}
    best = {ours: float("inf")}
    for action in PEERS:
        missing[action] = _missing(action, quick)
        if missing[action]:
            continue
        forget()
        found: list[np.ndarray] = []
        best[action] = once(lambda action=action, found=found: found.append(action(until)), CHILDREN)
        agreement[action] = worst = float(np.max(np.abs(expected - found[0])))
        if not worst < 1e-5:
            raise AssertionError(f"{PEERS[action][0]} and appell differ by {worst:.2g} after {until:g} s.")
    for _ in range(rounds):
        for action in (a for a in best if a is not by_cython):
            forget()
            best[action] = min(best[action], once(lambda action=action: action(until), CHILDREN))
    rows = []
    for action, (name, note) in PEERS.items():
        target = None if quick or action not in AIMED else TARGET
        words = missing[action] or f"{note}; they agree to {agreement[action]:.1e}"
        rows.append(Comparison(f"model to motion, {until:g} s", best[ours], name, best.get(action), target, note=words))
    notes = [
        "Processor time with that of compilers, everything imported, SymPy's cache empty, nothing built before;"
        " ours by method 'dop853', which compiles nothing."
    ]
    return Comparisons(f"6b. Rolling disk, tolerance {TOLERANCE:g}", rows, notes)


def _missing(action: Callable[[float], np.ndarray], quick: bool) -> str:
    """Why a peer is not measured; empty if it is."""
    absent = [name for name in NEEDED.get(action, ()) if find_spec(name) is None]
    if absent:
        return f"skipped: {' and '.join(absent)} not installed"
    if action is by_cython and which("cc") is None and which("gcc") is None:
        return "skipped: no C compiler"
    return "skipped: its compiler takes seconds" if action is by_cython and quick else ""
