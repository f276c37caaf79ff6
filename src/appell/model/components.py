"""The components of a vector in the axes of a frame: multiplied out, or nested along a long chain of turns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import sympy as sp

from appell.errors import FrameError
from appell.model.rotation import (
    NOTHING,
    UNIT,
    ZERO,
    Rotation,
    Rows,
    Triple,
    added,
    inner,
    product,
    transposed,
)
from appell.once import once

if TYPE_CHECKING:
    from appell.model.frame import Frame

DEEP = 8  # turns one after the other beyond which formulas are nested instead of multiplied out


def resolved(vector: Mapping[Frame, Triple], frame: Frame) -> Triple:
    """The components in a frame of a vector that is a sum of parts, each written in a frame of its own."""
    if any(_turns_between(frame, other) > DEEP for other in vector):
        return _nested(vector, frame)
    total = NOTHING
    for other, part in vector.items():
        R = _rows_between(frame, other, tuple(j for j in range(3) if part[j] is not ZERO))
        seen = part if R is None else (inner(R[0], part), inner(R[1], part), inner(R[2], part))
        total = added(total, seen)
    return total


def common_frame(a: Mapping[Frame, Triple], b: Mapping[Frame, Triple]) -> Frame | None:
    """Where the product of two vectors is short that lie far apart along a chain; None if their own frames are near."""
    if not a or not b:
        return None
    ends = [max(vector, key=lambda frame: len(frame.path)) for vector in (a, b)]
    if all(_turns_between(end, other) <= DEEP for end, vector in zip(ends, (b, a), strict=True) for other in vector):
        return None
    return ends[0].path[min(shared_depth(ends[0], other) for other in (*a, *b)) - 1]


def shared_depth(a: Frame, b: Frame) -> int:
    """How many frames from the ground on lie on the ways to both."""
    if a.path[0] is not b.path[0]:
        raise FrameError(
            f"{a!r} and {b!r} hang from two different grounds ({a.path[0]!r}, {b.path[0]!r}); "
            "make all frames from one appell.Frame()."
        )
    depth = 0
    while depth < min(len(a.path), len(b.path)) and a.path[depth] is b.path[depth]:
        depth += 1
    return depth


def _rows_between(a: Frame, b: Frame, wanted: tuple[int, ...] = (0, 1, 2)) -> Rows | None:
    """The rows of R with v_a = R v_b; None where the axes are the same. Columns that are not wanted may be zero."""
    depth = shared_depth(a, b)
    back, forth = _turn(a.path[depth:]), _turn(b.path[depth:], wanted)
    if back is None:
        return forth
    inverse = transposed(back)
    return inverse if forth is None else product(inverse, forth, wanted)


def _turns_between(a: Frame, b: Frame) -> int:
    """How many turns about different axes lead from one frame to another."""
    depth = shared_depth(a, b)
    if len(a.path) + len(b.path) - 2 * depth <= DEEP:
        return 0
    axes = [frame.rotation.axis for frame in (*reversed(a.path[depth:]), *b.path[depth:]) if frame.rotation is not None]
    return 1 + sum(first is None or first != second for first, second in pairwise(axes))


def _nested(vector: Mapping[Frame, Triple], frame: Frame) -> Triple:
    """The components of a vector as R1 (a + R2 (b + R3 ...)): along a long chain the formula grows with its length."""
    parts, own, plain = dict(vector), set(frame.path), unordered(frame.path[0])
    while outside := [f for f in parts if f not in own]:
        deepest = max(outside, key=lambda f: len(f.path))
        shared_depth(frame, deepest)
        assert deepest.rotation is not None
        above, part = deepest.path[-2], parts.pop(deepest)
        parts[above] = plain.turned(parts.get(above, NOTHING), deepest.rotation.rows, part)
    total = NOTHING
    for f in frame.path:
        turned = total if f.rotation is None else plain.turned(NOTHING, transposed(f.rotation.rows), total)
        total = plain.turned(turned, UNIT, parts.get(f, NOTHING))
    return total


class Unordered:
    """Sums and products as they are made, without any ordering or collecting: one object for the same terms.

    SymPy sorts the terms of a sum, and compares equal formulas that are two objects, part by part: neither ends where
    formulas are deep and share their parts.
    """

    def __init__(self) -> None:
        self._made: dict[Any, tuple[sp.Expr, list[sp.Expr]]] = {}  # with the terms, whose numbers are in the key

    def inner(self, a: Triple, b: Triple) -> sp.Expr:
        """The sum of a_i b_i."""
        return self._sum(self._products(a, b))

    def turned(self, offset: Triple, rows: Rows, part: Triple) -> Triple:
        """Offset + A v."""
        x, y, z = (
            self._sum([*([first] if first != 0 else []), *self._products(row, part)])
            for first, row in zip(offset, rows, strict=True)
        )
        return x, y, z

    def _products(self, a: Triple, b: Triple) -> list[sp.Expr]:
        pairs = [(x, y) for x, y in zip(a, b, strict=True) if x != 0 and y != 0]
        return [y if x == 1 else x if y == 1 else self._of(sp.Mul, [x, y]) for x, y in pairs]

    def _sum(self, terms: list[sp.Expr]) -> sp.Expr:
        return sp.Integer(0) if not terms else terms[0] if len(terms) == 1 else self._of(sp.Add, terms)

    def _of(self, kind: type[sp.Add] | type[sp.Mul], terms: list[sp.Expr]) -> sp.Expr:
        key = (kind, *(e if e.is_Atom else id(e) for e in terms))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = kind(*terms, evaluate=False), terms
        return made[0]


@once
def unordered(ground: Frame) -> Unordered:
    """The sums and products of all vectors in frames of one ground."""
    return Unordered()


def _turn(frames: Iterable[Frame], wanted: tuple[int, ...] = (0, 1, 2)) -> Rows | None:
    """The product of rotations, one after the other; about one and the same axis angles just add up.

    Columns of it that are not wanted may be zero.
    """
    runs: list[Rotation] = []
    for frame in frames:
        rotation = frame.rotation
        assert rotation is not None
        if runs and rotation.axis is not None and rotation.axis == runs[-1].axis:
            runs[-1] = Rotation(rotation.axis, sp.Add(runs[-1].angle, rotation.angle))
        else:
            runs.append(rotation)
    total = None
    for run in runs:
        columns = wanted if run is runs[-1] else (0, 1, 2)
        total = run.rows if total is None else product(total, run.rows, columns)
    return total
