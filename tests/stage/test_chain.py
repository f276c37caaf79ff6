"""Chains: joints in, poses, Jacobians and differential matrices out, and a model that every formulation takes."""

import pickle
from itertools import combinations_with_replacement
from math import comb

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ImpossibleBodyWarning, MissingValueError, ModelError
from appell.graph.series import from_derivatives, to_derivatives
from appell.model.screws import adjoint, carried, exponential, hat, inverse

RNG = np.random.default_rng(7)
a, b = ap.parameters("a b")


def turned(angle, length=1):
    """A pose turned about y, of axes with this length."""
    c, s = length * sp.cos(angle), length * sp.sin(angle)
    return sp.Matrix([[c, 0, s, 0.1], [0, 1, 0, 0.2], [-s, 0, c, 0.3], [0, 0, 0, 1]])


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def random_tree(n, seed, kinds=("revolute", "prismatic", "helical"), straight=False):
    """Joints with random axes, frames and bodies, on random parents."""
    rng, joints = np.random.default_rng(seed), []
    for i in range(n):
        axis = rng.normal(size=3)
        kind = kinds[i % len(kinds)]
        frame = np.eye(4)
        frame[:3, :3], frame[:3, 3] = rotation(rng), rng.uniform(-0.5, 0.5, 3)
        points = rng.normal(size=(12, 3)) * 0.1
        second = points.T @ points / len(points)
        joints.append(
            ap.Joint(
                axis / np.linalg.norm(axis),
                rng.uniform(-0.5, 0.5, 3),
                kind,
                pitch=0.1 if kind == "helical" else 0,
                mass=float(rng.uniform(0.5, 2)),
                center=rng.uniform(-0.2, 0.2, 3),
                inertia=np.trace(second) * np.eye(3) - second,
                frame=frame,
                parent=None if straight or i == 0 else int(rng.integers(0, i)),
            )
        )
    return ap.Chain(joints, gravity=(1.0, -2.0, -9.0), tool=(0.1, 0.2, 0.3))


@pytest.fixture(scope="module")
def tree():
    return random_tree(6, 3)


def by_expm(screw, q):
    from scipy.linalg import expm

    return expm(hat(screw) * q)


@pytest.mark.parametrize(
    "screw",
    [
        (0, 0.6, 0.8, 0.3, -0.2, 0.7),
        (0, 0, 0, 0.6, 0, 0.8),
        (1, 0, 0, 0.25, 0.1, -0.4),
    ],
)
def test_the_exponential_of_a_screw(screw):
    screw = np.array(screw, dtype=float)
    np.testing.assert_allclose(exponential(screw, np.array([0.83]))[0], by_expm(screw, 0.83), rtol=0, atol=1e-14)


def test_screw_algebra_holds():
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation(RNG), RNG.normal(size=3)
    screw = RNG.normal(size=6)
    np.testing.assert_allclose(hat(adjoint(T) @ screw), T @ hat(screw) @ inverse(T), rtol=0, atol=1e-13)


def test_poses_are_products_of_exponentials_at_home(tree):
    """T_i = prod exp(X_l q_l) T_i0 with the screws in ground axes."""
    data, q = tree.numbers(), RNG.uniform(-2, 2, 6)
    poses = tree.poses(q)
    for i, path in enumerate(data.paths):
        T = np.eye(4)
        for j in path:
            T = T @ by_expm(data.home_screws[j], q[j])
        np.testing.assert_allclose(poses[i], T @ data.home[i], rtol=0, atol=1e-13)


