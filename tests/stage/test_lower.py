"""SymPy to graph and back: the same numbers at random points, for every function there is."""

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.functions.elementary.trigonometric import sinc

from appell.code.circular import cosine, sine
from appell.errors import CompileError
from appell.graph.lower import Lowering
from appell.graph.raising import raised
from appell.graph.replay import operations

a, b, c = sp.symbols("a b c", real=True)
LEAVES = {s: ca.SX.sym(s.name) for s in (a, b, c)}


def graph(formula):
    return ca.Function("f", list(LEAVES.values()), [Lowering(LEAVES)(formula)])


def value(formula, point):
    return float(graph(formula)(*point))


def exact(formula, point):
    return float(sp.N(sp.sympify(formula).subs(dict(zip((a, b, c), map(sp.Float, point), strict=True)))))


SMOOTH = [
    a + b + c, a * b * c, a - b, -a, a / b, a**2, a**3, a**7, a**-1, a**-5, a**0.3, a ** sp.Rational(1, 3), a**b, 2**a,
    sp.sqrt(a), 1 / sp.sqrt(b), (a + b) ** sp.Rational(3, 2), sp.sin(a), sp.cos(a), sp.tan(a), sp.sec(a), sp.csc(a),
    sp.cot(a), sp.asin(a / 4), sp.acos(a / 4), sp.atan(a), sp.atan2(a, -b), sp.sinh(a), sp.cosh(a), sp.tanh(a),
    sp.asinh(a), sp.acosh(1 + a), sp.atanh(a / 4), sp.exp(a), sp.exp(-(b**2)), sp.log(a), sp.erf(a), sinc(a), sp.pi * a,
    sp.E**a, sp.E * a, sp.GoldenRatio * a, sp.Rational(22, 7) * a, 1.5 * a, sp.Integer(3) + a,
]  # fmt: skip
KINKED = [
    sp.Abs(a - b), sp.sign(a - b), sp.Min(a, b, c), sp.Max(a, b, c, 1), sp.Heaviside(a - b), sp.floor(a), sp.ceiling(a),
    sp.Mod(a, b), sp.Mod(-a, b), sp.Piecewise((a, a < b), (b, a < c), (c, True)),
    sp.Piecewise((1, sp.And(a < b, b <= c)), (2, sp.Or(a > c, sp.Not(b < 1))), (3, True)),
    sp.Piecewise((sp.log(a - b), a > b), (0, True)), sp.Piecewise((a, sp.Ne(a, b)), (b, True)),
]  # fmt: skip


@pytest.mark.parametrize("formula", SMOOTH + KINKED, ids=str)
def test_every_function_at_random_points(formula):
    random = np.random.default_rng(1)
    for point in random.uniform(0.2, 3.0, (6, 3)):
        assert value(formula, point) == pytest.approx(exact(formula, point), rel=1e-13, abs=1e-14)


@pytest.mark.parametrize(
    "formula", [sp.sin(a), sp.Abs(a), sp.sign(a), sp.Heaviside(a), sinc(a), sp.Mod(a, 3), a**3], ids=str
)
@pytest.mark.parametrize("at", [-2.5, -1e-9, 0.0, 1e-9, 2.5])
def test_both_sides_of_zero(formula, at):
    assert value(formula, (at, 0.0, 0.0)) == pytest.approx(exact(formula, (at, 0, 0)), abs=1e-15)


def test_heaviside_takes_the_value_at_zero_that_is_given():
    assert value(sp.Heaviside(a, 0), (0, 0, 0)) == 0
    assert value(sp.Heaviside(a, 1), (0, 0, 0)) == 1
    assert value(sp.Heaviside(a), (0, 0, 0)) == 0.5


def test_a_branch_that_is_not_taken_leaks_no_nan():
    formula = sp.Piecewise((sp.sqrt(a), a > 0), (a**2, True))
    f = graph(formula)
    slope = ca.Function("g", f.sx_in(), [ca.gradient(f(*f.sx_in()), f.sx_in()[0])])
    assert float(f(-2, 0, 0)) == 4
    assert float(slope(-2, 0, 0)) == -4


def test_no_branch_is_not_a_number():
    assert np.isnan(value(sp.Piecewise((1, a > 0)), (-1, 0, 0)))


def test_integer_powers_are_products():
    """x^-2 at a negative x, and as few operations as squaring takes."""
    assert value(a**-2, (-2.0, 0, 0)) == 0.25
    assert operations(graph(a**8)) == 3
    assert operations(graph(sp.sqrt(a))) == 1


