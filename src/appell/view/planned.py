"""Plots of plans, of tracked motions and of driving forces along a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.model.force import FORCES
from appell.view.plot import COLORS, GREY, RED, Line, Panel, Plot, labelled, shown

if TYPE_CHECKING:
    from appell.control.tracking import Tracking
    from appell.higher_order.profile import Profile
    from appell.planning.planner import Plan

LEAST = 1e-16  # of an error on a logarithmic axis


def _told(title: str, names: Sequence[str], units: Sequence[str]) -> tuple[str, list[str]]:
    """The label of an axis and the names of its curves: the unit stands once where it is one, else behind each name."""
    if len(set(units)) == 1:
        return labelled(title, units[0]), [shown(name) for name in names]
    return title, [labelled(shown(name), unit) for name, unit in zip(names, units, strict=True)]


def _per(unit: str, times: int) -> str:
    """The unit of a derivative by time."""
    return f"{unit}/s{f'^{times}' if times > 1 else ''}" if unit else ""


def plan_plot(plan: Plan) -> Plot:
    """Positions, speeds, forces of the drives and their rates with limits, and the distance to singularity.

    Args:
        plan: The plan.
    """
    model, times = plan.motion.system.model, plan.times
    n, labels, units = len(model.coordinates), [q.label for q in model.coordinates], [q.unit for q in model.coordinates]
    states, (force, rate) = plan.motion.states(times), plan.effort.along(plan.motion, times)
    forces = [FORCES.get(unit, "") for unit in units]
    kinds = (
        ("position", "positions", states[:, :n], units),
        ("speed", "speeds", states[:, n : 2 * n], [_per(unit, 1) for unit in units]),
        ("torque", "drives", force, forces),
        ("torque_rate", "their rates", rate, [_per(unit, 1) for unit in forces]),
    )
    panels = []
    for kind, title, values, measured in kinds:
        if not np.any(values):
            continue
        axis, names = _told(title, labels, measured)
        lines = [Line(name, times, values[:, i], color=_color(i)) for i, name in enumerate(names)]
        for finding in (f for f in plan.findings if f.kind == kind and f.name in labels):
            lines += _limits(finding, labels.index(finding.name), times, values)
        panels.append(Panel(tuple(lines), "t [s]", axis))
    found = plan.regularity.values
    apart = Line("smallest singular value", plan.regularity.times, found, color=GREY)
    panels.append(Panel((apart,), "t [s]", "smallest singular value"))
    pace = "" if plan.pace == 1.0 else f", {plan.pace:.4g} times slower"
    return Plot(f"{model.name}{pace}: {'feasible' if plan.feasible else 'NOT feasible'}", tuple(panels))


def _limits(finding: Any, i: int, times: np.ndarray, values: np.ndarray) -> list[Line]:
    """Bounds of a coordinate, dashed, and where they are broken first."""
    ends = times[[0, -1]]
    lines = [Line("", ends, np.full(2, b), color=_color(i), dashed=True) for b in finding.bounds if np.isfinite(b)]
    if finding.first is not None:
        where = np.array([finding.first])
        height = np.interp(where, times, values[:, i])
        lines.append(Line(f"first violation by {shown(finding.name)}", where, height, True, "circle-open", RED))
    return lines


def _color(i: int) -> str:
    return COLORS[i % len(COLORS)]


def tracking_plot(tracking: Tracking) -> Plot:
    """Coordinates with their reference dashed, absolute errors, inputs.

    Args:
        tracking: The tracked motion.
    """
    motion, units = tracking.motion, tracking.motion.units
    times, (wanted, _, _) = motion.times, tracking.reference.at(motion.times)
    own = [units.get(name, "") for name in tracking.labels]
    axis, names = _told("coordinates", tracking.labels, own)
    paths = [Line(name, times, motion.columns[label], color=_color(i))
             for i, (label, name) in enumerate(zip(tracking.labels, names, strict=True))]  # fmt: skip
    paths += [Line("reference" if i == 0 else "", times, wanted[:, i], color=_color(i), dashed=True)
              for i in range(len(names))]  # fmt: skip
    misses, missed = _told("absolute errors", tracking.labels, own)
    errors = [Line(name, times, np.maximum(tracking.deviation.values[:, i], LEAST)) for i, name in enumerate(missed)]
    forces, drives = _told("inputs", tracking.drives, [units.get(name, "") for name in tracking.drives])
    inputs = [Line(name, times, motion.columns[w]) for name, w in zip(drives, tracking.drives, strict=True)]
    panels = (
        Panel(tuple(paths), "t [s]", axis),
        Panel(tuple(errors), "t [s]", misses, log="y"),
        Panel(tuple(inputs), "t [s]", forces),
    )
    return Plot(f"{motion.info['model']}: tracking", panels)


def profile_plot(profile: Profile) -> Plot:
    """tau, tau', ... of every joint over time.

    Args:
        profile: The driving forces.
    """
    chain, names = profile.dynamics.chain, profile.dynamics.names
    units = ["N" if link.kind == "prismatic" else "N*m" for link in chain.links]
    panels = []
    for k in range(profile.order + 1):
        title = "τ" + "'" * k if k <= 3 else f"τ, derivative {k}"
        axis, told = _told(title, names, [_per(unit, k) if k else unit for unit in units])
        lines = tuple(Line(name, profile.times, profile.tau[:, j, k]) for j, name in enumerate(told))
        panels.append(Panel(lines, "t [s]", axis))
    return Plot(chain.name, tuple(panels))
