"""What Jarzebowska et al. print and what is true: docs/errata/programmed-motion.md, one test for each entry.

Numbers: theory page "programmed motion", section 2.
"""

import casadi as ca
import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError
from appell.kinematics.mechanics import Mechanics


def particle():
    """A free particle in polar coordinates."""
    r, phi = ap.coordinates("r phi")
    ground = ap.Frame("ground")
    return ap.Model(ground, (r, phi), [ap.Particle("p", 1, ground.rotate("z", phi).point(r, 0))])


def turning_rate(formulation, until=0.4):
    system = ap.compile(ap.derive(particle(), formulation)).bind()
    start = system.state({"r": 1, "r.rate": 0.3, "phi.rate": 1})
    return ap.simulate(system, start, until).at(until)["phi.rate"]


def test_1_the_literal_p1_is_wrong():
    assert turning_rate(ap.GPME(order=1)) == pytest.approx(0.70701357466, rel=1e-10)
    assert turning_rate(ap.GPME(literal="P1")) == pytest.approx(1.50562167094, rel=1e-10)


def test_1_from_p_2_on_nothing_has_to_be_held():
    for p in (2, 3, 4):
        assert turning_rate(ap.GPME(order=p)) == pytest.approx(0.70701357466, rel=1e-10)


def test_2_the_printed_h_is_the_same_error():
    assert turning_rate(ap.ComputationalGPME()) == pytest.approx(0.70701357466, rel=1e-10)
    assert turning_rate(ap.ComputationalGPME(literal="h")) == pytest.approx(1.50562167094, rel=1e-10)
    model, rng = ap.library.three_link(), np.random.default_rng(2)
    one, other = (
        ap.compile(ap.derive(model, f)).bind() for f in (ap.GPME(literal="P1"), ap.ComputationalGPME(literal="h"))
    )
    for _ in range(3):
        state = one.consistent({"psi1": rng.uniform(0.1, 1), "psi1.rate": rng.uniform(1, 3)})
        np.testing.assert_allclose(one.accelerations(state), other.accelerations(state), rtol=1e-10, atol=1e-11)


def sleigh():
    x, y, theta = ap.coordinates("x y theta")
    ground = ap.Frame("ground")
    blade = ground.rotate("z", theta)
    body = ap.RigidBody("sleigh", 2, ground.point(x, y) + 0.3 * blade.x, blade, (0, 0, 0.5))
    drag = ap.Generalized({x: -0.4 * x.rate, y: -0.4 * y.rate, theta: -0.1 * theta.rate})
    edge = ap.Nonholonomic(-x.rate * sp.sin(theta) + y.rate * sp.cos(theta), "edge")
    return ap.Model(ground, (x, y, theta), [body], [drag], [edge])


@pytest.mark.parametrize("route", [ap.GPME, ap.ComputationalGPME])
def test_3_the_term_of_q_doubles_the_damping(route):
    system = ap.compile(ap.derive(sleigh(), route(literal="Q"))).bind()
    start = system.state({"theta": 0.2, "x.rate": np.cos(0.2), "y.rate": np.sin(0.2), "theta.rate": 1.5})
    motion = ap.simulate(system, start, 3.0)
    printed = [1.00851521969, 1.80687948378, 1.50975425026, 0.0249731200365, 0.408604949334, 0.0884373464399]
    np.testing.assert_allclose(motion.states([3.0])[0], printed, rtol=1e-9, atol=1e-10)


def test_3_in_the_example_it_is_a_damper_of_the_column_against_the_ground():
    """The column lags by 0.0176 rad in the slow run."""
    runs = [
        ap.simulate(ap.compile(ap.derive(ap.library.three_link(), ap.ComputationalGPME(literal=literal))).bind())
        for literal in ((), ("Q",))
    ]
    lag = np.max(np.abs(runs[0]["psi1"].values - runs[1]["psi1"].values))
    assert lag == pytest.approx(0.0176, abs=5e-5)


