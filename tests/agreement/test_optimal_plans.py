"""The freedom that a programme leaves, put to use: least effort, least jerk, obstacles."""

import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap
from appell.errors import ModelError
from appell.planning import Limits, Obstacle, follow, optimize

L = (0.5, 0.4, 0.3)


def arm():
    q = ap.coordinates("q1 q2 q3", "rad")
    ground = ap.Frame("ground")
    frames, joint, bodies = [ground], ground.point(0, 0), []
    for i, (angle, length, mass) in enumerate(zip(q, L, (2, 1.5, 1), strict=True)):
        frames.append(frames[-1].rotate("z", angle))
        link = frames[-1].vector(length, 0)
        inertia = (0, 0, mass * length**2 / 12)
        bodies.append(ap.RigidBody(f"link {i + 1}", mass, joint + link / 2, frames[-1], inertia))
        joint = joint + link
    way = (1 - sp.cos(sp.pi * ap.t / 2)) / 2
    line = follow(joint, ground.point(0.7 - 0.3 * way, 0.3 + 0.2 * way), "xy", "line")
    elbow = frames[1].point(L[0], 0) + frames[2].vector(L[1], 0)
    return ap.Model(ground, q, bodies, [], [line], start=dict(zip(q, (-0.2, 0.9, 0.9), strict=True)), until=2.0), elbow


def effort(plan):
    return scipy.integrate.simpson(np.sum(plan.torques["torque"].values ** 2, axis=1), x=plan.times)


def elbow_gap(plan, centre):
    rows = plan.motion.states(plan.times)
    one, two = rows[:, 0], rows[:, 0] + rows[:, 1]
    x, y = L[0] * np.cos(one) + L[1] * np.cos(two), L[0] * np.sin(one) + L[1] * np.sin(two)
    return np.min(np.hypot(x - centre[0], y - centre[1]))


@pytest.fixture(scope="module")
def least():
    return optimize(arm()[0])


def test_least_effort_is_less_than_without_drives(least):
    free = ap.plan(arm()[0])
    assert least.cost == pytest.approx(effort(least.plan))
    assert least.cost < 0.9 * effort(free)
    assert least.plan.feasible
    residual = least.plan.motion.system.residual(least.plan.motion.at(1.3))
    assert max(abs(e) for e in residual.values()) < 1e-12


def test_counts_may_be_integers_of_numpy(least):
    assert optimize(arm()[0], degree=np.int64(8), nodes=np.int64(41)).cost == pytest.approx(least.cost)


def test_no_neighbour_needs_less_effort(least):
    """The optimum is stationary: other polynomials of the same degree cost more."""
    model = arm()[0]
    (name,) = least.free
    q = {c.label: c for c in model.coordinates}[name]
    start = least.plan.start.to_dict()
    for bump in (0.3 * sp.sin(ap.t), -0.3 * sp.sin(ap.t), 0.3 * (ap.t - 1), -0.3 * (ap.t - 1)):
        row = ap.Programmed(q.rate.rate - least.free[name] - bump, "other")
        assert effort(ap.plan(model.add(row), start=start)) > least.cost


def test_least_jerk_has_less_jerk(least):
    smooth = optimize(arm()[0], "jerk")
    a = [np.array([o.plan.motion.system.accelerations(o.plan.motion.at(s)) for s in np.linspace(0, 2, 201)])
         for o in (least, smooth)]  # fmt: skip
    jerk = [np.sum(np.diff(rows, axis=0) ** 2) for rows in a]
    assert jerk[1] < jerk[0]


def test_the_elbow_keeps_away_and_ends_at_rest(least):
    model, elbow = arm()
    centre = (0.3, -0.05)
    radius = elbow_gap(least.plan, centre) + 0.03
    (name,) = least.free
    found = optimize(model, obstacles=[Obstacle(elbow, model.ground.point(*centre), radius)], end={name + ".rate": 0.0})
    assert elbow_gap(found.plan, centre) > radius - 1e-4
    assert found.plan.motion.at(2.0)[name + ".rate"] == pytest.approx(0, abs=1e-9)
    assert found.cost > least.cost


def test_what_cannot_be_is_said():
    with pytest.raises(ap.AppellError, match="goal= is 'effort' or 'jerk'"):
        optimize(arm()[0], "time")
    with pytest.raises(ap.AppellError, match=r"1 <= degree < nodes, got until=2, degree=41, nodes=41"):
        optimize(arm()[0], degree=41)
    with pytest.raises(ap.AppellError, match="No motion of 'model' was found"):
        optimize(arm()[0], limits=Limits(speed={"q1": 1e-3}))
    with pytest.raises(ap.AppellError, match="leave nothing free"):
        optimize(ap.library.filling_delta())


