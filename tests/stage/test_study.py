"""What a study tells of its runs, and what is refused."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sympy as sp
from scipy import stats

import appell as ap
from appell.ensemble import LogUniform, Normal, Uniform, open_study, plan
from appell.ensemble.local import room
from appell.errors import AppellError, IntegrationError, ModelError, StoreError

# Few runs.


def test_few_runs_are_made_one_by_one_whatever_the_chunks(rod):
    over, options = {"theta": np.linspace(0.1, 3.0, 8)}, {"until": 2.0, "points": 4}
    study = ap.sweep(rod, over, **options)
    assert study.info["reasons"] == {"they are few": 8}
    assert "run by run at 1e-09" in study.summary()  # and not lanes
    for run, theta in enumerate(over["theta"]):
        start = {**rod.model.start, "theta": theta}
        motion = ap.simulate(rod, start, 2.0, method="dop853", points=4, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(study["theta"].values[run], motion.columns["theta"])
        assert study["steps"].values[run] == motion.info["steps"]
    for how in ({"chunk": 1, "workers": 2}, {"chunk": 3, "workers": 1}):
        assert ap.sweep(rod, over, **options, **how).dataset.equals(study.dataset)
    many = ap.sweep(rod, {"theta": np.linspace(0.1, 3.0, 9)}, **options)
    assert many.dataset["lane"].values.all()
    wanted = ap.compile(rod.equations, "heyoka").bind(rod.values)
    assert ap.sweep(wanted, over, **options).dataset["lane"].values.all()


def test_the_summary_says_what_became_of_events(rod, tmp_path):
    theta = rod.model.coordinates[0]
    events = [
        ap.Event(theta, name="lowest"),
        ap.Event(theta - 9, name="never"),
        ap.Event(theta + 1, stop=True, name="far"),
    ]
    options = {"until": 4.0, "points": 3, "events": events, "start": {"theta.rate": 0.0}}
    study = ap.sweep(rod, {"theta": np.linspace(0.5, 1.5, 9)}, **options, out=tmp_path / "study.zarr")
    for found in (study, open_study(tmp_path / "study.zarr")):
        table = found.events
        assert table["runs"].tolist() == [9, 0, 4]
        assert table["stopped"].tolist() == [0, 0, 4]
        assert table["times"].tolist() == study["event_count"].values.sum(axis=0).tolist()
        assert table.loc["far", "earliest"] == np.nanmin(study["event_time"].values[:, 2])
        lines = found.summary().splitlines()
        assert lines[4] == "never: in 0 of 9 runs"
        assert lines[5].startswith("far: in 4 of 9 runs, first at 0.")
        assert lines[5].endswith(" s, 4 times in all; stopped 4 runs")
    assert ap.sweep(rod, {"theta": [0.5]}, until=1.0).events.empty
    assert (
        ap.sweep(rod, {"theta": [0.5]}, **{**options, "until": 1.0})
        .summary()
        .splitlines()[4]
        .endswith(" s, once in all")
    )


@pytest.mark.parametrize("few", [0, 8])
def test_values_at_the_end_are_those_at_the_end_wherever_the_table_ends(rod, few, monkeypatch):
    monkeypatch.setattr(plan, "FEW", few)
    whole = ap.sweep(rod, {"theta": [0.5, 1.0]}, until=3.0, points=4)
    part = ap.sweep(rod, {"theta": [0.5, 1.0]}, until=3.0, at=[0.0, 1.0])
    assert part["end"].values.tolist() == [3.0, 3.0]
    np.testing.assert_array_equal(part["theta.end"], whole["theta"][:, -1])
    np.testing.assert_array_equal(part["theta"], whole["theta"][:, :2])


def test_a_few_stiff_runs_are_those_of_simulate():
    """Van der Pol's oscillator on its slow branch."""
    x, mu = ap.coordinates("x", "m"), ap.parameters("mu")
    ground = ap.Frame("ground")
    particle = ap.Particle("particle", 1, ground.point(x, 0))
    model = ap.Model(ground, x, [particle], [ap.Generalized({x: mu * (1 - x**2) * x.rate - x})])
    system = ap.compile(ap.derive(model)).bind({mu: 1000.0})
    study = ap.sweep(system, {x: [2.0]}, until=100.0, points=3)
    motion = ap.simulate(system, {x: 2.0}, 100.0, points=3, rtol=1e-9, atol=1e-9)
    assert motion.info["method"] == "cvodes"
    np.testing.assert_array_equal(study["x"].values[0], motion.columns["x"])


