"""One run by dop853 and Taylor's method: the same steps however they are made, on every machine."""

import casadi as ca
import numpy as np
import pytest

import appell as ap
from appell.code import heyoka_code
from appell.code.iteration import Iteration
from appell.motion import dop853
from appell.motion.attempt import Status

HEYOKA = pytest.mark.skipif(not heyoka_code.available(), reason="needs heyoka")
MACHINES = ["casadi", pytest.param("heyoka", marks=HEYOKA)]


@pytest.fixture(scope="module")
def equations():
    return ap.derive(ap.library.pendulum_chain(2))


@pytest.fixture(scope="module", params=MACHINES)
def system(equations, request):
    return ap.compile(equations, request.param).bind()


def run(system, until=3.0, **options):
    return ap.simulate(system, {"q1": 2.0, "q2": 1.0}, until, method="dop853", rtol=1e-9, **options)


def test_a_step_that_is_watched_is_the_step_that_is_not(system):
    """With an event every step is made by itself, without one many at once; it is the same function."""
    free = run(system, points=7)
    q1 = system.model.coordinates[0]
    watched = run(system, points=7, events=[ap.Event(q1 - 100.0)])
    np.testing.assert_array_equal(free.stretches[0].times, watched.stretches[0].times)
    np.testing.assert_array_equal(free.at(3.0), watched.at(3.0))
    np.testing.assert_allclose(free.states(free.times), watched.states(free.times), rtol=0, atol=1e-14)


def test_steps_agree_with_scipys_on_the_same_tolerance(system):
    """The same coefficients; the error norm is the same, the choice of the next step nearly so."""
    ours = run(system)
    theirs = ap.simulate(system, {"q1": 2.0, "q2": 1.0}, 3.0, method="DOP853", rtol=1e-9)
    assert abs(ours.info["steps"] - theirs.info["steps"]) < 0.2 * theirs.info["steps"]
    np.testing.assert_allclose(ours.at(3.0), theirs.at(3.0), rtol=0, atol=1e-6)


def test_the_table_does_not_depend_on_what_else_is_asked(system):
    motion = run(system, points=301)
    again = run(system, points=2)
    np.testing.assert_allclose(motion.states(motion.times), again.states(motion.times), rtol=0, atol=1e-14)
    steps = motion.stretches[0].times
    inner = steps[3:-3]
    left, right = motion.states(inner - 1e-9), motion.states(inner + 1e-9)
    middle = motion.states(inner)
    np.testing.assert_allclose((left + right) / 2, middle, rtol=0, atol=2e-9)  # no jump from step to step


