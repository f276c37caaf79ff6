"""What `appell sweep --over` varies: numbers, distributions, and labels of what a file offers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from appell.cli.settings import number
from appell.errors import ModelError

EXAMPLE = "--over m=0.5:1.5:11, --over m=1,2,5, --over lean=uniform(0,0.2), --over m=normal(1,0.1)"
FORMULAS = (
    "Programmes, controllers and whole starts are given in a FILE.py: choices = {'tau': {'swing': sin(3 * t)}, "
    "'control': {'mine': function}}, and varied by their labels: --over tau=swing."
)


def read_over(over: list[str], choices: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Numbers, distributions or choices by name.

    Args:
        over: NAME=VALUES, or a NAME of the choices for all of them.
        choices: What the file of the model offers, by name and label.
    """
    varied = dict(_varied(item, choices) for item in over)
    if len(varied) < len(over):
        raise ModelError(f"The same name occurs twice in --over: {', '.join(over)}.")
    return varied


def _varied(item: str, choices: Mapping[str, Mapping[str, Any]]) -> tuple[str, Any]:
    """A name and what it is varied over."""
    from appell.model.symbols import key

    name, separator, text = item.partition("=")
    label, text = key(name.strip()), text.strip()
    if label in choices and not separator:
        return label, choices[label]
    offered = choices.get(label, {})
    words = [word.strip() for word in text.split(",")]
    strange = [word for word in words if word not in offered]
    if offered and not strange:
        return label, {word: offered[word] for word in words}
    example = f"--over takes NAME=VALUES: {EXAMPLE}; got {item!r}"
    if not separator or not label or not text:
        raise ModelError(f"{example}.")
    try:
        return label, _values(text)
    except ModelError:
        raise
    except ValueError as reason:
        if offered:
            mixed = any(number(word) is not None for word in strange)
            raise ModelError(
                f"The file offers for {label}: {', '.join(offered)}; got {', '.join(map(repr, strange))} in {item!r}."
                + " Labels and numbers are not varied together." * mixed
            ) from None
        lettered = re.search("[A-Za-z]", text) is not None  # perhaps a programme
        raise ModelError(f"{example}: {reason}.{f' {FORMULAS}' * lettered}") from None


def _values(text: str) -> Any:
    """Numbers, first:last:count, or a distribution; a ValueError says what cannot be read."""
    called = re.fullmatch(r"(\w+)\((.*)\)", text)
    if called and number(text) is None:
        from appell.ensemble.design import LogUniform, Normal, Uniform

        kinds = {"uniform": Uniform, "normal": Normal, "loguniform": LogUniform}
        kind, numbers = kinds.get(called[1].lower()), [_number(e) for e in called[2].split(",")]
        if kind is None or len(numbers) != 2:
            raise ValueError(f"there are {', '.join(kinds)}, each of two numbers")
        return kind(*numbers)
    if ":" not in text:
        return [_number(e) for e in text.split(",")]
    import numpy as np

    from appell.ensemble.design import check_size

    numbers = [_number(e) for e in text.split(":")]
    if len(numbers) != 3 or numbers[2] < 0 or not numbers[2].is_integer():
        raise ValueError("the count of first:last:count is a whole number")
    first, last, count = numbers
    check_size(int(count))
    return np.linspace(first, last, int(count))


def _number(text: str) -> float:
    found = number(text)
    if found is None:
        raise ValueError(f"{text.strip()!r} is not a number")
    return found
