"""Qiao's integral principle (VII) on his pursuit, as a checker and as a solver.

Numbers of the pursuit from Newton's equation with a multiplier, to twelve digits; the integrals of the false motions
are 0.7 times elementary ones.
"""

from functools import cache
from itertools import pairwise
from math import exp, pi

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.code import heyoka_code
from appell.errors import FormulationError, IntegrationError, ModelError

T = 1.2
ZERO = 2e-13 if heyoka_code.available() else 1e-9  # forces are of size 20 N, so this is rounding
t, ground = ap.t, ap.Frame("ground")
x, y = ap.coordinates("x y")
v = ap.speeds("v")
target = 1 + t / 2 + sp.sin(2 * t) / 5
distance = sp.sqrt((target - x) ** 2 + y**2)
toward = ap.GibbsAppell(speeds={v: (x.rate * (target - x) - y.rate * y) / distance})
VANISHING = [sp.sin(sp.pi * t / 1.2), t * (1.2 - t) * sp.exp(t), sp.sin(3 * sp.pi * t / 1.2)]


def pursuit(push=0, constrained=True):
    """Case a1; a push along the speed v makes a motion whose residual is just that."""
    body = ap.Particle("P", 2 - sp.Rational(3, 10) * t, ground.point(x, y))
    relative = (sp.cos(t) / 5 - sp.Rational(1, 2)) * ground.vector(x.rate, y.rate)
    forces = [ap.Gravity(-9.81 * ground.y), ap.Stream(body, relative)]
    if push:
        forces.append(ap.Force(push / distance * ground.vector(target - x, -y), body))
    rows = [ap.Nonholonomic(y.rate * (x - target) - y * x.rate)] if constrained else []
    return ap.Model(ground, (x, y), [body], forces, rows, name="pursuit")


@cache
def system_of(push=0, formulation=toward):
    return ap.compile(ap.derive(pursuit(push), formulation)).bind()


@cache
def motion_of(push=0):
    system = system_of(push)
    return ap.simulate(system, system.consistent({x: -6, y: 8, x.rate: 1, y.rate: -8 / 7}), until=T)


def start():
    return motion_of().at(0.0)


# The checker.


def test_true_motion_passes():
    free = ap.integral_principle(system_of(), motion_of(), [t / 1.2, *VANISHING])
    fixed = ap.integral_principle(system_of(), motion_of(), VANISHING, ends="fixed")
    assert np.max(np.abs(free.value)) < ZERO
    assert np.max(np.abs(fixed.value)) < ZERO
    assert free.ok
    assert fixed.ok
    assert free.speeds == ("v",)
    assert free.value.shape == (4, 1)
    assert np.all(free.scale > 20)


def test_constant_residual_is_seen_by_the_free_end_only():
    """Erratum to (7.7): with fixed ends only a residual that changes in time is seen (du Bois-Reymond)."""
    motion = motion_of(0.7)
    fixed = ap.integral_principle(system_of(), motion, VANISHING, ends="fixed")
    assert np.max(np.abs(fixed.value)) < 10 * ZERO
    assert fixed.ok
    assert fixed.blind
    assert "constant in time is not seen" in repr(fixed)
    assert ap.integral_principle(system_of(), motion, VANISHING).blind
    free = ap.integral_principle(system_of(), motion, t / 1.2)
    assert free.value[0, 0] == pytest.approx(-0.7, abs=1e-11)
    assert not free.ok
    assert "DOES NOT HOLD" in repr(free)
    assert not free.blind
    assert not ap.integral_principle(system_of(), motion).ok
    assert ap.integral_principle(system_of(), motion, ends="fixed").ok
    assert ap.integral_principle(system_of(0.7), motion).ok


@pytest.mark.parametrize("ends", ["free", "fixed"])
def test_growing_residual_is_seen_by_both(ends):
    """-int 0.7 t w' dt = 0.7 int w dt for tests that vanish at both ends."""
    found = ap.integral_principle(system_of(), motion_of(0.7 * t), VANISHING, ends=ends)
    assert not found.ok
    np.testing.assert_allclose(found.value[:, 0], [0.5348, 0.3807, 0.1783], rtol=0, atol=5e-5)
    middle = (T - 2) * exp(T) + T + 2  # of t (T - t) exp(t)
    np.testing.assert_allclose(found.value[:, 0], 0.7 * np.array([2 * T / pi, middle, 2 * T / (3 * pi)]), rtol=1e-10)


