r"""Acceleration energies of any order, their gradients and their expansions, on any algebra.

$E_A^{(p)} = \tfrac12\sum_i \mathrm{tr}[T_i^{(p+1)} I_{ps,i} T_i^{(p+1)T}]$, and p = 0 is kinetic energy. Three ways are
here, each a check on the others: body axes by $T^{(n)} = T W_n$, ground axes with sums over what each joint carries,
and the expansion by the partitions of p + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product as every
from math import comb, factorial, prod
from typing import Any

from appell.graph.series import Series, derivative, divided, product, sin_cos
from appell.kinematics.skeleton import Joint, Skeleton, cross, is_nothing, times, transposed_times

Vector = list[Series]


def energy_series(skeleton: Skeleton, q: Sequence[Series], p: int, length: int = 1) -> Series:
    r"""The series of $E_A^{(p)}$ in body axes: $W_1 = \hat V$, $W_{n+1} = W_n' + \hat V W_n$, (84)-(93) corrected.

    Args:
        skeleton: The tree.
        q: Series of the joint variables, with at least p + 1 + length coefficients.
        p: The order.
        length: How many coefficients of the energy.
    """
    total: Series = [0] * length
    for joint, (w, v) in zip(skeleton.joints, twists(skeleton, [x[: p + 1 + length] for x in q]), strict=True):
        # The columns of W: those of [w x], and v.
        zero: Series = [0] * len(w[0])
        columns = [[zero, w[2], _minus(w[1])], [_minus(w[2]), zero, w[0]], [w[1], _minus(w[0]), zero], v]
        for _ in range(p):
            columns = [_add([derivative(x) for x in column], _cross(w, column)) for column in columns]
        for row in zip(*columns, strict=True):
            for k in range(length):
                total[k] = total[k] + divided(_quadratic(joint.pseudo, row, k), 2)
    return total


def twists(skeleton: Skeleton, q: Sequence[Series]) -> list[tuple[Vector, Vector]]:
    """Angular velocity and velocity of the origin of every joint frame, in its own axes; one coefficient shorter."""
    found: list[tuple[Vector, Vector]] = []
    size = len(q[0]) - 1
    for joint, variable in zip(skeleton.joints, q, strict=True):
        rate = derivative(variable)
        along: Series = [joint.advance * x for x in rate] if joint.slides else [0] * size
        if joint.parent < 0:
            w: Vector = [[0] * size for _ in range(3)]
            v: Vector = [[0] * size for _ in range(3)]
        else:
            w, v = found[joint.parent]
            v = _add(v, _cross(w, [[x] + [0] * (size - 1) for x in joint.r]))
            w, v = _constant(joint, w), _constant(joint, v)
            if joint.slides:
                d = [joint.advance * x for x in variable[:size]]
                v = _add(v, [product(w[1], d), _minus(product(w[0], d)), [0] * size])
        w, v = [list(x) for x in w], [list(x) for x in v]
        v[2] = [x + y for x, y in zip(v[2], along, strict=True)]
        if joint.turns:
            s, c = sin_cos(joint.angle(variable[:size]))
            w, v = _turn(w, s, c), _turn(v, s, c)
            w[2] = [x + y for x, y in zip(w[2], rate, strict=True)]
        found.append((w, v))
    return found


class Sums:
    r"""$S^j_{a,b} = \sum_i \mathrm{tr}[T_i^{(a)} I_{ps,i} (A_{ij}^{(b)})^T]$ for every joint j at once, in O(n).

    Gradients of energies and derivatives of forces are these sums with binomial coefficients:
    $\partial E_A^{(p)}/\partial q_j^{(r)} = \binom{p+1}{r} S^j_{p+1,\,p+1-r}$ and
    $Q_j^{(k-1)} = \sum_b \binom{k-1}{b} S^j_{k+1-b,\,b}$.

    Args:
        skeleton: The tree.
        q: Derivatives q, q', q'', ... of each joint variable (not divided by factorials).
    """

    def __init__(self, skeleton: Skeleton, q: Sequence[Sequence[Any]]) -> None:
        self.skeleton = skeleton
        self._carried: dict[tuple[int, int], list[Any]] = {}
        series = [[divided(x, factorial(k)) for k, x in enumerate(row)] for row in q]
        # Nothing here depends on where the trees stand: from their feet, not from far away, no digits are lost.
        feet = [replace(joint, r=(0, 0, 0)) if joint.parent < 0 else joint for joint in skeleton.joints]
        self.poses = _poses(replace(skeleton, joints=tuple(feet)), series)

    def __call__(self, a: int, b: int) -> list[Any]:
        """S_{a,b} of every joint."""
        found: list[Any] = []
        for j, joint in enumerate(self.skeleton.joints):
            total: Any = 0
            for c in range(b + 1):
                w, v = self._screw(j, joint, c)
                N = self._sum(a, b - c)[j]
                term = v[0] * N[0][3] + v[1] * N[1][3] + v[2] * N[2][3]
                if joint.turns:
                    term = term + w[0] * (N[2][1] - N[1][2]) + w[1] * (N[0][2] - N[2][0]) + w[2] * (N[1][0] - N[0][1])
                total = total + comb(b, c) * term
            found.append(total)
        return found

    def gradient(self, p: int, r: int) -> list[Any]:
        """dE_A^(p)/dq^(r)."""
        return [comb(p + 1, r) * x for x in self(p + 1, p + 1 - r)]

    def force(self, k: int) -> list[Any]:
        """Q^(k-1), the derivative of order k - 1 of the generalized forces of inertia."""
        total: list[Any] = [0] * len(self.skeleton.joints)
        for b in range(k):
            total = [x + comb(k - 1, b) * y for x, y in zip(total, self(k + 1 - b, b), strict=True)]
        return total

    def _pose(self, i: int, order: int) -> list[list[Any]]:
        """T^(order), its three upper rows."""
        return [[factorial(order) * entry[order] for entry in row] for row in self.poses[i]]

    def _screw(self, j: int, joint: Joint, order: int) -> tuple[list[Any], list[Any]]:
        """Derivative of the screw of a joint in ground axes: direction, and velocity of the point at the origin."""
        k = [factorial(order) * row[2][order] for row in self.poses[j]]
        if not joint.turns:
            return k, [joint.advance * x for x in k]
        v: list[Any] = [0, 0, 0]
        for i in range(order + 1):
            o, e = ([row[m][n] for row in self.poses[j]] for m, n in ((3, i), (2, order - i)))
            v = [x + factorial(order) * y for x, y in zip(v, cross(o, e), strict=True)]
        if joint.slides:
            v = [x + joint.advance * y for x, y in zip(v, k, strict=True)]
        return k, v

    def _sum(self, a: int, d: int) -> list[Any]:
        """N_j = sum of T_i^(a) I_ps T_i^(d)' over what joint j carries."""
        if (a, d) not in self._carried:
            joints = self.skeleton.joints
            N: list[Any] = []
            for i, joint in enumerate(joints):
                left, right = self._pose(i, a), self._pose(i, d)
                weighted = [
                    [sum((x * y for x, y in zip(row, column, strict=True)), 0) for column in joint.pseudo]
                    for row in left
                ]
                last = [row[3] if d == 0 else 0 for row in weighted]
                N.append(
                    [
                        [*(sum((x * y for x, y in zip(row, other, strict=True)), 0) for other in right), end]
                        for row, end in zip(weighted, last, strict=True)
                    ]
                )
            for i in reversed(range(len(joints))):
                parent = joints[i].parent
                if parent >= 0:
                    N[parent] = [
                        [x + y for x, y in zip(*rows, strict=True)] for rows in zip(N[parent], N[i], strict=True)
                    ]
            self._carried[a, d] = N
        return self._carried[a, d]


