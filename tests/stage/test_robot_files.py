"""The same robot by screws, by both conventions of rows and from a URDF file; bad files are refused by name."""

from functools import partial

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ImpossibleBodyWarning, ModelError

pi = np.pi
RNG = np.random.default_rng(11)

HEAD = '<robot name="arm"><link name="base"/>'
LINK = """<link name="{name}"><inertial><origin xyz="{c}" rpy="{rpy}"/><mass value="{m}"/>
<inertia ixx="{i[0]}" iyy="{i[1]}" izz="{i[2]}" ixy="{i[3]}" iyz="{i[4]}" ixz="{i[5]}"/></inertial>{more}</link>"""
JOINT = """<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>
<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>"""


def link(name, m=1.0, c="0 0 0", i=(1, 1, 1, 0, 0, 0), rpy="0 0 0", more=""):
    return LINK.format(name=name, m=m, c=c, i=i, rpy=rpy, more=more)


def joint(name, parent, child, kind="revolute", xyz="0 0 0", rpy="0 0 0", axis="0 0 1", more=""):
    limit = '<limit effort="10" velocity="3" lower="-2" upper="2"/>' if kind in ("revolute", "prismatic") else ""
    return JOINT.format(
        name=name, type=kind, parent=parent, child=child, xyz=xyz, rpy=rpy, axis=axis, more=more or limit
    )


def robot(*parts):
    return HEAD + "".join(parts) + "</robot>"


MODIFIED = [(0, 0.3, 0, 0), (0.2, 0.1, 0.1, -pi / 2), (-0.4, 0.2, 0.5, 0.3), (0.1, 0.15, -0.2, pi / 2)]
KINDS = ("revolute", "revolute", "prismatic", "revolute")
BODIES = [
    dict(mass=2.0, center=(0.1, 0.02, -0.03), inertia=(0.03, 0.04, 0.05, 0.001, -0.002, 0.003)),
    dict(mass=1.5, center=(0.2, -0.1, 0.05), inertia=(0.02, 0.05, 0.06, -0.001, 0.002, 0.0)),
    dict(mass=1.0, center=(0.0, 0.1, 0.1), inertia=(0.02, 0.03, 0.025, 0.0, 0.001, 0.002)),
    dict(mass=0.5, center=(0.01, 0.02, 0.1), inertia=(0.01, 0.012, 0.008, 0.0, 0.0, 0.001)),
]


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "planar"])
def test_the_axis_of_a_file_is_a_direction(tmp_path, kind):
    paths = [tmp_path / "long.urdf", tmp_path / "unit.urdf"]
    for path, axis in zip(paths, ("0 -3 4", "0 -0.6 0.8"), strict=True):
        path.write_text(robot(link("a"), joint("j", "base", "a", kind, axis=axis)))
    long, unit = map(ap.Chain.from_urdf, paths)
    Q = np.full(len(unit.coordinates), 0.3)
    np.testing.assert_allclose(long.poses(Q), unit.poses(Q), rtol=0, atol=1e-15)


def test_a_file_takes_a_name_words_and_a_start():
    text = robot(link("a"), joint("j", "base", "a"))
    arm = ap.Chain.from_urdf(text, name="crank", description="turns", start={"j": 0.3, "j.rate": 2.0}, until=1.5)
    assert (arm.name, arm.description, dict(arm.start), arm.until) == (
        "crank", "turns", {"j": 0.3, "j.rate": 2.0}, 1.5,
    )  # fmt: skip
    assert ap.Chain.from_urdf(text).name == "arm"


@pytest.fixture(scope="module")
def modified():
    joints = [ap.Joint(kind=kind, **body) for kind, body in zip(KINDS, BODIES, strict=True)]
    return ap.Chain.from_dh(MODIFIED, joints, "modified", gravity=(1, 2, -9), tool=(0.1, 0, 0.2))


