"""Equations written for Python run in JAX: differentiated, mapped and compiled there."""

import numpy as np
import pytest

import appell as ap

jax = pytest.importorskip("jax")


@pytest.mark.parametrize("name", ["rolling-disk", "four-bar", "draining-rover"])
def test_jax_differentiates_what_was_written(name, tmp_path):
    system = ap.compile(ap.derive(ap.library.model(name))).bind()
    text = system.to_python(tmp_path / "model.py").read_text().replace("from numpy", "from jax.numpy")
    code = {}
    exec(text, code)
    with jax.enable_x64(True):
        x = np.random.default_rng(0).uniform(0.3, 1.2, len(system.equations.states))
        w = np.ones(len(system.equations.inputs))
        slopes = np.array(jax.jit(jax.jacfwd(code["rhs"], argnums=1))(0.4, x, w))
        np.testing.assert_allclose(slopes, code["jacobian"](0.4, x, w), rtol=1e-9, atol=1e-9 * np.abs(slopes).max())
        many = jax.vmap(code["rhs"], (None, 0, None))(0.4, np.stack([x, 1.1 * x]), w)
        np.testing.assert_allclose(many[1], code["rhs"](0.4, 1.1 * x, w), rtol=1e-12)
