"""What the drives of a planned motion must do: forces of the programme and of named drives, and their rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

from appell.code.system import System
from appell.kinematics.programme import Along
from appell.kinematics.saddle import own_units, saddle
from appell.kinematics.typical import sample_split
from appell.model.model import Model
from appell.model.values import chosen
from appell.motion.motion import Motion

ASIDE = 1e-7  # share of a motion by which to look to either side of a corner
BROKEN = 1e-6  # share of the largest velocity or force by which it must jump to count


@dataclass(frozen=True, eq=False)
class Jolt:
    """A moment at which drives would have to push, or change their push, without bound.

    Attributes:
        t: When.
        impulse: Of the drives along each coordinate, if velocities jump; else zero.
        jump: Of their generalized forces.
    """

    t: float
    impulse: np.ndarray
    jump: np.ndarray

    def words(self, labels: Sequence[str]) -> str:
        """The impulses, by names of coordinates."""
        pushes = ", ".join(f"{s} {e:.6g}" for s, e in zip(labels, self.impulse, strict=True) if e)
        return f"velocities jump at t = {self.t:.6g} s, which takes impulses of the drives: {pushes}"


def named_drives(model: Model, drives: Any) -> tuple[str, ...]:
    """Names of forces of a model that are drives, one or several."""
    return chosen(drives, [f.name for f in model.forces], f"force of {model.name!r}")


class Effort:
    r"""Generalized forces of the drives: $\tau = \sum_r \lambda_r B_r^T + Q_{drives}$, and d tau/dt, exactly.

    For a manipulator without other forces than gravity this is its inverse dynamics M q'' + b + g.

    Args:
        system: The system.
        drives: Names of forces of the model that drives exert as well.
    """

    def __init__(self, system: System, drives: Sequence[str] = ()) -> None:
        self.system = system
        self.drives = named_drives(system.model, drives)

    @cached_property
    def function(self) -> ca.Function:
        """tau and its rate in t, q, v, z, w, p; inputs are held."""
        mechanics, model = self.system.equations.mechanics, self.system.model
        x, n = mechanics.variables, mechanics.a.numel()
        rows = list(sample_split(mechanics).rows)
        M, F = mechanics.lagrange
        J, C, gamma = mechanics.J[rows, :], mechanics.C[rows, :], mechanics.gamma[rows, :]
        found = saddle(M, J, C, F, gamma, x.quaternions)
        a, multipliers = found[:n], found[n:]
        tau = ca.SX.zeros(n)
        for k, i in enumerate(rows):
            if model.rows[i].programmed:
                tau = tau + J[k, :].T * multipliers[k]
        for i, force in enumerate(mechanics.forces):
            if force.name in self.drives or i >= len(model.forces):  # those of programmes stand last
                tau = tau + x.thaw(ca.substitute(force.Q, mechanics.a, a))
        rate = Along(mechanics, a).derivative(tau)
        return ca.Function("effort", x.arguments, [ca.densify(tau), ca.densify(rate)], {"cse": True})

    def along(self, motion: Motion, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """tau and its rate at some times of a motion, one row each."""
        n = len(self.system.model.coordinates)
        listed = []
        for t, row, w in zip(times, motion.states(times), motion.inputs_at(times), strict=True):
            values = self.function(t, row[:n], row[n : 2 * n], row[2 * n :], w, self.system.p)
            listed.append([np.array(e).ravel() for e in values])
        tau, rate = np.array(listed).reshape(len(times), 2, n).transpose(1, 0, 2)
        return tau, rate

    def jolts(self, motion: Motion) -> tuple[Jolt, ...]:
        """Where a motion turns a corner, or forces on it do, so that those of the drives are not continuous."""
        lasting = [s for s in motion.stretches if s.times[0] < s.times[-1]]
        found = [
            self._jolt(motion, float(b.times[0]), min(float(np.ptp(s.times)) for s in (a, b)))
            for a, b in pairwise(lasting)
        ]
        if not found:
            return ()
        largest = np.max(np.abs(self.along(motion, motion.times)[0]), initial=0.0)
        sizes = [BROKEN * max(largest, float(np.max(np.abs(jolt.jump)))) for jolt in found]
        clean = [
            Jolt(e.t, e.impulse, np.where(np.abs(e.jump) > s, e.jump, 0.0)) for e, s in zip(found, sizes, strict=True)
        ]
        return tuple(e for e in clean if e.impulse.any() or e.jump.any())

    def _jolt(self, motion: Motion, t: float, length: float) -> Jolt:
        """What happens where one stretch, or another, of some length follows another."""
        n, mechanics = len(self.system.model.coordinates), self.system.equations.mechanics
        aside = min(ASIDE * float(np.ptp(motion.times)), length / 4)
        times = t + aside * np.array([-2, -1, 1, 2])
        (far, before, after, further), (tau, _) = motion.states(times), self.along(motion, times)
        dv = (2 * after - further - (2 * before - far))[n : 2 * n]  # both sides continued up to the corner
        w = np.array([self.system.values.get(s.label, 0.0) for s in self.system.model.inputs])
        at = (t, after[:n], after[n : 2 * n], after[2 * n :], w, self.system.p)
        M, _, J, _, _ = (np.array(e) for e in mechanics.functions["multiplier"](*at))
        size = own_units(M, mechanics.variables.quaternions)
        struck = np.max(np.abs(dv) / size) > BROKEN * np.max(np.abs([before, after])[:, n : 2 * n] / size)
        pushes = J.T @ np.diag([float(row.programmed) for row in self.system.model.rows])
        impulse = pushes @ np.linalg.lstsq(J.T, M @ dv, rcond=None)[0] if struck else np.zeros(n)
        return Jolt(t, impulse, 2 * tau[2] - tau[3] - (2 * tau[1] - tau[0]))
