"""Motions across kinks against closed forms: a Taylor step across one would be silently wrong."""

import re

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import CompileError, IntegrationError, StickingError
from appell.model.friction import Coulomb
from appell.motion.kink_names import vanishing

LOCATING = ["taylor", "dop853", "RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA"]
SOME = ["taylor", "dop853", "Radau"]
x, y = ap.coordinates("x y")
ground = ap.Frame("ground")
t = ap.t


def block(force, inputs=None):
    model = ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x, 0))], [ap.Generalized({x: force})])
    return ap.compile(ap.derive(model)).bind(inputs)


def last(motion):
    return float(motion["x"][-1]), float(motion["x.rate"][-1])


@pytest.fixture(scope="module")
def tank():
    """A cart whose tank loses 2 kg/s down to 110 kg."""
    level = ap.states("tank", "kg")
    cart = ap.Particle("cart", level, ground.point(x, 0))
    flow = sp.Piecewise((-2, level > 110), (0, True))
    model = ap.Model(ground, x, [cart], [ap.Force(10 * ground.x, cart)], states={level: flow}, name="tank")
    return ap.compile(ap.derive(model)).bind()


@pytest.mark.parametrize("method", ["auto", *LOCATING])
def test_the_tank_stops_at_110(tank, method):
    motion = ap.simulate(tank, {"tank": 150.0}, until=40.0, method=method)
    assert motion.outcome is ap.Outcome.DONE
    assert float(motion["tank"][-1]) == pytest.approx(110, abs=1e-9)
    assert float(motion["tank"].min()) >= 110 - 1e-9
    assert [o.t for o in motion.occurrences] == [pytest.approx(20, abs=1e-9)]
    # m x'' = 10 with m = 150 - 2t, then 110: x' = 5 ln(150/110) + 10/110 (t - 20)
    assert float(motion["x.rate"][-1]) == pytest.approx(5 * np.log(150 / 110) + 200 / 110, abs=1e-7)
    assert motion.check().ok


def test_cvodes_refuses_what_it_would_step_across(tank):
    with pytest.raises(IntegrationError, match="use method='Radau' for stiff equations with events or kinks"):
        ap.simulate(tank, {"tank": 150.0}, until=40.0, method="cvodes")


def test_the_tank_by_cas_adi_alone(tank):
    plain = ap.compile(tank.equations, machine="casadi").bind()
    motion = ap.simulate(plain, {"tank": 150.0}, until=40.0)
    assert motion.info["method"] == "dop853"
    assert float(motion["tank"][-1]) == pytest.approx(110, abs=1e-9)


@pytest.mark.parametrize("method", [m for m in LOCATING if m != "RK23"])
def test_a_spring_against_dry_friction(method):
    """k = 4, friction 1: half swings of pi/2 seconds about +-1/4 until the spring is too weak: 1.6, -1.1, 0.6, -0.1."""
    motion = ap.simulate(block(-4 * x - sp.sign(x.rate)), {x: 1.6}, until=10.0, method=method)
    tolerance = {"taylor": 1e-13, "dop853": 1e-11}.get(method, 1e-7)
    np.testing.assert_allclose(
        [o.t for o in motion.occurrences], np.pi / 2 * np.array([1, 2, 3]), rtol=0, atol=tolerance
    )
    assert last(motion) == pytest.approx((-0.1, 0.0), abs=tolerance)
    turns = [motion.at(k * np.pi / 2)["x"] for k in (1, 2, 3)]
    np.testing.assert_allclose(turns, [-1.1, 0.6, -0.1], rtol=0, atol=tolerance)
    assert motion.check().ok


