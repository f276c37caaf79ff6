"""Models of variable mass in the library: their docstrings against closed solutions and equations by hand."""

from math import cos, log, sin, sqrt

import numpy as np
import pytest
import scipy.integrate

import appell as ap

x = ap.coordinates("x")
u1, u2 = ap.speeds("u1 u2")
g = 9.81


def bound(model, formulation=None):
    return ap.compile(ap.derive(model, formulation)).bind()


def test_staged_rocket():
    """Tsiolkovsky's equation for each stage; the event drops the shell at the exact time."""
    motion = ap.simulate(bound(ap.library.rocket()), events=ap.library.rocket_events(), until=300.0)
    assert [(o.name, o.t) for o in motion.occurrences if "stage" in o.name] == [
        ("stage 1 dropped", pytest.approx(100, abs=1e-10))
    ]
    m_2 = 300 + 200 + 1500  # payload, shell, propellant
    m_1 = m_2 + 800 + 6000
    speed = 2600 * log(m_1 / (m_1 - 6000)) - g * 100
    np.testing.assert_allclose(motion.at(100 - 1e-9)["h.rate"], speed, rtol=1e-9)
    speed += 3200 * log(m_2 / (m_2 - 1500)) - g * 150
    state = motion.at(250.0)
    assert state["h.rate"] == pytest.approx(speed, rel=1e-11)
    assert state["dry"] + state["fuel"] == pytest.approx(500, abs=1e-9)
    end = motion.at(300.0)
    assert end["h.rate"] == pytest.approx(speed - g * 50, rel=1e-11)
    assert motion.check().ok


def test_rocket_of_one_and_of_three_stages():
    one = ((100.0, 500.0, 5.0, 2000.0),)
    assert ap.library.rocket_events(one) == []
    three = ((1000.0, 4000.0, 50.0, 2500.0), (200.0, 800.0, 10.0, 3000.0), (50.0, 200.0, 4.0, 3200.0))
    motion = ap.simulate(bound(ap.library.rocket(False, three, 100.0)), events=ap.library.rocket_events(three, 100.0))
    ends = [o.t for o in motion.occurrences if "stage" in o.name]
    np.testing.assert_allclose(ends, [80, 160], rtol=1e-12)
    ideal = sum(
        c * log((left + f) / left)
        for left, f, c in ((100 + 1000 + 1000 + 250, 4000, 2500), (100 + 200 + 250, 800, 3000), (150, 200, 3200))
    )
    assert motion.at(210.0)["h.rate"] == pytest.approx(ideal - g * 210, rel=1e-11)
    with pytest.raises(ap.AppellError, match="four positive numbers"):
        ap.library.rocket(stages=((1.0, -2.0, 3.0, 4.0),))


def test_swept_raindrop_tends_to_a_seventh_of_g():
    motion = ap.simulate(bound(ap.library.raindrop("swept")))
    kappa, (s, v) = 0.001 / 4000, motion.at(60.0).array
    r, r_0 = 1e-5 + kappa * s, 1e-5
    constant = (1 - 2 * g * r_0 / (7 * kappa)) * r_0**6
    assert v**2 == pytest.approx(2 * g * r / (7 * kappa) + constant / r**6, rel=1e-11)
    assert motion.evaluate(motion.system.model.coordinates[0].rate.rate, [60.0])[0] == pytest.approx(g / 7, rel=1e-9)
    with pytest.raises(ap.AppellError, match="'steady' or 'swept'"):
        ap.library.raindrop("square")


def test_hauled_chain():
    """(x v)^2 = F x^2/rho - 2 g x^3/3 + C on the way up; v^2/2 = (F/rho) ln x - g x + C on the way down."""
    motion = ap.simulate(bound(ap.library.hauled_chain()))
    top, bottom = (o.t for o in motion.occurrences[:2])
    up = [(h * v) ** 2 - 20 * h**2 + 2 * g * h**3 / 3 for h, v in motion.states(np.linspace(0, top, 7))]
    np.testing.assert_allclose(up, up[0], rtol=1e-11)
    down = [v**2 / 2 - 20 * log(h) + g * h for h, v in motion.states(np.linspace(top, bottom, 7))]
    np.testing.assert_allclose(down, down[0], rtol=1e-11)
    rise = ap.simulate(motion.system, {x: 1e-4, x.rate: sqrt(20)}, until=2.0, events=[ap.Event(x.rate, -1, stop=True)])
    # Lifted from the floor it rises to 3/2 of the height of rest.
    assert rise.at(rise.times[-1])[x] == pytest.approx(1.5 * 40 / (2 * g), rel=1e-6)


def test_two_streams():
    motion = ap.simulate(bound(ap.library.two_streams()))
    v_e = 40 * 12 / 50
    for time in (1.0, 10.0, 30.0):
        assert motion.at(time)["x.rate"] == pytest.approx(v_e * (1 - np.exp(-50 * time / 500)), rel=1e-12)


@pytest.mark.parametrize("water", [0.5, 0.1])
def test_leaking_sleigh(water):
    """The two equations of its docstring, in the speeds u along the blade and omega."""
    model = ap.library.leaking_sleigh()
    m, inertia, a, b, e, mu, c = (model.values[n] for n in ("m", "I", "a", "b", "e", "mu", "c"))
    theta, u, omega = 0.7, 1.3, -0.8
    along, across = np.array([cos(theta), sin(theta)]), np.array([-sin(theta), cos(theta)])
    state = ap.State(model, np.array([0.2, -0.1, theta, *(u * along), omega, water]))
    moment = m * a + water * b
    u_rate = (moment * omega**2 + mu * c) / (m + water)
    turning = -moment * u * omega - mu * (e**2 - b**2) * omega
    for formulation in (ap.GibbsAppell(), ap.Voronets(), ap.Multipliers()):
        found = bound(model, formulation).accelerations(state)
        np.testing.assert_allclose(found[:2], u_rate * along + u * omega * across, rtol=1e-12)
        assert found[2] == pytest.approx(turning / (inertia + m * a**2 + water * b**2), rel=1e-12)


