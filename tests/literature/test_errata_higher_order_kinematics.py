"""Errata of Negrean, Crisan et al. 2025 on mass distribution and kinematics: printed forms fail, true ones hold."""

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm

import appell as ap
from appell.model.screws import adjoint, exponential, hat

shapes = ap.shapes
CLOSE = {"rtol": 1e-12, "atol": 1e-14}


def numbers(matrix):
    return np.array(sp.Matrix(matrix).tolist(), dtype=float)


def test_e7_a_cavity_has_the_sign_minus_one():
    """(7) sigma = 0 leaves the cavity full; only -1 gives the tube."""
    full, bore = shapes.Cylinder(0.5, 1.0, density=3), shapes.Cylinder(0.2, 1.0, density=3)
    tube = shapes.Tube(0.5, 0.2, 1.0, density=3).distribution
    true = (full - bore).distribution
    np.testing.assert_allclose(numbers(true.pseudo), numbers(tube.pseudo), **CLOSE)
    assert abs(float(full.mass - tube.mass)) > 0.3


def test_e40_products_of_inertia_have_a_minus():
    """(40) the integral of (u.r)(v.r) is -u'Iv = u'I_p v for perpendicular directions, not +u'Iv."""
    body = (shapes.Box(1, 2, 3, density=1).at(0.3, 0.4, 0.5) + shapes.Sphere(1, density=2)).distribution
    u, v = np.array([0.6, 0.8, 0]), np.array([-0.8, 0.6, 0])
    I, planar = numbers(body.inertia), numbers(body.planar)
    true = u @ planar @ v
    np.testing.assert_allclose(-u @ I @ v, true, **CLOSE)
    assert abs(u @ I @ v - true) > 0.1


def test_e53_all_of_it_moves_by_one_law():
    """(53) T I_ps T', which contains rotation and translation; I_p alone needs m c c' beside R I_p R'."""
    body = shapes.Frustum(0.4, 0.7, 0.9, mass=2)
    moved = body.turned((1, 2, 3), 0.7).at(1, -2, 0.5)
    T = numbers(moved.pose.matrix)
    np.testing.assert_allclose(numbers(moved.distribution.pseudo), T @ numbers(body.distribution.pseudo) @ T.T, **CLOSE)
    with pytest.raises(ValueError, match="matmul"):
        _ = T @ numbers(body.distribution.planar) @ T.T


def test_e59_e61_second_moments_carry_the_mass():
    """(59), (61) c c' without m_j has the dimension of an area: doubling the mass must double it."""
    one, two = (shapes.Sphere(0.1, mass=m).at(1, 2, 3).distribution for m in (1, 2))
    np.testing.assert_allclose(numbers(two.planar), 2 * numbers(one.planar), **CLOSE)


def test_e66_the_sum_of_central_tensors_is_not_the_central_tensor():
    """(66)-(69) composite A of the reference set: diag (0.0708, 0.1383, 0.1792) against (0.1035, 0.1967, 0.2058)."""
    parts = [
        (1, shapes.Box(0.3, 0.2, 0.1, density=2700).at(0.15, 0, 0.05)),
        (-1, shapes.Cylinder(0.03, 0.1, density=2700).at(0.22, 0.03, 0.05)),
        (1, shapes.Sphere(0.05, density=7800).at(0.05, -0.02, 0.15)),
    ]
    printed = sum(sign * numbers(shape.central_inertia) for sign, shape in parts)
    true = numbers(shapes.Composite(parts).central_inertia)
    np.testing.assert_allclose(np.diag(printed), [0.0708, 0.1383, 0.1792], rtol=0, atol=5e-5)
    np.testing.assert_allclose(np.diag(true), [0.1035, 0.1967, 0.2058], rtol=0, atol=5e-5)


def test_positive_definite_only_for_solids():
    """The text says positive definite; a rod has rank 2 (its line and its mass), a plate 3, a box 4."""
    for shape, rank in ((shapes.Rod(1, mass=1), 2), (shapes.Plate(1, 2, mass=1), 3), (shapes.Box(1, 2, 3, mass=1), 4)):
        eigenvalues = np.linalg.eigvalsh(numbers(shape.distribution.pseudo))
        assert eigenvalues.min() > -1e-15
        assert np.sum(eigenvalues > 1e-12) == rank


def two_axes():
    """z and y through the origin."""
    return np.array([[0, 0, 1.0, 0, 0, 0], [0, 1.0, 0, 0, 0, 0]])


