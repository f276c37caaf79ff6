"""Equilibria: wishes, holding inputs, branches, families, steady motions, and what is said when there is none."""

import numpy as np
import pytest
import scipy.optimize
import sympy as sp

import appell as ap
from appell.analysis.certificate import Verdict
from appell.errors import ControlError, EquilibriumError, ModelError


@pytest.fixture(scope="module")
def crank():
    return ap.compile(ap.derive(ap.library.slider_crank()))


@pytest.fixture(scope="module")
def beam():
    return ap.compile(ap.derive(ap.library.ball_and_beam())).bind({"beta": -0.05})


@pytest.fixture(scope="module")
def delta():
    return ap.compile(ap.derive(ap.library.delta_robot()))


def conical():
    """A bob on a rod that turns about the vertical: redundant rho, z with rho^2 + z^2 = l^2, and the cyclic psi."""
    rho, z, psi = ap.coordinates("rho z psi")
    m, l, g = ap.parameters("m l g")
    ground = ap.Frame("ground")
    place = rho * ground.rotate("z", psi).x + z * ground.z
    return ap.Model(
        ground, (rho, z, psi), [ap.Particle("bob", m, place)], [ap.Gravity(-g * ground.z)],
        [ap.Holonomic(rho**2 + z**2 - l**2, "rod")], values={m: 0.3, l: 0.5, g: 9.81}, start={rho: 0.3, z: -0.4},
        name="conical pendulum",
    )  # fmt: skip


def test_a_held_configuration_stays(crank):
    rest = ap.equilibrium(crank, {"theta": 1.0})
    np.testing.assert_allclose(rest.system.accelerations(rest.state), 0, rtol=0, atol=1e-11)
    assert rest.found == ("tau",)
    assert rest.residual < 1e-12
    assert rest.freedom == 0
    assert rest.positions["theta"] == 1.0


def test_every_branch_is_an_equilibrium(crank):
    branches = ap.equilibrium(crank.bind({"tau": 0.1})).branches
    assert len(branches) == 6  # four with the slider before the crank, two behind it
    for rest in branches:
        np.testing.assert_allclose(rest.system.accelerations(rest.state), 0, rtol=0, atol=1e-9)


def test_the_branch_nearest_to_the_guess_comes_first(beam):
    low = ap.equilibrium(beam, {"xi": 0.2}, guess={"theta": 0.4})
    high = ap.equilibrium(beam, {"xi": 0.2}, guess={"theta": 2.2})
    assert low["theta"] < 1 < high["theta"]
    assert low["alpha"] == pytest.approx(high["alpha"], rel=1e-9) == pytest.approx(0.05, rel=1e-9)


def test_multipliers_are_those_of_the_oracle(crank):
    rest = ap.equilibrium(crank, {"theta": 1.0})
    oracle = ap.compile(ap.derive(crank.model, ap.Multipliers())).bind({"tau": rest["tau"]})
    at = (0.0, oracle.to_x(rest.state))
    unknowns = np.linalg.solve(oracle.mass_matrix(*at), oracle.forcing(*at))
    np.testing.assert_allclose(unknowns[-2:], list(rest.multipliers.values()), rtol=1e-9, atol=0)


def test_a_family_is_told(delta):
    rest = ap.equilibrium(delta, {"x": 0.0, "y": 0.0})
    assert rest.freedom == 1
    assert "family" in repr(rest)


def test_a_steady_motion_of_a_cyclic_coordinate():
    model = conical()
    rest = ap.equilibrium(model, {"psi.rate": 6.0})
    turning = [e for e in rest.branches if e["rho"] > 0.01]
    assert turning[0]["z"] == pytest.approx(-9.81 / 36, rel=1e-10)
    found = ap.equilibrium(model, {"rho": 0.3}, inputs=["psi.rate"], guess={"z": -0.4})
    assert abs(found["psi.rate"]) == pytest.approx(np.sqrt(9.81 / 0.4), rel=1e-10)
    assert "steady motion" in repr(found)


def test_an_equation_that_cannot_be_met_is_named(beam):
    with pytest.raises(EquilibriumError, match=r"the equation of xi cannot be met.*alpha = 0\.05"):
        ap.equilibrium(beam, {"xi": 0.2, "alpha": 0.03})


