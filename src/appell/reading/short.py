"""Graphs as formulas, each as short as is found within a budget."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import sympy as sp

from appell.graph.raising import raised
from appell.model.symbols import Letter, Rate
from appell.reading.laurent import Laurent, TooLong
from appell.reading.letters import Shown, weight
from appell.reading.normal import Normal
from appell.reading.shorten import Shortener

BUDGET = 20_000  # products of two terms that shortening one formula may take
PIECE = 500  # the same for one of many


def short_formulas(graph: ca.SX, leaves: Sequence[ca.SX], letters: Sequence[Sequence[Letter]]) -> sp.Matrix:
    """The entries of a graph as formulas.

    Args:
        graph: The graph.
        leaves: The columns it is made of.
        letters: What their entries are called.
    """
    places = {s: Shown.of(i, s) for i, s in enumerate(s for group in letters[::-1] for s in group)}
    velocities: set[sp.Symbol] = {shown for letter, shown in places.items() if isinstance(letter, Rate)}
    back = {shown: letter for letter, shown in places.items()}

    def written(formula: sp.Expr) -> sp.Expr:
        return min(formula, short(formula.xreplace(places), velocities, BUDGET).xreplace(back), key=weight)

    return raised(graph, list(leaves), list(letters)).applyfunc(written)


def short(formula: sp.Expr, velocities: set[sp.Symbol], budget: int = PIECE) -> sp.Expr:
    """A formula as short as is found, itself if that takes too much work or nothing shorter is found.

    Args:
        formula: The formula, in letters as they are shown.
        velocities: The letters that are velocities.
        budget: How much work it may take.
    """
    algebra = Laurent(budget)
    try:
        found = Shortener(algebra, velocities).shortest(Normal(algebra)(formula))
    except TooLong:
        return formula
    return min(formula, found, key=lambda e: (weight(e), _leaves(e)))


def _leaves(formula: sp.Expr) -> int:
    """How many letters and numbers stand in a formula, signs apart: fewer in a (b + c) than in a b + a c."""
    return sum(not node.args and node != -1 for node in sp.preorder_traversal(formula))
