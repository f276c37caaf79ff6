"""`appell track MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, ModelArgument, ReportOption, SetOption, app
from appell.cli.case import read_case, read_settings
from appell.cli.output import PICTURES, check_out, check_report, errors, say, write
from appell.terminal import print_table

LAWS = ("computed-torque", "pid", "mpc")


@app.command()
def track(
    name: ModelArgument,
    settings: SetOption = None,
    disturb: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="A starting value off the plan, such as psi2=3.67.")
    ] = None,
    until: Annotated[
        float | None, typer.Option(help="End time in seconds; the model's suggestion if left out.")
    ] = None,
    law: Annotated[str, typer.Option(help="computed-torque, pid or mpc.")] = "computed-torque",
    gain: Annotated[
        list[float] | None, typer.Option(help="delta of computed torque: one for all, or one for each coordinate.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Samples per second; continuous if left out.")] = None,
    limit: Annotated[list[float] | None, typer.Option(help="Largest input: one for all, or one for each.")] = None,
    without: Annotated[
        list[str] | None, typer.Option(help="A force of the programme that the mechanism does not have.")
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write the picture .png .svg .pdf, the motion .nc .csv.")
    ] = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Plan the programmed motion of a model, then let the mechanism follow it under a tracking law."""
    from appell.code.system import compile
    from appell.control import tracking
    from appell.errors import ModelError
    from appell.formulation.abstract import derive
    from appell.planning import plan, plant

    with errors(as_json):
        if law not in LAWS:
            raise ModelError(f"There is no law {law!r}; use {', '.join(LAWS)}.")
        case = read_case(name)
        values, start = read_settings(case, settings)
        for path in out or ():
            check_out(path)
        if report is not None:
            check_report(report)
        reference = plan(case.model, values, start, until, formulation=case.formulation).motion
        left = without if without is not None else [f.name for f in case.model.forces if f.name == "drive"]
        model = plant(case.model, left)
        known = {s.label for s in model.parameters}
        numbers = {name: value for name, value in values.items() if name in known}
        system = compile(derive(model)).bind(numbers)
        commanded = _law(law, model, gain, limit, numbers)
        rate = rate if rate is not None or not commanded.sampled else (50.0 if law == "mpc" else 500.0)
        run = tracking.track(
            system, reference, commanded, _numbers(disturb), until, rate=rate, limits=_spread(limit, len(model.inputs))
        )
        for path in out or ():
            if path.suffix in PICTURES:
                run.plot(path)
            else:
                write(run.motion, path)
        if report is not None:
            from appell.reporting import report as describe

            describe(run, report)
        metrics, efforts = run.metrics(), {w: float(abs(run.motion.columns[w]).max()) for w in run.drives}
        if as_json:
            say({
                "model": case.model.name, "law": law, "outcome": run.motion.outcome.name, "errors": metrics,
                "settled": run.settled(1e-3), "inputs": efforts,
            })  # fmt: skip
        else:
            print(run.motion.summary())
            rows = [
                [label, *(f"{entry[k]:.4g}" for k in ("largest", "at", "rms", "last"))]
                for label, entry in metrics.items()
            ]
            print_table("errors against the plan", ["coordinate", "largest", "at [s]", "rms", "at the end"], rows)
            print("inputs up to " + ", ".join(f"{label} {value:.6g}" for label, value in efforts.items()))
            settled = run.settled(1e-3)
            print(f"all errors below 1e-3 from t = {settled:.4g} s" if settled is not None else "not settled to 1e-3")
            for path in (*(out or ()), *([report] if report else [])):
                print(f"wrote {path}")
    if not run.motion.outcome.ok:
        raise typer.Exit(1)


def _law(law: str, model: Any, gain: list[float] | None, limit: list[float] | None, numbers: dict[str, float]) -> Any:
    from appell.control import MPC, ComputedTorque

    n = len(model.coordinates)
    delta = _spread(gain or [10.0], n)
    if law == "mpc":
        return MPC(model, limits=_spread(limit, len(model.inputs)), values=numbers)
    if law == "pid":
        return ComputedTorque(model, delta, integral=[d**3 / 10 for d in delta], values=numbers)
    return ComputedTorque(model, delta, values=numbers)


def _spread(given: list[float] | None, count: int) -> Any:
    """One number for all, or one for each."""
    if given is None:
        return None
    return list(given) * count if len(given) == 1 else list(given)


def _numbers(given: list[str] | None) -> dict[str, float]:
    from appell.errors import ModelError

    found: dict[str, float] = {}
    for item in given or ():
        label, equals, text = item.partition("=")
        try:
            found[label.strip()] = float(text)
        except ValueError:
            equals = ""
        if not equals:
            raise ModelError(f"--disturb takes NAME=NUMBER, for example --disturb psi2=3.67; got {item!r}.")
    return found
