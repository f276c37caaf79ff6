"""The IFToMM library of multibody benchmarks (Gonzalez, Dopico, Lugris and Cuadrado 2006): A02, A03, A05, slider-crank.

The mechanism of A03 is that of Hairer and Wanner 1996, section VII.7, its numbers those of the test set for IVP solvers
(Mazzia and Magherini 2008). They are good to nine digits in the angles and seven in the rates: the rates printed miss
those of the loops by 2e-8, and the equations of two principles by two methods agree with each other to 2e-13.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import appell as ap

ground = ap.Frame("ground")
ANGLES = (15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304,
          0.5347301163226948, 1.048080741042263)  # fmt: skip
RATES = (1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
         -19.29337464421385, 0.3231791658026955)  # fmt: skip
MULTIPLIERS = 199.1753333731910, -29.75531228015052, 23.06654119098399, 31.45271365475927, 22.64249232082739, \
    11.61740700019673  # fmt: skip


def pinned():
    """Andrews' squeezer of bodies with three coordinates each, all joints as rows."""
    model = ap.library.andrews_squeezer()
    beta, Theta, gamma, Phi, delta, Omega, epsilon = model.start.values()
    turns = beta, beta + Theta, gamma, delta + Phi, delta, epsilon + Omega, epsilon
    n = model.values.__getitem__
    centers = (n("ra"), 0), (-n("da"), 0), (n("sb"), -n("sa")), (0, n("ea") - n("e")), (n("ta"), n("tb")), \
        (n("zf") - n("fa"), 0), (-n("ub"), -n("ua"))  # fmt: skip
    letters, frames, bodies, start = [], [], [], {}
    for k, (turn, center) in enumerate(zip(turns, centers, strict=True), 1):
        x, y, angle = ap.coordinates(f"x{k} y{k} angle{k}")
        letters += [x, y, angle]
        start[angle] = turn
        frames.append(ground.planar(x, y, angle))
        bodies.append(ap.RigidBody(f"body {k}", n(f"m{k}"), frames[-1].point(*center), frames[-1], (0, 0, n(f"i{k}"))))
    crank, rod, rocker, upper, left, lower, right = frames
    A, B, knee = ground.point(n("xa"), n("ya")), ground.point(n("xb"), n("yb")), rod.point(-n("d"), 0)
    pins = [
        (crank.origin, ground.point(0, 0)), (rocker.origin, B), (left.origin, A), (right.origin, A),
        (rod.origin, crank.point(n("rr"), 0)), (upper.origin, left.point(n("zt"), 0)),
        (lower.origin, right.point(0, -n("u"))), (knee, rocker.point(0, -n("ss"))), (knee, upper.point(0, -n("e"))),
        (knee, lower.point(n("zf"), 0)),
    ]  # fmt: skip
    rows = [ap.Holonomic(a - b, f"pin {k}") for k, (a, b) in enumerate(pins)]
    fixed = ground.point(n("xc"), n("yc"))
    forces = [ap.Torque(n("mom") * ground.z, bodies[0])]
    forces.append(ap.Spring(rocker.point(n("sd"), -n("sc")), fixed, n("c0"), n("l0")))
    return ap.Model(ground, letters, bodies, forces, rows), start


def test_andrews_squeezer_of_pinned_bodies():
    model, start = pinned()
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, system.consistent(keep=start), method="dop853", until=0.03, points=2)
    beta, Theta, gamma, Phi, delta, Omega, epsilon = ANGLES
    turns = beta, beta + Theta, gamma, delta + Phi, delta, epsilon + Omega, epsilon
    end = motion.at(0.03)
    np.testing.assert_allclose([end[f"angle{k}"] for k in range(1, 8)], turns, rtol=0, atol=2e-9)
    assert motion.check().ok


@pytest.mark.parametrize("formulation", [None, ap.Multipliers()])
def test_andrews_squeezer(formulation):
    model = ap.library.andrews_squeezer()
    system = ap.compile(ap.derive(model, formulation)).bind()
    motion = ap.simulate(system, method="dop853", at=[0, 0.03])
    end, forces = motion.at(0.03), motion.reactions()
    np.testing.assert_allclose([end[q] for q in model.coordinates], ANGLES, rtol=0, atol=2e-9)
    np.testing.assert_allclose([end[q.rate] for q in model.coordinates], RATES, rtol=1e-7, atol=0)
    # There f + G' lambda = 0 has the multipliers on the other side.
    found = [-forces[row.name].values[-1] for row in model.rows]
    np.testing.assert_allclose(found, MULTIPLIERS, rtol=2e-6, atol=0)
    assert motion.check().ok


def windows(count, free):
    """So many windows of rods of 1 m and 1 kg, their cranks told to stay parallel where all lie in line."""
    cranks = ap.coordinates(f"crank0:{count + 1}")
    arms = [ground.pin(angle, at=(i, 0, 0)) for i, angle in enumerate(cranks)]
    inertia, letters, rods, loops = (0, 0, 1 / 12), list(cranks), [], []
    start = {q: 0.0 for q in cranks} | {q.rate: -1.0 for q in cranks}
    for i in range(count):
        turn = ap.coordinates(f"turn{i}")
        if free:
            x, y = ap.coordinates(f"x{i} y{i}")
            rod = ground.planar(x, y, turn)
            letters += [x, y, turn]
            start |= {x: i, y: 1, x.rate: 1.0}
            loops.append(ap.Holonomic(rod.origin - arms[i].point(0, 1), f"left {i}"))
        else:
            rod = arms[i].pin(turn, at=(0, 1, 0))
            letters.append(turn)
            start[turn.rate] = 1.0
        rods.append(rod)
        loops.append(ap.Holonomic(rod.point(1, 0) - arms[i + 1].point(0, 1), f"right {i}"))
    bodies = [ap.RigidBody(f"crank {i}", 1, f.point(0, 0.5), f, inertia) for i, f in enumerate(arms)]
    bodies += [ap.RigidBody(f"rod {i}", 1, f.point(0.5, 0), f, inertia) for i, f in enumerate(rods)]
    told = ap.Holonomic([other - cranks[0] for other in cranks[1:]], "parallel")
    return ap.Model(ground, letters, bodies, [ap.Gravity(-9.81 * ground.y)], [*loops, told], start=start)


