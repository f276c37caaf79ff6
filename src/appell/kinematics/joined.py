"""Points of bodies that rows join: the same point, seen from the body that it is joined to.

A vector that rows close does not change, c' = 0, so a point moves as the same point less that vector. Of two bodies
with coordinates of their own that are joined at a pin, the centre of the second moves as the pin of the first and the
arm from there: its coordinates are gone, and what is left turns with the frames.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from appell.model.frame import Vector
from appell.model.symbols import Coordinate, letters_in

LOOKS = 60  # points that are looked at


def joined(point: Vector, closed: Sequence[Vector]) -> Vector:
    """A point that moves as the given one, with the fewest coordinates in its components.

    Args:
        point: The point.
        closed: Vectors that do not change.
    """
    best, fewest = point, len(_coordinates(point))
    places = [_coordinates(vector) for vector in closed]
    left, seen = deque([(point, frozenset[int]())]), {frozenset[int]()}
    while left and fewest and len(seen) < LOOKS:
        vector, used = left.popleft()
        here = _coordinates(vector)
        for k in (k for k, there in enumerate(places) if k not in used and here & there and used | {k} not in seen):
            other = min((vector - closed[k], vector + closed[k]), key=lambda way: len(_coordinates(way)))
            count = len(_coordinates(other))
            if here - _coordinates(other):  # it leads away from some of them
                seen.add(used | {k})
                left.append((other, used | {k}))
                best, fewest = (other, count) if count < fewest else (best, fewest)
    return best


def _coordinates(vector: Vector) -> set[Coordinate]:
    """The coordinates in the components of a vector, those in the turns of its frames apart."""
    return {s for part in vector.parts.values() for e in part for s in letters_in(e) if isinstance(s, Coordinate)}
