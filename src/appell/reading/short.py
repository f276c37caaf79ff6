"""Graphs as formulas, each as short as is found within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import sympy as sp

from appell.graph.raising import raised
from appell.model.symbols import Letter, Rate
from appell.reading.laurent import Laurent, TooLong
from appell.reading.letters import Shown, weight
from appell.reading.normal import Normal
from appell.reading.shorten import Shortener

BUDGET = 20_000  # products of two terms that shortening one formula may take


def short_formulas(graph: ca.SX, leaves: Sequence[ca.SX], letters: Sequence[Sequence[Letter]]) -> sp.Matrix:
    """The entries of a graph as formulas.

    Args:
        graph: The graph.
        leaves: The columns it is made of.
        letters: What their entries are called.
    """
    places = {s: Shown.of(i, s) for i, s in enumerate(s for group in letters[::-1] for s in group)}
    return raised(graph, list(leaves), list(letters)).applyfunc(lambda e: _short(e, places))


def _short(formula: sp.Expr, places: Mapping[Letter, Shown]) -> sp.Expr:
    algebra = Laurent(BUDGET)
    velocities: set[sp.Symbol] = {shown for letter, shown in places.items() if isinstance(letter, Rate)}
    try:
        short = Shortener(algebra, velocities).shortest(Normal(algebra)(formula.xreplace(places)))
    except TooLong:
        return formula
    return min(formula, short.xreplace({shown: letter for letter, shown in places.items()}), key=weight)
