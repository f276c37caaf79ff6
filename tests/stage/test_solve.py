"""Linear systems as graphs: nothing is divided by that vanishes while the matrix is regular."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appell.graph.kinks import roots
from appell.graph.numeric import Numeric
from appell.graph.solve import determinant, solve, solve_scaled, solve_spd
from appell.graph.sparse import column, cross, dense, dense_matrix, dot, rodrigues


def as_graph(numbers, mask=None):
    """A matrix of letters in the pattern of `mask`, and those letters' values."""
    mask = np.ones_like(numbers, dtype=bool) if mask is None else mask
    letters = ca.SX.sym("a", int(mask.sum()))
    matrix = ca.SX(*numbers.shape)
    for k, (i, j) in enumerate(np.argwhere(mask)):
        matrix[int(i), int(j)] = letters[k]
    return matrix, letters, numbers[mask]


def solved(how, numbers, right, mask=None):
    matrix, letters, values = as_graph(numbers, mask)
    rights = ca.SX.sym("b", *right.shape)
    function = ca.Function("solve", [letters, rights], [how(matrix, rights)])
    return np.array(function(values, right))


def check(how, numbers, right, mask=None):
    found = solved(how, numbers, right, mask)
    assert np.all(np.isfinite(found))
    size = np.linalg.norm(numbers) * np.linalg.norm(found) + np.linalg.norm(right)
    assert np.linalg.norm(numbers @ found - right) < 1e-13 * size * len(numbers)


