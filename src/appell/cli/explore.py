"""`appell explore MODEL`."""

from __future__ import annotations

import math
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, MethodOption, ModelArgument, SetOption, UntilOption, app
from appell.cli.case import Case, read_case
from appell.cli.output import deliver, errors
from appell.cli.places import check_file, written
from appell.cli.run import starting
from appell.cli.settings import set_case
from appell.cli.varied import read_over
from appell.errors import ModelError

MOST = 400  # motions of a page
SLIDERS = 3


@app.command()
def explore(
    name: ModelArgument,
    over: Annotated[
        list[str],
        typer.Option(metavar="NAME=VALUES", help="What the sliders vary: 1,2,5 or first:last:count; up to three."),
    ],
    out: Annotated[list[Path], typer.Option(metavar="FILE", help="The page to write: .html.")],
    settings: SetOption = None,
    by: ByOption = None,
    until: UntilOption = None,
    method: MethodOption = "auto",
    as_json: JsonOption = False,
) -> None:
    """See a model move at many values: one page with sliders. Parameters, inputs and starts are varied."""
    from appell.motion.progress import Progress
    from appell.motion.run import simulate
    from appell.view.variations import explore as page_of

    with errors(as_json):
        for path in out:
            check_file(path, ".html", ".htm")
        case = read_case(name, by)
        varied = _numbers(read_over(over, {}))
        first, given = set_case(case, settings, varied)
        system = given.system(first)
        keys = list(product(*varied.values()))
        motions: dict[tuple[float, ...], Any] = {}
        with Progress(0, len(keys), None, "running") as bar:
            for k, key in enumerate(keys):
                more = [f"{label}={value!r}" for label, value in zip(varied, key, strict=True)]
                own, given = set_case(case, [*(settings or ()), *more])
                bound = system.bind(given.values)
                motions[key] = simulate(
                    bound, starting(bound, given.start), until, method=method, events=own.events,
                    inputs=own.inputs, control=own.control, rate=own.control_rate, progress=False,
                )  # fmt: skip
                bar(k + 1)
        page = page_of(motions, [_called(case, label) for label in varied])
        short = {key: m.outcome.value for key, m in motions.items() if not m.outcome.ok}
        deliver(
            as_json,
            lambda: {"model": case.model.name, "varied": varied, "motions": len(motions), "ended_early": len(short)},
            lambda: _tell(page, short),
            written(out, page.save),
        )


def _numbers(varied: dict[str, Any]) -> dict[str, list[float]]:
    """Values by name; refuses what no slider goes over."""
    for label, values in varied.items():
        if hasattr(values, "at"):
            raise ModelError(f"A slider goes over numbers: --over {label}=1,2,5 or {label}=0.5:1.5:11.")
    found = {label: sorted({float(e) for e in values}) for label, values in varied.items()}
    count = math.prod(map(len, found.values()))
    if not 1 <= count <= MOST or len(found) > SLIDERS:
        raise ModelError(
            f"A page has up to {SLIDERS} sliders and {MOST} motions; got {len(found)} and {count}. For more, see "
            "`appell sweep`."
        )
    return found


def _called(case: Case, label: str) -> str:
    """A name with its unit."""
    from appell.view.plot import labelled

    model = case.model
    letters = (
        *model.parameters,
        *model.inputs,
        *case.gains,
        *model.coordinates,
        *(q.rate for q in model.coordinates),
        *model.states,
    )
    return labelled(label, next((s.unit for s in letters if s.label == label), ""))


def _tell(page: Any, short: dict[tuple[float, ...], str]) -> None:
    print(repr(page).partition("; .save")[0])
    if short:
        key, words = next(iter(short.items()))
        values = ", ".join(f"{name} = {value:g}" for name, value in zip(page.names, key, strict=True))
        print(f"{len(short)} ended early, the first at {values}: {words}")
