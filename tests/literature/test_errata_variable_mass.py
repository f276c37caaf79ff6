"""What Dehkordi 2025 and Qiao 1990 print, what is true, and the proof that runs; see docs/errata/variable-mass.md."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.kinematics.mechanics import Mechanics

t = ap.t


def final_speed(model, start, until, formulation=None):
    system = ap.compile(ap.derive(model, formulation)).bind()
    return ap.simulate(system, start, until)


# Dehkordi 2025.


def test_d21_the_acceleration_energy_has_a_factor_one_half():
    """Printed (21): G = sum m a.a. The gradient of that is 2 m a, so (22) would give half the acceleration."""
    a, m, f = sp.symbols("a m f")
    assert sp.solve(sp.diff(m * a**2, a) - f, a)[0] == f / (2 * m)
    assert sp.solve(sp.diff(m * a**2 / 2, a) - f, a)[0] == f / m


def test_d24_there_are_only_n_minus_g_equations():
    """Printed (24)-(26): n equations with independent dq.

    In Qiao's pursuit the reaction acts along every coordinate.
    """
    model = ap.library.pursuit()
    system = ap.compile(ap.derive(model)).bind()
    force = ap.simulate(system, until=0.2, points=3).reactions()["force"].values[0]
    assert np.all(np.abs(force[:, 0]) > 1.0)


def packets(count, mu, exhaust, m0, duration, sign):
    """A body of mass m0 that throws out equal packets with velocity `exhaust` relative to itself, by momentum alone."""
    mass, speed, packet = m0, 0.0, mu * duration / count
    for _ in range(count):
        speed += sign * packet * exhaust / (mass - packet)
        mass -= packet
    return speed


def test_d27_the_thrust_is_plus_dm_dt_times_u():
    """Printed (27): F = -(dm/dt) u. Momentum of a million packets says +(dm/dt) u with u relative."""
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 10 - sp.Rational(1, 2) * t, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Stream(body, -2 * ground.x, rate=-sp.Rational(1, 2))])
    true = final_speed(model, {x: 0}, 10.0).at(10.0)["x.rate"]
    assert true == pytest.approx(2 * np.log(2), rel=1e-12)
    assert packets(1_000_000, 0.5, 2.0, 10.0, 10.0, +1) == pytest.approx(true, rel=1e-6)
    assert packets(1_000_000, 0.5, 2.0, 10.0, 10.0, -1) == pytest.approx(-true, rel=1e-6)


def test_d27_d37_the_velocity_of_the_stream_is_relative():
    """Printed (37): u contains the robot's own velocity. Then the gain depends on who looks: not Galilei invariant."""
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 10 - sp.Rational(1, 2) * t, ground.point(x, 0))
    relative = ap.Model(ground, x, [body], [ap.Stream(body, -2 * ground.x)])
    printed = ap.Model(ground, x, [body], [ap.Force(-sp.Rational(1, 2) * (x.rate - 2) * ground.x, body)])
    gains = {
        name: [final_speed(model, {x.rate: boost}, 4.0).at(4.0)["x.rate"] - boost for boost in (0.0, 7.0)]
        for name, model in (("relative", relative), ("printed", printed))
    }
    assert gains["relative"] == pytest.approx([2 * np.log(10 / 8)] * 2, rel=1e-12)
    assert abs(gains["printed"][1] - gains["printed"][0]) > 1.0


def wheeled(rows):
    """A platform on four wheels, mass centre d ahead of the axle's middle; rolling rows as asked."""
    x, y, th = ap.coordinates("x y th")
    wheels = ap.coordinates("p1 p2 p3 p4")
    m, d, inertia, Iw, R, a = ap.parameters("m d inertia Iw R a")
    ground = ap.Frame("ground")
    frame = ground.planar(x, y, th)
    platform = ap.RigidBody("platform", m, frame.point(d, 0), frame, (0, 0, inertia))
    spins = [
        ap.RigidBody(f"wheel {i}", 0, frame.point(0, 0), frame.rotate("y", p), (0, Iw, 0)) for i, p in enumerate(wheels)
    ]
    lateral = -x.rate * sp.sin(th) + y.rate * sp.cos(th)
    forward = x.rate * sp.cos(th) + y.rate * sp.sin(th)
    sides = (a, a, -a, -a)
    rolling = [forward + side * th.rate - R * p.rate for side, p in zip(sides, wheels, strict=True)]
    constraints = [ap.Nonholonomic([lateral, *rolling[:rows]], "ground")]
    values = {m: 130, d: 0.2, inertia: 10, Iw: 0.1, R: 0.3, a: 0.5}
    model = ap.Model(ground, (x, y, th, *wheels), [platform, *spins], [], constraints, values=values)
    v, omega = ap.speeds("v omega")
    return model, {v: forward, omega: th.rate}, values


