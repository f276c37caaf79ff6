"""Which velocities describe the motion: splits by pivoting, redundant rows, quasi-velocities."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import appell as ap
from appell.errors import FormulationError, ModelError, UndeclaredError
from appell.kinematics.split import Split, growths

x, y, z = ap.coordinates("x y z")
m, l = ap.parameters("m l")
ground = ap.Frame("ground")
bob = ap.Particle("bob", m, ground.point(x, y, z))


def model(*constraints, **more):
    return ap.Model(ground, (x, y, z), [bob], [ap.Gravity(-9.81 * ground.z)], constraints, **more)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_split_of_a_random_jacobian(rows, more, seed):
    """The chosen block is regular, and no independent rate is blown up into a dependent one by much."""
    random = np.random.default_rng(seed)
    columns = rows + more
    jacobian = random.normal(size=(rows, columns)) * 10 ** random.uniform(-3, 3, (rows, 1))
    split = Split.at(jacobian)
    assert split.rows == tuple(range(rows))
    assert len(split.dependent) == rows
    assert split.growth(jacobian) < 2**rows * 2


@given(st.integers(2, 4), st.integers(0, 10_000))
@settings(max_examples=50, deadline=None)
def test_redundant_rows_are_found(rank, seed):
    random = np.random.default_rng(seed)
    jacobian = random.normal(size=(rank + 2, rank)) @ random.normal(size=(rank, rank + 2))
    split = Split.at(jacobian)
    assert len(split.rows) == rank
    assert np.linalg.matrix_rank(jacobian[list(split.rows)]) == rank


def test_rows_that_are_rounding_do_not_count():
    jacobian = np.array([[1.0, 2.0, 0.0], [1e-13, 0.0, 3e-13]])
    assert Split.at(jacobian).rows == (0,)
    assert Split.at(np.zeros((2, 3))) == Split()
    assert Split.at(np.zeros((0, 3))) == Split()


def test_wanted_rows_are_kept_where_they_are_independent():
    jacobian = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.9, 0.1, 0.0]])
    assert Split.at(jacobian, rows=(1, 2)).rows == (1, 2)
    jacobian[2] = jacobian[1]
    assert Split.at(jacobian, rows=(1, 2)).rows != (1, 2)


def test_growth_is_infinite_where_the_split_is_singular():
    jacobian = np.array([[1.0, 0.0]])
    assert Split((0,), (0,)).growth(jacobian) == 1
    assert Split((0,), (1,)).growth(jacobian) == np.inf
    assert Split((0,), (0,)).growth(np.array([[np.nan, 1.0]])) == np.inf
    assert Split().growth(np.zeros((0, 2))) == 1


def test_growths_of_many_choices_at_many_jacobians_are_those_of_each():
    first = np.array([[1.0, 2.0, 0.0, 3.0], [2.0, 4.0, 1.0, -1.0], [0.0, 0.0, 0.0, 1.0]])
    jacobians = np.stack([first, first + np.arange(12.0).reshape(3, 4) ** 2])
    choices = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    expected = [[Split((0, 1), columns).growth(jacobian) for columns in choices] for jacobian in jacobians]
    assert np.isinf(expected[0][0])  # columns 0 and 1 are parallel
    np.testing.assert_array_equal(growths((0, 1), choices, jacobians), expected)
    np.testing.assert_array_equal(growths((), [()], jacobians), [[1.0], [1.0]])


def test_redundant_rows_are_reported_by_name():
    rows = (
        ap.Holonomic(x - y, "tie"),
        ap.Holonomic(2 * x - 2 * y, "tie again"),
        ap.Nonholonomic(z.rate - x.rate, "roll"),
    )
    equations = ap.derive(model(*rows))
    assert len(equations.unknowns) == 1
    (left_out,) = equations.redundant_rows
    assert left_out in ("tie", "tie again")
    assert f"redundant rows left out: {left_out}" in equations.summary()
    system = ap.compile(equations).bind({m: 1.0})
    np.testing.assert_allclose(system.accelerations(system.state()), [-9.81 / 3] * 3, rtol=1e-14)


def test_a_holonomic_row_and_its_derivative_are_one():
    equations = ap.derive(model(ap.Holonomic(x - y**2, "curve"), ap.Nonholonomic(x.rate - 2 * y * y.rate, "its rate")))
    assert len(equations.redundant_rows) == 1


@pytest.mark.parametrize("dependent", [x, y, z])
@pytest.mark.parametrize("formulation", [ap.GibbsAppell, ap.Voronets])
def test_the_user_chooses_what_is_dependent(dependent, formulation):
    plane = ap.Holonomic(x + 2 * y + 3 * z - 1, "plane")
    equations = ap.derive(model(plane), formulation(dependent=[dependent]))
    assert equations.dependent == (dependent,)
    assert set(equations.speeds) == {q.rate for q in (x, y, z)} - {dependent.rate}
    system = ap.compile(equations).bind({m: 2.0})
    normal = np.array([1, 2, 3])
    down = np.array([0, 0, -9.81])
    state = system.consistent()
    np.testing.assert_allclose(system.accelerations(state), down - normal * (normal @ down) / 14, rtol=1e-13)


def test_quasi_velocities_give_the_rates_back():
    a, b = ap.speeds("a b")
    rolling = ap.Nonholonomic(z.rate - x * y.rate - ap.t, "roll")
    equations = ap.derive(model(rolling), ap.GibbsAppell(speeds={a: x.rate + 2 * y.rate, b: sp.cos(x) * y.rate - ap.t}))
    system = ap.compile(equations).bind({m: 1.0})
    state = system.from_x(0.7, [0.3, -0.2, 0.5, 1.1, -0.4])
    rates = dict(zip((x.rate, y.rate, z.rate), state.v, strict=True))
    assert rates[x.rate] + 2 * rates[y.rate] == pytest.approx(1.1)
    assert np.cos(0.3) * rates[y.rate] - 0.7 == pytest.approx(-0.4)
    assert rates[z.rate] == pytest.approx(0.3 * rates[y.rate] + 0.7)
    np.testing.assert_allclose(system.to_x(state), [0.3, -0.2, 0.5, 1.1, -0.4], rtol=1e-13)
    assert equations.dependent == () or set(equations.speeds) == {a, b}


def test_wrong_numbers_of_quasi_velocities():
    a, b = ap.speeds("a b")
    with pytest.raises(
        FormulationError, match=r"1 speeds were given \(a\), but 3 coordinates under 0 .* leave 3 free; give 3"
    ):
        ap.derive(model(), ap.GibbsAppell(speeds={a: x.rate}))
    rows = ap.Holonomic(x - y), ap.Holonomic(y - z)
    with pytest.raises(FormulationError, match="leave 1 free; give 1"):
        ap.derive(model(*rows), ap.GibbsAppell(speeds={a: x.rate, b: y.rate}))


@pytest.mark.parametrize(
    ("formula", "error", "words"),
    [
        (x + y, FormulationError, r"The speed 'a' = x \+ y contains no velocity"),
        (sp.Symbol("v") * x.rate, UndeclaredError, "In the speed 'a': 'v' is not declared"),
        (x.rate.rate, ModelError, "The speed 'a' contains an acceleration"),
    ],
)
def test_wrong_formulas_of_quasi_velocities(formula, error, words):
    a, b, c = ap.speeds("a b c")
    with pytest.raises(error, match=words):
        ap.derive(model(), ap.GibbsAppell(speeds={a: formula, b: y.rate, c: z.rate}))


def test_a_rate_stands_for_itself_only():
    with pytest.raises(FormulationError, match=r"The rate x' can only stand for itself, \{x.rate: x.rate\}; got 2\*x'"):
        ap.derive(model(), ap.GibbsAppell(speeds={x.rate: 2 * x.rate, y.rate: y.rate, z.rate: z.rate}))


def test_a_quasi_velocity_is_made_by_speeds():
    with pytest.raises(FormulationError, match=r"m is not a speed; make it by appell.speeds\('m'\)"):
        ap.derive(
            model(), ap.GibbsAppell(speeds={m: x.rate, **dict(zip(ap.speeds("b c"), (y.rate, z.rate), strict=True))})
        )


@pytest.mark.parametrize(("name", "kind"), [("x", "coordinate"), ("m", "parameter")])
def test_a_quasi_velocity_has_a_name_of_its_own(name, kind):
    """A start {"x": 1.0} would set a coordinate and a speed of that name alike."""
    a, b, c = (ap.speeds(word) for word in (name, "b", "c"))
    with pytest.raises(FormulationError, match=f"The speed and the {kind} '{name}' of .* have one name"):
        ap.derive(model(), ap.GibbsAppell(speeds={a: x.rate, b: y.rate, c: z.rate}))


def dependent_speeds():
    a, b, c = ap.speeds("a b c")
    return ap.GibbsAppell(speeds={a: x.rate + y.rate, b: 2 * x.rate + 2 * y.rate, c: z.rate})


def test_dependent_quasi_velocities_are_refused_when_they_are_given():
    with pytest.raises(FormulationError, match="dependent"):
        ap.derive(model(), dependent_speeds())


def test_an_input_in_a_quasi_velocity_is_refused():
    w = ap.inputs("w")
    a, b, c = ap.speeds("a b c")
    driven = model().add(ap.Generalized({x: w}))
    with pytest.raises(ap.AppellError, match=r"'a'.*input"):
        ap.compile(ap.derive(driven, ap.GibbsAppell(speeds={a: x.rate + w, b: y.rate, c: z.rate}))).bind(
            {m: 1.0, w: 0.0}
        ).state({x: 1.0})


def test_the_automatic_choice_is_good_at_the_suggested_start():
    """A pendulum hanging straight down: y' follows from x' only where y is not zero, and the other way round."""
    length = ap.Holonomic(x**2 + y**2 - l**2, "rod"), ap.Holonomic(z, "plane")
    down = ap.derive(model(*length, values={l: 1.0}, start={x: 0.0, y: -1.0}))
    aside = ap.derive(model(*length, values={l: 1.0}, start={x: 1.0, y: 0.0}))
    for equations, place in ((down, [0.0, -1.0, 0.0]), (aside, [1.0, 0.0, 0.0])):
        system = ap.compile(equations).bind({m: 1.0})
        jacobian = np.array(equations.mechanics.functions["velocity"](0, place, [0, 0, 0], [], system.p)[1])
        assert equations.split.growth(jacobian) < 10
