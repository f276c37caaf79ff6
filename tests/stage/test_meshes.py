"""Meshes: from files, against solids and an independent integral; open ones are refused."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ModelError
from appell.view.shape_parts import coarse

shapes = ap.shapes


def numeric(matrix):
    return np.array(sp.Matrix(matrix).tolist(), dtype=float)


CUBE = """solid cube
{}endsolid cube
"""


def cube_faces(a, b, c):
    """Twelve triangles of a box, seen from outside turning left."""
    v = [(x, y, z) for x in (0, a) for y in (0, b) for z in (0, c)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return v, [f for p, q, r, u in quads for f in ((p, q, r), (p, r, u))]


def write_stl(path, vertices, faces):
    text = ""
    for face in faces:
        corners = "".join("      vertex {} {} {}\n".format(*vertices[i]) for i in face)
        text += f"  facet normal 0 0 0\n    outer loop\n{corners}    endloop\n  endfacet\n"
    path.write_text(CUBE.format(text))


def write_obj(path, vertices, faces):
    lines = ["v {} {} {}".format(*v) for v in vertices] + ["f {} {} {}".format(*(i + 1 for i in f)) for f in faces]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("write", [write_stl, write_obj])
def test_meshes_from_files(tmp_path, write):
    pytest.importorskip("trimesh", reason="reading meshes needs trimesh")
    path = tmp_path / f"box.{write.__name__[-3:]}"
    write(path, *cube_faces(30, 20, 10))
    mesh = shapes.Mesh.load(path, scale=0.01, density=2700)
    box = shapes.Box(0.3, 0.2, 0.1, density=2700).at(0.15, 0.1, 0.05)
    np.testing.assert_allclose(
        numeric(mesh.distribution.pseudo), numeric(box.distribution.pseudo), rtol=1e-13, atol=1e-15
    )
    path.write_text("nothing")
    with pytest.raises(ModelError, match="box"):
        shapes.Mesh.load(path, density=1)
    with pytest.raises(ModelError, match="no mesh file"):
        shapes.Mesh.load(tmp_path / "missing.stl")
    with pytest.raises(ModelError, match=r"given by its path, a text such as .*; got None"):
        shapes.Mesh.load(None)
    with pytest.raises(ModelError, match=r"a number, or three for the axes, none of them 0; got \(1, 2\)"):
        shapes.Mesh.load(path, scale=(1, 2))


def test_a_fine_mesh_tends_to_the_sphere_and_matches_an_independent_integral():
    trimesh = pytest.importorskip("trimesh", reason="an independent integration of meshes")
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.5)
    mesh = shapes.Mesh(ball.vertices, ball.faces, density=3).turned("x", 0.3).at(5, -7, 11)
    ball.density = 3
    np.testing.assert_allclose(float(mesh.mass), ball.mass, rtol=1e-12)
    np.testing.assert_allclose(
        numeric(mesh.central_inertia), ball.moment_inertia, rtol=0, atol=1e-11 * np.abs(ball.moment_inertia).max()
    )
    sphere = shapes.Sphere(0.5, density=3)
    assert abs(float(mesh.mass / sphere.mass) - 1) < 0.02
    flipped = shapes.Mesh(ball.vertices, ball.faces[:, ::-1], density=3)
    assert float(flipped.mass) == pytest.approx(float(mesh.mass), rel=1e-13)


def test_open_and_twisted_meshes_are_refused():
    vertices, faces = cube_faces(1, 1, 1)
    with pytest.raises(ModelError, match="not closed: 3 edges"):
        shapes.Mesh(vertices, faces[1:], density=1)
    with pytest.raises(ModelError, match="turn the same way"):
        shapes.Mesh(vertices, [faces[0][::-1], *faces[1:]], mass=1)
    assert shapes.Mesh(vertices, faces[1:]).mass is None  # to be drawn only
    with pytest.raises(ModelError, match="not there"):
        shapes.Mesh(vertices, [(0, 1, 99)])
    with pytest.raises(ModelError, match="finite numbers of shape"):
        shapes.Mesh([(0, 0, float("nan"))], faces)


ROBOT = """<robot name="arm"><link name="base"/><link name="arm">
<inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0.1 0 0"/><geometry><mesh filename="part.stl" scale="1 -1 1"/></geometry></visual></link>
<joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""


def test_a_robot_is_drawn_with_the_meshes_of_its_file(tmp_path):
    pytest.importorskip("trimesh", reason="reading meshes needs trimesh")
    write_stl(tmp_path / "part.stl", *cube_faces(0.3, 0.2, 0.1))
    (tmp_path / "arm.urdf").write_text(ROBOT)
    arm = ap.Chain.from_urdf(tmp_path / "arm.urdf")
    (drawn,) = arm.draw().solids[0].parts
    corners = drawn.points + drawn.at
    np.testing.assert_allclose([corners.min(axis=0), corners.max(axis=0)], [[0.1, -0.2, 0], [0.4, 0, 0.1]], atol=1e-12)
    a, b, c = (corners[drawn.faces[:, i]] for i in range(3))
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(0.3 * 0.2 * 0.1)  # the mirror does not turn it inside out
    assert float(shapes.Composite(arm.meshes["arm"], density=100).mass) == pytest.approx(0.6)
    assert float(arm.meshes["arm"][0].with_mass(3).center[1]) == pytest.approx(-0.1)


def test_a_mesh_that_cannot_be_read_is_told_and_not_drawn(tmp_path):
    pytest.importorskip("trimesh", reason="reading meshes needs trimesh")
    (tmp_path / "part.stl").write_text("nothing")
    (tmp_path / "arm.urdf").write_text(ROBOT)
    with pytest.warns(UserWarning, match="A mesh is not drawn.*part.stl"):
        scene = ap.Chain.from_urdf(tmp_path / "arm.urdf").draw()
    assert [part.kind for part in scene.solids[0].parts] != ["mesh"]


def test_fine_meshes_are_drawn_with_few_faces():
    trimesh = pytest.importorskip("trimesh", reason="a fine mesh to start from")
    ball = trimesh.creation.icosphere(subdivisions=5, radius=0.5)
    vertices, faces = coarse(ball.vertices, ball.faces)
    assert len(faces) < 600 < len(ball.faces)
    assert abs(float(shapes.Mesh(vertices, faces, density=1).mass) / ball.volume - 1) < 0.1
    same = coarse(ball.vertices, ball.faces[:100])
    assert same[0] is ball.vertices
