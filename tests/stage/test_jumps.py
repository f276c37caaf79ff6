"""Positions that jump: no finite velocity follows them, so a run ends there and says so."""

import numpy as np
import pytest
import scipy.integrate
import sympy as sp

import appell as ap

x, y = ap.coordinates("x y")
T, end = ap.parameters("T end")
ground, t = ap.Frame("ground"), ap.t
particle = ap.Particle("p", 1, ground.point(x, y))
spring = ap.Spring(ground.point(0, 0), particle.center, 10, 0.2)
STEP = sp.Piecewise((0.5, t < 1), (1, True))


def run(constraint, until=2.0, values=None, formulation=None, **settings):
    model = ap.Model(ground, (x, y), [particle], [spring], [constraint])
    equations = ap.derive(model, formulation) if formulation else ap.derive(model)
    return ap.simulate(ap.compile(equations).bind(values), {x: 0.5, y: 0.5}, until=until, **settings)


@pytest.mark.parametrize("motion", [STEP, 0.5 + sp.Heaviside(t - 1) / 2, 0.75 + sp.sign(t - 1) / 4], ids=str)
@pytest.mark.parametrize("formulation", [None, ap.Multipliers()], ids=["default", "multipliers"])
def test_a_run_ends_where_a_prescribed_motion_jumps(motion, formulation):
    found = run(ap.Prescribed(x, motion), formulation=formulation)
    assert found.outcome is ap.Outcome.JUMP
    assert found.times[-1] == pytest.approx(1, abs=1e-12)
    assert "t = 1: the constraint 'prescribed' jumps by 0.5; give continuous functions and forces" in str(found)


def test_two_runs_pass_a_jump():
    first = run(ap.Prescribed(x, STEP), until=1.0)
    assert first.outcome is ap.Outcome.DONE
    again = ap.simulate(first.system, first.at(1.0), until=2.0)
    assert again.outcome is ap.Outcome.DONE
    assert again.at(2.0)["y"] == pytest.approx(0.353613, abs=1e-6)


CONTINUOUS = {
    "Piecewise": sp.Piecewise((0.5, t < 1), (t - 0.5, True)),
    "three pieces": sp.Piecewise((0.5, t < 1), (t**2 / 4 + 0.25, t < 1.5), (0.8125, True)),
    "Max": sp.Max(0.5, t - 0.5),
    "Abs": sp.Abs(t - 1) - 0.5,
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_corners_of_a_prescribed_motion_are_passed(name):
    found = run(ap.Prescribed(x, CONTINUOUS[name]))
    assert found.outcome is ap.Outcome.DONE
    assert found.occurrences[0].t == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        found["x"], [float(CONTINUOUS[name].subs(t, s)) for s in found.times], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(("value", "outcome"), [(1.0, ap.Outcome.DONE), (1.1, ap.Outcome.JUMP)])
def test_the_numbers_of_a_run_decide(value, outcome):
    motion = sp.Piecewise((0.5 + t / 2 / T, t < T), (end, True))
    assert run(ap.Prescribed(x, motion), values={T: 1.0, end: value}).outcome is outcome


def test_a_row_that_jumps_in_a_coordinate_ends_the_run():
    above = run(ap.Holonomic(x - sp.Piecewise((0.5, y > 0.3), (1, True))))
    assert above.outcome is ap.Outcome.JUMP
    assert above.at(above.times[-1])["y"] == pytest.approx(0.3, abs=1e-9)
    assert run(ap.Holonomic(x - sp.Piecewise((0.5, y > 0.3), (0.5 + (y - 0.3) ** 2, True)))).outcome.ok


def test_a_velocity_may_jump():
    found = run(ap.Nonholonomic(x.rate - sp.Piecewise((0.5, t < 1), (1, True))))
    assert found.outcome is ap.Outcome.DONE
    assert found.at(2.0)["x"] == pytest.approx(2, abs=1e-12)


CENTERS = {
    "a point": (ground.point(STEP, y), ap.Outcome.JUMP),
    "a frame": (ground.rotate("z", STEP).point(1, y), ap.Outcome.JUMP),
    "a whole turn": (ground.rotate("z", sp.Piecewise((0, t < 1), (2 * sp.pi, True))).point(1, y), ap.Outcome.DONE),
}


@pytest.mark.parametrize("name", CENTERS)
def test_bodies_do_not_jump(name):
    center, outcome = CENTERS[name]
    model = ap.Model(ground, y, [ap.Particle("p", 1, center)], [ap.Spring(ground.point(0, 0), center, 10, 0.2)])
    assert ap.simulate(ap.compile(ap.derive(model)).bind(), {y: 0.5}, until=2.0).outcome is outcome


@pytest.mark.parametrize(("kind", "outcome"), [(ap.Spring, ap.Outcome.DONE), (ap.Damper, ap.Outcome.JUMP)])
def test_the_end_of_a_spring_may_jump_but_not_that_of_a_damper(kind, outcome):
    model = ap.Model(ground, (x, y), [particle], [kind(ground.point(STEP, 0), particle.center, 3)])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {x: 0.1, y: 0.5, y.rate: 1}, until=2.0)
    assert motion.outcome is outcome


