"""Arrows of reactions: the force itself, whatever the coordinates are, at what it acts on."""

import numpy as np

import appell as ap


def reaction(model, until=1.0):
    """Where the only reaction acts, and the force, over time."""
    scene = ap.simulate(ap.compile(ap.derive(model)), until=until, points=51, progress=False).animate()
    (arrow,) = [a for a in scene.arrows if a.kind == "reaction"]
    return scene.values.points[arrow.at], scene.values.vectors[arrow.vector]


def test_a_rod_pulls_along_itself_in_cylindrical_coordinates():
    place, force = reaction(ap.library.conical_pendulum())
    np.testing.assert_allclose(np.cross(place, force), 0, rtol=0, atol=3e-3)  # about the pivot
    assert np.all(np.sum(place * force, axis=1) < 0)


def test_a_guide_of_a_load_acts_on_the_load_and_not_on_its_trolley():
    x, angle = ap.coordinates("x angle", "m rad")
    ground = ap.Frame("ground")
    trolley = ap.Particle("trolley", 1.0, ground.point(x))
    load = ap.Particle("load", 2.0, trolley.center + ground.rotate("z", angle).point(0, -1))
    along, up = (load.center.dot(axis) for axis in (ground.x, ground.y))
    guide = ap.Holonomic(up + along / 2, "guide")
    model = ap.Model(
        ground, (x, angle), [trolley, load], [ap.Gravity(-10 * ground.y)], [guide], start={x: 1.5, angle: 0.2}
    )
    place, force = reaction(model, 0.2)
    np.testing.assert_allclose(place[:, 1], -place[:, 0] / 2, rtol=0, atol=1e-9)
    np.testing.assert_allclose(force[:, 0], force[:, 1] / 2, rtol=1e-9, atol=0)


def test_bodies_with_coordinates_of_their_own_are_held_at_their_joints():
    """Two rods that hang on each other, by rows: at the upper pin the force is what moves both, and their weight."""
    ground = ap.Frame("ground")
    end, letters, rods, pins = ground.point(0.5, 1), [], [], []
    for k in "12":
        x, y, angle = ap.coordinates(f"x{k} y{k} a{k}", "m m rad")
        frame, center = ground.rotate("z", angle), ground.point(x, y)
        rods.append(ap.RigidBody(f"rod {k}", 2.0, center, frame, (0, 0, 0.2)))
        pins.append(ap.Holonomic(end - center + 0.5 * frame.x, f"pin {k}"))
        end = center + 0.5 * frame.x
        letters += [x, y, angle]
    start = {"x1": 1.0, "y1": 1.0, "x2": 2.0, "y2": 1.0}
    model = ap.Model(ground, letters, rods, [ap.Gravity(-10 * ground.y)], pins, name="links", start=start)
    motion = ap.simulate(ap.compile(ap.derive(model)), until=1.0, points=51, progress=False)
    scene = motion.animate()
    upper, lower = (a for a in scene.arrows if a.kind == "reaction")
    points, vectors, times = scene.values.points, scene.values.vectors, scene.values.times
    np.testing.assert_allclose(points[upper.at], np.tile([0.5, 1, 0], (times.size, 1)), atol=1e-6)
    first = motion.evaluate(letters[2], times)
    tip = np.array([0.5 + np.cos(first), 1 + np.sin(first), 0 * first]).T
    np.testing.assert_allclose(points[lower.at], tip, atol=1e-4)
    carried = sum(2.0 * motion.evaluate(q.rate.rate, times) for q in (letters[1], letters[4])) + 40.0
    np.testing.assert_allclose(vectors[upper.vector][:, 1], carried, rtol=0.02)  # between few moments a line
    (anchor,) = scene.anchors
    np.testing.assert_allclose(points[anchor][0], [0.5, 1, 0], atol=1e-9)
