"""Files are whole or not there, whatever writes them."""

import errno
import os

import numpy as np
import pytest

import appell as ap
from appell.files import json_text, whole, write_figure, write_text


@pytest.fixture
def figure():
    from matplotlib.figure import Figure

    return Figure(figsize=(1, 1))


def test_a_file_that_fails_half_way_is_not_there(tmp_path):
    path = tmp_path / "table.txt"
    write_text(path, "before")

    def fail_half_way():
        with whole(path) as part:
            part.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_file_that_is_written_again_keeps_its_mode(tmp_path):
    path = write_text(tmp_path / "secret.txt", "before")
    path.chmod(0o640)
    write_text(path, "after")
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_folder_that_fails_half_way_is_not_there(tmp_path):
    path = tmp_path / "run.zarr"

    def write(entry, fails):
        with whole(path, folder=True) as part:
            part.mkdir()
            (part / entry).touch()
            if fails:
                raise OSError(errno.ENOSPC, "No space left on device")

    write("before", fails=False)
    with pytest.raises(OSError, match="No space left on device") as fault:
        write("after", fails=True)
    assert fault.value.filename == str(path)
    assert [p.name for p in path.iterdir()] == ["before"]
    write("after", fails=False)
    assert [p.name for p in path.iterdir()] == ["after"]
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_link_leads_to_is_written(tmp_path):
    (tmp_path / "disk").mkdir()
    link = tmp_path / "table.txt"
    link.symlink_to(tmp_path / "disk" / "table.txt")
    write_text(link, "text")
    assert link.is_symlink()
    assert (tmp_path / "disk" / "table.txt").read_text() == "text"


def test_nothing_but_the_file_is_touched(tmp_path):
    for name in ("table.part.txt", "table.txt.part", "part.txt"):
        (tmp_path / name).write_text("of the user")
    write_text(tmp_path / "table.txt", "text")
    assert sorted(path.read_text() for path in tmp_path.iterdir()) == [*["of the user"] * 3, "text"]


def test_one_file_may_have_two_writers(tmp_path):
    path = tmp_path / "table.txt"
    with whole(path) as first, whole(path) as second:
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_devices_and_pipes_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(ap.AppellError, match="it is a device or a pipe"):
        write_text(tmp_path / "pipe.txt", "text")
    assert (tmp_path / "pipe.txt").is_fifo()


def test_a_fault_of_another_file_keeps_its_name(tmp_path):
    with pytest.raises(FileNotFoundError) as fault, whole(tmp_path / "film.mp4"):
        (tmp_path / "frame.png").read_bytes()
    assert str(fault.value.filename) == str(tmp_path / "frame.png")


def test_places_and_endings_are_refused_in_words(tmp_path, figure):
    with pytest.raises(ap.AppellError, match="does not exist; make it first"):
        write_figure(figure, tmp_path / "no" / "plot.png", 10)
    with pytest.raises(ap.AppellError, match="it is a folder"):
        write_text(tmp_path, "")
    with pytest.raises(ap.AppellError, match=r"Cannot draw 'plot.foo'; use .*\.png"):
        write_figure(figure, tmp_path / "plot.foo", 10)
    assert not list(tmp_path.iterdir())


def test_a_figure_without_ending_is_a_png(tmp_path, figure):
    assert write_figure(figure, tmp_path / "plot", 10).read_bytes().startswith(b"\x89PNG")


def test_numbers_that_json_does_not_have_become_null():
    data = {"distance": float("inf"), 1: [np.nan, np.float64(2.0)], "A": np.array([[1.0, -np.inf]]), "ok": True}
    assert json_text(data) == '{"distance": null, "1": [null, 2.0], "A": [[1.0, null]], "ok": true}'
