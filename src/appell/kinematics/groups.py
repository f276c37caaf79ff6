"""Dependent velocities that rows give one by one, or in small groups: what takes the fewest operations to solve.

A row that alone contains the length of a leg gives its rate at once; six rows that all contain the six rates of a plate
give them together, in 6^3 operations of long formulas. Which choice grows least is a matter of a per cent often enough.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.kinematics.split import Split, growths

ALIKE = 2.0  # growth against that of the calmest choice, up to which a choice is as good
PAIR = 2  # rates in a group that is solved as shortly as one by one


def in_small_groups(split: Split, jacobians: np.ndarray) -> Split:
    """Of choices that grow about as little, the one that the rows give in the smallest groups.

    One dependent velocity at a time is exchanged for a free one, as long as the groups become smaller.

    Args:
        split: The calmest choice.
        jacobians: de/dv at several states, of shape (k, rows, n).
    """
    rows, used = split.rows, jacobians[:, list(split.rows)]
    pattern, most = (used != 0).any(axis=0), ALIKE * growths(rows, [split.dependent], jacobians).max()
    chosen, steps = split.dependent, _steps(pattern[:, list(split.dependent)])
    while steps > len(rows) and np.isfinite(most):
        free = [i for i in range(pattern.shape[1]) if i not in chosen]
        rates = np.abs(np.linalg.solve(used[:, :, chosen], used[:, :, free])).min(axis=0)
        pairs = np.argwhere(rates * most >= 1)  # the one that becomes free grows by the inverse into the other
        others = (tuple(sorted({*chosen} - {chosen[i]} | {free[j]})) for i, j in pairs)
        fewer = {other: found for other in others if (found := _steps(pattern[:, list(other)])) < steps}
        growth = growths(rows, list(fewer), jacobians).max(axis=0) if fewer else np.zeros(0)
        good = [(found, g, other) for (other, found), g in zip(fewer.items(), growth, strict=True) if g <= most]
        if not good:
            break
        steps, _, chosen = min(good)
    return Split(rows, chosen)


def _steps(pattern: np.ndarray) -> int:
    """How many steps elimination takes in the groups that must be solved together, one after the other."""
    sparsity = ca.Sparsity.triplet(*pattern.shape, *(e.tolist() for e in np.nonzero(pattern)))
    sizes = np.diff(sparsity.btf()[3])
    return int(np.where(sizes > PAIR, sizes**3, sizes).sum())
