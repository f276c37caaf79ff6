"""Controllability and observability by the test of Popov, Belevitch and Hautus, mode by mode, with margins."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from appell.analysis.balance import balanced
from appell.analysis.linearize import Linearization
from appell.errors import ControlError, ModelError
from appell.model.symbols import key, listed
from appell.model.values import unknown

TINY = 1e-9  # of the norm, at which a singular value counts as zero


@dataclass(frozen=True, eq=False)
class Mode:
    """One distinct root and how well it is reached.

    Attributes:
        root: The root.
        multiplicity: How often it occurs.
        margin: Smallest singular value of [root I - A, B]: the distance to a pair in which it is not reached.
        missed: How many independent combinations of the states at this root are not reached.
        combination: The worst reached combination of the states, in words.
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
    """

    modes: tuple[Mode, ...]
    rank: int
    size: int
    margin: float
    word: str

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
    return reached(A, B, names, "controllable")


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
        A = np.atleast_2d(np.asarray(system, dtype=float))
        names = tuple(f"x{i + 1}" for i in range(A.shape[0]))
        C = np.atleast_2d(np.asarray(C, dtype=float))
    return reached(A.T, C.T, names, "observable")


def _pair(system: Any, B: Any, inputs: Iterable[Any] | None) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    if isinstance(system, Linearization):
        if inputs is None:
            return system.A, system.B, system.states
        chosen = [key(w) for w in listed(inputs)]
        for w in chosen:
            if w not in system.inputs:
                raise ModelError(unknown(w, system.inputs, "input of this linearisation"))
        return system.A, system.B[:, [system.inputs.index(w) for w in chosen]], system.states
    A = np.atleast_2d(np.asarray(system, dtype=float))
    if B is None or A.shape[0] != A.shape[1]:
        raise ControlError(f"Give a linearisation, or a square matrix A and B; got A of shape {A.shape}.")
    B = np.asarray(B, dtype=float)
    B = B.reshape(A.shape[0], -1) if B.ndim < 2 else B
    if B.shape[0] != A.shape[0]:
        raise ControlError(f"A has {A.shape[0]} rows, B has {B.shape[0]}.")
    return A, B, tuple(f"x{i + 1}" for i in range(A.shape[0]))


def clusters(A: np.ndarray) -> list[tuple[complex, int]]:
    """Distinct roots with their multiplicities; rounding splits a multiple root, so near ones are averaged."""
    roots = np.linalg.eigvals(balanced(A)[0]) if A.size else np.zeros(0)
    size = max(float(np.max(np.abs(roots), initial=0.0)), 1e-300)
    found: list[list[complex]] = []
    for root in sorted(roots, key=lambda e: (e.real, e.imag)):
        for group in found:
            if abs(root - np.mean(group)) <= 2e-6 * max(abs(root), 1e-3 * size):
                group.append(root)
                break
        else:
            found.append([root])
    return [(complex(np.mean(group)), len(group)) for group in found]


def comparable(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A balanced pair of norms one, so that units do not decide; the scales of the states and the size of A."""
    matrix, scale = balanced(A)
    size = float(np.linalg.norm(matrix)) or 1.0
    columns = B / scale[:, None]
    norms = np.linalg.norm(columns, axis=0)
    return matrix / size, columns / np.where(norms > 0, norms, 1.0), scale, size


def reached(A: np.ndarray, B: np.ndarray, names: Sequence[str], word: str) -> Reach:
    """Which modes of a pair are reached.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        names: Names of the states.
        word: What a pair is called of which all are.
    """
    n = A.shape[0]
    a, b, scale, size = comparable(A, B)
    modes, lost = [], 0
    for found, count in clusters(A):
        if found.imag < -1e-12 * size:
            continue
        root = complex(*(e if abs(e) > 1e-12 * size else 0.0 for e in (found.real, found.imag)))
        margin = float(np.linalg.svd(np.hstack([root * np.eye(n) - A, B]), compute_uv=False)[-1]) if n else np.inf
        u, values, _ = np.linalg.svd(np.hstack([root / size * np.eye(n) - a, b]))
        limit = TINY if count == 1 else 1e-7  # a multiple root is known to fewer digits
        missed = int(np.sum(values <= limit))
        lost += (2 if root.imag else 1) * _chains(root / size * np.eye(n) - a, b, u[:, n - missed :], count, limit)
        modes.append(Mode(root, count, margin, missed, _combination(u[:, -1] / scale, names)))
    return Reach(tuple(modes), n - lost, n, min((m.margin for m in modes), default=np.inf), word)


def _chains(a: np.ndarray, b: np.ndarray, missed: np.ndarray, count: int, limit: float) -> int:
    """Dimension of what is not reached at a root: combinations that are missed, and those that only lead to them.

    Args:
        a: root I - A.
        b: The inputs.
        missed: An orthonormal basis of the combinations w with w'a = 0, w'b = 0.
        count: How often the root occurs.
        limit: Singular values that count as zero.
    """
    while 0 < missed.shape[1] < count:
        rest = a - (a @ missed) @ missed.conj().T
        u, values, _ = np.linalg.svd(np.hstack([rest, b]))
        more = u[:, values <= limit]
        if more.shape[1] <= missed.shape[1]:
            break
        missed = more
    return min(missed.shape[1], count)


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


def smallest_actuators(lin: Linearization, *, stabilize: bool = False) -> tuple[tuple[str, ...], ...]:
    """All smallest subsets of the inputs that control the system, best margin first.

    Args:
        lin: The linearisation; its inputs are the candidates.
        stabilize: Whether it is enough to reach the modes that do not decay by themselves.

    Returns:
        Subsets of one size.
    """
    return _smallest(lin.inputs, lambda subset: controllability(lin, inputs=subset), stabilize, "inputs", "control")


def smallest_sensors(
    lin: Linearization, candidates: Iterable[Any], *, stabilize: bool = False
) -> tuple[tuple[Any, ...], ...]:
    """All smallest subsets of measured quantities that observe the system, best margin first.

    Args:
        lin: The linearisation.
        candidates: What could be measured: letters, names, formulas.
        stabilize: Whether it is enough to see the modes that do not decay by themselves.

    Returns:
        Subsets of one size.
    """
    return _smallest(
        tuple(listed(candidates)), lambda subset: observability(lin, subset), stabilize, "measurements", "observe"
    )


def _smallest(
    candidates: tuple[Any, ...], test: Any, stabilize: bool, what: str, verb: str
) -> tuple[tuple[Any, ...], ...]:
    for count in range(0 if stabilize else 1, len(candidates) + 1):
        found = []
        for subset in itertools.combinations(candidates, count):
            reach = test(subset)
            if reach.enough if stabilize else reach.complete:
                found.append((reach.margin, subset))
        if found:
            return tuple(subset for _, subset in sorted(found, key=lambda pair: -pair[0]))
    reach = test(candidates)
    missed = "; ".join(f"{mode}: {mode.combination}" for mode in reach.missed)
    raise ControlError(f"Not even all {len(candidates)} {what} {verb} the system; missed is {missed or 'everything'}.")
