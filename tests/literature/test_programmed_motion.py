"""Programmed motion: reference numbers of orders one to three by every route, theory page "programmed motion", 4.

The numbers come from multipliers or Udwadia and Kalaba's equation integrated by DOP853 at 1e-13, each confirmed there
by a second method; components that pass through zero are good to 1e-11 absolute.
"""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError, InconsistentStartError
from appell.planning import curvature, profile

ROUTES = [ap.GPME(), ap.ComputationalGPME(), ap.Multipliers(), ap.UdwadiaKalaba(), ap.GibbsAppell()]
LINEAR = [*ROUTES, ap.Voronets()]
names = lambda f: type(f).__name__  # noqa: E731


def run(model, formulation, times, start=None):
    system = ap.compile(ap.derive(model, formulation)).bind()
    start = system.state(start) if start is not None else None
    return ap.simulate(system, start, max(times), at=[0.0, *times])


def assert_states(motion, numbers, atol=1e-9):
    for t, expected in numbers.items():
        np.testing.assert_allclose(motion.states([t])[0][: len(expected)], expected, rtol=1e-9, atol=atol)


def assert_multipliers(motion, rows, numbers):
    found = motion.reactions()
    for t, expected in numbers.items():
        values = [float(found[row].sel(t=t)) for row in rows]
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9)


def sleigh(viscous):
    x, y, theta = ap.coordinates("x y theta")
    ground = ap.Frame("ground")
    blade = ground.rotate("z", theta)
    body = ap.RigidBody("sleigh", 2, ground.point(x, y) + 0.3 * blade.x, blade, (0, 0, 0.5))
    drag = {x: -0.4 * x.rate, y: -0.4 * y.rate, theta: -0.1 * theta.rate}
    edge = ap.Nonholonomic(-x.rate * sp.sin(theta) + y.rate * sp.cos(theta), "edge")
    return ap.Model(ground, (x, y, theta), [body], [ap.Generalized(drag)] if viscous else [], [edge])


SLEIGH = {"theta": 0.2, "x.rate": np.cos(0.2), "y.rate": np.sin(0.2), "theta.rate": 1.5}
A1 = {
    1.0: [0.823184465657, 0.806183512449, 1.14661445621, 0.532192439175, 1.1784655032, 0.522973021045],
    3.0: [1.20823069708, 3.40314242829, 1.55340071797, 0.0231037249561, 1.32800149097, 0.0508243187865],
}
A1V = {
    1.0: [0.766712096815, 0.705527652762, 1.11373008886, 0.467753781601, 0.951105404804, 0.500388721753],
    3.0: [1.10074838884, 2.45480527656, 1.54509447117, 0.0189445840389, 0.736927816796, 0.0765660093016],
}


@pytest.mark.parametrize("formulation", LINEAR, ids=names)
def test_a1_the_sleigh(formulation):
    motion = run(sleigh(False), formulation, [1.0, 3.0], SLEIGH)
    assert_states(motion, A1)
    assert_multipliers(motion, ["edge"], {0.0: [2.20588235294], 1.0: [0.994465619361], 3.0: [0.0992720362]})


@pytest.mark.parametrize("formulation", LINEAR, ids=names)
def test_a1v_the_sleigh_with_drag(formulation):
    assert_states(run(sleigh(True), formulation, [1.0, 3.0], SLEIGH), A1V)


