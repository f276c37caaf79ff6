"""Controllers of sweeps: every run has its own, and none disturbs another, on however many threads."""

import random
import threading
from collections import Counter

import numpy as np
import pytest

import appell as ap
from appell.errors import ModelError


@pytest.fixture(scope="module")
def rod():
    """A driven pendulum."""
    theta, tau = ap.coordinates("theta", "rad"), ap.inputs("tau", "N*m")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1, ground.pin(theta).point(0, -1))
    forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized({theta: tau}, "motor")]
    return ap.compile(ap.derive(ap.Model(ground, theta, [bob], forces, name="rod", values={tau: 0.0}))).bind()


@pytest.fixture(scope="module")
def table():
    """A unit mass on a table, pushed along and across."""
    x, y = ap.coordinates("x y", "m")
    a, b = ap.inputs("a b", "N")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, y))
    pushes = ap.Generalized({x: a, y: b}, "pushes")
    return ap.compile(ap.derive(ap.Model(ground, (x, y), [body], [pushes], values={a: 0.0, b: 0.0}))).bind()


class Integrating:
    """A digital controller that remembers."""

    def __init__(self):
        self.sum, self.seen, self.lock, self.counts = 0.0, [], threading.Lock(), Counter()

    def __call__(self, t, state):
        with self.lock:
            self.sum += state["theta"]
        self.seen.append(t)
        self.counts["calls"] += 1
        return -4.0 * state["theta"] - 0.1 * self.sum - 0.01 * self.counts["calls"]


def test_a_controller_that_remembers_is_new_in_every_run(rod):
    def counting():
        calls = 0

        def law(t, state):
            nonlocal calls
            calls += 1
            return -0.01 * calls

        return law

    over, options = {"theta": [0.5, 1.0, 0.5]}, {"until": 1.0, "points": 5, "rate": 20.0}
    for made in (Integrating, lambda: Integrating().__call__, counting):
        control = made()
        study = ap.sweep(rod, over, **options, control=control)
        for run, theta in enumerate(over["theta"]):
            motion = ap.simulate(rod, {"theta": theta}, 1.0, points=5, control=made(), rate=20.0, rtol=1e-9)
            np.testing.assert_array_equal(study["theta"].values[run], motion.columns["theta"])
    with pytest.raises(ModelError, match="there is none here"):
        ap.sweep(rod, over, until=1.0, rate=20.0)
    with pytest.raises(ModelError, match="positive number of samples"):
        ap.sweep(rod, over, until=1.0, control=Integrating(), rate=-1.0)


@pytest.mark.parametrize("made", [np.random.default_rng, np.random.RandomState, random.Random])
def test_random_numbers_of_a_controller_begin_anew_in_every_run(rod, made):
    class Noisy:
        def __init__(self):
            self.random = made(3)

        def __call__(self, t, state):
            return self.random.uniform(-1.0, 1.0)

    study = ap.sweep(rod, {"theta": [0.5, 1.0, 0.5]}, until=0.5, points=5, control=Noisy(), rate=20.0)
    np.testing.assert_array_equal(study["theta"].values[0], study["theta"].values[2])
    motion = ap.simulate(rod, {"theta": 1.0}, 0.5, points=5, control=Noisy(), rate=20.0, rtol=1e-9)
    np.testing.assert_array_equal(study["theta"].values[1], motion.columns["theta"])


def test_several_controllers_on_several_threads_give_the_numbers_of_one(rod):
    """Runs of one model share the buffers of its functions, whichever controller they have."""
    laws = {str(gain): lambda t, state, gain=gain: -gain * state["theta"] for gain in (1.0, 5.0, 10.0)}
    over = {"control": laws, "theta": np.linspace(0.1, 1.0, 12)}
    one, several = (ap.sweep(rod, over, until=2.0, points=5, workers=n, chunk=1) for n in (1, 6))
    assert several.outcomes == {"DONE": 36}
    for name in one.dataset.variables:
        np.testing.assert_array_equal(one.dataset[name].values, several.dataset[name].values, err_msg=str(name))


