"""SciPy's integrators behind the same loop: explicit ones, and implicit ones for stiff equations."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.integrate

from appell.motion.leg import Dense, End, Leg, Task, pieced
from appell.motion.stepping import march

IMPLICIT = ("Radau", "BDF", "LSODA")


class Stepper:
    """One of SciPy's solvers, restarted whenever the state was moved onto the constraints.

    Args:
        task: What to integrate.
        name: RK23, RK45, DOP853, Radau, BDF or LSODA.
    """

    def __init__(self, task: Task, name: str) -> None:
        self.task, self.name = task, name
        self.t, self.x = task.t0, np.array(task.x0, dtype=float)
        self.pieces: list[Any] = []
        self._solver: Any = None

    def _fresh(self, limit: float) -> Any:
        options: dict[str, Any] = {
            "rtol": max(self.task.rtol or 1e-10, 3e-14),
            "atol": self.task.atol or self.task.rtol or 1e-10,
        }
        if self.name in IMPLICIT and self.task.drive is None:
            machine = self.task.flow.jacobian_machine
            options["jac"] = lambda t, x: machine(t, x, self.task.w, self.task.p)[0]
        return getattr(scipy.integrate, self.name)(self.task.f, self.t, self.x, limit, **options)

    def step(self, limit: float) -> End | None:
        """One step of the solver."""
        if self._solver is None or not np.array_equal(self._solver.y, self.x):
            if not np.all(np.isfinite(self.task.f(self.t, self.x))):
                return End.NOT_FINITE  # from here SciPy would look for a first step without end
            self._solver = self._fresh(limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self._solver.step()
            except ValueError:  # a Jacobian that is not finite
                return End.NOT_FINITE
        if self._solver.status == "failed":
            return End.COLLAPSED if np.all(np.isfinite(self._solver.y)) else End.NOT_FINITE
        if not np.all(np.isfinite(self._solver.y)):
            return End.NOT_FINITE
        self.pieces.append(self._solver.dense_output())
        self.t, self.x = float(self._solver.t), np.array(self._solver.y)
        return None

    def looks(self) -> None:
        """Not known at once."""

    def interpolant(self) -> Callable[[float], np.ndarray]:
        """x within the last step."""
        return self.pieces[-1]

    def dense(self, cut: float) -> Dense:
        """x within all steps."""
        starts = np.array([piece.t_old for piece in self.pieces])
        return lambda times: pieced(starts, self.pieces, self.x.size, np.atleast_1d(times))


def integrate(task: Task, name: str) -> Leg:
    """One leg."""
    return march(Stepper(task, name), task)
