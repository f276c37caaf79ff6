"""A motion: quantities by name, symbol and formula, dense states, files, tables, pictures, words."""

import json

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import xarray

import appell as ap
from appell.errors import AppellError, ModelError, UndeclaredError


@pytest.fixture(scope="module")
def system():
    """The rolling disk in quasi-velocities."""
    model = ap.library.rolling_disk()
    (body,) = model.bodies
    omega = body.frame.parent.components(body.angular_velocity)
    formulation = ap.GibbsAppell(speeds=dict(zip(ap.speeds("w1 w2 w3", "rad/s"), omega, strict=True)))
    return ap.compile(ap.derive(model, formulation)).bind()


@pytest.fixture(scope="module")
def motion(system):
    lean = system.model.coordinates[1]
    return ap.simulate(system, until=2.0, points=21, outputs={"height": system.model.values["r"] * sp.cos(lean)})


@pytest.fixture(scope="module")
def letters(system):
    return {q.name: q for q in system.model.coordinates} | {u.name: u for u in system.equations.speeds}


def test_what_has_one_value_all_along_is_a_quantity_too():
    u, x = ap.inputs("u", "N"), ap.coordinates("x")
    m = ap.parameters("m", "kg")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("p", m, ground.point(x, 0))], [ap.Generalized({x: u})], values={m: 3.0})
    motion = ap.simulate(ap.compile(ap.derive(model)), until=1.0, inputs={u: 2.0}, points=3)
    for name, values, unit in ((u, [2, 2, 2], "N"), ("m", [3, 3, 3], "kg"), (ap.t, [0, 0.5, 1], "s")):
        np.testing.assert_array_equal(motion[name], values)
        assert motion[name].attrs["units"] == unit
    assert list(motion.columns) == ["x", "x.rate"]


def test_by_name_symbol_and_rate(motion, letters):
    lean = letters["lean"]
    for name in (lean, "lean"):
        assert motion[name].name == "lean"
        assert motion[name].attrs["units"] == "rad"
        assert motion[name].dims == ("t",)
        np.testing.assert_array_equal(motion[name].t, motion.times)
    for name in (lean.rate, "lean.rate", "lean'"):
        assert motion[name].attrs["units"] == "rad/s"
        np.testing.assert_array_equal(motion[name], motion.columns["lean.rate"])
    assert motion["w2"].attrs["units"] == "rad/s"


def test_accelerations(motion, letters):
    lean = letters["lean"]
    step = 1e-4
    inner = motion.times[1:-1]
    slopes = (motion.states(inner + step)[:, 6] - motion.states(inner - step)[:, 6]) / (2 * step)
    for name in (lean.rate.rate, "lean.rate.rate", "lean''"):
        np.testing.assert_allclose(motion[name][1:-1], slopes, rtol=0, atol=1e-5)
        assert motion[name].attrs["units"] == "rad/s^2"


def test_rates_of_rates_and_of_speeds(motion, letters):
    """Jerks, snaps and quasi-accelerations against differences of what is one order below."""
    lean, w2 = letters["lean"], letters["w2"]
    t, h = np.array([0.4, 1.1, 1.7]), 1e-3
    below = [lean.rate.rate, lean.derivative(3), lean.rate.rate * lean.derivative(3) + w2, w2]
    above = [lean.derivative(3), lean.derivative(4), None, w2.rate]
    above[2] = lean.derivative(3) ** 2 + lean.rate.rate * lean.derivative(4) + w2.rate
    for e, rate in zip(below, above, strict=True):
        ahead, behind = motion.evaluate(e, t + h), motion.evaluate(e, t - h)
        far = motion.evaluate(e, t + 2 * h) - motion.evaluate(e, t - 2 * h)
        slopes = (8 * (ahead - behind) - far) / (12 * h)
        np.testing.assert_allclose(motion.evaluate(rate, t), slopes, rtol=1e-7, atol=1e-7)
    assert motion["lean.rate.rate.rate"].attrs["units"] == "rad/s^3"
    np.testing.assert_array_equal(motion["w2.rate"], motion[w2.rate])