CASES = {
    # force, start, until, (x, x') at the end, times of the kinks
    "braking to rest": (-sp.sign(x.rate), {x.rate: 2.0}, 5.0, (2, 0), [2]),
    "stuck from the start": (0.5 - sp.sign(x.rate), {}, 3.0, (0, 0), []),
    "pulled loose": (t - sp.sign(x.rate), {}, 3.0, (8 / 6, 2), [1]),
    "a program in time": (sp.Piecewise((1, t < 1), (-1, t < 3), (0, True)), {}, 5.0, (-1.5, -1), [1, 3]),
    "a force of constant size": (-sp.sign(x), {x: 0.5}, 4.0, (0.5, 0), [1, 3]),
    "the modulus": (-sp.Abs(x) / x, {x: 0.5}, 4.0, (0.5, 0), [1, 3]),
    "the step function": (-sp.Heaviside(x), {x: 0.5}, 4.0, (-3, -1), [1]),
    "a soft stop by max": (1 - 4 * sp.Max(x, 0), {x: -0.5}, 1 + np.pi / 2, (0.5, -1), [1]),
    "a saturated spring by min": (-sp.Min(x, 1), {x: 1.5}, 1 + np.pi / 2, (-1, -1), [1]),
    "a dead band": (sp.Piecewise((1 - x, x > 1), (-1 - x, x < -1), (0, True)), {x: 2.0}, np.pi + 2, (-2, 0),
                    [np.pi / 2, np.pi / 2 + 2]),
    "both conditions": (sp.Piecewise((-1, sp.And(x > 0, t < 5)), (0, True)), {x: 0.5}, 3.0, (-2, -1), [1]),
    "either condition": (sp.Piecewise((-1, sp.Or(x > 0, t > 2)), (0, True)), {x: 0.5}, 3.0, (-2.5, -2), [1, 2]),
    "from rest on the edge of a stop": (1 - 100 * sp.Max(x, 0), {}, np.pi / 10, (0.02, 0), []),
    "from rest into the steeper side": (sp.Piecewise((1, x <= 0), (3, True)), {}, 2.0, (6, 6), []),
    "from rest into the other side": (sp.Piecewise((-1, x >= 0), (-3, True)), {}, 2.0, (-6, -6), []),
    "friction on one side": (-sp.Heaviside(x) * sp.sign(x.rate) - x, {x: 3.0}, 2 * np.pi / 3, (0, -(3**0.5)), []),
}  # fmt: skip


@pytest.mark.parametrize("method", SOME)
@pytest.mark.parametrize("case", CASES, ids=lambda name: name.replace(" ", "-"))
def test_closed_forms(case, method):
    force, start, until, expected, times = CASES[case]
    motion = ap.simulate(block(force), start, until=until, method=method)
    tolerance = 1e-12 if method == "taylor" else 1e-9
    assert motion.outcome is ap.Outcome.DONE
    found = [o.t for o in motion.occurrences if o.t < until - 1e-6]
    np.testing.assert_allclose(found, [when for when in times if when < until - 1e-6], rtol=0, atol=1e-6)
    assert last(motion) == pytest.approx(expected, abs=tolerance)
    assert motion.check().ok


@pytest.mark.parametrize("method", SOME)
def test_kinks_at_the_same_time(method):
    """Two blocks that come to rest together; each must stay."""
    bodies = [ap.Particle("one", 1, ground.point(x, 0)), ap.Particle("other", 1, ground.point(y, 1))]
    forces = [ap.Generalized({x: -sp.sign(x.rate), y: -sp.sign(y.rate)})]
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), bodies, forces))).bind()
    motion = ap.simulate(system, {x.rate: 2.0, y.rate: 2.0}, until=6.0, method=method)
    np.testing.assert_allclose(motion.at(6.0).array, [2, 2, 0, 0], rtol=0, atol=1e-11)
    assert len(motion.occurrences) == 2


@pytest.mark.parametrize("method", SOME)
def test_two_blocks_that_rub_on_each_other_stick_together(method):
    bodies = [ap.Particle("lower", 1, ground.point(x, 0)), ap.Particle("upper", 1, ground.point(y, 1))]
    friction = sp.sign(x.rate - y.rate)
    system = ap.compile(
        ap.derive(ap.Model(ground, (x, y), bodies, [ap.Generalized({x: -friction, y: friction})]))
    ).bind()
    motion = ap.simulate(system, {x.rate: 4.0}, until=5.0, method=method)
    np.testing.assert_allclose(motion.at(5.0).array, [12, 8, 2, 2], rtol=0, atol=1e-11)
    assert motion.check().ok


def test_friction_written_the_other_way_round_is_the_same_friction():
    bodies = [ap.Particle("lower", 1, ground.point(x, 0)), ap.Particle("upper", 1, ground.point(y, 1))]
    forces = [ap.Generalized({x: -sp.sign(x.rate - y.rate), y: -sp.sign(y.rate - x.rate)})]
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), bodies, forces))).bind()
    motion = ap.simulate(system, {x.rate: 4.0}, until=5.0)
    np.testing.assert_allclose(motion.at(5.0).array, [12, 8, 2, 2], rtol=0, atol=1e-11)


