"""The mechanism that is to follow a plan: the model without its programme, with drives in place of it."""

from __future__ import annotations

from collections.abc import Iterable

from appell.code.multiplier_start import rate_names
from appell.errors import ModelError
from appell.model.force import Generalized
from appell.model.model import Model
from appell.model.programme import Programmed, programme_states
from appell.model.symbols import Coordinate, inputs


def plant(model: Model, without: Iterable[str] = (), joints: Iterable[Coordinate] | None = None) -> Model:
    """A model without its programmed constraints, with an input along each joint.

    Args:
        model: A model with programmed constraints; material ones stay.
        without: Names of forces that are left out, such as the drive of the programme.
        joints: The coordinates that are driven; all if left out. The input along q is called `drive_q`.

    Returns:
        The model that `track` can be given.

    Example:
        >>> import appell as ap
        >>> arm = plant(ap.library.three_link(), without=["drive"])
        >>> [str(w) for w in arm.inputs]
        ['drive_psi1', 'drive_psi2', 'drive_z3']
    """
    left = list(without)
    known = [force.name for force in model.forces]
    for name in left:
        if name not in known:
            raise ModelError(f"{name!r} is no force of {model.name!r}; there are: {', '.join(known) or 'none'}.")
    driven = list(joints) if joints is not None else list(model.coordinates)
    motors = Generalized({q: inputs(f"drive_{q.name}") for q in driven}, "motors")
    forces = [force for force in model.forces if force.name not in left]
    rows = [c for c in model.constraints if not isinstance(c, Programmed)]
    gone = {*(z.label for z in programme_states(model.programme, model.coordinates)), *rate_names(model)}
    start = {name: value for name, value in model.start.items() if name not in gone}
    return model.rebuilt(forces=(*forces, motors), constraints=rows, start=start)
