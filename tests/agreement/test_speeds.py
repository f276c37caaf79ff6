"""Given speeds: accelerations do not depend on the choice, and what is a speed is not computed from other things."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.analysis.residual import thrust_along
from appell.graph.raising import raised

m, A, B, C, g = ap.parameters("m A B C g")
VALUES = {m: 1.3, A: 1.1, B: 2.0, C: 2.5, g: 9.81}
r, d = 0.3, 0.1
angles, (x, y, z) = ap.coordinates("a b c"), ap.coordinates("x y z")
ground = ap.Frame("ground")


def turned(axes):
    frame = ground
    for axis, angle in zip(axes, angles, strict=True):
        frame = frame.rotate(axis, angle)
    return frame


def model(coordinates, body, constraints=()):
    return ap.Model(ground, coordinates, [body], [ap.Gravity(-g * ground.z)], constraints, values=VALUES)


def free(axes):
    frame = turned(axes)
    body = ap.RigidBody("body", m, ground.point(x, y, z), frame, (A, B, C))
    return model((*angles, x, y, z), body)


def ball(axes, uneven):
    """A sphere of unequal inertia, its centre of mass off the middle, or an even one."""
    frame, contact = turned(axes), ground.point(x, y)
    center = contact + r * ground.z
    body = ap.RigidBody("ball", 1.3, center + d * frame.z, frame, (1.1, 2.0, 2.5))
    if not uneven:
        body = ap.RigidBody("ball", 1.3, center, frame, (1.1, 1.1, 1.1))
    gravity = ap.Gravity(-9.81 * ground.z)
    return ap.Model(ground, (*angles, x, y), [body], [gravity], [ap.Rolling(body, contact)])


def turning(model, axes):
    body = model.bodies[0]
    return dict(zip(ap.speeds("w1 w2 w3"), axes.components(body.angular_velocity), strict=True))


def moving(model, axes):
    body = model.bodies[0]
    return dict(zip(ap.speeds("v1 v2 v3"), axes.components(body.velocity_at(body.center)), strict=True))


def assert_agrees(model, speeds, tolerance=1e-11):
    """Accelerations in given speeds against those by Udwadia and Kalaba at random states; operations."""
    equations = ap.derive(model, ap.GibbsAppell(speeds))
    ours, oracle = (ap.compile(e).bind() for e in (equations, ap.derive(model, ap.UdwadiaKalaba())))
    random = np.random.default_rng(8)
    for _ in range(4):
        free = [q for q in model.coordinates if not model.constraints or q not in (x, y)]
        state = {q.name: random.uniform(-1, 1) for q in model.coordinates}
        state |= {f"{q.name}.rate": random.uniform(-1, 1) for q in free}
        found, expected = (s.accelerations(s.consistent(state)) for s in (ours, oracle))
        assert np.max(np.abs(found - expected)) < tolerance * max(1.0, np.max(np.abs(expected)))
    return equations.operations


@pytest.mark.parametrize("axes", ["zxz", "zyx", "xyz"])
def test_a_free_body_in_its_own_axes_has_the_equations_of_Euler(axes):
    body = free(axes)
    own = body.bodies[0].frame
    assert assert_agrees(body, {**turning(body, own), **moving(body, ground)}) < 60
    assert assert_agrees(body, {**turning(body, own), **moving(body, own)}) < 160
    text = ap.derive(body, ap.GibbsAppell({**turning(body, own), **moving(body, own)})).text()
    assert "w2*w3*(B - C)" in text
    assert "v1'" in text


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("moves", range(4))
def test_a_free_body_in_axes_of_any_frame_on_its_way(turns, moves):
    body = free("zyx")
    way = body.bodies[0].frame.path
    assert_agrees(body, {**turning(body, way[turns]), **moving(body, way[moves])})


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("axes", ["zxz", "zyx"])
def test_a_rolling_ball_in_axes_of_any_frame_on_its_way(axes, turns, uneven):
    body = ball(axes, uneven)
    operations = assert_agrees(body, turning(body, body.bodies[0].frame.path[turns]))
    if turns == 0 and not uneven:
        assert operations < 70  # in ground axes: a' of the centre is alpha x r, and nothing turns


@pytest.mark.parametrize("turns", range(3))
@pytest.mark.parametrize(("moments", "most"), [((1.1, 2.0, 2.5), (250, 190, 250)), ((1.1, 1.1, 1.1), (80, 60, 250))])
def test_a_rolling_ball_turned_by_a_quaternion(moments, most, turns):
    """In axes of the ground, of a slope and of its own; the tensor of a homogeneous ball is the same in all of them."""
    slope = ground.rotate("x", d)
    frame = slope.rotate_quaternion(*ap.coordinates("e0 e1 e2 e3"))
    body = ap.RigidBody("ball", m, slope.point(x, y, d), frame, moments)
    rolling, weight = ap.Rolling(body, slope.point(x, y)), ap.Gravity(-g * ground.z)
    model = ap.Model(ground, (x, y, *ap.coordinates("e0 e1 e2 e3")), [body], [weight], [rolling])
    formulation = ap.GibbsAppell(turning(model, (ground, slope, frame)[turns]))
    assert ap.verify(model, formulation, states=4).worst < 1e-11
    assert ap.derive(model, formulation).operations < most[turns]


@pytest.mark.parametrize("attitude", ["angles", "quaternion"])
@pytest.mark.parametrize("axes", ["ground", "table"])
def test_a_ball_on_a_turning_table_has_the_equations_of_the_textbook(axes, attitude):
    """In the axes of the ground and in those of the table: 7 r w' = 5 Omega v there, with the table's turning here."""
    Omega, R = ap.parameters("Omega R")
    table = ground.rotate("z", Omega * ap.t)
    base = {"ground": ground, "table": table}[axes]
    letters = angles if attitude == "angles" else ap.coordinates("e0 e1 e2 e3")
    frame = base.rotate_body("zxz", *letters) if attitude == "angles" else base.rotate_quaternion(*letters)
    center, moment = base.point(x, y, R), 2 * m * R**2 / 5
    body = ap.RigidBody("ball", m, center, frame, (moment, moment, moment))
    on = ap.RigidBody("table", 1, table.origin, table)
    rolling = ap.Rolling(body, center - R * base.z, on=on, along=[base.x, base.y])
    model = ap.Model(ground, (x, y, *letters), [body], [ap.Gravity(-g * ground.z)], [rolling])
    formulation = ap.GibbsAppell(turning(model, base))
    assert ap.verify(model, formulation, states=4).worst < 1e-11
    equations = ap.derive(model, formulation)
    assert equations.operations < 110
    known = {"ground": "7*R*w1' = 5*Omega*(R*w2 - Omega*y)", "table": "7*R*w1' = Omega*(12*R*w2 - 5*Omega*y)"}
    assert known[axes] in [line.strip() for line in equations.text().splitlines()]


def test_speeds_with_signs_and_factors():
    body = ball("zyx", True)
    w = turning(body, body.bodies[0].frame)
    (w1, e1), (w2, e2), (w3, e3) = w.items()
    assert_agrees(body, {w1: -e2, w2: e1, w3: -e3})
    assert_agrees(body, {w1: 2 * e1, w2: e2 + e3, w3: e3 - e1})


def test_a_sleigh_in_the_axes_of_its_blade():
    sleigh = ap.library.chaplygin_sleigh()
    body, contact = sleigh.bodies[0], sleigh.constraints[0].contact
    v, w = ap.speeds("v w")
    along, turning = body.velocity_at(contact), body.angular_velocity
    speeds = {v: body.frame.components(along)[0], w: body.frame.components(turning)[2]}
    assert ap.derive(sleigh, ap.GibbsAppell(speeds)).operations < 30


def test_wheels_that_roll_are_as_short_as_the_body_they_carry():
    """Where the velocity of an axle is a letter, its acceleration is not taken about the contact of the wheel."""
    heading, spins = ground.rotate("z", angles[0]), ap.coordinates("left right")
    axle = ground.point(x, y, r)
    wheels = [
        ap.RigidBody(spin.name, m, axle + side * d * heading.y, heading.rotate("y", spin), (0, A, 0))
        for spin, side in zip(spins, (1, -1), strict=True)
    ]
    rolling = [ap.Rolling(wheel, wheel.center - r * ground.z, name=wheel.name) for wheel in wheels]
    body = ap.RigidBody("body", m, axle + B * heading.x, heading, (0, 0, C))
    model = ap.Model(ground, (x, y, angles[0], *spins), [body, *wheels], constraints=rolling)
    v, w = ap.speeds("v w")
    formulation = ap.GibbsAppell({v: axle.dt(ground).dot(heading.x), w: angles[0].rate})
    assert ap.verify(model, formulation, states=4).worst < 1e-11
    assert ap.derive(model, formulation).operations < 70


def test_a_component_that_is_a_speed_on_one_side_of_a_corner_only():
    """The carriage of a bead turns where x < 0; at the points looked at first it does not."""
    angle = sp.Piecewise((0, x > 0), (x**2, True))
    arm = ground.rotate("z", angle)
    body = ap.RigidBody("body", m, x * ground.x + y * arm.y, arm, (A, B, C))
    bead = ap.Model(ground, (x, y), [body], [ap.Gravity(-g * ground.x)], values=VALUES)
    u, w = ap.speeds("u w")
    equations = ap.derive(bead, ap.GibbsAppell({u: x.rate, w: y.rate}))
    ours, oracle = (ap.compile(e).bind() for e in (equations, ap.derive(bead, ap.Multipliers())))
    for place in (0.7, -0.7):
        state = {"x": place, "y": 0.4, "x.rate": 0.5, "y.rate": -0.3}
        found, expected = (s.accelerations(s.consistent(state)) for s in (ours, oracle))
        assert found == pytest.approx(expected, rel=1e-12)


def test_a_body_on_a_table_that_is_turned():
    """The table turns by itself: what is a speed against the table is none against the ground."""
    table = ground.rotate("z", sp.sin(3 * ap.t))
    frame = table.rotate("x", angles[0]).rotate("y", angles[1])
    body = ap.RigidBody("body", m, x * table.x + y * table.y + d * frame.z, frame, (A, B, C))
    model = ap.Model(ground, (*angles[:2], x, y), [body], [ap.Gravity(-g * ground.z)], values=VALUES)
    speeds = dict(zip(ap.speeds("w1 w2"), frame.components(body.angular_velocity)[:2], strict=True))
    velocity = dict(zip(ap.speeds("v1 v2"), table.components(body.velocity_at(body.center))[:2], strict=True))
    assert_agrees(model, {**speeds, **velocity})


@pytest.mark.parametrize(
    "name",
    ["knife-edge", "rolling-disk", "appell-hamel", "hauled-chain", "pursuit", "leaking-sleigh", "clothoid-vehicle"],
)
def test_the_function_of_gibbs_and_appell_has_the_equations_for_its_slopes(name):
    """dR/du' is A u' - b and the thrust of streams, at random values of all letters."""
    model = ap.library.model(name)
    equations = ap.derive(model, ap.GibbsAppell())
    R = ap.GibbsAppell().function(model)
    left, right = equations.to_sympy()
    y = sp.Matrix(equations.unknowns)
    thrust = sp.Matrix(
        raised(
            thrust_along(equations),
            [*equations.arguments, equations.y],
            [(ap.t,), equations.states, equations.inputs, model.parameters, equations.unknowns],
        )
    )
    letters = sorted((left * y - right).free_symbols | R.free_symbols | thrust.free_symbols, key=str)
    values = dict(zip(letters, np.random.default_rng(8).uniform(0.4, 1.1, len(letters)), strict=True))
    found = (sp.Matrix([sp.diff(R, rate) for rate in y]) - thrust).subs(values).evalf()
    wanted = (left * y - right).subs(values).evalf()
    np.testing.assert_allclose(np.array(found, float), np.array(wanted, float), rtol=1e-11, atol=1e-12)


def test_the_function_of_a_long_model_is_refused():
    with pytest.raises(ap.AppellError, match="too long to be read as one formula"):
        ap.GibbsAppell().function(ap.library.four_bar())


def free_bodies(count):
    ground = ap.Frame("ground")
    m, A, B, C = ap.parameters("m A B C")
    coordinates, bodies = [], []
    for k in range(count):
        place, attitude = ap.coordinates(f"x{k} y{k} z{k}"), ap.coordinates(f"d{k} a{k} b{k} c{k}")
        frame = ground.rotate_quaternion(*attitude)
        bodies.append(ap.RigidBody(f"body{k}", m, ground.point(*place), frame, (A, B, C)))
        coordinates += [*attitude[1:], attitude[0], *place]  # the order of the coordinates does not matter
    values, start = {m: 1, A: 1, B: 2, C: 2.5}, {f"d{k}": 1.0 for k in range(count)}
    return ap.Model(ground, coordinates, bodies, [ap.Gravity(-9.81 * ground.z)], values=values, start=start)


def test_a_body_with_a_quaternion_turns_by_eulers_equations_by_itself():
    model = free_bodies(1)
    equations = ap.derive(model)
    assert equations.operations < 50
    assert "A*w_body0_x' = w_body0_y*w_body0_z*(B - C)" in " ".join(equations.text().split())
    assert ap.verify(model).ok
    system = ap.compile(equations)
    turning = {"a0.rate": 0.25, "b0.rate": 0.1, "c0.rate": 1.0}
    start = system.consistent({"d0": 1.0, **turning})
    omega = {f"w_body0_{axis}": 2 * turning[f"{e}0.rate"] for axis, e in zip("xyz", "abc", strict=True)}
    assert system.to_x(start)[7:10] == pytest.approx(list(omega.values()))  # at d = 1 twice the rates
    assert list(system.state({"d0": 1.0, **omega}).v) == pytest.approx(list(start.v))
    motion = ap.simulate(system, start, until=20.0)
    assert "speeds changed" not in motion.summary()  # as they are, again and again, where rates are taken
    assert motion.check().ok
    by_rates = ap.simulate(ap.compile(ap.derive(model, ap.GibbsAppell())), start, until=20.0)
    for name in ("a0", "d0", "x0", "c0.rate"):
        np.testing.assert_allclose(motion[name], by_rates[name], atol=1e-10)


def test_angular_velocities_of_several_bodies_have_names_of_their_own():
    model = free_bodies(3)
    equations = ap.derive(model)
    names = [s.name for s in equations.speeds]
    assert len({*names}) == 18
    assert {"w_body0_x", "w_body2_z"} <= {*names}
    assert equations.operations < 150
    assert ap.verify(model, states=2).ok
    taken = free_bodies(1).with_parameters(ap.parameters("w_body0_y"))
    assert "w_body0_y_" in [s.name for s in ap.derive(taken).speeds]
