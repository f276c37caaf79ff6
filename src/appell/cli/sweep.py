"""`appell sweep MODEL`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, ModelArgument, SetOption, UntilOption, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_picture, written
from appell.cli.settings import set_case
from appell.cli.varied import read_varied
from appell.terminal import print_table

INTERRUPTED = 130
STATISTICS = ("mean", "deviation", "least", "median", "greatest")


@app.command()
def sweep(
    name: ModelArgument,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",
            help="What to vary: 1,2,5 or first:last:count, or uniform(a,b), normal(mean,sd), loguniform(a,b); "
            "labels of the `choices` of a FILE.py.",
        ),
    ],
    runs: Annotated[int | None, typer.Option(help="How many samples are drawn from distributions.")] = None,
    sampling: Annotated[str, typer.Option(help="random, latin or sobol.")] = "random",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    settings: SetOption = None,
    until: UntilOption = None,
    method: Annotated[str, typer.Option(help="auto, dop853, or a method of `appell run`.")] = "auto",
    rtol: Annotated[float, typer.Option(help="Tolerance, relative and absolute.")] = 1e-9,
    points: Annotated[int, typer.Option(help="Times of the table.")] = 101,
    columns: Annotated[str | None, typer.Option(help="Keep only these quantities: x,y.rate; outputs as well.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Append the results to this folder: study.zarr.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in that folder.")] = False,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the coordinates over time: .png .svg .pdf .html.")
    ] = None,
    chunk: Annotated[int | None, typer.Option(help="Runs of one chunk.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads; one for each core if left out.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler: tcp://host:8786.")] = None,
    corners: Annotated[str, typer.Option(help="Corners (Min, Max, Abs): locate, or cross.")] = "locate",
    as_json: JsonOption = False,
) -> None:
    """Make many runs of a model. Parameters and starts are varied over grids and samples."""
    with errors(as_json):
        case = read_case(name)
        varied = read_varied(over, case.choices, runs)
        case, given = set_case(case, settings, varied)
        if case.model.rows:  # what is set is kept, as what is varied, and the rest follows from the constraints
            varied |= {label: [value] for label, value in given.start.items()}
        if plot is not None:
            check_picture(plot)
        if cluster is not None:
            from appell.ensemble.cluster import check_address

            check_address(cluster)
        from appell.ensemble.sweep import sweep as make

        study = make(
            given.system(case), varied, runs=runs, sampling=sampling, seed=seed, until=until, method=method, rtol=rtol,
            start={**case.model.start, **given.start} if given.start and not case.model.rows else None,
            points=points, events=case.events, outputs=case.outputs, out=out, resume=resume, chunk=chunk,
            workers=workers, cluster=cluster, corners=corners, rate=case.control_rate,
            columns=None if columns is None else [label.strip() for label in columns.split(",") if label.strip()],
            inputs=case.inputs,
            control=None if "control" in varied else case.control,
        )  # fmt: skip
        deliver(
            as_json,
            lambda: {**_data(study), "out": None if out is None else str(out)},
            lambda: _tell(study),
            [] if out is None else [out],
            written([plot], lambda path: study.plot(path=path)),
        )
        if not study.complete and not as_json:
            print("interrupted" + (f"; go on with --out {out} --resume" if out is not None else ""))
    if not study.complete:
        raise typer.Exit(INTERRUPTED)
    if not study.ok.any():
        raise typer.Exit(1)


def _data(study: Any) -> dict[str, Any]:
    return {
        **study.info,
        "runs": len(study),
        "complete": study.complete,
        "outcomes": study.outcomes,
        "happened": study.events.to_dict("index"),
        "failures": study.failures.to_dict("records"),
        "final": _final(study),
    }


def _tell(study: Any) -> None:
    print(study.summary())
    if study.ok.any():
        rows = [
            [label, study[label].attrs["units"], *("" if math.isnan(e) else f"{e + 0.0:.9g}" for e in spread.values())]
            for label, spread in _final(study).items()
        ]
        if rows:
            print_table("", ["at the end", "unit", *STATISTICS], rows)


def _final(study: Any) -> dict[str, dict[str, float]]:
    """Statistics of the values at the end of the runs that ended as wished."""
    return {label: _spread(study[f"{label}.end"].values[study.ok]) for label in study.info["columns"]}


def _spread(values: Any) -> dict[str, float]:
    import numpy as np

    if not values.size:
        return dict.fromkeys(STATISTICS, math.nan)
    deviation = values.std(ddof=1) if values.size > 1 else math.nan
    found = (values.mean(), deviation, values.min(), np.median(values), values.max())
    return dict(zip(STATISTICS, map(float, found), strict=True))
