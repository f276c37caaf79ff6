"""Newton and Euler's recursion in body axes, over Taylor series: tau, tau', tau'', ... in O(n K^2).

Forward through the tree go angular velocity, angular acceleration and the acceleration of the origin; back come force
and moment. All are series in time over any algebra, and they grow order by order: coefficient k of everything from the
lower ones, so that forward dynamics of higher order can put in each derivative of q when it becomes known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from appell.graph.series import Series, divided, product_at, sin_cos_at
from appell.kinematics.skeleton import Joint, Skeleton, cross, times, transposed_times


@dataclass
class _Moving:
    """The series of one joint: sine, cosine and displacement; motion of its frame; what it transmits."""

    s: Series = field(default_factory=list)
    c: Series = field(default_factory=list)
    d: Series = field(default_factory=list)
    w: list[Series] = field(default_factory=lambda: [[], [], []])
    dw: list[Series] = field(default_factory=lambda: [[], [], []])
    a: list[Series] = field(default_factory=lambda: [[], [], []])
    B: list[list[Series]] = field(default_factory=lambda: [[[], [], []] for _ in range(3)])
    f: list[Series] = field(default_factory=lambda: [[], [], []])
    n: list[Series] = field(default_factory=lambda: [[], [], []])
    carried: list[Series] = field(default_factory=lambda: [[], [], []])  # f in the axes of the parent
    a_home: list[Series] = field(default_factory=lambda: [[], [], []])  # what arrives, in the home axes of the joint
    dw_home: list[Series] = field(default_factory=lambda: [[], [], []])


def _set(series: Series, k: int, value: Any) -> None:
    if k < len(series):
        series[k] = value
    else:
        series.append(value)


def _put(vector: Sequence[Series], k: int, values: Sequence[Any]) -> None:
    for series, value in zip(vector, values, strict=True):
        _set(series, k, value)


def _at(vector: Sequence[Series], k: int) -> list[Any]:
    return [series[k] for series in vector]


def _plus(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _square_at(a: Series, k: int) -> Any:
    """(a a)_k, each pair once."""
    pairs = sum((a[i] * a[k - i] for i in range((k + 1) // 2)), 0)
    whole = 2 * pairs if k else pairs
    return whole + a[k // 2] * a[k // 2] if k % 2 == 0 else whole


class NewtonEuler:
    """The recursion along one motion.

    Args:
        skeleton: The tree.
        inertia: Whether masses resist acceleration; without it the motion is a sequence of states at rest.
        gravity: Whether weight acts.
        payload: Force and moment that the tool exerts on its surroundings, in the tool's axes: six series, or None.
    """

    def __init__(
        self, skeleton: Skeleton, inertia: bool = True, gravity: bool = True, payload: Sequence[Series] | None = None
    ) -> None:
        self.skeleton, self.inertia, self.gravity, self.payload = skeleton, inertia, gravity, payload
        self.moving = [_Moving() for _ in skeleton.joints]

    def extend(self, q: Sequence[Series], k: int) -> list[Any]:
        """Coefficient k of every series; returns that of tau.

        Args:
            q: Series of the joint variables, known up to k + 2.
            k: The coefficient; all lower ones must have been made. A second call makes it anew.
        """
        for joint, moving, variable in zip(self.skeleton.joints, self.moving, q, strict=True):
            self._turn(joint, moving, variable, k)
            self._move(joint, moving, variable, k)
        own = [self._resist(joint, moving, k) for joint, moving in zip(self.skeleton.joints, self.moving, strict=True)]
        if self.payload is not None:
            self._load(own, k)
        tau: list[Any] = [0] * len(own)
        for i in reversed(range(len(own))):
            joint, moving = self.skeleton.joints[i], self.moving[i]
            f, n = own[i]
            _put(moving.f, k, f)
            _put(moving.n, k, n)
            tau[i] = n[2] if joint.turns else 0
            if joint.slides:
                tau[i] = tau[i] + joint.advance * f[2]
            if joint.parent >= 0:
                force, moment = self._pass_on(joint, moving, k)
                f, n = own[joint.parent]
                own[joint.parent] = [_plus(f, force), _plus(n, moment)]
        return tau

    def _turn(self, joint: Joint, moving: _Moving, variable: Series, k: int) -> None:
        if joint.turns:
            s, c = sin_cos_at(joint.angle(variable), moving.s, moving.c, k)
            _set(moving.s, k, s)
            _set(moving.c, k, c)
        if joint.slides:
            _set(moving.d, k, joint.advance * variable[k])

    def _into(self, joint: Joint, moving: _Moving, vector: Sequence[Series], k: int) -> list[Any]:
        """Coefficient k of a vector given in the home axes of the joint, in its own axes."""
        x, y, z = vector
        if not joint.turns:
            return _at(vector, k)
        s, c = moving.s, moving.c
        return [product_at(c, x, k) + product_at(s, y, k), product_at(c, y, k) - product_at(s, x, k), z[k]]

    def _out_of(self, joint: Joint, moving: _Moving, vector: Sequence[Series], k: int) -> list[Any]:
        """Coefficient k of a vector given in the joint's own axes, in those of its parent."""
        x, y, z = vector
        if not joint.turns:
            return times(joint.E, _at(vector, k))
        s, c = moving.s, moving.c
        home = [product_at(c, x, k) - product_at(s, y, k), product_at(s, x, k) + product_at(c, y, k), z[k]]
        return times(joint.E, home)

    def _move(self, joint: Joint, moving: _Moving, variable: Series, k: int) -> None:
        """The acceleration of the joint's origin, and with inertia its angular motion."""
        parent = self.moving[joint.parent] if joint.parent >= 0 else None
        if parent is None:
            a = [-g if self.gravity and k == 0 else 0 for g in self.skeleton.gravity]
        else:
            a = _at(parent.a, k)
            if self.inertia:
                a = _plus(a, times([_at(row, k) for row in parent.B], joint.r))
        if self.inertia:
            a = self._slide(joint, moving, variable, parent, a, k)
            self._spin(joint, moving, variable, parent, k)
        _put(moving.a_home, k, transposed_times(joint.E, a))
        _put(moving.a, k, self._into(joint, moving, moving.a_home, k))

    def _slide(
        self, joint: Joint, moving: _Moving, variable: Series, parent: _Moving | None, a: list[Any], k: int
    ) -> list[Any]:
        """Displacement along the axis e: B e d + 2 w x e d' + e d''."""
        if not joint.slides:
            return a
        e = [row[2] for row in joint.E]
        top = joint.advance * (k + 1) * (k + 2) * variable[k + 2]
        a = [x + y * top for x, y in zip(a, e, strict=True)]
        if parent is None:
            return a
        rate = [joint.advance * (i + 1) * variable[i + 1] for i in range(k + 1)]
        for i in range(k + 1):
            B = [_at(row, k - i) for row in parent.B]
            swing = cross(_at(parent.w, k - i), e)
            a = [x + u * moving.d[i] + 2 * v * rate[i] for x, u, v in zip(a, times(B, e), swing, strict=True)]
        return a

    def _spin(self, joint: Joint, moving: _Moving, variable: Series, parent: _Moving | None, k: int) -> None:
        """w = R'w + z q', w' = R'w' + (R'w) x z q' + z q'', and B = [w' x] + [w x][w x]."""
        arriving = [0, 0, 0] if parent is None else transposed_times(joint.E, _at(parent.dw, k))
        _put(moving.dw_home, k, arriving)
        if k == 0:
            home = [[x] for x in ([0, 0, 0] if parent is None else transposed_times(joint.E, _at(parent.w, 0)))]
            _put(moving.w, 0, self._into(joint, moving, home, 0))
            if joint.turns:
                moving.w[2][0] = moving.w[2][0] + variable[1]
        else:
            _put(moving.w, k, [divided(x[k - 1], k) for x in moving.dw])
        angular = self._into(joint, moving, moving.dw_home, k)
        if joint.turns:
            rate = [(i + 1) * variable[i + 1] for i in range(k + 1)]
            # The first two components of R'w are those of w itself: z q' has none.
            angular = [
                angular[0] + product_at(moving.w[1], rate, k),
                angular[1] - product_at(moving.w[0], rate, k),
                angular[2] + (k + 1) * (k + 2) * variable[k + 2],
            ]
        _put(moving.dw, k, angular)
        x, y, z = moving.w
        xx, yy, zz = _square_at(x, k), _square_at(y, k), _square_at(z, k)
        xy, xz, yz = product_at(x, y, k), product_at(x, z, k), product_at(y, z, k)
        p, q, r = angular
        B = ((-(yy + zz), xy - r, xz + q), (xy + r, -(xx + zz), yz - p), (xz - q, yz + p, -(xx + yy)))
        for row, values in zip(moving.B, B, strict=True):
            _put(row, k, values)

    def _resist(self, joint: Joint, moving: _Moving, k: int) -> list[list[Any]]:
        """F = m a + B h, N = h x a + the antisymmetric part of B I_p, about the joint's origin."""
        a = _at(moving.a, k)
        force = [joint.mass * x for x in a]
        moment = cross(joint.h, a)
        if self.inertia:
            B = [_at(row, k) for row in moving.B]
            force = _plus(force, times(B, joint.h))
            J = joint.planar

            def entry(row: int, column: int) -> Any:
                return B[row][0] * J[0][column] + B[row][1] * J[1][column] + B[row][2] * J[2][column]

            turned = [entry(2, 1) - entry(1, 2), entry(0, 2) - entry(2, 0), entry(1, 0) - entry(0, 1)]
            moment = _plus(moment, turned)
        return [force, moment]

    def _load(self, own: list[list[list[Any]]], k: int) -> None:
        """The tool must push against its surroundings."""
        assert self.payload is not None
        at, R, place = self.skeleton.tool
        force = times(R, [series[k] for series in self.payload[:3]])
        moment = times(R, [series[k] for series in self.payload[3:]])
        f, n = own[at]
        own[at] = [_plus(f, force), _plus(n, _plus(moment, cross(place, force)))]

    def _pass_on(self, joint: Joint, moving: _Moving, k: int) -> tuple[list[Any], list[Any]]:
        """Force and moment in the axes of the parent and about its origin."""
        force = self._out_of(joint, moving, moving.f, k)
        _put(moving.carried, k, force)
        moment = _plus(self._out_of(joint, moving, moving.n, k), cross(joint.r, force))
        if joint.slides:
            e = [row[2] for row in joint.E]
            for i in range(k + 1):
                arm = cross(e, _at(moving.carried, k - i))
                moment = [x + y * moving.d[i] for x, y in zip(moment, arm, strict=True)]
        return force, moment


