"""Corners: whether the equations have a derivative at a point where |a|, sign, min, max or a condition switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from appell.errors import CompileError, EquilibriumError
from appell.graph.kinks import Modal, has_kinks
from appell.graph.raising import raised
from appell.model.symbols import t
from appell.motion.kink_names import vanishing

if TYPE_CHECKING:
    from appell.analysis.tangent import Tangent

SIDES = 64  # directions in which the neighbourhood of the point is looked at


def check_smooth(tangent: Tangent) -> None:
    """Raise if the equations jump or turn a corner at the point.

    A switch at the point is no harm in itself: v|v| has a derivative where v = 0. So x' and its derivatives are
    compared on all sides of the point.

    Args:
        tangent: The equations about the point.
    """
    eqs = tangent.equations
    rhs = ca.Function("rhs", eqs.arguments, [eqs.xdot])
    if not has_kinks(rhs):
        return
    try:
        modal = Modal.of(rhs)
    except CompileError:  # floor and its like, which switch at countless places
        return
    at = tangent.numbers
    arguments = [modal.t, modal.x, modal.w, modal.p, modal.s]
    near, sizes = ca.vertcat(modal.x, modal.w), np.maximum(np.abs(np.concatenate([at[1], at[2]])), 0.1)
    switches = ca.Function("switches", arguments, [modal.g, ca.densify(ca.jacobian(modal.g, near))])
    parts = [modal.xdot, *(ca.jacobian(modal.xdot, e) for e in (modal.x, modal.w))]
    function = ca.Function("sides", arguments, [ca.densify(e) for e in parts])
    rng, E = np.random.default_rng(4), tangent.basis
    found: dict[tuple[float, ...], list[np.ndarray]] = {}
    closed = np.ones(modal.g.numel(), dtype=bool)
    for _ in range(SIDES):
        step = np.concatenate([E @ rng.normal(size=E.shape[1]), rng.normal(size=len(at[2]))])
        modes = np.ones(modal.g.numel())
        for i in range(modes.size):  # a switch may depend on those before it
            g, slope = (np.array(e)[i] for e in switches(*at, modes))
            level = 1e-9 * float(np.linalg.norm(slope * sizes))
            if abs(g[0]) <= level and level > 0:
                closed[i] = False
                modes[i] = 1.0 if slope @ step > 0 else -1.0
            else:
                modes[i] = 1.0 if g[0] > 0 else -1.0
        if tuple(modes) not in found:
            found[tuple(modes)] = [np.array(e) for e in function(*at, modes)]
        if np.all(closed):
            return
    first, *others = found.values()
    if not any(_apart(first, other) for other in others):
        return
    base, switched = np.array(next(iter(found))), [int(i) for i in np.flatnonzero(~closed)]
    flipped = {i: function(*at, np.where(np.arange(base.size) == i, -base, base)) for i in switched}
    guilty = [i for i in switched if _apart(first, [np.array(e) for e in flipped[i]])] or switched
    letters = [[t], list(eqs.states), list(eqs.inputs), list(eqs.model.parameters)]
    plain = [i for i in guilty if not ca.depends_on(modal.g[i], modal.s)]
    formulas = raised(modal.g[plain], arguments[:4], letters) if plain else []
    where = " and ".join(map(vanishing, formulas)) or "one of them switches"
    how = "jump" if any(_apart(first[:1], other[:1]) for other in others) else "turn a corner"
    raise EquilibriumError(
        f"{tangent.at.model.name!r} has no first approximation here: its equations {how} where {where}. Linearise "
        "where nothing switches, or put something smooth in place of what does (viscous friction, a tanh)."
    )


def _apart(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Whether values or derivatives differ by more than rounding."""
    scale = max(float(np.max(np.abs(e), initial=0.0)) for e in one)
    return not all(np.allclose(a, b, rtol=1e-7, atol=1e-9 * scale) for a, b in zip(one, other, strict=True))
