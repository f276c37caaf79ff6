"""Paths to drive: speeds as formulas in time, and the pose they lead to by integrated kinematics.

    x' = v cos(theta), y' = v sin(theta), theta' = omega

The pose of the reference is integrated along with the motion, as extra states x_ref, y_ref and, where the heading is
not known in closed form, theta_ref; it is then as exact as the motion itself and can stand in feedback laws.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.symbols import ExtraState, explicit_rate, letters_in, quoted, states, t

x_ref, y_ref = states("x_ref y_ref", "m", "reference")
theta_ref = states("theta_ref", "rad", "reference heading")


@dataclass(frozen=True, eq=False)
class Path:
    """A reference motion.

    Attributes:
        name: Its name in reports.
        speed: Forward speed, a formula in time.
        turn: Yaw rate, a formula in time.
        heading: Heading in time, or the state that integrates the yaw rate.
        position: x and y in time, or the states that integrate them.
        begin: Values of the states at t = 0.
    """

    name: str
    speed: sp.Expr
    turn: sp.Expr
    heading: sp.Expr
    position: tuple[sp.Expr, sp.Expr]
    begin: Mapping[ExtraState, float]

    @classmethod
    def from_speeds(
        cls,
        name: str,
        speed: Any,
        turn: Any,
        heading: Any = None,
        start: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> Path:
        """A path from its speeds.

        Args:
            name: Its name in reports.
            speed: Forward speed, a formula in time.
            turn: Yaw rate, a formula in time.
            heading: The heading in closed form, if it is known.
            start: x, y and heading at t = 0.
        """
        speed, turn = _of_time("speed", speed), _of_time("yaw rate", turn)
        begin = {x_ref: float(start[0]), y_ref: float(start[1])}
        if heading is None:
            begin[theta_ref] = float(start[2])
            return cls(name, speed, turn, theta_ref, (x_ref, y_ref), begin)
        heading = _of_time("heading", heading)
        if abs(float(heading.subs(t, 0)) - start[2]) > 1e-12 or sp.simplify(sp.diff(heading, t) - turn) != 0:
            raise ModelError(
                f"The heading {heading} does not fit the yaw rate {turn} and the start {start[2]}; leave it out."
            )
        return cls(name, speed, turn, heading, (x_ref, y_ref), begin)

    @classmethod
    def from_curve(cls, name: str, x: Any, y: Any) -> Path:
        """A path from its curve: speed and yaw rate follow; the point must not stand still.

        Args:
            name: Its name in reports.
            x: x in time.
            y: y in time.
        """
        x, y = _of_time("x", x), _of_time("y", y)
        dx, dy = sp.diff(x, t), sp.diff(y, t)
        square = dx**2 + dy**2
        at_start = [float(e.subs(t, 0)) for e in (dx, dy)]
        if np.hypot(*at_start) < 1e-9:
            raise ModelError(f"The path {name!r} stands still at t = 0, where its direction is then not defined.")
        turn = (dx * sp.diff(dy, t) - dy * sp.diff(dx, t)) / square
        begin = {theta_ref: float(np.arctan2(at_start[1], at_start[0]))}
        return cls(name, sp.sqrt(square), turn, theta_ref, (x, y), begin)

    @property
    def states(self) -> dict[ExtraState, sp.Expr]:
        """The states it needs, with their rates."""
        rates = {
            x_ref: self.speed * sp.cos(self.heading),
            y_ref: self.speed * sp.sin(self.heading),
            theta_ref: self.turn,
        }
        return {z: rates[z] for z in self.begin}

    def rate(self, formula: Any) -> sp.Expr:
        """The time derivative of a formula in time and the reference's states."""
        formula = sp.sympify(formula)
        total = explicit_rate(formula)
        for z, rate in self.states.items():
            total += sp.diff(formula, z) * rate
        return total


def _of_time(what: str, formula: Any) -> sp.Expr:
    formula = sp.sympify(formula)
    wrong = sorted(map(str, letters_in(formula) - {t}))
    if wrong:
        raise ModelError(
            f"The {what} of a path is a formula in appell.t alone, got {quoted(formula)} with {', '.join(wrong)}."
        )
    return formula


def straight(speed: float = 1.0) -> Path:
    """Straight ahead; Dehkordi 2025, section 5.2."""
    return Path.from_speeds("straight", speed, 0, 0)


def circle(speed: float = 1.0, radius: float = 5.0) -> Path:
    """A circle to the left; Dehkordi 2025, section 5.2: 1 m/s, 5 m."""
    if radius == 0:
        raise ModelError("The radius of a circle must not be zero; a negative one turns to the right.")
    turn = sp.nsimplify(speed) / sp.nsimplify(radius)
    return Path.from_speeds("circular", speed, turn, turn * t)


def zigzag(speed: float = 1.0) -> Path:
    """Yaw rate 0.2 sin(0.5 t), heading 0.4 (1 - cos(0.5 t)); Dehkordi 2025, section 5.2."""
    return Path.from_speeds("zigzag", speed, sp.sin(t / 2) / 5, 2 * (1 - sp.cos(t / 2)) / 5)
