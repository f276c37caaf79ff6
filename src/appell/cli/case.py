"""What a command is about: a model of the library or of a file, with what the file says about running it."""

from __future__ import annotations

import contextlib
import difflib
import re
import runpy
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from appell.errors import AppellError, ModelError

ADVICE = {  # what Python and SymPy say of formulas and files, and what to type
    "truth value of Relational": "a formula chooses by sympy.Piecewise, Min, Max or Abs, not by if, min, max or abs",
    "Cannot convert expression to float": "formulas take SymPy's functions: `from sympy import sin`, not from math",
    "loop of ufunc does not support": "formulas take SymPy's functions: `from sympy import sin`, not from NumPy",
    "type(s) for ^": "a power is written x**2",
    "null bytes": "save the file as UTF-8",
}
ROBOTS = (".urdf", ".xml", ".sdf", ".xacro")  # files of robots; what is in them is told by their reader


@dataclass(frozen=True)
class Case:
    """A model and what its file says about running it; its name if it is of the library.

    Attributes:
        controlled: Those of the inputs whose formulas the file gives as its `control`.
    """

    model: Any
    name: str = ""
    formulation: Any = None
    events: tuple[Any, ...] = ()
    outputs: dict[str, Any] = field(default_factory=dict)
    inputs: dict[Any, Any] = field(default_factory=dict)
    control: Any = None
    control_rate: float | None = None
    controlled: frozenset[Any] = frozenset()
    choices: dict[str, dict[str, Any]] = field(default_factory=dict)
    about: str = ""

    @property
    def gains(self) -> list[Any]:
        """Letters that stand in the inputs of the file and not in the model."""
        from appell.model.symbols import Parameter

        found = {s for law in self.inputs.values() for s in getattr(law, "free_symbols", ())}
        return sorted((s for s in found - {*self.model.parameters} if isinstance(s, Parameter)), key=str)

    def without_control(self) -> Case:
        """The same where another control takes the place of that of the file, be it a function or formulas."""
        left = {name: law for name, law in self.inputs.items() if name not in self.controlled}
        return replace(self, inputs=left, control=None, controlled=frozenset())


def read_case(name: str, by: str | None = None) -> Case:
    """The model of a name or of a file, with what the file says about running it.

    Args:
        name: A name of the library, or a path.
        by: The name of a principle, in place of that of the file.
    """
    case = _read(name)
    return case if by is None else replace(case, formulation=_principle(by))


def _principle(name: str) -> Any:
    """The formulation of a name, `gibbs-appell` for `GibbsAppell`."""
    from appell.formulation import FORMULATIONS
    from appell.model.values import unknown

    known = {re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower(): kind for kind in FORMULATIONS}
    plain = name.lower().replace("_", "-")
    if plain not in known:
        raise ModelError(unknown(plain, list(known), "principle"))
    return known[plain]()


def _read(name: str) -> Case:
    from appell.library import _label, about, events, model, names

    path = Path(name)
    if path.suffix not in (".py", *ROBOTS):
        files = [file for ending in (".py", *ROBOTS) if Path(file := f"{name}{ending}").is_file()]
        if name not in names() and files:
            raise ModelError(
                f"{name!r} is not a model of the library; there is a file {files[0]}: write its whole name."
            )
        if name not in names() and (path.exists() or path.suffix or len(path.parts) > 1):
            raise ModelError(f"MODEL is a name from `appell list`, a FILE.py or a FILE.urdf; got {name!r}.")
        return Case(model(name), _label(name), events=events(name), about=about(name))
    if not path.is_file():
        raise ModelError(f"{name} is a folder." if path.is_dir() else f"There is no file {name}.")
    if path.suffix in ROBOTS:
        from appell.model.chain import Chain

        return Case(Chain.from_urdf(path, meshes=False))
    return _of_file(name, path)


