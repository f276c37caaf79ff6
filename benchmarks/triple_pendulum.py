"""Ten seconds of a triple pendulum at a tolerance of 1e-12, and the error that is really made."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

import appell as ap
from appell.code import heyoka_code
from benchmarks.models import Chain, appell_system
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import WALL, by_turns, once

TOLERANCE, TARGET = 1e-12, 12.0


def reference(system: ap.System, x: np.ndarray, until: float) -> tuple[np.ndarray, str]:
    """The state at the end by something much tighter, and its name.

    Taylor's method in extended precision (80 bits) where it exists, else in double at machine precision.
    """
    function = system.to_casadi()
    if not heyoka_code.available():
        fine = solve_ivp(system.rhs, (0, until), x, method="DOP853", rtol=3e-14, atol=1e-15)
        return fine.y[:, -1], "SciPy DOP853 at 3e-14"
    import heyoka as hy

    extended = np.finfo(np.longdouble).eps < np.finfo(float).eps
    kind = np.longdouble if extended else float
    letters, constants = heyoka_code.variables(x.size), heyoka_code.parameters(system.p.size)
    rates = heyoka_code.expressions(function, [[hy.time], letters, [], constants])[0]
    integrator = hy.taylor_adaptive(
        list(zip(letters, rates, strict=True)),
        x.astype(kind),
        pars=system.p.astype(kind),
        time=kind(0),
        fp_type=kind,
        compact_mode=True,
    )
    # Steps are kept short: from a symmetric start the last orders may vanish by themselves, and the step be too long.
    integrator.propagate_until(kind(until), max_delta_t=kind(0.02))
    name = f"Taylor in {np.finfo(kind).bits if not extended else 80} bits, tolerance {float(np.finfo(kind).eps):.0e}"
    return np.array(integrator.state, dtype=kind), name


def run(quick: bool) -> Comparisons:
    """appell's integrators against SciPy's DOP853 on the same compiled function."""
    until = 1.0 if quick else 10.0
    system = appell_system(Chain(3))
    start = system.state({"q1": np.pi / 2, "q2": 0.0, "q3": 0.0})
    x = system.to_x(start)
    exact, name = reference(system, x, until)

    compiled = ap.compile(system.equations, "heyoka" if heyoka_code.available() else "auto").bind(system.values)

    def simulated(name: str) -> Callable[[], np.ndarray]:
        method, machine = name.partition(", ")[::2]
        options = {"method": method, "rtol": TOLERANCE, "atol": TOLERANCE, "points": 2, "progress": False}
        return lambda: ap.simulate(compiled if machine else system, start, until, **options).at(until).array

    def scipy() -> np.ndarray:
        return solve_ivp(system.rhs, (0, until), x, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:, -1]

    methods = ["taylor", "dop853", "taylor, machine='heyoka'", "dop853, machine='heyoka'"]
    methods = methods if heyoka_code.available() else ["dop853"]
    aimed = next((method for method in methods if "heyoka" in method), methods[0])  # repeated runs, as for seven links
    actions = {**{method: simulated(method) for method in methods}, "scipy": scipy}
    first = {method: once(actions[method], WALL) for method in methods}
    error = {who: float(np.max(np.abs(action() - exact))) for who, action in actions.items()}
    best = by_turns(actions, 3 if quick else 15)
    rows = [
        Comparison(
            f"{until:g} s, {method}",
            best[method],
            "SciPy DOP853 on system.rhs",
            best["scipy"],
            TARGET if method == aimed and not quick else None,
            note=f"error {error[method]:.1e}, peer's {error['scipy']:.1e}; our first run {first[method]:.2g} s",
        )
        for method in methods
    ]
    return Comparisons(
        f"5. Triple pendulum, tolerance {TOLERANCE:g}",
        rows,
        [
            f"Error: largest difference of the state at the end from {name}.",
            f"One right-hand side takes {system.equations.operations} operations. "
            "Processor time of ap.simulate called again; the first run (on the wall) may compile.",
        ],
    )
