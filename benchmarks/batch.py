"""Many right-hand sides at once, per evaluation, against the rigid-body libraries called in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from benchmarks.models import Chain, appell_system, mujoco_accelerations, pinocchio_accelerations, same
from benchmarks.table import Comparison, Comparisons
from benchmarks.table import count as counted
from benchmarks.timing import WALL, by_turns

TARGET = 60.0
PEERS: dict[str, Callable[[Chain], Callable[[np.ndarray], np.ndarray]]] = {
    "Pinocchio aba, Python loop": pinocchio_accelerations,
    "MuJoCo mj_forward, Python loop": mujoco_accelerations,
}


@contextmanager
def one_core() -> Iterator[None]:
    """heyoka on one core only, where heyoka is installed."""
    try:
        import heyoka
    except ImportError:
        yield
        return
    before = heyoka.get_nthreads()
    heyoka.set_nthreads(1)
    try:
        yield
    finally:
        heyoka.set_nthreads(before)


def run(quick: bool) -> Comparisons:
    """A chain of rods in relative angles, which all sides know."""
    chain, count = (Chain(3), 10_000) if quick else (Chain(7), 100_000)
    states, system = chain.states(count), appell_system(chain)
    found, missing = {}, {}
    for who, build in PEERS.items():
        try:
            found[who] = build(chain)
        except ImportError as error:
            missing[who] = f"{error.name} is not installed; pip install 'appell[peers]'"
            continue
        few = states[:, :200]
        same(who, system.rhs(0.0, few)[chain.links :], found[who](few))

    def batch() -> np.ndarray:
        return system.rhs(0.0, states)

    def single_core() -> np.ndarray:
        with one_core():
            return system.rhs(0.0, states)

    calls = {"all cores": batch, "one core": single_core}
    # A short loop is long enough to time the peers, and finds a quiet moment more easily.
    some = states[:, : count // 10]
    best = by_turns({**calls, **{who: lambda f=f: f(some) for who, f in found.items()}}, 5 if quick else 25, clock=WALL)
    rows, operations = [], system.equations.operations
    for cores in calls:
        for who in PEERS:
            target = TARGET if who.startswith("Pinocchio") and cores == "all cores" and not quick else None
            theirs = best[who] / some.shape[1] if who in best else None
            what = f"{chain}, {cores}"
            rows.append(Comparison(what, best[cores] / count, who, theirs, target, note=missing.get(who, "")))
    return Comparisons(
        f"4. {counted(count)} right-hand sides at once, per evaluation",
        rows,
        [f"Ours: one call with states as columns and a new array for the result, {operations} operations each."],
    )
