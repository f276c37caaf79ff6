"""Forces of constraint, computed after the fact, against Newton."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ModelError

ground = ap.Frame("ground")
m, r, g = 2.0, 0.3, 9.81


@pytest.mark.heyoka
def test_knife_edge():
    """lambda = -2 m g sin(alpha) sin(Omega t), Bloch 2015, section 1.6."""
    motion = ap.simulate(ap.compile(ap.derive(ap.library.knife_edge())).bind(), until=6.0)
    found = motion.reactions("edge")
    name = next(iter(set(found.data_vars) - {"force"}))
    expected = -2 * 1.25 * 9.81 * np.sin(np.pi / 4) * np.sin(np.pi / 3 * motion.times)
    np.testing.assert_allclose(found[name], expected, rtol=0, atol=1e-11)
    # The force is the multiplier times (sin phi, -cos phi, 0).
    phi = motion["phi"].values
    np.testing.assert_allclose(found["force"][0, 0], expected * np.sin(phi), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found["force"][0, 1], -expected * np.cos(phi), rtol=0, atol=1e-11)
    np.testing.assert_allclose(found["force"][0, 2], 0, rtol=0, atol=1e-15)


@pytest.fixture(scope="module", params=[ap.GibbsAppell(), ap.Multipliers(), ap.Voronets()], ids=lambda f: f.name)
def cylinder(request):
    """A cylinder on a slope of 0.4 rad, drawn by a force of 3 N up the slope: every contact force is known."""
    x, h, spin = ap.coordinates("x h spin")
    slope = ground.rotate("z", -0.4, "slope")
    body = ap.RigidBody("cylinder", m, slope.point(x, h), slope.rotate("z", -spin), (0, 0, m * r**2 / 2))
    contact = body.center - r * slope.y
    model = ap.Model(
        ground, (x, h, spin), [body], [ap.Gravity(-g * ground.y), ap.Force(-3 * slope.x, body)],
        [ap.Holonomic(h - r, "floor"), ap.Rolling(body, contact, along=[slope.x], name="grip")], start={h: r},
    )  # fmt: skip
    system = ap.compile(ap.derive(model, request.param)).bind()
    return ap.simulate(system, until=2.0, points=9)


def test_normal_force_and_friction_on_a_slope(cylinder):
    found = cylinder.reactions()
    pull = m * g * np.sin(0.4) - 3
    np.testing.assert_allclose(found["floor"], m * g * np.cos(0.4), rtol=1e-12)
    np.testing.assert_allclose(found["grip"], -pull / 3, rtol=1e-12)  # friction backwards: a third of the pull
    assert float(cylinder["x"][-1]) == pytest.approx(2 / 3 * pull / m * 2.0**2 / 2, rel=1e-12)


def test_newton_closes_along_every_coordinate(cylinder):
    """m a = applied forces + reactions."""
    force = cylinder.reactions()["force"].sum("row")
    applied = [m * g * np.sin(0.4) - 3, -m * g * np.cos(0.4), 0.0]
    for name, inertia, other in zip(("x", "h", "spin"), (m, m, m * r**2 / 2), applied, strict=True):
        acceleration = cylinder[f"{name}.rate.rate"]
        np.testing.assert_allclose(force.sel(coordinate=name), inertia * acceleration - other, rtol=0, atol=1e-11)


def test_rolling_disk_on_a_straight_line():
    """Upright and drawn by F at its centre: the contact takes F/3 backwards and nothing sideways."""
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    system = ap.compile(ap.derive(model.add(ap.Force(2 * model.ground.x, disk, name="pull")))).bind()
    start = system.state({"spin.rate": 5.0})
    motion = ap.simulate(system, start, until=1.0, points=5)
    found = motion.reactions("rolling")
    np.testing.assert_allclose(found["rolling.x"], -2 / 3, rtol=1e-12)
    np.testing.assert_allclose(found["rolling.y"], 0, rtol=0, atol=1e-12)
    steady = ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=1.0, points=5).reactions()
    np.testing.assert_allclose(steady["rolling.x"], 0, rtol=0, atol=1e-12)


def test_rolling_disk_in_a_steady_turn():
    """The contact force is m times the acceleration of the centre, in both directions, all along a wild motion."""
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    motion = ap.simulate(system, until=2.0, points=41)
    (disk,) = system.model.bodies
    velocity = system.model.ground.components(disk.center.dt(system.model.ground))
    step = 1e-4
    times = motion.times[1:-1]
    found = motion.reactions()
    for axis, row in ((0, "rolling.x"), (1, "rolling.y")):
        slopes = (motion.evaluate(velocity[axis], times + step) - motion.evaluate(velocity[axis], times - step)) / (
            2 * step
        )
        np.testing.assert_allclose(found[row][1:-1], system.values["m"] * slopes, rtol=0, atol=1e-4)


def test_tension_of_a_pendulum():
    """A plane pendulum in Cartesian coordinates: tension m (v^2/l + g cos), read off the row x^2 + z^2 - l^2."""
    system = ap.compile(ap.derive(ap.library.spherical_pendulum())).bind()
    motion = ap.simulate(
        system, system.consistent({"x": 0.3, "y": 0.0, "z": -0.4, "y.rate": 0.0, "x.rate": 0.0}), until=2.0
    )
    speed = motion["x.rate"] ** 2 + motion["z.rate"] ** 2
    tension = 0.3 * (speed / 0.5 - 9.81 * motion["z"] / 0.5)
    np.testing.assert_allclose(motion.reactions()["length"] * 2 * 0.5, -tension, rtol=0, atol=1e-11)


def test_redundant_rows_share_the_load_with_the_smallest_forces():
    """A table on four legs: one leg too many, and Newton alone does not say how they share."""
    z, a, b = ap.coordinates("z a b")
    legs = {"front left": (1, 1), "front right": (1, -1), "back left": (-1, 1), "back right": (-1, -1)}
    top = ap.RigidBody(
        "top",
        m,
        ground.point(0.25, 0.1, z) + 0.25 * a * ground.z + 0.1 * b * ground.z,
        ground.rotate("x", b).rotate("y", -a),
        (1, 1, 1),
    )
    pedal = ap.coordinates("pedal")
    rider = ap.Particle("rider", 1, ground.point(pedal, 0))
    rows = [ap.Holonomic(z + x * a + y * b, name) for name, (x, y) in legs.items()]
    model = ap.Model(ground, (z, a, b, pedal), [top, rider], [ap.Gravity(-g * ground.z)], rows)
    equations = ap.derive(model)
    assert len(equations.redundant_rows) == 1
    motion = ap.simulate(ap.compile(equations).bind(), {"pedal.rate": 1.0}, until=1.0, points=3)
    found = motion.reactions()
    for name, (x, y) in legs.items():
        np.testing.assert_allclose(found[name], m * g * (1 + 0.25 * x + 0.1 * y) / 4, rtol=1e-11)


def test_the_force_that_a_drive_must_exert():
    """h = A sin(w t) prescribed: M h'' plus spring, damper and weight."""
    system = ap.compile(ap.derive(ap.library.driven_pendulum())).bind()
    motion = ap.simulate(system, until=2.0, points=21)
    v = system.values
    drive = motion.reactions("drive")["drive"]
    # The whole system: drive = (M + m) g + M h'' + m y''
    expected = (v["M"] + v["m"]) * v["g"] + v["M"] * motion["h.rate.rate"] + v["m"] * motion["y.rate.rate"]
    np.testing.assert_allclose(drive, expected, rtol=0, atol=1e-10)


def test_reactions_with_inputs_and_python_laws():
    x = ap.coordinates("x")
    y, u = ap.coordinates("y"), ap.inputs("u")
    block = ap.Particle("block", m, ground.point(x, y))
    model = ap.Model(ground, (x, y), [block], [ap.Force(u * ground.y, block)], [ap.Holonomic(y, "rail")])
    system = ap.compile(ap.derive(model))
    for law in (sp.sin(ap.t), np.sin):
        motion = ap.simulate(system, {}, until=1.0, inputs={u: law}, points=5)
        np.testing.assert_allclose(motion.reactions()["rail"], -np.sin(motion.times), rtol=0, atol=1e-13)


def test_wrong_names():
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    motion = ap.simulate(system, until=0.1, points=2)
    with pytest.raises(ModelError, match=r"'roling' is not a constraint of 'rolling disk'. Did you mean 'rolling'\?"):
        motion.reactions("roling")
    assert set(motion.reactions("rolling.x").data_vars) == {"rolling.x", "force"}
    free = ap.simulate(ap.compile(ap.derive(ap.library.pendulum_chain(1))).bind(), until=0.1, points=2)
    with pytest.raises(ModelError, match="has no constraints, hence no reactions"):
        free.reactions()


@pytest.mark.parametrize("name", ["force", "row", "coordinate", "t"])
def test_a_row_called_like_another_part_of_the_table_is_refused(name):
    """The table has the generalized forces under `force`: a row of that name would be lost."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    bob, rod = ap.Particle("bob", 1, ground.point(x, y)), ap.Holonomic(x**2 + y**2 - 1, name)
    model = ap.Model(ground, (x, y), [bob], [ap.Gravity(-9.81 * ground.y)], [rod], start={x: 1.0})
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), until=0.1, points=2)
    with pytest.raises(ModelError, match=f"The constraint '{name}' has a name that a table of reactions needs"):
        motion.reactions()


