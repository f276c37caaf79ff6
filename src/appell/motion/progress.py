"""A bar with the time left, on a terminal or in a notebook, and only for runs that last."""

from __future__ import annotations

import html
import sys
import time
from typing import Any

from appell.terminal import in_notebook, on_terminal

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
        self.shown = (on_terminal(sys.stderr) or in_notebook()) if shown is None else shown
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
        if in_notebook():
            return _Cell(self.what, self.end - self.start)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TextColumn("left"),
            TimeRemainingColumn(), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._line = bar.add_task(self.what, total=self.end - self.start)
        bar.start()
        return bar


class _Cell:
    """A bar in the output of a notebook's cell; it is gone when the run is over."""

    def __init__(self, what: str, total: float) -> None:
        from IPython.display import HTML, display  # pyright: ignore[reportMissingImports]

        self.what, self.total, self._html = what, total, HTML
        self._begun = time.monotonic()
        self._handle: Any = display(HTML(self._bar(0.0)), display_id=True)

    def _bar(self, share: float) -> str:
        spent = time.monotonic() - self._begun
        left = f", {spent * (1 - share) / share:.0f} s left" if share > 0.01 else ""
        return (
            f'<div style="font:13px system-ui,sans-serif">{html.escape(self.what)} {100 * share:.0f} %{left}'
            f'<progress value="{share:.4f}" max="1" style="width:260px;margin-left:10px"></progress></div>'
        )

    def update(self, line: Any, completed: float) -> None:
        share = min(1.0, max(0.0, completed / self.total)) if self.total > 0 else 1.0
        self._handle.update(self._html(self._bar(share)))

    def stop(self) -> None:
        self._handle.update({"text/plain": "", "text/html": ""}, raw=True)
