"""A model whose inputs are states and whose accelerations are states: what equations of higher order are about.

The inputs w and their derivatives up to the last but one become extra states, and so do q'', q''', ...; the inputs are
then the derivatives of the highest order, and the unknowns q^(k+2).
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import casadi as ca

from appell.graph.lower import Lowering
from appell.graph.sparse import fresh
from appell.kinematics.mechanics import Mechanics
from appell.model.model import Model
from appell.model.symbols import ExtraState, Input, rate_unit


class Differentiated(Mechanics):
    """The mechanics of a model after its equations have been differentiated.

    Args:
        base: The mechanics of the model itself.
        order: How often.

    Attributes:
        carried: Columns of w, w', ... that are states, and last the inputs w^(order).
        accelerations: Columns of q'', q''', ... that are states.
        top: q^(order+2), the unknowns.
    """

    def __init__(self, base: Mechanics, order: int) -> None:
        self.base, self.order = base, order
        old, model = base.variables, base.model
        self.letters = [tuple(_rate(w, k, ExtraState) for w in model.inputs) for k in range(order)]
        drives = tuple(_rate(w, order, Input) for w in model.inputs)
        jets = [[q.derivative(k + 2) for q in model.coordinates] for k in range(order)]
        rates = [tuple(ExtraState(s.name, s.unit) for s in row) for row in jets]
        self.carried = [old.w, *map(fresh, self.letters[1:]), fresh(drives)]
        self.accelerations = [fresh(names) for names in rates]
        self.top = fresh(q.derivative(order + 2) for q in model.coordinates)
        leaves = dict(old.lower.memo)
        for row, column in zip((*self.letters, drives, *rates), (*self.carried, *self.accelerations), strict=True):
            leaves.update({s: column[i] for i, s in enumerate(row)})
        for k, column in enumerate((*self.accelerations, self.top)):
            leaves.update({q.derivative(k + 2): column[i] for i, q in enumerate(model.coordinates)})
        variables = replace(
            old,
            model=_model(model, self.letters, drives, rates),
            z=ca.vertcat(old.z, *self.carried[:-1], *self.accelerations),
            w=self.carried[-1],
            zdot=ca.vertcat(old.zdot, *self.carried[1:], *self.accelerations[1:], self.top),
            lower=Lowering(leaves),
        )
        super().__init__(variables.model, variables)

    def rate(self, expression: ca.SX, u: ca.SX, K: ca.SX, levels: list[ca.SX], zdot: ca.SX) -> ca.SX:
        """Total time derivative of a formula in q, u, t, z, the inputs, and u', u'', ....

        Args:
            expression: The formula.
            u: The speeds.
            K: q' in terms of them.
            levels: u', u'', ...; the last one is not differentiated.
            zdot: Rates of the extra states of the model itself.
        """
        old = self.base.variables
        known = [old.q, u, old.t, old.z, *self.carried[:-1], *levels[:-1]]
        rates = [K, levels[0], ca.SX(1), zdot, *self.carried[1:], *levels[1:]]
        return ca.jtimes(expression, ca.vertcat(*known), ca.vertcat(*rates))


def _rate(w: Input, order: int, kind: type[ExtraState] | type[Input]) -> Any:
    """The letter of a derivative of an input, or of the input itself."""
    return kind(w.name + ".rate" * order, rate_unit(w.unit, order), "" if order else w.description)


def _model(
    model: Model, levels: list[tuple[ExtraState, ...]], drives: tuple[Input, ...], rates: list[tuple[ExtraState, ...]]
) -> Model:
    """The model with these states and inputs; its forces and rows keep their formulas, in which w is now a state."""
    states = dict(model.states)
    for row, after in zip(levels, [*levels[1:], drives], strict=True):
        states.update(dict(zip(row, after, strict=True)))
    for k, row in enumerate(rates):
        after = rates[k + 1] if k + 1 < len(rates) else [q.derivative(k + 3) for q in model.coordinates]
        states.update(dict(zip(row, after, strict=True)))
    held = {w.label: 0.0 for w, old in zip(drives, model.inputs, strict=True) if old.label in model.values}
    made = copy.copy(model)
    vars(made).update(states=states, inputs=drives, values={**model.values, **held})
    return made
