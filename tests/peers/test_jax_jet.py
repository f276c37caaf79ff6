"""Taylor series against jax.experimental.jet: derivatives of poses, and the energies made of them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import appell as ap
from appell.higher_order import Dynamics

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    jax = pytest.importorskip("jax")
    jet = pytest.importorskip("jax.experimental.jet").jet


def test_energies_by_another_taylor_mode():
    chain = ap.library.rrp_arm()
    data, Q = chain.numbers(), np.random.default_rng(6).normal(size=(3, 6))

    def hat(s):
        w, v = s[:3], s[3:]
        return np.array([[0, -w[2], w[1], v[0]], [w[2], 0, -w[0], v[1]], [-w[1], w[0], 0, v[2]], [0, 0, 0, 0]])

    with jax.experimental.enable_x64() if hasattr(jax.experimental, "enable_x64") else jax.enable_x64():
        jnp = jax.numpy

        def poses(q):
            found, T = [], jnp.eye(4)
            for i in range(3):
                X = jnp.array(hat(data.screws[i]))
                turn = jnp.sin(q[i]) * X + (1 - jnp.cos(q[i])) * X @ X if data.revolute[i] else q[i] * X
                T = T @ jnp.array(data.relative[i]) @ (jnp.eye(4) + turn)
                found.append(T)
            return jnp.stack(found)

        _, rates = jet(poses, (jnp.array(Q[:, 0]),), ([jnp.array(Q[:, r]) for r in range(1, 6)],))
        rates = [np.asarray(T) for T in rates]
    arm = Dynamics(chain)
    for p, T in enumerate(rates):
        wanted = sum(np.trace(t @ I @ t.T) for t, I in zip(T, data.pseudo, strict=True)) / 2
        assert_allclose(arm.energy(Q, p), wanted, rtol=1e-12, atol=0)
