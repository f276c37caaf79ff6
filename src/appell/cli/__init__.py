"""The command line, one file for each command.

MODEL is a name from `appell list` or a Python file that defines `model` (and, if it likes, `formulation`, `events`,
`outputs`).
"""

from __future__ import annotations

import os
import sys

from appell.cli import (  # each adds its command
    bench,
    explore,
    export,
    list_models,
    periodic,
    plan,
    run,
    show,
    stabilize,
    sweep,
    track,
    verify,
)
from appell.cli.app import app

__all__ = [
    "app",
    "bench",
    "explore",
    "export",
    "list_models",
    "main",
    "periodic",
    "plan",
    "run",
    "show",
    "stabilize",
    "sweep",
    "track",
    "verify",
]


def main() -> None:
    """Entry point; letters that the terminal does not have are written as their codes, and nothing where none is."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # closed by who started it
            setattr(sys, stream, open(os.devnull, "w", encoding="utf-8"))
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    app(prog_name="appell")
