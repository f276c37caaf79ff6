"""Mimic, planar and floating joints of a URDF against Pinocchio, which has them as joints of their own."""

import numpy as np
import pytest

import appell as ap

pin = pytest.importorskip("pinocchio", reason="Pinocchio is not installed: pip install 'appell[peers]'")

CLOSE = {"rtol": 1e-11, "atol": 1e-11}
INERTIAL = """<inertial><origin xyz="0.1 0.02 -0.03" rpy="0.2 0.1 0.3"/><mass value="{m}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial>"""


def robot(*joints):
    """A robot of rows: name, type, parent, child, axis, and what else stands in the joint."""
    text = '<robot name="robot"><link name="base"/>'
    for i, (name, kind, parent, child, axis, more) in enumerate(joints, 1):
        text += f'<link name="{child}">{INERTIAL.format(m=1 + 1 / i)}</link>'
        text += f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        text += f'<origin xyz="0.2 {i / 10} 0.1" rpy="0.1 0.2 -0.3"/><axis xyz="{axis}"/>'
        text += f'<limit lower="-2" upper="2" effort="9" velocity="9"/>{more}</joint>'
    return text + "</robot>"


def test_mimics():
    text = robot(
        ("s", "revolute", "base", "a", "0 0 1", ""),
        ("u", "revolute", "a", "b", "0 1 0", ""),
        ("v", "revolute", "b", "c", "1 0 0", '<mimic joint="u" multiplier="0.5" offset="0.3"/>'),
        ("f1", "prismatic", "c", "d", "0 1 0", ""),
        ("f2", "prismatic", "c", "e", "0 1 0", '<mimic joint="f1" multiplier="-1.5" offset="0.02"/>'),
    )
    chain, model = ap.Chain.from_urdf(text), pin.buildModelFromXML(text, mimic=True)
    data, Q = model.createData(), np.random.default_rng(2).uniform(-1, 1, (3, 3))
    assert (model.nv, [q.name for q in chain.coordinates]) == (3, ["s", "u", "f1"])
    arm = ap.higher_order.Dynamics(chain)
    np.testing.assert_allclose(arm.inverse(Q)[:, 0], pin.rnea(model, data, *Q.T.copy()), **CLOSE)
    M = np.triu(pin.crba(model, data, Q[:, 0].copy()))
    np.testing.assert_allclose(arm.mass_matrix(Q[:, 0]), M + np.triu(M, 1).T, **CLOSE)


def test_a_floating_and_a_planar_joint():
    """Kinetic energy, forces at rest and poses at one configuration; speeds are translated by the poses' own rates."""
    text = robot(
        ("fl", "floating", "base", "a", "1 0 0", ""),
        ("u", "revolute", "a", "b", "0 1 0", ""),
        ("pl", "planar", "b", "c", "0 0 1", ""),
    )
    chain, model = ap.Chain.from_urdf(text), pin.buildModelFromXML(text)
    names = "fl_x fl_y fl_z fl_yaw fl_pitch fl_roll u pl_x pl_y pl_angle".split()
    assert [s.name for s in chain.coordinates] == names
    data, (q, v) = model.createData(), np.random.default_rng(3).uniform(-0.9, 0.9, (2, 10))
    T, Td = chain.numbers().poses(np.stack([q, v], axis=-1))
    before = np.eye(4)
    configuration, speeds, turns = pin.neutral(model), np.zeros(model.nv), {}
    for name, child, parent in (("fl", 5, None), ("u", 6, 5), ("pl", 9, 6)):
        joint = model.joints[model.getJointId(name)]
        seat = model.jointPlacements[model.getJointId(name)].homogeneous
        P, Pd = (before, np.zeros((4, 4))) if parent is None else (T[parent], Td[parent])
        X = np.linalg.inv(P @ seat) @ T[child]  # the joint's own motion, and its twist in the child's axes
        Xd = np.linalg.inv(P @ seat) @ (Td[child] - Pd @ seat @ X)
        W = np.linalg.inv(X) @ Xd
        twist = np.array([*W[:3, 3], W[2, 1], W[0, 2], W[1, 0]])
        turns[name] = X[:3, :3]
        here, there = slice(joint.idx_q, joint.idx_q + joint.nq), slice(joint.idx_v, joint.idx_v + joint.nv)
        if name == "fl":
            configuration[here] = [*X[:3, 3], *pin.Quaternion(X[:3, :3]).coeffs()]
            speeds[there] = twist
        elif name == "u":
            configuration[here], speeds[there] = q[6], v[6]
        else:
            configuration[here] = [*X[:2, 3], X[0, 0], X[1, 0]]
            speeds[there] = twist[[0, 1, 5]]
    pin.forwardKinematics(model, data, configuration, speeds)
    pin.updateFramePlacements(model, data)
    for child, name in ((5, "a"), (6, "b"), (9, "c")):
        np.testing.assert_allclose(T[child], data.oMf[model.getFrameId(name)].homogeneous, **CLOSE)
    arm = ap.higher_order.Dynamics(chain)
    energy = arm.energy(np.stack([q, v], axis=-1), 0)
    np.testing.assert_allclose(energy, pin.computeKineticEnergy(model, data, configuration, speeds), **CLOSE)
    held = arm.inverse(np.stack([q, 0 * q, 0 * q], axis=-1))[:, 0]
    theirs = pin.computeGeneralizedGravity(model, data, configuration)
    np.testing.assert_allclose(held[:3], turns["fl"] @ theirs[:3], **CLOSE)
    np.testing.assert_allclose(held[6], theirs[6], **CLOSE)
    np.testing.assert_allclose(held[7:9], turns["pl"][:2, :2] @ theirs[7:9], **CLOSE)
    np.testing.assert_allclose(held[9], theirs[9], **CLOSE)
    assert ap.verify(chain).ok
