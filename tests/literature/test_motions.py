"""Motions against numbers computed independently or in closed form (classic problems; SI units)."""

from __future__ import annotations

import numpy as np
import pytest

import appell as ap


def run(model, start, until, values=None, formulation=None, **options):
    system = ap.compile(ap.derive(model, formulation)).bind(values)
    state = system.consistent(start) if model.rows else system.state(start)
    return ap.simulate(system, state, until, **options)


def test_planar_pendulum_of_the_a01_benchmark():
    """LIM/IFToMM A01: m = 1, L = 1, released at (-1, 0); exact by Jacobi's elliptic functions.

    The start is symmetric: the Taylor series has gaps at the very orders from which the step is usually taken.
    """
    model = ap.library.pendulum_chain(1, mass="points")
    motion = run(model, {"q1": -np.pi / 2}, 10.0, {"m": 1, "l": 1, "g": 9.81}, method="taylor")
    for t, x, y in (
        (1.0, 0.986291751131875, -0.165010853125541),
        (5.0, -0.942305435043757, -0.334754338414001),
        (9.99, -0.316436469913032, -0.948613704575777),
        (10.0, -0.275087462576117, -0.961419205099125),
    ):
        angle = motion.at(t)["q1"]
        assert np.sin(angle) == pytest.approx(x, abs=1e-12)
        assert -np.cos(angle) == pytest.approx(y, abs=1e-12)


def test_rolling_disk_after_two_seconds():
    model = ap.library.rolling_disk()
    yaw, lean, spin, x, y = model.coordinates
    w = ap.speeds("w1 w2 w3")
    body = model.bodies[0]
    omega = dict(zip(w, body.frame.components(body.angular_velocity), strict=True))
    system = ap.compile(ap.derive(model, ap.GibbsAppell(speeds=omega))).bind({"g": 9.81, "r": 0.26, "m": 3.43})
    start = system.state({yaw: 0.3, lean: 0.1, "w1": -0.2, "w2": 10, "w3": 0.15})
    motion = ap.simulate(system, start, 2.0)
    found = [*(motion.columns[s.label][-1] for s in (yaw, lean, spin, x, y)), *(motion.columns[s.label][-1] for s in w)]
    expected = [-0.3110346406, 0.1487345195, 20.0964745096, 5.1397498116, 0.0554199491]
    expected += [0.7542089379, 10.0109801584, -0.3526433843]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    assert system.energy(motion.at(2.0))["total"] == pytest.approx(26.1014004789, abs=1e-9)


def test_snakeboard_after_eight_seconds():
    """Moore, Learn Multibody Dynamics; integrated independently."""
    motion = run(ap.library.snakeboard(), dict(ap.library.snakeboard().start), 8.0)
    end = motion.at(8.0)
    expected = [4.26928576, 4.91394000, 4.67261476, -2.21963401, -2.55416694]
    np.testing.assert_allclose(end.q, expected, rtol=0, atol=2e-8)


def test_knife_edge_on_an_incline():
    """Bloch 2015, section 1.6: a cycloid."""
    model = ap.library.knife_edge()
    motion = run(model, dict(model.start), 2.0)
    end = motion.at(2.0)
    assert end["x"] == pytest.approx(2.372072951478, abs=1e-11)
    assert end["y"] == pytest.approx(7.993594253199, abs=1e-11)


def test_chaplygin_sleigh_in_closed_form():
    """u = U tanh(kt + c), omega = W sech(kt + c): m = 1, I = .1, a = .1, u0 = omega0 = 1, at t = 10."""
    model = ap.library.chaplygin_sleigh()
    names = [s.label for s in model.coordinates]
    motion = run(model, {"x.rate": 1.0, "theta.rate": 1.0, "theta": 0.0}, 10.0, {"m": 1, "I": 0.1, "a": 0.1})
    end = motion.at(10.0)
    heading = end["theta"]
    assert heading == pytest.approx(1.06206174830593, abs=1e-11)
    assert end["theta.rate"] == pytest.approx(7.1050664572e-5, abs=1e-11)
    assert end["x.rate"] * np.cos(heading) + end["y.rate"] * np.sin(heading) == pytest.approx(
        1.05356537502174, abs=1e-11
    )
    assert (end[names[0]], end[names[1]]) == pytest.approx((5.92354646430801, 8.39423460041754), abs=1e-11)