def test_jerks_where_inputs_change_and_where_friction_sticks():
    """With 4 sin t against 5 N of friction a cart of 2 kg comes to rest at 0.4967 s, and stays."""
    x, u = ap.coordinates("x", "m"), ap.inputs("u", "N")
    ground = ap.Frame("ground")
    cart = ap.Particle("cart", 2.0, ground.point(x, 0))
    model = ap.friction.Coulomb(x, 5.0).on(ap.Model(ground, x, [cart], [ap.Force(u * ground.x, cart)]))
    system, jerk = ap.compile(ap.derive(model)), x.derivative(3)
    motion = ap.simulate(system, {x.rate: 1.0}, until=2.0, inputs={u: 4 * sp.sin(ap.t)}, outputs={"jerk": jerk})
    moving = motion.times < 0.4966
    np.testing.assert_allclose(motion["jerk"][moving], 2 * np.cos(motion.times[moving]), rtol=1e-12)
    np.testing.assert_allclose(motion["jerk"][motion.times > 0.4967], 0, atol=1e-14)
    np.testing.assert_allclose(motion.acceleration_energy(2), motion["jerk"] ** 2, rtol=1e-12)
    sampled = ap.simulate(system, {x.rate: 1.0}, until=0.3, control=lambda t, state: -state["x"], rate=100)
    np.testing.assert_array_equal(sampled["x.rate.rate.rate"], 0)  # inputs are held
    with pytest.raises(ModelError, match="rates of the inputs u, which a Python function does not tell"):
        ap.simulate(system, {x.rate: 1.0}, 0.3, control=lambda t, state: -state["x"], outputs={"jerk": jerk})
    asked = ap.simulate(system, {x.rate: 1.0}, until=0.3, control=lambda t, state: -state["x"])
    for ask in (lambda: asked[jerk], lambda: asked.acceleration_energy(2)):
        with pytest.raises(ModelError, match="rates of the inputs u"):
            ask()
    assert asked.acceleration_energy(1).attrs["units"] == "J/s^2"
    with pytest.raises(ModelError, match="The order p must be a whole number, 0 or more; got -1"):
        asked.acceleration_energy(-1)


def test_speeds_that_are_not_linear_in_the_rates():
    """They are no states, yet quantities of the motion, with their rates."""
    model = ap.library.appell_hamel()
    x, y, _ = model.coordinates
    v, course = ap.speeds("v course", "m/s rad")
    chosen = ap.GibbsAppell(speeds={v: sp.sqrt(x.rate**2 + y.rate**2), course: sp.atan2(y.rate, x.rate)})
    system = ap.compile(ap.derive(model, chosen)).bind()
    motion = ap.simulate(system, until=0.5)
    np.testing.assert_allclose(motion["v"], 4.5 - 1.5 * 9.81 / 3.25 * motion.times, rtol=1e-13)
    np.testing.assert_allclose(motion[v.rate], -1.5 * 9.81 / 3.25, rtol=1e-13)
    np.testing.assert_allclose(motion[course.rate + 2 * v], 2 * motion[v], rtol=0, atol=1e-12)
    with pytest.raises(ModelError, match="The speed 'v' is not linear in the rates"):
        system.state({v: 3.0})


def test_laws_in_speeds_that_are_not_linear_in_the_rates():
    x, y = ap.coordinates("x y")
    inputs, (v, w), ground = ap.inputs("a b"), ap.speeds("v w"), ap.Frame("ground")
    forces = [ap.Generalized({x: inputs[0] - x, y: inputs[1] - 2 * y})]
    model = ap.Model(ground, (x, y), [ap.Particle("p", 1, ground.point(x, y))], forces)
    chosen = ap.GibbsAppell(speeds={v: x.rate + y.rate**3, w: y.rate - x.rate**3})
    system = ap.compile(ap.derive(model, chosen).close({inputs[0]: -v, inputs[1]: -w}))
    plain = ap.derive(model).close({inputs[0]: -x.rate - y.rate**3, inputs[1]: -y.rate + x.rate**3})
    found, wanted = (ap.simulate(s, {x: 1.0, y: 2.0}, 1.0).states(1.0) for s in (system, ap.compile(plain)))
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-12)
    assert ap.stability(ap.equilibrium(system)).asymptotic


