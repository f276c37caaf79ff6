"""Direct-current motors in place of torques and forces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import sympy as sp

from appell.errors import ModelError
from appell.graph.raising import raised
from appell.kinematics.mechanics import Mechanics
from appell.model.model import Model
from appell.model.substitution import drive
from appell.model.symbols import Input, inputs, key, states, t
from appell.model.values import check_kind, formula_of, unknown


@dataclass(frozen=True, eq=False)
class Motor:
    r"""A motor with a gear: $L\,di/dt + Ri + k_e n\omega = e$, torque $n k_t i$, eq. (38) corrected.

    Numbers or parameters (`ap.parameters`).

    Args:
        resistance: R of the winding.
        constant: k_t, torque by current (and k_e, if `back_emf` is left out).
        inductance: L of the winding; with 0 the current follows the voltage at once and is no state.
        gear: n, turns of the rotor for one of the driven shaft.
        back_emf: k_e, voltage by angular velocity.
    """

    resistance: Any
    constant: Any
    inductance: Any = 0
    gear: Any = 1
    back_emf: Any = None

    def __post_init__(self) -> None:
        least = {"resistance": True, "constant": True, "inductance": False, "gear": True, "back_emf": False}
        for name, positive in least.items():
            if name == "back_emf" and self.back_emf is None:
                continue
            value = formula_of(getattr(self, name), f"The {name} of a motor")
            if value.is_number and not (value.is_positive or (value == 0 and not positive)):
                raise ModelError(f"The {name} of a motor must be positive, got {value}.")


def with_motors(model: Model, motors: Motor | Mapping[Any, Motor]) -> Model:
    r"""The model with motors in place of inputs: the current i is a new state, the voltage e the new input.

    The shaft's angular velocity is what the input does work on, $\omega = (\partial Q/\partial\tau)'\dot q$, whatever
    the input acts on: independent or dependent coordinates, bodies, or both ends of a joint. Input `tau` gets the
    current `i_tau` and the voltage `e_tau`.

    Args:
        model: The model.
        motors: One motor for all inputs, or motors by input.

    Returns:
        A model like any other: find its holding voltages by `equilibrium`. Suggested values are those that hold the
        suggested torques, where the motor's constants are numbers.

    Example:
        >>> import appell as ap
        >>> motor = ap.control.Motor(resistance=2.0, constant=0.1, inductance=0.01, gear=20)
        >>> driven = with_motors(ap.library.slider_crank(), motor)
        >>> [str(w) for w in driven.inputs], [str(z) for z in driven.states]
        (['e_tau'], ['i_tau'])
        >>> round(ap.equilibrium(driven, {"theta": 1.0})["e_tau"], 6)
        -0.559392

    Reference: Krasinskiy 2025, eq. (38), with $\dot x$ in place of its $\ddot x$.
    """
    check_kind(model, Model, "a model with inputs for motors to drive")
    if isinstance(motors, Motor):
        motors = {w: motors for w in model.inputs}
    if not isinstance(motors, Mapping):
        raise ModelError(f"Give a Motor for all inputs, or motors by input, {{tau: Motor(...)}}; got {motors!r}.")
    named = {w.label: w for w in model.inputs}
    if not named:
        raise ModelError(f"{model.name!r} has no input that a motor could drive; declare one by appell.inputs.")
    formulas: dict[Input, sp.Expr] = {}
    memory: dict[Any, sp.Expr] = {}
    start: dict[Any, float] = {}
    values: dict[Any, float] = {}
    for name, motor in motors.items():
        if key(name) not in named:
            raise ModelError(unknown(key(name), sorted(named), f"input of {model.name!r}"))
        check_kind(motor, Motor, f"a motor for {key(name)}, control.Motor(resistance=..., constant=...)")
        w = named[key(name)]
        omega = shaft_rate(model, w)
        e = inputs(f"e_{w.name}", "V", f"voltage of the motor of {w.name}")
        n, k = sp.sympify(motor.gear), sp.sympify(motor.constant)
        k_e = k if motor.back_emf is None else sp.sympify(motor.back_emf)
        R, L = sp.sympify(motor.resistance), sp.sympify(motor.inductance)
        if w.label in model.values and (hold := R / (n * k) * model.values[w.label]).is_number:
            values[e] = float(hold)
        if L == 0:
            formulas[w] = n * k * (e - k_e * n * omega) / R
            continue
        i = states(f"i_{w.name}", "A", f"current of the motor of {w.name}")
        memory[i] = (e - R * i - k_e * n * omega) / L
        start[i] = 0.0
        formulas[w] = n * k * i
    return drive(model, formulas, memory, values, start)


def shaft_rate(model: Model, w: Input) -> sp.Expr:
    """What an input does work on: the derivative of the power Q'q' by the input, a formula in q and q'."""
    mechanics = Mechanics(model)
    x = mechanics.variables
    graph = x.lower.memo[w]
    column = ca.jacobian(x.thaw(mechanics.Q), graph)
    if ca.depends_on(column, graph):
        raise ModelError(f"The force of the input {w} is not proportional to it; a motor needs a torque or a force.")
    rate = ca.simplify(ca.dot(column, x.v))
    letters = [list(e) for e in _letters(model)]
    (formula,) = raised(rate, [x.t, x.q, x.v, x.z, x.w, x.p], letters)
    formula = sp.simplify(formula) if sp.count_ops(formula) > 3 else formula
    if formula == 0:
        raise ModelError(f"The input {w} does no work; a motor cannot stand in its place.")
    return formula


def _letters(model: Model) -> list[tuple[Any, ...]]:
    rates = tuple(q.rate for q in model.coordinates)
    return [(t,), model.coordinates, rates, tuple(model.states), model.inputs, model.parameters]
