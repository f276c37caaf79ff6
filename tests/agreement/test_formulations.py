"""Every formulation gives the same accelerations on every library model it accepts, the oracles included."""

import numpy as np
import pytest

import appell as ap
from appell.errors import FormulationError
from appell.formulation.abstract import kinds
from appell.kinematics.consistency import jacobian_at, project_positions, project_velocities
from appell.kinematics.mechanics import Mechanics
from appell.kinematics.split import Split
from appell.kinematics.typical import sample_split, sample_state

NONLINEAR = {"appell-hamel", "clothoid-vehicle", "constant-speed", "curvature-arm"}  # refused by Voronets
SINGULAR = {"rolling-ball", "four-bar"}  # mass matrix without constraints: quaternion norm, massless last bar
VARIANTS = {
    "pendulum-chain": [{"angles": "absolute"}, {"mass": "points"}, {"links": 1}, {"links": 6, "angles": "absolute"}],
}
CASES = [(name, {}) for name in ap.library.names()] + [(name, o) for name, listed in VARIANTS.items() for o in listed]


def random_states(model, count=5, seed=3):
    """States on the constraints at random times, inputs and parameters as suggested.

    Configurations where the rows lose rank (other assemblies of the Bricard loop) have no unique accelerations and
    are left out.
    """
    mechanics, rng = Mechanics(model), np.random.default_rng(seed)
    p, rank = mechanics.sample_values(rng), len(sample_split(mechanics).rows)
    found = []
    while len(found) < count:
        q, v, z = sample_state(mechanics, rng, p, spread=0.5)
        t = rng.uniform(0, 3)
        q, left = project_positions(mechanics, t, q, p)
        assert left < 1e-12
        v, left = project_velocities(mechanics, t, q, v, z, p)
        assert left < 1e-12
        if len(Split.at(jacobian_at(mechanics, t, q, v, z, p), rtol=1e-3).rows) == rank:
            found.append(ap.State(model, np.concatenate([q, v, z]), t))
    return found


def accelerations(model, formulation, states):
    system = ap.compile(ap.derive(model, formulation)).bind()
    return np.array([system.accelerations(state) for state in states])


def assert_close(got, expected, rtol=1e-10):
    scale = np.maximum(1.0, np.max(np.abs(expected), axis=1, keepdims=True))
    assert np.all(np.isfinite(got))
    assert np.max(np.abs(got - expected) / scale) < rtol


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join([case[0], *map(str, case[1].values())]))
def case(request):
    name, options = request.param
    model = ap.library.model(name, options)
    states = random_states(model)
    return name, model, states, accelerations(model, ap.Multipliers(), states)


def test_every_letter_has_a_suggested_value(case):
    _, model, _, _ = case
    assert {s.label for s in (*model.parameters, *model.inputs)} == set(model.values)
    assert model.description
    unitless = {s.name for s in (*model.coordinates, *model.parameters, *model.inputs) if not s.unit}
    assert unitless <= {"e0", "e1", "e2", "e3", "c"}  # quaternion, ratio of speeds


def test_the_start_is_on_the_constraints(case):
    _, model, _, _ = case
    system = ap.compile(ap.derive(model, ap.Multipliers())).bind()
    state = system.consistent()
    near = [abs(state[name] - value) for name, value in model.start.items() if name in state.names]
    assert max(near) < 1e-9
    assert max((abs(e) for e in system.residual(state).values()), default=0.0) < 1e-12


def test_gibbs_appell(case):
    _, model, states, expected = case
    assert_close(accelerations(model, ap.GibbsAppell(), states), expected)


def test_voronets(case):
    name, model, states, expected = case
    if name in NONLINEAR:
        with pytest.raises(FormulationError, match=r"has (nonlinear|acceleration)"):
            ap.derive(model, ap.Voronets())
    else:
        assert_close(accelerations(model, ap.Voronets(), states), expected)


@pytest.mark.parametrize("options", [{}, {"explicit": False}, {"drift": 5.0}], ids=["(15)", "(14)", "drawn"])
def test_shulgin(case, options):
    _, model, states, expected = case
    refused = kinds(Mechanics(model)) - {"holonomic"}
    if refused:
        with pytest.raises(FormulationError, match=f"Shulgin accepts .* {sorted(refused)[0]}"):
            ap.derive(model, ap.Shulgin(**options))
    else:
        assert_close(accelerations(model, ap.Shulgin(**options), states), expected)


