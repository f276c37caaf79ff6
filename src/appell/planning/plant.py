"""The mechanism that is to follow a plan: the model without its programme, with drives in place of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from appell.code.multiplier_start import rate_names
from appell.control.inverse_dynamics import InverseDynamics
from appell.kinematics.consistency import suggested, suggested_start
from appell.model.force import FORCES, Generalized
from appell.model.model import Model
from appell.model.programme import Programmed, programme_states
from appell.model.symbols import Coordinate, inputs
from appell.model.values import check_kind, chosen

REACHED = 1e-9  # of a unit force along a coordinate: what the inputs may leave of it


def plant(
    model: Model, without: Iterable[str] = (), joints: Iterable[Coordinate] | None = None, given: Iterable[Any] = ()
) -> Model:
    """A model without its programmed constraints, with an input along each joint that no input of its own drives.

    Args:
        model: A model with programmed constraints; material ones stay.
        without: Names of forces that are left out, such as the drive of the programme.
        joints: The coordinates that are driven; all if left out. An input that is added along q is called `drive_q`.
        given: Inputs of the model that keep given values, such as loads: they drive nothing.

    Returns:
        The model that `track` can be given.

    Example:
        >>> import appell as ap
        >>> arm = plant(ap.library.three_link(), without=["drive"])
        >>> [str(w) for w in arm.inputs]
        ['drive_psi1', 'drive_psi2', 'drive_z3']
        >>> [str(w) for w in plant(ap.library.planar_2r()).inputs]
        ['tau1', 'tau2']
    """
    check_kind(model, Model, "a model with programmed constraints")
    left = chosen(without, [force.name for force in model.forces], f"force of {model.name!r}")
    forces = [force for force in model.forces if force.name not in left]
    rows = [c for c in model.constraints if not isinstance(c, Programmed)]
    gone = {*(z.label for z in programme_states(model.programme, model.coordinates)), *rate_names(model)}
    start = {name: value for name, value in model.start.items() if name not in gone}
    free = model.rebuilt(forces=forces, constraints=rows, start=start)
    labels = [q.label for q in model.coordinates]
    named = labels if joints is None else chosen(joints, labels, f"coordinate of {model.name!r}")
    driven = [model.coordinates[labels.index(label)] for label in named]
    loads = chosen(given, [w.label for w in model.inputs], f"input of {model.name!r}")
    idle = [q for q in driven if q not in _driven(free, loads)]
    motors = (
        [Generalized({q: inputs(f"drive_{q.name}", FORCES.get(q.unit, "")) for q in idle}, "motors")] if idle else []
    )
    return model.rebuilt(forces=(*forces, *motors), constraints=rows, start=start)


def _driven(model: Model, given: Sequence[str]) -> set[Coordinate]:
    """Coordinates along which the inputs can push at will, apart from reactions: where e_q is in the span of S, J'.

    Asked at one configuration: the suggested start if there are rows, else an arbitrary one, which is never singular.
    """
    free = [i for i, w in enumerate(model.inputs) if w.label not in given]
    if not free:
        return set()
    rng = np.random.default_rng(1)
    numbers = {s.label: model.values.get(s.label, rng.uniform(0.5, 1.5)) for s in model.parameters}
    q, v = suggested_start(model) if model.rows else rng.uniform(0.5, 1.5, (2, len(model.coordinates)))
    z = suggested(model, model.states)
    _, _, S, J = InverseDynamics(model, numbers).matrices(0.0, q, v, z)
    pushes = np.hstack([S[:, free], J.T])
    sizes = np.linalg.norm(pushes, axis=0)
    pushes = pushes / np.where(sizes > 0, sizes, 1.0)
    u, values, _ = np.linalg.svd(pushes)
    outside = u[:, int(np.sum(values > REACHED)) :]
    return {q for q, rest in zip(model.coordinates, outside, strict=True) if np.linalg.norm(rest) <= REACHED}
