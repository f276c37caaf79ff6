"""The command line: what it prints and what it writes."""

import json
import re
import subprocess
import sys
import zipfile

import casadi as ca
import numpy as np
import pytest
import typer

import appell as ap
from appell.cli import app


def strict(text):
    """JSON as other languages read it: no NaN, no Infinity, one value."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_list(call):
    result = call("list")
    assert result.exit_code == 0
    for name in ap.library.names():
        assert name in result.stdout
    entries = strict(call("list", "--json").stdout)
    assert [entry["name"] for entry in entries] == list(ap.library.names())
    disk = next(entry for entry in entries if entry["name"] == "rolling-disk")
    assert disk["coordinates"] == 5
    assert disk["rows"] == 2


def test_show(call):
    result = call("show", "chaplygin-sleigh")
    assert result.exit_code == 0
    assert "Chaplygin sleigh" in result.stdout
    assert "constraint edge" in result.stdout
    assert "kg*m^2" in result.stdout
    latex = call("show", "chaplygin-sleigh", "--latex")
    assert r"\dot{" in latex.stdout
    data = strict(call("show", "chaplygin-sleigh", "--json").stdout)
    assert data["name"] == "Chaplygin sleigh"
    mass = {"name": "m", "kind": "parameter", "unit": "kg", "value": 1.0, "description": "mass"}
    assert mass in data["symbols"]
    assert "│ mass centre in front of the contact" in result.stdout
    for said in (result.stdout, data["about"]):
        assert "x, y of the contact (not of the mass centre)" in said
        assert "Reference: Chaplygin 1911" in said
    assert data["constraints"][0]["order"] == 1
    assert data["operations"] > 0


@pytest.mark.parametrize(("by", "name"), [("multipliers", "Lagrange multipliers"), ("GPME", "GPME"),
                                          ("udwadia_kalaba", "Udwadia-Kalaba")])  # fmt: skip
def test_a_principle_is_chosen_by_name(call, by, name):
    assert f"Chaplygin sleigh by {name}\n" in call("show", "chaplygin-sleigh", "--by", by).stdout
    assert f"Chaplygin sleigh by {name}:" in call("run", "chaplygin-sleigh", "--by", by, "--until", "0.1").stdout


def test_show_draws(call, tmp_path):
    picture = tmp_path / "of" / "today" / "edge.png"
    data = strict(call("show", "knife-edge", "--out", picture, "--json").stdout)
    assert data["files"] == [str(picture)]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_model_without_description_is_shown_without_a_gap(call, file):
    file.write_text(file.read_text().replace("a block on a spring. Written by a user.", ""))
    assert call("show", file).stdout.startswith("my block\n\nsymbol")


def test_verify(call):
    result = call("verify", "rolling-disk", "--states", 3)
    assert result.exit_code == 0
    assert "all agree" in result.stdout
    assert "Gibbs-Appell" in result.stdout
    assert "Lagrange multipliers" in result.stdout
    data = strict(call("verify", "rolling-disk", "--states", 3, "--seed", 5, "--set", "r=0.5", "--json").stdout)
    assert data["ok"]
    assert data["states"] == 3
    assert 0 < data["worst"] < 1e-10
    assert {"first", "second", "disagreement"} == set(data["pairs"][0])


def test_verify_proves_nothing_with_nothing(call, file, assert_fails):
    result = call("verify", "rolling-disk", "--set", "m=0", "--states", 3)
    assert result.exit_code == 1
    assert "the mass matrix is singular" in result.stdout
    assert "NOTHING COMPARED: none of 15 random states" in result.stdout
    data = strict(call("verify", "rolling-disk", "--set", "m=0", "--states", 3, "--json").stdout)
    assert not data["ok"]
    assert data["worst"] is None
    assert sum(data["left out"].values()) == 15
    assert_fails(call("verify", "rolling-disk", "--set", "m=-1"), "The mass of 'disk' is m = -1", "must be positive")


def test_a_run_without_a_step_agrees_with_nothing(call):
    result = call("run", "rolling-disk", "--set", "m=0")
    assert result.exit_code == 1
    assert "agreement with Voronets: none, accelerations are not finite" in result.stdout
    assert "all is well" not in result.stdout


def test_run(call, tmp_path):
    table, picture, sheet = (tmp_path / name for name in ("disk.nc", "disk.png", "disk.csv"))
    result = call("run", "rolling-disk", "--until", 1, "--set", "m=2", "--set", "lean=0.2", "--points", 11,
                  "--out", table, "--out", picture, "--out", sheet)  # fmt: skip
    assert result.exit_code == 0
    assert "all is well" in result.stdout
    assert "The end of the interval was reached." in result.stdout
    assert f"wrote {table}" in result.stdout
    motion = ap.load(table)
    assert motion.times[-1] == 1.0
    assert motion.times.size == 11
    assert float(motion["lean"][0]) == pytest.approx(0.2)
    assert motion.info["values"]["m"] == 2.0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert sheet.read_text().splitlines()[0].startswith("t,yaw,lean")
    assert {p.name for p in tmp_path.iterdir()} == {"disk.nc", "disk.png", "disk.csv"}


def test_run_for_machines(call):
    data = strict(call("run", "four-bar", "--until", 1, "--set", "q1=0.3", "--method", "dop853", "--json").stdout)
    assert data["ok"]
    assert data["method"] == "dop853"
    assert data["outcome"] == "DONE"
    assert data["check"]["position"] < 1e-11
    system = ap.compile(ap.derive(ap.library.four_bar())).bind()
    start = system.consistent({"q1": 0.3})
    end = ap.simulate(system, start, until=1.0).at(1.0)
    assert data["final"]["q1"] == pytest.approx(end["q1"], abs=1e-9)


def test_export(call, tmp_path):
    result = call("export", "rolling-disk", "--out", tmp_path / "disk.c", "--out", tmp_path / "disk.casadi")
    assert result.exit_code == 0
    assert {p.name for p in tmp_path.iterdir()} == {"disk.c", "disk.h", "disk.casadi"}
    assert "disk_rhs" in (tmp_path / "disk.c").read_text()
    function = ca.Function.deserialize((tmp_path / "disk.casadi").read_text())
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    x = system.to_x(system.consistent())
    np.testing.assert_array_equal(np.array(function(0, x, [], system.p)).ravel(), system.rhs(0, x))
    found = strict(call("export", "rolling-disk", "--out", tmp_path / "disk.c", "--json").stdout)
    assert found == {"model": "rolling disk", "files": [str(tmp_path / "disk.c"), str(tmp_path / "disk.h")]}
    assert call("export", "rolling-disk", "--out", tmp_path / "disk.fmu").stdout == f"wrote {tmp_path / 'disk.fmu'}\n"


def test_what_is_set_is_in_the_files_that_are_exported(call, tmp_path):
    given = ["export", "four-bar", "--set", "q1=0.2,m=3.5"]
    assert call(*given, "--out", tmp_path / "bars.c", "--out", tmp_path / "bars.fmu").exit_code == 0
    assert "m  = 3.5 kg" in (tmp_path / "bars.h").read_text()
    with zipfile.ZipFile(tmp_path / "bars.fmu") as parts:
        text = parts.read("modelDescription.xml").decode()
    start = ap.compile(ap.derive(ap.library.four_bar())).consistent({"q1": 0.2})
    for name, value in (("q1", 0.2), ("q2", start["q2"]), ("m", 3.5)):
        given_there = re.search(rf'ScalarVariable name="{name}".*?start="(.*?)"', text, re.DOTALL)[1]
        assert float(given_there) == pytest.approx(value, abs=1e-12)
    refused = call(*given, "--out", tmp_path / "other.c")
    assert refused.exit_code == 1
    assert "A start is written to an FMU only: add --out FILE.fmu or leave out q1." in refused.stderr


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig"])
def test_a_report_has_the_text_of_a_file_in_its_own_encoding(call, file, tmp_path, encoding):
    named = "# coding: latin-1\n" * (encoding == "latin-1")
    file.write_text(f"{named}# Länge\n{file.read_text()}", encoding=encoding)
    assert call("run", file, "--until", 0.1, "--report", tmp_path / "a.md").exit_code == 0
    assert f"```python\n{named}# Länge\n" in (tmp_path / "a.md").read_text(encoding="utf-8")


def test_every_report_that_is_asked_for_is_written(call, tmp_path):
    reports = [tmp_path / name for name in ("a.md", "b.tex")]
    given = [part for path in reports for part in ("--report", path)]
    assert call("run", "rolling-disk", "--until", 0.1, *given).exit_code == 0
    assert all(path.stat().st_size for path in reports)


def test_a_file_works_like_a_library_model(call, file, tmp_path):
    shown = call("show", file)
    assert shown.exit_code == 0
    assert "my block" in shown.stdout
    assert call("verify", file, "--states", 2).exit_code == 0
    data = strict(call("run", file, "--until", np.pi / 2, "--set", "x=0.5", "--json").stdout)
    assert data["final"]["x"] == pytest.approx(-0.5, abs=1e-12)
    assert call("export", file, "--out", tmp_path / "block.casadi").exit_code == 0


def test_a_file_may_say_more(call, file):
    """Its own formulation, events and outputs; `model` may be a function."""
    file.write_text(
        file.read_text().replace("\nmodel = ", "\nbuilt = ")
        + """
