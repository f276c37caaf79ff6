"""Steady motions in a circle: what rolls, its place and heading left aside."""

import numpy as np
import pytest

import appell as ap
from appell.errors import EquilibriumError


def momentum_of_a_disk(m, r, g, lean, yaw_rate, spin_rate):
    """What Euler's equation leaves of a thin disk whose centre goes round with its heading, at heading zero."""
    up, axle = np.array([0, -np.sin(lean), np.cos(lean)]), np.array([0, np.cos(lean), np.sin(lean)])
    turn = np.array([0, 0, yaw_rate])
    omega = turn + spin_rate * axle
    acceleration = np.cross(turn, np.cross(omega, r * up))
    across, along = m * r**2 / 4, m * r**2 / 2
    momentum = across * omega + (along - across) * (omega @ axle) * axle
    return np.cross(turn, momentum) - np.cross(-r * up, m * (acceleration + np.array([0, 0, g])))


@pytest.mark.parametrize(
    ("wanted", "inputs"),
    [
        ({"lean": 0.2, "yaw.rate": 1.0}, None),
        ({"yaw.rate": 1.0, "spin.rate": -10.0}, None),
        ({"lean": -0.6, "spin.rate": 7.0}, ["yaw.rate"]),
        ({"lean": 0.0, "yaw.rate": 20.0}, None),  # on the spot
    ],
)
def test_a_disk_rolls_in_a_circle_by_eulers_equation(wanted, inputs):
    disk = ap.library.rolling_disk()
    turn = ap.equilibrium(disk, {"yaw": 0.0, **wanted}, inputs=inputs)
    m, r, g = (disk.values[name] for name in "mrg")
    left = momentum_of_a_disk(m, r, g, turn["lean"], turn["yaw.rate"], turn["spin.rate"])
    np.testing.assert_allclose(left, 0, rtol=0, atol=1e-11)
    for name, value in wanted.items():
        assert turn[name] == value
    motion = ap.simulate(turn.system, turn, until=3.0)
    for name in ("lean", "yaw.rate", "spin.rate"):
        np.testing.assert_allclose(motion.columns[name], turn[name], rtol=0, atol=1e-7)
    condition = next(e for e in ap.stability(turn).conditions if "equations of rest" in e.text)
    assert condition.holds


def test_a_vehicle_turns_about_a_point_on_its_axles(vehicle):
    """Ackermann's centre: the rear axle at L / tan(steer) from it, the trailer's at the leg of that and its length."""
    turn = ap.equilibrium(vehicle, {"x.rate": 5.0, "steer": 0.3})
    radius = 2.5 / np.tan(0.3)
    assert turn["heading.rate"] == pytest.approx(5 / radius, rel=1e-12)
    assert turn["trailer"] == pytest.approx(-np.arcsin(3 / radius), rel=1e-12)
    lin = ap.linearize(turn)
    assert lin.dropped == ("x", "y", "heading")
    assert lin.states == ("steer", "trailer", "v_body_x", "steer.rate")
    law = ap.control.lqr(lin, {"steer": 1, "v_body_x": 1}, {"push": 1e-6, "turn": 1e-2})
    assert law.certificate.verdict.name == "ASYMPTOTIC"
    back = ap.simulate(law.system, law.start({"trailer": turn["trailer"] + 0.2}), until=30.0)
    assert back.columns["heading.rate"][-1] == pytest.approx(5 / radius, abs=1e-5)
    assert back.columns["trailer"][-1] == pytest.approx(turn["trailer"], abs=1e-5)


def test_reactions_of_a_turn_hold_the_masses_in_it(vehicle):
    """The rows of the axles push sideways: together what takes the masses round, and along the wheels nothing."""
    turn = ap.equilibrium(vehicle, {"x.rate": 5.0, "steer": 0.3, "heading": 0.0})
    system = turn.system
    loads = ap.simulate(system, turn, until=0.1, points=2).reactions()
    for name, value in turn.multipliers.items():
        assert value == pytest.approx(float(loads[name][0]), rel=1e-9)


def test_a_bicycle_rides_in_a_circle_without_hands():
    bicycle = ap.library.bicycle()
    turn = ap.equilibrium(bicycle, {"yaw.rate": 0.3}, guess={"lean": -0.1, "steer": 0.1, "spin_r.rate": -15.0})
    assert turn.freedom == 0
    assert turn["lean"] * turn["steer"] * turn["x.rate"] != 0
    motion = ap.simulate(turn.system, turn, until=2.0)
    for name in ("lean", "steer", "yaw.rate", "spin_r.rate"):
        np.testing.assert_allclose(motion.columns[name], turn[name], rtol=0, atol=1e-8)
    with pytest.raises(EquilibriumError, match=r"yaw is not a cyclic coordinate.*No steady motion in a circle"):
        ap.equilibrium(bicycle, {"yaw.rate": 0.3, "spin_r.rate": -15.0})


def test_a_skate_with_drag_needs_a_force_and_a_torque():
    """Newton and Euler about the blade, the mass centre a beside it: m a w^2 is missing from the drag, m a v w adds."""
    x, y, h = ap.coordinates("x y h")
    push, turn = ap.inputs("push turn")
    ground = ap.Frame("ground")
    frame = ground.rotate("z", h)
    skate = ap.RigidBody("skate", 2.0, ground.point(x, y, 0) + 0.1 * frame.x, frame, (0, 0, 0.1))
    drag = ap.Generalized({x: -0.5 * x.rate, y: -0.5 * y.rate, h: -0.2 * h.rate})
    drives = [ap.Force(push * frame.x, skate), ap.Torque(turn * ground.z, skate)]
    blade = ap.Rolling(skate, ground.point(x, y, 0), along=[frame.y], name="blade")
    model = ap.Model(ground, (x, y, h), [skate], [drag, *drives], [blade])
    circle = ap.equilibrium(model, {"x.rate": 2.0, "h.rate": 0.5})
    assert circle["push"] == pytest.approx(0.5 * 2 - 2 * 0.1 * 0.5**2, rel=1e-12)
    assert circle["turn"] == pytest.approx(0.2 * 0.5 + 2 * 0.1 * 2 * 0.5, rel=1e-12)
    assert circle["blade"] == pytest.approx(2 * 2 * 0.5, rel=1e-12)  # m v w
    assert ap.stability(circle).verdict.name == "ASYMPTOTIC"
    family = ap.equilibrium(model, {"h.rate": 0.5})  # of circles at every speed
    assert (family.freedom, len(family.branches)) == (1, 1)


def test_a_heading_on_a_slope_is_not_left_aside(vehicle):
    """Weight along the ground tells one heading from another: nothing goes round steadily."""
    model = vehicle
    slope = model.add(ap.Gravity(-1.0 * model.ground.x))
    with pytest.raises(EquilibriumError, match="No steady motion in a circle"):
        ap.equilibrium(slope, {"x.rate": 5.0, "steer": 0.3})
