"""Laws of mass flow: power and momentum close, whoever watches."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import FormulationError, ModelError

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
