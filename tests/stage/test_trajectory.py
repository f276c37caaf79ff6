"""Trajectories and the drives along them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import appell as ap
from appell.errors import AppellError
from appell.higher_order import Dynamics, Profile, polynomial, spline


def test_a_polynomial_rests_at_both_ends():
    for degree in (3, 5, 7, 9):
        move = polynomial([0.2, 1.0], [1.4, -1.0], duration=2.0, degree=degree)
        half = (degree + 1) // 2
        for t, q in ((0.0, [0.2, 1.0]), (2.0, [1.4, -1.0])):
            Q = move(t, half - 1)
            assert_allclose(Q[:, 0], q, rtol=1e-13, atol=1e-13)
            assert_allclose(Q[:, 1:], 0, rtol=0, atol=1e-11)


def test_peaks_of_the_quintic():
    """10 s^3 - 15 s^4 + 6 s^5: velocity 15/8, acceleration 10/sqrt(3), jerk 60."""
    move = polynomial([0.0], [1.0], duration=1.0)
    assert_allclose([move.peaks(r)[0] for r in (1, 2, 3)], [15 / 8, 10 / np.sqrt(3), 60], rtol=1e-12, atol=0)


def test_motions_as_quick_as_bounds_allow():
    limits = {"velocity": [2.0, 1.0], "jerk": 30.0, "snap": 500.0}
    move = polynomial([0, 0], [1.0, 2.0], degree=7, limits=limits)
    used = [np.max(move.peaks(r) / np.asarray(bound)) for r, bound in ((1, [2.0, 1.0]), (3, 30.0), (4, 500.0))]
    assert_allclose(max(used), 1, rtol=1e-12, atol=0)


def test_a_motion_with_speeds_at_its_ends():
    move = polynomial([[0.0, 1.0]], [[1.0, -2.0]], duration=0.5)
    assert_allclose(move([0.0, 0.5], 1)[:, 0], [[0, 1], [1, -2]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("degree", [3, 5, 7])
def test_a_spline_passes_its_points_smoothly(degree):
    times, points = [0, 0.4, 1.0, 1.7], np.random.default_rng(0).normal(size=(4, 2))
    move = spline(times, points, degree)
    assert_allclose(move(times, 0)[..., 0], points, rtol=1e-12, atol=1e-12)
    assert_allclose(move([0, 1.7], (degree - 1) // 2)[..., 1:], 0, rtol=0, atol=1e-8)
    for t in move.pieces.x[1:-1]:
        sides = move([t - 1e-9, t + 1e-9], degree - 1)
        assert_allclose(sides[0], sides[1], rtol=1e-4, atol=1e-3)
    slower = spline(times, points, degree, limits={"jerk": 5.0} if degree > 3 else {"acceleration": 2.0})
    assert_allclose(
        np.max(slower.peaks(3)) if degree > 3 else np.max(slower.peaks(2)), 5.0 if degree > 3 else 2.0, rtol=1e-9
    )


@pytest.fixture(scope="module")
def profile():
    arm = Dynamics(ap.library.planar_2r())
    return Profile(arm, polynomial([0.0, 0.0], [1.0, -0.5], duration=1.0, degree=7))


def test_profiles_are_rates_of_each_other(profile):
    t = 0.37
    h = 1e-5
    slope = (profile.at(t + h, 1) - profile.at(t - h, 1)) / (2 * h)
    assert_allclose(slope, profile.at(t, 2)[:, 1:], rtol=1e-6, atol=1e-5)
    assert profile.tau.shape == (*profile.times.shape, 2, 3)


def test_the_first_violation_is_found_where_it_is(profile):
    free = profile.check(torque=1e3, rate=1e5)
    assert free.ok
    assert free.first is None
    fine = np.abs(profile.at(np.linspace(0, 1, 20001), 1))
    assert_allclose(free.peaks["torque"], fine[..., 0].max(0), rtol=1e-6, atol=0)
    limit = 0.9 * free.peaks["rate"][1]
    found = profile.check(torque=1e3, rate=[1e5, limit])
    assert found.first.joint == "q2"
    assert found.first.quantity == "rate"
    assert_allclose(abs(profile.at(found.first.time, 1)[1, 1]), limit, rtol=1e-9, atol=0)
    before = np.linspace(0, found.first.time - 1e-6, 2000)
    assert np.all(np.abs(profile.at(before, 1)[:, 1, 1]) < limit)
    barely = 0.9999999 * free.peaks["rate"][1]
    assert not profile.check(torque=1e3, rate=[1e5, barely]).ok


def test_a_drive_that_is_too_weak_from_the_start(profile):
    found = profile.check(torque=(1.0, 100.0))
    assert found.first.time == 0.0
    assert "q1 passes 1" in repr(found)


def test_pictures(profile, tmp_path):
    plot = profile.plot(tmp_path / "drives.png")
    assert (tmp_path / "drives.png").stat().st_size > 5000
    assert [panel.y for panel in plot.panels] == ["τ [N·m]", "τ' [N·m/s]", "τ'' [N·m/s²]"]
    assert [bool(plot.legend(i)) for i in range(3)] == [True, False, False]  # the others would say the same


def test_messages(profile):
    for call, words in (
        (lambda: polynomial([0], [1]), "either the duration"),
        (lambda: polynomial([0], [1], duration=1, degree=4), "odd number"),
        (lambda: polynomial([0], [1, 2], duration=1), "1 and 2 joints"),
        (lambda: polynomial([0], [1], duration=-1), "above zero"),
        (lambda: polynomial([0], [1], limits={"crackle": 1}), "'crackle' is not a bound"),
        (lambda: polynomial([0], [0], limits={"jerk": 1}), "Nothing limits"),
        (lambda: spline([0, 0], [[1], [2]]), "later than the one before"),
        (lambda: polynomial([0], [1], duration=1)(2.0), "from 0 to 1 s only"),
        (lambda: profile.check(), "No limit to check"),
        (lambda: profile.check(torque=(1, 2, 3)), "one number or 2"),
        (lambda: Profile(profile.dynamics, polynomial([0], [1], duration=1)), "moves 1 joints, the robot has 2"),
    ):
        with pytest.raises(AppellError, match=words):
            call()


@pytest.mark.parametrize("degree", [5, 9, 13, 15])
@pytest.mark.parametrize("duration", [1e-3, 1.0, 400.0])
def test_polynomials_of_high_degree_and_of_any_duration_are_what_they_say(degree, duration):
    """Midway by symmetry, and through derivatives at both ends; 1e-10 of the motion's own size."""
    move = polynomial([0.0], [1.0], duration, degree)
    assert_allclose(move(duration / 2, 0), [[0.5]], rtol=0, atol=1e-10)
    half = (degree + 1) // 2
    scale = duration ** -np.arange(half + 0.0)
    ends = np.random.default_rng(degree).normal(size=(2, 2, half)) * scale
    moving = polynomial(*ends, duration, degree)
    weight = np.cumprod([1.0, *(degree - k for k in range(half - 1))])  # what rounding of a power grows to
    for t, end in zip((0.0, duration), ends, strict=True):
        assert_allclose((moving(t, half - 1) - end) / scale / weight, 0, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: polynomial([0], [1], 1.0, degree=31), "odd number .* up to 15.*got 31"),
        (lambda: polynomial("here", "there", 1.0), "ends of a motion must be numbers, got 'here'"),
        (lambda: polynomial([0], [1], 1.0)(0.5, -1), "highest derivative K"),
        (lambda: polynomial([0], [1], limits={"velocity": "high"}), "bound on velocity must be numbers"),
        (lambda: Profile(ap.library.planar_2r(), polynomial([0, 0], [1, 1], 1.0)), "got Chain and Trajectory"),
    ],
)
def test_what_is_no_motion_is_refused(ask, message):
    with pytest.raises(AppellError, match=message):
        ask()
