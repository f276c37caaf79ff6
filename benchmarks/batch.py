"""Many right-hand sides at once, per evaluation, against the rigid-body libraries called in a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import numpy as np

import appell as ap
from benchmarks import robot_arms
from benchmarks.models import Chain, appell_system, mujoco_accelerations, pinocchio_accelerations, same
from benchmarks.robot_arms import Pinocchio
from benchmarks.table import Comparison, Comparisons
from benchmarks.table import count as counted
from benchmarks.timing import WALL, by_turns

PLANAR, SPATIAL = 60.0, 30.0
ABA, FORWARD = "Pinocchio aba, Python loop", "MuJoCo mj_forward, Python loop"
Accelerations = Callable[[np.ndarray], np.ndarray]


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
    """A chain of rods in relative angles and a seven-axis arm, which all sides know."""
    chain, count = (Chain(3), 10_000) if quick else (Chain(7), 100_000)
    arm = robot_arms.arm(3) if quick else ap.library.model("seven-axis-arm")
    planar, spatial = appell_system(chain), ap.compile(ap.derive(arm)).bind()
    rows = _rows(
        f"{chain}",
        planar,
        chain.states(count),
        {ABA: lambda: pinocchio_accelerations(chain), FORWARD: lambda: mujoco_accelerations(chain)},
        None if quick else PLANAR,
    )
    states = np.random.default_rng(1).normal(size=(2 * len(arm.coordinates), count))
    peers = {ABA: lambda: Pinocchio(arm).accelerations, FORWARD: lambda: robot_arms.mujoco_accelerations(arm)}
    rows += _rows(arm.name, spatial, states, peers, None if quick else SPATIAL)
    each = " and ".join(str(system.equations.operations) for system in (planar, spatial))
    return Comparisons(
        f"4. {counted(count)} right-hand sides at once, per evaluation",
        rows,
        [f"Ours: one call with states as columns and a new array for the result, {each} operations each."],
    )


def _rows(
    what: str,
    system: ap.System,
    states: np.ndarray,
    peers: Mapping[str, Callable[[], Accelerations]],
    target: float | None,
) -> list[Comparison]:
    """One system on all cores and on one, against every peer that is there."""
    found, missing, n, count = {}, {}, states.shape[0] // 2, states.shape[1]
    for who, build in peers.items():
        try:
            found[who] = build()
        except ImportError as error:
            missing[who] = f'{error.name} is not installed; pip install "appell[peers]"'
            continue
        few = states[:, :200]
        same(who, system.rhs(0.0, few)[n:], found[who](few))

    def batch() -> np.ndarray:
        return system.rhs(0.0, states)

    def single_core() -> np.ndarray:
        with one_core():
            return system.rhs(0.0, states)

    calls = {"all cores": batch, "one core": single_core}
    # A short loop is long enough to time the peers, and finds a quiet moment more easily.
    some = states[:, : count // 10]
    repeats = 5 if count < 100_000 else 25
    best = by_turns({**calls, **{who: lambda f=f: f(some) for who, f in found.items()}}, repeats, clock=WALL)
    return [
        Comparison(
            f"{what}, {cores}",
            best[cores] / count,
            who,
            best[who] / some.shape[1] if who in best else None,
            target if cores == "all cores" else None,
            note=missing.get(who, ""),
        )
        for cores in calls
        for who in peers
    ]
