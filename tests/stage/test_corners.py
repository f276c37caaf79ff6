"""Lengths of vectors that pass through zero: a Taylor series would go on as if there were no corner."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

x, y = ap.coordinates("x y")
ground = ap.Frame("ground")
particle = ap.Particle("p", 1, ground.point(x, y))
STIFFNESS, REST = 10.0, 0.2
spring = ap.Spring(ground.point(0, 0), particle.center, STIFFNESS, REST)


def system(*forces, **more):
    return ap.compile(ap.derive(ap.Model(ground, (x, y), [particle], forces, **more))).bind()


def through_the_anchor(start, t):
    """r of r'' = -k (r - rest sign r) from rest: half swings between two passages, all alike."""
    w = STIFFNESS**0.5
    first = np.arccos(-REST / (start - REST)) / w
    side = (start - REST) * np.sin(w * first)
    half = 2 * np.arctan2(side, -REST) / w
    n = int((t - first) // half)
    s = w * (t - first - n * half)
    return (-1) ** (n + 1) * (REST - REST * np.cos(s) + side * np.sin(s))


@pytest.mark.parametrize("direction", [(0, 1), (1, 1), (0.6, 0.8), (0.28, 0.96)], ids=str)
def test_a_spring_passes_through_its_anchor(direction):
    motion = ap.simulate(system(spring), {x: 0.5 * direction[0], y: 0.5 * direction[1]}, until=20.0, method="taylor")
    assert motion.outcome is ap.Outcome.DONE
    size = float(np.hypot(*direction))
    along = (motion["x"] * direction[0] + motion["y"] * direction[1]) / size
    np.testing.assert_allclose(along, [through_the_anchor(0.5 * size, t) for t in motion.times], rtol=0, atol=1e-11)
    assert motion.check().ok


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_spring_whose_ends_meet_on_a_circle_passes_there(method):
    """Its length, 2 R |sin((theta + pi/2)/2)|, is a root of 1 + sin(theta), in which all digits cancel."""
    theta = ap.coordinates("theta")
    arm = ground.pin(theta)
    body = ap.RigidBody("arm", 1, arm.point(0.15, 0), arm, (0, 0, 0.01))
    ends = ground.point(0, -0.3), arm.point(0.3, 0)
    length = 0.6 * sp.Abs(sp.sin(theta / 2 + sp.pi / 4))
    found = []
    for force in (ap.Spring(*ends, 200, 0.2), ap.Potential(100 * (length - 0.2) ** 2)):
        model = ap.Model(ground, theta, [body], [ap.Gravity(-9.81 * ground.y), force])
        swing = ap.compile(ap.derive(model)).bind()
        found.append(ap.simulate(swing, {theta: 1.5, theta.rate: -1.0}, until=3.0, method=method))
    assert found[0].outcome is ap.Outcome.DONE
    np.testing.assert_allclose(found[0].at(3.0).array, found[1].at(3.0).array, rtol=0, atol=1e-6)


def test_a_length_in_which_all_digits_cancel_is_told_from_other_faults():
    theta = ap.coordinates("theta")
    length = sp.sqrt(0.18 + 0.18 * sp.sin(theta))
    body = ap.RigidBody("arm", 1, ground.origin, ground.pin(theta), (0, 0, 0.01))
    model = ap.Model(ground, theta, [body], [ap.Potential(length)])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {theta: 1.5, theta.rate: -10.0}, until=3.0)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert "r.norm" in motion.detail


def test_an_event_at_the_corner_is_seen():
    motion = ap.simulate(system(spring), {x: 0.3, y: 0.5}, until=3.0, method="taylor", events=[ap.Event(y, name="y")])
    other = ap.simulate(system(spring), {x: 0.3, y: 0.5}, until=3.0, method="dop853", events=[ap.Event(y, name="y")])
    np.testing.assert_allclose([o.t for o in motion.occurrences], [o.t for o in other.occurrences], rtol=0, atol=1e-9)


def test_on_a_line_in_the_plane_with_a_kink_as_well():
    rough = system(spring, ap.Generalized({y: -0.3 * sp.sign(y.rate)}))
    motions = [ap.simulate(rough, {y: 0.5}, until=6.0, method=method) for method in ("taylor", "dop853")]
    np.testing.assert_allclose(motions[0].at(6.0).array, motions[1].at(6.0).array, rtol=0, atol=1e-9)


def test_on_a_constraint():
    guided = system(spring, constraints=[ap.Holonomic(y - x**2)])
    motions = [ap.simulate(guided, {x: 0.5, y: 0.25}, until=5.0, method=method) for method in ("taylor", "dop853")]
    np.testing.assert_allclose(motions[0].at(5.0).array, motions[1].at(5.0).array, rtol=0, atol=1e-8)


def test_what_is_thrown_straight_up_comes_down_against_the_drag():
    """Down from rest: v = -sqrt(g/c) tanh(t sqrt(g c)); up: v = sqrt(g/c) tan(atan(v0 sqrt(c/g)) - t sqrt(g c))."""
    g, c, up = 9.81, 0.1, 10.0
    speed = sp.sqrt(x.rate**2 + y.rate**2)
    drag = ap.Generalized({x: -c * speed * x.rate, y: -c * speed * y.rate})
    motion = ap.simulate(system(ap.Gravity(-g * ground.y), drag), {y.rate: up}, until=3.0, method="taylor")
    top = np.arctan(up * (c / g) ** 0.5) / (g * c) ** 0.5
    expected = -((g / c) ** 0.5) * np.tanh((3.0 - top) * (g * c) ** 0.5)
    assert motion.at(3.0)["y.rate"] == pytest.approx(expected, abs=1e-11)


def test_a_near_miss_is_left_alone():
    start = {x: 0.5, y.rate: 1e-3}
    motions = [ap.simulate(system(spring), start, until=5.0, method=method) for method in ("taylor", "dop853")]
    assert len(motions[0].stretches) == 1
    np.testing.assert_allclose(motions[0].at(5.0).array, motions[1].at(5.0).array, rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_tank_that_runs_empty_does_not_fill_again(method):
    level = ap.states("level")
    motion = ap.simulate(system(states={level: -sp.sqrt(level)}), {level: 1.0}, until=3.0, method=method)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert motion.times[-1] == pytest.approx(2, abs=1e-7)
    assert "root" in motion.detail


def test_a_collision_with_a_center_of_attraction_is_no_corner():
    attraction = ap.Potential(-1 / sp.sqrt(x**2 + y**2))
    motion = ap.simulate(system(attraction), {y: 0.5}, until=2.0, method="taylor")
    assert not motion.outcome.ok
    assert motion.times[-1] == pytest.approx(np.pi / 8, abs=1e-6)


speed = sp.sqrt(x.rate**2 + y.rate**2)
STOPS = {  # what else pulls, the start, when and where it stops
    "straight": ({}, {x.rate: 1.0, y.rate: 0.5}, np.hypot(1.0, 0.5) / 2, np.hypot(1.0, 0.5) / 4 * np.array([1.0, 0.5])),
    "uphill": ({x: 1}, {x.rate: -3.0}, 1.0, [-1.5, 0.0]),
    "by springs": ({x: -9 * x, y: -16 * y}, {x: 1.0, y.rate: 1.0}, 2.11441093425, [0.14500493568, 0.03900074148]),
}


@pytest.mark.parametrize("method", ["taylor", "dop853", "Radau"])
@pytest.mark.parametrize("name", STOPS)
def test_what_friction_brings_to_rest_in_a_plane_ends_there(name, method):
    """A friction of 2 opposite to the velocity; nothing that pulls moves it on."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    pull, start, when, where = STOPS[name]
    friction = ap.Generalized({q: pull.get(q, 0) - 2 * q.rate / speed for q in (x, y)})
    motion = ap.simulate(system(friction), start, until=5.0, method=method, max_steps=5000)
    assert motion.outcome is ap.Outcome.ACCUMULATION
    assert motion.times[-1] == pytest.approx(when, rel=0, abs=1e-10)
    np.testing.assert_allclose(motion.at(motion.times[-1]).array, [*where, 0, 0], rtol=0, atol=1e-9)
    assert "v/sqrt(v**2 + e**2)" in repr(motion)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("method", ["taylor", "dop853", "cvodes", "DOP853", "RK45", "Radau", "BDF", "LSODA"])
