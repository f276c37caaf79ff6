"""Positions, velocities and accelerations of everything that moves, each vector in the frame where it is simplest.

For a frame turned from its parent by R (v_parent = R v_child) with relative angular velocity w_rel, in its own axes

    omega = R' omega_parent + w_rel
    alpha = R' alpha_parent + (R' omega_parent) x w_rel + w_rel'

and for a vector c written in that frame

    velocity     c' + omega x c
    acceleration c'' + 2 omega x c' + alpha x c + omega x (omega x c).

The parts of a vector are summed from the ground outwards along the tree; sums shared by several bodies are made once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeGuard

import casadi as ca
import sympy as sp

from appell.graph.lower import Lowering
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
    dot,
    mul,
    nonzero,
    plus,
    product,
    rodrigues,
    scalar,
    scaled,
    to_sx,
    transposed,
    whirled,
)
from appell.kinematics.variables import Variables
from appell.model.body import Body, RigidBody
from appell.model.frame import Frame, Vector
from appell.model.rotation import Triple
from appell.model.symbols import t


class FrameMotion(NamedTuple):
    """How a frame moves: all vectors in its own axes."""

    turn: Matrix
    """R with v_parent = R v_own."""
    omega: Column
    alpha: Column
    relative: Column
    """Angular velocity against the parent."""
    relative_rate: Column


class AbstractGeometry(ABC):
    """The motion of a model's frames and points in terms of q, speeds u and their rates.

    What it gives is summed up from what the frames and vectors are made of. Where more is known of the speeds, a sum
    may be replaced by something simpler of the same value.

    Args:
        variables: The model on the graph.
        derivative: Time derivative of a column at frozen extra states, given the first or second time.
        rates: What q' is (the letters v themselves, or a formula in the speeds).
        root: The frame taken to be at rest, with its origin; the ground if left out. Any other one gives relative
            motion.
    """

    def __init__(
        self, variables: Variables, derivative: Callable[[ca.SX], ca.SX], rates: ca.SX, root: Frame | None = None
    ) -> None:
        self.variables = variables
        self.derivative = derivative
        self.root = variables.model.ground if root is None else root.axes
        self.origin = Vector({}) if root is None else root.origin
        model = variables.model
        memo = {s: variables.lower.memo[s] for s in (t, *model.parameters, *model.coordinates, *model.states)}
        memo.update(zip((s.rate for s in model.coordinates), densified(rates).nonzeros(), strict=True))
        self.lower = Lowering(memo)
        self._jets: dict[sp.Expr, tuple[Scalar, Scalar, Scalar]] = {}
        self._frames: dict[Frame, FrameMotion] = {}
        self._sums: dict[tuple[object, ...], tuple[int, Column]] = {}
        self._halves: dict[tuple[tuple[Frame, Triple], ...], Scalar] = {(): 0.0}
        self._turns: dict[tuple[Frame, Frame], Matrix] = {}
        self._constant = {*model.parameters}
        self._prepare()

    def _prepare(self) -> None:
        """Lower and differentiate all angles and components at once: one sweep instead of hundreds."""
        formulas: dict[sp.Expr, str] = {}
        frames: dict[Frame, None] = {}

        def visit(place: str, vector: Vector) -> None:
            for frame, part in vector.parts.items():
                frames.setdefault(frame)
                for e in part:
                    formulas.setdefault(e, place)

        for body in self.variables.model.bodies:
            visit(f"the center of {body.name!r}", self.center(body))
            if isinstance(body, RigidBody):
                frames.setdefault(body.frame.axes)
        for frame in list(frames):
            for turned in frame.path[frame.path.index(self.root) + 1 :]:
                rotation = turned.rotation
                if rotation is not None and rotation.angle is not None:
                    formulas.setdefault(rotation.angle, f"the rotation of {turned.name!r}")
        self._take(formulas)

    def _take(self, formulas: dict[sp.Expr, str]) -> None:
        constant, moving = self._constant, []
        for formula, place in formulas.items():
            letters = self.variables.positions_only(formula, place, shape=place.startswith("the center"))
            value = self.lower(formula)
            self._jets[formula] = (scalar(value), 0.0, 0.0)
            if not letters <= constant:
                moving.append((formula, value))
        if moving:
            first = self.derivative(ca.vertcat(*[value for _, value in moving]))
            second = self.derivative(first)
            columns = [[scalar(e) for e in densified(column).nonzeros()] for column in (first, second)]
            for (formula, _), *rates in zip(moving, *columns, strict=True):
                self._jets[formula] = (self._jets[formula][0], *rates)

    def jet(self, formula: sp.Expr) -> tuple[Scalar, Scalar, Scalar]:
        """An angle or a component of a position, with its first and second time derivative."""
        if formula not in self._jets:
            self._take({formula: "the center or point"})
        return self._jets[formula]

    @property
    def formulas(self) -> ca.SX:
        """All angles and components of positions asked for so far."""
        return ca.vertcat(*[to_sx(value) for value, _, _ in self._jets.values()])

    @abstractmethod
    def frame(self, frame: Frame) -> FrameMotion:
        """The motion of a frame."""

    def _summed_motion(self, frame: Frame) -> FrameMotion:
        """The motion of a frame from that of its parent."""
        if frame.parent is None or frame is self.root:
            return FrameMotion(ONE, {}, {}, {}, {})
        rotation = frame.rotation
        assert rotation is not None
        if rotation.quaternion is not None:
            turn = {i: self.lowered(row) for i, row in enumerate(rotation.rows)}
            relative = self.lowered(rotation.angular_velocity)
            relative_rate = column(self.derivative(dense(relative)))
        else:
            assert rotation.axis is not None
            assert rotation.angle is not None
            angle, rate, acceleration = self.jet(rotation.angle)
            k = self.lowered(rotation.axis)
            turn = rodrigues(k, angle)
            relative, relative_rate = scaled(k, rate), scaled(k, acceleration)
        parent, back = self.frame(frame.parent), transposed(turn)
        carried = apply(back, parent.omega)
        alpha = plus(apply(back, parent.alpha), cross(carried, relative), relative_rate)
        return FrameMotion(turn, plus(carried, relative), alpha, relative, relative_rate)

    def lowered(self, formulas: Triple) -> Column:
        """Three formulas as a vector."""
        return nonzero((i, scalar(self.lower(e))) for i, e in enumerate(formulas))

    def _part(self, frame: Frame, part: Triple, order: int) -> Column:
        jets = [self.jet(e) for e in part]
        c = nonzero(enumerate(jet[0] for jet in jets))
        if order == 0:
            return c
        _, omega, alpha, _, _ = self.frame(frame)
        carried = plus(cross(alpha, c), whirled(omega, c)) if order == 2 else cross(omega, c)
        rate = nonzero(enumerate(jet[1] for jet in jets))
        if order == 1:
            return plus(rate, carried)
        if not rate:
            return carried
        return plus(nonzero(enumerate(jet[2] for jet in jets)), scaled(cross(omega, rate), 2.0), carried)

    def home(self, vector: Vector) -> Frame:
        """The frame in which the sum of a vector's parts costs least."""
        deepest = vector.frame
        if deepest is None:
            return self.root
        if all(frame in deepest.path for frame in vector.parts):
            return deepest
        shared = [f for f in deepest.path if all(f in other.path for other in vector.parts)]
        return shared[-1]

    def resolve(self, vector: Vector, target: Frame, order: int = 0) -> Column:
        """Components in `target` of a position (order 0), velocity (1) or acceleration (2)."""
        meeting: dict[Frame, list[Frame]] = {}
        for frame in vector.parts:
            meeting.setdefault(frame if frame in target.path else self._meets(frame, target), []).append(frame)
        key, total, before = 0, {}, Vector({})
        for here in target.path:
            if key:
                inner = total
                key, total = self._shared(
                    (key, here, order),
                    lambda here=here, inner=inner, before=before: self._turned(inner, before, here, order),
                )
            for frame in meeting.get(here, ()):
                inner, part = total, vector.parts[frame]
                key, total = self._shared(
                    (key, here, frame, part, order),
                    lambda here=here, frame=frame, part=part, inner=inner: plus(
                        inner, self._placed(frame, here, part, order)
                    ),
                )
                before = Vector({**before.parts, frame: part})
        return total

    @abstractmethod
    def _turned(self, inner: Column, before: Vector, here: Frame, order: int) -> Column:
        """What is resolved in the axes of the parent, in those of a frame; `before` is the vector it belongs to."""

    def half_square(self, vector: Vector) -> Scalar:
        """a^2/2 of an acceleration, as a graph to be differentiated.

        Half the square of a sum is a.b + a^2/2 + b^2/2, each square taken where its part is at home: what turns with a
        frame never meets the sine and cosine of the turn, whose squares would add up to one. Where all frames turn
        about one axis the derivatives have far fewer operations than those of the square of components, else more.
        The value itself would lose digits where parts cancel.
        """
        target = self.home(vector)
        if any(len(self.frame(frame).omega) > 1 for frame in vector.parts):
            a = self.resolve(vector, target, 2)
            return mul(0.5, dot(a, a))
        meets = {frame: frame if frame in target.path else self._meets(frame, target) for frame in vector.parts}
        parts: tuple[tuple[Frame, Triple], ...] = ()
        for frame in sorted(meets, key=lambda frame: target.path.index(meets[frame])):
            half, before, part = self._halves[parts], Vector(dict(parts)), vector.parts[frame]
            parts = (*parts, (frame, part))
            if parts not in self._halves:
                own = self._part(frame, part, 2)
                shared = dot(self.resolve(before, meets[frame], 2), self._placed(frame, meets[frame], part, 2))
                self._halves[parts] = add(add(half, mul(0.5, dot(own, own))), shared)
        return self._halves[parts]

    @abstractmethod
    def half_square_of(self, body: Body) -> Scalar:
        """a^2/2 of the centre of a body."""

    def _shared(self, name: tuple[object, ...], make: Callable[[], Column]) -> tuple[int, Column]:
        """A partial sum with its number: whoever needs the same sum again gets the same graph."""
        if name not in self._sums:
            made = make()  # which may number other sums first
            self._sums[name] = (len(self._sums) + 1, made)
        return self._sums[name]

    def _placed(self, frame: Frame, ancestor: Frame, part: Triple, order: int) -> Column:
        """One part of a vector in the axes of an ancestor of its frame."""

        def make() -> Column:
            own = self._part(frame, part, order)
            return own if frame is ancestor else apply(self.turn(ancestor, frame), own)

        return self._shared((frame, ancestor, part, order, "placed"), make)[1]

    @staticmethod
    def _meets(branch: Frame, target: Frame) -> Frame:
        return [f for f in branch.path if f in target.path][-1]

    def turn(self, ancestor: Frame, frame: Frame) -> Matrix:
        """R with v_ancestor = R v_frame."""
        if frame is ancestor:
            return ONE
        parent = frame.parent
        assert parent is not None
        if parent is ancestor:
            return self.frame(frame).turn
        name = (ancestor, frame)
        if name not in self._turns:
            self._turns[name] = product(self.turn(ancestor, parent), self.frame(frame).turn)
        return self._turns[name]

    def between(self, target: Frame, frame: Frame) -> Matrix:
        """R with v_target = R v_frame for any two frames of the tree."""
        meet = self._meets(frame, target)
        return product(transposed(self.turn(meet, target)), self.turn(meet, frame))

    @abstractmethod
    def rotation_rates(self, frame: Frame, target: Frame) -> tuple[Column, Column]:
        """omega and alpha of a frame in the axes of another one."""

    def _summed_rates(self, frame: Frame, target: Frame) -> tuple[Column, Column]:
        """The same along the way between them; where that leads to an ancestor no turn meets its inverse."""
        if target not in frame.path:
            own, turn = self.frame(frame), self.between(target, frame)
            return apply(turn, own.omega), apply(turn, own.alpha)
        _, omega, alpha, _, _ = self.frame(target)
        for step in frame.path[frame.path.index(target) + 1 :]:
            assert step.parent is not None
            turn, _, _, relative, relative_rate = self.frame(step)
            outward = self.turn(target, step.parent)
            if step.rotation is not None and step.rotation.quaternion is not None:
                outward = product(outward, turn)  # an axis has the same components on both sides, a quaternion has not
            along, rate = apply(outward, relative), apply(outward, relative_rate)
            alpha = plus(alpha, cross(omega, along), rate)
            omega = plus(omega, along)
        return omega, alpha

    def center(self, body: Body) -> Vector:
        """Position of a body's mass centre from the origin at rest."""
        return body.center - self.origin

    @abstractmethod
    def inertia_frame(self, body: RigidBody) -> Frame:
        """A frame in which the inertia tensor has the same components at all times."""

    def _outermost(self, body: RigidBody) -> Frame:
        """The outermost one, not beyond the frame at rest, nor beyond a base that turns in time if omega then would.

        A ball in a centrifuge has the same inertia in the axes of the ground, where its turning depends on time.
        """
        frame, axes = body.inertia_frame, body.frame.axes
        frame = frame if self.root in frame.path else self.root
        choices = axes.path[axes.path.index(frame) :] if frame in axes.path else ()
        return next((e for e in choices if not self._timed(self.rotation_rates(axes, e)[0])), frame)

    def _timed(self, vector: Column) -> bool:
        """Whether time itself stands in the components."""
        return ca.depends_on(dense(vector), self.variables.t)

    def kinetic_energy(self, body: Body) -> ca.SX:
        """T = m v^2/2 + omega.I omega/2."""
        total, m = 0.0, scalar(self.variables.masses[body])
        if not (isinstance(m, float) and m == 0.0):
            center = self.center(body)
            v = self.resolve(center, self.home(center), 1)
            total = mul(mul(0.5, m), dot(v, v))
        if self._turns_with_inertia(body):
            omega, _ = self.rotation_rates(body.frame.axes, self.inertia_frame(body))
            total = add(total, mul(0.5, dot(omega, apply(self.variables.inertias[body], omega))))
        return to_sx(total)

    def acceleration_energy(self, body: Body) -> ca.SX:
        """S = m a^2/2 + alpha.I alpha/2 + alpha.(omega x I omega); the part without accelerations never matters."""
        total, m = 0.0, scalar(self.variables.masses[body])
        if not (isinstance(m, float) and m == 0.0):
            total = mul(m, self.half_square_of(body))
        if self._turns_with_inertia(body):
            inertia = self.variables.inertias[body]
            omega, alpha = self.rotation_rates(body.frame.axes, self.inertia_frame(body))
            total = add(total, mul(0.5, dot(alpha, apply(inertia, alpha))))
            total = add(total, dot(alpha, cross(omega, apply(inertia, omega))))
        return to_sx(total)

    def _turns_with_inertia(self, body: Body) -> TypeGuard[RigidBody]:
        return isinstance(body, RigidBody) and bool(self.variables.inertias[body])


class Geometry(AbstractGeometry):
    """The motion as it sums up, whatever the speeds are. Arguments as for `AbstractGeometry`."""

    def frame(self, frame: Frame) -> FrameMotion:
        """The motion of a frame."""
        if frame not in self._frames:
            self._frames[frame] = self._summed_motion(frame)
        return self._frames[frame]

    def rotation_rates(self, frame: Frame, target: Frame) -> tuple[Column, Column]:
        """omega and alpha of a frame in the axes of another one."""
        return self._summed_rates(frame, target)

    def inertia_frame(self, body: RigidBody) -> Frame:
        """The outermost frame in which the inertia tensor has the same components at all times."""
        return self._outermost(body)

    def half_square_of(self, body: Body) -> Scalar:
        """a^2/2 of the centre of a body."""
        return self.half_square(self.center(body))

    def _turned(self, inner: Column, before: Vector, here: Frame, order: int) -> Column:
        return apply(transposed(self.frame(here).turn), inner)