def test_lanes_do_not_pass_a_jump():
    model = ap.Model(ground, (x, y), [particle], [spring], [ap.Prescribed(x, STEP)])
    study = ap.sweep(ap.compile(ap.derive(model)).bind(), {y: [0.4, 0.5]}, start={x: 0.5}, until=2.0)
    assert study.outcomes == {"JUMP": 2}


ALL = [
    ap.GibbsAppell(), ap.Voronets(), ap.GPME(), ap.ComputationalGPME(), ap.GPME(stabilize=(5, 5)), ap.Multipliers(),
    ap.UdwadiaKalaba(), ap.LyapunovElimination(),
]  # fmt: skip
TURNS = {"Piecewise": sp.Piecewise((1 - t, t < 1), (t - 1, True)), "Abs": sp.Abs(t - 1)}
LENGTH = 0.7
X, th = ap.coordinates("X th")
arm = ground.rotate("z", th)


def pendulum(pivot, coordinates, constraints=(), forces=(), mass=1.0):
    bodies = [ap.Particle("bob", mass, pivot - LENGTH * arm.y), ap.Particle("cart", 2.0, pivot)]
    return ap.Model(ground, coordinates, bodies, [ap.Gravity(-9.81 * ground.y), *forces], constraints)


def swing(span, start):
    def rates(t, s):
        return s[1], -9.81 / LENGTH * np.sin(s[0])

    return scipy.integrate.solve_ivp(rates, span, start, method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]


def turned():
    """A cart that turns round at once: along the arm of its pendulum nothing acts, so l th' + X' cos th stays."""
    angle, rate = swing((0, 1), (0.5, 0.0))
    return swing((1, 2), (angle, rate - 2 * np.cos(angle) / LENGTH))


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("formulation", ALL, ids=lambda f: f"{f.name} {f.projects}")
def test_a_velocity_that_jumps_strikes_what_hangs_on_it(formulation, turn):
    model = pendulum(ground.point(X, 0), (X, th), [ap.Prescribed(X, TURNS[turn])])
    system = ap.compile(ap.derive(model, formulation)).bind()
    motion = ap.simulate(system, system.consistent({X: 1.0, th: 0.5}), until=2.0, progress=False)
    assert [motion.columns[name][-1] for name in ("th", "th.rate")] == pytest.approx(turned(), abs=1e-10)
    assert motion.columns["X"][-1] == pytest.approx(1, abs=1e-10)
    assert motion.check().ok


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("formulation", [ap.GibbsAppell(), ap.Multipliers()], ids=lambda f: f.name)
def test_a_point_given_in_time_strikes_what_hangs_on_it(formulation, turn):
    model = pendulum(ground.point(TURNS[turn], 0), (th,), mass=sp.Piecewise((1.0, t < 1), (3.0, True)))
    motion = ap.simulate(ap.compile(ap.derive(model, formulation)).bind(), {th: 0.5}, until=2.0, progress=False)
    assert [motion.columns[name][-1] for name in ("th", "th.rate")] == pytest.approx(turned(), abs=1e-10)
    assert motion.check().ok


