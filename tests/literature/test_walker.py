"""The simplest walking model (Garcia, Chatterjee, Ruina and Coleman 1998): its gait and multipliers by slopes.

Their equations for feet without mass, integrated by SciPy with differences, against a model with masses of feet that
tend to nothing, with the slopes of one step.
"""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve

import appell as ap

SLOPE = 0.009
EXAMPLE = Path(__file__).parents[2] / "examples" / "research" / "walker.py"


def step(start):
    """From behind one heel strike to behind the next: theta and theta', eqs. (1) to (5) of the source."""

    def f(_, x):
        theta, rate, phi, swing = x
        fall = np.sin(theta - SLOPE)
        return rate, fall, swing, fall + rate**2 * np.sin(phi) - np.cos(theta - SLOPE) * np.sin(phi)

    def strike(t, x):
        return x[2] - 2 * x[0] if t > 1 else 1.0  # the legs also meet in the middle of a step

    strike.terminal, strike.direction = True, 1
    theta, rate = start
    first = [theta, rate, 2 * theta, (1 - np.cos(2 * theta)) * rate]
    end = solve_ivp(f, (0, 10), first, method="DOP853", rtol=1e-12, atol=1e-13, events=strike)
    theta, rate = end.y_events[0][0][:2]
    return np.array([-theta, np.cos(2 * theta) * rate]), float(end.t_events[0][0])


def test_gait_and_multipliers_are_those_of_the_simplest_walker(monkeypatch):
    gait = fsolve(lambda x: step(x)[0] - x, [0.2, -0.2], xtol=1e-13)
    h = 1e-5
    slopes = np.array([(step(gait + h * e)[0] - step(gait - h * e)[0]) / (2 * h) for e in np.eye(2)]).T
    expected = np.sort_complex(np.linalg.eigvals(slopes))

    monkeypatch.setattr(sys, "argv", [str(EXAMPLE)])
    made = runpy.run_path(str(EXAMPLE))
    system, strike, gait_found = (made[name] for name in ("system", "strike", "gait"))
    system = system.bind({"m": 1e-9})
    found = ap.periodic(system, gait_found.state, gait_found.period, hold="a", events=[strike])
    assert found.period == pytest.approx(step(gait)[1], abs=1e-8)
    assert found.ones == 1  # along the motion itself
    assert abs(found.multipliers[2]) < 1e-7  # what a heel strike forgets
    np.testing.assert_allclose(np.sort_complex(found.multipliers[:2]), expected, rtol=0, atol=1e-6)
