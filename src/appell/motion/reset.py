"""Resets: the state right behind an event, from the one right before it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.code.state import names_of
from appell.errors import InconsistentStartError
from appell.kinematics.consistency import project_positions, project_velocities
from appell.kinematics.mechanics import Mechanics
from appell.motion.events import Event
from appell.motion.projection import GOOD

FORBIDDEN = 1e-9  # what rows may be left with, for positions and velocities of the size of one


class Reset:
    """What one event does to x = (q, u, z) of one choice of speeds.

    What is reset is kept. Where constraint rows bind it, the other positions and then the other rates follow by the
    rows: they change as little as can be, by the sum of the squares of their changes, whatever the speeds are.

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
        old = ca.vertsplit(ca.vertcat(x[:n], code.rates.function(t, x, w, p), x[n + m :]))
        self._state = ca.vertcat(*(new.get(name, value) for name, value in zip(names_of(model), old, strict=True)))
        self._speeds = {i: new[s.label] for i, s in enumerate(equations.speeds) if s.label in new}
        self.plain = not any(label in new for label in _bound(mechanics))
        self._free_positions, self._free_rates = (
            np.array([i for i, label in enumerate(labels) if label not in new], dtype=int)
            for labels in ([q.label for q in model.coordinates], [q.rate.label for q in model.coordinates])
        )
        formulation = equations.formulation
        moved = self._free_positions.size < n and bool(formulation.movable(mechanics, equations.split))
        self._moves = moved and formulation.projects
        self._machine = Machine(self.function, simd=False)

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
        mechanics = self.code.equations.mechanics
        if self._moves:
            q, left = project_positions(mechanics, t, q, p, self._free_positions, tolerance=GOOD)
            self._refuse(left, q, t, "positions")
        v, left = project_velocities(mechanics, t, q, v, z, p, self._free_rates)
        self._refuse(left, v, t, "rates")
        u = np.array(self.code.speeds(t, q, v, z, p)[0][:, 0])
        u[list(self._speeds)] = found[found.size - len(self._speeds) :]
        return np.concatenate([q, u, z])

    def _refuse(self, left: float, values: np.ndarray, t: float, what: str) -> None:
        """Raise if rows are left with more than rounding."""
        if not left <= FORBIDDEN * max(1.0, float(np.max(np.abs(values)))):
            raise InconsistentStartError(
                f"The event {self.event.name!r} at t = {t:.9g} resets {', '.join(self.event.reset)} to {what} that the "
                "constraints forbid; reset fewer of them, the others follow."
            )


def _bound(mechanics: Mechanics) -> list[str]:
    """Names of the entries of the state that constraint rows contain."""
    if not mechanics.row_names:
        return []
    x = mechanics.variables
    entries = ca.vertsplit(ca.vertcat(x.q, x.v, x.z))
    rows = ca.vertcat(mechanics.c, mechanics.e)
    return [name for name, entry in zip(names_of(mechanics.model), entries, strict=True) if ca.depends_on(rows, entry)]