@pytest.mark.parametrize("formulation", [ap.GibbsAppell(), ap.Voronets(), ap.UdwadiaKalaba()], ids=lambda f: f.name)
def test_other_speeds_and_principles_judge_the_same_motion(formulation):
    system = system_of(0, formulation)
    for ends in ("free", "fixed"):
        assert ap.integral_principle(system, motion_of(), ends=ends).worst < 1e-11
    assert not ap.integral_principle(system, motion_of(0.7)).ok


def test_the_free_motion_of_another_model_fails_and_breaks_the_row():
    free = ap.compile(ap.derive(pursuit(constrained=False))).bind()
    motion = ap.simulate(free, dict(start().to_dict()), until=T, method="dop853")
    found = ap.integral_principle(system_of(), motion)
    assert not found.ok
    assert found.violation > 0.1
    assert ap.integral_principle(free, motion).ok


def test_tables():
    motion = motion_of()
    table = {"t": motion.times, **motion.columns}
    found = ap.integral_principle(system_of(), table)
    assert found.ok
    assert found.resolution < 1e-10
    positions = {name: table[name] for name in ("t", "x", "y")}
    assert ap.integral_principle(system_of(), positions).ok
    rates = {**table, "y.rate": 1.001 * table["y.rate"]}
    wrong = ap.integral_principle(system_of(), rates)
    assert not wrong.ok
    assert wrong.kinematics > 1e-4


def test_a_coarse_table_is_called_so():
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    found = ap.simulate(system, until=10.0, points=41)
    found = ap.integral_principle(system, {"t": found.times, **found.columns})
    assert not found.ok
    assert "the table is too coarse to tell" in repr(found)


def test_constraints_nonlinear_in_the_velocities():
    system = ap.compile(ap.derive(ap.library.appell_hamel())).bind()
    motion = ap.simulate(system, until=1.0, method="dop853")
    for ends in ("free", "fixed"):
        found = ap.integral_principle(system, motion, ends=ends)
        assert found.ok
        assert found.value.shape[1] == 2
    heavier = system.bind({"g": 9.82})
    assert not ap.integral_principle(heavier, motion).ok


def test_a_stream_that_ends():
    """The thrust jumps; in (7.7) the jump belongs to its rate."""
    tank = ap.states("tank")
    body = ap.Particle("body", 10 + tank, ground.point(x, 0))
    forces = [ap.Gravity(-ground.x), ap.Stream(body, -20 * ground.x)]
    model = ap.Model(ground, x, [body], forces, states={tank: -ap.drained(2, tank)}, name="tank")
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, {tank: 3.0}, until=4.0, method="dop853")
    assert [o.t for o in motion.occurrences] == [pytest.approx(1.5)]
    for ends in ("free", "fixed"):
        assert ap.integral_principle(system, motion, ends=ends).worst < 1e-10


def test_mass_that_depends_on_velocity():
    """The thrust contains the acceleration; it is the one of the motion."""
    body = ap.Particle("body", 2 / sp.sqrt(1 - x.rate**2 / 9), ground.point(x, 0))
    forces = [ap.Force(sp.Rational(3, 2) * ground.x, body), ap.Stream(body, -x.rate * ground.x)]
    system = ap.compile(ap.derive(ap.Model(ground, x, [body], forces))).bind()
    times = np.linspace(0, 2, 401)
    momentum = 1.5 * times
    speed = momentum / np.sqrt(4 + momentum**2 / 9)
    position = 6 * (np.sqrt(4 + momentum**2 / 9) - 2)  # closed form of d(mv)/dt = F
    table = {"t": times, "x": position, "x.rate": speed}
    for ends in ("free", "fixed"):
        assert ap.integral_principle(system, table, ends=ends).worst < 1e-10


def test_programmes_of_order_three():
    """Their multipliers are states, and the forces of these act like any others."""
    system = ap.compile(ap.derive(ap.library.jerk_cart_pendulum(), ap.GibbsAppell()))
    motion = ap.simulate(system, until=1.0)
    assert ap.integral_principle(system, motion).ok
    solved = ap.galerkin(system, until=1.0, degree=8, elements=8)
    np.testing.assert_allclose(solved.states(1.0), motion.states(1.0), rtol=0, atol=1e-10)


