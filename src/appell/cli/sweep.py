"""`appell sweep MODEL`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, MethodOption, ModelArgument, SetOption, UntilOption, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import PICTURES, check_file, written
from appell.cli.settings import read_names, set_case
from appell.cli.varied import read_over
from appell.errors import ModelError
from appell.terminal import print_table

INTERRUPTED = 130
TABLES = (".nc", ".csv")
STATISTICS = ("mean", "deviation", "least", "median", "greatest")


@app.command()
def sweep(
    name: ModelArgument,
    over: Annotated[
        list[str],
        typer.Option(
            metavar="NAME=VALUES",  # the only option whose commas part values, not entries
            help="What to vary: 1,2,5 or first:last:count, or uniform(a,b), normal(mean,sd), loguniform(a,b); "
            "labels of the `choices` of a FILE.py.",
        ),
    ],
    runs: Annotated[int | None, typer.Option(help="How many samples are drawn from distributions.")] = None,
    sampling: Annotated[str, typer.Option(help="random, latin or sobol.")] = "random",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    settings: SetOption = None,
    by: ByOption = None,
    until: UntilOption = None,
    method: MethodOption = "auto",
    rtol: Annotated[float, typer.Option(help="Tolerance, relative and absolute.")] = 1e-9,
    points: Annotated[int, typer.Option(help="How many times the table has.")] = 101,
    columns: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A quantity to keep, with the outputs; all if left out.")
    ] = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Append the results to a folder .zarr; write all of them .nc or a row for each run .csv; draw the "
            "coordinates over time .png .svg .pdf .html.",
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the study in the folder .zarr.")] = False,
    chunk: Annotated[int | None, typer.Option(help="How many runs are computed and written at a time.")] = None,
    max_steps: Annotated[int, typer.Option(help="Most steps that a run may take.")] = 1_000_000,
    workers: Annotated[int | None, typer.Option(help="Threads; one for each core if left out.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler: tcp://host:8786.")] = None,
    corners: Annotated[
        str, typer.Option(help="Whether corners (Min, Max, Abs) are located, or crossed by steps: locate or cross.")
    ] = "locate",
    as_json: JsonOption = False,
) -> None:
    """Make many runs of a model. Parameters and starts are varied over grids and samples."""
    with errors(as_json):
        case = read_case(name, by)
        varied = read_over(over, case.choices)
        case = case.without_control() if "control" in varied else case
        case, given = set_case(case, settings, varied)
        if "start" in varied and given.start:
            raise ModelError(
                f"{', '.join(given.start)}: given by --set, and all starts by --over; leave out one of them."
            )
        if case.model.rows:  # what is set is kept, as what is varied, and the rest follows from the constraints
            varied |= {label: [value] for label, value in given.start.items()}
        for path in out or ():
            check_file(path, ".zarr", *TABLES, *PICTURES, ".html")
        files = [path for path in out or () if path.suffix != ".zarr"]
        folder = _folder([path for path in out or () if path.suffix == ".zarr"])
        if cluster is not None:
            from appell.ensemble.cluster import check_address

            check_address(cluster)
        from appell.ensemble.sweep import sweep as make

        study = make(
            given.system(case), varied, runs=runs, sampling=sampling, seed=seed, until=until, method=method, rtol=rtol,
            start={**case.model.start, **given.start} if given.start and not case.model.rows else None,
            points=points, events=case.events, outputs=case.outputs, out=folder, resume=resume, chunk=chunk,
            workers=workers, cluster=cluster, max_steps=max_steps, corners=corners, rate=case.control_rate,
            columns=None if columns is None else read_names(columns),
            inputs=case.inputs,
            control=case.control,
        )  # fmt: skip
        deliver(
            as_json,
            lambda: {**_data(study), "out": None if folder is None else str(folder)},
            lambda: _tell(study),
            [] if folder is None else [folder],
            written(files, lambda path: study.save(path) if path.suffix in TABLES else study.plot(path=path)),
        )
        if not study.complete and not as_json:
            print("interrupted" + (f"; go on with --out {folder} --resume" if folder is not None else ""))
    if not study.complete:
        raise typer.Exit(INTERRUPTED)
    if not study.ok.any():
        raise typer.Exit(1)


def _folder(given: list[Path]) -> Path | None:
    """Where results are appended."""
    if len(given) > 1:
        raise ModelError(f"The results of a sweep go to one folder; got --out {' --out '.join(map(str, given))}.")
    return given[0] if given else None


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
            title = "" if study.ok.all() else f"of {study.counted}, which ended as wished:"
            print_table(title, ["at the end", "unit", *STATISTICS], rows)


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
