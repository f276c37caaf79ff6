"""What is inside of bodies: bores along the axis of a cylinder are cut, all else is seen through walls like glass."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from appell.view.parts import Part
from appell.view.shape_parts import revolved
from appell.view.surface import surface
from appell.view.unshaped import STRIPE

if TYPE_CHECKING:
    from appell.view.figure import Figure
    from appell.view.tracks import Values

WALL, CAVITY = 0.32, 0.6  # how opaque walls and cavities are


def hollowed(solids: list[Part], cavities: list[Part]) -> list[Part]:
    """Shapes with their cavities.

    Args:
        solids: What there is.
        cavities: What is taken away from it.
    """
    left = list(cavities)
    made = []
    for solid in solids:
        cut = next((e for e in left if _bored(solid, e) is not None), None)
        bored = _bored(solid, cut) if cut is not None else None
        if bored is not None:
            left = [e for e in left if e is not cut]
        made.append(bored or solid)
    if not left:
        return made
    return [*(replace(e, opacity=CAVITY) for e in left), *(replace(e, opacity=WALL) for e in made)]


LOOKS = 5  # moments at which it is seen whether a body hides another


def cleared(figures: list[Figure], shapes: list[list[Part]], values: Values) -> list[list[Part]]:
    """Shapes of bodies; those that always hide another body, as a shell hides what drives it, are like glass.

    Args:
        figures: The bodies.
        shapes: Their shapes.
        values: Tracks along the motion.
    """
    moments = np.unique(np.linspace(0, values.times.size - 1, LOOKS).astype(int))
    shells = [np.concatenate([surface(p, 12).vertices for p in parts] or [np.zeros((0, 3))]) for parts in shapes]

    def seen_from(i: int, j: int) -> list[np.ndarray]:
        """Another body in the axes of a body, moment by moment."""
        one, other = figures[i], figures[j]
        places = (
            shells[j] @ values.turns[other.turn][moments].transpose(0, 2, 1) + values.points[other.point][moments, None]
        )
        return list((places - values.points[one.point][moments, None]) @ values.turns[one.turn][moments])

    def hides(i: int, shape: Part) -> bool:
        others = (j for j in range(len(figures)) if j != i and len(shells[j]))
        return any(all(map(shape.holds, seen_from(i, j))) for j in others)

    made = []
    for i, parts in enumerate(shapes):
        glass = {id(e) for e in parts if hides(i, e)}
        glass |= {id(e) for e in parts if glass and e.color == STRIPE}  # with its marks
        made.append([replace(e, opacity=WALL) if id(e) in glass else e for e in parts])
    return made


def _bored(solid: Part, cavity: Part) -> Part | None:
    """A cylinder with a hole along its axis that is open at one end at least; None for anything else."""
    if solid.kind != "cylinder" or cavity.kind != "cylinder":
        return None
    (R, H), (r, h) = solid.size, cavity.size
    across = solid.turn.T @ (cavity.at - solid.at)
    straight = abs(abs(float((solid.turn.T @ cavity.turn)[2, 2])) - 1) < 1e-9
    if not straight or np.hypot(across[0], across[1]) > 1e-9 * R or not r < R:
        return None
    low, high = float(across[2]) - h / 2, float(across[2]) + h / 2
    below, above, half = low <= -H / 2 + 1e-9 * H, high >= H / 2 - 1e-9 * H, H / 2
    if below and above:
        profile = [[r, -half], [R, -half], [R, half], [r, half], [r, -half]]
    elif above:
        profile = [[0, -half], [R, -half], [R, half], [r, half], [r, low], [0, low]]
    elif below:
        profile = [[0, high], [r, high], [r, -half], [R, -half], [R, half], [0, half]]
    else:
        return None
    vertices, faces = revolved(np.array(profile, dtype=float))
    return Part("mesh", (), solid.at, solid.turn, vertices, faces, solid.color)