x, y = ap.coordinates("x y")
ground = ap.Frame("ground")
POINT = ap.Particle("point", 1.0, ground.point(x, y))
TO_ONE = {"until": 1.0, "end": {x: 1.0, x.rate: 0.0}}


def point(*rows):
    return ap.Model(ground, (x, y), [POINT], [], rows, start={x: 0, y: 0})


BY_HAND = {  # 6 - 12 t; and a jerk of -60 t (1 - t), which is free to vanish at both ends
    "effort": (12, 3 / 16 - 2 / 64),
    "jerk": (120, 5 / 2 / 16 - 30 / 12 / 256 + 1 / 1024),
}


@pytest.mark.parametrize("goal", BY_HAND)
def test_a_point_from_rest_to_rest(goal):
    cost, quarter = BY_HAND[goal]
    found = optimize(point(ap.Programmed(y - ap.t / 5)), goal, **TO_ONE)
    assert found.cost == pytest.approx(cost, rel=1e-9)
    assert found.plan.motion.at(0.25)["x"] == pytest.approx(quarter, abs=1e-8)


def test_limits_are_kept_between_the_points():
    """Least effort under x' <= v: u falls to zero in a time s, stays there, and falls on at the end; by hand."""
    found = optimize(point(ap.Programmed(y - ap.t / 5)), limits=Limits(speed={x: 1.2}), **TO_ONE)
    assert found.plan.feasible
    assert np.max(found.plan.motion["x.rate"].values) <= 1.2
    v = 1.2
    s = 1.5 * (1 - 1 / v)  # x' is a parabola meanwhile, and the way of all v (1 - 2 s/3) = 1
    least = 8 / 3 * v**2 / s
    assert least <= found.cost < 1.01 * least


def test_rows_on_velocities_are_integrated_exactly():
    """y' = t x': the least of int u^2 + (t u + v)^2 over polynomials u of degree 8, by linear algebra."""
    found = optimize(point(ap.Programmed(y.rate - ap.t * x.rate)), **TO_ONE)
    points, weights = np.polynomial.legendre.leggauss(30)
    t, w = (points + 1) / 2, weights / 2
    basis = [np.polynomial.Chebyshev.basis(j, domain=[0, 1]) for j in range(9)]
    u = np.array([b(t) for b in basis])
    v = np.array([b.integ(1, lbnd=0)(t) for b in basis])
    H = np.einsum("ik,jk,k->ij", u, u, w) + np.einsum("ik,jk,k->ij", t * u + v, t * u + v, w)
    A = np.array([[b.integ(2, lbnd=0)(1.0) for b in basis], [b.integ(1, lbnd=0)(1.0) for b in basis]])
    c = np.linalg.solve(np.block([[H, A.T], [A, np.zeros((2, 2))]]), np.r_[np.zeros(9), 1.0, 0.0])[:9]
    assert found.cost == pytest.approx(c @ H @ c, rel=1e-9)


@pytest.mark.parametrize("goal", BY_HAND)
def test_without_a_programme_from_the_start_to_the_end(goal):
    cost, quarter = BY_HAND[goal]
    found = optimize(point(), goal, **TO_ONE)
    assert found.cost == pytest.approx(cost, rel=1e-9)
    assert found.plan.motion.at(0.25)["x"] == pytest.approx(quarter, abs=1e-8)


def test_any_coordinate_may_be_given_an_end():
    """x + y = 0 with two unit masses: effort 2 int u^2, for either name of what is asked for at the end."""
    rows = ap.Programmed(x + y)
    for q, end in ((x, 1.0), (y, -1.0)):
        found = optimize(point(rows), until=1.0, end={q: end, q.rate: 0.0})
        assert found.cost == pytest.approx(24, rel=1e-8)
        assert found.plan.motion.at(1.0)["x"] == pytest.approx(1, abs=1e-9)


