"""Programmes together with everything else: variable mass, closed loops, inputs, fully programmed robots."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError
from appell.planning import Limits, follow


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


def test_inputs_under_a_programme_of_order_three_are_refused_by_name():
    x, y = ap.coordinates("x y")
    push = ap.inputs("push")
    ground = ap.Frame("ground")
    body = ap.Particle("p", 1, ground.point(x, y))
    rows = [ap.Programmed(x.rate.rate.rate - sp.sin(ap.t), "jerk")]
    with pytest.raises(FormulationError, match=r"'jerk' .* needs the rates of the inputs push"):
        ap.derive(ap.Model(ground, (x, y), [body], [ap.Generalized({x: push})], rows))


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
