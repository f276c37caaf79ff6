"""Sliders in a real browser: they choose among scenes and disturb nothing else."""

import pytest

import appell as ap

TURN = (
    "(() => { const s = document.querySelector('.knobs input'); s.value = %d; s.dispatchEvent(new Event('input')); })()"
)
VIEWER = "appell.viewers[0]"


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    system = ap.compile(ap.derive(ap.library.pendulum_chain(2)))
    motions = {l: ap.simulate(system.bind({"l": l}), until=10.0 * l) for l in (0.5, 1.0)}
    path = tmp_path_factory.mktemp("pages") / "chain.html"
    ap.view.explore(motions, "l [m]", path)
    return path


def test_a_slider_shows_another_motion_at_the_same_time_from_the_same_place(seen, page):
    seen.open(page).until(f"globalThis.appell && {VIEWER} && {VIEWER}.drawn > 2")
    seen.page.locator("button.play").click()
    seen.page.evaluate(f"{VIEWER}.seek(2.5); {VIEWER}.stand('oblique'); {VIEWER}.setLayer('names', true)")
    seen.page.locator("select[title='speed']").select_option("0.25")
    seen.page.wait_for_timeout(1000)
    place = seen.page.evaluate(f"{VIEWER}.camera.position.toArray()")
    seen.picture("variations-first")
    seen.page.evaluate(TURN % 1)
    seen.until(f"{VIEWER}.course.last > 9")
    seen.page.wait_for_timeout(500)
    seen.picture("variations-second")
    assert seen.page.locator(".knobs output").inner_text() == "1"
    state = seen.page.evaluate(f"[{VIEWER}.course.t, {VIEWER}.playing, {VIEWER}.speed, {VIEWER}.layers.names.visible]")
    assert state == [2.5, False, 0.25, True]
    assert seen.page.evaluate(f"{VIEWER}.camera.position.toArray()") == pytest.approx(place)
    assert seen.page.locator(".bar").count() == seen.page.locator(".title").count() == 1
    # It goes on with the controls of the new scene, and nothing of old ones is left behind.
    seen.page.locator("canvas").focus()
    seen.page.keyboard.press("Home")
    assert seen.page.evaluate(f"{VIEWER}.course.t") == 0
    seen.page.keyboard.press("ArrowRight")
    assert abs(seen.page.evaluate(f"{VIEWER}.course.t") - 0.1) < 1e-9
    for k in range(12):
        seen.page.evaluate(TURN % (k % 2))
        seen.page.wait_for_timeout(150)
    seen.until(f"{VIEWER}.course.last > 9")
    seen.page.wait_for_timeout(500)
    assert seen.page.evaluate(f"{VIEWER}.renderer.info.memory.geometries") < 40
    assert not seen.faults
    assert not seen.outside
