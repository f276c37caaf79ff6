"""A model on the graph, before any principle is applied: energies, generalized forces, constraint rows.

Everything here is in q, v = q', z, w, p, t; the principles differ only in what they do with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import cached_property

import casadi as ca
import numpy as np

from appell.errors import ModelError
from appell.graph.kinks import has_kinks
from appell.graph.lower import Lowering
from appell.graph.sparse import densified, fresh, stacked, total
from appell.graph.terms import term_sizes
from appell.kinematics.forces import GeneralizedForce, generalized_force
from appell.kinematics.gauss import conditions, least_constraint
from appell.kinematics.geometry import Geometry
from appell.kinematics.jumps import may_jump, must_not_jump
from appell.kinematics.programme import closed, drive_forces, held_inputs
from appell.kinematics.turning import AXES, Turning
from appell.kinematics.variables import Variables
from appell.model.model import Model, QuaternionNorm
from appell.model.symbols import Input, letters_in
from appell.once import once


class Mechanics:
    """The mechanical content of a model.

    Args:
        model: The model.
        variables: Its letters on the graph; made if left out.
    """

    def __init__(self, model: Model, variables: Variables | None = None) -> None:
        if not isinstance(model, Model):
            raise ModelError(f"A Model is needed here, got {model!r}.")
        self.model = model
        self.variables = Variables.of(model) if variables is None else variables
        self.a = fresh(s.rate.rate for s in model.coordinates)
        self.geometry = Geometry(self.variables, self.frozen_derivative, self.variables.v)
        if model.programme:
            self.variables = closed(self)

    def with_state_rates(self, zdot: ca.SX) -> Mechanics:
        """The same mechanics with other rates of the extra states."""
        twin = copy(self)
        twin.variables = replace(self.variables, zdot=zdot)
        twin.geometry = Geometry(twin.variables, twin.frozen_derivative, twin.variables.v)
        return twin

    def derivative(self, expression: ca.SX) -> ca.SX:
        """Total time derivative: d/dt of q, v, t, z with v' = a."""
        x = self.variables
        rate = self.frozen_derivative(expression)
        return rate + ca.jtimes(expression, x.z, x.zdot) if x.z.numel() else rate

    def frozen_derivative(self, expression: ca.SX) -> ca.SX:
        """Time derivative with the extra states held: the motion of what is solid."""
        return ca.jtimes(expression, *self._moving)

    @cached_property
    def _moving(self) -> tuple[ca.SX, ca.SX]:
        """q, v, t and their rates."""
        x = self.variables
        return ca.vertcat(x.q, x.v, x.t), ca.vertcat(x.v, self.a, ca.SX(1))

    @cached_property
    def T(self) -> ca.SX:
        """Kinetic energy, masses as frozen letters."""
        return total(self.geometry.kinetic_energy(body) for body in self.model.bodies)

    @cached_property
    def S(self) -> ca.SX:
        """Acceleration energy in q, v, a, masses as frozen letters."""
        return total(self.geometry.acceleration_energy(body) for body in self.model.bodies)

    @cached_property
    def forces(self) -> tuple[GeneralizedForce, ...]:
        """Every force by itself; those of programmes of order 3 and more stand last."""
        listed = tuple(generalized_force(force, self.geometry, self.derivative) for force in self.model.forces)
        return (*listed, *drive_forces(self))

    @cached_property
    def Q(self) -> ca.SX:
        """The sum of all generalized forces; a thrust whose rate contains accelerations has a in it."""
        return densified(total((f.Q for f in self.forces), ca.SX.zeros(self.variables.q.numel())))

    @cached_property
    def powers(self) -> tuple[ca.SX, ca.SX]:
        """The power of every force, and the part of all by what moves by itself in time; masses frozen."""
        v = self.variables.v
        carried = [force.carried() for force in self.forces]
        powers = [ca.dot(force.Q, v) + by_time for force, by_time in zip(self.forces, carried, strict=True)]
        return stacked(powers), total(carried)

    @cached_property
    def accelerating(self) -> bool:
        """Whether a force contains accelerations: mass that depends on velocities and leaves with thrust."""
        return bool(ca.depends_on(self.Q, self.a))

    @cached_property
    def V(self) -> ca.SX:
        """The sum of all potential energies."""
        return total(f.potential for f in self.forces if f.potential is not None)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the constraint rows."""
        return tuple(row.name for row in self.model.rows)

    @cached_property
    def position_rows(self) -> tuple[int, ...]:
        """Which rows constrain positions."""
        return tuple(i for i, row in enumerate(self.model.rows) if row.order == 0)

    @cached_property
    def c(self) -> ca.SX:
        """Residuals of the position rows."""
        rows = self.model.rows
        for i in self.position_rows:
            self.variables.positions_only(rows[i].expression, f"the constraint {rows[i].name!r}")
        return self.variables.lower.column([rows[i].expression for i in self.position_rows])

    @cached_property
    def c_q(self) -> ca.SX:
        """dc/dq."""
        return ca.jacobian(self.c, self.variables.q)

    @cached_property
    def acceleration_rows(self) -> tuple[int, ...]:
        """Which rows constrain accelerations."""
        return tuple(i for i, row in enumerate(self.model.rows) if row.order == 2)

    @cached_property
    def norm_rows(self) -> tuple[int, ...]:
        """Which rows are norms of quaternions: along them nothing has inertia."""
        norms = {row for c in self.model.constraints if isinstance(c, QuaternionNorm) for row in c.rows}
        return tuple(i for i, row in enumerate(self.model.rows) if row in norms)

    @cached_property
    def e(self) -> ca.SX:
        """Residuals of all rows as constraints on velocities: position rows differentiated once.

        A row on accelerations says nothing about velocities; zero stands in its place.
        """
        x, listed = self.variables, []
        rates = ca.jtimes(self.c, ca.vertcat(x.q, x.t), ca.vertcat(x.v, 1)) if self.position_rows else self.c
        for i, row in enumerate(self.model.rows):
            if row.order == 0:
                listed.append(rates[self.position_rows.index(i)])
                continue
            if any(isinstance(s, Input) for s in letters_in(row.expression)):
                raise ModelError(
                    f"The constraint {row.name!r} contains an input; a constraint may contain coordinates, rates, "
                    "parameters, time and extra states. Let an extra state follow the input instead."
                )
            if row.order == 1:
                base = x.lower(row.expression)
                listed.append(self.derivative(base) if row.raised else base)
            else:
                listed.append(ca.SX(0))
        return stacked(listed)

    @cached_property
    def J(self) -> ca.SX:
        """The rows that virtual displacements obey, those of C as far as no drive enforces them."""
        return self.by_drives(self.C)

    def by_drives(self, C: ca.SX) -> ca.SX:
        """C, but the unit row of its drive for a servo constraint."""
        J = ca.SX(C)
        for i, row in enumerate(self.model.rows):
            if row.drive is not None:
                J[i, :] = 0
                J[i, self.model.coordinates.index(row.drive)] = 1
        return J

    @cached_property
    def C(self) -> ca.SX:
        """The coefficients of the accelerations in the rows, C a = gamma: de/dv, and df/da of rows on accelerations."""
        return self._tangents[0]

    @cached_property
    def slopes(self) -> ca.SX:
        """de/dv."""
        return ca.jacobian(self.e, self.variables.v)

    @cached_property
    def f(self) -> ca.SX:
        """Residuals of the rows on accelerations, in q, v, a, t, z, p."""
        memo = {**self.variables.lower.memo, **{q.rate.rate: self.a[i] for i, q in enumerate(self.model.coordinates)}}
        column = Lowering(memo).column([self.model.rows[i].expression for i in self.acceleration_rows])
        for k, i in enumerate(self.acceleration_rows):
            for _ in range(self.model.rows[i].raised):
                column[k] = self.derivative(column[k])
        return column

    @cached_property
    def curved(self) -> bool:
        """Whether a row is not linear in the accelerations."""
        return bool(self.acceleration_rows) and bool(ca.depends_on(ca.vec(ca.jacobian(self.f, self.a)), self.a))

    @cached_property
    def solved(self) -> ca.SX:
        """The accelerations at which rows that are not linear in them are replaced by their tangents."""
        return least_constraint(*self._uncurved, self.f, self.a, self._near, alike=self.variables.quaternions)

    def tangents(self, a: ca.SX) -> tuple[ca.SX, ca.SX]:
        """C and gamma of C q'' = gamma, with the tangents at some accelerations of the rows on these.

        Args:
            a: The accelerations; they do not matter where the rows are linear in them.
        """
        C, rest, rows = ca.SX(self.slopes), ca.SX(self._rest), list(self.acceleration_rows)
        slope, f = ca.substitute([ca.jacobian(self.f, self.a), self.f], [self.a], [a])
        C[rows, :], rest[rows] = slope, f - slope @ a
        return C, -rest

    @cached_property
    def _tangents(self) -> tuple[ca.SX, ca.SX]:
        if not self.acceleration_rows:
            return self.slopes, -self._rest if self.e.numel() else ca.SX(0, 1)
        return self.tangents(self.solved if self.curved else ca.SX.zeros(self.a.numel()))

    @cached_property
    def _uncurved(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """M, F, and J a = gamma of the rows that are not on accelerations."""
        others = [i for i in range(len(self.model.rows)) if i not in self.acceleration_rows]
        J, rest = ca.SX(0, self.a.numel()), ca.SX(0, 1)
        if others:
            J, rest = self.slopes[others, :], self._rest[others]
        return *self.lagrange, J, -rest

    @cached_property
    def newton(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Multipliers of the rows on accelerations, matrix and right-hand side of a Newton step from them and a."""
        multiplier = ca.SX.sym("lambda", self.f.numel())
        return multiplier, *conditions(*self._uncurved, self.f, self.a, multiplier)

    @cached_property
    def _near(self) -> ca.SX | None:
        """The accelerations next to which the user wants the rows solved."""
        wanted = {rate: formula for row in self.model.rows for rate, formula in row.near.items()}
        if not wanted:
            return None
        return self.variables.lower.column([wanted.get(q.rate.rate, 0) for q in self.model.coordinates])

    @cached_property
    def _rest(self) -> ca.SX:
        """The part of e' without accelerations."""
        return ca.substitute(self.derivative(self.e), self.a, ca.SX.zeros(self.a.numel()))

    @cached_property
    def linear(self) -> bool:
        """Whether every row is a constraint on positions or linear in the velocities."""
        return not self.acceleration_rows and (
            self.e.numel() == 0 or not ca.depends_on(ca.vec(self.J), self.variables.v)
        )

    @cached_property
    def gamma(self) -> ca.SX:
        """The right-hand side of C a = gamma: minus the part of e' (or f) without accelerations."""
        return self._tangents[1]

    @cached_property
    def lagrange(self) -> tuple[ca.SX, ca.SX]:
        """M and F of d/dt dT/dv - dT/dq = Q written as M a = F, at frozen mass."""
        x = self.variables
        momentum = ca.gradient(self.T, x.v)
        M = ca.jacobian(momentum, x.v)
        carried = ca.jtimes(momentum, ca.vertcat(x.q, x.t), ca.vertcat(x.v, 1))
        F = self.Q - carried + ca.gradient(self.T, x.q)
        if self.accelerating:
            D, F = ca.linear_coeff(F, self.a, True)
            M = M - D
        return x.thaw(M), x.thaw(F)

    @cached_property
    def J_at_rest(self) -> ca.SX:
        """J without inputs, for the choice of speeds."""
        x = self.variables
        return ca.substitute(self.J, x.w, ca.SX.zeros(x.w.numel())) if self.curved else self.J

    @once
    def turning(self, axes: str) -> Turning:
        """Angular velocities in place of the rates of quaternions, along their own axes or those of the carrier."""
        return Turning(self.variables, axes)

    def rows_by(self, axes: str | None) -> ca.SX:
        """The rows by the velocities among which dependent ones are chosen: rates, or those of `Turning`."""
        return self.J_at_rest if axes is None else self.J_at_rest @ self.turning(axes).basis

    @cached_property
    def functions(self) -> Mapping[str, ca.Function]:
        """Compiled when first asked for, asked for by many: residuals, Jacobian, mass matrix, energies."""
        return _Functions(self)

    @cached_property
    def position_terms(self) -> ca.Function:
        """How large the terms of `levels["position"]` are, of the same arguments."""
        return term_sizes(self.levels["position"])

    @cached_property
    def row_terms(self) -> Mapping[str, ca.Function]:
        """How large what the functions `position` and `velocity` add up to zero is, of the same arguments.

        Their rounding is some 1e-16 of it, in whatever units the rows are.
        """
        x, found = self.variables, {}
        if self.position_rows:
            J = self.functions["position"](x.t, x.q, x.p)[1]
            size = term_sizes(self.functions["position"])(x.t, x.q, x.p) + ca.fabs(J) @ ca.fabs(x.q)
            found["position"] = ca.Function("position_terms", [x.t, x.q, x.p], [ca.densify(size)], {"cse": True})
        if self.row_names:
            arguments = [x.t, x.q, x.v, x.z, x.p]
            e, J = self.functions["velocity"](*arguments)
            by_place = ca.fabs(ca.jacobian(e, x.q)) @ ca.fabs(x.q)  # all that is left where a row itself vanishes
            size = ca.fabs(J) @ ca.fabs(x.v) + ca.fabs(e - J @ x.v) + by_place
            found["velocity"] = ca.Function("velocity_terms", arguments, [ca.densify(size)], {"cse": True})
        return found

    @cached_property
    def _lower_levels(self) -> tuple[list[tuple[str, ca.SX]], list[tuple[str, ca.SX]]]:
        """Formulas on positions and on velocities that raised rows demand only in their derivatives."""
        positions: list[tuple[str, ca.SX]] = []
        velocities: list[tuple[str, ca.SX]] = []
        for row in self.model.programmed:
            if not row.raised or row.own_order > 1:
                continue
            f = self.variables.lower(row.expression)
            if row.own_order == 0:
                positions.append((row.name, f))
                f = self.derivative(f)
            if row.own_order == 1 or row.raised > 1:
                velocities.append((row.name + ".rate" * (1 - row.own_order), f))
        return positions, velocities

    @property
    def level_names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the lower levels of raised rows: on positions, on velocities."""
        positions, velocities = self._lower_levels
        return tuple(name for name, _ in positions), tuple(name for name, _ in velocities)

    @cached_property
    def levels(self) -> Mapping[str, ca.Function]:
        """The functions `position` and `velocity` with the lower levels of raised rows behind the rows themselves."""
        x, (positions, velocities) = self.variables, self._lower_levels

        def together(rows: ca.SX, slopes: ca.SX, more: list[tuple[str, ca.SX]], letters: ca.SX) -> list[ca.SX]:
            if more:
                behind = ca.vertcat(*[f for _, f in more])
                rows, slopes = ca.vertcat(rows, behind), ca.vertcat(slopes, ca.jacobian(behind, letters))
            return [densified(rows), densified(slopes)]

        c, e = together(self.c, self.c_q, positions, x.q), together(self.e, self.slopes, velocities, x.v)
        return {
            "position": ca.Function("position", [x.t, x.q, x.p, x.z], c),
            "velocity": ca.Function("velocity", [x.t, x.q, x.v, x.z, x.p], e),
        }

    @cached_property
    def unbroken(self) -> Mapping[str, ca.SX]:
        """What may jump and must not, by what it is in words."""
        return {name: e for name, e in must_not_jump(self) if may_jump(e)}

    @cached_property
    def held(self) -> tuple[str, ...]:
        """Inputs that must not change during a run: those that act on what programmes of order 3 and more demand."""
        return held_inputs(self)

    @cached_property
    def striking(self) -> bool:
        """Whether a corner of what is prescribed, in positions or in rows, may make velocities jump."""
        graph = ca.vertcat(self.geometry.formulas, self.e)
        return has_kinks(ca.Function("prescribed", [], [graph], {"allow_free": True}))

    @cached_property
    def leaping(self) -> bool:
        """Whether masses or moments of inertia may jump."""
        return may_jump(self.variables.thawed)

    @cached_property
    def momenta(self) -> tuple[ca.SX, ca.SX]:
        """P and m of dT/dv = P m: what is constant, m = 1, in the first column, then one for each mass that changes."""
        x = self.variables
        shares, constant = ca.linear_coeff(ca.gradient(self.T, x.v), x.frozen, True)
        return ca.horzcat(constant, shares), ca.vertcat(1, x.thawed)

    def sample_values(self, rng: np.random.Generator) -> np.ndarray:
        """Numbers for all parameters: the suggested ones, or random ones about 1 where none is suggested."""
        model = self.model
        return np.array([model.values.get(s.label, rng.uniform(0.5, 1.5)) for s in model.parameters])


class _Functions(dict[str, ca.Function]):
    """The functions of a model's mechanics, each made when it is first asked for."""

    def __init__(self, mechanics: Mechanics) -> None:
        x = mechanics.variables
        moving = [x.t, x.q, x.v, x.z, x.p]
        self._recipes: dict[str, tuple[list[ca.SX], Callable[[], list[ca.SX]]]] = {
            "position": ([x.t, x.q, x.p], lambda: [mechanics.c, mechanics.c_q]),
            "velocity": (moving, lambda: [mechanics.e, mechanics.slopes]),
            "jacobian": (moving, lambda: [mechanics.J_at_rest]),
            **{f"jacobian_{axes}": (moving, lambda axes=axes: [mechanics.rows_by(axes)]) for axes in AXES},
            "acceleration": ([x.t, x.q, x.v, mechanics.a, x.z, x.p], lambda: [mechanics.f]),
            "multiplier": (x.arguments, lambda: [*mechanics.lagrange, mechanics.J, mechanics.gamma, mechanics.C]),
            "energy": (x.arguments, lambda: [x.thaw(mechanics.T), x.thaw(mechanics.V)]),
        }

    def __missing__(self, name: str) -> ca.Function:
        arguments, results = self._recipes[name]
        # Rows are short, and called a few times: looking for what stands twice in them would take longer than they do.
        options = {} if name in ("position", "velocity", "jacobian") else {"cse": True}
        self[name] = ca.Function(name, arguments, [densified(e) for e in results()], options)
        return self[name]
