"""Starts of many runs at once: those of single runs, whatever their neighbours are."""

import numpy as np
import pytest

import appell as ap
from appell.ensemble.starts import Starts
from appell.errors import AppellError, ModelError
from appell.kinematics.newton import shortest_steps

RUNS = 12


def spread(low, high):
    return np.random.default_rng(4).uniform(low, high, RUNS)


def rolling_in_quasi_velocities():
    model = ap.library.rolling_disk()
    (body,) = model.bodies
    omega = body.frame.components(body.angular_velocity)
    return ap.derive(model, ap.GibbsAppell(speeds=dict(zip(ap.speeds("w1 w2 w3"), omega, strict=True))))


def hung_by_a_rod():
    """A body with a quaternion, hung by a rod from a point that moves as prescribed."""
    e = ap.coordinates("e0 e1 e2 e3")
    x, y, z = ap.coordinates("x y z")
    l, a = ap.parameters("l a")
    ground = ap.Frame("ground")
    frame, center = ground.rotate_quaternion(*e), ground.point(x, y, z)
    body = ap.RigidBody("body", 1.0, center, frame, (0.1, 0.2, 0.3))
    rod = center + 0.3 * frame.x - ground.point(a * ap.t, 0, 0)
    start = {"e0": 1.0, "x": -0.3, "z": -1.0}
    model = ap.Model(
        ground, (*e, x, y, z), [body], [ap.Gravity(-9.81 * ground.z)], [ap.Holonomic((rod.dot(rod) - l**2) / 2, "rod")],
        values={"l": 1.0, "a": 0.2}, start=start,
    )  # fmt: skip
    return ap.derive(model)


CASES = {
    "four-bar, its crank": ("four-bar", None, {"q1": (-3, 3), "q1.rate": (-2, 2)}),
    "four-bar, its lengths": ("four-bar", None, {"lb": (1.5, 2.5), "la": (0.5, 1.2)}),
    "four-bar, too long for some": ("four-bar", None, {"ln": (1.0, 5.0)}),
    "four-bar, lengths from a start": ("four-bar", {"q1": 0.4, "q1.rate": 1.0}, {"lb": (1.8, 2.2)}),
    "four-bar, lengths from a state": ("four-bar", "a state", {"lb": (1.8, 2.2)}),
    "four-bar, too much kept": ("four-bar", None, {"q1": (-1, 1), "q2": (-1, 1)}),
    "five-bar": ("five-bar", None, {"x": (-0.2, 0.4), "y": (0.2, 0.6)}),
    "Stewart": ("stewart-platform", None, {"l1": (0.8, 1.3), "l4": (0.8, 1.3)}),
    "Delta": ("delta-robot", None, {"x": (-0.2, 0.2), "y": (-0.2, 0.2)}),
    "rolling": ("rolling-disk", None, {"r": (0.2, 0.5), "lean": (-0.9, 0.9)}),
    "rolling, by quasi-velocities": (rolling_in_quasi_velocities, None, {"w1": (-1, 1), "lean": (-0.5, 0.5)}),
    "nonlinear in the velocities": ("appell-hamel", None, {"m": (0.9, 1.1), "x.rate": (-2, 2)}),
    "a quaternion on a prescribed rod": (hung_by_a_rod, None, {"e1": (-0.5, 0.5), "a": (0.0, 1.0), "l": (0.8, 1.2)}),
    "a programme of order 3": ("jerk-cart-pendulum", None, {"x": (-0.3, 0.3)}),
}


