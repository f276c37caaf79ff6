"""The command line: what it prints, what it writes, and how it fails."""

import json
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import appell as ap
from appell.cli import app

USER_FILE = """
import appell as ap

x = ap.coordinates("x", "m")
m, k = ap.parameters("m k", "kg N/m")
u = ap.inputs("u", "N")
v = ap.speeds("v", "m/s")
ground = ap.Frame("ground")
block = ap.Particle("block", m, ground.point(x, 0))
model = ap.Model(ground, x, [block], [ap.Generalized({x: u - k * x}, "spring and motor")], name="my block",
                 description="a block on a spring. Written by a user.",
                 values={m: 1.0, k: 4.0, u: 0.0}, start={x: 1.0}, until=2.0)
"""


@pytest.fixture
def call():
    def run(*arguments):
        return CliRunner().invoke(app, [str(a) for a in arguments])

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "block.py"
    path.write_text(USER_FILE)
    return path


def strict(text):
    """JSON as other languages read it: no NaN, no Infinity, one value."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def assert_fails(result, *words, code=1):
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.startswith("appell: ")
    assert len(result.stderr.strip().splitlines()) == 1
    for word in words:
        assert word in result.stderr


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
    assert {"name": "m", "kind": "parameter", "unit": "kg", "value": 1.0} in data["symbols"]
    assert data["constraints"][0]["order"] == 1
    assert data["operations"] > 0


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


def test_verify_proves_nothing_with_nothing(call, file):
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
    result = call("export", "rolling-disk", "--c", tmp_path / "disk.c", "--casadi", tmp_path / "disk.casadi")
    assert result.exit_code == 0
    assert {p.name for p in tmp_path.iterdir()} == {"disk.c", "disk.h", "disk.casadi"}
    assert "disk_rhs" in (tmp_path / "disk.c").read_text()
    function = ca.Function.deserialize((tmp_path / "disk.casadi").read_text())
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    x = system.to_x(system.consistent())
    np.testing.assert_array_equal(np.array(function(0, x, [], system.p)).ravel(), system.rhs(0, x))
    listed = strict(call("export", "rolling-disk", "--c", tmp_path / "disk.c", "--json").stdout)
    assert listed == [str(tmp_path / "disk.c"), str(tmp_path / "disk.h")]


def test_a_file_works_like_a_library_model(call, file, tmp_path):
    shown = call("show", file)
    assert shown.exit_code == 0
    assert "my block" in shown.stdout
    assert call("verify", file, "--states", 2).exit_code == 0
    data = strict(call("run", file, "--until", np.pi / 2, "--set", "x=0.5", "--json").stdout)
    assert data["final"]["x"] == pytest.approx(-0.5, abs=1e-12)
    assert call("export", file, "--casadi", tmp_path / "block.casadi").exit_code == 0


def test_a_file_may_say_more(call, file):
    """Its own formulation, events and outputs; `model` may be a function."""
    file.write_text(
        USER_FILE.replace("\nmodel = ", "\nbuilt = ")
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


def test_a_file_may_import_its_neighbours(call, file):
    (file.parent / "neighbour_of_block.py").write_text("stiffness = 9.0\n")
    file.write_text("from neighbour_of_block import stiffness\n" + USER_FILE.replace("k: 4.0", "k: stiffness"))
    data = strict(call("run", file, "--json").stdout)
    assert data["values"]["k"] == 9.0


@pytest.mark.parametrize("command", ["show", "verify", "run", "export"])
def test_unknown_models(call, command, tmp_path):
    more = ["--c", tmp_path / "a.c"] if command == "export" else []
    assert_fails(
        call(command, "roling-disk", *more), "'roling-disk' is no model of the library. Did you mean 'rolling-disk'"
    )
    assert_fails(call(command, tmp_path / "nothing.py", *more), "There is no file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x = 1\n", "must define `model`, an appell.Model"),
        ("model = 3\n", "must define `model`, an appell.Model; it defines int"),
        ("1/0\n", "could not be run: ZeroDivisionError: division by zero"),
        ("def model(): return 1/0\n", "could not be run: ZeroDivisionError: division by zero"),
        ("model = (\n", "could not be run: SyntaxError"),
        ("import appell as ap\nap.coordinates('2x')\n", "'2x' cannot name a coordinate"),
    ],
)
def test_files_that_are_no_models(call, tmp_path, content, words):
    path = tmp_path / "wrong.py"
    path.write_text(content)
    result = call("run", path)
    assert result.exit_code == 1
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("events = 3", "`events` of {} must be a list of appell.Event(...), got 3."),
        ("events = [3]", "`events` of {} must be a list of appell.Event(...), got [3]."),
        ("outputs = [1]", "`outputs` of {} must be formulas by name, such as {{'height': y}}; got [1]."),
        ("outputs = {1: x}", "`outputs` of {} must be formulas by name"),
        ("outputs = {'a': [1, 2]}", "`outputs` of {} must be formulas by name"),
        ("outputs = {'a': lambda t: 1}", "`outputs` of {} must be formulas by name"),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["sweep", "--over", "m=1,2"]])
def test_files_that_say_too_much(call, file, command, line, words):
    file.write_text(USER_FILE + line + "\n")
    assert_fails(call(*command, file), words.format(file))


@pytest.mark.parametrize("over", ["m=1,,2", "m=1,2,", "m=,"])
def test_values_to_vary_have_no_gaps(call, over):
    assert_fails(call("sweep", "rolling-disk", "--over", over), "--over takes NAME=VALUES: --over m=0.5:1.5:11")


@pytest.mark.parametrize(
    "arguments",
    [
        ["sweep", "pendulum-chain", "--over", "l=uniform(1,2)", "--runs", 2, "--seed", -1],
        ["verify", "rolling-disk", "--seed", -1],
        ["stabilize", "ball-and-beam", "--want", "xi=0.2", "--runs", -1],
    ],
)
def test_numbers_below_zero_that_cannot_be(call, arguments):
    result = call(*arguments)
    assert result.exit_code == 2
    assert f"Invalid value for '{arguments[-2]}'" in result.stderr


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("mm=1", "'mm' is no parameter, input or state of 'rolling disk'. Did you mean 'm'?"),
        ("m", "--set takes NAME=NUMBER, for example --set m=1.5; got 'm'"),
        ("m=heavy", "--set takes NAME=NUMBER, for example --set m=1.5; got 'm=heavy'"),
        ("m=nan", "The value of 'm' must be a finite number"),
        ("m=-1", "The mass of 'disk' is m = -1 with these values; it must be positive"),
    ],
)
def test_wrong_settings(call, setting, words):
    assert_fails(call("run", "rolling-disk", "--set", setting), words)


def test_missing_values(call, file):
    file.write_text(USER_FILE.replace("k: 4.0, ", ""))
    assert_fails(call("run", file), "No value for the parameter k")
    assert call("run", file, "--set", "k=4").exit_code == 0


def test_starts_that_do_not_exist(call):
    assert_fails(
        call("run", "four-bar", "--set", "la=10"), "No positions satisfy the constraint", "the dimensions may not close"
    )


@pytest.mark.parametrize("out", ["disk.txt", "disk"])
def test_wrong_places_to_write_are_seen_before_the_run(call, tmp_path, out):
    assert_fails(call("run", "rolling-disk", "--until", 1e9, "--out", tmp_path / out))
    assert list(tmp_path.iterdir()) == []


def far(*_, **__):
    raise AssertionError("the work began before the place of its results was looked at")


@pytest.mark.parametrize(
    ("work", "arguments"),
    [
        ("appell.formulation.abstract.derive", ["sweep", "rolling-disk", "--over", "m=1,2", "--plot"]),
        ("appell.motion.run.simulate", ["run", "rolling-disk", "--out"]),
        ("appell.motion.run.simulate", ["run", "rolling-disk", "--report"]),
        ("appell.planning.plan", ["plan", "three-link", "--out"]),
        ("appell.planning.plan", ["plan", "three-link", "--report"]),
        ("appell.planning.plan", ["track", "curvature-arm", "--out"]),
        ("appell.planning.plan", ["track", "curvature-arm", "--report"]),
        ("appell.cli.stabilizing.Stabilization.run", ["stabilize", "ball-and-beam", "--out"]),
        ("appell.cli.stabilizing.Stabilization.run", ["stabilize", "ball-and-beam", "--report"]),
        ("appell.formulation.abstract.derive", ["export", "rolling-disk", "--c"]),
    ],
)
def test_every_place_to_write_is_looked_at_before_the_work(call, tmp_path, monkeypatch, work, arguments):
    monkeypatch.setattr(work, far)
    taken = tmp_path / "taken"
    taken.write_text("a file")
    assert_fails(call(*arguments, taken / "x"))
    folder = tmp_path / "x.html"
    folder.mkdir()
    if "--c" not in arguments and arguments[0] != "stabilize":
        assert_fails(call(*arguments, tmp_path / "x.tiff"), "use ")
        assert_fails(call(*arguments, folder))


def test_the_folder_of_a_plot_is_made(call, tmp_path):
    plot = tmp_path / "of" / "today" / "disk.png"
    result = call("sweep", "rolling-disk", "--over", "m=1,2", "--until", 0.1, "--plot", plot)
    assert result.exit_code == 0
    assert plot.stat().st_size > 1000


def test_folders_for_results_are_made(call, tmp_path):
    made = tmp_path / "of" / "today"
    options = ("--out", made / "disk.csv", "--report", tmp_path / "reports" / "disk.md")
    assert call("run", "rolling-disk", "--until", 0.1, *options).exit_code == 0
    assert (made / "disk.csv").stat().st_size > 100
    assert (tmp_path / "reports" / "disk.md").read_text().startswith("# rolling disk")


def test_a_folder_that_cannot_be_made(call, tmp_path):
    (tmp_path / "taken").write_text("a file")
    assert_fails(call("run", "rolling-disk", "--until", 1e9, "--out", tmp_path / "taken" / "a.csv"), "cannot be made")


def test_a_place_that_cannot_be_written(call, tmp_path):
    (tmp_path / "disk.nc").mkdir()
    result = call("run", "rolling-disk", "--until", 0.1, "--out", tmp_path / "disk.nc")
    assert result.exit_code == 1
    assert "Traceback" not in result.stderr
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert [p.name for p in tmp_path.iterdir()] == ["disk.nc"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Say what to write: --c FILE.c or --casadi FILE.casadi"),
        (["--c", "disk.txt"], "Give a path that ends in .c"),
        (["--c", "no/disk.c"], "does not exist; make it first"),
        (["--casadi", "no/disk.casadi"], "does not exist; make it first"),
    ],
)
def test_wrong_exports(call, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert_fails(call("export", "rolling-disk", *arguments), words)
    assert list(tmp_path.iterdir()) == []


def test_wrong_methods_and_ends(call):
    assert_fails(call("run", "rolling-disk", "--method", "euler"), "Unknown method 'euler'")
    assert_fails(call("run", "rolling-disk", "--until", -1), "must end after its start")
    assert_fails(call("run", "rolling-disk", "--points", 1), "at least two points")


def test_errors_for_machines(call):
    result = call("run", "roling-disk", "--json")
    assert result.exit_code == 1
    data = strict(result.stdout)
    assert data["error"] == "ModelError"
    assert "Did you mean" in data["message"]


def test_a_run_that_ends_early_fails_with_what_it_has(call, file):
    content = USER_FILE.replace("u - k * x", "6 * x**2").replace("start={x: 1.0}", "start={x: 1.0, x.rate: 2.0}")
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
    file.write_text(USER_FILE.replace("u - k * x", "(u - k * x) / (x - 1)"))
    result = call("run", file, "--json")
    assert result.exit_code == 1
    assert strict(result.stdout)["outcome"] == "NOT_FINITE"


def test_wrong_usage_has_its_own_exit_code(call):
    for arguments in (
        ["run"],
        ["fly", "rolling-disk"],
        ["verify", "rolling-disk", "--states", "0"],
        ["run", "rolling-disk", "--until", "long"],
    ):
        assert call(*arguments).exit_code == 2


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


def test_stabilize_does_the_whole_chain(call, tmp_path):
    options = ["--want", "theta=0.3", "--dependent", "phi,x_s", "--weight", "theta=10", "--price", "1"]
    result = call("stabilize", "slider-crank", *options, "--out", str(tmp_path), "--json")
    assert result.exit_code == 0
    found = strict(result.stdout)
    assert found["ok"]
    assert found["open"]["verdict"] == "UNSTABLE"
    assert found["closed"]["verdict"] == "ON_CONSTRAINTS"
    assert found["closed"]["zero roots"] == {"constraints": 2, "momenta": [], "families": 0, "found": 2}
    assert found["states"] == ["theta", "theta.rate"]
    for name in ("roots.png", "roots.svg", "closed_loop.png", "closed_loop.svg", "stabilize.json"):
        assert (tmp_path / name).stat().st_size > 500


def test_missing_inputs_are_asked_for_in_the_words_of_the_command(call, tmp_path):
    file = tmp_path / "pushed.py"
    file.write_text(
        "import appell as ap\nx = ap.coordinates('x')\nF = ap.inputs('F')\nground = ap.Frame('ground')\n"
        "p = ap.Particle('p', 1, ground.point(x))\n"
        "model = ap.Model(ground, [x], [p], [ap.Generalized({x: F})], name='pushed')\n"
    )
    assert_fails(call("run", str(file), "--until", "1"), "No value for the input F", "--set F=")


def test_stabilize_says_what_cannot_be(call):
    assert_fails(call("stabilize", "rolling-disk"), "no input")
    assert_fails(call("stabilize", "slider-crank", "--want", "x_s=0.9"), "cannot be reached", "closure")
    assert_fails(call("stabilize", "slider-crank", "--want", "theta"), "--want takes NAME=NUMBER")
    assert_fails(call("stabilize", "slider-crank", "--motor", "R=2"), "--motor takes")
    assert_fails(call("stabilize", "slider-crank", "--weight", "theta=-1"), "positive semidefinite")


def test_track(call, tmp_path):
    result = call(
        "track", "curvature-arm", "--disturb", "q1=0.35", "--gain", 20, "--rate", 200, "--out", tmp_path / "a.png"
    )
    assert result.exit_code == 0, result.output
    assert "all errors below 1e-3 from" in result.stdout
    assert (tmp_path / "a.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["track", "rolling-disk"], "has no programmed constraint"),
        (["track", "curvature-arm", "--law", "magic"], "There is no law 'magic'"),
        (["track", "curvature-arm", "--disturb", "q1"], "--disturb takes NAME=NUMBER"),
        (["track", "curvature-arm", "--without", "wind"], "'wind' is no force"),
        (["track", "curvature-arm", "--rate", "0"], "must be a positive number of samples a second, got 0.0"),
    ],
)
def test_bad_track(call, arguments, message):
    result = call(*arguments)
    assert result.exit_code == 1
    assert message in result.output


def test_a_sweep_of_which_no_run_ends_as_wished_says_so_to_scripts(call):
    done = call("sweep", "pendulum-chain", "--over", "l=0,0", "--until", "1", "--points", "3")
    assert done.exit_code == 1
    assert "Traceback" not in done.output
