"""The command line among other programs: narrow terminals, pipes, plain ASCII, files that print or fail."""

import io
import json
import math
import os
import shlex
import subprocess
import sys

import pytest

from appell.terminal import print_table

pty = pytest.importorskip("pty", reason="pseudo-terminals are not there")

FILE = """
import appell as ap

print("read")
x = ap.coordinates("x", "m")
m = ap.parameters("m", "kg")
ground = ap.Frame("ground")
block = ap.Particle("block", m, ground.point(x, 0))
model = ap.Model(ground, x, [block], [ap.Generalized({x: -x}, "spring")], name="Блок",
                 values={m: 1.0}, start={x: 1 / 3}, until=1.0)
"""


@pytest.fixture
def file(tmp_path):
    folder = tmp_path / "a folder é"
    folder.mkdir()
    path = folder / "my block.py"
    path.write_text(FILE, encoding="utf-8")
    return path


def call(*arguments, **environment):
    command = [sys.executable, "-m", "appell", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=120, env={**os.environ, **environment}, check=False)


def typed(columns, *arguments):
    """What a terminal of so many columns gets."""
    import fcntl
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
    quiet = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")}
    command = [sys.executable, "-m", "appell", *map(str, arguments)]
    program = subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL, env={**quiet, "TERM": "dumb"})
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert program.wait(60) == 0
    return text.decode()


def test_numbers_are_whole_in_a_narrow_terminal(file):
    text = typed(40, "run", file)
    assert "…" not in text
    found = [line.split("│") for line in text.splitlines() if line.startswith(("x ", "x.rate "))]
    assert [len(entries) for entries in found] == [6, 6]
    assert found[0][2].strip() == "0.333333333"
    assert abs(float(found[1][-1]) + math.sin(1) / 3) < 1e-8


def test_files_are_written_though_nobody_reads_on(file, tmp_path):
    """As in `appell run ... --out run.csv --out run.nc | head -1`, also where every line is sent at once."""
    for unbuffered in ("", "1"):
        reader, writer = os.pipe()
        os.close(reader)
        outs = [tmp_path / f"run{unbuffered}.csv", tmp_path / f"run{unbuffered}.nc"]
        command = [sys.executable, "-m", "appell", "run", str(file), "--out", str(outs[0]), "--out", str(outs[1])]
        program = subprocess.run(
            command, stdout=writer, stderr=subprocess.PIPE, timeout=120, check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
        os.close(writer)
        assert b"Traceback" not in program.stderr
        assert all(path.stat().st_size > 1000 for path in outs)


def test_a_table_that_nobody_reads_does_not_end_the_program(monkeypatch):
    """Rich would end it by itself."""

    class Closed(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Closed())
    with pytest.raises(BrokenPipeError):
        print_table("", ["name"], [["one"]])


@pytest.mark.skipif(os.name != "posix", reason="asks a shell")
def test_files_are_written_though_nobody_listens(file, tmp_path):
    """As by a service that starts it without streams."""
    out = tmp_path / "run.csv"
    command = shlex.join([sys.executable, "-m", "appell", "run", str(file), "--out", str(out)])
    assert subprocess.run(["sh", "-c", f"{command} >&- 2>&-"], timeout=120, check=False).returncode == 0
    assert out.stat().st_size > 1000


def test_words_are_broken_into_lines_and_names_are_not():
    lines = typed(60, "list").splitlines()
    assert max(map(len, lines)) < 100
    assert any(line.startswith("unicycle-curvature-rate ") for line in lines)
    assert not any("…" in line for line in lines)


def test_what_a_file_prints_stays_out_of_json(file):
    result = call("run", file, "--json")
    assert json.loads(result.stdout)["model"] == "Блок"
    assert result.stderr == b"read\n"


def test_letters_that_the_terminal_does_not_have(file):
    result = call("show", file, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert result.stdout.startswith(rb"\u0411\u043b\u043e\u043a")


def test_a_reader_that_has_enough_ends_it_without_a_word():
    command = [sys.executable, "-m", "appell", "list", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.close()
        assert program.stderr.read() == b""


def test_an_error_in_a_file_has_its_line(file):
    file.write_text("import appell as ap\n\n\nap.coordinates('θ')\n", encoding="utf-8")
    result = call("run", file)
    assert result.returncode == 1
    assert result.stderr.decode() == (
        f"appell: {file} could not be run: 'θ' cannot name a coordinate: use the letters a to z and A to Z, digits and "
        "_, beginning with a letter, and no Python keyword. (my block.py, line 4)\n"
    )
    file.write_text("raise SystemExit\n", encoding="utf-8")
    assert b"could not be run: SystemExit" in call("run", file).stderr


@pytest.mark.parametrize("name", ["model.yaml", ".", "models/disk"])
def test_files_of_other_kinds(name):
    result = call("run", name)
    assert result.returncode == 1
    assert result.stderr.decode() == (
        f"appell: MODEL is a name from `appell list`, a FILE.py or a FILE.urdf; got {name!r}.\n"
    )


def test_a_folder_may_have_the_name_of_a_model(tmp_path, monkeypatch):
    (tmp_path / "rolling-disk").mkdir()
    monkeypatch.chdir(tmp_path)
    assert call("show", "rolling-disk").returncode == 0


def test_the_version():
    import appell as ap

    assert call("--version").stdout.decode().split() == ["appell", ap.__version__]


def test_runs_are_asked_for_in_the_words_of_the_command(file):
    assert b"(--runs 1000)" in call("sweep", file, "--over", "m=uniform(1,2)").stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no disk is full here")
@pytest.mark.parametrize("options", [("list",), ("run", "knife-edge", "--until", "1", "--json")])
def test_a_full_disk_is_told_in_words(options):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "appell", *options]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr == "appell: What was found could not be written: No space left on device.\n"
