"""A report to hand to a colleague: system, equations, proof, results, code, sources, on one self-contained page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from appell.errors import AppellError
from appell.reporting.content import Report, Section

if TYPE_CHECKING:
    from appell.equations import Equations
    from appell.model.model import Model
    from appell.motion.motion import Motion

__all__ = ["Report", "report"]


def report(
    subject: Any,
    path: str | Path | None = None,
    *,
    also: Mapping[str, Any] | Iterable[Any] = (),
    title: str = "",
    code: str = "",
    look: Any = None,
    field: Any = None,
) -> Report:
    """A report on a motion, equations or a model, to be read from top to bottom.

    Args:
        subject: A Motion, a Plan or a Tracking; or Equations, a System or a Model, which are then proved by `verify`
            and not run. Without numbers for all parameters there is no drawing, and `verify` takes random ones.
        path: A file to write: .html (self-contained), .tex or .md.
        also: Further results, by a heading or in a list: certificates of stability, plans, verifications, motions,
            plots, scenes, texts, anything that prints itself.
        title: The title; the model's name if left out.
        code: Python code that makes `model`, shown for reproducing; found or written from the model if left out.
        look: Hints for drawing, a `Look`.
        field: A map on the floor, as for `animate`.

    Returns:
        The report.

    Example:
        >>> import appell as ap
        >>> ap.report(ap.library.appell_hamel())
        Report on 'Appell-Hamel particle': The system, Equations of motion, Agreement of the formulations, ...
    """
    from appell.analysis.verify import verify
    from appell.code.system import System
    from appell.motion.motion import Motion
    from appell.reporting import sections as s
    from appell.reporting.further import section
    from appell.reporting.planned import planned_section

    planned = planned_section(subject)
    motion = subject.motion if planned is not None else subject if isinstance(subject, Motion) else None
    equations = _equations(subject if motion is None else motion)
    model = equations.model
    system = motion.system if motion is not None else subject if isinstance(subject, System) else None
    values = dict(model.values if system is None else system.values)
    start = dict(model.start)
    if motion is not None:
        start = dict(zip(motion.info["state"], motion.states(motion.times[:1])[0].tolist(), strict=True))
    known = {e.label for e in (*model.parameters, *model.inputs)}
    numbers = {k: v for k, v in values.items() if k in known}
    missing = [e.label for e in model.parameters if e.label not in numbers]
    drawing = None if missing else model.draw(values=numbers, start=start, look=look)
    parts: list[Section] = [
        s.system_section(model, {**values, **_held_inputs(model, motion), **start}, drawing),
        s.equations_section(equations),
    ]
    if motion is not None:
        parts += [s.proof_section(motion), s.results_section(motion, motion.animate(look=look, field=field))]
    else:
        parts.append(s.verification_section(verify(model, values=numbers)))
    if planned is not None:
        parts.append(planned)
    if isinstance(also, str) or not isinstance(also, Iterable):
        raise AppellError(f"also= takes further results in a list, or by their headings; got {also!r}.")
    listed = also.items() if isinstance(also, Mapping) else [("", e) for e in also]
    parts += [section(thing, str(heading)) for heading, thing in listed]
    method = motion.info["method"] if motion is not None else ""
    parts += [s.reproduce_section(model, motion, code), s.sources_section(equations, method)]
    what = "a report by appell" if motion is None else (
        f"t = {motion.times[0]:g} .. {motion.times[-1]:g} s by {equations.formulation.name}, {method}"
    )  # fmt: skip
    made = Report(title or model.name, what, tuple(parts))
    if path is not None:
        made.save(path)
    return made


def _held_inputs(model: Model, motion: Motion | None) -> dict[str, float]:
    """Inputs along a motion: their number, NaN for those that change."""
    found = {} if motion is None else {w.label: motion.columns.get(w.label) for w in model.inputs}
    return {k: float(e[0]) if (e == e[0]).all() else math.nan for k, e in found.items() if e is not None}


def _equations(subject: Any) -> Equations:
    """The equations that a report is about."""
    from appell.code.system import System
    from appell.equations import Equations
    from appell.formulation.derive import derive
    from appell.model.model import Model
    from appell.motion.motion import Motion

    if isinstance(subject, Motion):
        if not subject.stretches:
            raise AppellError("A motion loaded from a file cannot be proved again; run simulate, then report.")
        return subject.system.equations
    if isinstance(subject, Equations):
        return subject
    if isinstance(subject, System):
        return subject.equations
    if isinstance(subject, Model):
        return derive(subject)
    raise AppellError(
        f"report takes a Motion, a Plan, a Tracking, Equations, a System or a Model, got {type(subject).__name__}."
    )
