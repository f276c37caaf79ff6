"""Designs of sweeps: grids, samples, tables, gains, programmes, controllers and starts."""

import re

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble import LogUniform, Normal, Uniform
from appell.ensemble.design import design
from appell.errors import AppellError


def test_all_combinations_have_axes(rod):
    study = ap.sweep(rod, {"l": [0.5, 1.0, 2.0], "theta": [0.1, 0.2]}, until=1.0, points=3)
    assert len(study) == 6
    product = study.product
    assert product["theta"].dims == ("l", "theta.start", "t")
    one = product["theta"].sel({"l": 2.0, "theta.start": 0.1})
    start = {**rod.model.start, "theta": 0.1}
    motion = ap.simulate(rod.bind({"l": 2.0}), start, 1.0, method="dop853", points=3, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.values, motion.columns["theta"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("over", "runs", "words"),
    [
        ({"l": [1, 2, 3]}, None, "3 values of l"),
        ({"l": [1, 2], "m": [3.0]}, None, "2 values of l, with m = 3"),
        ({"l": [1, 2], "m": [3, 4]}, None, "all combinations of 2 values of l, 2 values of m"),
        ({"l": [1, 2], "tau": {"off": 0}}, None, "2 values of l, with tau = off"),
        ({"l": 2.5, "m": [3.0]}, None, "with l = 2.5, m = 3"),
        ({"l": Uniform(1, 2), "m": [3.0], "g": [1, 9]}, 5, "random samples of l, seed 0, at each of g, with m = 3"),
    ],
)  # fmt: skip
def test_designs_are_told_in_words(over, runs, words):
    assert design(over, runs, "random", 0).words == words


@pytest.mark.parametrize("sampling", ["random", "latin", "sobol"])
def test_samples_have_their_distribution_and_their_seed(rod, sampling):
    def drawn(seed):
        over = {"theta": Uniform(-1, 3), "l": LogUniform(0.5, 2.0), "tau": Normal(1.0, 0.2)}
        study = ap.sweep(rod, over, runs=256, sampling=sampling, seed=seed, until=0.01, points=2)
        return study["theta.start"].values, study["l"].values, study["tau"].values

    theta, l, tau = drawn(1)
    assert ((theta > -1) & (theta < 3)).all()
    assert ((l > 0.5) & (l < 2)).all()
    bound = 4 if sampling == "random" else 1
    assert abs(theta.mean() - 1) < bound * 4 / np.sqrt(12 * 256)
    assert abs(np.log(l).mean()) < bound * np.log(4) / np.sqrt(12 * 256)
    assert abs(tau.mean() - 1) < bound * 0.2 / 16
    assert abs(tau.std() - 0.2) < 0.05
    if sampling == "latin":
        assert np.unique(np.floor((theta + 1) * 64).astype(int)).size == 256  # one in every slice
    for again, first in zip(drawn(1), (theta, l, tau), strict=True):
        np.testing.assert_array_equal(again, first)
    assert not np.array_equal(drawn(2)[0], theta)


def test_gains_of_a_law_can_be_varied(rod):
    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    k, d = ap.parameters("k d")
    over = {k: [1.0, 10.0], d: [0.1, 1.0]}
    study = ap.sweep(rod, over, inputs={tau: -k * theta - d * theta.rate}, start={theta: 0.5}, until=2.0, points=5)
    motion = ap.simulate(
        rod, {theta: 0.5}, 2.0, inputs={tau: -10 * theta - theta.rate}, method="dop853", rtol=1e-9, atol=1e-9, points=5
    )
    for name in ("theta", "theta.rate", "tau"):
        np.testing.assert_allclose(study[name].values[3], motion.columns[name], rtol=1e-12, atol=1e-12)


def test_a_function_that_raises_fails_alone_and_says_where(rod):
    laws = {"good": lambda t, state: 0.0, "bad": lambda t, state: 1 / 0}
    study = ap.sweep(rod, {"control": laws}, until=1.0, points=2)
    assert study.outcomes == {"DONE": 1, "RAISED": 1}
    words = r"ZeroDivisionError: division by zero \(test_sweep_designs\.py, line \d+\)"
    assert re.search(words, study.failures["reason"][0])


def test_values_may_come_from_an_iterator(rod):
    assert ap.sweep(rod, {"l": (e / 4 for e in (2, 4))}, until=0.1, points=2)["l"].values.tolist() == [0.5, 1.0]


def test_a_gain_without_a_number_is_asked_for(rod):
    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    k, d = ap.parameters("k d")
    with pytest.raises(AppellError, match=r"No value for d: it occurs in the inputs only\. Vary it"):
        ap.sweep(rod, {k: [1.0]}, inputs={tau: -k * theta - d * theta.rate}, until=1.0)


def test_programmes_controllers_and_starts_can_be_varied(rod):
    (theta,), (tau,) = rod.model.coordinates, rod.model.inputs
    study = ap.sweep(rod, {tau: {"rest": 0.0, "swing": sp.sin(ap.t)}, "theta": [0.1]}, until=1.0, points=3)
    assert study["tau.choice"].values.tolist() == ["rest", "swing"]
    np.testing.assert_allclose(study["tau"].values[1], np.sin([0, 0.5, 1]), rtol=1e-12, atol=0)

    def soft(t, state):
        return -state["theta"]

    def broken(t, state):
        raise RuntimeError("no signal")

    study = ap.sweep(rod, {"control": [soft, broken]}, start={theta: 0.1}, until=1.0, points=3)
    assert study.outcomes == {"DONE": 1, "RAISED": 1}
    assert "no signal" in study.failures["reason"].iloc[0]
    expected = ap.simulate(rod, {theta: 0.1}, 1.0, inputs={tau: -theta}, points=3)
    np.testing.assert_allclose(study["theta"].values[0], expected.columns["theta"], rtol=1e-8, atol=1e-9)

    starts = {"low": {theta: 0.1}, "high": rod.state({theta: 3.0})}
    study = ap.sweep(rod, {"start": starts, "l": [1.0, 2.0]}, until=1.0, points=3)
    assert study["start.choice"].values.tolist() == ["low", "low", "high", "high"]
    assert study["theta"].values[:, 0].tolist() == [0.1, 0.1, 3.0, 3.0]


def test_runs_can_be_given_as_a_table(rod):
    import pandas

    table = pandas.DataFrame({"l": [0.5, 1.0], "theta": [0.1, 0.2]})
    one, other = (ap.sweep(rod, e, until=1.0, points=3).dataset for e in (table, table.to_dict("records")))
    assert one.equals(other)


def test_what_is_no_number_among_numbers_is_named():
    system = ap.compile(ap.derive(ap.library.pendulum_chain(1))).bind()
    with pytest.raises(ap.AppellError, match="must be numbers, got 'heavy'"):
        ap.sweep(system, {"m": [1.0, "heavy"]})
