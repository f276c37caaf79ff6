"""Simulate: every method, the automatic choice, outputs, inputs, and what is wrong with the arguments."""

import re

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import IntegrationError, MissingValueError, ModelError, UndeclaredError
from appell.motion import run

METHODS = ["taylor", "dop853", "cvodes", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
x = ap.coordinates("x", "m")
u = ap.inputs("u", "N")
m, k, c = ap.parameters("m k c")
ground = ap.Frame("ground")


def oscillator(force):
    return ap.Model(
        ground, x, [ap.Particle("block", m, ground.point(x, 0))], [ap.Generalized({x: force})], name="block"
    )


@pytest.fixture(scope="module")
def driven():
    """m x'' = u - k x with m = k = 1."""
    return ap.compile(ap.derive(oscillator(u - k * x))).bind({m: 1.0, k: 1.0})


@pytest.fixture(scope="module")
def disk():
    return ap.compile(ap.derive(ap.library.rolling_disk())).bind()


@pytest.fixture(scope="module")
def reference(disk):
    return ap.simulate(disk, until=1.0)


@pytest.mark.parametrize(
    ("method", "tolerance"),
    [
        ("taylor", 1e-13),
        ("dop853", 1e-10),
        ("DOP853", 1e-8),
        ("RK45", 1e-7),
        ("cvodes", 1e-6),
        ("Radau", 1e-7),
        ("LSODA", 1e-6),
    ],
)
def test_methods_agree(disk, reference, method, tolerance):
    motion = ap.simulate(disk, until=1.0, method=method, points=11)
    assert motion.outcome is ap.Outcome.DONE
    assert motion.info["method"] == method
    assert motion.info["reason"] == "chosen by the caller"
    expected = reference.states(motion.times)
    assert np.max(np.abs(motion.states(motion.times) - expected)) < tolerance


@pytest.mark.parametrize("method", METHODS)
def test_dense_output_against_a_closed_form(driven, method):
    """x = 1 - cos t, at times that are no steps and no points of the table."""
    motion = ap.simulate(driven, {x: 0.0}, until=6.0, inputs={u: 1.0}, method=method, points=3)
    times = np.random.default_rng(1).uniform(0, 6, 50)
    tolerance = {"taylor": 2e-14, "dop853": 1e-10}.get(method, 2e-7)
    states = motion.states(times)
    np.testing.assert_allclose(states[:, 0], 1 - np.cos(times), rtol=0, atol=tolerance)
    np.testing.assert_allclose(states[:, 1], np.sin(times), rtol=0, atol=tolerance)
    np.testing.assert_allclose(motion["x"], 1 - np.cos([0, 3, 6]), rtol=0, atol=tolerance)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("method", ["taylor", "dop853", "cvodes", "RK45"])
def test_the_tolerance_is_heeded(driven, method, rtol):
    motion = ap.simulate(driven, {x: 0.0}, until=6.0, inputs={u: 1.0}, method=method, rtol=rtol)
    error = abs(float(motion["x"][-1]) - (1 - np.cos(6)))
    assert error < 1000 * rtol
    finer = ap.simulate(driven, {x: 0.0}, until=6.0, inputs={u: 1.0}, method=method, rtol=rtol / 1000)
    assert (finer.info["steps"] >= motion.info["steps"]) or method == "taylor"  # whose order rises instead


@pytest.mark.heyoka
def test_the_automatic_choice_is_recorded_with_its_reason(driven):
    smooth = ap.simulate(driven, {x: 0.0}, until=1.0, inputs={u: 1.0})
    assert smooth.info["method"] == "taylor"
    assert smooth.info["reason"].startswith("smooth, ")
    assert smooth.info["reason"] in smooth.summary()
    watched = ap.simulate(driven, {x: 0.0}, until=1.0, inputs={u: 1.0}, events=[ap.Event(x - 0.1)])
    assert "between located kinks and events" in watched.info["reason"]
    by_python = ap.simulate(driven, {x: 0.0}, until=1.0, inputs={u: np.sin})
    assert (by_python.info["method"], by_python.info["reason"]) == ("DOP853", "an input is given by a Python function")
    plain = ap.compile(driven.equations, machine="casadi").bind(driven.values)
    portable = ap.simulate(plain, {x: 0.0}, until=1.0, inputs={u: 1.0})
    assert (portable.info["method"], portable.info["reason"]) == ("dop853", "CasADi's machine was asked for")


def test_an_angle_that_jumps_by_a_turn_is_not_passed_over():
    """The acceleration is t, a turn less behind every half turn: v = 0 and x = n pi³/3 after n turns."""
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    bead = ap.Particle("bead", 1, ground.point(x, 0))
    push = ap.Force(sp.atan2(sp.sin(ap.t), sp.cos(ap.t)) * ground.x, bead)
    motion = ap.simulate(ap.compile(ap.derive(ap.Model(ground, x, [bead], [push]))).bind(), until=4 * np.pi)
    assert "atan2 may jump by a turn" in str(motion)
    assert float(motion[x.rate][-1]) == pytest.approx(0, abs=1e-8)
    assert float(motion[x][-1]) == pytest.approx(2 * np.pi**3 / 3, abs=1e-7)


def test_large_systems_go_to_dop853():
    system = ap.compile(ap.derive(ap.library.pendulum_chain(24))).bind()
    motion = ap.simulate(system, until=0.05, points=2)
    assert motion.info["method"] == "dop853"
    assert motion.info["reason"].startswith("large: ")


@pytest.fixture(scope="module")
def stiff():
    """Overdamped: x' decays at once to -x k/c and then creeps."""
    return ap.compile(ap.derive(oscillator(-c * x.rate - k * x))).bind({m: 1.0, k: 1e3, c: 1e6})


def test_quaternions_with_long_equations_go_to_dop853():
    """A ball rolls in a bowl that turns: no choice of rates as speeds lasts long."""
    theta, phi, beta, *e = ap.coordinates("theta phi beta e0 e1 e2 e3")
    outwards, middle = -ground.rotate("z", phi).rotate("y", -theta).z, ground.point(0, 0, 0)
    ball = ap.RigidBody("ball", 1, middle + 0.45 * outwards, ground.rotate_quaternion(*e), (0.001, 0.0012, 0.0014))
    bowl = ap.RigidBody("bowl", 1, middle, ground.rotate("z", beta), (1, 1, 1))
    rows = [ap.Rolling(ball, middle + 0.5 * outwards, on=bowl), ap.Prescribed(beta, 3 * ap.t)]
    weight = ap.Gravity(-9.81 * ground.z)
    model = ap.Model(ground, (theta, phi, *e, beta), [ball, bowl], [weight], rows, start={theta: 0.6, e[0]: 1})
    motion = ap.simulate(ap.compile(ap.derive(model, ap.GibbsAppell())).bind(), until=1.0)
    assert motion.check().ok
    assert motion.info["method"] == "dop853"
    assert "quaternion" in motion.info["reason"]
    turning = ap.simulate(ap.compile(ap.derive(model)).bind(), until=1.0)
    assert not turning.info["switches"]
    for q in model.coordinates:
        np.testing.assert_allclose(turning[q][-1], motion[q][-1], atol=1e-9)


def test_stiff_equations_go_to_cvodes(stiff):
    motion = ap.simulate(stiff, {x: 1.0}, until=100.0)
    assert motion.info["method"] == "cvodes"
    assert motion.info["reason"].startswith("stiff: decay rate 1e+06/s")
    slow = -1e6 / 2 + np.sqrt(1e12 / 4 - 1e3)
    np.testing.assert_allclose(motion["x"], np.exp(slow * motion.times), rtol=1e-6)


@pytest.mark.heyoka
def test_a_long_run_from_near_a_saddle_is_not_stiff():
    lever = ap.compile(ap.derive(oscillator(4e4 * x))).bind({m: 1.0})  # falls as fast as it could come to rest
    assert ap.simulate(lever, {x: 1e-9}, until=200.0, max_steps=5, points=2).info["method"] == "taylor"


def test_stiff_equations_with_events_go_to_radau(stiff):
    motion = ap.simulate(stiff, {x: 1.0}, until=100.0, events=[ap.Event(x - 0.95, stop=True, name="crept")])
    assert motion.info["method"] == "Radau"
    slow = -1e6 / 2 + np.sqrt(1e12 / 4 - 1e3)
    assert motion.times[-1] == pytest.approx(np.log(0.95) / slow, rel=1e-6)


@pytest.mark.heyoka
def test_output_grid(driven):
    run = {"until": 3.0, "inputs": {u: 1.0}}
    at = ap.simulate(driven, {x: 0.0}, at=[0.5, 1.0, 2.25], **run)
    np.testing.assert_array_equal(at.times, [0.5, 1.0, 2.25])
    np.testing.assert_allclose(at["x"], 1 - np.cos(at.times), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(ap.simulate(driven, {x: 0.0}, points=4, **run).times, [0, 1, 2, 3])
    assert ap.simulate(driven, {x: 0.0}, **run).times.size == 501


@pytest.mark.heyoka
def test_outputs_are_tabulated(driven):
    energy = (m * x.rate**2 + k * x**2) / 2 - u * x
    motion = ap.simulate(driven, {x: 0.0}, until=3.0, inputs={u: 1.0}, outputs={"energy": energy, "push": x.rate.rate})
    np.testing.assert_allclose(motion["energy"], 0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(motion["push"], np.cos(motion.times), rtol=0, atol=1e-13)
    assert {"energy", "push"} <= set(motion.dataset.data_vars)


@pytest.mark.heyoka
def test_inputs_as_number_formula_and_function(driven):
    """u = sin t gives x = (sin t - t cos t)/2."""
    expected = (np.sin(5) - 5 * np.cos(5)) / 2
    for value, tolerance in ((sp.sin(ap.t), 1e-14), (np.sin, 1e-8)):
        motion = ap.simulate(driven, {x: 0.0}, until=5.0, inputs={u: value})
        assert float(motion["x"][-1]) == pytest.approx(expected, abs=tolerance)
        np.testing.assert_allclose(motion["u"], np.sin(motion.times), rtol=0, atol=1e-15)
        assert motion.check().ok
    bound = ap.simulate(driven.bind({u: 1.0}), {x: 0.0}, until=5.0)
    assert float(bound["x"][-1]) == pytest.approx(1 - np.cos(5), abs=1e-14)
    feedback = ap.simulate(driven, {x: 1.0}, until=5.0, inputs={u: -3 * x})
    assert float(feedback["x"][-1]) == pytest.approx(np.cos(10), abs=1e-13)


@pytest.mark.parametrize(
    "control",
    [
        lambda t, state: -3 * state["x"],
        lambda t, state: [-3 * state[x]],
        lambda t, state: {"u": -3 * state.q[0]},
        lambda t, state: {u: np.array(-3 * state["x"])},
    ],
)
def test_control_in_every_form(driven, control):
    motion = ap.simulate(driven, {x: 1.0}, until=5.0, control=control)
    assert float(motion["x"][-1]) == pytest.approx(np.cos(10), abs=1e-7)
    np.testing.assert_allclose(motion["u"], -3 * motion["x"].values, rtol=0, atol=1e-14)
    proof = motion.check()
    assert proof.ok
    assert proof.work["generalized"] == pytest.approx((np.sin(10) * 2) ** 2 / 2, abs=1e-6)


@pytest.mark.heyoka
def test_control_as_formulas_is_compiled(driven):
    motion = ap.simulate(driven, {x: 1.0}, until=5.0, control={u: -3 * x})
    assert motion.info["method"] == "taylor"
    assert float(motion["x"][-1]) == pytest.approx(np.cos(10), abs=1e-13)


@pytest.mark.heyoka
def test_the_start_may_be_left_out_given_by_name_or_late(driven):
    model = ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x, 0))], start={x: 2.0, x.rate: -1.0}, until=4.0)
    system = ap.compile(ap.derive(model)).bind()
    suggested = ap.simulate(system)
    assert (suggested.times[-1], float(suggested["x"][-1])) == (4.0, -2.0)
    assert float(ap.simulate(system, {"x": 1.0}, until=4.0)["x"][-1]) == 1.0
    late = ap.simulate(system, system.state({"x": 1.0, "x.rate": 1.0}, t=2.0))
    np.testing.assert_array_equal(late.times[[0, -1]], [2.0, 6.0])
    assert float(late["x"][-1]) == pytest.approx(5.0)