def test_events_and_sticking_are_left_out_by_name():
    h = ap.coordinates("h")
    body = ap.Particle("body", 1, ground.point(h, 0))
    ball = ap.compile(ap.derive(ap.Model(ground, h, [body], [ap.Gravity(-9.81 * ground.x)]))).bind()
    bounce = ap.Event(h, -1, reset={h.rate: -0.8 * h.rate})
    found = ap.integral_principle(ball, ap.simulate(ball, {h: 1}, until=1.0, method="dop853", events=[bounce]))
    assert found.ok
    assert found.left_out == (f"rates jump at t = {np.sqrt(2 / 9.81):.6g}",)
    forces = [ap.Force(-3 * sp.sign(h.rate) * ground.x, body)]
    block = ap.compile(ap.derive(ap.Model(ground, h, [body], forces))).bind()
    found = ap.integral_principle(block, ap.simulate(block, {h: 0, h.rate: 1.5}, until=1.0, method="dop853"))
    assert found.ok
    assert found.left_out == ("sticks from t = 0.5 to 1",)


def test_driven_inputs_come_from_the_motion():
    model = ap.library.differential_drive()
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, control=lambda s, state: [0.1 * np.sin(s), 0.2], until=2.0)
    assert ap.integral_principle(system, motion).ok


def test_refusals():
    system, motion = system_of(), motion_of()
    with pytest.raises(ModelError, match=r"The test t\*\*2 does not vanish at both ends: it is 0 at t = 0 and 1.44"):
        ap.integral_principle(system, motion, [VANISHING[0], t**2], ends="fixed")
    with pytest.raises(ModelError, match=r"contains x; a test is a formula in appell.t alone"):
        ap.integral_principle(system, motion, x * t)
    with pytest.raises(ModelError, match="The test 1 is constant"):
        ap.integral_principle(system, motion, 1)
    with pytest.raises(ModelError, match="No test functions"):
        ap.integral_principle(system, motion, [])
    with pytest.raises(ModelError, match=r"is not finite between t = 0 and 1.2"):
        ap.integral_principle(system, motion, sp.log(t - 1))
    with pytest.raises(ModelError, match="use 'free' for eq"):
        ap.integral_principle(system, motion, ends="loose")
    with pytest.raises(FormulationError, match="has multipliers among its unknowns"):
        ap.integral_principle(system_of(0, ap.Multipliers()), motion)
    disk = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    with pytest.raises(ModelError, match="'yaw' is not a quantity of the motion"):
        ap.integral_principle(disk, motion)
    with pytest.raises(ModelError, match=r"'y' is not a column of the table"):
        ap.integral_principle(system, {"t": motion.times, "x": motion.columns["x"]})
    with pytest.raises(ModelError, match="at least eight increasing times"):
        ap.integral_principle(system, {"t": [0, 1], "x": [0, 1], "y": [0, 1]})
    with pytest.raises(ModelError, match="give a Motion"):
        ap.integral_principle(system, [1, 2])


def test_quasi_accelerations():
    e = ap.speeds("e")
    definition = {v: (x.rate * (target - x) - y.rate * y) / distance}
    linear = ap.QuasiAccelerations(definition, {v.rate: 3 * e - v})
    assert ap.integral_principle(system_of(0, linear), motion_of()).worst < 1e-12
    curved = ap.QuasiAccelerations(definition, {v.rate: sp.sinh(e)})
    with pytest.raises(FormulationError, match="not linear in the rates of the speeds"):
        ap.integral_principle(system_of(0, curved), motion_of())


# The solver.


def error_of_v(**options):
    times = np.linspace(0, T, 241)
    found = ap.galerkin(system_of(), start(), T, **options)
    return float(np.max(np.abs(found.evaluate(v, times) - motion_of().evaluate(v, times))))


@pytest.mark.heyoka
def test_galerkin_converges_spectrally():
    """The reference run of degree 9 is 8.7e-8 off; every two degrees more are worth a factor of ten."""
    errors = [error_of_v(degree=n, elements=1) for n in (5, 7, 9, 11, 13, 15)]
    assert errors[2] < 8.7e-8
    assert all(better < worse / 8 for worse, better in pairwise(errors))
    assert error_of_v(degree=20, elements=1) < 1e-12


def test_galerkin_gives_the_reference_numbers():
    found = ap.galerkin(system_of(), start(), T, degree=20)
    reference = {
        0.25: [-5.592663283833, 7.542789072783, 2.265543988377, -2.508020704839],
        0.5: [-4.863897944783, 6.749075245611, 3.571024506210, -3.836417695056],
        1.0: [-2.403734799326, 4.179207691991, 6.294637767697, -6.438867088596],
        1.2: [-1.031791110356, 2.787050409105, 7.430132825219, -7.484287967168],
    }
    for time, values in reference.items():
        np.testing.assert_allclose(found.at(time).array, values, rtol=0, atol=1e-11)
    assert found.outcome.ok
    assert found.check().ok
    assert "20, last Legendre coefficients" in found.summary()
    assert ap.integral_principle(system_of(), found).ok


