"""The Typer application, and the arguments that commands share."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperGroup

from appell.cli.output import say

# of the Click that Typer works with, its own or the installed one
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


ORDER = (
    "list",
    "show",
    "verify",
    "run",
    "explore",
    "sweep",
    "periodic",
    "stabilize",
    "plan",
    "track",
    "export",
    "bench",
)


class Commands(TyperGroup):
    """The commands, from the first one types on; a wrong command line is told to machines as other errors are."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names, in the order of the help."""
        return sorted(super().list_commands(ctx), key=ORDER.index)

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, *, standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:  # fmt: skip
        """Run one of them."""
        words = list(sys.argv[1:] if args is None else args)
        if "--json" not in words or not standalone_mode:
            return super().main(words, prog_name, standalone_mode=standalone_mode, **extra)
        try:
            sys.exit(super().main(words, prog_name, standalone_mode=False, **extra))
        except UsageError as error:
            say({"error": "UsageError", "message": error.format_message()})
            sys.exit(error.exit_code)


app = typer.Typer(
    cls=Commands,
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
    """Equations of motion without multipliers: derive, prove, compile, simulate.

    Begin with `appell list`, then `appell run rolling-disk --out disk.html`. An option that takes a NAME, a VALUE or
    NAME=VALUE may be repeated or take several, separated by commas; the ending of a FILE says what is written to it.
    """


ModelArgument = Annotated[
    str, typer.Argument(metavar="MODEL", help="A name from `appell list`, a FILE.py, or a FILE.urdf.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for other programs.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter, input or starting value.")
]
ByOption = Annotated[
    str | None,
    typer.Option(
        metavar="PRINCIPLE", help="Derive by this principle: gibbs-appell, voronets, shulgin, multipliers, ..."
    ),
]
UntilOption = Annotated[float | None, typer.Option(help="End time in seconds; the model's suggestion if left out.")]
MethodOption = Annotated[str, typer.Option(help="auto, taylor, dop853, cvodes, RK45, Radau, ...")]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[INPUT=]VALUE", help="Largest absolute value of an input, or of all; INPUT=LOW,HIGH for both ends."
    ),
]
RateOption = Annotated[
    float | None, typer.Option(help="Samples per second of the control, held in between; as its law asks if left out.")
]
ReportOption = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Write a report to hand on: .html (self-contained), .tex or .md."),
]
