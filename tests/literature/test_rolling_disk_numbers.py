"""The rolling disk of SymPy's own tests, `sympy/physics/mechanics/tests/test_kane5.py`.

Body-fixed sequence zxy (yaw, lean, spin), contact x, y; u1, u2, u3 are the components of the angular velocity in
the axes of the disk, u4 and u5 the rates of x and y.
"""

import numpy as np
import pytest

import appell as ap

PRINTED = [
    (
        (0.3, 0.1, 1.97, -0.35, 2.27),
        (-0.2, 1.3, 0.15),
        (0.126603940595934, 0.215942571601660, 1.28736069604936, 0.319764288376543, 0.0989146857254898),
        (-0.925848952664489, -0.0181350656532944, 2.91695398184589, -0.00992793421754526, 0.0412861634829171),
    ),
    (
        (3.97, -0.28, 8.2, -0.35, 2.27),
        (-0.25, -2.2, 0.62),
        (0.0259159090798597, 0.668041660387416, -2.19283799213811, 0.385441810852219, 0.420109283790573),
        (1.45030568179066, -0.0110924422400793, -8.35617840186040, -0.154098542632173, -0.146102664410010),
    ),
]


@pytest.fixture(scope="module")
def system():
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    omega = disk.frame.components(disk.angular_velocity)
    formulation = ap.GibbsAppell(speeds=dict(zip(ap.speeds("u1 u2 u3"), omega, strict=True)))
    return ap.compile(ap.derive(model, formulation)).bind({"g": 9.81, "r": 0.26, "m": 3.43})


@pytest.mark.parametrize(("q", "u", "q_rate", "u_rate"), PRINTED)
def test_right_hand_sides(system, q, u, q_rate, u_rate):
    x = np.array([*q, *u])
    contact = system.accelerations(system.from_x(0.0, x))[3:]
    np.testing.assert_allclose([*system.rhs(0.0, x), *contact], [*q_rate, *u_rate], rtol=1e-12)


@pytest.mark.parametrize("spin", [0.0, np.pi / 2, np.pi, -3 * np.pi / 2])
@pytest.mark.parametrize("lean", [0.0, 1e-9, -1e-5, 0.1])
def test_finite_where_symbolic_elimination_divides_by_zero(system, spin, lean):
    """SymPy's LU form of this system is NaN at spin = 0."""
    here = np.array([0.3, lean, spin, 0.0, 0.0, -0.2, 10.0, 0.15])
    beside = here + np.array([0, 1e-7, 1e-7, 0, 0, 0, 0, 0])
    assert np.all(np.isfinite(system.rhs(0.0, here)))
    np.testing.assert_allclose(system.rhs(0.0, here), system.rhs(0.0, beside), rtol=0, atol=2e-5)


def test_upright_rest_is_an_equilibrium(system):
    """`all_zero` in the same file."""
    assert np.all(system.rhs(0.0, np.zeros(8)) == 0)


def test_a_quarter_turn_of_spin_turns_the_components_only(system):
    """The rates of the frame that does not spin are the same whatever the spin."""
    flat = system.rhs(0.0, np.array([0.3, 0.1, 0.0, 0.0, 0.0, -0.2, 10.0, 0.15]))
    turned = system.rhs(0.0, np.array([0.3, 0.1, np.pi / 2, 0.0, 0.0, -0.15, 10.0, -0.2]))
    np.testing.assert_allclose(turned[:5], flat[:5], rtol=1e-13)
    np.testing.assert_allclose(turned[6], flat[6], rtol=1e-13)
    np.testing.assert_allclose([-turned[5], turned[7]], [flat[7], flat[5]], rtol=1e-13)
