"""Sweeps: lanes give what single runs give, whatever surrounds them; designs; what is told of failures."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble import LogUniform, Normal, Uniform, plan
from appell.ensemble.lane_machine import LaneMachine
from appell.ensemble.runner import Runner, Settings
from appell.ensemble.switching import best_growths, growths
from appell.errors import IntegrationError, ModelError
from appell.kinematics.chart import Split


@pytest.fixture(scope="module")
def pendulums():
    """Lanes as machine code, however few steps they make."""
    return ap.compile(ap.derive(ap.library.pendulum_chain(2)), "heyoka").bind()


@pytest.fixture(scope="module")
def rod():
    """A driven pendulum with an input."""
    theta, tau = ap.coordinates("theta", "rad"), ap.inputs("tau", "N*m")
    m, l, g = ap.parameters("m l g", "kg m m/s^2")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", m, ground.pin(theta).point(0, -l))
    forces = [ap.Gravity(-g * ground.y), ap.Generalized({theta: tau}, "motor")]
    values = {m: 1.0, l: 1.0, g: 9.81, tau: 0.0}
    return ap.compile(ap.derive(ap.Model(ground, theta, [bob], forces, name="rod", values=values))).bind()


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
        ("appell-hamel", [{"m": 1.0}, {"m": 1.2}], 1.0),
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
    assert_same(study, motions)
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


@pytest.mark.parametrize("lanes", [4, 12, 64])
def test_a_run_does_not_depend_on_how_many_lanes_there_are(pendulums, lanes):
    """Few lanes take many runs one after the other, many lanes end idle; table, events and ends stay the same."""
    q1, _ = pendulums.model.coordinates
    grid = np.linspace(0, 2.0, 8)
    events = (ap.Event(q1, name="low"), ap.Event(q1 + 0.6, stop=True, name="far"))
    settings = Settings(grid, 0.0, 2.0, "auto", 1e-9, 1e-9, events, {}, None, 10_000)
    runner = Runner(pendulums, settings, ["q1", "q2"])
    rng = np.random.default_rng(5)
    columns = {"q1": rng.uniform(0.1, 1.5, 37), "q2": rng.uniform(-1, 1, 37)}
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
    np.testing.assert_allclose(growths(split, jacobian)[:50], [split.growth(J) for J in jacobian[:50]], rtol=1e-10)
    assert np.isinf(growths(split, jacobian)[59])
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
    assert len(located.info["reasons"]) == 1
    assert crossed.info["reasons"] == {}
    np.testing.assert_allclose(crossed["x"], located["x"], rtol=0, atol=1e-7)
    with pytest.raises(IntegrationError, match="'locate' or 'cross'"):
        ap.sweep(system, over, corners="jump", until=1.0)
    jumping = ap.compile(ap.derive(model).close({F: -sp.sign(x)})).bind()
    assert len(ap.sweep(jumping, over, corners="cross", **(options | {"until": 0.2})).info["reasons"]) == 1


def test_kinks_are_made_one_by_one_and_said_so():
    x = ap.coordinates("x", "m")
    mu = ap.parameters("mu")
    ground = ap.Frame("ground")
    model = ap.Model(
        ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -mu * sp.sign(x.rate)})]
    )
    study = ap.sweep(ap.compile(ap.derive(model)), {mu: [1.0, 2.0]}, start={x.rate: 1.0}, until=3.0, points=4)
    np.testing.assert_allclose(study["x"].values[:, -1], [0.5, 0.25], rtol=1e-9, atol=0)  # v^2 / (2 mu)
    assert study.info["reasons"] == {"the equations have kinks, which are located run by run": 2}
    assert not study.dataset["lane"].values.any()


def test_stiff_runs_are_made_one_by_one_and_the_others_are_not():
    x = ap.coordinates("x", "m")
    c = ap.parameters("c")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [ap.Generalized({x: -c * x.rate - x})])
    study = ap.sweep(ap.compile(ap.derive(model)), {c: [1.0, 1e5]}, start={x: 1.0}, until=5.0, points=3)
    assert study.dataset["lane"].values.tolist() == [1, 0]
    assert study.info["reasons"] == {"stiff": 1}
    np.testing.assert_allclose(study["x"].values[1, -1], np.exp(-5.0 / 1e5), rtol=1e-6, atol=0)


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


# Designs.


def test_all_combinations_have_axes(rod):
    study = ap.sweep(rod, {"l": [0.5, 1.0, 2.0], "theta": [0.1, 0.2]}, until=1.0, points=3)
    assert len(study) == 6
    product = study.product
    assert product["theta"].dims == ("l", "theta.start", "t")
    one = product["theta"].sel({"l": 2.0, "theta.start": 0.1})
    motion = next(singles(rod, [{"l": 2.0, "theta": 0.1}], 1.0, 3, rtol=1e-9, atol=1e-9))
    np.testing.assert_allclose(one.values, motion.columns["theta"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("sampling", ["random", "latin", "sobol"])
def test_samples_have_their_distribution_and_their_seed(rod, sampling):
    def drawn(seed):
        over = {"theta": Uniform(-1, 3), "l": LogUniform(0.5, 2.0), "tau": Normal(1.0, 0.2)}
        study = ap.sweep(rod, over, runs=256, sampling=sampling, seed=seed, until=0.01, points=2)
        return study["theta.start"].values, study["l"].values, study["tau"].values

    theta, l, tau = drawn(1)
    assert ((theta > -1) & (theta < 3)).all()
    assert ((l > 0.5) & (l < 2)).all()
    bound = 4 if sampling == "random" else 1
    assert abs(theta.mean() - 1) < bound * 4 / np.sqrt(12 * 256)
    assert abs(np.log(l).mean()) < bound * np.log(4) / np.sqrt(12 * 256)
    assert abs(tau.mean() - 1) < bound * 0.2 / 16
    assert abs(tau.std() - 0.2) < 0.05
    if sampling == "latin":
        assert np.unique(np.floor((theta + 1) * 64).astype(int)).size == 256  # one in every slice
    for again, first in zip(drawn(1), (theta, l, tau), strict=True):
        np.testing.assert_array_equal(again, first)
    assert not np.array_equal(drawn(2)[0], theta)


def test_gains_of_a_law_can_be_varied(rod):
    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    k, d = ap.parameters("k d")
    over = {k: [1.0, 10.0], d: [0.1, 1.0]}
    study = ap.sweep(rod, over, inputs={tau: -k * theta - d * theta.rate}, start={theta: 0.5}, until=2.0, points=5)
    assert study.dataset["lane"].values.all()
    motion = ap.simulate(
        rod, {theta: 0.5}, 2.0, inputs={tau: -10 * theta - theta.rate}, method="dop853", rtol=1e-9, atol=1e-9, points=5
    )
    for name in ("theta", "theta.rate", "tau"):
        np.testing.assert_allclose(study[name].values[3], motion.columns[name], rtol=1e-12, atol=1e-12)


def test_programmes_controllers_and_starts_can_be_varied(rod):
    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    study = ap.sweep(rod, {tau: {"rest": 0.0, "swing": sp.sin(ap.t)}, "theta": [0.1]}, until=1.0, points=3)
    assert study["tau.choice"].values.tolist() == ["rest", "swing"]
    np.testing.assert_allclose(study["tau"].values[1], np.sin([0, 0.5, 1]), rtol=1e-12, atol=0)

    def soft(t, state):
        return -state["theta"]

    def broken(t, state):
        raise RuntimeError("no signal")

    study = ap.sweep(rod, {"control": [soft, broken]}, start={theta: 0.1}, until=1.0, points=3)
    assert study.outcomes == {"DONE": 1, "RAISED": 1}
    assert "no signal" in study.failures["reason"].iloc[0]
    expected = ap.simulate(rod, {theta: 0.1}, 1.0, inputs={tau: -theta}, points=3)
    np.testing.assert_allclose(study["theta"].values[0], expected.columns["theta"], rtol=1e-8, atol=1e-9)

    starts = {"low": {theta: 0.1}, "high": rod.state({theta: 3.0})}
    study = ap.sweep(rod, {"start": starts, "l": [1.0, 2.0]}, until=1.0, points=3)
    assert study["start.choice"].values.tolist() == ["low", "low", "high", "high"]
    assert study["theta"].values[:, 0].tolist() == [0.1, 0.1, 3.0, 3.0]


def test_runs_can_be_given_as_a_table(rod):
    import pandas

    table = pandas.DataFrame({"l": [0.5, 1.0], "theta": [0.1, 0.2]})
    assert_equal(
        ap.sweep(rod, table, until=1.0, points=3), ap.sweep(rod, table.to_dict("records"), until=1.0, points=3)
    )


# What a study tells.


def test_statistics_are_those_of_numpy(rod):
    study = ap.sweep(
        rod,
        {"theta": Uniform(-1, 1)},
        runs=40,
        until=1.0,
        points=4,
        outputs={"height": -sp.cos(rod.model.coordinates[0])},
    )
    found, values = study.statistics("theta", "height"), study["theta"].values
    np.testing.assert_allclose(found["theta"].sel(statistic="mean"), values.mean(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        found["theta"].sel(statistic="95% quantile"), np.quantile(values, 0.95, axis=0), rtol=1e-12, atol=0
    )
    np.testing.assert_allclose(study["height"], -np.cos(values), rtol=1e-13, atol=0)
    assert (found["height"].sel(statistic="runs") == 40).all()


def test_a_study_draws_and_saves_itself(rod, tmp_path):
    study = ap.sweep(rod, {"theta": [0.1, 0.5], "l": [1.0, 2.0]}, until=1.0, points=4)
    for i, options in enumerate(({}, {"against": "l"}, {"against": ["l", "theta"]})):
        study.plot("theta", path=tmp_path / f"{i}.png", **options)
        assert (tmp_path / f"{i}.png").stat().st_size > 5000
    assert study.save(tmp_path / "study.nc").exists()
    assert "4 runs, all combinations of 2 theta, 2 l" in str(study)
    assert "4 DONE" in study.summary()


def test_without_heyoka_the_same_lanes_run_on_casadi(pendulums):
    plain = ap.compile(pendulums.equations, "casadi").bind()
    rows = [{"q1": 0.3}, {"q1": 0.6}, {"q1": 0.9}]
    study, other = (ap.sweep(s, rows, until=1.0, points=4) for s in (pendulums, plain))
    for name in study.info["columns"]:
        np.testing.assert_allclose(study[name], other[name], rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(study["steps"], other["steps"])


def test_machine_code_is_made_where_it_pays(monkeypatch):
    """By the number of steps, which is the same on every machine; never for a handful of short runs."""
    system = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()
    made = []
    compile = LaneMachine.compile
    monkeypatch.setattr(LaneMachine, "compile", lambda self: made.append(self.function.name()) or compile(self))
    over, options = {"q1": [0.1, 0.4, 0.7]}, {"until": 1.0, "points": 3}
    few = ap.sweep(system, over, **options)
    assert not made
    monkeypatch.setattr(plan, "WORTH", int(few["steps"].sum()) // 2)
    many = ap.sweep(system, over, **options)
    assert "step" in made
    np.testing.assert_array_equal(many["steps"], few["steps"])
    np.testing.assert_allclose(many["q1"], few["q1"], rtol=1e-12, atol=1e-13)


# Bad input.


@pytest.mark.parametrize(
    ("over", "options", "words"),
    [
        ({"lenght": [1.0]}, {}, "'lenght' is no parameter, input or state of 'rod'"),
        ({}, {}, "The sweep is empty"),
        ({"l": []}, {}, "no values for 'l'"),
        ([], {}, "The sweep is empty"),
        ({"l": Uniform(1, 2)}, {}, "say how many runs"),
        ({"l": [1.0]}, {"runs": 5}, "goes with distributions"),
        ({"l": Uniform(1, 2)}, {"runs": 0}, "positive whole number"),
        ({"l": [1.0, np.inf]}, {}, "must be finite"),
        ({"l": ["long"]}, {}, "must be numbers"),
        ({"l": Uniform(1, 2)}, {"runs": 4, "sampling": "monte carlo"}, "Unknown sampling"),
        ({"l": [1.0]}, {"rtol": -1.0}, "must be positive"),
        ({"l": [1.0]}, {"until": -1.0}, "must end after"),
        ({"l": [1.0]}, {"method": "euler"}, "Unknown method"),
        ({"l": [1.0]}, {"out": "study.nc"}, "ends in .zarr"),
        ({"l": [1.0]}, {"resume": True}, "resume=True needs"),
        ({"l": [1.0]}, {"chunk": 0}, "positive whole number"),
        ({"tau": [1.0]}, {"inputs": {"tau": sp.sin(ap.t)}}, "given by a formula"),
        ([{"l": 1.0}, {"g": 1.0}], {}, "give the same names"),
    ],
)
def test_bad_input_is_refused_with_words(rod, over, options, words):
    with pytest.raises((ModelError, IntegrationError), match=words):
        ap.sweep(rod, over, **{"until": 1.0, **options})


def test_distributions_refuse_nonsense():
    for bad in (lambda: Uniform(2, 1), lambda: Normal(0, 0), lambda: LogUniform(-1, 1)):
        with pytest.raises(ModelError):
            bad()


def test_a_start_that_is_impossible_fails_alone():
    system = ap.compile(ap.derive(ap.library.four_bar())).bind()
    length = next(name for name in system.values if name.startswith("l"))
    study = ap.sweep(system, {length: [system.values[length], 50.0]}, until=0.5, points=2)
    assert study.outcomes == {"DONE": 1, "NOT_STARTED": 1}
    assert "No positions satisfy the constraint" in study.failures["reason"].iloc[0]


def test_a_negative_mass_fails_alone(rod):
    study = ap.sweep(rod, {"m": [1.0, -1.0]}, start={"theta": 0.1}, until=0.5, points=2)
    assert study.outcomes == {"DONE": 1, "NOT_STARTED": 1}
    assert "it must be positive" in study.failures["reason"].iloc[0]