def test_a_suggested_start_of_nothing_is_refused():
    """A slip in a name must not let a run begin at zero without a word."""
    ground = ap.Frame("ground")
    block = ap.Particle("block", 1, ground.point(x))
    for constraints in ([], [ap.Prescribed(x, ap.t)]):
        model = ap.Model(ground, x, [block], constraints=constraints, start={"xx": 1.0})
        with pytest.raises(ModelError, match=r"'xx' is not an entry of the state of 'model'\. Did you mean 'x'"):
            ap.simulate(ap.compile(ap.derive(model)), until=1.0)


@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45"])
def test_the_number_of_steps_is_limited(driven, method):
    motion = ap.simulate(driven, {x: 0.0}, until=50.0, inputs={u: 1.0}, method=method, max_steps=7)
    assert motion.outcome is ap.Outcome.STEP_LIMIT
    assert not motion.outcome.ok
    assert motion.info["steps"] == 7
    assert 0 < motion.times[-1] < 50
    last = motion.times[-1]
    assert float(motion["x"][-1]) == pytest.approx(1 - np.cos(last), abs=1e-9)
    assert "give a larger max_steps" in motion.summary()
    assert "grows" not in motion.summary()


def test_a_motion_that_grows_without_bound_is_told_so(driven):
    """Negative damping on a spring: the swings grow ever on, and more steps would only show more of that."""
    motion = ap.simulate(driven, {x: 0.1}, until=500.0, inputs={u: 3 * x.rate - 40 * x}, max_steps=300)
    assert motion.outcome is ap.Outcome.STEP_LIMIT
    assert re.search(r"grows without bound, x.rate was \S+ at most in the first quarter", motion.summary())
    assert "larger max_steps" not in motion.summary()


