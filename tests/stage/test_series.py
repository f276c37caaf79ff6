"""Taylor series over several algebras."""

from fractions import Fraction

import casadi as ca
import numpy as np
import sympy as sp
from numpy.testing import assert_allclose

from appell.graph import series


def test_sine_and_cosine_of_a_polynomial():
    t = sp.Symbol("t")
    x = sp.Rational(1, 3) + 2 * t - t**2 + t**3 / 5
    derivatives = [float(sp.diff(x, t, k).subs(t, 0)) for k in range(7)]
    s, c = series.sin_cos(series.from_derivatives(derivatives))
    for found, function in ((s, sp.sin), (c, sp.cos)):
        wanted = [float(sp.diff(function(x), t, k).subs(t, 0)) for k in range(7)]
        assert_allclose(series.to_derivatives(found), wanted, rtol=1e-14, atol=1e-13)


def test_square_root_and_hyperbolic_tangent():
    t = sp.Symbol("t")
    x = 2 + t - t**2 / 3 + t**4
    derivatives = [float(sp.diff(x, t, k).subs(t, 0)) for k in range(6)]
    for rule, function in ((series.sqrt, sp.sqrt), (series.tanh, sp.tanh)):
        wanted = [float(sp.diff(function(x), t, k).subs(t, 0)) for k in range(6)]
        assert_allclose(series.apply(rule, derivatives), wanted, rtol=1e-12, atol=1e-13)


def test_fractions_stay_exact():
    x = series.from_derivatives([Fraction(1), 3, 5, 7])
    assert x == [1, 3, Fraction(5, 2), Fraction(7, 6)]
    assert series.to_derivatives(series.product(x, x)) == [1, 6, 28, 104]
    assert series.derivative(x) == [3, 5, Fraction(7, 2)]


def test_arrays_run_through_as_many_states():
    x = np.random.default_rng(0).normal(size=(4, 9))
    s, _ = series.sin_cos(list(x))
    for i in range(9):
        one, _ = series.sin_cos(list(x[:, i]))
        assert_allclose([c[i] for c in s], one, rtol=0, atol=1e-15)


def test_letters_of_a_graph():
    x = [ca.SX.sym(f"x{k}") for k in range(4)]
    function = ca.Function("s", [ca.vertcat(*x)], [ca.vertcat(*series.sin_cos(x)[0])])
    numbers = [0.3, -1.0, 0.5, 2.0]
    assert_allclose(np.array(function(numbers)).ravel(), series.sin_cos(numbers)[0], rtol=1e-15, atol=0)
