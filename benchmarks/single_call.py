"""One right-hand side from Python: what every hand-written loop and every SciPy integrator pays."""

from __future__ import annotations

import numpy as np

import appell as ap
from appell.code.native import compiler
from benchmarks.first_value import SMALL
from benchmarks.models import Chain, Rhs, appell_system, kane_system, pinocchio_rhs, pydy_rhs, same
from benchmarks.robot_arms import Pinocchio, arm
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import Action, per_call

PINOCCHIO = "Pinocchio aba"
ARM = 5.0
TARGETS = {Chain(7): 50.0, Chain(20, "absolute", "points"): 50.0}


def run(quick: bool) -> Comparisons:
    """system.rhs(t, x) against lambdified Kane with its solve, and against PyDy's C code."""
    rows = []
    for chain in SMALL if quick else TARGETS:
        x = chain.states(1)[:, 0]
        system, kane = appell_system(chain), kane_system(chain)
        peers: dict[str, Rhs] = {"SymPy lambdify(cse), solve": kane.rhs}
        missing = {}
        try:
            peers["PyDy Cython, solve"] = pydy_rhs(chain)
        except ImportError as error:
            missing["PyDy Cython, solve"] = str(error)
        if chain.angles == "relative":
            try:
                peers[PINOCCHIO] = pinocchio_rhs(chain)
            except ImportError as error:
                missing[PINOCCHIO] = str(error)
        for who, rhs in peers.items():
            same(who, system.rhs(0.0, x), rhs(0.0, x))
        calls = {"CasADi's machine": lambda: system.rhs(0.0, x)}  # noqa: B023
        if compiler() is not None:
            native = ap.compile(system.equations, "c").bind(system.values)
            same("native code", system.rhs(0.0, x), native.rhs(0.0, x))
            calls["native code"] = lambda: native.rhs(0.0, x)  # noqa: B023
        machines = list(calls)
        calls.update({who: lambda rhs=rhs: rhs(0.0, x) for who, rhs in peers.items()})  # noqa: B023
        best = per_call(calls)
        ours, theirs = system.equations.operations, kane.operations
        for machine in machines:
            for who in (*peers, *missing):
                target = TARGETS.get(chain) if who.startswith("SymPy") and machine == machines[-1] else None
                what, note = f"{chain}, {machine}", missing.get(who, "")
                rows.append(Comparison(what, best[machine], who, best.get(who), target, ours, theirs, note))
    return Comparisons(
        "3. One right-hand side called from Python",
        rows + _arm(quick),
        ["Processor time. Native code: machine='c'. Pinocchio: x' = (q', aba(q, q', tau)); alone: the call itself."],
    )


def _arm(quick: bool) -> list[Comparison]:
    """An arm with seven joints in space against Pinocchio."""
    model = arm(3) if quick else ap.library.model("seven-axis-arm")
    equations = ap.derive(model)
    systems = {"CasADi's machine": ap.compile(equations).bind()}
    if compiler() is not None:
        systems["native code"] = ap.compile(equations, "c").bind()
    n = len(model.coordinates)
    x = np.random.default_rng(1).normal(size=2 * n)
    calls: dict[str, Action] = {name: lambda s=s: s.rhs(0.0, x) for name, s in systems.items()}
    note = ""
    try:
        peer = Pinocchio(model)
    except ImportError:
        note = 'pinocchio is not installed; pip install "appell[peers]"'
    else:
        q, v = x[:n].copy(), x[n:].copy()
        pin, data, still = peer.pin, peer.data, peer.still
        for name, system in systems.items():
            same(f"{PINOCCHIO} and {name}", system.rhs(0.0, x), peer.rhs(0.0, x))
        calls[PINOCCHIO] = lambda: peer.rhs(0.0, x)
        calls[f"{PINOCCHIO}, alone"] = lambda: pin.aba(peer.model, data, q, v, still)
    best, operations = per_call(calls), equations.operations
    return [
        Comparison(
            f"{model.name}, {name}",
            best[name],
            who,
            best.get(who),
            ARM if name == "native code" and who == PINOCCHIO and not quick else None,
            operations,
            note=note,
        )
        for name in systems
        for who in (PINOCCHIO, f"{PINOCCHIO}, alone")
    ]
