"""The page: all equations of motion in the form in which they are printed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import sympy as sp

from appell.errors import AppellError
from appell.graph.replay import operations
from appell.model.constraint import sampled
from appell.model.symbols import Letter, t
from appell.reading.blocks import Block, accelerations_kept, blocks
from appell.reading.letters import Shown, shown, weight
from appell.reading.rows import AGREEMENT, Row, Simplifier, agrees
from appell.reading.sharing import Names, Shared, numbered, replaced
from appell.reading.short import short
from appell.reading.trigonometry import gathered

if TYPE_CHECKING:
    from appell.equations import Equations

SMALL = 900  # larger graphs are not simplified unless it is asked for
BRIEF = 200  # parts of them up to this size are, such as kinematics
BUDGET = 10_000  # work of a simplification
NAMING = 7_000  # the same where denominators get names
FORCED = 1_000_000  # the same where it is asked for
READABLE = 200  # pages up to this length need no names
HOPEFUL = 3  # names are tried where one of so many rows could be simplified without
SCALES = (1.0, -1.0, 0.7, -0.6)  # sizes of letters at which what is shorter must be the same
LONGER = 1.3  # named quantities are preferred to simplified formulas that are longer by this factor


@dataclass(frozen=True)
class Section:
    """Rows under a heading."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Page:
    """Everything that is printed.

    Attributes:
        title: Model and principle.
        sections: Kinematics, dynamics, and so on.
        names: Named intermediate quantities, in the order in which they can be evaluated.
        letters: The letters and how they are shown.
        operations: Arithmetic operations of one right-hand side.
    """

    title: str
    sections: tuple[Section, ...]
    names: Names
    letters: Mapping[Letter, Shown]
    operations: int

    @property
    def length(self) -> int:
        """How much there is to read."""
        rows = sum(row.length for section in self.sections for row in section.rows)
        return rows + sum(weight(e) + 2 for e in self.names.values())

    def rewritten(self, change: Callable[[sp.Expr], sp.Expr]) -> Page:
        """The page with every formula changed."""
        names = {name: change(piece) for name, piece in self.names.items()}
        sections = tuple(
            Section(s.heading, tuple(row.rewritten([change(e) for e in row.formulas]) for row in s.rows))
            for s in self.sections
        )
        return replace(self, sections=sections, names=names)

    def by_names(self) -> Page:
        """The page with names for sums that have one: a sum may stand above the bar where its name stands below."""
        given: dict[sp.Expr, sp.Expr] = {}
        names: Names = {}
        for name, formula in self.names.items():
            names[name] = formula.xreplace(given)
            if isinstance(formula, sp.Add):
                given |= {formula: name, -formula: -name}
        return replace(self.rewritten(lambda e: e.xreplace(given)), names=names)

    def section(self, heading: str) -> tuple[Row, ...]:
        """The rows under a heading; none if it is missing."""
        return next((s.rows for s in self.sections if s.heading == heading), ())


def page(equations: Equations, simplify: bool | None = None) -> Page:
    """The page of some equations.

    Args:
        equations: The equations.
        simplify: Whether to simplify or to name intermediate quantities; decided by size if left out.
    """
    return Writer(equations).page(simplify)