def test_a_run_that_never_ends_does_so_before_memory_does(driven, monkeypatch):
    monkeypatch.setattr(run, "MEMORY", 2e5)
    motion = ap.simulate(driven, {x: 0.1}, until=500.0, inputs={u: 3 * x.rate - 40 * x})
    assert motion.outcome is ap.Outcome.STEP_LIMIT
    assert motion.info["steps"] == 500
    assert "grows without bound" in motion.summary()


def test_a_sampled_control_that_makes_a_loop_unstable_ends_the_run():
    """Each sample would take more steps than the last; the same law asked more often holds the pendulum."""
    arm = ground.rotate("z", x)
    bob = ap.Particle("bob", 1.0, arm.x)
    model = ap.Model(ground, (x,), [bob], [ap.Gravity(-9.81 * ground.y), ap.Generalized({x: u})])
    system = ap.compile(ap.derive(model))

    def law(t, state):
        return {u: -60 * (state[x] - 1) - 30 * state[x.rate]}

    motion = ap.simulate(system, {x: 0.5}, until=20.0, control=law, rate=8.0)
    assert motion.outcome is ap.Outcome.UNBOUNDED
    assert motion.info["steps"] < 5000
    assert "sample the control more often" in motion.detail
    assert ap.simulate(system, {x: 0.5}, until=2.0, control=law, rate=100.0).outcome.ok
    rarely = ap.simulate(
        system, {x: 0.5}, until=20.0, control=law, rate=0.5
    )  # millions of steps before the next sample
    assert rarely.outcome is ap.Outcome.UNBOUNDED
    assert rarely.info["steps"] < 50000
    assert rarely.times[-1] % 2 > 0


