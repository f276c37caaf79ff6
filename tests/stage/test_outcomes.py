"""How runs end early: a clear outcome, the time, the state, a likely cause, and everything computed so far."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.motion.method import Method

METHODS = ["taylor", "dop853", "cvodes", "RK45", "Radau", "LSODA"]
x, y = ap.coordinates("x y", "m")
ground = ap.Frame("ground")


def block(force):
    model = ap.Model(
        ground, x, [ap.Particle("block", 1, ground.point(x, 0))], [ap.Generalized({x: force})], name="block"
    )
    return ap.compile(ap.derive(model)).bind()


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_stops_being_finite(method):
    """sqrt(1 - x) has no value beyond x = 1: x' = sqrt(7/3) there."""
    motion = ap.simulate(block(sp.sqrt(1 - x)), {x.rate: 1.0}, until=10.0, method=method)
    assert motion.outcome in (ap.Outcome.NOT_FINITE, ap.Outcome.STEP_COLLAPSED)
    assert not motion.outcome.ok
    assert motion.outcome.value in motion.summary()
    late = {"cvodes": 0.006}.get(method, 1e-4)  # which keeps its own grid
    assert 0.7613 - late < motion.times[-1] < 0.7614
    assert float(motion["x"][-1]) == pytest.approx(1, abs=2 * late)
    assert np.all(np.isfinite(motion.states(motion.times)))
    assert f"t = {motion.times[-1]:.9g}, State(t=" in motion.detail
    assert "likely cause: " in motion.detail


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("force", [-5 * sp.sqrt(x), sp.log(x) / 10 - 5], ids=["root", "logarithm"])
def test_a_border_of_what_a_force_is_defined_for_is_told_as_such(method, force):
    """The last state has a finite force; just beyond x = 0 there is none."""
    motion = ap.simulate(block(force), {x: 1.0}, until=5.0, method=method)
    assert float(motion["x"][-1]) == pytest.approx(0, abs=0.03)
    assert "grow without bound" not in motion.detail
    assert "no value just beyond (a root" in motion.detail or "is not finite there" in motion.detail


def pushed_puck():
    """A puck that friction -v/|v| stops while a force pushes it aside: (|v| + 0.3 v_y)' = 0.3² - 1."""
    ground, y = ap.Frame("ground"), ap.coordinates("y")
    puck = ap.Particle("puck", 1.0, ground.point(x, y))
    v = puck.center.dt(ground)
    forces = [ap.Force(-v / v.norm, puck), ap.Force(0.3 * ground.y, puck)]
    return ap.compile(ap.derive(ap.Model(ground, (x, y), [puck], forces))).bind()


@pytest.mark.parametrize("rtol", [None, 1e-6, 1e-9])
@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45"])
def test_a_friction_that_loses_its_direction_is_told_as_such(method, rtol):
    if method == "taylor":
        pytest.importorskip("heyoka")
    motion = ap.simulate(pushed_puck(), {x.rate: 1.0}, until=5.0, method=method, rtol=rtol)
    assert motion.outcome is ap.Outcome.ACCUMULATION
    assert motion.times[-1] == pytest.approx(1 / (1 - 0.3**2), abs=1e-3 if method == "taylor" else 1e-5)
    assert motion.info["steps"] < 500
    assert "comes to zero there and stays" in motion.detail
    assert "something comes to rest" in repr(motion)
    assert "faster" not in repr(motion)


def test_lanes_that_friction_stops_end_as_single_runs_do():
    system, starts = pushed_puck(), [{"x.rate": 0.1 * k} for k in range(1, 11)]
    study = ap.sweep(system, starts, until=5.0, points=3)
    assert study.outcomes == {"ACCUMULATION": 10}
    assert study.failures["reason"].str.contains("something comes to rest").all()
    assert study.failures["reason"].str.contains("comes to zero there and stays").all()
    ends = [ap.simulate(system, start, until=5.0, method="dop853", rtol=1e-9).times[-1] for start in starts]
    np.testing.assert_allclose(study["end"].values, ends, rtol=0, atol=1e-12)