class Writer:
    """Writes the page of some equations.

    Args:
        equations: The equations.

    Attributes:
        graphs: The rows on the graph, block by block.
        arguments: What they depend on: t, x, w, p and the unknowns.
        symbols: The letters that stand for them.
        leaves: The letters of the page on the graph.
    """

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.letters = shown(equations)
        self.blocks = blocks(equations)
        known, y, unknowns = (*equations.arguments,), equations.y, equations.unknowns
        if accelerations_kept(equations):
            y, unknowns = equations.mechanics.a, tuple(q.rate.rate for q in equations.coordinates)
        groups = ((t,), equations.states, equations.inputs, equations.model.parameters)
        self.arguments = [*known, y]
        self.symbols = [[self.letters[s] for s in group] for group in (*groups, unknowns)]
        self.leaves: dict[sp.Basic, ca.SX] = {
            s: column[i]
            for column, listed in zip(self.arguments, self.symbols, strict=True)
            for i, s in enumerate(listed)
        }
        self.graphs = [[block.row(i) for i in range(block.size)] for block in self.blocks]
        columns = [column for block in self.graphs for column in block]
        self.shared = Shared(columns, self.arguments, self.symbols)
        self.size = operations(ca.Function("size", self.arguments, columns))

    def page(self, simplify: bool | None) -> Page:
        """The shortest page that is found; argument as for `page`."""
        if not isinstance(simplify, bool | None):
            raise AppellError(f"simplify= is True, False or left out, got {simplify!r}; what is returned is the text.")
        return self._shortened(self._shortest(simplify))

    def _shortest(self, simplify: bool | None) -> Page:
        wanted = simplify if simplify is not None else self.size <= SMALL
        if simplify is False:
            return self._written({}, {})
        brief, plain = ({}, True) if simplify else self._brief()
        if not wanted:
            return self._named(brief)
        graph = [] if simplify else [self._named(brief)]
        longest = LONGER * min((e.length for e in graph), default=inf)
        pages: list[tuple[Page, bool]] = []  # and whether all of it was simplified
        for naming, budget in ((False, BUDGET), (True, NAMING)):
            known = {k: row for k, row in brief.items() if not naming or not row.left}  # these have no names anyhow
            simplifier, rows = self._simplified(FORCED if simplify else budget, naming, longest, known)
            if rows is None:  # given up before all denominators were seen
                continue
            pages.append((self._written(rows, simplifier.names), len(rows) == len(self.shared.columns)))
            readable = pages[-1][1] and pages[-1][0].length <= READABLE
            hopeless = HOPEFUL * len(rows) < len(self.shared.columns)
            if (simplifier.plain and plain) or ((readable or hopeless) and not simplify):
                break
        pages += [(e, False) for e in graph]
        shortest = min(page.length for page, _ in pages)
        return next(page for page, whole in pages if page.length <= (LONGER if whole else 1) * shortest)

    def _simplified(
        self, budget: int, naming: bool, longest: float, known: Mapping[int, Row]
    ) -> tuple[Simplifier, dict[int, Row] | None]:
        """The rows that could be simplified and that agree with the graph, by their number; None if they are long."""
        simplifier = Simplifier(self.shared.pieces, self._velocities, budget, self._norms, naming)
        rows: dict[int, Row] = {}
        number = length = 0
        for block, graphs in zip(self.blocks, self.graphs, strict=True):
            unknowns = self._unknowns(block)
            for lead, graph in enumerate(graphs):
                row = known.get(number)
                if row is None and (unknowns or not self._norms):  # a norm would vanish by itself
                    row = simplifier.row(unknowns, self.shared.columns[number], block.scaled, lead)
                    row = row if row is not None and self._agrees(row, simplifier.names, graph, unknowns) else None
                if row is not None:
                    rows[number] = row
                    length += 0 if row.trivial else row.length
                if length + sum(weight(e) - 1 for e in simplifier.names.values()) > longest:
                    return simplifier, None
                number += 1
        return simplifier, rows

    def _named(self, brief: Mapping[int, Row]) -> Page:
        """Pieces of the graph under names; small blocks simplified, or single rows of them, unless that is long."""
        simplified: dict[int, Row] = {}
        known = self._listed(simplified, {})
        ends = accumulate(len(graphs) for graphs in self.graphs)
        left = [
            [k for k in range(end - len(graphs), end) if k in brief]
            for end, graphs in zip(ends, self.graphs, strict=True)
        ]
        while left:
            rows = {k: brief[k] for k in left.pop(0)}
            tried = self._listed({**simplified, **rows}, {}) if rows else known
            if tried.length - known.length <= (LONGER - 1) * sum(row.length for row in rows.values()):
                simplified, known = {**simplified, **rows}, tried
            elif len(rows) > 1 and self.size <= SMALL:
                left = [*([k] for k in rows), *left]
        return known.rewritten(gathered)

    def _brief(self) -> tuple[dict[int, Row], bool]:
        """The rows of blocks that are small by themselves, simplified, and whether no sum is in their denominators."""
        rows: dict[int, Row] = {}
        number, plain = 0, True
        for block, graphs in zip(self.blocks, self.graphs, strict=True):
            if operations(ca.Function("size", self.arguments, graphs)) <= BRIEF:
                unknowns, shared = self._unknowns(block), Shared(graphs, self.arguments, self.symbols)
                simplifier = Simplifier(shared.pieces, self._velocities, BUDGET, self._norms if unknowns else ())
                for lead, graph in enumerate(graphs):
                    row = simplifier.row(unknowns, shared.columns[lead], block.scaled, lead)
                    if row is not None and self._agrees(row, {}, graph, unknowns):
                        rows[number + lead] = row
                plain &= simplifier.plain
            number += len(graphs)
        return rows, plain

    def _agrees(self, row: Row, names: Names, graph: ca.SX, unknowns: list[Shown]) -> bool:
        quaternions = self.equations.mechanics.variables.quaternions if unknowns else ()
        return agrees(row, names, graph, unknowns, self.arguments, self.leaves, quaternions)

    @property
    def _norms(self) -> list[list[Shown]]:
        """The letters of each quaternion."""
        q = self.equations.coordinates
        return [[self.letters[q[k]] for k in own] for own in self.equations.mechanics.variables.quaternions]

    @property
    def _velocities(self) -> set[Shown]:
        return {self.letters[s] for s in self.equations.speeds}

    def _unknowns(self, block: Block) -> list[Shown]:
        return [self.letters[s] for s in block.unknowns]

    def _written(self, simplified: Mapping[int, Row], names: Names) -> Page:
        """Simplified rows where there are any, pieces of the graph under names in the others."""
        return self._listed(simplified, names).rewritten(gathered)

    def _listed(self, simplified: Mapping[int, Row], names: Names) -> Page:
        """The same with the sines and cosines of the graph."""
        rows: list[Row] = []
        sizes = []
        for block, graphs in zip(self.blocks, self.graphs, strict=True):
            unknowns = self._unknowns(block)
            numbers = range(len(rows), len(rows) + len(graphs))
            rows += [simplified.get(k) or Row.of(unknowns, self.shared.columns[k]) for k in numbers]
            sizes.append(len(graphs))
        used = [e for row in rows for e in row.formulas]
        kept, used = numbered({**names, **self._pieces(simplified)}, used, self._prefix())
        sections = []
        for block, size in zip(self.blocks, sizes, strict=True):
            written = []
            for row in rows[:size]:
                written.append(row.rewritten(used[: len(row.formulas)]))
                used = used[len(row.formulas) :]
            rows = rows[size:]
            if visible := tuple(row for row in written if not row.trivial):
                sections.append(Section(block.heading, visible))
        title = f"{self.equations.model.name} by {self.equations.formulation.name}"
        return Page(title, tuple(sections), kept, self.letters, self.equations.operations)

    def _shortened(self, page: Page) -> Page:
        """Formulas shorter by themselves where names stand in them: the graph has m*(2*a + 2*b)/2 for m*(a + b)."""
        if not page.names or self.size > SMALL:
            return page
        page = page.by_names()
        rows = [row for section in page.sections for row in section.rows]
        written = [*page.names.values(), *(e for row in rows for e in row.formulas)]
        found = [short(e, self._velocities) for e in written]
        values, others = np.split(sampled([*written, *found], SCALES), 2, axis=1)
        off = np.abs(values - others) > AGREEMENT * np.maximum(1.0, np.abs(values))
        same = np.isfinite(values).any(axis=0) & ~off.any(axis=0)
        shorter = {e: other for e, other, ok in zip(written, found, same, strict=True) if ok}
        return page.rewritten(lambda e: shorter.get(e, e))

    def _pieces(self, simplified: Mapping[int, Row]) -> Names:
        """The pieces of the graph; one that a simplified row gives, such as a rate, goes by the letter of the row."""
        letters: dict[Shown, sp.Expr] = {}
        unknowns = [
            self._unknowns(block) for block, graphs in zip(self.blocks, self.graphs, strict=True) for _ in graphs
        ]
        for k in simplified:
            raw = Row.of(unknowns[k], self.shared.columns[k])
            sign, piece = raw.right.as_coeff_Mul()
            if len(raw.left) == 1 and raw.left[0][0] == 1 and sign in (1, -1) and piece in self.shared.pieces:
                letters[piece] = sign * raw.left[0][1]
        return {name: letters.get(name) or replaced(piece, letters) for name, piece in self.shared.pieces.items()}

    def _prefix(self) -> str:
        texts = [s.text for s in self.letters.values()]
        free = (p for p in ("Z", "Y", "X", "aux") if not any(re.fullmatch(rf"{p}_?\d+", word) for word in texts))
        return next(free, "intermediate")
