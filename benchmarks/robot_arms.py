"""The same arm for each side: appell's chain, Pinocchio's model, JAX's Taylor mode through products of exponentials."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np

import appell as ap
from benchmarks.models import mujoco_forward


def arm(joints: int, planar: bool = False, seed: int = 7) -> ap.Chain:
    """An arm with arbitrary axes, mass centres and full inertia tensors; or one whose axes are parallel."""
    rng = np.random.default_rng(seed)
    listed, place = [], np.zeros(3)
    for _ in range(joints):
        axis = np.array([0.0, 0.0, 1.0]) if planar else rng.normal(size=3)
        root = rng.normal(size=(3, 3)) * 0.1
        second = root @ root.T
        inertia = (np.trace(second) * np.eye(3) - second).tolist()
        listed.append(
            ap.Joint(
                (axis / np.linalg.norm(axis)).tolist(),
                at=place.tolist(),
                mass=float(rng.uniform(0.5, 3)),
                center=(0.2, 0.0, 0.0) if planar else (rng.normal(size=3) * 0.1).tolist(),
                inertia=(0.01, 0.02, 0.02) if planar else inertia,
            )
        )
        place = place + (np.array([0.4, 0, 0]) if planar else rng.normal(size=3) * 0.3)
    return ap.Chain(listed, gravity=(0, -9.81, 0), name=f"{joints}-axis arm")


class Pinocchio:
    """The arm in Pinocchio.

    Args:
        chain: An arm whose joints all turn.
    """

    def __init__(self, chain: ap.Chain) -> None:
        import pinocchio as pin

        self.pin, self.model = pin, pin.Model()
        data, seats, last = chain.numbers(), [np.eye(4)], 0
        self.model.gravity.linear = data.gravity
        for i in range(data.n):
            w, v = data.screws[i][:3], data.screws[i][3:]
            seat = np.eye(4)
            seat[:3, 3] = np.cross(w, v)
            place = pin.SE3(np.linalg.inv(seats[-1]) @ data.relative[i] @ seat)
            last = self.model.addJoint(last, pin.JointModelRevoluteUnaligned(w), place, f"j{i}")
            I = np.linalg.inv(seat) @ data.pseudo[i] @ np.linalg.inv(seat).T
            c = I[:3, 3] / I[3, 3]
            central = I[:3, :3] - I[3, 3] * np.outer(c, c)
            body = pin.Inertia(I[3, 3], c, np.trace(central) * np.eye(3) - central)
            self.model.appendBodyToJoint(last, body, pin.SE3.Identity())
            seats.append(seat)
        self.data = self.model.createData()
        self.still = np.zeros(self.model.nv)

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """tau for states in the rows, one call each."""
        rnea, model, data = self.pin.rnea, self.model, self.data
        return np.array([rnea(model, data, *row) for row in zip(q, v, a, strict=True)])

    def forward(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """q'' for states in the rows, one call each."""
        aba, model, data = self.pin.aba, self.model, self.data
        return np.array([aba(model, data, *row) for row in zip(q, v, tau, strict=True)])

    def accelerations(self, states: np.ndarray) -> np.ndarray:
        """q'' without drives for states (q, q') in the columns, one call each."""
        aba, model, data, n = self.pin.aba, self.model, self.data, self.model.nv
        columns, still = np.ascontiguousarray(states.T), np.zeros(n)
        result = np.empty((columns.shape[0], n))
        for k, x in enumerate(columns):
            result[k] = aba(model, data, x[:n], x[n:], still)
        return result.T

    def rhs(self, t: float, x: np.ndarray) -> np.ndarray:
        """x' of one state without drives."""
        n = self.model.nv
        return np.concatenate([x[n:], self.pin.aba(self.model, self.data, x[:n], x[n:], self.still)])


def mujoco_accelerations(chain: ap.Chain) -> Callable[[np.ndarray], np.ndarray]:
    """q'' of all columns (q, q') of an arm whose joints all turn by mj_forward, one call each, without contacts."""
    import mujoco

    def text(numbers: Any) -> str:
        return " ".join(repr(float(e)) for e in numbers)

    data, bodies = chain.numbers(), []
    for i in range(data.n):
        w, v = data.screws[i][:3], data.screws[i][3:]
        I, R, quat = data.pseudo[i], data.relative[i][:3, :3], np.empty(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R).ravel())
        c = I[:3, 3] / I[3, 3]
        central = I[:3, :3] - I[3, 3] * np.outer(c, c)
        J = np.trace(central) * np.eye(3) - central
        full = text((J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]))
        bodies.append(
            f'<body pos="{text(data.relative[i][:3, 3])}" quat="{text(quat)}">'
            f'<joint type="hinge" axis="{text(w)}" pos="{text(np.cross(w, v))}"/>'
            f'<inertial pos="{text(c)}" mass="{float(I[3, 3])!r}" fullinertia="{full}"/>'
        )
    return mujoco_forward(
        text(data.gravity), "".join(bodies) + "</body>" * data.n, '<compiler balanceinertia="false"/>'
    )


def jax_forces(chain: ap.Chain, order: int) -> Callable[[Any], Any]:
    """tau ... tau^(order) of one state Q by jax.experimental.jet, compiled: T_i(q(t)) and what follows from it."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from jax.experimental.jet import jet

    data, n = chain.numbers(), len(chain.links)

    def hat(s: np.ndarray) -> np.ndarray:
        w, v = s[:3], s[3:]
        return np.array([[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]])

    X = jnp.array([hat(s) for s in data.screws])
    X2, I, M = X @ X, jnp.array(data.pseudo), jnp.array(data.relative)

    def poses(q: Any) -> Any:
        found, T = [], jnp.eye(4)
        for i in range(n):
            T = T @ M[i] @ (jnp.eye(4) + jnp.sin(q[i]) * X[i] + (1 - jnp.cos(q[i])) * X2[i])
            found.append(T)
        return jnp.stack(found)

    weight = jnp.zeros((4, 4)).at[:3, 3].set(-jnp.array(data.gravity))

    def screws(T: Any) -> Any:
        R, p = T[:, :3, :3], T[:, :3, 3]
        inverse = jnp.concatenate([jnp.swapaxes(R, 1, 2), -jnp.einsum("nji,nj->ni", R, p)[:, :, None]], 2)
        inverse = jnp.concatenate([inverse, jnp.broadcast_to(jnp.array([[[0, 0, 0, 1.0]]]), (n, 1, 4))], 1)
        return T @ X @ inverse

    def forces(Q: Any) -> Any:
        q, rates = Q[:, 0], [Q[:, r] for r in range(1, order + 3)]
        T, higher = jet(poses, (q,), (rates,))
        T = [T, *higher]
        S, more = jet(lambda x: screws(poses(x)), (q,), (rates,))
        S = [S, *more]
        below = jnp.tril(jnp.ones((n, n)))  # joint j carries the links from j on

        def total(a: int, b: int) -> Any:
            left = T[a] + (weight if a == 2 else 0)
            value = 0
            for c in range(b + 1):
                N = jnp.einsum("nij,njk,nlk->nil", left, I, T[b - c])
                value = value + comb(b, c) * jnp.einsum("jil,nil,nj->j", S[c], N, below)
            return value

        return jnp.stack([sum(comb(k, b) * total(k + 2 - b, b) for b in range(k + 1)) for k in range(order + 1)], 1)

    return jax.jit(forces)
