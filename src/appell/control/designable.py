"""What a feedback can stabilise: what is left where first integrals are out of reach, and why it may be too little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.linalg

from appell.analysis.drift import direction_in_words, rigid
from appell.analysis.ignorable import ignorable
from appell.analysis.linearize import Linearization, linearize
from appell.analysis.roots import clusters
from appell.control.controllability import controllability, reached
from appell.errors import ControlError, EquilibriumError


def designable(lin: Linearization) -> tuple[np.ndarray, np.ndarray]:
    """Units of the states, and in them an orthonormal basis of what feedback can stabilise: all but momenta that stay.

    Natural units say what stays. Where nothing does they make no difference, and the search for them is spared.
    """
    reach = controllability(lin)
    stuck = [mode for mode in reach.missed if mode.root.real > -1e-12]
    n = len(lin.states)
    if not stuck:
        return np.ones(n), np.eye(n)
    if any(abs(mode.root) > 1e-7 * np.linalg.norm(lin.A) for mode in stuck):
        raise ControlError(
            f"{lin.model.name!r} cannot be stabilised by {', '.join(lin.inputs)}, which "
            f"{'do' if len(lin.inputs) > 1 else 'does'} not reach "
            + "; ".join(f"{mode} ({mode.combination})" for mode in stuck if abs(mode.root) > 0)
            + ". Add an input that acts on it."
        )
    A, B = in_units(lin)
    left, Z = _without_integrals(A, B)
    if left.shape[1] != sum(mode.missed for mode in stuck):
        raise ControlError(
            f"The zero root of {lin.model.name!r} is not reached by {', '.join(lin.inputs)} and belongs to no "
            "integral; add an input that acts on it."
        )
    if _unreached(A, B, Z):
        idle = list(_places_to_ignore(lin))
        hint = f", or leave the place out by linearize(..., ignore={idle!r})." if idle else _in_other_letters(lin)
        words = "; ".join(f"{mode} ({mode.combination})" for mode in stuck)
        raise ControlError(
            f"{lin.model.name!r} cannot be brought back by {', '.join(lin.inputs)}: {words} is not reached, and "
            f"neither is the place that it moves. Add an input that acts on it{hint}"
        )
    return lin.units, Z


def _in_other_letters(lin: Linearization) -> str:
    """How a place that is no coordinate could be left out, in words."""
    labels = [q.label for q in lin.model.coordinates]
    along = ", ".join(direction_in_words(k, labels) for k in rigid(lin))
    if not along:
        return "."
    return f", or take the place of one body and distances from it as coordinates: then {along} can be left out."


def _places_to_ignore(lin: Linearization) -> tuple[str, ...]:
    """What to leave out so that the rest can be brought back: as few coordinates as will do, else whole attitudes."""

    def stuck(ignored: Sequence[str]) -> bool:
        kept = [i for i, s in enumerate(lin.states) if s not in ignored]
        inner, pushed = A[np.ix_(kept, kept)], B[kept]
        return _unreached(inner, pushed, _without_integrals(inner, pushed)[1])

    A, B = in_units(lin)
    idle = list(ignorable(lin.tangent))
    if not idle or stuck(idle):
        return _with_attitudes(lin, idle)
    for name in tuple(idle):
        fewer = [e for e in idle if e != name]
        idle = idle if stuck(fewer) else fewer
    return (*lin.dropped, *idle)


def _with_attitudes(lin: Linearization, places: Sequence[str]) -> tuple[str, ...]:
    """Whole attitudes to leave out, and of some places as few as will do."""
    idle = list(lin.ignorable)
    for name in places:
        fewer = [e for e in idle if e != name]
        try:
            designable(linearize(lin.at, ignore=fewer, inputs=lin.inputs))
        except (ControlError, EquilibriumError):
            continue
        idle = fewer
    return tuple(idle)


def in_units(lin: Linearization) -> tuple[np.ndarray, np.ndarray]:
    """A and B with the states in natural units."""
    return lin.A / lin.units[:, None] * lin.units, lin.B / lin.units[:, None]


def _without_integrals(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integrals that no input changes, zero roots all, and the perturbations that do not change them either."""
    norms = np.linalg.norm(B, axis=0)
    pair = np.hstack([A / (np.linalg.norm(A) or 1.0), B / np.where(norms > 0, norms, 1.0)])
    left = scipy.linalg.null_space(pair.T, rcond=1e-9)
    return left, complement(left)


def _unreached(A: np.ndarray, B: np.ndarray, Z: np.ndarray) -> bool:
    """Whether a mode within a space is not reached and does not decay by itself."""
    names = tuple(f"x{i + 1}" for i in range(Z.shape[1]))
    return any(mode.root.real > -1e-12 for mode in reached(within(A, Z), Z.T @ B, names, "").missed)


def within(A: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Z'AZ for orthonormal columns Z, without traces of rounding, which balancing would blow up.

    Args:
        A: A square matrix.
        Z: A basis.
    """
    inner = Z.T @ A @ Z
    return np.where(np.abs(inner) > 1e-14 * (np.abs(Z).T @ np.abs(A) @ np.abs(Z)), inner, 0.0)


def complement(left: np.ndarray) -> np.ndarray:
    """An orthonormal basis of all that is at right angles to some columns, traces of rounding put to zero.

    Args:
        left: The columns; there may be none.
    """
    Z = scipy.linalg.null_space(left.T) if left.size else np.eye(left.shape[0])
    return np.where(np.abs(Z) > 1e-14, Z, 0.0)


def on_axis(A: np.ndarray, B: np.ndarray, names: tuple[str, ...], basis: np.ndarray | None = None) -> str:
    """Modes of a pair on the imaginary axis that are not reached, in words.

    Args:
        A: Matrix of the states.
        B: Matrix of the inputs.
        names: Names of the states.
        basis: Where A is of some combinations of the named states, these, one column each.
    """
    limit = 1e-9 * float(np.linalg.norm(A))
    if not any(abs(root.real) <= limit for root, _ in clusters(A)):
        return ""
    stuck = [mode for mode in reached(A, B, names, "", basis).missed if abs(mode.root.real) <= limit]
    shown = [replace(mode, root=complex(0, mode.root.imag * (abs(mode.root.imag) > limit))) for mode in stuck]
    return "; ".join(f"{mode} ({mode.combination})" for mode in shown)
