"""The command line: what it refuses, in one line of words and before the work begins."""

import errno
import json
import os

import pytest


@pytest.mark.parametrize("command", ["show", "verify", "run", "export"])
def test_unknown_models(call, command, tmp_path, assert_fails):
    more = ["--out", tmp_path / "a.c"] if command == "export" else []
    assert_fails(
        call(command, "roling-disk", *more), "'roling-disk' is not a model of the library. Did you mean 'rolling-disk'"
    )
    assert_fails(call(command, tmp_path / "nothing.py", *more), "There is no file")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_its_ending_is_found(call, file, monkeypatch, assert_fails):
    monkeypatch.chdir(file.parent)
    words = "'block' is not a model of the library; there is a file block.py: write its whole name."
    assert_fails(call("run", "block"), words)
    assert_fails(call("run", file.with_suffix("")), "there is a file ", "block.py: write its whole name.")
    assert_fails(call("run", "."), "MODEL is a name from `appell list`")
    (file.parent / "crane.py").touch()
    assert call("show", "crane").exit_code == 0
    (file.parent / "folder.py").mkdir()
    assert_fails(call("run", "folder.py"), "folder.py is a folder.")


def test_unknown_principles(call, assert_fails):
    assert_fails(
        call("show", "knife-edge", "--by", "vornets"), "'vornets' is not a principle. Did you mean 'voronets'?"
    )
    assert_fails(call("show", "knife-edge", "--by", "shulgin"), "Shulgin accepts constraints of kind holonomic")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("x = 1\n", "must define `model`, an appell.Model or a function that returns one; it does not"),
        ("import appell as ap\na = ap.library.knife_edge()\n", "it does not; write `model = a`, of its models a."),
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
        ("inputs = 3", "`inputs` of {} must be numbers, formulas or functions of t by input, such as"),
        ("inputs = [(u, 3)]", "`inputs` of {} must be numbers, formulas or functions of t by input, such as"),
        ("inputs = lambda t: 3", "`inputs` of {} must be numbers, formulas or functions of t by input, such as"),
        ("control = 3", "`control` of {} must be a function (t, state) -> inputs or formulas by input"),
        ("control = 'pid'", "`control` of {} must be a function (t, state) -> inputs or formulas by input"),
        ("choices = {'uu': {'a': 1.0}}", "`choices` of {}: 'uu' is not a name that could be varied. Did you mean 'u'?"),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["sweep", "--over", "m=1,2"]])
def test_files_that_say_too_much(call, file, command, line, words, assert_fails):
    file.write_text(file.read_text() + line + "\n")
    assert_fails(call(*command, file), words.format(file))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("f = np.sin(x)", "`from sympy import sin`, not from NumPy (block.py, line"),
        ("f = math.sin(x)", "`from sympy import sin`, not from math (block.py, line"),
        ("f = 1 if x > 0 else 0", "a formula chooses by sympy.Piecewise, Min, Max or Abs"),
        ("f = min(x, 0)", "a formula chooses by sympy.Piecewise, Min, Max or Abs"),
        ("f = (x - 1)^2", "a power is written x**2 (block.py, line"),
    ],
)
def test_what_python_says_of_formulas_is_told_with_what_to_type(call, file, line, words, assert_fails):
    file.write_text(f"import math\nimport numpy as np\n{file.read_text()}{line}\n")
    assert_fails(call("run", file), "block.py could not be run: TypeError: ", words)


def test_a_message_of_several_lines_is_one_line(call, file, assert_fails):
    file.write_text(file.read_text() + "speed = x.diff()\n")
    assert_fails(
        call("run", file), "ValueError: ", "there is more than one variable in the expression, the variable(s)"
    )


def test_a_file_in_two_bytes_a_letter_is_told_to_be_saved_as_utf_8(call, file, assert_fails):
    file.write_text(file.read_text(), encoding="utf-16")
    assert_fails(call("run", file), "save the file as UTF-8")


def test_the_file_of_the_model_is_not_written_over(call, file, assert_fails):
    text = file.read_text()
    assert_fails(call("export", file, "--out", file), "was not written by appell, such as the model itself")
    assert file.read_text() == text


