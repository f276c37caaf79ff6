"""Mechanisms that are singular for a fixed choice of velocities, or redundant for ever: they must run."""

import numpy as np
import pytest

import appell as ap


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_pendulum_over_the_top_changes_its_speeds(method):
    """m = 0.3, l = 0.5, thrown with 5.2 m/s from below: the dependent velocity must change at every quarter."""
    x, y = ap.coordinates("x y")
    m, l, g = ap.parameters("m l g")
    ground = ap.Frame()
    bob = ap.Particle("bob", m, ground.point(x, y))
    model = ap.Model(ground, (x, y), [bob], [ap.Gravity(-g * ground.y)], [ap.Holonomic(x**2 + y**2 - l**2, "rod")])
    system = ap.compile(ap.derive(model)).bind({m: 0.3, l: 0.5, g: 9.81})
    motion = ap.simulate(system, system.state({x: 0.0, y: -0.5, x.rate: 5.2}), until=2.0, method=method)
    tolerance = 1e-11 if method == "taylor" else 1e-8
    np.testing.assert_allclose(motion.at(2.0).q, [0.091284283552979, 0.49159656180268], rtol=0, atol=tolerance)
    switches = motion.info["switches"]
    assert len(switches) >= 4
    assert any("x -> y" in line for line in switches)
    assert any("y -> x" in line for line in switches)
    assert motion.outcome is ap.Outcome.DONE
    assert motion.check().ok


@pytest.fixture(scope="module")
def bricard():
    return ap.compile(ap.derive(ap.library.bricard())).bind()


def test_bricard_names_its_redundant_row(bricard):
    (row,) = bricard.equations.redundant_rows
    assert row in {r.name for r in bricard.model.rows}
    assert f"redundant rows left out: {row}" in bricard.equations.summary()
    assert len(bricard.equations.unknowns) == 1


def test_bricard_runs(bricard):
    """Five rows of rank four on five angles: all five rows stay satisfied, and the loop stays symmetric."""
    motion = ap.simulate(bricard, until=10.0)
    assert motion.outcome is ap.Outcome.DONE
    worst = max(abs(e) for t in motion.times[::3] for e in bricard.residual(motion.at(t)).values())
    assert worst < 1e-9
    np.testing.assert_allclose(motion["q1"], motion["q3"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion["q1"], motion["q5"], rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion["q2"], motion["q4"], rtol=0, atol=1e-8)
    assert np.ptp(motion["q1"].values) > 1
    energy = [bricard.energy(motion.at(t))["total"] for t in motion.times[::10]]
    assert np.ptp(energy) < 1e-8


def test_bricard_reactions_are_the_smallest(bricard):
    """Of the redundant set of multipliers the one of least length; the generalized forces do not depend on it."""
    motion = ap.simulate(bricard, until=1.0, points=5)
    found = motion.reactions()
    mechanics = bricard.equations.mechanics
    for k, t in enumerate(motion.times):
        state = motion.at(t)
        J = np.array(mechanics.functions["velocity"](t, state.q, state.v, state.z, bricard.p)[1])
        multipliers = np.array([float(found[r.name][k]) for r in bricard.model.rows])
        left, sizes, _ = np.linalg.svd(J.T)
        null = np.linalg.svd(J)[0][:, -1]
        assert sizes[-1] < 1e-6
        assert abs(multipliers @ null) < 1e-5 * np.linalg.norm(multipliers)
        assert left.shape == (5, 5)


def test_the_crank_turns_full_circles():
    """A slider-crank driven hard: phi and x_s follow from theta at every angle, so nothing changes."""
    system = ap.compile(ap.derive(ap.library.slider_crank())).bind({"tau": 5.0})
    motion = ap.simulate(system, until=1.0)
    assert float(motion["theta"][-1]) > 4 * np.pi
    assert motion.check().ok


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "snakeboard", "bicycle"])
def test_the_choice_of_speeds_does_not_show_in_the_motion(name):
    """The automatic choice, changed where need be, ends where all rates with multipliers end."""
    system = ap.compile(ap.derive(ap.library.model(name))).bind()
    free = ap.simulate(system, until=1.0)
    rows = ap.compile(ap.derive(ap.library.model(name), ap.Multipliers())).bind()
    kept = ap.simulate(rows, until=1.0)
    np.testing.assert_allclose(kept.at(1.0).array, free.at(1.0).array, rtol=1e-9, atol=1e-9)


