"""Plots: the numbers are right, both drawings have them, mistakes are named."""

import numpy as np
import pytest

import appell as ap
from appell.errors import AppellError
from appell.view import Plot, bode, phase, root_locus, roots, stability_map, work_precision
from appell.view.plot import Line, Panel, shown


@pytest.fixture(scope="module")
def motion():
    return ap.simulate(ap.compile(ap.derive(ap.library.rolling_disk())), until=1.0, points=21, progress=False)


def test_quantities_over_time(motion, tmp_path):
    lean = ap.coordinates("lean", "rad")
    plot = motion.plot("x", "y", lean.rate, lean**2)
    assert [p.y for p in plot.panels] == ["[m]", "lean' [rad/s]", "lean²"]
    line = plot.panels[0].items[1]
    assert line.x.size >= 2000  # smooth however few moments were asked for
    np.testing.assert_allclose(line.y[np.isin(line.x, motion.times)], motion.columns["y"], rtol=0, atol=1e-14)
    spec = plot.spec()
    assert [d["name"] for d in spec["data"]] == ["x", "y", "lean'", "lean²"]
    assert spec["layout"]["xaxis3"]["title"]["text"] == "t [s]"
    squares = np.interp(motion.times, spec["data"][3]["x"], spec["data"][3]["y"])
    np.testing.assert_allclose(squares, motion.columns["lean"] ** 2, rtol=1e-3, atol=0)
    figure = plot.figure()
    assert len(figure.axes) == 3
    for ending, start in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("html", b"<!doctype")):
        assert plot.save(tmp_path / f"plot.{ending}").read_bytes().startswith(start)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_would_be_flat_beside_its_neighbours_has_a_panel_of_its_own():
    x, y, z = ap.coordinates("x y z", "m")
    ground = ap.Frame("ground")
    model = ap.Model(ground, (x, y, z), [ap.Particle("body", 1.0, ground.point(x, y, z))])
    found = [
        [[item.name for item in panel.items] for panel in ap.simulate(
            ap.compile(ap.derive(model)), {x: 1, y: size, z: 1e-12}, until=1.0, progress=False
        ).plot().panels]
        for size in (0.01, 0.1, 1e-12)
    ]  # fmt: skip
    rates = ["x'", "y'", "z'"]
    assert found == [[["x"], ["y", "z"], rates], [["x", "y", "z"], rates], [["x", "y", "z"], rates]]


def test_inputs_without_a_unit_stand_apart_from_coordinates():
    x, y = ap.coordinates("x y")
    push = ap.inputs("push")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1.0, ground.point(x, y))
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), [body], [ap.Force(push * ground.x, body)])))
    motion = ap.simulate(system, {}, until=1.0, inputs={push: 20.0 * ap.t}, progress=False)
    named = [[item.name for item in panel.items] for panel in motion.plot().panels]
    assert named == [["x", "y"], ["x'", "y'"], ["push"]]
    assert [len(panel.items) for panel in motion.plot(x, push).panels] == [2]


def test_a_difference_stands_with_what_it_is_the_difference_of(motion):
    x, y = ap.coordinates("x y", "m")
    assert motion[x - y].attrs["units"] == "m"
    assert [panel.y for panel in motion.plot(x, y, x - y).panels] == ["[m]"]


def test_plotly_takes_the_same_data(motion):
    pytest.importorskip("plotly")
    figure = motion.plot("x", "lean").plotly()
    drawn = np.interp(motion.times, figure.data[0].x, figure.data[0].y)
    np.testing.assert_allclose(drawn, motion.columns["x"], rtol=0, atol=1e-3)
    assert figure.layout.yaxis.title.text == "x [m]"


def test_the_embedded_plotly_is_of_the_same_make_as_the_package():
    """What pages embed and what the package draws must read the same data: the same major version."""
    plotly = pytest.importorskip("plotly")
    import re

    from appell.view.page import asset

    embedded = re.search(r"plotly\.js \(cartesian[^)]*\) v(\d+)", asset("plotly.js")[:600]).group(1)
    own = plotly.__path__[0] + "/package_data/plotly.min.js"
    with open(own, encoding="utf-8") as file:
        assert re.search(r"plotly\.js v(\d+)", file.read(600)).group(1) == embedded


