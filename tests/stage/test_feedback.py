"""Feedback, observers, motors, and what is said when they cannot work."""

import re

import numpy as np
import pytest
import scipy.linalg
import sympy as sp

import appell as ap
from appell.analysis.roots import in_words
from appell.control import Motor
from appell.control.placement import placed_gain
from appell.control.riccati import cheapest_rest, optimal, optimal_held, riccati
from appell.errors import ControlError, ModelError


@pytest.fixture(scope="module")
def crank():
    return ap.linearize(ap.equilibrium(ap.library.slider_crank(), {"theta": 0.3}), dependent=["phi", "x_s"])


@pytest.fixture(scope="module")
def beam():
    return ap.linearize(ap.equilibrium(ap.library.ball_and_beam(), {"xi": 0.2}), dependent=["alpha"])


def two_masses(same):
    """Two masses on springs, one force on the first: the second is reached only by the coupling."""
    x, y = ap.coordinates("x y")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("one", 1, ground.point(x, 0)), ap.Particle("two", 1, ground.point(0, y))]
    springs = ap.Potential(x**2 / 2 - 2 * y**2 + (0 if same else x * y))
    return ap.Model(ground, (x, y), bodies, [springs, ap.Generalized({x: f})], name="two masses")


def test_weights_by_name_diagonal_and_matrix_are_the_same(crank):
    forms = ({"theta": 3, "theta.rate": 0.5}, [3, 0.5], np.diag([3, 0.5]))
    gains = [ap.control.lqr(crank, Q, 2.0).K for Q in forms]
    np.testing.assert_array_equal(gains[0], gains[1])
    np.testing.assert_array_equal(gains[0], gains[2])


def test_laws_are_written_as_by_hand(beam):
    feedback = ap.control.lqr(beam, [1, 200, 0.01, 10], 50)
    law = repr(feedback).splitlines()[1]
    assert re.fullmatch(
        r"  tau = 0\.0789\d* - 0\.\d+ theta \+ 2\.\d+ \(xi - 0\.2\) - \S+ theta\.rate \+ \S+ xi\.rate", law
    )
    loop = ap.control.output_feedback(feedback, ap.control.luenberger(beam, ["theta", "xi"], [-30, -31, -32, -33]))
    assert repr(loop).startswith("output feedback: feedback on theta, xi")


def test_the_riccati_solution_is_a_lyapunov_function(beam):
    feedback = ap.control.lqr(beam, [1, 200, 0.01, 10], 50)
    S, A = feedback.S, feedback.A
    assert np.all(np.linalg.eigvalsh(S) > 0)
    left = A.T @ S + S @ A + np.diag([1, 200, 0.01, 10]) + 50 * feedback.K.T @ feedback.K
    np.testing.assert_allclose(left, 0, rtol=0, atol=1e-10 * np.max(np.abs(S @ A)))


@pytest.mark.parametrize(
    ("Q", "R", "message"),
    [
        ([-1, 1], 1, "Q must be positive semidefinite.*-1, along theta"),
        (1, -2, "R must be positive definite"),
        (1, 0, "R must be positive definite"),
        ([1, 1, 1], 1, "2 entries: theta, theta.rate"),
        ([[1, 2], [0, 1]], 1, "not symmetric"),
        ({"phy": 1}, 1, "'phy' is not a quantity"),
        ({"m_s": 1}, 1, "m_s does not change with the states"),
        ({"phi": -1}, 1, "phi has the weight -1, which is negative"),
        (float("inf"), 1, "not finite"),
        (None, 1, "Q must be a number, numbers by name, a list or a matrix; got None"),
    ],
)
def test_bad_weights_are_refused(crank, Q, R, message):
    with pytest.raises((ControlError, ModelError), match=message):
        ap.control.lqr(crank, Q, R)


