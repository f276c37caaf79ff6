"""Ten seconds of a chain of seven links at a tolerance of 1e-9: one run by the fused step."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import appell as ap
from appell.code import heyoka_code
from benchmarks.models import Chain, appell_system
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import by_turns
from benchmarks.triple_pendulum import reference

TOLERANCE, TARGET = 1e-9, 8.0


def run(quick: bool) -> Comparisons:
    """`simulate`, its step on CasADi's machine and as machine code, against SciPy's DOP853 on the same function."""
    chain, until = (Chain(3), 1.0) if quick else (Chain(7), 10.0)
    system = appell_system(chain)
    compiled = ap.compile(system.equations, "heyoka" if heyoka_code.available() else "auto").bind(system.values)
    x = np.concatenate([np.full(chain.links, 0.3), np.zeros(chain.links)])
    names = [f"q{i + 1}" for i in range(chain.links)]
    start = dict(zip(names, x, strict=False))
    options = {"rtol": TOLERANCE, "atol": TOLERANCE, "points": 2, "progress": False}

    def fused() -> np.ndarray:
        return ap.simulate(system, start, until, method="dop853", **options).at(until).array

    def machine_code() -> np.ndarray:
        return ap.simulate(compiled, start, until, method="dop853", **options).at(until).array

    def scipy() -> np.ndarray:
        return solve_ivp(system.rhs, (0, until), x, method="DOP853", rtol=TOLERANCE, atol=TOLERANCE).y[:, -1]

    actions = {"simulate, method 'dop853'": fused, "the same, machine='heyoka'": machine_code, "scipy": scipy}
    exact, name = reference(system, x, until)
    error = {who: float(np.max(np.abs(action() - exact))) for who, action in actions.items()}
    best = by_turns(actions, 2 if quick else 7)
    peer = "SciPy DOP853 on system.rhs"
    rows = [
        Comparison(
            f"{chain}, {until:g} s, {who}", best[who], peer, best["scipy"],
            TARGET if "heyoka" in who and not quick else None,
            note=f"error {error[who]:.1e}, peer's {error['scipy']:.1e}",
        )
        for who in actions if who != "scipy"
    ]  # fmt: skip
    notes = [f"Error: largest difference of the state at the end from {name}.", "Processor time of runs made again."]
    return Comparisons(f"5b. One run of a longer chain, tolerance {TOLERANCE:g}", rows, notes)
