"""Rows that are left out because others fix the same velocities, and that need not agree with them."""

import numpy as np
import pytest
import sympy as sp

import appell as ap

x, y, theta = ap.coordinates("x y theta")
ground = ap.Frame("ground")
heading = ground.rotate("z", theta)
skate = ap.RigidBody("skate", 1.0, ground.point(x, y), heading, (0, 0, 0.1))
edge = ap.Rolling(skate, skate.center, along=[heading.y], name="edge")
X, Y = ap.t, sp.sin(ap.t / 2)
tangent = sp.atan2(Y.diff(ap.t), X.diff(ap.t))
start = {theta: float(np.arctan(0.5))}


def skating(*constraints):
    return ap.Model(ground, (x, y, theta), [skate], [], [edge, *constraints], name="skate", start=start, until=5.0)


path = ap.Prescribed(x, X, "x(t)"), ap.Prescribed(y, Y, "y(t)")
programme = ap.Programmed([x - X, y - Y], "path")


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_a_run_ends_where_a_row_left_out_is_broken(method):
    motion = ap.simulate(ap.compile(ap.derive(skating(*path))), method=method)
    assert motion.outcome is ap.Outcome.ROWS_CONTRADICT
    assert "'edge'" in motion.detail
    assert motion.times[-1] < 0.01
    assert motion.check().velocity < 1e-5


def test_a_plan_whose_rows_contradict_each_other_is_not_feasible():
    plan = ap.plan(skating(programme))
    assert not plan.feasible
    assert plan.suggest() is None
    assert repr(plan).endswith("NOT FEASIBLE")


def test_with_the_heading_of_the_path_it_is_followed():
    """y'/x' is the tangent of the heading, and the edge follows from the programme."""
    plan = ap.plan(skating(programme, ap.Programmed(theta - tangent, "heading")))
    assert plan.feasible
    assert plan.motion.check().ok
    assert plan.motion.at(5.0)["theta"] == pytest.approx(np.arctan(0.5 * np.cos(2.5)), abs=1e-13)


def test_a_start_that_happens_to_agree_is_no_contradiction():
    """On a circle a skate turns at a constant rate, which it has from its start."""
    circle = ap.Prescribed(x, sp.cos(ap.t)), ap.Prescribed(y, sp.sin(ap.t))
    motion = ap.simulate(ap.compile(ap.derive(skating(*circle))), {theta: np.pi / 2, theta.rate: 1.0, x: 1.0})
    assert motion.outcome.ok
    assert motion.check().ok


def test_runs_of_a_sweep_end_there_as_single_ones_do():
    study = ap.sweep(ap.compile(ap.derive(skating(*path))), [{theta: start[theta]}] * 40, workers=1, points=5)
    assert study.outcomes == {"ROWS_CONTRADICT": 40}


def test_redundant_rows_without_time_are_not_watched():
    from appell.motion.left_out import may_contradict

    assert may_contradict(ap.derive(skating(*path)))
    assert not may_contradict(ap.derive(ap.library.bricard()))


def test_a_path_with_corners_is_no_contradiction():
    """Two rows say the same of a mass that is carried to and fro; its velocity jumps with both."""
    wave = sp.Abs(ap.t - 1) + sp.Abs(ap.t - 2)
    ball = ap.Particle("ball", 1.0, ground.point(x, y))
    twice = [ap.Holonomic(x - wave, "one"), ap.Holonomic(2 * x - 2 * wave, "again")]
    model = ap.Model(ground, (x, y), [ball], [], twice, start={x: 3.0, y.rate: 1.0}, until=3.0)
    motion = ap.simulate(ap.compile(ap.derive(model)))
    assert motion.outcome.ok
    assert motion.at(3.0)["x"] == pytest.approx(3.0, abs=1e-12)