def _poses(skeleton: Skeleton, q: Sequence[Series]) -> list[list[list[Series]]]:
    """The upper three rows of T_i as series, joint frames in ground axes."""
    found: list[list[list[Series]]] = []
    for joint, variable in zip(skeleton.joints, q, strict=True):
        size = len(variable)
        zero: Series = [0] * size
        if joint.parent < 0:
            frame = [[[joint.E[i][j], *zero[1:]] for j in range(3)] + [[joint.r[i], *zero[1:]]] for i in range(3)]
        else:
            frame = []
            for row in found[joint.parent]:
                axes, place = row[:3], row[3]
                mixed = [_combination(axes, [joint.E[m][j] for m in range(3)], zero) for j in range(3)]
                frame.append([*mixed, [x + y for x, y in zip(place, _combination(axes, joint.r, zero), strict=True)]])
        if joint.slides:
            d = [joint.advance * x for x in variable]
            frame = [[x, y, z, [a + b for a, b in zip(o, product(z, d), strict=True)]] for x, y, z, o in frame]
        if joint.turns:
            s, c = sin_cos(joint.angle(variable))
            frame = [
                [*(_sum(product(x, c), product(y, s)), _sum(product(y, c), _minus(product(x, s)))), z, o]
                for x, y, z, o in frame
            ]
        found.append(frame)
    return found


