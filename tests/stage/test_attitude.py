"""Attitudes that move nothing else: a ball on a plate and a satellite, against hand-made linear equations."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

import appell as ap

QUATERNION, ANGLES = ("e0", "e1", "e2", "e3"), ("f1", "f2", "f3")
M, R, G, I = 0.1, 0.02, 9.81, 0.02


def ball_on_plate(names: tuple[str, ...], against: str = "plate") -> ap.Model:
    """A homogeneous ball that rolls on a plate in two gimbals, driven by two torques."""
    a, b, x, y = ap.coordinates("a b x y")
    attitude = ap.coordinates(" ".join(names))
    ta, tb = ap.inputs("ta tb")
    ground = ap.Frame("ground")
    plate = ground.rotate("x", a).rotate("y", b, name="plate")
    base = plate if against == "plate" else ground
    sphere = base.rotate_quaternion(*attitude) if len(names) == 4 else base.rotate_body("zxz", *attitude)
    middle = ground.point(0, 0, 0)
    contact = middle + x * plate.x + y * plate.y
    ball = ap.RigidBody("ball", M, contact + R * plate.z, sphere, [2 * M * R**2 / 5] * 3)
    tray = ap.RigidBody("tray", 1.0, middle, plate, [I, I, 2 * I])
    slip = ball.velocity_at(contact) - tray.velocity_at(contact)
    return ap.Model(
        ground, (a, b, x, y, *attitude), [tray, ball],
        [ap.Gravity(-G * ground.z), ap.Generalized({a: ta, b: tb})],
        constraints=[ap.Nonholonomic([slip.dot(plate.x), slip.dot(plate.y)], "rolling")],
        name="ball on plate", start={"e0": 1.0} if len(names) == 4 else {"f2": 1.0},
    )  # fmt: skip


def by_hand() -> tuple[np.ndarray, np.ndarray]:
    """A, B in (b, x, b', x'): T = (m (x' + r b')^2 + J (b' + x'/r)^2 + I b'^2)/2, V = m g (r cos b - x sin b)."""
    J = 0.4 * M * R**2
    inertia = np.array([[I + M * R**2 + J, M * R + J / R], [M * R + J / R, M + J / R**2]])
    stiffness = np.array([[-M * G * R, -M * G], [-M * G, 0.0]])
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.linalg.solve(inertia, stiffness), np.zeros((2, 2))]])
    return A, np.concatenate([np.zeros(2), np.linalg.solve(inertia, [1.0, 0.0])])[:, None]


@pytest.fixture(scope="module")
def rest():
    return ap.equilibrium(ball_on_plate(QUATERNION), {"x": 0, "y": 0}, starts=3)


