"""python-control on the same linearisation: state space, optimal gains, rank of controllability."""

import numpy as np
import pytest

import appell as ap

control = pytest.importorskip("control")


@pytest.fixture(scope="module")
def lin():
    system = ap.compile(ap.derive(ap.library.delta_robot()))
    return ap.linearize(ap.equilibrium(system, {"x": 0.15, "y": -0.1, "z": -0.95}, starts=3), dependent=["x", "y", "z"])


def test_state_space_with_names(lin):
    plant = lin.to_control(["x", "z.rate"])
    assert list(plant.state_labels) == [s.replace(".", "_") for s in lin.states]
    assert list(plant.input_labels) == ["tau1", "tau2", "tau3"]
    np.testing.assert_allclose(np.sort_complex(plant.poles()), np.sort_complex(lin.eigenvalues), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(plant.C[0, :3], lin.blocks.B0[0], rtol=1e-12, atol=1e-14)


def test_optimal_gains(lin):
    Q, R = np.diag([1e4] * 3 + [1e2] * 3), np.eye(3)
    K, S, roots = control.lqr(lin.to_control(), Q, R)
    mine = ap.control.lqr(lin, Q, R)
    np.testing.assert_allclose(mine.K, K, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(mine.S, S, rtol=1e-10, atol=1e-8)
    np.testing.assert_allclose(np.sort_complex(mine.roots), np.sort_complex(roots), rtol=1e-9, atol=1e-9)


def test_rank_of_controllability(lin):
    for inputs in (["tau1"], ["tau1", "tau2"]):
        B = lin.B[:, [lin.inputs.index(w) for w in inputs]]
        assert np.linalg.matrix_rank(control.ctrb(lin.A, B)) == ap.control.controllability(lin, inputs=inputs).rank
