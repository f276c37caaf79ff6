"""Sampled control, and laws that follow a reference."""

import numpy as np
import pytest
import scipy.linalg
import sympy as sp

import appell as ap
from appell.control import MPC, PID, ComputedTorque, Motor, SlotineLi, with_motors
from appell.control.reference import Reference
from appell.errors import ControlError, IntegrationError, ModelError

x = ap.coordinates("x")
u = ap.inputs("u")
m = ap.parameters("m")
ground = ap.Frame("ground")
CART = ap.Particle("cart", m, ground.point(x, 0))
MODEL = ap.Model(ground, x, [CART], [ap.Force(u * ground.x, CART)], values={"m": 2.0})


@pytest.fixture(scope="module")
def cart():
    return ap.compile(ap.derive(MODEL))


def test_inputs_are_held_between_samples(cart):
    """Against the exact difference equations of a double integrator with a zero-order hold."""
    asked = []

    def law(t, state):
        asked.append(t)
        return -4 * state["x"] - 3 * state["x.rate"]

    motion = ap.simulate(cart, {x: 1.0}, until=2.0, control=law, rate=50)
    h = 1 / 50
    z = np.array([1.0, 0.0])
    for _ in range(100):
        z = np.array([[1, h], [0, 1]]) @ z + np.array([h * h / 2, h]) / 2 * (-4 * z[0] - 3 * z[1])
    np.testing.assert_allclose([motion.at(2.0)["x"], motion.at(2.0)["x.rate"]], z, rtol=1e-12, atol=0)
    np.testing.assert_allclose(asked, np.arange(100) / 50, rtol=1e-12, atol=1e-12)
    held = motion.inputs_at(np.array([0.001, 0.019, 0.021]))[:, 0]
    assert held[0] == held[1] == -4.0
    assert held[2] != held[1]
    assert motion.check().ok


@pytest.mark.parametrize("rate", [0, -5, np.nan, np.inf])
def test_bad_rates(cart, rate):
    with pytest.raises(ModelError, match="positive number of samples"):
        ap.simulate(cart, {x: 1.0}, until=1.0, control=lambda t, s: 0.0, rate=rate)


def test_a_rate_needs_a_control(cart):
    with pytest.raises(IntegrationError, match="rate= is for a control"):
        ap.simulate(cart, {x: 1.0}, until=1.0, inputs={u: 0.0}, rate=10)


def test_dry_friction_is_compensated_through_standstill():
    """On the reference the error stays zero where the velocity passes zero; beside it, it still decays."""
    rough = ap.friction.Coulomb(x, kinetic=5.0, viscous=0.3).on(MODEL)
    system, wanted = ap.compile(ap.derive(rough)), {x: 1 - sp.cos(2 * ap.t)}
    run = ap.track(system, wanted, ComputedTorque(rough, 3.0), until=4.0)
    assert run.motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(run.error.values, 0, rtol=0, atol=1e-8)
    run = ap.track(system, wanted, ComputedTorque(rough, 3.0), {x: 0.5}, until=4.0)
    assert run.motion.outcome is ap.Outcome.DONE
    assert abs(run.error.values[-1, 0]) < 2e-4


def test_trial_steps_into_infinity_are_not_remembered():
    """Bristles far stiffer than the first step allows for: the law is asked about states that are no numbers."""
    rough = ap.friction.LuGre(x, 1e9, 1e6, 0.1, 1.0).on(MODEL)
    law = ComputedTorque(MODEL, 5.0)
    q, v = np.array([np.inf]), np.array([0.0])
    law.inputs(0.0, q, v, np.zeros(0), (np.zeros(1), np.zeros(1), np.zeros(1)))
    assert np.isfinite(law.inputs(0.0, v, v, np.zeros(0), (np.zeros(1), np.zeros(1), np.zeros(1)))).all()
    run = ap.track(ap.compile(ap.derive(rough)), {x: 0.1 * sp.sin(ap.t)}, law, until=1e-3, method="Radau")
    assert run.motion.outcome is ap.Outcome.DONE


