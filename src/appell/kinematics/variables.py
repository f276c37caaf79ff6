"""The letters of a model on the graph: one CasADi column each for q, q', z, w, p, and time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
import sympy as sp

from appell.errors import ModelError
from appell.graph.lower import Lowering
from appell.graph.sparse import Column, Matrix, Scalar, dense_matrix, nonzero, scalar, stacked, to_sx
from appell.model.body import Body, RigidBody
from appell.model.components import resolved
from appell.model.frame import Frame, Vector
from appell.model.model import Model, QuaternionNorm
from appell.model.symbols import Coordinate, Input, Rate, letters_in, t


@dataclass(frozen=True, eq=False, kw_only=True)
class Variables:
    """What every formula of a model is lowered onto.

    Attributes:
        t: Time.
        q: Coordinates.
        v: Their rates.
        z: Extra states.
        w: Inputs.
        p: Parameters.
        frozen: Masses and moments of inertia that are not constant, as letters of their own: the principles of
            mechanics differentiate at frozen mass.
        thawed: The formulas of those masses.
        zdot: The rates of the extra states, in q, v, z, w, p, t.
    """

    model: Model
    t: ca.SX
    q: ca.SX
    v: ca.SX
    z: ca.SX
    w: ca.SX
    p: ca.SX
    frozen: ca.SX
    thawed: ca.SX
    zdot: ca.SX
    masses: dict[Body, ca.SX]
    inertias: dict[Body, Matrix]
    lower: Lowering

    @classmethod
    def of(cls, model: Model) -> Variables:
        """Lower the letters, the masses and the differential equations of the extra states."""
        time = ca.SX.sym("t")
        leaves: dict[sp.Basic, ca.SX] = {t: time}

        def column(letters: tuple[sp.Symbol, ...]) -> ca.SX:
            leaves.update({s: ca.SX.sym(s.name) for s in letters})
            return stacked(leaves[s] for s in letters)

        states = tuple(model.states)
        q, z, w, p = (column(letters) for letters in (model.coordinates, states, model.inputs, model.parameters))
        v = column(tuple(s.rate for s in model.coordinates))
        # Of programmes and of equations of higher order: rates left open, and inputs that have become states.
        left_open = [rate for rate in model.states.values() if isinstance(rate, Rate) and rate not in leaves]
        leaves.update({rate: ca.SX.sym(rate.name) for rate in left_open})
        leaves.update({Input(s.name): leaves[s] for s in states})
        lower = Lowering(leaves)
        zdot = lower.column([model.states[s] for s in states])
        masses, inertias, frozen, thawed = _inertia(model, lower)
        return cls(
            model=model,
            t=time,
            q=q,
            v=v,
            z=z,
            w=w,
            p=p,
            frozen=frozen,
            thawed=thawed,
            zdot=zdot,
            masses=masses,
            inertias=inertias,
            lower=lower,
        )

    def thaw(self, expression: ca.SX) -> ca.SX:
        """Put the formulas of the masses in place of their letters."""
        if self.frozen.numel() == 0:
            return expression
        return ca.substitute(expression, self.frozen, self.thawed)

    def central_planar(self, body: RigidBody) -> ca.SX:
        """I_p = tr(I)/2 1 - I, the integral of r r' dm about a body's mass centre in its axes."""
        inertia = dense_matrix(self.inertias[body])
        return ca.trace(inertia) / 2 * ca.SX.eye(3) - inertia

    @property
    def arguments(self) -> list[ca.SX]:
        """The arguments of every function of positions and velocities: t, q, v, z, w, p."""
        return [self.t, self.q, self.v, self.z, self.w, self.p]

    def scattered(self, count: int) -> list[np.ndarray]:
        """t, q, z and p at so many places, a row for each: of both signs, angles all round, quaternions of length one.

        What holds at all of them is an identity, but for one that needs the constraints.
        """
        random = np.random.default_rng(5)
        blocks = [
            random.uniform(0.3, 3.0, (count, e.numel())) * random.choice((-1.0, 1.0), (count, e.numel()))
            for e in (self.t, self.q, self.z, self.p)
        ]
        for own in self.quaternions:
            blocks[1][:, own] /= np.linalg.norm(blocks[1][:, own], axis=1, keepdims=True)
        return blocks

    @cached_property
    def quaternions(self) -> list[list[int]]:
        """The places of the components of every quaternion among the coordinates."""
        places = {s: i for i, s in enumerate(self.model.coordinates)}
        norms = (c.rows[0] for c in self.model.constraints if isinstance(c, QuaternionNorm))
        listed = (sorted(places[s] for s in letters_in(row.expression) if s in places) for row in norms)
        return [own for own in listed if len(own) == 4]

    @cached_property
    def _steady(self) -> frozenset[sp.Symbol]:
        """What may stand in a position beside coordinates."""
        return frozenset((*self.model.parameters, t))

    def directed(self, vector: Vector) -> list[tuple[Frame, Column]]:
        """The parts of a force on the graph, each in a frame that turns with positions alone.

        Unlike a position a force may contain velocities, states and inputs, and so may the turn of the frame that it is
        written in, as of an engine in gimbals: its components are then those in the frame before that turn.
        """
        found = []
        for frame, part in vector.parts.items():
            path = frame.path
            free = next((i for i, f in enumerate(path) if not self._turned_by_positions(f)), None)
            if free is not None:
                frame, part = path[free - 1], resolved({frame: part}, path[free - 1])
            found.append((frame, nonzero((i, scalar(self.lower(e))) for i, e in enumerate(part))))
        return found

    def _turned_by_positions(self, frame: Frame) -> bool:
        """Whether only what may stand in a position turns a frame from its parent."""
        formulas = () if frame.rotation is None else (frame.rotation.angle, *(frame.rotation.quaternion or ()))
        letters = (s for formula in formulas if formula is not None for s in letters_in(formula))
        return all(isinstance(s, Coordinate) or s in self._steady for s in letters)

    def positions_only(self, formula: sp.Expr, place: str, shape: bool = False) -> set[sp.Symbol]:
        """The letters of a formula of a position; raises if it contains anything but coordinates, parameters and time.

        Args:
            formula: The formula.
            place: Where it stands.
            shape: Whether extra states are allowed as well: the place of a draining body's centre. What flows inside
                the body is not carried by it, so velocities are taken at frozen shape.
        """
        letters = letters_in(formula)
        for symbol in letters:
            allowed = isinstance(symbol, Coordinate) or symbol in self._steady
            if not (allowed or (shape and symbol in self.model.states)):
                kind = getattr(symbol, "kind", "symbol")
                raise ModelError(
                    f"In {place}: the {kind} {symbol} cannot stand in a position; positions are formulas in "
                    "coordinates, parameters and time. Make it a coordinate with a Prescribed motion instead."
                )
        return letters


def _inertia(model: Model, lower: Lowering) -> tuple[dict[Body, ca.SX], dict[Body, Matrix], ca.SX, ca.SX]:
    """Masses and moments of inertia; those that are not constant as letters of their own, and these with formulas."""
    frozen: list[ca.SX] = []
    thawed: list[ca.SX] = []
    constant, known = {*model.parameters}, dict[sp.Expr, bool]()

    def freeze(name: str, formula: sp.Expr) -> Scalar:
        if formula == 0:
            return 0.0
        graph = lower(formula)
        if formula not in known:
            known[formula] = letters_in(formula) <= constant
        if known[formula]:
            return scalar(graph)
        frozen.append(ca.SX.sym(name))
        thawed.append(graph)
        return frozen[-1]

    masses = {body: to_sx(freeze(f"mass of {body.name}", body.mass)) for body in model.bodies}
    inertias: dict[Body, Matrix] = {}
    for body in model.bodies:
        if isinstance(body, RigidBody):
            entries = iter(body.inertia.flat())
            rows = [nonzero((j, freeze(f"inertia of {body.name}", next(entries))) for j in range(3)) for _ in range(3)]
            inertias[body] = {i: row for i, row in enumerate(rows) if row}
    return masses, inertias, stacked(frozen), stacked(thawed)
