r"""Identities between acceleration energies, kinetic energy and forces, evaluated on a robot.

For all k ≥ 1 and m ≥ k + 1, with Catalan's numbers $C_p = 1, 2, 5, 14, 42, \ldots$,
$$ Q^{(k-1)} = \frac{(k-1)!\,m!}{(m+k-1)!}\,\frac{\partial}{\partial q^{(m)}}
   \sum_{p=1}^{k} C_p\,\big[E_A^{(p)}\big]^{(m+k-2p-1)}, $$
and for all k, m ≥ 1
$$ Q^{(k-1)} = \binom{m+k-1}{m-1}^{-1}\Big\{\frac{\partial T^{(m+k-1)}}{\partial q^{(m)}}
   - \binom{m+k}{m}\frac{\partial T^{(k-1)}}{\partial q}\Big\}. $$
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb, factorial
from typing import Any

import casadi as ca
import numpy as np

from appell.errors import ModelError
from appell.graph.series import from_derivatives, to_derivatives
from appell.higher_order.dynamics import Dynamics
from appell.higher_order.expansion import expansion
from appell.kinematics.newton_euler import inverse
from appell.kinematics.skeleton import Skeleton
from appell.kinematics.skeleton_energies import Sums, energy_series
from appell.model.chain import Chain
from appell.model.values import whole

ENOUGH = 1e-9


def catalan(p: int) -> int:
    """C_p = (2p)!/(p! (p+1)!): 1, 2, 5, 14, 42, ... from p = 1 on."""
    p = whole("p", p, 0)
    return comb(2 * p, p) // (p + 1)


def unified(k: int, m: int) -> list[tuple[int, int, float]]:
    """The unified equation for Q^(k-1) as (p, order of the time derivative, coefficient).

    Args:
        k: One more than the derivative of Q.
        m: Order of the derivative of q that is differentiated by, at least k + 1.
    """
    k, m = whole("k", k), whole("m", m)
    if m < k + 1:
        raise ModelError(f"The unified equation holds for m >= k + 1 only; got k = {k}, m = {m}.")
    factor = factorial(k - 1) * factorial(m) / factorial(m + k - 1)
    return [(p, m + k - 2 * p - 1, factor * catalan(p)) for p in range(1, k + 1)]


@dataclass(frozen=True)
class Identities:
    """The result of `verify`.

    Attributes:
        model: Name of the chain.
        order: The highest k: forces up to Q^(k-1).
        states: How many random motions were tried.
        found: For each identity the largest disagreement of its sides, relative to its largest term.
    """

    model: str
    order: int
    states: int
    found: Mapping[str, float]

    @property
    def worst(self) -> float:
        """The largest disagreement."""
        return float(np.max([*self.found.values()]))

    @property
    def ok(self) -> bool:
        """Whether all identities hold to 1e-9."""
        return bool(self.worst <= ENOUGH)

    def __repr__(self) -> str:
        lines = [f"{self.model}: identities of order 1 to {self.order} at {self.states} random motions"]
        width = max(map(len, self.found))
        lines += [f"  {name.ljust(width)}  {value:.1e}" for name, value in self.found.items()]
        return "\n".join([*lines, f"  {'all hold' if self.ok else 'DISAGREEMENT'}: worst {self.worst:.1e}"])


def verify(
    chain: Chain, order: int = 3, *, values: Mapping[Any, float] | None = None, states: int = 5, seed: int = 0
) -> Identities:
    """Evaluate the identities of higher-order mechanics on a robot.

    Each compares Q, Q', ... of Newton and Euler's recursion with another way: sums over what the joints carry, the
    unified theorem, the kinetic-energy form, the short forms, the expansions; energies are differentiated by
    algorithmic differentiation.

    Args:
        chain: The robot.
        order: The highest k: forces up to Q^(k-1).
        values: Numbers of parameters; the chain's suggestions where none is given.
        states: How many random motions.
        seed: Seed of the random numbers.

    Example:
        >>> import appell as ap
        >>> ap.higher_order.verify(ap.library.planar_2r(), order=2).ok
        True
    """
    order, states, seed = whole("The order", order), whole("states", states), whole("seed", seed, 0)
    if order > 8:
        raise ModelError(f"The order of the identities is 8 at most; got {order!r}.")
    skeleton = Dynamics(chain, values=values).skeleton
    letters = _Letters(skeleton, order)
    motions = np.random.default_rng(seed).normal(size=(states, len(skeleton.joints), letters.highest + 1))
    gaps: dict[str, float] = {}
    sizes: dict[str, float] = {}
    for name, left, terms in _identities(letters, letters.differentiated(motions), motions, order):
        total = sum(terms[1:], terms[0])
        size, gap = max(float(np.max(np.abs(e))) for e in (left, *terms)), float(np.max(np.abs(left - total)))
        # One of the gradients of an energy may be nothing but rounding (dE/dq of a single hinge); all have one size.
        gaps[name] = float(np.maximum(gaps.get(name, 0.0), gap))
        sizes[name] = max(sizes.get(name, 0.0), size)
    found = {name: gap / (sizes[name] or 1.0) for name, gap in gaps.items()}
    return Identities(chain.name, order, states, found)


class _Letters:
    """q, q', ... of every joint on the graph, and the energies whose gradients are wanted.

    Args:
        skeleton: The tree.
        order: The highest k.
    """

    def __init__(self, skeleton: Skeleton, order: int) -> None:
        self.skeleton, self.order, self.highest = skeleton, order, max(2 * order, order + 2)
        n = len(skeleton.joints)
        self.rows = [[ca.SX.sym(f"q{i}_{r}") for r in range(self.highest + 1)] for i in range(n)]

    def _wanted(self) -> Iterator[tuple[int, int, int]]:
        """(p, order of the time derivative, r): all gradients that occur in the identities."""
        for k in range(1, self.order + 1):
            for m in _orders(k, self.order):
                yield from ((p, derivative, m) for p, derivative, _ in unified(k, m))
            for m in (1, 2):
                yield from ((0, m + k - 1, m), (0, k - 1, 0))
        for p in range(self.order + 1):
            yield from ((p, 0, r) for r in range(p + 2))
        if self.order >= 4:
            yield 1, 1, 0

    def differentiated(self, motions: np.ndarray) -> dict[tuple[int, int, int], np.ndarray]:
        """d [E_A^(p)]^(derivative) / d q^(r) at every motion, by reverse differentiation."""
        wanted = sorted(set(self._wanted()))
        series = [from_derivatives(row) for row in self.rows]
        results = []
        for p in range(self.order + 1):
            orders = sorted({derivative for q, derivative, _ in wanted if q == p})
            energies = to_derivatives(energy_series(self.skeleton, series, p, orders[-1] + 1))
            for derivative in orders:
                by = [r for q, d, r in wanted if (q, d) == (p, derivative)]
                letters = ca.vertcat(*[row[r] for r in by for row in self.rows])
                results.append(ca.densify(ca.gradient(ca.SX(energies[derivative]), letters)))
        column = ca.vertcat(*[x for row in self.rows for x in row])
        function = ca.Function("gradients", [column], [ca.vertcat(*results)])
        values = np.stack([np.array(function(motion.ravel())).ravel() for motion in motions], axis=-1)
        parts = np.split(values, len(wanted))
        return dict(zip(wanted, parts, strict=True))


def _orders(k: int, order: int) -> tuple[int, ...]:
    return (k + 1, k + 2) if k < order else (k + 1,)


def _identities(
    letters: _Letters, gradients: Mapping[tuple[int, int, int], np.ndarray], motions: np.ndarray, order: int
) -> Iterator[tuple[str, np.ndarray, list[np.ndarray]]]:
    """Name, left side, and the terms whose sum the right side is; joints by states."""
    skeleton = letters.skeleton
    rows = [[motions[:, i, r] for r in range(motions.shape[-1])] for i in range(len(skeleton.joints))]
    short = [row[: order + 2] for row in rows]
    series = [from_derivatives(row) for row in short]
    recursion = inverse(skeleton, series, gravity=False)
    forces = [_column(column, motions) for column in zip(*map(to_derivatives, recursion), strict=True)]
    sums = Sums(skeleton, short)
    for k in range(1, order + 1):
        Q, name = forces[k - 1], "Q" + "'" * (k - 1)
        yield f"{name} by sums over what each joint carries", Q, [_column(sums.force(k), motions)]
        for m in _orders(k, order):
            terms = [c * gradients[p, derivative, m] for p, derivative, c in reversed(unified(k, m))]
            yield f"{name} by the unified theorem, m = {m}", Q, terms
        for m in (1, 2):
            factor = 1 / comb(m + k - 1, m - 1)
            terms = [factor * gradients[0, m + k - 1, m], -factor * comb(m + k, m) * gradients[0, k - 1, 0]]
            known = {(1, 1): " (Nielsen)", (1, 2): " (Mangeron-Deleanu)"}.get((k, m), "")
            yield f"{name} by kinetic energy, m = {m}{known}", Q, terms
        if k <= 4:
            yield f"{name} by the short form", Q, _short(gradients, k)
    for p in range(order + 1):
        for r in range(p + 2):
            other = [_column(sums.gradient(p, r), motions)]
            yield f"gradients of E{p} by sums over what each joint carries", gradients[p, 0, r], other
    for p in range(1, min(order, 3) + 1):
        energy = np.asarray(energy_series(skeleton, series, p)[0])
        yield f"E{p} by its expansion", energy, [np.asarray(e) for e in expansion(skeleton, short, p).values()]


def _column(listed: Sequence[Any], motions: np.ndarray) -> np.ndarray:
    return np.stack([np.broadcast_to(np.asarray(e, dtype=float), motions.shape[:1]) for e in listed])


def _short(g: Mapping[tuple[int, int, int], np.ndarray], k: int) -> list[np.ndarray]:
    """dE1/dq'' for Q, dE2/dq''' + 1/2 dE1/dq' for Q', and so on; the last one contains d(E1')/dq = (dE1/dq)'."""
    match k:
        case 1:
            return [g[1, 0, 2]]
        case 2:
            return [g[2, 0, 3], g[1, 0, 1] / 2]
        case 3:
            return [g[3, 0, 4], 2 * g[2, 0, 2] / 3, g[1, 0, 0]]
        case _:
            return [g[4, 0, 5], 3 * g[3, 0, 3] / 4, 2 * g[2, 0, 1] / 3, g[1, 1, 0]]
