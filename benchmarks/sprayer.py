"""The spraying robot: how deriving it grows with its nozzles, and a thousand closed-loop runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import sympy as sp
import sympy.physics.mechanics as me
from scipy.integrate import solve_ivp
from sympy.core.cache import clear_cache

import appell as ap
from appell.control import PID
from appell.sprayer import Sprayer, corners, drive, formulation, hold_speeds, start, zigzag
from benchmarks.models import same
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import by_turns

GAINS = (200.0, 400.0, 60.0, 120.0)
STEPS = 1000
HEADING = 0.3  # SymPy's solution of the velocity rows divides by the sine of the heading
KANE = "SymPy KanesMethod, lambdify(cse), solve"


def sprayer_system(nozzles: int) -> ap.System:
    """From nothing to functions."""
    return ap.compile(ap.derive(ap.library.sprayer(nozzles), formulation())).bind()


def kane_accelerations(nozzles: int) -> Callable[[float, float, float], np.ndarray]:
    """v' and omega' by KanesMethod, the mass held constant and the thrust given as a force; (v, omega, m) -> both."""
    q = me.dynamicsymbols("x y theta fr br fl bl")
    x, y, th = q[:3]
    u = me.dynamicsymbols("u1:8")
    m = sp.Symbol("m")
    ground = me.ReferenceFrame("N")
    body = ground.orientnew("B", "Axis", (th, ground.z))
    body.set_ang_vel(ground, u[2] * ground.z)
    origin, axle = me.Point("O"), me.Point("A")
    origin.set_vel(ground, 0)
    axle.set_pos(origin, x * ground.x + y * ground.y)
    axle.set_vel(ground, u[0] * ground.x + u[1] * ground.y)

    def fixed(name: str, forward: float, left: float) -> me.Point:
        point = axle.locatenew(name, forward * body.x + left * body.y)
        point.v2pt_theory(axle, ground, body)
        return point

    bodies = [me.RigidBody("chassis", fixed("C", 0.2, 0), body, m, (me.inertia(body, 0, 0, 10), fixed("C2", 0.2, 0)))]
    loads = []
    for i, (angle, rate, tau) in enumerate(zip(q[3:], u[3:], (0.9, 0.9, 0.7, 0.7), strict=True)):
        wheel = body.orientnew(f"W{i}", "Axis", (angle, body.y))
        wheel.set_ang_vel(body, rate * body.y)
        hub = fixed(f"H{i}", 0.5 if i % 2 == 0 else -0.5, -0.5 if i < 2 else 0.5)
        bodies.append(me.RigidBody(f"wheel {i}", hub, wheel, 0, (me.inertia(body, 0, 0.1, 0), hub)))
        loads += [(wheel, tau * body.y), (body, -tau * body.y)]
    flow, half = 2.0 / nozzles, nozzles // 2
    for i in range(nozzles):
        side = -1 if i < half else 1
        point = fixed(f"K{i}", 0.5 - (i % half) / (half - 1), side * 0.5)
        own = point.vel(ground)
        jet = 0.5 * (np.cos(2 * np.pi / 3) * body.x + side * np.sin(2 * np.pi / 3) * body.y)
        loads.append((point, -flow * jet - (0.1 * own.magnitude() + 0.05) * own))
    forward = u[0] * sp.cos(th) + u[1] * sp.sin(th)
    rows = [u[1] * sp.cos(th) - u[0] * sp.sin(th)]
    rows += [forward + (0.5 if i < 2 else -0.5) * u[2] - 0.3 * u[3 + i] for i in range(4)]
    method = me.KanesMethod(
        ground, q_ind=q, u_ind=[u[3], u[5]], u_dependent=[u[0], u[1], u[2], u[4], u[6]], velocity_constraints=rows,
        kd_eqs=[u[i] - q[i].diff() for i in range(7)],
    )  # fmt: skip
    method.kanes_equations(bodies, loads)
    plain = sp.symbols("p1:8 w1:8")
    names = dict(zip((*q, *u), plain, strict=True))
    M, F = (e.xreplace(names) for e in (method.mass_matrix, method.forcing))
    matrices = sp.lambdify([*plain, m], [M, F], cse=True)
    order = [str(e) for e in method.u]

    def accelerations(v: float, w: float, mass: float) -> np.ndarray:
        right, left = (v + 0.5 * w) / 0.3, (v - 0.5 * w) / 0.3
        c, s = np.cos(HEADING), np.sin(HEADING)
        M, F = matrices(0.0, 0.0, HEADING, *[0.0] * 4, v * c, v * s, w, right, right, left, left, mass)
        rates = dict(zip(order, np.linalg.solve(M, F)[:, 0], strict=True))
        return np.array([rates[str(u[0])] * c + rates[str(u[1])] * s, rates[str(u[2])]])

    return accelerations


def by_hand(gains: tuple[float, ...]) -> Callable[[float, np.ndarray], list[float]]:
    """The closed loop on the zigzag as one writes it in Python: x, y, theta, v, omega, two integrals, mass."""
    kp_v, ki_v, kp_w, ki_w = gains
    places = [(0.5, -0.5), (-0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]

    def f(t: float, x: np.ndarray) -> list[float]:
        _, _, th, v, w, zv, zw, m = x.tolist()
        ev, ew = 1 - v, 0.2 * np.sin(0.5 * t) - w
        force, moment = kp_v * ev + ki_v * zv + m * 0.2 * w * w, kp_w * ew + ki_w * zw - m * 0.2 * v * w
        for px, py in places:
            a, b = v - py * w, px * w
            c = -0.1 * np.sqrt(a * a + b * b) - 0.05
            force, moment = force + c * a, moment + c * (px * b - py * a)
        rates = force / (m + 40 / 9), moment / (10 + 0.04 * m + 10 / 9)
        return [v * np.cos(th), v * np.sin(th), w, *rates, ev, ew, -2.0]

    return f


def growth(counts: tuple[int, ...], peers: tuple[int, ...], repeats: int) -> list[Comparison]:
    """Each number of nozzles against as many times the one before: a ratio of 1 is linear."""
    best, operations, rows = {}, {}, []
    for n in counts:
        system = sprayer_system(n)
        operations[n] = system.equations.operations
        x = system.to_x(system.state({"v": 1.0, "m": 150.0}))
        call = {"appell": lambda n=n, x=x: sprayer_system(n).rhs(0.0, x)}
        best[n] = by_turns(call, repeats, clear_cache)["appell"]
    for before, n in pairwise(counts):
        times = n // before
        rows.append(
            Comparison(
                f"from nothing to the first value, {n} nozzles", best[n], f"{times} times {before} nozzles",
                times * best[before], None, operations[n], times * operations[before],
            )
        )  # fmt: skip
    for n in peers:
        clear_cache()
        began = time.perf_counter()
        kane = kane_accelerations(n)
        value = kane(1.2, 0.3, 140.0)
        seconds = time.perf_counter() - began
        system = sprayer_system(n)
        ours = system.rhs(0.0, system.to_x(system.state({"v": 1.2, "omega": 0.3, "m": 140.0})))
        same(KANE, ours[7:9], value)
        rows.append(
            Comparison(f"from nothing to the first value, {n} nozzles", best[n], KANE, seconds, None, operations[n])
        )
    return rows


def closed_loops(count: int, few: int) -> list[Comparison]:
    """Runs of 20 s along the zigzag, speeds held by PID, each with another filling of the tank."""
    robot, path = Sprayer(corners(sp.pi / 2)), zigzag()
    system = drive(robot, path, hold_speeds(robot, path, PID(*GAINS[:2]), PID(*GAINS[2:])))
    masses = np.linspace(145.0, 150.0, count)
    states = np.stack([system.to_x(start(system, path, mass)) for mass in masses], axis=1)
    labels = [s.label for s in system.equations.states]

    def together() -> np.ndarray:
        """All at once by fixed steps of the classical method of order four."""
        x, h = states.copy(), 20.0 / STEPS
        for i in range(STEPS):
            t = i * h
            k1 = system.rhs(t, x)
            k2 = system.rhs(t + h / 2, x + h / 2 * k1)
            k3 = system.rhs(t + h / 2, x + h / 2 * k2)
            k4 = system.rhs(t + h, x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    def one_by_one(number: int) -> np.ndarray:
        found = []
        for mass in masses[:number]:
            motion = ap.simulate(system, start(system, path, mass), 20.0, points=2, rtol=1e-9, progress=False)
            found.append(system.to_x(motion.at(20.0)))
        return np.array(found).T

    rhs = by_hand(GAINS)

    def peer(number: int) -> np.ndarray:
        begin = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
        found = []
        for mass in masses[:number]:
            begin[-1] = mass
            found.append(solve_ivp(rhs, (0, 20), begin, method="DOP853", rtol=1e-9, atol=1e-9).y[:, -1])
        return np.array(found).T

    names = ["x", "y", "theta", "v", "omega", "v_int", "omega_int", "m"]
    rows = [labels.index(name) for name in names]
    expected = peer(few)
    errors = {
        "at once": np.max(np.abs(together()[rows][:, :few] - expected)),
        "one by one": np.max(np.abs(one_by_one(few)[rows] - expected)),
    }
    if max(errors.values()) > 1e-6:
        raise AssertionError(f"the runs differ: {errors}")
    best = by_turns({"at once": together, "one by one": lambda: one_by_one(few), "peer": lambda: peer(few)}, 2)
    theirs, who = best["peer"] / few, "SciPy DOP853, Python function by hand"
    operations = system.equations.operations
    return [
        Comparison(
            f"a closed-loop run of 20 s, {count} at once, {STEPS} steps", best["at once"] / count, who, theirs, None,
            operations, note=f"differs by {errors['at once']:.0e} from the peer",
        ),
        Comparison(
            "a closed-loop run of 20 s, simulate one by one", best["one by one"] / few, who, theirs, None, operations,
            note=f"differs by {errors['one by one']:.0e}; with event location, dense output and table",
        ),
    ]  # fmt: skip


def run(quick: bool) -> Comparisons:
    """4, 40 and 400 nozzles; a thousand runs."""
    counts = (4, 12) if quick else (4, 40, 400)
    rows = growth(counts, (4,) if quick else (4, 40), 1 if quick else 3)
    rows += closed_loops(*((50, 3) if quick else (1000, 20)))
    return Comparisons(
        "8. The spraying robot",
        rows,
        [
            "Growth: the peer is ourselves with fewer nozzles, so many times; a ratio of 1 is linear growth.",
            "SymPy's Kane is given a constant mass and the thrust as a force: of a changing mass its law is wrong.",
            "Runs are timed per run; the ones called one by one are as many as the peer's, not all of the thousand.",
        ],
    )