def test_friction_that_falls_with_speed_sticks():
    """Stribeck's friction (1 + exp(-|v|)) sign(v): x'' = -2 near rest."""
    system = block(-(1 + sp.exp(-sp.Abs(x.rate))) * sp.sign(x.rate))
    motion = ap.simulate(system, {x.rate: 1.0}, until=3.0)
    assert last(motion)[1] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("given", [sp.sin(t), np.sin], ids=["formula", "function"])
def test_kinks_of_inputs_follow_the_input(given):
    """x'' = max(sin t, 0): half waves; a Python function must be looked at as it is now."""
    u = ap.inputs("u")
    system = block(sp.Max(u, 0), {u: 0.0})
    motion = ap.simulate(system, {}, until=9.0, inputs={u: given})
    np.testing.assert_allclose([o.t for o in motion.occurrences], [np.pi, 2 * np.pi], rtol=0, atol=1e-12)
    assert last(motion)[1] == pytest.approx(2 + 1 - np.cos(9), abs=1e-9)


@pytest.mark.parametrize("given", [t, lambda time: time], ids=["formula", "function"])
def test_what_an_input_pulls_comes_loose_in_time(given):
    u = ap.inputs("u")
    motion = ap.simulate(block(u - sp.sign(x.rate), {u: 0.0}), {}, until=3.0, inputs={u: given})
    assert last(motion) == pytest.approx((8 / 6, 2), abs=1e-9)


def test_a_belt_that_a_formula_drives_carries_the_block_along():
    """Friction 2 against a belt at speed sin t: the block sticks to it, as |cos t| < 2."""
    u = ap.inputs("u")
    system = block(-2 * sp.sign(x.rate - u), {u: 0.0})
    motion = ap.simulate(system, {}, until=3.0, inputs={u: sp.sin(t)})
    np.testing.assert_allclose(motion["x.rate"], np.sin(motion.times), rtol=0, atol=1e-12)


def test_a_belt_that_a_function_drives_is_refused_where_the_motion_sticks_to_it():
    u = ap.inputs("u")
    system = block(-2 * sp.sign(x.rate - u), {u: 0.0})
    words = r"sticks to an input that a Python function gives .* give the input as a formula"
    with pytest.raises(StickingError, match=words):
        ap.simulate(system, {x.rate: 0.5}, until=3.0, inputs={u: lambda time: 0.5})
    motion = ap.simulate(system, {}, until=3.0, inputs={u: lambda time: 0.5})
    assert motion.outcome is ap.Outcome.UNDECIDED
    assert re.search(words, motion.detail)
    assert last(motion) == pytest.approx((0.0625, 0.5), abs=1e-9)


@pytest.mark.parametrize("force", [sp.floor(x), sp.Mod(x, 2), sp.ceiling(t)], ids=str)
def test_countless_jumps_are_refused(force):
    with pytest.raises(CompileError, match="jumps at countless places"):
        ap.simulate(block(force), {x: 1.0}, until=1.0)


def test_stiff_friction_regularised_by_tanh_agrees_with_the_real_one():
    """tanh(v/eps) creeps where sign sticks; the distance run is the same to order eps."""
    smooth = ap.simulate(block(-sp.tanh(x.rate / 1e-4)), {x.rate: 2.0}, until=5.0, method="Radau")
    assert last(smooth)[0] == pytest.approx(2.0, abs=1e-3)


def test_a_kink_in_a_constrained_system():
    """A bead with dry friction on a parabola in redundant coordinates loses just the work of the friction."""
    friction = ap.Generalized({x: -0.3 * sp.sign(x.rate)})
    bead = ap.Particle("bead", 1, ground.point(x, y))
    wire = ap.Holonomic(y - x**2, "wire")
    system = ap.compile(
        ap.derive(ap.Model(ground, (x, y), [bead], [ap.Gravity(-9.81 * ground.y), friction], [wire]))
    ).bind()
    motion = ap.simulate(system, system.state({x: 1.0, y: 1.0}), until=4.0)
    proof = motion.check()
    assert proof.ok
    turns = [1.0, *(motion.at(o.t)["x"] for o in motion.occurrences)]
    path = np.sum(np.abs(np.diff([*turns, float(motion["x"][-1])])))
    assert proof.work["generalized"] == pytest.approx(-0.3 * path, abs=1e-9)
    assert len(turns) > 3


