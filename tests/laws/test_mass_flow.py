"""Laws of mass flow: power and momentum close, streams fit the mass, tanks end when they are empty."""

from math import log, sqrt

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError, InconsistentStartError, ModelError

t = ap.t
x, y, angle = ap.coordinates("x y angle")
fuel, dry = ap.states("fuel dry")
ground = ap.Frame("ground")
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def rational(number):
    return sp.Rational(str(number))


def run(model, start=None, until=None, formulation=None, **options):
    return ap.simulate(ap.compile(ap.derive(model, formulation)).bind(), start, until, **options)


def changes_mass(model):
    constant = set(model.parameters)
    streams = any(isinstance(force, ap.Stream) for force in model.forces)
    return streams or any(not body.mass.free_symbols <= constant for body in model.bodies)


CASES = [(name, {}) for name in ap.library.names() if changes_mass(ap.library.model(name))]
CASES += [("pursuit", {"form": "quasi"}), ("raindrop", {"law": "swept"}), ("rocket", {"drag": True})]


# Balances.


def test_the_library_has_models_of_variable_mass():
    found = {name for name, _ in CASES}
    expected = "hauled-chain hopper-cart leaking-disk leaking-sleigh pursuit raindrop rocket rocket-car two-streams"
    assert set(expected.split()) <= found


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda part: str(part))
def test_power_balance_of_the_library(name, options):
    model = ap.library.model(name, options)
    assert ap.verify(model).ok
    check = run(model).check()
    assert check.ok
    assert check.balance < 1e-10
    assert max(check.agreement.values()) < 1e-10


def test_power_balance_across_the_drop_of_a_stage():
    motion = run(ap.library.rocket(drag=True), events=ap.library.rocket_events())
    check = motion.check()
    assert check.ok
    assert check.balance < 1e-10


def integral(motion, formulas):
    """Integrals of formulas over a motion, by Gauss quadrature over its own steps."""
    total = np.zeros(len(formulas))
    for stretch in motion.stretches:
        middle, half = (stretch.times[1:] + stretch.times[:-1]) / 2, np.diff(stretch.times) / 2
        nodes = (middle[:, None] + half[:, None] * NODES).ravel()
        weights = (half[:, None] * WEIGHTS).ravel()
        total += [weights @ motion.evaluate(formula, nodes) for formula in formulas]
    return total


def change(motion, formulas):
    first, last = motion.stretches[0].times[0], motion.stretches[-1].times[-1]
    values = [motion.evaluate(formula, [first, last]) for formula in formulas]
    return np.array([after - before for before, after in values])


def assert_balanced(motion, momentum, rate):
    np.testing.assert_allclose(change(motion, momentum), integral(motion, rate), rtol=1e-10, atol=1e-10)


V = ground.vector(x.rate, y.rate)
STREAMS = {
    "jet": (100 - 2 * t, [(-2, (-50, 10), False)]),
    "scoop": (5 + 3 * t, [(3, (0, 0), True)]),
    "in and out": (sp.Integer(20), [(4, (1, -2), True), (-4, (-30, 0), False)]),
    "three streams": (
        30 - t**2 / 10,
        [(2 * t, (0, 5), True), (-1, (-20, 3), False), (1 - 11 * t / 5, (7, -40), False)],
    ),
    "with the distance": (3 + x**2 / 4, [(x * x.rate / 2, (0, 1), True)]),
}