# What a study tells.


def test_a_run_is_made_again_as_a_motion(rod, tmp_path):
    theta, tau = rod.model.coordinates[0], rod.model.inputs[0]
    over = {"theta": np.linspace(0.1, 3.0, 9), "start": [{"theta.rate": 0.0}, {"theta.rate": 1.0}]}
    where = {"until": 2.0, "points": 4, "inputs": {tau: -0.3 * theta}, "out": tmp_path / "s.zarr"}
    study = ap.sweep(rod, over, **where)
    for run in (0, 7, 17):
        motion = study.motion(run)
        np.testing.assert_allclose(study["theta"].values[run], motion.columns["theta"], atol=1e-12)
        assert motion.check().ok
    some = study.select([7, 17])
    np.testing.assert_array_equal(some.motion(17).columns["theta"], motion.columns["theta"])
    with pytest.raises(ModelError, match="no run 0 among the 2 runs"):
        some.motion(0)
    with pytest.raises(ModelError, match="run must be a whole number"):
        study.motion("first")
    with pytest.raises(StoreError, match="resume=True"):
        open_study(tmp_path / "s.zarr").motion(7)
    again = ap.sweep(rod, over, **where, resume=True)
    np.testing.assert_array_equal(again.motion(17).columns["theta"], motion.columns["theta"])


def test_statistics_are_those_of_numpy(rod):
    study = ap.sweep(
        rod,
        {"theta": Uniform(-1, 1)},
        runs=40,
        until=1.0,
        points=4,
        outputs={"height": -sp.cos(rod.model.coordinates[0]), "three": 3},
    )
    found, values = study.statistics("theta", "height"), study["theta"].values
    np.testing.assert_allclose(found["theta"].sel(statistic="mean"), values.mean(axis=0), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        found["theta"].sel(statistic="95% quantile"), np.quantile(values, 0.95, axis=0), rtol=1e-12, atol=0
    )
    np.testing.assert_allclose(study["height"], -np.cos(values), rtol=1e-13, atol=0)
    assert (study["three"] == 3.0).all()
    assert (found["height"].sel(statistic="runs") == 40).all()


def test_a_study_draws_and_saves_itself(rod, tmp_path):
    study = ap.sweep(rod, {"theta": [0.1, 0.5], "l": [1.0, 2.0]}, until=1.0, points=4)
    for i, options in enumerate(({}, {"against": "l"}, {"against": ["l", "theta"]})):
        plot = study.plot("theta", path=tmp_path / f"{i}.png", **options)
        assert (tmp_path / f"{i}.png").stat().st_size > 5000
    (drawn,) = plot.panels[0].items  # all combinations: a map
    assert plot.spec()["data"][0]["type"] == "heatmap"
    np.testing.assert_array_equal(drawn.z, study.product["theta.end"])  # rows are what goes upward, the angles
    some = study.select([0, 1, 2]).plot("theta", against=["l", "theta"]).spec()["data"][0]
    assert some["marker"]["color"] == pytest.approx(study["theta.end"].values[:3].tolist(), rel=1e-8)
    with pytest.raises(ap.AppellError, match=r"Cannot plot to 'z.foo': use .*\.png"):
        study.plot("theta", path=tmp_path / "z.foo")
    names = [line.name for line in study.plot("theta").panels[0].items]
    assert names[:2] == ["θ = 0.1, l = 1", "θ = 0.1, l = 2"]  # so few runs are drawn one by one
    assert study.save(tmp_path / "study.nc").exists()
    table = pd.read_csv(study.save(tmp_path / "study.csv"))
    np.testing.assert_array_equal(table["theta.end"], study["theta.end"].values)
    assert "failures" not in study.dataset.attrs
    assert "4 runs, all combinations of 2 values of theta, 2 values of l" in str(study)
    assert "4 DONE" in study.summary()


