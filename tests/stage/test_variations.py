"""Several motions on one page, chosen by sliders."""

import base64
import gzip
import json
import re

import numpy as np
import pytest

import appell as ap
from appell.view.outline import sphere


@pytest.fixture(scope="module")
def chain():
    return ap.compile(ap.derive(ap.library.pendulum_chain(2)))


@pytest.fixture(scope="module")
def motions(chain):
    return {l: ap.simulate(chain.bind({"l": l}), until=1.0) for l in (1.0, 0.5, 2.0)}


def blocks(page):
    """The data of a page by id."""
    found = re.findall(r'<script type="application/json" id="([^"]+)">(.*?)</script>', page, re.DOTALL)
    return {name: json.loads(text) for name, text in found}


def test_there_is_a_scene_for_every_value_in_order(motions, tmp_path):
    made = ap.view.explore(motions, "l [m]", tmp_path / "page.html")
    assert made.values == ((0.5, 1.0, 2.0),)
    data = blocks((tmp_path / "page.html").read_text(encoding="utf-8"))
    knobs = data.pop("scene-knobs")
    assert knobs == {"names": ["l [m]"], "values": [["0.5", "1", "2"]], "scenes": ["scene", "scene-1", "scene-2"]}
    assert list(data) == knobs["scenes"]
    alone = motions[2.0].animate()
    np.testing.assert_array_equal(made.scenes[2].values.points, alone.values.points)


def test_scenes_share_camera_and_scales(motions):
    made = ap.view.explore(motions, "l [m]")
    data = [entry for name, entry in blocks(made.html()).items() if name != "scene-knobs"]
    for name in ("center", "reach", "extent", "size", "unit", "outline", "floor", "follow"):
        assert all(entry[name] == data[0][name] for entry in data), name
    far = motions[2.0].animate()
    height = np.max((np.array(data[0]["outline"]) + data[0]["center"]) @ sphere(160).T, axis=0)
    reached = far.values.points.reshape(-1, 3) @ sphere(160).T
    assert np.all(reached.max(axis=0) <= height + 1e-3)  # the longest is seen whole, also from where the shortest is


def test_two_things_are_varied_in_all_combinations(chain):
    motions = {
        (l, q): ap.simulate(chain.bind({"l": l}), {"q1": q}, until=0.5) for q in (0.1, 0.2, 0.3) for l in (1.0, 2.0)
    }
    made = ap.view.explore(motions, ["l [m]", "q1 [rad]"])
    assert made.values == ((1.0, 2.0), (0.1, 0.2, 0.3))
    starts = [float(scene.values.scalars[0, 0]) for scene in made.scenes]  # the last name runs fastest
    assert starts == pytest.approx([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])
    del motions[2.0, 0.2]
    with pytest.raises(ap.AppellError, match=r"every combination of l \[m\], q1 \[rad\]; \(2\.0, 0\.2\) has none"):
        ap.view.explore(motions, ["l [m]", "q1 [rad]"])


def test_many_scenes_have_fewer_moments(motions, monkeypatch):
    monkeypatch.setattr("appell.view.variations.MOMENTS", 300)
    made = ap.view.explore(motions, "l [m]")
    assert [scene.values.times.size for scene in made.scenes] == [100, 100, 100]


def test_a_notebook_gets_page_and_still(motions):
    bundle = ap.view.explore(motions, "l [m]")._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    packed = re.search(r"id=&quot;page&quot;&gt;([^&]+)&lt;", bundle["text/html"])
    assert packed
    assert b"scene-knobs" in gzip.decompress(base64.b64decode(packed[1]))
    assert bundle["text/plain"].startswith("Variations of 'pendulum chain': l [m] = 0.5 .. 2 (3)")


@pytest.mark.parametrize(
    ("change", "names", "words"),
    [
        (lambda m: {}, "l", "got none"),
        (lambda m: list(m.values()), "l", "got list"),
        (lambda m: m, 3, r"Say what was varied, explore\(motions, \"length \[m\]\"\); got \(3,\)"),
        (lambda m: {"short": m[0.5]}, "l", r"given by a number \(l\); got 'short'"),
        (lambda m: {(0.5, 1.0): m[0.5]}, "l", r"given by a number \(l\)"),
        (lambda m: m, ("l", "m"), r"given by 2 numbers \(l, m\); got 1.0"),
        (lambda m: {float("nan"): m[0.5]}, "l", "finite"),
        (lambda m: m, "", "Say what was varied"),
        (lambda m: {0.5: 3}, "l", "An animation is of a Motion"),
    ],
)
def test_what_no_sliders_choose_among_is_refused(motions, change, names, words):
    with pytest.raises(ap.AppellError, match=words):
        ap.view.explore(change(motions), names)


def test_sliders_need_a_page(motions, tmp_path):
    with pytest.raises(ap.AppellError, match=r"ends in \.html"):
        ap.view.explore(motions, "l", tmp_path / "page.png")
