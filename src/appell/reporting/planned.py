"""Sections on plans and on tracked motions: verdict, limits, what drives must do, errors against the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from appell.planning.picture import units
from appell.reporting.content import Block, Section, Shown, Table, Text
from appell.view.plot import COLORS, Line, Panel, Plot

if TYPE_CHECKING:
    from appell.control.tracking import Tracking
    from appell.planning import Plan


def planned_section(thing: Any, title: str = "") -> Section | None:
    """The section on a plan or a tracked motion; None for anything else.

    What planning and control need is loaded only by whoever made such a thing.

    Args:
        thing: Anything.
        title: The heading.
    """
    if hasattr(thing, "programme") and hasattr(thing, "findings"):
        return plan_section(thing, title)
    if hasattr(thing, "reference") and hasattr(thing, "deviation"):
        return tracking_section(thing, title)
    return None


def plan_section(plan: Plan, title: str = "") -> Section:
    """Whether a planned motion can be executed.

    Args:
        plan: The plan.
        title: The heading.
    """
    programme, regularity = plan.programme, plan.regularity
    pace = "" if plan.pace == 1.0 else f" It is {plan.pace:.4g} times slower than the programme as given."
    if plan.feasible:
        verdict = "Feasible: the motion reaches its end, keeps all limits and meets no singular configuration."
    elif plan.violations:
        first = plan.violations[0]
        kind = first.kind.replace("_", " ")
        verdict = f"NOT feasible: the {kind} of {first.name} breaks its limit at t = {first.first:.4g} s."
    else:
        motion = plan.motion
        early = f"the motion ends at t = {motion.times[-1]:.4g} s. {motion.outcome.value}"
        verdict = f"NOT feasible: {'it meets a singular configuration.' if motion.outcome.ok else early}"
    rows = tuple(
        (row.name, str(row.order), "programmed" if row.programmed else "of the mechanism") for row in programme.rows
    )
    blocks: list[Block] = [
        Text(verdict, True, plan.feasible),
        Text(f"A programme of order {programme.order}; states of dimension {programme.dimension}.{pace}"),
        Table(("row", "order", "kind"), rows, "Programme"),
    ]
    limits = tuple(
        (f.kind.replace("_", " "), f.name, f"{f.bounds[0]:g} .. {f.bounds[1]:g}", f"{f.worst:.6g}", f"{f.at:.4g}",
         "yes" if f.first is None else f"NO, from t = {f.first:.4g} s")
        for f in plan.findings
    )  # fmt: skip
    if limits:
        blocks.append(Table(("limit on", "of", "allowed", "extreme value", "at t [s]", "kept"), limits, "Limits"))
    moved = tuple((name, f"{a:.6g}", f"{b:.9g}") for name, (a, b) in plan.start.changes.items())
    if moved:
        blocks.append(Table(("quantity", "given", "on the programme"), moved, "Start moved onto the programme"))
    where = f"smallest singular value of the rows {regularity.smallest:.3g}, at t = {regularity.at:.4g} s"
    blocks += [Text(f"Distance to singular configurations: {where}."), Shown(_demands(plan), "What the plan demands")]
    return Section(title or "Plan", tuple(blocks))


def _demands(plan: Plan) -> Plot:
    """Positions, speeds, forces of the drives and their rates with limits, and the distance to singularity."""
    model, times = plan.motion.system.model, plan.times
    n = len(model.coordinates)
    states, (force, rate) = plan.motion.states(times), plan.effort.along(plan.motion, times)
    kinds = (
        ("position", "position", states[:, :n]), ("speed", "speed", states[:, n : 2 * n]),
        ("torque", "force of the drive", force), ("torque_rate", "its rate", rate),
    )  # fmt: skip
    panels = []
    for kind, label, values in kinds:
        if not np.any(values):
            continue
        items = []
        for i, q in enumerate(model.coordinates):
            color = COLORS[i % len(COLORS)]
            items.append(Line(q.label, times, values[:, i], color=color))
            for finding in plan.findings:
                if (finding.kind, finding.name) == (kind, q.label):
                    ends = times[[0, -1]]
                    items += [Line("", ends, np.full(2, b), color=color, dashed=True) for b in finding.bounds]
                    if finding.first is not None:
                        level = np.interp(finding.first, times, values[:, i])
                        where, height = np.array([finding.first]), np.array([level])
                        name = f"first violation by {q.label}"
                        items.append(Line(name, where, height, True, "circle-open", "#c0392b"))
        panels.append(Panel(tuple(items), "t [s]", label + units(kind, model.coordinates)))
    found = plan.regularity.values
    apart = Line("smallest singular value", np.linspace(times[0], times[-1], found.size), found, color="#5f6b76")
    return Plot("Plan", (*panels, Panel((apart,), "t [s]", "distance to singularity")))


def tracking_section(tracking: Tracking, title: str = "") -> Section:
    """How well a mechanism followed its reference.

    Args:
        tracking: The tracked motion.
        title: The heading.
    """
    metrics, units = tracking.metrics(), tracking.motion.units
    settled = tracking.settled(1e-3)
    good = tracking.motion.outcome.ok and settled is not None
    words = f"All errors stay below 1e-3 from t = {settled:.4g} s." if settled is not None else "NOT settled to 1e-3."
    rows = tuple(
        (name, units.get(name, ""), *(f"{entry[k]:.4g}" for k in ("largest", "at", "rms", "last")))
        for name, entry in metrics.items()
    )
    columns = tracking.motion.columns
    inputs = tuple((w, units.get(w, ""), f"{columns[w].min():.6g}", f"{columns[w].max():.6g}") for w in tracking.drives)
    head = ("coordinate", "unit", "largest error", "at t [s]", "root mean square", "at the end")
    return Section(
        title or "Tracking",
        (
            Text(words, True, good),
            Table(head, rows, "Errors against the reference"),
            Table(("input", "unit", "least", "greatest"), inputs, "What the law asked for"),
            Shown(_followed(tracking), "Coordinates (reference dashed), errors, inputs"),
        ),
    )


def _followed(tracking: Tracking) -> Plot:
    motion, units = tracking.motion, tracking.motion.units
    times, (wanted, _, _) = motion.times, tracking.reference.at(motion.times)
    paths, errors = [], []
    for i, name in enumerate(tracking.labels):
        color, unit = COLORS[i % len(COLORS)], units.get(name, "")
        label = f"{name} [{unit}]" if unit else name
        paths.append(Line(label, times, motion.columns[name], color=color))
        paths.append(Line(f"{name}, reference", times, wanted[:, i], color=color, dashed=True))
        errors.append(
            Line(f"|error of {name}|", times, np.maximum(tracking.deviation.values[:, i], 1e-16), color=color)
        )
    inputs = tuple(Line(f"{w} [{units[w]}]" if units.get(w) else w, times, motion.columns[w]) for w in tracking.drives)
    return Plot(
        "Tracking",
        (
            Panel(tuple(paths), "t [s]", "coordinates"),
            Panel(tuple(errors), "t [s]", "errors", log="y"),
            Panel(inputs, "t [s]", "inputs"),
        ),
    )
