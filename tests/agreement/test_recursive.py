"""Recursive elimination gives what the dense formulations give, on trees of every sort."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError
from appell.model.frame import Vector

TOLERANCE = 1e-12


def _many(letter: str, count: int) -> str:
    return " ".join(f"{letter}{i}" for i in range(1, count + 1))


def _body(name: str, frame: ap.Frame, at: Vector, size: float) -> ap.RigidBody:
    """A body without any symmetry."""
    inertia = (0.3 * size, 0.5 * size, 0.4 * size, 0.02 * size, -0.03 * size, 0.01 * size)
    return ap.RigidBody(name, size, at, frame, inertia)


def planar_chain() -> ap.Model:
    """Ten rods in relative angles."""
    return ap.library.pendulum_chain(10)


def absolute_chain() -> ap.Model:
    """Ten point masses whose frames all hang from the ground."""
    return ap.library.pendulum_chain(10, "absolute", "points")


def spatial_arm() -> ap.Model:
    """Hinges about all axes, also oblique and parallel ones, and prismatic joints, with friction and torques."""
    q = ap.coordinates(_many("q", 8))
    w = ap.inputs(_many("w", 8))
    g, k = ap.parameters("g k")
    ground = ap.Frame("ground")
    one = ground.pin(q[0], "z", (0.1, 0.2, 0.3))
    two = one.pin(q[1], "y", (0.1, 0, 0.4))
    three = two.pin(q[2], "-y", (0.5, 0, 0.1))
    slider = three.slide(q[3], "x", (0.2, 0.1, 0))
    four = slider.pin(q[4], (1, 2, k), (0.1, 0, 0))
    five = four.weld((0.2, 0, 0.1), "x", 0.4).pin(q[5], "y", (0, 0.1, 0))
    last = five.slide(q[6], (0, 1, 1)).pin(sp.sin(q[7]) + 2 * q[7], "x")
    frames = (one, two, three, slider, four, five, last)
    bodies = [_body(f"b{i}", f, f.point(0.1, 0.05 * i, -0.1), 1 + 0.2 * i) for i, f in enumerate(frames)]
    forces = [
        ap.Gravity(-g * ground.z),
        ap.Generalized({c: u - 0.1 * c.rate for c, u in zip(q, w, strict=True)}),
        ap.Torque(0.3 * five.x + q[0] * ground.y, bodies[5], bodies[2]),
        ap.Force(2 * ground.x - three.y * q[1].rate, last.point(0.1, 0, 0.3)),
        ap.Force(five.z, bodies[4].center + 0.2 * four.y, bodies[4]),
        ap.Spring(ground.point(1, 1, 1), last.origin, 3.0, 0.5),
        ap.Damper(ground.point(1, 0, 1), four.origin, 0.4),
    ]
    return ap.Model(ground, q, bodies, forces)


def branching_tree() -> ap.Model:
    """A trunk with two arms, one of which forks again; universal and spherical joints; wheels; a particle."""
    q = ap.coordinates(_many("q", 11))
    ground = ap.Frame("ground")
    trunk = ground.universal(q[0], q[1])
    left = trunk.spherical(q[2], q[3], q[4], at=(0.5, 0, 1))
    right = trunk.pin(q[5], "x", (-0.5, 0, 1))
    thumb, finger = right.pin(q[6], "y", (0, 0.1, 0.5)), right.pin(q[7], "z", (0, -0.1, 0.5))
    nail = finger.pin(q[8], "z", (0.3, 0, 0))
    wheel = left.pin(q[9], "y", (0.2, 0, 0))
    bodies: list[ap.Particle | ap.RigidBody] = [
        _body(name, f, f.point(0.05, 0.1, 0.3), size)
        for name, f, size in (("trunk", trunk, 3.0), ("left", left, 1.0), ("right", right, 1.2), ("thumb", thumb, 0.2))
    ]
    bodies.append(_body("finger", finger, finger.point(0.1, 0, 0), 0.3))
    bodies.append(_body("nail", nail, nail.point(0.1, 0, 0), 0.1))
    bodies.append(ap.RigidBody("wheel", 0.5, wheel.origin, wheel, (0.02, 0.03, 0.02)))
    bodies.append(ap.Particle("bead", 0.4, nail.point(q[10], 0.2, 0)))
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.z)])


def floating_base() -> ap.Model:
    """A free body with two arms, attitude in angles."""
    q = ap.coordinates("x y z a b c d e")
    ground = ap.Frame("ground")
    base = ground.free(*q[:6])
    arm, other = base.pin(q[6], "y", (1, 0, 0)), base.pin(q[7], "x", (-1, 0, 0.2))
    bodies = [_body("base", base, base.origin, 5.0), _body("arm", arm, arm.point(0.5, 0, 0), 1.0)]
    bodies.append(_body("other", other, other.point(0, 0.5, 0), 0.7))
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.z), ap.Force(ground.x, arm.point(1, 0, 0))])


def driven_table() -> ap.Model:
    """A double pendulum on a table that turns and heaves as prescribed."""
    a, b = ap.coordinates("a b")
    ground = ap.Frame("ground")
    table = ground.rotate("z", 2 * ap.t + 0.1 * ap.t**2).at(ground.point(0, 0, sp.sin(3 * ap.t)))
    one = table.pin(a, "x", (1, 0, 0))
    two = one.pin(b, "y", (0, 0, -1))
    bodies = [_body("one", one, one.point(0, 0, -0.5), 1.0), _body("two", two, two.point(0, 0, -0.5), 1.0)]
    return ap.Model(ground, (a, b), bodies, [ap.Gravity(-9.81 * ground.z)])


def draining() -> ap.Model:
    """Masses and centres that change with an extra state, and with time."""
    q = ap.coordinates(_many("q", 3))
    tank = ap.states("tank")
    ground = ap.Frame("ground")
    one = ground.pin(q[0], "y")
    two = one.pin(q[1], "y", (1, 0, 0))
    three = two.pin(q[2], "x", (1, 0, 0))
    bodies = [
        _body("one", one, one.point(0.5, 0, 0), 1.0),
        ap.RigidBody("two", tank, two.point(0.5, 0, tank / 4), two, (tank / 5, tank / 6, tank / 7)),
        ap.RigidBody("three", 2 - ap.t / 9, three.point(0.5, 0, 0.1), three, (0.2, 0.1, 0.3)),
    ]
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.z)], states={tank: -0.1})


FREE = (planar_chain, absolute_chain, spatial_arm, branching_tree, floating_base, driven_table, draining)


@pytest.mark.parametrize("make", FREE, ids=lambda make: make.__name__)
def test_trees(make: Callable[[], ap.Model]) -> None:
    model = make()
    values = {s.label: 0.6 + 0.15 * i for i, s in enumerate((*model.parameters, *model.inputs))}
    recursive = ap.compile(ap.derive(model, ap.Recursive()), "casadi").bind(values)
    dense = ap.compile(ap.derive(model, ap.GibbsAppell()), "casadi").bind(values)
    rng = np.random.default_rng(5)
    for t in (0.0, 0.4, 1.3):
        x = rng.uniform(-1.0, 1.0, len(dense.equations.states))
        x[2 * len(model.coordinates) :] += 2.0  # a tank is not empty
        ours, theirs = recursive.rhs(t, x), dense.rhs(t, x)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=TOLERANCE * np.max(np.abs(theirs)))


def quaternion_base() -> ap.Model:
    """A free body in a unit quaternion with an arm; a spring at its side sees the quaternion as well."""
    q = ap.coordinates("x y z e0 e1 e2 e3 d")
    ground = ap.Frame("ground")
    base = ground.free(*q[:7])
    arm = base.pin(q[7], "y", (1, 0, 0))
    bodies = [_body("base", base, base.origin, 5.0), _body("arm", arm, arm.point(0.5, 0, 0), 1.0)]
    forces = [ap.Gravity(-9.81 * ground.z), ap.Spring(ground.point(0, 0, 1), arm.point(1, 0, 0), 7.0)]
    start = {"e0": 1.0}
    return ap.Model(ground, q, bodies, forces, start=start)


def closed_loop() -> ap.Model:
    """Six hinges in a plane whose end is held: a seven-bar linkage."""
    q = ap.coordinates(_many("q", 6))
    ground = ap.Frame("ground")
    frame, end, bodies = ground, ground.point(0, 0), []
    for i, angle in enumerate(q):
        frame = frame.rotate("z", angle)
        bodies.append(ap.RigidBody(f"rod {i}", 1.0, end + frame.x / 2, frame, (0, 1 / 12, 1 / 12)))
        end = end + frame.x
    loop = ap.Holonomic(end - ground.point(3, 1), "loop")
    start = dict(zip(q, (1.2, -0.4, -0.7, -0.4, -0.6, 0.1), strict=True))
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.y)], [loop], start=start)


def rolling_cart() -> ap.Model:
    """A planar cart with a knife edge, carrying a spatial double pendulum."""
    q = ap.coordinates("x y yaw a b")
    ground = ap.Frame("ground")
    cart = ground.planar(*q[:3])
    one = cart.pin(q[3], "x", (0, 0, 1))
    two = one.pin(q[4], "y", (0, 0, -1))
    bodies = [_body("cart", cart, cart.point(0.2, 0, 0.3), 4.0)]
    bodies += [_body(f"rod {i}", f, f.point(0, 0, -0.5), 1.0) for i, f in enumerate((one, two))]
    edge = ap.Nonholonomic(cart.y.dot(bodies[0].velocity_at(cart.origin)), "edge")
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.z)], [edge])


@pytest.mark.parametrize("make", [quaternion_base, closed_loop, rolling_cart], ids=lambda make: make.__name__)
def test_constraints_on_top(make: Callable[[], ap.Model]) -> None:
    found = ap.verify(make(), states=4)
    pairs = {pair: value for pair, value in found.pairs.items() if ap.Recursive.name in pair}
    assert len(pairs) >= 2
    assert max(pairs.values()) < TOLERANCE


def test_matrices_belong_to_the_solution() -> None:
    """A and b are made when somebody asks, and give the accelerations that the recursion gave."""
    system = ap.compile(ap.derive(closed_loop(), ap.Recursive()), "casadi")
    x = np.random.default_rng(2).uniform(-1.0, 1.0, 12)
    y = np.linalg.solve(system.mass_matrix(0.0, x), system.forcing(0.0, x))
    np.testing.assert_allclose(y, system.rhs(0.0, x)[6:], rtol=0, atol=1e-11 * np.max(np.abs(y)))


def test_operations_grow_linearly() -> None:
    counts = [ap.derive(ap.library.pendulum_chain(n), ap.Recursive()).operations for n in (10, 20, 40)]
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0])
    assert counts[2] < 100 * 40


def test_refuses_by_name() -> None:
    with pytest.raises(FormulationError, match=r"'four-bar linkage' it is singular: .*q3.* Use GibbsAppell"):
        ap.derive(ap.library.four_bar(), ap.Recursive())


def test_a_body_on_which_nothing_acts() -> None:
    """Its acceleration is a number, zero, and no formula."""
    angle, ground = ap.coordinates("angle"), ap.Frame("ground")
    frame = ground.rotate("z", angle)
    model = ap.Model(ground, angle, [ap.RigidBody("rotor", 1, ground.point(0, 0), frame, (1, 1, 2))])
    assert ap.derive(model, ap.Recursive()).operations == 0
    assert ap.verify(model).ok
