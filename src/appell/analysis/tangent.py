"""The compiled equations about a point: their full Jacobian, and its restriction to the constraints.

The set of states on the constraints is invariant, so its tangent space is an invariant subspace of the full Jacobian
A: with a basis E of the tangent space and R picking the independent entries, R E = 1, the reduced matrix is R A E.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import scipy.linalg
import sympy as sp

from appell.analysis.steady import Steady
from appell.analysis.timeless import timeless
from appell.code.code import Code
from appell.code.system import System
from appell.errors import ModelError
from appell.formulation.gibbs_appell import GibbsAppell
from appell.graph.sparse import stacked
from appell.graph.terms import term_sizes_at
from appell.kinematics.split import Split
from appell.model.symbols import Letter, key
from appell.model.values import unknown

if TYPE_CHECKING:
    from appell.analysis.equilibrium import Equilibrium
    from appell.equations import Equations

FAINT = 1e-3  # share of the largest, in natural units, below which a row of dx'/dx is judged by itself
GENUINE = 1e-3  # share of its terms from which on a number is no rounding of larger ones


def kept(equations: Equations) -> ca.SX:
    """What equations keep constant, in t, q, u, z, p: F, and the rows of redundant speeds.

    Args:
        equations: The equations.
    """
    m, rows = equations.mechanics, equations.split.rows
    positions = [m.c[m.position_rows.index(i)] for i in rows if i in m.position_rows]
    redundant = [i for i in rows if i not in m.acceleration_rows] if equations.chart.redundant else []
    return ca.vertcat(ca.SX(0, 1), *positions, *(equations.chart.in_speeds(m.e[i]) for i in redundant))


class Tangent:
    """The equations x' = f(x, w) about a point, in one choice of speeds.

    Args:
        steady: The equations of rest.
        at: The point.
        split: Independent rows and dependent coordinates.
        own_speeds: Whether the speeds of the system itself are to be used.
    """

    def __init__(self, steady: Steady, at: Equilibrium, split: Split, own_speeds: bool = False) -> None:
        self.steady, self.at, self.split = steady, at, split
        own, m = at.system.equations, steady.mechanics
        rolling = bool(steady.velocity_rows or m.acceleration_rows)
        if own_speeds or (rolling and (own.formulation.fixed or not m.linear)):
            self.equations = own
        elif type(own.formulation) is GibbsAppell and own.coordinate_split == split and not own.formulation.fixed:
            self.equations = own
        else:  # rates of independent coordinates as speeds, F kept by the equations alone
            derived = GibbsAppell().derive(m, split)
            self.equations = derived.close(own.closed) if own.closed else derived
        self.dropped: tuple[str, ...] = ()

    def without(self, dropped: tuple[str, ...]) -> Tangent:
        """The same with some coordinates left out of the states.

        Args:
            dropped: Coordinates on which nothing else depends.
        """
        twin = copy(self)
        twin.dropped = dropped
        return twin

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of (q, u, z)."""
        return tuple(s.label for s in self.equations.states)

    @cached_property
    def x(self) -> np.ndarray:
        """The state (q, u, z)."""
        return System(Code(self.equations, False), self.at.system.values).to_x(self.at.state)

    @cached_property
    def numbers(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """t, x, w, p at the point."""
        return 0.0, self.x, np.array([self.at.inputs[s.label] for s in self.equations.inputs]), self.at.system.p

    def here(self, *graphs: ca.SX) -> list[np.ndarray]:
        """The values of graphs in t, x, w, p at the point."""
        function = ca.Function("here", self.equations.arguments, [ca.densify(e) for e in graphs])
        return [np.array(e) for e in function.call(self.numbers)]

    @cached_property
    def _derivatives(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x', dx'/dx, dx'/dw."""
        eqs = self.equations
        time, *letters = eqs.arguments
        _, x, w, p = self.numbers
        rng = np.random.default_rng(4)
        places = ((x + 0.3 * self.units * rng.normal(size=x.size), w, p) for _ in range(3))
        xdot = timeless(eqs.xdot, time, letters, places, self.at.model.name)
        value, slope, inputs = self.here(xdot, *(ca.jacobian(xdot, e) for e in (eqs.x, eqs.w)))
        return value[:, 0], slope, inputs

    @property
    def rates(self) -> np.ndarray:
        """x' at the point."""
        return self._derivatives[0]

    @property
    def full(self) -> np.ndarray:
        """The Jacobian of the full equations in (q, u, z): 2n + m rows for n degrees of freedom and m constraints."""
        return self._derivatives[1]

    @cached_property
    def normals(self) -> np.ndarray:
        """Gradients, by (q, u, z), of what the full equations keep constant."""
        rows = kept(self.equations)
        return self.here(ca.jacobian(rows, self.equations.x))[0] if rows.numel() else np.zeros((0, self.x.size))

    @cached_property
    def seen(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """dx'/dx and the derivatives of the constraints here and at three other states on the constraints.

        Rows that are small beside others are as telling, unless they are what rounding leaves: what is slow, as the
        libration of a satellite beside the current of its motor, has a row of size one as well.
        """
        eqs, rng = self.equations, np.random.default_rng(2)
        c = eqs.mechanics.c if eqs.mechanics.position_rows else ca.SX(0, 1)
        rows = ca.densify(ca.jacobian(c, eqs.x)) if c.numel() else ca.SX(0, eqs.x.numel())
        slope = ca.densify(ca.jacobian(eqs.xdot, eqs.x))
        function = ca.Function("seen", eqs.arguments, [slope, rows], {"cse": True})
        bound = ca.Function("bound", eqs.arguments, [ca.densify(c), rows])
        t, _, w, p = self.numbers
        samples = []
        for shift in (0.0, 0.3, 0.3, 0.3):
            x = self.x + shift * self.units * rng.normal(size=self.x.size)
            for _ in range(8 if shift and c.numel() else 0):
                value, J = (np.array(e) for e in bound(t, x, w, p))
                if not (np.all(np.isfinite(value)) and np.all(np.isfinite(J))):
                    break
                x = x - self.units * np.linalg.lstsq(J * self.units, value[:, 0], rcond=1e-9)[0]
            here, J = (np.array(e) * self.units for e in function(t, x, w, p))
            J = J / np.maximum(np.max(np.abs(J), axis=1, keepdims=True, initial=0.0), 1e-300)
            here = here / self.units[:, None]
            largest = np.max(np.where(np.isfinite(here), np.abs(here), 0.0), axis=1, initial=0.0)
            faint = np.flatnonzero((largest > 0) & (largest < FAINT * np.max(largest, initial=0.0)))
            if faint.size:
                terms = term_sizes_at(function, t, x, w, p).reshape(here.shape, order="F")
                terms = terms * self.units / self.units[:, None]
                own = faint[np.any(np.abs(here[faint]) > GENUINE * terms[faint], axis=1)]
                here[own] *= (np.max(largest) / largest[own])[:, None]
            samples.append((here, np.where(np.abs(J) > 1e-9, J, 0.0)))
        return samples

    @cached_property
    def units(self) -> np.ndarray:
        """What the entries of x are measured in; speeds that are no rates as angles over time."""
        units, model = self.at.units, self.at.model
        labels = [*(s.label for s in model.coordinates), *(s.rate.label for s in model.coordinates)]
        known = dict(zip([*labels, *(s.label for s in model.states)], units.unknowns, strict=False))
        return np.array([known.get(name, 1 / units.time) for name in self.names])

    @property
    def bonds(self) -> np.ndarray:
        """Those of the normals that bind something that is not left out."""
        return self.normals[np.any(self.normals[:, self.awake], axis=1)]

    @property
    def awake(self) -> list[int]:
        """Entries of (q, u, z) that are not left out."""
        return [i for i, name in enumerate(self.names) if name not in self.dropped]

    def rest(self) -> float:
        """What Lagrange's equations leave at rest, against the size of their terms; in a turn, what changes."""
        if self.at.aside:
            sizes = np.linalg.norm(self.full * np.maximum(np.abs(self.x), self.units), axis=1)
            return float(np.max((np.abs(self.rates) / np.maximum(sizes, 1e-300))[self.awake], initial=0.0))
        m = self.steady.mechanics
        q, v, z = self.at.state.q, self.at.state.v, self.at.state.z
        count = len(m.row_names)
        y = np.concatenate([q, v, z, self.at.w, np.zeros(count)])
        value, slope = (np.array(e) for e in self.steady.residual(y, self.at.system.p))
        if count:  # with the multipliers that fit best; they are part of the sizes
            y[-count:] = np.linalg.lstsq(slope[:, -count:], -value[:, 0], rcond=1e-12)[0]
            value, slope = (np.array(e) for e in self.steady.residual(y, self.at.system.p))
        units = self.at.units
        size = np.linalg.norm(slope * np.maximum(np.abs(y), 0.1 * units.unknowns), axis=1)
        return float(np.max(np.abs(value[:, 0]) / np.maximum(size, 1e-9 * units.equations), initial=0.0))

    @cached_property
    def _basis(self) -> tuple[list[int], np.ndarray]:
        """Independent entries of x, and the basis E with ones there."""
        eqs, kept = self.equations, self.awake
        H = self.bonds[:, kept]
        if H.shape[0] == 0:
            return kept, np.eye(len(self.names))[:, kept]
        count = H.shape[0]
        n = len(eqs.coordinates)
        wish = [kept.index(i) for i in eqs.split.dependent if i in kept]
        holonomic = len(eqs.mechanics.position_rows) and len(wish) >= count
        if holonomic and len(wish) == count and abs(np.linalg.cond(H[:, wish])) < 1e9:
            dependent = wish
        else:  # by pivoting, first among the coordinates, then among the speeds
            places = [k for k, i in enumerate(kept) if i < n]
            others = [k for k in range(len(kept)) if k not in places]
            rows = [i for i in range(count) if np.any(H[i, others])]
            dependent = []
            for part, columns in (([i for i in range(count) if i not in rows], places), (rows, others)):
                if part:
                    _, _, pivots = scipy.linalg.qr(H[np.ix_(part, columns)], pivoting=True, mode="economic")
                    dependent += [columns[k] for k in pivots[: len(part)]]
        free = [k for k in range(len(kept)) if k not in dependent]
        E = np.zeros((len(self.names), len(free)))
        for column, k in enumerate(free):
            E[kept[k], column] = 1.0
        E[[kept[k] for k in dependent]] = -np.linalg.solve(H[:, dependent], H[:, free])
        return [kept[k] for k in free], E

    @property
    def basis(self) -> np.ndarray:
        """E, columns that span the directions along the constraints."""
        return self._basis[1]

    @property
    def states(self) -> tuple[str, ...]:
        """Names of the independent entries of (q, u, z), in the order of the columns of E."""
        return tuple(self.names[i] for i in self._basis[0])

    def reduced(self, inputs: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """A, B and the names of the states on the constraints.

        Args:
            inputs: Inputs of B.
        """
        free, E = self._basis
        return (self.full @ E)[free], self.pushed(inputs)[free], self.states

    def value(self, name: str) -> float:
        """The value of a state of (q, u, z) at the point."""
        return float(self.x[self.names.index(name)])

    def reduced_as(self, states: tuple[str, ...]) -> np.ndarray:
        """The reduced matrix with its states in a given order."""
        A, _, names = self.reduced(())
        order = [names.index(s) for s in states]
        return A[np.ix_(order, order)]

    def pushed(self, inputs: tuple[str, ...]) -> np.ndarray:
        """dx'/dw of the full equations, for some inputs."""
        opened = [s.label for s in self.equations.inputs]
        return self._derivatives[2][:, [opened.index(w) for w in inputs]]

    def selection(self, states: tuple[str, ...]) -> np.ndarray:
        """The matrix that picks some states out of (q, u, z)."""
        return np.eye(len(self.names))[[self.names.index(s) for s in states]]

    def fed_back(self, inputs: tuple[str, ...], states: tuple[str, ...], K: np.ndarray) -> ca.SX:
        """x' with u = u0 - K eta in place of some inputs.

        Args:
            inputs: Names of u.
            states: Names of eta.
            K: The gains.
        """
        eqs, picked = self.equations, self.selection(states)
        opened = [s.label for s in eqs.inputs]
        held = np.array([self.at.inputs[w] for w in inputs])
        law = held - ca.SX(K @ picked) @ (eqs.x - self.x)
        return ca.substitute(eqs.xdot, eqs.w[[opened.index(w) for w in inputs]], law)

    def letter(self, name: str) -> Letter:
        """The letter of a name: a state, rate, input or parameter."""
        eqs = self.equations
        letters: dict[str, Letter] = {s.label: s for s in (*eqs.states, *eqs.model.inputs, *eqs.model.parameters)}
        letters.update({q.rate.label: q.rate for q in eqs.model.coordinates})
        if key(name) not in letters:
            raise ModelError(unknown(key(name), sorted(letters), f"quantity of {self.at.model.name!r}"))
        return letters[key(name)]

    def in_rates(self, formula: Any) -> sp.Expr:
        """A formula with what they stand for in place of given speeds: one that all equations of the model know.

        Args:
            formula: The formula.
        """
        given: Mapping[Any, Any] = getattr(self.equations.formulation, "speeds", None) or {}
        return sp.sympify(formula).xreplace({s: sp.sympify(e) for s, e in given.items()})

    def evaluate(self, formula: Any) -> float:
        """The value of a formula at the point."""
        return float(self.here(self.equations.formula(formula))[0][0, 0])

    def output(self, outputs: list[Any], states: tuple[str, ...]) -> np.ndarray:
        """Derivatives of formulas by the states of the reduced system.

        Args:
            outputs: Letters, names or formulas.
            states: Names of the states.
        """
        eqs = self.equations
        graph = stacked(eqs.formula(self.letter(e) if isinstance(e, str) else e) for e in outputs)
        if ca.depends_on(graph, eqs.w):
            raise ModelError("A measured quantity contains an input; measure coordinates, rates and extra states.")
        if sorted(self.states) != sorted(states):
            mine = ", ".join(self.states)
            raise ModelError(f"The states {', '.join(states)} are not those of the tangent space, {mine}.")
        return (self.here(ca.jacobian(graph, eqs.x))[0] @ self.basis)[:, [self.states.index(s) for s in states]]
