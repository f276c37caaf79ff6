"""What a command is about: a model of the library or of a file, and the numbers given with `--set`."""

from __future__ import annotations

import contextlib
import re
import runpy
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from appell.errors import AppellError, ModelError


@dataclass(frozen=True)
class Case:
    """A model and what its file says about running it."""

    model: Any
    formulation: Any = None
    events: tuple[Any, ...] = ()
    outputs: dict[str, Any] = field(default_factory=dict)
    inputs: dict[Any, Any] = field(default_factory=dict)
    control: Any = None
    control_rate: float | None = None
    choices: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def gains(self) -> list[Any]:
        """Letters that stand in the inputs of the file and not in the model."""
        from appell.model.symbols import Parameter

        found = {s for law in self.inputs.values() for s in getattr(law, "free_symbols", ())}
        return sorted((s for s in found - {*self.model.parameters} if isinstance(s, Parameter)), key=str)

    def check_gains(self, varied: Iterable[str] = ()) -> None:
        """Refuse gains that have no number and are not varied."""
        missing = [s.label for s in self.gains if s.label not in set(varied)]
        if missing:
            words = ", ".join(f"{label}=NUMBER" for label in missing)
            raise ModelError(f"The inputs of the file contain letters without a number; give --set {words}.")

    def without(self, named: Iterable[Any]) -> Case:
        """The case without the inputs of the file that the command line gives."""
        from appell.model.symbols import key

        given = {key(name) for name in named}
        return replace(self, inputs={name: law for name, law in self.inputs.items() if key(name) not in given})

    def with_gains(self, values: Mapping[str, float]) -> tuple[Case, dict[str, float]]:
        """The case with numbers for its gains in the inputs of the file, and the other values."""
        gains = {s: values[s.label] for s in self.gains if s.label in values}
        laws = {name: law.subs(gains) if hasattr(law, "subs") else law for name, law in self.inputs.items()}
        labels = {s.label for s in gains}
        return replace(self, inputs=laws), {name: v for name, v in values.items() if name not in labels}


def read_case(name: str) -> Case:
    """The model of a name or of a file, with what the file says about running it."""
    from appell.library import events, model, names
    from appell.model.model import Model

    path = Path(name)
    if path.suffix not in (".py", ".urdf"):
        if name not in names() and (path.exists() or path.suffix or len(path.parts) > 1):
            raise ModelError(f"MODEL is a name from `appell list`, a FILE.py or a FILE.urdf; got {name!r}.")
        return Case(model(name), events=events(name))
    if not path.is_file():
        raise ModelError(f"There is no file {name}.")
    if path.suffix == ".urdf":
        from appell.model.chain import Chain

        return Case(Chain.from_urdf(path, meshes=False))
    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)  # as `python FILE.py` does
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a file prints is no part of what the command prints
            defined = runpy.run_path(str(path))
            found = defined.get("model")
            if callable(found):
                found = found()
    except (Exception, SystemExit) as error:
        words = str(error) if isinstance(error, AppellError) else f"{type(error).__name__}: {error}"
        raise ModelError(f"{name} could not be run: {words}{_line(path, error)}") from error
    finally:
        sys.path.remove(folder)
    if found is None:
        raise ModelError(f"{name} must define `model`, an appell.Model or a function that returns one; it does not.")
    if not isinstance(found, Model):
        raise ModelError(f"{name} must define `model`, an appell.Model; it defines {type(found).__name__}.")
    # A file may use these two names for its symbols; then they say nothing about a run.
    inputs, control = defined.get("inputs"), defined.get("control")
    return Case(
        model=found,
        formulation=defined.get("formulation"),
        events=_events(name, defined.get("events", ())),
        outputs=_outputs(name, defined.get("outputs", {})),
        inputs=dict(inputs) if isinstance(inputs, Mapping) else {},
        control=control if callable(control) and not hasattr(control, "free_symbols") else None,
        control_rate=defined.get("control_rate"),
        choices=_choices(name, defined.get("choices", {})),
    )


def _line(path: Path, error: BaseException) -> str:
    """Where in a file an error arose."""
    lines = [e.lineno for e in traceback.extract_tb(error.__traceback__) if e.filename == str(path)]
    return f" ({path.name}, line {lines[-1]})" if lines else ""


def _events(name: str, given: Any) -> tuple[Any, ...]:
    """The events of a file."""
    from appell.motion.events import Event

    if not isinstance(given, list | tuple) or not all(isinstance(event, Event) for event in given):
        raise ModelError(f"`events` of {name} must be a list of appell.Event(...), got {given!r}.")
    return tuple(given)


