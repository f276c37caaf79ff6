"""`appell periodic MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, MethodOption, ModelArgument, ReportOption, SetOption, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_files, write, written
from appell.cli.run import starting
from appell.cli.settings import read_names, read_numbers, set_case
from appell.errors import ModelError
from appell.terminal import print_table


@app.command()
def periodic(
    name: ModelArgument,
    period: Annotated[float, typer.Option(help="A guess of the period, in s; that of a drive in time is kept.")],
    settings: SetOption = None,
    hold: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A starting value that stays as it is given, or `period`."),
    ] = None,
    advance: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="By how much a coordinate goes on in a period: angle=2*pi for a turn."),
    ] = None,
    by: ByOption = None,
    method: MethodOption = "auto",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write one period .nc .zarr .csv, a plot .png .svg .pdf, an animation .html .gif .mp4.",
        ),
    ] = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find a motion that begins again, and say whether it is stable. `--set` gives a guess of its start."""
    from appell.analysis.periodic import periodic as found_near
    from appell.reporting import report as described

    with errors(as_json):
        case, given = set_case(read_case(name, by), settings)
        if case.control is not None:
            raise ModelError(
                "The slopes of a control by a Python function are not known; give the feedback as formulas, "
                "inputs = {tau: -k * angle}."
            )
        check_files(out, report)
        system = given.system(case)
        found = found_near(
            system, starting(system, given.start), period, advance=read_numbers(advance, "--advance"),
            hold=read_names(hold), events=case.events, inputs=case.inputs, method=method,
        )  # fmt: skip
        deliver(
            as_json,
            lambda: _data(found),
            lambda: _tell(found),
            written(out, lambda path: write(found.motion, path)),
            written(report, lambda path: described(found.motion, path, also={"Periodic motion": found})),
        )


def _data(found: Any) -> dict[str, Any]:
    return {
        "model": found.motion.info["model"],
        "period": found.period,
        "missed": found.missed,
        "start": found.state.to_dict(),
        "multipliers": [[e.real, e.imag] for e in found.multipliers.tolist()],
        "ones": found.ones,
        "free": found.free,
        "stable": found.stable,
        "advance": dict(found.advance),
    }


def _tell(found: Any) -> None:
    print(found)
    motion = found.motion
    rows = [
        [label, motion.units.get(label, ""), *(f"{float(e) + 0.0:.9g}" for e in (c[0], c.min(), c.max()))]
        for label, c in motion.columns.items()
    ]
    print_table("", ["quantity", "unit", "first", "least", "greatest"], rows)
