"""A reference that is given for some quantities only, completed by the constraints of the mechanism."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import sympy as sp

from appell.code.system import compile
from appell.control.inverse_dynamics import InverseDynamics
from appell.control.reference import course
from appell.errors import ModelError
from appell.formulation.derive import derive
from appell.model.constraint import Holonomic, Prescribed
from appell.model.model import Model
from appell.model.symbols import Coordinate, Letter, Rate, explicit_rate, key, letters_in, time_derivative
from appell.model.values import unknown
from appell.motion.motion import Motion
from appell.motion.run import simulate


def incomplete(reference: Any, coordinates: Sequence[Coordinate]) -> bool:
    """Whether a reference is given by formulas that are not one for each coordinate.

    Args:
        reference: What was given to be tracked.
        coordinates: Those that follow it.
    """
    if not isinstance(reference, Mapping):
        return False
    given = {key(name) for name in reference if isinstance(name, str | Letter)}
    return len(given) < len(reference) or bool({q.label for q in coordinates} - given)


def completed(
    reference: Mapping[Any, Any], dynamics: InverseDynamics, until: float, near: Mapping[str, float]
) -> Motion:
    """The motion of the mechanism on which some quantities follow formulas in time.

    Args:
        reference: `{coordinate or formula: formula in t}`; together with the constraints they leave nothing free.
        dynamics: The mechanism as the law knows it.
        until: How long.
        near: Where to look for the start, before the model's own.
    """
    model = dynamics.model
    letters = {q.label: q for q in model.coordinates}
    if not reference:
        raise ModelError(f"The reference is empty; give formulas in appell.t for {', '.join(letters)}.")
    rows, known = [], {}
    for name, formula in reference.items():
        what = name
        if isinstance(name, str | Letter):
            if key(name) not in letters:
                raise ModelError(unknown(key(name), list(letters), f"coordinate of {model.name!r}"))
            what = letters[key(name)]
        rows.append(Prescribed(what, course(formula, what), f"reference of {what}"))
        if isinstance(what, Coordinate):
            known[what.rate] = explicit_rate(course(formula, what))
    guided = model.add(*rows, *tied(model, known))
    if free := guided.degrees_of_freedom:
        others = ", ".join(label for label in letters if label not in map(str, reference))
        raise ModelError(
            f"The reference of {', '.join(map(str, reference))} leaves {free} degree{'s' * (free > 1)} of freedom of "
            f"{model.name!r} open and says nothing about {others}; give formulas in appell.t for more of them, or let "
            "only some coordinates follow: control.ComputedTorque(..., joints=[...])."
        )
    values = dict(zip((s.label for s in model.parameters), dynamics.p.tolist(), strict=True))
    system = compile(derive(guided)).bind({**values, **dict.fromkeys(dynamics.labels, 0.0), **dynamics.held})
    motion = simulate(system, system.consistent({}, near={**model.start, **near}), until)
    if not motion.outcome.ok:
        raise ModelError(f"The reference cannot be followed to its end: {motion.outcome.value} {motion.detail}")
    return motion


def tied(model: Model, known: Mapping[Rate, sp.Expr]) -> list[Holonomic]:
    """What rows on velocities say about places where all their rates are known: by its path, the heading of a wheel.

    The derivative of such a place follows, too, so that others may: by the heading, the angle of steering.

    Args:
        model: The mechanism.
        known: Rates that are given, as formulas in time.
    """
    known, found, rows = dict(known), [], [row.expression for row in model.rows if row.order == 1]
    while told := next(((row, place) for row in rows if (place := _told(row, known)) is not None), None):
        row, place = told
        rows.remove(row)
        here = row.xreplace(known)
        drift = time_derivative(here).xreplace({place.rate: sp.S.Zero}).xreplace(known)
        known[place.rate] = -drift / sp.diff(here, place)
        found.append(Holonomic(here, f"reference of {place}"))
    return found


def _told(row: sp.Expr, known: Mapping[Rate, sp.Expr]) -> Coordinate | None:
    """The only coordinate in a row whose rate is not known, while those of the row itself are."""
    letters = letters_in(row)
    if any(isinstance(s, Rate) and s not in known for s in letters):
        return None
    unknown_places = [s for s in letters_in(row.xreplace(known)) if isinstance(s, Coordinate) and s.rate not in known]
    return unknown_places[0] if len(unknown_places) == 1 else None
