"""The least value of a quadratic form over vectors that hang from each other, against one big matrix."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from appell.graph.elimination import Affine, Form, least
from appell.graph.sparse import congruent, rodrigues

RNG = np.random.default_rng(5)


def sparse(dense):
    found = {i: {j: float(e) for j, e in enumerate(row) if e != 0.0} for i, row in enumerate(dense)}
    return {i: row for i, row in found.items() if row}


def column(values):
    return {i: float(e) for i, e in enumerate(values) if e != 0.0}


def filled(matrix, shape):
    dense = np.zeros(shape)
    for i, row in matrix.items():
        for j, e in row.items():
            dense[i, j] = e
    return dense


def turn(axis, angle):
    return rodrigues({axis: 1.0}, angle)


def hinged_chain(joints, forced):
    """Vectors X_i = R_i X_(i-1), then one more component moved by y_i, each with an inertia; some y with a force."""
    form, vectors, last = Form(), [], None
    for k in range(joints):
        if last is not None:
            vectors.append(Affine({last: turn(k % 3, 0.3 + k)}, {}, turned=True))
            last = len(vectors) - 1
        terms = {} if last is None else {last: {i: {i: 1.0} for i in range(3)}}
        vectors.append(Affine({**terms, -1 - k: {(k + 1) % 3: {0: 1.0}}}, column(RNG.normal(size=3))))
        last = len(vectors) - 1
        root = RNG.normal(size=(3, 3))
        block = np.eye(3) * 2.0 if k % 2 else root @ root.T + np.eye(3)
        form.add(last, last, sparse(block))
        form.add_linear(last, sparse(RNG.normal(size=(3, 2))))
        if forced:
            form.add_linear(-1 - k, sparse(RNG.normal(size=(1, 2))))
    return form, vectors


def by_one_matrix(form, vectors, scalars):
    """The same y from the matrix of all scalars, one column for each right-hand side."""
    maps, offsets = [], []
    for vector in vectors:
        L, b = np.zeros((3, scalars)), np.array([vector.bias.get(i, 0.0) for i in range(3)])
        for j, T in vector.terms.items():
            if j < 0:
                L[:, -1 - j] += filled(T, (3, 1))[:, 0]
            else:
                L += filled(T, (3, 3)) @ maps[j]
                b += filled(T, (3, 3)) @ offsets[j]
        maps.append(L)
        offsets.append(b)
    A, rhs = np.zeros((scalars, scalars)), np.zeros((scalars, 2))
    for i, coupled in form.H.items():
        for j, block in coupled.items():
            M, L = filled(block, (3, 3)), maps[i] if i >= 0 else np.eye(1, scalars, -1 - i)
            if i < 0:
                A += L.T @ filled(block, (1, 1)) @ np.eye(1, scalars, -1 - j)
                continue
            A += L.T @ M @ maps[j]
            rhs[:, 0] -= L.T @ M @ offsets[j]
    for i, h in form.h.items():
        L, rows = (maps[i], 3) if i >= 0 else (np.eye(1, scalars, -1 - i), 1)
        rhs -= L.T @ filled(h, (rows, 2))
    return np.linalg.solve(A, rhs)


@pytest.mark.parametrize("composite", [False, True])
@pytest.mark.parametrize("forced", [False, True])
@pytest.mark.parametrize("joints", [1, 2, 5])
def test_least_value_is_that_of_the_big_matrix(joints, forced, composite):
    form, vectors = hinged_chain(joints, forced)
    expected = by_one_matrix(form, vectors, joints)
    found = least(form, vectors, joints, lambda k: KeyError(k), composite)
    np.testing.assert_allclose([[row.get(c, 0.0) for c in range(2)] for row in found], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("composite", [False, True])
def test_scalars_with_inertia_of_their_own_or_shared_by_vectors(composite):
    form, vectors = hinged_chain(3, forced=True)
    form.add(-1, -1, {0: {0: 0.7}})
    form.add(-1, -3, {0: {0: 0.2}})
    vectors.append(Affine({-2: {0: {0: 1.0}, 2: {0: -0.4}}, -3: {1: {0: 1.0}}}, {1: 0.3}))
    form.add(len(vectors) - 1, len(vectors) - 1, sparse(np.diag([1.0, 2.0, 3.0])))
    expected = by_one_matrix(form, vectors, 3)
    found = least(form, vectors, 3, lambda k: KeyError(k), composite)
    np.testing.assert_allclose([[row.get(c, 0.0) for c in range(2)] for row in found], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("composite", [False, True])
def test_scalar_without_inertia_is_named(composite):
    vectors = [Affine({-1: {0: {0: 1.0}}}, {}), Affine({-2: {0: {0: 1.0}}}, {})]
    form = Form()
    form.add(0, 0, {0: {0: 1.0}})
    form.add_linear(1, {0: {0: 1.0}})
    with pytest.raises(KeyError, match="1"):
        least(form, vectors, 2, lambda k: KeyError(k), composite)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_turned_symmetric_matrix(axis):
    root = RNG.normal(size=(3, 3))
    S, T = root + root.T, turn(axis, 0.7)
    expected = filled(T, (3, 3)).T @ S @ filled(T, (3, 3))
    np.testing.assert_allclose(filled(congruent(T, sparse(S)), (3, 3)), expected, rtol=0, atol=1e-14)
    flat = {i: {j: e for j, e in row.items() if j != axis} for i, row in T.items() if i != axis}
    S[axis], S[:, axis] = 0.0, 0.0
    expected = filled(T, (3, 3)).T @ S @ filled(T, (3, 3))
    np.testing.assert_allclose(filled(congruent(flat, sparse(S)), (3, 3)), expected, rtol=0, atol=1e-14)


def test_matrix_that_does_not_turn_is_multiplied_out():
    S, T = sparse(np.diag([1.0, 2.0, 3.0])), sparse(RNG.normal(size=(3, 3)))
    expected = filled(T, (3, 3)).T @ np.diag([1.0, 2.0, 3.0]) @ filled(T, (3, 3))
    np.testing.assert_allclose(filled(congruent(T, S), (3, 3)), expected, rtol=0, atol=1e-13)


def test_length_is_the_same_in_all_axes():
    """A mass moves to other axes without any sine or cosine."""
    angle, mass = ca.SX.sym("angle"), ca.SX.sym("mass")
    form = Form()
    form.add(1, 1, {i: {i: mass} for i in range(2)})
    plane = {i: {j: e for j, e in row.items() if j < 2} for i, row in rodrigues({2: 1.0}, angle).items() if i < 2}
    form.substitute(1, Affine({0: plane}, {}, turned=True))
    assert [str(form.H[0][0][i][i]) for i in range(2)] == ["mass", "mass"]
    assert set(form.H[0][0]) == {0, 1}