def test_lqr_says_what_to_type_and_then_holds_the_ball(rest):
    with pytest.raises(ap.AppellError) as refusal:
        ap.control.lqr(ap.linearize(rest))
    assert "ignore=['e0', 'e1', 'e2', 'e3']" in str(refusal.value)
    lin = ap.linearize(rest, ignore=QUATERNION)
    assert lin.states == ("a", "b", "x", "y", "a.rate", "b.rate", "x.rate", "y.rate", "w_ball_z")
    A, B = by_hand()
    own = [lin.states.index(s) for s in ("b", "x", "b.rate", "x.rate")]
    np.testing.assert_allclose(lin.A[np.ix_(own, own)], A, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(lin.B[own, 1:], B, rtol=1e-12, atol=0)
    feedback = ap.control.lqr(lin, {"a": 5, "b": 5, "x": 50, "y": 50}, 0.5)
    S = scipy.linalg.solve_continuous_are(A, B, np.diag([5.0, 50.0, 0.0, 0.0]), np.array([[0.5]]))
    np.testing.assert_allclose(feedback.K[1, own], (B.T @ S / 0.5)[0], rtol=1e-9, atol=0)
    assert feedback.certificate.verdict.name == "FAMILY"
    assert feedback.certificate.zeros == feedback.certificate.zeros_found == 1  # the spin about the normal

    # The ball rolls over more than once: the law must not depend on its attitude.
    start = feedback.start({"x": 0.15, "y": -0.1, "w_ball_z": 3.0})
    motion = ap.simulate(feedback.system, start, until=6.0)
    assert min(motion.columns["e0"]) < -0.2
    np.testing.assert_allclose([motion.columns[s][-1] for s in ("a", "b", "x", "y")], 0.0, rtol=0, atol=1e-8)
    other = ap.compile(ap.derive(rest.model, ap.GibbsAppell()).close(feedback.laws))
    again = ap.simulate(other, start, until=1.0)
    np.testing.assert_allclose(again.columns["x"][-1], motion.at(1.0)["x"], rtol=1e-8, atol=1e-10)


def test_an_observer_may_measure_angular_velocities(rest):
    lin = ap.linearize(rest, ignore=QUATERNION)
    feedback = ap.control.lqr(lin, {"a": 5, "b": 5, "x": 50, "y": 50}, 0.5)
    observer = ap.control.kalman(lin, ["a", "b", "x", "y", "w_ball_z"], 10.0, 0.01)
    loop = ap.control.output_feedback(feedback, observer)
    motion = ap.simulate(loop.system, loop.start({"x": 0.02, "w_ball_z": 1.0}), until=8.0)
    assert abs(motion.columns["x"][-1]) < 1e-4


def test_a_spin_that_moves_nothing_need_not_be_measured(rest):
    lin = ap.linearize(rest, ignore=QUATERNION)
    observer = ap.control.kalman(lin, ["a", "b", "x", "y"], 10.0, 0.01)
    A, _ = by_hand()
    C = np.eye(2, 4)
    S = scipy.linalg.solve_continuous_are(A.T, C.T, 10.0 * np.eye(4), 0.01 * np.eye(2))
    own = [lin.states.index(s) for s in ("b", "x", "b.rate", "x.rate")]
    np.testing.assert_allclose(observer.L[np.ix_(own, [1, 2])], S @ C.T / 0.01, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(observer.L[lin.states.index("w_ball_z")], 0.0, rtol=0, atol=1e-12)
    feedback = ap.control.lqr(lin, {"a": 5, "b": 5, "x": 50, "y": 50}, 0.5)
    loop = ap.control.output_feedback(feedback, observer)
    motion = ap.simulate(loop.system, loop.start({"x": 0.02, "w_ball_z": 1.0}), until=8.0)
    assert abs(motion.columns["x"][-1]) < 1e-4


def test_parts_of_an_attitude_cannot_be_ignored_alone(rest):
    with pytest.raises(ap.AppellError, match=r"without e0: .* Write ignore=\['e0', 'e1', 'e2', 'e3'\]"):
        ap.linearize(rest, ignore=QUATERNION[1:])
    with pytest.raises(ap.AppellError, match="a cannot be ignored"):
        ap.linearize(rest, ignore=["a"])


@pytest.mark.parametrize(("names", "against"), [(QUATERNION, "ground"), (ANGLES, "plate")])
def test_the_same_whatever_describes_the_attitude(rest, names, against):
    other = ap.equilibrium(ball_on_plate(names, against), {"x": 0, "y": 0}, starts=3)
    lin, own = ap.linearize(other, ignore=names), ap.linearize(rest, ignore=QUATERNION)
    assert lin.states == own.states
    np.testing.assert_allclose(lin.A, own.A, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(lin.B, own.B, rtol=1e-10, atol=1e-12)


def test_a_spinning_ball_in_the_middle_is_a_steady_motion():
    system = ap.compile(ap.derive(ball_on_plate(QUATERNION))).bind({"ta": 0, "tb": 0})
    still = {s: 0.0 for s in ("a", "b", "x", "y", "e1", "e2", "e3", "a.rate", "b.rate", "x.rate", "y.rate")}
    state = system.consistent({**still, "e0": 1.0, "e3.rate": 5.0})
    with pytest.raises(ap.AppellError, match=r"e3 cannot be left out without e0, e1, e2"):
        ap.linearize(system, state)
    lin = ap.linearize(system, state, ignore=QUATERNION)
    assert lin.tangent.value("w_ball_z") == pytest.approx(10.0, rel=1e-12)
    # By hand, with X = x + iy + r (b - ia) and k = m r^2/J: (1 + k) X'' = k g (b - ia) + i w r (b - ia)', and
    # I (b - ia)'' = m g (x + iy): (1 + k) s^2 (I s^2/(m g) + r) = k g + i w r s.
    k, spin = 2.5, 10.0
    quartic = np.roots([(1 + k) * I / (M * G), 0, (1 + k) * R, -1j * spin * R, -k * G])
    expected = np.concatenate([quartic, quartic.conj(), [0.0]])
    gaps = np.abs(lin.eigenvalues[:, None] - expected)
    assert max(np.max(np.min(gaps, axis=0)), np.max(np.min(gaps, axis=1))) < 1e-9


def test_eulers_rotations_of_a_satellite():
    """Moments 1, 2, 3 and the rate 1 about each axis: +-i sqrt(2/6), +-sqrt(1/3), +-i."""
    attitude, place = ap.coordinates("e0 e1 e2 e3"), ap.coordinates("x y z")
    ground = ap.Frame("ground")
    axes = ground.rotate_quaternion(*attitude)
    body = ap.RigidBody("body", 10.0, ground.point(*place), axes, [1.0, 2.0, 3.0])
    model = ap.Model(ground, (*place, *attitude), [body], name="satellite", start={"e0": 1.0})
    system = ap.compile(ap.derive(model)).bind()
    everything = [q.label for q in model.coordinates]
    for name, square in (("e1", -1 / 3), ("e2", 1 / 3), ("e3", -1.0)):
        state = system.consistent({"e0": 1.0, **{s: 0.0 for s in everything[4:]}, f"{name}.rate": 0.5})
        lin = ap.linearize(system, state, ignore=everything)
        assert lin.states == ("x.rate", "y.rate", "z.rate", "w_body_x", "w_body_y", "w_body_z")
        np.testing.assert_allclose(
            np.sort((lin.eigenvalues**2).real), np.sort([0] * 4 + [square] * 2), rtol=0, atol=1e-12
        )
        assert ap.stability(lin).verdict.name == ("UNSTABLE" if square > 0 else "CRITICAL")


def test_what_rows_hold_at_rest_is_not_said_to_be_ignorable():
    place, attitude = ap.coordinates("x y z"), ap.coordinates(" ".join(QUATERNION))
    ground = ap.Frame("ground")
    panel = ground.free(*place, *attitude)
    door = ap.RigidBody("door", 1.0, panel.origin, panel, (0.3, 0.3, 0.3))
    corner = ap.Holonomic(panel.point(-1, 0, 0), "corner")
    hinge = ap.Holonomic([panel.z.dot(ground.x), panel.z.dot(ground.y)], "hinge")
    model = ap.Model(ground, (*place, *attitude), [door], [ap.Gravity(-G * ground.y)], [corner, hinge])
    rest = ap.equilibrium(model, guess={"y": -1.0, "e0": 0.7, "e3": -0.7})
    lin = ap.linearize(rest)
    np.testing.assert_allclose(lin.eigenvalues.imag, [-np.sqrt(G / 1.3), np.sqrt(G / 1.3)], rtol=1e-12)
    assert lin.ignorable == ()
    assert "ignore" not in ap.stability(lin).sentence
