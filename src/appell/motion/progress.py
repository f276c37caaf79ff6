"""A bar with the time left, on a terminal and only for runs that last."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE = 1.5  # seconds without a bar


class Progress:
    """Shows how far a run is.

    Args:
        start: Where it begins.
        end: Where it ends.
        shown: Whether to show at all; by default on terminals only.
        what: What is running.
    """

    def __init__(self, start: float, end: float, shown: bool | None = None, what: str = "simulating") -> None:
        self.start, self.end, self.what = start, end, what
        self.shown = sys.stderr.isatty() if shown is None else shown
        self._begun = self._last = time.monotonic()
        self._bar: Any = None
        self._line: Any = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, now: float) -> None:
        """Say that `now` has been reached."""
        if not self.shown:
            return
        clock = time.monotonic()
        if clock - self._last < 0.1:
            return
        self._last = clock
        if self._bar is None:
            if clock - self._begun < PATIENCE:
                return
            self._bar = self._open()
        self._bar.update(self._line, completed=now - self.start)

    def _open(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("left"),
            TimeRemainingColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._line = bar.add_task(self.what, total=self.end - self.start)
        bar.start()
        return bar
