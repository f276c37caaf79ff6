"""What is forbidden: constraints on positions, linear and nonlinear ones on velocities, rolling, prescribed motion.

Every constraint is a list of named scalar rows; a row is a formula that must vanish.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.model.body import RigidBody
from appell.model.frame import Frame, Vector, check_point
from appell.model.symbols import Coordinate, Rate, letters_in, quoted, t, written
from appell.model.values import check_kind, formula_of


@dataclass(frozen=True, eq=False)
class Row:
    """One scalar equation `expression = 0`, or `d^r/dt^r expression = 0`.

    Attributes:
        name: Its name.
        expression: The formula that vanishes.
        order: The highest derivative of a coordinate in the equation: 0 positions, 1 velocities, 2 accelerations, 3 ...
        near: Accelerations next to which a row not linear in them is solved.
        raised: How many times the formula is differentiated before it is demanded.
        programmed: Whether drives enforce it rather than matter.
        drive: The coordinate along which a drive enforces it; None for an ideal force.
        gauss: Whether its force follows the generalised principle of Gauss (order 3 and more).
    """

    name: str
    expression: sp.Expr
    order: int
    near: Mapping[Rate, sp.Expr] = field(default_factory=dict)
    raised: int = 0
    programmed: bool = False
    drive: Coordinate | None = None
    gauss: bool = False

    @property
    def own_order(self) -> int:
        """The highest derivative in the formula, before it is differentiated."""
        return self.order - self.raised

    @property
    def drives(self) -> bool:
        """Whether it makes something move: by drives, by a position given in time, by a velocity that is not zero."""
        if self.programmed or self.order == 0:
            return self.programmed or t in letters_in(self.expression)
        at_rest = {s: 0 for s in letters_in(self.expression) if isinstance(s, Rate)}
        return self.expression.xreplace(at_rest) != 0


def formulas_of(given: Any, frame: Frame | None, name: str) -> list[tuple[str, sp.Expr]]:
    """Named scalar formulas from a formula, a vector (its components that are not zero), or a list of either."""
    if frame is not None:
        check_kind(frame, Frame, f"frame= of the constraint {name!r} as an appell.Frame")
    if isinstance(given, Vector):
        if not given.parts:
            raise ModelError(f"The constraint {name!r} is the zero vector and forbids nothing.")
        axes = frame or next(iter(given.parts)).path[0]
        return components_of(given, axes, name)
    if isinstance(given, Iterable) and not isinstance(given, str):
        listed = list(given)
        if not listed:
            raise ModelError(f"The constraint {name!r} is an empty list and forbids nothing.")
        labels = _numbered(name, len(listed))
        return [row for label, e in zip(labels, listed, strict=True) for row in formulas_of(e, frame, label)]
    vanishes = given.lhs - given.rhs if isinstance(given, sp.Equality) else given
    return [(name, formula_of(vanishes, f"The expression of the constraint {name!r}"))]


def _numbered(name: str, count: int) -> list[str]:
    """Names of rows given in a list; a lone one has the name of its constraint."""
    return [name] if count == 1 else [f"{name}[{i}]" for i in range(count)]


def _vectors(given: Any) -> tuple[Vector, ...]:
    if isinstance(given, Vector):
        return (given,)
    return tuple(v for e in given for v in _vectors(e)) if isinstance(given, list | tuple) else ()


def components_of(vector: Vector, axes: Frame, name: str) -> list[tuple[str, sp.Expr]]:
    """The named components of a vector that do not vanish by themselves."""
    parts = [(f"{name}.{axis}", e) for axis, e in zip("xyz", axes.components(vector), strict=True) if e != 0]
    kept = ~vanishing([e for _, e in parts])
    return [part for part, keep in zip(parts, kept, strict=True) if keep]


def vanishing(expressions: Sequence[sp.Expr]) -> np.ndarray:
    """Which formulas are zero whatever their letters are, seen at three random points."""
    return np.all(np.abs(sampled(expressions, (1.0, 1.0, 1.0))) < 1e-12, axis=0)


def sampled(expressions: Sequence[sp.Expr], scales: Sequence[float]) -> np.ndarray:
    """Values of formulas at random points, one row for each of several sizes of their letters."""
    import casadi as ca

    from appell.graph.lower import Lowering
    from appell.graph.numeric import Numeric

    letters = sorted({s for e in expressions for s in letters_in(e)}, key=lambda s: s.name)
    column = ca.SX.sym("letters", len(letters))
    graph = Lowering(dict(zip(letters, column.nonzeros(), strict=True))).column(expressions)
    function, random = Numeric(ca.Function("rows", [column], [ca.densify(graph)])), np.random.default_rng(3)
    return np.array([function(scale * random.uniform(0.3, 1.2, len(letters)))[0].ravel() for scale in scales])


def order_of(expression: sp.Expr) -> int:
    """The highest derivative of a coordinate in a formula."""
    return max((s.order for s in letters_in(expression) if isinstance(s, Rate)), default=0)


class AbstractConstraint:
    """Something with named rows."""

    name: str
    rows: tuple[Row, ...]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{written(r.expression)} = 0' for r in self.rows)})"


class Holonomic(AbstractConstraint):
    """f(q, t) = 0.

    Args:
        expression: A formula that vanishes, a SymPy `Eq`, a vector (a closed loop: all its components vanish),
            or a list of these.
        name: Its name in messages and reaction forces.
        frame: For vectors: the frame in whose axes the components are taken; the ground if left out.

    Attributes:
        closures: The vectors among what was given, for drawing.

    Example:
        >>> import appell as ap
        >>> x, y = ap.coordinates("x y")
        >>> [row.expression for row in ap.Holonomic(x**2 + y**2 - 1, "rod").rows]
        [x**2 + y**2 - 1]
    """

    def __init__(self, expression: Any, name: str = "holonomic", frame: Frame | None = None) -> None:
        self.name = name
        self.closures = _vectors(expression)
        rows = formulas_of(expression, frame, name)
        for label, e in rows:
            letters = letters_in(e)
            if any(isinstance(s, Rate) for s in letters):
                raise ModelError(
                    f"The row {label!r} of a Holonomic constraint contains the rate of a coordinate: {quoted(e)}. "
                    "Use Nonholonomic for constraints on velocities."
                )
            if not any(isinstance(s, Coordinate) for s in letters):
                raise ModelError(
                    f"The row {label!r} contains no coordinate: {quoted(e)} = 0 forbids nothing or everything."
                )
        self.rows = tuple(Row(label, e, 0) for label, e in rows)


class Nonholonomic(AbstractConstraint):
    """f(q, q', t) = 0 or f(q, q', q'', t) = 0, linear or nonlinear in its highest rates.

    The forces of a constraint on velocities are ideal by Chetaev's rule, those of one on accelerations by Gauss's: they
    do no work along virtual displacements with df/dq' . dq = 0, or df/dq'' . dq = 0. A row that is not linear in the
    accelerations has several branches; the motion is on the one next to `near`, by default next to the accelerations
    that it would have without the row, which is where Gauss's constraint is least.

    Args:
        expression: A formula, a SymPy `Eq`, a velocity vector, or a list of these.
        name: Its name in messages and reaction forces.
        frame: For vectors: the frame of the components; the ground if left out.
        near: For rows not linear in the accelerations: a formula in coordinates, rates and time for each acceleration,
            `{x.rate.rate: 3}`; those not named are zero.
    """

    def __init__(
        self,
        expression: Any,
        name: str = "nonholonomic",
        frame: Frame | None = None,
        near: Mapping[Rate, Any] | None = None,
    ) -> None:
        self.name = name
        rows = formulas_of(expression, frame, name)
        for label, e in rows:
            order = order_of(e)
            if order == 0:
                raise ModelError(
                    f"The row {label!r} of a Nonholonomic constraint contains no velocity: {quoted(e)}. "
                    "Use Holonomic for constraints on positions."
                )
            if order > 2:
                raise ModelError(
                    f"The row {label!r} contains a derivative of order {order}: {quoted(e)}; no passive "
                    "contact enforces that. If drives do, use Programmed."
                )
        if near is not None and not isinstance(near, Mapping):
            raise ModelError(f"near= of {name!r} is a formula by acceleration, {{x.rate.rate: 3}}; got {quoted(near)}.")
        branch = {rate: formula_of(formula, f"near= of {name!r}") for rate, formula in (near or {}).items()}
        for rate, formula in branch.items():
            if not isinstance(rate, Rate) or rate.order != 2:
                raise ModelError(f"near= of {name!r} says where accelerations are, such as x.rate.rate; got {rate}.")
            if order_of(formula) > 1:
                raise ModelError(f"near= of {name!r} contains an acceleration: {rate} near {quoted(formula)}.")
        if branch and all(order_of(e) < 2 for _, e in rows):
            raise ModelError(f"near= is for rows on accelerations; {name!r} has none.")
        self.rows = tuple(Row(label, e, order_of(e), branch) for label, e in rows)


class Rolling(AbstractConstraint):
    """Rolling without slipping: the body's material at the contact has the velocity of what it rolls on.

    Args:
        body: The body that rolls.
        contact: The point of contact.
        on: The body it rolls on; the ground if left out.
        along: Directions that must not slip (vectors); all three if left out, rows that vanish by themselves
            being dropped. A knife edge is `along=[blade.y]`.
        name: Its name in messages and reaction forces.

    Attributes:
        axes: The axes of the rows without `along`: the ground's, or moving ones where a model needs them.

    Example:
        >>> import appell as ap
        >>> x, turn = ap.coordinates("x turn")
        >>> ground = ap.Frame("ground")
        >>> wheel = ap.RigidBody("wheel", 1, ground.point(x, 0.3), ground.rotate("z", turn), (0, 0, 0.1))
        >>> [row.expression for row in ap.Rolling(wheel, ground.point(x, 0)).rows]
        [0.3*turn' + x']
    """

    def __init__(
        self,
        body: RigidBody,
        contact: Vector,
        on: RigidBody | None = None,
        along: Iterable[Vector] | None = None,
        name: str = "rolling",
    ) -> None:
        if not isinstance(body, RigidBody):
            raise ModelError(f"Only a RigidBody rolls, got {body!r}.")
        if on is not None and not isinstance(on, RigidBody):
            raise ModelError(
                f"{name!r}: on= is the RigidBody it rolls on, got {on!r}. For a frame that moves as given write "
                "on=RigidBody('table', 1, frame.origin, frame); it need not be among the bodies of the model."
            )
        check_point(contact, f"{name!r}: the contact")
        if along is not None and (isinstance(along, Vector | str) or not isinstance(along, Iterable)):
            raise ModelError(f"{name!r}: along= is a list of directions such as [body.frame.y], got {quoted(along)}.")
        self.name, self.body, self.contact, self.on = name, body, contact, on
        self.along = None if along is None else tuple(along)
        self.axes = body.frame.path[0]
        slip = self._slip(contact)
        if self.along is None:
            rows = components_of(slip, self.axes, name)
        else:
            slips = [slip.dot(direction) for direction in self.along]
            kept = np.flatnonzero(~vanishing(slips))
            self.along = tuple(self.along[i] for i in kept)
            rows = list(zip(_numbered(name, len(kept)), (slips[i] for i in kept), strict=True))
        if not rows:
            raise ModelError(f"{name!r}: the contact never slips by construction; nothing is left to constrain.")
        self.rows = tuple(Row(label, e, 1) for label, e in rows)

    def _slip(self, contact: Vector) -> Vector:
        slip = self.body.velocity_at(contact)
        return slip if self.on is None else slip - self.on.velocity_at(contact)

    def in_axes(self, frame: Frame) -> Rolling:
        """The same with the rows along other axes."""
        center = self.body.center
        slip = self._slip(center + _carried(self.contact - center, frame.axes))
        other = copy(self)
        other.axes = frame
        other.rows = tuple(Row(label, e, 1) for label, e in components_of(slip, frame, self.name))
        return other


def _carried(vector: Vector, frame: Frame) -> Vector:
    """The same vector, written in a frame where its parts along axes of turning have the same components."""
    total = Vector({})
    for own, part in vector.parts.items():
        turns = frame.path[len(own.path) :] if own in frame.path else ()
        along = [i for i, e in enumerate(part) if e != 0]
        kept = all(
            turn.rotation is not None and turn.rotation.axis is not None
            and [i for i, e in enumerate(turn.rotation.axis) if e != 0] == along and len(along) == 1
            for turn in turns
        )  # fmt: skip
        total = total + Vector({frame if turns and kept else own: part})
    return total


class Prescribed(AbstractConstraint):
    """A coordinate, or any formula in coordinates, that follows a given function of time.

    Args:
        what: The coordinate or formula.
        motion: The function of `appell.t` it follows.
        name: Its name in messages and reaction forces.

    Example:
        >>> import appell as ap
        >>> crank = ap.coordinates("crank")
        >>> [row.expression for row in ap.Prescribed(crank, 5 * ap.t).rows]
        [crank - 5*t]
    """

    def __init__(self, what: Any, motion: Any, name: str = "prescribed") -> None:
        self.name = name
        held, course = (formula_of(e, f"What {name!r} {role}") for e, role in ((what, "moves"), (motion, "follows")))
        self.rows = Holonomic(held - course, name).rows
