"""Rows that say one thing twice: wheels of one axle, rolling in a hoop, a plate on three cranks."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import InconsistentStartError, ModelError

ground = ap.Frame("ground")
FORMULATIONS = [ap.GibbsAppell(), ap.Voronets(), ap.Multipliers(), ap.UdwadiaKalaba(), ap.Recursive()]


def axle(written):
    """Two wheels on an axle, pushed and turned; rolling as such, or written by hand along the axes of the ground."""
    x, y, heading, left, right = ap.coordinates("x y heading left right")
    frame, middle = ground.rotate("z", heading), ground.point(x, y, 0.1)
    wheels = [
        ap.RigidBody(name, 0.5, middle + side * 0.25 * frame.y, frame.rotate("y", turn), (0.00125, 0.0025, 0.00125))
        for name, side, turn in (("left wheel", 1, left), ("right wheel", -1, right))
    ]
    body = ap.RigidBody("axle", 5, middle, frame, (0, 0, 0.4))
    contacts = [wheel.center - 0.1 * ground.z for wheel in wheels]
    if written == "by hand":
        slips = [wheel.velocity_at(contact) for wheel, contact in zip(wheels, contacts, strict=True)]
        rows = [ap.Nonholonomic([v.dot(ground.x), v.dot(ground.y)]) for v in slips]
    else:
        rows = [ap.Rolling(wheel, contact) for wheel, contact in zip(wheels, contacts, strict=True)]
    forces = [ap.Force(1.0 * frame.x, body), ap.Torque(0.3 * frame.z, body)]
    return ap.Model(ground, (x, y, heading, left, right), [body, *wheels], forces, rows)


def axle_end(until, start, speed, turning):
    """By hand: m u' = F along the axle, I w' = M; heading and path by quadrature."""
    from scipy.integrate import solve_ivp

    r, b, spin, across = 0.1, 0.25, 0.0025, 0.00125
    mass = 6.0 + 2 * spin / r**2
    inertia = 0.4 + 2 * (0.5 * b**2 + across + spin * b**2 / r**2)

    def rates(t, s):
        _, _, heading, u, w = s
        return u * np.cos(heading), u * np.sin(heading), w, 1.0 / mass, 0.3 / inertia

    return solve_ivp(rates, (0, until), (0, 0, start, speed, turning), rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1]


@pytest.mark.parametrize("written", ["by hand", "rolling"])
@pytest.mark.parametrize("formulation", [*FORMULATIONS, "given speeds"], ids=lambda f: getattr(f, "name", f))
def test_an_axle_turns_through_all_headings(written, formulation):
    model = axle(written)
    u, w = ap.speeds("u w")
    body = model.bodies[0]
    along = body.velocity_at(body.center).dot(body.frame.x)
    chosen = ap.GibbsAppell({u: along, w: model.coordinates[2].rate}) if formulation == "given speeds" else formulation
    system = ap.compile(ap.derive(model, chosen)).bind()
    start = system.state({"heading": np.pi / 2, "y.rate": 0.8, "heading.rate": 1.0})
    motion = ap.simulate(system, start, until=2.0, points=3, method="dop853", rtol=1e-10, atol=1e-10, progress=False)
    assert motion.outcome is ap.Outcome.DONE
    found = [motion.columns[name][-1] for name in ("x", "y", "heading")]
    assert found == pytest.approx(axle_end(2.0, np.pi / 2, 0.8, 1.0)[:3], abs=1e-7)


def test_rolling_of_both_wheels_is_written_along_the_axle():
    model = axle("rolling")
    assert {c.axes for c in model.constraints} == {model.bodies[0].frame}
    equations = ap.derive(model)
    assert len(equations.speeds) == 2
    assert len(equations.redundant_rows) == 1


def test_a_single_wheel_stays_along_the_ground():
    disk = ap.library.rolling_disk()
    assert disk.constraints[0].axes is disk.ground


@pytest.mark.parametrize("moving", [True, False], ids=["hoop on a cart", "fixed hoop"])
def test_a_disk_in_a_hoop(moving):
    """A disk of radius 0.2 rolls inside a hoop of radius 1: its only row is along the hoop."""
    s, th, f = ap.coordinates("s th f")
    hoop = ground.slide(s) if moving else ground
    out = hoop.rotate("z", th)
    cart = ap.RigidBody("hoop", 3, hoop.origin, hoop, (0, 0, 1))
    disk = ap.RigidBody("disk", 1, hoop.origin - 0.8 * out.y, ground.rotate("z", f), (0, 0, 0.02))
    row = ap.Rolling(disk, hoop.origin - out.y, on=cart if moving else None)
    bodies, coordinates = ([cart, disk], (s, th, f)) if moving else ([disk], (th, f))
    model = ap.Model(ground, coordinates, bodies, [ap.Gravity(-9.81 * ground.y)], [row])
    assert len(model.rows) == 1
    system = ap.compile(ap.derive(model)).bind()
    # (m R^2 + I (R/r)^2) th'' = -m g R sin th, R = 0.8, r = 0.2; the cart moves by m R th'^2 sin th / (m + M).
    expected = [-8.175, 32.7]
    found = system.accelerations(system.state({"th": np.pi / 2, "th.rate": 2.0}))
    assert found == pytest.approx([0.8, *expected] if moving else expected, rel=1e-12)
    motion = ap.simulate(system, {"th.rate": 9.0}, until=2.0, points=3, progress=False)
    assert motion.outcome is ap.Outcome.DONE
    assert motion.check().ok


def test_too_many_rows_are_counted_once():
    q = ap.coordinates("q")
    body = ap.Particle("body", 1.0, q * ground.x)
    with pytest.raises(ModelError, match="leave nothing that can move"):
        ap.Model(ground, (q,), [body], [], [ap.Nonholonomic(q.rate), ap.Nonholonomic(2 * q.rate)])


def cranks():
    """A plate on three parallel cranks: six rows, five of them independent while the cranks are parallel."""
    x, y, f, *turns = ap.coordinates("x y f a b c")
    plate, length = ground.planar(x, y, f), 0.5
    arms = [(ground.rotate("z", turn), place) for turn, place in zip(turns, (-1, 0, 1), strict=True)]
    bodies = [
        ap.RigidBody(f"crank {p}", 1.0, ground.point(p, 0) + length / 2 * arm.x, arm, (0, 0, 0.02)) for arm, p in arms
    ]
    rows = [ap.Holonomic(plate.point(p, 0) - ground.point(p, 0) - length * arm.x, f"pin {p}") for arm, p in arms]
    start = {**dict.fromkeys(turns, 0.7), x: length * np.cos(0.7), y: length * np.sin(0.7)}
    plate = ap.RigidBody("plate", 2.0, plate.origin, plate, (0, 0, 0.3))
    weight = ap.Gravity(-9.81 * ground.y)
    return ap.Model(ground, (x, y, f, *turns), [plate, *bodies], [weight], rows, start=start)


def test_a_plate_on_three_cranks_moves():
    model = cranks()
    equations = ap.derive(model)
    assert len(equations.redundant_rows) == 1
    system = ap.compile(equations).bind()
    found = system.accelerations(system.state(dict(model.start)))[3]
    assert found == pytest.approx(-9.81 * np.cos(0.7) * (2 + 1.5) * 0.5 / (2 * 0.25 + 3 * (0.25 / 4 + 0.02)), rel=1e-12)


def parallelogram():
    a, f, b = ap.coordinates("a f b")
    left, rod, right = (ground.rotate("z", angle) for angle in (a, f, b))
    loop = ap.Holonomic(0.5 * left.x + rod.x - 0.5 * right.x - ground.x, "loop")
    bodies = [
        ap.RigidBody("left", 1.0, 0.25 * left.x, left, (0, 0, 0.02)),
        ap.RigidBody("rod", 1.0, 0.5 * left.x + 0.5 * rod.x, rod, (0, 0, 0.1)),
        ap.RigidBody("right", 1.0, ground.x + 0.25 * right.x, right, (0, 0, 0.02)),
    ]
    return ap.Model(ground, (a, f, b), bodies, [ap.Gravity(-9.81 * ground.y)], [loop], start={a: 0.7, b: 0.7})


def test_a_run_into_a_pose_where_a_parallelogram_lies_in_line_says_so():
    motion = ap.simulate(ap.compile(ap.derive(parallelogram())).bind(), until=3.0, points=3, progress=False)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    assert "more ways than one" in repr(motion)


def windows(count):
    """So many parallelograms in a row, all in line at once: problem A02 of the IFToMM library of benchmarks."""
    cranks, couplers = ap.coordinates(f"a0:{count + 1}"), ap.coordinates(f"c1:{count + 2}")[:count]
    arms = [ground.pin(angle, at=(i, 0, 0)) for i, angle in enumerate(cranks)]
    rods = [arm.pin(angle, at=(0, 1, 0)) for arm, angle in zip(arms, couplers, strict=False)]
    bodies = [ap.RigidBody(f"crank {i}", 1, f.point(0, 0.5), f, (0, 0, 1 / 12)) for i, f in enumerate(arms)]
    bodies += [ap.RigidBody(f"coupler {i}", 1, f.point(0.5, 0), f, (0, 0, 1 / 12)) for i, f in enumerate(rods)]
    loops = [ap.Holonomic(f.point(1, 0) - arms[i + 1].point(0, 1), f"loop {i}") for i, f in enumerate(rods)]
    rates = {**dict.fromkeys((a.rate for a in cranks), -1.0), **dict.fromkeys((c.rate for c in couplers), 1.0)}
    return ap.Model(ground, (*cranks, *couplers), bodies, [ap.Gravity(-9.81 * ground.y)], loops, start=rates)


def test_many_loops_that_come_into_line_together_are_followed_as_far_as_one():
    motion = ap.simulate(ap.compile(ap.derive(windows(5))).bind(), until=3.0, method="dop853", progress=False)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    assert motion["a0"][-1] == pytest.approx(-np.pi / 2, abs=1e-4)


@pytest.fixture(scope="module")
def peaucellier():
    """Peaucellier's linkage, and where to look for its starts."""
    letters = ap.coordinates("xA yA xB yB xC yC xP yP")
    A, B, C, P = (ground.point(*letters[2 * i : 2 * i + 2]) for i in range(4))
    origin, center = ground.point(0, 0), ground.point(1.2, 0)
    bars = ((A, origin, 3), (B, origin, 3), (C, center, 1.2), (A, C, 1), (B, C, 1), (A, P, 1), (B, P, 1))
    rows = [ap.Holonomic((a - b).dot(a - b) - length**2, f"bar{i}") for i, (a, b, length) in enumerate(bars)]
    bodies = [ap.Particle(name, 1.0, place) for name, place in zip("ABCP", (A, B, C, P), strict=True)]
    model = ap.Model(ground, letters, bodies, [ap.Gravity(-9.81 * ground.y)], rows, name="Peaucellier")
    guess = dict(zip(letters, (2.72, 1.26, 2.85, -0.92, 2.394, 0.12, 3.33, 0.17), strict=True))
    return ap.compile(ap.derive(model)).bind(), guess


