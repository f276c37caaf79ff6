"""Programmes together with everything else: variable mass, closed loops, inputs, fully programmed robots."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError, InconsistentStartError, MissingValueError, ModelError
from appell.formulation import FORMULATIONS
from appell.planning import Limits, distance, follow, path_speed, profile


@pytest.mark.heyoka
def test_a_rover_keeps_its_curvature_while_it_drains():
    model = ap.library.draining_rover()
    runs = [
        ap.simulate(ap.compile(ap.derive(model, f)).bind()) for f in (ap.GPME(), ap.Multipliers(), ap.GibbsAppell())
    ]
    for motion in runs:
        state = motion.at(6.0)
        v = state["x.rate"] * np.cos(state["theta"]) + state["y.rate"] * np.sin(state["theta"])
        assert state["theta.rate"] / v == pytest.approx(0.5 + 0.3 * np.sin(6), abs=1e-12)
        assert state["liquid"] == pytest.approx(28.0, abs=1e-12)
    np.testing.assert_allclose(runs[1].states([6.0]), runs[0].states([6.0]), rtol=0, atol=1e-10)
    np.testing.assert_allclose(runs[2].states([6.0]), runs[0].states([6.0]), rtol=0, atol=1e-10)


def test_a_leaking_load_needs_less_and_less_force():
    model = ap.library.leaking_crane(servo=True)
    ends = [ap.simulate(ap.compile(ap.derive(model, f)).bind()).states([4.0])[0] for f in (ap.GPME(), ap.Multipliers())]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-11)
    tight = ap.simulate(ap.compile(ap.derive(ap.library.crane(servo=True), ap.GPME())).bind()).states([4.0])[0]
    assert abs(tight[0] - ends[0][0]) > 1e-3


def test_the_motors_of_a_delta_robot_that_fills():
    """Three loops and three rows on six coordinates: the torques of the motors are its inverse dynamics."""
    plan = ap.plan(ap.library.filling_delta(servo=True), limits=Limits(torque={"phi1": 60.0}))
    assert plan.feasible
    assert plan.programme.dimension == 0
    torque = plan.torques["torque"].values
    assert np.max(np.abs(torque[:, 3:])) < 1e-9
    assert plan.motion.at(2.0)["content"] == pytest.approx(1.5, abs=1e-12)
    # Put in as inputs of the robot itself they make it follow the curve without any programme.
    system = plan.motion.system
    state = plan.motion.at(0.7)
    tau = plan.effort.along(plan.motion, np.array([0.7]))[0][0, :3]
    free = ap.Model(
        system.model.ground, system.model.coordinates, system.model.bodies, system.model.forces,
        [c for c in system.model.constraints if c.name.startswith("rods")], system.model.states,
        values={k: v for k, v in system.model.values.items() if k not in ("rho", "lift", "T")},
        start=system.model.start,
    )  # fmt: skip
    driven = ap.compile(ap.derive(free, ap.Multipliers())).bind(dict(zip(("tau1", "tau2", "tau3"), tau, strict=True)))
    other = driven.accelerations(ap.State(free, state.array, 0.7))
    np.testing.assert_allclose(other, system.accelerations(state), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["draining-rover", "leaking-crane", "filling-delta"])
def test_compositions_agree_by_every_route(name):
    assert ap.verify(ap.library.model(name), states=5).worst < 1e-10


def test_inputs_under_a_programme_of_order_three_are_numbers():
    x, y = ap.coordinates("x y")
    push = ap.inputs("push")
    ground = ap.Frame("ground")
    body = ap.Particle("p", 1, ground.point(x, y))
    rows = [ap.Programmed(x.rate.rate.rate + y * y.rate.rate.rate - sp.sin(ap.t), "jerk")]
    start = {x.rate.rate: 0.5, y: 0.7, y.rate: 0.3}
    for formulation in (ap.GPME(), ap.ComputationalGPME(), ap.Multipliers()):
        model = ap.Model(ground, (x, y), [body], [ap.Generalized({y: push})], rows)
        system = ap.compile(ap.derive(model, formulation))
        with pytest.raises(MissingValueError, match="needs numbers for the inputs push; bind"):
            system.consistent(start)
        motion = ap.simulate(system.bind({push: 2.0}), start, until=1.0)
        same = ap.Model(ground, (x, y), [body], [ap.Generalized({y: 2.0})], rows)
        other = ap.simulate(ap.compile(ap.derive(same, formulation)), start, until=1.0)
        np.testing.assert_allclose(motion.states(1.0), other.states(1.0), rtol=0, atol=1e-12)
        for options in (
            {"inputs": {push: sp.sin(ap.t)}},
            {"inputs": {push: np.sin}},
            {"control": lambda t, state: 2.0},
            {"control": lambda t, state: 2.0, "rate": 10.0},
        ):
            with pytest.raises(FormulationError, match=r"'jerk' .* needs the rates of the inputs push"):
                ap.simulate(system, start, until=1.0, **options)


def test_rows_that_say_a_thing_twice_or_against_each_other():
    x, y, z = ap.coordinates("x y z")
    ground = ap.Frame("ground")
    body = ap.Particle("p", 2, ground.point(x, y, z))
    rows = [ap.Programmed(x - sp.sin(ap.t), "a"), ap.Programmed(y - ap.t, "b"), ap.Programmed(z - 1, "c")]
    twice = ap.Model(ground, (x, y, z), [body], [], [*rows, ap.Programmed(x + y - sp.sin(ap.t) - ap.t, "d")])
    plan = ap.plan(twice, until=1.0)
    assert plan.programme.dimension == 0
    assert plan.motion.at(1.0)["x"] == pytest.approx(np.sin(1), abs=1e-12)
    against = ap.Model(ground, (x, y, z), [body], [], [*rows, ap.Programmed(x + y - sp.sin(ap.t) - 2 * ap.t, "d")])
    with pytest.raises(InconsistentStartError, match="there the rows a, b, d contradict each other"):
        ap.plan(against, until=1.0)
    with pytest.raises(InconsistentStartError, match="at these positions the rows a, b, d contradict each other"):
        ap.compile(ap.derive(against, ap.GPME())).consistent()


@pytest.mark.parametrize("differentiate", [1, 2, 3])
def test_a_point_goes_after_a_state(differentiate):
    """Positions are no formulas in states; their derivatives may be, and the start is on the formula itself."""
    x, y, z = *ap.coordinates("x y"), ap.states("z")
    ground = ap.Frame("ground")
    body = ap.Particle("p", 2, ground.point(x, y))
    task = ap.Programmed(x - z, "after", differentiate=differentiate)
    model = ap.Model(ground, (x, y), [body], [], [task], {z: sp.sin(ap.t) - z}, start={z: 1.0})
    for start in (None, ap.compile(ap.derive(model, ap.GPME())).consistent({z: 1.0})):
        motion = (
            ap.plan(model, until=2.0).motion
            if start is None
            else ap.simulate(ap.compile(ap.derive(model, ap.GPME())), start, until=2.0)
        )
        assert motion.at(2.0)["x"] == pytest.approx(motion.at(2.0)["z"], abs=1e-12)


def test_jerk_and_snap_along_a_programme_that_demands_them():
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    rows = [
        ap.Programmed(x.derivative(3) + y * y.derivative(3) - sp.sin(ap.t), "jerk"),
        ap.Programmed(y.derivative(4) - x, "snap"),
    ]
    model = ap.Model(ground, (x, y), [ap.Particle("p", 2, ground.point(x, y))], [ap.Gravity(-9.81 * ground.y)], rows)
    start = {"y": 0.7, "x.rate.rate": 0.5, "y.rate.rate": -9.0, "y.rate.rate.rate": 0.3}
    system = ap.compile(ap.derive(model, ap.GPME()))
    motion = ap.simulate(system, start, until=1.0, outputs={"snap": y.derivative(4)})
    np.testing.assert_allclose(motion.evaluate(rows[0].rows[0].expression), 0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(motion["snap"], motion["x"], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(motion[y.derivative(4)], motion["snap"])
    np.testing.assert_array_equal(motion["x.rate.rate.rate"], motion.evaluate(x.derivative(3)))
    np.testing.assert_allclose(motion[y.derivative(5)], motion[x.rate], rtol=0, atol=1e-11)
    h = 1e-3  # the jerk as a difference of accelerations
    earlier, later = motion.evaluate(y.rate.rate, [0.5 - h, 0.5 + h])
    assert motion.evaluate(y.derivative(3), 0.5)[0] == pytest.approx((later - earlier) / (2 * h), abs=1e-5)
    with pytest.raises(FormulationError, match="Higher order does not accept programmes of order 3 and more"):
        ap.derive(model, ap.HigherOrder(1))
    with pytest.raises(ModelError, match="'model' has 'jerk' of order 3, 'snap' of order 4"):
        ap.planning.optimize(model)


def test_a_plan_of_order_three_is_tracked():
    model = ap.library.jerk_cart_pendulum()
    plant = ap.planning.plant(model)
    assert [z.label for z in plant.states] == []
    run = ap.track(
        ap.compile(ap.derive(plant)), ap.plan(model, until=1.0), ap.control.ComputedTorque(plant, 10.0), until=1.0
    )
    assert max(e["largest"] for e in run.metrics().values()) < 1e-9


def test_a_robot_with_drives_plans_a_jerk_of_its_tool():
    arm = ap.library.planar_2r()
    across = arm.ground.components(arm.tool_point)[1]
    task = ap.Programmed(across - 0.3 - 0.1 * sp.sin(2 * ap.t), "lift", differentiate=3)
    plan = ap.plan(arm.add(task), start={"q1": 0.4, "q2": 0.9}, until=1.0)
    assert plan.motion.outcome.ok
    assert plan.motion.evaluate(across)[-1] == pytest.approx(0.3 + 0.1 * np.sin(2), abs=1e-11)
    state = plan.motion.at(1.0)
    Q = np.column_stack([state.q, state.v, plan.motion.system.accelerations(state)])
    demanded = plan.torques["torque"].values[-1]
    np.testing.assert_allclose(ap.higher_order.Dynamics(arm).inverse(Q)[:, 0], demanded, rtol=0, atol=1e-9)


def test_a_fully_programmed_arm_is_inverse_kinematics():
    q1, q2 = ap.coordinates("q1 q2")
    ground = ap.Frame("ground")
    upper = ground.rotate("z", q1)
    lower = upper.rotate("z", q2)
    arm = ap.RigidBody("arm", 1, upper.point(0.25, 0), upper, (0, 0, 0.02))
    hand = upper.point(0.5, 0) + lower.vector(0.4, 0)
    bob = ap.Particle("hand", 1, hand)
    circle = ground.point(0.5 + 0.2 * sp.cos(ap.t), 0.2 * sp.sin(ap.t))
    model = ap.Model(
        ground, (q1, q2), [arm, bob], [], [follow(hand, circle, "xy")], start={q1: -0.3, q2: 1.2}, until=2 * np.pi
    )
    plan = ap.plan(model)
    assert plan.feasible
    first, last = plan.motion.states([0.0, 2 * np.pi])
    np.testing.assert_allclose(first[:2], last[:2], rtol=0, atol=1e-9)
    assert max(abs(e) for e in plan.motion.system.residual(plan.motion.at(3.0)).values()) < 1e-13


def test_a_programme_that_leaves_the_workspace_says_where():
    q1, q2 = ap.coordinates("q1 q2")
    ground = ap.Frame("ground")
    upper = ground.rotate("z", q1)
    hand = upper.point(0.5, 0) + upper.rotate("z", q2).vector(0.4, 0)
    out = ground.point(0.6 + 0.2 * ap.t, 0)
    model = ap.Model(
        ground, (q1, q2), [ap.Particle("hand", 1, hand), ap.Particle("elbow", 1, upper.point(0.5, 0))], [],
        [follow(hand, out, "xy")], start={q1: -0.5, q2: 1.2}, until=3.0,
    )  # fmt: skip
    plan = ap.plan(model)
    assert not plan.feasible
    assert 1.3 < plan.motion.times[-1] < 1.51
    assert "t = 1.4" in plan.motion.detail or "t = 1.5" in plan.motion.detail


x, y, th = ap.coordinates("x y th")
ground = ap.Frame("ground")
rolling = ground.rotate("z", th)
EDGE_BODY = ap.RigidBody("body", 2.0, ground.point(x, y), rolling, (0, 0, 0.3))
EDGE = ap.Rolling(EDGE_BODY, ground.point(x, y), along=[rolling.y], name="edge")


def on_edge(*constraints, **settings):
    return ap.Model(ground, (x, y, th), [EDGE_BODY], [], constraints, start={x.rate: 1.0}, until=1.0, **settings)


REPEATED = {
    "a programme said twice": [ap.Programmed(x - ap.t, "a"), ap.Programmed(x - ap.t, "b")],
    "a row and its derivative": [ap.Programmed(x.rate - ap.t, "a"), ap.Programmed(x.rate.rate - 1, "b")],
    "what the edge says": [EDGE, ap.Programmed(y.rate * sp.cos(th) - x.rate * sp.sin(th), "slip")],
    "more rows than coordinates": [ap.Programmed([x - ap.t, y, th, x + y - ap.t], "a")],
}


@pytest.mark.parametrize("name", REPEATED)
def test_rows_that_say_a_thing_twice_leave_a_plan_feasible(name):
    plan = ap.plan(on_edge(*REPEATED[name]))
    assert plan.feasible
    assert plan.regularity.smallest > 0.1
    assert plan.regularity.partitions


def test_a_rank_that_is_lost_on_the_way_is_no_repetition():
    """Programmed x and x cos(s) + y sin(s) with s = 1 - t: one row at t = 1, two before."""
    s = 1 - ap.t
    rows = [ap.Programmed(x.rate, "a"), ap.Programmed(x.rate * sp.cos(s) + y.rate * sp.sin(s), "b")]
    plan = ap.plan(on_edge(*rows), until=0.999)
    assert plan.regularity.smallest == pytest.approx(np.sqrt(1 - np.cos(0.001)), rel=1e-6)
    assert plan.regularity.at == pytest.approx(0.999)
    assert set(plan.regularity.rows) == {"a", "b"}


def test_what_a_servo_leaves_free_does_not_depend_on_who_drives_it():
    for realization in ("ideal", (x,), (y,)):
        row = ap.Programmed(x + 2 * y - ap.t, "slope", realization=realization)
        assert ap.planning.orders(on_edge(row)).positions == ("x", "th")
    aside = ap.Programmed(th + x / 4, "turn", realization=(x,))
    assert ap.planning.orders(on_edge(aside)).positions == ("x", "y")


@pytest.mark.parametrize("order", [0, 3])
def test_a_drive_that_gets_out_of_reach_is_named(order):
    """A pendulum on a cart whose own drive shall hold the cart: nothing reaches it where the pendulum is level.

    The angle between what the row allows, a turn of the pendulum, and what the drive leaves alone, a shift of the cart,
    has the cosine m l cos(angle) / sqrt((M + m) m l^2).
    """
    cart, angle = ap.coordinates("cart angle")
    bob = ap.Particle("bob", 0.3, ground.point(cart, 0) - 0.5 * ground.rotate("z", angle).y)
    bodies = [ap.Particle("cart", 1.0, ground.point(cart, 0)), bob]
    row = ap.Programmed((cart - sp.sin(ap.t) / 10).diff(ap.t, order), "hold", realization=(angle,))
    begin = {angle: 0.1, cart.rate: 0.1} | ({"cart.rate.rate": 0.0} if order else {})
    model = ap.Model(ground, (cart, angle), bodies, [ap.Gravity(-9.81 * ground.y)], [row], start=begin)
    plan = ap.plan(model, until=4.0)
    assert not plan.feasible
    assert "the drives along angle do not reach the accelerations that 'hold' demands" in plan.motion.detail
    early = ap.plan(model, until=0.5).regularity
    at = plan.motion.at(early.reach_at)["angle"]
    assert early.reach == pytest.approx(abs(np.cos(at)) * np.sqrt(0.3 / 1.3), rel=1e-9)
    assert early.regular
    assert not plan.regularity.regular


def test_the_reach_of_drives_does_not_depend_on_massless_coordinates():
    """The same pendulum, its bob with coordinates of its own, its angle without mass."""
    cart, angle, X, Y = ap.coordinates("cart angle X Y")
    hung = ground.point(cart, 0) - 0.5 * ground.rotate("z", angle).y
    row = ap.Programmed(cart - sp.sin(ap.t) / 10, "hold", realization=(angle,))
    reach = []
    for q, bob, tie in (
        ((cart, angle), hung, []),
        ((cart, angle, X, Y), ground.point(X, Y), [ap.Holonomic(ground.point(X, Y) - hung, "rod")]),
    ):
        bodies = [ap.Particle("cart", 1.0, ground.point(cart, 0)), ap.Particle("bob", 0.3, bob)]
        begin = {angle: 0.4, cart.rate: 0.1}
        begin |= {X: 0.5 * np.sin(0.4), Y: -0.5 * np.cos(0.4), X.rate: 0.1} if tie else {}
        model = ap.Model(ground, q, bodies, [ap.Gravity(-9.81 * ground.y)], [*tie, row], start=begin)
        reach.append(ap.plan(model, until=0.5).regularity.reach)
    assert reach[1] == pytest.approx(reach[0], rel=1e-9)


def test_a_row_that_vanishes_is_singular():
    """x^2 = (1 - t)^2 has the gradient 2 x, which goes to nothing as at the edge of a workspace."""
    plan = ap.plan(on_edge(ap.Programmed(x**2 - (1 - ap.t) ** 2, "edge")), start={x: 1.0, x.rate: -1.0}, until=0.99)
    assert plan.regularity.smallest == pytest.approx(0.01, rel=1e-6)
    assert plan.regularity.at == pytest.approx(0.99)
    assert plan.regularity.rows == ("edge",)


def pulled(programme):
    """A particle of 2 kg on the slope y = x/2, drawn along by a programme."""
    a, b = ap.coordinates("a b")
    bead = ap.Particle("bead", 2.0, ground.point(a, b))
    return ap.Model(ground, (a, b), [bead], [], [ap.Holonomic(b - a / 2, "slope"), programme(a)], until=1.0)


def test_velocities_that_jump_take_an_impulse_that_no_limit_allows():
    """The pace is turned back at t = 1/3: the drive along x lifts the bead as well, 2 (1 + 1/4) 2 N s."""
    plan = ap.plan(pulled(lambda a: ap.Programmed(a - sp.Abs(ap.t - sp.Rational(1, 3)), "turn")))
    (jolt,) = plan.jolts
    assert jolt.t == pytest.approx(1 / 3)
    np.testing.assert_allclose(jolt.impulse, [5.0, 0.0], rtol=0, atol=1e-9)
    assert "velocities jump at t = 0.333333 s, which takes impulses of the drives: a 5" in repr(plan)
    assert plan.feasible
    limited = ap.plan(plan.task.system.model, limits=Limits(torque={"a": 1e9}))
    assert not limited.feasible
    assert limited.violations[0].first == pytest.approx(1 / 3)
    assert limited.suggest() is None


def test_forces_that_jump_have_no_rate():
    """x'' = t up to t = 1/3, where the force is largest and ends at once."""
    third = sp.Rational(1, 3)
    model = pulled(lambda a: ap.Programmed(a.rate.rate - sp.Piecewise((ap.t, ap.t < third), (0, True)), "ramp"))
    plan = ap.plan(model, limits=Limits(torque={"a": 0.8333}, torque_rate={"a": 100.0}))
    force, rate = plan.findings
    assert force.worst == pytest.approx(2.5 / 3, rel=1e-6)
    assert force.first == pytest.approx(0.8333 / 2.5, rel=1e-6)
    assert rate.worst == -np.inf
    assert "torque rate of a: -inf at t = 0.3333 s, where the forces jump" in repr(rate)


def test_a_peak_that_is_soon_over_is_seen():
    """A hand passes 1 mm beside the shoulder, where the arm turns by half a turn within a hundredth of a second."""
    q1, q2 = ap.coordinates("q1 q2")
    upper = ground.rotate("z", q1)
    lower = upper.rotate("z", q2)
    bodies = [
        ap.RigidBody("upper", 2, upper.point(0.25, 0), upper, (0, 0, 0.04)),
        ap.RigidBody("lower", 1.5, upper.point(0.5, 0) + lower.vector(0.25, 0), lower, (0, 0, 0.03)),
    ]
    hand = upper.point(0.5, 0) + lower.vector(0.5, 0)
    line = ap.planning.follow(hand, ground.point(-0.6 + 0.3 * ap.t, 0.001))
    arm = ap.Model(ground, (q1, q2), bodies, [], [line], start={q1: 1.6, q2: 2.0}, until=4.0)
    plan = ap.plan(arm, limits=Limits(torque={q1: 2000.0}))
    tau = plan.effort.along(plan.motion, np.linspace(1.99, 2.01, 2001))[0][:, 0]
    (finding,) = plan.findings
    assert abs(finding.worst) == pytest.approx(np.max(np.abs(tau)), rel=1e-5)
    assert abs(finding.worst) > 16_000
    assert finding.first == pytest.approx(2.0, abs=0.01)


REFUSED = {
    "no force reaches a jerk": (
        lambda: ap.derive(on_edge(ap.Programmed(x.rate - ap.t, "a"), ap.Programmed(x.rate.rate.rate - 2, "b"))),
        "No force of the programme 'b' .* reaches the derivatives of order 3",
    ),
    "one name for two multipliers": (
        lambda: on_edge(ap.Programmed(x.rate.rate.rate, "a.b"), ap.Programmed(y.rate.rate.rate, "a_b")),
        "'a.b' and 'a_b' would both have a state lambda_a_b",
    ),
    "a state with the name of a multiplier": (
        lambda: on_edge(ap.Programmed(x.rate.rate.rate, "a"), states={ap.states("lambda_a"): sp.Integer(1)}),
        "The state lambda_a has the name of a multiplier",
    ),
    "a direction that nobody knows": (
        lambda: ap.plan(on_edge(distance(ground.point(x, y), ground.point(0, 0), 1.0))),
        "No position satisfies the programme 'distance' near the start",
    ),
    "a speed from rest": (
        lambda: ap.plan(on_edge(path_speed(ground.point(x, y), 2.0)), start={x.rate: 0}),
        "from rest none is found; give velocities near the wanted ones",
    ),
    "limits that are none": (
        lambda: ap.plan(on_edge(ap.Programmed(x - ap.t)), limits={"speed": {x: 1.0}}),
        r"limits= takes planning.Limits\(",
    ),
    "a force at another pace": (
        lambda: ap.plan(ap.library.jerk_cart_pendulum(), start={"lambda_jerk": 0.5}, until=0.5).slower(2.0),
        "The start gives lambda_jerk, a force, which does not follow from one pace to another",
    ),
    "gains of a row that is none": (
        lambda: ap.derive(on_edge(ap.Programmed(x - ap.t, "a")), ap.GPME(stabilize={"b": (1.0, 1.0)})),
        "stabilize= names 'b', which is not a row of 'model' of order 2 or less; there are 'a'",
    ),
    "a dependent coordinate that no row gives": (
        lambda: ap.derive(on_edge(ap.Programmed(x - ap.t, "a")), ap.GPME(dependent=[th])),
        "th cannot be dependent: the constraint rows do not give their rates. Take x",
    ),
    "an input without a number": (
        lambda: ap.plan(on_edge(ap.Programmed(x - ap.t)).add(ap.Generalized({th: ap.inputs("u")}))),
        r"The plan needs numbers for u \(0 for a drive that the programme replaces\); give values={u: ...}",
    ),
    "a drive that is none": (
        lambda: ap.plan(on_edge(ap.Programmed(x - ap.t)), drives="motor"),
        "'motor' is not a force",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_planned_is_said(name):
    wish, words = REFUSED[name]
    with pytest.raises(ap.AppellError, match=words):
        wish()


def four_bar():
    """A crank of 0.3, a coupler of 0.8 and a rocker of 0.6 on a base of 1; the jerk of the rocker is programmed."""
    a, b, c = ap.coordinates("a b c")
    crank, rocker = ground.rotate("z", a), ground.rotate("z", c)
    coupler = crank.rotate("z", b)
    pin, base = crank.point(0.3, 0), ground.point(1.0, 0)
    bodies = [
        ap.RigidBody("crank", 1.0, crank.point(0.15, 0), crank, (0, 0, 0.01)),
        ap.RigidBody("coupler", 2.0, pin + coupler.vector(0.4, 0), coupler, (0, 0, 0.1)),
        ap.RigidBody("rocker", 1.5, base + rocker.vector(0.3, 0), rocker, (0, 0, 0.03)),
    ]
    loop = ap.Holonomic(pin + coupler.vector(0.8, 0) - base - rocker.vector(0.6, 0), "loop")
    rows = [loop, profile(c, 3, sp.sin(ap.t), "jerk")]
    start = {a: 0.5, b: 0.6, c: 2.0, a.rate: 1.0, "lambda_jerk": 20.0}
    return ap.Model(ground, (a, b, c), bodies, [ap.Gravity(-9.81 * ground.y)], rows, start=start, until=0.9)


def test_the_rates_of_multipliers_stay_exact_next_to_a_dead_point():
    """Where crank and coupler stretch the rocker can go no further; 1e-5 of the way before, both routes agree."""
    plans = [ap.plan(four_bar(), formulation=f) for f in (ap.Multipliers(), ap.GPME())]
    for plan in plans:
        assert plan.motion.outcome is ap.Outcome.ROWS_SINGULAR
        assert plan.motion.times[-1] == pytest.approx(0.30934722761, abs=1e-9)
    before = plans[0].motion.at(0.99999 * plans[0].motion.times[-1])
    rates = [plan.motion.system.rhs(before.t, plan.motion.system.to_x(before))[-1] for plan in plans]
    assert rates[1] == pytest.approx(rates[0], rel=1e-11)


def test_a_jerk_beside_quaternions():
    """Rows of order three do not count among those of which one is the norm of the quaternion."""
    place, turn = ap.coordinates("a b c"), ap.coordinates("e0 e1 e2 e3")
    frame = ground.rotate_quaternion(*turn)
    body = ap.RigidBody("body", 2.0, ground.point(*place), frame, (0.1, 0.2, 0.3))
    tip = follow(body.center + frame.vector(0.5, 0.1, 0), ground.point(sp.cos(ap.t), sp.sin(ap.t), ap.t / 10))
    rows = [tip, profile(place[0], 3, sp.sin(ap.t), "jerk")]
    start = {turn[0]: 1.0, place[1].rate: 0.3, "lambda_jerk": 0.1}
    model = ap.Model(ground, (*place, *turn), [body], [ap.Gravity(-9.81 * ground.z)], rows, start=start)
    plans = [ap.plan(model, formulation=f, until=0.5) for f in (ap.GPME(), ap.Multipliers())]
    assert all(plan.motion.check().ok for plan in plans)
    np.testing.assert_allclose(*[plan.motion.states([0.5]) for plan in plans], rtol=0, atol=1e-10)
    assert np.linalg.norm(plans[0].motion.states([0.5])[0][3:7]) == pytest.approx(1, abs=1e-13)


def test_a_point_in_a_plane_follows_without_a_word_about_axes():
    circle = follow(ground.point(x, y), ground.point(sp.cos(ap.t), sp.sin(ap.t)))
    assert [row.name for row in circle.rows] == ["follow.x", "follow.y"]


@pytest.mark.parametrize("differentiate", [0, 3])
def test_a_programme_that_leaves_the_workspace_says_so(differentiate):
    """A hand with arms of 0.5 and 0.4 goes along (0.3 + t/2, 0.3): out of reach at t = 2 (sqrt(0.72) - 0.3)."""
    q1, q2 = ap.coordinates("q1 q2")
    upper = ground.rotate("z", q1)
    lower = upper.rotate("z", q2)
    hand = upper.point(0.5, 0) + lower.vector(0.4, 0)
    bodies = [
        ap.RigidBody("upper", 2, upper.point(0.25, 0), upper, (0, 0, 0.04)),
        ap.RigidBody("lower", 1.5, upper.point(0.5, 0) + lower.vector(0.2, 0), lower, (0, 0, 0.02)),
    ]
    task = follow(hand, ground.point(0.3 + ap.t / 2, 0.3), differentiate=differentiate)
    model = ap.Model(ground, (q1, q2), bodies, [], [task], start={q1: 0.3, q2: 1.2})
    motion = ap.plan(model, until=3.0).motion
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    assert motion.times[-1] == pytest.approx(2 * (np.sqrt(0.72) - 0.3), abs=1e-7)
    assert "the edge of what the programme can be followed to" in motion.detail


@pytest.mark.parametrize("order", [0, 1, 2])
def test_one_coordinate_that_is_programmed_altogether(order):
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    row = ap.Programmed([x - sp.sin(ap.t), x.rate - sp.cos(ap.t), x.rate.rate + sp.sin(ap.t)][order])
    start = {x: 0, x.rate: 1}
    model = ap.Model(ground, (x,), [ap.Particle("cart", 2.0, ground.point(x, 0))], [], [row], start=start, until=1.0)
    for formulation in FORMULATIONS:
        if {"holonomic", "linear", "acceleration"} <= formulation.accepts or order == 0:
            system = ap.compile(ap.derive(model, formulation())).bind()
            half = ap.Event(x - 0.5, reset={x: x}, name="half way")
            for motion in (ap.simulate(system), ap.simulate(system, method="dop853", events=[half])):
                assert motion.at(1.0)["x"] == pytest.approx(np.sin(1), abs=1e-11)
            assert [o.t for o in motion.occurrences] == pytest.approx([np.pi / 6])
    torque = ap.plan(model).torques["torque"].values[-1, 0]
    assert torque == pytest.approx(-2 * np.sin(1))


def test_positions_that_part_in_time_are_refused():
    x, ground = ap.coordinates("x"), ap.Frame("ground")
    y = ap.coordinates("y")
    rows = [ap.Programmed(y - 0.6, "here"), ap.Programmed(y - 0.6 - ap.t**2, "there")]
    model = ap.Model(ground, (x, y), [ap.Particle("p", 1.0, ground.point(x, y))], [], rows)
    with pytest.raises(
        ap.AppellError, match=r"'here' .* and 'there' .* coincide.* different positions sooner or later"
    ):
        ap.plan(model, start={y: 0.6}, until=1.0)


def test_a_force_called_like_the_programme_is_no_drive():
    """Drives push along x and leave the weight alone, whatever it is called."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    body, weight = ap.Particle("body", 2, ground.point(x, y)), ap.Gravity(-10 * ground.y, "jerk")
    row, start = ap.Programmed(x.derivative(3) - 1, "jerk"), {x: 0.0, y: 0.0, "x.rate.rate": 0.0}
    plan = ap.plan(ap.Model(ground, (x, y), [body], [weight], [row], start=start), until=1.0)
    np.testing.assert_allclose(plan.torques["torque"].values[-1], [2.0, 0.0], rtol=0, atol=1e-12)
