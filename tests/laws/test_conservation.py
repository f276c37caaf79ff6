"""What must stay: energy, momentum, the loop, the circle of the ball on the turntable; and what must come back."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.model.frame import Vector

ground = ap.Frame("ground")


def system_of(name, options=None, formulation=None):
    return ap.compile(ap.derive(ap.library.model(name, options), formulation)).bind()


def states(motion, times):
    """Many states at once, which is much faster than one by one."""
    return [ap.State(motion.system.model, row, float(t)) for t, row in zip(times, motion.states(times), strict=True)]


def energies(motion, times=None):
    return np.array(
        [motion.system.energy(state)["total"] for state in states(motion, motion.times if times is None else times)]
    )


def largest_residual(motion, times):
    return max(abs(e) for state in states(motion, times) for e in motion.system.residual(state).values())


def test_rolling_disk_keeps_its_energy():
    motion = ap.simulate(system_of("rolling-disk"), until=10.0)
    E = energies(motion)
    assert np.max(np.abs(E / E[0] - 1)) < 1e-12
    assert largest_residual(motion, motion.times[::25]) < 1e-11


def test_four_bar_keeps_loop_and_energy_for_30_s():
    motion = ap.simulate(system_of("four-bar"), until=30.0, points=1501)
    assert motion.outcome is ap.Outcome.DONE
    assert largest_residual(motion, motion.times) <= 1e-11
    between = np.random.default_rng(0).uniform(0, 30, 300)
    assert largest_residual(motion, between) <= 1e-11
    E = energies(motion)
    assert np.max(np.abs(E / E[0] - 1)) < 1e-10


@pytest.mark.parametrize("method", ["taylor", "dop853", "RK45", "Radau", "cvodes"])
def test_constraints_are_kept_by_every_method(method):
    """Also by those whose tolerance is far coarser than the residuals."""
    system = system_of("four-bar")
    motion = ap.simulate(system, until=5.0, method=method, rtol=1e-6)
    times = np.random.default_rng(1).uniform(0, 5, 60)
    assert largest_residual(motion, times) <= 1e-11


def test_the_balance_of_a_run_of_very_many_steps_closes():
    """Some 300 000 steps of a pendulum: ten thousand panels across them all would not see the swings."""
    motion = ap.simulate(system_of("pendulum-chain", {"links": 1}), until=30_000.0, points=11)
    proof = motion.check()
    assert proof.balance < 1e-9
    assert proof.ok


def test_constraints_are_kept_over_a_long_run():
    motion = ap.simulate(system_of("spherical-pendulum"), until=500.0, method="dop853", rtol=1e-8, points=101)
    assert largest_residual(motion, motion.times) <= 1e-11


@pytest.mark.parametrize(
    ("name", "until", "tolerance"),
    [
        ("pendulum-chain", 5.0, 1e-12),
        ("spherical-pendulum", 10.0, 1e-12),
        ("chaplygin-sleigh", 10.0, 1e-13),
        ("snakeboard", 8.0, 1e-12),
        ("bricard", 5.0, 1e-10),
        ("knife-edge", 6.0, 1e-12),
        ("bicycle", 5.0, 1e-10),
    ],
)
@pytest.mark.heyoka
def test_energy_is_kept_without_drives_and_friction(name, until, tolerance):
    motion = ap.simulate(system_of(name), until=until)
    E = energies(motion)
    kinetic = max(motion.system.energy(motion.at(t))["kinetic"] for t in motion.times[::20])
    assert np.max(np.abs(E - E[0])) < tolerance * max(abs(E[0]), kinetic)


def test_a_pendulum_released_at_rest_in_the_horizontal():
    """heyoka takes its step from the last two orders of the series, which vanish here by symmetry."""
    system = system_of("pendulum-chain", {"links": 1, "mass": "points"})
    motion = ap.simulate(system, until=20.0, method="taylor")
    assert motion.info["method"] == "taylor"
    E = energies(motion)
    assert np.max(np.abs(E - E[0])) < 1e-13 * 9.81
    assert np.max(motion["q1"]) == pytest.approx(np.pi / 2, abs=1e-9)


@pytest.fixture(scope="module")
def satellite():
    """Three bodies on springs and hinges in space, no ground; and their momentum and moment of momentum."""
    letters = x, y, z, a, b, c, d, e, f = ap.coordinates("x y z a b c d e f")
    ground = ap.Frame("ground")
    hull = ground.free(x, y, z, a, b, c)
    arm = hull.pin(d, "x", at=(0.5, 0, 0.1))
    hand = arm.slide(e, "y").pin(f, "z", at=(0, 0.3, 0))
    bodies = [
        ap.RigidBody("hull", 3, hull.point(0, 0, 0), hull, (0.4, 0.5, 0.6)),
        ap.RigidBody("arm", 1, arm.point(0, 0.2, 0), arm, (0.02, 0.01, 0.02)),
        ap.RigidBody("hand", 0.5, hand.point(0.1, 0, 0), hand, (0.001, 0.002, 0.003)),
    ]
    forces = [
        ap.Potential(3 * d**2 + 40 * e**2 - sp.cos(f)),
        ap.Spring(hull.point(0, 0.4, 0), bodies[2].center, 5, 0.3),
        ap.Damper(hull.point(0, 0.4, 0), bodies[2].center, 0.3),
        ap.Torque(0.2 * hull.x, arm, hull),
    ]
    system = ap.compile(ap.derive(ap.Model(ground, letters, bodies, forces))).bind()
    momentum = moment = Vector()
    for body in bodies:
        p = body.mass * body.center.dt(ground)
        spin = body.frame.components(body.angular_velocity)
        momentum = momentum + p
        moment = moment + body.center.cross(p) + body.frame.vector(*(body.inertia * sp.Matrix(spin)))
    return system, [*ground.components(momentum), *ground.components(moment)]


@pytest.mark.parametrize(("method", "tolerance"), [("taylor", 1e-11), ("dop853", 1e-9)])
def test_momentum_of_a_free_multibody(satellite, method, tolerance):
    """Springs, a damper and a motor between the bodies change neither momentum nor moment of momentum."""
    system, integrals = satellite
    rates = [1.0, -0.5, 0.3, 0.4, 0.7, -0.6, 1.0, 0.2, -2.0]
    start = ap.State(system.model, np.array([0.1, 0.2, 0.3, 0.3, -0.2, 0.5, 0.4, 0.05, 0.3, *rates]))
    motion = ap.simulate(system, start, until=2.0, method=method, points=5)
    for integral in integrals:
        values = motion[integral].values
        assert np.max(np.abs(values - values[0])) < tolerance
    assert np.ptp(motion["d"].values) > 0.1


@pytest.mark.heyoka
def test_the_ball_on_the_turntable_runs_on_a_circle():
    """v' = (2/7) Omega z x v: a circle of radius 7 v / (2 Omega), run through at the rate 2/7 Omega."""
    system = system_of("rolling-ball")
    motion = ap.simulate(system, until=12.0)
    Omega = system.values["Omega"]
    rate, speed = 2 / 7 * Omega, 0.3
    angle = rate * motion.times
    np.testing.assert_allclose(motion["x.rate"], -speed * np.sin(angle), rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion["y.rate"], speed * np.cos(angle), rtol=0, atol=1e-11)
    centre = 0.5 - speed / rate
    radius = np.hypot(motion["x"] - centre, motion["y"])
    np.testing.assert_allclose(radius, speed / rate, rtol=0, atol=1e-11)
    norm = sum(motion[f"e{k}"] ** 2 for k in range(4))
    np.testing.assert_allclose(norm, 1, rtol=0, atol=1e-13)


