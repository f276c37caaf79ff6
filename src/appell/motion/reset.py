"""Resets: the state right behind an event, from the one right before it."""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.code.state import names_of
from appell.errors import InconsistentStartError
from appell.kinematics.consistency import project_velocities
from appell.motion.events import Event

FORBIDDEN = 1e-9  # what rows may be left with, for velocities of the size of one


class Reset:
    """What one event does to x = (q, u, z) of one choice of speeds.

    Where rates are reset that constraint rows bind, the others follow by the rows.

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
        kept = np.array([q.rate.label in new for q in model.coordinates])
        self.free = np.flatnonzero(~kept) if kept.any() and mechanics.row_names else None
        self._machine = Machine(self.function, simd=False)

    @property
    def plain(self) -> bool:
        """Whether `function` gives all of the new x."""
        return self.free is None

    @property
    def function(self) -> ca.Function:
        """(t, x, w, p) -> x right behind; where other rates have to follow, (q, q', z) and the speeds that are set."""
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
        """The new x; it may still have to be moved onto the position rows."""
        found, n = np.array(self._machine.flat(t, x, w, p)), self.n
        if self.free is None:
            return found
        q, v, z = found[:n], found[n : 2 * n], found[2 * n : found.size - len(self._speeds)]
        v, left = project_velocities(self.code.equations.mechanics, t, q, v, z, p, self.free)
        if not left <= FORBIDDEN * max(1.0, float(np.max(np.abs(v)))):
            raise InconsistentStartError(
                f"The event {self.event.name!r} at t = {t:.9g} resets {', '.join(self.event.reset)} to rates that the "
                "constraints forbid; reset fewer of them, the others follow."
            )
        u = np.array(self.code.speeds(t, q, v, z, p)[0][:, 0])
        u[list(self._speeds)] = found[found.size - len(self._speeds) :]
        return np.concatenate([q, u, z])