WRONG = {
    "no system": (
        lambda s: ap.simulate(s.model),
        IntegrationError,
        r"got Model; write compile\(derive\(model\)\).bind",
    ),
    "a method": (
        lambda s: ap.simulate(s, method="euler"),
        IntegrationError,
        "Unknown method 'euler'; use 'auto', 'taylor'",
    ),
    "an end before the start": (lambda s: ap.simulate(s, until=-1.0), IntegrationError, "got until = -1"),
    "an end at the start": (lambda s: ap.simulate(s, until=0), IntegrationError, "must end after its start at t = 0"),
    "an end that is not finite": (
        lambda s: ap.simulate(s, until=np.nan),
        ModelError,
        "'until' must be a finite number",
    ),
    "an end that is no number": (lambda s: ap.simulate(s, until="long"), ModelError, "'until' must be a finite number"),
    "one point": (lambda s: ap.simulate(s, points=1), IntegrationError, "at least two points, got points=1"),
    "half a point": (lambda s: ap.simulate(s, points=10.5), IntegrationError, r"whole number .* got points=10\.5"),
    "times in words": (lambda s: ap.simulate(s, at="noon"), IntegrationError, "must be numbers, got 'noon'"),
    "no step": (lambda s: ap.simulate(s, max_steps=0), IntegrationError, "at least one step, got max_steps=0"),
    "times outside": (
        lambda s: ap.simulate(s, at=[1, 99]),
        IntegrationError,
        r"must lie within \[0, 10\]; got 1 .. 99",
    ),
    "times that fall": (lambda s: ap.simulate(s, at=[2, 1]), IntegrationError, "must be finite and increasing"),
    "no times": (lambda s: ap.simulate(s, at=[]), IntegrationError, "must be finite and increasing"),
    "a negative tolerance": (
        lambda s: ap.simulate(s, rtol=-1e-9),
        IntegrationError,
        "rtol must be a positive number, got -1e-09",
    ),
    "a tolerance in words": (lambda s: ap.simulate(s, rtol="1e-9"), IntegrationError, "a positive number, got '1e-9'"),
    "a tolerance below rounding": (
        lambda s: ap.simulate(s, rtol=1e-20),
        IntegrationError,
        "not below 2.2e-16, to which numbers are rounded; got 1e-20",
    ),
    "a tolerance without its minus": (
        lambda s: ap.simulate(s, rtol=1e9),
        IntegrationError,
        "below 1, .* got 1000000000",
    ),
    "a zero tolerance": (lambda s: ap.simulate(s, atol=0), IntegrationError, "atol must be a positive number, got 0"),
    "one event": (lambda s: ap.simulate(s, events=ap.Event(x)), IntegrationError, r"a list of appell.Event\(...\)"),
    "a formula for events": (
        lambda s: ap.simulate(s, events=x),
        IntegrationError,
        r"a list of appell.Event\(...\), got x",
    ),
    "an event that is none": (lambda s: ap.simulate(s, events=["x"]), IntegrationError, r"got \['x'\]"),
    "an event of unknown letters": (
        lambda s: ap.simulate(s, events=[ap.Event(sp.Symbol("q"))]),
        UndeclaredError,
        "'q' is not declared",
    ),
    "a reset of nothing": (
        lambda s: ap.simulate(s, events=[ap.Event(x, reset={"y": 1})]),
        ModelError,
        "'y' is not an entry of the state that an event could reset. There are: x, x.rate",
    ),
    "events for CVODES": (
        lambda s: ap.simulate(s, events=[ap.Event(x)], method="cvodes"),
        IntegrationError,
        "use method='Radau'",
    ),
    "an unknown input": (lambda s: ap.simulate(s, inputs={"v": 1}), ModelError, "'v' is not an input of 'block'"),
    "an input that is no number": (
        lambda s: ap.simulate(s, inputs={u: "hard"}),
        ModelError,
        "The input 'u' needs a number, a formula or a function of t, got str",
    ),
    "an input by measured values": (
        lambda s: ap.simulate(s, inputs={u: np.zeros(5)}),
        ModelError,
        "got ndarray; measured values are given as lambda t: numpy.interp",
    ),
    "an input of time and state": (
        lambda s: ap.simulate(s, inputs={u: lambda t, state: 0.0}),
        ModelError,
        r"'u' is given as a function of t alone, lambda t: ...; a function \(t, state\) -> inputs is given as control",
    ),
    "a control of time alone": (lambda s: ap.simulate(s, control=lambda t: 0.0), ModelError, r"function \(t, state\)"),
    "an input that is not finite": (
        lambda s: ap.simulate(s, inputs={u: lambda t: np.nan}),
        ModelError,
        "No finite value for the inputs at the start",
    ),
    "a function for Taylor": (
        lambda s: ap.simulate(s, inputs={u: np.sin}, method="taylor"),
        IntegrationError,
        "give the law as a formula",
    ),
    "a control that is no function": (
        lambda s: ap.simulate(s, control=3),
        ModelError,
        r"must be a function \(t, state\)",
    ),
    "a control of wrong length": (
        lambda s: ap.simulate(s, control=lambda t, state: [1, 2]),
        ModelError,
        r"gave 2 values for 1 inputs \(u\)",
    ),
    "a control that returns nothing": (
        lambda s: ap.simulate(s, control=lambda t, state: None),
        ModelError,
        "The control returned nothing; end it with `return` and a value for u",
    ),
    "a control of what a formula gives": (
        lambda s: ap.simulate(s, inputs={u: ap.t}, control=lambda t, state: {"u": 1}),
        ModelError,
        "The control gives 'u', which is given or varied by itself",
    ),
    "a control with nothing left to it": (
        lambda s: ap.simulate(s, inputs={u: ap.t}, control=lambda t, state: [1]),
        ModelError,
        "gave 1 value where no input is left to it; formulas give u",
    ),
    "a control of unknown inputs": (
        lambda s: ap.simulate(s, control=lambda t, state: {"v": 1}),
        ModelError,
        "'v' is not an open input",
    ),
    "a control without value": (
        lambda s: ap.simulate(s, control=lambda t, state: {"u": None}),
        ModelError,
        "The inputs must be numbers",
    ),
    "an output of unknown letters": (
        lambda s: ap.simulate(s, outputs={"a": sp.Symbol("q")}),
        UndeclaredError,
        "'q' is not declared",
    ),
}


