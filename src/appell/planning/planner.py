"""Plans: from a model and its programme to a motion, with what it demands of joints and drives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from appell.code.state import State
from appell.code.system import System, compile
from appell.errors import AppellError, MissingValueError, ModelError
from appell.formulation.abstract import AbstractFormulation
from appell.formulation.derive import derive
from appell.formulation.gpme import GPME
from appell.model.model import Model
from appell.model.programme import programme_states
from appell.model.values import number, numbers
from appell.motion.motion import Motion
from appell.motion.outcome import Outcome
from appell.motion.run import simulate
from appell.planning.effort import ASIDE, Effort, Jolt, named_drives
from appell.planning.feasibility import Demand, Finding, Limits, Regularity, regularity
from appell.planning.obstacle import Obstacle, told_apart
from appell.planning.pace import paced
from appell.planning.programme import Programme, orders
from appell.planning.projection import projected

LOOKS = 401  # times at which limits are looked at, steps and corners apart
SHAPES = 101  # times at which the rank of the rows is
SLOWEST = 64.0


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be planned.

    Attributes:
        system: The reference dynamics.
        given: Where to begin, as the user says.
        until: End of the motion.
        limits: What joints and drives can do.
        obstacles: What points keep away from.
        drives: Names of forces that drives exert besides the programme.
        pace: Name of the parameter that multiplies time in the programme.
        method: The integrator.
    """

    system: System
    given: Mapping[str, float]
    until: float
    limits: Limits
    obstacles: Mapping[str, Obstacle]
    drives: tuple[str, ...]
    pace: str
    method: str

    @cached_property
    def scaled(self) -> System:
        """The system whose programme has its pace as a parameter."""
        model = paced(self.system.model, self.pace)
        if model is self.system.model:
            return self.system
        known = {s.label for s in (*model.parameters, *model.inputs)}
        values = {name: value for name, value in self.system.values.items() if name in known}
        return compile(derive(model, self.system.equations.formulation)).bind(values)