def test_the_error_decays_as_the_closed_form_says(cart):
    run = ap.track(cart, {x: sp.sin(ap.t)}, ComputedTorque(MODEL, 3.0), {x: 0.5}, until=4.0)
    t = run.motion.times
    np.testing.assert_allclose(run.error.values[:, 0], 0.5 * (1 + 3 * t) * np.exp(-3 * t), rtol=0, atol=1e-9)
    assert run.metrics()["x"]["largest"] == pytest.approx(0.5)
    assert 1.5 < run.settled(0.01) < 3.0
    assert run.settled(1e-12) is None


def test_an_integral_removes_what_the_model_does_not_know(cart):
    """The plant weighs 2 kg and is pulled with 5 N; the controller thinks 1.5 kg and knows nothing of the pull."""
    pulled = ap.compile(ap.derive(MODEL.add(ap.Force(5 * ground.x, CART, name="pull"))))
    plain = ComputedTorque(MODEL, 6.0, values={m: 1.5})
    reference = {x: sp.Float(0.2)}
    left = ap.track(pulled, reference, plain, until=6.0, rate=200).metrics()["x"]["last"]
    assert left == pytest.approx(5 / (1.5 * 36), rel=1e-3)
    better = ComputedTorque(MODEL, 6.0, integral=60.0, values={m: 1.5})
    assert ap.track(pulled, reference, better, until=6.0, rate=200).metrics()["x"]["last"] < 1e-3 * left


def test_saturation(cart):
    run = ap.track(cart, {x: 0 * ap.t}, ComputedTorque(MODEL, 5.0), {x: 1.0}, until=4.0, rate=200, limits=3.0)
    assert np.max(np.abs(run.motion.columns["u"])) == 3.0
    assert run.metrics()["x"]["last"] < 1e-3


@pytest.fixture(scope="module")
def arm():
    """Two links in the vertical plane, as rods, with motors; loads as parameters that enter linearly."""
    one, two = ap.coordinates("one two")
    t1, t2 = ap.inputs("t1 t2")
    a, b = ap.parameters("a b")
    upper = ground.rotate("z", one)
    lower = upper.rotate("z", two)
    elbow = 0.5 * upper.x
    bodies = [ap.Particle("upper", a, elbow), ap.Particle("lower", b, elbow + 0.4 * lower.x)]
    forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized({one: t1, two: t2}, "motors")]
    return ap.Model(ground, (one, two), bodies, forces, values={"a": 2.0, "b": 1.5}, name="arm")


def test_adaptive_law_learns_to_track(arm):
    system = ap.compile(ap.derive(arm))
    a, b = arm.parameters
    reference = {"one": sp.sin(ap.t), "two": sp.cos(2 * ap.t) / 2}
    law = SlotineLi(arm, [a, b], slope=5.0, gain=8.0, adaptation=[3.0, 3.0], guess={a: 1.0})
    run = ap.track(system, reference, law, {"one": 0.3}, until=8.0, rate=500)
    early, late = run.metrics(), run.metrics(after=6.0)
    assert late["one"]["largest"] < 0.02 * early["one"]["largest"]
    assert law.estimate["a"] == pytest.approx(2.0, rel=0.05)
    assert law.estimate["b"] == pytest.approx(1.5, rel=0.05)


def test_the_adaptive_law_knows_a_moving_base():
    """A bead in the plane of a turntable that spins up while its axle moves: all its forces by hand."""
    y, (fx, fy), spin, shift = ap.coordinates("y"), ap.inputs("fx fy"), ap.t**2, sp.sin(3 * ap.t)
    table = ground.rotate("z", spin).at(ground.point(shift, 0))
    bead = ap.Particle("bead", m, table.point(x, y))
    pushes = [ap.Force(fx * table.x + fy * table.y, bead)]
    model = ap.Model(ground, (x, y), [bead], pushes, values={m: 2.0}, name="turntable")
    law = SlotineLi(model, [m], slope=5.0, gain=8.0, adaptation=0.0, guess={m: 2.0})
    t, q, v, a = 0.7, np.array([0.3, -0.4]), np.array([1.1, 0.6]), np.array([-0.9, 2.0])
    pushed = law.inputs(t, q, v, np.zeros(0), (q, v, a))
    omega, alpha, jerked = 2 * t, 2.0, -9 * np.sin(3 * t)
    axle = jerked * np.array([np.cos(t**2), -np.sin(t**2)])
    across = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert pushed == pytest.approx(2.0 * (a + 2 * omega * across @ v + alpha * across @ q - omega**2 * q + axle))


