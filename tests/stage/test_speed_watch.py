"""When dependent velocities are looked at again, in single runs and in lanes."""

import numpy as np
import pytest

import appell as ap
from appell.motion.speeds import CALM, WILD, beyond, next_calm


@pytest.mark.parametrize(
    ("growth", "best", "calm", "expected"),
    [
        (1.5, 1.0, 0.0, CALM),  # the first look, nothing to fear
        (9.0, 4.0, 0.0, 12.0),  # patience times the best
        (900.0, 800.0, 0.0, WILD),
        (3.0, np.nan, 10.0, 10.0),  # somebody looked without need
        (20.0, np.nan, 10.0, 40.0),  # a search found none: twice as much until the next
        (700.0, np.nan, 10.0, WILD),
        (5e3, np.nan, WILD, WILD),  # one search at every step
        (5e3, 4e3, 0.0, WILD),
        (np.inf, np.nan, 10.0, 0.0),  # behind a singular place all begins anew
    ],
)
def test_how_far_speeds_may_grow_until_the_next_look(growth, best, calm, expected):
    assert next_calm(growth, best, 3.0, calm) == expected


def test_many_lanes_are_looked_at_as_one_is():
    rng = np.random.default_rng(4)
    growth = rng.choice([1.0, 7.0, 400.0, 999.0, 1001.0, 1e6, np.inf], 200)
    best = rng.choice([1.0, 2.0, 300.0, np.inf], 200)
    calm = rng.choice([0.0, CALM, 50.0, WILD], 200)
    np.testing.assert_array_equal(
        next_calm(growth, best, 5.0, calm),
        [next_calm(*one[:2], 5.0, one[2]) for one in zip(growth.tolist(), best.tolist(), calm.tolist(), strict=True)],
    )


def test_beyond_wild_growth_others_are_always_looked_for():
    assert not beyond(WILD, 0.0)
    assert beyond(1.001 * WILD, next_calm(5 * WILD, 4 * WILD, 5.0, 0.0))


def test_speeds_of_the_user_are_watched_where_their_determinant_is_too_long():
    """Six dependent velocities of a plate that six legs carry; the graph has no formula for the side they are on."""
    model = ap.library.stewart_platform()
    ends, codes = [], []
    for dependent in (model.coordinates[:6], model.coordinates[6:]):
        system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=dependent))).bind()
        motion = ap.simulate(system, until=0.2)
        assert motion.outcome.ok
        codes.append(system.code)
        ends.append(motion.states([0.2])[0])
    assert [code.alarm is None for code in codes] == [True, False]
    np.testing.assert_allclose(ends[0], ends[1], rtol=0, atol=1e-11)


def test_no_step_goes_most_of_the_way_to_where_speeds_are_dependent():
    """Near such a place the error of a step is far beyond its estimate: 4e-4 at a tolerance of 1e-9, in this run."""
    system = ap.compile(ap.derive(ap.library.rolling_ball())).bind()
    start = {"x.rate": 0.8255111545554435}
    options = {"until": 3.0, "points": 2, "progress": False}
    found, exact = (ap.sweep(system, [start], method=method, **options) for method in ("dop853", "taylor"))
    for name in found.info["columns"]:
        assert abs(float(found[f"{name}.end"][0] - exact[f"{name}.end"][0])) < 2e-5


@pytest.mark.parametrize("method", ["taylor", "dop853"])
@pytest.mark.parametrize("powers", [(1, 1), (2, 1)], ids=["linear", "nonlinear"])
@pytest.mark.parametrize("units", [(1e-11, 1e-11), (1e8, 1e-9)])
def test_the_unit_of_a_speed_is_no_sign_that_it_says_nothing(units, powers, method):
    """Momenta of atoms, speeds in nanometres per second: the motion is that in rates."""
    model = ap.library.spherical_pendulum()
    x, y, _ = model.coordinates
    speeds = {
        u: unit * rate**power
        for u, unit, rate, power in zip(ap.speeds("u1 u2"), units, (x.rate, y.rate + x.rate / 2), powers, strict=True)
    }
    start = {"x": 0.3, "y": 0.2, "x.rate": 0.3, "y.rate": 0.4}
    ends = []
    for formulation in (ap.GibbsAppell(), ap.GibbsAppell(speeds)):
        system = ap.compile(ap.derive(model, formulation)).bind()
        motion = ap.simulate(system, system.consistent(start, near={"z": -0.5}), until=0.1, method=method)
        assert motion.outcome is ap.Outcome.DONE
        ends.append([float(motion[q][-1]) for q in "xyz"])
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("unit", [1e-11, 1.0, 1e11])
def test_a_speed_that_says_nothing_ends_the_run_in_any_unit(unit):
    """The momentum x x' of a pendulum that swings in the plane x = 0."""
    model = ap.library.spherical_pendulum()
    x, y, _ = model.coordinates
    u, v = ap.speeds("u v")
    system = ap.compile(ap.derive(model, ap.GibbsAppell({u: unit * x * x.rate, v: y.rate}))).bind()
    for place, outcome in ((1e-3, ap.Outcome.DONE), (1e-11, ap.Outcome.SPEEDS_SINGULAR)):
        start = system.consistent({x: place, y: 0.2, x.rate: 1.0, y.rate: 0.4}, near={"z": -0.5})
        assert ap.simulate(system, start, until=1e-3).outcome is outcome