def test_what_comes_to_rest_smoothly_goes_on():
    """Drag by |v| v and a spring: |v| falls below any tolerance, and steps are many."""
    ground, y = ap.Frame("ground"), ap.coordinates("y")
    puck = ap.Particle("puck", 1.0, ground.point(x, y))
    v, place = puck.center.dt(ground), puck.center - ground.point(0, 0)
    forces = [ap.Force(-v.norm * v - 6 * v - 9 * place, puck)]
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), [puck], forces))).bind()
    study = ap.sweep(system, {"y.rate": np.linspace(-1, 1, 9)}, start={x: 1.0}, until=2000.0, points=3, method="dop853")
    assert study.outcomes == {"DONE": 9}
    assert study["steps"].values.min() > 900
    motion = ap.simulate(system, {x: 1.0, y.rate: 1.0}, until=2000.0, method="dop853", rtol=1e-9)
    assert motion.outcome.ok
    assert motion.info["steps"] == study["steps"].values[-1]


@pytest.mark.parametrize(("method", "rtol"), [("dop853", 1e-12), ("taylor", 1e-9)])
@pytest.mark.parametrize("stiff", [1.0, 1.7])
def test_what_swings_to_rest_goes_on(method, rtol, stiff):
    """Its speed and its distance turn back again and again beside zero, as those of what tumbles do."""
    ground, y = ap.Frame("ground"), ap.coordinates("y")
    puck = ap.Particle("puck", 1.0, ground.point(x, y))
    v, place = puck.center.dt(ground), puck.center - ground.point(0, 0)
    springs = ap.Force(-4 * x * ground.x - 4 * stiff * y * ground.y, puck)
    for drag in (v.norm, place.norm):
        forces = [springs, ap.Force(-(0.05 + 0.3 * drag) * v, puck)]
        system = ap.compile(ap.derive(ap.Model(ground, (x, y), [puck], forces))).bind()
        start = {x: 1.0, y: 0.3, y.rate: 0.5}
        motion = ap.simulate(system, start, until=300.0, method=method, rtol=rtol, atol=rtol)
        assert motion.outcome.name == "DONE"


def test_a_start_at_such_a_border():
    motion = ap.simulate(block(sp.sqrt(x)), {x: 0.0, x.rate: -1.0}, until=5.0)
    assert "a force or a constraint has no value just beyond" in motion.detail


@pytest.mark.parametrize("closed", [False, True])
def test_the_force_that_is_not_finite_is_named(closed):
    """Among others, in a closed loop as well; where it is finite at the end, the one that is not just beyond."""
    ground, y, u = ap.Frame("ground"), ap.coordinates("y"), ap.inputs("u")
    puck = ap.Particle("puck", 1.0, ground.point(x, y))
    weight, push = ap.Gravity(-ground.y), ap.Generalized({x: u}, "push")
    damper = ap.Damper(ground.origin, puck.center, 2, name="bushing")
    model = ap.Model(ground, (x, y), [puck], [weight, damper, push])
    motion = ap.simulate(ap.compile(ap.derive(model)), until=1.0, inputs={u: -x if closed else 0.5})
    assert motion.detail.endswith("look at 'bushing'")
    level = ap.Generalized({x: -5 * sp.sqrt(x)}, "level")
    model = ap.Model(ground, (x, y), [puck], [weight, level, push])
    motion = ap.simulate(ap.compile(ap.derive(model)), {x: 1.0}, until=5.0, inputs={u: -y if closed else 0.5 - 1})
    assert motion.detail.endswith("look at 'level'")


@pytest.mark.parametrize("method", METHODS)
def test_a_force_that_is_not_finite_from_the_start(method):
    motion = ap.simulate(block(sp.log(x)), {x: -1.0}, until=10.0, method=method)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert "a force or a constraint is not finite there" in motion.detail
    np.testing.assert_array_equal(motion.times, [0.0])
    assert float(motion["x"][0]) == -1.0


