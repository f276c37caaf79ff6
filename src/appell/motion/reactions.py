"""Forces of constraint, computed after the fact from a motion that never knew them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from appell.errors import ModelError
from appell.model.values import unknown
from appell.motion.ledger import Ledger

if TYPE_CHECKING:
    from appell.motion.motion import Motion


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
    known = [*dict.fromkeys(owners), *names]
    if constraint is not None and constraint not in known:
        raise ModelError(unknown(constraint, known, f"constraint of {model.name!r}"))
    chosen = [i for i, name in enumerate(names) if constraint in (None, name, owners[i])]
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
    ledger = Ledger(mechanics, system.equations.split.rows)
    inputs = motion.inputs_at(times) if model.inputs else np.zeros((times.size, 0))
    n = len(model.coordinates)
    values = np.empty((times.size, len(mechanics.row_names)))
    gradients = np.empty((*values.shape, n))
    for k, (t, row) in enumerate(zip(times, motion.states(times), strict=True)):
        q, v, z = row[:n], row[n : 2 * n], row[2 * n :]
        values[k] = ledger.multipliers(t, q, v, z, inputs[k], system.p)
        gradients[k] = np.array(mechanics.functions["multiplier"](t, q, v, z, inputs[k], system.p)[2])
    return values, gradients
