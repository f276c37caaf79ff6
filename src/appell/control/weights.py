"""Weights of a quadratic cost: numbers by name or formula, lists, matrices, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from appell.analysis.linearize import Linearization
from appell.errors import ControlError, ModelError
from appell.model.symbols import Letter, key
from appell.model.values import number, unknown


def weight_matrix(given: Any, names: Sequence[str], what: str, definite: bool) -> np.ndarray:
    """A symmetric matrix of weights.

    Args:
        given: A number for all, numbers by name (zero for the others), a list of diagonal entries, or a matrix.
        names: What has a weight, in order.
        what: What the weights are called in messages.
        definite: Whether it must be positive definite, not only semidefinite.
    """
    if isinstance(given, Mapping):
        diagonal = np.zeros(len(names))
        for name, value in given.items():
            if key(name) not in names:
                raise ModelError(unknown(key(name), names, f"entry that {what} could give a weight"))
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
        raise ControlError(f"{what} has shape {matrix.shape}, but there are {len(names)} entries: {', '.join(names)}.")
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


def cost_matrix(given: Any, lin: Linearization) -> np.ndarray:
    r"""Weights of the states; by name or formula also of whatever follows from them, $\sum_k w_k\,c_k c_k'$.

    Args:
        given: What `weight_matrix` takes; keys may also be dependent coordinates, rates, and formulas such as the
            height of a tool, of which $c_k$ is the gradient by the states.
        lin: The linearisation.
    """
    if not isinstance(given, Mapping):
        return weight_matrix(given, lin.states, "Q", False)
    own = {name for name in given if isinstance(name, str | Letter) and key(name) in lin.states}
    W = weight_matrix({name: given[name] for name in own}, lin.states, "Q", False)
    others = [name for name in given if name not in own]
    if not others:
        return W
    C = lin.output_matrix(others)
    for name, row in zip(others, C, strict=True):
        weight = number(f"Q[{name}]", given[name])
        if weight < 0 or not np.any(row):
            why = "does not change with the states" if weight >= 0 else f"has the weight {weight:g}, which is negative"
            raise ControlError(f"{name} {why}; Q has weights for {', '.join(lin.states)} and formulas of them.")
        W = W + weight * np.outer(row, row)
    return W
