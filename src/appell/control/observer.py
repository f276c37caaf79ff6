"""Observers, and feedback that needs only what is measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import sympy as sp

from appell.analysis.linearize import Linearization, ordered
from appell.analysis.roots import in_words
from appell.code.system import System, compile
from appell.control.controllability import comparable, observability
from appell.control.feedback import Feedback, complement, on_axis, within
from appell.control.pid import Controller
from appell.control.placement import placed_gain
from appell.control.riccati import riccati
from appell.control.weights import weight_matrix
from appell.errors import ControlError
from appell.formulation.abstract import derive
from appell.model.symbols import ExtraState, listed, states


@dataclass(frozen=True, eq=False)
class Observer:
    r"""$\dot{\hat\eta} = A\hat\eta + B\,\delta u + L(y - C\hat\eta)$.

    Attributes:
        lin: What it observes.
        measured: The measured quantities as formulas.
        C: Their matrix.
        L: Gains, a column for each measured quantity.
    """

    lin: Linearization
    measured: tuple[sp.Expr, ...]
    C: np.ndarray
    L: np.ndarray

    @property
    def roots(self) -> np.ndarray:
        """Roots of A - L C: how fast the error decays."""
        return ordered(np.linalg.eigvals(self.lin.A - self.L @ self.C))

    def __repr__(self) -> str:
        measured = ", ".join(map(str, self.measured))
        return f"observer of {', '.join(self.lin.states)} from {measured}; roots {in_words(self.roots)}"


def luenberger(lin: Linearization, measured: Iterable[Any], roots: Iterable[complex]) -> Observer:
    """The observer whose error has wanted roots.

    Args:
        lin: The linearisation.
        measured: What is measured: letters, names, or formulas.
        roots: As many roots as states, complex ones in pairs.

    Returns:
        The observer.

    Reference: Luenberger 1964.
    """
    formulas, C = _measured(lin, measured)
    L = placed_gain(lin.A.T, C.T, roots, lin.states, "observable").T
    return Observer(lin, formulas, C, L)


def kalman(lin: Linearization, measured: Iterable[Any], process: Any = 1.0, noise: Any = 1.0) -> Observer:
    r"""The observer with the smallest variance, $L = \Sigma C'R^{-1}$.

    $A\Sigma + \Sigma A' - \Sigma C'R^{-1}C\Sigma + Q = 0$.

    What is not shown, stays, and is moved by no input (the spin of a ball about the normal of its plate) is left out.

    Args:
        lin: The linearisation.
        measured: What is measured: letters, names, or formulas.
        process: Q, intensity of the disturbances of the states: a number, numbers by name, a diagonal, or a matrix.
        noise: R, intensity of the noise of the measurements, positive definite: a number, a diagonal, or a matrix.

    Returns:
        The observer.

    Reference: Kalman and Bucy 1961.
    """
    formulas, C = _measured(lin, measured)
    Q = weight_matrix(process, lin.states, "process", False)
    R = weight_matrix(noise, tuple(map(str, formulas)), "noise", True)
    reach = observability(lin, formulas)
    hidden = [mode for mode in reach.missed if mode.root.real >= 0]
    idle = _hidden(lin, C)
    if sum(mode.missed for mode in hidden) != idle.shape[1]:
        raise ControlError(
            f"{', '.join(map(str, formulas))} {'do' if len(formulas) > 1 else 'does'} not show "
            + "; ".join(f"{mode} ({mode.combination})" for mode in hidden)
            + ". Measure something that contains it; smallest_sensors finds what is enough."
        )
    Y = complement(idle)
    A, C_shown = within(lin.A, Y), C @ Y
    still = on_axis(A, Y.T @ Q @ Y, () if idle.size else lin.states)
    if still:
        raise ControlError(
            f"There is no steady filter: `process` does not disturb {still}, of which the filter would become certain "
            "and follow no more. Give `process` a weight on every state."
        )
    try:
        S = riccati(A.T, C_shown.T, Y.T @ Q @ Y, R)
    except np.linalg.LinAlgError:
        raise ControlError(
            f"No filter can be computed: {', '.join(map(str, formulas))} hardly shows a mode (margin "
            f"{reach.margin:.2g}); measure something that contains it."
        ) from None
    return Observer(lin, formulas, C, Y @ np.linalg.solve(R, C_shown @ S).T)


def _hidden(lin: Linearization, C: np.ndarray) -> np.ndarray:
    """Directions that are not shown, stay, and are moved by no input: the spin of a ball at rest."""
    A, B, scale, _ = comparable(lin.A, lin.B)
    seen = C * scale
    seen = seen / np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-300)
    hidden = scipy.linalg.null_space(np.vstack([A, seen]), rcond=1e-9)
    kept = scipy.linalg.null_space(np.hstack([A, B]).T, rcond=1e-9)
    own = np.linalg.matrix_rank(kept.T @ hidden, tol=1e-9) == hidden.shape[1] if hidden.size and kept.size else False
    return scale[:, None] * (hidden if own else hidden[:, :0])


def _measured(lin: Linearization, measured: Iterable[Any]) -> tuple[tuple[sp.Expr, ...], np.ndarray]:
    given = listed(measured)
    if not given:
        raise ControlError("Nothing is measured; give at least one quantity.")
    formulas = tuple(lin.tangent.letter(e) if isinstance(e, str) else sp.sympify(e) for e in given)
    running = sorted({str(s) for e in formulas for s in e.free_symbols if getattr(s, "label", "") in lin.dropped})
    if running:
        raise ControlError(f"{', '.join(running)} is no state of this linearisation and cannot be measured for it.")
    return formulas, lin.output_matrix(formulas)


@dataclass(frozen=True, eq=False)
class OutputFeedback:
    r"""$u = u_0 - K\hat\eta$ with the state of an observer: few measurements, all states.

    Attributes:
        feedback: The state feedback.
        observer: The observer.
    """

    feedback: Feedback
    observer: Observer

    @property
    def A(self) -> np.ndarray:
        """The closed loop in (eta, estimate)."""
        lin, K, L = self.feedback.lin, self.feedback.K, self.observer.L
        BK, LC = lin.B @ K, L @ self.observer.C
        return np.block([[lin.A, -BK], [LC, lin.A - BK - LC]])

    @property
    def roots(self) -> np.ndarray:
        """Roots of the closed loop: those of the feedback and those of the observer."""
        return ordered(np.concatenate([self.feedback.roots, self.observer.roots]))

    @cached_property
    def controller(self) -> Controller:
        """Laws and the observer's states with their rates, as formulas."""
        lin = self.feedback.lin
        hats: list[ExtraState] = [states(f"hat_{s.replace('.', '_')}") for s in lin.states]
        laws = self._laws(hats)
        eta, u = sp.Matrix(hats), sp.Matrix([laws[w] - _number(lin.at.inputs[w.label]) for w in laws])
        measured = [(lin.tangent.in_rates(e), lin.tangent.evaluate(e)) for e in self.observer.measured]
        deviations = sp.Matrix([e - _number(value) for e, value in measured])
        matrices = (lin.A, lin.B, self.observer.C, self.observer.L)
        A, B, C, L = (sp.Matrix(*M.shape, [_number(e) for e in M.ravel()]) for M in matrices)
        rates = A * eta + B * u + L * (deviations - C * eta)
        return Controller(laws, dict(zip(hats, rates, strict=True)))

    def _laws(self, hats: list[ExtraState]) -> dict[Any, sp.Expr]:
        lin = self.feedback.lin
        inputs = {w.label: w for w in lin.model.inputs}
        laws: dict[Any, sp.Expr] = {}
        for label, row in zip(lin.inputs, self.feedback.K, strict=True):
            law = _number(lin.at.inputs[label]) - sum(
                (_number(k) * hat for k, hat in zip(row, hats, strict=True)), sp.Integer(0)
            )
            if label in self.feedback.limits:
                low, high = self.feedback.limits[label]
                law = sp.Max(low, sp.Min(high, law))
            laws[inputs[label]] = law
        return laws

    @cached_property
    def system(self) -> System:
        """The compiled closed loop, the observer's states among its own; they begin at zero."""
        lin = self.feedback.lin
        equations = lin.at.system.equations
        model = self.controller.on(lin.model)
        held = {
            w: v for w, v in lin.at.system.values.items() if w in {s.label for s in (*model.parameters, *model.inputs)}
        }
        derived = derive(model, equations.formulation).close({**equations.closed, **self.controller.laws})
        return compile(derived).bind(held)

    def start(self, deviations: Any = None) -> Any:
        """A state near the equilibrium as of `Feedback.start`, the observer knowing nothing of the deviation.

        Args:
            deviations: By name, how far from the equilibrium.
        """
        near = self.feedback.start(deviations).to_dict()
        return self.system.state({**near, **{z.label: 0.0 for z in self.controller.states}})


def output_feedback(feedback: Feedback, observer: Observer) -> OutputFeedback:
    """Feedback from measurements: the gains of a state feedback on the estimate of an observer.

    Args:
        feedback: The state feedback.
        observer: The observer, of the same linearisation.

    Returns:
        The output feedback; its `system` is the compiled closed loop.
    """
    if observer.lin.states != feedback.lin.states or observer.lin.at.state is not feedback.lin.at.state:
        raise ControlError("Feedback and observer belong to different linearisations; make both from one.")
    hidden = _hidden(observer.lin, observer.C)
    if np.any(np.abs(feedback.K @ hidden) > 1e-9 * (np.abs(feedback.K) @ np.abs(hidden))):
        raise ControlError(
            f"The feedback needs what {', '.join(map(str, observer.measured))} does not show; measure more, or give it "
            "no weight in the design."
        )
    return OutputFeedback(feedback, observer)


def _number(value: Any) -> sp.Float:
    return sp.Float(float(value), 17)
