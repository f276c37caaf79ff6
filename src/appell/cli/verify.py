"""`appell verify MODEL`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from appell.cli.app import JsonOption, ModelArgument, SetOption, app
from appell.cli.case import read_case
from appell.cli.output import errors, say
from appell.cli.settings import read_settings
from appell.errors import ModelError
from appell.terminal import print_table


@app.command()
def verify(
    name: ModelArgument,
    states: Annotated[int, typer.Option(min=1, help="How many random states.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random numbers.")] = 0,
    order: Annotated[
        int | None, typer.Option(min=1, max=8, help="For a robot: check the higher-order identities up to this order.")
    ] = None,
    settings: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare all formulations at random states. With --order, check the higher-order identities of a robot."""
    from appell.analysis.verify import verify as compare

    with errors(as_json):
        case = read_case(name)
        given = read_settings(case, settings)
        if given.start:
            raise ModelError(f"verify takes random states; leave {', '.join(given.start)} out of --set.")
        values = given.values
        if order is not None:
            identities(case.model, order, values, states, seed, as_json)
            return
        found = compare(case.model, *filter(None, [case.formulation]), values=values, states=states, seed=seed)
        if as_json:
            pairs = [{"first": a, "second": b, "disagreement": value} for (a, b), value in found.pairs.items()]
            say({
                "model": found.model, "states": found.states, "left out": dict(found.left_out), "pairs": pairs,
                "worst": found.worst, "ok": found.ok,
            })  # fmt: skip
        else:
            rows = found.triangle()
            if rows:
                print_table(
                    f"{found.model}: {found.states} random states on the constraints, largest relative disagreements",
                    ["formulation", *(str(i + 1) for i in range(len(rows) - 1))],
                    [[*row, *[""] * (len(rows) - len(row))] for row in rows],
                )
            print("\n".join([*found.remarks, "all agree" if found.ok and found.pairs else found.verdict]))
    if not found.ok:
        raise typer.Exit(1)


def identities(model: Any, order: int, values: Mapping[str, float], states: int, seed: int, as_json: bool) -> None:
    """Print how well the identities of higher-order mechanics hold on a robot."""
    from appell.higher_order import verify as evaluate

    found = evaluate(model, order, values=values, states=states, seed=seed)
    if as_json:
        rows = [{"identity": name, "disagreement": value} for name, value in found.found.items()]
        say(
            {
                "model": found.model,
                "order": order,
                "states": states,
                "identities": rows,
                "worst": found.worst,
                "ok": found.ok,
            }
        )
    else:
        print_table(
            f"{found.model}: identities up to order {order} at {states} random motions",
            ["identity", "largest relative disagreement"],
            [[name, f"{value:.1e}"] for name, value in found.found.items()],
        )
        print("all hold" if found.ok else f"DISAGREEMENT: {found.worst:.1e}")
    if not found.ok:
        raise typer.Exit(1)