def test_home_poses_are_those_given(tree):
    data = tree.numbers()
    T = data.home[3]
    np.testing.assert_allclose(T[:3, :3] @ T[:3, :3].T, np.eye(3), rtol=0, atol=1e-14)
    arm = ap.Chain([ap.Joint("z", (1, 2, 3), mass=1, inertia=(1, 1, 1), frame=T)])
    np.testing.assert_allclose(arm.numbers().home[0], T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(arm.numbers().home_screws[0], [0, 0, 1, 2, -1, 0], rtol=0, atol=1e-14)


def test_the_frames_of_the_model_have_the_poses_of_the_chain(tree):
    q = RNG.uniform(-2, 2, 6)
    at = dict(zip(tree.coordinates, q, strict=True))
    for i in (2, 5):
        origin = [float(e.subs(at)) for e in tree.ground.components(tree.frames[i].origin)]
        np.testing.assert_allclose(origin, tree.poses(q)[i][:3, 3], rtol=0, atol=1e-13)
        x = [float(e.subs(at)) for e in tree.ground.components(tree.frames[i].x)]
        np.testing.assert_allclose(x, tree.poses(q)[i][:3, 0], rtol=0, atol=1e-13)


def test_poses_of_many_states_at_once(tree):
    q = RNG.uniform(-2, 2, (3, 5, 6))
    np.testing.assert_array_equal(tree.poses(q)[1, 2], tree.poses(q[1, 2]))
    assert tree.jacobian(q).shape == (3, 5, 6, 6)


@pytest.mark.parametrize("joints", [(4,), (0, 2), (5, 5), (5, 0, 5), (2, 4, 2, 0), (1, 1, 1, 1)])
def test_differential_matrices_are_derivatives(tree, joints):
    """A_{i;j1..js}, exact: the coefficient of a multilinear Taylor series by complex steps, one order at a time."""
    q, *inner = RNG.uniform(-2, 2, 6), *joints[1:]
    for body in range(6):
        step = 1e-6
        ahead, behind = q.copy(), q.copy()
        ahead[joints[0]] += step
        behind[joints[0]] -= step
        slope = (tree.differential(body, inner, ahead) - tree.differential(body, inner, behind)) / (2 * step)
        np.testing.assert_allclose(tree.differential(body, joints, q), slope, rtol=0, atol=1e-8)


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize("slant", [1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 0.0])
def test_the_inertia_of_axes_that_are_all_but_parallel(size, slant):
    """M = sum of m J'J + w'Iw. The common normal of such axes is far away, and no place for a frame."""
    joints, at = [], np.zeros(3)
    for _ in range(4):
        axis, at = np.array([0.6, 0, 0.8]) + slant * RNG.normal(size=3), at + size * RNG.normal(size=3)
        inertia = 0.1 * size**2 * (np.eye(3) + 0.1)
        center = tuple(0.2 * size * RNG.normal(size=3))
        joints.append(ap.Joint(tuple(axis / np.linalg.norm(axis)), at, mass=1, center=center, inertia=inertia))
    arm, q = ap.Chain(joints), RNG.uniform(-2, 2, 4)
    expected = np.zeros((4, 4))
    for i, link in enumerate(arm.links):
        J, R, I = arm.jacobian(q, i, link.center), arm.poses(q)[i, :3, :3], np.array(link.inertia, dtype=float)
        expected += J[:3].T @ J[:3] + J[3:].T @ R @ I @ R.T @ J[3:]
    found = ap.higher_order.Dynamics(arm).mass_matrix(q)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_differential_matrices_do_not_depend_on_the_order_of_joints(tree):
    q = RNG.uniform(-2, 2, 6)
    np.testing.assert_array_equal(tree.differential(5, (0, 5), q), tree.differential(5, (5, 0), q))
    np.testing.assert_array_equal(tree.differential(5, 5, q), tree.differential(5, (5,), q))


def screws_in_space(data, Q):
    """S_j^(k), time derivatives of the screws of all joints in ground axes."""
    poses = np.stack(from_derivatives(data.poses(Q)))
    jets = [carried(poses[:, j], A) for j, A in enumerate(data.screws)]
    return np.stack(to_derivatives(list(np.stack(jets, axis=-2))))


def test_the_formula_with_the_joints_in_the_wrong_order_is_wrong(tree):
    """(76) of the source states no order; it holds only along the path outwards."""
    data, q = tree.numbers(), RNG.uniform(-2, 2, (6, 1))
    path = data.paths[5]
    S, T = hat(screws_in_space(data, q)[0]), data.poses(q)[0][5]
    j, k = path[0], path[-1]
    assert np.abs(S[k] @ S[j] @ T - data.differential(q, 5, (j, k))[0]).max() > 1e-2


def test_time_derivatives_follow_from_those_of_lower_order(tree):
    """T^(n) against Faa di Bruno: T' = A_j q_j', T'' = A_jk q_j' q_k' + A_j q_j''."""
    data, Q = tree.numbers(), RNG.uniform(-1, 1, (6, 3))
    T = data.poses(Q)
    for i in range(6):
        A = [data.differential(Q[:, :1], i, (j,))[0] for j in range(6)]
        first = sum(A[j] * Q[j, 1] for j in range(6))
        second = sum(A[j] * Q[j, 2] for j in range(6))
        for j, k in combinations_with_replacement(range(6), 2):
            term = data.differential(Q[:, :1], i, (j, k))[0] * Q[j, 1] * Q[k, 1]
            second = second + (term if j == k else 2 * term)
        np.testing.assert_allclose(T[1, i], first, rtol=0, atol=1e-13)
        np.testing.assert_allclose(T[2, i], second, rtol=0, atol=1e-13)


def test_screws_obey_their_bracket(tree):
    """S_i^(k+1) = sum_l C(k,l) [V_i^(l), S_i^(k-l)] with V_i = sum_{j<=i} S_j q_j'."""
    data, Q = tree.numbers(), RNG.uniform(-1, 1, (6, 5))
    S = hat(screws_in_space(data, Q))
    for i, path in enumerate(data.paths):
        for k in range(4):
            V = [sum(comb(m, r) * S[r, j] * Q[j, 1 + m - r] for j in path for r in range(m + 1)) for m in range(k + 1)]
            right = sum(comb(k, l) * (V[l] @ S[k - l, i] - S[k - l, i] @ V[l]) for l in range(k + 1))
            np.testing.assert_allclose(S[k + 1, i], right, rtol=0, atol=1e-12)


def test_the_jacobian_gives_the_velocity(tree):
    data, Q = tree.numbers(), RNG.uniform(-1, 1, (6, 3))
    J, T = data.jacobian(Q), data.poses(Q)[:, data.tool_body] @ data.tool
    np.testing.assert_allclose(J[0][:3] @ Q[:, 1], T[1][:3, 3], rtol=0, atol=1e-13)
    acceleration = J[0][:3] @ Q[:, 2] + J[1][:3] @ Q[:, 1]
    np.testing.assert_allclose(acceleration, T[2][:3, 3], rtol=0, atol=1e-13)
    turning = T[1] @ inverse(T[0])
    omega = turning[[2, 0, 1], [1, 2, 0]]
    np.testing.assert_allclose(J[0][3:] @ Q[:, 1], omega, rtol=0, atol=1e-13)


def test_formulas_agree_with_numbers():
    arm = ap.library.rrp_arm()
    Q = RNG.uniform(-1, 1, (3, 3))
    at = {s: Q[i, k] for i, row in enumerate(arm.series(2)) for k, s in enumerate(row)}
    second = arm.symbolic.poses(arm.series(2))[2, 2]
    np.testing.assert_allclose(
        np.array(sp.Matrix(second).subs(at).tolist(), dtype=float), arm.numbers().poses(Q)[2, 2], rtol=0, atol=1e-13
    )
    A = sp.Matrix(arm.differential(2, (0, 1, 1)))
    direct = sp.Matrix(arm.poses()[2]).diff(arm.coordinates[0]).diff(arm.coordinates[1], 2)
    assert sp.simplify(A - direct).applyfunc(sp.nsimplify).is_zero_matrix or sp.simplify(A - direct).norm() < 1e-14


@pytest.mark.parametrize("axis", [(1, 0, 1), (1, -1, 0), (2, 1, 2)])
def test_letters_stand_beside_axes_of_any_direction(axis):
    """Force rates of an arm with letters, whose joint frames are chosen from formulas, are those of its numbers."""
    values, half = {a: 0.7, b: 0.4}, sp.Rational(1, 2)

    def arm(a, b):
        k = sp.Matrix(axis) / sp.Matrix(axis).norm()
        slant = ap.Joint(tuple(k), at=(0, 0, b), mass=2, center=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.2))
        wrist = ap.Joint("x", kind="prismatic", mass=1, frame=turned(a), inertia=(0.1, 0.1, half * b))
        return ap.Chain([ap.Joint("z", mass=1, center=(0, b, 0), inertia=(b, b, b)), slant, wrist])

    lettered, plain = (ap.derive(chain, ap.HigherOrder()) for chain in (arm(a, b), arm(*values.values())))
    rng = np.random.default_rng(2)
    x, w = (rng.uniform(0.3, 1.0, e.numel()) for e in plain.arguments[1:3])
    found = lettered.rhs(0.0, x, w, [values[s] for s in lettered.model.parameters])
    np.testing.assert_allclose(np.array(found), np.array(plain.rhs(0.0, x, w, [])), rtol=1e-12)