def test_an_unreachable_unstable_mode_is_named():
    lin = ap.linearize(ap.equilibrium(two_masses(same=True), {"x": 0.0}))
    with pytest.raises(ControlError, match=r"cannot be stabilised by f, which does not reach root 2 .*y"):
        ap.control.lqr(lin)
    with pytest.raises(ControlError, match=r"not controllable: .*y"):
        ap.control.place(lin, [-1, -2, -3, -4])
    reach = ap.control.controllability(lin)
    assert (reach.rank, reach.complete, reach.enough) == (2, False, False)
    with pytest.raises(ControlError, match=r"^f alone does not control the system; missed is root -2: "):
        ap.control.smallest_actuators(lin)
    coupled = ap.linearize(ap.equilibrium(two_masses(same=False), {"x": 0.0}))
    assert ap.control.lqr(coupled).certificate.verdict.name == "ASYMPTOTIC"


def satellite():
    """A body that turns freely, with a wheel that a motor turns on it."""
    yaw, spin, u = *ap.coordinates("yaw spin"), ap.inputs("u")
    ground = ap.Frame("ground")
    frame = ground.pin(yaw)
    rotor = frame.pin(spin)
    bodies = [
        ap.RigidBody("body", 1, frame.origin, frame, [2] * 3),
        ap.RigidBody("wheel", 1, rotor.origin, rotor, [0.1] * 3),
    ]
    return ap.Model(ground, (yaw, spin), bodies, [ap.Torque(u * frame.z, bodies[1], bodies[0])], name="satellite")


def test_a_wheel_holds_what_turns_freely():
    lin = ap.linearize(ap.equilibrium(satellite(), {"yaw": 0}), ignore=["spin"])
    assert ap.stability(lin).verdict.name == "UNSTABLE"
    feedback = ap.control.lqr(lin, {"yaw": 1, "yaw.rate": 1})
    assert feedback.certificate.verdict.name == "FAMILY"
    motion = ap.simulate(feedback.system, feedback.start({"yaw.rate": 0.1}), until=400.0)
    assert motion.at(400.0)["yaw.rate"] == pytest.approx(0, abs=1e-6)


def test_wanted_roots_are_placed(beam):
    wanted = [-2.0, -3.0, -4 + 1j, -4 - 1j]
    feedback = ap.control.place(beam, wanted)
    np.testing.assert_allclose(np.sort_complex(feedback.roots), np.sort_complex(np.array(wanted)), rtol=1e-7, atol=0)
    assert np.all(np.linalg.eigvalsh(feedback.S) > 0)
    for roots, message in ([[-1, -2, -3], "4 roots"], [[-1, -2, -3, -4 + 1j], "pairs"]):
        with pytest.raises(ControlError, match=message):
            ap.control.place(beam, roots)


def test_roots_placed_by_several_inputs_are_met_to_all_digits():
    """A trolley with a load on a rope that a winch shortens: swing and height do not know of each other."""
    A = np.zeros((6, 6))
    A[:3, 3:], A[3, :2], A[4, :2] = np.eye(3), [-3.27, 3.27], [6.54, -6.54]
    B = np.zeros((6, 2))
    B[3, 1], B[5, 0] = 0.5, -2 / 3
    wanted = np.array([-6.0, -5, -4, -3, -2, -1])
    K = placed_gain(A, B, wanted, tuple("abcdef"), ap.control.controllability(A, B), None)
    np.testing.assert_allclose(np.sort(np.linalg.eigvals(A - B @ K).real), wanted, rtol=1e-11)


def test_a_root_may_be_wanted_several_times(beam):
    """By one input, by as many as there are roots, and by fewer."""
    for wanted in ([-3.0] * 4, [-2 + 1j, -2 - 1j] * 2):
        feedback = ap.control.place(beam, wanted)
        np.testing.assert_allclose(np.poly(feedback.A), np.poly(wanted).real, rtol=1e-8, atol=0)
    delta = ap.linearize(ap.equilibrium(ap.library.delta_robot(), {"x": 0, "y": 0, "z": -0.9}))
    thrice = ap.control.place(delta, [-4.0] * 3 + [-5.0] * 3)
    np.testing.assert_allclose(thrice.roots, [-5] * 3 + [-4] * 3, rtol=1e-6, atol=0)
    twice = [-4.0, -3, -2] * 2  # as often as there are inputs, and no set of independent eigenvectors is found
    for wanted in (twice, [-4.0] * 4 + [-5.0] * 2, [-3.0] * 6, [-2 + 1j, -2 - 1j] * 2 + [-2.0] * 2):
        feedback = ap.control.place(delta, wanted, inputs=["tau1", "tau2"])
        np.testing.assert_allclose(np.poly(feedback.A), np.poly(wanted).real, rtol=1e-7, atol=0)
    A, B = np.kron(np.eye(2), np.eye(3, k=1)), np.kron(np.eye(2), np.eye(3)[:, [2]])  # two triple integrators
    with pytest.raises(ControlError, match=r"chains of 3, 3 states.*need a real root, got 0"):
        placed_gain(A, B, [-2 + 1j, -2 - 1j] * 3, tuple("abcdef"), ap.control.controllability(A, B), None)


