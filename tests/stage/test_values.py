"""Numbers for the letters of a model: bound, missing, and refused where they are none."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import MissingValueError, ModelError

x, y, theta = ap.coordinates("x y theta")
m, k = ap.parameters("m k")
w = ap.inputs("w")
ground = ap.Frame("ground")


def model(**changes):
    return ap.Model(ground, (x, y), [ap.Particle("bob", m, ground.point(x, y))], **changes)


@pytest.fixture(scope="module")
def system():
    return ap.compile(ap.derive(model(forces=[ap.Generalized({x: w - k * x})])))


@pytest.mark.parametrize(
    ("values", "error", "words"),
    [
        ({"m": 1.0, "kk": 2.0}, ModelError, r"'kk' is not a parameter or input of 'model'. Did you mean 'k'\?"),
        ({"m": np.nan}, ModelError, "The value of 'm' must be a finite number, got nan"),
        ({"m": "heavy"}, ModelError, "The value of 'm' must be a finite number, got 'heavy'"),
        ({"m": None}, ModelError, "The value of 'm' must be a finite number, got None"),
        (
            {"m": 0.0, "k": 1.0, "w": 0.0},
            ModelError,
            "The mass of 'bob' is m = 0 with these values; it must be positive",
        ),
        (
            {"m": -2, "k": 1.0, "w": 0.0},
            ModelError,
            "The mass of 'bob' is m = -2 with these values; it must be positive",
        ),
        ({3: 1.0}, ModelError, "Got 3 as a name"),
    ],
)
def test_wrong_values(system, values, error, words):
    with pytest.raises(error, match=words):
        system.bind(values)


def test_missing_values_are_listed(system):
    assert system.missing == ["k", "m", "w"]
    half = system.bind({m: 1.0})
    assert "without values for k, w" in repr(half)
    with pytest.raises(MissingValueError, match=r"No value for the parameter k; write system.bind\(\{k: ...\}\)"):
        ap.simulate(half.bind({w: 0.0}))
    with pytest.raises(
        MissingValueError, match=r"the input w and the parameter k; write system.bind\(\{w: ..., k: ..."
    ):
        ap.simulate(half)
    with pytest.raises(MissingValueError, match=r"No value for the input w"):
        ap.simulate(half.bind({k: 1.0}))


def test_a_negative_moment_of_inertia_shows_when_numbers_are_bound():
    inertia = ap.parameters("J")
    wheel = ap.RigidBody("wheel", 1, ground.point(0, 0), ground.rotate("z", theta), (0, 0, inertia))
    with pytest.raises(ModelError, match="The moment of inertia of 'wheel' is J = -1 with these values"):
        ap.compile(ap.derive(ap.Model(ground, theta, [wheel]))).bind({inertia: -1})


def test_a_mass_that_is_not_a_number():
    with pytest.raises(ModelError, match="The mass of 'bob' must be finite"):
        ap.Particle("bob", sp.nan, ground.point(x, y))


def test_a_text_as_a_value():
    with pytest.raises(ModelError, match="The value of 'm' must be a finite number"):
        model(values={m: "heavy"})


def test_the_numbers_of_a_system_are_changed_by_bind_alone():
    """Set in place, a number would stand in the records of a run and not in what was run."""
    system = ap.compile(ap.derive(model())).bind({m: 2.0})
    with pytest.raises(TypeError):
        system.values["m"] = 3.0
    assert system.bind({m: 3.0}).values["m"] == 3.0
    assert system.values["m"] == 2.0
