"""Analytic cases of Krasinskiy 2025 (Shulgin's equations); reference numbers by multipliers in mpmath, 25-40 digits."""

import numpy as np
import pytest

import appell as ap

FORMULATIONS = [
    ap.GibbsAppell(),
    ap.Voronets(),
    ap.Shulgin(),
    ap.Multipliers(),
    ap.LyapunovElimination(),
    ap.UdwadiaKalaba(),
]

# theta, theta', tau -> phi, x_s, theta'', phi'', x_s''
SLIDER_CRANK = [
    (
        (1.0, 5.0, 0.2),
        (0.21548748227016257, 0.347091913098356026),
        (24.9074893821242899, -2.40021319788324325, -3.54171370205900407),
    ),
    (
        (-0.6, 12.0, -0.5),
        (-0.257724455157796696, 0.372625303667133931),
        (-35.5959252125087786, 14.828822328930095, -16.1421910078009304),
    ),
]
EQUILIBRIA = [1.41751379467845405, 0.294670313317130416, -1.38290258769678327, 2.76271742514879163]

# x, y, x', y', force along x -> x'', y'', multiplier of x^2 + y^2 - l^2
PENDULUM = [
    (
        (0.420735492403948253, -0.270151152934069859, 0.0, 0.0, 0.0),
        (-4.46010387857996872, -6.94620023326373341, -1.59010968616993519),
    ),
    (
        (0.322108843618845527, -0.382421093642244213, 0.764842187284488426, 0.644217687237691054, 0.0),
        (-6.12206630006877929, -2.54162678950534134, -2.85093055717824944),
    ),
    (
        (-0.466019542983613175, -0.181178877238336789, 0.543536631715010366, -1.39805862895083952, 0.5),
        (7.72616135783820929, -7.45419226337740385, -1.95039932844123716),
    ),
]


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=lambda f: f.name)
@pytest.mark.parametrize(("given", "places", "expected"), SLIDER_CRANK)
def test_slider_crank_accelerations(formulation, given, places, expected):
    theta, rate, tau = given
    system = ap.compile(ap.derive(ap.library.slider_crank(), formulation)).bind({"tau": tau})
    state = system.consistent({"theta": theta, "theta.rate": rate})
    np.testing.assert_allclose(state.q[1:], places, rtol=1e-13)
    np.testing.assert_allclose(system.accelerations(state), expected, rtol=1e-12)


@pytest.mark.parametrize("theta", EQUILIBRIA)
def test_slider_crank_equilibria(theta):
    system = ap.compile(ap.derive(ap.library.slider_crank(), ap.GibbsAppell())).bind({"tau": 0.0})
    state = system.consistent({"theta": theta, "theta.rate": 0.0}, near={"phi": 0.1, "phi.rate": 0, "x_s.rate": 0})
    np.testing.assert_allclose(system.accelerations(state), 0, rtol=0, atol=1e-9)


@pytest.fixture(scope="module", params=FORMULATIONS, ids=lambda f: f.name)
def pendulum(request):
    """The spherical pendulum with a force along x; in the plane y = 0 its z is the y of the source."""
    model = ap.library.spherical_pendulum()
    (bob,) = model.bodies
    return ap.compile(ap.derive(model.add(ap.Force(ap.inputs("u") * model.ground.x, bob)), request.param))


@pytest.mark.parametrize(("given", "expected"), PENDULUM)
def test_pendulum_accelerations(pendulum, given, expected):
    x, z, x_rate, z_rate, u = given
    system = pendulum.bind({"u": u})
    state = ap.State(system.model, np.array([x, 0.0, z, x_rate, 0.0, z_rate]))
    np.testing.assert_allclose(system.accelerations(state), [expected[0], 0, expected[1]], rtol=1e-12)
    if system.equations.formulation.multipliers:
        at = (0.0, system.to_x(state))
        unknowns = np.linalg.solve(system.mass_matrix(*at), system.forcing(*at))
        assert unknowns[-1] == pytest.approx(expected[2], rel=1e-12)
