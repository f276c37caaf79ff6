"""Laws of Shulgin's equations: F is a first integral, s alone is moved, the split does not matter, drift is removed."""

import numpy as np
import pytest

import appell as ap
from appell.formulation.abstract import kinds
from appell.kinematics.mechanics import Mechanics
from appell.motion.projection import Projection

HOLONOMIC = [
    name
    for name in ap.library.names()
    if ap.library.model(name).rows and kinds(Mechanics(ap.library.model(name))) == {"holonomic"}
]
BALL = ap.library.ball_and_beam(tilt=-0.05)
THETA, TORQUE = 0.526535985923502765, 0.0668520247144461876  # equilibrium with the ball at 0.2 on the tilted base
GAINS = (0.274838448939977, -2.02351309727068, 0.0190339009310443, -1.2379583476534)


def test_there_are_models_to_look_at():
    assert {"ball-and-beam", "delta-robot", "stewart-platform", "bricard", "driven-pendulum"} <= set(HOLONOMIC)


@pytest.mark.parametrize("name", HOLONOMIC)
@pytest.mark.parametrize("rate", [0, 7.0])
def test_the_constraints_are_first_integrals_off_the_constraints(name, rate):
    """F' = 0 at any state whatever, and F' = -k F with the term that removes drift."""
    model = ap.library.model(name)
    system = ap.compile(ap.derive(model, ap.Shulgin(drift=rate))).bind()
    mechanics, rows = system.equations.mechanics, list(system.equations.split.rows)
    used = [mechanics.position_rows.index(i) for i in rows]
    start, rng, n = system.to_x(system.consistent()), np.random.default_rng(4), len(model.coordinates)
    for t in (0.0, 0.7):
        x = start + rng.uniform(-0.05, 0.05, start.size)
        F = np.array(mechanics.functions["position"](t, x[:n], system.p)[0]).ravel()[used]
        assert np.max(np.abs(F)) > 1e-3
        change = system.rhs(t, x)
        F_rate = np.array(mechanics.functions["velocity"](t, x[:n], change[:n], x[2 * n :], system.p)[0]).ravel()[rows]
        scale = max(1.0, np.max(np.abs(change[:n])))
        np.testing.assert_allclose(F_rate, -rate * F, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("drift", ["projection", 0, 7.0])
def test_projection_moves_the_dependent_coordinates_alone(drift):
    model = ap.library.delta_robot()
    system = ap.compile(ap.derive(model, ap.Shulgin(drift=drift))).bind()
    projection = Projection(system.code, system.p)
    x = system.to_x(system.consistent())
    x += np.random.default_rng(0).uniform(-1e-3, 1e-3, x.size)
    before = x.copy()
    changed = projection(0.0, x) if projection.active else False
    moved = {str(q) for q, a, b in zip(system.equations.states, before, x, strict=True) if a != b}
    if drift == "projection":
        assert changed
        assert moved == {"x", "y", "z"}
        assert max(map(abs, system.residual(system.from_x(0.0, x)).values())) < 1e-14
    else:
        assert not changed
        assert not moved


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_long_run_with_changes_of_split_keeps_the_constraint(method):
    """40 s of a whirling pendulum: hundreds of changes of what is dependent."""
    system = ap.compile(ap.derive(ap.library.spherical_pendulum(), ap.Shulgin())).bind()
    start = system.state({"x": 0.3, "y": 0.0, "z": -0.4, "x.rate": 4.0, "y.rate": 0.8, "z.rate": 3.0})
    motion = ap.simulate(system, start, until=40.0, method=method, points=200)
    assert motion.outcome is ap.Outcome.DONE
    assert len(motion.info["switches"]) > 60
    assert len(motion.summary().splitlines()) < 12
    residuals = [abs(system.residual(motion.at(t))["length"]) for t in motion.times]
    assert max(residuals) < 1e-13
    energies = [system.energy(motion.at(t))["total"] for t in motion.times]
    assert np.ptp(energies) < (1e-12 if method == "taylor" else 2e-8)


@pytest.mark.parametrize("dependent", ["alpha", "theta"])
@pytest.mark.heyoka
def test_a_start_off_the_constraint_stays_off_and_tends_to_another_equilibrium(dependent):
    """The theorem, corrected: asymptotic stability holds for F = 0 only (theory page, item 10)."""
    theta, xi, _ = BALL.coordinates
    (tau,) = BALL.inputs
    errors = (theta - THETA, xi - 0.2, theta.rate, xi.rate)
    law = TORQUE - sum(gain * error for gain, error in zip(GAINS, errors, strict=True))
    chosen = [q for q in BALL.coordinates if q.name == dependent]
    ends = {}
    for drift in (0, 20.0):
        equations = ap.derive(BALL, ap.Shulgin(dependent=chosen, drift=drift)).close({tau: law})
        system = ap.compile(equations).bind()
        motion = ap.simulate(system, system.state({theta: THETA, xi: 0.2, "alpha": 0.052}), until=15.0, points=100)
        F = np.array([system.residual(motion.at(t))["lever"] for t in motion.times])
        assert F[0] == pytest.approx(1.75834e-4, rel=1e-5)
        if drift:
            np.testing.assert_allclose(F, F[0] * np.exp(-drift * motion.times), rtol=0, atol=1e-15)
        else:
            assert np.ptp(F) < 1e-15
        ends[drift] = motion.at(15.0)
    np.testing.assert_allclose(
        [ends[0][theta] - THETA, ends[0][xi] - 0.2], [-0.0234589496, -0.0026600641], rtol=0, atol=2e-10
    )
    np.testing.assert_allclose([ends[20.0][theta], ends[20.0][xi]], [THETA, 0.2], rtol=0, atol=1e-12)


def test_a_start_off_the_constraint_is_refused_where_the_run_would_move_it():
    off = {"theta": THETA, "xi": 0.2, "alpha": 0.052}
    system = ap.compile(ap.derive(BALL, ap.Shulgin())).bind()
    with pytest.raises(ap.AppellError, match=r"violate the constraint 'lever' by 0\.000176"):
        system.state(off)
    free = ap.compile(ap.derive(BALL, ap.Shulgin(drift=0))).bind().state(off)
    with pytest.raises(ap.AppellError, match="violates the constraint 'lever'"):
        ap.simulate(system, free, until=0.1)


def test_the_roots_do_not_depend_on_the_split():
    """2n roots of the first approximation, the same for each split, and m zero roots (or m times -k)."""
    delta = ap.library.delta_robot()
    arms, pose = delta.coordinates[:3], delta.coordinates[3:]
    expected = [-1.59561943643, 1.16334850766, *[complex(-0.188694854182, s * 2.51497781762) for s in (1, 1, -1, -1)]]
    for dependent in (arms, pose, (arms[0], *pose[1:])):
        for drift, extra in ((0, 0.0), (20.0, -20.0)):
            system = ap.compile(ap.derive(delta, ap.Shulgin(dependent=dependent, drift=drift))).bind()
            near = dict.fromkeys(("phi1", "phi2", "phi3"), 0.1)
            state = system.consistent({"x": 0.0, "y": 0.0, "z": -0.9}, near)
            roots = np.linalg.eigvals(system.jacobian(0.0, system.to_x(state)))
            left = list(roots)
            for root in (*expected, extra, extra, extra):
                nearest = min(left, key=lambda found: abs(found - root))
                assert abs(nearest - root) < 2e-6  # double roots come out to the root of rounding
                left.remove(nearest)
