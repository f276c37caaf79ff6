"""Scenes: wheels, blades, rods, shells and flywheels are drawn as what they are, where they touch and hang."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.view.anatomy import anatomy
from appell.view.outline import outline, sphere
from appell.view.surface import surface


def test_a_skate_stands_on_its_slope():
    """The floor is the plane of the contact, not a level one below it."""
    scene = ap.library.knife_edge().draw()
    slope = ap.library.knife_edge().values["alpha"]
    np.testing.assert_allclose(scene.ground, [np.sin(slope), 0, np.cos(slope)], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scene.up, [0, 0, 1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(scene.above(np.array([[0.0, 0.0, 2.0]])), [2.0], rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", ["knife_edge", "chaplygin_sleigh", "unicycle_curvature_rate", "leaking_sleigh"])
def test_blades_touch_the_floor_and_bodies_lie_on_them(name):
    scene = getattr(ap.library, name)().draw()
    body = scene.solids[0]
    turn, center = scene.values.turns[body.turn][0], scene.values.points[body.point][0]
    *plates, blade = [surface(p).vertices @ turn.T + center for p in body.parts]
    low, high = (blade @ scene.ground).min(), (blade @ scene.ground).max()
    np.testing.assert_allclose(low, scene.floor, rtol=0, atol=1e-12)
    heights = np.concatenate(plates) @ scene.ground
    assert low < heights.min() < heights.max() < high  # raised, and the blade is seen from above


def test_wagons_hang_on_what_pulls_them():
    x, y, first, second = ap.coordinates("x y first second")
    ground = ap.Frame("ground")
    fore, rear = ground.rotate("z", first), ground.rotate("z", second)
    hitch = ground.point(x, y)
    tractor = ap.RigidBody("tractor", 1.0, hitch + 0.2 * fore.x, fore, (0, 0, 0.1))
    wagon = ap.RigidBody("wagon", 1.0, hitch - 2.0 * rear.x, rear, (0, 0, 0.1))
    rows = [ap.Rolling(tractor, hitch, along=[fore.y]), ap.Rolling(wagon, wagon.center, along=[rear.y])]
    scene = ap.Model(ground, (x, y, first, second), [tractor, wagon], constraints=rows).draw()
    assert [p.kind for p in scene.solids[1].parts] == ["box", "capsule", "box"]
    np.testing.assert_allclose(scene.solids[1].parts[1].size[1], 2.0, rtol=1e-12, atol=0)


@pytest.mark.parametrize(("place", "opacity"), [(0.5, 0.32), (1.5, 1.0)])
def test_a_shell_is_glass_if_something_is_inside(place, opacity):
    """A bob on a rod of length 0.5 in a ball of radius 1 would not be seen; one of length 1.5 is."""
    x, y, swing = ap.coordinates("x y swing")
    attitude = ap.coordinates("e0 e1 e2 e3")
    ground = ap.Frame("ground")
    frame = ground.at(ground.point(x, y, 1.0)).rotate_quaternion(*attitude)
    shell = ap.RigidBody("shell", 1.0, frame.origin, frame, (0.5, 0.5, 0.5))
    bob = ap.Particle("bob", 1.0, frame.pin(swing, axis="x").point(0, 0, place))
    rolling = ap.Rolling(shell, ground.point(x, y))
    scene = ap.Model(ground, (x, y, *attitude, swing), [shell, bob], constraints=[rolling]).draw()
    assert [p.opacity for p in scene.solids[0].parts] == [opacity]
    faces = next(c for c in scene.figure(0.0).axes[0].collections if len(c.get_facecolor()) > 100)
    assert np.isclose(faces.get_facecolor()[:, 3].min(), opacity, rtol=0, atol=0.01)


def test_a_pulley_is_round_and_a_sledge_is_not():
    """Both are given by a moment about the normal of the plane; the pulley turns where it is."""
    x, y, turn = ap.coordinates("x y turn")
    ground = ap.Frame("ground")
    for place, kind in ((ground.point(0, 0), "wheel"), (ground.point(x, y), "box")):
        body = ap.RigidBody("body", 2.0, place, ground.rotate("z", turn), (0, 0, 0.25))
        (solid,) = ap.Model(ground, (x, y, turn), [body, ap.Particle("p", 1.0, ground.point(x, y))]).draw().solids[:1]
        assert [p.kind for p in solid.parts] == [kind]
        assert kind == "box" or np.isclose(solid.parts[0].size[0], 0.5, rtol=1e-12, atol=0)


def test_what_rolls_by_a_row_of_positions_is_as_large_as_it_says():
    """A hoop down a slope, a ball; a yo-yo, whose string is wound on an axle, is as large as a disk of its inertia."""
    s, turn = ap.coordinates("s turn", "m rad")
    ground, r = ap.Frame("ground"), 0.25
    slope = ground.weld(axis="z", angle=-0.4)
    for place, inertia, radius, kind in (
        (slope.point(s, r), (0, 0, r**2), r, "wheel"),
        (slope.point(s, r), [0.4 * r**2] * 3, r, "ball"),
        (ground.point(0, -s), (0, 0, 0.5), 1.0, "wheel"),
    ):
        body = ap.RigidBody("body", 1, place, ground.rotate("z", -turn), inertia)
        rolling = ap.Holonomic(2 * s - 2 * r * turn, "rolling")
        (solid,) = ap.Model(ground, (s, turn), [body], constraints=[rolling]).draw().solids
        assert solid.parts[0].kind == kind
        assert solid.parts[0].size[0] == pytest.approx(radius)


def test_a_nut_on_a_screw_is_no_wheel():
    s, turn, ground = *ap.coordinates("s turn", "m rad"), ap.Frame("ground")
    nut = ap.RigidBody("nut", 1, ground.point(0, 0, s), ground.rotate("z", turn), (2, 2, 0.001))
    lead = ap.Holonomic(s - 0.1 * turn, "lead")
    (solid,) = ap.Model(ground, (s, turn), [nut], constraints=[lead]).draw().solids
    assert [p.kind for p in solid.parts] == ["cylinder", "box", "box", "box"]


@pytest.mark.parametrize(("off", "kinds"), [(0.03, ["wheel"]), (0.09, ["capsule"])])
def test_an_eccentric_is_a_disk_and_what_is_hinged_far_out_is_a_rod(off, kinds):
    angle = ap.coordinates("angle", "rad")
    frame = ap.Frame("ground").pin(angle)
    body = ap.RigidBody("body", 2.0, frame.point(off, 0), frame, (0, 0, 2.0 * 0.08**2 / 2))
    (solid,) = ap.Model(frame.parent, angle, [body]).draw().solids
    assert [p.kind for p in solid.parts] == kinds
    assert kinds == ["capsule"] or solid.parts[0].size[0] == pytest.approx(0.08)


def test_what_rolls_on_a_cart_does_not_put_the_floor_into_it():
    s, x, turn = ap.coordinates("s x turn")
    ground = ap.Frame("ground")
    deck = ground.slide(s)
    cart = ap.RigidBody("cart", frame=deck, shape=ap.shapes.Box(1, 0.2, 0.4, mass=1).at(0, -0.1, 0))
    drum = ap.RigidBody("drum", 1.0, deck.point(x, 0.1), deck.rotate("z", -turn), (0, 0, 0.005))
    rolling = ap.Rolling(drum, deck.point(x, 0), on=cart)
    scene = ap.Model(ground, (s, x, turn), [cart, drum], [ap.Gravity(-9.81 * ground.y)], [rolling]).draw()
    assert scene.floor is None
    assert scene.view == "front"


def test_a_rod_in_turning_axes_is_drawn():
    x, y, z = ap.coordinates("x y z")
    ground = ap.Frame("ground")
    earth = ground.rotate("z", 0.1 * ap.t)
    bob = ap.Particle("bob", 1.0, earth.point(x, y, z))
    wire = ap.Holonomic(x**2 + y**2 + z**2 - 4, "wire")
    scene = ap.Model(ground, (x, y, z), [bob], constraints=[wire], start={z: -2.0}).draw()
    assert (len(scene.bars), len(scene.anchors)) == (1, 1)


@pytest.mark.parametrize("far", [1e-6, 0.0, 1.0, 1e6])
def test_a_point_by_itself_does_not_fill_the_picture(far):
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    bead = ap.Particle("bead", 1.0, ground.point(x, y))
    scene = ap.Model(ground, (x, y), [bead]).draw(start={x: far})
    assert scene.size == pytest.approx(far or 1.0)
    seen = outline(scene, sphere(50))
    assert np.ptp(seen, axis=0).max() > 10 * scene.solids[0].parts[0].size[0]


def test_a_rod_at_a_point_that_is_carried_along_is_drawn_but_none_from_where_a_wheel_touches():
    x, y, angle, spin = ap.coordinates("x y angle spin")
    ground = ap.Frame("ground")
    for start in (ground.point(0, sp.cos(ap.t)), ground.point(x, y)):  # a driven pivot, the middle of a dumbbell
        arm = ground.at(start).pin(angle)
        ends = [ap.Particle("one", 1, arm.point(0, 1)), ap.Particle("other", 1, arm.point(0, -1))]
        assert len(anatomy(ap.Model(ground, (x, y, angle), ends)).rods) == 2
    wheel = ap.RigidBody("wheel", 1, start + arm.z, arm.rotate("y", spin), (1, 2, 1))
    rolling = ap.Model(ground, (x, y, angle, spin), [wheel], constraints=[ap.Rolling(wheel, start)])
    assert not anatomy(rolling).rods


def test_flywheels_on_a_shaft_in_the_plane_are_seen_from_the_side_wherever_they_sit():
    first, second = ap.coordinates("first second")
    ground = ap.Frame("ground")
    wheels = [
        ap.RigidBody(str(q), 1, ground.point(place, 0), ground.rotate("x", q), (0.5, 0, 0))
        for q, place in ((first, 0), (second, 0.3))
    ]
    scene = ap.Model(ground, (first, second), wheels).draw()
    assert [[part.kind for part in solid.parts] for solid in scene.solids] == [["wheel"], ["wheel"]]
    assert scene.view == "floor"


def test_tasks_leave_the_path_of_the_point_that_they_are_about():
    first, second = ap.coordinates("first second")
    ground = ap.Frame("ground")
    lower = ground.pin(first).pin(second, at=(1, 0, 0))
    bodies = [ap.Particle("elbow", 1, lower.origin), ap.Particle("forearm", 1, lower.point(0.5, 0))]
    hand = lower.point(1, 0)
    tasks = [ap.planning.path_speed(hand, 1), ap.planning.curvature(hand, 2)]
    scene = ap.Model(ground, (first, second), bodies, [], tasks[:1], start={second: 1.0}).add(tasks[1]).draw()
    (trace,) = scene.traces
    np.testing.assert_allclose(scene.values.points[trace.point][0], [1 + np.cos(1), np.sin(1), 0], atol=1e-12)


def test_a_flywheel_has_marks_and_a_top_is_no_rod():
    lean, spin = ap.coordinates("lean spin")
    ground = ap.Frame("ground")
    frame = ground.pin(lean, axis="x")
    wheel = frame.pin(spin, axis="x", at=(0, 0, 1.0))
    pole = ap.RigidBody("pole", 1.0, frame.point(0, 0, 0.5), frame, (0.1, 0.1, 0.001))
    disk = ap.RigidBody("disk", 1.0, wheel.origin, wheel, (0.02, 0.01, 0.01))
    scene = ap.Model(ground, (lean, spin), [pole, disk]).draw()
    assert [s.parts[0].kind for s in scene.solids] == ["capsule", "wheel"]
    turned = ground.pin(spin)
    top = ap.RigidBody("top", 1.0, turned.point(0, 0, 0.5), turned, (0.01, 0.01, 0.02))
    (solid,) = ap.Model(ground, spin, [top]).draw().solids
    assert [p.kind for p in solid.parts] == ["wheel", "capsule"]


@pytest.mark.parametrize("share", [0.3, 0.8, 1.9])
@pytest.mark.parametrize("attitude", ["angles", "quaternion"])
def test_a_top_is_as_wide_and_high_as_a_cylinder_of_its_inertia(attitude, share):
    ground, q, angles = ap.Frame("ground"), ap.coordinates("e0 e1 e2 e3"), ap.coordinates("yaw lean spin")
    frame = ground.rotate_quaternion(*q) if attitude == "quaternion" else ground.rotate_body("zxz", *angles)
    m, A, C = 0.5, 5e-4, 5e-4 * share
    top = ap.RigidBody("top", m, frame.point(0, 0, 0.08), frame, (A, A, C))
    model = ap.Model(ground, q if attitude == "quaternion" else angles, [top], [ap.Gravity(-9.81 * ground.z)])
    (solid,) = model.draw().solids
    radius, height = solid.parts[0].size
    assert solid.parts[0].kind == ("wheel" if share > 1 else "cylinder")
    assert m * radius**2 / 2 == pytest.approx(C)
    assert m * (3 * radius**2 + height**2) / 12 == pytest.approx(A)
    assert [p.kind for p in solid.parts].count("capsule") == 1  # down to where it turns
    assert share > 1 or [p.kind for p in solid.parts].count("box") == 3  # marks, by which the spin is seen


def test_a_ball_rolls_down_the_slope_it_touches():
    """Along a line: the slope rises along it and is level across it."""
    s, turn = ap.coordinates("s turn", "m rad")
    ground = ap.Frame("ground")
    slope = ground.rotate("y", 0.3)
    ball = ap.RigidBody("ball", 1.0, slope.point(s, 0, 0.1), slope.rotate("y", turn), (0.004, 0.004, 0.004))
    rolling = ap.Rolling(ball, slope.point(s, 0))
    scene = ap.Model(ground, (s, turn), [ball], [ap.Gravity(-9.81 * ground.z)], [rolling], name="ball").draw()
    np.testing.assert_allclose(scene.ground, [np.sin(0.3), 0, np.cos(0.3)], rtol=0, atol=1e-12)
    assert scene.floor == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("written", ["norm", "root", "cross"])
def test_a_coin_with_a_quaternion_is_a_wheel_on_the_floor(written):
    """Its axis is that on which the contact never lies, its radius constant where the quaternion has length one."""
    place, e = ap.coordinates("x y z"), ap.coordinates("e0:4")
    ground = ap.Frame("ground")
    frame = ground.free(*place, *e)
    coin = ap.RigidBody("coin", 2, frame.origin, frame, (0.125, 0.25, 0.125))
    axis, up = frame.y, ground.z
    level = axis.dot(up)
    down = {
        "norm": (up - axis * level) / (up - axis * level).norm,
        "root": (up - axis * level) / sp.sqrt(1 - level**2),
        "cross": axis.cross(up).cross(axis) / axis.cross(up).norm,
    }[written]
    contact = coin.center - 0.5 * down
    rows = [ap.Rolling(coin, contact, along=[ground.x, ground.y]), ap.Holonomic(contact.dot(up), "touch")]
    model = ap.Model(ground, (*place, *e), [coin], [ap.Gravity(-9.81 * up)], rows)
    scene = model.draw(start={place[2]: 0.5, e[0]: 0.98, e[1]: 0.2})
    (wheel,) = scene.solids[0].parts
    assert (wheel.kind, wheel.size[0]) == ("wheel", pytest.approx(0.5))
    np.testing.assert_allclose(np.abs(wheel.turn[:, 2]), [0, 1, 0], rtol=0, atol=1e-12)
    assert abs(scene.floor) < 1e-9
