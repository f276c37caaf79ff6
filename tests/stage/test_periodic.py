"""Periodic motions: periods from the literature and closed forms, multipliers against theory and differences."""

import numpy as np
import pytest
import sympy as sp
from scipy.special import ellipk

import appell as ap
from appell.analysis.floquet import multipliers

ground, t = ap.Frame("ground"), ap.t
x, y, a = ap.coordinates("x y a")
TURN = 2 * np.pi


def system_of(coordinates, bodies, forces, constraints=(), formulation=None, letters=(), **settings):
    model = ap.Model(ground, coordinates, bodies, forces, constraints, **settings).with_parameters(*letters)
    return ap.compile(ap.derive(model, formulation) if formulation else ap.derive(model))


def on_a_line(force, name="oscillator"):
    return system_of(x, [ap.Particle("p", 1.0, ground.point(x))], [ap.Generalized({x: force})], name=name)


def pendulum(*forces):
    bob = ap.Particle("bob", 1.0, ground.pin(a).point(0, -1.0))
    return system_of(a, [bob], [ap.Gravity(-9.81 * ground.y), *forces], name="pendulum")


def test_van_der_pol_from_far_and_near():
    """Period for mu = 1: 6.6632868593231301896996820305 (Andersen and Geer 1982)."""
    system = on_a_line((1 - x**2) * x.rate - x, "van der Pol")
    for start, guess in (({x: 2.0}, 6.0), ({x: 0.5, x.rate: 1.0}, 7.0)):
        found = ap.periodic(system, start, guess)
        assert abs(found.period - 6.66328685932313) < 1e-12
        assert found.stable
        assert found.ones == 1
        assert "Near motions tend to it, up to" in found.sentence
        grown = found.motion.evaluate(1 - x**2)  # Liouville: their product is exp of the integral of the divergence
        product = np.exp(np.trapezoid(grown, found.motion.times))
        np.testing.assert_allclose(found.multipliers, product, rtol=1e-9)
    section = ap.periodic(system, {x: 2.0}, 6.0, hold=x.rate)
    assert section.state[x.rate] == 0
    assert abs(section.state[x] - 2.00861986087484) < 1e-12


def test_a_pendulum_keeps_the_amplitude_that_is_held():
    found = ap.periodic(pendulum(), {a: 1.0}, 2.0, hold=[a, a.rate])
    assert abs(found.period - 4 * ellipk(np.sin(0.5) ** 2) / np.sqrt(9.81)) < 1e-13
    assert found.ones == 2
    assert found.multipliers.size == 0
    assert found.stable is None
    assert "of what is conserved" in repr(found)
    assert "Nothing grows" in found.sentence
    given = ap.periodic(pendulum(), {a: 1.9}, 2.5, hold="period")
    assert given.period == 2.5
    k = np.sin(given.motion["a"].max().item() / 2) ** 2
    assert abs(4 * ellipk(k) / np.sqrt(9.81) - 2.5) < 1e-6  # the largest value of a table


def test_a_pendulum_that_turns_over():
    found = ap.periodic(pendulum(), {a.rate: 8.0}, 0.9, advance={a: TURN}, hold=[a, a.rate])
    k = 4 * 9.81 / 64
    assert abs(found.period - 4 / 8 * ellipk(k)) < 1e-13
    assert abs(found.motion.at(found.period)[a] - TURN) < 1e-12


def test_the_orbit_of_arenstorf():
    """Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, (0.1)-(0.2)."""
    mu = 0.012277471
    D1, D2 = (((x + c) ** 2 + y**2) ** sp.Rational(3, 2) for c in (mu, mu - 1))
    pull = {
        x: x + 2 * y.rate - (1 - mu) * (x + mu) / D1 - mu * (x + mu - 1) / D2,
        y: y - 2 * x.rate - (1 - mu) * y / D1 - mu * y / D2,
    }
    system = system_of((x, y), [ap.Particle("s", 1.0, ground.point(x, y))], [ap.Generalized(pull)])
    found = ap.periodic(system, {x: 0.994, y.rate: -2.0015851}, 17.0652, hold=[x, y, x.rate])
    assert abs(found.period - 17.0652165601579625588917206249) < 1e-9
    assert abs(found.state[y.rate] + 2.00158510637908252240537862224) < 1e-12
    assert found.ones == 2
    assert found.stable is False
    np.testing.assert_allclose(np.prod(found.multipliers), 1.0, rtol=1e-5)


