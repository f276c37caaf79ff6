"""Charts of the velocity space: which speeds u describe the motion, and q' and q'' in terms of them.

Linear constraints leave n - L free speeds: chosen rates of coordinates (a split), or quasi-velocities given by
formulas. Then q' = K(q, u, t) and the unknowns are y = u'.
If a row or a quasi-velocity is nonlinear in the velocities, K has several branches; all rates are kept as speeds, the
branch is the one the motion is on, and the unknowns y are the n - L independent (quasi-)accelerations:
q'' = Gamma y + beta, with the columns of Gamma the virtual displacements of Chetaev's rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
import sympy as sp

from appell.errors import FormulationError, ModelError
from appell.graph.numeric import Numeric
from appell.graph.solve import solve
from appell.graph.sparse import densified, fresh, total
from appell.kinematics.geometry import AbstractGeometry, Geometry
from appell.kinematics.in_speeds import InSpeeds
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.short_rates import ShortRates
from appell.kinematics.split import Split
from appell.model.rules import check_letter
from appell.model.symbols import Coordinate, Evolving, Input, Letter, Rate, Speed, letters_in, quoted
from appell.model.values import formula_of


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
        letters, formulas = _defined(mechanics, split, definitions) if definitions else _independent(mechanics, split)
        e, J = mechanics.e, mechanics.J
        if len(rows) < e.numel():
            e, J = e[rows], J[rows, :]
        matrix = ca.vertcat(ca.jacobian(formulas, x.v), J)
        if definitions:
            _check_independent(mechanics, letters, matrix)
        linear = not any(i in mechanics.acceleration_rows for i in rows) and (
            (not definitions and mechanics.linear) or not ca.depends_on(ca.vec(matrix), x.v)
        )
        y = fresh(s.rate for s in letters)
        if not linear:
            return cls._in_redundant_rates(mechanics, split, letters, formulas, matrix, y)
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
        a = solve(matrix, ca.vertcat(y - carried, mechanics.gamma[list(split.rows)]))
        return cls(
            mechanics=mechanics,
            split=split,
            letters=tuple(q.rate for q in mechanics.model.coordinates),
            u=v,
            K=v,
            y=y,
            unknowns=_rates(letters),
            udot=a,
            a=a,
            formulas=v,
            redundant=True,
        )

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


def _defined(
    mechanics: Mechanics, split: Split, definitions: Mapping[Speed, sp.Expr]
) -> tuple[tuple[Evolving, ...], ca.SX]:
    """Speeds by formulas of the user's, as many as the rows leave free."""
    letters = tuple(definitions)
    formulas = ca.vertcat(*[_lowered(mechanics, speed, formula) for speed, formula in definitions.items()])
    n, rows = len(mechanics.model.coordinates), len(split.rows)
    if len(letters) != n - rows:
        raise FormulationError(
            f"{len(letters)} speeds were given ({', '.join(s.name for s in letters)}), but {n} coordinates "
            f"under {rows} independent constraint rows leave {n - rows} free; give {n - rows}."
        )
    return letters, formulas


def _check_independent(mechanics: Mechanics, speeds: tuple[Evolving, ...], matrix: ca.SX) -> None:
    """Refuse quasi-velocities that are dependent, on each other or the rows, at every one of several typical states."""
    x = mechanics.variables
    function = Numeric(ca.Function("stacked", [x.t, x.q, x.v, x.z, x.p], [densified(matrix)]))
    rng = np.random.default_rng(11)
    p, n = mechanics.sample_values(rng), x.q.numel()
    for t in (0.0, 0.3, 0.7, 1.1):
        q, v, z = rng.uniform(0.3, 1.2, n), rng.uniform(0.3, 1.2, n), rng.uniform(0.3, 1.2, x.z.numel())
        found = function(t, q, v, z, p)[0]
        if not np.all(np.isfinite(found)) or np.linalg.matrix_rank(found) == n:
            return
    raise FormulationError(
        f"The speeds {', '.join(str(s) for s in speeds)} are dependent on each other or on the constraints: together "
        f"they do not give all rates of {', '.join(str(q) for q in mechanics.model.coordinates)}. Choose others."
    )


def _lowered(mechanics: Mechanics, speed: Speed, formula: sp.Expr) -> ca.SX:
    formula = formula_of(formula, f"The speed {speed}")
    if isinstance(speed, Rate) and speed.base in mechanics.model.coordinates and formula == speed:
        return mechanics.variables.lower(formula)  # a rate may stand for itself
    if not isinstance(speed, Speed):
        raise FormulationError(f"{speed!r} is not a speed; make it by appell.speeds({str(speed)!r}).")
    model = mechanics.model
    for other in (*model.coordinates, *model.states, *model.parameters, *model.inputs):
        if other.name == speed.name:
            both = f"The speed and the {other.kind} {speed.name!r} of {model.name!r}"
            raise FormulationError(f"{both} have one name, so that a start could mean either; rename one of them.")
    for symbol in letters_in(formula):
        check_letter(mechanics.model, symbol, f"the speed {speed.name!r}")
        if isinstance(symbol, Input):
            raise FormulationError(
                f"The speed {speed.name!r} contains the input {symbol}; a speed is a formula in coordinates, rates, "
                "parameters, time and extra states."
            )
        if isinstance(symbol, Rate) and symbol.base in mechanics.model.states:
            raise FormulationError(
                f"The speed {speed.name!r} contains {symbol}, the rate of an extra state: {quoted(formula)}. A "
                "speed is one of the solid; take body.velocity_at(point), or write the formula without it."
            )
        if isinstance(symbol, Evolving) and not isinstance(symbol, Coordinate) and getattr(symbol, "order", 1) > 1:
            raise ModelError(f"The speed {speed.name!r} contains an acceleration: {quoted(formula)}.")
    if not any(getattr(s, "order", 0) == 1 for s in letters_in(formula)):
        raise FormulationError(f"The speed {speed.name!r} = {quoted(formula)} contains no velocity.")
    return mechanics.variables.lower(formula)