def test_a_pose_that_cannot_be_reached_is_told(delta):
    with pytest.raises(EquilibriumError, match=r"cannot be reached.*the constraint 'rods"):
        ap.equilibrium(delta, {"x": 0.0, "y": 0.0, "z": -3.0})


def test_a_singular_pose_is_told():
    x, y = ap.coordinates("x y")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    model = ap.Model(
        ground, (x, y), [ap.Particle("bead", 1, ground.point(x, y))], [ap.Generalized({x: f})],
        [ap.Holonomic(y**2 - x**2 * (1 - x), "wire")], name="bead on a loop", start={x: 0.5, y: 0.3},
    )  # fmt: skip
    with pytest.raises(EquilibriumError, match=r"rank 0 where 1 .*'wire'.*singular pose"):
        ap.equilibrium(model, {"x": 0.0})


def test_without_adjustable_inputs_the_reader_is_told_so(crank):
    with pytest.raises(EquilibriumError, match="No input may be adjusted"):
        ap.equilibrium(crank, {"theta": 0.9}, inputs=[])


@pytest.mark.parametrize(
    ("wanted", "inputs", "message"),
    [
        ({"thet": 1.0}, None, "Did you mean 'theta'"),
        ({"theta.rate": 1.0}, None, "theta is not a cyclic coordinate"),
        ({"theta": 1.0}, ["force"], "not an input, or rate of a cyclic coordinate"),
        ({"theta": float("nan")}, None, "finite"),
    ],
)
def test_bad_wishes_are_refused(crank, wanted, inputs, message):
    with pytest.raises((EquilibriumError, ModelError), match=message):
        ap.equilibrium(crank, wanted, inputs=inputs)


def test_a_model_that_depends_on_time_has_none():
    with pytest.raises(EquilibriumError, match="depends on time"):
        ap.equilibrium(ap.library.driven_pendulum())


def on_a_truck(moving, motion=None):
    """A pendulum with a motor, from which a rod hangs that is tied to the truck by a spring; or at rest with weight."""
    upper, lower = ap.coordinates("upper lower", "rad")
    motor = ap.inputs("motor")
    ground = ap.Frame("ground")
    place = 3 * ap.t**2 / 2 + 5 * ap.t - 2 if motion is None else motion
    truck = ground.at(ground.point(place if moving else 0, 0, 0))
    arm = truck.pin(upper)
    rod = arm.pin(lower, at=(0, -0.7, 0))
    bob = ap.Particle("bob", 1.0, arm.point(0, -0.7))
    bar = ap.RigidBody("bar", 2.0, rod.point(0, -0.3), rod, (0, 0, 0.06))
    weight = ap.Gravity(-9.81 * ground.y - (0 if moving else 3 * ground.x))
    spring = ap.Spring(rod.point(0, -0.6), truck.point(0.4, -1.5), 6.0, 0.2)
    forces = [weight, spring, ap.Generalized({upper: motor})]
    return ap.Model(ground, (upper, lower), [bob, bar], forces, name="truck")


def test_a_base_of_constant_acceleration_is_one_at_rest_under_another_weight():
    """Its velocity grows with time, which the equations in relative coordinates do not feel."""
    rests = [ap.equilibrium(on_a_truck(moving), {"upper": -0.2}) for moving in (True, False)]
    for name in ("lower", "motor"):
        assert rests[0][name] == pytest.approx(rests[1][name], rel=1e-12)
    assert abs(rests[0]["lower"]) > 0.01
    stay = ap.simulate(rests[0].system, rests[0], until=2.0)
    np.testing.assert_allclose(stay.columns["lower"], rests[0]["lower"], rtol=0, atol=1e-11)
    moving, still = (ap.linearize(rest) for rest in rests)
    np.testing.assert_allclose(moving.A, still.A, rtol=0, atol=1e-11)
    np.testing.assert_allclose(moving.blocks.C, still.blocks.C, rtol=0, atol=1e-11)
    assert np.any(np.abs(moving.blocks.P) > 0.1)  # what is weight in the other is a force here
    assert ap.stability(moving).verdict is ap.stability(still).verdict is Verdict.LYAPUNOV
    law = ap.control.lqr(moving, 1, 1)
    np.testing.assert_allclose(law.K, ap.control.lqr(still, 1, 1).K, rtol=1e-9)
    back = ap.simulate(law.system, law.start({"upper": 0.2}), until=20.0)
    assert back.columns["lower"][-1] == pytest.approx(rests[0]["lower"], abs=1e-3)


