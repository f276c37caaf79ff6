"""What the joints of a robot declare: friction as forces, limits of plans and of drives."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.planning import Limits

GRIPPER = """
<robot name="gripper">
  <link name="base"/>
  <link name="hand"><inertial><mass value="2"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><mass value="0.2"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="0.3"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="wrist" type="revolute"><parent link="base"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="3" effort="5" velocity="0"/><dynamics damping="0.4" friction="0.1"/></joint>
  <joint name="finger" type="prismatic"><parent link="hand"/><child link="left"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="0.05" effort="0" velocity="0.1"/><dynamics damping="3"/></joint>
  <joint name="thumb" type="prismatic"><parent link="hand"/><child link="right"/><axis xyz="0 1 0"/>
    <limit lower="-0.06" upper="0.01" effort="9" velocity="0.1"/><dynamics damping="1"/>
    <mimic joint="finger" multiplier="-2" offset="0.01"/></joint>
</robot>
"""


@pytest.fixture(scope="module")
def gripper():
    return ap.Chain.from_urdf(GRIPPER, gravity=(0, 0, 0))


def test_friction_of_the_file_acts_where_the_joints_move(gripper):
    """The thumb goes at minus twice the rate of its leader, which feels four times its damping."""
    rough = ap.friction.declared(gripper)
    state = {"wrist.rate": 2.0, "finger.rate": 0.3}
    systems = [ap.compile(ap.derive(model)).bind() for model in (rough, gripper)]
    a, b = (system.accelerations(system.state(state)) for system in systems)
    M = ap.higher_order.Dynamics(gripper).mass_matrix([0.0, 0.0])
    np.testing.assert_allclose(M @ (a - b), [-0.4 * 2.0 - 0.1, -(3 + 4 * 1) * 0.3], rtol=1e-12)


def test_a_robot_that_declares_no_friction_stays_as_it_is():
    arm = ap.library.planar_2r()
    assert ap.friction.declared(arm) is arm


def test_animations_trace_the_tool():
    arm = ap.library.planar_2r()
    motion = ap.simulate(ap.compile(ap.derive(arm)).bind(), {"q1": 0.3}, until=0.1)
    scene = motion.animate()
    (trace,) = scene.traces
    assert trace.name == "tool"
    end = arm.pose([float(motion[q][-1]) for q in arm.coordinates])[:3, 3]
    np.testing.assert_allclose(scene.values.points[trace.point][-1], end, atol=1e-6)


def test_limits_of_plans_and_drives(gripper):
    limits = Limits.of(gripper)
    assert limits.position == {"wrist": (-2, 3), "finger": (0, pytest.approx(0.035))}
    assert limits.speed == {"finger": 0.05}
    assert limits.torque == {"wrist": 5.0}
    assert gripper.efforts == {"tau_wrist": 5.0}
    wrist, finger = gripper.coordinates
    task = gripper.add(ap.Programmed([wrist - sp.sin(ap.t), finger - ap.t / 100], "task"))
    found = ap.plan(task, until=1.0, limits=limits)
    assert [(f.kind, f.name) for f in found.findings] == [
        ("position", "wrist"), ("position", "finger"), ("speed", "finger"), ("torque", "wrist"),
    ]  # fmt: skip
    assert found.feasible
    page = found._repr_html_()
    assert "Feasible: the motion reaches its end" in page
    assert page.count("<table>") == 3  # rows, limits, the start that was moved


def test_a_trajectory_is_a_reference_within_the_efforts(gripper):
    system = ap.compile(ap.derive(gripper)).bind()
    move = ap.higher_order.polynomial([0, 0], [1.0, 0.03], degree=7, limits={"velocity": (1.0, 0.1)})
    law = ap.control.ComputedTorque(gripper, 5.0)
    run = ap.track(system, move, law, start={"wrist": 1.0}, limits=gripper.efforts)
    assert run.motion.times[-1] == move.end
    assert np.max(np.abs(run.motion["tau_wrist"])) <= 5.0
    assert np.max(np.abs(run.error.values[:, 1])) < 1e-10
    page = run._repr_html_()
    assert "wrist" in page
    assert page.count("<table>") == 2
    with pytest.raises(ap.AppellError, match="The trajectory has 1 joints, the mechanism 2 coordinates: wrist, finger"):
        ap.track(system, ap.higher_order.polynomial([0], [1], limits={"velocity": 1}), law)
