"""A real browser, driven by Playwright; every test here is skipped, and says why, where there is none."""

import os
import shutil
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PICTURES = Path(__file__).parents[2] / "out" / "screenshots"


def found():
    """The browser to use: APPELL_BROWSER, or the first that is installed."""
    given = os.environ.get("APPELL_BROWSER")
    return given or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def browser():
    sync = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    program = found()
    if program is None:
        pytest.skip("no browser: install chromium (apt install chromium) or set APPELL_BROWSER to a Chromium program")
    with sync.sync_playwright() as play:
        options = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-dev-shm-usage"]
        running = play.chromium.launch(executable_path=program, args=options, timeout=120_000)
        yield running
        running.close()


class Seen:
    """A page that remembers what went wrong, what it asked for, and keeps pictures of itself."""

    def __init__(self, page):
        self.page, self.faults, self.requests = page, [], []
        page.on("console", lambda m: self.faults.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda e: self.faults.append(str(e)))
        page.on("request", lambda r: self.requests.append(r.url))
        page.on("dialog", lambda d: (self.faults.append(f"dialog {d.message}"), d.dismiss()))

    def open(self, path):
        self.page.goto(Path(path).as_uri())
        return self

    def until(self, test, frame=None):
        """Wait for a script to be true; Playwright's own waiting needs eval, which the page's policy forbids."""
        assert self.became(test, frame, 60), f"never true: {test}"

    def became(self, test, frame=None, seconds=5):
        for _ in range(10 * seconds):
            if (frame or self.page).evaluate(test):
                return True
            self.page.wait_for_timeout(100)
        return False

    def zoom(self, place, frame=None):
        """Draw a rectangle on a plot until it shows that: the first may come while the plot still moves or grows."""
        axis = "document.querySelector('[data-plot]')._fullLayout.xaxis.range.join()"
        test = f"{axis} != '{(frame or self.page).evaluate(axis)}'"
        for _ in range(10):
            place.evaluate("e => e.scrollIntoView({block: 'start'})")
            self.page.wait_for_timeout(500)
            box = place.bounding_box()
            self.page.mouse.move(box["x"] + 200, box["y"] + 100)
            self.page.mouse.down()
            self.page.mouse.move(box["x"] + 400, box["y"] + 150, steps=5)
            self.page.mouse.up()
            if self.became(test, frame):
                return
        raise AssertionError(f"never true: {test}")

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")

    @property
    def outside(self):
        """Requests for anything but the file itself."""
        return [url for url in self.requests if not url.startswith(("file:", "data:", "blob:", "about:"))]


@pytest.fixture
def seen(browser):
    context = browser.new_context(viewport={"width": 900, "height": 600}, offline=True)
    yield Seen(context.new_page())
    context.close()
