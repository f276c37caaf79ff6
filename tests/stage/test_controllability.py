"""Which modes inputs reach: multiple roots, units, traces of rounding, and what is refused."""

import numpy as np
import pytest
import scipy.linalg

import appell as ap
from appell.errors import ControlError, ModelError


@pytest.fixture(scope="module")
def beam():
    return ap.linearize(ap.equilibrium(ap.library.ball_and_beam(), {"xi": 0.2}), dependent=["alpha"])


def test_units_do_not_decide_about_controllability(beam):
    scale = np.diag([1e4, 1e-4, 1e5, 1e-3])
    A, B = scale @ beam.A @ np.linalg.inv(scale), scale @ beam.B * 1e-6
    assert ap.control.controllability(A, B).complete
    assert ap.control.controllability(A, B).rank == 4


@pytest.mark.parametrize("trace", [0.0, 3e-15, -2e-14])
def test_traces_of_rounding_do_not_decide_about_controllability(trace):
    A = np.array([[0, 1, 0, 0], [66, 0, 0, 0], [0, 0, 0, 1], [trace, 0, 0, 0]])
    reach = ap.control.controllability(A, [0, 1, 0, -90])
    assert (reach.rank, reach.missed) == (4, ())
    assert ap.control.minimum_controls(A).number == 1


def test_a_slow_swing_beside_a_stiff_one_is_no_trace_of_rounding():
    A = np.zeros((4, 4))
    A[0, 1] = A[2, 3] = 1.0
    A[1, 0], A[3, 2] = -1e12, 1e-2
    slow = max(ap.control.controllability(A, np.eye(4)[:, [1]]).modes, key=lambda mode: mode.root.real)
    assert slow.root == pytest.approx(0.1)
    assert slow.missed == 1


@pytest.mark.parametrize(("stiffness", "least"), [(5.0, ("w",)), (-5.0, ())])
def test_the_smallest_sets_that_stabilize_leave_out_what_decays_by_itself(stiffness, least):
    a, b = ap.coordinates("a b")
    u, w = ap.inputs("u w")
    own = ap.Generalized({a: u - 3 * a - a.rate, b: w + stiffness * b - b.rate})
    ground = ap.Frame("ground")
    model = ap.Model(ground, (a, b), [ap.Particle("mass", 1.0, ground.point(a, b))], [own], values={u: 0, w: 0})
    lin = ap.linearize(ap.equilibrium(model))
    assert ap.control.smallest_actuators(lin) == (("u", "w"),)
    assert ap.control.smallest_actuators(lin, stabilize=True) == (least,)
    assert ap.control.smallest_sensors(lin, [a, b]) == ((a, b),)
    assert ap.control.smallest_sensors(lin, [a, b], stabilize=True) == ((b,) if least else (),)


@pytest.mark.parametrize(("pull", "least"), [(30.0, ("u",)), (-1.0, ())])
def test_momenta_that_no_input_changes_are_left_aside_as_in_an_optimal_feedback(pull, least):
    """A bead slides on an arm that turns freely: no force along the arm changes the angular momentum."""
    r, psi = ap.coordinates("r psi")
    u = ap.inputs("u")
    ground = ap.Frame("ground")
    bead = ap.Particle("bead", 1.0, ground.rotate("z", psi).point(r, 0))
    along = ap.Generalized({r: u + pull * (r - 1) - r.rate})
    model = ap.Model(ground, (r, psi), [bead], [along], start={r: 1})
    lin = ap.linearize(ap.equilibrium(model, {r: 1, psi.rate: 2}))
    assert ap.control.lqr(lin, {r: 1}, 1).certificate.verdict.name == "FAMILY"
    with pytest.raises(ControlError, match="u alone does not control"):
        ap.control.smallest_actuators(lin)
    assert ap.control.smallest_actuators(lin, stabilize=True) == (least,)


@pytest.mark.parametrize(("B", "rank"), [([0, 0, 0], 0), ([1, 0, 0], 1), ([0, 1, 0], 2), ([0, 0, 1], 3)])
def test_what_only_leads_to_what_is_missed_is_not_reached(B, rank):
    reach = ap.control.controllability(np.eye(3, k=1) + np.diag([-2.0] * 3), B)
    assert reach.rank == rank
    assert reach.complete == (rank == 3)


def test_what_inputs_do_not_reach_of_a_swing_counts_twice():
    A = np.array([[0, 1, 0], [-4, 0, 0], [0, 0, -1]])
    assert ap.control.controllability(A, [0, 0, 1]).rank == 1
    assert ap.control.controllability(A, [0, 1, 0]).rank == 2


