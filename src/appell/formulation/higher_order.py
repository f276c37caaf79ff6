"""Equations of higher order: the equations of motion differentiated, driven by force rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import factorial
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from appell.equations import Equations
from appell.errors import FormulationError, InconsistentStartError, MissingValueError
from appell.formulation.abstract import AbstractFormulation
from appell.formulation.gibbs_appell import GibbsAppell
from appell.graph.kinks import has_kinks
from appell.graph.series import from_derivatives
from appell.kinematics.chart import Chart
from appell.kinematics.differentiated import Differentiated
from appell.kinematics.joint_frames import skeleton_of
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.newton_euler import NewtonEuler, mass_matrix
from appell.kinematics.skeleton import Skeleton
from appell.kinematics.split import Split
from appell.model.chain import Chain
from appell.model.force import Generalized
from appell.model.values import whole
from appell.once import once

if TYPE_CHECKING:
    from appell.code.state import State


class HigherOrder(AbstractFormulation):
    r"""The equations of motion, differentiated k times: a system driven by force rates.

    $$ M q^{(k+2)} = Q^{(k)} - h_k(q, \dot q, \ldots, q^{(k+1)}) $$
    The inputs of the model become states, its new inputs are their derivatives of order k, named `tau1.rate`,
    `tau1.rate.rate`, ...; accelerations and what is below $q^{(k+2)}$ are states too. A start needs the forces at the
    start (and their rates below the order k), from which the accelerations follow.

    Accepts: no constraints, holonomic ones, and nonholonomic ones linear in the velocities; forces without kinks.
    Unknowns: $q^{(k+2)}$; A symmetric and positive definite without constraints.

    Args:
        order: k, how often the equations are differentiated.

    Example:
        >>> import appell as ap
        >>> equations = ap.derive(ap.library.planar_2r(), ap.HigherOrder(1))
        >>> [w.label for w in equations.inputs]
        ['tau1.rate', 'tau2.rate']

    Reference: Negrean et al. 2025, (133)-(141), corrected.
    """

    name = "Higher order"
    accepts = frozenset({"holonomic", "linear"})
    reference = "Negrean et al. 2025"

    def __init__(self, order: int = 1) -> None:
        self.order = whole("The order of HigherOrder", order)

    def check(self, mechanics: Mechanics) -> None:
        """Refuse what cannot be differentiated."""
        super().check(mechanics)
        if isinstance(mechanics, Differentiated):
            return
        name = mechanics.model.name
        if mechanics.model.programme:
            rows = ", ".join(repr(row.name) for row in mechanics.model.programme)
            raise FormulationError(
                f"{self.name} does not accept programmes of order 3 and more, as {name!r} has ({rows}): their forces "
                "are states with rates already; use GPME."
            )
        if mechanics.accelerating:
            raise FormulationError(
                f"{self.name} does not accept forces that contain accelerations, as {name!r} has (a thrust whose mass "
                "depends on velocities); use GibbsAppell."
            )
        x = mechanics.variables
        for force in mechanics.forces:
            if has_kinks(ca.Function("force", x.arguments, [force.Q], {"allow_free": True})):
                raise FormulationError(
                    f"The force {force.name!r} of {name!r} has a kink (a sign, an absolute value, a condition) and no "
                    "rate there; smooth it, for example by tanh(v/v_s) in place of sign(v), or use GibbsAppell."
                )

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """A y = b for y = q^(k+2)."""
        extended = mechanics if isinstance(mechanics, Differentiated) else Differentiated(mechanics, self.order)
        base = extended.base
        model = base.model
        if type(model) is Chain and model.constant and model.coupling.trivial and not split.rows:
            chart = Chart.of(base, split)
            A, b = _by_recursion(base, model, extended)
            return self._equations(extended, chart, extended.accelerations[0], A, b)
        inner = GibbsAppell().derive(base, split)
        chart, n = inner.chart, base.a.numel()
        free = split.free(n)
        levels = [column[free] for column in (*extended.accelerations, extended.top)]
        residual = ca.substitute(inner.A @ inner.y - inner.b, inner.y, levels[0])
        motion = ca.substitute(chart.a, inner.y, levels[0])
        a = motion
        for k in range(self.order):
            residual, motion = (
                extended.rate(e, chart.u, chart.K, levels[: k + 2], chart.zdot) for e in (residual, motion)
            )
        A, minus_b = ca.linear_coeff(residual, levels[-1], True)
        if not split.rows:
            return self._equations(extended, chart, a, A, -minus_b)
        # The free components of y stand alone; the dependent ones follow from them.
        slope, rest = ca.linear_coeff(motion, levels[-1], True)
        rows = ca.SX.eye(n)
        rows[:, free] = rows[:, free] - slope
        dependent = list(split.dependent)
        square = ca.SX(n, n)
        square[: len(free), free] = A
        square[len(free) :, :] = rows[dependent, :]
        return self._equations(extended, chart, a, square, ca.vertcat(-minus_b, rest[dependent]))

    def _equations(self, extended: Differentiated, chart: Chart, a: ca.SX, A: ca.SX, b: ca.SX) -> Equations:
        coordinates = extended.model.coordinates
        udot = extended.accelerations[0][chart.split.free(len(coordinates))]
        unknowns = tuple(q.derivative(self.order + 2) for q in coordinates)
        chart = replace(chart, mechanics=extended, y=extended.top, unknowns=unknowns, udot=udot, a=a)
        return Equations(self, chart, A, b, definite=not chart.split.rows)

    @property
    def completes(self) -> bool:
        """It does: accelerations and their rates."""
        return True

    def complete(
        self,
        equations: Equations,
        state: State,
        given: Mapping[str, float],
        values: Mapping[str, float],
        p: np.ndarray,
    ) -> np.ndarray:
        """The states that a start need not name: accelerations and their rates from the forces at the start.

        Arguments as for `AbstractFormulation.complete`.
        """
        extended = equations.mechanics
        assert isinstance(extended, Differentiated)
        base, model = extended.base, extended.base.model
        z = state.z[: base.variables.z.numel()]
        levels = []
        for k, row in enumerate(extended.letters):
            absent = [s.label for s in row if s.label not in given and (k or s.label not in values)]
            if absent and k == 0:
                raise MissingValueError(
                    f"Equations of higher order start from the forces: give {', '.join(absent)} in the start, for "
                    f"example system.state({{{absent[0]!r}: 0.0, ...}})."
                )
            levels.append(np.array([given.get(s.label, values.get(s.label, 0.0) if k == 0 else 0.0) for s in row]))
        found = _accelerations(base, equations.split, self.order)(state.t, state.q, state.v, z, *levels, p)
        rates = np.array(found).reshape(self.order, -1)
        for k, row in enumerate(rates):
            for i, coordinate in enumerate(model.coordinates):
                label = coordinate.derivative(k + 2).name
                if label in given and abs(given[label] - row[i]) > 1e-9 * max(1.0, abs(row[i])):
                    raise InconsistentStartError(
                        f"{label} = {given[label]:g} does not follow from the forces at the start, which give "
                        f"{row[i]:.9g}; leave it out, or give the forces that belong to it."
                    )
        return np.concatenate([z, *levels, rates.ravel()])


@once
def _accelerations(base: Mechanics, split: Split, order: int) -> ca.Function:
    """q'', q''', ... from t, q, v, z, w, w', ..., p: the accelerations and their total time derivatives."""
    x = base.variables
    inner = GibbsAppell().derive(base, split)
    a = ca.substitute(inner.qddot, inner.chart.u, inner.chart.formulas)
    rates = [ca.SX.sym(f"w{k}", x.w.numel()) for k in range(1, order)]
    levels, found = [x.w, *rates], [a]
    for k in range(1, order):
        # On the constraints q' is v and q'' is a.
        known, moves = [x.q, x.v, x.t, x.z, *levels[:k]], [x.v, a, ca.SX(1), x.zdot, *levels[1 : k + 1]]
        found.append(ca.jtimes(found[-1], ca.vertcat(*known), ca.vertcat(*moves)))
    column = ca.densify(ca.vertcat(*found))
    return ca.Function("accelerations", [x.t, x.q, x.v, x.z, *levels, x.p], [column], {"cse": True})


def _by_recursion(base: Mechanics, chain: Chain, extended: Differentiated) -> tuple[ca.SX, ca.SX]:
    """M and tau^(k) - h_k of a chain, by Newton and Euler's recursion over Taylor series."""
    x, order = base.variables, extended.order
    skeleton = _skeleton(base, chain)
    columns = [x.q, x.v, *extended.accelerations, ca.SX.zeros(x.q.numel())]
    q = [from_derivatives([column[i] for column in columns]) for i in range(x.q.numel())]
    recursion = NewtonEuler(skeleton)
    for k in range(order + 1):
        h = recursion.extend(q, k)
    M = mass_matrix(skeleton, [x.q[i] for i in range(x.q.numel())])
    matrix = ca.vertcat(*[ca.horzcat(*[ca.SX(e) for e in row]) for row in M])
    drives = next(force.forces for force in chain.forces if isinstance(force, Generalized))
    tau = extended.carried[-1][[chain.inputs.index(drives[s]) for s in chain.coordinates]]
    return matrix, tau - factorial(order) * ca.vertcat(*[ca.SX(e) for e in h])


def _skeleton(base: Mechanics, chain: Chain) -> Skeleton:
    """Joint frames as numbers, or on the graph where the chain has parameters."""
    names = [link.joint for link in chain.links]
    if not chain.parameters:
        return skeleton_of(chain.numbers(), names)
    formal = skeleton_of(chain.symbolic, names)

    def lowered(e: Any) -> Any:
        if isinstance(e, list | tuple):
            return [lowered(x) for x in e]
        return e if isinstance(e, int | float) else base.variables.lower(e)

    joints = [
        replace(
            j, advance=lowered(j.advance), E=lowered(j.E), r=lowered(j.r), mass=lowered(j.mass), h=lowered(j.h),
            planar=lowered(j.planar),
        )
        for j in formal.joints
    ]  # fmt: skip
    return Skeleton(tuple(joints), lowered(formal.gravity), (0, (), ()))
