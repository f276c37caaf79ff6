"""`appell export MODEL`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, ModelArgument, SetOption, app
from appell.cli.case import Case, read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_file, make_folder
from appell.cli.run import starting
from appell.cli.settings import read_settings
from appell.errors import ModelError
from appell.files import write_text

WRITERS: dict[str, Callable[[Any, Path, Case, Any], list[Path]]] = {  # what the ending of a file says
    ".fmu": lambda system, path, case, start: [system.to_fmu(path, start, outputs=case.outputs)],
    ".c": lambda system, path, *_: system.to_c(path),
    ".m": lambda system, path, *_: [system.to_matlab(path)],
    ".py": lambda system, path, *_: [system.to_python(path)],
    ".casadi": lambda system, path, *_: [write_text(path, system.to_casadi().serialize())],
}


@app.command()
def export(
    name: ModelArgument,
    settings: SetOption = None,
    by: ByOption = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write an FMU .fmu, C source .c with its header, a function of MATLAB .m, a module of "
            "Python .py, a CasADi function .casadi.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the equations for other programs."""
    from appell.code.described import check_identifier

    with errors(as_json):
        if not out:
            raise ModelError("Say what to write: --out FILE.fmu, FILE.c, FILE.m, FILE.py or FILE.casadi.")
        for path in out:
            check_file(path, *WRITERS)
            if path.suffix != ".casadi":
                check_identifier(path, path.suffix)
        case = read_case(name, by)
        given = read_settings(case, settings)
        if given.start and not any(path.suffix == ".fmu" for path in out):
            raise ModelError(f"A start is written to an FMU only: add --out FILE.fmu or leave out {min(given.start)}.")
        system = given.system(case)
        start = starting(system, given.start)
        files: list[Path] = []
        for path in out:
            make_folder(path.parent)
            files += WRITERS[path.suffix](system, path, case, start)
        deliver(as_json, lambda: {"model": case.model.name}, lambda: None, files)
