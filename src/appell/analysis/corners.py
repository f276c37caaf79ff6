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
    sides = _Sides(modal, tangent)
    first, *others = sides.found.values()
    if not any(_apart(first, other) for other in others):
        return
    letters = [[t], list(eqs.states), list(eqs.inputs), list(eqs.model.parameters)]
    plain = [i for i in sides.guilty if not ca.depends_on(modal.g[i], modal.s)]
    formulas = raised(modal.g[plain], [modal.t, modal.x, modal.w, modal.p], letters) if plain else []
    where = " and ".join(map(vanishing, formulas)) or "one of them switches"
    how = "jump" if any(_apart(first[:1], other[:1]) for other in others) else "turn a corner"
    raise EquilibriumError(
        f"{tangent.at.model.name!r} has no first approximation here: its equations {how} where {where}. Linearise "
        "where nothing switches, or put something smooth in place of what does (viscous friction, a tanh)."
    )


class _Sides:
    """The equations on all sides of a point.

    Args:
        modal: They, with their kinks taken out.
        tangent: They about the point.

    Attributes:
        switched: Which kinks switch at the point.
        found: x' and its derivatives by x and w, by the modes in which it goes on from there.
    """

    def __init__(self, modal: Modal, tangent: Tangent) -> None:
        self._at = at = tangent.numbers
        arguments, near = [modal.t, modal.x, modal.w, modal.p, modal.s], ca.vertcat(modal.x, modal.w)
        parts = [modal.xdot, *(ca.jacobian(modal.xdot, e) for e in (modal.x, modal.w))]
        self._parts = ca.Function("sides", arguments, [ca.densify(e) for e in parts])
        self._switches = ca.Function("switches", arguments, [modal.g, ca.densify(ca.jacobian(modal.g, near))])
        self._sizes = np.maximum(np.abs(np.concatenate([at[1], at[2]])), 0.1)
        self.switched = np.zeros(modal.g.numel(), dtype=bool)
        self.found: dict[tuple[float, ...], list[np.ndarray]] = {}
        rng, E = np.random.default_rng(4), tangent.basis
        for _ in range(SIDES):
            modes = self._modes(np.concatenate([E @ rng.normal(size=E.shape[1]), rng.normal(size=len(at[2]))]))
            if tuple(modes) not in self.found:
                self.found[tuple(modes)] = self._looked(modes)
            if not self.switched.any():
                break

    def _modes(self, step: np.ndarray) -> np.ndarray:
        """The modes on the side to which a step leads."""
        modes = np.ones(self.switched.size)
        for i in range(modes.size):  # a switch may depend on those before it
            g, slope = (np.array(e)[i] for e in self._switches(*self._at, modes))
            level = 1e-9 * float(np.linalg.norm(slope * self._sizes))
            here = abs(g[0]) <= level and level > 0
            self.switched[i] |= here
            modes[i] = 1.0 if (slope @ step if here else g[0]) > 0 else -1.0
        return modes

    def _looked(self, modes: np.ndarray) -> list[np.ndarray]:
        return [np.array(e) for e in self._parts(*self._at, modes)]

    @property
    def guilty(self) -> list[int]:
        """Kinks that make a difference by themselves; all that switch if none does."""
        (modes, first), switched = next(iter(self.found.items())), np.flatnonzero(self.switched).tolist()
        turned = np.where(np.eye(len(modes), dtype=bool), -np.array(modes), modes)  # one mode after the other
        return [i for i in switched if _apart(first, self._looked(turned[i]))] or switched


def _apart(one: list[np.ndarray], other: list[np.ndarray]) -> bool:
    """Whether values or derivatives differ by more than rounding."""
    scale = max(float(np.max(np.abs(e), initial=0.0)) for e in one)
    return not all(np.allclose(a, b, rtol=1e-7, atol=1e-9 * scale) for a, b in zip(one, other, strict=True))
