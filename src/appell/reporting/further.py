"""Further results as sections: certificates, verifications, plans, trackings, motions, plots, anything that prints."""

from __future__ import annotations

import re
from typing import Any

from appell.analysis.certificate import Certificate, Verdict
from appell.analysis.roots import parts
from appell.analysis.verify import Verification
from appell.motion.motion import Motion
from appell.reporting.content import Block, Code, Section, Shown, Table, Text
from appell.reporting.planned import planned_section
from appell.reporting.sections import results_section, verification_section
from appell.view.plot import Plot
from appell.view.plots import roots
from appell.view.scene import Scene

OWN = __name__.partition(".")[0]


def section(thing: Any, title: str = "") -> Section:
    """A section on anything.

    Args:
        thing: A certificate, verification, plan, tracking, motion, scene, plot, text, or what prints itself.
        title: Its heading; one that fits if empty.
    """
    if isinstance(thing, Verification):
        made = verification_section(thing)
        return Section(title, made.blocks) if title else made
    if isinstance(thing, Motion):
        return results_section(thing, thing.animate(), title or thing.info["model"])
    if isinstance(thing, Scene | Plot):
        return Section(title or thing.title, (Shown(thing),))
    planned = planned_section(thing, title)
    if planned is not None:
        return planned
    if isinstance(thing, str):
        return Section(title or "Remarks", (Text(thing),))
    if isinstance(thing, Certificate):
        return _certificate(thing, title)
    return _anything(thing, title)


def _certificate(thing: Certificate, title: str) -> Section:
    verdict, good = thing.verdict.value, thing.verdict not in (Verdict.UNSTABLE, Verdict.CRITICAL)
    rows = tuple((c.text, f"{c.value:.6g}", "yes" if c.holds else "NO") for c in thing.conditions)
    listed = tuple((f"{real:.9g}", f"{imag:.9g}") for real, imag in parts(thing.roots))
    blocks = (
        Text(verdict[0].upper() + verdict[1:] + ".", True, good),
        Text(thing.sentence),
        Table(("condition", "value", "holds"), rows, "What was checked"),
        Shown(roots(thing, title="roots of the first approximation"), "Structural zero roots are marked"),
        Table(("Re λ [1/s]", "Im λ [1/s]"), listed, "Roots"),
    )
    return Section(title or "Stability", blocks)


def _anything(thing: Any, title: str) -> Section:
    """What prints itself, with its plot if it is of appell and has one; those of others draw where they like."""
    blocks: list[Block] = [Code("text", str(thing))]
    name, ours = type(thing).__name__, type(thing).__module__.partition(".")[0] == OWN
    plot = getattr(thing, "plot", None)
    if callable(plot) and ours:
        try:
            made = plot()
        except TypeError:
            made = None
        if isinstance(made, Plot):
            blocks.append(Shown(made))
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize() if ours else name
    return Section(title or words, tuple(blocks))
