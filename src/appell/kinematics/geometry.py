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

from collections.abc import Callable
from typing import NamedTuple, TypeGuard

import casadi as ca
import sympy as sp

from appell.graph.lower import Lowering
from appell.kinematics.variables import Variables
from appell.model.body import Body, RigidBody
from appell.model.frame import Frame, Triple, Vector
from appell.model.symbols import t


class FrameMotion(NamedTuple):
    """How a frame moves: all vectors in its own axes."""

    turn: ca.SX
    """R with v_parent = R v_own."""
    omega: ca.SX
    alpha: ca.SX
    relative: ca.SX
    """Angular velocity against the parent."""
    relative_rate: ca.SX


class Geometry:
    """The motion of a model's frames and points in terms of q, speeds u and their rates.

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
        memo.update({s.rate: rates[i] for i, s in enumerate(model.coordinates)})
        self.lower = Lowering(memo)
        self._jets: dict[sp.Expr, tuple[ca.SX, ca.SX, ca.SX]] = {}
        self._frames: dict[Frame, FrameMotion] = {}
        self._sums: dict[tuple[object, ...], tuple[int, ca.SX]] = {}
        self._turns: dict[tuple[Frame, Frame], ca.SX] = {}
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
        for formula, place in formulas.items():
            self.variables.positions_only(formula, place, shape=place.startswith("the center"))
        moving = [
            e
            for e in formulas
            if e.free_symbols and not all(s in self.variables.model.parameters for s in e.free_symbols)
        ]
        zero = ca.SX(0)
        self._jets.update({e: (self.lower(e), zero, zero) for e in formulas})
        if moving:
            value = ca.vertcat(*[self.lower(e) for e in moving])
            first = self.derivative(value)
            second = self.derivative(first)
            self._jets.update({e: (value[i], first[i], second[i]) for i, e in enumerate(moving)})

    def jet(self, formula: sp.Expr) -> tuple[ca.SX, ca.SX, ca.SX]:
        """An angle or a component of a position, with its first and second time derivative."""
        if formula not in self._jets:
            self._take({formula: "the center or point"})
        return self._jets[formula]

    def frame(self, frame: Frame) -> FrameMotion:
        """The motion of a frame."""
        if frame in self._frames:
            return self._frames[frame]
        zero = ca.SX.zeros(3)
        if frame.parent is None or frame is self.root:
            self._frames[frame] = FrameMotion(ca.SX.eye(3), zero, zero, zero, zero)
            return self._frames[frame]
        rotation = frame.rotation
        assert rotation is not None
        if rotation.quaternion is not None:
            turn = ca.vertcat(*[ca.horzcat(*[self.lower(rotation.matrix[i, j]) for j in range(3)]) for i in range(3)])
            relative = ca.vertcat(*[self.lower(e) for e in rotation.angular_velocity])
            relative_rate = self.derivative(relative)
        else:
            assert rotation.axis is not None
            assert rotation.angle is not None
            angle, rate, acceleration = self.jet(rotation.angle)
            k = ca.vertcat(*[self.lower(e) for e in rotation.axis])
            turn = ca.sparsify(_rodrigues(k, angle))
            relative, relative_rate = k * rate, k * acceleration
        parent = self.frame(frame.parent)
        carried = turn.T @ parent.omega
        omega = ca.densify(carried + relative)
        alpha = ca.densify(turn.T @ parent.alpha + ca.cross(carried, relative) + relative_rate)
        self._frames[frame] = FrameMotion(turn, omega, alpha, relative, relative_rate)
        return self._frames[frame]

    def _part(self, frame: Frame, part: Triple, order: int) -> ca.SX:
        jets = [self.jet(e) for e in part]
        c = ca.vertcat(*[j[0] for j in jets])
        if order == 0:
            return c
        _, omega, alpha, _, _ = self.frame(frame)
        carried = ca.cross(omega, c)
        if order == 2:
            carried = ca.cross(alpha, c) + ca.cross(omega, carried)
        if all(j[1].is_zero() for j in jets):
            return carried
        rate = ca.vertcat(*[j[1] for j in jets])
        if order == 1:
            return rate + carried
        return ca.vertcat(*[j[2] for j in jets]) + 2 * ca.cross(omega, rate) + carried

    def home(self, vector: Vector) -> Frame:
        """The frame in which the sum of a vector's parts costs least."""
        deepest = vector.frame
        if deepest is None:
            return self.root
        if all(frame in deepest.path for frame in vector.parts):
            return deepest
        shared = [f for f in deepest.path if all(f in other.path for other in vector.parts)]
        return shared[-1]

    def resolve(self, vector: Vector, target: Frame, order: int = 0) -> ca.SX:
        """Components in `target` of a position (order 0), velocity (1) or acceleration (2)."""
        meeting: dict[Frame, list[Frame]] = {}
        for frame in vector.parts:
            meeting.setdefault(frame if frame in target.path else self._meets(frame, target), []).append(frame)
        key, total = 0, None
        for here in target.path:
            if total is not None:
                inner = total
                key, total = self._shared(
                    (key, here, order), lambda here=here, inner=inner: self.frame(here).turn.T @ inner
                )
            for frame in meeting.get(here, ()):
                inner = total if total is not None else ca.SX.zeros(3)
                part = vector.parts[frame]
                key, total = self._shared(
                    (key, here, frame, part, order),
                    lambda here=here, frame=frame, part=part, inner=inner: (
                        inner + self._placed(frame, here, part, order)
                    ),
                )
        return ca.SX.zeros(3) if total is None else total

    def _shared(self, name: tuple[object, ...], make: Callable[[], ca.SX]) -> tuple[int, ca.SX]:
        """A partial sum with its number: whoever needs the same sum again gets the same graph."""
        if name not in self._sums:
            self._sums[name] = (len(self._sums) + 1, ca.densify(make()))
        return self._sums[name]

    def _placed(self, frame: Frame, ancestor: Frame, part: Triple, order: int) -> ca.SX:
        """One part of a vector in the axes of an ancestor of its frame."""

        def make() -> ca.SX:
            own = self._part(frame, part, order)
            return own if frame is ancestor else self.turn(ancestor, frame) @ own

        return self._shared((frame, ancestor, part, order, "placed"), make)[1]

    @staticmethod
    def _meets(branch: Frame, target: Frame) -> Frame:
        return [f for f in branch.path if f in target.path][-1]

    def turn(self, ancestor: Frame, frame: Frame) -> ca.SX:
        """R with v_ancestor = R v_frame."""
        if frame is ancestor:
            return ca.SX.eye(3)
        parent = frame.parent
        assert parent is not None
        if parent is ancestor:
            return self.frame(frame).turn
        name = (ancestor, frame)
        if name not in self._turns:
            self._turns[name] = ca.sparsify(self.turn(ancestor, parent) @ self.frame(frame).turn)
        return self._turns[name]

    def between(self, target: Frame, frame: Frame) -> ca.SX:
        """R with v_target = R v_frame for any two frames of the tree."""
        meet = self._meets(frame, target)
        return self.turn(meet, target).T @ self.turn(meet, frame)

    def rotation_rates(self, frame: Frame, target: Frame) -> tuple[ca.SX, ca.SX]:
        """omega and alpha of a frame in the axes of one of its ancestors; turns in between never meet their inverse."""
        if target not in frame.path:
            own, turn = self.frame(frame), self.between(target, frame)
            return ca.densify(turn @ own.omega), ca.densify(turn @ own.alpha)
        _, omega, alpha, _, _ = self.frame(target)
        for step in frame.path[frame.path.index(target) + 1 :]:
            assert step.parent is not None
            turn, _, _, relative, relative_rate = self.frame(step)
            outward = self.turn(target, step.parent)
            if step.rotation is not None and step.rotation.quaternion is not None:
                outward = outward @ turn  # an axis has the same components on both sides, a quaternion's rate has not
            along, rate = outward @ relative, outward @ relative_rate
            alpha = alpha + ca.cross(omega, along) + rate
            omega = omega + along
        return ca.densify(omega), ca.densify(alpha)

    def center(self, body: Body) -> Vector:
        """Position of a body's mass centre from the origin at rest."""
        return body.center - self.origin

    def inertia_frame(self, body: RigidBody) -> Frame:
        """The outermost frame, not beyond the one at rest, in which the inertia tensor has the same components."""
        frame = body.inertia_frame
        return frame if self.root in frame.path else self.root

    def kinetic_energy(self, body: Body) -> ca.SX:
        """T = m v^2/2 + omega.I omega/2."""
        total, m = ca.SX(0), self.variables.masses[body]
        if not m.is_zero():
            center = self.center(body)
            v = self.resolve(center, self.home(center), 1)
            total = m / 2 * ca.dot(v, v)
        if self._turns_with_inertia(body):
            omega, _ = self.rotation_rates(body.frame.axes, self.inertia_frame(body))
            total = total + ca.dot(omega, self.variables.inertias[body] @ omega) / 2
        return total

    def acceleration_energy(self, body: Body) -> ca.SX:
        """S = m a^2/2 + alpha.I alpha/2 + alpha.(omega x I omega); the part without accelerations never matters."""
        total, m = ca.SX(0), self.variables.masses[body]
        if not m.is_zero():
            center = self.center(body)
            a = self.resolve(center, self.home(center), 2)
            total = m / 2 * ca.dot(a, a)
        if self._turns_with_inertia(body):
            inertia = self.variables.inertias[body]
            omega, alpha = self.rotation_rates(body.frame.axes, self.inertia_frame(body))
            total = total + ca.dot(alpha, inertia @ alpha) / 2 + ca.dot(alpha, ca.cross(omega, inertia @ omega))
        return total

    def _turns_with_inertia(self, body: Body) -> TypeGuard[RigidBody]:
        return isinstance(body, RigidBody) and not self.variables.inertias[body].is_zero()


def _rodrigues(k: ca.SX, angle: ca.SX) -> ca.SX:
    """cos a 1 + sin a [k x] + (1 - cos a) k k'; for a coordinate axis only the entries of that plane."""
    numbers = [float(k[i]) if k[i].is_constant() else None for i in range(3)]
    s, c = ca.sin(angle), ca.cos(angle)
    if angle.is_constant():
        s, c = (ca.SX(round(x) if abs(x - round(x)) < 1e-15 else x) for x in (float(s), float(c)))
    if None not in numbers and sorted(abs(e) for e in numbers if e is not None) == [0, 0, 1]:
        axis = next(i for i in range(3) if numbers[i])
        i, j = (axis + 1) % 3, (axis + 2) % 3
        s = s * (numbers[axis] or 0)
        turn = ca.SX(3, 3)
        turn[axis, axis] = 1
        turn[i, i] = turn[j, j] = c
        turn[i, j], turn[j, i] = -s, s
        return turn
    return c * ca.SX.eye(3) + s * ca.skew(k) + (1 - c) * (k @ k.T)
