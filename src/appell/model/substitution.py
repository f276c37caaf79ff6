"""Formulas in place of inputs, in everything that drives."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any

import sympy as sp

from appell.errors import ModelError
from appell.model.frame import Vector
from appell.model.model import Model
from appell.model.symbols import ExtraState, Input


def drive(
    model: Model,
    formulas: Mapping[Input, Any],
    states: Mapping[ExtraState, Any] | None = None,
    values: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
) -> Model:
    """The same model with inputs replaced by formulas: a motor in place of a torque.

    Args:
        model: The model.
        formulas: For inputs a formula in coordinates, rates, extra states, parameters and other inputs.
        states: Extra states that the formulas need, with their rates.
        values: Numbers of new parameters and inputs.
        start: Starting values of the new states.
    """
    for w in formulas:
        if w not in model.inputs:
            raise ModelError(
                f"{w} is not an input of {model.name!r}; it has: {', '.join(map(str, model.inputs)) or 'none'}."
            )
    model.check_new(states or {})
    exchanged = {w: sp.sympify(e) for w, e in formulas.items()}

    def changed(value: Any) -> Any:
        if isinstance(value, sp.Basic):
            return value.xreplace(exchanged)
        if isinstance(value, Vector):
            return Vector(
                {frame: tuple(sp.sympify(e).xreplace(exchanged) for e in c) for frame, c in value.parts.items()}
            )
        if isinstance(value, Mapping):
            return {name: changed(entry) for name, entry in value.items()}
        return value

    def rebuilt(force: Any) -> Any:
        contents = {name: changed(value) for name, value in vars(force).items()}
        if all(contents[name] is value for name, value in vars(force).items()):
            return force
        twin = copy(force)
        vars(twin).update(contents)
        return twin

    return model.rebuilt(
        forces=[rebuilt(force) for force in model.forces],
        states={**{z: changed(sp.sympify(rate)) for z, rate in model.states.items()}, **(states or {})},
        values={**model.values, **(values or {})},
        start={**model.start, **(start or {})},
    )
