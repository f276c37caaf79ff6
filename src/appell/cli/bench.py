"""`appell bench`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, app
from appell.cli.output import errors, say
from appell.cli.places import PICTURES
from appell.errors import AppellError
from appell.files import check_place, write_text


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Topics; all if left out.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, no targets.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Only name the topics.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the numbers: bench.json, or a table for a page: bench.md.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the growth curves: .png .svg .pdf (topic growth).")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure appell and its peers side by side. Prints ratios and operation counts."""
    with errors(as_json):
        suite = _suite()
        if listed:
            say(list(suite.TOPICS)) if as_json else print("\n".join(suite.TOPICS))
            return
        chosen = list(names or ())
        if suite.unknown(chosen):
            raise AppellError(f"{suite.unknown(chosen)}.")
        if out is not None and out.suffix not in (".json", ".md"):
            raise AppellError(f"Cannot write {out.name!r}: use .json or .md.")
        if plot is not None and plot.suffix not in PICTURES:
            raise AppellError(f"Cannot draw {plot.name!r}: use .png, .svg or .pdf.")
        if plot is not None and chosen and "growth" not in chosen:
            raise AppellError("The curves are those of the topic growth; add it to the names.")
        for path in (out, plot):
            if path is not None:
                check_place(path)
        console = suite.console()
        console.quiet = as_json
        about, results = suite.measured(chosen, quick, console)
        if as_json:
            print(suite.saved(about, results, quick), end="")
        if out is not None:
            text = suite.saved(about, results, quick) if out.suffix == ".json" else suite.markdown(about, results)
            write_text(out, text)
        if plot is not None:
            suite.curves(results, plot)


def _suite() -> Any:
    """The benchmarks: a folder of the repository, and within the installed package."""
    import appell

    package = Path(appell.__file__).parent
    for root in (package / "measured", package.parents[1]):
        if (root / "benchmarks" / "suite.py").is_file():
            sys.path.insert(0, str(root))
            try:
                return import_module("benchmarks.suite")
            finally:
                sys.path.remove(str(root))
    raise AppellError(
        'This installation of appell has no benchmarks; they come with the wheel (`pip install "appell[peers]"`) and '
        'with its source (`pip install -e ".[peers]"` there).'
    )
