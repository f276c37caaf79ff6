"""Animations in a real browser: they move, obey their controls, ask for nothing, and no name can run a script."""

import io

import numpy as np
import pytest
from PIL import Image

import appell as ap

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"


def run(model, until=None):
    return ap.simulate(ap.compile(ap.derive(model)), until=until, points=51, progress=False)


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "disk.html"
    run(ap.library.rolling_disk(), 4.0).animate(path)
    return path


def pixels(seen):
    picture = seen.page.locator("canvas").screenshot()
    return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")).astype(int)


def changed(a, b):
    return int((np.abs(a - b).max(axis=2) > 24).sum())


def settled(seen, action):
    """Do something while paused, and wait until it was drawn."""
    drawn = seen.page.evaluate("appell.viewers[0].drawn")
    seen.page.evaluate(action)
    seen.until(f"appell.viewers[0].drawn > {drawn}")
    seen.page.wait_for_timeout(150)
    return pixels(seen)


def test_an_animation_moves_and_obeys(seen, disk):
    seen.open(disk).until("globalThis.appell && appell.viewers.length == 1 && appell.viewers[0].drawn > 2")
    assert seen.page.evaluate("appell.viewers[0].failed") is None
    # It plays by itself.
    first = seen.page.evaluate("appell.viewers[0].course.t")
    seen.until(f"appell.viewers[0].course.t > {first} + 0.05")
    seen.picture("rolling-disk")
    # The button stops it, and nothing is drawn then.
    seen.page.locator("button.play").click()
    seen.page.wait_for_timeout(1500)
    assert not seen.page.evaluate("appell.viewers[0].playing")
    still = seen.page.evaluate("appell.viewers[0].drawn")
    seen.page.wait_for_timeout(500)
    assert seen.page.evaluate("appell.viewers[0].drawn") == still
    # Scrubbing alone, with the camera settled, changes the picture.
    before = settled(seen, "appell.viewers[0].seek(0.5)")
    slider = seen.page.locator("input[type=range]")
    slider.focus()
    after = settled(seen, "(() => { const s = document.querySelector('input[type=range]'); s.value = 7500; "
                          "s.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert abs(seen.page.evaluate("appell.viewers[0].course.t") - 3.0) < 0.01
    assert changed(before, after) > 300
    # So does the camera, by menu and by mouse, and following a body.
    top = settled(seen, "appell.viewers[0].stand('top')")
    assert changed(after, top) > 300
    box = seen.page.locator("canvas").bounding_box()
    seen.page.mouse.move(box["x"] + 400, box["y"] + 200)
    seen.page.mouse.down()
    seen.page.mouse.move(box["x"] + 500, box["y"] + 300, steps=4)
    seen.page.mouse.up()
    assert any(changed(top, pixels(seen)) > 300 or seen.page.wait_for_timeout(500) for _ in range(20))
    seen.page.locator("select[title='follow a body']").select_option("-1")
    seen.page.wait_for_timeout(800)
    wide = pixels(seen)
    near = settled(seen, "appell.viewers[0].setFollow(0)")
    assert changed(wide, near) > 300
    # Keys and speed.
    seen.page.locator("canvas").focus()
    seen.page.keyboard.press("Home")
    seen.until("appell.viewers[0].course.t == appell.viewers[0].course.first")
    seen.page.locator("select[title=speed]").select_option("4")
    assert seen.page.evaluate("appell.viewers[0].speed") == 4
    # Layers.
    on = settled(seen, "appell.viewers[0].setLayer('weights', true)")
    off = settled(seen, "appell.viewers[0].setLayer('weights', false)")
    assert changed(on, off) > 50
    assert seen.faults == []
    assert seen.outside == []


def test_what_stands_still_cannot_be_followed(seen, tmp_path):
    x = ap.coordinates("x", "m")
    ground = ap.Frame("ground")
    post = ap.RigidBody("post", 1.0, ground.point(0, 0, 1), ground.weld(), (1, 1, 1))
    cart = ap.RigidBody("cart", 1.0, ground.point(x, 0, 1), ground.slide(x), (1, 1, 1))
    wall = ap.view.Look(ground=ap.shapes.Box(0.1, 6, 1).at(-3, 0, 0.5))
    model = ap.Model(ground, x, [post, cart], look=wall, start={x: 1, x.rate: 40}, until=2.0)
    run(model).animate(tmp_path / "cart.html")
    seen.open(tmp_path / "cart.html").until("globalThis.appell && appell.viewers[0].drawn > 2")
    menu = seen.page.locator("select[title='follow a body']")
    assert menu.locator("option").all_inner_texts() == ["follow: none", "follow: cart"]
    assert menu.input_value() == "-1"  # its way is long, but the post stays behind
    model.draw(tmp_path / "drawing.html")
    seen.open(tmp_path / "drawing.html").until("globalThis.appell && appell.viewers[0].drawn > 0")
    assert not menu.is_visible()


def test_a_satellite_in_orbit_is_drawn_to_the_millimetre(seen, tmp_path):
    """Places in orbit have the digits that parts of a satellite need; 32-bit floats tell half a metre."""
    place, turn, ground = ap.coordinates("x y z", "m"), ap.coordinates("turn", "rad"), ap.Frame("ground")
    bus = ap.RigidBody("bus", 100, ground.point(*place), ground.slide(place[0]), (10, 15, 20))
    mast = ground.at(bus.center).pin(turn)
    tip = ap.Particle("tip", 1e-3, mast.point(2, 0, 0))
    pull = ap.Potential(-3.986e16 / bus.center.norm)
    start = {place[0]: 7e6, place[1].rate: 7546.0, turn.rate: 0.01}
    scene = run(ap.Model(ground, (*place, turn), [bus, tip], [pull], start=start), 3000.0).animate(tmp_path / "o.html")
    seen.open(tmp_path / "o.html").until("globalThis.appell && appell.viewers[0].drawn > 2")
    k = 60
    seen.page.evaluate(f"appell.viewers[0].pause(), appell.viewers[0].seek({scene.values.times[k]})")
    told = seen.page.evaluate("""appell.viewers[0].scene.solids.map(({ point }) => {
        const { course, camera } = appell.viewers[0];
        return course.point(point, camera.position.clone()).toArray(); })""")
    places = [scene.values.points[solid.point][k] for solid in scene.solids]
    np.testing.assert_allclose(np.subtract(*told), np.subtract(*places), rtol=0, atol=1e-3)


def test_keys_work_before_anything_was_clicked(seen, disk):
    seen.open(disk).until("globalThis.appell && appell.viewers.length == 1 && appell.viewers[0].playing")
    seen.page.keyboard.press("End")
    assert seen.page.evaluate("[appell.viewers[0].playing, appell.viewers[0].course.t]") == [False, 4.0]
    seen.page.keyboard.press("Space")
    seen.until("appell.viewers[0].playing")


def test_nothing_moves_by_itself_where_motion_is_unwanted(browser, disk):
    context = browser.new_context(reduced_motion="reduce", offline=True)
    page = context.new_page()
    page.goto(disk.as_uri())
    page.wait_for_selector("button.play")
    page.wait_for_timeout(500)
    assert page.evaluate("[appell.viewers[0].playing, appell.viewers[0].course.t]") == [False, 0]
    page.locator("button.play").click()
    assert page.evaluate("appell.viewers[0].playing")
    context.close()


def test_no_name_can_run_a_script(seen, tmp_path):
    q = ap.coordinates("q")
    m, l = ap.parameters("m l", "kg m")
    ground = ap.Frame("ground")
    bob = ap.Particle(HOSTILE, m, ground.rotate("z", q).point(0, -l))
    push = ap.Force(ground.x, bob, name=HOSTILE)
    model = ap.Model(
        ground, q, [bob], [push, ap.Gravity(-9.81 * ground.y, HOSTILE)], name=HOSTILE, description=HOSTILE,
        values={m: 1.0, l: 1.0}, start={q: 0.5}, until=1.0,
    )  # fmt: skip
    run(model).animate(tmp_path / "hostile.html")
    seen.open(tmp_path / "hostile.html").until("globalThis.appell && appell.viewers[0].drawn > 0")
    seen.page.evaluate("appell.viewers[0].setLayer('names', true)")
    seen.page.wait_for_timeout(500)
    assert seen.page.evaluate("window.hacked") is None
    assert seen.page.locator(".title strong").inner_text() == HOSTILE
    assert seen.page.locator("img").count() == 0
    assert seen.faults == []
    assert seen.outside == []


def test_a_scene_shows_in_a_frame_as_notebooks_have_it(seen, tmp_path):
    scene = run(ap.library.four_bar(), 2.0).animate()
    (tmp_path / "notebook.html").write_text("<h1>cell</h1>" + scene._repr_mimebundle_()["text/html"])
    seen.open(tmp_path / "notebook.html")
    seen.page.wait_for_timeout(500)
    frame = seen.page.frames[1]
    for _ in range(600):
        if frame.evaluate("globalThis.appell?.viewers?.[0]?.drawn ?? 0") > 1:
            break
        seen.page.wait_for_timeout(100)
    assert frame.evaluate("appell.viewers[0].drawn") > 1
    assert seen.faults == []
    assert seen.outside == []


def test_fifty_bodies_are_shown(seen, tmp_path):
    chain = ap.library.pendulum_chain(links=50, mass="points")
    scene = chain.draw(tmp_path / "chain.html", start={q: 0.05 for q in chain.coordinates})
    assert len(scene.solids) == 50
    assert (tmp_path / "chain.html").stat().st_size < 2e6
    seen.open(tmp_path / "chain.html").until("globalThis.appell && appell.viewers[0].drawn > 0")
    seen.picture("fifty-pendulums")
    assert seen.page.evaluate("appell.viewers[0].bodies.length") == 50
    assert seen.faults == []


@pytest.fixture(scope="module")
def fifty(tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "fifty.html"
    chain = ap.library.pendulum_chain(links=50, mass="points")
    moving = ap.simulate(ap.compile(ap.derive(chain)), until=1.0, points=11, progress=False)
    moving.animate(path)
    return path


def test_fifty_bodies_take_few_calls_and_nothing_new_in_a_frame(seen, fifty):
    """What a frame costs, counted: calls of the graphics system, triangles, and what is made anew."""
    seen.open(fifty).until("globalThis.appell && appell.viewers[0].drawn > 3")
    info = "appell.viewers[0].renderer.info"
    made = f"[{info}.memory.geometries, {info}.memory.textures, {info}.programs.length]"
    seen.page.evaluate("appell.viewers[0].pause()")
    seen.until("!appell.viewers[0].dirty && appell.viewers[0].rough === 0")
    seen.page.wait_for_timeout(500)
    before, drawn = seen.page.evaluate(made), seen.page.evaluate("appell.viewers[0].drawn")
    for t in (0.2, 0.4, 0.6, 0.8):
        settled(seen, f"appell.viewers[0].seek({t})")
    assert seen.page.evaluate("appell.viewers[0].drawn") >= drawn + 4
    assert seen.page.evaluate(made) == before
    calls, triangles = seen.page.evaluate(
        "Object.values((({calls, triangles}) => ({calls, triangles}))(appell.viewers[0].renderer.info.render))"
    )
    assert calls <= 20  # fifty bodies, fifty rods and fifty joints, shadows included
    assert triangles <= 100_000
    assert seen.faults == []


def test_slow_frames_lower_the_quality_and_rest_restores_it(seen, fifty):
    seen.open(fifty).until("globalThis.appell && appell.viewers[0].drawn > 3")
    seen.page.evaluate("for (let i = 0; i < 5; i++) appell.viewers[0].judge(0.2)")
    assert seen.page.evaluate("appell.viewers[0].roughness") >= 2
    assert not seen.page.evaluate("appell.viewers[0].sun.castShadow")
    seen.page.evaluate("appell.viewers[0].pause()")
    seen.until("appell.viewers[0].rough === 0 && appell.viewers[0].sun.castShadow")
    assert seen.faults == []


def test_axes_stand_where_their_body_is_also_after_one_step(seen, disk):
    seen.open(disk).until("globalThis.appell && appell.viewers[0]?.drawn > 0")
    seen.page.evaluate("appell.viewers[0].pause(), appell.viewers[0].setLayer('axes', true)")
    seen.page.evaluate("appell.viewers[0].seek(2.5), appell.viewers[0].render()")
    away = "appell.viewers[0].layers.axes.children[0].position.distanceTo(appell.viewers[0].bodies[0].position)"
    assert seen.page.evaluate(away) < 1e-9


OUTERMOST = """() => {
  // The farthest place of any corner of what is shown, in halves of the picture.
  const viewer = appell.viewers[0];
  const place = viewer.camera.position.clone();
  const matrix = viewer.camera.matrixWorld.clone();
  let most = 0;
  for (const part of viewer.parts) {
    if (!part.object.parent.visible) continue;
    part.object.updateWorldMatrix(true, true);
    part.object.traverse((e) => {
      if (!e.isMesh || !e.visible || e.isLine2) return;
      const corners = e.geometry.attributes.position;
      for (let n = 0; n < (e.isInstancedMesh ? e.count : 1); n++) {
        if (e.isInstancedMesh) {
          e.getMatrixAt(n, matrix);
          matrix.premultiply(e.matrixWorld);
        } else matrix.copy(e.matrixWorld);
        for (let k = 0; k < corners.count; k++) {
          place.fromBufferAttribute(corners, k).applyMatrix4(matrix).project(viewer.camera);
          most = Math.max(most, Math.abs(place.x), Math.abs(place.y));
        }
      }
    });
  }
  return most;
}"""


@pytest.mark.parametrize("size", [(1100, 700), (420, 760)])
@pytest.mark.parametrize("name", ["slider_crank", "bricard", "bicycle"])
def test_everything_lies_inside_the_frame_at_all_moments(seen, tmp_path, name, size):
    run(getattr(ap.library, name)(), 2.0).animate(tmp_path / "scene.html")
    seen.page.set_viewport_size({"width": size[0], "height": size[1]})
    seen.open(tmp_path / "scene.html").until("globalThis.appell && appell.viewers[0]?.drawn > 0")
    seen.page.evaluate("appell.viewers[0].pause()")
    reached = []
    for share in (0, 0.3, 0.7, 1):
        seen.page.evaluate(f"(() => {{ const v = appell.viewers[0]; v.seek({share} * v.course.last); v.render(); }})()")
        reached.append(seen.page.evaluate(OUTERMOST))
    assert max(reached) < 1
    assert max(reached) > 0.6


def test_a_window_of_another_shape_shows_everything_until_the_camera_is_turned_by_hand(seen, disk):
    seen.page.set_viewport_size({"width": 1300, "height": 500})
    seen.open(disk).until("globalThis.appell && appell.viewers[0]?.drawn > 0")
    seen.page.evaluate("appell.viewers[0].pause(); appell.viewers[0].stand('top')")
    place = "appell.viewers[0].camera.position.toArray().map((e) => e.toFixed(6)).join()"
    wide = seen.page.evaluate(place)
    seen.page.set_viewport_size({"width": 420, "height": 760})
    seen.until(f"{place} != '{wide}'")
    assert seen.page.evaluate(OUTERMOST) < 1
    seen.page.locator("canvas").hover()
    before = seen.page.evaluate(place)
    seen.page.mouse.wheel(0, -200)
    seen.until(f"{place} != '{before}'")
    seen.page.wait_for_timeout(500)
    turned = seen.page.evaluate(place)
    seen.page.set_viewport_size({"width": 900, "height": 500})
    seen.until("appell.viewers[0].camera.aspect > 1.5")
    assert seen.page.evaluate(place) == turned


def test_water_is_drawn_before_a_boat_that_takes_it_in_and_behind_it_where_it_leaves(seen, tmp_path):
    run(ap.library.two_streams(), 30.0).animate(tmp_path / "streams.html")
    seen.open(tmp_path / "streams.html").until("globalThis.appell && appell.viewers[0]?.drawn > 0")
    found = seen.page.evaluate("""() => {
      const viewer = appell.viewers[0];
      viewer.pause();
      viewer.seek(10);
      viewer.render();
      return viewer.parts.filter((p) => p.data?.life).map((p) => {
        const mouth = viewer.course.point(p.data.at, p.from.clone()).x;
        const count = p.object.geometry.drawRange.count;
        return Array.from({ length: count }, (_, k) => p.places[3 * k] - mouth);
      });
    }""")
    intake, jet = map(np.array, found)
    assert min(intake.size, jet.size) > 20
    assert np.all(intake >= -1e-5)
    assert np.all(jet <= 1e-5)


def test_without_webgl_a_still_is_shown(browser, disk):
    context = browser.new_context(viewport={"width": 900, "height": 600}, offline=True)
    context.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
    page = context.new_page()
    page.goto(disk.as_uri())
    page.wait_for_selector(".stage img", timeout=30_000)
    assert page.evaluate("document.querySelector('.stage img').naturalWidth") > 300
    assert "no WebGL" in page.locator(".note").inner_text()
    context.close()


@pytest.mark.parametrize(
    ("until", "clock", "speed"),
    [
        (2e-6, "0.500 µs", 1e-7), (1.0, "0.250 s", 0.25), (4000.0, "1000 s", 200), (2e4, "1.39 h", 1000),
        (4e8, "3.17 years", 20_000_000),
    ],
)  # fmt: skip
def test_time_is_shown_as_the_run_is_long(seen, tmp_path, until, clock, speed):
    x, ground = ap.coordinates("x", "m"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("body", 1.0, ground.point(x))], start={x.rate: 1.0 / until})
    motion = run(model, until)
    motion.animate(tmp_path / "run.html")
    seen.open(tmp_path / "run.html").until("globalThis.appell && appell.viewers[0].drawn > 2")
    seen.page.evaluate("appell.viewers[0].pause()")
    settled(seen, f"appell.viewers[0].seek({until / 4})")
    assert seen.page.locator(".clock").inner_text() == clock
    assert float(seen.page.locator("select[title=speed]").input_value()) == speed
    assert seen.faults == []


@pytest.mark.parametrize(("far", "grid"), [(2.0, "0.2 m"), (3e5, "50 km"), (1.5e11, "2·10⁷ km")])
def test_the_grid_says_how_large_things_are(seen, tmp_path, far, grid):
    x, y = ap.coordinates("x y", "m")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("sun", 1.0, ground.point(0, 0)), ap.Particle("planet", 1.0, ground.point(x, y))]
    ap.Model(ground, (x, y), bodies).draw(tmp_path / "far.html", start={x: far})
    seen.open(tmp_path / "far.html").until("globalThis.appell && appell.viewers[0].drawn > 0")
    assert seen.page.locator(".ruler").inner_text() == f"grid {grid}"
