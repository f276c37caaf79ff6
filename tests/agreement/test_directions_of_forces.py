"""Forces along axes that carry no body: of an engine in gimbals, of a wind, of a ramp on a body."""

import numpy as np
import pytest
import sympy as sp

import appell as ap
from appell.errors import ModelError

x, z, tilt, lean = ap.coordinates("x z tilt lean", "m m rad rad")
delta, slip = ap.inputs("delta", "rad"), ap.states("slip", "rad")
m, J, F = ap.parameters("m J F", "kg kg*m^2 N")
GROUND = ap.Frame("ground")
BODY = GROUND.at(GROUND.point(x, 0, z)).rotate("y", tilt).rotate("x", lean)
TURNS = {
    "a number": sp.Rational(3, 10),
    "a parameter": J,
    "time": ap.t,
    "a coordinate": x,
    "an input": delta,
    "an extra state": slip,
    "rates": sp.atan2(z.rate, x.rate),
    "all of them": delta + tilt + sp.sin(x.rate),
}
LOADS = {
    "a force on the body": lambda d, body: ap.Force(F * d, BODY.point(0.2, 0, -1), body),
    "a force at the centre": lambda d, body: ap.Force(F * d, body),
    "a couple": lambda d, body: ap.Torque(F * d, body),
    "a jet": lambda d, body: ap.Stream(body, -F * d, at=BODY.point(0.2, 0, -1)),
    "a weight": lambda d, body: ap.Gravity(F * d),
}


def loaded(load, direction):
    body = ap.RigidBody("body", m + slip if load == "a jet" else m, BODY.origin, BODY, (J, 2 * J, J))
    return ap.Model(
        GROUND, (x, z, tilt, lean), [body], [LOADS[load](direction, body), ap.Generalized({x: delta})],
        states={slip: -slip / 10}, values={m: 2.0, J: 0.7, F: 3.0, delta: 0.4},
    )  # fmt: skip


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("turn", TURNS)
def test_a_direction_is_worth_its_components(turn, load):
    """By every formulation, and the same as where sine and cosine are written out."""
    angle = TURNS[turn]
    model = loaded(load, BODY.rotate("y", angle).z)
    assert ap.verify(model, states=3).ok
    written = loaded(load, sp.sin(angle) * BODY.x + sp.cos(angle) * BODY.z)
    systems = [ap.compile(ap.derive(one)).bind() for one in (model, written)]
    values = {x: 0.3, tilt: 0.5, lean: 0.2, slip: 0.6, x.rate: 1.1, z.rate: -0.8, tilt.rate: 0.9, lean.rate: 0.4}
    found, expected = (system.accelerations(system.state(values)) for system in systems)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_a_direction_may_be_turned_by_a_quaternion():
    e = ap.coordinates("e0 e1 e2 e3")
    frame = GROUND.free(*ap.coordinates("px py pz"), *e)
    body = ap.RigidBody("body", m, frame.origin, frame, (J, 2 * J, J))
    fixed = GROUND.rotate_quaternion(sp.Rational(4, 5), sp.Rational(3, 5), 0, 0)
    force = ap.Force(F * frame.rotate("y", delta).z + F * fixed.x, frame.point(0, 0, -1), body)
    model = ap.Model(GROUND, (*ap.coordinates("px py pz"), *e), [body], [force])
    assert ap.verify(model, states=3).ok


def test_an_input_cannot_turn_a_body():
    body = ap.RigidBody("body", m, GROUND.origin, GROUND.rotate("z", delta), (J, J, J))
    with pytest.raises(ModelError, match="the input delta cannot stand in a position"):
        ap.derive(ap.Model(GROUND, x, [body]))