def test_other_coordinates_lead_where_the_first_choice_does_not():
    """A hand on a level line falls past the place where the elbow alone says nothing about the shoulder."""
    q1, q2 = ap.coordinates("q1 q2")
    upper = ground.rotate("z", q1)
    lower = upper.rotate("z", q2)
    elbow = upper.point(0.4, 0)
    bodies = [ap.RigidBody("upper", 1, elbow / 2, upper, (0, 0, 0.16 / 12))]
    bodies += [ap.RigidBody("lower", 1, elbow + lower.vector(0.2, 0), lower, (0, 0, 0.16 / 12))]
    line = ap.Programmed(ground.components(elbow + lower.vector(0.4, 0))[1] - 0.3)
    weight = ap.Gravity(-9.81 * ground.y)
    model = ap.Model(ground, (q1, q2), bodies, [weight], [line], start={q1: 0.9, q2: -1.0}, until=1.0)
    found = optimize(model, limits=Limits(torque={q1: 12, q2: 12}))
    assert found.plan.feasible
    assert found.cost == pytest.approx(effort(found.plan), rel=1e-6)
    assert found.cost < 0.9 * effort(ap.plan(model))


def test_a_start_beyond_the_limits_is_said():
    with pytest.raises(ap.AppellError, match=r"The position of x is 0 where the motion begins, its limits 0.1 .. 2"):
        optimize(point(), limits=Limits(position={x: (0.1, 2)}), **TO_ONE)
    with pytest.raises(ap.AppellError, match=r"is only 0.5 away where the motion begins"):
        optimize(point(), obstacles=[Obstacle(ground.point(x, y), ground.point(0.5, 0), 0.6)], **TO_ONE)


def test_a_way_round_an_obstacle_in_the_middle_of_the_straight_one():
    """Either side costs the same; and without a way round, what is left of the distance is said."""
    way = {"until": 1.0, "end": {x: 1.0, y: 0.0, x.rate: 0.0, y.rate: 0.0}}
    post = Obstacle(ground.point(x, y), ground.point(0.5, 0), 0.2, "post")
    found = optimize(point(), obstacles=[post], **way)
    places = found.motion.states(found.plan.times)[:, :2]
    assert np.min(np.hypot(places[:, 0] - 0.5, places[:, 1])) >= 0.2 - 1e-9
    assert found.plan.feasible
    straight = ap.plan(
        point(ap.Programmed(x.rate.rate - 6 + 12 * ap.t, "along"), ap.Programmed(y)), until=1.0, obstacles=[post]
    )
    assert not straight.feasible
    assert repr(straight.violations[0]).startswith(
        "distance from post: 0 at t = 0.5 s, allowed 0.2 or more: VIOLATED first at t = 0.36"
    )


def test_what_is_overstepped_between_few_nodes_is_said():
    posts = [Obstacle(ground.point(x, y), ground.point(*at), r) for at, r in (((0.5, 0), 0.1), ((0.7, 0.2), 0.12))]
    end = {x: 1.0, y: 0.01, x.rate: 0.0, y.rate: 0.0}
    found = optimize(point(), until=1.0, end=end, obstacles=posts, degree=4, nodes=11)
    places = found.motion.states(np.linspace(0, 1, 2001))[:, :2]
    kept = [np.min(np.linalg.norm(places - at, axis=1)) >= r - 1e-6 for at, r in (((0.5, 0), 0.1), ((0.7, 0.2), 0.12))]
    assert [f.name for f in found.plan.findings] == ["obstacle 1", "obstacle 2"]
    assert [f.first is None for f in found.plan.findings] == kept
    assert found.plan.feasible == all(kept)
    assert all(kept) or "more nodes=" in repr(found)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: optimize(point(), limits={x: 1}, **TO_ONE), r"limits= takes planning.Limits"),
        (lambda: optimize(point(), end=[1.0]), r"given by name"),
        (lambda: optimize(point(), obstacles=["post"], **TO_ONE), r"obstacles= takes planning.Obstacle\(point, center"),
        (lambda: Obstacle(ground.point(x, y), (0, 0), 1.0), r"center of 'obstacle' is a vector"),
        (lambda: Obstacle(ground.point(x, y), ground.point(0, 0), 0), r"radius of 'obstacle' must be positive"),
        (
            lambda: optimize(point(), obstacles=Obstacle(POINT.center, ground.point(x.rate + 3, 0), 0.1), **TO_ONE),
            r"distance from 'obstacle': the rate x' cannot stand in a position",
        ),
        (lambda: ap.plan(point(ap.Programmed(y)), until="soon"), r"'until' must be a finite number"),
    ],
)
def test_what_is_no_limit_end_or_obstacle_is_said(wrong, words):
    with pytest.raises(ap.AppellError, match=words):
        wrong()