@pytest.mark.parametrize("formulation", LINEAR, ids=names)
def test_a2_the_rolling_disk(formulation):
    x, y, phi, theta, psi = ap.coordinates("x y phi theta psi")
    m, R = 1, 0.3
    ground = ap.Frame("ground")
    heading = ground.rotate("z", phi)
    plane = heading.rotate("x", -theta)  # omega = phi' z - theta' e1 + psi' a
    wheel = plane.rotate("y", psi)
    center = ground.point(x, y, R * sp.cos(theta))
    inertia = (m * R**2 / 4, m * R**2 / 2, m * R**2 / 4)
    disk = ap.RigidBody("disk", m, center, wheel, inertia)
    slip = center.dt(ground) - disk.angular_velocity.cross(R * plane.z)
    along = [ap.Nonholonomic(e, name) for e, name in zip(ground.components(slip)[:2], "xy", strict=True)]
    model = ap.Model(ground, (x, y, phi, theta, psi), [disk], [ap.Gravity(-9.81 * ground.z)], along)
    motion = run(model, formulation, [1.0, 2.0], {phi: 0.3, theta: 0.2, phi.rate: 0.5, theta.rate: 0.1, psi.rate: 6})
    numbers = {
        1.0: [
            *[1.26602953877, 1.16639067399, 1.12611659762, 0.240668439259, 6.10413093489],
            *[0.705241704154, 1.63145072562, 1.0064500358, 0.223588361666, 6.16043132726],
        ],
        2.0: [
            *[1.2215511589, 2.88952088331, 2.04273099993, 0.256687424662, 12.2401116636],
            *[-0.783728074835, 1.59798958651, 1.21136743351, -0.0978853373094, 6.23955581558],
        ],
    }
    assert_states(motion, numbers)
    assert motion.system.energy(motion.at(2.0))["total"] == pytest.approx(5.2378048995, rel=1e-10)
    lambdas = {0.0: [-0.415312860112, 1.32601151443], 2.0: [-1.46692420613, -0.735844753867]}
    assert_multipliers(motion, "xy", lambdas)


def particle(task):
    x, y, z = q = ap.coordinates("x y z")
    ground = ap.Frame("ground")
    v, a, j = (sp.Matrix([s.derivative(k) for s in q]) for k in (1, 2, 3))
    body = ap.Particle("particle", 1, ground.point(x, y, z))
    return ap.Model(ground, q, [body], [ap.Gravity(-9.81 * ground.z)], [ap.Programmed(task(v, a, j), "task")])


@pytest.mark.parametrize("formulation", ROUTES, ids=names)
def test_b1_a_particle_that_gains_speed_by_programme(formulation):
    model = particle(lambda v, a, j: v.dot(a) - sp.sqrt(v.dot(v)) / 2)
    motion = run(model, formulation, [0.5, 1.0], {"x.rate": 3, "z.rate": 1})
    numbers = {
        0.5: [1.40895215514, 0, -0.588739976436, 1.93936590426, 0, -2.80757880023],
        1.0: [1.97296376383, 0, -2.24991137308, 0.566976695233, 0, -3.61812314429],
    }
    assert_states(motion, numbers)
    assert_multipliers(motion, ["task"], {0.0: [1.13911388301], 1.0: [-2.50983837856]})
    speed = np.linalg.norm(motion.states([1.0])[0][3:])
    assert speed == pytest.approx(np.sqrt(10) + 0.5, abs=1e-12)


B2 = {
    0.5: [0.699395815413, 1.70611228196, 0.804769383896, 1.53541119416],
    1.5: [1.93150086905, 2.97847748101, 1.53665835233, 0.465689106863],
}


@pytest.mark.parametrize("formulation", ROUTES, ids=names)
def test_b2_an_arm_with_programmed_curvature(formulation):
    motion = run(ap.library.curvature_arm(), formulation, [0.5, 1.5])
    assert_states(motion, B2)
    lambdas = {0.0: [1.89843275317], 0.5: [2.52343985771], 1.5: [0.939745597393]}
    assert_multipliers(motion, ["curvature"], lambdas)


@pytest.mark.parametrize("formulation", ROUTES, ids=names)
def test_c2a_the_rate_of_the_curvature_is_the_same_programme(formulation):
    assert_states(run(ap.library.curvature_arm(order=3), formulation, [0.5, 1.5]), B2)


