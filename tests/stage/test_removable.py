"""Quotients where both parts vanish: their values and rates next to the place and at it, and runs through it."""

import casadi as ca
import mpmath
import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.graph.kinks import has_kinks
from appell.graph.lower import Lowering
from appell.graph.removable import regular
from appell.graph.replay import operations

x, y, z = ap.coordinates("x y z")
ground = ap.Frame("ground")
ROOT = sp.sqrt(x**2 + x**4)
QUOTIENTS = [
    sp.sin(x) / x,
    sp.sin(3 * x) / x,
    (sp.sin(x) / x) ** 2,
    sp.sinc(x / 2),
    x / sp.sin(x),
    sp.tan(x) / x,
    (1 - sp.cos(x)) / x**2,
    (2 * sp.cos(x) - 2) / x,
    sp.sin(ROOT) / ROOT,
    (1 - sp.cos(ROOT)) / ROOT**2,
    sp.sin(sp.Abs(x)) / sp.Abs(x),
]


def bead(force):
    return ap.Model(
        ground, x, [ap.Particle("bead", 1, ground.point(x, 0))], [ap.Force(force * ground.x, ground.point(x, 0))]
    )


@pytest.mark.parametrize("formula", QUOTIENTS, ids=str)
@pytest.mark.parametrize("place", [0.0, 1e-9, -1e-5, 0.01, 0.7, -1.0, 1.3])
def test_a_quotient_has_its_limit_and_all_rates_of_it(formula, place):
    letter = ca.SX.sym("x")
    rates = [Lowering({x: letter})(formula)]
    for _ in range(5):
        rates.append(ca.gradient(rates[-1], letter))
    function = ca.Function("rates", [letter], [ca.vertcat(*rates)])
    assert not has_kinks(function)
    plain = sp.Symbol("x", positive=True)
    with mpmath.workdps(200):
        exact = sp.lambdify(plain, formula.subs(x, plain), "mpmath")
        at = mpmath.mpf(abs(place) or "1e-16")  # all of them are even or odd
        expected = [mpmath.factorial(k) * c for k, c in enumerate(mpmath.taylor(exact, at, 5))]
    odd = float(Lowering({x: ca.SX(0.5)})(formula)) * float(Lowering({x: ca.SX(-0.5)})(formula)) < 0
    signs = [-1 if place < 0 and (k + odd) % 2 else 1 for k in range(6)]
    np.testing.assert_allclose(
        np.array(function(place)).ravel(), np.array(signs) * np.array(expected, dtype=float), rtol=1e-9, atol=2e-11
    )


@pytest.mark.parametrize("place", [1e6, -1e13, 1e100])
def test_far_away_where_its_series_would_be_larger_than_any_number(place):
    letter = ca.SX.sym("x")
    value = Lowering({x: letter})(sp.sin(x) / x)
    found = ca.Function("far", [letter], [value, ca.gradient(value, letter)])(place)
    np.testing.assert_allclose(
        np.ravel(found), [np.sin(place) / place, (np.cos(place) - np.sin(place) / place) / place], rtol=1e-14
    )


@pytest.mark.parametrize("formula", [sp.sin(x) / 2, x * sp.sin(x), sp.cos(x) / x, sp.sin(x) / y, (y - sp.cos(x)) / x])
def test_what_is_no_such_quotient_stays_as_it_is(formula):
    assert regular(formula) is formula


def test_nothing_is_located_where_only_the_form_changes():
    """A bead that swings through x = 0 and far beyond |x| = 1, where the series ends."""
    system = ap.compile(ap.derive(bead(-3 * sp.sin(x) ** 2 / x))).bind()
    ends = []
    for method in ("taylor", "dop853"):
        motion = ap.simulate(system, {x: 0, x.rate: 3.0}, until=10.0, method=method)
        assert motion.outcome is ap.Outcome.DONE
        assert not motion.occurrences
        assert motion.check().ok
        ends.append(float(motion[x][-1]))
    potential = mpmath.quad(lambda s: 3 * mpmath.sin(s) ** 2 / s, [0, ends[0]])
    assert float(motion[x.rate][-1]) ** 2 / 2 + float(potential) == pytest.approx(4.5, rel=1e-10)
    assert ends[0] == pytest.approx(ends[1], abs=1e-10)


def test_a_force_with_a_quotient_has_a_rate():
    """It is read as sin(x)/x, and a higher order form takes it."""
    model = bead(-sp.sin(x) * sp.sinc(x))
    assert sp.simplify(ap.derive(model).to_sympy()[1][0] + sp.sin(x) ** 2 / x) == 0
    system = ap.compile(ap.derive(model, ap.HigherOrder(1))).bind()
    motion = ap.simulate(system, system.state({x: 0.0, x.rate: 1.0}), until=1.0)
    plain = ap.simulate(ap.compile(ap.derive(model)).bind(), {x: 0.0, x.rate: 1.0}, until=1.0)
    assert float(motion[x][-1]) == pytest.approx(float(plain[x][-1]), abs=1e-11)


def test_a_body_by_its_rotation_vector_from_no_rotation():
    """Rodrigues' formula at the angle zero; the same body by a quaternion."""
    letters = (x, y, z)
    angle = sp.sqrt(x**2 + y**2 + z**2)
    K = sp.Matrix([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = sp.eye(3) + sp.sin(angle) / angle * K + (1 - sp.cos(angle)) / angle**2 * K * K
    corners = [(1, 0, 0), (0, 1.5, 0), (0, 0, 0.7)]
    turned = [ap.Particle(f"p{i}", 1 + i, ground.point(*(R * sp.Matrix(p)))) for i, p in enumerate(corners)]
    weight = ap.Gravity(-9.81 * ground.z)
    model = ap.Model(ground, letters, turned, [weight], name="rotation vector")
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {x.rate: 0.5, y.rate: -0.3, z.rate: 1.0}, until=1.0)
    e = ap.coordinates("e0:4")
    frame = ground.rotate_quaternion(*e)
    bodies = [ap.Particle(f"p{i}", 1 + i, frame.point(*p)) for i, p in enumerate(corners)]
    system = ap.compile(ap.derive(ap.Model(ground, e, bodies, [weight]))).bind()
    start = system.consistent({"e0": 1.0, "e1.rate": 0.25, "e2.rate": -0.15, "e3.rate": 0.5})
    found = np.array([float(motion[q][-1]) for q in letters])
    size = np.linalg.norm(found)
    expected = [float(ap.simulate(system, start, until=1.0)[q][-1]) for q in e]
    np.testing.assert_allclose([np.cos(size / 2), *np.sin(size / 2) * found / size], expected, atol=1e-11)


def test_the_python_module_has_the_limit(tmp_path):
    system = ap.compile(ap.derive(bead(sp.sin(2 * x) / x))).bind()
    text = system.to_python(tmp_path / "quotient.py").read_text()
    module = {}
    exec(text, module)
    for place, expected in ((0.0, 2.0), (0.1, np.sin(0.2) / 0.1), (4.0, np.sin(8.0) / 4)):
        assert module["rhs"](0.0, np.array([place, 1.0]), ())[1] == pytest.approx(expected, rel=1e-15)


def test_a_quotient_elsewhere_costs_no_more():
    letters = {x: ca.SX.sym("x"), y: ca.SX.sym("y")}
    function = ca.Function("f", list(letters.values()), [Lowering(letters)(sp.sin(x) / y)])
    assert operations(function) == 2
