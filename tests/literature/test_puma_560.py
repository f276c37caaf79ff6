"""The Puma 560: gravity constants printed by Armstrong, Khatib and Burdick 1986, table A (three digits)."""

import numpy as np

import appell as ap

PRINTED = [-37.2, -8.44, 1.02, 0.249, -0.0282]
"""g1 ... g5 of G2 = g1 C2 + g2 S23 + g3 S2 + g4 C23 + g5 (S23 C5 + C23 C4 S5), in N m."""


def test_the_gravity_torque_of_the_shoulder():
    """The form of the paper fits exactly, and its constants come out to the digits printed."""
    arm = ap.library.six_axis_arm()
    system = ap.compile(ap.derive(arm)).bind()
    rng, rows, torques = np.random.default_rng(0), [], []
    for _ in range(20):
        q = rng.uniform(-2, 2, 6)
        x = system.to_x(ap.State(arm, np.concatenate([q, np.zeros(6)])))
        torques.append(-system.forcing(0.0, x)[1])
        s23, c23 = np.sin(q[1] + q[2]), np.cos(q[1] + q[2])
        wrist = s23 * np.cos(q[4]) + c23 * np.cos(q[3]) * np.sin(q[4])
        rows.append([np.cos(q[1]), s23, np.sin(q[1]), c23, wrist])
    constants, residual, _, _ = np.linalg.lstsq(np.array(rows), np.array(torques), rcond=None)
    assert residual[0] < 1e-24
    np.testing.assert_allclose(constants, PRINTED, rtol=5e-3, atol=0)


def test_the_reach_of_the_arms():
    """Panda: flange at 0.333 + 0.316 + 0.384 - 0.107 m; Puma: upper arm level, forearm upright."""
    np.testing.assert_allclose(
        ap.library.seven_axis_arm().pose(np.zeros(7))[:3, 3], [0.088, 0, 0.926], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(
        ap.library.six_axis_arm().pose(np.zeros(6))[:3, 3], [0.4115, 0.1501, 0.4331], rtol=0, atol=1e-15
    )
