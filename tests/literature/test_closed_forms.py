"""Textbook systems with closed solutions: the accelerations and multipliers along them, nothing integrated."""

from math import atanh, cos, pi, sin, sqrt, tanh

import numpy as np
import pytest
import sympy as sp

import appell as ap


def system_of(model, formulation=None):
    return ap.compile(ap.derive(model, formulation)).bind()


def multiplier_of(system, state):
    x = system.to_x(state)
    return np.linalg.solve(system.mass_matrix(state.t, x), system.forcing(state.t, x))[-1]


@pytest.mark.parametrize("t", [0.0, 0.4, 1.0, 1.5, 2.0, 5.3])
def test_knife_edge_on_an_incline(t):
    """Bloch 2015, section 1.6: x, y a cycloid, phi = Omega t, lambda = -2 m g sin(alpha) sin(Omega t)."""
    m, Omega, pull = 1.25, pi / 3, 9.81 * sin(pi / 4)
    s, c = sin(Omega * t), cos(Omega * t)
    q = [pull / (2 * Omega**2) * s**2, pull / (2 * Omega**2) * (Omega * t - s * c), Omega * t]
    v = [pull / Omega * s * c, pull / Omega * s**2, Omega]
    a = [pull * (c**2 - s**2), 2 * pull * s * c, 0.0]
    model = ap.library.knife_edge()
    state = ap.State(model, np.array(q + v), t)
    for formulation in (ap.GibbsAppell(), ap.Multipliers()):
        np.testing.assert_allclose(system_of(model, formulation).accelerations(state), a, rtol=0, atol=1e-12)
    assert multiplier_of(system_of(model, ap.Multipliers()), state) == pytest.approx(-2 * m * pull * s, abs=1e-12)
    if t == 2.0:
        np.testing.assert_allclose(q[:2], [2.372072951478, 7.993594253199], rtol=1e-12)


@pytest.mark.parametrize("theta", [0.0, 1.0, pi / 2, -2.0])
def test_chaplygin_sleigh(theta):
    """u' = a omega^2, (I + m a^2) omega' = -m a u omega."""
    m, inertia, a, u, omega = 1.0, 0.1, 0.1, 1.3, -0.7
    model = ap.library.chaplygin_sleigh()
    along, across = np.array([cos(theta), sin(theta)]), np.array([-sin(theta), cos(theta)])
    state = ap.State(model, np.array([0.2, -0.1, theta, *(u * along), omega]))
    found = system_of(model, ap.Multipliers()).accelerations(state)
    # x'' and y'' are d/dt (u along), and along turns at omega
    np.testing.assert_allclose(found[:2], a * omega**2 * along + u * omega * across, rtol=0, atol=1e-14)
    assert found[2] == pytest.approx(-m * a * u * omega / (inertia + m * a**2), rel=1e-13)


@pytest.mark.parametrize(("x", "y", "v_x", "v_y", "spin"), [(0.5, 0, 0, 0.3, 0), (-0.2, 0.7, 1.1, -0.4, 5.0)])
def test_ball_on_a_turntable_circles_at_two_sevenths(x, y, v_x, v_y, spin):
    """v' = (2/7) Omega z x v, whatever the place, the speed and the spin about the vertical."""
    model = ap.library.rolling_ball()
    system = system_of(model)
    Omega, r = model.values["Omega"], model.values["r"]
    omega = np.array([(Omega * x - v_y) / r, (v_x + Omega * y) / r, spin])  # from no slip on the table
    e = np.array([0.5, -0.1, 0.7, 0.5])
    e0, e1, e2, e3 = e / np.linalg.norm(e)
    turning = np.array([[-e1, -e2, -e3], [e0, e3, -e2], [-e3, e0, e1], [e2, -e1, e0]]) / 2  # omega in ground axes
    state = ap.State(model, np.array([x, y, e0, e1, e2, e3, v_x, v_y, *(turning @ omega)]))
    assert max(map(abs, system.residual(state).values())) < 1e-12
    rate = 2 / 7 * Omega
    np.testing.assert_allclose(system.accelerations(state)[:2], [-rate * v_y, rate * v_x], rtol=0, atol=1e-12)


@pytest.mark.parametrize("t", [0.0, 0.5, 1.7, 5.0])
def test_arevalo_particle_on_a_circle(t):
    """x = sin t^2, y = cos t^2, lambda = -4 t^2."""
    model = ap.library.arevalo()
    s, c = sin(t**2), cos(t**2)
    state = ap.State(model, np.array([s, c, 2 * t * c, -2 * t * s]), t)
    system = system_of(model, ap.Multipliers())
    expected = [2 * c - 4 * t**2 * s, -2 * s - 4 * t**2 * c]
    np.testing.assert_allclose(system.accelerations(state), expected, rtol=1e-13, atol=1e-13)
    assert multiplier_of(system, state) == pytest.approx(-4 * t**2, abs=1e-12)


@pytest.mark.parametrize("direction", [0.0, 0.6, 2.5])
@pytest.mark.parametrize("z_rate", [3.0, 0.02, -1.0])
def test_appell_hamel(direction, z_rate):
    """z'' = -g/(1 + c^2), on a straight track."""
    model, c = ap.library.appell_hamel(), 1.5
    along = np.array([cos(direction), sin(direction)])
    state = ap.State(model, np.array([0, 0, 0, *(c * z_rate * along), z_rate]))
    rate = -9.81 / (1 + c**2)
    assert rate == pytest.approx(-3.01846153846, abs=1e-11)
    np.testing.assert_allclose(system_of(model).accelerations(state), [*(c * rate * along), rate], rtol=0, atol=1e-12)


def test_a_pendulum_under_gravity_that_changes():
    """theta'' = -(g/l) sin(theta) with g(t), or seen from axes that turn: -(g/l) sin(theta - w t)."""
    theta = ap.coordinates("theta", "rad")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1.3, ground.pin(theta).point(0, -0.8))
    swinging, turning = -(9.81 + sp.sin(3 * ap.t)) * ground.y, -9.81 * ground.rotate("z", ap.t / 2).y
    for acceleration, expected in (
        (swinging, -(9.81 + sin(2.1)) * sin(0.3) / 0.8),
        (turning, -9.81 * sin(0.3 - 0.35) / 0.8),
    ):
        model = ap.Model(ground, theta, [bob], [ap.Gravity(acceleration)])
        assert system_of(model).accelerations(ap.State(model, np.array([0.3, 0.1]), 0.7)) == pytest.approx([expected])
        assert ap.verify(model).worst < 1e-13


@pytest.mark.parametrize("t", [0.0, 0.2, 1.0])
def test_constant_speed_under_gravity(t):
    """v theta' = -g cos(theta); sin(theta) = -tanh(g t/v - artanh sin(theta_0))."""
    v, g = 2.0, 9.81
    s = -tanh(g * t / v - atanh(sin(1.0)))
    c = sqrt(1 - s**2)
    model = ap.library.constant_speed()
    state = ap.State(model, np.array([0, 0, v * c, v * s]), t)
    np.testing.assert_allclose(system_of(model).accelerations(state), [g * c * s, -g * c**2], rtol=0, atol=1e-12)
    if t == 1.0:
        assert s == pytest.approx(-0.99872538102775, abs=1e-14)