def test_reactions_do_not_depend_on_the_units_of_coordinates():
    """A tether in orbit: the angle of the orbit has 10^14 times the inertia of the tether's length."""
    R, nu, theta, length = ap.coordinates("R nu theta length", "m rad rad m")
    m1, m2, mu, l0 = 1000.0, 100.0, 3.986e14, 1000.0
    ground = ap.Frame("ground")
    orbit = ground.rotate("z", nu)
    tether = orbit.rotate("z", theta)
    center = ground.point(0, 0) + R * orbit.x
    main = ap.Particle("main", m1, center - m2 / (m1 + m2) * length * tether.x)
    sub = ap.Particle("sub", m2, center + m1 / (m1 + m2) * length * tether.x)
    attraction = ap.Potential(-mu * m1 / main.center.norm - mu * m2 / sub.center.norm, "earth")
    rate = float(np.sqrt(mu / 7e6**3))
    model = ap.Model(
        ground, (R, nu, theta, length), [main, sub], [attraction], [ap.Holonomic(length - l0, "tether")], name="tether",
        start={R: 7e6, theta: 0.05, length: l0, nu.rate: rate},
    )  # fmt: skip
    verified = ap.verify(model, ap.UdwadiaKalaba(), states=5)  # the free mass matrix is regular
    assert verified.ok
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), until=10.0)
    along = np.array([np.cos(0.05), np.sin(0.05)])
    places = [np.array([7e6, 0]) + share * l0 * along for share in (-m2 / (m1 + m2), m1 / (m1 + m2))]
    pulls = [-mu * place / np.linalg.norm(place) ** 3 for place in places]
    tension = m1 * m2 / (m1 + m2) * ((pulls[1] - pulls[0]) @ along + l0 * rate**2)  # Newton's law for both ends
    assert float(motion.reactions("tether")["tether"][0]) == pytest.approx(-tension, rel=1e-7, abs=0)


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_friction_at_rest_takes_its_share_of_what_goes_through_a_rod(method):
    """1 N on one of two particles; friction of up to 2 N slows the other down and holds it."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    ends = [ap.Particle(q.name, 1, ground.point(q, 0)) for q in (x, y)]
    model = ap.Model(ground, (x, y), ends, [ap.Generalized({y: 1.0})], [ap.Holonomic(y - x - 1, "rod")])
    system = ap.compile(ap.derive(ap.friction.Coulomb(x, 2.0).on(model)))
    motion = ap.simulate(system, {y: 1, x.rate: 1.0, y.rate: 1.0}, until=6.0, points=4, method=method)
    np.testing.assert_allclose(motion.reactions()["rod"], [-1.5, -1, -1, -1], rtol=0, atol=1e-12)


def test_what_drives_a_belt_does_the_work_of_what_sticks_to_it():
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    parts = [ap.Particle(q.name, 1, ground.point(q, 0)) for q in (x, y)]
    belt = ap.Prescribed(y, 0.1 * sp.sin(2 * ap.t), "belt")
    model = ap.Model(ground, (x, y), parts, [ap.Potential(x**2 / 2)], [belt])
    motion = ap.simulate(ap.compile(ap.derive(ap.friction.Coulomb(x.rate - y.rate, 0.3).on(model))), until=6.0)
    assert motion.check().ok
    assert motion.occurrences
    forces = motion.evaluate(x.rate.rate + y.rate.rate + x, motion.times)  # what both and the spring ask for
    np.testing.assert_allclose(motion.reactions()["belt"], forces, rtol=0, atol=1e-12)