def model():
    return built

formulation = ap.GibbsAppell(speeds={v: 2 * x.rate})
events = [ap.Event(x, stop=True, name="middle")]
outputs = {"energy": (m * x.rate**2 + k * x**2) / 2}
"""
    )
    data = strict(call("run", file, "--set", "v=0.5", "--json").stdout)
    assert data["outcome"] == "EVENT"
    assert data["events"][0]["name"] == "middle"
    assert data["final"]["energy"] == pytest.approx(0.25**2 / 2 + 2.0)
    assert data["final"]["v"] == pytest.approx(2 * data["final"]["x.rate"])


@pytest.mark.parametrize(
    "line",
    [
        "inputs = u",
        "inputs = [u]",
        "inputs = ap.inputs('u', 'N'),",
        "from appell import control, inputs",
        "control = u",
    ],
)
def test_letters_and_imports_of_a_file_are_no_inputs(call, file, line):
    file.write_text(file.read_text() + line + "\n")
    assert strict(call("run", file, "--json").stdout)["final"]["x"] == pytest.approx(np.cos(4), abs=1e-9)


@pytest.mark.parametrize(
    ("line", "word", "name"),
    [
        ("event = ap.Event(x)", "event", "events"),
        ("output = {'twice': 2 * x}", "output", "outputs"),
        ("def controller(t, state): return {u: 1.0}", "controller", "control"),
        ("controlrate = 50", "controlrate", "control_rate"),
    ],
)
def test_names_of_a_file_that_are_nearly_read_are_told(call, file, line, word, name):
    file.write_text(file.read_text() + line + "\n")
    result = call("run", file, "--json")
    assert result.stderr == f"appell: {file} defines `{word}`, which is not read; the name is `{name}`.\n"
    assert strict(result.stdout)["ok"]


@pytest.mark.parametrize("line", ["output = 'block.png'", "input = u", "events = []", "controls = 3 * x"])
def test_names_of_a_file_that_say_something_else_are_not(call, file, line):
    file.write_text(file.read_text() + line + "\n")
    assert call("run", file).stderr == ""


def test_a_suggested_start_that_is_moved_is_told(call, tmp_path):
    path = tmp_path / "pendulum.py"
    path.write_text(
        """
