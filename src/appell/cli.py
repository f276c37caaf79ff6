"""The command line: list, show, verify, run, export.

MODEL is a name from `appell list` or a Python file that defines `model` (and, if it likes, `formulation`, `events`,
`outputs`).
"""

from __future__ import annotations

import contextlib
import json
import math
import runpy
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from appell.errors import AppellError, ModelError

app = typer.Typer(
    name="appell",
    help="Equations of motion without multipliers: derive, prove, compile, simulate.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

ModelArgument = Annotated[str, typer.Argument(metavar="MODEL", help="A name from `appell list`, or a FILE.py.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter, input or starting value.")
]


@dataclass(frozen=True)
class Case:
    """A model and what its file says about running it."""

    model: Any
    formulation: Any = None
    events: tuple[Any, ...] = ()
    outputs: dict[str, Any] = field(default_factory=dict)


@contextlib.contextmanager
def _errors(as_json: bool) -> Iterator[None]:
    """Errors as one line (or one JSON object) on standard error, and exit code 1."""
    try:
        yield
    except (AppellError, OSError) as error:
        kind = type(error).__name__
        if as_json:
            _say({"error": kind, "message": str(error)})
        else:
            print(f"appell: {error}", file=sys.stderr)
        raise typer.Exit(1) from None


def _say(data: Any) -> None:
    """Print JSON; numbers that are not finite, which JSON does not have, become null."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(entry) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [plain(entry) for entry in value]
        return None if isinstance(value, float) and not math.isfinite(value) else value

    print(json.dumps(plain(data), allow_nan=False))


def _case(name: str) -> Case:
    from appell.library import model
    from appell.model.model import Model

    if not name.endswith(".py"):
        return Case(model(name))
    path = Path(name)
    if not path.is_file():
        raise ModelError(f"There is no file {name}.")
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)  # as `python FILE.py` does
    try:
        defined = runpy.run_path(str(path))
    except AppellError:
        raise
    except Exception as error:
        raise ModelError(f"{name} could not be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(folder)
    found = defined.get("model")
    if callable(found):
        found = found()
    if not isinstance(found, Model):
        raise ModelError(f"{name} must define `model`, an appell.Model; it defines {type(found).__name__}.")
    return Case(found, defined.get("formulation"), tuple(defined.get("events", ())), dict(defined.get("outputs", {})))


def _settings(case: Case, given: list[str] | None) -> tuple[dict[str, float], dict[str, float]]:
    """Numbers for parameters and inputs, and for the starting state."""
    from appell.code.state import names_of, unknown
    from appell.model.symbols import key

    values = {s.label for s in (*case.model.parameters, *case.model.inputs)}
    speeds = [s.label for s in getattr(case.formulation, "speeds", None) or ()]
    states = (*names_of(case.model), *speeds)
    numbers: dict[str, float] = {}
    start: dict[str, float] = {}
    for item in given or ():
        name, separator, text = item.partition("=")
        label = key(name.strip())
        try:
            number = float(text)
        except ValueError:
            separator = ""
            number = 0.0
        if not separator:
            raise ModelError(f"--set takes NAME=NUMBER, for example --set m=1.5; got {item!r}.")
        if label in values:
            numbers[label] = number
        elif label in states:
            start[label] = number
        else:
            raise ModelError(
                unknown(label, sorted((*values, *states)), f"parameter, input or state of {case.model.name!r}")
            )
    return numbers, start


def _table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(*columns, title=title, title_justify="left", show_edge=False, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    Console(soft_wrap=False, width=None if sys.stdout.isatty() else 140, highlight=False, markup=False).print(table)


@app.command("list")
def list_models(as_json: JsonOption = False) -> None:
    """The models of the library."""
    from appell import library

    with _errors(as_json):
        models = [library.model(name) for name in library.names()]
        rows = [
            [n, len(m.coordinates), len(m.rows), m.description.split(".")[0]]
            for n, m in zip(library.names(), models, strict=True)
        ]
        if as_json:
            keys = ("name", "coordinates", "rows", "description")
            _say([dict(zip(keys, row, strict=True)) for row in rows])
        else:
            titles = ["model", "coordinates", "constraint rows", "what it is"]
            _table("", titles, [[str(entry) for entry in row] for row in rows])


@app.command()
def show(
    name: ModelArgument,
    latex: Annotated[bool, typer.Option("--latex", help="Print the equations in LaTeX.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Describe a model and print its equations."""
    from appell.formulation.abstract import derive

    with _errors(as_json):
        case = _case(name)
        model, equations = case.model, derive(case.model, case.formulation)
        letters = [*model.coordinates, *model.states, *model.inputs, *model.parameters]
        if as_json:
            described = [
                {"name": s.label, "kind": s.kind, "unit": s.unit, "value": model.values.get(s.label)} for s in letters
            ]
            rows = [{"name": r.name, "expression": str(r.expression), "order": r.order} for r in model.rows]
            _say({
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
        _table("", ["symbol", "kind", "unit", "value"], rows)
        for row in model.rows:
            print(f"constraint {row.name}: {row.expression} = 0")
        print("\n" + equations.text())


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

    with _errors(as_json):
        case = _case(name)
        values, _ = _settings(case, settings)
        found = compare(case.model, case.formulation, values=values, states=states, seed=seed)
        if as_json:
            pairs = [{"first": a, "second": b, "disagreement": value} for (a, b), value in found.pairs.items()]
            _say({"model": found.model, "states": found.states, "pairs": pairs, "worst": found.worst, "ok": found.ok})
        else:
            _table(
                f"{found.model}: {found.states} random states on the constraints",
                ["formulation", "against", "largest relative disagreement"],
                [[a, b, f"{value:.2e}"] for (a, b), value in found.pairs.items()],
            )
            print("all agree" if found.ok else f"DISAGREEMENT: {found.worst:.2e}")
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def run(
    name: ModelArgument,
    settings: SetOption = None,
    until: Annotated[
        float | None, typer.Option(help="End time in seconds; the model's suggestion if left out.")
    ] = None,
    method: Annotated[str, typer.Option(help="auto, taylor, dop853, cvodes, RK45, Radau, ...")] = "auto",
    points: Annotated[int, typer.Option(help="Rows of the table.")] = 501,
    out: Annotated[
        list[Path] | None,
        typer.Option(help="Write the motion: .nc, .zarr, .csv, or a picture .png .svg .pdf; a study: FOLDER/."),
    ] = None,
    study: Annotated[bool, typer.Option(help="Run the study of a model that has one, such as sprayer.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Simulate a model and prove the motion; a model with a study is put through it."""
    from appell import library
    from appell.code.system import compile
    from appell.formulation.abstract import derive
    from appell.motion.run import simulate

    with _errors(as_json):
        case = _case(name)
        values, start = _settings(case, settings)
        whole = library.study(name) if study else None
        if whole is not None:
            if not whole(values, start, until, method, list(out or ()), as_json):
                raise typer.Exit(1)
            return
        for path in out or ():
            _check_out(path)
        system = compile(derive(case.model, case.formulation)).bind(values)
        state = None
        if start:
            suggested = {n: v for n, v in case.model.start.items() if n not in start}
            state = (
                system.consistent(start, near=suggested) if case.model.rows else system.state({**suggested, **start})
            )
        motion = simulate(system, state, until, method=method, points=points, events=case.events, outputs=case.outputs)
        proof = motion.check()
        for path in out or ():
            _write(motion, path)
        last = {label: float(column[-1]) for label, column in motion.columns.items()}
        if as_json:
            _say({
                **motion.info, "ok": motion.outcome.ok and proof.ok, "final": last,
                "check": {"position": proof.position, "velocity": proof.velocity, "balance": proof.balance,
                          "work": dict(proof.work), "agreement": dict(proof.agreement)},
            })  # fmt: skip
        else:
            print(system.equations.summary())
            print(motion.summary())
            print(proof)
            rows = [
                [label, motion.units.get(label, ""), *(f"{float(e):.9g}" for e in (c[0], c.min(), c.max(), c[-1]))]
                for label, c in motion.columns.items()
            ]
            _table("", ["quantity", "unit", "first", "least", "greatest", "last"], rows)
            for path in out or ():
                print(f"wrote {path}")
    if not (motion.outcome.ok and proof.ok):
        raise typer.Exit(1)


PICTURES = (".png", ".svg", ".pdf")


def _check_out(path: Path) -> None:
    if path.suffix not in (".nc", ".zarr", ".csv", *PICTURES):
        raise ModelError(f"Cannot write {path.name!r}: use .nc, .zarr, .csv, .png, .svg or .pdf.")
    if not path.parent.is_dir():
        raise ModelError(f"The folder {path.parent} does not exist; make it first.")


def _write(motion: Any, path: Path) -> None:
    if path.suffix in PICTURES:
        motion.plot(path=path)
    elif path.suffix == ".csv":
        motion.to_pandas().to_csv(path)
    else:
        motion.save(path)


@app.command()
def export(
    name: ModelArgument,
    c: Annotated[Path | None, typer.Option("--c", help="Write C source and header: --c disk.c")] = None,
    casadi: Annotated[
        Path | None, typer.Option("--casadi", help="Write a CasADi function: --casadi disk.casadi")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Write the equations for other programs."""
    from appell.code.system import compile
    from appell.formulation.abstract import derive

    with _errors(as_json):
        if c is None and casadi is None:
            raise ModelError("Say what to write: --c FILE.c or --casadi FILE.casadi.")
        if casadi is not None and not casadi.parent.is_dir():
            raise ModelError(f"The folder {casadi.parent} does not exist; make it first.")
        case = _case(name)
        system = compile(derive(case.model, case.formulation))
        files: list[Path] = []
        if c is not None:
            files += system.to_c(c)
        if casadi is not None:
            casadi.write_text(system.to_casadi().serialize())
            files.append(casadi)
        if as_json:
            _say([str(f) for f in files])
        else:
            print("\n".join(f"wrote {f}" for f in files))


def main() -> None:
    """Entry point."""
    app()