def test_a_tree_is_a_model_on_which_the_formulations_agree(tree):
    assert ap.verify(tree).ok


def test_a_chain_with_a_constraint_is_a_model():
    arm = ap.library.planar_2r()
    l1, l2 = ap.parameters("l1 l2")
    model = arm.add(ap.Holonomic(arm.ground.components(arm.tool_point)[1] - l2 / 2, "rail"))
    assert ap.verify(model).ok
    assert l1 in model.parameters


def test_parents_may_come_later_and_by_name():
    arm = ap.Chain(
        [
            ap.Joint("y", (1, 0, 0), mass=1, inertia=(1, 1, 1), name="elbow", parent="shoulder"),
            ap.Joint("z", (0, 0, 0), mass=1, inertia=(1, 1, 1), name="shoulder", parent="ground"),
        ]
    )
    assert [link.joint for link in arm.links] == ["shoulder", "elbow"]
    assert arm.numbers().parents == (-1, 0)
    assert [w.name for w in arm.inputs] == ["tau_shoulder", "tau_elbow"]
    assert arm.index("elbow") == arm.index("link1") == 1


BODY = {"mass": 1, "inertia": (1, 1, 1)}


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ([ap.Joint((0, 0, 2), **BODY)], r"joint 'q1' has length 2; give a unit vector"),
        ([ap.Joint("w", **BODY)], r"axis of the joint 'q1' is 'w'"),
        ([ap.Joint((0, 0, float("nan")), **BODY)], r"axis of the joint 'q1' must be finite"),
        ([ap.Joint("z", (0, float("inf"), 0), **BODY)], r"point of the joint 'q1' must be finite"),
        ([ap.Joint("z", kind="ball", **BODY)], r"joint 'q1' is of the unknown kind 'ball'; there are: revolute"),
        ([ap.Joint("z", kind="helical", **BODY)], r"helical joint 'q1' needs a pitch"),
        ([ap.Joint("z", pitch=0.1, **BODY)], r"'q1' is revolute and has a pitch"),
        ([ap.Joint("z", mass=float("nan"))], r"mass of 'link1' must be finite"),
        ([ap.Joint("z", mass=1, inertia=(1, float("nan"), 1))], r"inertia of 'link1' must be finite"),
        ([ap.Joint("z", mass=1, center=(float("nan"), 0, 0))], r"center of 'link1' must be finite"),
        ([ap.Joint("z", **BODY), ap.Joint("z")], r"The link 'link2' and all that the joint 'q2' carries have no mass"),
        ([ap.Joint("z", name="a", parent="b", **BODY)], r"parent 'b' of the joint 'a' is not a joint"),
        ([ap.Joint("z", name="a", **BODY), ap.Joint("z", name="a", **BODY)], r"Two joints are called 'a'"),
        (
            [ap.Joint("z", name="a", parent="b", **BODY), ap.Joint("z", name="b", parent="a", **BODY)],
            r"joints b -> a -> b form a loop",
        ),
        ([ap.Joint("z", frame=2 * np.eye(4), **BODY)], r"The frame of the joint 'q1' must have 0 0 0 1"),
        ([ap.Joint("z", frame=np.diag([1, 1, -1, 1]), **BODY)], r"frame of the joint 'q1' must have a right-handed"),
        (
            [ap.Joint("z", frame=turned(a, 2), **BODY)],
            r"frame of the joint 'q1' must have a rotation as its upper left",
        ),
        ([ap.Joint("z", name="not a name", **BODY)], r"joint 'not a name' names a coordinate"),
        ([ap.Joint("z", limits=(1, -1), **BODY)], r"limits of the joint 'q1'"),
        ([ap.Joint("z", damping=float("nan"), **BODY)], r"damping of the joint 'q1'"),
        ([ap.Joint("z", limits=("low", "high"), **BODY)], r"limits of the joint 'q1' must be \(lowest, highest\)"),
        ([ap.Joint("z", limits=3, **BODY)], r"limits of the joint 'q1' must be \(lowest, highest\), got 3"),
        ([ap.Joint("z", effort="much", **BODY)], r"effort of the joint 'q1' must be a finite number"),
        ([ap.Joint("z", at=("a", 0, 0), **BODY)], r"the point of the joint 'q1' must be a number or a formula"),
        ([ap.Joint("z", kind="helical", pitch="steep", **BODY)], r"pitch of the joint 'q1' must be a number"),
        ([], r"at least one joint"),
        (ap.Joint("z", **BODY), r"made of a list of appell.Joint"),
    ],
)
def test_bad_joints_are_refused_by_name(joints, message):
    with pytest.raises(ModelError, match=message):
        ap.Chain(joints)