def test_a_top_of_euler_comes_back_but_for_its_attitude():
    """w(t) has the period 4 K(k^2) / n (Landau and Lifshitz, Mechanics, 37)."""
    e, moments, w = ap.coordinates("e0:4"), (2.0, 3.0, 4.0), (0.3, 0.0, 1.0)
    body = ap.RigidBody("body", 1.0, ground.point(0, 0, 0), ground.rotate_quaternion(*e), moments)
    system = system_of(e, [body], [])
    start = system.state({"e0": 1.0, **{f"w_body_{axis}": value for axis, value in zip("xyz", w, strict=True)}})
    A, B, C = moments
    twice = sum(i * v**2 for i, v in zip(moments, w, strict=True))
    square = sum((i * v) ** 2 for i, v in zip(moments, w, strict=True))
    n = np.sqrt((C - B) * (square - twice * A) / (A * B * C))
    exact = 4 * ellipk((B - A) * (twice * C - square) / ((C - B) * (square - twice * A))) / n
    found = ap.periodic(system, start, 1.1 * exact)
    assert abs(found.period / exact - 1) < 1e-10
    assert found.ones == 3
    assert not found.advance
    closed = ap.periodic(system, start, 1.1 * exact, hold=["w_body_x", "w_body_z"])
    assert abs(closed.period / exact - 1) < 1e-12


def test_a_disk_that_rolls_comes_back_but_for_its_place():
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    start = system.consistent({"lean": 0.3, "yaw.rate": 0.7, "lean.rate": -0.2, "spin.rate": 3.0})
    found = ap.periodic(system, start, 1.0)
    assert set(found.advance) == {"x", "y", "yaw", "spin"}
    assert found.missed < 1e-12
    assert found.ones == 4
    assert found.multipliers.size == 0
    later = ap.simulate(system, found.state, 3 * found.period)
    for name in ("lean", "lean.rate", "yaw.rate", "spin.rate"):
        assert abs(later.columns[name][-1] - found.state[name]) < 1e-9
    for name in ("yaw", "spin"):
        assert abs(later.columns[name][-1] - found.state[name] - 3 * found.advance[name]) < 1e-9
    with pytest.raises(ap.AppellError, match="No periodic motion was found"):
        ap.periodic(system, start, 1.0, advance={"yaw": 0, "x": 0, "y": 0}, hold=["lean", "lean.rate", "yaw.rate"])


def test_multipliers_are_those_of_differences_in_redundant_coordinates():
    """A crank driven round against a load: by each formulation the same, and as runs nearby say."""
    given = ap.library.four_bar()
    q1 = given.coordinates[0]
    motor = ap.Generalized({q1: 20.0 - 1.5 * q1.rate}, "motor")
    more = {"values": given.values, "start": given.start}
    model = ap.Model(
        given.ground, given.coordinates, given.bodies, [*given.forces, motor], given.constraints, name="crank", **more
    )
    turns, found = {"q1": TURN, "q2": -TURN}, []
    for formulation in (ap.GibbsAppell(), ap.Shulgin(), ap.Multipliers(), ap.GibbsAppell(dependent=["q1", "q3"])):
        system = ap.compile(ap.derive(model, formulation)).bind()
        start = system.consistent({"q1": 0.17, "q1.rate": 13.0}, given.start)
        found.append(ap.periodic(system, start, 0.48, advance=turns))
        assert not found[-1].advance
    np.testing.assert_allclose([e.period for e in found], found[0].period, rtol=1e-10)
    np.testing.assert_allclose([e.multipliers[0] for e in found], found[0].multipliers[0], rtol=1e-6)
    assert found[0].stable
    assert found[0].ones == 1

    system, state = found[0].motion.system, found[0].state

    def rate_after_a_turn(change):
        begin = system.consistent({"q1": state["q1"], "q1.rate": state["q1.rate"] + change}, state.to_dict())
        turned = ap.Event(q1 - state["q1"] - TURN, direction=1, stop=True)
        return ap.simulate(system, begin, 1.0, events=[turned]).columns["q1.rate"][-1]

    slope = (rate_after_a_turn(1e-4) - rate_after_a_turn(-1e-4)) / 2e-4
    np.testing.assert_allclose(found[0].multipliers, [slope], rtol=1e-6)


