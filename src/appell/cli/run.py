"""`appell run MODEL`."""

from __future__ import annotations

import tokenize
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, MethodOption, ModelArgument, ReportOption, SetOption, UntilOption, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_files, write, written
from appell.cli.settings import set_case
from appell.cli.sprayer_study import run_study
from appell.errors import ModelError
from appell.terminal import print_table


@app.command()
def run(
    name: ModelArgument,
    settings: SetOption = None,
    by: ByOption = None,
    until: UntilOption = None,
    method: MethodOption = "auto",
    rtol: Annotated[
        float | None, typer.Option(help="Tolerance, relative and absolute; the method's own if left out.")
    ] = None,
    points: Annotated[int | None, typer.Option(help="How many times the table has; 501 if left out.")] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the motion .nc .zarr .csv, a plot .png .svg .pdf, an animation .html .gif .mp4; a study: DIR/.",
        ),
    ] = None,
    report: ReportOption = None,
    alone: Annotated[
        bool, typer.Option("--no-study", help="For a model with a study, such as sprayer: make one run instead.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Simulate a model and check the motion. For a model with a study, such as sprayer, make the study."""
    from appell.code.starting import suggested_state
    from appell.motion.run import simulate

    with errors(as_json):
        case, given = set_case(read_case(name, by), settings)
        if case.name == "sprayer" and not alone and by is None:
            if points is not None or rtol is not None:
                raise ModelError(f"--points and --rtol are for one run, but {name} has a study; add --no-study.")
            check_files(None, report)
            ok = run_study(given, until, method, out or [], report, as_json)
        else:
            check_files(out, report)
            system = given.system(case)
            start = starting(system, given.start) or suggested_state(system)
            motion = simulate(
                system, start, until, method=method, rtol=rtol,
                points=501 if points is None else points, events=case.events, outputs=case.outputs,
                inputs=case.inputs, control=case.control, rate=case.control_rate,
            )  # fmt: skip
            ok = motion.outcome.ok and motion.check().ok
            deliver(
                as_json,
                lambda: _data(motion),
                lambda: _tell(motion, {} if given.start else start.changes),
                written(out, lambda path: write(motion, path)),
                written(report, lambda path: _describe(motion, path, source=name)),
            )
    if not ok:
        raise typer.Exit(1)


def starting(system: Any, given: dict[str, float]) -> Any:
    """What is given is kept, and the rest as the model suggests it, or follows from the constraints."""
    if not given:
        return None
    model = system.model
    suggested = {name: value for name, value in model.start.items() if name not in given}
    return system.consistent(given, near=suggested) if model.rows else system.state({**suggested, **given})


def _describe(motion: Any, path: Path, source: str) -> None:
    """Write a report, with the text of the file that the model came from."""
    from appell.reporting import report

    code = ""
    if source.endswith(".py"):
        with tokenize.open(source) as file:  # in the encoding that it says it has
            code = file.read()
    report(motion, path, code=code)


def _data(motion: Any) -> dict[str, Any]:
    proof = motion.check()
    found = ("position", "velocity", "acceleration", "balance")
    return {
        **motion.info,
        "ok": motion.outcome.ok and proof.ok,
        "final": {label: float(column[-1]) for label, column in motion.columns.items()},
        "check": {
            **{name: getattr(proof, name) for name in found},
            "work": dict(proof.work),
            "agreement": dict(proof.agreement),
        },
    }


def _tell(motion: Any, moved: Mapping[str, tuple[float, float]]) -> None:
    print(motion.system.equations.summary())
    if moved:
        words = (f"{name} {suggested:.6g} -> {found:.9g}" for name, (suggested, found) in moved.items())
        print(f"the suggested start was moved onto the constraints: {', '.join(words)}")
    print(motion.summary())
    print(motion.check())
    rows = [
        [label, motion.units.get(label, ""), *(f"{float(e) + 0.0:.9g}" for e in (c[0], c.min(), c.max(), c[-1]))]
        for label, c in motion.columns.items()
    ]
    print_table("", ["quantity", "unit", "first", "least", "greatest", "last"], rows)
