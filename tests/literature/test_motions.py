"""Motions of the classics, integrated: numbers computed independently or in closed form, by the problem's number."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import appell as ap


def system_of(name, options=None, formulation=None):
    return ap.compile(ap.derive(ap.library.model(name, options), formulation)).bind()


# 9. Planar pendulum A01 of the IFToMM library, released at (-1, 0); exact by Jacobi's elliptic functions.
A01 = {
    1.0: (0.986291751131875, -0.165010853125541),
    5.0: (-0.942305435043757, -0.334754338414001),
    9.99: (-0.316436469913032, -0.948613704575777),
    10.0: (-0.275087462576117, -0.961419205099125),
}
PERIOD = 2.36784194757624


@pytest.fixture(scope="module")
def pendulum():
    system = system_of("pendulum-chain", {"links": 1, "mass": "points"})
    return ap.simulate(system, {"q1": -np.pi / 2}, until=10.0, at=sorted([0.0, PERIOD, *A01]))


@pytest.mark.heyoka
def test_09_pendulum(pendulum):
    for t, expected in A01.items():
        angle = pendulum.at(t)["q1"]
        np.testing.assert_allclose([np.sin(angle), -np.cos(angle)], expected, rtol=0, atol=2e-13)
    assert pendulum.at(PERIOD)["q1"] == pytest.approx(-np.pi / 2, abs=1e-13)


@pytest.mark.heyoka
def test_09_pendulum_in_redundant_coordinates():
    """The same in x, y, z with a rod: the dependent velocity changes several times a swing."""
    system = system_of("spherical-pendulum").bind({"m": 1.0, "l": 1.0})
    motion = ap.simulate(system, system.state({"x": -1.0}), until=10.0, at=sorted(A01))
    for t, (x, y) in A01.items():
        state = motion.at(t)
        np.testing.assert_allclose([state["x"], state["z"]], [x, y], rtol=0, atol=1e-12)
    assert len(motion.info["switches"]) > 5


@pytest.mark.heyoka
def test_09_by_elliptic_functions(pendulum):
    """sin(q/2) = k sn(K - w t, k) with k = sin(pi/4), all along."""
    k2 = 0.5
    times = np.linspace(0, 10, 101)
    sn = ellipj(ellipk(k2) - np.sqrt(9.81) * times, k2)[0]
    np.testing.assert_allclose(pendulum.states(times)[:, 0], -2 * np.arcsin(np.sqrt(k2) * sn), rtol=0, atol=1e-12)


def test_14_rolling_disk():
    """Computed independently; here in speeds along the axes of the disk as in SymPy's test."""
    model = ap.library.rolling_disk()
    (disk,) = model.bodies
    omega = disk.frame.components(disk.angular_velocity)
    speeds = dict(zip(ap.speeds("u1 u2 u3"), omega, strict=True))
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=speeds))).bind()
    motion = ap.simulate(system, system.state({"yaw": 0.3, "lean": 0.1, "u1": -0.2, "u2": 10.0, "u3": 0.15}), until=2.0)
    end = system.to_x(motion.at(2.0))
    expected = [-0.3110346406, 0.1487345195, 20.0964745096, 5.1397498116, 0.0554199491]
    np.testing.assert_allclose(end[:5], expected, rtol=0, atol=6e-11)
    np.testing.assert_allclose(end[5:], [0.7542089379, 10.0109801584, -0.3526433843], rtol=0, atol=6e-11)
    for t in (0.0, 1.0, 2.0):
        assert system.energy(motion.at(t))["total"] == pytest.approx(26.1014004789, abs=6e-11)


@pytest.mark.parametrize(("share", "grows"), [(0.97, True), (1.03, False)])
def test_14_upright_rolling_is_stable_above_a_speed(share, grows):
    """v^2 > g R/3; from a lean of 1e-6 over 3 s: 3e-4 below it, at most 3.4e-5 above."""
    system = system_of("rolling-disk")
    v = share * np.sqrt(9.81 * 0.26 / 3)
    motion = ap.simulate(system, system.state({"lean": 1e-6, "spin.rate": v / 0.26}), until=3.0)
    largest = float(np.abs(motion["lean"]).max())
    assert (largest > 2e-4) if grows else (largest < 3.5e-5)


def test_16_snakeboard():
    motion = ap.simulate(system_of("snakeboard"), until=8.0)
    end = motion.at(8.0)
    np.testing.assert_allclose(end.q, [4.26928576, 4.91394000, 4.67261476, -2.21963401, -2.55416694], rtol=0, atol=6e-9)
    np.testing.assert_allclose(end.v[:2], [0.7561172783, -0.8252304274], rtol=0, atol=6e-10)
    np.testing.assert_allclose(
        [0.35 * end["yaw.rate"], end["front.rate"], end["rear.rate"]],
        [0.2593208365, -0.4452023899, -0.4652023899],
        rtol=0,
        atol=6e-10,
    )