@pytest.mark.parametrize(("count", "free"), [(1, False), (2, False), (2, True)])
def test_windows_of_four_bars_turn_as_one_pendulum_through_all_poses_in_line(count, free):
    """(N + 1)/3 + N kg m² turn, (N + 1)/2 + N kg m fall; started upright with B0' = 1 m/s, as in A02."""
    motion = ap.simulate(ap.compile(ap.derive(windows(count, free))).bind(), until=10.0, points=21, method="dop853")
    pull = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    alone = solve_ivp(
        lambda t, y: [y[1], pull * np.sin(y[0])], (0, 10), [0, -1], "DOP853", motion.times, rtol=1e-13, atol=1e-13
    )
    np.testing.assert_allclose(motion["crank0"], alone.y[0], rtol=0, atol=2e-9)
    assert motion.check().ok


def test_a_slider_crank_with_equal_bars_goes_through_its_dead_centres():
    """Where the slider is over the crank's pin the rod could also turn with the crank; crank and rod stay mirrored."""
    crank, rod, x = ap.coordinates("crank rod x")
    arms = ground.pin(crank), ground.rotate("z", rod)
    tip = arms[0].point(1, 0) + arms[1].x
    bodies = [
        ap.RigidBody("crank", 1, arms[0].point(0.5, 0), arms[0], (0, 0, 1 / 12)),
        ap.RigidBody("rod", 1, arms[0].point(1, 0) + 0.5 * arms[1].x, arms[1], (0, 0, 1 / 12)),
        ap.Particle("slider", 1, ground.point(x, 0)),
    ]
    loop, told = ap.Holonomic(tip - ground.point(x, 0), "loop"), ap.Holonomic(rod + crank, "mirrored")
    start = {crank: np.pi / 4, rod: -np.pi / 4, x: np.sqrt(2), x.rate: -4.0}
    model = ap.Model(ground, (crank, rod, x), bodies, [ap.Gravity(-9.81 * ground.y)], [loop, told])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=5.0, points=11, method="dop853")

    def alone(t, y):
        s, c = np.sin(y[0]), np.cos(y[0])
        inertia = 1 / 3 + 1 / 12 + 2.25 * s**2 + 0.25 * c**2 + 4 * s**2
        return [y[1], -(6 * s * c * y[1] ** 2 + 9.81 * c) / inertia]

    by_hand = solve_ivp(alone, (0, 5), [np.pi / 4, np.sqrt(8)], "DOP853", motion.times, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(motion["crank"], by_hand.y[0], rtol=0, atol=1e-9)


def test_a_stiff_governor_keeps_its_spin():
    """A05: rods of 0.3 kg with 5 kg at their ends, held to a slider by springs of 8e5 N/m and dampers of 4e4 N s/m."""
    turn, height, a, b = ap.coordinates("turn height a b")
    shaft = ground.pin(turn)
    slider = shaft.slide(height, "z")
    long, thin = 0.3 * (1 + 1e-4) / 12, 0.3 * 2e-4 / 12
    bodies = [ap.RigidBody("shaft", 0.3, shaft.point(0, 0, 0.5), shaft, (long, long, thin))]
    bodies.append(ap.RigidBody("slider", 3, slider.origin, slider, (0.005,) * 3))
    forces = [ap.Gravity(-9.81 * ground.z)]
    for side, angle in ((1, a), (-1, b)):
        rod = shaft.pin(side * angle, "y", at=(side * 0.05, 0, 1))
        bodies.append(ap.RigidBody(f"rod {angle}", 0.3, rod.point(side * 0.5, 0, 0), rod, (thin, long, long)))
        bodies.append(ap.Particle(f"ball {angle}", 5, rod.point(side, 0, 0)))
        ends = slider.point(side * 0.05, 0, 0), rod.point(side * 0.5, 0, 0)
        forces += [ap.Spring(*ends, 8e5, 0.5, name=f"spring {angle}"), ap.Damper(*ends, 4e4, name=f"damper {angle}")]
    model = ap.Model(ground, (turn, height, a, b), bodies, forces)
    start = {height: 0.5, a: np.pi / 6, b: np.pi / 6, turn.rate: 0.32 * np.pi}
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), start, until=10.0, points=11)
    assert motion.info["method"] == "cvodes"
    np.testing.assert_allclose(motion[a], motion[b], rtol=0, atol=1e-7)
    assert motion.check().ok
    arm = motion[a].values
    inertia = thin + 0.005 + 2 * (long * np.cos(arm) ** 2 + thin * np.sin(arm) ** 2)
    inertia += 2 * (0.3 * (0.05 + 0.5 * np.cos(arm)) ** 2 + 5 * (0.05 + np.cos(arm)) ** 2)
    np.testing.assert_allclose(inertia * motion[turn.rate], inertia[0] * 0.32 * np.pi, rtol=1e-6)
