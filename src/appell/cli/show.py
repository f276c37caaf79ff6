"""`appell show MODEL`."""

from __future__ import annotations

from typing import Annotated

import typer

from appell.cli.app import JsonOption, ModelArgument, app
from appell.cli.case import read_case
from appell.cli.output import errors, say
from appell.terminal import print_table


@app.command()
def show(
    name: ModelArgument,
    latex: Annotated[bool, typer.Option("--latex", help="Print the equations in LaTeX.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Describe a model and print its equations."""
    from appell.formulation.abstract import derive
    from appell.model.symbols import written

    with errors(as_json):
        case = read_case(name)
        model, equations = case.model, derive(case.model, case.formulation)
        letters = [*model.coordinates, *model.states, *model.inputs, *model.parameters]
        if as_json:
            described = [
                {"name": s.label, "kind": s.kind, "unit": s.unit, "value": model.values.get(s.label)} for s in letters
            ]
            rows = [{"name": r.name, "expression": written(r.expression), "order": r.order} for r in model.rows]
            say({
                "name": model.name, "description": model.description, "symbols": described, "constraints": rows,
                "start": dict(model.start), "operations": equations.operations, "latex": equations.latex(),
            })  # fmt: skip
            return
        if latex:
            print(equations.latex())
            return
        print(f"{model.name}\n{model.description}\n")
        rows = [
            [s.label, s.kind, s.unit, f"{model.values[s.label]:g}" if s.label in model.values else ""] for s in letters
        ]
        print_table("", ["symbol", "kind", "unit", "value"], rows)
        for row in model.rows:
            print(f"constraint {row.name}: {written(row.expression)} = 0")
        print("\n" + equations.text())