def test_by_formula(motion, letters):
    lean, w2 = letters["lean"], letters["w2"]
    found = motion[w2**2 * sp.sin(lean) + ap.t]
    np.testing.assert_allclose(found, motion["w2"] ** 2 * np.sin(motion["lean"]) + motion.times, rtol=1e-13)
    np.testing.assert_allclose(motion["height"], 0.26 * np.cos(motion["lean"]), rtol=1e-14)
    mass = ap.parameters("m")
    np.testing.assert_allclose(motion[mass * letters["yaw"].rate], 3.43 * motion["yaw.rate"], rtol=1e-13)


def test_what_a_motion_has_not_is_named(motion, letters):
    with pytest.raises(ModelError, match=r"'leen' is not a quantity of this motion. Did you mean 'lean'\?"):
        motion["leen"]
    with pytest.raises(UndeclaredError, match="A coordinate or state of that name was declared through appell"):
        motion[sp.Symbol("lean")]
    with pytest.raises(ModelError, match="is not a quantity of this motion"):
        motion[ap.coordinates("tilt").derivative(3)]
    with pytest.raises(ModelError, match="Got 3 as a name"):
        motion[3]


def test_states_at_any_time(motion, system):
    state = motion.at(1.2345)
    assert state.t == 1.2345
    assert max(map(abs, system.residual(state).values())) < 1e-14
    np.testing.assert_array_equal(motion.at(2.0).array, motion.states([2.0])[0])
    np.testing.assert_allclose(motion.states(motion.times)[:, 1], motion["lean"], rtol=1e-15)
    again = ap.simulate(system, state, until=2.0)
    np.testing.assert_allclose(again.at(2.0).array, motion.at(2.0).array, rtol=0, atol=1e-12)


@pytest.mark.parametrize("time", [-0.1, 2.1, np.nan])
def test_times_outside_are_refused(motion, time):
    with pytest.raises(ModelError, match=r"The motion covers t = 0 .. 2; got"):
        motion.at(time)
    with pytest.raises(ModelError, match=r"The motion covers t = 0 .. 2; got"):
        motion.evaluate(motion.system.model.coordinates[0], [time])


def test_the_start_is_the_start(motion, system):
    np.testing.assert_allclose(motion.at(0.0).array, system.consistent().array, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["disk.nc", "disk.zarr"])
def test_save_and_load(motion, system, tmp_path, name):
    if name.endswith("zarr"):
        pytest.importorskip("zarr")
    path = motion.save(tmp_path / name)
    assert path == tmp_path / name
    again = ap.load(path)
    assert again.info == motion.info
    assert again.units == motion.units
    assert list(again.columns)[:10] == list(motion.columns)[:10]
    for label, values in motion.columns.items():
        np.testing.assert_array_equal(again[label], values)
    assert again.outcome is motion.outcome
    assert again.summary() == motion.summary()
    with_model = ap.load(path, system=system)
    np.testing.assert_allclose(with_model.at(1.0).array, motion.at(1.0).array, rtol=1e-14)
    np.testing.assert_allclose(with_model.reactions()["rolling.x"], motion.reactions()["rolling.x"], rtol=1e-9)
    motion.save(path)  # once more over the first


def test_tables_for_other_programs(motion, tmp_path):
    path = motion.save(tmp_path / "disk.csv")
    table = pd.read_csv(path, index_col="t")
    assert list(table) == list(motion.columns)
    np.testing.assert_array_equal(table["lean"], motion.columns["lean"])
    with pytest.raises(AppellError, match=r"disk.csv has numbers only: read it by pandas.read_csv"):
        ap.load(path)


def test_files_describe_the_run_without_pickle(motion, tmp_path):
    data = xarray.open_dataset(motion.save(tmp_path / "disk.nc"), engine="scipy")
    try:
        info = json.loads(data.attrs["appell"])
        assert info["model"] == "rolling disk"
        assert info["values"] == {"m": 3.43, "r": 0.26, "g": 9.81}
        assert {"python", "appell", "casadi", "numpy", "sympy"} <= set(info["versions"])
        assert "no multipliers" in info["equations"]
        assert data["lean"].attrs["units"] == "rad"
        assert data["t"].attrs["units"] == "s"
    finally:
        data.close()


