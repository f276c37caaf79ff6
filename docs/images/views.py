"""Makes views.png and sprayer.gif from the pages themselves: needs playwright and a Chromium."""

import dataclasses
import shutil
import sys
import tempfile
from pathlib import Path

import sympy as sp
from PIL import Image
from playwright.sync_api import sync_playwright

import appell as ap
from appell import sprayer as sy
from appell.view.film import gif

HERE = Path(__file__).parent
SIZE = {"width": 800, "height": 500}
MODELS = {"rolling-disk": 3.0, "ball-and-beam": 0.15, "delta-robot": 0.2, "stewart-platform": 0.3, "three-link": 3.0}
HIDE = "document.querySelectorAll('.bar,.ruler,.reading').forEach(e => e.style.display = 'none')"


def spraying(path, folder):
    """The sprayer on a path, with its field."""
    robot = sy.Sprayer(sy.corners(sp.pi / 2), drive="wheels")
    system = sy.drive(robot, path, sy.follow_by_linearization(robot, path, 0.5, 4.0, 4.0))
    motion = ap.simulate(system, sy.start(system, path), until=20.0)
    look = dataclasses.replace(robot.model.look, curves={"path": robot.model.ground.point(*path.position)})
    return motion.animate(folder / "sprayer.html", look=look, field=sy.cover(robot, motion, maps=60)).title


def page(browser, file):
    """A page that stands still and shows nothing but the scene."""
    seen = browser.new_page(viewport=SIZE)
    seen.goto(file.as_uri())
    seen.wait_for_timeout(1500)
    seen.evaluate("appell.viewers[0].pause()")
    seen.evaluate(HIDE)
    seen.wait_for_timeout(500)
    seen.evaluate("appell.viewers[0].stand()")
    seen.wait_for_timeout(500)
    return seen


def picture(seen, t, path):
    """One moment."""
    seen.evaluate(f"appell.viewers[0].seek({t})")
    seen.wait_for_timeout(350)
    seen.screenshot(path=path)
    return path


def main():
    """Write both files."""
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as play:
        folder = Path(name)
        spraying(sy.circle(), folder)
        browser = play.chromium.launch(executable_path=program, args=["--use-angle=swiftshader"])
        shown = page(browser, folder / "sprayer.html")
        tiles = [picture(shown, 14.0, folder / "sprayer.png")]
        if "--gif" in sys.argv:
            frames = [picture(shown, 20.0 * k / 59, folder / f"frame{k:03d}.png") for k in range(60)]
            small = [Image.open(e).convert("RGB").resize((480, 300), Image.Resampling.LANCZOS) for e in frames]
            gif(small, HERE / "sprayer.gif", 0.1)
        for model, t in MODELS.items():
            motion = ap.simulate(ap.compile(ap.derive(ap.library.model(model))))
            motion.animate(folder / f"{model}.html")
            tiles.append(picture(page(browser, folder / f"{model}.html"), t, folder / f"{model}.png"))
        browser.close()
        small = [Image.open(tile).convert("RGB").resize((560, 350), Image.Resampling.LANCZOS) for tile in tiles]
        whole = Image.new("RGB", (3 * 560, 2 * 350))
        for k, tile in enumerate(small):
            whole.paste(tile, (560 * (k % 3), 350 * (k // 3)))
        whole.save(HERE / "views.png", optimize=True)


if __name__ == "__main__":
    main()