@given(st.integers(1, 7), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_random_matrices(n, seed):
    random = np.random.default_rng(seed)
    check(solve, random.normal(size=(n, n)), random.normal(size=(n, 2)))


@given(st.integers(2, 7), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_zeros_where_elimination_would_look_for_pivots(n, seed):
    """The letters are there, their values are zero: a pivot chosen by looks would divide by zero."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(n, n))
    numbers[np.arange(n), np.arange(n)] = 0.0
    numbers[0, : n // 2] = 0.0
    if np.linalg.cond(numbers) < 1e6:
        check(solve, numbers, random.normal(size=(n, 1)))


@given(st.integers(2, 8), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_permuted_sparse_matrices(n, seed):
    """A permutation with some more entries: what can be taken apart into blocks is."""
    random = np.random.default_rng(seed)
    mask = np.eye(n, dtype=bool)[random.permutation(n)] | (random.uniform(size=(n, n)) < 0.2)
    numbers = np.where(mask, random.normal(size=(n, n)) + 3 * np.eye(n)[random.permutation(n)], 0.0)
    mask = numbers != 0
    if np.linalg.matrix_rank(mask * random.uniform(1, 2, (n, n))) == n and np.linalg.cond(numbers) < 1e6:
        check(solve, numbers, random.normal(size=(n, 2)), mask)


def test_a_permutation_needs_no_arithmetic_but_one_division_each():
    numbers = np.array([[0, 2.0, 0, 0, 0], [0, 0, 0, 4.0, 0], [3.0, 0, 0, 0, 0], [0, 0, 0, 0, 5.0], [0, 0, 7.0, 0, 0]])
    matrix, letters, _ = as_graph(numbers, numbers != 0)
    b = ca.SX.sym("b", 5)
    function = ca.Function("solve", [letters, b], [solve(matrix, b)])
    names = [function.instruction_id(k) for k in range(function.n_instructions())]
    assert names.count(ca.OP_DIV) == 5
    assert ca.OP_MUL not in names
    check(solve, numbers, np.arange(1.0, 6.0)[:, None], numbers != 0)


@given(st.integers(1, 8), st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_positive_definite_matrices(n, seed):
    random = np.random.default_rng(seed)
    factor = random.normal(size=(n, n))
    check(solve_spd, factor @ factor.T + 0.1 * np.eye(n), random.normal(size=(n, 3)))


@given(st.integers(1, 8), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_matrices_that_are_positive_definite_but_for_the_scale_of_their_columns(n, seed):
    random = np.random.default_rng(seed)
    factor = np.where(random.uniform(size=(n, n)) < 0.5, random.normal(size=(n, n)), 0.0)
    numbers = (factor @ factor.T + 0.1 * np.eye(n)) * random.choice([-1e3, -1.0, 1e-3], n)
    check(solve_scaled, numbers, random.normal(size=(n, 1)), numbers != 0)


@given(st.integers(2, 7), st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_sparse_positive_definite_matrices(n, seed):
    random = np.random.default_rng(seed)
    factor = np.where(random.uniform(size=(n, n)) < 0.3, random.normal(size=(n, n)), 0.0)
    numbers = factor @ factor.T + np.eye(n)
    check(solve_spd, numbers, random.normal(size=(n, 1)), numbers != 0)


def test_almost_singular_positive_definite_matrix():
    random = np.random.default_rng(4)
    basis, _ = np.linalg.qr(random.normal(size=(5, 5)))
    check(solve_spd, basis @ np.diag([1, 1, 1, 1e-3, 1e-9]) @ basis.T, random.normal(size=(5, 1)))


@pytest.mark.parametrize("how", [solve, solve_scaled, solve_spd])
def test_nothing_to_solve(how):
    assert how(ca.SX(0, 0), ca.SX(0, 1)).shape == (0, 1)


@pytest.mark.parametrize(("upper", "lower"), [(1, 0), (0, 1)])
def test_a_symmetric_matrix_with_one_triangle_written_otherwise(upper, lower):
    """Where an entry cancels in one triangle only, the pattern alone is not symmetric."""
    p = ca.SX.sym("p", 3)
    hidden = (p[2] + p[0]) - p[0] - p[2]
    matrix = ca.vertcat(
        ca.horzcat(p[0], upper * hidden, 0), ca.horzcat(lower * hidden, p[1], p[2]), ca.horzcat(0, p[2], 4)
    )
    function = ca.Function("solve", [p], [solve_spd(matrix, ca.SX([1, 2, 3]))])
    numbers = np.array([[2.0, 0, 0], [0, 3, 1], [0, 1, 4]])
    np.testing.assert_allclose(np.array(function([2, 3, 1])).ravel(), np.linalg.solve(numbers, [1, 2, 3]), rtol=1e-14)


def test_numbers_go_in_and_out_by_buffers():
    """The same as a call of the function, in its shapes; a result is not touched by the next call."""
    t, x, nothing = ca.SX.sym("t"), ca.SX.sym("x", 3), ca.SX(0, 1)
    function = ca.Function("f", [t, x, nothing], [t * x, x @ ca.horzcat(t, x[0]), ca.SX(0, 1)])
    numeric, values = Numeric(function), np.array([1.0, -2.0, 0.5])
    first = numeric(2.0, values, np.zeros(0))
    kept = [e.copy() for e in first]
    numeric(3.0, -values, [])
    for found, before, expected in zip(first, kept, function(2.0, values, []), strict=True):
        np.testing.assert_array_equal(found, before)
        np.testing.assert_array_equal(found, np.array(expected))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6))
def test_sparse_vectors_are_those_of_casadi(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1, (2, 3)) * (rng.random((2, 3)) < 0.7)
    x, y = (column(ca.SX(ca.DM(e))) for e in (a, b))
    np.testing.assert_allclose(np.array(ca.DM(dense(cross(x, y))))[:, 0], np.cross(a, b), rtol=1e-15, atol=1e-16)
    assert float(dot(x, y)) == pytest.approx(a @ b, rel=1e-14, abs=1e-16)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, -1, 0), (0.6, 0.0, -0.8), (2 / 3, -1 / 3, 2 / 3)])
@pytest.mark.parametrize("angle", [0.7, np.pi / 2, -np.pi, None])
def test_rotation_about_an_axis(axis, angle):
    from scipy.spatial.transform import Rotation

    letter = ca.SX.sym("angle")
    k = {i: float(e) for i, e in enumerate(axis) if e}
    turn = dense_matrix(rodrigues(k, letter if angle is None else angle))
    value = 0.3 if angle is None else angle
    found = np.array(ca.Function("turn", [letter], [ca.densify(turn)])(value))
    np.testing.assert_allclose(found, Rotation.from_rotvec(value * np.array(axis)).as_matrix(), rtol=0, atol=1e-15)
    if axis == (0, 0, 1) and angle == np.pi / 2:
        np.testing.assert_array_equal(found, [[0, -1, 0], [1, 0, 0], [0, 0, 1]])


def test_a_determinant_block_by_block_has_the_size_of_the_whole_one():
    rng = np.random.default_rng(5)
    mask = np.zeros((6, 6), dtype=bool)
    for block in (slice(0, 3), slice(3, 5), slice(5, 6)):
        mask[block, block.start :] = True
    mask = mask[rng.permutation(6)][:, rng.permutation(6)]
    first, second = (np.where(mask, rng.normal(size=(6, 6)), 0.0) for _ in range(2))
    matrix, letters, values = as_graph(first, mask)
    function = ca.Function("det", [letters], [determinant(matrix)])
    found, other = float(function(values)), float(function(second[mask]))
    np.testing.assert_allclose(abs(found), abs(np.linalg.det(first)), rtol=1e-12)
    assert np.sign(found * other) == np.sign(np.linalg.det(first) * np.linalg.det(second))
    assert determinant(as_graph(np.ones((6, 6)))[0]) is None


def wheels(theta, b):
    """Two wheels on an axle: forward speeds of the hubs, and none sideways."""
    c, s = ca.cos(theta), ca.sin(theta)
    return ca.vertcat(ca.horzcat(c, s, -b), ca.horzcat(c, s, b), ca.horzcat(-s, c, 0))


def test_turned_axes_have_a_constant_determinant():
    """sin² + cos² = 1 is put in: the rate of turning does not depend on the heading, not even by rounding."""
    theta, b = ca.SX.sym("theta"), ca.SX.sym("b")
    speeds = ca.SX.sym("speeds", 2)
    velocity = solve(wheels(theta, b), ca.vertcat(speeds, 0))
    assert not ca.depends_on(velocity[2], theta)
    function = ca.Function("wheels", [theta, b, speeds], [velocity])
    for angle in (0.3, np.pi / 2, 2.0):
        numbers = np.array(ca.evalf(wheels(angle, 0.7)))
        np.testing.assert_allclose(function(angle, 0.7, [2, 3]), np.linalg.solve(numbers, [[2], [3], [0]]), rtol=1e-14)


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_turned_matrices(seed):
    """Rows and columns of any matrix turned by angles that occur elsewhere in it."""
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 4))
    angles, letters = ca.SX.sym("q", 2), ca.SX.sym("p", 3)
    matrix = ca.SX(random.integers(-2, 3, (n, n)).astype(float)) + ca.diag(letters[:n])
    for k in range(2):
        turn = ca.SX.eye(n)
        c, s = ca.cos(angles[k]), ca.sin(angles[k])
        turn[:2, :2] = ca.vertcat(ca.horzcat(c, -s), ca.horzcat(s, c))
        matrix = turn @ matrix if random.random() < 0.7 else matrix @ turn * ca.cos(angles[1 - k])
    right = ca.vertcat(*letters[:n].nonzeros()) * ca.sin(angles[0])
    function = ca.Function("turned", [angles, letters], [solve(matrix, right), matrix, right])
    found, numbers, wanted = (np.array(e) for e in function(random.uniform(-3, 3, 2), random.uniform(1, 4, 3)))
    if np.linalg.cond(numbers) < 1e6:
        np.testing.assert_allclose(numbers @ found, wanted, rtol=0, atol=1e-9 * np.abs(found).max(initial=1.0))


def test_rows_that_are_orthogonal_whatever_the_letters_are():
    """The rates of a quaternion from its angular velocity and its norm: the transpose, and one division."""
    e0, e1, e2, e3 = letters = [ca.SX.sym(f"e{i}") for i in range(4)]
    rows = [[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0], [e0, e1, e2, e3]]
    matrix, right = 2 * ca.vertcat(*[ca.horzcat(*row) for row in rows]), ca.SX.sym("b", 4)
    function = ca.Function("solve", [ca.vertcat(*letters), right], [solve(matrix, right)])
    assert function.n_instructions() < 80  # 220 by orthogonalisation
    numbers, b = np.array([0.5, -0.1, 0.7, 0.3]), np.array([1.0, 2.0, -3.0, 0.4])
    A = np.array(ca.Function("A", [ca.vertcat(*letters)], [matrix])(numbers))
    np.testing.assert_allclose(A @ np.array(function(numbers, b))[:, 0], b, rtol=0, atol=1e-14)


@given(st.integers(0, 10_000))
@settings(max_examples=20, deadline=None)
def test_orthogonalisation_takes_no_square_root_and_is_backward_stable(seed):
    """Columns of sizes from 1e-4 to 1e4. A root would be watched in every run, as a length that may come to zero."""
    random = np.random.default_rng(seed)
    numbers = random.normal(size=(6, 6)) * 10 ** random.uniform(-4, 4, (1, 6))
    right = random.normal(size=(6, 1))
    check(solve, numbers, right)
    matrix, letters, _ = as_graph(numbers)
    assert not roots(ca.Function("x", [ca.SX(0, 1), letters], [solve(matrix, ca.SX(right))])).numel()


@pytest.mark.parametrize("how", [solve, lambda A, b: solve(A, ca.horzcat(b, b))])
@pytest.mark.parametrize("n", [2, 5])
def test_what_the_pattern_makes_singular_has_no_finite_solution(how, n):
    matrix = ca.diag(ca.SX.sym("a", n))
    matrix[0, 0] = 0
    letters = ca.vertcat(*ca.symvar(matrix))
    found = ca.Function("f", [letters], [how(matrix, ca.SX.ones(n))])(np.arange(1.0, n))
    assert not np.isfinite(np.array(found)).all()
