"""From nothing to SIMD machine code, with the store of machine code on disk empty and filled."""

from __future__ import annotations

import tempfile

import numpy as np

from benchmarks.first_value import KANE, ROUNDS, SMALL, made
from benchmarks.models import Chain, appell_system, same
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import CPU, WALL, in_new_process

TARGETS = {Chain(7): (25.0, 80.0), Chain(20, "absolute", "points"): (10.0, 40.0)}


def measure(links: int, angles: str, mass: str) -> float:
    """Seconds to the first values of a batch, everything else warm; for a process of its own.

    LLVM works on several cores, so on a quiet machine the wall shows less than the processors' sum, on a busy one more;
    neither can be less than the quiet wall would show, so the smaller one counts.
    """
    small = Chain(2, angles, mass)
    appell_system(small).rhs(0.0, small.states(8))
    chain = Chain(links, angles, mass)
    states = chain.states(8)
    began = WALL(), CPU()
    system = appell_system(chain)
    batch = system.rhs(0.0, states)
    seconds = min(WALL() - began[0], CPU() - began[1])
    same("CasADi's machine", batch, np.array([system.rhs(0.0, x) for x in states.T]).T)
    return seconds


def run(quick: bool) -> Comparisons:
    """Both chains, cold and warm."""
    rows = []
    for chain in SMALL if quick else TARGETS:
        arguments = [chain.links, chain.angles, chain.mass]
        cold, warm = [], []
        for _ in range(1 if quick else 6):
            with tempfile.TemporaryDirectory(prefix="heyoka-") as folder:
                cold.append(in_new_process("benchmarks.machine_code", "measure", arguments, folder))
                warm.append(in_new_process("benchmarks.machine_code", "measure", arguments, folder))
        m = made(chain, ROUNDS[quick])
        empty, filled = TARGETS.get(chain, (None, None))
        for words, seconds, target in (("empty cache", min(cold), empty), ("filled cache", min(warm), filled)):
            what = f"{chain}, {words}"
            rows.append(Comparison(what, seconds, KANE, m.theirs, target, m.our_operations, m.their_operations))
    return Comparisons(
        "2. From the model to machine code (SIMD batch function)",
        rows,
        [
            "Ours: time on the wall or of the processors, whichever is less, in a process of its own, to machine code.",
            "The peer's: processor time to Python code, from topic 1.",
        ],
    )
