"""What things stand on: the floor or the slope that they touch, and the knife edges between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from appell.view.parts import Part
from appell.view.surface import surface

if TYPE_CHECKING:
    from appell.view.figure import Figure
    from appell.view.tracks import Values

STEEP = 0.2  # of a wall against a slope: how little of its normal points upwards
BLADE, DEEP, SLIM = "#38424d", 0.2, 0.06  # of a blade: colour, height and thickness against its length


def ground_normal(places: np.ndarray, up: np.ndarray) -> np.ndarray:
    """The normal of the plane in which points of contact stay; `up` where they stay in none.

    Points that stay on a line are on the slope that rises along it and is level across it.

    Args:
        places: Points of contact in as many configurations as are known, one in a row.
        up: The direction upwards.
    """
    places = places[np.all(np.isfinite(places), axis=1)]  # configurations nearby may be impossible ones
    if len(places) < 3:
        return up
    spread, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)[1:]
    dimension = int(np.sum(spread > 1e-9 * spread[0])) if spread[0] > 0 else 0
    if dimension == 1:
        normal = up - (up @ axes[0]) * axes[0]
        normal = normal / max(float(np.linalg.norm(normal)), STEEP)
    else:
        normal = axes[2] if dimension == 2 else up
    return up if abs(float(normal @ up)) < STEEP else normal * np.sign(normal @ up)


def stand_on_edges(
    figures: list[Figure], shapes: list[list[Part]], values: Values, near: Values, ground: np.ndarray, span: float
) -> None:
    """Put blades under bodies that stand on knife edges, and what lies in the plane of the contacts upon them.

    Args:
        figures: The bodies.
        shapes: Their shapes; those of plain bodies are raised.
        values: Tracks along the motion.
        near: The same at configurations nearby.
        ground: The normal of the floor.
        span: How large what moves is.
    """
    plain = [i for i, figure in enumerate(figures) if figure.plain]
    raised, blades = 0.0, {}
    for i in plain:
        figure = figures[i]
        turn, center = values.turns[figure.turn][0], values.points[figure.point][0]
        shell = [surface(p).vertices for p in shapes[i]]
        size = float(np.ptp(shell[0], axis=0).max()) if shell else 0.0
        length = max(0.6 * size, 0.15 * span)
        for at, across in figure.edges:
            y = values.vectors[across][0] @ turn
            y = y / np.linalg.norm(y)
            z = _upright(figure, values, near, ground)
            contact = (values.points[at][0] - center) @ turn
            if z is None:  # leaning: the blade is carried by the body
                z, middle, height = (np.eye(3)[2] if abs(y[2]) < 0.9 else np.eye(3)[0]), contact, DEEP * length
            else:
                levels = np.concatenate(shell) @ z if shell else np.zeros(1)
                height = (DEEP + SLIM) * length + float(np.ptp(levels))  # out of the top, where it is seen
                middle = contact + height / 2 * z
                raised = max(raised, float(contact @ z) + DEEP * length - float(levels.min()))
            x = np.cross(y, z) / np.linalg.norm(np.cross(y, z))
            axes = np.stack([x, y, np.cross(x, y)], axis=1)
            box = Part("box", (length, SLIM * length, height), middle, axes, color=BLADE)
            blades.setdefault(i, []).append(box)
    for i in plain:
        z = _upright(figures[i], values, near, ground)
        if raised and z is not None:
            shapes[i] = [replace(p, at=p.at + raised * z) for p in shapes[i]]
        shapes[i] = shapes[i] + blades.get(i, [])


def _upright(figure: Figure, values: Values, near: Values, ground: np.ndarray) -> np.ndarray | None:
    """The normal of the floor in the axes of a body, if it is always the same there."""
    z = np.concatenate([e.turns[figure.turn].transpose(0, 2, 1) @ ground for e in (values, near)])
    return z[0] if np.ptp(z, axis=0).max() < 1e-9 else None
