"""Points of bodies that rows join."""

from __future__ import annotations

import numpy as np
import pytest

import appell as ap
from appell.kinematics.joined import joined

VALUES = {"m": 1.3, "l": 0.8, "g": 9.81}


def links(count: int, backwards: bool = False) -> ap.Model:
    """Rods in a plane that hang on each other, with three coordinates each."""
    m, l, g = ap.parameters("m l g")
    ground = ap.Frame("ground")
    end, letters, rods, pins = ground.point(0, 0), [], [], []
    for k in range(count):
        x, y, angle = ap.coordinates(f"x{k} y{k} a{k}")
        frame, center = ground.rotate("z", angle), ground.point(x, y)
        rods.append(ap.RigidBody(f"rod {k}", m, center, frame, (0, 0, m * l**2 / 12)))
        pins.append(ap.Holonomic(center - l / 2 * frame.x - end, name=f"pin {k}"))
        end = center + l / 2 * frame.x
        letters += [x, y, angle]
    pins = pins[::-1] if backwards else pins
    return ap.Model(ground, letters, rods, [ap.Gravity(-g * ground.y)], pins, name="links", values=VALUES)


def hanging(count: int) -> ap.Model:
    """The same with an angle each."""
    m, l, g = ap.parameters("m l g")
    ground = ap.Frame("ground")
    end, rods, angles = ground.point(0, 0), [], ap.coordinates(f"a:{count}")
    for k, angle in enumerate(angles):
        frame = ground.rotate("z", angle)
        rods.append(ap.RigidBody(f"rod {k}", m, end + l / 2 * frame.x, frame, (0, 0, m * l**2 / 12)))
        end = end + l * frame.x
    return ap.Model(ground, angles, rods, [ap.Gravity(-g * ground.y)], name="hanging", values=VALUES)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_joined_point_has_no_coordinates_of_its_own(backwards):
    model = links(3, backwards)
    closed = [vector for pin in model.constraints for vector in pin.closures]
    l, (first, second, third) = ap.parameters("l"), (rod.frame for rod in model.bodies)
    expected = l * first.x + l * second.x + l / 2 * third.x
    assert not (joined(model.bodies[2].center, closed) - expected).parts


def test_a_point_that_nothing_joins_stays():
    model = links(2)
    point = model.ground.point(*ap.coordinates("u v"))
    assert joined(point, [vector for pin in model.constraints for vector in pin.closures]) is point


def test_a_loop_is_walked_along_the_shorter_way():
    model = links(3)
    ground, l = model.ground, ap.parameters("l")
    closed = [vector for pin in model.constraints for vector in pin.closures]
    closed.append(model.bodies[2].center + l / 2 * model.bodies[2].frame.x - ground.point(2, 0))
    found = joined(model.bodies[2].center, closed)
    assert not (found + l / 2 * model.bodies[2].frame.x - ground.point(2, 0)).parts


@pytest.mark.parametrize("count", [1, 2, 4])
def test_equations_in_coordinates_of_each_body_are_as_good_as_in_angles(count):
    model, angles = links(count), hanging(count)
    system, plain = (ap.compile(ap.derive(e, ap.GibbsAppell())).bind() for e in (model, angles))
    assert [s.name for s in system.equations.speeds] == [s.rate.name for s in angles.coordinates]
    assert system.equations.operations <= 2 * plain.equations.operations
    q = np.random.default_rng(2).uniform(-1, 1, (2, count))
    given = {f"a{k}": q[0, k] for k in range(count)} | {f"a{k}.rate": q[1, k] for k in range(count)}
    start = system.consistent(given)
    other = plain.state(given)
    rates = system.rhs(0.0, system.to_x(start))[-count:]
    np.testing.assert_allclose(rates, plain.rhs(0.0, plain.to_x(other))[-count:], rtol=1e-12)


def test_off_the_rows_the_equations_are_those_of_lagrange():
    model = links(2)
    rng = np.random.default_rng(4)
    joint = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=["x0", "y0", "x1", "y1"]))).bind()
    lagrange = ap.compile(ap.derive(model, ap.Voronets(dependent=["x0", "y0", "x1", "y1"]))).bind()
    x = rng.uniform(-1, 1, 8)  # rods that are apart, and stay so
    np.testing.assert_allclose(joint.rhs(0.0, x), lagrange.rhs(0.0, x), rtol=1e-10)