@pytest.mark.parametrize("name", STOPS)
def test_a_rest_is_found_as_well_as_the_tolerance_says(name, method, rtol):
    """At coarse tolerances steps go over it, tumble beside it or stay there up to the end of the run."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    pull, start, when, where = STOPS[name]
    friction = ap.Generalized({q: pull.get(q, 0) - 2 * q.rate / speed for q in (x, y)})
    motion = ap.simulate(system(friction), start, until=5.0, method=method, rtol=rtol, max_steps=5000)
    assert motion.outcome is ap.Outcome.ACCUMULATION
    assert motion.times[-1] == pytest.approx(when, rel=0, abs=100 * rtol)
    np.testing.assert_allclose(motion.at(motion.times[-1]).array, [*where, 0, 0], rtol=0, atol=100 * rtol)


@pytest.mark.parametrize("pull", [0.0, 0.3, 0.9, 0.98])
@pytest.mark.parametrize("method", ["taylor", "dop853", "cvodes"])
def test_rest_beside_a_force_that_friction_hardly_holds(method, pull):
    """(|v| + F v_x)' = F² - 1 for a friction of 1 and a force F."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    friction = ap.Generalized({x: pull - x.rate / speed, y: -y.rate / speed})
    motion = ap.simulate(system(friction), {x.rate: -0.3, y.rate: 0.4}, until=50.0, method=method, rtol=1e-9)
    assert motion.outcome is ap.Outcome.ACCUMULATION
    assert motion.times[-1] == pytest.approx((0.5 - 0.3 * pull) / (1 - pull**2), abs=1e-6)


