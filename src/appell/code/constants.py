"""Constant masses and moments of inertia: which there are, and that they are positive."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.graph.numeric import Numeric
from appell.kinematics.mechanics import Mechanics
from appell.model.body import RigidBody
from appell.model.symbols import letters_in


@dataclass(frozen=True)
class Constant:
    """A mass or a moment of inertia whose formula has parameters only.

    Attributes:
        formula: The formula.
        what: Which of the two it is.
        body: Name of a body that has it.
        needed: Whether zero is too little: the mass of a particle.
    """

    formula: sp.Expr
    what: str
    body: str
    needed: bool

    def bad(self, value: Any) -> Any:
        """Whether a value, or each of several, cannot be."""
        return (value < 0) | ((value == 0) & self.needed)

    def refusal(self, value: float) -> str:
        """What is said of such a value."""
        return f"The {self.what} of {self.body!r} is {self.formula} = {value:g} with these values; it must be positive."


def constants(mechanics: Mechanics) -> tuple[list[Constant], ca.Function]:
    """The constant masses and moments of a model, and their values as a function of p."""
    parameters, x = set(mechanics.model.parameters), mechanics.variables
    found: dict[sp.Expr, Constant] = {}
    for body in mechanics.model.bodies:
        moments = body.inertia.flat()[::4] if isinstance(body, RigidBody) else []
        for what, formula in (("mass", body.mass), *(("moment of inertia", e) for e in moments)):
            needed = what == "mass" and not moments
            if formula in found:
                found[formula] = replace(found[formula], body=body.name, needed=True) if needed else found[formula]
                continue
            letters = letters_in(formula)
            if letters and letters <= parameters:
                found[formula] = Constant(formula, what, body.name, needed)
    return list(found.values()), ca.Function("constants", [x.p], [ca.densify(x.lower.column(list(found)))])


def check_masses(mechanics: Mechanics, p: np.ndarray) -> None:
    """Raise if a constant mass or moment of inertia is negative, or a particle has none.

    Args:
        mechanics: The model on the graph.
        p: Values of the parameters; nan for one that has none yet, and what depends on it is not looked at.
    """
    listed, function = constants(mechanics)
    for constant, value in zip(listed, Numeric(function)(p)[0].ravel(), strict=True) if listed else ():
        if constant.bad(value):
            raise ModelError(constant.refusal(value))
