"""Python code that makes a motion again."""

from __future__ import annotations

from typing import Any

from appell.code.state import names_of
from appell.equations import Equations
from appell.kinematics.differentiated import Differentiated
from appell.model.model import Model
from appell.model.symbols import Rate
from appell.reporting.model_source import library_name, model_source
from appell.reporting.python import formula, word

BROAD = 84  # letters of a line of numbers


def run_source(motion: Any, given: str = "") -> str:
    """The model and the run.

    Args:
        motion: The motion.
        given: Code that makes `model`; found or written from the model itself if empty.
    """
    system = motion.system
    model, equations = system.model, system.equations
    # Equations of higher order are derived from a model whose inputs are not yet states.
    told = equations.mechanics.base.model if isinstance(equations.mechanics, Differentiated) else model
    name = None if given else library_name(told)
    if given:
        lines = [given.rstrip()]
    elif name:
        lines = ["import sympy as sp", "", "import appell as ap", "", f"model = ap.library.model({name!r})"]
    else:
        lines = [model_source(told)]
    lines += ["", *_letters(told)] if (given or name) and _needs_letters(equations) else []
    speeds = [word(s.name) for s in equations.formulation.speeds or () if not isinstance(s, Rate)]
    lines += [f"{name} = ap.speeds({name!r})" for name in speeds]  # a rate stands for itself
    lines += ["", f"equations = ap.derive(model{_formulation(equations)})"]
    if equations.closed:
        places = [word(w.name) if w in told.inputs else f"equations.inputs[{i}]" for i, w in enumerate(model.inputs)]
        inputs = dict(zip(model.inputs, places, strict=True))
        laws = ", ".join(f"{inputs[w]}: {formula(e)}" for w, e in equations.closed.items())
        lines.append(f"equations = equations.close({{{laws}}})")
    numbers = {k: v for k, v in system.values.items() if k in {s.label for s in (*model.parameters, *model.inputs)}}
    lines.append(f"system = ap.compile(equations).bind({_listed(numbers)})")
    start = motion.states(motion.times[:1])[0]
    state = {label: float(value) for label, value in zip(names_of(model), start, strict=True)}
    if asked := motion.info.get("law"):
        given = "control" if asked == "state" else "inputs"
        lines.append(f"# The inputs of this run came from a Python function; give it as {given}=...")
    if motion.occurrences:
        lines.append("# Events of this run: give them as events=[...] if they were yours")
    lines += [
        f"start = system.state({_listed(state)})",
        f"motion = ap.simulate(system, start, until={float(motion.times[-1])!r}, method={motion.info['method']!r})",
        "print(motion.check())",
    ]
    return "\n".join(lines)


def _listed(numbers: dict[str, float]) -> str:
    """A dictionary of numbers, in lines that can be read without scrolling."""
    lines = [""]
    for entry in (f"{name!r}: {value!r}, " for name, value in numbers.items()):
        if len(lines[-1]) + len(entry) > BROAD:
            lines.append("")
        lines[-1] += entry
    if len(lines) == 1 and len(lines[0]) <= BROAD // 2:
        return f"{{{lines[0].removesuffix(', ')}}}"
    return "{\n" + "".join(f"    {line.rstrip()}\n" for line in lines) + "}"


def _needs_letters(equations: Equations) -> bool:
    return bool(equations.closed) or bool(equations.formulation.speeds)


def _letters(model: Model) -> list[str]:
    def row(letters: Any, source: str) -> list[str]:
        words = [word(s.name) for s in letters]
        return [f"{', '.join(words)}{',' if len(words) == 1 else ''} = {source}"] if words else []

    return [
        *row(model.coordinates, "model.coordinates"), *row(tuple(model.states), "model.states"),
        *row(model.parameters, "model.parameters"), *row(model.inputs, "model.inputs"),
    ]  # fmt: skip


def _formulation(equations: Equations) -> str:
    """The formulation as it was made."""
    formulation, given = equations.formulation, []
    for name, value in formulation.given.items():
        if name == "speeds":
            pairs = (f"{formula(s) if isinstance(s, Rate) else word(s.name)}: {formula(e)}" for s, e in value.items())
            words = f"{{{', '.join(pairs)}}}"
        elif name == "dependent":
            words = repr([str(q) for q in value])
        elif name in ("literal", "stabilize") or isinstance(value, bool | int | float | str):
            words = repr(value)
        else:
            words = "..."  # a frame or formulas that only the user has
        given.append(f"{name}={words}")
    return f", ap.{type(formulation).__name__}({', '.join(given)})"
