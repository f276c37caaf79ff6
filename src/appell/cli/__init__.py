"""The command line, one file for each command.

MODEL is a name from `appell list` or a Python file that defines `model` (and, if it likes, `formulation`, `events`,
`outputs`).
"""

from __future__ import annotations

import sys

from appell.cli import (  # each adds its command
    bench,
    explore,
    export,
    list_models,
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
    "plan",
    "run",
    "show",
    "stabilize",
    "sweep",
    "track",
    "verify",
]


def main() -> None:
    """Entry point; letters that the terminal does not have are written as their codes."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    app(prog_name="appell")