def test_the_adaptive_law_takes_energy_from_its_errors_on_a_moving_base():
    """(s'Ms/2)' = -s'Ks at known parameters, also where the inertia changes in time: an arm that grows on a swing."""
    (one, two), (t1, t2) = ap.coordinates("one two"), ap.inputs("t1 t2")
    upper = ground.rotate("z", sp.sin(2 * ap.t)).at(ground.point(ap.t**2, 0)).pin(one)
    lower = upper.pin(two, at=(0.5 + ap.t / 4, 0, 0))
    bodies = [ap.Particle("upper", m, upper.point(0.3 + ap.t / 4, 0)), ap.Particle("lower", 1.5, lower.point(0.4, 0))]
    forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized({one: t1, two: t2})]
    model = ap.Model(ground, (one, two), bodies, forces, values={m: 2.0}, name="growing arm")
    system, law = ap.compile(ap.derive(model)), SlotineLi(model, [m], 5.0, [8.0, 3.0], 0.0, {m: 2.0})
    known, rng, t, h = ComputedTorque(model, 5.0).dynamics, np.random.default_rng(3), 0.8, 1e-5
    q, v, qh, vh, ah = rng.normal(size=(5, 2))
    w = law.inputs(t, q, v, np.zeros(0), (qh, vh, ah))
    a = system.bind(dict(zip(("t1", "t2"), w, strict=True))).accelerations(
        system.state(dict(zip(("one", "two", "one.rate", "two.rate"), [*q, *v], strict=True)), t=t)
    )

    def energy(k):
        M = known.matrices(t + k, q + k * v + k**2 / 2 * a, v + k * a, np.zeros(0))[0]
        s = v + k * a - vh - k * ah + 5.0 * (q + k * v - qh - k * vh)
        return s @ M @ s / 2

    s = v - vh + 5.0 * (q - qh)
    assert (energy(h) - energy(-h)) / (2 * h) == pytest.approx(-s @ (np.array([8.0, 3.0]) * s), rel=1e-6)


def test_predictive_control_respects_limits(arm):
    system = ap.compile(ap.derive(arm))
    reference = {"one": sp.sin(ap.t) / 2, "two": sp.cos(ap.t) / 2}
    law = MPC(arm, position=1e3, velocity=10.0, effort=1e-3, horizon=15, limits=[30.0, 12.0])
    run = ap.track(system, reference, law, {"one": 0.5}, until=3.0, rate=50)
    for name, limit in (("t1", 30.0), ("t2", 12.0)):
        assert np.max(np.abs(run.motion.columns[name])) <= limit * (1 + 1e-12)
    assert np.max(np.abs(run.motion.columns["t1"])) == pytest.approx(30.0)  # the start asks for more than there is
    assert max(entry["largest"] for entry in run.metrics(after=2.0).values()) < 3e-3


def test_predictive_control_knows_how_much_is_left_in_a_tank():
    """At each sample as if the load were what it is; a constant load would be seven times too heavy at the end."""
    load = ap.states("load", "kg")
    tanker = ap.Particle("tanker", 1 + load, ground.point(x, 0))
    push = ap.Force(u * ground.x, tanker)
    model = ap.Model(ground, x, [tanker], [push], states={load: ap.drained(-1.5, load)}, start={load: 6.0})
    run = ap.track(ap.compile(ap.derive(model)), {x: sp.sin(ap.t)}, MPC(model), {x: 0.1}, until=5.0, rate=50)
    assert run.motion.at(5.0)["load"] == 0
    assert run.metrics(after=1.0)["x"]["largest"] < 1e-4
    first = run.motion.columns["u"][0]
    full = ap.track(
        ap.compile(ap.derive(MODEL)).bind({m: 7.0}),
        {x: sp.sin(ap.t)},
        MPC(MODEL, values={m: 7.0}),
        {x: 0.1},
        until=0.1,
        rate=50,
    )
    assert first == pytest.approx(full.motion.columns["u"][0], rel=1e-9)
    sliding = ap.friction.LuGre(x, stiffness=1e3, damping=30, viscous=0.4, kinetic=1.5, static=2.0, stribeck=0.01)
    with pytest.raises(ModelError, match="friction_z of 'model' depend on the motion"):
        MPC(sliding.on(MODEL))
    with pytest.raises(ModelError, match=r"i_u of 'model' depend on the motion .* motors with inductance=0"):
        MPC(with_motors(MODEL, Motor(resistance=1.0, constant=0.1, inductance=0.002, gear=20)))


