"""FMUs, run by FMPy, against appell's own runs."""

import re
import shutil
import zipfile

import fmpy
import numpy as np
import pytest
import sympy as sp
from fmpy.fmi2 import FMU2Slave
from fmpy.validation import validate_fmu

import appell as ap

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
KINDS = ("CoSimulation", "ModelExchange")


def compiled(model, *formulation):
    return ap.compile(ap.derive(model, *formulation))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fmu")


def ran(file, until, kind="CoSimulation", points=41, **options):
    """What FMPy makes of a file: columns at evenly spread times."""
    table = fmpy.simulate_fmu(
        str(file), stop_time=until, output_interval=until / (points - 1), relative_tolerance=1e-10, fmi_type=kind,
        **options,
    )  # fmt: skip
    times = np.linspace(0.0, until, points)
    near = np.abs(table["time"][:, None] - times).argmin(axis=0)  # events have rows of their own
    return {name: table[name][near] for name in table.dtype.names}


def farthest(columns, motion):
    """The largest difference of what both have."""
    shared = [name for name in columns if name in motion.columns]
    assert {q.label for q in motion.system.model.coordinates} <= set(shared)
    return max(np.max(np.abs(columns[name] - motion.columns[name])) for name in shared)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["rolling-disk", "four-bar", "bricard", "leaking-crane", "constant-speed"])
def test_it_moves_as_simulate_says(folder, name, kind):
    system = compiled(ap.library.model(name))
    motion = ap.simulate(system, until=3.0, points=41)
    file = system.to_fmu(folder / "model.fmu")
    assert validate_fmu(str(file)) == []
    assert farthest(ran(file, 3.0, kind), motion) < (1e-8 if kind == "CoSimulation" else 1e-5)


def test_speeds_that_would_be_changed_on_the_way_are_all_rates(folder):
    x, y = ap.coordinates("x y")
    m, l, g = ap.parameters("m l g")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", m, ground.point(x, y))
    model = ap.Model(
        ground, (x, y), [bob], [ap.Gravity(-g * ground.y)], [ap.Holonomic(x**2 + y**2 - l**2, "rod")],
        values={m: 1, l: 1, g: 9.81}, start={x: 0.6, y: -0.8, x.rate: 8, y.rate: 6},
    )  # fmt: skip
    motion = ap.simulate(compiled(model), until=5.0, points=41)
    assert np.sum(np.diff(np.sign(motion["y"].values)) != 0) > 4  # it goes round, so no one choice serves all the time
    columns = ran(compiled(model).to_fmu(folder / "round.fmu"), 5.0)
    assert farthest(columns, motion) < 1e-6
    assert np.max(np.abs(np.hypot(columns["x"], columns["y"]) - 1)) < 1e-15

    chosen = compiled(model, ap.GibbsAppell(dependent=[y])).to_fmu(folder / "chosen.fmu")
    said = []
    with pytest.raises(Exception, match="fmi2DoStep"):
        ran(chosen, 5.0, logger=lambda *words: said.append(words[-1].decode()))
    assert "the speeds x.rate do not describe the motion here" in said[0]


@pytest.mark.parametrize("kind", KINDS)
def test_kinks_are_events(folder, kind):
    system = compiled(ap.library.rocket_car())  # its fuel runs out
    motion = ap.simulate(system, until=6.0, points=61)
    columns = ran(system.to_fmu(folder / "car.fmu"), 6.0, kind, 61)
    assert farthest(columns, motion) < (1e-9 if kind == "CoSimulation" else 1e-4)
    assert np.max(np.abs(columns["fuel"][50:])) < 1e-12


def bump(force):
    x = ap.coordinates("x", "m")
    m, k = ap.parameters("m k", "kg N/m")
    F = ap.inputs("F", "N", "push")
    ground = ap.Frame("ground")
    block = ap.Particle("block", m, ground.point(x))
    return ap.Model(
        ground, x, [block], [ap.Generalized({x: force(x, x.rate, k) + F})], values={m: 2, k: 50, F: 0},
        start={x: -1, x.rate: 1},
    )  # fmt: skip


@pytest.mark.parametrize("place", [0.0, -0.5])  # at the stop, and where a solver comes upon it at an exact zero
@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_is_felt_from_its_edge_on(folder, kind, place):
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    stop = ap.Generalized({x: -4 * sp.Max(0, x)})
    system = compiled(ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x))], [stop]))
    found = ran(system.to_fmu(folder / "stop.fmu", {x: place, x.rate: 1}), 1.5, kind)
    since = found["time"] + place
    np.testing.assert_allclose(found["x"], np.where(since < 0, since, np.sin(2 * since) / 2), atol=1e-6)


@pytest.mark.parametrize(("kind", "call"), [("CoSimulation", "fmi2DoStep"), ("ModelExchange", "fmi2NewDiscreteStates")])
def test_what_sticks_ends_with_words(folder, kind, call):
    model = bump(lambda x, v, k: -k / 25 * sp.sign(v))
    file, said = compiled(model).to_fmu(folder / "stick.fmu"), []
    with pytest.raises(Exception, match=call):
        ran(file, 3.0, kind, logger=lambda *words: said.append(words[-1].decode()), timeout=60)
    assert float(re.match("t = ([^:]*):", said[0])[1]) == pytest.approx(1.0, abs=1e-6)
    assert "dry friction that sticks" in said[0]


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_parameters_and_outputs(folder, kind):
    model = bump(lambda x, v, k: -k * sp.Max(0, x) - sp.Abs(v) * v)
    x, k = model.coordinates[0], next(p for p in model.parameters if p.name == "k")
    system = compiled(model)
    outputs = {"contact": k * sp.Max(0, x), "acceleration": x.derivative(2)}
    file = system.to_fmu(folder / "bump.fmu", {"x": -2.0}, outputs=outputs)
    signal = np.array([(0.0, 7.0), (9.0, 7.0)], dtype=[("time", float), ("F", float)])
    columns = ran(file, 4.0, kind, start_values={"k": 80.0, "x.rate": 0.5}, input=signal)
    other = system.bind({"k": 80.0, "F": 7.0})
    motion = ap.simulate(other, {"x": -2.0, "x.rate": 0.5}, until=4.0, points=41, outputs=outputs)
    assert farthest(columns, motion) < (1e-7 if kind == "CoSimulation" else 2e-3)
    assert {"contact", "acceleration"} <= set(columns)