def test_a_phase_portrait(motion):
    panel = phase(motion, "lean").panels[0]
    assert (panel.x, panel.y) == ("lean [rad]", "lean' [rad/s]")
    drawn = panel.items[0].y
    assert drawn.size >= 2000  # smooth, whatever the table has
    np.testing.assert_allclose([drawn[0], drawn[-1]], motion.columns["lean.rate"][[0, -1]], rtol=1e-12, atol=0)
    assert all(np.abs(drawn - e).min() < 1e-12 for e in motion.columns["lean.rate"])
    assert motion.phase("x", "y").panels[0].y == "y [m]"


def test_a_path_has_one_scale_and_a_phase_portrait_two(motion):
    assert motion.phase("x", "y").panels[0].equal
    assert not motion.phase("lean").panels[0].equal
    ground, (x, y) = ap.Frame("ground"), ap.coordinates("x y", "m")
    body = ap.Model(ground, (x, y), [ap.Particle("body", 1.0, ground.point(x, y))])
    straight = ap.simulate(ap.compile(ap.derive(body)), {x.rate: 1.0, y.rate: 1e-3}, until=1.0, progress=False)
    assert not straight.phase(x, y).panels[0].equal  # it would be a line on the axis


def test_curves_of_long_runs_follow_every_turn():
    q, ground = ap.coordinates("q", "m"), ap.Frame("ground")
    force = ap.Potential(q**2 / 2)
    model = ap.Model(ground, q, [ap.Particle("body", 1.0, ground.point(q, 0))], [force])
    motion = ap.simulate(ap.compile(ap.derive(model)), {q: 1.0}, until=3000.0, points=2, progress=False)
    portrait = motion.phase(q).panels[0].items[0]
    corners = np.hypot(np.diff(portrait.x), np.diff(portrait.y))
    assert corners.max() < 0.3  # of a circle of radius 1
    assert portrait.x.size <= 20_002


def test_motions_are_compared_by_name():
    chain = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()
    motions = {name: ap.simulate(chain, {"q1": a}, until=0.5, progress=False) for name, a in (("one", 1), ("two", 2))}
    both = ap.view.over_time(motions, ["q1", "q2.rate"])
    assert [panel.y for panel in both.panels] == ["q1 [rad]", "q2' [rad/s]"]
    assert [[line.name for line in panel.items] for panel in both.panels] == [["one", "two"]] * 2
    assert [line.dashed for line in both.panels[0].items] == [False, True]  # in grey as well
    assert both.legend(0) == ("one", "two")
    assert both.legend(1) == ()
    assert len(ap.view.over_time(list(motions.values())).panels) == 4
    assert phase(motions, "q1").legend(0) == ("one", "start", "two")
    assert phase(list(motions.values()), "q1").legend(0) == ("run 1", "start", "run 2")
    with pytest.raises(AppellError, match="at least one motion"):
        ap.view.over_time({}, ["q1"])


@pytest.mark.parametrize(
    ("typed", "read"),
    [("phi.rate", "φ'"), ("theta_1", "θ_1"), ("Omega", "Ω"), ("lambda", "λ"), ("psi1", "ψ1"), ("spin", "spin"),
     ("l**2*m*phi.rate**2/2", "l²·m·φ'²/2"), ("w_ball_z", "w_ball_z")],
)  # fmt: skip
def test_letters_are_written_as_on_a_board(typed, read):
    assert shown(typed) == read


def test_roots_of_several_loops_and_those_far_out():
    plot = roots({"open loop": [1.0, -2.0, 0.0], "closed loop": [-900.0, -1 + 1j, -1 - 1j]}, structural=0)
    everything, near = plot.panels
    assert [line.name for line in everything.items] == ["open loop", "closed loop"]
    np.testing.assert_array_equal(everything.items[1].x, [-900.0, -1, -1])
    np.testing.assert_array_equal(near.items[1].x, [-1, -1])
    assert len(near.items[1].notes) == 2
    assert len(roots([-1, -2, -3]).panels) == 1
    with pytest.raises(ap.AppellError, match="at least one set"):
        roots({})


