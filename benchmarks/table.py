"""What the benchmarks print: comparisons with a ratio, and counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

Result = dict[str, Any]


@dataclass(frozen=True)
class Comparison:
    """One measurement of ours against one of a peer's.

    Attributes:
        what: System and quantity.
        ours: Seconds.
        peer: Who is compared with.
        theirs: Seconds; None if the peer is missing.
        target: How many times faster we want to be; None if there is no aim.
        our_operations: Arithmetic operations of one right-hand side, ours.
        their_operations: The peer's, where they can be counted.
        note: What else one must know to read the numbers.
    """

    what: str
    ours: float
    peer: str
    theirs: float | None
    target: float | None = None
    our_operations: int | None = None
    their_operations: int | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times longer the peer takes."""
        return None if self.theirs is None else self.theirs / self.ours

    @property
    def met(self) -> bool | None:
        """Whether the aim is reached; None if there is none, or no peer."""
        return None if self.ratio is None or self.target is None else self.ratio >= self.target


@dataclass(frozen=True)
class Comparisons:
    """A topic whose rows are ratios."""

    title: str
    rows: Sequence[Comparison]
    notes: Sequence[str] = field(default_factory=tuple)

    def show(self, console: Console) -> None:
        """Print it."""
        counted = any(row.our_operations is not None for row in self.rows)
        table = Table(title=self.title, title_justify="left", title_style="bold", expand=False)
        table.add_column("what")
        table.add_column("appell", justify="right", no_wrap=True)
        table.add_column("peer")
        table.add_column("peer takes", justify="right", no_wrap=True)
        table.add_column("ratio", justify="right", style="bold", no_wrap=True)
        table.add_column("target", justify="right", no_wrap=True)
        table.add_column("met", no_wrap=True)
        if counted:
            table.add_column("operations, ours : peer's", justify="right")
        table.add_column("note")
        for row in self.rows:
            cells = [
                escape(row.what),
                duration(row.ours),
                row.peer,
                duration(row.theirs),
                times(row.ratio),
                times(row.target),
            ]
            cells.append({True: "[green]yes[/green]", False: "[red]no[/red]", None: "-"}[row.met])
            if counted:
                cells.append(f"{count(row.our_operations)} : {count(row.their_operations)}")
            table.add_row(*cells, escape(row.note))
        console.print(table)
        for note in self.notes:
            console.print(f"  {note}", style="dim")
        console.print()

    def to_json(self) -> Result:
        """Plain data."""
        rows = [{**asdict(row), "ratio": row.ratio, "met": row.met} for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


@dataclass(frozen=True)
class Counts:
    """A topic whose cells are counts (or words about a choice that does not exist)."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = field(default_factory=tuple)

    def show(self, console: Console) -> None:
        """Print it."""
        table = Table(title=self.title, title_justify="left", title_style="bold", expand=False)
        for i, name in enumerate(self.columns):
            table.add_column(name, justify="left" if i == 0 else "right")
        for row in self.rows:
            table.add_row(*(cell if isinstance(cell, str) else count(cell) for cell in row))
        console.print(table)
        for note in self.notes:
            console.print(f"  {note}", style="dim")
        console.print()

    def to_json(self) -> Result:
        """Plain data."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


def duration(seconds: float | None) -> str:
    """Seconds with a fitting prefix."""
    if seconds is None:
        return "missing"
    for limit, factor, unit in ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms")):
        if seconds < limit:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def times(ratio: float | None) -> str:
    """A ratio."""
    return "-" if ratio is None else f"{ratio:.3g}x"


def count(number: float | None) -> str:
    """A count with thousands apart."""
    if number is None:
        return "-"
    return f"{number:,}".replace(",", " ") if isinstance(number, int) else f"{number:.3g}"


def scoreboard(topics: Iterable[Comparisons | Counts]) -> str:
    """How many aims are reached."""
    met = [row.met for topic in topics if isinstance(topic, Comparisons) for row in topic.rows if row.met is not None]
    return f"{sum(met)} of {len(met)} targets met" if met else "no targets among these"