def cart_with_pole(redundant=False):
    """A pole hangs from a cart: by its angle, or by the place of its bob and the length of the rod."""
    ground, (x, angle, X, Y) = ap.Frame("ground"), ap.coordinates("x angle X Y")
    cart, rod = ground.point(x, 0), ground.rotate("z", angle)
    bob = ground.point(X, Y) if redundant else cart + rod.vector(0, -0.5)
    rows = [ap.Holonomic((X - x) ** 2 + Y**2 - 0.25, "rod")] if redundant else []
    q = (x, X, Y) if redundant else (x, angle)
    bodies = [ap.Particle("cart", 1.0, cart), ap.Particle("bob", 0.3, bob)]
    return ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.y)], rows, start={q[-1]: -0.5 * redundant})


def test_a_pole_is_swung_up_by_its_cart_alone():
    """Kelly 2017, section 6; Pontryagin's principle, solved by scipy.integrate.solve_bvp, gives 57.94478."""
    end = {"x": 1.0, "angle": np.pi, "x.rate": 0, "angle.rate": 0}
    found = optimize(cart_with_pole(), end=end, until=2.0, joints=["x"], degree=16)
    assert found.joints == ("x",)
    assert 57.94 < found.cost < 62
    assert np.all(found.plan.torques["torque"].sel(coordinate="angle") == 0)
    assert found.motion.at(2.0)["angle"] == pytest.approx(np.pi, abs=1e-3)
    assert "by drives along x and the accelerations of x," in repr(found)


def test_what_nothing_drives_may_be_redundant():
    costs = []
    for redundant, name in ((False, "angle"), (True, "X")):
        end = {"x": 0.4, "x.rate": 0, name: 0.4 * redundant, f"{name}.rate": 0}
        found = optimize(cart_with_pole(redundant), end=end, until=1.5, joints=["x"], degree=10, nodes=25)
        assert np.all(np.abs(found.plan.torques["torque"].values[:, 1:]) < 1e-9)
        costs.append(found.cost)
    assert costs[1] == pytest.approx(costs[0], rel=1e-3)


def test_a_closed_loop_says_which_of_its_joints_are_driven():
    """Three links between two pins: one freedom, and all torques but those along the driven joint vanish."""
    q, ground, bodies = ap.coordinates("a b c"), ap.Frame("ground"), []
    link = ground
    for k, angle in enumerate(q):
        link = link.pin(angle, at=(0.4 * (k > 0), 0, 0))
        bodies.append(ap.RigidBody(f"link {k}", 1.0, link.point(0.2, 0), link, (0, 0, 0.02)))
    loop = ap.Holonomic(link.point(0.4, 0) - ground.point(0.6, 0), "loop")
    bar = ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.y)], [loop], start={"a": 1.6, "b": -1.3, "c": -1.3})
    end = {"a": 1.3, "a.rate": 0.0}
    found = optimize(bar, end=end, until=1.0)
    (driven,) = found.joints
    pushed = abs(found.plan.torques["torque"]).max("t")
    assert [str(e) for e in pushed.coordinate.values[pushed.values > 1e-9]] == [driven]
    assert optimize(bar, end=end, until=1.0, joints=[driven]).cost == pytest.approx(found.cost, rel=1e-6)


def test_drives_that_cannot_be_chosen_are_refused():
    with pytest.raises(ModelError, match="name 1 to 2, at most its degrees of freedom"):
        optimize(cart_with_pole(redundant=True), end={"x": 1.0}, until=2.0, joints=[])
    with pytest.raises(ModelError, match=r"has a programme, whose drives are named in it, Programmed\(\.\.\., realiz"):
        optimize(arm()[0], joints=["q1"])


def test_a_wheel_gets_aside():
    """Straight ahead it cannot, and to first order nothing leads there: it goes to and fro."""
    x, y, heading = ap.coordinates("x y heading")
    ground = ap.Frame("ground")
    frame, place = ground.rotate("z", heading), ground.point(x, y)
    cart = ap.RigidBody("cart", 10, place, frame, (0, 0, 2))
    model = ap.Model(ground, (x, y, heading), [cart], [], [ap.Rolling(cart, place, along=[frame.y], name="wheel")])
    end = {"x": 0, "y": 1, "heading": 0, "x.rate": 0, "heading.rate": 0}
    found = optimize(model, end=end, until=5.0, nodes=25)
    assert found.plan.feasible
    last = found.motion.at(5.0)
    assert [last["x"], last["y"], last["heading"]] == pytest.approx([0, 1, 0], abs=0.01)