@pytest.mark.parametrize("motion", [ap.t**3, sp.sin(40 * ap.t), sp.Piecewise((0, ap.t < 50), (ap.t - 50, True))])
def test_a_base_that_moves_otherwise_leaves_nothing_at_rest(motion):
    with pytest.raises(EquilibriumError, match="depends on time explicitly"):
        ap.equilibrium(on_a_truck(True, motion), {"upper": -0.2})


def test_a_wheel_that_rolls_on_a_bed_that_accelerates_is_held_by_its_motor():
    """The bed gives the wheel, of moment I, the force m a at its rim: with nothing else on it, the torque m a r."""
    along, turned = ap.coordinates("along turned")
    torque = ap.inputs("torque")
    ground = ap.Frame("ground")
    bed = ground.at(ground.point(4 * ap.t**2 / 2, 0, 0))
    rim = bed.at(bed.point(along, 0.2, 0)).pin(turned)
    wheel = ap.RigidBody("wheel", 3.0, rim.origin, rim, (0, 0, 0.05))
    base = ap.RigidBody("bed", 1.0, bed.origin, bed, (0, 0, 1))
    rolling = ap.Rolling(wheel, bed.point(along, 0, 0), on=base, along=[ground.x])
    model = ap.Model(ground, (along, turned), [wheel, base], [ap.Generalized({turned: torque})], [rolling])
    rest = ap.equilibrium(model, {"along": 0.5})
    assert rest["torque"] == pytest.approx(-3.0 * 4 * 0.2, rel=1e-12)
    lin = ap.linearize(rest, ignore=["turned"])
    assert lin.states == ("along", "turned.rate")
    np.testing.assert_allclose(lin.B[:, 0], [0, 1 / (3.0 * 0.04 + 0.05)], rtol=1e-12)


def test_missing_input_values_are_told():
    x = ap.coordinates("x")
    f = ap.inputs("f")
    ground = ap.Frame("ground")
    body = ap.Particle("body", 1, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Generalized({x: f - 2 * x})])
    with pytest.raises(EquilibriumError, match=r"has no value and is not searched for; write inputs=\['f'\]"):
        ap.equilibrium(model)
    assert ap.equilibrium(model, {"x": 1.5})["f"] == pytest.approx(3.0, rel=1e-12)


def potential(energy, *coordinates, rows=(), **start):
    """A particle of unit mass in a potential."""
    ground = ap.Frame("ground")
    place = ground.point(*coordinates, *[0] * (3 - len(coordinates)))
    forces = [ap.Potential(energy)] if energy != 0 else []
    rows = [ap.Holonomic(row, f"row{i}") for i, row in enumerate(rows)]
    return ap.Model(ground, coordinates, [ap.Particle("body", 1, place)], forces, rows, start=start, name="particle")


def test_one_equation_that_cannot_be_met_is_named():
    x = ap.coordinates("x")
    with pytest.raises(EquilibriumError, match=r"no equilibrium with these inputs: the equation of x cannot be met\.$"):
        ap.equilibrium(potential(x**3 / 3 + x, x, x=1.0))


@pytest.mark.parametrize("power", [4, 6])
def test_a_multiple_root_is_an_equilibrium_and_no_family(power):
    x = ap.coordinates("x")
    rest = ap.equilibrium(potential(x**power, x, x=1.0), starts=20)
    assert abs(rest["x"]) < 1e-8
    assert (rest.freedom, len(rest.branches)) == (0, 1)


def test_a_multiple_root_that_an_input_follows_is_one_equilibrium():
    """On the ring x^2 + y^2 = 1 at x = 1 the force along y is 4 y^3, and the input along x makes up for 4 y^2."""
    x, y = ap.coordinates("x y")
    held = potential((x**2 + y**2 - 1) ** 2, x, y, x=1.0, y=0.0).add(ap.Generalized({x: ap.inputs("u")}))
    rest = ap.equilibrium(held, {x: 1.0}, guess={y: 0.8})
    assert len(rest.branches) == 1
    assert rest.degenerate == 1
    assert abs(rest["y"]) < 1e-5


