"""Lines at rest: programmed paths, and what a constraint leaves a particle, a curve or a surface."""

from __future__ import annotations

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
    part = body.center.parts[model.ground]
    axes = {e: i for i, e in enumerate(part) if isinstance(e, Coordinate)}
    order = {q: i for i, q in enumerate(model.coordinates)}
    place = np.stack([course.q[:, order[e]] for e in axes], axis=1)
    low, high = place.min(axis=0), place.max(axis=0)
    reach = max(float((high - low).max()), float(np.abs(place).max()), 1e-9)
    low, high = low - 1.1 * reach, high + 1.1 * reach
    function = ca.Function("row", [variables.t, variables.q, variables.p], [variables.lower(formula)])
    free = [e for e in axes if e in letters]
    fixed = [e for e in axes if e not in letters]

    def level(points: np.ndarray) -> np.ndarray:
        q = np.repeat(course.q[:1].T, points.shape[0], axis=1)
        for k, e in enumerate(axes):
            q[order[e]] = points[:, k]
        count = points.shape[0]
        found = function.map(count)(np.zeros((1, count)), q, np.repeat(course.p[:, None], count, axis=1))
        return np.array(found).ravel()

    slots = {e: k for k, e in enumerate(axes)}
    planes: list[tuple[tuple[Coordinate, Coordinate], Coordinate | None, float]] = []
    if len(axes) == 2:
        a, b = axes
        planes.append(((a, b), None, 0.0))
    elif not fixed:
        for other in axes:
            a, b = (e for e in axes if e is not other)
            k = slots[other]
            planes += [((a, b), other, float(s)) for s in np.linspace(low[k], high[k], 15)[1:-1]]
    elif len(free) == 2:
        k = slots[fixed[0]]
        planes += [((free[0], free[1]), fixed[0], float(s)) for s in np.linspace(low[k], high[k], 5)]
    else:
        return []
    lines = []
    for (a, b), other, value in planes:
        lines += _contour(
            level=level, slots=slots, low=low, high=high, a=a, b=b, other=other, value=value, axes=axes, first=place[0]
        )
    return lines[:400]


def _contour(level, slots, low, high, a, b, other, value, axes, first) -> list[np.ndarray]:
    from contourpy import contour_generator

    u, v = (np.linspace(low[slots[e]], high[slots[e]], CELLS) for e in (a, b))
    U, V = np.meshgrid(u, v)
    points = np.repeat(first[None, :], U.size, axis=0)
    points[:, slots[a]], points[:, slots[b]] = U.ravel(), V.ravel()
    if other is not None:
        points[:, slots[other]] = value
    heights = level(points).reshape(U.shape)
    if not np.all(np.isfinite(heights)) or heights.min() > 0 or heights.max() < 0:
        return []
    found = []
    for line in contour_generator(u, v, heights).lines(0.0):
        if len(line) < 3:
            continue
        placed = np.zeros((len(line), 3))
        placed[:, axes[a]], placed[:, axes[b]] = line[:, 0], line[:, 1]
        if other is not None:
            placed[:, axes[other]] = value
        found.append(placed)
    return found
