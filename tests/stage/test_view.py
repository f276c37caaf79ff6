"""Scenes: what is drawn is where the model says, at the size the model says."""

import base64
import itertools

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.view import Field, Look, Solid
from appell.view.anatomy import anatomy
from appell.view.outline import outline, sphere
from appell.view.page import scene_data
from appell.view.surface import surface


def run(model, until=None, values=None, **more):
    return ap.simulate(ap.compile(ap.derive(model)).bind(values or {}), until=until, points=51, progress=False, **more)


@pytest.fixture(scope="module")
def disk():
    return run(ap.library.rolling_disk(), 2.0)


@pytest.mark.parametrize("name", ap.library.names())
def test_every_library_model_can_be_drawn(name):
    scene = ap.library.model(name).draw()
    assert scene.solids
    for solid in scene.solids:
        assert all(np.all(np.isfinite(p.size)) and min(p.size, default=1) > 0 for p in solid.parts)
    assert scene.size > 0
    assert np.isclose(np.linalg.norm(scene.up), 1.0, rtol=1e-12, atol=0)


def test_points_are_where_the_motion_says(disk):
    scene = disk.animate()
    t = scene.values.times
    x, y, lean, yaw = (disk.evaluate(s, t) for s in ap.coordinates("x y lean yaw"))
    r = disk.system.values["r"]
    center = scene.values.points[scene.solids[0].point]
    wanted = np.stack(
        [x + r * np.sin(lean) * np.sin(yaw), y - r * np.sin(lean) * np.cos(yaw), r * np.cos(lean)], axis=1
    )
    np.testing.assert_allclose(center, wanted, rtol=0, atol=1e-9)


def test_a_wheel_is_as_large_as_its_contact_says_and_rolls(disk):
    scene = disk.animate()
    (shape,) = scene.solids[0].parts
    assert shape.kind == "wheel"
    assert np.isclose(shape.size[0], 0.26, rtol=1e-12, atol=0)
    # The material at the contact stands still: velocity of the centre + omega x arm = 0, from the drawn poses.
    times, places = scene.values.times, scene.values.points[scene.solids[0].point]
    contact = scene.values.points[scene.traces[0].point]
    k, step = 50, times[1] - times[0]
    turns = scene.values.turns[scene.solids[0].turn]
    rate = (turns[k + 1] - turns[k - 1]) / (2 * step) @ turns[k].T
    omega = np.array([rate[2, 1], rate[0, 2], rate[1, 0]])
    velocity = (places[k + 1] - places[k - 1]) / (2 * step)
    slip = velocity + np.cross(omega, contact[k] - places[k])
    assert np.linalg.norm(slip) < 0.02 * np.linalg.norm(velocity)
    assert scene.floor == 0.0


def test_spinning_bodies_of_the_sprayer_are_wheels_on_the_floor():
    scene = ap.library.sprayer().draw()
    wheels = [s for s in scene.solids if s.name.startswith("wheel")]
    assert len(wheels) == 4
    assert all(np.isclose(w.parts[0].size[0], 0.3, rtol=1e-12, atol=0) for w in wheels)
    assert np.isclose(scene.floor, -0.3, rtol=1e-12, atol=0)
    assert len(scene.jets) == 4


def test_massless_bars_of_a_linkage_are_found():
    scene = ap.library.four_bar().draw()
    lengths = [np.linalg.norm(scene.values.points[b.a][0] - scene.values.points[b.b][0]) for b in scene.bars]
    np.testing.assert_allclose(sorted(lengths), [0.8, 1.0, 2.0], rtol=1e-9, atol=0)
    ends = scene.values.points[list(scene.anchors)][:, 0]
    np.testing.assert_allclose(sorted(ends[:, 0]), [0.0, 2.0], rtol=0, atol=1e-9)


def test_springs_and_dampers_join_their_ends():
    kinds = [bar.kind for bar in ap.library.driven_pendulum().draw().bars]
    assert kinds == ["spring", "damper"]


def test_a_constraint_becomes_its_curve():
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    bead, wire = ap.Particle("bead", 1.0, ground.point(x, y)), ap.Holonomic(x**2 + 4 * y**2 - 1, "wire")
    (curve,) = ap.Model(ground, (x, y), [bead], constraints=[wire], start={x: 1.0}).draw().curves
    points = np.concatenate(curve.lines)
    np.testing.assert_allclose(np.linalg.norm(points * [1, 2, 1], axis=1), 1.0, rtol=0, atol=2e-3)


