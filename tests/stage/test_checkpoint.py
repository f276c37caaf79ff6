"""Studies on disk: killed, interrupted, damaged, full; continued they are what an uninterrupted sweep gives."""

import _thread
import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import appell as ap
from appell.cli import app
from appell.cli.varied import read_over
from appell.ensemble import Uniform, open_study
from appell.ensemble.claim import Claim
from appell.ensemble.plan import Plan, made
from appell.ensemble.store import ABOUT, CLAIM, COPY, JOURNAL, read_journal
from appell.errors import StoreError

pytest.importorskip("zarr")

OVER = {"q1": Uniform(-1, 1), "l": [0.8, 1.2]}
OPTIONS = {"runs": 60, "seed": 5, "until": 4.0, "points": 6, "chunk": 8}
COMMAND = (
    "sweep pendulum-chain --over q1=uniform(-1,1) --over l=0.8,1.2 --runs 60 --seed 5 --until 4 --points 6 "
    "--chunk 8 --workers 1"
).split()
PROGRAM = "from appell.cli import main; main()"


@pytest.fixture(scope="module")
def system():
    return ap.compile(ap.derive(ap.library.pendulum_chain(3))).bind()


@pytest.fixture(scope="module")
def whole(system):
    """What an uninterrupted sweep gives."""
    return ap.sweep(system, OVER, **OPTIONS)


def assert_equal(study, whole):
    assert study.complete
    assert set(study.dataset.variables) == set(whole.dataset.variables)
    for name in whole.dataset.variables:
        np.testing.assert_array_equal(study.dataset[name].values, whole.dataset[name].values, err_msg=str(name))


def started(path, *more):
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *COMMAND, "--out", str(path), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_chunks(path, count, process):
    deadline = time.monotonic() + 120
    while not (path / JOURNAL).exists() or (path / JOURNAL).read_text().count("\n") < count:
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_study_on_disk_is_the_one_in_memory(system, whole, tmp_path):
    study = ap.sweep(system, OVER, **OPTIONS, out=tmp_path / "study.zarr")
    assert_equal(study, whole)
    assert_equal(open_study(tmp_path / "study.zarr"), whole)
    assert open_study(tmp_path / "study.zarr").failures.columns.tolist() == whole.failures.columns.tolist()
    again = ap.sweep(system, OVER, **OPTIONS, out=tmp_path / "study.zarr", resume=True)
    assert_equal(again, whole)


