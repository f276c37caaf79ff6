"""Observers: all states from what is measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import sympy as sp

from appell.analysis.linearize import Linearization, ordered
from appell.analysis.roots import in_words
from appell.analysis.sampling import differences, held, held_cost
from appell.control.aliasing import check_sampling
from appell.control.controllability import Reach, observability
from appell.control.designable import complement, in_units, on_axis, within
from appell.control.modes import comparable
from appell.control.placement import placed_gain
from appell.control.riccati import discrete_riccati, riccati
from appell.control.weights import weight_matrix
from appell.errors import ControlError
from appell.model.symbols import listed
from appell.model.values import check_kind, formula_of
from appell.motion.clock import check_rate


@dataclass(frozen=True, eq=False)
class Observer:
    r"""$\dot{\hat\eta} = A\hat\eta + B\,\delta u + L(y - C\hat\eta)$.

    Sampled, $\hat\eta_{k+1} = \Phi\hat\eta_k + \Gamma\,\delta u_k + L(y_k - C\hat\eta_k)$: what is measured at a
    sample counts from the next one on, which leaves the time between them to compute.

    Attributes:
        lin: What it observes.
        measured: The measured quantities as formulas.
        C: Their matrix.
        L: Gains, a column for each measured quantity.
        rate: Samples per second; None if it observes continuously.
    """

    lin: Linearization
    measured: tuple[sp.Expr, ...]
    C: np.ndarray
    L: np.ndarray
    rate: float | None = None

    @property
    def roots(self) -> np.ndarray:
        """Roots of A - L C, or from sample to sample: how fast the error decays."""
        A = self.lin.A if self.rate is None else held(self.lin.A, self.lin.B, self.rate)[0]
        return ordered(np.linalg.eigvals(A - self.L @ self.C))

    def __repr__(self) -> str:
        measured = ", ".join(map(str, self.measured))
        sampled = "" if self.rate is None else f", sampled {self.rate:g} times a second"
        return f"observer of {', '.join(self.lin.states)} from {measured}{sampled}; roots {in_words(self.roots)}"


def luenberger(
    lin: Linearization, measured: Iterable[Any], roots: Iterable[complex], *, rate: float | None = None
) -> Observer:
    """The observer whose error has wanted roots.

    Args:
        lin: The linearisation.
        measured: What is measured: letters, names, or formulas.
        roots: As many roots as states, complex ones in pairs; with a rate those from sample to sample, as of `place`.
        rate: Samples per second; the observer is continuous if left out.

    Returns:
        The observer.

    Reference: Luenberger 1964.
    """
    formulas, C = _measured(lin, measured)
    reach = observability(lin, formulas)
    A = _seen(lin, C, reach, formulas, rate, every=True)
    L = placed_gain(A.T, C.T, roots, lin.states, reach, rate).T / (rate or 1.0)
    return Observer(lin, formulas, C, L, rate)


def _seen(
    lin: Linearization, C: np.ndarray, reach: Reach, formulas: tuple[sp.Expr, ...], rate: float | None, every: bool
) -> np.ndarray:
    """A, with a rate that of differences, of which as much is seen: every mode, or all that must be."""
    if rate is None:
        return lin.A
    check_rate(rate)
    A = differences(lin.A, lin.B, rate)[0]
    check_sampling(reach, A.T, C.T, rate, ", ".join(map(str, formulas)), every)
    return A


def kalman(
    lin: Linearization, measured: Iterable[Any], process: Any = 1.0, noise: Any = 1.0, *, rate: float | None = None
) -> Observer:
    r"""The observer with the smallest variance, $L = \Sigma C'R^{-1}$.

    $A\Sigma + \Sigma A' - \Sigma C'R^{-1}C\Sigma + Q = 0$.

    Constants that are not measured and that no input changes (the spin of a ball about the normal of its plate) are
    left out.

    Args:
        lin: The linearisation.
        measured: What is measured: letters, names, or formulas.
        process: Q, intensity of the disturbances of the states: a number, numbers by name, a diagonal, or a matrix.
        noise: R, intensity of the noise of the measurements, positive definite: a number, a diagonal, or a matrix.
        rate: Samples per second, of which each has the variance R times the rate; continuous if left out.

    Returns:
        The observer.

    Reference: Kalman and Bucy 1961.
    """
    formulas, C = _measured(lin, measured)
    Q = weight_matrix(process, lin.states, "process", False)
    R = weight_matrix(noise, tuple(map(str, formulas)), "noise", True)
    reach = observability(lin, formulas)
    _seen(lin, C, reach, formulas, rate, every=False)
    hidden = [mode for mode in reach.missed if mode.root.real >= 0]
    idle = unseen(lin, C)
    if sum(mode.missed for mode in hidden) != idle.shape[1]:
        raise ControlError(
            f"{', '.join(map(str, formulas))} {'do' if len(formulas) > 1 else 'does'} not show "
            + "; ".join(f"{mode} ({mode.combination})" for mode in hidden)
            + ". Measure something that contains it; smallest_sensors finds what is enough."
        )
    units = lin.units
    Y = complement(idle / units[:, None])
    A, C_shown, moved = within(in_units(lin)[0], Y), C * units @ Y, Y.T @ (Q / units / units[:, None]) @ Y
    still = on_axis(A, moved, lin.states, Y / units[:, None])
    if still:
        raise ControlError(
            f"There is no steady filter: `process` does not disturb {still}, which the filter would in time stop "
            "correcting. Give `process` a weight on every state."
        )
    try:
        gain = _filter_gain(A, C_shown, moved, R, rate)
    except np.linalg.LinAlgError:
        raise ControlError(
            f"No filter can be computed: {', '.join(map(str, formulas))} hardly shows a mode (margin "
            f"{reach.margin:.2g}); measure something that contains it."
        ) from None
    return Observer(lin, formulas, C, units[:, None] * (Y @ gain), rate)


def _filter_gain(A: np.ndarray, C: np.ndarray, Q: np.ndarray, R: np.ndarray, rate: float | None) -> np.ndarray:
    r"""$\Sigma C'R^{-1}$; sampled $\Phi\Sigma C'(C\Sigma C' + R\,\mathrm{rate})^{-1}$."""
    if rate is None:
        return np.linalg.solve(R, C @ riccati(A.T, C.T, Q, R)).T
    nothing = np.zeros_like(A[:, :0])
    grown = held_cost(A.T, nothing, Q, np.zeros((0, 0)), rate)[0]
    step, noise = held(A, nothing, rate)[0], R * rate
    S = discrete_riccati(step.T, C.T, grown, noise)
    return np.linalg.solve(noise + C @ S @ C.T, C @ S @ step.T).T


def unseen(lin: Linearization, C: np.ndarray) -> np.ndarray:
    """Directions that are not shown, stay, and are moved by no input: the spin of a ball at rest.

    Args:
        lin: The linearisation.
        C: Matrix of what is measured.
    """
    A, B, scale, _ = comparable(lin.A, lin.B)
    seen = C * scale
    seen = seen / np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-300)
    hidden = scipy.linalg.null_space(np.vstack([A, seen]), rcond=1e-9)
    kept = scipy.linalg.null_space(np.hstack([A, B]).T, rcond=1e-9)
    own = np.linalg.matrix_rank(kept.T @ hidden, tol=1e-9) == hidden.shape[1] if hidden.size and kept.size else False
    return scale[:, None] * (hidden if own else hidden[:, :0])


def _measured(lin: Linearization, measured: Iterable[Any]) -> tuple[tuple[sp.Expr, ...], np.ndarray]:
    check_kind(lin, Linearization, "a linearisation, appell.linearize(...)")
    given = listed(measured)
    if not given:
        raise ControlError("Nothing is measured; give at least one quantity.")
    formulas = tuple(lin.tangent.letter(e) if isinstance(e, str) else formula_of(e, "What is measured") for e in given)
    return formulas, lin.output_matrix(formulas)
