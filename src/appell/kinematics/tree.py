"""Accelerations as a tree of vectors: every frame's and every point's from those it hangs from.

With theta the angle of a frame against its parent about k, and c a part of a position that is written in frame f,

    alpha_f = alpha_parent + omega_parent x k theta' + k theta''
    a_P     = a_P' + alpha_f x c + omega_f x (omega_f x c) + 2 omega_f x c' + c''

are affine in earlier vectors and in the accelerations y = q''. Nothing is summed over the whole way from the ground:
that is what makes recursive algorithms linear in the number of bodies. Axes are those of the frame itself, where its
lengths are constant; or, in a run of turns about one and the same axis, those before the run for all: there angles just
add up.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import casadi as ca
import sympy as sp

from appell.graph.elimination import Affine
from appell.graph.sparse import (
    ONE,
    Column,
    Matrix,
    Scalar,
    add,
    apply,
    column,
    cross,
    dense,
    densified,
    matrix,
    merge,
    mul,
    nonzero,
    plus,
    product,
    rodrigues,
    scalar,
    scaled,
    skew,
    to_sx,
    transposed,
    whirled,
)
from appell.kinematics.mechanics import Mechanics
from appell.model.body import RigidBody
from appell.model.frame import Frame, Vector
from appell.model.rotation import Triple


@dataclass(frozen=True, eq=False)
class Moving:
    """A vector of which some components vary with the accelerations and the others are known.

    Attributes:
        index: Which vector of the tree holds the varying ones; none if nothing varies.
        rows: Which components these are.
        known: The other components.
    """

    index: int | None
    rows: tuple[int, ...]
    known: Column


class Tree:
    """The accelerations of a model's frames and points.

    Args:
        mechanics: The model on the graph.
        origin: Acceleration of the ground's origin in ground axes; minus that of free fall makes weight a matter of
            kinematics.
        frames: Frames that are needed.
        points: Points that are needed.
        runs: Whether turns about one axis may share their axes.
    """

    def __init__(
        self, mechanics: Mechanics, origin: Column, frames: list[Frame], points: list[Vector], runs: bool
    ) -> None:
        self.geometry, self.ground, self._runs = mechanics.geometry, mechanics.model.ground, runs
        self.vectors: list[Affine] = []
        used = [frame.axes for frame in frames] + [frame for point in points for frame in point.parts]
        self._frames = list(dict.fromkeys(step for frame in used for step in frame.path))
        self._written = {frame for point in points for frame in point.parts}
        self._bodies: dict[Frame, list[RigidBody]] = {}
        for body in mechanics.model.bodies:
            if isinstance(body, RigidBody):
                self._bodies.setdefault(body.frame.axes, []).append(body)
        self._children: dict[Frame, list[Frame]] = {}
        for frame in self._frames:
            if frame.parent is not None:
                self._children.setdefault(frame.parent, []).append(frame)
        self._axes: dict[Frame, Frame] = {}
        self._alpha: dict[tuple[Frame, Frame], Moving] = {}
        self._omega: dict[tuple[Frame, Frame], Column] = {}
        self._points: dict[tuple[int, Frame], Moving] = {(0, self.ground): Moving(None, (), origin)}
        self._numbers: dict[tuple[int, Frame, Triple], int] = {}
        self._steps: dict[int, tuple[int, Frame, Triple]] = {}
        self._homes: dict[int, Frame] = {0: self.ground}
        self._ways: dict[tuple[Frame, Frame], list[tuple[Frame, Matrix]]] = {}
        self._hops: dict[tuple[Frame, Frame], Matrix] = {}
        self._angles: dict[tuple[Frame, Frame], Scalar] = {}
        self._triples: dict[Triple, Column] = {}
        self._differentiate(mechanics, points)
        self._carriers = {number for point in points for number in self._numbered(point)[:-1]}

    def _differentiate(self, mechanics: Mechanics, points: list[Vector]) -> None:
        """Angles and components with their rates, and their second derivatives as slopes by y and a rest."""
        formulas = [f.rotation.angle for f in self._frames if f.rotation is not None and f.rotation.angle is not None]
        formulas += [e for point in points for part in point.parts.values() for e in part]
        formulas = list(dict.fromkeys(formulas))
        jets = [self.geometry.jet(e) for e in formulas]
        self._value = {e: jet[0] for e, jet in zip(formulas, jets, strict=True)}
        self._rate = {e: jet[1] for e, jet in zip(formulas, jets, strict=True)}
        moving = [e for e in formulas if not isinstance(self._rate[e], float)]
        self._slopes: dict[sp.Expr, Column] = {}
        self._rest: dict[sp.Expr, Scalar] = {}
        if moving:
            seconds = ca.vertcat(*[to_sx(self.geometry.jet(e)[2]) for e in moving])
            rows = matrix(ca.jacobian(seconds, mechanics.a))  # a second derivative is linear in the accelerations
            rest = densified(ca.substitute(seconds, mechanics.a, ca.SX.zeros(*mechanics.a.shape))).nonzeros()
            for i, e in enumerate(moving):
                self._slopes[e], self._rest[e] = rows.get(i, {}), scalar(rest[i])
        self._quaternions: dict[Frame, tuple[Matrix, Column, Column]] = {}
        for frame in self._frames:
            if frame.rotation is not None and frame.rotation.quaternion is not None:
                motion = self.geometry.frame(frame)
                slopes, rest = ca.linear_coeff(dense(motion.relative_rate), mechanics.a, True)
                self._quaternions[frame] = matrix(slopes), column(rest), motion.relative

    # Axes and turns.

    def axes(self, frame: Frame) -> Frame:
        """The frame in whose axes a frame's turning is resolved."""
        if frame not in self._axes:
            self._axes[frame] = self._find_axes(frame)
        return self._axes[frame]

    def _find_axes(self, frame: Frame) -> Frame:
        if frame.parent is None or frame.rotation is None or frame.rotation.axis is None:
            return frame
        children = self._children.get(frame, [])
        if not children and frame not in self._written:
            # A wheel that turns about its axis of symmetry: seen from outside its spin, nothing varies with the angle.
            outer = [body.inertia_frame for body in self._bodies.get(frame, [])]
            if outer and frame not in outer:
                return max(outer, key=lambda f: len(f.path))
        if not self._runs:
            return frame
        if _sign(frame, frame.parent):
            return self.axes(frame.parent)
        return frame.parent if any(_sign(child, frame) for child in children) else frame

    def _angle(self, ancestor: Frame, frame: Frame) -> Scalar:
        """The angle from an ancestor to a frame over a run of turns about one axis."""
        name = (ancestor, frame)
        if name not in self._angles:
            parent = frame.parent
            assert parent is not None
            angle, _, _ = self.geometry.jet(_turn_of(frame))
            if parent is not ancestor:
                angle = add(self._angle(ancestor, parent), mul(float(_sign(frame, _first(ancestor, frame))), angle))
            self._angles[name] = angle
        return self._angles[name]

    def _hop(self, ancestor: Frame, frame: Frame) -> Matrix:
        """R with v_ancestor = R v_frame over a run of turns about one axis."""
        name = (ancestor, frame)
        if name not in self._hops:
            first = _first(ancestor, frame)
            assert first.rotation is not None
            if first.rotation.quaternion is not None:
                self._hops[name] = self.geometry.frame(first).turn
            else:
                self._hops[name] = rodrigues(self._lowered(first.rotation.axis), self._angle(ancestor, frame))
        return self._hops[name]

    def _lowered(self, triple: Triple | None) -> Column:
        assert triple is not None
        if triple not in self._triples:
            entries = ((i, float(e) if e.is_number else self.geometry.lower(e)) for i, e in enumerate(triple))
            self._triples[triple] = nonzero(entries)
        return self._triples[triple]

    def _way(self, old: Frame, new: Frame) -> list[tuple[Frame, Matrix]]:
        """The matrices, one after the other, that turn components in `old` into components in `new`."""
        name = (old, new)
        if name not in self._ways:
            depth = sum(a is b for a, b in zip(old.path, new.path, strict=False)) - 1
            up, down = _corners(old.path[depth:]), _corners(new.path[depth:])
            self._ways[name] = [
                *((a, self._hop(a, b)) for a, b in reversed(list(pairwise(up)))),
                *((b, transposed(self._hop(a, b))) for a, b in pairwise(down)),
            ]
        return self._ways[name]

    def turned(self, vector: Column, old: Frame, new: Frame) -> Column:
        """The components of a known vector in other axes."""
        for _, turn in self._way(old, new) if vector and old is not new else ():
            vector = apply(turn, vector)
        return vector

    def turned_tensor(self, tensor: Matrix, old: Frame, new: Frame) -> Matrix:
        """The components of a known symmetric tensor in other axes."""
        for _, turn in self._way(old, new) if old is not new else ():
            back = transposed(turn)
            tensor = product(product(turn, tensor), back)
        return tensor

    # Velocities.

    def omega(self, frame: Frame, axes: Frame) -> Column:
        """Angular velocity of a frame, in any axes."""
        name = (frame, axes)
        if name not in self._omega:
            own = self.axes(frame)
            if frame.parent is None:
                self._omega[name] = {}
            elif axes is not own:
                self._omega[name] = self.turned(self.omega(frame, own), own, axes)
            else:
                self._omega[name] = plus(self.omega(frame.parent, axes), self._relative(frame, axes))
        return self._omega[name]

    def _relative(self, frame: Frame, axes: Frame) -> Column:
        """Angular velocity of a frame against its parent."""
        if frame in self._quaternions:
            return self.turned(self._quaternions[frame][2], frame, axes)
        return scaled(self._axis(frame, axes), self._rate[_turn_of(frame)])

    def _axis(self, frame: Frame, axes: Frame) -> Column:
        """The axis of a frame's turn; it has the same components before and after it, and within its run."""
        assert frame.rotation is not None
        k, start = self._lowered(frame.rotation.axis), frame
        while start not in (axes, self.ground) and start.parent is not axes and _sign(start, _parent(start)):
            start = _parent(start)
        return k if axes is start or axes is start.parent else self.turned(k, frame, axes)

    # Accelerations.

    def _make(self, parts: list[tuple[Moving, Matrix]], columns: dict[int, Column], bias: Column) -> Moving:
        """The sum of M X over vectors X, columns times y, and a bias."""
        terms: dict[int, Matrix] = {}
        turned = len(parts) == 1 and not columns and not bias
        for vector, M in parts:
            if vector.known:
                bias = plus(bias, apply(M, vector.known))
            if vector.index is not None:
                merge(terms.setdefault(vector.index, {}), _columns(M, vector.rows))
        for k, direction in columns.items():
            terms[-1 - k] = {i: {0: value} for i, value in direction.items()}
        rows = sorted({i for block in terms.values() for i in block})
        if not rows:
            return Moving(None, (), bias)
        kept = {j: block for j, block in terms.items() if block}
        self.vectors.append(Affine(kept, {i: e for i, e in bias.items() if i in rows}, turned))
        return Moving(len(self.vectors) - 1, tuple(rows), {i: e for i, e in bias.items() if i not in rows})

    def alpha(self, frame: Frame, axes: Frame) -> Moving:
        """Angular acceleration of a frame, in any axes."""
        name = (frame, axes)
        if name not in self._alpha:
            own = self.axes(frame)
            if frame.parent is None:
                self._alpha[name] = Moving(None, (), {})
            elif axes is own:
                self._alpha[name] = self._joint(frame, own)
            else:
                found = self.alpha(frame, own)
                for there, turn in self._way(own, axes):
                    if (frame, there) not in self._alpha:
                        self._alpha[frame, there] = self._make([(found, turn)], {}, {})
                    found = self._alpha[frame, there]
        return self._alpha[name]

    def _joint(self, frame: Frame, axes: Frame) -> Moving:
        parent = _parent(frame)
        base, bias = self.alpha(parent, axes), cross(self.omega(parent, axes), self._relative(frame, axes))
        if frame in self._quaternions:
            slopes, rest, _ = self._quaternions[frame]
            columns = transposed(slopes)
        else:
            k, angle = self._axis(frame, axes), _turn_of(frame)
            columns = {i: scaled(k, slope) for i, slope in self._slopes.get(angle, {}).items()}
            rest = scaled(k, self._rest.get(angle, 0.0))
        return self._make([(base, ONE)], columns, plus(bias, rest))

    def point(self, point: Vector) -> tuple[Moving, Frame]:
        """Acceleration of a point, and the axes in which it is resolved.

        A point is known by the number of its last part, so points with the same way from the ground share it.
        """
        number = self._numbered(point)[-1]
        return self._point(number, self._homes[number]), self._homes[number]

    def _numbered(self, point: Vector) -> list[int]:
        """The numbers of a point's parts, from the ground outwards."""
        numbers, parts = [0], sorted(point.parts.items(), key=lambda item: len(item[0].path))
        for i, (frame, part) in enumerate(parts):
            name = (numbers[-1], frame, part)
            if name not in self._numbers:
                self._numbers[name] = after = len(self._numbers) + 1
                self._steps[after] = name
                self._homes[after] = self.axes(self.geometry.home(Vector(dict(parts[: i + 1]))))
            numbers.append(self._numbers[name])
        return numbers

    def held(self, point: Vector, frame: Frame) -> tuple[Moving, Column] | None:
        """For the end of an arm that is fixed in a frame and carries nothing else: where the arm begins, and the arm.

        Both are resolved in the axes of the frame's turning, the arm in the frame itself.
        """
        number = self._numbered(point)[-1]
        if number in self._carriers or number not in self._steps:
            return None
        before, last, part = self._steps[number]
        if last is not frame or not all(isinstance(self._rate[e], float) for e in part):
            return None
        return self._point(before, self.axes(frame)), nonzero((i, self._value[e]) for i, e in enumerate(part))

    def _point(self, number: int, axes: Frame) -> Moving:
        """Acceleration of a numbered point in any axes."""
        own = self._homes[number]
        if (number, own) not in self._points:
            self._points[number, own] = self._step(*self._steps[number], own)
        found = self._points[number, own]
        for there, turn in self._way(own, axes) if own is not axes else ():
            if (number, there) not in self._points:
                self._points[number, there] = self._make([(found, turn)], {}, {})
            found = self._points[number, there]
        return found

    def _step(self, before: int, frame: Frame, part: Triple, axes: Frame) -> Moving:
        base, alpha, omega = self._point(before, axes), self.alpha(frame, axes), self.omega(frame, axes)
        c = self.turned(nonzero((i, self._value[e]) for i, e in enumerate(part)), frame, axes)
        bias = whirled(omega, c)
        columns: dict[int, Column] = {}
        rate = nonzero((i, self._rate[e]) for i, e in enumerate(part))
        if rate:
            rest = self.turned(nonzero((i, self._rest.get(e, 0.0)) for i, e in enumerate(part)), frame, axes)
            coriolis = scaled(cross(omega, self.turned(rate, frame, axes)), 2.0)
            bias = plus(bias, coriolis, rest)
            slopes = transposed({i: self._slopes[e] for i, e in enumerate(part) if e in self._slopes})
            columns = {k: self.turned(slope, frame, axes) for k, slope in slopes.items()}
        return self._make([(base, ONE), (alpha, transposed(skew(c)))], columns, bias)

    def arm(self, vector: Vector, axes: Frame) -> Column:
        """The components of a vector between two points, in any axes."""
        return plus({}, *(self.turned(self._lowered(part), frame, axes) for frame, part in vector.parts.items()))


