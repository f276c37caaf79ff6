"""Modes: frequencies, damping and shapes in closed form, in redundant coordinates, of gyroscopes and steady motions."""

import numpy as np
import pytest

import appell as ap

ground = ap.Frame("ground")


def chain(n, *, walls=2, k=3.0, m=0.5, damping=0.0):
    """Equal masses in a row with equal springs, between walls."""
    x = ap.coordinates(f"x1:{n + 1}")
    bodies = [ap.Particle(f"m{i}", m, ground.point(i + e)) for i, e in enumerate(x)]
    ends = [0, *x, 0]
    gaps = [b - a for a, b in zip(ends[1 - (walls > 0) : -1], ends[2 - (walls > 0) :], strict=True)]
    gaps = gaps if walls == 2 else gaps[: n - 1 + walls]
    pulls = {e: 0 for e in x}
    for gap in gaps:
        for e in x:
            pulls[e] += -k * gap * gap.diff(e) - damping * k * sum(gap.diff(f) * f.rate for f in x) * gap.diff(e)
    return ap.Model(ground, x, bodies, [ap.Generalized(pulls)], name="chain")


def test_a_chain_between_walls():
    """w_j = 2 sqrt(k/m) sin(j pi / (2 n + 2)), shapes sin(i j pi / (n + 1)); stiffness proportional damping."""
    n, c = 5, 0.01
    found = ap.linearize(ap.equilibrium(chain(n, damping=c))).modes
    w = 2 * np.sqrt(3.0 / 0.5) * np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2))
    np.testing.assert_allclose([abs(mode.root) for mode in found], w, rtol=1e-12)
    np.testing.assert_allclose([mode.damping for mode in found], c * w / 2, rtol=1e-10)
    np.testing.assert_allclose(
        [mode.frequency for mode in found], w * np.sqrt(1 - (c * w / 2) ** 2) / (2 * np.pi), rtol=1e-12
    )
    for j, mode in enumerate(found, 1):
        wanted = np.sin(np.arange(1, n + 1) * j * np.pi / (n + 1))
        s = np.array(list(mode.shape.values()))
        assert np.max(np.abs(s)) == pytest.approx(1, abs=1e-12)
        np.testing.assert_allclose(s * wanted[np.argmax(np.abs(s))], wanted, atol=1e-10)


def test_a_chain_without_walls_has_no_mode_of_its_rigid_displacement():
    found = ap.linearize(ap.equilibrium(chain(3, walls=0), dict.fromkeys(("x1", "x2", "x3"), 0.0))).modes
    np.testing.assert_allclose([mode.root.imag for mode in found], np.sqrt(np.array([1, 3]) * 3.0 / 0.5), rtol=1e-10)


def test_a_double_pendulum_and_a_run_along_its_shape():
    a, b = ap.coordinates("a b", "rad")
    knee = ground.pin(a).point(0, -1.0)
    bodies = [ap.Particle("knee", 1.0, knee), ap.Particle("foot", 1.0, knee - ground.pin(b).y)]
    model = ap.Model(ground, (a, b), bodies, [ap.Gravity(-9.81 * ground.y)], name="double pendulum")
    slow, fast = ap.linearize(ap.equilibrium(model, {a: 0, b: 0})).modes
    np.testing.assert_allclose(slow.frequency, np.sqrt(9.81 * (2 - np.sqrt(2))) / (2 * np.pi), rtol=1e-12)
    np.testing.assert_allclose([slow.shape["a"], fast.shape["a"]], [np.sqrt(0.5), -np.sqrt(0.5)], rtol=1e-10)
    assert repr(slow) == "0.381526 Hz, damping ratio 0: a 0.7071, b 1"
    for mode in (slow, fast):
        motion = ap.simulate(ap.compile(ap.derive(model)), mode.start(1e-5), 2 / mode.frequency)
        np.testing.assert_allclose(motion["b"], 1e-5 * np.cos(mode.root.imag * motion.times), atol=1e-10)
    assert abs(slow.start()["b"]) == pytest.approx(0.2)


def test_dependent_coordinates_move_along():
    crank = ap.linearize(ap.equilibrium(ap.library.slider_crank(), {"theta": 1.0}), dependent=["phi", "x_s"])
    for mode in crank.modes:
        start = mode.start(1e-6)
        rest = crank.at.state
        for name, s in mode.shape.items():
            assert start[name] - rest[name] == pytest.approx(1e-6 * s.real, abs=1e-11)
    ball = ap.linearize(ap.equilibrium(ap.library.spherical_pendulum(), {"x": 0.0, "y": 0.0, "z": -0.5}))
    assert [mode.frequency for mode in ball.modes] == pytest.approx([np.sqrt(9.81 / 0.5) / (2 * np.pi)] * 2)
    assert all(abs(mode.shape["z"]) < 1e-9 for mode in ball.modes)


