"""Numbers and formulas given with `--set` and its like."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

from appell.cli.case import Case
from appell.errors import ModelError


@dataclass(frozen=True)
class Settings:
    """What `--set` gave.

    Attributes:
        values: Numbers of parameters and inputs.
        start: Numbers of the starting state.
        laws: Formulas of inputs.
    """

    values: dict[str, float] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)
    laws: dict[Any, Any] = field(default_factory=dict)

    @property
    def names(self) -> set[str]:
        """All that is set."""
        return {*self.values, *self.start, *(w.label for w in self.laws)}

    def system(self, case: Case) -> Any:
        """The system of a case with these numbers and formulas."""
        from appell.code.system import compile
        from appell.formulation.derive import derive

        return compile(derive(case.model, case.formulation).close(self.laws)).bind(self.values)


def read_settings(case: Case, given: list[str] | None, laws: bool = False) -> Settings:
    """Numbers for parameters and inputs, and for the starting state.

    Args:
        case: What the command is about.
        given: NAME=NUMBER, several apart by commas.
        laws: Whether inputs may be formulas, and letters in the inputs of the file numbers.
    """
    from appell.code.state import names_of
    from appell.model.symbols import key
    from appell.model.values import unknown

    values = {s.label for s in (*case.model.parameters, *case.model.inputs, *(case.gains if laws else ()))}
    inputs = {s.label: s for s in case.model.inputs} if laws else {}
    speeds = [s.label for s in getattr(case.formulation, "speeds", None) or ()]
    states = (*names_of(case.model), *speeds)
    found = Settings()
    for item in _parts(given):
        name, separator, text = item.partition("=")
        label = key(name.strip())
        if label in inputs and (law := _law(case, label, text)) is not None:
            found.laws[inputs[label]] = law
            continue
        value = number(text) if separator else None
        if value is None:
            raise ModelError(
                "--set takes NAME=NUMBER, such as --set m=1.5 or --set lean=pi/6 (angles in radians); got "
                f"{item!r}{_within(item, given)}."
            )
        if label in values:
            found.values[label] = value
        elif label in states:
            found.start[label] = value
        else:
            raise ModelError(
                unknown(label, sorted((*values, *states)), f"parameter, input or state of {case.model.name!r}")
            )
    return found


def set_case(case: Case, given: list[str] | None, varied: Collection[str] = ()) -> tuple[Case, Settings]:
    """A case as it is to be run: numbers for the gains in the inputs of its file, and inputs replaced by those given.

    Args:
        case: What the command is about.
        given: NAME=NUMBER or INPUT=FORMULA, several apart by commas.
        varied: Names that a sweep varies.
    """
    from appell.model.symbols import key

    settings = read_settings(case, given, laws=True)
    twice = sorted(settings.names & set(varied))
    if twice:
        raise ModelError(f"{', '.join(twice)}: given by --set and by --over; leave out one of them.")
    taken = settings.names | set(varied)
    gains = {s: settings.values[s.label] for s in case.gains if s.label in settings.values}
    inputs = {
        name: law.subs(gains) if hasattr(law, "subs") else law
        for name, law in case.inputs.items()
        if key(name) not in taken
    }
    own = {w.label: settings.values[w.label] for w in case.model.inputs if w.label in settings.values}
    case = replace(case, inputs={**inputs, **own})  # there a control is refused that gives them as well
    missing = [s.label for s in case.gains if s.label not in taken]
    if missing:
        words = ", ".join(f"{label}=NUMBER" for label in missing)
        raise ModelError(f"The inputs of the file contain letters without a number; give --set {words}.")
    labels = {s.label for s in gains}
    return case, replace(settings, values={name: v for name, v in settings.values.items() if name not in labels})


def _parts(given: list[str] | None) -> list[str]:
    """Settings apart by commas; those within a formula, min(a, b), part none."""
    return [part for entry in given or () for part in re.split(r",(?=[\w.'\s]*=|[^()]*$)", entry)]


def _within(part: str, given: list[str] | None) -> str:
    """Where a part stands that was parted from others by a comma, as that of 0,5 for 0.5 is."""
    entry = next((entry for entry in given or () if part in entry and part != entry), None)
    return "" if entry is None else f" in {entry!r} (decimals have a point)"


def number(text: str) -> float | None:
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

    if number(text) is not None:
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


def read_names(given: list[str] | None) -> list[str]:
    """Names, several apart by commas."""
    from appell.model.symbols import key

    return [key(part.strip()) for item in given or () for part in item.split(",") if part.strip()]


def read_numbers(given: list[str] | None, option: str) -> dict[str, float]:
    """Numbers by name: NAME=NUMBER, several apart by commas."""
    from appell.model.symbols import key

    found: dict[str, float] = {}
    for part in (part for item in given or () for part in item.split(",")):
        name, separator, text = part.partition("=")
        value = number(text) if separator else None
        if value is None:
            raise ModelError(
                f"{option} takes NAME=NUMBER, for example {option} x=0.5; got {part!r}{_within(part, given)}."
            )
        found[key(name.strip())] = value
    return found


def read_limits(given: list[str] | None) -> Any:
    """Limits of inputs: NUMBER for all, one for each in order, or by name INPUT=NUMBER and INPUT=LOW,HIGH."""
    from appell.model.symbols import key

    if not given:
        return None
    found: list[tuple[str, Any]] = []
    for part in (part for item in given for part in re.split(r",(?=[\w.'\s]*=)", item)):
        name, _, text = part.rpartition("=")
        numbers = [number(e) for e in text.split(",")]
        if None in numbers or len(numbers) > (2 if name else 1):
            raise ModelError(f"--limit takes NUMBER, INPUT=NUMBER or INPUT=LOW,HIGH; got {part!r}.")
        found.append((name.strip(), numbers[0] if len(numbers) == 1 else tuple(numbers)))
    if all(name for name, _ in found):
        return {key(name): limit for name, limit in found}
    if any(name for name, _ in found):
        raise ModelError(f"--limit takes numbers for all inputs, or limits by name, not both; got {' '.join(given)!r}.")
    return found[0][1] if len(found) == 1 else [limit for _, limit in found]
