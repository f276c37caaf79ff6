"""Masses and what they are made of: streams fit them, tanks end when they are empty, what is gone ends the run."""

from math import log, sqrt

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import InconsistentStartError, ModelError

t = ap.t
x, y, angle = ap.coordinates("x y angle")
fuel, dry = ap.states("fuel dry")
ground = ap.Frame("ground")


def run(model, start=None, until=None, formulation=None, **options):
    return ap.simulate(ap.compile(ap.derive(model, formulation)).bind(), start, until, **options)


# Streams fit the mass.


def particle(mass):
    return ap.Particle("body", mass, ground.point(x, 0))


def test_rates_that_do_not_add_up_are_refused():
    body = particle(10 - 2 * t)
    with pytest.raises(ModelError, match=r"streams of 'body' carry -3.*changes by -2"):
        ap.Model(ground, x, [body], [ap.Stream(body, -ground.x, rate=-3)])
    with pytest.raises(ModelError, match="leave out the rate of one stream"):
        ap.Model(ground, x, [body], [ap.Stream(body, -ground.x, rate=-1), ap.Stream(body, ground.x, rate=-2)])
    with pytest.raises(ModelError, match="carry 4, but its mass 5 changes by 0"):
        ap.Model(ground, x, [steady := particle(5)], [ap.Stream(steady, -ground.x, rate=4)])
    tank = particle(dry + fuel)
    with pytest.raises(ModelError, match="streams of 'body' carry"):
        ap.Model(ground, x, [tank], [ap.Stream(tank, -ground.x, rate=-1)], states={fuel: -2, dry: 0})
    ap.Model(ground, x, [tank], [ap.Stream(tank, -ground.x, rate=-2)], states={fuel: -2, dry: 0})


def test_rates_that_do_not_add_up_where_a_tank_holds_much_are_refused():
    """Below 500 kg nothing flows, and nothing tells the rates apart."""
    tank = particle(10 + fuel)
    burn, other = (ap.drained(rate, fuel, 500) for rate in (-2, -3))
    with pytest.raises(ModelError, match="streams of 'body' carry"):
        ap.Model(ground, x, [tank], [ap.Stream(tank, -ground.x, rate=other)], states={fuel: burn})
    for rate in (burn, None):
        ap.Model(ground, x, [tank], [ap.Stream(tank, -ground.x, rate=rate)], states={fuel: burn})


def test_a_stream_that_carries_nothing_is_refused():
    for body in (particle(5), particle(ap.parameters("m"))):
        with pytest.raises(ModelError, match=r"'jet' of 'body' has no rate and nothing is left.*changes by 0"):
            ap.Model(ground, x, [body], [ap.Stream(body, -ground.x, name="jet")])
    body = particle(10 - 2 * t)
    with pytest.raises(ModelError, match="has no rate and nothing is left for it to carry"):
        ap.Model(ground, x, [body], [ap.Stream(body, ground.x), ap.Stream(body, -ground.x, rate=-2)])


def test_two_streams_without_a_rate_are_refused():
    body = particle(10 - 2 * t)
    with pytest.raises(ModelError, match=r"Two streams of 'body' have no rate \('in', 'out'\)"):
        ap.Model(ground, x, [body], [ap.Stream(body, ground.x, name="in"), ap.Stream(body, -ground.x, name="out")])


def test_the_stream_of_a_stranger_is_refused():
    body, stranger = particle(10 - 2 * t), ap.Particle("stranger", 10 - 2 * t, ground.point(x, 1))
    with pytest.raises(ModelError, match="'jet' belongs to 'stranger', which is not among the bodies"):
        ap.Model(ground, x, [body], [ap.Stream(stranger, -ground.x, name="jet")])
    for wrong in (None, "body", ground):
        with pytest.raises(ModelError, match="needs a Particle or RigidBody"):
            ap.Stream(wrong, -ground.x)
    with pytest.raises(ModelError, match="must be a vector"):
        ap.Stream(body, -3)
    with pytest.raises(ModelError, match="at= and source= are for rigid bodies"):
        ap.Stream(body, -ground.x, at=ground.point(0, 1))


