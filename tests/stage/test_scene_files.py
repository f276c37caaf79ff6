"""Files of scenes: whole, with nothing let in; mistakes are named."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

import appell as ap
from appell.view import Look, Solid
from appell.view.page import data_block, document
from appell.view.surface import surface


def run(model, until=None, values=None, **more):
    return ap.simulate(ap.compile(ap.derive(model)).bind(values or {}), until=until, points=51, progress=False, **more)


@pytest.fixture(scope="module")
def disk():
    return run(ap.library.rolling_disk(), 2.0)


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "gif", "html"])
def test_files_are_written_whole(disk, tmp_path, ending):
    scene = disk.animate(frames=12)
    path = scene.save(tmp_path / f"disk.{ending}", seconds=0.4)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF", "gif": b"GIF89a", "html": b"<!doctype html>"}[ending]
    assert path.read_bytes().startswith(start)
    assert [p.name for p in tmp_path.iterdir()] == [f"disk.{ending}"]


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="no ffmpeg")
def test_a_film_is_written(disk, tmp_path):
    path = disk.animate(frames=8).save(tmp_path / "disk.mp4", seconds=0.3)
    assert path.read_bytes()[4:8] == b"ftyp"


def test_without_ffmpeg_the_message_says_what_to_do(disk, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(ap.AppellError, match="pip install imageio-ffmpeg"):
        disk.animate(frames=4).save(tmp_path / "disk.mp4", seconds=0.2)
    assert list(tmp_path.iterdir()) == []


def test_a_loaded_motion_can_be_animated(disk, tmp_path):
    disk.save(tmp_path / "disk.nc")
    loaded = ap.load(tmp_path / "disk.nc", system=disk.system)
    mine, theirs = (m.animate(frames=9, forces=False).values.points for m in (disk, loaded))
    np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-2)
    with pytest.raises(ap.AppellError, match="load"):
        ap.load(tmp_path / "disk.nc").animate()


def test_mistakes_are_named(disk, tmp_path):
    model = ap.library.rolling_disk()
    with pytest.raises(ap.AppellError, match=r"use \.html"):
        disk.animate(tmp_path / "disk.txt")
    with pytest.raises(ap.AppellError, match="does not exist"):
        disk.animate(tmp_path / "no" / "disk.html")
    with pytest.raises(ap.AppellError, match=r"for a Model use model\.draw"):
        ap.view.explore({1.0: model}, "x")
    with pytest.raises(ap.AppellError, match="wheal"):
        model.draw(look=Look(shapes={"wheal": Solid("sphere", 1)}))
    for more, words in (
        ({"frames": 2.5}, "a whole number of frames"),
        ({"look": 3}, "takes an appell.view.Look"),
        ({"path": tmp_path}, "Cannot draw to|it is a folder"),
    ):
        with pytest.raises(ap.AppellError, match=words):
            disk.animate(**more)
    with pytest.raises(ap.AppellError, match="seconds='long'"):
        disk.animate().save(tmp_path / "disk.gif", seconds="long")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ap.AppellError, match="it is a folder"):
        disk.plot(path=tmp_path / "folder.html")
    (tmp_path / "folder.html").rmdir()
    with pytest.raises(ap.AppellError, match="at least 2; got 1"):
        disk.animate(frames=1)
    with pytest.raises(ap.AppellError, match="covers t"):
        disk.animate().save(tmp_path / "disk.png", t=99)
    with pytest.raises(ap.AppellError, match="one moment"):
        model.draw(tmp_path / "disk.gif")
    with pytest.raises(ap.AppellError, match="takes a Coverage"):
        disk.animate(field=3)
    with pytest.raises(ap.AppellError, match="box needs 3"):
        Solid("box", 1)
    with pytest.raises(ap.AppellError, match="one of"):
        Solid("cube", 1)
    q = ap.coordinates("q")
    l = ap.parameters("l")
    ground = ap.Frame("ground")
    open_model = ap.Model(ground, q, [ap.Particle("bob", 1, ground.rotate("z", q).point(l, 0))])
    with pytest.raises(ap.AppellError, match="needs numbers for l"):
        open_model.draw()
    assert open_model.draw(values={l: 2.0}).size > 0


def test_colours_have_names_as_everywhere():
    model = ap.library.rolling_disk()
    colors = [model.draw(look=Look(colors={"disk": color})).solids[0].color for color in ("red", "#f00", (1, 0, 0))]
    assert colors == ["#ff0000"] * 3
    assert Solid("sphere", 1, color="navy").color == "#000080"


def test_what_stands_still_is_drawn_and_moves_nothing_else():
    q, l = ap.coordinates("q"), ap.parameters("l")
    ground = ap.Frame("ground")
    table = ap.shapes.Box(4 * l, 4 * l, 0.1) - ap.shapes.Cylinder(0.1, 0.1)
    look = Look(ground=[table.at(0, 0, -3), Solid("sphere", 0.2, at=(4 * l, 0, 0), color="red")])
    bob = ap.Particle("bob", 1.0, ground.pin(q, "y").point(0, 0, -l))
    model, alone = (
        ap.Model(ground, q, [bob], [ap.Gravity(-9.81 * ground.z)], look=e, values={l: 1.0}) for e in (look, None)
    )
    scene, bare = model.draw(), alone.draw()
    assert [solid.name for solid in scene.solids] == ["bob", "ground"]
    assert [solid.name for solid in bare.solids] == ["bob"]
    assert (scene.size, scene.unit, scene.follow) == (bare.size, bare.unit, bare.follow)
    corners = np.concatenate([surface(part).vertices for part in scene.solids[1].parts])
    np.testing.assert_allclose([corners.min(axis=0), corners.max(axis=0)], [[-2, -2, -3.05], [4.2, 2, 0.2]], atol=1e-2)
    assert np.all(scene.box[0] <= corners.min(axis=0) + 1e-12)  # and all of it is seen
    assert np.all(scene.box[1] >= corners.max(axis=0) - 1e-12)
    assert model.draw(values={l: 0.5}).box[1][0] == pytest.approx(2.2, abs=1e-2)
    other = model.draw(look=Look(colors={"bob": "red"}))  # says nothing of what stands still
    assert [solid.name for solid in other.solids] == ["bob", "ground"]
    assert len(alone.draw(look=Look(ground=Solid("sphere", 1))).solids[1].parts) == 1


NONSENSE = {
    "ground": (lambda disk: Look(ground=3), "give shapes such as appell.shapes.Box"),
    "ground in words": (lambda disk: Look(ground="table"), "Got 'table'; give shapes such as appell.shapes.Box"),
    "colour": (lambda disk: Look(colors={"disk": "rde"}), "by its name, such as \"red\"; got 'rde'"),
    "rod": (lambda disk: Look(rods=[3]), "a pair of points, rods=.*; got 3"),
    "one rod": (lambda disk: Look(rods=(disk.system.model.ground.origin,) * 2), "a pair of points, rods=.*; got 0"),
    "end of a rod": (lambda disk: Look(rods=[(3, 4)]), "points such as frame.point(x, y) for a rod; got 3"),
    "what is hidden": (lambda disk: disk.animate(look=Look(hide="dsik")), "'dsik' is not a body or force .*'disk'"),
    "trace": (lambda disk: Look(traces={"rim": 3}), "points such as frame.point(x, y) for 'rim'; got 3"),
    "drawing": (lambda disk: disk.system.model.draw(3), "given by its path, a text such as .*; got 3"),
    "plot": (lambda disk: disk.plot(path=3), "given by its path"),
    "file": (lambda disk: disk.save(3), "given by its path"),
    "nothing to load": (lambda disk: ap.load(None), "given by its path, a text such as .*; got None"),
    "moment": (lambda disk: disk.animate().save("disk.png", t="late"), "'t' must be a finite number, got 'late'"),
    "phase": (lambda disk: disk.phase(3), "A phase portrait is of a coordinate, .* got 3"),
    "reaction": (lambda disk: disk.reactions(3), "'3' is not a constraint of 'rolling disk'"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused_in_words(disk, name):
    action, words = NONSENSE[name]
    with pytest.raises(ap.AppellError, match=words.replace("(", r"\(").replace(")", r"\)")):
        action(disk)


def test_data_cannot_leave_its_block():
    text = data_block("x", {"name": "</script><script>alert(1)</script>&\u2028", "bad": float("nan")})
    assert text.count("<") == 2
    assert "\u2028" not in text
    assert '"bad":null' in text


def test_pages_let_nothing_in():
    page = document("<title>", "body", ["1 + 1"], ["p{}"])
    assert "default-src 'none'" in page
    assert "&lt;title&gt;" in page
    assert "unsafe-eval" not in page
    assert "http://" not in page
    assert "https://" not in page


def test_a_film_of_a_short_run_can_be_seen(tmp_path):
    from PIL import Image

    path = run(ap.library.pendulum_chain(1), 1e-3).animate(tmp_path / "short.gif") and tmp_path / "short.gif"
    with Image.open(path) as film:
        assert film.n_frames == 30


def test_a_changed_scene_has_a_page_of_its_own(disk):
    scene = disk.animate(frames=3)
    before = scene.html()
    assert scene.html() is before
    assert "<title>another name</title>" in replace(scene, title="another name").html()