def test_a_bob_on_a_rod_has_its_circle():
    scene = ap.library.arevalo().draw()
    (curve,), (bar,) = scene.curves, scene.bars
    center, bob = (scene.values.points[k][0] for k in sorted((bar.a, bar.b), key=lambda k: k not in scene.anchors))
    distances = np.linalg.norm(np.concatenate(curve.lines) - center, axis=1)
    np.testing.assert_allclose(distances, np.linalg.norm(bob - center), rtol=2e-3, atol=0)


def test_the_reaction_arrow_of_a_hanging_bob_is_its_weight():
    x, y = ap.coordinates("x y", "m")
    m, l = ap.parameters("m l")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", m, ground.point(x, y))
    model = ap.Model(
        ground, (x, y), [bob], [ap.Gravity(-10 * ground.y)], [ap.Holonomic(x**2 + y**2 - l**2, "rod")],
        values={m: 3.0, l: 2.0}, start={y: -2.0}, until=1.0,
    )  # fmt: skip
    scene = run(model).animate()
    (reaction,) = [a for a in scene.arrows if a.kind == "reaction"]
    np.testing.assert_allclose(scene.values.vectors[reaction.vector], [[0, 30.0, 0]] * scene.values.times.size,
                               rtol=0, atol=1e-9)  # fmt: skip
    assert scene.view == "front"
    np.testing.assert_allclose(scene.up, [0, 1, 0], rtol=0, atol=1e-12)


def test_bars_to_the_ground_and_to_a_turning_crank_are_drawn():
    x, y, angle = ap.coordinates("x y angle")
    ground = ap.Frame("ground")
    disk = ground.pin(angle)
    crank = ap.RigidBody("crank", 1.0, disk.point(0.15, 0), disk, (0, 0, 0.1))
    pin = ap.Particle("pin", 1.0, ground.point(x, y))
    to_ground = ap.Holonomic((x - 1) ** 2 + y**2 - 0.49, "rocker")
    to_crank = pin.center - disk.point(0.3, 0)
    rows = [to_ground, ap.Holonomic(to_crank.norm - 0.9, "coupler")]
    scene = ap.Model(ground, (angle, x, y), [crank, pin], constraints=rows, start={x: 0.9, y: 0.7}).draw()
    bars = [np.linalg.norm(scene.values.points[b.a][0] - scene.values.points[b.b][0]) for b in scene.bars]
    np.testing.assert_allclose(sorted(bars), [0.7, 0.9], rtol=1e-9, atol=0)
    places = scene.values.points[list(scene.anchors)][:, 0]
    np.testing.assert_allclose(sorted(places[:, 0]), [0.0, 1.0], rtol=0, atol=1e-12)
    assert not scene.curves


@pytest.mark.parametrize(("name", "count"), [("delta_robot", 3), ("five_bar", 2), ("spherical_pendulum", 1)])
def test_rods_are_drawn_once_and_end_at_bodies(name, count):
    """The rods of the Delta robot end beside its centre, where no row that is written with the centre tells them."""
    assert len(getattr(ap.library, name)().draw().bars) == count


def test_a_shape_that_does_not_reach_its_joint_hangs_on_a_rod():
    angle = ap.coordinates("angle")
    ground = ap.Frame("ground")
    for drop, arms in ((0.4, 0), (3.0, 1)):
        box = ap.shapes.Box(1, 1, 1, mass=2.0).at(0, -drop, 0)
        (load,) = ap.Model(ground, angle, [ap.RigidBody("load", frame=ground.pin(angle), shape=box)]).draw().solids
        assert [p.kind for p in load.parts] == ["box"] + arms * ["capsule"]
        assert all(np.isclose(p.size[1], drop) for p in load.parts[1:])


def test_a_rod_of_given_inertia_is_drawn_as_long_as_it_is():
    scene = ap.library.pendulum_chain(links=3).draw()
    for solid in scene.solids:
        (bar,) = solid.parts
        assert bar.kind == "capsule"
        assert np.isclose(bar.size[1], 1.0, rtol=1e-9, atol=0)


def test_a_row_that_keeps_a_distance_is_drawn_as_a_rod():
    x, y, u, v = ap.coordinates("x y u v")
    length, ground = ap.parameters("length"), ap.Frame("ground")
    one, two = ap.Particle("one", 1.0, ground.point(x, y)), ap.Particle("two", 1.0, ground.point(u, v))
    gap = one.center - two.center
    for row, drawn in (
        (gap.dot(gap) - length**2, 1),
        (gap.norm - length, 1),
        (x - 2 * u, 0),
        (gap.dot(gap) - x * u, 0),
    ):
        model = ap.Model(ground, (x, y, u, v), [one, two], constraints=[ap.Holonomic(row, "tie")])
        values = dict.fromkeys({length} & row.free_symbols, 1.0)
        assert len(model.draw(values=values, start={x: 1.0, v: 0.4}).bars) == drawn


