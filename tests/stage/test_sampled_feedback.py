"""Feedback for a digital controller: gains for held inputs, observers in samples, the critical case of zero roots."""

import numpy as np
import pytest
import scipy.integrate
import scipy.linalg
import scipy.signal

import appell as ap
from appell.analysis.certificate import Verdict
from appell.analysis.sampling import differences, exponents, held, held_cost
from appell.errors import ControlError, ModelError

WEIGHTS = {"theta": 1, "xi": 200, "theta.rate": 0.01, "xi.rate": 10}


@pytest.fixture(scope="module")
def beam():
    rest = ap.equilibrium(ap.library.ball_and_beam(tilt=-0.05), {"xi": 0.2})
    return ap.linearize(rest, dependent=["alpha"])


@pytest.fixture(scope="module")
def digital(beam):
    return ap.control.lqr(beam, WEIGHTS, 50, rate=20)


def cart():
    x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("cart", 2.0, ground.point(x, 0))], [ap.Generalized({x: u})], name="cart")
    return ap.linearize(ap.equilibrium(model, {x: 0.0}))


def summed(function, until):
    """The integral of a matrix."""
    return scipy.integrate.quad_vec(function, 0.0, until, epsabs=0, epsrel=1e-13)[0]


def test_held_inputs_are_those_of_scipy(beam):
    Phi, Gamma = held(beam.A, beam.B, 20)
    nothing = np.zeros((4, 1))
    expected = scipy.signal.cont2discrete((beam.A, beam.B, np.eye(4), nothing), 1 / 20)
    np.testing.assert_allclose(Phi, expected[0], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(Gamma, expected[1], rtol=1e-12, atol=1e-14)
    A, B = differences(beam.A, beam.B, 20)
    np.testing.assert_allclose(A, 20 * (Phi - np.eye(4)), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(B, 20 * Gamma, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(differences(beam.A, beam.B, 1e12)[0], beam.A, rtol=1e-8, atol=1e-9)  # none lost
    np.testing.assert_allclose(
        np.sort_complex(exponents(np.linalg.eigvals(A), 20)), np.sort_complex(beam.eigenvalues), rtol=1e-10
    )


def test_the_cost_between_samples_is_the_integral(beam):
    Q, R, h = np.diag([1.0, 200, 0.01, 10]), np.array([[50.0]]), 1 / 20

    def cost(t):
        at = np.hstack(held(beam.A, beam.B, 1 / t)) if t else np.hstack([np.eye(4), np.zeros((4, 1))])
        return at.T @ Q @ at + scipy.linalg.block_diag(np.zeros((4, 4)), R)

    expected = summed(cost, h)
    states, inputs, both = held_cost(beam.A, beam.B, Q, R, 20)
    found = np.block([[states, both], [both.T, inputs]])
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_gains_are_those_of_the_discrete_riccati_equation(beam, digital):
    states, inputs, both = held_cost(beam.A, beam.B, np.diag([1.0, 200, 0.01, 10]), np.array([[50.0]]), 20)
    A, B = held(beam.A, beam.B, 20)
    S = scipy.linalg.solve_discrete_are(A, B, states, inputs, s=both)
    K = np.linalg.solve(inputs + B.T @ S @ B, B.T @ S @ A + both.T)
    np.testing.assert_allclose(digital.K, K, rtol=1e-8)
    np.testing.assert_allclose(digital.S, S, rtol=1e-8)
    assert np.max(np.abs(digital.roots)) < 1


def test_gains_tend_to_the_continuous_ones(beam):
    slow, fast = (ap.control.lqr(beam, WEIGHTS, 50, rate=rate) for rate in (1e3, 1e4))
    exact = ap.control.lqr(beam, WEIGHTS, 50)
    gaps = [np.max(np.abs(e.K / exact.K - 1)) for e in (slow, fast)]
    assert gaps[1] < 3e-3
    assert gaps[1] == pytest.approx(gaps[0] / 10, rel=0.1)
    np.testing.assert_allclose(fast.certificate.roots, exact.roots, rtol=1e-2)


def test_roots_are_those_of_the_sampled_nonlinear_loop(beam, digital):
    """One sample of the mechanism under its lever, from starts a little beside the equilibrium."""
    step, columns = 1e-5, []
    for s in beam.states:
        ends = [ap.simulate(digital.plant, digital.start({s: e}), 1 / 20, control=digital) for e in (step, -step)]
        ends = [[motion.at(1 / 20)[name] for name in beam.states] for motion in ends]
        columns.append((np.array(ends[0]) - ends[1]) / (2 * step))
    np.testing.assert_allclose(np.array(columns).T, digital.A, rtol=1e-5, atol=1e-6)


def test_continuous_gains_may_fail_in_samples_where_sampled_ones_hold(beam, digital):
    continuous = ap.control.lqr(beam, WEIGHTS, 50)
    assert continuous.certificate.verdict is Verdict.ON_CONSTRAINTS
    judged = ap.stability(beam, gains=continuous, rate=20)
    assert judged.verdict is Verdict.UNSTABLE
    assert "under the feedback, sampled 20 times a second, is unstable" in judged.sentence
    start = digital.start({"theta": 0.02, "xi": 0.004})
    good = ap.simulate(digital.plant, start, 6.0, control=digital)
    bad = ap.simulate(digital.plant, start, 2.0, control=continuous, rate=20)
    assert abs(good.at(6.0)["xi"] - 0.2) < 1e-6
    assert abs(bad.at(2.0)["theta"] - start["theta"]) > 1


def test_the_integrals_of_constraints_keep_their_roots(digital):
    proof = digital.certificate
    assert proof.verdict is Verdict.ON_CONSTRAINTS
    assert (proof.constraint_zeros, proof.zeros_found) == (1, 1)
    np.testing.assert_allclose(np.exp(proof.roots / 20), digital.roots, rtol=1e-9)
    assert proof.margin == pytest.approx(-20 * np.log(np.max(np.abs(digital.roots))), rel=1e-9)
    assert "as exponents at the samples" in repr(proof)
    assert "sampled 20 times a second" in repr(digital)


def test_what_rolling_keeps_is_one_zero_root_of_the_sampled_loop():
    x, w, lean = ap.coordinates("x w lean")
    tau, ground = ap.inputs("tau"), ap.Frame("ground")
    hub, mast = ground.point(x, 0.1), ground.rotate("z", -lean)
    bodies = [
        ap.RigidBody("wheel", 1, hub, ground.rotate("z", -w), (0, 0, 5e-3)),
        ap.RigidBody("mast", 5, hub + 0.3 * mast.y, mast, (0, 0, 0.1)),
    ]
    forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized({w: tau, lean: -tau})]
    rows = [ap.Nonholonomic([x.rate - 0.1 * w.rate], "rolling")]
    lin = ap.linearize(ap.equilibrium(ap.Model(ground, (x, w, lean), bodies, forces, rows), {"lean": 0, "x": 0}))
    feedback = ap.control.lqr(lin, rate=25)
    proof = feedback.certificate
    assert (proof.verdict, proof.family_zeros, proof.zeros_found) == (Verdict.FAMILY, 1, 1)
    assert np.max(np.abs(feedback.roots)) == pytest.approx(1, abs=1e-12)
    motion = ap.simulate(feedback.plant, feedback.start({"lean": 0.05}), 10 / proof.margin, control=feedback)
    assert abs(motion.columns["lean"][-1]) < 1e-5


def test_a_control_knows_its_rate(digital):
    start = digital.start({"xi": 0.01})
    own = ap.simulate(digital.plant, start, 1.0, control=digital)
    said = ap.simulate(digital.plant, start, 1.0, control=lambda t, state: digital(t, state), rate=20)
    np.testing.assert_array_equal(own.columns["theta"], said.columns["theta"])
    many = ap.sweep(digital.plant, {"start": [start]}, control=digital, until=1.0)
    assert many["theta.end"].values[0] == pytest.approx(own.columns["theta"][-1], rel=1e-9)
    other = ap.control.lqr(digital.lin, WEIGHTS, 50, rate=30)
    with pytest.raises(ModelError, match="different rates"):
        ap.sweep(digital.plant, {"control": {"slow": digital, "fast": other}}, start=start, until=1.0)


def test_a_continuous_feedback_as_a_control_is_the_closed_loop(beam):
    feedback = ap.control.lqr(beam, WEIGHTS, 50).saturated(0.1)
    start = feedback.start({"theta": 0.2, "xi": 0.04})
    closed, asked = ap.simulate(feedback.system, start, 0.5), ap.simulate(feedback.plant, start, 0.5, control=feedback)
    assert asked.at(0.5)["theta"] == pytest.approx(closed.at(0.5)["theta"], rel=1e-7)


def test_two_samples_bring_a_cart_to_rest():
    lin = cart()
    feedback = ap.control.place(lin, [0, 0], rate=10)
    np.testing.assert_allclose(feedback.K, [[2 * 100, 2 * 15]], rtol=1e-9)  # m/h^2, 3m/(2h)
    motion = ap.simulate(feedback.plant, feedback.start({"x": 1.0}), 1.0, control=feedback)
    assert abs(motion.at(0.2)["x"]) < 1e-9
    assert abs(motion.at(1.0)["x.rate"]) < 1e-9
    assert np.isfinite(feedback.certificate.margin)


def test_wanted_roots_are_those_from_sample_to_sample(beam):
    roots = [0.5, 0.7, 0.8 + 0.1j, 0.8 - 0.1j]
    feedback = ap.control.place(beam, roots, rate=30)
    np.testing.assert_allclose(np.sort_complex(feedback.roots), np.sort_complex(roots), rtol=1e-8)
    A = feedback.A
    np.testing.assert_allclose(A.T @ feedback.S @ A - feedback.S, -np.eye(4) / 30, atol=1e-6)
    with pytest.raises(ControlError, match=r"inside the unit circle; got 3\. What decays like .*= 0\.904837"):
        ap.control.place(beam, [-3, -3, -3, -3], rate=30)


@pytest.mark.parametrize("rate", [0, -5, float("nan"), "often"])
def test_rates_that_are_none_are_refused(beam, rate):
    for design in (
        lambda: ap.control.lqr(beam, rate=rate),
        lambda: ap.control.place(beam, [0] * 4, rate=rate),
        lambda: ap.control.kalman(beam, ["xi"], rate=rate),
        lambda: ap.stability(beam, gains=np.zeros((1, 4)), rate=rate),
    ):
        with pytest.raises(ModelError, match="positive number of samples a second"):
            design()


def test_swings_that_look_alike_at_the_samples_are_refused():
    """Half a swing between two samples: place and velocity change their signs alike."""
    x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
    body = ap.Particle("body", 1.0, ground.point(x, 0))
    spring = ap.Generalized({x: u - (10 * np.pi) ** 2 * x})
    lin = ap.linearize(ap.equilibrium(ap.Model(ground, x, [body], [spring]), {x: 0.0}))
    for design in (
        lambda rate: ap.control.lqr(lin, rate=rate),
        lambda rate: ap.control.place(lin, [0.1, 0.2], rate=rate),
        lambda rate: ap.control.kalman(lin, [x], rate=rate),
    ):
        with pytest.raises(ControlError, match=r"Sampled 10 times a second, .* 31\.4159265i .*Take another rate"):
            design(10)
        assert np.max(np.abs(design(11).roots)) < 1


def test_what_is_gone_between_two_samples_need_not_be_reached():
    """Currents of the Delta robot settle within milliseconds: nothing is left of them a second later."""
    motor = ap.control.Motor(resistance=1.8, constant=0.6, inductance=0.007, gear=55)
    driven = ap.control.with_motors(ap.library.delta_robot(), motor)
    lin = ap.linearize(ap.equilibrium(driven, {"x": 0, "y": 0, "z": -0.9}))
    assert ap.control.lqr(lin, rate=1).certificate.verdict is Verdict.ON_CONSTRAINTS
    with pytest.raises(ControlError, match="Take another rate"):
        ap.control.place(lin, np.linspace(0.1, 0.9, 9), rate=1)


def test_the_sampled_kalman_filter_has_the_least_variance(beam):
    observer = ap.control.kalman(beam, ["theta", "xi"], process=[0, 0, 2.0, 1.0], noise=[1e-4, 1e-5], rate=20)
    Q = np.diag([0, 0, 2.0, 1.0])
    grown = summed(lambda t: (e := scipy.linalg.expm(beam.A * t)) @ Q @ e.T, 1 / 20)
    A, C, R = scipy.linalg.expm(beam.A / 20), observer.C, 20 * np.diag([1e-4, 1e-5])
    S = scipy.linalg.solve_discrete_are(A.T, C.T, grown, R)
    np.testing.assert_allclose(observer.L, A @ S @ C.T @ np.linalg.inv(C @ S @ C.T + R), rtol=1e-7)
    fine, exact = (ap.control.kalman(beam, ["theta", "xi"], rate=rate) for rate in (1e4, None))
    np.testing.assert_allclose(1e4 * fine.L, exact.L, rtol=1e-2)


def test_output_feedback_in_samples_follows_its_first_approximation(beam):
    feedback = ap.control.lqr(beam, WEIGHTS, 50, rate=50)
    observer = ap.control.luenberger(beam, ["theta", "xi"], np.exp(np.array([-30, -31, -32, -33]) / 50), rate=50)
    loop = ap.control.output_feedback(feedback, observer)
    np.testing.assert_allclose(np.sort(np.abs(np.linalg.eigvals(loop.A))), np.sort(np.abs(loop.roots)), rtol=1e-6)
    small, at = 1e-6, np.arange(51) / 50
    runs = [ap.simulate(feedback.plant, loop.start({"xi": small}), 1.0, control=loop, at=at) for _ in range(2)]
    found = np.array([runs[0].columns[s] - beam.tangent.value(s) for s in beam.states])
    expected = np.array([np.linalg.matrix_power(loop.A, k)[:4, 1] * small for k in range(51)]).T
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * np.max(np.abs(expected)))
    np.testing.assert_array_equal(runs[0].columns["xi"], runs[1].columns["xi"])  # every run begins knowing nothing


def test_what_is_sampled_is_no_formula(beam, digital):
    for part in (lambda: digital.system, lambda: digital.close()):
        with pytest.raises(ControlError, match=r"simulate\(feedback.plant, .*control=feedback\)"):
            part()
    observer = ap.control.kalman(beam, ["xi"])
    with pytest.raises(ControlError, match=r"rate=20.*rate=None"):
        ap.control.output_feedback(digital, observer)
    sampled = ap.control.output_feedback(digital, ap.control.kalman(beam, ["xi"], rate=20))
    with pytest.raises(ControlError, match=r"simulate\(loop.feedback.plant, .*control=loop\)"):
        _ = sampled.system
    continuous = ap.control.output_feedback(ap.control.lqr(beam, WEIGHTS, 50), observer)
    with pytest.raises(ControlError, match=r"simulate\(loop.system"):
        ap.simulate(digital.plant, digital.start(), 1.0, control=continuous)
    with pytest.raises(ControlError, match=r"sweep\(feedback.plant"):
        ap.ensemble.region_of_attraction(digital, {"xi": 0.1})
    with pytest.raises(ControlError, match="give its gains="):
        ap.stability(beam, rate=20)


def test_all_is_gone_after_as_many_samples_as_the_longest_chain_has_states():
    """Two pendulums, a motor each: nothing is left after two samples, whatever the start."""
    (a, b), motors, ground = ap.coordinates("a b"), ap.inputs("u w"), ap.Frame("ground")
    bobs = [ap.Particle(f"bob {q}", 1, ground.pin(q).point(0, 0.5 + k)) for k, q in enumerate((a, b))]
    forces = [ap.Gravity(-9.81 * ground.y), ap.Generalized(dict(zip((a, b), motors, strict=True)))]
    pair = ap.linearize(ap.equilibrium(ap.Model(ground, (a, b), bobs, forces), {a: 0, b: 0}))
    beats = ap.control.place(pair, [0] * 4, rate=10)
    np.testing.assert_allclose(np.linalg.matrix_power(beats.A, 2), np.zeros((4, 4)), rtol=0, atol=1e-12)
    gone = ap.control.luenberger(pair, [a, b], [0] * 4, rate=10)
    step = held(pair.A, pair.B, 10)[0]
    np.testing.assert_allclose(np.linalg.matrix_power(step - gone.L @ gone.C, 2), np.zeros((4, 4)), rtol=0, atol=1e-12)
