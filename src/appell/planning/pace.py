"""Time scaling: the same task, slower."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import sympy as sp

from appell.errors import ModelError
from appell.model.constraint import AbstractConstraint, Row
from appell.model.model import Model
from appell.model.symbols import Coordinate, Parameter, Rate, letters_in, t
from appell.model.values import check_kind


def paced(model: Model, name: str = "pace") -> Model:
    r"""The model with its programmed rows in scaled time: $f(\sigma t, q, \dot q/\sigma, \dots, q^{(p)}/\sigma^p) = 0$.

    A motion q(t) of the programme becomes q(sigma t). Explicit time elsewhere (in forces, in material rows) stays; a
    model whose drives follow functions of time should have such a parameter of its own.

    Args:
        model: A model with programmed constraints.
        name: Name of the new parameter sigma, with the value 1.

    Returns:
        The model, with one parameter more; the model itself if it has a parameter of that name.
    """
    check_kind(model, Model, "a model with programmed constraints")
    check_kind(name, str, "the name of a parameter as text")
    if any(p.label == name for p in model.parameters):
        return model
    if not model.programmed:
        raise ModelError(f"{model.name!r} has no programmed constraint whose time could be scaled.")
    sigma = Parameter(name, "1")
    constraints = [_constraint(c, sigma) for c in model.constraints]
    return model.rebuilt(constraints=constraints, values={**model.values, name: 1.0})


def _constraint(constraint: AbstractConstraint, sigma: Parameter) -> AbstractConstraint:
    if not any(row.programmed for row in constraint.rows):
        return constraint
    twin = copy(constraint)
    twin.rows = tuple(_row(row, sigma) for row in constraint.rows)
    return twin


def _row(row: Row, sigma: Parameter) -> Row:
    letters = {s for s in letters_in(row.expression) if isinstance(s, Rate) and isinstance(s.base, Coordinate)}
    swaps: dict[sp.Basic, sp.Expr] = {s: s / sigma**s.order for s in letters}
    swaps[t] = sigma * t
    return replace(row, expression=row.expression.xreplace(swaps))