STRUCK = {  # rows, the velocities just before t = 1, and those behind, by hand
    "coefficients": ap.Nonholonomic(X.rate - sp.Piecewise((0.5, t < 1), (-0.5, True)) * th.rate),
    "differentiated": ap.Programmed(X - 0.3 * sp.Abs(t - 1), differentiate=1),
    "nonlinear": ap.Programmed(X.rate**2 + th.rate**2 - sp.Piecewise((0.5, t < 1), (1.5, True))),
}


@pytest.mark.parametrize("name", STRUCK)
def test_rows_strike_along_their_gradients(name):
    """M (v+ - v-) has no part along what the row behind the corner allows; all formulations agree."""
    row, found = STRUCK[name], []
    for formulation in (ap.GibbsAppell(), ap.GPME(), ap.UdwadiaKalaba()):
        system = ap.compile(ap.derive(pendulum(ground.point(X, 0), (X, th), [row]), formulation)).bind()
        start = system.consistent(near={X: 0.3, th: 0.3, X.rate: 0.5, th.rate: 0.4})
        motion = ap.simulate(system, start, until=2.0, at=[0.5, 1 - 1e-9, 1 + 1e-9, 2.0], progress=False)
        before, after = motion.states([1 - 1e-9, 1 + 1e-9])
        c = LENGTH * np.cos(after[1])
        M, v = np.array([[3.0, c], [c, LENGTH**2]]), after[2:]
        free = {"coefficients": [-0.5, 1], "differentiated": [0, 1], "nonlinear": [-v[1], v[0]]}[name]
        assert np.dot(free, M @ (v - before[2:])) == pytest.approx(0, abs=1e-7)
        assert np.max(np.abs(v - before[2:])) > 0.1
        assert motion.check().ok
        found.append(motion.states([2.0])[0])
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=0, atol=1e-11)


def test_a_drive_strikes_along_its_coordinate():
    """A servo on the cart that has X + 0.2 th follow |t - 1|: no impulse along th."""
    row = ap.Programmed(X + 0.2 * th - 0.3 * sp.Abs(t - 1), realization=(X,))
    system = ap.compile(ap.derive(pendulum(ground.point(X, 0), (X, th), [row]), ap.GPME())).bind()
    motion = ap.simulate(system, system.consistent({th: 0.3, th.rate: 0.2}), until=1.5, progress=False)
    before, after = motion.states([1 - 1e-9, 1 + 1e-9])
    c = LENGTH * np.cos(after[1])
    assert np.dot([c, LENGTH**2], after[2:] - before[2:]) == pytest.approx(0, abs=1e-7)
    assert np.dot([1, 0.2], after[2:]) == pytest.approx(0.3, abs=1e-12)


def test_lanes_do_not_pass_a_corner_that_strikes():
    model = pendulum(ground.point(X, 0), (X, th), [ap.Prescribed(X, sp.Abs(t - 1))])
    system = ap.compile(ap.derive(model, ap.GPME())).bind()
    options = {"start": {X: 1.0, X.rate: -1.0}, "until": 2.0, "points": 3, "progress": False}
    study = ap.sweep(system, {th: [0.4, 0.5]}, corners="cross", **options)
    assert study["th"].values[1, -1] == pytest.approx(turned()[0], abs=1e-9)


