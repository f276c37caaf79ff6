"""The computational form of the programmed motion equations: traces of pseudo-inertias and homogeneous transforms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import casadi as ca

from appell.equations import Equations
from appell.formulation.abstract import dependent_ones
from appell.formulation.programmed_motion import AbstractProgrammedMotion, Options, assembled, displacements
from appell.graph.sparse import ONE, dense, dense_matrix
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.body import Body, RigidBody
from appell.model.symbols import Coordinate


class ComputationalGPME(AbstractProgrammedMotion):
    r"""Programmed motion equations by traces, the corrected equation (2.5).

    $$ m_{ij} = \sum_l \mathrm{tr}(T_i H T_j^T), \quad
       h_i = -\sum_l\sum_{mn}\mathrm{tr}(T_i H T_{mn}^T)\,\dot q_m\dot q_n, \quad
       N^T(M\ddot q - h - Q) = 0, \quad N = [1;\, -K_{dc}^{-1}K_{ic}] $$
    with $T^{(l)}$ the homogeneous transform of body l, $T_i = \partial T/\partial q_i$, and its pseudo-inertia
    $H = \int r r^T dm$ about the mass centre. Time may stand in the transforms. Q holds all forces, gravity among them.

    Accepts: every kind of constraint, material and programmed, of any order.

    Args:
        dependent: Coordinates whose derivatives the rows give; chosen by conditioning if left out.
        stabilize: Baumgarte's (alpha, beta) in place of projection, for all rows or by name of a row.
        literal: Errors of the printed equation to reproduce: `"h"` (h = A1 + A2 in place of -A1), `"Q"` (the term
            q_k' dQ_k/dq_i'), `"time"` (explicit time derivatives of the rows dropped; with `stabilize`).

    Reference: Jarzebowska et al., eqs. (2.5), (4.9).
    """

    name = "GPME (computational)"
    accepts = frozenset({"holonomic", "linear", "nonlinear", "acceleration", "servo"})
    reference = "Jarzebowska et al."

    def __init__(
        self,
        dependent: Iterable[Coordinate | str] | None = None,
        stabilize: Mapping[str, tuple[float, float]] | tuple[float, float] | None = None,
        literal: Iterable[str] = (),
    ) -> None:
        self.dependent = dependent_ones(dependent)
        self.options = Options.of(stabilize, literal, ("h", "Q", "time"))

    def derive(self, mechanics: Mechanics, split: Split) -> Equations:
        """N^T (M a - h - Q), and the rows."""
        x = mechanics.variables
        M, h = traces(mechanics, "h" in self.options.literal)
        Q = mechanics.Q
        if "Q" in self.options.literal:
            Q = Q + ca.jtimes(Q, x.v, x.v, True)
        left = displacements(mechanics, split).T @ (M @ mechanics.a - h - Q)
        return assembled(self, mechanics, split, left, self.options)


def traces(mechanics: Mechanics, literal: bool = False) -> tuple[ca.SX, ca.SX]:
    """M and h of all bodies; with `literal` the h that the printed first term gives once its index is repaired."""
    x, n = mechanics.variables, mechanics.variables.q.numel()
    M, h = ca.SX.zeros(n, n), ca.SX.zeros(n)
    for body in mechanics.model.bodies:
        transform, H = _transform(mechanics, body), _pseudo_inertia(mechanics, body)
        column = ca.vec(transform)
        slopes = ca.jacobian(column, x.q)  # the columns are vec(T_i)
        weighted = ca.kron(H, ca.SX.eye(3)) @ slopes  # vec(T_j H), since vec(X H) = (H' x 1) vec X
        M = M + slopes.T @ weighted
        velocity = mechanics.frozen_derivative(column)
        second = ca.substitute(mechanics.frozen_derivative(velocity), mechanics.a, ca.SX.zeros(n))
        A1 = weighted.T @ second
        if literal:
            turned = ca.jacobian(velocity, x.q)  # vec of sum_n T_in q_n'
            h = h + A1 + 2 * turned.T @ (ca.kron(H, ca.SX.eye(3)) @ velocity)
        else:
            h = h - A1
    return M, h


def _transform(mechanics: Mechanics, body: Body) -> ca.SX:
    """The upper three rows of the homogeneous transform from a body's axes at its mass centre to the ground."""
    geometry, ground = mechanics.geometry, mechanics.model.ground
    center = dense(geometry.resolve(body.center, ground, 0))
    turn = geometry.turn(ground, body.frame.axes) if isinstance(body, RigidBody) else ONE
    return ca.horzcat(dense_matrix(turn), center)


def _pseudo_inertia(mechanics: Mechanics, body: Body) -> ca.SX:
    """H about the mass centre: I_p, and m."""
    x = mechanics.variables
    H = ca.SX.zeros(4, 4)
    H[3, 3] = x.masses[body]
    if isinstance(body, RigidBody):
        H[:3, :3] = x.central_planar(body)
    return H
