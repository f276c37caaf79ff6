"""Frames and vectors against SciPy's rotations and finite differences."""

from functools import cache

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import appell as ap
from appell.errors import FrameError, ModelError
from appell.model.frame import angular_velocity
from appell.model.symbols import time_derivative

A, B, C = ap.coordinates("a b c")
angles = st.floats(-10, 10)
components = st.floats(-3, 3)


@cache
def function(matrix, letters):
    return sp.lambdify(letters, matrix)


def numbers(matrix, values):
    return np.array(function(sp.ImmutableMatrix(matrix), tuple(values))(*values.values()), dtype=float)


def turned(a, b):
    """R with v_a = R v_b: the axes of one frame, seen in another."""
    return sp.Matrix([a.components(axis) for axis in (b.x, b.y, b.z)]).T


@given(angles, st.sampled_from(["x", "y", "z", "-x", "-y", "-z"]))
@settings(max_examples=30, deadline=None)
def test_rotation_about_a_coordinate_axis(angle, axis):
    ground = ap.Frame()
    turn = turned(ground, ground.rotate(axis, A))
    sign = -1 if axis.startswith("-") else 1
    expected = Rotation.from_euler(axis[-1], sign * angle).as_matrix()
    np.testing.assert_allclose(numbers(turn, {A: angle}), expected, rtol=0, atol=1e-14)


@given(angles, st.tuples(components, components, components).filter(lambda k: np.linalg.norm(k) > 0.1))
@settings(max_examples=30, deadline=None)
def test_rotation_about_any_axis(angle, axis):
    ground = ap.Frame()
    turn = turned(ground, ground.rotate(axis, A))
    expected = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    np.testing.assert_allclose(numbers(turn, {A: angle}), expected, rtol=0, atol=1e-13)


@given(angles, angles, angles, st.sampled_from(["zxy", "xyz", "zyx", "zxz", "yzy"]))
@settings(max_examples=30, deadline=None)
def test_body_fixed_sequences(a, b, c, sequence):
    ground = ap.Frame()
    turn = turned(ground, ground.rotate_body(sequence, A, B, C))
    expected = Rotation.from_euler(sequence.upper(), [a, b, c]).as_matrix()  # capitals: about the body's axes
    np.testing.assert_allclose(numbers(turn, {A: a, B: b, C: c}), expected, rtol=0, atol=1e-14)


@given(st.tuples(components, components, components, components).filter(lambda q: np.linalg.norm(q) > 0.1))
@settings(max_examples=30, deadline=None)
def test_quaternions(values):
    w, x, y, z = np.array(values) / np.linalg.norm(values)
    ground = ap.Frame()
    letters = ap.coordinates("e0 e1 e2 e3")
    turn = turned(ground, ground.rotate_quaternion(*letters))
    expected = Rotation.from_quat([x, y, z, w]).as_matrix()
    np.testing.assert_allclose(
        numbers(turn, dict(zip(letters, (w, x, y, z), strict=True))), expected, rtol=0, atol=1e-14
    )


def tree():
    """Two branches of a tree with every kind of rotation in it."""
    ground = ap.Frame()
    trunk = ground.rotate("z", A * B, "trunk")
    left = trunk.rotate((1, 2, -2), sp.sin(B), "left")
    right = trunk.rotate("x", C + ap.t, "right").rotate("-y", A**2, "twig")
    norm = sp.sqrt(1 + C**2)
    spun = left.rotate_quaternion(1 / norm, 0, C / norm, 0, name="spun")
    return ground, trunk, left, right, spun


def curve(time):
    return {A: np.sin(time), B: 0.3 + time**2, C: np.cos(2 * time), ap.t: time}


def curve_rates(time):
    return {A.rate: np.cos(time), B.rate: 2 * time, C.rate: -2 * np.sin(2 * time)}


