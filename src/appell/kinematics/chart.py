"""Charts of the velocity space: which speeds u describe the motion, and q' and q'' in terms of them.

Linear constraints leave n - L free speeds: chosen rates of coordinates (a split), or quasi-velocities given by
formulas. Then q' = K(q, u, t) and the unknowns are y = u'.
If a row or a quasi-velocity is nonlinear in the velocities, K has several branches; all rates are kept as speeds, the
branch is the one the motion is on, and the unknowns y are the n - L independent (quasi-)accelerations:
q'' = Gamma y + beta, with the columns of Gamma the virtual displacements of Chetaev's rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import casadi as ca
import sympy as sp

from appell.graph.solve import solve
from appell.graph.sparse import fresh, total
from appell.kinematics.geometry import AbstractGeometry, Geometry
from appell.kinematics.in_speeds import InSpeeds
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.quasi_velocities import check_independent, quasi_velocities, sizes
from appell.kinematics.short_rates import ShortRates
from appell.kinematics.split import Split
from appell.model.symbols import Evolving, Letter, Speed


@dataclass(frozen=True, eq=False, kw_only=True)
class Chart:
    """Speeds, and the motion in terms of them.

    Attributes:
        letters: The speeds u as letters.
        u: Speeds on the graph.
        K: q' in q, u, t, z, p.
        y: The unknown accelerations on the graph.
        unknowns: Their letters.
        udot: u' in terms of y.
        a: q'' in terms of y.
        formulas: u in q, v, t.
        redundant: Whether the speeds still obey the velocity rows.
        sizes: What their units make of speeds given by formulas, see `quasi_velocities.sizes`; None of others.
    """

    mechanics: Mechanics
    split: Split
    letters: tuple[Evolving, ...]
    u: ca.SX
    K: ca.SX
    y: ca.SX
    unknowns: tuple[Letter, ...]
    udot: ca.SX
    a: ca.SX
    formulas: ca.SX
    redundant: bool
    sizes: ca.SX | None = None

    @classmethod
    def of(cls, mechanics: Mechanics, split: Split, definitions: Mapping[Speed, sp.Expr] | None = None) -> Chart:
        """Solve the constraint rows for what the speeds leave open.

        Args:
            mechanics: The model on the graph.
            split: Independent rows, and dependent coordinates where no definitions are given.
            definitions: Quasi-velocities as formulas in q, q', t.
        """
        if not definitions and not split.rows:
            return cls.in_rates(mechanics, split)
        x, rows = mechanics.variables, list(split.rows)
        if definitions:
            letters, formulas = quasi_velocities(mechanics, split, definitions)
        else:
            letters, formulas = _independent(mechanics, split)
        e, J = mechanics.e, mechanics.J
        if len(rows) < e.numel():
            e, J = e[rows, :], J[rows, :]
        matrix = ca.vertcat(ca.jacobian(formulas, x.v), J)
        if definitions:
            check_independent(mechanics, letters, matrix)
        units = sizes(mechanics, formulas) if definitions else None
        linear = not any(i in mechanics.acceleration_rows for i in rows) and (
            (not definitions and mechanics.linear) or not ca.depends_on(ca.vec(matrix), x.v)
        )
        y = fresh(s.rate for s in letters)
        if not linear:
            return replace(cls._in_redundant_rates(mechanics, split, letters, formulas, matrix, y), sizes=units)
        u = fresh(letters)
        still = ca.substitute(ca.vertcat(formulas, e), x.v, ca.SX.zeros(x.v.numel()))
        short = ShortRates(x, u) if definitions else None
        K = solve(matrix, ca.vertcat(u, ca.SX.zeros(len(rows))) - still, settle=short)
        zdot = ca.substitute(x.zdot, x.v, K) if x.z.numel() else x.zdot
        state, rates = ca.vertcat(x.q, u, x.t, x.z), ca.vertcat(K, y, 1, zdot)
        return cls(
            mechanics=mechanics,
            split=split,
            letters=letters,
            u=u,
            K=K,
            y=y,
            unknowns=_rates(letters),
            udot=y,
            a=ca.jtimes(K, state, rates),
            formulas=formulas,
            redundant=False,
            sizes=units,
        )

    @classmethod
    def in_rates(cls, mechanics: Mechanics, split: Split) -> Chart:
        """All rates as speeds: where there are no rows, and for formulations that keep them apart."""
        v, letters = mechanics.variables.v, tuple(q.rate for q in mechanics.model.coordinates)
        return cls(
            mechanics=mechanics,
            split=split,
            letters=letters,
            u=v,
            K=v,
            y=mechanics.a,
            unknowns=_rates(letters),
            udot=mechanics.a,
            a=mechanics.a,
            formulas=v,
            redundant=bool(split.rows),
        )

    @classmethod
    def _in_redundant_rates(
        cls, mechanics: Mechanics, split: Split, letters: tuple[Evolving, ...], formulas: ca.SX, matrix: ca.SX, y: ca.SX
    ) -> Chart:
        """Where rows or speeds are not linear in the velocities: all rates are kept, and only q'' is solved for."""
        v = mechanics.variables.v
        carried = ca.substitute(mechanics.derivative(formulas), mechanics.a, ca.SX.zeros(v.numel()))
        a = solve(matrix, ca.vertcat(y - carried, mechanics.gamma[list(split.rows), :]))
        kept = cls.in_rates(mechanics, split)
        return replace(kept, y=y, unknowns=_rates(letters), udot=a, a=a, redundant=True)

    @cached_property
    def displacements(self) -> ca.SX:
        """N = dK/du, whose columns are the virtual displacements."""
        return ca.jacobian(self.K, self.u)

    def by_units(self, slopes: ca.SX) -> ca.SX:
        """What is differentiated by speeds or their rates, as if each speed were measured in a unit that fits it.

        Args:
            slopes: A column for each speed.
        """
        return slopes if self.sizes is None else slopes @ ca.diag(self.sizes)

    @cached_property
    def zdot(self) -> ca.SX:
        """Rates of the extra states in terms of the speeds."""
        return self.in_speeds(self.mechanics.variables.zdot)

    def in_speeds(self, expression: ca.SX) -> ca.SX:
        """Put K(q, u, t) in place of q'."""
        return (
            expression
            if self.u is self.mechanics.variables.v
            else ca.substitute(expression, self.mechanics.variables.v, self.K)
        )

    def thaw(self, expression: ca.SX) -> ca.SX:
        """Put the formulas of masses that change in place of their letters."""
        x = self.mechanics.variables
        return self.in_speeds(x.thaw(expression)) if x.frozen.numel() else expression

    def derivative(self, expression: ca.SX) -> ca.SX:
        """Total time derivative along the motion, in terms of y."""
        x = self.mechanics.variables
        rate = self.frozen_derivative(expression)
        return rate + ca.jtimes(expression, x.z, self.zdot) if x.z.numel() else rate

    def frozen_derivative(self, expression: ca.SX) -> ca.SX:
        """Time derivative with the extra states held."""
        return ca.jtimes(expression, *self._moving)

    @cached_property
    def _moving(self) -> tuple[ca.SX, ca.SX]:
        """q, u, t and their rates."""
        x = self.mechanics.variables
        return ca.vertcat(x.q, self.u, x.t), ca.vertcat(self.K, self.udot, ca.SX(1))

    @cached_property
    def geometry(self) -> AbstractGeometry:
        """Positions, velocities and accelerations in terms of u and y."""
        if self.u is self.mechanics.variables.v and not self.redundant:
            return self.mechanics.geometry
        if self.redundant:
            return Geometry(self.mechanics.variables, self.frozen_derivative, self.K)
        given = any(isinstance(s, Speed) for s in self.letters)
        return InSpeeds(self.mechanics.variables, self.frozen_derivative, self.K, self.u, self.y, given)

    @cached_property
    def acceleration_energy(self) -> ca.SX:
        """S in the speeds and the unknowns, masses as frozen letters."""
        mechanics, x = self.mechanics, self.mechanics.variables
        if self.geometry is mechanics.geometry:
            return mechanics.S
        if x.z.numel() and ca.depends_on(self.K, x.z):  # extra states run in K, and are held in the shape of a body
            return self.in_speeds(ca.substitute(mechanics.S, mechanics.a, self.a))
        return total(self.geometry.acceleration_energy(body) for body in mechanics.model.bodies)


def _rates(letters: tuple[Evolving, ...]) -> tuple[Evolving, ...]:
    return tuple(s.rate for s in letters)


def _independent(mechanics: Mechanics, split: Split) -> tuple[tuple[Evolving, ...], ca.SX]:
    """The rates of independent coordinates as speeds."""
    coordinates = mechanics.model.coordinates
    free = split.free(len(coordinates))
    return tuple(coordinates[i].rate for i in free), mechanics.variables.v[free, 0]
