"""Order of convergence of the fused step of Dormand and Prince, and of its dense output."""

from itertools import pairwise

import numpy as np
import pytest

import appell as ap
from appell.ensemble import plan
from appell.motion.dormand_prince import interpolate, step_functions
from appell.sprayer import Sprayer


@pytest.fixture(scope="module")
def swing():
    """A pendulum: its step function, and a solution to machine precision."""
    system = ap.compile(ap.derive(ap.library.pendulum_chain(1))).bind()
    motion = ap.simulate(system, {"q1": 1.0}, until=1.0, method="taylor")
    step, dense = step_functions(system.code.rhs.function)
    start = system.to_x(motion.at(0.0))
    return system, motion, step, dense, start


def march(swing, h, until=0.8):
    system, _, step, _, x = swing
    for k in range(round(until / h)):
        x = np.array(step(k * h, x, system.w, [*system.p, h, 1e-9, 1e-9])[0]).ravel()
    return x


def orders(errors):
    return [np.log2(a / b) for a, b in pairwise(errors)]


def test_the_step_is_of_order_eight(swing):
    system, motion, *_ = swing
    exact = system.to_x(motion.at(0.8))
    errors = [np.max(np.abs(march(swing, h) - exact)) for h in (0.2, 0.1, 0.05)]
    assert errors[-1] < 1e-9
    assert min(orders(errors)) > 7.0
    assert max(orders(errors)) < 10.0


@pytest.mark.parametrize("machine", ["casadi", "heyoka"])
def test_the_dense_output_is_as_good_as_the_steps_where_stability_limits_them(machine):
    """The steering of the rocket car is damped ever more by its speed, up to steps of six times the time of decay."""
    pytest.importorskip("heyoka")
    equations = ap.derive(ap.library.rocket_car())
    exact = ap.simulate(ap.compile(equations).bind(), method="taylor")
    motion = ap.simulate(ap.compile(equations, machine).bind(), method="dop853", rtol=1e-12)
    nodes = np.unique(np.concatenate([stretch.times for stretch in motion.stretches]))
    within = np.concatenate([nodes[:-1] + share * np.diff(nodes) for share in (0.1, 0.3, 0.5, 0.8)])
    for times in (nodes, within):
        np.testing.assert_allclose(motion.states(times), exact.states(times), rtol=0, atol=3e-9)


@pytest.mark.parametrize("machine", ["casadi", "heyoka"])
def test_tables_of_lanes_are_as_good_as_their_steps_where_stability_limits_them(machine, monkeypatch):
    pytest.importorskip("heyoka")
    monkeypatch.setattr(plan, "FEW", 0)
    equations = ap.derive(ap.library.rocket_car())
    exact = ap.simulate(ap.compile(equations).bind(), method="taylor", points=801)
    study = ap.sweep(
        ap.compile(equations, machine).bind(), {"fuel": [40.0, 40.0]}, points=801, rtol=1e-12, progress=False
    )
    assert study["lane"].values.all()
    for name in ("x", "y", "heading", "steer", "steer.rate"):
        for run in study[name].values:
            np.testing.assert_allclose(run, exact.columns[name], rtol=0, atol=3e-9)


def test_the_error_estimate_falls_with_its_order(swing):
    system, _, step, _, x = swing
    estimates = [float(step(0.0, x, system.w, [*system.p, h, 1e-9, 1e-9])[1]) for h in (0.2, 0.1, 0.05)]
    assert min(orders(estimates)) > 5.0


def test_the_dense_output_is_of_order_seven(swing):
    system, motion, _, dense, x = swing
    errors = []
    for h in (0.2, 0.1, 0.05):
        columns = np.array(dense(0.0, x, system.w, [*system.p, h, 1e-9, 1e-9])[0]).reshape(7, -1)
        shares = np.linspace(0.1, 0.9, 9)
        found = np.array([interpolate(columns, x, np.asarray(s)) for s in shares])
        exact = np.array([system.to_x(motion.at(s * h)) for s in shares])
        errors.append(np.max(np.abs(found - exact)))
    assert min(orders(errors)) > 7.0


@pytest.mark.parametrize("method", ["dop853", "DOP853"])
def test_ours_makes_the_error_of_scipys(swing, method):
    """The same coefficients and the same control of the step: about the same error and number of steps."""
    system, motion, *_ = swing
    exact = motion.at(1.0).array
    found = ap.simulate(system, {"q1": 1.0}, until=1.0, method=method, rtol=1e-9, atol=1e-9)
    assert np.max(np.abs(found.at(1.0).array - exact)) < 2e-8
    assert found.info["steps"] < 60


def test_coarse_tolerances_take_fewer_steps(swing):
    system = swing[0]
    steps = [
        ap.simulate(system, {"q1": 1.0}, until=5.0, method="dop853", rtol=rtol).info["steps"]
        for rtol in (1e-5, 1e-8, 1e-11)
    ]
    assert steps[0] < steps[1] < steps[2]


def test_an_error_estimate_that_passes_through_zero_is_not_taken_at_its_word():
    """From t = 13.9 s the estimate of a step nearly vanishes, and again that of one four times as long behind it."""
    nozzles = [(0.5, -0.6, -2, 0.7, None, 1.5), (-0.3, 0.5, 1.9, 0.4, 0.8, 2)]
    robot = Sprayer(nozzles, internal_flow=True, drive="wheels", separate_tank=True)
    system = ap.compile(ap.derive(robot.model, robot.formulation)).bind(robot.model.values)
    start = {"v": 1.0, "omega": 0.3, "m": 112.0}
    found, exact = (
        ap.simulate(system, start, until=16.0, method="dop853", rtol=rtol, atol=rtol, at=[15.0, 15.5])
        for rtol in (1e-12, 1e-14)
    )
    assert np.max(np.abs(found["omega"] - exact["omega"])) < 1e-11
