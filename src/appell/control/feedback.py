"""Linear state feedback: optimal by Krasovskii's and Kalman's quadratic cost, or with given roots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
import scipy.linalg
import sympy as sp

from appell.analysis.balance import balanced
from appell.analysis.certificate import Certificate
from appell.analysis.linearize import Linearization, ordered
from appell.analysis.roots import in_words
from appell.analysis.sampling import differences, held
from appell.analysis.stability import stability
from appell.code.state import State
from appell.code.system import System, compile
from appell.control.aliasing import check_sampling
from appell.control.controllability import controllability
from appell.control.designable import complement, designable, on_axis, within
from appell.control.limits import input_limits
from appell.control.placement import placed_gain
from appell.control.riccati import cheapest_rest, optimal, optimal_held
from appell.control.weights import cost_matrix, weight_matrix
from appell.equations import Equations
from appell.errors import ControlError, ModelError
from appell.graph.numeric import Numeric
from appell.model.symbols import Input
from appell.model.values import check_kind, chosen, number, numbers, unknown
from appell.motion.clock import check_rate

FAINT = 1e-4  # margin below which a mode is hardly reached
NOTHING = 1e-12  # what is smaller is rounding, where a law is written out


@dataclass(frozen=True, eq=False)
class Feedback:
    r"""$u = u_0 - K\eta$ with $\eta$ the deviations of the states from the equilibrium.

    Attributes:
        lin: What it was designed for.
        K: Gains, a row for each input.
        S: Matrix of the Lyapunov function $\eta'S\eta$: the Riccati solution, or one of the closed loop.
        limits: Saturation, by input: (lowest, highest) value.
        rate: Samples per second, u being held in between; None if it acts continuously.
    """

    lin: Linearization
    K: np.ndarray
    S: np.ndarray
    limits: Mapping[str, tuple[float, float]]
    rate: float | None = None

    @property
    def A(self) -> np.ndarray:
        """The closed loop A - B K; of a sampled feedback from sample to sample."""
        A, B = (self.lin.A, self.lin.B) if self.rate is None else held(self.lin.A, self.lin.B, self.rate)
        return A - B @ self.K

    @cached_property
    def roots(self) -> np.ndarray:
        """Roots of the closed loop; of a sampled feedback from sample to sample, inside the unit circle."""
        return ordered(np.linalg.eigvals(self.A))

    @property
    def plant(self) -> System:
        """What is controlled, its inputs at their holding values unless a control gives them."""
        return self.lin.at.system

    @property
    def laws(self) -> dict[Input, sp.Expr]:
        """For each input its formula in coordinates, rates and extra states: what `equations.close` takes."""
        tangent = self.lin.tangent
        letters = {s.label: s for s in tangent.equations.states}
        return self.laws_of([tangent.in_rates(letters[s]) - exact(tangent.value(s)) for s in self.lin.states])

    def laws_of(self, deviations: Iterable[sp.Expr]) -> dict[Input, sp.Expr]:
        """The laws for other formulas of the deviations, such as estimates of them.

        Args:
            deviations: One for each state.
        """
        inputs, given = {w.label: w for w in self.lin.model.inputs}, list(deviations)
        found: dict[Input, sp.Expr] = {}
        for label, row in zip(self.lin.inputs, self.K, strict=True):
            terms = [exact(k) * e for k, e in zip(row, given, strict=True) if k != 0]
            law = exact(self.lin.at.inputs[label]) - sum(terms, sp.Integer(0))
            if label in self.limits:
                low, high = self.limits[label]
                law = sp.Max(low, sp.Min(high, law))
            found[inputs[label]] = law
        return found

    def close(self, equations: Equations | None = None) -> Equations:
        """Equations with the feedback in place of the inputs.

        Args:
            equations: Equations of the same model; those of the linearised system if left out.
        """
        if self.rate is not None:
            raise ControlError(
                f"The feedback is sampled {self.rate:g} times a second and cannot be closed into equations, which know "
                "no samples; write simulate(feedback.plant, feedback.start({...}), until=..., control=feedback)."
            )
        if equations is None:
            return self.plant.equations.close(self.laws)
        check_kind(equations, Equations, "equations, derive(model), or nothing for those of the design")
        return equations.close(self.laws)

    def __call__(self, t: float, state: State) -> dict[str, float]:
        """The inputs at a state: what `simulate(..., control=feedback)` asks for, as often as the rate says.

        Args:
            t: The time.
            state: The state.
        """
        system = self.plant
        found = self._formulas(number("t", t), system.to_x(state), system.w, system.p)[0]
        return dict(zip(self.lin.inputs, found[:, 0].tolist(), strict=True))

    @cached_property
    def _formulas(self) -> Numeric:
        equations = self.plant.equations
        column = ca.vertcat(*[equations.formula(law) for law in self.laws.values()])
        return Numeric(ca.Function("laws", equations.arguments, [ca.densify(column)]))

    @cached_property
    def system(self) -> System:
        """The compiled closed loop, other inputs at their holding values."""
        held = self.lin.at.system.values
        labels = {s.label for s in (*self.lin.model.parameters, *self.lin.model.inputs)}
        return compile(self.close()).bind({name: value for name, value in held.items() if name in labels})

    @cached_property
    def certificate(self) -> Certificate:
        """What is proved about the closed loop."""
        return stability(self.lin, gains=self)

    def saturated(self, limits: Any) -> Feedback:
        """The same gains with inputs that end at their limits.

        Args:
            limits: The largest absolute value of all inputs, or by name or symbol such a value or a pair (lowest,
                highest); what is not named keeps the limits it has.
        """
        read: dict[str, tuple[float, float]] = dict(self.limits)
        for label, (low, high) in input_limits(limits, self.lin.inputs).items():
            hold = self.lin.at.inputs[label]
            if not low < hold < high:
                raise ControlError(
                    f"The holding value {label} = {hold:.6g} is not within its limits ({low:g}, {high:g}); the "
                    "equilibrium cannot be kept."
                )
            read[label] = (low, high)
        return replace(self, limits=read)

    def start(self, deviations: Mapping[Any, float] | None = None) -> Any:
        """A state on the constraints near the equilibrium: independent coordinates, rates and extra states moved.

        Args:
            deviations: By name, how far from the equilibrium.
        """
        moved = numbers(deviations)
        for label in moved:
            if label not in self.lin.states:
                raise ModelError(unknown(label, self.lin.states, "state of the linearisation"))
        return self.lin.at.system.consistent(*self.kept_and_near(moved))

    def kept_and_near(self, moved: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, float]]:
        """What a start that is moved from the equilibrium keeps, and what it is near to in all else.

        Args:
            moved: How far each state is moved, by name: numbers, or arrays of them for many starts.
        """
        rest = self.lin.at.state
        keep = {s: self.lin.tangent.value(s) + moved.get(s, 0.0) for s in self.lin.states}
        keep |= {s: rest[s] for s in self.lin.dropped}
        return keep, {s: value for s, value in rest.to_dict().items() if s not in keep}

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import feedback_html

        return feedback_html(self)

    def __repr__(self) -> str:
        lines = [f"feedback on {', '.join(self.lin.states)}"]
        for label, row in zip(self.lin.inputs, self.K, strict=True):
            limits = "; from {:g} to {:g}".format(*self.limits[label]) if label in self.limits else ""
            lines.append(f"  {label} = {self._law(self.lin.at.inputs[label], row)}{limits}")
        sampled = "" if self.rate is None else f", sampled {self.rate:g} times a second"
        return "\n".join([*lines, f"  roots of the closed loop{sampled}: {in_words(self.roots)}"])

    def _law(self, held: float, gains: np.ndarray) -> str:
        """A law as it is written by hand: 0.07 - 3.2 (xi - 0.2) - 1.5 xi.rate."""
        terms = [(held, "")] if abs(held) > NOTHING else []
        sizes = np.abs(gains) * self.lin.units
        for s, k, size in zip(self.lin.states, gains, sizes, strict=True):
            if not size > NOTHING * sizes.max():
                continue
            at = self.lin.tangent.value(s)
            terms.append((-k, f" ({s} {'-' if at > 0 else '+'} {abs(at):.6g})" if abs(at) > NOTHING else f" {s}"))
        words = " ".join(f"{'-' if number < 0 else '+'} {abs(number):.6g}{of}" for number, of in terms or [(0.0, "")])
        return words.removeprefix("+ ") if words[:1] == "+" else words.replace("- ", "-", 1)


def exact(value: float) -> sp.Float:
    """A number in a formula, with all its digits."""
    return sp.Float(float(value), 17)


def lqr(
    lin: Linearization,
    Q: Any = 1.0,
    R: Any = 1.0,
    *,
    inputs: Iterable[Any] | None = None,
    rate: float | None = None,
) -> Feedback:
    r"""The feedback that minimises $\int(\eta'Q\eta + u'Ru)\,dt$, eqs. (34) to (37).

    $K = R^{-1}B'S$ with $A'S + SA - SBR^{-1}B'S + Q = 0$. Modes that no input reaches are refused if they do not decay
    by themselves, unless they are structural zeros: momenta that nothing changes, and coordinates that others follow by
    rows on velocities. With these the motion tends to the rest that costs least by Q and R: a wheeled robot returns to
    its place if that has a weight, and its wheels to their angles if these have one.

    With a rate it is the best of those whose inputs are held between samples: the same integral, exactly, so that the
    gains tend to the continuous ones as the rate grows.

    Args:
        lin: The linearisation.
        Q: Weights of the states: a number, numbers by name, a diagonal, or a matrix. By name also of dependent
            coordinates and of formulas: the weight is for the square of the deviation, to first order.
        R: Weights of the inputs, likewise, positive definite.
        inputs: Which inputs to use; all of the linearisation if left out, the others stay at their holding values.
        rate: Samples per second, as in `simulate`; the feedback acts continuously if left out.

    Returns:
        The feedback.

    Example:
        >>> import appell as ap
        >>> rest = ap.equilibrium(ap.library.slider_crank(), {"theta": 0.3})
        >>> feedback = ap.control.lqr(ap.linearize(rest, dependent=["phi", "x_s"]), Q={"theta": 10, "theta.rate": 1})
        >>> feedback.certificate.verdict.name
        'ON_CONSTRAINTS'

    Reference: Krasovskii 1959; Kalman 1960; Krasinskiy 2025, eqs. (34) to (37).
    """
    lin = _with_inputs(lin, inputs)
    _pair(lin, rate, every=False)
    W = cost_matrix(Q, lin)
    R = weight_matrix(R, lin.inputs, "R", True)
    if not np.any(lin.B):
        raise ControlError(
            f"{', '.join(lin.inputs)} {'move' if len(lin.inputs) > 1 else 'moves'} nothing in the first approximation: "
            "B = 0. Use another input, or another equilibrium."
        )
    units, basis = designable(lin)
    inner = within(lin.A / units[:, None] * units, basis)
    scale = balanced(inner)[1]
    Y, Z = basis / scale / units[:, None], basis * scale * units[:, None]  # states of comparable size: Y'Z = 1
    A, B, weights = inner / scale[:, None] * scale, Y.T @ lin.B, Z.T @ W @ Z
    whole = scale.size == len(lin.states)
    unweighed = on_axis(lin.A.T, W, lin.states) if whole else on_axis(A.T, weights, lin.states, Z)
    if unweighed:
        idle = [s for s in lin.ignorable if s in lin.states and not np.any(W[lin.states.index(s)])]
        hint = (
            f", or leave out what nothing depends on by linearize(..., ignore={[*lin.dropped, *idle]!r})"
            if idle
            else ""
        )
        raise ControlError(
            f"There is no stabilising optimal feedback: Q gives no weight to {unweighed}, which does not decay alone. "
            f"Give a weight to every coordinate that must return{hint}."
        )
    kept = complement(basis)  # what no input changes: eta = Zx + Vw with w = V'eta in natural units
    V, values = kept * units[:, None], (kept / units[:, None]).T
    try:
        S, K = optimal(A, B, weights, R) if rate is None else optimal_held(A, B, weights, R, rate)
        x, u = cheapest_rest(A, B, weights, R, Y.T @ lin.A @ V, Z.T @ W @ V)
    except np.linalg.LinAlgError:
        raise ControlError(_faint(lin, np.linalg.norm(weights) / np.linalg.norm(R))) from None
    away = Y.T - x @ values  # from where it comes to rest
    return Feedback(lin, K @ away - u @ values, away.T @ S @ away, {}, rate)


def _faint(lin: Linearization, ratio: float) -> str:
    """Why there is no solution of the Riccati equation within rounding, for weights of such a ratio."""
    worst = min(controllability(lin).modes, key=lambda mode: (mode.root.real < 0, mode.margin))
    if worst.margin > FAINT:
        far = "more" if ratio > 1 else "less"
        return (
            f"No optimal feedback can be computed within rounding: weights of states and inputs are {ratio:.1g} to 1. "
            f"Give the inputs {far} weight."
        )
    return (
        f"No optimal feedback can be computed: {', '.join(lin.inputs)} hardly reaches {worst} ({worst.combination}), "
        f"margin {worst.margin:.2g}. Add an input that acts on it, or give the inputs less weight."
    )


def place(
    lin: Linearization, roots: Iterable[complex], *, inputs: Iterable[Any] | None = None, rate: float | None = None
) -> Feedback:
    """The feedback that gives the closed loop wanted roots.

    With several inputs the freedom left is used to make the roots insensitive (Kautsky, Nichols and Van Dooren). A root
    repeated more often than there are inputs leaves no freedom: each input then moves a chain of states of its own
    (Ackermann, Luenberger). With all roots 0 from sample to sample, deviations are gone after as many samples as the
    longest chain has states.

    Args:
        lin: The linearisation.
        roots: As many roots as states, complex ones in pairs; with a rate those from sample to sample, inside the unit
            circle: exp(-3/rate) for what decays like exp(-3 t), 0 for what is gone after a sample.
        inputs: Which inputs to use; all of the linearisation if left out.
        rate: Samples per second, as in `simulate`; the feedback acts continuously if left out.

    Returns:
        The feedback.

    Reference: Ackermann 1972; Luenberger 1967; Kautsky, Nichols and Van Dooren 1985; Tits and Yang 1996.
    """
    lin = _with_inputs(lin, inputs)
    A, B = _pair(lin, rate, every=True)
    K = placed_gain(A, B, roots, lin.states, controllability(lin), rate)
    feedback = Feedback(lin, K, np.zeros_like(lin.A), {}, rate)
    return replace(feedback, S=lyapunov_matrix(feedback.A, rate))


def _pair(lin: Linearization, rate: float | None, every: bool) -> tuple[np.ndarray, np.ndarray]:
    """A and B, with a rate those of differences, in which as much is reached: every mode, or all that must be."""
    if rate is None:
        return lin.A, lin.B
    check_rate(rate)
    A, B = differences(lin.A, lin.B, rate)
    check_sampling(controllability(lin), A, B, rate, ", ".join(lin.inputs), every)
    return A, B


def lyapunov_matrix(A: np.ndarray, rate: float | None = None) -> np.ndarray:
    """S with A'S + SA = -1 for a stable A; of what goes from sample to sample, A'SA - S = -1/rate."""
    roots, one = np.linalg.eigvals(A), np.eye(A.shape[0])
    if np.max(roots.real if rate is None else np.abs(roots) - 1, initial=-1.0) >= 0:
        return np.zeros_like(A)
    if rate is None:
        S = scipy.linalg.solve_continuous_lyapunov(A.T, -one)
    else:
        S = scipy.linalg.solve_discrete_lyapunov(A.T, one / rate)
    return (S + S.T) / 2


def _with_inputs(lin: Linearization, inputs: Iterable[Any] | None) -> Linearization:
    if not isinstance(lin, Linearization):
        raise ControlError(f"Got {type(lin).__name__}; give a linearisation, appell.linearize(...).")
    if inputs is not None:
        used = chosen(inputs, lin.inputs, "input of this linearisation")
        lin = replace(lin, inputs=used, B=lin.B[:, [lin.inputs.index(w) for w in used]])
    if not lin.inputs and lin.model.inputs:
        raise ControlError(
            f"No input is left to control {lin.model.name!r} by; it has: {', '.join(map(str, lin.model.inputs))}."
        )
    if not lin.inputs:
        raise ControlError(f"{lin.model.name!r} has no input to control it by; add one, for instance by appell.inputs.")
    return lin