@dataclass(frozen=True, eq=False)
class Plan:
    """A planned motion and what is known about it.

    Attributes:
        task: What it is the plan of.
        motion: The motion of the reference dynamics.
        start: The start on the programme at every level; `start.changes` has what was moved.
        programme: Orders and initial data.
        pace: The factor by which time was scaled, 1 for the programme as given.
    """

    task: Task
    motion: Motion
    start: State
    programme: Programme
    pace: float

    @property
    def limits(self) -> Limits:
        """What joints and drives can do."""
        return self.task.limits

    @property
    def drives(self) -> tuple[str, ...]:
        """Names of forces that drives exert besides the programme."""
        return self.task.drives

    @cached_property
    def times(self) -> np.ndarray:
        """Times at which limits are looked at: evenly, as often as the integrator did, and beside every corner."""
        first, last = self.motion.times[[0, -1]]
        corners = np.array([stretch.times[0] for stretch in self.motion.stretches[1:]])
        sides = np.concatenate([corners - ASIDE * (last - first), corners + ASIDE * (last - first)])
        middles = (self._steps[1:] + self._steps[:-1]) / 2
        looks = np.concatenate([np.linspace(first, last, LOOKS), self._steps, middles, sides])
        return np.unique(looks[(first <= looks) & (looks <= last)])

    @property
    def _steps(self) -> np.ndarray:
        """Times of the integrator's steps, which are short where much happens."""
        return np.unique(np.concatenate([stretch.times for stretch in self.motion.stretches]))

    @cached_property
    def effort(self) -> Effort:
        """The forces of the drives."""
        return Effort(self.motion.system, self.drives)

    @cached_property
    def torques(self) -> Any:
        """Generalized forces of the drives and their rates over time: an xarray Dataset by coordinate."""
        import xarray

        tau, rate = self._forces
        labels = [q.label for q in self.motion.system.model.coordinates]
        axes = {"t": self.times, "coordinate": labels}
        return xarray.Dataset({"torque": (("t", "coordinate"), tau), "rate": (("t", "coordinate"), rate)}, axes)

    @cached_property
    def _forces(self) -> tuple[np.ndarray, np.ndarray]:
        return self.effort.along(self.motion, self.times)

    @cached_property
    def jolts(self) -> tuple[Jolt, ...]:
        """Moments at which the drives would have to push, or change their push, without bound."""
        return self.effort.jolts(self.motion)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Every limit and obstacle, and how the motion stands to it."""
        system = self.motion.system
        asked = [
            Demand(
                kind, system.model.coordinates[i].label, bounds, partial(self._values, kind, i), self._infinite(kind, i)
            )
            for kind, i, bounds in self.limits.pairs(system.model)
        ]
        for name, obstacle in self.task.obstacles.items():
            along = partial(self._distances, obstacle.gap(system))
            asked.append(Demand("distance", name, (obstacle.radius, math.inf), along))
        return tuple(demand.finding(self.motion, self.times) for demand in asked)

    def _values(self, kind: str, i: int, times: np.ndarray) -> np.ndarray:
        """What has limits along a coordinate at some times."""
        if kind in ("position", "speed"):
            n = len(self.motion.system.model.coordinates)
            return self.motion.states(times)[:, i + n * (kind == "speed")]
        forces = self._forces if times is self.times else self.effort.along(self.motion, times)
        return forces[kind == "torque_rate"][:, i]

    def _infinite(self, kind: str, i: int) -> dict[float, float]:
        """When the force of a drive, or its rate, is infinite."""
        if kind not in ("torque", "torque_rate"):
            return {}
        sizes = {e.t: e.impulse[i] or (e.jump[i] if kind == "torque_rate" else 0.0) for e in self.jolts}
        return {t: math.copysign(math.inf, size) for t, size in sizes.items() if size}

    def _distances(self, gap: ca.Function, times: np.ndarray) -> np.ndarray:
        """How far a point is from an obstacle at some times."""
        n, rows = len(self.motion.system.model.coordinates), self.motion.states(times)
        return np.sqrt([float(gap(s, row[:n], row[2 * n :])[0]) for s, row in zip(times, rows, strict=True)])

    @cached_property
    def regularity(self) -> Regularity:
        """Distance to singular configurations, and the conditioning of every partition."""
        even = np.linspace(*self.motion.times[[0, -1]], SHAPES)
        return regularity(self.motion.system, self.motion, np.unique([*even, *self._steps[1:-1]]))

    @cached_property
    def violations(self) -> tuple[Finding, ...]:
        """Limits that are not kept, the earliest first."""
        broken = [f for f in self.findings if f.first is not None]
        return tuple(sorted(broken, key=lambda f: f.first if f.first is not None else np.inf))

    @property
    def feasible(self) -> bool:
        """Whether the motion reached its end, keeps all limits and distances and meets no singular configuration."""
        return self.motion.outcome.ok and not self.violations and self.regularity.regular

    def slower(self, factor: float) -> Plan:
        """The plan of the same task in `factor` times the time of the programme as given, computed anew.

        Args:
            factor: How many times slower; below 1 faster.
        """
        factor = number("factor", factor)
        if not factor > 0:
            raise ModelError(f"The factor of slowing down must be positive, got {factor!r}.")
        return _slowed(self.task, factor)

    def suggest(self) -> Plan | None:
        """The fastest plan of the same task, at this pace or slower, that is feasible; None if slowing does not help.

        Every plan tried is computed by simulation.
        """
        if self.feasible:
            return self
        if self.motion.outcome is Outcome.ROWS_CONTRADICT:
            return None  # at every pace
        if not all(math.isfinite(finding.worst) for finding in self.violations):
            return None  # a corner stays one at every pace
        good, bad = None, 1.0
        factor = 1.25
        while factor <= SLOWEST:
            trial = self.slower(factor)
            if trial.feasible:
                good = (factor, trial)
                break
            bad, factor = factor, factor * 1.6
        if good is None:
            return None
        for _ in range(12):
            if good[0] / bad < 1.002:
                break
            middle = (good[0] * bad) ** 0.5
            trial = self.slower(middle)
            if trial.feasible:
                good = (middle, trial)
            else:
                bad = middle
        return good[1]

    def summary(self) -> str:
        """Orders, the start, limits, distance to singular configurations."""
        lines = [repr(self.programme)]
        moved = self.start.changes
        if moved:
            lines.append("start moved onto the programme:")
            lines += [f"  {name}: {a:.6g} -> {round(b, 12) + 0.0:.9g}" for name, (a, b) in moved.items()]
        lines.append(
            f"motion: t = {self.motion.times[0]:g} .. {self.motion.times[-1]:g} s, {self.motion.outcome.value}"
        )
        if self.motion.detail:
            lines.append(f"  {self.motion.detail}")
        labels = [q.label for q in self.motion.system.model.coordinates]
        lines += [jolt.words(labels) for jolt in self.jolts if jolt.impulse.any()]
        lines += [repr(f) for f in self.findings]
        lines += [f"nearest to a singular configuration: {words}" for words in self.regularity.words]
        hint = "; plan.suggest() (--suggest) looks for a pace that is"
        hint = "" if self.motion.outcome is Outcome.ROWS_CONTRADICT else hint
        lines.append("feasible" if self.feasible else f"NOT FEASIBLE{hint}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from appell.reporting.notebook import section_html

        return section_html(self)

    def __repr__(self) -> str:
        return self.summary()

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw positions, speeds, forces with their limits, and the distance to singular configurations.

        Args:
            path: A file to write: .html (interactive), .svg, .pdf or .png.

        Returns:
            The plot: in a notebook it shows itself; `figure()` is Matplotlib's, `plotly()` Plotly's.
        """
        from appell.view.planned import plan_plot

        return plan_plot(self).written(path)


