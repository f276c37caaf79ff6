"""From the graph to short formulas: whatever occurs more than once gets a name of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import casadi as ca
import sympy as sp

from appell.graph.raising import raised
from appell.model.symbols import letters_in
from appell.reading.letters import Shown, weight

KEPT = 4  # formulas no longer than this are written out wherever they occur
ONCE = 30  # so are formulas that occur once, up to this length
BEHIND = 10_000  # the place of names: behind all letters

Names = dict[Shown, sp.Expr]


class Shared:
    """Entries of matrices on the graph, raised piece by piece.

    A formula of the graph is a tree that may be exponentially larger than the graph; here no piece is larger than the
    part of the graph it stands for.

    Args:
        columns: Columns on the graph.
        leaves: The graph's symbols, as columns.
        letters: The letters that stand for them.

    Attributes:
        columns: The formulas of each column, in letters and names.
        pieces: For each name its formula, each after those it uses itself.
    """

    def __init__(
        self, columns: Sequence[ca.SX], leaves: Sequence[ca.SX], letters: Sequence[Sequence[sp.Symbol]]
    ) -> None:
        stacked = ca.cse(ca.densify(ca.vertcat(*columns)))
        (stacked,), names, formulas = ca.shared([stacked], "shared_", "")
        symbols = [Shown(BEHIND + i, f"shared_{i}", "") for i in range(len(names))]
        graph = ca.vertcat(*names) if names else ca.SX(0, 1)
        flat = list(raised(ca.vertcat(stacked, *formulas), [*leaves, graph], [*letters, symbols]))
        self.columns: list[list[sp.Expr]] = []
        for column in columns:
            self.columns.append(flat[: column.numel()])
            flat = flat[column.numel() :]
        pieces = dict(zip(symbols, flat, strict=True))
        self.pieces = _in_order(pieces, [e for column in self.columns for e in column])


def numbered(pieces: Mapping[Shown, sp.Expr], used: Sequence[sp.Expr], prefix: str) -> tuple[Names, list[sp.Expr]]:
    """Write out what is short or occurs once, number the rest.

    Args:
        pieces: For each name its formula, each after those it uses itself.
        used: Formulas that use the names.
        prefix: Of the numbered names.

    Returns:
        The numbered names with their formulas, and the formulas that use them.
    """
    short: Names = {}
    long: Names = {}
    for symbol, piece in pieces.items():
        formula = replaced(piece, short)
        (short if weight(formula) <= KEPT else long)[symbol] = formula
    used = [replaced(e, short) for e in used]
    counts = _counts(long, used)
    put: Names = {}
    kept: Names = {}
    numbers: dict[sp.Expr, Shown] = {}
    for symbol, piece in long.items():
        if not counts[symbol]:
            continue
        formula = replaced(piece, put)
        if formula in numbers:  # the same, with factors or terms in another order on the graph
            put[symbol] = numbers[formula]
            continue
        if counts[symbol] == 1 and weight(formula) <= ONCE:
            put[symbol] = formula
            continue
        number = len(kept) + 1
        put[symbol] = Shown(BEHIND + number, f"{prefix}{number}", f"{prefix}_{{{number}}}")
        kept[put[symbol]], numbers[formula] = formula, put[symbol]
    return kept, [replaced(e, put) for e in used]


def replaced(formula: sp.Expr, put: Mapping[Shown, sp.Expr]) -> sp.Expr:
    """A formula with others in place of symbols; SymPy's own way would multiply numbers into brackets again."""
    if formula in put:
        return put[formula]
    inside = [replaced(e, put) for e in formula.args]
    if all(new is old for new, old in zip(inside, formula.args, strict=True)):
        return formula
    if isinstance(formula, sp.Mul) and len(inside) == 2 and isinstance(inside[0], sp.Number):
        return sp.Mul(*inside, evaluate=not isinstance(inside[1], sp.Add))
    return _made(formula.func, tuple(inside))


@lru_cache(2**15)
def _made(kind: type[sp.Expr], inside: tuple[sp.Expr, ...]) -> sp.Expr:
    """A sum, a product, ...: a page is written several times, and SymPy's own memory is too short for it."""
    return kind(*inside)


def _counts(names: Names, used: Iterable[sp.Expr]) -> dict[Shown, int]:
    """How often each name occurs in the formulas and in the formulas of names that occur."""
    counts = dict.fromkeys(names, 0)

    def count(formula: sp.Expr) -> None:
        for node in sp.preorder_traversal(formula):
            if node in counts:
                counts[node] += 1

    for formula in used:
        count(formula)
    for name in reversed(names):
        if counts[name]:
            count(names[name])
    return counts


def _in_order(pieces: Names, entries: Sequence[sp.Expr]) -> Names:
    """The pieces that the entries use, each after those it uses itself."""
    ordered: Names = {}

    def missing(formula: sp.Expr) -> list[Shown]:
        found = [s for s in letters_in(formula) if s in pieces and s not in ordered]
        return sorted(found, key=lambda s: s.name, reverse=True)

    stack = [s for e in reversed(entries) for s in missing(e)]
    while stack:
        symbol = stack[-1]
        if symbol in ordered:
            stack.pop()
        elif first := missing(pieces[symbol]):
            stack.extend(first)
        else:
            ordered[stack.pop()] = pieces[symbol]
    return ordered