def test_the_stream_without_a_rate_carries_the_rest():
    body = particle(10 - 2 * t)
    given = [
        ap.Stream(body, -9 * ground.x, rate=-sp.Rational(1, 2)),
        ap.Stream(body, -20 * ground.x, rate=-sp.Rational(3, 2)),
    ]
    left = [given[0], ap.Stream(body, -20 * ground.x)]
    ends = [run(ap.Model(ground, x, [body], forces), {}, 3.0).at(3.0).array for forces in (given, left)]
    np.testing.assert_allclose(ends[0], ends[1], rtol=1e-14)


# Tanks.


def tanked(amount_per_second=2.0, jet=100.0):
    """A rocket in empty space with a tank that runs dry."""
    body = particle(dry + fuel)
    burnt = ap.drained(amount_per_second, fuel)
    stream = ap.Stream(body, -jet * ground.x, rate=-burnt)
    return ap.Model(ground, x, [body], [stream], states={fuel: -burnt, dry: 0})


@pytest.mark.parametrize("method", ["taylor", "dop853", "Radau"])
@pytest.mark.parametrize(("amount", "flow"), [(30.0, 2.0), (0.7, 0.3), (11.0, 7.0)])
def test_a_tank_runs_dry_at_the_exact_time(method, amount, flow):
    motion = run(tanked(flow), {fuel: amount, dry: 5}, 20.0, method=method)
    (end,) = motion.occurrences
    assert end.t == pytest.approx(amount / flow, rel=1e-12 if method != "Radau" else 1e-9)
    state = motion.at(20.0)
    assert state[fuel] == pytest.approx(0, abs=1e-12 * amount)
    assert state[x.rate] == pytest.approx(100 * log((5 + amount) / 5), rel=1e-10 if method != "Radau" else 1e-7)
    # The conditions of the formulas agree with the run: no thrust any more, also where somebody asks for it.
    assert np.all(motion.evaluate(x.rate.rate, [end.t + 1e-6, 15.0, 20.0]) == 0)
    assert motion.check().ok


def test_a_motion_goes_on_from_a_dry_tank():
    motion = run(tanked(0.3), {fuel: 0.7, dry: 5}, 3.0)
    again = ap.simulate(motion.system, motion.at(3.0), 6.0)
    assert again.at(6.0)[x.rate] == motion.at(3.0)[x.rate]
    assert again.check().ok


def test_a_tank_ends_at_the_amount_said():
    body = particle(fuel)
    burnt = ap.drained(2, fuel, empty=110)
    model = ap.Model(ground, x, [body], [ap.Stream(body, -ground.x, rate=-burnt)], states={fuel: -burnt})
    motion = run(model, {fuel: 150}, 40.0)
    assert motion.occurrences[0].t == pytest.approx(20, rel=1e-14)
    assert motion.at(40.0)[fuel] == pytest.approx(110, rel=1e-14)


def test_an_event_at_the_moment_a_tank_runs_dry_is_not_lost():
    for method in ("taylor", "dop853"):
        stop = ap.Event(fuel, direction=-1, stop=True, name="burnout")
        motion = run(tanked(0.3), {fuel: 0.7, dry: 5}, 20.0, method=method, events=[stop])
        assert motion.outcome is ap.Outcome.EVENT
        assert motion.times[-1] == pytest.approx(0.7 / 0.3, rel=1e-12)


# Mass that is not there.


@pytest.mark.parametrize("method", ["taylor", "dop853", "cvodes", "Radau"])
def test_a_body_that_loses_more_than_it_has_ends_the_run(method):
    """It falls on smoothly while its mass goes through zero: only the mass itself tells."""
    body = ap.Particle("leaking body", 100 - 2 * t, ground.point(x, 0))
    motion = run(ap.Model(ground, x, [body], [ap.Gravity(-ground.x)]), {}, 80.0, method=method)
    assert motion.outcome is ap.Outcome.MASS_USED_UP
    assert not motion.outcome.ok
    assert "'leaking body'" in motion.detail
    assert motion.times[-1] == pytest.approx(50, rel=1e-12)
    assert motion.at(50.0)[x.rate] == pytest.approx(-50, rel=1e-6 if method == "cvodes" else 1e-9)


