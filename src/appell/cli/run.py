"""`appell run MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, ModelArgument, ReportOption, SetOption, app
from appell.cli.case import read_case, read_settings
from appell.cli.output import check_out, check_report, errors, make_folders, say, write
from appell.terminal import print_table


@app.command()
def run(
    name: ModelArgument,
    settings: SetOption = None,
    until: Annotated[
        float | None, typer.Option(help="End time in seconds; the model's suggestion if left out.")
    ] = None,
    method: Annotated[str, typer.Option(help="auto, taylor, dop853, cvodes, RK45, Radau, ...")] = "auto",
    points: Annotated[int, typer.Option(help="Rows of the table.")] = 501,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Write the motion: .nc .zarr .csv, a plot .png .svg .pdf, an animation .html .gif .mp4; a study: DIR/."
        ),
    ] = None,
    report: ReportOption = None,
    study: Annotated[bool, typer.Option(help="Run the study of a model that has one, such as sprayer.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Simulate a model and prove the motion; a model with a study is put through it."""
    from appell import library
    from appell.code.system import compile
    from appell.formulation.abstract import derive
    from appell.motion.run import simulate

    with errors(as_json):
        case = read_case(name)
        laws: dict[Any, Any] = {}
        values, start = read_settings(case, settings, laws)
        case, values = case.with_gains(values)
        case = case.without([*values, *laws])
        case.check_gains()
        if report is not None:
            check_report(report)
        whole = library.study(name) if study else None
        if whole is not None:
            made = whole(
                {**values, **{w.label: law for w, law in laws.items()}}, start, until, method, list(out or ()), as_json
            )
            make_folders(report)
            if report is not None:
                from appell.reporting.study import study_report

                study_report(made).save(report)
            if not made.ok:
                raise typer.Exit(1)
            return
        for path in out or ():
            check_out(path)
        system = compile(derive(case.model, case.formulation).close(laws)).bind(values)
        state = None
        if start:
            suggested = {n: v for n, v in case.model.start.items() if n not in start}
            state = (
                system.consistent(start, near=suggested) if case.model.rows else system.state({**suggested, **start})
            )
        motion = simulate(
            system, state, until, method=method, points=points, events=case.events, outputs=case.outputs,
            inputs=case.inputs, control=case.control, rate=case.control_rate,
        )  # fmt: skip
        proof = motion.check()
        make_folders(*(out or ()), report)
        for path in out or ():
            write(motion, path)
        if report is not None:
            from appell.reporting import report as describe

            code = Path(name).read_text(encoding="utf-8") if name.endswith(".py") else ""
            describe(motion, report, code=code)
        last = {label: float(column[-1]) for label, column in motion.columns.items()}
        if as_json:
            say({
                **motion.info, "ok": motion.outcome.ok and proof.ok, "final": last,
                "check": {"position": proof.position, "velocity": proof.velocity,
                          "acceleration": proof.acceleration, "balance": proof.balance,
                          "work": dict(proof.work), "agreement": dict(proof.agreement)},
            })  # fmt: skip
        else:
            print(system.equations.summary())
            print(motion.summary())
            print(proof)
            rows = [
                [
                    label,
                    motion.units.get(label, ""),
                    *(f"{float(e) + 0.0:.9g}" for e in (c[0], c.min(), c.max(), c[-1])),
                ]
                for label, c in motion.columns.items()
            ]
            print_table("", ["quantity", "unit", "first", "least", "greatest", "last"], rows)
            for path in (*(out or ()), *([report] if report else [])):
                print(f"wrote {path}")
    if not (motion.outcome.ok and proof.ok):
        raise typer.Exit(1)
