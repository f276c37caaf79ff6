"""Driving forces along a trajectory: tau, tau', tau'' over time, pictures of them, and limits of the drives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from appell.errors import ModelError
from appell.higher_order.dynamics import Dynamics
from appell.higher_order.trajectory import Trajectory
from appell.model.values import floats, whole

PER_PIECE = 64


@dataclass(frozen=True)
class Violation:
    """Where a drive is asked for too much for the first time.

    Attributes:
        joint: Name of the joint.
        time: When.
        quantity: `"torque"` (or force) or `"rate"`.
        limit: What the drive can do.
    """

    joint: str
    time: float
    quantity: str
    limit: float


@dataclass(frozen=True)
class DriveCheck:
    """What a check of the drives found.

    Attributes:
        violations: The first violation of each joint and quantity, by time.
        peaks: Quantity -> largest magnitude of each joint.
    """

    violations: tuple[Violation, ...]
    peaks: dict[str, np.ndarray]

    @property
    def ok(self) -> bool:
        """Whether no limit is passed."""
        return not self.violations

    @property
    def first(self) -> Violation | None:
        """The first violation of all, or None."""
        return self.violations[0] if self.violations else None

    def __repr__(self) -> str:
        if self.first is None:
            return "within the limits of all drives"
        word = {"torque": "force", "rate": "force rate"}
        return "\n".join(
            f"t = {v.time:.9g} s: {v.joint} passes {v.limit:g}, the limit of its {word[v.quantity]}"
            for v in self.violations
        )


class Profile:
    """tau, tau', ... along a trajectory.

    Args:
        dynamics: The robot.
        trajectory: How its joints move.
        order: The highest derivative of tau.
        points: How many times the trajectory is tabulated at; left out: 64 for each piece, at least 257.

    Example:
        >>> import appell as ap
        >>> arm = ap.higher_order.Dynamics(ap.library.planar_2r())
        >>> move = ap.higher_order.polynomial([0.0, 0.0], [1.0, -0.5], duration=1.0, degree=7)
        >>> profile = ap.higher_order.Profile(arm, move)
        >>> profile.check(torque=(40.0, 9.0)).ok
        True
    """

    def __init__(self, dynamics: Dynamics, trajectory: Trajectory, order: int = 2, points: int | None = None) -> None:
        if not isinstance(dynamics, Dynamics) or not isinstance(trajectory, Trajectory):
            raise ModelError(
                "A profile is made of an appell.higher_order.Dynamics and a trajectory made by polynomial or spline; "
                f"got {type(dynamics).__name__} and {type(trajectory).__name__}."
            )
        if trajectory.n != dynamics.n:
            raise ModelError(f"The trajectory moves {trajectory.n} joints, the robot has {dynamics.n}.")
        self.dynamics, self.trajectory, self.order = dynamics, trajectory, whole("The order", order, 0)
        knots = trajectory.pieces.x
        count = max(257, PER_PIECE * (len(knots) - 1) + 1) if points is None else whole("points", points, 2)
        self.times = np.unique(np.concatenate([np.linspace(knots[0], knots[-1], count), knots]))

    def __repr__(self) -> str:
        listed = ", ".join("tau" + "'" * k for k in range(self.order + 1))
        return f"Profile of {self.dynamics.chain.name!r}: {listed}\n  {self.trajectory!r}"

    @cached_property
    def tau(self) -> np.ndarray:
        """Driving forces and derivatives, of shape (times, n, order+1)."""
        return self.at(self.times, self.order)

    def at(self, t: Any, order: int = 0) -> np.ndarray:
        """tau ... tau^(order) at other times, of shape (..., n, order+1).

        Args:
            t: Times.
            order: The highest derivative.
        """
        return self.dynamics.inverse(self.trajectory(t, whole("The order", order, 0) + 2))

    def check(self, torque: Any = None, rate: Any = None) -> DriveCheck:
        """Compare tau and tau' with what the drives can do; peaks between the tabulated times are looked for.

        Args:
            torque: Largest magnitude of the driving force, one number or one for each joint; left out: the efforts that
                the chain's joints declare.
            rate: Largest magnitude of its rate; not checked if left out.
        """
        n, names = self.dynamics.n, self.dynamics.names
        if torque is None:
            efforts = self.dynamics.chain.efforts
            torque = [efforts.get(w.label, np.inf) for w in self.dynamics.chain.inputs]
            if rate is None and not np.any(np.isfinite(torque)):
                raise ModelError("No limit to check: give torque=... or rate=..., or joints with an effort.")
        values = self.at(self.times, 2)
        found: list[Violation] = []
        peaks: dict[str, np.ndarray] = {}
        for k, (quantity, limit) in enumerate((("torque", torque), ("rate", rate))):
            if limit is None:
                continue
            bound = floats(limit, f"The limit of {quantity}")
            if bound.shape not in ((), (n,)) or not np.all(bound > 0):
                raise ModelError(
                    f"The limit of {quantity} must be above zero, one number or {n}; got {bound.tolist()}."
                )
            bound = np.broadcast_to(bound, (n,))
            peaks[quantity] = np.zeros(n)
            for j in range(n):
                times, sizes = self._with_peaks(values[:, j, k], values[:, j, k + 1], j, k)
                peaks[quantity][j] = sizes.max()
                over = np.flatnonzero(sizes > bound[j])
                if over.size:
                    moment = self._crossing(times, over[0], j, k, float(bound[j]))
                    found.append(Violation(names[j], moment, quantity, float(bound[j])))
        return DriveCheck(tuple(sorted(found, key=lambda v: v.time)), peaks)

    def _with_peaks(self, x: np.ndarray, slope: np.ndarray, joint: int, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Times and magnitudes, with the extremes that lie between two times added."""
        t = self.times
        turning = np.flatnonzero(slope[:-1] * slope[1:] < 0)
        extra = [brentq(lambda s: self.at(s, k + 1)[joint, k + 1], t[i], t[i + 1], xtol=1e-12) for i in turning]
        times = np.concatenate([t, extra])
        sizes = np.abs(np.concatenate([x, [self.at(s, k)[joint, k] for s in extra]]))
        order = np.argsort(times, kind="stable")
        return times[order], sizes[order]

    def _crossing(self, times: np.ndarray, i: int, joint: int, k: int, limit: float) -> float:
        """When the limit is passed, between the time before and the one that is beyond it."""
        if i == 0:
            return float(times[0])
        return float(brentq(lambda s: abs(self.at(s, k)[joint, k]) - limit, times[i - 1], times[i], xtol=1e-12))

    def plot(self, path: str | Path | None = None) -> Any:
        """tau, tau', ... of every joint over time.

        Args:
            path: A file to write: .html (interactive), .svg, .pdf or .png.

        Returns:
            The plot: in a notebook it shows itself; `figure()` is Matplotlib's, `plotly()` Plotly's.
        """
        from appell.view.planned import profile_plot

        return profile_plot(self).written(path)
