"""Strings and telescopes: what carries a point along an axis that turns, by a length that varies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import sympy as sp

from appell.model.body import Body, RigidBody
from appell.model.force import AbstractForce, Damper, Force, Generalized, Potential
from appell.model.frame import Frame, Vector
from appell.model.model import Model
from appell.model.symbols import Evolving, letters_in, t


def strings(model: Model) -> list[tuple[Vector, Vector]]:
    """From where to where such lengths go, in frames that are no bodies, from the ground or another body.

    A length that a force or a row along with the turning speaks of is none: the distance of a planet, which its
    attraction depends on, that of a bead from the middle of its spiral, the length of a spring.

    Args:
        model: The model.
    """
    return [ends for body in model.bodies for ends in _carrying(model, body)]


def _carrying(model: Model, body: Body) -> Iterator[tuple[Vector, Vector]]:
    others = [other for other in model.bodies if other is not body]
    axes = {other.frame.axes for other in model.bodies if isinstance(other, RigidBody)}
    known = {s for other in others for s in _moving(other.center.parts)} | {t}
    for frame, part in body.center.parts.items():
        inner = {f: e for f, e in body.center.parts.items() if len(f.path) < len(frame.path)}
        turning, along = _turning(frame), {s for e in part for s in letters_in(e) if isinstance(s, Evolving) or s == t}
        straight = sum(e != 0 for e in part) == 1 and frame.axes not in axes
        if not (straight and turning and along and _moving(inner) <= known):
            continue
        if not (along - {t}) & _spoken_of(model, turning):
            yield Vector(inner), Vector({**inner, frame: part})


def _moving(parts: Mapping[Frame, tuple[sp.Expr, ...]]) -> set[sp.Symbol]:
    """What moves a point."""
    turned = {s for deep in parts for frame in deep.path for s in _turning(frame)}
    return turned | {s for part in parts.values() for e in part for s in letters_in(e) if isinstance(s, Evolving)}


def _turning(frame: Frame) -> set[sp.Symbol]:
    """What turns a frame against that from which it was made."""
    rotation = frame.axes.rotation
    formulas = () if rotation is None else rotation.quaternion or (rotation.angle,)
    return {s for e in formulas for s in letters_in(e) if isinstance(s, Evolving) or s == t}


def _spoken_of(model: Model, turning: set[sp.Symbol]) -> set[sp.Symbol]:
    """Letters in forces, and in rows in which what turns a frame stands, too."""
    spoken = {s for force in model.forces for e in _formulas(force) for s in letters_in(e)}
    for row in model.rows:
        letters = letters_in(row.expression)
        spoken |= letters if letters & turning else set()
    return spoken


def _formulas(force: AbstractForce) -> Iterable[sp.Expr]:
    """What a force depends on, and not where it acts; of a damper its ends, between which it is drawn."""
    if isinstance(force, Potential):
        return (force.energy,)
    if isinstance(force, Generalized):
        return force.forces.values()
    vectors = (force.vector,) if isinstance(force, Force) else (force.a, force.b) if isinstance(force, Damper) else ()
    return [e for vector in vectors for part in vector.parts.values() for e in part]