def by_matrices(rows, q, convention):
    """Poses from the four elementary matrices of each row."""

    def Rz(a):
        return np.array([[np.cos(a), -np.sin(a), 0, 0], [np.sin(a), np.cos(a), 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])

    def Rx(a):
        return np.array([[1, 0, 0, 0], [0, np.cos(a), -np.sin(a), 0], [0, np.sin(a), np.cos(a), 0], [0, 0, 0, 1]])

    def shift(x, z):
        T = np.eye(4)
        T[0, 3], T[2, 3] = x, z
        return T

    T, found = np.eye(4), []
    for (theta, d, a, alpha), x, kind in zip(rows, q, KINDS, strict=True):
        theta, d = (theta + x, d) if kind == "revolute" else (theta, d + x)
        if convention == "standard":
            T = T @ Rz(theta) @ shift(0, d) @ shift(a, 0) @ Rx(alpha)
        else:
            T = T @ Rx(alpha) @ shift(a, 0) @ Rz(theta) @ shift(0, d)
        found.append(T)
    return np.stack(found)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_rows_are_products_of_elementary_matrices(convention):
    joints = [ap.Joint(kind=kind, **body) for kind, body in zip(KINDS, BODIES, strict=True)]
    arm, q = ap.Chain.from_dh(MODIFIED, joints, convention), RNG.uniform(-2, 2, 4)
    np.testing.assert_allclose(arm.poses(q), by_matrices(MODIFIED, q, convention), rtol=0, atol=1e-14)
    based = ap.Chain.from_dh(MODIFIED, joints, convention, base=(1, 2, 3)).poses(q)
    np.testing.assert_allclose(based[:, :3, 3], arm.poses(q)[:, :3, 3] + [1, 2, 3], rtol=0, atol=1e-14)


def by_screws(chain):
    """The same robot told by its axes and link frames at home."""
    data = chain.numbers()
    joints = []
    for T, S, kind, body in zip(data.home, data.home_screws, KINDS, BODIES, strict=True):
        w, v = S[:3], S[3:]
        prismatic = kind == "prismatic"
        joints.append(ap.Joint(v if prismatic else w, np.cross(w, v), kind, frame=T, **body))
    return ap.Chain(joints, gravity=(1, 2, -9), tool=(0.1, 0, 0.2))


def by_urdf():
    """The same robot as URDF: the modified row is the origin, and what follows the joint is put into the link."""
    parts, parent = [], "base"
    for i, ((theta, d, a, alpha), kind, body) in enumerate(zip(MODIFIED, KINDS, BODIES, strict=True)):
        # Rx(alpha) Tx(a) Rz(theta) Tz(d) commutes with the joint about or along z.
        place = ap.shapes.Point(mass=1).placed((0, 0, d)).turned("z", theta).at(a, 0, 0).pose
        x, y, z = (float(e) for e in sp.Matrix(place.shift))
        c, s = np.cos(alpha), np.sin(alpha)
        xyz = f"{x:.17g} {c * y - s * z:.17g} {s * y + c * z:.17g}"
        rpy = f"{alpha:.17g} 0 0"
        center = " ".join(map(str, body["center"]))
        parts.append(link(f"l{i}", body["mass"], center, body["inertia"]))
        # rpy is extrinsic x-y-z: Rz(yaw) Ry(pitch) Rx(roll); theta about the turned z needs a joint of its own.
        parts.append(joint(f"f{i}", parent, f"m{i}", "fixed", xyz, rpy) + f'<link name="m{i}"/>')
        parts.append(joint(f"q{i + 1}", f"m{i}", f"l{i}", kind, "0 0 0", f"0 0 {theta:.17g}"))
        parent = f"l{i}"
    tool = joint("tip", parent, "tip", "fixed", "0.1 0 0.2") + '<link name="tip"/>'
    return ap.Chain.from_urdf(robot(*parts, tool), gravity=(1, 2, -9), tool="tip")


def accelerations(chain, q, v, tau):
    system = ap.compile(ap.derive(chain)).bind(dict(zip([s.name for s in chain.inputs], tau, strict=True)))
    return system.accelerations(ap.State(chain, np.concatenate([q, v])))


def test_the_same_robot_four_ways(modified):
    q, v, tau = RNG.uniform(-1, 1, (3, 4))
    others = [by_screws(modified), by_urdf()]
    reference = accelerations(modified, q, v, tau)
    for other in others:
        np.testing.assert_allclose(other.poses(q), modified.poses(q), rtol=0, atol=1e-13)
        np.testing.assert_allclose(other.pose(q), modified.pose(q), rtol=0, atol=1e-13)
        np.testing.assert_allclose(other.jacobian(q), modified.jacobian(q), rtol=0, atol=1e-13)
        np.testing.assert_allclose(other.numbers().pseudo, modified.numbers().pseudo, rtol=0, atol=1e-13)
        np.testing.assert_allclose(accelerations(other, q, v, tau), reference, rtol=1e-11)


def test_rows_may_be_formulas():
    a, alpha, m = ap.parameters("a alpha m")
    arm = ap.Chain.from_dh([(0, 0, a, alpha)] * 2, [ap.Joint(mass=m, inertia=(m, m, m))] * 2)
    tip = sp.Matrix(arm.pose())[:3, 3]
    assert tip.atoms(sp.Symbol) == {a, alpha, *arm.coordinates}
    assert ap.verify(arm).ok


@pytest.mark.parametrize(
    ("rows", "joints", "convention", "message"),
    [
        ([(0, 0, 0)], [ap.Joint(mass=1)], "standard", "joint 'q1' needs theta, d, a, alpha; got 3"),
        ([(0, 0, 0, 0)], [], "standard", "1 rows and 0 joints"),
        (None, [ap.Joint(mass=1)], "standard", "Give a list of rows"),
        (["abcd"], [ap.Joint(mass=1)], "standard", "row of the joint 'q1' must be a number or a formula"),
        ([3], [ap.Joint(mass=1)], "standard", "joint 'q1' needs theta, d, a, alpha; got 3"),
        ([(0, 0, 0, 0)], [ap.Joint(mass=1)], "craig", "there are: standard, modified"),
        ([(0, float("nan"), 0, 0)], [ap.Joint(mass=1)], "modified", "row of the joint 'q1' must be finite"),
        ([(0, 0, 0, 0)], [ap.Joint(mass=1, at=(1, 0, 0))], "modified", "leave out at, frame and parent"),
        ([(0, 0, 0, 0)], [ap.Joint(mass=1, kind="helical", pitch=1)], "modified", "'q1' is helical"),
        ([(0, 0, 0, 0)], [ap.Joint(mass=1, kind="ball")], "modified", "'q1' is of the unknown kind 'ball'"),
    ],
)
def test_bad_rows_are_refused(rows, joints, convention, message):
    with pytest.raises(ModelError, match=message):
        ap.Chain.from_dh(rows, joints, convention)


def test_fixed_links_are_merged_and_stay_as_markers():
    text = robot(
        link("arm", 2.0, "0.1 0 0", (0.1, 0.2, 0.2, 0, 0, 0)),
        joint("hinge", "base", "arm", "continuous", "0 0 1", axis="0 1 0"),
        link("head", 1.0, "0 0.1 0", (0.01, 0.02, 0.03, 0, 0, 0), rpy="0.3 0 0"),
        joint("glue", "arm", "head", "fixed", "0.5 0 0", "0 0 1.2"),
    )
    arm = ap.Chain.from_urdf(text, tool="head")
    assert [e.name for e in arm.links] == ["arm"]
    assert arm.links[0].limits is None
    assert float(arm.links[0].mass) == 3
    c, s = np.cos(1.2), np.sin(1.2)
    np.testing.assert_allclose(
        np.array(arm.links[0].center, dtype=float), [(0.2 + 0.5 - 0.1 * s) / 3, 0.1 * c / 3, 0], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(arm.pose([0.0])[:3, 3], [0.5, 0, 1], rtol=0, atol=1e-15)
    assert set(arm.markers) == {"base", "head"}
    assert arm.frame("head").name == "head"
    assert ap.verify(arm).ok


def test_markers_have_poses_jacobians_and_derivatives():
    file = robot(
        link("arm"),
        link("tip"),
        joint("stand", "base", "foot", "fixed", xyz="1 2 3"),
        '<link name="foot"/>',
        joint("turn", "base", "arm", xyz="0 0 1"),
        joint("weld", "arm", "tip", "fixed", xyz="0.5 0 0", rpy="0 0 1.5707963267948966"),
    )
    arm, q = ap.Chain.from_urdf(file), np.array([0.3])
    assert_poses = partial(np.testing.assert_allclose, rtol=0, atol=1e-15)
    assert_poses(arm.pose(q, "tip"), ap.Chain.from_urdf(file, tool="tip").pose(q))
    assert_poses(arm.jacobian(q, "tip", (0, 0.1, 0)), arm.jacobian(q, "arm", (0.4, 0, 0)))
    assert_poses(arm.pose([q, q], "foot")[1, :3, 3], [1, 2, 3])
    assert arm.jacobian([q, q], "foot").shape == (2, 6, 1)
    assert arm.pose(link="tip")[0, 3] == sp.sympify("0.5") * sp.cos(arm.coordinates[0])
    assert_poses(arm.differential("tip", "turn", q)[:3, 3], arm.jacobian(q, "tip")[:3, 0])
    assert_poses(arm.differential("tip", (), q), arm.pose(q, "tip"))
    assert arm.differential("tip", ("turn", "turn"))[0, 3] == -sp.sympify("0.5") * sp.cos(arm.coordinates[0])
    assert_poses(arm.differential("foot", "turn", [q, q]), np.zeros((2, 4, 4)))
    assert_poses(arm.differential("foot", (), q), arm.pose(q, "foot"))
    with pytest.raises(ModelError, match="'tip' is not a moving link of this chain: it is fixed to 'arm'; name that"):
        arm.index("tip")
    with pytest.raises(ModelError, match=r"'foot' is not a moving link .* fixed to the ground"):
        arm.differential("arm", "foot", q)
    with pytest.raises(ModelError, match=r"'tipp' is not a link of this chain\. Did you mean 'tip'"):
        arm.pose(q, "tipp")


def test_a_locked_joint_stays_and_so_do_those_that_mimic_it():
    parts = [
        link("arm", 2.0, "0.3 0 0"),
        link("left", 1.0, "0.1 0 0.2"),
        link("right", 1.5, "0 0.1 0.2"),
        link("tip", 0.5),
        joint("turn", "base", "arm"),
        joint("grip", "arm", "left", axis="0 1 0", xyz="0.5 0 0"),
        joint(
            "slide", "arm", "right", "prismatic", axis="0 0 1", more='<mimic joint="grip" multiplier="2" offset="1"/>'
        ),
        joint("weld", "arm", "tip", "fixed", xyz="0 0 1", more='<mimic joint="grip"/>'),
    ]
    whole, less = ap.Chain.from_urdf(robot(*parts)), ap.Chain.from_urdf(robot(*parts), locked={"grip": 0.3})
    assert [q.name for q in less.coordinates] == ["turn"]
    for name in ("left", "right", "tip"):
        np.testing.assert_allclose(less.pose([0.7], name), whole.pose([0.7, 0.3], name), rtol=0, atol=1e-15)
    found, expected = (
        ap.higher_order.Dynamics(chain).mass_matrix(q)[0, 0] for chain, q in ((less, [0.7]), (whole, [0.7, 0.3]))
    )
    assert found == pytest.approx(expected, rel=1e-14)
    assert len(ap.Chain.from_urdf(robot(*parts), locked={"grip": 0.3, "slide": 1.6}).links) == 1
    with pytest.raises(ModelError, match="'slide' mimics 'grip', which would go on without it; lock 'grip'"):
        ap.Chain.from_urdf(robot(*parts), locked={"slide": 1.6})
    with pytest.raises(ModelError, match=r"'slide' cannot be locked at 1: it mimics 'grip', which puts it at 1\.6"):
        ap.Chain.from_urdf(robot(*parts), locked={"grip": 0.3, "slide": 1.0})


def test_a_floating_root_is_as_if_a_floating_joint_carried_it():
    parts = [link("body", 2.0, "0.1 0 0"), link("leg"), joint("hip", "body", "leg", xyz="0.2 0 0", axis="0 1 0")]
    alone = f'<robot name="arm">{"".join(parts)}</robot>'
    found = ap.Chain.from_urdf(alone, floating=True)
    expected = ap.Chain.from_urdf(robot(*parts, joint("base", "base", "body", "floating")))
    assert [q.name for q in found.coordinates] == [q.name for q in expected.coordinates]
    assert found.markers == {}
    Q = RNG.normal(size=(7, 3))
    forces = (ap.higher_order.Dynamics(chain).inverse(Q) for chain in (found, expected))
    np.testing.assert_allclose(*forces, rtol=0, atol=1e-13)
    cart = ap.Chain.from_urdf(alone, floating=True, locked={"base_z": 0.5, "base_pitch": 0, "base_roll": 0})
    assert [q.name for q in cart.coordinates] == ["base_x", "base_y", "base_yaw", "hip"]
    q = np.array([1, 2, 0.3, 0.4])
    poses = (cart.pose(q, "body"), found.pose([1, 2, 0.5, 0.3, 0, 0, 0.4], "body"))
    np.testing.assert_allclose(*poses, rtol=0, atol=1e-15)


def test_a_spherical_joint_is_three_turns():
    ball = ap.Chain.from_urdf(robot(link("arm", 2.0), joint("hip", "base", "arm", "spherical", xyz="1 0 0")))
    assert [q.name for q in ball.coordinates] == ["hip_yaw", "hip_pitch", "hip_roll"]
    ground = ap.Frame("ground")
    turned = ground.rotate("z", 0.3).rotate("y", 0.4).rotate("x", 0.5)
    expected = [float(e) for e in ground.components(turned.x)]
    np.testing.assert_allclose(ball.pose([0.3, 0.4, 0.5])[:3, 0], expected, rtol=0, atol=1e-15)
    np.testing.assert_allclose(ball.pose([0.3, 0.4, 0.5])[:3, 3], [1, 0, 0], rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("locked", "message"),
    [
        ({"elbw": 0}, r"'elbw' is not a joint of this robot\. Did you mean 'elbow'"),
        ({"weld": 0}, "'weld' is fixed already, and cannot be locked elsewhere"),
        ({"elbow": "home"}, "value of 'elbow' must be a finite number"),
        ({"elbow": 0}, r"needs at least one joint that moves; .* floating=True"),
    ],
)
def test_what_cannot_be_locked_is_told(locked, message):
    file = robot(link("a"), link("b"), joint("elbow", "base", "a"), joint("weld", "a", "b", "fixed"))
    with pytest.raises(ModelError, match=message):
        ap.Chain.from_urdf(file, locked=locked)


def test_joints_without_mass_are_told_with_what_locks_them():
    file = robot(link("a"), '<link name="b"/>', joint("elbow", "base", "a"), joint("wrist-1", "a", "b"))
    with pytest.raises(ModelError, match=r"link 'b' .* or do without the joint, locked=\{'wrist-1': 0\}"):
        ap.Chain.from_urdf(file)
    assert len(ap.Chain.from_urdf(file, locked={"wrist-1": 0}).links) == 1


def test_data_of_joints_and_what_is_drawn_are_kept(tmp_path):
    look = (
        '<visual><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.2 0.3"/></geometry></visual>'
        '<visual><geometry><cylinder radius="0.1" length="0.4"/></geometry></visual>'
        '<visual><geometry><mesh filename="package://arm_description/part.stl" scale="2 2 2"/></geometry></visual>'
    )
    data = '<dynamics damping="0.5" friction="0.1"/><limit effort="12" velocity="3" lower="-1" upper="2"/>'
    folder = tmp_path / "arm_description"
    (folder / "urdf").mkdir(parents=True)
    (folder / "part.stl").write_text("solid\nendsolid\n")
    path = folder / "urdf" / "arm.urdf"
    path.write_text(robot(link("arm", more=look), joint("joint-1", "base", "arm", "prismatic", more=data)))
    arm = ap.Chain.from_urdf(path)
    one = arm.links[0]
    assert (one.joint, one.damping, one.friction, one.effort, one.velocity) == ("joint_1", 0.5, 0.1, 12, 3)
    assert one.limits == (-1, 2)
    box, cylinder, drawn = (shape for _, shape in arm.bodies[0].shape.members)
    assert (box.kind, cylinder.kind) == ("box", "cylinder")
    assert float(box.pose.matrix[2, 3]) == 0.1
    mesh = arm.meshes["arm"][0]
    assert (mesh.path, mesh.scale) == (drawn.path, drawn.scale) == (str(folder.resolve() / "part.stl"), (2, 2, 2))
    (folder / "part.stl").unlink()
    with pytest.raises(
        ModelError, match=r"link 'arm' names the mesh 'package://arm_description/part.stl'.*meshes=False"
    ):
        ap.Chain.from_urdf(path)
    assert ap.Chain.from_urdf(path, meshes=False).meshes == {}


def test_links_that_stand_still_are_drawn():
    look = '<visual><origin xyz="0 0 0.1"/><geometry><box size="0.4 0.4 0.2"/></geometry></visual>'
    file = robot(link("foot", more=look), link("arm", more=look), joint("weld", "base", "foot", "fixed"),
                 joint("turn", "foot", "arm"))  # fmt: skip
    scene = ap.Chain.from_urdf(file).draw()
    assert [solid.name for solid in scene.solids] == ["arm", "ground"]
    (foot,) = scene.solids[1].parts
    weld = ap.Chain.from_urdf(file).frame("foot").origin  # where the joint puts it
    np.testing.assert_allclose(scene.floor, float(weld.dot(weld.frame.path[0].z) if weld.parts else 0.0), atol=1e-12)
    assert (foot.kind, foot.size) == ("box", (0.4, 0.4, 0.2))
    assert [solid.name for solid in ap.Chain.from_urdf(file, floating=True).draw().solids][-1] != "ground"


@pytest.mark.parametrize("name", ["package:///arm_description/part.stl", "package://part.stl", "part.stl"])
def test_meshes_are_found_whichever_way_they_are_named(tmp_path, name):
    folder = tmp_path / "arm_description"
    folder.mkdir()
    (folder / "part.stl").write_text("solid\nendsolid\n")
    look = f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
    (folder / "arm.urdf").write_text(robot(link("arm", more=look), joint("j", "base", "arm")))
    assert ap.Chain.from_urdf(folder / "arm.urdf").meshes["arm"][0].path == str(folder.resolve() / "part.stl")


def test_a_sphere_of_no_radius_draws_nothing_and_zeros_may_end_a_file(tmp_path):
    look = '<visual><geometry><sphere radius="0.0"/></geometry></visual>'
    file = tmp_path / "arm.urdf"
    file.write_text(robot(link("arm", more=look), joint("j", "base", "arm")) + "\n\0")
    assert ap.Chain.from_urdf(file).bodies[0].shape is None


BAD = [
    ([link("a"), joint("j", "base", "a", axis="0 0 0")], "axis of the joint 'j' is the zero vector"),
    (
        [link("a"), joint("j", "base", "a", "ball")],
        "joint 'j' is of the type 'ball'; appell reads: revolute, continuous",
    ),
    (['<link name="a"/>', joint("j", "base", "a")], "link 'a' and all that the joint 'j' carries have no mass"),
    ([link("a", 1.0, i=(0, 0, 0, 0, 0, 0)), joint("j", "base", "a")], "link 'a'.*'j' carries have no inertia about"),
    ([link("a", float("nan")), joint("j", "base", "a")], "mass of the link 'a'"),
    ([link("a", i=(1, float("nan"), 1, 0, 0, 0)), joint("j", "base", "a")], "inertia of the link 'a' must be finite"),
    ([link("a"), joint("j", "base", "a", xyz="0 nan 0")], "origin of the joint 'j' must be finite"),
    ([link("a"), joint("j", "base", "a", axis="0 0 nan")], "axis of the joint 'j' must be finite"),
    ([link("a"), joint("j", "base", "b")], "joint 'j' names the link 'b'"),
    ([link("a"), link("a"), joint("j", "base", "a")], "Two links of the URDF are called 'a'"),
    (
        [link("a"), link("b"), joint("j", "base", "a"), joint("k", "a", "b"), joint("l", "base", "b")],
        "link 'b' hangs on two joints, 'k' and 'l': a loop",
    ),
    ([link("a"), link("b"), joint("k", "a", "b"), joint("l", "b", "a")], "links (a -> b -> a|b -> a -> b) form a loop"),
    ([link("a"), link("b"), joint("j", "base", "a")], "one link that no joint carries; this one has 2: base, b"),
    ([], "at least one joint"),
    ([link("a"), joint("j", "base", "a", xyz="0,1,2")], "origin of the joint 'j' needs 3 numbers.*xyz='0,1,2'"),
    ([link("a"), joint("j", "base", "a", axis="0 1")], "axis of the joint 'j' needs 3 numbers"),
    ([link("a"), joint("j", "base", "a").replace('<parent link="base"/>', "")], "joint 'j' has no <parent link="),
    ([link("a"), joint("j", "base", "a").replace('name="j"', "")], "A joint has no name"),
    ([link("a"), link("b"), joint("j", "base", "a"), joint("j", "a", "b")], "Two joints of the URDF are called 'j'"),
    (
        [link("a", "heavy"), joint("j", "base", "a")],
        "mass of the link 'a' needs one number; the URDF has value='heavy'",
    ),
    ([link("a").replace('<mass value="1.0"/>', ""), joint("j", "base", "a")], "<inertial> of the link 'a' has no mass"),
    ([link("a"), joint("j", "base", "a", xyz="${x} 0 0")], r"contains xyz='\$\{x\} 0 0' in <origin>.*expand it first"),
    ([link("a"), "<xacro:arm/>", joint("j", "base", "a")], "cannot be read as URDF.*expand it first"),
    (
        [link("a", more='<visual><geometry><box size="-1 1 1"/></geometry></visual>'), joint("j", "base", "a")],
        "What the link 'a' is drawn with: The width of a box must be positive",
    ),
]


@pytest.mark.parametrize(("parts", "message"), BAD, ids=[m[:40] for _, m in BAD])
def test_bad_files_are_refused_by_name(parts, message):
    with pytest.raises(ModelError, match=message):
        ap.Chain.from_urdf(robot(*parts))


def test_a_moment_that_is_negative_by_rounding_is_zero():
    arm = ap.Chain.from_urdf(robot(link("a", 0.5, "0.1 0 0", (-5e-20, 0, 0, 0, 0, 0)), joint("j", "base", "a")))
    assert arm.links[0].inertia.is_zero_matrix
    with pytest.raises(ModelError, match="moments of inertia of 'a' must be finite and not negative"):
        ap.Chain.from_urdf(robot(link("a", 0.5, "0.1 0 0", (-5e-10, 0, 0, 0, 0, 0)), joint("j", "base", "a")))


def test_names_become_coordinates_that_differ():
    names = ["joint one", "joint.one", "1", "lambda", "t", "pi", "q", "tau_q", "\u03b4"]
    parts, parent = [], "base"
    for i, name in enumerate(names):
        parts += [link(f"l{i}", c="0.1 0 0"), joint(name, parent, f"l{i}", "continuous", "0 0 1")]
        parent = f"l{i}"
    arm = ap.Chain.from_urdf("\ufeff<?xml version='1.0' encoding='latin-1'?><!-- said -->" + robot(*parts))
    words = ["joint_one", "joint_one_2", "q_1", "lambda_", "t_", "pi_", "q", "tau_q_2", "q__"]
    assert [q.name for q in arm.coordinates] == words
    assert [arm.index(name) for name in names] == list(range(9))
    assert ap.derive(arm).formulation.name == "recursive Gibbs-Appell"


def test_a_robot_of_a_thousand_links_is_read_without_recursion():
    from appell.model.urdf_text import parsed
    from appell.model.urdf_tree import tree

    parts = [link(f"l{i}") + joint(f"j{i}", f"l{i - 1}" if i else "base", f"l{i}") for i in reversed(range(2000))]
    root, joints = tree(parsed(robot(*parts)))
    assert root == "base"
    assert [e.name for e in joints] == [f"j{i}" for i in range(2000)]


@pytest.mark.parametrize(("tag", "name"), [("mujoco", "MJCF"), ("sdf", "SDF")])
def test_files_of_other_programs_are_told_by_name(tag, name):
    with pytest.raises(ModelError, match=rf"<{tag}>, not <robot>. {name} is not read: convert it to URDF"):
        ap.Chain.from_urdf(f"<{tag}><worldbody/></{tag}>")


def test_what_is_no_urdf_is_refused(tmp_path):
    with pytest.raises(ModelError, match="has no <link>"):
        ap.Chain.from_urdf("<robot name='r'/>")
    with pytest.raises(ModelError, match=r"contains <xacro:arm>.*expand it first"):
        ap.Chain.from_urdf("<robot xmlns:xacro='http://www.ros.org/wiki/xacro'><xacro:arm/><link name='a'/></robot>")
    with pytest.raises(ModelError, match="path of a URDF file or its text, got None"):
        ap.Chain.from_urdf(None)
    with pytest.raises(ModelError, match="no URDF file"):
        ap.Chain.from_urdf(tmp_path / "none.urdf")
    with pytest.raises(ModelError, match="not <robot>"):
        ap.Chain.from_urdf("<mujoco/>")
    with pytest.raises(ModelError, match="cannot be read as URDF"):
        ap.Chain.from_urdf("<robot><link></robot>")
    with pytest.raises(ModelError, match="'hand' is not a link"):
        ap.Chain.from_urdf(robot(link("a"), joint("j", "base", "a")), tool="hand")
    with pytest.raises(ModelError, match="'base' does not move"):
        ap.Chain.from_urdf(robot(link("a"), joint("j", "base", "a")), tool="base")


def test_impossible_links_warn_by_name():
    text = robot(link("a", i=(1, 1, 3, 0, 0, 0)), joint("j", "base", "a"))
    with pytest.warns(ImpossibleBodyWarning, match="'a'.*I1 . I2 >= I3") as told:
        ap.Chain.from_urdf(text)
    assert told[0].filename == __file__  # and at the line that read the file


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "latin-1"])
@pytest.mark.parametrize("declared", [True, False])
def test_a_file_is_read_in_its_own_encoding(tmp_path, encoding, declared):
    """PowerShell redirects what a program prints into UTF-16, with or without a declaration of what it was."""
    head = f"<?xml version='1.0' encoding='{encoding.removesuffix('-sig')}'?>\n" if declared else ""
    text = head + robot(link("a", c="0.1 0 0"), joint("j", "base", "a", "continuous", "0 0 1")) + "\n"
    (tmp_path / "robot.urdf").write_text(text, encoding=encoding)
    assert [q.name for q in ap.Chain.from_urdf(tmp_path / "robot.urdf").coordinates] == ["j"]
