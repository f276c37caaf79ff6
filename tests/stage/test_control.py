"""PID loops as formulas: against brute force where they switch, against closed forms where they do not."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.control import PID, Motor, regulate, schedule
from appell.errors import ModelError

s = ap.coordinates("s", "m")
force = ap.inputs("force", "N")
ground = ap.Frame("ground")


def cart(states=None, push=force):
    """A cart of 2 kg."""
    return ap.Model(ground, s, [ap.Particle("cart", 2, ground.point(s, 0))], [ap.Generalized({s: push})], states=states)


def controlled(pid, error, **extra):
    model = cart()
    controller = regulate(model, {force: (pid, error)})
    return ap.compile(ap.derive(controller.on(model)).close(controller.laws))


def brute_force(pid, error, until, steps=120_000):
    """The cart under a saturated, clamped PI law by small steps of the midpoint rule; error(t, s, v)."""
    kp, ki = float(pid.kp), float(pid.ki)
    limit = float(pid.limit) if pid.limit is not None else np.inf
    clamp = float(pid.clamp) if pid.clamp is not None else np.inf

    def f(t, x):
        e = error(t, x[0], x[1])
        raw = kp * e + ki * x[2]
        stop = (e > 0 and (x[2] >= clamp or raw > limit)) or (e < 0 and (x[2] <= -clamp or raw < -limit))
        return np.array([x[1], min(max(raw, -limit), limit) / 2, 0.0 if stop else e])

    x, h = np.zeros(3), until / steps
    for i in range(steps):
        x = x + h * f(i * h + h / 2, x + h / 2 * f(i * h, x))
        x[2] = min(max(x[2], -clamp), clamp)
    return x


@pytest.mark.parametrize("method", ["auto", "dop853"])
def test_the_clamp_holds_and_lets_go(method):
    """The integral of 2 sin t stops at +-1 and leaves again when the error changes its sign."""
    loop = PID(ki=1, clamp=1).loop("e", 2 * sp.sin(ap.t))
    system = ap.compile(ap.derive(cart(loop.states, 0))).bind()
    motion = ap.simulate(system, {}, 14.0, method=method)
    # At 1 from t = pi/3 to pi, falling to -1 at 3 pi/2, and so on: max(-1, min(1, ...)) of pieces of -2 cos t.
    t, expected = motion.times, np.empty_like(motion.times)
    for i, at in enumerate(t):
        if at < np.pi:
            expected[i] = min(1, 2 - 2 * np.cos(at))
        else:
            k = int(at / np.pi)
            expected[i] = 1 - (2 * np.cos(at) + 2) if k % 2 else -1 + 2 - 2 * np.cos(at)
            expected[i] = max(-1, expected[i]) if k % 2 else min(1, expected[i])
    np.testing.assert_allclose(motion["e_int"], expected, rtol=0, atol=1e-9)
    assert np.abs(motion["e_int"]).max() <= 1 + 1e-12


def test_without_limits_it_is_the_linear_law():
    system = controlled(PID(kp=20, ki=4, kd=8), 1 - s)
    assert not ap.simulate(system, {}, 1.0, method="dop853").occurrences
    A = system.jacobian(0.0, np.zeros(3))
    np.testing.assert_allclose(np.poly(A), [1, 4, 10, 2], rtol=1e-12)  # 2 p^3 + 8 p^2 + 20 p + 4


def test_saturation_with_conditional_integration():
    """A step too large for the motor: against small steps of the same law written with ifs."""
    pid = PID(kp=3, ki=2, limit=1.5, clamp=2)
    system = controlled(pid, 2 - s - 1.5 * s.rate)
    motion = ap.simulate(system, {}, 12.0, method="dop853", rtol=1e-11)
    assert motion.outcome.ok
    assert float(np.abs(motion[force]).max()) <= 1.5 + 1e-9
    assert float(motion[force].max()) == pytest.approx(1.5, abs=1e-9)
    expected = brute_force(pid, lambda t, x, v: 2 - x - 1.5 * v, 12.0)
    found = [float(motion[name][-1]) for name in ("s", "s.rate", "force_int")]
    np.testing.assert_allclose(found, expected, rtol=0, atol=6e-4)


def test_the_output_slides_along_its_limit():
    """With e = 2 cos t frozen integration lets u = e + 2 z fall and free integration lets it rise: u stays at 1.5.

    It leaves where 2 z' = 2 e no longer makes up for e' = -2 sin t, at tan t = 2.
    """
    pid = PID(kp=1, ki=2, limit=1.5)
    motion = ap.simulate(controlled(pid, 2 * sp.cos(ap.t)), {}, 12.0, method="dop853", rtol=1e-11)
    first, second = (o.t for o in motion.occurrences[:2])
    assert first == pytest.approx(np.arccos(0.75), rel=1e-12)
    assert second == pytest.approx(np.arctan(2), rel=1e-9)
    assert float(np.abs(motion[force]).max()) <= 1.5 + 1e-9
    expected = brute_force(pid, lambda t, x, v: 2 * np.cos(t), 12.0)
    found = [float(motion[name][-1]) for name in ("s", "s.rate", "force_int")]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)


def test_windup_is_prevented():
    """Far from the goal the integral stays where it is, and the overshoot is smaller than without that."""
    overshoot = {}
    for name, pid in {"with": PID(3, 2, limit=1.5), "without": PID(3, 2)}.items():
        model = cart()
        loop = pid.loop("e", 4 - s - 1.5 * s.rate)
        law = loop.output if name == "with" else sp.Min(sp.Max(loop.output, -1.5), 1.5)
        system = ap.compile(ap.derive(model.add(states=loop.states)).close({force: law}))
        overshoot[name] = float(ap.simulate(system, {}, 15.0, method="dop853", rtol=1e-9)[s].max()) - 4
    assert overshoot["with"] < 0.6 * overshoot["without"]


def test_filtered_derivative():
    """(e - f)/lag follows e' with the lag; here of e = sin t, in closed form."""
    lag = 0.2
    loop = PID(kd=1, lag=lag).loop("e", sp.sin(ap.t))
    system = ap.compile(ap.derive(cart(loop.states, 0))).bind()
    motion = ap.simulate(system, {}, 10.0, outputs={"d": loop.output})
    t = motion.times[motion.times > 4]
    expected = (np.cos(t) + lag * np.sin(t)) / (1 + lag**2)
    np.testing.assert_allclose(motion["d"].values[motion.times > 4], expected, rtol=0, atol=1e-8)