PUSHES = {
    "sign": sp.Rational(11, 10) + sp.Rational(9, 10) * sp.sign(t - 1),
    "square wave": sp.Rational(11, 10) - sp.Rational(9, 10) * sp.sign(sp.sin(sp.pi * t)),
    "piecewise": sp.Piecewise((0.2, t < 1), (2, True)),
}


@pytest.mark.parametrize("method", LOCATING)
@pytest.mark.parametrize("push", PUSHES.values(), ids=PUSHES)
def test_what_sticks_is_pushed_off_by_a_force_that_is_switched_on(method, push):
    """Friction of at most 0.5 N holds 0.2 N; 2 N from t = 1 on move the block by 1.5 (t - 1)²/2."""
    motion = ap.simulate(block(push - sp.sign(x.rate) / 2), {x: 0.0}, until=1.5, method=method, rtol=1e-10, atol=1e-10)
    assert last(motion) == pytest.approx((0.1875, 0.75), rel=1e-7, abs=0)


@pytest.mark.parametrize("method", ["dop853", "DOP853"])
def test_what_sticks_is_pushed_off_by_a_sampled_control(method):
    u = ap.inputs("u")
    model = ap.Model(
        ground, x, [ap.Particle("block", 1, ground.point(x, 0))], [ap.Generalized({x: u - sp.sign(x.rate) / 2})]
    )
    motion = ap.simulate(
        ap.compile(ap.derive(model)).bind(), {x: 0.0}, 1.5, control=lambda t, _: 2.0 if t > 0.95 else 0.2, rate=10.0,
        method=method,
    )  # fmt: skip
    assert last(motion) == pytest.approx((0.1875, 0.75), rel=1e-9, abs=0)


@pytest.mark.parametrize(("push", "lower", "upper"), [(0.3, 0.0, 0.0), (1.0, 0.25, 0.25), (2.0, 1.2, 0.3)])
@pytest.mark.parametrize("method", SOME)
def test_of_two_blocks_that_stick_those_slip_that_have_to(push, lower, upper, method):
    """1 kg on 1 kg, friction up to 0.3 N between them and 0.5 N below, the lower one pushed from t = 1 on."""
    between, below = 0.3 * sp.sign(y.rate - x.rate), sp.sign(x.rate) / 2
    bodies = [ap.Particle("lower", 1, ground.point(x)), ap.Particle("upper", 1, ground.point(y))]
    force = sp.Piecewise((0.1, t < 1), (push, True))
    model = ap.Model(ground, (x, y), bodies, [ap.Generalized({x: force + between - below, y: -between})])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {x: 0.0}, until=2.0, method=method, rtol=1e-9, atol=1e-9)
    assert motion.columns["x.rate"][-1] == pytest.approx(lower, rel=1e-8, abs=1e-12)
    assert motion.columns["y.rate"][-1] == pytest.approx(upper, rel=1e-8, abs=1e-12)


def test_saturations_bear_the_name_of_their_input():
    """The law itself would be long; the outer limit stands behind another kink."""
    tau, high = ap.inputs("tau"), ap.parameters("high")
    model = ap.Model(ground, x, [ap.Particle("block", 1, ground.point(x, 0))], [ap.Generalized({x: tau})])
    law = -3 * x - 0.123456 * x.rate + 0.987654321 * sp.sin(t) * x - 0.11111111 * x**2
    equations = ap.derive(model.with_parameters(high)).close({tau: sp.Max(-1.5, sp.Min(high, law))})
    motion = ap.simulate(ap.compile(equations).bind({high: 2.0}), {x: 1.0, x.rate: 0.0}, until=8.0, progress=False)
    assert {o.name for o in motion.occurrences} == {"tau at its limit -1.5", "tau at its limit high"}
    for occurrence in motion.occurrences:
        limit = -1.5 if occurrence.name.endswith("-1.5") else 2.0
        assert float(motion.evaluate(law, [occurrence.t])[0]) == pytest.approx(limit, abs=1e-9)


