r"""The Gibbs-Appell equations under long rows: the chain rule over all velocities.

In all velocities s, rates and angular velocities, the acceleration energy is as short as it can be, and rows are
linear, $C s + c = 0$. They give some of s by the others, the speeds u: $s = P u + p$, $\dot s = P\dot u + \beta$. Then
$$ \frac{\partial S}{\partial\dot u} = P^T\frac{\partial S}{\partial\dot s} = P^T Q_s, $$
and nothing that was solved for is differentiated again.
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from appell.graph.solve import solve
from appell.kinematics.chart import Chart
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.model.constraint import Holonomic, Rolling
from appell.model.symbols import letters_in

LONG = 15  # nodes for each rate, from which on what the rows give is better not differentiated


def is_long(chart: Chart, angular: str | None) -> bool:
    """Whether the rates are long formulas of the speeds, in equations that may be projected."""
    norms = _norms(chart, angular)
    if chart.redundant or chart.mechanics.accelerating or len(norms.rows) < len(norms.dependent):
        return False
    return ca.n_nodes(chart.K) > LONG * chart.K.numel()


def has_short_ways(mechanics: Mechanics) -> bool:
    """Whether velocities may be short in the speeds although the rates are long: of what rolls, turns or is joined."""
    joints = (c for c in mechanics.model.constraints if isinstance(c, Rolling | Holonomic))
    return bool(mechanics.norm_rows) or any(isinstance(c, Rolling) or c.closures for c in joints)


def projected(chart: Chart, angular: str | None) -> tuple[Chart, ca.SX, ca.SX]:
    """The chart with q' and q'' in terms of s, and A and b of A u' = b, masses as frozen letters.

    Args:
        chart: Speeds among the rates, or among angular velocities and rates; rows linear in the velocities.
        angular: Along which axes the angular velocities are, if there are any.
    """
    mechanics, split, x = chart.mechanics, chart.split, chart.mechanics.variables
    unbound = _unbound(chart, angular)
    places = unbound.split.free(x.q.numel())  # of s among all velocities
    own = [places.index(i) for i in split.free(x.q.numel())]
    given = [places.index(i) for i in split.dependent if i in places]
    rows = unbound.in_speeds(mechanics.e[[i for i in split.rows if i not in unbound.split.rows], :])
    carried = ca.jtimes(rows, ca.vertcat(x.q, x.t, x.z), ca.vertcat(unbound.K, 1, unbound.zdot))
    C = ca.jacobian(rows, unbound.u)
    P, s, beta = ca.SX(len(places), len(own)), ca.SX.zeros(len(places)), ca.SX.zeros(len(places))
    P[own, :], s[own] = ca.SX.eye(len(own)), chart.u

    def here(graph: ca.SX) -> ca.SX:
        return ca.substitute(graph, unbound.u, s)

    C_own, C_given = C[:, own], C[:, given]
    P[given, :] = solve(C_given, -C_own)
    s[given] = solve(C_given, -here(rows))
    beta[given] = solve(C_given, -here(carried))
    slope = ca.gradient(unbound.acceleration_energy, unbound.y)
    M, still = ca.jacobian(slope, unbound.y), ca.substitute(slope, unbound.y, ca.SX.zeros(len(places)))
    Q = ca.jtimes(unbound.a, unbound.y, unbound.in_speeds(mechanics.Q), True)
    M, forces = here(M), here(Q - still)
    a = ca.substitute(here(unbound.a), unbound.y, ca.densify(P @ chart.y + beta))
    return replace(chart, K=here(unbound.K), a=a), P.T @ (M @ P), P.T @ (forces - M @ beta)


def _unbound(chart: Chart, angular: str | None) -> Chart:
    """The chart of all velocities, bound by nothing but the norms of quaternions."""
    norms = _norms(chart, angular)
    if angular is None or not norms.rows:
        return Chart.in_rates(chart.mechanics, Split())
    return Chart.of(chart.mechanics, norms, chart.mechanics.turning(angular).free(norms))


def _norms(chart: Chart, angular: str | None) -> Split:
    """The rates of lengths of quaternions, and the rows in use that give them; others may say the same instead."""
    if angular is None:
        return Split()
    mechanics, turning = chart.mechanics, chart.mechanics.turning(angular)
    used = (i for i in chart.split.rows if i in mechanics.norm_rows)
    rows = (i for i in used if letters_in(mechanics.model.rows[i].expression) in turning.quaternions)
    return Split(tuple(rows), turning.lengths)