@pytest.mark.parametrize("method", ["taylor", "dop853", "Radau", "cvodes"])
def test_a_rocket_that_burns_itself_up_ends_the_run(method):
    body = ap.Particle("rocket", 100 - 2 * t, ground.point(x, 0))
    motion = run(ap.Model(ground, x, [body], [ap.Stream(body, -2000 * ground.x)]), {}, 80.0, method=method)
    assert motion.outcome is ap.Outcome.MASS_USED_UP
    assert "'rocket'" in motion.detail
    assert motion.times[-1] == pytest.approx(50, rel=1e-6)


def test_a_rocket_that_is_all_fuel_is_told_what_it_lacks():
    """Its flow ends in time, but nothing is there to fly on."""
    burn = ap.drained(-2, fuel)
    body = ap.Particle("rocket", fuel, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Stream(body, -2000 * ground.x, rate=burn)], states={fuel: burn})
    motion = run(model, {fuel: 80}, 80.0)
    assert motion.outcome is ap.Outcome.MASS_USED_UP
    assert "losing" not in motion.outcome.value
    assert "add what stays to its formula (dry + fuel), or end the flow before" in motion.detail


@pytest.mark.parametrize("amount", [0.0, -3.0])
def test_a_mass_that_is_not_positive_at_the_start_is_refused(amount):
    body = ap.Particle("tank", fuel, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Force(ground.x, body)], states={fuel: 0})
    with pytest.raises(InconsistentStartError, match=f"mass of 'tank' is {amount:g} at the start"):
        run(model, {fuel: amount}, 1.0)


def test_an_empty_tank_on_a_cart_is_no_fault():
    cart, tank = particle(5), ap.Particle("tank", fuel, ground.point(x, 1))
    model = ap.Model(ground, x, [cart, tank], [ap.Force(10 * ground.x, cart)], states={fuel: 0})
    assert run(model, {fuel: 0}, 2.0).at(2.0)[x.rate] == pytest.approx(4)
    with pytest.raises(InconsistentStartError, match="mass of 'tank' is -1"):
        run(model, {fuel: -1}, 2.0)


# Singular M - D, and rows without a solution.


def self_driven():
    """m = 1 + v^2, what comes in has 1.25 more than the speed: (1 + v^2 - 2.5 v) v' = F vanishes at v = 1/2 and 2."""
    body = ap.Particle("body", 1 + x.rate**2, ground.point(x, 0))
    return ap.Model(ground, x, [body], [ap.Force(ground.x, body), ap.Stream(body, sp.Rational(5, 4) * ground.x)])


@pytest.mark.parametrize("method", ["taylor", "dop853"])
@pytest.mark.parametrize(("speed", "end"), [(0.0, 1 / 2 - 5 / 16 + 1 / 24), (0.5, 0.0)])
def test_thrust_that_cancels_the_inertia_is_named(method, speed, end):
    motion = run(self_driven(), {x.rate: speed}, 10.0, method=method)
    assert motion.outcome is ap.Outcome.SINGULAR
    assert "M - D" in motion.detail
    assert motion.times[-1] == pytest.approx(end, abs=1e-9)


def test_the_matrix_is_not_symmetric_and_signs_count():
    """Between its zeros the matrix is negative: the body runs against the force, and all formulations agree."""
    assert ap.verify(self_driven()).worst < 1e-12
    system = ap.compile(ap.derive(self_driven())).bind()
    assert system.accelerations(system.state({x.rate: 1.0}))[0] == pytest.approx(1 / (1 + 1 - 2.5), rel=1e-14)
    assert run(self_driven(), {x.rate: 3.0}, 2.0).outcome is ap.Outcome.DONE


@pytest.mark.parametrize("start", [{}, {x.rate: 1}, {x.rate: 3, y.rate: 4}])
def test_a_row_without_a_real_solution_is_named(start):
    body = ap.Particle("body", 1, ground.point(x, y))
    row = ap.Nonholonomic(x.rate**2 + y.rate**2 + 1, "imaginary")
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), [body], [], [row])))
    with pytest.raises(InconsistentStartError, match="No velocities satisfy the constraint 'imaginary'"):
        system.consistent(start)


