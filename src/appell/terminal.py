"""Where output is seen: on a terminal or in a notebook; and a table on the terminal."""

from __future__ import annotations

import sys
from typing import TextIO

LINE = 24  # letters that a line of words has at least
APART = 140  # letters of a line where there is no terminal


def on_terminal(stream: TextIO | None) -> bool:
    """Whether what is written to a stream is seen on a terminal; programs in windows have no streams at all."""
    return stream is not None and stream.isatty()


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this; IPython is not loaded to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def print_table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table, as wide as the terminal; wider where it must be, since half a number is none.

    Only words in the last column are broken into lines.

    Args:
        title: What stands above; nothing if empty.
        columns: Names of the columns.
        rows: Entries.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    class Patient(Console):
        def on_broken_pipe(self) -> None:
            """Nobody reads on: Rich would end the program here, before it has written its files."""
            raise

    if title:
        print(title)
    table = Table(show_edge=False, pad_edge=False)
    for k, entries in enumerate(zip(columns, *rows, strict=True)):
        words = k == len(columns) - 1 and any(" " in entry for entry in entries[1:])
        widest = max(map(cell_len, entries))
        table.add_column(entries[0], no_wrap=not words, min_width=min(widest, LINE) if words else widest)
    for row in rows:
        table.add_row(*row)
    console = Patient(width=None if on_terminal(sys.stdout) else APART, highlight=False, markup=False)
    console.width = max(console.width, console.measure(table, options=console.options.update(max_width=10_000)).minimum)
    console.print(table)