def test_saturation_keeps_inputs_within_limits(beam):
    feedback = ap.control.lqr(beam, [1, 200, 0.01, 10], 50).saturated({"tau": 0.1})
    motion = ap.simulate(feedback.system, feedback.start({"xi": 0.03}), until=4.0)
    (law,) = feedback.laws.values()
    tau = motion[law].values
    assert np.max(np.abs(tau)) <= 0.1 + 1e-12
    assert np.max(np.abs(tau)) == pytest.approx(0.1, abs=1e-9)
    assert motion.columns["xi"][-1] == pytest.approx(0.2, abs=5e-3)
    with pytest.raises(ControlError, match="holding value"):
        feedback.saturated({"tau": 0.01})


def test_one_sensor_is_enough_for_the_ball(beam):
    theta, xi, alpha = beam.model.coordinates
    assert len(ap.control.smallest_sensors(beam, [theta, xi, alpha])[0]) == 1
    observer = ap.control.luenberger(beam, [xi], [-8, -9, -10, -11])
    np.testing.assert_allclose(observer.roots, [-11, -10, -9, -8], rtol=1e-6, atol=0)
    loop = ap.control.output_feedback(ap.control.lqr(beam, [1, 200, 0.01, 10], 50), observer)
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(loop.A)), np.sort_complex(loop.roots), rtol=1e-5, atol=0
    )
    closed = ap.linearize(loop.system, loop.system.state(beam.at.state.to_dict()), dependent=["alpha"])
    np.testing.assert_allclose(np.sort_complex(closed.eigenvalues), np.sort_complex(loop.roots), rtol=1e-5, atol=0)
    assert ap.stability(closed).verdict.name == "ON_CONSTRAINTS"
    motion = ap.simulate(loop.system, loop.start({"xi": 0.005}), until=8.0)
    assert motion.columns["xi"][-1] == pytest.approx(0.2, abs=1e-5)


def test_a_kalman_filter_solves_its_riccati_equation(beam):
    observer = ap.control.kalman(beam, ["theta", "xi"], process=[0.1, 0.1, 1, 1], noise=[1e-3, 1e-4])
    assert np.all(observer.roots.real < 0)
    dual = ap.control.controllability(beam.A.T, observer.C.T)
    assert dual.complete


def test_what_measurements_do_not_show_is_named():
    lin = ap.linearize(ap.equilibrium(two_masses(same=True), {"x": 0.0}))
    with pytest.raises(ControlError, match=r"x does not show root 2 .*y"):
        ap.control.kalman(lin, ["x"])
    assert ap.control.smallest_sensors(lin, ["x", "y", "x.rate"])[0][:1] == ("x",)


def test_a_motor_on_a_dependent_coordinate_is_the_motor_on_its_shaft():
    """The shaft turns with the body that the torque acts on, whatever the independent coordinates are."""
    motor = Motor(resistance=2.0, constant=0.05, inductance=0.004, gear=30)
    model = ap.control.with_motors(ap.library.slider_crank(), motor)
    rest = ap.equilibrium(model, {"theta": 0.8}, starts=3)
    torque = ap.equilibrium(ap.library.slider_crank(), {"theta": 0.8}, starts=3)["tau"]
    assert rest["i_tau"] == pytest.approx(torque / 1.5, rel=1e-12)
    assert rest["e_tau"] == pytest.approx(2 * torque / 1.5, rel=1e-12)
    one, two = (ap.linearize(rest, dependent=s) for s in (["phi", "x_s"], ["theta", "x_s"]))
    np.testing.assert_allclose(one.eigenvalues, two.eigenvalues, rtol=1e-9, atol=0)
    slope = float(two.blocks.B0[list(two.blocks.dependent).index("theta"), 0])
    back = two.A[list(two.states).index("i_tau"), list(two.states).index("phi.rate")]
    assert back == pytest.approx(-0.05 * 30 / 0.004 * slope, rel=1e-12)