def test_four_bar_for_thirty_seconds():
    model = ap.library.four_bar()
    motion = run(model, dict(model.start), 30.0)
    for t, q, u, atol in (
        (1.0, -1.5400437476, -4.4052044687, 1e-9),
        (5.0, -2.6970371877, 4.74470845, 1e-8),
        (10.0, -0.5677729702, -1.6161028685, 1e-9),
        (30.0, -2.36839083, 5.13979924, 2e-8),
    ):
        assert motion.at(t)["q1"] == pytest.approx(q, abs=atol)
        assert motion.at(t)["q1.rate"] == pytest.approx(u, abs=atol)
    proof = motion.check()
    assert proof.position <= 1e-11
    assert proof.velocity <= 1e-11
    energies = [motion.system.energy(motion.at(t))["total"] for t in np.linspace(0, 30, 61)]
    assert np.ptp(energies) <= 1e-10 * abs(energies[0])
    assert energies[0] == pytest.approx(8.32267021078, abs=1e-9)


def test_arevalo_particle_on_a_circle():
    """x = sin t^2, y = cos t^2."""
    motion = run(ap.library.arevalo(), dict(ap.library.arevalo().start), 5.0)
    end = motion.at(5.0)
    assert (end["x"], end["y"]) == pytest.approx((np.sin(25.0), np.cos(25.0)), abs=1e-11)


def test_appell_and_hamel():
    """z'' = -g/(1 + c^2), straight track of length c dz: c = 1.5, z0' = 3, t = .8."""
    model = ap.library.appell_hamel()
    motion = run(model, {"x.rate": 4.5, "y.rate": 0.0, "z.rate": 3.0}, 0.8, {"c": 1.5, "g": 9.81})
    start, end = motion.at(0.0), motion.at(0.8)
    assert end["z"] - start["z"] == pytest.approx(1.43409230769, abs=1e-11)
    assert np.hypot(end["x"], end["y"]) == pytest.approx(2.15113846154, abs=1e-11)


def test_constant_speed_under_gravity():
    """sin th = -tanh(gt/v - artanh sin th0): v = 2, th0 = 1, t = 1."""
    model = ap.library.constant_speed()
    motion = run(
        model, {"x.rate": 2 * np.cos(1.0), "y.rate": 2 * np.sin(1.0), "x": 0, "y": 0}, 1.0, {"v": 2, "g": 9.81}
    )
    end = motion.at(1.0)
    assert end["y.rate"] / 2 == pytest.approx(-0.99872538102775, abs=1e-12)
    assert (end["x"], end["y"]) == pytest.approx((1.02764566101732, -0.96663514406715), abs=1e-12)


def test_pendulum_over_the_top_changes_its_speeds():
    """Redundant coordinates, m = .3, l = .5, thrown at 5.2 m/s from the bottom; Krasinskiy's pendulum."""
    x, y = ap.coordinates("x y", "m")
    m, l, g = ap.parameters("m l g")
    ground = ap.Frame("ground")
    model = ap.Model(
        ground,
        (x, y),
        [ap.Particle("bob", m, ground.point(x, y))],
        [ap.Gravity(-g * ground.y)],
        [ap.Holonomic((x**2 + y**2 - l**2) / 2, "rod")],
    )
    motion = run(model, {y: -0.5, x: 0, x.rate: 5.2}, 2.0, {m: 0.3, l: 0.5, g: 9.81})
    assert (motion.at(2.0)["x"], motion.at(2.0)["y"]) == pytest.approx((0.091284283552979, 0.49159656180268), abs=1e-12)
    assert len(motion.info["switches"]) >= 4
    assert motion.check().ok


@pytest.mark.parametrize(
    ("speed", "roots"),
    [
        (0.0, [-5.53094371765393, -3.13164324790656, 3.13164324790656, 5.53094371765393]),
        (5.0, [-14.0783896927982, -0.775341882195845 - 4.46486771378823j, -0.775341882195845 + 4.46486771378823j,
               -0.322866429004087]),
    ],
)  # fmt: skip
def test_bicycle_roots(speed, roots):
    """Meijaard, Papadopoulos, Ruina, Schwab 2007, Table 2; at zero steer, where a symbolic LU would divide by zero."""
    model = ap.library.bicycle()
    system = ap.compile(ap.derive(model)).bind()
    still = dict.fromkeys(("x", "y", "yaw", "lean", "steer", "spin_r", "spin_f", "lean.rate", "steer.rate"), 0.0)
    upright = system.consistent({**still, "spin_r.rate": -speed / 0.3})
    assert np.max(np.abs(system.accelerations(upright))) < 1e-12
    found = np.linalg.eigvals(system.jacobian(0.0, system.to_x(upright)))
    found = np.sort_complex(found[np.abs(found) > 1e-4])
    np.testing.assert_allclose(found, np.sort_complex(np.array(roots, dtype=complex)), rtol=0, atol=1e-10)


def test_bricard_mechanism_runs_with_its_redundant_row_named():
    model = ap.library.bricard()
    equations = ap.derive(model)
    assert len(equations.redundant_rows) == 1
    assert "redundant rows left out" in equations.summary()
    motion = ap.simulate(ap.compile(equations).bind(), until=2.0)
    assert motion.outcome is ap.Outcome.DONE
    assert motion.check().ok
