"""Rods without mass: rows that keep two points apart are drawn between them, and their forces lie along them."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

LENGTH = 1.3
X = x, y, z = ap.coordinates("x y z", "m")
E = ap.coordinates("e0 e1 e2 e3")
crank, rocker = ap.coordinates("crank rocker", "rad")
ground = ap.Frame("ground")
plate = ground.free(*X, *E)
tilted = ground.weld(at=(0.2, 0, 0.5), axis=(1, 1, 0), angle=0.7)
arm, lever = tilted.pin(crank, "z"), ground.pin(rocker, "y", at=(1.2, 0.3, 0))
carousel = ground.rotate("z", 2 * ap.t).rotate("x", 0.1)
PLATE = ap.RigidBody("plate", 3.0, plate.point(0.1, 0, 0), plate, (0.1, 0.1, 0.2))
ARM = ap.RigidBody("arm", 1.0, arm.point(0.2, 0, 0), arm, (0.001, 0.02, 0.02))
LEVER = ap.RigidBody("lever", 1.0, lever.point(0, 0, 0.2), lever, (0.02, 0.02, 0.001))
WIRE = ap.Particle("wire", 1.0, ground.point(rocker, 0, -sp.sqrt(1 - rocker**2)))
BOB = ap.Particle("bob", 1.0, carousel.point(x, y, z))
JOINTS = ap.coordinates("q1:8", "rad")
LINKS = []
for k, joint in enumerate(JOINTS):
    seat = LINKS[-1].frame if LINKS else ground
    link = seat.pin(joint, "xyz"[k % 3], at=(0, 0, 0.3))
    LINKS.append(ap.RigidBody(f"link {k}", 1.0, link.point(0, 0.05, 0.1), link, (0.01, 0.01, 0.001)))
CASES = {
    "a plate and the ground": ((*X, *E), [PLATE], plate.point(0.3, 0.1, 0.2), ground.point(0.5, -0.2, 0.1)),
    "two hinged links": ((crank, rocker), [ARM, LEVER], arm.point(0.4, 0.1, -0.2), lever.point(0, 0.1, 0.4)),
    "a plate and a hinged link": ((*X, *E, crank), [PLATE, ARM], plate.point(0.3, 0, 0), arm.point(0.4, 0, 0.1)),
    "two links of a chain": (JOINTS, LINKS, LINKS[1].center, LINKS[5].frame.point(0.1, 0, 0.3)),
    "a bead on a wire": ((rocker, *X, *E), [WIRE, PLATE], plate.point(0.3, 0, 0), WIRE.center),  # not everywhere
    "a bob on a carousel": (X, [BOB], BOB.center, carousel.point(0.5, 0, 1.0)),
}
WRITTEN = {
    "norm": lambda gap: gap.norm - LENGTH,
    "dot": lambda gap: (gap.dot(gap) - LENGTH**2) / 2,
    "components": lambda gap: LENGTH**2 - sum(e**2 for e in ground.components(gap)),
    "root": lambda gap: sp.sqrt(gap.dot(gap)) / LENGTH - 1,
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("case", CASES)
def test_a_rod_ends_at_the_points_that_its_row_keeps_apart(case, written):
    q, bodies, a, b = CASES[case]
    row = ap.Holonomic(WRITTEN[written](a - b), "rod")
    scene = ap.Model(
        ground, q, bodies, constraints=[row], start={E[0]: 1, x: 0.3, z: 1.0, crank: 0.4, **dict.fromkeys(JOINTS, 0.3)}
    ).draw(look=ap.view.Look(traces={"a": a, "b": b}))
    ends = [scene.values.points[e.point][0] for e in scene.traces]
    bars = [[scene.values.points[k][0] for k in (bar.a, bar.b)] for bar in scene.bars if bar.name == "rod"]
    lengths = [np.linalg.norm(one - other) for one, other in bars]
    assert lengths.count(pytest.approx(LENGTH, rel=1e-8)) == 1  # a carousel has a massless arm as well
    rod = bars[int(np.argmin(np.abs(np.array(lengths) - LENGTH)))]
    np.testing.assert_allclose(sorted(map(tuple, rod)), sorted(map(tuple, ends)), rtol=0, atol=1e-8)
    assert not scene.curves


def test_rows_that_are_no_distances_are_no_rods():
    """Axes at right angles about one point, where lengths may be anything; heights, sums of angles, an ellipse."""
    u, v, w, s = ap.coordinates("u v w s")
    upper = ground.spherical(*E)
    lower = upper.spherical(u, v, w)
    upper_body = ap.RigidBody("upper", 1, upper.origin, upper, (1, 2, 2.5))
    lower_body = ap.RigidBody("lower", 1, lower.origin, lower, (1, 2, 2.5))
    bead = ap.Particle("bead", 1, ground.point(x, y))
    for row in (
        upper.x.dot(lower.y),
        (upper.x + lower.y).dot(upper.x + lower.y) - 2,
        upper.z.dot(ground.x),
        u + v - 0.1,
        x**2 + 2 * y**2 - 1,
        x * y - 1,
        s - x**2 - y**2,
        bead.center.norm - (bead.center - ground.x).norm - 0.3,  # a hyperbola
        bead.center.norm - 2 - sp.cos(s),
        bead.center.norm + sp.sqrt((s - 0.3) ** 2 + x**2) - 3,  # of which one piece alone is between two points
        sp.sqrt((x - 0.3) ** 2 + y**2) - sp.atan2(y, x),
    ):
        model = ap.Model(
            ground,
            (*E, u, v, w, x, y, s),
            [upper_body, lower_body, bead, ap.Particle("slider", 1, s * ground.z)],
            constraints=[ap.Holonomic(row, "row")],
        )
        assert not model.draw(start={E[0]: 1, x: 1.0, y: 1.0, s: 2.0}).bars, row


@pytest.mark.parametrize("constant", [1, ap.parameters("h", "m") ** 2])
def test_what_is_less_than_a_sum_of_squares_is_drawn_as_well(constant):
    """A bob at the end of a rod whose foot is the least of the points that it could have: in the plane."""
    bob = ap.Particle("bob", 1, ground.point(x, y))
    row = ap.Holonomic(sp.sqrt(x**2 + y**2 - constant) - 2, "row")
    scene = ap.Model(ground, (x, y), [bob], constraints=[row]).draw(
        values={"h": 1.0} if constant != 1 else {}, start={x: 2}
    )
    (rod,) = scene.bars
    lengths = np.linalg.norm(scene.values.points[rod.a] - scene.values.points[rod.b], axis=1)
    np.testing.assert_allclose(lengths, np.sqrt(5), rtol=1e-9)


@pytest.mark.parametrize("rows", ["one by one", "in a list"])
def test_forces_of_rods_lie_along_them_and_carry_the_plate(rows):
    """A plate on three ropes: m a = m g + the sum of the arrows, each along its rope, at the plate."""
    m, radius = 3.0, 0.5
    corners = [(radius * np.cos(k), radius * np.sin(k)) for k in (0.3, 2.4, 4.5)]
    gaps = [plate.point(a, b) - ground.point(0.8 * a, 1.1 * b, 2.0) for a, b in corners]
    ropes = [gap.dot(gap) - 1.44 for gap in gaps]
    held = [ap.Holonomic(ropes, "rope")] if rows == "in a list" else [ap.Holonomic(e, "rope") for e in ropes]
    model = ap.Model(ground, (*X, *E), [PLATE], [ap.Gravity(-9.81 * ground.z)], held, name="hung")
    system = ap.compile(ap.derive(model)).bind()
    start = system.consistent({x.rate: 0.4, E[3].rate: 0.3}, {E[0]: 1, z: 0.8})
    motion = ap.simulate(system, start, until=0.2)
    scene = motion.animate()
    arrows = [e for e in scene.arrows if e.kind == "reaction"]
    assert len(arrows) == len(scene.bars) == 3
    total = sum(scene.values.vectors[e.vector][0] for e in arrows)
    slope = 1e-4
    speeds = [
        motion.evaluate(ground.components(PLATE.center.dt(ground))[k], np.array([0, slope, 2 * slope]))
        for k in range(3)
    ]
    acceleration = [(-3 * a + 4 * b - c) / (2 * slope) for a, b, c in speeds]
    np.testing.assert_allclose(total, m * np.add(acceleration, [0, 0, 9.81]), rtol=0, atol=1e-5)
    for bar in scene.bars:
        one, other = (scene.values.points[k][0] for k in (bar.a, bar.b))
        (at,) = [e for e in arrows if np.allclose(scene.values.points[e.at][0], min(one, other, key=lambda e: e[2]))]
        force = scene.values.vectors[at.vector][0]
        np.testing.assert_allclose(np.cross(force, one - other), 0, rtol=0, atol=1e-9)