def test_what_is_varied_over_decades_has_a_logarithmic_axis(rod, tmp_path):
    study = ap.sweep(rod, {"m": np.logspace(-2, 2, 5), "l": [1.0, 1.5, 2.0]}, until=0.1, points=2)
    assert study.plot("theta", against="m").panels[0].log == "x"
    plot = study.plot("theta", against=["l", "m"], path=tmp_path / "map.png")
    assert plot.panels[0].log == "y"
    corners = plot.figure().axes[0].collections[0].get_coordinates()
    np.testing.assert_allclose(corners[:, 0, 1], np.logspace(-2.5, 2.5, 6))  # half-way as the eye sees it
    np.testing.assert_allclose(corners[0, :, 0], [0.75, 1.25, 1.75, 2.25])
    even = ap.sweep(rod, {"m": Uniform(0.001, 1)}, runs=9, until=0.1, points=2)
    assert even.plot("theta", against="m").panels[0].log == ""
    one = ap.sweep(rod, {"m": [1.0]}, until=0.1, points=2)
    assert one.plot("theta", against="m").panels[0].log == ""


def test_what_has_one_number_for_each_run_is_drawn_as_a_distribution_or_over_what_was_varied(rod):
    far = ap.Event(rod.model.coordinates[0] + 0.3, direction=-1, name="far")
    study = ap.sweep(rod, {"theta": [0.1, 0.5], "tau": {"none": 0.0, "some": 0.1}}, until=1.0, points=4, events=[far])
    shares, steps = study.plot("theta.end", "steps").panels
    np.testing.assert_array_equal(shares.items[0].y, np.sort(study["theta.end"]))
    np.testing.assert_allclose(shares.items[0].x, [0.125, 0.375, 0.625, 0.875])
    assert "at the end" in shares.y
    assert "at the end" not in steps.y
    with pytest.raises(ModelError, match=r"theta, theta\.end have a time axis and others have not"):
        study.plot("theta", "theta.end")
    (scatter,) = study.plot("steps", against="theta").panels
    assert [line.name for line in scatter.items] == ["none", "some"]  # what was chosen has colours of its own
    for i, line in enumerate(scatter.items):
        np.testing.assert_array_equal(line.y, study["steps"][i::2])
    for name in ("tau.choice", "event_time"):
        with pytest.raises(ModelError, match=f"'{name}' is not a number for every run"):
            study.plot(name)


def test_what_was_varied_has_its_unit(tmp_path):
    """On axes, in memory and on disk; also a unit that others read as a span of time, and of what is not kept."""
    x, force = ap.coordinates("x", "m"), ap.inputs("force", "N")
    k, T = ap.parameters("k T", "N/m^2 seconds")
    ground = ap.Frame("ground")
    mass = ap.Particle("mass", 1, ground.point(x, 0))
    pull = ap.Generalized({x: force * sp.exp(-ap.t / T) - k * x})
    model = ap.Model(ground, x, [mass], [pull], values={k: 1.0, T: 2.0, force: 0.0})
    system = ap.compile(ap.derive(model)).bind()
    over, event = {k: [1.0, 2.0], T: [1.0, 3.0], "x": [0.5, 1.0], "force": [0.0, 1.0]}, ap.Event(x, name="zero")
    for out in (None, tmp_path / "study.zarr"):
        study = ap.sweep(
            system, over, until=1.0, points=3, columns=["x.rate"], outputs={"way": sp.Abs(x)}, events=[event], out=out
        )
        names = ("k", "T", "x.start", "force", "event_time", "x.rate.end", "way", "way.end")
        units = {name: study[name].attrs["units"] for name in names}
        assert list(units.values()) == ["N/m^2", "seconds", "m", "N", "s", "m/s", "m", "m"]
        assert study["T"].values[:2].tolist() == [1.0, 1.0]
        assert study.product["k"].attrs["units"] == "N/m^2"
        (panel,) = study.plot("x.rate", against=("k", "x")).panels
        assert (panel.x, panel.y) == ("k [N/m²]", "x at the start [m]")