def _parent(frame: Frame) -> Frame:
    assert frame.parent is not None
    return frame.parent


def _turn_of(frame: Frame) -> sp.Expr:
    assert frame.rotation is not None
    assert frame.rotation.angle is not None
    return frame.rotation.angle


def _first(ancestor: Frame, frame: Frame) -> Frame:
    return frame.path[len(ancestor.path)]


def _corners(path: tuple[Frame, ...]) -> list[Frame]:
    """The frames of a path where the axis of turning changes, with both ends."""
    return [path[0], *(a for a, b in pairwise(path[1:]) if not _sign(b, a)), *(path[-1:] if len(path) > 1 else ())]


def _sign(a: Frame, b: Frame) -> int:
    """+1 or -1 if two frames turn about the same axis, each against its parent, else 0."""
    if a.rotation is None or b.rotation is None or a.rotation.axis is None or b.rotation.axis is None:
        return 0
    if a.rotation.axis == b.rotation.axis:
        return 1
    return -1 if a.rotation.axis == tuple(-e for e in b.rotation.axis) else 0


def _columns(M: Matrix, rows: tuple[int, ...]) -> Matrix:
    """The columns of a matrix that meet varying components."""
    picked = {i: {j: e for j, e in row.items() if j in rows} for i, row in M.items()}
    return {i: row for i, row in picked.items() if row}