def test_what_rolls_on_a_varying_radius_is_no_wheel():
    model = ap.library.rattleback()
    assert not anatomy(model).wheels
    assert anatomy(ap.library.rolling_disk()).wheels
    scene = model.draw()
    (stone,) = scene.solids[0].parts
    half_axes = np.max(np.abs(stone.points), axis=0)
    np.testing.assert_allclose(half_axes, [0.2, 0.03, 0.02], rtol=1e-12, atol=0)
    assert scene.floor == pytest.approx(0.0, abs=1e-12)  # where the contact is


def test_hints_are_followed():
    model = ap.library.rolling_disk()
    r = next(p for p in model.parameters if p.name == "r")
    ground = model.ground
    x, y = ap.coordinates("x y")
    look = Look(
        shapes={"disk": Solid("box", (r, 2 * r, 0.1))}, traces={"contact": ground.point(x, y)},
        curves={"line": ground.point(ap.t, 0)}, colors={"disk": "#123456"},
        rods=[(ground.point(0, 0), ground.point(x, y))],
    )  # fmt: skip
    scene = model.draw(look=look)
    np.testing.assert_allclose(scene.solids[0].parts[0].size, (0.26, 0.52, 0.1), rtol=1e-12, atol=0)
    assert scene.solids[0].color == "#123456"
    assert [t.name for t in scene.traces] == ["contact"]
    assert [c.name for c in scene.curves] == ["line"]
    assert len(scene.bars) == 1


def test_the_coverage_grows_to_the_whole_map():
    from appell.sprayer import Sprayer, circle, corners, cover, drive, follow_by_linearization, start

    robot, path = Sprayer(corners(sp.pi / 2)), circle()
    system = drive(robot, path, follow_by_linearization(robot, path, 0.5, 4.0, 4.0))
    motion = ap.simulate(system, start(system, path), 4.0, points=41, progress=False)
    whole, grown = cover(robot, motion), cover(robot, motion, maps=8)
    np.testing.assert_allclose(grown.dose, whole.dose, rtol=1e-9, atol=1e-12)
    assert np.all(np.diff(grown.history, axis=0) >= 0)
    assert grown.history.shape[0] == grown.moments.size == 9
    scene = motion.animate(field=grown)
    assert scene_data(scene)["field"]["nx"] == whole.x.size
    assert isinstance(scene.field, Field)


def test_shapes_of_the_mass_distribution_are_drawn_where_they_are():
    """Every primitive within its own bounds; the drawn vertices' mean of a box is its centre."""
    shapes = ap.shapes
    q = ap.coordinates("q", "rad")
    r = ap.parameters("r", "m")
    ground = ap.Frame("ground")
    arm = ground.rotate("z", q, "arm")
    given = {
        "box": (shapes.Box(2 * r, 0.4, 0.2, mass=1).at(1, 0), (0.25, 0.2, 0.1)),
        "cylinder": (shapes.Cylinder(r, 0.6, mass=1), (0.25, 0.25, 0.3)),
        "torus": (shapes.Torus(0.3, 0.1, mass=1), (0.4, 0.4, 0.1)),
        "cone": (shapes.Cone(0.3, 0.5, mass=1), (0.3, 0.3, 0.5)),
        "ellipsoid": (shapes.Ellipsoid(0.3, 0.2, 0.1, mass=1), (0.3, 0.2, 0.1)),
        "tube": (shapes.Tube(0.3, 0.2, 0.4, mass=1), (0.3, 0.3, 0.2)),
        "rod": (shapes.Rod(0.8, mass=1), (0.4, 0.4, 0.4)),
    }
    bodies = [ap.RigidBody(name, frame=arm, shape=shape) for name, (shape, _) in given.items()]
    model = ap.Model(ground, q, bodies, values={r: 0.25}, start={q: 0.5})
    scene = model.draw()
    for solid in scene.solids:
        shape, reach = given[solid.name]
        piece, *_ = solid.parts
        vertices = surface(piece).vertices - np.array([float(e) for e in shape.pose.shift])
        assert np.all(np.abs(vertices) <= np.array(reach) + 0.03), solid.name
        assert np.all(vertices.max(axis=0) >= np.array(reach) * (0.97 if solid.name != "rod" else 0)), solid.name
    turned = scene.values.turns[scene.solids[0].turn][0]
    np.testing.assert_allclose(turned[:2, 0], [np.cos(0.5), np.sin(0.5)], rtol=1e-12, atol=0)


