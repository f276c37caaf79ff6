"""Events that reset the state, in lanes: what they do to a run is what they do to a single one."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.motion.events import piling_up

MACHINES = pytest.mark.parametrize("machine", ["casadi", "heyoka"])

pytestmark = pytest.mark.usefixtures("lanes_for_few")


def ball():
    """A ball over a floor at y = 0, with a restitution that only its events know."""
    x, y = ap.coordinates("x y")
    m, g, e = ap.parameters("m g e")
    ground = ap.Frame("ground")
    bodies, forces = [ap.Particle("ball", m, ground.point(x, y))], [ap.Gravity(-g * ground.y)]
    model = ap.Model(ground, (x, y), bodies, forces, values={"m": 1.0, "g": 9.81}).with_parameters(e)
    floor = ap.Event(y, direction=-1, reset={y.rate: -e * y.rate}, name="floor")
    wall = ap.Event(x - 1, reset={x.rate: -x.rate}, name="wall")
    kick = ap.Event(ap.t - 1, direction=1, reset={x.rate: 2 * x.rate, y: y + 0.1}, name="kick")
    slow = ap.Event(x.rate**2 + y.rate**2 - 2, direction=-1, stop=True, name="slow")
    return model, {"floor": floor, "wall": wall, "kick": kick, "slow": slow}


def bob(formulation=None):
    """A pendulum with both of its Cartesian coordinates, or with its angle and a given speed."""
    m, l, g = ap.parameters("m l g")
    ground, values = ap.Frame("ground"), {"m": 1.0, "l": 1.0, "g": 9.81}
    if formulation is None:
        x, y = ap.coordinates("x y")
        place, rows = (x, y), [ap.Holonomic(x**2 + y**2 - l**2)]
    else:
        q = ap.coordinates("q")
        x, y = l * sp.sin(q), -l * sp.cos(q)
        place, rows = (q,), []
    bodies, forces = [ap.Particle("bob", m, ground.point(x, y))], [ap.Gravity(-g * ground.y)]
    model = ap.Model(ground, place, bodies, forces, rows, values=values)
    return ap.compile(ap.derive(model, *([formulation(*place)] if formulation else []))).bind(), place


def assert_as_simulated(system, rows, events, until=3.0, points=31):
    """All runs in lanes; tables, events, ends and words as `simulate` gives them."""
    study = ap.sweep(system, rows, until=until, events=events, points=points, rtol=1e-10, progress=False)
    letters = {p.label for p in system.model.parameters}
    assert study["lane"].values.all()
    for i, row in enumerate(rows):
        bound = system.bind({n: v for n, v in row.items() if n in letters})
        start = {**system.model.start, **{n: v for n, v in row.items() if n not in letters}}
        motion = ap.simulate(
            bound, start, until, events=events, points=points, rtol=1e-10, method="dop853", progress=False
        )
        made = np.isin(study["t"].values, motion.times)
        at = np.searchsorted(motion.times, study["t"].values[made])
        for name in study.info["columns"]:
            np.testing.assert_allclose(study[name].values[i, made], motion.columns[name][at], rtol=0, atol=1e-11)
            np.testing.assert_allclose(study[f"{name}.end"].values[i], motion.columns[name][-1], rtol=0, atol=1e-11)
        assert list(ap.Outcome)[study.codes[i]] is motion.outcome
        for k, event in enumerate(events):
            times = [o.t for o in motion.occurrences if o.name == event.name]
            assert int(study["event_count"][i, k]) == len(times)
            if times:
                np.testing.assert_allclose(float(study["event_time"][i, k]), times[0], rtol=0, atol=1e-11)
        words = {f["run"]: f["reason"] for f in study.failures.to_dict("records")}
        if not motion.outcome.ok:
            assert words[i] == f"{motion.outcome.value} {motion.detail}"
    return study


@MACHINES
def test_a_bouncing_ball_meets_floor_wall_and_a_kick_in_time(machine):
    if machine == "heyoka":
        pytest.importorskip("heyoka")
    model, events = ball()
    system = ap.compile(ap.derive(model), machine).bind({"e": 0.8})
    rng = np.random.default_rng(0)
    rows = [
        {"y": y, "x.rate": 1.0, "e": e}
        for y, e in zip(rng.uniform(0.5, 2, 12), rng.uniform(0.5, 0.95, 12), strict=True)
    ]
    study = assert_as_simulated(system, rows, [events["floor"]])
    assert study.outcomes.keys() == {"DONE", "ACCUMULATION"}
    assert_as_simulated(system, rows, [events["floor"], events["kick"]])
    study = assert_as_simulated(system, rows, [events["floor"], events["wall"], events["slow"]])
    assert "EVENT" in study.outcomes


def test_rates_that_are_not_reset_follow_by_the_constraints():
    system, (x, _) = bob()
    rows = [{"x": float(np.sin(a)), "y": -float(np.cos(a))} for a in (0.3, 0.9, 1.6, 2.4)]
    hit = ap.Event(x, direction=-1, reset={x.rate: -0.9 * x.rate}, name="hit")
    study = assert_as_simulated(system, rows, [hit])
    np.testing.assert_allclose(study["x"] ** 2 + study["y"] ** 2, 1, rtol=0, atol=1e-12)
    moved = ap.Event(x, direction=-1, reset={x: 0.1}, name="moved")
    study = assert_as_simulated(system, rows, [moved])
    np.testing.assert_allclose(study["x"] ** 2 + study["y"] ** 2, 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("which", ["rate", "speed"])
def test_given_speeds_follow_the_rates_or_are_reset_themselves(which):
    u = ap.speeds("u")
    system, (q,) = bob(lambda q: ap.GibbsAppell({u: 2 * q.rate}))
    letter = q.rate if which == "rate" else u
    hit = ap.Event(q, direction=-1, reset={letter: -0.9 * letter}, name="hit")
    assert_as_simulated(system, [{"q": a} for a in (0.3, 0.9, 1.6, 2.4)], [hit])


def test_extra_states_that_set_a_mass_are_reset():
    """Two stages without kinks: the shell is dropped, and the engine of the second stage is weaker."""
    h = ap.coordinates("h")
    fuel, shell, flow = ap.states("fuel shell flow")
    g, c = ap.parameters("g c")
    ground = ap.Frame("ground")
    rocket = ap.Particle("rocket", 1 + fuel + shell, ground.point(h, 0))
    forces = [ap.Gravity(-g * ground.x), ap.Stream(rocket, -c * ground.x, rate=-flow, name="jet")]
    model = ap.Model(
        ground, h, [rocket], forces, states={fuel: -flow, shell: 0, flow: 0}, values={"g": 9.81, "c": 200.0},
        start={"fuel": 4.0, "shell": 1.0, "flow": 0.5},
    )  # fmt: skip
    drop = ap.Event(fuel - 1, direction=-1, reset={shell: 0, flow: flow / 5}, name="drop")
    system = ap.compile(ap.derive(model)).bind()
    study = assert_as_simulated(system, [{"c": c, "g": g} for c in (150.0, 250.0) for g in (0.0, 9.0)], [drop], 8.0)
    # Tsiolkovsky, stage by stage: c ln(6/3) + c ln(2/(2 - 0.1 (8 - 6)))
    free = study["g"].values == 0
    wanted = study["c"].values[free] * (np.log(2) + np.log(2 / 1.8))
    np.testing.assert_allclose(study["h.rate.end"].values[free], wanted, rtol=1e-9, atol=0)


def test_rates_that_the_constraints_forbid_are_told_by_a_single_run():
    system, (x, y) = bob()
    never = ap.Event(x - 0.2, direction=-1, reset={x.rate: 1, y.rate: 3}, name="never")
    rows = [{"x": float(np.sin(a)), "y": -float(np.cos(a))} for a in (0.1, 0.9)]
    study = ap.sweep(system, rows, until=1.0, events=[never], progress=False)
    assert study.outcomes == {"DONE": 1, "NOT_STARTED": 1}
    assert "constraints forbid" in study.failures["reason"][0]


@pytest.mark.heyoka
def test_a_reset_that_sends_what_rests_on_zero_through_it_is_left_to_a_single_run():
    """Three balls in one parabola: the middle one hands on what it gets, at once if the third is in touch with it."""
    q = a, b, c = ap.coordinates("a b c")
    ground = ap.Frame("ground")
    balls = [ap.Particle(s.label, 1, ground.point(s, 0)) for s in q]
    system = ap.compile(ap.derive(ap.Model(ground, q, balls, [ap.Potential(sum(s**2 / 2 for s in q))]))).bind()
    swaps = [(r, s, {r.rate: s.rate, s.rate: r.rate}) for r, s in ((a, b), (b, c))]
    hits = [ap.Event(s - r, direction=-1, reset=swap, name=s.label) for r, s, swap in swaps]
    rows = [{"a": -1.0, "c": x, "c.rate": v} for x, v in ((0.0, 0.0), (2.0, 0.0), (1.0, 0.5))]
    study = ap.sweep(system, rows, until=3.0, events=hits, progress=False)
    assert study["lane"].values.tolist() == [0, 0, 1]
    ends = np.array([study[f"{s.label}.end"].values for s in q]).T
    np.testing.assert_allclose(ends[0], [0, 0, -np.cos(3.0)], rtol=0, atol=2e-9)
    np.testing.assert_allclose(ends[1], np.cos(3.0) * np.array([2, 0, -1]), rtol=0, atol=2e-9)
    assert (np.diff(ends, axis=1) > -2e-9).all()


@MACHINES
def test_no_tick_of_an_encoder_is_lost_in_a_lane(machine):
    """The zeros of a formula that is faster than the motion, up to 40 of them in one step."""
    a, n = ap.coordinates("a"), ap.parameters("n")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1, ground.pin(a).point(0, -1))
    model = ap.Model(ground, a, [bob], [ap.Gravity(-9.81 * ground.y)]).with_parameters(n)
    system = ap.compile(ap.derive(model), machine=machine).bind()
    rows = [{"n": ticks, "a": 0.1, "a.rate": 8.0} for ticks in (1.0, 20.0, 50.0, 300.0)]
    ticks = [ap.Event(sp.sin(n * a), direction=1, name=name) for name in ("one", "and the same")]
    study = ap.sweep(system, rows, until=0.5, events=ticks, progress=False)
    motion = ap.simulate(system.bind({n: 1}), {a: 0.1, a.rate: 8.0}, until=0.5)
    path = motion.states(np.linspace(0, 0.5, 100_001))[:, 0]
    for i, row in enumerate(rows):
        values = np.sin(row["n"] * path)
        assert (study["event_count"][i] == np.count_nonzero((values[:-1] <= 0) & (values[1:] > 0))).all()
    assert study["lane"].values.all()


def test_events_pile_up_where_their_gaps_shrink_by_one_ratio():
    times = 2.0 - np.cumprod(np.full(30, 0.5))
    assert piling_up(times[:6], 0.0) is None
    assert piling_up(times[:10], 0.0) is None  # the limit is still far
    assert piling_up(times, 0.0) == pytest.approx(2.0, rel=0, abs=1e-9)
    assert piling_up(np.arange(10.0), 0.0) is None
    assert piling_up(1e-9 * times[:10], 0.0) is None  # in nanoseconds as well
    assert piling_up(1e9 * times, 0.0) == pytest.approx(2e9, rel=1e-9)


def test_what_turns_twice_between_two_looks_is_seen_in_lanes():
    """As in single runs: rates before and behind three zeros have one sign, and a cubic does not miss a cubic."""
    x, place = ap.coordinates("x"), ap.parameters("place")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x, 0))]).with_parameters(place)
    formula = sp.prod([ap.t - place - shift for shift in (0.0, 0.1, 0.2)])
    events = [ap.Event(formula, direction=-1, name="falls"), ap.Event(formula, direction=1, name="rises")]
    rows = [{"place": where, "x.rate": 1.0} for where in (1.3, 5.1, 7.77, 9.4)]
    study = ap.sweep(ap.compile(ap.derive(model)).bind(), rows, until=10.0, events=events, progress=False)
    assert (study["event_count"].values == [1, 2]).all()
    assert study["lane"].values.all()


def test_a_jump_over_a_zero_passes_none():
    """A reset that puts a mass behind the wall does not hit it; coming back it does."""
    x, v = ap.coordinates("x"), ap.parameters("v")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x))], [ap.Generalized({x: -v})])
    events = [
        ap.Event(x - 1, direction=1, reset={x: 3.0}, name="leap"),
        ap.Event(2 - x, direction=-1, name="in"),
        ap.Event(2 - x, direction=1, name="out"),
    ]
    system, options = ap.compile(ap.derive(model)), {"start": {x: 0.0, x.rate: 3.0}, "until": 7.0, "events": events}
    study = ap.sweep(system, {v: np.linspace(0.9, 1.1, 9)}, points=3, **options)
    assert study["lane"].values.all()
    assert (study["event_count"].values == [1, 0, 1]).all()
    alone = ap.simulate(system.bind({v: 0.9}), **options)
    assert [occurrence.name for occurrence in alone.occurrences] == ["leap", "out"]