def test_a_motor_between_two_bodies_feels_their_relative_turn():
    a, b = ap.coordinates("a b")
    tau = ap.inputs("tau")
    ground = ap.Frame("ground")
    first = ground.rotate("z", a)
    second = first.rotate("z", b)
    one = ap.RigidBody("one", 1, ground.point(0, 0), first, (0, 0, 1))
    two = ap.RigidBody("two", 1, ground.point(0, 0), second, (0, 0, 1))
    model = ap.Model(ground, (a, b), [one, two], [ap.Torque(tau * ground.z, two, one)])
    driven = ap.control.with_motors(model, {tau: Motor(resistance=2, constant=3, inductance=5)})
    ((current, rate),) = driven.states.items()
    (e,) = driven.inputs
    assert sp.expand(rate - (e - 2 * current - 3 * b.rate) / 5) == 0


def test_a_motor_without_inductance_has_no_current():
    model = ap.control.with_motors(ap.library.slider_crank(), Motor(resistance=2, constant=0.1, gear=10))
    assert not model.states
    assert ap.equilibrium(model, {"theta": 1.0}, starts=2)["e_tau"] == pytest.approx(-0.559391938 * 2, rel=1e-8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda m: ap.control.with_motors(m, {"force": Motor(1, 1)}), "not an input of 'slider-crank'"),
        (lambda m: Motor(resistance=0, constant=1), "resistance of a motor must be positive"),
        (lambda m: Motor(resistance=1, constant=1, inductance=-1), "inductance of a motor must be positive"),
    ],
)
def test_bad_motors_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make(ap.library.slider_crank())


