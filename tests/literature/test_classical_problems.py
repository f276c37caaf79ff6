"""Problems of the classics: integrals and closed solutions along motions."""

import numpy as np
import pytest
import sympy as sp
from sympy import cos, sin, sqrt

import appell as ap

ground = ap.Frame("ground")
m, l, g = ap.parameters("m l g")
e = ap.coordinates("e0 e1 e2 e3")
ATTITUDE = np.array([0.8, 0.3, -0.4, 0.2]) / np.linalg.norm([0.8, 0.3, -0.4, 0.2])


def motion_of(model, start, until, values, formulation=None):
    system = ap.compile(ap.derive(model, formulation)).bind(values)
    motion = ap.simulate(system, start, until=until, points=21)
    assert motion.outcome.ok
    assert motion.check().ok
    return motion


def assert_kept(found, tolerance=1e-12):
    values = np.asarray(found)
    assert np.ptp(values) < tolerance * np.max(np.abs(values))


def test_the_fourth_integral_of_kovalevskaya():
    """A = B = 2 C, the centre of mass in the equatorial plane; Kovalevskaya 1889."""
    C = ap.parameters("C")
    w = p, q, _ = ap.speeds("p q r")
    frame = ground.rotate_quaternion(*e)
    top = ap.RigidBody("top", m, frame.point(l, 0, 0), frame, (2 * C, 2 * C - m * l**2, C - m * l**2))
    model = ap.Model(ground, e, [top], [ap.Gravity(-g * ground.z)])
    speeds = dict(zip(w, frame.components(top.angular_velocity), strict=True))
    start = {**dict(zip(e, ATTITUDE, strict=True)), w[0]: 1.0, w[1]: 2.0, w[2]: 3.0}
    motion = motion_of(model, start, 5.0, {C: 0.1, m: 1.0, l: 0.2, g: 9.81}, ap.GibbsAppell(speeds))
    up, mu = frame.components(ground.z), m * g * l / C
    assert_kept(motion[(p**2 - q**2 - mu * up[0]) ** 2 + (2 * p * q - mu * up[1]) ** 2])


def test_the_momentum_of_chaplygins_sphere_about_its_contact_stays_where_it_is():
    """Chaplygin 1903: an uneven sphere, its centre of mass in the middle."""
    x, y = ap.coordinates("x y")
    A, B, C, r = ap.parameters("A B C r")
    w = ap.speeds("w1 w2 w3")
    frame, center = ground.rotate_quaternion(*e), ground.point(x, y, r)
    ball = ap.RigidBody("ball", m, center, frame, (A, B, C))
    model = ap.Model(ground, (x, y, *e), [ball], [], [ap.Rolling(ball, ground.point(x, y))])
    speeds = dict(zip(w, frame.components(ball.angular_velocity), strict=True))
    start = {**dict(zip(e, ATTITUDE, strict=True)), w[0]: 1.0, w[1]: -2.0, w[2]: 3.0}
    values = {A: 0.01, B: 0.015, C: 0.02, m: 1.0, r: 0.15}
    motion = motion_of(model, start, 4.0, values, ap.GibbsAppell(speeds))
    spin = frame.vector(A * w[0], B * w[1], C * w[2])
    momentum = spin + (m * r * ground.z).cross(frame.vector(*w).cross(r * ground.z))
    for component in ground.components(momentum):
        assert_kept(motion[component])


def test_a_ball_in_an_upright_cylinder_bobs():
    """z'' = -(2/7) phi'^2 (z - z_0): it never falls out (Routh 1884, Neimark and Fufaev 1972)."""
    phi, z = ap.coordinates("phi z")
    r, R = ap.parameters("r R")
    w = ap.speeds("w1 w2 w3")
    radius = ground.rotate("z", phi)
    frame = radius.rotate_quaternion(*e)
    ball = ap.RigidBody("ball", m, radius.point(R - r, 0, z), frame, (2 * m * r**2 / 5,) * 3)
    rolling = ap.Rolling(ball, radius.point(R, 0, z))
    model = ap.Model(ground, (phi, z, *e), [ball], [ap.Gravity(-g * ground.z)], [rolling])
    speeds = dict(zip(w, radius.components(ball.angular_velocity), strict=True))
    values = {m: 0.3, r: 0.05, R: 0.5, g: 9.81}
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds))).bind(values)
    motion = ap.simulate(system, {e[0]: 1, phi.rate: 4}, until=5.0, points=21)
    depth = 9.81 * 5 / 7 / (2 / 7 * 4**2)
    expected = depth * (np.cos(np.sqrt(2 / 7) * 4 * motion.dataset["t"].values) - 1)
    np.testing.assert_allclose(motion[z], expected, rtol=0, atol=1e-10)


