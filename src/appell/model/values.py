"""Numbers by name and formulas, as a user gives them."""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.symbols import key, listed, quoted


def formula_of(value: Any, what: str) -> sp.Expr:
    """A formula in the model's symbols.

    Args:
        value: What was given.
        what: What it is for, the beginning of a message.
    """
    try:
        found = None if isinstance(value, str) else sp.sympify(value)
    except (sp.SympifyError, TypeError):
        found = None
    if not isinstance(found, sp.Expr):
        raise ModelError(f"{what} must be a number or a formula in the model's symbols, got {quoted(value)}.")
    if found.is_Atom and found.is_number and not found.is_finite:
        raise ModelError(f"{what} must be finite, got {quoted(value)}.")
    return found


def number(label: str, value: Any) -> float:
    """A finite number for a name."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found):
        raise ModelError(f"The value of {label!r} must be a finite number, got {quoted(value)}.")
    return found


def whole(what: str, value: Any, least: int = 1) -> int:
    """A whole number, not below a least one.

    Args:
        what: What it is, the beginning of a message.
        value: What was given.
        least: The least one.
    """
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ModelError(f"{what} must be a whole number, {least} or more; got {quoted(value)}.")
    if value > sys.maxsize:
        raise ModelError(f"{what} must be a whole number that a machine can count to; got {quoted(value)}.")
    return int(value)


def floats(given: Any, what: str) -> np.ndarray:
    """Numbers as an array of whatever shape they have, infinite ones and NaN as well.

    Args:
        given: One number or many.
        what: What they are, the beginning of a message.
    """
    try:
        found = np.asarray(given, dtype=float)
        strange = np.isnan(found).any() and None in np.asarray(given, dtype=object).ravel()  # NumPy has NaN for None
    except (TypeError, ValueError, OverflowError):
        strange = True
    if strange:
        raise ModelError(f"{what} must be numbers, got {quoted(given)}.")
    return found


def by_name(given: Mapping[Any, Any] | None, what: str, example: str) -> Mapping[Any, Any]:
    """Things by name, and none for None.

    Args:
        given: What was given.
        what: What they are, the beginning of a message.
        example: How they are written, its end.
    """
    if given is not None and not isinstance(given, Mapping):
        raise ModelError(f"{what} are given by name, {example}; got {quoted(given)}.")
    return given or {}


def check_kind(given: Any, kind: type | tuple[type, ...], words: str) -> None:
    """Refuse what is something else than what it must be.

    Args:
        given: What was given.
        kind: What it must be.
        words: What to give, the end of a message.
    """
    if not isinstance(given, kind):
        raise ModelError(f"Got {quoted(given)}; give {words}.")


def numbers(given: Mapping[Any, Any] | None, what: str = "Values") -> dict[str, float]:
    """Finite numbers by the labels of their names.

    Args:
        given: What was given.
        what: What they are, the beginning of a message.
    """
    return {key(name): number(key(name), value) for name, value in by_name(given, what, "{name: 1.0}").items()}


def chosen(given: Any, known: Sequence[str], what: str) -> tuple[str, ...]:
    """Labels of what was chosen among some things, by name or letter, each of them once.

    Args:
        given: One or several of them.
        known: Labels of all.
        what: What one of them is called in messages.
    """
    labels = tuple(key(e) for e in listed(given))
    for i, label in enumerate(labels):
        if label not in known:
            raise ModelError(unknown(label, known, what))
        if label in labels[:i]:
            raise ModelError(f"{label!r} is given twice among {', '.join(labels)}; once is enough.")
    return labels


def unknown(label: Any, known: Sequence[str], what: str) -> str:
    """A message for a name that does not exist, with the nearest that does."""
    near = difflib.get_close_matches(str(label), known, 1)
    hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known) or 'none'}."
    return f"{label!r} is not {'an' if what[0] in 'aeiou' else 'a'} {what}. {hint}"