@pytest.mark.parametrize("limit", [None, 42.0])
def test_predictive_control_raises_an_arm_to_a_far_place(arm, limit):
    """The first plan lets the arm fall: a whole step of Gauss and Newton from there overshoots by far."""
    law = MPC(arm, limits=limit)
    run = ap.track(ap.compile(ap.derive(arm)), {"one": 0.5, "two": 0.2}, law, {"one": 0, "two": 0}, until=3.0, rate=20)
    assert max(entry["largest"] for entry in run.metrics(after=2.5).values()) < 1e-5


def test_gains_and_unknowns_that_are_none_are_refused():
    with pytest.raises(ModelError, match=r"rates must be a number .*, or 1 of them, in a list or by name; got 'fast'"):
        ComputedTorque(MODEL, "fast")
    with pytest.raises(ModelError, match="'z' is not a name that rates could be given for"):
        ComputedTorque(MODEL, {"z": 5})
    with pytest.raises(ModelError, match="rates says nothing about x; give a number for each name"):
        ComputedTorque(MODEL, {})
    with pytest.raises(ModelError, match="'mass' is not a parameter of 'model'"):
        SlotineLi(MODEL, ["mass"], 5.0, 20.0, 5.0)
    assert SlotineLi(MODEL, "m", 5.0, 20.0, 5.0).estimate == {"m": 0.0}


def test_starts_of_many_runs_are_an_array(cart):
    with pytest.raises(ModelError, match=r"a row for each run, x, x.rate; got \[\{'x': 0.1\}\]"):
        ap.control.track_many(cart, {x: sp.Float(0)}, ComputedTorque(MODEL, 5.0), [{"x": 0.1}], 2.0)


def test_many_runs_with_saturated_inputs_are_those_one_by_one(arm):
    """Also where one input of two has a limit, on one side only, and drives stand in another order."""
    system, path = ap.compile(ap.derive(arm)), {"one": sp.sin(ap.t) / 2, "two": sp.cos(ap.t) / 2}
    law, starts = ComputedTorque(arm, 5.0), np.array([[0.4, 0.2, 0.0, 0.0], [-0.6, 0.9, 0.3, 0.0]])
    names = [s.label for s in system.equations.states]
    free = ap.control.track_many(system, path, law, starts, 1.0)[1][-1]
    for limits in ({"t1": (-10, 25), "t2": 8}, {"t2": 3}, 15):
        errors = ap.control.track_many(system, path, law, starts, 1.0, limits=limits)[1][-1]
        assert np.max(np.abs(errors - free)) > 1e-3  # the limits were reached
        for start, error in zip(starts, errors.T, strict=True):
            run = ap.track(system, path, law, dict(zip(names, start, strict=True)), until=1.0, limits=limits)
            np.testing.assert_allclose(error, run.error.values[-1], rtol=0, atol=1e-6)
    with pytest.raises(ModelError, match=r"'t3' is not an? input that could be limited"):
        ap.control.track_many(system, path, law, starts, 1.0, limits={"t3": 5})


