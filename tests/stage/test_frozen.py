"""A model at a moment of its flow: tanks that keep what they hold while streams push."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import EquilibriumError, ModelError

ground = ap.Frame("ground")


def drone():
    """Hangs on two rotors in a vertical plane and sprays along its own x."""
    x, z, tilt = ap.coordinates("x z tilt")
    water, (left, right) = ap.states("water"), ap.inputs("left right")
    frame = ground.at(ground.point(x, 0, z)).rotate("y", tilt)
    body = ap.RigidBody("drone", 8 + water, frame.origin, frame, (0, 0.6, 0))
    flow = ap.drained(-0.5, water)
    lift = ap.Force((left + right) * frame.z, frame.origin, body, name="lift")
    forces = [ap.Gravity(-9.81 * ground.z), ap.Stream(body, 15 * frame.x, flow), lift]
    forces.append(ap.Torque((left - right) / 2 * frame.y, body, name="roll"))
    return ap.Model(ground, (x, z, tilt), [body], forces, states={water: flow}, start={water: 4}, name="drone")


def test_a_drone_that_sprays_leans_against_its_jet():
    rest = ap.equilibrium(drone().frozen("water"), {"x": 0, "z": 10, "water": 4})
    weight, thrust = 12 * 9.81, 0.5 * 15
    assert rest["tilt"] == pytest.approx(np.arcsin(thrust / weight), rel=1e-12)
    assert rest["left"] + rest["right"] == pytest.approx(np.sqrt(weight**2 - thrust**2), rel=1e-12)
    assert ap.control.lqr(ap.linearize(rest), {"x": 1, "z": 1, "tilt": 1}).certificate.verdict.name == "FAMILY"


def test_who_wants_a_draining_tank_at_rest_is_told_of_it():
    with pytest.raises(EquilibriumError, match=r"the rate of water cannot be met\. model\.frozen\('water'\)"):
        ap.equilibrium(drone(), {"x": 0, "z": 10, "water": 4})


def test_laws_for_several_contents_hold_it_while_it_drains():
    model = drone()
    still, (water, *_), inputs = model.frozen("water"), model.states, model.inputs
    laws = {}
    for amount in (0.5, 1, 2, 3, 4):
        lin = ap.linearize(ap.equilibrium(still, {"x": 0, "z": 10, water: amount}))
        laws[amount] = ap.control.lqr(lin, {"x": 1, "z": 1, "tilt": 1}, 0.01).laws
    joined = {w: ap.control.schedule(water, [(amount, law[w]) for amount, law in laws.items()]) for w in inputs}
    blind = {w: formula.subs(water, 2) for w, formula in laws[2].items()}
    far = {}
    for name, law in (("blind", blind), ("one", laws[2]), ("joined", joined)):
        system = ap.compile(ap.derive(model).close(law)).bind()
        motion = ap.simulate(system, {"z": 10, "tilt": 0.0637536789, water: 4}, until=7.0)
        far[name] = float(np.max(np.abs(motion.columns["z"] - 10)))
    assert 2 * far["joined"] < far["one"] < 1e-3 < 0.5 < far["blind"]


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("rate", [sp.Float(-0.7), None])
def test_it_moves_as_the_model_does_at_that_moment(absolute, rate):
    """A tank in space that spins, with a jet at its end fed from its middle, and one against the ground."""
    places, angles = ap.coordinates("x y z"), ap.coordinates("a b c")
    mass, other = ap.states("mass other")
    frame = ground.free(*places, *angles)
    tank = ap.RigidBody("tank", mass, frame.origin, frame, (3 + mass, 4 + mass, 5 + mass))
    jet = ap.Stream(tank, frame.vector(-3, 1, 2), rate, frame.point(1, 0.2, -0.4), absolute, frame.point(0, 0.1, 0))
    rain = ap.Stream(tank, ground.vector(0, 1, -4), 0.2, absolute=True, name="rain")
    pebble = ap.Particle("pebble", other, ground.point(0, 0, places[2] ** 2))
    model = ap.Model(
        ground, (*places, *angles), [tank, pebble], [jet, rain, ap.Stream(pebble, 2 * ground.z)],
        states={mass: -0.5, other: -0.1},
    )  # fmt: skip
    state = {"x": 0.3, "z": 0.8, "a": 0.2, "b": -0.7, "c": 0.5, "mass": 6, "other": 2}
    state |= {"x.rate": 1.2, "y.rate": -0.4, "z.rate": 0.9, "a.rate": 1.1, "b.rate": -0.6, "c.rate": 0.8}
    found = []
    for twin in (model, model.frozen(mass), model.frozen("mass", "other")):
        system = ap.compile(ap.derive(twin)).bind()
        found.append(system.accelerations(system.state(state)))
    np.testing.assert_allclose(found[1:], [found[0]] * 2, rtol=0, atol=1e-13)
    assert [type(f).__name__ for f in model.frozen(mass).forces].count("Stream") == 1


def test_what_changes_by_something_else_as_well_cannot_be_held():
    x, fuel = ap.coordinates("x"), ap.states("fuel")
    body = ap.Particle("cart", 5 + fuel + sp.exp(-ap.t), ground.point(x, 0))
    model = ap.Model(ground, x, [body], [ap.Stream(body, ground.x)], states={fuel: -1}, name="cart")
    with pytest.raises(ModelError, match="of 'cart' still changes while fuel is held"):
        model.frozen(fuel)
    with pytest.raises(ModelError, match="'oil' is not an extra state of 'cart'"):
        model.frozen("oil")
