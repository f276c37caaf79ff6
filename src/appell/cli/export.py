"""`appell export MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from appell.cli.app import ByOption, JsonOption, ModelArgument, app
from appell.cli.case import read_case
from appell.cli.output import errors, say
from appell.errors import ModelError
from appell.files import check_place, write_text


@app.command()
def export(
    name: ModelArgument,
    by: ByOption = None,
    c: Annotated[Path | None, typer.Option("--c", metavar="FILE", help="Write C source and header: --c disk.c")] = None,
    casadi: Annotated[
        Path | None, typer.Option("--casadi", metavar="FILE", help="Write a CasADi function: --casadi disk.casadi")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the equations for other programs."""
    from appell.code.export import check_c
    from appell.code.system import compile
    from appell.formulation.derive import derive

    with errors(as_json):
        if c is None and casadi is None:
            raise ModelError("Say what to write: --c FILE.c or --casadi FILE.casadi.")
        if c is not None:
            check_c(c)
        if casadi is not None:
            check_place(casadi)
        case = read_case(name, by)
        system = compile(derive(case.model, case.formulation))
        files: list[Path] = []
        if c is not None:
            files += system.to_c(c)
        if casadi is not None:
            files.append(write_text(casadi, system.to_casadi().serialize()))
        if as_json:
            say([str(f) for f in files])
        else:
            print("\n".join(f"wrote {f}" for f in files))