@pytest.mark.parametrize("height", np.linspace(0.05, 0.35, 11))
def test_a_run_does_not_turn_into_another_branch_where_rows_are_dependent(peaucellier, height):
    """It draws a straight line until its rhomb is flat, where it could go on otherwise."""
    system, guess = peaucellier
    motion = ap.simulate(system, system.consistent(keep={"yC": height}, near=guess), until=3.0, progress=False)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    np.testing.assert_allclose(motion["xP"], (3**2 - 1) / 2.4, rtol=0, atol=1e-9)
    np.testing.assert_allclose(motion["xP.rate"], 0, rtol=0, atol=1e-3)
    assert motion.check().ok


def test_lanes_do_not_turn_into_another_branch_either(peaucellier):
    system, guess = peaucellier
    starts = [system.consistent(keep={"yC": y}, near=guess) for y in np.linspace(0.05, 0.35, 16)]
    study = ap.sweep(system, {"start": starts}, until=3.0, points=301, progress=False)
    assert study.outcomes == {"ROWS_SINGULAR": 16}
    assert np.nanmax(np.abs(study["xP"].values - 8 / 2.4)) < 1e-8
    assert np.abs(study["xP.end"].values - 8 / 2.4).max() < 1e-8


@pytest.mark.parametrize("method", ["taylor", "dop853", "cvodes", "DOP853"])
@pytest.mark.parametrize("angle", [0.0, 0.3, np.arctan2(0.8, 0.6), np.pi / 2])
def test_a_run_ends_at_the_apex_of_a_cone(method, angle):
    """Down a generator; at the apex the only row has no slope, and rounding would choose how to go on."""
    x, y, z = letters = ap.coordinates("x y z")
    bob = ap.Particle("bob", 1.0, ground.point(*letters))
    cone = ap.Holonomic(x**2 + y**2 - z**2, "cone")
    model = ap.Model(ground, letters, [bob], [ap.Gravity(-9.81 * ground.z)], [cone])
    c, s = np.cos(angle), np.sin(angle)
    start = {x: c, y: s, z: 1.0, x.rate: -c, y.rate: -s}
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=1.0, method=method, progress=False)
    assert motion.outcome is ap.Outcome.ROWS_SINGULAR
    apex = (np.sqrt(1 + 9.81) - 1) / (9.81 / 2)  # z = 1 - t - g t^2 / 4
    assert 0 < apex - motion.times[-1] < 1e-3
    np.testing.assert_allclose(motion["z"], 1 - motion.times - 9.81 / 4 * motion.times**2, rtol=0, atol=1e-6)