def test_a_pitchfork_is_one_equilibrium():
    """A bead on a hoop that turns with W^2 = g/R: three equilibria meet at the bottom."""
    x, z = ap.coordinates("x z")
    model = potential(9.81 * z - 9.81 / 0.5 * x**2 / 2, x, z, rows=[x**2 + z**2 - 0.25], x=0.3, z=-0.4)
    rest = ap.equilibrium(model)
    assert sorted(round(e["z"], 6) for e in rest.branches) == [-0.5, 0.5]
    assert {e.freedom for e in rest.branches} == {0}


def test_a_force_that_fades_away_has_no_equilibrium_at_infinity():
    x = ap.coordinates("x")
    with pytest.raises(EquilibriumError, match="cannot be met"):
        ap.equilibrium(potential(1 / x, x, x=1.0), starts=10)


def test_families_that_do_not_meet_are_branches():
    """(r^2 - 1)^2 (r^2 - 4)^2: circles of radius 1, 2 and sqrt(5/2), and the centre."""
    x, y = ap.coordinates("x y")
    r2 = x**2 + y**2
    rest = ap.equilibrium(potential((r2 - 1) ** 2 * (r2 - 4) ** 2, x, y, x=1.0, y=0.2))
    found = sorted((round(float(np.hypot(e["x"], e["y"])), 6), e.freedom) for e in rest.branches)
    assert found == [(0.0, 0), (1.0, 1), (round(2.5**0.5, 6), 1), (2.0, 1)]
    z = ap.coordinates("z")
    spheres = ap.equilibrium(potential(0, x, y, z, rows=[(r2 + z**2 - 1) * (r2 + z**2 - 4)], x=1.0))
    assert [e.freedom for e in spheres.branches] == [2, 2]


def test_members_of_a_curved_family_are_one_branch():
    x, y = ap.coordinates("x y")
    rest = ap.equilibrium(potential((y - x**2) ** 2, x, y, x=3.0))
    assert (rest.freedom, len(rest.branches)) == (1, 1)


def test_a_standing_bicycle_may_stand_anywhere():
    """The family has the parameters x, y, yaw and both spins."""
    rest = ap.equilibrium(ap.library.bicycle())
    assert rest.freedom == 5
    turns = [np.array([e[s] for s in ("lean", "pitch", "steer")]) for e in rest.branches]
    poses = {tuple(np.round([*np.cos(a), *np.sin(a)], 4) + 0.0) for a in turns}
    assert len(poses) == len(rest.branches)


def test_coordinates_that_nothing_depends_on_are_parameters_of_the_family():
    x, y = ap.coordinates("x y")
    assert ap.equilibrium(potential(x**2, x, y)).freedom == 1
    assert ap.equilibrium(potential(x**2, x, y), {"y": 0.5}).freedom == 0


def test_branches_on_the_other_side_of_zero_are_found():
    """Two pendula in the coordinates of their bobs: four equilibria."""
    x1, y1, x2, y2 = ap.coordinates("x1 y1 x2 y2")
    ground = ap.Frame("ground")
    bobs = [ap.Particle("upper", 0.3, ground.point(x1, y1)), ap.Particle("lower", 0.2, ground.point(x2, y2))]
    rods = [x1**2 + y1**2 - 0.25, (x2 - x1) ** 2 + (y2 - y1) ** 2 - 0.16]
    model = ap.Model(
        ground, (x1, y1, x2, y2), bobs, [ap.Gravity(-9.81 * ground.y)],
        [ap.Holonomic(rod, f"rod{i}") for i, rod in enumerate(rods)], start={y1: 0.5, y2: 0.9},
    )  # fmt: skip
    found = sorted((round(e["y1"], 6), round(e["y2"], 6)) for e in ap.equilibrium(model).branches)
    assert found == [(-0.5, -0.9), (-0.5, -0.1), (0.5, 0.1), (0.5, 0.9)]


def test_a_search_that_runs_away_finds_no_equilibrium():
    """Three links hang or stand: two to the third, and nothing that angles of 1e15 wrapped into a circle would give."""
    rest = ap.equilibrium(ap.library.pendulum_chain())
    assert len(rest.branches) == 8
    for e in rest.branches:
        np.testing.assert_allclose(e.system.accelerations(e.state), 0, rtol=0, atol=1e-9)


