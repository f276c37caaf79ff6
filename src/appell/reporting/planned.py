"""Sections on plans and on tracked motions: verdict, limits, what drives must do, errors against the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from appell.reporting.content import Block, Section, Shown, Table, Text

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


def plan_section(plan: Plan, title: str) -> Section:
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
        verdict = f"NOT feasible: the {first.what} breaks its limit at t = {first.first:.4g} s."
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
        (f.kind.replace("_", " "), f.name, f.allowed, f"{f.worst:.6g}", f"{f.at:.4g}",
         "yes" if f.first is None else f"NO, from t = {f.first:.4g} s")
        for f in plan.findings
    )  # fmt: skip
    if limits:
        blocks.append(Table(("limit on", "of", "allowed", "extreme value", "at t [s]", "kept"), limits, "Limits"))
    moved = tuple((name, f"{a:.6g}", f"{b:.9g}") for name, (a, b) in plan.start.changes.items())
    if moved:
        blocks.append(Table(("quantity", "given", "on the programme"), moved, "Start moved onto the programme"))
    where = "; ".join(regularity.words)
    blocks += [Text(f"Distance to singular configurations: {where}.")] if where else []
    blocks.append(Shown(plan.plot(), "What the plan demands"))
    return Section(title or "Plan", tuple(blocks))


def tracking_section(tracking: Tracking, title: str) -> Section:
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
            Shown(tracking.plot(), "Coordinates (reference dashed), errors, inputs"),
        ),
    )
