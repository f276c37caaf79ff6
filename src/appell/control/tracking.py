"""Tracking: a mechanism under a law that makes it follow a reference, and how well it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.code.starting import starting_state
from appell.code.state import State
from appell.code.system import System
from appell.control.completed import completed, incomplete
from appell.control.laws import AbstractTracker
from appell.control.limits import bounds
from appell.control.mpc import MPC
from appell.control.pid import PID
from appell.control.reference import Reference
from appell.errors import ModelError
from appell.model.values import number, numbers
from appell.motion.clock import check_rate
from appell.motion.motion import Motion
from appell.motion.run import simulate

if TYPE_CHECKING:
    from xarray import DataArray

ENDLESS = "The reference has no end of its own; say how long to track by until=."


@dataclass(frozen=True, eq=False)
class Tracking:
    """A tracked motion.

    Attributes:
        motion: What the mechanism did; its inputs are among the columns.
        reference: What it should have done.
        labels: Names of the tracked coordinates.
        drives: Names of the inputs that the law commands.
    """

    motion: Motion
    reference: Reference
    labels: tuple[str, ...]
    drives: tuple[str, ...]

    @cached_property
    def error(self) -> DataArray:
        """E = q - q^ at the times of the motion's table."""
        import xarray

        q, _, _ = self.reference.at(self.motion.times)
        e = np.array([self.motion.columns[name] for name in self.labels]).T - q
        return xarray.DataArray(
            e, {"t": self.motion.times, "coordinate": list(self.labels)}, ["t", "coordinate"], "error"
        )

    @property
    def deviation(self) -> DataArray:
        """The absolute errors |q_j - q^_j| (5.1)."""
        return abs(self.error)

    def metrics(self, after: float = 0.0) -> dict[str, dict[str, float]]:
        """For each coordinate: largest and root-mean-square error, the last one, and when the largest was.

        Args:
            after: Only errors after this time count.
        """
        found, after = {}, number("after", after)
        late = self.motion.times >= after
        if not late.any():
            raise ModelError(f"There are no errors after t = {after:g}: the motion ended at {self.motion.times[-1]:g}.")
        for name in self.labels:
            e = self.error.sel(coordinate=name).values[late]
            k = int(np.argmax(np.abs(e)))
            found[name] = {
                "largest": float(abs(e[k])),
                "at": float(self.motion.times[late][k]),
                "rms": float(np.sqrt(np.mean(e**2))),
                "last": float(abs(e[-1])),
            }
        return found

    def settled(self, tolerance: float) -> float | None:
        """The time after which no error is larger than a tolerance; None if there is none."""
        tolerance = number("tolerance", tolerance)
        large = np.flatnonzero(np.max(self.deviation.values, axis=1) > tolerance)
        if large.size == 0:
            return float(self.motion.times[0])
        return None if large[-1] == self.motion.times.size - 1 else float(self.motion.times[large[-1] + 1])

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import section_html

        return section_html(self)

    def __repr__(self) -> str:
        lines = [self.motion.summary()]
        for name, entry in self.metrics().items():
            lines.append(
                f"  {name}: largest error {entry['largest']:.3g} at t = {entry['at']:.3g} s, rms {entry['rms']:.3g}, "
                f"at the end {entry['last']:.3g}"
            )
        for name in self.drives:
            lines.append(f"  {name}: up to {np.max(np.abs(self.motion.columns[name])):.6g}")
        return "\n".join(lines)

    def plot(self, path: str | Path | None = None) -> Any:
        """Coordinates against the reference, errors and inputs over time.

        Args:
            path: A file to write: .html (interactive), .svg, .pdf or .png.

        Returns:
            The plot: in a notebook it shows itself; `figure()` is Matplotlib's, `plotly()` Plotly's.
        """
        from appell.view.planned import tracking_plot

        return tracking_plot(self).written(path)