@pytest.mark.parametrize("inputs", [None, ["x.rate", "y.rate"]])
def test_rates_that_rolling_ties_to_the_wanted_one_are_found(inputs):
    disk = ap.compile(ap.derive(ap.library.rolling_disk()))
    rolling = ap.equilibrium(disk, {"spin.rate": 4.0, "lean": 0.0}, inputs=inputs)
    assert np.hypot(rolling["x.rate"], rolling["y.rate"]) == pytest.approx(4 * 0.26, rel=1e-12)
    assert rolling["yaw.rate"] == 0


def test_things_that_are_no_points_are_told(crank):
    with pytest.raises(ModelError, match="Got 'theta' as wanted values; give them by name"):
        ap.equilibrium(crank, "theta")
    with pytest.raises(ModelError, match=r"Got dict as the point; give equilibrium"):
        ap.linearize(crank, {"theta": 1.0})
    with pytest.raises(ControlError, match="Got 'K' as gains; give a matrix"):
        ap.stability(ap.equilibrium(crank, {"theta": 1.0}), gains="K")


def test_a_valley_that_leads_away_first_is_one_family():
    """Three parabolas, one in the other: y - x^2 is 0, -5/2 or -5."""
    x, y = ap.coordinates("x y")
    level = y - x**2
    rest = ap.equilibrium(potential((level * (level + 5)) ** 2 / 100, x, y, x=2.0), starts=40)
    found = sorted((round(e["y"] - e["x"] ** 2, 6), e.freedom) for e in rest.branches)
    assert found == [(-5.0, 1), (-2.5, 1), (0.0, 1)]


def test_a_drive_at_its_limit_hides_no_coordinate():
    """Kp e saturates at all places the search begins at; x is not cyclic for that. Ki z holds the load of 5 N."""
    x, u, ground = ap.coordinates("x"), ap.inputs("u"), ap.Frame("ground")
    model = ap.Model(ground, x, [ap.Particle("cart", 2.0, ground.point(x, 0))], [ap.Generalized({x: u - 5})])
    loop = ap.control.regulate(model, {u: (ap.control.PID(kp=20, ki=10, kd=8, limit=12), 1 - x)})
    rest = ap.equilibrium(ap.compile(ap.derive(loop.on(model)).close(loop.laws)))
    assert (rest["x"], rest["u_int"]) == pytest.approx((1.0, 0.5), rel=1e-12)
    roots = np.sort_complex(ap.linearize(rest).eigenvalues)
    np.testing.assert_allclose(roots, np.sort_complex(np.roots([2, 8, 20, 10])), rtol=1e-9, atol=0)


def test_currents_are_no_positions():
    motor = ap.control.Motor(resistance=2.0, constant=0.1, inductance=0.01, gear=20)
    rest = ap.equilibrium(ap.control.with_motors(ap.library.slider_crank(), motor), {"theta": 1.0})
    assert "i_tau" not in rest.positions
    assert rest.states == {"i_tau": rest["i_tau"]}
    assert f"  states: i_tau={rest['i_tau']:.9g}" in repr(rest)


@pytest.mark.parametrize("given", [{}, {"i": 0.5}])
def test_what_enters_by_its_square_is_found_from_zero(given):
    """A magnet pulls with k (i/y)^2, whose derivative vanishes without a current: i = y sqrt(m g/k) or its negative."""
    y, i, e, ground = ap.coordinates("y"), ap.states("i"), ap.inputs("e"), ap.Frame("ground")
    ball = ap.Particle("ball", 0.05, ground.point(0, -y))
    pull = ap.Force(1e-4 * (i / y) ** 2 * ground.y, ball)
    model = ap.Model(ground, y, [ball], [ap.Gravity(-9.81 * ground.y), pull], states={i: (e - 10 * i) / 0.1})
    rest = ap.equilibrium(model, {"y": 0.01}, guess=given)
    held = 0.01 * np.sqrt(0.05 * 9.81 / 1e-4)
    assert sorted(branch["i"] for branch in rest.branches) == pytest.approx([-held, held], rel=1e-12)
    assert rest["e"] == pytest.approx(10 * rest["i"], rel=1e-12)
    assert not given or rest["i"] > 0


