"""PID control by formulas: gain schedules, anti-windup, saturation, filtered derivative.

A loop is a formula for its output and extra states with their rates, so that the controlled system is one smooth set of
equations between located kinks: nothing is sampled, and everything that can be said of a system (linearization,
agreement of formulations, power balance) can be said of the controlled one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.model import Model
from appell.model.symbols import (
    Coordinate,
    ExtraState,
    Input,
    Rate,
    Speed,
    key,
    letters_in,
    quoted,
    states,
    time_derivative,
)
from appell.model.values import by_name, check_kind, formula_of, unknown


@dataclass(frozen=True, eq=False)
class Loop:
    """One control loop as formulas.

    Attributes:
        output: What it commands.
        states: What it remembers, with the rates; all begin at zero.
    """

    output: sp.Expr
    states: Mapping[ExtraState, sp.Expr] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Controller:
    """Laws for inputs: `derive(model.add(states=controller.states), ...).close(controller.laws)`.

    Attributes:
        laws: For each input its formula.
        states: What the laws remember, with the rates.
    """

    laws: Mapping[Input, sp.Expr]
    states: Mapping[ExtraState, sp.Expr]

    def on(self, model: Model) -> Model:
        """The model with what the controller remembers added to its states."""
        check_kind(model, Model, "the model that the controller is for")
        return model.add(states=self.states)


@dataclass(frozen=True, eq=False, init=False)
class PID:
    r"""$u = K_p e + K_i z + K_d \dot e$ with $\dot z = e$ as long as nothing is at its limit.

    Anti-windup: the integral z stops growing where |z| has reached `clamp`, and where the output has reached `limit`
    and the error would drive it further (conditional integration). Where that happens is located during a run.

    The rate of an error of positions is a formula in velocities. An input in it, such as a set point, counts as held:
    its rate is unknown, so that the derivative acts on the measurement. An error of velocities has accelerations in
    its rate, and these depend on the output: an algebraic loop, which is refused. Give `lag`, and the derivative is
    taken by a first-order filter, $K_d (e - f)/\mathrm{lag}$ with $\dot f = (e - f)/\mathrm{lag}$.

    Args:
        kp: Proportional gain; every gain is a number or a formula in time, extra states (the mass), parameters.
        ki: Integral gain.
        kd: Derivative gain.
        clamp: Largest |z|.
        limit: Largest |u|.
        lag: Time constant of the derivative's filter.

    Reference: Astrom and Hagglund 2006, Advanced PID Control, chapter 3; Dehkordi 2025, eq. (50).
    """

    kp: sp.Expr
    ki: sp.Expr
    kd: sp.Expr
    clamp: sp.Expr | None
    limit: sp.Expr | None
    lag: sp.Expr | None

    def __init__(
        self, kp: Any = 0, ki: Any = 0, kd: Any = 0, clamp: Any = None, limit: Any = None, lag: Any = None
    ) -> None:
        gains = {"kp": kp, "ki": ki, "kd": kd}
        bounds = {"clamp": clamp, "limit": limit, "lag": lag}
        for name, value in (*gains.items(), *bounds.items()):
            if value is not None or name in gains:
                value = formula_of(value, f"{name}= of a PID")
            vars(self).update({name: value})
        for name in gains:
            _check_gain(name, getattr(self, name))
        for name in bounds:
            value = getattr(self, name)
            if value is not None and value.is_number and not value.is_positive:
                raise ModelError(f"{name}= of a PID must be positive, got {value}; leave it out for none.")

    def loop(
        self,
        name: str,
        error: Any,
        known: Mapping[ExtraState, Any] | None = None,
        feedforward: Any = 0,
    ) -> Loop:
        """The loop for one error.

        Args:
            name: What its states are called after: the integral `name_int`, the filter `name_lag`.
            error: Set point minus value, a formula in coordinates, rates, extra states, parameters and time.
            known: Rates of the extra states that the error contains, `model.states`; needed for derivative action.
            feedforward: Added to the output, within its limit.
        """
        error = formula_of(error, f"The error {name!r}")
        _check_error(name, error)
        memory: dict[ExtraState, sp.Expr] = {}
        known = by_name(known, "Rates of extra states", "{z: formula}")
        for z in known:
            check_kind(z, ExtraState, "rates of extra states, {z: formula} with z = appell.states('z')")
        output = self.kp * error + formula_of(feedforward, f"The feedforward of {name!r}")
        if self.kd != 0:
            if self.lag is not None:
                held = states(f"{name}_lag")
                memory[held] = (error - held) / self.lag
                output += self.kd * (error - held) / self.lag
            else:
                output += self.kd * error_rate(name, error, known)
        integral = states(f"{name}_int") if self.ki != 0 else None
        if integral is not None:
            output += self.ki * integral
        stops = []  # each a formula that is positive where the integral must not grow, or must not fall
        if self.clamp is not None and integral is not None:
            stops.append((integral - self.clamp, -integral - self.clamp))
        if self.limit is not None:
            above, below = output - self.limit, -output - self.limit
            if integral is not None:
                stops.append((above, below))
            output = output - _above(above) * above + _above(below) * below
        if integral is not None:
            memory[integral] = error
            if stops:
                up, down = sp.Max(error, 0, evaluate=False), sp.Min(error, 0, evaluate=False)
                for high, low in stops:
                    up, down = up * (1 - _above(high)), down * (1 - _above(low))
                memory[integral] = up + down
        return Loop(output, memory)


def _above(formula: sp.Expr) -> sp.Expr:
    """1 where a formula is positive, else 0; by its sign alone, so that a motion can also slide along the switch."""
    return (1 + sp.sign(formula, evaluate=False)) / 2


def _check_gain(name: str, gain: sp.Expr) -> None:
    if gain.is_number and not gain.is_finite:
        raise ModelError(f"The gain {name} must be finite, got {quoted(gain)}.")
    wrong = [s for s in letters_in(gain) if isinstance(s, Coordinate | Rate | Speed | Input)]
    if wrong:
        raise ModelError(
            f"The gain {name} = {quoted(gain)} contains {', '.join(map(str, wrong))}; a gain schedule is a "
            "formula in time, extra states and parameters."
        )


def _check_error(name: str, error: sp.Expr) -> None:
    for symbol in letters_in(error):
        if isinstance(symbol, Speed):
            raise ModelError(
                f"The error {name!r} contains the speed {symbol}; its integral is a state of the model, which knows "
                "only coordinates and their rates. Write the formula of the speed instead."
            )
        if isinstance(symbol, Rate) and (symbol.order > 1 or isinstance(symbol.base, ExtraState)):
            raise ModelError(f"The error {name!r} contains {symbol}; use coordinates, velocities and extra states.")


def error_rate(name: str, error: sp.Expr, known: Mapping[ExtraState, Any]) -> sp.Expr:
    """The rate of an error as a formula without accelerations, or an error that says why there is none."""
    rate = time_derivative(error)
    rate = rate.xreplace({z.rate: sp.sympify(e) for z, e in known.items()})
    left = sorted((s for s in letters_in(rate) if isinstance(s, Rate)), key=lambda s: s.name)
    accelerations = [s for s in left if s.order > 1]
    if accelerations:
        raise ModelError(
            f"The rate of the error {name!r} contains the accelerations {', '.join(map(str, accelerations))}, which "
            "depend on the output itself. Give lag=SECONDS to take the derivative by a filter, or add the gain to the "
            "inertia of what is controlled."
        )
    unknown = [s for s in left if isinstance(s.base, ExtraState)]
    if unknown:
        raise ModelError(
            f"The rate of the error {name!r} contains {', '.join(map(str, unknown))}; give known=model.states."
        )
    return rate


def regulate(model: Model, loops: Mapping[Any, tuple[PID, Any]]) -> Controller:
    """PID laws for inputs of a model.

    Args:
        model: The model.
        loops: For each input, by letter or name, its PID and the error it acts on.

    Returns:
        Laws and states.

    Example:
        >>> import appell as ap
        >>> from appell.control import PID, regulate
        >>> s = ap.coordinates("s")
        >>> force = ap.inputs("force")
        >>> ground = ap.Frame("ground")
        >>> cart = ap.Particle("cart", 2, ground.point(s, 0))
        >>> model = ap.Model(ground, s, [cart], [ap.Generalized({s: force})])
        >>> controller = regulate(model, {force: (PID(kp=20, ki=4, kd=8), 1 - s)})
        >>> system = ap.compile(ap.derive(controller.on(model)).close(controller.laws))
        >>> round(float(ap.simulate(system, {}, until=60.0)[s][-1]), 6)
        1.0
    """
    check_kind(model, Model, "a model with inputs")
    check_kind(loops, Mapping, "for each input a PID and its error, {u: (PID(kp=2), 1 - x)}")
    laws: dict[Input, sp.Expr] = {}
    memory: dict[ExtraState, sp.Expr] = {}
    inputs = {w.label: w for w in model.inputs}
    for name, given in loops.items():
        if key(name) not in inputs:
            raise ModelError(unknown(key(name), sorted(inputs), f"input of {model.name!r}"))
        if not isinstance(given, Sequence) or len(given) != 2 or not isinstance(given[0], PID):
            raise ModelError(
                f"Each input needs a PID and the error it acts on, {{u: (PID(kp=2), 1 - x)}}; got {given!r}."
            )
        w, (pid, error) = inputs[key(name)], given
        made = pid.loop(w.name, error, model.states)
        laws[w] = made.output
        memory.update(made.states)
    return Controller(laws, memory)


def schedule(variable: Any, points: Iterable[tuple[float, float]]) -> sp.Expr:
    """A gain, or a whole law, interpolated linearly between points, constant outside them.

    Args:
        variable: What it depends on: time, the mass.
        points: Pairs (value of the variable, gain or formula), the first entries increasing.

    Example:
        >>> from appell import t
        >>> gain = schedule(t, [(0, 10), (20, 4)])
        >>> [float(gain.subs(t, at)) for at in (-1, 0, 5, 20, 30)]
        [10.0, 10.0, 8.5, 4.0, 4.0]
    """
    check_kind(points, Iterable, "pairs (value of the variable, gain)")
    given = [tuple(point) if isinstance(point, Iterable) else (point,) for point in points]
    if not all(len(point) == 2 for point in given):
        raise ModelError(f"A schedule needs pairs (value of the variable, gain), got {quoted(given)}.")
    listed = [tuple(formula_of(e, "A point of a schedule") for e in point) for point in given]
    if not listed or any(not b[0] > a[0] for a, b in pairwise(listed)):
        raise ModelError(f"A schedule needs points in increasing order, got {[str(at) for at, _ in listed]}.")
    variable = formula_of(variable, "The variable of a schedule")
    total, before = listed[0][1], sp.Integer(0)
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(listed)]
    for (at, _), slope in zip(listed, [*slopes, sp.Integer(0)], strict=True):
        total += (slope - before) * sp.Max(variable - at, 0)
        before = slope
    return total
