"""The matrix of Gibbs and Appell: symmetric and positive definite on every library model; kinetic energy from it."""

import numpy as np
import pytest

import appell as ap
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.typical import sample_state

LIBRARY = ap.library.names()


def states_of(model, count=4):
    mechanics, rng = Mechanics(model), np.random.default_rng(11)
    p = mechanics.sample_values(rng)
    for _ in range(count):
        q, v, z = sample_state(mechanics, rng, p, spread=0.4)
        yield ap.State(model, np.concatenate([q, v, z]))


def regular(system, state):
    """Whether the chosen dependent velocities are determined at a state; elsewhere a run takes others."""
    equations = system.equations
    if not equations.split.rows or not equations.split.dependent:
        return True
    jacobian = np.array(equations.mechanics.functions["jacobian"](state.t, state.q, state.v, state.z, system.p))
    return equations.split.growth(jacobian) < 1e3


@pytest.mark.parametrize("name", LIBRARY)
def test_symmetric_and_positive_definite(name):
    model = ap.library.model(name)
    system = ap.compile(ap.derive(model)).bind()
    if not system.equations.definite:
        pytest.skip("constraints on accelerations or thrust that depends on them: not symmetric by nature")
    if not system.equations.unknowns:
        pytest.skip("a programme that leaves nothing free has no matrix")
    tried = 0
    for state in states_of(model):
        if not regular(system, state):
            continue
        A = system.mass_matrix(state.t, system.to_x(state))
        assert np.max(np.abs(A - A.T)) < 1e-11 * np.max(np.abs(A))
        assert np.min(np.linalg.eigvalsh((A + A.T) / 2)) > 0
        tried += 1
    assert tried


@pytest.mark.parametrize("name", ["rolling-disk", "pendulum-chain", "slider-crank", "differential-drive", "snakeboard"])
def test_kinetic_energy_is_half_u_A_u(name):
    """For time-free linear constraints T = u' A u / 2, whatever route A came by."""
    model = ap.library.model(name)
    for formulation in (ap.GibbsAppell(), ap.Voronets()):
        system = ap.compile(ap.derive(model, formulation)).bind()
        for state in states_of(model):
            if not regular(system, state):
                continue
            x = system.to_x(state)
            u = x[len(model.coordinates) :]
            T = u @ system.mass_matrix(0.0, x) @ u / 2
            assert pytest.approx(system.energy(state)["kinetic"], rel=1e-11) == T


def test_quasi_velocities_make_the_disk_diagonal():
    """In the plane's axes the matrix is constant: the reason to choose them."""
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    omega = disk.frame.parent.components(disk.angular_velocity)
    system = ap.compile(
        ap.derive(model, ap.GibbsAppell(speeds=dict(zip(ap.speeds("w1 w2 w3"), omega, strict=True))))
    ).bind()
    m, r = 3.43, 0.26
    for state in states_of(model):
        A = system.mass_matrix(0.0, system.to_x(state))
        np.testing.assert_allclose(A, m * r**2 * np.diag([5 / 4, 3 / 2, 1 / 4]), rtol=0, atol=1e-14)
