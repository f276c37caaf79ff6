"""Ropes over pulleys and struts across hinges: what is drawn between points is where it is, or not drawn."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

x, y, a, b = ap.coordinates("x y a b", "m")
angle, turn = ap.coordinates("angle turn", "rad")
R = 0.3
ground = ap.Frame("ground")
boom = ground.pin(angle, at=(0, 1, 0))
BOOM = [ap.RigidBody("boom", 100, boom.point(1.5, 0), boom, (0, 0, 75)), ap.Particle("load", 5, boom.point(3, 0))]
RING, BLOCK = ap.Particle("ring", 1, ground.point(x, y)), ap.Particle("block", 1, ground.point(x, 0))
LEFT, RIGHT = ap.Particle("left", 2, ground.point(-R, -a)), ap.Particle("right", 1, ground.point(R, -b))
HUNG = ap.Particle("hung", 1, ground.point(0, 0, -a))
SLOW = 2.5 + 0.1 * sp.sin(ap.t)
CASES = {
    "a ring on a rope": ((x, y), [RING], {x: 0.5, y: 1.4}, [(RING.center, ground.origin), (RING.center, ground.x)], 3),
    "a string through a hole": ((x, y, a), [RING, HUNG], {x: 1.0, a: 2.0}, [(RING.center, ground.origin)], 3 - a),
    "Atwood's machine": (
        (a, b),
        [LEFT, RIGHT],
        {a: 1.0, b: 2.0},
        [(LEFT.center, ground.point(-R, 0)), (RIGHT.center, ground.point(R, 0))],
        3,
    ),
    "a rope from the tip of a boom": (angle, BOOM, {angle: 0.5}, [(BOOM[1].center, ground.point(0.8, 0.3))], SLOW),
}


def drawn(q, bodies, row, start, points=()):
    """The pairs of points between which something without mass is drawn, and where the given points are."""
    model = ap.Model(ground, q, bodies, constraints=[ap.Holonomic(row, "rope")])
    scene = model.draw(start=start, look=ap.view.Look(traces={str(k): e for k, e in enumerate(points)}))
    at = scene.values.points[:, 0]
    return [at[[bar.a, bar.b]] for bar in scene.bars], [at[trace.point] for trace in scene.traces]


def ordered(pairs):
    return sorted(sorted(map(tuple, np.round(pair, 6) + 0.0)) for pair in pairs)


@pytest.mark.parametrize("case", CASES)
def test_the_straight_pieces_of_a_rope_are_drawn(case):
    q, bodies, start, pieces, length = CASES[case]
    row = sum((end - other).norm for end, other in pieces) - length
    found, places = drawn(q, bodies, row, start, [end for piece in pieces for end in piece])
    assert ordered(found) == ordered(zip(places[::2], places[1::2], strict=True))


def test_ends_that_a_row_does_not_tell_are_not_drawn():
    """About one hinge other points of the boom do as well, with other points of the ground; so it is on a straight way.

    Written as a square, also the factor and the constant are open: a rod from the load would have the wrong length.
    """
    foot, lug, post = ground.point(0.8, 0.3), boom.point(1.2, -0.1), ground.point(0, 1)
    for q, bodies, gap, start in (
        (angle, BOOM, lug - foot, {angle: 0.5}),
        (x, [BLOCK], BLOCK.center - post, {x: 2.3}),
    ):
        for row in (gap.norm - SLOW, gap.dot(gap) - SLOW**2):
            assert drawn(q, bodies, row, start)[0] == []


def test_a_rope_pulls_as_hard_on_both_sides():
    """Atwood's machine without a pulley of mass, T = 2 M m g / (M + m); two strands on a load count twice."""
    for strands in (1, 2):
        sides = (LEFT.center - ground.point(-R, 0)).norm, (RIGHT.center - ground.point(R, 0)).norm
        rope = ap.Holonomic(sides[0] + strands * sides[1] - 5, "rope")
        model = ap.Model(ground, (a, b), [LEFT, RIGHT], [ap.Gravity(-9.81 * ground.y)], [rope], start={a: 1.0, b: 2.0})
        system = ap.compile(ap.derive(model)).bind()
        scene = ap.simulate(system, system.consistent({a: 1.0}, {b: 2.0}), until=0.2).animate()
        tension = (
            2 * 9.81 * (1 + strands) / (1 + 2 * strands**2)
        )  # 2 a'' = 2 g - T, b'' = g - strands T, a'' = -strands b''
        pulls = {
            round(float(scene.values.points[e.at][0][0]), 3): scene.values.vectors[e.vector]
            for e in scene.arrows
            if e.kind == "reaction"
        }
        assert set(pulls) == {-0.3, 0.3}
        for side, count in ((-0.3, 1), (0.3, strands)):
            np.testing.assert_allclose(pulls[side] - [0, count * tension, 0], 0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("wheel", "eyes"), [(True, 0), (False, 2)])