def test_galerkin_converges_with_the_power_2n_at_the_ends_of_elements():
    exact = motion_of().at(T).array
    errors = [
        np.max(np.abs(ap.galerkin(system_of(), start(), T, 3, elements=k).at(T).array - exact)) for k in (1, 2, 4)
    ]
    assert errors[0] / errors[1] > 40  # 2^6
    assert errors[1] / errors[2] > 40


def test_galerkin_satisfies_its_own_tests_exactly_and_others_nearly():
    found = ap.galerkin(system_of(), start(), T, degree=5, elements=1)
    s = t / sp.Rational(6, 5)
    own = ap.integral_principle(system_of(), found, [s, s**2, s**5])
    assert own.worst < 1e-13
    others = ap.integral_principle(system_of(), found, [s**6, s**8])
    assert 1e-9 < others.worst < 1e-3


def test_fixed_ends_leave_one_equation_short():
    with pytest.raises(FormulationError, match="8 equations for the 9 unknown coefficients of each speed"):
        ap.galerkin(system_of(), start(), T, tests="fixed")


def test_galerkin_pendulum():
    """A pendulum with a clock of its own: the period from the complete elliptic integral."""
    from scipy.special import ellipk

    theta, work = ap.coordinates("theta"), ap.states("work")
    bob = ap.Particle("bob", 1, ground.point(sp.sin(theta), -sp.cos(theta)))
    model = ap.Model(
        ground, theta, [bob], [ap.Gravity(-9.81 * ground.y)], states={work: -9.81 * sp.sin(theta) * theta.rate}
    )
    system = ap.compile(ap.derive(model)).bind()
    quarter = ellipk(np.sin(1.0) ** 2) / np.sqrt(9.81)
    found = ap.galerkin(system, {theta: 2.0}, quarter, degree=10, elements=3).at(quarter)
    assert found[theta] == pytest.approx(0, abs=1e-9)
    assert found[theta.rate] == pytest.approx(-np.sqrt(2 * 9.81 * (1 - np.cos(2.0))), rel=1e-10)
    assert found[work] == pytest.approx(9.81 * (1 - np.cos(2.0)), rel=1e-10)


def test_galerkin_rolling_disk():
    model = ap.library.rolling_disk()
    system = ap.compile(ap.derive(model)).bind()
    exact = ap.simulate(system, until=1.0).at(1.0)
    errors = [
        np.max(np.abs(ap.galerkin(system, until=1.0, degree=n, elements=4).at(1.0).array - exact.array))
        for n in (5, 7, 9)
    ]
    assert errors[0] > 30 * errors[1] > 900 * errors[2]
    assert errors[2] < 1e-8
    found = ap.galerkin(system, until=1.0, degree=12, elements=6)
    np.testing.assert_allclose(found.at(1.0).array, exact.array, rtol=0, atol=1e-11)
    assert max(map(abs, system.residual(found.at(0.77)).values())) < 1e-12
    energies = [system.energy(found.at(s))["total"] for s in np.linspace(0, 1, 7)]
    np.testing.assert_allclose(energies, energies[0], rtol=1e-8)


def test_galerkin_changes_speeds_where_they_would_become_dependent():
    model = ap.library.spherical_pendulum()
    system = ap.compile(ap.derive(model)).bind()
    found = ap.galerkin(system, until=3.0, degree=12, elements=12)
    assert found.info["switches"]
    np.testing.assert_allclose(found.at(3.0).array, ap.simulate(system, until=3.0).at(3.0).array, rtol=0, atol=1e-9)
    assert ap.integral_principle(system, found).ok


z = ap.coordinates("z")
up, heading = ap.speeds("up heading")


@pytest.mark.parametrize(
    "formulation",
    [
        ap.GibbsAppell(),
        ap.GibbsAppell(speeds={up: z.rate, heading: sp.atan2(y.rate, x.rate)}),
        ap.RelativeMotion(ground),
        ap.GPME(),
        ap.UdwadiaKalaba(),
    ],
    ids=lambda f: f.name,
)
@pytest.mark.parametrize("row", ["velocities", "accelerations"])
@pytest.mark.heyoka
def test_galerkin_where_all_rates_are_kept(row, formulation):
    """A row not linear in the rates, and one on accelerations, on a particle that loses mass."""
    body = ap.Particle("body", 3 - t / 4, ground.point(x, y, z))
    rows = {
        "velocities": x.rate**2 + y.rate**2 + z.rate**2 - 4 - sp.sin(t),
        "accelerations": x.rate.rate + y * z.rate.rate - sp.sin(t) * x.rate,
    }
    forces = [ap.Gravity(-9.81 * ground.z), ap.Stream(body, ground.vector(1 - y.rate / 2, x, -2))]
    begin = {x.rate: 1.2, y.rate: 1.0, z.rate: 1.56**0.5}
    model = ap.Model(ground, (x, y, z), [body], forces, [ap.Nonholonomic(rows[row], "row")], start=begin)
    system = ap.compile(ap.derive(model, formulation))
    exact = ap.simulate(system, until=1.0).at(1.0).array
    errors = [
        np.max(np.abs(ap.galerkin(system, until=1.0, degree=n, elements=3).at(1.0).array - exact)) for n in (3, 6, 9)
    ]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-9