def test_a_leak_that_keeps_proportions_changes_nothing():
    """Inertia in proportion to the mass and nothing pushed off: it moves as a hoop of constant mass does."""
    model = ap.library.leaking_disk()
    state = np.array([0.3, 0.2, 1.0, 0.4, -0.3, -0.5, 0.4, 3.0])
    system = bound(model).bind({"m": 1e-9})  # a hoop of water and almost nothing else
    positions = state[:5]
    v = dict(zip(("yaw.rate", "lean.rate", "spin.rate"), state[5:], strict=True))
    names = ("yaw", "lean", "spin", "x", "y")
    found = [
        system.accelerations(system.state({**dict(zip(names, positions, strict=True)), **v, "water": water}))
        for water in (3.0, 1.0)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8)


def test_leaking_disk_loses_its_stability():
    """Stable while v^2 > A M g r^3/(C (C + M r^2)): at 0.88 m/s with 3 kg of water, no longer with none."""
    full = ap.simulate(bound(ap.library.leaking_disk()).bind({"mu": 1e-9}), until=8.0)
    leaking = ap.simulate(bound(ap.library.leaking_disk()), until=8.0)
    assert np.max(np.abs(full["lean"])) < 5e-3
    assert np.max(np.abs(leaking["lean"])) > 0.1


def test_hopper_cart():
    """(m + s) x'' = -k x - mu x', s = mu T (1 - exp(-t/T))."""
    motion = ap.simulate(bound(ap.library.hopper_cart()))

    def rate(s, w):
        return [w[1], (-200 * w[0] - 2 * w[1]) / (10 + 10 * (1 - np.exp(-s / 5)))]

    expected = scipy.integrate.solve_ivp(rate, (0, 20), [0.5, 0], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(motion.at(20.0).array[:2], expected, rtol=1e-10)


def test_rocket_car_on_a_straight_course():
    """v = v0 + c ln((M + m0)/(M + m)), the wheels' inertia being mass that never leaves."""
    model = ap.library.rocket_car()
    motion = ap.simulate(bound(model), {"x.rate": 5.0, "fuel": 40.0}, until=8.0)
    M = 80 + 500 + 30 + 2 * 0.8 / 0.09 + 2 * 1.5 / 0.16
    for time in (1.0, 4.0, 5.0, 8.0):
        left = max(40 - 8 * time, 0)
        assert motion.at(time)["x.rate"] == pytest.approx(5 + 900 * log((M + 40) / (M + left)), rel=1e-11)


def test_rocket_car_in_the_quasi_velocities_of_the_source():
    """Steer rate and speed of the front axle: heading' = u2 sin(steer)/L, and six more; two equations by hand.

    With A = M + 2 J_1/r_1^2 for the front axle, B = M_2 + m + 2 J_2/r_2^2 and
    C = M_2 l^2 + I_2 + 2 J_2 b^2/r_2^2 for the body, D = I_1 + 2 J_1 a^2/r_1^2, omega = u2 sin(delta)/L, the kinetic
    energy is A u2^2/2 + B (u2 cos delta)^2/2 + C omega^2/2 + D (omega + delta')^2/2, and the power of the thrust is
    mu c u2 cos(delta): with a steering torque tau on delta, D (omega' + delta'') = tau and energy give both equations.
    """
    model = ap.library.rocket_car()
    steer, front = model.coordinates[3], model.bodies[0]
    speed = front.velocity_at(front.center).dot(front.frame.x)
    formulation = ap.GibbsAppell(speeds={u1: steer.rate, u2: speed})
    assert ap.verify(model, formulation).worst < 1e-10
    system = bound(model, formulation).bind({"tau": 3.0})
    delta, d_rate, u, fuel, psi = 0.3, 0.4, 6.0, 20.0, 1.1
    state = system.consistent(
        {"heading": psi, "steer": delta, "u1": d_rate, "u2": u, "fuel": fuel}, near=dict.fromkeys(("x", "y"), 0.0)
    )
    omega = state["heading.rate"]
    assert omega == pytest.approx(u * sin(delta) / 2.5, rel=1e-12)
    a = dict(zip((q.name for q in model.coordinates), system.accelerations(state), strict=True))
    M_f = 80 + 2 * 0.8 / 0.09
    M_b = 500 + 30 + fuel + 2 * 1.5 / 0.16
    turn = 500 * 1.0 + 600 + 2 * 1.5 * 0.75**2 / 0.16
    axle = 15 + 2 * 0.8 * 0.7**2 / 0.09
    direction = psi + delta
    u_rate = a["x"] * cos(direction) + a["y"] * sin(direction)
    omega_rate = u_rate * sin(delta) / 2.5 + u * cos(delta) * d_rate / 2.5
    assert a["heading"] == pytest.approx(omega_rate, rel=1e-12)
    assert axle * (omega_rate + a["steer"]) == pytest.approx(3.0, rel=1e-10)
    power = M_f * u * u_rate + M_b * u * cos(delta) * (u_rate * cos(delta) - u * sin(delta) * d_rate)
    power += turn * omega * omega_rate + axle * (omega + d_rate) * (omega_rate + a["steer"])
    assert power == pytest.approx(8 * 900 * u * cos(delta) + 3.0 * d_rate, rel=1e-11)