def test_a_work_that_is_not_finite_hides_no_other():
    y = ap.coordinates("y", "m")
    ground = ap.Frame("ground")
    stone, star = ap.Particle("stone", 1, ground.point(0, y)), ap.Particle("star", 1e120, ground.point(x))
    push = ap.Force(1e230 * ground.x, star, name="push")
    model = ap.Model(ground, (x, y), [stone, star], [ap.Gravity(-10 * ground.y), push])
    check = ap.simulate(ap.compile(ap.derive(model)), until=1.0).check()
    assert check.work["gravity"] == pytest.approx(50, rel=1e-12)
    assert check.work["push"] == np.inf
    assert not check.ok


@pytest.mark.parametrize("rate", [None, 10])
def test_a_control_that_stops_giving_numbers(rate):
    u = ap.inputs("u", "N")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, 0))
    system = ap.compile(ap.derive(ap.Model(ground, x, [body], [ap.Generalized({x: u})]))).bind()
    motion = ap.simulate(system, until=3.0, control=lambda t, state: 1.0 if t < 1 else np.nan, rate=rate)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert motion.times[-1] == pytest.approx(1.0)
    assert "the control gives no finite value" in motion.detail


@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45", "LSODA"])
def test_a_motion_that_escapes_to_infinity(method):
    """x'' = 6 x^2 from x = 1, x' = 2 is x = 1/(1 - t)^2."""
    motion = ap.simulate(block(6 * x**2), {x: 1.0, x.rate: 2.0}, until=10.0, method=method)
    assert motion.outcome in (ap.Outcome.NOT_FINITE, ap.Outcome.STEP_COLLAPSED)
    assert motion.times[-1] == pytest.approx(1.0, abs=1e-6)
    assert "does the motion escape to infinity?" in motion.detail
    early = motion.times[motion.times < 0.97]
    np.testing.assert_allclose(motion.states(early)[:, 0], 1 / (1 - early) ** 2, rtol=1e-6)


@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45", "Radau", "LSODA"])
def test_a_collision_with_an_attracting_centre(method):
    """x'' = -1/x^2 from rest at 1 falls in at pi/(2 sqrt 2)."""
    motion = ap.simulate(block(-1 / x**2), {x: 1.0}, until=10.0, method=method)
    assert motion.outcome in (ap.Outcome.NOT_FINITE, ap.Outcome.STEP_COLLAPSED)
    assert motion.times[-1] == pytest.approx(np.pi / 8**0.5, abs=1e-6)


@pytest.mark.parametrize("method", ["dop853", "LSODA"])
def test_a_pole_in_time_does_not_hold_a_run_for_ever(method):
    """Close to t = 2 the steps of LSODA become as small as rounding, but never fail."""
    motion = ap.simulate(block(1 / (2 - ap.t)), {}, until=10.0, method=method)
    assert motion.outcome is ap.Outcome.STEP_COLLAPSED
    assert motion.times[-1] == pytest.approx(2.0, abs=1e-6)


def test_a_coordinate_without_inertia():
    model = ap.Model(ground, (x, y), [ap.Particle("block", 1, ground.point(x, 0))], [ap.Generalized({y: -y})])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {y: 1.0}, until=1.0)
    assert motion.outcome is ap.Outcome.SINGULAR
    assert "condition number" in motion.detail
    assert "no inertia" in motion.detail
    np.testing.assert_array_equal(motion.times, [0.0])