@pytest.mark.parametrize("over", ["m=1,,2", "m=1,2,", "m=,"])
def test_values_to_vary_have_no_gaps(call, over, assert_fails):
    assert_fails(call("sweep", "rolling-disk", "--over", over), "--over takes NAME=VALUES: --over m=0.5:1.5:11")


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ("m=1:2:2.5", "the count of first:last:count is a whole number"),
        ("m=1:2", "the count of first:last:count is a whole number"),
        ("m=1:2:3:4", "the count of first:last:count is a whole number"),
        ("m=1,heavy", "'heavy' is not a number"),
        ("m=1:heavy:3", "'heavy' is not a number"),
        ("m=gauss(1,2)", "there are uniform, normal, loguniform, each of two numbers"),
        ("m=uniform(1)", "there are uniform, normal, loguniform, each of two numbers"),
        ("m=uniform(2,1)", "Uniform(low, high) needs two finite numbers, low < high"),
        ("m=1:2:1e12", "1,000,000,000,000 runs are more than one study holds"),
    ],
)
def test_values_to_vary_that_cannot_be_read_are_told_why(call, over, words, assert_fails):
    assert_fails(call("sweep", "rolling-disk", "--over", over), words)


def test_what_is_varied_is_not_set(call, assert_fails):
    arguments = ("sweep", "rolling-disk", "--over", "m=1,2", "--over", "lean=0,0.1")
    assert_fails(call(*arguments, "--set", "m=3"), "m: given by --set and by --over; leave out one of them")
    assert_fails(call(*arguments, "--set", "lean=0.2"), "lean: given by --set and by --over")


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
        ("mm=1", "'mm' is not a parameter, input or state of 'rolling disk'. Did you mean 'm'?"),
        ("m", "--set takes NAME=NUMBER, such as --set m=1.5 or --set lean=pi/6 (angles in radians); got 'm'."),
        ("m=heavy", "got 'm=heavy'."),
        ("m=0,5", "got '5' in 'm=0,5' (decimals have a point)."),
        ("phi=30deg", "(angles in radians); got 'phi=30deg'."),
        ("m=nan", "The value of 'm' must be a finite number"),
        ("m=\u22121", "The mass of 'disk' is m = -1 with these values"),  # the minus of a page
        ("m=2^2", "got 'm=2^2'"),
        ("m=-1", "The mass of 'disk' is m = -1 with these values; it must be positive"),
    ],
)
def test_wrong_settings(call, setting, words, assert_fails):
    assert_fails(call("run", "rolling-disk", "--set", setting), words)


@pytest.mark.parametrize("files", [("--out", "a.html", "--report", "a.html"), ("--out", "a.csv", "--out", "./a.csv")])
def test_no_file_is_written_over_by_another(call, files, assert_fails):
    words = f"{files[1]} is asked for more than once; give every file a name of its own."
    assert_fails(call("run", "rolling-disk", *files), words)


def test_gains_below_zero_are_refused_by_their_name(call, assert_fails):
    words = "--gain takes a number that is not negative, once or for each of 3 coordinates; got -3."
    assert_fails(call("track", "three-link", "--gain", "-3"), words)


@pytest.mark.parametrize("law", ["2*foo", "__import__('os')", "t +", "t < 1", "x.mass", "open"])
def test_laws_that_cannot_be_read(call, law, assert_fails):
    words = "--set takes a number for the input tau_fr, or a formula in t, x, y, theta"
    assert_fails(call("run", "sprayer", "--no-study", "--set", f"tau_fr={law}"), words, "cannot be read")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "m=90"), "m = 90 kg, must not be lighter than without, m_empty = 100 kg"),
        (("--set", "mu=-1"), "A nozzle sprays; give a flow mu >= 0"),
        (("--until", "-3"), "The paths must be driven for some time; got until = -3 s"),
        (("--set", "tau_fr=sin(t)"), "cannot take tau_fr"),
    ],
)
def test_studies_of_the_sprayer_that_are_none(call, arguments, words, assert_fails):
    assert_fails(call("run", "sprayer", *arguments), words)


def test_missing_values(call, file, assert_fails):
    file.write_text(file.read_text().replace("k: 4.0, ", ""))
    assert_fails(call("run", file), "No value for the parameter k")
    assert call("run", file, "--set", "k=4").exit_code == 0


def test_starts_that_do_not_exist(call, assert_fails):
    assert_fails(
        call("run", "four-bar", "--set", "la=10"), "No positions satisfy the constraint", "the dimensions may not close"
    )


@pytest.mark.parametrize("out", ["disk.txt", "disk"])
def test_wrong_places_to_write_are_seen_before_the_run(call, tmp_path, out, assert_fails):
    assert_fails(call("run", "rolling-disk", "--until", 1e9, "--out", tmp_path / out))
    assert list(tmp_path.iterdir()) == []


def far(*_, **__):
    raise AssertionError("the work began before the place of its results was looked at")