def test_a_mechanism_with_constraints(arm):
    """A four-bar driven at one joint: the law works along what the loop leaves free."""
    bar = ap.library.four_bar()
    q = bar.coordinates[0]
    drive = ap.inputs("drive")
    driven = bar.add(ap.Generalized({q: drive}, "motor"))
    system = ap.compile(ap.derive(driven))
    free = ap.simulate(ap.compile(ap.derive(bar)), until=1.0)
    law = ComputedTorque(driven, 8.0)
    run = ap.track(system, free, law, until=1.0)
    assert max(entry["largest"] for entry in run.metrics().values()) < 1e-8
    assert np.max(np.abs(run.motion.columns["drive"])) < 1e-6  # the free motion needs nothing


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: ap.track(s, {x: ap.t}, ComputedTorque(MODEL, 1.0)), "has no end of its own"),
        (lambda s: ap.track(s, {}, ComputedTorque(MODEL, 1.0), until=1.0), "reference is empty"),
        (lambda s: ap.track(s, {x: m}, ComputedTorque(MODEL, 1.0), until=1.0), "only appell.t may be in it"),
        (lambda s: ap.track(s, 3, ComputedTorque(MODEL, 1.0), until=1.0), "as a reference"),
        (lambda s: ap.track(s, {x: ap.t}, 3, until=1.0), "as a law"),
        (lambda s: ap.track(s, {x: ap.t}, PID(kp=1), until=1.0), "made by control.regulate"),
        (lambda s: ap.track(s, {x: ap.t}, MPC(MODEL), until=1.0), "remembers between samples"),
        (lambda s: ap.track(s, {x: ap.t}, ComputedTorque(MODEL, 1.0), until=1.0, limits=[1, 2]), "limits must be"),
        (lambda s: ComputedTorque(MODEL, [1.0, 2.0]), "rates must be"),
        (lambda s: ComputedTorque(ap.library.rolling_disk(), 1.0), "has no inputs"),
    ],
)
def test_bad_tracking(cart, call, message):
    with pytest.raises((ModelError, ControlError), match=message):
        call(cart)


@pytest.mark.parametrize("limits", [3.0, {u: 3.0}, {"u": (-3, 3)}, [3.0], [(-3, 3)]])
def test_limits_are_told_for_all_by_name_or_in_order(cart, limits):
    run = ap.track(cart, {x: 0 * ap.t}, ComputedTorque(MODEL, 5.0), {x: 1.0}, until=1.0, rate=200, limits=limits)
    assert np.max(np.abs(run.motion.columns["u"])) == 3.0
    np.testing.assert_array_equal(MPC(MODEL, limits=limits).high, [3.0])


@pytest.mark.parametrize("law", [lambda m, v: ComputedTorque(m, 20.0, values=v), lambda m, v: MPC(m, values=v)])
def test_inputs_with_given_values_are_not_commanded(law):
    load = ap.inputs("load")
    model = MODEL.add(ap.Generalized({x: load}, "load"))
    run = ap.track(
        ap.compile(ap.derive(model)).bind({load: 2.0}), {x: sp.sin(ap.t)}, law(model, {load: 2.0}), until=1.0, rate=50
    )
    assert run.drives == ("u",)
    assert run.metrics()["x"]["largest"] < 2e-2
    wrong = law(model, {load: 0.0})
    worse = ap.track(ap.compile(ap.derive(model)).bind({load: 2.0}), {x: sp.sin(ap.t)}, wrong, until=1.0, rate=50)
    np.testing.assert_allclose(run.motion.columns["u"][0], worse.motion.columns["u"][0] - 2, rtol=1e-3)
    with pytest.raises(ModelError, match=r"Every input of .* has a given value"):
        law(MODEL, {u: 0.0})


def test_too_few_inputs():
    one, two = ap.coordinates("one two")
    body = ap.Particle("body", 1.0, ground.point(one, two))
    model = ap.Model(ground, (one, two), [body], [ap.Force(u * ground.x, body)])
    with pytest.raises(ModelError, match="2 degrees of freedom and 1 independent inputs"):
        ap.track(ap.compile(ap.derive(model)), {one: 0, two: 0}, ComputedTorque(model, 1.0), until=1.0)