def test_wheels_that_turn_differently_roll_in_a_circle():
    x, y, yaw, left, right = ap.coordinates("x y yaw left right")
    ground = ap.Frame("ground")
    base = ground.rotate("z", yaw)
    cart = ap.RigidBody("cart", 1.0, ground.point(x, y), base, (0, 0, 0.1))
    velocity = x.rate * ground.x + y.rate * ground.y
    along, across = velocity.dot(base.x), velocity.dot(base.y)
    rows = [across, along - 0.2 * yaw.rate - 0.1 * left.rate, along + 0.2 * yaw.rate - 0.1 * right.rate]
    model = ap.Model(ground, (x, y, yaw, left, right), [cart], constraints=[ap.Nonholonomic(rows, "rolling")])
    turn = ap.equilibrium(model, {"left.rate": 5, "right.rate": 4})
    assert turn["yaw.rate"] == pytest.approx(0.1 * (4 - 5) / 0.4, rel=1e-12)
    assert np.hypot(turn["x.rate"], turn["y.rate"]) == pytest.approx(0.45, rel=1e-12)
    with pytest.raises(EquilibriumError, match=r"No steady motion in a circle was found either\. Wish for less"):
        ap.equilibrium(model, {"left.rate": 5, "right.rate": 4, "yaw.rate": 1})


def test_equations_are_counted_without_what_rest_meets_by_itself():
    """A wheel on a slope with a body on its axle: one torque holds it where the body leans as it must."""
    s, lean, turn, tau = *ap.coordinates("s lean turn"), ap.inputs("tau")
    ground = ap.Frame("ground")
    slope, frame = ground.rotate("z", 0.1), ground.rotate("z", lean)
    hub = s * slope.x + 0.15 * slope.y
    wheel = ap.RigidBody("wheel", 1.5, hub, slope.rotate("z", turn), (0, 0, 0.02))
    body = ap.RigidBody("body", 5, hub + 0.4 * frame.y, frame, (0, 0, 0.3))
    forces = [ap.Gravity(-9.81 * ground.y), ap.Torque(tau * ground.z, wheel, body)]
    model = ap.Model(ground, (s, lean, turn), [wheel, body], forces, [ap.Rolling(wheel, s * slope.x)], name="roller")
    with pytest.raises(EquilibriumError, match=r"3 equations \(the equation of s, .*\) stand against 2 unknowns"):
        ap.equilibrium(model, {"s": 1.0, "lean": 0.2})
    pulled = model.add(ap.Force(-200 * slope.x, wheel.center, body=wheel))
    with pytest.raises(EquilibriumError, match="the equation of turn cannot be met all at once"):
        ap.equilibrium(pulled, {"s": 0})


def test_a_row_called_like_a_coordinate_does_not_hide_it():
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    bob, rod = ap.Particle("bob", 2, ground.point(x, y)), ap.Holonomic((x**2 + y**2 - 1) / 2, "y")
    rest = ap.equilibrium(ap.Model(ground, (x, y), [bob], [ap.Gravity(-10 * ground.y)], [rod], start={y: -1.0}))
    assert rest["y"] == rest[y] == rest.state[y] == pytest.approx(-1)
    assert rest.multipliers["y"] == pytest.approx(-20)


def magnet(**given):
    """A ball under a coil: z below it, m g = k i^2 / (2 z^2)."""
    z, i, v, ground = ap.coordinates("z"), ap.states("i"), ap.inputs("v"), ap.Frame("ground")
    ball = ap.Particle("ball", 0.068, ground.point(0, 0, -z))
    forces = [ap.Gravity(-9.81 * ground.z), ap.Generalized({z: -6.5e-5 * i**2 / (2 * z**2)}, "magnet")]
    return ap.equilibrium(ap.Model(ground, z, [ball], forces, states={i: (v - 11 * i) / 0.4}), {z: 0.006}, **given)