def test_bad_questions_are_refused(tree):
    with pytest.raises(ModelError, match="6 coordinates, q1, q2, q3, q4, q5, q6; got shape"):
        tree.poses([1, 2])
    with pytest.raises(ModelError, match="variable of the joint 'q2'"):
        tree.poses([0, np.nan, 0, 0, 0, 0])
    with pytest.raises(ModelError, match=r"variable of the joint 'q3' must be a number or a formula.*got None"):
        tree.poses([0, 0, None, 0, 0, 0])
    with pytest.raises(ModelError, match="'hand' is not a link"):
        tree.pose(np.zeros(6), "hand")
    with pytest.raises(ModelError, match=r"1\.5 is not a link"):
        tree.pose(np.zeros(6), 1.5)
    with pytest.raises(ModelError, match="must be numbers; got"):
        tree.poses(list("abcdef"))
    with pytest.raises(ModelError, match="point of a Jacobian needs two or three components"):
        tree.jacobian(np.zeros(6), point=(1, 2, 3, 4))
    with pytest.raises(
        ModelError, match=r"gravity of a chain needs two or three components such as \(0, 0, 1\), got 9.81"
    ):
        ap.Chain([ap.Joint("z", mass=1, inertia=(1, 1, 1))], gravity=9.81)
    with pytest.raises(ModelError, match="no parameter 'l3'; it has: I1, I2, c1"):
        ap.library.planar_2r().numbers({"l3": 1.0})
    with pytest.raises(ModelError, match=r"shape \(\.\.\., 6, K\+1\)"):
        tree.numbers().poses(np.zeros(6))
    m = ap.parameters("m")
    with pytest.raises(MissingValueError, match="parameter m of the chain has no number"):
        ap.Chain([ap.Joint("z", mass=m, inertia=(1, 1, 1))]).numbers()