def test_plain_xarray_reads_a_folder_with_its_labels(rod, tmp_path):
    import xarray

    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    over = {tau: {"at rest": 0.0, "swing": sp.sin(ap.t)}, theta: [0.0, 0.5]}
    events = [ap.Event(theta - 9, name="never"), ap.Event(theta - 0.4, stop=True, name="low")]
    study = ap.sweep(rod, over, until=1.0, points=3, events=events, out=tmp_path / "study.zarr")
    data = xarray.open_zarr(tmp_path / "study.zarr", chunks=None)
    meanings = np.array(data["outcome"].attrs["flag_meanings"].split())
    assert meanings[data["outcome"].values.astype(int)].tolist() == ["DONE", "EVENT", "DONE", "EVENT"]
    np.testing.assert_array_equal(data["event_time"].sel(event="low"), study["event_time"].sel(event="low"))
    assert data["tau.choice"].attrs["labels"] == ["at rest", "swing"]
    assert data["t"].attrs["units"] == "s"


def test_a_table_has_a_row_for_each_run(rod):
    over = {"theta": [0.1, 3.0], "m": [1.0, -1.0]}
    study = ap.sweep(rod, over, until=1.0, points=3)
    table = study.to_pandas()
    assert list(table.columns) == ["theta.start", "m", "outcome", "end", "theta.end", "theta.rate.end"]
    assert table["outcome"].tolist() == ["DONE", "NOT_STARTED"] * 2
    assert table.index.name == "run"
    np.testing.assert_array_equal(table["theta.end"], study["theta.end"])
    low = ap.Event(rod.model.coordinates[0] - 0.05, stop=True, name="low")
    study = ap.sweep(rod, {"theta": np.linspace(0.0, 0.4, 8)}, until=1.0, points=3, events=[low])
    table = study.to_pandas()
    np.testing.assert_array_equal(table["low.time"], study["event_time"].sel(event="low"))
    assert table["low.count"].tolist() == [0] + 7 * [1]
    assert [band.name for band in study.plot("theta").panels[0].items][:1] == ["90 % of 8 .. 1 runs"]


def test_some_runs_of_a_study_are_a_study(rod, tmp_path):
    """By a condition or by numbers, in memory and on disk; runs keep their numbers, also those that failed."""
    over, options = {"l": [0.5, 1.0, 2.0], "theta": np.linspace(-1, 1, 10)}, {"until": 2.0, "points": 5}
    study = ap.sweep(rod, over, **options, max_steps=25)
    ap.sweep(rod, over, **options, max_steps=25, out=tmp_path / "study.zarr", chunk=7)
    assert {*study.outcomes} == {"DONE", "STEP_LIMIT"}
    for whole in (study, open_study(tmp_path / "study.zarr")):
        assert whole.dataset.where(whole["l"] < 1.5, drop=True).sizes["run"] == 20
        some = whole.select(whole["l"] < 1.5).select(np.arange(1, 20, 2))
        np.testing.assert_array_equal(some["theta"], study["theta"].values[1:20:2])
        assert some.failures.equals(study.failures.query("run % 2 == 1").reset_index(drop=True))
        assert 0 < len(some.failures) < len(study.failures)
        assert "10 chosen of 20" in str(some)
        good = study["theta"].values[1:20:2][some.ok]
        np.testing.assert_allclose(
            some.statistics("theta")["theta"].sel(statistic="mean"), good.mean(axis=0), atol=1e-15
        )
        some.save(tmp_path / "some.nc")
        assert open_study(tmp_path / "some.nc").failures.equals(some.failures)
        some.plot("theta", against="theta", path=tmp_path / "some.png")
    for nothing in (study["l"] > 7, [3, 30], []):
        with pytest.raises(ModelError, match=r"no such runs among the 30 runs|Give for each of 30 runs"):
            study.select(nothing)
    with pytest.raises(ModelError, match="Give for each of 30 runs whether"):
        study.select([True, False])