def test_structural_zeros_are_those_of_their_loop():
    lin = ap.linearize(ap.equilibrium(ap.library.ball_and_beam(), {"xi": 0.2}), dependent=["alpha"])
    before, after = ap.stability(lin), ap.control.lqr(lin).certificate

    def zeros(sets):
        return [line.name for line in roots(sets).panels[0].items if "structural" in line.name]

    assert zeros({"open loop": before, "other": [-1.0]}) == ["1 structural zero root of open loop"]
    assert zeros({"open loop": before, "closed loop": after}) == ["1 structural zero root of open loop, closed loop"]
    assert zeros(before) == ["1 structural zero root"]


def test_roots_by_stability_and_structure():
    panel = roots([-1 + 2j, 0, -1 - 2j, 1e-14, 3.0], structural=2).panels[0]
    named = {line.name: line for line in panel.items}
    assert set(named) == {"roots", "unstable roots", "2 structural zero roots"}
    np.testing.assert_array_equal(named["unstable roots"].x, [3.0])
    assert named["2 structural zero roots"].x.size == 2


def test_a_root_locus_keeps_its_branches():
    """x'' + c x' + x = 0: circle |λ| = 1 up to c = 2."""
    plot = root_locus(lambda c: np.array([[0, 1], [-1, -c]]), np.linspace(0, 1.8, 30), "c")
    for line in plot.panels[0].items[:2]:
        np.testing.assert_allclose(np.hypot(line.x, line.y), 1.0, rtol=1e-12, atol=0)
        assert np.all(np.sign(line.y) == np.sign(line.y[0]))


def test_a_root_locus_is_smooth_where_branches_meet():
    """λ² + cλ + 1: the pair meets at c = 2 and leaves along the real axis, as the square root of c - 2."""
    asked = []

    def matrix(c):
        asked.append(c)
        return np.array([[0, 1], [-1, -c]])

    values = np.linspace(1.0, 3.0, 6)
    fine, coarse = root_locus(matrix, values, "c"), root_locus(matrix, values, "c", between=False)

    def longest(plot):
        return max(np.hypot(np.diff(line.x), np.diff(line.y)).max() for line in plot.panels[0].items if line.x.size > 2)

    assert longest(coarse) > 0.4
    assert longest(fine) < 0.15
    assert len(asked) < 200
    for line in fine.panels[0].items[:2]:
        on = np.abs(line.y) > 1e-6
        np.testing.assert_allclose(
            np.hypot(line.x, line.y)[on], 1.0, rtol=0, atol=1e-7
        )  # complex pairs stay on the circle


def test_branches_of_a_root_locus_leave_the_real_axis_at_right_angles():
    """λ³ + 3λ² + 2λ + k: two roots meet at λ = -1 + 1/√3 and part upright."""
    asked = []

    def cubic(k):
        asked.append(k)
        return np.roots([1, 3, 2, k])

    plot = root_locus(cubic, np.linspace(0, 10, 11), "k")
    meeting = -1 + 1 / np.sqrt(3)
    for line in plot.panels[0].items[:3]:
        off = np.abs(line.y) > 1e-9
        if off.any():
            first = int(np.argmax(off))
            assert abs(line.y[first]) < 2e-3
            assert abs(line.x[first - 1] - meeting) < 2e-3
    assert len(asked) < 400


@pytest.mark.parametrize(
    ("matrix", "values", "words"),
    [
        (lambda c: [[0, 1], [-1, -c]], ["a"], "must be numbers"),
        (lambda c: [[0, 1], [-1, float("nan")]], [1, 2], "At c = 1 the matrix"),
        (lambda c: np.eye(2 if c < 1 else 3), [0, 2], "number of roots changes"),
    ],
)
def test_a_root_locus_of_nonsense_is_refused(matrix, values, words):
    with pytest.raises(AppellError, match=words):
        root_locus(matrix, values, "c")


