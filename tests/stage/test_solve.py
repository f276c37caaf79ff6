"""Linear systems as graphs: nothing is divided by that vanishes while the matrix is regular."""

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from appell.graph.solve import solve, solve_spd


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


@pytest.mark.parametrize("how", [solve, solve_spd])
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