def test_a_study_that_was_saved_is_opened_again(rod, tmp_path):
    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    over = {tau: {"rest": 0.0, "swing": sp.sin(ap.t)}, "theta": [0.1, 3.0], "m": [1.0, -1.0]}
    study = ap.sweep(rod, over, until=1.0, points=3, events=[ap.Event(theta - 0.05, name="low")])
    assert not study.ok.all()
    again = ap.ensemble.open_study(study.save(tmp_path / "study.nc"))
    assert again.dataset.equals(study.dataset)
    assert again.summary() == study.summary()
    assert again.failures.equals(study.failures)
    assert again.product.equals(study.product)
    assert again["theta"].attrs == study["theta"].attrs
    with pytest.raises(AppellError, match=r"holds a study of many runs; read it with appell\.ensemble\.open_study"):
        ap.load(tmp_path / "study.nc")
    ap.sweep(rod, {"m": [1.0]}, until=1.0, points=3, out=tmp_path / "study.zarr")
    with pytest.raises(AppellError, match="holds a study of many runs"):  # without a warning of Zarr's
        ap.load(tmp_path / "study.zarr")
    ap.simulate(rod, until=0.1).save(tmp_path / "motion.nc")
    with pytest.raises(StoreError, match=r"holds one motion; read it with appell\.load"):
        ap.ensemble.open_study(tmp_path / "motion.nc")
    (tmp_path / "text.nc").write_text("nothing")
    with pytest.raises(
        StoreError, match=r"text\.nc is not a study written by appell; give the folder \.zarr of a sweep"
    ):
        ap.ensemble.open_study(tmp_path / "text.nc")


def test_without_any_good_run_statistics_are_nan_and_a_plot_says_so(tmp_path):
    x, k = ap.coordinates("x", "m"), ap.parameters("k")
    ground = ap.Frame("ground")
    particle = ap.Particle("particle", 1, ground.point(x, 0))
    system = ap.compile(ap.derive(ap.Model(ground, x, [particle], [ap.Generalized({x: -sp.sqrt(k) * x})])))
    study = ap.sweep(system, {k: [-1.0, -2.0], x: [1.0]}, until=1.0, points=3)
    assert not study.ok.any()
    found = study.statistics("x")["x"]
    assert np.isnan(found.sel(statistic=["mean", "deviation", "least", "greatest", "50% quantile"])).all()
    assert (found.sel(statistic="runs") == 0).all()
    for against in (None, "k", ["k", "x"]):
        plot = study.plot(against=against, path=tmp_path / "empty.png")
        words = "no run of 2 ended as wished"
        assert [t.get_text() for axis in plot.figure().axes for t in axis.texts] == [words]
        assert [e["text"] for e in plot.spec()["layout"]["annotations"]] == [words]


def test_it_is_said_of_how_many_runs_statistics_and_plots_are(rod):
    study = ap.sweep(rod, {"m": [1.0, -1.0, 2.0]}, until=1.0, points=3)
    assert study.outcomes["DONE"] == 2
    assert "2 of 3 runs, 3 values of m" in study.plot().figure().get_suptitle()
    assert "of 2 of 3 runs, which ended as wished" in study._repr_html_()
    whole = ap.sweep(rod, {"m": [1.0, 2.0]}, until=1.0, points=3)
    assert "2 runs, 2 values of m" in whole.plot().figure().get_suptitle()
    assert "ended as wished" not in whole._repr_html_()