def test_a_map_of_stability():
    """x'' + a x' + b x = 0 is stable for a, b > 0."""
    plot = stability_map(lambda a, b: [[0, 1], [-b, -a]], ("a", [-1, 1]), ("b", [-1, 1, 2]))
    z = plot.panels[0].items[0].z
    assert z.shape == (3, 2)
    assert np.array_equal(z < 0, [[False, False], [False, True], [False, True]])


def test_bode_of_an_oscillator_by_hand():
    plot = bode([[0, 1], [-1, -0.2]], [[0], [1]], [[1, 0]], frequencies=[1.0, 100.0])
    gain, angle = (p.items[0].y for p in plot.panels)
    np.testing.assert_allclose(gain[0], 20 * np.log10(5), rtol=1e-9, atol=0)
    np.testing.assert_allclose(angle[0], -90, rtol=1e-9, atol=0)
    np.testing.assert_allclose(gain[1], 20 * np.log10(1 / abs(1 - 1e4 + 20j)), rtol=1e-9, atol=0)
    with pytest.raises(ap.AppellError, match="do not fit"):
        bode(np.eye(2), np.eye(3), np.eye(2))
    with pytest.raises(AppellError, match="or a linearisation"):
        bode(np.eye(2))


def test_a_linearisation_has_its_own_matrices_and_names_for_bode():
    lin = ap.linearize(ap.equilibrium(ap.library.ball_and_beam(), {"xi": 0.2}), dependent=["alpha"])
    plot = bode(lin, C=["xi", "theta"], frequencies=[2.0])
    assert [line.name for line in plot.panels[0].items] == ["τ → ξ", "τ → θ"]
    by_hand = bode(lin.A, lin.B, lin.output_matrix(["xi"]), frequencies=[2.0])
    np.testing.assert_array_equal(plot.panels[0].items[0].y, by_hand.panels[0].items[0].y)
    assert len(bode(lin).panels[0].items) == 4
    assert len(bode(lin, B="tau", C="xi").panels[0].items) == 1
    with pytest.raises(AppellError, match="'xi' is not an input of this linearisation"):
        bode(lin, B="xi")


def test_phases_are_numbered_in_quarters_of_a_turn():
    panel = bode([[0, 1], [-1, -0.2]], [[0], [1]], [[1, 0]]).panels[1]
    assert panel.step == 45
    assert set(np.diff(Plot("phase", (panel,)).figure().axes[0].get_yticks())) == {45}


def test_work_and_precision():
    panel = work_precision({"dop853": [(2.0, 1e-8), (1.0, 1e-4)]}).panels[0]
    np.testing.assert_array_equal(panel.items[0].x, [1e-4, 1e-8])
    assert panel.log == "xy"


def test_axes_of_few_decades_are_numbered_plainly():
    axis = work_precision({"dop853": [(3.0, 1e-8), (40.0, 1e-4)]}).figure().axes[0]
    shown = [label.get_text() for label in axis.get_yticklabels()]
    assert {"5", "10", "20"} <= set(shown)
    assert not any(label.get_text() for label in axis.get_yticklabels(minor=True))


def test_what_tracks_is_drawn_over_its_reference(tmp_path):
    """One look for all plots: interactive pages too, units where they differ, the reference in the same colour."""
    model = ap.planning.plant(ap.library.three_link(), ["drive"])
    system, law = ap.compile(ap.derive(model)), ap.control.ComputedTorque(model, 10.0)
    reference = {"psi1": 0.1 * ap.t, "psi2": 3.9 + 0 * ap.t, "z3": 0.5 + 0 * ap.t}
    plot = ap.track(system, reference, law, until=0.2, points=11).plot(tmp_path / "run.html")
    assert (tmp_path / "run.html").read_text().startswith("<!doctype")
    paths, errors, inputs = plot.panels
    assert [line.name for line in paths.items] == ["ψ1 [rad]", "ψ2 [rad]", "z3 [m]", "reference", "", ""]
    assert [line.color for line in paths.items[:3]] == [line.color for line in paths.items[3:]]
    assert [line.name for line in inputs.items] == ["drive_psi1 [N·m]", "drive_psi2 [N·m]", "drive_z3 [N]"]
    assert errors.log == "y"