import appell as ap
x, y = ap.coordinates("x y", "m")
ground = ap.Frame("ground")
bob = ap.Particle("bob", 1, ground.point(x, y))
model = ap.Model(ground, (x, y), [bob], [ap.Gravity(-9.81 * ground.y)], [ap.Holonomic(x**2 + y**2 - 1)],
                 start={x: 0.8, y: START}, until=1.0)
""".replace("START", "-0.5")
    )
    told = "the suggested start was moved onto the constraints: "
    moved = next(line for line in call("run", path).stdout.splitlines() if line.startswith(told))
    found = dict(re.findall(r"(\w) [-\d.]+ -> ([-\d.]+)", moved))
    assert float(found["x"]) ** 2 + float(found["y"]) ** 2 == pytest.approx(1, abs=1e-8)
    assert told not in call("run", path, "--set", "x=0.6").stdout
    path.write_text(path.read_text().replace("-0.5", "-0.6"))
    assert told not in call("run", path).stdout


def test_a_control_of_a_file_may_be_formulas(call, file):
    text = file.read_text()
    file.write_text(text + "control = {u: 3 * x}\n")
    assert strict(call("run", file, "--json").stdout)["final"]["x"] == pytest.approx(np.cos(2), abs=1e-9)
    file.write_text(text + "control = {u: ap.parameters('gain') * x}\n")
    swept = strict(call("sweep", file, "--over", "gain=3,3", "--json").stdout)["final"]["x"]
    assert swept["mean"] == pytest.approx(np.cos(2), abs=1e-7)
    file.write_text(text + "inputs, control = {u: 1.0}, {'u': 3 * x}\n")
    assert "The file gives u in `inputs` and in `control`; leave out one of them." in call("run", file).stderr


@pytest.mark.parametrize("own", ["{u: ap.parameters('gain') * x}", "lambda t, state: -3 * state['x']"])
@pytest.mark.parametrize("other", ["{u: 3 * x}", "lambda t, state: 3 * state['x']"])
def test_a_control_that_is_varied_takes_the_place_of_that_of_the_file(call, file, own, other):
    """Whether formulas or functions: a varied push of 3 x leaves x'' = -x of a spring of 4, the file's own does not."""
    file.write_text(file.read_text() + f"control = {own}\nchoices = {{'control': {{'other': {other}}}}}\n")
    swept = strict(call("sweep", file, "--over", "control=other", "--over", "m=1", "--json").stdout)["final"]["x"]
    assert swept["mean"] == pytest.approx(np.cos(2), abs=1e-7)


