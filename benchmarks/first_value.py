"""From nothing to the first value of the right-hand side: model, derivation, functions, one evaluation."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from sympy.core.cache import clear_cache

from benchmarks.models import Chain, appell_system, kane_system, same
from benchmarks.table import Comparison, Comparisons
from benchmarks.timing import by_turns, once

TARGETS = {Chain(7): 100.0, Chain(20, "absolute", "points"): 40.0}
SMALL = (Chain(3), Chain(5, "absolute", "points"))
KANE = "SymPy KanesMethod, lambdify(cse), solve"


class Made(NamedTuple):
    """Best times and operations of both sides."""

    ours: float
    theirs: float
    our_operations: int
    their_operations: int


@cache
def made(chain: Chain, repeats: int) -> Made:
    """Time both sides; SymPy's cache is emptied before every run of either."""
    x = chain.states(1)[:, 0]
    system, kane = appell_system(chain), kane_system(chain)
    same("SymPy", system.rhs(0.0, x), kane.rhs(0.0, x))
    # Kane's method takes seconds, so a round of it is given several of ours.
    ours = by_turns({"appell": lambda: appell_system(chain).rhs(0.0, x)}, 5 * repeats, clear_cache)["appell"]
    theirs = float("inf")
    for _ in range(repeats):
        clear_cache()
        theirs = min(theirs, once(lambda: kane_system(chain).rhs(0.0, x)))
    again = by_turns({"appell": lambda: appell_system(chain).rhs(0.0, x)}, 5 * repeats, clear_cache)["appell"]
    return Made(min(ours, again), theirs, system.equations.operations, kane.operations)


def run(quick: bool) -> Comparisons:
    """Both chains."""
    rows = []
    for chain in SMALL if quick else TARGETS:
        m = made(chain, 1 if quick else 2)
        rows.append(
            Comparison(str(chain), m.ours, KANE, m.theirs, TARGETS.get(chain), m.our_operations, m.their_operations)
        )
    return Comparisons(
        "1. From the model to the first right-hand side",
        rows,
        [
            "Processor time, all imported, SymPy's cache empty. Single states run on CasADi's machine: nothing to compile."
        ],
    )