def test_voltages_that_act_through_currents_are_named():
    slow, fast = (with_motors(MODEL, Motor(2.0, 0.1, inductance=L, gear=10)) for L in (0.001, 0))
    system, course = ap.compile(ap.derive(slow)), {x: sp.sin(ap.t)}
    with pytest.raises(ModelError, match=r"is driven through i_u: no value of e_u .* motors with inductance=0"):
        ap.track(system, course, ComputedTorque(slow, 10.0), until=1.0)
    run = ap.track(system, course, ComputedTorque(fast, 10.0), {"i_u": 0.0}, until=2.0)
    assert run.metrics(after=1.0)["x"]["largest"] < 1e-3


CORNERS = {
    "Abs": (sp.Abs(ap.t - 1), lambda t: (abs(t - 1), np.sign(t - 1), 0)),
    "Max": (sp.Max(0, ap.t - 1) ** 2, lambda t: (max(0, t - 1) ** 2, 2 * max(0, t - 1), 2.0 * (t > 1))),
    "floor": (sp.floor(ap.t), lambda t: (np.floor(t), 0, 0)),
    "text": ("sin(2*t)", lambda t: (np.sin(2 * t), 2 * np.cos(2 * t), -4 * np.sin(2 * t))),
}


@pytest.mark.parametrize("name", CORNERS)
def test_a_reference_may_turn_corners(name):
    formula, by_hand = CORNERS[name]
    course = Reference.of({x: formula}, [x])
    times = np.array([0.3, 0.9, 1.1, 2.6])
    expected = np.array([by_hand(t) for t in times])
    np.testing.assert_allclose(np.hstack(course.at(times)), expected, rtol=0, atol=1e-14)
    np.testing.assert_allclose([np.concatenate(course(t)) for t in times], expected, rtol=0, atol=1e-14)


def test_a_reference_behind_a_corner_is_reached_again(cart):
    run = ap.track(cart, {x: sp.Abs(ap.t - 1)}, ComputedTorque(MODEL, 5.0), until=3.0)
    late = run.motion.times > 1.2
    s = run.motion.times[late] - 1  # the error begins as -2 s at the corner: e = -2 s exp(-5 s)
    np.testing.assert_allclose(run.error.values[late, 0], -2 * s * np.exp(-5 * s), rtol=0, atol=1e-9)


def test_references_limits_and_metrics_that_make_no_sense_are_refused(cart):
    law = ComputedTorque(MODEL, 5.0)
    alone = ap.track(cart, lambda t: (np.sin(t), np.cos(t), -np.sin(t)), law, until=0.5)
    assert alone.metrics()["x"]["largest"] < 1e-10
    with pytest.raises(ModelError, match="must give q, q', q'', each with 1 number; at t = 0 it gave"):
        ap.track(cart, lambda t: ([np.sin(t)], [np.cos(t)]), law, until=0.5)
    with pytest.raises(ModelError, match="'w' is not an input that could be limited"):
        ap.track(cart, {x: ap.t}, law, until=0.5, limits={"w": 3.0})
    with pytest.raises(ModelError, match=r"no errors after t = 5: the motion ended at 0\.5"):
        alone.metrics(after=5.0)
    with pytest.raises(ModelError, match=r"Only a System can be tracked, got Model; write compile\(derive\(model\)\)"):
        ap.track(MODEL, {x: ap.t}, law, until=0.5)
    with pytest.raises(ModelError, match="A controller needs a model of the mechanism, got System"):
        ComputedTorque(cart, 5.0)
    with pytest.raises(ModelError, match="guess= says where the unknowns begin, m; got mass"):
        SlotineLi(MODEL, [m], 5.0, 20.0, 5.0, guess={"mass": 1.5})


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ({x: "sin("}, r"The reference of x is no formula in t: 'sin\('"),
        ({x: None}, "The reference of x must be a number or a formula"),
        ({x: lambda t: t}, "The reference of x must be a number or a formula"),
        ({x: sp.Symbol("t")}, r"contains t; only appell\.t may be in it"),
        ({x: 0, "y": ap.t}, "'y' is not a coordinate that the law knows"),
        ({x: sp.log(ap.t - 1)}, "The reference of x has no finite value or rate at t = 0"),
    ],
)
def test_what_is_no_reference_is_said(cart, reference, words):
    with pytest.raises(ModelError, match=words):
        ap.track(cart, reference, ComputedTorque(MODEL, 5.0), until=1.0)