def test_a_file_may_import_its_neighbours(call, file):
    (file.parent / "neighbour_of_block.py").write_text("stiffness = 9.0\n")
    file.write_text("from neighbour_of_block import stiffness\n" + file.read_text().replace("k: 4.0", "k: stiffness"))
    data = strict(call("run", file, "--json").stdout)
    assert data["values"]["k"] == 9.0


def test_errors_for_machines(call):
    result = call("run", "roling-disk", "--json")
    assert result.exit_code == 1
    data = strict(result.stdout)
    assert data["error"] == "ModelError"
    assert "Did you mean" in data["message"]


def test_a_run_that_ends_early_fails_with_what_it_has(call, file):
    content = file.read_text().replace("u - k * x", "6 * x**2").replace("start={x: 1.0}", "start={x: 1.0, x.rate: 2.0}")
    file.write_text(content.replace("k: 4.0, u: 0.0", ""))
    result = call("run", file)
    assert result.exit_code == 1
    assert "likely cause" in result.stdout
    machine = call("run", file, "--json")
    assert machine.exit_code == 1
    data = strict(machine.stdout)
    assert not data["ok"]
    assert data["outcome"] in ("NOT_FINITE", "STEP_COLLAPSED")


def test_a_run_that_cannot_even_begin_fails(call, file):
    file.write_text(file.read_text().replace("u - k * x", "(u - k * x) / (x - 1)"))
    result = call("run", file, "--json")
    assert result.exit_code == 1
    assert strict(result.stdout)["outcome"] == "NOT_FINITE"


def test_help(call):
    for arguments in (["--help"], ["run", "--help"]):
        result = call(*arguments)
        assert result.exit_code == 0
        assert "Usage" in result.stdout


