"""`appell plan MODEL`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, ModelArgument, ReportOption, SetOption, UntilOption, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import PICTURES, check_files, check_folder, make_folder, write, written
from appell.cli.settings import number, read_names, read_settings
from appell.errors import ModelError


@app.command()
def plan(
    name: ModelArgument,
    settings: SetOption = None,
    by: ByOption = None,
    until: UntilOption = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND:NAME=VALUE",
            help="What the plan must stay within: a largest absolute value, or LOW,HIGH; KIND is position, speed, "
            "torque or torque_rate.",
        ),
    ] = None,
    drive: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A force of the model that counts as exerted by the drives."),
    ] = None,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="If not feasible, look for a slower pace that is.")
    ] = False,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Write the picture .png .svg .pdf, the motion .nc .csv; for three-link figures 5-8: DIR/.",
        ),
    ] = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Plan the programmed motion of a model. Says what it demands; the exit code is 1 if it is not feasible."""
    from appell.planning import plan as make

    with errors(as_json):
        case = read_case(name, by)
        given = read_settings(case, settings)
        limits = _limits(within)
        for folder in (path for path in out or () if not path.suffix):
            _check_figures(case.name or name, folder)
        check_files([path for path in out or () if path.suffix], report)
        made = make(
            case.model, values=given.values, start=given.start, until=until, limits=limits, drives=read_names(drive),
            formulation=case.formulation,
        )  # fmt: skip
        better = made.suggest() if suggest and not made.feasible else None
        deliver(
            as_json,
            lambda: {**_data(made), "suggestion": _data(better) if better else None},
            lambda: _tell(made, better, suggest),
            written(out, lambda path: _write(made, path)),
            written(report, lambda path: _describe(made, better, path)),
        )
        if not made.feasible:
            raise typer.Exit(1)


def _check_figures(name: str, folder: Path) -> None:
    if name != "three-link":
        raise ModelError(f"Only three-link has figures for a folder; for {name} write a file such as {folder}.png.")
    check_folder(folder)


def _write(plan: Any, path: Path) -> None:
    if not path.suffix:
        from appell.library import three_link_figures

        make_folder(path)
        three_link_figures(path)
    elif path.suffix in PICTURES:
        plan.plot(path)
    else:
        write(plan.motion, path)


def _describe(plan: Any, better: Any, path: Path) -> None:
    from appell.reporting import report

    report(plan, path, also={} if better is None else {"A slower plan": better})


def _tell(plan: Any, better: Any, suggest: bool) -> None:
    print(plan.summary())
    if better is not None:
        print(f"feasible if {better.pace:.4g} times slower:")
        print("\n".join(f"  {finding!r}" for finding in better.findings))
    elif suggest and not plan.feasible:
        print("slowing down does not make it feasible")


def _limits(given: list[str] | None) -> Any:
    from appell.planning import Limits
    from appell.planning.feasibility import KINDS

    found: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}
    for item in (part for entry in given or () for part in re.split(r",(?=\s*\w+:)", entry)):
        kind, colon, rest = item.partition(":")
        label, equals, text = rest.partition("=")
        numbers = [number(part) for part in text.split(",")]
        if not colon or not equals or kind not in KINDS or None in numbers or len(numbers) > 2:
            raise ModelError(
                f"--within takes KIND:NAME=NUMBER or KIND:NAME=LOW,HIGH with KIND one of {', '.join(KINDS)}; "
                f"got {item!r}."
            )
        found[kind][label.strip()] = numbers[0] if len(numbers) == 1 else tuple(numbers)
    return Limits(**found)


def _data(plan: Any) -> dict[str, Any]:
    programme, regularity = plan.programme, plan.regularity
    return {
        "model": programme.model,
        "feasible": plan.feasible,
        "pace": plan.pace,
        "order": programme.order,
        "dimension": programme.dimension,
        "give": [*programme.positions, *programme.velocities, *programme.higher],
        "rows": [{"name": r.name, "order": r.order, "programmed": r.programmed} for r in programme.rows],
        "moved": {name: list(pair) for name, pair in plan.start.changes.items()},
        "outcome": plan.motion.outcome.name,
        "until": float(plan.motion.times[-1]),
        "singular": {"smallest": regularity.smallest, "at": regularity.at, "rows": list(regularity.rows)},
        "reach": {"smallest": regularity.reach, "at": regularity.reach_at},
        "partitions": [{"dependent": list(n), "growth": g, "at": t} for n, g, t in regularity.partitions],
        "limits": [
            {
                "kind": f.kind, "name": f.name, "bounds": list(f.bounds), "worst": f.worst, "at": f.at,
                "first": f.first,
            }
            for f in plan.findings
        ],
    }  # fmt: skip