def test_rotations_along_the_tree_are_consistent():
    ground, trunk, left, right, spun = tree()
    at = curve(0.7)
    for frame in (trunk, left, right, spun):
        turn = numbers(turned(ground, frame), at)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), rtol=0, atol=1e-14)
        assert np.linalg.det(turn) == pytest.approx(1)
    between = numbers(turned(left, right), at)
    through = numbers(turned(ground, left), at).T @ numbers(turned(ground, right), at)
    np.testing.assert_allclose(between, through, rtol=0, atol=1e-14)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_angular_velocity_against_finite_differences(k):
    frames = tree()
    ground, frame, time, h = frames[0], frames[k], 0.7, 1e-4
    turn = turned(ground, frame)
    stencil = [numbers(turn, curve(time + s * h)) for s in (-2, -1, 1, 2)]
    rate = (stencil[0] - 8 * stencil[1] + 8 * stencil[2] - stencil[3]) / (12 * h)
    skew = rate @ numbers(turn, curve(time)).T
    omega = numbers(ground.components(frame.angular_velocity), curve(time) | curve_rates(time)).ravel()
    np.testing.assert_allclose([skew[2, 1], skew[0, 2], skew[1, 0]], omega, rtol=0, atol=1e-10)


@pytest.mark.parametrize("seen", range(5))
def test_derivative_of_a_vector_seen_from_any_frame(seen):
    """d/dt of the components in the frame that looks, by finite differences."""
    frames = tree()
    frame, time, h = frames[seen], 0.7, 1e-4
    _, trunk, left, right, spun = frames
    vector = A * B * trunk.x + sp.cos(C) * left.z - 2 * right.y + ap.t * spun.vector(1, C, 3)
    parts = sp.Matrix(frame.components(vector))
    stencil = [numbers(parts, curve(time + s * h)).ravel() for s in (-2, -1, 1, 2)]
    expected = (stencil[0] - 8 * stencil[1] + 8 * stencil[2] - stencil[3]) / (12 * h)
    found = numbers(frame.components(vector.dt(frame)), curve(time) | curve_rates(time)).ravel()
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-9)


def test_relative_angular_velocity_has_no_common_ancestor_in_it():
    _, _, left, right, _ = tree()
    relative = angular_velocity(left, right)
    assert "trunk" not in {frame.name for frame in relative.parts}
    found = left.angular_velocity - right.angular_velocity - relative
    np.testing.assert_allclose(numbers(left.components(found), curve(0.7) | curve_rates(0.7)), 0, rtol=0, atol=1e-14)


def test_products():
    ground, _, left, right, _ = tree()
    at = curve(0.4)
    a, b = left.vector(1, 2, 3), right.vector(-2, 0, 5)
    va, vb = (numbers(ground.components(v), at).ravel() for v in (a, b))
    assert float(a.dot(b).subs(at)) == pytest.approx(va @ vb)
    np.testing.assert_allclose(numbers(ground.components(a.cross(b)), at).ravel(), np.cross(va, vb), rtol=0, atol=1e-14)
    assert float(a.norm.subs(at)) == pytest.approx(np.sqrt(14))
    np.testing.assert_allclose(numbers(ground.components(a - b / 2), at).ravel(), va - vb / 2, rtol=0, atol=1e-14)


def test_sums_keep_their_frames_and_cancel():
    ground = ap.Frame()
    turned = ground.rotate("z", A)
    vector = 3 * turned.x + B * ground.y
    assert set(vector.parts) == {turned, ground}
    assert repr(vector - vector) == "0"
    assert sum([ground.x, ground.y]).dot(ground.y) == 1
    assert (0 * turned.x).parts == {}
    assert vector.frame is turned


