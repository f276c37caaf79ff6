"""The rates q' in given speeds, as short as by hand.

Solved for on the graph, the rates of a quaternion are long even where the angular velocity is a letter or two, and so
is the rate of a place that rolls with it. Here

- the rates of a quaternion e are e (0, w)/2 with the angular velocity w in its own axes, or (0, w) e/2 with that in
  the axes it is turned from, whichever is simpler;
- what is a product of letters, sines, cosines and what is divided by is written as one.
"""

from __future__ import annotations

import casadi as ca

from appell.graph.products import in_products
from appell.kinematics.variables import Variables

OWN, OTHER = 1, -1  # axes: its own, and those it is turned from
SHORT = 13  # nodes of one entry, up to which nothing shorter is looked for


class ShortRates:
    """Writes rates from fewer operations, equal where quaternions have length one.

    Args:
        variables: The model on the graph.
        u: The speeds.
    """

    def __init__(self, variables: Variables, u: ca.SX) -> None:
        self.variables, self.u = variables, u

    def __call__(self, places: list[int], rates: list[ca.SX]) -> list[ca.SX]:
        """The rates of coordinates at these places, all that belong together."""
        found = dict(zip(places, rates, strict=True))
        for own in self.variables.quaternions:
            if found.keys() >= {*own}:
                found.update(zip(own, self._turned(own, ca.vertcat(*[found[k] for k in own])), strict=True))
        return self._in_products(ca.vertcat(*[found[k] for k in places])).nonzeros()

    def _turned(self, places: list[int], known: ca.SX) -> list[ca.SX]:
        """The rates of a quaternion."""
        e, shortest = self.variables.q[places], known
        for axes in (OWN, OTHER):
            way = _rates(e, self._in_products(_turning(e, known, axes)), axes)
            shortest = min((shortest, way), key=lambda way: ca.n_nodes(ca.cse(way)))
            if _is_short(shortest):
                break
        return shortest.nonzeros()

    def _in_products(self, column: ca.SX) -> ca.SX:
        x = self.variables
        return column if _is_short(column) else in_products(column, self.u, [x.t, x.q, x.z, x.p], x.scattered)


def _is_short(column: ca.SX) -> bool:
    return ca.n_nodes(column) <= SHORT * column.numel()


def _turning(e: ca.SX, rate: ca.SX, axes: int) -> ca.SX:
    """The vector of 2 e* e' or of 2 e' e*."""
    s, v, ds, dv = e[0], e[1:], rate[0], rate[1:]
    return 2 * (s * dv - ds * v - axes * ca.cross(v, dv))


def _rates(e: ca.SX, w: ca.SX, axes: int) -> ca.SX:
    """e (0, w)/2 or (0, w) e/2."""
    s, v = e[0], e[1:]
    return ca.vertcat(-ca.dot(v, w), s * w + axes * ca.cross(v, w)) / 2