@pytest.mark.parametrize(
    ("work", "arguments"),
    [
        ("appell.formulation.derive.derive", ["sweep", "rolling-disk", "--over", "m=1,2", "--out"]),
        ("appell.motion.run.simulate", ["run", "rolling-disk", "--out"]),
        ("appell.motion.run.simulate", ["run", "rolling-disk", "--report"]),
        ("appell.analysis.periodic.periodic", ["periodic", "rolling-disk", "--period", 1, "--out"]),
        ("appell.analysis.periodic.periodic", ["periodic", "rolling-disk", "--period", 1, "--report"]),
        ("appell.planning.plan", ["plan", "three-link", "--out"]),
        ("appell.planning.plan", ["plan", "three-link", "--report"]),
        ("appell.planning.plan", ["track", "curvature-arm", "--out"]),
        ("appell.planning.plan", ["track", "curvature-arm", "--report"]),
        ("appell.cli.stabilization.equilibrium", ["stabilize", "ball-and-beam", "--out"]),
        ("appell.cli.stabilization.equilibrium", ["stabilize", "ball-and-beam", "--report"]),
        ("appell.formulation.derive.derive", ["export", "rolling-disk", "--out"]),
    ],
)
def test_every_place_to_write_is_looked_at_before_the_work(call, tmp_path, monkeypatch, work, arguments, assert_fails):
    monkeypatch.setattr(work, far)
    taken = tmp_path / "taken"
    taken.write_text("a file")
    assert_fails(call(*arguments, taken / "x"))
    folder = tmp_path / "x.html"
    folder.mkdir()
    if arguments[0] not in ("export", "stabilize"):
        assert_fails(call(*arguments, tmp_path / "x.tiff"), "use ")
        assert_fails(call(*arguments, folder))


def test_the_folder_of_a_plot_is_made(call, tmp_path):
    plot = tmp_path / "of" / "today" / "disk.png"
    result = call("sweep", "rolling-disk", "--over", "m=1,2", "--until", 0.1, "--out", plot)
    assert result.exit_code == 0
    assert plot.stat().st_size > 1000


def test_folders_for_results_are_made(call, tmp_path):
    made = tmp_path / "of" / "today"
    options = ("--out", made / "disk.csv", "--report", tmp_path / "reports" / "disk.md")
    assert call("run", "rolling-disk", "--until", 0.1, *options).exit_code == 0
    assert (made / "disk.csv").stat().st_size > 100
    assert (tmp_path / "reports" / "disk.md").read_text().startswith("# rolling disk")


def test_work_that_fails_leaves_no_folder(call, tmp_path, assert_fails):
    made = tmp_path / "of" / "today"
    assert_fails(call("run", "rolling-disk", "--until", -1, "--out", made / "disk.csv", "--report", made / "disk.md"))
    assert_fails(call("stabilize", "slider-crank", "--want", "x_s=0.9", "--out", made))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made(call, tmp_path, assert_fails):
    (tmp_path / "taken").write_text("a file")
    assert_fails(call("run", "rolling-disk", "--until", 1e9, "--out", tmp_path / "taken" / "a.csv"), "cannot be made")


@pytest.mark.parametrize("ending", [".csv", ".nc", ".zarr", ".png"])
def test_a_full_disk_takes_only_the_file(call, tmp_path, monkeypatch, ending):
    """What was found is told before; of the file there is nothing, and its name is said."""

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    pytest.importorskip("zarr")
    for writer in ("pandas.DataFrame.to_csv", "xarray.Dataset.to_netcdf", "xarray.Dataset.to_zarr"):
        monkeypatch.setattr(writer, full)
    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    path = tmp_path / f"disk{ending}"
    result = call("run", "rolling-disk", "--until", 0.1, "--out", path)
    assert result.exit_code == 1
    assert "all is well" in result.stdout
    assert result.stderr == f"appell: {path}: {os.strerror(errno.ENOSPC)}.\n"
    assert list(tmp_path.iterdir()) == []


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
        ([], "Say what to write: --out FILE.fmu, FILE.c, FILE.m, FILE.py or FILE.casadi"),
        (["--out", "disk.txt"], "use .fmu, .c, .m, .py or .casadi"),
        (["--out", "1 disk.c"], "must be a C identifier"),
        (["--out", "my disk.fmu"], "must be a C identifier"),
        (["--out", "/dev/null/disk.casadi"], "cannot be made"),
    ],
)
def test_wrong_exports(call, tmp_path, monkeypatch, arguments, words, assert_fails):
    monkeypatch.chdir(tmp_path)
    assert_fails(call("export", "rolling-disk", *arguments), words)
    assert list(tmp_path.iterdir()) == []


def test_wrong_methods_and_ends(call, assert_fails):
    assert_fails(call("run", "rolling-disk", "--method", "euler"), "Unknown method 'euler'")
    assert_fails(call("run", "rolling-disk", "--until", -1), "must end after its start")
    assert_fails(call("run", "rolling-disk", "--points", 1), "at least two points")
    assert_fails(call("run", "rolling-disk", "--points", 10**15), "not enough memory; ask for less, such as fewer")