@pytest.mark.parametrize(("count", "shown"), [(10, ["c9"]), (14, ["and 5 more", "reference"])])
def test_a_long_legend_keeps_its_last_name(count, shown):
    """Which says that dashed lines are references."""
    names = [f"c{i}" for i in range(count - 1)] + ["reference" if count > 10 else "c9"]
    panel = Panel(tuple(Line(name, [0, 1], [0, i]) for i, name in enumerate(names)), "t", "all")
    labels = [text.get_text() for text in Plot("plot", (panel,)).figure().axes[0].get_legend().get_texts()]
    assert len(labels) == 10
    assert labels[-len(shown) :] == shown


def test_notebooks_get_every_kind(motion):
    bundle = motion.plot("x")._repr_mimebundle_()
    assert bundle["image/png"].startswith(b"\x89PNG")
    assert "text/plain" in bundle
    assert "text/html" in bundle
    assert "<iframe" in motion.animate(frames=4)._repr_mimebundle_()["text/html"]


def test_mistakes_are_named(motion, tmp_path):
    with pytest.raises(ap.AppellError, match=r"use \.html"):
        motion.plot("x", path=tmp_path / "a.txt")
    with pytest.raises(ap.AppellError, match="leen"):
        motion.plot("leen")
    for place in ("a.png", tmp_path / "a.html"):
        with pytest.raises(ap.AppellError, match=r"a file is given by plot\(path=.*a\.(png|html)'\)"):
            motion.plot("x", place)
    with pytest.raises(ap.AppellError, match="does not exist"):
        motion.plot("x").save(tmp_path / "no" / "a.svg")


def test_a_line_of_a_page_looks_as_it_is_with_few_points():
    from appell.view.plotly_spec import thinned

    t = np.linspace(0, 10, 20_000)
    y = np.sin(t) + np.exp(-(((t - 5) / 0.01) ** 2))  # a needle that even steps would miss
    kept = thinned(t, y)
    assert kept.sum() < 700
    assert y[kept].max() > y.max() - 1e-3
    far = np.abs(t - 5) > 0.05
    np.testing.assert_allclose(np.interp(t, t[kept], y[kept])[far], y[far], rtol=0, atol=1e-3)
    assert thinned(t, np.where(t > 3, np.nan, y)).all()
    circle = thinned(np.cos(t), np.sin(t))
    assert 250 <= circle.sum() < 700


def test_colours_begin_anew_in_every_panel_and_legends_stand_beside_theirs(motion):
    spec = motion.plot("x", "y", "x.rate", "y.rate", "lean").spec()
    colors = [e["line"]["color"] for e in spec["data"]]
    assert colors[:2] == colors[2:4]
    assert [e["legend"] for e in spec["data"]] == ["legend", "legend", "legend2", "legend2", "legend3"]
    assert [e["showlegend"] for e in spec["data"]] == [True] * 4 + [False]  # of the last the axis says the name
    assert spec["layout"]["legend2"]["y"] == spec["layout"]["yaxis2"]["domain"][1]
    assert [axes.get_legend() is None for axes in motion.plot("x", "y", "lean").figure().axes] == [False, True]


DEFICIENCIES = {  # Machado, Oliveira and Fernandes 2009: what is left of linear red, green and blue
    "none": np.eye(3),
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def _lab(rgb):
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ np.clip(rgb, 0, 1) / (0.9505, 1, 1.089)
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("eyes", DEFICIENCIES)
@pytest.mark.parametrize(("listed", "least"), [("plot", 15), ("scene", 12)])
def test_colours_are_told_apart_by_all_eyes(eyes, listed, least):
    from itertools import combinations

    from appell.view.plot import COLORS
    from appell.view.scene import PALETTE

    seen = []
    for color in {"plot": COLORS, "scene": PALETTE}[listed][:6]:
        c = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
        seen.append(_lab(np.array(DEFICIENCIES[eyes]) @ linear))
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > least
