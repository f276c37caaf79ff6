"""Computed torque of some joints, while all else moves as it must."""

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

import appell as ap
from appell.control import ComputedTorque
from appell.errors import ModelError

ground = ap.Frame("ground")


def satellite():
    """A hub with an arm in the plane, free in space: one motor for four degrees of freedom."""
    x, y, hub, joint = ap.coordinates("x y hub joint")
    motor = ap.inputs("motor")
    base = ground.at(ground.point(x, y, 0)).rotate("z", hub)
    arm = base.at(base.point(0.3, 0, 0)).pin(joint)
    bodies = [
        ap.RigidBody("base", 10, base.origin, base, (0, 0, 1)),
        ap.RigidBody("arm", 2, arm.point(0.4, 0, 0), arm, (0, 0, 0.1)),
    ]
    return ap.Model(
        ground, (x, y, hub, joint), bodies, [ap.Torque(motor * ground.z, bodies[1], bodies[0])], name="satellite"
    )


def test_a_satellite_turns_by_what_its_arm_does():
    """No momentum at first, none ever: hub' = -joint' times a share that is a function of the joint alone."""
    model = satellite()
    law = ComputedTorque(model, 4.0, joints=["joint"])
    path = 0.2 + sp.sin(ap.t)
    start = {"joint": 0.5, "joint.rate": 0.0, "hub": 0.1}
    run = ap.track(ap.compile(ap.derive(model)), {"joint": path}, law, start, until=4.0)
    t = run.motion.times
    error, rate = 0.3, -1.0  # e'' + 8 e' + 16 e = 0
    by_hand = (error + (rate + 4 * error) * t) * np.exp(-4 * t)
    np.testing.assert_allclose(run.error.sel(coordinate="joint"), by_hand, rtol=0, atol=1e-8)
    reduced = 10 * 2 / 12

    def turns(q):  # about the common mass centre: of all, and of the arm by its joint
        across = reduced * (0.3**2 + 0.4**2 + 2 * 0.3 * 0.4 * np.cos(q))
        return 1 + 0.1 + across, 0.1 + reduced * (0.4**2 + 0.3 * 0.4 * np.cos(q))

    joint = run.motion.columns["joint"]
    whole, own = turns(joint)
    hub_rate = -own / whole * run.motion.columns["joint.rate"]
    np.testing.assert_allclose(run.motion.columns["hub.rate"], hub_rate, rtol=0, atol=1e-8)
    assert np.ptp(run.motion.columns["hub"]) > 0.3
    assert run.labels == ("joint",)


def cart_with_pole(redundant):
    """A cart that is pushed, with a bob that hangs on it by a rod: by an angle, or in the bob's place under a row."""
    x, angle, X, Y = ap.coordinates("x angle X Y")
    push = ap.inputs("push")
    place = ground.point(X, Y) if redundant else ground.at(ground.point(x, 0)).pin(angle).point(0, -0.5)
    bob, cart = ap.Particle("bob", 0.4, place), ap.Particle("cart", 1.0, ground.point(x, 0))
    rows = [ap.Holonomic((X - x) ** 2 + Y**2 - 0.25, "rod")] * redundant
    return ap.Model(
        ground, (x, X, Y) if redundant else (x, angle), [cart, bob],
        [ap.Gravity(-9.81 * ground.y), ap.Generalized({x: push})], rows, start={X: 0.0, Y: -0.5} if redundant else {},
        name="cart",
    )  # fmt: skip


@pytest.mark.parametrize("redundant", [False, True])
def test_a_cart_follows_and_its_load_swings(redundant):
    """The angle by an equation of its own: l a'' = -g sin a - x'' cos a, with x on its reference from the start."""
    model = cart_with_pole(redundant)
    law = ComputedTorque(model, 5.0, joints=["x"])
    run = ap.track(ap.compile(ap.derive(model)), {"x": 0.3 * sp.sin(3 * ap.t)}, law, until=3.0)
    assert run.metrics()["x"]["largest"] < 1e-8

    def swing(t, s):
        return [s[1], (-9.81 * np.sin(s[0]) + 2.7 * np.sin(3 * t) * np.cos(s[0])) / 0.5]

    t, columns = run.motion.times, run.motion.columns
    start = -0.9 / 0.5 if redundant else 0.0  # the bob rests, or its rod does
    angle = solve_ivp(swing, (0, 3), [0, start], rtol=1e-11, atol=1e-12, t_eval=t).y[0]
    found = np.arctan2(columns["X"] - columns["x"], -columns["Y"]) if redundant else columns["angle"]
    np.testing.assert_allclose(found, angle, rtol=0, atol=1e-7)


def test_joints_that_nothing_drives_are_refused():
    model = satellite()
    system = ap.compile(ap.derive(model))
    for joints, message in (  # an arm along x does not move its hub along it
        (["x"], "cannot give x any acceler"),
        (["hub", "joint"], r"\(rank 1 of 2\)"),
    ):
        with pytest.raises(ModelError, match=message):
            ap.track(system, dict.fromkeys(joints, sp.sin(ap.t)), ComputedTorque(model, 4.0, joints=joints), until=1.0)
    with pytest.raises(ModelError, match="No coordinates follow; name some in joints="):
        ComputedTorque(model, 4.0, joints=[])
    with pytest.raises(ModelError, match=r"'satellite' has 4 coordinates and 1 inputs \(motor\)"):
        ap.control.track_many(
            system, dict.fromkeys("x y hub joint".split(), ap.t), ComputedTorque(model, 4.0), np.zeros((1, 8)), 1.0
        )
    with pytest.raises(ModelError, match="'elbow' is not a coordinate of 'satellite'"):
        ComputedTorque(model, 4.0, joints=["elbow"])
    with pytest.raises(ModelError, match="computed torque of all coordinates"):
        ap.control.track_many(
            system, {"joint": ap.t}, ComputedTorque(model, 4.0, joints=["joint"]), np.zeros((1, 8)), 1.0
        )
