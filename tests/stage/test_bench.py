"""The benchmarks as a command: topics by name, JSON, a table for a page, curves. Nothing here asserts a time."""

import json
import shutil
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import appell
from appell.cli import app

ROOT = Path(__file__).parents[2]


def call(*arguments):
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


def test_topics_are_listed():
    topics = call("--list").stdout.split()
    assert {"batch", "ensembles", "growth", "million"} <= set(topics)
    assert json.loads(call("--list", "--json").stdout) == topics


def test_a_topic_is_measured_saved_and_drawn(tmp_path):
    result = call("growth", "--quick", "--out", tmp_path / "bench.json", "--out", tmp_path / "growth.png")
    assert result.exit_code == 0, result.output
    assert "Operations of one right-hand side" in result.stdout
    saved = json.loads((tmp_path / "bench.json").read_text())
    assert saved["about"]["machine"]
    assert saved["quick"] is True
    assert saved["topics"]["growth"]["rows"]
    assert (tmp_path / "growth.png").stat().st_size > 5000


@pytest.mark.filterwarnings("ignore")
def test_comparisons_become_a_table_for_a_page(tmp_path):
    result = call("disk_motion", "--quick", "--out", tmp_path / "bench.md", "--json")
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout)["topics"]["disk_motion"]["rows"]
    assert all((row["ratio"] is None) == row["note"].startswith("skipped: ") for row in rows)
    assert rows[0]["ratio"] > 0
    table = (tmp_path / "bench.md").read_text()
    assert table.startswith("| work | against | appell | ratio | target |")
    assert "SymPy Kane" in table
    assert "cores" in table


def test_bad_names_are_told(tmp_path):
    for arguments, words in (
        (["nope"], "No benchmark is called nope"),
        (["growth", "--out", tmp_path / "bench.txt"], "use .json, .md, .png, .svg or .pdf"),
        (["batch", "--out", tmp_path / "growth.png"], "topic growth"),
    ):
        result = call(*arguments)
        assert result.exit_code == 1
        assert words in result.stderr


def test_the_installed_package_has_them_and_others_in_the_way_are_left_alone(tmp_path, monkeypatch):
    """As the wheel lays them out, away from the repository, in a folder with benchmarks of somebody else."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    for source, place in build["targets"]["wheel"]["force-include"].items():
        shutil.copytree(ROOT / source, tmp_path / "lib" / "site" / place)
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "suite.py").write_text("raise SystemExit('not ours')")
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(appell, "__file__", str(tmp_path / "lib" / "site" / "appell" / "__init__.py"))
    assert "ensembles" in call("--list").stdout.split()
    assert Path(sys.modules["benchmarks"].__file__).is_relative_to(tmp_path / "lib")
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    shutil.rmtree(tmp_path / "lib")
    assert "has no benchmarks" in call("--list").stderr