# Bad input.


@pytest.mark.parametrize(
    ("over", "options", "words"),
    [
        ({"lenght": [1.0]}, {}, "'lenght' is not a parameter, input or state of 'rod'"),
        ({}, {}, "The sweep is empty"),
        ({"l": []}, {}, "no values for 'l'"),
        ([], {}, "The sweep is empty"),
        ({"l": Uniform(1, 2)}, {}, "say how many runs"),
        ({"l": [1.0]}, {"runs": 5}, "goes with distributions"),
        ({"l": [1.0]}, {"sampling": "sobol", "seed": 3}, "sampling=sobol, seed=3 goes with distributions"),
        ({"l": Uniform(1, 2)}, {"runs": 0}, "whole number, 1 or more"),
        ({"l": [1.0, np.inf]}, {}, "must be finite"),
        ({"l": ["long"]}, {}, "must be numbers"),
        ({"l": Uniform(1, 2)}, {"runs": 4, "sampling": "monte carlo"}, "Unknown sampling"),
        ({"l": [1.0]}, {"rtol": -1.0}, "must be a positive number"),
        ({"l": [1.0]}, {"until": -1.0}, "must end after"),
        ({"l": [1.0]}, {"method": "euler"}, "Unknown method"),
        ({"l": [1.0]}, {"out": "study.nc"}, "ends in .zarr"),
        ({"l": [1.0]}, {"resume": True}, "needs the folder to go on with"),
        ({"l": [1.0]}, {"chunk": 0}, "whole number, 1 or more"),
        ({"tau": [1.0]}, {"inputs": {"tau": sp.sin(ap.t)}}, "'tau' is given by inputs=... and cannot be varied"),
        ({"tau": [1.0]}, {"inputs": {"tau": 2.0}}, "'tau' is given by inputs=... and cannot be varied"),
        ({"l": [None, 1.0]}, {}, "'l' must be numbers, got None"),
        ({"start": [1.0]}, {}, "'start' is varied over states, or values by name; got the number 1"),
        ({"control": [1.0, 2.0]}, {}, "'control' is varied over Python functions"),
        ({"l": {"short": 1.0, "long": 2.0}}, {}, r"need no labels: 'l': \[1.0, 2.0\]"),
        ([{"l": 1.0}, {"g": 1.0}], {}, "give the same names"),
        ({"l": [1.0]}, {"start": {"zz": 1.0}}, "'zz' is not an entry of the state of 'rod'"),
        ({"start": [{"theta": 0.1}, {"zz": 1.0}]}, {}, "'zz' is not an entry of the state of 'rod'"),
        ({"l": [1.0]}, {"start": {"theta": np.nan}}, "'theta' must be a finite number"),
        ({"l": [1.0]}, {"max_steps": 0}, "max_steps must be a whole number, 1 or more"),
        ({"l": [1.0]}, {"max_steps": -1}, "max_steps must be a whole number, 1 or more"),
        ({"l": [1.0]}, {"max_steps": None}, "max_steps must be a whole number, 1 or more"),
        ({"l": [1.0]}, {"points": 2.5}, "points must be a whole number, 1 or more"),
        ({"l": stats.norm(0, 1)}, {"runs": 4}, "the distributions of a sweep are .*Uniform, Normal and LogUniform"),
        ({"l": [1.0]}, {"outputs": [1.0]}, "outputs must be formulas by name"),
        ({"l": [1.0]}, {"outputs": {"a": np.sin}}, "'a' must be a number or a formula"),
        (None, {}, "Give what to vary by name"),
        ("l", {}, "Give what to vary by name"),
        ([1.0], {}, "Give what to vary by name"),
        ([{"l": 1.0}, {"l": None}], {}, "'l' is None in run 1"),
        ({"l": [1.0]}, {"at": "abc"}, "must be numbers, got 'abc'"),
        ({"l": [1.0]}, {"out": 3}, "ends in .zarr, got out='3'"),
        ({"l": [1.0]}, {"events": None}, "must be a list of"),
        ({"l": Uniform(1, 2)}, {"runs": 4, "seed": -1}, "seed must be a whole number"),
        ({"l": Uniform(1, 2)}, {"runs": 4, "seed": 1.5}, "seed must be a whole number"),
        ({"l": Uniform(1, 2)}, {"runs": 4, "seed": "a"}, "seed must be a whole number"),
        ({"l": Uniform(1, 2)}, {"runs": 10**11}, "100,000,000,000 runs are more than one study holds"),
        ({"l": np.arange(1e5), "theta": np.arange(1e5)}, {}, "10,000,000,000 runs are more than one study holds"),
    ],
)
def test_bad_input_is_refused_with_words(rod, over, options, words):
    with pytest.raises((ModelError, IntegrationError), match=words):
        ap.sweep(rod, over, **{"until": 1.0, **options})


