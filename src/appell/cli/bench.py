"""`appell bench`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, app
from appell.cli.output import errors, say
from appell.cli.places import PICTURES, check_file, make_folder
from appell.errors import AppellError
from appell.files import write_text


@app.command()
def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Topics; all if left out.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, no aims.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Only name the topics.")] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Save the numbers .json, a table for a page .md; draw the curves of the topic growth .png .svg .pdf.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure appell and other programs side by side. Prints ratios and operation counts."""
    with errors(as_json):
        suite = _suite()
        if listed:
            say(list(suite.TOPICS)) if as_json else print("\n".join(suite.TOPICS))
            return
        chosen = list(names or ())
        if suite.unknown(chosen):
            raise AppellError(f"{suite.unknown(chosen)}.")
        for path in out or ():
            check_file(path, ".json", ".md", *PICTURES)
            if path.suffix in PICTURES and chosen and "growth" not in chosen:
                raise AppellError("The curves are those of the topic growth; add it to the names.")
        console = suite.console()
        console.quiet = as_json
        about, results = suite.measured(chosen, quick, console)
        if as_json:
            print(suite.saved(about, results, quick), end="")
        for path in out or ():
            make_folder(path.parent)
            if path.suffix in PICTURES:
                suite.curves(results, path)
            else:
                saved = path.suffix == ".json"
                write_text(path, suite.saved(about, results, quick) if saved else suite.markdown(about, results))


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
