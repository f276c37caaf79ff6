"""The Typer application, and the arguments that commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="appell",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        from appell import __version__

        print(f"appell {__version__}")
        raise typer.Exit


@app.callback()
def appell(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Equations of motion without multipliers: derive, prove, compile, simulate."""


ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A name from `appell list`, a FILE.py, or a FILE.urdf.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter, input or starting value.")
]
ReportOption = Annotated[
    Path | None, typer.Option(help="Write a report to hand on: .html (self-contained), .tex or .md.")
]
