"""Kane and Levinson 1982, Int. J. Non-Linear Mech. 17, 175: the rattleback, against Euler's equations in body axes."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import appell as ap


def rates(values):
    """(n, omega)' in body axes: momentum about the contact, whose force then does not appear."""
    A, B, C, D, m, g, h = (values[name] for name in "A B C D m g h".split())
    inertia = np.array([[A, D, 0], [D, B, 0], [0, 0, C]])
    squares = np.diag([values[name] ** 2 for name in "abc"])

    def arm(n):
        """From the mass centre to the contact, and its derivative by n."""
        root = np.sqrt(n @ squares @ n)
        slope = -squares / root + np.outer(squares @ n, squares @ n) / root**3
        return -squares @ n / root + [0, 0, h], slope

    def f(_, x):
        n, omega = x[:3], x[3:]
        turning = np.cross(n, omega)
        r, slope = arm(n)
        v = np.cross(r, omega)  # rolling: the contact of the body is at rest
        cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        known = np.cross(slope @ turning, omega) + np.cross(omega, v) + g * n
        moment = m * np.cross(r, known) - np.cross(omega, inertia @ omega)
        return np.concatenate([turning, np.linalg.solve(inertia - m * cross @ cross, moment)])

    return f


@pytest.fixture(scope="module")
def motion():
    model = ap.library.rattleback()
    return ap.simulate(ap.compile(ap.derive(model)).bind(), until=10.0, rtol=1e-13, atol=1e-13, progress=False)


def test_it_turns_round(motion):
    spin = motion["yaw.rate"]
    assert float(spin[0]) == -5.0
    assert float(spin[-1]) == pytest.approx(5.0, abs=0.05)
    assert motion.check().ok


def test_as_by_eulers_equations(motion):
    model = ap.library.rattleback()
    stone = model.bodies[0].frame
    up, turning = stone.components(model.ground.z), stone.components(stone.angular_velocity)
    times = [0.0, 1.0, 2.0, 3.0, 4.0]
    found = np.array([motion.evaluate(e, times) for e in (*up, *turning)]).T
    expected = solve_ivp(
        rates(model.values), (0, times[-1]), found[0], method="DOP853", t_eval=times, rtol=1e-12, atol=1e-13
    )
    np.testing.assert_allclose(found, expected.y.T, rtol=0, atol=1e-8)


def test_spun_the_other_way_it_goes_on():
    model = ap.library.rattleback()
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, system.state({**model.start, "yaw.rate": 5.0}), until=10.0, progress=False)
    assert float(motion["yaw.rate"].min()) > 4.9
