"""The picture of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from appell.files import write_figure

if TYPE_CHECKING:
    from appell.planning.planner import Plan


FORCES = {"rad": "N·m", "m": "N"}  # along coordinates of these units


def units(kind: str, coordinates: Sequence[Any]) -> str:
    """The units of some quantity along coordinates, as they stand beside an axis; nothing where one has none.

    Args:
        kind: position, speed, torque or torque_rate.
        coordinates: The coordinates.
    """
    listed = [FORCES.get(q.unit, "") if kind.startswith("torque") else q.unit for q in coordinates]
    per = "/s" if kind in ("speed", "torque_rate") else ""
    return f" [{', '.join(unit + per for unit in dict.fromkeys(listed))}]" if all(listed) else ""


def picture(plan: Plan, path: str | Path | None) -> Any:
    """Positions, speeds, forces of the drives with limits and first violations, and the distance to singularity."""
    from matplotlib.figure import Figure

    model = plan.motion.system.model
    n, times = len(model.coordinates), plan.times
    states = plan.motion.states(times)
    tau, rate = plan.effort.along(plan.motion, times)
    panels = [
        ("position", "positions", states[:, :n]),
        ("speed", "speeds", states[:, n : 2 * n]),
        ("torque", "drives", tau),
        ("torque_rate", "their rates", rate),
    ]
    figure = Figure(figsize=(9, 9.5), layout="constrained")
    axes = figure.subplots(5, 1, sharex=True)
    for axis, (kind, title, values) in zip(axes, panels, strict=False):
        for i, q in enumerate(model.coordinates):
            (line,) = axis.plot(times, values[:, i], label=q.name)
            for finding in plan.findings:
                if finding.kind == kind and finding.name == q.label:
                    for bound in finding.bounds:
                        axis.axhline(bound, color=line.get_color(), lw=0.8, ls=":")
                    if finding.first is not None:
                        level = np.interp(finding.first, times, values[:, i])
                        axis.plot(finding.first, level, "o", color="tab:red", ms=7, mfc="none", mew=1.6)
        axis.set_ylabel(title + units(kind, model.coordinates), fontsize=9)
        axis.grid(alpha=0.3)
    axes[0].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8)
    axes[4].plot(np.linspace(times[0], times[-1], plan.regularity.values.size), plan.regularity.values, color="black")
    axes[4].set_ylabel("smallest singular value", fontsize=9)
    axes[4].set_ylim(bottom=0)
    axes[4].grid(alpha=0.3)
    axes[4].set_xlabel("t [s]")
    pace = "" if plan.pace == 1.0 else f", {plan.pace:.4g} times slower"
    figure.suptitle(f"{model.name}{pace}: {'feasible' if plan.feasible else 'NOT feasible'}")
    if path is not None:
        write_figure(figure, path, 130)
    return figure