def test_limits_may_be_a_list_of_numbers_and_pairs(arm):
    reference = {"one": sp.sin(3 * ap.t), "two": sp.cos(3 * ap.t)}
    law = ComputedTorque(arm, 5.0)
    run = ap.track(ap.compile(ap.derive(arm)), reference, law, until=1.0, rate=50, limits=[(-2.0, 12.0), 3])
    first, second = (run.motion.columns[name] for name in ("t1", "t2"))
    assert (first.min(), first.max(), second.min(), second.max()) == (-2.0, 12.0, -3.0, 3.0)


def test_the_strength_of_inputs_cannot_be_learnt():
    """Its zero as a guess would leave nothing to drive by."""
    k = ap.parameters("k")
    geared = ap.Model(ground, x, [CART], [ap.Force(k * u * ground.x, CART)], values={m: 2.0, k: 3.0})
    with pytest.raises(ModelError, match=r"How strongly inputs act depends on k, which the law must know"):
        SlotineLi(geared, [m, k], 5.0, 20.0, 5.0)


def test_a_law_of_torques_for_a_mechanism_with_motors_is_told_what_it_needs():
    motor = Motor(resistance=1.0, constant=0.1, inductance=0.002, gear=20)
    driven = ap.compile(ap.derive(with_motors(MODEL, motor)))
    with pytest.raises(ModelError, match=r"commands u; the mechanism has no such input but e_u\. Give the law a model"):
        ap.track(driven, {x: sp.sin(ap.t)}, ComputedTorque(MODEL, 5.0), until=1.0)
    closed = ap.compile(ap.derive(MODEL).close({u: -x}))
    with pytest.raises(ModelError, match=r"no such input but none"):
        ap.track(closed, {x: sp.sin(ap.t)}, ComputedTorque(MODEL, 5.0), until=1.0)


@pytest.mark.parametrize(
    "law",
    [
        lambda v: ComputedTorque(MODEL, 5.0, values=v),
        lambda v: MPC(MODEL, values=v),
        lambda v: SlotineLi(MODEL, [m], 5.0, 20.0, 5.0, values=v),
    ],
)
def test_numbers_of_a_law_for_what_its_model_has_not_are_refused(law):
    with pytest.raises(ModelError, match=r"'mm' is not a parameter or input of 'model'\. Did you mean 'm'\?"):
        law({"mm": 1.5})


def test_inputs_of_different_strength_are_independent():
    """Three of the four act with a hundred-thousandth of the strength of the last."""
    q = ap.coordinates("a b c d")
    drives = ap.inputs("u1 u2 u3 u4")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("one", 1, ground.point(*q[:3])), ap.Particle("two", 1, ground.point(q[3], 0))]
    shares = {x: k * u for x, k, u in zip(q, (1e-5, 1e-5, 1e-5, 1.0), drives, strict=True)}
    model = ap.Model(ground, q, bodies, [ap.Generalized(shares)])
    run = ap.track(
        ap.compile(ap.derive(model)), {x: sp.sin(ap.t) for x in q}, ap.control.ComputedTorque(model, 3.0), until=0.5
    )
    assert run.metrics()["a"]["largest"] < 1e-9


def test_mpc_with_few_inputs_is_the_linear_regulator_for_small_errors(cart_with_pole):
    """Cost to go and all: the discrete regulator of the exact zero-order hold, by SciPy."""
    model, h = cart_with_pole, 0.01
    lin = ap.linearize(ap.equilibrium(model, {"x": 0, "theta": 0}))
    held = scipy.linalg.expm(h * np.block([[lin.A, lin.B], [np.zeros((1, 5))]]))
    A, B = held[:4, :4], held[:4, 4:]
    P = scipy.linalg.solve_discrete_are(A, B, np.diag([10.0, 100.0, 1.0, 1.0]), [[0.01]])
    K = np.linalg.solve(0.01 + B.T @ P @ B, B.T @ P @ A)
    law = MPC(model, position=[10, 100], velocity=1.0, effort=0.01, horizon=4)
    law.reset(h)
    x = 1e-6 * np.array([1.0, 2.0, -1.0, 0.5])
    w = law.inputs(0.0, x[:2], x[2:], np.zeros(0), tuple(np.zeros((5, 2)) for _ in range(3)))
    np.testing.assert_allclose(w, -K @ x, rtol=1e-5, atol=0)


