"""Steady motions with cyclic coordinates in redundant coordinates: closed formulas of Routh's theory."""

import numpy as np
import pytest

import appell as ap


@pytest.mark.parametrize("turn", [4.9522722057657536, 7.0])
def test_the_conical_pendulum_swings_as_routh_says(turn):
    """n^2 = Omega^2 (1 + 3 cos^2 alpha) with cos alpha = g/(l Omega^2) (Routh 1877)."""
    system = ap.compile(ap.derive(ap.library.conical_pendulum())).bind()
    g, l = system.values["g"], system.values["l"]
    cosine = g / (l * turn**2)
    motion = next(e for e in ap.equilibrium(system, {"psi.rate": turn}).branches if abs(e["rho"]) > 1e-3)
    assert motion["z"] == pytest.approx(-l * cosine, rel=1e-10)
    frequency = turn * np.sqrt(1 + 3 * cosine**2)
    for dependent in (["z"], ["rho"]):
        lin = ap.linearize(motion, dependent=dependent)
        assert lin.dropped == ("psi",)
        assert np.max(np.abs(lin.eigenvalues.imag)) == pytest.approx(frequency, rel=1e-9)
        blocks = lin.blocks
        assert np.sqrt(blocks.C[0, 0] / blocks.A[0, 0]) == pytest.approx(frequency, rel=1e-9)
        momentum = system.values["m"] * motion["rho"] ** 2 * turn
        assert blocks.momenta["psi"] == pytest.approx(momentum, rel=1e-12)
        proof = ap.stability(lin)
        assert proof.verdict.name == "LYAPUNOV"
        assert proof.momentum_zeros == ("psi",)
        assert proof.zeros == proof.zeros_found == 2


def test_the_watt_governor_has_one_root_for_its_constraint_and_one_for_its_momentum():
    rest = ap.equilibrium(ap.library.watt_governor(), {"psi.rate": 8.901712855911805})
    for dependent in (["s"], ["alpha"]):
        proof = ap.stability(ap.linearize(rest, dependent=dependent))
        assert proof.verdict.name == "FAMILY"
        assert (proof.constraint_zeros, proof.momentum_zeros, proof.zeros_found) == (1, ("psi",), 2)
        np.testing.assert_allclose(proof.roots.real, -0.241747, rtol=1e-5, atol=0)
        assert all(condition.holds for condition in proof.conditions)


def test_a_torque_on_the_shaft_controls_the_momentum():
    rest = ap.equilibrium(ap.library.watt_governor(), {"psi.rate": 8.9})
    feedback = ap.control.lqr(ap.linearize(rest, dependent=["s"]), 1.0, 1.0)
    proof = feedback.certificate
    assert proof.verdict.name == "ON_CONSTRAINTS"
    assert (proof.momentum_zeros, proof.zeros_found) == ((), 1)
    motion = ap.simulate(feedback.system, feedback.start({"alpha": 0.02, "psi.rate": 0.1}), until=30.0)
    assert motion.columns["psi.rate"][-1] == pytest.approx(8.9, abs=1e-4)


def test_momenta_that_no_input_reaches_are_left_out_of_the_design():
    """A bob on a turning rod with a force along the rod's plane only: the momentum of the turn stays."""
    model = ap.library.conical_pendulum()
    rho = next(q for q in model.coordinates if q.name == "rho")
    pushed = model.add(ap.Generalized({rho: ap.inputs("f")}))
    rest = next(e for e in ap.equilibrium(pushed, {"psi.rate": 6.0, "f": 0.0}, inputs=[]).branches if e["rho"] > 0.01)
    feedback = ap.control.lqr(ap.linearize(rest, dependent=["z"]), 1.0, 1.0)
    proof = feedback.certificate
    assert proof.verdict.name == "FAMILY"
    assert proof.momentum_zeros == ("psi",)
    assert proof.margin > 0.1