@pytest.mark.parametrize("method", ["taylor", "dop853"])
def test_17_knife_edge(method):
    motion = ap.simulate(system_of("knife-edge"), until=6.0, method=method)
    Omega, reach = np.pi / 3, 9.81 * np.sin(np.pi / 4) / (2 * (np.pi / 3) ** 2)
    t, tolerance = motion.times, {"taylor": 1e-12, "dop853": 1e-10}[method]
    np.testing.assert_allclose(motion["x"], reach * np.sin(Omega * t) ** 2, rtol=0, atol=tolerance)
    np.testing.assert_allclose(motion["y"], reach * (Omega * t - np.sin(2 * Omega * t) / 2), rtol=0, atol=tolerance)
    np.testing.assert_allclose(
        motion.at(2.0).q[:2], [2.372072951478, 7.993594253199], rtol=0, atol=max(6e-13, tolerance)
    )


def test_18_chaplygin_sleigh():
    """u = U tanh(k t + c), omega = W sech(k t + c); numbers at t = 10 and the closed form all along, to 1e-11."""
    motion = ap.simulate(system_of("chaplygin-sleigh"), until=10.0)
    m, inertia, a, u0, w0 = 1.0, 0.1, 0.1, 1.0, 1.0
    E = m * u0**2 / 2 + (inertia + m * a**2) * w0**2 / 2
    U, W = np.sqrt(2 * E / m), np.sqrt(2 * E / (inertia + m * a**2))
    k, c = a * m * U / (inertia + m * a**2), np.arctanh(u0 / U)
    t, theta = motion.times, motion["theta"].values
    u = motion["x.rate"] * np.cos(theta) + motion["y.rate"] * np.sin(theta)
    np.testing.assert_allclose(u, U * np.tanh(k * t + c), rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion["theta.rate"], W / np.cosh(k * t + c), rtol=0, atol=1e-11)
    heading = W / k * (2 * np.arctan(np.exp(k * t + c)) - 2 * np.arctan(np.exp(c)))
    np.testing.assert_allclose(theta, heading, rtol=0, atol=1e-11)
    end = motion.at(10.0)
    assert float(u[-1]) == pytest.approx(1.05356537502174, abs=1e-13)
    assert end["theta.rate"] == pytest.approx(7.1050664572e-5, rel=1e-9)
    assert end["theta"] == pytest.approx(1.06206174830593, abs=1e-13)
    np.testing.assert_allclose(end.q[:2], [5.92354646430801, 8.39423460041754], rtol=0, atol=1e-11)


FOUR_BAR = {
    1.0: (-1.5400437476, -4.4052044687, 6e-11),
    5.0: (-2.6970371877, 4.74470845, 6e-9),
    10.0: (-0.5677729702, -1.6161028685, 6e-10),
    30.0: (-2.36839083, 5.13979924, 6e-8),
}


@pytest.mark.parametrize("formulation", [ap.GibbsAppell(), ap.Voronets(), ap.Multipliers()], ids=lambda f: f.name)
def test_19_four_bar(formulation):
    """Angles, rates and energy at 1, 5, 10, 30 s; the start is on the printed branch."""
    system = system_of("four-bar", formulation=formulation)
    motion = ap.simulate(system, until=30.0, at=[0.0, *FOUR_BAR])
    np.testing.assert_allclose(motion.at(0.0).q, [0.1745329252, 0.1147600368, -2.6421428399], rtol=0, atol=6e-11)
    for t, (q1, u1, digits) in FOUR_BAR.items():
        state = motion.at(t)
        assert state["q1"] == pytest.approx(q1, abs=digits)
        assert state["q1.rate"] == pytest.approx(u1, abs=10 * digits)
        assert system.energy(state)["total"] == pytest.approx(8.32267021078, abs=1e-9)
        assert max(map(abs, system.residual(state).values())) < 1e-11


@pytest.mark.heyoka
def test_20_arevalo():
    """x = sin t^2, y = cos t^2, lambda = -4 t^2; the dependent velocity changes four times a turn."""
    motion = ap.simulate(system_of("arevalo"), until=5.0)
    t = motion.times
    np.testing.assert_allclose(motion["x"], np.sin(t**2), rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion["y"], np.cos(t**2), rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion.at(5.0).q, [np.sin(25), np.cos(25)], rtol=0, atol=1e-11)
    np.testing.assert_allclose(motion.reactions()["circle"], -4 * t**2, rtol=0, atol=1e-9)
    assert 14 <= len(motion.info["switches"]) <= 18  # 25 rad are sixteen eighths of a turn


def test_22_appell_hamel():
    motion = ap.simulate(system_of("appell-hamel"), until=0.8)
    end = motion.at(0.8)
    assert end["z"] == pytest.approx(1.43409230769, abs=6e-12)
    assert np.hypot(end["x"], end["y"]) == pytest.approx(2.15113846154, abs=6e-12)
    np.testing.assert_allclose(motion["z.rate.rate"], -3.01846153846, rtol=0, atol=6e-11)
    assert max(map(abs, motion.system.residual(end).values())) < 1e-12


def test_22_constant_speed():
    motion = ap.simulate(system_of("constant-speed"), until=1.0)
    end = motion.at(1.0)
    np.testing.assert_allclose(end.q, [1.02764566101732, -0.96663514406715], rtol=0, atol=1e-12)
    assert end["y.rate"] / 2 == pytest.approx(-0.99872538102775, abs=1e-13)
    speed = np.hypot(motion["x.rate"], motion["y.rate"])
    np.testing.assert_allclose(speed, 2.0, rtol=0, atol=1e-13)
