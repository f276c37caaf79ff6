"""Outputs of notebook cells as VS Code, JupyterLab and GitHub treat them: under a policy, in frames, without script."""

import html
import re

import pytest

import appell as ap

# What VS Code puts on the page of a notebook's outputs where its policy is switched on (backLayerWebView.ts of
# microsoft/vscode, notebook.experimental.enableCsp); its own source is added to most of them.
OWN = "'self' https://*.vscode-cdn.net"
POLICY = (
    f"default-src 'none'; script-src {OWN} 'unsafe-inline' 'unsafe-eval'; style-src {OWN} 'unsafe-inline'; "
    f"img-src {OWN} https: http: data:; font-src {OWN} https:; connect-src https:; child-src https: data:;"
)
# An output is set as inner HTML, then its scripts are made anew, since those set so do not run.
INSERT = """(outputs) => {
  for (const output of outputs) {
    const cell = document.createElement("div");
    cell.className = "output";
    cell.innerHTML = output;
    document.body.append(cell);
    for (const old of cell.querySelectorAll("script")) {
      const script = document.createElement("script");
      for (const a of old.attributes) script.setAttribute(a.name, a.value);
      script.text = old.text;
      old.replaceWith(script);
    }
  }
}"""


@pytest.fixture(scope="module")
def outputs():
    model = ap.library.rolling_disk()
    system = ap.compile(ap.derive(model))
    motion = ap.simulate(system, until=3.0, points=61, progress=False)
    plot = motion.plot("lean", "yaw")
    study = ap.sweep(system, {"m": [1.0, 2.0], "r": [0.2, 0.3]}, until=0.5, points=11, progress=False)
    height = plot.spec()["layout"]["height"] + 30
    from appell.view.page import framed

    return {
        "model": model._repr_html_(),
        "animation": motion.animate()._repr_mimebundle_()["text/html"],
        "plot": framed(plot.html(), height, repr(plot), b""),
        "report": ap.report(motion)._repr_html_(),
        "study": study._repr_html_(),
        "check": motion.check()._repr_html_(),
    }


def test_outputs_live_under_the_policy_of_vs_code(seen, outputs, tmp_path):
    path = tmp_path / "outputs.html"
    path.write_text(f'<html><head><meta http-equiv="Content-Security-Policy" content="{html.escape(POLICY)}"></head>'
                    "<body style='margin:0'></body></html>")  # fmt: skip
    seen.open(path)
    seen.page.evaluate(INSERT, list(outputs.values()))
    seen.page.wait_for_timeout(500)
    animation, plot, report = seen.page.frames[1:]
    # The animation moves.
    seen.until("(globalThis.appell?.viewers?.[0]?.drawn ?? 0) > 1", animation)
    began = animation.evaluate("appell.viewers[0].course.t")
    seen.until(f"appell.viewers[0].course.t != {began}", animation)
    seen.page.locator("iframe").nth(0).scroll_into_view_if_needed()
    seen.picture("vscode-animation")
    # The plot responds: a rectangle drawn with the pointer is what it shows then.
    seen.until("document.querySelectorAll('.main-svg').length > 1", plot)
    seen.zoom(seen.page.locator("iframe").nth(1), plot)
    seen.picture("vscode-plot")
    # Equations are set in the font for formulas.
    seen.until("globalThis.appellReport && appellReport.failed.length == 0", report)
    assert report.evaluate("document.querySelectorAll('[data-tex]:not(.typeset)').length") == 0
    assert report.evaluate("document.querySelectorAll('.formula math').length") > 3
    assert report.evaluate("[...document.fonts].map(e => e.family + ' ' + e.status).join()") == "STIX Two Math loaded"
    # Tables are text: nothing in them waits for a typesetter.
    words = seen.page.locator(".output").first.inner_text()
    assert "rolling without slipping" in words
    assert "$" not in words
    assert "spin′\u2009cos(yaw)" in words
    assert seen.page.locator("img[alt='bands over time']").evaluate("e => e.naturalWidth") > 300
    assert seen.faults == []
    assert seen.outside == []


@pytest.mark.parametrize("name", ["animation", "plot", "report", "model", "study"])
def test_something_is_left_where_frames_and_scripts_are_taken_out(outputs, name):
    stripped = re.sub(r"<(iframe|script)\b.*?</\1>", "", outputs[name], flags=re.DOTALL)
    assert "<script" not in stripped.lower()
    still = re.search(r'<img [^>]*src="data:image/png;base64,[A-Za-z0-9+/=]{2000,}"', stripped)
    words = html.unescape(re.sub(r"<[^>]*>", " ", stripped)).strip()
    assert still or len(words) > 30


def test_the_still_of_an_animation_is_seen_without_its_frame(seen, outputs, tmp_path):
    path = tmp_path / "github.html"
    path.write_text(re.sub(r"<iframe\b.*?</iframe>", "", outputs["animation"], flags=re.DOTALL))
    seen.open(path)
    width, height = seen.page.locator("img").evaluate("e => [e.naturalWidth, e.naturalHeight]")
    assert min(width, height) > 300
    seen.picture("github-animation")
    assert seen.faults == []


def test_more_scenes_than_a_browser_keeps_live_in_one_notebook(seen, tmp_path):
    """Chromium keeps the drawings of sixteen; what was dropped is drawn again once it is seen."""
    path = tmp_path / "many.html"
    path.write_text(18 * ap.library.pendulum_chain(1).draw()._repr_mimebundle_()["text/html"])
    seen.open(path)
    drawn = "(appell.viewers[0]?.drawn ?? 0) > 0 && !appell.viewers[0].lost"
    first = seen.page.frames[1]
    for i in range(18):
        seen.page.locator("iframe").nth(i).scroll_into_view_if_needed()
        seen.until(f"globalThis.appell && {drawn}", seen.page.frames[1 + i])
    assert first.evaluate("appell.viewers[0].lost")
    seen.page.locator("iframe").nth(0).scroll_into_view_if_needed()
    seen.until(drawn, first)
    assert first.evaluate("appell.viewers.length") == 1
    assert all("WebGL contexts" in fault for fault in seen.faults)


def test_a_frame_is_packed(outputs):
    assert len(outputs["animation"]) < 400_000
    assert len(outputs["plot"]) < 900_000
