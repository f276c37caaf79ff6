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