def test_shared_subtrees_are_lowered_once():
    inner = sp.sin(a) * b + c
    formula = sum((inner**k for k in range(2, 8)), sp.Integer(0)) + sp.cos(inner) + inner
    names = [graph(formula).instruction_id(i) for i in range(graph(formula).n_instructions())]
    assert names.count(ca.OP_SIN) == 1
    lower = Lowering(LEAVES)
    f = ca.Function("f", list(LEAVES.values()), [lower(sp.cos(inner)), lower(sp.exp(inner))])
    assert operations(f) == 5  # sin, product, sum; cos; exp


def test_deep_trees_do_not_recurse():
    formula = a
    for _ in range(3000):
        formula = sp.sin(formula, evaluate=False)
    expected = 0.7
    for _ in range(3000):
        expected = np.sin(expected)
    assert value(formula, (0.7, 0, 0)) == pytest.approx(expected, rel=1e-12)


def test_columns_and_numbers():
    lower = Lowering(LEAVES)
    assert lower.column([]).shape == (0, 1)
    assert lower.column([a, 2, sp.true, sp.false]).shape == (4, 1)
    assert [float(lower(e)) for e in (2, 2.5, sp.pi, sp.true, sp.false)] == [2, 2.5, float(sp.pi), 1, 0]


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        (sp.gamma(a), r"Cannot translate gamma in gamma\(a\)"),
        (sp.Symbol("zz"), "Cannot translate the symbol zz: it is neither declared"),
        (sp.I * a, "Cannot translate ImaginaryUnit"),
    ],
)
def test_what_the_graph_has_not_is_named(formula, words):
    with pytest.raises(CompileError, match=words):
        Lowering(LEAVES)(formula)


@pytest.mark.parametrize("formula", SMOOTH + KINKED[:6] + KINKED[9:11], ids=str)
def test_raising_brings_the_formula_back(formula):
    back = raised(Lowering(LEAVES)(formula), [ca.vertcat(*LEAVES.values())], [[a, b, c]])[0, 0]
    for point in np.random.default_rng(2).uniform(0.3, 2.5, (3, 3)):
        assert exact(back, point) == pytest.approx(exact(formula, point), rel=1e-12, abs=1e-13)


def test_raised_numbers_look_as_a_person_writes_them():
    x = ca.SX.sym("x")
    found = raised(ca.vertcat(x / 4, x * np.pi / 3, 0.1 * x, 0.123456789 * x), [x], [[a]])
    assert found[0] == a / 4
    assert found[1] == sp.pi * a / 3
    assert found[2] == a / 10
    assert float(found[3] / a) == 0.123456789


leaf = st.sampled_from([a, b, c, sp.Integer(2), sp.Rational(1, 3), sp.Float(0.7)])
trees = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        inner.map(sp.sin),
        inner.map(lambda e: sp.exp(-(e**2))),
        inner.map(lambda e: sp.sqrt(1 + e**2)),
        st.tuples(inner, inner).map(lambda p: p[0] / (2 + p[1] ** 2)),
    ),
    max_leaves=12,
)


@given(trees, st.tuples(*[st.floats(-2, 2)] * 3))
@settings(max_examples=60, deadline=None)
def test_random_trees(formula, point):
    assert value(formula, point) == pytest.approx(exact(formula, point), rel=1e-10, abs=1e-12)


def test_sine_and_cosine_as_arithmetic_are_exact_to_rounding():
    x = np.concatenate([
        np.linspace(-30, 30, 20_001), np.linspace(-1e6, 1e6, 20_001), np.arange(-40, 41) * np.pi / 2, [1e-300, 1e-9],
    ])  # fmt: skip
    inherent = 4e-16 + np.spacing(np.abs(x))  # without fused operations the rounding of x is all that is added
    assert np.all(np.abs(sine(x) - np.sin(x)) < inherent)
    assert np.all(np.abs(cosine(x) - np.cos(x)) < inherent)
    small = np.linspace(-1.5, 1.5, 1000)
    np.testing.assert_allclose(sine(small), np.sin(small), rtol=3e-16, atol=0)
    assert np.isnan(sine(np.nan))
    assert sine(0.0) == 0.0
    assert cosine(0.0) == 1.0
    heyoka = pytest.importorskip("heyoka")
    letter = heyoka.make_vars("x")
    found = heyoka.cfunc([sine(letter), cosine(letter)], vars=[letter])(x[None, :])
    np.testing.assert_allclose(found, [np.sin(x), np.cos(x)], rtol=0, atol=4e-16)