def test_a_loop_with_three_anchors_has_a_base():
    scene = ap.library.stewart_platform().draw()
    assert [s.name for s in scene.solids] == ["plate", "base"]
    assert len(scene.bars) == 12


def test_hollow_bodies_are_hollow():
    """Bores along the axis of a cylinder are cut, other cavities are seen through the walls."""
    from appell.model import shapes

    ground = ap.Frame("ground")
    q = ap.coordinates("q")
    turned = ground.rotate("z", q)

    def parts(shape):
        body = ap.RigidBody("drum", frame=turned, shape=shape)
        return ap.Model(ground, q, [body]).draw().solids[0].parts

    tube = parts(shapes.Cylinder(1.0, 2.0, density=1.0) - shapes.Cylinder(0.6, 2.0, density=1.0))
    assert [p.kind for p in tube] == ["mesh"]
    radii = np.hypot(tube[0].points[:, 0], tube[0].points[:, 1])
    np.testing.assert_allclose([radii.min(), radii.max()], [0.6, 1.0], rtol=0, atol=1e-12)
    shell = parts(shapes.Box(1.0, 1.0, 1.0, density=1.0) - shapes.Box(0.8, 0.8, 0.8, density=1.0))
    assert sorted(p.opacity for p in shell) == [0.32, 0.6]


def test_what_flies_off_does_not_swell_the_rest():
    """A ball that leaves its beam: small things stay small against the beam, however far the ball gets."""
    motion = ap.simulate(ap.compile(ap.derive(ap.library.ball_and_beam())), until=6.0, points=61, progress=False)
    scene = motion.animate()
    assert scene.box[1][0] > 5.0
    assert scene.unit < 0.1 * scene.size


def test_a_camera_in_orbit_looks_at_the_satellite_and_not_at_its_shadow_far_below():
    place, radius = ap.coordinates("x y z", "m"), 7e6
    ground = ap.Frame("ground")
    body = ap.RigidBody("satellite", 100, ground.point(*place), ground.slide(place[0]), (10, 15, 20))
    pull = ap.Potential(-3.986e14 * 100 / body.center.norm)
    start = {place[0]: radius, place[1].rate: np.sqrt(3.986e14 / radius)}
    scene = run(ap.Model(ground, place, [body], [pull], start=start), 3000.0).animate()
    assert scene.follow == 0
    assert np.ptp(outline(scene, sphere(50)), axis=0).max() < 2 * scene.size


@pytest.mark.parametrize(("bodies", "followed"), [("post cart", -1), ("cart wagon", 0), ("cart", 0)])
def test_a_camera_goes_along_only_if_nothing_stays_behind(bodies, followed):
    x, ground = ap.coordinates("x", "m"), ap.Frame("ground")
    places = {"post": ground.weld(), "cart": ground.slide(x), "wagon": ground.weld(at=(-2, 0, 0)).slide(x)}
    listed = [ap.RigidBody(e, 1.0, places[e].point(0, 0, 1), places[e], (1, 1, 1)) for e in bodies.split()]
    wall = ap.shapes.Box(0.1, 6, 1).at(-3, 0, 0.5)
    model = ap.Model(ground, x, listed, start={x: 1, x.rate: 40})
    assert run(model, 2.0).animate(look=Look(ground=wall)).follow == followed


def test_a_light_stone_is_seen_at_the_end_of_its_sling():
    angle, ground = ap.coordinates("angle", "rad"), ap.Frame("ground")
    stone = ap.Particle("stone", 0.01, ground.pin(angle).point(3, 0))
    heavy = ap.Particle("heavy", 1000, ground.point(1, 0))
    scene = ap.Model(ground, angle, [stone, heavy]).draw()
    (rod,), drawn = scene.bars, scene.solids[0]
    assert drawn.parts[0].size[0] > 1.2 * rod.radius
    assert drawn.point not in scene.joints