def test_the_turning_table_does_work():
    """The kinetic energy of the ball changes by the work of the rolling rows, which depend on the table's motion."""
    proof = ap.simulate(system_of("rolling-ball"), until=1.0).check()
    assert proof.ok
    assert proof.work["reactions"] == pytest.approx(proof.energy[1] - proof.energy[0], rel=1e-9)
    assert abs(proof.work["reactions"]) > 1e-3


@pytest.mark.parametrize("name", ["rolling-disk", "four-bar", "snakeboard", "spherical-pendulum"])
def test_a_motion_run_backwards_comes_home(name):
    """Turning all velocities round takes a conservative system back to where it began."""
    system = system_of(name)
    there = ap.simulate(system, until=3.0)
    end = there.at(3.0)
    n = len(system.model.coordinates)
    turned = ap.State(system.model, end.array * np.where(np.arange(end.array.size) < n, 1, -1))
    back = ap.simulate(system, turned, until=3.0)
    home = back.at(3.0).array * np.where(np.arange(end.array.size) < n, 1, -1)
    np.testing.assert_allclose(home, there.at(0.0).array, rtol=0, atol=1e-9)


def test_the_sleigh_run_backwards_in_velocity_is_another_motion():
    """Its attractor is for one direction only: run backwards it turns round. Energy alone would not show it."""
    system = system_of("chaplygin-sleigh")
    forward = ap.simulate(system, {"x.rate": 1.0, "theta.rate": 1e-3}, until=30.0)
    backward = ap.simulate(system, {"x.rate": -1.0, "theta.rate": 1e-3}, until=30.0)
    assert abs(forward.at(30.0)["theta.rate"]) < 1e-6
    u = backward["x.rate"] * np.cos(backward["theta"]) + backward["y.rate"] * np.sin(backward["theta"])
    assert float(u[0]) == -1.0
    assert float(u[-1]) == pytest.approx(1.0, abs=1e-4)


def test_work_of_every_force_adds_up():
    """Motor, bearings and reactions of the differential drive against its kinetic energy, each by itself."""
    system = system_of("differential-drive")
    motion = ap.simulate(system, until=5.0)
    proof = motion.check()
    gained = energies(motion)[-1] - energies(motion)[0]
    assert sum(proof.work.values()) == pytest.approx(gained, rel=1e-10)
    assert proof.work["left motor"] > 0 > proof.work["left bearing"]
    motor = np.trapezoid(0.05 * (motion["left.rate"]), motion.times)
    assert proof.work["left motor"] == pytest.approx(motor, rel=1e-4)


