"""What is varied about a motion, and how the state it begins with changes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from appell.code.state import names_of
from appell.equations import Equations
from appell.errors import ModelError
from appell.model.symbols import key
from appell.model.values import unknown
from appell.motion.variation import row_slopes

if TYPE_CHECKING:
    from appell.motion.motion import Motion

LEFT = 1e-8  # share of what a varied number upsets in the rows that may be left of it


@dataclass(frozen=True)
class Varied:
    """One number that is varied: a parameter "p", an input that is held "w", or an entry of the first state "x".

    Attributes:
        label: What it is called in a table.
        kind: Which of these.
        place: Where it stands among them.
        size: What its change is measured in, so that slopes by grams are found as well as slopes by tons.
    """

    label: str
    kind: str
    place: int
    size: float = 1.0


def varied(motion: Motion, name: Any) -> Varied:
    """What is varied, by name or letter."""
    system, label = motion.system, key(name)
    equations, first = system.equations, motion.stretches[0].code.equations
    parameters, inputs = ([s.label for s in letters] for letters in (system.model.parameters, equations.inputs))
    states, following = [s.label for s in first.states], _following(first)
    free = [s for i, s in enumerate(states) if i not in following]
    if label in parameters:
        return Varied(label, "p", parameters.index(label), abs(system.values[label]) or 1.0)
    if label in [w.label for w in equations.closed]:
        raise ModelError(f"The input {label!r} is given by a formula; vary the parameters in it.")
    if label in inputs:
        if motion.info["law"]:
            raise ModelError(f"Python functions give the inputs of this motion, so {label!r} is not one number.")
        return Varied(label, "w", inputs.index(label), abs(system.values[label]) or 1.0)
    if label in free:
        return Varied(f"{label}.start", "x", states.index(label))
    if label in (*states, *names_of(system.model)):
        raise ModelError(
            f"{label!r} follows from others at the start; free are {', '.join(free)}. To choose others, write "
            "derive(model, GibbsAppell(dependent=...))."
        )
    raise ModelError(unknown(label, [*parameters, *inputs, *free], "parameter, input or entry of the first state"))


def first_slopes(motion: Motion, columns: Sequence[Varied]) -> np.ndarray:
    """dx/dtheta where a motion begins: what is free there is held, and what follows by rows follows.

    Args:
        motion: The motion.
        columns: What is varied.
    """
    stretch, where = motion.stretches[0], tuple((column.kind, column.place) for column in columns)
    equations, t = stretch.code.equations, float(stretch.times[0])
    if equations.formulation.completes or equations.model.programme:
        raise ModelError(
            "The slopes of extra states of programmes at the start are not known; sweep over values instead, "
            "appell.sweep(system, {...})."
        )
    mechanics, n, x = equations.mechanics, len(equations.coordinates), stretch.dense(stretch.times[:1])[:, 0]
    S = np.zeros((x.size, len(columns)))
    for j, column in enumerate(columns):
        if column.kind == "x":
            S[column.place, j] = column.size
    numbers = np.append(motion.system.p, [column.size for column in columns])
    following, any_of_them = _following(equations), not equations.coordinate_split.dependent
    if mechanics.position_rows and equations.formulation.projects:
        J, upset = (np.array(e) for e in row_slopes(mechanics, "position", where)(t, x[:n], S[:n], numbers))
        _follow(S[:n], J, upset, [i for i in range(n) if i in following or any_of_them], columns)
    if equations.chart.redundant and mechanics.row_names:
        rows = [i for i in range(len(mechanics.row_names)) if i not in mechanics.acceleration_rows]
        J, upset = (np.array(e)[rows] for e in row_slopes(mechanics, "velocity", where)(t, x, S, numbers))
        _follow(S[n:], J, upset, [i for i in range(n) if n + i in following or any_of_them], columns)
    return S


def _following(equations: Equations) -> set[int]:
    """Places in x of what follows from the rest of it by constraint rows, where coordinates were chosen to."""
    mechanics, n = equations.mechanics, len(equations.coordinates)
    dependent, x = equations.coordinate_split.dependent, mechanics.variables
    found = {i for i in dependent if ca.depends_on(mechanics.c, x.q[i])} if mechanics.position_rows else set()
    return found | ({n + i for i in dependent} if equations.chart.redundant else set())


def _follow(
    S: np.ndarray, J: np.ndarray, upset: np.ndarray, following: Sequence[int], columns: Sequence[Varied]
) -> None:
    """Let what follows follow by the rows J dx = -upset, as little as can be; what is varied itself stays."""
    for j, column in enumerate(columns):
        moved = [i for i in following if not (column.kind == "x" and S[i, j])]
        step = np.linalg.lstsq(J[:, moved], -upset[:, j], rcond=1e-9)[0]
        left = np.abs(J[:, moved] @ step + upset[:, j]).max(initial=0.0)
        if left > LEFT * np.abs(upset[:, j]).max(initial=0.0):
            raise ModelError(
                f"The constraints allow no start with another {column.label!r} while the other free values stay."
            )
        S[moved, j] += step