def test_a_ball_on_a_shaken_table():
    """The map from hit to hit has this matrix in (moment, speed after it); its determinant is e^2."""
    A, w, e = ap.parameters("A w e")
    ball = [ap.Particle("ball", 1.0, ground.point(0, y))]
    system = system_of(y, ball, [ap.Gravity(-9.81 * ground.y)], letters=(A, w, e))
    table = A * sp.sin(w * t)
    hit = ap.Event(y - table, direction=-1, reset={y.rate: (1 + e) * sp.diff(table, t) - e * y.rate}, name="hit")
    for amplitude, stable in ((0.01, False), (0.0025, True)):
        period, rebound, rate = 1 / 8, 0.8, TURN * 8
        speed = 9.81 * period / 2
        moment = np.arccos(speed * (1 - rebound) / (1 + rebound) / (amplitude * rate)) / rate
        later = {y: amplitude * np.sin(rate * moment) + 0.02 * speed - 9.81 * 0.0002, y.rate: speed - 9.81 * 0.02}
        bound = system.bind({A: amplitude, w: rate, e: rebound})
        found = ap.periodic(
            bound, bound.state({n: 1.01 * v for n, v in later.items()}, t=moment + 0.02), period, events=[hit]
        )
        lift, bend = amplitude * rate * np.cos(rate * moment), -amplitude * rate**2 * np.sin(rate * moment)
        longer = period / (speed + lift)
        wanted = [[1, longer], [(1 + rebound) * bend, (rebound * 9.81 + (1 + rebound) * bend) * longer - rebound]]
        np.testing.assert_allclose(
            np.sort_complex(found.multipliers), np.sort_complex(np.linalg.eigvals(wanted)), rtol=1e-8
        )
        assert found.stable is stable
        assert not found.free
        assert found.ones == 0
        assert found.sentence == ("Near motions tend to it." if stable else "It is unstable.")


def test_stick_and_slip_forgets_how_it_began():
    slip = 0.2 - x.rate
    grip = 9.81 * (0.4 + 0.2 * sp.exp(-((slip / 0.1) ** 2))) * sp.sign(slip)
    system = on_a_line(grip - 40 * x, "block")
    motion = ap.simulate(system, {x: 0.0}, 10.0)
    slips = [o.t for o in motion.occurrences]
    for start in (motion.at(slips[1] + 0.1), motion.at(slips[1] - 0.1)):
        found = ap.periodic(system, start, slips[3] - slips[1])
        assert abs(found.period - (slips[5] - slips[3])) < 1e-9
        assert np.max(np.abs(found.multipliers)) < 1e-10
        assert found.stable


