"""Composite bodies and small arms: the reference numbers of the higher-order pages, 4a and 4b.

They come from 220-digit arithmetic by an independent route (vector Newton-Euler on the direct chain).
"""

import numpy as np
import pytest
import sympy as sp

import appell as ap

shapes = ap.shapes


def numbers(matrix):
    return np.array(sp.Matrix(matrix).tolist(), dtype=float)


def entries(tensor):
    """xx, yy, zz, xy, xz, yz."""
    m = numbers(tensor)
    return [m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2]]


@pytest.fixture(scope="module")
def composite():
    box = shapes.Box(0.3, 0.2, 0.1, density=2700).at(0.15, 0, 0.05)
    hole = shapes.Cylinder(0.03, 0.1, density=2700).at(0.22, 0.03, 0.05)
    ball = shapes.Sphere(0.05, density=7800).at(0.05, -0.02, 0.15)
    return (box - hole + ball).distribution


CLOSE = {"rtol": 1e-12, "atol": 0}


def test_composite_a(composite):
    np.testing.assert_allclose(float(composite.mass), 19.5206634348444115, **CLOSE)
    center = [0.126340684447238582, -0.00535758529862885246, 0.0709217809799264289]
    np.testing.assert_allclose(np.array(composite.center, dtype=float), center, **CLOSE)
    origin = [
        0.202205760805952034, 0.606520475546191981, 0.517948375766289844,
        0.00912255674749404161, -0.143733051209454967, 0.0133973218712336733,
    ]  # fmt: skip
    np.testing.assert_allclose(entries(composite.inertia), origin, **CLOSE)
    central = [
        0.103458479314743547, 0.196745293961274892, 0.205799844348624349,
        -0.00409060931427293643, 0.0311780733458299710, 0.00598006531936356183,
    ]  # fmt: skip
    np.testing.assert_allclose(entries(composite.central_inertia), central, **CLOSE)
    planar = [0.461131545253264895, 0.0568168305130249484, 0.145388930292927085]
    np.testing.assert_allclose(entries(composite.planar)[:3], planar, **CLOSE)
    principal = [0.0944063027951421797, 0.195890281570098553, 0.215707033259402055]
    np.testing.assert_allclose(composite.principal()[0], principal, **CLOSE)


def matrices(arm, q, v):
    """M and the generalized forces of V (centrifugal, Coriolis) and gravity, by Gibbs-Appell."""
    system = ap.compile(ap.derive(arm)).bind()
    still = system.to_x(ap.State(arm, np.array([*q, *np.zeros(len(q))])))
    x = system.to_x(ap.State(arm, np.array([*q, *v])))
    gravity = -system.forcing(0.0, still)
    return system.mass_matrix(0.0, x), -system.forcing(0.0, x) - gravity, gravity


def test_planar_2r():
    M, V, g = matrices(ap.library.planar_2r(), [0.3, -0.8], [0.7, 1.2])
    np.testing.assert_allclose(M[0], [1.13718268373887, 0.247341341869433], **CLOSE)
    np.testing.assert_allclose(M[1, 1], 0.108, **CLOSE)
    np.testing.assert_allclose(V, [0.447630200721302, -0.0703008969081532], **CLOSE)
    np.testing.assert_allclose(g, [19.8443731499217, 3.44363397285782], **CLOSE)
    tau = M @ [-1.1, 0.9] + V + g
    np.testing.assert_allclose(tau, [19.2637096062127, 3.19845759989329], **CLOSE)


def test_rrp_arm():
    M, V, g = matrices(ap.library.rrp_arm(), [0.4, -0.6, 0.35], [-0.9, 0.8, 0.5])
    np.testing.assert_allclose(M[0], [0.548408221430002, -0.0269053872571715, -0.0619001711182259], **CLOSE)
    np.testing.assert_allclose(M[1, 1:], [0.45385, 0.015], **CLOSE)
    np.testing.assert_allclose(M[2, 2], 1.5, **CLOSE)
    np.testing.assert_allclose(V, [-0.971943463403361, 0.377194043835855, -0.988432307686565], **CLOSE)
    np.testing.assert_allclose(g, [0, -7.91975952165659, 8.30871399600795], rtol=1e-12, atol=1e-14)
    tau = M @ [1.3, -1.7, -0.4] + V + g
    np.testing.assert_allclose(tau, [-0.188513548759877, -8.35508748125505, 6.61431146586769], **CLOSE)


def test_the_differential_matrices_give_the_same_mass_matrix():
    """M_ij = sum_k tr[A_ki I_ps A_kj'] and V_i = sum_k tr[A_ki I_ps (A_kjm q_j' q_m')']."""
    arm = ap.library.rrp_arm()
    data, q = arm.numbers(), np.array([[0.4], [-0.6], [0.35]])
    v = np.array([-0.9, 0.8, 0.5])
    A = [[data.differential(q, k, (i,))[0] for i in range(3)] for k in range(3)]
    M = [[sum(np.trace(A[k][i] @ data.pseudo[k] @ A[k][j].T) for k in range(3)) for j in range(3)] for i in range(3)]
    np.testing.assert_allclose(M[0], [0.548408221430002, -0.0269053872571715, -0.0619001711182259], **CLOSE)
    V = [
        sum(
            np.trace(A[k][i] @ data.pseudo[k] @ data.differential(q, k, (j, m))[0].T) * v[j] * v[m]
            for k in range(3)
            for j in range(3)
            for m in range(3)
        )
        for i in range(3)
    ]
    np.testing.assert_allclose(V, [-0.971943463403361, 0.377194043835855, -0.988432307686565], **CLOSE)
