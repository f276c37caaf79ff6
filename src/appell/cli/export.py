"""`appell export MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appell.cli.app import ByOption, JsonOption, ModelArgument, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_file, make_folder
from appell.errors import ModelError
from appell.files import write_text


@app.command()
def export(
    name: ModelArgument,
    by: ByOption = None,
    out: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Write C source and header .c, a CasADi function .casadi.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the equations for other programs."""
    from appell.code.export import check_c
    from appell.code.system import compile
    from appell.formulation.abstract import derive

    with errors(as_json):
        if not out:
            raise ModelError("Say what to write: --out FILE.c or --out FILE.casadi.")
        for path in out:
            check_file(path, ".c", ".casadi")
            if path.suffix == ".c":
                check_c(path)
        case = read_case(name, by)
        system = compile(derive(case.model, case.formulation))
        files: list[Path] = []
        for path in out:
            make_folder(path.parent)
            files += system.to_c(path) if path.suffix == ".c" else [write_text(path, system.to_casadi().serialize())]
        deliver(as_json, lambda: {"model": case.model.name}, lambda: None, files)