def test_joints_place_their_origin_and_turn():
    x, y = ap.coordinates("x y")
    ground = ap.Frame()
    at = {A: 0.3, B: -0.8, C: 1.1, x: 0.5, y: 0.7}
    pin = ground.pin(A, "z", at=(1, 2, 0))
    np.testing.assert_allclose(
        numbers(ground.components(pin.point(1, 0)), at).ravel(),
        [1 + np.cos(0.3), 2 + np.sin(0.3), 0],
        rtol=0,
        atol=1e-15,
    )
    slide = ground.slide(x, "-y", at=(1, 0, 0))
    np.testing.assert_allclose(numbers(ground.components(slide.origin), at).ravel(), [1, -0.5, 0], rtol=0, atol=1e-15)
    assert slide.axes is ground
    planar = pin.planar(x, y, B)
    turn = Rotation.from_euler("z", 0.3).as_matrix()
    np.testing.assert_allclose(
        numbers(ground.components(planar.origin), at).ravel(),
        np.array([1, 2, 0]) + turn @ [0.5, 0.7, 0],
        rtol=0,
        atol=1e-15,
    )
    free = ground.free(x, y, 3, A, B, C)
    np.testing.assert_allclose(
        numbers(turned(ground, free), at),
        Rotation.from_euler("ZXY", [0.3, -0.8, 1.1]).as_matrix(),
        rtol=0,
        atol=1e-15,
    )
    universal = ground.universal(A, B)
    np.testing.assert_allclose(
        numbers(turned(ground, universal), at),
        Rotation.from_euler("XY", [0.3, -0.8]).as_matrix(),
        rtol=0,
        atol=1e-15,
    )
    weld = pin.weld(at=(0, 1, 0), axis="x", angle=sp.pi / 2)
    np.testing.assert_allclose(
        numbers(turned(pin, weld), at), Rotation.from_euler("x", np.pi / 2).as_matrix(), rtol=0, atol=1e-15
    )
    assert len(ground.spherical(*ap.coordinates("e0 e1 e2 e3")).unit_quaternions) == 1


def test_velocity_of_a_material_point():
    """v + omega x r, both for an arm with constant components and for one that changes."""
    x = ap.coordinates("x")
    ground = ap.Frame()
    turned = ground.rotate("z", A)
    body = ap.RigidBody("body", 1, ground.point(x, 0), turned, (0, 0, 1))
    for arm, r in ((2 * turned.x, [2 * np.cos(0.3), 2 * np.sin(0.3)]), (B * ground.y, [0, 0.9])):
        velocity = body.velocity_at(body.center + arm)
        found = numbers(ground.components(velocity), {A: 0.3, A.rate: 0.5, B: 0.9, B.rate: 7.0, x.rate: 1.0, x: 0.2})
        np.testing.assert_allclose(found.ravel(), [1 - 0.5 * r[1], 0.5 * r[0], 0], rtol=0, atol=1e-15)


def test_two_grounds_do_not_mix():
    one, other = ap.Frame("one"), ap.Frame("other")
    with pytest.raises(FrameError, match=r"two different grounds \(Frame\('one'\), Frame\('other'\)\)"):
        one.components(other.x)
    with pytest.raises(FrameError, match=r"make all frames from one appell.Frame\(\)"):
        one.rotate("z", A).x.dot(other.x)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda g: g.rotate("w", A), "Got axis 'w'; use 'x', 'y', 'z'"),
        (lambda g: g.rotate((0, 0, 0), A), "must not be the zero vector"),
        (lambda g: g.rotate((1, 2, 3, 4), A), "two or three components, got 4"),
        (lambda g: g.rotate_body("zxy", A), "has 3 turns but 1 angles"),
        (lambda g: g.universal(A, B, axes="zz"), "'zz' turns twice in a row about one axis"),
        (lambda g: g.rotate_body(3, A), "a text such as 'zxy', got 3"),
        (lambda g: g.rotate("z", None), "An angle must be a number or a formula"),
        (lambda g: g.rotate("z", "yaw"), "An angle .* got 'yaw'"),
        (lambda g: g.slide([1, 2]), "The distance of a slide must be"),
        (lambda g: g.rotate_quaternion(1, 0, 0, None), "A component of a quaternion must be"),
        (lambda g: None * g.x, "The factor of a vector must be"),
        (lambda g: g.x / "l", "The divisor of a vector must be"),
        (lambda g: g.spherical(A, B), "3 angles or 4 quaternion components, got 2"),
        (lambda g: g.x + 3, r"did you forget `\* frame.x`"),
        (lambda g: g.x * g.y, r"use a.dot\(b\) or a.cross\(b\)"),
    ],
)
def test_mistakes_are_named(wrong, words):
    with pytest.raises(ModelError, match=words):
        wrong(ap.Frame())


def test_a_scalar_on_the_left_multiplies():
    ground = ap.Frame()
    for factor in (2, 2.0, sp.Rational(2), A, sp.sin(A)):
        assert (factor * ground.x).dot(ground.x) == sp.sympify(factor)