def test_friction_that_slips_by_a_long_formula_is_named_after_its_force():
    slip = 1.2345678901 * x.rate - 2.3456789012 * y.rate + 0.12345678 * sp.cos(x) * x.rate
    bodies = [ap.Particle("a", 1, ground.point(x, 0)), ap.Particle("b", 1, ground.point(y, 0))]
    model = ap.Model(ground, (x, y), bodies, [ap.Generalized({x: -x + sp.sin(2 * t), y: -3 * y})])
    brake = Coulomb(slip, 0.3, name="brake").on(model)
    start = {x: 1.0, y: 0.5, x.rate: 1.0, y.rate: 0.0}
    motion = ap.simulate(ap.compile(ap.derive(brake)), start, until=5.0, progress=False)
    assert {o.name for o in motion.occurrences} == {"brake: no slip"}


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (lambda depth: sp.Max(0, 500 * depth), "floor at its limit 0"),
        (lambda depth: sp.Piecewise((500 * depth, depth > 0), (0, True)), "floor switches"),
        (lambda depth: -0.1 * sp.sign(depth.diff(x) * x.rate + depth.diff(y) * y.rate), "floor: no slip"),
    ],
)
def test_what_switches_by_a_long_formula_bears_the_name_of_its_force(law, words):
    links = [ground.pin(x), ground.pin(x).pin(y, at=(0.123456789, 0, 0))]
    bodies = [ap.RigidBody(f"link {i}", 1, f.point(0.3, 0), f, (0, 0, 0.1)) for i, f in enumerate(links)]
    depth = -0.2345678 - 0.123456789 * sp.sin(x) - 0.3 * sp.sin(x + y)
    floor = ap.Force(law(depth) * ground.y, bodies[1].center, body=bodies[1], name="floor")
    model = ap.Model(ground, (x, y), bodies, [ap.Gravity(-9.81 * ground.y), floor])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), until=1.0, progress=False)
    assert {o.name for o in motion.occurrences} == {words}


def test_large_equations_are_looked_at_piece_by_piece_with_the_same_result(monkeypatch):
    """Steps of large equations are looked through by single calls, not by a graph for every set of what sticks."""
    chain = ap.Chain([ap.Joint("y", at=(i, 0, 0), mass=1, center=(0.5, 0, 0), friction=2.0) for i in range(3)])
    system = ap.compile(ap.derive(ap.friction.declared(chain))).bind()
    runs = []
    for large in (10**9, 0):
        monkeypatch.setattr("appell.motion.dop853.LARGE", large)
        runs.append(ap.simulate(system, {"q2": 0.4}, until=2.0, method="dop853", progress=False))
    one, other = ([(o.name, o.t) for o in run.occurrences] for run in runs)
    assert len(one) > 5
    assert [name for name, _ in one] == [name for name, _ in other]
    np.testing.assert_allclose([t for _, t in one], [t for _, t in other], rtol=1e-12)
    times = np.linspace(0, 2, 77)
    np.testing.assert_allclose(runs[0].states(times), runs[1].states(times), rtol=0, atol=1e-11)


@pytest.mark.parametrize("jump", [1.0, np.pi / 3, 0.7])
def test_a_control_that_jumps_breaks_loose_what_sticks(jump):
    """Dry friction of 5 N holds 1 kg against 4 N, and not against 9 N: from the jump on x = 4 s²/2."""
    push = ap.inputs("push")
    body = ap.Particle("block", 1, ground.point(x, 0))
    model = Coulomb(x, 5.0).on(ap.Model(ground, x, [body], [ap.Generalized({x: push})]))

    def control(t, _):
        return 4.0 if np.cos(t) > np.cos(jump) else 9.0

    motion = ap.simulate(ap.compile(ap.derive(model)), {x: 0.0}, until=2.0, control=control, progress=False)
    assert motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(last(motion), [2 * (2 - jump) ** 2, 4 * (2 - jump)], rtol=1e-9)