@pytest.mark.parametrize("name", ["disk.txt", "disk", "no/disk.nc"])
def test_what_cannot_be_saved_leaves_nothing_behind(motion, tmp_path, name):
    with pytest.raises(AppellError, match=r"ends in .nc \(NetCDF\), .zarr or .csv|does not exist; make it first"):
        motion.save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(motion, tmp_path, monkeypatch):
    path = motion.save(tmp_path / "disk.nc")
    before = path.read_bytes()

    def broken(self, target, **_):
        target.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(xarray.Dataset, "to_netcdf", broken)
    with pytest.raises(OSError, match="disk full"):
        motion.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["disk.nc"]


def test_files_that_are_none_of_ours(motion, tmp_path):
    with pytest.raises(AppellError, match="There is no file"):
        ap.load(tmp_path / "nothing.nc")
    (tmp_path / "text.nc").write_text("hello")
    xarray.Dataset({"a": ("t", [1.0])}).to_netcdf(tmp_path / "foreign.nc", engine="scipy")
    whole = motion.save(tmp_path / "whole.nc").read_bytes()
    (tmp_path / "cut.nc").write_bytes(whole[:200])
    for name in ("text.nc", "foreign.nc", "cut.nc"):
        with pytest.raises(AppellError, match="is not a motion written by appell") as error:
            ap.load(tmp_path / name)
        assert "\n" not in str(error.value)


def test_inputs_of_a_loaded_motion(tmp_path):
    model = ap.library.slider_crank()
    (tau,) = model.inputs
    system = ap.compile(ap.derive(model)).bind()
    for law in (0.3, sp.sin(5 * ap.t)):
        motion = ap.simulate(system, until=0.5, points=51, inputs={tau: law})
        again = ap.load(motion.save(tmp_path / "crank.nc"), system=system)
        np.testing.assert_allclose(again.inputs_at(again.times), motion.inputs_at(motion.times), rtol=1e-12)
        row = next(iter(motion.reactions().data_vars))
        np.testing.assert_allclose(again.reactions()[row], motion.reactions()[row], rtol=1e-6)
        assert len(again.animate().jets) == 0


def test_states_between_the_rows_of_a_file(tmp_path):
    """A ball that is thrown moves on a parabola; the row before and the row behind an impact are joined by a line."""
    y, ground = ap.coordinates("y", "m"), ap.Frame("ground")
    ball = ap.Particle("ball", 1, ground.point(0, y))
    system = ap.compile(ap.derive(ap.Model(ground, y, [ball], [ap.Gravity(-10 * ground.y)]))).bind()
    floor = ap.Event(y, direction=-1, reset={y.rate: -y.rate}, name="floor")
    motion = ap.simulate(system, {y: 1.0}, until=0.8, at=[0.0, 0.3, 0.5, 0.7], events=[floor])
    again = ap.load(motion.save(tmp_path / "ball.nc"), system)
    for time in (0.0, 0.1, 0.29, 0.3, 0.5, 0.61, 0.7):  # on the floor at 0.447
        here, there = motion.at(time), again.at(time)
        assert (there[y], there[y.rate]) == pytest.approx((here[y], here[y.rate]), rel=0, abs=1e-12)
    assert again.at(0.4)[y] == pytest.approx((motion.at(0.3)[y] + motion.at(0.5)[y]) / 2)
    with pytest.raises(ap.AppellError, match=r"The motion covers t = 0 \.\. 0.7; got t = 0.8"):
        again.at(0.8)


def test_a_loaded_motion_says_what_it_cannot_do(motion, letters, tmp_path):
    again = ap.load(motion.save(tmp_path / "disk.nc"))
    with pytest.raises(AppellError, match=r"use appell.load\(path, system=...\)"):
        again.at(1.0)
    with pytest.raises(AppellError, match="give it to simulate as an output"):
        again[letters["lean"] ** 2]
    with pytest.raises(AppellError, match="run simulate again"):
        again.check()


