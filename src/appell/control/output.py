"""Feedback that needs only what is measured: the gains of a state feedback on the estimate of an observer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.analysis.linearize import ordered
from appell.analysis.sampling import held
from appell.code.state import State
from appell.code.system import System, compile
from appell.control.feedback import Feedback, exact
from appell.control.observer import Observer, unseen
from appell.control.pid import Controller
from appell.errors import ControlError
from appell.formulation.derive import derive
from appell.graph.numeric import Numeric
from appell.model.symbols import ExtraState, states
from appell.model.values import check_kind


@dataclass(frozen=True, eq=False)
class OutputFeedback:
    r"""$u = u_0 - K\hat\eta$ with the state of an observer: few measurements, all states.

    Attributes:
        feedback: The state feedback.
        observer: The observer.
    """

    feedback: Feedback
    observer: Observer

    def __repr__(self) -> str:
        return f"output feedback: {self.feedback}\non the estimates of an {self.observer}"

    @property
    def rate(self) -> float | None:
        """Samples per second; None if it acts continuously."""
        return self.feedback.rate

    @cached_property
    def _pair(self) -> tuple[np.ndarray, np.ndarray]:
        """A and B, or from sample to sample."""
        lin = self.feedback.lin
        return (lin.A, lin.B) if self.rate is None else held(lin.A, lin.B, self.rate)

    @property
    def A(self) -> np.ndarray:
        """The closed loop in (eta, estimate); sampled from sample to sample."""
        A, B = self._pair
        BK, LC = B @ self.feedback.K, self.observer.L @ self.observer.C
        return np.block([[A, -BK], [LC, A - BK - LC]])

    @property
    def roots(self) -> np.ndarray:
        """Roots of the closed loop: those of the feedback and those of the observer."""
        return ordered(np.concatenate([self.feedback.roots, self.observer.roots]))

    @cached_property
    def controller(self) -> Controller:
        """Laws and the observer's states with their rates, as formulas."""
        lin = self.feedback.lin
        if self.rate is not None:
            raise ControlError(
                f"The output feedback is sampled {self.rate:g} times a second and is not a formula; write "
                "simulate(loop.feedback.plant, loop.start({...}), until=..., control=loop)."
            )
        hats: list[ExtraState] = [states(f"hat_{s.replace('.', '_')}") for s in lin.states]
        laws = self.feedback.laws_of(hats)
        eta, u = sp.Matrix(hats), sp.Matrix([law - exact(lin.at.inputs[w.label]) for w, law in laws.items()])
        measured = [(lin.tangent.in_rates(e), lin.tangent.evaluate(e)) for e in self.observer.measured]
        deviations = sp.Matrix([e - exact(value) for e, value in measured])
        matrices = (lin.A, lin.B, self.observer.C, self.observer.L)
        A, B, C, L = (sp.Matrix(*M.shape, [exact(e) for e in M.ravel()]) for M in matrices)
        rates = A * eta + B * u + L * (deviations - C * eta)
        return Controller(laws, dict(zip(hats, rates, strict=True)))

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
        if self.rate is not None:
            return self.feedback.start(deviations)
        near = self.feedback.start(deviations).to_dict()
        return self.system.state({**near, **{z.label: 0.0 for z in self.controller.states}})

    def anew(self) -> Callable[[float, State], dict[str, float]]:
        """A sampled law that knows nothing yet: what `simulate(..., control=loop)` asks at every sample of a run."""
        if self.rate is None:
            raise ControlError(
                "The output feedback is continuous, its estimate is integrated with the system: write "
                "simulate(loop.system, loop.start({...}), until=...), or give rate= to feedback and observer."
            )
        (A, B), C, L, K = self._pair, self.observer.C, self.observer.L, self.feedback.K
        lin, limits = self.feedback.lin, self.feedback.limits
        hold = np.array([lin.at.inputs[w] for w in lin.inputs])
        low, high = np.array([limits.get(w, (-np.inf, np.inf)) for w in lin.inputs]).T
        rest = np.array([lin.tangent.evaluate(e) for e in self.observer.measured])
        measure, eta = self._measure, np.zeros(len(lin.states))

        def law(t: float, state: State) -> dict[str, float]:
            nonlocal eta
            w = np.clip(hold - K @ eta, low, high)
            eta = A @ eta + B @ (w - hold) + L @ (measure(t, state) - rest - C @ eta)
            return dict(zip(lin.inputs, w.tolist(), strict=True))

        return law

    @cached_property
    def _measure(self) -> Callable[[float, State], np.ndarray]:
        lin, system = self.feedback.lin, self.feedback.plant
        column = [system.equations.formula(lin.tangent.in_rates(e)) for e in self.observer.measured]
        function = ca.Function("measured", system.equations.arguments, [ca.densify(ca.vertcat(*column))])
        number = Numeric(function)
        return lambda t, state: number(t, system.to_x(state), system.w, system.p)[0][:, 0]


def output_feedback(feedback: Feedback, observer: Observer) -> OutputFeedback:
    """Feedback from measurements: the gains of a state feedback on the estimate of an observer.

    Args:
        feedback: The state feedback.
        observer: The observer, of the same linearisation.

    Returns:
        The output feedback; its `system` is the compiled closed loop.
    """
    check_kind(feedback, Feedback, "a feedback, control.lqr(lin, ...) or control.place(lin, ...)")
    check_kind(observer, Observer, "an observer, control.luenberger(lin, ...) or control.kalman(lin, ...)")
    if observer.lin.states != feedback.lin.states or observer.lin.at.state is not feedback.lin.at.state:
        raise ControlError("Feedback and observer belong to different linearisations; make both from one.")
    if observer.rate != feedback.rate:
        raise ControlError(
            f"The feedback has rate={feedback.rate}, the observer rate={observer.rate}; design both for the same."
        )
    hidden = unseen(observer.lin, observer.C)
    if np.any(np.abs(feedback.K @ hidden) > 1e-9 * (np.abs(feedback.K) @ np.abs(hidden))):
        raise ControlError(
            f"The feedback needs what {', '.join(map(str, observer.measured))} does not show; measure more, or give it "
            "no weight in the design."
        )
    return OutputFeedback(feedback, observer)
