"""The three-link manipulator and its plans: reference numbers, theory page "programmed motion", 3 and 4 (d)."""

import numpy as np
import pytest

import appell as ap
from appell.formulation.computational_gpme import traces
from appell.kinematics.mechanics import Mechanics
from appell.planning import Limits, projected
from appell.planning.projection import _velocities
from appell.view.plot import COLORS, GREY, RED

SLOW = {
    0.0: ([0, 3.92699081699, 0.5, 0, 0, 0], [-2.01352171129, 26.1074333653]),
    0.5: (
        [0.0404860588346, 3.93526529574, 0.493084901362, 0.239895249518, 0.0303875559832, -0.0281647326154],
        [-2.08412788232, 26.0228923661],
    ),
    1.0: (
        [0.305483872135, 3.94570762156, 0.465603027346, 0.86824649853, -0.0123868078961, -0.0959810248056],
        [-2.69778589583, 26.0218896076],
    ),
    2.0: (
        [1.9254576271, 3.9110362076, 0.361612071988, 2.2732554317, 0.180977541618, 0.0645604151392],
        [-2.53254648574, 24.6219555394],
    ),
    2.5: (
        [3.14159299698, 4.02364702151, 0.432709297751, 2.51310098657, -2.45701853646e-07, -2.18686729029e-07],
        [-7.66018255839, 27.0988831468],
    ),
    4.0: (
        [5.97770199011, 3.94570766542, 0.465603062204, 0.868252447908, 0.0123871812245, 0.0959813267659],
        [-2.6902502747, 26.0361014308],
    ),
    5.0: (
        [6.28318599471, 3.92699081699, 0.5, -9.31567379735e-05, 1.85861882762e-11, 1.48681228724e-11],
        [-2.01351979363, 26.1074367721],
    ),
}
FAST = {
    0.5: (
        [0.404906837637, 3.91395002112, 0.47643642065, 2.3997927036, -0.197997136002, -0.201335226212],
        [-6.54577692259, 27.9711786669],
    ),
    1.0: (
        [3.05507381478, 3.95740099227, 0.475064697837, 8.68772584336, 0.27179928416, 0.136680281542],
        [-67.3671320308, 52.0277264326],
    ),
    2.0: (
        [19.2554637408, 3.99226819205, 0.420625090919, 22.8502723718, -2.14813104918, -1.82053994744],
        [-309.458079896, 123.232057392],
    ),
    2.5: (
        [31.4149777441, 4.02364689336, 0.432709183688, 25.3905730286, 0.00685898755625, 0.00610483429223],
        [-579.478053354, 250.165561241],
    ),
    5.0: (
        [62.8318596273, 3.92699081698, 0.499999999995, -0.000931570669066, 1.77172284734e-09, 1.41742768844e-09],
        [-2.01352056787, 26.1074370696],
    ),
}
ROUTES = [ap.GPME(), ap.ComputationalGPME(), ap.Multipliers(), ap.UdwadiaKalaba(), ap.GibbsAppell(), ap.Voronets()]


def assert_numbers(motion, numbers):
    reactions = motion.reactions()
    for t, (state, multipliers) in numbers.items():
        np.testing.assert_allclose(motion.states([t])[0], state, rtol=1e-9, atol=1e-9)
        found = [float(reactions[name].sel(t=t)) for name in ("ellipse", "height")]
        np.testing.assert_allclose(found, multipliers, rtol=1e-9, atol=0)


@pytest.fixture(scope="module")
def slow():
    limits = Limits(speed={"psi1": 2.0}, torque={"psi2": 20.0, "z3": 40.0})
    return ap.planning.plan(ap.library.three_link(), drives=("drive",), limits=limits)


@pytest.mark.parametrize("formulation", ROUTES, ids=lambda f: type(f).__name__)
def test_slow_programme_by_every_route(formulation):
    system = ap.compile(ap.derive(ap.library.three_link(), formulation)).bind()
    assert_numbers(ap.simulate(system, at=list(SLOW)), SLOW)


def test_fast_programme():
    for formulation in (ap.GPME(), ap.ComputationalGPME()):
        system = ap.compile(ap.derive(ap.library.three_link("fast"), formulation)).bind()
        assert_numbers(ap.simulate(system, at=[0.0, *FAST]), FAST)


