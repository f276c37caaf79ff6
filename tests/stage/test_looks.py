"""No zero of an event is lost between two looks: fast formulas, long steps, formulas that only just come back."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

METHODS = ["taylor", "dop853", "RK45", "DOP853", "Radau"]
h, y = ap.coordinates("h y", "m")
ground = ap.Frame("ground")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("speed", [8.0, 8.0 + 1e-3])
def test_no_tick_of_an_encoder_is_lost(method, speed):
    """A wheel that turns evenly, in steps as long as you like: 200 ticks a turn, at times that are known."""
    wheel = ground.pin(y)
    model = ap.Model(ground, y, [ap.RigidBody("wheel", 1, wheel.origin, wheel, (0, 0, 1))])
    system = ap.compile(ap.derive(model)).bind()
    events = [ap.Event(sp.sin(200 * y), direction=1, name=name) for name in ("one", "and the same")]
    motion = ap.simulate(system, {y: 0.1, y.rate: speed}, until=1.0, method=method, events=events)
    ticks = 2 * np.pi / 200 * np.arange(4, (0.1 + speed) / (2 * np.pi / 200))
    for event in events:
        found = [o.t for o in motion.occurrences if o.name == event.name]
        np.testing.assert_allclose(found, (ticks - 0.1) / speed, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_tick_at_the_same_time_as_another_event_is_not_lost(method):
    """Every 50th tick comes with the mark of a whole turn."""
    model = ap.Model(ground, y, [ap.Particle("block", 1, ground.point(y, 0))])
    system = ap.compile(ap.derive(model)).bind()
    events = [ap.Event(sp.sin(2 * np.pi * k * y), direction=1, name=f"{k}") for k in (50, 1)]
    motion = ap.simulate(system, {y: 0.11, y.rate: 1.0}, until=3.1, method=method, events=events)
    for k, count in ((50, 155), (1, 3)):
        found = [o.t for o in motion.occurrences if o.name == f"{k}"]
        first = np.ceil(0.11 * k)
        np.testing.assert_allclose(found, (first + np.arange(count)) / k - 0.11, rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["taylor", "dop853", "DOP853"])
@pytest.mark.parametrize("formula", [lambda s, a: s(50 * a), lambda s, a: s(120 * a) + s(323 * a + 1) / 2 - 0.4])
def test_fast_formulas_along_a_slow_motion_lose_no_zero(method, formula):
    a = ap.coordinates("a")
    bob = ap.Particle("bob", 1, ground.pin(a).point(0, -1))
    system = ap.compile(ap.derive(ap.Model(ground, a, [bob], [ap.Gravity(-9.81 * ground.y)]))).bind()
    start = {a: 0.1, a.rate: 8.0}
    values = formula(np.sin, ap.simulate(system, start, until=2.0).states(np.linspace(0, 2, 200_001))[:, 0])
    motion = ap.simulate(system, start, until=2.0, method=method, events=[ap.Event(formula(sp.sin, a), direction=1)])
    assert len(motion.occurrences) == np.count_nonzero((values[:-1] <= 0) & (values[1:] > 0))


@pytest.mark.parametrize("method", METHODS)
def test_a_formula_that_only_just_comes_back_is_seen(method):
    """cos t sin(10 sin 2t) is not below 1e-5 for a millisecond around each multiple of pi/2."""
    bodies = [ap.Particle("p", 1, ground.point(h, y))]
    system = ap.compile(ap.derive(ap.Model(ground, (h, y), bodies, [ap.Potential(h**2 / 2 + 2 * y**2)]))).bind()
    event = ap.Event(h * sp.sin(20 * y) - 1e-5, direction=1)
    motion = ap.simulate(system, {h: 1.0, y.rate: 1.0}, until=3.0, method=method, events=[event])
    t = np.linspace(0, 3, 300_001)
    values = np.cos(t) * np.sin(10 * np.sin(2 * t)) - 1e-5
    expected = t[1:][(values[:-1] <= 0) & (values[1:] > 0)]
    np.testing.assert_allclose([o.t for o in motion.occurrences], expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("until", [0.5, 4.0, 500.0])
def test_what_rises_from_rest_is_seen_to_fall_however_long_the_step_is(method, until):
    """From rest at h = 0 t² (0.01 - t) comes back at t = 0.01, and the level is passed on the way."""
    model = ap.Model(ground, h, [ap.Particle("block", 1, ground.point(h, 0))], [ap.Generalized({h: 0.02 - 6 * ap.t})])
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, {}, until=until, method=method, events=[ap.Event(h, direction=-1)])
    np.testing.assert_allclose([o.t for o in motion.occurrences], [0.01], rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["taylor", "dop853", "DOP853"])
def test_a_ball_on_a_table_that_shakes_is_never_hit_twice_at_once(method):
    """Behind a reset a leg begins on the zero, but for rounding; a hop may end before the first look."""
    A, w, e = ap.parameters("A w e")
    model = ap.Model(ground, h, [ap.Particle("ball", 1, ground.point(0, h))], [ap.Gravity(-9.81 * ground.y)])
    system = ap.compile(ap.derive(model.with_parameters(A, w, e)))
    table, rate = A * sp.sin(w * ap.t), A * w * sp.cos(w * ap.t)
    hit = ap.Event(h - table, direction=-1, reset={h.rate: rate - e * (h.rate - rate)}, name="hit")
    rng = np.random.default_rng(1)
    for _ in range(60):
        start, values = (
            rng.uniform(0.1, 2),
            dict(zip((e, w, A), rng.uniform((0.2, 3, 0), (0.95, 40, 0.1)), strict=True)),
        )
        run = ap.simulate(
            system.bind(values), {h: start}, until=10.0, points=501, events=[hit], method=method, rtol=1e-9, atol=1e-9
        )
        gaps = np.diff([o.t for o in run.occurrences])
        assert gaps.min() > 1e-12
        if run.outcome.name == "ACCUMULATION":  # ever shorter hops
            assert gaps[-1] < 1e-3
            assert (np.diff(gaps[-4:]) < 0).all()
        below = values[A] * np.sin(values[w] * run.times) - run["h"].values
        assert below.max() < 1e-6


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("w", [5.0, 17.0, 38.0])
def test_a_stop_that_is_faster_than_the_motion(method, w):
    """t/10 sin(w t) exceeds 0.9 for the first time near a crest, for some hundredths of a second."""
    model = ap.Model(ground, h, [ap.Particle("ball", 1, ground.point(0, h))], [ap.Gravity(-9.81 * ground.y)])
    stop = ap.Event(ap.t / 10 * sp.sin(w * ap.t) - 0.9, stop=True)
    run = ap.simulate(ap.compile(ap.derive(model)).bind(), until=10.0, events=[stop], method=method)
    t = np.linspace(0, 10, 1_000_001)
    first = t[np.argmax(t / 10 * np.sin(w * t) > 0.9)]
    assert run.times[-1] == pytest.approx(first, abs=1.1e-5)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("place", [1.3, 5.1, 7.77, 9.4])
def test_what_turns_twice_between_two_looks_is_seen(method, place):
    """Rates before and behind the three zeros have one sign, and a cubic does not miss a cubic."""
    system = ap.compile(ap.derive(ap.Model(ground, h, [ap.Particle("block", 1, ground.point(h, 0))]))).bind()
    formula = sp.prod([ap.t - place - shift for shift in (0.0, 0.1, 0.2)])
    events = [ap.Event(formula, direction=-1, name="falls"), ap.Event(formula, direction=1, name="rises")]
    run = ap.simulate(system, {h.rate: 1.0}, until=10.0, method=method, events=events)
    assert [o.name for o in run.occurrences] == ["rises", "falls", "rises"]
    np.testing.assert_allclose([o.t - place for o in run.occurrences], [0, 0.1, 0.2], rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45"])
def test_a_formula_that_is_infinitely_steep_at_the_start_is_looked_at(method):
    if method == "taylor":
        pytest.importorskip("heyoka")
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("p", 1, ground.point(x, 0))], [ap.Generalized({x: 1})])
    system = ap.compile(ap.derive(model)).bind()
    for formula in (sp.sqrt(x) - 1, sp.cbrt(x) - 1, x + x / sp.sqrt(x**2 + sp.Float("1e-300")) - 2):
        motion = ap.simulate(system, {x.rate: 1.0}, until=3.0, events=[ap.Event(formula)], method=method)
        assert [o.t for o in motion.occurrences] == [pytest.approx(3**0.5 - 1, abs=1e-7)], formula
