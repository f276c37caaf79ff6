"""Resets: the state right behind an event, from the one right before it."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.code.state import names_of
from appell.errors import InconsistentStartError
from appell.graph.numeric import Numeric
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.saddle import accelerations_and_multipliers, own_units
from appell.motion.events import Event
from appell.motion.projection import GOOD, LEAST

FORBIDDEN = 1e-9  # share of their terms that rows may be left with
STEPS, HALVINGS = 60, 10  # of Newton's method, and how often one of them is halved that leads away from the rows


class Reset:
    """What one event does to x = (q, u, z) of one choice of speeds.

    What is reset is kept. Where constraint rows bind it, the other positions and then the other rates follow by the
    rows: they change as little as can be, whatever the speeds and the units are. A change of rates dv is measured by
    dv' M dv, the kinetic energy of such rates, so that it is what impulses along the rows do; so is one of positions.

    Args:
        code: The equations as functions.
        event: The event.
    """

    def __init__(self, code: Code, event: Event) -> None:
        self.code, self.event = code, event
        equations = code.equations
        model, mechanics = equations.model, equations.mechanics
        t, x, w, p = equations.arguments
        self.n, self.m = n, m = len(model.coordinates), len(equations.speeds)
        new = {label: equations.formula(formula) for label, formula in event.reset.items()}
        q, _, z = ca.vertsplit(x, [0, n, n + m, x.numel()])
        old = ca.vertsplit(ca.vertcat(q, code.rates.function(t, x, w, p), z))
        self._state = ca.vertcat(*(new.get(name, value) for name, value in zip(names_of(model), old, strict=True)))
        self._speeds = {i: new[s.label] for i, s in enumerate(equations.speeds) if s.label in new}
        self.plain = not any(label in new for label in _bound(mechanics))
        self._free_positions, self._free_rates = (
            np.array([i for i, label in enumerate(labels) if label not in new], dtype=int)
            for labels in ([q.label for q in model.coordinates], [q.rate.label for q in model.coordinates])
        )
        formulation, moved = equations.formulation, self._free_positions.size < n and bool(mechanics.position_rows)
        self._moves = moved and formulation.projects and bool(formulation.movable(mechanics, equations.split))
        self._machine = Machine(self.function, simd=False)

    @cached_property
    def _inertia(self) -> Machine:
        """M of T = v' M v / 2 + ..."""
        mechanics = self.code.equations.mechanics
        x = mechanics.variables
        M = x.thaw(ca.hessian(mechanics.T, x.v)[0])
        return Machine(ca.Function("inertia", x.arguments, [ca.densify(M)], {"cse": True}), simd=False)

    @property
    def function(self) -> ca.Function:
        """(t, x, w, p) -> x right behind; where others have to follow, (q, q', z) and the speeds that are set."""
        t, x, w, p = self.code.equations.arguments
        n, state = self.n, self._state
        if not self.plain:
            result = ca.vertcat(state, *self._speeds.values())
        else:
            q, v, z = state[:n], state[n : 2 * n], state[2 * n :]
            u = ca.vertsplit(self.code.speeds.function(t, q, v, z, p)) if self.m else []
            result = ca.vertcat(q, *(self._speeds.get(i, e) for i, e in enumerate(u)), z)
        return ca.Function("reset", [t, x, w, p], [ca.densify(result)], {"cse": True})

    def __call__(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The new x."""
        found, n = np.array(self._machine.flat(t, x, w, p)), self.n
        if self.plain:
            return found
        q, v, z = found[:n], found[n : 2 * n], found[2 * n : found.size - len(self._speeds)]
        if self._moves:
            q = self._follow("position", self._free_positions, q, (t,), (p,), self._inertia(t, q, v, z, w, p)[0])
        v = self._follow("velocity", self._free_rates, v, (t, q), (z, p), self._inertia(t, q, v, z, w, p)[0])
        u = np.array(self.code.speeds(t, q, v, z, p)[0][:, 0])
        u[list(self._speeds)] = found[found.size - len(self._speeds) :]
        return np.concatenate([q, u, z])

    def _follow(
        self, what: str, free: np.ndarray, values: np.ndarray, before: tuple, behind: tuple, M: np.ndarray
    ) -> np.ndarray:
        """Positions or rates on their rows, by Newton's method; raises if there are none.

        Args:
            what: Which rows, those on positions or on velocities.
            free: Which of the values may change.
            values: The values.
            before: Arguments of the rows before the values.
            behind: Arguments of the rows behind them.
            M: The matrix of inertia.
        """
        mechanics, terms = self.code.equations.mechanics, np.full(1, LEAST)
        rows, sizes = Numeric(mechanics.functions[what]), Numeric(mechanics.row_terms[what])

        def looked(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
            """Residuals, slopes, and the largest residual as a share of what the terms of its row have been."""
            nonlocal terms
            residual, slopes = rows(*before, values, *behind)
            terms = np.fmax(terms, sizes(*before, values, *behind)[0][:, 0])
            return residual[:, 0], slopes[:, free], share_of(residual[:, 0])

        def share_of(residual: np.ndarray) -> float:
            return float(np.max(np.abs(residual) / terms))

        M, places = M[np.ix_(free, free)], {int(k): i for i, k in enumerate(free)}
        alike = [[places[k] for k in own if k in places] for own in mechanics.variables.quaternions]
        unit = own_units(M, alike)
        residual, slopes, left = looked(values)
        for _ in range(STEPS):
            if not GOOD < left < np.inf or not free.size:
                break
            step = accelerations_and_multipliers(M, slopes, slopes, np.zeros(free.size), -residual, alike)[0]
            # Its rounding is shared by all: it moves also what a row of one term holds at zero.
            terms = np.fmax(terms, np.abs(slopes) @ unit * np.linalg.norm(step / unit))
            left = share_of(residual)
            for halving in range(HALVINGS):
                trial = np.array(values)
                trial[free] += step / 2**halving
                *found, share = looked(trial)
                if share < left:
                    values, (residual, slopes), left = trial, found, share
                    break
            else:
                break
        if left <= FORBIDDEN:
            return values
        called = {"position": "positions", "velocity": "rates"}[what]
        raise InconsistentStartError(
            f"The event {self.event.name!r} at t = {before[0]:.9g} resets {', '.join(self.event.reset)} to {called} "
            "that the constraints forbid; reset fewer of them, the others follow."
        )


def _bound(mechanics: Mechanics) -> list[str]:
    """Names of the entries of the state that constraint rows contain."""
    if not mechanics.row_names:
        return []
    x = mechanics.variables
    entries = ca.vertsplit(ca.vertcat(x.q, x.v, x.z))
    rows = ca.vertcat(mechanics.c, mechanics.e)
    return [name for name, entry in zip(names_of(mechanics.model), entries, strict=True) if ca.depends_on(rows, entry)]
