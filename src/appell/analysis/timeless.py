"""Time in equations that do not depend on it: on a base of constant acceleration it cancels, but stays on the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np

from appell.errors import EquilibriumError
from appell.graph.kinks import has_kinks
from appell.graph.terms import ROUNDING, terms_at

MOMENTS = (0.0, 0.7321, 2.236)  # no whole parts of each other: what is periodic shows


def timeless(
    column: ca.SX, t: ca.SX, letters: Sequence[ca.SX], places: Iterable[Sequence[np.ndarray]], name: str
) -> ca.SX:
    """A column without time, which must make no difference.

    What is analytic and does not change with time at ordinary places does so nowhere; what switches may.

    Args:
        column: A graph in t and the letters.
        t: Time.
        letters: All others.
        places: Numbers for the letters, a few times.
        name: Name of the model.
    """
    if not ca.depends_on(column, t):
        return column
    function = ca.Function("timed", [t, *letters], [ca.densify(column)])
    if has_kinks(function):
        raise _timed(name)
    for place in places:
        (first, *values), sizes = zip(*(terms_at(function, moment, *place) for moment in MOMENTS), strict=True)
        if not all(np.all(np.abs(value - first) <= ROUNDING * np.max(sizes, axis=0)) for value in values):
            raise _timed(name)
    return ca.substitute(column, t, ca.SX(0.0))


def _timed(name: str) -> EquilibriumError:
    return EquilibriumError(
        f"{name!r} depends on time explicitly, and equilibria are looked for where nothing does; leave the "
        "time-dependent part out of the model, or give it by an input. A base that does not turn may have a "
        "constant acceleration a if its place is a formula, ground.at(ground.point(a*ap.t**2/2, 0)), and no Prescribed "
        "coordinate."
    )