# The expansion by partitions.


def partitions(n: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """All partitions of n, largest parts first: (3,), (2, 1), (1, 1, 1).

    Args:
        n: The number.
        largest: The largest part allowed; n if left out.
    """
    if n == 0:
        return [()]
    top = n if largest is None else min(n, largest)
    return [(first, *rest) for first in range(top, 0, -1) for rest in partitions(n - first, first)]


def weight(parts: tuple[int, ...]) -> int:
    """c_lambda = n!/(prod lambda_i! prod mult!), how often a partition stands in T^(n) (Faa di Bruno)."""
    repeated = prod(factorial(parts.count(k)) for k in set(parts))
    return factorial(sum(parts)) // (prod(factorial(k) for k in parts) * repeated)


def pairing(skeleton: Skeleton, q: Sequence[Any], left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> Any:
    r"""$\sum_i \mathrm{tr}[D^sT_i(a_1..a_s)\, I_{ps,i}\, D^rT_i(b_1..b_r)^T]$, the form behind M, V and D, (85)-(87).

    Args:
        skeleton: The tree.
        q: Joint variables.
        left: Directions a_1 ... a_s.
        right: Directions b_1 ... b_r.
    """
    return paired(skeleton, directional(skeleton, q, left), directional(skeleton, q, right))


def paired(skeleton: Skeleton, first: list[list[list[Any]]], second: list[list[list[Any]]]) -> Any:
    """The sum of tr[A_i I_ps,i B_i'] over the bodies for what `directional` gave.

    Args:
        skeleton: The tree.
        first: A_i.
        second: B_i.
    """
    total: Any = 0
    for joint, a, b in zip(skeleton.joints, first, second, strict=True):
        for x, y in zip(a, b, strict=True):
            total = total + sum((u * v for u, v in zip(times(joint.pseudo, y), x, strict=True)), 0)
    return total


def directional(skeleton: Skeleton, q: Sequence[Any], directions: Sequence[Sequence[Any]]) -> list[list[list[Any]]]:
    """T^-1 D^sT(a_1..a_s) of every body, its three upper rows; equal directions are taken together.

    Args:
        skeleton: The tree.
        q: Joint variables.
        directions: a_1 ... a_s; those that are the same object count as equal.
    """
    distinct: list[Sequence[Any]] = []
    counts: list[int] = []
    for direction in directions:
        same = [i for i, known in enumerate(distinct) if known is direction]
        if same:
            counts[same[0]] += 1
        else:
            distinct.append(direction)
            counts.append(1)
    steps = list(every(*(range(count + 1) for count in counts)))
    found: list[dict[tuple[int, ...], list[list[Any]]]] = []
    for i, joint in enumerate(skeleton.joints):
        before: dict[tuple[int, ...], list[list[Any]]] = {}
        if joint.parent >= 0:
            (s,), (c,) = sin_cos(joint.angle([q[i]])) if joint.turns else ([0], [1])
            before = {step: _conjugate(joint, s, c, q[i], W) for step, W in found[joint.parent].items() if any(step)}
        here: dict[tuple[int, ...], list[list[Any]]] = {}
        for step in steps:
            total = [[0] * 4 for _ in range(3)]
            for own in every(*(range(m + 1) for m in step)):
                rest = tuple(m - k for m, k in zip(step, own, strict=True))
                if any(rest) and rest not in before:
                    continue
                factor: Any = prod(comb(m, k) for m, k in zip(step, own, strict=True))
                for direction, k in zip(distinct, own, strict=True):
                    factor = factor * prod([direction[i]] * k)
                W = before[rest] if any(rest) else None
                moved = _generated(joint, W, sum(own))
                total = [
                    [x + factor * y for x, y in zip(*rows, strict=True)] for rows in zip(total, moved, strict=True)
                ]
            here[step] = total
        found.append(here)
    return [here[tuple(counts)] for here in found]


def _conjugate(joint: Joint, s: Any, c: Any, q: Any, W: list[list[Any]]) -> list[list[Any]]:
    """X^-1 W X with X the pose of the joint in its parent: [R'AR, R'(A r + b)] for W = [A, b]."""
    r = list(joint.r)
    if joint.slides:
        r = [x + row[2] * joint.advance * q for x, row in zip(r, joint.E, strict=True)]

    def inward(v: Sequence[Any]) -> list[Any]:
        x, y, z = transposed_times(joint.E, v)
        return [c * x + s * y, c * y - s * x, z] if joint.turns else [x, y, z]

    rows = [inward(row[:3]) for row in W]  # A R
    A = list(zip(*(inward(column) for column in zip(*rows, strict=True)), strict=True))
    b = inward([x + row[3] for x, row in zip(times([row[:3] for row in W], r), W, strict=True)])
    return [[*row, end] for row, end in zip(A, b, strict=True)]


def _generated(joint: Joint, W: list[list[Any]] | None, k: int) -> list[list[Any]]:
    """W U^k with U the generator of the joint in its own axes; W = None stands for the unit matrix."""
    if W is None:
        W = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]
        if k == 0:
            return [[0] * 4 for _ in range(3)]
    if k == 0:
        return W
    if not joint.turns:
        return [[0, 0, 0, joint.advance * row[2] if k == 1 else 0] for row in W]
    end = [joint.advance * row[2] if k == 1 and joint.slides else 0 for row in W]
    sign = (1, 1, -1, -1)[k % 4]
    if k % 2:  # columns (y, -x, 0) and their signs
        return [[sign * row[1], -(sign * row[0]), 0, e] for row, e in zip(W, end, strict=True)]
    return [[sign * row[0], sign * row[1], 0, e] for row, e in zip(W, end, strict=True)]


# Vectors of series.


def _minus(x: Series) -> Series:
    return [-c for c in x]


def _sum(x: Series, y: Series) -> Series:
    return [a + b for a, b in zip(x, y, strict=True)]


def _add(a: Vector, b: Vector) -> Vector:
    return [[x + y for x, y in zip(u, v, strict=False)] for u, v in zip(a, b, strict=True)]


def _cross(a: Vector, b: Vector) -> Vector:
    def minus(x: Series, y: Series) -> Series:
        return [u - v for u, v in zip(x, y, strict=True)]

    return [
        minus(product(a[1], b[2]), product(a[2], b[1])),
        minus(product(a[2], b[0]), product(a[0], b[2])),
        minus(product(a[0], b[1]), product(a[1], b[0])),
    ]


def _constant(joint: Joint, vector: Vector) -> Vector:
    """A vector of the parent in the home axes of the joint."""
    columns = [transposed_times(joint.E, [x[k] for x in vector]) for k in range(len(vector[0]))]
    return [list(x) for x in zip(*columns, strict=True)]


def _turn(vector: Vector, s: Series, c: Series) -> Vector:
    x, y, z = vector
    return [_sum(product(c, x), product(s, y)), _sum(product(c, y), _minus(product(s, x))), z]


def _combination(axes: Sequence[Series], weights: Sequence[Any], zero: Series) -> Series:
    total = zero
    for axis, factor in zip(axes, weights, strict=True):
        if not is_nothing(factor):
            total = [x + factor * y for x, y in zip(total, axis, strict=True)]
    return total


def _quadratic(pseudo: Sequence[Sequence[Any]], row: Sequence[Series], k: int) -> Any:
    """Coefficient k of w I w' for a row w of series."""
    total: Any = 0
    for i in range(k + 1):
        weighted = times(pseudo, [x[k - i] for x in row])
        total = total + sum((x[i] * y for x, y in zip(row, weighted, strict=True)), 0)
    return total