def test_a_link_that_loses_mass():
    """The mass of a link is an extra state; its stream pushes; all formulations agree."""
    sand = ap.states("sand")
    flow = ap.drained(0.5, sand)
    arm = ap.Chain(
        [
            ap.Joint("y", mass=1, center=(0.2, 0, 0), inertia=(0, 0.1, 0.1)),
            ap.Joint(
                "y", (0.4, 0, 0), mass=1 + sand, center=(0.2, 0, 0), inertia=(0, 0.1 + sand / 10, 0.1 + sand / 10)
            ),
        ],
        states={sand: -flow},
    )
    model = arm.add(ap.Stream(arm.bodies[1], -2 * arm.frame(1).x, rate=-flow))
    assert ap.verify(model).ok
    with pytest.raises(ModelError, match="not constant: sand changes"):
        arm.numbers()


def test_suggested_values_of_impossible_links_warn():
    J = ap.parameters("J")
    with pytest.warns(ImpossibleBodyWarning, match="'link1'.*I1 . I2 >= I3"):
        ap.Chain([ap.Joint("z", mass=1, inertia=(0.1, 0.1, J))], values={J: 1.0})


def test_chains_survive_pickling():
    arm = pickle.loads(pickle.dumps(ap.library.rrp_arm()))
    q = [0.1, 0.2, 0.3]
    np.testing.assert_array_equal(arm.poses(q), ap.library.rrp_arm().poses(q))


