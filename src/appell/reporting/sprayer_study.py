"""The report on the study of the sprayer: three paths with spray and coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from appell.reporting import sections as s
from appell.reporting.content import Block, Report, Section, Shown, Table, Text
from appell.sprayer.coverage import cover
from appell.sprayer.study import PRINTED, Drive, Study
from appell.view.plot import Line, Map, Panel, Plot

MAPS = 40


def study_report(study: Study) -> Report:
    """A report on everything the study did.

    Args:
        study: The study.
    """
    drives = study.linearized
    first = drives[0]
    model = first.robot.model
    values = {k: v for k, v in first.motion.system.values.items() if k in {p.label for p in model.parameters}}
    open_loop = study.open_loop
    proofs = tuple(
        (name, f"{check.position:.1e}", f"{check.velocity:.1e}", f"{check.balance:.1e}",
         f"{max(check.agreement.values(), default=0.0):.1e}", "yes" if check.ok else "NO")
        for name, check in study.checks.items()
    )  # fmt: skip
    head = ("run", "positions", "velocities", "power balance", "agreement", "holds")
    proof = Section(
        "Proof",
        (
            Text("Everything is as it should be." if study.ok else "NOT WELL: look below.", True, study.ok),
            Table(head, proofs, "Residuals, power balance, agreement of the formulations along the motions"),
            Text(f"Balance of linear momentum with what the jets carry away: closed to {study.momentum.error:.1e}."),
        ),
    )
    parts = [
        s.system_section(model, values, model.draw(values=values)),
        s.equations_section(open_loop.system.equations),
        proof,
        _errors(study),
        *(_path(e) for e in drives),
        s.reproduce_section(model, open_loop, ""),
        s.sources_section(open_loop.system.equations, open_loop.info["method"]),
    ]
    return Report("The spraying robot", "three paths, several laws of control, and what the field got", tuple(parts))


def _errors(study: Study) -> Section:
    rows = []
    for e in (*study.printed, *study.held, *study.pid, *study.linearized):
        tracking, orientation = e.errors
        printed = f"{PRINTED[e.path.name][0]:g}" if e.robot.mode == "paper" else ""
        rows.append((e.path.name, e.law.name, e.robot.mode, f"{tracking:.6f}", f"{orientation:.6f}", printed))
    head = ("path", "law", "equations", "tracking m", "orientation rad", "the paper prints m")
    lines = tuple(Line(e.path.name, e.motion.times, e.side_force) for e in study.linearized)
    side = Plot("Sideways force of the ground on the tyres", (Panel(lines, "t [s]", "force [N]"),))
    return Section("Tracking", (Table(head, tuple(rows), "Means over each run"), Shown(side)))


def _path(drive: Drive) -> Section:
    """One path: the animation with its coverage, errors, the map."""
    whole = cover(drive.robot, drive.motion, maps=MAPS)
    ground = drive.motion.system.model.ground
    look = drive.robot.model.look
    if look is not None:
        look = replace(look, curves={"wanted path": ground.point(*drive.path.position)})
    scene = drive.motion.animate(look=look, field=whole)
    tracking = Line("distance", drive.motion.times, np.maximum(drive.tracking, 1e-16))
    plot = Plot(
        "Errors and inputs",
        (
            Panel((tracking,), "t [s]", "distance [m]"),
            Panel((Line("force", drive.motion.times, drive.inputs[0]),), "t [s]", "force [N]"),
            Panel((Line("moment", drive.motion.times, drive.inputs[1]),), "t [s]", "moment [N·m]"),
        ),
    )
    shown = np.where(whole.dose > 0, whole.dose, np.nan)
    field = Plot("What the field got", (Panel((Map("l/m²", whole.x, whole.y, shown),), "x [m]", "y [m]", equal=True),))
    blocks: list[Block] = [Text(f"{drive.law.name}; {whole.summary()}"), Shown(scene), Shown(plot), Shown(field)]
    return Section(f"The {drive.path.name} path", tuple(blocks))