def test_a_step_limit_is_kept_to_the_step(system):
    whole = run(system)
    cut = run(system, max_steps=whole.info["steps"] // 2)
    assert cut.outcome.name == "STEP_LIMIT"
    assert cut.info["steps"] == whole.info["steps"] // 2
    np.testing.assert_array_equal(cut.stretches[0].times, whole.stretches[0].times[: cut.info["steps"] + 1])
    assert run(system, max_steps=whole.info["steps"]).outcome.ok


@HEYOKA
def test_long_runs_go_on_as_machine_code_at_a_step_not_at_a_time(equations, monkeypatch):
    """The change happens at a number of steps: runs are the same bit for bit, and agree with those without."""
    plain, portable = (ap.compile(equations, machine).bind() for machine in ("auto", "casadi"))
    without = run(plain)
    monkeypatch.setattr(dop853, "LONG", 10)
    monkeypatch.setattr("appell.code.iteration.TURNS", 8)
    tiers, original = [], Iteration.__call__

    def noted(self, V, P, turns, compiled):
        tiers.append(compiled)
        return original(self, V, P, turns, compiled)

    monkeypatch.setattr(Iteration, "__call__", noted)
    first, second = (run(ap.compile(equations).bind()) for _ in range(2))
    assert tiers[0] is False
    assert tiers[-1] is True
    np.testing.assert_array_equal(first.at(3.0), second.at(3.0))
    np.testing.assert_allclose(first.at(3.0), without.at(3.0), rtol=0, atol=1e-9)
    tiers.clear()
    run(portable)
    assert not any(tiers)  # where CasADi's machine was asked for


def countdown(turns):
    """V = (n, s) -> (n - 1, s + n), until n is zero."""
    V, P = ca.SX.sym("V", 2), ca.SX.sym("P", 1)
    after = ca.vertcat(V[0] - 1, V[1] + P * V[0])
    iteration = Iteration(ca.Function("countdown", [V, P], [ca.vertcat(after, after[0] == 0)]))
    return iteration(np.array([5.0, 0.0]), np.array([2.0]), turns, False)


def test_an_iteration_ends_with_its_status_or_its_turns():
    rows = countdown(100)
    np.testing.assert_array_equal(rows[:, 0], [5, 4, 3, 2, 1, 0])
    assert rows[-1, 1] == 2 * 15
    assert rows[-1, 2] == 1
    np.testing.assert_array_equal(countdown(2)[:, 1], [0, 10, 18])


def test_a_run_that_blows_up_ends_where_it_does(system):
    """x' = x^2 from 1 is 1/(1 - t)."""
    x = ap.coordinates("x")
    y = ap.states("y")
    ground = ap.Frame("ground")
    bead = ap.Particle("bead", 1, ground.point(x, 0))
    model = ap.Model(ground, (x,), [bead], states={y: y**2})
    machine = "heyoka" if system.code.steps else "casadi"
    bound = ap.compile(ap.derive(model), machine).bind()
    motion = ap.simulate(bound, {y: 1.0}, 2.0, method="dop853", rtol=1e-9)
    assert motion.outcome.name in ("NOT_FINITE", "STEP_COLLAPSED")
    assert abs(motion.times[-1] - 1.0) < 1e-6
    times = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(motion.states(times)[:, -1], 1 / (1 - times), rtol=1e-7, atol=0)


def test_every_status_of_a_single_run_has_an_end():
    assert {Status.NOT_FINITE, Status.COLLAPSED} == set(dop853.FAULTS)


@HEYOKA
@pytest.mark.parametrize("rtol", [None, 1e-9])
def test_straight_line_series_are_the_compact_ones(equations, rtol):
    """machine='heyoka' compiles small series without loops: the same motion to rounding, dense from the first step."""
    motions = [
        ap.simulate(ap.compile(equations, machine).bind(), {"q1": 2.0, "q2": 1.0}, 3.0, method="taylor", rtol=rtol)
        for machine in ("auto", "heyoka")
    ]
    times = np.linspace(0, 3, 1001)
    np.testing.assert_allclose(motions[0].states(times), motions[1].states(times), rtol=0, atol=1e-8 if rtol else 1e-11)
    early = np.linspace(0, motions[0].stretches[0].times[1], 9)
    v, q = motions[0].states(early)[:, 2], motions[0].states(early)[:, 0]
    slope = np.polynomial.chebyshev.Chebyshev.fit(early, q, 8).deriv()(early)
    np.testing.assert_allclose(slope, v, rtol=0, atol=1e-6)


def never(system):
    """An event that never happens: every step is made, and looked at, by itself."""
    return [ap.Event(system.model.coordinates[0] - 1e6)]


def test_speeds_that_are_changed_on_the_way_are_changed_at_the_same_steps():
    """A skate turns, so that x' and y' must take turns at being the dependent one; the steps themselves ask for it."""
    system = ap.compile(ap.derive(ap.library.knife_edge())).bind()
    free, watched = (
        ap.simulate(system, until=20.0, method="dop853", rtol=1e-9, points=9, events=events)
        for events in ((), never(system))
    )
    assert len(free.info["switches"]) > 2
    assert free.info["switches"] == watched.info["switches"]
    assert free.info["steps"] == watched.info["steps"]
    np.testing.assert_array_equal(free.states(free.times), watched.states(free.times))


def skate(until, events=()):
    """A skate whose heading turns at a constant rate, by x' as the only speed of its place: singular where x' = 0."""
    model = ap.library.knife_edge()
    y = next(q for q in model.coordinates if q.name == "y")
    system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=[y]))).bind()
    start = system.consistent({"x": 0.0, "y": 0.0, "phi": 0.2, "phi.rate": 1.0, "x.rate": 1.0})
    return ap.simulate(
        system, start, until, method="dop853", rtol=1e-4, atol=1e-4, events=events(system) if events else ()
    )


def test_given_speeds_that_become_dependent_are_seen_by_the_steps_themselves():
    free, watched = skate(4.0), skate(4.0, never)
    assert free.outcome is watched.outcome is ap.Outcome.SPEEDS_SINGULAR
    assert 0.5 < free.times[-1] <= (np.pi / 2 - 0.2)
    np.testing.assert_array_equal(free.stretches[0].times, watched.stretches[0].times)
    assert skate(1.0).outcome is ap.Outcome.DONE