def test_numbers_of_parameters_are_checked():
    m, l = ap.parameters("m l")
    arm = ap.Chain([ap.Joint("y", (l, 0, 0), mass=m, center=(0.1, 0, 0), inertia=(m, m, m))])
    np.testing.assert_array_equal(arm.poses([0.0], values={l: 2})[0, :3, 3], [2, 0, 0])  # kinematics needs no mass
    assert arm.numbers({m: sp.Rational(3, 2), l: sp.pi}).pseudo[0, 3, 3] == 1.5
    for value, message in ((-1.0, "mass of 'link1' must not be negative"), (np.nan, "'m' must be a finite number")):
        with pytest.raises(ModelError, match=message):
            arm.numbers({m: value, l: 1.0})
    with pytest.raises(ModelError, match="The value of 'l' must be a finite number, got 'long'"):
        arm.poses([0.0], values={l: "long"})


def test_a_link_that_loses_mass_has_poses_and_force_rates():
    sand = ap.states("sand")
    arm = ap.Chain(
        [ap.Joint("y", mass=1 + sand, center=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))], states={sand: -0.5 * sand}
    )
    assert not arm.constant
    np.testing.assert_allclose(arm.pose([0.3])[0, 0], np.cos(0.3), rtol=1e-15, atol=0)
    begin = {"q1": 0.2, "q1.rate": 0.3, "sand": 2.0}
    plain = ap.compile(ap.derive(arm)).bind({"tau1": 1.0})
    rates = ap.compile(ap.derive(arm, ap.HigherOrder(1))).bind()
    ends = [
        ap.simulate(s, s.state(b), until=0.5)["q1"][-1] for s, b in ((plain, begin), (rates, {**begin, "tau1": 1.0}))
    ]
    np.testing.assert_allclose(*ends, rtol=1e-10)


@pytest.mark.parametrize(("place", "size"), [((5e5, 4e6, 120.0), 1.0), ((0.0, 0.0, 0.0), 1e-6)])
def test_robots_far_away_and_small_ones_are_like_others(place, size):
    """A survey grid has its origin far away; the wrist is light about its own axis."""

    def arm(place, size):
        x, y, z = place
        links = [
            ap.Joint("z", (x, y, z), mass=3, center=(0.25 * size, 0, 0), inertia=[e * size**2 for e in (0.004, 1, 1)]),
            ap.Joint("x", (x + size / 2, y, z), mass=0.1, inertia=[2e-6 * size**2] * 3),
        ]
        return ap.higher_order.Dynamics(ap.Chain(links, gravity=(0, -9.81 * size, 0)))

    Q = np.random.default_rng(2).normal(size=(2, 3))
    expected = arm((0, 0, 0), 1).inverse(Q) * size**2
    found = arm(place, size)
    np.testing.assert_allclose(found.inverse(Q), expected, rtol=1e-8)
    assert ap.higher_order.verify(found.chain, order=2).ok


def test_the_place_of_a_tool_is_weighed_with_the_length_that_the_arm_suggests():
    """The last link's length is in no equation of motion, only in the place of the tool."""
    l2, arm = ap.parameters("l2"), ap.library.planar_2r()
    X, Y, _ = arm.ground.components(arm.tool_point)
    longer = arm.with_parameters(l2)
    assert longer.values["l2"] == longer.add(ap.Damper(arm.tool_point, arm.ground.point(2, 0), 1)).values["l2"] == 0.4
    lin = ap.linearize(ap.equilibrium(longer, {"q1": 0.3, "q2": 0.4}))
    J = np.array([[-0.5 * np.sin(0.3) - 0.4 * np.sin(0.7), -0.4 * np.sin(0.7)],
                  [0.5 * np.cos(0.3) + 0.4 * np.cos(0.7), 0.4 * np.cos(0.7)]])  # fmt: skip
    W = np.kron(np.diag([1, 0]), J.T @ np.diag([3, 5]) @ J)
    np.testing.assert_allclose(ap.control.lqr(lin, {X: 3, Y: 5}).K, ap.control.lqr(lin, W).K, rtol=1e-9)
