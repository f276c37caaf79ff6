"""`appell list`."""

from __future__ import annotations

from appell.cli.app import JsonOption, app
from appell.cli.output import errors, say
from appell.terminal import print_table


@app.command("list")
def list_models(as_json: JsonOption = False) -> None:
    """List the models of the library."""
    from appell import library

    with errors(as_json):
        models = [library.model(name) for name in library.names()]
        rows = [
            [n, len(m.coordinates), len(m.rows), m.description.split(".")[0]]
            for n, m in zip(library.names(), models, strict=True)
        ]
        if as_json:
            keys = ("name", "coordinates", "rows", "description")
            say([dict(zip(keys, row, strict=True)) for row in rows])
        else:
            titles = ["model", "coordinates", "constraint rows", "what it is"]
            print_table("", titles, [[str(entry) for entry in row] for row in rows])