@pytest.mark.parametrize("many", [False, True])
def test_an_inertia_that_is_no_number_is_not_called_singular(many):
    """The moment of inertia 1 + sqrt(l - theta) ends where the angle comes to l: a root, not a lack of inertia."""
    theta, l = ap.coordinates("theta", "rad"), ap.parameters("l")
    frame = ap.Frame("ground").pin(theta)
    wheel = ap.RigidBody("wheel", 1, frame.origin, frame, (0, 0, 1 + sp.sqrt(l - theta)))
    model = ap.Model(frame.parent, theta, [wheel], [ap.Generalized({theta: 1})])
    system = ap.compile(ap.derive(model)).bind({l: -1.0})
    if many:
        study = ap.sweep(system, {l: [-1.0] * 10}, start={theta: 0.5, theta.rate: 2.0}, until=1.0)
        assert study.outcomes == {"NOT_FINITE": 10}
        words = study.failures["reason"][0]
    else:
        motion = ap.simulate(system, {theta: 0.5, theta.rate: 2.0}, until=1.0)
        assert motion.outcome is ap.Outcome.NOT_FINITE
        words = motion.detail
    assert "a length, an angle or a mass is not finite there" in words
    assert "no inertia" not in words


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_inertia_that_vanishes_on_the_way(method):
    """A bead whose place is cos(angle) on a line: at angle = 0 the angle moves nothing."""
    angle = ap.coordinates("angle")
    body = ap.Particle("bead", 1, ground.point(sp.cos(angle), 0))
    system = ap.compile(ap.derive(ap.Model(ground, angle, [body], [ap.Gravity(9.81 * ground.x)]))).bind()
    motion = ap.simulate(system, {angle: 1.5}, until=5.0, method=method)
    assert motion.outcome in (ap.Outcome.SINGULAR, ap.Outcome.STEP_COLLAPSED, ap.Outcome.NOT_FINITE)
    # cos(angle) = cos(1.5) + g t^2/2 reaches 1
    assert motion.times[-1] == pytest.approx(np.sqrt(2 * (1 - np.cos(1.5)) / 9.81), abs=1e-6)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_chosen_speeds_that_become_singular_are_not_silently_wrong(method):
    """A pendulum over the top whose z' shall always be the dependent one, though it is not determined at z = 0."""
    model = ap.library.spherical_pendulum()
    z = model.coordinates[2]
    system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=[z]))).bind()
    start = system.consistent({"x": 0.0, "y": 0.0, "z": -0.5, "x.rate": 8.0, "y.rate": 0.0})
    motion = ap.simulate(system, start, until=2.0, method=method)
    free = ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=2.0, method=method)
    assert free.outcome is ap.Outcome.DONE
    assert len(free.info["switches"]) > 5
    assert not motion.outcome.ok
    assert motion.times[-1] < 0.102  # where the rod is level for the first time
    gap = np.max(np.abs(motion.states(motion.times) - free.states(motion.times)))
    assert gap < 1e-6


def test_a_long_step_does_not_jump_over_singular_speeds():
    model = ap.library.spherical_pendulum()
    system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=[model.coordinates[2]])))
    start = system.consistent({"x": 0.0, "y": 0.0, "z": -0.5, "x.rate": 8.0, "y.rate": 0.0})
    motion = ap.simulate(system, start, until=2.0, method="dop853", rtol=1e-4, atol=1e-4)
    assert motion.outcome is ap.Outcome.SPEEDS_SINGULAR
    assert motion.times[-1] < 0.102


def test_everything_up_to_the_end_can_be_used(tmp_path):
    motion = ap.simulate(block(6 * x**2), {x: 1.0, x.rate: 2.0}, until=10.0)
    again = ap.load(motion.save(tmp_path / "early.nc"))
    assert again.outcome is motion.outcome
    assert again.detail == motion.detail
    assert motion.at(0.5)["x"] == pytest.approx(4.0)


@pytest.fixture(scope="module")
def swinging():
    return ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()


@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45", "cvodes"])
def test_ctrl_c_keeps_what_was_computed(swinging, method):
    ap.simulate(swinging, until=0.01, method=method)  # compiled before the clock runs
    ours = signal.getsignal(signal.SIGINT)
    begun = time.monotonic()
    clock = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    clock.start()
    try:
        motion = ap.simulate(swinging, until=1e6, method=method, points=5, rtol=1e-9)
    finally:
        clock.cancel()
    assert motion.outcome is ap.Outcome.INTERRUPTED
    assert not motion.outcome.ok
    assert 0 < motion.times[-1] < 1e6
    assert np.all(np.isfinite(motion.at(motion.times[-1]).array))
    assert time.monotonic() - begun < 30
    assert signal.getsignal(signal.SIGINT) is ours