def test_6_gravity_takes_the_third_row():
    """g = dV/dq, vertical; the printed first row is horizontal."""
    mechanics = Mechanics(ap.library.three_link())
    x = mechanics.variables
    g = ca.Function("g", [x.q, x.p], [-mechanics.forces[0].Q])
    p = mechanics.sample_values(np.random.default_rng(0))
    found = np.array(g([0.4, 3.9, 0.45], p)).ravel()
    np.testing.assert_allclose(found, [0, 11.2900073304, -21.3641877126], rtol=1e-10, atol=1e-13)


def test_7_without_the_rates_of_the_programme_the_height_is_missed():
    """By about 2 alpha/beta^2 z_a' = 5 mm with the paper's alpha and beta: the stabilisation alone drags it along."""
    for literal, expected in (("time",), 2 * 100 / 50**2 * 0.05 * 2 * np.pi / 5), ((), 0.0):
        system = ap.compile(ap.derive(ap.library.three_link(), ap.GPME(stabilize=(100, 50), literal=literal))).bind()
        motion = ap.simulate(system, system.state(system.model.start))
        missed = max(abs(system.residual(motion.at(float(t)))["height"]) for t in np.linspace(0, 5, 101))
        assert missed == pytest.approx(expected, abs=1e-4)
    with pytest.raises(FormulationError, match="give stabilize="):
        ap.GPME(literal="time")


def test_8_the_printed_matrix_of_the_dependent_velocities_is_singular():
    mechanics = Mechanics(ap.library.three_link())
    x = mechanics.variables
    hand = [x.lower(e) for e in _hand(mechanics.model)]
    C = ca.Function("C", [x.q, x.p], [ca.jacobian(ca.vertcat(*hand), x.q)])
    p = mechanics.sample_values(np.random.default_rng(0))
    q = [0.0, np.radians(225), 0.5]
    C = np.array(C(q, p))
    J = np.array(mechanics.functions["jacobian"](0.0, q, np.zeros(3), [], p))
    assert abs(np.linalg.det(np.array([J[0, 1:], C[0, 1:]]))) < 1e-14  # u2 u3; c12 c13 as printed
    assert np.linalg.det(np.array([J[0, 1:], C[2, 1:]])) == pytest.approx(-1.414, abs=1e-3)


def _hand(model):
    _, psi2, z3 = model.coordinates
    psi1, lE, l1 = model.coordinates[0], ap.parameters("lE"), ap.parameters("l1")
    below = 3 * sp.pi / 2 - psi2
    flat = (z3 + lE) * sp.cos(below)
    return flat * sp.cos(psi1), flat * sp.sin(psi1), l1 - (z3 + lE) * sp.sin(below)


def test_9_the_printed_drive_pushes_the_column_away():
    M11, s, d = 0.4695, 1e4, 70.0
    assert max(np.roots([M11, -d, -s]).real) == pytest.approx(238.4, abs=0.1)
    right = np.roots([M11, d, s])
    assert right.real.max() == pytest.approx(-74.5, abs=0.1)
    assert abs(right.imag[0]) == pytest.approx(125.5, abs=0.1)


def test_10_to_12_and_19_numbers_of_the_example():
    stribeck = lambda v, static, kinetic: kinetic + (static - kinetic) * np.exp(-((v / 0.175) ** 2))  # noqa: E731
    assert stribeck(1.0, 0.1, 0.2) > stribeck(0.0, 0.1, 0.2)  # 10: friction that rises with speed
    assert 0.2 / 5.0 == pytest.approx(0.04)  # 11: presliding stroke in rad
    assert np.radians(3600) / 5e-3 == pytest.approx(12566, abs=1)  # 12: rad/s if the 5 were milliseconds
    assert (1 + 3 * 2.5) * np.exp(-3 * 2.5) == pytest.approx(0.0047, abs=1e-4)  # 19: of the start error after 2.5 s


def test_15_udwadia_and_kalaba_take_accelerations():
    model = ap.library.curvature_arm()
    one, other = (ap.compile(ap.derive(model, f)).bind() for f in (ap.UdwadiaKalaba(), ap.GPME()))
    state = one.consistent()
    np.testing.assert_allclose(one.accelerations(state), other.accelerations(state), rtol=1e-13, atol=1e-13)