def test_gains_are_formulas_in_time_and_states():
    m = ap.states("m", "kg")
    gain = schedule(m, [(100, 4), (150, 10)])
    loop = PID(kp=gain).loop("e", 1 - s)
    model = cart({m: -2})
    system = ap.compile(ap.derive(model).close({force: loop.output})).bind()
    for mass, expected in ((90, 4), (100, 4), (125, 7), (160, 10)):
        x = system.to_x(system.state({"m": mass}))
        assert system.rhs(0.0, x)[1] * 2 == pytest.approx(expected)


def test_schedule_needs_an_order():
    with pytest.raises(ModelError, match="increasing order"):
        schedule(ap.t, [(1, 2), (0, 3)])


def test_an_algebraic_loop_is_refused():
    """e' of a velocity error contains the acceleration that the force makes."""
    with pytest.raises(ModelError, match=r"accelerations s''.*lag="):
        PID(kp=1, kd=1).loop("e", 1 - s.rate)
    filtered = PID(kp=1, kd=1, lag=0.1).loop("e", 1 - s.rate)
    assert [z.name for z in filtered.states] == ["e_lag"]


def test_wrong_input_is_named():
    w = ap.speeds("w")
    with pytest.raises(ModelError, match="contains the speed w"):
        PID(kp=1).loop("e", 1 - w)
    with pytest.raises(ModelError, match="clamp= of a PID must be positive"):
        PID(kp=1, clamp=-1)
    with pytest.raises(ModelError, match="kp= of a PID must be finite"):
        PID(kp=sp.oo)
    with pytest.raises(ModelError, match="kp= of a PID must be a number or a formula"):
        PID(kp=None)
    with pytest.raises(ModelError, match="The resistance of a motor must be a number or a formula"):
        Motor("2 Ohm", 1)
    with pytest.raises(ModelError, match="needs pairs"):
        schedule(ap.t, [3])
    with pytest.raises(ModelError, match="gain kp = s contains s"):
        PID(kp=s)
    z = ap.states("z")
    with pytest.raises(ModelError, match=r"z'.*known=model.states"):
        PID(kp=1, kd=1).loop("e", z - s)
    with pytest.raises(ModelError, match=r"'other' is not an input.* There are: \w+"):
        regulate(cart(), {ap.inputs("other"): (PID(kp=1), s)})


def test_loops_are_given_by_name_or_letter_with_their_errors():
    (w,) = cart().inputs
    assert regulate(cart(), {w.name: (PID(kp=2), 1 - s)}).laws == regulate(cart(), {w: (PID(kp=2), 1 - s)}).laws
    with pytest.raises(ModelError, match=r"needs a PID and the error it acts on.*got PID"):
        regulate(cart(), {w: PID(kp=2)})
    with pytest.raises(ModelError, match=r"The error .* must be a number or a formula .*got '1 - s'"):
        regulate(cart(), {w: (PID(kp=2), "1 - s")})


def test_the_rate_of_a_known_state_is_used():
    z = ap.states("z")
    loop = PID(kd=3).loop("e", z - s, {z: ap.t})
    assert loop.output == 3 * (ap.t - s.rate)


def test_invariant_polynomials_of_pendula_and_of_a_ring_of_three():
    lam, k = sp.Symbol("lambda"), sp.Rational(981, 50)

    def chain(stiffness):
        n = stiffness.rows
        return sp.Matrix(sp.BlockMatrix([[sp.zeros(n), sp.eye(n)], [stiffness, sp.zeros(n)]]))

    two = ap.control.invariant_polynomials(chain(-k * sp.eye(2)))
    assert [p.as_expr() for p in two] == [lam**2 + k] * 2
    coupled = chain(sp.Matrix([[-k - 1, 1], [1, -k - 1]]))
    assert ap.control.minimum_controls(coupled).number == 1
    ring = ap.control.invariant_polynomials(chain(sp.Matrix([[-3, 1, 1], [1, -3, 1], [1, 1, -3]])))
    assert [sp.factor(p.as_expr()) for p in ring] == [lam**2 + 4, (lam**2 + 1) * (lam**2 + 4)]


def test_laws_are_given_by_input_or_by_its_name():
    equations = ap.derive(cart())
    for law in ({force: -3 * s}, {"force": -3 * s}):
        assert equations.close(law).closed == {force: -3 * s}
    with pytest.raises(ModelError, match="push is not an open input of this model; open are: force"):
        equations.close({"push": 0})
    with pytest.raises(ModelError, match="force is not an open input of this model; open are: none"):
        equations.close({force: 1}).close({force: 2})
    with pytest.raises(ModelError, match="The law of force contains a closed input: 2\\*force"):
        equations.close({"force": 2 * force})