def test_the_program_itself(tmp_path):
    """Through the entry point, in a process of its own: no bar and no colours where nobody looks."""
    run = [sys.executable, "-c", "from appell.cli import main; main()"]
    done = subprocess.run([*run, "run", "chaplygin-sleigh", "--until", "1"], capture_output=True, text=True, check=True)
    assert "all is well" in done.stdout
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    failed = subprocess.run([*run, "run", "nothing"], capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert "Traceback" not in failed.stderr


def test_a_rocket_is_run_with_its_staging(call):
    result = call("run", "rocket", "--json")
    assert result.exit_code == 0
    assert "stage 1 dropped" in json.dumps(json.loads(result.stdout))


def test_identities_of_a_robot(call, tmp_path):
    result = call("verify", "rrp-arm", "--order", "2", "--states", "3", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 0
    assert found["ok"]
    assert found["worst"] < 1e-12
    assert "Q' by the unified theorem, m = 3" in [row["identity"] for row in found["identities"]]
    file = tmp_path / "arm.py"
    file.write_text(
        "import appell as ap\nmodel = ap.Chain([ap.Joint('y', mass=1, center=(0.1, 0.2, 0))], name='mine')\n"
    )
    assert "mine: identities up to order 3" in call("verify", str(file), "--order", "3").stdout
    file = tmp_path / "arm.urdf"
    inertia = '<mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    file.write_text(
        '<robot name="file"><link name="base"/><link name="a"><inertial><origin xyz="0.1 0 0"/>'
        f"{inertia}</inertial></link>"
        '<joint name="turn" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/></joint></robot>'
    )
    assert "file: identities up to order 2" in call("verify", str(file), "--order", "2").stdout
    refused = call("verify", "rolling-disk", "--order", "2")
    assert refused.exit_code == 1
    assert "for an appell.Chain, got Model" in refused.output


def test_missing_inputs_are_asked_for_in_the_words_of_the_command(call, tmp_path, assert_fails):
    file = tmp_path / "pushed.py"
    file.write_text(
        "import appell as ap\nx = ap.coordinates('x')\nF = ap.inputs('F')\nground = ap.Frame('ground')\n"
        "p = ap.Particle('p', 1, ground.point(x))\n"
        "model = ap.Model(ground, [x], [p], [ap.Generalized({x: F})], name='pushed')\n"
    )
    assert_fails(call("run", str(file), "--until", "1"), "No value for the input F", "--set F=")
    assert_fails(call("sweep", str(file), "--over", "x=1,2", "--until", "1"), "No value for F", "--set F=")


@pytest.mark.parametrize(
    ("law", "end"),
    [
        ("2*pi/3", np.pi / 3),
        ("sin(t)", 1 - np.sin(1)),
        ("k*x - 2*x'", 0.0),
        ("max(t, 1 if t < 1/2 else 0)", 11 / 24),
    ],
)
def test_inputs_by_formulas(call, tmp_path, law, end):
    """x'' = F from rest; nothing typed is executed."""
    file = tmp_path / "pushed.py"
    file.write_text(
        "import appell as ap\nx = ap.coordinates('x')\nF = ap.inputs('F')\nground = ap.Frame('ground')\n"
        "k = ap.parameters('k')\np = ap.Particle('p', 1, ground.point(x))\n"
        "model = ap.Model(ground, [x], [p], [ap.Generalized({x: F - k * x})], name='pushed')\n"
    )
    data = strict(call("run", file, "--until", 1, "--set", f"F={law},k=0", "--json").stdout)
    assert data["final"]["x"] == pytest.approx(end, rel=1e-12, abs=1e-12)
    assert data["ok"]


def test_track(call, tmp_path):
    result = call(
        "track", "curvature-arm", "--disturb", "q1=0.35", "--gain", 20, "--rate", 200, "--out", tmp_path / "a.png"
    )
    assert result.exit_code == 0, result.output
    assert "all errors below 1e-3 from" in result.stdout
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_track_by_the_inputs_of_a_model(call, tmp_path):
    """An input without a value is a drive that the law commands; in the plan the programme does its work."""
    file = tmp_path / "lift.py"
    file.write_text(
        "import appell as ap, sympy as sp\n"
        "z, f, ground = ap.coordinates('z'), ap.inputs('f'), ap.Frame('ground')\n"
        "load = ap.Particle('load', 2, ground.point(0, 0, z))\n"
        "model = ap.Model(ground, z, [load], [ap.Gravity(-9.81 * ground.z), ap.Force(f * ground.z, load)],\n"
        "                 [ap.Programmed(z - sp.sin(ap.t), 'lift')], until=1.0)\n"
    )
    said = call("track", file).stdout
    assert "inputs up to f 19.62" in said
    assert "all errors below 1e-3 from t = 0 s" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["track", "rolling-disk"], "has no programmed constraint"),
        (["track", "curvature-arm", "--law", "magic"], "There is no law 'magic'"),
        (["track", "curvature-arm", "--disturb", "q1"], "--disturb takes NAME=NUMBER"),
        (["track", "curvature-arm", "--without", "wind"], "'wind' is not a force"),
        (["track", "curvature-arm", "--rate", "0"], "must be a positive number of samples a second, got 0.0"),
    ],
)
def test_bad_track(call, arguments, message):
    result = call(*arguments)
    assert result.exit_code == 1
    assert message in result.output


def test_what_is_set_in_a_sweep_of_a_linkage_is_kept_as_in_a_run(call):
    """The rest of the start follows from the constraints, in every run anew where lengths are varied."""
    run = strict(call("run", "four-bar", "--set", "q1=1.2", "--until", "0.5", "--json").stdout)
    for over in ("m=1,2", "la=0.8,0.82"):
        options = ["--set", "q1=1.2", "--over", over, "--until", "0.5", "--points", "2"]
        swept = strict(call("sweep", "four-bar", *options, "--json").stdout)
        assert swept["outcomes"] == {"DONE": 2}
        ends = [swept["final"]["q3"][which] for which in ("least", "greatest")]
        assert min(abs(end - run["final"]["q3"]) for end in ends) < 1e-6
    said = call("sweep", "four-bar", *options).stdout
    assert "at the end ┃ unit" in said
    assert "q1.rate    │ rad/s" in said