def inverse(
    skeleton: Skeleton,
    q: Sequence[Series],
    inertia: bool = True,
    gravity: bool = True,
    payload: Sequence[Series] | None = None,
) -> list[Series]:
    """The series of tau, two coefficients shorter than those of q; further arguments as for `NewtonEuler`."""
    recursion = NewtonEuler(skeleton, inertia, gravity, payload)
    found = [recursion.extend(q, k) for k in range(len(q[0]) - 2)]
    return [list(series) for series in zip(*found, strict=True)]


def mass_matrix(skeleton: Skeleton, q: Sequence[Any]) -> list[list[Any]]:
    """M(q) by composite bodies: what a joint carries is one rigid body, its unit acceleration is felt down the tree.

    Args:
        skeleton: The tree.
        q: Joint variables, one number (letter, formula) each.
    """
    joints = skeleton.joints
    count = len(joints)
    resting = NewtonEuler(skeleton, inertia=False, gravity=False)
    resting.extend([[x, 0, 0] for x in q], 0)
    composite = [[joint.mass, list(joint.h), [list(row) for row in joint.planar]] for joint in joints]
    M: list[list[Any]] = [[0] * count for _ in range(count)]
    for i in reversed(range(count)):
        joint = joints[i]
        mass, h, J = composite[i]
        force, moment = [0, 0, 0], [0, 0, 0]
        if joint.turns:
            force, moment = [-h[1], h[0], 0], [-J[0][2], -J[1][2], J[0][0] + J[1][1]]
        if joint.slides:
            force = _plus(force, [0, 0, joint.advance * mass])
            moment = _plus(moment, [joint.advance * h[1], -(joint.advance * h[0]), 0])
        at = i
        while at >= 0:
            there = joints[at]
            felt = moment[2] if there.turns else 0
            if there.slides:
                felt = felt + there.advance * force[2]
            M[i][at] = M[at][i] = felt
            _put(resting.moving[at].f, 0, force)
            _put(resting.moving[at].n, 0, moment)
            if there.parent >= 0:
                force, moment = resting._pass_on(there, resting.moving[at], 0)
            at = there.parent
        if joint.parent >= 0:
            composite[joint.parent] = _joined(composite[joint.parent], _placed(joint, resting.moving[i], composite[i]))
    return M


def _placed(joint: Joint, moving: _Moving, body: list[Any]) -> list[Any]:
    """m, m c and I_p of a body in the frame of the joint's parent."""
    mass, h, J = body
    s, c = (moving.s[0], moving.c[0]) if joint.turns else (0, 1)

    def turned(v: Sequence[Any]) -> list[Any]:
        home = [c * v[0] - s * v[1], s * v[0] + c * v[1], v[2]] if joint.turns else list(v)
        return times(joint.E, home)

    columns = [turned(row) for row in J]  # R J, as J is symmetric
    JR = [turned(row) for row in zip(*columns, strict=True)]
    r = list(joint.r)
    if joint.slides:
        r = _plus(r, [row[2] * moving.d[0] for row in joint.E])
    Rh = turned(h)
    planar = [[JR[i][j] + Rh[i] * r[j] + r[i] * (Rh[j] + mass * r[j]) for j in range(3)] for i in range(3)]
    return [mass, [x + mass * y for x, y in zip(Rh, r, strict=True)], planar]


def _joined(a: list[Any], b: list[Any]) -> list[Any]:
    return [a[0] + b[0], _plus(a[1], b[1]), [_plus(x, y) for x, y in zip(a[2], b[2], strict=True)]]