@pytest.mark.parametrize("machine", ["casadi", "heyoka"])
def test_what_rests_in_a_plane_does_so_in_its_lane(machine):
    """Some pucks are pulled harder than friction holds; events and the table are those of single runs."""
    if machine == "heyoka":
        pytest.importorskip("heyoka")
    F = ap.parameters("F")
    friction = ap.Generalized({x: F - x.rate / speed, y: -y.rate / speed})
    model = ap.Model(ground, (x, y), [particle], [friction], values={F: 0.3})
    pucks = ap.compile(ap.derive(model), machine).bind()
    rows = [{"F": 0.07 * k, "x.rate": np.cos(k) * (1 + k / 9), "y.rate": np.sin(k) * (1 + k / 9)} for k in range(17)]
    for events in ([], [ap.Event(x.rate - y.rate, name="turns")]):
        study = ap.sweep(pucks, rows, until=6.0, points=41, events=events)
        assert study["lane"].values.all()
        assert set(study.outcomes) == {"ACCUMULATION", "DONE"}
        for k, row in enumerate(rows):
            start = {x.rate: row["x.rate"], y.rate: row["y.rate"]}
            options = {"rtol": 1e-9, "atol": 1e-9, "at": np.linspace(0, 6, 41), "events": events}
            motion = ap.simulate(pucks.bind({F: row["F"]}), start, until=6.0, method="dop853", **options)
            assert study["end"].values[k] == pytest.approx(motion.times[-1], rel=0, abs=1e-11)
            assert study["x.end"].values[k] == pytest.approx(float(motion["x"][-1]), rel=0, abs=1e-11)
            passed = np.isfinite(study["x"].values[k])
            table = motion["x"].values[: passed.sum()]
            np.testing.assert_allclose(study["x"].values[k][passed], table, rtol=0, atol=1e-11)
            if events:
                assert study["event_count"].values[k, 0] == len(motion.occurrences)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_what_is_pulled_harder_than_friction_holds_it_passes_through_rest(method):
    """A friction of 1 against a pull of 3: 4 up to rest at t = 3/4, 2 behind it."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    friction = ap.Generalized({x: 3 - x.rate / speed, y: -y.rate / speed})
    motion = ap.simulate(system(friction), {x.rate: -3.0}, until=2.0, method=method, max_steps=5000)
    assert motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(motion.at(2.0).array, [-1.125 + 1.25**2, 0, 2.5, 0], rtol=0, atol=1e-8)