def _of_file(name: str, path: Path) -> Case:
    """The case that a Python file defines."""
    from appell.model.model import Model

    folder = str(path.parent.resolve())
    sys.path.insert(0, folder)  # as `python FILE.py` does
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what a file prints is no part of what the command prints
            defined = runpy.run_path(str(path))
            found = defined.get("model")
            if callable(found):
                found = found()
    except (Exception, SystemExit) as error:
        raise ModelError(f"{name} could not be run: {_words(error)}{_line(path, error)}") from error
    finally:
        sys.path.remove(folder)
    if found is None:
        others = [word for word, value in defined.items() if isinstance(value, Model)]
        hint = f"; write `model = {others[0]}`, of its models {', '.join(others)}" if others else ""
        raise ModelError(
            f"{name} must define `model`, an appell.Model or a function that returns one; it does not{hint}."
        )
    if not isinstance(found, Model):
        raise ModelError(f"{name} must define `model`, an appell.Model; it defines {type(found).__name__}.")
    _tell_misspelt(name, defined)
    control = _control(name, defined.get("control"))
    inputs, function = _laws(_inputs(name, defined.get("inputs")), control)
    return Case(
        model=found,
        formulation=defined.get("formulation"),
        events=_events(name, defined.get("events", ())),
        outputs=_outputs(name, defined.get("outputs", {})),
        inputs=inputs,
        control=function,
        control_rate=defined.get("control_rate"),
        controlled=frozenset(control) if isinstance(control, Mapping) else frozenset(),
        choices=_choices(name, defined.get("choices", {}), found),
    )


def _tell_misspelt(name: str, defined: Mapping[str, Any]) -> None:
    """Say of what would do under a name that is read, and stands under one like it, that it is not read."""
    from appell.formulation.abstract import AbstractFormulation
    from appell.motion.events import Event

    kinds = {
        "formulation": AbstractFormulation,
        "events": Event | list | tuple,
        "outputs": Mapping,
        "inputs": Mapping,
        "control": FunctionType,
        "control_rate": int | float,
        "choices": Mapping,
    }
    for word, kind in kinds.items():
        like = [other for other, value in defined.items() if other not in kinds and isinstance(value, kind)]
        for other in difflib.get_close_matches(word, like, cutoff=0.8) if word not in defined else ():
            print(f"appell: {name} defines `{other}`, which is not read; the name is `{word}`.", file=sys.stderr)


def _words(error: BaseException) -> str:
    """What an error says, and what to type."""
    if isinstance(error, AppellError):
        return str(error)
    advice = next((f"; {advice}" for sign, advice in ADVICE.items() if sign in str(error)), "")
    return f"{type(error).__name__}: {error}{advice}"


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


def _inputs(name: str, given: Any) -> dict[Any, Any]:
    """The inputs that a file gives."""
    if _silent(given):
        return {}
    if not isinstance(given, Mapping):
        raise ModelError(
            f"`inputs` of {name} must be numbers, formulas or functions of t by input, such as {{tau: 2 * sin(t)}}; "
            f"got {given!r}."
        )
    return dict(given)


def _control(name: str, given: Any) -> Any:
    """The control of a file."""
    if _silent(given):
        return None
    if not callable(given) and not isinstance(given, Mapping):
        raise ModelError(
            f"`control` of {name} must be a function (t, state) -> inputs or formulas by input, such as "
            f"{{tau: -4 * angle}}; got {given!r}."
        )
    return given


def _laws(inputs: dict[Any, Any], control: Any) -> tuple[dict[Any, Any], Any]:
    """The same with formulas of a control among the inputs, where their letters are set and varied."""
    from appell.model.symbols import key

    if not isinstance(control, Mapping):
        return inputs, control
    if twice := [key(w) for w in control if key(w) in map(key, inputs)]:
        raise ModelError(f"The file gives {twice[0]} in `inputs` and in `control`; leave out one of them.")
    return {**inputs, **control}, None


def _silent(given: Any) -> bool:
    """Whether `inputs` or `control` says nothing of a run: a file may call letters so, or import what is so called."""
    from appell.model.symbols import Letter, inputs

    if isinstance(given, Iterable) and not isinstance(given, str | Mapping):
        return all(isinstance(letter, Letter) for letter in given)
    return given is None or given is inputs or isinstance(given, Letter | ModuleType)


def _choices(name: str, given: Any, model: Any) -> dict[str, dict[str, Any]]:
    """What a file offers to vary, by name and label."""
    from appell.code.state import names_of
    from appell.model.symbols import key
    from appell.model.values import unknown

    if not isinstance(given, Mapping) or not all(isinstance(things, Mapping) for things in given.values()):
        raise ModelError(
            f"`choices` of {name} must be things by name and label, such as "
            f"{{'tau': {{'none': 0.0, 'swing': sin(3 * t)}}}}; got {given!r}."
        )
    known = [*(s.label for s in (*model.inputs, *model.parameters)), *names_of(model), "control", "start"]
    if wrong := [key(label) for label in given if key(label) not in known]:
        raise ModelError(f"`choices` of {name}: {unknown(wrong[0], known, 'name that could be varied')}")
    return {key(label): {str(word): e for word, e in things.items()} for label, things in given.items()}