def test_resonance_of_duffing_step_by_step():
    d, w = ap.parameters("d w")
    system, start = on_a_line(-d * x.rate - x - x**3 + 0.3 * sp.cos(w * t), "Duffing"), {x: 0.4}
    widths = []
    for rate in np.arange(0.6, 1.7, 0.1):
        found = ap.periodic(system.bind({d: 0.1, w: rate}), start, TURN / rate)
        np.testing.assert_allclose(np.prod(found.multipliers), np.exp(-0.1 * found.period), rtol=1e-9)  # Liouville
        start = found.state
        widths.append(np.ptp(found.motion["x"].values))
        assert found.stable
        assert found.period == TURN / rate
    assert np.all(np.diff(widths) > 0)
    tau = ap.inputs("tau")
    driven = pendulum(ap.Generalized({a: tau - 0.3 * a.rate}))
    by_formula = ap.periodic(driven, {a: 0.0}, np.pi, inputs={tau: sp.cos(2 * t)})
    by_function = ap.periodic(driven, {a: 0.0}, np.pi, inputs={tau: lambda s: np.cos(2 * s)})
    np.testing.assert_allclose(by_function.state.array, by_formula.state.array, atol=1e-8)
    np.testing.assert_allclose(by_function.multipliers, by_formula.multipliers, rtol=1e-6)
    with pytest.raises(ap.AppellError, match="does not come again after 3 s"):
        ap.periodic(driven, {a: 0.0}, 3.0, inputs={tau: lambda s: np.cos(2 * s)})


def test_a_rest_under_a_drive_has_multipliers():
    """Mathieu's equation at rest, and Stephenson's pendulum upright on a support that shakes."""
    w = ap.parameters("w")
    system = on_a_line(-(1 - 0.4 * sp.cos(2 * t)) * x, "Mathieu")
    found = ap.periodic(system, {x: 0.0}, np.pi)
    trace = sum(
        ap.simulate(system, {name: 1.0}, np.pi, rtol=1e-12).columns[name][-1] for name in ("x", "x.rate")
    )  # of the matrix of a linear equation
    wanted = np.roots([1, -trace, 1])
    np.testing.assert_allclose(np.sort(found.multipliers.real), np.sort(wanted.real), rtol=1e-8)
    assert found.stable is False
    support = ground.point(0, 0.02 * sp.cos(w * t))
    bob = ap.Particle("bob", 1.0, support - 0.3 * ground.rotate("z", a).y)
    friction = ap.Generalized({a: -0.01 * a.rate})
    shaken = ap.compile(ap.derive(ap.Model(ground, a, [bob], [ap.Gravity(-9.81 * ground.y), friction])))
    for rate, stable in ((20.0, False), (300.0, True)):  # a^2 w^2 > 2 g l
        upright = ap.periodic(shaken.bind({w: rate}), {a: np.pi}, TURN / rate)
        np.testing.assert_allclose(np.prod(upright.multipliers), np.exp(-0.01 / 0.09 * TURN / rate), rtol=1e-9)
        assert upright.stable is stable


def test_a_function_that_jumps_drives_as_a_formula_does():
    tau = ap.inputs("tau")
    driven = pendulum(ap.Generalized({a: tau - 0.3 * a.rate}))
    by_function = ap.periodic(driven, {a: 0.0}, np.pi, inputs={tau: lambda s: np.sign(np.sin(2 * s))})
    by_formula = ap.periodic(driven, {a: 0.0}, np.pi, inputs={tau: sp.sign(sp.sin(2 * t))})
    np.testing.assert_allclose(by_function.state.array, by_formula.state.array, atol=1e-7)
    np.testing.assert_allclose(by_function.multipliers, by_formula.multipliers, rtol=1e-5)
    assert by_formula.missed < 1e-12


@pytest.mark.parametrize("rtol", [None, 1e-7])
def test_what_is_conserved_beside_a_drive_is_not_unstable(rtol):
    """Two oscillators that do not see each other: one of a period that depends on its amplitude, one that is driven."""
    pulls = ap.Generalized({x: -x - x**3, y: sp.cos(1.5 * t) - 4.3 * y - 0.3 * y.rate})
    system = system_of((x, y), [ap.Particle("p", 1.0, ground.point(x, y))], [pulls])
    found = ap.periodic(system, {x: 0.9}, TURN / 1.5, rtol=rtol)
    assert found.ones == 2
    wanted = np.exp(np.roots([1, 0.3, 4.3]) * TURN / 1.5)
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(wanted), rtol=1e-6)
    assert found.stable is None
    assert "Nothing grows" in found.sentence