def test_a_run_begins_in_the_mode_where_coordinates_run():
    """The wobble of a disk that rolls, the nutation of a conical pendulum: rates of what runs on move along."""
    disk = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    a, turn = ap.coordinates("a turn", "rad")
    arm = ground.rotate("z", turn).rotate("y", -a)
    bob = ap.Particle("bob", 1.0, ground.origin - arm.z)
    model = ap.Model(ground, (a, turn), [bob], [ap.Gravity(-9.81 * ground.z)], name="conical pendulum")
    cone = {"a": 0.5, "turn.rate": np.sqrt(9.81 / np.cos(0.5))}
    for steady, name in (
        (ap.equilibrium(disk, {"spin.rate": 8.0}), "lean"),
        (ap.equilibrium(ap.compile(ap.derive(model)), cone), "a"),
    ):
        mode = ap.linearize(steady).modes[0]
        motion = ap.simulate(steady.system, mode.start(1e-5), 1 / mode.frequency)
        moved = motion.columns[name] - steady.state[name]
        np.testing.assert_allclose(moved, 1e-5 * np.cos(mode.root.imag * motion.times), atol=1e-9)


def test_an_amplitude_beyond_the_constraints_is_refused():
    x, y = ap.coordinates("x y")
    rod = ap.Holonomic(x**2 + y**2 - 1)
    bob = ap.Particle("bob", 1.0, ground.point(x, y))
    model = ap.Model(ground, (x, y), [bob], [ap.Gravity(-9.81 * ground.y)], [rod], name="pendulum")
    mode = ap.linearize(ap.equilibrium(model, {y: -1})).modes[0]
    assert mode.start(0.8)["y"] == pytest.approx(-0.6)
    with pytest.raises(
        ap.AppellError, match=r"do not let 'pendulum' be moved by 1.5 .* smaller amplitude, start\(0.1\)"
    ):
        mode.start(1.5)


def test_a_rotor_whirls_both_ways():
    """(A s^2 + k) a + C W s b = 0: backward and forward whirl, the axes a quarter of a turn apart."""
    a, b, spin = ap.coordinates("a b spin", "rad")
    A, C, W, k = 0.2, 0.3, 40.0, 90.0
    frame = ground.rotate("x", a).rotate("y", b).rotate("z", spin)
    rotor = ap.RigidBody("rotor", 1.0, ground.point(0, 0, 0), frame, [A, A, C])
    model = ap.Model(ground, (a, b, spin), [rotor], [ap.Generalized({a: -k * a, b: -k * b})], name="rotor")
    turning = ap.equilibrium(model, {"a": 0.0, "b": 0.0, "spin.rate": W})
    found = ap.linearize(turning).modes
    gyro = C * W / A
    wanted = [abs(gyro - np.sqrt(gyro**2 + 4 * k / A)) / 2, (gyro + np.sqrt(gyro**2 + 4 * k / A)) / 2]
    np.testing.assert_allclose([mode.root.imag for mode in found], wanted, rtol=1e-9)
    for mode in found:
        assert abs(abs(np.angle(mode.shape["b"] / mode.shape["a"])) - np.pi / 2) < 1e-9
        assert "at 90°" in repr(mode).replace("-90°", "90°")
    signs = [np.sign((mode.shape["b"] / mode.shape["a"]).imag) for mode in found]
    assert signs[0] == -signs[1]


def test_the_weave_of_a_bicycle(tmp_path):
    """Meijaard et al. 2007: at 5 m/s the roots -14.0784, -0.7753 +- 4.4649 i, -0.3229 1/s."""
    model = ap.library.bicycle()
    x, y, yaw, _, pitch, _, spin_r, spin_f = model.coordinates
    system = ap.compile(ap.derive(model, ap.GibbsAppell(dependent=[x, y, yaw, pitch, spin_f]))).bind()
    found = ap.linearize(system, system.state({spin_r.rate: -5.0 / model.values["r_r"]})).modes
    assert found[0].root == pytest.approx(-0.7753 + 4.4649j, abs=1e-4)
    assert [mode.root.real for mode in found[1:]] == pytest.approx([-0.3229, -14.0784], abs=1e-4)
    assert repr(found[1]).startswith("dies away by e in 3.09")
    page = tmp_path / "weave.html"
    found[0].animate(page)
    assert page.stat().st_size > 10_000


def test_a_picture_shows_the_shape_where_it_is_farthest_out(tmp_path):
    found = ap.linearize(ap.equilibrium(chain(2))).modes
    found[0].animate(tmp_path / "mode.png", amplitude=0.3)
    assert (tmp_path / "mode.png").stat().st_size > 1000
    quarter = found[0]._shown(0.3).at(0.25 / found[0].frequency)
    assert [quarter["x1"], quarter["x2"]] == pytest.approx([0.3, 0.3])
