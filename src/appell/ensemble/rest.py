"""Lanes that come to rest where a square root vanishes, by the rule of single runs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from appell.ensemble.kernel import Kernel
from appell.motion.arrival import Arrival, entering
from appell.motion.attempt import GROW


def resting_lanes(k: Kernel, V: np.ndarray, W: np.ndarray, P: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which lanes come to rest in a step before their end; columns (x, t) of that place; when they come beside it.

    Args:
        k: Their kernel.
        V: Their columns before the step.
        W: Those behind it.
        P: Their numbers.
    """
    machine, n = k.machines.get("approach"), k.n + 1
    if machine is None:
        return np.zeros(0, dtype=int), np.empty((n, 0)), np.zeros(0)
    none = np.zeros((machine.rows - n, V.shape[1]))
    before, after = (machine.some(np.concatenate([columns[:n], none]), P)[n + 3 :] for columns in (V, W))
    entered = entering(before, after, V[k.room] >= GROW)
    here = np.flatnonzero(entered.any(axis=0))
    chosen, numbers = entered[:, here].astype(float), P[:, here]

    def look(Y: np.ndarray, which: np.ndarray) -> Sequence[np.ndarray]:
        found = machine.some(np.concatenate([Y, chosen[:, which]]), numbers[:, which])
        return found[:n], *found[n : n + 3]

    found = Arrival.in_step(look, V[:n, here], W[:n, here])
    rests = found.rests & (found.there[-1] < numbers[k.setting["end"]])
    return here[rests], found.there[:, rests], found.near[rests]
