"""Masses along a run: a body that has lost all it had is no body any more."""

from __future__ import annotations

import casadi as ca
import numpy as np

from appell.code.code import Code
from appell.code.machine import Machine
from appell.errors import InconsistentStartError
from appell.kinematics.saddle import REGULAR
from appell.model.symbols import Input, letters_in
from appell.motion.crossing import zero
from appell.motion.leg import Leg

OVERDRAWN = 1e-9  # a tank that ran dry may be so much below zero, relative to what it held
GONE = 1e-5  # below this share of what it was at the start, an inertia that shrinks is as good as gone


def used_up(name: str) -> str:
    """That a body has lost all of its mass, and what to do about it."""
    return (
        f"nothing is left of the mass of {name!r}; add what stays to its formula (dry + fuel), or end the flow before, "
        "for example by appell.drained(rate, amount, empty)"
    )


class Masses:
    """The masses of a model that are not constant, as functions of the state.

    Args:
        code: The equations as functions.

    Attributes:
        names: The bodies they belong to.
        formulas: What they are.
        driven: Whether one depends on an input.
    """

    def __init__(self, code: Code) -> None:
        self.code = code
        equations, constant = code.equations, set(code.equations.model.parameters)
        bodies = [body for body in equations.model.bodies if not letters_in(body.mass) <= constant]
        self.names, self.formulas = [body.name for body in bodies], [body.mass for body in bodies]
        self.driven = any(isinstance(s, Input) for body in bodies for s in letters_in(body.mass))
        if bodies:
            column = ca.densify(ca.vertcat(*[equations.formula(body.mass) for body in bodies]))
            self._machine = Machine(ca.Function("masses", equations.arguments, [column]), simd=False)

    def __call__(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The masses at a state."""
        return self._machine.flat(t, x, w, p) if self.names else np.zeros(0)

    def start(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """The masses at the start; raises where one is negative, or is zero and nothing else has inertia instead."""
        masses = self(t, x, w, p)
        for name, mass in zip(self.names, masses, strict=True):
            if mass > 0 or (mass == 0 and np.linalg.cond(self.code.linear_system(t, x, w, p)[0]) < REGULAR):
                continue
            raise InconsistentStartError(
                f"The mass of {name!r} is {mass:g} at the start; it must be positive. "
                "Give a start and values of the extra states and parameters that it is made of."
            )
        return masses

    def negative(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray, first: np.ndarray) -> int | None:
        """Which mass is negative by more than rounding, if any; `first` are the masses at the start."""
        masses = self(t, x, w, p)
        if masses.min(initial=0.0) >= 0:
            return None
        held = np.where(first > 0, first, first.max(initial=0.0) or 1.0)
        below = np.flatnonzero(masses < -OVERDRAWN * held)
        return int(below[0]) if below.size else None

    def gone(self, t: float, x: np.ndarray, w: np.ndarray, p: np.ndarray, first: np.ndarray) -> str | None:
        """The name of a body of which nothing is left, if there is one."""
        left = np.flatnonzero(np.abs(self(t, x, w, p)) < GONE * first)
        return self.names[int(left[0])] if left.size else None

    def cut(self, leg: Leg, w: np.ndarray, p: np.ndarray, first: np.ndarray) -> tuple[Leg, str]:
        """A leg up to the moment at which a mass was used up, and the body's name."""
        for before, after in zip(leg.times[:-1], leg.times[1:], strict=True):
            which = self.negative(after, leg.dense(after)[:, 0], w, p, first)
            if which is None:
                continue

            def left(t: float, which: int = which) -> float:
                return float(self(t, leg.dense(t)[:, 0], w, p)[which])

            end = zero(left, before, after) if left(before) > 0 else before
            return leg.cut(end), self.names[which]
        raise AssertionError("no mass became negative on this leg")
