"""Lines at rest: programmed paths, and what a constraint leaves a particle, a curve or a surface."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from appell.kinematics.variables import Variables
from appell.model.body import Particle
from appell.model.model import Model, QuaternionNorm
from appell.model.symbols import Coordinate, ExtraState, letters_in, t
from appell.view.scene import Curve
from appell.view.tracks import Course, Values

CELLS = 90


def path_curves(programmed: dict[str, int], values: Values) -> list[Curve]:
    """Whole paths of points."""
    return [Curve(name, (values.points[k].copy(),), "#6b7480") for name, k in programmed.items()]


def constraint_curves(model: Model, variables: Variables, course: Course, rods: set[str]) -> list[Curve]:
    """Curves f(x, y) = 0 and surfaces f(x, y, z) = 0 on which a particle stays, but for rows that rods stand for."""
    listed: list[Curve] = []
    for constraint in model.constraints:
        if isinstance(constraint, QuaternionNorm):
            continue
        for row in constraint.rows:
            found = letters_in(row.expression)
            letters = {s for s in found if isinstance(s, Coordinate)}
            if row.order or t in found or not letters or row.name in rods:
                continue
            if any(isinstance(s, ExtraState) for s in found):
                continue
            body = _carrier(model, letters)
            if body is not None:
                lines = _lines(model, variables, course, body, row.expression, letters)
                if lines:
                    listed.append(Curve(row.name, tuple(lines), "#8a94a0", "constraint"))
    return listed


def _carrier(model: Model, letters: set[Coordinate]) -> Particle | None:
    """The particle whose place these coordinates are, one for each axis."""
    for body in model.bodies:
        part = body.center.parts.get(model.ground)
        if isinstance(body, Particle) and part is not None and set(body.center.parts) == {model.ground}:
            own = [e for e in part if isinstance(e, Coordinate)]
            if letters <= set(own) and len(own) == len(set(own)) >= 2:
                return body
    return None


def _lines(
    model: Model, variables: Variables, course: Course, body: Particle, formula: object, letters: set[Coordinate]
) -> list[np.ndarray]:
    """Contours of the row, in one plane for a curve, in slices for a surface."""
    from contourpy import contour_generator

    axes = {e: i for i, e in enumerate(body.center.parts[model.ground]) if isinstance(e, Coordinate)}
    order = {q: i for i, q in enumerate(model.coordinates)}
    place = course.q[:, [order[e] for e in axes]]
    low, high = place.min(axis=0), place.max(axis=0)
    reach = max(float((high - low).max()), float(np.abs(place).max()), 1e-9)
    ends = dict(zip(axes, zip(low - 1.1 * reach, high + 1.1 * reach, strict=True), strict=True))
    function = ca.Function("row", [variables.t, variables.q, variables.p], [variables.lower(formula)])

    def level(at: dict[Coordinate, Any], count: int) -> np.ndarray:
        """The row where some coordinates have given values and the others those of the start."""
        q = np.repeat(course.q[:1].T, count, axis=1)
        for e, values in at.items():
            q[order[e]] = values
        found = function.map(count)(np.zeros((1, count)), q, np.repeat(course.p[:, None], count, axis=1))
        return np.array(found).ravel()

    lines = []
    for (a, b), slice_ in _planes(list(axes), letters, ends):
        u, v = (np.linspace(*ends[e], CELLS) for e in (a, b))
        U, V = np.meshgrid(u, v)
        heights = level({a: U.ravel(), b: V.ravel(), **slice_}, U.size).reshape(U.shape)
        if not np.all(np.isfinite(heights)) or heights.min() > 0 or heights.max() < 0:
            continue
        for line in contour_generator(u, v, heights).lines(0.0):
            if len(line) < 3:
                continue
            placed = np.zeros((len(line), 3))
            for e, values in {a: line[:, 0], b: line[:, 1], **slice_}.items():
                placed[:, axes[e]] = values
            lines.append(placed)
    return lines[:400]


def _planes(
    axes: list[Coordinate], letters: set[Coordinate], ends: dict[Coordinate, tuple[float, float]]
) -> Iterator[tuple[tuple[Coordinate, Coordinate], dict[Coordinate, float]]]:
    """Pairs of coordinates in whose planes there are contours, with the value that a third one has there."""
    if len(axes) == 2:
        yield (axes[0], axes[1]), {}
        return
    fixed = [e for e in axes if e not in letters]
    if len(fixed) > 1:
        return
    for other in fixed or axes:
        a, b = (e for e in axes if e is not other)
        for value in np.linspace(*ends[other], 5) if fixed else np.linspace(*ends[other], 15)[1:-1]:
            yield (a, b), {other: float(value)}