@pytest.mark.parametrize("over", [{"b": [1.0, 2.0]}, [{"b": 1.0}, {"b": 2.0}], {"b": {"weak": 1.0, "strong": 2.0}}])
@pytest.mark.parametrize("how", [{"control": lambda t, state: {"a": -state["x"]}}, {"inputs": {"a": np.cos}}])
def test_a_varied_number_acts_beside_an_input_by_a_function(table, over, how):
    """A constant push b moves a unit mass by b/2 in a second."""
    study = ap.sweep(table, over, start={"x": 1.0}, until=1.0, points=3, **how)
    np.testing.assert_allclose(study["y.end"].values, [0.5, 1.0], rtol=0, atol=1e-9)
    expected = np.cos(1) if "control" in how else 2 - np.cos(1)
    np.testing.assert_allclose(study["x.end"].values, expected, rtol=0, atol=1e-8)


def test_an_input_is_given_once(table):
    def both(t, state):
        return [0.0, 1.0]

    words = "The control gives 'b', which is given or varied by itself"
    for inputs in ({"b": 3.0}, {"b": np.cos}):
        with pytest.raises(ModelError, match=words):
            ap.simulate(table, until=1.0, inputs=inputs, control=both)
    for over in ({"b": [1.0, 2.0]}, {"b": {"weak": 1.0, "strong": 2.0}}):
        with pytest.raises(ModelError, match=words):
            ap.sweep(table, over, until=1.0, points=3, control=both)
    with pytest.raises(ModelError, match=r"'b' is given by inputs=\.\.\. and cannot be varied as well"):
        ap.sweep(table, {"b": [1.0, 2.0]}, until=1.0, inputs={"b": np.cos})
    with pytest.raises(ModelError, match="'b' is given by a function and cannot be varied as well"):
        ap.sweep(table, {"b": [1.0, 2.0]}, until=1.0, control={"b": np.cos})
    with pytest.raises(ModelError, match=words):
        ap.simulate(table, until=1.0, inputs={"b": 1.0}, control={"b": ap.t})
    with pytest.raises(ModelError, match=words):
        ap.sweep(table, {"x": [1.0, 2.0]}, until=1.0, inputs={"b": 1.0}, control={"b": ap.t})
    with pytest.raises(ModelError, match=r"gave 2 values for 1 inputs \(a\); formulas give b"):
        ap.simulate(table, until=1.0, inputs={"b": ap.t}, control=both)


def said(inputs):
    return lambda t, state: inputs


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (said({"a": 1.0, "b": 2.0}), "The control gives 'b', which is given or varied by itself"),
        (said(None), "The control returned nothing"),
        (said([1.0, 2.0]), r"gave 2 values for 1 inputs \(a\); formulas give b"),
        (said({"c": 1.0}), "'c' is not an open input"),
        (said({"a": "much"}), "The inputs must be numbers"),
    ],
)
def test_a_control_that_suits_no_run_is_refused_before_the_first(table, tmp_path, control, words):
    """Of a thousand runs each would fail with the same words; nothing is written for a run of that kind."""
    for over in ({"x": [1.0, 2.0]}, {"control": {"mine": control}}):
        given = None if "control" in over else control
        with pytest.raises(ModelError, match=words):
            ap.sweep(table, over, until=1.0, inputs={"b": ap.t}, control=given, out=tmp_path / "study.zarr")
    assert not list(tmp_path.iterdir())


def test_a_control_that_fails_by_itself_fails_its_own_run_alone(table):
    def control(t, state):
        return {"a": 1 / state["x"]}

    study = ap.sweep(table, {"x": [0.0, 1.0]}, until=0.1, points=2, control=control, inputs={"b": 0.0})
    assert study.outcomes == {"RAISED": 1, "DONE": 1}