def test_an_input_that_is_set_is_not_given_by_the_control_as_well(call, tmp_path):
    (tmp_path / "cart.py").write_text(
        """
import appell as ap
x, y = ap.coordinates("x y", "m")
a, b = ap.inputs("a b", "N")
ground = ap.Frame("ground")
cart = ap.Particle("cart", 1, ground.point(x, y))
pushes, values = ap.Generalized({x: a, y: b}), {a: 0.0, b: 0.0}
model = ap.Model(ground, (x, y), [cart], [pushes], values=values, start={x: 1.0}, until=1.0)

def control(t, state):
    return {"a": -state["x"]}
"""
    )
    cart = str(tmp_path / "cart.py")
    assert strict(call("run", cart, "--set", "b=2", "--json").stdout)["final"]["y"] == pytest.approx(1.0, abs=1e-6)
    for command in (["run", cart], ["sweep", cart, "--over", "x=1,2"]):
        refused = call(*command, "--set", "a=2")
        assert refused.exit_code == 1
        assert "The control gives 'a', which is given" in refused.output


def test_a_sweep_says_of_how_many_runs_its_table_is(call):
    done = call("sweep", "pendulum-chain", "--over", "l=0,1", "--until", "1", "--points", "3")
    assert done.exit_code == 0
    assert "of 1 of 2 runs, which ended as wished:" in done.stdout


def test_a_sweep_writes_a_table_and_a_file_of_all(call, tmp_path):
    table, file = tmp_path / "study.csv", tmp_path / "study.nc"
    done = call("sweep", "pendulum-chain", "--over", "q1=0.1,0.2", "--until", 1, "--out", table, "--out", file)
    assert done.exit_code == 0
    assert [line.split(",")[0] for line in table.read_text().splitlines()] == ["run", "0", "1"]
    assert len(ap.ensemble.open_study(file)) == 2


def test_a_sweep_of_which_no_run_ends_as_wished_says_so_to_scripts(call):
    done = call("sweep", "pendulum-chain", "--over", "l=0,0", "--until", "1", "--points", "3")
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    assert "nan" not in done.stdout
    alone = call("sweep", "pendulum-chain", "--over", "l=1", "--until", "1", "--points", "3").stdout
    assert "median" in alone
    assert "nan" not in alone


def options_of_all_commands():
    """Name of the option -> command -> the option."""
    found = {}
    for name, command in typer.main.get_command(app).commands.items():
        for option in command.params:
            found.setdefault(option.opts[0], {})[name] = option
    return found


OF_ITS_OWN = {
    "--out",
    "--over",
    "--runs",
    "--until",
    "--rtol",
    "--points",
}  # they say what the command writes, or leaves out


def test_an_option_means_the_same_in_every_command():
    for name, commands in options_of_all_commands().items():
        if name not in OF_ITS_OWN:
            assert len({(option.help, option.metavar, option.multiple) for option in commands.values()}) == 1, name
    written = options_of_all_commands()["--out"]
    assert {name for name, option in written.items() if not option.multiple} == {"stabilize"}


def test_a_principle_is_chosen_wherever_equations_are_derived():
    found = options_of_all_commands()["--by"]
    assert set(found) == {"show", "run", "explore", "sweep", "periodic", "stabilize", "plan", "track", "export"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "rolling-disk", "--over", "m=1,2", "--until", 0.1, "--columns", "lean,x", "--columns", "y"],
        ["stabilize", "slider-crank", "--want", "theta=0.3", "--dependent", "phi", "--dependent", "x_s"],
        ["plan", "crane", "--until", 0.3, "--within", "speed:x=5,speed:l=5", "--within", "position:x=-9,9"],
        ["track", "curvature-arm", "--until", 0.1, "--gain", "20,20"],
    ],
)
def test_options_are_repeated_or_take_commas_under_any_principle(call, arguments):
    plain = strict(call(*arguments, "--json").stdout)
    other = strict(call(*arguments, "--by", "gpme", "--json").stdout)
    assert set(plain) == set(other)
    if arguments[0] == "sweep":
        assert list(plain["final"]) == ["lean", "x", "y"]
    if arguments[0] == "plan":
        assert [(e["kind"], e["name"], e["bounds"]) for e in plain["limits"]] == [
            ("position", "x", [-9, 9]), ("speed", "x", [-5, 5]), ("speed", "l", [-5, 5]),
        ]  # fmt: skip