def track(
    system: System,
    reference: Any,
    law: AbstractTracker,
    start: State | Mapping[Any, float] | None = None,
    until: float | None = None,
    *,
    rate: float | None = None,
    limits: Any = None,
    points: int = 501,
    at: Any = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    progress: bool | None = None,
) -> Tracking:
    """Run a mechanism under a tracking law.

    Args:
        system: The mechanism, with friction and whatever else the law need not know.
        reference: A motion (or a plan), a `higher_order.Trajectory`, `{coordinate: formula in appell.t}`, or a function
            of t that gives q, q', q''. Formulas for some coordinates, or for places of a tool, are enough if these and
            the constraints fix all others.
        law: Such as `control.ComputedTorque(model, rates)`, `control.SlotineLi(...)`, `control.MPC(...)`.
        start: A state, values, or nothing for the reference's own start; coordinates not named are on the reference.
        until: The time at which to stop; the end of the reference if left out, after which it stands still.
        rate: Samples per second of the law, its inputs held in between; continuous if left out.
        limits: Of the inputs (saturation): a number for all, or by name or symbol a number or a pair (lowest, highest).
        points: How many times the motion is tabulated at.
        at: Instead: the times themselves.
        method: As for `simulate`.
        rtol: As for `simulate`.
        atol: As for `simulate`.
        progress: Whether to show a bar; on terminals by default.

    Returns:
        The tracked motion with its errors.

    Example:
        >>> import appell as ap, sympy as sp
        >>> x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
        >>> cart = ap.Particle("cart", 2.0, ground.point(x, 0))
        >>> model = ap.Model(ground, x, [cart], [ap.Force(u * ground.x, cart)])
        >>> law = ap.control.ComputedTorque(model, 5.0)
        >>> run = ap.track(ap.compile(ap.derive(model)), {x: sp.sin(ap.t)}, law, {x: 0.3}, until=4.0)
        >>> run.settled(1e-3) < 2.0
        True
    """
    if not isinstance(system, System):
        raise ModelError(f"Only a System can be tracked, got {type(system).__name__}; write compile(derive(model)).")
    if isinstance(law, PID):
        raise ModelError(
            "A PID is a formula of an error and tracks nothing by itself; its laws are made by control.regulate(model, "
            "{input: (pid, set point - value)})."
        )
    if not isinstance(law, AbstractTracker):
        raise ModelError(f"Got {law!r} as a law; give one such as control.ComputedTorque(model, rates=10).")
    if law.sampled and rate is None:
        raise ModelError(f"{type(law).__name__} remembers between samples; give rate=, samples per second.")
    if rate is not None:
        check_rate(rate)
    coordinates = law.followed
    if incomplete(reference, coordinates):
        if until is None:
            raise ModelError(ENDLESS)
        beside = start.to_dict() if isinstance(start, State) else numbers(start)
        near = {q.label: beside[q.label] for q in coordinates if q.label in beside}
        reference = completed(reference, law.dynamics, until, near)
    course = Reference.of(reference, coordinates)
    begin = course.start if np.isfinite(course.start) else 0.0
    state = _start(system, course, start, begin, [q.label for q in coordinates])
    if until is None:
        if not np.isfinite(course.end):
            raise ModelError(ENDLESS)
        until = course.end
    drives = [w.label for w in system.equations.inputs]
    unknown = [label for label in law.dynamics.labels if label not in drives]
    if unknown:
        raise ModelError(
            f"The law commands {', '.join(unknown)}; the mechanism has no such input but {', '.join(drives) or 'none'}."
            " Give the law a model with the inputs of the mechanism; those of motors are voltages."
        )
    low, high = bounds(limits, law.dynamics.labels)
    order, n = law.dynamics.order(state), len(law.dynamics.model.coordinates)
    law.reset(None if rate is None else 1 / rate)

    def control(t: float, now: State) -> dict[str, float]:
        x = now.array[order]
        point = law.ahead(course, t, until) if isinstance(law, MPC) else course(t)
        w = np.clip(law.inputs(t, x[:n], x[n : 2 * n], x[2 * n :], point), low, high)
        return dict(zip(law.dynamics.labels, w.tolist(), strict=True))

    motion = simulate(
        system, state, until, method=method, rtol=rtol, atol=atol, points=points, at=at, control=control, rate=rate,
        progress=progress,
    )  # fmt: skip
    return Tracking(motion, course, tuple(q.label for q in coordinates), tuple(law.dynamics.labels))


def _start(
    system: System, course: Reference, start: State | Mapping[Any, float] | None, begin: float, labels: list[str]
) -> State:
    """On the reference, but for what is given."""
    if isinstance(start, State):
        return starting_state(system, start)
    q, v, _ = course(begin)
    if nowhere := [label for label, *e in zip(labels, q, v, strict=True) if not np.all(np.isfinite(e))]:
        raise ModelError(f"The reference of {', '.join(nowhere)} has no finite value or rate at t = {begin:g}.")
    given = dict(zip(labels, q.tolist(), strict=True))
    given |= dict(zip([f"{label}.rate" for label in labels], v.tolist(), strict=True))
    wanted = numbers(start)
    states = {z.label: system.model.start.get(z.label, 0.0) for z in system.model.states}
    if system.model.rows:
        return system.consistent({**states, **wanted}, near=given, t=begin)
    return system.state({**states, **given, **wanted}, t=begin)