@pytest.mark.parametrize("seed", range(5))
def test_rounding_that_splits_a_multiple_root_does_not_change_what_is_reached(seed):
    """Zero three times in a chain and once more, -1 twice in a chain: the end of each chain is not reached."""
    A = scipy.linalg.block_diag(np.eye(3, k=1), np.zeros((1, 1)), [[-1, 1], [0, -1]], [[0, 2], [-2, 0]])
    B = np.zeros((8, 2))
    B[[1, 3, 4, 7], [0, 1, 0, 1]] = 1
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(8, 8)))[0]
    reach = ap.control.controllability(turn @ A @ turn.T, turn @ B)
    assert reach.rank == 6
    assert [(np.round(m.root, 6), m.multiplicity, m.missed) for m in reach.modes] == [(-1, 2, 1), (0, 4, 1), (2j, 1, 0)]
    assert ap.control.minimum_controls(turn @ A @ turn.T).number == 2


def cube(length=1.0, mass=1.0):
    """A cube on its corner with a wheel behind each of three faces: the yaw and the wheels' turns matter to nothing."""
    attitude, turns, torques = ap.coordinates("e0 e1 e2 e3"), ap.coordinates("s1 s2 s3"), ap.inputs("t1 t2 t3")
    ground = ap.Frame("ground")
    frame = ground.rotate_quaternion(*attitude, name="cube")
    half, inertia = 0.075 * length, mass * length**2
    bodies = [ap.RigidBody("cube", 1.2 * mass, frame.point(half, half, half), frame, [4.5e-3 * inertia] * 3)]
    for i, axis in enumerate("xyz"):
        place = [0.02 * length if k == i else half for k in range(3)]
        moments = [4e-4 * inertia if k == i else 2e-4 * inertia for k in range(3)]
        wheel = frame.rotate(axis, turns[i])
        bodies.append(ap.RigidBody(f"wheel {axis}", 0.15 * mass, frame.point(*place), wheel, moments))
    forces = [ap.Gravity(-9.81 * ground.z), *(ap.Generalized({s: u}) for s, u in zip(turns, torques, strict=True))]
    tilt = np.arccos(1 / np.sqrt(3)) / 2
    start = {"e0": np.cos(tilt), "e1": np.sin(tilt) / np.sqrt(2), "e2": -np.sin(tilt) / np.sqrt(2)}
    return ap.Model(ground, (*attitude, *turns), bodies, forces, name="cube", start=start)


def test_wheels_hold_a_cube_on_its_corner_all_but_its_momentum_about_the_vertical():
    rest = ap.equilibrium(cube(), inputs=["t1", "t2", "t3"])
    assert ap.control.controllability(ap.linearize(rest)).rank == 10
    lin = ap.linearize(rest, ignore=["s1", "s2", "s3"])
    reach = ap.control.controllability(lin)
    assert (reach.rank, reach.size, [m.missed for m in reach.missed]) == (8, 9, [1])
    feedback = ap.control.lqr(lin, {s: 1 if s.endswith("rate") else 100 for s in lin.states}, 1e4)
    proof = feedback.certificate
    assert (proof.verdict.name, proof.constraint_zeros, proof.family_zeros, proof.zeros_found) == ("FAMILY", 1, 1, 2)


def test_a_place_that_is_no_coordinate_is_left_out_in_other_coordinates():
    one, two, push = *ap.coordinates("one two"), ap.inputs("push")
    ground = ap.Frame("ground")
    carts = [ap.Particle("a", 1, ground.point(one)), ap.Particle("b", 2, ground.point(two))]
    forces = [ap.Potential((two - one - 1) ** 2), ap.Generalized({one: -push, two: push})]
    model = ap.Model(ground, (one, two), carts, forces, start={"two": 1.0})
    with pytest.raises(ControlError, match=r"distances from it as coordinates: then one \+ two can be left out"):
        ap.control.lqr(ap.linearize(ap.equilibrium(model, {"one": 0.0})))


def test_where_an_attitude_must_be_left_out_places_are_kept():
    """A body that balances on a ball: two torques bring it back to its place, but not the ball to its attitude."""
    x, y, r, p, tx, ty = *ap.coordinates("x y r p"), *ap.inputs("tx ty")
    attitude = ap.coordinates("e0 e1 e2 e3")
    ground = ap.Frame("ground")
    center, tilt = ground.point(x, y, 0.12), ground.rotate("x", r).rotate("y", p)
    ball = ap.RigidBody("ball", 3, center, ground.rotate_quaternion(*attitude, name="ball"), [0.02] * 3)
    body = ap.RigidBody("body", 10, center + 0.5 * tilt.z, tilt, [1, 1, 0.2])
    forces = [ap.Gravity(-9.81 * ground.z), ap.Torque(tx * tilt.x, ball, body), ap.Torque(ty * tilt.y, ball, body)]
    rolling = ap.Rolling(ball, ground.point(x, y, 0))
    model = ap.Model(ground, (x, y, r, p, *attitude), [ball, body], forces, [rolling], start={"e0": 1.0})
    rest = ap.equilibrium(model, {"x": 0, "y": 0})
    missed = r"\(1 x -0.24 e2 and 1 y \+0.24 e1 and 1 e3.rate\)"
    with pytest.raises(ControlError, match=missed + r".*ignore=\['e0', 'e1', 'e2', 'e3'\]"):
        ap.control.lqr(ap.linearize(rest))


