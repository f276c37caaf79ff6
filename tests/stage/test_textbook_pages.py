"""Problems of textbooks are printed as textbooks print them."""

import sympy as sp
from sympy import cos, sin, tan

import appell as ap

ground = ap.Frame("ground")
m, l, k, g = ap.parameters("m l k g")


def lines(model, formulation=None):
    return [line.strip() for line in ap.derive(model, formulation).text().splitlines()]


def test_a_snowball_has_neither_pi_nor_powers_of_its_radius_in_common():
    s, turn = ap.coordinates("s turn")
    rho, alpha, kappa, r0 = ap.parameters("rho alpha kappa r0")
    r, slope = r0 + kappa * s, ground.rotate("z", -alpha)
    mass = sp.Rational(4, 3) * sp.pi * rho * r**3
    ball = ap.RigidBody("ball", mass, slope.point(s, r), slope.rotate("z", turn), (0, 0, 2 * mass * r**2 / 5))
    rolling = ap.Rolling(ball, slope.point(s, 0), along=[slope.x])
    printed = lines(ap.Model(ground, (s, turn), [ball], [ap.Gravity(-g * ground.y)], [rolling]))
    assert (
        "(5*kappa**2 + 7)*(kappa*s + r0)*s'' = 2*kappa*s'**2 - 5*g*(kappa*s + r0)*(kappa*cos(alpha) - sin(alpha))"
        in printed
    )


def test_a_dumbbell_in_orbit_has_names_for_its_two_distances():
    rho, nu, alpha = ap.coordinates("rho nu alpha")
    mu, d = ap.parameters("mu d")
    radius = ground.rotate("z", nu)
    axis, center = radius.rotate("z", alpha), radius.point(rho, 0)
    ends = [ap.Particle(name, m, center + d * sign * axis.x) for name, sign in (("a", 1), ("b", -1))]
    pull = ap.Potential(sum(-mu * m / e.center.norm for e in ends))
    printed = lines(ap.Model(ground, (rho, nu, alpha), ends, [pull]))
    assert "2*d*nu'' + 2*d*alpha''              = mu*rho*(1/Z1**3 - 1/Z2**3)*sin(alpha)" in printed
    assert "Z2 = sqrt(d**2 + rho**2 - 2*d*rho*cos(alpha))" in printed


def test_squares_of_sines_and_cosines_are_joined_in_every_bracket():
    """A skateboard: no 1 - sin² stands where cos² is meant, nor (sin - 1)(sin + 1)."""
    x, y, theta, gamma = ap.coordinates("x y theta gamma")
    a, h, lam, I, J = ap.parameters("a h lam I J")
    u, w = ap.speeds("u w")
    heading, place = ground.rotate("z", theta), ground.point(x, y)
    board = heading.rotate("x", gamma)
    rider = ap.RigidBody("rider", m, place + h * board.z, board, (I, I, J))
    steered = []
    for sign in (1, -1):
        v = (place + sign * a * heading.x).dt(ground)
        steered.append(v.dot(heading.y) - sign * tan(lam) * sin(gamma) * v.dot(heading.x))
    forces = [ap.Gravity(-g * ground.z), ap.Potential(k * gamma**2 / 2)]
    model = ap.Model(ground, (x, y, theta, gamma), [rider], forces, [ap.Nonholonomic(steered)])
    speeds = {u: place.dt(ground).dot(heading.x), w: gamma.rate}
    printed = "\n".join(lines(model, ap.GibbsAppell(speeds=speeds)))
    assert "m*a**2*cos(lam)**2 + " in printed
    assert "a**2*(m*g*h*sin(gamma) - k*gamma)*cos(lam)**2" in printed
    assert "- 1)" not in printed


def test_what_a_name_stands_for_is_short_too():
    one, two = ap.coordinates("one two")
    bobs = [ap.Particle(q.name, m, ground.pin(q, at=(i, 0, 0)).point(0, -l)) for i, q in enumerate((one, two))]
    ends = bobs[0].center, bobs[1].center
    gap = ends[1] - ends[0]
    spring = ap.Potential(k * (sp.sqrt(gap.dot(gap)) - 1) ** 2 / 2)
    forces = [ap.Gravity(-g * ground.y), spring, ap.Damper(*ends, 3)]
    printed = lines(ap.Model(ground, (one, two), bobs, forces))
    assert "Z3 = k*l*(1 - 1/Z2)/2" in printed  # not k*l*(2*Z2 - 2)/(4*Z2)


def test_letters_that_differ_by_an_underscore_are_told_apart():
    x = ap.coordinates("x")
    other = ap.parameters("m_")
    bob = ap.Particle("bob", m, ground.point(x, 0))
    printed = lines(ap.Model(ground, x, [bob], [ap.Force(-other * x * cos(x) * ground.x, bob)]))
    assert "m*x'' = -m_*x*cos(x)" in printed


def test_products_of_fractions_are_fractions():
    """3 times 1/5 is 0.6000000000000001 on the graph."""
    x = ap.coordinates("x")
    bob = ap.Particle("bob", m, ground.point(x, 0))
    jet = ap.Stream(bob, -3 * ground.x, rate=-sp.Rational(1, 5))
    swapped = ap.Stream(bob, 0 * ground.x, rate=sp.Rational(1, 5))
    assert "5*m*x'' = 3" in lines(ap.Model(ground, x, [bob], [jet, swapped]))


