"""Letters: what they are equal to, their rates, units, printing and the names they may have."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import AppellError, ModelError
from appell.model.symbols import explicit_rate, key, listed, quoted, time_derivative, unit_of


def test_one_name_gives_a_symbol_and_several_a_tuple():
    x = ap.coordinates("x")
    y, z = ap.coordinates("y, z")
    assert isinstance(x, sp.Symbol)
    assert [s.name for s in (x, y, z)] == ["x", "y", "z"]


@pytest.mark.parametrize(
    ("maker", "kind"),
    [
        (ap.coordinates, "coordinate"),
        (ap.speeds, "speed"),
        (ap.parameters, "parameter"),
        (ap.inputs, "input"),
        (ap.states, "state"),
    ],
)
def test_kinds(maker, kind):
    letter = maker("a", "m", "what it is")
    assert (letter.kind, letter.unit, letter.description, letter.label) == (kind, "m", "what it is", "a")
    assert letter.is_real


def test_letters_of_the_same_kind_and_name_are_the_same_wherever_they_are_made():
    x, other = ap.coordinates("x", "m"), ap.coordinates("x", "ft", "another label")
    assert x == other
    assert hash(x) == hash(other)
    assert x.rate == other.rate
    assert x - other == 0


def test_words_are_those_of_the_last_declaration_also_inside_formulas():
    for unit, words in (("kg", "mass"), ("m", "reach")):
        x, a, b = ap.coordinates("x", "m"), *ap.parameters("a_said_twice b", f"{unit} s", f"{words}; time")
        ground = ap.Frame("ground")
        model = ap.Model(ground, x, [ap.Particle("p", a + 2 * b, ground.point(x * a * b, 0))])
        (said,) = (p for p in model.parameters if p.name == "a_said_twice")
        assert (said.unit, said.description) == (unit, words)


def test_letters_of_another_kind_are_other_letters():
    same_name = [ap.coordinates("x"), ap.speeds("x"), ap.parameters("x"), ap.inputs("x"), ap.states("x")]
    same_name += [sp.Symbol("x"), sp.Symbol("x", real=True)]
    assert len(set(same_name)) == len(same_name)
    assert ap.coordinates("x").rate != ap.states("x").rate


def test_rates():
    x = ap.coordinates("x", "m")
    assert x.rate.rate == x.derivative(2)
    assert x.derivative(0) is x
    assert x.rate.derivative(2) == x.derivative(3)
    assert (x.rate.order, x.rate.rate.order) == (1, 2)
    assert x.rate.rate.base == x
    assert [x.rate.unit, x.rate.rate.unit] == ["m/s", "m/s^2"]
    assert [x.rate.label, x.rate.rate.label] == ["x.rate", "x.rate.rate"]
    assert ap.coordinates("n").rate.unit == ""


def test_printing():
    x = ap.coordinates("x")
    assert [str(x.rate), str(x.derivative(2))] == ["x'", "x''"]
    assert sp.latex(x.derivative(2)) == r"\ddot{x}"
    assert sp.latex(ap.coordinates("theta_1").rate) == r"\dot{\theta}_{1}"
    assert sp.latex(x.derivative(4)) == "{x}^{(4)}"
    assert sp.pretty(x.rate) == "x'"


@pytest.mark.parametrize("letter", [ap.coordinates("x", "m"), ap.coordinates("x", "m").rate, ap.parameters("m", "kg")])
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_are_equal_and_keep_their_labels(letter, again):
    twin = again(letter)
    assert twin == letter
    assert twin.unit == letter.unit
    assert type(twin) is type(letter)


def test_time_derivative():
    x, y = ap.coordinates("x y")
    m, z = ap.parameters("m"), ap.states("z")
    formula = m * sp.sin(x) * y.rate + ap.t**2 * z
    expected = m * sp.cos(x) * x.rate * y.rate + m * sp.sin(x) * y.derivative(2) + 2 * ap.t * z + ap.t**2 * z.rate
    assert sp.expand(time_derivative(formula) - expected) == 0
    assert time_derivative(3) == 0


def test_sympy_differentiates_what_moves_by_time():
    x, y = ap.coordinates("x y")
    m, z, t = ap.parameters("m"), ap.states("z"), ap.t
    assert x.diff(t) == x.rate
    assert x.diff(t, 3) == x.derivative(3)
    assert x.rate.diff(t) == x.rate.rate
    assert sp.diff(m, t) == 0 == x.diff(y)
    assert sp.expand(sp.diff(m * sp.sin(x) * y + t**2 * z, t)) == sp.expand(
        time_derivative(m * sp.sin(x) * y + t**2 * z)
    )
    assert sp.Matrix([x, y * t]).diff(t) == sp.Matrix([x.rate, y + t * y.rate])
    lagrangian = m * x.rate**2 * y / 2 - m * x**2
    by_hand = m * (x.rate.rate * y + x.rate * y.rate) + 2 * m * x
    assert sp.expand(lagrangian.diff(x.rate, t) - lagrangian.diff(x) - by_hand) == 0
    assert sp.expand(lagrangian.diff(x.rate).diff(t) - lagrangian.diff(x) - by_hand) == 0


def test_a_derivative_by_time_that_is_not_known_is_refused_and_never_zero():
    x, F, t = ap.coordinates("x"), ap.inputs("F"), ap.t
    for formula in (x, x.rate, sp.sin(x) ** 2, F * t):
        with pytest.raises(ModelError, match=r"by SymPy's own symbol t; time is appell\.t: write \.diff\(appell\.t\)"):
            formula.diff(sp.Symbol("t"))
    with pytest.raises(ModelError, match=r"say what to solve for, solve\(formula, x\)"):
        sp.solve(x - 3)  # SymPy would look for time as well, for ever
    assert sp.solve(x - 3, x) == [3]
    for formula in (F, x * F, sp.Matrix([F])):
        with pytest.raises(ModelError, match="The rate of the input F is not known"):
            formula.diff(t)
    assert (x * F).diff(F) == x
    assert F.diff(x) == 0


def test_partial_derivatives_by_time_hold_what_moves():
    x, t = ap.coordinates("x"), ap.t
    assert explicit_rate(x**2 * sp.sin(t)) == x**2 * sp.cos(t)
    assert explicit_rate(x**2) == 0


def test_names_are_counted_as_by_sympy():
    for names in ("q1:4", "a:3", "x y2:4 z"):
        assert [s.name for s in ap.coordinates(names)] == [s.name for s in sp.symbols(names)]
    assert [s.unit for s in ap.parameters("m1:3 l", "kg kg m")] == ["kg", "kg", "m"]
    assert ap.coordinates("q1:2") == (ap.coordinates("q1"),)


def test_units_one_for_all_or_one_each():
    assert [s.unit for s in ap.parameters("a b c", "m")] == ["m", "m", "m"]
    assert [s.unit for s in ap.parameters("a b c", "m - kg")] == ["m", "", "kg"]
    with pytest.raises(ModelError, match=r"3 names but 2 units"):
        ap.parameters("a b c", "m kg")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ("", "No name given"),
        ("2x", "'2x' cannot name a coordinate"),
        ("x-y", "'x-y' cannot name a coordinate"),
        ("lambda", "'lambda' cannot name a coordinate"),
        ("t", "'t' is time itself"),
        ("r pi", "'pi' is the number"),
        ("x y x", "occurs twice in 'x y x'"),
        ("x x:2 x0:1", "occurs twice"),
        ("q3:3", "'q3:3' names nothing: it counts from 3 up to below 3"),
        ("q1:", "'q1:' cannot name"),
    ],
)
def test_bad_names_are_named(names, words):
    with pytest.raises(ModelError, match=words):
        ap.coordinates(names)


def test_keys():
    x = ap.coordinates("x")
    assert [key(x), key(x.rate), key("x'"), key("x.rate"), key("x''")] == [
        "x",
        "x.rate",
        "x.rate",
        "x.rate",
        "x.rate.rate",
    ]
    with pytest.raises(ModelError, match=r"Got 3 as a name; give a symbol made by appell or its name as text"):
        key(3)
    with pytest.raises(ModelError, match="Got x as a name"):
        key(sp.Symbol("x"))
    assert listed(x) == [x]
    assert listed((x, "y")) == [x, "y"]
    with pytest.raises(ModelError, match="Got 3; give a letter, a name or a formula, or a list of them"):
        listed(3)


def test_messages_quote_long_formulas_by_their_ends():
    x, y = ap.coordinates("x y")
    long = sp.expand((x + 2 * y) ** 30)
    assert len(str(long)) > 500
    text = quoted(long)
    assert len(text) == 80
    assert text.startswith("x**30")
    assert " … " in text
    assert quoted(x * y) == "x*y"
    assert quoted("a") == "'a'"
    with pytest.raises(ModelError, match=r"contains the rate of a coordinate.* … ") as caught:
        ap.Holonomic(long * x.rate)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("order", [-1, 1.5, "two", None, True])
def test_orders_of_derivatives_are_whole_numbers(order):
    with pytest.raises(ModelError, match="derivative of x must be a whole number, 0 or more; got"):
        ap.coordinates("x").derivative(order)


def test_whole_numbers_of_numpy_are_whole_numbers_everywhere():
    two = np.int64(2)
    assert ap.coordinates("x").derivative(two) == ap.coordinates("x").rate.rate
    assert repr(ap.GPME(two)) == "GPME(order=2)"
    move = ap.higher_order.polynomial([0.0, 0.0], [1.0, 1.0], 1.0, degree=np.int64(5))
    arm = ap.higher_order.Dynamics(ap.library.planar_2r())
    assert len(ap.higher_order.Profile(arm, move, order=two, points=np.int64(9)).times) == 9
    links = [ap.Joint(mass=1, inertia=(0, 1, 1)), ap.Joint(at=(1, 0, 0), mass=1, inertia=(0, 1, 1), parent=np.int64(0))]
    assert ap.Chain(links).numbers().parents == (-1, 0)


@pytest.mark.parametrize("order", [0, 1.5, True])
def test_the_order_of_programmed_motion_equations_is_a_whole_number(order):
    with pytest.raises(AppellError, match="order p of GPME must be a whole number, 1 or more; got"):
        ap.GPME(order)


def test_letters_declared_together_have_their_own_words():
    x, y = ap.coordinates("x y", "m", "place of the cart; height of the load")
    assert (x.description, y.description) == ("place of the cart", "height of the load")
    a, b = ap.parameters("a b", "m", "half axes")
    assert a.description == b.description == "half axes"
    assert ap.inputs("tau", "N*m", "torque; it holds the arm").description == "torque; it holds the arm"
    with pytest.raises(ModelError, match="3 names but 2 descriptions in 'one; two'; give one for each name, separated"):
        ap.states("p q r", "kg", "one; two")


def test_sums_of_like_letters_have_their_unit_and_no_other_formula_has_one():
    x, y, angle = ap.coordinates("x y angle", "m m rad")
    assert [unit_of(e) for e in (x - y, -x, sp.Abs(x.rate - y.rate), sp.Max(x, 0), x + 2)] == [
        "m",
        "m",
        "m/s",
        "m",
        "m",
    ]
    assert {unit_of(e) for e in (x + angle, x * y, angle * 180 / sp.pi, 2 * x, sp.sin(angle), sp.Integer(3))} == {""}
