"""Steady motion on the graph: what must vanish so that a configuration is kept, and which coordinates do not matter.

A steady motion has q'' = 0: positions rest, except cyclic coordinates, which may run at constant rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from appell.analysis.timeless import timeless
from appell.equations import Equations
from appell.errors import CompileError, FormulationError
from appell.graph.kinks import Modal, ends, has_kinks
from appell.graph.lower import Lowering
from appell.graph.numeric import Numeric, SideBySide
from appell.graph.terms import ROUNDING, term_sizes_at
from appell.kinematics.consistency import row_units, suggested_start
from appell.kinematics.differentiated import Differentiated
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.typical import sample_state, sample_states
from appell.model.symbols import Letter
from appell.once import lately

if TYPE_CHECKING:
    from appell.analysis.equilibrium import Equilibrium

TURNED = 1e-6  # part of the terms that counts as none of it behind a turn, which roots of small numbers feel
SINGULAR = 1e-5  # singular value of the constraint rows, against ordinary states, below which a pose is singular


@dataclass(frozen=True, eq=False)
class Steady:
    r"""Lagrange's equations at rest, $Q - \partial_q(\Pi - T_0) + J^T\lambda = 0$ with $F = 0$, eq. (17).

    Everything is in q, v, z, w, p; closed inputs are replaced by their laws.

    Attributes:
        equations: The equations of the system.
    """

    equations: Equations

    def __post_init__(self) -> None:
        if isinstance(self.mechanics, Differentiated):
            raise FormulationError(
                f"Equations by {type(self.equations.formulation).__name__} have accelerations among their states; for "
                "equilibria and stability derive the system by GibbsAppell(). To drive a force by its rate "
                "there, make it an extra state: Model(..., states={tau: rate}) with an input rate."
            )

    @property
    def mechanics(self) -> Mechanics:
        """The model on the graph."""
        return self.equations.mechanics

    @cached_property
    def _laws(self) -> tuple[ca.SX, ca.SX] | None:
        """Closed inputs and their formulas in q, v, z, w, p."""
        closed = self.equations.closed
        if not closed:
            return None
        memo = self.mechanics.variables.lower.memo
        leaves = {s: g for s, g in memo.items() if isinstance(s, Letter)}
        for i, s in enumerate(self.equations.speeds):
            leaves.setdefault(s, self.equations.chart.formulas[i])
        lower = Lowering(leaves)
        return ca.vertcat(*[memo[s] for s in closed]), ca.vertcat(*[lower(e) for e in closed.values()])

    def with_laws(self, expression: ca.SX) -> ca.SX:
        """An expression in q, v, z, w, p with the closed inputs replaced by their formulas."""
        return expression if self._laws is None else ca.substitute(expression, *self._laws)

    @cached_property
    def force(self) -> ca.SX:
        """F of M q'' = F + J' lambda."""
        return ca.densify(self.with_laws(self.mechanics.lagrange[1]))

    def ends(self, p: np.ndarray, begin: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """Where extra states end that flow at the start, as a tank that runs dry: the start and the end of each.

        Args:
            p: Values of the parameters.
            begin: Values at the start by name; what has none has no end.
        """
        x, nothing = self.mechanics.variables, ca.SX(0, 1)
        rates = ca.substitute(self.with_laws(x.zdot), x.p, ca.SX(ca.DM(p)))
        kinked = ca.Function("kinked", [nothing, ca.vertcat(x.t, x.q, x.v, x.z, x.w), nothing, nothing], [rates])
        known = [(i, z.label) for i, z in enumerate(self.mechanics.model.states) if z.label in begin]
        if not known or not has_kinks(kinked):
            return {}
        modal, found = Modal.of(kinked), {}
        g, rates = ca.substitute([modal.g, modal.xdot], [modal.x], [kinked.sx_in(1)])
        for i, label in known:
            for *_, way in ends(g, rates[i], modal.s, x.z[i], begin[label]):
                found[label] = begin[label], begin[label] - way
        return found

    @cached_property
    def applied(self) -> ca.SX:
        """Generalized forces without a potential, Q + V_q, and those of inertia on a base that accelerates."""
        m, x = self.mechanics, self.mechanics.variables
        carried = ca.jtimes(ca.gradient(m.T, x.v), x.t, 1)
        return ca.densify(self.with_laws(x.thaw(m.Q + ca.gradient(m.V, x.q) - carried)))

    def applied_slopes(self, at: Equilibrium) -> tuple[np.ndarray, np.ndarray]:
        """Derivatives of the forces without a potential by (q, v, z), at a point and at ordinary states around it.

        What cancels, cancels in numbers only: weight is in Q by the velocities of the bodies and in V by their places.

        Args:
            at: The point.

        Returns:
            One matrix for each state, and for each entry how large a rounding error in it could be.
        """
        m, x = self.mechanics, self.mechanics.variables
        letters = ca.vertcat(x.q, x.v, x.z)
        parts = [
            self.applied,
            self.with_laws(x.thaw(m.Q)),
            x.thaw(ca.gradient(m.V, x.q)),
            x.thaw(ca.gradient(m.T, x.v)),
        ]
        function = ca.Function("applied", x.arguments, [ca.densify(ca.jacobian(e, letters)) for e in parts])
        places = [(at.state.q, at.state.v, at.state.z), *(sample[:3] for sample in self._samples(at.system.p))]
        slopes, rounding = [], np.zeros((x.q.numel(), letters.numel()))
        for q, v, z in places:
            here, *terms = (np.array(e) for e in function(0.0, q, v, z, at.w, at.system.p))
            if all(np.all(np.isfinite(e)) for e in (here, *terms)):
                slopes.append(here)
                rounding = np.maximum(rounding, 1e-11 * sum(np.max(np.abs(e), axis=1, keepdims=True) for e in terms))
        return np.array(slopes), rounding

    @cached_property
    def autonomous(self) -> bool:
        """Whether time occurs nowhere."""
        m, x = self.mechanics, self.mechanics.variables
        everything = x.thaw(ca.vertcat(m.T, m.V, self.with_laws(m.Q), m.c, self.zdot))
        return not ca.depends_on(everything, x.t)

    @cached_property
    def zdot(self) -> ca.SX:
        """Rates of the extra states."""
        x = self.mechanics.variables
        return ca.densify(self.with_laws(x.zdot)) if x.z.numel() else ca.SX(0, 1)

    @cached_property
    def velocity_rows(self) -> tuple[int, ...]:
        """Rows on velocities that do not come from rows on positions."""
        m = self.mechanics
        return tuple(i for i in range(len(m.row_names)) if i not in (*m.position_rows, *m.acceleration_rows))

    @property
    def independent(self) -> int:
        """How many constraint rows are independent."""
        return len(self.equations.split.rows)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What each equation of `residual` is."""
        m = self.mechanics
        return (
            *(f"the equation of {s.label}" for s in m.model.coordinates),
            *(f"the constraint {m.row_names[i]!r}" for i in (*m.position_rows, *self.velocity_rows)),
            *(f"the constraint {m.row_names[i]!r}" for i in m.acceleration_rows),
            *(f"the rate of {s.label}" for s in m.model.states),
        )

    @cached_property
    def rows(self) -> tuple[ca.SX, ca.SX]:
        """J and gamma of J q'' = gamma where there are no accelerations."""
        m = self.mechanics
        if not m.curved:
            return m.J, m.gamma
        C, gamma = m.tangents(ca.SX.zeros(m.a.numel()))
        return m.by_drives(C), gamma

    @cached_property
    def residual(self) -> ca.Function:
        """(q, v, z, w, lambda, p) -> what must vanish, and its derivative by (q, v, z, w, lambda)."""
        m, x = self.mechanics, self.mechanics.variables
        multipliers = ca.SX.sym("lambda", len(m.row_names))
        J, gamma = self.rows
        left = self.force + (J.T @ multipliers if m.row_names else 0)
        moving = [*(m.e[i] for i in self.velocity_rows), *(gamma[i] for i in m.acceleration_rows)]
        unknowns = ca.vertcat(x.q, x.v, x.z, x.w, multipliers)
        column = self._timeless(ca.vertcat(left, m.c, *moving, self.zdot), unknowns)
        return ca.Function("steady", [unknowns, x.p], [column, ca.densify(ca.jacobian(column, unknowns))])

    def _timeless(self, column: ca.SX, unknowns: ca.SX) -> ca.SX:
        """A column in q, v, z, w, p and whatever else without time, where it cancels."""
        return timeless(
            ca.cse(ca.densify(column)),
            self.mechanics.variables.t,
            [unknowns, self.mechanics.variables.p],
            self._ordinary(unknowns.numel()),
            self.mechanics.model.name,
        )

    def _ordinary(self, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Ordinary (q, v, z, w) with random numbers behind them, and parameters."""
        model, rng = self.mechanics.model, np.random.default_rng(3)
        p = np.array([model.values.get(s.label, rng.uniform(0.5, 1.5)) for s in model.parameters])
        for sample in self._samples(p):
            known = np.concatenate(sample)
            yield np.concatenate([known, rng.normal(size=count - known.size)]), p

    def rank(self, jacobian: np.ndarray, p: np.ndarray) -> tuple[int, float]:
        """How many constraint rows are independent at a Jacobian, and its smallest singular value that should count.

        Rows are measured by what they are at ordinary states, so that a row that vanishes at a singular pose shows, and
        coordinates by their natural units.

        Args:
            jacobian: The rows at the pose.
            p: Values of the parameters.
        """
        function = Numeric(self.mechanics.functions["jacobian"])
        units = self.row_units(p)
        states = sample_states(self.mechanics, np.random.default_rng(5), p, (0.5, 0.5, 0.5), units=units)
        if states is None:
            states = [(q, v, z) for q, v, z, _ in self._samples(p)]
        typical = [np.linalg.norm(function(0.0, *state, p)[0] * units, axis=1) for state in states]
        sizes = np.maximum(np.median(typical, axis=0), 1e-300)
        values = np.linalg.svd(jacobian * units / sizes[:, None], compute_uv=False)
        return int(np.sum(values > SINGULAR)), float(values[min(self.independent, values.size) - 1])

    @cached_property
    def _dependence(self) -> ca.Function:
        """Everything that a coordinate could show itself in, and its derivative by q."""
        m, x = self.mechanics, self.mechanics.variables
        M, (J, gamma) = m.lagrange[0], self.rows
        parts = [self.force, ca.vec(M), m.c, m.e, gamma, ca.vec(J), self.zdot, self._switches]
        if m.curved:
            parts.append(
                ca.substitute(m.f, m.a, 1 + ca.DM(range(1, m.a.numel() + 1)) * np.sqrt(2))
            )  # some accelerations
        column = self._timeless(ca.vertcat(*parts), ca.vertcat(x.q, x.v, x.z, x.w))
        return ca.Function("seen", [x.q, x.v, x.z, x.w, x.p], [column])

    @property
    def _switches(self) -> ca.SX:
        """What kinks switch by: where a drive is at its limit, a coordinate shows itself in nothing else."""
        x = self.mechanics.variables
        state = ca.vertcat(x.q, x.v, x.z)
        function = ca.Function("pushed", [x.t, state, x.w, x.p], [ca.densify(ca.vertcat(self.force, self.zdot))])
        if not has_kinks(function):
            return ca.SX(0, 1)
        try:
            modal = Modal.of(function)
        except CompileError:  # floor and its like, which switch at countless places
            return ca.SX(0, 1)
        switches = ca.Function("switches", [modal.t, modal.x, modal.w, modal.p, modal.s], [modal.g])
        ones = np.ones(modal.s.numel())
        return ca.vertcat(*[switches(x.t, state, x.w, x.p, sign * ones) for sign in (1, -1)])

    def cyclic(self, p: np.ndarray) -> tuple[int, ...]:
        """Coordinates that occur in no equation and in no constraint, only their rates do.

        Args:
            p: Values of the parameters.
        """
        return _cyclic_and_angles(self.equations, tuple(p.tolist()))[0]

    def look(self, p: np.ndarray) -> tuple[tuple[int, ...], np.ndarray]:
        """Cyclic coordinates, which change nothing when they move, and whether each changes nothing by a turn.

        Args:
            p: Values of the parameters.
        """
        n, samples = self.mechanics.variables.q.numel(), self._samples(p)
        blind, turning = np.ones(n, dtype=bool), np.ones(n, dtype=bool)
        columns = [np.array(e).T for e in (*zip(*samples, strict=True), [p] * len(samples))]
        sizes = term_sizes_at(self._dependence, *columns)
        for k, (q, *rest) in enumerate(samples):
            here, terms = np.array(self._dependence(q, *rest, p)), sizes[:, [k]]
            for i in np.flatnonzero(blind | turning):
                for kept, step, part in ((blind, q[i] or 1.0, ROUNDING), (turning, 2 * np.pi, TURNED)):
                    moved = q.copy()
                    moved[i] += step
                    change = np.abs(np.array(self._dependence(moved, *rest, p)) - here)
                    kept[i] &= bool(np.all(change <= part * terms))
        return tuple(np.flatnonzero(blind).tolist()), turning

    def periodic(self, p: np.ndarray) -> np.ndarray:
        """Which coordinates are angles: one turn changes nothing.

        Args:
            p: Values of the parameters.
        """
        return _cyclic_and_angles(self.equations, tuple(p.tolist()))[1]

    def row_units(self, p: np.ndarray) -> np.ndarray:
        """Natural units of the coordinates as far as position rows tell, one for the others.

        Args:
            p: Values of the parameters.
        """
        units = row_units(self.mechanics, p)[0]
        return np.where(np.isfinite(units), units, 1.0)

    def _samples(self, p: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Three ordinary states with inputs."""
        mechanics, model, rng = self.mechanics, self.mechanics.model, np.random.default_rng(5)
        positions = SideBySide(mechanics.functions["position"]) if mechanics.position_rows else None
        units, samples = self.row_units(p), []
        for _ in range(3):
            state = sample_state(mechanics, rng, p, 0.5, tries=4, positions=positions, units=units)
            if state is None:
                q0, _ = suggested_start(model)
                state = (
                    q0 + units * rng.normal(0, 0.3, q0.size),
                    units * rng.normal(size=q0.size),
                    rng.uniform(0.5, 1.5, len(model.states)),
                )
            samples.append((*state, rng.normal(size=len(model.inputs))))
        return samples


@lately(64)
def _cyclic_and_angles(equations: Equations, p: tuple[float, ...]) -> tuple[tuple[int, ...], np.ndarray]:
    """What `look` finds."""
    return Steady(equations).look(np.array(p))