def test_d_three_constraints_leave_four_freedoms_not_two():
    """Printed: three constraints reduce seven velocities to two.

    Two freedoms need the lateral row and four rolling rows.
    """
    model, _, _ = wheeled(2)
    assert len(ap.derive(model).speeds) == 4
    model, speeds, _ = wheeled(4)
    assert len(ap.derive(model, ap.GibbsAppell(speeds=speeds)).speeds) == 2


def test_d44_d45_d49_inertia_of_the_wheels_and_of_the_offset():
    """Printed: Iw/(2R^2), a^2 Iw/(2R^2), 4R^2/a^2 Iw, and (49) without d^2 m.

    True: 4Iw/R^2, 4a^2 Iw/R^2, with d^2 m.
    """
    model, speeds, values = wheeled(4)
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=speeds))).bind()
    A = system.mass_matrix(0.0, system.to_x(system.state({"th": 0.7, "v": 1.0, "omega": 0.3})))
    m, d, inertia, Iw, R, a = (float(v) for v in values.values())
    np.testing.assert_allclose(
        A, [[m + 4 * Iw / R**2, 0], [0, inertia + m * d**2 + 4 * a**2 * Iw / R**2]], rtol=0, atol=1e-9
    )
    assert 4 * a**2 / R**2 == pytest.approx(11.11, abs=0.01)
    assert 4 * R**2 / a**2 == pytest.approx(1.44)


def test_d38_d47_d48_signs_of_the_offset_terms():
    """Printed (38): (v' + d w^2) X0; true v' - d w^2, as (47), (48) have it: +m d w^2 and -m d w v on the right."""
    model, speeds, _ = wheeled(4)
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=speeds))).bind()
    m, d = 130.0, 0.2
    x = system.to_x(system.state({"th": 0.2, "v": 1.3, "omega": 0.8}))
    np.testing.assert_allclose(system.forcing(0.0, x), [m * d * 0.8**2, -m * d * 1.3 * 0.8], rtol=1e-12)
    th, xx, yy = (sp.Function(n)(sp.Symbol("s")) for n in ("th", "x", "y"))
    s = sp.Symbol("s")
    place = sp.Matrix([xx + sp.Rational(1, 5) * sp.cos(th), yy + sp.Rational(1, 5) * sp.sin(th)])
    ahead = sp.Matrix([sp.cos(th), sp.sin(th)])
    offset = sp.simplify((place - sp.Matrix([xx, yy])).diff(s, 2).dot(ahead))
    assert sp.simplify(offset + sp.Rational(1, 5) * th.diff(s) ** 2) == 0


def test_d31_d32_a_wheel_pair_averages():
    """Printed: v = R (p_F + p_B). With both wheels rolling at p, v = R p, so the sum must be halved."""
    model, _, _ = wheeled(4)
    system = ap.compile(ap.derive(model)).bind()
    state = system.consistent({"x.rate": 0.6, "y.rate": 0.0, "th.rate": 0.0, "th": 0.0})
    assert 0.3 / 2 * (state["p1.rate"] + state["p2.rate"]) == pytest.approx(0.6)


# Qiao 1990.


def test_q24_the_acceleration_of_a_moving_map():
    """Printed (2.4) lacks q'' and counts the mixed term once; true: x_q q'' + x_qq q'^2 + 2 x_qt q' + x_tt."""
    s = sp.Symbol("s")
    q = sp.Function("q")(s)
    inner, outer = sp.symbols("inner outer")
    f = sp.sin(inner) * outer**2 + inner**3 * outer
    second = f.subs({inner: q, outer: s}).diff(s, 2)
    Q1, Q2 = q.diff(s), q.diff(s, 2)

    def f_(e):
        return e.subs({inner: q, outer: s})

    true = (
        f_(f.diff(inner)) * Q2 + f_(f.diff(inner, 2)) * Q1**2 + 2 * f_(f.diff(inner, outer)) * Q1 + f_(f.diff(outer, 2))
    )
    assert sp.simplify(second - true) == 0
    assert sp.simplify(second - true + f_(f.diff(inner, outer)) * Q1) != 0


