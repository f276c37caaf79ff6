"""Several threads with one system: each gets the numbers that it would get alone."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest

import appell as ap
from appell.code import heyoka_code

METHODS = {"dop853": 3.0, "Radau": 0.05, **({"taylor": 5.0} if heyoka_code.available() else {})}
STARTS = [0.5, 0.6, 0.7, 0.8]


@pytest.fixture(autouse=True)
def _hasty():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.fixture(scope="module")
def system():
    return ap.compile(ap.derive(ap.library.pendulum_chain())).bind()


def assert_the_same_by_threads(work):
    """Compare what is made of all starts one after the other with what threads make of them at the same time."""
    alone, together = [work(start) for start in STARTS], Barrier(len(STARTS))

    def beside(start):
        together.wait()
        return work(start)

    with ThreadPoolExecutor(len(STARTS)) as pool:
        np.testing.assert_array_equal(list(pool.map(beside, STARTS)), alone)


@pytest.mark.parametrize(("method", "until"), METHODS.items())
def test_runs_of_one_system_do_not_mix(system, method, until):
    def run(start):
        return ap.simulate(system, {"q1": start}, until=until, method=method, points=20)["q3"].values

    assert_the_same_by_threads(run)


@pytest.mark.parametrize("machine", ["casadi", "auto"])
def test_right_hand_sides_of_one_system_do_not_mix(system, machine):
    system = ap.compile(system.equations, machine).bind()

    def slopes(start):
        x = np.full(6, start)
        calls = (system.rhs(0.0, x) for _ in range(300))
        return [*calls, *system.jacobian(0.0, x), system.rhs(0.0, x[:, None])[:, 0]]

    assert_the_same_by_threads(slopes)


def test_stiff_runs_leave_the_terminal_to_others(system):
    before = os.fstat(2)
    assert_the_same_by_threads(lambda start: ap.simulate(system, {"q1": start}, until=0.2, method="cvodes")["q3"])
    assert os.path.samestat(os.fstat(2), before)


def test_one_motion_is_read_by_all(system):
    motion = ap.simulate(system, {"q1": 1.0}, until=2.0)

    def read(moment):
        return [motion.at(moment + 0.001 * k).array for k in range(50)]

    assert_the_same_by_threads(read)


def test_a_sweep_over_python_controls_does_not_depend_on_the_number_of_workers():
    x, u = ap.coordinates("x"), ap.inputs("u")
    ground = ap.Frame("ground")
    spring = ap.Generalized({x: u - x**3}, "spring and motor")
    model = ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x, 0))], [spring], values={u: 0.0})
    system = ap.compile(ap.derive(model)).bind()
    controls = {f"gain {k}": lambda t, state, k=k: {"u": -k * state["x"]} for k in (1.0, 9.0)}
    one, four = (
        ap.sweep(system, {"control": controls, "x": STARTS}, until=1.0, points=5, chunk=3, workers=workers)
        for workers in (1, 4)
    )
    np.testing.assert_array_equal(one["x"], four["x"])
