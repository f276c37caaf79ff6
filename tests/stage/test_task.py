"""Tasks as constraints: what they refuse."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ModelError
from appell.planning import curvature, direction, distance, follow, path_speed, profile

x, y = ap.coordinates("x y")
ground = ap.Frame("ground")
hand = ground.point(x, y)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: curvature(hand, "tight"), "curvature of 'curvature' must be a number or a formula"),
        (lambda: path_speed(hand, None), "speed of 'speed' must be a number or a formula"),
        (lambda: profile("x", 2, 0), "quantity of 'profile' must be a number or a formula"),
        (lambda: distance(hand, 3, 1.0), r"must be a point such as ground.point\(x, y\), got 3"),
        (lambda: follow(None, hand), r"must be a point such as ground.point\(x, y\), got None"),
        (lambda: profile(x, True, 0), "order of a profile must be a whole number, 0 or more; got True"),
        (lambda: ap.Programmed(x, differentiate=-1), "differentiate= must be a whole number, 0 or more; got -1"),
        (lambda: ap.Programmed(x, realization=[x, y]), r"has 1 row \(programme\) and needs as many .*, got x, y"),
        (lambda: direction(ground.x, "w"), "along= takes 'x', 'y' or 'z', got 'w'"),
        (lambda: direction(ground.rotate("z", x).z, "z"), "cannot turn away from 'z'; nothing is left to programme"),
        (lambda: follow(hand, hand), "needs a point that can move"),
    ],
)
def test_bad_tasks_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_orders_may_be_counted_by_numpy():
    assert str(profile(x, np.int64(3), 1).rows) == str(profile(x, 3, 1).rows)
    assert str(ap.Programmed(x, differentiate=np.int64(1)).rows) == str(ap.Programmed(x, differentiate=1).rows)


def test_a_direction_leaves_one_turn():
    """An axis along y of the table: its components along the two others vanish, those that can."""
    table = ground.rotate("x", 0.3)
    first, second = direction(ground.rotate("z", x).rotate("x", y).z, "y", frame=table).rows
    one, other = (lambda angle, tilt, e=row.expression: float(e.subs({x: angle, y: tilt})) for row in (first, second))
    assert one(np.pi, np.pi / 2 - 0.3) == pytest.approx(0, abs=1e-15)
    assert other(np.pi, np.pi / 2 - 0.3) == pytest.approx(0, abs=1e-15)
    assert abs(one(1.0, 0.7)) > 0.1
    assert abs(other(1.0, 0.7)) > 0.1
    (row,) = direction(ground.rotate("z", x).x, "x").rows
    assert row.expression == sp.sin(x)


def test_a_distance_from_the_origin():
    (row,) = distance(hand, ground.point(0, 0), 2).rows
    assert row.expression.subs({x: 0.6 * 2, y: 0.8 * 2}) == pytest.approx(0, abs=1e-15)
