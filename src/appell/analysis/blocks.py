"""The named blocks of the first approximation of a holonomic system in redundant coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from appell.analysis.steady import Steady
from appell.analysis.units import Units
from appell.errors import EquilibriumError
from appell.graph.kinks import has_kinks
from appell.graph.numeric import Numeric
from appell.graph.solve import solve_spd
from appell.graph.sparse import densified
from appell.kinematics.split import Split

if TYPE_CHECKING:
    from appell.analysis.equilibrium import Equilibrium


@dataclass(frozen=True, eq=False, kw_only=True)
class Blocks:
    r"""Matrices of $A\ddot x + (G + D)\dot x + Cx + (\ldots)z = V_u u$, eqs. (19) to (29), corrected.

    q = (r, s), r independent and s dependent, $\dot s = B\dot r$, $N = (I; B)$, $W = \Pi - T_0$, $\tilde\lambda = W_s -
    Q_s$ at the equilibrium, $z = y - B_0 x$. About a steady motion these are the blocks of Routh's function.

    Attributes:
        independent: Names of r.
        dependent: Names of s.
        A: Inertia $N'aN$.
        G: Gyroscopic terms, antisymmetric, $D_k a^*_i - D_i a^*_k$.
        D: Damping, $-N'(\partial Q/\partial\dot q)N$.
        C1: $W_{rr}$.
        C2: $W_{rs}$.
        C3: $W_{sr}$.
        C4: $W_{ss}$.
        CB: Curvature of the constraints under load, $\tilde\lambda_\mu\,\partial^2 s_\mu/\partial r_i\partial r_k$.
        P: Positional forces, $-N'(\partial Q/\partial q)N$.
        C: $C_1 + C_2B + B'C_3 + B'C_4B + C^B + P$; without $C^B$ if that was asked for.
        B0: $B$ at the equilibrium.
        a: $-A^{-1}$ times the coefficients of x in (29).
        b: $-A^{-1}(G + D)$.
        h: $-A^{-1}$ times the coefficients of z in (29); $a + hB_0 = -A^{-1}C$.
        V: $A^{-1}N'\,\partial Q/\partial u$, a column for each input.
        Vz: $A^{-1}N'\,\partial(Q - W_q)/\partial z$, a column for each extra state (currents).
        multipliers: $\tilde\lambda = F_s'\lambda$.
        momenta: Momenta of cyclic coordinates, which are held; empty without them.
    """

    independent: tuple[str, ...]
    dependent: tuple[str, ...]
    A: np.ndarray
    G: np.ndarray
    D: np.ndarray
    C1: np.ndarray
    C2: np.ndarray
    C3: np.ndarray
    C4: np.ndarray
    CB: np.ndarray
    P: np.ndarray
    C: np.ndarray
    B0: np.ndarray
    a: np.ndarray
    b: np.ndarray
    h: np.ndarray
    V: np.ndarray
    Vz: np.ndarray
    multipliers: np.ndarray
    momenta: Mapping[str, float] = field(default_factory=dict)

    @property
    def N(self) -> np.ndarray:
        """(I; B), in the order independent, dependent."""
        return np.vstack([np.eye(len(self.independent)), self.B0])

    def __repr__(self) -> str:
        head = f"blocks of the first approximation, r = ({', '.join(self.independent)})"
        if self.dependent:
            head += f", s = ({', '.join(self.dependent)})"
        parts = []
        for name in ("A", "G", "D", "C1", "C2", "C4", "CB", "P", "C", "B0", "V"):
            matrix = getattr(self, name)
            text = "0" if not matrix.size or not np.any(matrix) else np.array2string(matrix, precision=6)
            parts.append(f"  {name:2} = " + text.replace("\n", "\n       "))
        return "\n".join([head, *parts])


@dataclass(frozen=True, eq=False, kw_only=True)
class Jets:
    """Derivatives of T, W, Q, F and z' at one point, by CasADi; cyclic coordinates eliminated.

    `smooth` says whether they exist everywhere: nothing in them switches.
    """

    smooth: bool
    kept: tuple[int, ...]
    momenta: dict[str, float]
    a: np.ndarray
    a1: np.ndarray
    a1_q: np.ndarray
    W_q: np.ndarray
    W_qq: np.ndarray
    Q: np.ndarray
    Q_v: np.ndarray
    Q_q: np.ndarray
    Q_z: np.ndarray
    Q_w: np.ndarray
    J: np.ndarray
    c: np.ndarray
    z: np.ndarray
    z_q: np.ndarray
    z_v: np.ndarray
    z_z: np.ndarray
    z_w: np.ndarray

    def imbalance(self, at: Equilibrium, enough: float) -> float:
        """What the equations of motion, constraints and extra states leave at rest, against the size of their terms.

        Natural units, which take long to find, make the sizes larger where nothing else does: they are asked for only
        if more than enough is left without them.

        Args:
            at: The point, at which nothing moves.
            enough: What may be left.
        """
        left = self._left(at, None)
        return left if left <= enough else self._left(at, at.units)

    def _left(self, at: Equilibrium, units: Units | None) -> float:
        n, rows = len(at.state.q), self.J.shape[0]
        known, loaded, least = np.abs(np.concatenate([at.state.q, at.state.v, at.state.z, at.w])), 0.0, 0.0
        if units is not None:
            own, loaded = np.split(0.1 * units.unknowns, [units.unknowns.size - rows])
            known, least = np.maximum(known, own), 1e-9 * units.equations
        push = np.hstack([self.Q_q - self.W_qq, self.Q_v - self.a1_q + self.a1_q.T, self.Q_z, self.Q_w]) * known
        left, loads = (self.Q - self.W_q)[:, 0], np.zeros(rows)
        if rows:
            loads = np.linalg.lstsq(self.J.T, -left, rcond=1e-12)[0]
            left = left + self.J.T @ loads
        size = np.linalg.norm(np.hstack([push, self.J.T * np.maximum(np.abs(loads), loaded)]), axis=1)
        bound = np.linalg.norm(self.J * known[:n], axis=1)
        change = np.linalg.norm(np.hstack([self.z_q, self.z_v, self.z_z, self.z_w]) * known, axis=1)
        value = np.abs(np.concatenate([left, self.c[:, 0], self.z[:, 0]]))
        sizes = np.maximum(np.concatenate([size, bound, change]), least)
        shares = np.divide(value, sizes, out=np.where(value > 0, np.inf, 0.0), where=sizes > 0)
        return float(np.max(shares, initial=0.0))


def jets(steady: Steady, at: Equilibrium, cyclic: tuple[str, ...] = ()) -> Jets:
    r"""Derivatives of energies, forces and constraints at an equilibrium or a steady motion.

    Cyclic coordinates are eliminated by Routh's function $R = T - p'\dot q_c$ at constant momenta p:
    $a \to a - a_{qc}a_{cc}^{-1}a_{cq}$, $a_1 \to a_1 + a_{qc}a_{cc}^{-1}(p - a_c)$,
    $W \to \Pi - T_0 + \tfrac12 (p - a_c)'a_{cc}^{-1}(p - a_c)$.
    """
    m, x = steady.mechanics, steady.mechanics.variables
    labels = [s.label for s in m.model.coordinates]
    c = [labels.index(s) for s in cyclic]
    kept = [i for i in range(len(labels)) if i not in c]
    still = ca.SX.zeros(x.v.numel())
    T, V = x.thaw(m.T), x.thaw(m.V)
    momentum = ca.gradient(T, x.v)
    a, a1, T0 = ca.substitute([ca.jacobian(momentum, x.v), momentum, T], [x.v], [still])
    W = V - T0
    Q = steady.applied
    zdot = steady.zdot
    q, v = (x.q[kept], x.v[kept]) if c else (x.q, x.v)
    p = ca.SX.sym("p", len(c))
    held = np.zeros(0)
    if c:
        held = np.array(ca.Function("momenta", x.arguments, [momentum[c]])(*numbers(at))).ravel()
        gap = p - a1[c]
        solved = solve_spd(a[c, c], ca.horzcat(a[c, kept], gap))
        shares, rates = solved[:, :-1], solved[:, -1]
        W = W + ca.dot(gap, rates) / 2
        a1 = a1[kept] + a[kept, c] @ rates
        running = rates - shares @ v
        a = a[kept, kept] - a[kept, c] @ shares
        Q, zdot = (ca.substitute(e, x.v[c], running) for e in (Q[kept], zdot))
    W_q = ca.gradient(W, q)

    def slope(column: ca.SX, letters: ca.SX) -> ca.SX:
        """The Jacobian; where there are no extra states there is nothing to ask CasADi for."""
        nothing = column.numel() == 0 or letters.numel() == 0
        return ca.SX(column.numel(), letters.numel()) if nothing else densified(ca.jacobian(column, letters))

    parts = {
        "a": a,
        "a1": a1,
        "a1_q": slope(a1, q),
        "W_q": W_q,
        "W_qq": slope(W_q, q),
        "Q": Q,
        "Q_v": slope(Q, v),
        "Q_q": slope(Q, q),
        "Q_z": slope(Q - W_q, x.z),
        "Q_w": slope(Q, x.w),
        "J": m.J[:, kept] if c else m.J,
        "c": m.c,
        "z": zdot,
        "z_q": slope(zdot, q),
        "z_v": slope(zdot, v),
        "z_z": slope(zdot, x.z),
        "z_w": slope(zdot, x.w),
    }
    function = ca.Function("jets", [*x.arguments, p], [densified(e) for e in parts.values()])
    found = Numeric(function)(*numbers(at), held)
    return Jets(
        smooth=not has_kinks(function),
        kept=tuple(kept),
        momenta=dict(zip(cyclic, held.tolist(), strict=True)),
        **dict(zip(parts, found, strict=True)),
    )


def numbers(at: Equilibrium) -> list[np.ndarray | float]:
    """t, q, v, z, w, p at an equilibrium."""
    return [0.0, at.state.q, at.state.v, at.state.z, at.w, at.system.p]


def curvature(steady: Steady, at: Equilibrium, rows: tuple[int, ...], multipliers: np.ndarray) -> np.ndarray:
    """-sum of lambda F_qq over the rows."""
    m, x = steady.mechanics, steady.mechanics.variables
    loads = ca.SX.sym("lambda", len(rows))
    kept = [m.position_rows.index(i) for i in rows]
    slope = ca.gradient(ca.dot(loads, m.c[kept]), x.q)
    function = ca.Function("curvature", [x.t, x.q, x.p, loads], [ca.densify(ca.jacobian(slope, x.q))])
    return -Numeric(function)(0.0, at.state.q, at.system.p, multipliers)[0]


def first_approximation(
    steady: Steady, at: Equilibrium, split: Split, inputs: tuple[str, ...], multiplier_terms: bool, jet: Jets
) -> Blocks:
    """The blocks at an equilibrium for one split."""
    model = at.model
    names = [model.coordinates[i].label for i in jet.kept]
    s = [jet.kept.index(i) for i in split.dependent]
    r = [i for i in range(len(names)) if i not in s]
    rows = list(split.rows)
    order = np.array(r + s)
    n = len(r)
    F = jet.J[rows][:, order]
    B0 = -np.linalg.solve(F[:, n:], F[:, :n]) if s else np.zeros((0, n))
    N = np.vstack([np.eye(n), B0])

    def sorted_(matrix: np.ndarray) -> np.ndarray:
        return matrix[np.ix_(order, order)]

    A = N.T @ sorted_(jet.a) @ N
    a1_q = sorted_(jet.a1_q)
    G = N.T @ (a1_q - a1_q.T) @ N
    D = -N.T @ sorted_(jet.Q_v) @ N
    W = sorted_(jet.W_qq)
    pushed = N.T @ sorted_(jet.Q_q)  # N' dQ/dq, columns r and s
    tilde = (jet.W_q - jet.Q)[s, 0]
    bent = np.zeros((n, len(order)))  # lambda~ dB/dq, columns r and s
    if s:
        load = np.linalg.solve(F[:, n:].T, tilde)
        bent = N.T @ sorted_(curvature(steady, at, split.rows, load)[np.ix_(jet.kept, jet.kept)])
    CB = bent @ N
    C1, C2, C3, C4 = W[:n, :n], W[:n, n:], W[n:, :n], W[n:, n:]
    P = -pushed @ N
    used = bent if multiplier_terms else np.zeros_like(bent)
    x_part = C1 + B0.T @ C3 + used[:, :n] - pushed[:, :n]
    z_part = C2 + B0.T @ C4 + used[:, n:] - pushed[:, n:]
    C = C1 + C2 @ B0 + B0.T @ C3 + B0.T @ C4 @ B0 + (CB if multiplier_terms else 0.0) + P
    columns = [[w.label for w in model.inputs].index(w) for w in inputs]
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        raise EquilibriumError(
            f"The inertia matrix of {model.name!r} in {', '.join(names[i] for i in r)} is singular here; a motion "
            "without inertia cannot be linearised. Give every body that moves freely a mass; where an angle loses its "
            "meaning (on the axis of polar coordinates), use other coordinates or another configuration."
        ) from None
    return Blocks(
        independent=tuple(names[i] for i in r),
        dependent=tuple(names[i] for i in s),
        A=A,
        G=G,
        D=D,
        C1=C1,
        C2=C2,
        C3=C3,
        C4=C4,
        CB=CB,
        P=P,
        C=C,
        B0=B0,
        a=-inverse @ x_part,
        b=-inverse @ (G + D),
        h=-inverse @ z_part,
        V=inverse @ N.T @ jet.Q_w[order][:, columns],
        Vz=inverse @ N.T @ jet.Q_z[order],
        multipliers=tilde,
        momenta=jet.momenta,
    )
