"""The compiled equations about a point: their full Jacobian, and its restriction to the constraints.

The set of states on the constraints is invariant, so its tangent space is an invariant subspace of the full Jacobian
A: with a basis E of the tangent space and R picking the independent entries, R E = 1, the reduced matrix is R A E.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
import scipy.linalg
import sympy as sp

from appell.analysis.steady import Steady
from appell.code.code import Code
from appell.code.system import System
from appell.errors import EquilibriumError, ModelError
from appell.formulation.gibbs_appell import GibbsAppell
from appell.kinematics.chart import Split
from appell.model.symbols import Letter, key
from appell.model.values import unknown

if TYPE_CHECKING:
    from appell.analysis.blocks import Jets
    from appell.analysis.equilibrium import Equilibrium

STEADY = 1e-7  # acceleration, against the size of what makes it up, that still counts as rest


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
        elif type(own.formulation) is GibbsAppell and own.split == split and not own.formulation.fixed:
            self.equations = own
        else:  # rates of independent coordinates as speeds, F kept by the equations alone
            derived = GibbsAppell().derive(m, split)
            self.equations = derived.close(own.closed) if own.closed else derived
        self.dropped: tuple[str, ...] = ()

    @cached_property
    def x(self) -> np.ndarray:
        """The state (q, u, z)."""
        return System(Code(self.equations, False), self.at.system.values).to_x(self.at.state)

    @cached_property
    def _derivatives(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x', dx'/dx, dx'/dw."""
        eqs = self.equations
        xdot = eqs.xdot
        if ca.depends_on(xdot, eqs.mechanics.variables.t):
            raise EquilibriumError(f"{self.at.model.name!r} depends on time explicitly and has no steady motion.")
        slopes = [ca.densify(ca.jacobian(xdot, e)) for e in (eqs.x, eqs.w)]
        function = ca.Function("tangent", eqs.arguments, [xdot, *slopes])
        w = [self.at.inputs[s.label] for s in eqs.inputs]
        value, slope, inputs = (np.array(e) for e in function(0.0, self.x, w, self.at.system.p))
        return value[:, 0], slope, inputs

    @property
    def full(self) -> np.ndarray:
        """The Jacobian of the full equations in (q, u, z): 2n + m rows for n degrees of freedom and m constraints."""
        return self._derivatives[1]

    @cached_property
    def normals(self) -> np.ndarray:
        """Gradients, by (q, u, z), of what the full equations keep constant: F, and rows of redundant speeds."""
        eqs = self.equations
        m = eqs.mechanics
        rows = [m.c[m.position_rows.index(i)] for i in eqs.split.rows if i in m.position_rows]
        if eqs.chart.redundant:
            kept = [i for i in eqs.split.rows if i not in m.acceleration_rows]
            rows += [eqs.chart.in_speeds(m.e[i]) for i in kept]
        column = ca.vertcat(*rows) if rows else ca.SX(0, 1)
        if not rows:
            return np.zeros((0, self.x.size))
        function = ca.Function("normals", eqs.arguments, [ca.densify(ca.jacobian(column, eqs.x))])
        return np.array(function(0.0, self.x, np.zeros(eqs.w.numel()), self.at.system.p))

    def check_steady(self, ignore: list[str], jet: Jets | None = None) -> None:
        """Raise unless only cyclic coordinates run, and remember which ones are no part of the states.

        Args:
            ignore: Cyclic coordinates at rest to leave out as well.
            jet: Derivatives of energies, forces and constraints at the point, where they are known.
        """
        model = self.at.model
        labels = [s.label for s in model.coordinates]
        for name in ignore:
            if name not in labels:
                raise ModelError(unknown(name, labels, f"coordinate of {model.name!r}"))
        if not np.any(self.at.state.v) and not ignore:
            residual = jet.imbalance(self.at, STEADY) if jet is not None and self.steady.autonomous else self.rest()
            if residual > STEADY:
                raise EquilibriumError(
                    f"The point is not an equilibrium of {model.name!r} with these inputs: relative residual "
                    f"{residual:.2g}; find one by equilibrium(system, {{...}})."
                )
            return
        running = {name for name in self.changing if name in labels}
        dropped = self.blind(running | set(ignore))
        self.dropped = tuple(name for name in labels if name in dropped)
        moving = [name for name in self.changing if name not in dropped]
        if moving:
            raise EquilibriumError(
                f"The point is not a steady motion of {model.name!r}: {', '.join(moving[:4])} would change, and "
                f"{'they are' if len(moving) > 1 else 'it is'} not cyclic (or not at equilibrium)."
                + self._remedy(running | set(ignore), set(moving), ignore)
            )
        stubborn = [name for name in ignore if name not in dropped]
        if stubborn:
            raise EquilibriumError(f"{', '.join(stubborn)} cannot be ignored: not cyclic, the motion depends on it.")

    @cached_property
    def changing(self) -> tuple[str, ...]:
        """Entries of (q, u, z) that do not keep their values."""
        value, slope, _ = self._derivatives
        scale = np.linalg.norm(slope * np.maximum(np.abs(self.x), 1.0), axis=1) + 1.0
        return tuple(name for name, e, size in zip(self._names(), value, scale, strict=True) if abs(e) > STEADY * size)

    def _remedy(self, candidates: set[str], moving: set[str], ignore: list[str]) -> str:
        """What to ignore besides, where only coordinates that nothing else needs depend on what moves."""
        more = [name for name in self.ignorable if name not in candidates]
        if not moving <= self.blind(candidates | set(more)):
            return ""
        for name in tuple(more):
            fewer = [e for e in more if e != name]
            if moving <= self.blind(candidates | set(fewer)):
                more = fewer
        return f" With ignore={[*ignore, *more]!r} it is one: nothing else depends on {', '.join(sorted(moving))}."

    def blind(self, candidates: set[str]) -> set[str]:
        """The most of some coordinates on which nothing else depends: they may depend on each other.

        Args:
            candidates: Names of coordinates.
        """
        names, count = self._names(), len(self.at.model.coordinates)
        found = [i for i, name in enumerate(names[:count]) if name in candidates]
        while found:
            seen = np.max([self._share(found, *sample) for sample in self.seen], axis=0)
            if not np.any(seen > 1e-9):
                break
            found = [i for i, share in zip(found, seen, strict=True) if share <= 1e-9]
        return {names[i] for i in found}

    def shows(self, names: set[str]) -> bool:
        """Whether a displacement of some coordinates pushes a system at rest: then no speeds hide them.

        Args:
            names: Names of coordinates.
        """
        found = [i for i, name in enumerate(self._names()) if name in names]
        return not np.any(self.at.state.v) and bool(np.any(self._share(found, *self.seen[0]) > 1e-9))

    @staticmethod
    def _share(found: list[int], slope: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """How much of all else depends on each of some coordinates, as far as rows among them let them move."""
        others = np.setdiff1d(np.arange(slope.shape[0]), found)
        size = float(np.max(np.abs(slope[np.isfinite(slope)]), initial=0.0))
        apart = ~np.any(rows[:, others], axis=1)  # such as the norm of a quaternion
        moved = np.vstack([slope[others], size * rows[~apart]])[:, found]
        if np.any(rows[apart][:, found]) and np.all(np.isfinite(moved)):
            inner = rows[apart][:, found]
            moved = moved - moved @ np.linalg.pinv(inner, rcond=1e-9) @ inner
        moved = np.where(np.isfinite(moved), np.abs(moved), np.inf)
        return np.max(moved, axis=0, initial=0.0) / max(size, 1e-300)

    @cached_property
    def seen(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """dx'/dx and the derivatives of the constraints here and at three other states on the constraints."""
        eqs, rng = self.equations, np.random.default_rng(2)
        c = eqs.mechanics.c if eqs.mechanics.position_rows else ca.SX(0, 1)
        rows = ca.densify(ca.jacobian(c, eqs.x)) if c.numel() else ca.SX(0, eqs.x.numel())
        slope = ca.densify(ca.jacobian(eqs.xdot, eqs.x))
        function = ca.Function("seen", eqs.arguments, [slope, rows], {"cse": True})
        bound = ca.Function("bound", eqs.arguments, [ca.densify(c), rows])
        w = [self.at.inputs[s.label] for s in eqs.inputs]
        samples = []
        for shift in (0.0, 0.3, 0.3, 0.3):
            x = self.x + shift * self.units * rng.normal(size=self.x.size)
            for _ in range(8 if shift and c.numel() else 0):
                value, J = (np.array(e) for e in bound(0.0, x, w, self.at.system.p))
                if not (np.all(np.isfinite(value)) and np.all(np.isfinite(J))):
                    break
                x = x - self.units * np.linalg.lstsq(J * self.units, value[:, 0], rcond=1e-9)[0]
            here, J = (np.array(e) * self.units for e in function(0.0, x, w, self.at.system.p))
            J = J / np.maximum(np.max(np.abs(J), axis=1, keepdims=True, initial=0.0), 1e-300)
            samples.append((here / self.units[:, None], np.where(np.abs(J) > 1e-9, J, 0.0)))
        return samples

    @cached_property
    def units(self) -> np.ndarray:
        """What the entries of x are measured in; speeds that are no rates as angles over time."""
        units, model = self.at.units, self.at.model
        labels = [*(s.label for s in model.coordinates), *(s.rate.label for s in model.coordinates)]
        known = dict(zip([*labels, *(s.label for s in model.states)], units.unknowns, strict=False))
        return np.array([known.get(name, 1 / units.time) for name in self._names()])

    @property
    def ignorable(self) -> tuple[str, ...]:
        """Coordinates that are still among the states although nothing depends on them."""
        blind = self.blind(set(self._names()))
        return tuple(s for s in self._names() if s in blind and s not in self.dropped)

    @property
    def bonds(self) -> np.ndarray:
        """Those of the normals that bind something that is not left out."""
        return self.normals[np.any(self.normals[:, self.awake], axis=1)]

    @property
    def awake(self) -> list[int]:
        """Entries of (q, u, z) that are not left out."""
        return [i for i, name in enumerate(self._names()) if name not in self.dropped]

    def rest(self) -> float:
        """What Lagrange's equations leave at rest, against the size of their terms."""
        m = self.steady.mechanics
        q, v, z = self.at.state.q, self.at.state.v, self.at.state.z
        w = np.array([self.at.inputs.get(s.label, 0.0) for s in self.at.model.inputs])
        count = len(m.row_names)
        y = np.concatenate([q, v, z, w, np.zeros(count)])
        value, slope = (np.array(e) for e in self.steady.residual(y, self.at.system.p))
        if count:  # with the multipliers that fit best; they are part of the sizes
            y[-count:] = np.linalg.lstsq(slope[:, -count:], -value[:, 0], rcond=1e-12)[0]
            value, slope = (np.array(e) for e in self.steady.residual(y, self.at.system.p))
        units = self.at.units
        size = np.linalg.norm(slope * np.maximum(np.abs(y), 0.1 * units.unknowns), axis=1)
        return float(np.max(np.abs(value[:, 0]) / np.maximum(size, 1e-9 * units.equations), initial=0.0))

    def _names(self) -> list[str]:
        return [s.label for s in self.equations.states]

    @cached_property
    def _basis(self) -> tuple[list[int], np.ndarray]:
        """Independent entries of x, and the basis E with ones there."""
        eqs = self.equations
        names = self._names()
        kept = [i for i, name in enumerate(names) if name not in self.dropped]
        H = self.bonds[:, kept]
        if H.shape[0] == 0:
            return kept, np.eye(len(names))[:, kept]
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
        E = np.zeros((len(names), len(free)))
        for column, k in enumerate(free):
            E[kept[k], column] = 1.0
        E[[kept[k] for k in dependent]] = -np.linalg.solve(H[:, dependent], H[:, free])
        return [kept[k] for k in free], E

    @property
    def basis(self) -> np.ndarray:
        """E, columns that span the directions along the constraints."""
        return self._basis[1]

    def reduced(self, inputs: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
        """A, B and the names of the states on the constraints.

        Args:
            inputs: Inputs of B.
        """
        free, E = self._basis
        _, slope, pushed = self._derivatives
        names = self._names()
        opened = [s.label for s in self.equations.inputs]
        columns = [opened.index(w) for w in inputs]
        return (slope @ E)[free], pushed[free][:, columns], tuple(names[i] for i in free)

    def value(self, name: str) -> float:
        """The value of a state of (q, u, z) at the point."""
        return float(self.x[self._names().index(name)])

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
        names = self._names()
        picked = np.zeros((len(states), len(names)))
        for row, s in enumerate(states):
            picked[row, names.index(s)] = 1.0
        return picked

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

    def leads_on(
        self,
        states: tuple[str, ...],
        direction: np.ndarray,
        xdot: ca.SX | None = None,
        along: np.ndarray | None = None,
        reach: float = 1e-2,
    ) -> bool:
        """Whether a direction leads to other steady motions, on both sides.

        Args:
            states: Names of the reduced states.
            direction: A vector of the kernel of the reduced matrix A, or with `along` one that A takes there.
            xdot: The equations, if they are not those of the system but with a feedback.
            along: A direction of the coordinates along which a steady motion may go.
            reach: How far to go.
        """
        free, E = self._basis
        names, eqs = self._names(), self.equations
        order = [states.index(names[i]) for i in free]
        units, time = self.units, self.at.units.time
        kept = [i for i, name in enumerate(names) if name not in self.dropped]
        column = ca.densify(ca.vertcat((eqs.xdot if xdot is None else xdot)[kept], eqs.mechanics.c))
        function = ca.Function("family", eqs.arguments, [column, ca.densify(ca.jacobian(column, eqs.x))])
        w = [self.at.inputs[s.label] for s in eqs.inputs]
        sizes = np.concatenate(
            [units[kept] / time, self.at.units.equations[len(self.at.state.q) :][: eqs.mechanics.c.numel()]]
        )
        going = np.zeros((sizes.size, 1))  # how fast it goes is one more unknown
        if along is not None:
            whole = np.concatenate([along, np.zeros(len(names) - along.size)])
            going[: len(kept), 0] = whole[kept] / sizes[: len(kept)]
        start = np.append(E @ direction[order] / units, 0.0 if along is None else 1.0)
        start[:-1], start[-1] = start[:-1] / np.linalg.norm(start[:-1]), start[-1] / np.linalg.norm(start[:-1])
        here = np.array(function(0.0, self.x, w, self.at.system.p)[1]) * units / sizes[:, None]
        size = 1e-10 * (1 + np.max(np.abs(here)))
        for side in (reach, -reach):
            y, value = side * start, np.zeros(1)
            for _ in range(12):
                x = self.x + units * y[:-1]
                value, slope = (np.array(e) / sizes[:, None] for e in function(0.0, x, w, self.at.system.p))
                value = value[:, 0] - y[-1] * going[:, 0]
                y = y - np.linalg.lstsq(np.hstack([slope * units, -going]), value, rcond=1e-9)[0]
            moved = float(y[:-1] @ start[:-1]) / side
            if not np.max(np.abs(value)) < size or not 0.5 < moved < 2:
                return False
        return True

    def at_constant_momenta(
        self, cyclic: tuple[str, ...], kept: tuple[str, ...], states: tuple[str, ...]
    ) -> np.ndarray:
        """How the reduced states change with some of them while the momenta of cyclic coordinates are held.

        Args:
            cyclic: The cyclic coordinates.
            kept: The states that change freely.
            states: All reduced states, in order.
        """
        m, eqs, x = self.steady.mechanics, self.equations, self.steady.mechanics.variables
        labels = [s.label for s in m.model.coordinates]
        momentum = eqs.chart.in_speeds(x.thaw(ca.gradient(m.T, x.v)))
        column = ca.vertcat(*[momentum[labels.index(s)] for s in cyclic])
        function = ca.Function("momenta", eqs.arguments, [ca.densify(ca.jacobian(column, eqs.x))])
        w = [self.at.inputs[s.label] for s in eqs.inputs]
        free, E = self._basis
        slope = np.array(function(0.0, self.x, w, self.at.system.p)) @ E
        names = [self._names()[i] for i in free]
        P = slope[:, [names.index(s) for s in states]]
        held = [states.index(f"{s}.rate") for s in cyclic]
        moved = [states.index(s) for s in kept]
        result = np.zeros((len(states), len(kept)))
        result[moved] = np.eye(len(kept))
        result[held] = -np.linalg.solve(P[:, held], P[:, moved])
        return result

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
        eqs = self.equations
        w = [self.at.inputs[s.label] for s in eqs.inputs]
        return float(ca.Function("value", eqs.arguments, [eqs.formula(formula)])(0.0, self.x, w, self.at.system.p))

    def output(self, outputs: list[Any], states: tuple[str, ...]) -> np.ndarray:
        """Derivatives of formulas by the states of the reduced system.

        Args:
            outputs: Letters, names or formulas.
            states: Names of the states.
        """
        eqs = self.equations
        column = [eqs.formula(self.letter(e) if isinstance(e, str) else e) for e in outputs]
        graph = ca.vertcat(*column) if column else ca.SX(0, 1)
        if ca.depends_on(graph, eqs.w):
            raise ModelError("A measured quantity contains an input; measure coordinates, rates and extra states.")
        slope = ca.Function("output", eqs.arguments, [ca.densify(ca.jacobian(graph, eqs.x))])
        w = [self.at.inputs[s.label] for s in eqs.inputs]
        free, E = self._basis
        C = np.array(slope(0.0, self.x, w, self.at.system.p)) @ E
        names = self._names()
        mine = [names[i] for i in free]
        if sorted(mine) != sorted(states):
            raise ModelError(f"The states {', '.join(states)} are not those of the tangent space, {', '.join(mine)}.")
        return C[:, [mine.index(s) for s in states]]