def test_kill_9_in_the_middle_and_resume(whole, tmp_path):
    path = tmp_path / "study.zarr"
    process = started(path)
    wait_for_chunks(path, 3, process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    before = len(read_journal(path))
    assert 3 <= before < 15
    with open(path / JOURNAL, "a") as journal:
        journal.write('0123456789abcdef {"chunk": 14, "torn')  # as a power cut leaves it
    done = CliRunner().invoke(app, [*COMMAND, "--out", str(path), "--resume"])
    assert done.exit_code == 0, done.output
    assert_equal(open_study(path), whole)
    assert len(read_journal(path)) == 15


def test_an_interrupt_from_the_keyboard_keeps_what_is_done(whole, tmp_path):
    path = tmp_path / "study.zarr"
    process = started(path)
    wait_for_chunks(path, 2, process)
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    if process.returncode == 0:
        pytest.skip("it was finished before it heard the keyboard")
    assert process.returncode == 130, complained
    assert "--resume" in said
    partial = open_study(path)
    assert not partial.complete
    assert partial.outcomes["NOT_MADE"] > 0
    done = CliRunner().invoke(app, [*COMMAND, "--out", str(path), "--resume"])
    assert done.exit_code == 0, done.output
    assert_equal(open_study(path), whole)


def test_damaged_and_missing_chunks_are_made_again(system, whole, tmp_path):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    flipped, cut, gone = path / "q1" / "1.0", path / "q2.rate" / "4.0", path / "steps" / "7"
    data = bytearray(flipped.read_bytes())
    data[len(data) // 2] ^= 0x10
    flipped.write_bytes(bytes(data))
    cut.write_bytes(cut.read_bytes()[:10])
    gone.unlink()
    opened = open_study(path)
    assert opened.complete
    for name, words in (("q1", "1 of 'q1' .* not what was written"), ("steps", "7 of 'steps' .* is missing")):
        with pytest.raises(StoreError, match=f"Chunk {words}.* resume=True"):
            _ = opened[name].values
    with pytest.raises(StoreError, match=r"Chunk 4 of 'q2.rate'"):
        opened.statistics("q2.rate")
    study = ap.sweep(system, OVER, **OPTIONS, out=path, resume=True, workers=1)
    made = [line["chunk"] for line in read_journal(path)]
    assert sorted(made[-3:]) == [1, 4, 7]  # only these were added behind those that were sound
    assert_equal(study, whole)


def flip(file):
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0x10
    file.write_bytes(bytes(data))


def cut(file):
    file.write_bytes(file.read_bytes()[:3])


def garble(file):
    file.write_bytes(b"\xff\xfe" + file.read_bytes()[2:])


@pytest.mark.parametrize(
    "harms",
    [
        {"q1.start/0": flip, "l/0": cut, "t/0": Path.unlink},  # what was varied, and the times
        {"t/0": flip, "q1.start/0": Path.unlink, "run/0": cut},
        {".zmetadata": garble, ".zgroup": garble, ".zattrs": garble, "q1/.zarray": cut, "q1/.zattrs": Path.unlink},
        {".zmetadata": Path.unlink, ".zgroup": Path.unlink, ".zattrs": cut},
        {JOURNAL: Path.unlink},
    ],
)
def test_what_follows_from_the_settings_is_written_again_where_it_is_damaged(system, whole, tmp_path, harms):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    for name, harm in harms.items():
        harm(path / name)
        with pytest.raises(StoreError, match=r"is damaged .* resume=True"):
            open_study(path)
    assert_equal(ap.sweep(system, OVER, **OPTIONS, out=path, resume=True), whole)
    assert_equal(open_study(path), whole)
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_loses_nothing(system, whole, tmp_path, monkeypatch):
    path, real, calls = tmp_path / "study.zarr", os.fsync, []

    def full(number):
        calls.append(number)
        if len(calls) > 6:  # the description, its copy, and four chunks
            raise OSError(errno.ENOSPC, "No space left on device")
        real(number)

    monkeypatch.setattr("appell.ensemble.store.os.fsync", full)
    with pytest.raises(StoreError, match=r"The disk is full at chunk \d+; 4 of 15 chunks are safe .* resume=True"):
        ap.sweep(system, OVER, **OPTIONS, out=path)
    monkeypatch.undo()
    real_write, before = Path.write_text, (path / JOURNAL).read_bytes()

    def no_room(self, text, *more, **options):
        real_write(self, text[:9])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", no_room)
    with pytest.raises(StoreError, match=r"The disk is full while .*study\.zarr was looked through; nothing is lost"):
        ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    monkeypatch.undo()
    assert (path / JOURNAL).read_bytes() == before
    assert_equal(ap.sweep(system, OVER, **OPTIONS, out=path, resume=True), whole)


def test_a_chunk_that_was_not_finished_counts_as_not_made(system, whole, tmp_path):
    """Killed between two files of a chunk: some of them are there, others not, and one is torn."""
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    *kept, last = (path / JOURNAL).read_text().splitlines(keepends=True)
    (path / JOURNAL).write_text("".join(kept) + last[:40])
    (path / "steps" / "14").unlink()
    torn = path / "q1" / "14.0.0123456789abcdef.partial"
    torn.write_bytes(b"torn")
    study = open_study(path)
    assert not study.complete
    assert study.outcomes == {"NOT_MADE": 8, "DONE": 112}
    assert np.isnan(study["q1"].values[-8:]).all()
    assert study.statistics("q1")["q1"].sel(statistic="runs").values.tolist() == [112] * 6
    assert_equal(ap.sweep(system, OVER, **OPTIONS, out=path, resume=True), whole)
    assert not torn.exists()


def test_a_damaged_description_is_mended_from_its_copy(system, whole, tmp_path):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    said = (path / ABOUT).read_text()
    cut(path / ABOUT)
    assert_equal(open_study(path), whole)
    assert_equal(ap.sweep(system, OVER, **OPTIONS, out=path, resume=True), whole)
    assert (path / ABOUT).read_text() == (path / COPY).read_text() == said
    for place in range(0, len(said), 37):  # one digit or letter is another, and all may be as readable as before
        changed = said[:place] + chr(ord(said[place]) ^ 1) + said[place + 1 :]
        (path / ABOUT).write_text(changed)
        assert open_study(path).complete
    ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    assert (path / ABOUT).read_text() == (path / COPY).read_text() == said
    cut(path / ABOUT)
    cut(path / COPY)
    with pytest.raises(StoreError, match=r"study\.json is damaged .* its copy study\.copy\.json.* cannot be continued"):
        ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    (path / ABOUT).write_text('{"format": 1}')
    with pytest.raises(StoreError, match=r"another version of appell \(format 1, this is 3\)"):
        open_study(path)


def test_two_processes_do_not_write_to_one_study(system, whole, tmp_path):
    """Each would rewrite the other's journal, and failures of a chunk could be lost."""
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    (path / "q1" / "1.0").unlink()
    other = Claim(path / CLAIM)
    assert other.held
    with pytest.raises(StoreError, match=r"Another process writes to .*study\.zarr; wait") as refused:
        ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    other.release()
    assert_equal(ap.sweep(system, OVER, **OPTIONS, out=path, resume=True), whole)
    assert refused.tb is not None  # what an error holds on to keeps nobody away


def test_one_writer_also_on_windows(tmp_path, monkeypatch):
    """There a byte is locked that nobody reads; whoever locks it first has it."""
    taken = set()

    def locking(file, mode, count):
        place = os.fstat(file).st_ino, os.lseek(file, 0, os.SEEK_CUR)
        if place in taken:
            raise PermissionError(errno.EACCES, "Permission denied")
        taken.add(place)

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    claims = [Claim(tmp_path / CLAIM) for _ in range(2)]
    assert [claim.held for claim in claims] == [True, False]
    for claim in claims:
        claim.release()
    assert min(place for _, place in taken) > (tmp_path / CLAIM).stat().st_size


def without_a_chunk(path):
    """A study without one of its chunks."""
    (path / "q1" / "1.0").unlink()


def test_other_files_of_appell_that_give_the_same_numbers_may_go_on(system, whole, tmp_path, monkeypatch):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    without_a_chunk(path)
    monkeypatch.setattr("appell.motion.versions.files", lambda: "edited")
    study = ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    assert_equal(study, whole)
    assert "gone on with by appell" in study.summary()
    assert open_study(path).summary().count("(files edited)") == 1
    without_a_chunk(path)
    again = ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    assert len(again.info["makers"]) == 2


def test_who_goes_on_with_other_files_is_the_only_writer(system, whole, tmp_path, monkeypatch):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    without_a_chunk(path)
    monkeypatch.setattr("appell.motion.versions.files", lambda: "edited")
    make, refused = Plan.make, []

    def meanwhile(*arguments):
        with pytest.raises(StoreError, match="Another process writes to") as error:
            ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
        refused.append(error)
        return make(*arguments)

    monkeypatch.setattr(Plan, "make", meanwhile)
    assert_equal(ap.sweep(system, OVER, **OPTIONS, out=path, resume=True), whole)
    assert len(refused) == 1


def test_other_files_of_appell_that_give_other_numbers_may_not(system, tmp_path, monkeypatch):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    without_a_chunk(path)
    monkeypatch.setattr("appell.motion.versions.files", lambda: "edited")

    def other(*arguments, **more):
        found = made(*arguments, **more)
        found.arrays["q2"][:, -1] += 1e-15
        return found

    monkeypatch.setattr("appell.ensemble.remade.made", other)
    before = (path / ABOUT).read_text()
    with pytest.raises(StoreError, match=r"gives other numbers: q2 of run 0, made again.* give another name"):
        ap.sweep(system, OVER, **OPTIONS, out=path, resume=True)
    assert (path / ABOUT).read_text() == before


def test_an_error_before_the_first_chunk_leaves_no_folder(system, tmp_path, monkeypatch):
    """Which would ask for --resume, with nothing in it to go on with."""
    path = tmp_path / "study.zarr"

    def broken(*arguments):
        raise MemoryError

    monkeypatch.setattr("appell.ensemble.plan.Plan.make", broken)
    with pytest.raises(MemoryError):
        ap.sweep(system, OVER, **OPTIONS, out=path)
    assert not path.exists()
    monkeypatch.undo()
    assert ap.sweep(system, OVER, **OPTIONS, out=path).complete


def test_another_study_is_not_continued(system, tmp_path):
    path = tmp_path / "study.zarr"
    ap.sweep(system, OVER, **OPTIONS, out=path)
    before = sorted((str(p), p.stat().st_mtime_ns) for p in path.rglob("*"))
    for other, words in (
        ({"seed": 6}, "the runs"),
        ({"points": 7}, "the times of the table"),
        ({"rtol": 1e-8}, "method and tolerances"),
        ({"start": {"q3": 0.1}}, "the starts"),
    ):
        with pytest.raises(StoreError, match=f"differs in: {words}"):
            ap.sweep(system, OVER, **{**OPTIONS, **other}, out=path, resume=True)
    other = ap.compile(system.equations, "casadi").bind(system.values)
    with pytest.raises(StoreError, match=r"the machine \(compiled for 'auto' when it was begun, now for 'casadi'\)"):
        ap.sweep(other, OVER, **OPTIONS, out=path, resume=True)
    with pytest.raises(StoreError, match="the equations"):
        ap.sweep(ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind(), OVER, **OPTIONS, out=path, resume=True)
    with pytest.raises(StoreError, match="exists already"):
        ap.sweep(system, OVER, **OPTIONS, out=path)
    assert sorted((str(p), p.stat().st_mtime_ns) for p in path.rglob("*")) == before
    foreign = tmp_path / "foreign.zarr"
    foreign.mkdir()
    with pytest.raises(StoreError, match="is not a study written by appell"):
        ap.sweep(system, OVER, **OPTIONS, out=foreign, resume=True)
    with pytest.raises(StoreError, match="There is no study"):
        open_study(tmp_path / "nothing.zarr")
    with pytest.raises(StoreError, match="does not exist"):
        ap.sweep(system, OVER, **OPTIONS, out=tmp_path / "no" / "study.zarr")


def test_failures_and_reasons_survive_on_disk(tmp_path):
    import sympy as sp

    x, k = ap.coordinates("x", "m"), ap.parameters("k")
    ground = ap.Frame("ground")
    mass = ap.Particle("mass", 1, ground.point(x, 0))
    model = ap.Model(ground, x, [mass], [ap.Generalized({x: -sp.sqrt(k) * x - 0.1 * sp.sign(x.rate)})])
    system = ap.compile(ap.derive(model))
    path = tmp_path / "study.zarr"
    ap.sweep(system, {k: [1.0, -1.0, 4.0]}, start={x: 1.0}, until=1.0, points=3, out=path, chunk=1, method="RK45")
    study = open_study(path)
    assert study.failures["run"].tolist() == [1]
    assert study.failures["k"].tolist() == [-1.0]
    assert study.info["reasons"] == {"method 'RK45' was asked for": 3}


def test_failures_are_data_and_the_journal_does_not_grow_with_them(system, tmp_path):
    """Their words are an array of the study like others, which any reader finds, and a damaged file of it too."""
    import xarray

    sizes = {}
    for most in (1, 100_000):
        path = tmp_path / f"{most}.zarr"
        ap.sweep(system, OVER, **OPTIONS, out=path, max_steps=most)
        sizes[most] = (path / JOURNAL).stat().st_size
    assert sizes[1] < 1.1 * sizes[100_000]
    path = tmp_path / "1.zarr"
    study, memory = open_study(path), ap.sweep(system, OVER, **OPTIONS, max_steps=1)
    assert study.outcomes == {"STEP_LIMIT": len(memory)}
    assert study.failures.equals(memory.failures)
    assert study.failures["reason"].str.contains("State.*; give a larger max_steps").all()
    assert study.failures["reason"].nunique() == len(memory)
    memory.save(tmp_path / "1.nc")
    assert open_study(tmp_path / "1.nc").failures.equals(memory.failures)
    with xarray.open_zarr(path, consolidated=True) as plain:
        assert plain["reason"].values.tolist() == memory.failures["reason"].tolist()
    (path / "reason" / "0").write_bytes(b"?")
    with pytest.raises(StoreError, match="Chunk 0 of 'reason'"):
        print(open_study(path))
    assert ap.sweep(system, OVER, **OPTIONS, max_steps=1, out=path, resume=True).failures.equals(memory.failures)


def test_the_command_says_what_came_out(tmp_path):
    import json

    out = tmp_path / "study.zarr"
    result = CliRunner().invoke(app, [*COMMAND, "--out", str(out), "--out", str(tmp_path / "bands.png"), "--json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["runs"] == 120
    assert said["complete"]
    assert said["outcomes"] == {"DONE": 120}
    assert said["final"]["q1"]["least"] < said["final"]["q1"]["mean"] < said["final"]["q1"]["greatest"]
    assert (tmp_path / "bands.png").stat().st_size > 5000
    for bad, words in (
        (["--over", "q1=one"], "--over takes NAME=VALUES"),
        (["--over", "q9=1,2"], "'q9' is not a parameter, input or state"),
        (["--over", "q1=uniform(1,0)"], "low < high"),
        (["--over", "q1=cauchy(1,0)"], "--over takes NAME=VALUES"),
        (["--over", "q1=uniform(0,1)"], "say how many runs"),
        (["--over", "q1=1,2", "--runs", "9"], "runs=9 goes with distributions, and the values given here make 2 runs"),
        (["--over", "q1=1,2", "--max-steps", "0"], "max_steps must be a whole number, 1 or more"),
        (["--over", "q1=1,2", "--resume"], "(--resume) needs"),
    ):
        result = CliRunner().invoke(app, ["sweep", "pendulum-chain", *bad])
        assert result.exit_code == 1
        assert result.stderr.startswith("appell: ")
        assert words in result.stderr
    assert Path(out).is_dir()


def test_numbers_of_the_command_may_be_formulas():
    varied = read_over(["a=pi/6,1", "b=uniform(-pi,sqrt(2))", "c=0:2*pi:3", "d=sqrt(4)"], {})
    assert varied["a"] == pytest.approx([np.pi / 6, 1.0], rel=1e-15)
    assert (varied["b"].low, varied["b"].high) == pytest.approx((-np.pi, np.sqrt(2)), rel=1e-15)
    assert varied["c"].tolist() == pytest.approx([0.0, np.pi, 2 * np.pi], rel=1e-15)
    assert varied["d"] == [2.0]


DRIVEN = """
import appell as ap, sympy as sp
x, F = ap.coordinates("x"), ap.inputs("F")
k, rate = ap.parameters("k rate")
ground = ap.Frame("ground")
model = ap.Model(ground, x, [ap.Particle("p", 1, ground.point(x))], [ap.Generalized({x: F})], start={x: 1.0}, until=1.0)
inputs = {F: -k * x}
choices = {F: {"none": 0.0, "swing": sp.sin(3 * ap.t)},
           "control": {"weak": lambda t, s: -s["x"], "strong": lambda t, s: -4 * s["x"]}}
"""


def test_a_file_defines_programmes_and_controllers_for_the_command(tmp_path):
    import json

    file = tmp_path / "driven.py"
    file.write_text(DRIVEN)

    def ends(*words):
        said = CliRunner().invoke(app, ["sweep", str(file), *words, "--points", "2", "--json"])
        assert said.exit_code == 0, said.output
        return json.loads(said.stdout)["final"]["x"]

    closed, swing, weak = np.cos(np.sqrt([1.0, 4.0])), 1 + 1 / 3 - np.sin(3) / 9, np.cos(1.0)
    found = ends("--over", "k=1,4")  # the gain of its own law
    np.testing.assert_allclose([found["greatest"], found["least"]], closed, atol=1e-8)
    found = ends("--over", "F")
    np.testing.assert_allclose([found["least"], found["greatest"]], [1.0, swing], atol=1e-8)
    np.testing.assert_allclose(ends("--over", "F=swing")["mean"], swing, atol=1e-8)
    file.write_text(DRIVEN.replace("inputs =", "other ="))
    np.testing.assert_allclose(ends("--over", "control=weak")["mean"], weak, atol=1e-8)
    for name, over, words in (
        (str(file), "F=wave", "The file offers for F: none, swing; got 'wave' in 'F=wave'."),
        ("planar-2r", "tau1=sin(3*t)", "choices = {'tau': {'swing': sin(3 * t)}"),
    ):
        result = CliRunner().invoke(app, ["sweep", name, "--over", over])
        assert result.exit_code == 1
        assert words in result.stderr


def test_single_runs_that_were_made_are_kept_when_the_others_are_interrupted():
    """Runs with a Python function may take minutes each."""
    x, F = ap.coordinates("x"), ap.inputs("F")
    ground = ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("p", 1, ground.point(x))], [ap.Generalized({x: F})])
    system, pressed = ap.compile(ap.derive(model)), []

    def law(t, state):
        if state["x"] > 11.5:
            if not pressed:
                pressed.append(t)
                _thread.interrupt_main()
            time.sleep(0.05)
        return -state["x"]

    ours = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let background jobs ignore it
    try:
        starts = {"x": np.arange(1.0, 21.0)}
        study = ap.sweep(system, starts, control=law, until=0.1, points=2, workers=1, progress=False)
    finally:
        signal.signal(signal.SIGINT, ours)
    assert not study.complete
    assert 10 <= study.outcomes["DONE"] < 20
