"""The start of a plan: moved onto the programme at every level, positions, velocities, multipliers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from appell.code.multiplier_start import complete, rate_names
from appell.code.state import State, names_of
from appell.code.system import System
from appell.errors import InconsistentStartError, ModelError
from appell.kinematics.consistency import contradicting, project_positions
from appell.kinematics.saddle import REGULAR, condition
from appell.model.values import check_kind, number, numbers, unknown

MOVED = 1e-9


def projected(system: System, start: Mapping[Any, float] | None = None, t: float = 0.0) -> State:
    r"""The state on the programme nearest to a given one.

    Positions by the smallest change $|\Delta q|$ (Newton's method), velocities by the smallest change in the metric of
    the mass matrix, $v - M^{-1}J^T(JM^{-1}J^T)^{-1}e$; then the multipliers of programmes of order 3 and more.

    Args:
        system: The system.
        start: Values by name; the model's suggestion fills the rest.
        t: Time.

    Returns:
        The state; `changes` says what was moved.
    """
    check_kind(system, System, "a system, compile(derive(model))")
    t = number("t", t)
    model, mechanics = system.model, system.equations.mechanics
    given = {**model.start, **numbers(start)}
    known = (*names_of(model), *rate_names(model))
    for label in given:
        if label not in known:
            raise ModelError(unknown(label, known, f"entry of the state of {model.name!r}"))
    wanted = np.array([given.get(name, 0.0) for name in names_of(model)])
    n = len(model.coordinates)
    q, left = project_positions(mechanics, t, wanted[:n], system.p, levels=wanted[2 * n :])
    if left > MOVED:
        names = (*(mechanics.row_names[i] for i in mechanics.position_rows), *mechanics.level_names[0])
        residual = np.array(mechanics.levels["position"](t, q, system.p, wanted[2 * n :])[0]).ravel()
        raise InconsistentStartError(
            f"No position satisfies the programme {names[int(np.argmax(np.abs(residual)))]!r} near the start (nearest "
            f"miss {left:.3g}): it may lie outside the workspace, or contradict another row. Give a start closer to it."
        )
    q = _nearest(system, t, wanted[:n], q, wanted[2 * n :])
    v, z = _velocities(system, t, q, wanted[n : 2 * n], wanted[2 * n :]), wanted[2 * n :]
    if model.programme:
        z = complete(system.equations, system.values, t=t, q=q, v=v, z=z, keep=given, levels=True)
    array = np.concatenate([q, v, z])
    changes = {
        name: (float(a), float(b))
        for name, a, b in zip(names_of(model), wanted, array, strict=True)
        if abs(a - b) > MOVED and name in given
    }
    return State(model, array, t, changes)


def _nearest(system: System, t: float, wanted: np.ndarray, q: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The point of the programme that is nearest to a given one: q - wanted is normal to it."""
    mechanics, best = system.equations.mechanics, q
    for _ in range(100):
        c, J = (np.array(part) for part in mechanics.levels["position"](t, q, system.p, z))
        if not c.size:
            return q
        following = wanted + np.linalg.lstsq(J, J @ (q - wanted) - c[:, 0], rcond=1e-10)[0]
        step = float(np.max(np.abs(following - q)))
        q = following
        if step < 1e-13 * max(1.0, float(np.max(np.abs(q)))):
            break
    left = np.array(mechanics.levels["position"](t, q, system.p, z)[0])
    return q if np.max(np.abs(left), initial=0.0) < 1e-12 else best


def _velocities(system: System, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray) -> np.ndarray:
    mechanics = system.equations.mechanics
    if not mechanics.row_names and not mechanics.level_names[1]:
        return v
    w = np.array([system.values.get(s.label, 0.0) for s in system.model.inputs])
    M = np.array(mechanics.functions["multiplier"](t, q, v, z, w, system.p)[0])
    if condition(M) > REGULAR:
        M = np.eye(q.size)
    v, at_rest = v.copy(), not np.any(v)
    for _ in range(40):
        e, J = (np.array(part) for part in mechanics.levels["velocity"](t, q, v, z, system.p))
        if np.max(np.abs(e), initial=0.0) <= 1e-14 * max(1.0, float(np.max(np.abs(v)))):
            break
        spread = np.linalg.solve(M, J.T)
        v -= spread @ np.linalg.lstsq(J @ spread, e[:, 0], rcond=1e-10)[0]
    left = float(np.max(np.abs(e), initial=0.0))
    if not left < MOVED * max(1.0, float(np.max(np.abs(v)))):
        names = (*mechanics.row_names, *mechanics.level_names[1])
        worst = int(np.argmax(np.abs(e)))
        if against := contradicting(e[:, 0], J, names):
            cause = f"there the rows {', '.join(against)} contradict each other"
        elif at_rest:
            cause = "from rest none is found; give velocities near the wanted ones"
        else:
            cause = "its branch may be elsewhere; give velocities nearer to it"
        raise InconsistentStartError(
            f"No velocities satisfy the programme {names[worst]!r} at the start (left over {left:.3g}); {cause}."
        )
    return v
