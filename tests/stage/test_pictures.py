"""Stills: round things are round, and everything that is drawn lies inside the frame at all moments."""

import numpy as np
import pytest

import appell as ap
from appell.view.faces import Shaded
from appell.view.outline import outline, sphere
from appell.view.parts import part
from appell.view.picture import Camera, Dots, Faces, Pointer, picture, round_step
from appell.view.surface import around, surface


def run(model, until=None):
    return ap.simulate(ap.compile(ap.derive(model)), until=until, points=51, progress=False)


def drawn(seen):
    """Corners of bodies and ends of arrows."""
    for mark in seen.marks:
        if isinstance(mark, Faces):
            yield from mark.places
        elif isinstance(mark, Pointer):
            yield np.array([mark.a, mark.b])


@pytest.mark.parametrize("name", ["slider_crank", "bricard", "rolling_disk", "delta_robot", "driven_pendulum"])
def test_everything_drawn_lies_inside_the_frame_at_all_moments(name):
    scene = run(getattr(ap.library, name)(), 2.0).animate()
    camera = Camera(scene)
    for k in np.linspace(0, scene.values.times.size - 1, 12).astype(int):
        seen = picture(scene, k, camera)
        places = np.concatenate(list(drawn(seen)))
        (left, right), (low, high) = seen.window
        assert left < places[:, 0].min() < places[:, 0].max() < right
        assert low < places[:, 1].min() < places[:, 1].max() < high


def test_a_picture_is_filled_by_what_moves():
    scene = run(ap.library.seven_axis_arm(), 1.0).animate()
    seen = picture(scene, 0, Camera(scene))
    reach = [np.concatenate(list(drawn(picture(scene, k, Camera(scene))))) for k in range(0, 150, 10)]
    span = np.ptp(np.concatenate(reach), axis=0)
    (left, right), (low, high) = seen.window
    assert max(span[0] / (right - left), span[1] / (high - low)) > 0.75


def test_the_outline_holds_all_points():
    scene = run(ap.library.bricard(), 2.0).animate()
    found = outline(scene, sphere(400))
    for way in sphere(37):
        assert (scene.values.points @ way).max() <= (found @ way).max() + 0.02 * scene.size


@pytest.mark.parametrize("kind", ["wheel", "cylinder", "sphere", "ball"])
def test_large_round_things_are_round(kind):
    shape = part(kind, 1.0, 0.2)
    shell = surface(shape, around(1.0, 1e-3))
    rims = []
    for face in shell.faces:
        a, b = shell.vertices[face], shell.vertices[[*face[1:], face[0]]]
        level = (a[:, 2] == b[:, 2]) & (np.hypot(*a.T[:2]) > 0.999) & (np.hypot(*b.T[:2]) > 0.999)
        rims += np.hypot(*((a + b) / 2)[level].T[:2]).tolist()
    assert min(rims) > 1 - 1e-3


@pytest.mark.parametrize("kind", ["wheel", "cylinder", "sphere", "ball", "capsule", "cone", "box"])
def test_faces_close_a_surface_and_look_outwards(kind):
    shape = part(kind, *((1.0, 0.8, 0.6) if kind == "box" else (1.0, 0.8)))
    shell = surface(shape)
    volume, edges = 0.0, {}
    for face in shell.faces:
        a = shell.vertices[face[0]]
        for i in range(1, len(face) - 1):
            volume += np.dot(a, np.cross(shell.vertices[face[i]], shell.vertices[face[i + 1]])) / 6
        for pair in zip(face, [*face[1:], face[0]], strict=True):
            edges[pair] = edges.get(pair, 0) + 1
    exact = {"wheel": 0.8 * np.pi, "cylinder": 0.8 * np.pi, "sphere": 4 / 3 * np.pi, "ball": 4 / 3 * np.pi,
             "capsule": (4 / 3 + 0.8) * np.pi, "cone": 0.8 * np.pi / 3, "box": 0.48}[kind]  # fmt: skip
    assert volume == pytest.approx(exact, rel=0.03)
    assert all(edges.get((b, a)) == count == 1 for (a, b), count in edges.items())


def test_a_small_circle_needs_few_sides_and_a_large_one_many():
    assert around(1e-3, 1e-3) == 12
    assert around(1.0, 2e-4) > 48
    assert all(around(r, 1e-4) % 12 == 0 for r in (1e-4, 0.03, 0.7, 50.0))


@pytest.mark.parametrize(("wanted", "step"), [(0.07, 0.1), (1.0, 1.0), (1.3, 2.0), (4.1, 5.0), (730.0, 1000.0)])
def test_steps_of_a_grid_are_round(wanted, step):
    assert round_step(wanted) == pytest.approx(step)


def test_a_point_on_a_long_way_can_be_seen():
    scene = run(ap.library.rocket(), 300.0).animate()
    (low, high) = picture(scene, 0, Camera(scene)).window[1]
    assert scene.solids[0].parts[0].size[0] > 0.007 * (high - low)


@pytest.mark.parametrize("until", [0.1, 10.0])
@pytest.mark.parametrize("nozzle", [True, False])
def test_a_long_way_makes_no_body_thicker(until, nozzle):
    """A rocket of 100 kg, 6 m long and 0.4 m thick, flies up to a kilometre."""
    x, z, turn = ap.coordinates("x z turn")
    ground = ap.Frame("ground")
    axes = ground.at(ground.point(x, 0, z)).pin(turn, axis="y")
    mass = ap.states("mass")
    hull = ap.RigidBody("hull", mass, axes.origin, axes, (3.01 * mass, 3.01 * mass, 0.02 * mass))
    place = {"at": axes.point(0, 0, -1.5)} if nozzle else {}
    jet = ap.Stream(hull, -2000 * axes.z, rate=-2, **place)
    start = {turn: 0.1, mass: 100.0}
    model = ap.Model(ground, (x, z, turn), [hull], [ap.Gravity(-9.81 * ground.z), jet], states={mass: -2}, start=start)
    (drawn,) = run(model, until).animate().solids[0].parts
    assert drawn.kind == "cylinder"
    np.testing.assert_allclose(drawn.size, (0.2, 6.0), rtol=1e-9)