def test_e72_e77_an_ordered_product_not_the_exponential_of_a_sum():
    screws, q = two_axes(), [np.pi / 2, np.pi / 2]
    product = expm(hat(screws[0]) * q[0]) @ expm(hat(screws[1]) * q[1])
    printed = expm(hat(screws[0]) * q[0] + hat(screws[1]) * q[1])
    np.testing.assert_allclose(np.abs(product - printed).max(), 0.80, rtol=0, atol=5e-3)
    arm = ap.Chain([ap.Joint(axis, mass=1, inertia=(1, 1, 1)) for axis in "zy"])
    np.testing.assert_allclose(arm.poses(q)[1], product, rtol=0, atol=1e-15)


def arm_and_state():
    arm = ap.library.rrp_arm()
    return arm, arm.numbers(), np.array([0.4, -0.6, 0.35])


def b_column(k, p, delta, q):
    """b of (80) with its brace, from v = delta p x k + (1 - delta) k."""
    s, c = np.sin(q), np.cos(q)
    v = delta * np.cross(p, k) + (1 - delta) * k
    return ((s * np.eye(3) + (1 - c) * np.cross(np.eye(3), k)) * delta + np.outer(k, k) * (q - s * delta)) @ v, v


def test_e80_the_brace_of_b():
    """{[1 s + k x (1-c)] Delta + k k'(q - s Delta)} v; without the brace a slide moves by q + sin q."""
    k, q = np.array([0.6, 0, 0.8]), 0.7
    for delta, p in ((1, np.array([0.3, -0.2, 0.5])), (0, np.zeros(3))):
        b, v = b_column(k, p, delta, q)
        screw = np.array([*(delta * k), *v])
        np.testing.assert_allclose(exponential(screw, np.array([q]))[0][:3, 3], b, rtol=0, atol=1e-15)
    slide = np.array([0, 0, 0, *k])
    printed = np.sin(q) * k + np.outer(k, k) @ k * q
    assert np.abs(printed - exponential(slide, np.array([q]))[0][:3, 3]).max() > 0.5


def test_e73_e107_position_part_of_the_differential_matrix():
    """E_{<j}{v_j + D_j k_j x [E_{j..i} p_i0 + sum_l E_{j..l-1} b_l]}; without D_j k_j x on the p_i0 term it fails."""
    _, data, q = arm_and_state()
    points = [np.array(p) for p in ((0, 0, 0), (0.1, 0, 0.4), (0.1, 0.05, 0.4))]
    axes, delta = [np.array(k, dtype=float) for k in ((0, 0, 1), (0, 1, 0), (1, 0, 0))], (1, 1, 0)
    E = [expm(np.cross(np.eye(3), k) * (d * x)) for k, d, x in zip(axes, delta, q, strict=True)]
    b = [b_column(k, p, d, x)[0] for k, p, d, x in zip(axes, points, delta, q, strict=True)]
    v = [b_column(k, p, d, x)[1] for k, p, d, x in zip(axes, points, delta, q, strict=True)]

    def product(first, last):
        return np.linalg.multi_dot([np.eye(3), np.eye(3), *E[first:last]])

    i, p0 = 2, data.home[2][:3, 3]
    for j in range(3):
        turned = product(j, i + 1) @ p0
        shifted = sum(product(j, l) @ b[l] for l in range(j, i + 1))
        true = product(0, j) @ (v[j] + delta[j] * np.cross(axes[j], turned + shifted))
        column = data.differential(q[:, None], i, (j,))[0][:3, 3]
        np.testing.assert_allclose(true, column, rtol=0, atol=1e-14)
        printed = product(0, j) @ (v[j] + turned + delta[j] * np.cross(axes[j], shifted))
        assert np.abs(printed - column).max() > 0.1


def test_e76_holds_only_for_sorted_indices():
    arm, data, q = arm_and_state()
    poses = arm.poses(q)
    S, T = hat(np.stack([adjoint(T) @ A for T, A in zip(poses, data.screws, strict=True)])), poses[2]
    step = 1e-6
    ahead, behind = (arm.differential(2, (1,), q + np.array([s, 0, 0])) for s in (step, -step))
    true = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(S[0] @ S[1] @ T, true, rtol=0, atol=1e-9)
    assert np.abs(S[1] @ S[0] @ T - true).max() > 0.05


def test_e78_e79_the_last_column_is_the_second_derivative_of_the_position():
    arm, _, q = arm_and_state()
    step = 1e-6
    ahead, behind = (arm.jacobian(q + np.array([0, s, 0]), link=2)[:3, 0] for s in (step, -step))
    slope = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(arm.differential(2, (0, 1), q)[:3, 3], slope, rtol=0, atol=1e-9)
