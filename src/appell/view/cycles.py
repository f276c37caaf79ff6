"""Plots of periodic motions: closed curves in the planes of coordinates and rates, and multipliers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from appell.view.motions import phase
from appell.view.plot import COLORS, GREY, RED, Line, Panel, Plot

if TYPE_CHECKING:
    from appell.analysis.periodic_motion import PeriodicMotion

MOST = 5  # portraits


def cycle(found: PeriodicMotion) -> Plot:
    """The phase portrait of each coordinate that comes back, and the multipliers about the unit circle.

    Args:
        found: The periodic motion.
    """
    portraits = [phase(found.motion, name).panels[0] for name in found.back[:MOST]]
    portraits = [replace(e, items=tuple(replace(line, name="") for line in e.items)) for e in portraits]
    return Plot(
        f"{found.motion.info['model']}, period {found.period:.6g} s", (*portraits, _multipliers(found)), shared=False
    )


def _multipliers(found: PeriodicMotion) -> Panel:
    turn, values = np.linspace(0.0, 2 * np.pi, 181), found.multipliers
    lines = [Line("", np.cos(turn), np.sin(turn), color=GREY, thin=True)]
    for name, here, color in (
        ("inside", np.abs(values) <= 1, COLORS[0]),
        ("outside the unit circle", np.abs(values) > 1, RED),
    ):
        some = values[here]
        notes = tuple(f"{e.real:.6g}{e.imag:+.6g}i, of size {abs(e):.6g}" for e in some.tolist())
        if some.size:
            lines.append(Line(name, some.real, some.imag, True, "x", color, notes=notes))
    if found.ones:
        one = np.ones(1)
        lines.append(Line(f"{found.ones} at one for a reason", one, 0 * one, True, "circle-open", GREY))
    return Panel(tuple(lines), "Re μ", "Im μ", equal=True)
