"""A rolling disk from the model to ten seconds of motion, nothing prepared."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from sympy.core.cache import clear_cache

import appell as ap
from benchmarks.rolling_disk import kane_functions
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import once

TARGET, TOLERANCE = 50.0, 1e-9
START = {"yaw": 0.0, "lean": 0.3, "spin": 0.0}
TURNING = (0.0, 6.0, 0.4)  # angular velocity in the axes of the plane


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


def theirs(until: float) -> np.ndarray:
    """SymPy's Kane, lambdify, solve_ivp."""
    f = kane_functions()[0]
    values = ap.library.rolling_disk().values
    constants = [values[name] for name in "mrg"]

    def rhs(t: float, x: np.ndarray) -> np.ndarray:
        A, b, K = f(*x[:6].tolist(), *constants)
        return np.concatenate([K[:3, 0], np.linalg.solve(A, b[:, 0]), K[3:, 0]])

    x = np.array([*START.values(), *TURNING, 0.0, 0.0])
    return solve_ivp(rhs, (0, until), x, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:3, -1]


def run(quick: bool) -> Comparisons:
    """Both sides with SymPy's cache empty."""
    until, rounds = (1.0, 1) if quick else (10.0, 3)
    worst = float(np.max(np.abs(ours(until) - theirs(until))))
    if not worst < 1e-5:
        raise AssertionError(f"SymPy and appell differ by {worst:.2g} after {until:g} s.")
    best = {}
    for who, action in (("ours", ours), ("theirs", theirs)):
        found = []
        for _ in range(rounds):
            clear_cache()
            found.append(once(lambda action=action: action(until)))
        best[who] = min(found)
    row = Comparison(
        f"model to motion, {until:g} s", best["ours"], "SymPy Kane, lambdify(cse), solve_ivp DOP853", best["theirs"],
        None if quick else TARGET, note=f"they agree to {worst:.1e}",
    )  # fmt: skip
    notes = [
        "Processor time, everything imported, SymPy's cache empty; ours by method 'dop853', which compiles nothing."
    ]
    return Comparisons(f"6b. Rolling disk, tolerance {TOLERANCE:g}", [row], notes)