def test_time_derivative_of_a_rate_in_a_vector():
    ground = ap.Frame()
    velocity = (A.rate * ground.x).dt(ground)
    assert ground.components(velocity)[0] == time_derivative(A.rate) == A.rate.rate


@pytest.mark.parametrize("denominator", [1, 2, 3, 4, 5, 6, 12])
def test_known_angles_have_the_cosines_of_sympy(denominator):
    """Right angles, thirds and quarters of them and others, positive and negative: exactly what SymPy gives."""
    ground = ap.Frame("ground")
    for count in range(-13, 14):
        angle = sp.pi * sp.Rational(count, denominator)
        expected = sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])
        assert turned(ground, ground.rotate("z", angle))[:2, :2] == expected


def test_a_rate_is_made_once_and_belongs_to_its_letter():
    x = ap.coordinates("x", "m")
    assert x.rate is x.rate
    assert (x.rate.rate.order, x.rate.rate.base, x.rate.rate.unit) == (2, x, "m/s^2")
    assert x.rate.rate is x.rate.rate
    assert ap.coordinates("x", "km").rate.unit == "km/s"


def test_frames_without_names_are_told_apart_by_their_turns():
    ground, (a, b) = ap.Frame("ground"), ap.coordinates("a b")
    assert repr(ground.rotate("z", a)) == 'Frame("ground\'", turned by a about z)'
    assert repr(ground.rotate((1, 1, 0), b)) != repr(ground.rotate("y", b)) != repr(ground.rotate("y", a))
    assert repr(ground.rotate("z", a, name="arm")) == "Frame('arm')"


def test_a_quarter_turn_in_decimals_is_a_quarter_turn():
    ground = ap.Frame("ground")
    for count, wanted in ((1, (0, 0, 1)), (2, (0, -1, 0)), (-1, (0, 0, -1)), (7, (0, 0, -1))):
        turned = ground.weld(axis="x", angle=count * np.pi / 2)
        assert ground.components(turned.y) == wanted
    assert ground.components(ground.weld(axis="x", angle=np.pi / 2 + 1e-9).y)[1] != 0


def test_vectors_are_written_as_one_writes_them():
    N = ap.Frame("N")
    x, l = ap.coordinates("x"), ap.parameters("l")
    written = {N.x: "N.x", -N.y: "-N.y", N.point(x + 1, -l): "(x + 1)*N.x - l*N.y", N.origin: "0", -x * N.x: "-x*N.x"}
    assert [repr(v) for v in written] == list(written.values())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda g: g.rotate("z", "30deg"), "An angle must be a number or a formula.*got '30deg'"),
        (
            lambda g: g.pin(ap.coordinates("tilt", "deg")),
            r"in radians, and tilt has the unit 'deg': .*tilt \* sympy.pi / 180",
        ),
        (lambda g: g.pin([ap.coordinates("q")]), r"An angle must be .*got \[q\]"),
        (lambda g: g.slide("1 m"), "The distance of a slide must be .*got '1 m'"),
        (lambda g: g.rotate_quaternion("a b", 0, 0, 0), "A component of a quaternion must be .*got 'a b'"),
        (lambda g: "3 N" * g.x, "The factor of a vector must be .*got '3 N'"),
        (lambda g: g.x / "2 m", "The divisor of a vector must be .*got '2 m'"),
        (lambda g: ap.Prescribed(ap.coordinates("q"), "sin t", "drive"), "What 'drive' follows must be .*got 'sin t'"),
        (lambda g: ap.view.Solid("box", ("1 m", 1, 1)), "A dimension of a box must be .*got '1 m'"),
    ],
)
def test_words_where_formulas_belong_are_refused(wrong, message):
    with pytest.raises(ModelError, match=message):
        wrong(ap.Frame("ground"))


def test_degrees_that_are_turned_into_radians_are_an_angle():
    tilt = ap.coordinates("tilt", "deg")
    N = ap.Frame("N")
    assert N.rotate("z", tilt * sp.pi / 180).x.dot(N.x) == sp.cos(sp.pi * tilt / 180)
