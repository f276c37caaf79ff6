"""Acceleration energies of any order of any model, closed loops and wheels included."""

from __future__ import annotations

import casadi as ca

from appell.graph.sparse import dense, dense_matrix, total
from appell.kinematics.mechanics import Mechanics
from appell.model.body import RigidBody


def acceleration_energy(mechanics: Mechanics, jets: list[ca.SX]) -> ca.SX:
    r"""$E_A^{(p)} = \tfrac12\int|x^{(p+1)}|^2\,dm$ of all bodies, in $t, q, \dot q, \ldots, q^{(p+1)}$.

    By König's theorem $\tfrac12 m|x_C^{(p+1)}|^2 + \tfrac12\mathrm{tr}[R^{(p+1)}I_pR^{(p+1)T}]$ for each, with the
    central planar-centrifugal tensor $I_p = \tfrac12\mathrm{tr}(I)1 - I$ in its own axes. Masses are what they are at
    the moment, and extra states are held: what flows inside a body is not carried by it.

    Args:
        mechanics: The model on the graph.
        jets: q, q', ..., q^(p+1) as columns.

    Reference: Negrean et al. 2025, eq. (82), corrected.
    """
    x, geometry = mechanics.variables, mechanics.geometry
    letters = [x.q, *(ca.SX.sym(f"jet{k}", x.q.numel()) for k in range(1, len(jets)))]
    known, rates = ca.vertcat(x.t, *letters[:-1]), ca.vertcat(ca.SX(1), *letters[1:])

    def derivative(column: ca.SX) -> ca.SX:
        for _ in jets[1:]:
            column = ca.jtimes(column, known, rates)
        return column

    energies = []
    for body in mechanics.model.bodies:
        center = derivative(dense(geometry.resolve(geometry.center(body), geometry.root)))
        energies.append(x.masses[body] / 2 * ca.sumsqr(center))
        if isinstance(body, RigidBody) and x.inertias[body]:
            turn = dense_matrix(geometry.turn(geometry.root, body.frame.axes))
            turn = ca.reshape(derivative(ca.vec(turn)), 3, 3)
            energies.append(ca.trace(turn @ x.central_planar(body) @ turn.T) / 2)
    energy = ca.substitute(x.thaw(total(energies)), ca.vertcat(*letters[1:]), ca.vertcat(*jets[1:]))
    return ca.cse(energy)