def test_lyapunov_elimination(case):
    name, model, states, expected = case
    if name in SINGULAR:
        with pytest.raises(FormulationError, match="there is no inertia along"):
            ap.derive(model, ap.LyapunovElimination())
    else:
        assert_close(accelerations(model, ap.LyapunovElimination(), states), expected)


def test_udwadia_kalaba(case):
    name, model, states, expected = case
    mechanics = Mechanics(model)
    p = mechanics.sample_values(np.random.default_rng(0))
    w = [model.values[s.label] for s in model.inputs]
    for state in states:
        M = np.array(mechanics.functions["multiplier"](state.t, state.q, state.v, state.z, w, p)[0])
        smallest, largest = np.linalg.eigvalsh(M)[[0, -1]]
        assert (smallest < 1e-12 * largest) == (name in SINGULAR)
    if name in SINGULAR:
        pytest.skip("the mass matrix of the free system is singular")
    assert_close(accelerations(model, ap.UdwadiaKalaba(), states), expected)


@pytest.mark.parametrize("row", ["holonomic", "moving", "rolling"])
def test_a_centre_that_moves_inside_its_body(row):
    """A draining tank: the place of the centre depends on an extra state, and velocities are taken at frozen shape."""
    x, y, h = ap.coordinates("x y h")
    level = ap.states("level")
    ground = ap.Frame("ground")
    tank = ground.rotate("z", h)
    bodies = [
        ap.Particle("water", 1 + level, ground.point(x, y) + level * tank.x),
        ap.RigidBody("tank", 2, ground.point(x, y), tank, (1, 1, 1)),
    ]
    rows = {
        "holonomic": ap.Holonomic(x**2 + y**2 - 1, "circle"),
        "moving": ap.Holonomic(x**2 + y**2 - 1 - ap.t * x, "circle"),
        "rolling": ap.Nonholonomic(x.rate * h - level * y.rate, "wheel"),
    }
    start = {x: 1.0, h: 0.4, level: 0.7}
    gravity = ap.Gravity(-9.8 * ground.y)
    model = ap.Model(ground, (x, y, h), bodies, [gravity], [rows[row]], {level: -0.3 * level}, start=start)
    assert ap.verify(model).ok


def test_quasi_velocities_of_the_rolling_disk():
    model = ap.library.rolling_disk()
    states = random_states(model)
    expected = accelerations(model, ap.Multipliers(), states)
    (disk,) = model.bodies
    w = ap.speeds("w1 w2 w3")
    for frame in (disk.frame, disk.frame.parent, model.ground):
        omega = frame.components(disk.angular_velocity)
        formulation = ap.GibbsAppell(speeds=dict(zip(w, omega, strict=True)))
        assert_close(accelerations(model, formulation, states), expected)


def test_quasi_velocities_of_the_snakeboard():
    model = ap.library.snakeboard()
    states = random_states(model)
    expected = accelerations(model, ap.Multipliers(), states)
    _, _, yaw, front, rear = model.coordinates
    board = model.bodies[0]
    forward = board.velocity_at(board.center).dot(board.frame.x)
    u1, u2, u3 = ap.speeds("u1 u2 u3")
    for first in (forward, yaw.rate, forward + 0.3 * yaw.rate):
        formulation = ap.GibbsAppell(speeds={u1: first, u2: front.rate + yaw.rate, u3: rear.rate - front.rate})
        assert_close(accelerations(model, formulation, states), expected)


def test_nonlinear_quasi_velocities_of_appell_hamel():
    model = ap.library.appell_hamel()
    states = random_states(model)
    expected = accelerations(model, ap.Multipliers(), states)
    x, y, z = model.coordinates
    u1, u2 = ap.speeds("u1 u2")
    formulation = ap.GibbsAppell(speeds={u1: z.rate, u2: x.rate * y.rate + 1.5 * z.rate**2})
    assert_close(accelerations(model, formulation, states), expected)