def test_what_turns_on_is_told_where_nothing_was_found():
    push = pendulum(ap.Generalized({a: 4 - 0.3 * a.rate}))
    with pytest.raises(ap.AppellError, match=r"a first went on by 5: if it is to turn, .*advance={'a': 6.28318531}"):
        ap.periodic(push, {a.rate: 13.5}, 0.48)
    assert ap.periodic(push, {a.rate: 13.5}, 0.48, advance={"a": TURN}).stable
    driven = pendulum(ap.Generalized({a: 4 + 0.1 * sp.cos(TURN * t / 0.48) - 0.3 * a.rate}))
    with pytest.raises(ap.AppellError, match=r"In 0.48 s a first went on by 6.\d+: if it is to turn, .*a': 6.28318531"):
        ap.periodic(driven, {a.rate: 13.5}, 0.48)
    off = on_a_line(10 * (1 + 0.01 * sp.cos(TURN * t)) - 0.1 * x.rate + 0.01 * x)
    with pytest.raises(ap.AppellError, match=r"goes from [^ ]* to [^ ]*\. Give a nearer guess"):
        ap.periodic(off, {x.rate: 13.5}, 1.0, hold=["x", "x.rate"])


@pytest.mark.parametrize("width", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("guess", [5.1, 6.0, 7.0, 8.2])
def test_a_guess_of_the_period_may_be_off_by_a_quarter(width, guess):
    found = ap.periodic(on_a_line((1 - x**2) * x.rate - x), {x: width}, guess)
    assert found.period == pytest.approx(6.66328685932313, rel=1e-10)


def test_a_relaxation_oscillation_is_found_by_running_on():
    """mu = 1000: (3 - 2 ln 2) mu + 3 * 2.33811 mu^(-1/3) + ... (Dorodnitsyn 1947)."""
    found = ap.periodic(on_a_line(1000 * (1 - x**2) * x.rate - x), {x: 2.0}, 1600.0)
    assert found.period == pytest.approx((3 - 2 * np.log(2)) * 1000 + 7.01432 / 10, abs=0.1)
    assert found.stable


@pytest.mark.parametrize("period", [1e-8, 1e-3, 1e6])
def test_periods_of_any_length(period):
    c = TURN / period
    found = ap.periodic(on_a_line(c * (1 - x**2) * x.rate - c**2 * x), {x: 2.0}, 1.01 * period)
    assert found.period / period == pytest.approx(6.663286859323 / TURN, rel=1e-9)


def test_three_bodies_on_an_eight():
    """Chenciner and Montgomery 2000; its multipliers on the unit circle decide nothing (Simo 2002)."""
    q = ap.coordinates("x1 y1 x2 y2 x3 y3")
    pairs = [(q[i], q[i + 1], q[j], q[j + 1]) for i, j in ((0, 2), (0, 4), (2, 4))]
    pull = ap.Potential(-sum(1 / sp.sqrt((e - g) ** 2 + (f - h) ** 2) for e, f, g, h in pairs))
    system = system_of(q, [ap.Particle(f"b{i}", 1.0, ground.point(q[i], q[i + 1])) for i in (0, 2, 4)], [pull])
    begin, v = (0.97000436, -0.24308753), (-0.93240737, -0.86473146)
    start = {"x1": begin[0], "y1": begin[1], "x2": -begin[0], "y2": -begin[1]}
    for i, share in ((1, -0.5), (2, -0.5), (3, 1)):
        start |= {f"x{i}.rate": share * v[0], f"y{i}.rate": share * v[1]}
    found = ap.periodic(system, start, 6.3)
    assert found.period == pytest.approx(6.32591398, abs=1e-6)
    assert found.ones == 8
    np.testing.assert_allclose(np.sort(found.multipliers.real)[::2], [-0.29760, 0.99860], atol=1e-4)
    assert found.sentence == "The first order does not decide whether it is stable."


def test_what_switches_at_a_place_comes_back_there():
    """A motor with a lag under a relay: between two switches the force does not depend on the place."""
    push, tau = ap.states("push"), ap.inputs("tau")
    block = [ap.Particle("block", 1.0, ground.point(x))]
    model = ap.Model(ground, x, block, [ap.Generalized({x: push - x.rate})], states={push: (tau - push) / 0.3})
    found = ap.periodic(ap.compile(ap.derive(model)), {x: 0.3}, 3.0, inputs={tau: -sp.sign(x)})
    assert found.back == ("x",)
    assert not found.advance
    half = found.period / 2  # Tsypkin: x = 0 half a period after, with the response to a square wave
    k = np.arange(1, 200001, 2)
    response = 1 / (1j * k * np.pi / half * (1j * k * np.pi / half + 1) * (0.3j * k * np.pi / half + 1))
    np.testing.assert_allclose(np.sum((response / k).imag), 0, atol=1e-9)


def test_multipliers_that_are_one_are_told_from_those_that_nearly_are():
    rng = np.random.default_rng(3)
    V = rng.normal(size=(5, 5))
    for blocks, ones in (([1, 1, 0.5, 0.2, -0.9], 2), ([1, 1 - 1e-5, 0.5, 0.2, 0.1], 1), ([1, 0.3, 0.5, 0.2, 0.1], 1)):
        M = np.diag(np.array(blocks, float))
        M[0, 1] = 30.0 if ones == 2 else 0.0
        found, count = multipliers(V @ M @ np.linalg.inv(V), V[:, 0])
        assert count == ones
        assert found.size == 5 - ones
        np.testing.assert_allclose(np.sort(found.real), np.sort(blocks[ones:]), atol=1e-9)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"period": None}, "A guess of the period is needed, got None"),
        ({"period": -1.0}, "A guess of the period is needed, got -1"),
        ({"hold": ["b"]}, "'b' is not a starting value"),
        ({"advance": {"b": 1.0}}, "'b' is not a coordinate"),
        ({"events": [ap.Event(a - 0.5, stop=True, name="there")]}, "does not last for 2 s: A stop event"),
    ],
)
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(ap.AppellError, match=words):
        ap.periodic(pendulum(), {a: 1.0}, **{"period": 2.0, **given})