def test_a_second_trailer_turns_with_a_product_of_two_angles_between_the_cars():
    x, y, p, q, r = ap.coordinates("x y p q r")
    d = ap.parameters("d")
    v, w = ap.speeds("v w")
    axes = [ground.rotate("z", angle) for angle in (p, q, r)]
    places = [ground.point(x, y)]
    for behind in axes[1:]:
        places.append(places[-1] - d * behind.x)
    cars = [ap.RigidBody(f"car {i}", m, c, f, (0, 0, 1)) for i, (c, f) in enumerate(zip(places, axes, strict=True))]
    rows = [ap.Rolling(car, car.center, along=[car.frame.y], name=car.name) for car in cars]
    model = ap.Model(ground, (x, y, p, q, r), cars, constraints=rows)
    printed = lines(model, ap.GibbsAppell(speeds={v: places[0].dt(ground).dot(axes[0].x), w: p.rate}))
    assert "q' = v*sin(p - q)/d" in printed
    assert "r' = v*sin(q - r)*cos(p - q)/d" in printed


def test_roots_that_are_real_only_where_parameters_are_large_are_simplified_too():
    """A relativistic particle: a row is compared with the graph at speeds below that of light."""
    x, y = ap.coordinates("x y")
    c, F = ap.parameters("c F")
    mass = m / sp.sqrt(1 - (x.rate**2 + y.rate**2) / c**2)
    particle = ap.Particle("particle", mass, ground.point(x, y))
    forces = [ap.Force(F * ground.x, particle), ap.Stream(particle, 0 * ground.x, absolute=True)]
    assert "x'*y'*x'' + (c**2 - x'**2)*y'' = 0" in lines(ap.Model(ground, (x, y), [particle], forces))


def test_a_ball_that_rolls_on_a_fixed_sphere_keeps_its_spin_about_the_normal():
    """In the axes of the contact, with an attitude of four components that the textbook leaves out."""
    psi, theta, *e = ap.coordinates("psi theta e0 e1 e2 e3")
    R, r = ap.parameters("R r")
    speeds, normal = ap.speeds("w1 w2 w3"), ground.rotate("z", psi).rotate("y", theta)
    moment = 2 * m * r**2 / 5
    ball = ap.RigidBody("ball", m, normal.point(0, 0, R + r), ground.rotate_quaternion(*e), (moment, moment, moment))
    rolling = ap.Rolling(ball, normal.point(0, 0, R), along=[normal.x, normal.y])
    model = ap.Model(ground, (psi, theta, *e), [ball], [ap.Gravity(-g * ground.z)], [rolling])
    chosen = ap.GibbsAppell(dict(zip(speeds, normal.components(ball.angular_velocity), strict=True)))
    printed = lines(model, chosen)
    assert "psi'   = -r*w1/((R + r)*sin(theta))" in printed
    assert "7*(R + r)*w1'   = -r*w2*(7*w1*cot(theta) + 2*w3)" in printed
    assert "w3'             = 0" in printed
    assert ap.verify(model, chosen, states=4).worst < 1e-11


def test_a_sine_that_all_terms_have_is_left_out_where_one_of_them_is_a_square():
    theta, phi = ap.coordinates("theta phi")
    bob = ap.Particle("bob", m, ground.rotate("z", phi).rotate("y", theta).point(0, 0, -l))
    printed = lines(ap.Model(ground, (theta, phi), [bob], [ap.Gravity(-g * ground.z)]))
    assert "sin(theta)*phi'' = -2*theta'*phi'*cos(theta)" in printed  # not sin² and sin(2 theta)


def test_a_sum_above_the_bar_goes_by_the_name_it_has_below():
    """A roller racer: x' (d1 cos alpha + d2)/Z1 is x'."""
    x, y, theta, alpha = ap.coordinates("x y theta alpha")
    I1, I2, d1, d2 = ap.parameters("I1 I2 d1 d2")
    rear_axes = ground.rotate("z", theta)
    front_axes = rear_axes.rotate("z", alpha)
    rear = ap.RigidBody("rear", m, ground.point(x, y), rear_axes, (0, 0, I1))
    front = ap.RigidBody("front", 0, rear.center + d1 * rear_axes.x + d2 * front_axes.x, front_axes, (0, 0, I2))
    rows = [ap.Rolling(body, body.center, along=[body.frame.y], name=body.name) for body in (rear, front)]
    printed = "\n".join(lines(ap.Model(ground, (x, y, theta, alpha), [rear, front], constraints=rows)))
    assert "Z1 = d1*cos(alpha) + d2" in printed
    assert printed.count("d1*cos(alpha) + d2") == 1


def test_squares_of_a_quaternion_add_up_to_one():
    """Chaplygin's ball in its own axes: its constraint stays, and nothing else has the length of the quaternion."""
    x, y, *e = ap.coordinates("x y e0 e1 e2 e3")
    r, A, B, C = ap.parameters("r A B C")
    axes = ground.rotate_quaternion(*e)
    ball = ap.RigidBody("ball", m, ground.point(x, y, r), axes, (A, B, C))
    model = ap.Model(ground, (x, y, *e), [ball], constraints=[ap.Rolling(ball, ground.point(x, y))])
    speeds = dict(zip(ap.speeds("w1 w2 w3"), axes.components(ball.angular_velocity), strict=True))
    printed = lines(model, ap.GibbsAppell(speeds))
    assert "x'  = r*(2*w1*(e0*e3 + e1*e2) - w2*(2*e1**2 + 2*e3**2 - 1) - 2*w3*(e0*e1 - e2*e3))" in printed
    assert "e0' = -(e1*w1 + e2*w2 + e3*w3)/2" in printed
    assert "e0**2 + e1**2 + e2**2 + e3**2 - 1 = 0" in printed
