"""Which choice of rows and dependent velocities fits a state: the one in use, or another."""

from __future__ import annotations

import numpy as np

from appell.code.code import Code
from appell.code.state import State
from appell.errors import InconsistentStartError
from appell.kinematics.consistency import jacobian_at
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.kinematics.typical import row_sizes, spare_only_here
from appell.once import once

_row_sizes = once(row_sizes)


def spare_sizes(code: Code) -> np.ndarray | None:
    """The sizes of the rows where some are left out that may have to be others elsewhere; else None."""
    mechanics = code.equations.mechanics
    if len(code.equations.split.rows) == len(mechanics.row_names):
        return None
    sizes, settled = _row_sizes(mechanics)
    return None if settled else sizes


def fitting_code(code: Code, state: State, p: np.ndarray, patience: float | None = None) -> Code:
    """The code in use if its choice of rows and speeds is good enough at a state, else that of the best choice.

    Args:
        code: The code in use.
        state: The state.
        p: Parameters.
        patience: Growth of speeds into rates, against the best choice, that is good enough; the formulation's if left
            out.

    Raises:
        InconsistentStartError: At a singular place, where a row says nothing that it says right beside it.
    """
    equations, split, sizes = code.equations, code.equations.split, spare_sizes(code)
    if not equations.mechanics.row_names or (equations.formulation.fixed and sizes is None):
        return code
    rows_by = equations.formulation.rows_by
    jacobian = jacobian_at(equations.mechanics, state.t, state.q, state.v, state.z, p, rows_by)
    best = Split.at(jacobian, rows=split.rows, sizes=sizes)
    if len(best.rows) < len(split.rows) and np.isfinite(jacobian).all():
        _refuse_singular(equations.mechanics, state, p, best.rows)
    if equations.formulation.fixed or not split.dependent:  # only the right rows are needed
        if len(best.rows) == len(split.rows):
            best = Split(best.rows, split.dependent)
        elif equations.formulation.fixed:
            return code
        return code if best.rows == split.rows else code.with_split(best)
    patient = (equations.formulation.patience if patience is None else patience) * best.growth(jacobian)
    if split.growth(jacobian) <= patient and best.rows == split.rows:
        return code
    return code if len(best.rows) >= len(equations.model.coordinates) else code.with_split(best)


def _refuse_singular(mechanics: Mechanics, state: State, p: np.ndarray, kept: tuple[int, ...]) -> None:
    """Raise where fewer rows are independent than right beside: without them the motion would leave the constraints."""
    lost = spare_only_here(mechanics, state.t, state.q, state.v, state.z, p, kept)
    if lost:
        raise InconsistentStartError(
            f"At {state!r} the constraint {', '.join(map(repr, lost))} restricts nothing that the others leave free, "
            "and right beside it does: a singular place, from which the motion could go on in more ways than one. "
            "Start a little beside it, on the way you mean."
        )