def test_of_currents_of_either_sign_the_positive_one_comes_first():
    by_hand = 0.006 * np.sqrt(2 * 0.068 * 9.81 / 6.5e-5)
    rest = magnet()
    assert [e["i"] for e in rest.branches] == pytest.approx([by_hand, -by_hand], rel=1e-12)
    assert rest["v"] == pytest.approx(11 * by_hand, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_extra_states_count_where_positions_are_equally_near(seed):
    assert magnet(guess={"i": -0.1}, seed=seed)["i"] < 0 < magnet(guess={"i": 0.1}, seed=seed)["i"]


def drone(dry):
    """Hangs on a thrust while its tank drains."""
    z, f, water = ap.coordinates("z"), ap.inputs("f"), ap.states("water")
    rate, ground = ap.drained(0.5, water), ap.Frame("ground")
    body = ap.Particle("drone", dry + water, ground.point(0, 0, z))
    forces = [ap.Gravity(-9.81 * ground.z), ap.Force(f * ground.z, body, name="thrust")]
    return ap.Model(ground, z, [body], forces, states={water: -rate}, start={water: 4.0}, name="drone")


def test_no_equilibrium_has_a_negative_mass():
    rest = ap.equilibrium(drone(8.0), {"z": 10})
    assert rest["water"] == 0  # nothing flows with less than nothing, either
    assert rest["f"] == pytest.approx(9.81 * 8.0, rel=1e-12)
    with pytest.raises(EquilibriumError, match="only with water = -3, beyond 0, where the flow ends"):
        ap.equilibrium(drone(8.0), {"z": 10, "f": 9.81 * 5})
    with pytest.raises(EquilibriumError, match="With water left free there is one, at water = 0"):
        ap.equilibrium(drone(8.0), {"z": 10, "water": 3})
    with pytest.raises(EquilibriumError, match="only where the mass of 'drone' is negative"):
        ap.equilibrium(drone(0.0), {"z": 10, "water": -1})


def test_what_friction_would_let_settle_has_an_equilibrium():
    """A telescopic arm on springs, its wrist turned by a cam: sums of squares have only valleys near the start."""
    turn, reach, bend = ap.coordinates("turn reach bend")
    ground = ap.Frame("ground")
    upper = ground.pin(turn)
    slide = upper.slide(reach, at=(0.5, 0, 0))
    places = (upper.point(0.2, 0), slide.origin, slide.pin(bend).point(0.3, 0))
    bodies = [
        ap.Particle(f"m{k}", mass, place) for k, (mass, place) in enumerate(zip((1.2, 1.3, 1.5), places, strict=True))
    ]
    springs = ap.Potential(9 * turn**2 + 6.5 * reach**2 + 8 * bend**2)
    cam = ap.Holonomic(turn + reach**2 / 2 - turn * reach / 10 - bend, "cam")
    arm = ap.Model(ground, (turn, reach, bend), bodies, [ap.Gravity(-9.81 * ground.y), springs], [cam])

    def energy(x):
        a, r = x
        b = a + r**2 / 2 - a * r / 10
        height = 1.2 * 0.2 * np.sin(a) + 2.8 * (0.5 + r) * np.sin(a) + 1.5 * 0.3 * np.sin(a + b)
        return 9.81 * height + 9 * a**2 + 6.5 * r**2 + 8 * b**2

    least = scipy.optimize.minimize(energy, [-1.0, 1.5], tol=1e-12).x
    rest = ap.equilibrium(arm)
    np.testing.assert_allclose([rest["turn"], rest["reach"]], least, rtol=1e-6, atol=0)


def test_a_ball_on_a_turning_base_is_at_rest_there():
    """A governor with one heavy ball: its inertia is the same in all axes, also in those that do not turn."""
    q, ground, spin, l, m, J = ap.coordinates("q"), ap.Frame("ground"), 6.0, 1.0, 1.5, 0.2
    rod = ground.rotate("y", spin * ap.t).pin(q)
    ball = ap.RigidBody("ball", m, rod.point(0, -l), rod, (J, J, J))
    governor = ap.Model(ground, q, [ball], [ap.Gravity(-9.81 * ground.y)])
    rest = ap.equilibrium(governor, guess={q: 1.0})
    assert rest["q"] == pytest.approx(np.arccos(9.81 / (l * spin**2)))
    swing = np.sqrt(m * l**2 / (m * l**2 + J)) * spin * np.sin(rest["q"])
    np.testing.assert_allclose(np.sort(ap.linearize(rest).eigenvalues.imag), [-swing, swing], rtol=1e-9, atol=0)