def test_a_row_that_the_given_velocities_cannot_meet_is_named():
    body = ap.Particle("body", 1, ground.point(x, y))
    row = ap.Nonholonomic(x.rate**2 + y.rate**2 - 1, "speed")
    system = ap.compile(ap.derive(ap.Model(ground, (x, y), [body], [], [row])))
    with pytest.raises(InconsistentStartError, match=r"'speed'.*while x.rate keep"):
        ap.simulate(system, {x.rate: 2}, 1.0)
    assert ap.simulate(system, system.consistent({x.rate: 0.6}, {y.rate: -1}), 1.0).at(1.0)[y.rate] == pytest.approx(
        -0.8
    )
    assert sqrt(sum(v**2 for v in system.consistent({}, {x.rate: 3, y.rate: 4}).v)) == pytest.approx(1)


def torricelli(flow):
    """A cart that empties by Torricelli's law through a valve that is turned: sqrt(m) falls by 1/2 (1 + sin(t)/3)."""
    x, m = ap.coordinates("x", "m"), ap.states("m", "kg")
    ground = ap.Frame("ground")
    cart = ap.Particle("cart", 1 + m, ground.point(x, 0))
    jet = ap.Stream(cart, -2 * ground.x)
    rate = flow(-sp.sqrt(m) * (1 + sp.sin(ap.t) / 3), m)
    return ap.compile(ap.derive(ap.Model(ground, x, [cart], [jet], states={m: rate}))).bind()


EMPTY = 1.6427145767770854  # t/2 + (1 - cos t)/6 = 1


@pytest.mark.parametrize(
    ("method", "accuracy"), [("taylor", 1e-8), ("dop853", 1e-6), ("DOP853", 1e-5), ("Radau", 1e-5)]
)
def test_a_tank_that_empties_by_torricellis_law_is_empty_from_then_on(method, accuracy):
    motion = ap.simulate(torricelli(ap.drained), {"m": 1.0}, until=5.0, method=method)
    assert motion.outcome is ap.Outcome.DONE
    assert [o.t for o in motion.occurrences] == [pytest.approx(EMPTY, abs=accuracy)]
    assert motion.at(5.0)["m"] == pytest.approx(0.0, abs=1e-12)
    assert motion.at(5.0)["x.rate"] == pytest.approx(2 * log(2), rel=1e-9)
    assert np.isfinite(motion.states(np.linspace(EMPTY - 1e-5, EMPTY + 1e-5, 999))).all()
    assert motion.check().ok


@pytest.mark.heyoka
def test_without_an_end_of_its_flow_the_run_ends_with_the_tank():
    motion = ap.simulate(torricelli(lambda rate, amount: rate), {"m": 1.0}, until=5.0)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert motion.times[-1] == pytest.approx(EMPTY, abs=1e-9)


LAWS = {
    "drained": lambda m: ap.drained(-0.4 * sp.sqrt(m), m),
    "root of the larger": lambda m: -0.4 * sp.sqrt(sp.Max(m, 0)),
    "piecewise": lambda m: sp.Piecewise((-0.4 * sp.sqrt(m), m > 0), (0, True)),
    "root of a piecewise": lambda m: -0.4 * sp.sqrt(sp.Piecewise((m, m > 0), (0, True))),
}