def test_a_start_off_the_constraints_is_moved_onto_them(folder):
    file = compiled(ap.library.four_bar()).to_fmu(folder / "bar.fmu")
    at = {name: values[0] for name, values in ran(file, 0.1).items()}
    moved = {name: values[0] for name, values in ran(file, 0.1, start_values={"q1": at["q1"] + 0.1}).items()}
    system = compiled(ap.library.four_bar())
    state = system.state({name: moved[name] for name in ("q1", "q2", "q3")})  # raises if it is not on them
    assert state["q1"] != at["q1"]

    said = []
    with pytest.raises(Exception, match="fmi2ExitInitializationMode"):
        ran(file, 0.1, start_values={"la": 50.0}, logger=lambda *words: said.append(words[-1].decode()))
    assert "no state on the constraints" in said[0]


@pytest.fixture
def slave(folder):
    """An instance to call one by one, and its variables' references."""
    file = folder / "slave.fmu"
    compiled(ap.library.planar_2r()).to_fmu(file)
    place = fmpy.extract(str(file))
    description = fmpy.read_model_description(place)
    made = FMU2Slave(
        guid=description.guid, unzipDirectory=place, modelIdentifier=description.coSimulation.modelIdentifier
    )
    made.instantiate()
    made.setupExperiment(startTime=0.0)
    made.enterInitializationMode()
    made.exitInitializationMode()
    yield made, {v.name: v.valueReference for v in description.modelVariables}
    made.terminate()
    made.freeInstance()
    shutil.rmtree(place)


def test_a_saved_state_goes_on_with_the_same_bits(slave):
    made, at = slave
    made.doStep(0.0, 0.3)
    kept = made.serializeFMUstate(made.getFMUstate())

    def later():
        made.doStep(0.3, 0.4)
        return made.getReal(list(at.values()))

    first = later()
    made.setFMUstate(made.deSerializeFMUstate(kept))
    assert later() == first


def test_directional_derivatives_are_slopes(slave):
    made, at = slave
    system = compiled(ap.library.planar_2r())
    made.doStep(0.0, 0.5)
    names = [s.label for s in system.equations.states]
    x = np.array(made.getReal([at[name] for name in names]))
    rates = [at[f"der({name})"] for name in names]
    J = np.array([made.getDirectionalDerivative(rates, [at[name]], [1.0]) for name in names]).T
    np.testing.assert_allclose(J, system.jacobian(0.5, x), rtol=1e-12, atol=1e-12)
    push = system.equations.inputs[0].label
    B = made.getDirectionalDerivative(rates, [at[push]], [1.0])
    more = system.rhs(0.5, x, system.w + np.eye(len(system.w))[0]) - system.rhs(0.5, x)  # inputs act linearly
    np.testing.assert_allclose(B, more, atol=1e-12)


def test_the_same_model_gives_the_same_bytes(folder):
    written = [compiled(ap.library.rolling_disk()).to_fmu(folder / "same.fmu").read_bytes() for _ in range(2)]
    assert written[0] == written[1]


def test_it_says_what_it_is(folder):
    file = compiled(ap.library.crane()).to_fmu(folder / "crane.fmu")
    variables = {v.name: v for v in fmpy.read_model_description(str(file)).modelVariables}
    model = ap.library.crane()
    for letter in (*model.coordinates, *model.parameters, *model.inputs):
        assert variables[letter.label].unit == (letter.unit or None)
        assert (variables[letter.label].description or "") == letter.description
    archive = zipfile.ZipFile(file)
    assert archive.read("sources/all.c").startswith(b'#define GUID "{')
    assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o644}  # whoever unpacks it may read it


def test_what_cannot_be_an_fmu_is_refused(folder, monkeypatch):
    system = compiled(ap.library.crane())
    with pytest.raises(ap.AppellError, match=r"ends in \.fmu"):
        system.to_fmu(folder / "crane.zip")
    with pytest.raises(ap.AppellError, match="C identifier"):
        system.to_fmu(folder / "my crane.fmu")
    with pytest.raises(ap.AppellError, match="Outputs are given by name"):
        system.to_fmu(folder / "crane.fmu", outputs=["g"])
    with pytest.raises(ap.AppellError, match="Names in an FMU must differ"):
        system.to_fmu(folder / "crane.fmu", outputs={"g": 1.0})
    x = ap.coordinates("x")
    m = ap.parameters("m")
    ground = ap.Frame("ground")
    block = ap.Particle("block", m, ground.point(x, sp.Abs(ap.t - 1)))
    with pytest.raises(ap.AppellError, match="Velocities may jump"):
        compiled(ap.Model(ground, x, [block], values={m: 1})).to_fmu(folder / "lift.fmu")
    monkeypatch.setattr("appell.code.fmu.compiler", lambda: None)
    with pytest.raises(ap.AppellError, match="C compiler"):
        system.to_fmu(folder / "none.fmu")
    assert not (folder / "none.fmu").exists()