def test_q31_mass_that_depends_on_velocity_puts_accelerations_into_the_thrust():
    """m = 2/sqrt(1 - v^2/9), u = -v: d(mv)/dt = F exactly. Leaving m_v v' out of dm/dt gives another motion."""
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    mass = 2 / sp.sqrt(1 - x.rate**2 / 9)
    body = ap.Particle("body", mass, ground.point(x, 0))
    force = ap.Force(sp.Rational(3, 2) * ground.x, body)
    right = final_speed(ap.Model(ground, x, [body], [force, ap.Stream(body, -x.rate * ground.x)]), {x: 0}, 2.0)
    assert right.at(2.0)["x.rate"] == pytest.approx(1.34164078649987, rel=1e-12)
    wrong = final_speed(ap.Model(ground, x, [body], [force]), {x: 0}, 2.0)
    assert abs(wrong.at(2.0)["x.rate"] - 1.34164078649987) > 1e-3


def test_q615_masses_are_frozen_in_the_potentials_of_the_carrier():
    """m = 2 + 0.3 x^2, u = 0: a straight line in space. With m differentiated in V0 and Vw the equations disagree."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    carrier = ground.rotate("z", t / 2 + sp.Rational(2, 5) * (1 - sp.cos(t)), "carrier")
    carrier = carrier.at(ground.point(sp.Rational(3, 10) * t**2, sp.sin(2 * t) / 10))
    mass = 2 + sp.Rational(3, 10) * x**2
    body = ap.Particle("body", mass, carrier.point(x, y))
    model = ap.Model(ground, (x, y), [body])
    relative = ap.RelativeMotion(carrier)
    assert ap.verify(model, relative).worst < 1e-13
    motion = final_speed(model, {x: 1, y: 0.5, x.rate: 0.3, y.rate: -0.2}, 4.0, relative)
    expected = [4.3020063030149, -0.4667450512969, 2.2366031451667, -0.2325086109750]
    np.testing.assert_allclose(motion.at(4.0).array, expected, rtol=0, atol=1e-11)
    terms = relative.terms(model)
    omega = sp.diff(t / 2 + sp.Rational(2, 5) * (1 - sp.cos(t)), t)
    frozen = mass * omega**2 * x
    unfrozen = frozen + sp.diff(mass, x) * omega**2 * (x**2 + y**2) / 2
    assert sp.simplify(terms["centrifugal"][0] - frozen) == 0
    assert sp.simplify(terms["centrifugal"][0] - unfrozen) != 0


def test_q615_rigid_bodies_in_a_carrier_that_turns_in_space():
    """V, the Euler and the Coriolis force by inertia tensors: of a body that is free in the carrier."""
    q = ap.coordinates("a b c yaw lean spin")
    ground = ap.Frame("ground")
    carrier = ground.rotate("z", t / 2 + sp.sin(t) / 3).rotate("x", 2 * t / 5).at(ground.point(sp.sin(t), t**2, t / 3))
    frame = carrier.free(*q)
    body = ap.RigidBody("body", 1.3, frame.point(0.2, 0.5, 0.1), frame, (0.3, 0.2, 0.45, 0.01, 0.02, -0.03))
    model = ap.Model(ground, q, [body], [ap.Gravity(-9.81 * ground.z)])
    assert ap.verify(model, ap.RelativeMotion(carrier)).worst < 1e-13


def test_q61_the_gyroscopic_term_has_a_part_from_explicit_time():
    """Gamma = gyroscopic sum + 2 sum m w.(r_q x r_t) where r'(q, t) depends on time."""
    x = ap.coordinates("x")
    ground = ap.Frame("ground")
    carrier = ground.rotate("z", 3 * t, "carrier")
    body = ap.Particle("body", 2, carrier.point(x, x**2 + t))
    model = ap.Model(ground, x, [body])
    coriolis = ap.RelativeMotion(carrier).terms(model)["Coriolis"][0]
    # w.(r_q x r_q) = 0, so all of it comes from r_t = (0, 1): 2 m w (1 * 1 - 2x * 0).
    assert sp.simplify(coriolis - 2 * 2 * 3) == 0
    assert ap.verify(model, ap.RelativeMotion(carrier)).worst < 1e-13