def test_tables(motion):
    frame = motion.to_pandas()
    assert frame.index.name == "t"
    np.testing.assert_array_equal(frame["lean"], motion["lean"])
    assert list(motion.dataset.data_vars) == list(motion.columns)
    assert motion.dataset["x.rate"].attrs["units"] == "m/s"


@pytest.mark.parametrize("name", ["all.png", "some.svg"])
def test_pictures(motion, letters, tmp_path, name):
    names = () if name == "all.png" else ("lean", letters["lean"].rate, letters["w2"] ** 2)
    figure = motion.plot(*names, path=tmp_path / name).figure()
    content = (tmp_path / name).read_bytes()
    assert content.startswith(b"\x89PNG" if name == "all.png" else b"<?xml")
    assert len(content) > 10_000
    drawn = [line for axis in figure.axes for line in axis.lines]
    assert len(drawn) == len(names or motion.columns)
    assert figure.axes[-1].get_xlabel() == "t [s]"
    assert any("rad" in axis.get_ylabel() for axis in figure.axes)


def test_the_summary_says_what_moved_and_how(motion):
    words = motion.summary()
    assert words.startswith("rolling disk: t = 0 .. 2 s, ")
    assert "by taylor (smooth, " in words
    assert "The end of the interval was reached." in words
    assert repr(motion) == words


def test_switches_of_speeds_are_lines_of_the_summary():
    system = ap.compile(ap.derive(ap.library.arevalo())).bind()
    motion = ap.simulate(system, until=3.0)
    assert len(motion.info["switches"]) >= 3
    assert "dependent velocities" in motion.summary()
    assert all(line in motion.summary() for line in motion.info["switches"])


def test_outputs_do_not_take_the_names_of_others(system, letters):
    with pytest.raises(ModelError, match="The output 'lean' has the name of a quantity of the motion itself"):
        ap.simulate(system, until=0.1, outputs={"lean": letters["spin"]})
    with pytest.raises(ModelError, match="The output 't' has the name of a quantity of the motion itself"):
        ap.simulate(system, until=0.1, outputs={"t": letters["spin"]})


def test_quasi_velocities_can_be_read_though_the_run_used_others():
    """The automatic choice changes during a run; a formula in the first speeds still has a value everywhere."""
    system = ap.compile(ap.derive(ap.library.spherical_pendulum())).bind()
    start = system.consistent({"x": 0.0, "y": 0.0, "z": -0.5, "x.rate": 8.0, "y.rate": 0.0})
    motion = ap.simulate(system, start, until=1.0)
    assert motion.info["switches"]
    first = system.equations.speeds[0]
    np.testing.assert_allclose(motion[2 * first + 0], 2 * motion[first], rtol=0, atol=1e-12)


def test_a_check_sees_what_is_wrong(system, motion):
    """The same table under other numbers: the balance of power and the agreement must both notice."""
    assert motion.check().ok
    wrong = system.bind({"g": 9.0})
    forged = ap.Motion(motion.times, motion.columns, motion.units, motion.info, motion.outcome, wrong, motion.stretches)
    proof = forged.check()
    assert not proof.ok
    assert proof.balance > 1e-6
    assert "NOT WELL" in repr(proof)


def test_a_check_in_words(motion):
    words = repr(motion.check())
    assert "constraints: positions kept to" in words
    assert "work of gravity:" in words
    assert "agreement with Lagrange multipliers:" in words
    assert words.endswith("all is well")


def test_formulas_with_accelerations():
    model = ap.library.spherical_pendulum()
    motion = ap.simulate(ap.compile(ap.derive(model)), until=1.0, outputs={"pull": model.coordinates[0].rate.rate * 2})
    x, y, z = model.coordinates
    radial = motion[x * x.rate.rate + y * y.rate.rate + z * z.rate.rate].values
    speed = motion[x.rate**2 + y.rate**2 + z.rate**2].values
    np.testing.assert_allclose(radial, -speed, rtol=1e-11, atol=1e-11)  # r.r'' + v.v = 0 on a sphere
    np.testing.assert_allclose(motion["pull"].values, 2 * motion[x.rate.rate].values, rtol=1e-13, atol=1e-13)
