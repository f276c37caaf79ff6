"""`appell track MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import (
    ByOption,
    JsonOption,
    LimitOption,
    ModelArgument,
    RateOption,
    ReportOption,
    SetOption,
    UntilOption,
    app,
)
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import PICTURES, check_files, write, written
from appell.cli.settings import number, read_limits, read_names, read_numbers, read_settings
from appell.errors import ModelError
from appell.terminal import print_table

LAWS = ("computed-torque", "computed-torque-pid", "mpc")


@app.command()
def track(
    name: ModelArgument,
    settings: SetOption = None,
    disturb: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A starting value off the plan, such as psi2=3.67.")
    ] = None,
    by: ByOption = None,
    until: UntilOption = None,
    law: Annotated[
        str, typer.Option(help="computed-torque, computed-torque-pid (with an integral of the error) or mpc.")
    ] = "computed-torque",
    gain: Annotated[
        list[str] | None,
        typer.Option(metavar="VALUE", help="delta of computed torque: one for all, or one for each coordinate."),
    ] = None,
    rate: RateOption = None,
    limit: LimitOption = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A force of the planned model that the mechanism is to lack; `drive` if left out."
        ),
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Write the picture .png .svg .pdf, the motion .nc .csv.")
    ] = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let a mechanism follow its plan. Plans the programmed motion of a model, then runs it under a tracking law."""
    from appell.code.system import compile
    from appell.control import tracking
    from appell.formulation.derive import derive
    from appell.planning import plan, plant

    with errors(as_json):
        if law not in LAWS:
            raise ModelError(f"There is no law {law!r}; use {', '.join(LAWS)}.")
        case = read_case(name, by)
        given = read_settings(case, settings)
        check_files(out, report)
        idle = {w.label: 0.0 for w in case.model.inputs if w.label not in case.model.values}  # the law commands them
        values = {**idle, **given.values}
        planned = plan(case.model, values=values, start=given.start, until=until, formulation=case.formulation)
        left = read_names(without) if without is not None else [f.name for f in case.model.forces if f.name == "drive"]
        model = plant(case.model, left, given=[w for w in case.model.inputs if w.label in given.values])
        known = {s.label for s in (*model.parameters, *model.inputs)}
        numbers = {name: value for name, value in given.values.items() if name in known}
        system = compile(derive(model)).bind(numbers)
        limits = read_limits(limit)
        commanded = _law(law, model, gain, limits, numbers)
        rate = rate if rate is not None or not commanded.sampled else (50.0 if law == "mpc" else 500.0)
        run = tracking.track(
            system, planned, commanded, read_numbers(disturb, "--disturb"), until, rate=rate, limits=limits
        )
        deliver(
            as_json,
            lambda: {"model": case.model.name, "law": law, **_data(run)},
            lambda: _tell(run),
            written(out, lambda path: _write(run, path)),
            written(report, lambda path: _describe(run, path)),
        )
    if not run.motion.outcome.ok:
        raise typer.Exit(1)


def _write(run: Any, path: Path) -> None:
    if path.suffix in PICTURES:
        run.plot(path)
    else:
        write(run.motion, path)


def _describe(run: Any, path: Path) -> None:
    from appell.reporting import report

    report(run, path)


def _data(run: Any) -> dict[str, Any]:
    return {
        "outcome": run.motion.outcome.name,
        "errors": run.metrics(),
        "settled": run.settled(1e-3),
        "inputs": _efforts(run),
    }


def _tell(run: Any) -> None:
    print(run.motion.summary())
    rows = [
        [label, *(f"{entry[k]:.4g}" for k in ("largest", "at", "rms", "last"))]
        for label, entry in run.metrics().items()
    ]
    print_table("errors against the plan", ["coordinate", "largest", "at [s]", "rms", "at the end"], rows)
    print("inputs up to " + ", ".join(f"{label} {value:.6g}" for label, value in _efforts(run).items()))
    settled = run.settled(1e-3)
    print(f"all errors below 1e-3 from t = {settled:.4g} s" if settled is not None else "not settled to 1e-3")


def _efforts(run: Any) -> dict[str, float]:
    """The largest absolute value of every input."""
    return {label: float(abs(run.motion.columns[label]).max()) for label in run.drives}


def _law(law: str, model: Any, gain: list[str] | None, limits: Any, numbers: dict[str, float]) -> Any:
    from appell.control import MPC, ComputedTorque

    n = len(model.coordinates)
    parts = [number(part) for item in gain or ["10"] for part in item.split(",")]
    given = [e for e in parts if e is not None and e >= 0]
    if len(given) not in (1, n) or len(given) < len(parts):
        raise ModelError(
            "--gain takes a number that is not negative, once or for each of "
            f"{n} coordinates; got {', '.join(gain or ())}."
        )
    delta = given * n if len(given) == 1 else given
    if law == "mpc":
        return MPC(model, limits=limits, values=numbers)
    if law == "computed-torque-pid":
        return ComputedTorque(model, delta, integral=[d**3 / 10 for d in delta], values=numbers)
    return ComputedTorque(model, delta, values=numbers)