@pytest.mark.parametrize("formulation", LINEAR, ids=names)
def test_c1_a_cart_with_programmed_jerk(formulation):
    motion = run(ap.library.jerk_cart_pendulum(), formulation, [1.0, 3.0])
    order = ["x", "theta", "x.rate", "theta.rate", "lambda_jerk"]
    for t, expected in {
        0.0: [0, 0.4, 0.2, -0.3, -1.93270029878],
        1.0: [1.26802692988, -0.583430384783, 2.82422025482, 1.92865232445, 16.0371410156],
        3.0: [7.55956162365, 0.355315347608, 1.75974457002, -1.48253364961, -4.49858312338],
    }.items():
        np.testing.assert_allclose([motion.at(t)[name] for name in order], expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(motion.system.accelerations(motion.at(0.0)), [0.5, -8.5014488701], rtol=1e-10, atol=0)


@pytest.mark.parametrize("formulation", ROUTES, ids=names)
def test_c3_coefficients_that_contain_accelerations(formulation):
    """a.j = 3 with gravity: regular, and forces the acceleration to begin along g."""
    model = particle(lambda v, a, j: a.dot(j) - 3)
    start = {"x.rate": 1, "y.rate": 0.5, "z.rate": 2, "x.rate.rate": 0, "y.rate.rate": 0, "z.rate.rate": -4}
    motion = run(model, formulation, [2.0], start)
    state = motion.at(2.0)
    found = [state["z"], state["z.rate"], motion.system.accelerations(state)[2], state["lambda_task"]]
    np.testing.assert_allclose(
        found, [-4.92250411666, -7.35134149107, -5.29150262213, -0.85391574011], rtol=1e-10, atol=0
    )
    with pytest.raises(ap.AppellError, match="No multipliers of the programmes give"):
        motion.system.state({**start, "x.rate.rate": 1.0})


F1 = {
    1.0: [1.04556885814, 0.5107555671, 0.860353778087, 0.773076701608, 0.898614539164, 0.891938362732],
    4.0: [-0.51629370568, 2.87560064851, 3.07141361516, -1.20537036244, 0.0847308812945, 0.329828878181],
}


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("formulation", ROUTES, ids=names)
def test_f1_f2_f3_one_programme_in_three_orders(formulation, order):
    motion = run(ap.library.unicycle_curvature_rate(order), formulation, [1.0, 4.0])
    assert_states(motion, F1)
    start = motion.at(0.0)
    accelerations = [-0.0859271776132, 0.714993586059, 0.352941176471]
    np.testing.assert_allclose(motion.system.accelerations(start), accelerations, rtol=1e-10, atol=0)
    if order == 1:
        lambdas = {0.0: [7.2, 0.282352941177], 4.0: [3.9854699308, -0.188435264928]}
        assert_multipliers(motion, ["edge", "curvature"], lambdas)
    if order == 3:
        assert start["lambda_curvature"] == pytest.approx(0.338823529412, rel=1e-10)


def cartesian(differentiate):
    model = ap.library.unicycle_curvature_rate(1)
    contact = model.ground.point(*model.coordinates[:2])
    edge = model.constraints[0]
    task = curvature(contact, 0.5 + 0.3 * sp.sin(ap.t), name="turn", differentiate=differentiate)
    return ap.Model(
        model.ground, model.coordinates, model.bodies, (), [edge, task], start=model.start, values={"m": 10, "J": 0.8}
    )


@pytest.mark.parametrize("differentiate", [0, 1])
def test_f4_a_programme_that_coincides_with_a_knife_edge_is_refused(differentiate):
    order = 2 + differentiate
    with pytest.raises(FormulationError, match=rf"'edge' \(order 1\) and 'turn' \(order {order}\) .* coincide"):
        ap.derive(cartesian(differentiate), ap.GPME())
    with pytest.raises(FormulationError, match="hidden row of order"):
        ap.verify(cartesian(differentiate))


F6 = {
    0.0: [0.191826532316, -0.988765159144, 0.2, 0.588039946705, 0.119201598477, 0.081608569621],
    1.0: [0.857017348162, -0.805503808759, 0.350610511605, 0.726625435729, 0.265741824097, 0.167283787337],
    3.0: [2.47829867225, -0.257267916676, 0.354101700697, 0.74272196321, 0.274572222756, 0.442467096186],
}


@pytest.mark.parametrize("formulation", LINEAR, ids=names)
def test_f6_a_moving_obstacle(formulation):
    motion = run(ap.library.obstacle_follower(), formulation, [1.0, 3.0])
    assert_states(motion, F6)
    d = lambda t: 1 + 0.1 * np.sin(2 * t)  # noqa: E731 - printed for the row (|P - c|^2 - d^2)/2, whose gradient is d times
    lambdas = {
        0.0: [0.190841378684, -0.499478085152 * d(0.0)],
        1.0: [0.944757892968, -0.0396684583529 * d(1.0)],
        3.0: [0.932654042451, -7.93971965479 * d(3.0)],
    }
    assert_multipliers(motion, ["edge", "distance"], lambdas)


def test_the_motion_does_not_depend_on_the_partition():
    """Three partitions of the obstacle follower, fixed over the run (section 1.6)."""
    model = ap.library.obstacle_follower()
    x, y, theta = model.coordinates
    ends = [run(model, ap.GPME(dependent=pair), [1.0]).states([1.0])[0] for pair in ((x, y), (y, theta), (x, theta))]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(ends[2], ends[0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_every_order_p_of_the_functions_gives_lagranges_operator(p):
    """The identity of Mangeron and Deleanu, as far as the formulation goes."""
    check = ap.verify(ap.library.rolling_disk(), ap.GPME(order=p, dependent=ap.coordinates("x y")))
    assert any("GPME (" in name for pair in check.pairs for name in pair)
    assert check.worst < 1e-12


def test_gauss_and_gpme_part_where_the_rows_turn():
    """N' E = 0 against N' dE/dt = 0; reference by SciPy's DOP853 on (q, q', q'') with the jerk solved from either."""
    gauss = run(ap.library.curvature_arm(3, "gauss"), ap.GPME(), [0.5, 0.999])
    expected = {
        0.5: [0.71668584, 1.73804848, 0.92244058, 1.77722936],
        0.999: [1.44128015, 2.74747263, 2.18561969, 1.3942546],
    }
    for t, numbers in expected.items():
        np.testing.assert_allclose(gauss.states([t])[0][:4], numbers, rtol=0, atol=2e-8)
    assert np.max(np.abs(gauss.states([0.5])[0][:2] - B2[0.5][:2])) > 0.03


def test_a_particle_draws_a_clothoid():
    """Speed 1 and curvature t/2, demanded by its rate: Fresnel's integrals at t = 4; nothing is left free."""
    x, y = ap.coordinates("x y")
    ground = ap.Frame("ground")
    place = ground.point(x, y)
    rows = [ap.Programmed(x.rate**2 + y.rate**2 - 1, "speed"), curvature(place, ap.t / 2, differentiate=1)]
    model = ap.Model(ground, (x, y), [ap.Particle("p", 1, place)], [], rows)
    motion = run(model, ap.GPME(), [4.0], {x.rate: 1.0})
    assert_states(motion, {4.0: [0.922922924866433, 1.60955297868751, np.cos(4), np.sin(4)]})


def test_a_missing_initial_datum_is_named():
    system = ap.compile(ap.derive(ap.library.jerk_cart_pendulum())).bind()
    with pytest.raises(ap.AppellError, match=r"'jerk' \(order 3\) needs 1 more initial value; give 1 of x.rate.rate"):
        system.state({"x": 0, "theta": 0.4})


@pytest.mark.heyoka
def test_orders_may_be_mixed_and_high():
    """x'''' programmed beside y''' on one plane, with a spring between two particles: both rows met exactly."""
    x, y, s = ap.coordinates("x y s")
    ground = ap.Frame("ground")
    one = ap.Particle("one", 2, ground.point(x, y))
    two = ap.Particle("two", 1, ground.point(s, 0))
    spring = ap.Spring(one.center, two.center, 30, 1)
    rows = [profile(x, 4, sp.cos(ap.t), "snap"), profile(y, 3, 2 * sp.sin(ap.t), "jerk")]
    model = ap.Model(ground, (x, y, s), [one, two], [spring], rows)
    start = {
        "x": 1,
        "s": -0.5,
        "x.rate": 0.1,
        "y.rate": 0.3,
        "x.rate.rate": 0.2,
        "y.rate.rate": 0.1,
        "x.rate.rate.rate": 0,
    }
    ends = []
    for formulation in (ap.GibbsAppell(), ap.GPME(), ap.Multipliers()):
        motion = run(model, formulation, [2.0], start)
        state = motion.at(2.0)
        assert state["x"] == pytest.approx(1 + 0.1 * 2 + 0.1 * 4 + np.cos(2) - 1 + 2, abs=1e-12)
        assert state["y"] == pytest.approx(0.3 * 2 + 0.05 * 4 + 2 * np.cos(2) - 2 + 4, abs=1e-12)
        ends.append(motion.states([2.0])[0])
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-11)
    np.testing.assert_allclose(ends[2], ends[0], rtol=0, atol=1e-11)


def test_a_row_nonlinear_in_its_accelerations_is_differentiated_once():
    """|a| = 5 exactly: order 2, demanded as (|a|^2)' = 0."""
    model = particle(lambda v, a, j: (a.dot(a) - 25) / 2)
    assert model.programme[0].order == 3
    system = ap.compile(ap.derive(model, ap.GPME())).bind()
    start = system.consistent({"x.rate": 1.0})
    assert np.linalg.norm(system.accelerations(start)) == pytest.approx(5, abs=1e-12)
    motion = ap.simulate(system, start, 1.0)
    assert np.linalg.norm(system.accelerations(motion.at(1.0))) == pytest.approx(5, abs=1e-11)
    # Its force contains the accelerations: recursion refuses it, the others agree.
    assert motion.check().ok
    with pytest.raises(FormulationError, match="as the force of a programme that is not linear in the accelerations"):
        ap.derive(model, ap.Recursive())
    # The row itself says what the multiplier is; what is given must fit it.
    (label,) = (z.label for z in model.states)
    multiplier = start[label]
    assert system.consistent({"x.rate": 1.0, label: multiplier})[label] == multiplier
    for wrong in ({label: multiplier + 0.1}, {"z.rate.rate": -4.0}):
        with pytest.raises(InconsistentStartError, match=f"With {next(iter(wrong))} as given, no multipliers"):
            system.consistent({"x.rate": 1.0, **wrong})
        with pytest.raises(InconsistentStartError, match="the programme itself says what they are"):
            ap.plan(model, start={"x.rate": 1.0, **wrong}, until=1.0)


def test_servo_constraints_move_otherwise_and_agree():
    model = ap.library.crane(servo=True)
    ends = [run(model, f, [4.0]).states([4.0])[0] for f in (ap.GPME(), ap.ComputationalGPME(), ap.Multipliers())]
    np.testing.assert_allclose(ends[1], ends[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(ends[2], ends[0], rtol=0, atol=1e-12)
    ideal = run(ap.library.crane(), ap.GPME(), [4.0]).states([4.0])[0]
    assert abs(ideal[0] - ends[0][0]) > 0.05
    with pytest.raises(FormulationError, match=r"servo ones: 'path.x', 'path.y'. Use GPME or"):
        ap.derive(model, ap.GibbsAppell())
    assert isinstance(ap.derive(model).formulation, ap.GPME)


def test_drives_that_do_not_reach_the_load_are_refused():
    model = ap.library.crane(servo=True)
    x, l, _ = model.coordinates
    rows = [r.expression for r in model.constraints[0].rows]
    wrong = ap.Model(
        model.ground, model.coordinates, model.bodies, model.forces, [ap.Programmed(rows, "path", realization=(x, l))],
        values=model.values, start=model.start,
    )  # fmt: skip
    with pytest.raises(FormulationError, match=r"drives along x, l of 'model' cannot enforce 'path\[0\]', 'path\[1\]'"):
        ap.derive(wrong, ap.GPME())
