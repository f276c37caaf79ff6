"""Plots of motions: quantities over time, phase portraits, paths; of one motion or of several to compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from appell.code.state import names_of
from appell.errors import AppellError
from appell.model.symbols import listed
from appell.view.plot import COLORS, Line, Panel, Plot, labelled, shown

FINE, FINEST = 2000, 20_000  # moments of a curve, and of one over many steps
PER_STEP = 8  # moments within a step, in which a motion may turn about once
FLAT = 30  # a curve so many times smaller than another would be seen as a straight line beside it
NOISE = 1e-9  # and so much smaller it is rounding
LENGTHS = ("m", "km", "cm", "mm", "um", "nm")  # of what is seen as a path, whose axes have one scale


def _check_motion(given: Any) -> None:
    """Refuse what has no table of quantities over time."""
    if not all(hasattr(given, name) for name in ("columns", "times", "units")):
        raise AppellError(f"Only a Motion can be drawn over time, got {type(given).__name__}; write simulate(system).")


def _quantity(motion: Any, name: Any) -> tuple[str, np.ndarray, str]:
    """Label, values over the table and unit of a name, symbol or formula; a column is not made an xarray first."""
    label = name if isinstance(name, str) else getattr(name, "label", "")
    if label in motion.columns:
        return label, np.asarray(motion.columns[label]), motion.units.get(label, "")
    found = motion[name]
    return str(found.name), np.asarray(found.values), found.attrs.get("units", "")


def over_time(motion: Any, names: Sequence[Any] = ()) -> Plot:
    """Quantities of a motion over time: one panel per unit. Of several motions: one panel per quantity.

    Args:
        motion: The motion; or several to compare, by name: {"exact": one, "linear": another}.
        names: What to draw, by name, symbol or formula; everything tabulated if empty, rates below coordinates,
            inputs without a unit apart, and what is much smaller than its neighbours in a panel of its own. Of several
            motions all that is tabulated of each.
    """
    names = listed(() if names is None else names)
    if not hasattr(motion, "columns") and isinstance(motion, Mapping | list | tuple):
        return _compared(_several(motion), names)
    _check_motion(motion)
    panels: dict[tuple[str, str], list[Line]] = {}
    for name in names or motion.columns:
        line, label, unit = _curve(motion, name)
        panels.setdefault(("" if names else _kind(motion, label, unit), unit), []).append(line)
    made = []
    for (_, unit), together in panels.items():
        for lines in [together] if names else _of_a_size(together):
            label = lines[0].name if len(lines) == 1 else ""
            made.append(Panel(tuple(lines), "t [s]", labelled(label, unit).strip(), marks=_marks(motion)))
    return Plot(motion.info["model"], tuple(made))


def _kind(motion: Any, label: str, unit: str) -> str:
    """What is not drawn in one panel: rates and positions, nor inputs, if no unit tells them from coordinates."""
    if label.endswith(".rate"):
        return "rate"
    return "input" if not unit and label not in motion.info.get("state", motion.columns) else ""


def _compared(motions: Mapping[str, Any], names: Sequence[Any]) -> Plot:
    """A panel for each quantity, in it a curve for each motion, every other one dashed: they differ in grey, too."""
    first, *others = motions.values()
    made = []
    for name in names or [e for e in first.columns if all(e in other.columns for other in others)]:
        lines = []
        for i, (called, motion) in enumerate(motions.items()):
            line, label, unit = _curve(motion, name)
            lines.append(replace(line, name=called, color=COLORS[i % len(COLORS)], dashed=i % 2 == 1))
        made.append(Panel(tuple(lines), "t [s]", labelled(shown(label), unit)))
    return Plot(_titled(motions), tuple(made))


def _several(given: Any) -> dict[str, Any]:
    """Motions by name: of a list as they are numbered, of one alone without."""
    if isinstance(given, Mapping):
        motions = {str(name): motion for name, motion in given.items()}
    elif isinstance(given, list | tuple):
        motions = {f"run {i + 1}" if len(given) > 1 else "": motion for i, motion in enumerate(given)}
    else:
        motions = {"": given}
    if not motions:
        raise AppellError("A plot of motions needs at least one motion.")
    for motion in motions.values():
        _check_motion(motion)
    return motions


def _titled(motions: Mapping[str, Any]) -> str:
    return ", ".join(dict.fromkeys(motion.info["model"] for motion in motions.values()))


def _marks(motion: Any) -> tuple[tuple[float, str], ...]:
    return tuple((float(o.t), o.name) for o in motion.occurrences[:60])


def _curve(motion: Any, name: Any) -> tuple[Line, str, str]:
    """A quantity over time, its label and its unit."""
    label, values, unit = _quantity(motion, name)
    finely = _finely(motion, name, label)
    times = motion.times if finely is None else _moments(motion)
    return Line(shown(label), times, values if finely is None else finely), label, unit


def _of_a_size(lines: list[Line]) -> list[list[Line]]:
    """The curves that are large, and those that would not be seen beside them if there are any but rounding."""
    sizes = [np.max(np.abs(line.y), initial=0.0, where=np.isfinite(line.y)) for line in lines]
    small = [size * FLAT < max(sizes) for size in sizes]
    if not any(flat and size > NOISE * max(sizes) for flat, size in zip(small, sizes, strict=True)):
        return [lines]
    return [[line for line, flat in zip(lines, small, strict=True) if flat == asked] for asked in (False, True)]


def phase(motion: Any, x: Any, y: Any = None) -> Plot:
    """A phase portrait: one quantity against another, the start marked; of two lengths the path, at one scale.

    Args:
        motion: One motion, or several, by name if they shall have one: {"below": one, "above": another}.
        x: A quantity by name, symbol or formula.
        y: The other one; the rate of x if left out.
    """
    motions = _several(motion)
    if y is None and not isinstance(x, str) and not hasattr(x, "rate"):
        raise AppellError(f"A phase portrait is of a coordinate, or of two quantities, phase(x, y); got {x!r}.")
    other = y if y is not None else (f"{x}.rate" if isinstance(x, str) else x.rate)
    lines: list[Line] = []
    for i, (called, each) in enumerate(motions.items()):
        (first, a, unit), (second, b, rate) = _quantity(each, x), _quantity(each, other)
        one, two = _finely(each, x, first), _finely(each, other, second)
        a, b = (one, two) if one is not None and two is not None else (a, b)
        color = COLORS[i % len(COLORS)]
        lines.append(Line(called, a, b, color=color))
        lines.append(Line("start" if i == 0 else "", a[:1], b[:1], points=True, color=color))
    spans = [max(np.ptp(e[np.isfinite(e)]) for e in (getattr(line, axis) for line in lines)) for axis in ("x", "y")]
    path = unit == rate and unit in LENGTHS and max(spans) < FLAT * min(spans)
    across, upward = labelled(shown(first), unit), labelled(shown(second), rate)
    return Plot(_titled(motions), (Panel(tuple(lines), across, upward, equal=path),))


def _moments(motion: Any) -> np.ndarray:
    """Those of the table and so many between them that curves look smooth, however long the run was."""
    count = min(max(FINE, PER_STEP * motion.info["steps"]), FINEST)
    return np.union1d(motion.times, np.linspace(motion.times[0], motion.times[-1], count))


def _finely(motion: Any, name: Any, label: str) -> np.ndarray | None:
    """A quantity at so many moments that curves look smooth; None where only a table is known."""
    if not motion.stretches:
        return None
    times, labels = _moments(motion), names_of(motion.system.model)
    if label in labels:
        return motion.states(times)[:, labels.index(label)]
    return motion.evaluate(name, times) if isinstance(name, sp.Basic) else None
