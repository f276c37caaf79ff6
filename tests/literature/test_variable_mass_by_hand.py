"""Variable mass against Newton's law written by hand: rows and masses that depend on time, position and velocity."""

import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap

t = ap.t
x, y = ap.coordinates("x y")
u1 = ap.speeds("u1")
ground = ap.Frame("ground")
g = 9.81


def rational(number):
    return sp.Rational(str(number))


def run(model, start, until, formulation=None):
    system = ap.compile(ap.derive(model, formulation))
    state = system.consistent(start) if model.rows else system.state(start)
    motion = ap.simulate(system, state, until)
    assert motion.outcome is ap.Outcome.DONE
    return motion


def newton(forces, row, row_rate, mass):
    """m a = F + lambda de/dv with de/dv . a = -rest, by hand: what the tests compare with."""

    def rate(s, w):
        n = w.size // 2
        q, v = w[:n], w[n:]
        gradient, rest = row(s, q, v), row_rate(s, q, v)
        free = forces(s, q, v) / mass(s, q, v)
        multiplier = -(gradient @ free + rest) / (gradient @ gradient)
        return np.concatenate([v, free + multiplier * gradient])

    return rate


def test_nonlinear_row_that_depends_on_time():
    """x'^2 + 2 y'^2 = (3 + sin t)^2 + x, thrust of mass lost backwards."""
    body = ap.Particle("body", 3 - rational(0.4) * t, ground.point(x, y))
    lost = ground.vector(-6, 1)
    row = x.rate**2 + 2 * y.rate**2 - (3 + sp.sin(t)) ** 2 - x
    start = {x: 0, y: 0, x.rate: 1, y.rate: 2}
    forces = [ap.Gravity(-g * ground.y), ap.Stream(body, lost)]
    model = ap.Model(ground, (x, y), [body], forces, [ap.Nonholonomic(row, "row")], start=start)

    rate = newton(
        lambda s, q, v: (3 - 0.4 * s) * np.array([0, -g]) - 0.4 * np.array([-6, 1]),
        lambda s, q, v: np.array([2 * v[0], 4 * v[1]]),
        lambda s, q, v: -v[0] - 2 * (3 + np.sin(s)) * np.cos(s),
        lambda s, q, v: 3 - 0.4 * s,
    )
    expected = scipy.integrate.solve_ivp(rate, (0, 1.5), [0, 0, 1, 2], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    for formulation in (None, ap.GibbsAppell(speeds={u1: sp.atan2(y.rate, x.rate)}), ap.Multipliers()):
        motion = run(model, start, 1.5, formulation)
        np.testing.assert_allclose(motion.at(1.5).array, expected, rtol=1e-10, atol=1e-11)
    assert motion.check().ok
    assert ap.verify(model).worst < 1e-12


@pytest.mark.parametrize("row", ["linear", "nonlinear"])
def test_mass_that_depends_on_position_and_velocity_under_a_row(row):
    """m = 2 + 0.3 x^2 + 0.1 (x'^2 + y'^2): the thrust contains accelerations, M - D is not symmetric."""
    speed = x.rate**2 + y.rate**2
    body = ap.Particle("body", 2 + rational(0.3) * x**2 + speed / 10, ground.point(x, y))
    lost = ground.vector(-1 - y.rate / 2, rational(0.7) * x.rate)
    expression = y.rate - t * x.rate / 3 - x / 5 if row == "linear" else speed - 4 - t
    model = ap.Model(
        ground,
        (x, y),
        [body],
        [ap.Force(ground.vector(3, -2) * body.mass, body), ap.Stream(body, lost)],
        [ap.Nonholonomic(expression, "row")],
        start={x: 0.4, y: 0, x.rate: 1.6, y.rate: 1.2} if row == "nonlinear" else {x: 0.4, x.rate: 1, y.rate: 0.08},
    )

    def rate(s, w):
        p, v = w[:2], w[2:]
        m, u = 2 + 0.3 * p[0] ** 2 + 0.1 * (v @ v), np.array([-1 - v[1] / 2, 0.7 * v[0]])
        M = m * np.eye(2) - np.outer(u, 0.2 * v)
        F = m * np.array([3, -2]) + u * 0.6 * p[0] * v[0]
        if row == "linear":
            J, rest = np.array([-s / 3, 1]), -v[0] / 3 - v[0] / 5
        else:
            J, rest = 2 * v, -1.0
        kkt = np.block([[M, -J[:, None]], [J[None, :], np.zeros((1, 1))]])
        return np.concatenate([v, np.linalg.solve(kkt, np.append(F, -rest))[:2]])

    motion = run(model, dict(model.start), 1.5)
    w0 = motion.at(0.0).array
    expected = scipy.integrate.solve_ivp(rate, (0, 1.5), w0, "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(motion.at(1.5).array, expected, rtol=1e-10, atol=1e-11)
    assert motion.check().ok
    quasi = {u1: x.rate + 2 * y.rate} if row == "linear" else {u1: x.rate * y.rate}
    assert ap.verify(model, ap.GibbsAppell(speeds=quasi)).worst < 1e-12
    assert not ap.derive(model).definite


def test_relative_motion_with_a_nonlinear_row():
    """In a carrier that turns and is shaken: relative speed 1.5 + 0.3 sin t, mass 2 + 0.3 x^2 - 0.1 t, thrust.

    By hand in the carrier's axes: m a' = X - m (a0 + w x (w x r) + w' x r + 2 w x v') + lambda v'.
    """
    angle, origin = t / 2 + rational(0.4) * (1 - sp.cos(t)), (rational(0.3) * t**2, rational(0.1) * sp.sin(2 * t))
    carrier = ground.rotate("z", angle, "carrier").at(ground.point(*origin))
    body = ap.Particle("body", 2 + rational(0.3) * x**2 - t / 10, carrier.point(x, y))
    lost = carrier.vector(-2, 1 + y.rate)
    size = rational(1.5) + rational(0.3) * sp.sin(t)
    row = ap.Nonholonomic(x.rate**2 + y.rate**2 - size**2, "relative speed")
    start = {x: 1, y: 0.5, x.rate: 1.2, y.rate: 0.9}
    model = ap.Model(ground, (x, y), [body], [ap.Stream(body, lost)], [row], start=start)

    def free(s, p, v):
        m, m_rate = 2 + 0.3 * p[0] ** 2 - 0.1 * s, 0.6 * p[0] * v[0] - 0.1
        th, w, w_rate = 0.5 * s + 0.4 * (1 - np.cos(s)), 0.5 + 0.4 * np.sin(s), 0.4 * np.cos(s)
        a_x, a_y = 0.6, -0.4 * np.sin(2 * s)
        a0 = np.array([a_x * np.cos(th) + a_y * np.sin(th), -a_x * np.sin(th) + a_y * np.cos(th)])
        left = np.array([-p[1], p[0]])
        inertial = a0 - w**2 * p + w_rate * left + 2 * w * np.array([-v[1], v[0]])
        return m_rate * np.array([-2, 1 + v[1]]) - m * inertial

    rate = newton(
        free,
        lambda s, p, v: 2 * v,
        lambda s, p, v: -2 * (1.5 + 0.3 * np.sin(s)) * 0.3 * np.cos(s),
        lambda s, p, v: 2 + 0.3 * p[0] ** 2 - 0.1 * s,
    )
    expected = scipy.integrate.solve_ivp(rate, (0, 3), [1, 0.5, 1.2, 0.9], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    heading = {u1: sp.atan2(y.rate, x.rate)}
    for formulation in (None, ap.GibbsAppell(speeds=heading), ap.RelativeMotion(carrier)):
        motion = run(model, start, 3.0, formulation)
        np.testing.assert_allclose(motion.at(3.0).array, expected, rtol=1e-10, atol=1e-11)
        assert motion.check().ok
    assert ap.verify(model, ap.RelativeMotion(carrier)).worst < 1e-12


def test_rotor_with_flow_inside():
    """A free rotor on an axis: liquid from a tank at r_t through pipes to four nozzles with tangential jets.

    Angular momentum: ((I + m r_t^2) w)' = -sum mu_k r_k x (w x r_k + theta_k), so with J = I + m r_t^2
    w + b = C J^n, n = (r_k^2 - r_t^2)/r_t^2, b = r_k theta/(r_k^2 - r_t^2). Without the Coriolis force of the flow
    inside the balance does not close.
    """
    I, r_t, r_k, jet, mu, m_0 = 10, rational(0.2), rational(0.7), rational(0.05), 2, 50
    angle, water = ap.coordinates("angle"), ap.states("water")
    rotor = ground.rotate("z", angle, "rotor")
    wheel = ap.RigidBody("wheel", 1, ground.point(0, 0), rotor, (0, 0, I))
    tanks, streams = [], []
    for k in range(4):
        arm = rotor.rotate("z", k * sp.pi / 2)
        tank = ap.RigidBody(f"tank {k}", water / 4, r_t * arm.x, rotor)
        tanks.append(tank)
        streams.append(
            ap.Stream(tank, jet * arm.y, rate=-rational(mu) / 4, at=r_k * arm.x, source=tank.center, name=f"jet {k}")
        )
    model = ap.Model(ground, angle, [wheel, *tanks], streams, states={water: -mu})
    motion = run(model, {angle.rate: 1, water: m_0}, 20.0)
    J = np.array([10 + 50 * 0.04, 10 + 10 * 0.04])
    n, b = (0.49 - 0.04) / 0.04, 0.7 * 0.05 / (0.49 - 0.04)
    closed = (1 + b) * (J[1] / J[0]) ** n - b
    assert motion.at(20.0)[angle.rate] == pytest.approx(closed, rel=1e-11)
    assert motion.check().balance < 1e-10
    without = [ap.Stream(s.body, s.velocity, s.rate, s.at, name=s.name) for s in streams]
    plain = run(
        ap.Model(ground, angle, [wheel, *tanks], without, states={water: -mu}), {angle.rate: 1, water: m_0}, 20.0
    )
    assert abs(plain.at(20.0)[angle.rate] - closed) > 0.1


def test_the_inertial_forces_of_a_tumbling_carrier_as_formulas():
    """Each kind against -m (a0, w x (w x r), w' x r, 2 w x v) . dr/dq, with w from the carrier's matrix."""
    base = ground.at(ground.point(t**2 / 3, sp.sin(t), t**3 / 10))
    first, second, third = t / 2 + sp.sin(2 * t) / 3, t**2 / 5 + sp.Rational(1, 3), sp.sin(t)
    carrier = base.rotate("z", first).rotate("x", second)
    rod = carrier.at(carrier.point(sp.cos(t), t / 2, 0)).rotate("y", third, "rod")
    masses = 1 + x**2 / 4, 2 - t / 3
    bodies = [ap.Particle("a", masses[0], rod.point(x)), ap.Particle("b", masses[1], rod.point(x, y, 1))]
    found = ap.RelativeMotion(rod).terms(ap.Model(ground, (x, y), bodies))

    tilted = sp.rot_ccw_axis3(first) * sp.rot_ccw_axis1(second)
    origin = sp.Matrix([t**2 / 3, sp.sin(t), t**3 / 10]) + tilted * sp.Matrix([sp.cos(t), t / 2, 0])
    turn = tilted * sp.rot_ccw_axis2(third)
    spin = turn.T * turn.diff(t)
    omega = sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])
    expected = {kind: sp.zeros(2, 1) for kind in ("translation", "centrifugal", "Euler", "Coriolis")}
    for mass, r in zip(masses, (sp.Matrix([x, 0, 0]), sp.Matrix([x, y, 1])), strict=True):
        slope = r.jacobian([x, y])
        v = slope * sp.Matrix([x.rate, y.rate])
        kinds = turn.T * origin.diff(t, 2), omega.cross(omega.cross(r)), omega.diff(t).cross(r), 2 * omega.cross(v)
        for kind, a in zip(expected, kinds, strict=True):
            expected[kind] -= mass * slope.T * a
    here = {x: 0.5, y: -0.2, x.rate: 0.7, y.rate: 1.1, t: 0.9}
    for kind, term in expected.items():
        ours, theirs = (np.array(e.subs(here), dtype=float) for e in (found[kind], term))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
