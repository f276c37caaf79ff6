"""Runs that are made one by one, by processes of their own: the same numbers, also if a process dies."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble import processes


@pytest.fixture(scope="module")
def sliding():
    x, mu = ap.coordinates("x", "m"), ap.parameters("mu")
    ground = ap.Frame("ground")
    friction = ap.Generalized({x: -sp.sqrt(mu) * sp.sign(x.rate)})
    model = ap.Model(ground, x, [ap.Particle("mass", 1, ground.point(x, 0))], [friction], name="sliding")
    system = ap.compile(ap.derive(model))
    over = {mu: [1.0, 4.0, 0.25, -1.0, 0.5, 2.0, 3.0, 9.0]}
    options = {"start": {x.rate: 1.0}, "until": 2.0, "points": 3, "chunk": 4, "progress": False}
    return system, over, options, ap.sweep(system, over, **options, workers=1)


@pytest.fixture
def helped(monkeypatch):
    """All but the first run of a chunk are made elsewhere; counts which."""
    made = []
    run = processes.Processes.run

    def counted(self, case, columns):
        found = run(self, case, columns)
        made.append(None if found is None else found.arrays["outcome"].size)
        return found

    monkeypatch.setattr(processes, "HERE", 0.0)
    monkeypatch.setattr(processes.Processes, "run", counted)
    return made


def assert_equal(study, whole):
    for name in whole.dataset.variables:
        np.testing.assert_array_equal(study.dataset[name].values, whole.dataset[name].values, err_msg=str(name))
    assert study.failures.to_dict("records") == whole.failures.to_dict("records")
    assert study.info["reasons"] == whole.info["reasons"]


def test_processes_give_the_same_numbers_and_failures(sliding, helped):
    system, over, options, whole = sliding
    assert whole.failures["run"].tolist() == [3]
    study = ap.sweep(system, over, **options, workers=2)
    assert helped == [3, 3]
    assert_equal(study, whole)
    np.testing.assert_allclose(study["x.end"].values[[0, 1]], [0.5, 0.25], rtol=1e-9, atol=0)  # v^2 / (2 sqrt(mu))


def test_processes_that_die_cost_nothing(sliding, helped, monkeypatch):
    system, over, options, whole = sliding
    monkeypatch.setattr(processes, "COMMAND", "raise SystemExit(1)")
    assert_equal(ap.sweep(system, over, **options, workers=2), whole)
    assert set(helped) == {None}


def test_functions_stay_here(sliding, helped):
    theta, tau = ap.coordinates("theta"), ap.inputs("tau")
    ground = ap.Frame("ground")
    bob = ap.Particle("bob", 1, ground.pin(theta).point(0, -1))
    system = ap.compile(ap.derive(ap.Model(ground, theta, [bob], [ap.Generalized({theta: tau})])))
    study = ap.sweep(system, {theta: [0.1, 0.2, 0.3]}, control=lambda t, s: -s[theta], until=0.1, points=2, workers=2)
    assert study.outcomes == {"DONE": 3}
    assert helped == []
