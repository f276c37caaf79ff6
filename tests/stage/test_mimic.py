"""Joints that mimic others have no coordinate; everything is what the free robot gives along theta = N q + o."""

import pickle

import numpy as np
import pytest

import appell as ap
from appell.errors import ModelError
from appell.higher_order import Dynamics, Friction, formula

INERTIAL = """<inertial><origin xyz="0.1 0.02 -0.03" rpy="0.2 0.1 0.3"/><mass value="{m}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.003"/></inertial>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{xyz}" rpy="0.1 0.2 -0.3"/><axis xyz="{axis}"/><limit lower="-1" upper="1" effort="3" velocity="2"/>
{mimic}</joint>"""
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def gripper(mimics):
    """A tree whose joints follow others as `mimics` says; f2 stands before its leaders in the file."""
    joints = [
        ("f2", "prismatic", "c", "d", "0 0.1 0.2", "0 1 0"),
        ("s", "revolute", "base", "a", "0 0 0.3", "0 0 1"),
        ("u", "revolute", "a", "b", "0.3 0 0.1", "0 1 0"),
        ("v", "revolute", "b", "c", "0.2 0 0.1", "1 0 0"),
        ("f1", "prismatic", "c", "e", "0 -0.1 0.2", "0 1 0"),
    ]
    masses = zip("abcde", (3, 2, 1, 0.5, 0.4), strict=True)
    links = "".join(f'<link name="{c}">{INERTIAL.format(m=m)}</link>' for c, m in masses)
    parts = [
        JOINT.format(name=name, kind=kind, parent=p, child=c, xyz=xyz, axis=axis, mimic=mimics.get(name, ""))
        for name, kind, p, c, xyz, axis in joints
    ]
    return f'<robot name="gripper"><link name="base"/>{links}{"".join(parts)}</robot>'


MIMICS = {
    "v": '<mimic joint="u" multiplier="0.5" offset="0.3"/>',
    "f1": '<mimic joint="v" multiplier="0.2"/>',
    "f2": '<mimic joint="f1" multiplier="-1.5" offset="0.02"/>',
}


@pytest.fixture(scope="module")
def bound():
    return ap.Chain.from_urdf(gripper(MIMICS))


@pytest.fixture(scope="module")
def free():
    return ap.Chain.from_urdf(gripper({}))


Q = np.random.default_rng(1).normal(size=(2, 5))


def spread(chain, Q):
    """theta = N q + o by hand: s, u, v = u/2 + 0.3, f2 = -1.5 f1 + 0.02, f1 = v/5."""
    s, u = Q
    v = 0.5 * u
    v[0] += 0.3
    f1 = 0.2 * v
    f2 = -1.5 * f1
    f2[0] += 0.02
    rows = {"s": s, "u": u, "v": v, "f1": f1, "f2": f2}
    return np.array([rows[link.joint] for link in chain.links])


def test_only_leaders_are_coordinates(bound):
    assert [q.name for q in bound.coordinates] == ["s", "u"]
    assert [w.name for w in bound.inputs] == ["tau_s", "tau_u"]
    assert "5 joints RRRPP (3 mimic)" in repr(bound)
    assert bound.index("f2") == 3
    assert bound.links[3].follows is not None


def test_forces_masses_and_energies_are_those_along_the_coordinates(bound, free):
    theta, N = spread(free, Q), bound.coupling.matrix
    np.testing.assert_allclose(bound.coupling.motion(Q), theta, **CLOSE)
    rubbing = Friction(viscous=(0.1, 0.2, 0.3, 0.4, 0.5), dry=0.1, diameter=0.05)
    for extras in ({}, {"payload": (1, 2, 3, 0.1, 0.2, 0.3)}, {"friction": rubbing}):
        ours, theirs = Dynamics(bound, **extras), Dynamics(free, **extras)
        tau = ours.inverse(Q)
        np.testing.assert_allclose(tau, N.T @ theirs.inverse(theta), **CLOSE)
        np.testing.assert_allclose(ours.forward(Q[:, 0], Q[:, 1], tau), Q, rtol=1e-10, atol=1e-10)
    ours, theirs = Dynamics(bound), Dynamics(free)
    np.testing.assert_allclose(ours.mass_matrix(Q[:, 0]), N.T @ theirs.mass_matrix(theta[:, 0]) @ N, **CLOSE)
    units = np.eye(2)
    pairs = [[ours.pairing(Q[:, 0], [a], [b]) for a in units] for b in units]
    np.testing.assert_allclose(pairs, ours.mass_matrix(Q[:, 0]), **CLOSE)
    for p in range(3):
        np.testing.assert_allclose(ours.energy(Q, p), theirs.energy(theta, p), **CLOSE)
        np.testing.assert_allclose(sum(ours.terms(Q, p).values()), ours.energy(Q, p), **CLOSE)
        np.testing.assert_allclose(ours.gradient(Q, p, 1), N.T @ theirs.gradient(theta, p, 1), **CLOSE)
    for ours_too, theirs_too in zip(ours.reactions(Q), theirs.reactions(theta), strict=True):
        np.testing.assert_allclose(ours_too, theirs_too, **CLOSE)
    again = pickle.loads(pickle.dumps(ours))
    np.testing.assert_array_equal(again.inverse(Q), ours.inverse(Q))