def test_the_disk_at_spin_zero_and_upright():
    """Where SymPy's LU form is NaN: spin = 0, and where yaw and spin rates are almost one: lean near zero."""
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    for lean in (0.0, 1e-12, 1e-6, 0.1):
        start = system.state({"lean": lean, "spin": 0.0, "spin.rate": 8.0, "yaw.rate": 0.2})
        assert np.all(np.isfinite(system.rhs(0.0, system.to_x(start))))
    motion = ap.simulate(system, system.state({"spin.rate": 8.0}), until=2.0)
    np.testing.assert_allclose(motion.at(2.0).q, [0, 0, 16, 8 * 0.26 * 2, 0], rtol=0, atol=1e-13)


@pytest.mark.parametrize("length", [1e-9, 1e-6, 1.0, 1e6])
def test_cvodes_knows_no_unit_of_time(length):
    """Up to a microsecond nothing moved: what takes less than 3e-8 seconds was left out."""
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    mass = ap.Particle("mass", 1, ground.point(x, 0))
    spring = ap.Model(ground, x, [mass], [ap.Generalized({x: -x / length**2})])
    motion = ap.simulate(ap.compile(ap.derive(spring)).bind(), {x: 1.0}, until=length, method="cvodes", points=5)
    np.testing.assert_allclose(motion["x"], np.cos(motion.times / length), rtol=0, atol=1e-6)


@pytest.mark.parametrize("tilt", [0.0, 1e-12, 1e-8, 1e-4])
def test_a_flap_that_starts_next_to_where_its_quaternion_is_one(tilt):
    """Seven coordinates on a hinge, dropped from the horizontal: theta'' = m g l cos(theta) / (I + m l^2).

    Along e0 there is hardly any inertia; measured by that alone it would drown all else in the rows.
    """
    m, l, g, inertia = 2.0, 1.5, 9.81, 0.4
    place, turn = ap.coordinates("x y z"), ap.coordinates("e0:4")
    ground = ap.Frame("ground")
    panel = ground.free(*place, *turn)
    flap = ap.RigidBody("flap", m, panel.origin, panel, (0.3, inertia, 0.5))
    edge = ap.Holonomic(panel.point(-l, 0, 0), "edge")
    hinge = ap.Holonomic([panel.y.dot(ground.x), panel.y.dot(ground.z)], "hinge")
    model = ap.Model(ground, (*place, *turn), [flap], [ap.Gravity(-g * ground.z)], [edge, hinge], name="flap")
    at = (l * np.cos(tilt), 0, -l * np.sin(tilt), np.cos(tilt / 2), 0, np.sin(tilt / 2), 0)
    start = dict(zip((*place, *turn), at, strict=True))
    faster = m * g * l * np.cos(tilt) / (inertia + m * l**2)
    expected = -l * faster * np.array([np.sin(tilt), 0, np.cos(tilt)])
    for formulation in (ap.GibbsAppell(), ap.GPME(), ap.Multipliers()):
        system = ap.compile(ap.derive(model, formulation)).bind()
        found = system.accelerations(system.state(start))[:3]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * g)
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=1e-3)
    assert motion.check().ok
    forces = motion.reactions("edge")
    found = [forces[f"edge.{axis}"].values[0] for axis in "xyz"]
    np.testing.assert_allclose(found, m * np.add(expected, [0, 0, g]), rtol=0, atol=1e-12 * m * g)