@pytest.mark.parametrize("formulation", [ap.GibbsAppell(), ap.Multipliers()])
def test_a_run_from_where_a_parallelogram_lies_in_line_is_refused(formulation):
    system = ap.compile(ap.derive(parallelogram(), formulation)).bind()
    with pytest.raises(InconsistentStartError, match=r"'loop\.x'.*more ways than one"):
        ap.simulate(system, {"a.rate": 1.0, "b.rate": 1.0}, until=1.0)


def test_a_speed_that_is_prescribed_cannot_start_from_rest():
    x, y = ap.coordinates("x y")
    body = ap.Particle("body", 1.0, ground.point(x, y))
    row = ap.Nonholonomic(x.rate**2 + y.rate**2 - sp.sin(ap.t) ** 2, "speed")
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), [body], [ap.Gravity(-9.81 * ground.y)], [row]))).bind()
    with pytest.raises(InconsistentStartError, match="'speed' restricts nothing that the others leave free"):
        ap.simulate(system, {}, until=1.0)


def turned_by(*quaternion):
    """A body on a slide, turned by a quaternion of formulas."""
    ground, x = ap.Frame("ground"), ap.coordinates("x")
    turn = [s for s in ap.coordinates("a b") if any(s in sp.sympify(e).free_symbols for e in quaternion)]
    frame = ground.rotate_quaternion(*quaternion)
    body = ap.RigidBody("body", 1.0, ground.point(x, 0) + 0.5 * frame.y, frame, (0.1, 0.2, 0.2))
    return ap.Model(ground, (x, *turn), [body], [ap.Gravity(-9.81 * ground.z)], start={s: 0.3 for s in turn})


