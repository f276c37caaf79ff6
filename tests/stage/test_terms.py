import casadi as ca
import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import InconsistentStartError
from appell.graph.solve import solve
from appell.graph.terms import cleared, term_sizes, term_sizes_at, terms_at


def test_terms_are_as_large_as_before_they_cancel():
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    rows = ca.vertcat(x**2 - y**2, 3 * x * y - 2 * x, ca.sin(x) - 0.5, (x - y) / (2 * y), ca.sqrt(x * x + y * y) - y)
    found = np.array(term_sizes(ca.Function("rows", [x, y], [rows]))(2.0, -2.0)).ravel()
    np.testing.assert_allclose(found, [8, 16, np.sin(2) + 0.5, 1, np.sqrt(8) + 2], rtol=1e-15, atol=0)


def test_terms_at_numbers_are_those_of_the_graph():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y")
    rows = ca.vertcat(
        x[0] ** 2 - y * x[1], ca.tanh(x[0]) - ca.exp(y), ca.fmax(x[1], y) - ca.atan2(y, x[0]), -x[0] / y, ca.fabs(x[1])
    )
    function = ca.Function("rows", [x, y], [rows])
    places = np.array([[0.7, -1.3, 2.0], [0.4, 0.9, -0.2]]), np.array([[-0.6, 1.1, 0.3]])
    columns = [(places[0][:, k], places[1][:, k]) for k in range(3)]
    expected = np.hstack([np.array(term_sizes(function)(*column)) for column in columns])
    np.testing.assert_allclose(term_sizes_at(function, *places), expected, rtol=1e-15, atol=0)
    for k, column in enumerate(columns):
        values, sizes = terms_at(function, *column)
        np.testing.assert_allclose(values, np.array(function(*column)), rtol=1e-15, atol=0)
        np.testing.assert_allclose(sizes[:, 0], expected[:, k], rtol=1e-15, atol=0)


def test_what_is_rounding_of_its_terms_is_cleared():
    np.testing.assert_array_equal(cleared(np.array([1e-13, -1e-13, 2.0]), np.array([1e4, 1e-4, 2.0])), [0, -1e-13, 2])


def test_rounding_of_ordinary_terms_is_no_violation_where_all_slopes_vanish():
    """sin^2 + cos^2 - 1 is rounding, and so is its slope: neither says how large the terms were."""
    a, b = ap.coordinates("a b")
    length, angle = ap.parameters("length angle")
    ground = ap.Frame("ground")
    row = ap.Holonomic(a + b**2 + length * (sp.sin(angle) ** 2 + sp.cos(angle) ** 2 - 1), "row")
    points = [ap.Particle("A", 1, ground.point(a, 0)), ap.Particle("B", 1, ground.point(0, b))]
    model = ap.Model(ground, (a, b), points, [], [row], values={length: 1.0, angle: 0.9})
    system = ap.compile(ap.derive(model)).bind()
    left = max(abs(system.bind({angle: 0.1 * k}).residual(system.state({}))["row"]) for k in range(1, 30))
    assert 0 < left < 1e-15
    for k in range(1, 30):
        system.bind({angle: 0.1 * k}).state({})
    with pytest.raises(InconsistentStartError, match="'row' by 2e-08"):
        system.state({a: 2e-8})


def test_terms_of_what_is_solved_for_do_not_grow_with_every_elimination():
    """Rounding of a product is that of its worse factor: the sizes of both multiplied would be beyond all numbers."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    product = ca.Function("product", [x, y], [(x - y) * (x + y) * (x - y)])
    assert float(term_sizes(product)(2.0, 1.0)) == 9.0
    n, rng = 14, np.random.default_rng(3)
    entries, b = ca.SX.sym("A", n * n), ca.SX.sym("b", n)
    function = ca.Function("solved", [entries, b], [ca.densify(solve(ca.reshape(entries, n, n), b))])
    matrix, right = np.eye(n) + rng.uniform(-0.3, 0.3, (n, n)), rng.uniform(-1, 1, n)
    sizes = np.array(term_sizes(function)(matrix.T.ravel(), right)).ravel()
    assert np.all(sizes >= np.abs(np.linalg.solve(matrix, right)) * (1 - 1e-12))
    assert sizes.max() < 1e6
