"""Reports and plots in a real browser: formulas are set, plots respond, nothing is asked for, no word runs."""

import re

import pytest

import appell as ap
from appell.view import Line, Map, Panel, Plot, roots

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "report.html"
    model = ap.library.ball_and_beam()
    motion = ap.simulate(ap.compile(ap.derive(model)), points=101, progress=False)
    certificate = ap.stability(ap.equilibrium(ap.compile(ap.derive(model))))
    ap.report(motion, path, also=[certificate, HOSTILE], title=f"Ball and beam {HOSTILE}")
    return path


def test_a_report_is_whole(seen, page):
    seen.open(page).until("globalThis.appellReport && document.querySelectorAll('.main-svg').length > 2")
    assert seen.page.evaluate("appellReport.failed") == []
    # Every formula was set, and is as wide as a formula is.
    waiting = seen.page.evaluate("document.querySelectorAll('[data-tex]:not(.typeset)').length")
    assert waiting == 0
    measure = "[...document.querySelectorAll('.formula math')].map(e => e.getBoundingClientRect().width)"
    widths = seen.page.evaluate(measure)
    assert len(widths) > 5
    assert min(widths) > 20
    assert seen.page.evaluate("document.fonts.check('16px STIX Two Math')")
    # Plots are of the kind that was asked for and respond to the pointer.
    kinds = seen.page.evaluate("[...document.querySelectorAll('[data-plot]')].map(e => e._fullData.map(d => d.type))")
    assert all(kind == "scatter" for plot in kinds for kind in plot)
    seen.zoom(seen.page.locator("[data-plot]").first)
    # The animation further down begins when it is seen; until then, and on paper, a still stands there.
    seen.picture("report-plot")
    if seen.page.evaluate("appell.viewers.length") == 1:
        assert seen.page.locator(".scene").nth(1).locator("img").evaluate("e => e.naturalWidth") > 100
    seen.page.locator(".scene").nth(1).scroll_into_view_if_needed()
    seen.until("appell.viewers.length == 2 && appell.viewers[1].drawn > 1")
    assert seen.page.locator(".scene img").count() == 0
    seen.picture("report-animation")
    seen.page.locator("#s2").scroll_into_view_if_needed()
    seen.picture("report-equations")
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("h1").inner_text().startswith("Ball and beam </script>")
    assert seen.faults == []
    assert seen.outside == []


def test_plots_with_maps_and_hostile_names(seen, tmp_path):
    z = [[-1.0, 0.5, 1.0], [-2.0, float("nan"), 2.0]]
    one = Panel((Map(HOSTILE, [0, 1, 2], [0, 1], z, zero=True),), "x", HOSTILE)
    two = Panel((Line(HOSTILE, [0, 1], [1, 2], notes=(HOSTILE, "b")),), "x", "y")
    Plot(HOSTILE, (one, two), shared=False).save(tmp_path / "plot.html")
    seen.open(tmp_path / "plot.html").until("document.querySelectorAll('.main-svg').length > 0")
    kinds = seen.page.evaluate("document.querySelector('[data-plot]')._fullData.map(d => d.type)")
    assert kinds == ["heatmap", "contour", "scatter"]
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("img").count() == 0
    assert "</script><script>" in seen.page.locator(".gtitle").text_content()
    seen.picture("plot-map")
    assert seen.faults == []
    assert seen.outside == []


def test_structural_zero_roots_are_marked(seen, tmp_path):
    roots([0, 0, -1 + 2j, -1 - 2j, 0.5], structural=2).save(tmp_path / "roots.html")
    seen.open(tmp_path / "roots.html").until("document.querySelectorAll('.main-svg').length > 0")
    words = seen.page.locator(".legend").text_content()
    assert re.search("2 structural zero roots", words)
    assert "unstable" in words
    seen.picture("roots")
    assert seen.faults == []


INJECTION = "</script><img/src=x/onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def injected():
    """A model with script in every word that may be anything."""
    q = ap.coordinates("q", INJECTION, INJECTION)
    m, l = ap.parameters("m l", INJECTION, INJECTION)
    ground = ap.Frame("ground")
    bob = ap.Particle(INJECTION, m, ground.rotate("z", q).point(0, -l))
    model = ap.Model(
        ground, q, [bob], [ap.Gravity(-9.81 * ground.y, INJECTION), ap.Force(ground.x, bob, name=INJECTION + "2")],
        name=INJECTION, description=INJECTION, values={m: 1.0, l: 1.0}, start={q: 0.5}, until=1.0,
    )  # fmt: skip
    system = ap.compile(ap.derive(model))
    motion = ap.simulate(system, points=21, progress=False)
    return model, motion, ap.stability(ap.equilibrium(system))


def test_script_in_every_word_of_a_report_stays_a_word(seen, tmp_path, injected):
    _, motion, certificate = injected
    remarks = {INJECTION: INJECTION, "certificate": certificate}
    ap.report(motion, tmp_path / "report.html", also=remarks, title=INJECTION, code=f"# {INJECTION}")
    seen.open(tmp_path / "report.html").until("!!globalThis.appellReport")
    seen.page.locator(".scene").first.scroll_into_view_if_needed()
    seen.until("appell.viewers.length > 0 && appell.viewers[0].drawn > 0")
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator("img:not([src^='data:image/svg+xml;base64,'])").count() == 0
    assert seen.page.locator("h1").inner_text() == INJECTION
    assert seen.faults == []
    assert seen.outside == []


def test_script_in_every_word_of_a_notebook_stays_a_word(seen, tmp_path, injected):
    """On a page without any policy, as notebooks are."""
    model, motion, certificate = injected
    shown = [e._repr_html_() for e in (model, motion, certificate)]
    shown += [e._repr_mimebundle_()["text/html"] for e in (model.draw(), motion.animate())]
    shown.append(ap.report(motion, title=INJECTION)._repr_html_())
    (tmp_path / "notebook.html").write_text("<h1>cells</h1>" + "".join(shown))
    seen.open(tmp_path / "notebook.html")
    seen.page.wait_for_timeout(2500)
    assert all(frame.evaluate("window.hacked") is None for frame in seen.page.frames)
    assert len(seen.page.frames) == 4
    foreign = "img:not([src^='data:image/png;base64,'],[src^='data:image/svg+xml;base64,'])"
    assert all(frame.locator(foreign).count() == 0 for frame in seen.page.frames)
    assert seen.outside == []


def test_script_in_markdown_and_latex_stays_a_word(injected):
    _, motion, _ = injected
    made = ap.report(motion, also={INJECTION: INJECTION}, title=INJECTION)
    words = re.sub(r"```.*?```", "", made.markdown(), flags=re.DOTALL)
    assert "<img" not in words
    assert "</script" not in words
    assert "\\end{document}" in made.tex()
