"""What a frame of an animation costs in a browser: the viewer's own work, three.js, calls, and frames a second."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import appell as ap
from benchmarks.table import Counts

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
MEASURE = """async (seconds) => {
  const viewer = appell.viewers[0], own = [], three = [], intervals = [];
  const render = viewer.renderer.render.bind(viewer.renderer), whole = viewer.render.bind(viewer);
  let inner = 0;
  viewer.renderer.render = (...a) => { const t = performance.now(); render(...a); inner = performance.now() - t; };
  viewer.render = () => {
    const t = performance.now();
    whole();
    three.push(inner);
    own.push(performance.now() - t - inner);
  };
  await new Promise((done) => {
    const start = performance.now();
    let last;
    const frame = (now) => {
      if (last) intervals.push(now - last);
      last = now;
      performance.now() - start < 1000 * seconds ? requestAnimationFrame(frame) : done();
    };
    requestAnimationFrame(frame);
  });
  const middle = (a) => a.sort((x, y) => x - y)[a.length >> 1];
  const { calls, triangles } = viewer.renderer.info.render;
  return { own: middle(own), three: middle(three), interval: middle(intervals), calls, triangles };
}"""


def run(quick: bool) -> Counts:
    """An animation of 50 bodies, played in a headless browser."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    columns = ["what", "own work, ms", "three.js, ms", "draw calls", "triangles", "frames a second"]
    title = "Smoothness of animations, drawn without graphics hardware"
    if program is None:
        return Counts(title, columns, [], ["no browser: install chromium"])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for links in (10,) if quick else (10, 50):
            chain = ap.library.pendulum_chain(links=links, mass="points")
            moving = ap.simulate(ap.compile(ap.derive(chain)), until=5.0, points=51, progress=False)
            path = moving.animate().save(Path(folder) / "chain.html")
            found = _measured(path, program, 2.0 if quick else 6.0)
            rate = f"{1000 / found['interval']:.0f}"
            rows.append([f"{links} bodies", f"{found['own']:.2f}", f"{found['three']:.2f}", found["calls"],
                         found["triangles"], rate])  # fmt: skip
    return Counts(title, columns, rows, ["medians; frames a second depend on the processor alone here"])


def _measured(path: Path, program: str, seconds: float) -> dict[str, Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
        browser = play.chromium.launch(executable_path=program, args=options)
        try:
            page = browser.new_page(viewport={"width": 1000, "height": 650})
            page.goto(path.as_uri())
            while not page.evaluate("globalThis.appell?.viewers?.[0]?.drawn > 10"):
                page.wait_for_timeout(100)
            return page.evaluate(MEASURE, seconds)
        finally:
            browser.close()
