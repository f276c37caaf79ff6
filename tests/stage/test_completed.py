"""References for some coordinates, or for the place of a tool, completed by constraints; gains by name."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.control import MPC, ComputedTorque
from appell.errors import ModelError


def hung():
    """A load on two winches, in the coordinates of the load and the lengths of its ropes."""
    x, z, left, right = ap.coordinates("x z left right")
    pulls, ground = ap.inputs("f g"), ap.Frame("ground")
    load = ap.Particle("load", 3.0, ground.point(x, 0, z))
    ropes = [ap.Holonomic((x + 2) ** 2 + z**2 - left**2, "one"), ap.Holonomic((x - 2) ** 2 + z**2 - right**2, "two")]
    winches = ap.Generalized({left: -pulls[0], right: -pulls[1]}, "winches")
    return ap.Model(
        ground, (x, z, left, right), [load], [ap.Gravity(-9.81 * ground.z), winches], ropes,
        start={z: -1.0, left: 2.2, right: 2.2}, name="hung",
    )  # fmt: skip


def test_what_the_constraints_tie_to_a_reference_needs_no_formula():
    """Ropes by Pythagoras, pulls by the balance of the load."""
    model = hung()
    run = ap.track(
        ap.compile(ap.derive(model)), {"x": sp.sin(ap.t) / 2, "z": -1}, ComputedTorque(model, 8.0), {"x": 0.1}, 3.0
    )
    q, _, _ = run.reference.at(run.motion.times)
    x = np.sin(run.motion.times) / 2
    by_hand = np.array([x, 0 * x - 1, np.hypot(x + 2, 1), np.hypot(x - 2, 1)]).T
    np.testing.assert_allclose(q, by_hand, rtol=0, atol=1e-10)
    assert run.metrics(after=2.9)["right"]["largest"] < 1e-6
    f, g, a = run.motion.columns["f"][-1], run.motion.columns["g"][-1], -x[-1]
    one, two = -by_hand[-1, :2] - [2, 0], -by_hand[-1, :2] + [2, 0]  # from the load along its ropes
    total = f * one / np.hypot(*one) + g * two / np.hypot(*two)
    np.testing.assert_allclose(total, [3 * a, 3 * 9.81], rtol=0, atol=1e-4)


def test_a_path_gives_the_heading_and_this_the_angle_of_steering(vehicle):
    """Rows on velocities demand places where all their rates are given, one after the other."""
    path = {"x": 5 * ap.t, "y": 2 * sp.sin(ap.t)}
    run = ap.track(ap.compile(ap.derive(vehicle)), path, ComputedTorque(vehicle, 3.0), until=4.0)
    t = run.motion.times
    speed, turning = np.hypot(5, 2 * np.cos(t)), -10 * np.sin(t) / (25 + 4 * np.cos(t) ** 2)
    by_hand = np.array([5 * t, 2 * np.sin(t), np.arctan2(2 * np.cos(t), 5), np.arctan(2.5 * turning / speed)]).T
    np.testing.assert_allclose(run.reference.at(t)[0][:, :4], by_hand, rtol=0, atol=1e-9)
    assert max(entry["largest"] for entry in run.metrics().values()) < 1e-7
    assert np.ptp(run.motion.columns["trailer"]) > 0.1


@pytest.mark.parametrize(("near", "heading"), [(0.3, np.pi / 4), (3.0, -3 * np.pi / 4)])
def test_a_path_is_followed_forwards_or_backwards_as_the_start_has_it(near, heading):
    model = ap.library.differential_drive()
    path, law = {"x": ap.t, "y": sp.sin(ap.t)}, ComputedTorque(model, 3.0)
    run = ap.track(ap.compile(ap.derive(model)), path, law, {"heading": near}, until=2.0)
    q, v, _ = run.reference(0.0)
    assert np.cos(q[2] - heading) == pytest.approx(1, abs=1e-12)
    assert np.sign(v[3] + v[4]) == np.sign(np.cos(heading))


def test_the_place_of_a_tool_is_a_reference():
    arm = ap.library.planar_2r()
    X, Y, _ = arm.ground.components(arm.tool_point)
    place = {X: 0.5 + sp.cos(2 * ap.t) / 10, Y: 0.3 + sp.sin(2 * ap.t) / 10}
    start = {"q1": -0.2, "q2": 1.4}
    run = ap.track(ap.compile(ap.derive(arm)).bind(), place, ComputedTorque(arm, 10.0), start, until=3.0)
    one, two = (run.motion.columns[name] for name in ("q1", "q2"))
    t = run.motion.times[-1]
    assert two[-1] > 0  # the elbow on the side of the start
    assert 0.5 * np.cos(one[-1]) + 0.4 * np.cos(one[-1] + two[-1]) == pytest.approx(0.5 + np.cos(2 * t) / 10, abs=1e-9)


def test_a_reference_that_leaves_something_open_is_refused():
    model = hung()
    system, law = ap.compile(ap.derive(model)), ComputedTorque(model, 8.0)
    with pytest.raises(
        ModelError, match=r"x leaves 1 degree of freedom of 'hung' open .* about z, left, right.*joints="
    ):
        ap.track(system, {"x": 0}, law, until=1.0)
    with pytest.raises(ModelError, match="'y' is not a coordinate of 'hung'"):
        ap.track(system, {"y": 0}, law, until=1.0)
    with pytest.raises(ModelError, match="no end of its own"):
        ap.track(system, {"x": 0, "z": -1}, law)


def test_a_reference_out_of_reach_is_refused():
    arm = ap.library.planar_2r()
    X, Y, _ = arm.ground.components(arm.tool_point)
    system, law = ap.compile(ap.derive(arm)).bind(), ComputedTorque(arm, 10.0)
    with pytest.raises(ModelError, match="cannot be followed to its end"):
        ap.track(system, {X: 0.5 + ap.t, Y: 0.1}, law, {"q1": -0.2, "q2": 1.4}, until=3.0)


def test_gains_by_name_are_those_of_a_list():
    model = ap.library.planar_2r()
    assert (ComputedTorque(model, {"q2": 7, "q1": 5}).delta == ComputedTorque(model, [5, 7]).delta).all()
    named, listed = MPC(model, {"q2": 9}, effort={"tau1": 1, "tau2": 4}), MPC(model, [0, 9], effort=[1, 4])
    assert (named.W == listed.W).all()
    assert (named.R == listed.R).all()


def test_a_loop_whose_rows_say_the_same_twice_follows_computed_torque():
    """Beside the constraints, where an integrator looks as well, Bricard's fifth row seems to hold the loop."""
    push = ap.inputs("push")
    loop = ap.library.bricard()
    loop = loop.add(ap.Generalized({loop.coordinates[0]: push}))
    swing = {"q1": 0.3 * sp.sin(2 * ap.t)}
    run = ap.track(ap.compile(ap.derive(loop)), swing, ComputedTorque(loop, 8.0), {"q1": 0.05}, until=3.0)
    assert run.metrics(after=2.9)["q5"]["largest"] < 1e-8


def test_what_its_rows_hold_altogether_is_no_mechanism_to_move():
    x, z = ap.coordinates("x z")
    push = ap.inputs("push")
    model = hung().add(ap.Prescribed(x, ap.t), ap.Prescribed(z, -1), ap.Generalized({x: push}))
    law = ComputedTorque(model, 8.0)
    with pytest.raises(ModelError, match="leave nothing free that a law could move"):
        law.dynamics.inputs_for(0.0, *np.array([[0, -1, 5**0.5, 5**0.5], [1, 0, 0, 0]]), np.zeros(0), np.zeros(4))