@pytest.mark.parametrize("name", STREAMS)
def test_momentum_balance_of_a_free_particle(name):
    """P(t) - P(0) is what forces gave and streams carried: mu (u + v) each."""
    mass, streams = STREAMS[name]
    body = ap.Particle("body", mass, ground.point(x, y))
    force = ground.vector(3 - x / 2, sp.sin(t))
    parts = [
        ap.Stream(body, ground.vector(*u), rate=rate, absolute=absolute, name=str(i))
        for i, (rate, u, absolute) in enumerate(streams)
    ]
    model = ap.Model(ground, (x, y), [body], [ap.Force(force, body), ap.Gravity(-9.81 * ground.y), *parts])
    motion = run(model, {x: 1, x.rate: 2, y.rate: -1}, 3.0)
    carried = [
        sum(mu * (u[i] + (0 if absolute else v)) for mu, u, absolute in streams) for i, v in enumerate((x.rate, y.rate))
    ]
    rates = [3 - x / 2 + carried[0], sp.sin(t) - rational(9.81) * mass + carried[1]]
    assert_balanced(motion, [mass * x.rate, mass * y.rate], rates)
    assert motion.check().balance < 1e-10


def test_momentum_balance_of_a_mass_that_depends_on_velocity():
    """m = 2 + v^2/10, one stream at rest: (m v)' = F, with accelerations in the rate of the stream."""
    mass = 2 + (x.rate**2 + y.rate**2) / 10
    body = ap.Particle("body", mass, ground.point(x, y))
    stream = ap.Stream(body, 0 * ground.x, absolute=True)
    model = ap.Model(ground, (x, y), [body], [ap.Force(ground.vector(3, sp.cos(t) - y), body), stream])
    motion = run(model, {x.rate: 1}, 4.0)
    assert_balanced(motion, [mass * x.rate, mass * y.rate], [3, sp.cos(t) - y])


def test_momentum_of_the_staged_rocket():
    """Between the drops: what gravity took and the jet carried away."""
    motion = run(ap.library.rocket(), events=ap.library.rocket_events(), until=240.0)
    h = motion.system.model.coordinates[0]
    flow, jet = ap.states("flow jet")
    mass = dry + fuel
    for stretch in motion.stretches:
        if np.ptp(stretch.times) == 0:
            continue
        first, last = stretch.times[0], stretch.times[-1] - 1e-9  # its end belongs to what follows
        grid = np.linspace(first, last, 21)
        middle, half = (grid[1:] + grid[:-1]) / 2, np.diff(grid) / 2
        nodes, weights = (middle[:, None] + half[:, None] * NODES).ravel(), (half[:, None] * WEIGHTS).ravel()
        given = weights @ motion.evaluate(-rational(9.81) * mass - flow * (h.rate - jet), nodes)
        before, after = motion.evaluate(mass * h.rate, [first, last])
        assert after - before == pytest.approx(given, rel=1e-10)


@pytest.mark.parametrize(
    "mu",
    [
        rational(0.5),
        (2 + sp.sin(3 * t)) / 5,
        rational(0.2) * fuel,
        (3 + x.rate + angle.rate**2) / 10,
    ],
    ids=["steady", "unsteady", "by its head", "by velocities"],
)
def test_momentum_of_a_free_body_with_flow_inside(mu):
    """A free plane body, liquid from a tank through a pipe to a nozzle: linear and angular momentum close.

    What flows in the pipe has the momentum mu (r_n - r_t) and the angular momentum mu r_t x r_n besides that of the
    body it flows in; what leaves takes mu (v_n + u) and mu r_n x (v_n + u) with it.
    """
    jet = (-3, 1)
    body_frame = ground.rotate("z", angle, "body")
    origin = ground.point(x, y)
    shell = ap.RigidBody("shell", 4, origin + rational(0.1) * body_frame.x, body_frame, (0, 0, 2))
    tank_at, nozzle_at = (
        body_frame.vector(rational(0.3), rational(0.1)),
        body_frame.vector(-rational(0.8), rational(0.4)),
    )
    tank = ap.RigidBody("tank", fuel, origin + tank_at, body_frame)
    stream = ap.Stream(tank, body_frame.vector(*jet), -mu, at=origin + nozzle_at, source=tank.center)
    model = ap.Model(ground, (x, y, angle), [shell, tank], [stream], states={fuel: -mu})
    motion = run(model, {x.rate: 0.5, y.rate: -0.2, angle.rate: 1.5, fuel: 3}, 4.0)

    pipe = nozzle_at - tank_at
    leaving = tank.velocity_at(origin + nozzle_at) + body_frame.vector(*jet)
    momentum = 4 * shell.velocity_at(shell.center) + fuel * tank.velocity_at(tank.center) + mu * pipe
    spin = (
        4 * shell.center.cross(shell.velocity_at(shell.center))
        + 2 * shell.angular_velocity
        + fuel * tank.center.cross(tank.velocity_at(tank.center))
        + mu * tank.center.cross(origin + nozzle_at)
    )
    lost = mu * (origin + nozzle_at).cross(leaving)
    level = [*ground.components(momentum)[:2], ground.components(spin)[2]]
    rates = [-mu * e for e in ground.components(leaving)[:2]] + [-ground.components(lost)[2]]
    assert_balanced(motion, level, rates)
    assert motion.check().balance < 1e-10
    assert ap.verify(model).worst < 1e-10


