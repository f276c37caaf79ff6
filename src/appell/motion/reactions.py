"""Forces of constraint, computed after the fact from a motion that never knew them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.errors import ModelError
from appell.graph.kinks import has_kinks
from appell.graph.numeric import SideBySide
from appell.kinematics.saddle import Alike, accelerations_and_multipliers
from appell.model.values import unknown
from appell.motion.modes import in_modes
from appell.motion.stretch import Stretch
from appell.once import once

if TYPE_CHECKING:
    from appell.motion.motion import Motion

TAKEN = ("t", "row", "coordinate", "force")  # names of axes, and of the generalized forces


def reactions(motion: Motion, constraint: str | None) -> Any:
    """Multipliers and generalized forces of the constraints along a motion.

    The multiplier of a row is the force along it: of a rolling row the contact force in that direction, of a closed
    loop the joint force. The generalized force of a row is its multiplier times the row's gradient.

    Args:
        motion: The motion.
        constraint: Name of a constraint or of one of its rows; all if left out.

    Returns:
        An xarray Dataset: each row's multiplier under its name, and `force` over row, coordinate and time.
    """
    import xarray

    system = motion.system
    mechanics, model = system.equations.mechanics, system.model
    names = list(mechanics.row_names)
    if not names:
        raise ModelError(f"{model.name!r} has no constraints, hence no reactions.")
    owners = [c.name for c in model.constraints for row in c.rows if row.order <= 2]
    known = list(dict.fromkeys((*owners, *names)))
    if constraint is not None and constraint not in known:
        raise ModelError(unknown(str(constraint), known, f"constraint of {model.name!r}"))
    chosen = [i for i, name in enumerate(names) if constraint in (None, name, owners[i])]
    if taken := [names[i] for i in chosen if names[i] in TAKEN]:
        raise ModelError(
            f"The constraint {taken[0]!r} has a name that a table of reactions needs for other values "
            f"({', '.join(TAKEN)}); give it another."
        )
    times = motion.times
    values, gradients = multipliers(motion, times)
    forces = np.moveaxis(gradients[:, chosen] * values[:, chosen, None], 0, -1)
    data = {names[i]: ("t", values[:, i]) for i in chosen}
    data["force"] = (("row", "coordinate", "t"), forces)
    labels = {"t": times, "row": [names[i] for i in chosen], "coordinate": [s.label for s in model.coordinates]}
    return xarray.Dataset(data, labels)


def multipliers(motion: Motion, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers of all rows over (time, row), and the rows' gradients over (time, row, coordinate).

    Args:
        motion: The motion.
        times: At which moments.
    """
    system = motion.system
    mechanics, model = system.equations.mechanics, system.model
    machine = Machine(mechanics.functions["multiplier"], simd=False)
    inputs = motion.inputs_at(times)
    n = len(model.coordinates)
    values = np.empty((times.size, len(mechanics.row_names)))
    gradients = np.empty((*values.shape, n))
    pushes = dict[int, np.ndarray]()
    for stretch, here in motion.located(times) if motion.stretches else ():  # a file has none
        x, w = motion.sample(stretch, times[here]), motion.open_inputs(stretch, times[here])
        F = forces_in_modes(stretch, times[here], x.T, w)
        pushes.update({} if F is None else zip(here.tolist(), F, strict=True))
    alike = mechanics.variables.quaternions
    for k, (t, row) in enumerate(zip(times, motion.states(times), strict=True)):
        q, v, z = row[:n], row[n : 2 * n], row[2 * n :]
        values[k], gradients[k] = multipliers_at(
            machine, t, q, v, z, inputs[k], system.p, alike=alike, pushes=pushes.get(k)
        )
    return values, gradients


def forces_in_modes(stretch: Stretch, times: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
    """F of M a - J' lambda = F at states of a stretch, a row each: of friction at rest what keeps it there.

    None if it has no kinks, so that it is as it is written.
    """
    function = _moded(stretch.code, stretch.family) if stretch.powers is not None else None
    return None if function is None else function(times.size, times[:, None], x, w, stretch.p)[0][:, :, 0]


@once
def _moded(code: Code, family: tuple[int, ...]) -> SideBySide | None:
    """F as a function of (t, x, w, (p, s))."""
    equations = code.equations
    F = equations.in_state(equations.mechanics.lagrange[1])
    function = ca.Function("F", equations.arguments, [ca.densify(F)])
    moded = in_modes(code, function, family) if has_kinks(function) else None
    return None if moded is None else SideBySide(moded)


def multipliers_at(
    machine: Machine, *state: Any, alike: Alike, pushes: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The multipliers of all rows and the rows' gradients J at t, q, v, z, w, p; the smallest if rows are redundant.

    Args:
        machine: Evaluates M, F, J, gamma and C of M a - J' lambda = F, C a = gamma.
        state: t, q, v, z, w, p.
        alike: Coordinates that are measured alike.
        pushes: F, if it is not that of the formulas.
    """
    M, F, J, gamma, C = machine(*state)
    return accelerations_and_multipliers(M, J, C, F[:, 0] if pushes is None else pushes, gamma[:, 0], alike)[1], J
