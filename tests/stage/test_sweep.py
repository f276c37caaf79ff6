"""Sweeps: lanes give what single runs give, whatever surrounds them; what goes one by one."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble import Normal, Uniform
from appell.ensemble.engine import Interrupted
from appell.ensemble.runner import Runner
from appell.ensemble.settings import Settings
from appell.ensemble.store import read_journal
from appell.ensemble.switching import best_growths
from appell.errors import IntegrationError, ModelError
from appell.kinematics.split import Split, growths

pytestmark = pytest.mark.usefixtures("lanes_for_few")


def singles(system, rows, until, points, **options):
    """The same runs by simulate, one after the other."""
    letters = {s.label for s in (*system.model.parameters, *system.model.inputs)}
    for row in rows:
        bound = system.bind({n: v for n, v in row.items() if n in letters})
        start = {n: v for n, v in row.items() if n not in letters}
        state = bound.consistent(start) if system.model.rows else {**system.model.start, **start}
        yield ap.simulate(bound, state, until, method="dop853", points=points, progress=False, **options)


def assert_same(study, motions, rtol=1e-12, atol=1e-12):
    for i, motion in enumerate(motions):
        for name in study.info["columns"]:
            values = study[name][i].values[: motion.times.size]
            np.testing.assert_allclose(values, motion.columns[name], rtol=rtol, atol=atol, err_msg=f"{name} of run {i}")
        assert int(study["steps"][i]) == motion.info["steps"]
        assert list(ap.Outcome)[study.codes[i]] is motion.outcome


def arrays(study):
    return {name: study.dataset[name].values for name in study.dataset.variables}


def assert_equal(one, other):
    a, b = arrays(one), arrays(other)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


# Lane by lane.


def test_lanes_give_what_single_runs_give(pendulums):
    rows = [{"q1": q, "l": l, "m": 1.3} for q in (0.2, 1.0, -0.7) for l in (0.8, 1.5)]
    study = ap.sweep(pendulums, rows, until=2.0, points=9, rtol=1e-10)
    assert study.dataset["lane"].values.all()
    assert_same(study, singles(pendulums, rows, 2.0, 9, rtol=1e-10, atol=1e-10))


@pytest.mark.parametrize(
    ("name", "rows", "until"),
    [
        ("four-bar", [{"q1": 0.2}, {"q1": 0.5}], 2.0),
        ("rolling-disk", [{"lean": 0.1, "m": 2.0}, {"lean": 0.3, "m": 1.0}], 2.0),
        ("spherical-pendulum", [{"g": 9.0}, {"g": 10.0}], 1.5),
        ("appell-hamel", [{"m": 1.0}, {"m": 1.2}], 0.9),
    ],
)
def test_lanes_keep_constraints_and_change_speeds_as_single_runs_do(name, rows, until):
    """Positions projected, dependent velocities changed in the middle, redundant velocities projected."""
    system = ap.compile(ap.derive(ap.library.model(name)), "heyoka").bind()
    study = ap.sweep(system, rows, until=until, points=7)
    assert study.dataset["lane"].values.all()
    motions = []
    for row in rows:
        letters = {s.label for s in system.model.parameters}
        bound = system.bind({n: v for n, v in row.items() if n in letters})
        start = {n: v for n, v in row.items() if n not in letters}
        state = (
            bound.consistent(start, {n: v for n, v in system.model.start.items() if n not in start}) if start else None
        )
        motions.append(ap.simulate(bound, state, until, method="dop853", rtol=1e-9, atol=1e-9, points=7))
    # Appell and Hamel's motion takes four steps, and the polynomial within so long a step multiplies rounding.
    near = 1e-11 if name == "appell-hamel" else 1e-12
    assert_same(study, motions, near, near)
    if name == "spherical-pendulum":
        assert all(motion.info["switches"] for motion in motions)
    for i in range(len(rows)):
        values = {
            s.label: float(row)
            for s in system.model.parameters
            for row in [rows[i].get(s.label, system.values[s.label])]
        }
        bound = system.bind(values)
        for k in range(7):
            names = [*study.info["columns"]][: len(motions[0].info["state"])]
            state = ap.State(system.model, np.array([float(study[n][i, k]) for n in names]))
            assert max(abs(e) for e in bound.residual(state).values()) < 1e-9


@pytest.mark.parametrize("name", ["five-bar", "pendulum-chain", "rolling-ball", "spherical-pendulum"])
def test_lanes_differ_from_single_runs_as_last_digits_do(name):
    """Where a motion multiplies rounding, no more than between single runs whose parameters have other last digits."""
    system = ap.compile(ap.derive(ap.library.model(name)), "heyoka").bind()
    until = system.model.until
    name, value = next(iter(system.values.items()))
    study = ap.sweep(system, {name: [value, 1.01 * value]}, until=until, points=11)
    digits = np.random.default_rng(1)

    def columns(ulps):
        bound = system.bind(
            {n: v * (1 + 2.0**-52 * digits.integers(-ulps, ulps + 1)) for n, v in system.values.items()}
        )
        start = bound.consistent(bound.model.start) if bound.model.rows else None
        motion = ap.simulate(bound, start, until, method="dop853", rtol=1e-9, atol=1e-9, points=11, progress=False)
        return np.array([motion.columns[n] for n in study.info["columns"]])

    lane, single = np.array([study[n][0] for n in study.info["columns"]]), columns(ulps=0)
    apart = [np.max(np.abs(other - single) / (1 + np.abs(single))) for other in (lane, *(columns(2) for _ in range(4)))]
    assert apart[0] < max(1e-12, 5 * max(apart[1:]))
    assert max(apart[1:]) < 1e-9


def test_jerks_as_outputs():
    """As in single runs: on constraints, and where friction sticks, from 5 N against k sin t on."""
    four = ap.library.four_bar()
    crank = four.coordinates[0]
    x, k, ground = ap.coordinates("x", "m"), ap.parameters("k"), ap.Frame("ground")
    cart = ap.Particle("cart", 2.0, ground.point(x, 0))
    push = ap.Force(k * sp.sin(ap.t) * ground.x, cart)
    rough = ap.friction.Coulomb(x, 5.0).on(ap.Model(ground, x, [cart], [push], start={x.rate: 1.0}))
    for model, q, name in ((four, crank, "m"), (rough, x, "k")):
        system = ap.compile(ap.derive(model))
        rows = [{name: value} for value in (1.0, 1.5, 2.0)]
        options = {"until": 1.0, "points": 5, "outputs": {"jerk": q.derivative(3)}}
        swept = ap.sweep(system, {name: [row[name] for row in rows]}, **options)
        for i, motion in enumerate(singles(system, rows, **options)):
            np.testing.assert_allclose(swept["jerk"][i], motion["jerk"], rtol=1e-6, atol=1e-6)
    law = {"control": lambda t, state: {}, "until": 1.0, "outputs": {"jerk": x.derivative(3)}}
    u = ap.inputs("u")
    driven = ap.Model(ground, x, [cart], [ap.Generalized({x: u})], name="cart")
    with pytest.raises(ModelError, match="rates of the inputs u, which a Python function does not tell"):
        ap.sweep(ap.compile(ap.derive(driven)), {"x": [0.0, 1.0]}, **law)


def test_a_run_does_not_depend_on_its_neighbours(pendulums):
    over = {"q1": Uniform(-1, 1), "q2": Normal(0, 0.5)}
    whole = ap.sweep(pendulums, over, runs=50, until=2.0, points=5, seed=3)
    for options in ({"chunk": 7}, {"chunk": 1, "workers": 1}, {"chunk": 50, "workers": 3}):
        assert_equal(whole, ap.sweep(pendulums, over, runs=50, until=2.0, points=5, seed=3, **options))
    picked = [4, 17, 33]
    rows = [{n: float(whole[f"{n}.start"][i]) for n in over} for i in picked]
    some = ap.sweep(pendulums, rows, until=2.0, points=5)
    for name in some.info["columns"]:
        np.testing.assert_array_equal(some[name].values, whole[name].values[picked])


def runner_of(pendulums):
    """What makes runs of two seconds, with an event that ends some of them; and 37 rows of starts."""
    q1, _ = pendulums.model.coordinates
    events = (ap.Event(q1, name="low"), ap.Event(q1 + 0.6, stop=True, name="far"))
    settings = Settings(
        grid=np.linspace(0, 2.0, 8),
        t0=0.0,
        until=2.0,
        method="auto",
        rtol=1e-9,
        atol=1e-9,
        events=events,
        outputs={},
        start=None,
        max_steps=10_000,
    )
    rng = np.random.default_rng(5)
    columns = {"q1": rng.uniform(0.1, 1.5, 37), "q2": rng.uniform(-1, 1, 37)}
    return Runner(pendulums, settings, ["q1", "q2"]), columns


def test_lanes_say_how_far_they_are(pendulums):
    runner, columns = runner_of(pendulums)
    said = []
    runner.run(columns, lambda done: said.append(done), lanes=12)
    assert said == sorted(said)
    assert said[0] == 0
    assert 0.9 * 37 < said[-1] < 37
    assert sum(0.3 * 37 < done < 0.7 * 37 for done in said) > 5
    with pytest.raises(Interrupted):
        runner.run(columns, lambda done: done > 20)


@pytest.mark.parametrize("lanes", [4, 12, 64])
def test_a_run_does_not_depend_on_how_many_lanes_there_are(pendulums, lanes):
    """Few lanes take many runs one after the other, many lanes end idle; table, events and ends stay the same."""
    runner, columns = runner_of(pendulums)
    whole, other = runner.run(columns), runner.run(columns, lanes=lanes)
    ended = {list(ap.Outcome)[code] for code in whole.arrays["outcome"]}
    assert ended == {ap.Outcome.DONE, ap.Outcome.EVENT}
    for name, values in whole.arrays.items():
        np.testing.assert_array_equal(other.arrays[name], values, err_msg=name)


def test_many_states_as_starts_share_their_lanes():
    """States of a mechanism with loops: no run by itself, and each gives what simulate gives from that state."""
    system = ap.compile(ap.derive(ap.library.model("four-bar"))).bind()
    base = dict(system.model.start)
    starts = [system.consistent({"q1": q}, {n: v for n, v in base.items() if n != "q1"}) for q in (0.2, 0.35, 0.5, 0.9)]
    broken = starts[0] + np.eye(len(starts[0]))[1]
    study = ap.sweep(system, {"start": [*starts, broken]}, until=2.0, points=5)
    assert study.dataset["lane"].values.tolist() == [1, 1, 1, 1, 0]
    assert study.outcomes == {"DONE": 4, "NOT_STARTED": 1}
    assert "violates the constraint" in study.failures["reason"].iloc[0]
    options = {"method": "dop853", "rtol": 1e-9, "atol": 1e-9, "points": 5}
    motions = [ap.simulate(system, start, 2.0, **options) for start in starts]
    for i, motion in enumerate(motions):
        for name in study.info["columns"]:
            np.testing.assert_allclose(study[name][i], motion.columns[name], rtol=1e-12, atol=1e-12)


def test_growth_of_many_lanes_is_that_of_each():
    rng = np.random.default_rng(2)
    jacobian = rng.normal(size=(60, 3, 6)) * rng.choice([1e-3, 1.0, 1e2], (60, 3, 1))
    jacobian[50:, 2] = jacobian[50:, 1] * (1 + 1e-9)  # rows that are nearly dependent
    jacobian[59, 0, 0] = np.nan
    split = Split((0, 1, 2), (3, 4, 5))
    found = growths(split.rows, [split.dependent], jacobian)[:, 0]
    np.testing.assert_array_equal(found, [split.growth(J) for J in jacobian])
    assert np.isinf(found[59])
    best = best_growths(split, jacobian)
    assert np.isnan(best[50:]).all()
    np.testing.assert_allclose(best[:50], [Split.at(J).growth(J) for J in jacobian[:50]], rtol=1e-10)


def test_a_lane_that_fails_does_not_disturb_the_others():
    """A fall into a centre ends at pi/sqrt(8) x^(3/2); its neighbours fly on."""
    x, y = ap.coordinates("x y", "m")
    ground = ap.Frame("ground")
    mass = ap.Particle("mass", 1, ground.point(x, y))
    model = ap.Model(ground, (x, y), [mass], [ap.Potential(-1 / sp.sqrt(x**2 + y**2))], name="fall")
    system = ap.compile(ap.derive(model)).bind()
    rows = [{"x": 1.0, "y.rate": v} for v in (1.0, 0.0, 1.1, 0.9)]
    study = ap.sweep(system, rows, until=3.0, points=4)
    assert study.outcomes == {"DONE": 3, "NOT_FINITE": 1} or study.outcomes == {"DONE": 3, "STEP_COLLAPSED": 1}
    failures = study.failures
    assert failures["run"].tolist() == [1]
    assert failures["y.rate.start"].tolist() == [0.0]
    np.testing.assert_allclose(failures["t"].iloc[0], np.pi / np.sqrt(8), rtol=1e-6, atol=0)
    assert "likely cause" in failures["reason"].iloc[0]
    without = ap.sweep(system, [rows[0], rows[2], rows[3]], until=3.0, points=4)
    for name in study.info["columns"]:
        np.testing.assert_array_equal(study[name].values[[0, 2, 3]], without[name].values)
    assert np.isnan(study["x"].values[1, -1])
    assert np.isfinite(study["x"].values[1, 1])


def test_a_lane_with_a_nan_from_the_start_ends_at_once():
    x, k = ap.coordinates("x", "m"), ap.parameters("k")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -sp.sqrt(k) * x})])
    system = ap.compile(ap.derive(model))
    study = ap.sweep(system, {k: [1.0, -1.0, 4.0]}, start={x: 1.0}, until=1.0, points=3)
    assert study.outcomes == {"DONE": 2, "NOT_FINITE": 1}
    np.testing.assert_allclose(study["x"].values[[0, 2], -1], [np.cos(1.0), np.cos(np.sqrt(2.0))], rtol=1e-8, atol=0)
    assert study.failures["run"].tolist() == [1]
    assert study["end"].values[1] == 0.0


def test_the_step_limit_ends_a_lane(pendulums):
    study = ap.sweep(pendulums, {"q1": [0.1, 2.0]}, until=20.0, points=3, max_steps=200)
    assert study.outcomes["STEP_LIMIT"] >= 1
    assert study["steps"].values.max() <= 200


def test_single_steps_as_machine_code_give_the_same(pendulums):
    plain = ap.compile(pendulums.equations).bind()
    options = {"method": "dop853", "rtol": 1e-10, "atol": 1e-10, "points": 9}
    one, other = (ap.simulate(s, {"q1": 0.4, "q2": -0.3}, 3.0, **options) for s in (plain, pendulums))
    assert one.info["steps"] == other.info["steps"]
    for name, column in one.columns.items():
        np.testing.assert_allclose(other.columns[name], column, rtol=1e-12, atol=1e-12)


# Events.


def test_events_of_lanes_are_those_of_single_runs(pendulums):
    q1, q2 = pendulums.model.coordinates
    events = [
        ap.Event(q1, name="low"),
        ap.Event(q2 - 0.3, direction=1, name="up"),
        ap.Event(q1 + 0.4, stop=True, name="far"),
    ]
    rows = [{"q1": 0.3}, {"q1": 0.8}, {"q1": 1.2, "q2": 0.0}]
    rows = [{"q2": 0.1, **row} for row in rows]
    study = ap.sweep(pendulums, rows, until=3.0, points=13, events=events)
    motions = list(singles(pendulums, rows, 3.0, 13, rtol=1e-9, atol=1e-9, events=events))
    assert {m.outcome.name for m in motions} == {"DONE", "EVENT"}
    for i, motion in enumerate(motions):
        assert list(ap.Outcome)[study.codes[i]] is motion.outcome
        np.testing.assert_allclose(float(study["end"][i]), motion.times[-1], rtol=1e-12, atol=0)
        np.testing.assert_allclose(float(study["q1.end"][i]), motion.columns["q1"][-1], rtol=1e-11, atol=1e-12)
        for k, event in enumerate(events):
            times = [o.t for o in motion.occurrences if o.name == event.name]
            assert int(study["event_count"][i, k]) == len(times)
            if times:
                np.testing.assert_allclose(float(study["event_time"][i, k]), times[0], rtol=1e-11, atol=0)
    assert study.dataset["lane"].values.all()


def test_events_of_motions_over_a_nanometre():
    x, k = ap.coordinates("x", "m"), ap.parameters("k", "N/m")
    ground = ap.Frame("ground")
    tip = ap.Particle("tip", 1e-11, ground.point(x, 0))
    system = ap.compile(ap.derive(ap.Model(ground, x, [tip], [ap.Spring(ground.point(0, 0), tip.center, k)])))
    stiffness = np.linspace(0.09, 0.11, 16)
    levels = [ap.Event(x - level, -1, name=f"{level:g}") for level in (0, 5e-10, 6e-10)]
    run = {"until": 1e-4, "points": 3, "rtol": 1e-12, "atol": 1e-21}
    study = ap.sweep(system, {k: stiffness}, start={x: 1e-9}, events=levels, **run)
    expected = np.arccos([0, 0.5, 0.6]) / np.sqrt(stiffness[:, None] / 1e-11)
    np.testing.assert_allclose(study["event_time"].values, expected, rtol=1e-9, atol=0)
    assert (study["event_count"].values == 2).all()
    assert study.dataset["lane"].values.all()


def test_a_guard_that_dips_below_zero_within_a_step_is_seen():
    """x = a cos t passes -0.9999 for a moment, far shorter than a step, or does not."""
    x = ap.coordinates("x", "m")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -x})])
    events = [ap.Event(x + 0.9999, name="low"), ap.Event(x + 0.9999, direction=1, name="up")]
    amplitudes = np.array([1.0, 0.9998, 1.00001, 1.1, 0.5, 0.99991])
    study = ap.sweep(ap.compile(ap.derive(model)), {x: amplitudes}, until=5.0, points=3, events=events, rtol=1e-11)
    assert study["event_count"].values[:, 0].tolist() == [2, 0, 2, 2, 0, 2]
    assert study["event_count"].values[:, 1].tolist() == [1, 0, 1, 1, 0, 1]
    seen = amplitudes > 0.9999
    shift = np.arccos(0.9999 / amplitudes[seen])
    np.testing.assert_allclose(study["event_time"].values[seen, 0], np.pi - shift, rtol=1e-7, atol=0)
    np.testing.assert_allclose(study["event_time"].values[seen, 1], np.pi + shift, rtol=1e-7, atol=0)
    assert study.dataset["lane"].values.all()


# What goes one by one.


def test_corners_may_be_crossed_in_lanes():
    x, F = ap.coordinates("x"), ap.inputs("F")
    ground = ap.Frame("ground")
    law = sp.Max(-0.7, sp.Min(0.7, -4 * x - 2 * x.rate))
    model = ap.Model(ground, x, [ap.Particle("p", 1, ground.point(x))], [ap.Generalized({x: F})])
    system = ap.compile(ap.derive(model).close({F: law})).bind()
    over, options = {"x": [0.3, 1.0, 2.0]}, {"until": 6.0, "points": 7, "rtol": 1e-9, "progress": False}
    located, crossed = (ap.sweep(system, over, corners=how, **options) for how in ("locate", "cross"))
    assert located.info["reasons"] == crossed.info["reasons"] == {}
    assert not np.array_equal(located["x"], crossed["x"])
    np.testing.assert_allclose(crossed["x"], located["x"], rtol=0, atol=1e-7)
    with pytest.raises(IntegrationError, match="'locate' or 'cross'"):
        ap.sweep(system, over, corners="jump", until=1.0)
    jumping = ap.compile(ap.derive(model).close({F: -sp.sign(x)})).bind()
    found = (ap.sweep(jumping, over, corners=how, **options) for how in ("locate", "cross"))
    np.testing.assert_array_equal(*(study["x"] for study in found))  # jumps are located in any case


def test_stiff_runs_are_made_one_by_one_and_the_others_are_not():
    x = ap.coordinates("x", "m")
    c = ap.parameters("c")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -c * x.rate - x})])
    study = ap.sweep(ap.compile(ap.derive(model)), {c: [1.0, 1e5]}, start={x: 1.0}, until=5.0, points=3)
    assert study.dataset["lane"].values.tolist() == [1, 0]
    assert study.info["reasons"] == {"they are stiff": 1}
    np.testing.assert_allclose(study["x"].values[1, -1], np.exp(-5.0 / 1e5), rtol=1e-6, atol=0)


@pytest.mark.parametrize(("least", "chunks"), [(1e5, 20), (1.0, 1)])
def test_stiff_runs_have_small_chunks_unless_they_are_few(least, chunks, tmp_path):
    """Each may take minutes: all cores share them, and whoever is interrupted keeps those that were made."""
    x, c = ap.coordinates("x", "m"), ap.parameters("c")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -c * x.rate - x})])
    over = {c: np.append(np.linspace(least, 2 * least, 30), np.linspace(1e5, 2e5, 10))}
    options = {"start": {x: 1.0}, "until": 5.0, "points": 3, "workers": 2}
    study = ap.sweep(ap.compile(ap.derive(model)), over, **options, out=tmp_path / "study.zarr")
    assert study.info["reasons"] == {"they are stiff": 40 if chunks > 1 else 10}
    assert len(read_journal(tmp_path / "study.zarr")) == chunks


@pytest.mark.parametrize(("count", "together"), [(10, False), (17, True)])
def test_moderately_stiff_runs_share_lanes_if_they_are_many(count, together):
    """As many steps as stability asks for take longer than a few runs by CVODES, however many lanes make them."""
    x, c = ap.coordinates("x", "m"), ap.parameters("c")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -c * x.rate - x})])
    study = ap.sweep(
        ap.compile(ap.derive(model)),
        {c: np.linspace(4e4, 5e4, count)},
        start={x: 1.0},
        until=1.0,
        points=3,
        max_steps=20,
    )
    assert (study.dataset["lane"].values == together).all()


def test_a_mass_that_runs_out_ends_a_run_as_simulate_says():
    tank, x = ap.states("tank", "kg"), ap.coordinates("x", "m")
    flow = ap.parameters("flow")
    ground = ap.Frame("ground")
    cart = ap.Particle("cart", tank, ground.point(x, 0))
    model = ap.Model(ground, x, [cart], states={tank: -flow}, name="leak")
    system = ap.compile(ap.derive(model))
    study = ap.sweep(system, {flow: [0.1, 1.0]}, start={tank: 2.0, x.rate: 1.0}, until=4.0, points=5)
    assert study.outcomes == {"DONE": 1, "MASS_USED_UP": 1}
    np.testing.assert_allclose(study.failures["t"].iloc[0], 2.0, rtol=1e-9, atol=0)


def leaking_oscillator():
    """Its frequency grows without bound while its mass goes to zero, so that steps become ever shorter."""
    x, r, ground = ap.coordinates("x"), ap.parameters("r"), ap.Frame("ground")
    tank = ap.Particle("tank", 1 - r * ap.t, ground.point(x))
    return ap.Model(ground, x, [tank], [ap.Generalized({x: 1 - x})]), "r", ap.Outcome.MASS_USED_UP


def driven_toggle():
    """A crank drives a rocker, from which a pendulum hangs, up to where coupler and rocker are in line."""
    a, d, e = ap.coordinates("a d e")
    v, ground = ap.parameters("v"), ap.Frame("ground")
    crank, rocker = sp.Matrix([sp.cos(a), sp.sin(a)]), sp.Matrix([3 + sp.cos(d), sp.sin(d)])
    hanging = rocker + sp.Matrix([sp.sin(e), -sp.cos(e)])
    places = {"crank": crank, "rocker": rocker, "bob": hanging}
    bodies = [ap.Particle(name, 1, ground.point(*place)) for name, place in places.items()]
    rows = [ap.Holonomic((crank - rocker).dot(crank - rocker) - 4), ap.Holonomic(a - v * ap.t - 1)]
    start = {a: 1.0, d: 2.0, e: 0.1}
    model = ap.Model(ground, (a, d, e), bodies, [ap.Gravity(-9.81 * ground.y)], rows, values={v: 1.0}, start=start)
    return model, "v", ap.Outcome.ROWS_SINGULAR


@pytest.mark.parametrize("made", [leaking_oscillator, driven_toggle])
def test_an_early_end_of_a_lane_has_the_name_and_the_cause_that_simulate_gives(made):
    model, letter, outcome = made()
    system = ap.compile(ap.derive(model))
    study = ap.sweep(system, {letter: [0.6, 1.1]}, until=4.0, points=5, progress=False)
    assert bool(study["lane"].values.all()) is (outcome is not ap.Outcome.ROWS_SINGULAR)
    for failure in study.failures.to_dict("records"):
        bound = system.bind({letter: failure[letter]})
        start = bound.consistent({}, model.start) if model.rows else None
        motion = ap.simulate(bound, start, 4.0, method="dop853", rtol=1e-9, atol=1e-9, progress=False)
        assert failure["outcome"] == motion.outcome.name == outcome.name
        assert failure["reason"].partition("cause")[2] == motion.detail.partition("cause")[2] != ""
    assert len(study.failures) == 2