def test_ctrl_c_on_the_command_line():
    """The same through a process of its own: what was computed is printed, and the exit code says that it was cut."""
    code = (
        "import appell as ap\n"
        "system = ap.compile(ap.derive(ap.library.pendulum_chain(2))).bind()\n"
        "ap.simulate(system, until=0.01)\n"
        "print('ready', flush=True)\n"
        "motion = ap.simulate(system, until=1e7, points=3)\n"
        "print(motion.outcome.name, motion.times[-1] > 0, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "INTERRUPTED True\n"
    assert process.returncode == 0


def test_ctrl_c_that_comes_too_late_for_a_run_is_not_lost(swinging, monkeypatch):
    """So that a loop over short runs ends."""

    def late(self, task, integrate=Method.integrate):
        leg = integrate(self, task)
        signal.raise_signal(signal.SIGINT)
        return leg

    monkeypatch.setattr(Method, "integrate", late)
    with pytest.raises(KeyboardInterrupt):
        ap.simulate(swinging, until=0.1)


def test_who_does_not_listen_to_the_keyboard_is_left_alone(swinging, monkeypatch):
    """Such as a program in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        motion = ap.simulate(
            swinging, until=0.1, method="DOP853", control=lambda t, state: signal.raise_signal(signal.SIGINT) or {}
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert motion.outcome is ap.Outcome.DONE


def test_runs_in_other_threads_leave_the_keyboard_alone(swinging):
    found = []
    thread = threading.Thread(target=lambda: found.append(ap.simulate(swinging, until=0.1).outcome))
    thread.start()
    thread.join()
    assert found == [ap.Outcome.DONE]


def test_outcomes_are_sentences():
    assert [o for o in ap.Outcome if o.ok] == [ap.Outcome.DONE, ap.Outcome.EVENT]
    assert all(o.value.endswith(".") and o.value[0].isupper() for o in ap.Outcome)


@pytest.mark.parametrize(
    "lengths", [(0.3, 0.6, 0.6, 0.3), (0.3, 0.5, 0.4, 0.6)], ids=["a kite", "as long as the others"]
)
def test_a_four_bar_that_folds_flat_under_a_jerk(lengths):
    """Where all bars are in one line the loop has no slope across it; before, steps of 1e-12 s went on and on."""
    crank, coupler, rocker = ap.coordinates("crank coupler rocker", "rad")
    first, second, third, base = lengths
    bars = [ground.rotate("z", angle) for angle in (crank, coupler, rocker)]
    elbow, pivot = bars[0].point(first, 0), ground.point(base, 0)
    bodies = [
        ap.RigidBody("crank", 1, bars[0].point(first / 2, 0), bars[0], (0, 0, 0.003)),
        ap.RigidBody("coupler", 2, elbow + bars[1].vector(second / 2, 0), bars[1], (0, 0, 0.06)),
        ap.RigidBody("rocker", 1.5, pivot + bars[2].vector(third / 2, 0), bars[2], (0, 0, 0.03)),
    ]
    gap = ground.components(elbow + bars[1].vector(second, 0) - pivot - bars[2].vector(third, 0))
    rows = [ap.Holonomic(gap[:2], "loop"), ap.Programmed(crank.derivative(3) - 2, "jerk")]
    model = ap.Model(ground, (crank, coupler, rocker), bodies, [ap.Gravity(-9.81 * ground.y)], rows)
    system = ap.compile(ap.derive(model, ap.GPME())).bind()
    near = {coupler: 0.1, rocker: 1.2}
    start = system.consistent({crank: 1.2, crank.rate: 2.0, crank.rate.rate: 0.5}, near=near)
    motion = ap.simulate(system, start, until=3.0, max_steps=20_000)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    assert "the edge of what the programme can be followed to" in motion.detail
    end = motion.times[-1]
    assert np.sin(motion.at(end)["crank"]) == pytest.approx(0, abs=1e-4)
    assert motion.at(end)["crank.rate"] == pytest.approx(2 + 0.5 * end + end**2, abs=1e-4)


@pytest.mark.parametrize("events", [True, False], ids=["up to an event", "between far times"])
def test_short_steps_are_no_fault_where_time_is_long(events):
    system, far = block(-1e4 * x), 1e13
    if events:
        stop = ap.Event(ap.t - 60, stop=True)
        motion = ap.simulate(system, {x: 1.0}, until=far, events=[stop], method="dop853", rtol=1e-6)
    else:
        motion = ap.simulate(system, system.state({x: 1.0}, t=1e9), until=1e9 + 60, method="dop853", rtol=1e-6)
    assert motion.outcome.ok
    assert motion.info["steps"] > 1000
