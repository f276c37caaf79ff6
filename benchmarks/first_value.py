"""From nothing to the first value of the right-hand side: model, derivation, functions, one evaluation."""

from __future__ import annotations

from functools import cache
from statistics import median
from typing import NamedTuple

from benchmarks.models import Chain, appell_system, kane_system, same
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import forget, once

TARGETS = {Chain(7): 150.0, Chain(20, "absolute", "points"): 50.0}
SMALL = (Chain(3), Chain(5, "absolute", "points"))
ROUNDS = {True: 1, False: 3}
KANE = "SymPy KanesMethod, lambdify(cse), solve"


class Made(NamedTuple):
    """Times and operations of both sides."""

    ours: float
    theirs: float
    our_operations: int
    their_operations: int


@cache
def made(chain: Chain, rounds: int) -> Made:
    """Time both sides; SymPy's cache is emptied before every run of either.

    The peer takes seconds and seldom finds a quiet machine for so long, so the best of many short runs of ours would
    not be fair: its best round counts, and the median of ours just before and after it.
    """
    x = chain.states(1)[:, 0]
    system, kane = appell_system(chain), kane_system(chain)
    same("SymPy", system.rhs(0.0, x), kane.rhs(0.0, x))

    def ours() -> float:
        forget()
        return once(lambda: appell_system(chain).rhs(0.0, x))

    def theirs() -> float:
        forget()
        return once(lambda: kane_system(chain).rhs(0.0, x))

    found = []
    for _ in range(rounds):
        before, peer, after = [ours() for _ in range(7)], theirs(), [ours() for _ in range(7)]
        found.append((peer, median(before + after)))
    peer, beside = min(found)
    return Made(beside, peer, system.equations.operations, kane.operations)


def run(quick: bool) -> Comparisons:
    """Both chains."""
    rows = []
    for chain in SMALL if quick else TARGETS:
        m = made(chain, ROUNDS[quick])
        rows.append(
            Comparison(str(chain), m.ours, KANE, m.theirs, TARGETS.get(chain), m.our_operations, m.their_operations)
        )
    return Comparisons(
        "1. From the model to the first right-hand side",
        rows,
        [
            "Processor time, everything imported, SymPy's cache empty; the peer's best round and ours beside it.",
            "Our single states run on CasADi's machine: nothing to compile.",
        ],
    )
