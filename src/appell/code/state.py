"""A state: positions, velocities and extra states at a time, independent of any choice of speeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from appell.errors import ModelError
from appell.model.model import Model
from appell.model.symbols import key, quoted
from appell.model.values import floats, unknown
from appell.once import once


class AtState(Protocol):
    """What has a state, as an equilibrium."""

    @property
    def state(self) -> State:
        """That state."""
        ...


@dataclass(frozen=True, eq=False)
class State:
    """q, q', z and t with their names.

    `state[x]`, `state["x.rate"]` and `state + [..]` work; NumPy sees the array (q, q', z).

    Attributes:
        model: The model it belongs to.
        array: q, q', z one after the other.
        t: Time.
        changes: What finding it on the constraints changed: name -> (given or guessed, found).
    """

    model: Model
    array: np.ndarray
    t: float = 0.0
    changes: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the entries, in order."""
        return names_of(self.model)

    @property
    def q(self) -> np.ndarray:
        """Positions."""
        return self.array[: len(self.model.coordinates)]

    @property
    def v(self) -> np.ndarray:
        """Velocities."""
        n = len(self.model.coordinates)
        return self.array[n : 2 * n]

    @property
    def z(self) -> np.ndarray:
        """Extra states."""
        return self.array[2 * len(self.model.coordinates) :]

    def __getitem__(self, name: Any) -> float:
        label = key(name)
        if label not in self.names:
            raise ModelError(unknown(label, self.names, "entry of the state"))
        return float(self.array[self.names.index(label)])

    def __iter__(self) -> Iterator[float]:
        return iter(self.array.tolist())

    def __len__(self) -> int:
        return self.array.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.array, dtype=dtype)

    def __add__(self, other: Any) -> State:
        shift = floats(other, "What is added to a state")
        if shift.shape != self.array.shape:
            raise ModelError(
                f"The state has {self.array.size} entries ({', '.join(self.names)}), got {shift.size} to add."
            )
        return replace(self, array=self.array + shift, changes={})

    def to_dict(self) -> dict[str, float]:
        """Name -> value."""
        return dict(zip(self.names, self.array.tolist(), strict=True))

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value:.6g}" for name, value in self.to_dict().items())
        moved = "".join(f"\n  {n}: {a:.6g} -> {b:.9g}" for n, (a, b) in self.changes.items())
        return f"State(t={self.t:.6g}, {words})" + (f"\nchanged to lie on the constraints:{moved}" if moved else "")


def check_state(given: Any, model: Model) -> None:
    """Refuse what is no state, or one of a model with other entries."""
    if not isinstance(given, State):
        raise ModelError(f"A State is needed here, such as system.state({{...}}); got {quoted(given)}.")
    if given.model is not model and given.names != names_of(model):
        raise ModelError(
            f"This is a state of {given.model.name!r} ({', '.join(given.names)}); one of {model.name!r} is needed "
            f"({', '.join(names_of(model))})."
        )


@once
def names_of(model: Model) -> tuple[str, ...]:
    """The names of a state's entries: coordinates, their rates, extra states."""
    q = model.coordinates
    return (*(s.label for s in q), *(s.rate.label for s in q), *(s.label for s in model.states))