@pytest.mark.parametrize("case", WRONG, ids=lambda name: name.replace(" ", "-"))
def test_wrong_arguments_are_named(driven, case):
    wrong, error, words = WRONG[case]
    with pytest.raises(error, match=words):
        wrong(driven.bind({u: 0.0}))


def test_an_open_input_must_have_a_value(driven):
    with pytest.raises(MissingValueError, match=r"No value for the input u; write system.bind\(\{u: ...\}\)"):
        ap.simulate(driven, until=1.0)


def test_an_input_that_stops_being_finite_ends_the_run(driven):
    motion = ap.simulate(driven, {x: 0.0}, until=5.0, inputs={u: lambda t: 1.0 if t < 2 else np.nan})
    assert not motion.outcome.ok
    assert motion.times[-1] == pytest.approx(2.0, abs=1e-6)
    np.testing.assert_allclose(motion["x"], 1 - np.cos(motion.times), rtol=0, atol=1e-7)


@pytest.mark.heyoka
def test_a_reset_of_speeds_and_positions_together():
    """Quasi-velocities, coordinates and extra states may be reset by one event."""
    v = ap.speeds("v")
    z = ap.states("z")
    model = ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x, 0))], states={z: 1})
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds={v: 2 * x.rate}))).bind()
    event = ap.Event(x - 1, reset={x: 0.5, v: -v, z: 10.0}, name="flip")
    motion = ap.simulate(system, {x.rate: 1.0}, until=3.0, events=[event])
    assert [(o.name, o.t) for o in motion.occurrences] == [("flip", 1.0)]
    last = [float(motion[q][-1]) for q in ("x", "x.rate", "v", "z")]
    np.testing.assert_allclose(last, [-1.5, -1.0, -2.0, 12.0], rtol=1e-13, atol=0)


