"""The dynamics of a chain on the graph: rules from the letters q, q', ..., q^(K) of every coordinate to results.

A rule takes a row of letters for each coordinate and gives a list of scalars; `Dynamics` makes functions of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from appell.graph.series import Series, from_derivatives, to_derivatives
from appell.higher_order.expansion import expansion
from appell.higher_order.friction import Friction, friction_series
from appell.kinematics.newton_euler import NewtonEuler, mass_matrix
from appell.kinematics.skeleton import Skeleton
from appell.kinematics.skeleton_energies import Sums, energy_series
from appell.model.coupling import Coupling

Letters = Sequence[Sequence[Any]]


class Acting(NamedTuple):
    """What acts."""

    inertia: bool = True
    gravity: bool = True
    payload: bool = True
    friction: bool = True


class Rules:
    """The rules of one chain.

    Args:
        skeleton: Its joint frames.
        coupling: How the variables of the joints follow from the coordinates.
        payload: Force and moment of the tool on its surroundings with their derivatives, six rows, or None.
        friction: Friction of the joints, or None.
    """

    def __init__(
        self, skeleton: Skeleton, coupling: Coupling, payload: list[list[float]] | None, friction: Friction | None
    ) -> None:
        self.skeleton, self.coupling, self.payload, self.friction = skeleton, coupling, payload, friction

    @property
    def everything(self) -> Acting:
        """All that there is."""
        return Acting(payload=self.payload is not None, friction=self.friction is not None)

    def driving(self, rows: Letters, K: int, acting: Acting, rubbing_only: bool = False) -> list[Any]:
        """tau, tau', ..., tau^(K-2) of every coordinate, one after the other; with `rubbing_only` the part of friction.

        Args:
            rows: The letters.
            K: The highest derivative of q.
            acting: What acts.
            rubbing_only: Whether friction alone is wanted.
        """
        q = self._series(rows)
        recursion = self._recursion(K, acting)
        found = [recursion.extend(q, k) for k in range(K - 1)]
        tau = [list(series) for series in zip(*found, strict=True)]
        if acting.friction and self.friction is not None:
            rubbed = friction_series(self.friction, recursion, q, K - 1)
            both = [[x + y for x, y in zip(*pair, strict=True)] for pair in zip(tau, rubbed, strict=True)]
            tau = rubbed if rubbing_only else both
        columns = [self.coupling.forces(column) for column in zip(*map(to_derivatives, tau), strict=True)]
        return [x for row in zip(*columns, strict=True) for x in row]

    def reacting(self, rows: Letters, K: int, acting: Acting) -> list[Any]:
        """Force and moment that each link receives, in the axes of its joint frame, each with K - 2 derivatives."""
        q = self._series(rows)
        recursion = self._recursion(K, acting)
        for k in range(K - 1):
            recursion.extend(q, k)
        return [x for joint in recursion.moving for series in (*joint.f, *joint.n) for x in to_derivatives(series)]

    def masses(self, rows: Letters) -> list[Any]:
        """M, row by row."""
        return [x for row in self._mass_rows(rows) for x in row]

    def slope(self, rows: Letters) -> list[Any]:
        """d tau/d q'' with friction, row by row."""
        tau = ca.vertcat(*self.driving(rows, 2, self.everything))
        J = ca.densify(ca.jacobian(tau, ca.vertcat(*[row[2] for row in rows])))
        return [J[i, j] for i in range(len(rows)) for j in range(len(rows))]

    def forward(self, rows: Letters, m: int) -> list[Any]:
        r"""q'', ..., q^(m+1) from rows q, q', tau, ..., tau^(m-1): $M q^{(k+2)} = \tau^{(k)} - h_k$, order by order.

        Viscous friction acts; friction that depends on the load does not.
        """
        q: list[Series] = [[row[0], row[1]] for row in rows]
        tau = [from_derivatives(row[2:]) for row in rows]
        joints = [joint.name for joint in self.skeleton.joints]
        viscous = np.zeros(len(joints)) if self.friction is None else self.friction.column("viscous", joints)
        viscous = self.coupling.matrix.T**2 @ viscous
        matrix = ca.vertcat(*[ca.horzcat(*[ca.SX(e) for e in row]) for row in self._mass_rows(rows)])
        factors = ca.ldl(ca.sparsify(ca.triu2symm(ca.triu(matrix)))) if len(rows) > 1 else None
        recursion = self._recursion(m + 1, self.everything)
        for k in range(m):
            for series in q:
                series.append(0)
            h = self.coupling.forces(recursion.extend(self.coupling.rows(q), k))
            drag = [float(b) * (k + 1) * series[k + 1] for b, series in zip(viscous, q, strict=True)]
            right = ca.vertcat(*[t[k] - x - y for t, x, y in zip(tau, h, drag, strict=True)])
            found = right / matrix if factors is None else ca.ldl_solve(ca.densify(right), *factors)
            for i, series in enumerate(q):
                series[k + 2] = found[i] / ((k + 1) * (k + 2))
            if k + 1 < m:
                recursion.extend(self.coupling.rows(q), k)
        return [factorial(k) * series[k] for series in q for k in range(2, m + 2)]

    def energy(self, rows: Letters, p: int) -> list[Any]:
        """E_A^(p)."""
        return energy_series(self.skeleton, self._series(rows), p)

    def gradient(self, rows: Letters, p: int, r: int) -> list[Any]:
        """dE_A^(p)/dq^(r)."""
        return self.coupling.forces(Sums(self.skeleton, self.coupling.rows(rows)).gradient(p, r))

    def terms(self, rows: Letters, p: int) -> list[Any]:
        """The terms of the expansion of E_A^(p)."""
        return list(expansion(self.skeleton, self.coupling.rows(rows), p).values())

    def _recursion(self, K: int, acting: Acting) -> NewtonEuler:
        load = None
        if acting.payload and self.payload is not None:
            known = [[float(x) / factorial(k) for k, x in enumerate(row)] for row in self.payload]
            load = [row + [0] * (K - len(row)) for row in known]
        return NewtonEuler(self.skeleton, acting.inertia, acting.gravity, load)

    def _mass_rows(self, rows: Letters) -> list[list[Any]]:
        """N' M N."""
        M = mass_matrix(self.skeleton, [row[0] for row in self.coupling.rows(rows)])
        half = [self.coupling.forces(row) for row in M]
        return [list(row) for row in zip(*map(self.coupling.forces, zip(*half, strict=True)), strict=True)]

    def _series(self, rows: Letters) -> list[Series]:
        """The series of all joints."""
        return [from_derivatives(row) for row in self.coupling.rows(rows)]
