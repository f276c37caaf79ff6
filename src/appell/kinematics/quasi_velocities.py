"""Quasi-velocities: speeds that the user defines by formulas in the rates, checked and lowered to the graph."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np
import sympy as sp

from appell.errors import FormulationError, ModelError
from appell.graph.numeric import Numeric
from appell.graph.sparse import densified
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.kinematics.variables import Variables
from appell.model.model import Model
from appell.model.rules import check_letter
from appell.model.symbols import Evolving, Input, Rate, Speed, letters_in, quoted
from appell.model.values import formula_of


def quasi_velocities(
    mechanics: Mechanics, split: Split, definitions: Mapping[Speed, sp.Expr]
) -> tuple[tuple[Evolving, ...], ca.SX]:
    """Speeds by formulas of the user's, as many as the rows leave free."""
    letters = tuple(definitions)
    checked = [_checked(mechanics.model, speed, formula) for speed, formula in definitions.items()]
    n, rows = len(mechanics.model.coordinates), len(split.rows)
    if len(letters) != n - rows:
        raise FormulationError(
            f"{len(letters)} speeds were given ({', '.join(s.name for s in letters)}), but {n} coordinates "
            f"under {rows} independent constraint rows leave {n - rows} free; give {n - rows}."
        )
    return letters, mechanics.variables.lower.column(checked)


def check_independent(mechanics: Mechanics, speeds: tuple[Evolving, ...], matrix: ca.SX) -> None:
    """Refuse quasi-velocities that are dependent, on each other or the rows, at every one of several typical states."""
    x = mechanics.variables
    function = Numeric(ca.Function("stacked", [x.t, x.q, x.v, x.z, x.p], [densified(matrix)]))
    rng = np.random.default_rng(11)
    p, n = mechanics.sample_values(rng), x.q.numel()
    for t in (0.0, 0.3, 0.7, 1.1):
        found = function(t, *_ordinary(x, rng), p)[0]
        lengths = np.linalg.norm(found, axis=1, keepdims=True)  # whatever the units of speeds and rows
        if not np.all(np.isfinite(found)) or np.linalg.matrix_rank(found / np.where(lengths == 0, 1, lengths)) == n:
            return
    raise FormulationError(
        f"The speeds {', '.join(str(s) for s in speeds)} are dependent on each other or on the constraints: together "
        f"they do not give all rates of {', '.join(str(q) for q in mechanics.model.coordinates)}. Choose others."
    )


def sizes(mechanics: Mechanics, formulas: ca.SX) -> ca.SX:
    """How large speeds are where all rates are about one, in the parameters: what their units make of them."""
    x = mechanics.variables
    slopes = ca.substitute(
        ca.jacobian(formulas, x.v),
        ca.vertcat(x.t, x.q, x.v, x.z),
        ca.vertcat(0.7, *_ordinary(x, np.random.default_rng(11))),
    )
    found = [ca.norm_2(slopes[i, :].T) for i in range(formulas.numel())]
    return ca.vertcat(*[ca.if_else(ca.logic_and(size > 0, size < ca.inf), size, 1) for size in found])


def _ordinary(x: Variables, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, rates and extra states at which nothing special is to be expected."""
    q, v, z = (rng.uniform(0.3, 1.2, letters.numel()) for letters in (x.q, x.v, x.z))
    return q, v, z


def _checked(model: Model, speed: Speed, formula: sp.Expr) -> sp.Expr:
    """The formula of a quasi-velocity, if it is one; a rate of a coordinate may stand for itself."""
    formula = formula_of(formula, f"The speed {speed}")
    if isinstance(speed, Rate) and speed.base in model.coordinates and formula == speed:
        return formula
    if isinstance(speed, Rate):
        raise FormulationError(
            f"The rate {speed} can only stand for itself, {{{speed.base}.rate: {speed.base}.rate}}; got "
            f"{quoted(formula)}. For another formula make a speed by appell.speeds('u')."
        )
    if not isinstance(speed, Speed):
        raise FormulationError(f"{speed!r} is not a speed; make it by appell.speeds({str(speed)!r}).")
    for other in (*model.coordinates, *model.states, *model.parameters, *model.inputs):
        if other.name == speed.name:
            both = f"The speed and the {other.kind} {speed.name!r} of {model.name!r}"
            raise FormulationError(f"{both} have one name, so that a start could mean either; rename one of them.")
    letters = letters_in(formula)
    for letter in letters:
        check_letter(model, letter, f"the speed {speed.name!r}")
        if isinstance(letter, Input):
            raise FormulationError(
                f"The speed {speed.name!r} contains the input {letter}; a speed is a formula in coordinates, rates, "
                "parameters, time and extra states."
            )
        if isinstance(letter, Rate) and letter.base in model.states:
            raise FormulationError(
                f"The speed {speed.name!r} contains {letter}, the rate of an extra state: {quoted(formula)}. A "
                "speed is of bodies, not of what flows in them; take body.velocity_at(point), or leave the rate out."
            )
        if isinstance(letter, Rate) and letter.order > 1:
            raise ModelError(f"The speed {speed.name!r} contains an acceleration: {quoted(formula)}.")
    if not any(isinstance(letter, Rate) for letter in letters):
        raise FormulationError(f"The speed {speed.name!r} = {quoted(formula)} contains no velocity.")
    return formula