def raised(explicit):
    """A rod on a pivot that is raised, in explicit time or by a constraint; pushed, braked, with spring and damper."""
    angle, height = ap.coordinates("angle height", "rad m")
    lift = sp.Rational(3, 10) * ap.t**2 + sp.sin(3 * ap.t) / 5
    arm = ground.at(ground.point(0, lift if explicit else height)).pin(angle)
    rod = ap.RigidBody("rod", 2.0, arm.point(0, -0.5), arm, (0, 0, sp.Rational(1, 6)))
    tip, wall = arm.point(0, -1), ground.point(1, sp.sin(ap.t) / 10)
    forces = [
        ap.Gravity(-9.81 * ground.y),
        ap.Force(-0.3 * ground.x - 0.2 * ground.y, tip, name="push"),
        ap.Torque(-sp.sign(angle.rate) / 10 * ground.z, rod, name="brake"),
        ap.Spring(wall, tip, 3.0, 0.2),
        ap.Damper(wall, tip, 0.4),
    ]
    coordinates = (angle,) if explicit else (angle, height)
    rows = [] if explicit else [ap.Prescribed(height, lift, "drive")]
    model = ap.Model(ground, coordinates, [rod], forces, rows)
    start = {angle: 1.0} if explicit else {angle: 1.0, height: 0.0, height.rate: 0.6}
    return model, ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=3.0, points=3)


def test_a_pivot_raised_in_time_does_the_work_of_one_raised_by_a_constraint():
    model, motion = raised(explicit=True)
    _, other = raised(explicit=False)
    check, proof = motion.check(), other.check()
    assert check.ok
    assert proof.ok
    for name in ("gravity", "push", "brake"):
        assert check.work[name] == pytest.approx(proof.work[name], rel=1e-12)
    assert check.energy == pytest.approx(proof.energy, rel=1e-12)
    ends = np.array([0.0, 3.0])
    rise = np.diff(motion.evaluate(ground.components(model.bodies[0].center)[1], ends))[0]
    assert check.work["gravity"] == pytest.approx(-2 * 9.81 * rise, rel=1e-12)
    spring = next(force for force in model.forces if force.name == "spring")
    assert check.work["spring"] == pytest.approx(-np.diff(motion.evaluate(spring.energy, ends))[0], rel=1e-12)


def test_whoever_moves_the_end_of_a_spring_and_a_damper_works():
    x = ap.coordinates("x", "m")
    body, end = ap.Particle("body", 1.5, ground.point(x, 0)), ground.point(sp.sin(2 * ap.t) - 4, 0)
    model = ap.Model(ground, x, [body], [ap.Spring(end, body.center, 4.0, 4.0), ap.Damper(end, body.center, 0.3)])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {x: 0.2}, until=5.0)
    check, times = motion.check(), np.linspace(0, 5, 20001)
    gap = x + 4 - sp.sin(2 * ap.t)
    rate = motion.evaluate(x.rate - 2 * sp.cos(2 * ap.t), times)
    assert check.work["spring"] == pytest.approx(-np.diff(motion.evaluate(2 * (gap - 4) ** 2, times[[0, -1]]))[0])
    assert check.work["damper"] == pytest.approx(-np.trapezoid(0.3 * rate**2, times), rel=1e-6)
    pull = motion.evaluate(4 * (gap - 4), times) + 0.3 * rate
    mover = np.trapezoid(-pull * 2 * np.cos(2 * times), times)
    assert check.work["prescribed motion"] == pytest.approx(mover, rel=1e-6)
    assert check.ok


@pytest.mark.heyoka
def test_work_that_is_rounding_alone_is_none():
    model = ap.library.appell_hamel()
    found = ap.simulate(ap.compile(ap.derive(model)).bind(), until=2.0).check()
    assert found.work["reactions"] == 0.0
    assert "work of reactions: 0 J" in repr(found)
    assert found.work["gravity"] != 0.0


def test_a_mechanism_at_rest_is_well():
    """What moves it is rounding: forces on its bars cancel, and what is left of them is all the energy there is."""
    rest = ap.equilibrium(ap.library.four_bar())
    motion = ap.simulate(rest.system, rest, until=3.0)
    assert motion.check().ok


def test_what_is_called_alike_does_its_own_work():
    """A weight and a programme of one name: neither is lost from the balance."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    body, weight = ap.Particle("body", 1, ground.point(x, y)), ap.Gravity(-10 * ground.y, "drive")
    model = ap.Model(ground, (x, y), [body], [weight], [ap.Programmed(x.derivative(3) - 1, "drive")])
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, system.consistent({"x.rate.rate": 0.0}), until=1.0, points=2)
    work = motion.check().work
    np.testing.assert_allclose([work["drive"], work["drive (2)"]], [50.0, 1 / 8], rtol=1e-9)
