"""`appell export MODEL`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, ModelArgument, app
from appell.cli.case import Case, read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_file, make_folder
from appell.errors import ModelError
from appell.files import write_text

WRITERS: dict[str, Callable[[Any, Path, Case], list[Path]]] = {  # what the ending of a file says
    ".fmu": lambda system, path, case: [system.to_fmu(path, outputs=case.outputs)],
    ".c": lambda system, path, case: system.to_c(path),
    ".casadi": lambda system, path, case: [write_text(path, system.to_casadi().serialize())],
}


@app.command()
def export(
    name: ModelArgument,
    by: ByOption = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Write an FMU .fmu, C source .c with its header, a CasADi function .casadi."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the equations for other programs."""
    from appell.code.export import check_identifier
    from appell.code.system import compile
    from appell.formulation.derive import derive

    with errors(as_json):
        if not out:
            raise ModelError("Say what to write: --out FILE.fmu, --out FILE.c or --out FILE.casadi.")
        for path in out:
            check_file(path, *WRITERS)
            if path.suffix != ".casadi":
                check_identifier(path, path.suffix)
        case = read_case(name, by)
        system = compile(derive(case.model, case.formulation))
        files: list[Path] = []
        for path in out:
            make_folder(path.parent)
            files += WRITERS[path.suffix](system, path, case)
        deliver(as_json, lambda: {"model": case.model.name}, lambda: None, files)
