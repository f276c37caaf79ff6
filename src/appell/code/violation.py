"""How far states are off their constraints, in units of what a start may leave of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from appell.code.bindings import Bindings
from appell.code.state import State
from appell.graph.numeric import SideBySide
from appell.kinematics.consistency import NOISE, sizes, tolerances

if TYPE_CHECKING:
    from appell.code.system import System


def off_in_positions(
    these: Bindings, t: float, q: np.ndarray, z: np.ndarray, noise: float = NOISE
) -> tuple[np.ndarray, np.ndarray]:
    """What positions leave of rows and lower levels, and that in units of what they may leave."""
    mechanics = these.equations.mechanics
    found, slopes = SideBySide(mechanics.levels["position"])(len(q), t, q, these.p, z)
    found = found[:, :, 0]
    off = _measured(found, tolerances(slopes, 0.1 * sizes(slopes, q), noise))
    far = np.flatnonzero((off > 1).any(axis=1))  # of the others the slopes say enough
    if far.size:
        (terms,) = SideBySide(mechanics.position_terms)(far.size, t, q[far], these.p[far], z[far])
        off[far] = _measured(found[far], tolerances(slopes[far], terms[:, :, 0], noise))
    return found, off


def off_in_rates(
    these: Bindings, t: float, q: np.ndarray, v: np.ndarray, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same of velocities."""
    found, slopes = SideBySide(these.equations.mechanics.levels["velocity"])(len(q), t, q, v, z, these.p)
    found = found[:, :, 0]
    with np.errstate(invalid="ignore"):  # what has no slope is far off
        terms = sizes(slopes, v) + np.abs(found - (slopes @ v[:, :, None])[:, :, 0])
    return found, _measured(found, tolerances(slopes, terms))


def _measured(found: np.ndarray, units: np.ndarray) -> np.ndarray:
    """Sizes in units; infinite where there is no number, or nothing is allowed."""
    size = np.abs(found)
    off = np.divide(size, units, out=np.where(size > 0, np.inf, 0.0), where=units > 0)
    return np.where(np.isfinite(size), off, np.inf)


def violations(these: Bindings, t: float, array: np.ndarray, limit: float) -> dict[int, str]:
    """The rows that states violate most, in words, of those that do by more than so many times what a start may leave.

    Args:
        these: The systems.
        t: Time.
        array: Their states (q, q', z), a row each.
        limit: How many times.
    """
    mechanics, n = these.equations.mechanics, len(these.equations.coordinates)
    q, v, z = array[:, :n], array[:, n : 2 * n], array[:, 2 * n :]
    names, found, off = [mechanics.row_names[i] for i in mechanics.position_rows], [], []
    if names:
        left, far = off_in_positions(these, t, q, z)
        found, off = [left[:, : len(names)]], [far[:, : len(names)]]
    if mechanics.row_names:
        rates = [i for i in range(len(mechanics.row_names)) if i not in mechanics.acceleration_rows]
        left, far = off_in_rates(these, t, q, v, z)
        names += [mechanics.row_names[i] + ".rate" * (i in mechanics.position_rows) for i in rates]
        found, off = [*found, left[:, rates]], [*off, far[:, rates]]
    if not names:
        return {}
    found, off = np.concatenate(found, axis=1), np.concatenate(off, axis=1)
    worst = off.argmax(axis=1)
    far = np.flatnonzero(off[np.arange(len(off)), worst] > limit)
    return {int(i): f"the constraint {names[worst[i]]!r} by {found[i, worst[i]]:.3g}" for i in far}


def violated(system: System, state: State, limit: float) -> str | None:
    """The same of one state; None if it does not.

    Args:
        system: The system.
        state: The state.
        limit: How many times.
    """
    return violations(Bindings.alone(system), state.t, state.array[None, :], limit).get(0)