@pytest.mark.parametrize(
    "name",
    "steps end outcome lane event event_time event_count l theta.end theta.start more.end t run statistic".split(),
)
def test_an_output_with_the_name_of_something_else_is_refused(rod, name):
    over, (theta,) = {"l": [1.0, 2.0], "theta": [0.1]}, rod.model.coordinates
    with pytest.raises(ModelError, match=f"The output '{name}' has a name that a study needs for other values"):
        ap.sweep(rod, over, until=0.1, points=2, outputs={"more": theta, name: 100 * theta})


def test_a_name_with_a_slash_is_refused_on_disk(rod, tmp_path):
    options = {"until": 0.1, "points": 2, "outputs": {"a/b": rod.model.coordinates[0]}}
    assert "a/b" in ap.sweep(rod, {"l": [1.0]}, **options).dataset
    with pytest.raises(StoreError, match="'a/b' cannot be the name of a file"):
        ap.sweep(rod, {"l": [1.0]}, **options, out=tmp_path / "study.zarr")


def test_names_that_a_disk_does_not_tell_apart_are_refused(rod, tmp_path, monkeypatch):
    """As disks of macOS and Windows; else the times would be written over."""
    options = {"until": 0.1, "points": 2, "outputs": {"T": rod.model.coordinates[0]}}
    ap.sweep(rod, {"l": [1.0]}, **options, out=tmp_path / "here.zarr")

    def exists(path):
        return any(str(path).lower() == str(other).lower() for other in tmp_path.rglob("*"))

    monkeypatch.setattr(Path, "exists", exists)
    with pytest.raises(StoreError, match="differ in small and capital letters only"):
        ap.sweep(rod, {"l": [1.0]}, **options, out=tmp_path / "there.zarr")
    assert [path.name for path in tmp_path.iterdir()] == ["here.zarr"]


def test_distributions_refuse_nonsense():
    for bad in (
        lambda: Uniform(2, 1),
        lambda: Normal(0, 0),
        lambda: LogUniform(-1, 1),
        lambda: Uniform("a", 1),
        lambda: Normal(0, None),
        lambda: LogUniform([1], 2),
    ):
        with pytest.raises(ModelError):
            bad()


def test_a_start_that_is_impossible_fails_alone():
    system = ap.compile(ap.derive(ap.library.four_bar())).bind()
    length = next(name for name in system.values if name.startswith("l"))
    study = ap.sweep(system, {length: [system.values[length], 50.0]}, until=0.5, points=2)
    assert study.outcomes == {"DONE": 1, "NOT_STARTED": 1}
    assert "No positions satisfy the constraint" in study.failures["reason"].iloc[0]