def test_wrong_usage_has_its_own_exit_code(call):
    for arguments in (
        ["run"],
        ["fly", "rolling-disk"],
        ["verify", "rolling-disk", "--states", "0"],
        ["run", "rolling-disk", "--until", "long"],
    ):
        assert call(*arguments).exit_code == 2
        for machine in (call(*arguments, "--json"), call("--json", *arguments)):
            assert machine.exit_code == 2
            data = json.loads(machine.stdout)
            assert data["error"] == "UsageError"
            assert data["message"]


def test_a_sweep_of_absurd_size_is_refused_at_once(call, assert_fails):
    arguments = ("sweep", "pendulum-chain", "--over", "m=1:2:1000000000000")
    assert_fails(call(*arguments), "1,000,000,000,000 runs are more than one study holds")


def test_gains_of_a_files_inputs(call, file, assert_fails):
    """They are set, or varied, or asked for; an input that is set needs none."""
    file.write_text(file.read_text() + "d = ap.parameters('d')\ninputs = {u: -d * x.rate}\n")
    assert_fails(call("sweep", file, "--set", "d=1", "--over", "d=1,2"), "d: given by --set and by --over")
    words = "The inputs of the file contain letters without a number; give --set d=NUMBER."
    assert_fails(call("run", file), words)
    assert_fails(call("sweep", file, "--over", "k=1,2"), words)
    assert call("run", file, "--set", "u=0").exit_code == 0
    ends = [call("run", file, "--json", "--set", given) for given in ("d=0.5", "u=-0.5*x.rate")]
    first, second = (json.loads(end.stdout)["final"]["x"] for end in ends)
    assert first == pytest.approx(second, abs=1e-9)
    assert call("sweep", file, "--over", "d=0.5,1", "--workers", "1").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--over", "u=push,pull"], "The file offers for u: push, none; got 'pull' in 'u=push,pull'.\n"),
        (["--over", "u=push,1"], "got '1' in 'u=push,1'. Labels and numbers are not varied together."),
        (["--over", "start=there"], "The file offers for start: here; got 'there' in 'start=there'.\n"),
        (["--over", "start", "--set", "x=1"], "x: given by --set, and all starts by --over; leave out one of them"),
    ],
)
def test_labels_that_a_file_does_not_offer(call, file, arguments, words, assert_fails):
    file.write_text(file.read_text() + "choices = {u: {'push': 1.0, 'none': 0.0}, 'start': {'here': {x: 2.0}}}\n")
    assert_fails(call("sweep", file, *arguments), words)


@pytest.mark.parametrize("line", ["control = lambda t, s: 1 / 0", "inputs = {u: lambda t: 1 / 0}"])
def test_what_a_function_of_the_file_raises_is_one_line(call, file, line, assert_fails):
    file.write_text(file.read_text() + line + "\n")
    words = f"ZeroDivisionError: division by zero (block.py, line {len(file.read_text().splitlines())})"
    assert_fails(call("run", file), f"A Python function of the caller raised an error. {words}")
    told = call("run", file, "--json")
    assert json.loads(told.stdout)["error"] == "ZeroDivisionError"


def test_a_fault_of_appells_own_is_not_made_one_line(call, monkeypatch):
    monkeypatch.setattr("appell.cli.verify.read_case", len)  # a number has no model
    assert isinstance(call("verify", "rolling-disk").exception, AttributeError)


def test_a_sweep_has_one_folder(call, tmp_path, assert_fails):
    folders = ("--out", tmp_path / "a.zarr", "--out", tmp_path / "b.zarr")
    assert_fails(call("sweep", "rolling-disk", "--over", "m=1,2", *folders), "go to one folder")


def test_more_cores_than_can_be_counted(call, assert_fails):
    options = ("--over", "m=1,2", "--until", 0.1, "--workers", 10**20)
    assert_fails(call("sweep", "rolling-disk", *options), "workers must be a whole number that a machine can count to")


def test_what_a_command_cannot_heed_is_refused(call, assert_fails):
    assert_fails(call("verify", "rolling-disk", "--set", "lean=1"), "verify takes random states")
    assert_fails(call("run", "sprayer", "--points", 5), "sprayer has a study; add --no-study")
    assert_fails(call("plan", "crane", "--within", "x=1"), "--within takes KIND:NAME=NUMBER", "'x=1'")
    assert_fails(call("track", "curvature-arm", "--gain", "fast"), "--gain takes a number", "fast")
