"""Packages that are not installed are asked for by the line to type, before any work is done."""

import sys

import pytest

import appell as ap


@pytest.fixture
def without(monkeypatch):
    """Make packages that cannot be imported."""

    def gone(*names):
        for name in list(sys.modules):
            if name.partition(".")[0] in names:
                monkeypatch.delitem(sys.modules, name)
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return gone


@pytest.fixture(scope="module")
def motion():
    system = ap.compile(ap.derive(ap.library.knife_edge())).bind()
    return ap.simulate(system, until=0.1, points=3)


def test_zarr(without, motion, tmp_path):
    without("zarr")
    line = r'pip install "appell\[zarr\]"'
    with pytest.raises(ap.AppellError, match=line):
        motion.save(tmp_path / "run.zarr")
    (tmp_path / "run.zarr").mkdir()
    with pytest.raises(ap.AppellError, match=line):
        ap.load(tmp_path / "run.zarr")
    with pytest.raises(ap.AppellError, match=line):
        ap.sweep(motion.system, {"m": [1.0, 2.0]}, until=0.1, out=tmp_path / "study.zarr")


def test_a_study_on_disk_is_not_called_damaged(without, motion, tmp_path):
    pytest.importorskip("zarr")
    ap.sweep(motion.system, {"m": [1.0, 2.0]}, until=0.1, out=tmp_path / "study.zarr")
    without("zarr")
    with pytest.raises(ap.AppellError, match=r'pip install "appell\[zarr\]"'):
        ap.ensemble.open_study(tmp_path / "study.zarr")


def test_other_packages(without, motion, tmp_path):
    without("plotly", "distributed", "dask", "control", "trimesh")
    with pytest.raises(ap.AppellError, match=r'pip install "appell\[plots\]"'):
        motion.plot().plotly()
    with pytest.raises(ap.AppellError, match=r'pip install "appell\[cluster\]"'):
        ap.sweep(motion.system, {"m": [1.0, 2.0]}, until=0.1, cluster="tcp://127.0.0.1:8786")
    (tmp_path / "part.stl").touch()
    with pytest.raises(ap.AppellError, match=r'pip install "appell\[mesh\]"'):
        ap.shapes.Mesh.load(tmp_path / "part.stl")
    block = ap.compile(ap.derive(ap.library.ball_and_beam())).bind()
    lin = ap.linearize(block, ap.equilibrium(block, inputs=block.model.inputs))
    with pytest.raises(ap.AppellError, match=r'pip install "appell\[control\]"'):
        lin.to_control()


@pytest.mark.parametrize(("name", "words"), [("run.zarr", "appell[zarr]"), ("run.mp4", "imageio-ffmpeg")])
def test_commands_ask_before_the_work(without, monkeypatch, call, assert_fails, file, tmp_path, name, words):
    without("zarr", "imageio_ffmpeg")
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert_fails(call("run", file, "--out", tmp_path / name), words)