@pytest.mark.parametrize("case", CASES)
def test_starts_are_those_of_single_runs_whatever_their_neighbours(case):
    made, start, varied = CASES[case]
    system = ap.compile(ap.derive(ap.library.model(made)) if isinstance(made, str) else made())
    if start == "a state":
        start = system.consistent({"q1": 0.3, "q1.rate": 0.5})
    starts = Starts(system, start, 0.0, list(varied), driven=False)
    columns = {name: spread(*limits) for name, limits in varied.items()}
    whole = starts.batch(columns)
    assert len(whole.good) + len(whole.errors) == RUNS
    for i in range(RUNS):
        values = {name: float(column[i]) for name, column in columns.items()}
        if i in whole.errors:
            with pytest.raises(AppellError) as refusal:
                starts.single(values)
            assert whole.errors[i] == str(refusal.value)
            continue
        bound, state = starts.single(values)
        code = next(code for code, members in whole.codes.items() if i in members)
        found = ap.System(code, bound.values).from_x(0.0, whole.x[:, i])
        np.testing.assert_allclose(found.array, state.array, rtol=1e-12, atol=1e-12)
        for name in set(varied) & set(state.names):
            assert found[name] == pytest.approx(values[name], rel=1e-15)
    for size in (1, 5):
        for first in range(0, RUNS, size):
            part = starts.batch({name: column[first : first + size] for name, column in columns.items()})
            own = [first + i for i in part.good]
            np.testing.assert_array_equal(part.x[:, part.good], whole.x[:, own])
            assert {first + i: words for i, words in part.errors.items()}.items() <= whole.errors.items()


def test_a_start_given_as_a_state_of_another_model_is_refused():
    system, other = (ap.compile(ap.derive(ap.library.model(name))).bind() for name in ("four-bar", "rolling-disk"))
    with pytest.raises(ModelError, match="This is a state of 'rolling disk'"):
        ap.sweep(system, {"lb": [1.9, 2.0]}, start=other.consistent(), until=0.1, progress=False)


def test_a_row_that_says_nothing_with_the_numbers_of_one_run():
    x, y = ap.coordinates("x y")
    k = ap.parameters("k")
    ground = ap.Frame()
    model = ap.Model(
        ground, (x, y), [ap.Particle("p", 1.0, ground.point(x, y))], [ap.Gravity(-9.81 * ground.y)],
        [ap.Holonomic(k * (x - y), "guide")], values={"k": 1.0},
    )  # fmt: skip
    study = ap.sweep(ap.compile(ap.derive(model)), {"k": np.arange(12.0)}, until=1.0, points=2, progress=False)
    np.testing.assert_allclose(study["y.end"], [-9.81 / 2] + 11 * [-9.81 / 4], rtol=1e-9)
    assert study.info["reasons"] == {"a constraint row says nothing at their start": 1}


def test_shortest_steps_are_those_of_least_squares():
    rng = np.random.default_rng(2)
    J, wanted = rng.normal(size=(7, 3, 5)), rng.normal(size=(7, 3))
    J[1, 2] = J[1, 0] + J[1, 1]  # dependent
    J[2, 1] = 0.0
    J[3, 2] = J[3, 0] + 1e-7 * J[3, 1]  # nearly so
    J[4, 0, 0] = np.nan
    J[5] *= 1e-9
    found = shortest_steps(J, wanted)
    for i in range(7):
        if i == 4:
            assert np.isnan(found[i]).all()
            continue
        best = np.linalg.lstsq(J[i], wanted[i], rcond=1e-10)[0]
        np.testing.assert_allclose(found[i], best, rtol=1e-9 if i == 3 else 1e-12)
        np.testing.assert_array_equal(shortest_steps(J[i : i + 1], wanted[i : i + 1])[0], found[i])
    np.testing.assert_allclose(shortest_steps(J[:1, :, :2], wanted[:1])[0], np.linalg.lstsq(J[0, :, :2], wanted[0])[0])


def test_lanes_of_equations_of_higher_order_start_from_the_forces(monkeypatch):
    monkeypatch.setattr("appell.ensemble.plan.FEW", 0)
    over = {"q1": [-0.5, 0.4], "m1": [1.0, 1.4]}
    studies = [
        ap.sweep(ap.compile(ap.derive(ap.library.planar_2r(), formulation)), over, until=0.2, points=3, progress=False)
        for formulation in (ap.HigherOrder(), ap.GibbsAppell())
    ]
    assert all(study["lane"].values.all() for study in studies)
    for name in ("q1", "q2", "q1.rate"):
        np.testing.assert_allclose(*(study[name] for study in studies), rtol=1e-6, atol=1e-7)