def test_a_place_beside_a_wheel_is_reached_by_manoeuvres_only():
    x, y, heading, F, N = *ap.coordinates("x y heading"), *ap.inputs("F N")
    ground = ap.Frame("ground")
    wheel = ap.RigidBody("wheel", 2, ground.point(x, y), ground.rotate("z", heading), [0, 0, 0.1])
    forces = [ap.Force(F * wheel.frame.x, wheel), ap.Torque(N * ground.z, wheel)]
    edge = ap.Rolling(wheel, wheel.center, along=[wheel.frame.y])
    lin = ap.linearize(ap.equilibrium(ap.Model(ground, (x, y, heading), [wheel], forces, [edge]), {"x": 0, "y": 0}))
    reach = ap.control.controllability(lin)
    assert (reach.rank, reach.size) == (4, 5)
    assert "reached by manoeuvres all the same" in repr(reach)
    with pytest.raises(ControlError, match=r"not controllable: root 0 .*no smooth feedback holds such a place"):
        ap.control.place(lin, [-1, -2, -3, -4, -5])


def test_what_rolling_along_a_line_leaves_is_an_integral_and_no_manoeuvre():
    s, turn, M = *ap.coordinates("s turn"), ap.inputs("M")
    ground = ap.Frame("ground")
    wheel = ap.RigidBody("wheel", 1, ground.point(s, 0.2), ground.rotate("z", turn), [0, 0, 0.02])
    forces = [ap.Torque(M * ground.z, wheel)]
    model = ap.Model(ground, (s, turn), [wheel], forces, [ap.Rolling(wheel, ground.point(s, 0))])
    reach = ap.control.controllability(ap.linearize(ap.equilibrium(model, {"s": 0})))
    assert (reach.rank, reach.size, reach.remark) == (2, 3, "")


def test_gains_beside_a_momentum_that_stays_are_the_same_in_all_sizes():
    """Cheap control, whose gains are large; a length of a millionth makes everything a thousand times faster."""
    slowest = []
    for length, mass in ((1.0, 1.0), (1e-6, 1e-12)):
        lin = ap.linearize(ap.equilibrium(cube(length, mass), inputs=["t1", "t2", "t3"]), ignore=["s1", "s2", "s3"])
        weights = {s: length if s.endswith("rate") else 1.0 for s in lin.states}
        proof = ap.control.lqr(lin, weights, 1e-4 / (mass * length) ** 2).certificate
        assert proof.verdict.name == "FAMILY"
        slowest.append(proof.margin * np.sqrt(length))
    assert slowest[0] == pytest.approx(slowest[1], rel=1e-3)


def test_an_input_cannot_be_chosen_twice(beam):
    for choose in (
        lambda: ap.control.lqr(beam, inputs=["tau", "tau"]),
        lambda: ap.control.controllability(beam, inputs=["tau", "tau"]),
        lambda: ap.linearize(beam.at, inputs=["tau", "tau"]),
    ):
        with pytest.raises(ModelError, match=r"'tau' is given twice among tau, tau"):
            choose()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ap.control.controllability([[0, 1], [0, 0]], [np.nan, 1]), "B has entries that are not finite"),
        (lambda: ap.control.controllability([[0, np.inf], [0, 0]], [0, 1]), "A has entries that are not finite"),
        (lambda: ap.control.controllability([[0, 1]], [0, 1]), "square matrix A; got A of shape"),
        (lambda: ap.control.controllability([[0, 1], [0, 0]]), "needs a matrix B"),
        (lambda: ap.control.controllability([[0, 1], [0, 0]], [1, 2, 3]), "A has 2 rows, B has 3"),
        (lambda: ap.control.observability([[0, 1], [0, 0]], [1, 0, 0]), "A has 2 columns, C has 3"),
        (lambda: ap.control.controllability("pendulum"), "Got str as A; give a linearisation, or matrices"),
    ],
)
def test_matrices_that_are_none_are_refused(call, message):
    with pytest.raises(ControlError, match=message):
        call()


@pytest.mark.parametrize("gain", [np.nan, np.inf])
def test_gains_that_are_no_numbers_are_refused(beam, gain):
    with pytest.raises(ControlError, match="gains K have entries that are not finite"):
        ap.stability(beam, gains=np.full((1, 4), gain))