def test_a_moving_picture_keeps_colours_of_small_things(tmp_path):
    from PIL import Image

    from appell.view.film import gif

    frames = []
    for k in range(12):
        pixels = np.zeros((80, 120, 3), dtype=np.uint8)
        pixels[...] = np.linspace(0, 255, 120)[None, :, None] * [0.2, 0.6, 1.0]
        pixels[40:44, 8 * k : 8 * k + 4] = (250, 180, 20)
        frames.append(Image.fromarray(pixels))
    gif(frames, tmp_path / "small.gif", 0.1)
    with Image.open(tmp_path / "small.gif") as film:
        film.seek(7)
        seen = np.asarray(film.convert("RGB")).astype(int)
    assert np.abs(seen[42, 58] - [250, 180, 20]).max() < 12
    assert np.abs(seen - np.asarray(frames[7]).astype(int)).max() < 24


def test_what_is_sprayed_lies_inside_the_frame():
    from appell.view import Field

    grid = np.linspace(-4, 4, 41)
    dose = np.zeros((1, 41, 41))
    dose[0, 3:8, 30:38] = 1.0
    field = Field(grid, grid, np.zeros(1), dose, "sprayed", "l")
    scene = run(ap.library.snakeboard(), 1.0).animate(field=field)
    camera = Camera(scene)
    (left, right), (low, high) = picture(scene, 0, camera).window
    corners = camera.flat(np.array([[x, y, scene.floor] for x in grid[[30, 37]] for y in grid[[3, 7]]]))
    assert left < corners[:, 0].min() < corners[:, 0].max() < right
    assert low < corners[:, 1].min() < corners[:, 1].max() < high


def test_what_is_under_a_long_board_does_not_show_through():
    """The middle of the board is farther away than the front truck; its plane is above both trucks all the same."""
    scene = ap.library.snakeboard().draw()
    shaded = Shaded(scene, 0, Camera(scene), 1e-3)
    order = shaded._order()
    heights = np.array([face[:, 2].max() for face in shaded.faces])
    level = [i for i, face in enumerate(shaded.faces) if np.ptp(face[:, 2]) < 1e-9]
    deck = max(level, key=lambda i: np.prod(np.sort(np.ptp(shaded.faces[i], axis=0))[1:]))
    under = [i for i in order if heights[i] < heights[deck] - 1e-9]
    assert len(under) > 20
    assert order.index(deck) > max(order.index(i) for i in under)
    assert sorted(order) == list(range(len(shaded.faces)))


@pytest.mark.parametrize(
    ("span", "words"), [(5e-10, "0.125 ns"), (2e4, "1.39 h"), (5e5, "1.45 days"), (4e8, "3.17 years")]
)
def test_moments_of_very_short_and_very_long_runs_are_written_in_their_units(span, words):
    x, ground = ap.coordinates("x", "m"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("body", 1.0, ground.point(x))], start={x.rate: 1.0 / span})
    scene = run(model, span).animate()
    k = int(np.argmin(np.abs(scene.values.times - span / 4)))
    shown, unit = picture(scene, k, Camera(scene)).clock.removeprefix("t = ").split()
    assert f"{float(shown):.1f} {unit}" == f"{float(words.split()[0]):.1f} {words.split()[1]}"


def test_rods_are_found_without_simplifying_formulas(monkeypatch):
    def refused(*_):
        raise AssertionError("SymPy's simplify takes seconds for each leg of a platform")

    monkeypatch.setattr("sympy.simplify", refused)
    scene = ap.library.stewart_platform().draw()
    assert len(scene.bars) == 12  # two halves of six legs, which slide along each other


@pytest.mark.parametrize(("axis", "count"), [("z", 4), ("x", 1)])
def test_a_given_cylinder_that_spins_about_its_axis_has_a_mark(axis, count):
    spin, ground = ap.coordinates("spin", "rad"), ap.Frame("ground")
    drum = ap.RigidBody("drum", frame=ground.pin(spin, axis=axis), shape=ap.shapes.Cylinder(0.3, 0.5, mass=1))
    (drawn,) = ap.Model(ground, spin, [drum]).draw().solids
    assert [part.kind for part in drawn.parts] == ["cylinder", "box", "box", "box"][:count]


@pytest.mark.parametrize(("rate", "side"), [(1.0, 1), (-1.0, -1)])
def test_mass_that_falls_into_a_wagon_is_drawn_above_it_and_what_falls_out_of_it_below(rate, side):
    x, coal, ground = ap.coordinates("x"), ap.states("coal"), ap.Frame("ground")
    wagon = ap.Particle("wagon", coal, ground.point(x, 0))
    fall = ap.Stream(wagon, -3 * ground.y, rate=rate, absolute=True)
    model = ap.Model(ground, x, [wagon], [ap.Gravity(-9.81 * ground.y), fall], states={coal: rate}, start={coal: 5.0})
    scene = ap.simulate(ap.compile(ap.derive(model)), until=2.0, progress=False).animate()
    (drops,) = (mark for mark in picture(scene, 50, Camera(scene)).marks if isinstance(mark, Dots))
    assert np.all(side * drops.places[:, 1] >= -1e-9)
    assert np.ptp(drops.places[:, 1]) > scene.unit