def _outputs(name: str, given: Any) -> dict[str, Any]:
    """The outputs of a file."""
    import sympy as sp

    try:
        good = all(isinstance(label, str) and isinstance(sp.sympify(e), sp.Expr) for label, e in given.items())
    except (AttributeError, sp.SympifyError):
        good = False
    if not good:
        raise ModelError(f"`outputs` of {name} must be formulas by name, such as {{'height': y}}; got {given!r}.")
    return dict(given)


def _choices(name: str, given: Any) -> dict[str, dict[str, Any]]:
    """What a file offers to vary, by name and label."""
    from appell.model.symbols import key

    if not isinstance(given, Mapping) or not all(isinstance(things, Mapping) for things in given.values()):
        raise ModelError(
            f"`choices` of {name} must be things by name and label, such as "
            f"{{'tau': {{'none': 0.0, 'swing': sin(3 * t)}}}}; got {given!r}."
        )
    return {key(label): {str(word): e for word, e in things.items()} for label, things in given.items()}


def read_settings(
    case: Case, given: list[str] | None, laws: dict[Any, Any] | None = None
) -> tuple[dict[str, float], dict[str, float]]:
    """Numbers for parameters and inputs, and for the starting state.

    Args:
        case: What the command is about.
        given: NAME=NUMBER, several apart by commas.
        laws: Where formulas of inputs are put; None for a command that takes none.
    """
    from appell.code.state import names_of
    from appell.model.symbols import key
    from appell.model.values import unknown

    values = {s.label for s in (*case.model.parameters, *case.model.inputs)}
    inputs = {} if laws is None else {s.label: s for s in case.model.inputs}
    values |= set() if laws is None else {s.label for s in case.gains}
    speeds = [s.label for s in getattr(case.formulation, "speeds", None) or ()]
    states = (*names_of(case.model), *speeds)
    numbers: dict[str, float] = {}
    start: dict[str, float] = {}
    for item in _settings(given):
        name, separator, text = item.partition("=")
        label = key(name.strip())
        if label in inputs and (law := _law(case, label, text)) is not None and laws is not None:
            laws[inputs[label]] = law
            continue
        number = _number(text) if separator else None
        if number is None:
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


def _settings(given: list[str] | None) -> list[str]:
    """Settings apart by commas; those within a formula, min(a, b), part none."""
    return [part for entry in given or () for part in re.split(r",(?=[\w.'\s]*=|[^()]*$)", entry)]


def _number(text: str) -> float | None:
    """A number or a formula of numbers, such as 2*pi/3."""
    from appell.cli.formulas import formula

    try:
        return float(text)
    except ValueError:
        pass
    try:
        return float(formula(text, {}))
    except (ValueError, TypeError):
        return None


def _law(case: Case, label: str, text: str) -> Any:
    """The formula of an input, in what evolves, parameters and time; None for a number."""
    from appell.cli.formulas import formula
    from appell.model.symbols import t

    if _number(text) is not None:
        return None
    model = case.model
    evolving = [*model.coordinates, *(q.rate for q in model.coordinates), *model.states, *model.parameters]
    evolving += getattr(case.formulation, "speeds", None) or ()
    letters = {"t": t, **{s.label: s for s in evolving}}
    try:
        return formula(text, letters)
    except ValueError as error:
        raise ModelError(
            f"--set takes a number for the input {label}, or a formula in {', '.join(letters)}, such as "
            f"{label}=2*sin(t); got {text!r}, of which {error}."
        ) from None


def read_numbers(given: list[str] | None, option: str) -> dict[str, float]:
    """Numbers by name: NAME=NUMBER, several apart by commas."""
    from appell.model.symbols import key

    found: dict[str, float] = {}
    for part in (part for item in given or () for part in item.split(",")):
        name, separator, text = part.partition("=")
        value = _number(text) if separator else None
        if value is None:
            raise ModelError(f"{option} takes NAME=NUMBER, for example {option} x=0.5; got {part!r}.")
        found[key(name.strip())] = value
    return found


def read_limits(given: list[str] | None) -> Any:
    """Limits of inputs: VALUE for all, one for each in order, or INPUT=VALUE as often as needed."""
    if not given:
        return None
    if any("=" in item for item in given):
        return read_numbers(given, "--limit")
    try:
        values = [float(item) for item in given]
    except ValueError:
        raise ModelError(f"--limit takes NUMBER or INPUT=NUMBER, got {' '.join(given)!r}.") from None
    return values[0] if len(values) == 1 else values