def test_a_motion_that_dies_away_is_no_period():
    damped = pendulum(ap.Generalized({a: -0.1 * a.rate}))
    with pytest.raises(ap.AppellError, match=r"ended at rest|No periodic motion"):
        ap.periodic(damped, {a: 1.0}, 2.0)
    with pytest.raises(ap.AppellError, match=r"No periodic motion was found.*goes from"):
        ap.periodic(damped, {a: 1.0}, 2.0, hold=[a, a.rate])
    programmed = ap.compile(ap.derive(ap.library.jerk_cart_pendulum())).bind()
    with pytest.raises(ap.AppellError, match="slopes that are not known"):
        ap.periodic(programmed, None, 1.0)


def test_a_picture_of_what_comes_back_and_of_the_multipliers(tmp_path):
    system = ap.compile(ap.derive(ap.library.rolling_disk())).bind()
    start = system.consistent({"lean": 0.3, "yaw.rate": 0.7, "lean.rate": -0.2, "spin.rate": 3.0})
    found = ap.periodic(system, start, 1.0)
    portrait, circle = found.plot(path=tmp_path / "disk.png").panels
    assert found.back == ("lean",)
    assert portrait.x == "lean [rad]"
    assert [line.name for line in circle.items] == ["", "4 at one for a reason"]
    assert (tmp_path / "disk.png").stat().st_size > 1000
    unstable = ap.periodic(on_a_line(x.rate * (x**2 - 1) - x), {x: 2.0}, 6.0)
    _, circle = unstable.plot().panels
    names = {line.name: line for line in circle.items}
    np.testing.assert_allclose(names["outside the unit circle"].x, unstable.multipliers.real)
    page = unstable._repr_html_()
    assert "6.66328686" in page
    assert "Periodic motion</h4>" in page
