"""A flow: smooth equations with guards, what an integrator is given for one leg of a run.

Guards are formulas that are watched for falling through zero. Modes of kinks are run-time parameters behind p; every
guard has a gate behind them, which switches it off while it rests on zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from appell.code.machine import Machine
from appell.graph.kinks import roots
from appell.graph.numeric import Numeric
from appell.graph.terms import term_sizes

RESTING = 1e-9  # share of the largest that it was, up to which a guard or switching function is on zero
RESTING_ANYWAY = 1e-13  # share of what it is made of, up to which it is, however small it has been
TICK = 1e-15  # share of itself that time is known to
SLOW = 1e-12  # share of what its rate is made of, up to which a guard on zero stays there
WIDE = 64  # moments at which arguments of roots are evaluated in one call

Inputs = Callable[[float, np.ndarray], np.ndarray]
"""Values of the open inputs at a time and state."""


@dataclass(frozen=True, eq=False)
class Flow:
    """x' = f(t, x, w, P) and guards g(t, x, w, P), with P = (p, modes).

    Attributes:
        rhs: The smooth right-hand side.
        guards: The guard formulas; none if there are none.
        sides: Those of them that have units; zero in place of others, which watch modes in between.
        growth: How strongly the speeds grow into rates; None where no velocities are dependent.
        compiled: Whether steps are machine code from the first one on.
        simd: Whether they may become machine code where it pays, if heyoka is installed.
        iterated: Whether Newton's method is part of the right-hand side.
    """

    rhs: ca.Function
    guards: ca.Function
    sides: ca.Function
    growth: ca.Function | None = None
    compiled: bool = False
    simd: bool = False
    iterated: bool = False

    @cached_property
    def machine(self) -> Machine:
        """Evaluates the right-hand side."""
        return Machine(self.rhs)

    @cached_property
    def guard_machine(self) -> Machine:
        """Evaluates the guards and their rates."""
        t, x, w, p = self.rhs.sx_in()
        g = self.guards(t, x, w, p)
        rate = ca.jtimes(g, ca.vertcat(x, t), ca.vertcat(self.rhs(t, x, w, p), 1))
        return Machine(ca.Function("guards", [t, x, w, p], [ca.densify(g), ca.densify(rate)]))

    @cached_property
    def size_machine(self) -> Machine:
        """Evaluates what the guards that have units are made of, and their rates; see `sizes`."""
        t, x, w, p = self.rhs.sx_in()
        results = sizes(self.sides(t, x, w, p), t, x, self.rhs(t, x, w, p), self.iterated)
        return Machine(ca.Function("sizes", [t, x, w, p], results, {"cse": True}), simd=False)

    @cached_property
    def jacobian_machine(self) -> Machine:
        """Evaluates df/dx."""
        t, x, w, p = self.rhs.sx_in()
        return Machine(ca.Function("jacobian", [t, x, w, p], [ca.densify(ca.jacobian(self.rhs(t, x, w, p), x))]))

    @cached_property
    def roots(self) -> Numeric | None:
        """The arguments of square roots at `WIDE` moments at once; None if none depends on the state."""
        a = roots(self.rhs)
        function = ca.Function("roots", self.rhs.sx_in(), [ca.densify(a)], {"cse": True})
        return Numeric(function.map(WIDE)) if a.numel() else None

    @cached_property
    def count(self) -> int:
        """How many guards there are."""
        return self.guards.nnz_out(0)


def sizes(g: ca.SX, t: ca.SX, x: ca.SX, xdot: ca.SX, iterated: bool) -> list[ca.SX]:
    """What guards are made of, and what their rates are, in whatever units: their rounding is a share of it.

    What cancels leaves rounding, unless it cancels in a step of Newton's method, which the next one corrects.
    """
    slopes, terms = ca.fabs(ca.jacobian(g, x)), ca.fabs(xdot)
    if not iterated:
        letters = ca.vertcat(ca.SX(0, 1), *ca.symvar(xdot))
        terms = term_sizes(ca.Function("rates", [letters], [xdot]))(letters)
    haste = slopes @ terms + ca.fabs(ca.jacobian(g, t))
    return [ca.densify(slopes @ ca.fabs(x)), ca.densify(haste)]


def resting(seen: np.ndarray, size: np.ndarray, haste: np.ndarray, t: Any, length: float) -> np.ndarray:
    """Up to which size guards count as zero.

    Time is known up to a share of itself, and so is a guard that moves. Where it has had no size yet, as at a start at
    which everything is zero, it is judged by what it may become; where nothing moves either, nothing is known.

    Args:
        seen: The largest size of each guard so far; a column for each of several runs.
        size: What it is made of.
        haste: What its rate is made of.
        t: Time, or times.
        length: Of the run.
    """
    limits = np.fmax(RESTING * seen, np.fmax(RESTING_ANYWAY * size, TICK * haste * np.abs(t)))
    for otherwise in (RESTING_ANYWAY * length * haste, RESTING_ANYWAY):
        limits = np.where(limits > 0, limits, otherwise)
    return limits


def rests(g: np.ndarray, rate: np.ndarray, limits: np.ndarray, haste: np.ndarray) -> np.ndarray:
    """Which guards are on zero and do not rise from it: at the start of a leg these are not looked at.

    Args:
        g: Their values; a column for each of several runs.
        rate: Their rates.
        limits: Up to which size they count as zero.
        haste: What their rates are made of.
    """
    return (np.abs(g) <= limits) & (rate <= SLOW * haste)


def falls(g: np.ndarray, rate: np.ndarray, limits: np.ndarray, haste: np.ndarray) -> np.ndarray:
    """Which guards are on zero and go on falling: at the end of a leg these fall together with the one that ended it.

    Arguments as for `rests`.
    """
    return (np.abs(g) <= limits) & (rate < -SLOW * haste)
