"""Weights of a quadratic cost: numbers by name, lists, matrices, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from appell.errors import ControlError, ModelError
from appell.model.symbols import key
from appell.model.values import number, unknown


def weight_matrix(given: Any, names: Sequence[str], what: str, definite: bool) -> np.ndarray:
    """A symmetric matrix of weights.

    Args:
        given: A number for all, numbers by name (zero for the others), a list of diagonal entries, or a matrix.
        names: What is weighed, in order.
        what: What the weights are called in messages.
        definite: Whether it must be positive definite, not only semidefinite.
    """
    if isinstance(given, Mapping):
        diagonal = np.zeros(len(names))
        for name, value in given.items():
            if key(name) not in names:
                raise ModelError(unknown(key(name), names, f"entry that {what} could weigh"))
            diagonal[list(names).index(key(name))] = number(f"{what}[{key(name)}]", value)
        matrix = np.diag(diagonal)
    else:
        try:
            if given is None:
                raise TypeError  # which NumPy would take for a number that is none
            array = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            raise ControlError(
                f"{what} must be a number, numbers by name, a list or a matrix; got {given!r}."
            ) from None
        if not np.all(np.isfinite(array)):
            raise ControlError(f"{what} has entries that are not finite.")
        if array.ndim == 0:
            matrix = float(array) * np.eye(len(names))
        else:
            matrix = np.diag(array) if array.ndim == 1 else array
    if matrix.shape != (len(names), len(names)):
        raise ControlError(
            f"{what} has shape {matrix.shape}, but there are {len(names)} entries to weigh: {', '.join(names)}."
        )
    size = float(np.max(np.abs(matrix), initial=0.0))
    if np.max(np.abs(matrix - matrix.T), initial=0.0) > 1e-12 * size:
        raise ControlError(f"{what} is not symmetric; give (M + M.T)/2.")
    values, vectors = np.linalg.eigh(matrix)
    if values.size and (values[0] < -1e-12 * size or (definite and values[0] <= 1e-14 * size)):
        name = names[int(np.argmax(np.abs(vectors[:, 0])))]
        raise ControlError(
            f"{what} must be positive {'definite' if definite else 'semidefinite'}: its smallest eigenvalue is "
            f"{values[0]:.3g}, along {name}."
        )
    return (matrix + matrix.T) / 2
