"""What functions that are written for other programs are called, and what stands where in their arguments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from appell.code.source import Language
from appell.errors import CompileError

if TYPE_CHECKING:
    from appell.code.system import System


def check_identifier(path: Path, suffix: str, words: Collection[str] = ()) -> None:
    """Refuse a name that source (.c, .m, .py) or an FMU (.fmu) cannot have.

    Args:
        path: The file.
        suffix: The ending that it must have.
        words: What means something else in that language.
    """
    if path.suffix != suffix:
        raise CompileError(f"Give a path that ends in {suffix}, got {path}.")
    if not re.fullmatch(r"[A-Za-z_]\w*", path.stem, re.ASCII):
        raise CompileError(f"{path.stem!r} must be a C identifier, since functions are named after it.")
    if path.stem in words:
        raise CompileError(f"{path.name} would hide what {path.stem!r} means there; write my_{path.name}, for example.")


def title(system: System) -> str:
    """The model and how its equations were derived, in one line."""
    return " ".join(f"{system.equations.model.name} by {system.equations.formulation.name}".split())


def contents(system: System, names: tuple[str, str, str], place: str, first: int) -> list[str]:
    """Lines that list state, inputs and parameters, with units and the numbers that are bound.

    Args:
        system: The system.
        names: What the three are called.
        place: How the place of an entry is written, such as `"[{}]"`.
        first: The place of the first entry.
    """
    equations = system.equations
    groups = zip(names, (equations.states, equations.inputs, equations.model.parameters), strict=True)
    lines: list[str] = []
    for k, (name, listed) in enumerate(groups):
        lines += ["", f"{name}{'' if listed else ': none'}"]
        wide = max((len(str(s)) for s in listed), default=0)
        for i, s in enumerate(listed, first):
            value = system.values.get(getattr(s, "label", ""))
            known = "" if value is None or k == 0 else f" = {value:.10g}"
            lines.append(f"  {place.format(i)} {s!s:{wide}}{known} {s.unit}".rstrip())
    return lines


def parameters(system: System) -> list[float] | None:
    """The numbers of all parameters; none if one is missing."""
    labels = [s.label for s in system.equations.model.parameters]
    return [float(system.values[s]) for s in labels] if all(s in system.values for s in labels) else None


def letters(system: System, language: Language, taken: Iterable[str]) -> list[list[str]]:
    """Names of the time, of state, inputs and parameters in a language."""
    equations = system.equations
    listed = (equations.states, equations.inputs, equations.model.parameters)
    names = [["time"]]
    for letter, group in zip("xwp", listed, strict=True):
        names.append(language.names([str(s) for s in group], {*taken, *(n for known in names for n in known)}, letter))
    return names
