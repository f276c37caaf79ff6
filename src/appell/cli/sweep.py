"""`appell sweep MODEL`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, ModelArgument, SetOption, app
from appell.cli.case import read_case, read_settings
from appell.cli.output import check_picture, errors, make_folders, say
from appell.errors import ModelError
from appell.terminal import print_table

EXAMPLE = "--over m=0.5:1.5:11, --over m=1,2,5, --over lean=uniform(0,0.2), --over m=normal(1,0.1)"
FORMULAS = (
    "Programmes, controllers and whole starts are given in a FILE.py: choices = {'tau': {'swing': sin(3 * t)}, "
    "'control': {'mine': function}}, and varied by their labels: --over tau=swing."
)
INTERRUPTED = 130


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
    until: Annotated[float | None, typer.Option(help="End time in seconds.")] = None,
    method: Annotated[str, typer.Option(help="auto, dop853, or a method of `appell run`.")] = "auto",
    rtol: Annotated[float, typer.Option(help="Tolerance, relative and absolute.")] = 1e-9,
    points: Annotated[int, typer.Option(help="Times of the table.")] = 101,
    columns: Annotated[str | None, typer.Option(help="Keep only these quantities: x,y.rate; outputs as well.")] = None,
    out: Annotated[Path | None, typer.Option(help="Append the results to this folder: study.zarr.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in that folder.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw the bands of the coordinates: .png .svg .pdf .html.")] = None,
    chunk: Annotated[int | None, typer.Option(help="Runs of one chunk.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads; one for each core if left out.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler: tcp://host:8786.")] = None,
    corners: Annotated[str, typer.Option(help="Corners (Min, Max, Abs): locate, or cross.")] = "locate",
    as_json: JsonOption = False,
) -> None:
    """Make many runs of a model: grids and samples of parameters and starts."""
    with errors(as_json):
        case = read_case(name)
        laws: dict[Any, Any] = {}
        values, start = read_settings(case, settings, laws)
        case, values = case.with_gains(values)
        varied = dict(_varied(item, case.choices) for item in over)
        case = case.without([*varied, *values, *laws])
        case.check_gains(varied)
        if len(varied) < len(over):
            raise ModelError(f"The same name stands twice in --over: {', '.join(over)}.")
        drawn = [label for label, values in varied.items() if hasattr(values, "at")]
        if drawn and runs is None:
            words = f"{', '.join(drawn)} {'is' if len(drawn) == 1 else 'are'}"
            raise ModelError(f"{words} drawn at random: say how many runs, for example --runs 1000.")
        if plot is not None:
            check_picture(plot)
        if cluster is not None:
            from appell.ensemble.cluster import check_address

            check_address(cluster)
        from appell.code.system import compile
        from appell.ensemble.sweep import sweep as make
        from appell.formulation.abstract import derive

        system = compile(derive(case.model, case.formulation).close(laws)).bind(values)
        begin = {**case.model.start, **start} if start else None
        study = make(
            system, varied, runs=runs, sampling=sampling, seed=seed, start=begin, until=until, method=method, rtol=rtol,
            points=points, events=case.events, outputs=case.outputs, out=out, resume=resume, chunk=chunk,
            workers=workers, cluster=cluster, corners=corners, rate=case.control_rate,
            columns=None if columns is None else [label.strip() for label in columns.split(",") if label.strip()],
            inputs=case.inputs,
            control=None if "control" in varied else case.control,
        )  # fmt: skip
        make_folders(plot)
        if plot is not None:
            study.plot(path=plot)
        last = {label: _spread(study, label) for label in study.info["columns"]}
        failures = study.failures.to_dict("records")
        if as_json:
            say({
                **study.info, "runs": len(study), "complete": study.complete, "outcomes": study.outcomes,
                "happened": study.events.to_dict("index"), "failures": failures, "final": last,
                "out": None if out is None else str(out),
            })  # fmt: skip
        else:
            print(study.summary())
            rows = [[label, *(f"{value:.9g}" for value in spread.values())] for label, spread in last.items()]
            print_table("", ["at the end", "mean", "deviation", "least", "median", "greatest"], rows)
            if out is not None:
                print(f"wrote {out}")
            if plot is not None:
                print(f"wrote {plot}")
            if not study.complete:
                print("interrupted" + (f"; go on with --out {out} --resume" if out is not None else ""))
    if not study.complete:
        raise typer.Exit(INTERRUPTED)
    if not study.ok.any():
        raise typer.Exit(1)


def _spread(study: Any, label: str) -> dict[str, float]:
    """Statistics of the values at the end of the runs that ended as wished."""
    import numpy as np

    values = study[f"{label}.end"].values[study.ok]
    if not values.size:
        return dict.fromkeys(("mean", "deviation", "least", "median", "greatest"), float("nan"))
    deviation = values.std(ddof=1) if values.size > 1 else float("nan")
    found = (values.mean(), deviation, values.min(), np.median(values), values.max())
    return dict(zip(("mean", "deviation", "least", "median", "greatest"), map(float, found), strict=True))


def _varied(item: str, choices: Mapping[str, Mapping[str, Any]]) -> tuple[str, Any]:
    """A name and what it is varied over: numbers, or labels of what a file offers as choices."""
    name, separator, text = item.partition("=")
    label, text = name.strip().replace("'", ".rate"), text.strip()
    if label in choices and not separator:
        return label, choices[label]
    words = [word.strip() for word in text.split(",")]
    if label in choices and all(word in choices[label] for word in words):
        return label, {word: choices[label][word] for word in words}
    if not separator or not label or not text:
        raise ModelError(f"--over takes NAME=VALUES: {EXAMPLE}; got {item!r}.")
    called = re.fullmatch(r"(\w+)\((.*)\)", text)
    try:
        if called:
            from appell.ensemble.design import LogUniform, Normal, Uniform

            kinds = {"uniform": Uniform, "normal": Normal, "loguniform": LogUniform}
            return label, kinds[called[1].lower()](*(float(e) for e in called[2].split(",")))
        if ":" in text:
            import numpy as np

            from appell.ensemble.design import check_size

            first, last, count = text.split(":")
            check_size(int(count))
            return label, np.linspace(float(first), float(last), int(count))
        return label, [float(e) for e in text.split(",")]
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, ModelError):
            raise
        words = f"--over takes NAME=VALUES: {EXAMPLE}; got {item!r}."
        if label in choices:
            words += f" The file offers for {label}: {', '.join(choices[label])}."
        raise ModelError(f"{words} {FORMULAS}") from None