def held_plate(size):
    """A plate of some size, held at its corners by springs, in a time that goes with it."""
    x, y, turn = ap.coordinates("x y turn", "m m rad")
    ground = ap.Frame("ground")
    frame = ground.planar(x, y, turn)
    plate = ap.RigidBody("plate", 1, frame.origin, frame, (0, 0, size**2 / 3))
    corners = [(1.5, 1.1), (-1.5, 1.1), (-1.5, -1.1), (1.5, -1.1)]
    springs = [
        ap.Spring(ground.point(2 * a * size, 2 * b * size), frame.point(a * size, b * size), 400, size)
        for a, b in corners
    ]
    return ap.Model(ground, (x, y, turn), [plate], springs, name="plate", start={x: 0.3 * size, turn: 0.4}, until=1.0)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_small_and_large_are_drawn_alike(size):
    """All lengths of a page are those of the same thing a metre wide, times its size."""

    def lengths(scene):
        data = scene_data(scene)
        (solid,) = data["solids"]
        return np.concatenate([np.ravel(part["points"]) for part in solid["parts"]]), data["reach"], data["size"]

    drawn, usual = (lengths(held_plate(s).draw()) for s in (size, 1.0))
    for mine, theirs in zip(drawn, usual, strict=True):
        np.testing.assert_allclose(np.array(mine) / size, theirs, rtol=1e-5, atol=1e-5)


def test_springs_are_held_where_they_are_fixed_in_the_ground():
    scene = held_plate(1.0).draw()
    held = {tuple(scene.values.points[k][0].round(9)) for k in scene.anchors}
    assert held == {(3.0, 2.2, 0.0), (-3.0, 2.2, 0.0), (-3.0, -2.2, 0.0), (3.0, -2.2, 0.0)}


@pytest.mark.heyoka
def test_what_grew_beyond_bounds_is_drawn():
    x = ap.coordinates("x", "m")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Force(x**3 * ground.x, body)], name="off", start={x: 1})
    motion = run(model, 10.0)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert "data-scene" in motion.animate().html()


@pytest.mark.parametrize(
    ("until", "clock", "moments"), [(1e-7, "24.83 ns", 150), (2.0, "0.497 s", 150), (5000.0, "1250 s", 20_000)]
)
def test_moments_are_written_as_the_run_is_long(until, clock, moments):
    from appell.view.picture import Camera, moment, picture

    scene = run(ap.library.pendulum_chain(1), until).animate()
    assert scene.values.times.size == moments
    assert picture(scene, moment(scene, None), Camera(scene)).clock == f"t = {clock}"


def test_a_scene_far_from_the_origin_keeps_its_digits():
    from appell.view.page import scene_data

    x, phi = ap.coordinates("x phi")
    ground = ap.Frame("ground")
    body = ap.RigidBody("far", 1, ground.point(1e7 + x, -3e7, 2e5), ground.rotate("z", phi), (1, 1, 2))
    scene = run(ap.Model(ground, (x, phi), [body], [], start={x.rate: 0.1, phi.rate: 1}), 2.0).animate()
    data = scene_data(scene)
    points = np.frombuffer(base64.b64decode(data["points"]), "<f4").reshape(scene.values.points.shape)
    steps = np.diff(points[scene.solids[0].point][:, 0])
    np.testing.assert_allclose(steps, 0.1 * np.diff(scene.values.times), rtol=0.01)
    assert np.linalg.norm(data["center"]) < 10 * scene.size


def test_what_spins_fast_has_moments_enough():
    angle = ap.coordinates("angle")
    ground = ap.Frame("ground")
    wheel = ap.RigidBody("wheel", 1, ground.point(0, 0), ground.rotate("y", angle), (1, 2, 1))
    turns = run(ap.Model(ground, angle, [wheel], [], start={angle.rate: 100.0}), 3.0).animate().values.turns[-1]
    step = np.arccos(np.clip((np.einsum("tij,tij->t", turns[1:], turns[:-1]) - 1) / 2, -1, 1))
    assert 0.5 < step.max() < 1.1


def test_a_title_stands_out_from_what_runs_under_it(disk):
    texts = disk.animate(frames=4).figure().axes[0].texts
    title = next(e for e in texts if e.get_text() == "rolling disk")
    assert title.get_path_effects()
    assert title.get_zorder() > max(e.get_zorder() for e in title.axes.collections)


def test_short_springs_are_thin():
    """A row of masses: the coils are slim against their own length, not against the row."""
    ground = ap.Frame("ground")
    x = ap.coordinates("x:20", "m")
    beads = [ap.Particle(f"bead {i}", 1.0, ground.point(i + q, 0)) for i, q in enumerate(x)]
    springs = [ap.Spring(a.center, b.center, 1.0, 1.0) for a, b in itertools.pairwise(beads)]
    scene = ap.Model(ground, x, beads, springs).draw()
    assert max(bar.radius for bar in scene.bars) <= 0.14
