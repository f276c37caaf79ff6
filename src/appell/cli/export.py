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
    fmu: Annotated[
        Path | None, typer.Option("--fmu", metavar="FILE", help="Write an FMU for Simulink and others: --fmu disk.fmu")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the equations for other programs."""
    from appell.code.export import check_export
    from appell.code.system import compile
    from appell.formulation.derive import derive

    with errors(as_json):
        if c is None and casadi is None and fmu is None:
            raise ModelError("Say what to write: --c FILE.c, --casadi FILE.casadi or --fmu FILE.fmu.")
        for path, suffix in ((c, ".c"), (fmu, ".fmu")):
            if path is not None:
                check_export(path, suffix)
        if casadi is not None:
            check_place(casadi)
        case = read_case(name, by)
        system = compile(derive(case.model, case.formulation))
        files: list[Path] = []
        if c is not None:
            files += system.to_c(c)
        if casadi is not None:
            files.append(write_text(casadi, system.to_casadi().serialize()))
        if fmu is not None:
            files.append(system.to_fmu(fmu, outputs=case.outputs))
        if as_json:
            say([str(f) for f in files])
        else:
            print("\n".join(f"wrote {f}" for f in files))