def draining_wheel(parts):
    """A wheel of radius 0.3 with a tank at 0.1 from its hub, as one body or as two."""
    wheel, hub, contact = ground.rotate("z", angle), ground.point(x, rational(0.3)), ground.point(x, 0)
    place = rational(0.1) * wheel.x
    if parts == 2:
        solid = ap.RigidBody("wheel", 5, hub, wheel, (0, 0, rational(0.2)))
        bodies = [solid, ap.RigidBody("tank", fuel, hub + place, wheel)]
    else:
        about = rational(0.2) + place.dot(place) * 5 * fuel / (5 + fuel)
        solid = ap.RigidBody("wheel", 5 + fuel, hub + place * fuel / (5 + fuel), wheel, (0, 0, about))
        bodies = [solid]
    stream = ap.Stream(bodies[-1], 3 * wheel.x, rate=-rational(0.5), at=hub + place)
    rolling = ap.Rolling(solid, contact)
    forces = [ap.Gravity(-9.81 * ground.y), stream]
    return ap.Model(ground, (x, angle), bodies, forces, [rolling], {fuel: -rational(0.5)}), solid, hub


def test_a_body_whose_centre_wanders_moves_like_its_parts():
    (one, wheel, hub), (two, _, _) = draining_wheel(1), draining_wheel(2)
    assert wheel.velocity_at(hub).parts == {ground: (x.rate, 0, 0)}
    for model in (one, two):
        (row,) = model.rows
        assert row.expression.expand() == x.rate + rational(0.3) * angle.rate
    start = {angle: 0.4, angle.rate: 1.0, fuel: 3}
    ends = [run(model, start, 2.0).at(2.0).array for model in (one, two)]
    np.testing.assert_allclose(*ends, rtol=1e-10)
    assert ap.verify(one).ok


def test_velocities_of_the_material_are_speeds_where_the_centre_wanders():
    model, wheel, hub = draining_wheel(1)
    u = ap.speeds("u")
    assert ap.verify(model, ap.GibbsAppell(speeds={u: wheel.velocity_at(hub).dot(ground.x)})).ok
    with pytest.raises(FormulationError, match=r"'u' contains fuel', the rate of an extra state.*body.velocity_at"):
        ap.derive(model, ap.GibbsAppell(speeds={u: wheel.center.dt(ground).dot(ground.x)}))


def test_a_body_whose_centre_wanders_is_drawn_and_reported(tmp_path):
    model, wheel, _ = draining_wheel(1)
    model.draw()
    motion = run(model, {angle.rate: 1.0, fuel: 3}, 1.0, points=51)
    ap.report(motion, tmp_path / "wheel.html")
    scene = motion.animate()
    (stream,) = (force for force in model.forces if isinstance(force, ap.Stream))
    jet = scene.values.vectors[scene.jets[0].velocity]
    leaving = wheel.velocity_at(stream.at) + stream.velocity
    expected = [motion.evaluate(e, scene.values.times) for e in ground.components(leaving)]
    np.testing.assert_allclose(jet, np.transpose(expected), rtol=0, atol=1e-9)