def test_q85_the_function_of_the_pursuit():
    """dR/dx'' of form III is as printed, with its double dots."""
    model = ap.library.pursuit()
    x, y = model.coordinates
    m_0, mu, g, xi_0, xi_1, xi_2, w = (s for s in ap.parameters("m_0 mu g xi_0 xi_1 xi_2 w"))
    R = ap.GibbsAppell(dependent=[y]).function(model)
    xi, m = xi_0 + xi_1 * t + xi_2 * sp.sin(w * t), m_0 - mu * t
    printed = m * x.rate.rate * (1 + y**2 / (x - xi) ** 2)
    printed += m * y**2 * x.rate * sp.diff(xi, t) / (x - xi) ** 3 + m * g * y / (x - xi)
    assert sp.simplify(sp.diff(R, x.rate.rate) - printed) == 0


def test_q612_the_function_of_relative_motion():
    """Its slope is that of the absolute motion and the inertial forces Z, here of a bead on a rod that turns."""
    s, ground = ap.coordinates("s"), ap.Frame("ground")
    rod = ground.rotate("z", sp.Rational(6, 5) * t)
    bead = ap.Particle("bead", 2 * sp.exp(-t / 3), rod.point(s, 0))
    forces = [ap.Stream(bead, sp.Rational(4, 5) * rod.x), ap.Gravity(-10 * ground.y)]
    model, relative = ap.Model(ground, s, [bead], forces), ap.RelativeMotion(rod)
    R, R_r = ap.GibbsAppell().function(model), relative.function(model)
    Z = sum((term[0] for term in relative.terms(model).values()), sp.Integer(0))
    assert sp.simplify(sp.diff(R_r - R, s.rate.rate) - Z) == 0
    assert not R_r.has(s)


def test_q88_the_pursuit_has_dm_dt_in_its_thrust():
    """Printed (8.7), (8.8): m[...] in the thrust, in kg m/s instead of N.

    With dm/dt it is Newton's law with multiplier.
    """
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    xi, eta = 1 + t / 2 + sp.sin(2 * t) / 5, sp.Rational(1, 2) + sp.cos(t) / 5
    m, g = 2 - sp.Rational(3, 10) * t, sp.Rational(981, 100)
    body = ap.Particle("P", m, ground.point(x, y))
    velocity = ground.vector(x.rate, y.rate)
    model = ap.Model(
        ground,
        (x, y),
        [body],
        [ap.Gravity(-g * ground.y), ap.Stream(body, (eta - 1) * velocity)],
        [ap.Nonholonomic(y.rate - y * x.rate / (x - xi))],
    )
    system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=[y]))).bind()
    state = system.consistent({x: -6, y: 8, x.rate: 1})
    gap = x - xi
    stretch = 1 + y**2 / gap**2
    left = m * stretch, m * x.rate * sp.diff(xi, t) * y**2 / gap**3 + m * g * y / gap
    at = {x: -6, y: 8, x.rate: 1, t: 0}
    by_hand = {
        rate: float(((rate * x.rate * (eta - 1) * stretch - left[1]) / left[0]).subs(at)) for rate in (sp.diff(m, t), m)
    }
    assert system.accelerations(state)[0] == pytest.approx(by_hand[sp.diff(m, t)], rel=1e-12)
    assert abs(system.accelerations(state)[0] - by_hand[m]) > 0.1


def test_q26_reactions_vanish_only_along_virtual_displacements():
    """Printed (2.6): sum F_i dx_i/dq_w = 0 for all w.

    In a1 at t = 0 the reaction is not zero, but along (1, phi_x) it is.
    """
    model = ap.library.pursuit()
    mechanics = Mechanics(model)
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, until=0.1, points=2)
    force = motion.reactions()["force"].values[0, :, 0]
    start = motion.at(0.0)
    assert np.max(np.abs(force)) > 1
    J = np.array(mechanics.functions["jacobian"](0.0, start.q, start.v, start.z, system.p))[0]
    along = np.array([1.0, -J[0] / J[1]])
    assert abs(force @ along) < 1e-10 * np.max(np.abs(force))