def test_the_swinging_atwood_machine_of_ratio_three():
    """Tufillaro 1986: a second integral."""
    r, theta = ap.coordinates("r theta")
    bobs = [ap.Particle("a", m, ground.rotate("z", theta).point(0, -r)), ap.Particle("b", 3 * m, ground.point(1, r))]
    model = ap.Model(ground, (r, theta), bobs, [ap.Gravity(-g * ground.y)])
    motion = motion_of(model, {r: 1.0, theta: 1.2}, 5.0, {m: 1.0, g: 9.81})
    half, turn = theta / 2, r * theta.rate
    assert_kept(motion[r * turn * (r.rate * cos(half) - turn / 2 * sin(half)) + g * r**2 * sin(half) * cos(half) ** 2])


@pytest.mark.parametrize("elastic", [False, True])
def test_a_folded_chain_falls_freely_or_keeps_its_energy(elastic):
    """One end fixed: links that stop at the fold with a jerk leave free fall, X'' = g; without loss it is faster."""
    X = ap.coordinates("X")
    sigma = ap.parameters("sigma")
    arm = ap.Particle("arm", sigma * (l - X) / 2, ground.point(0, -X))
    fold = [ap.Stream(arm, X.rate / 2 * ground.y)] if elastic else []
    model = ap.Model(ground, X, [arm], [ap.Gravity(-g * ground.y), *fold])
    motion = motion_of(model, {}, 0.3, {l: 1.0, sigma: 2.0, g: 9.81})
    if not elastic:
        np.testing.assert_allclose(motion[X], 9.81 * motion.dataset["t"].values ** 2 / 2, rtol=0, atol=1e-14)
    hanging, falling = (l + X) / 2, (l - X) / 2
    energy = falling * X.rate**2 / 2 - g * (hanging**2 / 2 + falling * (X + falling / 2))
    assert (np.ptp(motion[energy].values) < 1e-13) == elastic


def test_a_relativistic_particle_is_one_whose_mass_comes_to_it_at_rest():
    """d(m v)/dt = F with m(v): hyperbolic motion."""
    x = ap.coordinates("x")
    c, F = ap.parameters("c F")
    particle = ap.Particle("particle", m / sqrt(1 - x.rate**2 / c**2), ground.point(x, 0))
    forces = [ap.Force(F * ground.x, particle), ap.Stream(particle, 0 * ground.x, absolute=True)]
    motion = motion_of(ap.Model(ground, x, [particle], forces), {}, 5.0, {m: 1.0, c: 2.0, F: 1.0})
    t = motion.dataset["t"].values
    np.testing.assert_allclose(motion[x], 4 * (np.sqrt(1 + (t / 2) ** 2) - 1), rtol=0, atol=1e-12)


def test_beghins_servo_on_a_cart_holds_a_pole():
    """The drive of the cart alone moves the pole as told; it does work on the pole, no ideal constraint does."""
    s, theta = ap.coordinates("s theta")
    M = ap.parameters("M")
    cart = ground.slide(s)
    bodies = [ap.Particle("cart", M, cart.origin), ap.Particle("bob", m, cart.pin(theta).point(0, l))]
    told = ap.Programmed(theta - sin(ap.t) / 5, "told", realization=(s,))
    model = ap.Model(ground, (s, theta), bodies, [ap.Gravity(-g * ground.y)], [told])
    assert isinstance(ap.derive(model).formulation, ap.GPME)
    motion = motion_of(model, {theta.rate: 0.2}, 2.0, {m: 1.0, M: 2.0, l: 1.0, g: 9.81})
    t = motion.dataset["t"].values
    angle, rate, acceleration = sp.lambdify(ap.t, [sin(ap.t) / 5, cos(ap.t) / 5, -sin(ap.t) / 5])(t)
    pushed = (acceleration - 9.81 * np.sin(angle)) / np.cos(angle)
    np.testing.assert_allclose(motion[s.rate.rate], pushed, rtol=0, atol=1e-12)
    drive = 3 * pushed - np.cos(angle) * acceleration + rate**2 * np.sin(angle)
    np.testing.assert_allclose(motion.reactions("told")["told"], drive, rtol=0, atol=1e-11)