@pytest.mark.parametrize("method", SOME)
def test_friction_that_sets_its_own_pressure_holds_a_rod_by_its_tip(method):
    """A rod whose tip is dragged over a floor: friction turns it, and so presses it down (Painleve 1895).

    While the tip sticks the rod falls about it, a'' = -3 g cos a / 4, up to |F| = mu N; times by another integration.
    """
    if method == "taylor":
        pytest.importorskip("heyoka")
    a, mu, g, inertia = ap.coordinates("a"), 1.2, 9.81, sp.Rational(1, 3)
    rod = ap.RigidBody("rod", 1, ground.point(x, sp.sin(a)), ground.rotate("z", a), (0, 0, inertia))
    slip = x.rate + sp.sin(a) * a.rate
    lift = sp.cos(a) * (sp.cos(a) + mu * sp.sign(slip) * sp.sin(a)) / inertia
    pressure = (g - sp.sin(a) * a.rate**2) / (1 + lift)
    friction = ap.Force(-mu * pressure * sp.sign(slip) * ground.x, rod.center - rod.frame.x, body=rod)
    model = ap.Model(ground, (x, a), [rod], [ap.Gravity(-g * ground.y), friction])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {a: 2.3, x.rate: 2.0}, until=1.0, method=method)
    when = [o.t for o in motion.occurrences]
    loose = 1e-11 if method == "taylor" else 1e-8
    assert when == pytest.approx([0.061833687963937, 0.695769936288275], rel=0, abs=loose)
    for time in (0.1, 0.4, 0.69):
        here = motion.at(time)
        assert here["x.rate"] + np.sin(here["a"]) * here["a.rate"] == pytest.approx(0, abs=loose)
        assert motion.evaluate(a.rate.rate, time)[0] == pytest.approx(-0.75 * g * np.cos(here["a"]), rel=1e-9)
    assert motion.check().ok


@pytest.mark.parametrize("method", SOME)
def test_a_rod_on_a_cart_sticks_by_its_tip_while_the_cart_sticks_to_the_floor(method):
    """The friction below depends on the pressure that the one above sets; numbers by another integration.

    That solves for accelerations, friction and pressure in all modes, and goes on with those that Coulomb's law allows.
    """
    if method == "taylor":
        pytest.importorskip("heyoka")
    X, a, mu, g, inertia = *ap.coordinates("X a"), 1.2, 9.81, sp.Rational(1, 3)
    rod = ap.RigidBody("rod", 1, ground.point(x, sp.sin(a)), ground.rotate("z", a), (0, 0, inertia))
    above = sp.sign(x.rate + sp.sin(a) * a.rate - X.rate)
    lift = sp.cos(a) * (sp.cos(a) + mu * above * sp.sin(a)) / inertia
    pressure = (g - sp.sin(a) * a.rate**2) / (1 + lift)
    friction = ap.Force(-mu * pressure * above * ground.x, rod.center - rod.frame.x, body=rod)
    below = -0.35 * (2 * g + pressure) * sp.sign(X.rate)
    base = ap.Generalized({X: mu * pressure * above + below + 4 * sp.sin(6 * t)})
    bodies = [rod, ap.Particle("cart", 2, ground.point(X, 0))]
    model = ap.Model(ground, (X, x, a), bodies, [ap.Gravity(-g * ground.y), friction, base])
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {a: 2.3, x.rate: 2.0}, until=0.8, method=method)
    when = [o.t for o in motion.occurrences]
    assert when == pytest.approx([0.054471150252, 0.285106230995, 0.687878292742], rel=0, abs=1e-8)
    end = [0.0314120098, -0.2464539721, 2.9846544289, 0, -0.7932160202, 3.0217588958]
    np.testing.assert_allclose(motion.at(0.8).array, end, rtol=0, atol=1e-7)
    assert motion.check().ok


@pytest.mark.parametrize("method", SOME)
def test_what_rests_in_a_notch_leaves_it_where_it_is_pushed_out(method):
    """A spring with a preload of 2 on either side, and a force that grows by 1 in a second."""
    if method == "taylor":
        pytest.importorskip("heyoka")
    system = block(t - 2 * sp.sign(x))
    motion = ap.simulate(system, {x: 0.0}, until=4.0, method=method)
    assert [o.t for o in motion.occurrences] == pytest.approx([2.0], rel=0, abs=1e-8)
    assert last(motion) == pytest.approx((4 / 3, 2.0), rel=0, abs=1e-7)
    assert float(motion["x"].sel(t=1.6, method="nearest")) == pytest.approx(0, abs=1e-15)
    assert motion.check().ok


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (lambda tank, m: 110 - tank, "tank = 110"),
        (lambda tank, m: -tank, "tank = 0"),
        (lambda tank, m: 2 * tank - m, "tank = m/2"),
        (lambda tank, m: ap.t - 2.5, "t = 2.5"),
        (lambda tank, m: m, "m = 0"),
    ],
)
def test_switches_are_named_as_one_would_say_them(amount, words):
    assert vanishing(sp.sympify(amount(ap.states("tank"), ap.parameters("m")))) == words
