"""`appell stabilize MODEL`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, LimitOption, ModelArgument, RateOption, ReportOption, SetOption, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_files, check_folder, make_folder, written
from appell.cli.settings import read_limits, read_names, read_numbers, read_settings
from appell.errors import ModelError


@app.command()
def stabilize(
    name: ModelArgument,
    want: Annotated[
        list[str] | None,
        typer.Option(
            "--want", metavar="NAME=VALUE", help="Where to hold it: a coordinate, or the rate of a cyclic one."
        ),
    ] = None,
    settings: SetOption = None,
    by: ByOption = None,
    weight: Annotated[
        list[str] | None,
        typer.Option(
            "--weight",
            metavar="NAME=VALUE",
            help="Weight of a coordinate, rate or extra state; 1 for the other states.",
        ),
    ] = None,
    price: Annotated[
        float | None,
        typer.Option(
            help="Weight of every input; if left out, from its holding value, or what holds a deviation if all are 0."
        ),
    ] = None,
    dependent: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A coordinate that the constraints give from the others.")
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option(metavar="NAME", help="An input to use; all if left out.")] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A coordinate to leave out, since nothing else depends on it."),
    ] = None,
    motor: Annotated[
        list[str] | None,
        typer.Option(metavar="[INPUT:]R=..,k=..,L=..,n=..", help="A motor in place of one input, or of every one."),
    ] = None,
    limit: LimitOption = None,
    push: Annotated[
        list[str] | None,
        typer.Option("--push", metavar="NAME=VALUE", help="Deviation at the start; a small one where left out."),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(help="End time of the closed-loop run in seconds; chosen from its roots if left out."),
    ] = None,
    rate: RateOption = None,
    runs: Annotated[int, typer.Option(min=0, help="Starts for the region of attraction; 0 for none.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="A folder for pictures and numbers.")] = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hold an equilibrium by feedback, with a proof. Finds it, linearises, computes gains, runs the closed loop."""
    from appell.cli.stabilization import Stabilization
    from appell.cli.stabilization_output import data, show

    with errors(as_json):
        case = read_case(name, by)
        motors = _motors(motor)
        if motors:
            from appell.control.motor import with_motors

            case = replace(case, model=with_motors(case.model, motors[""] if "" in motors else motors))
        given = read_settings(case, settings)
        work = Stabilization(
            model=case.model,
            formulation=case.formulation,
            values=given.values,
            guess=given.start,
            wanted=read_numbers(want, "--want"),
            weights=read_numbers(weight, "--weight"),
            price=price,
            dependent=read_names(dependent) or None,
            inputs=read_names(inputs) or None,
            ignore=read_names(ignore),
            limits=read_limits(limit),
            push=read_numbers(push, "--push"),
            until=until,
            runs=runs,
            rate=rate,
        )
        if out is not None:
            check_folder(out)
        check_files(None, report)
        found = data(work)
        deliver(
            as_json,
            lambda: found,
            lambda: show(work),
            _pictures(work, out),
            written(report, lambda path: _describe(work, path)),
        )
    if not work.ok:
        raise typer.Exit(1)


def _pictures(work: Any, folder: Path | None) -> Iterator[Path]:
    """Write pictures and numbers to a folder."""
    if folder is not None:
        from appell.cli.stabilization_output import write

        make_folder(folder)
        yield from write(work, folder)


def _describe(work: Any, path: Path) -> None:
    from appell.cli.stabilization_output import run_plot
    from appell.reporting import report

    report(work.motion, path, also={"Stability of the closed loop": work.proof, "Deviations and laws": run_plot(work)})


def _motors(given: list[str] | None) -> dict[str, Any]:
    from appell.control.motor import Motor

    words = {"R": "resistance", "k": "constant", "L": "inductance", "n": "gear", "k_e": "back_emf"}
    found: dict[str, Any] = {}
    for item in given or ():
        label, separator, text = item.rpartition(":")
        numbers = read_numbers([text], "--motor")
        strange = [s for s in numbers if s not in words]
        if strange or "R" not in numbers or "k" not in numbers:
            raise ModelError(
                f"--motor takes R=.. (resistance), k=.. (constant), and if wanted L=.. (inductance), n=.. (gear), "
                f"k_e=.. (back EMF): --motor tau:R=2,k=0.1,L=0.01,n=20; got {item!r}."
            )
        found[label if separator else ""] = Motor(**{words[s]: v for s, v in numbers.items()})
    return found