def test_a_start_is_moved_onto_the_constraints_of_every_run():
    """With other lengths a four-bar stands elsewhere: what was named is kept, the rest follows; of a state all may."""
    system = ap.compile(ap.derive(ap.library.four_bar())).bind()
    lengths = np.linspace(0.8, 0.82, 9)
    near = system.consistent({"q1": 1.2})
    for start, kept in (({"q1": 1.2}, 1e-15), (near, 0.02)):
        study = ap.sweep(system, {"la": lengths}, start=start, until=0.1, points=2)
        assert study.outcomes == {"DONE": 9}
        np.testing.assert_allclose(study["q1"][:, 0], 1.2, atol=kept, rtol=0)
        assert np.ptp(study["q2"].values[:, 0]) > 1e-4
    wrong = ap.sweep(system, {"start": [{"q1": 1.2}, near]}, until=0.1, points=2)  # nothing else is varied
    assert wrong.outcomes == {"DONE": 1, "NOT_STARTED": 1}


def test_a_negative_mass_fails_alone(rod):
    study = ap.sweep(rod, {"m": [1.0, -1.0]}, start={"theta": 0.1}, until=0.5, points=2)
    assert study.outcomes == {"DONE": 1, "NOT_STARTED": 1}
    assert "it must be positive" in study.failures["reason"].iloc[0]


# What is kept.


@pytest.mark.parametrize("count", [3, 12])
def test_only_the_columns_that_are_asked_for_are_kept(rod, count, tmp_path):
    theta = rod.model.coordinates[0]
    over = {"theta": np.linspace(0.5, 1.5, count), "m": [1.0, -1.0]}
    options = {"until": 1.0, "points": 4, "outputs": {"tip": sp.sin(theta)}}
    whole = ap.sweep(rod, over, **options)
    some = ap.sweep(rod, over, **options, columns=[theta.rate], out=tmp_path / "some.zarr", chunk=5)
    assert some.info["columns"] == ["theta.rate", "tip"]
    gone = {"theta", "theta.end"}
    assert set(whole.dataset.variables) - set(some.dataset.variables) == gone
    assert some.dataset.equals(whole.dataset.drop_vars(gone))
    assert some.failures.equals(whole.failures)
    with pytest.raises(ModelError, match="'omega' is not a quantity that a sweep could keep"):
        ap.sweep(rod, over, **options, columns=["omega"])
    with pytest.raises(ModelError, match="columns must be a list of names"):
        ap.sweep(rod, over, **options, columns="theta")
    with pytest.raises(StoreError, match="differs in: the outputs"):
        ap.sweep(rod, over, **options, out=tmp_path / "some.zarr", chunk=5, resume=True)


def test_what_does_not_fit_into_memory_is_refused_before_it_fills_it(rod, tmp_path, monkeypatch):
    (tmp_path / "free").write_text("MemAvailable: 977 kB")
    monkeypatch.setattr("appell.ensemble.local.FREE", tmp_path / "free")
    over, options = {"m": np.linspace(1, 2, 1000)}, {"until": 0.1, "points": 101}
    with pytest.raises(StoreError, match=r"table of 1,000 runs takes 0\.00167 GB, and 0\.001 GB .*out='study\.zarr'"):
        ap.sweep(rod, over, **options)
    with pytest.raises(StoreError, match=r"900 runs of one chunk takes .* fewer columns"):
        ap.sweep(rod, over, **options, chunk=900, out=tmp_path / "study.zarr")
    assert not (tmp_path / "study.zarr").exists()
    assert ap.sweep(rod, over, **options, columns=["theta"]).complete


def test_free_memory_is_that_of_the_container(tmp_path, monkeypatch):
    for name, words in (("FREE", "MemTotal: 9 kB\nMemAvailable:   8000 kB"), ("LIMIT", "max"), ("USED", "1000")):
        monkeypatch.setattr(f"appell.ensemble.local.{name}", tmp_path / name)
        (tmp_path / name).write_text(words)
    assert room() == 8_192_000
    (tmp_path / "LIMIT").write_text("5000")
    assert room() == 4000
    (tmp_path / "FREE").unlink()
    (tmp_path / "LIMIT").unlink()
    assert room() == np.inf
