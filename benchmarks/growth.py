"""How the operations of one right-hand side grow with the length of a chain, by each formulation."""

from __future__ import annotations

from math import log

import numpy as np

import appell as ap
from benchmarks.models import GRAVITY, LENGTH, MASS, same
from benchmarks.table import Counts

FORMULATIONS = (ap.Recursive, ap.GibbsAppell, ap.Voronets, ap.Multipliers, ap.UdwadiaKalaba)


def run(quick: bool) -> Counts:
    """Rods in relative angles, the heavier choice, and point masses in absolute angles."""
    lengths = (3, 5) if quick else (5, 10, 15, 20)
    rows = []
    for angles, mass in (("relative", "rods"), ("absolute", "points")):
        counts: dict[str, list[int]] = {f.name: [] for f in FORMULATIONS}
        for n in lengths:
            model = ap.library.pendulum_chain(n, angles, mass)
            x = np.random.default_rng(1).uniform(-1, 1, 2 * n)
            first = None
            for formulation in FORMULATIONS:
                equations = ap.derive(model, formulation())
                value = ap.compile(equations).bind({"m": MASS, "l": LENGTH, "g": GRAVITY}).rhs(0.0, x)
                first = value if first is None else first
                same(formulation.name, first, value)
                counts[formulation.name].append(equations.operations)
        for name, found in counts.items():
            order = log(found[-1] / found[-2]) / log(lengths[-1] / lengths[-2])
            rows.append([f"{mass}, {angles} angles: {name}", *found, found[-1] / lengths[-1], f"n^{order:.1f}"])
    columns = ["chain and formulation", *(f"n = {n}" for n in lengths), f"per link, n = {lengths[-1]}", "grows like"]
    return Counts("7. Operations of one right-hand side of a chain of n links", columns, rows)
