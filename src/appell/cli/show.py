"""`appell show MODEL`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from appell.cli.app import ByOption, JsonOption, ModelArgument, app
from appell.cli.case import read_case
from appell.cli.output import deliver, errors
from appell.cli.places import PICTURES, check_file, written
from appell.terminal import print_table

if TYPE_CHECKING:
    from appell.equations import Equations
    from appell.model.model import Model
    from appell.model.symbols import Letter

LONG = 1000  # letters of a constraint that nobody reads; --json prints it all the same


@app.command()
def show(
    name: ModelArgument,
    by: ByOption = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print the equations in LaTeX.")] = False,
    out: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Draw the model at its start: .png .svg .pdf .html.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Describe a model and print its equations."""
    from appell.formulation.derive import derive

    with errors(as_json):
        case = read_case(name, by)
        for path in out or ():
            check_file(path, *PICTURES, ".html")
        equations = derive(case.model, case.formulation)
        deliver(
            as_json,
            lambda: {**_data(equations), "about": case.about},
            lambda: print(equations.latex()) if latex else _tell(equations, case.about),
            written(out, case.model.draw),
        )


def _letters(model: Model) -> list[Letter]:
    return [*model.coordinates, *model.states, *model.inputs, *model.parameters]


def _data(equations: Equations) -> dict[str, Any]:
    from appell.model.symbols import written as in_words

    model = equations.model
    return {
        "name": model.name,
        "description": model.description,
        "symbols": [
            {
                "name": s.label,
                "kind": s.kind,
                "unit": s.unit,
                "value": model.values.get(s.label),
                "description": s.description,
            }
            for s in _letters(model)
        ],
        "constraints": [
            {"name": row.name, "expression": in_words(row.expression), "order": row.order} for row in model.rows
        ],
        "start": dict(model.start),
        "operations": equations.operations,
        "latex": equations.latex(),
    }


def _tell(equations: Equations, about: str) -> None:
    from appell.model.symbols import nodes
    from appell.model.symbols import written as in_words
    from appell.reading.trigonometry import gathered

    model = equations.model
    print("\n".join(filter(None, (model.name, model.description))) + "\n")
    columns = ["symbol", "kind", "unit", "value", "what it is"]
    rows = [
        [s.label, s.kind, s.unit, f"{model.values[s.label]:g}" if s.label in model.values else "", s.description]
        for s in _letters(model)
    ]
    told = len(columns) - (not any(row[-1] for row in rows))
    print_table("", columns[:told], [row[:told] for row in rows])
    if about:
        print(f"\n{about}")
    for i, row in enumerate(model.rows):
        words = f"{in_words(gathered(row.expression))} = 0"
        if len(words) > LONG:
            words = f"(a formula of {len(list(nodes(row.expression)))} parts)"
        print(("" if i else "\n") + f"constraint {row.name}: {words}")
    print("\n" + equations.text())