def test_kinematics_move_what_follows(bound, free):
    q, theta, h = Q[:, 0], spread(free, Q)[:, 0], 1e-6
    np.testing.assert_allclose(bound.poses(q), free.poses(theta), **CLOSE)
    np.testing.assert_allclose(bound.jacobian(q), free.jacobian(theta) @ bound.coupling.matrix, **CLOSE)
    for name, step in zip(("s", "u"), h * np.eye(2), strict=True):
        slope = (bound.pose(q + step, "d") - bound.pose(q - step, "d")) / (2 * h)
        np.testing.assert_allclose(bound.differential("d", [name], q), slope, rtol=0, atol=1e-9)
        second = (bound.differential("d", ["u"], q + step) - bound.differential("d", ["u"], q - step)) / (2 * h)
        np.testing.assert_allclose(bound.differential("d", ["u", name], q), second, rtol=0, atol=1e-9)
    with pytest.raises(ModelError, match="joint 'v' moves with 'u'; differentiate by that one"):
        bound.differential("d", ["v"], q)


def test_the_model_is_that_of_a_robot_held_by_constraints(bound, free):
    by_name = {q.name: q for q in free.coordinates}
    u, v, f1, f2 = (by_name[e] for e in ("u", "v", "f1", "f2"))
    held = free.add(ap.Holonomic([v - u / 2 - 0.3, f1 - v / 5, f2 + 1.5 * f1 - 0.02], "gears"))
    drives = {"tau_s": 0.7, "tau_u": -0.4}
    ours = ap.compile(ap.derive(bound)).bind(drives)
    theirs = ap.compile(ap.derive(held)).bind({**{w.name: 0.0 for w in held.inputs}, **drives})
    theta = spread(free, Q)
    a = ours.accelerations(ap.State(bound, Q[:, :2].T.ravel()))
    expected = theirs.accelerations(ap.State(held, theta[:, :2].T.ravel()))
    names = [q.name for q in held.coordinates]
    np.testing.assert_allclose(a, [expected[names.index(e)] for e in ("s", "u")], rtol=1e-10)
    assert ap.verify(bound).ok
    rates = ap.compile(ap.derive(bound, ap.HigherOrder(1))).bind()
    start = rates.state({"s": Q[0, 0], "u": Q[1, 0], "s.rate": Q[0, 1], "u.rate": Q[1, 1], **drives})
    np.testing.assert_allclose([start["s.rate.rate"], start["u.rate.rate"]], a, rtol=1e-10)


def test_formulas_of_a_geared_pair():
    mimics = {"v": '<mimic joint="u" multiplier="-2" offset="0.25"/>'}
    links = "".join(f'<link name="{c}">{INERTIAL.format(m=1)}</link>' for c in "ab")
    rows = [("u", "base", "a", ""), ("v", "a", "b", mimics["v"])]
    parts = "".join(
        JOINT.format(name=n, kind="continuous", parent=p, child=c, xyz="0.3 0 0", axis="0 0 1", mimic=m)
        for n, p, c, m in rows
    )
    pair = ap.Chain.from_urdf(f'<robot name="pair"><link name="base"/>{links}{parts}</robot>')
    (q,) = pair.coordinates
    value = formula(pair, 1).subs({q: 0.3, q.rate: 0.7, q.derivative(2): -1.1})
    np.testing.assert_allclose(float(value), Dynamics(pair).energy([[0.3, 0.7, -1.1]], 1), rtol=1e-12)


@pytest.mark.parametrize(
    ("mimics", "message"),
    [
        (
            {"v": '<mimic joint="w"/>'},
            "joint 'v' mimics 'w', which is not a joint that moves. There are: s, u, v, f2, f1",
        ),
        ({"v": '<mimic joint="f11"/>'}, "joint 'v' mimics 'f11'.* Did you mean 'f1'"),
        ({"v": '<mimic joint="u"/>', "u": '<mimic joint="v"/>'}, "joints u -> v -> u mimic each other"),
        ({"v": '<mimic multiplier="2"/>'}, "<mimic> of the joint 'v' has no joint"),
        ({"v": '<mimic joint="u" multiplier="two"/>'}, "multiplier of the joint 'v' needs one number.*'two'"),
    ],
)
def test_bad_mimics_are_refused(mimics, message):
    with pytest.raises(ModelError, match=message):
        ap.Chain.from_urdf(gripper(mimics))
