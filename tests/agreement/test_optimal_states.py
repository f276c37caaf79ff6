"""Extra states along optimal motions, against another transcription and linear algebra: masses, currents, tanks."""

import casadi as ca
import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap
from appell.planning import optimize

x = ap.coordinates("x", "m")
ground = ap.Frame("ground")
TO_ONE = {"until": 1.0, "end": {x: 1.0, x.rate: 0.0}}


def transcribed(force, rate, z0, intervals=30, degree=4):
    """The least of the integral of force^2 from rest to rest, by Legendre's points on many intervals, and z(1)."""
    opti, h, cost = ca.Opti(), 1 / intervals, 0
    C, D, B = ca.collocation_coeff(ca.collocation_points(degree, "legendre"))
    X = opti.variable(3, intervals + 1)
    opti.subject_to(X[:, 0] == [0, 0, z0])
    opti.subject_to(X[:2, -1] == [1, 0])
    for k in range(intervals):
        inner, a = opti.variable(3, degree), opti.variable(1, degree)
        opti.set_initial(inner, ca.repmat(ca.DM([k * h, 1, z0]), 1, degree))
        v, z = inner[1, :], inner[2, :]
        points = ca.horzcat(X[:, k], inner)
        opti.subject_to(h * ca.vertcat(v, a, rate(v, z)) == points @ C)
        opti.subject_to(X[:, k + 1] == points @ D)
        cost += h * force(v, a, z) ** 2 @ B
    opti.minimize(cost)
    opti.solver("ipopt", {"print_time": False, "expand": True}, {"print_level": 0, "sb": "yes"})
    found = opti.solve()
    return found.value(cost), found.value(X[2, -1])


def cart(mass, rate, start, jet=0):
    body = ap.Particle("cart", 1 + mass, ground.point(x, 0))
    loss = ap.Stream(body, -jet * ground.x, rate=rate)
    return ap.Model(ground, (x,), [body], [loss], [], states={mass: rate}, start={x: 0, mass: start})


def test_a_load_that_is_lost_faster_at_speed():
    load = ap.states("load", "kg")
    found = optimize(cart(load, -load * x.rate**2, 2.0), degree=16, **TO_ONE)
    cost, left = transcribed(lambda v, a, z: (1 + z) * a, lambda v, z: -z * v**2, 2.0)
    assert found.cost == pytest.approx(cost, rel=1e-5)
    assert found.motion.at(1.0)["load"] == pytest.approx(left, rel=1e-3)


def test_the_current_of_a_motor():
    """A held voltage drives as well; its current follows the speed with a delay."""
    push = ap.inputs("push")
    body = ap.Particle("cart", 1.0, ground.point(x, 0))
    model = ap.Model(ground, (x,), [body], [ap.Generalized({x: push})], [], start={x: 0})
    driven = ap.control.with_motors(model, ap.control.Motor(resistance=1.0, constant=2.0, inductance=0.2))
    found = optimize(driven, values={"e_push": 3.0}, degree=14, **TO_ONE)
    cost, current = transcribed(lambda v, a, z: a - 2 * z, lambda v, z: (3 - z - 2 * v) / 0.2, 0.0)
    assert found.cost == pytest.approx(cost, rel=1e-8)
    assert found.motion.at(1.0)["i_push"] == pytest.approx(current, rel=1e-6)
    with pytest.raises(ap.AppellError, match="needs numbers for e_push"):
        optimize(driven, **TO_ONE)


def test_a_tank_that_runs_dry_on_the_way():
    """Where the mass is known in time the least of int (m a)^2 has a = (b + c t)/m^2."""
    fuel = ap.states("fuel", "kg")
    found = optimize(cart(fuel, ap.drained(-2, fuel), 1.0), degree=16, **TO_ONE)
    points, weights = np.polynomial.legendre.leggauss(20)
    t = np.concatenate([(points + 1) / 4, (points + 3) / 4])
    w = np.tile(weights / 4, 2) / (1 + np.maximum(0, 1 - 2 * t)) ** 2
    basis = np.array([np.ones_like(t), t])
    asked = np.array([[basis[j] @ (w * (1 - t)) for j in (0, 1)], [basis[j] @ w for j in (0, 1)]])
    b = np.linalg.solve(asked, [1.0, 0.0])
    assert found.cost == pytest.approx((b @ basis) ** 2 @ w, rel=2e-3)
    assert found.motion.at(1.0)["fuel"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("flow", "jet"), [(lambda v: 3 * v**2, 0), (lambda v: 10 * v, 0), (lambda v: 0.5 + 4 * v**2, 0.5)], ids="abc"
)
def test_a_tank_that_runs_dry_sooner_at_speed(flow, jet):
    """The other transcription lets the amount y go on below zero, where it has no mass and no thrust."""
    fuel = ap.states("fuel", "kg")
    found = optimize(cart(fuel, ap.drained(-flow(x.rate), fuel), 1.0, jet), degree=14, **TO_ONE)

    def force(v, a, y):
        wet = (1 + ca.tanh(200 * y)) / 2
        return (1 + wet * y) * a - jet * wet * flow(v)

    cost, _ = transcribed(force, lambda v, y: -flow(v), 1.0)
    assert found.cost == pytest.approx(cost, rel=3e-2 if jet else 3e-3)  # where a thrust ends, the best a jumps
    assert found.motion.at(1.0)["fuel"] == pytest.approx(0, abs=1e-12)


def test_a_tank_that_is_full_before_the_end():
    load = ap.states("load", "kg")
    rate = sp.Piecewise((2 * x.rate, load < 1), (0, True))
    found = optimize(cart(load, rate, 0.5), degree=14, **TO_ONE)

    def force(v, a, y):
        full = (1 + ca.tanh(200 * (y - 1))) / 2
        return (1 + y + full * (1 - y)) * a

    cost, _ = transcribed(force, lambda v, y: 2 * v, 0.5)
    assert found.cost == pytest.approx(cost, rel=3e-3)
    assert found.motion.at(1.0)["load"] == pytest.approx(1, abs=1e-12)


def test_polynomials_of_a_high_degree_reach_their_end():
    load = ap.states("load", "kg")
    found = optimize(cart(load, -load, 1.0), degree=28, nodes=61, **TO_ONE)
    assert found.motion.at(1.0)["x"] == pytest.approx(1, abs=1e-6)


def test_reactions_of_what_is_material_cost_nothing():
    """A weight on a rod in Cartesian coordinates: no neighbour with the same ends needs less of the drive."""
    y = ap.coordinates("y", "m")
    weight = ap.Particle("weight", 1.0, ground.point(x, y))
    rod = ap.Holonomic(x**2 + y**2 - 1, "rod")
    model = ap.Model(ground, (x, y), [weight], [ap.Gravity(-9.81 * ground.y)], [rod], start={x: 0, y: -1}, until=1.0)
    found = optimize(model, end={x: 0.7, x.rate: 0.0}, degree=12)
    assert list(found.free) == ["x"]

    def cost(aside):
        row = ap.Programmed(
            x.rate.rate - found.free["x"] - aside * sp.diff(ap.t**2 * (1 - ap.t) ** 2, ap.t, 2), "other"
        )
        other = ap.plan(model.add(row), start=found.plan.start.to_dict())
        assert other.motion.at(1.0)["x"] == pytest.approx(0.7)
        return scipy.integrate.simpson(np.sum(other.torques["torque"].values ** 2, axis=1), x=other.times)

    assert cost(0) == pytest.approx(found.cost, rel=1e-8)
    assert min(cost(0.1), cost(-0.1)) > found.cost
