import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import appell as ap
from appell.code import heyoka_code, kept

LOADED = """
import numpy as np
import appell as ap
from appell.code import heyoka_code
from appell.graph import replay

def refuse(*arguments):
    raise AssertionError("compiled again")

if {refused}:
    heyoka_code.replay = refuse
system = ap.compile(ap.derive(ap.library.pendulum_chain(7))).bind()
x = np.linspace(-1, 1, 14 * 8).reshape(14, 8)
print(system.rhs(0.0, x).tobytes().hex())
"""


@pytest.mark.skipif(not heyoka_code.available(), reason="needs heyoka")
def test_another_process_loads_machine_code_and_gives_the_same_bits(tmp_path):
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    found = []
    for refused in (False, True):
        command = [sys.executable, "-c", LOADED.format(refused=refused)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        found.append(done.stdout)
    assert found[0] == found[1]
    assert len(list((tmp_path / "appell" / "functions").iterdir())) == 1


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty store, and a function that counts what is made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kept.tidy.cache_clear()
    made = []

    def recalled(*words: str) -> list[str]:
        return kept.recalled(words, lambda: made.append(words) or [*words])

    return tmp_path / "appell" / "functions", recalled, made


def test_what_was_made_of_the_same_words_is_made_once(store):
    _, recalled, made = store
    assert recalled("a", "b") == recalled("a", "b") == ["a", "b"]
    assert recalled("a", "c") == ["a", "c"]
    assert made == [("a", "b"), ("a", "c")]


@pytest.mark.parametrize("damage", [lambda data: data[:-3], lambda data: data[:40] + b"x" + data[41:], lambda _: b""])
def test_a_damaged_file_is_made_again(store, damage):
    folder, recalled, made = store
    recalled("a")
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert recalled("a") == recalled("a") == ["a"]
    assert len(made) == 2


def test_what_was_not_used_for_longest_is_dropped(store, monkeypatch):
    folder, recalled, made = store
    for i, word in enumerate("abc"):
        recalled(word)
        (new,) = (file for file in folder.iterdir() if file.stat().st_mtime > 1e6)
        os.utime(new, (i, i))
    recalled("a")  # used again
    size = max(file.stat().st_size for file in folder.iterdir())
    monkeypatch.setattr(kept, "LARGEST_STORE", 2 * size)
    kept.tidy.cache_clear()
    recalled("d")
    assert made == [("a",), ("b",), ("c",), ("d",)]
    recalled("c")
    recalled("a")
    recalled("b")
    assert made[4:] == [("b",)]


def test_without_a_place_to_write_everything_is_made(monkeypatch, tmp_path):
    file = tmp_path / "file"
    file.write_text("where a folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert kept.recalled(["a"], lambda: 1) == 1
    assert kept.recalled(["a"], lambda: 2) == 2


def test_a_user_without_a_home_keeps_nothing(monkeypatch):
    def homeless() -> None:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert kept.recalled(["a"], lambda: 1) == 1


def test_a_damaged_file_in_a_store_is_made_again_beside_it(tmp_path):
    def make(path: Path) -> None:
        path.write_text(f"made {len(list(tmp_path.glob('*.so')))}")

    first = kept.kept_file(tmp_path, "name", ".so", make)
    assert kept.kept_file(tmp_path, "name", ".so", make) == first
    assert first.read_text() == "made 0"
    first.write_text("made")
    again = kept.kept_file(tmp_path, "name", ".so", make)
    assert again.read_text() == "made 1"
    assert kept.kept_file(tmp_path, "name", ".so", make) == again


def test_a_full_disk_keeps_nobody_from_working(store, monkeypatch):
    _, recalled, made = store

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    assert recalled("a") == recalled("a") == ["a"]
    assert len(made) == 2


@pytest.mark.parametrize(("fault", "left"), [("database is locked", True), ("file is not a database", False)])
def test_a_store_that_others_use_is_left_to_them(tmp_path, monkeypatch, fault, left):
    class State:
        def set_diskcache_path(self, path: Path) -> None:
            if (path / "cache.db").exists():
                raise RuntimeError(f"SQLite: {fault}")

        def set_diskcache_limit(self, limit: int) -> None: ...

    monkeypatch.delenv("HEYOKA_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    file = tmp_path / "appell" / "heyoka" / "cache.db"
    file.parent.mkdir(parents=True)
    file.touch()
    assert heyoka_code._kept(State()) is not left
    assert file.exists() is left


@pytest.mark.skipif(not heyoka_code.available(), reason="needs heyoka")
def test_kept_code_belongs_to_its_options():
    """The same graph with sines called and spelled out, or with other inputs as variables, is other code."""
    function = ap.compile(ap.derive(ap.library.pendulum_chain(7))).bind().code.rhs.function
    called, inlined = (heyoka_code.machine_code(function, 1, inlined=i) for i in (False, True))
    x, numbers = np.full((14, 8), 0.4), np.ones((called.nparams, 8))
    one, other = called(x, pars=numbers), inlined(x, pars=numbers)
    assert not np.array_equal(one, other)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)
