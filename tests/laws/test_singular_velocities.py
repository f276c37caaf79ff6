"""Rows nonlinear in the velocities, at velocities where they lose their direction: every run ends there."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

x, y, z = ap.coordinates("x y z")
ground = ap.Frame("ground")
velocity = ground.vector(x.rate, y.rate, z.rate)
METHODS = ("taylor", "dop853")


def system_of(row, *forces):
    ball = ap.Particle("ball", 2, ground.point(x, y, z))
    constraint = ap.Nonholonomic(row, "row")
    model = ap.Model(ground, (x, y, z), [ball], [*(force(ball) for force in forces)], [constraint])
    return ap.compile(ap.derive(model)).bind()


def weight(ball):
    return ap.Gravity(-9.81 * ground.z)


def push(size):
    return lambda ball: ap.Force(size * ground.x, ball)


@pytest.fixture(scope="module")
def appell_hamel():
    return ap.compile(ap.derive(ap.library.appell_hamel())).bind()


@pytest.mark.parametrize("method", METHODS)
def test_a_run_ends_at_the_top_of_appell_and_hamels_track(appell_hamel, method):
    """z'' = -g/(1 + c^2): z' = 0 and with it all of the row's gradient at t = 3 (1 + 1.5^2)/9.81."""
    motion = ap.simulate(appell_hamel, until=3.0, method=method)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    assert "'slope' loses its direction" in motion.detail
    np.testing.assert_allclose(motion.times[-1], 3 * 3.25 / 9.81, rtol=0, atol=1e-6)


def test_runs_of_a_sweep_end_where_single_ones_do(appell_hamel):
    """The top is at t = 3 (1 + 1.5^2)/g, before t = 0.8 for g > 12.1875."""
    weights = np.linspace(8, 20, 40)
    study = ap.sweep(appell_hamel, {"g": weights}, until=0.8, workers=1)
    assert list(study.ok) == list(weights < 12.1875)
    np.testing.assert_allclose(study.dataset["end"], np.minimum(0.8, 3 * 3.25 / weights), rtol=0, atol=1e-6)
    assert study.outcomes == {"DONE": 14, "ROWS_SINGULAR": 26}


@pytest.mark.parametrize("method", METHODS)
def test_the_direction_may_turn_ever_faster_on_the_way(method):
    """A push from the side turns the track, the faster the slower it is; z' = 0 is at rest all the same."""
    system = system_of(z.rate**2 - (x.rate**2 + y.rate**2) / 4, weight, push(-1))
    motion = ap.simulate(system, {x.rate: 3, y.rate: 1, z.rate: np.sqrt(10) / 2}, until=2.0, method=method)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    assert np.linalg.norm(motion.at(motion.times[-1]).v) < 1e-4


@pytest.mark.parametrize("method", METHODS)
def test_a_given_speed_that_dies(method):
    """|v| = 1 - t: at t = 1 nothing says where to go; a run that ends there is complete."""
    system = system_of(x.rate**2 + y.rate**2 + z.rate**2 - (1 - ap.t) ** 2, weight)
    start = {x.rate: 0.8, z.rate: 0.6}
    motion = ap.simulate(system, start, until=3.0, method=method)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    np.testing.assert_allclose(motion.times[-1], 1.0, rtol=0, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_a_root_of_velocities_that_vanish(method):
    """z' = |x'|/2 under gravity comes to rest at t = 3/4.124 (tangent (2, 1)); pushed sideways only it goes on."""
    root = z.rate - sp.sqrt(x.rate**2 + y.rate**2) / 2
    motion = ap.simulate(system_of(root, weight, push(-0.5)), {x.rate: 3}, until=3.0, method=method)
    assert not motion.outcome.ok
    np.testing.assert_allclose(motion.times[-1], 3 / 4.124, rtol=0, atol=1e-8)
    passed = ap.simulate(system_of(root, push(-5)), {x.rate: 3}, until=4.0, method=method)
    assert passed.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(passed.at(4.0).array, [-4, 0, 4.25, -5, 0, 2.5], rtol=0, atol=1e-8)  # x'' = -2


@pytest.mark.parametrize("method", METHODS)
def test_rest_that_is_never_reached_ends_no_run(method):
    """Under viscous drag v = v0 exp(-2t): the gradient dies out, but the motion always has one way to go on."""
    system = system_of(z.rate**2 - (x.rate**2 + y.rate**2) / 4, lambda ball: ap.Force(-4 * velocity, ball))
    motion = ap.simulate(system, {x.rate: 3, y.rate: 1, z.rate: np.sqrt(10) / 2}, until=12.0, method=method)
    assert motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(motion.at(12.0).q, [1.5, 0.5, np.sqrt(10) / 4], rtol=0, atol=1e-6)


def test_a_reset_may_need_other_dependent_velocities():
    """At x' = 0 the row x'^2 + y'^2 = 25 says nothing about x''; the run goes on with y' dependent, straight up."""
    ball = ap.Particle("ball", 2, ground.point(x, y))
    model = ap.Model(
        ground, (x, y), [ball], [ap.Gravity(-9.81 * ground.y)], [ap.Nonholonomic(x.rate**2 + y.rate**2 - 25)]
    )
    system = ap.compile(ap.derive(model, ap.GibbsAppell())).bind()
    turn = ap.Event(ap.t - sp.Rational(1, 4), reset={x.rate: 0})
    motion = ap.simulate(system, {x.rate: 4, y.rate: 3}, until=1.0, events=[turn])
    assert motion.outcome is ap.Outcome.DONE
    rise = motion.at(1.0)["y"] - motion.at(0.25)["y"]
    np.testing.assert_allclose([rise, motion.at(1.0)["y.rate"]], [3.75, 5.0], rtol=0, atol=1e-12)