JUMPING = {
    "the programme 'programme'": ap.Programmed(X.rate - sp.Piecewise((0.5, t < 1), (1.0, True)), differentiate=1),
    "the rate of the programme 'programme'": ap.Programmed(X - 0.5 * sp.Max(0, t - 1), differentiate=2),
    "the rate of the rate of the programme 'programme'": ap.Programmed(
        X - 0.25 * sp.Max(0, t - 1) ** 2, differentiate=3
    ),
    "the rate of the rate of the rate of the programme 'programme'": ap.Programmed(
        X - sp.Max(0, t - 1) ** 3 / 12, differentiate=4
    ),
    "the rate of the programme 'jerk'": ap.Programmed(
        X.derivative(3) - 0.5 * sp.Max(0, t - 1), "jerk", differentiate=2
    ),
}


@pytest.mark.parametrize("words", JUMPING)
def test_a_run_ends_where_a_formula_jumps_of_which_only_a_derivative_is_demanded(words):
    start = {th: 0.3} if "jerk" not in words else {th: 0.3, "X.rate.rate": 0.0}
    motion = ap.plan(pendulum(ground.point(X, 0), (X, th), [JUMPING[words]]), start=start, until=2.0).motion
    assert motion.outcome is ap.Outcome.JUMP
    assert f"t = 1: {words} jumps by 0.5;" in motion.detail


@pytest.mark.parametrize(
    ("programme", "words"),
    [
        (ap.Programmed(X - sp.sin(t), differentiate=3), "the rate of the rate of the programme 'programme'"),
        (ap.Programmed(X.derivative(3) + sp.cos(t), "jerk"), "the acceleration along the programme 'jerk'"),
        (ap.Programmed(X.derivative(4) - sp.sin(t), "snap"), "the acceleration along the programme 'snap'"),
    ],
    ids=["differentiated", "jerk", "snap"],
)
def test_dry_friction_breaks_a_programme_of_order_three_and_that_is_said(programme, words):
    """At t = pi/2 the cart turns round and friction jumps; the multiplier, a state, does not, so that X'' would."""
    model = ap.friction.Coulomb(X, kinetic=1.0).on(pendulum(ground.point(X, 0), (X, th), [programme]))
    rates = [(X.rate, 1.0), (X.rate.rate, 0.0), (X.derivative(3), -1.0)]
    row = programme.rows[0]
    start = {} if row.raised else dict(rates[: row.order - 1])
    motion = ap.plan(model, start={th: 0.3, **start}, until=3.0).motion
    assert motion.outcome is ap.Outcome.JUMP
    assert motion.times[-1] == pytest.approx(np.pi / 2, abs=1e-9)
    assert words in motion.detail
    assert motion.at(motion.times[-1])["X"] == pytest.approx(1, abs=1e-12)


def test_a_mass_may_jump_unless_a_stream_carries_it():
    """5 kg, then 3 kg under 6 N: v = 2 + 6/5 + 6/3. With a velocity of its own the lost mass would strike."""
    ball = ap.Particle("ball", sp.Piecewise((5, t < 1), (3, True)), ground.point(x, 0))
    for stream, ok in (
        (None, True),
        (ap.Stream(ball, 0 * ground.x), True),
        (ap.Stream(ball, -10 * ground.x), False),
        (ap.Stream(ball, 0 * ground.x, absolute=True), False),
    ):
        forces = [ap.Force(6 * ground.x, ball), *([stream] if stream else [])]
        found = ap.simulate(ap.compile(ap.derive(ap.Model(ground, x, [ball], forces))).bind(), {x.rate: 2}, until=2.0)
        assert found.check().ok
        assert found.outcome is (ap.Outcome.DONE if ok else ap.Outcome.JUMP)
        assert found.at(found.times[-1])["x.rate"] == pytest.approx(5.2 if ok else 3.2, abs=1e-12)
        assert ok or "the mass of 'ball', which 'stream' carries at a velocity of its own, jumps by 2" in found.detail
