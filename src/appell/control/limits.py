"""Limits of inputs: a number for all, numbers or pairs by name, or one for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from appell.errors import ControlError, ModelError
from appell.model.symbols import key
from appell.model.values import unknown


def input_limits(limits: Any, labels: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Lowest and highest values, by input.

    Args:
        limits: The largest absolute value of all inputs; or for some inputs, by name or symbol, such a number or a pair
            (lowest, highest); or a list with one of these for each; or None.
        labels: Names of the inputs, in order.

    Example:
        >>> input_limits({"f": (0, 3)}, ["f", "g"])
        {'f': (0.0, 3.0)}
        >>> input_limits(2, ["f", "g"])
        {'f': (-2.0, 2.0), 'g': (-2.0, 2.0)}
    """
    if limits is None:
        return {}
    if isinstance(limits, Mapping):
        given = {key(name): limit for name, limit in limits.items()}
        for label in given:
            if label not in labels:
                raise ModelError(unknown(label, labels, "input that could be limited"))
    elif isinstance(limits, Sequence | np.ndarray) and not isinstance(limits, str) and getattr(limits, "ndim", 1):
        if len(limits) != len(labels):
            raise ControlError(
                f"limits must be a number for all inputs, numbers or pairs (lowest, highest) by name, or a list with "
                f"one for each of {', '.join(labels)}; got {limits!r}."
            )
        given = dict(zip(labels, limits, strict=True))
    else:
        given = dict.fromkeys(labels, limits)
    return {label: _range(label, limit) for label, limit in given.items()}


def bounds(limits: Any, labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest values of all inputs, infinite where there is no limit.

    Args:
        limits: As for `input_limits`.
        labels: Names of the inputs, in order.
    """
    found = input_limits(limits, labels)
    low, high = np.array([found.get(label, (-np.inf, np.inf)) for label in labels]).T
    return low, high


def _range(label: str, limit: Any) -> tuple[float, float]:
    """Lowest and highest value."""
    try:
        low, high = (-float(limit), float(limit)) if np.ndim(limit) == 0 else map(float, limit)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if low < high:
        return low, high
    raise ControlError(f"The limit of {label} must be a positive number, or a pair (lowest, highest); got {limit!r}.")
