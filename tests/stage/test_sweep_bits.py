"""Sweeps: on CasADi's machine lanes and single runs do the same arithmetic, and give the same bits."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.ensemble.crossings import zeros
from appell.motion.crossing import zero

pytestmark = pytest.mark.usefixtures("lanes_for_few")
GROUND = ap.Frame("ground")


def crank_with_events():
    """Redundant coordinates; what is looked at begins many legs with steps so short that their errors are rounding."""
    model = ap.library.slider_crank()
    _, phi, x_s = model.coordinates
    events = [ap.Event(x_s - 0.3, name="middle"), ap.Event(phi, direction=-1, name="level")]
    return model, None, {"theta": [0.3, 1.3, 2.3], "m_s": [0.5, 2.0]}, events, None


def ball_in_a_corner():
    """Impacts on a floor and a wall, in drag."""
    x, y = ap.coordinates("x y", "m")
    k, e = ap.parameters("k e")
    drag = -k * sp.sqrt(x.rate**2 + y.rate**2 + 1e-9)
    forces = [ap.Gravity(-9.81 * GROUND.y), ap.Generalized({x: drag * x.rate, y: drag * y.rate}, "drag")]
    model = ap.Model(GROUND, (x, y), [ap.Particle("ball", 1, GROUND.point(x, y))], forces, start={y: 1.0})
    events = [
        ap.Event(y, direction=-1, reset={y.rate: -e * y.rate}, name="floor"),
        ap.Event(1 - x, direction=-1, reset={x.rate: -e * x.rate}, name="wall"),
    ]
    return model.with_parameters(e), None, {"e": [0.6, 0.8], "k": [0.05, 0.2], "x.rate": [1.0, 3.0]}, events, None


def block_on_a_belt():
    """Friction that sticks and slips."""
    x, (mu, v) = ap.coordinates("x", "m"), ap.parameters("mu v")
    force = ap.Generalized({x: -20 * x - 9.81 * mu * sp.sign(x.rate - v)}, "spring and friction")
    model = ap.Model(GROUND, x, [ap.Particle("block", 1, GROUND.point(x, 0))], [force], start={x: 0.1})
    return model, None, {"mu": [0.1, 0.3, 0.5], "v": [0.1, 0.4]}, [ap.Event(x, name="middle")], None


def crank_drawn_to_its_rows():
    """Baumgarte's terms in place of projection, from a start off the constraints."""
    model = ap.library.slider_crank()
    start = ap.State(model, np.array([1.0, 0.3, 0.4, 5.0, 0.5, 0.0]))
    return model, ap.GPME(stabilize=(5.0, 5.0)), {"m_s": [0.5, 1.0, 2.0]}, [], start


@pytest.mark.parametrize("case", [crank_with_events, ball_in_a_corner, block_on_a_belt, crank_drawn_to_its_rows])
def test_lanes_give_the_bits_of_single_runs(case):
    model, formulation, over, events, start = case()
    system = ap.compile(ap.derive(model, *filter(None, [formulation])), "casadi")
    study = ap.sweep(system, over, start=start, until=2.0, points=21, events=events, progress=False)
    assert study.dataset["lane"].values.all()
    for run in range(len(study)):
        motion = study.motion(run)
        made = np.isin(motion.times, study["t"])
        for name in study.info["columns"]:
            np.testing.assert_array_equal(study[name].values[run][: made.sum()], motion.columns[name][made], name)
            assert float(study[f"{name}.end"][run]) == motion.columns[name][-1]
        assert int(study["steps"][run]) == motion.info["steps"]
        assert list(ap.Outcome)[study.codes[run]] is motion.outcome
        for k, event in enumerate(events):
            happened = [o.t for o in motion.occurrences if o.name == event.name]
            assert int(study["event_count"][run, k]) == len(happened)
            np.testing.assert_array_equal(study["event_time"].values[run, k], happened[0] if happened else np.nan)


def test_zeros_are_found_by_the_same_looks_one_by_one_and_side_by_side():
    """Simple and multiple ones, in brackets from 1e-8 to 10 seconds; simple ones to the last digits."""
    digits, count = np.random.default_rng(1), 500
    a = digits.uniform(0, 5, count)
    b = a + 10 ** digits.uniform(-8, 1, count)
    place, order = a + (b - a) * digits.uniform(0, 1, count), digits.integers(1, 4, count)

    def f(t, i=slice(None)):
        return np.sign(place[i] - t) * np.abs(place[i] - t) ** order[i] * (1 + np.tanh(t) / 2)

    many = zeros(f, a, b)
    np.testing.assert_array_equal(many, [zero(lambda t, i=i: float(f(t, i)), a[i], b[i]) for i in range(count)])
    np.testing.assert_allclose(many[order == 1], place[order == 1], rtol=2e-15, atol=0)
