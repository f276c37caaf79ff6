"""Controllability and observability by the test of Popov, Belevitch and Hautus, mode by mode, with margins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from appell.analysis.drift import simplest
from appell.analysis.linearize import Linearization
from appell.analysis.roots import clusters
from appell.control.manoeuvres import by_manoeuvres
from appell.control.modes import comparable, unreached
from appell.errors import ControlError
from appell.model.values import chosen


@dataclass(frozen=True, eq=False)
class Mode:
    """One distinct root and how well it is reached.

    Attributes:
        root: The root.
        multiplicity: How often it occurs.
        margin: Smallest singular value of [root I - A, B]: the distance to a pair in which it is not reached.
        missed: How many independent combinations of the states at this root are not reached.
        combination: The combinations of the states that are not reached, or the one worst reached, in words.
    """

    root: complex
    multiplicity: int
    margin: float
    missed: int
    combination: str

    def __str__(self) -> str:
        value = f"{self.root.real:.9g}" + (f" ± {abs(self.root.imag):.9g}i" if abs(self.root.imag) > 0 else "")
        return f"root {value}" + (f" ({self.missed}-fold)" if self.missed > 1 else "")


@dataclass(frozen=True, eq=False)
class Reach:
    """Which modes are reached by inputs (controllability) or seen in outputs (observability).

    Attributes:
        modes: One for each distinct root with imaginary part not negative.
        rank: Dimension of what is reached.
        size: Dimension of the system.
        margin: The smallest margin of all modes.
        word: "controllable" or "observable".
        remark: What the first approximation does not show, if there is anything.
    """

    modes: tuple[Mode, ...]
    rank: int
    size: int
    margin: float
    word: str
    remark: str = ""

    @property
    def missed(self) -> tuple[Mode, ...]:
        """Modes that are not reached."""
        return tuple(mode for mode in self.modes if mode.missed)

    @property
    def complete(self) -> bool:
        """Whether every mode is reached."""
        return not self.missed

    @property
    def enough(self) -> bool:
        """Whether every mode that does not decay by itself is reached: stabilisable, detectable."""
        return all(mode.root.real < 0 for mode in self.missed)

    def __repr__(self) -> str:
        head = f"{self.word if self.complete else f'not {self.word}'}: rank {self.rank} of {self.size}"
        lines = [f"{head}, margin {self.margin:.4g}"]
        for mode in self.missed:
            kind = "decays by itself" if mode.root.real < 0 else "does not decay"
            lines.append(f"  missed: {mode}, which {kind}: {mode.combination}")
        lines += [f"  {self.remark}"] if self.remark else []
        return "\n".join(lines)


def controllability(system: Linearization | Any, B: Any = None, *, inputs: Iterable[Any] | None = None) -> Reach:
    r"""Which modes the inputs reach: $\operatorname{rank}[\lambda I - A,\ B] = n$ at every root, eq. (36).

    Args:
        system: A linearisation, or the matrix A.
        B: The matrix of inputs, with a matrix A.
        inputs: Which inputs of the linearisation; all if left out.

    Returns:
        Modes with margins; those not reached are named.

    Example:
        >>> reach = controllability([[0, 1], [-4, 0]], [[0], [1]])
        >>> reach.complete, reach.rank
        (True, 2)

    Reference: Hautus 1969; Krasinskiy 2025, eq. (36).
    """
    A, B, names = _pair(system, B, inputs)
    reach = reached(A, B, names, "controllable")
    if reach.complete or not isinstance(system, Linearization):
        return reach
    return replace(reach, remark=by_manoeuvres(replace(system, B=B)))


def observability(system: Linearization | Any, C: Any) -> Reach:
    r"""Which modes the outputs see: $\operatorname{rank}[\lambda I - A;\ C] = n$ at every root.

    Args:
        system: A linearisation, or the matrix A.
        C: Measured quantities (letters, names, formulas) of a linearisation, or the matrix C.

    Returns:
        Modes with margins; those not seen are named.
    """
    if isinstance(system, Linearization):
        A, names = system.A, system.states
        C = system.output_matrix(C)
    else:
        A, C = _square(system), np.atleast_2d(_finite(C, "C"))
        names = tuple(f"x{i + 1}" for i in range(A.shape[0]))
        if C.shape[1] != A.shape[0]:
            raise ControlError(f"A has {A.shape[0]} columns, C has {C.shape[1]}.")
    return reached(A.T, C.T, names, "observable")


def _pair(system: Any, B: Any, inputs: Iterable[Any] | None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    if isinstance(system, Linearization) and B is not None:
        raise ControlError("A linearisation has its own B; leave B out, and choose by inputs=[...].")
    if not isinstance(system, Linearization) and inputs is not None:
        raise ControlError("The inputs of matrices have no names; leave inputs= out, and give fewer columns of B.")
    if isinstance(system, Linearization):
        if inputs is None:
            return system.A, system.B, system.states
        columns = [system.inputs.index(w) for w in chosen(inputs, system.inputs, "input of this linearisation")]
        return system.A, system.B[:, columns], system.states
    A = _square(system)
    if B is None:
        raise ControlError("The matrix A needs a matrix B of inputs with as many rows, controllability(A, B).")
    B = _finite(B, "B")
    B = B.reshape(-1, 1) if B.ndim < 2 else B
    if B.ndim > 2:
        raise ControlError(f"B is a matrix, got an array of shape {B.shape}.")
    if B.shape[0] != A.shape[0]:
        raise ControlError(f"A has {A.shape[0]} rows, B has {B.shape[0]}.")
    return A, B, tuple(f"x{i + 1}" for i in range(A.shape[0]))


def _square(matrix: Any) -> np.ndarray:
    A = np.atleast_2d(_finite(matrix, "A"))
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ControlError(f"Give a linearisation, or a square matrix A; got A of shape {A.shape}.")
    return A


def _finite(matrix: Any, name: str) -> np.ndarray:
    """A matrix of finite numbers."""
    try:
        found = np.asarray(matrix, dtype=float)
    except (TypeError, ValueError):
        raise ControlError(f"Got {type(matrix).__name__} as {name}; give a linearisation, or matrices.") from None
    if not np.all(np.isfinite(found)):
        raise ControlError(f"{name} has entries that are not finite.")
    return found


def reached(A: np.ndarray, B: np.ndarray, names: Sequence[str], word: str, basis: np.ndarray | None = None) -> Reach:
    """Which modes of a pair are reached.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        names: Names of the states.
        word: What a pair is called of which all are.
        basis: Where A is of some combinations of the named states, these, one column each.
    """
    n = A.shape[0]
    a, b, scale, size = comparable(A, B)
    modes, lost = [], 0
    for root, count in clusters(A):
        if root.imag < 0:
            continue
        margin = float(np.linalg.svd(np.hstack([root * np.eye(n) - A, B]), compute_uv=False)[-1])
        missed, number = unreached(a, b, root / size, count)
        lost += (2 if root.imag else 1) * missed.shape[1]
        worst = missed if number else np.linalg.svd(np.hstack([root / size * np.eye(n) - a, b]))[0][:, -1:]
        shown, units = (worst[:, : max(1, number)] / scale[:, None]).T, 1 / scale
        if basis is not None:
            shown, units = shown @ basis.T, np.ones(len(names))
        if number > 1 and not root.imag:
            shown = simplest(shown.real, units)
        words = " and ".join(_combination(row, names) for row in shown)
        modes.append(Mode(root, count, margin, number, words))
    return Reach(tuple(modes), n - lost, n, min((m.margin for m in modes), default=np.inf), word)


def _combination(vector: np.ndarray, names: Sequence[str]) -> str:
    """The largest entries of a combination of states, in words."""
    largest = vector[int(np.argmax(np.abs(vector)))]
    if largest == 0:
        return "none"
    relative = vector / largest
    shown = [i for i in np.argsort(-np.abs(relative)) if abs(relative[i]) > 0.05][:4]
    parts = []
    for i in sorted(int(k) for k in shown):
        e = relative[i]
        if abs(e.imag) < 1e-6:
            value = f"{e.real:+.3g}"
        else:
            value = f"{e.imag:+.3g}i" if abs(e.real) < 1e-6 else f"+({e.real:.3g}{e.imag:+.3g}i)"
        parts.append(f"{value} {names[i]}")
    return " ".join(parts).removeprefix("+")
