"""The motion in terms of chosen speeds, with what the constraints and the choice of speeds make simple.

Put q' = K(q, u, t) into velocities, and what should be one letter becomes a long formula: the component w3 = yaw' cos
lean of an angular velocity is then (w3/cos lean) cos lean, and the centre of a rolling disk moves with the squares of
the sine and cosine of its heading. Here

- a component of a velocity that is a speed (or minus one, or nothing) whatever the state is taken to be that letter,
  and one that is a combination of speeds with constant coefficients is written so;
- where all components of a velocity are letters, in whatever axes, accelerations are taken from there:
  a = v' + omega_axes x v, and omega and alpha are turned into other axes from where they are letters;
- a body that rolls on the ground turns about its contact: v = omega x c with c from the contact to the centre. That
  holds at all times, so a = alpha x c + omega x c' does too;
- a body that rows join to another one at a point moves as that point and the arm from there.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from appell.graph.kinks import has_kinks
from appell.graph.numeric import Numeric
from appell.graph.products import in_products
from appell.graph.pythagoras import LARGEST, reduced
from appell.graph.sparse import (
    Column,
    Scalar,
    add,
    apply,
    column,
    cross,
    dense,
    dot,
    mul,
    nonzero,
    plus,
    scalar,
    to_sx,
    transposed,
)
from appell.kinematics.geometry import AbstractGeometry, FrameMotion
from appell.kinematics.joined import joined
from appell.kinematics.variables import Variables
from appell.model.body import Body, RigidBody
from appell.model.constraint import Holonomic, Rolling
from appell.model.frame import Frame, Vector
from appell.model.rotation import Triple

POINTS = 3  # at which a component must be a speed
SIGNS = (1.0, -1.0)
NEAR = 4  # frames on the way to the ground in which an angular velocity may have letters for components


class InSpeeds(AbstractGeometry):
    """Positions, velocities and accelerations in speeds u and their rates y, for states that obey the rows.

    Args:
        variables: The model on the graph.
        derivative: Time derivative of a column at frozen extra states.
        rates: q' in terms of the speeds.
        u: The speeds.
        y: Their rates.
        given: Whether the speeds were given by formulas; components of velocities may be such a speed.
    """

    def __init__(
        self, variables: Variables, derivative: Callable[[ca.SX], ca.SX], rates: ca.SX, u: ca.SX, y: ca.SX, given: bool
    ) -> None:
        self.u, self.y, self.given = u, y, given
        self._letters = [mul(sign, e) for sign in SIGNS for e in u.nonzeros()]  # what a component may be
        rates_of = [mul(sign, e) for sign in SIGNS for e in y.nonzeros()]
        self._rate = {e.element_hash(): rate for e, rate in zip(self._letters, rates_of, strict=True)}
        self._combinations: list[ca.SX] = []
        rolling = (c for c in variables.model.constraints if isinstance(c, Rolling))
        self._contacts = {c.body: c.contact for c in rolling if c.on is None and c.along is None}
        self._closed = [v for c in variables.model.constraints if isinstance(c, Holonomic) for v in c.closures]
        bodies = (body for body in variables.model.bodies if isinstance(body, RigidBody))
        self._homes = {body.frame.axes: tuple(body.center.parts) for body in bodies}
        self._short = ca.n_nodes(rates) <= LARGEST
        self._turnings: dict[tuple[Frame, Frame], tuple[Column, Column]] = {}
        self._ways: dict[tuple[Frame, Frame], tuple[Column, Column]] = {}
        self._lettered: dict[Frame, Frame | None] = {}
        self._known: list[tuple[Frame, set[tuple[Frame, Triple]]]] = []
        super().__init__(variables, derivative, rates)

    # Turning.

    def frame(self, frame: Frame) -> FrameMotion:
        """The motion of a frame; in its own axes the components of alpha are the rates of those of omega."""
        if frame not in self._frames:
            motion = self._summed_motion(frame)
            omega = self._recognized(motion.omega)
            self._frames[frame] = motion._replace(omega=omega, alpha=self._with_rates(motion.alpha, omega, {}))
        return self._frames[frame]

    def rotation_rates(self, frame: Frame, target: Frame) -> tuple[Column, Column]:
        """omega and alpha of a frame in the axes of another one."""
        if (frame, target) not in self._turnings:
            axes = self._lettered_axes(frame) or target
            omega, alpha = self._summed(frame, axes)
            self._turnings[frame, target] = self._into(omega, axes, target), self._into(alpha, axes, target)
        return self._turnings[frame, target]

    def inertia_frame(self, body: RigidBody) -> Frame:
        """The outermost frame in which the inertia tensor is the same, or another such one where omega is letters."""
        outermost, axes = self._outermost(body), self._lettered_axes(body.frame.axes)
        return axes if axes is not None and (body.isotropic or outermost in axes.path) else outermost

    def _lettered_axes(self, frame: Frame) -> Frame | None:
        """Axes in which the angular velocity has letters for components.

        They may be its own, those of a frame near by that carries it, the ground's, or those that the place of the
        body is written in.
        """
        if frame not in self._lettered:
            carrying = frame.path[: -1 - NEAR : -1]
            choices = dict.fromkeys((*carrying, self.root, *self._homes.get(frame, ())))
            lettered = (axes for axes in choices if self._is_lettered(self._summed(frame, axes)[0]))
            self._lettered[frame] = next(lettered, None)
        return self._lettered[frame]

    def _summed(self, frame: Frame, target: Frame) -> tuple[Column, Column]:
        """omega and alpha, summed along the way from one frame to the other."""
        if (frame, target) not in self._ways:
            omega, alpha = self._summed_rates(frame, target)
            omega = self._recognized(omega)
            self._ways[frame, target] = omega, self._with_rates(alpha, omega, self.frame(target).omega)
        return self._ways[frame, target]

    def _with_rates(self, alpha: Column, omega: Column, carrying: Column) -> Column:
        """alpha with the rates of letters where omega has letters, in axes that turn with `carrying`."""
        rates = {i: rate for i in range(3) if (rate := self._rate_of(omega.get(i, 0.0))) is not None}
        turned = cross(carrying, omega) if rates else {}
        return nonzero({**alpha, **{i: add(rate, turned.get(i, 0.0)) for i, rate in rates.items()}}.items())

    def _into(self, vector: Column, start: Frame, target: Frame) -> Column:
        """Components in other axes, one turn after the other."""
        meet = self._meets(start, target)
        for step in reversed(start.path[len(meet.path) :]):
            vector = apply(self.frame(step).turn, vector)
        for step in target.path[len(meet.path) :]:
            vector = apply(transposed(self.frame(step).turn), vector)
        return vector

    # Moving.

    def half_square_of(self, body: Body) -> Scalar:
        """a^2/2 of the centre of a body, in the shortest way.

        By its contact, in axes where a velocity is known, or from the body that it is joined to.
        """
        center = self.center(body)
        seen = joined(center, self._closed) if self._closed else center
        ways = [self._known_acceleration(body, center)] if self.given else []
        if body in self._contacts:
            ways.append(self._about(body, self._contacts[body]))
        halves = [mul(0.5, dot(a, a)) for a in ways if a is not None]
        points = [] if halves else [center]
        points += [] if seen is center else [seen]
        halves += map(self.half_square, points)
        return min(halves, key=lambda half: ca.n_nodes(to_sx(half)))

    def _known_acceleration(self, body: Body, center: Vector) -> Column | None:
        """The acceleration in the first axes on the way to the body's own where a velocity is known."""
        home = self.home(center)
        way = body.frame.axes.path[len(home.path) :] if isinstance(body, RigidBody) else ()
        for axes in (home, *way):
            a = self.resolve(center, axes, 2)
            if any(here in axes.path and parts <= {*center.parts.items()} for here, parts in self._known):
                return a
        return None

    def _about(self, body: RigidBody, contact: Vector) -> Column:
        """a = alpha x c + omega x c' of a rolling body."""
        arm, frame = body.center - contact, body.frame.axes
        axes = self._lettered_axes(frame) or self.home(arm)
        omega, alpha = self.rotation_rates(frame, axes)
        return plus(cross(alpha, self.resolve(arm, axes)), cross(omega, self.resolve(arm, axes, 1)))

    def _turned(self, inner: Column, before: Vector, here: Frame, order: int) -> Column:
        """What is resolved in the axes of the parent, in those of a frame, where it may be known."""
        turned = apply(transposed(self.frame(here).turn), inner)
        if order == 0:
            return turned
        if not self.given:  # K may have brought in the heading that is turned back here
            return column(reduced(dense(turned))) if self._short else turned
        if order == 1:
            return self._recognized(turned)
        v = self.resolve(before, here, 1)
        rates = self._rates(v)
        if rates is None:
            return turned
        self._known.append((here, {*before.parts.items()}))
        return plus(rates, cross(self.frame(here).omega, v))

    # Letters.

    def _is_lettered(self, vector: Column) -> bool:
        """Whether all components are speeds or constant."""
        combined = {e.element_hash() for e in self._combinations}
        return self._rates(vector) is not None and not any(
            isinstance(e, ca.SX) and e.element_hash() in combined for e in vector.values()
        )

    def _rate_of(self, e: Scalar) -> Scalar | None:
        """The rate of a component that is a speed, a combination of speeds or constant."""
        return 0.0 if isinstance(e, float) else self._rate.get(e.element_hash())

    def _rates(self, vector: Column) -> Column | None:
        """The rates of components if all are speeds, combinations of them or constant."""
        rates = {i: self._rate_of(e) for i, e in vector.items()}
        known = [(i, e) for i, e in rates.items() if e is not None]
        return nonzero(known) if len(known) == len(rates) else None

    def _recognized(self, vector: Column) -> Column:
        """The same vector, with speeds for those of its components that are speeds."""
        asked = [i for i, e in vector.items() if self._rate_of(e) is None] if self.given else []
        if not asked:
            return vector
        function = ca.Function("components", self._arguments, [to_sx(vector[i]) for i in asked])
        if has_kinks(function):  # what is so at some points need not be so at others
            return vector
        numeric, found = Numeric(function), dict(vector)
        values = np.array([numeric(*point) for point in self._points])[:, :, 0, 0]
        speeds = np.array([np.concatenate([sign * point[0] for sign in SIGNS]) for point in self._points])
        (u, *_, p), last = self._points[0], self._points[-1]
        elsewhere = np.array(numeric(u, *last[1:-1], p))[:, 0, 0]  # in another state, all else the same
        constant = np.abs(values[0] - elsewhere) < 1e-12 * np.abs(elsewhere)
        for i, component, steady in zip(asked, values.T, constant, strict=True):
            same = np.flatnonzero(np.max(np.abs(speeds - component[:, None]), axis=0) < 1e-13)
            if len(same):
                found[i] = self._letters[same[0]]
            elif np.max(np.abs(component)) < 1e-14:
                del found[i]
            elif steady:
                found[i] = self._combined(found[i])
        return found

    def _combined(self, component: Scalar) -> Scalar:
        """A component that is a combination of speeds with constant coefficients as such."""
        x, graph = self.variables, to_sx(component)
        short = in_products(graph, self.u, [x.t, x.q, x.z, x.p], x.scattered)
        if short is graph or ca.depends_on(short, ca.vertcat(x.t, x.q, x.z)):
            return component
        self._combinations.append(short)  # kept, since its hash is an address
        self._rate[short.element_hash()] = scalar(ca.jtimes(short, self.u, self.y))
        return scalar(short)

    @cached_property
    def _arguments(self) -> list[ca.SX]:
        x = self.variables
        return [self.u, x.t, x.q, x.z, x.p]

    @cached_property
    def _points(self) -> list[tuple[np.ndarray, ...]]:
        u = np.random.default_rng(7).uniform(0.3, 1.2, (POINTS, self.u.numel()))
        return list(zip(u, *self.variables.scattered(POINTS), strict=True))
