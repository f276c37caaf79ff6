"""`appell verify MODEL`."""

from __future__ import annotations

from typing import Annotated

import typer

from appell.cli.app import JsonOption, ModelArgument, SetOption, app
from appell.cli.case import read_case, read_settings
from appell.cli.output import errors, print_table, say


@app.command()
def verify(
    name: ModelArgument,
    states: Annotated[int, typer.Option(min=1, help="How many random states.")] = 20,
    seed: Annotated[int, typer.Option(help="Seed of the random numbers.")] = 0,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare all formulations at random consistent states."""
    from appell.analysis.verify import verify as compare

    with errors(as_json):
        case = read_case(name)
        values, _ = read_settings(case, settings)
        found = compare(case.model, case.formulation, values=values, states=states, seed=seed)
        if as_json:
            pairs = [{"first": a, "second": b, "disagreement": value} for (a, b), value in found.pairs.items()]
            say({"model": found.model, "states": found.states, "pairs": pairs, "worst": found.worst, "ok": found.ok})
        else:
            print_table(
                f"{found.model}: {found.states} random states on the constraints",
                ["formulation", "against", "largest relative disagreement"],
                [[a, b, f"{value:.2e}"] for (a, b), value in found.pairs.items()],
            )
            print("all agree" if found.ok else f"DISAGREEMENT: {found.worst:.2e}")
    if not found.ok:
        raise typer.Exit(1)