def test_a_rope_that_leaves_a_pulley_is_held_by_no_ring(wheel, eyes):
    pulley = [ap.RigidBody("pulley", 1, ground.origin, ground.pin(turn), (0, 0, R**2 / 2))] if wheel else []
    rope = ap.Holonomic((LEFT.center - ground.point(-R, 0)).norm + (RIGHT.center - ground.point(R, 0)).norm - 3)
    q = (a, b, turn) if wheel else (a, b)
    scene = ap.Model(ground, q, [LEFT, RIGHT, *pulley], constraints=[rope]).draw(start={a: 1, b: 2})
    assert len(scene.joints) == eyes


def carried_by_strings():
    """Models in polar coordinates, and the ends of what carries a body along the axis that turns."""
    hand = ground.pin(angle)
    trolley = ap.Particle("trolley", 1, ground.point(x, 0))
    load = ap.Particle("load", 1, trolley.center + hand.point(0, -a))
    bead = ap.Particle("bead", 1, hand.point(a, 0))
    weight, on_axis = -9.81 * ground.y, ap.Particle("on axis", 1, ground.point(0, 0, b) + hand.point(a, 0))
    winch, other = ap.Generalized({a: -ap.inputs("pull")}), ap.Particle("counterweight", 3, ground.point(1, a - 3))
    attraction = ap.Force(-hand.x / a**2, bead)
    spiral, reeled = ap.Holonomic(a - 0.1 * angle), ap.Prescribed(a, 1 + ap.t)
    string, none = (ground.origin, bead.center), None
    return {
        "a crane": ((x, angle, a), [trolley, load], [ap.Gravity(weight), winch], [], (trolley.center, load.center)),
        "a swinging Atwood machine": ((angle, a), [bead, other], [ap.Gravity(weight)], [], string),
        "a bead on a rod": ((angle, a), [bead], [], [], string),
        "reeled in": ((angle, a), [bead], [], [reeled], string),
        "a planet": ((angle, a), [bead], [attraction], [], none),
        "a planet by its potential": ((angle, a), [bead], [ap.Potential(-1 / a)], [], none),
        "a bead on a spiral": ((angle, a), [bead], [], [spiral], none),
        "cylindrical coordinates": ((angle, a, b), [on_axis], [], [], none),
    }


@pytest.mark.parametrize("case", carried_by_strings())
def test_a_string_is_drawn_by_which_a_turning_axis_carries_a_body(case):
    q, bodies, forces, rows, ends = carried_by_strings()[case]
    start = {x: 0.5, angle: 0.4, a: 1.2, b: 0.3}
    look = ap.view.Look(traces=dict(zip("ab", ends or (), strict=False)))
    scene = ap.Model(ground, q, bodies, forces, rows).draw(start={s: start[s] for s in q}, look=look)
    at = scene.values.points[:, 0]
    expected = [[at[trace.point] for trace in scene.traces]] if ends else []
    assert ordered(at[[bar.a, bar.b]] for bar in scene.bars) == ordered(expected)


def test_a_spring_takes_the_place_of_the_string_along_it():
    bob = ap.Particle("bob", 1, ground.pin(angle).point(0, -a))
    spring = ap.Spring(ground.origin, bob.center, 40, 1)
    assert [bar.kind for bar in ap.Model(ground, (angle, a), [bob], [spring]).draw(start={a: 1}).bars] == ["spring"]