A, B = ap.coordinates("a b")


@pytest.mark.parametrize(
    "quaternion",
    [
        (sp.cos(A / 2), sp.sin(A / 2), 0, 0),
        (sp.cos(A) * sp.cos(B), sp.cos(A) * sp.sin(B), sp.sin(A), 0),
        (sp.cos(ap.t), 0, 0, sp.sin(ap.t)),
        (1, 0, 0, 0),
        (A / sp.sqrt(A**2 + 1), 0, 1 / sp.sqrt(A**2 + 1), 0),
    ],
)
def test_a_quaternion_of_length_one_by_itself_needs_no_row(quaternion):
    model = turned_by(*quaternion)
    assert not model.rows
    found = ap.verify(model, states=4)
    assert found.ok, found
    assert ap.simulate(ap.compile(ap.derive(model)).bind(), until=0.5).check().ok


def test_a_quaternion_that_is_not_of_length_one_has_its_row():
    assert [row.order for row in turned_by(A, sp.sin(B), 0, 0).rows] == [0]
    with pytest.raises(ModelError, match="contains no coordinate"):
        turned_by(2, 0, 0, 0)


def test_a_lone_row_that_says_nothing():
    ground, (x, y) = ap.Frame("ground"), ap.coordinates("x y")
    body = ap.Particle("body", 1.0, ground.point(x, y))
    model = ap.Model(ground, (x, y), [body], [], [ap.Holonomic((x + y) ** 2 - x**2 - 2 * x * y - y**2, "nothing")])
    u, w = ap.speeds("u w")
    found = ap.verify(model, ap.GibbsAppell(speeds={u: x.rate, w: 2 * y.rate + x.rate}), states=4)
    assert found.ok, found