def test_a_reset_of_one_rate_takes_the_others_along_the_constraints():
    system = ap.compile(ap.derive(ap.library.slider_crank())).bind()
    slider = system.model.coordinates[2]
    event = ap.Event(slider - 0.3, direction=-1, reset={slider.rate: -slider.rate / 2}, name="stop")
    motion = ap.simulate(system, until=0.2, events=[event])
    when = motion.occurrences[0].t
    before, after = motion.at(when - 1e-9), motion.at(when)
    assert after["x_s.rate"] == pytest.approx(-before["x_s.rate"] / 2, rel=1e-6)
    assert max(map(abs, system.residual(after).values())) < 1e-14
    assert motion.check().ok
    crank = system.model.coordinates[0]
    wrong = ap.Event(slider - 0.3, direction=-1, reset={slider.rate: 1.0, crank.rate: 1.0}, name="stop")
    with pytest.raises(
        ap.AppellError,
        match=r"The event 'stop' at t = .* resets x_s.rate, theta.rate to rates that the constraints forbid",
    ):
        ap.simulate(system, until=0.2, events=[wrong])


@pytest.mark.parametrize(
    "formulation",
    [ap.GibbsAppell(), ap.Voronets(), ap.Shulgin(), ap.GPME(), ap.Multipliers()],
    ids=lambda formulation: formulation.name,
)
def test_a_reset_position_is_kept_and_the_others_follow(formulation):
    """What follows changes as little as can be, in every formulation: the velocity loses what is along the rod."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    rod = ap.Holonomic(x**2 + y**2 - 1, "rod")
    model = ap.Model(ground, (x, y), [ap.Particle("p", 1, ground.point(x, y))], [ap.Gravity(-9.81 * ground.y)], [rod])
    system = ap.compile(ap.derive(model, formulation)).bind()

    def run(**reset):
        event = ap.Event(x - 0.5, direction=-1, reset=reset, name="moved")
        return ap.simulate(system, {x: 0.8, y: -0.6}, until=0.4, events=[event])

    motion = run(x=0.3)
    when = motion.occurrences[0].t
    before, after = motion.at(np.nextafter(when, 0)), motion.at(when)
    place = np.array([0.3, -(0.91**0.5)])
    np.testing.assert_allclose([after["x"], after["y"]], place, rtol=0, atol=1e-15)
    v = np.array([before["x.rate"], before["y.rate"]])
    np.testing.assert_allclose([after["x.rate"], after["y.rate"]], v - (v @ place) * place, rtol=0, atol=1e-10)
    for wrong in ({"x": 2.0}, {"x": 0.3, "y": 1.0}):
        with pytest.raises(ap.AppellError, match="to positions that the constraints forbid; reset fewer of them"):
            run(**wrong)


@pytest.mark.parametrize(("length", "mass"), [(1.0, 1.0), (1e-6, 1e-15), (1e6, 1e15)], ids=["m", "um", "1000 km"])
def test_joints_take_their_share_of_an_impact(length, mass):
    """The middle of the second of two hinged rods hits a wall: as for two angles, M dw = n P."""
    x1, y1, a1, x2, y2, a2 = places = ap.coordinates("x1 y1 a1 x2 y2 a2")
    masses, lengths = (mass, 0.3 * mass), (length, 0.7 * length)
    bodies, ends = [], []
    for k, (x, y, angle) in enumerate(((x1, y1, a1), (x2, y2, a2))):
        center, frame, inertia = ground.point(x, y), ground.rotate("z", angle), masses[k] * lengths[k] ** 2 / 12
        bodies.append(ap.RigidBody(f"rod{k}", masses[k], center, frame, (0, 0, inertia)))
        ends.append((center - lengths[k] / 2 * frame.x, center + lengths[k] / 2 * frame.x))
    gaps = ends[0][0], ends[0][1] - ends[1][0]
    hinges = [ap.Holonomic(list(ground.components(gap)[:2]), f"hinge{k}") for k, gap in enumerate(gaps)]
    model = ap.Model(ground, places, bodies, [ap.Gravity(-9.81 * length * ground.y)], hinges)
    system = ap.compile(ap.derive(model)).bind()
    near = dict(zip((x1, y1, x2, y2), np.array([0.48, -0.15, 1.17, -0.57]) * length, strict=True))
    start = system.consistent({a1: -0.3, a2: -0.9}, near=near)
    wall = ap.Event(x2 - 0.5 * length, direction=-1, reset={x2.rate: -0.4 * x2.rate}, name="wall")
    motion = ap.simulate(system, start, until=0.6, events=[wall])
    when = motion.occurrences[0].t
    before, after = motion.at(np.nextafter(when, 0)), motion.at(when)
    turned = before["a1"] - before["a2"]
    coupling = 0.3 * 0.7 / 2 * np.cos(turned)
    M = np.array([[1 / 3 + 0.3, coupling], [coupling, 0.3 * 0.7**2 / 3]])
    n = -np.array([np.sin(before["a1"]), 0.35 * np.sin(before["a2"])])
    rates = np.array([before["a1.rate"], before["a2.rate"]])
    way = np.linalg.solve(M, n)
    known = rates - 1.4 * (n @ rates) / (n @ way) * way
    np.testing.assert_allclose([after["a1.rate"], after["a2.rate"]], known, rtol=0, atol=1e-11)
    assert motion.check().ok


def test_a_law_given_as_inputs_is_told_where_it_belongs():
    system = ap.compile(ap.derive(ap.library.planar_2r())).bind()
    with pytest.raises(ModelError, match=r"inputs= needs \{input: .*given as control="):
        ap.simulate(system, system.state({}), until=0.1, inputs=lambda t, state: [0.0, 0.0])