def test_mass_matrix_and_coriolis_forces_by_traces():
    """M, b = -h and what the printed h gives at one state (4 (d))."""
    mechanics = Mechanics(ap.library.three_link())
    x, p = mechanics.variables, mechanics.sample_values(np.random.default_rng(0))
    import casadi as ca

    made = ca.Function("made", [x.q, x.v, x.p], [*traces(mechanics), traces(mechanics, literal=True)[1]])
    M, h, literal = (np.array(e) for e in made([0.4, 3.9, 0.45], [1.1, -0.6, 0.3], p))
    expected = [[0.386141195626, -0.00518091321622, 0], [-0.00518091321622, 0.7449, 0], [0, 0, 3]]
    np.testing.assert_allclose(M, expected, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(-h.ravel(), [-0.102790307814, -0.870712938968, -1.11882836467], rtol=1e-10, atol=0)
    printed = [-0.102790307814, 0.00241570775736, 1.11882836467]
    np.testing.assert_allclose(literal.ravel(), printed, rtol=1e-9, atol=0)


@pytest.mark.parametrize(
    ("angle", "numbers"),
    [
        (
            60,
            {
                0.1: [
                    0.000314092941449,
                    3.85876637729,
                    0.497654003764,
                    0.00993710426582,
                    0.947565401233,
                    0.0109883603792,
                ],
                0.5: [0.040485890409, 3.93494756029, 0.493069484849, 0.239896768399, 0.0346351152966, -0.0279653163527],
            },
        ),
        (
            80,
            {
                0.1: [0.000304464940958, 3.79914936495, 0.493415202675, 0.0101415970141, 1.82228221685, 0.045409189133],
                0.5: [
                    0.0404857385285,
                    3.93468810458,
                    0.493040329027,
                    0.239898122363,
                    0.0381051899599,
                    -0.0275807550918,
                ],
            },
        ),
    ],
)
def test_reading_b_inconsistent_starts_under_baumgarte(angle, numbers):
    """The paper's alpha = 100, beta = 50: the hand comes onto the ellipse in half a second."""
    model = ap.library.three_link(angle=angle)
    system = ap.compile(ap.derive(model, ap.GPME(stabilize=(100, 50)))).bind()
    motion = ap.simulate(system, system.state(model.start), 1.0)
    for t, expected in numbers.items():
        np.testing.assert_allclose(motion.states([t])[0], expected, rtol=1e-9, atol=1e-9)
    late = [abs(e) for t in (0.55, 0.8, 1.0) for e in list(system.residual(motion.at(t)).values())[:2]]
    assert max(late) < 1e-3
    with pytest.raises(ap.AppellError, match="violate the constraint"):
        ap.compile(ap.derive(model, ap.GPME())).bind().state(model.start)


@pytest.mark.parametrize(("programme", "apart"), [("slow", 1.074660284e-4), ("fast", 8.62722238e-3)])
def test_servo_drives_of_joints_two_and_three(programme, apart):
    """The column then feels nothing of the programme: its own inertia and the drive, of which it lags otherwise.

    How far it gets away from the ideal one: by SciPy's DOP853 on the equations with multipliers of Lagrange's T - V,
    Denavit-Hartenberg matrices differentiated by SymPy, the column of drives in place of the gradients.
    """
    cases = [(False, ap.GPME()), (True, ap.GPME()), (True, ap.Multipliers())]
    runs = [
        ap.simulate(ap.compile(ap.derive(ap.library.three_link(programme, servo=flag), formulation)).bind())
        for flag, formulation in cases
    ]
    ideal, servo, oracle = (motion.states(np.linspace(0, 5, 5001))[:, 0] for motion in runs)
    np.testing.assert_allclose(servo, oracle, rtol=0, atol=1e-10)
    assert np.max(np.abs(ideal - servo)) == pytest.approx(apart, rel=1e-6)


def test_projection_of_a_start(slow):
    system = slow.motion.system
    q = projected(system, {"psi1": 0.5, "psi2": 3.7, "z3": 0.55}, t=1.0).q
    np.testing.assert_allclose(q, [0.516439028027, 3.92541940205, 0.4499625472], rtol=0, atol=1e-11)
    there = np.array([0, np.radians(225), 0.5])
    v = _velocities(system, 0.3, there, np.ones(3), np.zeros(0))
    np.testing.assert_allclose(v, [0.989377882728, 0.020444178678, -0.0163553429424], rtol=0, atol=1e-11)
    for angle in (60, 70):
        moved = projected(system, {"psi2": np.radians(270 - angle)})
        np.testing.assert_allclose(moved.q, [0, 3.926990816987, 0.5], rtol=0, atol=1e-9)
        assert "psi2" in moved.changes


def test_the_report_of_a_plan(slow):
    assert slow.programme.order == 2
    assert slow.programme.dimension == 2
    assert slow.programme.positions == ("psi1",)
    assert not slow.feasible
    (broken,) = slow.violations
    assert (broken.kind, broken.name) == ("speed", "psi1")
    rate = slow.motion.states([broken.first])[0][3]
    assert rate == pytest.approx(2.0, abs=1e-9)
    torque = next(f for f in slow.findings if f.name == "psi2")
    assert torque.worst == pytest.approx(12.76, abs=0.01)
    assert "VIOLATED first at t = 1.7" in repr(slow)
    names = [entry[0] for entry in slow.regularity.partitions]
    assert names[0] == ("psi2", "z3")
    assert all(growth > 1e8 for _, growth, _ in slow.regularity.partitions[1:])


def test_the_torques_are_the_inverse_dynamics(slow):
    """tau = M q'' + b + g, here by Udwadia and Kalaba's route to M and F; and its rate by differences."""
    system, t = slow.motion.system, 1.3
    mechanics = system.equations.mechanics
    state = slow.motion.at(t)
    M, F = (np.array(e) for e in mechanics.functions["multiplier"](t, state.q, state.v, [], [], system.p)[:2])
    spring = 1e4 * (2 * np.pi * (t / 5 - np.sin(2 * np.pi * t / 5) / (2 * np.pi)) - state.q[0])
    spring += 70 * (2 * np.pi / 5 * (1 - np.cos(2 * np.pi * t / 5)) - state.v[0])
    expected = M @ system.accelerations(state) - F[:, 0] + [spring, 0, 0]
    tau, rate = slow.effort.along(slow.motion, np.array([t]))
    np.testing.assert_allclose(tau[0], expected, rtol=1e-10, atol=1e-10)
    around, _ = slow.effort.along(slow.motion, np.array([t - 1e-4, t + 1e-4]))
    np.testing.assert_allclose(rate[0], (around[1] - around[0]) / 2e-4, rtol=1e-5, atol=1e-5)


def test_slowing_down_makes_it_feasible(slow):
    """The column turns at 2.513 rad/s where 2 are allowed: slower by 1.2566."""
    better = slow.suggest()
    assert better.feasible
    assert better.pace == pytest.approx(2.5131 / 2, rel=3e-3)
    assert better.motion.times[-1] == pytest.approx(5 * better.pace)
    assert not slow.slower(1.2).feasible


def test_rows_without_a_pace_are_scaled_in_themselves():
    limits = Limits(speed={"q1": 1.0})
    plan = ap.planning.plan(ap.library.curvature_arm(), limits=limits, until=1.0, values={"tau": 0, "c": 0})
    assert not plan.feasible
    slower = plan.slower(2.0)
    # Without forces the motion of the programme itself is q(t/2).
    np.testing.assert_allclose(slower.motion.states([2.0])[0][:2], plan.motion.states([1.0])[0][:2], rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        slower.motion.states([2.0])[0][2:], plan.motion.states([1.0])[0][2:] / 2, rtol=0, atol=1e-10
    )


def test_every_pace_is_one_of_the_programme_as_given():
    plan = ap.plan(ap.library.three_link(), until=0.5)
    twice, again = plan.slower(2.0), plan.slower(3.0).slower(2.0)
    times = np.linspace(0, 1.0, 5)
    np.testing.assert_array_equal(again.motion.states(times), twice.motion.states(times))
    assert again.pace == 2.0


def test_what_cannot_be_planned_is_said():
    with pytest.raises(ap.AppellError, match="has no programmed constraint"):
        ap.planning.plan(ap.library.rolling_disk())
    with pytest.raises(
        ap.AppellError, match="'psi4' is not a coordinate of 'three-link manipulator' with a speed limit"
    ):
        ap.planning.plan(ap.library.three_link(), limits=Limits(speed={"psi4": 1}))
    with pytest.raises(ap.AppellError, match="No position satisfies the programme"):
        ap.planning.plan(ap.library.three_link(), values={"z0": 5.0, "lE": 0.0, "b": 0.1, "a": 0.1, "l1": -50.0})
    at_once = ap.planning.plan(ap.library.three_link(), limits=Limits(position={"z3": (0.6, 0.9)}), until=0.5)
    assert at_once.violations[0].first == 0.0


def test_a_plan_is_drawn(slow, tmp_path):
    path = tmp_path / "plan.png"
    plot = slow.plot(path)
    assert path.stat().st_size > 10_000
    assert plot.panels[0].y == "positions"
    assert [line.name for line in plot.panels[0].items[:3]] == ["ψ1 [rad]", "ψ2 [rad]", "z3 [m]"]
    assert {line.color for panel in plot.panels for line in panel.items} <= {*COLORS, RED, GREY}