def test_rates_of_extra_states_are_known():
    """The mass centre of the wheel moves in space by the rate of the fuel as well."""
    model, wheel, _ = draining_wheel(1)
    motion = run(model, {angle.rate: 1.0, fuel: 3}, 1.0, points=401)
    path, rate = (motion[e.dot(ground.x)].values for e in (wheel.center, wheel.center.dt(ground)))
    np.testing.assert_allclose(np.gradient(path, motion.times)[2:-2], rate[2:-2], rtol=0, atol=1e-4)
    for name in (fuel.rate, "fuel.rate", "fuel'"):
        np.testing.assert_array_equal(motion[name].values, -0.5)
    u = ap.speeds("u")
    own = run(model, {angle.rate: 1.0, fuel: 3}, 1.0, ap.GibbsAppell(speeds={u: x.rate}))
    np.testing.assert_allclose(own[u * fuel.rate], -0.5 * own[x.rate], rtol=1e-12, atol=0)


def test_laws_with_rates_of_extra_states():
    push, valve = ap.inputs("push valve")
    body = ap.Particle("body", 5 + fuel, ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Force(push * ground.x, body)], states={fuel: -valve * fuel})
    equations = ap.derive(model).close({push: -2 * fuel.rate})
    motion = ap.simulate(ap.compile(equations).bind({valve: 0.5}), {fuel: 3}, 1.0)
    np.testing.assert_allclose(motion[push], motion[fuel], rtol=1e-12)
    with pytest.raises(ModelError, match="The law of valve contains a closed input"):
        ap.derive(model).close({valve: fuel.rate})


def test_galilei_invariance():
    """Seen from a train the same happens, if what is absolute is moved along: what counts is relative velocity."""
    train = (7, -3)
    body = ap.Particle("body", 10 - t / 2, ground.point(x, y))

    def model(shift):
        streams = [
            ap.Stream(body, ground.vector(-20, 5) + (V - ground.vector(*shift)) / 4, rate=-rational(1.5), name="jet"),
            ap.Stream(body, ground.vector(1 + shift[0], 2 + shift[1]), rate=1, absolute=True, name="scoop"),
        ]
        return ap.Model(ground, (x, y), [body], [ap.Gravity(-9.81 * ground.y), *streams])

    at_rest = run(model((0, 0)), {x: 1, x.rate: 2, y.rate: 1}, 5.0)
    moving = run(model(train), {x: 1, x.rate: 2 + train[0], y.rate: 1 + train[1]}, 5.0)
    for time in (1.0, 2.5, 5.0):
        shift = np.array([train[0] * time, train[1] * time, *train])
        np.testing.assert_allclose(moving.at(time).array - shift, at_rest.at(time).array, rtol=1e-12, atol=1e-11)
    # Taking an absolute velocity for a relative one is not invariant.
    wrong = run(model((0, 0)), {x: 1, x.rate: 2 + train[0], y.rate: 1 + train[1]}, 5.0)
    assert abs(wrong.at(5.0)[x.rate] - train[0] - at_rest.at(5.0)[x.rate]) > 0.1


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
    given = [ap.Stream(body, -9 * ground.x, rate=-rational(0.5)), ap.Stream(body, -20 * ground.x, rate=-rational(1.5))]
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
    return ap.Model(ground, x, [body], [ap.Force(ground.x, body), ap.Stream(body, rational(1.25) * ground.x)])


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


def test_without_an_end_of_its_flow_the_run_ends_with_the_tank():
    motion = ap.simulate(torricelli(lambda rate, amount: rate), {"m": 1.0}, until=5.0)
    assert motion.outcome is ap.Outcome.NOT_FINITE
    assert motion.times[-1] == pytest.approx(EMPTY, abs=1e-9)
