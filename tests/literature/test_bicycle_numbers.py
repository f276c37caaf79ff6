"""Meijaard, Papadopoulos, Ruina and Schwab 2007, Proc. R. Soc. A 463: the benchmark bicycle, Table 2.

The nonlinear model, linearised numerically at upright running; the paper prints these roots to 14 digits.
"""

import numpy as np
import pytest

import appell as ap


@pytest.fixture(scope="module")
def system():
    return ap.compile(ap.derive(ap.library.bicycle())).bind()


def upright(system, speed):
    keep = {"lean": 0.0, "steer": 0.0, "lean.rate": 0.0, "steer.rate": 0.0, "spin_r.rate": -speed / 0.3}
    return system.to_x(system.consistent(keep, near={"spin_f.rate": -speed / 0.35}))


def roots(system, speed):
    """The four roots that are not zero; seven belong to place, heading and speed."""
    found = np.linalg.eigvals(system.jacobian(0.0, upright(system, speed)))
    return np.array(sorted(found, key=abs)[-4:])


def test_at_rest(system):
    expected = [-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393]
    found = roots(system, 0.0)
    np.testing.assert_allclose(np.sort(found.real), expected, rtol=1e-12)
    np.testing.assert_allclose(found.imag, 0, rtol=0, atol=1e-12)


def test_at_five_metres_per_second(system):
    found = roots(system, 5.0)
    weave = found[found.imag > 1]
    assert weave.size == 1
    assert weave[0] == pytest.approx(-0.775341882195845 + 4.46486771378823j, rel=1e-12)
    real = np.sort(found[np.abs(found.imag) < 1e-6].real)
    np.testing.assert_allclose(real, [-14.0783896927982, -0.322866429004087], rtol=1e-12)


def stable(system, speed):
    return bool(np.max(roots(system, speed).real) < 0)


def test_stable_between_two_speeds(system):
    """Weave speed 4.29238253634111, capsize speed 6.02426201538837."""
    assert [stable(system, v) for v in (4.2923, 4.2925, 5.0, 6.0242, 6.0243)] == [False, True, True, True, False]


@pytest.mark.parametrize("speed", [0.0, 1.0, 5.0])
def test_finite_at_zero_steer_and_lean(system, speed):
    """Symbolic elimination of the contact rows divides by the steer angle."""
    x = upright(system, speed)
    rates = system.rhs(0.0, x)
    assert np.all(np.isfinite(rates))
    np.testing.assert_allclose(rates[len(system.model.coordinates) :], 0, rtol=0, atol=1e-12)
    beside = x.copy()
    beside[[3, 5]] = 1e-7
    np.testing.assert_allclose(system.rhs(0.0, beside), rates, rtol=0, atol=1e-4)


def test_a_push_decays_with_the_slowest_root(system):
    """In the stable range the nonlinear motion after a small push follows the linear one."""
    start = system.consistent({"spin_r.rate": -5 / 0.3, "lean.rate": 1e-5}, near={"spin_f.rate": -5 / 0.35})
    motion = ap.simulate(system, start, until=12.0, points=13)
    lean = np.abs(motion["lean"].values)
    assert lean[-1] < 1e-6
    ratio = lean[-1] / lean[-3]
    assert ratio == pytest.approx(np.exp(-2 * 0.322866429004087), rel=0.05)