def plan(
    model: Model,
    *,
    values: Mapping[Any, float] | None = None,
    start: Mapping[Any, float] | None = None,
    until: float | None = None,
    limits: Limits | None = None,
    drives: str | Sequence[str] = (),
    formulation: AbstractFormulation | None = None,
    pace: str = "pace",
    method: str = "auto",
    obstacles: Obstacle | Sequence[Obstacle] = (),
) -> Plan:
    """Plan a programmed motion: start on the programme at every level, reference dynamics, feasibility.

    Args:
        model: A model with programmed constraints.
        values: Numbers of parameters and inputs.
        start: Where to begin; the model's suggestion fills the rest. It is moved onto the programme where it is not.
        until: End of the motion; the model's suggestion if left out.
        limits: What joints and drives can do.
        drives: Names of forces of the model that drives exert besides those of the programme.
        formulation: The principle; `GPME()` if left out.
        pace: Name of a parameter of the model that multiplies time in its programme and drives. A model without one
            gets it in its programmed rows when it is slowed down.
        method: The integrator, as for `simulate`.
        obstacles: What points keep away from.

    Returns:
        The plan; `plan.motion` is its motion.

    Example:
        >>> import appell as ap
        >>> p = ap.plan(ap.library.curvature_arm(), limits=ap.planning.Limits(speed={"q1": 1.0}), until=1.0)
        >>> p.feasible, p.violations[0].name
        (False, 'q1')
    """
    if not isinstance(model, Model):
        raise ModelError(f"A plan needs a model, got {model!r}.")
    if not model.programmed:
        raise ModelError(
            f"{model.name!r} has no programmed constraint; add appell.Programmed(...), or use simulate (appell run)."
        )
    limits = Limits.checked(limits)
    limits.pairs(model)
    drives = named_drives(model, drives)
    system = reference(model, values, formulation)
    task = Task(
        system=system, given=numbers(start), until=number("until", model.until if until is None else until),
        limits=limits, obstacles=told_apart(obstacles), drives=drives, pace=pace, method=method,
    )  # fmt: skip
    return _simulated(task, system, task.given)


def reference(model: Model, values: Mapping[Any, float] | None, formulation: AbstractFormulation | None) -> System:
    """The reference dynamics of a model with all its numbers."""
    system = compile(derive(model, formulation or GPME())).bind(values)
    if system.missing:
        listed = ", ".join(f"{name}: ..." for name in system.missing)
        drives = {w.label for w in model.inputs} & set(system.missing)
        hint = " (0 for a drive that the programme replaces)" if drives else ""
        error = MissingValueError(
            f"The plan needs numbers for {', '.join(system.missing)}{hint}; give values={{{listed}}}."
        )
        error.names = tuple(system.missing)
        raise error
    return system


def _slowed(task: Task, factor: float) -> Plan:
    """The plan at another pace: a start with the same positions, rates divided by powers of the factor."""
    model = task.system.model
    system = task.scaled.bind({task.pace: task.scaled.values[task.pace] / factor})
    first = {**system.model.start, **task.given}
    forced = [z.label for z in programme_states(model.programme, model.coordinates) if z.label in first]
    if forced:
        raise ModelError(
            f"The start gives {', '.join(forced)}, a force, which does not follow from one pace to another; give "
            "accelerations and higher rates instead, such as x.rate.rate."
        )
    start = {name: value / factor ** name.count(".rate") for name, value in first.items()}
    return _simulated(task, system, start, factor)


def _simulated(task: Task, system: System, start: Mapping[Any, float], pace: float = 1.0) -> Plan:
    """The plan of a task by a system at its pace."""
    state = projected(system, start)
    motion = simulate(system, state, task.until * pace, method=task.method)
    if len(motion.times) < 2:
        name = system.model.name
        raise AppellError(f"The plan of {name!r} ended where it began: {motion.outcome.value} {motion.detail}")
    return Plan(task, motion, state, orders(system.model, system), pace)
