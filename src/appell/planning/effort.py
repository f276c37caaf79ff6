"""What the drives of a planned motion must do: forces of the programme and of named drives, and their rates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from appell.code.system import System
from appell.errors import ModelError
from appell.kinematics.consistency import sample_split
from appell.kinematics.programme import Along
from appell.kinematics.saddle import saddle
from appell.model.model import Model
from appell.model.values import unknown
from appell.motion.motion import Motion


def check_drives(model: Model, drives: Sequence[str]) -> None:
    """Refuse drives that are no forces of a model."""
    known = [f.name for f in model.forces]
    for name in drives:
        if name not in known:
            raise ModelError(unknown(name, known, f"force of {model.name!r}"))


class Effort:
    r"""Generalized forces of the drives: $\tau = \sum_r \lambda_r B_r^T + Q_{drives}$, and d tau/dt, exactly.

    For a manipulator without other forces than gravity this is its inverse dynamics M q'' + b + g.

    Args:
        system: The system.
        drives: Names of forces of the model that drives exert as well.
    """

    def __init__(self, system: System, drives: Sequence[str] = ()) -> None:
        self.system = system
        check_drives(system.model, drives)
        self.drives = tuple(drives)

    @cached_property
    def function(self) -> ca.Function:
        """tau and its rate in t, q, v, z, w, p; inputs are held."""
        mechanics, model = self.system.equations.mechanics, self.system.model
        x, n = mechanics.variables, mechanics.a.numel()
        rows = list(sample_split(mechanics).rows)
        M, F = mechanics.lagrange
        J, C, gamma = mechanics.J[rows, :], mechanics.C[rows, :], mechanics.gamma[rows]
        found = saddle(M, J, C, F, gamma)
        a, multipliers = found[:n], found[n:]
        tau = ca.SX.zeros(n)
        for k, i in enumerate(rows):
            if model.rows[i].programmed:
                tau = tau + J[k, :].T * multipliers[k]
        for i, force in enumerate(mechanics.forces):
            if force.name in self.drives or i >= len(model.forces):  # those of programmes stand last
                tau = tau + x.thaw(ca.substitute(force.Q, mechanics.a, a))
        rate = Along(mechanics, a, x.zdot).derivative(tau)
        return ca.Function("effort", x.arguments, [ca.densify(tau), ca.densify(rate)], {"cse": True})

    def along(self, motion: Motion, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """tau and its rate at some times of a motion, one row each."""
        n = len(self.system.model.coordinates)
        inputs = motion.inputs_at(times) if self.system.model.inputs else np.zeros((times.size, 0))
        listed = []
        for t, row, w in zip(times, motion.states(times), inputs, strict=True):
            values = self.function(t, row[:n], row[n : 2 * n], row[2 * n :], w, self.system.p)
            listed.append([np.array(e).ravel() for e in values])
        tau, rate = (np.array([pair[k] for pair in listed]) for k in (0, 1))
        return tau, rate