def test_galerkin_keeps_to_its_tolerance():
    """A particle that loses mass under a row not linear in the rates: one element of degree 9 was 6e-3 off."""
    m = ap.states("m")
    body = ap.Particle("body", m, ground.point(x, y, z))
    row = x.rate**2 + y.rate**2 + z.rate**2 - 4 - sp.sin(t) * y
    forces = [
        ap.Gravity(-9.81 * ground.z),
        ap.Stream(body, ground.vector(1 - y.rate / 2, x, -2)),
        ap.Force(-3 * ground.vector(x, y, z), body),
    ]
    begin = {x.rate: 1.2, y.rate: 1.0, z.rate: 1.56**0.5, m: 2.0}
    rows = [ap.Nonholonomic(row, "speed")]
    model = ap.Model(ground, (x, y, z), [body], forces, rows, states={m: -0.3 * m * (1 + sp.sin(3 * t))}, start=begin)
    system = ap.compile(ap.derive(model))
    exact = ap.simulate(system, until=4.0)
    found = ap.galerkin(system, until=4.0)
    np.testing.assert_allclose(found.states(found.times), exact.states(found.times), rtol=0, atol=1e-10)
    assert found.check().ok
    assert found.info["switches"]
    loose = ap.galerkin(system, until=4.0, rtol=1e-4)
    assert loose.info["steps"] < found.info["steps"] / 3
    error = np.max(np.abs(loose.states(found.times) - exact.states(found.times)))
    assert 1e-8 < error < 1e-4
    assert float(loose.info["reason"].split()[-4]) < 1e-4


def test_galerkin_sees_small_entries_and_large_ones():
    """A small oscillation far from the origin, and one so small that only atol sees it."""
    body = ap.Particle("body", 1, ground.point(x, y))
    model = ap.Model(ground, (x, y), [body], [ap.Force(-400 * (x - 1e3) * ground.x - 9 * y * ground.y, body)])
    system = ap.compile(ap.derive(model))
    found = ap.galerkin(system, {x: 1e3 + 1e-3, y: 1e-9}, 2.0, atol=1e-18)
    times = found.times
    np.testing.assert_allclose(found.evaluate(x, times), 1e3 + 1e-3 * np.cos(20 * times), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.evaluate(y, times), 1e-9 * np.cos(3 * times), rtol=0, atol=1e-18)


def test_galerkin_says_that_kinks_are_not_located():
    body = ap.Particle("body", 1, ground.point(x))
    model = ap.Model(ground, x, [body], [ap.Force(-sp.Abs(x.rate) * x.rate * ground.x, body)])
    found = ap.galerkin(ap.compile(ap.derive(model)), {x.rate: 1.0}, 1.0)
    assert found.info["reason"].endswith("of the largest, kinks not located")


def test_galerkin_refusals():
    with pytest.raises(FormulationError, match="Lagrange multipliers has multipliers among its unknowns"):
        ap.galerkin(system_of(0, ap.Multipliers()), start(), T)
    with pytest.raises(IntegrationError, match=r"no polynomials of degree 9 on the element t = 0 \.\. 3; take more"):
        ap.galerkin(system_of(), start(), 3.0, elements=1)  # the pursuit ends before that
    with pytest.raises(IntegrationError, match=r"that keep to rtol = 1e-10 beyond t = 1\.53384; take a higher degree"):
        ap.galerkin(system_of(), start(), 3.0)
    with pytest.raises(IntegrationError, match="must end after its start"):
        ap.galerkin(system_of(), start(), -1.0)
    with pytest.raises(ModelError, match="degree must be a whole number, 1 or more; got 0"):
        ap.galerkin(system_of(), start(), T, degree=0)
    with pytest.raises(ModelError, match=r"elements must be a whole number, 1 or more; got 1\.5"):
        ap.galerkin(system_of(), start(), T, elements=1.5)
    with pytest.raises(FormulationError, match="tests='most'"):
        ap.galerkin(system_of(), start(), T, tests="most")