def test_mpc_balances_a_pole_within_narrow_limits(cart_with_pole):
    model = cart_with_pole
    law = MPC(model, position=[10, 100], velocity=1.0, effort=0.01, horizon=20, limits=3.0)
    run = ap.track(ap.compile(ap.derive(model)), {"x": 0, "theta": 0}, law, {"theta": 0.15}, until=4.0, rate=30)
    assert run.metrics()["theta"]["last"] < 2e-3
    assert np.max(np.abs(run.motion.columns["force"])) == pytest.approx(3.0, abs=1e-9)  # the limit was met


def test_mpc_catches_a_pole_that_leans_far_over(cart_with_pole):
    """The gains of the regulator throw the first prediction out of all bounds."""
    model = cart_with_pole
    law = MPC(model, position=[10, 100], velocity=1.0, effort=0.01, horizon=25)
    run = ap.track(ap.compile(ap.derive(model)), {"x": 0, "theta": 0}, law, {"theta": 1.3}, until=5.0, rate=25)
    assert run.metrics()["theta"]["last"] < 2e-3


def test_mpc_under_a_constraint_holds_a_ball_on_its_beam():
    model = ap.library.ball_and_beam(tilt=-0.05)
    rest = ap.equilibrium(model, {"xi": 0.2})
    law = MPC(model, position=[1, 200, 0], velocity=[0.01, 10, 0], effort=50.0, horizon=15, limits=0.5)
    run = ap.track(
        ap.compile(ap.derive(model)), rest.positions, law, {"xi": 0.24, "theta": rest["theta"]}, until=3.0, rate=50
    )
    assert run.metrics()["xi"]["last"] < 1e-3
    assert run.motion.columns["tau"][-1] == pytest.approx(rest["tau"], rel=1e-2)


def test_mpc_does_not_brake_where_run_and_reference_end(cart):
    """The reference ends at full speed; only a run that goes on must stop there."""
    reference, law = ap.simulate(cart, {x.rate: 1.0}, until=1.0, inputs={u: 0.5}), MPC(MODEL)
    run = ap.track(cart, reference, law, rate=20)
    assert run.metrics()["x"]["largest"] < 2e-4
    assert run.motion.columns["u"].min() > 0.3
    stopped = ap.track(cart, reference, law, until=3.0, rate=20)
    assert stopped.motion.columns["u"].min() < -1
    assert abs(stopped.motion.at(3.0)[x.rate]) < 1e-4


def test_mpc_looks_ahead_along_the_constraints():
    """A bob on a ring, in Cartesian coordinates: a run that ends in full swing."""
    x, y, u, ground = *ap.coordinates("x y"), ap.inputs("u"), ap.Frame("ground")
    bob = ap.Particle("bob", 1.0, ground.point(x, y))
    model = ap.Model(
        ground, (x, y), [bob], [ap.Generalized({x: -u * y, y: u * x})], [ap.Holonomic(x**2 + y**2 - 1)], start={x: 1}
    )
    system = ap.compile(ap.derive(model))
    reference = ap.simulate(system, system.consistent({x: 1, y: 0, y.rate: 3.0}), until=1.0, inputs={u: 0})
    run = ap.track(system, reference, MPC(model, horizon=10), rate=50)
    assert max(entry["largest"] for entry in run.metrics().values()) < 1e-4
    assert np.max(np.abs(run.motion.columns["u"])) < 0.05


def test_mpc_says_what_it_cannot_predict():
    driven = ap.control.with_motors(ap.library.ball_and_beam(), ap.control.Motor(18.91, 0.1491, 0.01))
    with pytest.raises(
        ModelError,
        match=r"i_tau of 'ball and beam' depend on the motion.* Give it a model with the same inputs without",
    ):
        MPC(driven)