def test_suggested_voltages_hold_the_suggested_torques():
    """A driven model can be brought to rest without a wish, as the model without motors."""
    motor = ap.control.Motor(resistance=1.0, constant=0.05, inductance=1e-3, gear=20)
    bare = ap.library.five_bar()
    driven = ap.control.with_motors(bare, motor)
    rest, held = ap.equilibrium(driven), ap.equilibrium(bare)
    for name in ("theta1", "theta2", "x", "y"):
        assert rest[name] == pytest.approx(held[name], rel=1e-9, abs=1e-12)
    assert rest["e_tau1"] == pytest.approx(1.0 / (0.05 * 20) * held["tau1"], rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_riccati_equation_beside_scipy(seed):
    """Random pairs, badly scaled weights: the same solution, and a residual of rounding."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    A, B = rng.normal(size=(n, n)), rng.normal(size=(n, m))
    half = rng.normal(size=(n, n))
    Q, R = 10.0 ** rng.integers(-4, 5) * (half @ half.T + np.eye(n)), 10.0 ** rng.integers(-3, 4) * np.eye(m)
    S = riccati(A, B, Q, R)
    np.testing.assert_allclose(S, scipy.linalg.solve_continuous_are(A, B, Q, R), rtol=1e-7, atol=1e-9 * np.max(S))
    left = A.T @ S + S @ A - S @ B @ np.linalg.solve(R, B.T @ S) + Q
    assert np.max(np.abs(left)) < 1e-10 * np.max(np.abs(S)) * max(1.0, np.max(np.abs(A)) ** 2, np.max(np.abs(Q)))
    assert np.max(np.linalg.eigvals(A - B @ np.linalg.solve(R, B.T @ S)).real) < 0


@pytest.mark.parametrize("units", [(1e-6, 1e-9, 1e-3), (1e-9, 1e-15, 1e-6), (1e6, 1e9, 1e3)])
def test_riccati_equation_in_units_of_length_mass_and_time(units):
    """A trolley with a load on a rope that a winch shortens, as a crane and as a microscopic one."""
    length, mass, time = units
    A, B = np.zeros((6, 6)), np.zeros((6, 2))
    A[:3, 3:], A[3, :2], A[4, :2], B[3, 1], B[5, 0] = np.eye(3), [-3.27, 3.27], [6.54, -6.54], 0.5, -2 / 3
    K = B.T @ riccati(A, B, np.eye(6), np.eye(2))
    x, force = np.repeat([length, length / time], 3), mass * length / time**2
    A, B = A / time * x[:, None] / x, B / time * x[:, None] / force
    Q, R = np.diag(1 / x**2) / time, np.eye(2) / force**2 / time
    found = np.linalg.solve(R, B.T @ riccati(A, B, Q, R))
    np.testing.assert_allclose(found * x / force, K, rtol=0, atol=1e-10)


def test_riccati_equation_without_a_stabilising_solution():
    """An oscillation that Q does not weigh and an integrator that no input reaches."""
    swing = np.array([[0.0, 1.0], [-4.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError):
        riccati(swing, np.array([[0.0], [1.0]]), np.zeros((2, 2)), np.eye(1))


def pushed_apart(stiffness=-2.0):
    """A cart with a mass that is pushed away from it: nothing reaches the momentum of both, nor their place."""
    a, d = ap.coordinates("a d")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("cart", 1, ground.point(a, 0)), ap.Particle("mass", 2, ground.point(a + d, 0))]
    forces = [ap.Potential(stiffness * (d - 1) ** 2 / 2), ap.Generalized({d: f})]
    return ap.equilibrium(ap.Model(ground, (a, d), bodies, forces, values={f: 0.0}, start={d: 1.0}, name="carts"))


def test_a_place_that_no_input_reaches_is_named():
    rest = pushed_apart()
    with pytest.raises(ControlError, match=r"root 0 \(1 a.rate \+0.667 d.rate\) is not reached.*ignore=\['a'\]"):
        ap.control.lqr(ap.linearize(rest))
    assert ap.control.lqr(ap.linearize(rest, ignore="a")).certificate.verdict.name == "FAMILY"


def test_an_observer_works_where_a_coordinate_is_left_out():
    lin = ap.linearize(pushed_apart(), ignore=["a"])
    loop = ap.control.output_feedback(ap.control.lqr(lin), ap.control.kalman(lin, ["d", "a.rate"]))
    motion = ap.simulate(loop.system, loop.start({"d": 0.05}), until=25.0)
    assert motion.columns["d"][-1] == pytest.approx(1.0, abs=1e-6)
    with pytest.raises(ControlError, match="a is not a state of this linearisation"):
        ap.control.kalman(lin, ["a"])


def test_weights_that_are_too_far_apart_are_the_reason_themselves():
    lin = ap.linearize(ap.equilibrium(ap.library.cart_lever_pendulum()))
    with pytest.raises(ControlError, match=r"states and inputs are 1e\+\d+ to 1\. Give the inputs more weight\."):
        ap.control.lqr(lin, 1e40, 1.0)


def test_a_mode_that_is_hardly_reached_is_named():
    """Two pendula of almost the same length on a cart."""
    s, p, q = ap.coordinates("s p q")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    ends = [ground.point(s + l * sp.sin(e), l * sp.cos(e)) for e, l in ((p, 0.5), (q, 0.5000001))]
    bodies = [ap.Particle("cart", 1, ground.point(s, 0)), *(ap.Particle(f"bob{i}", 0.1, e) for i, e in enumerate(ends))]
    model = ap.Model(ground, (s, p, q), bodies, [ap.Gravity(-9.81 * ground.y), ap.Generalized({s: f})])
    lin = ap.linearize(ap.equilibrium(model, {"s": 0.0}, starts=1))
    with pytest.raises(ControlError, match=r"f hardly reaches root 4\.429.*margin 9\.1e-08"):
        ap.control.lqr(lin)


def test_what_the_weights_leave_out_is_named(crank):
    free = ap.linearize(pushed_apart(stiffness=2.0), ignore=["a"])
    with pytest.raises(ControlError, match=r"Q gives no weight to root 0 ± 1\.732"):
        ap.control.lqr(free, 0.0)


def test_missed_modes_keep_their_names():
    """States that are called like entries of a vector, in another order."""
    x2, x1 = ap.coordinates("x2 x1")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    bodies = [ap.Particle("one", 1, ground.point(x2, 0)), ap.Particle("two", 1, ground.point(x1, 1))]
    springs = ap.Potential(2 * x2**2 - 3 * x1**2 / 2)
    model = ap.Model(ground, (x2, x1), bodies, [springs, ap.Generalized({x2: f})])
    lin = ap.linearize(ap.equilibrium(model, {"x2": 0.0}))
    with pytest.raises(ControlError, match=r"root 1\.73205081 \(1 x1 \+0\.577 x1\.rate\)\.$"):
        ap.control.place(lin, [-1, -2, -3, -4])


def test_one_name_is_as_good_as_a_list(beam):
    tau = beam.model.inputs[0]
    rest = beam.at
    for one in ("tau", tau):
        np.testing.assert_array_equal(ap.linearize(rest, dependent="alpha", inputs=one).B, beam.B)
        assert ap.control.controllability(beam, inputs=one).complete
        assert ap.control.lqr(beam, inputs=one).K.shape == (1, 4)
    assert ap.control.observability(beam, "xi").complete
    assert ap.control.smallest_sensors(beam, "xi") == (("xi",),)
    with pytest.raises(ControlError, match=r"no measurements to choose from.*smallest_sensors\(lin, lin.states\)"):
        ap.control.smallest_sensors(beam, [])
    assert beam.to_scipy("xi").C.shape == (1, 4)


@pytest.mark.parametrize("limit", [-1, "much", (1, -1), (0, 1, 2), float("nan")])
def test_limits_that_are_none_are_refused(beam, limit):
    with pytest.raises(ControlError, match=r"limit of tau must be a positive number, or a pair"):
        ap.control.lqr(beam).saturated({"tau": limit})


def test_what_is_shown_has_limits_and_no_traces_of_rounding(beam):
    feedback = ap.control.lqr(beam, [1, 200, 0.01, 10], 50)
    assert "; from " not in repr(feedback)
    assert "; from -0.1 to 0.2\n" in repr(feedback.saturated({"tau": (-0.1, 0.2)}))
    assert in_words(np.array([-3.0, 9.79e-22 - 1.37e-15j, 1e-16 + 2j])) == "-3, 0, 0+2i"


def test_limits_may_be_a_list(beam):
    assert ap.control.lqr(beam).saturated(2).limits == {"tau": (-2.0, 2.0)}
    assert ap.control.lqr(beam).saturated({"tau": [-1, 2]}).limits == {"tau": (-1.0, 2.0)}


@pytest.mark.parametrize(("roots", "message"), [(["a", -1, -2, -3], "numbers"), ([np.nan, -1, -2, -3], "finite")])
def test_roots_that_are_no_numbers_are_refused(beam, roots, message):
    with pytest.raises(ControlError, match=message):
        ap.control.place(beam, roots)


def test_a_current_does_not_replace_a_state_of_the_same_name():
    x = ap.coordinates("x")
    tau, i = ap.inputs("tau"), ap.states("i_tau")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Generalized({x: tau - i})], states={i: -i}, name="body")
    with pytest.raises(ModelError, match=r"i_tau is an extra state of 'body' already, with the rate -i_tau"):
        ap.control.with_motors(model, Motor(resistance=2, constant=0.1, inductance=0.01))
    with pytest.raises(ModelError, match="no input that a motor could drive"):
        ap.control.with_motors(ap.library.pendulum_chain(), Motor(resistance=2, constant=0.1))
    with pytest.raises(ModelError, match=r"Got 3; give a motor for tau, control\.Motor\(resistance="):
        ap.control.with_motors(ap.library.slider_crank(), {"tau": 3})


@pytest.fixture(scope="module")
def bicycle():
    """The benchmark bicycle at 3 m/s, where it falls by itself, with a torque on the steer."""
    model = ap.library.bicycle()
    steer = next(q for q in model.coordinates if q.label == "steer")
    system = ap.compile(ap.derive(model.add(ap.Generalized({steer: ap.inputs("T")})))).bind({"T": 0.0})
    guess = {"spin_r.rate": -10.0, "spin_f.rate": -3 / 0.35}
    return ap.equilibrium(system, {"x.rate": 3.0}, inputs=["spin_r.rate", "spin_f.rate"], guess=guess, starts=1)


def test_the_steer_brings_a_bicycle_back_to_its_line(bicycle):
    """The speed is not reached by the steer; traces of rounding in its place once spoilt the scales of the others."""
    lin = ap.linearize(bicycle)
    assert {"y", "yaw"} <= set(lin.states)
    feedback = ap.control.lqr(lin)
    assert np.sum(feedback.roots.real > -0.5) == 1  # the speed
    motion = ap.simulate(feedback.system, feedback.start({"y": 0.1}), until=12.0)
    np.testing.assert_allclose([motion.columns[s][-1] for s in ("y", "yaw", "lean")], 0, rtol=0, atol=1e-4)


def test_steady_motions_under_feedback_may_form_a_family(bicycle):
    proof = ap.control.lqr(ap.linearize(bicycle, ignore=["y", "yaw"])).certificate
    assert proof.verdict.name == "FAMILY"
    assert (proof.family_zeros, proof.zeros, proof.zeros_found) == (1, 2, 2)
    assert all(condition.holds for condition in proof.conditions)


def test_what_to_ignore_is_as_little_as_will_do():
    x, y = ap.coordinates("x y")
    u = ap.inputs("u")
    ground = ap.Frame("ground")
    model = ap.Model(ground, (x, y), [ap.Particle("P", 1.0, ground.point(x, y))], [ap.Generalized({x: u})], name="P")
    rest = ap.equilibrium(model, {x: 0, y: 0})
    with pytest.raises(ControlError, match=r"ignore=\['y'\]"):
        ap.control.lqr(ap.linearize(rest))
    with pytest.raises(ControlError, match=r"ignore=\['x', 'y'\]"):
        ap.control.lqr(ap.linearize(rest, ignore=["x"]))
    np.testing.assert_allclose(
        ap.control.lqr(ap.linearize(rest, ignore=["x", "y"])).K, [[1.0, 0.0]], rtol=0, atol=1e-12
    )


def test_inputs_that_move_nothing_are_refused(beam):
    with pytest.raises(ControlError, match="No input is left to control 'ball and beam' by; it has: tau"):
        ap.control.lqr(beam, inputs=[])
    x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("P", 1.0, ground.point(x, 0))], [ap.Generalized({x: u**2})])
    with pytest.raises(ControlError, match="u moves nothing in the first approximation: B = 0"):
        ap.control.lqr(ap.linearize(ap.equilibrium(model, {x: 0})))


def test_relations_that_rolling_leaves_are_no_obstacle():
    """A balancing robot: x and yaw go with the wheels' angles for ever, y with nothing; the rest is as by SciPy."""
    x, y, yaw, theta, left, right = ap.coordinates("x y yaw theta left right")
    tl, tr = ap.inputs("tl tr")
    ground = ap.Frame("ground")
    plane = ground.rotate("z", yaw)
    axle, frames = ground.point(x, y, 0.1), [plane.rotate("y", angle) for angle in (theta, left, right)]
    body = ap.RigidBody("body", 5.0, axle + 0.4 * frames[0].z, frames[0], [0.3, 0.3, 0.05])
    hubs = [axle + 0.15 * plane.y, axle - 0.15 * plane.y]
    wheels = [ap.RigidBody(f"wheel {i}", 0.5, hubs[i], frames[i + 1], [0.002, 0.004, 0.002]) for i in (0, 1)]
    model = ap.Model(
        ground, (x, y, yaw, theta, left, right), [body, *wheels],
        [ap.Gravity(-9.81 * ground.z), ap.Generalized({left: tl, right: tr, theta: -tl - tr})],
        constraints=[ap.Rolling(w, hub - 0.1 * ground.z) for w, hub in zip(wheels, hubs, strict=True)], name="robot",
    )  # fmt: skip
    lin = ap.linearize(ap.equilibrium(model, {theta: 0}, starts=2))
    assert len(lin.states) == 9
    feedback = ap.control.lqr(lin)
    Z = scipy.linalg.orth(np.hstack([lin.A, lin.B]), rcond=1e-9)
    A, B = Z.T @ lin.A @ Z, Z.T @ lin.B
    S = scipy.linalg.solve_continuous_are(A, B, np.eye(6), np.eye(2))
    expected = np.sort_complex(np.concatenate([np.linalg.eigvals(A - B @ B.T @ S), np.zeros(3)]))
    np.testing.assert_allclose(np.sort_complex(feedback.roots), expected, rtol=1e-7, atol=1e-8)
    assert feedback.certificate.verdict.name == "FAMILY"


def rolling_cart():
    """A cart whose wheel rolls: place and angle stay apart by what they were apart at the start."""
    x, phi, push = *ap.coordinates("x phi", "m rad"), ap.inputs("push", "N")
    ground = ap.Frame("ground")
    cart = ap.RigidBody("wheel", 1, ground.point(x, 0.5), ground.rotate("z", -phi), (0, 0, 0.1))
    rolling = ap.Nonholonomic(x.rate - phi.rate / 2, "rolling")
    return ap.Model(ground, (x, phi), [cart], [ap.Force(push * ground.x, cart)], [rolling], name="cart")


@pytest.mark.parametrize("rate", [None, 50.0])
@pytest.mark.parametrize(("weighed", "other"), [("x", "phi"), ("phi", "x")])
def test_what_is_weighed_returns_where_rolling_ties_it_to_something_else(weighed, other, rate):
    system = ap.compile(ap.derive(rolling_cart()))
    lin = ap.linearize(ap.equilibrium(system, {"x": 0, "phi": 0}))
    feedback = ap.control.lqr(lin, {weighed: 1.0, "x.rate": 0.5}, 0.1, rate=rate)
    assert abs(feedback.K[0, lin.states.index(other)]) < 1e-9
    if rate is None:
        start = {"x": 0.3, "phi": -0.2}
        motion = ap.simulate(ap.compile(feedback.close(system.equations)), start, until=30.0, progress=False)
        assert abs(motion[weighed][-1]) < 1e-6
        assert abs(motion[other][-1]) > 0.1
        gaps = np.array([motion[s].values for s in lin.states])  # what is left to pay falls all the time
        assert np.all(np.diff(np.einsum("it,ij,jt->t", gaps, feedback.S, gaps)) < 1e-12)


@pytest.mark.parametrize("rate", [None, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_cheapest_rest_is_what_optimal_feedback_leads_to_as_what_stays_decays_ever_slower(seed, rate):
    rng = np.random.default_rng(seed)
    n, m, k, slow = 4, 2, 2, 1e-7
    A, B, E = rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n, k))
    root = rng.normal(size=(n + k, n + k))
    W, R = root @ root.T, np.diag([0.5, 2.0])
    design = (lambda *given: optimal(*given)) if rate is None else (lambda *given: optimal_held(*given, rate))
    K = design(A, B, W[:n, :n], R)[1]
    x, u = cheapest_rest(A, B, W[:n, :n], R, E, W[:n, n:])
    np.testing.assert_allclose(A @ x + B @ u + E, 0, atol=1e-12)
    whole = np.block([[A, E], [np.zeros((k, n)), -slow * np.eye(k)]])
    limit = design(whole, np.vstack([B, np.zeros((k, m))]), W, R)[1]
    np.testing.assert_allclose(np.hstack([K, -K @ x - u]), limit, rtol=0, atol=1e-4 * np.abs(limit).max())


def test_notebooks_show_tables_of_equilibria_linearisations_and_feedbacks(beam):
    feedback = ap.control.lqr(beam, [1, 200, 0.01, 10], 50)
    for thing, words in (
        (beam.at, ["equilibrium of", "multiplier", "<td", "tau"]),
        (beam, ["linearisation of", "roots", "theta.rate"]),
        (feedback, ["feedback for ball and beam", "holding", "roots of the closed loop"]),
        (feedback.saturated(0.3), ["limits", "-0.3 to 0.3"]),
    ):
        page = thing._repr_html_()
        assert page.count("<table>") == 1
        for word in words:
            assert word in page