@pytest.mark.parametrize("method", ["auto", "dop853"])
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [1.0, 1e-6, 1e6])
def test_a_tank_empties_by_the_root_of_what_is_in_it(law, size, method):
    """sqrt(m) falls by 1/5 in a second; v = 2 log(11) behind, however the law is written and in whatever units."""
    x, m = ap.coordinates("x"), ap.states("m")
    ground, rate = ap.Frame("ground"), size * LAWS[law](m / size)
    cart = ap.Particle("cart", 0.1 * size + m, ground.point(x, 0))
    model = ap.Model(ground, x, [cart], [ap.Stream(cart, -2 * ground.x, rate=rate)], states={m: rate})
    motion = ap.simulate(ap.compile(ap.derive(model)).bind(), {m: size}, until=10.0, method=method)
    assert motion.outcome is ap.Outcome.DONE
    assert [o.t for o in motion.occurrences] == pytest.approx([5.0], rel=0, abs=1e-5)  # where m is 1e-12 of it
    assert float(motion["m"][-1]) / size == pytest.approx(0, abs=1e-12)
    assert float(motion["x.rate"][-1]) == pytest.approx(2 * log(11), rel=0, abs=1e-8)
    assert float(motion["m"].sel(t=2.0)) / size == pytest.approx(0.36, rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_tanks_of_a_sweep_empty_by_the_root_of_what_is_in_them(law):
    """In lanes as in single runs; each run ends its flow by itself, also those that hold nothing at the start."""
    x, m = ap.coordinates("x"), ap.states("m")
    ground, rate = ap.Frame("ground"), LAWS[law](m)
    cart = ap.Particle("cart", 0.1 + m, ground.point(x, 0))
    system = ap.compile(ap.derive(ap.Model(ground, x, [cart], [ap.Stream(cart, -2 * ground.x)], states={m: rate})))
    contents = np.append(np.linspace(0.1, 2.0, 19), 0.0)
    study = ap.sweep(system, {m: contents}, until=10.0, points=11, progress=False)
    assert study.outcomes == {"DONE": 20}
    assert study["lane"].values.all()
    np.testing.assert_allclose(
        study["m"], np.maximum(0, np.sqrt(contents)[:, None] - study["t"].values / 5) ** 2, atol=1e-8
    )
    for run, start in enumerate(contents):
        motion = ap.simulate(system, {m: start}, 10.0, method="dop853", rtol=1e-9, points=11)
        for name in study.info["columns"]:
            np.testing.assert_allclose(study[name][run], motion[name], rtol=0, atol=1e-11)


def test_no_step_leads_to_where_a_root_has_no_value():
    """The error of one step would allow a content of -7e-10 behind it, and within it there would be no numbers."""
    x, (fuel, water) = ap.coordinates("x"), ap.states("fuel water")
    ground, burn, leak = ap.Frame("ground"), ap.drained(-1, fuel), ap.drained(-sp.sqrt(water) / 2, water)
    cart = ap.Particle("cart", 10 + fuel + water, ground.point(x, 0))
    jets = [ap.Stream(cart, -20 * ground.x, rate=burn), ap.Stream(cart, ground.x / 5, rate=leak)]
    drag = ap.Force(-2 * x.rate * sp.Abs(x.rate) / 5 * ground.x, cart)
    model = ap.Model(ground, x, [cart], [*jets, drag], states={fuel: burn, water: leak})
    motion = ap.simulate(
        ap.compile(ap.derive(model)), {fuel: 5.0, water: 0.5}, 5.0, method="dop853", rtol=1e-9, points=5001
    )
    assert motion.outcome is ap.Outcome.DONE
    np.testing.assert_allclose(motion["water"], np.maximum(0, np.sqrt(0.5) - motion.times / 4) ** 2, atol=1e-8)


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e9])
def test_a_mass_below_zero_is_none_in_all_units(size):
    """A body that loses more than it has, carried by another one: no matrix becomes singular, and yet the run ends."""
    x, m = ap.coordinates("x"), ap.states("m")
    ground = ap.Frame("ground")
    bodies = [ap.Particle(name, mass, ground.point(x, 0)) for name, mass in (("cart", 5 * size), ("tank", m))]
    model = ap.Model(ground, x, bodies, [ap.Force(size * ground.x, bodies[0])], states={m: -size / 4})
    system = ap.compile(ap.derive(model)).bind()
    motion = ap.simulate(system, {m: size}, until=10.0)
    assert motion.outcome is ap.Outcome.MASS_USED_UP
    assert motion.times[-1] == pytest.approx(4.0, abs=1e-7)
    study = ap.sweep(system, {m: [size, 3 * size]}, until=10.0, points=3, progress=False)
    assert study.outcomes == {"MASS_USED_UP": 1, "DONE": 1}
